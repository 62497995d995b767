//! Snapshots as files.

use std::path::Path;
use std::sync::Arc;

use legwork_program::Program;
use legwork_runtime::{History, Simulation, SnapshotError};

use super::answer::Failure;

/// The largest file that is read as a snapshot [bytes].
const SIZE_LIMIT: u64 = 1 << 32;

/// Continues the snapshot in a file.
///
/// # Errors
/// If it cannot be read, is damaged, or is of another program.
pub(crate) fn read(program: &Arc<Program>, file: &Path) -> Result<Simulation, Failure> {
    Simulation::from_bytes(Arc::clone(program), &bytes(file)?).map_err(|error| wrong(file, &error))
}

/// Continues the snapshot in a file, with the way back to the beginning of its step.
///
/// # Errors
/// Those of [`read`].
pub(crate) fn history(program: &Arc<Program>, file: &Path) -> Result<History, Failure> {
    History::from_bytes(Arc::clone(program), &bytes(file)?).map_err(|error| wrong(file, &error))
}

fn wrong(file: &Path, error: &SnapshotError) -> Failure {
    Failure::usage(format!("`{}`: {error}", file.display()))
}

fn bytes(file: &Path) -> Result<Vec<u8>, Failure> {
    let shown = file.display();
    let cannot = |error: &dyn std::fmt::Display| {
        Failure::usage(format!("cannot read the snapshot `{shown}`: {error}"))
    };
    let length = std::fs::metadata(file).map_err(|error| cannot(&error))?.len();
    if length > SIZE_LIMIT {
        return Err(cannot(&"it is larger than 4 GiB"));
    }
    std::fs::read(file).map_err(|error| cannot(&error))
}

/// Writes a snapshot.
///
/// # Errors
/// If the file cannot be written.
pub(crate) fn write(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(file, bytes).map_err(|error| {
        Failure::usage(format!("cannot write the snapshot `{}`: {error}", file.display()))
    })
}
