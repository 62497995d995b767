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
//! # The pipeline
//!
//! ```text
//! RON text
//!    │  parse      text with places
//! Document
//!    │  expand     masks, for-each, variants and parameters become a flat list of blocks
//! Network
//!    │  infer      shapes, types, units, buses
//! TypedNetwork
//!    │  schedule   feedthrough, rates, order, memory
//! Program
//!    │  run        executor, integration methods, events
//! Recording
//! ```
//!
//! One noun per stage, one pure function per arrow, one file or folder per arrow. All arrows but
//! the last are in [`diagram::compile`]; the last is [`runtime::Simulation`]. Each stage can
//! only be built by the arrow before it, and collects all its diagnostics instead of stopping at
//! the first.
//!
//! # The crates
//!
//! ```text
//! legwork ─┬─► page ──┬─► study, editor, picture, scene
//!          ├─► editor ──► study, diagram
//!          ├─► study ─┬─► diagram ─► program ─► block ─► ode
//!          │          ├─► runtime ─► program, recording, ode
//!          │          ├─► scene ───► program, mechanics, mesh
//!          │          ├─► qp, for duels of solvers
//!          │          ├─► linear, for analysis and design
//!          │          └─► mechanics, to describe robots
//!          ├─► picture ─► program, runtime, linear
//!          └─► blocks ──► block, recording, mechanics, mesh, qp, contact, control
//!
//! mechanics ──► mesh, linalg
//! contact ──► mechanics, mesh, qp
//! ```
//!
//! | crate | content | entry point |
//! |---|---|---|
//! | [`block`] | what a block is: ports, signals, units, expressions, registry | [`block::Block`] |
//! | [`program`] | the compiled diagram, made by the front end | [`program::Program`] |
//! | [`diagram`] | from RON to a program | [`diagram::compile`] |
//! | [`runtime`] | from a program to a recording: executor, snapshots | [`runtime::Simulation`] |
//! | [`study`] | what a user does: open, run, step, compare, linearise | [`study::Library`] |
//! | `legwork-linalg` | dense factorisations of fixed order | `Lu`, `cholesky` |
//! | `legwork-linear` | linear systems: poles, margins, Riccati equations | `System` |
//! | `legwork-ode` | integration methods on one chart of the state | `METHODS`, `Kernel` |
//! | `legwork-recording` | the MCAP file of a run, tables | [`runtime::recording`] |
//! | `legwork-scene` | what there is to see of a run, and where it is | `Viewer` |
//! | `legwork-page` | the page in the browser: server, protocol, one-file pages | `Server` |
//! | `legwork-editor` | the language service of editors, its protocols LSP and DAP | `Service` |
//! | [`picture`] | drawings of diagrams, plots of recordings | [`picture::diagram::svg`] |
//! | `legwork-mechanics` | rigid-body models and algorithms: URDF, MJCF, M, h, J, RNEA, ABA | `Model` |
//! | `legwork-qp` | quadratic, cone and contact problems, their solvers | `ContactProblem` |
//! | `legwork-contact` | contact geometry and contact models | `ContactAssembly` |
//! | `legwork-mesh` | triangle meshes of robot files, solids, convex hulls | `Mesh` |
//! | `legwork-control` | inverse kinematics and dynamics, gaits, legs | `ContactInverseDynamics` |
//! | [`blocks`] | the standard library: folder = shelf, file = block | [`blocks::register`] |
//!
//! `src/cli` is the command, a thin layer over [`study`] and [`picture`]: arguments in, text
//! out. `src/python`, the wheel, is another; `src/page`, the page in the browser, a third;
//! `src/editor`, editors, a fourth.
//!
//! # Invariants
//!
//! The manifests enforce the first six: a crate cannot use what it does not depend on.
//!
//! - Numerics (`ode`, `linear`, `mechanics`, `mesh`, `qp`, `contact`, `control`) contain no port
//!   and no diagram. `linear`, whose last digits depend on the processor, is for `study` and
//!   pictures alone: no run contains it.
//! - The runtime contains no text: a program can be built by hand and run without the front end.
//! - The front end names no concrete block; the kinds of blocks come from a [`block::Registry`].
//! - A third-party crate of blocks depends on `block` only, like `blocks` itself.
//! - Pictures are pure functions of a program or a recording.
//! - `study` prints nothing, ends no process, reads no arguments and knows no concrete block.
//! - Nothing registers itself: the kinds of blocks are an explicit list.
//! - A block is an immutable struct of parameters; the engine owns everything that changes. A block
//!   does no IO: files come through [`block::Files`].
//! - Every name is resolved before t = 0. After that nothing allocates, hashes a text or looks up a
//!   name.
//! - Everything that affects later steps is declared state, so that a snapshot continues bit for
//!   bit.
//! - Equal binary, program and seed give equal bits: ordered maps, seeded random numbers, no clock
//!   inside a step, transcendental functions from `libm`, no kernel chosen at run time. Time is not
//!   accumulated: the time of tick k is k times a rational base.
//! - A recording contains nothing from a clock, a host or the path of a file.
//! - Infeasible is an answer, NaN or infinity in a signal is a fault, a wrong shape is a bug.
//!
//! # A major step
//!
//! 1. Outputs: every block that is due computes its outputs from time, state and inputs.
//! 2. Events: guards that fire reset state, and outputs are computed again until none fires.
//! 3. Observe: values of `judge:` are computed; recording, checks and breakpoints read (t, state
//!    before the update, outputs).
//! 4. Update: discrete state advances. All updates read the same outputs and state and are
//!    committed together.
//! 5. Integrate: continuous state advances to the next tick. Discrete code never runs inside an
//!    integration step.
//!
//! # Notation
//!
//! | symbol | name in code | meaning [unit] |
//! |---|---|---|
//! | q | `configuration`, `q` | base position, quaternion (w, x, y, z), joints [m, 1, rad] |
//! | ν | `velocity`, `nu` | (ṗ, ω) of the base in world axes, joint velocities [m/s, rad/s] |
//! | s, ṡ | `s`, `s_dot` | joint positions and velocities, as in the robot file [rad, rad/s] |
//! | τ | `tau` | joint torques [N m] |
//! | M, h | `mass_matrix`, `bias_force` | M ν̇ + h = Sᵀτ + Σ Jᵀf [kg, kg m, kg m²; N, N m] |
//! | J | `jacobian` | contact velocity = J ν |
//! | f | `contact_forces`, `f` | forces on the robot, in world axes [N] |
//! | u, y, x | | a block's inputs, outputs, state |
//!
//! SI units throughout, world z up. Transforms read right to left: `world_from_foot`. The full
//! table is on the front page of `legwork-mechanics`.
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
//!
//! # How to add
//!
//! - **A block**: `blocks/SHELF/NAME.rs`, a struct whose doc comment is its manual, with its
//!   parameters under `#[parameters]`, its ports in the table of `#[ports(…)]` and `impl Block` (or
//!   `Pure`), see [`block`]; and `blocks/SHELF/mod.rs`: the module, the name, and a line with an
//!   example in `register`.
//! - **A block of your own**: a crate that depends on `legwork-block`, and a `main` that registers
//!   it; `tests/third_party` is a complete example.
//! - **A solver of contact problems**: `src/qp/NAME.rs` with `impl ContactSolver`, named in
//!   `src/qp/lib.rs`; a name in `src/qp/duel/solvers.rs`, for `legwork duel`; its block on the
//!   shelf `solvers`: manual, parameters and method in `solver_block!`.
//! - **A language construct**: `src/diagram/expand/NAME.rs`, a type by `construct!`, whose comments
//!   are its manual, with `expand`; and its name in `STRUCTURAL` of `structural.rs` if it contains
//!   blocks, else in `constructs.rs`.
//! - **A page of `legwork help`**: `src/study/reference/pages/NAME.md`, its example in `examples`,
//!   and a line for each in `src/study/reference/mod.rs`. Lists are filled in: a construct, a
//!   function of expressions or a unit is on its page because the compiler knows it.
//! - **A template of `legwork new`**: its files under `src/cli/new/templates`, an entry in
//!   `src/cli/new/mod.rs`.
//! - **An integration method**: explicit with a fixed step, an entry of `METHODS` in
//!   `src/ode/explicit.rs`; another kernel, `src/ode/NAME.rs` with `impl Kernel`, a variant in
//!   `src/ode/solver.rs`, and its construction in `src/runtime/solver.rs`.
//! - **A subcommand**: its work in `src/study`, a request in and an answer out; its layer in
//!   `src/cli/NAME.rs`, from its arguments to that request and from the answer to text; its module
//!   and its entry in the list of `src/cli/mod.rs`.
//! - **A diagram or robot** that ships with the command: a file in `diagrams` or a folder in
//!   `diagrams/robots`; `blocks/files.rs` lists what is built in.
//!
//! Tests of execution rules are in `tests/semantics`, named by their clause; tests of robots in
//! `tests/plants`; the expected message of every error of a diagram in `tests/data/errors`.

// Each of these says why no input reaches it.
#![warn(clippy::expect_used, clippy::panic, clippy::unreachable)]

mod cli;

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
