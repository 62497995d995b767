//! The exponential of a matrix, and continuous systems between samples.

use faer::Mat;

use crate::algebra::{Error, expect_finite, expect_shape, identity, part, solve, symmetric};
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

/// Covariance that white noise adds to the state within a period T, if W is its covariance per
/// second in `ẋ = A x + w`:
///
/// ```text
/// W_T = ∫₀ᵀ e^{A τ} W e^{Aᵀ τ} dτ
/// ```
///
/// W and the result are n × n. The exponential of a block matrix gives it for a short time h, and
/// `W_2h = W_h + e^{A h} W_h e^{Aᵀ h}` doubles that, so that fast stable poles do not overflow.
///
/// # Errors
/// If shapes do not fit or the result is not finite.
///
/// # References
/// Van Loan, *Computing integrals involving the matrix exponential* (1978), equation 1.2.
pub fn sampled_noise(a: &Mat<f64>, noise: &Mat<f64>, period: f64) -> Result<Mat<f64>, Error> {
    let n = a.nrows();
    expect_shape("A", a.as_ref(), (n, n))?;
    expect_shape("the covariance of process noise", noise.as_ref(), (n, n))?;
    if n == 0 {
        return Ok(noise.clone());
    }
    let reach = a.norm_l2() * period;
    expect_finite("A", a.as_ref())?;
    let doublings = if reach > 0.5 { libm::ceil(libm::log2(reach / 0.5)) as u32 } else { 0 };
    let h = period * libm::exp2(-f64::from(doublings));
    // exp([−A W; 0 Aᵀ] h) = [… e^{−Ah} W_h; 0 e^{Aᵀh}].
    let joint = Mat::from_fn(2 * n, 2 * n, |i, j| match (i < n, j < n) {
        (true, true) => -a[(i, j)] * h,
        (true, false) => noise[(i, j - n)] * h,
        (false, true) => 0.0,
        (false, false) => a[(j - n, i - n)] * h,
    });
    // A unit of W of its own: the exponential adds W to numbers about one.
    let unit = noise.norm_max() * h;
    if unit == 0.0 {
        return Ok(Mat::zeros(n, n));
    }
    let joint =
        Mat::from_fn(2 * n, 2 * n, |i, j| joint[(i, j)] / if i < n && j >= n { unit } else { 1.0 });
    let power = exponential(&joint)?;
    let mut step = part(&power, n..2 * n, n..2 * n).transpose().to_owned();
    let mut sum = symmetric(&(&step * part(&power, 0..n, n..2 * n)));
    for _ in 0..doublings {
        sum = symmetric(&(&sum + &step * &sum * step.transpose()));
        step = &step * &step;
    }
    let sum = Mat::from_fn(n, n, |i, j| sum[(i, j)] * unit);
    expect_finite("the covariance of a period", sum.as_ref())?;
    Ok(sum)
}
