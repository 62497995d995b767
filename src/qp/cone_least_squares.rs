//! Least squares over contact forces: few rows, many contacts.
//!
//! `min ½ |F x − t|² + ½ ε |x|²` over the forces x of k contacts in their friction pyramids, with
//! rows `Nᵀ F x ≥ d` on the image of F.
//!
//! That is the form of inverse dynamics with contact: F has a row for each coordinate without motor
//! (six for a floating base) or for each motor, however many contacts there are. A method for dense
//! programs factors its 3k × 3k Hessian, whose rank is at most the number of rows r; here the rows
//! are factored, so a solve costs O(k r²) per iteration.
//!
//! # Method
//! Primal-dual interior point with Mehrotra's predictor and corrector. With the slacks s and
//! multipliers z of the pyramids' facets (rows C, block-diagonal by contacts) a Newton step solves
//!
//! ```text
//! (B + VᵀV) Δx = g
//! B = ε I + Cᵀ S⁻¹Z C    3 × 3 blocks, B = D⁻ᵀ D⁻¹
//! VᵀV = Fᵀ (I + N D_N Nᵀ) F,  D_N = Z_N / S_N
//! ```
//!
//! In the unknowns `D⁻¹ x` that is `(I + U Uᵀ) y = g` with `U = Dᵀ Vᵀ`, n × r; an orthonormal basis
//! of its range splits it into the part that no row involves, where the solution is the right side,
//! and a system of r. Woodbury's formula, which does the same without a basis, cancels where B is
//! small, and B is as small as ε for every contact that sticks.
//!
//! Contacts are adjacent in memory (`scaling`), so that all loops run over them, four at a time.
//!
//! Where several contacts can share a load, they share it: among many minimisers the method tends
//! to the centre of their set, and ε picks the least norm. So forces vary smoothly with the data,
//! as a controller needs.
//!
//! # References
//! S. Mehrotra, *On the implementation of a primal-dual interior point method*, SIAM J. Optim. 2
//! (1992). J. Nocedal, S. J. Wright, *Numerical Optimization* (2006), sec. 16.6.

mod basis;
mod scaling;

use crate::cone::ConeShape;
use crate::problem_data::QpData;
use crate::status::{Outcome, Status};
use basis::Basis;
use legwork_linalg::cancel::check;
use legwork_linalg::lanes::padded;
use legwork_linalg::{all_finite, axpy, dot, matrix_vector, max_abs};
use scaling::Scaling;

/// The least-squares problem over contact forces: a borrowed view. k contacts, n = 3k unknowns.
///
/// | symbol | field | shape |
/// |---|---|---|
/// | F | `matrix` | r × 3k, column-major; per contact the axes (t1, t2, n) |
/// | t | `target` | r |
/// | μ | `friction` | k; 0: no friction, ∞: no limit to it |
/// | N | `rows` | r × m, column-major |
/// | d | `lower` | m |
#[derive(Clone, Copy, Debug)]
pub struct ConeLeastSquares<'a> {
    /// F.
    pub matrix: &'a [f64],
    /// t; its length is the number of rows r.
    pub target: &'a [f64],
    /// μ; its length is the number of contacts k.
    pub friction: &'a [f64],
    /// The pyramid of all contacts. A circular cone is rejected.
    pub cone: &'a ConeShape,
    /// N, whose columns are in the space of t.
    pub rows: &'a [f64],
    /// d; its length is the number of bounded rows m.
    pub lower: &'a [f64],
    /// ε relative to the square of F's longest column, ≥ 0; a typical value is 1e-9.
    pub regularisation: f64,
}

impl ConeLeastSquares<'_> {
    /// Longest column of F, and the size of x times it; `None` if no force has an effect, or none
    /// is needed.
    fn units(&self) -> Option<(f64, f64)> {
        let columns = self.matrix.chunks_exact(self.target.len().max(1));
        let longest = columns.map(|column| dot(column, column)).fold(0.0, f64::max).sqrt();
        let typical = max_abs(self.target).max(max_abs(self.lower) / longest.max(1e-300));
        (longest > 0.0 && typical > 0.0).then_some((longest, typical))
    }

    /// Writes the dense quadratic program of the same minimum, in unknowns x over the unit that is
    /// returned [N]; `None` if x = 0 is the minimum. Its Hessian `FᵀF + εI` squares the
    /// conditioning of F, so a solver of it is less exact than [`ConeLeastSquaresSolver`].
    ///
    /// It has 3k unknowns and a row for each side of each contact's pyramid, whether the contact
    /// has friction or not, then those of N.
    ///
    /// # Panics
    /// If a slice is too short.
    pub fn write_qp(&self, qp: &mut QpData) -> Option<f64> {
        let (r, n, sides) = (self.target.len(), 3 * self.friction.len(), self.cone.sides());
        let (longest, typical) = self.units()?;
        let facets = sides * self.friction.len();
        let m = facets + self.lower.len();
        for values in [
            &mut qp.hessian,
            &mut qp.gradient,
            &mut qp.rows,
            &mut qp.row_lower,
            &mut qp.row_upper,
            &mut qp.lower,
            &mut qp.upper,
        ] {
            values.clear();
        }

        // The objective, with columns of F over the longest.
        let column = |i: usize| &self.matrix[i * r..(i + 1) * r];
        for j in 0..n {
            qp.hessian.extend((0..n).map(|i| dot(column(i), column(j)) / (longest * longest)));
            qp.hessian[j * n + j] += self.regularisation;
            qp.gradient.push(-dot(column(j), self.target) / (longest * typical));
        }

        // Contacts push, inside their pyramids; a free row stands for a facet that is none.
        qp.rows.resize(m * n, 0.0);
        qp.row_lower.resize(m, f64::NEG_INFINITY);
        qp.row_upper.resize(m, f64::INFINITY);
        qp.lower.resize(n, f64::NEG_INFINITY);
        qp.upper.resize(n, f64::INFINITY);
        for (contact, &mu) in self.friction.iter().enumerate() {
            let (slope, first) = (self.cone.facet_friction(mu), 3 * contact);
            qp.lower[first + 2] = 0.0;
            if slope <= 0.0 {
                qp.lower[first..first + 2].fill(0.0);
                qp.upper[first..first + 2].fill(0.0);
            } else if slope.is_finite() {
                let length = (1.0 + slope * slope).sqrt();
                for (facet, [c, s]) in self.cone.facets().iter().enumerate() {
                    let row = sides * contact + facet;
                    for (axis, value) in [-c, -s, slope].into_iter().enumerate() {
                        qp.rows[(first + axis) * m + row] = value / length;
                    }
                    qp.row_lower[row] = 0.0;
                }
            }
        }

        // Rows on the image of F.
        for (i, (row, lower)) in self.rows.chunks_exact(r.max(1)).zip(self.lower).enumerate() {
            let length = dot(row, row).sqrt();
            if length > NO_ROW * longest {
                for j in 0..n {
                    qp.rows[j * m + facets + i] = dot(row, column(j)) / (length * longest);
                }
                qp.row_lower[facets + i] = lower / (length * typical);
            }
        }
        Some(typical / longest)
    }
}

/// Share of the way to the boundary that a step goes.
const TO_BOUNDARY: f64 = 0.995;
/// Largest scaled residual or complementary product at which the method stops at once; and, where
/// rounding stops it earlier, up to which an answer is called solved, or inaccurate.
const TARGET: f64 = 1e-11;
const SOLVED: f64 = 1e-9;
const USABLE: f64 = 1e-5;
/// Iterations without a smaller residual after which rounding has stopped the method.
const STALLED: u32 = 5;
const MAX_ITERATIONS: u32 = 60;
/// Slack and multiplier to begin with, in scaled units.
const START: f64 = 1.0;
/// A row of N shorter than this share of F's longest column bounds nothing.
const NO_ROW: f64 = 1e-10;

/// Interior-point solver of [`ConeLeastSquares`].
///
/// Memory grows on the first problem of a size and is kept. Equal data give equal bits; there is no
/// memory from one solve to the next.
#[doc(alias("Mehrotra", "interior point", "friction cone QP"))]
#[derive(Clone, Debug, Default)]
pub struct ConeLeastSquaresSolver {
    /// F over its longest column, by columns of `stride` values, component by component.
    matrix: Vec<f64>,
    /// The same by rows.
    transposed: Vec<f64>,
    /// r, and with its padding.
    count: usize,
    stride: usize,
    target: Vec<f64>,
    /// Unit columns of N, those kept.
    rows: Vec<f64>,
    lower: Vec<f64>,
    /// x in scaled units.
    x: Vec<f64>,
    /// The iterate of least residual.
    best: Vec<f64>,
    dx: Vec<f64>,
    /// `F x − t`.
    image: Vec<f64>,
    gradient: Vec<f64>,
    right: Vec<f64>,
    /// Sums over the bounded rows, in the space of the target.
    weights: Vec<f64>,
    scaling: Scaling,
    slack: Bounds,
    basis: Basis,
}

/// Slacks, multipliers and steps of the inequalities: facets, then rows. Missing facets have a
/// slack of one and no multiplier.
#[derive(Clone, Debug, Default)]
struct Bounds {
    s: Vec<f64>,
    z: Vec<f64>,
    ds: Vec<f64>,
    dz: Vec<f64>,
    /// `C x − s − c`.
    residual: Vec<f64>,
    /// `s ∘ z − σμ`, with the corrector's second-order part.
    product: Vec<f64>,
    /// `1 / s`, and `z / s`.
    inverse: Vec<f64>,
    weight: Vec<f64>,
    /// One for existing inequalities, zero for missing facets.
    live: Vec<f64>,
    live_count: usize,
}

impl Bounds {
    fn reset(&mut self, live: &[f64], live_count: usize, rows: usize) {
        self.live.clear();
        self.live.extend_from_slice(live);
        self.live.resize(live.len() + rows, 1.0);
        self.live_count = live_count + rows;
        let count = self.live.len();
        self.s.clear();
        self.s.resize(count, START);
        self.z.clear();
        self.z.extend(self.live.iter().map(|live| START * live));
        let own = [&mut self.ds, &mut self.dz, &mut self.residual];
        let more = [&mut self.product, &mut self.inverse, &mut self.weight];
        for v in own.into_iter().chain(more) {
            v.clear();
            v.resize(count, 0.0);
        }
    }

    /// `1 / s` and `z / s`.
    fn invert(&mut self) {
        for (inverse, s) in self.inverse.iter_mut().zip(&self.s) {
            *inverse = 1.0 / s;
        }
        for ((weight, inverse), z) in self.weight.iter_mut().zip(&self.inverse).zip(&self.z) {
            *weight = z * inverse;
        }
    }

    /// Largest step in (0, 1] that keeps s and z positive.
    fn longest_step(&self) -> f64 {
        // The largest `−ds/s` and `−dz/z`; missing facets have `0/0`, which is skipped.
        let mut shrink = [1.0f64; 4];
        let mut take = |dv: &[f64], v: &[f64]| {
            for (dv, v) in dv.chunks(4).zip(v.chunks(4)) {
                for ((shrink, dv), v) in shrink.iter_mut().zip(dv).zip(v) {
                    let rate = -dv / v;
                    *shrink = if rate > *shrink { rate } else { *shrink };
                }
            }
        };
        take(&self.ds, &self.s);
        take(&self.dz, &self.z);
        1.0 / shrink.into_iter().fold(1.0, f64::max)
    }

    /// Mean of `s z`.
    fn complementarity(&self) -> f64 {
        if self.live_count == 0 { 0.0 } else { dot(&self.s, &self.z) / self.live_count as f64 }
    }
}

impl ConeLeastSquaresSolver {
    /// Solves; `x` is written. The answer is inside the pyramids. Problems whose rows no force can
    /// satisfy end with [`Status::MaxIterations`].
    ///
    /// # Panics
    /// If a slice has the wrong length.
    pub fn solve(&mut self, problem: &ConeLeastSquares<'_>, x: &mut [f64]) -> Outcome {
        let (r, k, m) = (problem.target.len(), problem.friction.len(), problem.lower.len());
        let n = 3 * k;
        let expected = [r * n, r * m, n];
        let found = [problem.matrix.len(), problem.rows.len(), x.len()];
        assert_eq!(found, expected, "expected F r x 3k, N r x m, x 3k");
        if problem.cone.sides() == 0 {
            return Outcome::refused(Status::UnsupportedCone);
        }
        let finite = [problem.matrix, problem.target, problem.rows, problem.lower];
        let has_friction = problem.friction.iter().all(|&mu| mu >= 0.0);
        if !(finite.into_iter().all(all_finite) && has_friction && problem.regularisation >= 0.0) {
            return Outcome::refused(Status::InvalidData);
        }
        let Some((longest, typical)) = problem.units() else {
            x.fill(0.0);
            return Outcome { status: Status::Solved, iterations: 0, residual: 0.0 };
        };
        self.set(problem, longest, typical);
        let outcome = self.iterate();
        let width = self.scaling.width();
        for (i, x) in x.iter_mut().enumerate() {
            *x = self.best[i % 3 * width + i / 3] * (typical / longest);
        }
        outcome
    }

    /// Copies the problem in units in which F's longest column and its largest target are one.
    fn set(&mut self, problem: &ConeLeastSquares<'_>, longest: f64, typical: f64) {
        let r = problem.target.len();
        self.scaling.set(problem.cone, problem.friction, problem.regularisation);
        let (stride, width) = (padded(r), self.scaling.width());
        let n = 3 * width;
        (self.count, self.stride) = (r, stride);
        for matrix in [&mut self.matrix, &mut self.transposed] {
            matrix.clear();
            matrix.resize(stride * n, 0.0);
        }
        for (i, column) in problem.matrix.chunks_exact(r.max(1)).enumerate() {
            let (axis, contact) = (i % 3, i / 3);
            if axis < 2 && !self.scaling.has_friction(contact) {
                continue;
            }
            let at = axis * width + contact;
            let target = &mut self.matrix[at * stride..];
            for (row, (target, f)) in target.iter_mut().zip(column).enumerate() {
                *target = f / longest;
                self.transposed[row * n + at] = *target;
            }
        }
        self.target.clear();
        self.target.extend(problem.target.iter().map(|t| t / typical));
        self.target.resize(stride, 0.0);
        self.rows.clear();
        self.lower.clear();
        for (row, lower) in problem.rows.chunks_exact(r.max(1)).zip(problem.lower) {
            let length = dot(row, row).sqrt();
            if length > NO_ROW * longest {
                self.rows.extend(row.iter().map(|n| n / length));
                self.lower.push(lower / (length * typical));
                self.rows.resize(self.lower.len() * stride, 0.0);
            }
        }
        // One unit of normal force at each contact.
        self.x.clear();
        self.x.resize(n, 0.0);
        self.x[2 * width..][..problem.friction.len()].fill(START);
        let own = [&mut self.best, &mut self.dx, &mut self.gradient];
        for v in own.into_iter().chain([&mut self.right]) {
            v.clear();
            v.resize(n, 0.0);
        }
        for v in [&mut self.image, &mut self.weights] {
            v.clear();
            v.resize(stride, 0.0);
        }
        let (live, count) = (self.scaling.live(), self.scaling.live_count());
        self.slack.reset(live, count, self.lower.len());
        let s = &mut self.slack.s[..live.len()];
        self.scaling.facets_of(&self.x, s);
        for (s, live) in s.iter_mut().zip(live) {
            *s += 1.0 - live;
        }
    }

    fn iterate(&mut self) -> Outcome {
        let (mut iterations, mut best, mut stalled) = (0, f64::INFINITY, 0);
        loop {
            check();
            let residual = self.residuals();
            if !residual.is_finite() {
                return Outcome { status: Status::NumericalTrouble, iterations, residual };
            }
            stalled = if residual < 0.5 * best { 0 } else { stalled + 1 };
            if residual < best {
                best = residual;
                self.best.copy_from_slice(&self.x);
            }
            let has_stalled = stalled >= STALLED && best <= USABLE;
            let is_last = has_stalled || iterations == MAX_ITERATIONS;
            if residual <= TARGET || is_last || !self.step() {
                let residual = best;
                let status = match residual {
                    _ if residual <= SOLVED => Status::Solved,
                    _ if residual <= USABLE => Status::Inaccurate,
                    _ if is_last => Status::MaxIterations,
                    _ => Status::NumericalTrouble,
                };
                return Outcome { status, iterations, residual };
            }
            iterations += 1;
        }
    }

    /// Residuals of the optimality conditions at the iterate; the largest, in scaled units.
    fn residuals(&mut self) -> f64 {
        matrix_vector(&self.matrix, self.stride, &self.x, &mut self.image);
        axpy(-1.0, &self.target, &mut self.image);
        let facets = self.scaling.facet_count();
        let Bounds { s, z, residual, live, .. } = &mut self.slack;
        self.scaling.facets_of(&self.x, &mut residual[..facets]);
        for ((residual, s), live) in residual.iter_mut().zip(&*s).zip(&*live).take(facets) {
            *residual += 1.0 - live - s;
        }
        // Multipliers of the rows act on the image of F.
        self.weights.copy_from_slice(&self.image);
        let rows = self.rows.chunks_exact(self.stride.max(1)).zip(&self.lower);
        for (i, (row, lower)) in rows.enumerate() {
            let at = facets + i;
            residual[at] = dot(row, &self.image) + dot(row, &self.target) - lower - s[at];
            axpy(-z[at], row, &mut self.weights);
        }
        let epsilon = self.scaling.regularisation();
        matrix_vector(&self.transposed, self.x.len(), &self.weights, &mut self.gradient);
        axpy(epsilon, &self.x, &mut self.gradient);
        self.scaling.add_multipliers(&z[..facets], &mut self.gradient);
        let mut products = 0.0f64;
        for (s, z) in s.iter().zip(&*z) {
            products = if s * z > products { s * z } else { products };
        }
        let (primal, dual) = (max_abs(residual), max_abs(&self.gradient));
        // NaN must propagate, which `max` and `max_abs` drop.
        if all_finite(residual) && all_finite(&self.gradient) {
            primal.max(dual).max(products)
        } else {
            f64::NAN
        }
    }

    /// One predictor-corrector step; false if the system could not be solved.
    fn step(&mut self) -> bool {
        let facets = self.scaling.facet_count();
        self.slack.invert();
        if !self.scaling.factor(&self.slack.weight[..facets]) {
            return false;
        }
        let weights = self.slack.weight[facets..].iter().copied();
        let bounds = self.rows.chunks_exact(self.stride.max(1)).zip(weights);
        let matrix = (&self.transposed[..], self.count);
        if !self.basis.factor(matrix, bounds, &self.scaling) {
            return false;
        }
        let mu = self.slack.complementarity();
        let Bounds { s, z, product, .. } = &mut self.slack;
        for ((product, s), z) in product.iter_mut().zip(s).zip(z) {
            *product = *s * *z;
        }
        self.direction();
        if mu > 0.0 {
            let step = self.slack.longest_step();
            let Bounds { s, z, ds, dz, product, live, live_count, .. } = &mut self.slack;
            let after: f64 = (s.iter().zip(&*ds))
                .zip(z.iter().zip(&*dz))
                .map(|((s, ds), (z, dz))| (s + step * ds) * (z + step * dz))
                .sum::<f64>()
                / *live_count as f64;
            let ratio = after / mu;
            let centre = ratio * ratio * ratio * mu;
            for (i, product) in product.iter_mut().enumerate() {
                *product = s[i] * z[i] + ds[i] * dz[i] - centre * live[i];
            }
            self.direction();
        }
        // The objective couples s and z, so both take the same step length.
        let longest = self.slack.longest_step();
        let step = if longest < 1.0 { TO_BOUNDARY * longest } else { 1.0 };
        axpy(step, &self.dx, &mut self.x);
        let Bounds { s, z, ds, dz, .. } = &mut self.slack;
        axpy(step, ds, s);
        axpy(step, dz, z);
        true
    }

    /// Newton's direction for the products in `slack.product`.
    fn direction(&mut self) {
        let facets = self.scaling.facet_count();
        let Bounds { ds, dz, residual, product, inverse, weight, .. } = &mut self.slack;
        // g = −gradient − Cᵀ S⁻¹ (product + z residual)
        for (i, ds) in ds.iter_mut().enumerate() {
            *ds = product[i] * inverse[i] + weight[i] * residual[i];
        }
        for (right, gradient) in self.right.iter_mut().zip(&self.gradient) {
            *right = -gradient;
        }
        self.scaling.add_multipliers(&ds[..facets], &mut self.right);
        self.weights.fill(0.0);
        for (row, weight) in self.rows.chunks_exact(self.stride.max(1)).zip(&ds[facets..]) {
            axpy(-weight, row, &mut self.weights);
        }
        let right = (&self.right[..], &self.weights[..]);
        self.basis.solve(&self.scaling, right, &mut self.dx, &mut self.image);
        self.scaling.facets_of(&self.dx, &mut ds[..facets]);
        for (row, ds) in self.rows.chunks_exact(self.stride.max(1)).zip(&mut ds[facets..]) {
            *ds = dot(row, &self.image);
        }
        for (i, ds) in ds.iter_mut().enumerate() {
            *ds += residual[i];
            dz[i] = -(product[i] * inverse[i] + weight[i] * *ds);
        }
    }
}

#[cfg(test)]
mod tests;
