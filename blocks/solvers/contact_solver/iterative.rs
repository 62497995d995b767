//! What the iterative contact solvers share: forces as warm start, and what becomes of an answer
//! whose steps ran out.

use legwork_qp::{ConeShape, ContactProblem, ContactSolver, Outcome as Solution, Status};

use super::Method;

/// A solver that can begin with the forces of the step before.
pub(crate) trait WarmStart: ContactSolver {
    /// Solves from `forces` and leaves the answer there.
    fn solve_warm(&mut self, problem: &ContactProblem<'_>, forces: &mut [f64]) -> Solution;
}

/// An iterative method, which may take what its last step left.
pub(crate) struct Iterative<S> {
    pub(crate) name: &'static str,
    pub(crate) solver: S,
    /// The residual up to which an answer counts whose steps ran out.
    pub(crate) accept: f64,
    pub(crate) is_cold: bool,
}

impl<S: WarmStart + Send> Method for Iterative<S> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn accepts(&self, cone: &ConeShape) -> bool {
        self.solver.accepts(cone)
    }

    fn warm_len(&self, contact_count: usize, _: usize) -> usize {
        if self.is_cold { 0 } else { 3 * contact_count }
    }

    fn solve(
        &mut self,
        problem: &ContactProblem<'_>,
        warm: &mut [f64],
        forces: &mut [f64],
    ) -> Solution {
        let mut solution = if self.is_cold {
            self.solver.solve(problem, forces)
        } else {
            let solution = self.solver.solve_warm(problem, warm);
            forces.copy_from_slice(warm);
            solution
        };
        if solution.status == Status::MaxIterations && solution.residual <= self.accept {
            solution.status = Status::Inaccurate;
        }
        if !solution.status.is_usable() {
            warm.fill(0.0);
        }
        solution
    }
}
