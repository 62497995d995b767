#!/usr/bin/env python3
"""Batches of Legwork's Python package beside mujoco.rollout: the standing Mini Cheetah, equal in both.

usage: VENV/bin/python batch.py OUT [--copies N] [--threads N ...] [--repeats N] [--legwork PROGRAM]

VENV is a Python environment with requirements_mujoco.txt and Legwork's wheel (`pip install ./src/python`), OUT a folder for
all that is built and recorded. Both step the same copies by the same number of steps in turn; the scene is that of
mujoco_floating_base.py, whose models are equal to 1e-9. Prints a markdown table of steps per second, and of a batch of one copy
beside a lone run.
"""
import resource
import statistics
import sys
import time

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
import legwork  # noqa: E402
import mujoco  # noqa: E402
import mujoco.rollout  # noqa: E402
import mujoco_floating_base as peers  # noqa: E402
import mujoco_scenes as scenes  # noqa: E402
import numpy as np  # noqa: E402

SCENE = next(scene for scene in scenes.SCENES if scene.robot == "mini_cheetah")


def main():
    options = peers.parse_arguments(__doc__, add=arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    program = options.legwork or peers.build_legwork()
    _, sides, rows, _ = peers.prepare(SCENE, program, options.out / "scene")
    if not peers.print_rows(rows):
        sys.exit(3)
    model = mujoco.MjModel.from_binary_path(str(options.out / "scene" / "model.mjb"))
    stand = diagram(sides)
    print(f"\n### Steps per second, {options.copies} copies, {options.steps} steps a call, "
          f"medians of {options.repeats} calls in turn\n")
    print("| threads | Legwork | mujoco.rollout | ratio | a core of Legwork beside one thread |\n|--:|--:|--:|--:|--:|")
    single = None
    for threads in options.threads:
        ours, theirs = rates(options, stand, model, threads)
        ratio = statistics.median(a / b for a, b in zip(ours, theirs))
        own = statistics.median(ours)
        single = single or own / threads
        print(f"| {threads} | {own:.0f} | {statistics.median(theirs):.0f} | {ratio:.2f} | {own / threads / single:.2f} |")
    print(f"\nA batch of one copy takes {overhead(options, stand):.3f} of the CPU time of a lone run.")


def arguments(parser):
    parser.add_argument("--copies", type=int, default=64)
    parser.add_argument("--steps", type=int, default=10, help="steps a call")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])


def diagram(sides):
    """The scene of Legwork, standing, without what only the comparison needs."""
    words = list(sides.arguments)
    patches = [words[at + 1] for at, word in enumerate(words) if word == "--with"]
    diagram = legwork.open(scenes.DIAGRAMS / SCENE.diagram, patches=[*SCENE.patches, *patches],
                           set={"robots.robot.joint_limits": "Ignore"}, trust=True)
    return diagram.with_(until="1e6 s", signals=["sim.state"])


def rates(options, stand, model, threads):
    batch = legwork.Batch(stand, options.copies, threads=threads, signals=["sim.state"])
    data = [mujoco.MjData(model) for _ in range(threads)]
    # What drives the joints is in the data of each thread, and not in the state.
    for one in data:
        mujoco.mj_resetDataKeyframe(model, one, 0)
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.empty(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, data[0], state, kind)
    states = np.tile(state, (options.copies, 1))
    rollout = mujoco.rollout.Rollout(nthread=threads)
    count = options.copies * options.steps
    ours, theirs = [], []
    # The first calls settle the robot on its feet.
    for call in range(options.repeats + 20):
        begin = time.perf_counter()
        batch.step(options.steps)
        middle = time.perf_counter()
        found, _ = rollout.rollout(model, data, states, nstep=options.steps)
        end = time.perf_counter()
        states = found[:, -1, :]
        if call >= 20:
            ours.append(count / (middle - begin))
            theirs.append(count / (end - middle))
    rollout.close()
    return ours, theirs


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
