"""Reference solutions of stiff problems for the tests of the variable-step kernels.

    python -m venv .venv && .venv/bin/pip install scipy==1.17.1
    .venv/bin/python references.py          # writes references.json beside this file

Each problem is solved with SciPy's Radau at two tolerances; "spread" is the largest relative
difference between the two, which bounds the error of the first. "bdf" holds the relative error of
SciPy's BDF, a method of the same family as the kernel under test, at the tolerances of the test.
"""

import json
from pathlib import Path

import numpy as np
import scipy
from scipy.integrate import solve_ivp


def van_der_pol(t, y):
    return [y[1], 1000.0 * (1.0 - y[0] * y[0]) * y[1] - y[0]]


def van_der_pol_jacobian(t, y):
    return np.array([[0.0, 1.0], [-2000.0 * y[0] * y[1] - 1.0, 1000.0 * (1.0 - y[0] * y[0])]])


def robertson(t, y):
    slow, fast, square = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] * y[1]
    return [fast - slow, slow - fast - square, square]


def robertson_jacobian(t, y):
    return np.array(
        [
            [-0.04, 1e4 * y[2], 1e4 * y[1]],
            [0.04, -1e4 * y[2] - 6e7 * y[1], -1e4 * y[1]],
            [0.0, 6e7 * y[1], 0.0],
        ]
    )


def hires(t, y):
    """High irradiance responses of photomorphogenesis (Schaefer 1975)."""
    return [
        -1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007,
        1.71 * y[0] - 8.75 * y[1],
        -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4],
        8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3],
        -1.745 * y[4] + 0.43 * y[5] + 0.43 * y[6],
        -280.0 * y[5] * y[7] + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6],
        280.0 * y[5] * y[7] - 1.81 * y[6],
        -280.0 * y[5] * y[7] + 1.81 * y[6],
    ]


# Name: rate, Jacobian, start, times, absolute tolerance per relative one in the test.
PROBLEMS = {
    "van_der_pol": (
        van_der_pol,
        van_der_pol_jacobian,
        [2.0, 0.0],
        [400.0, 800.0, 1200.0, 1600.0, 2000.0],
        1e-3,
    ),
    "robertson": (
        robertson,
        robertson_jacobian,
        [1.0, 0.0, 0.0],
        [0.4, 4.0, 40.0, 400.0, 4e3, 4e4],
        1e-6,
    ),
    "hires": (hires, None, [1.0, 0, 0, 0, 0, 0, 0, 0.0057], [5.0, 50.0, 321.8122], 1e-4),
}

result = {"scipy": scipy.__version__, "method": "Radau"}
for name, (rate, jacobian, start, times, floor) in PROBLEMS.items():

    def solve(method, rtol, atol):
        span = (0.0, times[-1])
        return solve_ivp(rate, span, start, method, times, jac=jacobian, rtol=rtol, atol=atol).y.T

    fine, coarse = (solve("Radau", rtol, 1e-9 * rtol * floor) for rtol in (1e-13, 1e-12))
    spread = float(np.max(np.abs(fine - coarse) / (np.abs(fine) + floor)))
    bdf = []
    for rtol in (1e-5, 1e-8):
        error = np.abs(solve("BDF", rtol, floor * rtol) - fine) / (np.abs(fine) + floor)
        bdf.append({"relative": rtol, "error": float(np.max(error))})
    print(name, f"spread {spread:.1e}", bdf, fine[-1])
    result[name] = {
        "start": start,
        "times": times,
        "floor": floor,
        "states": fine.tolist(),
        "spread": spread,
        "bdf": bdf,
    }

Path(__file__).with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n")
