//! The Foxglove schemas that are written, as sets of protobuf descriptors: one file for each
//! message, as published.

use std::collections::BTreeSet;

use prost::Message as _;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, EnumValueDescriptorProto, FieldDescriptorProto,
    FileDescriptorProto, FileDescriptorSet,
};

/// Full name of the message of shapes.
pub const SCENE_UPDATE: &str = "foxglove.SceneUpdate";
/// Full name of the message of poses.
pub const FRAME_TRANSFORMS: &str = "foxglove.FrameTransforms";

/// The messages, those that others hold first, each with its fields in the order of their numbers,
/// which begin at 1: name and type, `*` where it is repeated.
const MESSAGES: &[(&str, &[(&str, &str)])] = &[
    ("Color", &[("r", "double"), ("g", "double"), ("b", "double"), ("a", "double")]),
    ("Quaternion", &[("x", "double"), ("y", "double"), ("z", "double"), ("w", "double")]),
    ("Vector3", &[("x", "double"), ("y", "double"), ("z", "double")]),
    ("Point3", &[("x", "double"), ("y", "double"), ("z", "double")]),
    ("Pose", &[("position", "Vector3"), ("orientation", "Quaternion")]),
    (
        "ArrowPrimitive",
        &[
            ("pose", "Pose"),
            ("shaft_length", "double"),
            ("shaft_diameter", "double"),
            ("head_length", "double"),
            ("head_diameter", "double"),
            ("color", "Color"),
        ],
    ),
    ("CubePrimitive", &[("pose", "Pose"), ("size", "Vector3"), ("color", "Color")]),
    ("SpherePrimitive", &[("pose", "Pose"), ("size", "Vector3"), ("color", "Color")]),
    (
        "CylinderPrimitive",
        &[
            ("pose", "Pose"),
            ("size", "Vector3"),
            ("bottom_scale", "double"),
            ("top_scale", "double"),
            ("color", "Color"),
        ],
    ),
    (
        "LinePrimitive",
        &[
            ("type", LINE_TYPE),
            ("pose", "Pose"),
            ("thickness", "double"),
            ("scale_invariant", "bool"),
            ("points", "*Point3"),
            ("color", "Color"),
            ("colors", "*Color"),
            ("indices", "*fixed32"),
        ],
    ),
    (
        "TriangleListPrimitive",
        &[
            ("pose", "Pose"),
            ("points", "*Point3"),
            ("color", "Color"),
            ("colors", "*Color"),
            ("indices", "*fixed32"),
        ],
    ),
    (
        "TextPrimitive",
        &[
            ("pose", "Pose"),
            ("billboard", "bool"),
            ("font_size", "double"),
            ("scale_invariant", "bool"),
            ("color", "Color"),
            ("text", "string"),
        ],
    ),
    (
        "ModelPrimitive",
        &[
            ("pose", "Pose"),
            ("scale", "Vector3"),
            ("color", "Color"),
            ("override_color", "bool"),
            ("url", "string"),
            ("media_type", "string"),
            ("data", "bytes"),
        ],
    ),
    ("KeyValuePair", &[("key", "string"), ("value", "string")]),
    (
        "SceneEntity",
        &[
            ("timestamp", TIMESTAMP),
            ("frame_id", "string"),
            ("id", "string"),
            ("lifetime", DURATION),
            ("frame_locked", "bool"),
            ("metadata", "*KeyValuePair"),
            ("arrows", "*ArrowPrimitive"),
            ("cubes", "*CubePrimitive"),
            ("spheres", "*SpherePrimitive"),
            ("cylinders", "*CylinderPrimitive"),
            ("lines", "*LinePrimitive"),
            ("triangles", "*TriangleListPrimitive"),
            ("texts", "*TextPrimitive"),
            ("models", "*ModelPrimitive"),
        ],
    ),
    ("SceneEntityDeletion", &[("timestamp", TIMESTAMP), ("type", DELETION_TYPE), ("id", "string")]),
    ("SceneUpdate", &[("deletions", "*SceneEntityDeletion"), ("entities", "*SceneEntity")]),
    (
        "FrameTransform",
        &[
            ("timestamp", TIMESTAMP),
            ("parent_frame_id", "string"),
            ("child_frame_id", "string"),
            ("translation", "Vector3"),
            ("rotation", "Quaternion"),
        ],
    ),
    ("FrameTransforms", &[("transforms", "*FrameTransform")]),
];

/// Enumerations inside messages, and their values from 0.
const ENUMS: &[(&str, &[&str])] = &[
    (LINE_TYPE, &["LINE_STRIP", "LINE_LOOP", "LINE_LIST"]),
    (DELETION_TYPE, &["MATCHING_ID", "ALL"]),
];
const LINE_TYPE: &str = "LinePrimitive.Type";
const DELETION_TYPE: &str = "SceneEntityDeletion.Type";
const TIMESTAMP: &str = "google.protobuf.Timestamp";
const DURATION: &str = "google.protobuf.Duration";

/// The encoded `FileDescriptorSet` of [`SCENE_UPDATE`] or [`FRAME_TRANSFORMS`] and of all that it
/// holds.
pub fn schema(message: &str) -> Vec<u8> {
    let root = message.trim_start_matches("foxglove.");
    let mut needed = BTreeSet::from([root]);
    // What holds another comes behind it.
    for (name, fields) in MESSAGES.iter().rev() {
        if needed.contains(name) {
            needed.extend(fields.iter().map(|(_, ty)| ty.trim_start_matches('*')));
        }
    }
    let google = [TIMESTAMP, DURATION].into_iter().filter(|name| needed.contains(name));
    let mut file: Vec<FileDescriptorProto> = google.map(google_file).collect();
    let own = MESSAGES.iter().filter(|(name, _)| needed.contains(name));
    file.extend(own.map(|(name, fields)| file_of(name, fields)));
    FileDescriptorSet { file }.encode_to_vec()
}

fn file_of(name: &str, fields: &[(&str, &str)]) -> FileDescriptorProto {
    let types: BTreeSet<&str> = fields.iter().map(|(_, ty)| ty.trim_start_matches('*')).collect();
    let is_message = |ty: &str| MESSAGES.iter().any(|(known, _)| *known == ty);
    let own = types.iter().filter(|ty| is_message(ty)).map(|ty| format!("foxglove/{ty}.proto"));
    let google = types.iter().filter(|ty| ty.starts_with("google.")).map(|ty| google_path(ty));
    let numbered = fields.iter().zip(1..).map(|((name, ty), number)| field(name, ty, number));
    let inside = format!("{name}.");
    let enums = ENUMS.iter().filter_map(|(path, values)| {
        let name = path.strip_prefix(&inside)?;
        let value = |(name, number): (&&str, i32)| EnumValueDescriptorProto {
            name: Some((*name).to_owned()),
            number: Some(number),
            options: None,
        };
        Some(EnumDescriptorProto {
            name: Some(name.to_owned()),
            value: values.iter().zip(0..).map(value).collect(),
            ..Default::default()
        })
    });
    let message = DescriptorProto {
        name: Some(name.to_owned()),
        field: numbered.collect(),
        enum_type: enums.collect(),
        ..Default::default()
    };
    FileDescriptorProto {
        name: Some(format!("foxglove/{name}.proto")),
        package: Some("foxglove".to_owned()),
        dependency: own.chain(google).collect(),
        message_type: vec![message],
        syntax: Some("proto3".to_owned()),
        ..Default::default()
    }
}

/// The file of `google.protobuf.Timestamp` or `google.protobuf.Duration`.
fn google_file(name: &str) -> FileDescriptorProto {
    let message = DescriptorProto {
        name: name.rsplit('.').next().map(str::to_owned),
        field: vec![field("seconds", "int64", 1), field("nanos", "int32", 2)],
        ..Default::default()
    };
    FileDescriptorProto {
        name: Some(google_path(name)),
        package: Some("google.protobuf".to_owned()),
        message_type: vec![message],
        syntax: Some("proto3".to_owned()),
        ..Default::default()
    }
}

fn google_path(name: &str) -> String {
    format!("{}.proto", name.replace('.', "/").to_ascii_lowercase())
}

fn field(name: &str, ty: &str, number: i32) -> FieldDescriptorProto {
    let single = ty.trim_start_matches('*');
    let label = if single == ty { Label::Optional } else { Label::Repeated };
    let (kind, type_name) = match single {
        "double" => (Type::Double, None),
        "bool" => (Type::Bool, None),
        "string" => (Type::String, None),
        "bytes" => (Type::Bytes, None),
        "fixed32" => (Type::Fixed32, None),
        "int32" => (Type::Int32, None),
        "int64" => (Type::Int64, None),
        TIMESTAMP | DURATION => (Type::Message, Some(format!(".{single}"))),
        LINE_TYPE | DELETION_TYPE => (Type::Enum, Some(format!(".foxglove.{single}"))),
        message => (Type::Message, Some(format!(".foxglove.{message}"))),
    };
    FieldDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(number),
        label: Some(label.into()),
        r#type: Some(kind.into()),
        type_name,
        ..Default::default()
    }
}
