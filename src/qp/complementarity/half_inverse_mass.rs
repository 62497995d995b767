//! Square roots of the inverse mass matrix.

use legwork_linalg::cholesky;
use legwork_linalg::lanes::{LANES, Lanes};

/// Square root of an inverse mass: C with `M⁻¹ = CᵀC`.
///
/// A factor `M = L Lᵀ` gives `C = L⁻¹`; `M = LᵀDL` gives `C = D^(-1/2) L⁻ᵀ`.
pub trait HalfInverseMass {
    /// Number of velocities nv.
    fn dim(&self) -> usize;
    /// `x ← C x` for nv values.
    fn half_solve(&self, x: &mut [f64]);
    /// The same for many columns of nv values, one after the other.
    fn half_solve_all(&self, columns: &mut [f64]) {
        columns.chunks_exact_mut(self.dim().max(1)).for_each(|column| self.half_solve(column));
    }
}

/// Most velocities of columns that are solved side by side.
const MOST_TOGETHER: usize = 64;

/// A dense mass matrix as `L Lᵀ`.
#[derive(Clone, Debug, Default)]
pub struct DenseMass {
    dim: usize,
    /// L by columns, leading dimension nv.
    lower: Vec<f64>,
    inverse_diagonal: Vec<f64>,
}

impl DenseMass {
    /// Factors `mass` (nv × nv, column-major; the lower triangle is read).
    ///
    /// `None` if it is not positive definite to rounding.
    ///
    /// # Panics
    /// If `mass` does not have `dim²` values.
    #[must_use]
    pub fn factor(dim: usize, mass: &[f64]) -> Option<Self> {
        let mut factor = Self::default();
        factor.set(dim, mass).then_some(factor)
    }

    pub(super) fn reserve(&mut self, dim: usize) {
        if self.inverse_diagonal.len() < dim {
            self.lower.resize(dim * dim, 0.0);
            self.inverse_diagonal.resize(dim, 0.0);
        }
    }

    /// Factors another matrix, allocating only to grow; false (and a factor without meaning) if it
    /// is not positive definite to rounding.
    ///
    /// # Panics
    /// If `mass` does not have `dim²` values.
    pub fn set(&mut self, dim: usize, mass: &[f64]) -> bool {
        assert_eq!(mass.len(), dim * dim, "mass needs dim x dim values");
        let n = dim;
        self.reserve(n);
        self.dim = n;
        self.lower[..n * n].copy_from_slice(mass);
        let tolerance = n as f64 * f64::EPSILON;
        cholesky::factor(&mut self.lower[..n * n], &mut self.inverse_diagonal[..n], tolerance)
    }

    /// `x ← Cᵀ x`, that is `L⁻ᵀ x`.
    pub fn half_solve_transposed(&self, x: &mut [f64]) {
        cholesky::backward(&self.lower, &self.inverse_diagonal[..self.dim], x);
    }

    /// `out += factor · (row i of L)`.
    pub(super) fn add_row(&self, i: usize, factor: f64, out: &mut [f64]) {
        for (k, out) in out[..=i].iter_mut().enumerate() {
            *out += factor * self.lower[k * self.dim + i];
        }
    }
}

impl HalfInverseMass for DenseMass {
    fn dim(&self) -> usize {
        self.dim
    }

    fn half_solve(&self, x: &mut [f64]) {
        cholesky::forward(&self.lower, &self.inverse_diagonal[..self.dim], x);
    }

    /// Four columns side by side, each by the operations of [`Self::half_solve`].
    fn half_solve_all(&self, columns: &mut [f64]) {
        let n = self.dim;
        if n == 0 || n > MOST_TOGETHER {
            return columns.chunks_exact_mut(n.max(1)).for_each(|column| self.half_solve(column));
        }
        let mut sets = columns.chunks_exact_mut(LANES * n);
        for set in &mut sets {
            let mut x = [Lanes::ZERO; MOST_TOGETHER];
            for (k, x) in x[..n].iter_mut().enumerate() {
                *x = Lanes::new([set[k], set[n + k], set[2 * n + k], set[3 * n + k]]);
            }
            for k in 0..n {
                let value = x[k] * Lanes::splat(self.inverse_diagonal[k]);
                x[k] = value;
                let below = &self.lower[k * n + k + 1..(k + 1) * n];
                for (x, &l) in x[k + 1..n].iter_mut().zip(below) {
                    *x += -value * Lanes::splat(l);
                }
            }
            for (k, x) in x[..n].iter().enumerate() {
                for (lane, value) in x.to_array().into_iter().enumerate() {
                    set[lane * n + k] = value;
                }
            }
        }
        sets.into_remainder().chunks_exact_mut(n).for_each(|column| self.half_solve(column));
    }
}
