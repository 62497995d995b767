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
//! # Ports of a diagram (semantics 11)
//!
//! 1. An input of the diagram that runs is a source that is held: it keeps its value from one
//!    major step to the next, minor steps included. What writes it (its default, `--input`, an
//!    edit, [`Simulation::input_mut`]) enters between two steps. A block that feeds it instead, such
//!    as a table, is a block like any other, with its own rate and minor steps.
//! 2. Held inputs are state: snapshots hold them, forks carry them over, and a run goes on with
//!    them bit for bit. An edit or a fork that gives an input another value writes it.
//! 3. A row of step k shows y[k] = g(x[k], u[k]). Who drives a run writes u, does a step, which
//!    advances x over [t_k, t_k+1) under that u, and reads outputs of t_k+1 under the same u, which
//!    [`Simulation::look_ahead`] computes. An input that is written then takes those back: the next
//!    step computes its outputs anew, as if nobody had looked.
//! 4. A diagram in a diagram is its network in place: one order, one time, one solver. Its blocks
//!    keep their own periods; step, solver, stop time, seed and memory are those of the diagram that
//!    runs. A block inside that stops the run stops the whole. Conditional parts and for-each hold for
//!    it as for any part; the period of a group around does not.
//! 5. What is connected to a port has its type and unit, or the diagram does not compile. An input
//!    without a wire is fed by its default.

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
