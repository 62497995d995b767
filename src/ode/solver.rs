//! The solvers of continuous state, by name.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::explicit::Method;
use crate::kernel::Tolerance;

/// How continuous state is advanced.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Solver {
    /// An explicit method with a fixed step, of [`METHODS`](crate::METHODS).
    Explicit(Method),
    /// Velocity first, then position with the new velocity (semantics 10.2), order 1.
    SemiImplicitEuler,
    /// `x⁺ = x + h f(x⁺)` by Newton's method on the whole state, order 1, L-stable.
    ImplicitEuler,
    /// The pair of Dormand and Prince (ode45), order 5(4), variable step.
    DormandPrince(Tolerance),
    /// A diagonally implicit Runge-Kutta pair, order 4(3), variable step, L-stable.
    Esdirk(Tolerance),
    /// Backward differences (ode15s), order 1 to 5, variable step.
    Bdf(Tolerance),
}

impl Solver {
    /// The solver called `name`, with this tolerance if it takes one.
    pub fn named(name: &str, tolerance: Tolerance) -> Option<Self> {
        if let Some(method) = Method::named(name) {
            return Some(Self::Explicit(method));
        }
        others(tolerance).into_iter().find(|solver| solver.name() == name)
    }

    /// The names of all solvers.
    pub fn names() -> Vec<&'static str> {
        let explicit = Method::all().map(|method| method.tableau().name);
        explicit.chain(others(Tolerance::default()).iter().map(Self::name)).collect()
    }

    /// All solvers, those with variable steps at their default tolerances.
    pub fn all() -> impl Iterator<Item = Self> {
        Method::all().map(Self::Explicit).chain(others(Tolerance::default()))
    }

    /// What it is, in one line.
    pub fn doc(&self) -> &'static str {
        match self {
            Self::Explicit(method) => method.tableau().doc,
            Self::SemiImplicitEuler => {
                "velocities first, positions with the new ones; for robots with contact"
            }
            Self::ImplicitEuler => "x⁺ = x + h f(x⁺), by Newton's method; for stiff models",
            Self::DormandPrince(_) => "Runge-Kutta of order 5 with an error of order 4",
            Self::Esdirk(_) => "implicit Runge-Kutta in stages; for stiff models",
            Self::Bdf(_) => "backward differences of variable order; for stiff, smooth models",
        }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Explicit(method) => method.tableau().name,
            Self::SemiImplicitEuler => "SemiImplicitEuler",
            Self::ImplicitEuler => "ImplicitEuler",
            Self::DormandPrince(_) => "DormandPrince",
            Self::Esdirk(_) => "Esdirk",
            Self::Bdf(_) => "Bdf",
        }
    }

    /// Its names in Simulink.
    pub fn aliases(&self) -> &'static [&'static str] {
        match self {
            Self::Explicit(method) => method.tableau().aliases,
            Self::SemiImplicitEuler => &[],
            Self::ImplicitEuler => &["ode14x"],
            Self::DormandPrince(_) => &["ode45"],
            Self::Esdirk(_) => &["ode23t", "ode23s"],
            Self::Bdf(_) => &["ode15s"],
        }
    }

    /// Whether it chooses its own steps, so that events are located inside them.
    pub fn is_variable(self) -> bool {
        matches!(self, Self::DormandPrince(_) | Self::Esdirk(_) | Self::Bdf(_))
    }

    /// Whether its steps solve equations, by a dense Jacobian over all states.
    pub fn is_implicit(self) -> bool {
        matches!(self, Self::ImplicitEuler | Self::Esdirk(_) | Self::Bdf(_))
    }

    /// Whether it asks for rates between the beginnings of steps.
    pub fn has_stages(self) -> bool {
        match self {
            Self::Explicit(method) => !method.tableau().nodes.is_empty(),
            Self::SemiImplicitEuler => false,
            _ => true,
        }
    }
}

/// The solvers that are not of the table of explicit methods.
fn others(tolerance: Tolerance) -> [Solver; 5] {
    [
        Solver::SemiImplicitEuler,
        Solver::ImplicitEuler,
        Solver::DormandPrince(tolerance),
        Solver::Esdirk(tolerance),
        Solver::Bdf(tolerance),
    ]
}

impl fmt::Display for Solver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::DormandPrince(tolerance) | Self::Esdirk(tolerance) | Self::Bdf(tolerance) => {
                let Tolerance { relative, absolute } = tolerance;
                write!(f, "(rtol: {relative:e}, atol: {absolute:e})")
            }
            _ => Ok(()),
        }
    }
}
