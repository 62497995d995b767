//! Linear complementarity problems and their pivoting solvers.
//!
//! `w = M z + q`, `0 ≤ z ⟂ w ≥ 0`. Contacts in normal direction are of this form (z: normal
//! forces, w: normal accelerations or velocities), and so are the optimality conditions of every
//! convex quadratic program.
//!
//! | method | matrices | cost of a pivot |
//! |---|---|---|
//! | [`PrincipalPivoting`] | symmetric semidefinite, as `N M⁻¹ Nᵀ`, never formed | O(nv nc) |
//! | [`Lemke`] | copositive-plus and more, dense | O(n²) |
//!
//! [`LemkeSolver`] and [`PrincipalPivotingSolver`] are the two as solvers of the
//! [`crate::ContactProblem`]; [`StewartTrinkleSolver`] solves Coulomb's law on a pyramid.

mod contact_solvers;
mod coulomb_modes;
mod duality;
mod half_inverse_mass;
mod independent_rows;
mod lcp;
mod lemke;
mod lemke_program;
mod principal_pivoting;
mod stewart_trinkle;

pub(crate) use contact_solvers::{LEMKE, PRINCIPAL_PIVOTING};
pub use contact_solvers::{LemkeSolver, PrincipalPivotingSolver};
pub use coulomb_modes::{CoulombModes, Nearness};
pub use duality::QpLcp;
pub use half_inverse_mass::{DenseMass, HalfInverseMass};
pub use independent_rows::{ConstrainedMass, IndependentRows};
pub use lcp::{FarkasMargins, Lcp, LcpFigures, LcpResiduals, LcpShapeError};
pub use lcp::{farkas_margins, lcp_residuals};
pub use lemke::Lemke;
pub use lemke_program::LemkeProgram;
pub use principal_pivoting::PrincipalPivoting;
pub(crate) use stewart_trinkle::METHOD as STEWART_TRINKLE;
pub use stewart_trinkle::{StewartTrinkleSolver, stewart_trinkle_into};
