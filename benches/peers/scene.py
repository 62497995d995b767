"""A recording of the trot as other programs read it, beside Pinocchio.

    pip install mcap mcap-protobuf-support pin foxglove-schemas-protobuf
    python3 benches/peers/scene.py target/release/legwork

runs the trot with `--scene`, opens the recording by the packages `mcap` and `mcap-protobuf-support`,
which know nothing of Legwork, and compares

- every pose of every link with Pinocchio's forward kinematics at the recorded state;
- the schemas in the file with those that Foxglove publishes, field by field;
- the signals of a 60 s drive with those of `legwork export`, and its size.

Prints what it found; the exit code is 1 if something differs.
"""

import csv
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import pinocchio as pin
from foxglove_schemas_protobuf.FrameTransforms_pb2 import FrameTransforms
from foxglove_schemas_protobuf.SceneUpdate_pb2 import SceneUpdate
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from mcap.reader import make_reader
from mcap_protobuf.decoder import DecoderFactory

ROOT = pathlib.Path(__file__).resolve().parents[2]
URDF = ROOT / "diagrams/robots/mini_cheetah/mini_cheetah.urdf"
MOST = 1e-9

DRIVE = """Diagram(
    format: 2,
    run: (stop: "60 s", step: "1 ms", solver: Rk4),
    blocks: {
        "target": Sine(amplitude: "1 m", frequency: "0.7 Hz"),
        "error":  Sum(signs: "+-", in: { "u1": "target.y", "u2": "cart.position" }),
        "stiff":  Gain(gain: "50 N/m", in: { "u": "error.y" }),
        "damp":   Gain(gain: "20 N*s/m", in: { "u": "cart.velocity" }),
        "force":  Sum(signs: "+-", in: { "u1": "stiff.y", "u2": "damp.y" }),
        "accel":  Gain(gain: "=1/2[kg]", in: { "u": "force.y" }),
        "cart":   SecondOrderIntegrator(in: { "u": "accel.y" }),
    },
    log: [Every("1 ms", "cart.position"), Every("1 ms", "cart.velocity"), Every("1 ms", "accel.y")],
)
"""


def messages(path):
    """All messages of a recording, decoded by the schemas in it: schema, topic, time, message."""
    with open(path, "rb") as file:
        reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
        for schema, channel, message, decoded in reader.iter_decoded_messages():
            yield schema, channel.topic, message.log_time, decoded


def fields(descriptor):
    """Name, number, type, label and type name of each field of a message."""
    out = []
    for field in descriptor.field:
        out.append((field.name, field.number, field.type, field.label, field.type_name))
    enums = [(e.name, [(v.name, v.number) for v in e.value]) for e in descriptor.enum_type]
    return out, enums


def published(message):
    """The messages that a message needs, as published: fields by full name."""
    found = {}

    def walk(file):
        from google.protobuf.descriptor_pb2 import FileDescriptorProto

        proto = FileDescriptorProto()
        file.CopyToProto(proto)
        for own in proto.message_type:
            found[f"{proto.package}.{own.name}"] = fields(own)
        for needed in file.dependencies:
            walk(needed)

    walk(message.DESCRIPTOR.file)
    return found


def in_file(schema):
    """The messages of a schema in the file: fields by full name."""
    files = FileDescriptorSet.FromString(schema.data).file
    return {f"{file.package}.{own.name}": fields(own) for file in files for own in file.message_type}


def poses(binary, folder):
    """The largest difference of a link's pose from Pinocchio's."""
    diagram = ROOT / "diagrams/quadruped/trot.ron"
    out = folder / "trot"
    # The state at every step: one for each picture.
    command = [binary, "run", diagram, "--set", 'log=["body.state"]', "--until", "3 s", "--no-checks", "--scene", "--out", out]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    model = pin.buildModelFromUrdf(str(URDF), pin.JointModelFreeFlyer())
    data = model.createData()
    states, transforms, schemas, scene = {}, {}, {}, None
    for schema, topic, time, message in messages(out / "run.mcap"):
        if schema.name.startswith("foxglove."):
            schemas[schema.name] = schema
        if topic == "poses":
            transforms[time] = message
        elif topic == "scene":
            scene = message
        elif hasattr(message, "body_state"):
            states[time] = np.array(message.body_state.q)
    # Joints in the order of Pinocchio, which sorts them by name, as in the file here.
    off, links, compared = 0.0, set(), 0
    for time, message in transforms.items():
        if time not in states:
            continue
        compared += 1
        q = states[time]
        q = np.concatenate([q[:3], q[4:7], q[3:4], q[7:]])
        pin.framesForwardKinematics(model, data, q)
        for transform in message.transforms:
            assert transform.parent_frame_id == "world", transform.parent_frame_id
            links.add(transform.child_frame_id)
            expected = data.oMf[model.getFrameId(transform.child_frame_id)]
            at, turn = transform.translation, transform.rotation
            rotation = pin.Quaternion(turn.w, turn.x, turn.y, turn.z).matrix()
            off = max(off, np.abs(np.array([at.x, at.y, at.z]) - expected.translation).max())
            off = max(off, np.abs(rotation - expected.rotation).max())
    shapes = sorted(entity.frame_id for entity in scene.entities)
    moving = {name for name in links if not name.endswith("_foot")}
    print(f"poses: {len(transforms)} pictures, {compared} at recorded states, {len(links)} frames")
    print(f"  {len(moving)} bodies and {len(links - moving)} feet, largest difference {off:.1e}")
    print(f"  shapes on {', '.join(shapes)}")
    same = True
    for name, message in [("foxglove.SceneUpdate", SceneUpdate), ("foxglove.FrameTransforms", FrameTransforms)]:
        ours, theirs = in_file(schemas[name]), published(message)
        equal = ours == theirs
        same &= equal
        print(f"schema {name}: {len(ours)} messages, {'equal to' if equal else 'NOT'} the published")
    return len(moving) == 13 and compared == len(transforms) > 100 and off < MOST and same


def drive(binary, folder):
    """The signals of a drive as read by others, held against an export, and the size."""
    diagram, out = folder / "drive.ron", folder / "drive"
    diagram.write_text(DRIVE)
    subprocess.run([binary, "run", diagram, "--out", out], check=True, stdout=subprocess.DEVNULL)
    table = folder / "drive.csv"
    command = [binary, "export", out, "--quiet", "-o", table]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with open(table, newline="") as file:
        rows = list(csv.reader(file))
    names = [name.split(" ")[0].replace(".", "_") for name in rows[0]]
    exported = np.array(rows[1:], dtype=float)
    read = [
        [getattr(message, name) for name in names]
        for _, _, _, message in messages(out / "run.mcap")
    ]
    size = (out / "run.mcap").stat().st_size
    equal = np.array_equal(np.array(read), exported)
    print(f"drive: {len(read)} rows of {', '.join(names)}, {size / 1e6:.2f} MB, equal to the export: {equal}")
    return equal and size <= 8e6


if __name__ == "__main__":
    binary = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "target/release/legwork").resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        outcomes = [poses(binary, folder), drive(binary, folder)]
    sys.exit(0 if all(outcomes) else 1)
