//! The rows of a sweep on disk, as its cells end: a sweep that was killed goes on from them.
//!
//! The file begins with a mark; each row is its length, its checksum and its bytes, and knows what
//! its cell was made of. What is cut off at the end is done again.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use legwork_block::{Metric, Report, Warning};
use legwork_program::Fnv;
use legwork_runtime::Decisive;
use serde::{Deserialize, Serialize};

use super::Status;
use super::axes::Cell;
use super::prepare::Prepared;
use super::runs::{End, Ran};
use super::show::{Figure, Show};
use crate::error::Error;
use crate::execution::{Execution, Verdict};
use crate::files::{self, Output, SIZE_LIMIT};
use crate::model::Model;
use crate::run::{RECORDING, RUN_JSON, Run};

/// Name of the file in the directory of a sweep.
pub(super) const NAME: &str = "sweep.rows";
/// The first bytes, with the version of the form.
const MARK: &[u8; 8] = b"LWSWEEP2";

/// What a cell is made of: its name, its program, the texts that made it, and what is asked of its
/// signals. Zero if it does not compile.
pub(super) fn identity(cell: &Cell, prepared: &Prepared, shows: &[Show]) -> u64 {
    let Some(model) = prepared.model() else { return 0 };
    let mut hash = Fnv::default();
    hash.add(env!("CARGO_PKG_VERSION"));
    for show in shows {
        hash.add(&format!("{show:?}"));
    }
    hash.add(&cell.name);
    let metadata = model.metadata();
    hash.add(&metadata.program_hash);
    hash.add(&metadata.diagram);
    metadata.other.iter().for_each(|(name, text)| {
        hash.add(name);
        hash.add(text);
    });
    hash.value()
}

/// A row, as it is kept. Runs that fault, are cancelled or could not be written are not: they are
/// done again.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Row {
    cell: usize,
    identity: u64,
    sim_time: f64,
    steps: u64,
    wall: f64,
    stopped_by: Option<String>,
    checks: Vec<Verdict>,
    decisive: Vec<Option<Decisive>>,
    judged: Vec<f64>,
    reports: Vec<Reported>,
    figures: Vec<Figure>,
}

/// What a block reports, but for its files, which are beside the recording.
#[derive(Clone, Serialize, Deserialize)]
struct Reported {
    block: String,
    metrics: Vec<Metric>,
    solver_calls: u64,
    solver_failures: u64,
    notes: Vec<String>,
    warnings: Vec<Warning>,
}

/// The row of a cell that has ended, unless it is to be done again.
pub(super) fn row(cell: &Cell, identity: u64, end: &End) -> Option<Row> {
    match (end, end.status()) {
        (End::Ran(ran), Status::Ok | Status::CheckFailed) => {
            Some(Row::of(cell.number, identity, ran))
        }
        _ => None,
    }
}

/// Rows as a file holds them.
pub(super) fn to_bytes(rows: impl Iterator<Item = Row>) -> Vec<u8> {
    let mut bytes = MARK.to_vec();
    rows.for_each(|row| bytes.extend(framed(&encoded(&row))));
    bytes
}

/// The file while a sweep goes on.
pub(super) struct Rows {
    path: PathBuf,
    file: File,
}

impl Rows {
    /// Begins the rows of a sweep with those that are kept.
    ///
    /// # Errors
    /// If they cannot be written.
    pub(super) fn begin(directory: &Path, kept: &Kept) -> Result<Self, Error> {
        let path = directory.join(NAME);
        let cannot = |error| files::cannot_write(&path, &error);
        let mut output = Output::create(&path).map_err(cannot)?;
        let bytes = to_bytes(kept.rows.iter().cloned());
        output.write_all(&bytes).and_then(|()| output.publish()).map_err(cannot)?;
        let file = output.handle().map_err(cannot)?;
        Ok(Self { path, file })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn add(&mut self, row: &Row) -> Result<(), Error> {
        let written = self.file.write_all(&framed(&encoded(row)));
        written.map_err(|error| files::cannot_write(&self.path, &error))
    }
}

/// The rows of cells that ended before, or elsewhere.
#[derive(Clone, Default)]
pub(super) struct Kept {
    rows: Vec<Row>,
    /// Where they come from, in words.
    source: String,
}

impl Kept {
    /// Those of a part that has run.
    ///
    /// # Errors
    /// If there are none.
    pub(super) fn of_part(directory: &Path) -> Result<Self, Error> {
        if !directory.join(NAME).is_file() {
            let message = format!("`{}` holds no shard of a sweep", directory.display());
            return Err(Error::request(message));
        }
        Self::of_directory(directory)
    }

    /// Those of a directory, up to where the file is cut off; none if there is no file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(super) fn of_directory(directory: &Path) -> Result<Self, Error> {
        let path = directory.join(NAME);
        match files::read(&path, SIZE_LIMIT) {
            Ok(bytes) => Self::read(&bytes, format!("`{}`", path.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => {
                let message = format!("cannot read `{}`: {error}", path.display());
                Err(Error::request(message))
            }
        }
    }

    /// Those that [`to_bytes`] made.
    ///
    /// # Errors
    /// If it did not.
    pub(super) fn of_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::read(bytes, "a part of the sweep".to_owned())
    }

    fn read(bytes: &[u8], source: String) -> Result<Self, Error> {
        let Some(mut rest) = bytes.strip_prefix(MARK) else { return Err(strange(&source)) };
        let row = || next(&mut rest).and_then(|part| postcard::from_bytes(part).ok());
        Ok(Self { rows: std::iter::from_fn(row).collect(), source })
    }

    /// The same, if they are of this sweep: `whole` cells, of which `cells` are known.
    ///
    /// # Errors
    /// If they are those of another sweep.
    pub(super) fn checked(
        self,
        cells: &[Cell],
        identities: &[u64],
        whole: usize,
    ) -> Result<Self, Error> {
        let is_ours = |row: &Row| match cells.binary_search_by_key(&row.cell, |cell| cell.number) {
            Ok(at) => identities[at] == row.identity,
            Err(_) => row.cell < whole,
        };
        if self.rows.iter().all(is_ours) { Ok(self) } else { Err(strange(&self.source)) }
    }

    /// What became of a cell, if its row is there, and its recording if it has a directory.
    pub(super) fn end(
        &mut self,
        cell: &Cell,
        model: &Model,
        directory: Option<&Path>,
    ) -> Option<End> {
        let at = self.rows.iter().position(|row| row.cell == cell.number)?;
        let has = |name| directory.is_none_or(|directory| directory.join(name).is_file());
        let is_whole = [RECORDING, RUN_JSON].into_iter().all(has);
        let row = self.rows.swap_remove(at);
        let count = model.program().checks.len();
        let fits = row.checks.len() == count
            && row.decisive.len() == count
            && row.judged.len() == model.program().judge.len();
        (is_whole && fits).then(|| End::Ran(Box::new(row.ran(model, directory))))
    }
}

/// What is said of rows of another sweep.
fn strange(source: &str) -> Error {
    Error::request(format!(
        "{source} holds the rows of another diagram or of other axes, so this sweep does not go on \
         from them; name another directory, or begin anew"
    ))
}

impl Row {
    fn of(cell: usize, identity: u64, ran: &Ran) -> Self {
        let execution = &ran.run.execution;
        let report = |(block, report): &(String, Report)| Reported {
            block: block.clone(),
            metrics: report.metrics.clone(),
            solver_calls: report.solver_calls,
            solver_failures: report.solver_failures,
            notes: report.notes.clone(),
            warnings: report.warnings.clone(),
        };
        Self {
            cell,
            identity,
            sim_time: execution.sim_time,
            steps: execution.steps,
            wall: execution.wall,
            stopped_by: execution.stopped_by.clone(),
            checks: execution.checks.clone(),
            decisive: execution.decisive.clone(),
            judged: execution.judged.clone(),
            reports: execution.reports.iter().map(report).collect(),
            figures: ran.figures.clone(),
        }
    }

    fn ran(self, model: &Model, directory: Option<&Path>) -> Ran {
        let report = |one: Reported| {
            let Reported { block, metrics, solver_calls, solver_failures, notes, warnings } = one;
            let report = Report {
                metrics,
                solver_calls,
                solver_failures,
                notes,
                warnings,
                ..Report::default()
            };
            (block, report)
        };
        let execution = Execution {
            program: Arc::clone(model.program()),
            sim_time: self.sim_time,
            steps: self.steps,
            wall: self.wall,
            stopped_by: self.stopped_by,
            fault: None,
            checks: self.checks,
            decisive: self.decisive,
            judged: self.judged,
            reports: self.reports.into_iter().map(report).collect(),
            profile: None,
            recording: None,
        };
        Ran { run: Run::ended_before(model, execution, directory), figures: self.figures }
    }
}

#[expect(clippy::expect_used, reason = "bytes in memory take every value")]
fn encoded(row: &Row) -> Vec<u8> {
    postcard::to_stdvec(row).expect("numbers, texts and lists can be written to memory")
}

/// A part with its length and checksum in front.
fn framed(part: &[u8]) -> Vec<u8> {
    let mut out = (part.len() as u32).to_le_bytes().to_vec();
    out.extend(crc32fast::hash(part).to_le_bytes());
    out.extend(part);
    out
}

/// Takes the next part off, if it is whole.
fn next<'b>(rest: &mut &'b [u8]) -> Option<&'b [u8]> {
    let (length, after) = rest.split_first_chunk::<4>()?;
    let (sum, after) = after.split_first_chunk::<4>()?;
    let (part, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    (crc32fast::hash(part) == u32::from_le_bytes(*sum)).then(|| {
        *rest = after;
        part
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_read_up_to_the_cut() {
        let mut bytes = framed(b"one");
        bytes.extend(framed(b""));
        bytes.extend(framed(b"three"));
        let count = |bytes: &[u8]| {
            let mut rest = bytes;
            std::iter::from_fn(|| next(&mut rest)).count()
        };
        assert_eq!(count(&bytes), 3);
        for cut in bytes.len() - 12..bytes.len() {
            assert_eq!(count(&bytes[..cut]), 2, "cut at {cut}");
        }
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        assert_eq!(count(&bytes), 2);
    }
}
