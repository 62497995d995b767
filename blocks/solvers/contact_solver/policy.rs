//! What happens when a contact solver does not solve.

use legwork_block::{Fault, parameters};
use legwork_qp::Outcome as Solution;

use super::{Answer, SolverBlock, SolverState};
use crate::solvers::accelerated_gradient::AcceleratedGradient;
use crate::solvers::active_set_qp::ActiveSetQp;
use crate::solvers::clarabel_qp::ClarabelQp;
use crate::solvers::lemke::Lemke;
use crate::solvers::principal_pivoting::PrincipalPivoting;
use crate::solvers::projected_gauss_seidel::ProjectedGaussSeidel;

/// What to do when a contact solver does not solve.
#[parameters]
#[derive(Default)]
pub enum OnFail {
    /// Stop the run with a fault.
    #[default]
    Stop,
    /// Repeat the last solved forces, at most this many steps in a row; then stop. Before the first
    /// solved step there is nothing to hold, which stops the run too.
    HoldLast {
        /// Most steps in a row [1].
        max: u32,
    },
    /// No contact force in this step.
    Zero,
    /// Ask another solver: `Fallback(ClarabelQp(tol: 1e-8))`. If it fails too, its own `on_fail`
    /// decides.
    Fallback(Box<FallbackSolver>),
}

impl OnFail {
    fn fallback(&self) -> Option<&dyn SolverBlock> {
        match self {
            Self::Fallback(solver) => Some(solver.block()),
            Self::Stop | Self::HoldLast { .. } | Self::Zero => None,
        }
    }

    /// The fallbacks in the order in which they are asked.
    pub(crate) fn fallbacks(&self) -> impl Iterator<Item = &dyn SolverBlock> {
        std::iter::successors(self.fallback(), |block| block.on_fail().fallback())
    }

    /// What decides when the fallbacks failed too.
    pub(super) fn last_resort(&self) -> LastResort {
        match self {
            Self::Stop => LastResort::Stop,
            Self::HoldLast { max } => LastResort::HoldLast(*max),
            Self::Zero => LastResort::Zero,
            Self::Fallback(solver) => solver.block().on_fail().last_resort(),
        }
    }
}

/// A solver that may replace another.
#[parameters]
pub enum FallbackSolver {
    /// The dual active-set method.
    ActiveSetQp(ActiveSetQp),
    /// The interior-point method.
    ClarabelQp(ClarabelQp),
    /// Projected Gauss-Seidel sweeps.
    ProjectedGaussSeidel(ProjectedGaussSeidel),
    /// Accelerated projected gradient descent.
    AcceleratedGradient(AcceleratedGradient),
    /// The principal pivoting method.
    PrincipalPivoting(PrincipalPivoting),
    /// Lemke's method.
    Lemke(Lemke),
    /// The operator-splitting method.
    #[cfg(feature = "osqp")]
    Osqp(crate::solvers::osqp::Osqp),
}

impl FallbackSolver {
    pub(super) fn block(&self) -> &dyn SolverBlock {
        match self {
            Self::ActiveSetQp(block) => block,
            Self::ClarabelQp(block) => block,
            Self::ProjectedGaussSeidel(block) => block,
            Self::AcceleratedGradient(block) => block,
            Self::PrincipalPivoting(block) => block,
            Self::Lemke(block) => block,
            #[cfg(feature = "osqp")]
            Self::Osqp(block) => block,
        }
    }
}

/// What decides when all solvers of a chain failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastResort {
    Stop,
    HoldLast(u32),
    Zero,
}

/// Writes the forces that the policy asks for.
pub(super) fn fail(
    last_resort: LastResort,
    state: &SolverState,
    solution: &Solution,
    forces: &mut [f64],
) -> Result<Answer, Box<Fault>> {
    let message = |why: String| {
        Err(Fault::new(format!(
            "the contact problem was not solved: {:?} after {} iterations, residual {:.1e}; {why}",
            solution.status, solution.iterations, solution.residual
        )))
    };
    match last_resort {
        LastResort::Stop => message("`on_fail` is `Stop`".to_owned()),
        LastResort::Zero => {
            forces.fill(0.0);
            Ok(Answer::Zeroed)
        }
        LastResort::HoldLast(_) if !state.has_forces => {
            message("there are no earlier forces to hold".to_owned())
        }
        LastResort::HoldLast(max) if state.failures_in_a_row >= max => {
            message(format!("the last forces were held for {max} steps already"))
        }
        LastResort::HoldLast(_) => {
            forces.copy_from_slice(&state.forces);
            Ok(Answer::Held)
        }
    }
}
