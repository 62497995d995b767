//! What a solver says about its answer.

/// How a solve ended. An infeasible problem is an answer, so this is a value and not an error.
#[must_use = "a solver that failed still writes forces; the status says whether to use them"]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// The optimality conditions hold to the solver's tolerance.
    Solved,
    /// A usable answer at reduced accuracy; the residual of the outcome says how reduced.
    Inaccurate,
    /// The limit of iterations or sweeps was reached; the last iterate is returned.
    MaxIterations,
    /// No point satisfies all constraints.
    PrimalInfeasible,
    /// The objective falls without bound on the feasible set.
    Unbounded,
    /// The method ended without a solution and without a proof that there is none.
    Undecided,
    /// The factors lost their meaning; the answer is not to be used.
    NumericalTrouble,
    /// The data hold NaN or infinity, a negative friction or compliance, or no positive scale.
    InvalidData,
    /// The solver does not accept this friction cone.
    UnsupportedCone,
}

impl Status {
    /// True if the answer may be used: [`Status::Solved`] or [`Status::Inaccurate`].
    #[must_use]
    pub fn is_usable(self) -> bool {
        matches!(self, Self::Solved | Self::Inaccurate)
    }
}

/// A status with its figures.
#[must_use = "a solver that failed still writes forces; the status says whether to use them"]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// How the solve ended.
    pub status: Status,
    /// Iterations or sweeps of the method: changes of the active set, interior-point steps, sweeps.
    pub iterations: u32,
    /// Relative residual of the optimality conditions at the returned point, as [`crate::kkt`]
    /// defines it for this kind of problem; NaN if it was not computed.
    pub residual: f64,
}

impl Outcome {
    /// An outcome without a residual, for data that were refused.
    pub(crate) fn refused(status: Status) -> Self {
        Self { status, iterations: 0, residual: f64::NAN }
    }
}
