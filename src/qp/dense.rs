//! The few dense kernels that the solvers share, on column-major slices.
//!
//! The order of every sum is fixed by the code, so results do not depend on the machine.

/// `aᵀ b` in four interleaved partial sums, added in a fixed order.
#[inline]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a4, b4) = (a.chunks_exact(4), b.chunks_exact(4));
    let tail: f64 = a4.remainder().iter().zip(b4.remainder()).map(|(x, y)| x * y).sum();
    let mut sums = [0.0; 4];
    for (x, y) in a4.zip(b4) {
        for lane in 0..4 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + tail
}

/// `y += alpha x`.
#[inline]
pub(crate) fn axpy(alpha: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += alpha * x;
    }
}

/// Largest absolute value; 0 for an empty slice. NaN entries are ignored.
#[inline]
pub(crate) fn max_abs(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m: f64, v| m.max(v.abs()))
}

/// True if every entry is finite.
#[inline]
pub(crate) fn all_finite(x: &[f64]) -> bool {
    // 0 · x is zero for finite entries and NaN otherwise, so no branch per entry is needed.
    x.iter().fold(0.0, |sum, v| sum + v * 0.0) == 0.0
}

/// `y = A x` for a column-major `rows × x.len()` matrix.
#[inline]
pub(crate) fn matrix_vector(a: &[f64], rows: usize, x: &[f64], y: &mut [f64]) {
    y.fill(0.0);
    if rows == 0 {
        return;
    }
    for (column, &x) in a.chunks_exact(rows).zip(x) {
        axpy(x, column, y);
    }
}
