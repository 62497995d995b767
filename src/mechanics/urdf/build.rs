//! Typed URDF → model: welds fixed links, lays out the tree.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};

use super::error::{UrdfError, Warning};
use super::graph::Graph;
use super::schema::Lines;
use super::{MimicJoints, Options};
use crate::branch::BranchPattern;
use crate::inertia::Inertia;
use crate::model::{Axis, Base, Body, BodyId, Frame, FrameId, Joint, JointKind, Model};
use crate::placement::Placement;
use crate::shape::{Collision, Shape};

/// Most joints that move. The factor of a single chain has n²/2 entries.
const MAX_JOINTS: usize = 4096;

/// Builds the model of a robot that was read without error.
pub(super) fn model(
    robot: &urdf_rs::Robot,
    lines: &Lines,
    options: &Options,
) -> Result<(Model, Vec<Warning>), UrdfError> {
    let mut warnings = Vec::new();
    let graph = Graph::new(robot, lines)?;
    let joints = movable_joints(robot, lines, options, &mut warnings)?;
    let tree = Tree::new(robot, lines, options, &graph, &joints, &mut warnings)?;

    let pattern = pattern(options.base, &tree.bodies, &joints.joints);
    let frames: Vec<Frame> = robot
        .links
        .iter()
        .zip(&tree.links)
        .map(|(link, &(body, body_from_frame))| Frame {
            name: link.name.clone(),
            body: BodyId(body),
            body_from_frame,
        })
        .collect();
    let mut body_of_joint = vec![0; joints.joints.len()];
    for (i, body) in tree.bodies.iter().enumerate().skip(1) {
        body_of_joint[body.v_index - velocity_offset(options.base)] = i;
    }
    let model = Model {
        name: robot.name.clone(),
        base: options.base,
        gravity: options.gravity,
        rotor_inertia: vec![0.0; joints.joints.len()],
        bodies: tree.bodies,
        joints: joints.joints,
        body_of_joint,
        frame_by_name: graph.links.iter().map(|(name, i)| ((*name).to_owned(), *i)).collect(),
        frames,
        root_frame: FrameId(graph.root),
        collisions: collisions(robot),
        pattern: Arc::new(pattern),
    }
    .with_named_rotor_inertia(&options.rotor_inertia)?;
    warn_of_massless_joints(&model, &joints.lines, &mut warnings);
    Ok((model, warnings))
}

/// The movable joints in file order.
struct Movable {
    joints: Vec<Joint>,
    lines: Vec<usize>,
    /// Index among the movable joints, by joint of the file.
    index: Vec<Option<usize>>,
}

fn movable_joints(
    robot: &urdf_rs::Robot,
    lines: &Lines,
    options: &Options,
    warnings: &mut Vec<Warning>,
) -> Result<Movable, UrdfError> {
    let mut movable = Movable { joints: Vec::new(), lines: Vec::new(), index: Vec::new() };
    for (i, (joint, &line)) in robot.joints.iter().zip(&lines.joints).enumerate() {
        let not_supported = |feature: &str| UrdfError::NotSupported {
            line,
            joint: joint.name.clone(),
            feature: feature.to_owned(),
        };
        let kind = match joint.joint_type {
            urdf_rs::JointType::Revolute => JointKind::Revolute,
            urdf_rs::JointType::Continuous => JointKind::Continuous,
            urdf_rs::JointType::Prismatic => JointKind::Prismatic,
            urdf_rs::JointType::Fixed => {
                movable.index.push(None);
                continue;
            }
            urdf_rs::JointType::Floating => return Err(not_supported("floating")),
            urdf_rs::JointType::Planar => return Err(not_supported("planar")),
            urdf_rs::JointType::Spherical => return Err(not_supported("spherical")),
        };
        if let Some(mimic) = &joint.mimic {
            match options.mimic {
                MimicJoints::Reject => return Err(not_supported("mimic")),
                MimicJoints::Independent => warnings.push(Warning::MimicIgnored {
                    line,
                    joint: joint.name.clone(),
                    mimicked: mimic.joint.clone(),
                }),
            }
        }
        movable.index.push(Some(movable.joints.len()));
        movable.joints.push(limits(joint, kind, line, lines.limited[i], warnings)?);
        movable.lines.push(line);
    }
    let found = movable.joints.len();
    if found > MAX_JOINTS {
        return Err(UrdfError::TooManyJoints { found, limit: MAX_JOINTS });
    }
    Ok(movable)
}

/// Name, kind, limits and friction of a joint.
fn limits(
    joint: &urdf_rs::Joint,
    kind: JointKind,
    line: usize,
    limited: bool,
    warnings: &mut Vec<Warning>,
) -> Result<Joint, UrdfError> {
    let mut limit = joint.limit.clone();
    if !limited {
        // The reader's default for a missing <limit> is zero, which would lock the joint.
        limit.lower = f64::NEG_INFINITY;
        limit.upper = f64::INFINITY;
        limit.effort = f64::INFINITY;
        limit.velocity = f64::INFINITY;
        if kind != JointKind::Continuous {
            warnings.push(Warning::NoLimit { line, joint: joint.name.clone() });
        }
    }
    if kind == JointKind::Continuous {
        limit.lower = f64::NEG_INFINITY;
        limit.upper = f64::INFINITY;
    }
    if limit.lower > limit.upper {
        let (lower, upper) = (limit.lower, limit.upper);
        let problem =
            format!("joint `{}`: expected lower <= upper, found {lower} > {upper}", joint.name);
        return Err(UrdfError::Schema { line, problem });
    }
    let dynamics = joint.dynamics.clone().unwrap_or_default();
    Ok(Joint {
        name: joint.name.clone(),
        kind,
        lower: limit.lower,
        upper: limit.upper,
        effort: limit.effort,
        velocity: limit.velocity,
        damping: dynamics.damping,
        friction: dynamics.friction,
    })
}

/// Bodies in tree order, and for each link its body and `body_from_link`.
struct Tree {
    bodies: Vec<Body>,
    links: Vec<(usize, Placement)>,
}

impl Tree {
    fn new(
        robot: &urdf_rs::Robot,
        lines: &Lines,
        options: &Options,
        graph: &Graph<'_>,
        joints: &Movable,
        warnings: &mut Vec<Warning>,
    ) -> Result<Self, UrdfError> {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); robot.links.len()];
        for (j, &(parent, _)) in graph.ends.iter().enumerate() {
            children[parent].push(j);
        }
        let mut bodies = vec![base_body()];
        let mut links = vec![(0, Placement::identity()); robot.links.len()];
        // Joints whose parent link is placed, lowest in the file first: a file that lists parents
        // before children keeps its order.
        let mut ready: BinaryHeap<Reverse<usize>> =
            children[graph.root].iter().copied().map(Reverse).collect();
        while let Some(Reverse(j)) = ready.pop() {
            let (parent, child) = graph.ends[j];
            let joint = &robot.joints[j];
            let (parent_body, body_from_parent) = links[parent];
            let at_zero =
                body_from_parent * Placement::from_xyz_rpy(joint.origin.xyz.0, joint.origin.rpy.0);
            links[child] = match joints.index[j] {
                None => (parent_body, at_zero),
                Some(index) => {
                    let (axis, sign, turn) = aligned_axis(joint, lines.joints[j])?;
                    let rotation = turn.map_or(at_zero.rotation, |turn| at_zero.rotation * turn);
                    bodies.push(Body {
                        parent: parent_body,
                        q_index: configuration_offset(options.base) + index,
                        v_index: velocity_offset(options.base) + index,
                        axis,
                        sign,
                        unrotated: rotation == Matrix3::identity(),
                        rotation,
                        offset: at_zero.translation,
                        inertia: Inertia::zero(),
                        subtree_mass: 0.0,
                    });
                    let rotation = turn.map_or(Matrix3::identity(), |turn| turn.transpose());
                    (bodies.len() - 1, Placement { rotation, translation: Vector3::zeros() })
                }
            };
            ready.extend(children[child].iter().copied().map(Reverse));
        }
        let mut tree = Self { bodies, links };
        tree.add_inertias(robot, lines, options, warnings)?;
        Ok(tree)
    }

    /// Welds the links' inertias into bodies and sums masses up the tree.
    fn add_inertias(
        &mut self,
        robot: &urdf_rs::Robot,
        lines: &Lines,
        options: &Options,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), UrdfError> {
        for ((link, &line), (body, body_from_link)) in
            robot.links.iter().zip(&lines.links).zip(&self.links)
        {
            let inertia = link_inertia(&link.inertial);
            if !inertia.is_physical() {
                warnings.push(Warning::NonPhysicalInertia {
                    line,
                    link: link.name.clone(),
                    mass: inertia.mass(),
                    moments: inertia.principal_moments(),
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
        for i in (0..self.bodies.len()).rev() {
            self.bodies[i].subtree_mass += self.bodies[i].inertia.mass();
            if i > 0 {
                let (parent, mass) = (self.bodies[i].parent, self.bodies[i].subtree_mass);
                self.bodies[parent].subtree_mass += mass;
            }
        }
        Ok(())
    }
}

fn base_body() -> Body {
    Body {
        parent: 0,
        q_index: 0,
        v_index: 0,
        axis: Axis::RevoluteZ,
        sign: 1.0,
        rotation: Matrix3::identity(),
        offset: Vector3::zeros(),
        unrotated: true,
        inertia: Inertia::zero(),
        subtree_mass: 0.0,
    }
}

fn velocity_offset(base: Base) -> usize {
    if base == Base::Floating { 6 } else { 0 }
}

fn configuration_offset(base: Base) -> usize {
    if base == Base::Floating { 7 } else { 0 }
}

/// The coordinate axis along which the joint moves, its sign, and, for an oblique axis, the turn
/// of the body frame against the link that makes the axis its z axis.
fn aligned_axis(
    joint: &urdf_rs::Joint,
    line: usize,
) -> Result<(Axis, f64, Option<Matrix3<f64>>), UrdfError> {
    let axis = Vector3::from(joint.axis.xyz.0);
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
    let unit = scaled / scaled.norm();
    let prismatic = joint.joint_type == urdf_rs::JointType::Prismatic;
    let [x, y, z] = if prismatic {
        [Axis::PrismaticX, Axis::PrismaticY, Axis::PrismaticZ]
    } else {
        [Axis::RevoluteX, Axis::RevoluteY, Axis::RevoluteZ]
    };
    Ok(match [unit.x, unit.y, unit.z] {
        [sign, 0.0, 0.0] => (x, sign, None),
        [0.0, sign, 0.0] => (y, sign, None),
        [0.0, 0.0, sign] => (z, sign, None),
        _ => (z, 1.0, Some(rotation_to(&unit))),
    })
}

/// A rotation whose z axis is `n` (unit length).
///
/// Reference: T. Duff et al., *Building an Orthonormal Basis, Revisited*, JCGT 6 (2017).
fn rotation_to(n: &Vector3<f64>) -> Matrix3<f64> {
    let sign = 1.0_f64.copysign(n.z);
    let a = -1.0 / (sign + n.z);
    let b = n.x * n.y * a;
    Matrix3::from_columns(&[
        Vector3::new(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x),
        Vector3::new(b, sign + n.y * n.y * a, -n.y),
        *n,
    ])
}

fn link_inertia(inertial: &urdf_rs::Inertial) -> Inertia {
    let i = &inertial.inertia;
    let matrix = Matrix3::new(i.ixx, i.ixy, i.ixz, i.ixy, i.iyy, i.iyz, i.ixz, i.iyz, i.izz);
    let origin = Placement::from_xyz_rpy(inertial.origin.xyz.0, inertial.origin.rpy.0);
    Inertia::new(inertial.mass.value, Vector3::zeros(), &matrix).transformed(&origin)
}

fn pattern(base: Base, bodies: &[Body], joints: &[Joint]) -> BranchPattern {
    let offset = velocity_offset(base);
    let mut parents: Vec<Option<usize>> = vec![None; offset + joints.len()];
    for (k, parent) in parents.iter_mut().enumerate().take(offset).skip(1) {
        *parent = Some(k - 1);
    }
    let mut order: Vec<usize> = (0..offset).collect();
    for body in &bodies[1..] {
        order.push(body.v_index);
        parents[body.v_index] = match body.parent {
            0 => offset.checked_sub(1),
            parent => Some(bodies[parent].v_index),
        };
    }
    let base_names = ["base vx", "base vy", "base vz", "base wx", "base wy", "base wz"];
    let names = base_names[..offset].iter().map(|name| (*name).to_owned());
    let names = names.chain(joints.iter().map(|joint| joint.name.clone())).collect();
    BranchPattern::new(&parents, order, names)
}

fn collisions(robot: &urdf_rs::Robot) -> Vec<Collision> {
    let mut out = Vec::new();
    for (i, link) in robot.links.iter().enumerate() {
        for collision in &link.collision {
            let shape = match &collision.geometry {
                urdf_rs::Geometry::Sphere { radius } => Shape::Sphere { radius: *radius },
                urdf_rs::Geometry::Box { size } => Shape::Box { size: Vector3::from(size.0) },
                urdf_rs::Geometry::Cylinder { radius, length } => {
                    Shape::Cylinder { radius: *radius, length: *length }
                }
                urdf_rs::Geometry::Capsule { radius, length } => {
                    Shape::Capsule { radius: *radius, length: *length }
                }
                urdf_rs::Geometry::Mesh { filename, scale } => Shape::Mesh {
                    path: filename.clone(),
                    scale: Vector3::from(scale.map_or([1.0; 3], |scale| scale.0)),
                },
            };
            let origin = &collision.origin;
            out.push(Collision {
                link: FrameId(i),
                link_from_shape: Placement::from_xyz_rpy(origin.xyz.0, origin.rpy.0),
                shape,
            });
        }
    }
    out
}

/// Warns of joints beyond which nothing has mass or rotational inertia.
fn warn_of_massless_joints(model: &Model, lines: &[usize], warnings: &mut Vec<Warning>) {
    let mut carries: Vec<bool> =
        model.bodies.iter().map(|body| body.inertia != Inertia::zero()).collect();
    for (i, body) in model.bodies.iter().enumerate().skip(1).rev() {
        carries[body.parent] |= carries[i];
    }
    for (j, (&body, joint)) in model.body_of_joint.iter().zip(&model.joints).enumerate() {
        if !carries[body] && model.rotor_inertia[j] == 0.0 {
            warnings.push(Warning::MovesNoMass { line: lines[j], joint: joint.name.clone() });
        }
    }
}
