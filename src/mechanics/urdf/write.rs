//! [`Model`] → [`urdf_rs::Robot`].

use std::collections::BTreeSet;

use nalgebra::{Matrix3, Vector3};
use urdf_rs::{Geometry, JointLimit, JointType, Vec3, Vec4};

use super::version::angles_of;
use crate::body::{Axis, Body};
use crate::inertia::Inertia;
use crate::model::{FrameId, Joint, JointKind, Model};
use crate::placement::Placement;
use crate::shape::{Shape, Visual};

/// Number for a missing limit [N m, rad/s, m]: version 1.0 of the format requires one.
const NO_LIMIT: f64 = 1e9;

/// Description of a robot by `urdf-rs`, and the parts of the model without an equivalent.
#[derive(Debug, Clone)]
pub struct Written {
    /// The robot.
    pub robot: urdf_rs::Robot,
    /// Parts without an equivalent in URDF, one phrase each.
    pub left_out: Vec<String>,
}

impl Model {
    /// Converts the robot to `urdf-rs`; [`urdf_rs::write_to_string`] writes it as a file.
    ///
    /// Every link and joint keeps its name, place and inertia, so that [`Self::from_urdf`] gives a
    /// model with the same q, ν, M and h up to rounding. Massless links are inserted between
    /// several joints of one link, and where a joint axis does not pass through the link's origin.
    /// A missing limit is 1e9; a mimic joint has the range that results from the other joint.
    /// Rotors, springs, gravity and the mount of a fixed base are not part of the format and are
    /// listed in [`Written::left_out`].
    ///
    /// Returns `None` for a world of several robots.
    #[must_use]
    pub fn to_urdf(&self) -> Option<Written> {
        let [tree] = &self.trees[..] else { return None };
        let mut writer = Writer::new(self);
        writer.chains(tree.root_frame);
        let links = writer.links();
        // Moving joints in the order of q, then mimic joints, then fixed ones.
        let Writer { mut joints, extra, .. } = writer;
        joints.sort_by_key(|(order, _)| *order);
        let robot = urdf_rs::Robot {
            name: self.name.clone(),
            version: None,
            links: links.into_iter().chain(extra).collect(),
            joints: joints.into_iter().map(|(_, joint)| joint).collect(),
            materials: Vec::new(),
        };
        Some(Written { robot, left_out: self.left_out() })
    }

    /// Parts of the model without an equivalent in URDF.
    fn left_out(&self) -> Vec<String> {
        let mut out = Vec::new();
        let mut note = |count: usize, what: &str| {
            if count > 0 {
                out.push(format!("{count} {what}"));
            }
        };
        let rotors = self.rotors.diagonal().iter().filter(|inertia| **inertia != 0.0).count();
        note(rotors, "rotor inertias (a diagram gives them: `rotor_inertia`)");
        note(usize::from(self.rotors.matrix().is_some()), "matrix of rotor inertias");
        note(self.springs.len(), "joint springs");
        if self.gravity != Vector3::new(0.0, 0.0, -9.81) {
            let [x, y, z] = self.gravity.into();
            out.push(format!("gravity [{x}, {y}, {z}] m/s² (a diagram gives it: `gravity`)"));
        }
        if self.trees.iter().any(|tree| tree.mount != Placement::identity()) {
            out.push("where the base is mounted".to_owned());
        }
        out
    }
}

/// Position of a joint in the list of joints.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    Own(usize),
    Follows(usize),
    Fixed(usize),
}

struct Writer<'a> {
    model: &'a Model,
    names: BTreeSet<String>,
    joint_names: BTreeSet<String>,
    joints: Vec<(Order, urdf_rs::Joint)>,
    /// Massless links.
    extra: Vec<urdf_rs::Link>,
}

impl<'a> Writer<'a> {
    fn new(model: &'a Model) -> Self {
        let joints = model.joints.iter().map(|joint| joint.name.clone());
        let followers = model.mimics.iter().map(|joint| joint.name.clone());
        Self {
            model,
            names: model.frames.iter().map(|frame| frame.name.clone()).collect(),
            joint_names: joints.chain(followers).collect(),
            joints: Vec::new(),
            extra: Vec::new(),
        }
    }

    /// Links of the model with inertias and shapes.
    fn links(&self) -> Vec<urdf_rs::Link> {
        let model = self.model;
        let links = model.frames.iter().zip(&model.links).enumerate();
        let links = links.map(|(i, (frame, link))| {
            let of = |shape: FrameId| shape == FrameId(i);
            let collisions = model.collisions.iter().filter(|it| of(it.link));
            let visuals = model.visuals.iter().filter(|it| of(it.link)).enumerate();
            urdf_rs::Link {
                name: frame.name.clone(),
                inertial: inertial_of(&link.inertia),
                visual: visuals.map(|(k, it)| visual_of(&frame.name, k, it)).collect(),
                collision: collisions
                    .map(|it| urdf_rs::Collision {
                        name: None,
                        origin: pose_of(&it.link_from_shape),
                        geometry: geometry_of(&it.shape),
                    })
                    .collect(),
            }
        });
        links.collect()
    }

    /// Converts the joints between each link and its parent.
    fn chains(&mut self, root: FrameId) {
        for (i, link) in self.model.links.iter().enumerate() {
            let Some(parent) = link.parent.filter(|_| FrameId(i) != root) else { continue };
            self.chain(parent.0, i);
        }
    }

    /// Converts the joints from the link `from` to the link `to`.
    fn chain(&mut self, from: usize, to: usize) {
        let model = self.model;
        let (start, end) = (&model.frames[from], &model.frames[to]);
        // Joints between the two with their bodies, from `to` upwards.
        let mut moving = Vec::new();
        let mut at = end.body.0;
        while at != start.body.0 && model.bodies[at].parent != at {
            let joint = self.joint_of(at);
            let first = at + 1 - joint.kind().velocity_dim();
            moving.push((joint, first..at + 1));
            at = model.bodies[first].parent;
        }
        let mut parent = start.name.clone();
        let mut on = start.body_from_frame;
        while let Some((joint, bodies)) = moving.pop() {
            let (zero, sign) = displacement_zero(model, &joint, &model.bodies[bodies]);
            // The last joint ends at the link itself if the axis passes through its origin.
            let ends_here = moving.is_empty() && is_on_axis(&end.body_from_frame, joint.kind());
            let body_from_child =
                if ends_here { end.body_from_frame } else { Placement::identity() };
            let child = match ends_here {
                true => end.name.clone(),
                false => self.add_link(&format!("{}_carrier", joint.name(model))),
            };
            let axis = body_from_child.rotation.transpose() * (Vector3::z() * sign);
            let origin = on.inverse() * zero * body_from_child;
            self.push_moving(&joint, &parent, &child, &origin, axis);
            if ends_here {
                return;
            }
            (parent, on) = (child, Placement::identity());
        }
        let wanted = model.links[to].joint.clone();
        let is_free = |name: &String| !self.joint_names.contains(name);
        let name = wanted.filter(is_free).unwrap_or_else(|| format!("{}_fixed", end.name));
        let name = unused(&mut self.joint_names, &name);
        let origin = on.inverse() * end.body_from_frame;
        let joint = joint_between(name, JointType::Fixed, &parent, &end.name, &origin);
        self.joints.push((Order::Fixed(to), joint));
    }

    /// Adds a massless link.
    fn add_link(&mut self, name: &str) -> String {
        let name = unused(&mut self.names, name);
        let inertial = urdf_rs::Inertial::default();
        self.extra.push(urdf_rs::Link {
            name: name.clone(),
            inertial,
            visual: Vec::new(),
            collision: Vec::new(),
        });
        name
    }

    /// The joint with this last body.
    fn joint_of(&self, body: usize) -> Moving<'a> {
        let own = self.model.joints.iter().position(|joint| joint.body == body);
        if let Some(index) = own {
            return Moving::Own(index, &self.model.joints[index]);
        }
        let follows = self.model.mimics.iter().position(|joint| joint.body == body);
        let index = follows.unwrap_or(0);
        let kind = match self.model.bodies[body].axis {
            Axis::Prismatic => JointKind::Prismatic,
            _ => JointKind::Revolute,
        };
        Moving::Follows(index, kind)
    }

    fn push_moving(
        &mut self,
        joint: &Moving<'_>,
        parent: &str,
        child: &str,
        origin: &Placement,
        axis: Vector3<f64>,
    ) {
        let (model, name) = (self.model, joint.name(self.model).to_owned());
        let mut out = joint_between(name, JointType::Fixed, parent, child, origin);
        out.axis = urdf_rs::Axis { xyz: Vec3(axis.into()) };
        let order = match *joint {
            Moving::Own(index, own) => {
                out.joint_type = type_of(own);
                out.limit = limit_of(own);
                out.dynamics = dynamics(own.damping, own.friction);
                Order::Own(index)
            }
            Moving::Follows(index, kind) => {
                let follower = &model.mimics[index];
                let (law, leader) = (follower.multiplier, model.joint(follower.joint));
                let end = |bound: f64| match law {
                    0.0 => follower.offset,
                    _ => law * bound + follower.offset,
                };
                let (one, other) = (end(leader.lower), end(leader.upper));
                let own = Joint {
                    kind,
                    lower: one.min(other),
                    upper: one.max(other),
                    effort: f64::INFINITY,
                    velocity: if law == 0.0 { 0.0 } else { law.abs() * leader.velocity },
                    ..leader.clone()
                };
                out.joint_type = type_of(&own);
                out.limit = limit_of(&own);
                out.dynamics = dynamics(follower.damping, follower.friction);
                out.mimic = Some(urdf_rs::Mimic {
                    joint: model.joint(follower.joint).name.clone(),
                    multiplier: Some(follower.multiplier),
                    offset: Some(follower.offset),
                });
                Order::Follows(index)
            }
        };
        self.joints.push((order, out));
    }
}

/// A moving joint: independent, or a mimic joint.
enum Moving<'a> {
    Own(usize, &'a Joint),
    Follows(usize, JointKind),
}

impl Moving<'_> {
    fn kind(&self) -> JointKind {
        match self {
            Self::Own(_, joint) => joint.kind,
            Self::Follows(_, kind) => *kind,
        }
    }

    fn name<'m>(&self, model: &'m Model) -> &'m str {
        match self {
            Self::Own(index, _) => &model.joints[*index].name,
            Self::Follows(index, _) => &model.mimics[*index].name,
        }
    }
}

/// Placement of the last body of a joint on the parent body at coordinate zero, and the sign of the
/// axis.
fn displacement_zero(model: &Model, joint: &Moving<'_>, bodies: &[Body]) -> (Placement, f64) {
    let mut at = Placement::identity();
    for body in bodies {
        at = at * Placement { rotation: body.rotation, translation: body.offset };
    }
    let Some(body) = bodies.last() else { return (at, 1.0) };
    let (sign, offset) = match joint {
        Moving::Own(..) if body.scale < 0.0 => (-1.0, 0.0),
        Moving::Own(..) => (1.0, 0.0),
        Moving::Follows(index, _) => {
            let follower = &model.mimics[*index];
            let sign = if body.scale * follower.multiplier < 0.0 { -1.0 } else { 1.0 };
            (sign, sign * follower.offset)
        }
    };
    let rest = body.shift - offset;
    let moved = match body.axis {
        Axis::Prismatic => {
            Placement { rotation: Matrix3::identity(), translation: Vector3::z() * rest }
        }
        Axis::Revolute => Placement::from_xyz_rpy([0.0; 3], [0.0, 0.0, rest]),
        Axis::BallX | Axis::BallY | Axis::Ball => Placement::identity(),
    };
    (at * moved, sign)
}

/// Returns `true` if a link with this placement on the last body can be the child of the joint.
fn is_on_axis(body_from_link: &Placement, kind: JointKind) -> bool {
    let is_turned = !matches!(kind, JointKind::Spherical | JointKind::Floating)
        || body_from_link.rotation == Matrix3::identity();
    body_from_link.translation == Vector3::zeros() && is_turned
}

fn type_of(joint: &Joint) -> JointType {
    match joint.kind {
        JointKind::Revolute if joint.lower == f64::NEG_INFINITY && joint.upper == f64::INFINITY => {
            JointType::Continuous
        }
        JointKind::Revolute => JointType::Revolute,
        JointKind::Continuous => JointType::Continuous,
        JointKind::Prismatic => JointType::Prismatic,
        JointKind::Planar => JointType::Planar,
        JointKind::Spherical => JointType::Spherical,
        JointKind::Floating => JointType::Floating,
    }
}

fn limit_of(joint: &Joint) -> JointLimit {
    JointLimit {
        lower: joint.lower.max(-NO_LIMIT),
        upper: joint.upper.min(NO_LIMIT),
        effort: joint.effort.min(NO_LIMIT),
        velocity: joint.velocity.min(NO_LIMIT),
        ..JointLimit::default()
    }
}

fn dynamics(damping: f64, friction: f64) -> Option<urdf_rs::Dynamics> {
    (damping != 0.0 || friction != 0.0).then_some(urdf_rs::Dynamics { damping, friction })
}

fn joint_between(
    name: String,
    joint_type: JointType,
    parent: &str,
    child: &str,
    origin: &Placement,
) -> urdf_rs::Joint {
    urdf_rs::Joint {
        name,
        joint_type,
        origin: pose_of(origin),
        parent: urdf_rs::LinkName { link: parent.to_owned() },
        child: urdf_rs::LinkName { link: child.to_owned() },
        axis: urdf_rs::Axis::default(),
        limit: JointLimit::default(),
        calibration: None,
        dynamics: None,
        mimic: None,
        safety_controller: None,
    }
}

fn inertial_of(inertia: &Inertia) -> urdf_rs::Inertial {
    let m = inertia.about_center_of_mass();
    urdf_rs::Inertial {
        origin: urdf_rs::Pose { xyz: Vec3(inertia.center_of_mass().into()), rpy: Vec3::default() },
        mass: urdf_rs::Mass { value: inertia.mass() },
        inertia: urdf_rs::Inertia {
            ixx: m[(0, 0)],
            ixy: m[(0, 1)],
            ixz: m[(0, 2)],
            iyy: m[(1, 1)],
            iyz: m[(1, 2)],
            izz: m[(2, 2)],
        },
    }
}

fn visual_of(link: &str, index: usize, visual: &Visual) -> urdf_rs::Visual {
    let material = visual.color.map(|rgba| urdf_rs::Material {
        name: format!("{link}_{index}"),
        color: Some(urdf_rs::Color { rgba: Vec4(rgba) }),
        texture: None,
    });
    urdf_rs::Visual {
        name: None,
        origin: pose_of(&visual.link_from_shape),
        geometry: geometry_of(&visual.shape),
        material,
    }
}

fn geometry_of(shape: &Shape) -> Geometry {
    match shape {
        Shape::Sphere { radius } => Geometry::Sphere { radius: *radius },
        Shape::Box { size } => Geometry::Box { size: Vec3((*size).into()) },
        Shape::Cylinder { radius, length } => {
            Geometry::Cylinder { radius: *radius, length: *length }
        }
        Shape::Capsule { radius, length } => Geometry::Capsule { radius: *radius, length: *length },
        Shape::Mesh { path, scale } => {
            Geometry::Mesh { filename: path.clone(), scale: Some(Vec3((*scale).into())) }
        }
    }
}

fn pose_of(placement: &Placement) -> urdf_rs::Pose {
    urdf_rs::Pose {
        xyz: Vec3(placement.translation.into()),
        rpy: Vec3(angles_of(&placement.rotation)),
    }
}

/// A unique name: the given one, with a number if it exists. Adds it to the set.
fn unused(names: &mut BTreeSet<String>, name: &str) -> String {
    let numbered = (2..).map(|number: usize| format!("{name}_{number}"));
    let mut candidates = std::iter::once(name.to_owned()).chain(numbered);
    let name = candidates.find(|name| !names.contains(name)).unwrap_or_default();
    names.insert(name.clone());
    name
}
