//! Lyapunov and Stein equations, by doubling.

use faer::Mat;

use crate::algebra::{Error, eigenvalues, identity, solve, solve_right, symmetric};
use crate::system::System;

/// Doublings after which a series that has not settled does not converge.
const MOST_DOUBLINGS: u32 = 60;

/// `X = Aᵀ X A + Q` for A with eigenvalues inside the unit circle: `X = Σ (Aᵀ)ᵏ Q Aᵏ`, whose terms
/// are doubled at each step (Smith 1968).
pub(crate) fn stein(a: &Mat<f64>, q: &Mat<f64>) -> Result<Mat<f64>, Error> {
    let (mut x, mut power) = (symmetric(q), a.clone());
    for _ in 0..MOST_DOUBLINGS {
        let more = power.transpose() * &x * &power;
        x = symmetric(&(&x + &more));
        if !x.is_all_finite() {
            break;
        }
        if more.norm_max() <= 0.5 * f64::EPSILON * x.norm_max() {
            return Ok(x);
        }
        power = &power * &power;
    }
    Err(Error::NoSolution("the motion does not die out: the series does not converge".to_owned()))
}

/// `Aᵀ X + X A + Q = 0` for A with eigenvalues in the left half plane: a Cayley transformation with
/// the shift γ makes it a Stein equation of `S = (A − γ)⁻¹ (A + γ)` and
/// `2γ (A − γ)⁻ᵀ Q (A − γ)⁻¹`.
pub(crate) fn lyapunov(a: &Mat<f64>, q: &Mat<f64>) -> Result<Mat<f64>, Error> {
    let shift = shift(a)?;
    let n = a.nrows();
    let less = Mat::from_fn(n, n, |i, j| a[(i, j)] - if i == j { shift } else { 0.0 });
    let more = Mat::from_fn(n, n, |i, j| a[(i, j)] + if i == j { shift } else { 0.0 });
    let singular = || Error::NoSolution("the shifted matrix is singular".to_owned());
    let turned = solve(&less, &more).ok_or_else(singular)?;
    let half = solve_right(q, &less).ok_or_else(singular)?;
    let weight = solve(&less.transpose().to_owned(), &half).ok_or_else(singular)?;
    let weight = Mat::from_fn(n, n, |i, j| 2.0 * shift * weight[(i, j)]);
    stein(&turned, &weight)
}

/// The shift of least contraction for real eigenvalues: the geometric mean of the slowest rate and
/// the largest magnitude.
fn shift(a: &Mat<f64>) -> Result<f64, Error> {
    let values = eigenvalues(a.as_ref())?;
    let slowest = values.iter().map(|z| -z.re).fold(f64::INFINITY, f64::min);
    let largest = values.iter().map(|z| libm::hypot(z.re, z.im)).fold(0.0, f64::max);
    if slowest <= 0.0 {
        let pole = values.iter().map(|z| z.re).fold(f64::NEG_INFINITY, f64::max);
        let message = format!("the motion does not die out: a pole has the real part {pole:.3e}");
        return Err(Error::NoSolution(message));
    }
    match values.is_empty() {
        true => Ok(1.0),
        false => Ok((slowest * largest).sqrt()),
    }
}

/// The controllability Gramian of a stable system: `A W + W Aᵀ + B Bᵀ = 0`, or
/// `W = A W Aᵀ + B Bᵀ`. That of [`System::dual`] is the observability Gramian.
///
/// # Errors
/// If the system is not stable.
pub fn gramian(system: &System) -> Result<Mat<f64>, Error> {
    let transposed = system.a.transpose().to_owned();
    let weight = &system.b * system.b.transpose();
    if system.states() == 0 {
        return Ok(identity(0));
    }
    match system.period {
        None => lyapunov(&transposed, &weight),
        Some(_) => stein(&transposed, &weight),
    }
}
