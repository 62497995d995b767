//! Conformance tests of the execution rules; each name carries the number of its clause.
//!
//! Most run small diagrams of the standard library; what only a probe can see is seen by blocks of
//! this file's own, registered as a third party would.

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

#[path = "semantics/conditional.rs"]
mod conditional;
#[path = "semantics/events.rs"]
mod events;
#[path = "semantics/functions.rs"]
mod functions;
#[path = "semantics/harness.rs"]
mod harness;
#[path = "semantics/rates.rs"]
mod rates;
#[path = "semantics/solvers.rs"]
mod solvers;
#[path = "semantics/state.rs"]
mod state;
#[path = "semantics/steps.rs"]
mod steps;
