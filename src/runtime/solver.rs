//! The solver of a run with its memory.
//!
//! Every method works in the chart of the step ([`Chart`](crate::chart::Chart)), so that it keeps
//! its order on rotations. `SemiImplicitEuler` is the chart's own, since it tells positions from
//! velocities.

use legwork_program::Solver;

use crate::ode::{Bdf, DormandPrince54, Esdirk43, ExplicitStep, ImplicitEuler, VariableStep};

/// A method with its work memory.
pub(crate) enum Method {
    /// Velocity first, then position.
    SemiImplicit,
    /// One explicit step per major step.
    Explicit(ExplicitStep),
    /// One implicit step per major step.
    Implicit(Box<ImplicitEuler>),
    /// As many steps as the tolerance asks for.
    Variable(Box<VariableStep>),
}

impl Method {
    /// The method `solver` for `n` coordinates.
    pub(crate) fn new(solver: Solver, n: usize) -> Self {
        let variable = |kernel| Self::Variable(Box::new(kernel));
        match solver {
            Solver::SemiImplicitEuler => Self::SemiImplicit,
            Solver::Explicit(method) => Self::Explicit(ExplicitStep::new(method, n)),
            Solver::ImplicitEuler => {
                Self::Implicit(Box::new(ImplicitEuler::new(n, ImplicitEuler::TOLERANCE)))
            }
            Solver::DormandPrince(t) => {
                variable(VariableStep::DormandPrince54(DormandPrince54::new(n, t)))
            }
            Solver::Esdirk(t) => variable(VariableStep::Esdirk43(Esdirk43::new(n, t))),
            Solver::Bdf(t) => variable(VariableStep::Bdf(Bdf::new(n, t))),
        }
    }

    /// What a method keeps from step to step: the Jacobian of the implicit one.
    pub(crate) fn memory(&self) -> Option<Vec<f64>> {
        match self {
            Self::Implicit(implicit) => implicit.jacobian().map(<[f64]>::to_vec),
            _ => None,
        }
    }

    /// Puts back what [`Self::memory`] returned.
    pub(crate) fn set_memory(&mut self, memory: Option<&[f64]>) {
        if let Self::Implicit(implicit) = self {
            implicit.set_jacobian(memory);
        }
    }
}
