#!/usr/bin/env python3
"""Write contact problems of a standing robot, and random ones of their shape, as plain text.

usage: make_qp.py ROBOT.urdf OUT.txt [COUNT [SEED]]

    min 1/2 f'Hf + g'f   s.t.  |f_x| <= mu f_z, |f_y| <= mu f_z, f_z >= 0 for each of four feet

`standing`: H = J M^-1 J' + 1e-8 I and g = J M^-1 (S'tau - h) + Jdot nu + 100 J nu of a Mini Cheetah near its
standing pose, with random torques and velocities. `random`: H = B'B + 0.1 I with normal entries. mu = 0.7.
A line holds the kind, H (144 values), g (12) and quadprog's solution (12).
"""
import sys

import numpy as np
import pinocchio as pin
import quadprog

MU = 0.7
FEET = ["FL_foot", "FR_foot", "HL_foot", "HR_foot"]
ROWS = np.kron(np.eye(4), np.array([[-1, 0, MU], [1, 0, MU], [0, -1, MU], [0, 1, MU], [0, 0, 1]]))


def standing(model, data, rng):
    turn = pin.Quaternion(pin.exp3(0.05 * rng.normal(size=3))).coeffs()
    q = np.r_[0, 0, 0.29, turn, np.tile([0, -0.8, 1.6], 4) + 0.1 * rng.normal(size=12)]
    nu = 0.1 * rng.normal(size=18)
    torque = np.r_[np.zeros(6), 3 * rng.normal(size=12)]
    pin.computeAllTerms(model, data, q, nu)
    mass = np.triu(data.M) + np.triu(data.M, 1).T
    pin.forwardKinematics(model, data, q, nu, np.zeros(18))
    pin.updateFramePlacements(model, data)
    ids = [model.getFrameId(foot) for foot in FEET]
    axes = pin.LOCAL_WORLD_ALIGNED
    jacobian = np.vstack([pin.getFrameJacobian(model, data, i, axes)[:3] for i in ids])
    drift = np.concatenate([pin.getFrameClassicalAcceleration(model, data, i, axes).linear for i in ids])
    inverse = np.linalg.inv(mass)
    h = jacobian @ inverse @ jacobian.T + 1e-8 * np.eye(12)
    return h, jacobian @ inverse @ (torque - data.nle) + drift + 100 * jacobian @ nu


def random(rng):
    b = rng.normal(size=(12, 12))
    return b.T @ b + 0.1 * np.eye(12), 10 * rng.normal(size=12)


def main():
    urdf, out = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 64
    rng = np.random.default_rng(int(sys.argv[4]) if len(sys.argv) > 4 else 11)
    model = pin.buildModelFromUrdf(urdf, pin.JointModelFreeFlyer())
    data = model.createData()
    with open(out, "w", encoding="ascii") as file:
        for kind in ("standing", "random"):
            for _ in range(count):
                h, g = standing(model, data, rng) if kind == "standing" else random(rng)
                h = (h + h.T) / 2
                x = quadprog.solve_qp(h, -g, ROWS.T, np.zeros(20))[0]
                print(kind, *(f"{v:.17g}" for v in np.r_[np.ravel(h), g, x]), file=file)


main()
