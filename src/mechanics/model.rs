//! The immutable description of a robot that every algorithm reads.

use std::collections::BTreeMap;
use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};

use crate::branch::BranchPattern;
use crate::inertia::Inertia;
use crate::placement::Placement;
use crate::shape::Collision;

/// Index of a joint, in the order of the robot file (joints that move only).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JointId(pub(crate) usize);

impl JointId {
    /// Position of the joint in `s`, `ṡ` and `τ`.
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

/// Index of a moving body: links welded together are one body, body 0 is the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(pub(crate) usize);

impl BodyId {
    /// Position of the body in tree order: parents come before children.
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// How the root link is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// Free in space: `nq = 7 + n`, `nv = 6 + n`.
    Floating,
    /// Welded to the world, root frame = world frame: `nq = nv = n`.
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
}

/// A joint that moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Name in the robot file.
    pub name: String,
    /// Kind of motion.
    pub kind: JointKind,
    /// Smallest position [rad or m]; −∞ without limit.
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

/// Motion of a body relative to its parent, along a coordinate axis of the body frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    RevoluteX,
    RevoluteY,
    RevoluteZ,
    PrismaticX,
    PrismaticY,
    PrismaticZ,
}

/// One moving body. Bodies stand in tree order; body 0 is the base and has no joint.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub(crate) parent: usize,
    /// Index into `configuration`.
    pub(crate) q_index: usize,
    /// Index into `velocity`.
    pub(crate) v_index: usize,
    pub(crate) axis: Axis,
    /// −1 if the joint turns against the coordinate axis, else 1.
    pub(crate) sign: f64,
    /// `parent_from_joint`: the body frame at joint position zero.
    pub(crate) rotation: Matrix3<f64>,
    pub(crate) offset: Vector3<f64>,
    /// `rotation` is the identity, which is the common case in robot files.
    pub(crate) unrotated: bool,
    /// In the body frame.
    pub(crate) inertia: Inertia,
    /// Mass of the body and all it carries [kg].
    pub(crate) subtree_mass: f64,
}

/// What is wrong with a value given to a model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A vector per joint has the wrong length.
    #[error("rotor inertia: expected {expected} values, one per joint, found {found}")]
    RotorInertiaLength {
        /// Number of joints.
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
    /// A name pattern matches no joint.
    #[error("rotor inertia: no joint matches `{pattern}`")]
    NoSuchJoint {
        /// The pattern given.
        pattern: String,
    },
}

/// A robot: a tree of rigid bodies on one-degree-of-freedom joints.
///
/// Built once (see [`Model::from_urdf`]), read by all algorithms, changed by none.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) name: String,
    pub(crate) base: Base,
    pub(crate) gravity: Vector3<f64>,
    pub(crate) bodies: Vec<Body>,
    pub(crate) joints: Vec<Joint>,
    /// Body that each joint moves, by joint.
    pub(crate) body_of_joint: Vec<usize>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) frame_by_name: BTreeMap<String, usize>,
    pub(crate) root_frame: FrameId,
    pub(crate) collisions: Vec<Collision>,
    pub(crate) rotor_inertia: Vec<f64>,
    pub(crate) pattern: Arc<BranchPattern>,
}

impl Model {
    /// Name of the robot.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How the root link is held.
    #[must_use]
    pub fn base(&self) -> Base {
        self.base
    }

    /// Whether the root link is free in space.
    #[must_use]
    pub fn is_floating(&self) -> bool {
        self.base == Base::Floating
    }

    /// Acceleration of free fall in world axes [m/s²].
    #[must_use]
    pub fn gravity(&self) -> Vector3<f64> {
        self.gravity
    }

    /// Number of joints n.
    #[must_use]
    pub fn joint_count(&self) -> usize {
        self.joints.len()
    }

    /// Length `nq` of a configuration.
    #[must_use]
    pub fn configuration_dim(&self) -> usize {
        self.joints.len() + if self.is_floating() { 7 } else { 0 }
    }

    /// Length `nv` of a velocity.
    #[must_use]
    pub fn velocity_dim(&self) -> usize {
        self.joints.len() + self.base_dim()
    }

    /// Velocities of the base: 6 if it floats, 0 if it is fixed. Also the offset of `ṡ` in `ν`.
    #[must_use]
    pub fn base_dim(&self) -> usize {
        if self.is_floating() { 6 } else { 0 }
    }

    /// The joints that move, in the order of the robot file.
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

    /// The body that a joint moves.
    #[must_use]
    pub fn body_of_joint(&self, joint: JointId) -> BodyId {
        BodyId(self.body_of_joint[joint.0])
    }

    /// Number of moving bodies, the base included.
    #[must_use]
    pub fn body_count(&self) -> usize {
        self.bodies.len()
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

    /// The frame of the link of this name.
    #[must_use]
    pub fn find_frame(&self, name: &str) -> Option<FrameId> {
        self.frame_by_name.get(name).copied().map(FrameId)
    }

    /// The frame of the root link.
    #[must_use]
    pub fn root_frame(&self) -> FrameId {
        self.root_frame
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
        self.bodies[0].subtree_mass
    }

    /// Inertia of the motor rotors, reflected to the joints [kg m² or kg], one per joint.
    #[must_use]
    pub fn rotor_inertia(&self) -> &[f64] {
        &self.rotor_inertia
    }

    /// The tree of velocity coordinates, which is the sparsity of the mass matrix's factor.
    #[must_use]
    pub fn pattern(&self) -> &Arc<BranchPattern> {
        &self.pattern
    }

    /// The same model with reflected rotor inertia [kg m² or kg], one value per joint, which adds
    /// to the diagonal of `M` (gear ratio squared times the rotor's own inertia).
    ///
    /// # Errors
    /// [`ModelError`] if the length is not n or a value is negative or not finite.
    pub fn with_rotor_inertia(mut self, values: &[f64]) -> Result<Self, ModelError> {
        let expected = self.joints.len();
        if values.len() != expected {
            return Err(ModelError::RotorInertiaLength { expected, found: values.len() });
        }
        for (joint, &value) in self.joints.iter().zip(values) {
            if !(value.is_finite() && value >= 0.0) {
                return Err(ModelError::RotorInertiaValue { joint: joint.name.clone(), value });
            }
        }
        self.rotor_inertia.copy_from_slice(values);
        Ok(self)
    }

    /// The same model with reflected rotor inertia [kg m² or kg] by joint name; `*` in a pattern
    /// stands for any characters, later entries win, joints not named keep their value.
    ///
    /// # Errors
    /// [`ModelError`] if a pattern matches no joint or a value is negative or not finite.
    pub fn with_named_rotor_inertia(self, entries: &[(String, f64)]) -> Result<Self, ModelError> {
        let mut values = self.rotor_inertia.clone();
        for (pattern, value) in entries {
            let mut found = false;
            for (joint, slot) in self.joints.iter().zip(&mut values) {
                if matches(pattern.as_bytes(), joint.name.as_bytes()) {
                    *slot = *value;
                    found = true;
                }
            }
            if !found {
                return Err(ModelError::NoSuchJoint { pattern: pattern.clone() });
            }
        }
        self.with_rotor_inertia(&values)
    }

    /// The same model under another gravity, in world axes [m/s²].
    #[must_use]
    pub fn with_gravity(mut self, gravity: Vector3<f64>) -> Self {
        self.gravity = gravity;
        self
    }

    /// The configuration with the base at the origin, level, and all joints at zero.
    #[must_use]
    pub fn zero_configuration(&self) -> Vec<f64> {
        let mut q = vec![0.0; self.configuration_dim()];
        if self.is_floating() {
            q[3] = 1.0;
        }
        q
    }
}

/// Whether `name` matches `pattern`, in which `*` stands for any characters. Greedy with one
/// point of return, so the cost is O(pattern × name) at worst.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if p < pattern.len() && pattern[p] == b'*' {
            star = Some((p + 1, n));
            p += 1;
        } else if p < pattern.len() && pattern[p] == name[n] {
            p += 1;
            n += 1;
        } else if let Some((after, from)) = star {
            p = after;
            n = from + 1;
            star = Some((after, from + 1));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&c| c == b'*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn star_stands_for_any_characters() {
        let yes = [("*_hip_*", "FL_hip_joint"), ("*", ""), ("a*b*c", "aXbbYc"), ("ab", "ab")];
        let no = [("*_hip", "FL_hip_joint"), ("a", ""), ("", "a"), ("a*b", "ac"), ("ab", "abc")];
        for (pattern, name) in yes {
            assert!(matches(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
        }
        for (pattern, name) in no {
            assert!(!matches(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
        }
    }
}
