//! Work without the interpreter, which Ctrl-C ends.

use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use legwork::study::Cancel;
use pyo3::prelude::*;

/// Time between two looks at signals.
const BETWEEN_LOOKS: Duration = Duration::from_millis(30);

/// Does `work` on another thread without the interpreter; meanwhile this thread looks for signals
/// and calls `look`. If one of them raises an exception, `cancel` ends the work, and the exception
/// is given.
pub(crate) fn wait_for<R: Send>(
    py: Python<'_>,
    cancel: &Cancel,
    mut look: impl FnMut(Python<'_>) -> PyResult<()>,
    work: impl FnOnce() -> R + Send,
) -> PyResult<R> {
    thread::scope(|scope| {
        let (send, done) = channel::<()>();
        let worker = scope.spawn(move || {
            let result = work();
            drop(send);
            result
        });
        let mut raised = None;
        // The channel closes when the work is done.
        let mut done = Some(done);
        while let Some(receiver) = done.take() {
            let (is_done, receiver) = py.detach(move || {
                let waited = receiver.recv_timeout(BETWEEN_LOOKS);
                (waited != Err(RecvTimeoutError::Timeout), receiver)
            });
            if is_done {
                break;
            }
            if raised.is_none()
                && let Err(error) = py.check_signals().and_then(|()| look(py))
            {
                cancel.cancel();
                raised = Some(error);
            }
            done = Some(receiver);
        }
        let result = worker.join().unwrap_or_else(|panic| resume_unwind(panic));
        match raised {
            Some(error) => Err(error),
            None => Ok(result),
        }
    })
}
