//! Snapshots as files.

use std::path::Path;
use std::sync::Arc;

use legwork_program::Program;
use legwork_runtime::{History, Simulation, SnapshotError};

use crate::error::Error;
use crate::files;

/// The largest file that is read as a snapshot [bytes].
const SIZE_LIMIT: u64 = 1 << 32;

/// The state of a run between two of its pieces, as bytes, and what messages call it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    name: String,
    bytes: Vec<u8>,
}

impl Snapshot {
    /// A snapshot in memory.
    pub fn new(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self { name: name.into(), bytes }
    }

    /// Reads a file. What it holds is looked at when a run continues it.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(file: impl AsRef<Path>) -> Result<Self, Error> {
        let file = file.as_ref();
        let name = file.display().to_string();
        let cannot = |error: &dyn std::fmt::Display| {
            Error::request(format!("cannot read the snapshot `{name}`: {error}"))
        };
        let bytes = files::read(file, SIZE_LIMIT).map_err(|error| cannot(&error))?;
        Ok(Self { name, bytes })
    }

    /// Writes a file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, file: impl AsRef<Path>) -> Result<(), Error> {
        files::write(file.as_ref(), &self.bytes)
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// A simulation that continues it.
    ///
    /// # Errors
    /// If it is damaged, or is of another program.
    pub(crate) fn simulation(&self, program: &Arc<Program>) -> Result<Simulation, Error> {
        let simulation = Simulation::from_bytes(Arc::clone(program), &self.bytes);
        simulation.map_err(|error| self.wrong(&error))
    }

    /// A history that continues it, with the way back to the beginning of its step.
    ///
    /// # Errors
    /// Those of [`Snapshot::simulation`].
    pub(crate) fn history(&self, program: &Arc<Program>) -> Result<History, Error> {
        let history = History::from_bytes(Arc::clone(program), &self.bytes);
        history.map_err(|error| self.wrong(&error))
    }

    fn wrong(&self, error: &SnapshotError) -> Error {
        Error::request(format!("`{}`: {error}", self.name))
    }
}
