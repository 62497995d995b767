//! Ctrl-C: what runs ends after its present step. A second one ends the process at once.

use std::sync::LazyLock;

use legwork_study::Cancel;

use super::answer::Code;

static CANCEL: LazyLock<Cancel> = LazyLock::new(Cancel::default);

/// From now on Ctrl-C asks instead of killing, by the flag that is returned. Where that cannot be
/// had, it kills as before.
pub(crate) fn listen() -> &'static Cancel {
    let _ = ctrlc::set_handler(|| {
        if CANCEL.cancel() {
            std::process::exit(i32::from(Code::Interrupted.number()));
        }
    });
    &CANCEL
}

/// The flag of [`listen`], for what Ctrl-C kills at once.
pub(crate) fn flag() -> &'static Cancel {
    &CANCEL
}
