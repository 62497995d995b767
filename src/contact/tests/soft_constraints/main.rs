//! Laws of constraints as implicit spring-dampers: closed forms, other solvers, differences.

#![allow(clippy::unwrap_used, reason = "a test may stop")]

mod bodies;
mod foundation;
mod heap;
mod memory;
mod methods;
mod oracles;
mod pendulum;
mod ramp;
mod spheres;
