//! Linear systems: poles, zeros, structure, responses, margins, and the design of their gains.
//!
//! ```text
//! continuous  ẋ = A x + B u        sampled  x⁺ = A x + B u      every period T
//!             y = C x + D u                 y  = C x + D u
//! ```
//!
//! | symbol | shape | meaning |
//! |---|---|---|
//! | A | n × n | from states to their rates, or to the states one period later |
//! | B | n × m | from inputs |
//! | C | p × n | to outputs |
//! | D | p × m | from inputs to outputs at once |
//!
//! The entry point is [`System`]. [`poles`], [`zeros`] and [`controllability`] say what it is;
//! [`System::at`], [`step_response`] and [`margins`] what it does; [`regulator`], [`filter`] and
//! [`place`] give gains.
//!
//! Dense factorisations are those of `faer`. Its kernels depend on the processor, so last digits
//! do: nothing here runs inside a simulation, where results have the same bits everywhere. Gains
//! reach one as numbers in a file.

// Each of these says why no input reaches it.
#![warn(clippy::expect_used, clippy::panic, clippy::unreachable)]

mod algebra;
mod border;
mod deflation;
mod exponential;
mod locus;
mod lyapunov;
mod margins;
mod modes;
mod placement;
mod regulator;
mod response;
mod riccati;
mod sign;
mod structure;
mod system;
mod zeros;

pub use faer::{Mat, MatRef, c64};

pub use algebra::{Error, eigenvalues};
pub use border::{Fixed, Split, split};
pub use exponential::{exponential, sampled, sampled_noise};
pub use locus::{Locus, root_locus};
pub use lyapunov::gramian;
pub use margins::{Crossing, Margins, margins};
pub use modes::{Mode, mode, participation, poles};
pub use placement::place;
pub use regulator::{Filter, Regulator, filter, regulator};
pub use response::{frequencies, step_response};
pub use riccati::{Riccati, riccati};
pub use structure::{Reach, controllability, minimal, observability, pseudoinverse, rank};
pub use system::System;
pub use zeros::zeros;
