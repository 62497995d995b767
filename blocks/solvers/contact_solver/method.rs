//! What a contact-solver block is made of: its method and its parameters.

use legwork_block::Fault;
use legwork_qp::{ContactProblem, ContactSolver, Outcome as Solution, SlidingLaw, Status};

use super::OnFail;

/// How large the contact problems of a diagram are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProblemSize {
    /// Contacts k.
    pub(crate) contact_count: usize,
    /// Velocities nv of the world.
    pub(crate) velocity_dim: usize,
}

impl ProblemSize {
    /// Rows n = 3k, edges of the default pyramids s = 4k, and velocities.
    pub(crate) fn counts(self) -> [u64; 3] {
        let k = self.contact_count as u64;
        [3 * k, 4 * k, self.velocity_dim as u64]
    }
}

/// A contact problem as it comes over the wire.
pub(crate) struct Given<'a> {
    pub(crate) problem: ContactProblem<'a>,
    /// J (3k × nv), column by column.
    pub(crate) jacobian: &'a [f64],
    /// The factor of M, as [`PackedFactor`](legwork_mechanics::PackedFactor) reads it.
    pub(crate) factor: &'a [f64],
}

/// Solves a problem from a warm start, leaves the next one there and writes the forces.
pub(crate) type Solve =
    dyn FnMut(&Given<'_>, &mut [f64], &mut [f64]) -> Result<Solution, Box<Fault>> + Send;

/// A method with its memory.
pub(crate) struct Method {
    /// Length of its warm start for each contact, under a cone of so many sides.
    pub(crate) warm_len: fn(usize) -> usize,
    /// Whether it takes G apart by J and the factor of M instead of using G itself.
    pub(crate) uses_mass: bool,
    pub(crate) solve: Box<Solve>,
}

/// The length of a warm start that there is none of.
pub(crate) const COLD: fn(usize) -> usize = |_| 0;

impl Method {
    /// One that starts anew each time.
    pub(crate) fn cold(mut solver: impl ContactSolver + Send + 'static) -> Self {
        Self::warm(COLD, move |problem, _, forces| solver.solve(problem, forces))
    }

    /// One that begins where the last step ended.
    pub(crate) fn warm(
        warm_len: fn(usize) -> usize,
        mut solve: impl FnMut(&ContactProblem<'_>, &mut [f64], &mut [f64]) -> Solution + Send + 'static,
    ) -> Self {
        let solve = move |given: &Given<'_>, warm: &mut [f64], forces: &mut [f64]| {
            Ok(solve(&given.problem, warm, forces))
        };
        Self { warm_len, uses_mass: false, solve: Box::new(solve) }
    }

    /// One that improves the forces it is given: those of the last step, or zero if it `is_cold`.
    pub(crate) fn iterative(
        is_cold: bool,
        accept: f64,
        mut improve: impl FnMut(&ContactProblem<'_>, &mut [f64]) -> Solution + Send + 'static,
    ) -> Self {
        Self::warm(if is_cold { COLD } else { |_| 3 }, move |problem, warm, forces| {
            forces.fill(0.0);
            forces[..warm.len()].copy_from_slice(warm);
            let solution = accepted(improve(problem, forces), accept);
            if solution.status.is_usable() {
                warm.copy_from_slice(&forces[..warm.len()]);
            } else {
                warm.fill(0.0);
            }
            solution
        })
    }
}

/// An answer whose iterations ran out counts as inaccurate up to the residual `accept`.
pub(crate) fn accepted(solution: Solution, accept: f64) -> Solution {
    let is_taken = solution.status == Status::MaxIterations && solution.residual <= accept;
    Solution { status: if is_taken { Status::Inaccurate } else { solution.status }, ..solution }
}

/// The cones that a method solves itself. It solves the others by a sequence of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cones {
    /// Pyramids and the circular cone.
    All,
    /// Pyramids alone, under this law.
    Pyramids(SlidingLaw),
}

/// A block with a method of its own, as others see it.
pub(crate) trait SolverBlock {
    /// The cones that its method solves.
    fn cones(&self) -> Cones;
    /// How many numbers the method keeps for problems of this size.
    fn numbers(&self, size: ProblemSize) -> u64;
    /// The method with memory for problems of this size.
    fn solver(&self, size: ProblemSize) -> Method;
    /// What to do when it does not solve.
    fn on_fail(&self) -> &OnFail;
}
