//! The pivoting methods as solvers of the contact problem.
//!
//! With `f = E λ` over the generators of the pyramids the contact problem is
//! `0 ≤ λ ⟂ EᵀHE λ + Eᵀb ≥ 0`, symmetric and positive semidefinite. A contact without friction has
//! its normal as only generator. Where a pyramid of more than three sides is touched inside, the
//! weights λ are not unique; the forces are, as far as H determines them.

use super::half_inverse_mass::DenseMass;
use super::lcp::Lcp;
use super::lemke::Lemke;
use super::principal_pivoting::PrincipalPivoting;
use crate::circular::SlidingLaw;
use crate::contact_problem::ContactProblem;
use crate::kkt;
use crate::method::{
    Accuracy, Cones, ContactMethod, Given, MassView, Method, ProblemSize, Setting,
};
use crate::status::{Outcome, Status};
use legwork_linalg::cancel::check;
use legwork_linalg::{PivotedCholesky, axpy, dot};

/// Relative natural residual beyond which an answer is not called solved; see
/// [`crate::PyramidActiveSet`].
const ACCEPTED_RESIDUAL: f64 = 1e-6;

/// The entry of [`LemkeSolver`] among the methods.
pub(crate) static LEMKE: Method = Method {
    kind: "Lemke",
    name: "lemke",
    title: "Lemke's method.",
    doc: "\
Solves the contact problem by Lemke's method on pyramids of friction. The unknowns are the
edges of the pyramids.

One unknown per edge of each pyramid, a dense basis, lexicographic ties, and a ladder of
regularisation where the plain attempt ends on a ray. The classical reference method: slower
than the others where there are many contacts. It starts from the edges of the last step.

Reference: C. E. Lemke, *Bimatrix equilibrium points and mathematical programming* (1965);
R. W. Cottle, J.-S. Pang, R. E. Stone, *The Linear Complementarity Problem* (1992), sec.
4.4.",
    aliases: &["LCP"],
    example: "Lemke(on_fail: HoldLast(max: 5))",
    choice: Some("Lemke()"),
    iterations: "pivots",
    cones: Cones::Pyramids,
    law: SlidingLaw::Convex,
    settings: &[Setting::cold("Start without pressing edges each time.")],
    tightest: &[],
    accuracy: Some(Accuracy { definite: 1e-10, reference: 1e-10, redundant: Some(1e-7) }),
    allocates: false,
    // The matrix over the edges, that of the method, its basis, and H.
    memory: |size| {
        let [n, s, _] = size.counts();
        4 * s * s + n * n + 20 * s
    },
    make: |size, _| Box::new(LemkeSolver::new(size.contact_count, size.sides)),
};

/// The entry of [`PrincipalPivotingSolver`] among the methods.
pub(crate) static PRINCIPAL_PIVOTING: Method = Method {
    kind: "PrincipalPivoting",
    name: "ppm",
    title: "The principal pivoting method.",
    doc: "\
Solves the contact problem by principal pivoting on pyramids of friction. The unknowns are
the edges of the pyramids.

One unknown per edge of each pyramid; the set of edges that carry force changes by one a
pivot until none pulls and none lets its contact approach. Exact up to rounding, and fast
where few edges carry force. The columns are made from J and the factor of M on the bus: the
matrix of the complementarity problem is never formed, and of G only the judge of the answer
hears. It starts from the edges of the last step. What pivoting cannot finish is handed to
Lemke's method, whose attempts end after a fixed amount of work: then the status is 2, 5 or 8.

Reference: S. Zapolsky, E. Drumwright, *Inverse dynamics with rigid contact and friction*
(2017), algorithm 2; R. W. Cottle, J.-S. Pang, R. E. Stone, *The Linear Complementarity
Problem* (1992), sec. 4.2.",
    aliases: &["LCP", "Murty"],
    example: "PrincipalPivoting(on_fail: HoldLast(max: 5))",
    choice: Some("PrincipalPivoting()"),
    iterations: "pivots",
    cones: Cones::Pyramids,
    law: SlidingLaw::Convex,
    settings: &[Setting::cold("Start without pressing edges each time.")],
    tightest: &[],
    accuracy: Some(Accuracy { definite: 1e-10, reference: 1e-10, redundant: Some(1e-7) }),
    allocates: false,
    // The columns and their basis, H and its root; the matrix over the edges for Lemke's method;
    // the pattern of the factor of M.
    memory: |size| {
        let [n, s, nv] = size.counts();
        5 * s * s + (3 * s + 4 * (n + nv)) * (n + nv) + 4 * n * n + 3 * nv * nv + 20 * s
    },
    make: |size, _| {
        let ProblemSize { contact_count, sides, velocity_dim } = size;
        Box::new(PrincipalPivotingSolver::with_velocities(contact_count, sides, velocity_dim))
    },
};

/// One generator that can carry force.
#[derive(Clone, Copy, Debug)]
struct Generator {
    contact: usize,
    /// Number among the generators of all contacts, k m.
    index: usize,
    /// First of the reduced unknowns of its contact, and how many there are: 3, or 1 for a normal.
    start: usize,
    axes: usize,
    direction: [f64; 3],
}

impl Generator {
    /// Its direction in the reduced unknowns of the contact.
    fn entries(&self) -> &[f64] {
        &self.direction[3 - self.axes..]
    }
}

/// The part of a contact problem that can carry force.
#[derive(Clone, Debug, Default)]
struct Reduced {
    generators: Vec<Generator>,
    /// Index in f of each unknown.
    unknowns: Vec<usize>,
    /// H of the unknowns, column-major.
    hessian: Vec<f64>,
    /// `Eᵀb`.
    vector: Vec<f64>,
    weights: Vec<f64>,
    /// Nonzero where a generator carries force: the guess before a solve, the answer after it.
    flags: Vec<f64>,
    acceleration: Vec<f64>,
}

impl Reduced {
    fn reserve(&mut self, contact_count: usize, sides: usize) {
        let (n, size) = (3 * contact_count, contact_count * sides);
        self.generators.clear();
        self.generators.reserve(size);
        self.unknowns.clear();
        self.unknowns.reserve(n);
        if self.hessian.len() < n * n {
            self.hessian.resize(n * n, 0.0);
        }
        if self.acceleration.len() < n {
            self.acceleration.resize(n, 0.0);
        }
        self.vector.clear();
        self.vector.reserve(size);
        for values in [&mut self.weights, &mut self.flags] {
            values.clear();
            values.reserve(size);
        }
    }

    fn fill(&mut self, problem: &ContactProblem<'_>, guess: Option<&[f64]>) {
        let sides = problem.cone.sides();
        self.reserve(problem.contact_count(), sides);
        for contact in (0..problem.contact_count()).filter(|&c| problem.is_active(c)) {
            let friction = problem.friction[contact];
            let (edges, axes) = if friction > 0.0 { (sides, 3) } else { (1, 1) };
            let start = self.unknowns.len();
            self.unknowns.extend(3 * contact + 3 - axes..3 * contact + 3);
            for edge in 0..edges {
                let direction = problem.cone.generator(friction, edge);
                let index = contact * sides + edge;
                let generator = Generator { contact, index, start, axes, direction };
                let bias = &problem.bias[3 * contact + 3 - axes..3 * contact + 3];
                self.vector.push(dot(generator.entries(), bias));
                self.flags.push(guess.map_or(0.0, |guess| guess[index]));
                self.generators.push(generator);
            }
        }
        self.weights.resize(self.generators.len(), 0.0);
    }

    /// H of the unknowns that [`Self::fill`] found.
    fn fill_hessian(&mut self, problem: &ContactProblem<'_>) {
        let (n, full) = (self.unknowns.len(), problem.dim());
        let shift = problem.diagonal_shift();
        for (k, &column) in self.unknowns.iter().enumerate() {
            let source = &problem.inverse_inertia[column * full..(column + 1) * full];
            let target = &mut self.hessian[k * n..(k + 1) * n];
            for (value, &row) in target.iter_mut().zip(&self.unknowns) {
                *value = source[row];
            }
            target[k] += problem.compliance_of(column) + shift;
        }
    }

    /// Leaves the final flags in `generators`, none unless the answer is usable or the start cold.
    fn leave_flags(&self, outcome: Outcome, generators: &mut [f64]) {
        generators.fill(0.0);
        if outcome.status.is_usable() && !generators.is_empty() {
            for (generator, &flag) in self.generators.iter().zip(&self.flags) {
                generators[generator.index] = flag;
            }
        }
    }

    /// Forces of the weights, judged.
    fn conclude(
        &mut self,
        problem: &ContactProblem<'_>,
        outcome: Outcome,
        forces: &mut [f64],
    ) -> Outcome {
        for (generator, &weight) in self.generators.iter().zip(&self.weights) {
            let f = 3 * generator.contact;
            axpy(weight, generator.entries(), &mut forces[f + 3 - generator.axes..f + 3]);
        }
        let n = problem.dim();
        let residual = kkt::natural_residual(problem, forces, &mut self.acceleration[..n]);
        let status = match outcome.status {
            Status::Solved | Status::Inaccurate if residual <= ACCEPTED_RESIDUAL => Status::Solved,
            Status::Solved | Status::Inaccurate => Status::NumericalTrouble,
            // No weights hold the contacts: the objective falls along the certificate.
            Status::PrimalInfeasible => Status::Unbounded,
            other => other,
        };
        Outcome { status, iterations: outcome.iterations, residual }
    }
}

/// The flags of a warm start.
fn guess_of(flags: &[f64]) -> Option<&[f64]> {
    (!flags.is_empty()).then_some(flags)
}

/// Checks that the two solvers share.
fn refuse(
    problem: &ContactProblem<'_>,
    guess: Option<&[f64]>,
    forces: &mut [f64],
) -> Option<Outcome> {
    assert_eq!(forces.len(), problem.dim(), "forces need 3k values");
    if let Some(guess) = guess {
        let size = problem.contact_count() * problem.cone.sides();
        assert_eq!(guess.len(), size, "flags need k sides values");
    }
    forces.fill(0.0);
    let is_circular = problem.cone.sides() == 0;
    let status = problem.refuse().or_else(|| is_circular.then_some(Status::UnsupportedCone));
    status.map(Outcome::refused)
}

/// [`Lemke`] on the generators of the contact problem.
///
/// Accepts pyramids of any number of sides, with frictionless, redundant, compliant and inactive
/// contacts. The matrix has `k m` rows, so time grows with the third power of the contacts.
#[derive(Clone, Debug, Default)]
pub struct LemkeSolver {
    reduced: Reduced,
    lemke: Lemke,
    matrix: Vec<f64>,
    product: Vec<f64>,
}

impl LemkeSolver {
    /// A solver with memory for `contact_count` contacts and pyramids of `sides`.
    #[must_use]
    pub fn new(contact_count: usize, sides: usize) -> Self {
        let mut solver = Self::default();
        let size = contact_count * sides;
        solver.reduced.reserve(contact_count, sides);
        solver.matrix.resize(size * size, 0.0);
        solver.product.resize(3 * contact_count, 0.0);
        solver.lemke = Lemke::new(size);
        solver
    }

    fn run(
        &mut self,
        problem: &ContactProblem<'_>,
        guess: Option<&[f64]>,
        forces: &mut [f64],
    ) -> Outcome {
        if let Some(outcome) = refuse(problem, guess, forces) {
            return outcome;
        }
        self.reduced.fill(problem, guess);
        self.reduced.fill_hessian(problem);
        let reduced = &mut self.reduced;
        let (n, size) = (reduced.unknowns.len(), reduced.generators.len());
        if self.matrix.len() < size * size {
            self.matrix.resize(size * size, 0.0);
        }
        if self.product.len() < n {
            self.product.resize(n, 0.0);
        }
        for (j, column) in reduced.generators.iter().enumerate() {
            check();
            // H times the generator, then its product with all.
            let product = &mut self.product[..n];
            product.fill(0.0);
            for (k, &g) in column.entries().iter().enumerate() {
                axpy(g, &reduced.hessian[(column.start + k) * n..][..n], product);
            }
            for (i, row) in reduced.generators.iter().enumerate() {
                self.matrix[j * size + i] =
                    dot(row.entries(), &product[row.start..row.start + row.axes]);
            }
        }
        let lcp = Lcp::made(&self.matrix[..size * size], &reduced.vector);
        let outcome = self.lemke.solve_warm(&lcp, &mut reduced.flags, &mut reduced.weights);
        reduced.conclude(problem, outcome, forces)
    }
}

impl ContactMethod for LemkeSolver {
    fn warm_len(&self, sides: usize) -> usize {
        sides
    }

    /// The warm start has k m flags, nonzero where a generator carries force.
    fn solve_warm(&mut self, given: &Given<'_>, flags: &mut [f64], forces: &mut [f64]) -> Outcome {
        self.lemke.budget = given.budget;
        let outcome = self.run(&given.problem, guess_of(flags), forces);
        self.reduced.leave_flags(outcome, flags);
        outcome
    }
}

/// [`PrincipalPivoting`] on the generators of the contact problem, without forming `EᵀHE`.
///
/// Accepts pyramids of any number of sides, with frictionless, redundant, compliant and inactive
/// contacts: the convex contact problem is symmetric. It does not solve Coulomb's law itself, whose
/// complementarity problem is not symmetric ([`super::StewartTrinkleSolver`] does). With
/// `H = L Lᵀ` the columns are `Lᵀ E`, at most 3k of them carry force, and a pivot costs
/// O(k² m).
#[derive(Clone, Debug, Default)]
pub struct PrincipalPivotingSolver {
    reduced: Reduced,
    pivoting: PrincipalPivoting,
    factor: DenseMass,
    psd: PivotedCholesky,
    root: Vec<f64>,
}

impl PrincipalPivotingSolver {
    /// A solver with memory for `contact_count` contacts and pyramids of `sides`.
    #[must_use]
    pub fn new(contact_count: usize, sides: usize) -> Self {
        let n = 3 * contact_count;
        Self::sized(contact_count, sides, n, n)
    }

    /// With a root of so many columns, and rows of the pivoting method.
    fn sized(contact_count: usize, sides: usize, columns: usize, rows: usize) -> Self {
        let mut solver = Self::default();
        let n = 3 * contact_count;
        solver.reduced.reserve(contact_count, sides);
        solver.factor.reserve(n);
        solver.psd.reserve(n);
        solver.root.resize(n * columns, 0.0);
        solver.pivoting = PrincipalPivoting::new(contact_count * sides, rows);
        solver
    }

    /// A solver with memory for problems with a [`MassView`] of `velocity_dim` velocities.
    #[must_use]
    pub fn with_velocities(contact_count: usize, sides: usize, velocity_dim: usize) -> Self {
        let n = 3 * contact_count;
        Self::sized(contact_count, sides, n.max(velocity_dim), velocity_dim + n)
    }

    /// Solves without H: the columns are those of `J M⁻¹ Jᵀ = (C Jᵀ)ᵀ(C Jᵀ)`.
    ///
    /// A column of generator e is `C Jᵀe`, and below it `(R + εI)^½ e` where the problem has a
    /// compliance, so neither `EᵀHE` nor H is formed or factored. 3k solves with C, then
    /// O((nv + 3k) k m) per pivot. G serves the judge of the answer and the mean diagonal of ε
    /// only.
    fn run_with_mass(
        &mut self,
        problem: &ContactProblem<'_>,
        MassView { jacobian, root: mass }: MassView<'_>,
        guess: Option<&[f64]>,
        forces: &mut [f64],
    ) -> Outcome {
        let (full, nv) = (problem.dim(), mass.dim());
        assert_eq!(jacobian.len(), full * nv, "J needs 3k x nv values");
        if let Some(outcome) = refuse(problem, guess, forces) {
            return outcome;
        }
        self.reduced.fill(problem, guess);
        let reduced = &mut self.reduced;
        let (n, size) = (reduced.unknowns.len(), reduced.generators.len());
        // C Jᵀ of the unknowns.
        if self.root.len() < n * nv {
            self.root.resize(n * nv, 0.0);
        }
        for (column, &row) in self.root.chunks_exact_mut(nv.max(1)).zip(&reduced.unknowns) {
            for (value, j) in column.iter_mut().zip(jacobian.chunks_exact(full.max(1))) {
                *value = j[row];
            }
            check();
            mass.half_solve(column);
        }

        // A column for each generator; R and ε add a coordinate of their own for each unknown.
        let shift = problem.diagonal_shift();
        let is_compliant = shift > 0.0 || problem.compliance.iter().any(|&r| r > 0.0);
        let dim = if is_compliant { nv + n } else { nv };
        let columns = self.pivoting.columns_mut(size, dim, false);
        for (column, generator) in columns.chunks_exact_mut(dim.max(1)).zip(&reduced.generators) {
            column.fill(0.0);
            for (k, &g) in generator.entries().iter().enumerate() {
                let at = generator.start + k;
                axpy(g, &self.root[at * nv..(at + 1) * nv], &mut column[..nv]);
                if is_compliant {
                    let compliance = problem.compliance_of(reduced.unknowns[at]) + shift;
                    column[nv + at] = g * compliance.sqrt();
                }
            }
        }
        self.pivot(problem, forces)
    }

    fn run(
        &mut self,
        problem: &ContactProblem<'_>,
        guess: Option<&[f64]>,
        forces: &mut [f64],
    ) -> Outcome {
        if let Some(outcome) = refuse(problem, guess, forces) {
            return outcome;
        }
        self.reduced.fill(problem, guess);
        self.reduced.fill_hessian(problem);
        let reduced = &mut self.reduced;
        let (n, size) = (reduced.unknowns.len(), reduced.generators.len());
        let hessian = &reduced.hessian[..n * n];
        let is_definite = self.factor.set(n, hessian);
        if !is_definite {
            if self.root.len() < n * n {
                self.root.resize(n * n, 0.0);
            }
            if self.psd.factor(hessian, n, &mut self.root[..n * n]).is_none() {
                return Outcome::refused(Status::NumericalTrouble);
            }
        }
        let columns = self.pivoting.columns_mut(size, n, !is_definite);
        for (column, generator) in columns.chunks_exact_mut(n.max(1)).zip(&reduced.generators) {
            check();
            column.fill(0.0);
            for (k, &g) in generator.entries().iter().enumerate() {
                let at = generator.start + k;
                if is_definite {
                    self.factor.add_row(at, g, column);
                } else {
                    axpy(g, &self.root[at * n..(at + 1) * n], column);
                }
            }
        }
        self.pivot(problem, forces)
    }

    /// Pivots on the columns that are in place and judges the answer.
    fn pivot(&mut self, problem: &ContactProblem<'_>, forces: &mut [f64]) -> Outcome {
        let reduced = &mut self.reduced;
        let outcome =
            self.pivoting.solve_columns(&reduced.vector, &mut reduced.flags, &mut reduced.weights);
        reduced.conclude(problem, outcome, forces)
    }
}

impl ContactMethod for PrincipalPivotingSolver {
    fn warm_len(&self, sides: usize) -> usize {
        sides
    }

    fn uses_mass(&self) -> bool {
        true
    }

    /// The warm start has k m flags, nonzero where a generator carries force. Among the answers of
    /// a redundant problem without regularisation the flags pick one near the last.
    fn solve_warm(&mut self, given: &Given<'_>, flags: &mut [f64], forces: &mut [f64]) -> Outcome {
        let (problem, guess) = (&given.problem, guess_of(flags));
        self.pivoting.bound(given.budget);
        let outcome = match given.mass {
            Some(mass) => self.run_with_mass(problem, mass, guess, forces),
            None => self.run(problem, guess, forces),
        };
        self.reduced.leave_flags(outcome, flags);
        outcome
    }
}
