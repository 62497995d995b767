//! Which pairs of links may touch.

use std::collections::BTreeSet;

use legwork_block::quantity::name_matches;
use legwork_block::{Invalid, Value};
use legwork_contact::collision::{Manifold, Pose, collide};
use legwork_mechanics::{Kinematics, Model, world_from_frame};

use super::Collisions;
use super::solids::Link;
use crate::robot::model::RobotModel;

/// What the ground is called.
const GROUND: &str = "ground";
/// Pairs that a warning lists at most.
const MOST_NAMES: usize = 8;

/// Pairs of indices of links, and the links that touch ground.
///
/// # Errors
/// If a pattern fits no link.
pub(super) fn pairs(
    block: &Collisions,
    robot: &RobotModel,
    links: &[Link],
    doubts: &mut Vec<Invalid>,
) -> Result<(Vec<[usize; 2]>, Vec<usize>), Invalid> {
    let model = &robot.model;
    let name = |link: &Link| model.frame(link.frame).name.as_str();
    let names: Vec<&str> = links.iter().map(name).collect();
    let between = block.between.as_ref().map(|list| rules("between", list, &names)).transpose()?;
    let exclude = rules("exclude", &block.exclude, &names)?;
    let of_file = excluded_by_file(robot);
    let joined = joined(model);

    let mut pairs = Vec::new();
    for (j, second) in links.iter().enumerate() {
        for (i, first) in links[..j].iter().enumerate() {
            let bodies = [first, second].map(|link| model.frame(link.frame).body);
            let is_one_robot =
                model.tree_of_frame(first.frame) == model.tree_of_frame(second.frame);
            let is_apart = bodies[0] != bodies[1] && !joined.contains(&(bodies[0], bodies[1]));
            let may = !is_one_robot || (block.self_collision && is_apart);
            let names = [names[i], names[j]];
            let is_named = |rules: &[[&str; 2]]| rules.iter().any(|rule| fits(rule, names));
            let is_left_out =
                of_file.iter().any(|[a, b]| [[a.as_str(), b], [b, a]].contains(&names));
            if may
                && between.as_ref().is_none_or(|rules| is_named(rules))
                && !is_named(&exclude)
                && !is_left_out
            {
                pairs.push([i, j]);
            }
        }
    }
    let overlapping = overlapping(model, links, &pairs);
    if !overlapping.is_empty() {
        let mut text = Vec::new();
        for [i, j] in overlapping.iter().take(MOST_NAMES) {
            text.push(format!("`{}` and `{}`", names[*i], names[*j]));
        }
        let more = match overlapping.len().saturating_sub(MOST_NAMES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let message = format!(
            "pairs are left out that overlap with all joints at zero: {}{more}",
            text.join(", ")
        );
        doubts.push(Invalid::parameter("self_collision", message));
        pairs.retain(|pair| !overlapping.contains(pair));
    }
    let ground = |i: &usize| {
        let names = [names[*i], GROUND];
        let is_named = |rules: &[[&str; 2]]| rules.iter().any(|rule| fits(rule, names));
        between.as_ref().is_none_or(|rules| is_named(rules)) && !is_named(&exclude)
    };
    Ok((pairs, (0..links.len()).filter(ground).collect()))
}

/// The rules as texts, each of whose patterns fits a link or the ground.
fn rules<'r>(
    parameter: &str,
    list: &'r [[String; 2]],
    names: &[&str],
) -> Result<Vec<[&'r str; 2]>, Invalid> {
    for pattern in list.iter().flatten() {
        let fits = |name: &&str| name_matches(pattern, name);
        if pattern != GROUND && !names.iter().any(fits) {
            let known = names.join(", ");
            let message = format!("expected links with collision shapes, found `{pattern}`");
            return Err(Invalid::parameter(parameter, message).hint(format!("they are: {known}")));
        }
    }
    Ok(list.iter().map(|[a, b]| [a.as_str(), b.as_str()]).collect())
}

fn fits([a, b]: &[&str; 2], [first, second]: [&str; 2]) -> bool {
    (name_matches(a, first) && name_matches(b, second))
        || (name_matches(a, second) && name_matches(b, first))
}

/// Pairs of bodies with a joint between them, in both orders.
fn joined(model: &Model) -> BTreeSet<(legwork_mechanics::BodyId, legwork_mechanics::BodyId)> {
    let mut joined = BTreeSet::new();
    for (frame, link) in model.frames().iter().zip(model.links()) {
        if let Some(parent) = link.parent {
            let other = model.frame(parent).body;
            joined.insert((frame.body, other));
            joined.insert((other, frame.body));
        }
    }
    joined
}

/// Links whose contact files of MuJoCo exclude, as they are called here.
fn excluded_by_file(robot: &RobotModel) -> Vec<[String; 2]> {
    let of = |robot: &RobotModel, prefix: &str| -> Vec<[String; 2]> {
        let lists = robot.of_file.iter().filter(|(name, _)| *name == "excluded");
        let mut pairs = Vec::new();
        for (_, value) in lists {
            let Value::List(couples) = value else { continue };
            for couple in couples {
                let Value::List(names) = couple else { continue };
                if let [Value::Text(a), Value::Text(b)] = names.as_slice() {
                    pairs.push([format!("{prefix}{a}"), format!("{prefix}{b}")]);
                }
            }
        }
        pairs
    };
    if !robot.is_world() {
        return of(robot, "");
    }
    robot.members.iter().flat_map(|member| of(member, &format!("{}/", member.name))).collect()
}

/// Pairs within one robot that overlap with all joints at zero, or at their limit nearest to it.
fn overlapping(model: &Model, links: &[Link], pairs: &[[usize; 2]]) -> Vec<[usize; 2]> {
    let mut q = model.zero_configuration();
    for joint in model.joints() {
        let range = joint.configuration_range();
        if range.len() == 1 && joint.lower <= joint.upper {
            q[range.start] = q[range.start].clamp(joint.lower, joint.upper);
        }
    }
    let mut kinematics = Kinematics::new(model);
    kinematics.update(model, &q, &vec![0.0; model.velocity_dim()]);
    let poses = |link: &Link| -> Vec<Pose> {
        let frame = world_from_frame(model, &kinematics, link.frame);
        let pose = |solid: &super::solids::LinkSolid| {
            let placed = frame * solid.placement;
            Pose { centre: placed.translation, rotation: placed.rotation }
        };
        link.solids.iter().map(pose).collect()
    };
    let poses: Vec<Vec<Pose>> = links.iter().map(poses).collect();
    let mut manifold = Manifold::default();
    let mut overlap = |[i, j]: &[usize; 2]| {
        if model.tree_of_frame(links[*i].frame) != model.tree_of_frame(links[*j].frame) {
            return false;
        }
        let mut is_overlap = false;
        for (a, at_a) in links[*i].solids.iter().zip(&poses[*i]) {
            for (b, at_b) in links[*j].solids.iter().zip(&poses[*j]) {
                collide((&a.solid, at_a), (&b.solid, at_b), 0.0, &mut manifold);
                is_overlap |= !manifold.witnesses().is_empty();
            }
        }
        is_overlap
    };
    pairs.iter().filter(|pair| overlap(pair)).copied().collect()
}
