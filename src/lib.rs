//! Legwork runs block diagrams of robots that touch the ground.
//!
//! An engineer writes a diagram as a RON file: typed blocks (robot dynamics, Jacobian, QP solver,
//! PD controller, actuator, integrator), bus signals between them, masks that generate one subgraph
//! per foot. Legwork checks it, compiles it to a static schedule and runs it. A solver, a contact
//! model or a controller is changed on the command line.
//!
//! This crate is the facade: it re-exports the others under short names and contains the
//! [`command`], the only code that prints, exits and reads arguments.
//!
//! | page | for |
//! |---|---|
//! | [`architecture`] | the pipeline, the crates, their dependencies, invariants and their tests |
//! | [`semantics`] | the numbered rules of execution, which comments and tests cite |
//! | [`adding`] | a block, a solver, a construct, a subcommand: the files that each touches |
//! | [`promises`] | what holds of bits, files, memory and kills, and how that is tested |
//! | [`abuses`] | contact models at extreme inputs: how many are right, warned of, or wrong |
//! | [`glossary`] | words of Simulink, Drake, MuJoCo, Pinocchio, ROS, and the words here |
//!
//! # From Rust
//!
//! [`study`] is what a user does, as a library. Half a second after its landing the quadruped goes
//! on with two solvers of its contacts:
//!
//! ```
//! use legwork::study::{Error, Fork, Library};
//!
//! /// Where the base is [m].
//! const POSITION: &str = "body.state.base.position";
//!
//! fn main() -> Result<(), Error> {
//!     let library = Library::new(legwork::blocks::register);
//!     let stand = library.open("diagrams/quadruped/stand.ron")?.compile().into_model()?;
//!     let mut session = stand.session();
//!     session.until(0.5)?;
//!
//!     // Two sessions from one state; the path and the reason of every state that begins anew.
//!     let Fork { session: mut first, .. } = session.fork(&[("qp", "active_set")])?;
//!     let Fork { session: mut second, carried } = session.fork(&[("qp", "clarabel")])?;
//!     for (block, why) in &carried.fresh {
//!         println!("{block} begins anew: {why}");
//!     }
//!
//!     let mut largest = 0.0_f64;
//!     while first.time() < 1.0 {
//!         first.step(1)?;
//!         second.step(1)?;
//!         let (a, b) = (first.read(POSITION)?.numbers(), second.read(POSITION)?.numbers());
//!         largest = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(largest, f64::max);
//!     }
//!     println!("the base's positions differ by at most {largest:e} m");
//!     # assert_eq!((first.time(), second.time()), (1.0, 1.0));
//!     # // Both solve one strictly convex problem to 1e-10: the difference is theirs, not chaos.
//!     # assert!(largest > 0.0 && largest < 1e-6, "{largest}");
//!     Ok(())
//! }
//! ```
//!
//! A diagram with ports is driven by a [`study::Stepper`]: names are resolved once, then it writes
//! slices of inputs, steps, and reads slices of outputs.
//!
//! Below `study`, [`diagram::compile`] and [`runtime::Simulation`] do the same step by step.

// Each of these says why no input reaches it.
#![warn(clippy::expect_used, clippy::panic, clippy::unreachable)]

mod cli;

#[doc = include_str!("architecture.md")]
pub mod architecture {}

#[doc = include_str!("step.md")]
pub mod step {}

#[doc = include_str!("semantics.md")]
pub mod semantics {}

#[doc = include_str!("adding.md")]
pub mod adding {}

#[doc = include_str!("promises.md")]
pub mod promises {}

#[doc = include_str!("abuses.md")]
pub mod abuses {}

pub use legwork_block as block;
pub use legwork_blocks as blocks;
pub use legwork_diagram as diagram;
pub use legwork_picture as picture;
pub use legwork_program as program;
pub use legwork_runtime as runtime;
pub use legwork_study as study;

pub use cli::{command, command_of};
pub use legwork_study::Disk;
#[doc(inline)]
pub use legwork_study::glossary;
