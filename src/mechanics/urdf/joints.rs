//! What each joint of the file does: kind, coordinates, limits, and what it follows.

use urdf_rs::JointLimit;

use super::error::{UrdfError, Warning};
use super::graph::Graph;
use super::mimic::{self, Law};
use super::source::{self, Robot, kind_of, resistance_of};
use super::{MimicJoints, Options};
use crate::model::{Base, Joint, JointId, JointKind, MimicJoint};
use crate::rotors::matches;

/// Most degrees of freedom of all joints. The factor of a single chain has n²/2 entries.
const MAX_FREEDOMS: usize = 4096;

/// How the child link of a joint moves against the parent link.
#[derive(Clone, Copy)]
pub(super) enum Motion {
    /// Not at all; held at this position [rad or m] if it could move.
    Welded(f64),
    /// By the coordinates of a joint, an index into [`Joints::own`].
    Own(usize),
    /// As another joint does, an index into [`Joints::mimics`].
    Mimic(usize),
}

/// The joints of a file.
pub(super) struct Joints {
    /// Those with coordinates of their own, in the order of the file.
    pub(super) own: Vec<Joint>,
    /// Line of each of them.
    pub(super) lines: Vec<usize>,
    /// Those that follow others, in the order of the file.
    pub(super) mimics: Vec<MimicJoint>,
    /// By joint of the file.
    pub(super) motions: Vec<Motion>,
    /// By joint of the file: whether it could move and is held.
    pub(super) is_held: Vec<bool>,
    /// By joint of the file; `None` for a fixed one.
    pub(super) kinds: Vec<Option<JointKind>>,
    /// Length of a configuration, base included.
    pub(super) configuration_dim: usize,
    /// Length of a velocity, base included.
    pub(super) velocity_dim: usize,
}

impl Joints {
    pub(super) fn new(
        robot: &Robot<'_>,
        graph: &Graph<'_>,
        options: &Options,
        warnings: &mut Vec<Warning>,
    ) -> Result<Self, UrdfError> {
        let kinds: Vec<_> = robot.joints.iter().map(|joint| kind_of(joint)).collect();
        let found = kinds.iter().flatten().fold(0, |sum, kind| sum + kind.velocity_dim());
        if found > MAX_FREEDOMS {
            return Err(UrdfError::TooManyJoints { found, limit: MAX_FREEDOMS });
        }
        let is_unusable = mimic::unusable(robot, graph, warnings);
        let laws = match options.mimic {
            MimicJoints::Coupled => mimic::laws(robot, graph)?,
            MimicJoints::Independent => vec![None; robot.joints.len()],
        };
        let (configuration_dim, velocity_dim) = match options.base {
            Base::Floating => (7, 6),
            Base::Fixed => (0, 0),
        };
        let mut joints = Self {
            own: Vec::new(),
            lines: Vec::new(),
            mimics: Vec::new(),
            motions: vec![Motion::Welded(0.0); robot.joints.len()],
            is_held: vec![false; robot.joints.len()],
            kinds,
            configuration_dim,
            velocity_dim,
        };
        let held = held(robot, &joints.kinds, options)?;
        for (i, joint) in robot.joints.iter().enumerate() {
            let followed = laws[i].as_ref().and_then(|law| {
                held[law.joint].map(|position| law.multiplier * position + law.offset)
            });
            if let Some(position) = held[i].or(followed) {
                joints.motions[i] = Motion::Welded(position);
                joints.is_held[i] = true;
                continue;
            }
            let (Some(kind), None) = (joints.kinds[i], &laws[i]) else { continue };
            joints.motions[i] = Motion::Own(joints.own.len());
            let is_independent = options.mimic == MimicJoints::Independent && !is_unusable[i];
            joints.add(joint, kind, is_independent, warnings)?;
        }
        joints.add_mimics(robot, &laws)?;
        Ok(joints)
    }

    /// Adds a joint that moves on its own.
    fn add(
        &mut self,
        joint: &source::Joint<'_>,
        kind: JointKind,
        is_independent: bool,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), UrdfError> {
        let line = joint.line;
        if let Some(mimic) = joint.mimic.as_ref().filter(|_| is_independent) {
            warnings.push(Warning::MimicIgnored {
                line,
                joint: joint.name.clone(),
                mimicked: mimic.joint.clone(),
            });
        }
        let limit = limits(joint, kind)?;
        if matches!(kind, JointKind::Revolute | JointKind::Prismatic) {
            let name = joint.name.clone();
            if !joint.is_limited {
                warnings.push(Warning::NoLimit { line, joint: name, others: Vec::new() });
            } else if limit.lower == limit.upper {
                warnings.push(Warning::Locked { line, joint: name, position: limit.lower });
            }
        }
        let (damping, friction) = resistance_of(joint);
        self.own.push(Joint {
            name: joint.name.clone(),
            kind,
            lower: limit.lower,
            upper: limit.upper,
            effort: limit.effort,
            velocity: limit.velocity,
            damping,
            friction,
            q_index: self.configuration_dim,
            v_index: self.velocity_dim,
            // Known when the tree is laid out.
            body: 0,
        });
        self.lines.push(line);
        self.configuration_dim += kind.configuration_dim();
        self.velocity_dim += kind.velocity_dim();
        Ok(())
    }

    /// Adds the joints that follow others, all of which are known by now.
    fn add_mimics(&mut self, robot: &Robot<'_>, laws: &[Option<Law>]) -> Result<(), UrdfError> {
        for (i, (joint, law)) in robot.joints.iter().zip(laws).enumerate() {
            let (Some(law), Some(kind)) = (law, self.kinds[i]) else { continue };
            if self.is_held[i] {
                continue;
            }
            let Motion::Own(followed) = self.motions[law.joint] else { continue };
            limits(joint, kind)?;
            let (damping, friction) = resistance_of(joint);
            self.motions[i] = Motion::Mimic(self.mimics.len());
            self.mimics.push(MimicJoint {
                name: joint.name.clone(),
                joint: JointId(followed),
                multiplier: law.multiplier,
                offset: law.offset,
                damping,
                friction,
                // Known when the tree is laid out.
                body: 0,
            });
        }
        Ok(())
    }
}

/// By joint of the file: where it is held, if it is.
fn held(
    robot: &Robot<'_>,
    kinds: &[Option<JointKind>],
    options: &Options,
) -> Result<Vec<Option<f64>>, UrdfError> {
    let mut held = vec![None; robot.joints.len()];
    for (pattern, position) in &options.welded {
        let mut found = false;
        for (i, joint) in robot.joints.iter().enumerate() {
            let Some(kind) = kinds[i] else { continue };
            if !matches(pattern.as_bytes(), joint.name.as_bytes()) {
                continue;
            }
            found = true;
            if !matches!(kind, JointKind::Revolute | JointKind::Continuous | JointKind::Prismatic) {
                let (line, joint) = (joint.line, joint.name.clone());
                return Err(UrdfError::NotHeld { line, joint });
            }
            held[i] = Some(*position);
        }
        if !found {
            return Err(UrdfError::NoJointToHold { pattern: pattern.clone() });
        }
    }
    Ok(held)
}

/// The limits of a joint; infinite where the file states none or the kind has none.
fn limits(joint: &source::Joint<'_>, kind: JointKind) -> Result<JointLimit, UrdfError> {
    let none = JointLimit {
        lower: f64::NEG_INFINITY,
        upper: f64::INFINITY,
        effort: f64::INFINITY,
        velocity: f64::INFINITY,
        ..JointLimit::default()
    };
    let mut limit = if joint.is_limited { joint.limit.clone() } else { none.clone() };
    if !matches!(kind, JointKind::Revolute | JointKind::Prismatic) {
        (limit.lower, limit.upper) = (none.lower, none.upper);
    }
    if limit.lower > limit.upper {
        let (lower, upper) = (limit.lower, limit.upper);
        let problem =
            format!("joint `{}`: expected lower <= upper, found {lower} > {upper}", joint.name);
        return Err(UrdfError::Schema { line: joint.line, problem });
    }
    Ok(limit)
}
