"""Writes kalman.json: continuous plants with noise, and SciPy's gain M of their sampled filter.

    pip install numpy scipy && python kalman.py > kalman.json

Versions that wrote the committed file: numpy 2.4.6, scipy 1.17.1.

The plant x' = A x + B u + w, y = C x + v has noise w of covariance W per second, and noise v of
covariance V of each measurement. Van Loan's block exponential samples A and W over a period T, and
solve_discrete_are gives P and M = P C' (C P C' + V)^-1.
"""

import json

import numpy as np
from scipy import linalg


def gain(a, c, w, v, period):
    n = len(a)
    joint = linalg.expm(np.block([[-a, w], [np.zeros((n, n)), a.T]]) * period)
    step = joint[n:, n:].T
    noise = step @ joint[:n, n:]
    p = linalg.solve_discrete_are(step.T, c.T, noise, v)
    return p @ c.T @ np.linalg.inv(c @ p @ c.T + v)


INTEGRATOR = [[0, 1], [0, 0]]
PLANTS = [
    (INTEGRATOR, [[1, 0]], [0, 0.1], [1e-4], 100),
    (INTEGRATOR, [[1, 0]], [0, 1], [1e-14], 10),
    (INTEGRATOR, [[1, 0]], [0, 25], [1e-2], 50),
    (INTEGRATOR, [[1, 0]], [0.3, 2], [0.5], 200),
    ([[0, 1], [-9, -0.6]], [[1, 0]], [0, 1], [1e-3], 20),
    ([[0, 1], [-400, -2]], [[1, 0]], [0, 4], [1e-5], 100),
    ([[0, 1], [9.81, 0]], [[1, 0]], [0, 0.5], [1e-4], 50),
    ([[0, 1], [9.81, -0.2]], [[0, 1]], [0.01, 0.5], [1e-3], 10),
    ([[-3, 1, 0], [0, -0.5, 2], [0, 0, 0]], [[1, 0, 0]], [0, 0, 1], [1e-2], 100),
    ([[0, 1, 0], [0, 0, 1], [0, 0, 0]], [[1, 0, 0]], [0, 0, 5], [1e-6], 50),
    ([[0, 1, 0], [0, 0, 1], [-1, -2, -50]], [[1, 0, 0], [0, 0, 1]], [0.1, 0, 3], [1e-3, 1e-1], 100),
    ([[0.7, 0.2], [-0.1, -4]], [[1, 1]], [2, 3], [1e-1], 300),
]

out = []
for a, c, w, v, milliseconds in PLANTS:
    a, c = np.array(a, dtype=float), np.array(c, dtype=float)
    m = gain(a, c, np.diag(w).astype(float), np.diag(v).astype(float), milliseconds / 1000)
    out.append({
        "a": a.tolist(), "c": c.tolist(), "w": w, "v": v, "milliseconds": milliseconds,
        "gain": m.tolist(),
    })
print("[" + ",\n".join(json.dumps(one) for one in out) + "]")
