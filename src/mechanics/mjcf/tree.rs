//! A model of MuJoCo with its types: what the file says, defaults, frames and replicas applied,
//! angles in radians, every pose a placement. Still MuJoCo's terms: nothing is derived yet.

use std::collections::BTreeMap;

use nalgebra::{Matrix3, Vector3};

use super::source::Place;
use crate::placement::Placement;

pub(super) struct Tree {
    pub(super) name: String,
    pub(super) compiler: Compiler,
    pub(super) options: Options,
    /// Body 0 is the world. Parents stand before children, in the order of the file.
    pub(super) bodies: Vec<Body>,
    pub(super) meshes: BTreeMap<String, Mesh>,
    pub(super) pairs: Vec<Pair>,
    pub(super) exclusions: Vec<(String, String, Place)>,
    pub(super) equalities: Vec<Equality>,
    pub(super) tendons: Vec<Tendon>,
    pub(super) actuators: Vec<Actuator>,
    pub(super) keys: Vec<Key>,
}

/// Whether geometry makes the inertia of a body.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum InertiaFromGeom {
    /// Of a body without `<inertial>`.
    Auto,
    Always,
    Never,
}

pub(super) struct Compiler {
    pub(super) degree: bool,
    pub(super) sequence: [u8; 3],
    pub(super) auto_limits: bool,
    pub(super) inertia_from_geom: InertiaFromGeom,
    pub(super) inertia_groups: [f64; 2],
    /// Least mass [kg] and principal moment [kg m²] of a body.
    pub(super) bound_mass: f64,
    pub(super) bound_inertia: f64,
    pub(super) balance_inertia: bool,
    /// [kg].
    pub(super) total_mass: Option<f64>,
    pub(super) mesh_folder: String,
    pub(super) strip_path: bool,
    pub(super) discard_visual: bool,
}

pub(super) struct Options {
    /// [s].
    pub(super) time_step: f64,
    pub(super) integrator: String,
    /// [m/s²].
    pub(super) gravity: Vector3<f64>,
    /// What `<flag>` leaves on.
    pub(super) limits: bool,
    pub(super) springs: bool,
    pub(super) dampers: bool,
    pub(super) friction: bool,
}

pub(super) struct Body {
    pub(super) place: Place,
    pub(super) name: String,
    /// Of itself for the world.
    pub(super) parent: usize,
    /// `parent_from_body`.
    pub(super) placement: Placement,
    pub(super) inertial: Option<Inertial>,
    pub(super) joints: Vec<Joint>,
    pub(super) geoms: Vec<Geom>,
    pub(super) sites: Vec<(String, Placement)>,
}

pub(super) struct Inertial {
    pub(super) place: Place,
    /// `body_from_inertial`.
    pub(super) placement: Placement,
    pub(super) mass: f64,
    /// About the centre of mass, in the inertial axes.
    pub(super) inertia: Matrix3<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum JointType {
    Free,
    Ball,
    Slide,
    Hinge,
}

pub(super) struct Joint {
    pub(super) place: Place,
    /// Empty if it has none.
    pub(super) name: String,
    pub(super) kind: JointType,
    /// In the body [m].
    pub(super) position: Vector3<f64>,
    /// In the body; unit length.
    pub(super) axis: Vector3<f64>,
    pub(super) range: Option<[f64; 2]>,
    pub(super) force_range: Option<[f64; 2]>,
    pub(super) reference: f64,
    pub(super) spring_reference: f64,
    pub(super) stiffness: f64,
    pub(super) damping: f64,
    pub(super) friction: f64,
    pub(super) armature: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Solid {
    Plane,
    HeightField,
    Sphere {
        radius: f64,
    },
    /// Half the length of the cylinder.
    Capsule {
        radius: f64,
        half: f64,
    },
    Cylinder {
        radius: f64,
        half: f64,
    },
    Ellipsoid {
        radii: Vector3<f64>,
    },
    /// Half the edges.
    Box {
        half: Vector3<f64>,
    },
    Mesh {
        mesh: String,
    },
    /// A primitive that is fitted to a mesh.
    Fitted {
        mesh: String,
    },
}

pub(super) struct Geom {
    pub(super) place: Place,
    /// Empty if it has none.
    pub(super) name: String,
    pub(super) solid: Solid,
    /// `body_from_geom`.
    pub(super) placement: Placement,
    pub(super) mass: Option<f64>,
    /// [kg/m³; kg/m² of a shell].
    pub(super) density: f64,
    pub(super) shell: bool,
    pub(super) contact_type: u32,
    pub(super) contact_affinity: u32,
    pub(super) contact_dimension: u32,
    pub(super) group: f64,
    /// Sliding, torsional, rolling.
    pub(super) friction: [f64; 3],
    /// Red, green, blue and opacity.
    pub(super) color: Option<[f64; 4]>,
}

pub(super) struct Mesh {
    pub(super) place: Place,
    /// As the file writes it, with the folder of meshes.
    pub(super) file: Option<String>,
    /// Vertices and triangles in the file itself.
    pub(super) vertices: Vec<f64>,
    pub(super) faces: Vec<f64>,
    pub(super) scale: Vector3<f64>,
    /// `geom_from_mesh`, before scaling: the inverse of refpos and refquat.
    pub(super) reference: Placement,
    pub(super) inertia: String,
}

pub(super) struct Pair {
    pub(super) place: Place,
    pub(super) geoms: [String; 2],
}

pub(super) enum EqualityKind {
    /// Bodies and the anchor in the first one, or two sites.
    Connect {
        bodies: [String; 2],
        anchor: Vector3<f64>,
    },
    ConnectSites {
        sites: [String; 2],
    },
    /// `body1_from_body2`; as in the model's reference pose if there is none.
    Weld {
        bodies: [String; 2],
        relative: Option<Placement>,
        anchor: Vector3<f64>,
    },
    WeldSites {
        sites: [String; 2],
    },
    Joint {
        joints: [String; 2],
        coefficients: [f64; 5],
    },
}

pub(super) struct Equality {
    pub(super) place: Place,
    pub(super) name: String,
    pub(super) active: bool,
    pub(super) kind: EqualityKind,
}

/// A fixed tendon: a weighted sum of joint positions.
pub(super) struct Tendon {
    pub(super) name: String,
    /// Names and weights.
    pub(super) joints: Vec<(String, f64)>,
}

pub(super) enum Transmission {
    Joint(String),
    Tendon(String),
    /// What the file names instead.
    Other(&'static str),
}

pub(super) struct Actuator {
    pub(super) place: Place,
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) transmission: Transmission,
    pub(super) gear: Vec<f64>,
    pub(super) control_range: Option<[f64; 2]>,
    pub(super) force_range: Option<[f64; 2]>,
    /// Force per control.
    pub(super) gain: f64,
    /// Constant force, force per length and per velocity.
    pub(super) bias: [f64; 3],
    /// `gain` and `bias` do not say what it does.
    pub(super) other_law: bool,
}

pub(super) struct Key {
    pub(super) place: Place,
    pub(super) name: String,
    pub(super) positions: Option<Vec<f64>>,
    pub(super) velocities: Option<Vec<f64>>,
    pub(super) controls: Option<Vec<f64>>,
}
