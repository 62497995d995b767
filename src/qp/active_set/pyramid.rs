//! The dual active-set method for contact problems with friction pyramids.

use super::faces::{FaceSearch, Found};
use super::islands::Islands;
use crate::circular::SlidingLaw;
use crate::contact_problem::ContactProblem;
use crate::goldfarb_idnani::{DualActiveSet, Rows};
use crate::kkt;
use crate::method::{Accuracy, Cones, ContactMethod, Given, Method, Setting, Value};
use crate::status::{Outcome, Status};
use legwork_linalg::axpy;

/// Relative natural residual beyond which an answer is not called solved.
///
/// A redundant problem has condition 1 / [`crate::DEFAULT_REGULARISATION`]; rounding times that is
/// 1e-6.
const ACCEPTED_RESIDUAL: f64 = 1e-6;

/// Status after the check of the natural residual.
fn confirmed(status: Status, residual: f64) -> Status {
    // Written so that NaN is not confirmed.
    let is_refused = status == Status::Solved && !matches!(residual, r if r <= ACCEPTED_RESIDUAL);
    if is_refused { Status::NumericalTrouble } else { status }
}

/// Its entry among the methods.
pub(crate) static METHOD: Method = Method {
    kind: "ActiveSetQp",
    name: "active_set",
    title: "The dual active-set method.",
    doc: "\
Solves the contact problem by the dual active-set method of Goldfarb and Idnani.

A direct method: a few changes of the active set lead to the exact answer up to rounding, so
it is the default. It starts from the active set of the last step, which saves iterations
and does not change the answer.

Reference: D. Goldfarb, A. Idnani, *A numerically stable dual method for solving strictly
convex quadratic programs* (1983).",
    aliases: &["Goldfarb–Idnani", "dual active set", "QP"],
    example: "ActiveSetQp(on_fail: HoldLast(max: 5))",
    choice: Some("ActiveSetQp()"),
    iterations: "changes of the active set",
    cones: Cones::Pyramids,
    law: SlidingLaw::Convex,
    settings: &[
        Setting::new(
            "iterations",
            "Most changes of the active set; 0 means 40 + 10 × rows [1].",
            Value::Count(0),
        ),
        Setting::cold("Start from an empty active set each time."),
    ],
    tightest: &[],
    accuracy: Some(Accuracy { definite: 1e-10, reference: 1e-10, redundant: Some(1e-7) }),
    allocates: false,
    // H, its factor, the active rows and theirs.
    memory: |size| {
        let [n, s, _] = size.counts();
        6 * n * n + 2 * n * (n + s)
    },
    make: |size, settings| {
        let mut solver = PyramidActiveSet::new(size.contact_count, size.sides);
        solver.iteration_limit = settings.count("iterations");
        Box::new(solver)
    },
};

/// One contact in the reduced problem.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// First reduced unknown.
    start: usize,
    /// First row.
    first_row: usize,
    /// Its contact.
    contact: usize,
    /// μ', 0 if the contact has its normal force as only unknown.
    slope: f64,
}

/// Dual active-set solver of the contact problem with pyramids.
///
/// Works on the faces of the pyramids first, each island of contacts that G couples by itself, and
/// by the dual method of Goldfarb and Idnani on the islands whose search does not end within 10
/// steps. Iterations count the steps of the longest search and of the dual method. An answer meets
/// the optimality conditions; that it is a minimum rests on G being semidefinite, which is checked
/// only where the search or the dual method meets a pivot that is not positive. Forces lie in their
/// cones up to rounding, however ill-conditioned G is. [`Status::Solved`] means a natural residual
/// of at most 1e-6 ([`kkt::natural_residual`]).
///
/// Unknowns that can only be zero (inactive contacts, tangential forces where μ = 0) are removed
/// before the solve. Memory grows on the first problem of a size and is kept.
#[doc(alias("Goldfarb-Idnani", "quadprog", "friction pyramid"))]
#[derive(Clone, Debug, Default)]
pub struct PyramidActiveSet {
    islands: Islands,
    search: FaceSearch,
    /// Contacts that the search over faces leaves to the dual method.
    left: Vec<usize>,
    core: DualActiveSet,
    hessian: Vec<f64>,
    gradient: Vec<f64>,
    blocks: Vec<Block>,
    row_block: Vec<u32>,
    /// Index in f of each reduced unknown.
    unknowns: Vec<usize>,
    acceleration: Vec<f64>,
    /// Limit on changes of the active set; 0 means 40 + 10 × rows.
    pub iteration_limit: u32,
}

impl PyramidActiveSet {
    /// A solver with memory for `contact_count` contacts and pyramids of `sides`.
    #[must_use]
    pub fn new(contact_count: usize, sides: usize) -> Self {
        let mut solver = Self::default();
        solver.reserve(contact_count, sides);
        solver
    }

    fn reserve(&mut self, contact_count: usize, sides: usize) {
        self.islands.reserve(contact_count);
        self.search.reserve(contact_count);
        self.left.clear();
        self.left.reserve(contact_count);
        self.acceleration.resize(3 * contact_count, 0.0);
        self.reserve_dual(contact_count, sides);
    }

    fn reserve_dual(&mut self, contact_count: usize, sides: usize) {
        let (n, rows) = (3 * contact_count, contact_count * (sides + 1));
        self.core.reserve(n, rows);
        if self.hessian.len() < n * n {
            self.hessian.resize(n * n, 0.0);
        }
        self.gradient.reserve(n.saturating_sub(self.gradient.len()));
        self.unknowns.reserve(n.saturating_sub(self.unknowns.len()));
        self.blocks.reserve(contact_count.saturating_sub(self.blocks.len()));
        self.row_block.reserve(rows.saturating_sub(self.row_block.len()));
    }

    fn run(
        &mut self,
        problem: &ContactProblem<'_>,
        mut flags: Option<&mut [f64]>,
        forces: &mut [f64],
    ) -> Outcome {
        assert_eq!(forces.len(), problem.dim(), "forces need 3k values");
        forces.fill(0.0);
        let sides = problem.cone.sides();
        let refusal = problem.refuse().or_else(|| (sides == 0).then_some(Status::UnsupportedCone));
        if let Some(status) = refusal {
            if let Some(flags) = flags {
                flags.fill(0.0);
            }
            return Outcome::refused(status);
        }

        // Each island by the search over faces.
        self.islands.find(problem);
        self.search.reserve(problem.contact_count());
        self.left.clear();
        let shift = problem.diagonal_shift();
        let limit = if self.iteration_limit == 0 { u32::MAX } else { self.iteration_limit };
        let (mut steps, mut residual, mut is_changed) = (0, 0.0, false);
        // From the search's unit of a residual to the judge's.
        let relative = kkt::longest_step(problem, shift).sqrt() / problem.force_scale;
        for island in 0..self.islands.count() {
            let members = self.islands.members(island);
            self.search.load(problem, shift, members);
            let found = self.search.begin_and_search(problem.cone, flags.as_deref(), limit);
            let accepted = |found: &Found| relative * found.residual <= ACCEPTED_RESIDUAL;
            let Some(found) = found.filter(accepted) else {
                self.left.extend_from_slice(members);
                continue;
            };
            (steps, residual) = (found.steps.max(steps), found.residual.max(residual));
            for (k, contact) in self.search.contacts.iter().enumerate() {
                let (force, is_moved) = self.search.force(k, problem.cone);
                forces[3 * contact.index..3 * contact.index + 3].copy_from_slice(&force);
                is_changed |= is_moved;
            }
            if let Some(flags) = &mut flags {
                self.search.remember(flags, sides);
            }
        }
        if let Some(flags) = &mut flags {
            let rows = flags.chunks_exact_mut(sides + 1).enumerate();
            rows.filter(|(c, _)| !problem.is_active(*c)).for_each(|(_, rows)| rows.fill(0.0));
        }

        // What is left by the dual method, cold if the guess misled it.
        if self.left.is_empty() {
            let mut outcome = Outcome {
                status: Status::Solved,
                iterations: steps,
                residual: relative * residual,
            };
            if is_changed {
                self.acceleration.resize(problem.dim(), 0.0);
                outcome.residual = kkt::natural_residual(problem, forces, &mut self.acceleration);
                outcome.status = confirmed(Status::Solved, outcome.residual);
            }
            return outcome;
        }

        let mut outcome = self.run_dual(problem, flags.as_deref(), shift, forces);
        if flags.is_some() && !outcome.status.is_usable() {
            outcome = self.run_dual(problem, None, shift, forces);
        }
        if let Some(flags) = flags {
            for &contact in &self.left {
                flags[contact * (sides + 1)..(contact + 1) * (sides + 1)].fill(0.0);
            }
            if outcome.status.is_usable() {
                for &row in &self.core.active {
                    flags[self.public_row(row, sides)] = 1.0;
                }
            } else {
                flags.fill(0.0);
            }
        }
        Outcome { iterations: outcome.iterations.max(steps), ..outcome }
    }

    /// Flag index of a reduced row.
    fn public_row(&self, row: usize, sides: usize) -> usize {
        let block = &self.blocks[self.row_block[row] as usize];
        let local = if block.slope > 0.0 { row - block.first_row } else { sides };
        block.contact * (sides + 1) + local
    }

    /// The dual method, for the contacts whose forces the search over faces does not find; the
    /// residual is that of all forces.
    fn run_dual(
        &mut self,
        problem: &ContactProblem<'_>,
        guess: Option<&[f64]>,
        shift: f64,
        forces: &mut [f64],
    ) -> Outcome {
        let sides = problem.cone.sides();
        self.acceleration.resize(problem.dim(), 0.0);
        self.reserve_dual(self.left.len(), sides);
        for &contact in &self.left {
            forces[3 * contact..3 * contact + 3].fill(0.0);
        }
        self.reduce(problem);

        // The reduced Hessian, factored.
        let n = self.unknowns.len();
        let row_count = self.row_block.len();
        self.core.reserve(n, row_count);
        if !self.core.factor(&self.hessian[..n * n], shift, 0.0) {
            return Outcome::refused(Status::NumericalTrouble);
        }

        // The method on the rows of the pyramids, from the guess.
        let limit = match self.iteration_limit {
            0 => 40 + 10 * u32::try_from(row_count).unwrap_or(u32::MAX / 16),
            limit => limit,
        };
        let mut rows = PyramidRows {
            facets: problem.cone.facets(),
            blocks: &self.blocks,
            row_block: &self.row_block,
        };
        let flags = guess.unwrap_or(&[]);
        let (blocks, row_block) = (&self.blocks, &self.row_block);
        let guessed = (0..if flags.is_empty() { 0 } else { row_count }).filter(|&row| {
            let block = &blocks[row_block[row] as usize];
            let local = if block.slope > 0.0 { row - block.first_row } else { sides };
            flags[block.contact * (sides + 1) + local] != 0.0
        });
        let (mut status, iterations) = self.core.solve(&self.gradient, &mut rows, limit, guessed);

        // Back to the forces of all contacts.
        for (&unknown, &force) in self.unknowns.iter().zip(self.core.x()) {
            forces[unknown] = force;
        }
        // The iterates of a dual method violate cones, its answer where rounding moves it that far;
        // what is returned may not.
        for &contact in &self.left {
            let force = &mut forces[3 * contact..3 * contact + 3];
            let friction = problem.friction[contact];
            let nearest = problem.cone.project(friction, [force[0], force[1], force[2]]);
            force.copy_from_slice(&nearest);
        }

        // The judge has the last word.
        let residual = kkt::natural_residual(problem, forces, &mut self.acceleration);
        // Zero force is always feasible, so this can only be a loss of digits.
        if status == Status::PrimalInfeasible || !residual.is_finite() {
            status = Status::NumericalTrouble;
        }
        Outcome { status: confirmed(status, residual), iterations, residual }
    }

    /// Collects the unknowns of the contacts left that can be nonzero, their rows, Hessian and
    /// gradient.
    fn reduce(&mut self, problem: &ContactProblem<'_>) {
        self.unknowns.clear();
        self.blocks.clear();
        self.row_block.clear();
        self.gradient.clear();
        let sides = problem.cone.sides();
        for &contact in &self.left {
            let slope = problem.cone.facet_friction(problem.friction[contact]);
            let block = Block {
                start: self.unknowns.len(),
                first_row: self.row_block.len(),
                contact,
                slope,
            };
            let index = self.blocks.len() as u32;
            let (axes, rows) = if slope > 0.0 { (0..3, sides + 1) } else { (2..3, 1) };
            self.unknowns.extend(axes.map(|axis| 3 * contact + axis));
            self.row_block.extend(std::iter::repeat_n(index, rows));
            self.blocks.push(block);
        }
        self.gradient.extend(self.unknowns.iter().map(|&i| problem.bias[i]));
        let (n, full) = (self.unknowns.len(), problem.dim());
        for (k, &column) in self.unknowns.iter().enumerate() {
            let source = &problem.inverse_inertia[column * full..(column + 1) * full];
            let target = &mut self.hessian[k * n..(k + 1) * n];
            // Only the lower triangle is read.
            if n == full {
                target[k..].copy_from_slice(&source[k..]);
            } else {
                for (value, &row) in target[k..].iter_mut().zip(&self.unknowns[k..]) {
                    *value = source[row];
                }
            }
            target[k] += problem.compliance_of(column);
        }
    }
}

impl ContactMethod for PyramidActiveSet {
    fn warm_len(&self, sides: usize) -> usize {
        sides + 1
    }

    /// The warm start has k (sides + 1) flags, per contact one for each facet and one for
    /// `f_n ≥ 0`, nonzero if the row holds with equality. A good guess saves iterations; any guess
    /// leads to the same answer up to rounding.
    fn solve_warm(&mut self, given: &Given<'_>, rows: &mut [f64], forces: &mut [f64]) -> Outcome {
        let (problem, is_cold) = (&given.problem, rows.is_empty());
        let count = if is_cold { 0 } else { problem.cone_row_count() };
        assert_eq!(rows.len(), count, "flags need k (sides + 1) values");
        self.run(problem, (!is_cold).then_some(rows), forces)
    }
}

/// `μ' f_n - cos θ f_1 - sin θ f_2 ≥ 0` for each facet and `f_n ≥ 0`, from the structure.
struct PyramidRows<'a> {
    facets: &'a [[f64; 2]],
    blocks: &'a [Block],
    row_block: &'a [u32],
}

impl Rows for PyramidRows<'_> {
    fn count(&self) -> usize {
        self.row_block.len()
    }

    fn equality_count(&self) -> usize {
        0
    }

    #[inline]
    fn right_hand_side(&self, _row: usize) -> f64 {
        0.0
    }

    #[inline]
    fn norm(&self, row: usize) -> f64 {
        let block = &self.blocks[self.row_block[row] as usize];
        let is_facet = block.slope > 0.0 && row - block.first_row < self.facets.len();
        if is_facet { (1.0 + block.slope * block.slope).sqrt() } else { 1.0 }
    }

    #[inline]
    fn residuals(&mut self, x: &[f64], s: &mut [f64]) {
        for block in self.blocks {
            if block.slope > 0.0 {
                let [t1, t2, n] = [x[block.start], x[block.start + 1], x[block.start + 2]];
                let reach = block.slope * n;
                let end = block.first_row + self.facets.len();
                for (s, [c, sin]) in s[block.first_row..end].iter_mut().zip(self.facets) {
                    *s = reach - c * t1 - sin * t2;
                }
                s[end] = n;
            } else {
                s[block.first_row] = x[block.start];
            }
        }
    }

    #[inline]
    fn project(&mut self, row: usize, j: &[f64], stride: usize, d: &mut [f64]) {
        let (start, normal) = self.normal(row);
        let columns = d.iter_mut().zip(j.chunks_exact(stride));
        match normal {
            Normal::Facet([a, b, c]) => {
                for (d, column) in columns {
                    let x = &column[start..start + 3];
                    *d = a * x[0] + b * x[1] + c * x[2];
                }
            }
            Normal::Unit(axis) => columns.for_each(|(d, column)| *d = column[start + axis]),
        }
    }

    fn add_normal(&self, row: usize, weight: f64, normal: &mut [f64]) {
        match self.normal(row) {
            (start, Normal::Facet(axes)) => axpy(weight, &axes, &mut normal[start..start + 3]),
            (start, Normal::Unit(axis)) => normal[start + axis] += weight,
        }
    }
}

/// Entries of a row from the first unknown of its contact on.
enum Normal {
    Facet([f64; 3]),
    Unit(usize),
}

impl PyramidRows<'_> {
    /// First unknown and entries of a row.
    #[inline]
    fn normal(&self, row: usize) -> (usize, Normal) {
        let block = &self.blocks[self.row_block[row] as usize];
        let normal = match self.facets.get(row - block.first_row) {
            _ if block.slope == 0.0 => Normal::Unit(0),
            Some(&[c, s]) => Normal::Facet([-c, -s, block.slope]),
            None => Normal::Unit(2),
        };
        (block.start, normal)
    }
}
