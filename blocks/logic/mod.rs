//! Truth values and events: comparisons, logic, crossings, counters, and what ends a run.

mod assertion;
mod compare;
mod counter;
mod hit_crossing;
#[expect(clippy::module_inception, reason = "the file of the block `Logic`")]
mod logic;
mod stop;

use legwork_block::Registry;

pub use assertion::{Assertion, OnFail};
pub use compare::Compare;
pub use counter::Counter;
pub use hit_crossing::{Direction, HitCrossing};
pub use logic::{Logic, Operation};
pub use stop::Stop;

/// Adds the blocks of this shelf.
pub(crate) fn register(r: &mut Registry) {
    r.block::<Assertion>("Assertion(message: \"the arm left its box\")");
    r.block::<Compare>("Compare(op: \">=\", to: 0.5)");
    r.block::<Counter>("Counter(limit: 9)");
    r.block::<HitCrossing>("HitCrossing(direction: Rising)");
    r.block::<Logic>("Logic(op: And, count: 3)");
    r.block::<Stop>("Stop()");
}
