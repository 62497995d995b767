//! Products and norms of vectors of any length.

use crate::lanes::{self, Lanes, load, store};

/// `aᵀ b` in four interleaved partial sums, added in a fixed order.
#[inline]
#[must_use]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
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

/// `Σ w_i x_i²` in sixteen interleaved partial sums, added in a fixed order.
#[inline]
#[must_use]
pub fn weighted_square(x: &[f64], w: &[f64]) -> f64 {
    let ((x, x_rest), (w, w_rest)) = (x.as_chunks::<16>(), w.as_chunks::<16>());
    let mut sums = [Lanes::ZERO; 4];
    for (x, w) in x.iter().zip(w) {
        let fours = x.as_chunks::<4>().0.iter().zip(w.as_chunks::<4>().0);
        for (sum, (x, w)) in sums.iter_mut().zip(fours) {
            let x = Lanes::from(*x);
            *sum += x * x * Lanes::from(*w);
        }
    }
    let tail: f64 = x_rest.iter().zip(w_rest).map(|(x, w)| x * x * w).sum();
    lanes::sum((sums[0] + sums[1]) + (sums[2] + sums[3])) + tail
}

/// `y += alpha x`.
#[inline]
pub fn axpy(alpha: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += alpha * x;
    }
}

/// Largest absolute value; 0 for an empty slice. NaN entries are ignored.
#[inline]
#[must_use]
pub fn max_abs(x: &[f64]) -> f64 {
    // The maximum does not depend on the order, so four may run side by side.
    let chunks = x.chunks_exact(4);
    let tail = chunks.remainder().iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let mut lanes = [0.0f64; 4];
    for chunk in chunks {
        for (lane, v) in lanes.iter_mut().zip(chunk) {
            *lane = if v.abs() > *lane { v.abs() } else { *lane };
        }
    }
    lanes.iter().fold(tail, |m, &v| m.max(v))
}

/// True if every entry is finite.
#[inline]
#[must_use]
pub fn all_finite(x: &[f64]) -> bool {
    // 0 · x is zero for finite entries and NaN otherwise, so no branch per entry is needed; four
    // sums, since each waits for itself.
    let (mut sums, zero) = ([Lanes::ZERO; 4], Lanes::ZERO);
    let (blocks, rest) = x.as_chunks::<16>();
    for block in blocks {
        for (sum, four) in sums.iter_mut().zip(block.as_chunks::<4>().0) {
            *sum += Lanes::from(*four) * zero;
        }
    }
    let (fours, rest) = rest.as_chunks::<4>();
    fours.iter().for_each(|four| sums[0] += Lanes::from(*four) * zero);
    let tail = rest.iter().fold(0.0, |sum, v| sum + v * 0.0);
    lanes::sum((sums[0] + sums[1]) + (sums[2] + sums[3])) + tail == 0.0
}

/// `y = A x` for a column-major `rows × x.len()` matrix.
#[inline]
pub fn matrix_vector(a: &[f64], rows: usize, x: &[f64], y: &mut [f64]) {
    if rows == 0 {
        return;
    }
    // Eight rows at a time stay in registers; each sum runs over the columns in their order.
    let mut done = 0;
    for y in y[..rows].chunks_exact_mut(8) {
        let (mut low, mut high) = (Lanes::ZERO, Lanes::ZERO);
        for (column, &x) in a.chunks_exact(rows).zip(x) {
            let column = &column[done..done + 8];
            let x = Lanes::splat(x);
            low += x * load(column);
            high += x * load(&column[4..]);
        }
        store(low, y);
        store(high, &mut y[4..]);
        done += 8;
    }
    if rows - done >= 4 {
        let mut four = Lanes::ZERO;
        for (column, &x) in a.chunks_exact(rows).zip(x) {
            four += Lanes::splat(x) * load(&column[done..done + 4]);
        }
        store(four, &mut y[done..]);
        done += 4;
    }
    let rest = &mut y[done..rows];
    if rest.is_empty() {
        return;
    }
    rest.fill(0.0);
    for (column, &x) in a.chunks_exact(rows).zip(x) {
        axpy(x, &column[done..], rest);
    }
}

/// `‖A‖₁` of a column-major matrix of so many rows: its largest sum of magnitudes of a column.
#[must_use]
pub fn one_norm(a: &[f64], rows: usize) -> f64 {
    let sum = |column: &[f64]| column.iter().fold(0.0, |sum, a| sum + a.abs());
    a.chunks_exact(rows.max(1)).map(sum).fold(0.0, f64::max)
}

/// The largest magnitude of an entry; NaN if an entry is not finite.
pub(crate) fn largest_entry(a: &[f64]) -> f64 {
    if all_finite(a) { max_abs(a) } else { f64::NAN }
}

/// `(c, s, r)` with `c a + s b = r` and `c b - s a = 0`; `None` if both are zero.
#[inline]
pub(crate) fn givens(a: f64, b: f64) -> Option<(f64, f64, f64)> {
    let r = (a * a + b * b).sqrt();
    (r != 0.0).then(|| (a / r, b / r, r))
}
