//! What a failed check measured: found by repeating the steps up to where it failed.

use std::sync::Arc;

use legwork_block::Comparison;
use legwork_program::{CheckKind, Program};
use legwork_runtime::{Cursor, RunFault, Simulation, Snapshot};
use serde::Serialize;

/// A comparison of a failed check, with the numbers that it compared.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Measured {
    /// When [s].
    pub t: f64,
    /// The two sides and the sign between them.
    #[serde(flatten)]
    pub comparison: Comparison,
}

/// Checks that failed in one step, and how to get there again.
pub(crate) struct Failure {
    /// Indices of the checks.
    checks: Vec<usize>,
    program: Arc<Program>,
    /// A state before the step.
    before: Snapshot,
}

/// Notices where checks fail.
pub(crate) struct Failures {
    /// By check, whether it is known to have failed.
    known: Vec<bool>,
    pub(crate) found: Vec<Failure>,
}

impl Failures {
    pub(crate) fn new(simulation: &Simulation) -> Self {
        let known = simulation.checks().iter().map(|state| state.failed_at.is_some());
        Self { known: known.collect(), found: Vec::new() }
    }

    /// Looks at the checks after a step. If one failed in it, the state `before` is kept, and the
    /// present one put in its place; true then.
    pub(crate) fn look(&mut self, simulation: &Simulation, before: &mut Snapshot) -> bool {
        let states = simulation.checks().iter().zip(&mut self.known);
        let mut checks = Vec::new();
        for (i, (state, known)) in states.enumerate() {
            if state.failed_at.is_some() && !*known {
                *known = true;
                checks.push(i);
            }
        }
        if checks.is_empty() || !simulation.is_between_steps() {
            return false;
        }
        let before = std::mem::replace(before, simulation.snapshot());
        let program = Arc::clone(simulation.program());
        self.found.push(Failure { checks, program, before });
        true
    }
}

impl Failure {
    /// Repeats the steps since the state before; what the checks then compare, by index.
    ///
    /// # Errors
    /// The fault of a step that cannot be repeated, which no block in order causes.
    pub(crate) fn measure(self) -> Result<Vec<(usize, Measured)>, RunFault> {
        let Self { checks, program, before } = self;
        let mut again = Simulation::new(Arc::clone(&program));
        again.restore(&before)?;
        let mut measured = Vec::new();
        let mut left = checks;
        while !left.is_empty() && again.cursor() != Cursor::Done {
            again.advance()?;
            // After the piece in which a check is seen the signals are still those that it saw.
            let has_failed = |i: &usize| again.checks()[*i].failed_at.is_some();
            let (now, later) = left.into_iter().partition(has_failed);
            left = later;
            measured.extend(numbers(&again, &program, now));
        }
        Ok(measured)
    }
}

/// What failed checks compare at the present moment.
fn numbers(
    simulation: &Simulation,
    program: &Program,
    checks: Vec<usize>,
) -> impl Iterator<Item = (usize, Measured)> {
    checks.into_iter().filter_map(|i| {
        let t = simulation.time();
        let comparison = program.checks[i].failed_comparison(simulation.arena(), t)?;
        Some((i, Measured { t, comparison }))
    })
}

/// What checks of the end compare in a run that has ended: its last step changes nothing after they
/// are seen.
pub(crate) fn at_the_end(simulation: &Simulation) -> Vec<(usize, Measured)> {
    if simulation.cursor() != Cursor::Done {
        return Vec::new();
    }
    let program = simulation.program();
    let states = program.checks.iter().zip(simulation.checks()).enumerate();
    let failed = states
        .filter(|(_, (check, state))| {
            check.kind == CheckKind::Finally && state.seen && !state.passed
        })
        .map(|(i, _)| i);
    numbers(simulation, program, failed.collect()).collect()
}
