//! One run of a program: to the stop time or to a fault, with what came of it.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use legwork_block::{Measured, Metric, PortTable, Report, Slot, Unit, Warning};
use legwork_program::{Check, CheckKind, JudgeValue, Node, Program};
use legwork_runtime::recording::{Finished, Recorder, RecordingError};
use legwork_runtime::{BlockTime, CheckState, Cursor, Decisive, RunFault, Simulation};
use serde_json::{Map, Value, json};

use crate::text::{digits, seconds};

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
    /// The comparison that decides each check, where one does.
    pub decisive: Vec<Option<Decisive>>,
    /// The values of `judge:` at the end.
    pub judged: Vec<f64>,
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

/// Adds to warnings of joints past their limits why these did not hold them.
fn say_why_past_limits(program: &Program, reports: &mut [(String, Report)]) {
    let failed = reports.iter().filter(|(_, report)| report.solver_failures > 0);
    let failed: Vec<String> = failed
        .map(|(path, report)| {
            let (failures, calls) = (report.solver_failures, report.solver_calls);
            format!("`{path}` failed in {failures} of {calls} calls")
        })
        .collect();
    // Those whose contacts somebody reads, of the robot whose state the block of a path makes.
    let limits_of = |path: &str| {
        let state = program.nodes.iter().find(|node| node.path == path)?;
        let slots = |ports: &PortTable| -> Vec<Slot> {
            (0..ports.port_count()).flat_map(|port| ports.port(port).to_vec()).collect()
        };
        let made = slots(&state.io.outputs);
        program.nodes.iter().find(|node| {
            let read = || slots(&node.io.inputs);
            node.kind == "JointLimits" && read().iter().all(|slot| made.contains(slot))
        })
    };
    let why = |limits: Option<&Node>| match (limits, failed.is_empty()) {
        (None, _) => ", which does not act: `JointLimits` makes limits contacts".to_owned(),
        (Some(limits), true) => format!(
            ": the contacts of `{}` give way so far; a shorter step, or a motor that pushes less, \
             keeps it nearer",
            limits.path
        ),
        (Some(limits), false) => format!(
            ", which is a contact by `{}`: its force is wrong where the solver fails, {}",
            limits.path,
            failed.join(", ")
        ),
    };
    for (path, report) in reports.iter_mut() {
        for warning in report.warnings.iter_mut().filter(|one| one.name == "past-joint-limit") {
            warning.message += &why(limits_of(path));
        }
    }
}

/// Moves warnings that several blocks give alike to those of the first of them.
fn keep_common_warnings(reports: &mut [(String, Report)]) {
    let mut kept: Vec<Warning> = Vec::new();
    for (_, report) in reports {
        for warning in std::mem::take(&mut report.common_warnings) {
            if !kept.contains(&warning) {
                kept.push(warning.clone());
                report.warnings.push(warning);
            }
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
        let value = |value: &JudgeValue| simulation.arena()[value.slot as usize];
        let judged = program.judge.iter().map(value).collect();
        let decisive = simulation.checks().iter().map(|state| state.decisive).collect();
        let reports = simulation.reports().into_iter();
        let mut reports: Vec<(String, Report)> =
            reports.map(|(path, report)| (path.to_owned(), report)).collect();
        say_why_past_limits(&program, &mut reports);
        keep_common_warnings(&mut reports);
        Self {
            sim_time: simulation.time(),
            steps: simulation.step_count(),
            stopped_by: simulation.stopped_by().map(str::to_owned),
            profile: simulation.profile(),
            program,
            wall,
            fault,
            checks,
            decisive,
            judged,
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
        let verdicts = self.program.checks.iter().zip(&self.checks).enumerate();
        verdicts
            .filter_map(|(i, (check, verdict))| match verdict {
                Verdict::Failed { .. } => {
                    let measured = self.measured_text(i);
                    let measured = measured.map_or(String::new(), |text| format!(" ({text})"));
                    Some(format!("{}{measured}", check.name))
                }
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

    /// What a check measured, by its index: when [s], and the comparison that decides it.
    pub fn measured(&self, check: usize) -> Option<(f64, Measured)> {
        let Decisive { t, comparison } = self.decisive.get(check).copied().flatten()?;
        Some((t, self.program.checks.get(check)?.measured(&comparison)))
    }

    /// The same in words, and when the check first failed if that was before:
    /// `0.5 m < 0.495 m, missed by 0.005 m at t=1 s, first at t=0.9 s`.
    pub fn measured_text(&self, check: usize) -> Option<String> {
        let failed = match self.checks.get(check) {
            Some(Verdict::Failed { at }) => *at,
            _ => None,
        };
        let Some((t, found)) = self.measured(check) else {
            return failed.map(|t| format!("first missed at t={}", seconds(t)));
        };
        let text = measured_text(t, &found, self.program.checks[check].tolerance);
        Some(match failed {
            Some(first) if first < t => format!("{text}, first at t={}", seconds(first)),
            _ => text,
        })
    }

    /// What checks measured, by name.
    pub fn measured_to_json(&self) -> Map<String, Value> {
        let one = |(i, check): (usize, &Check)| {
            let (t, Measured { measured, sign, bound, margin, unit }) = self.measured(i)?;
            let found = json!({
                "t": t,
                "measured": measured,
                "sign": sign,
                "bound": bound,
                "margin": margin,
                "unit": unit.map(|unit| unit.to_string()),
            });
            Some((check.name.clone(), found))
        };
        self.program.checks.iter().enumerate().filter_map(one).collect()
    }

    /// The check whose margin is the least share of what it compares, with what it measured.
    pub fn tightest(&self) -> Option<(&Check, Measured)> {
        let share = |i: usize| Some(self.decisive[i]?.comparison.share());
        let all = (0..self.decisive.len()).filter_map(|i| Some((i, share(i)?)));
        let (i, _) = all.min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some((&self.program.checks[i], self.measured(i)?.1))
    }

    /// The metrics by name.
    pub fn metrics_to_json(&self) -> Map<String, Value> {
        self.metrics().into_iter().map(|(name, _, value)| (name, value.into())).collect()
    }

    /// The metrics of `judge:` with their values.
    pub fn judged_metrics(&self) -> impl Iterator<Item = (&JudgeValue, f64)> {
        let values = self.program.judge.iter().zip(&self.judged);
        values.filter(|(value, _)| value.by.is_some()).map(|(value, number)| (value, *number))
    }

    /// The metrics of `judge:` and what blocks measured: name, unit, value. A name that two have
    /// gets the block's path.
    pub fn metrics(&self) -> Vec<(String, Option<String>, f64)> {
        let of_blocks = || {
            self.reports
                .iter()
                .flat_map(|(path, report)| report.metrics.iter().map(move |metric| (path, metric)))
        };
        let names = || {
            let judged = self.judged_metrics().map(|(value, _)| value.name.as_str());
            judged.chain(of_blocks().map(|(_, metric)| metric.name.as_str()))
        };
        let shown = |unit: &Option<String>| unit.clone().filter(|unit| unit != "1");
        let judged = self.judged_metrics();
        let known = judged.map(|(value, x)| (value.name.clone(), shown(&value.unit), x));
        let measured = of_blocks().map(|(path, Metric { name, value, unit })| {
            let twice = names().filter(|other| other == name).count() > 1;
            let unit = (!unit.is_empty()).then(|| unit.to_string());
            (if twice { format!("{path}.{name}") } else { name.clone() }, unit, *value)
        });
        known.chain(measured).collect()
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

/// `0.5 m < 0.495 m, missed by 0.005 m at t=0.1 s`, or `…, margin …`; with the tolerance that the
/// margin holds.
fn measured_text(t: f64, found: &Measured, tolerance: f64) -> String {
    let Measured { measured, sign, bound, margin, unit } = found;
    let unit = unit.filter(|unit| *unit != Unit::ONE);
    let unit = unit.map_or(String::new(), |unit| format!(" {unit}"));
    let by = match *margin < 0.0 {
        _ if measured.is_nan() || bound.is_nan() => "nothing to compare".to_owned(),
        true => format!("missed by {}{unit}", digits(-margin)),
        false => format!("margin {}{unit}", digits(*margin)),
    };
    // Digits alone do not tell two numbers apart that are nearly equal, nor what a tolerance took.
    let off = (measured - bound).abs();
    let by = match *sign {
        "==" if off > 0.0 && digits(off) != digits(-margin) => {
            format!("off by {}{unit}, {by}", digits(off))
        }
        _ => by,
    };
    let allowed = match tolerance > 0.0 {
        true => format!(" with the tolerance {}{unit}", digits(tolerance)),
        false => String::new(),
    };
    let (measured, bound) = (digits(*measured), digits(*bound));
    format!("{measured}{unit} {sign} {bound}{unit}, {by}{allowed} at t={}", seconds(t))
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
        CheckState { seen, passed, begun: seen, ..CheckState::default() }
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
