//! How continuous state is advanced.
//!
//! | name | method | order |
//! |---|---|---|
//! | `Euler` | `x⁺ = retract(x, h f(x))` | 1 |
//! | `SemiImplicitEuler` | second-order state: `v⁺ = v + h a`, `q⁺ = retract(q, h v⁺)`; else `Euler` | 1 |
//! | `Heun` | explicit trapezoidal rule | 2 |
//! | `Rk4` | the classical method | 4 |
//! | `ImplicitEuler` | `x⁺ = retract(x, h f(x⁺))` by Newton on the whole state | 1 |
//! | `DormandPrince` | variable step, explicit, dense output | 5(4) |
//! | `Esdirk` | variable step, L-stable, for stiff state | 4(3) |
//! | `Bdf` | variable step and order, for stiff state | 1–5 |
//!
//! Every method works in the chart of the step ([`Chart`](crate::chart::Chart)), so that it keeps
//! its order on rotations.

use legwork_program::Solver;

use crate::ode::{
    Bdf, DormandPrince54, Esdirk43, Failure, Flow, ImplicitEuler, Tolerance, VariableStep,
};

/// A Butcher tableau of an explicit method whose stages depend on the stage before only.
pub(crate) struct Tableau {
    /// `aᵢ,ᵢ₋₁ = cᵢ` of stages 2, 3, …
    nodes: &'static [f64],
    /// `bᵢ`.
    weights: &'static [f64],
}

const EULER: Tableau = Tableau { nodes: &[], weights: &[1.0] };
const HEUN: Tableau = Tableau { nodes: &[1.0], weights: &[0.5, 0.5] };
const RK4: Tableau =
    Tableau { nodes: &[0.5, 0.5, 1.0], weights: &[1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0] };

/// A method with its work memory.
pub(crate) enum Method {
    /// Velocity first, then position.
    SemiImplicit,
    /// One explicit step per major step.
    Explicit(Explicit),
    /// One implicit step per major step.
    Implicit(Box<ImplicitEuler>),
    /// As many steps as the tolerance asks for.
    Variable(Box<VariableStep>),
}

impl Method {
    /// The method `solver` for `n` coordinates.
    pub(crate) fn new(solver: Solver, n: usize) -> Self {
        let tolerance = |t: legwork_program::Tolerance| Tolerance {
            relative: t.relative,
            absolute: t.absolute,
        };
        let variable = |kernel| Self::Variable(Box::new(kernel));
        match solver {
            Solver::SemiImplicitEuler => Self::SemiImplicit,
            Solver::Euler => Self::Explicit(Explicit::new(&EULER, n)),
            Solver::Heun => Self::Explicit(Explicit::new(&HEUN, n)),
            Solver::Rk4 => Self::Explicit(Explicit::new(&RK4, n)),
            Solver::ImplicitEuler => {
                Self::Implicit(Box::new(ImplicitEuler::new(n, ImplicitEuler::TOLERANCE)))
            }
            Solver::DormandPrince(t) => {
                variable(VariableStep::DormandPrince54(DormandPrince54::new(n, tolerance(t))))
            }
            Solver::Esdirk(t) => variable(VariableStep::Esdirk43(Esdirk43::new(n, tolerance(t)))),
            Solver::Bdf(t) => variable(VariableStep::Bdf(Bdf::new(n, tolerance(t)))),
        }
    }
}

impl Method {
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

/// An explicit Runge-Kutta method.
pub(crate) struct Explicit {
    tableau: &'static Tableau,
    u: Vec<f64>,
    sum: Vec<f64>,
    rate: Vec<f64>,
}

impl Explicit {
    fn new(tableau: &'static Tableau, n: usize) -> Self {
        Self { tableau, u: vec![0.0; n], sum: vec![0.0; n], rate: vec![0.0; n] }
    }

    /// One step of length `h` from u = 0, where the rate is `first`; the end is left in `u`.
    ///
    /// # Errors
    /// The failure of a stage.
    pub(crate) fn step<F: Flow>(
        &mut self,
        flow: &mut F,
        h: f64,
        first: &[f64],
    ) -> Result<&[f64], Failure<F::Error>> {
        let Self { tableau, u, sum, rate } = self;
        rate.copy_from_slice(first);
        for (s, k) in sum.iter_mut().zip(&*rate) {
            *s = tableau.weights[0] * k;
        }
        for (&node, &weight) in tableau.nodes.iter().zip(&tableau.weights[1..]) {
            for (d, k) in u.iter_mut().zip(&*rate) {
                *d = h * node * k;
            }
            flow.rate(node * h, u, rate).map_err(Failure::Flow)?;
            for (s, k) in sum.iter_mut().zip(&*rate) {
                *s += weight * k;
            }
        }
        for (d, s) in u.iter_mut().zip(&*sum) {
            *d = h * s;
        }
        Ok(u)
    }
}
