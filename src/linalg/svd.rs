//! Singular values by Jacobi's one-sided method, for steps of least norm. Allocates.
//!
//! # References
//! Golub, Van Loan, *Matrix Computations* (2013), section 8.6.3.

use crate::cancel::check_if_large;
use crate::vector::dot;

/// Sweeps after which the columns count as orthogonal. Convergence is quadratic; ten are common.
const MOST_SWEEPS: usize = 40;

/// `A V = U Σ`: the columns of `U Σ`, which are orthogonal, and V.
#[derive(Clone, Debug)]
pub struct Svd {
    rows: usize,
    /// U Σ, column by column.
    scaled: Vec<f64>,
    /// V, column by column.
    right: Vec<f64>,
    /// Squares of the singular values, in the order of the columns.
    squares: Vec<f64>,
}

impl Svd {
    /// The decomposition of a matrix of so many rows and columns, column by column.
    #[must_use]
    pub fn new(rows: usize, columns: usize, mut matrix: Vec<f64>) -> Self {
        let mut right = vec![0.0; columns * columns];
        for i in 0..columns {
            right[i * columns + i] = 1.0;
        }
        let total: f64 = matrix.iter().map(|a| a * a).sum();
        // What is below this is rounding of the largest column: its angle means nothing.
        let nothing = f64::EPSILON * f64::EPSILON * total;
        for _ in 0..MOST_SWEEPS {
            let mut turned = false;
            for p in 0..columns {
                check_if_large(columns);
                for q in p + 1..columns {
                    let (a, b) = pair(&mut matrix, rows, p, q);
                    let (aa, bb, ab) = (dot(a, a), dot(b, b), dot(a, b));
                    if ab.abs() <= f64::EPSILON * (aa * bb).sqrt() || ab.abs() <= nothing {
                        continue;
                    }
                    turned = true;
                    // The smaller angle that makes the two columns orthogonal; V turns with them.
                    let zeta = (bb - aa) / (2.0 * ab);
                    let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
                    let c = 1.0 / (1.0 + t * t).sqrt();
                    turn(a, b, c, c * t);
                    let (a, b) = pair(&mut right, columns, p, q);
                    turn(a, b, c, c * t);
                }
            }
            if !turned {
                break;
            }
        }
        let squares = (0..columns)
            .map(|j| {
                let column = &matrix[j * rows..(j + 1) * rows];
                dot(column, column)
            })
            .collect();
        Self { rows, scaled: matrix, right, squares }
    }

    /// The largest singular value.
    #[must_use]
    pub fn largest(&self) -> f64 {
        self.squares.iter().fold(0.0, |most: f64, square| most.max(*square)).sqrt()
    }

    /// The damped step of least squares `−V Σ (Σ² + λ²)⁻¹ Uᵀ r`, without the directions whose
    /// singular value is below `cut`: of all that leave the least residual the shortest, for λ = 0.
    pub fn step(&self, residual: &[f64], damping: f64, cut: f64, out: &mut [f64]) {
        out.fill(0.0);
        let columns = out.len();
        for (j, &square) in self.squares.iter().enumerate() {
            if square <= cut * cut {
                continue;
            }
            let scaled = &self.scaled[j * self.rows..(j + 1) * self.rows];
            let along = -dot(scaled, residual) / (square + damping * damping);
            for (out, v) in out.iter_mut().zip(&self.right[j * columns..(j + 1) * columns]) {
                *out += along * v;
            }
        }
    }
}

/// Columns p < q of a matrix.
fn pair(matrix: &mut [f64], rows: usize, p: usize, q: usize) -> (&mut [f64], &mut [f64]) {
    let (before, rest) = matrix.split_at_mut(q * rows);
    (&mut before[p * rows..(p + 1) * rows], &mut rest[..rows])
}

/// `(a, b) ← (c a − s b, s a + c b)`.
fn turn(a: &mut [f64], b: &mut [f64], c: f64, s: f64) {
    for (a, b) in a.iter_mut().zip(b) {
        (*a, *b) = (c * *a - s * *b, s * *a + c * *b);
    }
}
