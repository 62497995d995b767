//! The energy that a step's forces put into bodies and springs.

use super::problem::{ConstraintProblem, Friction, Law, SpringDamper};

/// Relative error of a sum of energies: momentum is met to that where rows are stiff.
const ROUNDING: f64 = 1e-7;

/// `γᵀ (u₁ + û)/2 + U₁ - U₀` [J]: the work of the impulses γ on the bodies, and the change of the
/// energy U in the springs over the step.
///
/// | symbol | argument | meaning [unit] |
/// |---|---|---|
/// | γ | `impulses` | of all rows [N s] |
/// | u₁ | `row_velocity` | `G v₁` [m/s] |
/// | û | `free_velocity` | `G M⁻¹ p`, without constraints [m/s] |
///
/// The law of a step never gains energy if its rate biases are zero: with `h u₁ = φ₁ - φ₀` and
/// û = u₁ - Wγ the work is `λᵀ(φ₁ - φ₀) - ½ γᵀWγ`, λ - B φ̇₁ is at most minus the slope of the
/// convex U at φ₁, and `U₁ - U₀` at most that slope times φ₁ - φ₀. Forces other than the law's can.
/// Where the sum is not above what rounding leaves of its terms, it is zero.
pub(super) fn gained_energy(
    problem: &ConstraintProblem,
    impulses: &[f64],
    row_velocity: &[f64],
    free_velocity: &[f64],
) -> f64 {
    let h = problem.time_step;
    let work = |row: usize| 0.5 * impulses[row] * (row_velocity[row] + free_velocity[row]);
    let (mut gained, mut size) = (0.0, 0.0);
    let mut add = |energy: f64| {
        gained += energy;
        size += energy.abs();
    };
    for constraint in problem.constraints() {
        let (law, first) = (&constraint.law, constraint.first_row);
        let last = first + law.row_count() - 1;
        (first..=last).map(work).for_each(&mut add);

        let row = law.normal();
        let end = row.deformation + h * (row_velocity[last] + h * row.rate_bias);
        let only_pushes = !matches!(law, Law::Bilateral(_));
        add(stored(row, -end, only_pushes));
        add(-stored(row, -row.deformation, only_pushes));
        if let Law::Contact(_, friction) = law {
            for k in 0..2 {
                let before = friction.deformation[k];
                let rate = row_velocity[first + k] + h * friction.rate_bias[k];
                let after = kept(friction, before + h * rate, impulses[first + k] / h);
                add(0.5 * friction.stiffness * after * after);
                add(-0.5 * friction.stiffness * before * before);
            }
        }
    }
    if gained.abs() > ROUNDING * size { gained } else { 0.0 }
}

/// Energy of a spring at this depth [J]: the integral of `λ_p + K sgn(d) |d|^e` over the depth,
/// from where the force is zero if the row only pushes.
fn stored(row: &SpringDamper, depth: f64, only_pushes: bool) -> f64 {
    let SpringDamper { stiffness, exponent: e, preload, .. } = *row;
    let integral = |d: f64| preload * d + stiffness * libm::pow(d.abs(), e + 1.0) / (e + 1.0);
    if !only_pushes || stiffness == 0.0 {
        return integral(depth);
    }
    let zero = -preload.signum() * libm::pow(preload.abs() / stiffness, 1.0 / e);
    if depth > zero { integral(depth) - integral(zero) } else { 0.0 }
}

/// What remains of a tangential deformation once the contact has slipped to this force.
fn kept(friction: &Friction, deformation: f64, force: f64) -> f64 {
    if friction.stiffness == 0.0 {
        return 0.0;
    }
    deformation.abs().min(force.abs() / friction.stiffness)
}
