//! The dual active-set method for the general quadratic program.

use crate::contact_problem::must_fit;
use crate::general::Qp;
use crate::goldfarb_idnani::{DualActiveSet, Rows};
use crate::kkt::{self, QpMultipliers};
use crate::status::{Outcome, Status};
use crate::units::units_into;
use legwork_linalg::lanes::padded;
use legwork_linalg::{axpy, dot, lanes, max_abs};

/// Relative residual beyond which an answer is not called solved.
const ACCEPTED_RESIDUAL: f64 = 1e-7;
/// Relative residual beyond which it is not usable.
const USABLE_RESIDUAL: f64 = 1e-3;
/// Least pivot relative to the largest diagonal with which H is used as it is; below, rounding on
/// the path from the unconstrained minimum could be mistaken for infeasibility.
const DIRECT_PIVOT: f64 = 1e-8;
/// Weight of the proximal term relative to the mean diagonal of H, used if H is singular or nearly
/// so.
const PROXIMAL_WEIGHT: f64 = 1e-6;
/// Limit on proximal steps while the answer still moves.
const PROXIMAL_STEPS: u32 = 60;
/// Proximal steps between two searches along the last move.
const LEAP_EVERY: u32 = 5;

/// Curvature along a direction relative to the largest entry of H that is rounding.
const FLATNESS: f64 = 1e-13;

/// The constraint that a row of the method represents.
#[derive(Clone, Copy, Debug)]
struct Bound {
    /// Row of A, or m + unknown.
    source: usize,
    /// One over the norm of the row, negative for an upper bound: rows are compared by distance.
    scale: f64,
    /// `scale ×` the bound.
    rhs: f64,
}

/// Data of a program whose unknowns have other units.
#[derive(Clone, Debug, Default)]
struct Scaled {
    hessian: Vec<f64>,
    gradient: Vec<f64>,
    rows: Vec<f64>,
}

impl Scaled {
    /// Reserves memory for a program of this size as elements: a copy of an empty list has no
    /// memory.
    fn reserve(&mut self, n: usize, m: usize) {
        for (values, count) in
            [(&mut self.hessian, n * n), (&mut self.gradient, n), (&mut self.rows, n * m)]
        {
            if values.len() < count {
                values.resize(count, 0.0);
            }
        }
    }

    /// Computes `D H D`, `D g` and `A D`, which is exact: D holds powers of two.
    fn fill(&mut self, qp: &Qp<'_>, units: &[f64]) {
        let (n, m) = (qp.dim(), qp.row_count());
        for values in [&mut self.hessian, &mut self.gradient, &mut self.rows] {
            values.clear();
        }
        for (j, &d) in units.iter().enumerate() {
            let column = &qp.hessian[j * n..(j + 1) * n];
            self.hessian.extend(column.iter().zip(units).map(|(h, e)| h * (d * e)));
            self.gradient.push(d * qp.gradient[j]);
            self.rows.extend(qp.rows[j * m..(j + 1) * m].iter().map(|a| a * d));
        }
    }
}

/// Dual active-set solver of [`Qp`].
///
/// H need only be positive semidefinite. If it is well conditioned the method is direct. If not, a
/// proximal term `½ ε |x - x_prev|²` is added and the solve repeated until x converges, with exact
/// line searches along the moves; for a quadratic program that happens after few steps and gives an
/// exact minimiser. The first step starts from zero, so among many minimisers it finds one close to
/// that of least norm (R. T. Rockafellar, SIAM J. Control Optim. 14, 1976). If a move lowers the
/// objective without end, the problem is unbounded. An H that is not symmetric is rejected with
/// [`Status::Asymmetric`], an H that is not semidefinite with [`Status::Indefinite`]: an eigenvalue
/// below about -1e-6 of the mean, in the units of the unknowns.
///
/// If the diagonal entries of H differ by more than a factor of 2¹⁰, the unknowns get units, powers
/// of two, in which these entries are near one. Rows are compared by distance.
///
/// Infeasibility is only claimed with a proof ([`Self::certificate`]); doubtful answers are
/// followed by a search for one from the origin.
///
/// Memory grows on the first problem of a size and is kept.
#[doc(alias("Goldfarb-Idnani", "quadprog", "eiquadprog", "qpOASES"))]
#[derive(Clone, Debug, Default)]
pub struct GeneralActiveSet {
    core: DualActiveSet,
    bounds: Vec<Bound>,
    equality_count: usize,
    products: Vec<f64>,
    /// Norm of each row of A.
    norms: Vec<f64>,
    normal: Vec<f64>,
    gradient: Vec<f64>,
    previous: Vec<f64>,
    row_multipliers: Vec<f64>,
    bound_multipliers: Vec<f64>,
    warm: Vec<usize>,
    scratch: Vec<f64>,
    /// Units of the unknowns, and the program in them if they differ much.
    units: Vec<f64>,
    scaled: Scaled,
    is_infeasible: bool,
    /// Limit on changes of the active set; 0 means 40 + 10 × (unknowns + bounds).
    pub iteration_limit: u32,
}

impl GeneralActiveSet {
    /// A solver with memory for `dim` unknowns and `row_count` rows, all bounded on both sides.
    #[must_use]
    pub fn new(dim: usize, row_count: usize) -> Self {
        let mut solver = Self::default();
        solver.reserve(dim, row_count);
        solver
    }

    fn reserve(&mut self, n: usize, m: usize) {
        let bound_count = 2 * (n + m);
        self.core.reserve(n, bound_count);
        self.bounds.clear();
        self.bounds.reserve(bound_count);
        self.warm.clear();
        self.warm.reserve(n + 1);
        self.products.resize(m, 0.0);
        self.norms.resize(m, 0.0);
        self.row_multipliers.resize(m, 0.0);
        self.scratch.resize(m + 2 * n, 0.0);
        for x in
            [&mut self.gradient, &mut self.previous, &mut self.bound_multipliers, &mut self.units]
        {
            x.resize(n, 0.0);
        }
        self.normal.clear();
        self.normal.resize(padded(n), 0.0);
        self.scaled.reserve(n, m);
    }

    /// Multipliers y of the rows and z of the bounds from the last solve, in the sign convention of
    /// [`QpMultipliers`].
    #[must_use]
    pub fn multipliers(&self) -> QpMultipliers<'_> {
        QpMultipliers { rows: &self.row_multipliers, bounds: &self.bound_multipliers }
    }

    /// After [`Status::PrimalInfeasible`]: multipliers that prove it by Farkas's lemma, to be
    /// judged by [`kkt::infeasible_radius`]. For multipliers of the right signs every feasible x
    /// has `(Aᵀy + z)ᵀ x ≥ β = Σ_{y>0} y l + Σ_{y<0} y u + Σ_{z>0} z x_l + Σ_{z<0} z x_u`; here
    /// `Aᵀy + z ≈ 0` and `β > 0`. All are zero if a pair of bounds contradicts itself.
    #[must_use]
    pub fn certificate(&self) -> Option<QpMultipliers<'_>> {
        self.is_infeasible.then(|| self.multipliers())
    }

    /// Solves from a cold start.
    ///
    /// # Panics
    /// If a slice of `qp` or `x` has the wrong length.
    pub fn solve(&mut self, qp: &Qp<'_>, x: &mut [f64]) -> Outcome {
        self.run(qp, None, x)
    }

    /// Solves from the active set in `sides` and leaves the final one there: m + n values for rows
    /// and unknowns, -1 at the lower bound, +1 at the upper, 0 free. Nothing else is kept between
    /// calls.
    ///
    /// # Panics
    /// If a slice of `qp`, `sides` or `x` has the wrong length.
    pub fn solve_warm(&mut self, qp: &Qp<'_>, sides: &mut [f64], x: &mut [f64]) -> Outcome {
        assert_eq!(sides.len(), qp.row_count() + qp.dim(), "sides need m + n values");
        let outcome = self.run(qp, Some(sides), x);
        sides.fill(0.0);
        if outcome.status.is_usable() {
            for &row in &self.core.active {
                sides[self.bounds[row].source] = -self.bounds[row].scale.signum();
            }
        }
        outcome
    }

    fn run(&mut self, qp: &Qp<'_>, sides: Option<&[f64]>, x: &mut [f64]) -> Outcome {
        must_fit(qp.check_shape());
        let (n, m) = (qp.dim(), qp.row_count());
        assert_eq!(x.len(), n, "x needs n values");
        x.fill(0.0);
        self.reserve(n, m);
        self.row_multipliers.fill(0.0);
        self.bound_multipliers.fill(0.0);
        self.is_infeasible = false;
        if !qp.is_valid() {
            return Outcome::refused(Status::InvalidData);
        }
        if !qp.is_symmetric() {
            return Outcome::refused(Status::Asymmetric);
        }
        if !units_into(qp, &mut self.units) {
            self.units.fill(1.0);
            return self.run_scaled(qp, qp, sides, x);
        }
        let mut own = std::mem::take(&mut self.scaled);
        own.fill(qp, &self.units);
        let scaled = Qp { hessian: &own.hessian, gradient: &own.gradient, rows: &own.rows, ..*qp };
        let outcome = self.run_scaled(qp, &scaled, sides, x);
        self.scaled = own;
        outcome
    }

    /// Solves `scaled`, whose unknowns are those of `qp` divided by `self.units`.
    fn run_scaled(
        &mut self,
        qp: &Qp<'_>,
        scaled: &Qp<'_>,
        sides: Option<&[f64]>,
        x: &mut [f64],
    ) -> Outcome {
        let n = qp.dim();
        if !self.collect_bounds(qp, scaled) {
            self.is_infeasible = true;
            return Outcome::refused(Status::PrimalInfeasible);
        }
        self.warm.clear();
        if let Some(sides) = sides {
            let bounds = self.bounds.iter().enumerate();
            self.warm.extend(
                bounds.filter(|(_, b)| sides[b.source] * b.scale < 0.0).map(|(i, _)| i).take(n),
            );
        }
        let limit = match self.iteration_limit {
            0 => 40 + 10 * u32::try_from(n + self.bounds.len()).unwrap_or(u32::MAX / 16),
            limit => limit,
        };
        let (status, iterations) = if self.core.factor(scaled.hessian, 0.0, DIRECT_PIVOT) {
            self.gradient.copy_from_slice(scaled.gradient);
            self.solve_once(scaled, limit)
        } else {
            self.solve_proximal(scaled, limit)
        };
        let outcome = self.finish(qp, status, iterations, x);
        let is_doubtful = self.core.has_tolerated()
            || !matches!(
                outcome.status,
                Status::Solved | Status::PrimalInfeasible | Status::Indefinite
            );
        if is_doubtful && status != Status::MaxIterations && self.is_found_infeasible(scaled, limit)
        {
            self.row_multipliers.fill(0.0);
            self.bound_multipliers.fill(0.0);
            return self.finish(qp, Status::PrimalInfeasible, iterations, x);
        }
        outcome
    }

    /// Lists the finite bounds of `qp`, equalities first, for the rows of `scaled`. Returns false
    /// if an interval is empty.
    fn collect_bounds(&mut self, qp: &Qp<'_>, scaled: &Qp<'_>) -> bool {
        let (n, m) = (qp.dim(), qp.row_count());
        self.bounds.clear();
        self.norms.fill(0.0);
        for column in scaled.rows.chunks_exact(m.max(1)) {
            for (norm, a) in self.norms.iter_mut().zip(column) {
                *norm += a * a;
            }
        }
        self.norms.iter_mut().for_each(|norm| *norm = norm.sqrt());
        for pass in 0..2 {
            let sources = if pass == 0 && !self.has_equality(qp) { 0 } else { m + n };
            for source in 0..sources {
                let (lower, upper) =
                    if source < m { qp.row_bounds_of(source) } else { qp.bounds_of(source - m) };
                if lower > upper || lower == f64::INFINITY || upper == f64::NEG_INFINITY {
                    return false;
                }
                let is_equality = lower == upper;
                if is_equality != (pass == 0) {
                    continue;
                }
                let norm = if source < m { self.norms[source] } else { self.units[source - m] };
                if norm == 0.0 {
                    // An empty row requires that its interval contains zero.
                    if lower > 0.0 || upper < 0.0 {
                        self.row_multipliers[source] = if lower > 0.0 { 1.0 } else { -1.0 };
                        return false;
                    }
                    continue;
                }
                // For a bound of an unknown the norm is its unit, and x is divided by that already.
                let inverse = 1.0 / norm;
                let scale = if source < m { inverse } else { 1.0 };
                if lower.is_finite() {
                    self.bounds.push(Bound { source, scale, rhs: inverse * lower });
                }
                if upper.is_finite() && !is_equality {
                    self.bounds.push(Bound { source, scale: -scale, rhs: -inverse * upper });
                }
            }
            if pass == 0 {
                self.equality_count = self.bounds.len();
            }
        }
        true
    }

    /// True if a row or an unknown is bounded to one number.
    fn has_equality(&self, qp: &Qp<'_>) -> bool {
        qp.row_lower.iter().zip(qp.row_upper).any(|(l, u)| l == u)
            || qp.lower.iter().zip(qp.upper).any(|(l, u)| l == u)
    }

    /// One run of the method with the factored Hessian and `self.gradient`.
    fn solve_once(&mut self, qp: &Qp<'_>, limit: u32) -> (Status, u32) {
        let mut rows = GeneralRows {
            qp,
            bounds: &self.bounds,
            equality_count: self.equality_count,
            products: &mut self.products,
            normal: &mut self.normal,
        };
        self.core.solve(&self.gradient, &mut rows, limit, self.warm.iter().copied())
    }

    /// Proximal-point steps `x⁺ = argmin ½xᵀHx + gᵀx + ½ε|x - x_prev|²` for singular H.
    fn solve_proximal(&mut self, qp: &Qp<'_>, limit: u32) -> (Status, u32) {
        let n = qp.dim();
        let trace: f64 = (0..n).map(|i| qp.hessian[i * n + i]).sum();
        let slope = max_abs(qp.gradient);
        let weight = if trace > 0.0 {
            PROXIMAL_WEIGHT * trace / n as f64
        } else if slope > 0.0 {
            // A linear program has no curvature to compare with: take long steps down its slope.
            1e-4 * slope
        } else {
            1.0
        };
        if !self.core.factor(qp.hessian, weight, 0.0) {
            // The shifted matrix is not definite either.
            return (Status::Indefinite, 0);
        }
        self.previous.fill(0.0);
        let mut total = 0;
        for step_index in 0..PROXIMAL_STEPS {
            self.gradient.copy_from_slice(qp.gradient);
            axpy(-weight, &self.previous, &mut self.gradient);
            let (status, changes) = self.solve_once(qp, limit);
            total += changes;
            if status != Status::Solved {
                return (status, total);
            }
            self.warm.clear();
            self.warm.extend_from_slice(&self.core.active);
            // normal holds the move d = x - x_prev.
            for i in 0..n {
                self.normal[i] = self.core.x()[i] - self.previous[i];
            }
            self.previous.copy_from_slice(self.core.x());
            let step = max_abs(&self.normal[..n]);
            // x has converged, or the proximal term's share of the stationarity is negligible.
            let is_at_rest = step <= 1e-9 * max_abs(self.core.x()) || step == 0.0;
            if is_at_rest || weight * step <= 1e-10 * slope {
                return (Status::Solved, total);
            }
            // Where H is flat only the proximal term bounds x.
            if step_index % LEAP_EVERY == LEAP_EVERY - 1 {
                if self.is_descent_for_ever(qp) {
                    return (Status::Unbounded, total);
                }
                self.leap(qp);
            }
        }
        (Status::Inaccurate, total)
    }

    /// Goes on from `previous` along the last move d (in `normal`) to the least objective or the
    /// first bound: any feasible point may be the next centre of the proximal term.
    fn leap(&mut self, qp: &Qp<'_>) {
        let (n, m) = (qp.dim(), qp.row_count());
        let ray = &self.normal[..n];
        let least = 1e-12 * max_abs(ray);
        let (products, rest) = self.scratch.split_at_mut(m);
        let image = &mut rest[..n];
        legwork_linalg::matrix_vector(qp.hessian, n, ray, image);
        let curvature = dot(image, ray);
        let slope = dot(qp.gradient, ray) + dot(image, &self.previous);
        if slope.is_nan() || slope >= 0.0 {
            return;
        }
        let is_curved = curvature > FLATNESS * max_abs(qp.hessian) * dot(ray, ray);
        let mut length = if is_curved { -slope / curvature } else { f64::INFINITY };
        legwork_linalg::matrix_vector(qp.rows, m, ray, products);
        legwork_linalg::matrix_vector(qp.rows, m, &self.previous, &mut self.products);
        for bound in &self.bounds {
            let (rate, value) = match bound.source.checked_sub(m) {
                None => (products[bound.source], self.products[bound.source]),
                Some(unknown) => (ray[unknown], self.previous[unknown]),
            };
            let rate = bound.scale * rate;
            if rate < -least {
                length = length.min((bound.scale * value - bound.rhs).max(0.0) / -rate);
            }
        }
        // If nothing stops it, it is the ray that proves unboundedness; the test for that handles
        // it.
        if length.is_finite() {
            axpy(length, ray, &mut self.previous);
        }
    }

    /// Searches for a proof of infeasibility from the point nearest to the origin, where rounding
    /// of a distant minimum of the objective cannot hide it.
    fn is_found_infeasible(&mut self, qp: &Qp<'_>, limit: u32) -> bool {
        self.core.factor_identity();
        self.gradient.fill(0.0);
        self.warm.clear();
        self.solve_once(qp, limit).0 == Status::PrimalInfeasible
    }

    /// True if the last move d (in `normal`) is a certificate of unboundedness: `H d ≈ 0`, `gᵀd <
    /// 0`, and no bound stops it.
    fn is_descent_for_ever(&mut self, qp: &Qp<'_>) -> bool {
        let (n, m) = (qp.dim(), qp.row_count());
        let ray = &self.normal[..n];
        let step = max_abs(ray);
        let small = 1e-6 * step;
        let slope = dot(qp.gradient, ray);
        let size = max_abs(qp.gradient) * step;
        let stiffness = max_abs(qp.hessian);
        let (mut is_flat, mut curvature) = (true, 0.0);
        for (column, d) in qp.hessian.chunks_exact(n).zip(ray) {
            let force = dot(column, ray);
            is_flat &= force.abs() <= small * stiffness;
            curvature += force * d;
        }
        is_flat &= curvature <= FLATNESS * stiffness * dot(ray, ray);
        legwork_linalg::matrix_vector(qp.rows, m, ray, &mut self.products);
        let is_free = self.bounds.iter().enumerate().all(|(index, bound)| {
            let product = match bound.source.checked_sub(m) {
                None => self.products[bound.source],
                Some(unknown) => ray[unknown],
            };
            let recession = bound.scale * product;
            recession >= -small && (index >= self.equality_count || recession <= small)
        });
        slope < -1e-12 * size && is_flat && is_free
    }

    /// Copies the answer out and judges it.
    fn finish(&mut self, qp: &Qp<'_>, status: Status, iterations: u32, x: &mut [f64]) -> Outcome {
        let m = qp.row_count();
        if matches!(status, Status::NumericalTrouble | Status::Indefinite) {
            // What the method holds may be of an earlier call.
            x.fill(0.0);
            return Outcome { status, iterations, residual: f64::NAN };
        }
        for ((x, scaled), unit) in x.iter_mut().zip(self.core.x()).zip(&self.units) {
            *x = unit * scaled;
        }
        if status == Status::PrimalInfeasible {
            for (row, weight) in self.core.contradiction() {
                let bound = &self.bounds[row];
                match bound.source.checked_sub(m) {
                    None => self.row_multipliers[bound.source] += bound.scale * weight,
                    Some(unknown) => {
                        self.bound_multipliers[unknown] +=
                            bound.scale * weight / self.units[unknown];
                    }
                }
            }
            self.is_infeasible = true;
            return Outcome { status, iterations, residual: f64::NAN };
        }
        for (&row, &u) in self.core.active.iter().zip(&self.core.multipliers) {
            let bound = &self.bounds[row];
            match bound.source.checked_sub(m) {
                None => self.row_multipliers[bound.source] = bound.scale * u,
                Some(unknown) => {
                    self.bound_multipliers[unknown] = bound.scale * u / self.units[unknown];
                }
            }
        }
        let multipliers =
            QpMultipliers { rows: &self.row_multipliers, bounds: &self.bound_multipliers };
        let residuals = kkt::qp_residuals(qp, x, multipliers, &mut self.scratch);
        let status = residuals.confirm(status, ACCEPTED_RESIDUAL, USABLE_RESIDUAL);
        Outcome { status, iterations, residual: residuals.worst() }
    }
}

/// Dense rows and bounds, one-sided.
struct GeneralRows<'a, 'q> {
    qp: &'a Qp<'q>,
    bounds: &'a [Bound],
    equality_count: usize,
    products: &'a mut [f64],
    normal: &'a mut [f64],
}

impl Rows for GeneralRows<'_, '_> {
    fn count(&self) -> usize {
        self.bounds.len()
    }

    fn equality_count(&self) -> usize {
        self.equality_count
    }

    fn right_hand_side(&self, row: usize) -> f64 {
        self.bounds[row].rhs
    }

    fn norm(&self, _row: usize) -> f64 {
        1.0
    }

    fn residuals(&mut self, x: &[f64], s: &mut [f64]) {
        let m = self.qp.row_count();
        legwork_linalg::matrix_vector(self.qp.rows, m, x, self.products);
        for (s, bound) in s.iter_mut().zip(self.bounds) {
            let product = match bound.source.checked_sub(m) {
                None => self.products[bound.source],
                Some(unknown) => x[unknown],
            };
            *s = bound.scale * product - bound.rhs;
        }
    }

    #[inline]
    fn project(&mut self, row: usize, j: &[f64], stride: usize, d: &mut [f64]) {
        let m = self.qp.row_count();
        let bound = &self.bounds[row];
        match bound.source.checked_sub(m) {
            None => {
                for (value, column) in self.normal.iter_mut().zip(self.qp.rows.chunks_exact(m)) {
                    *value = bound.scale * column[bound.source];
                }
                for (d, column) in d.iter_mut().zip(j.chunks_exact(stride)) {
                    *d = lanes::dot(column, &self.normal[..stride]);
                }
            }
            Some(unknown) => {
                for (d, column) in d.iter_mut().zip(j.chunks_exact(stride)) {
                    *d = bound.scale * column[unknown];
                }
            }
        }
    }

    fn add_normal(&self, row: usize, weight: f64, normal: &mut [f64]) {
        let m = self.qp.row_count();
        let bound = &self.bounds[row];
        match bound.source.checked_sub(m) {
            None => {
                for (value, column) in normal.iter_mut().zip(self.qp.rows.chunks_exact(m)) {
                    *value += weight * bound.scale * column[bound.source];
                }
            }
            Some(unknown) => normal[unknown] += weight * bound.scale,
        }
    }
}
