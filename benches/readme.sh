#!/usr/bin/env bash
# Repeats figures of README.md and benches/README.md that no test asserts, and compares them with what
# stands there.
#
# usage: benches/readme.sh [LEGWORK]
#
# LEGWORK is a release build that exists already; without it one is made. Figures are read from
# both, so a text that was changed and not measured fails as well. Times are compared as ratios
# of runs in this one; each line states its tolerance. Exit status 3 if a figure is out of it.
# What is measured beside other programs is repeated by benches/peers.
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ $# -gt 0 ]]; then
    legwork=$(realpath "$1")
else
    cargo build --release
    legwork=$(realpath "${CARGO_TARGET_DIR:-target}/release/legwork")
fi
export legwork
exec python3 - <<'PYTHON'
import json, os, re, statistics, subprocess, sys, tempfile

LEGWORK = os.environ["legwork"]
TEXTS = ["README.md", "benches/README.md"]
README = " ".join(" ".join(open(name, encoding="utf-8").read() for name in TEXTS).split())
failed = 0


def stated(pattern):
    """Numbers that README.md states at the groups of a pattern."""
    found = re.search(pattern, README)
    if not found:
        sys.exit(f"no README says /{pattern}/")
    return [float(text.replace(" ", "")) for text in found.groups()]


def legwork(*arguments):
    """What a command prints as JSON."""
    done = subprocess.run([LEGWORK, *arguments, "--json"], capture_output=True, text=True)
    if not done.stdout:
        sys.exit(f"legwork {' '.join(arguments)}: {done.stderr}")
    return json.loads(done.stdout)


def run(*arguments):
    with tempfile.TemporaryDirectory() as out:
        return legwork("run", *arguments, "--out", out)


def per_step(arguments):
    """Time of a step [s]."""
    found = run(*arguments)
    return found["wall_s"] / found["steps"]


def ratio(one, other, runs=11):
    """Time of a step of `one` over that of `other`: the median of runs in turn, since the speed of a
    machine drifts."""
    return statistics.median(per_step(one) / per_step(other) for _ in range(runs))


def compare(what, measured, expected, tolerance):
    """Prints a line; the measured figure may be larger or smaller by this factor."""
    global failed
    is_good = expected / tolerance <= measured <= expected * tolerance
    failed += not is_good
    mark = "pass" if is_good else "FAIL"
    print(f"{mark}  {what}: measured {measured:.4g}, stated {expected:.4g}, within a factor of {tolerance}")


stand = "diagrams/quadruped/stand.ron"
[passed, checks] = stated(r"checks (\d+) of (\d+) passed")
found = run(stand)
compare("stand.ron: checks that pass", sum(found["checks"].values()), passed, 1)
compare("stand.ron: checks", len(found["checks"]), checks, 1)

# The table of `legwork compare`: iterations are exact, times are ratios.
rows = {}
for name in ["active_set", "clarabel", "pgs"]:
    rows[name] = stated(rf"{name} ([\d.]+) us [\d.]+ x \d+ 0 ([\d.]+) ")
for name in ["clarabel", "pgs"]:
    found = ratio([stand, "--variant", f"qp={name}"], [stand])
    compare(f"stand.ron: step of {name} over active_set", found, rows[name][0] / rows["active_set"][0], 1.4)
for name, (_, iterations) in rows.items():
    report = run(stand, "--variant", f"qp={name}")["metrics"]
    found = next(v for k, v in report.items() if k.endswith("mean_iterations"))
    compare(f"stand.ron: mean iterations of {name}", found, iterations, 1.01)

# Rows of the table of times, over the first of them.
[real_time] = stated(r"fully logged \| (\d+) × real time")
others = stated(r"Clarabel / Gauss-Seidel / compliant contact \| (\d+) × / (\d+) × / (\d+) ×")
for choice, other in zip(["qp=clarabel", "qp=pgs", "contact=hertz"], others):
    found = ratio([stand], [stand, "--variant", choice])
    compare(f"stand.ron: speed of {choice} over the default", found, other / real_time, 1.4)

# Balls: time per step against their number.
stack = "diagrams/constraint_solver/stack.ron"
[ten, hundred, thousand] = stated(r"steel balls under implicit springs, a step of 10 ms \| ([\d.]+) / (\d+) / (\d+) µs")
few = [stack, "--set", "n=10"]
found = ratio([stack, "--set", "n=100"], few)
compare("stack.ron: 100 balls over 10", found, hundred / ten, 1.4)
found = ratio([stack, "--set", "n=1000", "--set", "columns=[10, 10]"], few, runs=5)
compare("stack.ron: 1000 balls over 10", found, thousand / ten, 1.4)

sys.exit(3 if failed else 0)
PYTHON
