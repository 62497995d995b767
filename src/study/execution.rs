//! One run of a program: to the stop time or to a fault, with what came of it.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use legwork_block::{Report, Warning};
use legwork_program::{CheckKind, Program};
use legwork_runtime::recording::{Finished, Recorder, RecordingError};
use legwork_runtime::{BlockTime, CheckState, Cursor, RunFault, Simulation};
use serde_json::{Map, Value, json};

use crate::measure::{self, Measured};
use crate::text::seconds;

/// What came of the steps of a run.
pub struct Execution {
    /// The program; edits may have replaced it on the way.
    pub program: Arc<Program>,
    /// Simulated time that was reached [s].
    pub sim_time: f64,
    /// Major steps that were completed.
    pub steps: u64,
    /// Time that it took, without compilation [s].
    pub wall: f64,
    /// The block that ended it before its time, which is no fault.
    pub stopped_by: Option<String>,
    /// What stopped it before its time.
    pub fault: Option<RunFault>,
    /// How each check ended.
    pub checks: Vec<Verdict>,
    /// What failed checks measured, by check, where that was asked for and can be said.
    pub measured: Vec<Option<Measured>>,
    /// What the blocks report, by path.
    pub reports: Vec<(String, Report)>,
    /// What each block took, if that was measured.
    pub profile: Option<Vec<BlockTime>>,
    /// What became of the recording.
    pub recording: Option<Result<Finished, RecordingError>>,
}

impl fmt::Debug for Execution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Execution")
            .field("program", &self.program.name)
            .field("sim_time", &self.sim_time)
            .field("steps", &self.steps)
            .field("fault", &self.fault)
            .field("checks", &self.checks)
            .finish_non_exhaustive()
    }
}

/// How a run ended, as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It got to its end, and all checks that could be told passed.
    Success,
    /// A check failed.
    CheckFailed,
    /// It stopped at a fault.
    Fault,
    /// Its recording, or a file beside it, could not be written whole.
    Unwritten,
    /// It was cancelled.
    Cancelled,
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Verdict {
    /// It holds.
    Passed,
    /// It does not.
    Failed {
        /// When its condition was first seen not to hold [s], if that is one time.
        at: Option<f64>,
    },
    /// The run ended before its window.
    Unseen,
    /// It was never asked for: its `when` did not hold.
    NotAsked,
    /// The run was cut short before that could be told.
    Undecided,
}

impl Verdict {
    /// True, false, or null where the run ended before that could be told.
    pub fn to_json(self) -> Value {
        match self {
            Self::Passed => true.into(),
            Self::Failed { .. } => false.into(),
            Self::Unseen | Self::NotAsked | Self::Undecided => Value::Null,
        }
    }
}

impl Execution {
    /// Drives a simulation on from where it is.
    pub(crate) fn of(
        mut simulation: Simulation,
        recorder: Option<Recorder>,
        drive: impl FnOnce(&mut Simulation) -> Result<(), RunFault>,
    ) -> Self {
        if let Some(recorder) = recorder {
            simulation.observer_mut().record_to(recorder);
        }
        let start = Instant::now();
        let fault = drive(&mut simulation).err();
        let recording = simulation.observer_mut().finish_recording();
        let wall = start.elapsed().as_secs_f64();
        // Edits may have replaced the program on the way.
        let program = Arc::clone(simulation.program());
        let ended = simulation.cursor() == Cursor::Done;
        let checks = program
            .checks
            .iter()
            .zip(simulation.checks())
            .map(|(check, state)| verdict(check.kind, state, !ended))
            .collect();
        let mut measured = vec![None; program.checks.len()];
        for (check, found) in measure::at_the_end(&simulation) {
            measured[check] = Some(found);
        }
        let reports = simulation
            .reports()
            .into_iter()
            .map(|(path, report)| (path.to_owned(), report))
            .collect();
        Self {
            sim_time: simulation.time(),
            steps: simulation.step_count(),
            stopped_by: simulation.stopped_by().map(str::to_owned),
            profile: simulation.profile(),
            program,
            wall,
            fault,
            checks,
            measured,
            reports,
            recording,
        }
    }

    /// Simulated time per time, if any passed.
    pub fn real_time_factor(&self) -> Option<f64> {
        (self.wall > 0.0).then(|| self.sim_time / self.wall)
    }

    /// Whether the recording could not be written.
    pub fn recording_error(&self) -> Option<&RecordingError> {
        self.recording.as_ref().and_then(|recording| recording.as_ref().err())
    }

    /// How it ended, unless it was cancelled. `shortened` says that the request chose the stop
    /// time, so that a check whose window was not reached is no failure; nor is it if a block ended
    /// the run.
    pub fn outcome(&self, shortened: bool) -> Outcome {
        if self.recording_error().is_some() {
            return Outcome::Unwritten;
        }
        if self.fault.is_some() {
            return Outcome::Fault;
        }
        let failed = self.checks.iter().any(|verdict| match verdict {
            Verdict::Passed | Verdict::NotAsked => false,
            Verdict::Unseen => !shortened && self.stopped_by.is_none(),
            Verdict::Failed { .. } | Verdict::Undecided => true,
        });
        if failed { Outcome::CheckFailed } else { Outcome::Success }
    }

    /// How many checks passed.
    pub fn checks_passed(&self) -> usize {
        self.checks.iter().filter(|verdict| **verdict == Verdict::Passed).count()
    }

    /// The checks that make [`Execution::outcome`] one of failure, in words.
    pub fn failed_checks(&self, shortened: bool) -> Vec<String> {
        let is_due = !shortened && self.stopped_by.is_none();
        let verdicts = self.program.checks.iter().zip(&self.checks);
        verdicts
            .filter_map(|(check, verdict)| match verdict {
                Verdict::Failed { at: Some(t) } => {
                    Some(format!("{} at t={}", check.name, seconds(*t)))
                }
                Verdict::Failed { at: None } => Some(check.name.clone()),
                Verdict::Unseen if is_due => Some(format!("{} was never tested", check.name)),
                Verdict::Passed | Verdict::Unseen | Verdict::NotAsked | Verdict::Undecided => None,
            })
            .collect()
    }

    /// Check and whether it passed.
    pub fn checks_to_json(&self) -> Map<String, Value> {
        let verdicts = self.program.checks.iter().zip(&self.checks);
        verdicts.map(|(check, verdict)| (check.name.clone(), verdict.to_json())).collect()
    }

    /// What failed checks measured, by name.
    pub fn measured_to_json(&self) -> Map<String, Value> {
        let checks = self.program.checks.iter().zip(&self.measured);
        let one = |(check, measured): (&legwork_program::Check, &Option<Measured>)| {
            Some((check.name.clone(), json!(measured.as_ref()?)))
        };
        checks.filter_map(one).collect()
    }

    /// What blocks measured, by name.
    pub fn metrics_to_json(&self) -> Map<String, Value> {
        self.metrics().into_iter().map(|(name, value)| (name, value.into())).collect()
    }

    /// What blocks measured: name and value. A name that two blocks report gets the block's path.
    pub fn metrics(&self) -> Vec<(String, f64)> {
        let all = || {
            self.reports.iter().flat_map(|(path, report)| {
                report.metrics.iter().map(move |(name, value)| (path, name, *value))
            })
        };
        all()
            .map(|(path, name, value)| {
                let twice = all().filter(|(_, other, _)| *other == name).count() > 1;
                (if twice { format!("{path}.{name}") } else { name.clone() }, value)
            })
            .collect()
    }

    /// What makes the run doubtful, by path of the block that noticed it; nothing if the run is not
    /// to tell.
    pub fn warnings(&self) -> impl Iterator<Item = (&str, &Warning)> {
        let reports = self.reports.iter().filter(|_| self.program.warn);
        reports.flat_map(|(path, report)| report.warnings.iter().map(|one| (path.as_str(), one)))
    }

    /// The same as data.
    pub fn warnings_to_json(&self) -> Value {
        let one = |(block, warning): (&str, &Warning)| {
            let Warning { name, t, steps, message } = warning;
            json!({ "block": block, "name": name, "t": t, "steps": steps, "message": message })
        };
        self.warnings().map(one).collect()
    }

    /// How often solvers were called.
    pub fn solver_calls(&self) -> u64 {
        self.reports.iter().map(|(_, report)| report.solver_calls).sum()
    }

    /// How often solvers did not solve.
    pub fn solver_failures(&self) -> u64 {
        self.reports.iter().map(|(_, report)| report.solver_failures).sum()
    }
}

/// A check's end. If the run was cut short only what nothing later could change is decided.
fn verdict(kind: CheckKind, state: &CheckState, cut_short: bool) -> Verdict {
    let failed = Verdict::Failed { at: state.failed_at };
    match (kind, state.passed) {
        _ if !state.seen && cut_short => Verdict::Undecided,
        _ if !state.seen && state.begun => Verdict::NotAsked,
        _ if !state.seen => Verdict::Unseen,
        (CheckKind::Always, false) => failed,
        (CheckKind::Eventually, true) => Verdict::Passed,
        _ if cut_short => Verdict::Undecided,
        (_, true) => Verdict::Passed,
        (_, false) => failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(seen: bool, passed: bool) -> CheckState {
        CheckState { seen, passed, begun: seen, failed_at: None }
    }

    #[test]
    fn a_fault_leaves_open_what_the_rest_of_the_run_would_have_told() {
        use CheckKind::{Always, Eventually, Finally};
        assert_eq!(verdict(Always, &state(true, true), true), Verdict::Undecided);
        assert_eq!(verdict(Always, &state(true, false), true), Verdict::Failed { at: None });
        assert_eq!(verdict(Eventually, &state(true, true), true), Verdict::Passed);
        assert_eq!(verdict(Eventually, &state(true, false), true), Verdict::Undecided);
        assert_eq!(verdict(Finally, &state(true, true), true), Verdict::Undecided);
        assert_eq!(verdict(Finally, &state(true, true), false), Verdict::Passed);
        assert_eq!(verdict(Always, &state(false, false), false), Verdict::Unseen);
        assert_eq!(verdict(Always, &state(false, false), true), Verdict::Undecided);
        let begun = CheckState { begun: true, ..state(false, false) };
        assert_eq!(verdict(Always, &begun, false), Verdict::NotAsked);
        assert_eq!(verdict(Always, &begun, true), Verdict::Undecided);
    }
}
