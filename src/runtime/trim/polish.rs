//! Levenberg-Marquardt on the map of one period.
//!
//! # References
//! Moré, *The Levenberg-Marquardt algorithm: implementation and theory* (1978); the step from the
//! singular values as in Golub, Van Loan, *Matrix Computations* (2013), section 5.5.

use super::TrimError;
use super::map::{Map, Point};
use legwork_linalg::Svd;

/// Iterations after which the search ends.
const MOST_ITERATIONS: u32 = 60;
/// Dampings that are tried for one iteration.
const MOST_TRIALS: u32 = 16;
/// Step of the central differences, relative to 1 + the unknown. It is small since contact opens:
/// in a step of 0.1 ms free fall closes a gap of no more than 1e-7 m.
const DIFFERENCE: f64 = 2e-8;
/// How much more readily free outputs move than the state, in their units: the state stays about
/// where it was, and the inputs give way.
const READINESS: f64 = 1e3;
/// Iterations beyond the tolerance: the first of them bring the most, by quadratic convergence.
const EXTRA_ITERATIONS: u32 = 3;

/// What came of the search.
pub(super) struct Polished {
    pub(super) point: Point,
    /// Largest rate before and after [1/s].
    pub(super) before: f64,
    pub(super) after: f64,
    pub(super) iterations: u32,
}

/// Seeks a point that stays where it is, near `point`.
///
/// # Errors
/// If the run from `point` itself meets a fault; points that do are not gone to.
pub(super) fn polish(
    map: &mut Map,
    mut point: Point,
    tolerance: f64,
) -> Result<Polished, TrimError> {
    let (rows, columns) = (map.rows(), map.columns());
    let mut residual = vec![0.0; rows];
    map.residual(&point, &mut residual)?;
    let before = largest(&residual);
    let (mut trial, mut step) = (residual.clone(), vec![0.0; columns]);
    let (mut iterations, mut extra) = (0, 0);
    let mut damping = 0.0;
    while iterations < MOST_ITERATIONS && extra <= EXTRA_ITERATIONS && largest(&residual) > 0.0 {
        extra += u32::from(largest(&residual) <= tolerance);
        let magnitude = map.magnitude(&point);
        let mut matrix = jacobian(map, &point, &residual, &magnitude);
        matrix[rows * rows..].iter_mut().for_each(|slope| *slope *= READINESS);
        let svd = Svd::new(rows, columns, matrix);
        let cut = noise(&magnitude, rows, map.length).max(1e-13 * svd.largest());
        let mut accepted = None;
        for _ in 0..MOST_TRIALS {
            svd.step(&residual, damping, cut, &mut step);
            step[rows..].iter_mut().for_each(|step| *step *= READINESS);
            limit(&mut step, &magnitude);
            let candidate = map.displaced(&point, &step);
            if map.residual(&candidate, &mut trial).is_ok() && norm(&trial) < norm(&residual) {
                accepted = Some(candidate);
                break;
            }
            damping = (10.0 * damping).max(1e-6 * svd.largest());
        }
        let Some(candidate) = accepted else { break };
        point = candidate;
        std::mem::swap(&mut residual, &mut trial);
        damping = if damping < 1e-5 * svd.largest() { 0.0 } else { 0.1 * damping };
        iterations += 1;
    }
    Ok(Polished { point, before, after: largest(&residual), iterations })
}

/// ∂residual/∂unknown by central differences, column by column. Where one side meets a fault the
/// other counts; where both do the unknown stays as it is.
fn jacobian(map: &mut Map, point: &Point, residual: &[f64], magnitude: &[f64]) -> Vec<f64> {
    let (rows, columns) = (residual.len(), magnitude.len());
    let mut matrix = vec![0.0; rows * columns];
    let (mut above, mut below) = (vec![0.0; rows], vec![0.0; rows]);
    let mut delta = vec![0.0; columns];
    for (j, column) in matrix.chunks_exact_mut(rows.max(1)).enumerate() {
        let h = DIFFERENCE * (1.0 + magnitude[j]);
        let mut at = |delta_j: f64, out: &mut Vec<f64>| {
            delta[j] = delta_j;
            let moved = map.displaced(point, &delta);
            delta[j] = 0.0;
            if map.residual(&moved, out).is_ok() {
                return delta_j;
            }
            out.copy_from_slice(residual);
            0.0
        };
        let width = at(h, &mut above) - at(-h, &mut below);
        if width > 0.0 {
            for (slope, (a, b)) in column.iter_mut().zip(above.iter().zip(&below)) {
                *slope = (a - b) / width;
            }
        }
    }
    matrix
}

/// Singular values below this are rounding: the state's last digit, over a period and a difference.
fn noise(magnitude: &[f64], rows: usize, period: f64) -> f64 {
    let size = 1.0 + largest(magnitude);
    f64::EPSILON * size * (rows as f64).sqrt() / (period * DIFFERENCE)
}

/// Shortens a step that goes farther than an unknown is large.
fn limit(step: &mut [f64], magnitude: &[f64]) {
    let farthest = step.iter().zip(magnitude).map(|(step, size)| step.abs() / (1.0 + size));
    let farthest = farthest.fold(0.0, f64::max);
    if farthest > 1.0 {
        step.iter_mut().for_each(|step| *step /= farthest);
    }
}

/// The largest magnitude.
pub(super) fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().fold(0.0, |most: f64, number| most.max(number.abs()))
}

fn norm(numbers: &[f64]) -> f64 {
    numbers.iter().map(|number| number * number).sum::<f64>().sqrt()
}
