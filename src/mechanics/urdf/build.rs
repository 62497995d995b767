//! Typed URDF → model: welds fixed links, lays out the tree.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};

use super::Options;
use super::error::{UrdfError, Warning};
use super::graph::Graph;
use super::joints::{Joints, Motion};
use super::source::{Robot, inertia_of, placement_of, shape_of};
use super::visual;
use crate::body::Body;
use crate::branch::BranchPattern;
use crate::joint_bodies::{Drive, push_bodies};
use crate::model::{Base, BodyId, Frame, FrameId, JointKind, Link, Model, Tree};
use crate::placement::Placement;
use crate::resistance::JointResistance;
use crate::rotors::Rotors;
use crate::shape::Collision;

/// Builds the model of a robot that was read without error.
pub(super) fn model(
    robot: &Robot<'_>,
    options: &Options,
    warnings: &mut Vec<Warning>,
) -> Result<Model, UrdfError> {
    let graph = Graph::new(robot)?;
    let mut joints = Joints::new(robot, &graph, options, warnings)?;
    let layout = Layout::new(robot, options, &graph, &mut joints, warnings)?;

    let frames = robot.links.iter().zip(&layout.links);
    let frames = frames.map(|(link, &(body, body_from_frame))| Frame {
        name: link.name.clone(),
        body: BodyId(body),
        body_from_frame,
    });
    let (mount, base_dim) = match options.base {
        Base::Floating => (Placement::identity(), 6),
        Base::Fixed => (options.mount, 0),
    };
    let tree = Tree {
        name: robot.name.to_owned(),
        base: options.base,
        root_frame: FrameId(graph.root),
        mount,
        bodies: 0..layout.bodies.len(),
        joints: 0..joints.own.len(),
        q: 0..joints.configuration_dim,
        v: 0..joints.velocity_dim,
    };
    let model = Model {
        name: robot.name.to_owned(),
        gravity: options.gravity,
        trees: vec![tree],
        frames: frames.collect(),
        bodies: layout.bodies,
        joints: joints.own,
        mimics: joints.mimics,
        links: links(robot, &graph),
        collisions: collisions(robot),
        visuals: visual::visuals(robot),
        rotors: Rotors::none(joints.velocity_dim - base_dim),
        // These follow from the others.
        resistance: JointResistance::none(0),
        springs: Vec::new(),
        quaternions: Vec::new(),
        frame_by_name: BTreeMap::new(),
        pattern: Arc::new(BranchPattern::new(&[], &[], Vec::new())),
        layout: Arc::default(),
        joint_velocities: Vec::new(),
        world: false,
        coupled: false,
    }
    .not_too_deep()?
    .complete()
    .with_named_rotor_inertia(&options.rotor_inertia)?;
    warn_of_massless_joints(&model, &joints.lines, warnings);
    Ok(model)
}

/// Bodies in tree order, and for each link its body and `body_from_link`.
struct Layout {
    bodies: Vec<Body>,
    links: Vec<(usize, Placement)>,
}

impl Layout {
    fn new(
        robot: &Robot<'_>,
        options: &Options,
        graph: &Graph<'_>,
        joints: &mut Joints,
        warnings: &mut Vec<Warning>,
    ) -> Result<Self, UrdfError> {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); robot.links.len()];
        for (j, &(parent, _)) in graph.ends.iter().enumerate() {
            children[parent].push(j);
        }
        let mut bodies = vec![Body::root(0, 0, 0, 0)];
        let mut links = vec![(0, Placement::identity()); robot.links.len()];
        // Joints whose parent link is placed, lowest in the file first: a file that lists parents
        // before children keeps its order.
        let mut ready: BinaryHeap<Reverse<usize>> =
            children[graph.root].iter().copied().map(Reverse).collect();
        while let Some(Reverse(j)) = ready.pop() {
            let (parent, child) = graph.ends[j];
            let joint = &robot.joints[j];
            let axis = Vector3::from(joint.axis.xyz.0);
            let (parent_body, body_from_parent) = links[parent];
            let at_zero =
                body_from_parent * placement_of(&joint.origin) * held(joints, j, axis, joint.line)?;
            links[child] = match drive(joints, j) {
                None => (parent_body, at_zero),
                Some(drive) => {
                    let axis = match drive.kind {
                        JointKind::Spherical | JointKind::Floating => Vector3::z(),
                        _ => unit(axis, joint.line)?,
                    };
                    let body_from_link =
                        push_bodies(&mut bodies, parent_body, &at_zero, axis, &drive);
                    (bodies.len() - 1, body_from_link)
                }
            };
            match joints.motions[j] {
                Motion::Own(index) => joints.own[index].body = bodies.len() - 1,
                Motion::Mimic(index) => joints.mimics[index].body = bodies.len() - 1,
                Motion::Welded(_) => {}
            }
            ready.extend(children[child].iter().copied().map(Reverse));
        }
        let mut layout = Self { bodies, links };
        layout.add_inertias(robot, options, warnings)?;
        Ok(layout)
    }

    /// Welds the links' inertias into bodies.
    fn add_inertias(
        &mut self,
        robot: &Robot<'_>,
        options: &Options,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), UrdfError> {
        for (link, (body, body_from_link)) in robot.links.iter().zip(&self.links) {
            let inertia = inertia_of(&link.inertial);
            if !inertia.is_physical() {
                warnings.push(Warning::NonPhysicalInertia {
                    line: link.line,
                    link: link.name.clone(),
                    mass: inertia.mass(),
                    moments: inertia.principal_moments(),
                    others: Vec::new(),
                });
            }
            if options.base == Base::Fixed && *body == 0 {
                continue;
            }
            let body = &mut self.bodies[*body];
            body.inertia = body.inertia.merged(&inertia.transformed(body_from_link));
            if !body.inertia.is_finite() {
                return Err(UrdfError::NotFinite { link: link.name.clone() });
            }
        }
        Ok(())
    }
}

/// `joint_from_child` of a joint that is held at a position; the identity for all others.
fn held(
    joints: &Joints,
    joint: usize,
    axis: Vector3<f64>,
    line: usize,
) -> Result<Placement, UrdfError> {
    let (Motion::Welded(position), Some(kind)) = (joints.motions[joint], joints.kinds[joint])
    else {
        return Ok(Placement::identity());
    };
    let axis = unit(axis, line)?;
    if kind == JointKind::Prismatic {
        return Ok(Placement { rotation: Matrix3::identity(), translation: position * axis });
    }
    // Rodrigues' formula.
    let (sin, cos) = libm::sincos(position);
    let cross = axis.cross_matrix();
    let rotation = Matrix3::identity() + sin * cross + (1.0 - cos) * cross * cross;
    Ok(Placement { rotation, translation: Vector3::zeros() })
}

fn unit(axis: Vector3<f64>, line: usize) -> Result<Vector3<f64>, UrdfError> {
    // Scaling first keeps the norm of tiny and huge axes from under- and overflowing.
    let largest = axis.amax();
    if largest == 0.0 {
        return Err(UrdfError::Number {
            line,
            element: "axis".to_owned(),
            attribute: "xyz".to_owned(),
            expected: "an axis that is not zero".to_owned(),
            found: "0 0 0".to_owned(),
        });
    }
    let scaled = axis / largest;
    Ok(scaled / scaled.norm())
}

/// The coordinates that move a joint of the file; `None` if it is fixed.
fn drive(joints: &Joints, joint: usize) -> Option<Drive> {
    let (followed, multiplier, offset) = match joints.motions[joint] {
        Motion::Welded(_) => return None,
        Motion::Own(index) => (index, 1.0, 0.0),
        Motion::Mimic(index) => {
            let mimic = &joints.mimics[index];
            (mimic.joint.index(), mimic.multiplier, mimic.offset)
        }
    };
    let followed = &joints.own[followed];
    let (kind, q_index, v_index) = (joints.kinds[joint]?, followed.q_index, followed.v_index);
    Some(Drive { kind, q_index, v_index, multiplier, offset })
}

fn links(robot: &Robot<'_>, graph: &Graph<'_>) -> Vec<Link> {
    let links = robot.links.iter().zip(&graph.parent_joint);
    let links = links.map(|(link, joint)| Link {
        parent: joint.map(|joint| FrameId(graph.ends[joint].0)),
        joint: joint.map(|joint| robot.joints[joint].name.clone()),
        inertia: inertia_of(&link.inertial),
    });
    links.collect()
}

fn collisions(robot: &Robot<'_>) -> Vec<Collision> {
    let mut out = Vec::new();
    for (i, link) in robot.links.iter().enumerate() {
        out.extend(link.collision.iter().map(|collision| Collision {
            link: FrameId(i),
            link_from_shape: placement_of(&collision.origin),
            shape: shape_of(&collision.geometry),
        }));
    }
    out
}

/// Warns of joints whose motion moves nothing that has mass or rotational inertia.
fn warn_of_massless_joints(model: &Model, lines: &[usize], warnings: &mut Vec<Warning>) {
    let massless = model.massless_joints();
    warnings.extend(massless.map(|i| Warning::MovesNoMass {
        line: lines[i],
        joint: model.joints[i].name.clone(),
        others: Vec::new(),
    }));
}
