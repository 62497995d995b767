//! Gauss–Jordan elimination with complete pivoting, for systems that may be singular.

use crate::cancel::check_if_large;
use crate::vector::axpy;

/// A square system `A x = b` brought to the form `[I F; 0 0]` by exchanges and elimination.
///
/// Unknowns without a pivot are free. The solution has them zero; a direction of the null space has
/// one of them 1.
///
/// # References
/// Golub and Van Loan, section 3.4.8 (complete pivoting).
#[derive(Clone, Debug, Default)]
pub struct CompletePivoting {
    n: usize,
    rank: usize,
    /// A and, in the last column, b; column-major n × (n + 1).
    system: Vec<f64>,
    /// Unknown of each column after the exchanges.
    order: Vec<usize>,
    /// The pivot column of a step.
    column: Vec<f64>,
}

impl CompletePivoting {
    /// The n × (n + 1) values of `[A b]` to fill before [`Self::eliminate`]. Allocates only to
    /// grow.
    pub fn system_mut(&mut self, n: usize) -> &mut [f64] {
        self.n = n;
        self.system.resize(n * (n + 1), 0.0);
        self.order.clear();
        self.order.extend(0..n);
        self.column.resize(n, 0.0);
        &mut self.system
    }

    /// Eliminates; a pivot counts as zero if it is not above `tolerance` times the first, which is
    /// the largest entry. Of equal pivots the one in the lowest row, then column, is taken. Returns
    /// the rank, 0 if the first pivot is not finite.
    pub fn eliminate(&mut self, tolerance: f64) -> usize {
        let Self { n, system, order, column, .. } = self;
        let n = *n;
        let mut largest = 0.0;
        self.rank = 0;
        for step in 0..n {
            check_if_large(n);
            // The largest entry of what is left.
            let (mut row, mut at, mut pivot) = (step, step, 0.0);
            for i in step..n {
                for j in step..n {
                    let value = system[j * n + i].abs();
                    if value > pivot {
                        (row, at, pivot) = (i, j, value);
                    }
                }
            }
            largest = f64::max(largest, pivot);
            if !(pivot > tolerance * largest && pivot.is_finite()) {
                break;
            }
            // To the diagonal, by an exchange of rows and one of columns.
            for other in system.chunks_exact_mut(n) {
                other.swap(step, row);
            }
            for i in 0..n {
                system.swap(step * n + i, at * n + i);
            }
            order.swap(step, at);
            // Rows above are cleared too, so that the null space can be read off.
            column.copy_from_slice(&system[step * n..(step + 1) * n]);
            let inverse = 1.0 / column[step];
            column[step] = 0.0;
            for other in system[step * n..].chunks_exact_mut(n) {
                other[step] *= inverse;
                axpy(-other[step], column, other);
            }
            self.rank += 1;
        }
        self.rank
    }

    /// Writes the solution whose free unknowns are zero.
    pub fn solution_into(&self, x: &mut [f64]) {
        x.fill(0.0);
        let right = self.n * self.n;
        for (k, &unknown) in self.order[..self.rank].iter().enumerate() {
            x[unknown] = self.system[right + k];
        }
    }

    /// Writes direction `index` of the n - rank of the null space: one free unknown is 1, the
    /// others 0.
    pub fn null_direction_into(&self, index: usize, x: &mut [f64]) {
        x.fill(0.0);
        let free = self.rank + index;
        x[self.order[free]] = 1.0;
        for (k, &unknown) in self.order[..self.rank].iter().enumerate() {
            x[unknown] = -self.system[free * self.n + k];
        }
    }
}
