//! A run-time message with its place: `t=0.418 s, update, foot[FL].latch: text`.

use std::fmt;

use legwork_block::{Fault, Span};

/// What a major step is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Computing outputs.
    Output,
    /// Testing guards and resetting state.
    Guard,
    /// Recording and checking.
    Observe,
    /// Advancing discrete state.
    Update,
    /// Advancing continuous state.
    Integrate,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Output => "output",
            Self::Guard => "guard",
            Self::Observe => "observe",
            Self::Update => "update",
            Self::Integrate => "integrate",
        })
    }
}

/// A fault with time, phase, block and place in the text.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFault {
    /// Time [s].
    pub t: f64,
    /// Tick of the major step.
    pub tick: u64,
    /// What the step was doing.
    pub phase: Phase,
    /// Path of the block.
    pub block: String,
    /// What went wrong.
    pub fault: Fault,
    /// Where the block stands in the text.
    pub span: Span,
    /// What may be behind it, and what to do.
    pub hints: Vec<String>,
}

impl RunFault {
    /// Whether it tells of a state that grew without bound.
    pub(crate) fn is_divergence(&self) -> bool {
        self.fault.message.starts_with("the run diverges")
    }
}

impl fmt::Display for RunFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let t = format!("{:.9}", self.t);
        let t = t.trim_end_matches('0').trim_end_matches('.');
        write!(f, "t={t} s, {}, {}: {}", self.phase, self.block, self.fault)
    }
}

impl std::error::Error for RunFault {}
