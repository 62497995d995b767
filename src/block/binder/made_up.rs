//! Made-up values in place of wrong ones, so that one reading finds the mistakes behind them. They
//! never leave the binder: a reading with a made-up value has failed.

use super::error::{BindError, Bound};

/// Structs in structs that are made up at most.
const DEPTH_LIMIT: u32 = 16;

/// A value of whatever type is asked for: 1, false, a text, an empty list.
#[derive(Clone, Copy, Default)]
pub(super) struct MadeUp {
    depth: u32,
}

impl MadeUp {
    /// The number.
    pub(super) const NUMBER: f64 = 1.0;
    /// The text.
    pub(super) const TEXT: &'static str = "x";

    /// A value inside this one.
    pub(super) fn inner(self) -> Bound<Self> {
        let depth = self.depth + 1;
        if depth > DEPTH_LIMIT { Err(BindError::made_up()) } else { Ok(Self { depth }) }
    }
}
