//! Numbers of a design: weights, covariances and poles of the request, matrices of the result.

use legwork_block::Written;
use legwork_linear::{Mat, c64, sampled_noise};

use super::design::Noise;
use super::reduction::{is_named, unknown};
use super::{Linearization, told};
use crate::error::Error;

/// Diagonal matrix of weights: one for all numbers, or one for each.
pub(super) fn weights(what: &str, given: &[f64], len: usize) -> Result<Mat<f64>, Error> {
    let given = match given {
        [one] => vec![*one; len],
        list if list.len() == len => list.to_vec(),
        list => {
            let message = format!("expected 1 or {len} numbers for `{what}`, found {}", list.len());
            return Err(Error::request(message));
        }
    };
    match given.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
        Some(wrong) => Err(Error::request(format!("expected zero or more, found {wrong}"))),
        None => Ok(Mat::from_fn(len, len, |i, j| if i == j { given[i] } else { 0.0 })),
    }
}

/// Covariance of process noise in a period: for each state, the last entry that names it. For a
/// continuous plant with this A it is the integral over the period.
pub(super) fn process(
    plant: &Linearization,
    noise: &Noise,
    (continuous, period): (Option<&Mat<f64>>, f64),
) -> Result<Mat<f64>, Error> {
    let n = plant.states.len();
    let mut diagonal = vec![0.0; n];
    for (name, covariance) in &noise.process {
        let is_named = |state: &usize| is_named(name, &plant.states[*state].name);
        let named: Vec<usize> = (0..n).filter(is_named).collect();
        if named.is_empty() {
            return Err(unknown(plant, name));
        }
        if !(covariance.is_finite() && *covariance >= 0.0) {
            return Err(Error::request(format!("expected zero or more, found {covariance}")));
        }
        named.iter().for_each(|i| diagonal[*i] = *covariance);
    }
    let of = |scale: f64| Mat::from_fn(n, n, |i, j| if i == j { scale * diagonal[i] } else { 0.0 });
    match continuous {
        Some(a) => sampled_noise(a, &of(1.0), period).map_err(told),
        None => Ok(of(period)),
    }
}

/// Pole s, or z = e^{sT}. Fails if a period T is too long for the pole.
pub(super) fn of_rate(s: c64, period: Option<f64>) -> Result<c64, Error> {
    let Some(period) = period else { return Ok(s) };
    let text = crate::text::seconds(period);
    let fastest = std::f64::consts::PI / period;
    if s.im.abs() > fastest * (1.0 + 1e-12) {
        return Err(Error::request(format!(
            "the pole {} ± {}i turns faster than half the rate of samples: with a period of {text} \
             at most {fastest:.6} rad/s",
            s.re,
            s.im.abs()
        )));
    }
    let radius = (s.re * period).exp();
    if !radius.is_finite() {
        return Err(Error::request(format!(
            "the pole {} grows beyond all numbers within a period of {text}",
            s.re
        )));
    }
    let (sin, cos) = (s.im * period).sin_cos();
    Ok(c64::new(radius * cos, radius * sin))
}

/// A number without a unit.
pub(super) fn number(value: f64) -> Written {
    Written::Number(value, None)
}

/// Rows of a matrix, or one list for a single row or column of a number. An entry below 1e-12 of
/// the largest is a rounding error and written as 0.
pub(super) fn matrix_written(matrix: &Mat<f64>, is_row: bool, is_column: bool) -> Written {
    let nothing = 1e-12 * matrix.norm_max();
    let entry = |i, j| if matrix[(i, j)].abs() < nothing { 0.0 } else { matrix[(i, j)] };
    let row = |i: usize| (0..matrix.ncols()).map(|j| entry(i, j)).collect::<Vec<f64>>();
    if is_row && matrix.nrows() == 1 {
        return Written::list(&row(0));
    }
    if is_column && matrix.ncols() == 1 {
        let column: Vec<f64> = (0..matrix.nrows()).map(|i| entry(i, 0)).collect();
        return Written::list(&column);
    }
    Written::List((0..matrix.nrows()).map(|i| Written::list(&row(i))).collect())
}
