#!/usr/bin/env python3
"""Write Pinocchio's model of a URDF, on a free base, as plain text for pinocchio.cpp.

Pinocchio itself reads the URDF here; the timed program then reads numbers only, so that it can be
compiled header-only for this machine's processor (the wheel's libraries align Eigen's types for a
generic one).

usage: dump_model.py URDF OUT floating|fixed FRAME...
"""
import sys

import pinocchio


def numbers(values):
    return " ".join(f"{value:.17g}" for value in values)


def placement(m):
    return numbers(m.rotation.ravel()) + " " + numbers(m.translation)


def main():
    urdf, out, base, *frames = sys.argv[1:]
    root = [pinocchio.JointModelFreeFlyer()] if base == "floating" else []
    model = pinocchio.buildModelFromUrdf(urdf, *root)
    with open(out, "w", encoding="utf-8") as file:
        for i in range(1, model.njoints):
            joint, inertia = model.joints[i], model.inertias[i]
            kind = joint.shortname().removeprefix("JointModel")
            axis = joint.extract().axis if "Unaligned" in kind else [0, 0, 0]
            print("joint", model.names[i], model.parents[i], kind, numbers(axis),
                  placement(model.jointPlacements[i]), numbers([inertia.mass]),
                  numbers(inertia.lever), numbers(inertia.inertia.ravel()), file=file)
        for name in frames:
            if not model.existFrame(name):
                sys.exit(f"{urdf}: no frame `{name}`")
            frame = model.frames[model.getFrameId(name)]
            print("frame", name, frame.parentJoint, placement(frame.placement), file=file)


if __name__ == "__main__":
    main()
