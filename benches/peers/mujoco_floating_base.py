#!/usr/bin/env python3
"""Legwork's floating-base diagrams beside MuJoCo: the same robots, gains, pushes and ground in both, compared and timed.

usage: VENV/bin/python mujoco_floating_base.py OUT [--core N] [--repeats N] [--legwork PROGRAM]

VENV is a Python environment with requirements_mujoco.txt, OUT a folder for all that is built and recorded. Prints
markdown tables; ends with exit status 3 if a figure is out of its band.
"""
import argparse
import copy
import csv
import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
import mujoco  # noqa: E402
import mujoco_measures as measures  # noqa: E402
import mujoco_scenes as scenes  # noqa: E402
import numpy as np  # noqa: E402

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# Of mass matrix and bias force, relative: the inertias of MuJoCo have gone through principal axes.
SAME_MODEL = 1e-9
# Of the torques [N m]: round-off of gains times angles.
SAME_TORQUE = 1e-9


@dataclass
class Sides:
    """What the timed runs of a scene need: arguments that make Legwork's run the same as MuJoCo's, and where that ends."""
    arguments: list
    final: np.ndarray


def main():
    options = parse_arguments(__doc__)
    options.out.mkdir(parents=True, exist_ok=True)
    peer = build_peer(options.out, "mujoco_step")
    legwork = options.legwork or build_legwork()
    prepared = [prepare(scene, legwork, options.out / f"scene{i}") for i, scene in enumerate(scenes.SCENES)]
    is_kept = True
    for scene, _, rows, note in prepared:
        print(f"### {scene.name}\n")
        is_kept &= print_rows(rows)
        print(note)
    print_times(options, legwork, peer, prepared)
    sys.exit(0 if is_kept else 3)


def parse_arguments(text, add=None):
    """The command line; `add` gives the parser options of its own."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("out", type=Path, help="folder for all that is built and recorded")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)),
                        help="core that runs the timed programs (default: the last)")
    parser.add_argument("--repeats", type=int, default=9, help="timed runs of every program (default: 9)")
    parser.add_argument("--legwork", type=Path, help="release build of legwork that exists already")
    if add:
        add(parser)
    options = parser.parse_args()
    if options.repeats < 1:
        parser.error("--repeats must be positive")
    options.out = options.out.absolute()
    options.legwork = options.legwork and options.legwork.absolute()
    return options


def output(arguments, **more):
    done = subprocess.run([str(a) for a in arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False, **more)
    if done.returncode != 0:
        sys.exit(f"exit status {done.returncode}: {' '.join(map(str, arguments))}\n{done.stderr}")
    return done.stdout


def build_peer(out, name):
    """Compiles `name`.cpp against the library of the Python package."""
    package = Path(mujoco.__file__).parent
    library = next(package.glob("libmujoco.so.*"))
    output([os.environ.get("CXX", "clang++"), "-std=c++17", "-O3", "-march=native", "-DNDEBUG", f"-I{package}/include",
            HERE / f"{name}.cpp", "-o", out / name, library, f"-Wl,-rpath,{package}"])
    return out / name


def build_legwork():
    lines = output(["cargo", "build", "--release", "--message-format", "json-render-diagnostics"], cwd=ROOT)
    found = [m["executable"] for m in map(json.loads, lines.splitlines())
             if m.get("executable") and m["target"]["name"] == "legwork"]
    return Path(found[0])


def run_legwork(legwork, scene, out, *more):
    """One run; what `legwork run --json` prints."""
    patches = changes(scene)
    return json.loads(output([legwork, "run", scenes.DIAGRAMS / scene.diagram, *patches, *more, "--json", "--out", out]))


def export(legwork, run):
    """A recording as names and an array, a row per time."""
    with (run / "run.csv").open("w") as file:
        file.write(output([legwork, "export", run]))
    with (run / "run.csv").open() as file:
        reader = csv.reader(file)
        names = next(reader)
        return names, np.array([[float(x) if x else np.nan for x in row] for row in reader])


def prepare(scene, legwork, out):
    """Runs a scene in both: (scene, sides, rows of its table, a note). Leaves the models of the timed program in `out`."""
    out.mkdir(exist_ok=True)
    if not scene.robot:
        return prepare_slope(scene, legwork, out)
    signals = ["sim.kin_dyn", "sim.state"] + (["weight.tau", "pose.y"] if scene.kp else [])
    run_legwork(legwork, scene, out / "start", "--until", "1 ms", "--no-checks", "--set", f"log={json.dumps(signals)}")
    names, values = export(legwork, out / "start")
    first = names, values[:1]
    start = {"q": measures.configuration(first, "sim.state")[0],
             "armature": measures.columns(first, "sim.kin_dyn.motorGrpI")[0],
             "h": measures.columns(first, "sim.kin_dyn.h")[0]}
    start["M"] = measures.columns(first, "sim.kin_dyn.M")[0].reshape(len(start["h"]), -1)
    patch = ["--set", 'log=["sim.state", "sim.wrench"]']
    if scene.kp:
        start["tau_ff"] = measures.columns(first, "weight.tau")[0]
        start["s_ref"] = measures.columns(first, "pose.y")[0]
        held = ", ".join(repr(float(tau)) for tau in start["tau_ff"])
        (out / "held.patch").write_text(
            f'Patch(\n    set: {{ "blocks.pd.in.tau_ff": "weight.y" }},\n'
            f'    replace: {{ "weight": Constant(value: [{held}]) }},\n)\n')
        patch = ["--with", out / "held.patch", "--set", 'log=["sim.state", "sim.wrench", "pd.tau"]']
    patch += scene.alike
    model = scenes.robot_model(scene, start)
    save_models(model, out)
    run_legwork(legwork, scene, out / "run", *patch)
    table = export(legwork, out / "run")
    ours, theirs = measures.from_legwork(scene, model, table), measures.from_mujoco(scene, model)
    rows = (measures.standing if scene.kp else measures.falling)(scene, model, ours, theirs)
    mass, bias, torque = measures.equal_models(scene, model, start, table)
    if not (mass < SAME_MODEL and bias < SAME_MODEL and torque < SAME_TORQUE):
        sys.exit(f"{scene.name}: not the same model: mass matrix {mass:.1e}, bias force {bias:.1e}, torques {torque:.1e}")
    note = f"\nEqual at t = 0 to {mass:.0e} (mass matrix) and {bias:.0e} (bias force) of the largest entry.\n"
    return scene, Sides(patch, theirs.final), rows, note


def prepare_slope(scene, legwork, out):
    run_legwork(legwork, scene, out / "run")
    table = export(legwork, out / "run")
    q, nu = measures.configuration(table, "bodies.state"), measures.velocity(table, "bodies.state")
    model = scenes.slope_model({"q": q[0], "nu": nu[0]})
    save_models(model, out)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    theirs = np.empty((scene.steps + 1, model.nq))
    for k in range(scene.steps + 1):
        theirs[k] = data.qpos
        mujoco.mj_step(model, data)
    # MuJoCo's law is the convex one; its box hops, which the diagram's checks forbid.
    return scene, Sides(["--variant", "slip=convex"], theirs[-1]), measures.sliding(q, theirs), ""


def save_models(model, out):
    """The model for the timed program, and one with MuJoCo's default contacts, which are softer."""
    mujoco.mj_saveModel(model, str(out / "model.mjb"))
    soft = copy.copy(model)
    soft.geom_solref[:], soft.geom_solimp[:] = [0.02, 1], [0.9, 0.95, 0.001, 0.5, 2]
    mujoco.mj_saveModel(soft, str(out / "soft.mjb"))


def print_rows(rows):
    """The table of a scene; whether all its figures are in their bands."""
    print("| | Legwork | MuJoCo | error | band |\n|---|--:|--:|--:|--:|")
    is_kept = True
    for row in rows:
        is_in = row.error <= row.band
        is_kept &= is_in
        cells = [f"{row.factor * x:.4f}" for x in (row.ours, row.theirs, row.error)] + [f"{row.factor * row.band:.3g}"]
        print(f"| {row.name} [{row.unit}] | {' | '.join(cells)}{'' if is_in else ' **broken**'} |")
    return is_kept


def print_times(options, legwork, peer, prepared):
    """Times per step, all programs in turn."""
    kinds = ["as it is", "same", "mujoco", "soft"]
    print(f"### CPU time per step [us], medians of {options.repeats} runs in turn\n")
    times = {}
    for _ in range(options.repeats):
        for i, (scene, sides, *_) in enumerate(prepared):
            out = options.out / f"scene{i}"
            for kind, more in (("as it is", []), ("same", sides.arguments)):
                run = legwork_run(legwork, scene, out / "timed", more)
                times.setdefault((i, kind), []).append(per_step(options, run, scene)[0])
            for kind, model in (("mujoco", "model.mjb"), ("soft", "soft.mjb")):
                time, final = per_step(options, peer_run(peer, out / model, scene), scene)
                times.setdefault((i, kind), []).append(time)
                if kind == "mujoco" and not np.array_equal(np.array(final.split(), dtype=float), sides.final):
                    sys.exit(f"{scene.name}: the timed program ends elsewhere than the run that was compared")
    print("| | Legwork, diagram as it is | Legwork, as MuJoCo | MuJoCo | MuJoCo, default contacts | Legwork / MuJoCo | spread |\n"
          "|---|--:|--:|--:|--:|--:|--:|")
    for i, (scene, *_) in enumerate(prepared):
        runs = [times[i, kind] for kind in kinds]
        medians = [statistics.median(run) for run in runs]
        spread = max((max(run) - min(run)) / (2 * median) for run, median in zip(runs, medians))
        ratio = statistics.median(ours / theirs for ours, theirs in zip(runs[1], runs[2]))
        cells = " | ".join(f"{median:.1f}" for median in medians)
        print(f"| {scene.name} | {cells} | {ratio:.2f} | ±{100 * spread:.0f} % |")


def per_step(options, run, scene):
    """CPU time per step [us], that of a long run less that of a short one: neither the start nor what else the machine does
    is in it. And the last line that the run of the scene's own length prints. What falls is not what has fallen."""
    goes_on = scene.kp or not scene.robot
    short, long = (scene.steps, 10 * scene.steps) if goes_on else (1, scene.steps)
    taken = {steps: cpu_time(["taskset", "-c", options.core, *run(steps)]) for steps in (short, long)}
    lines = taken[scene.steps][1].splitlines()
    return 1e6 * (taken[long][0] - taken[short][0]) / (long - short), lines[-1] if lines else ""


def cpu_time(arguments):
    """CPU time of a program [s], and what it prints."""
    with subprocess.Popen([str(a) for a in arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        text = program.stdout.read()
        error = program.stderr.read()
        _, status, usage = os.wait4(program.pid, 0)
        program.returncode = os.waitstatus_to_exitcode(status)
    if program.returncode != 0:
        sys.exit(f"exit status {program.returncode}: {' '.join(map(str, arguments))}\n{error}")
    return usage.ru_utime + usage.ru_stime, text


def changes(scene):
    """What makes a scene of its diagram. Limits and damping of joints, which MuJoCo's model has not, are off."""
    patches = [word for patch in scene.patches for word in ("--with", patch)]
    off = [word for name in ("limits", "damping") for word in ("--set", f"robots.robot.joint_{name}=Ignore")]
    return patches + (off if scene.robot else [])


def legwork_run(legwork, scene, out, more):
    patches = changes(scene)
    return lambda steps: [legwork, "run", scenes.DIAGRAMS / scene.diagram, *patches, *more, "--no-checks", "--quiet",
                          "--until", f"{steps * scenes.STEP} s", "--out", out]


def peer_run(peer, model, scene):
    return lambda steps: [peer, model, steps, scene.push, *scene.pushed]


if __name__ == "__main__":
    main()
