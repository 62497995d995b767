//! Certificates up to rounding: the nearest vector that a matrix annihilates.
//!
//! A method that ends with a certificate has its own tolerance in it, and a matrix that is only
//! ill-conditioned has vectors that it annihilates to the same tolerance. Least squares
//! distinguishes them: a singular matrix annihilates its null vector up to rounding.

use legwork_linalg::{Svd, dot};

/// Singular values below this share of the largest count as zero.
const CUT: f64 = 1e-14;
/// Vectors longer than this are not changed: the decomposition would cost too much.
const LONGEST: usize = 80;

/// Changes `v` so that `|A v|₂` is smallest, with its largest entry fixed. `matrix` is A by
/// columns, with `rows` entries each. Allocates.
pub(crate) fn refine(rows: usize, matrix: &[f64], v: &mut [f64]) {
    let n = v.len();
    let Some(held) = (0..n).max_by(|&a, &b| v[a].abs().total_cmp(&v[b].abs())) else { return };
    if rows == 0 || n > LONGEST || v[held] == 0.0 || !v[held].is_finite() {
        return;
    }
    let others: Vec<usize> = (0..n).filter(|&j| j != held).collect();
    let column = |j: usize| &matrix[j * rows..(j + 1) * rows];
    let reduced: Vec<f64> = others.iter().flat_map(|&j| column(j).to_vec()).collect();
    let svd = Svd::new(rows, others.len(), reduced);
    let mut step = vec![0.0; others.len()];
    // The second step removes rounding errors of the first.
    for _ in 0..2 {
        let rest: Vec<f64> = (0..rows)
            .map(|i| {
                let entries: Vec<f64> = (0..n).map(|j| matrix[j * rows + i]).collect();
                dot(&entries, v)
            })
            .collect();
        svd.step(&rest, 0.0, CUT * svd.largest(), &mut step);
        for (&j, step) in others.iter().zip(&step) {
            v[j] += step;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `[1 1; 1 1]` annihilates (1, -1), `[1 1; 1 1 + 1e-9]` does not annihilate a vector.
    #[test]
    fn a_singular_matrix_has_a_null_vector_to_rounding_and_a_regular_one_has_not() {
        let mut v = [1.0, -1.0 + 1e-5];
        refine(2, &[1.0, 1.0, 1.0, 1.0], &mut v);
        assert!((v[0] + v[1]).abs() < 1e-15, "{v:?}");
        let matrix = [1.0, 1.0, 1.0, 1.0 + 1e-9];
        let mut v = [1.0, -1.0 + 1e-5];
        refine(2, &matrix, &mut v);
        let rest = (v[0] + matrix[3] * v[1]).abs();
        assert!((1e-10..1e-9).contains(&rest), "{rest:.1e}");
    }
}
