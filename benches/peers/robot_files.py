"""Every URDF of the Python environment, read by Pinocchio and by Legwork: M, h and J at three random states.

    python3 -m venv target/peers/robots
    target/peers/robots/bin/pip install pin example-robot-data icub-models mujoco
    target/peers/robots/bin/python benches/peers/robot_files.py

Prints the largest error of each file relative to the largest number of its matrix, the files that Pinocchio loads and
Legwork does not, and those that Pinocchio refuses. Ends with 1 if a file is missing or an error exceeds 1e-11.
"""

import argparse
import json
import pathlib
import subprocess
import sys

import numpy
import pinocchio

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
BOUND = 1e-11
STATES = 3


def case(path):
    """What Pinocchio finds, in Legwork's conventions but for the order of the joints."""
    model = pinocchio.buildModelFromUrdf(str(path), pinocchio.JointModelFreeFlyer())
    data = model.createData()
    random = numpy.random.default_rng(len(path.name))
    joints = list(range(2, model.njoints))
    kinds = {model.joints[j].nv for j in joints}
    if kinds - {1}:
        raise ValueError("joints of several degrees of freedom")
    # The frames of links that carry nothing.
    bodies = [f for f in model.frames if f.type == pinocchio.FrameType.BODY]
    tips = [f.name for f in bodies][-6:]
    states = []
    for _ in range(STATES):
        s, nu = random.uniform(-1, 1, model.nv - 6), random.uniform(-1, 1, model.nv)
        position, turn = random.uniform(-1, 1, 3), random.normal(size=4)
        turn /= numpy.linalg.norm(turn)
        q = pinocchio.neutral(model)
        q[:3] = position
        q[3:7] = turn
        for j in joints:
            joint = model.joints[j]
            angle = s[joint.idx_v - 6]
            q[joint.idx_q : joint.idx_q + joint.nq] = [angle] if joint.nq == 1 else [numpy.cos(angle), numpy.sin(angle)]
        rotation = pinocchio.Quaternion(turn[3], turn[0], turn[1], turn[2]).matrix()
        # Pinocchio's base velocity is in the base's axes: v = Xt nu.
        x = numpy.eye(model.nv)
        x[:3, :3] = x[3:6, 3:6] = rotation
        v, a = x.T @ nu, numpy.zeros(model.nv)
        a[:3] = -numpy.cross(v[3:6], v[:3])
        m = pinocchio.crba(model, data, q)
        m = numpy.triu(m) + numpy.triu(m, 1).T
        m = x @ m @ x.T
        h = x @ pinocchio.rnea(model, data, q, v, a)
        pinocchio.computeJointJacobians(model, data, q)
        pinocchio.updateFramePlacements(model, data)
        jacobians = {}
        for name in tips:
            frame = model.getFrameId(name, pinocchio.FrameType.BODY)
            j = pinocchio.getFrameJacobian(model, data, frame, pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED)
            jacobians[name] = (j @ x.T).T.flatten().tolist()
        wxyz = [turn[3], turn[0], turn[1], turn[2]]
        states.append({
            "q": [*position.tolist(), *wxyz, *s.tolist()],
            "nu": nu.tolist(),
            "m": m.flatten().tolist(),
            "h": h.tolist(),
            "jacobians": jacobians,
        })
    order = sorted(joints, key=lambda j: model.joints[j].idx_v)
    return {"file": str(path), "joints": [model.names[j] for j in order], "states": states}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=sys.prefix, help="where to look for *.urdf [this environment]")
    parser.add_argument("--program", help="the built example robot_files [cargo builds and runs it]")
    options = parser.parse_args()
    cases, refused = [], []
    for path in sorted(pathlib.Path(options.folder).rglob("*.urdf")):
        try:
            cases.append(json.dumps(case(path)))
        except Exception as error:  # Pinocchio raises what it likes.
            refused.append((path, str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__))
    command = [options.program] if options.program else [
        "cargo", "run", "--release", "--quiet", "--package", "legwork-mechanics", "--example", "robot_files"]
    ours = subprocess.run(command, input="\n".join(cases) + "\n", capture_output=True, text=True, cwd=REPOSITORY)
    if ours.returncode:
        sys.exit(ours.stderr)
    rows = [line.split(" ", 2) for line in ours.stdout.splitlines()]
    read = [row for row in rows if row[0] != "miss"]
    wrong = [row for row in read if float(row[0]) > BOUND]
    name = lambda path: str(path).replace(str(options.folder), "").lstrip("/")
    for row in read:
        print(f"{row[0]:>8}  nv {row[1]:>3}  {name(row[2])}")
    for row in rows:
        if row[0] == "miss":
            print(f"missed    {name(row[2])}")
    for path, why in refused:
        print(f"refused by Pinocchio: {name(path)}: {why}")
    worst = max((float(row[0]) for row in read), default=0.0)
    print(f"{len(cases)} files that Pinocchio loads, {len(read)} loaded here, largest error {worst:.1e}, "
          f"{len(wrong)} above {BOUND}, {len(refused)} refused by Pinocchio")
    sys.exit(1 if wrong or len(read) < len(cases) else 0)


if __name__ == "__main__":
    main()
