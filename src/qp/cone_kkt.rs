//! The judge of cone programs: residuals of an answer, and of the two certificates that there is
//! none.

use crate::cone_program::{ConeProgram, project_second_order, second_order_violation};
use crate::kkt::{QpResiduals, nan_max};
use legwork_linalg::{axpy, dot, matrix_vector, max_abs};

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
/// A second-order block counts under `primal` with its violation over `1 + |x|∞` times its largest
/// row norm plus its offset, under `dual` with the violation of w_j, and under `complementarity`
/// with `w_jᵀ t_j`. Allocates.
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

    // Stationarity, relative to the largest single term in it.
    let mut gradient = vec![0.0; n];
    matrix_vector(qp.hessian, n, x, &mut gradient);
    let mut scale = nan_max(max_abs(&gradient), max_abs(qp.gradient));
    axpy(1.0, qp.gradient, &mut gradient);
    for (i, value) in gradient.iter_mut().enumerate() {
        let by_rows = dot(&qp.rows[i * m..(i + 1) * m], y) + z[i];
        let by_cones = dot(&program.cone_rows[i * r..(i + 1) * r], w);
        // Hx may vanish at the optimum; its rounding is that of its terms.
        scale = nan_max(scale, (qp.hessian[i * n + i] * x[i]).abs());
        scale = nan_max(scale, nan_max(by_rows.abs(), by_cones.abs()));
        *value -= by_rows + by_cones;
    }
    let scale = if scale > 0.0 { scale } else { 1.0 };
    let stationarity = gradient.iter().fold(0.0, |worst, v| nan_max(worst, v.abs()));

    // Rows and bounds: how far outside, and the product of distance and multiplier.
    let reach = 1.0 + max_abs(x);
    let (mut primal, mut dual, mut product) = (0.0, 0.0, 0.0);
    let mut judge = |value: f64, lower: f64, upper: f64, u: f64, norm: f64| {
        let violation = (lower - value).max(value - upper).max(0.0);
        let bound = if value < lower { lower } else { upper };
        let size = reach * norm + if violation > 0.0 { bound.abs() } else { 0.0 };
        primal = nan_max(primal, if value.is_nan() { f64::NAN } else { violation / size });
        let active = if u > 0.0 { lower } else { upper };
        if u == 0.0 {
            return;
        }
        if active.is_finite() {
            product = nan_max(product, (u * (value - active)).abs());
        } else {
            dual = nan_max(dual, (u * norm).abs());
        }
    };
    let mut products = vec![0.0; m];
    matrix_vector(qp.rows, m, x, &mut products);
    for (row, &value) in products.iter().enumerate() {
        let norm = row_norm(qp.rows, m, n, row);
        judge(value, qp.row_lower[row], qp.row_upper[row], y[row], norm);
    }
    for (i, &value) in x.iter().enumerate() {
        judge(value, qp.lower_of(i), qp.upper_of(i), z[i], 1.0);
    }

    // Cones: the same for each block.
    for block in program.blocks() {
        let t: Vec<f64> = block.clone().map(|row| program.cone_value(row, x)).collect();
        let w = &w[block.clone()];
        let norm =
            block.clone().map(|row| row_norm(program.cone_rows, r, n, row)).fold(0.0, f64::max);
        let size = reach * norm + max_abs(&program.cone_offset[block]);
        primal = nan_max(primal, second_order_violation(&t) / size);
        dual = nan_max(dual, second_order_violation(w) * norm);
        product = nan_max(product, dot(&t, w).abs());
    }
    QpResiduals {
        stationarity: stationarity / scale,
        primal,
        dual: dual / scale,
        complementarity: product / (scale * (1.0 + x.iter().map(|v| v.abs()).sum::<f64>())),
    }
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
    let mut press = |u: f64, lower: f64, upper: f64| {
        let bound = if u > 0.0 { lower } else { upper };
        if u == 0.0 || !bound.is_finite() {
            return 0.0;
        }
        beta += u * bound;
        size += (u * bound).abs();
        u
    };
    let y: Vec<f64> =
        (0..m).map(|row| press(y[row], qp.row_lower[row], qp.row_upper[row])).collect();
    let z: Vec<f64> = (0..n).map(|i| press(z[i], qp.lower_of(i), qp.upper_of(i))).collect();
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

/// True if a pair of bounds admits no number: `l > u`, `l = ∞` or `u = -∞`.
#[must_use]
pub fn contradicts_itself(program: &ConeProgram<'_>) -> bool {
    let qp = &program.linear;
    let is_empty = |l: f64, u: f64| l > u || l == f64::INFINITY || u == f64::NEG_INFINITY;
    (0..qp.row_count()).any(|row| is_empty(qp.row_lower[row], qp.row_upper[row]))
        || (0..qp.dim()).any(|i| is_empty(qp.lower_of(i), qp.upper_of(i)))
}

/// How far `direction` is from a proof that the objective falls without bound: 0 is a proof for a
/// feasible program, ∞ or NaN is no evidence.
///
/// With d of largest entry 1 such a direction has `H d = 0`, `gᵀd < 0`, and moves along or away
/// from all constraints. The residual is the largest violation of these, relative to the largest
/// entry of H, to the norm of each row, divided by the relative decrease `-gᵀd / |g|∞`. Allocates.
///
/// # Panics
/// If `direction` is not n long.
#[must_use]
pub fn unbounded_residual(program: &ConeProgram<'_>, direction: &[f64]) -> f64 {
    let (n, m, r) = (program.dim(), program.row_count(), program.cone_row_count());
    assert_eq!(direction.len(), n, "the direction needs n values");
    let qp = &program.linear;
    let largest = max_abs(direction);
    let cost = max_abs(qp.gradient);
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
    let stiffness = max_abs(qp.hessian);
    let mut worst = if stiffness > 0.0 { max_abs(&curved) / stiffness } else { 0.0 };
    let mut leave = |speed: f64, lower: f64, upper: f64, norm: f64| {
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
        leave(speed, qp.row_lower[row], qp.row_upper[row], row_norm(qp.rows, m, n, row));
    }
    for (i, &speed) in d.iter().enumerate() {
        leave(speed, qp.lower_of(i), qp.upper_of(i), 1.0);
    }
    let mut speeds = vec![0.0; r];
    matrix_vector(program.cone_rows, r, &d, &mut speeds);
    for block in program.blocks() {
        let norm =
            block.clone().map(|row| row_norm(program.cone_rows, r, n, row)).fold(0.0, f64::max);
        worst = nan_max(worst, second_order_violation(&speeds[block]) / norm);
    }
    worst / decrease
}

/// Norm of a row of a column-major matrix, 1 for a zero row so that it can divide.
fn row_norm(matrix: &[f64], rows: usize, columns: usize, row: usize) -> f64 {
    let sum: f64 = (0..columns).map(|j| matrix[j * rows + row]).map(|a| a * a).sum();
    if sum > 0.0 { sum.sqrt() } else { 1.0 }
}
