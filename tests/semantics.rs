//! Conformance tests of the execution rules; each name carries the number of its clause.
//!
//! Most run small diagrams of the standard library; what only a probe can see is seen by blocks of
//! this file's own, registered as a third party would.

#[path = "semantics/harness.rs"]
mod harness;
#[path = "semantics/steps.rs"]
mod steps;
#[path = "semantics/rates.rs"]
mod rates;
#[path = "semantics/state.rs"]
mod state;
#[path = "semantics/solvers.rs"]
mod solvers;
