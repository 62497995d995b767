//! The recursive Newton–Euler algorithm.
//!
//! With `a_i` the spatial acceleration of body i about `O`, gravity included as `−g`, and `c` its
//! centre of mass:
//!
//! ```text
//! a_c = a_lin + α × c + ω × (v_lin + ω × c)          acceleration of the centre of mass
//! f   = m (a_c − g)                                  force through it
//! n   = I_c α + ω × I_c ω + c × f                    moment about O
//! ```
//!
//! summed from the leaves to the root; the joint's row is `Sᵀ (f, n)`, the base rows are the sum.
//!
//! Reference: R. Featherstone, *Rigid Body Dynamics Algorithms* (2008), sec. 5.3; here in world
//! axes about the base origin, so that no vector is transformed between bodies.

use nalgebra::Vector3;

use crate::kinematics::{BodyState, GroupState, Kinematics, Motion};
use crate::layout::{Group, Role, gather, scatter};
use crate::model::{Model, Tree};
use crate::quad::{LANES, Laned, Quad, Quad3, QuadMotion, laned};

/// Scratch memory of [`bias_force`] and [`inverse_dynamics`].
#[derive(Clone, Debug)]
pub struct InverseDynamics {
    /// By group of the layout.
    groups: Vec<Share>,
}

#[derive(Clone, Debug)]
struct Share {
    force: QuadForce,
    /// Acceleration due to `ν̇` alone.
    acceleration: QuadMotion,
}

/// Four spatial forces about `O`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuadForce {
    pub(crate) force: Quad3,
    pub(crate) moment: Quad3,
}

laned!(QuadForce: force, moment);

/// Spatial force about `O`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpatialForce {
    pub(crate) force: Vector3<f64>,
    pub(crate) moment: Vector3<f64>,
}

impl InverseDynamics {
    /// Memory for `model`.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let none = Share {
            force: QuadForce { force: Quad3::zero(), moment: Quad3::zero() },
            acceleration: QuadMotion::zero(),
        };
        Self { groups: vec![none; model.layout.groups.len()] }
    }
}

/// Bias force `h(q, ν)` (nv): Coriolis, centrifugal and gravity terms of `M ν̇ + h = …`
/// [N, N m, N m or N]; equal to [`inverse_dynamics`] at `ν̇ = 0`.
///
/// O(n), allocates nothing.
///
/// # Panics
/// If `out` has the wrong length.
#[doc(alias("nle", "non-linear effects", "generalized bias forces", "Coriolis and gravity"))]
pub fn bias_force(
    model: &Model,
    kinematics: &Kinematics,
    workspace: &mut InverseDynamics,
    out: &mut [f64],
) {
    assert_eq!(out.len(), model.velocity_dim(), "length of out");
    bias_forces(model, kinematics, &model.gravity, workspace);
    project(model, kinematics, workspace, out);
}

/// Generalised force `M ν̇ + h` (nv) that the acceleration `ν̇` takes [N, N m, N m or N].
///
/// | symbol | argument | shape | meaning |
/// |---|---|---|---|
/// | ν̇ | `acceleration` | nv | time derivative of ν [m/s², rad/s², rad/s² or m/s²] |
/// | | `out` | nv | force on the base, moment about its origin, joint torques |
///
/// Rotor inertia of the model is included. External forces are the caller's to subtract
/// (`add_frame_wrench` with the opposite sign). O(n), allocates nothing.
///
/// # Panics
/// If a slice has the wrong length.
#[doc(alias("rnea", "RNEA", "recursive Newton-Euler", "computed torque"))]
pub fn inverse_dynamics(
    model: &Model,
    kinematics: &Kinematics,
    acceleration: &[f64],
    workspace: &mut InverseDynamics,
    out: &mut [f64],
) {
    assert_eq!(acceleration.len(), model.velocity_dim(), "length of acceleration");
    assert_eq!(out.len(), model.velocity_dim(), "length of out");
    // Accelerations due to ν̇ alone; those due to ν are in the kinematics and add to them.
    let layout = &*model.layout;
    let gravity = Quad3::splat(&model.gravity);
    for tree in &model.trees {
        let own = root_acceleration(tree, acceleration);
        let (group, lane) = layout.places[tree.bodies.start];
        let share = &mut workspace.groups[group].acceleration;
        share.linear.set_lane(lane, &own.linear);
        share.angular.set_lane(lane, &own.angular);
    }
    // To the leaves: a' = a'_λ + S ν̇, four bodies at once, or four stretches of a chain that are
    // joined afterwards. With what ν causes that gives the force of each body.
    for (g, (group, state)) in layout.groups.iter().zip(&kinematics.groups).enumerate() {
        match group.role {
            Role::Tree if g >= layout.root_groups => {
                let above = gather(&group.parent, &workspace.groups, |s| &s.acceleration);
                workspace.groups[g].acceleration =
                    above + state.subspace.times(group.rates(acceleration));
            }
            Role::Start(chain) => {
                let chain = &layout.chains[chain];
                chain.begin(&mut workspace.groups, |s| &mut s.acceleration);
                for g in chain.groups() {
                    let rates = layout.groups[g].rates(acceleration);
                    workspace.groups[g].acceleration = workspace.groups[g - 1].acceleration
                        + kinematics.groups[g].subspace.times(rates);
                }
                chain.carry_out(&mut workspace.groups, |s| &mut s.acceleration);
            }
            Role::Tree | Role::Link => {}
        }
        let share = &mut workspace.groups[g];
        let total = share.acceleration + state.bias;
        share.force = group_force(group.mass, state, &total, &gravity);
    }
    project(model, kinematics, workspace, out);
    model.rotors.add_force(&model.joint_velocities, acceleration, out);
}

/// Spatial acceleration of a root about its own origin, at the generalised acceleration given.
#[inline]
pub(crate) fn root_acceleration(tree: &Tree, acceleration: &[f64]) -> Motion {
    match acceleration[tree.v.clone()] {
        [a, b, c, d, e, f, ..] if tree.is_floating() => {
            Motion { linear: Vector3::new(a, b, c), angular: Vector3::new(d, e, f) }
        }
        _ => Motion::zero(),
    }
}

/// Coriolis and centrifugal force `C(q, ν) ν` (nv): the part of `h` that is quadratic in `ν`
/// [N, N m, N m or N]; `h` less [`gravity_force`]. O(n), allocates nothing.
///
/// # Panics
/// If `out` has the wrong length.
pub fn coriolis_force(
    model: &Model,
    kinematics: &Kinematics,
    workspace: &mut InverseDynamics,
    out: &mut [f64],
) {
    assert_eq!(out.len(), model.velocity_dim(), "length of out");
    bias_forces(model, kinematics, &Vector3::zeros(), workspace);
    project(model, kinematics, workspace, out);
}

/// Gravity force (nv): the part of `h` that remains at `ν = 0` [N, N m, N m or N].
///
/// From the first moments of mass of the subtrees: `−Sᵀ (m g, mc × g)`. O(n), allocates nothing.
///
/// # Panics
/// If `out` has the wrong length.
#[doc(alias("generalized gravity", "gravity compensation"))]
pub fn gravity_force(model: &Model, kinematics: &Kinematics, out: &mut [f64]) {
    assert_eq!(out.len(), model.velocity_dim(), "length of out");
    out.fill(0.0);
    let g = &model.gravity;
    for tree in &model.trees {
        for i in tree.bodies.clone() {
            let (body, state) = (&model.bodies[i], &kinematics.body(i));
            let force = g * -body.subtree_mass;
            let moment = g.cross(&state.subtree_moment);
            if i > tree.bodies.start {
                out[body.v_index] += state.subspace.power(&force, &moment);
            } else if tree.is_floating() {
                let base = &mut out[tree.v.start..tree.v.start + 6];
                base[..3].copy_from_slice(force.as_slice());
                base[3..].copy_from_slice(moment.as_slice());
            }
        }
    }
}

/// Force that gives the body the acceleration `a` (spatial, about `O`) against gravity.
#[inline]
pub(crate) fn body_force(
    mass: f64,
    state: &BodyState,
    a: &Motion,
    gravity: &Vector3<f64>,
) -> SpatialForce {
    let (v, c) = (&state.velocity, &state.center);
    let center_velocity = v.linear + v.angular.cross(c);
    let center_acceleration =
        a.linear + a.angular.cross(c) + v.angular.cross(&center_velocity) - gravity;
    let force = center_acceleration * mass;
    let spin = state.inertia.times(&v.angular);
    let moment = state.inertia.times(&a.angular) + v.angular.cross(&spin) + c.cross(&force);
    SpatialForce { force, moment }
}

/// As [`body_force`], for four bodies.
#[inline(always)]
pub(crate) fn group_force(
    mass: Quad,
    state: &GroupState,
    a: &QuadMotion,
    gravity: &Quad3,
) -> QuadForce {
    let (v, c) = (&state.velocity, &state.center);
    let center_velocity = v.linear + v.angular.cross(c);
    let center_acceleration =
        a.linear + a.angular.cross(c) + v.angular.cross(&center_velocity) - *gravity;
    let force = center_acceleration.times(mass);
    let spin = state.inertia.times(&v.angular);
    let moment = state.inertia.times(&a.angular) + v.angular.cross(&spin) + c.cross(&force);
    QuadForce { force, moment }
}

/// Forces that the bodies need at `ν̇ = 0` against `gravity`.
#[inline]
fn bias_forces(
    model: &Model,
    kinematics: &Kinematics,
    gravity: &Vector3<f64>,
    workspace: &mut InverseDynamics,
) {
    let gravity = Quad3::splat(gravity);
    let groups = model.layout.groups.iter().zip(&kinematics.groups);
    for ((group, state), share) in groups.zip(&mut workspace.groups) {
        share.force = group_force(group.mass, state, &state.bias, &gravity);
    }
}

/// Sums forces from the leaves to the root and projects them onto the coordinates.
#[inline]
fn project(
    model: &Model,
    kinematics: &Kinematics,
    workspace: &mut InverseDynamics,
    out: &mut [f64],
) {
    let layout = &*model.layout;
    // Coupled bodies share a coordinate, so entries add.
    out.fill(0.0);
    for (g, group) in layout.groups.iter().enumerate().skip(layout.root_groups).rev() {
        match group.role {
            Role::Tree => add_powers(group, &kinematics.groups[g], &workspace.groups[g].force, out),
            Role::Link => {}
            Role::Start(chain) => {
                let chain = &layout.chains[chain];
                chain.carry_in(&mut workspace.groups, |share| &mut share.force);
                for g in chain.groups() {
                    let force = &workspace.groups[g].force;
                    add_powers(&layout.groups[g], &kinematics.groups[g], force, out);
                }
                continue;
            }
        }
        let (rest, own) = workspace.groups.split_at_mut(g);
        scatter(&group.parent, &group.live, rest, |share| &mut share.force, &own[0].force);
    }
    // A floating base feels what is left at its root.
    for tree in model.trees.iter().filter(|tree| tree.is_floating()) {
        let (group, lane) = layout.places[tree.bodies.start];
        let force = &workspace.groups[group].force;
        let base = &mut out[tree.v.start..tree.v.start + 6];
        base[..3].copy_from_slice(force.force.lane(lane).as_slice());
        base[3..].copy_from_slice(force.moment.lane(lane).as_slice());
    }
}

/// Adds `Sᵀ f` of the bodies of a group.
#[inline(always)]
fn add_powers(group: &Group, state: &GroupState, force: &QuadForce, out: &mut [f64]) {
    let values = state.subspace.power(&force.force, &force.moment).to_array();
    for l in 0..LANES {
        if group.live[l] {
            out[group.v_index[l]] += values[l];
        }
    }
}
