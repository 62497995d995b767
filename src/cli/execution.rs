//! One run of a program: to the stop time or to a fault, with what came of it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use legwork_block::Report;
use legwork_program::{CheckKind, Program};
use legwork_runtime::recording::{Finished, Recorder, RecordingError};
use legwork_runtime::{BlockTime, CheckState, Cursor, RunFault, Simulation};

use super::answer::Code;
use super::drive::{self, Events, Orders};
use super::summary::seconds;

/// Major steps between two looks at the clock, when somebody watches.
pub(crate) const STEPS_PER_LOOK: u32 = 16;
/// Time between two changes of the progress bar.
pub(crate) const LOOK: Duration = Duration::from_millis(50);

/// What came of a run.
pub(crate) struct Execution {
    /// The program.
    pub(crate) program: Arc<Program>,
    /// Simulated time that was reached [s].
    pub(crate) sim_time: f64,
    /// Major steps that were completed.
    pub(crate) steps: u64,
    /// Time that it took, without compilation [s].
    pub(crate) wall: f64,
    /// The block that ended it before its time, which is no fault.
    pub(crate) stopped_by: Option<String>,
    /// What stopped it before its time.
    pub(crate) fault: Option<RunFault>,
    /// How each check ended.
    pub(crate) checks: Vec<Verdict>,
    /// What the blocks report, by path.
    pub(crate) reports: Vec<(String, Report)>,
    /// What each block took, if that was measured.
    pub(crate) profile: Option<Vec<BlockTime>>,
    /// What became of the recording.
    pub(crate) recording: Option<Result<Finished, RecordingError>>,
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Verdict {
    /// It holds.
    Passed,
    /// It does not.
    Failed {
        /// When its condition was first seen not to hold [s], if that is one time.
        at: Option<f64>,
    },
    /// The run ended before its window.
    Unseen,
    /// The run was cut short before that could be told.
    Undecided,
}

impl Execution {
    /// Runs a program, recording if there is a recorder, with a progress bar if somebody watches.
    pub(crate) fn of(program: Program, recorder: Option<Recorder>) -> Self {
        Self::driven(program, recorder, |simulation, _| {
            drive::run(simulation, Orders::default(), &mut Events::default())
        })
    }

    /// Runs a program to its end by `drive`.
    pub(crate) fn driven(
        program: Program,
        recorder: Option<Recorder>,
        drive: impl FnOnce(&mut Simulation, &Program) -> Result<(), RunFault>,
    ) -> Self {
        let program = Arc::new(program);
        let simulation = Simulation::new(Arc::clone(&program));
        Self::going_on(simulation, recorder, |simulation| drive(simulation, &program))
    }

    /// Drives a simulation on from where it is.
    pub(crate) fn going_on(
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
            .zip(simulation.observer().checks())
            .map(|(check, state)| verdict(check.kind, state, !ended))
            .collect();
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
            reports,
            recording,
        }
    }

    /// Simulated time per time, if any passed.
    pub(crate) fn real_time_factor(&self) -> Option<f64> {
        (self.wall > 0.0).then(|| self.sim_time / self.wall)
    }

    /// Whether the recording could not be written.
    pub(crate) fn recording_error(&self) -> Option<&RecordingError> {
        self.recording.as_ref().and_then(|recording| recording.as_ref().err())
    }

    /// The exit code. `shortened` says that the command line chose the stop time, so that a check
    /// whose window was not reached is no failure; nor is it if a block ended the run.
    pub(crate) fn code(&self, with_checks: bool, shortened: bool) -> Code {
        if self.fault.is_some() || self.recording_error().is_some() {
            return Code::Fault;
        }
        let failed = self.checks.iter().any(|verdict| match verdict {
            Verdict::Passed => false,
            Verdict::Unseen => !shortened && self.stopped_by.is_none(),
            Verdict::Failed { .. } | Verdict::Undecided => true,
        });
        if with_checks && failed { Code::Check } else { Code::Success }
    }

    /// How many checks passed.
    pub(crate) fn checks_passed(&self) -> usize {
        self.checks.iter().filter(|verdict| **verdict == Verdict::Passed).count()
    }

    /// The checks that make [`Execution::code`] one of failure, in words.
    pub(crate) fn failed_checks(&self, shortened: bool) -> Vec<String> {
        let is_due = !shortened && self.stopped_by.is_none();
        let verdicts = self.program.checks.iter().zip(&self.checks);
        verdicts
            .filter_map(|(check, verdict)| match verdict {
                Verdict::Failed { at: Some(t) } => {
                    Some(format!("{} at t={}", check.name, seconds(*t)))
                }
                Verdict::Failed { at: None } => Some(check.name.clone()),
                Verdict::Unseen if is_due => Some(format!("{} was never tested", check.name)),
                Verdict::Passed | Verdict::Unseen | Verdict::Undecided => None,
            })
            .collect()
    }

    /// What blocks measured: name and value. A name that two blocks report gets the block's path.
    pub(crate) fn metrics(&self) -> Vec<(String, f64)> {
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

    /// How often solvers were called.
    pub(crate) fn solver_calls(&self) -> u64 {
        self.reports.iter().map(|(_, report)| report.solver_calls).sum()
    }

    /// How often solvers did not solve.
    pub(crate) fn solver_failures(&self) -> u64 {
        self.reports.iter().map(|(_, report)| report.solver_failures).sum()
    }
}

/// A check's end. If the run was cut short only what nothing later could change is decided.
fn verdict(kind: CheckKind, state: &CheckState, cut_short: bool) -> Verdict {
    let failed = Verdict::Failed { at: state.failed_at };
    match (kind, state.passed) {
        _ if !state.seen => {
            if cut_short {
                Verdict::Undecided
            } else {
                Verdict::Unseen
            }
        }
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
        CheckState { seen, passed, failed_at: None }
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
    }
}
