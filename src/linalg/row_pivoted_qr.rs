//! Least squares whose rows differ in size by many orders.

use crate::cancel::check_if_large;
use crate::vector::{all_finite, axpy, dot, max_abs};

/// Householder's QR factorisation of a tall matrix, with the row of the largest entry of each column
/// as its pivot; of equals the one with the lowest place.
///
/// Then each row of the factorisation is as accurate as its own entries: rows of weight 1 keep
/// their digits beside rows of weight 10¹⁰, which the normal equations lose in the sum of squares,
/// and which Householder's method loses too if a small row comes first. And columns that share no
/// row stay apart to the last bit, as the pivot is never a row of the other.
///
/// # References
/// A. J. Cox, N. J. Higham, *Stability of Householder QR factorization for weighted least squares
/// problems* (1998); M. J. D. Powell, J. K. Reid, *On applying Householder transformations to
/// linear least squares problems* (1969). Both pivot columns as well; columns of about equal length
/// do without.
#[derive(Clone, Debug, Default)]
pub struct RowPivotedQr {
    rows: usize,
    columns: usize,
    /// R above the diagonal, and below it the Householder vectors, which include the diagonal.
    matrix: Vec<f64>,
    /// Diagonal of R.
    diagonal: Vec<f64>,
    /// Two over the square of each Householder vector.
    factors: Vec<f64>,
    /// Row with which each pivot was exchanged.
    exchanges: Vec<usize>,
    right: Vec<f64>,
}

impl RowPivotedQr {
    /// Factors a matrix of this number of rows, given by its columns; false if it has more columns
    /// than rows, dependent columns or a value that is not finite. `O(rows · columns²)`.
    pub fn factor(&mut self, matrix: &[f64], rows: usize) -> bool {
        let columns = matrix.len().checked_div(rows).unwrap_or(0);
        (self.rows, self.columns) = (rows, columns);
        if columns > rows || !all_finite(matrix) {
            return false;
        }
        self.matrix.clear();
        self.matrix.extend_from_slice(matrix);
        self.exchanges.clear();
        self.diagonal.clear();
        self.factors.clear();
        for k in 0..columns {
            check_if_large(rows);
            let (done, behind) = self.matrix.split_at_mut((k + 1) * rows);
            let vector = &mut done[k * rows + k..];
            // Against overflow and underflow of squares.
            let size = max_abs(vector);
            if size == 0.0 {
                return false;
            }
            let pivot = vector.iter().position(|v| v.abs() == size).unwrap_or(0);
            vector.swap(0, pivot);
            for other in behind.chunks_exact_mut(rows) {
                other.swap(k, k + pivot);
            }
            self.exchanges.push(k + pivot);
            vector.iter_mut().for_each(|v| *v /= size);
            let length = dot(vector, vector).sqrt();
            let signed = if vector[0] > 0.0 { -length } else { length };
            vector[0] -= signed;
            let factor = 2.0 / dot(vector, vector);
            self.diagonal.push(signed * size);
            self.factors.push(factor);
            for other in behind.chunks_exact_mut(rows) {
                let share = factor * dot(vector, &other[k..]);
                axpy(-share, vector, &mut other[k..]);
            }
        }
        self.diagonal.iter().all(|d| *d != 0.0 && d.is_finite())
    }

    /// `min |A x - b|`, with a value of b for each row and one of x for each column.
    pub fn solve(&mut self, b: &[f64], x: &mut [f64]) {
        let (rows, columns) = (self.rows, self.columns);
        self.right.clear();
        self.right.extend_from_slice(b);
        for (k, factor) in self.factors.iter().enumerate() {
            self.right.swap(k, self.exchanges[k]);
            let vector = &self.matrix[k * rows + k..(k + 1) * rows];
            let share = factor * dot(vector, &self.right[k..]);
            axpy(-share, vector, &mut self.right[k..]);
        }
        x.copy_from_slice(&self.right[..columns]);
        for k in (0..columns).rev() {
            x[k] /= self.diagonal[k];
            let value = x[k];
            axpy(-value, &self.matrix[k * rows..][..k], &mut x[..k]);
        }
    }

    /// The residual `b - A x` of the last solve, by the factors and not by x: `Aᵀ(b - A x) = 0` holds
    /// up to rounding of its own terms, where the rounding of x would count with the square of A.
    pub fn residual(&self, out: &mut [f64]) {
        let (rows, columns) = (self.rows, self.columns);
        out.copy_from_slice(&self.right);
        out[..columns].fill(0.0);
        for (k, factor) in self.factors.iter().enumerate().rev() {
            let vector = &self.matrix[k * rows + k..(k + 1) * rows];
            let share = factor * dot(vector, &out[k..]);
            axpy(-share, vector, &mut out[k..]);
            out.swap(k, self.exchanges[k]);
        }
    }
}
