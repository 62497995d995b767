//! The quadratic and the cone program for Clarabel.

use super::{ClarabelSolver, LARGE, USABLE_RESIDUAL};
use crate::cone_kkt::weighted_radius;
use crate::cone_program::ConeProgram;
use crate::contact_problem::must_fit;
use crate::equilibrate::Equilibration;
use crate::general::Qp;
use crate::kkt::{self, ConeMultipliers};
use crate::null_vector::refine;
use crate::problem_data::ConeProgramData;
use crate::status::{Outcome, Status};
use crate::units::refuse_hessian;
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};
use legwork_linalg::{dot, max_abs};

/// Residual up to which an answer that Clarabel calls solved is called so here.
const SOLVED_RESIDUAL: f64 = 1e-6;
/// Least radius in scaled unknowns up to which a certificate must refute all points.
const REFUTED_RADIUS: f64 = 1e9;
/// The same radius for a program with second-order cones, whose certificates have the tolerance of
/// the method.
const REFUTED_RADIUS_OF_CONES: f64 = 1e6;
/// Largest residual of a direction of unbounded descent.
const DESCENT_RESIDUAL: f64 = 1e-9;

/// Entries below this share of a certificate's largest entry are within the method's tolerance.
const NOISE: f64 = 1e-5;

/// Clarabel for programs of the last seen structure, and the last solution.
#[derive(Default)]
pub(super) struct ProgramSolver {
    solver: Option<DefaultSolver<f64>>,
    form: StandardForm,
    /// The form that `solver` was built for.
    built: StandardForm,
    scaling: Equilibration,
    rows: Vec<f64>,
    bounds: Vec<f64>,
    cones: Vec<f64>,
    direction: Vec<f64>,
}

/// `min ½ xᵀPx + qᵀx` with `b - A x ∈ K`, K = equalities × inequalities × cone blocks.
#[derive(Default)]
struct StandardForm {
    p: Sparse,
    q: Vec<f64>,
    a: Sparse,
    b: Vec<f64>,
    equality_count: usize,
    inequality_count: usize,
    cone_sizes: Vec<usize>,
    /// Bounds of the linear rows.
    row_bounds: Vec<(f64, f64)>,
}

/// A sparse matrix by columns.
#[derive(Default)]
struct Sparse {
    starts: Vec<usize>,
    indices: Vec<usize>,
    values: Vec<f64>,
}

impl Sparse {
    fn clear(&mut self) {
        self.starts.clear();
        self.starts.push(0);
        self.indices.clear();
        self.values.clear();
    }

    fn push(&mut self, row: usize, value: f64) {
        self.indices.push(row);
        self.values.push(value);
    }

    fn end_column(&mut self) {
        self.starts.push(self.indices.len());
    }

    fn has_structure_of(&self, other: &Self) -> bool {
        self.starts == other.starts && self.indices == other.indices
    }

    fn matrix(&self, rows: usize) -> CscMatrix<f64> {
        let columns = self.starts.len().saturating_sub(1);
        let (starts, indices) = (self.starts.clone(), self.indices.clone());
        CscMatrix::new(rows, columns, starts, indices, self.values.clone())
    }
}

/// Which rows of the standard form a pair of bounds has.
#[derive(Clone, Copy)]
enum Kind {
    Free,
    Equality,
    Lower,
    Upper,
    Both,
}

/// Bounds of a row. They are infinite for a row of zeros, whose interior would be empty.
fn row_bounds(qp: &Qp<'_>, row: usize) -> (f64, f64) {
    let is_zero = qp.rows.iter().skip(row).step_by(qp.row_count()).all(|a| *a == 0.0);
    if is_zero { (f64::NEG_INFINITY, f64::INFINITY) } else { qp.row_bounds_of(row) }
}

fn kind((lower, upper): (f64, f64)) -> Kind {
    match (lower.is_finite(), upper.is_finite()) {
        (true, true) if lower == upper => Kind::Equality,
        (true, true) => Kind::Both,
        (true, false) => Kind::Lower,
        (false, true) => Kind::Upper,
        (false, false) => Kind::Free,
    }
}

impl StandardForm {
    /// Writes the scaled `program`; linear rows come before bounds within each part.
    fn write(&mut self, program: &ConeProgram<'_>, scaling: &Equilibration) {
        let (n, m, r) = (program.dim(), program.row_count(), program.cone_row_count());
        let qp = &program.linear;
        self.cone_sizes.clear();
        self.cone_sizes.extend_from_slice(program.cone_sizes);
        self.row_bounds.clear();
        self.row_bounds.extend((0..m).map(|row| row_bounds(qp, row)));
        self.b.clear();
        // Right sides, equalities first. Bounds are scaled to act on the scaled unknown itself.
        let sources = || {
            let rows = self.row_bounds.iter().copied().zip(scaling.rows.iter().copied());
            let bounds = (0..n).map(|i| (qp.bounds_of(i), 1.0 / scaling.columns[i]));
            rows.chain(bounds)
        };
        for (bounds, factor) in sources() {
            if matches!(kind(bounds), Kind::Equality) {
                self.b.push(factor * bounds.0);
            }
        }
        self.equality_count = self.b.len();
        for ((lower, upper), factor) in sources() {
            match kind((lower, upper)) {
                Kind::Free | Kind::Equality => {}
                Kind::Lower => self.b.push(-factor * lower),
                Kind::Upper => self.b.push(factor * upper),
                Kind::Both => self.b.extend([-factor * lower, factor * upper]),
            }
        }
        self.inequality_count = self.b.len() - self.equality_count;
        let first_cone = self.b.len();
        self.b.extend(program.cone_offset.iter().zip(&scaling.cones).map(|(c, e)| e * c));

        // P by its upper triangle, and A, column by column.
        self.p.clear();
        self.a.clear();
        self.q.clear();
        for j in 0..n {
            let d = scaling.columns[j];
            self.q.push(scaling.cost * d * qp.gradient[j]);
            for i in 0..=j {
                let value = 0.5 * (qp.hessian[j * n + i] + qp.hessian[i * n + j]);
                if value != 0.0 || i == j {
                    self.p.push(i, scaling.cost * scaling.columns[i] * d * value);
                }
            }
            self.p.end_column();

            // Rows of A in the order of b: equalities, inequalities, cones.
            let row_value = |i: usize| scaling.rows[i] * d * qp.rows[j * m + i];
            let row_kind = |i: usize| kind(self.row_bounds[i]);
            let bound_kind = |i: usize| kind(qp.bounds_of(i));
            let mut at = 0;
            for i in 0..m + n {
                let (kind, value) = if i < m {
                    (row_kind(i), row_value(i))
                } else {
                    (bound_kind(i - m), if i - m == j { 1.0 } else { 0.0 })
                };
                if matches!(kind, Kind::Equality) {
                    if value != 0.0 {
                        self.a.push(at, value);
                    }
                    at += 1;
                }
            }
            for i in 0..m + n {
                let (kind, value) = if i < m {
                    (row_kind(i), row_value(i))
                } else {
                    (bound_kind(i - m), if i - m == j { 1.0 } else { 0.0 })
                };
                let signs: &[f64] = match kind {
                    Kind::Free | Kind::Equality => &[],
                    Kind::Lower => &[-1.0],
                    Kind::Upper => &[1.0],
                    Kind::Both => &[-1.0, 1.0],
                };
                for sign in signs {
                    if value != 0.0 {
                        self.a.push(at, sign * value);
                    }
                    at += 1;
                }
            }
            for i in 0..r {
                let value = scaling.cones[i] * d * program.cone_rows[j * r + i];
                if value != 0.0 {
                    self.a.push(first_cone + i, -value);
                }
            }
            self.a.end_column();
        }
    }

    fn has_structure_of(&self, other: &Self) -> bool {
        self.equality_count == other.equality_count
            && self.inequality_count == other.inequality_count
            && self.cone_sizes == other.cone_sizes
            && self.b.len() == other.b.len()
            && self.p.has_structure_of(&other.p)
            && self.a.has_structure_of(&other.a)
    }

    fn build(&self, settings: DefaultSettings<f64>) -> Option<DefaultSolver<f64>> {
        let mut cones = Vec::new();
        if self.equality_count > 0 {
            cones.push(SupportedConeT::ZeroConeT(self.equality_count));
        }
        if self.inequality_count > 0 {
            cones.push(SupportedConeT::NonnegativeConeT(self.inequality_count));
        }
        cones.extend(self.cone_sizes.iter().map(|&size| match size {
            1 => SupportedConeT::NonnegativeConeT(1),
            _ => SupportedConeT::SecondOrderConeT(size),
        }));
        let (p, a) = (self.p.matrix(self.q.len()), self.a.matrix(self.b.len()));
        DefaultSolver::new(&p, &self.q, &a, &self.b, &cones, settings).ok()
    }
}

impl ProgramSolver {
    /// Brings the numbers of `form` into a solver of its structure.
    fn prepare(&mut self, settings: DefaultSettings<f64>) -> Option<&mut DefaultSolver<f64>> {
        let fits = self.solver.is_some() && self.form.has_structure_of(&self.built);
        if fits {
            let form = &self.form;
            let solver = self.solver.as_mut()?;
            solver.update_data(&form.p.values, &form.q, &form.a.values, &form.b).ok()?;
        } else {
            self.solver = None;
            self.solver = Some(self.form.build(settings)?);
        }
        std::mem::swap(&mut self.form, &mut self.built);
        self.solver.as_mut()
    }

    /// Multipliers of the program from those of the standard form, each divided by `cost`.
    fn unscale(&mut self, program: &ConeProgram<'_>, multipliers: &[f64], cost: f64) {
        let (n, m, r) = (program.dim(), program.row_count(), program.cone_row_count());
        let qp = &program.linear;
        self.clear_multipliers(n, m, r);
        let mut equalities = multipliers.iter();
        let mut inequalities = multipliers[self.built.equality_count..].iter();
        for i in 0..m + n {
            let bounds = if i < m { self.built.row_bounds[i] } else { qp.bounds_of(i - m) };
            let mut next = || inequalities.next().copied().unwrap_or(0.0);
            let value = match kind(bounds) {
                Kind::Free => 0.0,
                Kind::Equality => -equalities.next().copied().unwrap_or(0.0),
                Kind::Lower => next(),
                Kind::Upper => -next(),
                Kind::Both => next() - next(),
            };
            if i < m {
                self.rows[i] = value * self.scaling.rows[i] / cost;
            } else {
                self.bounds[i - m] = value / self.scaling.columns[i - m] / cost;
            }
        }
        let first_cone = self.built.equality_count + self.built.inequality_count;
        for (i, w) in self.cones.iter_mut().enumerate() {
            *w = multipliers[first_cone + i] * self.scaling.cones[i] / cost;
        }
    }

    /// Reduces the error of multipliers that refute the program from the method's tolerance to
    /// rounding: those of linear rows and active bounds change until `D (Aᵀy + z + Cᵀw)` is zero,
    /// if that is possible.
    #[cold]
    fn refine_contradiction(&mut self, program: &ConeProgram<'_>) {
        let (n, m, r) = (program.dim(), program.row_count(), program.cone_row_count());
        let (qp, d) = (&program.linear, &self.scaling.columns);
        // Columns in the units of the multipliers; the sum over the cones is one column of weight
        // one.
        let mut columns: Vec<f64> = Vec::new();
        let (mut pressing, mut weights) = (Vec::new(), Vec::new());
        let sizes = |i: usize| if i < m { self.scaling.rows[i] } else { 1.0 / d[i - m] };
        let value = |i: usize| if i < m { self.rows[i] } else { self.bounds[i - m] };
        let largest = (0..m + n).fold(0.0f64, |a, i| a.max((value(i) / sizes(i)).abs()));
        for i in 0..m + n {
            let weight = value(i) / sizes(i);
            if weight.abs() <= NOISE * largest {
                continue;
            }
            pressing.push(i);
            weights.push(weight);
            columns.extend((0..n).map(|j| match i.checked_sub(m) {
                None => sizes(i) * d[j] * qp.rows[j * m + i],
                Some(unknown) => f64::from(u8::from(unknown == j)),
            }));
        }
        if r > 0 {
            let by_cones =
                (0..n).map(|j| d[j] * dot(&program.cone_rows[j * r..(j + 1) * r], &self.cones));
            columns.extend(by_cones);
            weights.push(1.0);
        }
        refine(n, &columns, &mut weights);
        let cone_weight = if r > 0 { weights.pop().unwrap_or(1.0) } else { 1.0 };
        self.rows.fill(0.0);
        self.bounds.fill(0.0);
        for (&i, weight) in pressing.iter().zip(&weights) {
            let size = if i < m { self.scaling.rows[i] } else { 1.0 / self.scaling.columns[i - m] };
            let target = if i < m { &mut self.rows[i] } else { &mut self.bounds[i - m] };
            *target = weight * size;
        }
        self.cones.iter_mut().for_each(|w| *w *= cone_weight.max(0.0));
    }

    /// The same for a direction of descent: changes it until H and the linear rows and bounds that
    /// it nearly leaves unchanged are exactly unchanged.
    #[cold]
    fn refine_direction(&mut self, program: &ConeProgram<'_>) {
        let (n, m) = (program.dim(), program.row_count());
        let (qp, d) = (&program.linear, &self.scaling.columns);
        let mut scaled: Vec<f64> = self.direction.iter().zip(d).map(|(v, d)| v / d).collect();
        let largest = max_abs(&scaled);
        // The direction is zero for an unknown held by a bound.
        let is_held = |j: usize| {
            let (lower, upper) = qp.bounds_of(j);
            scaled[j].abs() <= NOISE * largest && (lower.is_finite() || upper.is_finite())
        };
        let held: Vec<bool> = (0..n).map(is_held).collect();
        let ties: Vec<usize> = (0..m)
            .filter(|&i| {
                let (lower, upper) = self.built.row_bounds[i];
                let (mut speed, mut size) = (0.0, 0.0);
                for (j, v) in scaled.iter().enumerate() {
                    let term = qp.rows[j * m + i] * d[j] * v;
                    speed += term;
                    size += term.abs();
                }
                let is_bounded = lower.is_finite() || upper.is_finite();
                is_bounded && speed.abs() <= NOISE * size
            })
            .collect();
        let rows = n + ties.len();
        let mut columns = Vec::with_capacity(n * rows);
        for j in (0..n).filter(|&j| !held[j]) {
            columns.extend((0..n).map(|i| d[i] * d[j] * qp.hessian[j * n + i] * self.scaling.cost));
            columns.extend(ties.iter().map(|&i| self.scaling.rows[i] * d[j] * qp.rows[j * m + i]));
        }
        let mut moving: Vec<f64> = (0..n).filter(|&j| !held[j]).map(|j| scaled[j]).collect();
        refine(rows, &columns, &mut moving);
        let mut moving = moving.iter();
        for (value, is_held) in scaled.iter_mut().zip(&held) {
            *value = if *is_held { 0.0 } else { moving.next().copied().unwrap_or(0.0) };
        }
        for ((target, value), d) in self.direction.iter_mut().zip(&scaled).zip(d) {
            *target = value * d;
        }
    }

    /// The multipliers, zeros in their place.
    fn take_multipliers(&mut self) -> [Vec<f64>; 3] {
        let taken = [&mut self.rows, &mut self.bounds, &mut self.cones].map(std::mem::take);
        self.clear_multipliers(taken[1].len(), taken[0].len(), taken[2].len());
        taken
    }

    fn put_multipliers(&mut self, [rows, bounds, cones]: [Vec<f64>; 3]) {
        (self.rows, self.bounds, self.cones) = (rows, bounds, cones);
    }

    fn clear_multipliers(&mut self, n: usize, m: usize, r: usize) {
        for (values, len) in [(&mut self.rows, m), (&mut self.bounds, n), (&mut self.cones, r)] {
            values.clear();
            values.resize(len, 0.0);
        }
    }
}

impl ClarabelSolver {
    /// Solves a quadratic program; see [`Self::solve_cone_program`].
    ///
    /// # Panics
    /// If a slice of `qp` or `x` has the wrong length.
    pub fn solve_qp(&mut self, qp: &Qp<'_>, x: &mut [f64]) -> Outcome {
        self.solve_cone_program(&ConeProgram::from(*qp), x)
    }

    /// Solves a cone program; `x` is only written, with zeros unless the answer is usable or the
    /// last iterate.
    ///
    /// `Solved` and `Inaccurate` are Clarabel's statuses, corrected by the residuals of
    /// [`kkt::cone_residuals`] in the program's own numbers. `PrimalInfeasible` comes with
    /// [`Self::multipliers`] that refute (by [`kkt::infeasible_radius`], in scaled unknowns) every
    /// point up to 1e9, or 1e6 if there are cones; if two bounds contradict each other the
    /// multipliers are zero. `Unbounded` comes with [`Self::unbounded_direction`]. A certificate
    /// that fails the test is `NumericalTrouble`. An H that is not symmetric or not semidefinite
    /// has its own status.
    ///
    /// # Panics
    /// If a slice of `program` or `x` has the wrong length.
    pub fn solve_cone_program(&mut self, program: &ConeProgram<'_>, x: &mut [f64]) -> Outcome {
        if program.dim() + program.row_count() + program.cone_row_count() < LARGE {
            return self.solve_program_here(program, x);
        }
        let data = ConeProgramData::of(program);
        self.solve_aside(x, move |solver, x| match data.view() {
            Ok(program) => solver.solve_program_here(&program, x),
            Err(_) => Outcome::refused(Status::InvalidData),
        })
    }

    fn solve_program_here(&mut self, program: &ConeProgram<'_>, x: &mut [f64]) -> Outcome {
        must_fit(program.check_shape());
        let (n, m, r) = (program.dim(), program.row_count(), program.cone_row_count());
        assert_eq!(x.len(), n, "x needs one value per unknown");

        // What needs no solver: data that are none, rows that no point meets, no unknowns.
        x.fill(0.0);
        self.program.clear_multipliers(n, m, r);
        self.program.direction.clear();
        self.program.direction.resize(n, 0.0);
        if !program.is_valid() {
            return Outcome::refused(Status::InvalidData);
        }
        if let Some(status) = refuse_hessian(&program.linear) {
            return Outcome::refused(status);
        }
        if kkt::contradicts_itself(program) {
            return Outcome::refused(Status::PrimalInfeasible);
        }
        if n == 0 {
            let residual = kkt::cone_residuals(program, x, self.multipliers()).worst();
            let is_met = residual == 0.0;
            let status = if is_met { Status::Solved } else { Status::PrimalInfeasible };
            return Outcome { status, iterations: 0, residual };
        }
        let Some(settings) = self.settings() else {
            return Outcome::refused(Status::InvalidData);
        };

        // Clarabel on the scaled standard form.
        let own = &mut self.program;
        own.scaling.of(program);
        own.form.write(program, &own.scaling);
        let Some(solver) = own.prepare(settings.clone()) else {
            return Outcome::refused(Status::NumericalTrouble);
        };
        solver.solve();
        // A used solver that breaks down at its start leaves what an earlier call left.
        if solver.solution.status != SolverStatus::Solved {
            own.solver = own.built.build(settings);
            if let Some(solver) = &mut own.solver {
                solver.solve();
            }
        }
        let Some(DefaultSolver { solution, .. }) = &own.solver else {
            return Outcome::refused(Status::NumericalTrouble);
        };
        let (said, iterations) = (solution.status, solution.iterations);
        let (answer, duals) = (solution.x.clone(), solution.z.clone());
        let scaled = |x: &mut [f64], columns: &[f64]| {
            for ((x, value), d) in x.iter_mut().zip(&answer).zip(columns) {
                *x = d * value;
            }
        };
        let failed = |status| Outcome { status, iterations, residual: f64::NAN };

        // A proof counts if it holds in the units of the program, an answer by its residual.
        match said {
            SolverStatus::PrimalInfeasible | SolverStatus::AlmostPrimalInfeasible => {
                own.unscale(program, &duals, 1.0);
                let wanted = if r > 0 { REFUTED_RADIUS_OF_CONES } else { REFUTED_RADIUS };
                let mut is_proof = self.radius(program) >= wanted;
                if !is_proof {
                    self.program.refine_contradiction(program);
                    is_proof = self.radius(program) >= wanted;
                }
                failed(if is_proof { Status::PrimalInfeasible } else { Status::NumericalTrouble })
            }
            SolverStatus::DualInfeasible | SolverStatus::AlmostDualInfeasible => {
                scaled(&mut own.direction, &own.scaling.columns);
                let mut residual = kkt::unbounded_residual(program, &own.direction);
                if residual > DESCENT_RESIDUAL {
                    own.refine_direction(program);
                    residual = kkt::unbounded_residual(program, &own.direction);
                }
                let is_proof = residual <= DESCENT_RESIDUAL;
                failed(if is_proof { Status::Unbounded } else { Status::NumericalTrouble })
            }
            _ => {
                scaled(x, &own.scaling.columns);
                own.unscale(program, &duals, own.scaling.cost);
                let mut residuals = kkt::cone_residuals(program, x, self.multipliers());
                if residuals.worst() > USABLE_RESIDUAL {
                    // Without active constraints, multipliers of rounding size are compared with
                    // terms that vanish too: zeros may have a smaller residual, and are then exact.
                    let multipliers = self.program.take_multipliers();
                    let without = kkt::cone_residuals(program, x, self.multipliers());
                    if without.worst() < residuals.worst() {
                        residuals = without;
                    } else {
                        self.program.put_multipliers(multipliers);
                    }
                }
                let residual = residuals.worst();
                // The answer may be within the tolerance although Clarabel reports otherwise.
                let accepted = match said {
                    SolverStatus::Solved => SOLVED_RESIDUAL,
                    _ => self.tolerance,
                };
                let status = residuals.confirm(Status::Solved, accepted, USABLE_RESIDUAL);
                let is_out_of_steps =
                    matches!(said, SolverStatus::MaxIterations | SolverStatus::MaxTime);
                let status = if is_out_of_steps && status != Status::Solved && residual.is_finite()
                {
                    Status::MaxIterations
                } else {
                    status
                };
                if !residual.is_finite() {
                    x.fill(0.0);
                }
                Outcome { status, iterations, residual }
            }
        }
    }

    /// Radius up to which the multipliers refute every point, in scaled unknowns.
    fn radius(&self, program: &ConeProgram<'_>) -> f64 {
        weighted_radius(program, self.multipliers(), &self.program.scaling.columns)
    }

    /// Multipliers of the last quadratic or cone program; after `PrimalInfeasible` they are its
    /// certificate.
    #[must_use]
    pub fn multipliers(&self) -> ConeMultipliers<'_> {
        let ProgramSolver { rows, bounds, cones, .. } = &self.program;
        ConeMultipliers { rows, bounds, cones }
    }

    /// Direction along which the objective of the last quadratic or cone program falls without
    /// bound, after `Unbounded`; zero otherwise.
    #[must_use]
    pub fn unbounded_direction(&self) -> &[f64] {
        &self.program.direction
    }
}
