//! Four numbers at once, for loops that are too short for the compiler to vectorise.
//!
//! Each lane is computed by the same operations in the same order on every machine: only sums,
//! differences, products and quotients, never fused, never summed across by the library.

/// Four numbers.
pub type Lanes = wide::f64x4;

/// How many.
pub const LANES: usize = 4;

/// The next multiple of [`LANES`].
#[inline]
#[must_use]
pub fn padded(n: usize) -> usize {
    n.div_ceil(LANES) * LANES
}

/// The first four of `x`.
#[inline(always)]
#[must_use]
pub fn load(x: &[f64]) -> Lanes {
    Lanes::new([x[0], x[1], x[2], x[3]])
}

/// Writes to the first four of `x`.
#[inline(always)]
pub fn store(value: Lanes, x: &mut [f64]) {
    x[..LANES].copy_from_slice(&value.to_array());
}

/// The sum of the four, in a fixed order.
#[inline(always)]
#[must_use]
pub fn sum(value: Lanes) -> f64 {
    let [a, b, c, d] = value.to_array();
    (a + c) + (b + d)
}

/// `y += alpha x` for lengths that are multiples of [`LANES`].
#[inline(always)]
pub fn axpy(alpha: f64, x: &[f64], y: &mut [f64]) {
    let alpha = Lanes::splat(alpha);
    for (y, x) in y.as_chunks_mut::<LANES>().0.iter_mut().zip(x.as_chunks::<LANES>().0) {
        *y = (Lanes::from(*y) + alpha * Lanes::from(*x)).to_array();
    }
}

/// `aᵀ b` for lengths that are multiples of [`LANES`].
#[inline(always)]
#[must_use]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut total = Lanes::ZERO;
    for (a, b) in a.chunks_exact(LANES).zip(b.chunks_exact(LANES)) {
        total += load(a) * load(b);
    }
    sum(total)
}

/// `(x, y) ← (c x + s y, c y - s x)` for lengths that are multiples of [`LANES`].
#[inline(always)]
pub fn rotate(x: &mut [f64], y: &mut [f64], c: f64, s: f64) {
    let (c, s) = (Lanes::splat(c), Lanes::splat(s));
    for (x, y) in x.chunks_exact_mut(LANES).zip(y.chunks_exact_mut(LANES)) {
        let (a, b) = (load(x), load(y));
        store(c * a + s * b, x);
        store(c * b - s * a, y);
    }
}
