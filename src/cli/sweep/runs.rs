//! Runs the cells.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use legwork_runtime::recording::{ChunkPolicy, Recorder, Recording, RecordingError, Sink};
use legwork_runtime::{Simulation, channels};
use serde_json::Value;

use super::super::answer::Failure;
use super::super::drive::{self, Events, Orders};
use super::super::execution::Execution;
use super::super::run::{self, Recorded, Setting, fault_to_json};
use super::super::source::Source;
use super::super::{interrupt, pool, progress};
use super::prepare::{Prepared, Ready};
use super::show::{self, Figure, Show};

/// A cell to run.
pub(super) struct Job {
    pub(super) prepared: Prepared,
    /// Where its run is kept, if it is.
    pub(super) directory: Option<PathBuf>,
}

/// What became of a cell.
pub(super) enum End {
    /// Its diagram has errors; they in words.
    Wrong(String),
    /// Ctrl-C came first.
    NotRun,
    Ran(Box<Ran>),
}

/// A run that has ended.
pub(super) struct Ran {
    pub(super) execution: Execution,
    /// Ctrl-C ended it.
    pub(super) interrupted: bool,
    /// What was asked of its signals.
    pub(super) figures: Vec<Figure>,
    /// Where it is kept.
    pub(super) directory: Option<PathBuf>,
    /// Its fault as JSON.
    pub(super) fault: Option<Value>,
}

/// Runs all cells that can, `at_a_time` of them at once.
///
/// # Errors
/// If the files of a run cannot be written.
pub(super) fn run_all(
    jobs: Vec<Job>,
    source: &Source,
    shows: &[Show],
    at_a_time: usize,
) -> Result<Vec<End>, Failure> {
    let programs = || jobs.iter().filter_map(|job| job.prepared.program());
    let bar = progress::bar(programs().map(|program| program.stop_tick).sum());
    let count = programs().count();
    let ended = AtomicUsize::new(0);
    let say = || {
        if let Some(bar) = &bar {
            bar.set_message(format!("{} of {count} runs", ended.load(Ordering::Relaxed)));
        }
    };
    say();
    let ends = pool::map(jobs, at_a_time, |Job { prepared, directory }| {
        let ready = match prepared {
            Prepared::Wrong(errors) => return Ok(End::Wrong(errors)),
            Prepared::Ready(ready) if !interrupt::is_requested() => ready,
            Prepared::Ready(_) | Prepared::Skipped => return Ok(End::NotRun),
        };
        let orders = Orders { bar: bar.clone(), ..Orders::default() };
        let ran = match directory {
            Some(directory) => kept(*ready, source, shows, orders, directory),
            None => passing(*ready, shows, orders),
        };
        ended.fetch_add(1, Ordering::Relaxed);
        say();
        Ok(End::Ran(Box::new(ran?)))
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    ends.into_iter().collect()
}

/// A run with its directory, as `legwork run` has it.
fn kept(
    ready: Ready,
    source: &Source,
    shows: &[Show],
    orders: Orders,
    directory: PathBuf,
) -> Result<Ran, Failure> {
    let Ready { program, sources, metadata, diagnostics, compile_time } = ready;
    let simulation = Simulation::new(Arc::new(program));
    let setting = Setting {
        source,
        sources: &sources,
        metadata: &metadata,
        diagnostics,
        directory,
        compile_time,
        started: run::now(),
    };
    let recorded = run::record(simulation, orders, &setting)?;
    let Recorded { execution, events, recording, .. } = recorded;
    let is_whole = execution.recording_error().is_none();
    let figures = match is_whole && !shows.is_empty() {
        true => show::figures(shows, &open(&recording)?, &execution.program),
        false => Vec::new(),
    };
    let fault = execution.fault.as_ref().map(|fault| fault_to_json(fault, &sources));
    let (interrupted, directory) = (events.interrupted, Some(setting.directory));
    Ok(Ran { execution, interrupted, figures, directory, fault })
}

fn open(recording: &Path) -> Result<Recording, Failure> {
    Recording::open(recording).map_err(|error| usage(&error))
}

/// A run that leaves its results only; its recording is in memory while somebody asks for it.
fn passing(ready: Ready, shows: &[Show], orders: Orders) -> Result<Ran, Failure> {
    let Ready { program, sources, metadata, .. } = ready;
    let recorder = match shows.is_empty() {
        true => None,
        false => {
            let channels = channels(&program);
            let sink = Sink::memory();
            let recorder = Recorder::create(sink, &channels, &metadata, ChunkPolicy::default());
            Some(recorder.map_err(|error| usage(&error))?)
        }
    };
    let mut events = Events::default();
    let mut execution = Execution::driven(program, recorder, |simulation, _| {
        drive::run(simulation, orders, &mut events)
    });
    let bytes = match &mut execution.recording {
        Some(Ok(finished)) => finished.memory.take(),
        _ => None,
    };
    let figures = match bytes {
        Some(bytes) => {
            let recording = Recording::from_bytes(bytes).map_err(|error| usage(&error))?;
            show::figures(shows, &recording, &execution.program)
        }
        None => Vec::new(),
    };
    let fault = execution.fault.as_ref().map(|fault| fault_to_json(fault, &sources));
    let interrupted = events.interrupted;
    Ok(Ran { execution, interrupted, figures, directory: None, fault })
}

fn usage(error: &RecordingError) -> Failure {
    Failure::usage(error.to_string())
}
