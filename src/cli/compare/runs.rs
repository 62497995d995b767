//! Runs several programs at once.

use std::path::PathBuf;

use indicatif::ProgressBar;
use legwork_program::{LogChannel, Program};
use legwork_runtime::recording::{
    ChunkPolicy, Metadata, Recorder, Recording, RecordingError, Sink,
};
use legwork_runtime::{Cursor, RunFault, Simulation, channels};

use super::super::answer::Failure;
use super::super::execution::{Execution, STEPS_PER_LOOK};
use super::super::pool;
use super::super::progress::{self, Progress};
use super::problem::{ITERATIONS, RESIDUAL, is_solver, output};

/// A program to run, with what its recording says of it.
pub(super) struct Job {
    pub(super) program: Program,
    pub(super) metadata: Metadata,
    /// Where the recording goes besides memory.
    pub(super) file: Option<PathBuf>,
}

/// A run that has ended.
pub(super) struct Run {
    pub(super) execution: Execution,
    pub(super) recording: Recording,
    /// Where it was written.
    pub(super) file: Option<PathBuf>,
}

/// What the solver blocks of a run say.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SolverFigures {
    /// Path of the block.
    pub(super) block: String,
    pub(super) calls: u64,
    pub(super) failures: u64,
    /// Mean over the recorded steps.
    pub(super) mean_iterations: Option<f64>,
    pub(super) max_iterations: Option<f64>,
    /// Worst residual of the optimality conditions.
    pub(super) worst_residual: Option<f64>,
    /// What the block says of its failures.
    pub(super) notes: Vec<String>,
}

/// Adds iterations and residuals of all solver blocks to what a program records.
pub(super) fn record_solvers(program: Program) -> Program {
    let mut more = Vec::new();
    for node in program.nodes.iter().filter(|node| is_solver(node)) {
        for name in [ITERATIONS, RESIDUAL] {
            if let Some(signal) = output(&program, node, name)
                && !program.log.iter().any(|known| known.signal.path == signal.path)
            {
                more.push(LogChannel { signal: signal.clone(), rate: node.rate });
            }
        }
    }
    program.recording_also(more)
}

/// Runs all, `jobs` at a time. A run shares nothing with the others, so that its results do not
/// depend on them.
///
/// # Errors
/// If a recording cannot be made or written.
pub(super) fn run_all(jobs: Vec<Job>, at_a_time: usize) -> Result<Vec<Run>, Failure> {
    let bar = progress::bar(jobs.iter().map(|job| job.program.stop_tick).sum());
    if let Some(bar) = &bar {
        bar.set_message(format!("{} runs", jobs.len()));
    }
    let runs = pool::map(jobs, at_a_time, |job| run(job, bar.as_ref()));
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    runs.into_iter().collect()
}

fn run(job: Job, bar: Option<&ProgressBar>) -> Result<Run, Failure> {
    let usage = |error: RecordingError| Failure::usage(error.to_string());
    let Job { program, metadata, file } = job;
    let channels = channels(&program);
    let recorder = Recorder::create(Sink::memory(), &channels, &metadata, ChunkPolicy::default())
        .map_err(usage)?;
    let mut execution = Execution::driven(program, Some(recorder), |simulation, _| match bar {
        None => simulation.run(),
        Some(bar) => watched(simulation, bar),
    });
    let finished = execution.recording.take().transpose().map_err(usage)?;
    let bytes = finished.and_then(|finished| finished.memory).unwrap_or_default();
    if let Some(file) = &file {
        std::fs::write(file, &bytes).map_err(|error| {
            Failure::usage(format!("cannot write `{}`: {error}", file.display()))
        })?;
    }
    let recording = Recording::from_bytes(bytes).map_err(usage)?;
    Ok(Run { execution, recording, file })
}

fn watched(simulation: &mut Simulation, bar: &ProgressBar) -> Result<(), RunFault> {
    let mut progress = Progress::on(bar);
    while simulation.cursor() != Cursor::Done {
        for _ in 0..STEPS_PER_LOOK {
            simulation.step()?;
            if simulation.cursor() == Cursor::Done {
                break;
            }
        }
        progress.look(simulation);
    }
    progress.end(simulation);
    Ok(())
}

impl Run {
    /// Time of a step [s], if there was one.
    pub(super) fn step_cost(&self) -> Option<f64> {
        let steps = self.execution.steps;
        (steps > 0).then(|| self.execution.wall / steps as f64)
    }

    /// The figures of each solver block, by path.
    pub(super) fn solvers(&self) -> Vec<SolverFigures> {
        let solvers = self.execution.program.nodes.iter().filter(|node| is_solver(node));
        solvers.map(|node| self.solver(&node.path)).collect()
    }

    fn solver(&self, block: &str) -> SolverFigures {
        let column = |output: &str| -> Vec<f64> {
            let series = self.recording.series(&format!("{block}.{output}")).ok();
            series.and_then(|series| series.column("value")).unwrap_or_default()
        };
        let (iterations, residuals) = (column(ITERATIONS), column(RESIDUAL));
        let count = iterations.len() as f64;
        let report = self.execution.reports.iter().find(|(path, _)| path == block);
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
