//! What a model consists of: trees, joints, frames, and their indices.

use std::ops::Range;

use crate::inertia::Inertia;
use crate::placement::Placement;

/// Index of a joint, in the order of the robot file (joints that move on their own only).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JointId(pub(crate) usize);

impl JointId {
    /// Position of the joint in [`Model::joints`].
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// Index of a frame: every link of the robot file is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameId(pub(crate) usize);

impl FrameId {
    /// Position of the frame in [`Model::frames`].
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// Index of a moving body: links welded together are one body, the first body of a tree is its
/// base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(pub(crate) usize);

impl BodyId {
    /// Position of the body in tree order: parents come before children.
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// How the root link of a robot is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema))]
pub enum Base {
    /// Free in space: 7 configuration and 6 velocity coordinates more than the joints'.
    #[default]
    Floating,
    /// Welded to the world.
    Fixed,
}

/// Kind of motion that a joint allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JointKind {
    /// Rotation between limits [rad].
    Revolute,
    /// Rotation without limits [rad].
    Continuous,
    /// Translation between limits [m].
    Prismatic,
    /// Motion in the plane normal to the axis: (x, y) [m] along two axes of the joint frame at
    /// rest, then the rotation about the normal [rad]. The plane's axes are the cyclic successors
    /// of a coordinate axis (normal x: y, z).
    Planar,
    /// Rotation about a point: quaternion (w, x, y, z); velocity is ω in the axes of the joint
    /// frame at rest [rad/s].
    Spherical,
    /// Free motion: position [m], quaternion (w, x, y, z); velocity is (ṗ, ω) in the axes of the
    /// joint frame at rest [m/s, rad/s].
    Floating,
}

impl JointKind {
    /// Numbers in the configuration.
    #[must_use]
    pub fn configuration_dim(self) -> usize {
        match self {
            Self::Revolute | Self::Continuous | Self::Prismatic => 1,
            Self::Planar => 3,
            Self::Spherical => 4,
            Self::Floating => 7,
        }
    }

    /// Degrees of freedom.
    #[must_use]
    pub fn velocity_dim(self) -> usize {
        match self {
            Self::Revolute | Self::Continuous | Self::Prismatic => 1,
            Self::Planar | Self::Spherical => 3,
            Self::Floating => 6,
        }
    }
}

/// A joint that moves on its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Name in the robot file.
    pub name: String,
    /// Kind of motion.
    pub kind: JointKind,
    /// Smallest position [rad or m]; −∞ without limit. Limits are those of the one coordinate of
    /// a revolute or prismatic joint; joints of more coordinates have none.
    pub lower: f64,
    /// Largest position [rad or m]; +∞ without limit.
    pub upper: f64,
    /// Largest torque [N m] or force [N]; +∞ if the file states none.
    pub effort: f64,
    /// Largest speed [rad/s or m/s]; +∞ if the file states none.
    pub velocity: f64,
    /// Viscous damping in the robot file [N m s/rad or N s/m], the same about each coordinate;
    /// what acts is [`Model::resistance`](crate::Model::resistance).
    pub damping: f64,
    /// Dry friction in the robot file [N m or N], likewise.
    pub friction: f64,
    /// First index into `configuration`.
    pub(crate) q_index: usize,
    /// First index into `velocity`.
    pub(crate) v_index: usize,
    /// The body that the joint moves, the last one of its chain.
    pub(crate) body: usize,
}

impl Joint {
    /// Range of the joint's coordinates in `q`.
    #[must_use]
    pub fn configuration_range(&self) -> Range<usize> {
        self.q_index..self.q_index + self.kind.configuration_dim()
    }

    /// Range of the joint's coordinates in `ν`.
    #[must_use]
    pub fn velocity_range(&self) -> Range<usize> {
        self.v_index..self.v_index + self.kind.velocity_dim()
    }
}

/// A joint whose position follows another's: `s = multiplier · s_joint + offset`.
#[derive(Clone, Debug, PartialEq)]
pub struct MimicJoint {
    /// Name in the robot file.
    pub name: String,
    /// The joint that it follows; never a mimic joint itself.
    pub joint: JointId,
    /// Displacement per displacement of the other joint.
    pub multiplier: f64,
    /// Displacement where the other joint is at zero [rad or m].
    pub offset: f64,
    /// Viscous damping of this joint in the robot file [N m s/rad or N s/m].
    pub damping: f64,
    /// Dry friction of this joint in the robot file [N m or N].
    pub friction: f64,
    /// The body that the joint moves.
    pub(crate) body: usize,
}

/// A named frame fixed to a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Name of the link.
    pub name: String,
    /// The body that carries the frame.
    pub body: BodyId,
    /// `body_from_frame`. Body frames are internal: they sit at the joint's origin and may be
    /// turned against the link so that the joint's axis is a coordinate axis.
    pub(crate) body_from_frame: Placement,
}

/// A link as its file describes it, before links that do not move against one another became one
/// body. Links are in the order of the frames.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The link that it is joined to; `None` for a root.
    pub parent: Option<FrameId>,
    /// Name of the joint between the two, which may be fixed.
    pub joint: Option<String>,
    /// Its own mass and inertia, in its frame.
    pub inertia: Inertia,
}

/// One robot or free body of a model: a tree of bodies on one base.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// Name of the robot.
    pub name: String,
    /// How the root link is held.
    pub base: Base,
    /// Frame of the root link.
    pub root_frame: FrameId,
    /// `world_from_root` of a fixed base; the identity for a floating one.
    pub mount: Placement,
    pub(crate) bodies: Range<usize>,
    pub(crate) joints: Range<usize>,
    pub(crate) q: Range<usize>,
    pub(crate) v: Range<usize>,
}

impl Tree {
    /// Whether the root link is free in space.
    #[must_use]
    pub fn is_floating(&self) -> bool {
        self.base == Base::Floating
    }

    /// Velocity coordinates of the base: 6 if it floats, else 0.
    #[must_use]
    pub fn base_dim(&self) -> usize {
        if self.is_floating() { 6 } else { 0 }
    }

    /// Joints of the robot among [`Model::joints`].
    #[must_use]
    pub fn joint_range(&self) -> Range<usize> {
        self.joints.clone()
    }

    /// Range of the robot's coordinates in `q`: base first, then joints.
    #[must_use]
    pub fn configuration_range(&self) -> Range<usize> {
        self.q.clone()
    }

    /// Range of the robot's coordinates in `ν`: base first, then joints.
    #[must_use]
    pub fn velocity_range(&self) -> Range<usize> {
        self.v.clone()
    }

    /// Range of the joints' coordinates in `q`.
    #[must_use]
    pub fn joint_configuration_range(&self) -> Range<usize> {
        self.q.start + if self.is_floating() { 7 } else { 0 }..self.q.end
    }

    /// Range of the joints' coordinates in `ν`.
    #[must_use]
    pub fn joint_velocity_range(&self) -> Range<usize> {
        self.v.start + self.base_dim()..self.v.end
    }
}

/// Why a value given to a model is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The chains of joints are too long.
    #[error(
        "the chains of joints are too long: bodies above each body, all added up, are {found}, \
         more than {limit}; a chain of 2047 joints has as many"
    )]
    TooDeep {
        /// Bodies above each body, added up.
        found: usize,
        /// Most that are allowed.
        limit: usize,
    },
    /// A vector per joint has the wrong length.
    #[error("rotor inertia: expected {expected} values, one per joint coordinate, found {found}")]
    RotorInertiaLength {
        /// Number of joint coordinates.
        expected: usize,
        /// Number of values given.
        found: usize,
    },
    /// A reflected inertia is negative or not a number.
    #[error("rotor inertia of joint `{joint}`: expected a finite number >= 0, found {value}")]
    RotorInertiaValue {
        /// Name of the joint.
        joint: String,
        /// The value given.
        value: f64,
    },
    /// A matrix of reflected inertias is not a valid inertia.
    #[error("rotor inertia matrix: {problem}")]
    RotorInertiaMatrix {
        /// What was expected and found.
        problem: String,
    },
    /// A name pattern matches no joint.
    #[error("rotor inertia: no joint matches `{pattern}`")]
    NoSuchJoint {
        /// The pattern given.
        pattern: String,
    },
    /// Factors of masses do not fit the links.
    #[error("mass scale: {problem}")]
    MassScale {
        /// What was expected and found.
        problem: String,
    },
    /// The parts of a world cannot be combined.
    #[error("world: {problem}")]
    World {
        /// What was expected and found.
        problem: String,
    },
}
