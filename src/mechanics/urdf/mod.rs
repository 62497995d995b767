//! Robot files: URDF text → [`Model`].
//!
//! ```text
//! text ──xml──► elements with lines ──schema, robot──► Robot ──build──► Model
//! ```
//!
//! - `xml` checks that the text is well formed and remembers the line of every element;
//! - `schema` checks elements and numbers of what describes the mechanism, and lists what does not
//!   (Gazebo, transmissions, sensors), whatever it contains; comments are skipped;
//! - `visual` reads what links look like; a mistake in it is a warning;
//! - `graph` finds the trees of links and joints, of which the largest is the robot;
//! - `joints` and `mimic` say how each joint moves, `joint_bodies` lays its bodies along its axes;
//! - `build` welds fixed links to their parents and lays out the tree.
//!
//! No text makes this module panic, recurse without bound or open a file; [`resolve_package`] finds
//! the mesh files that a robot file names, also without opening one.

mod build;
mod error;
mod graph;
mod joints;
mod mimic;
mod package;
mod robot;
mod schema;
mod version;
mod visual;
pub(crate) mod xml;

use nalgebra::Vector3;

pub use error::{NotUsed, UrdfError, Warning};
pub use package::{PackageError, PackageSearch, resolve_package};

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
    /// Reads a robot from the text of a URDF file.
    ///
    /// All joints but fixed ones move, in the order of the file; mimic joints follow others. Links
    /// on fixed joints are welded to their parents and stay as frames. Links without inertia have
    /// no mass; the root link of a fixed base has none that matters. A file that begins with a
    /// `world` link and a floating joint reads best with a fixed base. A joint whose `<mimic>`
    /// leads nowhere moves on its own, and of several trees the largest is read. Warnings name what
    /// was read but is doubtful, and what was not used.
    ///
    /// # Errors
    /// [`UrdfError`], with the line where it is known, if the text is not well-formed URDF, the
    /// links do not form trees, a number is missing or impossible, or mimic joints form a cycle.
    pub fn from_urdf(text: &str, options: &Options) -> Result<(Self, Vec<Warning>), UrdfError> {
        if let Some(first) = first_element(text).filter(|first| !KNOWN.contains(first)) {
            // It may be any file, so that nothing of it is shown.
            let found = if first.is_empty() { "no element" } else { "another element" };
            let problem = format!("expected <robot>, found {found}");
            return Err(UrdfError::Xml { line: 1, problem });
        }
        let elements = xml::parse(text)?;
        let version = schema::check(&elements)?;
        let mut warnings = Vec::new();
        let robot = graph::one_tree(robot::Robot::new(&elements, version), &mut warnings)?;
        let mut model = build::model(&robot, options, &mut warnings)?;
        let document = robot::Document { elements: &elements, version };
        model.visuals = visual::visuals(document, &model, &mut warnings);
        let what = schema::not_used(&elements);
        if !what.is_empty() {
            warnings.push(Warning::NotUsed { what });
        }
        Ok((model, error::gathered(warnings)))
    }
}
