//! The judge of cone programs: residuals of an answer, and of the two certificates that there is
//! none.

use crate::cone_program::{ConeProgram, project_second_order, second_order_violation};
use crate::kkt::{self, Measure, QpResiduals, nan_max};
use crate::units::units_into;
use legwork_linalg::{dot, matrix_vector, max_abs};

/// Multipliers of a [`ConeProgram`]: `Hx + g = Aᵀy + z + Cᵀw` with `w_j ∈ Q` and `w_jᵀ t_j = 0`.
///
/// y and z are positive where a lower bound holds the solution, negative where an upper one does.
#[derive(Clone, Copy, Debug)]
pub struct ConeMultipliers<'a> {
    /// y, one per linear row.
    pub rows: &'a [f64],
    /// z, one per unknown.
    pub bounds: &'a [f64],
    /// w, one per cone row.
    pub cones: &'a [f64],
}

/// All residuals of `x` and `multipliers` in `program`, each relative as [`QpResiduals`] says.
///
/// A second-order block counts under `primal` with its violation over ξ times its largest row norm
/// plus its offset, under `dual` with the violation of w_j, and under `complementarity` with
/// `w_jᵀ t_j`. Allocates.
///
/// # Panics
/// If a slice has the wrong length.
#[must_use]
pub fn cone_residuals(
    program: &ConeProgram<'_>,
    x: &[f64],
    multipliers: ConeMultipliers<'_>,
) -> QpResiduals {
    let (n, m, r) = (program.dim(), program.row_count(), program.cone_row_count());
    let ConeMultipliers { rows: y, bounds: z, cones: w } = multipliers;
    assert_eq!((x.len(), y.len(), z.len(), w.len()), (n, m, n, r), "x, y, z, w need n, m, n, r");
    let qp = &program.linear;

    let mut units = vec![0.0; n];
    units_into(qp, &mut units);
    let mut image = vec![0.0; n];
    matrix_vector(qp.hessian, n, x, &mut image);
    let mut measure = Measure::default();
    for (i, curved) in image.iter().enumerate() {
        let by_rows = dot(&qp.rows[i * m..(i + 1) * m], y) + z[i];
        let press = by_rows + dot(&program.cone_rows[i * r..(i + 1) * r], w);
        measure.add(units[i], x[i], qp.hessian[i * n + i], *curved, qp.gradient[i], press);
    }
    measure.end(qp, &units);

    // Rows and bounds: how far outside, and the product of distance and multiplier.
    let mut products = vec![0.0; m];
    matrix_vector(qp.rows, m, x, &mut products);
    for (row, &value) in products.iter().enumerate() {
        measure.pair(value, qp.row_bounds_of(row), y[row], &|| kkt::row_norm(qp, &units, row));
    }
    for (i, &value) in x.iter().enumerate() {
        measure.pair(value, qp.bounds_of(i), z[i], &|| units[i]);
    }

    // Cones: the same for each block.
    for block in program.blocks() {
        let t: Vec<f64> = block.clone().map(|row| program.cone_value(row, x)).collect();
        let w = &w[block.clone()];
        let norm = cone_norm(program, &units, block.clone());
        let size = measure.reach * norm + max_abs(&program.cone_offset[block]);
        let size = if size > 0.0 { size } else { 1.0 };
        measure.primal = nan_max(measure.primal, second_order_violation(&t) / size);
        measure.dual = nan_max(measure.dual, second_order_violation(w) * norm);
        measure.product = nan_max(measure.product, dot(&t, w).abs());
    }
    measure.residuals()
}

/// Largest norm `‖c D‖` of the rows of a block.
fn cone_norm(program: &ConeProgram<'_>, units: &[f64], block: std::ops::Range<usize>) -> f64 {
    let r = program.cone_row_count();
    let norm = |row: usize| {
        let entries = program.cone_rows.iter().skip(row).step_by(r);
        entries.zip(units).map(|(c, d)| c * d).map(|c| c * c).sum::<f64>().sqrt()
    };
    block.map(norm).fold(0.0, f64::max)
}

/// What multipliers prove about infeasibility: every point that satisfies all constraints has
/// `|x|₁` of at least the returned radius. 0 if they prove nothing, ∞ if there is no point at all.
///
/// For feasible x and multipliers of the right signs
/// `(Aᵀy + z + Cᵀw)ᵀx ≥ Σ_{y>0} y l + Σ_{y<0} y u + Σ_{z>0} z x_l + Σ_{z<0} z x_u - wᵀc =: β`.
/// So β > 0 refutes every x with `|x|₁ |Aᵀy + z + Cᵀw|∞ < β` (Farkas). Multipliers on infinite
/// bounds are dropped and w is projected on its cones first, hence any input proves what it says,
/// up to rounding in β: a β below rounding of its terms counts as 0. Contradictory bounds
/// `l > u` need no multipliers. Allocates.
///
/// # Panics
/// If a slice has the wrong length.
#[must_use]
pub fn infeasible_radius(program: &ConeProgram<'_>, multipliers: ConeMultipliers<'_>) -> f64 {
    weighted_radius(program, multipliers, &[])
}

/// [`infeasible_radius`] for the unknowns `x_i / columns_i`; empty `columns` are all 1.
pub(crate) fn weighted_radius(
    program: &ConeProgram<'_>,
    multipliers: ConeMultipliers<'_>,
    columns: &[f64],
) -> f64 {
    let (n, m, r) = (program.dim(), program.row_count(), program.cone_row_count());
    let ConeMultipliers { rows: y, bounds: z, cones: w } = multipliers;
    assert_eq!((y.len(), z.len(), w.len()), (m, n, r), "y, z, w need m, n, r values");
    if contradicts_itself(program) {
        return f64::INFINITY;
    }
    let qp = &program.linear;
    let (mut beta, mut size) = (0.0, 0.0);
    let mut press = |u: f64, (lower, upper): (f64, f64)| {
        let bound = if u > 0.0 { lower } else { upper };
        if u == 0.0 || !bound.is_finite() {
            return 0.0;
        }
        beta += u * bound;
        size += (u * bound).abs();
        u
    };
    let y: Vec<f64> = (0..m).map(|row| press(y[row], qp.row_bounds_of(row))).collect();
    let z: Vec<f64> = (0..n).map(|i| press(z[i], qp.bounds_of(i))).collect();
    let mut w = w.to_vec();
    for block in program.blocks() {
        project_second_order(&mut w[block]);
    }
    for (w, c) in w.iter().zip(program.cone_offset) {
        beta -= w * c;
        size += (w * c).abs();
    }
    // NaN proves nothing, so the comparison is written for it to fail.
    let is_proof = beta > size * f64::EPSILON * (n + m + r) as f64;
    if !is_proof {
        return 0.0;
    }
    let rest = (0..n).fold(0.0, |worst, i| {
        let by_rows = dot(&qp.rows[i * m..(i + 1) * m], &y) + z[i];
        let by_cones = dot(&program.cone_rows[i * r..(i + 1) * r], &w);
        let weight = columns.get(i).copied().unwrap_or(1.0);
        nan_max(worst, (weight * (by_rows + by_cones)).abs())
    });
    let radius = beta / rest;
    if radius.is_nan() { 0.0 } else { radius }
}

/// True if a pair of bounds admits no number (`l > u`, `l = ∞` or `u = -∞`), or excludes zero in a
/// row of zeros.
#[must_use]
pub fn contradicts_itself(program: &ConeProgram<'_>) -> bool {
    let qp = &program.linear;
    let is_empty = |(l, u): (f64, f64)| l > u || l == f64::INFINITY || u == f64::NEG_INFINITY;
    let m = qp.row_count();
    let is_refuted = |row: usize| {
        let (l, u) = qp.row_bounds_of(row);
        let is_zero = || qp.rows.iter().skip(row).step_by(m).all(|a| *a == 0.0);
        is_empty((l, u)) || ((l > 0.0 || u < 0.0) && is_zero())
    };
    (0..m).any(is_refuted) || (0..qp.dim()).any(|i| is_empty(qp.bounds_of(i)))
}

/// How far `direction` is from a proof that the objective falls without bound: 0 is a proof for a
/// feasible program, ∞ or NaN is no evidence.
///
/// Such a direction has `H d = 0`, `gᵀd < 0`, and moves along or away from all constraints. With
/// `x = D x̂` in the program's own units ([`QpResiduals`]) and d̂ of largest entry 1, the residual
/// is the largest violation of these conditions, relative to the norm of each row, divided by the
/// relative decrease `-gᵀd / ‖D g‖∞`. Every solution has x̂ or multipliers (over `‖D g‖∞`) whose
/// sum is at least the inverse of the residual. Allocates.
///
/// # Panics
/// If `direction` is not n long.
#[must_use]
pub fn unbounded_residual(program: &ConeProgram<'_>, direction: &[f64]) -> f64 {
    let (n, m, r) = (program.dim(), program.row_count(), program.cone_row_count());
    assert_eq!(direction.len(), n, "the direction needs n values");
    let qp = &program.linear;
    let mut units = vec![0.0; n];
    units_into(qp, &mut units);
    let largest = direction.iter().zip(&units).fold(0.0, |a, (d, u)| nan_max(a, (d / u).abs()));
    let cost = qp.gradient.iter().zip(&units).fold(0.0, |a, (g, u)| nan_max(a, (g * u).abs()));
    if largest == 0.0 || !largest.is_finite() || cost == 0.0 {
        return f64::INFINITY;
    }
    let d: Vec<f64> = direction.iter().map(|v| v / largest).collect();
    let decrease = -dot(qp.gradient, &d) / cost;
    if !matches!(decrease.partial_cmp(&0.0), Some(std::cmp::Ordering::Greater)) {
        return f64::INFINITY;
    }
    let mut curved = vec![0.0; n];
    matrix_vector(qp.hessian, n, &d, &mut curved);
    let mut worst = curved.iter().zip(&units).fold(0.0, |a, (h, u)| nan_max(a, (h * u).abs()));
    let mut leave = |speed: f64, (lower, upper): (f64, f64), norm: f64| {
        let norm = if norm > 0.0 { norm } else { 1.0 };
        if lower.is_finite() {
            worst = nan_max(worst, -speed / norm);
        }
        if upper.is_finite() {
            worst = nan_max(worst, speed / norm);
        }
    };
    let mut products = vec![0.0; m];
    matrix_vector(qp.rows, m, &d, &mut products);
    for (row, &speed) in products.iter().enumerate() {
        leave(speed, qp.row_bounds_of(row), kkt::row_norm(qp, &units, row));
    }
    for (i, &speed) in d.iter().enumerate() {
        leave(speed, qp.bounds_of(i), units[i]);
    }
    let mut speeds = vec![0.0; r];
    matrix_vector(program.cone_rows, r, &d, &mut speeds);
    for block in program.blocks() {
        let norm = cone_norm(program, &units, block.clone());
        let norm = if norm > 0.0 { norm } else { 1.0 };
        worst = nan_max(worst, second_order_violation(&speeds[block]) / norm);
    }
    worst / decrease
}
