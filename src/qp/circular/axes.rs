//! Forces in turned axes, and their place in the circular cone.

use crate::contact_problem::ContactProblem;

/// Relative tolerance for a force outside the circular cone to count as inside.
const INSIDE: f64 = 1e-12;

/// Transforms `(x, y)` into axes of which the first is `(c, s)`.
#[inline]
pub(super) fn turn_one([c, s]: [f64; 2], x: &mut [f64]) {
    (x[0], x[1]) = (c * x[0] + s * x[1], c * x[1] - s * x[0]);
}

/// Transforms forces from turned axes into the given axes.
pub(super) fn turn_back(directions: &[[f64; 2]], forces: &mut [f64]) {
    for (&[c, s], f) in directions.iter().zip(forces.chunks_exact_mut(3)) {
        turn_one([c, -s], f);
    }
}

/// True if all forces are in the circular cones, up to rounding.
pub(super) fn is_inside(problem: &ContactProblem<'_>, forces: &[f64]) -> bool {
    forces.chunks_exact(3).zip(problem.friction).all(|(f, mu)| {
        let reach = mu * f[2];
        f[0] * f[0] + f[1] * f[1] <= reach * reach * (1.0 + INSIDE)
    })
}

/// Shortens friction to Coulomb's limit.
pub(crate) fn pull_inside(problem: &ContactProblem<'_>, forces: &mut [f64]) {
    for (f, mu) in forces.chunks_exact_mut(3).zip(problem.friction) {
        let (size, reach) = (libm::sqrt(f[0] * f[0] + f[1] * f[1]), (mu * f[2]).max(0.0));
        if size > reach {
            (f[0], f[1]) = (f[0] * (reach / size), f[1] * (reach / size));
        }
    }
}
