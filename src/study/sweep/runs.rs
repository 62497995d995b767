//! Runs the cells.

use std::path::PathBuf;

use super::prepare::Prepared;
use super::show::{self, Figure, Show};
use crate::cancel::Cancel;
use crate::drive::Control;
use crate::error::Error;
use crate::experiment;
use crate::model::Model;
use crate::pool;
use crate::run::{Record, Run, RunRequest};
use crate::watch::{Event, Watch};

/// A cell to run.
pub(super) struct Job {
    /// Its index.
    pub(super) cell: usize,
    pub(super) prepared: Prepared,
    /// Where its run is kept, if it is.
    pub(super) directory: Option<PathBuf>,
}

/// What became of a cell.
#[derive(Debug)]
pub enum End {
    /// Its diagram has errors; they in words.
    Wrong(String),
    /// It did not run, since its directory could not be written; why.
    Unwritten(String),
    /// Somebody cancelled the sweep before.
    NotRun,
    /// It ran.
    Ran(Box<Ran>),
}

/// A run that has ended.
#[derive(Debug)]
pub struct Ran {
    /// What came of it.
    pub run: Run,
    /// What was asked of its signals.
    pub figures: Vec<Figure>,
}

/// Runs all cells that can, `at_a_time` of them at once, and gives `each` what became of a cell.
pub(super) fn run_all(
    jobs: Vec<Job>,
    shows: &[Show],
    at_a_time: usize,
    watch: Watch<'_>,
    cancel: &Cancel,
    each: &(dyn Fn(usize, End) + Sync),
) {
    let programs = || jobs.iter().filter_map(|job| Some(job.prepared.model()?.program()));
    let stop = programs().map(|program| program.run.stop.to_f64()).fold(0.0, f64::max);
    let ticks = programs().map(|program| program.stop_tick).sum();
    watch(Event::Begin { runs: programs().count(), ticks, stop });
    let mut next = 0;
    let number = |job: Job| {
        let run = next;
        next += usize::from(job.prepared.model().is_some());
        (run, job)
    };
    let jobs: Vec<(usize, Job)> = jobs.into_iter().map(number).collect();
    pool::map(jobs, at_a_time, |(run, Job { cell, prepared, directory })| {
        let end = match prepared {
            Prepared::Wrong(errors) => End::Wrong(errors),
            Prepared::Ready(model) if !cancel.is_cancelled() => {
                let control = Control { watch, run, cancel };
                match run_one(&model, shows, directory, control) {
                    Ok(ran) => End::Ran(Box::new(ran)),
                    Err(error) => End::Unwritten(error.to_string()),
                }
            }
            Prepared::Ready(_) | Prepared::Skipped => End::NotRun,
        };
        each(cell, end);
    });
}

/// One run. Without a directory it leaves its results only; its recording is in memory while
/// something is asked of its signals.
fn run_one(
    model: &Model,
    shows: &[Show],
    directory: Option<PathBuf>,
    control: Control<'_>,
) -> Result<Ran, Error> {
    let record = match directory {
        Some(directory) => Record::Directory(directory),
        None if shows.is_empty() => Record::Nothing,
        None => Record::Memory,
    };
    let run = model.run_as(&RunRequest { record, ..RunRequest::default() }, control)?;
    let mut figures = Vec::new();
    if run.execution.recording_error().is_none() && !shows.is_empty() {
        let recording = run.recording()?;
        figures = recording
            .map_or(figures, |recording| show::figures(shows, &recording, &run.execution.program));
    }
    let mut ran = Ran { run, figures };
    let columns = experiment::columns(&ran);
    ran.figures.extend(columns);
    ran.run.forget_recording();
    Ok(ran)
}
