//! Runs several models at once, with what their solvers say.

use std::path::PathBuf;

use legwork_program::{LogChannel, Program};
use legwork_runtime::recording::Recording;

use super::choices::Combination;
use super::problem::{ITERATIONS, RESIDUAL, is_solver, output};
use crate::cancel::Cancel;
use crate::drive::Control;
use crate::error::Error;
use crate::files;
use crate::model::Model;
use crate::pool;
use crate::run::{Record, Run, RunRequest};
use crate::watch::{Event, Watch};

/// A model to run.
pub(super) struct Job {
    pub(super) model: Model,
    /// Where the recording goes besides memory.
    pub(super) file: Option<PathBuf>,
}

/// A run that has ended.
pub(super) struct Ended {
    pub(super) run: Run,
    pub(super) recording: Recording,
    /// Where it was written.
    pub(super) file: Option<PathBuf>,
}

/// A run of one combination of choices.
pub struct VariantRun {
    /// The choices.
    pub combination: Combination,
    /// What came of it.
    pub run: Run,
    /// What it recorded.
    pub recording: Recording,
    /// Where that was written.
    pub file: Option<PathBuf>,
}

/// What the solver blocks of a run say.
#[derive(Debug, Clone, PartialEq)]
pub struct SolverFigures {
    /// Path of the block.
    pub block: String,
    /// How often it was called.
    pub calls: u64,
    /// How often it did not solve.
    pub failures: u64,
    /// Mean over the recorded steps.
    pub mean_iterations: Option<f64>,
    /// The most over the recorded steps.
    pub max_iterations: Option<f64>,
    /// Worst residual of the optimality conditions.
    pub worst_residual: Option<f64>,
    /// What the block says of its failures.
    pub notes: Vec<String>,
}

/// Iterations and residuals of all solver blocks, where a program does not record them.
pub(super) fn unrecorded_solvers(program: &Program) -> Vec<LogChannel> {
    let mut more = Vec::new();
    for node in program.nodes.iter().filter(|node| is_solver(node)) {
        for name in [ITERATIONS, RESIDUAL] {
            if let Some(signal) = output(program, node, name)
                && !program.log.iter().any(|known| known.signal.path == signal.path)
            {
                more.push(LogChannel { signal: signal.clone(), rate: node.rate });
            }
        }
    }
    more
}

/// Runs all, `at_a_time` of them at once. A run shares nothing with the others, so that its results
/// do not depend on them.
///
/// # Errors
/// If a recording cannot be made or written.
pub(super) fn run_all(
    jobs: Vec<Job>,
    at_a_time: usize,
    watch: Watch<'_>,
    cancel: &Cancel,
) -> Result<Vec<Ended>, Error> {
    let programs = || jobs.iter().map(|job| job.model.program());
    let stop = programs().map(|program| program.run.stop.to_f64()).fold(0.0, f64::max);
    let ticks = programs().map(|program| program.stop_tick).sum();
    watch(Event::Begin { runs: jobs.len(), ticks, stop });
    let jobs: Vec<(usize, Job)> = jobs.into_iter().enumerate().collect();
    let runs =
        pool::map(jobs, at_a_time, |(run, job)| run_one(job, Control { watch, run, cancel }));
    runs.into_iter().collect()
}

fn run_one(job: Job, control: Control<'_>) -> Result<Ended, Error> {
    let Job { model, file } = job;
    let request = RunRequest { record: Record::Memory, ..RunRequest::default() };
    let mut run = model.run_as(&request, control)?;
    if let Some(error) = run.execution.recording_error() {
        return Err(Error::request(error.to_string()));
    }
    if let (Some(file), Some(bytes)) = (&file, run.recording_bytes()) {
        files::write(file, bytes)?;
    }
    let recording = run.recording()?;
    let recording = recording.ok_or_else(|| Error::request("nothing was recorded"))?;
    run.forget_recording();
    Ok(Ended { run, recording, file })
}

impl VariantRun {
    /// Its name in tables.
    pub fn name(&self) -> &str {
        &self.combination.name
    }

    /// Time of a step [s], if there was one.
    pub fn step_cost(&self) -> Option<f64> {
        let steps = self.run.execution.steps;
        (steps > 0).then(|| self.run.execution.wall / steps as f64)
    }

    /// The figures of each solver block, by path.
    pub fn solvers(&self) -> Vec<SolverFigures> {
        let solvers = self.run.execution.program.nodes.iter().filter(|node| is_solver(node));
        solvers.map(|node| self.solver(&node.path)).collect()
    }

    fn solver(&self, block: &str) -> SolverFigures {
        let column = |output: &str| -> Vec<f64> {
            let series = self.recording.series(&format!("{block}.{output}")).ok();
            series.and_then(|series| series.column("value")).unwrap_or_default()
        };
        let (iterations, residuals) = (column(ITERATIONS), column(RESIDUAL));
        let count = iterations.len() as f64;
        let report = self.run.execution.reports.iter().find(|(path, _)| path == block);
        let report = report.map(|(_, report)| report.clone()).unwrap_or_default();
        SolverFigures {
            block: block.to_owned(),
            calls: report.solver_calls,
            failures: report.solver_failures,
            mean_iterations: (count > 0.0).then(|| iterations.iter().sum::<f64>() / count),
            max_iterations: iterations.iter().copied().reduce(f64::max),
            worst_residual: residuals.iter().copied().reduce(f64::max),
            notes: report.notes,
        }
    }
}

/// The figures of all solver blocks of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Totals {
    /// Mean over all calls.
    pub mean_iterations: Option<f64>,
    /// The most of any call.
    pub max_iterations: Option<f64>,
    /// Worst residual of the optimality conditions [1].
    pub worst_residual: Option<f64>,
}

impl Totals {
    /// The totals of these figures.
    pub fn of(solvers: &[SolverFigures]) -> Self {
        let calls: u64 = solvers.iter().map(|solver| solver.calls).sum();
        let sum: f64 =
            solvers.iter().filter_map(|s| Some(s.calls as f64 * s.mean_iterations?)).sum();
        let largest =
            |of: fn(&SolverFigures) -> Option<f64>| solvers.iter().filter_map(of).reduce(f64::max);
        Self {
            mean_iterations: (calls > 0).then(|| sum / calls as f64),
            max_iterations: largest(|solver| solver.max_iterations),
            worst_residual: largest(|solver| solver.worst_residual),
        }
    }
}
