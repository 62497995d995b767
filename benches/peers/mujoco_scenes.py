"""The scenes of `diagrams/floating_base` in MuJoCo: stand.ron (iCub and by patches five others), icub_zero_torque.ron,
slope.ron.

What a diagram says in its text is repeated here; what Legwork computes from it (initial state, rotor inertia,
feedforward torques) is taken from its recording.
"""
import math
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

import mujoco
import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
DIAGRAMS = ROOT / "diagrams/floating_base"
ROBOTS = ROOT / "diagrams/robots"

STEP = 1e-3  # [s]
GRAVITY = 9.81  # [m/s^2]
# Contacts as stiff as MuJoCo makes them. The time constant is the shortest that its own safeguard (`refsafe`) admits,
# two steps; the impedance d is its upper limit, mjMAXIMP. With them a contact that would fall with a in free motion
# rests at a depth of (1-d) a T^2/d, and creeps along the ground at (1-d) a T/(2 d): for a = 100 m/s^2, which the feet
# of a robot under stiff joints exceed hardly ever, 0.04 um and 0.01 mm/s.
SOLREF = [2 * STEP, 1.0]  # time constant [s], damping ratio
SOLIMP = [0.9999, 0.9999, 0.001, 0.5, 2]
# A foot that is placed on the ground touches it in the first step, as in Legwork, and not in the second, when the torques that
# are to carry the robot have driven it aside [m].
MARGIN = 1e-7
VERTEX_RADIUS = 1e-4  # of the spheres that stand for vertices [m]; they touch the ground at the vertex itself
SOLE = [[-0.06, 0.04, 0], [0.11, 0.04, 0], [0.11, -0.035, 0], [-0.06, -0.035, 0]]  # [m]
TALOS_SOLE = [[0.105, 0.065, 0], [-0.105, 0.065, 0], [-0.105, -0.065, 0], [0.105, -0.065, 0]]  # [m]
BOX_CORNERS = [[0.1, 0.1, -0.05], [0.1, -0.1, -0.05], [-0.1, -0.1, -0.05], [-0.1, 0.1, -0.05]]  # [m]


@dataclass
class Scene:
    """One run of Legwork and the same in MuJoCo."""
    name: str
    diagram: str
    duration: float  # [s]
    mu: float
    patches: list = field(default_factory=list)
    robot: str = ""
    feet: list = field(default_factory=list)
    soles: list = field(default_factory=list)  # vertices of each foot; empty: the spheres of the robot file
    welded: tuple = ()  # patterns of joints that do not move
    kp: float = 0.0  # [N m/rad]
    kd: float = 0.0  # [N m s/rad]
    push: float = 0.0  # along y [N]
    pushed: tuple = (1.0, 1.2)  # [s]
    alike: tuple = ()  # what makes Legwork's feet those of MuJoCo's model

    @property
    def steps(self):
        return round(self.duration / STEP)


ICUB = {"robot": "icub", "feet": ["l_sole", "r_sole"], "soles": SOLE, "welded": ("neck_", "_wrist_")}
SCENES = [
    Scene("iCub stands, pushed", "stand.ron", 3.0, 0.7, kp=600, kd=20, push=30, **ICUB),
    Scene("Mini Cheetah stands, pushed", "stand.ron", 3.0, 0.7, patches=[DIAGRAMS / "mini_cheetah.patch"],
          robot="mini_cheetah", feet=["FL_foot", "FR_foot", "HL_foot", "HR_foot"], kp=60, kd=1.5, push=5),
    Scene("Go2 stands, pushed", "stand.ron", 3.0, 0.7, patches=[DIAGRAMS / "go2.patch"],
          robot="go2", feet=["FL_foot", "FR_foot", "RL_foot", "RR_foot"], kp=100, kd=3, push=15),
    Scene("ANYmal C stands, pushed", "stand.ron", 3.0, 0.7, patches=[DIAGRAMS / "anymal_c.patch"],
          robot="anymal_c", feet=["LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"], kp=2000, kd=40, push=45,
          alike=("--set", 'shape=Sphere(radius: "3 cm")', "--set", 'sim.at=[0, 0, "22.5 mm"]')),
    Scene("Talos stands, pushed", "stand.ron", 5.0, 0.7, patches=[DIAGRAMS / "talos.patch"], robot="talos",
          feet=["left_sole_link", "right_sole_link"], soles=TALOS_SOLE, kp=2000, kd=100, push=50),
    Scene("iCub without torque", "icub_zero_torque.ron", 1.0, 0.1, **ICUB),
    Scene("three boxes on a slope", "slope.ron", 1.0, 0.4),
]


def joint_names(scene):
    """Joints that move, in the order of the robot file, which is Legwork's."""
    joints = ElementTree.parse(ROBOTS / scene.robot / f"{scene.robot}.urdf").getroot().findall("joint")
    moving = [j.get("name") for j in joints if j.get("type") in ("revolute", "continuous", "prismatic")]
    return [name for name in moving if not any(part in name for part in scene.welded)]


def options(spec):
    spec.option.timestep = STEP
    spec.option.gravity = [0, 0, -GRAVITY]
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER  # semi-implicit, as the diagrams
    spec.option.solver = mujoco.mjtSolver.mjSOL_NEWTON
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC


def touches(geom, mu, is_ground=False):
    """Ground touches feet, feet do not touch each other; the friction is that of the foot."""
    geom.contype, geom.conaffinity = (1, 0) if is_ground else (0, 1)
    geom.condim, geom.priority = 3, 0 if is_ground else 1
    geom.friction = [mu, 0, 0]
    geom.solref, geom.solimp, geom.margin = SOLREF, SOLIMP, 0 if is_ground else MARGIN
    geom.mass = 0


def add_ground(spec, normal=(0, 0, 1)):
    angle = math.atan2(normal[0], normal[2])
    ground = spec.worldbody.add_geom(name="ground", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1],
                                     quat=[math.cos(angle / 2), 0, math.sin(angle / 2), 0])
    touches(ground, 0, is_ground=True)


def add_vertices(body, vertices, mu):
    """Spheres `<body>/<i>` whose lowest points are the vertices."""
    for i, (x, y, z) in enumerate(vertices):
        sphere = body.add_geom(name=f"{body.name}/{i}", type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[VERTEX_RADIUS, 0, 0],
                               pos=[x, y, z + VERTEX_RADIUS])
        touches(sphere, mu)


def effort(scene):
    """Torque limits of the joints that move, from the robot file [N m]."""
    joints = ElementTree.parse(ROBOTS / scene.robot / f"{scene.robot}.urdf").getroot().findall("joint")
    limits = {joint.get("name"): joint.find("limit") for joint in joints}
    return [float(limits[name].get("effort")) for name in joint_names(scene)]


def robot_spec(scene):
    """The robot of a scene on the ground, with the joints that move and the contacts of its feet."""
    spec = mujoco.MjSpec.from_file(str(ROBOTS / scene.robot / f"{scene.robot}.urdf"))
    options(spec)
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    spec.compiler.fusestatic = True
    spec.worldbody.first_body().add_freejoint(name="base")
    move_inertias(spec)
    names = joint_names(scene)
    for joint in list(spec.joints):
        if joint.name != "base" and joint.name not in names:
            spec.delete(joint)
    for geom in list(spec.geoms):
        # Of a foot the ball alone: ANYmal's tube begins above it. Legwork is timed without the tube too.
        is_ball = geom.type == mujoco.mjtGeom.mjGEOM_SPHERE
        if scene.soles or geom.parent.name not in scene.feet or not is_ball:
            spec.delete(geom)
        else:
            geom.name = f"{geom.parent.name}/0"
            touches(geom, scene.mu)
    add_ground(spec)
    for foot in scene.feet:
        if scene.soles:
            add_vertices(spec.body(foot), scene.soles, scene.mu)
    for name in names:
        joint = spec.joint(name)
        # Legwork knows neither: its joints have friction, damping and limits by blocks of their own.
        joint.limited, joint.damping, joint.frictionloss = False, [0, 0, 0], 0
    return spec


def move_inertias(spec):
    """MuJoCo refuses moments of inertia that no body has, as those of ANYmal's cameras. The links that have them are welded to
    others, where only the sum counts: they become point masses, and the heaviest link of those beside them takes their
    moments."""
    groups = {}
    for body in spec.bodies[1:]:
        root, turn = body, rotation(body.iquat)
        while not root.joints:
            root, turn = root.parent, rotation(root.quat) @ turn
        groups.setdefault(root.name, []).append((body, turn))
    for group in groups.values():
        _, heaviest = max((body.mass, i) for i, (body, _) in enumerate(group))
        taker, turn = group[heaviest]
        for body, other in group:
            if has_tensor(body) and not is_possible(tensor(body)):
                relative = turn.T @ other
                both = tensor(taker) + relative @ tensor(body) @ relative.T
                taker.fullinertia = both[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
                body.fullinertia, body.inertia = [np.nan] + 5 * [0], [0, 0, 0]


def has_tensor(body):
    """MuJoCo writes NaN where the file gives none."""
    return body.mass > 0 and not np.isnan(body.fullinertia[0])


def tensor(body):
    """The tensor of inertia about a body's centre of mass, in the axes of its `iquat` [kg m^2]."""
    xx, yy, zz, xy, xz, yz = body.fullinertia
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def is_possible(inertia):
    """Whether a body can have it: no principal moment is negative or exceeds the sum of the others."""
    least, middle, largest = np.linalg.eigvalsh(inertia)
    return least > 0 and largest < least + middle


def robot_model(scene, start):
    """The robot of a scene. `start` is what Legwork has at t = 0: `q`, `armature`, `s_ref`, `tau_ff`."""
    spec, names = robot_spec(scene), joint_names(scene)
    for i, name in enumerate(names):
        spec.joint(name).armature = start["armature"][i]
        if scene.kp:
            # kp (ctrl - s) - kd s_dot + tau_ff, explicit as in Legwork
            spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT, ctrllimited=False,
                              forcelimited=False, gaintype=mujoco.mjtGain.mjGAIN_FIXED,
                              biastype=mujoco.mjtBias.mjBIAS_AFFINE, gainprm=[scene.kp] + 9 * [0],
                              biasprm=[start["tau_ff"][i], -scene.kp, -scene.kd] + 7 * [0])
    order = joint_order(spec.compile(), names)
    key = {"qpos": np.concatenate([start["q"][:7], permuted(start["q"][7:], order)])}
    if scene.kp:
        key["ctrl"] = start["s_ref"]
    spec.add_key(name="start", **key)
    return spec.compile()


def joint_order(model, names):
    """Where MuJoCo has each of Legwork's joints: its dof, counted behind the base's."""
    return np.array([model.joint(name).dofadr[0] - 6 for name in names])


def permuted(values, order):
    """Values of Legwork's joints in MuJoCo's order."""
    result = np.empty(len(order))
    result[order] = values
    return result


def slope_model(start):
    """slope.ron. `start`: `q` and `nu` of the three boxes."""
    spec = mujoco.MjSpec()
    options(spec)
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    angle = math.radians(15)
    add_ground(spec, (math.sin(angle), 0, math.cos(angle)))
    x, y, z = 0.2, 0.2, 0.1
    for name, mass, mu in [("slider", 1, 0.15), ("sticker", 2, 0.4), ("stopper", 0.5, 0.4)]:
        body = spec.worldbody.add_body(name=name)
        body.mass, body.explicitinertial = mass, True
        body.inertia = [mass / 12 * (y * y + z * z), mass / 12 * (x * x + z * z), mass / 12 * (x * x + y * y)]
        body.add_freejoint(name=name)
        add_vertices(body, BOX_CORNERS, mu)
    spec.add_key(name="start", qpos=start["q"], qvel=np.concatenate(
        [mixed_to_mujoco(start["q"][7 * i:7 * i + 7], start["nu"][6 * i:6 * i + 6]) for i in range(3)]))
    return spec.compile()


def rotation(quaternion):
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)


def mixed_to_mujoco(pose, twist):
    """A twist with both parts in world axes, as Legwork has it, with the angular part in body axes, as MuJoCo has it."""
    return np.concatenate([twist[:3], rotation(pose[3:7]).T @ twist[3:6]])
