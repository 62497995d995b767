#!/usr/bin/env python3
"""Time Legwork's active-set methods beside eiquadprog and qpOASES; print medians and ratios.

usage: qp.py VENV OUT [CORE [RUNS]]

VENV is a Python environment with requirements.txt and requirements_qp.txt, OUT a folder for all that is built. Programs
run in turn, pinned to one core, several times over.
"""
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LANDING = ROOT / "src/qp/tests/data/landing.csv"
SETS = ["standing", "random", "landing"]


def output(arguments, **more):
    return subprocess.run([str(a) for a in arguments], check=True, stdout=subprocess.PIPE, text=True, **more).stdout


def build_ours(target, flags):
    environment = {k: v for k, v in os.environ.items() if k != "CARGO_ENCODED_RUSTFLAGS"} | {"RUSTFLAGS": flags}
    lines = output(["cargo", "bench", "-p", "legwork-qp", "--bench", "active_set", "--no-run", "--message-format",
                    "json-render-diagnostics", "--target-dir", target], cwd=ROOT, env=environment)
    found = [m["executable"] for m in map(json.loads, lines.splitlines())
             if m.get("executable") and m["target"]["name"] == "active_set"]
    return found[0]


def build_peers(venv, out):
    site = output([venv / "bin/python", "-c", 'import sysconfig; print(sysconfig.get_path("purelib"))']).strip()
    prefix, eigen = f"{site}/cmeel.prefix", os.environ.get("EIGEN_INCLUDE_DIR", "/usr/include/eigen3")
    libraries = [f(d) for d in ("lib", "lib64") for f in (lambda d: f"-L{prefix}/{d}", lambda d: f"-Wl,-rpath,{prefix}/{d}")]
    # The alignment of the wheel's library, which is compiled for a generic processor.
    output([os.environ.get("CXX", "clang++"), "-std=c++17", "-O3", "-march=native", "-DNDEBUG", "-w",
            "-DEIGEN_MAX_ALIGN_BYTES=16", "-isystem", f"{prefix}/include", "-isystem", eigen, HERE / "qp.cpp",
            "-o", out / "qp", *libraries, "-lqpOASES", "-leiquadprog"])
    return out / "qp"


def main():
    venv, out = (Path(p).absolute() for p in sys.argv[1:3])
    core = sys.argv[3] if len(sys.argv) > 3 else str(max(os.sched_getaffinity(0)))
    runs = int(sys.argv[4]) if len(sys.argv) > 4 else 3
    out.mkdir(parents=True, exist_ok=True)
    problems = out / "qp.txt"
    output([venv / "bin/python", HERE / "make_qp.py", ROOT / "diagrams/robots/mini_cheetah/mini_cheetah.urdf", problems])
    peers = build_peers(venv, out)
    ours = {"native": build_ours(out / "native", "-C target-cpu=native"), "portable": build_ours(out / "portable", "")}
    times = {}
    for _ in range(runs):
        for name, program in ours.items():
            for line in output(["taskset", "-c", core, program, "--problems", problems]).splitlines():
                row, time, _ = line.split()
                times.setdefault(f"{name}/{row}", []).append(float(time))
        for line in output(["taskset", "-c", core, peers, problems, LANDING]).splitlines():
            row, time = line.split()
            times.setdefault(row, []).append(float(time))
    medians = {row: statistics.median(values) for row, values in times.items()}
    print("| row | ns | x eiquadprog |\n|---|---|---|")
    for kind in SETS:
        base = medians[f"eiquadprog/{kind}"]
        for row, time in medians.items():
            if kind in row.split("/"):
                print(f"| {row} | {time:.0f} | {time / base:.2f} |")


main()
