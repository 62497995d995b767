//! The dual active-set method of Goldfarb and Idnani, over rows known only by their products.
//!
//! `min ½ xᵀHx + gᵀx` subject to `nᵢᵀx = bᵢ` (the first rows) and `nᵢᵀx ≥ bᵢ` (the others), H ≻ 0.
//!
//! The method starts at the unconstrained minimum and adds violated rows one by one; every
//! iterate is optimal for its active rows, so the objective rises at each full step and no active
//! set returns. [`ConjugateBasis`] keeps `J` with `Jᵀ H J = I` and the upper triangular `R` with
//! `Jᵀ N = [R; 0]` for the active normals N.
//!
//! Before an answer is returned, x and the multipliers are recomputed from the factors of the final
//! active set, which removes the rounding of the path: redundant problems start
//! from an unconstrained minimum ten orders of magnitude away.
//!
//! Ties (equal violation, equal step) go to the lowest row and the earliest active row.
//!
//! # References
//! D. Goldfarb, A. Idnani, *A numerically stable dual method for solving strictly convex quadratic
//! programs*, Math. Program. 27 (1983), algorithm of section 3.

use crate::status::Status;
use legwork_linalg::cancel::check;
use legwork_linalg::lanes::{axpy, dot, padded};
use legwork_linalg::{ConjugateBasis, ldlt, max_abs};

/// The rows `nᵢᵀx ≥ bᵢ` of a problem, equalities first.
pub(crate) trait Rows {
    /// Number of rows.
    fn count(&self) -> usize;
    /// How many of the first rows are equalities.
    fn equality_count(&self) -> usize;
    /// `bᵢ`.
    fn right_hand_side(&self, row: usize) -> f64;
    /// `‖nᵢ‖`, by which violations are compared.
    fn norm(&self, row: usize) -> f64;
    /// `s = N x - b` for all rows.
    fn residuals(&mut self, x: &[f64], s: &mut [f64]);
    /// `d = Jᵀ nᵢ` for n = `d.len()` columns of J, each padded to `stride`.
    fn project(&mut self, row: usize, j: &[f64], stride: usize, d: &mut [f64]);
    /// `normal ← normal + weight nᵢ`.
    fn add_normal(&self, row: usize, weight: f64, normal: &mut [f64]);
}

/// Residuals below this times the size of their terms count as satisfied.
const FEASIBILITY: f64 = 1e-12;
/// A normal whose part outside the active span is below this share of it is dependent.
const DEPENDENCE: f64 = 1e-11;
/// A proof of infeasibility counts if its gap is above this share of its terms,
const CERTAIN_GAP: f64 = 1e-9;
/// and if it excludes all points up to this many times the size of x.
const CERTAIN_REACH: f64 = 1e3;

/// Memory of the method. Columns are padded with zeros to whole lanes.
#[derive(Clone, Debug, Default)]
pub(crate) struct DualActiveSet {
    n: usize,
    stride: usize,
    /// `L D` of `H = L D Lᵀ` in the lower triangle.
    l: Vec<f64>,
    /// One over the entries of D.
    pivots: Vec<f64>,
    /// J and R.
    basis: ConjugateBasis,
    d: Vec<f64>,
    z: Vec<f64>,
    direction: Vec<f64>,
    c: Vec<f64>,
    s: Vec<f64>,
    /// The solution, padded.
    x: Vec<f64>,
    /// Multipliers of the active rows.
    pub(crate) multipliers: Vec<f64>,
    /// Active rows, in the order of the columns of R.
    pub(crate) active: Vec<usize>,
    is_active: Vec<bool>,
    /// Rows left violated by rounding until x moves again.
    is_tolerated: Vec<bool>,
    has_tolerated: bool,
    /// The row that contradicts the active ones and its weight, if the rows were found infeasible.
    contradiction: Option<(usize, f64)>,
}

impl DualActiveSet {
    /// Makes room for `n` unknowns and `rows` rows; allocates only if that is more than before.
    pub(crate) fn reserve(&mut self, n: usize, rows: usize) {
        self.n = n;
        self.stride = padded(n);
        self.basis.reserve(n);
        if self.l.len() < n * self.stride {
            self.l.resize(n * self.stride, 0.0);
        }
        for vector in [
            &mut self.pivots,
            &mut self.d,
            &mut self.z,
            &mut self.direction,
            &mut self.c,
            &mut self.x,
        ] {
            if vector.len() < self.stride {
                vector.resize(self.stride, 0.0);
            }
        }
        if self.s.len() < rows {
            self.s.resize(rows, 0.0);
            self.is_active.resize(rows, false);
            self.is_tolerated.resize(rows, false);
        }
        self.multipliers.clear();
        self.multipliers.reserve(n + 1);
        self.active.clear();
        self.active.reserve(n + 1);
        self.contradiction = None;
    }

    /// Factors `H + shift I` from the lower triangle of the n × n `hessian`; false if a pivot is
    /// not above `least_pivot` times the largest diagonal, or not above the rounding of its own
    /// diagonal: scales of rows may be far apart, as those of a base and of fingers, and rounding
    /// in a factorisation without pivoting goes with each row's own (J. Demmel, *On floating point
    /// errors in Cholesky*, 1989).
    pub(crate) fn factor(&mut self, hessian: &[f64], shift: f64, least_pivot: f64) -> bool {
        match self.stride {
            12 => self.factor_of(hessian, shift, least_pivot, 12),
            stride => self.factor_of(hessian, shift, least_pivot, stride),
        }
    }

    #[inline(always)]
    fn factor_of(&mut self, hessian: &[f64], shift: f64, least: f64, stride: usize) -> bool {
        let n = self.n;
        for k in 0..n {
            let at = k * stride;
            self.l[at..at + n].copy_from_slice(&hessian[k * n..(k + 1) * n]);
            self.l[at + n..at + stride].fill(0.0);
            self.l[at + k] += shift;
        }
        if !ldlt::factor(&mut self.l, n, stride, &mut self.pivots, least) {
            return false;
        }
        let rounding = n as f64 * f64::EPSILON;
        let mut pivots = self.pivots[..n].iter().enumerate();
        pivots.all(|(k, inverse)| rounding * (hessian[k * n + k] + shift) * inverse < 1.0)
    }

    /// Factors the identity instead of a Hessian.
    pub(crate) fn factor_identity(&mut self) {
        let (n, stride) = (self.n, self.stride);
        self.l[..n * stride].fill(0.0);
        for k in 0..n {
            self.l[k * stride + k] = 1.0;
        }
        self.pivots[..n].fill(1.0);
    }

    /// The solution.
    pub(crate) fn x(&self) -> &[f64] {
        &self.x[..self.n]
    }

    /// The combination `Σ yᵢ nᵢ ≈ 0` of rows with `Σ yᵢ bᵢ > 0` that proves the last problem
    /// infeasible; empty if it was not found so.
    pub(crate) fn contradiction(&self) -> impl Iterator<Item = (usize, f64)> {
        let weight = self.contradiction.map_or(0.0, |(_, weight)| weight);
        let rest = if self.contradiction.is_some() { self.active.len() } else { 0 };
        let others = self.active[..rest].iter().zip(&self.direction);
        self.contradiction.into_iter().chain(others.map(move |(&row, r)| (row, -weight * r)))
    }

    /// Whether the last answer leaves a row violated that was held to be implied by others.
    pub(crate) fn has_tolerated(&self) -> bool {
        self.has_tolerated
    }

    /// Runs the method with the factored Hessian, gradient `g` and `rows`.
    ///
    /// `guess` names rows to begin with (a warm start); dependent ones and those with a negative
    /// multiplier are left out again. Returns the status and the number of changes of the active
    /// set.
    pub(crate) fn solve<R: Rows>(
        &mut self,
        g: &[f64],
        rows: &mut R,
        limit: u32,
        guess: impl Iterator<Item = usize>,
    ) -> (Status, u32) {
        match self.stride {
            12 => self.run(g, rows, limit, guess, 12),
            stride => self.run(g, rows, limit, guess, stride),
        }
    }

    #[inline(always)]
    fn run<R: Rows>(
        &mut self,
        g: &[f64],
        rows: &mut R,
        limit: u32,
        guess: impl Iterator<Item = usize>,
        stride: usize,
    ) -> (Status, u32) {
        self.basis.begin(&self.l, &self.pivots, stride);
        self.active.clear();
        self.multipliers.clear();
        self.is_active[..rows.count()].fill(false);
        self.is_tolerated[..rows.count()].fill(false);
        self.has_tolerated = false;
        self.contradiction = None;
        let mut changes = 0;

        // Equalities first; one that depends on others is implied by them or contradicts them.
        let equalities = rows.equality_count();
        for row in 0..equalities {
            rows.project(row, self.basis.columns(), stride, &mut self.d[..self.n]);
            if self.is_independent() {
                self.take_in(row, stride);
                changes += 1;
            } else {
                // The solution of the equalities so far, for comparison with the proof.
                self.settle(g, rows, &mut changes, stride);
                rows.project(row, self.basis.columns(), stride, &mut self.d[..self.n]);
                self.set_direction(stride);
                if self.is_contradiction(row, rows) {
                    return (Status::PrimalInfeasible, changes);
                }
            }
        }

        // Then the guess, as far as it is independent.
        for row in guess.filter(|&row| row >= equalities) {
            if row < rows.count() && !self.is_active[row] {
                rows.project(row, self.basis.columns(), stride, &mut self.d[..self.n]);
                if self.is_independent() {
                    self.take_in(row, stride);
                    changes += 1;
                }
            }
        }
        self.settle(g, rows, &mut changes, stride);

        // One violated row after the other.
        let mut is_fresh = true;
        loop {
            check();
            if !legwork_linalg::all_finite(&self.x[..stride]) {
                return (Status::NumericalTrouble, changes);
            }
            let Some(row) = self.most_violated(rows) else {
                if is_fresh {
                    return (Status::Solved, changes);
                }
                // Candidate answer: recompute it and check again.
                self.settle(g, rows, &mut changes, stride);
                is_fresh = true;
                continue;
            };
            if changes >= limit {
                return (Status::MaxIterations, changes);
            }
            is_fresh = false;
            if self.satisfy(row, rows, limit, &mut changes, stride) {
                if self.has_tolerated {
                    self.is_tolerated[..rows.count()].fill(false);
                    self.has_tolerated = false;
                }
            } else if changes >= limit {
                return (Status::MaxIterations, changes);
            } else if self.is_contradiction(row, rows) {
                return (Status::PrimalInfeasible, changes);
            } else {
                // Neither reachable nor refuted: implied by the active rows but for rounding.
                self.is_tolerated[row] = true;
                self.has_tolerated = true;
                self.settle(g, rows, &mut changes, stride);
                is_fresh = true;
            }
        }
    }

    /// True if `d = Jᵀ n` has a part outside the active span.
    fn is_independent(&self) -> bool {
        let (free, bound) = self.basis.squares(&self.d);
        free > DEPENDENCE * DEPENDENCE * (free + bound)
    }

    /// `direction = R⁻¹ d₁`.
    #[inline(always)]
    fn set_direction(&mut self, stride: usize) {
        let q = self.active.len();
        self.direction[..q].copy_from_slice(&self.d[..q]);
        self.basis.solve_upper(&mut self.direction, stride);
    }

    /// Adds a row for which `d` is known but `z = J₂ d₂` is not.
    #[inline(always)]
    fn take_in(&mut self, row: usize, stride: usize) {
        self.basis.free_combination(&self.d, &mut self.z, stride);
        let (free, _) = self.basis.squares(&self.d);
        self.append(row, free, 0.0, stride);
    }

    /// Makes `row` active, given `d`, `z = J₂ d₂` and `free = ‖d₂‖²`.
    #[inline(always)]
    fn append(&mut self, row: usize, free: f64, multiplier: f64, stride: usize) {
        self.basis.append(&mut self.d, &mut self.z, free, stride);
        self.active.push(row);
        self.is_active[row] = true;
        self.multipliers.push(multiplier);
    }

    /// Makes the active row at `index` inactive.
    fn drop_row(&mut self, index: usize, stride: usize) {
        let row = self.active.remove(index);
        self.is_active[row] = false;
        self.multipliers.remove(index);
        self.basis.remove(index, stride);
    }

    /// Whether a dependent row proves that no point satisfies it and the active rows, given
    /// `direction` w with `n ≈ N w`: by Farkas's lemma, if `Σ yᵢ bᵢ > 0` for the combination
    /// `(n, -w)` of rows, which any point x would have to make `(n - N w)ᵀ x`.
    ///
    /// Dependence is known from the factors only up to the condition of H, so the combination is
    /// formed from the rows themselves. What is left of it, `|n - N w|₁`, tells how far away a
    /// feasible point would have to be.
    fn is_contradiction<R: Rows>(&mut self, row: usize, rows: &R) -> bool {
        let n = self.n;
        self.z[..n].fill(0.0);
        rows.add_normal(row, 1.0, &mut self.z[..n]);
        let mut gap = rows.right_hand_side(row);
        let mut size = gap.abs();
        for (weight, &other) in self.direction.iter_mut().zip(&self.active) {
            // A proof has no weight of the wrong sign, not even by rounding.
            if other >= rows.equality_count() {
                *weight = weight.min(0.0);
            }
            rows.add_normal(other, -*weight, &mut self.z[..n]);
            let term = *weight * rows.right_hand_side(other);
            gap -= term;
            size += term.abs();
        }
        // An inequality can be broken in one direction only.
        let weight = if row < rows.equality_count() && gap < 0.0 { -1.0 } else { 1.0 };
        let rest: f64 = self.z[..n].iter().map(|z| z.abs()).sum();
        let reach = max_abs(&self.x[..n]).max(rows.right_hand_side(row).abs() / rows.norm(row));
        let is_proof =
            weight * gap > CERTAIN_GAP * size && weight * gap > CERTAIN_REACH * rest * reach;
        self.contradiction = is_proof.then_some((row, weight));
        is_proof
    }

    /// The row whose distance to feasibility is largest, if any is beyond rounding.
    fn most_violated<R: Rows>(&mut self, rows: &mut R) -> Option<usize> {
        let count = rows.count();
        rows.residuals(&self.x[..self.n], &mut self.s[..count]);
        let reach = max_abs(&self.x[..self.n]);
        let mut worst = 0.0;
        let mut found = None;
        for row in rows.equality_count()..count {
            let s = self.s[row];
            if s < 0.0 && !self.is_active[row] && !self.is_tolerated[row] {
                let norm = rows.norm(row);
                let slack = FEASIBILITY * (reach * norm + rows.right_hand_side(row).abs());
                if s < worst * norm && s < -slack {
                    worst = s / norm;
                    found = Some(row);
                }
            }
        }
        found
    }

    /// Steps until `row` holds: dual steps that drop blocking rows, then a full step. False if
    /// no step can satisfy it.
    #[inline(always)]
    fn satisfy<R: Rows>(
        &mut self,
        row: usize,
        rows: &mut R,
        limit: u32,
        changes: &mut u32,
        stride: usize,
    ) -> bool {
        let n = self.n;
        let mut residual = self.s[row];
        let mut multiplier = 0.0;
        loop {
            check();
            // How x and the multipliers move as the multiplier of the row grows.
            rows.project(row, self.basis.columns(), stride, &mut self.d[..n]);
            let q = self.active.len();
            let (free, bound) = self.basis.squares(&self.d);
            let independent = free > DEPENDENCE * DEPENDENCE * (free + bound);
            self.set_direction(stride);

            // The longest dual step that keeps the multipliers of inequalities non-negative.
            let threshold = 1e-13 * max_abs(&self.direction[..q]);
            let (mut partial, mut blocking) = (f64::INFINITY, None);
            for (index, &active) in self.active.iter().enumerate() {
                let rate = self.direction[index];
                // A row of multiplier zero blocks whatever its rate; the quotient is only formed
                // where it can win.
                if active >= rows.equality_count()
                    && rate > threshold
                    && self.multipliers[index] < partial * rate
                {
                    (partial, blocking) = (self.multipliers[index] / rate, Some(index));
                }
            }

            // The dual step, or the full one if it is shorter.
            let full = if independent { -residual / free } else { f64::INFINITY };
            let step = full.min(partial);
            if !step.is_finite() || *changes >= limit {
                return false;
            }
            legwork_linalg::axpy(-step, &self.direction, &mut self.multipliers);
            multiplier += step;
            *changes += 1;

            // x moves only if the row is independent of the active ones.
            if independent {
                self.basis.free_combination(&self.d, &mut self.z, stride);
                axpy(step, &self.z[..stride], &mut self.x[..stride]);
                residual += step * free;
                if full <= partial {
                    self.append(row, free, multiplier, stride);
                    return true;
                }
            }
            match blocking {
                Some(index) => self.drop_row(index, stride),
                None => return false,
            }
        }
    }

    /// Recomputes x and the multipliers from the factors, and drops rows whose multiplier is
    /// negative until none is:
    /// `y₁ = R⁻ᵀ b_A`, `c = Jᵀ g`, `x = J₁ y₁ - J₂ c₂`, `u = R⁻¹ (y₁ + c₁)`.
    #[inline(always)]
    fn settle<R: Rows>(&mut self, g: &[f64], rows: &R, changes: &mut u32, stride: usize) {
        let n = self.n;
        loop {
            check();
            let q = self.active.len();

            // c = Jᵀ g.
            self.z[..n].copy_from_slice(g);
            self.z[n..stride].fill(0.0);
            let columns = self.basis.columns().chunks_exact(stride.max(1));
            for (c, column) in self.c[..n].iter_mut().zip(columns) {
                *c = dot(column, &self.z[..stride]);
            }

            // y₁, then u.
            for (z, &row) in self.z.iter_mut().zip(&self.active) {
                *z = rows.right_hand_side(row);
            }
            self.basis.solve_transposed(&mut self.z, stride);
            for k in 0..q {
                self.d[k] = self.z[k] + self.c[k];
                self.c[k] = -self.z[k];
            }
            self.set_direction(stride);

            // The most negative multiplier of an inequality goes.
            let tolerance = 1e-10 * max_abs(&self.direction[..q]);
            let mut worst = None;
            let mut least = -tolerance;
            for k in 0..q {
                let is_inequality = self.active[k] >= rows.equality_count();
                let u = self.direction[k];
                if is_inequality && u < least {
                    (least, worst) = (u, Some(k));
                }
                self.multipliers[k] = if is_inequality { u.max(0.0) } else { u };
            }
            let Some(index) = worst else { break };
            self.drop_row(index, stride);
            *changes += 1;
        }

        // x by the columns of J; c now holds -y₁ in its first part.
        self.x[..stride].fill(0.0);
        let columns = self.basis.columns()[..n * stride].chunks_exact(stride.max(1));
        for (column, &c) in columns.zip(&self.c) {
            axpy(-c, column, &mut self.x[..stride]);
        }
    }
}
