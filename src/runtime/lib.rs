//! From a program to a recording: executor, solvers, snapshots.
//!
//! The entry point is [`Simulation`]: it does one major step after the other, as a whole or block
//! by block. It knows no text and no concrete block.
//!
//! Inside it, what a run does (a plan, derived once from the [`Program`](legwork_program::Program))
//! is apart from what it has reached (the state) and from scratch memory. A [`Snapshot`] is a copy
//! of the state with that of each block; [`Simulation::to_bytes`] writes the same fields.
//! [`History`] goes back by snapshots, [`Simulation::fork`] goes on as another program, and an
//! [`Observer`] says where recorded rows go.
//!
//! Inputs and outputs of the diagram that runs follow semantics 11.

// Each of these says why no input reaches it.
#![warn(clippy::expect_used, clippy::panic, clippy::unreachable)]

mod budget;
pub mod catalog;
mod chart;
pub mod comparison;
mod fault;
mod history;
mod judge;
pub mod linear;
mod manifold;
mod moment;
mod observe;
mod roundtrip;
mod simulation;
mod solver;
mod sparse;
pub mod trim;

pub use legwork_ode as ode;
pub use legwork_recording as recording;

pub use fault::{Phase, RunFault};
pub use history::History;
pub use moment::Moment;
pub use observe::{CheckState, Decisive, Look, Observer, View, channels};
pub use roundtrip::{Difference, Proof, RoundtripError, Trials, roundtrip};
pub use simulation::{
    BlockTime, Carried, Cursor, ForkError, Simulation, Snapshot, SnapshotError, SnapshotHeader,
    Spent, SwapError,
};
