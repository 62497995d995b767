//! The immutable description of robots that every algorithm reads.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use nalgebra::Vector3;

use crate::body::Body;
use crate::branch::BranchPattern;
use crate::layout::Layout;
use crate::placement::Placement;
use crate::rotors::Rotors;
use crate::shape::Collision;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// Free in space: 7 configuration and 6 velocity coordinates more than the joints'.
    Floating,
    /// Welded to the world.
    Fixed,
}

/// What a joint does.
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
    /// Viscous damping [N m s/rad or N s/m]. Recorded; no algorithm here adds it.
    pub damping: f64,
    /// Dry friction [N m or N]. Recorded; no algorithm here adds it.
    pub friction: f64,
    /// First index into `configuration`.
    pub(crate) q_index: usize,
    /// First index into `velocity`.
    pub(crate) v_index: usize,
    /// The body that the joint moves, the last one of its chain.
    pub(crate) body: usize,
}

impl Joint {
    /// Where the joint's numbers stand in `q`.
    #[must_use]
    pub fn configuration_range(&self) -> Range<usize> {
        self.q_index..self.q_index + self.kind.configuration_dim()
    }

    /// Where the joint's numbers stand in `ν`.
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

    /// Where the robot's numbers stand in `q`: base first, then joints.
    #[must_use]
    pub fn configuration_range(&self) -> Range<usize> {
        self.q.clone()
    }

    /// Where the robot's numbers stand in `ν`: base first, then joints.
    #[must_use]
    pub fn velocity_range(&self) -> Range<usize> {
        self.v.clone()
    }

    /// Where the joints' numbers stand in `q`.
    #[must_use]
    pub fn joint_configuration_range(&self) -> Range<usize> {
        self.q.start + if self.is_floating() { 7 } else { 0 }..self.q.end
    }

    /// Where the joints' numbers stand in `ν`.
    #[must_use]
    pub fn joint_velocity_range(&self) -> Range<usize> {
        self.v.start + self.base_dim()..self.v.end
    }
}

/// What is wrong with a value given to a model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
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
    /// A matrix of reflected inertias is no inertia.
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
    /// The parts of a world cannot stand together.
    #[error("world: {problem}")]
    World {
        /// What was expected and found.
        problem: String,
    },
}

/// A robot, or several robots and free bodies that share a world: trees of rigid bodies on joints.
///
/// Built once (see [`Model::from_urdf`] and [`Model::world`]), read by all algorithms, changed by
/// none.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) name: String,
    pub(crate) gravity: Vector3<f64>,
    pub(crate) trees: Vec<Tree>,
    pub(crate) bodies: Vec<Body>,
    pub(crate) joints: Vec<Joint>,
    pub(crate) mimics: Vec<MimicJoint>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) frame_by_name: BTreeMap<String, usize>,
    pub(crate) collisions: Vec<Collision>,
    pub(crate) rotors: Rotors,
    pub(crate) pattern: Arc<BranchPattern>,
    /// Bodies in groups of four.
    pub(crate) layout: Arc<Layout>,
    /// Index into `velocity` of each of the n joint coordinates.
    pub(crate) joint_velocities: Vec<usize>,
    /// First index into `q` and into `ν` of every unit quaternion.
    pub(crate) quaternions: Vec<(usize, usize)>,
    /// Made by [`Model::world`]: names begin with the robot's.
    pub(crate) world: bool,
    /// Bodies share coordinates, or rotors couple branches: `M` is more than the tree.
    pub(crate) coupled: bool,
}

impl Model {
    /// Name of the robot or world.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The robots and free bodies, in the order in which `q` and `ν` stack them. One, unless the
    /// model was made by [`Model::world`].
    #[must_use]
    pub fn trees(&self) -> &[Tree] {
        &self.trees
    }

    /// Acceleration of free fall in world axes [m/s²].
    #[must_use]
    pub fn gravity(&self) -> Vector3<f64> {
        self.gravity
    }

    /// Length `nq` of a configuration.
    #[must_use]
    pub fn configuration_dim(&self) -> usize {
        self.trees.last().map_or(0, |tree| tree.q.end)
    }

    /// Length `nv` of a velocity.
    #[must_use]
    pub fn velocity_dim(&self) -> usize {
        self.trees.last().map_or(0, |tree| tree.v.end)
    }

    /// Number n of joint coordinates: the length of `ṡ` and `τ`. It is the number of joints if
    /// all of them have one degree of freedom.
    #[must_use]
    pub fn joint_dim(&self) -> usize {
        self.joint_velocities.len()
    }

    /// Length of `s`: n, and one more for every spherical or floating joint.
    #[must_use]
    pub fn joint_configuration_dim(&self) -> usize {
        self.trees.iter().map(|tree| tree.joint_configuration_range().len()).sum()
    }

    /// Index into `ν` of each of the n joint coordinates: `S` of the equation of motion.
    #[must_use]
    pub fn joint_velocity_indices(&self) -> &[usize] {
        &self.joint_velocities
    }

    /// The joints that move on their own, in the order of the robot file.
    #[must_use]
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// A joint.
    ///
    /// # Panics
    /// If the joint belongs to another model.
    #[must_use]
    pub fn joint(&self, joint: JointId) -> &Joint {
        &self.joints[joint.0]
    }

    /// The joint of this name.
    #[must_use]
    pub fn find_joint(&self, name: &str) -> Option<JointId> {
        self.joints.iter().position(|joint| joint.name == name).map(JointId)
    }

    /// The joints that follow others.
    #[must_use]
    pub fn mimic_joints(&self) -> &[MimicJoint] {
        &self.mimics
    }

    /// The body that a joint moves.
    #[must_use]
    pub fn body_of_joint(&self, joint: JointId) -> BodyId {
        BodyId(self.joints[joint.0].body)
    }

    /// Number of moving bodies, the bases included, and the massless ones between the coordinates
    /// of a planar, spherical or floating joint.
    #[must_use]
    pub fn body_count(&self) -> usize {
        self.bodies.len()
    }

    /// The tree of a frame, as an index into [`trees`](Self::trees).
    ///
    /// # Panics
    /// If the frame belongs to another model.
    #[must_use]
    pub fn tree_of_frame(&self, frame: FrameId) -> usize {
        self.bodies[self.frames[frame.0].body.0].tree
    }

    /// The frames: every link in the order of the robot file.
    #[must_use]
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// A frame.
    ///
    /// # Panics
    /// If the frame belongs to another model.
    #[must_use]
    pub fn frame(&self, frame: FrameId) -> &Frame {
        &self.frames[frame.0]
    }

    /// The frame of the link of this name; in a world `robot/link`.
    #[must_use]
    pub fn find_frame(&self, name: &str) -> Option<FrameId> {
        self.frame_by_name.get(name).copied().map(FrameId)
    }

    /// The frame of the root link of the first tree.
    ///
    /// # Panics
    /// If the model is a world without robots.
    #[must_use]
    pub fn root_frame(&self) -> FrameId {
        self.trees[0].root_frame
    }

    /// Collision shapes of all links.
    #[must_use]
    pub fn collisions(&self) -> &[Collision] {
        &self.collisions
    }

    /// Collision shapes of one link.
    pub fn collisions_of(&self, link: FrameId) -> impl Iterator<Item = &Collision> {
        self.collisions.iter().filter(move |collision| collision.link == link)
    }

    /// Mass of all bodies that can move [kg]: the root body of a fixed base is left out.
    #[must_use]
    pub fn total_mass(&self) -> f64 {
        self.trees.iter().map(|tree| self.bodies[tree.bodies.start].subtree_mass).sum()
    }

    /// Inertia of the motor rotors reflected to the joints.
    #[must_use]
    pub fn rotors(&self) -> &Rotors {
        &self.rotors
    }

    /// The tree of velocity coordinates, which is the sparsity of the mass matrix's factor.
    #[must_use]
    pub fn pattern(&self) -> &Arc<BranchPattern> {
        &self.pattern
    }

    /// Whether mimic joints or a matrix of reflected inertias couple the branches of the trees.
    #[must_use]
    pub fn is_coupled(&self) -> bool {
        self.coupled
    }

    /// Name of each of the n joint coordinates: that of the joint, with a suffix (`.x`, `.wz`) if
    /// the joint has several.
    pub fn joint_velocity_names(&self) -> impl Iterator<Item = &str> {
        self.joint_velocities.iter().map(|&k| self.pattern.name(k))
    }

    /// Name of each number of `s`: that of the joint, with a suffix (`.x`, `.qw`) if the joint has
    /// several.
    pub fn joint_configuration_names(&self) -> impl Iterator<Item = String> {
        self.joints.iter().flat_map(|joint| {
            let suffixes: &[&str] = match joint.kind {
                JointKind::Revolute | JointKind::Continuous | JointKind::Prismatic => &[""],
                JointKind::Planar => &[".x", ".y", ".angle"],
                JointKind::Spherical => &[".qw", ".qx", ".qy", ".qz"],
                JointKind::Floating => &[".x", ".y", ".z", ".qw", ".qx", ".qy", ".qz"],
            };
            suffixes.iter().map(|suffix| format!("{}{suffix}", joint.name))
        })
    }

    /// First index into `q` of every unit quaternion, with the first index into `ν` of its
    /// angular velocity.
    #[must_use]
    pub fn quaternions(&self) -> &[(usize, usize)] {
        &self.quaternions
    }

    /// The same model under another gravity, in world axes [m/s²].
    #[must_use]
    pub fn with_gravity(mut self, gravity: Vector3<f64>) -> Self {
        self.gravity = gravity;
        self
    }

    /// The configuration with the bases at the origin, level, and all joints at zero.
    #[must_use]
    pub fn zero_configuration(&self) -> Vec<f64> {
        let mut q = vec![0.0; self.configuration_dim()];
        for &(at, _) in &self.quaternions {
            q[at] = 1.0;
        }
        q
    }
}
