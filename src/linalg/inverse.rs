//! The inverse of a square matrix by Gauss–Jordan elimination, and of the next one.

use crate::cancel::check_if_large;
use crate::lu::Singular;
use crate::vector::{axpy, largest_entry};

/// Writes `A⁻¹` and destroys A, both n × n. 2n³ operations.
///
/// Operations on whole columns, `[A; I] C = [I; A⁻¹]`, with pivots from the present row. Columns
/// and rows of the identity in A cost no rounding, which is why pivoting methods take this and not
/// a factor. To solve systems, [`crate::Lu`] is faster.
///
/// # Errors
/// [`Singular`] if a pivot is not above `tolerance` times the largest entry, or not finite.
///
/// # References
/// N. J. Higham, *Accuracy and Stability of Numerical Algorithms* (2002), section 14.4.
pub fn invert(
    a: &mut [f64],
    inverse: &mut [f64],
    n: usize,
    tolerance: f64,
) -> Result<(), Singular> {
    let least = if tolerance > 0.0 { tolerance * largest_entry(a) } else { 0.0 };
    inverse.fill(0.0);
    (0..n).for_each(|i| inverse[i * n + i] = 1.0);
    for k in 0..n {
        check_if_large(n);
        // The largest entry of row k among the columns that are left.
        let mut best = k;
        for j in k + 1..n {
            if a[j * n + k].abs() > a[best * n + k].abs() {
                best = j;
            }
        }
        let pivot = a[best * n + k];
        // Written so that NaN fails.
        if !(pivot.abs() > least && pivot.is_finite()) {
            return Err(Singular { rank: k, pivot });
        }
        // Its column moves to place k and is scaled to have 1 in row k.
        let scale = 1.0 / pivot;
        for matrix in [&mut *a, &mut *inverse] {
            if best != k {
                let (left, right) = matrix.split_at_mut(best * n);
                left[k * n..(k + 1) * n].swap_with_slice(&mut right[..n]);
            }
            matrix[k * n..(k + 1) * n].iter_mut().for_each(|x| *x *= scale);
        }
        // It is subtracted from the others, in A and in the inverse, until they have 0 there.
        for j in (0..n).filter(|&j| j != k) {
            let factor = a[j * n + k];
            if factor == 0.0 {
                continue;
            }
            for matrix in [&mut *a, &mut *inverse] {
                let (low, high) = matrix.split_at_mut(j.max(k) * n);
                let (target, source) = if j < k {
                    (&mut low[j * n..(j + 1) * n], &high[..n])
                } else {
                    (&mut high[..n], &low[k * n..(k + 1) * n])
                };
                axpy(-factor, source, target);
            }
        }
    }
    Ok(())
}

/// Makes the inverse of B that of B with column `at` replaced by a column a; `inverse` is by rows,
/// and `image` is `B⁻¹ a`, whose entry `at` must not be zero. One Gauss–Jordan step, n² operations.
///
/// # References
/// Golub and Van Loan, section 2.1.4 (Sherman–Morrison), in the product form of the simplex method.
pub fn replace_column(inverse: &mut [f64], image: &[f64], at: usize) {
    let n = image.len();
    let pivot = 1.0 / image[at];
    let (before, rest) = inverse.split_at_mut(at * n);
    let (row, after) = rest.split_at_mut(n);
    row.iter_mut().for_each(|value| *value *= pivot);
    let others = before.chunks_exact_mut(n).zip(&image[..at]);
    for (target, &c) in others.chain(after.chunks_exact_mut(n).zip(&image[at + 1..])) {
        if c != 0.0 {
            axpy(-c, row, target);
        }
    }
}
