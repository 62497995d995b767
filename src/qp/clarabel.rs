//! Clarabel's interior-point method for contact problems, quadratic programs and cone programs.
//!
//! # The contact problem
//! Unknowns are scaled forces `x = f / force_scale` and the objective is divided by
//! `force_scale² · mean diagonal`, because the method's tolerance is on the objective gap:
//! unscaled, a tolerance of 1e-8 left forces 0.2 N from the exact solution of a flat problem.
//!
//! # One structure per size
//!
//! The pattern depends on the number of contacts and the cone alone: P stores its whole upper
//! triangle, every cone row stores all its entries, zeros included. So new data of the same size
//! are written in place, without a new symbolic analysis. Coordinates that can only be zero
//! (inactive contacts, tangential forces where μ = 0) are uncoupled by numbers: their rows of P
//! become those of the identity and their cone row becomes constant, which keeps the program
//! strictly complementary.
//!
//! Equilibration is off, since its scaling comes from the first data and is kept: answers would
//! depend on history. Without it an updated solver returns the bits of a fresh one.
//!
//! With circular cones the method occasionally stalls short of a tight tolerance. Such an answer is
//! polished by projected Gauss-Seidel sweeps, which lower the same objective from where they start;
//! if they bring it to a natural residual of 1e-8 it is called solved, else the program is solved
//! again at a loose tolerance, and the better answer is [`Status::Inaccurate`].
//!
//! # Quadratic and cone programs
//!
//! These are scaled by powers of two from their own numbers (Ruiz), so units hardly matter, and
//! stored without their zeros. The structure is that of the nonzeros and of which bounds exist; a
//! program of the structure of the last one is written in place, another one builds a new solver.
//!
//! # References
//! P. Goulart, Y. Chen, *Clarabel: an interior-point solver for conic programs with quadratic
//! objectives* (2024).

mod program;

use crate::circular::SlidingLaw;
use crate::cone::{Cone, ConeShape};
use crate::contact_problem::{ContactProblem, ContactProblemData};
use crate::descent::Descent;
use crate::kkt;
use crate::method::{Accuracy, Cones, ContactMethod, Given, Method, Setting, Value};
use crate::problem_data::is_fixed;
use crate::projected_gauss_seidel::ProjectedGaussSeidel;
use crate::status::{Outcome, Status};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSettingsBuilder, DefaultSolver, IPSolver, SolverStatus, SupportedConeT,
};
use legwork_linalg::cancel;
use program::ProgramSolver;

/// Problems of fewer unknowns take some ten milliseconds at most.
const LARGE: usize = 150;
/// Natural residual up to which an answer that Clarabel does not call solved may be used.
const USABLE_RESIDUAL: f64 = 1e-4;
/// Polishing sweeps for an answer that Clarabel does not call solved.
const POLISH_SWEEPS: u32 = 400;
/// Residual up to which a polished answer is called solved.
const POLISHED_RESIDUAL: f64 = 1e-8;
/// Residual above which an answer that polishing did not repair is solved again.
const RETRY_RESIDUAL: f64 = 1e-6;
/// Tolerance of the second try.
const RETRY_TOLERANCE: f64 = 1e-8;

/// Interior-point solver of [`ContactProblem`], [`crate::Qp`] and [`crate::ConeProgram`]; accepts
/// every cone and always starts cold.
///
/// A solve allocates inside Clarabel; a new size or structure builds a new solver. Answers do not
/// depend on earlier calls, not even in their last bits.
#[doc(alias("interior point", "SOCP solver"))]
pub struct ClarabelSolver {
    tolerance: f64,
    iteration_limit: u32,
    built: Option<Built>,
    acceleration: Vec<f64>,
    polish: ProjectedGaussSeidel,
    descent: Descent,
    program: ProgramSolver,
}

/// A solver for one number of contacts and one cone.
struct Built {
    cone: Cone,
    contact_count: usize,
    solver: DefaultSolver<f64>,
    data: ProgramData,
}

/// The numbers of the cone program: upper triangle of P, q, A, b.
struct ProgramData {
    p: CscMatrix<f64>,
    q: Vec<f64>,
    a: CscMatrix<f64>,
    b: Vec<f64>,
}

impl std::fmt::Debug for ClarabelSolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClarabelSolver")
            .field("tolerance", &self.tolerance)
            .field("iteration_limit", &self.iteration_limit)
            .finish_non_exhaustive()
    }
}

impl ClarabelSolver {
    /// A solver with this tolerance on gap and feasibility of the scaled program and at most
    /// `iteration_limit` interior-point steps (50 is plenty).
    ///
    /// At 1e-10 forces are within about 1e-6 of `force_scale`, at 1e-8 within 1e-5. Below 1e-11 the
    /// method's own factors are the limit, and it may end [`Status::Inaccurate`] or worse.
    #[must_use]
    pub fn new(tolerance: f64, iteration_limit: u32) -> Self {
        Self {
            tolerance,
            iteration_limit,
            built: None,
            acceleration: Vec::new(),
            polish: ProjectedGaussSeidel::new(0, POLISH_SWEEPS, POLISHED_RESIDUAL),
            descent: Descent::default(),
            program: ProgramSolver::default(),
        }
    }

    fn settings(&self) -> Option<DefaultSettings<f64>> {
        DefaultSettingsBuilder::default()
            .verbose(false)
            .max_iter(self.iteration_limit)
            .tol_gap_abs(self.tolerance)
            .tol_gap_rel(self.tolerance)
            .tol_feas(self.tolerance)
            .equilibrate_enable(false)
            .presolve_enable(false)
            .input_sparse_dropzeros(false)
            .max_threads(1)
            .build()
            .ok()
    }

    /// Brings the numbers of `problem` into a solver of the right structure.
    fn prepare(&mut self, problem: &ContactProblem<'_>) -> Option<&mut Built> {
        let (cone, k) = (problem.cone.cone(), problem.contact_count());
        let fits = self.built.as_ref().is_some_and(|b| b.cone == cone && b.contact_count == k);
        if fits {
            let built = self.built.as_mut()?;
            built.data.write(problem);
            let data = &built.data;
            built.solver.update_data(&data.p.nzval, &data.q, &data.a.nzval, &data.b).ok()?;
        } else {
            let mut data = ProgramData::new(problem.cone, k);
            data.write(problem);
            let cones = cones(problem.cone, k);
            let settings = self.settings()?;
            let solver =
                DefaultSolver::new(&data.p, &data.q, &data.a, &data.b, &cones, settings).ok()?;
            self.built = Some(Built { cone, contact_count: k, solver, data });
        }
        self.built.as_mut()
    }
}

/// Its entry among the methods.
pub(crate) static METHOD: Method = Method {
    kind: "ClarabelQp",
    name: "clarabel",
    title: "The interior-point method.",
    doc: "\
Solves the contact problem by the interior-point method of Clarabel.

It knows the true, circular cone, always starts cold and allocates in each solve. Forces
that are zero in theory come out as small numbers.

Reference: P. Goulart, Y. Chen, *Clarabel: an interior-point solver for conic programs with
quadratic objectives* (2024).",
    aliases: &["interior point", "QP", "SOCP"],
    example: "ClarabelQp(tol: 1e-10)",
    choice: Some("ClarabelQp(tol: 1e-10)"),
    iterations: "interior-point steps",
    cones: Cones::All,
    law: SlidingLaw::Convex,
    settings: &[
        Setting::new(
            "tol",
            "Tolerance on gap and feasibility of the scaled program, from 1e-12 up [1].",
            Value::Real(1e-10),
        ),
        Setting::new("iterations", "Most interior-point steps [1].", Value::Count(50)),
    ],
    tightest: &[("tol", Value::Real(1e-10)), ("iterations", Value::Count(200))],
    accuracy: Some(Accuracy { definite: 4e-5, reference: 1e-6, redundant: Some(1e-5) }),
    allocates: true,
    // The matrix of the conditions of a minimum, its factor and their indices.
    memory: |size| {
        let [n, s, _] = size.counts();
        6 * (n + s) * n + 2 * s * s
    },
    make: |_, settings| {
        Box::new(ClarabelSolver::new(settings.real("tol"), settings.count("iterations")))
    },
};

impl ContactMethod for ClarabelSolver {
    fn solve_warm(&mut self, given: &Given<'_>, _: &mut [f64], forces: &mut [f64]) -> Outcome {
        let problem = &given.problem;
        if problem.dim() < LARGE {
            return self.solve_here(problem, forces);
        }
        let data = ContactProblemData::of(problem);
        self.solve_aside(forces, move |solver, forces| solver.solve_here(&data.view(), forces))
    }
}

impl ClarabelSolver {
    /// Solves where the wait for the answer can be ended: Clarabel itself does not look at
    /// [`cancel`]'s flag.
    fn solve_aside(
        &mut self,
        unknowns: &mut [f64],
        solve: impl FnOnce(&mut Self, &mut [f64]) -> Outcome + Send + 'static,
    ) -> Outcome {
        let fresh = Self::new(self.tolerance, self.iteration_limit);
        let mut solver = std::mem::replace(self, fresh);
        let mut own = unknowns.to_vec();
        let (solver, found, outcome) = cancel::aside(move || {
            let outcome = solve(&mut solver, &mut own);
            (solver, own, outcome)
        });
        *self = solver;
        unknowns.copy_from_slice(&found);
        outcome
    }

    fn solve_here(&mut self, problem: &ContactProblem<'_>, forces: &mut [f64]) -> Outcome {
        assert_eq!(forces.len(), problem.dim(), "forces need 3k values");
        forces.fill(0.0);
        if let Some(status) = problem.refuse() {
            return Outcome::refused(status);
        }
        if problem.dim() == 0 {
            return Outcome { status: Status::Solved, iterations: 0, residual: 0.0 };
        }
        let Some(built) = self.prepare(problem) else {
            return Outcome::refused(Status::NumericalTrouble);
        };
        built.solver.solve();
        // A used solver that breaks down at its start leaves what an earlier call left.
        if built.solver.solution.status != SolverStatus::Solved {
            self.built = None;
            let Some(built) = self.prepare(problem) else {
                return Outcome::refused(Status::NumericalTrouble);
            };
            built.solver.solve();
        }
        let first = self.judged(problem, forces);
        let first = self.polished(problem, first, forces);
        let is_stuck = matches!(first.status, Status::Inaccurate | Status::NumericalTrouble);
        if !is_stuck || first.residual <= RETRY_RESIDUAL || self.tolerance >= RETRY_TOLERANCE {
            return first;
        }
        // The method occasionally stalls far from the answer at a tight tolerance and not at a
        // loose one.
        let tight = std::mem::replace(&mut self.tolerance, RETRY_TOLERANCE);
        let loose_settings = self.settings();
        self.tolerance = tight;
        let (Some(loose), Some(tight)) = (loose_settings, self.settings()) else {
            return first;
        };
        let Some(built) = self.built.as_mut() else {
            return first;
        };
        if built.solver.update_settings(loose).is_err() {
            return first;
        }
        built.solver.solve();
        let kept = forces.to_vec();
        let mut second = self.judged(problem, forces);
        if second.status == Status::Solved {
            second.status = Status::Inaccurate;
        }
        let second = self.polished(problem, second, forces);
        let is_restored =
            self.built.as_mut().is_some_and(|built| built.solver.update_settings(tight).is_ok());
        if !is_restored {
            self.built = None;
        }
        let iterations = first.iterations + second.iterations;
        if second.status.is_usable() && second.residual < first.residual {
            return Outcome { iterations, ..second };
        }
        forces.copy_from_slice(&kept);
        Outcome { iterations, ..first }
    }
}

impl ClarabelSolver {
    /// Writes the forces of the program that was just solved and judges them.
    fn judged(&mut self, problem: &ContactProblem<'_>, forces: &mut [f64]) -> Outcome {
        let Some(built) = &self.built else {
            return Outcome::refused(Status::NumericalTrouble);
        };
        let solution = &built.solver.solution;
        for (i, (force, x)) in forces.iter_mut().zip(&solution.x).enumerate() {
            if !is_fixed(problem, i) {
                *force = problem.force_scale * x;
            }
        }
        let iterations = solution.iterations;
        let mut status = match solution.status {
            SolverStatus::Solved => Status::Solved,
            SolverStatus::MaxIterations | SolverStatus::MaxTime => Status::MaxIterations,
            SolverStatus::DualInfeasible | SolverStatus::AlmostDualInfeasible => Status::Unbounded,
            // For any other status the independent judge decides.
            _ => Status::Inaccurate,
        };
        self.acceleration.resize(problem.dim(), 0.0);
        if status == Status::Unbounded {
            // Zero force is feasible: what is left to prove is the direction.
            let is_proof = self.descent.is_found(problem, forces.iter().copied());
            forces.fill(0.0);
            let status = if is_proof { status } else { Status::NumericalTrouble };
            return Outcome { status, iterations, residual: f64::NAN };
        }
        let residual = kkt::natural_residual(problem, forces, &mut self.acceleration);
        if !residual.is_finite() || (status == Status::Inaccurate && residual > USABLE_RESIDUAL) {
            status = Status::NumericalTrouble;
        }
        Outcome { status, iterations, residual }
    }
}

impl ClarabelSolver {
    /// A stalled answer after some Gauss-Seidel sweeps, if these improve it: solved if the judge
    /// accepts it, else with its previous status.
    fn polished(
        &mut self,
        problem: &ContactProblem<'_>,
        outcome: Outcome,
        forces: &mut [f64],
    ) -> Outcome {
        if !matches!(outcome.status, Status::Inaccurate | Status::NumericalTrouble)
            || !outcome.residual.is_finite()
        {
            return outcome;
        }
        let kept = forces.to_vec();
        let polished = self.polish.sweep(problem, forces);
        let mut residual = polished.residual;
        if residual.is_nan() || residual > outcome.residual {
            forces.copy_from_slice(&kept);
            residual = outcome.residual;
        }
        let status = match residual {
            r if r <= POLISHED_RESIDUAL => Status::Solved,
            r if r <= USABLE_RESIDUAL => Status::Inaccurate,
            _ => Status::NumericalTrouble,
        };
        Outcome { status, residual, ..outcome }
    }
}

/// Cone rows per contact, the row of `f_n ≥ 0` last.
fn rows_per_contact(shape: &ConeShape) -> usize {
    match shape.cone() {
        Cone::Circular => 4,
        Cone::Pyramid { sides, .. } => sides + 1,
    }
}

/// One cone for all rows of pyramids; a second-order cone and a half-line per contact otherwise.
fn cones(shape: &ConeShape, contact_count: usize) -> Vec<SupportedConeT<f64>> {
    match shape.cone() {
        Cone::Pyramid { .. } => {
            vec![SupportedConeT::NonnegativeConeT(contact_count * rows_per_contact(shape))]
        }
        Cone::Circular => (0..contact_count)
            .flat_map(|_| {
                [SupportedConeT::SecondOrderConeT(3), SupportedConeT::NonnegativeConeT(1)]
            })
            .collect(),
    }
}

impl ProgramData {
    /// The structure for `contact_count` contacts, all numbers zero.
    fn new(shape: &ConeShape, contact_count: usize) -> Self {
        let n = 3 * contact_count;
        let per = rows_per_contact(shape);
        let p_starts = (0..=n).map(|j| j * (j + 1) / 2).collect();
        let p_rows: Vec<usize> = (0..n).flat_map(|j| 0..=j).collect();
        let p = CscMatrix::new(n, n, p_starts, p_rows, vec![0.0; n * (n + 1) / 2]);

        // Which rows of a contact each axis enters.
        let axis_rows: [Vec<usize>; 3] = match shape.cone() {
            Cone::Circular => [vec![1], vec![2], vec![0, 3]],
            Cone::Pyramid { sides, .. } => {
                [(0..sides).collect(), (0..sides).collect(), (0..per).collect()]
            }
        };
        let (mut starts, mut rows) = (vec![0], Vec::new());
        for contact in 0..contact_count {
            for axis in &axis_rows {
                rows.extend(axis.iter().map(|row| contact * per + row));
                starts.push(rows.len());
            }
        }
        let count = rows.len();
        let a = CscMatrix::new(contact_count * per, n, starts, rows, vec![0.0; count]);
        Self { p, q: vec![0.0; n], a, b: vec![0.0; contact_count * per] }
    }

    /// Writes the numbers: `s = b - A x` in the cone, s being the slacks of the friction cone.
    fn write(&mut self, problem: &ContactProblem<'_>) {
        let n = problem.dim();
        let mean = problem.mean_diagonal();
        let shift = problem.diagonal_shift();
        let mut entries = self.p.nzval.iter_mut();
        for j in 0..n {
            let column = &problem.inverse_inertia[j * n..(j + 1) * n];
            let is_j_fixed = is_fixed(problem, j);
            for (i, (value, g)) in (0..=j).zip(entries.by_ref().zip(column)) {
                *value = if is_j_fixed || is_fixed(problem, i) {
                    f64::from(u8::from(i == j))
                } else if i == j {
                    (g + problem.compliance_of(j) + shift) / mean
                } else {
                    g / mean
                };
            }
            self.q[j] = match (is_j_fixed, j % 3) {
                // A normal force that must vanish is held at its bound.
                (true, 2) => 1.0,
                (true, _) => 0.0,
                (false, _) => problem.bias[j] / (mean * problem.force_scale),
            };
        }
        let sides = problem.cone.sides();
        let per = rows_per_contact(problem.cone);
        let facets = problem.cone.facets();
        let mut values = self.a.nzval.iter_mut();
        let mut put = |value: f64| {
            if let Some(entry) = values.next() {
                *entry = value;
            }
        };
        for contact in 0..problem.contact_count() {
            let is_loose = is_fixed(problem, 3 * contact);
            let slope = problem.cone.facet_friction(problem.friction[contact]);
            let slope = if is_loose { 0.0 } else { slope };
            let b = &mut self.b[contact * per..(contact + 1) * per];
            b.fill(0.0);
            // Without friction the friction rows read 1 ≥ |x_t|, and x_t = 0 is their interior.
            let offset = f64::from(u8::from(is_loose));
            if sides == 0 {
                b[0] = offset;
                [-1.0, -1.0, -slope, -1.0].into_iter().for_each(&mut put);
            } else {
                b[..sides].fill(offset);
                facets.iter().map(|d| d[0]).for_each(&mut put);
                facets.iter().map(|d| d[1]).for_each(&mut put);
                (0..sides).for_each(|_| put(-slope));
                put(-1.0);
            }
        }
    }
}
