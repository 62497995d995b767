//! Robot files: URDF text → [`Model`].
//!
//! ```text
//! text ──xml──► elements ──schema, read──► urdf_rs::Robot, Lines ──build──► Model
//! ```
//!
//! - `xml` copies the elements of a well-formed text with their lines;
//! - `schema` checks elements and numbers of what describes the mechanism, and lists what does not
//!   (Gazebo, transmissions, sensors), whatever it contains; comments are skipped;
//! - `read` converts them to `urdf-rs`; a mistake in a visual is a warning;
//! - `source` adds the lines to the robot, and validates a robot without a file;
//! - `graph` finds the trees of links and joints, of which the largest is the robot;
//! - `joints` and `mimic` say how each joint moves, `joint_bodies` lays its bodies along its axes;
//! - `build` welds fixed links to their parents and lays out the tree;
//! - `write` converts a model back to `urdf-rs`.
//!
//! No text makes this module panic, recurse without bound or open a file; [`resolve_package`] finds
//! the mesh files that a robot file names, also without opening one.

mod build;
mod error;
mod graph;
mod joints;
mod mimic;
mod package;
mod read;
mod schema;
mod source;
mod version;
mod visual;
mod write;
pub(crate) mod xml;

use nalgebra::Vector3;

pub use error::{NotUsed, UrdfError, Warning};
pub use package::{PackageError, PackageSearch, resolve_package};
pub use write::Written;

use source::Lines;

use crate::first_element::first_element;
use crate::model::{Base, Model};
use crate::placement::Placement;

/// First elements of files that describe robots, which may be named in messages.
const KNOWN: [&str; 3] = ["robot", "mujoco", "sdf"];

/// What to do with a joint that mimics another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MimicJoints {
    /// The joint has no coordinate of its own: its position follows the other joint's, its inertia
    /// loads the other joint.
    Coupled,
    /// Take the joint as one that moves on its own, and warn.
    Independent,
}

/// How to read a robot file.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// How the root link is held.
    pub base: Base,
    /// Where the root link of a fixed base is held: `world_from_root`. A floating base starts
    /// where its configuration says and ignores this.
    pub mount: Placement,
    /// Acceleration of free fall in world axes [m/s²].
    pub gravity: Vector3<f64>,
    /// Reflected rotor inertia [kg m² or kg] by name of the joint coordinate
    /// ([`Model::joint_velocity_names`]); `*` matches any characters, later entries win, joints
    /// not named have none.
    pub rotor_inertia: Vec<(String, f64)>,
    /// What to do with mimic joints.
    pub mimic: MimicJoints,
    /// Joints that are held at a position [rad or m], by name; `*` matches any characters, later
    /// entries win. Only joints of one degree of freedom; what mimics them is held, too.
    pub welded: Vec<(String, f64)>,
}

impl Options {
    /// The given base, mounted at the world's origin if it is fixed, gravity (0, 0, −9.81) m/s²,
    /// no rotor inertia, mimic joints coupled.
    #[must_use]
    pub fn new(base: Base) -> Self {
        Self {
            base,
            mount: Placement::identity(),
            gravity: Vector3::new(0.0, 0.0, -9.81),
            rotor_inertia: Vec::new(),
            mimic: MimicJoints::Coupled,
            welded: Vec::new(),
        }
    }
}

impl Model {
    /// Reads a robot from its description by `urdf-rs`.
    ///
    /// All joints except fixed ones move, in their order; mimic joints follow others. Links on
    /// fixed joints are welded to their parents and remain as frames. The root link of a fixed base
    /// has no inertia. Use a fixed base for a robot that begins with a `world` link and a floating
    /// joint. A joint moves on its own if its mimic cannot be followed; of several trees the
    /// largest is read. A joint has no limit if its limit equals `JointLimit::default()`, which is
    /// how `urdf-rs` represents a missing one. Warnings name doubtful and unused parts. Lines in
    /// warnings and errors are 0.
    ///
    /// # Errors
    /// [`UrdfError`] if the links do not form trees, a name or number is not valid, or mimic joints
    /// form a cycle.
    pub fn from_urdf(
        robot: &urdf_rs::Robot,
        options: &Options,
    ) -> Result<(Self, Vec<Warning>), UrdfError> {
        source::check(robot)?;
        let (model, mut warnings) = read_robot(robot, &Lines::unknown(robot), options)?;
        let what = source::not_used(robot);
        if !what.is_empty() {
            warnings.push(Warning::NotUsed { what });
        }
        Ok((model, error::gathered(warnings)))
    }

    /// Reads a robot from the text of a URDF file: [`Self::from_urdf`] with lines, and with the
    /// defaults of the file's version. Links without inertia have no mass; a limit may be left out.
    /// Elements and attributes that are not used are named in a warning.
    ///
    /// # Errors
    /// [`UrdfError`], with the line where it is known, if the text is not well-formed URDF, or as
    /// for [`Self::from_urdf`].
    pub fn from_urdf_text(
        text: &str,
        options: &Options,
    ) -> Result<(Self, Vec<Warning>), UrdfError> {
        if let Some(first) = first_element(text).filter(|first| !KNOWN.contains(first)) {
            // It may be any file, so that nothing of it is shown.
            let found = if first.is_empty() { "no element" } else { "another element" };
            let problem = format!("expected <robot>, found {found}");
            return Err(UrdfError::Xml { line: 1, problem });
        }
        let elements = xml::parse(text)?;
        let version = schema::check(&elements)?;
        let read = read::robot(&elements, version);
        let (model, mut warnings) = read_robot(&read.robot, &read.lines, options)?;
        warnings.extend(read.warnings);
        let what = schema::not_used(&elements);
        if !what.is_empty() {
            warnings.push(Warning::NotUsed { what });
        }
        Ok((model, error::gathered(warnings)))
    }
}

/// Builds the model of a robot with valid names and numbers.
fn read_robot(
    robot: &urdf_rs::Robot,
    lines: &Lines,
    options: &Options,
) -> Result<(Model, Vec<Warning>), UrdfError> {
    let mut warnings = Vec::new();
    let robot = graph::one_tree(source::Robot::new(robot, lines), &mut warnings)?;
    let model = build::model(&robot, options, &mut warnings)?;
    Ok((model, warnings))
}
