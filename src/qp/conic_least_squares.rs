//! Least squares over linear rows and second-order cones, without the normal equations.
//!
//! `min ½ |C x − d|²` subject to `G x − h ∈ K`, where K is `≥ 0` for the first rows and
//! `Q = { t : t_0 ≥ |(t_1, …)| }` for each block after them.
//!
//! It is a cone program with the Hessian CᵀC, and [`crate::ConeProgram`] states it for general
//! solvers. Where rows of C differ by many orders that Hessian has lost the small ones: a row of 1
//! beside one of 10⁸ is rounding in it. Here C itself is factored.
//!
//! # Method
//! Primal-dual interior point with Nesterov and Todd's scaling W and Mehrotra's predictor and
//! corrector. A Newton step
//!
//! ```text
//! CᵀC Δx − Gᵀ Δz = −Cᵀ(C x − d) + Gᵀ z
//! W⁻¹ (G Δx + G x − h − s) + W Δz = t
//! ```
//!
//! is the least-squares problem of the rows `C` and `W⁻¹G` with the right side
//! `(d − C x, t − W⁻¹(G x − h − s) + W z)`, whose rows differ by many orders too, as the scalings
//! of active and inactive cones do. [`RowPivotedQr`] solves it with the digits of each row.
//!
//! Columns of C are brought to length one, rows and blocks of G to size one, and the largest
//! value of d and h to one.
//!
//! # References
//! Y. E. Nesterov, M. J. Todd, *Primal-dual interior-point methods for self-scaled cones* (1998);
//! L. Vandenberghe, *The CVXOPT linear and quadratic cone program solvers* (2010).

mod cones;

use crate::cone_program::ConeProgramError;
use crate::status::{Outcome, Status};
use cones::{Cones, NesterovTodd};
use legwork_linalg::cancel::check;
use legwork_linalg::{RowPivotedQr, all_finite, axpy, dot, matrix_vector, max_abs};

/// The problem: a borrowed view. n unknowns.
///
/// | symbol | field | shape |
/// |---|---|---|
/// | C | `matrix` | r × n, column-major |
/// | d | `target` | r |
/// | G | `rows` | m × n, column-major: linear rows, then the blocks under one another |
/// | h | `offset` | m |
/// | | `cone_sizes` | rows of each block, each ≥ 1; what they leave of m is linear |
#[derive(Clone, Copy, Debug)]
pub struct ConicLeastSquares<'a> {
    /// C.
    pub matrix: &'a [f64],
    /// d; its length is the number of rows r.
    pub target: &'a [f64],
    /// G.
    pub rows: &'a [f64],
    /// h; its length is the number of rows m.
    pub offset: &'a [f64],
    /// Rows of each cone.
    pub cone_sizes: &'a [usize],
}

impl ConicLeastSquares<'_> {
    /// Checks all lengths for n unknowns.
    ///
    /// # Errors
    /// [`ConeProgramError`] names the first field of wrong length, or an empty block.
    pub fn check_shape(&self, n: usize) -> Result<(), ConeProgramError> {
        if let Some(block) = self.cone_sizes.iter().position(|&size| size == 0) {
            return Err(ConeProgramError::EmptyBlock { block });
        }
        let in_cones = self.cone_sizes.iter().fold(0usize, |sum, &size| sum.saturating_add(size));
        let m = self.offset.len();
        for (field, expected, found) in [
            ("matrix", self.target.len() * n, self.matrix.len()),
            ("rows", m * n, self.rows.len()),
            ("offset", in_cones.max(m), m),
        ] {
            if expected != found {
                return Err(ConeProgramError::Shape { field, expected, found });
            }
        }
        Ok(())
    }
}

/// Share of the way to the boundary that a step goes.
const TO_BOUNDARY: f64 = 0.99;
/// Largest scaled residual or complementary product at which the method stops at once; and, where
/// rounding stops it earlier, up to which an answer is called solved, or inaccurate.
const TARGET: f64 = 1e-13;
const SOLVED: f64 = 1e-8;
const USABLE: f64 = 1e-5;
/// Objective below which it is rounding of the targets.
const NO_OBJECTIVE: f64 = 1e-24;
/// Iterations without a smaller residual after which rounding has stopped the method.
const STALLED: u32 = 4;
const MAX_ITERATIONS: u32 = 100;

/// Interior-point solver of [`ConicLeastSquares`].
///
/// Memory grows on the first problem of a size and is kept. Equal data give equal bits; there is no
/// memory from one solve to the next. The cost of an iteration is `O((r + m) n²)`.
#[doc(alias("SOCP", "second-order cone", "interior point"))]
#[derive(Clone, Debug, Default)]
pub struct ConicLeastSquaresSolver {
    /// C and G scaled, and the factors of their columns and rows.
    matrix: Vec<f64>,
    rows: Vec<f64>,
    column_scale: Vec<f64>,
    row_scale: Vec<f64>,
    target: Vec<f64>,
    offset: Vec<f64>,
    cones: Cones,
    x: Vec<f64>,
    s: Vec<f64>,
    z: Vec<f64>,
    /// x and z of the iterate of least residual.
    best: Vec<f64>,
    multipliers: Vec<f64>,
    scaling: NesterovTodd,
    /// `C x − d`, `G x − h − s`, and the latter scaled by W⁻¹.
    image: Vec<f64>,
    primal: Vec<f64>,
    scaled_primal: Vec<f64>,
    gradient: Vec<f64>,
    /// C above W⁻¹G, and the right side.
    stack: Vec<f64>,
    right: Vec<f64>,
    factor: RowPivotedQr,
    /// Right side of complementarity, and t.
    product: Vec<f64>,
    t: Vec<f64>,
    dx: Vec<f64>,
    ds: Vec<f64>,
    dz: Vec<f64>,
    /// `W⁻¹ Δs` and `W Δz`.
    scaled_ds: Vec<f64>,
    scaled_dz: Vec<f64>,
}

impl ConicLeastSquaresSolver {
    /// Solves; `x` is written, with the best iterate if there is no solution. Problems without a
    /// feasible point end with [`Status::MaxIterations`] or [`Status::NumericalTrouble`].
    ///
    /// # Panics
    /// If a slice has the wrong length.
    pub fn solve(&mut self, problem: &ConicLeastSquares<'_>, x: &mut [f64]) -> Outcome {
        let shape = problem.check_shape(x.len());
        assert_eq!(shape, Ok(()), "expected C r x n, G m x n and cones of at most m rows");
        x.fill(0.0);
        let data = [problem.matrix, problem.target, problem.rows, problem.offset];
        if !data.into_iter().all(all_finite) {
            return Outcome::refused(Status::InvalidData);
        }
        let unit = self.set(problem, x.len());
        if unit == 0.0 {
            return Outcome { status: Status::Solved, iterations: 0, residual: 0.0 };
        }
        let outcome = self.iterate();
        for ((x, best), scale) in x.iter_mut().zip(&self.best).zip(&self.column_scale) {
            *x = best * (scale * unit);
        }
        for (z, scale) in self.multipliers.iter_mut().zip(&self.row_scale) {
            *z *= scale * unit;
        }
        outcome
    }

    /// z of the last problem that was solved, of m rows: `Cᵀ(C x − d) = Gᵀz`, `z ∈ K`,
    /// `zᵀ(G x − h) = 0`.
    #[must_use]
    pub fn multipliers(&self) -> &[f64] {
        &self.multipliers
    }

    /// Copies the problem in scaled units, and returns the unit of d and h.
    fn set(&mut self, problem: &ConicLeastSquares<'_>, n: usize) -> f64 {
        let (r, m) = (problem.target.len(), problem.offset.len());
        self.cones.set(m, problem.cone_sizes);
        let reciprocal = |size: f64| if size > 0.0 { 1.0 / size } else { 1.0 };
        self.matrix.clear();
        self.rows.clear();
        self.column_scale.clear();
        for k in 0..n {
            let (column, rows) =
                (&problem.matrix[k * r..(k + 1) * r], &problem.rows[k * m..(k + 1) * m]);
            let scale = reciprocal(dot(column, column).sqrt());
            self.column_scale.push(scale);
            self.matrix.extend(column.iter().map(|c| c * scale));
            self.rows.extend(rows.iter().map(|g| g * scale));
        }
        // One factor for all rows of a block, or it would not be a cone.
        self.row_scale.clear();
        self.row_scale.resize(m, 0.0);
        for rows in self.rows.chunks_exact(m.max(1)) {
            self.row_scale.iter_mut().zip(rows).for_each(|(sum, g)| *sum += g * g);
        }
        self.cones.for_each_block(|block| {
            let square: f64 = self.row_scale[block.clone()].iter().sum();
            self.row_scale[block].fill(square);
        });
        self.row_scale.iter_mut().for_each(|square| *square = reciprocal(square.sqrt()));
        for rows in self.rows.chunks_exact_mut(m.max(1)) {
            rows.iter_mut().zip(&self.row_scale).for_each(|(g, scale)| *g *= scale);
        }
        self.target.clear();
        self.target.extend_from_slice(problem.target);
        self.offset.clear();
        self.offset.extend(problem.offset.iter().zip(&self.row_scale).map(|(h, scale)| h * scale));
        let unit = max_abs(&self.target).max(max_abs(&self.offset));
        if unit > 0.0 {
            self.target.iter_mut().chain(&mut self.offset).for_each(|value| *value /= unit);
        }

        for v in [&mut self.x, &mut self.dx, &mut self.best, &mut self.gradient] {
            v.clear();
            v.resize(n, 0.0);
        }
        let own = [&mut self.s, &mut self.z, &mut self.ds, &mut self.dz, &mut self.t];
        let scaled = [&mut self.scaled_primal, &mut self.scaled_ds, &mut self.scaled_dz];
        let rest = [&mut self.primal, &mut self.product, &mut self.multipliers];
        for v in own.into_iter().chain(scaled).chain(rest) {
            v.clear();
            v.resize(m, 0.0);
        }
        self.image.resize(r, 0.0);
        self.right.resize(r + m, 0.0);
        self.cones.write_identity(&mut self.s);
        self.cones.write_identity(&mut self.z);
        unit
    }

    fn iterate(&mut self) -> Outcome {
        let (mut iterations, mut best, mut least, mut stalled) =
            (0, f64::INFINITY, f64::INFINITY, 0);
        loop {
            check();
            let (residual, relative) = self.residual();
            stalled = if relative < least { 0 } else { stalled + 1 };
            if relative < least {
                (best, least) = (residual, relative);
                self.best.copy_from_slice(&self.x);
                self.multipliers.copy_from_slice(&self.z);
            }
            let is_last = iterations == MAX_ITERATIONS;
            let is_at_end = is_last || (stalled >= STALLED && best <= USABLE);
            if !residual.is_finite() || relative <= TARGET || is_at_end || !self.step() {
                let status = match best {
                    _ if best <= SOLVED => Status::Solved,
                    _ if best <= USABLE => Status::Inaccurate,
                    _ if is_last => Status::MaxIterations,
                    _ => Status::NumericalTrouble,
                };
                return Outcome { status, iterations, residual: best };
            }
            iterations += 1;
        }
    }

    /// Residuals of the optimality conditions at the iterate, in scaled units: the largest, and the
    /// same with products relative to the objective, which may be small beside the targets.
    fn residual(&mut self) -> (f64, f64) {
        let (r, m) = (self.target.len(), self.offset.len());
        matrix_vector(&self.matrix, r, &self.x, &mut self.image);
        axpy(-1.0, &self.target, &mut self.image);
        matrix_vector(&self.rows, m, &self.x, &mut self.primal);
        axpy(-1.0, &self.offset, &mut self.primal);
        axpy(-1.0, &self.s, &mut self.primal);
        for (k, gradient) in self.gradient.iter_mut().enumerate() {
            *gradient = dot(&self.matrix[k * r..][..r], &self.image)
                - dot(&self.rows[k * m..][..m], &self.z);
        }
        let gap = self.cones.mean_product(&self.s, &self.z);
        // NaN must propagate, which `max` and `max_abs` drop.
        if !(all_finite(&self.primal) && all_finite(&self.gradient) && gap.is_finite()) {
            return (f64::NAN, f64::NAN);
        }
        let objective = 0.5 * dot(&self.image, &self.image);
        let residual = max_abs(&self.primal).max(max_abs(&self.gradient));
        (residual.max(gap), residual.max(gap / objective.clamp(NO_OBJECTIVE, 1.0)))
    }

    /// One predictor-corrector step; false if the system could not be solved.
    fn step(&mut self) -> bool {
        let (r, m, n) = (self.target.len(), self.offset.len(), self.x.len());
        if !self.scaling.set(&self.cones, &self.s, &self.z) {
            return false;
        }
        self.stack.clear();
        for k in 0..n {
            self.stack.extend_from_slice(&self.matrix[k * r..(k + 1) * r]);
            let from = self.stack.len();
            self.stack.extend_from_slice(&self.rows[k * m..(k + 1) * m]);
            self.scaling.divide(&self.cones, &mut self.stack[from..]);
        }
        if !self.factor.factor(&self.stack, r + m) {
            return false;
        }
        self.scaled_primal.copy_from_slice(&self.primal);
        self.scaling.divide(&self.cones, &mut self.scaled_primal);

        // Predictor: t = −λ.
        self.t.iter_mut().zip(self.scaling.lambda()).for_each(|(t, lambda)| *t = -lambda);
        self.direction();
        let gap = self.cones.mean_product(&self.s, &self.z);
        if gap > 0.0 {
            let step = self.longest_step();
            let after = {
                axpy(step, &self.ds, &mut self.s);
                axpy(step, &self.dz, &mut self.z);
                let after = self.cones.mean_product(&self.s, &self.z);
                axpy(-step, &self.ds, &mut self.s);
                axpy(-step, &self.dz, &mut self.z);
                after
            };
            let ratio = (after / gap).clamp(0.0, 1.0);
            let centre = ratio * ratio * ratio * gap;
            // λ ∘ t = σμ e − λ ∘ λ − (W⁻¹Δs) ∘ (WΔz)
            let lambda = self.scaling.lambda();
            let terms = [(lambda, lambda), (&self.scaled_ds[..], &self.scaled_dz[..])];
            self.cones.write_identity(&mut self.product);
            self.product.iter_mut().for_each(|p| *p *= centre);
            for (u, v) in terms {
                self.cones.subtract_product(u, v, &mut self.product);
            }
            self.t.copy_from_slice(&self.product);
            self.cones.divide(lambda, &mut self.t);
            self.direction();
        }
        // The objective couples s and z, so both take the same step length.
        let step = (TO_BOUNDARY * self.longest_step()).min(1.0);
        axpy(step, &self.dx, &mut self.x);
        axpy(step, &self.ds, &mut self.s);
        axpy(step, &self.dz, &mut self.z);
        true
    }

    /// Largest step that keeps s and z in K, at most 1 over [`TO_BOUNDARY`].
    fn longest_step(&self) -> f64 {
        let s = self.cones.longest_step(&self.s, &self.ds);
        let z = self.cones.longest_step(&self.z, &self.dz);
        s.min(z).min(1.0 / TO_BOUNDARY)
    }

    /// Newton's direction for t.
    fn direction(&mut self) {
        let (r, m) = (self.target.len(), self.offset.len());
        let (above, below) = self.right.split_at_mut(r);
        above.iter_mut().zip(&self.image).for_each(|(right, image)| *right = -image);
        let parts = self.t.iter().zip(&self.scaled_primal).zip(self.scaling.lambda());
        for (right, ((t, primal), lambda)) in below.iter_mut().zip(parts) {
            *right = t - primal + lambda;
        }
        self.factor.solve(&self.right, &mut self.dx);
        matrix_vector(&self.rows, m, &self.dx, &mut self.ds);
        self.scaled_ds.copy_from_slice(&self.ds);
        self.scaling.divide(&self.cones, &mut self.scaled_ds);
        axpy(1.0, &self.primal, &mut self.ds);
        axpy(1.0, &self.scaled_primal, &mut self.scaled_ds);
        // The lower part of the residual is W (z + Δz), and orthogonal to G with that of C.
        // By t − W⁻¹Δs the rounding of Δx would count in it with W⁻¹, and in z with W⁻².
        self.factor.residual(&mut self.right);
        self.dz.copy_from_slice(&self.right[r..]);
        self.scaled_dz.copy_from_slice(&self.right[r..]);
        axpy(-1.0, self.scaling.lambda(), &mut self.scaled_dz);
        self.scaling.divide(&self.cones, &mut self.dz);
        axpy(-1.0, &self.z, &mut self.dz);
    }
}

#[cfg(test)]
mod tests;
