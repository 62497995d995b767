"""Writes reference.json: linear systems and what SciPy and python-control find of them.

    pip install numpy scipy control mpmath && python reference.py > reference.json

Versions that wrote the committed file: numpy 2.4.6, scipy 1.17.1, control 0.10.2, mpmath 1.4.1.

Solutions of Riccati equations are those of SciPy, refined by Newton's method with residuals of 60
digits: by themselves they are good to 1e-8 where a system is badly scaled.
"""

import json
import sys

import control
import mpmath
import numpy as np
from scipy import linalg, signal

rng = np.random.default_rng(20)


def chain(n, k, d):
    """n masses of 1 kg in a row, each tied to the next and the ends to walls by k [N/m], d."""
    stiffness = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    a = np.block([[np.zeros((n, n)), np.eye(n)], [-k * stiffness, -d * stiffness]])
    b = np.zeros((2 * n, 2))
    b[n, 0] = b[2 * n - 1, 1] = 1.0
    c = np.zeros((2, 2 * n))
    c[0, 0] = c[1, n - 1] = 1.0
    return a, b, c, np.zeros((2, 2))


def cart_pole():
    """Cart of 1 kg, point mass of 0.1 kg on 0.5 m, upright."""
    m, mp, l, g = 1.0, 0.1, 0.5, 9.81
    a = np.array([
        [0, 0, 1, 0], [0, 0, 0, 1],
        [0, -mp * g / m, 0, 0], [0, (m + mp) * g / (m * l), 0, 0],
    ])
    b = np.array([[0], [0], [1 / m], [-1 / (m * l)]])
    return a, b, np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0]]), np.zeros((2, 1))


def acrobot():
    """Two links of 1 kg and 1 m, torque at the elbow, upright."""
    m1 = m2 = l1 = 1.0
    lc1 = lc2 = 0.5
    i1 = i2 = 1.0 / 12.0
    g = 9.81
    mass = np.array([
        [i1 + i2 + m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2), i2 + m2 * (lc2**2 + l1 * lc2)],
        [i2 + m2 * (lc2**2 + l1 * lc2), i2 + m2 * lc2**2],
    ])
    gravity = g * np.array([[m1 * lc1 + m2 * (l1 + lc2), m2 * lc2], [m2 * lc2, m2 * lc2]])
    inverse = np.linalg.inv(mass)
    a = np.block([[np.zeros((2, 2)), np.eye(2)], [inverse @ gravity, np.zeros((2, 2))]])
    b = np.vstack([np.zeros((2, 1)), inverse @ np.array([[0.0], [1.0]])])
    return a, b, np.eye(2, 4), np.zeros((2, 1))


def of_function(numerator, denominator):
    return signal.tf2ss(numerator, denominator)


def sampled(system, period):
    a, b, c, d, _ = signal.cont2discrete(system, period)
    return a, b, c, d


def aircraft():
    """Lateral motion of a jet transport: side slip, yaw rate, roll rate, bank; rudder, aileron."""
    a = np.array([
        [-0.0558, -0.9968, 0.0802, 0.0415],
        [0.5980, -0.1150, -0.0318, 0],
        [-3.0500, 0.3880, -0.4650, 0],
        [0, 0.0805, 1.0000, 0],
    ])
    b = np.array([[0.00729, 0], [-0.475, 0.00775], [0.153, 0.143], [0, 0]])
    return a, b, np.array([[0, 1.0, 0, 0], [0, 0, 0, 1.0]]), np.zeros((2, 2))


def random(n, m, p, radius=None):
    a = rng.normal(size=(n, n)) / np.sqrt(n)
    if radius is not None:
        a *= radius / max(abs(np.linalg.eigvals(a)))
    return a, rng.normal(size=(n, m)), rng.normal(size=(p, n)), np.zeros((p, m))


def with_feedthrough(system):
    a, b, c, d = system
    return a, b, c, d + rng.normal(size=d.shape)


SYSTEMS = [
    ("double integrator", (np.eye(2, k=1), np.array([[0.0], [1.0]]), np.eye(1, 2), np.zeros((1, 1))), None),
    ("motor", of_function([2.0], [0.5e-3, 0.11, 1.2, 0.0]), None),
    ("right zero", of_function([-1.0, 3.0], [1.0, 2.0, 5.0, 4.0]), None),
    ("light damping", of_function([1.0, 0.02, 4.0], [1.0, 0.03, 10.0, 0.2, 9.0]), None),
    ("lag with feedthrough", of_function([0.5, 4.0, 6.0], [1.0, 1.2, 1.0]), None),
    ("cart-pole", cart_pole(), None),
    ("acrobot", acrobot(), None),
    ("chain", chain(5, 40.0, 0.3), None),
    ("aircraft", aircraft(), None),
    ("random", with_feedthrough(random(20, 3, 3)), None),
    ("sampled double integrator", sampled((np.eye(2, k=1), np.array([[0.0], [1.0]]), np.eye(1, 2), np.zeros((1, 1))), 0.1), 0.1),
    ("sampled motor", sampled(of_function([2.0], [0.5e-3, 0.11, 1.2, 0.0]), 0.005), 0.005),
    ("sampled cart-pole", sampled(cart_pole(), 0.01), 0.01),
    ("sampled random", random(12, 2, 2, 1.05), 0.02),
]


def refined(x, a, b, q, r, cross, period):
    """The solution of a Riccati equation to the last digit, from one of double precision."""
    mpmath.mp.dps = 60
    exact = lambda m: mpmath.matrix(np.asarray(m).tolist())
    double = lambda m: np.array(m.tolist(), dtype=float).reshape(m.rows, m.cols)
    x, a_, b_, q_, r_, n_ = map(exact, (x, a, b, q, r, cross))
    for _ in range(30):
        if period is None:
            k = mpmath.inverse(r_) * (b_.T * x + n_.T)
            rest = a_.T * x + x * a_ - (x * b_ + n_) * k + q_
            step = linalg.solve_continuous_lyapunov((a - b @ double(k)).T, -double(rest))
        else:
            k = mpmath.inverse(r_ + b_.T * x * b_) * (b_.T * x * a_ + n_.T)
            rest = a_.T * x * a_ - (a_.T * x * b_ + n_) * k + q_ - x
            step = linalg.solve_discrete_lyapunov((a - b @ double(k)).T, double(rest))
        x += exact(step)
        if np.linalg.norm(step) < 1e-18 * np.linalg.norm(double(x)):
            break
    return double(x), double(k)


def complexes(values):
    return [[float(np.real(v)), float(np.imag(v))] for v in np.atleast_1d(values)]


def rows(matrix):
    return np.asarray(matrix, dtype=float).tolist()


def margins_of(a, b, c, d, period):
    """All crossings. python-control finds them as roots of polynomials, which is exact enough for
    low orders alone; Newton's steps on the response take them to the last digit."""
    n = len(a)

    def response(w):
        s = 1j * w if period is None else np.exp(1j * w * period)
        return (c @ np.linalg.solve(s * np.eye(n) - a, b) + d)[0, 0]

    def polished(function, w):
        for _ in range(8):
            h = 1e-6 * w
            slope = (function(w + h) - function(w - h)) / (2 * h)
            w -= function(w) / slope
        return w

    system = control.ss(a, b, c, d) if period is None else control.ss(a, b, c, d, period)
    gm, pm, sm, w_gm, w_pm, w_sm = control.stability_margins(system, returnall=True)
    gains, phases = [], []
    for w in w_gm:
        if w <= 0 or (period is not None and w > 0.999 * np.pi / period):
            continue
        # A response that is real all along, or as good as real, crosses nothing.
        if not 1e-3 < w < 1e4 or abs(response(1.01 * w).imag) < 1e-9 * abs(response(w)):
            continue
        w = polished(lambda w: response(w).imag, w)
        gains.append([w, -1.0 / response(w).real])
    # Where it begins, if it has neither pole nor zero there. python-control names it too.
    start = response(0.0) if np.abs(np.linalg.eigvals(a) - (period is not None)).min() > 1e-9 else 0.0
    if start.real < -1e-9:
        assert np.min(w_gm) == 0.0
        gains.append([0.0, -1.0 / start.real])
    for w in w_pm:
        w = polished(lambda w: np.log(abs(response(w))), w)
        phases.append([w, float(np.angle(-response(w)))])
    return {"gain": sorted(gains), "phase": sorted(phases)}


def answers(name, system, period):
    a, b, c, d = (np.asarray(x, dtype=float) for x in system)
    n, m, p = len(a), b.shape[1], c.shape[0]
    x = rng.normal(size=(n, n))
    q = x @ x.T / n + 0.1 * np.eye(n)
    x = rng.normal(size=(m, m))
    r = x @ x.T + np.eye(m)
    cross = 0.05 * rng.normal(size=(n, m))
    x = rng.normal(size=(n, n))
    w = x @ x.T / n + 0.1 * np.eye(n)
    x = rng.normal(size=(p, p))
    v = x @ x.T + 0.5 * np.eye(p)
    riccati = linalg.solve_continuous_are if period is None else linalg.solve_discrete_are
    s, k = refined(riccati(a, b, q, r, s=cross), a, b, q, r, cross, period)
    cov, gain = refined(riccati(a.T, c.T, w, v), a.T, c.T, w, v, np.zeros((n, p)), period)
    gain = gain.T
    closed = np.linalg.eigvals(a - b @ k)
    placed = closed * (0.9 if period is not None else 1.3)
    out = {
        "name": name, "period": period,
        "a": rows(a), "b": rows(b), "c": rows(c), "d": rows(d),
        "poles": complexes(np.linalg.eigvals(a)),
        "q": rows(q), "r": rows(r), "n": rows(cross),
        "gain": rows(k), "cost": rows(s), "closed": complexes(closed),
        "w": rows(w), "v": rows(v), "filter": rows(gain), "covariance": rows(cov),
        "place": complexes(placed),
    }
    # Matrices as wide as high, whose zeros are generalised eigenvalues.
    if m == p:
        pencil = np.block([[a, b], [c, d]])
        right = linalg.block_diag(np.eye(n), np.zeros((m, m)))
        values = linalg.eigvals(pencil, right)
        scale = max(1.0, np.abs(np.linalg.eigvals(a)).max())
        out["zeros"] = complexes([z for z in values if np.isfinite(z) and abs(z) < 1e4 * scale])
    if m == 1:
        out["place_gain"] = rows(np.atleast_2d(control.acker(a, b, placed))) if n <= 6 else None
    if n <= 6:
        one = margins_of(a, b[:, :1], c[:1], d[:1, :1], period)
        out["margins"] = one
    stable = np.real(np.linalg.eigvals(a)).max() < -1e-9 if period is None else np.abs(np.linalg.eigvals(a)).max() < 1 - 1e-9
    if stable:
        solver = (lambda a, q: linalg.solve_continuous_lyapunov(a, -q)) if period is None else linalg.solve_discrete_lyapunov
        out["gramian"] = rows(solver(a, b @ b.T))
    if period is None:
        joint = linalg.expm(np.block([[a, b], [np.zeros((m, n + m))]]) * 0.05)
        out["sampled"] = {"period": 0.05, "a": rows(joint[:n, :n]), "b": rows(joint[:n, n:])}
    return out


json.dump([answers(*one) for one in SYSTEMS], sys.stdout, indent=1)
print()
