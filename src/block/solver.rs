//! The solvers of continuous state, by name: blocks may look at the one that runs them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The error that a variable step may make: `absolute + relative · |x|` for each number, as the
/// root of the mean square.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tolerance {
    /// Relative to the number [1].
    pub relative: f64,
    /// Absolute, in the number's unit.
    pub absolute: f64,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self { relative: 1e-6, absolute: 1e-9 }
    }
}

/// How continuous state is advanced.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Solver {
    /// `x⁺ = x + h f(x)`, order 1.
    Euler,
    /// Velocity first, then position with the new velocity (semantics 10.2), order 1.
    SemiImplicitEuler,
    /// Heun's method (ode2), order 2.
    Heun,
    /// The classical Runge-Kutta method (ode4), order 4.
    Rk4,
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
    /// Whether it chooses its own steps, so that events are located inside them.
    pub fn is_variable(self) -> bool {
        matches!(self, Self::DormandPrince(_) | Self::Esdirk(_) | Self::Bdf(_))
    }
}

impl fmt::Display for Solver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, tolerance) = match self {
            Self::Euler => ("Euler", None),
            Self::SemiImplicitEuler => ("SemiImplicitEuler", None),
            Self::Heun => ("Heun", None),
            Self::Rk4 => ("Rk4", None),
            Self::ImplicitEuler => ("ImplicitEuler", None),
            Self::DormandPrince(tolerance) => ("DormandPrince", Some(tolerance)),
            Self::Esdirk(tolerance) => ("Esdirk", Some(tolerance)),
            Self::Bdf(tolerance) => ("Bdf", Some(tolerance)),
        };
        f.write_str(name)?;
        match tolerance {
            None => Ok(()),
            Some(Tolerance { relative, absolute }) => {
                write!(f, "(rtol: {relative:e}, atol: {absolute:e})")
            }
        }
    }
}
