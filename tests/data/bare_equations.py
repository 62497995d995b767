"""Makes the values of bare_equations.txt: python3 bare_equations.py < in > out (SciPy, DOP853).

Reads the equations of a table and writes it again with the states at the end of each.
"""
import math
import re
import sys

import numpy as np
from scipy.integrate import solve_ivp

FUNCTIONS = {name: getattr(math, name) for name in
             ("sin", "cos", "tan", "atan", "exp", "tanh", "sqrt", "log", "atan2", "pi")}
FUNCTIONS["abs"] = abs
FUNCTIONS["sign"] = lambda x: (x > 0) - (x < 0)


def solve(names, initial, rates, end):
    codes = [compile(rate.replace("^", "**"), rate, "eval") for rate in rates]

    def f(t, x):
        scope = dict(FUNCTIONS, t=t, u=x[0], **{f"u{i + 1}": v for i, v in enumerate(x)})
        return [eval(code, scope) for code in codes]

    done = solve_ivp(f, (0, end), initial, method="DOP853", rtol=1e-13, atol=1e-14)
    assert done.success
    return done.y[:, -1]


for paragraph in sys.stdin.read().strip().split("\n\n"):
    lines = [line for line in paragraph.split("\n") if not line.startswith(">")]
    print("\n".join(lines))
    if not lines[0].startswith("#"):
        end = float(lines[1].split()[1])
        found = [re.match(r"(\w+) (\S+) = (.*)", line).groups() for line in lines[2:]]
        names, initial, rates = zip(*found)
        for name, value in zip(names, solve(names, [float(x) for x in initial], rates, end)):
            print(f"> {name} {value:.12g}")
    print()
