//! The diagram's `checks:` section, compiled.

use legwork_block::{Comparison, Compiled, Judged, Measured, Span};

/// What a check asks of its condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckKind {
    /// It holds at every observed step of the window.
    Always,
    /// It holds at one observed step of the window at least.
    Eventually,
    /// It holds at the last step of the run.
    Finally,
}

/// A condition on signals.
#[derive(Clone)]
pub struct Check {
    /// Name in the diagram.
    pub name: String,
    /// What is asked.
    pub kind: CheckKind,
    /// The condition over the arena.
    pub condition: Compiled,
    /// Where it holds, the condition is asked for; without it, everywhere.
    pub when: Option<Compiled>,
    /// How far beyond its bound a comparison still holds, in its unit.
    pub tolerance: f64,
    /// First tick of the window.
    pub after: u64,
    /// Last tick of the window.
    pub until: u64,
    /// The condition's text.
    pub text: String,
    /// Where it is.
    pub span: Span,
}

/// The slot by which conditions read the time.
pub const TIME_SLOT: usize = u32::MAX as usize;

impl Check {
    /// Whether the condition is asked for at time `t` [s].
    pub fn is_asked(&self, arena: &[f64], t: f64) -> bool {
        let read = |slot| if slot == TIME_SLOT { t } else { arena[slot] };
        self.when.as_ref().is_none_or(|when| when.test(read))
    }

    /// Whether the condition holds at time `t` [s].
    pub fn holds(&self, arena: &[f64], t: f64) -> bool {
        self.condition.test(|slot| if slot == TIME_SLOT { t } else { arena[slot] })
    }

    /// Whether the condition holds at time `t` [s], within the tolerance, and the comparison that
    /// decides it.
    pub fn judge(&self, arena: &[f64], t: f64) -> Judged {
        let judged = self.condition.judge(|slot| if slot == TIME_SLOT { t } else { arena[slot] });
        let is_near = |one: &Comparison| self.tolerance > 0.0 && one.margin() >= -self.tolerance;
        Judged { holds: judged.holds || judged.decisive.as_ref().is_some_and(is_near), ..judged }
    }

    /// A comparison of the condition in words.
    pub fn measured(&self, one: &Comparison) -> Measured {
        self.condition.measured(one, self.tolerance)
    }
}
