//! From a program to a recording: executor, solvers, snapshots.
//!
//! The entry point is [`Simulation`]: it holds everything that changes in a run and does one major
//! step after the other, as a whole or block by block. It knows no text and no concrete block.

pub mod catalog;
mod chart;
pub mod comparison;
mod fault;
mod history;
mod manifold;
mod moment;
mod observe;
mod roundtrip;
mod simulation;
mod solver;
pub mod trim;

pub use legwork_ode as ode;
pub use legwork_recording as recording;

pub use fault::{Phase, RunFault};
pub use history::History;
pub use moment::Moment;
pub use observe::{CheckState, Observer, channels};
pub use roundtrip::{Difference, Proof, RoundtripError, Trials, roundtrip};
pub use simulation::{
    BlockTime, Carried, Cursor, ForkError, Simulation, Snapshot, SnapshotError, SnapshotHeader,
    Spent, SwapError,
};
