//! Block Gauss-Seidel over the contacts with exact projection on the cone.
//!
//! One sweep visits the contacts in order and minimises the objective over the force of each one,
//! the others held. A contact that sticks or is open is solved in closed form (3 × 3); one that
//! slides by a few projected gradient steps. Every visit lowers the objective, so the sweeps
//! converge for any positive semidefinite G, fast for few and slowly for many coupled contacts. On
//! a redundant problem the contact accelerations converge, while the distribution of force among
//! the redundant contacts stays close to where it started: from zero or a warm start it is *a*
//! solution, not the regularised one that the other solvers return.
//!
//! The result of a limited number of sweeps depends on the order of the contacts, its limit does
//! not.
//!
//! # References
//! M. Jean, *The non-smooth contact dynamics method*, Comput. Methods Appl. Mech. Eng. 177 (1999);
//! here for the convex problem, with the exact Euclidean projection per contact.

use crate::circular::SlidingLaw;
use crate::cone::ConeShape;
use crate::contact_problem::ContactProblem;
use crate::descent::Descent;
use crate::kkt;
use crate::method::{Accuracy, Cones, ContactMethod, Given, Method, Setting, Value, from_forces};
use crate::status::{Outcome, Status};
use legwork_linalg::cancel::check;
use legwork_linalg::{axpy, ldlt};

/// Projected gradient steps for a sliding contact in one visit.
const LOCAL_STEPS: u32 = 12;

/// Its entry among the methods.
pub(crate) static METHOD: Method = Method {
    kind: "ProjectedGaussSeidel",
    name: "pgs",
    title: "Projected Gauss-Seidel sweeps.",
    doc: "\
Solves the contact problem by projected Gauss–Seidel sweeps over the contacts. Every force
is projected exactly on its friction cone.

Cheap per sweep and never infeasible; what is left after the last sweep is in `residual`. It
starts from the forces of the last step. With redundant contacts the distribution of force
depends on that start, the motion does not.

Reference: M. Jean, *The non-smooth contact dynamics method* (1999).",
    aliases: &["PGS", "SOR"],
    example: "ProjectedGaussSeidel()",
    choice: Some("ProjectedGaussSeidel()"),
    iterations: "sweeps",
    cones: Cones::All,
    law: SlidingLaw::Convex,
    settings: &[
        Setting::new("sweeps", "Most sweeps of one solve [1].", Value::Count(1000)),
        Setting::new(
            "tol",
            "Residual at which to stop, relative to the force scale [1].",
            Value::Real(1e-8),
        ),
        Setting::new(
            "accept",
            "Residual up to which forces are used after the last sweep, relative to the force scale\n\
             [1]. Beyond it the solve has failed, and `on_fail` says what follows.",
            Value::Share(1e-4),
        ),
        Setting::new("relaxation", "Over-relaxation ω, between 0 and 2 [1].", Value::Real(1.0)),
        Setting::cold("Start from zero force each time."),
    ],
    tightest: &[
        ("sweeps", Value::Count(20_000)),
        ("tol", Value::Real(1e-10)),
        ("accept", Value::Share(0.0)),
    ],
    accuracy: Some(Accuracy { definite: 1e-6, reference: 1e-6, redundant: None }),
    allocates: false,
    // Vectors, and G once for the test of a problem without solution.
    memory: |size| {
        let [n, ..] = size.counts();
        n * n + 40 * n
    },
    make: |size, settings| {
        let (sweeps, tolerance) = (settings.count("sweeps"), settings.real("tol"));
        let mut solver = ProjectedGaussSeidel::new(size.contact_count, sweeps, tolerance);
        solver.relaxation = settings.real("relaxation");
        solver.accept = settings.real("accept");
        Box::new(solver)
    },
};

/// Projected Gauss-Seidel solver of the contact problem; accepts every cone.
#[doc(alias("PGS", "NSCD", "SOR"))]
#[derive(Clone, Debug)]
pub struct ProjectedGaussSeidel {
    /// Most sweeps of one solve.
    pub sweeps: u32,
    /// Solved once the natural residual ([`kkt::natural_residual`]) is at most this [1].
    pub tolerance: f64,
    /// Over-relaxation ω in (0, 2); 1 is plain Gauss-Seidel.
    pub relaxation: f64,
    /// Residual up to which the forces of the last sweep are inaccurate, not failed [1].
    pub accept: f64,
    acceleration: Vec<f64>,
    /// Forces before the last sweep.
    previous: Vec<f64>,
    descent: Descent,
}

impl ProjectedGaussSeidel {
    /// A solver with memory for `contact_count` contacts; ω = 1, and no residual above the
    /// tolerance is accepted.
    #[must_use]
    pub fn new(contact_count: usize, sweeps: u32, tolerance: f64) -> Self {
        let zero = || vec![0.0; 3 * contact_count];
        let descent = Descent::new(contact_count);
        let (acceleration, previous) = (zero(), zero());
        Self { sweeps, tolerance, relaxation: 1.0, accept: 0.0, acceleration, previous, descent }
    }

    /// Sweeps from the given `forces` (warm start) and leaves the answer there.
    ///
    /// Forces that are not finite or outside their cone are first projected, so any start is
    /// allowed. A problem without solution is [`Status::Unbounded`] with zero forces, if the last
    /// sweep or the forces lead to a direction that proves it ([`kkt::least_solution`]).
    ///
    /// # Panics
    /// If a slice of the problem or `forces` has the wrong length.
    pub fn sweep(&mut self, problem: &ContactProblem<'_>, forces: &mut [f64]) -> Outcome {
        assert_eq!(forces.len(), problem.dim(), "forces need 3k values");
        let is_relaxation = self.relaxation > 0.0 && self.relaxation < 2.0;
        if problem.refuse().is_some() || !is_relaxation || self.tolerance.is_nan() {
            forces.fill(0.0);
            return Outcome::refused(Status::InvalidData);
        }
        self.acceleration.resize(problem.dim(), 0.0);
        self.previous.resize(problem.dim(), 0.0);
        for (contact, force) in forces.chunks_exact_mut(3).enumerate() {
            let start = [force[0], force[1], force[2]];
            let keep = problem.is_active(contact) && start.iter().all(|f| f.is_finite());
            let mu = problem.friction[contact];
            force.copy_from_slice(&if keep { problem.cone.project(mu, start) } else { [0.0; 3] });
        }
        // `acceleration` follows the forces through the sweeps and is recomputed by the judge.
        let mut residual = kkt::natural_residual(problem, forces, &mut self.acceleration);
        // Changes have the judge's weights, so that sweeps do not depend on a contact's unit.
        let longest = kkt::longest_step(problem, problem.diagonal_shift());
        let relative = problem.force_scale / longest.sqrt();
        let mut sweeps = 0;
        while residual > self.tolerance && sweeps < self.sweeps {
            check();
            if sweeps + 1 == self.sweeps {
                self.previous.copy_from_slice(forces);
            }
            let mut change: f64 = 0.0;
            for contact in (0..problem.contact_count()).filter(|&c| problem.is_active(c)) {
                change = change.max(self.visit(problem, contact, forces));
            }
            sweeps += 1;
            let is_worth_judging = change <= self.tolerance * relative
                || sweeps == self.sweeps
                || sweeps.is_multiple_of(8);
            if is_worth_judging {
                residual = kkt::natural_residual(problem, forces, &mut self.acceleration);
            }
        }
        if residual > self.tolerance && sweeps > 0 {
            let heading = forces.iter().zip(&self.previous).map(|(f, previous)| f - previous);
            let is_found = self.descent.is_found(problem, heading)
                || self.descent.is_found(problem, forces.iter().copied());
            if is_found {
                forces.fill(0.0);
                return Outcome {
                    status: Status::Unbounded,
                    iterations: sweeps,
                    residual: f64::NAN,
                };
            }
        }
        let status = if residual <= self.tolerance {
            Status::Solved
        } else if residual.is_finite() {
            Status::MaxIterations
        } else {
            Status::NumericalTrouble
        };
        Outcome { status, iterations: sweeps, residual }
    }

    /// Minimises over the force of one contact; returns its largest change, times √g \[√W\] with
    /// the largest diagonal entry g of the contact.
    fn visit(&mut self, problem: &ContactProblem<'_>, contact: usize, forces: &mut [f64]) -> f64 {
        let n = problem.dim();
        let first = 3 * contact;
        let shift = problem.diagonal_shift();
        let mut h = [[0.0; 3]; 3];
        for (column, h) in h.iter_mut().enumerate() {
            let at = (first + column) * n + first;
            h.copy_from_slice(&problem.inverse_inertia[at..at + 3]);
            h[column] += problem.compliance_of(first + column) + shift;
        }
        let old = [forces[first], forces[first + 1], forces[first + 2]];
        let acceleration = &self.acceleration[first..first + 3];
        let product = multiply(&h, old);
        // The acceleration of this contact if it carried no force.
        let free = [0, 1, 2].map(|i| acceleration[i] - product[i]);
        let best = local_minimum(problem.cone, problem.friction[contact], &h, free, old);
        let mut new = best;
        if self.relaxation != 1.0 {
            let relaxed = [0, 1, 2].map(|i| old[i] + self.relaxation * (best[i] - old[i]));
            new = problem.cone.project(problem.friction[contact], relaxed);
        }
        let mut change: f64 = 0.0;
        for i in 0..3 {
            let step = new[i] - old[i];
            if step != 0.0 {
                let column = &problem.inverse_inertia[(first + i) * n..(first + i + 1) * n];
                axpy(step, column, &mut self.acceleration);
                self.acceleration[first + i] += (problem.compliance_of(first + i) + shift) * step;
                change = change.max(step.abs());
            }
            forces[first + i] = new[i];
        }
        let largest = (0..3).map(|i| h[i][i]).fold(0.0, f64::max);
        change * if largest > 0.0 { largest.sqrt() } else { 1.0 }
    }
}

impl ContactMethod for ProjectedGaussSeidel {
    fn warm_len(&self, _sides: usize) -> usize {
        3
    }

    fn solve_warm(&mut self, given: &Given<'_>, warm: &mut [f64], forces: &mut [f64]) -> Outcome {
        from_forces(warm, forces, self.accept, |forces| self.sweep(&given.problem, forces))
    }
}

/// `argmin ½ fᵀ h f + fᵀ free` over the cone, from `start`.
fn local_minimum(
    cone: &ConeShape,
    mu: f64,
    h: &[[f64; 3]; 3],
    free: [f64; 3],
    start: [f64; 3],
) -> [f64; 3] {
    if cone.dual_violation(mu, free) == 0.0 {
        return [0.0; 3];
    }
    if mu <= 0.0 {
        let normal = if h[2][2] > 0.0 { -free[2] / h[2][2] } else { start[2] - free[2] };
        let normal = normal.max(0.0);
        return [0.0, 0.0, normal];
    }
    if let Some(stick) = solve_stick(h, free)
        && cone.violation(mu, stick) == 0.0
    {
        return stick;
    }
    // A bound on the largest eigenvalue gives a step that cannot raise the objective.
    let bound = h.iter().map(|c| c.iter().map(|v| v.abs()).sum::<f64>()).fold(0.0, f64::max);
    let rho = if bound > 0.0 { 1.0 / bound } else { 1.0 };
    let mut f = start;
    for _ in 0..LOCAL_STEPS {
        let product = multiply(h, f);
        let next = cone.project(mu, [0, 1, 2].map(|i| f[i] - rho * (product[i] + free[i])));
        let is_at_rest = (0..3).all(|i| (next[i] - f[i]).abs() <= 1e-15 * next[2]);
        f = next;
        if is_at_rest {
            break;
        }
    }
    f
}

/// `-h⁻¹ free`; `None` if h is singular to rounding.
fn solve_stick(h: &[[f64; 3]; 3], free: [f64; 3]) -> Option<[f64; 3]> {
    let (mut h, mut x) = (*h, free.map(|x| -x));
    ldlt::solve_once(&mut h, &mut x, 1e-14).ok().map(|()| x)
}

/// `h x` for a symmetric matrix by columns.
fn multiply(h: &[[f64; 3]; 3], x: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|i| h[0][i] * x[0] + h[1][i] * x[1] + h[2][i] * x[2])
}
