//! What can be wrong with a robot file.

use crate::model::ModelError;

/// Why a robot file is rejected. Lines count from 1.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum UrdfError {
    /// The text is not well-formed XML.
    #[error("line {line}: {problem}")]
    Xml {
        /// Where.
        line: usize,
        /// What was expected and found.
        problem: String,
    },
    /// An element or attribute is missing, doubled or unknown.
    #[error("line {line}: {problem}")]
    Schema {
        /// Where the element starts.
        line: usize,
        /// What was expected and found.
        problem: String,
    },
    /// A number cannot be read or is out of its range.
    #[error("line {line}: <{element}> {attribute}: expected {expected}, found `{found}`")]
    Number {
        /// Where the element starts.
        line: usize,
        /// Name of the element.
        element: String,
        /// Name of the attribute.
        attribute: String,
        /// What was expected.
        expected: String,
        /// The text of the attribute.
        found: String,
    },
    /// Two links or two joints have one name.
    #[error("line {line}: a {element} named `{name}` exists already on line {first_line}")]
    DuplicateName {
        /// Where the second one starts.
        line: usize,
        /// `link` or `joint`.
        element: &'static str,
        /// The name.
        name: String,
        /// Where the first one starts.
        first_line: usize,
    },
    /// A joint names a link that is not in the file.
    #[error("line {line}: joint `{joint}`: no link is named `{link}`{}", suggestion(.nearest))]
    UnknownLink {
        /// Where the joint starts.
        line: usize,
        /// The joint.
        joint: String,
        /// The name that was looked for.
        link: String,
        /// The most similar name there is.
        nearest: Option<String>,
    },
    /// A joint mimics one that is not in the file.
    #[error("line {line}: joint `{joint}`: no joint is named `{mimicked}` to mimic{}",
        suggestion(.nearest))]
    UnknownMimic {
        /// Where the joint starts.
        line: usize,
        /// The joint.
        joint: String,
        /// The name that was looked for.
        mimicked: String,
        /// The most similar name there is.
        nearest: Option<String>,
    },
    /// A link is the child of two joints.
    #[error("line {line}: link `{link}` is child of joint `{joint}` and of joint `{first}`")]
    TwoParents {
        /// Where the second joint starts.
        line: usize,
        /// The link.
        link: String,
        /// The second joint.
        joint: String,
        /// The first joint.
        first: String,
    },
    /// Joints form a cycle.
    #[error("line {line}: links form a cycle: {}", .links.join(" -> "))]
    Cycle {
        /// Where the first link of the cycle starts.
        line: usize,
        /// The links of the cycle, the first one again at the end.
        links: Vec<String>,
    },
    /// Several links have no parent.
    #[error("line {line}: expected one root link, found {}: connect them by joints",
            .roots.join(", "))]
    ManyRoots {
        /// Where the second root starts.
        line: usize,
        /// All links without a parent.
        roots: Vec<String>,
    },
    /// The file has no link.
    #[error("expected at least one link, found none")]
    NoLinks,
    /// A joint that mimics, or is mimicked, does not have exactly one coordinate.
    #[error(
        "line {line}: joint `{joint}` mimics `{mimicked}`: expected two revolute, continuous or \
         prismatic joints, `{wrong}` is {kind}"
    )]
    MimicKind {
        /// Where the joint starts.
        line: usize,
        /// The joint that mimics.
        joint: String,
        /// The joint that it mimics.
        mimicked: String,
        /// Which of both is wrong.
        wrong: String,
        /// What it is.
        kind: &'static str,
    },
    /// Joints mimic one another in a cycle.
    #[error("line {line}: joints mimic one another in a cycle: {}", .joints.join(" -> "))]
    MimicCycle {
        /// Where the first joint of the cycle starts.
        line: usize,
        /// The joints of the cycle, the first one again at the end.
        joints: Vec<String>,
    },
    /// The multipliers of a chain of mimic joints overflow.
    #[error(
        "line {line}: joint `{joint}`: expected a finite multiplier and offset along the chain of \
         mimic joints, found {multiplier} and {offset}"
    )]
    MimicNotFinite {
        /// Where the joint starts.
        line: usize,
        /// The joint.
        joint: String,
        /// Product of the multipliers.
        multiplier: f64,
        /// Offset of the whole chain.
        offset: f64,
    },
    /// The robot is too large.
    #[error("expected joints of at most {limit} degrees of freedom, found {found}")]
    TooManyJoints {
        /// Degrees of freedom of the file's joints, mimic joints included.
        found: usize,
        /// Most that are allowed.
        limit: usize,
    },
    /// A joint of several degrees of freedom is to be held at one position.
    #[error(
        "line {line}: joint `{joint}` has several coordinates and cannot be held at one position"
    )]
    NotHeld {
        /// Where the joint starts.
        line: usize,
        /// The joint.
        joint: String,
    },
    /// No movable joint matches a pattern of joints to be held.
    #[error("no joint that moves matches `{pattern}`")]
    NoJointToHold {
        /// The pattern.
        pattern: String,
    },
    /// Numbers are so large that merging welded bodies overflows.
    #[error("the inertia of the body that carries link `{link}` is not finite")]
    NotFinite {
        /// A link of the body.
        link: String,
    },
    /// The options do not fit the robot.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl UrdfError {
    /// The line that the error points at, from 1.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        match self {
            Self::Xml { line, .. }
            | Self::Schema { line, .. }
            | Self::Number { line, .. }
            | Self::DuplicateName { line, .. }
            | Self::UnknownLink { line, .. }
            | Self::UnknownMimic { line, .. }
            | Self::TwoParents { line, .. }
            | Self::Cycle { line, .. }
            | Self::ManyRoots { line, .. }
            | Self::MimicKind { line, .. }
            | Self::NotHeld { line, .. }
            | Self::MimicCycle { line, .. }
            | Self::MimicNotFinite { line, .. } => Some(*line),
            Self::NoLinks
            | Self::TooManyJoints { .. }
            | Self::NotFinite { .. }
            | Self::NoJointToHold { .. }
            | Self::Model(_) => None,
        }
    }
}

fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// A doubtful entry of a robot file that could still be read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// The inertia is physically impossible.
    #[error(
        "line {line}: link `{link}`: no body of {mass} kg has principal moments \
         {moments:?} kg m²: they must be positive and none may exceed the sum of the others"
    )]
    NonPhysicalInertia {
        /// Where the link starts.
        line: usize,
        /// The link.
        link: String,
        /// Its mass [kg].
        mass: f64,
        /// Its principal moments [kg m²], ascending.
        moments: [f64; 3],
    },
    /// A joint that should have limits has none.
    #[error("line {line}: joint `{joint}` states no <limit>: position, speed and effort are free")]
    NoLimit {
        /// Where the joint starts.
        line: usize,
        /// The joint.
        joint: String,
    },
    /// Both limits of a joint are equal.
    #[error("line {line}: joint `{joint}`: both limits are {position}, the joint cannot move")]
    Locked {
        /// Where the joint starts.
        line: usize,
        /// The joint.
        joint: String,
        /// The one position that is allowed [rad or m].
        position: f64,
    },
    /// A visual cannot be drawn.
    #[error("line {line}: link `{link}`: a <visual> is not shown: {problem}")]
    NotShown {
        /// Where the mistake is.
        line: usize,
        /// The link.
        link: String,
        /// What is wrong.
        problem: String,
    },
    /// A mimic joint was taken as one that moves on its own.
    #[error("line {line}: joint `{joint}` moves on its own although it mimics `{mimicked}`")]
    MimicIgnored {
        /// Where the joint starts.
        line: usize,
        /// The joint.
        joint: String,
        /// The joint that it should follow.
        mimicked: String,
    },
    /// Nothing that a joint moves has mass.
    #[error(
        "line {line}: joint `{joint}` moves no mass and has no rotor inertia: \
         the mass matrix is singular"
    )]
    MovesNoMass {
        /// Where the joint starts.
        line: usize,
        /// The joint.
        joint: String,
    },
}
