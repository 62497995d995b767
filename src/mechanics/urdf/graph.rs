//! Links and joints as a graph, which must be one tree.

use std::collections::BTreeMap;

use super::error::UrdfError;
use super::robot::Robot;
use crate::names::nearest;

/// Joints by name, the joint above each link, and which links a joint connects.
pub(super) struct Graph<'a> {
    pub(super) joints: BTreeMap<&'a str, usize>,
    parent_joint: Vec<Option<usize>>,
    /// Parent and child link of each joint.
    pub(super) ends: Vec<(usize, usize)>,
    pub(super) root: usize,
}

impl<'a> Graph<'a> {
    pub(super) fn new(robot: &'a Robot) -> Result<Self, UrdfError> {
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
            let (parent, child) = (find(&joint.parent)?, find(&joint.child)?);
            if let Some(first) = parent_joint[child] {
                return Err(UrdfError::TwoParents {
                    line,
                    link: joint.child.clone(),
                    joint: joint.name.clone(),
                    first: robot.joints[first].name.clone(),
                });
            }
            if let Some(mimic) = &joint.mimic
                && !joints.contains_key(mimic.joint.as_str())
            {
                return Err(UrdfError::UnknownMimic {
                    line,
                    joint: joint.name.clone(),
                    mimicked: mimic.joint.clone(),
                    nearest: nearest(&mimic.joint, joints.keys()),
                });
            }
            parent_joint[child] = Some(j);
            ends.push((parent, child));
        }
        let roots: Vec<usize> =
            (0..robot.links.len()).filter(|&i| parent_joint[i].is_none()).collect();
        let graph = Self { joints, parent_joint, ends, root: roots.first().copied().unwrap_or(0) };
        // A cycle is reported first: beside it, a second root is only a symptom.
        graph.check_rings(robot)?;
        match roots[..] {
            [] => Err(UrdfError::NoLinks),
            [_] => Ok(graph),
            [_, second, ..] => Err(UrdfError::ManyRoots {
                line: robot.links[second].line,
                roots: roots.iter().map(|&i| robot.links[i].name.clone()).collect(),
            }),
        }
    }

    /// Walks up from every link; a walk that meets itself is a cycle. Links known to lead to a
    /// root are not walked again, so the whole is O(links).
    fn check_rings(&self, robot: &Robot) -> Result<(), UrdfError> {
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

    fn ring(&self, robot: &Robot, start: usize) -> UrdfError {
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
