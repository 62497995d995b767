//! The immutable description of robots that every algorithm reads.

mod parts;

use std::collections::BTreeMap;
use std::sync::Arc;

use nalgebra::Vector3;

use crate::body::Body;
use crate::branch::BranchPattern;
use crate::layout::Layout;
use crate::resistance::JointResistance;
use crate::rotors::Rotors;
use crate::shape::{Collision, Visual};
use crate::springs::JointSpring;
pub use parts::{
    Base, BodyId, Frame, FrameId, Joint, JointId, JointKind, Link, MimicJoint, ModelError, Tree,
};

/// A robot, or several robots and free bodies that share a world: trees of rigid bodies on joints.
///
/// Built once (see [`Model::from_urdf`] and [`Model::world`]), then immutable.
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
    /// By frame.
    pub(crate) links: Vec<Link>,
    pub(crate) collisions: Vec<Collision>,
    pub(crate) visuals: Vec<Visual>,
    pub(crate) rotors: Rotors,
    pub(crate) resistance: JointResistance,
    pub(crate) springs: Vec<JointSpring>,
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

    /// The same model whose joints have no limits of position, speed and effort.
    #[must_use]
    pub fn without_limits(mut self) -> Self {
        for joint in &mut self.joints {
            (joint.lower, joint.upper) = (f64::NEG_INFINITY, f64::INFINITY);
            (joint.velocity, joint.effort) = (f64::INFINITY, f64::INFINITY);
        }
        self
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

    /// The link behind a joint; of a joint between others, as the hinges of one body in MJCF are,
    /// the link behind the last of them.
    ///
    /// O(frames + bodies) for each joint on the way.
    ///
    /// # Panics
    /// If the joint belongs to another model.
    #[must_use]
    pub fn link_of_joint(&self, joint: JointId) -> Option<FrameId> {
        let mut body = self.joints[joint.0].body;
        loop {
            if let Some(frame) = self.frames.iter().find(|frame| frame.body == BodyId(body)) {
                return self.find_frame(&frame.name);
            }
            // Bodies stand behind those that carry them.
            let behind = self.bodies.iter().enumerate().skip(body + 1);
            body = behind.clone().find(|(_, one)| one.parent == body)?.0;
        }
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

    /// What the robot file says of each frame's link, in the order of the frames.
    #[must_use]
    pub fn links(&self) -> &[Link] {
        &self.links
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

    /// What the links look like, as far as the robot file says; no algorithm reads it.
    #[must_use]
    pub fn visuals(&self) -> &[Visual] {
        &self.visuals
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
