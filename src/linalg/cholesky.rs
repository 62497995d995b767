//! `A = L Lᵀ` of a symmetric positive definite n × n matrix, in place of its lower triangle.
//!
//! The upper triangle is neither read nor written. One over the diagonal of L is kept beside it, so
//! that solves do not divide; its length is n. L by columns is `R = Lᵀ` by rows.

use crate::cancel::check_if_large;
use crate::vector::{axpy, dot};

/// Factors the lower triangle of `a`; false if a pivot is not above `tolerance` times the largest
/// diagonal entry, or not finite. n³/3 operations.
///
/// # References
/// Golub and Van Loan, algorithm 4.2.1.
#[must_use]
pub fn factor(a: &mut [f64], inverse_diagonal: &mut [f64], tolerance: f64) -> bool {
    match inverse_diagonal.len() {
        RIGID => factor_sized(&mut a[..36], &mut inverse_diagonal[..RIGID], tolerance, RIGID),
        n => factor_sized(a, inverse_diagonal, tolerance, n),
    }
}

/// Rows of a rigid body's block, which has code of its own with loops of constant length: the same
/// operations in the same order, several times as fast.
pub(crate) const RIGID: usize = 6;

#[inline(always)]
fn factor_sized(a: &mut [f64], inverse_diagonal: &mut [f64], tolerance: f64, n: usize) -> bool {
    let largest = (0..n).fold(0.0, |most: f64, k| most.max(a[k * n + k]));
    let least = tolerance * largest;
    for k in 0..n {
        check_if_large(n);
        let (done, rest) = a.split_at_mut((k + 1) * n);
        let column = &mut done[k * n + k..];
        // Written so that NaN fails.
        if !(column[0] > least && column[0].is_finite()) {
            return false;
        }
        let root = column[0].sqrt();
        let inverse = 1.0 / root;
        inverse_diagonal[k] = inverse;
        column[0] = root;
        column[1..].iter_mut().for_each(|l| *l *= inverse);
        for (i, target) in rest.chunks_exact_mut(n).enumerate() {
            axpy(-column[i + 1], &column[i + 1..], &mut target[k + 1 + i..]);
        }
    }
    true
}

/// `x ← L⁻¹ x`.
#[inline]
pub fn forward(l: &[f64], inverse_diagonal: &[f64], x: &mut [f64]) {
    match inverse_diagonal.len() {
        RIGID => forward_sized(&l[..36], &inverse_diagonal[..RIGID], &mut x[..RIGID], RIGID),
        n => forward_sized(l, inverse_diagonal, x, n),
    }
}

#[inline(always)]
fn forward_sized(l: &[f64], inverse_diagonal: &[f64], x: &mut [f64], n: usize) {
    for (k, inverse) in inverse_diagonal.iter().enumerate() {
        let (done, rest) = x[..n].split_at_mut(k + 1);
        done[k] *= inverse;
        axpy(-done[k], &l[k * n + k + 1..(k + 1) * n], rest);
    }
}

/// `x ← L⁻ᵀ x`.
#[inline]
pub fn backward(l: &[f64], inverse_diagonal: &[f64], x: &mut [f64]) {
    match inverse_diagonal.len() {
        RIGID => backward_sized(&l[..36], &inverse_diagonal[..RIGID], &mut x[..RIGID], RIGID),
        n => backward_sized(l, inverse_diagonal, x, n),
    }
}

#[inline(always)]
fn backward_sized(l: &[f64], inverse_diagonal: &[f64], x: &mut [f64], n: usize) {
    for (k, inverse) in inverse_diagonal.iter().enumerate().rev() {
        let (head, rest) = x[..n].split_at_mut(k + 1);
        head[k] = (head[k] - dot(&l[k * n + k + 1..(k + 1) * n], rest)) * inverse;
    }
}

/// `X ← X L⁻ᵀ` for X of `rows × n`: the rows of a block below a factored one.
pub fn divide_rows(l: &[f64], inverse_diagonal: &[f64], x: &mut [f64], rows: usize) {
    match (inverse_diagonal.len(), rows) {
        (RIGID, RIGID) => {
            divide_rows_sized(&l[..36], &inverse_diagonal[..RIGID], &mut x[..36], RIGID, RIGID);
        }
        (n, rows) => divide_rows_sized(l, inverse_diagonal, x, rows, n),
    }
}

#[inline(always)]
fn divide_rows_sized(l: &[f64], inverse_diagonal: &[f64], x: &mut [f64], rows: usize, n: usize) {
    for (j, inverse) in inverse_diagonal.iter().enumerate() {
        let (done, rest) = x.split_at_mut(j * rows);
        let column = &mut rest[..rows];
        for (k, earlier) in done.chunks_exact(rows.max(1)).enumerate() {
            axpy(-l[k * n + j], earlier, column);
        }
        column.iter_mut().for_each(|x| *x *= inverse);
    }
}

/// `x ← A⁻¹ x`.
#[inline]
pub fn solve(l: &[f64], inverse_diagonal: &[f64], x: &mut [f64]) {
    forward(l, inverse_diagonal, x);
    backward(l, inverse_diagonal, x);
}

/// The factor of `A + v vᵀ` from that of A, by rotations; v is overwritten. O(n²).
///
/// Sums of squares are never formed, so L is as exact as v however unequal the scales of A and v
/// are.
///
/// # References
/// Golub and Van Loan, section 6.5.4.
pub fn update(l: &mut [f64], inverse_diagonal: &mut [f64], v: &mut [f64]) {
    let n = inverse_diagonal.len();
    for k in 0..n {
        if v[k] == 0.0 {
            continue;
        }
        let column = &mut l[k * n..(k + 1) * n];
        let inverse = 1.0 / (column[k] * column[k] + v[k] * v[k]).sqrt();
        let (c, s) = (column[k] * inverse, v[k] * inverse);
        inverse_diagonal[k] = inverse;
        for (l, v) in column[k..].iter_mut().zip(&mut v[k..]) {
            (*l, *v) = (c * *l + s * *v, c * *v - s * *l);
        }
    }
}
