#!/usr/bin/env python3
"""Drumwright's program of least forces, written down again from its equations in NumPy alone.

E. Drumwright, An unconditionally stable first-order constraint solver for multibody systems:
the program of eqs. 99-108 for one contact in the plane, and eqs. 72-76 for a stack of balls
without friction. Energies are those of bodies and springs together.

1. A block of 1 kg that slides at v on level ground, as its ramp (section 6.4): h = 10 ms,
   K_n = 1e10, B_n = 1, B_r = 1e6/h, zeta = 1/h. The spring-damper in the tangent asks for about
   B_r v, 1e8 N, so the program presses the contact until friction stops the block, and the block
   is thrown up: the program itself gains energy. The table shows by how much, by zeta.
2. A stack of n balls without friction. Here the program has the solution of the linear
   complementarity problem, and must not gain energy. It does if contacts that are open at the
   start of a step and are closed by the forces of others are left out.

Usage: python3 benches/peers/least_forces.py
"""

import numpy as np

H, G = 1e-2, 9.8


def sliding_block(v, mu, zeta, k_n=1e10, b_n=1.0, b_r=1e6 / H, mass=1.0):
    """One step of the program: (lambda_n, lambda_r, energy gained over the step)."""
    deformation = -mass * G / k_n  # at rest on its spring
    w = H / mass

    def normal_spring(force):  # -K phi_1 - B dphi_1
        rate = w * (force - mass * G)
        return -k_n * (deformation + H * rate) - b_n * rate

    # lambda_n >= normal_spring(lambda_n), linear: the least normal force.
    at = normal_spring(0.0)
    slope = normal_spring(1.0) - at
    least = max(0.0, at / (1.0 - slope))

    def tangential(force):  # best lambda_r for this lambda_n: beta = lambda_r + B_r dphi_r
        c = 1.0 + b_r * w
        free = -c * b_r * v / (1.0 + c * c)
        return float(np.clip(free, -mu * force, mu * force))

    def cost(force):
        r = tangential(force)
        beta = r + b_r * (v + w * r)
        return 0.5 * (zeta * force**2 + r**2 + beta**2)

    low, high = least, least + 10.0 * abs(v) * mass / (H * mu) + 1.0
    ratio = (np.sqrt(5.0) - 1.0) / 2.0
    for _ in range(300):  # golden section; the cost is convex
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, b) if cost(a) <= cost(b) else (a, high)
    force = min((low, high, least), key=cost)
    r = tangential(force)
    velocity = np.array([v + w * r, w * (force - mass * G)])
    end = deformation + H * velocity[1]

    def energy(velocity, depth, height):
        return 0.5 * mass * velocity @ velocity + 0.5 * k_n * min(depth, 0.0) ** 2 + mass * G * height

    gain = energy(velocity, end, H * velocity[1]) - energy(np.array([v, 0.0]), deformation, 0.0)
    return force, r, gain


def stack(n, leaves_open, radius=0.1, gap=1e-3, k=1e10, b=1.0, stop=2.0):
    """Largest energy of a falling stack of balls of 1 kg over that of its start, and its end."""
    z = np.array([radius + gap + i * (2 * radius + gap) for i in range(n)])
    v = np.zeros(n)
    rows = np.zeros((n, n))
    for i in range(n):
        rows[i, i] = 1.0
        if i:
            rows[i, i - 1] = -1.0
    d = H * H * k + H * b

    def deformations(z):
        return np.diff(z, prepend=-radius) - 2 * radius

    def energy(z, v):
        phi = np.minimum(deformations(z), 0.0)
        return 0.5 * v @ v + G * z.sum() + 0.5 * k * phi @ phi

    start, worst = energy(z, v), 0.0
    matrix = rows @ rows.T + np.eye(n) / d
    for _ in range(round(stop / H)):
        free = v - H * G
        phi = deformations(z)
        # gamma >= -h K (phi + h u) - h B u is A gamma + c >= 0 with A = W + 1/D.
        c = rows @ free + H * k * phi / d
        takes_part = np.ones(n, bool)
        if leaves_open:
            takes_part = (phi <= 0.0) | (phi + H * (rows @ free) <= 0.0)
        # A has no positive entries off its diagonal, so rows that are violated join for good.
        acts = np.zeros(n, bool)
        gamma = np.zeros(n)
        while True:
            violated = takes_part & ~acts & (matrix @ gamma + c < 0.0)
            if not violated.any():
                break
            acts |= violated
            gamma[:] = 0.0
            gamma[acts] = np.linalg.solve(matrix[np.ix_(acts, acts)], -c[acts])
        assert (gamma >= -1e-12).all()
        # gamma is the least of the feasible set: multipliers of 1/2 |gamma|^2 are not negative.
        if acts.any():
            multipliers = np.linalg.solve(matrix[np.ix_(acts, acts)].T, gamma[acts])
            assert (multipliers >= -1e-12).all()
        v = free + rows.T @ gamma
        z = z + H * v
        worst = max(worst, energy(z, v) / start - 1.0)
    return worst, energy(z, v) / start


def main():
    print("1. a block of 1 kg that slides at 1 m/s, mu = 0.25: one step")
    print(f"{'zeta':>10} {'normal [N]':>12} {'friction [N]':>13} {'energy gained [J]':>18}")
    for zeta in [1 / H, 1e6, 1e12, 1e14, 1e16]:
        force, friction, gain = sliding_block(1.0, 0.25, zeta)
        print(f"{zeta:10.0e} {force:12.4g} {friction:13.4g} {gain:18.3g}")
    print("\n2. stacks without friction: largest energy over that of the start, and that of the end")
    print(f"{'balls':>6} {'all contacts':>24} {'open ones left out':>24}")
    for n in [2, 3, 5, 13, 20, 50, 100]:
        (a, a_end), (b, b_end) = stack(n, False), stack(n, True)
        print(f"{n:6d} {a:12.2e} {a_end:11.3f} {b:12.2e} {b_end:11.3f}")


if __name__ == "__main__":
    main()
