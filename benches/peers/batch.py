#!/usr/bin/env python3
"""Batches of Legwork's Python package beside mujoco.rollout: quadrupeds that stand, and one that trots, the same in both.

usage: VENV/bin/python batch.py OUT [--copies N] [--threads N ...] [--repeats N] [--legwork PROGRAM]

VENV is a Python environment with requirements_mujoco.txt and Legwork's wheel (`pip install ./src/python`), OUT a folder for
all that is built and recorded. Both step the same copies by the same number of steps in turn. The standing scenes are those of
mujoco_floating_base.py, whose models are equal to 1e-9; the trot is that of mujoco_trot.py without feedback to its feet, in
MuJoCo without the lag of the motors. Prints a markdown table of steps per second, and of a batch of one copy beside a lone run.
"""
import json
import resource
import statistics
import sys
import time
from dataclasses import dataclass

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
import legwork  # noqa: E402
import mujoco  # noqa: E402
import mujoco.rollout  # noqa: E402
import mujoco_floating_base as peers  # noqa: E402
import mujoco_scenes as scenes  # noqa: E402
import mujoco_trot as trots  # noqa: E402
import numpy as np  # noqa: E402

# Contacts that Legwork's trot is timed with.
CONTACTS = ["gauss", "hertz"]
# A call of a trot is one of its periods: all phases are in each [s].
PERIOD = 0.35
WARM_CALLS = 4  # in which the robot settles on its feet, or begins to trot


@dataclass
class Case:
    """One scene in both programs."""
    name: str
    diagram: legwork.Diagram
    model: mujoco.MjModel
    state: str  # whose first three numbers are the trunk's position
    steps: int  # a call
    controls: np.ndarray | None = None  # what MuJoCo's actuators follow, a row per step


def main():
    options = peers.parse_arguments(__doc__, add=arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    program = options.legwork or peers.build_legwork()
    cases = [standing(scene, program, options) for scene in scenes.SCENES if scene.robot in ("mini_cheetah", "go2")]
    cases += trotting(program, options)
    print(f"\n### Steps per second, {options.copies} copies, medians of {options.repeats} calls in turn\n")
    print("| | threads | steps a call | Legwork | mujoco.rollout | ratio | a core of Legwork beside one thread | apart at the end |\n"
          "|---|--:|--:|--:|--:|--:|--:|--:|")
    for case in cases:
        single = None
        for threads in options.threads:
            ours, theirs, apart = rates(options, case, threads)
            ratio = statistics.median(a / b for a, b in zip(ours, theirs))
            own = statistics.median(ours)
            single = single or own / threads
            print(f"| {case.name} | {threads} | {case.steps} | {own:.0f} | {statistics.median(theirs):.0f} | {ratio:.2f} | "
                  f"{own / threads / single:.2f} | {1e3 * apart:.2g} mm |", flush=True)
    print(f"\nA batch of one copy takes {overhead(options, cases[0].diagram):.3f} of the CPU time of a lone run.")


def arguments(parser):
    parser.add_argument("--copies", type=int, default=64)
    parser.add_argument("--steps", type=int, default=10, help="steps a call of what stands")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])


def standing(scene, program, options):
    """A scene of mujoco_floating_base.py, without what only the comparison needs."""
    out = options.out / f"batch_{scene.robot}"
    _, sides, rows, _ = peers.prepare(scene, program, out)
    print(f"\n### {scene.name}\n")
    if not peers.print_rows(rows):
        sys.exit(3)
    words = list(sides.arguments)
    patches = [words[at + 1] for at, word in enumerate(words) if word == "--with"]
    off = {f"robots.robot.joint_{name}": "Ignore" for name in ("limits", "damping")}
    diagram = legwork.open(scenes.DIAGRAMS / scene.diagram, patches=[*scene.patches, *patches], set=off, trust=True)
    model = mujoco.MjModel.from_binary_path(str(out / "model.mjb"))
    name = scene.name.removesuffix(", pushed")
    return Case(name, diagram.with_(until="1e6 s", signals=["sim.state"]), model, "sim.state", options.steps)


def trotting(program, options):
    """The trot of mujoco_trot.py with each contact of Legwork, at the step of the robot's computer."""
    step, open_loop = trots.CONTROL, dict(one.split("=") for one in trots.OPEN_LOOP)
    _, reference, start = trots.run_legwork(program, options.out / "batch_trot", step)
    model = pd_model(start, step)
    joints = model.nu
    controls = reference[:, :joints] + trots.KD / trots.KP * reference[:, joints:]
    for contact in CONTACTS:
        diagram = legwork.open(trots.DIAGRAM, set={name: json.loads(value) for name, value in open_loop.items()},
                               variant={"contact": contact})
        yield Case(f"{trots.SCENE.name}, {contact}", diagram.with_(until="1e6 s", signals=["body.state"]), model, "body.state",
                   round(PERIOD / step), controls)


def pd_model(start, step):
    """The robot of the trot, whose actuators are the joint PD: kp (ctrl - s) - kd s_dot with
    ctrl = s_ref + kd/kp s_dot_ref, within the limits of the motors."""
    spec = trots.robot_spec(start, step)
    for actuator, limit in zip(spec.actuators, scenes.effort(trots.SCENE)):
        actuator.dyntype, actuator.dynprm = mujoco.mjtDyn.mjDYN_NONE, [1] + 9 * [0]
        actuator.gainprm = [trots.KP] + 9 * [0]
        actuator.biastype, actuator.biasprm = mujoco.mjtBias.mjBIAS_AFFINE, [0, -trots.KP, -trots.KD] + 7 * [0]
        actuator.ctrllimited, actuator.forcelimited, actuator.forcerange = False, True, [-limit, limit]
    return spec.compile()


def rates(options, case, threads):
    """Steps per second of both, and how far the trunks are apart at the end [m]."""
    batch = legwork.Batch(case.diagram, options.copies, threads=threads, signals=[case.state])
    model = case.model
    data = [mujoco.MjData(model) for _ in range(threads)]
    # What drives the joints is in the data of each thread, and not in the state.
    for one in data:
        mujoco.mj_resetDataKeyframe(model, one, 0)
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.empty(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, data[0], state, kind)
    states = np.tile(state, (options.copies, 1))
    rollout = mujoco.rollout.Rollout(nthread=threads)
    count = options.copies * case.steps
    ours, theirs = [], []
    for call in range(WARM_CALLS + options.repeats):
        controls = None
        if case.controls is not None:
            rows = case.controls[call * case.steps:][:case.steps]
            controls = np.tile(rows, (options.copies, 1, 1))
        begin = time.perf_counter()
        batch.step(case.steps)
        middle = time.perf_counter()
        found, _ = rollout.rollout(model, data, states, controls, nstep=case.steps)
        end = time.perf_counter()
        states = found[:, -1, :]
        if call >= WARM_CALLS:
            ours.append(count / (middle - begin))
            theirs.append(count / (end - middle))
    rollout.close()
    # The time stands before the position in the state.
    return ours, theirs, np.abs(batch[case.state][0, :3] - states[0, 1:4]).max()


def overhead(options, stand):
    steps = 5000
    batch = legwork.Batch(stand, 1, threads=1)
    run = stand.with_(until=f"{steps} ms")
    ratios = []
    for _ in range(max(5, options.repeats // 4)):
        batch.reset()
        begin = cpu_time()
        batch.step(steps)
        middle = cpu_time()
        run.run()
        ratios.append((middle - begin) / (cpu_time() - middle))
    return statistics.median(ratios)


def cpu_time():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
