//! The rows of a sweep on disk, as its cells end: a sweep that was killed goes on from them.
//!
//! The file begins with a mark and the identity of the sweep; each part of it is its length, its
//! checksum and its bytes. What is cut off at the end is done again.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use legwork_block::{Report, Warning};
use legwork_program::Fnv;
use legwork_runtime::Decisive;
use serde::{Deserialize, Serialize};

use super::axes::Cell;
use super::prepare::Prepared;
use super::runs::{End, Ran};
use super::show::{Figure, Show};
use super::{Status, SweepRequest};
use crate::error::Error;
use crate::execution::{Execution, Verdict};
use crate::files::{self, Output, SIZE_LIMIT};
use crate::model::Model;
use crate::run::{RECORDING, RUN_JSON, Run};

/// Name of the file in the directory of a sweep.
const NAME: &str = "sweep.rows";
/// The first bytes, with the version of the form.
const MARK: &[u8; 8] = b"LWSWEEP1";

/// What a sweep is made of: each cell with its name, its program and the texts that made it.
pub(super) fn identity(cells: &[Cell], prepared: &[Prepared], shows: &[Show]) -> u64 {
    let mut hash = Fnv::default();
    hash.add(env!("CARGO_PKG_VERSION"));
    for show in shows {
        hash.add(&format!("{show:?}"));
    }
    for (cell, prepared) in cells.iter().zip(prepared) {
        hash.add(&cell.name);
        if let Some(model) = prepared.model() {
            let metadata = model.metadata();
            hash.add(&metadata.program_hash);
            hash.add(&metadata.diagram);
            metadata.other.iter().for_each(|(name, text)| {
                hash.add(name);
                hash.add(text);
            });
        }
    }
    hash.value()
}

/// A row, as it is kept. Runs that fault, are cancelled or could not be written are not: they are
/// done again.
#[derive(Serialize, Deserialize)]
struct Row {
    cell: usize,
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
#[derive(Serialize, Deserialize)]
struct Reported {
    block: String,
    metrics: Vec<(String, f64)>,
    solver_calls: u64,
    solver_failures: u64,
    notes: Vec<String>,
    warnings: Vec<Warning>,
}

/// The file while a sweep goes on.
pub(super) struct Rows {
    path: PathBuf,
    file: File,
}

impl Rows {
    /// Begins the rows of a sweep, with those that are there if it is to be resumed: by cell.
    ///
    /// # Errors
    /// If they are those of another sweep, or cannot be written.
    pub(super) fn open(
        request: &SweepRequest,
        directory: &Path,
        identity: u64,
    ) -> Result<(Self, Kept), Error> {
        let path = directory.join(NAME);
        let cannot = |error| files::cannot_write(&path, &error);
        let rows = match request.resume {
            true => read(&path, identity)?,
            false => Vec::new(),
        };
        let mut output = Output::create(&path).map_err(cannot)?;
        let mut bytes = MARK.to_vec();
        bytes.extend(framed(&identity.to_le_bytes()));
        rows.iter().for_each(|row| bytes.extend(framed(&encoded(row))));
        output.write_all(&bytes).and_then(|()| output.publish()).map_err(cannot)?;
        let file = output.handle().map_err(cannot)?;
        Ok((Self { path, file }, Kept(rows)))
    }

    /// Adds the row of a cell that has ended, unless it is to be done again.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn add(&mut self, cell: usize, end: &End) -> Result<(), Error> {
        let (End::Ran(ran), Status::Ok | Status::CheckFailed) = (end, end.status()) else {
            return Ok(());
        };
        let row = Row::of(cell, ran);
        let written = self.file.write_all(&framed(&encoded(&row)));
        written.map_err(|error| files::cannot_write(&self.path, &error))
    }
}

/// The rows of a sweep that is resumed, or of a shard.
pub(super) struct Kept(Vec<Row>);

impl Kept {
    /// Those of a shard that has run.
    ///
    /// # Errors
    /// If there are none, or they are those of another sweep.
    pub(super) fn of_shard(directory: &Path, identity: u64) -> Result<Self, Error> {
        let path = directory.join(NAME);
        if !path.is_file() {
            let message = format!("`{}` holds no shard of a sweep", directory.display());
            return Err(Error::request(message));
        }
        read(&path, identity).map(Self)
    }

    /// What became of a cell, if its row and its recording are there.
    pub(super) fn end(&mut self, cell: usize, model: &Model, directory: &Path) -> Option<End> {
        let at = self.0.iter().position(|row| row.cell == cell)?;
        let is_whole = [RECORDING, RUN_JSON].iter().all(|name| directory.join(name).is_file());
        let row = self.0.swap_remove(at);
        let count = model.program().checks.len();
        let fits = row.checks.len() == count
            && row.decisive.len() == count
            && row.judged.len() == model.program().judge.len();
        (is_whole && fits).then(|| End::Ran(Box::new(row.ran(model, directory))))
    }
}

impl Row {
    fn of(cell: usize, ran: &Ran) -> Self {
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

    fn ran(self, model: &Model, directory: &Path) -> Ran {
        let report = |one: Reported| {
            let Reported { block, metrics, solver_calls, solver_failures, notes, warnings } = one;
            let files = Vec::new();
            (block, Report { metrics, solver_calls, solver_failures, notes, warnings, files })
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

/// The rows of this sweep that a file holds, up to where it is cut off; none if there is no file.
fn read(path: &Path, identity: u64) -> Result<Vec<Row>, Error> {
    let bytes = match files::read(path, SIZE_LIMIT) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            let message = format!("cannot read `{}`: {error}", path.display());
            return Err(Error::request(message));
        }
    };
    let mut rest = bytes.strip_prefix(MARK).unwrap_or_default();
    if next(&mut rest) != Some(&identity.to_le_bytes()) {
        let message = format!(
            "`{}` holds the rows of another diagram or of other axes, so this sweep does not go on \
             from them; name another directory, or begin anew",
            path.display()
        );
        return Err(Error::request(message));
    }
    let mut rows: Vec<Row> = Vec::new();
    while let Some(row) = next(&mut rest).and_then(|part| postcard::from_bytes(part).ok()) {
        rows.push(row);
    }
    Ok(rows)
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
