//! Legwork runs block diagrams of robots that touch the ground.
//!
//! An engineer writes a diagram as a RON file: typed blocks (robot dynamics, Jacobian, QP solver, PD
//! controller, actuator, integrator), bus signals between them, masks that generate one subgraph per
//! foot. Legwork checks it, compiles it to a static schedule and runs it. Swapping a solver, a
//! contact model or a controller is a word on the command line.
//!
//! This crate is the facade: it re-exports the others under short names and holds the [`command`],
//! the only code that prints, exits and reads arguments: a thin layer over [`study`].
//!
//! # The pipeline
//!
//! ```text
//! text ──parse──► Document ──expand──► Network ──infer──► TypedNetwork ──schedule──► Program ──run──► Recording
//!       RON, spans          masks, for-each,    shapes, types,      feedthrough, rates,       executor,
//!                           variants, params    units, buses        order, memory             solvers
//! ```
//!
//! One noun per stage, one pure function per arrow, one file or folder per arrow; all arrows but the
//! last stand in [`diagram::compile`], the last is [`runtime::Simulation`]. Each stage can only be
//! built by the arrow before it, and collects all its diagnostics instead of stopping at the first.
//!
//! # The crates
//!
//! ```text
//! legwork ─► study ─► diagram ─► program ─► block
//!     │        ├────► runtime ─► program
//!     │        └────► qp, for duels of solvers alone
//!     ├────► picture ─► program, runtime
//!     └────► blocks ─► block, mechanics, qp, contact, control
//! ```
//!
//! | crate | what it is | entry point |
//! |---|---|---|
//! | [`block`] | what a block is: ports, signals, buses, registry, diagnostics, faults | [`block::Block`] |
//! | [`program`] | the compiled diagram: what the front end makes and the engine takes | [`program::Program`] |
//! | [`diagram`] | from RON to a program | [`diagram::compile`] |
//! | [`runtime`] | from a program to a recording: executor, solvers, snapshots | [`runtime::Simulation`] |
//! | [`study`] | what a user does: open, run, step, fork, compare, sweep, trim, duel | [`study::Library`] |
//! | [`picture`] | drawings of diagrams and plots of recordings | [`picture::diagram::svg`] |
//! | [`blocks`] | the standard library, one file per block | [`blocks::register`] |
//! | `legwork-mechanics` | rigid-body models and algorithms | |
//! | `legwork-qp` | quadratic and complementarity problems and their solvers | `legwork duel` |
//! | `legwork-contact` | contact geometry and contact models | |
//!
//! # Invariants
//!
//! The manifests enforce the first five: a crate cannot use what it does not depend on.
//!
//! - Numerics (`mechanics`, `qp`, `contact`) never see a port, a time or a diagram.
//! - The runtime never sees text: a program can be built by hand and run without the front end.
//! - The front end never names a concrete block; what it knows stands in a [`block::Registry`].
//! - A third party's crate of blocks stands where `blocks` stands: it needs `block` alone.
//! - Nothing registers itself. What a program knows is a list that one can read.
//! - A block is an immutable struct of parameters; the engine owns all that changes. A block does no
//!   IO: files come through [`block::Files`].
//! - Every name is resolved before t = 0. After that nothing allocates, hashes a text or looks a name
//!   up.
//! - Whatever shapes the future is declared state, so that a snapshot continues bit for bit.
//! - Equal binary, program and seed give equal bits: ordered maps, seeded random numbers, no clock
//!   inside a step, transcendental functions from `libm`, no kernel chosen at run time. No time is
//!   accumulated: that of tick k is k times a rational base.
//! - A recording holds nothing from a clock, a host or the place of a file.
//! - Infeasible is an answer, a number that is none is a fault, a wrong shape is a bug.
//!
//! # A major step
//!
//! Outputs, guards and resets until none fires, observe, update, integrate. Outputs are pure;
//! observing sees (t, x before the update, y); all updates read the same y and x and are committed
//! together; discrete code never runs inside an integration step.
//!
//! # Notation
//!
//! | symbol | name in code | meaning [unit] |
//! |---|---|---|
//! | q | `configuration`, `q` | base position, unit quaternion (w, x, y, z), joint positions [m, 1, rad] |
//! | ν | `velocity`, `nu` | base velocity and angular velocity in world axes, joint velocities [m/s, rad/s] |
//! | s, ṡ | `s`, `s_dot` | joint positions and velocities, in the order of the robot file [rad, rad/s] |
//! | τ | `tau` | joint torques [N m] |
//! | M, h | `mass_matrix`, `bias_force` | M ν̇ + h = Sᵀτ + Σ Jᵀf [kg, kg m, kg m²; N, N m] |
//! | J | `jacobian` | contact velocity = J ν |
//! | f | `contact_forces`, `f` | forces on the robot, in world axes [N] |
//! | u, y, x | | a block's inputs, outputs, state |
//!
//! SI units throughout, world z up. Transforms read right to left: `world_from_foot`. The full table
//! stands in the front page of `legwork-mechanics`.
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

mod cli;

pub use legwork_block as block;
pub use legwork_blocks as blocks;
pub use legwork_diagram as diagram;
pub use legwork_picture as picture;
pub use legwork_program as program;
pub use legwork_runtime as runtime;
pub use legwork_study as study;

pub use cli::command;
pub use legwork_study::Disk;
