//! Which pairs of links may touch.

use std::collections::{BTreeMap, BTreeSet};

use legwork_block::quantity::name_matches;
use legwork_block::{Invalid, Value};
use legwork_contact::collision::{Manifold, Pose, collide};
use legwork_mechanics::{Kinematics, Model, world_from_frame};

use super::Collisions;
use super::solids::{Link, Shaped};
use crate::robot::meshes::listed;
use crate::robot::model::RobotModel;

/// What the ground is called.
const GROUND: &str = "ground";
/// Names or pairs that a warning lists at most.
pub(super) const MOST_NAMES: usize = 8;

/// Who may touch what, by indices of links.
pub(super) struct Meetings {
    /// Links that may touch one another.
    pub(super) pairs: Vec<[usize; 2]>,
    /// Links that may touch ground.
    pub(super) on_ground: Vec<usize>,
}

impl Meetings {
    /// Whether nothing may touch anything.
    pub(super) fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.on_ground.is_empty()
    }

    /// The links that may touch something.
    pub(super) fn links(&self) -> BTreeSet<usize> {
        self.pairs.iter().flatten().chain(&self.on_ground).copied().collect()
    }

    /// The same of the links that are left, and these.
    pub(super) fn of_those_left<L>(self, links: Vec<Option<L>>) -> (Self, Vec<L>) {
        let mut left = Vec::new();
        let number = |link: Option<L>| {
            left.push(link?);
            Some(left.len() - 1)
        };
        let numbers: Vec<Option<usize>> = links.into_iter().map(number).collect();
        let pair = |[i, j]: [usize; 2]| Some([numbers[i]?, numbers[j]?]);
        let pairs = self.pairs.into_iter().filter_map(pair).collect();
        let on_ground = self.on_ground.into_iter().filter_map(|link| numbers[link]).collect();
        (Self { pairs, on_ground }, left)
    }

    /// Leaves out pairs that overlap anyway, with a warning that lists them.
    pub(super) fn leave_out_overlapping(
        &mut self,
        model: &Model,
        links: &[Link],
    ) -> Option<Invalid> {
        let overlapping = overlapping(model, links, &self.pairs);
        self.pairs.retain(|pair| !overlapping.contains(pair));
        let name = |link: usize| &model.frame(links[link].frame).name;
        let names = overlapping.iter().map(|[i, j]| format!("`{}` and `{}`", name(*i), name(*j)));
        let message = format!(
            "pairs are left out that overlap with all joints at zero: {}",
            listed(names, MOST_NAMES)
        );
        (!overlapping.is_empty()).then(|| Invalid::parameter("self_collision", message))
    }
}

/// Which of these links may touch what; the ground only if there is one.
///
/// # Errors
/// If a pattern fits no link.
pub(super) fn meetings(
    block: &Collisions,
    robot: &RobotModel,
    links: &[Shaped],
) -> Result<Meetings, Invalid> {
    let model = &robot.model;
    let name = |link: &Shaped| model.frame(link.frame).name.as_str();
    let names: Vec<&str> = links.iter().map(name).collect();
    let between = block.between.as_ref().map(|list| rules("between", list, &names)).transpose()?;
    let exclude = rules("exclude", &block.exclude, &names)?;
    let file = OfFiles::new(robot);
    let joined = joined(model);

    let mut pairs = Vec::new();
    for (j, second) in links.iter().enumerate() {
        for (i, first) in links[..j].iter().enumerate() {
            let bodies = [first, second].map(|link| model.frame(link.frame).body);
            let is_one_robot =
                model.tree_of_frame(first.frame) == model.tree_of_frame(second.frame);
            let is_apart = bodies[0] != bodies[1] && !joined.contains(&(bodies[0], bodies[1]));
            let names = [names[i], names[j]];
            let is_added = bodies[0] != bodies[1] && listed_pair(&file.added, names);
            let may = !is_one_robot || (block.self_collision && (is_apart || is_added));
            let is_named = |rules: &[[&str; 2]]| rules.iter().any(|rule| fits(rule, names));
            if may
                && between.as_ref().is_none_or(|rules| is_named(rules))
                && !is_named(&exclude)
                && (is_added || (file.bits_agree(names) && !listed_pair(&file.excluded, names)))
            {
                pairs.push([i, j]);
            }
        }
    }
    let ground = |i: &usize| {
        let names = [names[*i], GROUND];
        let is_named = |rules: &[[&str; 2]]| rules.iter().any(|rule| fits(rule, names));
        between.as_ref().is_none_or(|rules| is_named(rules)) && !is_named(&exclude)
    };
    let on_ground = match &block.ground {
        Some(_) => (0..links.len()).filter(ground).collect(),
        None => Vec::new(),
    };
    Ok(Meetings { pairs, on_ground })
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

/// What files of MuJoCo say of contacts between links, as they are called here.
#[derive(Default)]
struct OfFiles {
    excluded: Vec<[String; 2]>,
    /// Pairs that they add whatever else they say.
    added: Vec<[String; 2]>,
    /// Bits of `contype` and of `conaffinity`, of all geoms of a link that touch.
    bits: BTreeMap<String, [u64; 2]>,
}

impl OfFiles {
    fn new(robot: &RobotModel) -> Self {
        let mut all = Self::default();
        match robot.is_world() {
            false => all.add(robot, ""),
            true => {
                robot.members.iter().for_each(|one| all.add(one, &format!("{}/", one.name)));
            }
        }
        all
    }

    fn add(&mut self, robot: &RobotModel, prefix: &str) {
        let fact = |name: &str| robot.of_file.iter().find(|(known, _)| *known == name);
        let couples = |name: &str| -> Vec<[&String; 2]> {
            let Some((_, Value::List(couples))) = fact(name) else { return Vec::new() };
            let names = couples.iter().filter_map(|couple| match couple {
                Value::List(names) => match names.as_slice() {
                    [Value::Text(a), Value::Text(b)] => Some([a, b]),
                    _ => None,
                },
                _ => None,
            });
            names.collect()
        };
        let links =
            couples("excluded").into_iter().map(|two| two.map(|one| format!("{prefix}{one}")));
        self.excluded.extend(links);
        let Some((_, Value::Record(geoms))) = fact("geoms") else { return };
        let link = |geom: &String| match geoms.get(geom) {
            Some(Value::Record(facts)) => match facts.get("link") {
                Some(Value::Text(link)) => Some(format!("{prefix}{link}")),
                _ => None,
            },
            _ => None,
        };
        let added = couples("pairs").into_iter().filter_map(|[a, b]| Some([link(a)?, link(b)?]));
        self.added.extend(added);
        let Some((_, Value::Record(collides))) = fact("collides") else { return };
        for (link, bits) in collides.iter() {
            let Value::List(bits) = bits else { continue };
            if let [Value::Real { value: types, .. }, Value::Real { value: affinities, .. }] =
                bits.as_slice()
            {
                // Whole numbers of 32 bits, which are exact.
                self.bits.insert(format!("{prefix}{link}"), [*types as u64, *affinities as u64]);
            }
        }
    }

    /// MuJoCo's rule: the type of one and the affinity of the other have a bit in common. A link of
    /// another file, or with shapes of the block alone, has the bits of MuJoCo's defaults.
    fn bits_agree(&self, links: [&str; 2]) -> bool {
        let of = |link: &str| self.bits.get(link).copied().unwrap_or([1, 1]);
        let [[type_a, affinity_a], [type_b, affinity_b]] = links.map(of);
        type_a & affinity_b != 0 || type_b & affinity_a != 0
    }
}

/// Whether two links are a pair of a list, in any order.
fn listed_pair(pairs: &[[String; 2]], [first, second]: [&str; 2]) -> bool {
    pairs.iter().any(|[a, b]| (a == first && b == second) || (a == second && b == first))
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
