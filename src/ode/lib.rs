//! Integration methods for `u̇ = g(t, u)`: numbers in, numbers out.
//!
//! | kernel | method | order | for |
//! |---|---|---|---|
//! | [`ExplicitStep`] | explicit Runge-Kutta, one of [`METHODS`] | 1 to 4 | fixed step, non-stiff |
//! | [`DormandPrince54`] | explicit Runge-Kutta pair 5(4), dense output of order 4 | 5 | non-stiff |
//! | [`Bdf`] | NDF in backward differences, quasi-constant step | 1 to 5 | stiff |
//! | [`Esdirk43`] | ESDIRK4(3)6L\[2\]SA, dense output of order 4 | 4 | stiff, short segments |
//! | [`ImplicitEuler`] | implicit Euler, Newton on the whole state | 1 | fixed step, stiff |
//!
//! A kernel works on `u ∈ ℝⁿ`: the coordinates of one chart of the state manifold, `u = 0` at the
//! beginning of a segment. It never sees a quaternion; [`Flow::magnitude`] tells it how large the
//! state itself is, which is what a relative tolerance refers to.
//!
//! # Error measure
//! An estimate e of the local error passes if `‖e‖ ≤ 1` in the norm
//! `‖e‖² = 1/n Σ (eᵢ / wᵢ)²`, `wᵢ = absolute + relative · max(mᵢ(uₙ), mᵢ(uₙ₊₁))`, with the
//! magnitudes m of [`Flow::magnitude`]; Hairer, Nørsett, Wanner, *Solving ODEs I* (1993),
//! (II.4.11).
//!
//! # Memory and determinism
//! Everything is allocated by `new`; no step allocates. A segment depends only on what
//! [`Kernel::begin`] is given, and on a kept Jacobian ([`Kernel::keep_jacobian`]), so a run
//! restored at the beginning of a segment continues bit for bit. Sums have a fixed order and powers
//! are those of `libm`.

// Each of these says why no input reaches it.
#![warn(clippy::expect_used, clippy::panic, clippy::unreachable)]

mod bdf;
mod control;
mod dormand_prince;
mod esdirk;
mod explicit;
mod flow;
mod implicit_euler;
mod kernel;
mod newton;
mod progress;
mod solver;
mod variable_step;

#[cfg(test)]
mod tests;

pub use bdf::Bdf;
pub use dormand_prince::DormandPrince54;
pub use esdirk::Esdirk43;
pub use explicit::{ExplicitStep, METHODS, Method, Tableau};
pub use flow::Flow;
pub use implicit_euler::ImplicitEuler;
pub use kernel::{Counts, Failure, Kernel, Present, Tolerance};
pub use solver::Solver;
pub use variable_step::VariableStep;
