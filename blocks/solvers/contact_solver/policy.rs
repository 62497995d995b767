//! What happens when a contact solver does not solve.

use legwork_block::parameters;

use super::SolverBlock;
use crate::solvers::accelerated_gradient::AcceleratedGradient;
use crate::solvers::active_set_qp::ActiveSetQp;
use crate::solvers::clarabel_qp::ClarabelQp;
use crate::solvers::lemke::Lemke;
use crate::solvers::on_fail::OnFailOr;
use crate::solvers::principal_pivoting::PrincipalPivoting;
use crate::solvers::problem_dump::Dump;
use crate::solvers::projected_gauss_seidel::ProjectedGaussSeidel;
use crate::solvers::state::Policy;

/// What to do when a contact solver does not solve.
pub(crate) type OnFail = OnFailOr<Box<FallbackSolver>>;

impl OnFail {
    /// The fallbacks in the order in which they are asked.
    pub(crate) fn fallbacks(&self) -> impl Iterator<Item = &dyn SolverBlock> {
        fn next(on_fail: &OnFail) -> Option<&dyn SolverBlock> {
            on_fail.fallback().map(|solver| solver.block())
        }
        std::iter::successors(next(self), |last| next(last.on_fail()))
    }

    /// What a solver block of this kind does with its problems.
    pub(crate) fn policy(&self, block: &'static str, dump: Dump) -> Policy {
        let last = self.fallbacks().last().map_or(self, SolverBlock::on_fail);
        Policy { block, noun: "contact problem", on_fail: last.last_resort(), dump }
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
