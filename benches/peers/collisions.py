#!/usr/bin/env python3
"""Cost of the contacts of a pair of solids, in Legwork and in MuJoCo, in turn on one core.

usage: VENV/bin/python collisions.py [--core N] [--repeats N] [--program BENCH]

VENV is a Python environment with requirements_mujoco.txt. Makes 256 pairs of each kind at random, twice over: `resting`, the
one on the other, face on face where both have one, 10 um deep; and `meeting`, in any orientation, half of them 1 mm apart,
half 1 mm deep along the line of centres. Both programs get the same pairs, corners of hulls in single precision
as MuJoCo keeps them, and look for contacts up to 5 mm apart. Legwork's time is `collide` with the test of the balls
before it and the choice of four witnesses behind it, `benches/collide.rs` of `legwork-contact`; MuJoCo's is `mj_collision` of a
model that lists the pairs, so that it has no broad phase.

Prints a markdown table: medians per pair, contacts per pair, and by how much the least gap of a pair is off at most. A
resting pair's is known; of 16 meeting pairs that are apart it is searched over all directions. Ends with 3 if Legwork's
is off by more than `BAND`.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import mujoco
import numpy as np
from scipy.optimize import minimize

ROOT = Path(__file__).resolve().parent.parent.parent
PAIRS = 256
REACH = 5e-3  # [m]
APART = 1e-3  # [m]
RESTING = 1e-5  # [m]
BAND = 1e-8  # of Legwork's gaps [m]; the search over directions ends at about 1e-9
SEARCHED = 16  # pairs
GEOMS = {"sphere": mujoco.mjtGeom.mjGEOM_SPHERE, "capsule": mujoco.mjtGeom.mjGEOM_CAPSULE, "box": mujoco.mjtGeom.mjGEOM_BOX,
         "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER, "hull": mujoco.mjtGeom.mjGEOM_MESH}
KINDS = ["sphere sphere", "sphere capsule", "sphere box", "sphere cylinder", "sphere hull", "capsule capsule", "capsule box",
         "capsule hull", "box box", "box cylinder", "box hull", "cylinder cylinder", "hull hull"]


class Solid:
    """A solid of random size, 3 to 10 cm; its flat sides, if it has any, are across z."""

    def __init__(self, kind, random):
        self.kind = kind
        self.size = random.uniform(0.03, 0.1, 3)
        self.corners = np.empty((0, 3))
        if kind == "sphere":
            self.size = self.size[:1]
        elif kind in ("capsule", "cylinder"):
            self.size = self.size[:2]
        elif kind == "hull":
            self.corners = hull(self.size, random)

    @property
    def half_height(self):
        """Of a solid that stands upright; a capsule lies."""
        return {"sphere": self.size[0], "capsule": self.size[0], "hull": self.corners[:, 2].max(initial=0)}.get(
            self.kind, self.size[-1])

    @property
    def radius(self):
        return float(np.linalg.norm(self.corners, axis=1).max(initial=0) or self.size.sum())

    def support(self, direction, position, turn):
        """The point that lies farthest along a direction, world axes."""
        matrix = rotation(turn)
        local = matrix.T @ direction
        rounding = self.size[0] if self.kind in ("sphere", "capsule") else 0.0
        if self.kind == "box":
            point = np.copysign(self.size, local)
        elif self.kind == "hull":
            point = self.corners[np.argmax(self.corners @ local)]
        else:
            point = np.zeros(3)
            if self.kind != "sphere":
                point[2] = np.copysign(self.size[1], local[2])
            if self.kind == "cylinder":
                point[:2] = self.size[0] * local[:2] / max(np.hypot(*local[:2]), 1e-300)
        return position + matrix @ point + rounding * direction

    def text(self, position, turn):
        numbers = [*self.size, *position, *rotation(turn).ravel()]
        if self.kind == "hull":
            numbers = [len(self.corners), *self.corners.ravel(), *position, *rotation(turn).ravel()]
        return " ".join([self.kind, *(repr(float(x)) if i or self.kind != "hull" else str(x) for i, x in enumerate(numbers))])


def hull(size, random):
    """Sixteen corners: a pentagon above and one below, and six around them."""
    around = np.arange(5) * 2 * np.pi / 5
    flat = [np.column_stack([0.7 * np.cos(around + turn), 0.7 * np.sin(around + turn), np.full(5, z)])
            for turn, z in zip(random.uniform(0, 2 * np.pi, 2), (1.0, -1.0))]
    around = np.arange(6) * np.pi / 3 + random.uniform(0, 0.4, 6)
    belt = np.column_stack([np.cos(around), np.sin(around), random.uniform(-0.3, 0.3, 6)])
    return (np.concatenate([*flat, belt]) * size).astype(np.float32).astype(float)


def rotation(quaternion):
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)


class Pairs:
    """Pairs of one kind, where they are, and MuJoCo's model of them."""

    def __init__(self, kinds, random):
        self.solids = [[Solid(kind, random) for kind in kinds] for _ in range(PAIRS)]
        spec = mujoco.MjSpec()
        for k, pair in enumerate(self.solids):
            for side, solid in enumerate(pair):
                body = spec.worldbody.add_body(name=f"{k}/{side}")
                body.add_freejoint()
                geom = body.add_geom(name=f"{k}/{side}", type=GEOMS[solid.kind], contype=0, conaffinity=0)
                if solid.kind == "hull":
                    spec.add_mesh(name=f"{k}/{side}", uservert=solid.corners.astype(np.float32).ravel())
                    geom.meshname = f"{k}/{side}"
                else:
                    geom.size[:len(solid.size)] = solid.size
            spec.add_pair(geomname1=f"{k}/0", geomname2=f"{k}/1", margin=REACH, condim=3)
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)

    def place(self, poses):
        """Puts all where they are: a pair of (position, quaternion) for each."""
        self.poses = poses
        self.data.qpos[:] = np.array([[*x, *turn] for pair in poses for x, turn in pair]).ravel()
        mujoco.mj_kinematics(self.model, self.data)

    def rest(self, random):
        """The first upright on the second, turned about z and off its centre."""
        def upright(solid):
            turn, lies = np.zeros(4), np.array([1.0, 0, 0, 0])
            mujoco.mju_axisAngle2Quat(turn, np.array([0.0, 0, 1]), random.uniform(0, 2 * np.pi))
            if solid.kind == "capsule":
                mujoco.mju_axisAngle2Quat(lies, np.array([1.0, 0, 0]), np.pi / 2)
                both = np.zeros(4)
                mujoco.mju_mulQuat(both, turn, lies)
                return both
            return turn
        poses = []
        for k, (one, other) in enumerate(self.solids):
            off = random.uniform(-0.01, 0.01, 2)
            if {one.kind, other.kind} <= {"sphere", "capsule"}:
                off = np.zeros(2)  # they would slide off
            at = np.array([k, 0.0, 0.0])
            above = at + [*off, one.half_height + other.half_height - RESTING]
            poses.append(((above, upright(one)), (at, upright(other))))
        self.place(poses)

    def meet(self, random):
        """In any orientation, touching, and then apart or together along the line of centres."""
        poses = []
        for k, (one, other) in enumerate(self.solids):
            turns = random.normal(size=(2, 4))
            turns /= np.linalg.norm(turns, axis=1)[:, None]
            way = random.normal(size=3)
            way /= np.linalg.norm(way)
            poses.append([[np.array([k, 0.0, 0.0]) + way * 1.2 * (one.radius + other.radius), turns[0]],
                          [np.array([k, 0.0, 0.0]), turns[1]]])
        lows, highs = np.zeros(PAIRS), np.array([np.linalg.norm(p[0][0] - p[1][0]) for p in poses])
        ways = [(p[0][0] - p[1][0]) / high for p, high in zip(poses, highs)]
        for _ in range(45):
            middles = (lows + highs) / 2
            for k, pair in enumerate(poses):
                pair[0][0] = pair[1][0] + ways[k] * middles[k]
            self.place(poses)
            for k in range(PAIRS):
                apart = mujoco.mj_geomDistance(self.model, self.data, 2 * k, 2 * k + 1, 1.0, None) > 0
                (highs if apart else lows)[k] = middles[k]
        for k, pair in enumerate(poses):
            pair[0][0] = pair[1][0] + ways[k] * (highs[k] + (APART if self.is_apart(k) else -APART))
        self.place(poses)

    @staticmethod
    def is_apart(k):
        return k % 2 == 0

    def distance(self, k):
        """Of a pair that is apart: the largest of the distances of two planes across a direction that keep the solids apart."""
        (one, other), (at, there) = self.solids[k], self.poses[k]

        def between(way):
            way = way / np.linalg.norm(way)
            return -way @ (one.support(-way, *at) - other.support(way, *there))
        best, start = np.inf, at[0] - there[0]
        random = np.random.default_rng(k)
        for turned in range(6):
            way = start / np.linalg.norm(start) + (0.1 * random.normal(size=3) if turned else 0)
            for _ in range(2):
                found = minimize(between, way, method="Nelder-Mead", options={"xatol": 1e-12, "fatol": 1e-15, "maxiter": 3000})
                way = found.x / np.linalg.norm(found.x)
            best = min(best, found.fun)
        return -best

    def text(self):
        lines = [repr(REACH)]
        for solids, poses in zip(self.solids, self.poses):
            lines += ["pair"] + [solid.text(*pose) for solid, pose in zip(solids, poses)]
        return "\n".join(lines) + "\n"

    def theirs(self):
        """MuJoCo: time per pair [ns], contacts per pair, least gap of each."""
        times, begun = [], time.perf_counter()
        while len(times) < 15 or time.perf_counter() - begun < 0.3:
            start = time.perf_counter_ns()
            mujoco.mj_collision(self.model, self.data)
            times.append(time.perf_counter_ns() - start)
        contacts = self.data.contact
        least = np.full(PAIRS, np.inf)
        np.minimum.at(least, np.array([geom // 2 for geom in contacts.geom[:, 0]], dtype=int), contacts.dist)
        return statistics.median(times) / PAIRS, self.data.ncon / PAIRS, least

    def ours(self, program, core):
        """Legwork: the same."""
        done = subprocess.run(["taskset", "-c", str(core), program, "--bench"], input=self.text(), capture_output=True, text=True,
                              check=True)
        first, *gaps = done.stdout.splitlines()
        nanoseconds, contacts = map(float, first.split())
        return nanoseconds, contacts, np.array([np.inf if gap == "none" else float(gap) for gap in gaps])


def build():
    command = ["cargo", "bench", "-p", "legwork-contact", "--bench", "collide", "--no-run", "--message-format",
               "json-render-diagnostics"]
    lines = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    found = [m["executable"] for m in map(json.loads, lines) if m.get("executable")]
    return found[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)), help="core of both (default: the last)")
    parser.add_argument("--repeats", type=int, default=5, help="times in turn (default: 5)")
    parser.add_argument("--program", help="the built bench `collide`")
    options = parser.parse_args()
    program = options.program or build()
    os.sched_setaffinity(0, {options.core})
    random = np.random.default_rng(0)
    is_kept, ratios = True, []
    for scene in ("resting", "meeting"):
        print(f"\n| {scene} pair | Legwork [ns] | MuJoCo [ns] | ratio | contacts, Legwork | MuJoCo | "
              "gap off, Legwork [um] | MuJoCo |\n"
              "|---|--:|--:|--:|--:|--:|--:|--:|")
        for kind in KINDS:
            pairs = Pairs(kind.split(), random)
            getattr(pairs, "rest" if scene == "resting" else "meet")(random)
            runs = [(pairs.ours(program, options.core), pairs.theirs()) for _ in range(options.repeats)]
            times = [statistics.median(run[side][0] for run in runs) for side in (0, 1)]
            ratios.append(statistics.median(ours[0] / theirs[0] for ours, theirs in runs))
            if scene == "resting":
                exact = {k: -RESTING for k in range(PAIRS)}
            else:
                exact = {k: pairs.distance(k) for k in range(0, 2 * SEARCHED, 2)}
            off = [max(abs(side[2][k] - gap) for k, gap in exact.items()) for side in runs[-1]]
            is_kept &= bool(off[0] < BAND)
            print(f"| {kind.replace(' ', ', ')} | {times[0]:.0f} | {times[1]:.0f} | {ratios[-1]:.2f} | {runs[-1][0][1]:.1f} | "
                  f"{runs[-1][1][1]:.1f} | {1e6 * off[0]:.3f} | {1e6 * off[1]:.3f} |", flush=True)
    mean = statistics.geometric_mean(ratios)
    print(f"\nGeometric mean of the ratios {mean:.2f}; medians of {options.repeats} turns on one core.")
    return 0 if is_kept else 3


if __name__ == "__main__":
    sys.exit(main())
