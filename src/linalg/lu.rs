//! Dense LU factorisation with partial pivoting, `P A = L U`.
//!
//! Left-looking: a column is finished before the next one is touched, four earlier columns at a
//! time. The same elimination of one column is the forward substitution of a solve.
//!
//! # References
//! Golub, Van Loan, *Matrix Computations* (2013), algorithm 3.4.1 in its gaxpy form (3.2.9).

use crate::cancel::check_if_large;
use crate::vector::largest_entry;

/// A factored n × n matrix.
#[derive(Debug, Clone, Default)]
pub struct Lu {
    n: usize,
    /// U with its diagonal, and below it L without its ones; column-major.
    factors: Vec<f64>,
    /// Row that was exchanged with row j in step j.
    pivots: Vec<usize>,
    /// `1 / uⱼⱼ`.
    inverse_diagonal: Vec<f64>,
}

/// The matrix is singular or not finite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Singular {
    /// Pivots that were found.
    pub rank: usize,
    /// The next pivot, which counts as zero; NaN if the matrix is not finite.
    pub pivot: f64,
}

impl Lu {
    /// Memory for n × n matrices.
    #[must_use]
    pub fn new(n: usize) -> Self {
        let mut lu = Self::default();
        lu.resize(n);
        lu
    }

    /// Makes this the memory of n × n matrices; allocates only to grow.
    pub fn resize(&mut self, n: usize) {
        self.n = n;
        self.factors.resize(n * n, 0.0);
        self.pivots.resize(n, 0);
        self.inverse_diagonal.resize(n, 0.0);
    }

    /// The n × n values to fill before [`Self::factor`]; afterwards they hold the factors.
    pub fn matrix_mut(&mut self) -> &mut [f64] {
        &mut self.factors
    }

    /// Factors `I - c J`, with J column-major.
    ///
    /// # Errors
    /// [`Singular`] if a pivot is zero or not finite.
    pub fn factor_shifted(&mut self, c: f64, jacobian: &[f64]) -> Result<(), Singular> {
        for (a, j) in self.factors.iter_mut().zip(jacobian) {
            *a = -c * j;
        }
        for i in 0..self.n {
            self.factors[i * self.n + i] += 1.0;
        }
        self.factor(0.0)
    }

    /// Factors the matrix that was filled in. 2n³/3 operations.
    ///
    /// # Errors
    /// [`Singular`] if a pivot is not above `tolerance` times the largest entry, or not finite.
    pub fn factor(&mut self, tolerance: f64) -> Result<(), Singular> {
        let n = self.n;
        let least = if tolerance > 0.0 { tolerance * largest_entry(&self.factors) } else { 0.0 };
        for j in 0..n {
            check_if_large(n);
            // Column j as the exchanges so far have it, then without the columns before it.
            let (done, rest) = self.factors.split_at_mut(j * n);
            let column = &mut rest[..n];
            for (row, &pivot) in self.pivots[..j].iter().enumerate() {
                column.swap(row, pivot);
            }
            eliminate(done, n, j, column);
            // The pivot is the largest entry from the diagonal down; its row is exchanged with row
            // j.
            let mut pivot = j;
            let mut largest = column[j].abs();
            for (i, a) in column.iter().enumerate().skip(j + 1) {
                if a.abs() > largest {
                    largest = a.abs();
                    pivot = i;
                }
            }
            // Written so that NaN fails.
            if !(largest > least && largest.is_finite()) {
                return Err(Singular { rank: j, pivot: column[pivot] });
            }
            self.pivots[j] = pivot;
            if pivot != j {
                column.swap(j, pivot);
                for earlier in done.chunks_exact_mut(n) {
                    earlier.swap(j, pivot);
                }
            }
            // What is below it becomes L.
            let inverse = 1.0 / column[j];
            self.inverse_diagonal[j] = inverse;
            for l in &mut column[j + 1..] {
                *l *= inverse;
            }
        }
        Ok(())
    }

    /// The factors in one matrix: U with its diagonal, and below it L without its ones.
    #[must_use]
    pub fn factors(&self) -> &[f64] {
        &self.factors
    }

    /// The row that was exchanged with row j in step j.
    #[must_use]
    pub fn exchanges(&self) -> &[usize] {
        &self.pivots
    }

    /// Solves `A x = b` in place.
    pub fn solve(&self, b: &mut [f64]) {
        let n = self.n;
        for (row, &pivot) in self.pivots.iter().enumerate() {
            b.swap(row, pivot);
        }
        eliminate(&self.factors, n, n, b);
        // Back substitution, four columns of U at a time.
        let mut j = n;
        while j >= 4 {
            let block = &self.factors[(j - 4) * n..j * n];
            let (c0, rest) = block.split_at(n);
            let (c1, rest) = rest.split_at(n);
            let (c2, c3) = rest.split_at(n);
            let d = &self.inverse_diagonal[j - 4..j];
            let (above, own) = b[..j].split_at_mut(j - 4);
            let x3 = own[3] * d[3];
            let x2 = (own[2] - c3[j - 2] * x3) * d[2];
            let x1 = (own[1] - c3[j - 3] * x3 - c2[j - 3] * x2) * d[1];
            let x0 = (own[0] - c3[j - 4] * x3 - c2[j - 4] * x2 - c1[j - 4] * x1) * d[0];
            own.copy_from_slice(&[x0, x1, x2, x3]);
            let columns = (c0.iter().zip(c1)).zip(c2.iter().zip(c3));
            for (b, ((u0, u1), (u2, u3))) in above.iter_mut().zip(columns) {
                *b -= (u0 * x0 + u1 * x1) + (u2 * x2 + u3 * x3);
            }
            j -= 4;
        }
        while j > 0 {
            j -= 1;
            let x = b[j] * self.inverse_diagonal[j];
            b[j] = x;
            for (b, u) in b[..j].iter_mut().zip(&self.factors[j * n..]) {
                *b -= u * x;
            }
        }
    }
}

/// Applies the first `count` columns of L to `column`: `x ← L⁻¹ x`.
fn eliminate(factors: &[f64], n: usize, count: usize, column: &mut [f64]) {
    let mut k = 0;
    while k + 4 <= count {
        let block = &factors[k * n..(k + 4) * n];
        let (l0, rest) = block.split_at(n);
        let (l1, rest) = rest.split_at(n);
        let (l2, l3) = rest.split_at(n);
        let x0 = column[k];
        let x1 = column[k + 1] - l0[k + 1] * x0;
        let x2 = column[k + 2] - l0[k + 2] * x0 - l1[k + 2] * x1;
        let x3 = column[k + 3] - l0[k + 3] * x0 - l1[k + 3] * x1 - l2[k + 3] * x2;
        column[k + 1] = x1;
        column[k + 2] = x2;
        column[k + 3] = x3;
        // Columns of another block of a block-diagonal matrix have no part in this one.
        if [x0, x1, x2, x3] == [0.0; 4] {
            k += 4;
            continue;
        }
        let columns =
            (l0[k + 4..].iter().zip(&l1[k + 4..])).zip(l2[k + 4..].iter().zip(&l3[k + 4..]));
        for (x, ((l0, l1), (l2, l3))) in column[k + 4..].iter_mut().zip(columns) {
            *x -= (l0 * x0 + l1 * x1) + (l2 * x2 + l3 * x3);
        }
        k += 4;
    }
    while k < count {
        let x = column[k];
        for (y, l) in column[k + 1..].iter_mut().zip(&factors[k * n + k + 1..(k + 1) * n]) {
            *y -= l * x;
        }
        k += 1;
    }
}
