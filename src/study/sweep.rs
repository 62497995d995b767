//! One diagram in every cell of a table of choices and parameters.
//!
//! ```text
//! request ──axes──► cells ──prepare──► models ──runs──► ends ──► columns ──► text, CSV
//!                                                         └────► report (JSON)
//! ```
//!
//! A cell that fails is a row that says why. Cells share nothing, so that each gives the bits of a
//! run of its own.

mod axes;
mod columns;
mod part;
mod prepare;
mod range;
mod report;
mod rows;
mod runs;
mod show;

use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use legwork_program::Program;
use serde_json::{Map, Value};

pub use axes::{Axis, Cell, Kind};
pub use columns::{Column, Entry, Table};
pub use part::{Finished, Part, Shard};
pub use range::parse_values;
pub use runs::{End, Ran};
pub use show::{Figure, Show, Statistic, parse_shows};

use crate::cancel::Cancel;
use crate::diagram::Diagram;
use crate::directory;
use crate::error::Error;
use crate::execution::Outcome;
use crate::files::{self, Lock};
use crate::findings::Findings;
use crate::pool;
use crate::watch::Watch;
use prepare::Prepared;
use rows::{Kept, Rows};
use runs::Job;

/// What is asked of a sweep.
#[derive(Debug, Clone, Default)]
pub struct SweepRequest {
    /// Name and values of each axis: choices of a variant, or values of what [`Diagram::set`]
    /// takes. The first axis changes slowest.
    pub over: Vec<(String, Vec<String>)>,
    /// Axes that change together, by name: they have as many values, and their values of one
    /// index are those of one run.
    pub tied: Vec<Vec<String>>,
    /// Figures of recorded signals.
    pub show: Vec<Show>,
    /// Directory of the runs, each in one named after its values; no run is kept without it.
    pub directory: Option<PathBuf>,
    /// Runs at a time; without it, one on each core. Results do not depend on it, times do.
    pub jobs: Option<NonZeroUsize>,
    /// Go on with the sweep in the directory: cells that have ended there do not run again.
    pub resume: bool,
    /// Only these of the cells: the others run elsewhere.
    pub part: Option<Part>,
    /// Parts of this sweep: cells that have ended there do not run again.
    pub merge: Vec<Finished>,
}

/// A sweep whose cells are compiled.
pub struct SweepPlan {
    diagram: String,
    axes: Vec<Axis>,
    /// Cells of the whole sweep.
    whole: usize,
    /// Those that are its own.
    cells: Vec<Cell>,
    prepared: Vec<Prepared>,
    directories: Vec<Option<PathBuf>>,
    findings: Findings,
    jobs: usize,
    request: SweepRequest,
}

impl fmt::Debug for SweepPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SweepPlan").field("axes", &self.axes).finish_non_exhaustive()
    }
}

/// What came of a sweep.
#[derive(Debug)]
pub struct Sweep {
    /// Name of the diagram.
    pub diagram: String,
    /// The axes.
    pub axes: Vec<Axis>,
    /// Every combination of their values.
    pub cells: Vec<Cell>,
    /// What became of each cell.
    pub ends: Vec<End>,
    /// What was found wrong in the diagram.
    pub findings: Findings,
    /// Runs at a time.
    pub jobs: usize,
    /// Cells that ended in an earlier process.
    pub resumed: usize,
    /// Why its rows could not be written as cells ended, if so.
    pub unwritten: Option<Error>,
    /// What each cell is made of.
    identities: Vec<u64>,
}

/// How a cell ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Its run got to its end and its checks passed.
    Ok,
    /// A check failed.
    CheckFailed,
    /// Its run stopped at a fault.
    Fault,
    /// Its recording, or a file beside it, could not be written whole.
    Unwritten,
    /// Its diagram has errors.
    DiagramError,
    /// Somebody cancelled its run.
    Interrupted,
    /// Somebody cancelled the sweep before.
    NotRun,
}

impl Status {
    /// The words for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::CheckFailed => "check failed",
            Self::Fault => "fault",
            Self::Unwritten => "not written",
            Self::DiagramError => "diagram error",
            Self::Interrupted => "interrupted",
            Self::NotRun => "not run",
        }
    }
}

/// Who is told of a cell that is done: what has ended by then, and its index. One is told at a
/// time, from several threads.
pub type Each<'a> = &'a (dyn Fn(&Sweep, usize) + Sync);

impl Diagram {
    /// Compiles every cell of a sweep.
    ///
    /// # Errors
    /// If the request makes no sense, or an axis or a signal is not there.
    pub fn plan_sweep(&self, request: &SweepRequest, cancel: &Cancel) -> Result<SweepPlan, Error> {
        self.plan_sweep_of(request, false, cancel)
    }

    /// As [`Self::plan_sweep`]; of a study an axis that is nowhere is a mistake of its file.
    pub(crate) fn plan_sweep_of(
        &self,
        request: &SweepRequest,
        is_study: bool,
        cancel: &Cancel,
    ) -> Result<SweepPlan, Error> {
        axes::check(request, self.options())?;
        let variants = self.compile().variants;
        let axes = axes::classify(request.over.clone(), &variants)?;
        let cells = axes::cells(&axes, &request.tied, self.options());
        let whole = cells.len();
        let named = cells.iter().zip(axes::directories(&cells, request.directory.as_deref()));
        // The cells of a part keep their numbers and directories in the whole.
        let is_own = |number| request.part.as_ref().is_none_or(|part| part.has(number));
        let (cells, directories): (Vec<Cell>, Vec<_>) = named
            .filter(|(cell, _)| is_own(cell.number))
            .map(|(cell, directory)| (cell.clone(), directory))
            .unzip();
        let jobs = pool::at_a_time(request.jobs, cells.len());
        let compiled = prepare::compile_all(self, &cells, jobs, cancel);
        if let Some(error) = prepare::unknown_axis(&axes, &variants, &compiled)
            && !is_study
        {
            return Err(error);
        }
        let (prepared, findings) = prepare::sort(&cells, compiled);
        let models = || prepared.iter().filter_map(Prepared::model);
        if models().next().is_some() {
            show::check(&request.show, models().map(|model| &**model.program()))?;
        }
        let (diagram, request) = (self.name().to_owned(), request.clone());
        Ok(SweepPlan {
            diagram,
            axes,
            whole,
            cells,
            prepared,
            directories,
            findings,
            jobs,
            request,
        })
    }

    /// Runs every cell of a sweep; `each` is told of every cell that is done.
    ///
    /// # Errors
    /// Those of [`Diagram::plan_sweep`] and [`SweepPlan::run`].
    pub fn sweep(
        &self,
        request: &SweepRequest,
        each: Each<'_>,
        watch: Watch<'_>,
        cancel: &Cancel,
    ) -> Result<Sweep, Error> {
        self.plan_sweep(request, cancel)?.run(each, watch, cancel)
    }
}

impl SweepPlan {
    /// What was found wrong.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    pub(crate) fn findings_mut(&mut self) -> &mut Findings {
        &mut self.findings
    }

    /// The program of a cell that compiles, if one does.
    pub(crate) fn program(&self) -> Option<&Program> {
        self.prepared.iter().find_map(Prepared::model).map(|model| &**model.program())
    }

    /// How many cells there are.
    pub fn count(&self) -> usize {
        self.cells.len()
    }

    /// Whether no cell compiles.
    pub fn is_wrong(&self) -> bool {
        self.prepared.iter().all(Prepared::is_wrong)
    }

    /// Files that its runs read: no output may be one of them.
    pub fn inputs(&self) -> Vec<PathBuf> {
        self.prepared.iter().filter_map(Prepared::model).flat_map(|m| m.inputs(&[])).collect()
    }

    /// Runs the cells; `each` is told of every one that is done, from several threads.
    ///
    /// # Errors
    /// If its directory cannot be written, another sweep writes into it, or it is to be resumed
    /// or merged and what has ended is of another sweep.
    pub fn run(self, each: Each<'_>, watch: Watch<'_>, cancel: &Cancel) -> Result<Sweep, Error> {
        let mut inputs = self.inputs();
        let Self { diagram, axes, whole, cells, prepared, directories, findings, jobs, request } =
            self;
        inputs.extend(request.merge.iter().filter_map(|part| match part {
            Finished::Directory(folder) => Some(folder.join(rows::NAME)),
            Finished::Rows(_) => None,
        }));
        let mut ends: Vec<End> = cells.iter().map(|_| End::NotRun).collect();
        let identity = |(cell, prepared)| rows::identity(cell, prepared, &request.show);
        let identities: Vec<u64> = cells.iter().zip(&prepared).map(identity).collect();
        let (mut lock, mut rows) = (None, None);
        if !cancel.is_cancelled() {
            let mut recall = |kept: Kept, directories: Option<&[Option<PathBuf>]>| {
                let mut kept = kept.checked(&cells, &identities, whole)?;
                for (i, (cell, prepared)) in cells.iter().zip(&prepared).enumerate() {
                    let folder = directories.and_then(|all| all[i].as_deref());
                    if let Some(model) = prepared.model()
                        && let Some(end) = kept.end(cell, model, folder)
                    {
                        ends[i] = end;
                    }
                }
                Ok::<(), Error>(())
            };
            for part in &request.merge {
                match part {
                    Finished::Rows(bytes) => recall(Kept::of_bytes(bytes)?, None)?,
                    Finished::Directory(folder) => {
                        let directories = axes::directories(&cells, Some(folder));
                        recall(Kept::of_part(folder)?, Some(&directories))?;
                    }
                }
            }
            if let Some(directory) = &request.directory {
                files::refuse_input(&directory.join(rows::NAME), &inputs)?;
                directory::make(directory)?;
                lock = Some(Lock::of(directory)?);
                let kept = match request.resume {
                    true => Kept::of_directory(directory)?,
                    false => Kept::default(),
                };
                recall(kept.clone(), Some(&directories))?;
                rows = Some(Rows::begin(directory, &kept)?);
            }
        }
        let all = prepared.into_iter().zip(directories).enumerate();
        let waiting = all.filter(|(cell, _)| matches!(ends[*cell], End::NotRun));
        let job = |(cell, (prepared, directory))| Job { cell, prepared, directory };
        let waiting: Vec<Job> = waiting.map(job).collect();
        let resumed = ends.iter().filter(|end| matches!(end, End::Ran(_))).count();
        let unwritten = None;
        let sweep =
            Sweep { diagram, axes, cells, ends, findings, jobs, resumed, unwritten, identities };
        let shared = Mutex::new((sweep, rows));
        runs::run_all(waiting, &request.show, jobs, watch, cancel, &|cell, end| {
            let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
            let (sweep, rows) = &mut *shared;
            let row = rows::row(&sweep.cells[cell], sweep.identities[cell], &end);
            if let Some((file, row)) = rows.as_mut().zip(row)
                && let Err(error) = file.add(&row)
            {
                sweep.unwritten.get_or_insert(error);
                *rows = None;
            }
            sweep.ends[cell] = end;
            each(sweep, cell);
        });
        drop(lock);
        Ok(shared.into_inner().unwrap_or_else(PoisonError::into_inner).0)
    }
}

impl Sweep {
    /// The rows of the cells that have ended well or with failed checks, as [`Finished::Rows`]
    /// takes them: what of a part that ran elsewhere is sent back.
    pub fn finished_rows(&self) -> Vec<u8> {
        let all = self.cells.iter().zip(&self.identities).zip(&self.ends);
        rows::to_bytes(all.filter_map(|((cell, identity), end)| rows::row(cell, *identity, end)))
    }

    /// Every row, with how it ended.
    pub fn rows(&self) -> impl Iterator<Item = (&Cell, &End, Status)> {
        self.cells.iter().zip(&self.ends).map(|(cell, end)| (cell, end, end.status()))
    }

    /// The table as columns.
    pub fn table(&self) -> Table {
        Table::of(self)
    }

    /// All of it as JSON. Numbers that JSON has not are null.
    pub fn to_json(&self) -> Map<String, Value> {
        report::to_json(self)
    }

    /// Cells that compile to the same program as an earlier one, with the first such: an axis that
    /// changes nothing is a slip.
    pub fn twins(&self) -> Vec<(&Cell, &Cell)> {
        let hash = |end: &End| match end {
            End::Ran(ran) => Some(ran.run.execution.program.hash()),
            End::Wrong(_) | End::Unwritten(_) | End::NotRun => None,
        };
        let mut pairs = Vec::new();
        for (i, (cell, end)) in self.cells.iter().zip(&self.ends).enumerate() {
            let Some(own) = hash(end) else { continue };
            let same = self.ends[..i].iter().position(|other| hash(other) == Some(own));
            if let Some(first) = same {
                pairs.push((cell, &self.cells[first]));
            }
        }
        pairs
    }
}

impl End {
    /// How the cell ended.
    pub fn status(&self) -> Status {
        match self {
            Self::Wrong(_) => Status::DiagramError,
            Self::Unwritten(_) => Status::Unwritten,
            Self::NotRun => Status::NotRun,
            Self::Ran(ran) => match ran.run.outcome() {
                Outcome::Success => Status::Ok,
                Outcome::CheckFailed => Status::CheckFailed,
                Outcome::Fault => Status::Fault,
                Outcome::Unwritten => Status::Unwritten,
                Outcome::Cancelled => Status::Interrupted,
            },
        }
    }

    /// Why it did not end well.
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Wrong(errors) | Self::Unwritten(errors) => Some(errors.clone()),
            Self::NotRun => None,
            Self::Ran(ran) => {
                let execution = &ran.run.execution;
                match (self.status(), &execution.fault, ran.run.errors().first()) {
                    (_, Some(fault), _) => Some(fault.to_string()),
                    (_, None, Some(error)) => Some(error.clone()),
                    (Status::CheckFailed, None, None) => {
                        Some(execution.failed_checks(ran.run.is_shortened()).join(", "))
                    }
                    _ => None,
                }
            }
        }
    }
}
