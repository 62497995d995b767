//! Spectra of contact problems, for reports and tests.
//!
//! The kernels behind these functions choose their instructions at run time, so the last bits
//! depend on the machine: the figures belong in reports, tests and messages, never on a signal.

use faer::{MatRef, Side};
use thiserror::Error;

/// Why a matrix has no spectrum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SpectrumError {
    /// The slice is not square of the stated size.
    #[error("expected {expected} values of a square matrix, found {found}")]
    Shape {
        /// `dim²`.
        expected: usize,
        /// Length of the slice.
        found: usize,
    },
    /// The matrix holds NaN or infinity, or the iteration failed, which finite data do not cause.
    #[error("expected a finite symmetric {dim} x {dim} matrix, found one without eigenvalues")]
    NoEigenvalues {
        /// Size of the matrix.
        dim: usize,
    },
}

/// Eigenvalues of a symmetric matrix and what follows from them.
#[derive(Clone, Debug, PartialEq)]
pub struct Spectrum {
    /// Eigenvalues, ascending [unit of the matrix].
    pub eigenvalues: Vec<f64>,
    /// Number of eigenvalues above `tolerance ×` the largest magnitude.
    pub rank: usize,
    /// Largest over smallest eigenvalue among those that count for the rank; 1 for rank 0 [1].
    pub condition: f64,
    /// True if no eigenvalue is below `-tolerance ×` the largest magnitude.
    pub is_positive_semidefinite: bool,
}

/// Spectrum of the symmetric column-major `dim × dim` matrix, of which the lower triangle is read.
///
/// # Errors
/// [`SpectrumError`] if `matrix` is not `dim²` long, holds NaN or infinity, or the iteration fails.
pub fn spectrum(matrix: &[f64], dim: usize, tolerance: f64) -> Result<Spectrum, SpectrumError> {
    if matrix.len() != dim * dim {
        return Err(SpectrumError::Shape { expected: dim * dim, found: matrix.len() });
    }
    if !crate::dense::all_finite(matrix) {
        return Err(SpectrumError::NoEigenvalues { dim });
    }
    let eigenvalues = MatRef::from_column_major_slice(matrix, dim, dim)
        .self_adjoint_eigenvalues(Side::Lower)
        .map_err(|_| SpectrumError::NoEigenvalues { dim })?;
    let largest = crate::dense::max_abs(&eigenvalues);
    let threshold = tolerance * largest;
    let counted = || eigenvalues.iter().copied().filter(|&v| v > threshold);
    let rank = counted().count();
    let condition = if rank == 0 {
        1.0
    } else {
        counted().fold(0.0, f64::max) / counted().fold(f64::INFINITY, f64::min)
    };
    let is_positive_semidefinite = eigenvalues.iter().all(|&v| v >= -threshold);
    Ok(Spectrum { eigenvalues, rank, condition, is_positive_semidefinite })
}
