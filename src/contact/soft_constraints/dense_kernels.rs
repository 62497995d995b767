//! Kernels of [`super::block_cholesky`] on dense blocks, column-major.
//!
//! Blocks of free bodies, which have six velocities, have separate versions with loops of constant
//! length: the same operations in the same order, several times as fast.

/// Velocities of a free body.
const FREE: usize = 6;

/// `x ← L⁻¹ x`.
pub(super) fn forward(l: &[f64], n: usize, x: &mut [f64]) {
    if n == FREE {
        forward_sized(&l[..FREE * FREE], FREE, &mut x[..FREE]);
    } else {
        forward_sized(l, n, x);
    }
}

#[inline(always)]
fn forward_sized(l: &[f64], n: usize, x: &mut [f64]) {
    for j in 0..n {
        x[j] /= l[j * n + j];
        let value = x[j];
        for i in j + 1..n {
            x[i] -= l[j * n + i] * value;
        }
    }
}

/// `x ← L⁻ᵀ x`.
pub(super) fn backward(l: &[f64], n: usize, x: &mut [f64]) {
    if n == FREE {
        backward_sized(&l[..FREE * FREE], FREE, &mut x[..FREE]);
    } else {
        backward_sized(l, n, x);
    }
}

#[inline(always)]
fn backward_sized(l: &[f64], n: usize, x: &mut [f64]) {
    for j in (0..n).rev() {
        let mut value = x[j];
        for i in j + 1..n {
            value -= l[j * n + i] * x[i];
        }
        x[j] = value / l[j * n + j];
    }
}

/// `y ← y - A x` for A of `y.len() × n`.
pub(super) fn subtract_times(a: &[f64], n: usize, x: &[f64], y: &mut [f64]) {
    if n == FREE && y.len() == FREE {
        subtract_times_sized(&a[..FREE * FREE], &x[..FREE], &mut y[..FREE], FREE);
    } else {
        let rows = y.len();
        subtract_times_sized(a, x, y, rows);
    }
}

#[inline(always)]
fn subtract_times_sized(a: &[f64], x: &[f64], y: &mut [f64], rows: usize) {
    for (column, x) in a.chunks_exact(rows.max(1)).zip(x) {
        for (y, a) in y.iter_mut().zip(column) {
            *y -= a * x;
        }
    }
}

/// `y ← y - Aᵀ x` for A of `x.len() × n`.
pub(super) fn subtract_transposed_times(a: &[f64], n: usize, x: &[f64], y: &mut [f64]) {
    if n == FREE && x.len() == FREE {
        subtract_transposed_sized(&a[..FREE * FREE], &x[..FREE], &mut y[..FREE], FREE);
    } else {
        subtract_transposed_sized(a, x, y, x.len());
    }
}

#[inline(always)]
fn subtract_transposed_sized(a: &[f64], x: &[f64], y: &mut [f64], rows: usize) {
    for (column, y) in a.chunks_exact(rows.max(1)).zip(y) {
        *y -= column.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
    }
}

/// Lower Cholesky factor in place, column by column; the upper triangle does not change.
pub(super) fn factor_dense(a: &mut [f64], n: usize) -> Option<()> {
    if n == FREE { factor_sized(&mut a[..FREE * FREE], FREE) } else { factor_sized(a, n) }
}

#[inline(always)]
fn factor_sized(a: &mut [f64], n: usize) -> Option<()> {
    for j in 0..n {
        let (done, rest) = a.split_at_mut(j * n);
        let column = &mut rest[..n];
        for earlier in done.chunks_exact(n) {
            let factor = earlier[j];
            for (value, l) in column[j..].iter_mut().zip(&earlier[j..]) {
                *value -= factor * l;
            }
        }
        let pivot = column[j];
        if !(pivot > 0.0 && pivot.is_finite()) {
            return None;
        }
        let root = pivot.sqrt();
        column[j] = root;
        let inverse = 1.0 / root;
        for value in &mut column[j + 1..] {
            *value *= inverse;
        }
    }
    Some(())
}

/// `X ← X L⁻ᵀ` for X of `rows × n`.
pub(super) fn solve_right(l: &[f64], n: usize, x: &mut [f64], rows: usize) {
    if n == FREE && rows == FREE {
        solve_right_sized(&l[..FREE * FREE], FREE, &mut x[..FREE * FREE], FREE);
    } else {
        solve_right_sized(l, n, x, rows);
    }
}

#[inline(always)]
fn solve_right_sized(l: &[f64], n: usize, x: &mut [f64], rows: usize) {
    for j in 0..n {
        let (done, rest) = x.split_at_mut(j * rows);
        let column = &mut rest[..rows];
        for (k, earlier) in done.chunks_exact(rows).enumerate() {
            let factor = l[k * n + j];
            for (value, e) in column.iter_mut().zip(earlier) {
                *value -= factor * e;
            }
        }
        let inverse = 1.0 / l[j * n + j];
        for value in column {
            *value *= inverse;
        }
    }
}

/// `C ← C - A Bᵀ` for A of `rows × n`, B of `columns × n`; of a square one the lower triangle only.
pub(super) fn subtract_product(
    a: &[f64],
    rows: usize,
    b: &[f64],
    columns: usize,
    n: usize,
    is_lower: bool,
    c: &mut [f64],
) {
    if rows == FREE && columns == FREE && n == FREE {
        let (a, b, c) = (&a[..FREE * FREE], &b[..FREE * FREE], &mut c[..FREE * FREE]);
        subtract_product_sized(a, FREE, b, FREE, FREE, is_lower, c);
    } else {
        subtract_product_sized(a, rows, b, columns, n, is_lower, c);
    }
}

#[inline(always)]
fn subtract_product_sized(
    a: &[f64],
    rows: usize,
    b: &[f64],
    columns: usize,
    n: usize,
    is_lower: bool,
    c: &mut [f64],
) {
    for j in 0..columns {
        let from = if is_lower { j } else { 0 };
        let column = &mut c[j * rows + from..(j + 1) * rows];
        for k in 0..n {
            let factor = b[k * columns + j];
            for (value, a) in column.iter_mut().zip(&a[k * rows + from..(k + 1) * rows]) {
                *value -= a * factor;
            }
        }
    }
}
