//! Signals of a program by path.

use legwork_block::{Slot, Type};

use crate::Rate;

/// A signal: a path, a type, and where its leaves live.
#[derive(Debug, Clone)]
pub struct SignalRef {
    /// Path in the diagram, such as `body.state`.
    pub path: String,
    /// Type without variables.
    pub ty: Type,
    /// Unit, if the port or the bus's field declares one, or inference found it.
    pub unit: Option<String>,
    /// Unit of each of its numbers, if they are known to differ; else empty.
    pub units: Vec<String>,
    /// Leaves in storage order.
    pub slots: Vec<Slot>,
}

/// A recorded signal.
#[derive(Debug, Clone)]
pub struct LogChannel {
    /// What is recorded.
    pub signal: SignalRef,
    /// At which major steps.
    pub rate: Rate,
}
