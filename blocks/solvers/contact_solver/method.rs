//! What a contact-solver block is made of: its method and its parameters.

use legwork_qp::{ConeShape, ContactProblem, ContactSolver, Outcome as Solution};

use super::OnFail;
use crate::solvers::problem_dump::Dump;

/// How large the contact problems of a diagram are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProblemSize {
    /// Contacts k.
    pub(crate) contact_count: usize,
    /// Velocities nv of the world.
    pub(crate) velocity_dim: usize,
}

/// A method with its memory.
pub(crate) trait Method: Send {
    /// Name of the block that it belongs to.
    fn name(&self) -> &'static str;
    /// Whether it can hold forces in this cone.
    fn accepts(&self, cone: &ConeShape) -> bool;
    /// Length of its warm start.
    fn warm_len(&self, contact_count: usize, sides: usize) -> usize;
    /// Whether it takes G apart by J and the factor of M instead of using G itself.
    fn uses_mass(&self) -> bool {
        false
    }
    /// Takes in J (3k × nv) and C with `CᵀC = M` (nv × nv) of the problems to come, column-major.
    ///
    /// # Errors
    /// If C is no factor.
    fn read_mass(&mut self, _jacobian: &[f64], _factor: &[f64]) -> legwork_block::Outcome {
        Ok(())
    }
    /// Solves from the warm start `warm` and leaves the next one there.
    fn solve(
        &mut self,
        problem: &ContactProblem<'_>,
        warm: &mut [f64],
        forces: &mut [f64],
    ) -> Solution;
}

/// The parameters that every solver block has.
pub(crate) trait SolverBlock {
    /// Name of the kind of block.
    fn name(&self) -> &'static str;
    /// Whether it can hold forces in circular cones beside pyramids.
    fn accepts_circular(&self) -> bool;
    /// The method with memory for problems of this size.
    fn method(&self, size: ProblemSize) -> Box<dyn Method>;
    /// What to do when it does not solve.
    fn on_fail(&self) -> &OnFail;
    /// Which problems to keep.
    fn dump(&self) -> Dump;
    /// Whether to solve anew in minor steps.
    fn in_minor_steps(&self) -> bool;
}

/// A solver that always starts cold.
pub(crate) struct Cold<S> {
    pub(crate) name: &'static str,
    pub(crate) solver: S,
}

impl<S: ContactSolver + Send> Method for Cold<S> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn accepts(&self, cone: &ConeShape) -> bool {
        self.solver.accepts(cone)
    }

    fn warm_len(&self, _: usize, _: usize) -> usize {
        0
    }

    fn solve(
        &mut self,
        problem: &ContactProblem<'_>,
        _: &mut [f64],
        forces: &mut [f64],
    ) -> Solution {
        self.solver.solve(problem, forces)
    }
}
