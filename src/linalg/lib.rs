//! Dense factorisations of small matrices, for results that reach signals.
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
//! A pivot counts as zero if it is not above a tolerance times the largest diagonal entry of the
//! matrix (symmetric factorisations) or its largest entry (LU). NaN is never above. A factorisation
//! that chooses its pivots takes the largest that is left; of equals the one with the lowest index.
//! [`PivotedCholesky`] scales its matrix to a unit diagonal first, so that the units of rows do not
//! matter.
//!
//! # Which one
//! | matrix | factorisation |
//! |---|---|
//! | symmetric positive definite | [`cholesky`]; [`ldlt`] for padded columns, without roots |
//! | symmetric positive semidefinite | [`PivotedCholesky`], which finds the rank |
//! | square | [`Lu`]; [`invert`] where the inverse itself is wanted |
//! | square, perhaps singular | [`CompletePivoting`], which gives the null space |
//! | columns that come and go | [`OrthonormalBasis`], `A = Q R` |
//! | rows of a quadratic program that come and go | [`ConjugateBasis`] |
//! | any, for least squares of least norm | [`Svd`] |
//! | symmetric, its spectrum | [`symmetric_eigenvalues`] |
//!
//! # References
//! G. H. Golub, C. F. Van Loan, *Matrix Computations* (2013). N. J. Higham, *Accuracy and Stability
//! of Numerical Algorithms* (2002), whose bounds the tests state.

pub mod cholesky;
mod complete_pivoting;
mod conjugate_basis;
mod eigenvalues;
mod inverse;
pub mod lanes;
pub mod ldlt;
mod lu;
mod orthonormal_basis;
mod pivoted_cholesky;
mod svd;
mod vector;

pub use complete_pivoting::CompletePivoting;
pub use conjugate_basis::ConjugateBasis;
pub use eigenvalues::symmetric_eigenvalues;
pub use inverse::invert;
pub use lu::{Lu, Singular};
pub use orthonormal_basis::OrthonormalBasis;
pub use pivoted_cholesky::PivotedCholesky;
pub use svd::Svd;
pub use vector::{all_finite, axpy, dot, matrix_vector, max_abs, one_norm};
