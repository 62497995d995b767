//! The messages that are written, with the fields that are used; numbers and types are those of
//! [`super::schema`].

use prost::Message;
use prost_types::Timestamp;

#[derive(Clone, PartialEq, Message)]
pub(super) struct Color {
    #[prost(double, tag = "1")]
    pub(super) r: f64,
    #[prost(double, tag = "2")]
    pub(super) g: f64,
    #[prost(double, tag = "3")]
    pub(super) b: f64,
    #[prost(double, tag = "4")]
    pub(super) a: f64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Vector3 {
    #[prost(double, tag = "1")]
    pub(super) x: f64,
    #[prost(double, tag = "2")]
    pub(super) y: f64,
    #[prost(double, tag = "3")]
    pub(super) z: f64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Quaternion {
    #[prost(double, tag = "1")]
    pub(super) x: f64,
    #[prost(double, tag = "2")]
    pub(super) y: f64,
    #[prost(double, tag = "3")]
    pub(super) z: f64,
    #[prost(double, tag = "4")]
    pub(super) w: f64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Pose {
    #[prost(message, optional, tag = "1")]
    pub(super) position: Option<Vector3>,
    #[prost(message, optional, tag = "2")]
    pub(super) orientation: Option<Quaternion>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ArrowPrimitive {
    #[prost(message, optional, tag = "1")]
    pub(super) pose: Option<Pose>,
    #[prost(double, tag = "2")]
    pub(super) shaft_length: f64,
    #[prost(double, tag = "3")]
    pub(super) shaft_diameter: f64,
    #[prost(double, tag = "4")]
    pub(super) head_length: f64,
    #[prost(double, tag = "5")]
    pub(super) head_diameter: f64,
    #[prost(message, optional, tag = "6")]
    pub(super) color: Option<Color>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct CubePrimitive {
    #[prost(message, optional, tag = "1")]
    pub(super) pose: Option<Pose>,
    #[prost(message, optional, tag = "2")]
    pub(super) size: Option<Vector3>,
    #[prost(message, optional, tag = "3")]
    pub(super) color: Option<Color>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SpherePrimitive {
    #[prost(message, optional, tag = "1")]
    pub(super) pose: Option<Pose>,
    #[prost(message, optional, tag = "2")]
    pub(super) size: Option<Vector3>,
    #[prost(message, optional, tag = "3")]
    pub(super) color: Option<Color>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct CylinderPrimitive {
    #[prost(message, optional, tag = "1")]
    pub(super) pose: Option<Pose>,
    #[prost(message, optional, tag = "2")]
    pub(super) size: Option<Vector3>,
    #[prost(double, tag = "3")]
    pub(super) bottom_scale: f64,
    #[prost(double, tag = "4")]
    pub(super) top_scale: f64,
    #[prost(message, optional, tag = "5")]
    pub(super) color: Option<Color>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Point3 {
    #[prost(double, tag = "1")]
    pub(super) x: f64,
    #[prost(double, tag = "2")]
    pub(super) y: f64,
    #[prost(double, tag = "3")]
    pub(super) z: f64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TriangleListPrimitive {
    #[prost(message, optional, tag = "1")]
    pub(super) pose: Option<Pose>,
    #[prost(message, repeated, tag = "2")]
    pub(super) points: Vec<Point3>,
    #[prost(message, optional, tag = "3")]
    pub(super) color: Option<Color>,
    #[prost(fixed32, repeated, tag = "5")]
    pub(super) indices: Vec<u32>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ModelPrimitive {
    #[prost(message, optional, tag = "1")]
    pub(super) pose: Option<Pose>,
    #[prost(message, optional, tag = "2")]
    pub(super) scale: Option<Vector3>,
    #[prost(message, optional, tag = "3")]
    pub(super) color: Option<Color>,
    #[prost(bool, tag = "4")]
    pub(super) override_color: bool,
    #[prost(string, tag = "5")]
    pub(super) url: String,
    #[prost(string, tag = "6")]
    pub(super) media_type: String,
    #[prost(bytes = "vec", tag = "7")]
    pub(super) data: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SceneEntity {
    #[prost(message, optional, tag = "1")]
    pub(super) timestamp: Option<Timestamp>,
    #[prost(string, tag = "2")]
    pub(super) frame_id: String,
    #[prost(string, tag = "3")]
    pub(super) id: String,
    #[prost(bool, tag = "5")]
    pub(super) frame_locked: bool,
    #[prost(message, repeated, tag = "7")]
    pub(super) arrows: Vec<ArrowPrimitive>,
    #[prost(message, repeated, tag = "8")]
    pub(super) cubes: Vec<CubePrimitive>,
    #[prost(message, repeated, tag = "9")]
    pub(super) spheres: Vec<SpherePrimitive>,
    #[prost(message, repeated, tag = "10")]
    pub(super) cylinders: Vec<CylinderPrimitive>,
    #[prost(message, repeated, tag = "12")]
    pub(super) triangles: Vec<TriangleListPrimitive>,
    #[prost(message, repeated, tag = "14")]
    pub(super) models: Vec<ModelPrimitive>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SceneUpdate {
    #[prost(message, repeated, tag = "2")]
    pub(super) entities: Vec<SceneEntity>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct FrameTransform {
    #[prost(message, optional, tag = "1")]
    pub(super) timestamp: Option<Timestamp>,
    #[prost(string, tag = "2")]
    pub(super) parent_frame_id: String,
    #[prost(string, tag = "3")]
    pub(super) child_frame_id: String,
    #[prost(message, optional, tag = "4")]
    pub(super) translation: Option<Vector3>,
    #[prost(message, optional, tag = "5")]
    pub(super) rotation: Option<Quaternion>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct FrameTransforms {
    #[prost(message, repeated, tag = "1")]
    pub(super) transforms: Vec<FrameTransform>,
}
