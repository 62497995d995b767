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
//! # References
//! - H. Mazhar, T. Heyn, D. Negrut, A. Tasora, *Using Nesterov's method to accelerate multibody
//!   dynamics with friction and contact*, ACM Trans. Graph. 34 (2015), algorithm 1.
//! - B. O'Donoghue, E. Candès, *Adaptive restart for accelerated gradient schemes*, Found. Comput.
//!   Math. 15 (2015).

use crate::circular::SlidingLaw;
use crate::contact_problem::ContactProblem;
use crate::descent::Descent;
use crate::kkt;
use crate::method::{Accuracy, Cones, ContactMethod, Given, Method, Setting, Value, from_forces};
use crate::status::{Outcome, Status};
use legwork_linalg::cancel::check;
use legwork_linalg::{axpy, dot, max_abs};

/// Step of the estimate of L after an accepted iteration.
const LIPSCHITZ_DECAY: f64 = 0.9;
/// Trials of L within one iteration; doubling from any start reaches the trace before.
const TRIAL_LIMIT: u32 = 64;
/// x over the bias beyond which an answer is tested for being none.
const DOUBTFUL: f64 = 1e8;

/// Its entry among the methods.
pub(crate) static METHOD: Method = Method {
    kind: "AcceleratedGradient",
    name: "apgd",
    title: "Accelerated projected gradient descent.",
    doc: "\
Solves the contact problem by accelerated projected gradient descent. Every force is
projected exactly on its friction cone.

All contacts move at once; momentum restarts where it points uphill. It needs fewer passes
than sweeps where contacts are many or redundant. What is left after the last step is in
`residual`. It starts from the forces of the last step. With redundant contacts the
distribution of force depends on that start, the motion does not.

Reference: H. Mazhar, T. Heyn, D. Negrut, A. Tasora, *Using Nesterov's method to accelerate
multibody dynamics with friction and contact* (2015).",
    aliases: &["APGD", "Nesterov"],
    example: "AcceleratedGradient(steps: 500)",
    choice: Some("AcceleratedGradient()"),
    iterations: "steps",
    cones: Cones::All,
    law: SlidingLaw::Convex,
    settings: &[
        Setting::new("steps", "Most steps of one solve [1].", Value::Count(2000)),
        Setting::new(
            "tol",
            "Residual at which to stop, relative to the force scale [1].",
            Value::Real(1e-8),
        ),
        Setting::new(
            "accept",
            "Residual up to which forces are used after the last step, relative to the force \
             scale\n[1]. Beyond it the solve has failed, and `on_fail` says what follows.",
            Value::Share(1e-4),
        ),
        Setting::cold("Start from zero force each time."),
    ],
    tightest: &[
        ("steps", Value::Count(100_000)),
        ("tol", Value::Real(1e-10)),
        ("accept", Value::Share(0.0)),
    ],
    accuracy: Some(Accuracy { definite: 1e-7, reference: 1e-8, redundant: None }),
    allocates: false,
    // Vectors, and G once for the test of a problem without solution.
    memory: |size| {
        let [n, ..] = size.counts();
        n * n + 40 * n
    },
    make: |size, settings| {
        let (steps, tolerance) = (settings.count("steps"), settings.real("tol"));
        let mut solver = AcceleratedGradient::new(size.contact_count, steps, tolerance);
        solver.accept = settings.real("accept");
        Box::new(solver)
    },
};

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
    /// Residual up to which the forces of the last iteration are inaccurate, not failed [1].
    pub accept: f64,
    /// s_i and the diagonal D = S² (R + εI) of each component; both 0 where the force is zero.
    scale: Vec<f64>,
    added: Vec<f64>,
    /// ρ_i of the natural residual, per contact.
    steps: Vec<f64>,
    /// The largest of those of active contacts.
    longest_step: f64,
    x: Vec<f64>,
    y: Vec<f64>,
    next: Vec<f64>,
    product_x: Vec<f64>,
    product_y: Vec<f64>,
    product_next: Vec<f64>,
    slope: Vec<f64>,
    best: Vec<f64>,
    forces: Vec<f64>,
    descent: Descent,
}

impl AcceleratedGradient {
    /// A solver with memory for `contact_count` contacts, which accepts no residual above the
    /// tolerance.
    #[must_use]
    pub fn new(contact_count: usize, iteration_limit: u32, tolerance: f64) -> Self {
        let zero = || vec![0.0; 3 * contact_count];
        Self {
            iteration_limit,
            tolerance,
            accept: 0.0,
            scale: zero(),
            added: zero(),
            steps: vec![0.0; contact_count],
            longest_step: 0.0,
            x: zero(),
            y: zero(),
            next: zero(),
            product_x: zero(),
            product_y: zero(),
            product_next: zero(),
            slope: zero(),
            best: zero(),
            forces: zero(),
            descent: Descent::new(contact_count),
        }
    }

    /// Iterates from the given `forces` (warm start) and leaves the best iterate there.
    ///
    /// Forces that are not finite or outside their cone are first projected, so any start is
    /// allowed. The answer depends on the problem and the start alone. A problem without solution
    /// is [`Status::Unbounded`] with zero forces, if the last iterate leads to a
    /// direction that proves it ([`kkt::least_solution`]).
    ///
    /// # Panics
    /// If a slice of the problem or `forces` has the wrong length.
    pub fn descend(&mut self, problem: &ContactProblem<'_>, forces: &mut [f64]) -> Outcome {
        assert_eq!(forces.len(), problem.dim(), "forces need 3k values");
        if problem.refuse().is_some() || self.tolerance.is_nan() {
            forces.fill(0.0);
            return Outcome::refused(Status::InvalidData);
        }
        let mut outcome = self.run(problem, forces);
        // Forces so large that their rounding hides the residual may pass for solved.
        let is_doubtful = outcome.status != Status::Solved || self.is_beyond(problem, DOUBTFUL);
        if is_doubtful {
            let heading = self.x.iter().zip(&self.scale).map(|(x, scale)| scale * x);
            if self.descent.is_found(problem, heading) {
                forces.fill(0.0);
                return Outcome { status: Status::Unbounded, residual: f64::NAN, ..outcome };
            }
        }
        // The common judge decides the status; it only adds rounding.
        outcome.residual = kkt::natural_residual(problem, forces, &mut self.slope);
        outcome
    }

    fn run(&mut self, problem: &ContactProblem<'_>, forces: &mut [f64]) -> Outcome {
        self.prepare(problem, forces);
        self.apply(problem, Vector::X);
        let n = problem.dim();
        let mut residual = self.residual(problem);
        let mut best = residual;
        self.best.copy_from_slice(&self.x);
        self.y.copy_from_slice(&self.x);
        self.product_y.copy_from_slice(&self.product_x);
        let trace = self.trace(problem);
        // The first estimate of L is the curvature along the steepest descent.
        let mut lipschitz = self.curvature(problem, trace);
        let (mut theta, mut iterations) = (1.0f64, 0);
        while residual > self.tolerance && iterations < self.iteration_limit {
            check();
            // The slope at y, where the gradient step starts.
            for i in 0..n {
                self.slope[i] = self.product_y[i] + self.scale[i] * problem.bias[i];
            }

            // A step with L raised until the quadratic model is an upper bound.
            for _ in 0..TRIAL_LIMIT {
                self.step(problem, lipschitz);
                self.apply(problem, Vector::Next);
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

            // Nesterov's weights; the momentum is dropped where the objective would rise.
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

            // The next iterate, and the best one so far.
            std::mem::swap(&mut self.x, &mut self.next);
            std::mem::swap(&mut self.product_x, &mut self.product_next);
            lipschitz *= LIPSCHITZ_DECAY;
            residual = self.residual(problem);
            if residual < best {
                best = residual;
                self.best.copy_from_slice(&self.x);
            }
            if residual.is_nan() || self.is_beyond(problem, 1.0 / f64::EPSILON) {
                break;
            }
        }

        // Back to the units of the problem.
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
    fn prepare(&mut self, problem: &ContactProblem<'_>, forces: &[f64]) {
        let (n, shift) = (problem.dim(), problem.diagonal_shift());
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
        self.longest_step = kkt::longest_step(problem, shift);
        for contact in 0..problem.contact_count() {
            let first = 3 * contact;
            let range = first..first + 3;

            // A step length and a scale by the largest diagonal entry of each contact.
            let largest = range
                .clone()
                .map(|i| problem.inverse_inertia[i * (n + 1)] + problem.compliance_of(i) + shift)
                .fold(0.0, f64::max);
            let largest = if largest > 0.0 { largest } else { 1.0 };
            self.steps[contact] = 1.0 / largest;
            let is_active = problem.is_active(contact);
            let scale = if is_active { 1.0 / largest.sqrt() } else { 0.0 };

            // The start: the projection of what is given, zero if that is not finite.
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
    fn apply(&mut self, problem: &ContactProblem<'_>, which: Vector) {
        let (vector, product) = match which {
            Vector::X => (&self.x, &mut self.product_x),
            Vector::Next => (&self.next, &mut self.product_next),
        };
        for ((force, x), scale) in self.forces.iter_mut().zip(vector).zip(&self.scale) {
            *force = scale * x;
        }
        product.fill(0.0);
        let columns = problem.inverse_inertia.chunks_exact(problem.dim().max(1));
        for (&force, column) in self.forces.iter().zip(columns) {
            if force != 0.0 {
                axpy(force, column, product);
            }
        }
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
    fn trace(&self, problem: &ContactProblem<'_>) -> f64 {
        let n = problem.dim();
        let trace: f64 = (0..n)
            .map(|i| {
                self.scale[i] * self.scale[i] * problem.inverse_inertia[i * (n + 1)] + self.added[i]
            })
            .sum();
        if trace > 0.0 { trace } else { 1.0 }
    }

    /// Curvature of the objective along `S b`; uses `next` as scratch.
    fn curvature(&mut self, problem: &ContactProblem<'_>, trace: f64) -> f64 {
        let largest = self.scale.iter().zip(problem.bias).map(|(s, b)| (s * b).abs());
        let largest = largest.fold(0.0, f64::max);
        if largest == 0.0 {
            return trace;
        }
        for i in 0..problem.dim() {
            self.next[i] = self.scale[i] * problem.bias[i] / largest;
        }
        self.apply(problem, Vector::Next);
        let ratio = dot(&self.next, &self.product_next) / dot(&self.next, &self.next);
        // A direction without inertia gives no estimate for the others.
        if ratio > 1e-3 * trace { ratio.min(trace) } else { trace }
    }

    /// Whether x is larger than so many times the bias, in units where N has a diagonal of 1.
    fn is_beyond(&self, problem: &ContactProblem<'_>, times: f64) -> bool {
        let bias = self.scale.iter().zip(problem.bias).map(|(s, b)| (s * b).abs());
        max_abs(&self.x) > times * bias.fold(0.0, f64::max)
    }

    /// The natural residual, as [`kkt::natural_residual`] defines it, of x.
    fn residual(&self, problem: &ContactProblem<'_>) -> f64 {
        let mut worst = 0.0;
        for contact in (0..problem.contact_count()).filter(|&c| problem.is_active(c)) {
            let (first, rho) = (3 * contact, self.steps[contact]);
            let weight = (self.longest_step / rho).sqrt();
            let f = [0, 1, 2].map(|i| self.scale[first + i] * self.x[first + i]);
            let trial = [0, 1, 2].map(|i| {
                let acceleration =
                    self.product_x[first + i] / self.scale[first + i] + problem.bias[first + i];
                f[i] - rho * acceleration
            });
            let p = problem.cone.project(problem.friction[contact], trial);
            for axis in 0..3 {
                worst = kkt::nan_max(worst, weight * (f[axis] - p[axis]).abs());
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

impl ContactMethod for AcceleratedGradient {
    fn warm_len(&self, _sides: usize) -> usize {
        3
    }

    fn solve_warm(&mut self, given: &Given<'_>, warm: &mut [f64], forces: &mut [f64]) -> Outcome {
        from_forces(warm, forces, self.accept, |forces| self.descend(&given.problem, forces))
    }
}
