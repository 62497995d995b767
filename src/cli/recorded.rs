//! Recorded runs, opened with a warning where they are not whole.

use std::path::PathBuf;

use legwork_picture::plot;
use legwork_study::{Library, Recorded};

use super::answer::Failure;
use super::console;

/// Opens recorded runs.
///
/// # Errors
/// If one has no recording.
pub(crate) fn open_all(paths: &[PathBuf], library: &Library) -> Result<Vec<Recorded>, Failure> {
    let runs = Recorded::open_all(paths, library)?;
    for run in runs.iter().filter(|run| run.is_cut_off()) {
        let shown = run.file.display();
        console::note(&format!("warning: `{shown}` is cut off; its whole part follows"));
    }
    Ok(runs)
}

/// A run as plots take it.
pub(crate) fn to_draw(run: &Recorded) -> plot::Recorded<'_> {
    let Recorded { name, file, recording, catalog, .. } = run;
    plot::Recorded { name, file, recording, catalog }
}
