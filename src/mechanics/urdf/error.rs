//! What can be wrong with a robot file.

use crate::model::ModelError;

/// Why a robot file is rejected. Lines count from 1; a robot without a file has 0.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum UrdfError {
    /// The text is not well-formed XML.
    #[error("{}{problem}", at(.line))]
    Xml {
        /// Where.
        line: usize,
        /// What was expected and found.
        problem: String,
    },
    /// An element or attribute is missing, doubled or unknown.
    #[error("{}{problem}", at(.line))]
    Schema {
        /// Where the element starts.
        line: usize,
        /// What was expected and found.
        problem: String,
    },
    /// A number cannot be read or is out of its range.
    #[error("{}<{element}> {attribute}: expected {expected}, found `{found}`", at(.line))]
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
    #[error("{}a {element} named `{name}` exists already on line {first_line}", at(.line))]
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
    #[error("{}joint `{joint}`: no link is named `{link}`{}", at(.line), suggestion(.nearest))]
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
    /// A link is the child of two joints.
    #[error("{}link `{link}` is child of joint `{joint}` and of joint `{first}`", at(.line))]
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
    #[error("{}links form a cycle: {}", at(.line), .links.join(" -> "))]
    Cycle {
        /// Where the first link of the cycle starts.
        line: usize,
        /// The links of the cycle, the first one again at the end.
        links: Vec<String>,
    },
    /// The file has no link.
    #[error("expected at least one link, found none")]
    NoLinks,
    /// Joints mimic one another in a cycle.
    #[error("{}joints mimic one another in a cycle: {}", at(.line), .joints.join(" -> "))]
    MimicCycle {
        /// Where the first joint of the cycle starts.
        line: usize,
        /// The joints of the cycle, the first one again at the end.
        joints: Vec<String>,
    },
    /// The multipliers of a chain of mimic joints overflow.
    #[error(
        "{}joint `{joint}`: expected a finite multiplier and offset along the chain of \
         mimic joints, found {multiplier} and {offset}",
        at(.line)
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
        "{}joint `{joint}` has several coordinates and cannot be held at one position",
        at(.line)
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
            | Self::TwoParents { line, .. }
            | Self::Cycle { line, .. }
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

impl UrdfError {
    /// The message without the line.
    pub(crate) fn problem(&self) -> String {
        match self {
            Self::Xml { problem, .. } | Self::Schema { problem, .. } => problem.clone(),
            other => other.to_string(),
        }
    }

    /// The same error at another line, for a text that was made of another one.
    #[must_use]
    pub fn at_line(mut self, new: usize) -> Self {
        match &mut self {
            Self::Xml { line, .. }
            | Self::Schema { line, .. }
            | Self::Number { line, .. }
            | Self::DuplicateName { line, .. }
            | Self::UnknownLink { line, .. }
            | Self::TwoParents { line, .. }
            | Self::Cycle { line, .. }
            | Self::NotHeld { line, .. }
            | Self::MimicCycle { line, .. }
            | Self::MimicNotFinite { line, .. } => *line = new,
            Self::NoLinks
            | Self::TooManyJoints { .. }
            | Self::NotFinite { .. }
            | Self::NoJointToHold { .. }
            | Self::Model(_) => {}
        }
        self
    }
}

impl Warning {
    /// The line that the warning points at, from 1.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        match self {
            Self::NonPhysicalInertia { line, .. }
            | Self::NotShown { line, .. }
            | Self::NoLimit { line, .. }
            | Self::Locked { line, .. }
            | Self::MimicIgnored { line, .. }
            | Self::MimicUnusable { line, .. }
            | Self::OtherRoots { line, .. }
            | Self::MovesNoMass { line, .. } => Some(*line),
            Self::NotUsed { .. } => None,
        }
    }

    /// The same warning at other lines, for a text that was made of another one.
    #[must_use]
    pub fn at_lines(mut self, new: impl Fn(usize) -> usize) -> Self {
        match &mut self {
            Self::NonPhysicalInertia { line, .. }
            | Self::NotShown { line, .. }
            | Self::NoLimit { line, .. }
            | Self::Locked { line, .. }
            | Self::MimicIgnored { line, .. }
            | Self::MimicUnusable { line, .. }
            | Self::OtherRoots { line, .. }
            | Self::MovesNoMass { line, .. } => *line = new(*line),
            Self::NotUsed { what } => what.iter_mut().for_each(|what| what.line = new(what.line)),
        }
        self
    }
}

/// Begins a message with its line, if it has one.
fn at(line: &usize) -> String {
    if *line == 0 { String::new() } else { format!("line {line}: ") }
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
        "{}link `{link}`: no body of {mass} kg has principal moments \
         {:?} kg m²: they must be positive and none may exceed the sum of the others{}",
        at(.line),
        .moments.map(rounded), beside("link", .others)
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
        /// Other links of which the same holds.
        others: Vec<String>,
    },
    /// A joint that should have limits has none.
    #[error(
        "{}joint `{joint}` states no <limit>: position, speed and effort are free{}",
        at(.line),
        beside("joint", .others)
    )]
    NoLimit {
        /// Where the joint starts.
        line: usize,
        /// The joint.
        joint: String,
        /// Other joints of which the same holds.
        others: Vec<String>,
    },
    /// Both limits of a joint are equal.
    #[error("{}joint `{joint}`: both limits are {position}, the joint cannot move", at(.line))]
    Locked {
        /// Where the joint starts.
        line: usize,
        /// The joint.
        joint: String,
        /// The one position that is allowed [rad or m].
        position: f64,
    },
    /// A visual cannot be drawn.
    #[error("{}link `{link}`: a <visual> is not shown: {problem}", at(.line))]
    NotShown {
        /// Where the mistake is.
        line: usize,
        /// The link.
        link: String,
        /// What is wrong.
        problem: String,
    },
    /// A mimic joint was taken as one that moves on its own.
    #[error("{}joint `{joint}` moves on its own although it mimics `{mimicked}`", at(.line))]
    MimicIgnored {
        /// Where the joint starts.
        line: usize,
        /// The joint.
        joint: String,
        /// The joint that it should follow.
        mimicked: String,
    },
    /// A joint mimics one that cannot be followed, or cannot follow: its `<mimic>` is not used.
    #[error("{}joint `{joint}`: its <mimic> of `{mimicked}` is not used: {why}", at(.line))]
    MimicUnusable {
        /// Where the joint starts.
        line: usize,
        /// The joint.
        joint: String,
        /// The joint that it should follow.
        mimicked: String,
        /// What is wrong with one of both.
        why: String,
    },
    /// Links that no joint connects to the robot: the largest tree is read.
    #[error(
        "{}the file has several robots: the one of root link `{root}` is read, \
         {} not: {}",
        at(.line), .left_out.len(), .left_out.join(", ")
    )]
    OtherRoots {
        /// Where the first root that is left out starts.
        line: usize,
        /// Root of the tree that is read.
        root: String,
        /// Roots of the others.
        left_out: Vec<String>,
    },
    /// What describes more than this model has.
    #[error("not used: {}", list(.what))]
    NotUsed {
        /// Elements and attributes, by name.
        what: Vec<NotUsed>,
    },
    /// Nothing that a joint moves has mass.
    #[error(
        "{}joint `{joint}` moves no mass and has no rotor inertia: \
         the mass matrix is singular; weld the joint or give it rotor inertia{}",
        at(.line),
        beside("joint", .others)
    )]
    MovesNoMass {
        /// Where the joint starts.
        line: usize,
        /// The joint.
        joint: String,
        /// Other joints of which the same holds.
        others: Vec<String>,
    },
}

impl Warning {
    /// The name that the warning is about and where those of others go, if one warning can be about
    /// several.
    fn names(&mut self) -> Option<(&str, &mut Vec<String>)> {
        match self {
            Self::NonPhysicalInertia { link: name, others, .. }
            | Self::NoLimit { joint: name, others, .. }
            | Self::MovesNoMass { joint: name, others, .. } => Some((name, others)),
            _ => None,
        }
    }
}

/// The warnings, with one in place of several that say the same of several links or joints.
pub(super) fn gathered(warnings: Vec<Warning>) -> Vec<Warning> {
    let mut out: Vec<Warning> = Vec::new();
    for mut warning in warnings {
        let kind = std::mem::discriminant(&warning);
        let first = out.iter_mut().find(|known| std::mem::discriminant(*known) == kind);
        match (first.and_then(Warning::names), warning.names()) {
            (Some((_, others)), Some((name, _))) => others.push(name.to_owned()),
            _ => out.push(warning),
        }
    }
    out
}

/// Says that the same holds of others.
fn beside(noun: &str, others: &[String]) -> String {
    let mut names: Vec<String> =
        others.iter().take(MOST_NAMES).map(|name| format!("`{name}`")).collect();
    if others.len() > MOST_NAMES {
        names.push(format!("{} more", others.len() - MOST_NAMES));
    }
    match others.len() {
        0 => String::new(),
        1 => format!("; so for the {noun} {}", names[0]),
        count => format!("; so for {count} other {noun}s: {}", names.join(", ")),
    }
}

/// With four digits.
fn rounded(x: f64) -> f64 {
    format!("{x:.3e}").parse().unwrap_or(x)
}

/// An element or attribute of a robot file that nothing reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotUsed {
    /// As `<transmission>`, or `K of <dynamics>`.
    pub name: String,
    /// How often it occurs.
    pub count: usize,
    /// Where it occurs first.
    pub line: usize,
}

/// Kinds that a message lists at most.
const MOST_NAMES: usize = 24;

fn list(what: &[NotUsed]) -> String {
    let mut names: Vec<String> = what
        .iter()
        .take(MOST_NAMES)
        .map(|NotUsed { name, count, line }| match count {
            _ if *line == 0 => name.clone(),
            1 => format!("{name} (line {line})"),
            _ => format!("{name} ({count}, first on line {line})"),
        })
        .collect();
    if what.len() > MOST_NAMES {
        names.push(format!("{} more kinds", what.len() - MOST_NAMES));
    }
    names.join(", ")
}
