//! What a robot file says, as data.

use std::ops::Add;

use legwork_mechanics::nalgebra::{Matrix3, Vector3};
use legwork_mechanics::{JointKind, Model, Shape};
use serde::Serialize;

/// A robot in numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Its name.
    pub name: String,
    /// Whether its root link is free in space.
    pub is_floating: bool,
    /// Of all that moves [kg].
    pub mass: f64,
    /// Numbers of q, ν and τ.
    pub nq: usize,
    /// Numbers of ν.
    pub nv: usize,
    /// Numbers of τ.
    pub n: usize,
    /// Links, parents before children.
    pub links: Vec<LinkOf>,
    /// Joints that move on their own, in the order of s.
    pub joints: Vec<JointOf>,
    /// Joints that follow others.
    pub followers: Vec<Follower>,
    /// Frames beside those of links: where an equality of the file holds two bodies together.
    pub frames: Vec<String>,
    /// What is doubtful, and what is not used.
    pub warnings: Vec<String>,
}

/// A link.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinkOf {
    /// Its name, which is also that of its frame.
    pub name: String,
    /// How many links are above it.
    pub depth: usize,
    /// The link above.
    pub parent: Option<String>,
    /// The joint to it.
    pub joint: Option<String>,
    /// Its inertia; `None` if it has none.
    pub inertia: Option<Inertia>,
    /// Collision shapes, as text.
    pub shapes: Vec<String>,
}

/// Mass and inertia of a link.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Inertia {
    /// [kg].
    pub mass: f64,
    /// Centre of mass in the link's frame [m].
    pub center: [f64; 3],
    /// Principal moments, ascending [kg m²].
    pub principal: [f64; 3],
    /// Whether the matrix is positive definite.
    pub is_positive: bool,
    /// Whether no moment exceeds the sum of the others.
    pub is_triangle: bool,
    /// Axes of the link's frame about which a mirror image would have the same matrix: those of
    /// which both products of inertia vanish.
    pub symmetric_axes: Vec<char>,
}

/// A joint.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JointOf {
    /// Its name.
    pub name: String,
    /// Its kind, as the file names it.
    pub kind: &'static str,
    /// Limits of position [rad or m]; `None` if there is none.
    pub lower: Option<f64>,
    /// The upper one.
    pub upper: Option<f64>,
    /// Largest torque or force [N m or N].
    pub effort: Option<f64>,
    /// Largest speed [rad/s or m/s].
    pub velocity: Option<f64>,
    /// Viscous damping that acts [N m s/rad or N s/m].
    pub damping: f64,
    /// Dry friction that acts [N m or N].
    pub friction: f64,
    /// Stiffness of its springs that act [N m/rad or N/m].
    pub stiffness: f64,
    /// Where these are at rest [rad or m]; `None` without springs.
    pub rest: Option<f64>,
    /// Reflected inertia of its motor [kg m² or kg].
    pub rotor_inertia: f64,
}

/// A joint that follows another: `s = multiplier · s_joint + offset`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Follower {
    /// Its name.
    pub name: String,
    /// The joint that it follows.
    pub joint: String,
    /// Displacement per displacement.
    pub multiplier: f64,
    /// Displacement at zero [rad or m].
    pub offset: f64,
}

/// A moment or product that is rounding beside the largest.
const ROUNDING: f64 = 1e-9;

impl Inertia {
    fn new(inertia: &legwork_mechanics::Inertia) -> Self {
        let principal = inertia.principal_moments();
        let [least, middle, most] = principal;
        let m: Matrix3<f64> = inertia.about_center_of_mass();
        let small = |a: usize, b: usize| m[(a, b)].abs() <= ROUNDING * most.abs();
        let axes = [('x', [(0, 1), (0, 2)]), ('y', [(0, 1), (1, 2)]), ('z', [(0, 2), (1, 2)])];
        let symmetric = axes.iter().filter(|(_, pairs)| pairs.iter().all(|&(a, b)| small(a, b)));
        let center: Vector3<f64> = inertia.center_of_mass();
        Self {
            mass: inertia.mass(),
            center: center.into(),
            principal,
            is_positive: inertia.mass() > 0.0 && least > 0.0,
            is_triangle: most <= (least + middle) * (1.0 + ROUNDING),
            symmetric_axes: symmetric.map(|(axis, _)| *axis).collect(),
        }
    }
}

impl Summary {
    pub(super) fn new(model: &Model, warnings: Vec<String>) -> Self {
        let limit = |value: f64| value.is_finite().then_some(value);
        let names = model.frames();
        // Parents before children, in the order of the file otherwise.
        let mut links = Vec::with_capacity(names.len());
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); names.len()];
        let mut open: Vec<(usize, usize)> = Vec::new();
        for (i, link) in model.links().iter().enumerate() {
            match link.parent {
                Some(parent) => children[parent.index()].push(i),
                None => open.push((i, 0)),
            }
        }
        open.reverse();
        while let Some((i, depth)) = open.pop() {
            let link = &model.links()[i];
            let has_inertia = link.inertia != legwork_mechanics::Inertia::zero();
            let shapes = model.collisions().iter().filter(|shape| shape.link.index() == i);
            links.push(LinkOf {
                name: names[i].name.clone(),
                depth,
                parent: link.parent.map(|parent| names[parent.index()].name.clone()),
                joint: link.joint.clone(),
                inertia: has_inertia.then(|| Inertia::new(&link.inertia)),
                shapes: shapes.map(|shape| shown(&shape.shape)).collect(),
            });
            open.extend(children[i].iter().rev().map(|&child| (child, depth + 1)));
        }
        let resistance = model.resistance();
        let mut at = 0;
        let joints = model.joints().iter().enumerate().map(|(i, joint)| {
            let own = at;
            at += joint.kind.velocity_dim();
            let springs = model.springs().iter().filter(|spring| spring.joint.index() == i);
            let stiffness: f64 = springs.clone().map(|spring| spring.stiffness).fold(0.0, Add::add);
            let pull: f64 = springs.map(|spring| spring.stiffness * spring.rest).sum();
            JointOf {
                name: joint.name.clone(),
                kind: kind(joint.kind),
                lower: limit(joint.lower),
                upper: limit(joint.upper),
                effort: limit(joint.effort),
                velocity: limit(joint.velocity),
                damping: resistance.viscous()[own],
                friction: resistance.dry()[own],
                stiffness,
                rest: (stiffness > 0.0).then(|| pull / stiffness),
                rotor_inertia: model.rotors().diagonal()[own],
            }
        });
        let joints = joints.collect();
        let followers = model.mimic_joints().iter().map(|mimic| Follower {
            name: mimic.name.clone(),
            joint: model.joint(mimic.joint).name.clone(),
            multiplier: mimic.multiplier,
            offset: mimic.offset,
        });
        Self {
            name: model.name().to_owned(),
            is_floating: model.trees().iter().any(legwork_mechanics::Tree::is_floating),
            mass: model.total_mass(),
            nq: model.configuration_dim(),
            nv: model.velocity_dim(),
            n: model.joint_dim(),
            links,
            joints,
            followers: followers.collect(),
            frames: names[model.links().len()..].iter().map(|frame| frame.name.clone()).collect(),
            warnings,
        }
    }
}

fn kind(kind: JointKind) -> &'static str {
    match kind {
        JointKind::Revolute => "revolute",
        JointKind::Continuous => "continuous",
        JointKind::Prismatic => "prismatic",
        JointKind::Planar => "planar",
        JointKind::Spherical => "spherical",
        JointKind::Floating => "floating",
        _ => "other",
    }
}

fn shown(shape: &Shape) -> String {
    match shape {
        Shape::Sphere { radius } => format!("sphere r {radius}"),
        Shape::Box { size } => format!("box {} × {} × {}", size.x, size.y, size.z),
        Shape::Cylinder { radius, length } => format!("cylinder r {radius}, {length}"),
        Shape::Capsule { radius, length } => format!("capsule r {radius}, {length}"),
        Shape::Mesh { path, .. } => format!("mesh {path}"),
        _ => "other".to_owned(),
    }
}
