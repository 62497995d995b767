#!/usr/bin/env python3
"""Time per step against the number of contacts: iCub collapses on soles of 1 to 16 vertices each.

usage: vertices.py LEGWORK OUT.csv [CORE [RUNS]]

LEGWORK is the release build. Choices take turns, pinned to one core; the table holds the least time of
each, to which other load of the machine adds nothing. Draw it by

    legwork plot OUT.csv -o OUT.svg --log x,y --label "time per step [us]"
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

DIAGRAM = Path(__file__).resolve().parent.parent / "diagrams/floating_base/icub_zero_torque.ron"
COUNTS = [1, 2, 4, 8, 16]
SOLVERS = {"active_set": "active set", "pgs": "Gauss-Seidel", "clarabel": "Clarabel"}


def shape(count):
    """Vertices on a circle of 6 cm about the sole's origin; one alone is the origin itself."""
    if count > 2:
        return f'Circle(radius: "6 cm", points: {count})'
    return 'Vertices([["6 cm", 0, 0], ["-6 cm", 0, 0]])' if count == 2 else "Vertices([[0, 0, 0]])"


def time_per_step(legwork, core, out, count, solver):
    """Time per step [us] of one run, recording included, and what failed in it."""
    done = subprocess.run(["taskset", "-c", core, legwork, "run", DIAGRAM, "--json", "--no-checks", "--out", out,
                           "--set", f"sim.shape={shape(count)}", "--variant", f"qp={solver}"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    # A run that stops at a fault counts as far as it went.
    if done.returncode not in (0, 2):
        sys.exit(f"exit status {done.returncode} with {count} vertices and {solver}\n{done.stderr}")
    run = json.loads(done.stdout)
    failures = f"{run['solver_failures']} of {run['solver_calls']} solves failed" if run["solver_failures"] else ""
    if done.returncode == 2:
        failures += f", stopped at {run['sim_time_s']:.3f} s"
    return 1e6 * run["wall_s"] / run["steps"], failures


def main():
    if not 3 <= len(sys.argv) <= 5:
        sys.exit(__doc__)
    legwork, table = Path(sys.argv[1]).absolute(), Path(sys.argv[2])
    core, runs = sys.argv[3] if len(sys.argv) > 3 else "0", int(sys.argv[4]) if len(sys.argv) > 4 else 5
    times = {(count, solver): [] for count in COUNTS for solver in SOLVERS}
    with tempfile.TemporaryDirectory() as out:
        for i in range(runs):
            for (count, solver), of in times.items():
                time, failures = time_per_step(legwork, core, out, count, solver)
                of.append(time)
                if failures and i == 0:  # all runs are equal
                    print(f"{solver}, {2 * count} contacts: {failures}", file=sys.stderr)
    lines = [",".join(["contacts"] + [f"{name} [us]" for name in SOLVERS.values()])]
    for count in COUNTS:
        least = [min(times[count, solver]) for solver in SOLVERS]
        lines.append(",".join([str(2 * count)] + [f"{time:.1f}" for time in least]))
    table.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
