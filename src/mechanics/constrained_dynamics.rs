//! Forward dynamics under equality constraints.
//!
//! Of all accelerations with `J ν̇ + γ = 0` the robot takes the one nearest to its free
//! acceleration in the metric of `M` (Gauss's principle):
//!
//! ```text
//! M ν̇ = Sᵀτ + f_ext − h + Jᵀλ          J ν̇ + γ = 0
//! ν̇_free = M⁻¹ (Sᵀτ + f_ext − h)       G λ = −(J ν̇_free + γ)        G = J M⁻¹ Jᵀ
//! ```
//!
//! `G` is factored with diagonal pivoting. Rows that depend on others (four corners of one sole,
//! redundant loops) end the factorisation early: they get no force, and the acceleration that they
//! require is compared with the one that the independent rows produce.
//!
//! Reference: F. E. Udwadia, R. E. Kalaba, *A new perspective on constrained motion* (1992);
//! R. Featherstone, *Rigid Body Dynamics Algorithms* (2008), sec. 8.

use crate::delassus::{WeightedJacobian, contact_inverse_inertia};
use crate::forward_dynamics::{add_transposed_product, forward_dynamics, product};
use crate::mass_factor::MassFactor;
use crate::model::Model;

/// Relative pivot below which a row counts as dependent on the rows before it.
const DEPENDENT: f64 = 1e-11;

/// Scratch memory of [`constrained_forward_dynamics`].
#[derive(Clone, Debug)]
pub struct ConstrainedDynamics {
    delassus: WeightedJacobian,
    /// `G`, then its factor `L` below the diagonal and `D` on it, rows in pivot order.
    g: Vec<f64>,
    order: Vec<usize>,
    /// Diagonal of `G`.
    scale: Vec<f64>,
    rhs: Vec<f64>,
    force: Vec<f64>,
}

/// Result of [`constrained_forward_dynamics`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constrained {
    /// Number of independent rows.
    pub rank: usize,
    /// Largest `|J ν̇ + γ|` over the dependent rows [units of γ]: beyond rounding, the constraints
    /// contradict one another.
    pub residual: f64,
}

/// Input of [`constrained_forward_dynamics`].
#[derive(Clone, Copy, Debug)]
pub struct ConstraintProblem<'a> {
    /// `J` (nc × nv, column-major).
    pub jacobian: &'a [f64],
    /// `γ` (nc): `J̇ν`, plus stabilisation terms if wanted; `J ν̇ + γ = 0`.
    pub bias: &'a [f64],
    /// `h` (nv).
    pub bias_force: &'a [f64],
    /// `τ` (n).
    pub joint_torques: &'a [f64],
    /// `f_ext` (nv), generalised.
    pub external_force: &'a [f64],
}

impl ConstrainedDynamics {
    /// Memory for `model` under `row_count` constraint rows.
    #[must_use]
    pub fn new(model: &Model, row_count: usize) -> Self {
        Self {
            delassus: WeightedJacobian::new(model.velocity_dim(), row_count),
            g: vec![0.0; row_count * row_count],
            order: vec![0; row_count],
            scale: vec![0.0; row_count],
            rhs: vec![0.0; row_count],
            force: vec![0.0; model.velocity_dim()],
        }
    }
}

/// Forward dynamics under the equality constraints `J ν̇ + γ = 0`.
///
/// | symbol | argument | shape | meaning |
/// |---|---|---|---|
/// | M | `factor` | nv × nv | mass matrix, by its factor |
/// | J, γ, h, τ, f_ext | `problem` | | see [`ConstraintProblem`] |
/// | λ | `multipliers` | nc | constraint forces on the robot; zero in dependent rows |
/// | ν̇ | `out` | nv | [m/s², rad/s², rad/s² or m/s²] |
///
/// Where rows depend on one another λ is not unique: this is a solution with few entries, ν̇ is
/// the same for all. O(nc nv depth + nc³), allocates nothing.
///
/// # Panics
/// If a slice has the wrong length or the workspace was made for another number of rows.
#[doc(alias("KKT dynamics", "Gauss principle", "loop closure"))]
pub fn constrained_forward_dynamics(
    model: &Model,
    factor: &MassFactor,
    problem: &ConstraintProblem<'_>,
    workspace: &mut ConstrainedDynamics,
    multipliers: &mut [f64],
    out: &mut [f64],
) -> Constrained {
    let nc = problem.bias.len();
    assert_eq!(workspace.rhs.len(), nc, "rows of the workspace");
    assert_eq!(multipliers.len(), nc, "length of multipliers");
    let ConstrainedDynamics { delassus, g, order, scale, rhs, force } = workspace;
    let ConstraintProblem { jacobian, bias, .. } = problem;
    let ConstraintProblem { bias_force, joint_torques, external_force, .. } = problem;
    forward_dynamics(model, factor, bias_force, joint_torques, external_force, out);
    if nc == 0 {
        return Constrained { rank: 0, residual: 0.0 };
    }
    contact_inverse_inertia(factor, jacobian, nc, delassus, g);
    product(jacobian, out, rhs);
    for (rhs, bias) in rhs.iter_mut().zip(*bias) {
        *rhs = -(*rhs + bias);
    }
    let rank = factor_pivoted(g, order, scale);
    solve_pivoted(g, order, rank, rhs, multipliers);
    force.fill(0.0);
    add_transposed_product(jacobian, multipliers, force);
    factor.solve_in_place(force);
    for (out, change) in out.iter_mut().zip(force.iter()) {
        *out += change;
    }
    product(jacobian, out, rhs);
    let wrong = |&row: &usize| (rhs[row] + bias[row]).abs();
    let residual = order[rank..].iter().map(wrong).fold(0.0, f64::max);
    Constrained { rank, residual }
}

/// `P G Pᵀ = L D Lᵀ` in place; returns the numerical rank. The pivot is the row with the largest
/// remaining diagonal entry relative to its original one, so that the units of rows do not matter.
fn factor_pivoted(g: &mut [f64], order: &mut [usize], scale: &mut [f64]) -> usize {
    let n = order.len();
    for (i, (slot, scale)) in order.iter_mut().zip(&mut *scale).enumerate() {
        *slot = i;
        *scale = g[i * n + i];
    }
    for k in 0..n {
        let left = |i: usize| if scale[i] > 0.0 { g[i * n + i] / scale[i] } else { 0.0 };
        let mut best = k;
        for i in k + 1..n {
            if left(order[i]) > left(order[best]) {
                best = i;
            }
        }
        let independent = left(order[best]) > DEPENDENT;
        order.swap(k, best);
        if !independent {
            return k;
        }
        let pivot = g[order[k] * n + order[k]];
        for i in k + 1..n {
            let (a, p) = (order[i], order[k]);
            // Entry (a, p) is kept in the column of the pivot.
            let l = g[p * n + a] / pivot;
            for &b in &order[i..] {
                let update = l * g[p * n + b];
                g[a * n + b] -= update;
                if a != b {
                    g[b * n + a] -= update;
                }
            }
        }
        for &a in &order[k + 1..] {
            g[order[k] * n + a] /= pivot;
        }
    }
    n
}

/// Solves with the leading `rank` rows of [`factor_pivoted`]; the others get zero.
fn solve_pivoted(g: &[f64], order: &[usize], rank: usize, rhs: &[f64], x: &mut [f64]) {
    let n = order.len();
    x.fill(0.0);
    for k in 0..rank {
        let mut sum = rhs[order[k]];
        for &p in &order[..k] {
            sum -= g[p * n + order[k]] * x[p];
        }
        x[order[k]] = sum;
    }
    for &p in &order[..rank] {
        x[p] /= g[p * n + p];
    }
    for k in (0..rank).rev() {
        let p = order[k];
        let mut sum = x[p];
        for &a in &order[k + 1..rank] {
            sum -= g[p * n + a] * x[a];
        }
        x[p] = sum;
    }
}
