//! Recorded runs: the recording, the names in it, and the program that wrote it.

use std::path::{Path, PathBuf};

use legwork_block::Registry;
use legwork_picture::plot::Recorded;
use legwork_program::Program;
use legwork_runtime::catalog::Catalog;
use legwork_runtime::recording::{Ending, Recording, import_csv};

use super::answer::Failure;
use super::console;
use super::export::recording_at;
use super::origin;

/// A recorded run.
pub(crate) struct Run {
    /// What legends call it.
    pub(crate) name: String,
    /// The recording's file.
    pub(crate) file: PathBuf,
    pub(crate) recording: Recording,
    pub(crate) catalog: Catalog,
    /// The program that wrote it, or why that is not known.
    pub(crate) program: Result<Program, String>,
}

impl Run {
    /// Opens the directory of a run, a recording, or a table with the time in front.
    ///
    /// # Errors
    /// If there is no recording there.
    pub(crate) fn open(path: &Path, registry: &Registry) -> Result<Self, Failure> {
        let file = recording_at(path)?;
        let recording = if is_table(&file) { table(&file)? } else { recording(&file)? };
        if recording.ending() != Ending::Complete {
            let shown = file.display();
            console::say(&format!("warning: `{shown}` is cut off; its whole part follows"));
        }
        let name = name_of(path, &file);
        let program = match recording.metadata() {
            Some(metadata) => origin::program(metadata, &name, registry),
            None => Err("the recording does not say what made it".to_owned()),
        };
        let catalog = Catalog::of(&recording, program.as_ref().ok());
        Ok(Self { name, file, recording, catalog, program })
    }

    /// It, as plots take it.
    pub(crate) fn recorded(&self) -> Recorded<'_> {
        let Self { name, file, recording, catalog, .. } = self;
        Recorded { name, file, recording, catalog }
    }

    /// Opens several; those of one name are called by their paths.
    ///
    /// # Errors
    /// If one has no recording.
    pub(crate) fn open_all(paths: &[PathBuf], registry: &Registry) -> Result<Vec<Self>, Failure> {
        let mut runs = Vec::with_capacity(paths.len());
        for path in paths {
            runs.push(Self::open(path, registry)?);
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

fn recording(file: &Path) -> Result<Recording, Failure> {
    Recording::open(file).map_err(|error| Failure::usage(error.to_string()))
}

/// Whether a file holds comma-separated values.
pub(crate) fn is_table(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "csv")
}

fn table(file: &Path) -> Result<Recording, Failure> {
    let cannot = |why: &dyn std::fmt::Display| {
        Failure::usage(format!("cannot read `{}` as a run: {why}", file.display()))
    };
    let bytes = std::fs::read(file).map_err(|error| cannot(&error))?;
    import_csv(&bytes).map_err(|error| cannot(&error))
}

/// The run's directory; the recording's own name if it has another than usual.
fn name_of(path: &Path, file: &Path) -> String {
    let text = |name: &std::ffi::OsStr| name.to_string_lossy().into_owned();
    let usual = file.file_name().is_some_and(|name| name == super::run::RECORDING);
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
