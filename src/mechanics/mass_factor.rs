//! The factor `M = Lᵀ D L` of the mass matrix that keeps the sparsity of the tree.
//!
//! `L` is unit lower triangular once coordinates are listed parents first: row k has entries only
//! at the ancestors of k. Eliminating from the leaves to the root creates no fill-in, so factor
//! and solves cost O(nv depth²) and O(nv depth) instead of O(nv³) and O(nv²).
//!
//! Reference: R. Featherstone, *Rigid Body Dynamics Algorithms* (2008), sec. 6.5, tables 6.3–6.5.

use std::sync::Arc;

use crate::branch::BranchPattern;
use crate::mass_matrix::MassMatrix;
use crate::model::Model;

/// The mass matrix cannot be factored: some motion carries no inertia.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "mass matrix is singular at `{coordinate}`: pivot {pivot:e} of diagonal entry {diagonal:e}; \
     the joint moves no mass and has no rotor inertia"
)]
pub struct SingularMass {
    /// Joint name, or `base vx` … `base wz`.
    pub coordinate: String,
    /// What was left of the diagonal entry.
    pub pivot: f64,
    /// The entry of `M` itself.
    pub diagonal: f64,
}

/// Factor `M = Lᵀ D L`: answers `M⁻¹ x` and `J M⁻¹ Jᵀ`.
#[derive(Clone, Debug)]
pub struct MassFactor {
    pattern: Arc<BranchPattern>,
    /// Packed rows of `L` without its unit diagonal.
    rows: Vec<f64>,
    pivots: Vec<f64>,
    inverse_pivots: Vec<f64>,
    row: Vec<f64>,
}

impl MassFactor {
    /// Memory for `model`; the factor of the identity until
    /// [`factorize`](Self::factorize) is called.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let pattern = Arc::clone(&model.pattern);
        Self {
            rows: vec![0.0; pattern.entry_count()],
            pivots: vec![1.0; pattern.dim()],
            inverse_pivots: vec![1.0; pattern.dim()],
            row: vec![0.0; pattern.depth()],
            pattern,
        }
    }

    /// Number of rows nv.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.pivots.len()
    }

    /// The tree that the factor follows.
    #[must_use]
    pub fn pattern(&self) -> &Arc<BranchPattern> {
        &self.pattern
    }

    /// Factors `mass`. O(nv depth²), allocates nothing unless it fails.
    ///
    /// # Errors
    /// [`SingularMass`] if a pivot is not positive beyond rounding, or not a number; the factor
    /// must not be used then.
    pub fn factorize(&mut self, mass: &MassMatrix) -> Result<(), SingularMass> {
        let Self { pattern, rows, pivots, inverse_pivots, row } = self;
        rows.copy_from_slice(&mass.rows);
        pivots.copy_from_slice(&mass.diagonal);
        let rounding = 4.0 * f64::EPSILON * pivots.len() as f64;
        for &k in pattern.order().iter().rev() {
            let (pivot, diagonal) = (pivots[k], mass.diagonal[k]);
            let positive = pivot > rounding * diagonal && pivot.is_finite();
            if !positive {
                let coordinate = pattern.name(k).to_owned();
                return Err(SingularMass { coordinate, pivot, diagonal });
            }
            let inverse = 1.0 / pivot;
            inverse_pivots[k] = inverse;
            let ancestors = pattern.ancestors(k);
            let row = &mut row[..ancestors.len()];
            row.copy_from_slice(&rows[pattern.row(k)]);
            for (p, &i) in ancestors.iter().enumerate() {
                let value = row[p];
                let scaled = value * inverse;
                pivots[i] -= scaled * value;
                // Ancestors of i are the first p ancestors of k, in the same order.
                for (entry, below) in rows[pattern.row(i)].iter_mut().zip(&row[..p]) {
                    *entry -= scaled * below;
                }
            }
            for (entry, value) in rows[pattern.row(k)].iter_mut().zip(row.iter()) {
                *entry = value * inverse;
            }
        }
        Ok(())
    }

    /// `x ← M⁻¹ x`.
    ///
    /// # Panics
    /// If `x` has the wrong length.
    pub fn solve_in_place(&self, x: &mut [f64]) {
        assert_eq!(x.len(), self.dim(), "length of x");
        self.solve_transposed_l(x);
        for (x, inverse) in x.iter_mut().zip(&self.inverse_pivots) {
            *x *= inverse;
        }
        self.solve_l(x);
    }

    /// `x ← D^(−1/2) L⁻ᵀ x`, so that afterwards `x · x` is `xᵀ M⁻¹ x` of the given x.
    ///
    /// # Panics
    /// If `x` has the wrong length.
    pub fn half_solve_in_place(&self, x: &mut [f64]) {
        assert_eq!(x.len(), self.dim(), "length of x");
        self.solve_transposed_l(x);
        for (x, inverse) in x.iter_mut().zip(&self.inverse_pivots) {
            *x *= inverse.sqrt();
        }
    }

    /// `x ← L⁻¹ D^(−1/2) x`, the transpose of [`half_solve_in_place`](Self::half_solve_in_place):
    /// one after the other is `M⁻¹`.
    ///
    /// # Panics
    /// If `x` has the wrong length.
    pub fn half_solve_transposed_in_place(&self, x: &mut [f64]) {
        assert_eq!(x.len(), self.dim(), "length of x");
        for (x, inverse) in x.iter_mut().zip(&self.inverse_pivots) {
            *x *= inverse.sqrt();
        }
        self.solve_l(x);
    }

    /// Writes `D^(1/2) L` (nv × nv, column-major), the matrix `C` with `Cᵀ C = M`.
    ///
    /// It is lower triangular if the robot file lists parents before children.
    ///
    /// # Panics
    /// If `out` has the wrong length.
    pub fn write_dense(&self, out: &mut [f64]) {
        let nv = self.dim();
        assert_eq!(out.len(), nv * nv, "length of out");
        out.fill(0.0);
        for k in 0..nv {
            let root = self.pivots[k].sqrt();
            out[k * nv + k] = root;
            for (&i, &l) in self.pattern.ancestors(k).iter().zip(&self.rows[self.pattern.row(k)]) {
                out[i * nv + k] = root * l;
            }
        }
    }

    /// Reads a factor written by [`write_dense`](Self::write_dense).
    ///
    /// # Errors
    /// [`SingularMass`] if a diagonal entry is not positive or not finite.
    ///
    /// # Panics
    /// If `dense` is shorter than nv × nv.
    pub fn read_dense(&mut self, dense: &[f64]) -> Result<(), SingularMass> {
        let nv = self.dim();
        for k in 0..nv {
            let root = dense[k * nv + k];
            if !(root > 0.0 && root.is_finite()) {
                let coordinate = self.pattern.name(k).to_owned();
                return Err(SingularMass { coordinate, pivot: root, diagonal: root });
            }
            self.pivots[k] = root * root;
            self.inverse_pivots[k] = 1.0 / self.pivots[k];
            let row = self.pattern.row(k);
            for (&i, l) in self.pattern.ancestors(k).iter().zip(&mut self.rows[row]) {
                *l = dense[i * nv + k] / root;
            }
        }
        Ok(())
    }

    /// `x ← L⁻ᵀ x`: from the leaves to the root; a zero entry costs nothing.
    fn solve_transposed_l(&self, x: &mut [f64]) {
        for &k in self.pattern.order().iter().rev() {
            let value = x[k];
            if value != 0.0 {
                let row = self.pattern.row(k);
                for (&i, l) in self.pattern.ancestors(k).iter().zip(&self.rows[row]) {
                    x[i] -= l * value;
                }
            }
        }
    }

    /// `x ← L⁻¹ x`: from the root to the leaves.
    fn solve_l(&self, x: &mut [f64]) {
        for &k in self.pattern.order() {
            let row = self.pattern.row(k);
            let mut sum = 0.0;
            for (&i, l) in self.pattern.ancestors(k).iter().zip(&self.rows[row]) {
                sum += l * x[i];
            }
            x[k] -= sum;
        }
    }

    pub(crate) fn row_of_l(&self, k: usize) -> &[f64] {
        &self.rows[self.pattern.row(k)]
    }

    pub(crate) fn inverse_pivot(&self, k: usize) -> f64 {
        self.inverse_pivots[k]
    }
}
