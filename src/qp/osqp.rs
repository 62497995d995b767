//! OSQP, an operator-splitting method, for quadratic programs and pyramids.
//!
//! It reaches modest accuracy at a steady cost and starts warm. Every solve sets up a workspace
//! from the problem alone, since the step size ρ that the method adapts would otherwise remember
//! what was solved before; the memory of a warm start is in the caller's x and y. ρ adapts after a
//! fixed number of iterations: the default of OSQP measures time, and answers would depend on the
//! load of the machine. Nothing else reads a clock. The C library's rounding may differ between
//! compilers, so bits repeat on one build, not across builds.
//!
//! # References
//! B. Stellato, G. Banjac, P. Goulart, A. Bemporad, S. Boyd, *OSQP: an operator splitting solver
//! for quadratic programs*, Math. Prog. Comp. 12 (2020).

use crate::circular::SlidingLaw;
use crate::cone_kkt::weighted_radius;
use crate::cone_program::ConeProgram;
use crate::contact_problem::must_fit;
use crate::equilibrate::Equilibration;
use crate::general::Qp;
use crate::kkt::{self, ConeMultipliers, QpMultipliers};
use crate::method::{Cones, ContactMethod, Given, Method, Setting, Value};
use crate::problem_data::{QpData, is_fixed};
use crate::status::{Outcome, Status};
use crate::units::refuse_hessian;
use osqp::{CscMatrix, Problem, Settings};

/// The value that OSQP treats as infinity.
const INFINITE: f64 = 1e30;
/// Least radius in scaled unknowns up to which a certificate must refute all points.
const REFUTED_RADIUS: f64 = 1e3;
/// Largest residual of an answer that may be used.
const USABLE_RESIDUAL: f64 = 1e-2;
/// Largest residual of a direction of unbounded descent.
const DESCENT_RESIDUAL: f64 = 1e-3;

/// OSQP for [`Qp`] and for the [`crate::ContactProblem`] with pyramids.
#[doc(alias("ADMM", "operator splitting"))]
#[derive(Clone, Debug)]
pub struct OsqpSolver {
    /// Absolute and relative tolerance on both residuals of the scaled problem [1].
    pub tolerance: f64,
    /// Most iterations.
    pub iteration_limit: u32,
    /// Iterations between adaptations of ρ; 0 keeps ρ.
    pub rho_interval: u32,
    /// Guess the active constraints at the end and solve for them exactly.
    pub is_polished: bool,
    /// Natural residual up to which the forces of the last iteration are inaccurate, not failed
    /// [1].
    pub accept: f64,
    scaling: Equilibration,
    rows: Vec<f64>,
    bounds: Vec<f64>,
    direction: Vec<f64>,
    acceleration: Vec<f64>,
}

/// OSQP's result.
enum Said {
    Solved,
    Inaccurate,
    OutOfIterations,
    PrimalInfeasible,
    Unbounded,
    Trouble,
}

impl OsqpSolver {
    /// A solver with this tolerance, ρ adapted every 50 iterations, without polishing.
    #[must_use]
    pub fn new(tolerance: f64, iteration_limit: u32) -> Self {
        Self {
            tolerance,
            iteration_limit,
            rho_interval: 50,
            is_polished: false,
            accept: 0.0,
            scaling: Equilibration::default(),
            rows: Vec::new(),
            bounds: Vec::new(),
            direction: Vec::new(),
            acceleration: Vec::new(),
        }
    }

    fn settings(&self) -> Option<Settings> {
        let is_sound = self.tolerance > 0.0 && self.tolerance.is_finite();
        (is_sound && self.iteration_limit > 0).then(|| {
            Settings::default()
                .verbose(false)
                .eps_abs(self.tolerance)
                .eps_rel(self.tolerance)
                .eps_prim_inf(1e-6)
                .eps_dual_inf(1e-6)
                .max_iter(self.iteration_limit)
                .adaptive_rho(self.rho_interval > 0)
                .adaptive_rho_interval(Some(self.rho_interval.max(1)))
                .check_termination(Some(10))
                .scaling(None)
                .time_limit(None)
                .polish(self.is_polished)
        })
    }

    /// Solves from a cold start; see [`Self::solve_qp_warm`].
    ///
    /// # Panics
    /// If a slice of `qp` or `x` has the wrong length.
    pub fn solve_qp(&mut self, qp: &Qp<'_>, x: &mut [f64]) -> Outcome {
        x.fill(0.0);
        self.solve_qp_warm(qp, &mut vec![0.0; qp.row_count()], &mut vec![0.0; qp.dim()], x)
    }

    /// Solves from `x` and the multipliers y of the rows and z of the bounds (as in
    /// [`QpMultipliers`]), and leaves the answer there; values that are not finite start as 0.
    ///
    /// `Solved` means OSQP's own test and a residual of [`kkt::qp_residuals`] within a hundred
    /// tolerances, else the answer is `Inaccurate`. An answer without a certificate whose residual
    /// is within the tolerance is never called infeasible or unbounded. An H that is not symmetric
    /// or not positive semidefinite has its own status.
    ///
    /// # Panics
    /// If a slice has the wrong length.
    pub fn solve_qp_warm(
        &mut self,
        qp: &Qp<'_>,
        y: &mut [f64],
        z: &mut [f64],
        x: &mut [f64],
    ) -> Outcome {
        must_fit(qp.check_shape());
        let (n, m) = (qp.dim(), qp.row_count());
        assert_eq!((x.len(), y.len(), z.len()), (n, m, n), "x, y, z need n, m, n values");
        let program = ConeProgram::from(*qp);
        self.keep(&vec![0.0; m], &vec![0.0; n], &vec![0.0; n]);
        let mut stop = |x: &mut [f64], status| {
            x.fill(0.0);
            y.fill(0.0);
            z.fill(0.0);
            Outcome::refused(status)
        };
        let Some(settings) = self.settings().filter(|_| qp.is_valid()) else {
            return stop(x, Status::InvalidData);
        };
        if let Some(status) = refuse_hessian(qp) {
            return stop(x, status);
        }
        if kkt::contradicts_itself(&program) {
            return stop(x, Status::PrimalInfeasible);
        }
        if n == 0 {
            let is_met = (0..m).map(|i| qp.row_bounds_of(i)).all(|(l, u)| l <= 0.0 && u >= 0.0);
            return stop(x, if is_met { Status::Solved } else { Status::PrimalInfeasible });
        }
        self.scaling.of(&program);
        let (said, iterations) = self.run(qp, &settings, x, y, z);
        self.keep(y, z, &self.direction.clone());
        let failed = |status| Outcome { status, iterations, residual: f64::NAN };
        match said {
            Said::PrimalInfeasible => {
                let multipliers = ConeMultipliers { rows: y, bounds: z, cones: &[] };
                let radius = weighted_radius(&program, multipliers, &self.scaling.columns);
                x.fill(0.0);
                let is_proof = radius >= REFUTED_RADIUS;
                failed(if is_proof { Status::PrimalInfeasible } else { Status::NumericalTrouble })
            }
            Said::Unbounded => {
                let residual = kkt::unbounded_residual(&program, &self.direction);
                x.fill(0.0);
                let is_proof = residual <= DESCENT_RESIDUAL;
                failed(if is_proof { Status::Unbounded } else { Status::NumericalTrouble })
            }
            Said::Trouble => {
                x.fill(0.0);
                failed(Status::NumericalTrouble)
            }
            Said::Solved | Said::Inaccurate | Said::OutOfIterations => {
                let multipliers = QpMultipliers { rows: y, bounds: z };
                let residuals = kkt::qp_residuals(qp, x, multipliers, &mut vec![0.0; m + 2 * n]);
                let residual = residuals.worst();
                let status = match said {
                    _ if !residual.is_finite() => Status::NumericalTrouble,
                    Said::Solved => {
                        residuals.confirm(Status::Solved, 100.0 * self.tolerance, USABLE_RESIDUAL)
                    }
                    Said::OutOfIterations => Status::MaxIterations,
                    _ => residuals.confirm(Status::Inaccurate, 0.0, USABLE_RESIDUAL),
                };
                Outcome { status, iterations, residual }
            }
        }
    }

    /// Multipliers of the last quadratic program; after `PrimalInfeasible` its certificate.
    #[must_use]
    pub fn multipliers(&self) -> QpMultipliers<'_> {
        QpMultipliers { rows: &self.rows, bounds: &self.bounds }
    }

    /// Direction of unbounded descent of the last quadratic program, zero if there is none.
    #[must_use]
    pub fn unbounded_direction(&self) -> &[f64] {
        &self.direction
    }

    fn keep(&mut self, y: &[f64], z: &[f64], direction: &[f64]) {
        for (to, from) in
            [(&mut self.rows, y), (&mut self.bounds, z), (&mut self.direction, direction)]
        {
            to.clear();
            to.extend_from_slice(from);
        }
    }

    /// Runs OSQP on the scaled problem, whose rows are those of A and the identity.
    fn run(
        &mut self,
        qp: &Qp<'_>,
        settings: &Settings,
        x: &mut [f64],
        y: &mut [f64],
        z: &mut [f64],
    ) -> (Said, u32) {
        let (n, m) = (qp.dim(), qp.row_count());
        let Equilibration { columns, rows, cost, .. } = &self.scaling;
        let upper_triangle = (0..n).flat_map(|j| (0..n).map(move |i| (i, j))).map(|(i, j)| {
            let value = 0.5 * (qp.hessian[j * n + i] + qp.hessian[i * n + j]);
            if i <= j { cost * columns[i] * columns[j] * value } else { 0.0 }
        });
        let p = CscMatrix::from_column_iter(n, n, upper_triangle);
        let stacked = (0..n).flat_map(|j| (0..m + n).map(move |i| (i, j))).map(|(i, j)| {
            if i < m {
                rows[i] * columns[j] * qp.rows[j * m + i]
            } else {
                f64::from(u8::from(i - m == j))
            }
        });
        let a = CscMatrix::from_column_iter(m + n, n, stacked);
        let q: Vec<f64> = (0..n).map(|j| cost * columns[j] * qp.gradient[j]).collect();
        let factor = |i: usize| if i < m { rows[i] } else { 1.0 / columns[i - m] };
        let finite = |v: f64| v.clamp(-INFINITE, INFINITE);
        let lower = |i: usize| if i < m { qp.row_bounds_of(i).0 } else { qp.lower_of(i - m) };
        let upper = |i: usize| if i < m { qp.row_bounds_of(i).1 } else { qp.upper_of(i - m) };
        let l: Vec<f64> = (0..m + n).map(|i| finite(factor(i) * lower(i))).collect();
        let u: Vec<f64> = (0..m + n).map(|i| finite(factor(i) * upper(i))).collect();
        let Ok(mut problem) = Problem::new(p, &q, a, &l, &u, settings) else {
            y.fill(0.0);
            z.fill(0.0);
            return (Said::Trouble, 0);
        };
        // OSQP's multipliers have the other sign.
        let clean = |v: f64| if v.is_finite() { v } else { 0.0 };
        let start_x: Vec<f64> = x.iter().zip(columns).map(|(x, d)| clean(x / d)).collect();
        let start_y: Vec<f64> = (0..m + n)
            .map(|i| clean(-cost * if i < m { y[i] } else { z[i - m] } / factor(i)))
            .collect();
        problem.warm_start(&start_x, &start_y);
        let status = problem.solve();
        let iterations = status.iter();
        let unscale = |duals: &[f64], cost: f64, y: &mut [f64], z: &mut [f64]| {
            for (i, dual) in duals.iter().enumerate() {
                let value = -dual * factor(i) / cost;
                // Pressure on a bound that does not exist is rounding.
                let bound = if value > 0.0 { lower(i) } else { upper(i) };
                let value = if bound.is_finite() { value } else { 0.0 };
                if i < m { y[i] = value } else { z[i - m] = value }
            }
        };
        use osqp::Status as Theirs;
        let said = match &status {
            Theirs::Solved(s)
            | Theirs::SolvedInaccurate(s)
            | Theirs::MaxIterationsReached(s)
            | Theirs::TimeLimitReached(s) => {
                for ((x, value), d) in x.iter_mut().zip(s.x()).zip(columns) {
                    *x = d * value;
                }
                unscale(s.y(), *cost, y, z);
                match status {
                    Theirs::Solved(_) => Said::Solved,
                    Theirs::SolvedInaccurate(_) => Said::Inaccurate,
                    _ => Said::OutOfIterations,
                }
            }
            Theirs::PrimalInfeasible(c) | Theirs::PrimalInfeasibleInaccurate(c) => {
                unscale(c.delta_y(), 1.0, y, z);
                Said::PrimalInfeasible
            }
            Theirs::DualInfeasible(c) | Theirs::DualInfeasibleInaccurate(c) => {
                self.direction.clear();
                self.direction.extend(c.delta_x().iter().zip(columns).map(|(x, d)| d * x));
                y.fill(0.0);
                z.fill(0.0);
                Said::Unbounded
            }
            _ => {
                y.fill(0.0);
                z.fill(0.0);
                Said::Trouble
            }
        };
        (said, iterations)
    }
}

/// Its entry among the methods.
pub(crate) static METHOD: Method = Method {
    kind: "Osqp",
    name: "osqp",
    title: "The operator-splitting method.",
    doc: "\
Solves the contact problem by the operator-splitting method OSQP.

Modest accuracy at a steady cost: each solve sets up its workspace anew, starts cold and
allocates. The step size adapts after a fixed number of iterations, never by a clock. The C
library's rounding may differ between compilers, so bits repeat on one build, not across
builds.

Reference: B. Stellato, G. Banjac, P. Goulart, A. Bemporad, S. Boyd, *OSQP: an operator
splitting solver for quadratic programs* (2020).",
    aliases: &["ADMM", "operator splitting", "QP"],
    example: "Osqp(tol: 1e-6)",
    choice: None,
    iterations: "iterations",
    cones: Cones::Pyramids,
    law: SlidingLaw::Convex,
    settings: &[
        Setting::new(
            "tol",
            "Tolerance on both residuals of the scaled problem [1].",
            Value::Real(1e-8),
        ),
        Setting::new("iterations", "Most iterations [1].", Value::Count(20_000)),
        Setting::new(
            "adapt_every",
            "Iterations between adaptations of the step size [1]; 0 keeps it.",
            Value::Count(50),
        ),
        Setting::new(
            "polish",
            "Guess the active constraints at the end and solve for them exactly.",
            Value::Flag(true),
        ),
        Setting::new(
            "accept",
            "Residual up to which forces are used when the iterations are used up, relative to the\n\
             force scale [1].",
            Value::Share(1e-4),
        ),
    ],
    tightest: &[
        ("iterations", Value::Count(50_000)),
        ("polish", Value::Flag(false)),
        ("accept", Value::Share(0.0)),
    ],
    // It has no reaction to a signal, and answers that its own tests bound.
    accuracy: None,
    allocates: true,
    // The matrix of the conditions of a minimum, its factor and their indices.
    memory: |size| {
        let [n, s, _] = size.counts();
        6 * (n + s) * n + 2 * s * s
    },
    make: |_, settings| {
        let mut solver = OsqpSolver::new(settings.real("tol"), settings.count("iterations"));
        solver.rho_interval = settings.count("adapt_every");
        solver.is_polished = settings.flag("polish");
        solver.accept = settings.real("accept");
        Box::new(solver)
    },
};

impl ContactMethod for OsqpSolver {
    fn solve_warm(&mut self, given: &Given<'_>, _: &mut [f64], forces: &mut [f64]) -> Outcome {
        let problem = &given.problem;
        assert_eq!(forces.len(), problem.dim(), "forces need 3k values");
        forces.fill(0.0);
        if let Some(status) = problem.refuse() {
            return Outcome::refused(status);
        }
        if problem.cone.sides() == 0 {
            return Outcome::refused(Status::UnsupportedCone);
        }
        if problem.dim() == 0 {
            return Outcome { status: Status::Solved, iterations: 0, residual: 0.0 };
        }
        let qp = QpData::of_contact(problem);
        let inner = self.solve_qp(&qp.view(), forces);
        for (i, force) in forces.iter_mut().enumerate() {
            *force = if is_fixed(problem, i) { 0.0 } else { *force * problem.force_scale };
        }
        self.acceleration.resize(problem.dim(), 0.0);
        let residual = kkt::natural_residual(problem, forces, &mut self.acceleration);
        let status = match inner.status {
            // The cone of forces always holds zero.
            Status::PrimalInfeasible => Status::NumericalTrouble,
            status if status.is_usable() && !residual.is_finite() => Status::NumericalTrouble,
            Status::Solved if residual > 1000.0 * self.tolerance => Status::Inaccurate,
            status => status,
        };
        Outcome { status, iterations: inner.iterations, residual }.accepted(self.accept)
    }
}
