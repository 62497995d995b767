//! Models of MuJoCo: MJCF text → [`Model`].
//!
//! ```text
//! texts ──source──► elements with places ──schema, read──► Tree ──lower──► Mjcf, with its Model
//! ```
//!
//! - `source` reads XML and the files that it includes, each once, and remembers where all stands;
//! - `schema` knows the elements and attributes of MJCF, and which of them are used;
//! - `read` and `values` make a `Tree` of typed parts, in MuJoCo's terms: defaults by class, frames
//!   and replicas applied, angles in radians;
//! - `geometry` and `mesh` are volumes and inertias of solids;
//! - `lower` makes the model: inertias, joints, frames, collision shapes, actuators, keyframes.
//!
//! No text makes this module panic, recurse without bound or take more memory than a multiple of
//! its own size and of the number of parts, which is bounded.

mod error;
mod geometry;
mod lower;
mod mesh;
mod read;
mod schema;
mod source;
mod tree;
mod values;

use nalgebra::Vector3;

pub use error::{MjcfError, MjcfErrors};
pub use lower::{ActuatorLaw, Mjcf, MjcfActuator, MjcfEquality, MjcfGeom, MjcfKeyframe};

use crate::model::{Base, Model};
use crate::placement::Placement;

/// How to read a model of MuJoCo.
pub struct MjcfOptions<'a> {
    /// Reads a file by its path: those that the model includes, and its meshes.
    pub read: &'a dyn Fn(&str) -> Result<Vec<u8>, String>,
    /// How the base is held; `None` as in the file: free if the only body of the world that moves
    /// has a free joint.
    pub base: Option<Base>,
    /// Where the world of a fixed base is: `world_from_root`.
    pub mount: Placement,
    /// Acceleration of free fall in world axes [m/s²], in place of the file's.
    pub gravity: Option<Vector3<f64>>,
    /// Whether joints that an equality ties linearly to another follow it, without a coordinate of
    /// their own.
    pub coupled: bool,
    /// Joints that are held at a position [rad or m], by name; `*` matches any characters, later
    /// entries win. Only hinges and slides; what is coupled to them is held, too.
    pub welded: Vec<(String, f64)>,
}

impl Model {
    /// Reads a robot from a model of MuJoCo, an MJCF file, and what it includes.
    ///
    /// Every hinge, slide, ball and free joint is one joint, in the order of the file, also where a
    /// body has several: positions are those of MuJoCo's `qpos`. Velocities are `qvel`, but for the
    /// angular velocity of a ball or a free body, which MuJoCo has in axes of the body and we have in
    /// axes of its parent. Bodies without joints are welded to their parents and stay as frames, as
    /// do sites.
    ///
    /// # Errors
    /// [`MjcfErrors`], with file, line and column, if a file cannot be read or is not well-formed,
    /// elements or values are missing, unknown or impossible, or the inertia of a body depends on a
    /// mesh that cannot be read.
    pub fn from_mjcf(path: &str, options: &MjcfOptions<'_>) -> Result<Mjcf, MjcfErrors> {
        let mut document = source::Document::read(path, options.read)?;
        let unused = schema::check(&mut document);
        document.finish()?;
        let tree = read::tree(&mut document)?;
        lower::model(&tree, &mut document, unused, options)
    }
}
