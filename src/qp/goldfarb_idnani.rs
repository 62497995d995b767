//! The dual active-set method of Goldfarb and Idnani, over rows known only by their products.
//!
//! `min ½ xᵀHx + gᵀx` subject to `nᵢᵀx = bᵢ` (the first rows) and `nᵢᵀx ≥ bᵢ` (the others), H ≻ 0.
//!
//! The method starts at the unconstrained minimum and takes in violated rows one by one; every
//! iterate is optimal for its active rows, so the objective rises at each full step and no active
//! set returns. It keeps `J` with `Jᵀ H J = I` and the upper triangular `R` with `Jᵀ N = [R; 0]`
//! for the active normals N. A row is taken in by one Householder reflection of the free columns of
//! J (whose product with the reflector is the step direction that was needed anyway), and dropped
//! by Givens rotations.
//!
//! Before an answer is returned, x and the multipliers are computed afresh from the factors of the
//! final active set, which removes the rounding of the path: redundant problems start
//! from an unconstrained minimum ten orders of magnitude away.
//!
//! Ties (equal violation, equal step) go to the lowest row and the earliest active row.
//!
//! # References
//! D. Goldfarb, A. Idnani, *A numerically stable dual method for solving strictly convex quadratic
//! programs*, Math. Program. 27 (1983), algorithm of section 3. We differ in the Householder
//! update.

use crate::dense::{axpy, dot, max_abs};
use crate::status::Status;

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
    /// `d = Jᵀ nᵢ` for a column-major n × n matrix J.
    fn project(&mut self, row: usize, j: &[f64], n: usize, d: &mut [f64]);
}

/// Residuals below this times the size of their terms count as satisfied.
const FEASIBILITY: f64 = 1e-12;
/// A normal whose part outside the active span is below this share of it is dependent.
const DEPENDENCE: f64 = 1e-11;
/// A dependent row that is violated by less than this times the size of its terms is a loss of
/// digits of an ill-conditioned problem, not a proof of infeasibility.
const CONTRADICTION: f64 = 1e-7;

/// Memory of the method.
#[derive(Clone, Debug, Default)]
pub(crate) struct DualActiveSet {
    n: usize,
    /// L of `H = L Lᵀ` in the lower triangle, n × n.
    l: Vec<f64>,
    /// J, n × n.
    j: Vec<f64>,
    /// R, column k holds k + 1 entries, leading dimension n.
    r: Vec<f64>,
    d: Vec<f64>,
    z: Vec<f64>,
    direction: Vec<f64>,
    c: Vec<f64>,
    s: Vec<f64>,
    /// The solution.
    pub(crate) x: Vec<f64>,
    /// Multipliers of the active rows.
    pub(crate) multipliers: Vec<f64>,
    /// Active rows, in the order of the columns of R.
    pub(crate) active: Vec<usize>,
    is_active: Vec<bool>,
    /// Rows left violated by rounding until x moves again.
    is_tolerated: Vec<bool>,
    has_tolerated: bool,
    /// Largest `‖x‖∞` at which a path began since H was factored.
    first_reach: f64,
}

impl DualActiveSet {
    /// Makes room for `n` unknowns and `rows` rows; allocates only if that is more than before.
    pub(crate) fn reserve(&mut self, n: usize, rows: usize) {
        self.n = n;
        for matrix in [&mut self.l, &mut self.j, &mut self.r] {
            if matrix.len() < n * n {
                matrix.resize(n * n, 0.0);
            }
        }
        for vector in [&mut self.d, &mut self.z, &mut self.direction, &mut self.c, &mut self.x] {
            vector.resize(n, 0.0);
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
    }

    /// Factors `H + shift I` from the lower triangle of the n × n `hessian`; false if a pivot is
    /// not above `least_pivot` (at least rounding) times the largest diagonal.
    pub(crate) fn factor(&mut self, hessian: &[f64], shift: f64, least_pivot: f64) -> bool {
        let n = self.n;
        self.first_reach = 0.0;
        let mut largest = 0.0f64;
        for k in 0..n {
            let column = k * n;
            self.l[column + k..column + n].copy_from_slice(&hessian[column + k..column + n]);
            self.l[column + k] += shift;
            largest = largest.max(self.l[column + k]);
        }
        // Written so that NaN and a zero matrix fail.
        let least = least_pivot.max(n as f64 * f64::EPSILON) * largest;
        for k in 0..n {
            let (done, rest) = self.l[..n * n].split_at_mut((k + 1) * n);
            let column = &mut done[k * n + k..];
            let pivot = column[0];
            if !(pivot > least && pivot.is_finite()) {
                return false;
            }
            let root = pivot.sqrt();
            let inverse = 1.0 / root;
            column[0] = root;
            for value in &mut column[1..] {
                *value *= inverse;
            }
            for (i, target) in rest.chunks_exact_mut(n).enumerate() {
                let first = i + 1;
                axpy(-column[first], &column[first..], &mut target[k + first..]);
            }
        }
        true
    }

    /// `J = L⁻ᵀ`: column i is `(eᵢ - Σ_{k<i} L_ik J_k) / L_ii`.
    fn initial_basis(&mut self) {
        let n = self.n;
        for i in 0..n {
            let (done, rest) = self.j[..n * n].split_at_mut(i * n);
            let column = &mut rest[..n];
            column.fill(0.0);
            for (k, other) in done.chunks_exact(n).enumerate() {
                axpy(-self.l[k * n + i], &other[..=k], &mut column[..=k]);
            }
            let inverse = 1.0 / self.l[i * n + i];
            for value in &mut column[..i] {
                *value *= inverse;
            }
            column[i] = inverse;
        }
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
        self.initial_basis();
        self.active.clear();
        self.multipliers.clear();
        self.is_active[..rows.count()].fill(false);
        self.is_tolerated[..rows.count()].fill(false);
        self.has_tolerated = false;
        let mut changes = 0;

        let equalities = rows.equality_count();
        for row in 0..equalities {
            rows.project(row, &self.j, self.n, &mut self.d);
            if self.is_independent() {
                self.take_in(row);
                changes += 1;
            } else if !self.holds_on_active_span(row, rows) {
                return (Status::PrimalInfeasible, changes);
            }
        }
        for row in guess.filter(|&row| row >= equalities) {
            if row < rows.count() && !self.is_active[row] {
                rows.project(row, &self.j, self.n, &mut self.d);
                if self.is_independent() {
                    self.take_in(row);
                    changes += 1;
                }
            }
        }
        self.settle(g, rows, &mut changes);
        self.first_reach = self.first_reach.max(max_abs(&self.x));

        let mut is_fresh = true;
        loop {
            if !self.x.iter().all(|v| v.is_finite()) {
                return (Status::NumericalTrouble, changes);
            }
            let Some(row) = self.most_violated(rows) else {
                if is_fresh {
                    return (Status::Solved, changes);
                }
                // Candidate answer: compute it afresh and look again.
                self.settle(g, rows, &mut changes);
                is_fresh = true;
                continue;
            };
            if changes >= limit {
                return (Status::MaxIterations, changes);
            }
            is_fresh = false;
            let size = self.term_size(row, rows);
            if self.satisfy(row, rows, limit, &mut changes) {
                if self.has_tolerated {
                    self.is_tolerated[..rows.count()].fill(false);
                    self.has_tolerated = false;
                }
            } else if changes >= limit {
                return (Status::MaxIterations, changes);
            } else if -self.s[row] <= CONTRADICTION * size {
                self.is_tolerated[row] = true;
                self.has_tolerated = true;
                self.settle(g, rows, &mut changes);
                is_fresh = true;
            } else {
                return (Status::PrimalInfeasible, changes);
            }
        }
    }

    /// Size of the terms of a row's residual at x: `‖x‖∞ ‖nᵢ‖ + |bᵢ|`. Where x has come down to
    /// zero, what is left of it is rounding of where the path began.
    fn term_size<R: Rows>(&self, row: usize, rows: &R) -> f64 {
        let reach = max_abs(&self.x).max(1e3 * f64::EPSILON / CONTRADICTION * self.first_reach);
        reach * rows.norm(row) + rows.right_hand_side(row).abs()
    }

    /// True if `d = Jᵀ n` has a part outside the active span.
    fn is_independent(&self) -> bool {
        let free = &self.d[self.active.len()..];
        dot(free, free).sqrt() > DEPENDENCE * dot(&self.d, &self.d).sqrt()
    }

    /// Whether a dependent equality is implied by the active rows: with `n = N w`, `b = wᵀ b_A`.
    fn holds_on_active_span<R: Rows>(&mut self, row: usize, rows: &R) -> bool {
        self.back_substitute();
        let b = rows.right_hand_side(row);
        let (mut implied, mut size) = (0.0, b.abs());
        for (weight, &other) in self.direction.iter().zip(&self.active) {
            let term = weight * rows.right_hand_side(other);
            implied += term;
            size = size.max(term.abs());
        }
        // Dependence is only known to DEPENDENCE, so is what it implies.
        (implied - b).abs() <= 1e3 * DEPENDENCE * size
    }

    /// The row whose distance to feasibility is largest, if any is beyond rounding.
    fn most_violated<R: Rows>(&mut self, rows: &mut R) -> Option<usize> {
        let count = rows.count();
        rows.residuals(&self.x, &mut self.s[..count]);
        let reach = max_abs(&self.x);
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
    fn satisfy<R: Rows>(
        &mut self,
        row: usize,
        rows: &mut R,
        limit: u32,
        changes: &mut u32,
    ) -> bool {
        let n = self.n;
        let mut residual = self.s[row];
        let mut multiplier = 0.0;
        loop {
            rows.project(row, &self.j, n, &mut self.d);
            let q = self.active.len();
            let free = dot(&self.d[q..], &self.d[q..]);
            let independent = free.sqrt() > DEPENDENCE * dot(&self.d, &self.d).sqrt();
            self.back_substitute();

            // The longest dual step that keeps the multipliers of inequalities non-negative.
            let threshold = 1e-13 * max_abs(&self.direction[..q]);
            let (mut partial, mut blocking) = (f64::INFINITY, None);
            for (index, &active) in self.active.iter().enumerate() {
                let rate = self.direction[index];
                if active >= rows.equality_count() && rate > threshold {
                    let step = self.multipliers[index] / rate;
                    if step < partial {
                        (partial, blocking) = (step, Some(index));
                    }
                }
            }
            let full = if independent { -residual / free } else { f64::INFINITY };
            let step = full.min(partial);
            if !step.is_finite() || *changes >= limit {
                return false;
            }
            for (u, rate) in self.multipliers.iter_mut().zip(&self.direction) {
                *u -= step * rate;
            }
            multiplier += step;
            *changes += 1;
            if independent {
                // z = J₂ d₂, the primal step direction.
                self.z.fill(0.0);
                for (column, &d) in self.j[q * n..n * n].chunks_exact(n).zip(&self.d[q..]) {
                    axpy(d, column, &mut self.z);
                }
                axpy(step, &self.z, &mut self.x);
                residual += step * free;
                if full <= partial {
                    self.reflect(row, free);
                    self.multipliers.push(multiplier);
                    return true;
                }
            }
            match blocking {
                Some(index) => self.drop_row(index),
                None => return false,
            }
        }
    }

    /// `direction = R⁻¹ d₁`.
    fn back_substitute(&mut self) {
        let (n, q) = (self.n, self.active.len());
        self.direction[..q].copy_from_slice(&self.d[..q]);
        for k in (0..q).rev() {
            let column = &self.r[k * n..k * n + k + 1];
            let value = self.direction[k] / column[k];
            self.direction[k] = value;
            axpy(-value, &column[..k], &mut self.direction[..k]);
        }
    }

    /// Takes a row in whose `d` is known but whose `z = J₂ d₂` is not.
    fn take_in(&mut self, row: usize) {
        let (n, q) = (self.n, self.active.len());
        self.z.fill(0.0);
        for (column, &d) in self.j[q * n..n * n].chunks_exact(n).zip(&self.d[q..]) {
            axpy(d, column, &mut self.z);
        }
        let free = dot(&self.d[q..], &self.d[q..]);
        self.reflect(row, free);
        self.multipliers.push(0.0);
    }

    /// Appends `row` to the factors: the Householder reflection that maps `d₂` to `(α, 0, …)`,
    /// applied to J₂, given `z = J₂ d₂` and `free = ‖d₂‖²`.
    fn reflect(&mut self, row: usize, free: f64) {
        let (n, q) = (self.n, self.active.len());
        let first = self.d[q];
        let alpha = if first > 0.0 { -free.sqrt() } else { free.sqrt() };
        // v = d₂ - α e₁ and w = J₂ v = z - α J_q.
        axpy(-alpha, &self.j[q * n..(q + 1) * n], &mut self.z);
        let beta = 1.0 / (free - alpha * first);
        self.d[q] = first - alpha;
        for (column, &v) in self.j[q * n..n * n].chunks_exact_mut(n).zip(&self.d[q..]) {
            axpy(-beta * v, &self.z, column);
        }
        self.r[q * n..q * n + q].copy_from_slice(&self.d[..q]);
        self.r[q * n + q] = alpha;
        self.active.push(row);
        self.is_active[row] = true;
    }

    /// Removes the active row at `index` and makes R triangular again by rotations.
    fn drop_row(&mut self, index: usize) {
        let n = self.n;
        let row = self.active.remove(index);
        self.is_active[row] = false;
        self.multipliers.remove(index);
        let q = self.active.len();
        for k in index..q {
            let (left, right) = self.r.split_at_mut((k + 1) * n);
            left[k * n..k * n + k + 2].copy_from_slice(&right[..k + 2]);
        }
        for k in index..q {
            let (a, b) = (self.r[k * n + k], self.r[k * n + k + 1]);
            let radius = (a * a + b * b).sqrt();
            if radius == 0.0 {
                continue;
            }
            let (c, s) = (a / radius, b / radius);
            for column in k..q {
                let pair = &mut self.r[column * n + k..column * n + k + 2];
                (pair[0], pair[1]) = (c * pair[0] + s * pair[1], c * pair[1] - s * pair[0]);
            }
            let (left, right) = self.j.split_at_mut((k + 1) * n);
            for (x, y) in left[k * n..].iter_mut().zip(&mut right[..n]) {
                (*x, *y) = (c * *x + s * *y, c * *y - s * *x);
            }
        }
    }

    /// Computes x and the multipliers afresh from the factors, and drops rows whose multiplier is
    /// negative until none is:
    /// `y₁ = R⁻ᵀ b_A`, `c = Jᵀ g`, `x = J₁ y₁ - J₂ c₂`, `u = R⁻¹ (y₁ + c₁)`.
    fn settle<R: Rows>(&mut self, g: &[f64], rows: &R, changes: &mut u32) {
        let n = self.n;
        loop {
            let q = self.active.len();
            for (c, column) in self.c.iter_mut().zip(self.j.chunks_exact(n.max(1))) {
                *c = dot(column, g);
            }
            for k in 0..q {
                let column = &self.r[k * n..k * n + k + 1];
                let b = rows.right_hand_side(self.active[k]);
                self.z[k] = (b - dot(&column[..k], &self.z[..k])) / column[k];
            }
            for k in 0..q {
                self.d[k] = self.z[k] + self.c[k];
                self.c[k] = -self.z[k];
            }
            self.back_substitute();
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
            self.drop_row(index);
            *changes += 1;
        }
        self.x.fill(0.0);
        for (column, &c) in self.j.chunks_exact(n.max(1)).zip(&self.c) {
            axpy(-c, column, &mut self.x);
        }
    }
}
