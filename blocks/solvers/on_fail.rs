//! What to do when a problem is not solved: one set of words for all blocks that solve.

use legwork_block::{Fault, SolveFailure, parameters};
use legwork_qp::{Outcome as Solution, Status};

/// What to do when a problem is not solved. Each use is counted in the report.
#[parameters]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum OnFail {
    /// Stop the run with a fault.
    #[default]
    Stop,
    /// Repeat the last solution, at most this many steps in a row; then stop. Before the first
    /// solution there is nothing to hold, which stops the run too.
    HoldLast {
        /// Most steps in a row [1].
        max: u32,
    },
    /// All unknowns zero.
    Zero,
}

/// What to do when a problem is not solved, where there is another way to solve it.
#[parameters]
#[derive(Copy, Default, PartialEq, Eq)]
#[schemars(rename = "OnFail")]
pub enum OnFailOr<F> {
    /// Stop the run with a fault.
    #[default]
    Stop,
    /// Repeat the last solution, at most this many steps in a row; then stop. Before the first
    /// solution there is nothing to hold, which stops the run too.
    HoldLast {
        /// Most steps in a row [1].
        max: u32,
    },
    /// All unknowns zero.
    Zero,
    /// Try this. If it fails too, its own `on_fail` decides, and without one the run stops.
    Fallback(F),
}

impl<F> OnFailOr<F> {
    /// The other way to solve it, if there is one.
    pub(crate) fn fallback(&self) -> Option<&F> {
        match self {
            Self::Fallback(fallback) => Some(fallback),
            Self::Stop | Self::HoldLast { .. } | Self::Zero => None,
        }
    }

    /// What decides when that fails too.
    pub(crate) fn last_resort(&self) -> OnFail {
        match self {
            Self::Stop | Self::Fallback(_) => OnFail::Stop,
            Self::HoldLast { max } => OnFail::HoldLast { max: *max },
            Self::Zero => OnFail::Zero,
        }
    }
}

/// What takes the place of a solution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Substitute {
    Last,
    Zero,
}

impl OnFail {
    /// What takes the place of a solution that was not found, after so many failures in a row.
    ///
    /// # Errors
    /// A fault if the run is to stop; it begins with `what` failed.
    pub(crate) fn substitute(
        self,
        what: &str,
        solution: &Solution,
        has_last: bool,
        failures_in_a_row: u32,
    ) -> Result<Substitute, Box<Fault>> {
        let why = match self {
            Self::Zero => return Ok(Substitute::Zero),
            Self::HoldLast { .. } if !has_last => "there is no earlier solution to hold".to_owned(),
            Self::HoldLast { max } if failures_in_a_row >= max => {
                format!("the last solution was held for {max} steps already")
            }
            Self::HoldLast { .. } => return Ok(Substitute::Last),
            Self::Stop => "`on_fail` is `Stop`".to_owned(),
        };
        let Solution { status, iterations, residual } = solution;
        let reason = reason_of(*status);
        let residual =
            if residual.is_nan() { String::new() } else { format!(", residual {residual:.1e}") };
        Err(Fault::new(format!(
            "{what}: {status:?} after {iterations} iterations{residual}{reason}; {why}"
        )))
    }
}

/// The defect of a program's matrix that a status names, as a clause.
fn reason_of(status: Status) -> &'static str {
    match status {
        Status::Asymmetric => {
            ": H is not symmetric; both triangles are read, so write each entry in both"
        }
        Status::Indefinite => {
            ": H is not positive semidefinite, the program has no minimum that can be found"
        }
        _ => "",
    }
}

impl From<OnFail> for SolveFailure {
    fn from(on_fail: OnFail) -> Self {
        match on_fail {
            OnFail::Stop => Self::Stop,
            OnFail::HoldLast { max } => Self::HoldLast(max),
            OnFail::Zero => Self::Zero,
        }
    }
}
