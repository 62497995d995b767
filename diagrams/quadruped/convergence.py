#!/usr/bin/env python3
"""Error of the trot's robot against the step, for each solver of fixed steps: it falls 2 cm and lands.

usage: convergence.py LEGWORK OUT.csv
       convergence.py LEGWORK --trot

Writes the largest error of the trunk's position within the first 0.1 s, read every 5 ms, against RK4 with steps of
2 µs. A run that stops at a fault leaves its cell empty. Draw it by

    legwork plot OUT.csv -o OUT.svg --log x,y --label "error of position [m]" --size 900x600

With `--trot` it prints, for the diagram as it is, how far the trunk's pose is within the first second from that of a
step ten times smaller, for both forms of the compliant contact.
"""
import csv
import math
import subprocess
import sys
import tempfile
from pathlib import Path

DIAGRAM = Path(__file__).resolve().parent / "trot.ron"
FALL = ["--set", "body.init.position=[0, 0, 0.319]", "--until", "0.1 s"]
STEPS = [1.0, 0.5, 0.25, 0.1, 0.05, 0.025, 0.01]
REFERENCE = ("hertz_explicit", "Rk4", 0.002)
SERIES = {
    "semi-implicit Euler, contact at the end": ("hertz", "SemiImplicitEuler"),
    "semi-implicit Euler": ("hertz_explicit", "SemiImplicitEuler"),
    "Euler": ("hertz_explicit", "Euler"),
    "Heun": ("hertz_explicit", "Heun"),
    "RK4": ("hertz_explicit", "Rk4"),
    "implicit Euler": ("hertz_explicit", "ImplicitEuler"),
}


def poses(legwork, contact, solver, step, options):
    """Position and quaternion of the trunk by time in ms; nothing if the run stopped at a fault."""
    with tempfile.TemporaryDirectory() as out:
        run = [legwork, "run", DIAGRAM, "--no-checks", "--out", out, "--variant", f"contact={contact}",
               "--set", f"run.solver={solver}", "--set", f"run.step={step} ms", *options]
        done = subprocess.run(run, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode == 2:
            return None
        if done.returncode != 0:
            sys.exit(f"exit status {done.returncode} of {contact}, {solver}, {step} ms\n{done.stderr}")
        table = Path(out) / "state.csv"
        subprocess.run([legwork, "export", out, "body.state.base.position", "body.state.base.orientation", "-o", table], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        rows = list(csv.reader(table.open()))
    return {round(1e3 * float(row[0]), 6): [float(x) for x in row[1:]] for row in rows[1:]}


def errors(a, b):
    """Largest distance [m] and angle [deg] of two motions at the times of both."""
    times = sorted(set(a) & set(b))
    angle = lambda p, q: 4 * math.asin(min(1.0, min(math.dist(p, q), math.dist(p, [-x for x in q])) / 2))
    return (max(math.dist(a[t][:3], b[t][:3]) for t in times),
            math.degrees(max(angle(a[t][3:], b[t][3:]) for t in times)))


def trot(legwork):
    print("contact, step [ms], error of position [mm], of attitude [deg]")
    for contact in ("hertz", "hertz_explicit"):
        for step in (1.0, 0.5, 0.25, 0.1):
            both = [poses(legwork, contact, "SemiImplicitEuler", h, ["--until", "1 s"]) for h in (step, step / 10)]
            if None in both:
                print(f"{contact}, {step}, stopped at a fault")
                continue
            distance, angle = errors(*both)
            print(f"{contact}, {step}, {1e3 * distance:.3f}, {angle:.4f}")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    legwork = str(Path(sys.argv[1]).absolute())
    if sys.argv[2] == "--trot":
        trot(legwork)
        return
    exact = poses(legwork, *REFERENCE, FALL)
    if exact is None:
        sys.exit("the reference stopped at a fault")
    with open(sys.argv[2], "w", newline="") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow(["step [ms]", *SERIES])
        for step in STEPS:
            runs = [poses(legwork, contact, solver, step, FALL) for contact, solver in SERIES.values()]
            table.writerow([step, *("" if run is None else f"{errors(run, exact)[0]:.3e}" for run in runs)])


if __name__ == "__main__":
    main()
