//! All solutions of Coulomb's law on a pyramid, mode by mode.
//!
//! The law may have many solutions ([`super::StewartTrinkleSolver`] finds one): the torques of a
//! controller then jump from one to another from step to step. The remedy of Zapolsky and
//! Drumwright is to list them all and to take the one nearest to the last, at the cost of 2ⁿ bases
//! of n = k (m + 2) pairs. Most bases are meaningless, though; with m edges a contact has 2 + 2m
//! modes:
//!
//! | mode | force | equations |
//! |---|---|---|
//! | apart | 0 | |
//! | sticking | any in the pyramid | `a = 0` |
//! | sliding along edge j | `u e_j` | `a_n = 0` |
//! | sliding between edges j, j + 1 | `u e_j + v e_{j+1}` | `a_n = 0`, `d_jᵀ a_t = d_{j+1}ᵀ a_t` |
//!
//! with e_j the edge of the pyramid and d_j its tangential direction. The rest are inequalities:
//! forces in the pyramid, `a_n ≥ 0` of contacts apart, and `d_jᵀ a_t ≤ d_iᵀ a_t` for all edges i of
//! those that slide. So k contacts are (2 + 2m)ᵏ systems of at most 3k unknowns, 1000 of at most 9
//! for three contacts and four edges.
//!
//! Where contacts that stick are redundant the system of a mode is singular, and its solutions are
//! a polytope. Of them the nearest is found by a quadratic program.
//!
//! # References
//! S. Zapolsky, E. Drumwright, *Inverse dynamics with rigid contact and friction*, Auton. Robots 41
//! (2017), section 5.3 and algorithm 3 (`MINDIFF`), which goes through the bases.

mod system;

use crate::active_set::GeneralActiveSet;
use crate::contact_problem::ContactProblem;
use crate::general::Qp;
use crate::status::{Outcome, Status};
use legwork_linalg::cancel::check;
use legwork_linalg::{axpy, dot, max_abs};
use system::System;

/// The measure of distance: `|T f − t|²`. p rows.
#[derive(Clone, Copy, Debug)]
pub struct Nearness<'a> {
    /// T, p × 3k, column-major.
    pub matrix: &'a [f64],
    /// t; its length is p.
    pub target: &'a [f64],
}

/// How far, relative to the problem's scale, inequalities and equations may be from holding.
const TOLERANCE: f64 = 1e-10;
/// Weight of the forces themselves against nearness, where that leaves a choice.
const FORCE_WEIGHT: f64 = 1e-9;
/// A solution must be nearer by this fraction to replace one that was found earlier, so that
/// rounding does not choose between a mode and its neighbour on the common border.
const NEARER: f64 = 1e-9;

/// Enumeration of the solutions of Coulomb's law on a pyramid; see the module docs.
///
/// Memory grows on the first problem of a size and is kept.
#[doc(alias("MINDIFF", "enumeration"))]
#[derive(Clone, Debug, Default)]
pub struct CoulombModes {
    /// Mode of each contact.
    modes: Vec<usize>,
    /// `G + R + ε I` over all contacts.
    matrix: Vec<f64>,
    /// Root of the scale of accelerations per force, of each contact.
    scale: Vec<f64>,
    system: System,
    forces: Vec<f64>,
    acceleration: Vec<f64>,
    best: Vec<f64>,
    qp: ModeQp,
}

/// The quadratic program of a mode with many solutions.
#[derive(Clone, Debug, Default)]
struct ModeQp {
    solver: GeneralActiveSet,
    hessian: Vec<f64>,
    gradient: Vec<f64>,
    rows: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    z: Vec<f64>,
    /// `T E Z`, p × dimension.
    images: Vec<f64>,
    rest: Vec<f64>,
    /// Forces and accelerations of the columns of Z.
    moves: Vec<f64>,
    values: Vec<f64>,
    at_zero: Vec<f64>,
}

impl CoulombModes {
    /// Largest number of contacts for which modes are enumerated.
    pub const MOST_CONTACTS: usize = 3;

    /// The solution nearest by `nearness`, and how many there are: modes that have one, so that a
    /// solution on the border of two counts twice, and a polytope once.
    ///
    /// | symbol | argument | shape | meaning |
    /// |---|---|---|---|
    /// | G, b, μ | `problem` | | the contacts, at most [`Self::MOST_CONTACTS`] |
    /// | T, t | `nearness` | | the measure |
    /// | f | `forces` | 3k | written, if the status is usable [N] |
    ///
    /// `iterations` of the outcome counts the systems. [`Status::Undecided`]: no mode has a
    /// solution up to rounding, or there are too many contacts.
    ///
    /// # Panics
    /// If a slice has the wrong length.
    pub fn nearest(
        &mut self,
        problem: &ContactProblem<'_>,
        nearness: &Nearness<'_>,
        forces: &mut [f64],
    ) -> (Outcome, u32) {
        assert_eq!(forces.len(), problem.dim(), "forces need 3k values");
        let mut best = std::mem::take(&mut self.best);
        best.clear();
        best.resize(forces.len(), 0.0);
        let (mut least, mut count) = (f64::INFINITY, 0);
        let outcome = self.each(problem, nearness, |forces, distance| {
            count += 1;
            if distance < least * (1.0 - NEARER) || count == 1 {
                least = distance;
                best.copy_from_slice(forces);
            }
        });
        if outcome.status.is_usable() {
            forces.copy_from_slice(&best);
        }
        self.best = best;
        (outcome, count)
    }

    /// Calls `visit` with the forces (3k, \[N\]) of every solution and its `|T f − t|²`, in a fixed
    /// order.
    ///
    /// # Panics
    /// If a slice has the wrong length.
    pub fn each(
        &mut self,
        problem: &ContactProblem<'_>,
        nearness: &Nearness<'_>,
        mut visit: impl FnMut(&[f64], f64),
    ) -> Outcome {
        let (k, n) = (problem.contact_count(), problem.dim());
        assert_eq!(nearness.matrix.len(), nearness.target.len() * n, "T must be p x 3k");
        if let Some(status) = problem.refuse() {
            return Outcome::refused(status);
        }
        let sides = problem.cone.sides();
        if sides == 0 {
            return Outcome::refused(Status::UnsupportedCone);
        }
        if k > Self::MOST_CONTACTS {
            return Outcome::refused(Status::Undecided);
        }
        self.set(problem);
        let mut iterations = 0;
        let (mut found, mut residual) = (false, 0.0f64);
        loop {
            check();
            iterations += 1;
            if let Some(error) = self.solve_mode(problem, nearness) {
                found = true;
                residual = residual.max(error);
                visit(&self.forces, distance(nearness, &self.forces));
            }
            if !self.advance(problem) {
                break;
            }
        }
        let status = if found { Status::Solved } else { Status::Undecided };
        Outcome { status, iterations, residual }
    }

    fn set(&mut self, problem: &ContactProblem<'_>) {
        let (k, n) = (problem.contact_count(), problem.dim());
        self.modes.clear();
        self.modes.resize(k, 0);
        self.matrix.clear();
        self.matrix.extend_from_slice(problem.inverse_inertia);
        let shift = problem.diagonal_shift();
        for i in 0..n {
            self.matrix[i * n + i] += problem.compliance_of(i) + shift;
        }
        self.scale.clear();
        let matrix = &self.matrix;
        self.scale.extend((0..k).map(|c| {
            let trace: f64 = (3 * c..3 * c + 3).map(|i| matrix[i * n + i]).sum();
            if trace > 0.0 { (trace / 3.0).sqrt() } else { 1.0 }
        }));
        for v in [&mut self.forces, &mut self.acceleration] {
            v.clear();
            v.resize(n, 0.0);
        }
    }

    /// The next tuple of modes; false after the last.
    fn advance(&mut self, problem: &ContactProblem<'_>) -> bool {
        for (contact, mode) in self.modes.iter_mut().enumerate() {
            *mode += 1;
            if *mode < mode_count(problem, contact) {
                return true;
            }
            *mode = 0;
        }
        false
    }

    /// Leaves the forces of the present modes in `forces`; the relative error, or `None` if they
    /// have no solution.
    fn solve_mode(&mut self, problem: &ContactProblem<'_>, nearness: &Nearness<'_>) -> Option<f64> {
        self.system.reset();
        for contact in 0..self.modes.len() {
            if problem.is_active(contact) {
                let mode = Mode::of(problem, contact, self.modes[contact]);
                mode.write(problem, contact, self.scale[contact], &mut self.system);
            } else if self.modes[contact] != 0 {
                return None;
            }
        }
        self.system.solve(&self.matrix, problem.bias);
        self.system.forces(&mut self.forces);
        if self.system.nullity() > 0 && !self.choose(problem, nearness) {
            return None;
        }
        self.error(problem)
    }

    /// The worst of the conditions, if it is up to the tolerance.
    fn error(&mut self, problem: &ContactProblem<'_>) -> Option<f64> {
        self.accelerate(problem.bias);
        let scales = self.scales(problem);
        let mut worst = 0.0f64;
        for equation in self.system.equations(&self.acceleration) {
            worst = worst.max(equation.abs() / scales[1]);
        }
        let (forces, acceleration) = (&self.forces, &self.acceleration);
        each_inequality(problem, &self.modes, forces, acceleration, |kind, value| {
            worst = worst.max(-value / scales[kind]);
        });
        (worst <= TOLERANCE).then_some(worst)
    }

    /// Sizes of forces and of accelerations.
    fn scales(&self, problem: &ContactProblem<'_>) -> [f64; 2] {
        let largest = max_abs(&self.forces).max(problem.force_scale);
        let diagonal = self.scale.iter().fold(0.0f64, |m, s| m.max(s * s));
        [largest, (largest * diagonal).max(max_abs(problem.bias))]
    }

    /// `a = H f + b`.
    fn accelerate(&mut self, bias: &[f64]) {
        let n = self.forces.len();
        self.acceleration.copy_from_slice(bias);
        for (column, f) in self.matrix.chunks_exact(n.max(1)).zip(&self.forces) {
            axpy(*f, column, &mut self.acceleration);
        }
    }

    /// Of the forces `f_p + Z z` of a singular system the nearest that satisfy the inequalities;
    /// false if none do.
    fn choose(&mut self, problem: &ContactProblem<'_>, nearness: &Nearness<'_>) -> bool {
        let (n, count, p) = (self.forces.len(), self.system.nullity(), nearness.target.len());

        // The inequalities at f_p, each in units of its kind.
        self.accelerate(problem.bias);
        let scales = self.scales(problem);
        let qp = &mut self.qp;
        qp.at_zero.clear();
        each_inequality(problem, &self.modes, &self.forces, &self.acceleration, |kind, value| {
            qp.at_zero.push(value / scales[kind]);
        });
        let m = qp.at_zero.len();
        // z is in units of the force scale.
        qp.rows.clear();
        qp.moves.clear();
        qp.images.clear();
        for j in 0..count {
            qp.values.clear();
            qp.values.resize(2 * n, 0.0);
            let (force, acceleration) = qp.values.split_at_mut(n);
            self.system.null_forces(j, force);
            force.iter_mut().for_each(|f| *f *= scales[0]);
            for (column, f) in self.matrix.chunks_exact(n).zip(&*force) {
                axpy(*f, column, acceleration);
            }
            each_inequality(problem, &self.modes, force, acceleration, |kind, value| {
                qp.rows.push(value / scales[kind]);
            });
            qp.moves.extend_from_slice(force);
            let at = qp.images.len();
            qp.images.resize(at + p, 0.0);
            for (column, f) in nearness.matrix.chunks_exact(p.max(1)).zip(&*force) {
                axpy(*f, column, &mut qp.images[at..]);
            }
        }

        // The objective: nearness to the target, and a little of the length of the forces.
        qp.rest.clear();
        qp.rest.extend(nearness.target.iter().map(|t| -t));
        for (column, f) in nearness.matrix.chunks_exact(p.max(1)).zip(&self.forces) {
            axpy(*f, column, &mut qp.rest);
        }
        let image = |j: usize| &qp.images[j * p..(j + 1) * p];
        let largest = (0..count).map(|j| dot(image(j), image(j))).fold(0.0, f64::max);
        let unit = if largest > 0.0 { largest } else { 1.0 };
        let (moves, forces) = (&qp.moves, &self.forces);
        let force = |j: usize| &moves[j * n..(j + 1) * n];
        let weight = FORCE_WEIGHT * unit / (scales[0] * scales[0]);
        qp.hessian.clear();
        qp.gradient.clear();
        for i in 0..count {
            for j in 0..count {
                let entry = dot(image(i), image(j)) + weight * dot(force(i), force(j));
                qp.hessian.push(entry / unit);
            }
            let slope = dot(image(i), &qp.rest) + weight * dot(force(i), forces);
            qp.gradient.push(slope / unit);
        }

        // The program in z, and f = f_p + Z z.
        qp.lower.clear();
        qp.lower.extend(qp.at_zero.iter().map(|value| -value));
        qp.upper.clear();
        qp.upper.resize(m, f64::INFINITY);
        qp.z.clear();
        qp.z.resize(count, 0.0);
        let problem = Qp {
            hessian: &qp.hessian,
            gradient: &qp.gradient,
            rows: &qp.rows,
            row_lower: &qp.lower,
            row_upper: &qp.upper,
            lower: &[],
            upper: &[],
        };
        let outcome = qp.solver.solve(&problem, &mut qp.z);
        if outcome.status.is_usable() {
            for (direction, z) in qp.moves.chunks_exact(n).zip(&qp.z) {
                axpy(*z, direction, &mut self.forces);
            }
        }
        outcome.status.is_usable()
    }
}

fn distance(nearness: &Nearness<'_>, forces: &[f64]) -> f64 {
    let p = nearness.target.len();
    let off = |row: usize| {
        let image = nearness.matrix.iter().skip(row).step_by(p).zip(forces);
        image.map(|(t, f)| t * f).sum::<f64>() - nearness.target[row]
    };
    (0..p).map(|row| off(row) * off(row)).sum()
}

/// Mode of one contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Apart,
    /// Pressing without friction.
    Smooth,
    Sticking,
    Edge(usize),
    Between(usize),
}

/// Modes of a contact.
fn mode_count(problem: &ContactProblem<'_>, contact: usize) -> usize {
    match () {
        () if !problem.is_active(contact) => 1,
        () if problem.friction[contact] <= 0.0 => 2,
        () => 2 + 2 * problem.cone.sides(),
    }
}

impl Mode {
    fn of(problem: &ContactProblem<'_>, contact: usize, index: usize) -> Self {
        let sides = problem.cone.sides();
        match index {
            0 => Self::Apart,
            1 if problem.friction[contact] <= 0.0 => Self::Smooth,
            1 => Self::Sticking,
            edge if edge < 2 + sides => Self::Edge(edge - 2),
            facet => Self::Between(facet - 2 - sides),
        }
    }

    /// Adds the contact's unknowns and equations.
    fn write(self, problem: &ContactProblem<'_>, contact: usize, scale: f64, system: &mut System) {
        let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let edge =
            |j: usize| problem.cone.generator(problem.friction[contact], j % problem.cone.sides());
        match self {
            Self::Apart => {}
            Self::Smooth => system.add(contact, scale, axes[2], axes[2]),
            Self::Sticking => axes.iter().for_each(|axis| system.add(contact, scale, *axis, *axis)),
            Self::Edge(j) => system.add(contact, scale, edge(j), axes[2]),
            Self::Between(j) => {
                let (a, b) = (edge(j), edge(j + 1));
                system.add(contact, scale, a, axes[2]);
                system.add(contact, scale, b, [a[0] - b[0], a[1] - b[1], 0.0]);
            }
        }
    }
}

/// Calls `visit` with all that must not be negative: 0 and forces, 1 and accelerations. Linear in
/// both, so that it does for changes too.
fn each_inequality(
    problem: &ContactProblem<'_>,
    modes: &[usize],
    forces: &[f64],
    acceleration: &[f64],
    mut visit: impl FnMut(usize, f64),
) {
    let sides = problem.cone.sides();
    for (contact, &index) in modes.iter().enumerate() {
        if !problem.is_active(contact) {
            continue;
        }
        let (f, a) = (&forces[3 * contact..][..3], &acceleration[3 * contact..][..3]);
        let mu = problem.friction[contact];
        let mode = Mode::of(problem, contact, index);
        match mode {
            Mode::Apart => visit(1, a[2]),
            Mode::Smooth => visit(0, f[2]),
            Mode::Sticking => {
                let slope = problem.cone.facet_friction(mu);
                let length = (1.0 + slope * slope).sqrt();
                for [c, s] in problem.cone.facets() {
                    visit(0, (slope * f[2] - c * f[0] - s * f[1]) / length);
                }
            }
            Mode::Edge(j) | Mode::Between(j) => {
                // Of length one, whatever the pyramid.
                let direction = |edge: usize| {
                    let [c, s, _] = problem.cone.generator(1.0, edge % sides);
                    let length = (c * c + s * s).sqrt();
                    [c / length, s / length]
                };
                let along = |d: [f64; 2]| d[0] * a[0] + d[1] * a[1];
                let own = along(direction(j));
                for edge in 0..sides {
                    visit(1, along(direction(edge)) - own);
                }
                if mode == Mode::Edge(j) {
                    visit(0, f[2]);
                } else {
                    // Weights of both edges: f_t is between them if neither is negative.
                    let (d, e) = (direction(j), direction(j + 1));
                    let turn = d[0] * e[1] - d[1] * e[0];
                    visit(0, (f[0] * e[1] - f[1] * e[0]) / turn);
                    visit(0, (d[0] * f[1] - d[1] * f[0]) / turn);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
