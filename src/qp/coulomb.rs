//! Coulomb's law from the convex problem, by a fixed point on the normal bias.
//!
//! The convex problem pairs a sliding contact with `a_n = σ(a_t)`, σ being
//! [`crate::ConeShape::slip_support`] (μ |a_t| for the circular cone), where Coulomb's law has `a_n = 0`.
//! At velocity level a contact that begins to slide at speed v on the ground is thrown off
//! it at μ v. Coulomb's law is the fixed point of the convex problem with the bias `b_n + σ(a_t)`:
//! de Saxcé's bipotential. Each pass solves one convex problem; the distance shrinks by about
//! μ²/(1+μ²) per pass. No convergence proof exists for many coupled contacts, so the outcome
//! carries the residual of Coulomb's law itself. If the passes cycle and contacts are few, the
//! law's own complementarity problem gives the answer ([`StewartTrinkleSolver`]).
//!
//! # References
//! - G. de Saxcé, Z.-Q. Feng, *The bipotential method*, Math. Comput. Modelling 28 (1998).
//! - V. Acary, F. Cadoux et al., *A formulation of the linear discrete Coulomb friction problem via
//!   convex optimization*, ZAMM 91 (2011).

use std::convert::Infallible;

use crate::budget::Budget;
use crate::circular::{CIRCULAR_SIDES, CircularPasses, SlidingLaw};
use crate::complementarity::StewartTrinkleSolver;
use crate::contact_problem::ContactProblem;
use crate::kkt;
use crate::method::{ContactMethod, Given};
use crate::status::{Outcome, Status};

/// The fixed-point iteration, over any way of solving the convex problem.
#[derive(Debug)]
pub struct CoulombIteration {
    /// Most passes; each is one convex problem.
    pub passes: u32,
    /// Solved once [`kkt::coulomb_residual`] is at most this [1].
    pub tolerance: f64,
    /// Bounds of pivoting, the last resort.
    pub budget: Budget,
    bias: Vec<f64>,
    acceleration: Vec<f64>,
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
        let budget = Budget::DEFAULT;
        Self { passes, tolerance, budget, bias, acceleration, last_resort: None }
    }

    /// Solves Coulomb's law; `convex` solves the convex problem that it is given, which differs
    /// from `problem` in its bias. Allocates nothing beyond the contacts of [`Self::new`] but when
    /// the passes of a problem are used up for the first time.
    ///
    /// `forces` (3k, \[N\]) end as those of the last pass. `iterations` of the outcome counts
    /// passes, and a limit of passes without convergence is [`Status::MaxIterations`].
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
        mut convex: impl FnMut(&ContactProblem<'_>, &mut [f64]) -> Result<Outcome, E>,
    ) -> Result<Outcome, E> {
        forces.fill(0.0);
        if let Some(status) = problem.refuse() {
            return Ok(Outcome::refused(status));
        }
        self.acceleration.resize(problem.dim(), 0.0);
        self.bias.resize(problem.dim(), 0.0);
        self.bias.copy_from_slice(problem.bias);
        let mut outcome = Outcome::refused(Status::MaxIterations);
        for pass in 1..=self.passes.max(1) {
            let shifted = ContactProblem { bias: &self.bias, ..*problem };
            let inner = convex(&shifted, forces)?;
            if !inner.status.is_usable() {
                return Ok(Outcome { iterations: pass, ..inner });
            }
            let residual = kkt::coulomb_residual(problem, forces, &mut self.acceleration);
            let is_solved = residual <= self.tolerance;
            let status = if is_solved { inner.status } else { Status::MaxIterations };
            outcome = Outcome { status, iterations: pass, residual };
            if is_solved {
                return Ok(outcome);
            }
            let share = share_of(pass);
            let blocks = self.bias.chunks_exact_mut(3).zip(self.acceleration.chunks_exact(3));
            for (contact, (bias, a)) in blocks.enumerate() {
                let support = problem.cone.slip_support(problem.friction[contact], [a[0], a[1]]);
                let next = problem.bias[3 * contact + 2] + support;
                bias[2] = if share < 1.0 { bias[2] + share * (next - bias[2]) } else { next };
            }
        }
        Ok(self.pivoted(problem, forces, outcome))
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
            iteration.solve(&given.problem, forces, |convex, forces| {
                let convex = Given { problem: *convex, mass: None, ..*given };
                Ok(inner.solve_warm(&convex, &mut [], forces))
            });
        solved.unwrap_or_else(|never| match never {})
    }
}
