//! `A = BᵀB` of a symmetric positive semidefinite matrix, or the result that it is not one.

use crate::cancel::check_if_large;

/// Cholesky factorisation with diagonal pivoting, which reveals the rank.
///
/// # References
/// N. J. Higham, *Accuracy and Stability of Numerical Algorithms* (2002), section 10.3.
#[derive(Clone, Debug, Default)]
pub struct PivotedCholesky {
    /// What is left to factor, scaled to a unit diagonal.
    rest: Vec<f64>,
    scale: Vec<f64>,
    done: Vec<bool>,
}

/// Asymmetry and negative curvature beyond this, relative to the diagonal, are not rounding.
const INDEFINITE: f64 = 1e-11;

impl PivotedCholesky {
    /// Makes room for n × n matrices; allocates only to grow.
    pub fn reserve(&mut self, n: usize) {
        if self.scale.len() < n {
            self.rest.resize(n * n, 0.0);
            self.scale.resize(n, 0.0);
            self.done.resize(n, false);
        }
    }

    /// Writes B (n × n, rows beyond the rank zero) and returns the rank; `None` unless `matrix`
    /// (n × n, both triangles) is symmetric positive semidefinite to rounding.
    ///
    /// Directions with less than 8 n ε of their unknown's diagonal are rounding and left out.
    #[must_use]
    pub fn factor(&mut self, matrix: &[f64], n: usize, b: &mut [f64]) -> Option<usize> {
        self.factor_above(matrix, n, 8.0 * n as f64 * f64::EPSILON, b)
    }

    /// The same without directions that have less than `tolerance` of their unknown's diagonal, for
    /// a matrix that is itself known to that share only.
    #[must_use]
    pub fn factor_above(
        &mut self,
        matrix: &[f64],
        n: usize,
        tolerance: f64,
        b: &mut [f64],
    ) -> Option<usize> {
        self.reserve(n);
        let (rest, scale) = (&mut self.rest[..n * n], &mut self.scale[..n]);
        for (i, scale) in scale.iter_mut().enumerate() {
            let diagonal = matrix[i * n + i];
            if diagonal.is_nan() || diagonal < 0.0 {
                return None;
            }
            *scale = diagonal.sqrt();
        }
        // The unit diagonal of the part that can be factored; |a_ij| ≤ √(a_ii a_jj) otherwise
        // fails.
        for j in 0..n {
            for i in 0..n {
                let (value, mirror) = (matrix[j * n + i], matrix[i * n + j]);
                let size = scale[i] * scale[j];
                // Written so that NaN fails.
                let is_bounded = value.abs() <= 2.0 * size;
                if !(is_bounded && (value - mirror).abs() <= INDEFINITE * size) {
                    return None;
                }
                rest[j * n + i] = if size > 0.0 { 0.5 * (value + mirror) / size } else { 0.0 };
            }
        }
        // The largest diagonal entry that is left gives the next row of B; the rest loses that
        // row's outer product.
        b.fill(0.0);
        self.done[..n].fill(false);
        let mut rank = 0;
        for row in 0..n {
            check_if_large(n);
            let mut pivot = None;
            let mut largest = tolerance;
            for i in 0..n {
                if !self.done[i] && rest[i * n + i] > largest {
                    (largest, pivot) = (rest[i * n + i], Some(i));
                }
            }
            let Some(pivot) = pivot else { break };
            self.done[pivot] = true;
            rank += 1;
            let inverse = 1.0 / largest.sqrt();
            for i in 0..n {
                if !self.done[i] || i == pivot {
                    b[i * n + row] = rest[pivot * n + i] * inverse;
                }
            }
            for j in (0..n).filter(|&j| !self.done[j]) {
                let factor = b[j * n + row];
                if factor != 0.0 {
                    for i in (0..n).filter(|&i| !self.done[i]) {
                        rest[j * n + i] -= factor * b[i * n + row];
                    }
                }
            }
        }
        // What is left has no diagonal to speak of: then a semidefinite matrix has nothing beside
        // it.
        let nothing = INDEFINITE.max(2.0 * tolerance);
        let open = |i: &usize| !self.done[*i];
        for j in (0..n).filter(open) {
            if (0..n).filter(open).any(|i| rest[j * n + i].abs() > nothing) {
                return None;
            }
        }
        // Back to the units of the matrix.
        for (column, &scale) in b.chunks_exact_mut(n.max(1)).zip(scale.iter()) {
            for value in column {
                *value *= scale;
            }
        }
        Some(rank)
    }
}
