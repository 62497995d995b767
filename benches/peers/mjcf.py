#!/usr/bin/env python3
"""Read the models of dm_control, gymnasium, gymnasium-robotics and MuJoCo's test data with `Mjcf` and with MuJoCo.

usage: mjcf.py LEGWORK [PART-OF-PATH]

Every MJCF file of these packages that MuJoCo itself loads is put into a diagram of one robot, which `legwork run`
evaluates at three random states. Mass matrix and bias force must equal MuJoCo's (armature included) to 1e-9 of their
largest entry. One line for each model that does not load or differs, then a summary; the exit status is 3 if fewer than
95 % agree. The models stay in the packages.
"""
import csv
import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import mujoco
import numpy as np

PACKAGES = ["dm_control", "gymnasium", "gymnasium_robotics", "mujoco"]
STATES = 3
BAND = 1e-9
SHARE = 0.95


def main():
    legwork = os.path.abspath(sys.argv[1])
    only = sys.argv[2] if len(sys.argv) > 2 else ""
    mujoco.set_mju_user_warning(lambda message: None)
    agree, loaded, refused, differ, worst = 0, 0, [], [], [0.0, 0.0]
    for package, path in models():
        if only not in str(path):
            continue
        model = load(path)
        if model is None:
            continue
        name = f"{package}/{path.relative_to(root(package))}"
        loaded += 1
        problem, errors = compare(legwork, path, model)
        if problem:
            refused.append((name, problem))
        elif max(errors) > BAND:
            differ.append((name, errors))
        else:
            agree += 1
            worst = [max(pair) for pair in zip(worst, errors)]
    for name, problem in refused:
        print(f"not read  {name}\n          {problem}")
    for name, errors in differ:
        print(f"differs   {name}: M by {errors[0]:.1e}, bias force by {errors[1]:.1e}")
    print(f"{loaded} models that MuJoCo {mujoco.__version__} loads: {loaded - len(refused)} read, {agree} agree in "
          f"{STATES} states each to {BAND:g} (largest difference: M {worst[0]:.1e}, bias force {worst[1]:.1e})")
    return 0 if loaded and agree >= SHARE * loaded else 3


def root(package):
    return Path(importlib.util.find_spec(package).origin).parent


def models():
    """All XML files of the packages."""
    return [(package, path) for package in PACKAGES for path in sorted(root(package).rglob("*.xml"))]


def load(path):
    """MuJoCo's model; None of a file that is a part of another one, or that MuJoCo refuses."""
    try:
        return mujoco.MjModel.from_xml_path(str(path))
    except ValueError:
        return None


def compare(legwork, path, model):
    """What Legwork says against the model, or the largest relative differences of M and of the bias force."""
    rng = np.random.default_rng(0)
    states = [state(model, rng) for _ in range(STATES)]
    with tempfile.TemporaryDirectory() as folder:
        diagram = Path(folder) / "model.ron"
        diagram.write_text(text(path, model, states))
        out = Path(folder) / "run"
        run = subprocess.run([legwork, "run", diagram, "--root", path.parents[2], "--root", root_of_file(path), "--out", out],
                             capture_output=True, text=True, check=False)
        if run.returncode != 0:
            lines = [line for line in run.stderr.splitlines() if line.strip()]
            return next((line for line in lines if line.startswith("error")), lines[0] if lines else "?"), None
        if model.nv == 0:
            return None, [0.0, 0.0]  # it is read
        table = Path(folder) / "table.csv"
        subprocess.run([legwork, "export", out, "-o", table], capture_output=True, check=True)
        with open(table, encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file)
            row = next(rows)
    errors = [0.0, 0.0]
    for i, (positions, velocities) in enumerate(states):
        mass, bias = theirs(model, positions, velocities)
        turn = to_ours(model, positions)
        ours = np.array([[float(row[f"m{i}.M[{r}, {c}]"]) for c in range(model.nv)] for r in range(model.nv)])
        h = np.array([float(row[f"h{i}.h[{r}]"]) for r in range(model.nv)])
        pairs = [(turn.T @ ours @ turn, mass), (turn.T @ h, bias)]
        for k, (a, b) in enumerate(pairs):
            errors[k] = max(errors[k], float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-12)))
    return None, errors


def root_of_file(path):
    return next(root(package) for package in PACKAGES if root(package) in path.parents)


def state(model, rng):
    """Random positions, quaternions of unit length, and velocities."""
    positions = rng.uniform(-1, 1, model.nq)
    for joint in range(model.njnt):
        start = model.jnt_qposadr[joint]
        kind = model.jnt_type[joint]
        if kind == mujoco.mjtJoint.mjJNT_FREE:
            start += 3
        elif kind != mujoco.mjtJoint.mjJNT_BALL:
            continue
        quaternion = rng.normal(size=4)
        positions[start:start + 4] = quaternion / np.linalg.norm(quaternion)
    return positions, rng.uniform(-1, 1, model.nv)


def theirs(model, positions, velocities):
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = positions, velocities
    mujoco.mj_forward(model, data)
    mass = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, mass)
    return mass, data.qfrc_bias.copy()


def to_ours(model, positions):
    """Ours = T theirs: MuJoCo has the angular velocity of free and ball joints in the axes of the body."""
    turn = np.eye(model.nv)
    for joint in range(model.njnt):
        kind = model.jnt_type[joint]
        q, v = model.jnt_qposadr[joint], model.jnt_dofadr[joint]
        if kind == mujoco.mjtJoint.mjJNT_FREE:
            q, v = q + 3, v + 3
        elif kind != mujoco.mjtJoint.mjJNT_BALL:
            continue
        rotation = np.zeros(9)
        mujoco.mju_quat2Mat(rotation, positions[q:q + 4])
        turn[v:v + 3, v:v + 3] = rotation.reshape(3, 3)
    return turn


def floats(model):
    """Whether Legwork takes the free joint as the base: it alone moves, and nothing resists it."""
    if model.jnt_type[0] != mujoco.mjtJoint.mjJNT_FREE:
        return False
    body = model.jnt_bodyid[0]
    alone = all(model.body_rootid[model.jnt_bodyid[joint]] == body for joint in range(model.njnt))
    resists = model.dof_armature[:6].any() or np.asarray(model.dof_damping[:6]).any() or model.dof_frictionloss[:6].any()
    return alone and not resists and not np.asarray(model.jnt_stiffness[0]).any()


def text(path, model, states):
    """A diagram that logs M and h at all states."""
    blocks, logs = [f'"still": Constant(value: {numbers([0.0] * max(model.nv, 1))})'], []
    for i, (positions, velocities) in enumerate(states if model.nv else []):
        s, s_dot, base = positions, to_ours(model, positions) @ velocities, ""
        if floats(model):
            base = (f"position: {numbers(s[:3])}, orientation: {numbers(s[3:7])}, velocity: {numbers(s_dot[:3])}, "
                    f"angular_velocity: {numbers(s_dot[3:6])}, ")
            s, s_dot = s[7:], s_dot[6:]
        init = f"{base}s: {numbers(s)}, s_dot: {numbers(s_dot)}" if len(s) else base
        blocks += [f'"x{i}": FloatingBase(robot: "r", init: ({init}), in: {{ "nu_dot": "still.y" }})',
                   f'"m{i}": MassMatrix(robot: "r", in: {{ "state": "x{i}.state" }})',
                   f'"h{i}": BiasForces(robot: "r", in: {{ "state": "x{i}.state" }})']
        logs += [f'"m{i}.M"', f'"h{i}.h"']
    return (f'Diagram(format: 2, run: (stop: "1 us", step: "1 us", solver: Euler), robots: {{ "r": Mjcf(path: "{path}", '
            f'mimic: Free) }}, blocks: {{ {", ".join(blocks)} }}, log: [{", ".join(logs)}])\n')


def numbers(values):
    return "[" + ", ".join(repr(float(value)) for value in values) + "]"


if __name__ == "__main__":
    sys.exit(main())
