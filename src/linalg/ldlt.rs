//! `A = L D Lᵀ` of a symmetric positive definite n × n matrix in columns of whole lanes.
//!
//! No roots, and loops without remainders: the fastest factor of matrices of a dozen rows. The
//! columns hold `L D` on and below the diagonal; one over D is kept beside them. What stands above
//! the diagonal does not matter. Functions are inlined, so that a caller with a constant `stride`
//! gets loops of constant length.

use crate::cancel::check_if_large;
use crate::lanes::{LANES, Lanes, axpy, load, store};

/// Columns up to this long are not cut at the diagonal.
const SHORT: usize = 12;

/// Factors in place; false if a pivot is not above `tolerance` times the largest diagonal entry, or
/// not finite.
///
/// # References
/// Golub and Van Loan, section 4.1.2, by outer products.
#[inline(always)]
#[must_use]
pub fn factor(
    a: &mut [f64],
    n: usize,
    stride: usize,
    inverse_pivots: &mut [f64],
    tolerance: f64,
) -> bool {
    let largest = (0..n).fold(0.0, |most: f64, k| most.max(a[k * stride + k]));
    let least = tolerance * largest;
    for k in 0..n {
        check_if_large(n);
        let (done, rest) = a[..n * stride].split_at_mut((k + 1) * stride);
        let column = &done[k * stride..];
        let pivot = column[k];
        // Written so that NaN fails.
        if !(pivot > least && pivot.is_finite()) {
            return false;
        }
        let inverse = 1.0 / pivot;
        inverse_pivots[k] = inverse;
        // Short columns are taken whole: what that changes above the diagonal does not matter, and
        // with a constant `stride` the loop has no counter.
        let first = if stride <= SHORT { 0 } else { k / LANES * LANES };
        for (target, l) in rest.chunks_exact_mut(stride).zip(&column[k + 1..]) {
            axpy(-(l * inverse), &column[first..], &mut target[first..]);
        }
    }
    true
}

/// `x ← (L D Lᵀ)⁻¹ x`.
#[inline(always)]
pub fn solve(factor: &[f64], n: usize, stride: usize, inverse_pivots: &[f64], x: &mut [f64]) {
    for k in 0..n {
        let column = &factor[k * stride..k * stride + n];
        let value = x[k] * inverse_pivots[k];
        x[k] = value;
        for (x, l) in x[k + 1..n].iter_mut().zip(&column[k + 1..]) {
            *x -= l * value;
        }
    }
    for k in (0..n).rev() {
        let column = &factor[k * stride..k * stride + n];
        let mut sum = 0.0;
        for (x, l) in x[k + 1..n].iter().zip(&column[k + 1..]) {
            sum += l * x;
        }
        x[k] -= inverse_pivots[k] * sum;
    }
}

/// `J = L⁻ᵀ D^(-1/2)`, so that `Jᵀ A J = I`: column i is `(eᵢ - Σ_{k<i} L_ik M_k) / √D_i`, M being
/// J without the roots. `inverse_pivots` is padded.
#[inline(always)]
pub fn inverse_root(
    factor: &[f64],
    n: usize,
    stride: usize,
    inverse_pivots: &[f64],
    j: &mut [f64],
) {
    for i in 0..n {
        check_if_large(n);
        let (done, rest) = j[..n * stride].split_at_mut(i * stride);
        let column = &mut rest[..stride];
        column.fill(0.0);
        column[i] = 1.0;
        let end = (i / LANES + 1) * LANES;
        for (k, other) in done.chunks_exact(stride).enumerate() {
            let weight = factor[k * stride + i] * inverse_pivots[k];
            axpy(-weight, &other[..end], &mut column[..end]);
        }
    }
    for (pivots, columns) in inverse_pivots[..stride]
        .chunks_exact(LANES)
        .zip(j[..n * stride].chunks_mut((LANES * stride).max(1)))
    {
        let roots = load(pivots).sqrt().to_array();
        for (column, root) in columns.chunks_exact_mut(stride).zip(roots) {
            let root = Lanes::splat(root);
            for x in column.chunks_exact_mut(LANES) {
                store(load(x) * root, x);
            }
        }
    }
}

/// `x ← A⁻¹ x` for A of a constant size, column by column, whose lower triangle is destroyed: where
/// a matrix is used once, the factor and the first substitution are one loop.
///
/// # Errors
/// [`crate::Singular`] if pivot k is not above `tolerance` times diagonal entry k, or not finite.
#[inline(always)]
#[expect(clippy::needless_range_loop, reason = "loops over constant indices are unrolled")]
pub fn solve_once<const N: usize>(
    a: &mut [[f64; N]; N],
    x: &mut [f64; N],
    tolerance: f64,
) -> Result<(), crate::Singular> {
    let diagonal: [f64; N] = std::array::from_fn(|k| a[k][k]);
    for k in 0..N {
        let pivot = a[k][k];
        // Written so that NaN fails.
        if !(pivot > tolerance * diagonal[k] && pivot.is_finite()) {
            return Err(crate::Singular { rank: k, pivot });
        }
        let inverse = 1.0 / pivot;
        for j in k + 1..N {
            let l = a[k][j] * inverse;
            for r in j..N {
                a[j][r] -= a[k][r] * l;
            }
        }
        for r in k + 1..N {
            a[k][r] *= inverse;
            x[r] -= a[k][r] * x[k];
        }
    }
    for k in (0..N).rev() {
        x[k] /= a[k][k];
        for r in k + 1..N {
            x[k] -= a[k][r] * x[r];
        }
    }
    Ok(())
}
