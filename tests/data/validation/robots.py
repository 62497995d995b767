"""Figures of robots by Pinocchio, for diagrams/validation/robots.ron.

    python -m venv .venv && .venv/bin/pip install pin==4.1.0 example-robot-data==6.0.0 icub_models==3.2.0
    .venv/bin/python robots.py              # prints the checks of the diagram

Robots of a maker are read from the maker's file in these packages. Mini Cheetah is built from the
numbers in MIT's Cheetah-Software, commit c71c5a1. The files of the robots in OWN were written for
Legwork, of biped and links from published numbers: their figures are of the files in this repository.
"""

import fnmatch
import sys
import sysconfig
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

HERE = Path(__file__).resolve().parents[3] / "diagrams/robots"
DATA = Path(sysconfig.get_path("purelib")) / "cmeel.prefix/share/example-robot-data/robots"
ICUB = Path(sys.prefix) / "share/iCub/robots/iCubGazeboV2_5/model.urdf"
# Inertia of the rotors by joint, as in blocks/robots and diagrams/robots/icub: no maker's URDF has it.
ROTORS = {
    "anymal_c": {"*": 0.07},
    "go2": {"*_joint": 0.01},
    "icub": {
        "torso_yaw": 0.0795, "torso_*": 0.1369, "*_shoulder_*": 0.0795, "*_elbow": 0.0795,
        "*_hip_pitch": 0.305, "*_hip_*": 0.1369, "*_knee": 0.1369, "*_ankle_*": 0.1369,
    },  # fmt: skip
    # 63e-6 kg m² behind gears of 6, 6 and 9.33.
    "mini_cheetah": {"*_knee_*": 63e-6 * 9.33**2, "*": 63e-6 * 36},
    "panda": {"panda_joint*": 0.1},
    "talos": {"*": 0.1},
    "ur5": {"*": 0.1},
}
MAKERS = {
    "anymal_c": DATA / "anymal_c_simple_description/urdf/anymal.urdf",
    "go2": DATA / "go2_description/urdf/go2.urdf",
    "icub": ICUB,
    "iris": DATA / "iris_description/robots/iris_simple.urdf",
    "panda": DATA / "panda_description/urdf/panda.urdf",
    "solo12": DATA / "solo_description/robots/solo12.urdf",
    "talos": DATA / "talos_data/robots/talos_reduced.urdf",
    "ur5": DATA / "ur_description/urdf/ur5_robot.urdf",
}
OWN = "acrobot biped block five_bar four_bar gantry gripper_arm hand links pendulum "
OWN += "pendulum_with_limit rrbot seesaw stone turntables"
# Feet in the diagram. Some are frames without mass, which have no effect on the power.
FEET = {
    "anymal_c": ["LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"],
    "biped": [f"{side}_{end}_{edge}" for side in "lr" for end in ["heel", "toe"] for edge in ["in", "out"]],
    "block": ["corner_1", "corner_2", "corner_3", "corner_4"],
    "five_bar": ["left_end", "right_end"],
    "four_bar": ["coupler_end", "rocker_end"],
    "go2": ["FL_foot", "FR_foot", "RL_foot", "RR_foot"],
    "icub": ["l_sole", "r_sole"],
    "links": ["LF_foot", "RF_foot", "LH_foot", "RH_foot"],
    "mini_cheetah": ["FL_foot", "FR_foot", "HL_foot", "HR_foot"],
    "panda": ["panda_hand_tcp"],
    "pendulum": ["tip"],
    "rrbot": ["corner_1", "corner_2", "corner_3", "corner_4", "tip"],
    "talos": ["left_sole_link", "right_sole_link"],
    "ur5": ["tool0"],
}


def mini_cheetah():
    """Returns the model of common/include/Dynamics/MiniCheetah.h; ATTRIBUTION.md lists the differences."""
    model = pin.Model()
    trunk = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root")
    at = lambda *place: pin.SE3(np.eye(3), np.array(place))
    body = lambda m, c, i: pin.Inertia(m, np.array(c, float), 1e-6 * np.array(i, float))
    model.appendBodyToJoint(trunk, body(3.3, [0, 0, 0], np.diag([11253, 36203, 42673])), at(0, 0, 0))
    for leg in ["FL", "FR", "HL", "HR"]:
        x, y = 1 if leg[0] == "F" else -1, 1 if leg[1] == "L" else -1
        turns = pin.JointModelRevoluteUnaligned(0, -1, 0)  # the source turns these links by pi about z
        abad = model.addJoint(trunk, pin.JointModelRX(), at(0.19 * x, 0.049 * y, 0), f"{leg}_abad_joint")
        hip = model.addJoint(abad, turns, at(0, 0.062 * y, 0), f"{leg}_hip_joint")
        knee = model.addJoint(hip, turns, at(0, 0, -0.209), f"{leg}_knee_joint")
        inertia = [[381, 58 * y, 0.45], [58 * y, 560, 0.95 * y], [0.45, 0.95 * y, 444]]
        model.appendBodyToJoint(abad, body(0.54, [0, 0.036 * y, 0], inertia), at(0, 0, 0))
        model.appendBodyToJoint(hip, body(0.634, [0, -0.016 * y, -0.02], np.diag([1983, 2103, 408])), at(0, 0, 0))
        model.appendBodyToJoint(knee, body(0.064, [0, 0, -0.061], np.diag([245, 248, 6])), at(0, 0, 0))
        model.addFrame(pin.Frame(f"{leg}_foot", knee, 0, at(0, 0.004 * y, -0.195), pin.FrameType.BODY))
    # 3 N m of each motor behind its gear; the limits of positions and speeds are not from the source.
    for k, (angle, gear) in enumerate([(1.2, 6), (2.4, 6), (2.75, 9.33)] * 4):
        model.upperPositionLimit[7 + k], model.lowerPositionLimit[7 + k] = angle, -angle
        model.upperVelocityLimit[6 + k], model.upperEffortLimit[6 + k] = 40, 3 * gear
    return model


def figures(name):
    """Returns the seven figures of diagrams/validation/robot.mask."""
    if name == "mini_cheetah":
        model, names, mimics = mini_cheetah(), [], {}
    else:
        path = MAKERS.get(name) or next(HERE.rglob(f"{name}.urdf"))
        model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
        joints = ElementTree.parse(path).getroot().findall("joint")
        mimics = {j.get("name"): j.find("mimic").get("joint") for j in joints if j.find("mimic") is not None}
        names = [j.get("name") for j in joints]
    # In the order of the file.
    names = [n for n in names or model.names[2:] if model.existJointName(n) and n not in mimics]

    data = model.createData()
    wave = lambda count: 1 + 0.5 * np.sin(2 * np.arange(1, count + 1))
    nu, nu_dot = wave(6 + len(names)), np.cos(np.arange(1, 7 + len(names)))
    q, v, a = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
    turn = pin.Quaternion(0.8, 0.2, -0.4, 0.4)
    back = turn.matrix().T
    q[:7] = [0.3, -0.2, 0.5, *turn.coeffs()]
    v[:6] = [*back @ nu[:3], *back @ nu[3:6]]  # in axes of the base
    a[:6] = [*(back @ nu_dot[:3] - np.cross(v[3:6], v[:3])), *back @ nu_dot[3:6]]
    limits, rotors = np.zeros(4), np.zeros(model.nv)
    moved = [(n, names.index(mimics.get(n, n)), model.joints[model.getJointId(n)]) for n in model.names[2:]]
    for joint, k, j in moved:
        s = np.sin(k + 1)
        q[j.idx_q : j.idx_q + j.nq] = [s] if j.nq == 1 else [np.cos(s), np.sin(s)]
        v[j.idx_v], a[j.idx_v] = nu[6 + k], nu_dot[6 + k]
        if joint in mimics:
            continue
        rotors[j.idx_v] = next((i for n, i in ROTORS.get(name, {}).items() if fnmatch.fnmatch(joint, n)), 0)
        endless = j.nq == 2
        limits += (k + 1) * np.clip([
            -np.inf if endless else model.lowerPositionLimit[j.idx_q],
            np.inf if endless else model.upperPositionLimit[j.idx_q],
            model.upperVelocityLimit[j.idx_v],
            model.upperEffortLimit[j.idx_v],
        ], -1e5, 1e5)  # fmt: skip
    force = pin.rnea(model, data, q, v, a) + rotors * a
    force += model.damping * v + model.upperDryFrictionLimit * np.sign(v)
    reduced = np.array([*force[:6], *np.zeros(len(names))])
    for _, k, j in moved:
        reduced[6 + k] += force[j.idx_v]  # a joint that mimics another loads it
    pin.framesForwardKinematics(model, data, q)
    pin.forwardKinematics(model, data, q, v)
    feet = [model.getFrameId(foot) for foot in FEET.get(name, [])]
    speeds = [pin.getFrameVelocity(model, data, foot, pin.LOCAL).vector.sum() for foot in feet]
    return [force @ v, np.linalg.norm(reduced), sum(speeds), *limits]


for robot in sorted([*MAKERS, "mini_cheetah", *OWN.split()]):
    row = ", ".join(f"{x:.9f}".rstrip("0").rstrip(".") for x in figures(robot))
    print(f"        \"{robot}\": Finally(that: \"=norm(of['{robot}'].file.figures - [{row}]) < 1e-8\"),")
