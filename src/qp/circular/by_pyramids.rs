//! Any solver of pyramids as a solver of circular cones.

use crate::circular::{CircularPasses, SlidingLaw};
use crate::method::{ContactMethod, Given};
use crate::status::Outcome;

/// Makes any solver of pyramids solve problems with circular cones.
#[doc(alias("second-order cone", "SQP"))]
#[derive(Debug)]
pub struct CircularByPyramids<S> {
    /// The solver of pyramids.
    pub inner: S,
    pub(super) passes: CircularPasses,
}

impl<S: ContactMethod> CircularByPyramids<S> {
    /// Wraps `inner`, which solves the convex law, with memory for `contact_count` contacts; see
    /// [`CircularPasses`].
    #[must_use]
    pub fn new(inner: S, contact_count: usize) -> Self {
        Self { inner, passes: CircularPasses::new(SlidingLaw::Convex, contact_count) }
    }
}

impl<S: ContactMethod> ContactMethod for CircularByPyramids<S> {
    /// Solves circular cones like [`CircularPasses::solve`], and pyramids by the inner solver.
    fn solve_warm(&mut self, given: &Given<'_>, _: &mut [f64], forces: &mut [f64]) -> Outcome {
        let (Self { inner, passes }, problem) = (self, &given.problem);
        passes.budget = given.budget;
        if problem.cone.sides() > 0 {
            return inner.solve(problem, forces);
        }
        let solved: Result<Outcome, std::convert::Infallible> =
            passes.solve(problem, forces, None, |pass, forces| {
                Ok(inner.solve(&pass.problem, forces))
            });
        solved.unwrap_or_else(|never| match never {})
    }
}
