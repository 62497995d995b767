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
    let mut shelf =
        r.shelf("logic", "Comparisons, logic, crossings, counters, assertions, the end of a run.");
    shelf.block::<Assertion>("Assertion(message: \"the arm left its box\")");
    shelf.block::<Compare>("Compare(op: \">=\", to: 0.5)");
    shelf.block::<Counter>("Counter(limit: 9)");
    shelf.block::<HitCrossing>("HitCrossing(direction: Rising)");
    shelf.block::<Logic>("Logic(op: And, count: 3)");
    shelf.block::<Stop>("Stop()");
}
