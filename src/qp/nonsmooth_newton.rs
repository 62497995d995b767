//! Newton's method on the equations of a law of sliding, for the circular cone.
//!
//! Coulomb's law is the root of the map of Alart and Curnier, with `y = f − ρ a` and P the
//! projection on a disc: `f_n = max(0, y_n)`, `f_t = P(y_t; μ max(0, y_n))`. A step of Newton's
//! method solves the linear equations of the piece of the map that y selects, contact by contact:
//!
//! | piece | selected by | equations |
//! |---|---|---|
//! | apart | `y_n ≤ 0` | `f = 0` |
//! | sticking | `‖y_t‖ ≤ μ y_n` | `a = 0` |
//! | sliding | `‖y_t‖ > μ y_n` | `a_n = 0`, `f_d = μ f_n`, `a_e + κ f_e = 0` |
//!
//! with `d = y_t / ‖y_t‖`, e across it, and the curvature `κ = (‖y_t‖ − μ y_n) / (ρ μ y_n)`. The
//! equations of a sliding contact are not symmetric, since friction follows the normal force and
//! not the reverse. Convergence is quadratic near a solution. From afar, and if contacts are
//! redundant, the pieces may go round in circles: then a second attempt adds η times the change of
//! each unknown to its equation (a proximal step) until the pieces repeat. The caller needs another
//! method for what is left.
//!
//! The convex law has the projection on the cone in the place of the map, and in the place of
//! `a_n = 0` for a sliding contact `a_n + μ a_d = 0`.
//!
//! # References
//! P. Alart, A. Curnier, *A mixed formulation for frictional contact problems prone to Newton like
//! solution methods*, Comput. Methods Appl. Mech. Eng. 92 (1991).

use std::ops::Range;

use legwork_linalg::{Lu, all_finite, axpy};

use crate::circular::{SlidingLaw, pull_inside};
use crate::contact_problem::ContactProblem;
use crate::kkt;

/// Largest number of steps without damping, and with it.
const PURE_STEPS: u32 = 6;
const DAMPED_STEPS: u32 = 24;
/// Damping, over the mean diagonal [1].
const DAMPING: f64 = 1e-2;
/// Largest curvature, over the largest diagonal entry of the contact.
const STIFFEST: f64 = 1e12;

/// The method, with its memory.
#[derive(Debug)]
pub(crate) struct NonsmoothNewton {
    /// Forces of the smallest residual, 3k [N].
    pub(crate) best: Vec<f64>,
    forces: Vec<f64>,
    acceleration: Vec<f64>,
    unknowns: Vec<Unknown>,
    /// `H f` of the force of one unknown.
    column: Vec<f64>,
    /// Rows of each contact's columns of G from the first to one past the last that is not zero:
    /// contacts of other bodies are outside.
    coupled: Vec<Range<usize>>,
    /// Right side of the equations, then the unknowns.
    values: Vec<f64>,
    lu: Lu,
    /// Piece of each contact: how many unknowns it has.
    pieces: Vec<u8>,
}

/// An unknown force of a contact and the equation that goes with it.
#[derive(Debug, Clone, Copy)]
struct Unknown {
    /// First row of the contact.
    at: usize,
    /// Force per unit of the unknown.
    force: [f64; 3],
    /// Direction of the acceleration in the equation.
    row: [f64; 3],
    /// κ.
    curvature: f64,
}

impl NonsmoothNewton {
    /// Memory for `contact_count` contacts.
    pub(crate) fn new(contact_count: usize) -> Self {
        let n = 3 * contact_count;
        Self {
            best: vec![0.0; n],
            forces: vec![0.0; n],
            acceleration: vec![0.0; n],
            unknowns: Vec::with_capacity(n),
            column: vec![0.0; n],
            coupled: vec![0..0; contact_count],
            values: Vec::with_capacity(n),
            lu: Lu::new(n),
            pieces: vec![0; contact_count],
        }
    }

    /// Numbers kept for `contact_count` contacts.
    pub(crate) fn numbers(contact_count: u64) -> u64 {
        9 * contact_count * contact_count + 48 * contact_count
    }

    /// Steps from `start` (3k, \[N\]) until the residual is at most `tolerance`, or at most
    /// `enough` and no longer halves. Returns the smallest residual, whose forces are `best`, and
    /// the number of steps. Allocates only if there are more contacts than before.
    pub(crate) fn solve(
        &mut self,
        problem: &ContactProblem<'_>,
        start: &[f64],
        law: SlidingLaw,
        limits: (f64, f64),
    ) -> (f64, u32) {
        let (residual, steps) = self.solve_with((problem, law), start, limits, (0.0, PURE_STEPS));
        if residual <= limits.1 {
            return (residual, steps);
        }
        let (residual, more) =
            self.solve_with((problem, law), start, limits, (DAMPING, DAMPED_STEPS));
        (residual, steps + more)
    }

    /// As [`Self::solve`], with this damping and number of steps.
    fn solve_with(
        &mut self,
        (problem, law): (&ContactProblem<'_>, SlidingLaw),
        start: &[f64],
        (tolerance, enough): (f64, f64),
        (damping, steps): (f64, u32),
    ) -> (f64, u32) {
        self.begin(problem, start);
        let (mut best, mut last) = (f64::INFINITY, f64::INFINITY);
        for step in 0..=steps {
            pull_inside(problem, &mut self.forces);
            let residual = residual_of((problem, law), &self.forces, &mut self.acceleration);
            if residual < best {
                best = residual;
                self.best.copy_from_slice(&self.forces);
            }
            if best <= tolerance || best <= enough && residual > 0.5 * last || step == steps {
                return (self.without_pull((problem, law), best), step);
            }
            last = residual;
            let is_same = self.select((problem, law));
            let damping = if is_same { 0.0 } else { damping * problem.mean_diagonal() };
            if !self.step(problem, damping) {
                return (self.without_pull((problem, law), best), step);
            }
        }
        (best, steps)
    }

    fn begin(&mut self, problem: &ContactProblem<'_>, start: &[f64]) {
        let n = problem.dim();
        for vector in [&mut self.best, &mut self.acceleration, &mut self.column] {
            vector.resize(n, 0.0);
        }
        self.pieces.clear();
        self.pieces.resize(problem.contact_count(), u8::MAX);
        self.coupled.clear();
        self.coupled.extend((0..problem.contact_count()).map(|i| coupled(problem, i)));
        self.forces.clear();
        self.forces.extend_from_slice(start);
        for (i, force) in self.forces.chunks_exact_mut(3).enumerate() {
            if !problem.is_active(i) {
                force.fill(0.0);
            }
        }
    }

    /// The residual of `best` without normal forces that pull.
    fn without_pull(
        &mut self,
        (problem, law): (&ContactProblem<'_>, SlidingLaw),
        residual: f64,
    ) -> f64 {
        if self.best.iter().skip(2).step_by(3).all(|normal| *normal >= 0.0) {
            return residual;
        }
        self.best.iter_mut().skip(2).step_by(3).for_each(|normal| *normal = normal.max(0.0));
        pull_inside(problem, &mut self.best);
        residual_of((problem, law), &self.best, &mut self.acceleration)
    }

    /// Lists the unknowns of the pieces at the present forces and accelerations; true if the pieces
    /// are those of the step before.
    fn select(&mut self, (problem, law): (&ContactProblem<'_>, SlidingLaw)) -> bool {
        let mut is_same = true;
        let (n, shift) = (problem.dim(), problem.diagonal_shift());
        self.unknowns.clear();
        for i in (0..problem.contact_count()).filter(|&i| problem.is_active(i)) {
            let at = 3 * i;
            let (mu, f, a) = (problem.friction[i], &self.forces[at..], &self.acceleration[at..]);
            let largest = (at..at + 3)
                .map(|row| problem.inverse_inertia[row * (n + 1)] + problem.compliance_of(row))
                .fold(0.0, f64::max)
                + shift;
            let rho = if largest > 0.0 { 1.0 / largest } else { 1.0 };
            let [x, y, normal] = [0, 1, 2].map(|axis| f[axis] - rho * a[axis]);
            let size = libm::sqrt(x * x + y * y);
            // The normal force of the projection, should the contact slide.
            let pressed = match law {
                SlidingLaw::Coulomb => normal,
                SlidingLaw::Convex => (normal + mu * size) / (1.0 + mu * mu),
            };
            let piece = match () {
                () if pressed <= 0.0 => 0,
                () if size <= mu * normal => 3,
                () if mu > 0.0 => 2,
                () => 1,
            };
            is_same &= std::mem::replace(&mut self.pieces[i], piece) == piece;
            let mut add = |force: [f64; 3], row: [f64; 3], curvature: f64| {
                self.unknowns.push(Unknown { at, force, row, curvature });
            };
            if piece == 3 {
                for axis in 0..3 {
                    let unit = [0, 1, 2].map(|i| if i == axis { 1.0 } else { 0.0 });
                    add(unit, unit, 0.0);
                }
            } else if piece > 0 {
                let [c, s] = [x / size, y / size];
                let along = [mu * c, mu * s, 1.0];
                let row = if law == SlidingLaw::Convex { along } else { [0.0, 0.0, 1.0] };
                add(along, row, 0.0);
                if piece == 2 {
                    let reach = mu * pressed;
                    let curvature =
                        ((size - reach) / (rho * reach)).max(0.0).min(STIFFEST * largest);
                    add([-s, c, 0.0], [-s, c, 0.0], curvature);
                }
            }
        }
        is_same
    }

    /// Solves the equations of the listed unknowns, with `damping` [1/kg] times their change; false
    /// if they are singular.
    fn step(&mut self, problem: &ContactProblem<'_>, damping: f64) -> bool {
        let Self { unknowns, column, coupled, values, lu, forces, .. } = self;
        let (n, shift) = (problem.dim(), problem.diagonal_shift());
        lu.resize(unknowns.len());
        for (matrix, unknown) in
            lu.matrix_mut().chunks_exact_mut(unknowns.len().max(1)).zip(&*unknowns)
        {
            let rows = &coupled[unknown.at / 3];
            column[rows.clone()].fill(0.0);
            for (axis, &force) in unknown.force.iter().enumerate().filter(|(_, f)| **f != 0.0) {
                let row = unknown.at + axis;
                let response = &problem.inverse_inertia[row * n..][rows.clone()];
                axpy(force, response, &mut column[rows.clone()]);
                column[row] += (problem.compliance_of(row) + shift) * force;
            }
            for (entry, equation) in matrix.iter_mut().zip(&*unknowns) {
                if !rows.contains(&equation.at) {
                    *entry = 0.0;
                    continue;
                }
                *entry = along(equation, column);
                if equation.at == unknown.at && equation.row == unknown.row {
                    *entry += damping + unknown.curvature;
                }
            }
        }
        values.clear();
        values.extend(
            unknowns.iter().map(|equation| {
                damping * present(equation, forces) - along(equation, problem.bias)
            }),
        );
        if lu.factor(0.0).is_err() {
            return false;
        }
        lu.solve(values);
        forces.fill(0.0);
        for (unknown, value) in unknowns.iter().zip(&*values) {
            for (f, part) in forces[unknown.at..].iter_mut().zip(unknown.force) {
                *f += part * value;
            }
        }
        all_finite(forces)
    }
}

/// Rows of contact i's columns of G from its own or the first to one past the last that is not
/// zero, in whole contacts.
fn coupled(problem: &ContactProblem<'_>, i: usize) -> Range<usize> {
    let n = problem.dim();
    let columns = problem.inverse_inertia[3 * i * n..3 * (i + 1) * n].chunks_exact(n.max(1));
    let is_zero = |contact: usize| {
        columns.clone().all(|column| column[3 * contact..3 * contact + 3] == [0.0; 3])
    };
    let count = problem.contact_count();
    let first = (0..i).find(|&contact| !is_zero(contact)).unwrap_or(i);
    let last = (i + 1..count).rfind(|&contact| !is_zero(contact)).unwrap_or(i);
    3 * first..3 * (last + 1)
}

/// The present value of an unknown.
#[inline]
fn present(unknown: &Unknown, forces: &[f64]) -> f64 {
    // A normal force carries friction with it, and no other unknown has a normal part.
    if unknown.force[2] == 0.0 { along(unknown, forces) } else { forces[unknown.at + 2] }
}

fn residual_of(
    (problem, law): (&ContactProblem<'_>, SlidingLaw),
    forces: &[f64],
    acceleration: &mut [f64],
) -> f64 {
    match law {
        SlidingLaw::Coulomb => kkt::coulomb_residual(problem, forces, acceleration),
        SlidingLaw::Convex => kkt::natural_residual(problem, forces, acceleration),
    }
}

/// The left side of an equation at these accelerations.
#[inline]
fn along(equation: &Unknown, acceleration: &[f64]) -> f64 {
    let [x, y, z] = equation.row;
    let a = &acceleration[equation.at..equation.at + 3];
    x * a[0] + y * a[1] + z * a[2]
}

#[cfg(test)]
mod tests;
