//! Least squares between bounds, by Levenberg-Marquardt.
//!
//! Coordinates run from 0 to 1. A coordinate at a bound that the step would leave stays there, and
//! the step is that of the others.
//!
//! # References
//! Moré, *The Levenberg-Marquardt algorithm: implementation and theory* (1978); Kanzow, Yamashita,
//! Fukushima, *Levenberg-Marquardt methods for constrained nonlinear equations* (2004).

use legwork_linalg::Svd;
use legwork_linear::{Mat, pseudoinverse, rank};

/// Step of central differences, to begin with and at its end: where no step along their gradient is
/// better, they are taken closer together, until they are that close.
const DIFFERENCE: f64 = 1e-3;
const LEAST_DIFFERENCE: f64 = 1e-6;
/// A step so short ends the search.
const SHORTEST: f64 = 1e-7;
/// Dampings that are tried in one iteration.
const MOST_TRIALS: u32 = 12;

/// Runs several points; nothing for one that faults.
pub(super) type Evaluate<'a> = dyn Fn(Vec<Vec<f64>>) -> Vec<Option<Vec<f64>>> + 'a;

/// Where a search ended.
pub(super) struct Outcome {
    pub(super) point: Vec<f64>,
    pub(super) residual: Vec<f64>,
    /// Standard errors of the point.
    pub(super) errors: Vec<Option<f64>>,
    pub(super) iterations: u32,
    pub(super) runs: u32,
    pub(super) converged: bool,
}

/// Seeks the least sum of squares from `point`, where the residual is `residual`.
pub(super) fn search(
    mut point: Vec<f64>,
    mut residual: Vec<f64>,
    most: u32,
    evaluate: &Evaluate<'_>,
) -> Outcome {
    let (mut runs, mut iterations, mut converged) = (1, 0, false);
    let mut damping = None;
    let mut difference = DIFFERENCE;
    let mut matrix = jacobian(&point, &residual, difference, evaluate, &mut runs);
    while iterations < most && !converged {
        iterations += 1;
        let free = free(&point, &residual, &matrix);
        let rows = residual.len();
        let columns: Vec<f64> =
            free.iter().flat_map(|j| matrix[j * rows..(j + 1) * rows].iter().copied()).collect();
        let svd = Svd::new(rows, free.len(), columns);
        let mut lambda = damping.unwrap_or(1e-3 * svd.largest());
        let mut accepted = None;
        for _ in 0..MOST_TRIALS {
            let mut step = vec![0.0; free.len()];
            svd.step(&residual, lambda, 1e-10 * svd.largest(), &mut step);
            let mut trial = point.clone();
            free.iter().zip(&step).for_each(|(j, d)| trial[*j] = (trial[*j] + d).clamp(0.0, 1.0));
            let length = trial.iter().zip(&point).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            if length <= SHORTEST {
                break;
            }
            runs += 1;
            let found = evaluate(vec![trial.clone()]).pop().flatten();
            match found {
                Some(found) if square(&found) < square(&residual) => {
                    accepted = Some((trial, found));
                    break;
                }
                _ => lambda = (4.0 * lambda).max(1e-6 * svd.largest()),
            }
        }
        let Some((trial, found)) = accepted else {
            // No shorter step is better: this is the least, as far as these differences can tell.
            difference *= 0.1;
            if difference < 0.5 * LEAST_DIFFERENCE {
                converged = true;
                break;
            }
            matrix = jacobian(&point, &residual, difference, evaluate, &mut runs);
            damping = None;
            continue;
        };
        let gain = 1.0 - square(&found) / square(&residual);
        (point, residual) = (trial, found);
        matrix = jacobian(&point, &residual, difference, evaluate, &mut runs);
        converged = gain < 1e-10 || square(&residual) == 0.0;
        damping = Some(0.25 * lambda);
    }
    let errors = errors(&residual, &matrix, point.len());
    Outcome { point, residual, errors, iterations, runs, converged }
}

fn square(numbers: &[f64]) -> f64 {
    numbers.iter().map(|x| x * x).sum()
}

/// Coordinates that the gradient does not push out of the bounds.
fn free(point: &[f64], residual: &[f64], matrix: &[f64]) -> Vec<usize> {
    let rows = residual.len();
    let pushes_out = |j: &usize| {
        let column = &matrix[j * rows..(j + 1) * rows];
        let slope: f64 = column.iter().zip(residual).map(|(a, r)| a * r).sum();
        (point[*j] <= 0.0 && slope > 0.0) || (point[*j] >= 1.0 && slope < 0.0)
    };
    (0..point.len()).filter(|j| !pushes_out(j)).collect()
}

/// Columns of the derivative, by central differences inside the bounds; a side that faults counts
/// as the point itself.
fn jacobian(
    point: &[f64],
    residual: &[f64],
    difference: f64,
    evaluate: &Evaluate<'_>,
    runs: &mut u32,
) -> Vec<f64> {
    let mut points = Vec::new();
    let mut widths = Vec::new();
    for j in 0..point.len() {
        let above = (point[j] + difference).min(1.0);
        let below = (point[j] - difference).max(0.0);
        for value in [above, below] {
            let mut moved = point.to_vec();
            moved[j] = value;
            points.push(moved);
        }
        widths.push((above - point[j], point[j] - below));
    }
    *runs += points.len() as u32;
    let found = evaluate(points);
    let mut out = Vec::with_capacity(point.len() * residual.len());
    for (pair, (up, down)) in found.chunks(2).zip(widths) {
        let side = |found: &Option<Vec<f64>>, width: f64| match found {
            Some(found) => (found.clone(), width),
            None => (residual.to_vec(), 0.0),
        };
        let ((above, up), (below, down)) = (side(&pair[0], up), side(&pair[1], down));
        let width = up + down;
        let slope = |(a, b): (&f64, &f64)| if width > 0.0 { (a - b) / width } else { 0.0 };
        out.extend(above.iter().zip(&below).map(slope));
    }
    out
}

/// Standard errors: roots of the diagonal of `s² (JᵀJ)⁻¹`, if J tells all coordinates apart.
fn errors(residual: &[f64], matrix: &[f64], columns: usize) -> Vec<Option<f64>> {
    let rows = residual.len();
    let none = vec![None; columns];
    if rows <= columns {
        return none;
    }
    let column = |j: usize| &matrix[j * rows..(j + 1) * rows];
    let normal = Mat::from_fn(columns, columns, |i, j| {
        column(i).iter().zip(column(j)).map(|(a, b)| a * b).sum::<f64>()
    });
    let rounding = f64::EPSILON * normal.nrows() as f64;
    let found = pseudoinverse(&normal, rounding);
    let (Ok(found), Ok(rank)) = (found, rank(&normal, 1e-12)) else { return none };
    if rank < columns {
        return none;
    }
    let variance = square(residual) / (rows - columns) as f64;
    (0..columns).map(|j| Some((variance * found[(j, j)]).sqrt())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// a e^{−b t} of exact samples.
    fn decay(point: &[f64]) -> Vec<f64> {
        let value = |a: f64, b: f64, t: f64| 3.0 * a * (-4.0 * b * t).exp();
        let times = (0..40).map(|i| 0.05 * f64::from(i));
        times.map(|t| value(point[0], point[1], t) - value(0.7, 0.2, t)).collect()
    }

    fn found(start: [f64; 2], residual: impl Fn(&[f64]) -> Vec<f64>) -> Outcome {
        let evaluate = |points: Vec<Vec<f64>>| -> Vec<Option<Vec<f64>>> {
            points.iter().map(|point| Some(residual(point))).collect()
        };
        let first = residual(&start);
        search(start.to_vec(), first, 50, &evaluate)
    }

    #[test]
    fn exact_samples_give_the_parameters_back() {
        let outcome = found([0.1, 0.9], decay);
        assert!(outcome.converged);
        assert!((outcome.point[0] - 0.7).abs() < 1e-7, "{:?}", outcome.point);
        assert!((outcome.point[1] - 0.2).abs() < 1e-7, "{:?}", outcome.point);
    }

    #[test]
    fn a_minimum_outside_is_met_at_the_bound() {
        let outcome = found([0.5, 0.5], |x| vec![x[0] - 1.4, 2.0 * (x[1] - 0.3)]);
        assert_eq!(outcome.point[0], 1.0);
        assert!((outcome.point[1] - 0.3).abs() < 1e-6, "{:?}", outcome.point);
    }

    #[test]
    fn what_cannot_be_told_apart_has_no_error() {
        let outcome = found([0.5, 0.5], |x| (0..9).map(|_| x[0] + x[1] - 0.6).collect());
        assert_eq!(outcome.errors, [None, None]);
        assert!((outcome.point[0] + outcome.point[1] - 0.6).abs() < 1e-6);
    }
}
