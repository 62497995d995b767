//! Centre of mass, momentum and energy of the whole robot.
//!
//! The root body of a fixed base cannot move and is left out of every sum.

use nalgebra::Vector3;

use crate::kinematics::Kinematics;
use crate::model::Model;
use crate::placement::MixedWrench;

/// Centre of mass in the world [m]; the base origin if nothing has mass.
#[must_use]
pub fn center_of_mass(model: &Model, kinematics: &Kinematics) -> Vector3<f64> {
    kinematics.base_position + center_from_base(model, kinematics)
}

/// Velocity of the centre of mass in world axes [m/s].
#[must_use]
pub fn center_of_mass_velocity(model: &Model, kinematics: &Kinematics) -> Vector3<f64> {
    let mass = model.total_mass();
    let mut momentum = Vector3::zeros();
    for (body, state) in model.bodies.iter().zip(&kinematics.bodies) {
        let v = &state.velocity;
        momentum += (v.linear + v.angular.cross(&state.center)) * body.inertia.mass();
    }
    if mass > 0.0 {
        momentum /= mass;
    }
    kinematics.base_linear_velocity + momentum
}

/// Jacobian of the centre of mass (3 × nv, column-major): `ċ = J ν`.
///
/// The column of a joint is the mass-weighted motion of what it carries,
/// `(m_i S_lin + S_ang × (mc)_i) / m`. O(n), allocates nothing.
///
/// # Panics
/// If `out` has the wrong length.
pub fn center_of_mass_jacobian(model: &Model, kinematics: &Kinematics, out: &mut [f64]) {
    assert_eq!(out.len(), 3 * model.velocity_dim(), "length of out");
    out.fill(0.0);
    if model.is_floating() {
        let c = center_from_base(model, kinematics);
        for k in 0..3 {
            let mut axis = Vector3::zeros();
            axis[k] = 1.0;
            out[3 * k + k] = 1.0;
            out[9 + 3 * k..12 + 3 * k].copy_from_slice(axis.cross(&c).as_slice());
        }
    }
    let mass = model.total_mass();
    if mass <= 0.0 {
        return;
    }
    for (body, state) in model.bodies.iter().zip(&kinematics.bodies).skip(1) {
        let s = &state.subspace;
        let column = (s.linear * body.subtree_mass + s.angular.cross(&state.subtree_moment)) / mass;
        out[3 * body.v_index..3 * body.v_index + 3].copy_from_slice(column.as_slice());
    }
}

/// Centroidal momentum in world axes: linear [kg m/s] as `force`, angular about the centre of
/// mass [kg m²/s] as `moment` (a momentum is a wrench times time).
#[must_use]
pub fn centroidal_momentum(model: &Model, kinematics: &Kinematics) -> MixedWrench {
    let center = center_from_base(model, kinematics);
    let mut linear = kinematics.base_linear_velocity * model.total_mass();
    let mut angular = Vector3::zeros();
    for (body, state) in model.bodies.iter().zip(&kinematics.bodies) {
        let v = &state.velocity;
        // ṗ is the same for all bodies and has no moment about the centre of mass.
        let share = (v.linear + v.angular.cross(&state.center)) * body.inertia.mass();
        linear += share;
        angular += (state.center - center).cross(&share) + state.inertia.times(&v.angular);
    }
    MixedWrench { force: linear, moment: angular }
}

/// Kinetic energy of the links [J], `Σ ½ m v_c² + ½ ω·I_c ω`.
///
/// Rotors are left out: add `½ Σ I_rotor ṡ²` ([`rotor_kinetic_energy`]) to have `½ νᵀMν`.
#[must_use]
pub fn kinetic_energy(model: &Model, kinematics: &Kinematics) -> f64 {
    let mut twice = 0.0;
    for (body, state) in model.bodies.iter().zip(&kinematics.bodies) {
        let v = &state.velocity;
        let center = kinematics.base_linear_velocity + (v.linear + v.angular.cross(&state.center));
        twice += body.inertia.mass() * center.norm_squared()
            + v.angular.dot(&state.inertia.times(&v.angular));
    }
    0.5 * twice
}

/// Kinetic energy of the motor rotors at the joint speeds `ν` (nv) [J]: `½ Σ I_rotor ṡ²`.
///
/// # Panics
/// If `velocity` has the wrong length.
#[must_use]
pub fn rotor_kinetic_energy(model: &Model, velocity: &[f64]) -> f64 {
    assert_eq!(velocity.len(), model.velocity_dim(), "length of velocity");
    let rates = &velocity[model.base_dim()..];
    0.5 * model.rotor_inertia.iter().zip(rates).map(|(i, rate)| i * rate * rate).sum::<f64>()
}

/// Potential energy in the gravity field [J], `−Σ m g·c`, zero at the world origin.
#[must_use]
pub fn potential_energy(model: &Model, kinematics: &Kinematics) -> f64 {
    let moment =
        kinematics.base_position * model.total_mass() + kinematics.bodies[0].subtree_moment;
    -model.gravity.dot(&moment)
}

/// Centre of mass from the base origin, world axes [m].
fn center_from_base(model: &Model, kinematics: &Kinematics) -> Vector3<f64> {
    let mass = model.total_mass();
    let moment = kinematics.bodies[0].subtree_moment;
    if mass > 0.0 { moment / mass } else { moment }
}
