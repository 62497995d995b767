//! A way out of long computations: somebody outside asks, and loops that may be long look.
//!
//! Who starts the work gives it a flag by [`scope`]; a loop that may run for more than some
//! milliseconds calls [`check`] on its way, and when the flag has been up for a while the work is
//! left at once, through all functions between, by unwinding without a panic message. What the work
//! was writing is then half done and of no use: its owner makes it anew. Nothing is read or written
//! but the flag, so work that is not cancelled has the same bits with and without one.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// How long work may go on after it is asked to end: most of it ends by itself.
const GRACE: Duration = Duration::from_millis(20);
/// How often who waits for another thread looks.
const LOOK: Duration = Duration::from_millis(5);
/// Matrices of fewer columns than this are factored in less than a millisecond.
const LARGE: usize = 64;

/// The work was left because its flag was up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

/// What the work of this thread looks at.
struct Request {
    flag: Arc<AtomicBool>,
    /// When the flag was seen up first.
    seen: Option<Instant>,
}

thread_local! {
    static REQUEST: RefCell<Option<Request>> = const { RefCell::new(None) };
}

/// Puts back on drop what was there before, also when the work unwinds.
struct Restore(Option<Request>);

impl Drop for Restore {
    fn drop(&mut self) {
        REQUEST.set(self.0.take());
    }
}

/// Does `work`, which every [`check`] inside may end early once `flag` is up.
///
/// # Errors
/// [`Cancelled`] if it was. What `work` had borrowed mutably is then in no defined state.
pub fn scope<T>(flag: &Arc<AtomicBool>, work: impl FnOnce() -> T) -> Result<T, Cancelled> {
    let request = Request { flag: Arc::clone(flag), seen: None };
    let restore = Restore(REQUEST.replace(Some(request)));
    let result = catch_unwind(AssertUnwindSafe(work));
    drop(restore);
    result.map_err(|payload| match payload.downcast::<Cancelled>() {
        Ok(cancelled) => *cancelled,
        Err(panic) => resume_unwind(panic),
    })
}

/// Leaves the [`scope`] that this thread is in if its flag has been up for some milliseconds.
#[inline]
pub fn check() {
    REQUEST.with_borrow_mut(|request| {
        if let Some(request) = request
            && request.flag.load(Ordering::Relaxed)
        {
            request.leave();
        }
    });
}

/// Does `work`, which does not look itself: within a [`scope`] on a thread of its own, which is
/// left behind if the flag is up before it is done; elsewhere here.
pub fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    if REQUEST.with_borrow(Option::is_none) {
        return work();
    }
    let left = Left(Arc::default());
    let flag = Arc::clone(&left.0);
    let (sender, done) = mpsc::channel();
    let worker = thread::spawn(move || {
        // The parts of it that look end soon after it is left.
        let result = scope(&flag, work);
        // Nobody waits any more if it was left behind.
        let _ = sender.send(());
        result
    });
    while done.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        check();
    }
    match worker.join() {
        Ok(Ok(result)) => result,
        Ok(Err(cancelled)) => resume_unwind(Box::new(cancelled)),
        Err(panic) => resume_unwind(panic),
    }
}

/// Raises its flag when it is dropped: who waited has gone.
struct Left(Arc<AtomicBool>);

impl Drop for Left {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// [`check`], where a matrix of `n` columns makes the work long.
#[inline]
pub(crate) fn check_if_large(n: usize) {
    if n >= LARGE {
        check();
    }
}

impl Request {
    #[cold]
    fn leave(&mut self) {
        if self.seen.get_or_insert_with(Instant::now).elapsed() >= GRACE {
            resume_unwind(Box::new(Cancelled));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_left_after_the_grace_and_the_outer_scope_is_restored() {
        let (outer, inner) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(true)));
        let done = scope(&outer, || {
            let begun = Instant::now();
            let left: Result<(), Cancelled> = scope(&inner, || {
                loop {
                    check();
                }
            });
            assert!(begun.elapsed() >= GRACE);
            // The outer flag is down, so work goes on.
            (0..100).for_each(|_| check());
            left
        });
        assert_eq!(done, Ok(Err(Cancelled)));
        check();
    }

    #[test]
    fn work_aside_is_done_or_left_behind() {
        let flag = Arc::new(AtomicBool::new(false));
        assert_eq!((aside(|| 3), scope(&flag, || aside(|| 4))), (3, Ok(4)));
        let (sender, ended) = mpsc::channel::<()>();
        let (raised, begun) = (Arc::clone(&flag), Instant::now());
        let left = scope(&flag, || {
            aside(move || {
                raised.store(true, Ordering::Relaxed);
                // It cannot look for as long as this takes.
                let _ = ended.recv_timeout(Duration::from_secs(60));
            });
        });
        assert_eq!(left, Err(Cancelled));
        assert!(begun.elapsed() < Duration::from_secs(30));
        drop(sender);
    }

    #[test]
    fn short_work_ends_by_itself_and_panics_stay_panics() {
        let flag = Arc::new(AtomicBool::new(true));
        let short = scope(&flag, || {
            check();
            7
        });
        assert_eq!(short, Ok(7));
        let panic = catch_unwind(|| scope(&flag, || resume_unwind(Box::new("other"))));
        assert_eq!(panic.map(|_: Result<(), _>| ()).unwrap_err().downcast_ref(), Some(&"other"));
    }
}
