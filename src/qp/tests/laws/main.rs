//! Laws of the problems and their solvers.

#![allow(clippy::unwrap_used, reason = "a test may stop")]

mod allocations;
mod common;
mod cone_program;
mod general;
mod hard;
mod lcp;
#[cfg(feature = "osqp")]
mod osqp;
mod problem_file;
mod pyramid;
mod solvers;
mod truth;
