//! What happens when a contact solver does not solve.

use legwork_block::parameters;

use super::SolverBlock;
use crate::solvers::accelerated_gradient::AcceleratedGradient;
use crate::solvers::active_set_qp::ActiveSetQp;
use crate::solvers::clarabel_qp::ClarabelQp;
use crate::solvers::lemke::Lemke;
use crate::solvers::on_fail::OnFail as LastResort;
use crate::solvers::principal_pivoting::PrincipalPivoting;
use crate::solvers::projected_gauss_seidel::ProjectedGaussSeidel;

/// What to do when a contact solver does not solve: the words of [`LastResort`], and other solvers.
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
            Self::HoldLast { max } => LastResort::HoldLast { max: *max },
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
