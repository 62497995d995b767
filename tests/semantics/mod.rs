//! Conformance tests of the execution rules; each name carries the number of its clause.
//!
//! Most run small diagrams of the standard library; what only a probe can see is seen by blocks of
//! the tests' own, registered as a third party would.
//!
//! The page `src/semantics.md` of the documentation has the rules and lists the tests of each, those
//! of other folders included; `clauses` compares it with the code.

mod clauses;
mod conditional;
mod crossings;
mod events;
mod fork;
mod functions;
mod harness;
mod history;
mod identity;
mod labels;
mod loops;
mod plants;
mod playback;
mod ports;
mod pulses;
mod rates;
mod smooth_guards;
mod snapshots;
mod solvers;
mod state;
mod steps;
mod verify;
