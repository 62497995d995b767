//! Signals that end the process: what runs ends in order, with a snapshot and its summary. A second
//! one ends the process at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use legwork_study::Cancel;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use super::answer::Code;

static CANCEL: LazyLock<Cancel> = LazyLock::new(Cancel::default);
/// The last signal.
static CAUGHT: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// From now on Ctrl-C (SIGINT), SIGTERM and SIGHUP ask instead of killing, by the flag that is
/// returned. One that cannot be had kills as before; SIGHUP that is ignored, as under `nohup`,
/// stays so.
pub(crate) fn listen() -> &'static Cancel {
    for (signal, code) in signals() {
        let status = i32::from(code.number());
        // Looked at before the flag is set: it acts from the second signal on.
        let _ = flag::register_conditional_shutdown(signal, status, CANCEL.flag())
            .and_then(|_| flag::register_usize(signal, Arc::clone(&CAUGHT), signal as usize))
            .and_then(|_| flag::register(signal, CANCEL.flag()));
    }
    &CANCEL
}

/// From now on a file that reaches the largest size that the shell allows (`ulimit -f`) is one that
/// cannot be written, as on a full disk, and SIGXFSZ kills nothing.
pub(crate) fn outlast_limits() {
    #[cfg(unix)]
    let _ = flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
}

/// The flag of [`listen`], for what signals kill at once.
pub(crate) fn flag() -> &'static Cancel {
    &CANCEL
}

/// The exit code of what the last signal ended.
pub(crate) fn code() -> Code {
    let caught = CAUGHT.load(Ordering::Relaxed);
    let known = signals().into_iter().find(|(signal, _)| *signal as usize == caught);
    known.map_or(Code::Interrupted, |(_, code)| code)
}

/// Whether the last signal asks the process to end, not what it does at the moment.
pub(crate) fn is_final() -> bool {
    CANCEL.is_cancelled() && code() != Code::Interrupted
}

#[cfg(unix)]
fn signals() -> Vec<(i32, Code)> {
    use signal_hook::consts::SIGHUP;
    let mut signals = vec![(SIGINT, Code::Interrupted), (SIGTERM, Code::Terminated)];
    if !is_ignored(SIGHUP) {
        signals.push((SIGHUP, Code::HungUp));
    }
    signals
}

#[cfg(not(unix))]
fn signals() -> Vec<(i32, Code)> {
    vec![(SIGINT, Code::Interrupted), (SIGTERM, Code::Terminated)]
}

/// Whether the process was started with a signal ignored, where the system tells.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    static IGNORED: LazyLock<u64> = LazyLock::new(|| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    });
    *IGNORED >> (signal - 1) & 1 == 1
}
