//! Links and joints as a graph: trees, of which one is the robot.

use std::collections::BTreeMap;

use super::error::{UrdfError, Warning};
use super::source::Robot;
use crate::names::nearest;

/// Joints by name, the joint above each link, and which links a joint connects.
pub(super) struct Graph<'a> {
    pub(super) joints: BTreeMap<&'a str, usize>,
    /// The joint above each link.
    pub(super) parent_joint: Vec<Option<usize>>,
    /// Parent and child link of each joint.
    pub(super) ends: Vec<(usize, usize)>,
    pub(super) root: usize,
}

impl<'a> Graph<'a> {
    pub(super) fn new(robot: &'a Robot<'_>) -> Result<Self, UrdfError> {
        let link_names = robot.links.iter().map(|link| (link.name.as_str(), link.line));
        let links = unique("link", link_names)?;
        let joint_names = robot.joints.iter().map(|joint| (joint.name.as_str(), joint.line));
        let joints = unique("joint", joint_names)?;
        let mut parent_joint: Vec<Option<usize>> = vec![None; robot.links.len()];
        let mut ends = Vec::with_capacity(robot.joints.len());
        for (j, joint) in robot.joints.iter().enumerate() {
            let line = joint.line;
            let find = |name: &str| {
                links.get(name).copied().ok_or_else(|| UrdfError::UnknownLink {
                    line,
                    joint: joint.name.clone(),
                    link: name.to_owned(),
                    nearest: nearest(name, links.keys()),
                })
            };
            let (parent, child) = (find(&joint.parent.link)?, find(&joint.child.link)?);
            if let Some(first) = parent_joint[child] {
                return Err(UrdfError::TwoParents {
                    line,
                    link: joint.child.link.clone(),
                    joint: joint.name.clone(),
                    first: robot.joints[first].name.clone(),
                });
            }
            parent_joint[child] = Some(j);
            ends.push((parent, child));
        }
        let root = (0..robot.links.len()).find(|&i| parent_joint[i].is_none());
        let graph = Self { joints, parent_joint, ends, root: root.unwrap_or(0) };
        graph.check_rings(robot)?;
        root.map(|_| graph).ok_or(UrdfError::NoLinks)
    }

    /// Root of every link. O(links): a link's parents are known before it.
    fn roots(&self) -> Vec<usize> {
        let mut roots = vec![usize::MAX; self.parent_joint.len()];
        let mut way = Vec::new();
        for start in 0..roots.len() {
            let mut at = start;
            while roots[at] == usize::MAX {
                way.push(at);
                match self.parent_joint[at] {
                    Some(joint) => at = self.ends[joint].0,
                    None => roots[at] = at,
                }
            }
            let root = roots[at];
            way.drain(..).for_each(|link| roots[link] = root);
        }
        roots
    }

    /// Walks up from every link; a walk that meets itself is a cycle. Links known to lead to a
    /// root are not walked again, so the whole is O(links).
    fn check_rings(&self, robot: &Robot<'_>) -> Result<(), UrdfError> {
        let mut seen = vec![usize::MAX; robot.links.len()];
        for start in 0..robot.links.len() {
            let mut at = start;
            while seen[at] == usize::MAX {
                seen[at] = start;
                let Some(joint) = self.parent_joint[at] else { break };
                at = self.ends[joint].0;
                if seen[at] == start {
                    return Err(self.ring(robot, at));
                }
            }
        }
        Ok(())
    }

    fn ring(&self, robot: &Robot<'_>, start: usize) -> UrdfError {
        let mut links = vec![robot.links[start].name.clone()];
        let mut at = start;
        while let Some(joint) = self.parent_joint[at] {
            at = self.ends[joint].0;
            links.push(robot.links[at].name.clone());
            if at == start {
                break;
            }
        }
        links.reverse();
        UrdfError::Cycle { line: robot.links[start].line, links }
    }
}

/// Leaves one tree of links, the largest and of equal ones the first, and warns of others.
///
/// # Errors
/// If links and joints form no trees.
pub(super) fn one_tree<'a>(
    mut robot: Robot<'a>,
    warnings: &mut Vec<Warning>,
) -> Result<Robot<'a>, UrdfError> {
    let graph = Graph::new(&robot)?;
    let roots = graph.roots();
    let mut sizes = vec![0_usize; roots.len()];
    roots.iter().for_each(|&root| sizes[root] += 1);
    let all: Vec<usize> = (0..roots.len()).filter(|&link| roots[link] == link).collect();
    let largest = all.iter().copied().rev().max_by_key(|&root| sizes[root]).unwrap_or(0);
    let others: Vec<usize> = all.into_iter().filter(|&root| root != largest).collect();
    let Some(&first) = others.first() else { return Ok(robot) };
    warnings.push(Warning::OtherRoots {
        line: robot.links[first].line,
        root: robot.links[largest].name.clone(),
        left_out: others.iter().map(|&root| robot.links[root].name.clone()).collect(),
    });
    let mut ends = graph.ends.into_iter();
    let stays = |end: Option<(usize, usize)>| end.is_some_and(|(link, _)| roots[link] == largest);
    robot.joints.retain(|_| stays(ends.next()));
    let mut link_roots = roots.iter();
    robot.links.retain(|_| link_roots.next() == Some(&largest));
    Ok(robot)
}

fn unique<'a>(
    element: &'static str,
    names: impl Iterator<Item = (&'a str, usize)>,
) -> Result<BTreeMap<&'a str, usize>, UrdfError> {
    let mut by_name: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (i, (name, line)) in names.enumerate() {
        if let Some((_, first_line)) = by_name.insert(name, (i, line)) {
            return Err(UrdfError::DuplicateName {
                line,
                element,
                name: name.to_owned(),
                first_line,
            });
        }
    }
    Ok(by_name.into_iter().map(|(name, (i, _))| (name, i)).collect())
}
