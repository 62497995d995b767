//! Conformance tests of the execution rules; each name carries the number of its clause.
//! `cargo test semantics` lists them.
//!
//! Most run small diagrams of the standard library; what only a probe can see is seen by blocks of
//! this file's own, registered as a third party would.

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

#[path = "semantics/mod.rs"]
mod semantics;
