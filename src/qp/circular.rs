//! Exact solution of circular cones by any solver of pyramids.
//!
//! A circumscribed pyramid contains the circular cone, so a solution of the pyramid that lies in
//! the circular cone also solves the circular cone: a standing robot costs one solve and a check of
//! its forces. If a force lies outside, contacts slide, and a few more solves find the direction.
//! Each is a step of Newton's method (sequential quadratic programming). In axes (d, e) with d
//! along the friction of the previous pass, `|f_t| ≤ μ f_n` is `f_d ≤ μ f_n` to first order: a
//! facet of a pyramid with four sides. Its curvature `1/|f_t|` times the multiplier, the slip
//! acceleration s, is the compliance `κ = s/(μ f_n)` across the slip. A pass is therefore a contact
//! problem with turned axes and κ in R. It converges quadratically, both for contacts that slide
//! fast and for contacts that are about to stop. The facets along ±e bound a step to 45°.
//!
//! A problem that 30 passes do not solve is passed to accelerated gradients, which support the
//! cone. Around a solver of Coulomb's law the passes are the same, since s is the multiplier there
//! too; its last resort is the fixed point on the normal bias of [`crate::coulomb`], with
//! accelerated gradients for its convex problems. [`CircularPasses::solve_coulomb`] solves
//! Coulomb's law by a solver of the convex law: Newton's method on the equations of the law
//! ([`crate::nonsmooth_newton`]) starts from the forces of the step before, or from the first pass.
//! If it does not converge, further passes have the normal bias of the fixed point too,
//! extrapolated in the same way, so direction and slip are found together.
//!
//! # References
//! - J. Nocedal, S. Wright, *Numerical Optimization* (2006), ch. 18: sequential quadratic
//!   programming.

mod axes;
mod by_pyramids;
mod last_resort;

use crate::accelerated_gradient::AcceleratedGradient;
use crate::budget::Budget;
use crate::cone::{Cone, ConeShape, PyramidFit};
use crate::contact_problem::ContactProblem;
use crate::coulomb::{History, slides, support};
use crate::kkt;
use crate::nonsmooth_newton::NonsmoothNewton;
use crate::status::{Outcome, Status};
use legwork_linalg::max_abs;

pub(crate) use axes::pull_inside;
use axes::{is_inside, turn_back, turn_one};
pub use by_pyramids::CircularByPyramids;

/// Law of sliding of the solver of pyramids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlidingLaw {
    /// The convex law: a contact that slides at speed v separates at μ v.
    Convex,
    /// Coulomb's law.
    Coulomb,
}

/// Solves problems with circular cones by a sequence of problems with pyramids.
#[derive(Debug)]
pub struct CircularPasses {
    law: SlidingLaw,
    /// Bounds of accelerated gradients, the last resort.
    pub budget: Budget,
    /// Circumscribed pyramid with four sides.
    pyramid: ConeShape,
    /// `(cos, sin)` of the first axis of each contact.
    directions: Vec<[f64; 2]>,
    inverse_inertia: Vec<f64>,
    bias: Vec<f64>,
    compliance: Vec<f64>,
    acceleration: Vec<f64>,
    best: Vec<f64>,
    /// σ of Coulomb's law by a solver of the convex law; zero else.
    history: History,
    /// Solves Coulomb's law near its solution.
    nonsmooth: NonsmoothNewton,
    /// Solver for problems that the passes do not solve.
    last_resort: AcceleratedGradient,
    /// True if the last problem used it.
    is_last_resort: bool,
    /// True if the last problem was solved from a guess.
    is_from_guess: bool,
}

/// Sides of the pyramids that [`CircularPasses`] uses.
pub const CIRCULAR_SIDES: usize = 4;
/// Largest number of passes.
const PASSES: u32 = 30;
/// Largest number of passes that find the normal bias of Coulomb's law too.
const COULOMB_PASSES: u32 = 40;
/// Those without extrapolation.
const CYCLE_PASSES: std::ops::Range<u32> = 20..26;
/// Natural residual, relative to the force scale, up to which their answer is not sought anew [1].
const ENOUGH: f64 = 1e-5;
/// Natural residual, relative to the force scale, at which the passes end [1].
const TOLERANCE: f64 = 1e-9;
/// Natural residual of an answer that is exact up to rounding [1].
const EXACT: f64 = 1e-12;
/// Natural residual of a solved problem, relative to the force scale [1]. A redundant problem has
/// condition 1e10, and rounding times that is 1e-6.
const SOLVED: f64 = 1e-6;
/// Natural residual up to which an answer may be used, relative to the force scale [1].
const USABLE: f64 = 1e-4;

/// Residuals at which Newton's method ends: at the first always, at the second if it no longer
/// halves [1].
const LIMITS: (f64, f64) = (TOLERANCE, SOLVED);

/// State of a problem before the passes after the first.
enum Begun {
    /// Solved.
    Ended(Outcome),
    /// The answer of the first pass, under which contacts slide.
    Slides(Outcome),
    /// The first pass has none.
    Failed(Outcome),
}

/// A pass: the problem with a pyramid, in turned axes.
#[derive(Clone, Copy, Debug)]
pub struct Pass<'a> {
    /// The problem; its cone is a pyramid of [`CIRCULAR_SIDES`].
    pub problem: ContactProblem<'a>,
    /// `(cos, sin)` of the first tangential axis of each contact in the given axes; empty in the
    /// first pass, which uses the given axes.
    pub directions: &'a [[f64; 2]],
}

impl CircularPasses {
    /// Allocates memory for `contact_count` contacts, around a solver of this law.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a constant")]
    pub fn new(law: SlidingLaw, contact_count: usize) -> Self {
        let four = Cone::Pyramid { sides: CIRCULAR_SIDES, fit: PyramidFit::Circumscribed };
        let mut passes = Self {
            law,
            budget: Budget::DEFAULT,
            pyramid: ConeShape::new(four).expect("a pyramid may have four sides"),
            directions: Vec::new(),
            inverse_inertia: Vec::new(),
            bias: Vec::new(),
            compliance: Vec::new(),
            acceleration: Vec::new(),
            best: Vec::new(),
            history: History::new(contact_count),
            nonsmooth: NonsmoothNewton::new(contact_count),
            last_resort: AcceleratedGradient::new(contact_count, 0, TOLERANCE),
            is_last_resort: false,
            is_from_guess: false,
        };
        passes.reserve(contact_count);
        passes
    }

    fn reserve(&mut self, contact_count: usize) {
        let n = 3 * contact_count;
        self.directions.resize(contact_count, [1.0, 0.0]);
        self.inverse_inertia.resize(n * n, 0.0);
        for vector in [&mut self.bias, &mut self.compliance, &mut self.acceleration, &mut self.best]
        {
            vector.resize(n, 0.0);
        }
    }

    /// True if the last problem was solved from the guess alone: its passes had turned axes only.
    #[must_use]
    pub fn is_from_guess(&self) -> bool {
        self.is_from_guess
    }

    /// Numbers kept for `contact_count` contacts.
    #[must_use]
    pub fn numbers(contact_count: u64) -> u64 {
        9 * contact_count * contact_count
            + 71 * contact_count
            + NonsmoothNewton::numbers(contact_count)
    }

    /// Solves `problem`, whose cone is circular; `pyramid` solves each [`Pass`] and writes its
    /// forces, in the axes of the pass. Allocates only if there are more contacts than before.
    ///
    /// If contacts slide in `guess`, the forces of a problem before (3k, \[N\]), Newton's method
    /// starts there; if that fails, or without a guess, the first pass is made. Without sliding
    /// contacts the guess has no effect.
    ///
    /// `forces` (3k, \[N\]) lie in the cones. The residual of the outcome is that of [`kkt`] for
    /// the law; iterations are those of all passes and of Newton's method.
    ///
    /// # Errors
    /// The first error of `pyramid`.
    ///
    /// # Panics
    /// If a slice of the problem or `forces` has the wrong length.
    pub fn solve<E>(
        &mut self,
        problem: &ContactProblem<'_>,
        forces: &mut [f64],
        guess: Option<&[f64]>,
        mut pyramid: impl FnMut(&Pass<'_>, &mut [f64]) -> Result<Outcome, E>,
    ) -> Result<Outcome, E> {
        match self.begin(problem, forces, guess, self.law, &mut pyramid)? {
            Begun::Ended(outcome) => Ok(outcome),
            Begun::Slides(first) => self.slide(problem, forces, first, pyramid),
            Begun::Failed(found) => match found.status {
                Status::MaxIterations | Status::NumericalTrouble | Status::Undecided => {
                    self.reserve(problem.contact_count());
                    self.best.fill(0.0);
                    Ok(self.by_gradients(problem, forces, f64::INFINITY, found.iterations))
                }
                _ => Ok(found),
            },
        }
    }

    /// Solves Coulomb's law by a solver of the convex law, as [`Self::solve`] does the convex one.
    /// `None` if the passes do not converge; then `forces` are anything.
    ///
    /// # Errors
    /// The first error of `pyramid`.
    ///
    /// # Panics
    /// If a slice of the problem or `forces` has the wrong length.
    pub fn solve_coulomb<E>(
        &mut self,
        problem: &ContactProblem<'_>,
        forces: &mut [f64],
        guess: Option<&[f64]>,
        mut pyramid: impl FnMut(&Pass<'_>, &mut [f64]) -> Result<Outcome, E>,
    ) -> Result<Option<Outcome>, E> {
        let law = SlidingLaw::Coulomb;
        let first = match self.begin(problem, forces, guess, law, &mut pyramid)? {
            Begun::Ended(outcome) => return Ok(Some(outcome)),
            Begun::Slides(first) => first,
            Begun::Failed(_) => return Ok(None),
        };
        self.history.clear(problem.contact_count());
        let (best, iterations) =
            self.newton(problem, forces, (COULOMB_PASSES, law), &mut pyramid)?;
        if best.is_nan() || best > ENOUGH {
            return Ok(None);
        }
        forces.copy_from_slice(&self.best);
        let iterations = iterations.saturating_add(first.iterations);
        Ok(Some(Outcome { status: status_of(best), iterations, residual: best }))
    }

    /// Newton's method from the guess; if it fails, the first pass, and Newton's method from there.
    fn begin<E>(
        &mut self,
        problem: &ContactProblem<'_>,
        forces: &mut [f64],
        guess: Option<&[f64]>,
        law: SlidingLaw,
        pyramid: &mut impl FnMut(&Pass<'_>, &mut [f64]) -> Result<Outcome, E>,
    ) -> Result<Begun, E> {
        (self.is_last_resort, self.is_from_guess) = (false, false);
        let mut iterations = 0u32;
        if let Some(guess) = guess.filter(|guess| slides(problem, guess)) {
            let (residual, steps) = self.nonsmooth.solve(problem, guess, law, LIMITS);
            if residual <= SOLVED {
                self.is_from_guess = true;
                forces.copy_from_slice(&self.nonsmooth.best);
                let status = Status::Solved;
                return Ok(Begun::Ended(Outcome { status, iterations: steps, residual }));
            }
            iterations = steps;
            forces.fill(0.0);
        }
        let first = ContactProblem { cone: &self.pyramid, ..*problem };
        let found = pyramid(&Pass { problem: first, directions: &[] }, forces)?;
        iterations = iterations.saturating_add(found.iterations);
        let found = Outcome { iterations, ..found };
        if !found.status.is_usable() {
            return Ok(Begun::Failed(found));
        }
        let is_lifted = law != self.law;
        if is_inside(problem, forces) && !(is_lifted && self.slips(problem, forces, found)) {
            return Ok(Begun::Ended(found));
        }
        let (residual, steps) = self.nonsmooth.solve(problem, forces, law, LIMITS);
        let iterations = iterations.saturating_add(steps);
        if residual <= SOLVED {
            forces.copy_from_slice(&self.nonsmooth.best);
            return Ok(Begun::Ended(Outcome { status: Status::Solved, iterations, residual }));
        }
        Ok(Begun::Slides(Outcome { iterations, ..found }))
    }

    /// True if a contact slides under these forces, the answer of a solver of the convex law. One
    /// just below the limit of friction may slide too, as far as that law is met; then the
    /// residuals of the laws differ.
    fn slips(&mut self, problem: &ContactProblem<'_>, forces: &[f64], found: Outcome) -> bool {
        if slides(problem, forces) || found.residual <= EXACT {
            return slides(problem, forces);
        }
        self.reserve(problem.contact_count());
        let residual = self.residual(problem, forces, SlidingLaw::Coulomb);
        residual > TOLERANCE.max(2.0 * found.residual)
    }

    /// Solves the passes after the first.
    fn slide<E>(
        &mut self,
        problem: &ContactProblem<'_>,
        forces: &mut [f64],
        first: Outcome,
        mut pyramid: impl FnMut(&Pass<'_>, &mut [f64]) -> Result<Outcome, E>,
    ) -> Result<Outcome, E> {
        let passes = (PASSES - 1, self.law);
        let (best, iterations) = self.newton(problem, forces, passes, &mut pyramid)?;
        let iterations = iterations.saturating_add(first.iterations);
        if self.is_accepted(problem, best) {
            forces.copy_from_slice(&self.best);
            return Ok(Outcome { status: status_of(best), iterations, residual: best });
        }
        Ok(self.by_gradients(problem, forces, best, iterations))
    }

    /// True if the passes may end with this residual: rounding is relative to the largest force.
    fn is_accepted(&self, problem: &ContactProblem<'_>, best: f64) -> bool {
        let largest = max_abs(&self.best) / problem.force_scale;
        best <= SOLVED * largest.max(1.0) && best <= USABLE
    }

    /// Newton's passes from `forces`, so many, for this law: the smallest residual, whose forces are
    /// `best`, and the iterations of the solver.
    fn newton<E>(
        &mut self,
        problem: &ContactProblem<'_>,
        forces: &mut [f64],
        (passes, law): (u32, SlidingLaw),
        pyramid: &mut impl FnMut(&Pass<'_>, &mut [f64]) -> Result<Outcome, E>,
    ) -> Result<(f64, u32), E> {
        self.reserve(problem.contact_count());
        let is_shifted = law != self.law;
        pull_inside(problem, forces);
        let mut residual = self.residual(problem, forces, law);
        let (mut best, mut iterations, mut last) = (residual, 0u32, f64::INFINITY);
        self.best.copy_from_slice(forces);
        for pass in 0..passes {
            // Quadratic convergence ends at the level of rounding.
            if best <= TOLERANCE || best <= SOLVED && residual > 0.5 * last {
                break;
            }
            if is_shifted {
                // Shorter steps for some passes end cycles.
                let share = if CYCLE_PASSES.contains(&pass) { 0.5 } else { 1.0 };
                self.history.advance(share, |i| support(problem, &self.acceleration, i));
            }
            self.turn(problem, forces);
            if is_shifted {
                let normals = self.bias.iter_mut().skip(2).step_by(3);
                normals.zip(&self.history.support).for_each(|(bias, support)| *bias += support);
            }
            let turned = ContactProblem {
                inverse_inertia: &self.inverse_inertia,
                bias: &self.bias,
                compliance: &self.compliance,
                cone: &self.pyramid,
                regularisation: 0.0,
                ..*problem
            };
            let pass = Pass { problem: turned, directions: &self.directions };
            let found = pyramid(&pass, forces)?;
            iterations = iterations.saturating_add(found.iterations);
            if !found.status.is_usable() {
                break;
            }
            turn_back(&self.directions, forces);
            pull_inside(problem, forces);
            last = residual;
            residual = self.residual(problem, forces, law);
            if residual < best || best.is_nan() {
                best = residual;
                self.best.copy_from_slice(forces);
            }
        }
        Ok((best, iterations))
    }

    /// Residual of the law; computes the acceleration that these forces cause.
    fn residual(&mut self, problem: &ContactProblem<'_>, forces: &[f64], law: SlidingLaw) -> f64 {
        match law {
            SlidingLaw::Convex => kkt::natural_residual(problem, forces, &mut self.acceleration),
            SlidingLaw::Coulomb => kkt::coulomb_residual(problem, forces, &mut self.acceleration),
        }
    }

    /// Transforms the problem into axes along the friction of these forces, whose contact
    /// accelerations are known, and adds the curvature of the cones to R.
    fn turn(&mut self, problem: &ContactProblem<'_>, forces: &[f64]) {
        let n = problem.dim();
        self.inverse_inertia.copy_from_slice(problem.inverse_inertia);
        self.bias.copy_from_slice(problem.bias);
        self.compliance.fill(0.0);
        self.compliance[..problem.compliance.len()].copy_from_slice(problem.compliance);
        // The shift of the given problem: the mean diagonal of the new one contains κ.
        let shift = problem.diagonal_shift();
        self.compliance.iter_mut().for_each(|r| *r += shift);
        for i in 0..problem.contact_count() {
            let at = 3 * i;
            let (mu, f, a) = (problem.friction[i], &forces[at..], &self.acceleration[at..]);
            self.directions[i] = [1.0, 0.0];
            if mu <= 0.0 || !problem.is_active(i) {
                continue;
            }
            // Direction of friction if the contact were alone.
            let largest =
                (at..at + 3).map(|row| problem.inverse_inertia[row * (n + 1)]).fold(0.0, f64::max);
            let rho = if largest > 0.0 { 1.0 / largest } else { 1.0 };
            let toward = [f[0] - rho * a[0], f[1] - rho * a[1]];
            let size = libm::sqrt(toward[0] * toward[0] + toward[1] * toward[1]);
            if !(size > 0.0 && size.is_finite()) {
                continue;
            }
            let [c, s] = toward.map(|x| x / size);
            self.directions[i] = [c, s];
            // κ is limited so that it does not hide the rest of the matrix.
            let (slip, reach) = (-(c * a[0] + s * a[1]), mu * f[2]);
            let most = STIFFEST * largest;
            let curvature = if slip <= 0.0 || reach <= 0.0 { 0.0 } else { slip / reach };
            let [r1, r2] = [self.compliance[at], self.compliance[at + 1]];
            self.compliance[at] = c * c * r1 + s * s * r2;
            self.compliance[at + 1] = s * s * r1 + c * c * r2 + curvature.min(most);
            // If the tangential entries of R differ, R is not diagonal in turned axes.
            let mixed = c * s * (r2 - r1);
            turn_one([c, s], &mut self.bias[at..at + 3]);
            for column in self.inverse_inertia.chunks_exact_mut(n) {
                turn_one([c, s], &mut column[at..at + 3]);
            }
            let (first, second) = self.inverse_inertia[at * n..(at + 2) * n].split_at_mut(n);
            for (x, y) in first.iter_mut().zip(second) {
                (*x, *y) = (c * *x + s * *y, c * *y - s * *x);
            }
            self.inverse_inertia[at * n + at + 1] += mixed;
            self.inverse_inertia[(at + 1) * n + at] += mixed;
        }
    }
}

/// Status for a natural residual.
fn status_of(residual: f64) -> Status {
    match residual {
        r if r <= SOLVED => Status::Solved,
        r if r <= USABLE => Status::Inaccurate,
        _ => Status::MaxIterations,
    }
}

/// Largest compliance across the slip, over the largest diagonal entry of a contact.
const STIFFEST: f64 = 1e6;

#[cfg(test)]
mod tests;
