//! Robot files: URDF text → [`Model`].
//!
//! ```text
//! text ──xml──► elements with lines ──schema──► canonical text ──urdf-rs──► Robot ──build──► Model
//! ```
//!
//! - `xml` checks that the text is well formed and remembers the line of every element;
//! - `schema` checks elements and numbers, and keeps only what describes the mechanism: extensions
//!   (Gazebo, transmissions, sensors), comments and visuals never reach the reader, whatever they
//!   contain;
//! - `urdf-rs` reads the canonical text into typed values (versions, quaternions, defaults);
//! - `graph` checks that links and joints form one tree;
//! - `build` welds fixed links to their parents and lays out the tree.
//!
//! No text makes this module panic, recurse without bound or open a file.

mod build;
mod error;
mod graph;
mod schema;
mod xml;

use nalgebra::Vector3;

pub use error::{UrdfError, Warning};

use crate::model::{Base, Model};

/// What to do with a joint that mimics another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MimicJoints {
    /// Refuse the file.
    Reject,
    /// Take the joint as one that moves on its own, and warn.
    Independent,
}

/// How to read a robot file.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// How the root link is held.
    pub base: Base,
    /// Acceleration of free fall in world axes [m/s²].
    pub gravity: Vector3<f64>,
    /// Reflected rotor inertia [kg m² or kg] by joint name; `*` stands for any characters, later
    /// entries win, joints not named have none.
    pub rotor_inertia: Vec<(String, f64)>,
    /// What to do with mimic joints.
    pub mimic: MimicJoints,
}

impl Options {
    /// The given base, gravity (0, 0, −9.81) m/s², no rotor inertia, mimic joints refused.
    #[must_use]
    pub fn new(base: Base) -> Self {
        Self {
            base,
            gravity: Vector3::new(0.0, 0.0, -9.81),
            rotor_inertia: Vec::new(),
            mimic: MimicJoints::Reject,
        }
    }
}

impl Model {
    /// Reads a robot from the text of a URDF file.
    ///
    /// Revolute, continuous and prismatic joints move, in the order of the file; links on fixed
    /// joints are welded to their parents and stay as frames. Links without inertia have no mass.
    /// Warnings name what was read but is doubtful.
    ///
    /// # Errors
    /// [`UrdfError`], with the line where it can be had, if the text is no well-formed URDF, the
    /// links do not form one tree, a number is missing or impossible, or a joint type is not
    /// supported.
    pub fn from_urdf(text: &str, options: &Options) -> Result<(Self, Vec<Warning>), UrdfError> {
        let elements = xml::parse(text)?;
        let canonical = schema::canonical(&elements)?;
        let robot = urdf_rs::read_from_string(&canonical.text)
            .map_err(|error| UrdfError::Reader { message: error.to_string() })?;
        build::model(&robot, &canonical.lines, options)
    }
}
