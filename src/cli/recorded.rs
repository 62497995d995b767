//! Recorded runs, opened with a warning where they are not whole.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use legwork_picture::plot;
use legwork_study::{Library, Recorded};

use super::answer::Failure;
use super::console;

/// True if a damaged recording was opened.
static DAMAGE: AtomicBool = AtomicBool::new(false);

/// Returns true if a damaged recording was opened since the previous call.
pub(crate) fn take_damage() -> bool {
    DAMAGE.swap(false, Ordering::Relaxed)
}

/// Opens a recorded run.
///
/// # Errors
/// If it has no recording.
pub(crate) fn open(path: &Path, library: &Library) -> Result<Recorded, Failure> {
    let run = Recorded::open(path, library)?;
    warn_of_end(&run);
    Ok(run)
}

/// Opens recorded runs.
///
/// # Errors
/// If one has no recording.
pub(crate) fn open_all(paths: &[PathBuf], library: &Library) -> Result<Vec<Recorded>, Failure> {
    let runs = Recorded::open_all(paths, library)?;
    runs.iter().for_each(warn_of_end);
    Ok(runs)
}

fn warn_of_end(run: &Recorded) {
    for warning in &run.warnings {
        console::note(&format!("warning: `{}`: {warning}", run.file.display()));
    }
    if let Some(byte) = run.damaged_at() {
        let shown = run.file.display();
        console::say(&format!(
            "error: `{shown}` is damaged at byte {byte} (a record or checksum is wrong, or times \
             go back); only the part before it is read"
        ));
        DAMAGE.store(true, Ordering::Relaxed);
    }
    if run.is_cut_off() {
        let shown = run.file.display();
        console::note(&format!("warning: `{shown}` is cut off; its whole part follows"));
    }
}

/// A run as plots take it.
pub(crate) fn to_draw(run: &Recorded) -> plot::Recorded<'_> {
    let Recorded { name, file, recording, catalog, .. } = run;
    plot::Recorded { name, file, recording, catalog }
}
