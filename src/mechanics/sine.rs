//! Sine and cosine of four angles at once, with the bits of `libm::sincos`.
//!
//! The sums are those of FreeBSD's msun (`e_rem_pio2.c`, `k_sin.c`, `k_cos.c`), which `libm` ports,
//! in the same order. An angle is reduced to `x − n π/2 = y₀ + y₁`, |y₀| ≤ π/4, by subtracting
//! `n π/2` in two parts. Where msun would subtract a third part or might choose another `n`, near
//! multiples of π/4, and for |x| ≥ 2²⁰, `libm` itself is called.

use std::f64::consts::FRAC_2_PI;

use crate::quad::{Quad, ZERO};

/// 1.5 · 2⁵²: adding and subtracting it rounds to the nearest whole number.
const TO_WHOLE: f64 = 1.5 / f64::EPSILON;
/// The first 33 bits of π/2, and the rest.
const HALF_PI: f64 = 1.570_796_326_734_125_6;
const HALF_PI_REST: f64 = 6.077_100_506_506_192e-11;
/// msun takes angles below it, the first double beyond π/4 whose lower half is zero, as they are.
const UNREDUCED: f64 = f64::from_bits(0x3fe9_21fc_0000_0000);
/// Remainders up to it have the `n` of msun, which compares the upper halves of doubles alone.
const SURE: f64 = 0.785_38;
/// Smaller remainders, relative to the angle, may need a third part of π/2.
const CANCELLED: f64 = 1.0 / 16384.0;
const LARGE: f64 = 1_048_576.0;

/// Coefficients of the sine: `y + y³ (S₁ + y² (S₂ + …))`.
const SINE: [f64; 6] = [
    -1.666_666_666_666_663_2e-1,
    8.333_333_333_322_49e-3,
    -1.984_126_982_985_795e-4,
    2.755_731_370_707_006_8e-6,
    -2.505_076_025_340_686_4e-8,
    1.589_690_995_211_55e-10,
];
/// Coefficients of the cosine: `1 − y²/2 + y⁴ (C₁ + y² (C₂ + …))`.
const COSINE: [f64; 6] = [
    4.166_666_666_666_66e-2,
    -1.388_888_888_887_411e-3,
    2.480_158_728_947_673e-5,
    -2.755_731_435_139_066_3e-7,
    2.087_572_321_298_175e-9,
    -1.135_964_755_778_819_5e-11,
];

/// Sine and cosine of each angle [rad].
#[inline(always)]
pub(crate) fn sincos(angle: Quad) -> (Quad, Quad) {
    let size = angle.abs();
    let unreduced = size.simd_lt(Quad::splat(UNREDUCED));
    // The whole number of quarter turns n, and what is left.
    let whole = Quad::splat(TO_WHOLE);
    let turns = (angle * Quad::splat(FRAC_2_PI) + whole) - whole;
    let turns = unreduced.select(ZERO, turns);
    let part = angle - turns * Quad::splat(HALF_PI);
    let rest = turns * Quad::splat(HALF_PI_REST);
    let y0 = part - rest;
    let y1 = (part - y0) - rest;
    let left = y0.abs();
    let sure = left.simd_lt(Quad::splat(SURE)) & left.simd_ge(size * Quad::splat(CANCELLED));
    if !((sure | unreduced) & size.simd_lt(Quad::splat(LARGE))).all() {
        return one_by_one(angle);
    }
    let (s, c) = (sine(y0, y1, unreduced), cosine(y0, y1));
    let s = angle.simd_eq(ZERO).select(angle, s);
    // n modulo 4 as one of 0, ±1, ±2: odd turns swap sine and cosine.
    let four = Quad::splat(4.0);
    let turns = turns - four * ((turns * Quad::splat(0.25) + whole) - whole);
    let odd = turns.abs().simd_eq(Quad::ONE);
    let two = turns.abs().simd_eq(Quad::splat(2.0));
    let sign = Quad::splat(-0.0);
    let sine_sign = (two | turns.simd_eq(-Quad::ONE)) & sign;
    let cosine_sign = (two | turns.simd_eq(Quad::ONE)) & sign;
    (odd.select(c, s) ^ sine_sign, odd.select(s, c) ^ cosine_sign)
}

#[cold]
fn one_by_one(angle: Quad) -> (Quad, Quad) {
    let both = angle.to_array().map(libm::sincos);
    (Quad::from(both.map(|(s, _)| s)), Quad::from(both.map(|(_, c)| c)))
}

/// Sine of y₀ + y₁; where the angle was not reduced, msun sums in another order.
#[inline(always)]
fn sine(y0: Quad, y1: Quad, unreduced: Quad) -> Quad {
    let s = |i: usize| Quad::splat(SINE[i - 1]);
    let z = y0 * y0;
    let w = z * z;
    let r = s(2) + z * (s(3) + z * s(4)) + z * w * (s(5) + z * s(6));
    let v = z * y0;
    let plain = y0 + v * (s(1) + z * r);
    let reduced = y0 - ((z * (Quad::HALF * y1 - v * r) - y1) - v * s(1));
    unreduced.select(plain, reduced)
}

/// Cosine of y₀ + y₁.
#[inline(always)]
fn cosine(y0: Quad, y1: Quad) -> Quad {
    let c = |i: usize| Quad::splat(COSINE[i - 1]);
    let z = y0 * y0;
    let w = z * z;
    let r = z * (c(1) + z * (c(2) + z * c(3))) + w * w * (c(4) + z * (c(5) + z * c(6)));
    let half = Quad::HALF * z;
    let w = Quad::ONE - half;
    w + (((Quad::ONE - w) - half) + (z * r - y0 * y1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(angles: [f64; 4]) {
        let (s, c) = sincos(Quad::from(angles));
        for ((x, s), c) in angles.into_iter().zip(s.to_array()).zip(c.to_array()) {
            let expected = libm::sincos(x);
            let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
            assert!(same(s, expected.0) && same(c, expected.1), "{x:e}: {s:e}, {c:e}");
        }
    }

    /// Near the bounds of every branch, and everywhere between.
    #[test]
    fn four_angles_have_the_bits_of_libm() {
        check([0.0, -0.0, f64::NAN, f64::INFINITY]);
        check([0.0, -0.0, f64::MIN_POSITIVE, 1e-300]);
        check([1e300, -1e22, 1_048_575.9, 1_048_576.0]);
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        for round in 0..100_000 {
            let size = 2.0_f64.powi(round % 50 - 28);
            check(std::array::from_fn(|_| size * random()));
            let eighth = f64::from(round % 40 - 20) * std::f64::consts::FRAC_PI_4;
            let close = 2.0_f64.powi(-(round % 56));
            check(std::array::from_fn(|_| eighth * (1.0 + close * random())));
        }
    }
}
