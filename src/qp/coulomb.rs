//! Coulomb's law from the convex problem, by a fixed point on the normal bias.
//!
//! The convex problem pairs a sliding contact with `a_n = σ(a_t)`, σ being
//! [`crate::ConeShape::slip_support`] (μ |a_t| for the circular cone), where Coulomb's law has `a_n = 0`.
//! At velocity level a contact that begins to slide at speed v on the ground is thrown off
//! it at μ v. Coulomb's law is the fixed point of the convex problem with the bias `b_n + σ(a_t)`:
//! de Saxcé's bipotential. Each pass solves one convex problem; the distance shrinks by about
//! μ²/(1+μ²) per pass. Anderson's extrapolation over three passes takes a quarter of the passes.
//! No convergence proof exists for many coupled contacts, so the outcome carries the residual of
//! Coulomb's law itself. Passes that converge slowly on circular cones are completed by Newton's
//! method on the equations of the law ([`crate::nonsmooth_newton`]). If the passes cycle and
//! contacts are few, the law's own complementarity problem gives the answer
//! ([`StewartTrinkleSolver`]). Where no contact slides, the convex law is
//! Coulomb's law, and the first pass is the last.
//!
//! # References
//! - G. de Saxcé, Z.-Q. Feng, *The bipotential method*, Math. Comput. Modelling 28 (1998).
//! - D. G. Anderson, *Iterative procedures for nonlinear integral equations*, J. ACM 12 (1965).
//! - V. Acary, F. Cadoux et al., *A formulation of the linear discrete Coulomb friction problem via
//!   convex optimization*, ZAMM 91 (2011).

use std::convert::Infallible;

use crate::budget::Budget;
use crate::circular::{CIRCULAR_SIDES, CircularPasses, SlidingLaw};
use crate::complementarity::StewartTrinkleSolver;
use crate::contact_problem::ContactProblem;
use crate::kkt;
use crate::method::{ContactMethod, Given};
use crate::nonsmooth_newton::NonsmoothNewton;
use crate::status::{Outcome, Status};

/// The fixed-point iteration, over any way of solving the convex problem.
#[derive(Debug)]
pub struct CoulombIteration {
    /// Most passes; each is one convex problem.
    pub passes: u32,
    /// Solved once [`kkt::coulomb_residual`] is at most this [1].
    pub tolerance: f64,
    /// Solved too at this residual, once a pass no longer halves it [1]: rounding of redundant
    /// problems may be above the tolerance.
    pub enough: f64,
    /// Bounds of pivoting, the last resort.
    pub budget: Budget,
    bias: Vec<f64>,
    acceleration: Vec<f64>,
    history: History,
    nonsmooth: NonsmoothNewton,
    /// What solves a problem whose passes are used up, made for the first of them.
    last_resort: Option<Box<LastResort>>,
}

#[derive(Debug)]
struct LastResort {
    pivoting: StewartTrinkleSolver,
    /// Passes for circular cones around it.
    passes: CircularPasses,
    forces: Vec<f64>,
}

impl CoulombIteration {
    /// An iteration with memory for `contact_count` contacts.
    #[must_use]
    pub fn new(contact_count: usize, passes: u32, tolerance: f64) -> Self {
        let (bias, acceleration) = (vec![0.0; 3 * contact_count], vec![0.0; 3 * contact_count]);
        let (budget, history) = (Budget::DEFAULT, History::new(contact_count));
        Self {
            passes,
            tolerance,
            enough: tolerance,
            budget,
            bias,
            acceleration,
            history,
            nonsmooth: NonsmoothNewton::new(contact_count),
            last_resort: None,
        }
    }

    /// Numbers kept for `contact_count` contacts, without those of the last resort.
    #[must_use]
    pub fn numbers(contact_count: u64) -> u64 {
        12 * contact_count + NonsmoothNewton::numbers(contact_count)
    }

    /// Solves Coulomb's law; `convex` solves the convex problem that it is given, which differs
    /// from `problem` in its bias. Allocates nothing beyond the contacts of [`Self::new`] but when
    /// the passes of a problem are used up for the first time.
    ///
    /// The passes begin at the slip of the contacts that slide in `guess`, the forces of a problem
    /// before (3k, \[N\]). `forces` (3k, \[N\]) end as those of the last pass. `iterations` of the
    /// outcome counts passes, and a limit of passes without convergence is
    /// [`Status::MaxIterations`].
    ///
    /// # Errors
    /// The first error of `convex`.
    ///
    /// # Panics
    /// If a slice of the problem or `forces` has the wrong length.
    pub fn solve<E>(
        &mut self,
        problem: &ContactProblem<'_>,
        forces: &mut [f64],
        guess: Option<&[f64]>,
        mut convex: impl FnMut(&ContactProblem<'_>, &mut [f64]) -> Result<Outcome, E>,
    ) -> Result<Outcome, E> {
        forces.fill(0.0);
        if let Some(status) = problem.refuse() {
            return Ok(Outcome::refused(status));
        }
        let count = problem.contact_count();
        self.acceleration.resize(problem.dim(), 0.0);
        self.bias.resize(problem.dim(), 0.0);
        self.bias.copy_from_slice(problem.bias);
        self.history.clear(count);
        let mut is_shifted = false;
        if let Some(guess) = guess.filter(|guess| slides(problem, guess)) {
            problem.acceleration_into(guess, &mut self.acceleration);
            self.history.begin(problem, guess, &self.acceleration);
            self.shift(problem);
            is_shifted = true;
        }
        let mut outcome = Outcome::refused(Status::MaxIterations);
        for pass in 1..=self.passes.max(1) {
            let shifted = ContactProblem { bias: &self.bias, ..*problem };
            let inner = convex(&shifted, forces)?;
            if !inner.status.is_usable() {
                return Ok(Outcome { iterations: pass, ..inner });
            }
            let residual = kkt::coulomb_residual(problem, forces, &mut self.acceleration);
            // A force just below the limit may belong to a contact that slides, as far as the
            // convex problem is solved; then the residuals of the laws differ.
            let is_same = residual <= self.tolerance.max(2.0 * inner.residual);
            if !is_shifted && is_same && !slides(problem, forces) {
                return Ok(Outcome { iterations: pass, ..inner });
            }
            let is_slow = residual > 0.5 * outcome.residual;
            outcome = Outcome { status: Status::MaxIterations, iterations: pass, residual };
            if residual <= self.tolerance {
                return Ok(Outcome { status: inner.status, ..outcome });
            }
            let is_enough = is_slow && residual <= self.enough;
            if problem.cone.sides() == 0 && (is_enough || NEWTON_PASSES.contains(&pass)) {
                let limits = (self.tolerance, self.tolerance);
                let (residual, _) =
                    self.nonsmooth.solve(problem, forces, SlidingLaw::Coulomb, limits);
                if residual <= self.tolerance {
                    forces.copy_from_slice(&self.nonsmooth.best);
                    return Ok(Outcome { status: Status::Solved, residual, ..outcome });
                }
            }
            if is_enough {
                return Ok(Outcome { status: inner.status, ..outcome });
            }
            self.history.advance(share_of(pass), |i| support(problem, &self.acceleration, i));
            self.shift(problem);
            is_shifted = true;
        }
        Ok(self.pivoted(problem, forces, outcome))
    }

    /// `b_n + σ` of the history's σ.
    fn shift(&mut self, problem: &ContactProblem<'_>) {
        let normals = self.bias.iter_mut().zip(problem.bias).skip(2).step_by(3);
        for ((bias, own), support) in normals.zip(&self.history.support) {
            *bias = own + support;
        }
    }

    /// The answer of pivoting, if that is nearer to the law than what the passes left.
    #[cold]
    fn pivoted(
        &mut self,
        problem: &ContactProblem<'_>,
        forces: &mut [f64],
        left: Outcome,
    ) -> Outcome {
        // A force along the normal and each side, and the slip, of every contact.
        let sides = if problem.cone.sides() == 0 { CIRCULAR_SIDES } else { problem.cone.sides() };
        let contacts = problem.contact_count();
        if contacts.saturating_mul(sides + 2) > self.budget.pairs {
            return left;
        }
        let LastResort { pivoting, passes, forces: own } =
            &mut **self.last_resort.get_or_insert_with(|| {
                Box::new(LastResort {
                    pivoting: StewartTrinkleSolver::default(),
                    passes: CircularPasses::new(SlidingLaw::Coulomb, contacts),
                    forces: Vec::new(),
                })
            });
        own.resize(forces.len(), 0.0);
        passes.budget = self.budget;
        let budget = self.budget;
        let mut pivot = |problem: &ContactProblem<'_>, own: &mut [f64]| {
            pivoting.solve_warm(&Given { problem: *problem, mass: None, budget }, &mut [], own)
        };
        let found = if problem.cone.sides() == 0 {
            let pivoted: Result<Outcome, Infallible> =
                passes.solve(problem, own, None, |pass, own| Ok(pivot(&pass.problem, own)));
            pivoted.unwrap_or_else(|never| match never {})
        } else {
            pivot(problem, own)
        };
        if found.residual.is_nan() || found.residual >= left.residual {
            return left;
        }
        forces.copy_from_slice(own);
        let is_solved = found.residual <= self.tolerance;
        let status = if is_solved { Status::Solved } else { Status::MaxIterations };
        Outcome { status, residual: found.residual, ..left }
    }
}

/// Passes after which Newton's method is tried: the bias alone converges linearly, and no further
/// than its convex problems are exact.
const NEWTON_PASSES: [u32; 3] = [10, 30, 90];

/// Which share of the way to the next bias pass `pass` goes. Most problems converge at once; where
/// contacts couple so that the iteration goes round in circles, shorter steps end that.
pub(crate) fn share_of(pass: u32) -> f64 {
    match pass {
        0..=20 => 1.0,
        21..=60 => 0.5,
        61..=120 => 0.25,
        _ => 0.1,
    }
}

/// σ of contact `i` at these accelerations.
pub(crate) fn support(problem: &ContactProblem<'_>, acceleration: &[f64], i: usize) -> f64 {
    problem.cone.slip_support(problem.friction[i], [acceleration[3 * i], acceleration[3 * i + 1]])
}

/// True if friction of contact `i` is at its limit.
fn is_at_limit(problem: &ContactProblem<'_>, forces: &[f64], i: usize) -> bool {
    let force = [forces[3 * i], forces[3 * i + 1], forces[3 * i + 2]];
    let mu = problem.friction[i];
    mu > 0.0 && force[2] > 0.0 && problem.cone.is_at_limit(mu, force)
}

/// True if friction of a contact is at its limit. It need not slide, but what slides is among these.
pub(crate) fn slides(problem: &ContactProblem<'_>, forces: &[f64]) -> bool {
    forces.len() == problem.dim()
        && (0..problem.contact_count()).any(|i| is_at_limit(problem, forces, i))
}

/// Values of σ that were tried, and how the passes would change them.
#[derive(Debug)]
pub(crate) struct History {
    /// σ of the next pass.
    pub(crate) support: Vec<f64>,
    /// The last ones, and their changes; pass p at p modulo 3.
    tried: [Vec<f64>; DEPTH],
    changes: [Vec<f64>; DEPTH],
    count: usize,
}

/// Passes that an extrapolation uses.
const DEPTH: usize = 3;

impl History {
    pub(crate) fn new(contact_count: usize) -> Self {
        let zeros = || vec![0.0; contact_count];
        let of = || [zeros(), zeros(), zeros()];
        Self { support: zeros(), tried: of(), changes: of(), count: 0 }
    }

    pub(crate) fn clear(&mut self, contact_count: usize) {
        self.count = 0;
        self.support.clear();
        self.support.resize(contact_count, 0.0);
        for vector in self.tried.iter_mut().chain(&mut self.changes) {
            vector.resize(contact_count, 0.0);
        }
    }

    /// Begins at the slip of the contacts that slide in `guess`, which causes these accelerations.
    pub(crate) fn begin(
        &mut self,
        problem: &ContactProblem<'_>,
        guess: &[f64],
        acceleration: &[f64],
    ) {
        for i in (0..problem.contact_count()).filter(|&i| is_at_limit(problem, guess, i)) {
            self.support[i] = support(problem, acceleration, i);
        }
    }

    /// The next σ: `answer` is what the accelerations of the last one ask for. With the `share` 1 it
    /// is extrapolated, else it goes this share of the way.
    pub(crate) fn advance(&mut self, share: f64, answer: impl Fn(usize) -> f64) {
        let Self { support, tried, changes, count } = self;
        let at = *count % DEPTH;
        for (i, ((tried, change), support)) in
            tried[at].iter_mut().zip(&mut changes[at]).zip(&mut *support).enumerate()
        {
            (*tried, *change) = (*support, answer(i) - *support);
            *support += share * *change;
        }
        *count += 1;
        let depth = (*count - 1).min(DEPTH - 1);
        if share < 1.0 || depth == 0 {
            return;
        }
        // The weights γ that make |w − Σ γ (w − w_j)| least, w being the last change.
        let earlier = [(at + DEPTH - 1) % DEPTH, (at + DEPTH - 2) % DEPTH];
        let difference = |j: usize, i: usize| changes[at][i] - changes[earlier[j]][i];
        let sum = |of: &dyn Fn(usize) -> f64| (0..support.len()).map(of).sum::<f64>();
        let a = sum(&|i| difference(0, i) * difference(0, i));
        let p = sum(&|i| difference(0, i) * changes[at][i]);
        let mut weights = [p / a, 0.0];
        if depth == 2 {
            let b = sum(&|i| difference(0, i) * difference(1, i));
            let c = sum(&|i| difference(1, i) * difference(1, i));
            let q = sum(&|i| difference(1, i) * changes[at][i]);
            let determinant = a * c - b * b;
            // Two differences along one line say no more than one.
            if determinant > PARALLEL * a * c {
                weights = [(p * c - q * b) / determinant, (q * a - p * b) / determinant];
            }
        }
        if !weights.iter().all(|weight| weight.is_finite()) {
            return;
        }
        for (i, support) in support.iter_mut().enumerate() {
            for (j, weight) in weights.iter().enumerate().take(depth) {
                let moved = tried[at][i] - tried[earlier[j]][i];
                *support -= weight * (moved + difference(j, i));
            }
            *support = support.max(0.0);
        }
    }
}

/// The square of the sine of an angle between differences that count as one.
const PARALLEL: f64 = 1e-12;

/// Makes any solver of the convex problem solve Coulomb's law.
#[doc(alias("NCP", "De Saxce", "bipotential"))]
#[derive(Debug)]
pub struct CoulombFixedPoint<S> {
    /// The solver of the convex problems.
    pub inner: S,
    iteration: CoulombIteration,
}

impl<S: ContactMethod> CoulombFixedPoint<S> {
    /// Wraps `inner`, with memory for `contact_count` contacts; see [`CoulombIteration`].
    #[must_use]
    pub fn new(inner: S, contact_count: usize, passes: u32, tolerance: f64) -> Self {
        Self { inner, iteration: CoulombIteration::new(contact_count, passes, tolerance) }
    }
}

impl<S: ContactMethod> ContactMethod for CoulombFixedPoint<S> {
    /// As [`CoulombIteration::solve`].
    fn solve_warm(&mut self, given: &Given<'_>, _: &mut [f64], forces: &mut [f64]) -> Outcome {
        let Self { inner, iteration } = self;
        iteration.budget = given.budget;
        let solved: Result<Outcome, Infallible> =
            iteration.solve(&given.problem, forces, None, |convex, forces| {
                let convex = Given { problem: *convex, mass: None, ..*given };
                Ok(inner.solve_warm(&convex, &mut [], forces))
            });
        solved.unwrap_or_else(|never| match never {})
    }
}
