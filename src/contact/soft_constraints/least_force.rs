//! Drumwright's quadratically constrained program of least forces, as it is written.
//!
//! `min ½ (ζ |λ_n|² + ζ |λ_u|² + |λ_r|² + |λ_s|² + |β_r|² + |β_s|²)` subject to
//! `λ_i ≥ s_i(λ)` and `λ_i ≥ 0` for normal and unilateral rows, `|λ_t| ≤ μ λ_n`, and with
//! `β_i = λ_i - s_i(λ)` on tangential rows; `s(λ) = q - D W λ` are the forces of the spring-dampers at
//! the end of the step (eqs. 176-198). Bilateral rows are eliminated: `λ_b = s_b(λ)`.
//!
//! # What differs from the law that it stands for
//!
//! The intention is `λ_i = max(0, s_i)`, that is `0 ≤ λ ⟂ λ - s(λ) ≥ 0`: the linear complementarity
//! problem of the positive definite matrix `A = W + D⁻¹`, which [`super::SoftConstraintSolver`]
//! solves. The program minimises over the same feasible set, but its minimum need not be
//! complementary, since `s_i` depends on all forces:
//!
//! - It is where A has no positive entries off its diagonal (then the complementary point is the
//!   least of the feasible set; R. W. Cottle, J.-S. Pang, R. E. Stone, *The Linear Complementarity
//!   Problem*, 1992, theorem 3.11.6), so with one row, with uncoupled rows, in a stack.
//! - In general, with I the rows that carry force in the complementary point and J the others, it
//!   is the program's minimum if and only if `A_II⁻¹ λ_I ≥ 0` and `A_JI A_II⁻¹ λ_I ≤ 0` (its
//!   conditions of optimality, whatever D). Otherwise the program lets springs push that are at
//!   rest, because that costs less than to push where it belongs.
//! - A normal row is only bounded from below. Where a contact slides, `β = λ_t - s_t` is about `B`
//!   times the slip, 10⁸ N for the paper's `B = 10⁶/h`, and pushing harder lets friction stop the slip:
//!   the program does that unless ζ exceeds about `(h B W)²`. The paper's ζ = 1/h is far below.
//!
//! # What differs from the paper here
//!
//! - Eqs. (174), (175), (197), (198) leave the bilateral forces `G_bᵀ C⁻¹ c` out of d and e; eqs.
//!   (170), (171) have them, and so has this.
//! - The force `-M̂ Ġv₀` with `M̂ = (G M⁻¹ Gᵀ)⁻¹` (eqs. 15, 53) does not exist for redundant rows and
//!   cancels the coupling within one kind of rows only. A caller who wants it gives it as
//!   [`super::SpringDamper::preload`].

use super::dense_view::{DenseView, ViewError};
use super::problem::{ConstraintProblem, Law};
use legwork_qp::{ConeProgram, ConeProgramError, Qp};

/// The program's numbers; allocates, costs O(rows³).
#[derive(Clone, Debug)]
pub struct LeastForceProgram {
    hessian: Vec<f64>,
    gradient: Vec<f64>,
    rows: Vec<f64>,
    row_lower: Vec<f64>,
    row_upper: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    cone_rows: Vec<f64>,
    cone_offset: Vec<f64>,
    cone_sizes: Vec<usize>,
    /// Rows of the problem that are unknowns, and those that are bilateral.
    unknowns: Vec<usize>,
    bilateral: Vec<usize>,
    /// `λ_b = bilateral_offset - bilateral_slope λ`.
    bilateral_offset: Vec<f64>,
    bilateral_slope: Vec<f64>,
}

/// What a row of the program is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowKind {
    Bilateral,
    Pushing,
    Tangential,
    /// A tangential row without friction: its force is zero.
    Absent,
}

impl LeastForceProgram {
    /// The program with this weight ζ > 0 on normal and unilateral forces.
    ///
    /// # Errors
    /// [`ViewError`] if a law is not linear or the numbers form no problem.
    pub fn new(problem: &ConstraintProblem, zeta: f64) -> Result<Self, ViewError> {
        let view = DenseView::new(problem)?;
        if !(zeta > 0.0 && zeta.is_finite()) {
            return Err(ViewError::Invalid);
        }
        let (h, m) = (problem.time_step, problem.row_count());
        let kinds = row_kinds(problem);
        let of = |wanted: fn(RowKind) -> bool| -> Vec<usize> {
            (0..m).filter(|&i| wanted(kinds[i])).collect()
        };
        let bilateral = of(|kind| kind == RowKind::Bilateral);
        let unknowns = of(|kind| kind == RowKind::Pushing || kind == RowKind::Tangential);
        let w = |i: usize, j: usize| view.inverse_inertia[j * m + i];
        let d = |i: usize| view.conductance[i];
        // s = q - D W λ: the force of a row's law at the velocity without constraints.
        let q = |i: usize| (view.offset[i] - d(i) * view.free_velocity[i]) / h;

        // (I + D W_bb) λ_b = q_b - D W_b* λ.
        let (nb, n) = (bilateral.len(), unknowns.len());
        let mut matrix = vec![0.0; nb * nb];
        let mut right = vec![0.0; nb * (n + 1)];
        for (k, &i) in bilateral.iter().enumerate() {
            for (l, &j) in bilateral.iter().enumerate() {
                matrix[l * nb + k] = d(i) * w(i, j) + if i == j { 1.0 } else { 0.0 };
            }
            for (l, &j) in unknowns.iter().enumerate() {
                right[l * nb + k] = d(i) * w(i, j);
            }
            right[n * nb + k] = q(i);
        }
        eliminate(&mut matrix, nb, &mut right);
        let bilateral_offset = right.split_off(n * nb);
        let bilateral_slope = right;

        // Rows I + D Ŵ and right sides q̂ of all unknowns, with bilateral forces put in.
        let (mut spring, mut offset) = (vec![0.0; n * n], vec![0.0; n]);
        for (k, &i) in unknowns.iter().enumerate() {
            let through = |column: &[f64]| -> f64 {
                bilateral.iter().zip(column).map(|(&b, x)| w(i, b) * x).sum()
            };
            offset[k] = q(i) - d(i) * through(&bilateral_offset);
            for (l, &j) in unknowns.iter().enumerate() {
                let slope = through(&bilateral_slope[l * nb..(l + 1) * nb]);
                spring[l * n + k] = d(i) * (w(i, j) - slope) + if k == l { 1.0 } else { 0.0 };
            }
        }
        let mut program = Self {
            hessian: vec![0.0; n * n],
            gradient: vec![0.0; n],
            rows: Vec::new(),
            row_lower: Vec::new(),
            row_upper: Vec::new(),
            lower: vec![f64::NEG_INFINITY; n],
            upper: vec![f64::INFINITY; n],
            cone_rows: Vec::new(),
            cone_offset: Vec::new(),
            cone_sizes: Vec::new(),
            unknowns,
            bilateral,
            bilateral_offset,
            bilateral_slope,
        };
        program.write(&kinds, zeta, &spring, &offset);
        program.write_cones(problem);
        Ok(program)
    }

    /// Objective and linear constraints.
    fn write(&mut self, kinds: &[RowKind], zeta: f64, spring: &[f64], offset: &[f64]) {
        let n = self.unknowns.len();
        let is_pushing: Vec<bool> =
            self.unknowns.iter().map(|&i| kinds[i] == RowKind::Pushing).collect();
        let pushing: Vec<usize> = (0..n).filter(|&k| is_pushing[k]).collect();
        for k in 0..n {
            self.hessian[k * (n + 1)] = if is_pushing[k] { zeta } else { 1.0 };
            if is_pushing[k] {
                self.lower[k] = 0.0;
                self.row_lower.push(offset[k]);
                self.row_upper.push(f64::INFINITY);
            }
        }
        for k in (0..n).filter(|&k| !is_pushing[k]) {
            // ½ β² with β = Σ spring_kl λ_l - offset_k.
            for l in 0..n {
                self.gradient[l] -= spring[l * n + k] * offset[k];
                for j in 0..n {
                    self.hessian[l * n + j] += spring[l * n + k] * spring[j * n + k];
                }
            }
        }
        for l in 0..n {
            self.rows.extend(pushing.iter().map(|&k| spring[l * n + k]));
        }
    }

    /// `(μ λ_n, λ_r, λ_s) ∈ Q` of contacts with friction.
    fn write_cones(&mut self, problem: &ConstraintProblem) {
        let n = self.unknowns.len();
        let mut entries = Vec::new();
        for c in problem.constraints() {
            if let Law::Contact(_, friction) = &c.law
                && friction.coefficient > 0.0
            {
                entries.push((c.first_row + 2, friction.coefficient));
                entries.extend([(c.first_row, 1.0), (c.first_row + 1, 1.0)]);
                self.cone_sizes.push(3);
            }
        }
        let r = entries.len();
        self.cone_rows = vec![0.0; r * n];
        self.cone_offset = vec![0.0; r];
        for (at, (row, value)) in entries.into_iter().enumerate() {
            if let Ok(k) = self.unknowns.binary_search(&row) {
                self.cone_rows[k * r + at] = value;
            }
        }
    }

    /// The program for a solver; its unknowns are [`Self::unknown_count`] forces.
    ///
    /// # Errors
    /// None that a program of this type has: the signature is the cone program's own.
    pub fn program(&self) -> Result<ConeProgram<'_>, ConeProgramError> {
        let linear = Qp {
            hessian: &self.hessian,
            gradient: &self.gradient,
            rows: &self.rows,
            row_lower: &self.row_lower,
            row_upper: &self.row_upper,
            lower: &self.lower,
            upper: &self.upper,
        };
        ConeProgram::new(linear, &self.cone_rows, &self.cone_offset, &self.cone_sizes)
    }

    /// Number of unknown forces: all rows that are not bilateral and may carry force.
    #[must_use]
    pub fn unknown_count(&self) -> usize {
        self.unknowns.len()
    }

    /// Forces of all rows of the problem [N] from the program's unknowns.
    ///
    /// # Panics
    /// If a slice has the wrong length.
    pub fn forces_into(&self, unknowns: &[f64], forces: &mut [f64]) {
        assert_eq!(unknowns.len(), self.unknowns.len(), "expected one value per unknown");
        forces.fill(0.0);
        for (&row, value) in self.unknowns.iter().zip(unknowns) {
            forces[row] = *value;
        }
        let nb = self.bilateral.len();
        for (k, &row) in self.bilateral.iter().enumerate() {
            let sum: f64 = unknowns
                .iter()
                .enumerate()
                .map(|(l, x)| self.bilateral_slope[l * nb + k] * x)
                .sum();
            forces[row] = self.bilateral_offset[k] - sum;
        }
    }
}

fn row_kinds(problem: &ConstraintProblem) -> Vec<RowKind> {
    let mut kinds = Vec::with_capacity(problem.row_count());
    for c in problem.constraints() {
        match &c.law {
            Law::Bilateral(_) => kinds.push(RowKind::Bilateral),
            Law::Unilateral(_) => kinds.push(RowKind::Pushing),
            Law::Contact(_, friction) => {
                let has_friction = friction.coefficient > 0.0;
                let kind = if has_friction { RowKind::Tangential } else { RowKind::Absent };
                kinds.extend([kind, kind, RowKind::Pushing]);
            }
        }
    }
    kinds
}

/// `right ← matrix⁻¹ right` by elimination with row pivots; the matrix `I + D W` is regular.
fn eliminate(matrix: &mut [f64], n: usize, right: &mut [f64]) {
    let columns = right.len().checked_div(n).unwrap_or(0);
    for j in 0..n {
        let mut pivot = j;
        for i in j + 1..n {
            if matrix[j * n + i].abs() > matrix[j * n + pivot].abs() {
                pivot = i;
            }
        }
        (0..n).for_each(|k| matrix.swap(k * n + j, k * n + pivot));
        (0..columns).for_each(|k| right.swap(k * n + j, k * n + pivot));
        let inverse = 1.0 / matrix[j * n + j];
        for i in (0..n).filter(|&i| i != j) {
            let factor = matrix[j * n + i] * inverse;
            if factor == 0.0 {
                continue;
            }
            (j..n).for_each(|k| matrix[k * n + i] -= factor * matrix[k * n + j]);
            (0..columns).for_each(|k| right[k * n + i] -= factor * right[k * n + j]);
        }
    }
    for j in 0..n {
        (0..columns).for_each(|k| right[k * n + j] /= matrix[j * n + j]);
    }
}
