//! The last resort of circular cones: accelerated gradients.

use super::{CircularPasses, SlidingLaw, TOLERANCE, status_of};
use crate::contact_problem::ContactProblem;
use crate::coulomb::share_of;
use crate::status::{Outcome, Status};

/// Largest number of iterations of the last resort for each problem of a fixed point.
const PASS_GRADIENTS: u32 = 2000;

impl CircularPasses {
    /// Solution by accelerated gradients from the best of the passes, or that best if its residual
    /// is smaller.
    #[cold]
    pub(super) fn by_gradients(
        &mut self,
        problem: &ContactProblem<'_>,
        forces: &mut [f64],
        best: f64,
        iterations: u32,
    ) -> Outcome {
        self.is_last_resort = true;
        forces.copy_from_slice(&self.best);
        self.last_resort.iteration_limit = match self.law {
            SlidingLaw::Convex => self.budget.gradients,
            SlidingLaw::Coulomb => PASS_GRADIENTS,
        };
        if self.law == SlidingLaw::Coulomb {
            return self.by_fixed_point(problem, forces, best, iterations);
        }
        let found = self.last_resort.descend(problem, forces);
        let iterations = iterations.saturating_add(found.iterations);
        if found.status == Status::Unbounded {
            return Outcome { iterations, ..found };
        }
        if found.residual <= best || best.is_nan() {
            let status = last_status_of(found.residual);
            return Outcome { status, iterations, residual: found.residual };
        }
        forces.copy_from_slice(&self.best);
        Outcome { status: last_status_of(best), iterations, residual: best }
    }

    /// Coulomb's law from `forces` by the fixed point on the normal bias, `b_n ← b_n + μ |a_t|`,
    /// within a total number of gradients.
    fn by_fixed_point(
        &mut self,
        problem: &ContactProblem<'_>,
        forces: &mut [f64],
        mut best: f64,
        mut iterations: u32,
    ) -> Outcome {
        let mut left = self.budget.gradients;
        self.bias.copy_from_slice(problem.bias);
        self.residual(problem, forces, SlidingLaw::Coulomb);
        for pass in 1.. {
            let share = share_of(pass);
            for (i, a) in self.acceleration.chunks_exact(3).enumerate() {
                let support = problem.cone.slip_support(problem.friction[i], [a[0], a[1]]);
                let bias = &mut self.bias[3 * i + 2];
                *bias += share * (problem.bias[3 * i + 2] + support - *bias);
            }
            let convex = ContactProblem { bias: &self.bias, ..*problem };
            let found = self.last_resort.descend(&convex, forces);
            iterations = iterations.saturating_add(found.iterations);
            left = left.saturating_sub(found.iterations.max(1));
            let residual = self.residual(problem, forces, SlidingLaw::Coulomb);
            if residual < best || best.is_nan() {
                best = residual;
                self.best.copy_from_slice(forces);
            }
            if best <= TOLERANCE || left == 0 || !residual.is_finite() {
                break;
            }
        }
        forces.copy_from_slice(&self.best);
        Outcome { status: last_status_of(best), iterations, residual: best }
    }
}

/// As [`status_of`], of an iteration that converges linearly: what it leaves above its tolerance is
/// more than rounding.
fn last_status_of(residual: f64) -> Status {
    match status_of(residual) {
        Status::Solved if residual > TOLERANCE => Status::Inaccurate,
        status => status,
    }
}
