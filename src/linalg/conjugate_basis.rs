//! `Jᵀ H J = I` with `Jᵀ N = [R; 0]`, for normals N that come and go.
//!
//! The first columns of J span the normals in the metric of H⁻¹, the others what the normals leave
//! free. A normal is appended by one Householder reflection of the free columns, whose product with
//! the reflector is the step direction that active-set methods need anyway; it is removed by Givens
//! rotations.
//!
//! Columns are padded to whole [`lanes`]. Functions are inlined and take the stride, so
//! that a caller with a constant one gets loops of constant length.
//!
//! # References
//! D. Goldfarb, A. Idnani, *A numerically stable dual method for solving strictly convex quadratic
//! programs*, Math. Program. 27 (1983), section 4. We differ in the Householder update.

use crate::lanes::{self, padded};
use crate::ldlt;
use crate::vector::givens;

/// J and R with their memory.
#[derive(Clone, Debug, Default)]
pub struct ConjugateBasis {
    n: usize,
    count: usize,
    /// J.
    columns: Vec<f64>,
    /// R above its diagonal, zero elsewhere.
    r: Vec<f64>,
    /// The diagonal of R, and one over it.
    diagonal: Vec<[f64; 2]>,
}

impl ConjugateBasis {
    /// Makes this the memory of n × n matrices; allocates only to grow.
    pub fn reserve(&mut self, n: usize) {
        let stride = padded(n);
        (self.n, self.count) = (n, 0);
        for matrix in [&mut self.columns, &mut self.r] {
            if matrix.len() < n * stride {
                matrix.resize(n * stride, 0.0);
            }
        }
        if self.diagonal.len() < n {
            self.diagonal.resize(n, [0.0; 2]);
        }
    }

    /// Begins without normals: `J = L⁻ᵀ D^(-1/2)` of `H = L D Lᵀ` from [`ldlt::factor`].
    #[inline(always)]
    pub fn begin(&mut self, factor: &[f64], inverse_pivots: &[f64], stride: usize) {
        self.count = 0;
        ldlt::inverse_root(factor, self.n, stride, inverse_pivots, &mut self.columns);
    }

    /// J.
    #[inline(always)]
    #[must_use]
    pub fn columns(&self) -> &[f64] {
        &self.columns
    }

    /// How many normals there are.
    #[inline(always)]
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// `‖d₂‖²` and `‖d₁‖²` of `d = Jᵀ n`: its parts outside and inside the span of the normals.
    #[inline(always)]
    #[must_use]
    pub fn squares(&self, d: &[f64]) -> (f64, f64) {
        let (bound, free) = d[..self.n].split_at(self.count);
        (crate::dot(free, free), crate::dot(bound, bound))
    }

    /// `z = J₂ d₂`.
    #[inline(always)]
    pub fn free_combination(&self, d: &[f64], z: &mut [f64], stride: usize) {
        let (n, q) = (self.n, self.count);
        z[..stride].fill(0.0);
        let columns = self.columns[q * stride..n * stride].chunks_exact(stride);
        for (column, &d) in columns.zip(&d[q..n]) {
            lanes::axpy(d, column, &mut z[..stride]);
        }
    }

    /// Appends the normal of `d = Jᵀ n`, given `z = J₂ d₂` and `free = ‖d₂‖² > 0`; d₂ and z are
    /// overwritten.
    ///
    /// The reflection maps d₂ to `(α, 0, …)`: with `v = d₂ - α e₁` and `w = J₂ v = z - α J_q`,
    /// `J₂ ← J₂ - β w vᵀ`.
    #[inline(always)]
    pub fn append(&mut self, d: &mut [f64], z: &mut [f64], free: f64, stride: usize) {
        let (n, q) = (self.n, self.count);
        let first = d[q];
        let alpha = if first > 0.0 { -free.sqrt() } else { free.sqrt() };
        lanes::axpy(-alpha, &self.columns[q * stride..(q + 1) * stride], &mut z[..stride]);
        let beta = 1.0 / (free - alpha * first);
        d[q] = first - alpha;
        let columns = self.columns[q * stride..n * stride].chunks_exact_mut(stride);
        for (column, &v) in columns.zip(&d[q..n]) {
            lanes::axpy(-beta * v, &z[..stride], column);
        }
        self.r[q * stride..q * stride + q].copy_from_slice(&d[..q]);
        self.r[q * stride + q..(q + 1) * stride].fill(0.0);
        self.diagonal[q] = [alpha, 1.0 / alpha];
        self.count += 1;
    }

    /// Removes the normal at `index`; the later ones move up. R is made triangular again.
    pub fn remove(&mut self, index: usize, stride: usize) {
        self.count -= 1;
        let q = self.count;
        // Column k + 1 moves to k; its diagonal entry is now below the diagonal and is rotated
        // away.
        for k in index..q {
            let (left, right) = self.r.split_at_mut((k + 1) * stride);
            left[k * stride..k * stride + k + 1].copy_from_slice(&right[..=k]);
            let rotation = givens(right[k], self.diagonal[k + 1][0]);
            self.r[k * stride + k] = 0.0;
            let Some((c, s, radius)) = rotation else {
                self.diagonal[k] = [0.0, f64::INFINITY];
                continue;
            };
            self.diagonal[k] = [radius, 1.0 / radius];
            for column in k + 2..=q {
                let pair = &mut self.r[column * stride + k..column * stride + k + 2];
                (pair[0], pair[1]) = (c * pair[0] + s * pair[1], c * pair[1] - s * pair[0]);
            }
            let (left, right) = self.columns.split_at_mut((k + 1) * stride);
            lanes::rotate(&mut left[k * stride..], &mut right[..stride], c, s);
        }
    }

    /// `x ← R⁻¹ x`; `x` is padded, what follows the first entries is set to zero.
    #[inline(always)]
    pub fn solve_upper(&self, x: &mut [f64], stride: usize) {
        let q = self.count;
        x[q..stride].fill(0.0);
        for k in (0..q).rev() {
            let value = x[k] * self.diagonal[k][1];
            x[k] = value;
            // Zeros on and below the diagonal leave what is solved already.
            let end = padded(k);
            lanes::axpy(-value, &self.r[k * stride..k * stride + end], &mut x[..end]);
        }
    }

    /// `x ← R⁻ᵀ x`; `x` is padded, what follows the first entries is set to zero.
    #[inline(always)]
    pub fn solve_transposed(&self, x: &mut [f64], stride: usize) {
        let q = self.count;
        x[q..stride].fill(0.0);
        for k in 0..q {
            let end = padded(k);
            let column = &self.r[k * stride..k * stride + end];
            x[k] = (x[k] - lanes::dot(column, &x[..end])) * self.diagonal[k][1];
        }
    }
}
