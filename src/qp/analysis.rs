//! Spectra of contact problems, for reports and tests.
//!
//! The order of operations is that of a library: the figures belong in reports, tests and messages,
//! never on a signal.

use legwork_linalg::symmetric_eigenvalues;
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
    if !legwork_linalg::all_finite(matrix) {
        return Err(SpectrumError::NoEigenvalues { dim });
    }
    let mut lower = matrix.to_vec();
    for j in 0..dim {
        (0..j).for_each(|i| lower[j * dim + i] = matrix[i * dim + j]);
    }
    let mut eigenvalues = vec![0.0; dim];
    symmetric_eigenvalues(&mut lower, dim, &mut eigenvalues);
    let largest = legwork_linalg::max_abs(&eigenvalues);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The matrix of second differences has the eigenvalues `2 - 2 cos(k π / (n + 1))`.
    #[test]
    fn eigenvalues_of_second_differences_are_those_of_the_closed_form() {
        for dim in [0, 1, 2, 5, 40] {
            let mut matrix = vec![0.0; dim * dim];
            for i in 0..dim {
                matrix[i * dim + i] = 2.0;
                // Only the lower triangle is read.
                if i + 1 < dim {
                    matrix[i * dim + i + 1] = -1.0;
                }
            }
            let found = spectrum(&matrix, dim, 1e-12).expect("finite");
            assert_eq!((found.rank, found.is_positive_semidefinite), (dim, true));
            for (i, value) in found.eigenvalues.iter().enumerate() {
                let angle = (i + 1) as f64 * std::f64::consts::PI / (dim + 1) as f64;
                let expected = 2.0 - 2.0 * libm::cos(angle);
                assert!((value - expected).abs() < 1e-14 * (dim + 1) as f64, "{dim}: {value}");
            }
        }
    }
}
