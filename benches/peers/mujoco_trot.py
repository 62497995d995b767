#!/usr/bin/env python3
"""Legwork's trot (diagrams/quadruped/trot.ron) beside MuJoCo's: one robot, one joint reference, two laws of contact.

usage: VENV/bin/python mujoco_trot.py OUT [--write] [--fit] [--no-times] [--core N] [--repeats N] [--legwork PROGRAM]

VENV is a Python environment with requirements_mujoco.txt, OUT a folder for all that is built and recorded. Prints the measures
of D. T. de Paula et al., Dynamic modeling and simulation of a torque-controlled spatial quadruped robot (2024), sec. 6, with
their figures as bands, then times per step; ends with exit status 3 if a figure is out of its band. `--write` renews the
table that diagrams/quadruped/beside_mujoco.patch compares with, `--fit` finds MuJoCo's contact anew and prints it.
"""
import json
import math
import statistics
import subprocess
import sys
from dataclasses import dataclass

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
import mujoco  # noqa: E402
import mujoco_floating_base as side  # noqa: E402
import mujoco_measures as measures  # noqa: E402
import mujoco_scenes as scenes  # noqa: E402
import numpy as np  # noqa: E402

DIAGRAM = scenes.ROOT / "diagrams/quadruped/trot.ron"
TABLE = scenes.ROOT / "diagrams/quadruped/trot_mujoco.csv"
DURATION = 10.0  # [s]
CONTROL = 1e-3  # period of the robot's computer, the diagram's `every:` [s]
# Of these periods to a row of the table: no divisor of the gait's 350, or rows would miss the same touchdown in every step.
EVERY = 3
# What the diagram says.
KP, KD = 100.0, 2.0  # [N m/rad], [N m s/rad]
BANDWIDTH = 200.0  # of the motors [Hz]
MU = 0.7
ROTOR_INERTIA = [0.002268, 0.002268, 0.00548408] * 4  # [kg m^2]
# Steps at which halving changes nothing that counts: see `print_halving`.
LEGWORK_STEP, MUJOCO_STEP = 5e-5, 1e-4  # [s]

# MuJoCo's contact, as `--fit` found it: a robot that stands is dropped by 2 cm on either ground, and the feet's vertical forces
# and the trunk's height are to be alike. Nothing of the trot is in the fit, nor anything of friction.
TIME_CONSTANT = 0.00384  # solref, critically damped [s]
IMPEDANCE = (0.655, 0.815)  # solimp: at first touch, and from WIDTH on
WIDTH = 1e-3  # [m]
DROP = 0.02  # [m]

# Feedback off: the wanted joints are functions of time alone, the same in both.
OPEN_LOOP = ["k_place=0", "k_level=0", "k_heading=0"]
SCENE = scenes.Scene("Mini Cheetah trots", "", DURATION, MU, robot="mini_cheetah",
                     feet=["FL_foot", "FR_foot", "HL_foot", "HR_foot"])
LOADED = 0.0  # a foot with more vertical force touches [N]


@dataclass
class Track:
    """What both leave, a row per period of the robot's computer: base pose (7), roll, pitch, yaw, vertical forces (4)."""
    pose: np.ndarray
    rpy: np.ndarray
    force: np.ndarray


def main():
    options = side.parse_arguments(__doc__, lambda parser: [
        parser.add_argument("--write", action="store_true", help="renew the table of the diagram's patch"),
        parser.add_argument("--fit", action="store_true", help="find MuJoCo's contact anew"),
        parser.add_argument("--no-times", action="store_true", help="do not time"),
    ])
    options.out.mkdir(parents=True, exist_ok=True)
    legwork = options.legwork or side.build_legwork()
    if options.fit:
        fit(legwork, options.out)
        return
    ours, reference, start = run_legwork(legwork, options.out / "trot", LEGWORK_STEP)
    model = robot_model(start, MUJOCO_STEP)
    theirs = run_mujoco(model, reference, DURATION)
    rows = compared(ours, theirs)
    print(f"### {SCENE.name} for {DURATION:g} s, one joint reference\n")
    print_measures(rows)
    print_halving(legwork, options.out, ours, theirs, start, reference)
    if options.write:
        write_table(theirs)
    if not options.no_times:
        print_times(options, legwork, start, reference)
    sys.exit(0 if all(is_in(error, band) for _, error, band, _ in rows) else 3)


def run_legwork(legwork, out, step, *more):
    """A run of the diagram: its track, the wanted joint positions and velocities (a row per period), its first q."""
    log = ["legs.s_ref", "legs.s_dot_ref", *(f'Every("1 ms", "{name}")' for name in ("body.state", "rpy.y", "contact.f"))]
    log = "[" + ", ".join(entry if entry.startswith("Every") else json.dumps(entry) for entry in log) + "]"
    sets = [*OPEN_LOOP, f'run.step="{1e3 * step:g} ms"', f"log={log}"]
    side.output([legwork, "run", DIAGRAM, *(word for one in sets for word in ("--set", one)), *more, "--out", out])
    table = side.export(legwork, out)
    q = seen(measures.configuration(table, "body.state"))
    rpy, f, s, s_dot = (seen(measures.columns(table, name)) for name in (
        "rpy.y", "contact.f", "legs.s_ref", "legs.s_dot_ref"))
    return Track(q[:, :7], rpy, f[:, 2::3]), np.hstack([s, s_dot]), q[0]


def seen(values):
    """The rows that a signal has."""
    return values[~np.isnan(values[:, 0])]


def robot_model(start, step, time_constant=TIME_CONSTANT, impedance=IMPEDANCE):
    return robot_spec(start, step, time_constant, impedance).compile()


def robot_spec(start, step, time_constant=TIME_CONSTANT, impedance=IMPEDANCE):
    """The robot of the diagram with motors: torques within limits, then a lag that is exact for a held input."""
    spec = scenes.robot_spec(SCENE)
    spec.option.timestep = step
    for foot in SCENE.feet:
        sphere = spec.geom(f"{foot}/0")
        sphere.solref, sphere.solimp = [time_constant, 1], [*impedance, WIDTH, 0.5, 2]
    names = scenes.joint_names(SCENE)
    for name, inertia, limit in zip(names, ROTOR_INERTIA, scenes.effort(SCENE)):
        spec.joint(name).armature = inertia
        spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT, ctrllimited=True,
                          ctrlrange=[-limit, limit], forcelimited=False, dyntype=mujoco.mjtDyn.mjDYN_FILTEREXACT,
                          dynprm=[1 / (2 * math.pi * BANDWIDTH)] + 9 * [0], gaintype=mujoco.mjtGain.mjGAIN_FIXED,
                          gainprm=[1] + 9 * [0], biastype=mujoco.mjtBias.mjBIAS_NONE)
    order = scenes.joint_order(spec.compile(), names)
    if not np.array_equal(order, np.arange(len(names))):
        sys.exit("MuJoCo has the joints in another order than the robot file")
    spec.add_key(name="start", qpos=start)
    return spec


def run_mujoco(model, reference, duration):
    """The track of a run in which PD on the reference is held for a period of the robot's computer."""
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    hold, periods = round(CONTROL / model.opt.timestep), round(duration / CONTROL)
    feet = {model.geom(f"{foot}/0").id: i for i, foot in enumerate(SCENE.feet)}
    pose, force, wrench = np.empty((periods + 1, 7)), np.zeros((periods + 1, len(feet))), np.empty(6)
    joints = model.nu
    for k in range(periods + 1):
        pose[k] = data.qpos[:7]
        wanted = reference[k]
        data.ctrl[:] = KP * (wanted[:joints] - data.qpos[7:]) + KD * (wanted[joints:] - data.qvel[6:])
        mujoco.mj_step(model, data)
        # Forces of the step that begins at the pose.
        for c in range(data.ncon):
            contact = data.contact[c]
            mujoco.mj_contactForce(model, data, c, wrench)
            force[k, feet[contact.geom[1]]] += (contact.frame.reshape(3, 3).T @ wrench[:3])[2]
        for _ in range(hold - 1):
            mujoco.mj_step(model, data)
    return Track(pose, roll_pitch_yaw(pose[:, 3:7]), force)


def roll_pitch_yaw(quaternions):
    w, x, y, z = quaternions.T
    return np.column_stack([np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)),
                            np.arcsin(np.clip(2 * (w * y - z * x), -1, 1)),
                            np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))])


def compared(ours, theirs):
    """Rows of (name, error, band, unit): mean absolute errors, and the share of samples in which a foot touches in one only."""
    position = 1e3 * np.abs(ours.pose[:, :3] - theirs.pose[:, :3]).mean(axis=0)
    turn = (ours.rpy - theirs.rpy + math.pi) % (2 * math.pi) - math.pi
    angle = np.degrees(np.abs(turn).mean(axis=0))
    force = np.abs(ours.force - theirs.force).mean(axis=0)
    apart = 100 * ((ours.force > LOADED) != (theirs.force > LOADED)).mean(axis=0)
    rows = [(f"trunk, {axis}", error, band, "mm") for axis, error, band in zip("xyz", position, (63, 17, 4.6))]
    rows += [(name, error, band, "deg") for name, error, band in zip(("roll", "pitch", "yaw"), angle, (1.5, 1.3, 2.7))]
    rows += [(f"vertical force, {foot}", error, 5.65, "N") for foot, error in zip(SCENE.feet, force)]
    return rows + [(f"touches in one only, {foot}", error, 5, "%") for foot, error in zip(SCENE.feet, apart)]


def is_in(error, band):
    return error <= band


def print_measures(rows):
    print("| mean absolute error over all samples, 1 ms | error | band |\n|---|--:|--:|")
    for name, error, band, unit in rows:
        print(f"| {name} [{unit}] | {error:.3g} | {band}{'' if is_in(error, band) else ' **broken**'} |")
    print()


def print_halving(legwork, out, ours, theirs, start, reference):
    """How far each side is from itself with half its step."""
    half, _, _ = run_legwork(legwork, out / "half", LEGWORK_STEP / 2)
    again = run_mujoco(robot_model(start, MUJOCO_STEP / 2), reference, DURATION)
    print("| the same, against itself at half the step | Legwork | MuJoCo |\n|---|--:|--:|")
    for (name, error, _, unit), (_, other, _, _) in zip(compared(ours, half), compared(theirs, again)):
        print(f"| {name} [{unit}] | {error:.2g} | {other:.2g} |")
    print(f"\nSteps: Legwork {1e3 * LEGWORK_STEP:g} ms, MuJoCo {1e3 * MUJOCO_STEP:g} ms.\n")


def write_table(track):
    """MuJoCo's track under the names that the patch's signals have in Legwork's table."""
    names = [f"body.state.base.position[{i}]" for i in range(3)] + [f"rpy.y[{i}]" for i in range(3)]
    names += [f"vertical.y[{i}]" for i in range(4)] + [f"touches.y[{i}]" for i in range(4)]
    with TABLE.open("w") as file:
        file.write(f"# Written by benches/peers/mujoco_trot.py --write, MuJoCo {mujoco.__version__}: m, rad, N.\n")
        file.write(",".join(["t", *names]) + "\n")
        for k in range(0, len(track.pose), EVERY):
            cells = [f"{k * CONTROL:.3f}"] + [f"{x:.5f}" for x in (*track.pose[k, :3], *track.rpy[k])]
            cells += [f"{f:.2f}" for f in track.force[k]] + [str(int(f > LOADED)) for f in track.force[k]]
            file.write(",".join(cells) + "\n")
    print(f"wrote {TABLE.relative_to(scenes.ROOT)}\n")


def fit(legwork, out):
    """The contact of MuJoCo that is most like Legwork's when the standing robot is dropped: time constant and impedances."""
    from scipy.optimize import minimize  # needed here alone
    duration = 0.4
    height = 0.299 + DROP
    ours, reference, start = run_legwork(legwork, out / "drop", LEGWORK_STEP / 2, "--no-checks", "--until", f"{duration} s",
                                         "--set", f'body.init.position=[0, 0, "{height} m"]')
    count = len(ours.pose)

    def parameters(x):
        return math.exp(x[0]), tuple(1 / (1 + math.exp(-v)) for v in x[1:])

    def errors(x):
        track = run_mujoco(robot_model(start, MUJOCO_STEP, *parameters(x)), reference, duration)
        force = np.abs(track.force[:count] - ours.force).mean()
        return force, 1e3 * np.abs(track.pose[:count, 2] - ours.pose[:, 2]).mean()

    def loss(x):
        # 1 N and 0.1 mm weigh alike.
        force, rise = errors(x)
        return force + 10 * rise

    found = []
    for time_constant, low, high in ((0.002, 0.5, 0.95), (0.005, 0.9, 0.95), (0.01, 0.3, 0.9)):
        x = [math.log(time_constant), math.log(low / (1 - low)), math.log(high / (1 - high))]
        found.append(minimize(loss, x, method="Nelder-Mead", options={"maxfev": 200, "xatol": 1e-3, "fatol": 1e-3}))
    for one in sorted(found, key=lambda one: one.fun):
        time_constant, impedance = parameters(one.x)
        force, rise = errors(one.x)
        print(f"TIME_CONSTANT = {time_constant:.5f}, IMPEDANCE = ({impedance[0]:.3f}, {impedance[1]:.3f}): "
              f"{force:.3f} N, {rise:.4f} mm after {one.nfev} runs")


def print_times(options, legwork, start, reference):
    """Times per step at equal steps, all programs in turn."""
    peer = side.build_peer(options.out, "mujoco_trot")
    np.savetxt(options.out / "reference.txt", reference, fmt="%.17g")
    cases = []
    for step in (1e-3, 2.5e-4):
        mujoco.mj_saveModel(robot_model(start, step), str(options.out / f"trot{step:g}.mjb"))
        cases += [(step, "gauss"), (step, "hertz")]
    pinned, times = ["taskset", "-c", options.core], {}
    for _ in range(options.repeats):
        for step, contact in cases:
            times.setdefault((step, contact), []).append(legwork_time(legwork, options.out, pinned, step, contact))
            if contact == "hertz":
                figures = side.output([*pinned, peer, options.out / f"trot{step:g}.mjb", round(DURATION / step),
                                       round(CONTROL / step), KP, KD, options.out / "reference.txt"]).splitlines()[0]
                times.setdefault((step, "mujoco"), []).append(1e-3 * float(figures.split()[0]))
    print(f"### Time per step [us], medians of {options.repeats} runs in turn\n")
    print("| step | Legwork, rigid | Legwork, Hertz | MuJoCo | rigid / MuJoCo | Hertz / MuJoCo | spread |\n"
          "|---|--:|--:|--:|--:|--:|--:|")
    for step in (1e-3, 2.5e-4):
        runs = [times[step, kind] for kind in ("gauss", "hertz", "mujoco")]
        known = [statistics.median(run) if None not in run else None for run in runs]
        spread = max((max(run) - min(run)) / (2 * m) for run, m in zip(runs, known) if m)
        cells = [f"{m:.2f}" if m else "stopped" for m in known]
        cells += [f"{m / known[2]:.2f}" if m else "" for m in known[:2]]
        print(f"| {1e3 * step:g} ms | {' | '.join(cells)} | ±{100 * spread:.0f} % |")


def legwork_time(legwork, out, pinned, step, contact):
    """Time per step [us]; none if the run stopped at a fault."""
    sets = [*OPEN_LOOP, f'run.step="{1e3 * step:g} ms"', 'log=["body.state", "contact.f"]']
    words = [*pinned, legwork, "run", DIAGRAM, *(word for one in sets for word in ("--set", one)),
             "--variant", f"contact={contact}", "--no-checks", "--json", "--out", out / "timed"]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None
    run = json.loads(done.stdout)
    return 1e6 * run["wall_s"] / run["steps"]


if __name__ == "__main__":
    main()
