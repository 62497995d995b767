//! Whether a contact problem has no solution, from where an iteration was heading.
//!
//! On a problem without solution the iterates of a descent method grow along a direction d of the
//! cones with `Hd = 0` and `bᵀd < 0`, `H = G + R + εI`; what they head for tends to it, if slowly.
//! Conjugate gradients on `½ dᵀHd` take out what is left of Hd, the projection brings d back into
//! the cones, and [`kkt::least_solution`] is the judge.

use crate::contact_problem::ContactProblem;
use crate::kkt;
use legwork_linalg::cancel::check;
use legwork_linalg::{axpy, dot, max_abs};

/// Typical forces beyond which a solution counts as none; the default regularisation holds every
/// solution below.
const NONE: f64 = 1e12;
/// Typical forces that a direction must exclude to be looked at.
const SUSPECT: f64 = 1e2;
/// Most projections.
const ROUNDS: u32 = 300;
/// Share of the mean diagonal at which Hd is rounding.
const FLAT: f64 = 1e-15;

/// A test for problems without solution; memory grows on the first problem of a size.
#[derive(Clone, Debug, Default)]
pub(crate) struct Descent {
    /// d, Hd, and the step p of the conjugate gradients with Hp.
    direction: Vec<f64>,
    image: Vec<f64>,
    step: Vec<f64>,
    step_image: Vec<f64>,
}

impl Descent {
    /// Memory for problems of `contact_count` contacts.
    pub(crate) fn new(contact_count: usize) -> Self {
        let mut descent = Self::default();
        descent.reserve(3 * contact_count);
        descent
    }

    fn reserve(&mut self, dim: usize) {
        let Self { direction, image, step, step_image } = self;
        for values in [direction, image, step, step_image] {
            values.resize(dim, 0.0);
        }
    }

    /// Whether a direction near `heading`, forces of any size, proves that there is no solution.
    pub(crate) fn is_found(
        &mut self,
        problem: &ContactProblem<'_>,
        heading: impl Iterator<Item = f64>,
    ) -> bool {
        self.reserve(problem.dim());
        self.direction.iter_mut().zip(heading).for_each(|(d, heading)| *d = heading);
        for round in 0..ROUNDS {
            self.project(problem);
            let least = kkt::least_solution(problem, &self.direction, &mut self.image);
            if least >= NONE {
                return true;
            }
            if least == 0.0 || (round == 0 && least < SUSPECT) {
                return false;
            }
            self.flatten(problem);
        }
        false
    }

    /// d on the cones, with a largest entry of 1.
    fn project(&mut self, problem: &ContactProblem<'_>) {
        let largest = max_abs(&self.direction);
        for (contact, d) in self.direction.chunks_exact_mut(3).enumerate() {
            let unit = [d[0] / largest, d[1] / largest, d[2] / largest];
            let is_kept = problem.is_active(contact) && unit.iter().all(|v| v.is_finite());
            let mu = problem.friction[contact];
            d.copy_from_slice(&if is_kept { problem.cone.project(mu, unit) } else { [0.0; 3] });
        }
    }

    /// Conjugate gradients on `½ dᵀHd` from d, whose Hd is in `image`: as many steps as unknowns
    /// end, but for rounding, at the direction of the null space that is nearest.
    fn flatten(&mut self, problem: &ContactProblem<'_>) {
        let Self { direction, image, step, step_image } = self;
        let act = |image: &mut [f64]| {
            let blocks = image.chunks_exact_mut(3).enumerate();
            blocks.filter(|(c, _)| !problem.is_active(*c)).for_each(|(_, block)| block.fill(0.0));
        };
        let flat = FLAT * problem.mean_diagonal();
        act(image);
        step.copy_from_slice(image);
        let mut square = dot(image, image);
        for _ in 0..problem.dim() {
            check();
            step_image.fill(0.0);
            problem.add_product(step, step_image);
            act(step_image);
            let length = square / dot(step, step_image);
            // Nothing is left, or H is zero along what is.
            if !length.is_finite() || max_abs(image) <= flat {
                break;
            }
            axpy(-length, step, direction);
            axpy(-length, step_image, image);
            let next = dot(image, image);
            for (p, r) in step.iter_mut().zip(&*image) {
                *p = r + next / square * *p;
            }
            square = next;
        }
    }
}
