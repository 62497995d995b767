//! Square roots of the inverse mass matrix.

use legwork_linalg::cholesky;

/// Square root of an inverse mass: C with `M⁻¹ = CᵀC`.
///
/// A factor `M = L Lᵀ` gives `C = L⁻¹`; `M = LᵀDL` gives `C = D^(-1/2) L⁻ᵀ`.
pub trait HalfInverseMass {
    /// Number of velocities nv.
    fn dim(&self) -> usize;
    /// `x ← C x` for nv values.
    fn half_solve(&self, x: &mut [f64]);
}

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
}
