//! The values of the section `judge:`, compiled.

use legwork_block::{Compiled, Span};

use crate::TIME_SLOT;

/// What is made of the values at all steps that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// The last.
    Last,
    /// The least.
    Min,
    /// The largest.
    Max,
    /// Σ x / n.
    Mean,
    /// √(Σ x² / n).
    Rms,
    /// ∫ x dt; a value holds until the next step.
    Integral,
    /// When a condition first held [s]; infinity until then.
    FirstTime,
    /// When it held last [s]; minus infinity until then.
    LastTime,
}

impl Reduction {
    /// Whether it is of a condition, and gives a time.
    pub fn is_of_condition(self) -> bool {
        matches!(self, Self::FirstTime | Self::LastTime)
    }
}

/// A number about a run, which changes nothing in it. It has a place behind the signals of blocks.
#[derive(Clone)]
pub struct JudgeValue {
    /// Name in the diagram.
    pub name: String,
    /// What is made of its values; nothing of one that is looked at as it is.
    pub by: Option<Reduction>,
    /// What it is made of, over the arena and the values in front of it.
    pub of: Compiled,
    /// Where it holds, a step counts; without it, everywhere.
    pub when: Option<Compiled>,
    /// First tick of the window.
    pub after: u64,
    /// Last tick of the window.
    pub until: u64,
    /// Its place in the arena.
    pub slot: u32,
    /// Its unit, if it is known.
    pub unit: Option<String>,
    /// Where it is.
    pub span: Span,
}

impl JudgeValue {
    /// What it is made of, at time `t` [s]; nothing if the step does not count.
    pub fn at(&self, arena: &[f64], t: f64) -> Option<f64> {
        let read = |slot| if slot == TIME_SLOT { t } else { arena[slot] };
        let counts = self.when.as_ref().is_none_or(|when| when.test(read));
        counts.then(|| self.of.eval(read))
    }

    /// The slots that it reads, `TIME_SLOT` for the time.
    pub fn slots(&self) -> impl Iterator<Item = usize> + '_ {
        self.of.slots().chain(self.when.iter().flat_map(Compiled::slots))
    }
}
