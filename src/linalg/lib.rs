//! Factorisations of small matrices, and of sparse ones of small blocks, for results that reach
//! signals.
//!
//! # Conventions
//! - Matrices are column-major slices: entry (i, j) of an n-row matrix stands at `j * n + i`. Where
//!   columns are padded to whole [`lanes`], the distance between them is an argument `stride`, and
//!   the padding holds zeros.
//! - Of symmetric matrices the lower triangle is read, unless a function says otherwise.
//! - Kernels on one array are functions. A factorisation that needs more memory is a type that owns
//!   it: `reserve` or a larger matrix allocates, nothing else does.
//! - The order of every sum is fixed by the code: four lanes have a fixed order of reduction, and
//!   nothing is contracted to fused operations. The same input gives the same bits on every
//!   machine.
//!
//! # Rank
//! Every decision is relative: a pivot counts as zero if it is not above a tolerance times a size.
//! The size is the unknown's own where units may differ from one to the next: its diagonal entry in
//! [`PivotedCholesky`], [`MinimumNorm`] and [`ldlt::solve_once`], the length of its column in
//! [`PivotedQr`]. Elsewhere it is that of the matrix: its largest diagonal entry ([`cholesky`],
//! [`ldlt`]) or its largest entry (LU). NaN is never above. A factorisation that chooses its pivots
//! takes the largest that is left; of equals the one with the lowest index.
//!
//! # Which one
//! | matrix | factorisation |
//! |---|---|
//! | symmetric positive definite | [`cholesky`]; [`ldlt`] for padded columns, without roots |
//! | the same, of dense blocks in a sparse pattern | [`BlockCholesky`] |
//! | symmetric positive semidefinite | [`PivotedCholesky`], which finds the rank |
//! | the same, for solutions of least norm | [`MinimumNorm`] |
//! | square | [`Lu`]; [`invert`] where the inverse itself is wanted |
//! | square, perhaps singular | [`CompletePivoting`], which gives the null space |
//! | columns, perhaps dependent | [`PivotedQr`], which finds the rank |
//! | rows of weights many orders apart, for least squares | [`RowPivotedQr`] |
//! | columns that only come, in whole lanes | [`Span`] |
//! | columns that come and go | [`OrthonormalBasis`], `A = Q R` |
//! | rows of a quadratic program that come and go | [`ConjugateBasis`] |
//! | 3 × 3 blocks that rows are added to | [`triangle`] |
//! | any, for least squares of least norm | [`Svd`] |
//! | symmetric, its spectrum | [`symmetric_eigenvalues`] |
//!
//! # References
//! G. H. Golub, C. F. Van Loan, *Matrix Computations* (2013). N. J. Higham, *Accuracy and Stability
//! of Numerical Algorithms* (2002), whose bounds the tests state.

// Each of these says why no input reaches it.
#![warn(clippy::expect_used, clippy::panic, clippy::unreachable)]

mod block_cholesky;
pub mod cancel;
pub mod cholesky;
mod complete_pivoting;
mod conjugate_basis;
mod eigenvalues;
mod inverse;
pub mod lanes;
pub mod ldlt;
mod lu;
mod minimum_norm;
mod orthonormal_basis;
mod pivoted_cholesky;
mod pivoted_qr;
mod row_pivoted_qr;
mod span;
mod svd;
pub mod triangle;
mod vector;

pub use block_cholesky::{BlockCholesky, Slot};
pub use complete_pivoting::CompletePivoting;
pub use conjugate_basis::ConjugateBasis;
pub use eigenvalues::symmetric_eigenvalues;
pub use inverse::{invert, replace_column};
pub use lu::{Lu, Singular};
pub use minimum_norm::MinimumNorm;
pub use orthonormal_basis::OrthonormalBasis;
pub use pivoted_cholesky::PivotedCholesky;
pub use pivoted_qr::PivotedQr;
pub use row_pivoted_qr::RowPivotedQr;
pub use span::Span;
pub use svd::Svd;
pub use vector::{all_finite, axpy, dot, matrix_vector, max_abs, one_norm, weighted_square};
