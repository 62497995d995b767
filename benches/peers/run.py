#!/usr/bin/env python3
"""Time Legwork's rigid-body algorithms beside Pinocchio and iDynTree; see README.md.

Builds what is missing, runs all programs in turn on one core, several times over, prints a table of
medians and writes `results.json`, `table.md` and `chains.svg`.
"""
import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
import plot  # noqa: E402

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# Base link and feet, as in src/mechanics/benches/rigid_body/robot.rs.
ROBOTS = {
    "mini_cheetah": ("trunk", ["FL_foot", "FR_foot", "HL_foot", "HR_foot"]),
    "icub": ("root_link", ["l_sole", "r_sole"]),
}
# Rows of the table: our name, what is compared.
ROWS = {
    "crba": "mass matrix (CRBA)",
    "nle": "bias force",
    "rnea": "inverse dynamics (RNEA)",
    "aba": "forward dynamics (ABA)",
    "forward_dynamics_by_factor": "forward dynamics by CRBA, bias force, factor, solve",
    "minverse": "inverse of the mass matrix",
    "foot_jacobians": "Jacobians of the feet",
    "terms_of_controller": "mass matrix, bias force, Jacobians and J̇ν of the feet",
    "kinematics": "part: kinematics",
    "factorize": "part: factor of the mass matrix",
    "solve": "part: one solve",
    "delassus": "part: J M⁻¹ Jᵀ of the feet",
}
NATIVE, PORTABLE = "legwork_native", "legwork_portable"
PINOCCHIO, IDYNTREE = "pinocchio", "idyntree"
PROGRAMS = [NATIVE, PORTABLE, PINOCCHIO, IDYNTREE]
# The peer of a row is the one that has the row. iDynTree's only row is `terms_of_controller`.
PEERS = {PINOCCHIO: "Pinocchio", IDYNTREE: "iDynTree"}
# Joints of the serial chain that is compared.
CHAIN = 50
CHAIN_SERIES = {"rnea": "inverse dynamics (RNEA)", "aba": "forward dynamics (ABA)"}


def main():
    options = parse_arguments()
    options.results.mkdir(parents=True, exist_ok=True)
    venv = options.venv or make_venv(options.build / "venv")
    peers = options.bin or build_peers(venv, options.build / "bin")
    ours = {
        NATIVE: build_ours(options.build / "native", "-C target-cpu=native"),
        PORTABLE: build_ours(options.build / "portable", ""),
    }
    models = dump_models(venv, options.build, ours[PORTABLE])
    print(f"timing on core {options.core}, {options.repeats} runs", file=sys.stderr)
    runs = [run_all(options, ours, peers, models) for _ in range(options.repeats)]

    robots = {robot: collect(runs, lambda run, robot=robot: run["robots"][robot]) for robot in ROBOTS}
    chains = collect(runs, lambda run: run["chains"])
    peer = collect(runs, lambda run: {PINOCCHIO: run["chain of peer"]})
    chain = {program: {row: figure for (joints, row), figure in rows.items() if joints == CHAIN}
             for program, rows in chains.items()} | peer
    tables = [*((robot, robots[robot]) for robot in ROBOTS), (f"chain of {CHAIN} joints", chain)]
    table = "\n".join(table_of(name, times) for name, times in tables)
    results = {
        "unit": "ns per call",
        "machine": describe_machine(venv, options),
        "medians": {"robots": robots, "chains": chains_by_length(chains)},
        "runs": [plain(run) for run in runs],
    }
    (options.results / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    (options.results / "table.md").write_text(table)
    (options.results / "chains.svg").write_text(drawing(chains))
    print(table)
    print(f"written to {options.results}: results.json, table.md, chains.svg", file=sys.stderr)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("results", type=Path, nargs="?", default=ROOT / "target/peers/results",
                        help="folder for the results (default: target/peers/results)")
    parser.add_argument("--build", type=Path, default=ROOT / "target/peers",
                        help="folder for all that is built (default: target/peers)")
    parser.add_argument("--venv", type=Path, help="Python environment that holds requirements.txt")
    parser.add_argument("--bin", type=Path, help="folder in which build.sh has put its programs")
    parser.add_argument("--repeats", type=int, default=3, help="runs of every program (default: 3)")
    parser.add_argument("--seconds", type=float, default=0.4, help="time per row and run [s] (default: 0.4)")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)),
                        help="core that runs the programs (default: the last)")
    options = parser.parse_args()
    if options.repeats < 1 or not options.seconds > 0:
        parser.error("--repeats and --seconds must be positive")
    # Programs run in other folders than this one, so paths must not depend on it.
    for name in ("results", "build", "venv", "bin"):
        if path := getattr(options, name):
            setattr(options, name, path.absolute())
    return options


def command(arguments, **more):
    """Runs a program and returns what it prints; ends with its message if it fails."""
    done = subprocess.run([str(a) for a in arguments], stdout=subprocess.PIPE, text=True, check=False, **more)
    if done.returncode != 0:
        sys.exit(f"failed with exit status {done.returncode}: {' '.join(map(str, arguments))}")
    return done.stdout


def make_venv(venv):
    """The environment of requirements.txt; pip skips what is installed already."""
    if not (venv / "bin/pip").exists():
        command([sys.executable, "-m", "venv", venv])
    command([venv / "bin/pip", "install", "--quiet", "-r", HERE / "requirements.txt"])
    return venv


def build_peers(venv, out):
    """Compiles the peers unless programs younger than their sources exist."""
    sources = [HERE / name for name in ("pinocchio.cpp", "idyntree.cpp", "timing.h", "build.sh", "requirements.txt")]
    programs = [out / PINOCCHIO, out / IDYNTREE]
    newest = max(path.stat().st_mtime for path in sources)
    if not all(path.exists() and path.stat().st_mtime > newest for path in programs):
        print(command([HERE / "build.sh", venv, out]), end="", file=sys.stderr)
    return out


def build_ours(target, flags):
    """Compiles our bench with the given flags of rustc and returns the program's path."""
    # Flags of the caller's environment would make two builds that claim to differ the same.
    environment = {k: v for k, v in os.environ.items() if k != "CARGO_ENCODED_RUSTFLAGS"}
    lines = command(
        ["cargo", "bench", "-p", "legwork-mechanics", "--bench", "rigid_body", "--no-run",
         "--message-format", "json-render-diagnostics", "--target-dir", target],
        cwd=ROOT, env=environment | {"RUSTFLAGS": flags})
    for message in map(json.loads, lines.splitlines()):
        if message.get("executable") and message["target"]["name"] == "rigid_body":
            return message["executable"]
    sys.exit("cargo built no bench `rigid_body`")


def urdf_of(robot):
    return ROOT / "diagrams/robots" / robot / f"{robot}.urdf"


def dump_models(venv, build, ours):
    models = {}
    for robot, (_, feet) in ROBOTS.items():
        models[robot] = build / f"{robot}.model"
        command([venv / "bin/python", HERE / "dump_model.py", urdf_of(robot), models[robot], "floating", *feet])
    chain, models[CHAIN] = build / "chain.urdf", build / "chain.model"
    chain.write_text(command([ours, "--bench", "--chain-urdf", CHAIN]))
    command([venv / "bin/python", HERE / "dump_model.py", chain, models[CHAIN], "fixed"])
    return models


def run_all(options, ours, peers, models):
    """One run of every program, robot by robot: {"robots": {robot: {program: {row: ns}}}, "chains":
    {program: {(joints, row): ns}}}."""
    pinned = ["taskset", "-c", options.core]
    environment = os.environ | {"BENCH_SECONDS": str(options.seconds)}

    def run_ours(program, *arguments):
        return json.loads(command([*pinned, ours[program], "--bench", "--json", *arguments], env=environment))

    def run_peer(*arguments):
        lines = command([*pinned, *arguments], env=environment).splitlines()
        return {row: float(median) for row, median, *_ in map(str.split, lines)}

    run = {"robots": {}, "chains": {}}
    for robot, (base, feet) in ROBOTS.items():
        times = {}
        for program in ours:
            entries = run_ours(program, "--robots", robot)["robots"]
            times[program] = {entry["row"]: entry["median"] for entry in entries}
        times[PINOCCHIO] = run_peer(peers / PINOCCHIO, models[robot])
        times[IDYNTREE] = run_peer(peers / IDYNTREE, urdf_of(robot), base, *feet)
        run["robots"][robot] = times
    for program in ours:
        entries = run_ours(program, "--robots", "none", "--chains")["chains"]
        run["chains"][program] = {(entry["joints"], entry["row"]): entry["median"] for entry in entries}
    run["chain of peer"] = run_peer(peers / PINOCCHIO, models[CHAIN])
    return run


def collect(runs, part):
    """Median over the runs of every figure, and its spread: half the range over the median
    (none with a single run)."""
    result = {}
    for program, rows in part(runs[0]).items():
        result[program] = {}
        for row in rows:
            values = [part(run)[program][row] for run in runs]
            median = statistics.median(values)
            result[program][row] = {"median": round(median, 1)}
            if len(values) > 1:
                spread = (max(values) - min(values)) / (2 * median)
                result[program][row]["spread"] = round(spread, 4)
    return result


def table_of(robot, times):
    """Markdown table of one robot."""
    lines = [
        f"### {robot} [ns]\n",
        "| | Legwork, native | Legwork, portable | peer | peer / native | peer / portable | spread |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for row, meaning in ROWS.items():
        known = [program for program in PROGRAMS if row in times.get(program, ())]
        figures = {program: times[program][row] for program in known}
        if not any(program in figures for program in (NATIVE, PORTABLE)):
            continue
        cells = [f"{figures[p]['median']:.0f}" if p in figures else "–" for p in (NATIVE, PORTABLE)]
        peer = next((p for p in PEERS if p in figures), None)
        cells.append(f"{PEERS[peer]} {figures[peer]['median']:.0f}" if peer else "")
        for ours in (NATIVE, PORTABLE):
            both = peer and ours in figures
            cells.append(f"{figures[peer]['median'] / figures[ours]['median']:.2f}" if both else "")
        spreads = [figure["spread"] for figure in figures.values() if "spread" in figure]
        cells.append(f"±{100 * max(spreads):.0f} %" if spreads else "")
        lines.append(f"| {meaning} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def drawing(chains):
    """The chains' native times against their joints, one series per row."""
    series = []
    for row, name in CHAIN_SERIES.items():
        times = chains[NATIVE].items()
        points = sorted((joints, time["median"]) for (joints, of), time in times if of == row)
        if points:
            series.append((name, points))
    return plot.draw("Serial chains of revolute joints, fixed base", series)


def chains_by_length(chains):
    """JSON has no pairs as keys: {program: [{joints, row, median, spread}]}."""
    return {program: [{"joints": joints, "row": row} | time for (joints, row), time in times.items()]
            for program, times in chains.items()}


def plain(run):
    chains = {program: [{"joints": joints, "row": row, "median": time} for (joints, row), time in times.items()]
              for program, times in run["chains"].items()}
    return run | {"chains": chains}


def describe_machine(venv, options):
    info = Path("/proc/cpuinfo").read_text().splitlines()
    fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in info)}
    packages = command([venv / "bin/pip", "list", "--format", "freeze", "--disable-pip-version-check"])
    wanted = {line.split("==")[0] for line in (HERE / "requirements.txt").read_text().splitlines() if "==" in line}
    compiler = os.environ.get("CXX", "clang++")
    return {
        "processor": {k: fields.get(k, "") for k in ("model name", "cpu family", "model")},
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "rustc": command(["rustc", "--version"]).strip(),
        "c++": command([compiler, "--version"]).splitlines()[0] if shutil.which(compiler) else "",
        "packages": sorted(p for p in packages.split() if p.split("==")[0] in wanted),
        "repeats": options.repeats,
        "seconds_per_row": options.seconds,
    }


if __name__ == "__main__":
    main()
