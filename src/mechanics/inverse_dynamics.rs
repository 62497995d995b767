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

use crate::kinematics::{BodyState, Kinematics, Motion};
use crate::model::Model;

/// Scratch memory of [`bias_force`] and [`inverse_dynamics`].
#[derive(Clone, Debug)]
pub struct InverseDynamics {
    force: Vec<SpatialForce>,
    acceleration: Vec<Motion>,
}

/// Spatial force about `O`.
#[derive(Clone, Copy, Debug)]
struct SpatialForce {
    force: Vector3<f64>,
    moment: Vector3<f64>,
}

impl InverseDynamics {
    /// Memory for `model`.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let zero = SpatialForce { force: Vector3::zeros(), moment: Vector3::zeros() };
        Self {
            force: vec![zero; model.bodies.len()],
            acceleration: vec![Motion::zero(); model.bodies.len()],
        }
    }
}

/// Bias force `h(q, ν)` (nv): Coriolis, centrifugal and gravity terms of `M ν̇ + h = …`
/// [N, N m, N m or N]; equal to [`inverse_dynamics`] at `ν̇ = 0`.
///
/// O(n), allocates nothing.
///
/// # Panics
/// If `out` has the wrong length.
pub fn bias_force(
    model: &Model,
    kinematics: &Kinematics,
    workspace: &mut InverseDynamics,
    out: &mut [f64],
) {
    assert_eq!(out.len(), model.velocity_dim(), "length of out");
    for ((body, state), force) in
        model.bodies.iter().zip(&kinematics.bodies).zip(&mut workspace.force)
    {
        *force = body_force(body.inertia.mass(), state, &state.bias, &model.gravity);
    }
    gather(model, kinematics, &mut workspace.force, out);
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
    let own = &mut workspace.acceleration;
    own[0] = match acceleration {
        [a, b, c, d, e, f, ..] if model.is_floating() => {
            Motion { linear: Vector3::new(*a, *b, *c), angular: Vector3::new(*d, *e, *f) }
        }
        _ => Motion::zero(),
    };
    for (i, (body, state)) in model.bodies.iter().zip(&kinematics.bodies).enumerate() {
        if i > 0 {
            let parent = own[body.parent];
            let rate = acceleration[body.v_index];
            own[i] = Motion {
                linear: parent.linear + state.subspace.linear * rate,
                angular: parent.angular + state.subspace.angular * rate,
            };
        }
        let total = Motion {
            linear: own[i].linear + state.bias.linear,
            angular: own[i].angular + state.bias.angular,
        };
        workspace.force[i] = body_force(body.inertia.mass(), state, &total, &model.gravity);
    }
    gather(model, kinematics, &mut workspace.force, out);
    let base = model.base_dim();
    for ((out, rotor), rate) in
        out[base..].iter_mut().zip(&model.rotor_inertia).zip(&acceleration[base..])
    {
        *out += rotor * rate;
    }
}

/// Gravity force (nv): the part of `h` that remains at `ν = 0` [N, N m, N m or N].
///
/// From the first moments of mass of the subtrees: `−Sᵀ (m g, mc × g)`. O(n), allocates nothing.
///
/// # Panics
/// If `out` has the wrong length.
pub fn gravity_force(model: &Model, kinematics: &Kinematics, out: &mut [f64]) {
    assert_eq!(out.len(), model.velocity_dim(), "length of out");
    let g = &model.gravity;
    for (i, (body, state)) in model.bodies.iter().zip(&kinematics.bodies).enumerate() {
        let force = g * -body.subtree_mass;
        let moment = g.cross(&state.subtree_moment);
        if i > 0 {
            out[body.v_index] = state.subspace.power(&force, &moment);
        } else if model.is_floating() {
            out[..3].copy_from_slice(force.as_slice());
            out[3..6].copy_from_slice(moment.as_slice());
        }
    }
}

/// Force that gives the body the acceleration `a` (spatial, about `O`) against gravity.
#[inline]
fn body_force(mass: f64, state: &BodyState, a: &Motion, gravity: &Vector3<f64>) -> SpatialForce {
    let (v, c) = (&state.velocity, &state.center);
    let center_velocity = v.linear + v.angular.cross(c);
    let center_acceleration =
        a.linear + a.angular.cross(c) + v.angular.cross(&center_velocity) - gravity;
    let force = center_acceleration * mass;
    let spin = state.inertia.times(&v.angular);
    let moment = state.inertia.times(&a.angular) + v.angular.cross(&spin) + c.cross(&force);
    SpatialForce { force, moment }
}

/// Sums forces from the leaves to the root and projects them onto the coordinates.
#[inline]
fn gather(model: &Model, kinematics: &Kinematics, forces: &mut [SpatialForce], out: &mut [f64]) {
    for (i, body) in model.bodies.iter().enumerate().skip(1).rev() {
        let SpatialForce { force, moment } = forces[i];
        out[body.v_index] = kinematics.bodies[i].subspace.power(&force, &moment);
        let parent = &mut forces[body.parent];
        parent.force += force;
        parent.moment += moment;
    }
    if model.is_floating() {
        out[..3].copy_from_slice(forces[0].force.as_slice());
        out[3..6].copy_from_slice(forces[0].moment.as_slice());
    }
}
