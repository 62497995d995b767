//! Four numbers at once, for loops that are too short for the compiler to vectorise.
//!
//! Each lane is computed by the same operations in the same order on every machine: only sums,
//! differences, products and quotients, never fused, never summed across by the library.

/// Four numbers.
pub(crate) type Lanes = wide::f64x4;

/// How many.
pub(crate) const LANES: usize = 4;

/// The next multiple of [`LANES`].
#[inline]
pub(crate) fn padded(n: usize) -> usize {
    n.div_ceil(LANES) * LANES
}

/// The first four of `x`.
#[inline(always)]
pub(crate) fn load(x: &[f64]) -> Lanes {
    Lanes::new([x[0], x[1], x[2], x[3]])
}

/// Writes to the first four of `x`.
#[inline(always)]
pub(crate) fn store(value: Lanes, x: &mut [f64]) {
    x[..LANES].copy_from_slice(&value.to_array());
}

/// The sum of the four, in a fixed order.
#[inline(always)]
pub(crate) fn sum(value: Lanes) -> f64 {
    let [a, b, c, d] = value.to_array();
    (a + c) + (b + d)
}
