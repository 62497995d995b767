//! Which body is the base of the robot, and how it is held.

use super::Lowering;
use crate::mjcf::tree::{Body, JointType};
use crate::model::Base;

pub(super) enum Placing {
    /// The root of the model.
    Root,
    /// Placed on its parent, if that is part of the robot.
    Child,
    /// Not part of the robot.
    Left,
}

/// The root of the model.
pub(super) struct Root {
    /// The body of the file: the world if it is fixed.
    pub(super) body: usize,
    fixed: bool,
    /// A body whose free joint is not taken: the base itself, or one that is held.
    without_joint: Option<usize>,
}

impl Root {
    pub(super) fn new(lowering: &mut Lowering<'_>, asked: Option<Base>) -> Self {
        let bodies = &lowering.tree.bodies;
        for body in &bodies[1..] {
            let free = body.joints.iter().find(|joint| joint.kind == JointType::Free);
            if let Some(joint) = free
                && (body.parent != 0 || body.joints.len() > 1)
            {
                let problem = "a free joint is the only joint of a body of the world";
                lowering.document.error(joint.place, problem);
            }
        }
        let world = Self { body: 0, fixed: true, without_joint: None };
        // The body of the world above each body, and those that hold all that moves.
        let mut top: Vec<usize> = Vec::with_capacity(bodies.len());
        for (i, body) in bodies.iter().enumerate() {
            top.push(if body.parent == 0 { i } else { top[body.parent] });
        }
        let mut moving: Vec<usize> =
            (1..bodies.len()).filter(|&i| !bodies[i].joints.is_empty()).map(|i| top[i]).collect();
        moving.dedup();
        let only = match moving[..] {
            [only] => Some(only),
            [] if bodies.iter().skip(1).filter(|body| body.parent == 0).count() == 1 => Some(1),
            _ => None,
        };
        let free = only.filter(|&i| is_free(&bodies[i]));
        match (asked, only, free) {
            (None | Some(Base::Floating), _, Some(body)) if !resists(&bodies[body]) => {
                let root = Self { body, fixed: false, without_joint: Some(body) };
                lowering.warn_of_world(&top, body);
                root
            }
            (None, _, _) => world,
            (Some(Base::Fixed), _, body) => Self { without_joint: body, ..world },
            (Some(Base::Floating), _, Some(body)) => {
                let place = bodies[body].place;
                lowering.document.error(
                    place,
                    "a floating base has no armature, damping, friction or spring; leave `base` \
                     out: its free joint is then one of the robot's joints",
                );
                world
            }
            (Some(Base::Floating), Some(body), None) if bodies[body].joints.is_empty() => {
                lowering.warn_of_world(&top, body);
                Self { body, fixed: false, without_joint: None }
            }
            (Some(Base::Floating), only, None) => {
                let place = bodies[only.unwrap_or(0)].place;
                lowering.document.error(
                    place,
                    "a floating base is the only body of the world that moves, and has a free \
                     joint or none; leave `base` out to read the model as it is",
                );
                world
            }
        }
    }

    pub(super) fn fixed(&self) -> bool {
        self.fixed
    }

    /// Whether the joint of this body is the base's, or not taken.
    pub(super) fn leaves_joint(&self, body: usize) -> bool {
        self.without_joint == Some(body)
    }

    pub(super) fn place(&self, body: usize) -> Placing {
        match (body, self.fixed) {
            _ if body == self.body => Placing::Root,
            (0, false) => Placing::Left,
            _ => Placing::Child,
        }
    }
}

fn is_free(body: &Body) -> bool {
    body.joints.iter().any(|joint| joint.kind == JointType::Free)
}

/// Whether a free joint does what a floating base cannot.
fn resists(body: &Body) -> bool {
    body.joints
        .iter()
        .any(|joint| [joint.armature, joint.damping, joint.friction, joint.stiffness] != [0.0; 4])
}

impl Lowering<'_> {
    /// What stands in the world beside a floating robot.
    fn warn_of_world(&mut self, top: &[usize], robot: usize) {
        let bodies = &self.tree.bodies;
        let left: Vec<&Body> = (0..bodies.len())
            .filter(|&i| top[i] != robot)
            .map(|i| &bodies[i])
            .filter(|body| body.parent != 0 || !body.geoms.is_empty() || !body.sites.is_empty())
            .collect();
        for body in left.iter().filter(|body| body.name != "world") {
            self.unused.add(format!("body `{}` of the world", body.name));
        }
        for geom in left.iter().flat_map(|body| &body.geoms) {
            self.unused.add_named("geoms of the world", &geom.name);
        }
        for (name, _) in left.iter().flat_map(|body| &body.sites) {
            self.unused.add_named("sites of the world", name);
        }
    }
}
