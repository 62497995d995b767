//! Quadratic, cone and complementarity problems and their solvers.
//!
//! Everything works on plain `f64` slices; dense matrices are column-major with their dimensions
//! beside them. No robot, block or time is known here.
//!
//! # Tour
//!
//! - [`ContactProblem`] is the one problem that every contact solver sees:
//!   `min ½ fᵀ(G + R + εI) f + fᵀb` with every contact's force in its friction cone. It is a view
//!   of borrowed slices and offers the forms that solvers want: dense QP, operator, cone program
//!   and linear complementarity problem.
//! - [`Qp`] is the general convex quadratic program of controllers, [`ConeProgram`] the same with
//!   second-order cones.
//! - [`active_set`] holds the dual active-set method of Goldfarb and Idnani for both.
//! - [`clarabel`](mod@clarabel) wraps the interior-point solver of that name; it knows the true
//!   cone and takes all three problems.
//! - [`projected_gauss_seidel`] sweeps over the contacts; it knows the true cone and starts warm.
//! - [`complementarity`] holds linear complementarity problems and their pivoting methods.
//! - [`accelerated_gradient`] moves all contacts at once; it knows the true cone.
//! - `osqp` (cargo feature `osqp`, needs cmake) wraps the splitting method of that name.
//! - [`cone_least_squares`] solves the contact force problems of controllers: few rows, many
//!   contacts.
//! - [`conic_least_squares`] solves least squares over second-order cones whose rows differ by many
//!   orders.
//! - [`METHODS`] lists the methods for the contact problem with their names, manuals and settings.
//! - [`CircularByPyramids`] makes a solver of pyramids solve the circular cone.
//! - [`CoulombFixedPoint`] makes any of them solve Coulomb's law instead of its convex relaxation.
//! - [`kkt`] judges what any of them returns, by the optimality conditions alone.
//! - [`problem_file`] writes problems down and reads them back bit by bit.
//! - [`problems`] makes the seeded problem sets that tests and benches share.
//!
//! | symbol | identifier | shape | unit | meaning |
//! |---|---|---|---|---|
//! | k | `contact_count` | | | contacts |
//! | f | `forces` | 3k | N | contact forces, per contact in axes (t1, t2, n) |
//! | G = J M⁻¹ Jᵀ | `inverse_inertia` | 3k × 3k | 1/kg | Delassus matrix |
//! | b | `bias` | 3k | m/s² | contact acceleration without contact forces |
//! | R | `compliance` | 3k | 1/kg | diagonal compliance |
//! | μ | `friction` | k | 1 | Coulomb friction coefficient |
//! | a | `acceleration` | 3k | m/s² | `(G + R + εI) f + b` |
//!
//! The same problem in impulses reads kg m/s for N and m/s for m/s².
//!
//! The outcome of a solve is a [`Status`] with figures, never a panic: infeasible, unbounded and
//! not-a-number data are answers. Only a wrong length of a slice is a bug of the caller and panics.

// Each of these says why no input reaches it.
#![warn(clippy::expect_used, clippy::panic, clippy::unreachable)]

pub mod accelerated_gradient;
pub mod active_set;
mod budget;
mod circular;
pub mod clarabel;
pub mod complementarity;
mod cone;
mod cone_kkt;
pub mod cone_least_squares;
mod cone_program;
pub mod conic_least_squares;
mod contact_problem;
mod coulomb;
mod descent;
mod equilibrate;
mod general;
mod goldfarb_idnani;
pub mod kkt;
mod method;
mod nonsmooth_newton;
mod null_vector;
#[cfg(feature = "osqp")]
pub mod osqp;
mod problem_data;
pub mod problem_file;
pub mod problems;
pub mod projected_gauss_seidel;
mod status;
mod units;

pub use accelerated_gradient::AcceleratedGradient;
pub use active_set::{GeneralActiveSet, PyramidActiveSet};
pub use budget::Budget;
pub use circular::{CIRCULAR_SIDES, CircularByPyramids, CircularPasses, Pass, SlidingLaw};
pub use clarabel::ClarabelSolver;
pub use complementarity::{
    Lcp, Lemke, LemkeSolver, PrincipalPivoting, PrincipalPivotingSolver, StewartTrinkleSolver,
};
pub use cone::{Cone, ConeShape, InvalidCone, MOST_SIDES, PyramidFit};
pub use cone_least_squares::{ConeLeastSquares, ConeLeastSquaresSolver};
pub use cone_program::{
    ConeProgram, ConeProgramError, project_second_order, second_order_violation,
};
pub use conic_least_squares::{ConicLeastSquares, ConicLeastSquaresSolver};
pub use contact_problem::{ContactProblem, ContactProblemData, DEFAULT_REGULARISATION, ShapeError};
pub use coulomb::{CoulombFixedPoint, CoulombIteration};
pub use general::{INFINITE_BOUND, Qp};
pub use method::{
    Accuracy, BoxedMethod, Cones, ContactMethod, Given, MassView, Method, ProblemSize, Setting,
    Settings, Value,
};
#[cfg(feature = "osqp")]
pub use osqp::OsqpSolver;
pub use problem_data::{ConeProgramData, LcpData, NamedProblem, Problem, QpData};
pub use projected_gauss_seidel::ProjectedGaussSeidel;
pub use status::{Outcome, Status};

/// The methods for the contact problem; the first is the default choice.
pub static METHODS: &[&Method] = &[
    &active_set::METHOD,
    &clarabel::METHOD,
    &projected_gauss_seidel::METHOD,
    &accelerated_gradient::METHOD,
    &complementarity::PRINCIPAL_PIVOTING,
    &complementarity::LEMKE,
    &complementarity::STEWART_TRINKLE,
    #[cfg(feature = "osqp")]
    &osqp::METHOD,
];
