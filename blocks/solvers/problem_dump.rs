//! Problems that solver blocks keep for later: to be read, replayed and reported.
//!
//! A block does no IO, so a kept problem is text in declared state. It travels through snapshots
//! like all state, reaches the run's end in the block's report, and is written to a file by who
//! started the run. A problem of a step that ended in a fault waits in the memo, which is reported
//! too.

use std::num::NonZeroU32;

use legwork_block::{Report, Time, parameters};
use legwork_qp::{NamedProblem, Outcome as Solution, Problem, problem_file};
use serde::{Deserialize, Serialize};

/// Which problems a solver block keeps, as they were solved, for the files of a run.
#[parameters]
#[derive(Copy, PartialEq, Eq)]
pub enum Dump {
    /// None.
    Never,
    /// Those that were not solved, from the first on.
    Failures {
        /// Most problems of a run [1].
        max: u32,
    },
    /// Every n-th, solved or not, from the first on.
    Every {
        /// Solves from one to the next [1].
        n: NonZeroU32,
        /// Most problems of a run [1].
        max: u32,
    },
}

impl Default for Dump {
    fn default() -> Self {
        Self::Failures { max: 1 }
    }
}

impl Dump {
    /// Whether to keep the problem of this step, after `calls` solves before it, of which `kept`
    /// were kept.
    #[inline]
    pub(crate) fn wants(self, is_failure: bool, calls: u64, kept: usize) -> bool {
        let has_room = |max: u32| kept < max as usize;
        match self {
            Self::Never => false,
            Self::Failures { max } => is_failure && has_room(max),
            Self::Every { n, max } => calls.is_multiple_of(u64::from(n.get())) && has_room(max),
        }
    }
}

/// A problem as text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptProblem {
    /// Number of the block's step, counted by its period or the run's step.
    step: u64,
    /// In the format of [`legwork_qp::problem_file`].
    text: String,
}

impl KeptProblem {
    /// The problem that `solver` was given at `time`, what it said of it, and the lists that a
    /// replay needs beside it.
    pub(crate) fn new(
        time: Time,
        solver: &str,
        solution: &Solution,
        problem: Problem,
        extra: impl IntoIterator<Item = (&'static str, Vec<f64>)>,
    ) -> Self {
        let step = (time.t / time.step).round().max(0.0) as u64;
        let Solution { status, iterations, residual } = solution;
        let origin = format!(
            "{solver} at t = {} s: {status:?} after {iterations} iterations, residual \
             {residual:.1e}",
            time.t
        );
        let mut named = NamedProblem::new(format!("step {step}"), origin, problem);
        named.extra.extend(extra.into_iter().map(|(name, values)| (name.to_owned(), values)));
        Self { step, text: problem_file::write(&named) }
    }

    /// Hands it out; a problem that is reported already is not reported twice.
    pub(crate) fn report(&self, report: &mut Report) {
        report.file(&format!("{}.json", self.step), self.text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_keeps_what_it_says() {
        let kept = |dump: Dump| {
            let mut kept = Vec::new();
            for call in 0..20 {
                if dump.wants(call % 3 == 1, call, kept.len()) {
                    kept.push(call);
                }
            }
            kept
        };
        assert_eq!(kept(Dump::Never), [0; 0]);
        assert_eq!(kept(Dump::default()), [1]);
        assert_eq!(kept(Dump::Failures { max: 3 }), [1, 4, 7]);
        let every = |n, max| Dump::Every { n: NonZeroU32::new(n).expect("not zero"), max };
        assert_eq!(kept(every(6, 100)), [0, 6, 12, 18]);
        assert_eq!(kept(every(6, 2)), [0, 6]);
        assert_eq!(kept(every(6, 0)), [0; 0]);
    }
}
