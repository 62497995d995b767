"""Independent solutions of the systems in diagrams/validation, for tests/validation.rs.

    python -m venv .venv && .venv/bin/pip install scipy==1.17.1
    .venv/bin/python references.py          # writes references.json beside this file

motor       a DC motor under two sampled controllers, stepped exactly by the matrix exponential.
rigid_body  a free rigid body: angular velocity by Jacobi's elliptic functions (L. D. Landau,
            E. M. Lifshitz, Mechanics, section 37), orientation by DOP853 at 1e-13.
arenstorf   the orbit half way round, by DOP853 at 1e-13 (E. Hairer, S. P. Norsett, G. Wanner,
            Solving Ordinary Differential Equations I, section II.0).
"""

import json
from pathlib import Path

import numpy as np
import scipy
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.special import ellipj


def motor():
    resistance, inductance, constant, inertia, drag = 1.0, 2e-3, 0.05, 1e-4, 1e-5
    fast, every = 1e-4, 10
    rate = np.zeros((4, 4))  # current, speed, angle, voltage
    rate[0] = [-resistance / inductance, -constant / inductance, 0.0, 1.0 / inductance]
    rate[1] = [constant / inertia, -drag / inertia, 0.0, 0.0]
    rate[2] = [0.0, 1.0, 0.0, 0.0]
    step = expm(fast * rate)[:3]

    def pid(state, error, period, kp, ki, kd, filter):
        integral, derivative, before = state
        derivative = (derivative + kd * filter * (error - before)) / (1.0 + filter * period)
        output = kp * error + integral + derivative
        return output, (integral + period * ki * error, derivative, error)

    x = np.zeros(3)
    outer, inner = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    rows, wanted = [], 0.0
    for k in range(1001):
        if k % every == 0:
            target = 100.0 if k >= 100 else 0.0
            wanted, outer = pid(outer, target - x[1], fast * every, 0.12, 1.2, 1e-4, 500.0)
        voltage, inner = pid(inner, wanted - x[0], fast, 2.4, 1200.0, 0.0, 100.0)
        if k % every == 0:
            rows.append([k * fast, *x, voltage])
        x = step @ np.append(x, voltage)
    return {"columns": ["t", "current", "speed", "angle", "voltage"], "rows": rows}


def rigid_body():
    i1, i2, i3 = 1.0, 2.0, 2.5
    start = np.array([0.6, 0.0, 1.2])
    twice_energy = i1 * start[0] ** 2 + i3 * start[2] ** 2
    square = (i1 * start[0]) ** 2 + (i3 * start[2]) ** 2
    assert square > twice_energy * i2
    pace = np.sqrt((i3 - i2) * (square - twice_energy * i1) / (i1 * i2 * i3))
    ratio = (i2 - i1) * (twice_energy * i3 - square) / ((i3 - i2) * (square - twice_energy * i1))

    def spin(t):
        sn, cn, dn, _ = ellipj(pace * t, ratio)
        a = np.sqrt((twice_energy * i3 - square) / (i1 * (i3 - i1)))
        b = np.sqrt((twice_energy * i3 - square) / (i2 * (i3 - i2)))
        c = np.sqrt((square - twice_energy * i1) / (i3 * (i3 - i1)))
        return np.array([a * cn, b * sn, c * dn])

    for t in (0.3, 4.0):  # Euler's equations hold
        w, h = spin(t), 1e-6
        slope = (spin(t + h) - spin(t - h)) / (2 * h)
        torque_free = [
            (i2 - i3) * w[1] * w[2] / i1,
            (i3 - i1) * w[2] * w[0] / i2,
            (i1 - i2) * w[0] * w[1] / i3,
        ]
        assert np.allclose(slope, torque_free, atol=1e-8), (slope, torque_free)

    def turn(t, q):
        x, y, z = spin(t)
        w = np.array([[0, -x, -y, -z], [x, 0, z, -y], [y, -z, 0, x], [z, y, -x, 0]])
        return 0.5 * w @ q

    times = np.arange(0.0, 21.0)
    found = solve_ivp(
        turn, (0.0, 20.0), [1.0, 0, 0, 0], "DOP853", times, rtol=1e-13, atol=1e-13, max_step=0.05
    )
    rows = []
    for t, q in zip(times, found.y.T):
        q = q / np.linalg.norm(q)
        w, v = q[0], q[1:]
        s = spin(t)
        world = s + 2 * w * np.cross(v, s) + 2 * np.cross(v, np.cross(v, s))
        rows.append([t, *q, *world])
    return {"columns": ["t", "w", "x", "y", "z", "wx", "wy", "wz"], "rows": rows}


def arenstorf():
    mu = 0.012277471
    period = 17.0652165601579625588917206249
    start = [0.994, 0.0, 0.0, -2.00158510637908252240537862224]

    def rate(t, s):
        x, y, u, v = s
        d1 = ((x + mu) ** 2 + y * y) ** 1.5
        d2 = ((x - 1 + mu) ** 2 + y * y) ** 1.5
        return [
            u,
            v,
            x + 2 * v - (1 - mu) * (x + mu) / d1 - mu * (x - 1 + mu) / d2,
            y - 2 * u - (1 - mu) * y / d1 - mu * y / d2,
        ]

    def solve(tolerance):
        span = (0.0, period)
        times = [2.0, 4.0, 6.0, 8.0, period]
        return solve_ivp(rate, span, start, "DOP853", times, rtol=tolerance, atol=tolerance).y.T

    fine, finer = solve(1e-12), solve(1e-13)
    return {
        "columns": ["t", "x", "y"],
        "rows": [[t, *s[:2]] for t, s in zip([2.0, 4.0, 6.0, 8.0], finer)],
        "spread": np.abs(fine[:4, :2] - finer[:4, :2]).max(),
    }


result = {"scipy": scipy.__version__}
for problem in (motor, rigid_body, arenstorf):
    result[problem.__name__] = problem()
path = Path(__file__).with_name("references.json")
path.write_text(json.dumps(result, indent=1) + "\n")
