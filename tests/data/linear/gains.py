"""Writes gains.json: random systems, and gains that SciPy and 60 digits find for them.

    pip install numpy scipy mpmath && python gains.py > gains.json

Versions that wrote the committed file: numpy 2.4.6, scipy 1.17.1, mpmath 1.4.1.

Each system has n from 2 to 12 states, from 1 to 4 inputs, and is of one of five kinds, in turns
continuous and sampled: stable; unstable; with unstable poles that no weight sees; with a pole from
1e-9 to 1e-5 beside the border of stability; with states whose units differ by up to 1e6.

`gain` solves the Riccati equation to the last digit: SciPy's solution, or that of the Hamiltonian
matrix in 60 digits where SciPy fails, refined by Newton's method with residuals of 60 digits.
`scipy` is the relative error of SciPy's own gain; null where SciPy raises an error. `noise` is Van
Loan's integral for the continuous ones, by mpmath's exponential. `place` are poles, and
`scipy_place` is how far SciPy's own gain misses them; `ackermann` is
the one gain of a system with one input, by Ackermann's formula in 60 digits; `repeated` are poles
of which one is repeated as often as n allows, and up to 3 times.
"""

import json
import sys

import mpmath
import numpy as np
from scipy import linalg, signal

mpmath.mp.dps = 60
KINDS = ["stable", "unstable", "unseen", "border", "scaled"]


def exact(m):
    return mpmath.matrix(np.asarray(m).tolist())


def double(m):
    return np.array([[float(mpmath.re(m[i, j])) for j in range(m.cols)] for i in range(m.rows)])


def by_eigenvectors(a, b, q, r, period):
    """X of the stable eigenvectors of the Hamiltonian, or the symplectic matrix."""
    n = len(a)
    a_, q_ = exact(a), exact(q)
    g = exact(b) * mpmath.inverse(exact(r)) * exact(b).T
    h = mpmath.zeros(2 * n, 2 * n)
    if period is None:
        h[:n, :n], h[:n, n:], h[n:, :n], h[n:, n:] = a_, -g, -q_, -a_.T
    else:
        back = mpmath.inverse(a_.T)
        h[:n, :n], h[:n, n:] = a_ + g * back * q_, -g * back
        h[n:, :n], h[n:, n:] = -back * q_, back
    values, vectors = mpmath.eig(h)
    is_stable = (lambda z: mpmath.re(z) < 0) if period is None else (lambda z: abs(z) < 1)
    chosen = [i for i in range(2 * n) if is_stable(values[i])]
    assert len(chosen) == n
    top = mpmath.matrix(n, n)
    low = mpmath.matrix(n, n)
    for j, i in enumerate(chosen):
        for k in range(n):
            top[k, j], low[k, j] = vectors[k, i], vectors[n + k, i]
    return double(low * mpmath.inverse(top))


def refined(x, a, b, q, r, period):
    x, a_, b_, q_, r_ = map(exact, (x, a, b, q, r))
    for _ in range(60):
        if period is None:
            k = mpmath.inverse(r_) * (b_.T * x)
            rest = a_.T * x + x * a_ - x * b_ * k + q_
            step = linalg.solve_continuous_lyapunov((a - b @ double(k)).T, -double(rest))
        else:
            k = mpmath.inverse(r_ + b_.T * x * b_) * (b_.T * x * a_)
            rest = a_.T * x * a_ - a_.T * x * b_ * k + q_ - x
            step = linalg.solve_discrete_lyapunov((a - b @ double(k)).T, double(rest))
        x += exact(step)
        if np.linalg.norm(step) < 1e-17 * np.linalg.norm(double(x)):
            return double(k)
    raise ArithmeticError("no convergence")


def poles_of(rng, n, kind, period):
    """Poles of A in continuous time, as real blocks, and how many unstable ones come first."""
    blocks, unstable = [], 0
    left = n
    while left > 0:
        pair = left >= 2 and rng.random() < 0.5
        rate = float(np.exp(rng.uniform(-1.5, 1.5)))
        sign = -1.0
        first = not blocks
        if first and kind == "border":
            rate = 10.0 ** rng.uniform(-9, -5)
            sign = 1.0 if rng.random() < 0.5 else -1.0
            pair = False
        elif (first or rng.random() < 0.3) and kind in ("unstable", "unseen"):
            sign = 1.0
        elif kind == "scaled" and rng.random() < 0.3:
            sign = 1.0
        re = sign * rate
        im = float(np.exp(rng.uniform(-1.5, 1.5)))
        block = np.array([[re, im], [-im, re]]) if pair else np.array([[re]])
        if sign > 0 and kind == "unseen":
            blocks.insert(0, block)
            unstable += len(block)
        else:
            blocks.append(block)
        left -= len(block)
    return linalg.block_diag(*blocks), unstable


def placed(rng, n, period, repeat):
    poles = []
    if repeat:
        poles = [complex(-float(rng.uniform(0.5, 2)))] * min(n, int(rng.integers(2, 4)))
    while len(poles) < n:
        re = -float(rng.uniform(0.5, 3))
        if n - len(poles) >= 2 and rng.random() < 0.4:
            im = float(rng.uniform(0.3, 3))
            poles += [complex(re, im), complex(re, -im)]
        else:
            poles.append(complex(re))
    return [p if period is None else complex(np.exp(p * period)) for p in poles]


def off(a, b, gain, poles):
    """How far det(z - A + B K) is from the product of z - pole, on a circle around all of them."""
    closed = exact(a) - exact(b) * exact(gain)
    worst = 0.0
    for k in range(7):
        z = mpmath.mpc(2 * max(abs(p) for p in poles) * np.exp(1j * (0.3 + k)))
        product = mpmath.mpf(1)
        for p in poles:
            product *= z - mpmath.mpc(p)
        found = mpmath.det(z * mpmath.eye(len(a)) - closed)
        worst = max(worst, float(abs(found / product - 1)))
    return worst


def ackermann(a, b, poles):
    n = len(a)
    a_, b_ = exact(a), exact(b)
    reach, column = mpmath.matrix(n, n), b_
    for j in range(n):
        for i in range(n):
            reach[i, j] = column[i]
        column = a_ * column
    value = mpmath.eye(n)
    for p in poles:
        value = value * (a_ - mpmath.mpc(p) * mpmath.eye(n))
    last = mpmath.zeros(1, n)
    last[n - 1] = 1
    return double(last * mpmath.inverse(reach) * value)


def one(number):
    rng = np.random.default_rng([45, number])
    kind = KINDS[number % 5]
    period = None if (number // 5) % 2 == 0 else float(10.0 ** rng.uniform(-2, -0.5))
    n, m = int(rng.integers(2, 13)), int(rng.integers(1, 5))
    m = min(m, n)
    modal, unstable = poles_of(rng, n, kind, period)
    turn = rng.normal(size=(n, n))
    turn = linalg.qr(turn)[0] @ np.diag(rng.uniform(0.5, 2, n)) @ linalg.qr(rng.normal(size=(n, n)))[0]
    if kind == "scaled":
        turn = np.diag(10.0 ** rng.uniform(-3, 3, n)) @ turn
    inverse = np.linalg.inv(turn)
    a, b = turn @ modal @ inverse, turn @ rng.normal(size=(n, m))
    continuous = a
    if period is not None:
        a, b, *_ = signal.cont2discrete((a, b, np.eye(n), np.zeros((n, m))), period)
    seen = rng.normal(size=(n, n)) / np.sqrt(n)
    if kind == "unseen":
        seen[:, :unstable] = 0.0
        if rng.random() < 0.3:
            seen[:] = 0.0
            # Without any weight the border of stability is no pole of these systems.
    c = seen @ inverse
    q = c.T @ c
    q = 0.5 * (q + q.T)
    x = rng.normal(size=(m, m))
    r = x @ x.T + 0.1 * np.eye(m)
    r *= 10.0 ** rng.uniform(-2, 2)
    riccati = linalg.solve_continuous_are if period is None else linalg.solve_discrete_are
    try:
        first = riccati(a, b, q, r)
        xb = first @ b
        own = np.linalg.solve(r, xb.T) if period is None else np.linalg.solve(r + b.T @ xb, xb.T @ a)
        gain = refined(first, a, b, q, r, period)
    except (np.linalg.LinAlgError, ArithmeticError, ValueError):
        own = None
        gain = refined(by_eigenvectors(a, b, q, r, period), a, b, q, r, period)
    error = None if own is None else float(np.linalg.norm(own - gain) / np.linalg.norm(gain))
    out = {
        "name": f"{number} {kind} {n} {m}", "kind": kind, "period": period,
        "a": a.tolist(), "b": b.tolist(), "q": q.tolist(), "r": r.tolist(),
        "gain": gain.tolist(), "scipy": error,
    }
    complexes = lambda values: [[z.real, z.imag] for z in values]
    wanted, repeated = placed(rng, n, period, False), placed(rng, n, period, True)
    out["place"], out["repeated"] = complexes(wanted), complexes(repeated)
    try:
        scipy = signal.place_poles(a, b, np.array(wanted))
        out["scipy_place"] = off(a, b, scipy.gain_matrix, wanted)
    except ValueError:
        out["scipy_place"] = None
    if m == 1:
        out["ackermann"] = ackermann(a, b, wanted).tolist()
        out["ackermann_repeated"] = ackermann(a, b, repeated).tolist()
    if period is None:
        step = float(10.0 ** rng.uniform(-3, 0))
        x = rng.normal(size=(n, n)) * np.linalg.norm(turn)
        w = x @ x.T / n
        w = 0.5 * (w + w.T)
        joint = mpmath.zeros(2 * n, 2 * n)
        joint[:n, :n], joint[:n, n:], joint[n:, n:] = -exact(continuous), exact(w), exact(continuous).T
        power = mpmath.expm(joint * mpmath.mpf(step))
        out["noise"] = {
            "period": step, "w": w.tolist(),
            "covariance": double(power[n:, n:].T * power[:n, n:]).tolist(),
        }
    return out


count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
found = [one(number) for number in range(count)]
print("[" + ",\n".join(json.dumps(system) for system in found) + "]")
failed = sum(1 for system in found if system["scipy"] is None)
worst = max((system["scipy"] or 0.0) for system in found)
print(f"SciPy: {failed} failed, largest error of a gain {worst:.1e}", file=sys.stderr)
