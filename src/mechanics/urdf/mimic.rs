//! Chains of mimic joints: `s = m s' + b`, and `s'` may follow another joint in turn.

use super::error::{UrdfError, Warning};
use super::graph::Graph;
use super::source::{Robot, kind_of, resistance_of};
use crate::model::JointKind;
use crate::names::nearest;

/// What a joint follows in the end: `s = multiplier · s_joint + offset`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    /// Index in the file; moves on its own.
    pub(super) joint: usize,
    pub(super) multiplier: f64,
    pub(super) offset: f64,
}

/// The law of every joint of the file that mimics another.
pub(super) fn laws(robot: &Robot<'_>, graph: &Graph<'_>) -> Result<Vec<Option<Law>>, UrdfError> {
    (0..robot.joints.len()).map(|joint| law(robot, graph, joint)).collect()
}

fn law(robot: &Robot<'_>, graph: &Graph<'_>, joint: usize) -> Result<Option<Law>, UrdfError> {
    let mut law = Law { joint, multiplier: 1.0, offset: 0.0 };
    let mut steps = 0;
    while let Some((next, multiplier, offset)) = step(robot, graph, law.joint) {
        law.offset += law.multiplier * offset;
        law.multiplier *= multiplier;
        law.joint = next;
        steps += 1;
        if steps > robot.joints.len() {
            return Err(ring(robot, graph, next));
        }
    }
    // Its damping must be finite where it acts, too.
    let own = &robot.joints[joint];
    let (damping, friction) = resistance_of(own);
    let squared = if damping > 0.0 { law.multiplier * law.multiplier } else { 0.0 };
    let load = squared * damping + law.multiplier * friction;
    if !(law.multiplier.is_finite() && law.offset.is_finite() && load.is_finite()) {
        return Err(UrdfError::MimicNotFinite {
            line: robot.joints[joint].line,
            joint: robot.joints[joint].name.clone(),
            multiplier: law.multiplier,
            offset: law.offset,
        });
    }
    Ok((steps > 0).then_some(law))
}

/// The joint that a joint names and can follow, with multiplier and offset.
fn step(robot: &Robot<'_>, graph: &Graph<'_>, joint: usize) -> Option<(usize, f64, f64)> {
    let own = &robot.joints[joint];
    let mimic = own.mimic.as_ref()?;
    let &next = graph.joints.get(mimic.joint.as_str())?;
    let can = not_coupled(own).is_none() && not_coupled(&robot.joints[next]).is_none();
    can.then_some((next, mimic.multiplier.unwrap_or(1.0), mimic.offset.unwrap_or(0.0)))
}

/// Joints whose wrong names are compared with all others, which takes its time.
const MOST_COMPARED: usize = 8;

/// Warns of joints that cannot follow the one that they name, and says by joint which those are.
pub(super) fn unusable(
    robot: &Robot<'_>,
    graph: &Graph<'_>,
    warnings: &mut Vec<Warning>,
) -> Vec<bool> {
    let mut compared = 0;
    let joints = robot.joints.iter().enumerate().map(|(i, own)| {
        let Some(mimic) = own.mimic.as_ref().filter(|_| step(robot, graph, i).is_none()) else {
            return false;
        };
        let why = match graph.joints.get(mimic.joint.as_str()) {
            Some(&next) => {
                let both = [own, &robot.joints[next]];
                let wrong = both.iter().find_map(|j| Some((&j.name, not_coupled(j)?)));
                wrong.map_or_else(String::new, |(name, kind)| format!("`{name}` is {kind}"))
            }
            None => {
                compared += 1;
                let near = match compared <= MOST_COMPARED {
                    true => nearest(&mimic.joint, graph.joints.keys()),
                    false => None,
                };
                let hint =
                    near.map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
                format!("no joint has that name{hint}")
            }
        };
        let (joint, mimicked) = (own.name.clone(), mimic.joint.clone());
        warnings.push(Warning::MimicUnusable { line: own.line, joint, mimicked, why });
        true
    });
    joints.collect()
}

/// Why a joint of this type neither mimics nor is mimicked.
fn not_coupled(joint: &urdf_rs::Joint) -> Option<&'static str> {
    match kind_of(joint) {
        Some(JointKind::Revolute | JointKind::Continuous | JointKind::Prismatic) => None,
        None => Some("fixed"),
        Some(JointKind::Floating) => Some("floating"),
        Some(JointKind::Planar) => Some("planar"),
        Some(JointKind::Spherical) => Some("spherical"),
    }
}

/// The cycle that contains `inside`, starting at its first joint in the file.
fn ring(robot: &Robot<'_>, graph: &Graph<'_>, inside: usize) -> UrdfError {
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
