//! The exponential of a matrix, and continuous systems between samples.

use faer::Mat;

use crate::algebra::{Error, expect_finite, identity, part, solve};
use crate::system::System;

/// Coefficients of the diagonal Padé approximant of degree 13.
const PADE: [f64; 14] = [
    64_764_752_532_480_000.0,
    32_382_376_266_240_000.0,
    7_771_770_303_897_600.0,
    1_187_353_796_428_800.0,
    129_060_195_264_000.0,
    10_559_470_521_600.0,
    670_442_572_800.0,
    33_522_128_640.0,
    1_323_241_920.0,
    40_840_800.0,
    960_960.0,
    16_380.0,
    182.0,
    1.0,
];

/// Norm up to which that approximant is exact to rounding.
const LARGEST_NORM: f64 = 5.371_920_351_148_152;

/// `e^A` by scaling, a Padé approximant of degree 13, and squaring.
///
/// # Errors
/// If the result is not finite.
///
/// # References
/// Higham, *The scaling and squaring method for the matrix exponential revisited* (2005).
pub fn exponential(a: &Mat<f64>) -> Result<Mat<f64>, Error> {
    let n = a.nrows();
    expect_finite("the matrix", a.as_ref())?;
    let norm = (0..n).map(|j| (0..n).map(|i| a[(i, j)].abs()).sum::<f64>()).fold(0.0, f64::max);
    let squarings =
        if norm > LARGEST_NORM { libm::ceil(libm::log2(norm / LARGEST_NORM)) as i32 } else { 0 };
    let scale = libm::exp2(-f64::from(squarings));
    let a = Mat::from_fn(n, n, |i, j| a[(i, j)] * scale);
    let a2 = &a * &a;
    let a4 = &a2 * &a2;
    let a6 = &a4 * &a2;
    let sum = |k: [f64; 4], with_one: bool| {
        Mat::from_fn(n, n, |i, j| {
            let one = if i == j && with_one { k[0] } else { 0.0 };
            one + k[1] * a2[(i, j)] + k[2] * a4[(i, j)] + k[3] * a6[(i, j)]
        })
    };
    let odd = &a6 * sum([0.0, PADE[9], PADE[11], PADE[13]], false)
        + sum([PADE[1], PADE[3], PADE[5], PADE[7]], true);
    let odd = &a * odd;
    let even = &a6 * sum([0.0, PADE[8], PADE[10], PADE[12]], false)
        + sum([PADE[0], PADE[2], PADE[4], PADE[6]], true);
    let mut power = solve(&(&even - &odd), &(&even + &odd)).ok_or(Error::NotFinite("e^A"))?;
    for _ in 0..squarings {
        power = &power * &power;
    }
    expect_finite("e^A", power.as_ref())?;
    Ok(power)
}

/// A continuous system seen every `period` [s], with inputs that hold in between:
/// `[A B; 0 1] = exp([A B; 0 0] T)`.
///
/// # Errors
/// If the system is sampled already, or the exponential is not finite.
pub fn sampled(system: &System, period: f64) -> Result<System, Error> {
    if system.period.is_some() {
        return Err(Error::Request("expected a continuous system".to_owned()));
    }
    let (n, m) = (system.states(), system.inputs());
    let joint = Mat::from_fn(n + m, n + m, |i, j| match (i < n, j < n) {
        (true, true) => system.a[(i, j)] * period,
        (true, false) => system.b[(i, j - n)] * period,
        _ => 0.0,
    });
    let power = if n == 0 { identity(m) } else { exponential(&joint)? };
    let (a, b) = (part(&power, 0..n, 0..n), part(&power, 0..n, n..n + m));
    System::new(a, b, system.c.clone(), system.d.clone(), Some(period))
}
