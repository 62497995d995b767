//! Drift of a body that floats alone, by the energy-momentum rule of the parent module.

use nalgebra::{Matrix3, Vector3};

use super::{MOST_ITERATIONS, is_pushed, three};
use crate::manifold::{quaternion_exp, quaternion_to_rotation};
use crate::model::{Model, Tree};

/// Drift of a body that floats alone; q and ν are those of the body.
pub(super) fn replace_body(
    model: &Model,
    tree: &Tree,
    (q, nu): (&[f64], &[f64]),
    step: f64,
    (acceleration, shift): (&mut [f64], &mut [f64]),
    is_smooth: bool,
) -> bool {
    let inertia = &model.bodies[tree.bodies.start].inertia;
    let moments = inertia.about_center_of_mass();
    let Some(inverse) = moments.try_inverse().filter(|_| inertia.mass() > 0.0) else {
        return false;
    };
    // world_from_body
    let r = quaternion_to_rotation([q[3], q[4], q[5], q[6]]);
    let arm = r * inertia.center_of_mass();
    let (velocity, omega) = (three(nu), three(&nu[3..]));
    let (linear, angular) = (three(acceleration), three(&acceleration[3..]));

    let push = linear + angular.cross(&arm) + omega.cross(&omega.cross(&arm));
    if !is_smooth && is_pushed(model, push, omega) {
        return false;
    }

    // Kick of the centre of mass, and of the angular momentum in body axes.
    let kicked = velocity + omega.cross(&arm) + step * push;
    let in_body = r.tr_mul(&omega);
    let spin = moments * in_body;
    let momentum = spin + step * (moments * r.tr_mul(&angular)) + step * in_body.cross(&spin);

    let Some((turn, momentum)) = turn_of(&moments, &inverse, &momentum, step) else {
        return false;
    };
    let end = r * rotation(&turn);
    let arm_at_end = end * inertia.center_of_mass();
    let omega_at_end = end * (inverse * momentum);
    let velocity_at_end = kicked - omega_at_end.cross(&arm_at_end);
    let moves = kicked + (arm - arm_at_end) / step;
    let turns = r * turn / step;
    for k in 0..3 {
        acceleration[k] = (velocity_at_end[k] - velocity[k]) / step;
        acceleration[3 + k] = (omega_at_end[k] - omega[k]) / step;
        shift[k] = moves[k] - velocity_at_end[k];
        shift[3 + k] = turns[k] - omega_at_end[k];
    }
    true
}

/// Turn `Δt ω` [rad] of a free body over a step, and its angular momentum afterwards, both in body
/// axes: the energy-momentum rule of the module, by Newton's method.
///
/// | symbol | argument | shape | meaning |
/// |---|---|---|---|
/// | I, I⁻¹ | `moments`, `inverse` | 3 × 3 | inertia about the centre of mass [kg m²] |
/// | Π | `momentum` | 3 | at the beginning, in body axes [kg m²/s] |
/// | Δt | `step` | | [s] |
///
/// `None` if it does not converge.
pub fn turn_of(
    moments: &Matrix3<f64>,
    inverse: &Matrix3<f64>,
    momentum: &Vector3<f64>,
    step: f64,
) -> Option<(Vector3<f64>, Vector3<f64>)> {
    // Newton on the mean ω: I ω − Π + ½ Δt' ω × I ω = 0.
    let mut omega = inverse * momentum;
    let size = momentum.norm();
    for _ in 0..MOST_ITERATIONS {
        let stretched = step * stretch(step * omega.norm());
        let mean = moments * omega;
        let residual = mean - momentum + 0.5 * stretched * omega.cross(&mean);
        if residual.norm() <= 4.0 * f64::EPSILON * size {
            break;
        }
        let slope =
            moments + 0.5 * stretched * (omega.cross_matrix() * moments - mean.cross_matrix());
        omega -= slope.try_inverse()? * residual;
    }
    let turn = omega * (step * angle_ratio(step * omega.norm()));
    let after = rotation(&turn).tr_mul(momentum);
    let energy = momentum.dot(&(inverse * momentum));
    let change = after.dot(&(inverse * after)) - energy;
    (change.abs() <= 1e-9 * energy).then_some((turn, after))
}

/// Turn of a step [rad] from which Cayley's transform is used.
const LONGEST_EXACT_TURN: f64 = 2.0;

/// `Δt'/Δt` at the turn `x = Δt |ω|`: `tan(x/2)/(x/2)`.
fn stretch(turn: f64) -> f64 {
    let half = 0.5 * turn.min(LONGEST_EXACT_TURN);
    if half < 1e-4 { 1.0 + half * half / 3.0 } else { libm::tan(half) / half }
}

/// Angle of the turn over x: 1, and `2 atan(½ x Δt'/Δt)/x` beyond [`LONGEST_EXACT_TURN`].
fn angle_ratio(turn: f64) -> f64 {
    if turn <= LONGEST_EXACT_TURN {
        return 1.0;
    }
    2.0 * libm::atan(0.5 * turn * stretch(turn)) / turn
}

/// Rotation by the vector `turn` [rad].
fn rotation(turn: &Vector3<f64>) -> Matrix3<f64> {
    quaternion_to_rotation(quaternion_exp(turn))
}
