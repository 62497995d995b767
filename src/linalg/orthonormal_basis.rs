//! An orthonormal basis of chosen columns that gains and loses columns: `B_P = Q R`.

use crate::cancel::check_if_large;
use crate::vector::{axpy, dot, givens, matrix_vector};

/// Q (d × r, orthonormal columns) and the upper triangular R with `B_P = Q R`.
#[derive(Clone, Debug, Default)]
pub struct OrthonormalBasis {
    dim: usize,
    rank: usize,
    /// Q, column k at `k · dim`.
    q: Vec<f64>,
    /// R, column k at `k · dim`, k + 1 entries.
    r: Vec<f64>,
    /// One over the diagonal of R.
    inverse_diagonal: Vec<f64>,
    /// The part of the last probed column outside the span.
    rest: Vec<f64>,
    /// `Qᵀ` times the last probed column.
    products: Vec<f64>,
    /// `Qᵀ` times what is left of it, and Q times that.
    again: Vec<f64>,
    inside: Vec<f64>,
}

impl OrthonormalBasis {
    /// Empties the basis and makes room for vectors of `dim`; allocates only to grow.
    pub fn reset(&mut self, dim: usize) {
        (self.dim, self.rank) = (dim, 0);
        for matrix in [&mut self.q, &mut self.r] {
            if matrix.len() < dim * dim {
                matrix.resize(dim * dim, 0.0);
            }
        }
        for vector in [
            &mut self.rest,
            &mut self.products,
            &mut self.again,
            &mut self.inside,
            &mut self.inverse_diagonal,
        ] {
            if vector.len() < dim {
                vector.resize(dim, 0.0);
            }
        }
    }

    /// Number of columns r.
    #[inline]
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// `Qᵀ v` of the last probe.
    #[inline]
    #[must_use]
    pub fn products(&self) -> &[f64] {
        &self.products[..self.rank]
    }

    /// The part of the last probed column outside the span; meaningless if the basis spans
    /// everything.
    #[inline]
    #[must_use]
    pub fn rest(&self) -> &[f64] {
        &self.rest[..self.dim]
    }

    /// Distance of `v` from the span of the basis; keeps `Qᵀ v` and the rest for [`Self::push`].
    ///
    /// Classical Gram-Schmidt, twice where the first pass cancels: O(d r).
    ///
    /// # References
    /// L. Giraud, J. Langou, M. Rozložník, J. van den Eshof, *Rounding error analysis of the
    /// classical Gram-Schmidt orthogonalization process*, Numer. Math. 101 (2005): twice is enough.
    pub fn probe(&mut self, v: &[f64]) -> f64 {
        check_if_large(self.dim);
        let (d, r) = (self.dim, self.rank);
        let rest = &mut self.rest[..d];
        rest.copy_from_slice(v);
        self.products[..r].fill(0.0);
        if r == d {
            // The span is everything; what Gram-Schmidt would leave is rounding.
            for (product, q) in self.products.iter_mut().zip(self.q.chunks_exact(d.max(1))) {
                *product = dot(q, rest);
            }
            return 0.0;
        }
        let mut before = dot(rest, rest);
        for _ in 0..2 {
            let columns = &self.q[..r * d];
            for (again, q) in self.again.iter_mut().zip(columns.chunks_exact(d.max(1))) {
                *again = dot(q, rest);
            }
            matrix_vector(columns, d, &self.again[..r], &mut self.inside);
            rest.iter_mut().zip(&self.inside).for_each(|(rest, inside)| *rest -= inside);
            self.products.iter_mut().zip(&self.again[..r]).for_each(|(sum, p)| *sum += p);
            let after = dot(rest, rest);
            if after > 0.25 * before {
                before = after;
                break;
            }
            before = after;
        }
        before.sqrt()
    }

    /// Adds the column that was probed last, whose distance from the span was `distance` > 0.
    pub fn push(&mut self, distance: f64) {
        let (d, k) = (self.dim, self.rank);
        let inverse = 1.0 / distance;
        for (q, rest) in self.q[k * d..(k + 1) * d].iter_mut().zip(&self.rest) {
            *q = rest * inverse;
        }
        self.r[k * d..k * d + k].copy_from_slice(&self.products[..k]);
        self.r[k * d + k] = distance;
        self.inverse_diagonal[k] = inverse;
        self.rank += 1;
    }

    /// Removes column `k`; the later ones move up. Givens rotations, O(d (r - k)).
    pub fn remove(&mut self, k: usize) {
        let (d, r) = (self.dim, self.rank);
        for column in k + 1..r {
            let (from, to) = (column * d, (column - 1) * d);
            self.r.copy_within(from..=from + column, to);
        }
        // Columns k.. now have one entry below the diagonal each.
        for row in k..r - 1 {
            let (a, b) = (self.r[row * d + row], self.r[row * d + row + 1]);
            let Some((c, s, _)) = givens(a, b) else { continue };
            for column in row..r - 1 {
                let pair = &mut self.r[column * d + row..column * d + row + 2];
                let (x, y) = (pair[0], pair[1]);
                pair[0] = c * x + s * y;
                pair[1] = c * y - s * x;
            }
            let (left, right) = self.q.split_at_mut((row + 1) * d);
            for (x, y) in left[row * d..].iter_mut().zip(&mut right[..d]) {
                (*x, *y) = (c * *x + s * *y, c * *y - s * *x);
            }
        }
        self.rank -= 1;
        for k in k..self.rank {
            self.inverse_diagonal[k] = 1.0 / self.r[k * d + k];
        }
    }

    /// `R x = y` in place.
    pub fn solve_upper(&self, x: &mut [f64]) {
        let d = self.dim;
        for k in (0..self.rank).rev() {
            let column = &self.r[k * d..=k * d + k];
            let value = x[k] * self.inverse_diagonal[k];
            x[k] = value;
            axpy(-value, &column[..k], &mut x[..k]);
        }
    }

    /// `Rᵀ x = y` in place.
    pub fn solve_transposed(&self, x: &mut [f64]) {
        let d = self.dim;
        for k in 0..self.rank {
            let column = &self.r[k * d..=k * d + k];
            x[k] = (x[k] - dot(&column[..k], &x[..k])) * self.inverse_diagonal[k];
        }
    }

    /// `Qᵀ v`.
    pub fn products_of(&self, v: &[f64], products: &mut [f64]) {
        for (product, q) in products.iter_mut().zip(self.q.chunks_exact(self.dim.max(1))) {
            *product = dot(q, v);
        }
    }

    /// `v += Q x`.
    pub fn add_combination(&self, x: &[f64], v: &mut [f64]) {
        for (x, q) in x.iter().zip(self.q.chunks_exact(self.dim.max(1))) {
            axpy(*x, q, v);
        }
    }

    /// Subtracts from `v` its part in the span, twice for full accuracy.
    pub fn project_out(&self, v: &mut [f64]) {
        let d = self.dim;
        for _ in 0..2 {
            for q in self.q[..self.rank * d].chunks_exact(d.max(1)) {
                let p = dot(q, v);
                axpy(-p, q, v);
            }
        }
    }
}
