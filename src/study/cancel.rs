//! A flag by which a request is ended early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that is shared by its copies: who holds one can end what works under another.
///
/// Requests look at it between two major steps, and between the stages of one that takes long, and
/// come back with what they have by then.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks what runs to end; true if somebody asked before.
    pub fn cancel(&self) -> bool {
        self.0.swap(true, Ordering::Relaxed)
    }

    /// The flag itself, for who can set no more than that, as a signal handler.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// Whether somebody asked.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Takes the request back, for the next command.
    pub fn reset(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}
