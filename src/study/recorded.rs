//! Recorded runs: the recording, the names in it, and the program that wrote it.

use std::path::{Path, PathBuf};

use legwork_program::Program;
use legwork_runtime::catalog::Catalog;
use legwork_runtime::recording::{Ending, Imported, Recording, import_csv};

use crate::error::Error;
use crate::files::{self, RECORDING_LIMIT, SIZE_LIMIT};
use crate::library::Library;
use crate::origin::{self, Origin};
use crate::run::{RECORDING, recording_error};

/// A recorded run.
pub struct Recorded {
    /// What legends call it.
    pub name: String,
    /// The recording's file.
    pub file: PathBuf,
    /// The recording.
    pub recording: Recording,
    /// The names of its numbers.
    pub catalog: Catalog,
    /// The program that wrote it, or why that is not known.
    pub program: Result<Program, String>,
    /// Warnings about ambiguous text of a table.
    pub warnings: Vec<String>,
}

impl Recorded {
    /// Opens the directory of a run, a recording, or a table with the time in front.
    ///
    /// # Errors
    /// If there is no recording there.
    pub fn open(path: &Path, library: &Library) -> Result<Self, Error> {
        let file = recording_at(path)?;
        let (recording, warnings) = match is_table(&file) {
            true => {
                let Imported { recording, warnings } = table(&file)?;
                (recording, warnings)
            }
            false => (recording(&file)?, Vec::new()),
        };
        let name = name_of(path, &file);
        let program = match recording.metadata() {
            Some(metadata) => origin::program(metadata, &name, library),
            None => Err("the recording does not say what made it".to_owned()),
        };
        let catalog = Catalog::of(&recording, program.as_ref().ok());
        Ok(Self { name, file, recording, catalog, program, warnings })
    }

    /// All that made it, or why that is not known.
    ///
    /// # Errors
    /// In lower case.
    pub fn origin(&self, library: &Library) -> Result<Origin, String> {
        match self.recording.metadata() {
            Some(metadata) => origin::of(metadata, &self.name, library),
            None => Err("the recording does not say what made it".to_owned()),
        }
    }

    /// Whether the recording was cut off, as that of a run that was killed; what it holds is its
    /// whole part.
    pub fn is_cut_off(&self) -> bool {
        matches!(self.recording.ending(), Ending::Truncated { .. })
    }

    /// Byte at which the recording is damaged, if it is: a record or a checksum is wrong, or times
    /// decrease. The recording holds the data before that byte.
    pub fn damaged_at(&self) -> Option<usize> {
        match self.recording.ending() {
            Ending::Damaged { at_byte } => Some(at_byte),
            Ending::Complete | Ending::Truncated { .. } => None,
        }
    }

    /// Opens several; those of one name are called by their paths.
    ///
    /// # Errors
    /// If one has no recording.
    pub fn open_all(paths: &[PathBuf], library: &Library) -> Result<Vec<Self>, Error> {
        let mut runs = Vec::with_capacity(paths.len());
        for path in paths {
            runs.push(Self::open(path, library)?);
        }
        let names: Vec<String> = runs.iter().map(|run: &Self| run.name.clone()).collect();
        for (run, path) in runs.iter_mut().zip(paths) {
            if names.iter().filter(|name| **name == run.name).count() > 1 {
                run.name = path.display().to_string();
            }
        }
        Ok(runs)
    }
}

/// The recording itself, or that in the directory of a run.
///
/// # Errors
/// If there is none.
pub fn recording_at(path: &Path) -> Result<PathBuf, Error> {
    let file = if path.is_dir() { path.join(RECORDING) } else { path.to_owned() };
    if file.is_file() {
        return Ok(file);
    }
    let shown = path.display();
    Err(Error::request(if path.is_dir() {
        format!("no {RECORDING} in the directory `{shown}`")
    } else {
        format!("no recording `{shown}`; `legwork run` writes one")
    }))
}

/// Reads a recording.
///
/// # Errors
/// If it cannot be read.
pub fn recording(file: &Path) -> Result<Recording, Error> {
    let cannot = |error: &dyn std::fmt::Display| {
        Error::request(format!("cannot read the recording {}: {error}", file.display()))
    };
    // A file of another kind is not read to its end.
    let refuse = |head: &[u8]| Recording::refuse_others(head).map_err(std::io::Error::other);
    let bytes = files::read_after(file, RECORDING_LIMIT, refuse).map_err(|error| cannot(&error))?;
    Recording::from_bytes(bytes).map_err(|error| recording_error(&error))
}

/// Whether a file holds comma-separated values.
pub fn is_table(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "csv")
}

fn table(file: &Path) -> Result<Imported, Error> {
    let cannot = |why: &dyn std::fmt::Display| {
        Error::request(format!("cannot read `{}` as a run: {why}", file.display()))
    };
    let bytes = files::read(file, SIZE_LIMIT).map_err(|error| cannot(&error))?;
    import_csv(&bytes).map_err(|error| cannot(&error))
}

/// The run's directory; the recording's own name if it has another than usual.
fn name_of(path: &Path, file: &Path) -> String {
    let text = |name: &std::ffi::OsStr| name.to_string_lossy().into_owned();
    let usual = file.file_name().is_some_and(|name| name == RECORDING);
    let name = if usual {
        // `.` has no name of its own.
        let whole = file.canonicalize().ok();
        let folder = whole.as_deref().and_then(Path::parent).and_then(Path::file_name);
        folder.map(text)
    } else {
        file.file_stem().map(text)
    };
    name.unwrap_or_else(|| path.display().to_string())
}
