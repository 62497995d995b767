//! A factor of positive semidefinite matrices that finds their rank, with minimum-norm solutions.

/// Pivoted Cholesky factor `Pᵀ A P = L Lᵀ` of a positive semidefinite A, L being n × rank.
///
/// Redundant contacts and dependent chains make their matrices singular. Because the range of A is
/// that of `P L`, the solution of least norm of a consistent `A x = b` is
/// `x = W (WᵀW)⁻² Wᵀ b` with `W = P L`; an inconsistent b is first projected on the range.
///
/// Deterministic: the pivot is the largest remaining diagonal, ties go to the lowest index.
///
/// # References
/// N. J. Higham, *Accuracy and Stability of Numerical Algorithms* (2002), section 10.3.
#[derive(Clone, Debug, Default)]
pub struct SemidefiniteFactor {
    dim: usize,
    rank: usize,
    /// W, column-major n × rank, rows in the order of A.
    w: Vec<f64>,
    diagonal: Vec<f64>,
    is_pivot: Vec<bool>,
    /// Cholesky factor of WᵀW, rank × rank, lower triangle.
    gram: Vec<f64>,
    work: Vec<f64>,
}

impl SemidefiniteFactor {
    /// A factor with memory for `dim × dim` matrices.
    #[must_use]
    pub fn new(dim: usize) -> Self {
        let mut factor = Self::default();
        factor.reserve(dim);
        factor
    }

    fn reserve(&mut self, dim: usize) {
        self.dim = dim;
        for matrix in [&mut self.w, &mut self.gram] {
            if matrix.len() < dim * dim {
                matrix.resize(dim * dim, 0.0);
            }
        }
        self.diagonal.resize(dim, 0.0);
        self.work.resize(dim, 0.0);
        self.is_pivot.resize(dim, false);
    }

    /// Factors the column-major `dim × dim` matrix; diagonals below `tolerance` times the largest
    /// count as zero. Returns the rank, 0 if the matrix holds NaN.
    ///
    /// # Panics
    /// If `matrix` is not `dim²` long.
    pub fn factor(&mut self, matrix: &[f64], dim: usize, tolerance: f64) -> usize {
        assert_eq!(matrix.len(), dim * dim, "expected {dim} x {dim} values");
        self.reserve(dim);
        self.rank = 0;
        self.is_pivot.fill(false);
        for i in 0..dim {
            self.diagonal[i] = matrix[i * dim + i];
        }
        let largest = self.diagonal.iter().copied().fold(0.0, f64::max);
        if !matrix.iter().all(|v| v.is_finite()) {
            return 0;
        }
        for step in 0..dim {
            let (mut pivot, mut best) = (dim, tolerance * largest);
            for i in 0..dim {
                if !self.is_pivot[i] && self.diagonal[i] > best {
                    (pivot, best) = (i, self.diagonal[i]);
                }
            }
            if pivot == dim {
                break;
            }
            let (done, rest) = self.w.split_at_mut(step * dim);
            let column = &mut rest[..dim];
            column.copy_from_slice(&matrix[pivot * dim..(pivot + 1) * dim]);
            for other in done.chunks_exact(dim) {
                let factor = other[pivot];
                for (value, o) in column.iter_mut().zip(other) {
                    *value -= factor * o;
                }
            }
            let inverse = 1.0 / best.sqrt();
            self.is_pivot[pivot] = true;
            for (i, value) in column.iter_mut().enumerate() {
                // Earlier pivots are reproduced exactly, so their rows below are zero.
                let is_done = self.is_pivot[i] && i != pivot;
                *value = if is_done { 0.0 } else { *value * inverse };
                self.diagonal[i] -= *value * *value;
            }
            self.rank = step + 1;
        }
        self.factor_gram();
        self.rank
    }

    /// Cholesky factor of WᵀW.
    fn factor_gram(&mut self) {
        let (n, r) = (self.dim, self.rank);
        for j in 0..r {
            for i in j..r {
                let mut sum: f64 = (0..n).map(|k| self.w[i * n + k] * self.w[j * n + k]).sum();
                for k in 0..j {
                    sum -= self.gram[k * r + i] * self.gram[k * r + j];
                }
                self.gram[j * r + i] = if i == j {
                    sum.max(f64::MIN_POSITIVE).sqrt()
                } else {
                    sum / self.gram[j * r + j]
                };
            }
        }
    }

    /// `work[..rank] ← (WᵀW)⁻¹ work[..rank]`.
    fn solve_gram(&mut self) {
        let r = self.rank;
        for i in 0..r {
            let mut value = self.work[i];
            for k in 0..i {
                value -= self.gram[k * r + i] * self.work[k];
            }
            self.work[i] = value / self.gram[i * r + i];
        }
        for i in (0..r).rev() {
            let mut value = self.work[i];
            for k in i + 1..r {
                value -= self.gram[i * r + k] * self.work[k];
            }
            self.work[i] = value / self.gram[i * r + i];
        }
    }

    /// Replaces `b` by the least-norm x that minimises `|A x - b|`: `x = A⁺ b`. O(n rank).
    ///
    /// # Panics
    /// If `b` is not as long as the factored matrix.
    pub fn solve_minimum_norm(&mut self, b: &mut [f64]) {
        let n = self.dim;
        assert_eq!(b.len(), n, "expected {n} values");
        for (value, column) in self.work.iter_mut().zip(self.w.chunks_exact(n.max(1))) {
            *value = column.iter().zip(b.iter()).map(|(w, b)| w * b).sum();
        }
        self.solve_gram();
        self.solve_gram();
        b.fill(0.0);
        for k in 0..self.rank {
            for (value, w) in b.iter_mut().zip(&self.w[k * n..(k + 1) * n]) {
                *value += self.work[k] * w;
            }
        }
    }

    /// Rank of the last matrix.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use legwork_qp::problems::Random;

    /// Penrose: `A x = b` for b in the range, and x in the range of A (so of least norm).
    #[test]
    fn solutions_are_exact_and_of_least_norm() {
        let mut random = Random::new(1);
        for (n, rank) in [(1, 1), (4, 2), (12, 6), (24, 6), (9, 9), (5, 0)] {
            let b: Vec<f64> = (0..n * rank).map(|_| random.normal()).collect();
            let mut a = vec![0.0; n * n];
            for j in 0..n {
                for i in 0..n {
                    a[j * n + i] = (0..rank).map(|r| b[r * n + i] * b[r * n + j]).sum();
                }
            }
            let mut factor = SemidefiniteFactor::new(n);
            assert_eq!(factor.factor(&a, n, 1e-11), rank);
            let multiply = |x: &[f64]| -> Vec<f64> {
                (0..n).map(|i| (0..n).map(|j| a[j * n + i] * x[j]).sum()).collect()
            };
            let any: Vec<f64> = (0..n).map(|_| random.normal()).collect();
            let rhs = multiply(&any);
            let mut x = rhs.clone();
            factor.solve_minimum_norm(&mut x);
            let scale = rhs.iter().fold(1.0, |m: f64, v| m.max(v.abs()));
            for (left, right) in multiply(&x).iter().zip(&rhs) {
                assert!((left - right).abs() < 1e-9 * scale, "{n} {rank}: {left} {right}");
            }
            // `any - x` is in the null space; least norm means it is normal to x.
            let inner: f64 = any.iter().zip(&x).map(|(a, x)| (a - x) * x).sum();
            assert!(inner.abs() < 1e-8, "{n} {rank}: {inner:.1e}");
        }
    }

    #[test]
    fn a_matrix_of_nan_has_rank_zero() {
        let mut factor = SemidefiniteFactor::new(1);
        assert_eq!(factor.factor(&[f64::NAN], 1, 1e-12), 0);
        let mut x = [1.0];
        factor.solve_minimum_norm(&mut x);
        assert_eq!(x, [0.0]);
    }
}
