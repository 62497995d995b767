//! Chains of mimic joints: `s = m s' + b`, and `s'` may follow another joint in turn.

use super::error::UrdfError;
use super::graph::Graph;
use super::robot::Robot;
use crate::model::JointKind;

/// What a joint follows in the end: `s = multiplier · s_joint + offset`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    /// Index in the file; moves on its own.
    pub(super) joint: usize,
    pub(super) multiplier: f64,
    pub(super) offset: f64,
}

/// The law of every joint of the file that mimics another.
pub(super) fn laws(robot: &Robot, graph: &Graph<'_>) -> Result<Vec<Option<Law>>, UrdfError> {
    (0..robot.joints.len()).map(|joint| law(robot, graph, joint)).collect()
}

fn law(robot: &Robot, graph: &Graph<'_>, joint: usize) -> Result<Option<Law>, UrdfError> {
    let mut law = Law { joint, multiplier: 1.0, offset: 0.0 };
    let mut steps = 0;
    while let Some((next, multiplier, offset)) = step(robot, graph, law.joint) {
        for wrong in [law.joint, next] {
            if let Some(kind) = not_coupled(robot.joints[wrong].kind) {
                return Err(UrdfError::MimicKind {
                    line: robot.joints[law.joint].line,
                    joint: robot.joints[law.joint].name.clone(),
                    mimicked: robot.joints[next].name.clone(),
                    wrong: robot.joints[wrong].name.clone(),
                    kind,
                });
            }
        }
        law.offset += law.multiplier * offset;
        law.multiplier *= multiplier;
        law.joint = next;
        steps += 1;
        if steps > robot.joints.len() {
            return Err(ring(robot, graph, next));
        }
    }
    if !(law.multiplier.is_finite() && law.offset.is_finite()) {
        return Err(UrdfError::MimicNotFinite {
            line: robot.joints[joint].line,
            joint: robot.joints[joint].name.clone(),
            multiplier: law.multiplier,
            offset: law.offset,
        });
    }
    Ok((steps > 0).then_some(law))
}

/// The joint that a joint names, with multiplier and offset. All names are known by now.
fn step(robot: &Robot, graph: &Graph<'_>, joint: usize) -> Option<(usize, f64, f64)> {
    let mimic = robot.joints[joint].mimic.as_ref()?;
    let next = graph.joints.get(mimic.joint.as_str())?;
    Some((*next, mimic.multiplier, mimic.offset))
}

/// Why a joint of this type neither mimics nor is mimicked.
fn not_coupled(kind: Option<JointKind>) -> Option<&'static str> {
    match kind {
        Some(JointKind::Revolute | JointKind::Continuous | JointKind::Prismatic) => None,
        None => Some("fixed"),
        Some(JointKind::Floating) => Some("floating"),
        Some(JointKind::Planar) => Some("planar"),
        Some(JointKind::Spherical) => Some("spherical"),
    }
}

/// The cycle that contains `inside`, starting at its first joint in the file.
fn ring(robot: &Robot, graph: &Graph<'_>, inside: usize) -> UrdfError {
    let mut members = vec![inside];
    let mut at = inside;
    while let Some((next, ..)) = step(robot, graph, at)
        && next != inside
    {
        members.push(next);
        at = next;
    }
    let first = members.iter().enumerate().min_by_key(|(_, joint)| **joint).map_or(0, |(i, _)| i);
    members.rotate_left(first);
    members.push(members[0]);
    UrdfError::MimicCycle {
        line: robot.joints[members[0]].line,
        joints: members.iter().map(|&joint| robot.joints[joint].name.clone()).collect(),
    }
}
