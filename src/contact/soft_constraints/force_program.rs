//! The step as a program in impulses, for general solvers of quadratic and cone programs.
//!
//! W = G M⁻¹ Gᵀ and `û = G M⁻¹ p` of all rows are formed as dense matrices, so a step costs the
//! cube of its rows; in return the solvers are exact general ones, and cones may be pyramids.
//! Impulses are γ = h λ₁, `a - D u` is a row's impulse before the projection on its set (see
//! [`super::local_law`]), and
//!
//! - [`Method::Forces`]: `min ½ γᵀ(W + D⁻¹)γ + γᵀ(û - D⁻¹a)` with γ in its set: the dual of the
//!   problem of velocities, with the same solution. Without friction that is the linear
//!   complementarity problem `0 ≤ γ ⟂ (W + D⁻¹)γ + û - D⁻¹a ≥ 0`.
//! - [`Method::LeastForces`]: the paper's program, see the module of that name.
//!
//! Rows without stiffness and damping have no unknown: their impulse is constant. Unknowns are
//! scaled by the root of their curvature.

use super::dense_view::DenseView;
use super::least_forces::write_least_forces;
use super::local_law::{Kind, LocalLaw};
use super::options::{ConstraintSolution, Method, ProgramSolver};
use super::problem::{ConstraintProblem, Law, SpringDamper};
use super::squares::Squares;
use legwork_linalg::{BlockCholesky, axpy};
use legwork_qp::{
    ClarabelSolver, Cone, ConeProgramData, ConeShape, GeneralActiveSet, Outcome, Status,
};

/// Tolerance of the interior-point method.
const INTERIOR_TOLERANCE: f64 = 1e-11;
/// Its steps.
const INTERIOR_STEPS: u32 = 200;
/// Residual up to which an interior point counts as solved.
const SOLVED_RESIDUAL: f64 = 1e-8;

/// Impulse, relative to the greatest motion and in units of √energy, that is an interior point's
/// zero.
const OPEN: f64 = 1e-8;

/// Fraction of the friction limit from which a contact slides.
const SLIDING: f64 = 0.999;

/// Kind of a row in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowKind {
    /// Pulls and pushes (bilateral).
    Bilateral,
    /// Only pushes (unilateral).
    Pushing,
    /// In the cone of its contact's normal.
    Tangential,
    /// Its impulse does not depend on the motion.
    Constant,
}

/// The laws' numbers row by row.
#[derive(Clone, Debug, Default)]
pub(super) struct RowNumbers {
    pub(super) kind: Vec<RowKind>,
    /// D [kg].
    pub(super) conductance: Vec<f64>,
    /// a [N s].
    pub(super) offset: Vec<f64>,
    /// Impulse of a constant row, else 0 [N s].
    pub(super) constant: Vec<f64>,
    /// û and what constant rows add to it [m/s].
    pub(super) free_velocity: Vec<f64>,
}

/// A contact with friction.
#[derive(Clone, Copy, Debug)]
struct Contact {
    first_row: usize,
    friction: f64,
    /// The bound on its friction, if that is not `friction` times its normal impulse [N s].
    bound: Option<f64>,
}

/// Builds programs and solves them.
#[derive(Debug, Default)]
pub(super) struct ForceProgram {
    factor: BlockCholesky,
    pub(super) view: DenseView,
    pub(super) rows: RowNumbers,
    contacts: Vec<Contact>,
    shape: Option<ConeShape>,
    pub(super) data: ConeProgramData,
    /// Rows that are unknowns, and γ over x of each.
    pub(super) unknowns: Vec<usize>,
    scales: Vec<f64>,
    /// Bilateral rows that are not unknowns, `γ_b = bilateral_offset - bilateral_slope γ`.
    pub(super) bilateral: Vec<usize>,
    pub(super) bilateral_offset: Vec<f64>,
    pub(super) bilateral_slope: Vec<f64>,
    /// The objective of least forces by its rows.
    pub(super) squares: Squares,
    active_set: GeneralActiveSet,
    interior: Option<ClarabelSolver>,
    x: Vec<f64>,
    /// Contacts that have taken no part in this step's programs of least forces.
    is_left_out: Vec<bool>,
    row_velocity: Vec<f64>,
}

/// Whether a contact is apart at the beginning and at the end of a step of h, which its row ends
/// with this velocity.
fn is_open(normal: &SpringDamper, h: f64, row_velocity: f64) -> bool {
    let end = normal.deformation + h * (row_velocity + h * normal.rate_bias);
    normal.deformation > 0.0 && end > 0.0
}

impl ForceProgram {
    /// Computes the common data of the passes of a step, or the reason why there is no program.
    pub(super) fn prepare(
        &mut self,
        problem: &ConstraintProblem,
        cone: Cone,
    ) -> Result<(), Status> {
        if self.shape.as_ref().is_none_or(|shape| shape.cone() != cone) {
            self.shape = Some(ConeShape::new(cone).map_err(|_| Status::UnsupportedCone)?);
        }
        self.is_left_out.clear();
        self.factor.analyse(problem.sizes(), &[]);
        self.view.fill(problem, &mut self.factor).ok_or(Status::NumericalTrouble)
    }

    /// `max { -γ_tᵀσ : γ in the cone, γ_n = 1 }` over μ of a contact with this impulse at row
    /// velocity u: the slip speed of a circular cone. Zero well inside the cone, where σ is
    /// rounding.
    pub(super) fn slip_speed(&self, law: &LocalLaw, u: [f64; 3], impulse: [f64; 3]) -> f64 {
        let (Some(shape), friction) = (&self.shape, law.friction()) else { return 0.0 };
        if friction <= 0.0 {
            return 0.0;
        }
        let limit = law.bound().unwrap_or(friction * impulse[2]) / friction;
        let shrunk = [impulse[0], impulse[1], SLIDING * limit];
        if limit > 0.0 && shape.violation(friction, shrunk) == 0.0 {
            return 0.0;
        }
        shape.slip_support(friction, law.slip_of(u, impulse)) / friction
    }

    /// Builds the program of these laws and solves it: impulses of all rows and the velocity that
    /// they cause.
    pub(super) fn solve(
        &mut self,
        problem: &ConstraintProblem,
        laws: &[LocalLaw],
        method: Method,
        other: &mut Option<&mut ProgramSolver<'_>>,
        impulses: &mut [f64],
        ConstraintSolution { velocity, working_set, .. }: &mut ConstraintSolution,
    ) -> Outcome {
        let mut iterations = 0;
        loop {
            let mut outcome = self.solve_once(problem, laws, method, other, impulses, working_set);
            velocity.copy_from_slice(problem.momentum());
            problem.add_transposed_rows_times(impulses, velocity);
            self.factor.solve(velocity);
            iterations += outcome.iterations;
            outcome.iterations = iterations;
            // A contact that was left out and that the forces of others close takes part.
            let is_least = matches!(method, Method::LeastForces { .. });
            if !is_least || !outcome.status.is_usable() || !self.join_closed(problem, velocity) {
                return outcome;
            }
        }
    }

    /// Builds the program of these laws and solves it: impulses of all rows.
    fn solve_once(
        &mut self,
        problem: &ConstraintProblem,
        laws: &[LocalLaw],
        method: Method,
        other: &mut Option<&mut ProgramSolver<'_>>,
        impulses: &mut [f64],
        working_set: &mut Vec<f64>,
    ) -> Outcome {
        self.read_laws(problem, laws);
        self.bilateral.clear();
        if let Method::LeastForces { zeta, .. } = method {
            self.leave_open(problem);
            write_least_forces(self, zeta);
        } else {
            self.write_law();
        }
        self.write_cones();
        self.scale();
        let Ok(program) = self.data.view() else {
            return Outcome { status: Status::InvalidData, iterations: 0, residual: f64::NAN };
        };
        // Without round cones the active set goes on from that of the last step.
        self.x.clear();
        self.x.resize(self.unknowns.len(), 0.0);
        let program_is_linear = program.cone_sizes.is_empty();
        let mut outcome = if let Some(solve) = other {
            working_set.clear();
            solve(&program, &mut self.x)
        } else if program_is_linear {
            working_set.resize(program.row_count() + program.dim(), 0.0);
            self.active_set.solve_warm(&program.linear, working_set, &mut self.x)
        } else if matches!(method, Method::LeastForces { .. }) {
            working_set.clear();
            self.squares.solve(&self.data, &mut self.x)
        } else {
            working_set.clear();
            let interior = self
                .interior
                .get_or_insert_with(|| ClarabelSolver::new(INTERIOR_TOLERANCE, INTERIOR_STEPS));
            interior.solve_cone_program(&program, &mut self.x)
        };
        match outcome.status {
            Status::Inaccurate if outcome.residual <= SOLVED_RESIDUAL => {
                outcome.status = Status::Solved;
            }
            // Programs in forces always have a solution, in spite of round-off.
            Status::PrimalInfeasible | Status::Unbounded => {
                outcome.status = Status::NumericalTrouble;
            }
            _ => {}
        }
        // Impulses of all rows, and the velocity `M⁻¹ (p + Gᵀγ)` that they cause.
        self.read_impulses(impulses);
        if !program_is_linear {
            self.open_contacts(impulses);
        }
        outcome
    }

    /// Removes the small impulses of an interior point from contacts that are open.
    fn open_contacts(&self, impulses: &mut [f64]) {
        let m = self.rows.kind.len();
        let w = |i: usize| self.view.inverse_inertia[i * (m + 1)];
        // Impulses and velocities in units of √energy.
        let given = self.rows.free_velocity.iter().enumerate().filter(|&(i, _)| w(i) > 0.0);
        let scale = given.map(|(i, u)| u.abs() / w(i).sqrt()).fold(0.0, f64::max);
        for &Contact { first_row: first, .. } in &self.contacts {
            let normal = first + 2;
            let is_trace = impulses[normal] * w(normal).sqrt() <= OPEN * scale;
            if is_trace && self.rows.kind[normal] == RowKind::Pushing {
                impulses[first..=normal].fill(0.0);
            }
        }
    }

    /// Laws into [`RowNumbers`].
    fn read_laws(&mut self, problem: &ConstraintProblem, laws: &[LocalLaw]) {
        let RowNumbers { kind, conductance, offset, constant, free_velocity } = &mut self.rows;
        for values in [&mut *conductance, &mut *offset, &mut *constant] {
            values.clear();
        }
        kind.clear();
        self.contacts.clear();
        for (constraint, law) in problem.constraints().iter().zip(laws) {
            let ([d_t, d_n], a) = (law.conductance(), law.drive([0.0; 3]));
            // Tangential rows, which without friction are held at zero.
            if constraint.law.row_count() == 3 {
                let has_cone = law.kind().has_friction();
                if has_cone {
                    self.contacts.push(Contact {
                        first_row: constraint.first_row,
                        friction: law.friction(),
                        bound: law.bound(),
                    });
                }
                let tangent = if has_cone { RowKind::Tangential } else { RowKind::Constant };
                kind.extend([tangent; 2]);
                conductance.extend([d_t; 2]);
                offset.extend([a[0], a[1]]);
                constant.extend([0.0; 2]);
            }
            // The normal row, or the only one. Without conductance its impulse is a constant.
            let is_free = law.kind() == Kind::Free;
            kind.push(match (d_n > 0.0, is_free) {
                (false, _) => RowKind::Constant,
                (true, true) => RowKind::Bilateral,
                (true, false) => RowKind::Pushing,
            });
            conductance.push(d_n);
            offset.push(a[2]);
            let held = if is_free { a[2] } else { a[2].max(0.0) };
            constant.push(if d_n > 0.0 { 0.0 } else { held });
        }
        // The velocity without the unknowns: û and what the constant impulses add.
        free_velocity.clear();
        free_velocity.extend_from_slice(&self.view.free_velocity);
        let m = kind.len();
        for (j, held) in constant.iter().enumerate().filter(|(_, held)| **held != 0.0) {
            let column = &self.view.inverse_inertia[j * m..(j + 1) * m];
            axpy(*held, column, free_velocity);
        }
    }

    /// Leaves out contacts that do not touch and would not at the end of the step: the least forces
    /// may press a contact wherever it is, and the paper includes those that touch only (sec. 6.1).
    /// Those that close without forces take part, and those that [`Self::join_closed`] has found.
    fn leave_open(&mut self, problem: &ConstraintProblem) {
        self.is_left_out.resize(problem.constraint_count(), true);
        for (i, constraint) in problem.constraints().iter().enumerate() {
            let Law::Contact(normal, _) = &constraint.law else { continue };
            let rows = constraint.first_row..constraint.first_row + 3;
            let free_velocity = self.rows.free_velocity[rows.end - 1];
            self.is_left_out[i] &= is_open(normal, problem.time_step, free_velocity);
            if self.is_left_out[i] {
                self.rows.kind[rows.clone()].fill(RowKind::Constant);
                self.rows.constant[rows.clone()].fill(0.0);
                self.contacts.retain(|contact| contact.first_row != rows.start);
            }
        }
    }

    /// Lets contacts take part that were left out and are closed at this velocity, for the rest of
    /// the step; whether there are any. Each contact joins once, so this ends.
    fn join_closed(&mut self, problem: &ConstraintProblem, velocity: &[f64]) -> bool {
        self.row_velocity.resize(problem.row_count(), 0.0);
        problem.rows_times(velocity, &mut self.row_velocity);
        let mut joins = false;
        for (i, constraint) in problem.constraints().iter().enumerate() {
            let Law::Contact(normal, _) = &constraint.law else { continue };
            let row_velocity = self.row_velocity[constraint.first_row + 2];
            if self.is_left_out[i] && !is_open(normal, problem.time_step, row_velocity) {
                self.is_left_out[i] = false;
                joins = true;
            }
        }
        joins
    }

    /// Rows of these kinds become the unknowns; empties the program.
    pub(super) fn begin(&mut self, is_unknown: impl Fn(RowKind) -> bool) {
        let kinds = &self.rows.kind;
        self.unknowns.clear();
        self.unknowns.extend((0..kinds.len()).filter(|&i| is_unknown(kinds[i])));
        let n = self.unknowns.len();
        let ConeProgramData { linear, cone_rows, cone_offset, cone_sizes } = &mut self.data;
        for values in [
            &mut linear.hessian,
            &mut linear.gradient,
            &mut linear.rows,
            &mut linear.row_lower,
            &mut linear.row_upper,
            &mut linear.lower,
            &mut linear.upper,
            cone_rows,
            cone_offset,
        ] {
            values.clear();
        }
        cone_sizes.clear();
        self.squares.clear();
        linear.hessian.resize(n * n, 0.0);
        linear.gradient.resize(n, 0.0);
        linear.upper.resize(n, f64::INFINITY);
        linear.lower.extend(self.unknowns.iter().map(|&row| match kinds[row] {
            RowKind::Pushing => 0.0,
            _ => f64::NEG_INFINITY,
        }));
    }

    fn write_law(&mut self) {
        self.begin(|kind| kind != RowKind::Constant);
        let (n, m) = (self.unknowns.len(), self.rows.kind.len());
        let RowNumbers { conductance, offset, free_velocity, .. } = &self.rows;
        let linear = &mut self.data.linear;
        for (l, &j) in self.unknowns.iter().enumerate() {
            let (from, to) =
                (&self.view.inverse_inertia[j * m..(j + 1) * m], &mut linear.hessian[l * n..][..n]);
            to.iter_mut().zip(&self.unknowns).for_each(|(h, &i)| *h = from[i]);
            linear.hessian[l * (n + 1)] += 1.0 / conductance[j];
            linear.gradient[l] = free_velocity[j] - offset[j] / conductance[j];
        }
    }

    /// The contacts' cones: `(μ γ_n, γ_r, γ_s) ∈ Q`, or a row `μ' γ_n ≥ cos θ γ_r + sin θ γ_s` for
    /// each facet, above the existing rows.
    fn write_cones(&mut self) {
        let Some(shape) = &self.shape else { return };
        let n = self.unknowns.len();
        let column = |row: usize| self.unknowns.binary_search(&row).ok();
        let linear = &mut self.data.linear;
        // Circular cones.
        if shape.sides() == 0 {
            let r = 3 * self.contacts.len();
            self.data.cone_rows.resize(r * n, 0.0);
            self.data.cone_offset.resize(r, 0.0);
            self.data.cone_sizes.resize(self.contacts.len(), 3);
            for (at, contact) in self.contacts.iter().enumerate() {
                let (first, mu) = (contact.first_row, contact.friction);
                // Cones of much friction are written for its inverse.
                let (along, across) = (mu.min(1.0), 1.0 / mu.max(1.0));
                let rows = [(0, first + 2, along), (1, first, across), (2, first + 1, across)];
                for (i, row, value) in rows {
                    if let (0, Some(bound)) = (i, contact.bound) {
                        self.data.cone_offset[3 * at] = across * bound;
                        continue;
                    }
                    match column(row) {
                        Some(k) => self.data.cone_rows[k * r + 3 * at + i] = value,
                        None => self.data.cone_offset[3 * at + i] = value * self.rows.constant[row],
                    }
                }
            }
            return;
        }
        // Pyramids: the columns of existing rows are moved apart for a row for each facet.
        let (before, facets) = (linear.row_lower.len(), shape.sides() * self.contacts.len());
        let total = before + facets;
        let others = std::mem::take(&mut linear.rows);
        linear.rows.resize(total * n, 0.0);
        for k in 0..n {
            linear.rows[k * total..][..before].copy_from_slice(&others[k * before..][..before]);
        }
        let mut at = before;
        for contact in &self.contacts {
            let first = contact.first_row;
            let slope = shape.facet_friction(contact.friction);
            // μ' r/μ of a disk.
            let bound = contact.bound.map(|bound| shape.facet_friction(bound));
            for &[c, s] in shape.facets() {
                let mut lower = bound.map_or(0.0, |bound| -bound);
                let slope = if bound.is_some() { 0.0 } else { slope };
                for (row, value) in [(first, -c), (first + 1, -s), (first + 2, slope)] {
                    match column(row) {
                        Some(k) => linear.rows[k * total + at] = value,
                        None => lower -= value * self.rows.constant[row],
                    }
                }
                linear.row_lower.push(lower);
                linear.row_upper.push(f64::INFINITY);
                at += 1;
            }
        }
    }

    /// Unknowns of unit curvature.
    fn scale(&mut self) {
        let n = self.unknowns.len();
        let ConeProgramData { linear, cone_rows, cone_offset, .. } = &mut self.data;
        self.scales.clear();
        self.scales.extend((0..n).map(|k| 1.0 / linear.hessian[k * (n + 1)].sqrt()));
        let (m, r) = (linear.row_lower.len(), cone_offset.len());
        self.squares.scale(&self.scales);
        for (k, &scale) in self.scales.iter().enumerate() {
            linear.gradient[k] *= scale;
            let column = &mut linear.hessian[k * n..(k + 1) * n];
            column.iter_mut().zip(&self.scales).for_each(|(h, other)| *h *= scale * other);
            linear.rows[k * m..(k + 1) * m].iter_mut().for_each(|x| *x *= scale);
            cone_rows[k * r..(k + 1) * r].iter_mut().for_each(|x| *x *= scale);
        }
    }

    /// Impulses of all rows from the unknowns.
    fn read_impulses(&mut self, impulses: &mut [f64]) {
        impulses.copy_from_slice(&self.rows.constant);
        self.x.iter_mut().zip(&self.scales).for_each(|(x, scale)| *x *= scale);
        for (&row, value) in self.unknowns.iter().zip(&self.x) {
            impulses[row] = *value;
        }
        let nb = self.bilateral.len();
        for (k, &row) in self.bilateral.iter().enumerate() {
            let slopes = self.bilateral_slope.iter().skip(k).step_by(nb.max(1));
            let sum: f64 = slopes.zip(&self.x).map(|(slope, x)| slope * x).sum();
            impulses[row] = self.bilateral_offset[k] - sum;
        }
    }
}
