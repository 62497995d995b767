//! The outcome of a solve.

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
    /// The factors are numerically meaningless; the answer must not be used.
    NumericalTrouble,
    /// The data hold NaN or infinity, a negative friction or compliance, or no positive scale.
    InvalidData,
    /// The solver does not accept this friction cone.
    UnsupportedCone,
    /// The matrix H is not symmetric; one triangle alone is not read as a symmetric matrix.
    Asymmetric,
    /// The matrix H is not positive semidefinite: the program is not convex.
    Indefinite,
}

impl Status {
    /// True if the answer may be used: [`Status::Solved`] or [`Status::Inaccurate`].
    #[must_use]
    pub fn is_usable(self) -> bool {
        matches!(self, Self::Solved | Self::Inaccurate)
    }

    /// Its code where only numbers can be stored, such as signals and tables. The meaning of a code
    /// never changes.
    ///
    /// | code | status |
    /// |---|---|
    /// | 0 | [`Status::Solved`] |
    /// | 1 | [`Status::Inaccurate`] |
    /// | 2 | [`Status::MaxIterations`] |
    /// | 3 | [`Status::PrimalInfeasible`] |
    /// | 4 | [`Status::Unbounded`] |
    /// | 5 | [`Status::NumericalTrouble`] |
    /// | 6 | [`Status::InvalidData`] |
    /// | 7 | [`Status::UnsupportedCone`] |
    /// | 8 | [`Status::Undecided`] |
    /// | 9 | [`Status::Asymmetric`] |
    /// | 10 | [`Status::Indefinite`] |
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Solved => 0,
            Self::Inaccurate => 1,
            Self::MaxIterations => 2,
            Self::PrimalInfeasible => 3,
            Self::Unbounded => 4,
            Self::NumericalTrouble => 5,
            Self::InvalidData => 6,
            Self::UnsupportedCone => 7,
            Self::Undecided => 8,
            Self::Asymmetric => 9,
            Self::Indefinite => 10,
        }
    }

    /// The status with this code; [`Status::Undecided`] if none has it.
    pub fn of_code(code: f64) -> Self {
        const ALL: [Status; 10] = [
            Status::Solved,
            Status::Inaccurate,
            Status::MaxIterations,
            Status::PrimalInfeasible,
            Status::Unbounded,
            Status::NumericalTrouble,
            Status::InvalidData,
            Status::UnsupportedCone,
            Status::Asymmetric,
            Status::Indefinite,
        ];
        let status = ALL.into_iter().find(|status| f64::from(status.code()) == code);
        status.unwrap_or(Self::Undecided)
    }

    /// Its name in tables and files, e.g. `primal_infeasible`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Solved => "solved",
            Self::Inaccurate => "inaccurate",
            Self::MaxIterations => "max_iterations",
            Self::PrimalInfeasible => "primal_infeasible",
            Self::Unbounded => "unbounded",
            Self::Undecided => "undecided",
            Self::NumericalTrouble => "numerical_trouble",
            Self::InvalidData => "invalid_data",
            Self::UnsupportedCone => "unsupported_cone",
            Self::Asymmetric => "asymmetric",
            Self::Indefinite => "indefinite",
        }
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
    /// An outcome without a residual, for data that were rejected.
    pub(crate) fn refused(status: Status) -> Self {
        Self { status, iterations: 0, residual: f64::NAN }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recordings outlive versions: a code may be added, none may change.
    #[test]
    fn codes_keep_their_meaning() {
        let statuses = [
            Status::Solved,
            Status::Inaccurate,
            Status::MaxIterations,
            Status::PrimalInfeasible,
            Status::Unbounded,
            Status::NumericalTrouble,
            Status::InvalidData,
            Status::UnsupportedCone,
            Status::Undecided,
            Status::Asymmetric,
            Status::Indefinite,
        ];
        assert_eq!(statuses.map(Status::code), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        assert_eq!(statuses.map(|status| Status::of_code(f64::from(status.code()))), statuses);
        assert!(statuses.iter().all(|status| status.is_usable() == (status.code() < 2)));
    }
}
