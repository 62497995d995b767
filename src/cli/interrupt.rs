//! Ctrl-C: what runs ends after its present step. A second one ends the process at once.

use std::sync::atomic::{AtomicBool, Ordering};

use super::answer::Code;

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C asks instead of killing. Where that cannot be had, it kills as before.
pub(crate) fn listen() {
    let _ = ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(Code::Interrupted.number()));
        }
    });
}

/// Whether Ctrl-C was pressed since the last [`forget`].
pub(crate) fn is_requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// Whoever pressed Ctrl-C has been heard.
pub(crate) fn forget() {
    REQUESTED.store(false, Ordering::Relaxed);
}
