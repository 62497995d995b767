//! The judge of all answers: residuals of the optimality conditions.
//!
//! A contact problem's answer is judged from the forces alone, without the solver's multipliers:
//! with `a = (G + R + εI) f + b` the conditions are `K ∋ f ⟂ a ∈ K*`. They hold iff the natural map
//! vanishes, `f_i = P_K(f_i - ρ_i a_i)` for any ρ_i > 0; here `ρ_i = 1 / g_i` with the largest
//! diagonal entry `g_i` of contact i in `G + R + εI`, so the residual reads as a force. All figures
//! are relative to the problem's `force_scale` and [`ContactProblem::acceleration_scale`].
//!
//! An error Δf of contact i has the power `g_i |Δf|²`. The natural map compares contacts by this
//! power: with `w_i = √(g_i / g_least)` an error of 1 N at the foot of a heavy body, of 1 mN at a
//! body with a millionth of its mass, and of 1 N m about an axis with the same `g` count alike.
//!
//! The general quadratic program and the cone program are judged with their multipliers, and so
//! are the certificates that a program has no answer.

pub use crate::cone_kkt::{
    ConeMultipliers, cone_residuals, contradicts_itself, infeasible_radius, unbounded_residual,
};
use crate::contact_problem::ContactProblem;
use crate::general::Qp;
use crate::status::Status;
use crate::units::units_into;
use legwork_linalg::{dot, max_abs};

/// Relative residuals of a contact problem's answer; all are zero at the solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactResiduals {
    /// Natural map `max_i w_i |f_i - P_K(f_i - ρ_i a_i)|∞ / force_scale`: one figure for all
    /// conditions.
    pub natural: f64,
    /// Largest violation of a cone by a force, over `force_scale`; a force at an inactive contact
    /// counts in full.
    pub primal: f64,
    /// Largest violation of the dual cone by a contact acceleration, over `acceleration_scale`.
    pub dual: f64,
    /// Largest `|f_iᵀ a_i|`, over `force_scale · acceleration_scale`.
    pub complementarity: f64,
}

impl ContactResiduals {
    /// The largest of the residuals; NaN if one is NaN.
    #[must_use]
    pub fn worst(&self) -> f64 {
        worst_of([self.natural, self.primal, self.dual, self.complementarity])
    }
}

/// All residuals of `forces` in `problem`.
///
/// | symbol | argument | shape | meaning |
/// |---|---|---|---|
/// | f | `forces` | 3k | the answer to judge [N] |
/// | a | `acceleration` | 3k | written: `(G + R + εI) f + b` [m/s²] |
///
/// O(9k²); does not allocate.
///
/// # Panics
/// If a slice has the wrong length.
pub fn contact_residuals(
    problem: &ContactProblem<'_>,
    forces: &[f64],
    acceleration: &mut [f64],
) -> ContactResiduals {
    let natural = natural_residual(problem, forces, acceleration);
    let acceleration_scale = problem.acceleration_scale();
    let (mut primal, mut dual, mut complementarity) = (0.0f64, 0.0f64, 0.0f64);
    for contact in 0..problem.contact_count() {
        let force = triple(forces, contact);
        if !problem.is_active(contact) {
            primal = nan_max(primal, max_abs(&force));
            continue;
        }
        let mu = problem.friction[contact];
        let a = triple(acceleration, contact);
        primal = nan_max(primal, problem.cone.violation(mu, force));
        dual = nan_max(dual, problem.cone.dual_violation(mu, a));
        complementarity = nan_max(complementarity, dot(&force, &a).abs());
    }
    ContactResiduals {
        natural,
        primal: primal / problem.force_scale,
        dual: dual / acceleration_scale,
        complementarity: complementarity / (problem.force_scale * acceleration_scale),
    }
}

/// The natural-map residual alone, relative to `force_scale`; NaN if `forces` hold NaN.
///
/// # Panics
/// If a slice has the wrong length.
pub fn natural_residual(
    problem: &ContactProblem<'_>,
    forces: &[f64],
    acceleration: &mut [f64],
) -> f64 {
    natural_map(problem, forces, acceleration, |_, a| a)
}

/// The natural-map residual of Coulomb's law, relative to `force_scale`:
/// `w_i |f_i - P_K(f_i - ρ_i (a_i + e_n σ(a_t,i)))|∞` with σ of
/// [`slip_support`](crate::ConeShape::slip_support). Zero iff friction opposes slip and the normal
/// acceleration vanishes under load, sliding or not.
///
/// # Panics
/// If a slice has the wrong length.
///
/// # References
/// G. de Saxcé, Z.-Q. Feng, *The bipotential method* (1998).
pub fn coulomb_residual(
    problem: &ContactProblem<'_>,
    forces: &[f64],
    acceleration: &mut [f64],
) -> f64 {
    natural_map(problem, forces, acceleration, |contact, [t1, t2, n]| {
        [t1, t2, n + problem.cone.slip_support(problem.friction[contact], [t1, t2])]
    })
}

/// What a direction proves about solutions: each has `|f|₁` of at least the returned number of
/// typical forces `acceleration_scale / mean_diagonal`. 0 proves nothing, ∞ that there is none.
///
/// A solution has `K ∋ f ⟂ Hf + b ∈ K*` with `H = G + R + εI`, so `-bᵀd ≤ dᵀHf ≤ |Hd|∞ |f|₁` for
/// every d in the cones. With `Hd = 0` and `bᵀd < 0` the objective falls along d without end, as
/// [`unbounded_residual`] has it for a cone program. A decrease below rounding of its terms counts
/// as 0.
///
/// | symbol | argument | shape | meaning |
/// |---|---|---|---|
/// | d | `direction` | 3k | in the cones, 0 at inactive contacts |
/// | Hd | `image` | 3k | written |
///
/// O(9k²); does not allocate.
///
/// # Panics
/// If a slice has the wrong length.
pub fn least_solution(problem: &ContactProblem<'_>, direction: &[f64], image: &mut [f64]) -> f64 {
    assert_eq!((direction.len(), image.len()), (problem.dim(), problem.dim()), "d, Hd need 3k");
    image.fill(0.0);
    problem.add_product(direction, image);
    let (mut decrease, mut size, mut resistance) = (0.0, 0.0, 0.0);
    for i in (0..problem.dim()).filter(|i| problem.is_active(i / 3)) {
        let product = problem.bias[i] * direction[i];
        decrease -= product;
        size += product.abs();
        resistance = nan_max(resistance, image[i].abs());
    }
    let is_descent = decrease > size * f64::EPSILON * problem.dim() as f64;
    let typical = problem.acceleration_scale() / problem.mean_diagonal();
    let least = decrease / (resistance * typical);
    if is_descent && !least.is_nan() { least } else { 0.0 }
}

/// Largest `w_i |f_i - P_K(f_i - ρ_i dual(i, a_i))|∞ / force_scale`.
fn natural_map(
    problem: &ContactProblem<'_>,
    forces: &[f64],
    acceleration: &mut [f64],
    dual: impl Fn(usize, [f64; 3]) -> [f64; 3],
) -> f64 {
    problem.acceleration_into(forces, acceleration);
    let shift = problem.diagonal_shift();
    let longest = longest_step(problem, shift);
    let mut worst = 0.0;
    for contact in 0..problem.contact_count() {
        let f = triple(forces, contact);
        if !problem.is_active(contact) {
            worst = nan_max(worst, max_abs(&f));
            continue;
        }
        let rho = step(problem, contact, shift);
        let weight = (longest / rho).sqrt();
        let a = dual(contact, triple(acceleration, contact));
        let trial = [f[0] - rho * a[0], f[1] - rho * a[1], f[2] - rho * a[2]];
        let p = problem.cone.project(problem.friction[contact], trial);
        for axis in 0..3 {
            worst = nan_max(worst, weight * (f[axis] - p[axis]).abs());
        }
    }
    worst / problem.force_scale
}

/// ρ of a contact, `1 / g` \[kg\]; 1 if no force moves it.
fn step(problem: &ContactProblem<'_>, contact: usize, shift: f64) -> f64 {
    inverse(largest_entry(problem, contact) + shift)
}

/// The largest ρ of the active contacts \[kg\], `shift` being
/// [`ContactProblem::diagonal_shift`].
pub(crate) fn longest_step(problem: &ContactProblem<'_>, shift: f64) -> f64 {
    let least = (0..problem.contact_count())
        .filter(|&contact| problem.is_active(contact))
        .map(|contact| largest_entry(problem, contact))
        .filter(|&entry| entry + shift > 0.0)
        .fold(f64::INFINITY, f64::min);
    inverse(if least.is_finite() { least + shift } else { 0.0 })
}

fn inverse(entry: f64) -> f64 {
    if entry > 0.0 { 1.0 / entry } else { 1.0 }
}

/// The largest diagonal entry of a contact in `G + R` \[1/kg\], at least 0.
fn largest_entry(problem: &ContactProblem<'_>, contact: usize) -> f64 {
    let n = problem.dim();
    (3 * contact..3 * contact + 3)
        .map(|i| problem.inverse_inertia[i * n + i] + problem.compliance_of(i))
        .fold(0.0, f64::max)
}

/// Multipliers of a [`Qp`]: `Hx + g = Aᵀy + z`; positive where a lower bound holds the solution,
/// negative where an upper one does, zero where none does.
#[derive(Clone, Copy, Debug)]
pub struct QpMultipliers<'a> {
    /// y, one per row.
    pub rows: &'a [f64],
    /// z, one per unknown.
    pub bounds: &'a [f64],
}

/// Relative residuals of a quadratic program's answer.
///
/// All residuals are in the program's own units: `x = D x̂`, with D of powers of two that bring the
/// diagonal of `D H D` near one (or, without curvature, the columns of A). They do not depend on
/// the unit of an unknown, mm or m, nor on a factor of a row or of the objective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QpResiduals {
    /// `‖D (Hx + g - Aᵀy - z)‖∞` over the scale σ: the largest entry of
    /// `D (|Hx| + |g| + |Aᵀy + z| + |diag(H) x|)`. If g is zero, σ and ξ are at least the least
    /// bound.
    pub stationarity: f64,
    /// Largest violation of a bound, over the length ξ times the row's norm `‖a D‖`, plus the
    /// bound; ξ is `‖x̂‖∞`, plus `‖D g‖∞` if H is not zero, or 1 if that is zero.
    pub primal: f64,
    /// Largest multiplier of the wrong sign (pressing on an infinite bound) times the row's norm,
    /// over σ.
    pub dual: f64,
    /// Largest product of a multiplier with its distance to the bound, over `σ (ξ + ‖x̂‖₁)`.
    pub complementarity: f64,
    /// `‖D (Hx + g - Aᵀy - z)‖∞` over the data, `‖D g‖∞` plus the largest active bound: not part of
    /// [`Self::worst`].
    ///
    /// A very long x hides g in σ: along a direction that H nearly annihilates, it resembles a
    /// solution of a program without one. Relative to the data the error is visible: a true
    /// solution has an error of rounding times its length.
    pub unexplained: f64,
}

/// Largest [`QpResiduals::unexplained`] of a solved answer.
const SOLVED_UNEXPLAINED: f64 = 1e-6;
/// Largest [`QpResiduals::unexplained`] of a usable answer.
const USABLE_UNEXPLAINED: f64 = 1e-3;

impl QpResiduals {
    /// The largest of the residuals; NaN if one is NaN.
    #[must_use]
    pub fn worst(&self) -> f64 {
        worst_of([self.stationarity, self.primal, self.dual, self.complementarity])
    }

    /// Status of an answer that a method calls `said`, confirmed by the residuals: `Solved` up to a
    /// worst residual of `solved`, `Inaccurate` up to `usable`, else `NumericalTrouble`. Other
    /// statuses are unchanged.
    pub(crate) fn confirm(&self, said: Status, solved: f64, usable: f64) -> Status {
        let (worst, unexplained) = (self.worst(), self.unexplained);
        // Written so that NaN is not confirmed.
        match said {
            Status::Solved if worst <= solved && unexplained <= SOLVED_UNEXPLAINED => said,
            Status::Solved | Status::Inaccurate
                if worst <= usable && unexplained <= USABLE_UNEXPLAINED =>
            {
                Status::Inaccurate
            }
            Status::Solved | Status::Inaccurate => Status::NumericalTrouble,
            other => other,
        }
    }
}

/// All residuals of `x` and `multipliers` in `qp`.
///
/// | symbol | argument | shape |
/// |---|---|---|
/// | x | `x` | n |
/// | y, z | `multipliers` | m, n |
/// | | `scratch` | ≥ m + 2n |
///
/// # Panics
/// If a slice has the wrong length.
#[doc(alias("KKT conditions", "optimality conditions"))]
pub fn qp_residuals(
    qp: &Qp<'_>,
    x: &[f64],
    multipliers: QpMultipliers<'_>,
    scratch: &mut [f64],
) -> QpResiduals {
    let (n, m) = (qp.dim(), qp.row_count());
    assert_eq!((x.len(), multipliers.rows.len(), multipliers.bounds.len()), (n, m, n));
    let (products, rest) = scratch.split_at_mut(m);
    let (image, rest) = rest.split_at_mut(n);
    let units = &mut rest[..n];
    units_into(qp, units);

    // Stationarity.
    legwork_linalg::matrix_vector(qp.hessian, n, x, image);
    let mut measure = Measure::default();
    for (i, curved) in image.iter().enumerate() {
        let pressure = dot(&qp.rows[i * m..(i + 1) * m], multipliers.rows) + multipliers.bounds[i];
        measure.add(units[i], x[i], qp.hessian[i * n + i], *curved, qp.gradient[i], pressure);
    }
    measure.end(qp, units);

    // Rows and bounds: how far outside, and the product of distance and multiplier.
    legwork_linalg::matrix_vector(qp.rows, m, x, products);
    for (row, &product) in products.iter().enumerate() {
        // Few rows have a multiplier, and a row of a column-major matrix is slow to read.
        let norm = || row_norm(qp, units, row);
        measure.pair(product, qp.row_bounds_of(row), multipliers.rows[row], &norm);
    }
    for (i, &value) in x.iter().enumerate() {
        measure.pair(value, qp.bounds_of(i), multipliers.bounds[i], &|| units[i]);
    }
    measure.residuals()
}

/// Norm `‖a D‖` of a row.
pub(crate) fn row_norm(qp: &Qp<'_>, units: &[f64], row: usize) -> f64 {
    let entries = qp.rows.iter().skip(row).step_by(qp.row_count());
    entries.zip(units).map(|(a, d)| a * d).map(|a| a * a).sum::<f64>().sqrt()
}

/// Accumulates the residuals: first every unknown, then [`Self::end`], then the pairs.
#[derive(Debug, Default)]
pub(crate) struct Measure {
    stationarity: f64,
    /// Scale σ of the stationarity.
    pub(crate) scale: f64,
    /// Length ξ.
    pub(crate) reach: f64,
    /// Sum `‖x̂‖₁`.
    sum: f64,
    slope: f64,
    /// Largest active bound, in units of its row.
    hold: f64,
    is_curved: bool,
    pub(crate) primal: f64,
    pub(crate) dual: f64,
    pub(crate) product: f64,
}

impl Measure {
    /// Adds unknown x in unit d, with its entries of diag(H), `Hx`, g and the sum of multipliers.
    #[inline]
    pub(crate) fn add(&mut self, d: f64, x: f64, diagonal: f64, curved: f64, g: f64, press: f64) {
        // Hx may vanish at the optimum; its rounding is relative to its terms.
        let size = curved.abs() + g.abs() + press.abs() + (diagonal * x).abs();
        self.scale = nan_max(self.scale, d * size);
        self.stationarity = nan_max(self.stationarity, d * (curved + g - press).abs());
        let length = x.abs() / d;
        self.reach = nan_max(self.reach, length);
        self.sum += length;
        self.slope = nan_max(self.slope, d * g.abs());
        self.is_curved |= diagonal > 0.0;
    }

    /// Completes σ and ξ.
    #[inline]
    pub(crate) fn end(&mut self, qp: &Qp<'_>, units: &[f64]) {
        if self.slope == 0.0 {
            self.hold = least_bound(qp, units);
            self.scale = nan_max(self.scale, self.hold);
            self.reach += self.hold;
        }
        if self.is_curved {
            self.reach += self.slope;
        }
        if self.reach == 0.0 {
            self.reach = 1.0;
        }
        if self.scale == 0.0 {
            self.scale = 1.0;
        }
    }

    /// Adds a value between two bounds and its multiplier.
    #[inline]
    pub(crate) fn pair(
        &mut self,
        value: f64,
        (lower, upper): (f64, f64),
        u: f64,
        norm: &dyn Fn() -> f64,
    ) {
        let violation = (lower - value).max(value - upper).max(0.0);
        if u == 0.0 && violation == 0.0 && !value.is_nan() {
            return;
        }
        let bound = if value < lower { lower } else { upper };
        if value.is_nan() {
            self.primal = f64::NAN;
        } else if violation > 0.0 {
            let size = self.reach * norm() + bound.abs();
            self.primal = nan_max(self.primal, violation / size);
        }
        let active = if u > 0.0 { lower } else { upper };
        if u == 0.0 {
            return;
        }
        if active.is_finite() {
            self.product = nan_max(self.product, (u * (value - active)).abs());
            if active != 0.0 && self.stationarity > 0.0 {
                self.hold = nan_max(self.hold, active.abs() / norm());
            }
        } else {
            self.dual = nan_max(self.dual, (u * norm()).abs());
        }
    }

    pub(crate) fn residuals(&self) -> QpResiduals {
        let data = self.slope + self.hold;
        QpResiduals {
            unexplained: if data > 0.0 { self.stationarity / data } else { 0.0 },
            stationarity: self.stationarity / self.scale,
            primal: self.primal,
            dual: self.dual / self.scale,
            complementarity: self.product / (self.scale * (self.reach + self.sum)),
        }
    }
}

/// Least size of a bound that is neither zero nor infinite, in units of its row; 0 if there is
/// none.
#[cold]
fn least_bound(qp: &Qp<'_>, units: &[f64]) -> f64 {
    let mut least = f64::INFINITY;
    let mut see = |(lower, upper): (f64, f64), norm: f64| {
        for bound in [lower.abs() / norm, upper.abs() / norm] {
            if bound > 0.0 && bound < least {
                least = bound;
            }
        }
    };
    for row in 0..qp.row_count() {
        see(qp.row_bounds_of(row), row_norm(qp, units, row));
    }
    for (i, unit) in units.iter().enumerate() {
        see(qp.bounds_of(i), *unit);
    }
    if least.is_finite() { least } else { 0.0 }
}

/// Maximum that keeps NaN, which `f64::max` drops.
#[inline]
#[must_use]
pub fn nan_max(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

fn worst_of(values: [f64; 4]) -> f64 {
    values.into_iter().fold(0.0, nan_max)
}

#[inline]
fn triple(x: &[f64], contact: usize) -> [f64; 3] {
    [x[3 * contact], x[3 * contact + 1], x[3 * contact + 2]]
}
