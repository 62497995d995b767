//! `A P = Q R` of columns of which some may depend on others.

use crate::cancel::check_if_large;
use crate::vector::{all_finite, axpy, dot};

/// QR factorisation with column pivoting, which reveals the rank.
///
/// The next column of Q comes from the column of A that has kept the largest share of its own
/// length, so neither units nor scales of columns matter; of equals the one with the lowest index.
/// Columns that depend on those before end the process early. Modified Gram–Schmidt, each column
/// once more before it is taken, so that Q is orthonormal to rounding.
///
/// # References
/// Golub and Van Loan, sections 5.2.8 and 5.4.2; Å. Björck, *Numerical Methods for Least Squares
/// Problems* (1996), section 2.4.
#[derive(Clone, Debug, Default)]
pub struct PivotedQr {
    dim: usize,
    count: usize,
    rank: usize,
    /// Q, then what is left of the dependent columns.
    vectors: Vec<f64>,
    /// R: entry (k, column of A) at `column · count + k`.
    r: Vec<f64>,
    /// The column of A that each vector comes from.
    order: Vec<usize>,
    /// Squared length of each column of A.
    squares: Vec<f64>,
}

impl PivotedQr {
    /// Makes room for `count` columns of `dim` values; allocates only to grow.
    pub fn reserve(&mut self, dim: usize, count: usize) {
        for (matrix, len) in [(&mut self.vectors, dim * count), (&mut self.r, count * count)] {
            if matrix.len() < len {
                matrix.resize(len, 0.0);
            }
        }
        if self.order.len() < count {
            self.order.resize(count, 0);
            self.squares.resize(count, 0.0);
        }
    }

    /// Factors the columns of A (`dim` values each) and returns their rank, 0 if a value is not
    /// finite. O(dim · count · rank).
    ///
    /// A column depends on those before if no more than `tolerance` of its length is outside their
    /// span; it is zero if it is not longer than `negligible` times the longest.
    pub fn factor(
        &mut self,
        columns: &[f64],
        dim: usize,
        tolerance: f64,
        negligible: f64,
    ) -> usize {
        let count = columns.len().checked_div(dim).unwrap_or(0);
        self.reserve(dim, count);
        (self.dim, self.count, self.rank) = (dim, count, 0);
        self.vectors[..columns.len()].copy_from_slice(columns);
        self.r[..count * count].fill(0.0);
        let mut longest = 0.0f64;
        for (at, column) in columns.chunks_exact(dim.max(1)).enumerate() {
            (self.order[at], self.squares[at]) = (at, dot(column, column));
            longest = longest.max(self.squares[at]);
        }
        if !(longest > 0.0 && all_finite(columns)) {
            return 0;
        }
        let zero = negligible * negligible * longest;
        while let Some(best) = self.next_pivot(tolerance * tolerance, zero) {
            self.take(best);
        }
        self.rank
    }

    /// Place of the column with the largest remainder relative to its length.
    fn next_pivot(&self, least: f64, zero: f64) -> Option<usize> {
        let (mut found, mut most) = (None, least);
        for at in self.rank..self.count {
            let square = self.squares[self.order[at]];
            if square <= zero {
                continue;
            }
            let rest = &self.vectors[at * self.dim..(at + 1) * self.dim];
            let left = dot(rest, rest) / square;
            // Exchanges have moved columns from their places.
            let is_first = |other: usize| self.order[at] < self.order[other];
            if left > most || (left == most && found.is_some_and(is_first)) {
                (found, most) = (Some(at), left);
            }
        }
        found
    }

    /// Makes the column at `best` the next vector of Q and subtracts it from the later ones.
    fn take(&mut self, best: usize) {
        let Self { dim, count, rank, vectors, r, order, .. } = self;
        let (d, k) = (*dim, *rank);
        check_if_large(d);
        order.swap(k, best);
        if best != k {
            let (head, tail) = vectors.split_at_mut(best * d);
            head[k * d..(k + 1) * d].swap_with_slice(&mut tail[..d]);
        }
        let (done, rest) = vectors[..*count * d].split_at_mut(k * d);
        let (own, behind) = rest.split_at_mut(d);
        // Once more: after cancellation the column is not quite normal to the others.
        let column = &mut r[order[k] * *count..(order[k] + 1) * *count];
        for (entry, q) in column.iter_mut().zip(done.chunks_exact(d)) {
            let share = dot(own, q);
            *entry += share;
            axpy(-share, q, own);
        }
        let length = dot(own, own).sqrt();
        column[k] = length;
        let inverse = 1.0 / length;
        own.iter_mut().for_each(|q| *q *= inverse);
        for (&at, other) in order[k + 1..*count].iter().zip(behind.chunks_exact_mut(d)) {
            let share = dot(own, other);
            r[at * *count + k] = share;
            axpy(-share, own, other);
        }
        *rank += 1;
    }

    /// Rank of the last columns.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Columns of A: those of Q in their order, then those that depend on them.
    #[must_use]
    pub fn order(&self) -> &[usize] {
        &self.order[..self.count]
    }

    /// Columns of Q, `dim` values each, one after the other.
    #[must_use]
    pub fn q(&self) -> &[f64] {
        &self.vectors[..self.rank * self.dim]
    }

    /// Column k of R down to its diagonal.
    fn column(&self, k: usize) -> &[f64] {
        &self.r[self.order[k] * self.count..][..=k]
    }

    /// `R x = y` in place, for the independent columns in their order.
    pub fn solve_upper(&self, x: &mut [f64]) {
        for k in (0..self.rank).rev() {
            let column = self.column(k);
            let value = x[k] / column[k];
            x[k] = value;
            axpy(-value, &column[..k], &mut x[..k]);
        }
    }

    /// `Rᵀ x = y` in place, for the independent columns in their order.
    pub fn solve_transposed(&self, x: &mut [f64]) {
        for k in 0..self.rank {
            let column = self.column(k);
            x[k] = (x[k] - dot(&column[..k], &x[..k])) / column[k];
        }
    }

    /// `B P R⁻¹`, `rank` columns, for columns B that belong to those of A: of A itself it is Q.
    pub fn combine(&self, columns: &[f64], out: &mut [f64]) {
        let d = columns.len().checked_div(self.count).unwrap_or(0);
        for k in 0..self.rank {
            let (column, from) = (self.column(k), self.order[k] * d);
            let (done, own) = out.split_at_mut(k * d);
            let own = &mut own[..d];
            own.copy_from_slice(&columns[from..from + d]);
            for (r, other) in column.iter().zip(done.chunks_exact(d.max(1))) {
                axpy(-r, other, own);
            }
            let inverse = 1.0 / column[k];
            own.iter_mut().for_each(|x| *x *= inverse);
        }
    }
}
