//! Accelerated projected gradient descent over all contacts at once, with exact projection on the
//! cones.
//!
//! With forces scaled per contact, `f_i = s_i x_i`, `s_i² = 1 / (largest diagonal entry of contact
//! i)`, the cones do not change and `N = S (G + R + εI) S` has a diagonal of at most 1. One
//! iteration (Mazhar et al., algorithm 1):
//!
//! ```text
//! x⁺ = P_K(y - (N y + S b) / L)       L doubled while dᵀN d > L dᵀd, d = x⁺ - y
//! θ⁺ = ½ (-θ² + θ √(θ² + 4)),  β = θ (1 - θ) / (θ² + θ⁺)
//! y⁺ = x⁺ + β (x⁺ - x)                restart with θ = 1, β = 0 if (N y + S b)ᵀ(x⁺ - x) > 0
//! L ← 0.9 L
//! ```
//!
//! It differs from the paper in three points. The test of L compares curvatures instead of
//! objective values, which is the same inequality for a quadratic objective but is not lost in
//! rounding near the solution. L never exceeds the trace of N, which is enough for descent. And N
//! is applied once per trial: `N y⁺` follows from `N x⁺` and `N x`.
//!
//! The objective falls like 1/k² where sweeps over coupled contacts converge slowly, so the method
//! is faster for many contacts and slower for few. On a redundant problem it finds *a* solution, as
//! [`crate::ProjectedGaussSeidel`] does.
//!
//! G is needed as an operator only: [`WhitenedContactProblem`] applies `G = WᵀW` from
//! `W = L⁻¹ Jᵀ` (M = L Lᵀ), at 2·3k·n_v products instead of (3k)², and saves forming G.
//!
//! # References
//! - H. Mazhar, T. Heyn, D. Negrut, A. Tasora, *Using Nesterov's method to accelerate multibody
//!   dynamics with friction and contact*, ACM Trans. Graph. 34 (2015), algorithm 1.
//! - B. O'Donoghue, E. Candès, *Adaptive restart for accelerated gradient schemes*, Found. Comput.
//!   Math. 15 (2015).

use crate::cone::ConeShape;
use crate::contact_problem::{ContactProblem, ContactSolver, ShapeError};
use crate::kkt;
use crate::status::{Outcome, Status};
use legwork_linalg::{all_finite, axpy, dot};

/// Step of the estimate of L after an accepted iteration.
const LIPSCHITZ_DECAY: f64 = 0.9;
/// Trials of L within one iteration; doubling from any start reaches the trace before.
const TRIAL_LIMIT: u32 = 64;

/// A contact problem that holds `W = L⁻¹ Jᵀ` instead of `G = WᵀW`.
///
/// | symbol | field | shape | unit |
/// |---|---|---|---|
/// | W | `whitened_jacobian` | n_v × 3k, column-major | kg^-½ |
/// | others | | as in [`ContactProblem`] | |
#[derive(Clone, Copy, Debug)]
pub struct WhitenedContactProblem<'a> {
    /// W.
    pub whitened_jacobian: &'a [f64],
    /// Rows n_v of W.
    pub velocity_dim: usize,
    /// Everything else; its `inverse_inertia` is ignored and may be empty.
    pub contact: ContactProblem<'a>,
}

impl WhitenedContactProblem<'_> {
    /// Checks the lengths of all slices.
    ///
    /// # Errors
    /// [`ShapeError`] names the first field of wrong length.
    pub fn check_shape(&self) -> Result<(), ShapeError> {
        let (k, n) = (self.contact.contact_count(), self.contact.dim());
        let check = |field, found, expected, optional: bool| {
            if found == expected || (optional && found == 0) {
                Ok(())
            } else {
                Err(ShapeError { field, contact_count: k, expected, found })
            }
        };
        check("whitened_jacobian", self.whitened_jacobian.len(), self.velocity_dim * n, false)?;
        check("bias", self.contact.bias.len(), n, false)?;
        check("compliance", self.contact.compliance.len(), n, true)?;
        check("active", self.contact.active.len(), k, true)
    }
}

/// What the method needs of G.
trait Delassus {
    /// Diagonal entry `i` of G.
    fn diagonal(&self, i: usize) -> f64;
    /// `product = G x`; x is zero on inactive contacts.
    fn apply(&self, x: &[f64], velocity: &mut Vec<f64>, product: &mut [f64]);
}

struct Dense<'a>(&'a [f64], usize);

impl Delassus for Dense<'_> {
    fn diagonal(&self, i: usize) -> f64 {
        self.0[i * self.1 + i]
    }

    fn apply(&self, x: &[f64], _velocity: &mut Vec<f64>, product: &mut [f64]) {
        product.fill(0.0);
        for (&x, column) in x.iter().zip(self.0.chunks_exact(self.1.max(1))) {
            if x != 0.0 {
                axpy(x, column, product);
            }
        }
    }
}

struct Whitened<'a>(&'a [f64], usize);

impl Delassus for Whitened<'_> {
    fn diagonal(&self, i: usize) -> f64 {
        let column = &self.0[i * self.1..(i + 1) * self.1];
        dot(column, column)
    }

    fn apply(&self, x: &[f64], velocity: &mut Vec<f64>, product: &mut [f64]) {
        velocity.clear();
        velocity.resize(self.1, 0.0);
        for (i, &x) in x.iter().enumerate() {
            if x != 0.0 {
                axpy(x, &self.0[i * self.1..(i + 1) * self.1], velocity);
            }
        }
        for (i, product) in product.iter_mut().enumerate() {
            *product = dot(&self.0[i * self.1..(i + 1) * self.1], velocity);
        }
    }
}

/// Accelerated projected gradient solver of the contact problem; accepts every cone.
///
/// Memory grows on the first problem of a size and is kept.
#[doc(alias("APGD", "Nesterov", "NNCG"))]
#[derive(Clone, Debug)]
pub struct AcceleratedGradient {
    /// Most iterations of one solve.
    pub iteration_limit: u32,
    /// Solved once the natural residual ([`kkt::natural_residual`]) is at most this [1].
    pub tolerance: f64,
    /// s_i and the diagonal D = S² (R + εI) of each component; both 0 where the force is zero.
    scale: Vec<f64>,
    added: Vec<f64>,
    /// ρ_i of the natural residual, per contact.
    steps: Vec<f64>,
    x: Vec<f64>,
    y: Vec<f64>,
    next: Vec<f64>,
    product_x: Vec<f64>,
    product_y: Vec<f64>,
    product_next: Vec<f64>,
    slope: Vec<f64>,
    best: Vec<f64>,
    forces: Vec<f64>,
    velocity: Vec<f64>,
}

impl AcceleratedGradient {
    /// A solver with memory for `contact_count` contacts.
    #[must_use]
    pub fn new(contact_count: usize, iteration_limit: u32, tolerance: f64) -> Self {
        let zero = || vec![0.0; 3 * contact_count];
        Self {
            iteration_limit,
            tolerance,
            scale: zero(),
            added: zero(),
            steps: vec![0.0; contact_count],
            x: zero(),
            y: zero(),
            next: zero(),
            product_x: zero(),
            product_y: zero(),
            product_next: zero(),
            slope: zero(),
            best: zero(),
            forces: zero(),
            velocity: Vec::new(),
        }
    }

    /// Iterates from the given `forces` (warm start) and leaves the best iterate there.
    ///
    /// Forces that are not finite or outside their cone are first projected, so any start is
    /// allowed. The answer depends on the problem and the start alone.
    ///
    /// # Panics
    /// If a slice of the problem or `forces` has the wrong length.
    pub fn solve_warm(&mut self, problem: &ContactProblem<'_>, forces: &mut [f64]) -> Outcome {
        assert_eq!(forces.len(), problem.dim(), "forces need 3k values");
        if problem.refuse().is_some() || self.tolerance.is_nan() {
            forces.fill(0.0);
            return Outcome::refused(Status::InvalidData);
        }
        let operator = Dense(problem.inverse_inertia, problem.dim());
        let mut outcome = self.run(problem, &operator, problem.diagonal_shift(), forces);
        // The common judge decides the status; it only adds rounding.
        outcome.residual = kkt::natural_residual(problem, forces, &mut self.slope);
        outcome
    }

    /// [`Self::solve_warm`] without G; `residual` is the natural residual of the answer.
    ///
    /// # Panics
    /// If a slice of the problem or `forces` has the wrong length.
    pub fn solve_whitened(
        &mut self,
        problem: &WhitenedContactProblem<'_>,
        forces: &mut [f64],
    ) -> Outcome {
        if let Err(error) = problem.check_shape() {
            panic!("{error}");
        }
        let contact = &problem.contact;
        assert_eq!(forces.len(), contact.dim(), "forces need 3k values");
        let non_negative = |x: &[f64]| x.iter().all(|&v| v >= 0.0 && v.is_finite());
        let is_valid = all_finite(problem.whitened_jacobian)
            && all_finite(contact.bias)
            && all_finite(contact.active)
            && non_negative(contact.friction)
            && non_negative(contact.compliance)
            && non_negative(&[contact.regularisation])
            && contact.force_scale > 0.0
            && contact.force_scale.is_finite();
        if !is_valid || self.tolerance.is_nan() {
            forces.fill(0.0);
            return Outcome::refused(Status::InvalidData);
        }
        let operator = Whitened(problem.whitened_jacobian, problem.velocity_dim);
        let (mut sum, mut count) = (0.0, 0);
        for i in (0..contact.dim()).filter(|i| contact.is_active(i / 3)) {
            sum += operator.diagonal(i) + contact.compliance_of(i);
            count += 1;
        }
        let mean = if sum > 0.0 { sum / f64::from(count) } else { 1.0 };
        self.run(contact, &operator, contact.regularisation * mean, forces)
    }

    fn run(
        &mut self,
        problem: &ContactProblem<'_>,
        operator: &impl Delassus,
        shift: f64,
        forces: &mut [f64],
    ) -> Outcome {
        self.prepare(problem, operator, shift, forces);
        self.apply(operator, Vector::X);
        let n = problem.dim();
        let mut residual = self.residual(problem, Vector::X);
        let mut best = residual;
        self.best.copy_from_slice(&self.x);
        self.y.copy_from_slice(&self.x);
        self.product_y.copy_from_slice(&self.product_x);
        let trace = self.trace(problem, operator);
        // The first estimate of L is the curvature along the steepest descent.
        let mut lipschitz = self.curvature(problem, operator, trace);
        let (mut theta, mut iterations) = (1.0f64, 0);
        while residual > self.tolerance && iterations < self.iteration_limit {
            for i in 0..n {
                self.slope[i] = self.product_y[i] + self.scale[i] * problem.bias[i];
            }
            for _ in 0..TRIAL_LIMIT {
                self.step(problem, lipschitz);
                self.apply(operator, Vector::Next);
                let (mut curved, mut square) = (0.0, 0.0);
                for i in 0..n {
                    let d = self.next[i] - self.y[i];
                    curved += d * (self.product_next[i] - self.product_y[i]);
                    square += d * d;
                }
                if curved <= lipschitz * square || lipschitz >= trace {
                    break;
                }
                lipschitz = (2.0 * lipschitz).min(trace);
            }
            iterations += 1;
            let ascent: f64 = (0..n).map(|i| self.slope[i] * (self.next[i] - self.x[i])).sum();
            let square = theta * theta;
            let next_theta = 0.5 * (theta * (square + 4.0).sqrt() - square);
            let mut beta = theta * (1.0 - theta) / (square + next_theta);
            theta = next_theta;
            if ascent > 0.0 {
                (beta, theta) = (0.0, 1.0);
            }
            for i in 0..n {
                self.y[i] = self.next[i] + beta * (self.next[i] - self.x[i]);
                self.product_y[i] =
                    self.product_next[i] + beta * (self.product_next[i] - self.product_x[i]);
            }
            std::mem::swap(&mut self.x, &mut self.next);
            std::mem::swap(&mut self.product_x, &mut self.product_next);
            lipschitz *= LIPSCHITZ_DECAY;
            residual = self.residual(problem, Vector::X);
            if residual < best {
                best = residual;
                self.best.copy_from_slice(&self.x);
            }
            if residual.is_nan() {
                break;
            }
        }
        for (i, force) in forces.iter_mut().enumerate() {
            *force = self.scale[i] * self.best[i];
        }
        let status = if best <= self.tolerance {
            Status::Solved
        } else if best.is_finite() {
            Status::MaxIterations
        } else {
            Status::NumericalTrouble
        };
        Outcome { status, iterations, residual: best }
    }

    /// Scales the problem and projects the start.
    fn prepare(
        &mut self,
        problem: &ContactProblem<'_>,
        operator: &impl Delassus,
        shift: f64,
        forces: &[f64],
    ) {
        let n = problem.dim();
        for values in [
            &mut self.scale,
            &mut self.added,
            &mut self.x,
            &mut self.y,
            &mut self.next,
            &mut self.product_x,
            &mut self.product_y,
            &mut self.product_next,
            &mut self.slope,
            &mut self.best,
            &mut self.forces,
        ] {
            values.resize(n, 0.0);
        }
        self.steps.resize(problem.contact_count(), 0.0);
        for contact in 0..problem.contact_count() {
            let first = 3 * contact;
            let range = first..first + 3;
            let largest = range
                .clone()
                .map(|i| operator.diagonal(i) + problem.compliance_of(i) + shift)
                .fold(0.0, f64::max);
            let largest = if largest > 0.0 { largest } else { 1.0 };
            self.steps[contact] = 1.0 / largest;
            let is_active = problem.is_active(contact);
            let scale = if is_active { 1.0 / largest.sqrt() } else { 0.0 };
            let start = [forces[first], forces[first + 1], forces[first + 2]];
            let keep = is_active && start.iter().all(|f| f.is_finite());
            let start = if keep {
                problem.cone.project(problem.friction[contact], start)
            } else {
                [0.0; 3]
            };
            for (i, f) in range.zip(start) {
                self.scale[i] = scale;
                self.added[i] = scale * scale * (problem.compliance_of(i) + shift);
                self.x[i] = if scale > 0.0 { f / scale } else { 0.0 };
            }
        }
    }

    /// `N v` of one of the vectors into its product.
    fn apply(&mut self, operator: &impl Delassus, which: Vector) {
        let (vector, product) = match which {
            Vector::X => (&self.x, &mut self.product_x),
            Vector::Next => (&self.next, &mut self.product_next),
        };
        for ((force, x), scale) in self.forces.iter_mut().zip(vector).zip(&self.scale) {
            *force = scale * x;
        }
        operator.apply(&self.forces, &mut self.velocity, product);
        for (i, product) in product.iter_mut().enumerate() {
            *product = self.scale[i] * *product + self.added[i] * vector[i];
        }
    }

    /// `next = P_K(y - slope / L)`.
    fn step(&mut self, problem: &ContactProblem<'_>, lipschitz: f64) {
        for contact in 0..problem.contact_count() {
            let first = 3 * contact;
            let trial = [0, 1, 2].map(|i| self.y[first + i] - self.slope[first + i] / lipschitz);
            let next = if problem.is_active(contact) {
                problem.cone.project(problem.friction[contact], trial)
            } else {
                [0.0; 3]
            };
            self.next[first..first + 3].copy_from_slice(&next);
        }
    }

    /// The trace of N, a bound on its eigenvalues; 1 if it is zero.
    fn trace(&self, problem: &ContactProblem<'_>, operator: &impl Delassus) -> f64 {
        let trace: f64 = (0..problem.dim())
            .map(|i| self.scale[i] * self.scale[i] * operator.diagonal(i) + self.added[i])
            .sum();
        if trace > 0.0 { trace } else { 1.0 }
    }

    /// Curvature of the objective along `S b`; uses `next` as scratch.
    fn curvature(
        &mut self,
        problem: &ContactProblem<'_>,
        operator: &impl Delassus,
        trace: f64,
    ) -> f64 {
        let largest = self.scale.iter().zip(problem.bias).map(|(s, b)| (s * b).abs());
        let largest = largest.fold(0.0, f64::max);
        if largest == 0.0 {
            return trace;
        }
        for i in 0..problem.dim() {
            self.next[i] = self.scale[i] * problem.bias[i] / largest;
        }
        self.apply(operator, Vector::Next);
        let ratio = dot(&self.next, &self.product_next) / dot(&self.next, &self.next);
        // A direction without inertia gives no estimate for the others.
        if ratio > 1e-3 * trace { ratio.min(trace) } else { trace }
    }

    /// The natural residual, as [`kkt::natural_residual`] defines it, of a vector whose product is
    /// known.
    fn residual(&self, problem: &ContactProblem<'_>, which: Vector) -> f64 {
        let (vector, product) = match which {
            Vector::X => (&self.x, &self.product_x),
            Vector::Next => (&self.next, &self.product_next),
        };
        let mut worst = 0.0;
        for contact in (0..problem.contact_count()).filter(|&c| problem.is_active(c)) {
            let (first, rho) = (3 * contact, self.steps[contact]);
            let f = [0, 1, 2].map(|i| self.scale[first + i] * vector[first + i]);
            let trial = [0, 1, 2].map(|i| {
                let acceleration =
                    product[first + i] / self.scale[first + i] + problem.bias[first + i];
                f[i] - rho * acceleration
            });
            let p = problem.cone.project(problem.friction[contact], trial);
            for axis in 0..3 {
                worst = kkt::nan_max(worst, (f[axis] - p[axis]).abs());
            }
        }
        worst / problem.force_scale
    }
}

/// Which of the vectors a product is of.
#[derive(Clone, Copy)]
enum Vector {
    X,
    Next,
}

impl ContactSolver for AcceleratedGradient {
    fn accepts(&self, _cone: &ConeShape) -> bool {
        true
    }

    fn solve(&mut self, problem: &ContactProblem<'_>, forces: &mut [f64]) -> Outcome {
        forces.fill(0.0);
        self.solve_warm(problem, forces)
    }
}
