//! The outer iteration, and the public solver.

use super::energy::gained_energy;
use super::force_program::ForceProgram;
use super::lag::{Lag, first_depth};
use super::local_law::{Kind, LocalLaw};
use super::newton::{Newton, NewtonEnd, row_values};
use super::options::{ConstraintSolution, FrictionLaw, Method, ProgramSolver, SolverOptions};
use super::problem::{Constraint, ConstraintProblem, Law};
use legwork_qp::{Outcome, Status};

/// Solves [`ConstraintProblem`]; keeps only memory from one call to the next, so the answer depends
/// on problem and guess alone.
///
/// Allocates when the set of constraints' bodies changes or grows, else never; circular cones in
/// forces and [`Method::LeastForces`] allocate in every step.
#[doc(alias("SAP", "semi-analytic primal", "CFM", "ERP", "Drumwright"))]
#[derive(Debug, Default)]
pub struct SoftConstraintSolver {
    /// Limits and tolerances.
    pub options: SolverOptions,
    pub(super) newton: Newton,
    /// The program in forces, for the methods that have one.
    pub(super) program: Option<Box<ForceProgram>>,
    pub(super) laws: Vec<LocalLaw>,
    pub(super) lags: Vec<Lag>,
    /// Velocities that a solve begins from.
    guess: Vec<f64>,
    /// Change of each contact's slip or bound in the last pass, and the factor on it.
    changes: Vec<f64>,
    relaxation: f64,
    /// The best answer of several strategies.
    best: ConstraintSolution,
    best_lags: Vec<Lag>,
    /// `g M⁻¹ gᵀ` of tangential rows and normal row, estimated with the diagonal of M.
    pub(super) inverse_inertia: Vec<[f64; 2]>,
}

/// Least and largest factor on a pass's change of slips.
const RELAXATION: (f64, f64) = (0.2, 5.0);
/// Inner tolerance relative to the last error of the laws, and the largest one.
const INEXACTNESS: f64 = 1e-2;
const FIRST_TOLERANCE: f64 = 1e-5;
/// Friction above which a contact is assumed to stick at first. A pass lowers a slip by the speed
/// that friction brakes in a step over its coefficient, so a slip that ends takes passes in
/// proportion to that.
const STICKY: f64 = 5.0;
/// Passes of the first strategy.
const FIRST_PASSES: u32 = 40;
/// Residual up to which an answer that missed the tolerance may be used.
const USABLE_RESIDUAL: f64 = 1e-6;

impl SoftConstraintSolver {
    /// A solver with these options.
    #[must_use]
    pub fn new(options: SolverOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Solves one step: `M v₁ = p + h Gᵀλ₁` with every λ₁ as its law says at v₁.
    ///
    /// The residual of the outcome is the larger of the momentum that is missing and of the
    /// impulses by which the laws are missed, both relative to the momentum in the system; its
    /// iterations are Newton steps. `Solved` means that the laws are met to the tolerance and
    /// momentum to the tolerance or to round-off, which stiff rows can lift to 1e-7.
    ///
    /// `InvalidData` if a number is not finite or negative where it must not be;
    /// `NumericalTrouble` if M is not positive definite; `UnsupportedCone` if a pyramid has no
    /// interior; `MaxIterations` if the limits did not suffice and the residual is above 1e-6,
    /// `Inaccurate` below. With a method in forces iterations are those of its solver, and its
    /// failures are the outcome's.
    ///
    /// # Panics
    /// If the solution's velocity is not nv long.
    pub fn solve(
        &mut self,
        problem: &ConstraintProblem,
        solution: &mut ConstraintSolution,
    ) -> Outcome {
        self.solve_step(problem, solution, &mut None)
    }

    /// [`Self::solve`] with another solver of the programs of [`Method::Forces`] and
    /// [`Method::LeastForces`], which is called once for each pass of the outer iteration and keeps
    /// no working set. Unknowns are scaled impulses of unit curvature, at most one for each row;
    /// the program has a row for each facet of a contact with friction, or a cone of three rows,
    /// and with [`Method::LeastForces`] before them one for each row that pushes.
    ///
    /// # Panics
    /// If the solution's velocity is not nv long.
    pub fn solve_by(
        &mut self,
        solver: &mut ProgramSolver<'_>,
        problem: &ConstraintProblem,
        solution: &mut ConstraintSolution,
    ) -> Outcome {
        self.solve_step(problem, solution, &mut Some(solver))
    }

    fn solve_step(
        &mut self,
        problem: &ConstraintProblem,
        solution: &mut ConstraintSolution,
        other: &mut Option<&mut ProgramSolver<'_>>,
    ) -> Outcome {
        assert_eq!(solution.velocity.len(), problem.velocity_dim(), "the guess needs nv values");
        solution.forces.resize(problem.row_count(), 0.0);
        solution.forces.fill(0.0);
        let has_guess = solution.velocity.iter().all(|v| v.is_finite());
        let has_tolerance = self.options.tolerance > 0.0;
        if !problem.is_valid() || !has_guess || !has_tolerance {
            return Outcome { status: Status::InvalidData, iterations: 0, residual: f64::NAN };
        }
        let refuse = |status| Outcome { status, iterations: 0, residual: f64::NAN };
        // What the method needs of the problem.
        self.newton.prepare(problem);
        if self.newton.mass_diagonal.iter().any(|&m| m <= 0.0) {
            return refuse(Status::NumericalTrouble);
        }
        match self.options.method {
            Method::Velocities => {}
            Method::LeastForces { zeta, .. } if !(zeta > 0.0 && zeta.is_finite()) => {
                return refuse(Status::InvalidData);
            }
            Method::Forces { cone } | Method::LeastForces { cone, .. } => {
                let program = self.program.get_or_insert_default();
                if let Err(status) = program.prepare(problem, cone) {
                    return refuse(status);
                }
            }
        }
        // From the guess; once more in another way if that fails where contacts slip.
        self.guess.clear();
        self.guess.extend_from_slice(&solution.velocity);
        self.begin(problem, &solution.velocity, STICKY);
        let mut outcome =
            self.iterate(problem, self.options.pass_limit.min(FIRST_PASSES), solution, other);
        let slips = self.lags.iter().any(|lag| lag.slip > 0.0);
        if outcome.status != Status::Solved && slips {
            outcome = self.try_again(problem, outcome, solution, other);
        }
        for (force, impulse) in solution.forces.iter_mut().zip(&self.newton.impulses) {
            *force = impulse / problem.time_step;
        }
        let Newton { impulses, row_velocity, .. } = &self.newton;
        let program = self.program.as_ref().filter(|_| self.is_in_forces());
        solution.gained_energy = program.map_or(0.0, |program| {
            gained_energy(problem, impulses, row_velocity, &program.view.free_velocity)
        });
        outcome
    }

    /// Other strategies than the slips of the guess, for when their fixed point was not found:
    /// bounds of friction in place of slips, first those of the last normal impulses; and slips
    /// from zero. The first that solves the step, or the best of all.
    fn try_again(
        &mut self,
        problem: &ConstraintProblem,
        first: Outcome,
        solution: &mut ConstraintSolution,
        other: &mut Option<&mut ProgramSolver<'_>>,
    ) -> Outcome {
        let mut best = first;
        self.remember(solution);
        for has_bounds in [true, false] {
            solution.velocity.copy_from_slice(&self.guess);
            self.begin(problem, &solution.velocity, 0.0);
            if has_bounds {
                self.begin_bounds(problem);
            }
            let outcome = self.iterate(problem, self.options.pass_limit, solution, other);
            // The law is the same with the slips that were found: derivatives and problem files use
            // those.
            self.lags.iter_mut().for_each(|lag| lag.bound = None);
            let iterations = best.iterations + outcome.iterations;
            let (is_usable, was_usable) = (outcome.status.is_usable(), best.status.is_usable());
            let is_nearer = outcome.residual < best.residual || !best.residual.is_finite();
            if is_usable && !was_usable || is_usable == was_usable && is_nearer {
                self.remember(solution);
                best = outcome;
            }
            best.iterations = iterations;
            if best.status == Status::Solved {
                break;
            }
        }
        solution.velocity.copy_from_slice(&self.best.velocity);
        self.newton.impulses.copy_from_slice(&self.best.forces);
        self.lags.clone_from(&self.best_lags);
        problem.rows_times(&solution.velocity, &mut self.newton.row_velocity);
        self.update_laws(problem);
        best
    }

    /// Keeps an answer, its forces as impulses.
    fn remember(&mut self, solution: &ConstraintSolution) {
        self.best.velocity.clone_from(&solution.velocity);
        self.best.forces.clone_from(&self.newton.impulses);
        self.best_lags.clone_from(&self.lags);
    }

    /// Bounds of friction for contacts that have some.
    fn begin_bounds(&mut self, problem: &ConstraintProblem) {
        for (i, constraint) in problem.constraints().iter().enumerate() {
            let (first, rows) = (constraint.first_row, constraint.law.row_count());
            let normal = row_values(&self.newton.impulses, first, rows)[2];
            if self.laws[i].kind().has_friction() && normal.is_finite() {
                self.lags[i].bound = Some(self.laws[i].friction() * normal.max(0.0));
            }
        }
        self.update_laws(problem);
    }

    /// Lagged quantities from the guess, and the rows' inertias. Contacts of more friction than
    /// `sticky` are assumed not to slip at first.
    fn begin(&mut self, problem: &ConstraintProblem, guess: &[f64], sticky: f64) {
        let h = problem.time_step;
        problem.rows_times(guess, &mut self.newton.row_velocity);
        self.inverse_inertia.clear();
        self.lags.clear();
        self.laws.clear();
        self.changes.clear();
        self.changes.resize(problem.constraint_count(), 0.0);
        self.relaxation = 1.0;
        let is_coulomb = self.is_coulomb();
        // √energy: no row of inverse inertia w moves faster than √w of it.
        let energy = self.newton.norm(problem.momentum());
        for constraint in problem.constraints() {
            let rows = constraint.law.row_count();
            let mut w = [0.0; 3];
            for &part in problem.parts(constraint) {
                let (g, range) = problem.part(rows, part);
                let inverse = &self.newton.inverse_diagonal[range];
                if rows == 1 {
                    g.iter().zip(inverse).for_each(|(g, inverse)| w[2] += g * g * inverse);
                    continue;
                }
                for (column, inverse) in g.as_chunks::<3>().0.iter().zip(inverse) {
                    (0..3).for_each(|k| w[k] += column[k] * column[k] * inverse);
                }
            }
            // Lagged quantities at the guess.
            self.inverse_inertia.push([0.5 * (w[0] + w[1]), w[2]]);
            let u = row_values(&self.newton.row_velocity, constraint.first_row, rows);
            let normal = constraint.law.normal();
            let is_sliding = is_coulomb
                && matches!(constraint.law, Law::Contact(_, f) if f.coefficient <= sticky);
            let depth = -(normal.deformation + h * (u[2] + h * normal.rate_bias));
            self.lags.push(Lag {
                multiplier: [0.0; 3],
                slip: if is_sliding { (u[0] * u[0] + u[1] * u[1]).sqrt() } else { 0.0 },
                bound: None,
                depth: first_depth(normal, h, w[2], w[2].sqrt() * energy, depth),
            });
        }
        self.update_laws(problem);
    }

    /// Whether slips are lagged, so that normals do not depend on them.
    fn is_coulomb(&self) -> bool {
        let has_own = matches!(self.options.method, Method::LeastForces { .. });
        self.options.friction_law == FrictionLaw::Coulomb && !has_own
    }

    /// Local laws at the present lagged quantities.
    fn update_laws(&mut self, problem: &ConstraintProblem) {
        self.laws.clear();
        for (i, constraint) in problem.constraints().iter().enumerate() {
            self.laws.push(self.law_of(problem, constraint, i));
        }
    }

    /// The local law of constraint i at its lagged quantities.
    fn law_of(&self, problem: &ConstraintProblem, constraint: &Constraint, i: usize) -> LocalLaw {
        // The program of least forces is solved as it is, without proximal steps; the linear
        // system of its bilateral rows needs them.
        let is_as_written = matches!(self.options.method, Method::LeastForces { .. })
            && !matches!(constraint.law, Law::Bilateral(_));
        let inverse_inertia = if is_as_written { [0.0; 2] } else { self.inverse_inertia[i] };
        LocalLaw::new(&constraint.law, problem.time_step, inverse_inertia, &self.lags[i])
    }

    /// Impulses, velocities and row velocities at the present laws.
    fn solve_inner(
        &mut self,
        problem: &ConstraintProblem,
        (pass, tolerance): (u32, f64),
        solution: &mut ConstraintSolution,
        other: &mut Option<&mut ProgramSolver<'_>>,
    ) -> NewtonEnd {
        let limit = self.options.newton_limit;
        let Some(program) =
            self.program.as_mut().filter(|_| self.options.method != Method::Velocities)
        else {
            let velocity = &mut solution.velocity;
            let laws = &self.laws;
            return self.newton.minimise(problem, laws, pass, (tolerance, limit), velocity);
        };
        let method = self.options.method;
        let impulses = &mut self.newton.impulses;
        let Outcome { status, iterations, residual } =
            program.solve(problem, &self.laws, method, other, impulses, solution);
        let velocity = &solution.velocity;
        problem.rows_times(velocity, &mut self.newton.row_velocity);
        NewtonEnd { status, iterations, residual, scale: self.newton.scale(problem, velocity) }
    }

    /// γ of constraint i at these row velocities, and its slip speed.
    #[inline]
    fn answer(&self, constraint: &Constraint, i: usize, u: [f64; 3]) -> ([f64; 3], f64) {
        let law = &self.laws[i];
        let Some(program) = self.program.as_ref().filter(|_| self.is_in_forces()) else {
            let response = law.response(u);
            return (response.impulse, law.slip(u, &response));
        };
        let rows = constraint.law.row_count();
        let given = row_values(&self.newton.impulses, constraint.first_row, rows);
        match self.options.method {
            // A normal force may be larger than the spring's, which determines the depth.
            Method::LeastForces { .. } if law.kind() != Kind::Free => {
                ([given[0], given[1], law.drive(u)[2].max(0.0)], 0.0)
            }
            _ => (given, program.slip_speed(law, u, given)),
        }
    }

    fn is_in_forces(&self) -> bool {
        self.options.method != Method::Velocities
    }

    fn iterate(
        &mut self,
        problem: &ConstraintProblem,
        pass_limit: u32,
        solution: &mut ConstraintSolution,
        other: &mut Option<&mut ProgramSolver<'_>>,
    ) -> Outcome {
        let tolerance = self.options.tolerance;
        let (mut iterations, mut residual) = (0, f64::INFINITY);
        let mut law_error = f64::INFINITY;
        for pass in 0..pass_limit {
            // No inner problem has to be solved much more accurately than the laws.
            let inner_tolerance =
                (INEXACTNESS * law_error).min(FIRST_TOLERANCE).max(0.1 * tolerance);
            let end = self.solve_inner(problem, (pass, inner_tolerance), solution, other);
            iterations += end.iterations;
            let is_usable = end.status.is_usable() || end.status == Status::MaxIterations;
            if !is_usable || (self.is_in_forces() && !end.status.is_usable()) {
                return Outcome { status: end.status, iterations, residual: end.residual };
            }
            law_error = self.advance(problem, pass, end.scale);
            residual = end.residual.max(law_error);
            // Newton's method also ends where round-off of stiff rows limits the gradient, and a
            // program in forces is solved as accurately as its method can.
            let is_in_forces = self.is_in_forces();
            let is_tight =
                is_in_forces || inner_tolerance <= tolerance || end.residual <= tolerance;
            let reachable =
                if is_in_forces { tolerance.max(10.0 * end.residual) } else { tolerance };
            if law_error <= reachable && is_tight && end.status == Status::Solved {
                return Outcome { status: Status::Solved, iterations, residual };
            }
            self.relax(problem);
        }
        let status =
            if residual <= USABLE_RESIDUAL { Status::Inaccurate } else { Status::MaxIterations };
        Outcome { status, iterations, residual }
    }

    /// Updates the lagged quantities; returns by how much the impulses change at the same velocity,
    /// as velocity in units of √energy over `scale`.
    ///
    /// Slips of coupled contacts alone would converge by a constant factor per pass; Aitken's rule
    /// for vectors stretches or shortens their changes (B. M. Irons, R. C. Tuck, *A version of the
    /// Aitken accelerator for computer iteration*, 1969).
    fn advance(&mut self, problem: &ConstraintProblem, pass: u32, scale: f64) -> f64 {
        let h = problem.time_step;
        let is_coulomb = self.is_coulomb();
        let is_in_forces = self.is_in_forces();
        // Where the lagged quantities want to go, and how that has changed since the last pass.
        let (mut along, mut square) = (0.0, 0.0);
        for (i, constraint) in problem.constraints().iter().enumerate() {
            let u = row_values(
                &self.newton.row_velocity,
                constraint.first_row,
                constraint.law.row_count(),
            );
            let lag = self.lags[i];
            let answer = self.answer(constraint, i, u);
            let w = self.inverse_inertia[i][1];
            let mut next = self.laws[i].next_lag(&constraint.law, h, (u, w), lag.slip, answer);
            next.slip = if is_coulomb { next.slip } else { 0.0 };
            let change = next.scalar() - lag.scalar();
            let before = std::mem::replace(&mut self.changes[i], change);
            along += before * (change - before);
            square += (change - before) * (change - before);
            self.lags[i] = next;
            *self.lags[i].scalar_mut() = lag.scalar();
        }
        let (low, high) = RELAXATION;
        if pass > 0 && square > 0.0 {
            self.relaxation = (-self.relaxation * along / square).clamp(low, high);
        }
        // The laws at the new quantities; the change of their impulses, as the velocity that it
        // would cause.
        let mut worst: f64 = 0.0;
        for (i, constraint) in problem.constraints().iter().enumerate() {
            let (first, rows) = (constraint.first_row, constraint.law.row_count());
            let u = row_values(&self.newton.row_velocity, first, rows);
            let w = self.inverse_inertia[i];
            *self.lags[i].scalar_mut() += self.changes[i];
            let law = self.law_of(problem, constraint, i);
            let mut before = row_values(&self.newton.impulses, first, rows);
            let mut after = law.response(u).impulse;
            if is_in_forces {
                // The change before impulses are projected on their set.
                let carries = before[2] > 0.0 || after[2] > 0.0 || law.kind() == Kind::Free;
                after = if carries { law.drive(u) } else { before };
                before = if carries { self.laws[i].drive(u) } else { before };
            }
            let conductance = law.conductance();
            for k in 0..3 {
                let (w, d) = if k == 2 { (w[1], conductance[1]) } else { (w[0], conductance[0]) };
                if w > 0.0 && after[k] != before[k] {
                    let resistance = if d > 0.0 { w.min(1.0 / d) } else { w };
                    let error = (after[k] - before[k]).abs() * resistance / w.sqrt();
                    worst = worst.max(error);
                }
            }
            if let (Some(old), Some(new)) = (self.laws[i].bound(), law.bound())
                && w[1] > 0.0
            {
                // As the normal impulse that it is friction of.
                let resistance = w[1].min(1.0 / conductance[1].max(f64::MIN_POSITIVE));
                worst = worst.max((new - old).abs() / law.friction() * resistance / w[1].sqrt());
            }
            self.laws[i] = law;
        }
        if worst == 0.0 { 0.0 } else { worst / scale }
    }

    /// Stretches the last change of slips or bounds for the next pass.
    fn relax(&mut self, problem: &ConstraintProblem) {
        if self.changes.iter().all(|&change| change == 0.0) {
            // The laws already use these quantities.
            return;
        }
        for (lag, change) in self.lags.iter_mut().zip(&self.changes) {
            let scalar = lag.scalar_mut();
            *scalar = (*scalar + (self.relaxation - 1.0) * change).max(0.0);
        }
        self.update_laws(problem);
    }
}
