//! Truth values and events: comparisons, logic, crossings, counters, state machines, and what ends
//! a run.

mod assertion;
mod compare;
mod counter;
mod hit_crossing;
#[expect(clippy::module_inception, reason = "the file of the block `Logic`")]
mod logic;
mod state_machine;
mod stop;

use legwork_block::Registry;

pub use crate::signal::formula::Signal;
pub use assertion::{Assertion, OnFail};
pub use compare::Compare;
pub use counter::Counter;
pub use hit_crossing::{Direction, HitCrossing};
pub use logic::{Logic, Operation};
pub use state_machine::{MachineState, StateMachine, Transition};
pub use stop::Stop;

/// Adds the blocks of this shelf.
pub(crate) fn register(r: &mut Registry) {
    let mut shelf = r.shelf(
        "logic",
        "Comparisons, logic, crossings, counters, state machines, the end of a run.",
    );
    shelf.block::<Assertion>("Assertion(message: \"the arm left its box\")");
    shelf.block::<Compare>("Compare(op: \">=\", to: 0.5)");
    shelf.block::<Counter>("Counter(limit: 9)");
    shelf.block::<HitCrossing>("HitCrossing(direction: Rising)");
    shelf.block::<Logic>("Logic(op: And, count: 3)");
    shelf.block::<StateMachine>(
        "StateMachine(inputs: { \"load\": Real }, states: [(name: \"stand\", to: [(when: \"load < 10\", \
         to: \"lift\")]), (name: \"lift\", to: [(when: \"elapsed >= 1\", to: \"stand\")])])",
    );
    shelf.block::<Stop>("Stop()");
}
