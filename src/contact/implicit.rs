//! Compliant contact whose force is that at the *end* of the step.
//!
//! The law of [`CompliantContact`] is stiff: friction that is full at a slip speed v_s resists a
//! resting foot with `1.5 μ f_n/v_s`, and an explicit step must resolve the foot's apparent mass
//! over that. Here the force is that at the gap and the velocity which result from it,
//!
//! `v⁺ = v_f + Δt G F(φ + Δt v⁺_n, v⁺)`,
//!
//! with `v_f = v + Δt (J ν̇_f + J̇ν)` the velocity after the step without contact forces, F the law
//! contact by contact and `G = J M⁻¹ Jᵀ`. That is one step of semi-implicit Euler whose contact
//! forces are implicit: of first order, equal to the explicit step as Δt → 0, and dissipative at
//! any step, since the spring's energy is convex and damping and friction oppose v⁺.
//!
//! # Method
//!
//! Newton's on `r(v) = v - v_f - Δt G F(v)` from the present velocity, whose system
//! `(I - Δt G F') dv = -r` is formed for the contacts that resist only. Steps are halved until |r|
//! falls. F is not the gradient of anything, because friction grows with the normal force; where
//! Newton's method does not converge, friction is taken at the normal forces of the iterate before,
//! which makes the problem convex, `min ½ pᵀ G p + Δt Φ(v_f + G p)` over impulses p. It is then
//! solved to its end with a line search on the directional derivative, and repeated with the new
//! normal forces. Whatever happens, the forces are those of the law at a velocity, so they push and
//! lie within the friction cone.
//!
//! # References
//! - E. Hairer, G. Wanner, *Solving Ordinary Differential Equations II* (1996), sec. IV.3 and IV.8.
//! - A. Castro, F. Permenter, X. Han, *An unconstrained convex formulation of compliant contact*,
//!   IEEE Trans. Robotics 39 (2023): lagged friction as a convex problem.

mod linear;

use crate::compliant::CompliantContact;
use legwork_linalg::{Lu, axpy};
use linear::{largest, semidefinite, square};

/// Data of a step with k contacts.
#[derive(Clone, Copy, Debug)]
pub struct ImplicitProblem<'a> {
    /// `G = J M⁻¹ Jᵀ`, 3k × 3k, symmetric [1/kg].
    pub inverse_inertia: &'a [f64],
    /// v_f, the contact velocity after the step without contact forces, 3k, axes (t1, t2, n) [m/s].
    pub free_velocity: &'a [f64],
    /// φ, such that `φ + Δt v⁺_n` is the gap after the step, k [m].
    pub gaps: &'a [f64],
    /// Δt > 0 [s].
    pub time_step: f64,
    /// The law of each contact, k.
    pub laws: &'a [CompliantContact],
}

/// Convergence of a solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImplicitSolution {
    /// Linear systems solved.
    pub iterations: u32,
    /// Largest entry of r over the largest velocity [1].
    pub residual: f64,
    /// Whether the residual is within the tolerance.
    pub is_solved: bool,
}

/// Largest entry of r, relative to the largest velocity, of a solution.
const TOLERANCE: f64 = 1e-10;
/// Newton steps before friction is lagged.
const NEWTON_STEPS: u32 = 40;
/// Halvings of a step before friction is lagged.
const HALVINGS: u32 = 30;
/// Lagged problems before the last answer is returned.
const LAGGED_PROBLEMS: u32 = 60;
/// Lagged problems after which the normal forces advance by half.
const UNDAMPED_PROBLEMS: u32 = 10;
/// Bisections of the lagged line search.
const BISECTIONS: u32 = 50;

/// Slopes of one contact's force: what `-F'` has in its 3 × 3 block.
#[derive(Clone, Copy, Debug, Default)]
struct Slopes {
    /// Friction by slip, column by column.
    tangent: [[f64; 2]; 2],
    /// Friction by the normal velocity.
    coupling: [f64; 2],
    normal: f64,
}

/// Solver with its memory.
#[doc(alias("implicit Euler contact", "lagged friction"))]
#[derive(Clone, Debug)]
pub struct ImplicitContact {
    residual: Vec<f64>,
    trial: Vec<f64>,
    trial_residual: Vec<f64>,
    forces: Vec<f64>,
    direction: Vec<f64>,
    slopes: Vec<Slopes>,
    /// Contacts that resist.
    resisting: Vec<usize>,
    /// The linear system and its right-hand side.
    lu: Lu,
    solved: Vec<f64>,
    /// Impulses and their change, for lagged friction.
    impulses: Vec<f64>,
    change: Vec<f64>,
    normals: Vec<f64>,
}

impl ImplicitContact {
    /// Memory for up to `contact_count` contacts.
    #[must_use]
    pub fn new(contact_count: usize) -> Self {
        let rows = 3 * contact_count;
        let zeros = || vec![0.0; rows];
        Self {
            residual: zeros(),
            trial: zeros(),
            trial_residual: zeros(),
            forces: zeros(),
            direction: zeros(),
            slopes: vec![Slopes::default(); contact_count],
            resisting: Vec::with_capacity(contact_count),
            lu: Lu::new(rows),
            solved: vec![0.0; rows],
            impulses: zeros(),
            change: zeros(),
            normals: vec![0.0; contact_count],
        }
    }

    /// Finds the contact `velocity` after the step, starting from the one given, and the `forces`
    /// F(v⁺) on the body, 3k each. Allocates nothing.
    ///
    /// # Panics
    /// If a shape does not fit, or there are more contacts than there is memory for.
    pub fn solve(
        &mut self,
        problem: &ImplicitProblem<'_>,
        velocity: &mut [f64],
        forces: &mut [f64],
    ) -> ImplicitSolution {
        let (count, rows) = (problem.laws.len(), velocity.len());
        assert_eq!(rows, 3 * count, "velocity needs 3k values");
        assert_eq!(forces.len(), rows, "forces need 3k values");
        assert_eq!(problem.gaps.len(), count, "one gap per contact");
        assert_eq!(problem.free_velocity.len(), rows, "v_f needs 3k values");
        assert_eq!(problem.inverse_inertia.len(), rows * rows, "G needs 3k x 3k values");
        assert!(rows <= self.residual.len(), "{count} contacts exceed the memory");

        let mut iterations = 0;
        if !self.newton(problem, velocity, &mut iterations) {
            self.lagged(problem, velocity, &mut iterations);
            // What is left after the last lagged problem may be near enough for Newton's method.
            self.newton(problem, velocity, &mut iterations);
        }
        forces_of(problem, velocity, None, forces);
        residual_of(problem, velocity, forces, &mut self.residual[..rows]);
        let residual = largest(&self.residual[..rows]) / scale(problem, velocity);
        ImplicitSolution { iterations, residual, is_solved: residual <= TOLERANCE }
    }

    /// Newton's method with a line search on |r|. False if it does not converge.
    fn newton(
        &mut self,
        problem: &ImplicitProblem<'_>,
        velocity: &mut [f64],
        iterations: &mut u32,
    ) -> bool {
        let rows = velocity.len();
        forces_of(problem, velocity, None, &mut self.forces[..rows]);
        residual_of(problem, velocity, &self.forces[..rows], &mut self.residual[..rows]);
        for _ in 0..NEWTON_STEPS {
            if largest(&self.residual[..rows]) <= TOLERANCE * scale(problem, velocity) {
                return true;
            }
            self.linearise(problem, velocity, None);
            *iterations += 1;
            if !self.step(problem, rows) {
                return false;
            }
            // Half the step until the residual falls enough (L. Armijo, 1966).
            let before = square(&self.residual[..rows]);
            let mut share = 1.0;
            let mut halvings = 0;
            loop {
                let (trial, residual) = (&mut self.trial[..rows], &mut self.trial_residual[..rows]);
                for ((trial, v), dv) in trial.iter_mut().zip(&*velocity).zip(&self.direction) {
                    *trial = v + share * dv;
                }
                forces_of(problem, trial, None, &mut self.forces[..rows]);
                residual_of(problem, trial, &self.forces[..rows], residual);
                if square(residual) < before * (1.0 - 1e-4 * share) {
                    break;
                }
                halvings += 1;
                // Below this a step changes only rounding errors.
                if halvings > HALVINGS {
                    return false;
                }
                share *= 0.5;
            }
            velocity.copy_from_slice(&self.trial[..rows]);
            self.residual[..rows].copy_from_slice(&self.trial_residual[..rows]);
        }
        false
    }

    /// Convex problems with friction at the normal forces of the one before.
    fn lagged(
        &mut self,
        problem: &ImplicitProblem<'_>,
        velocity: &mut [f64],
        iterations: &mut u32,
    ) {
        let rows = velocity.len();
        velocity.copy_from_slice(problem.free_velocity);
        self.impulses[..rows].fill(0.0);
        self.normals.fill(0.0);
        for pass in 0..LAGGED_PROBLEMS {
            self.convex(problem, velocity, iterations);
            let share = if pass < UNDAMPED_PROBLEMS { 1.0 } else { 0.5 };
            let mut moved: f64 = 0.0;
            let mut most: f64 = 0.0;
            for (i, law) in problem.laws.iter().enumerate() {
                let v = velocity[3 * i + 2];
                let normal = law.normal_force(problem.gaps[i] + problem.time_step * v, v);
                moved = moved.max((normal - self.normals[i]).abs());
                most = most.max(normal);
                self.normals[i] += share * (normal - self.normals[i]);
            }
            if moved <= 0.1 * TOLERANCE * most {
                return;
            }
        }
    }

    /// Solves one convex problem, from `velocity = v_f + G impulses`.
    fn convex(
        &mut self,
        problem: &ImplicitProblem<'_>,
        velocity: &mut [f64],
        iterations: &mut u32,
    ) {
        let (rows, dt) = (velocity.len(), problem.time_step);
        for _ in 0..NEWTON_STEPS {
            forces_of(problem, velocity, Some(&self.normals), &mut self.forces[..rows]);
            residual_of(problem, velocity, &self.forces[..rows], &mut self.residual[..rows]);
            if largest(&self.residual[..rows]) <= 0.1 * TOLERANCE * scale(problem, velocity) {
                return;
            }
            let normals = std::mem::take(&mut self.normals);
            self.linearise(problem, velocity, Some(&normals));
            self.normals = normals;
            *iterations += 1;
            if !self.step(problem, rows) {
                return;
            }
            // The change of impulse whose change of velocity is the direction.
            for (i, slopes) in self.slopes[..rows / 3].iter().enumerate() {
                let dv = [0, 1, 2].map(|axis| self.direction[3 * i + axis]);
                let resisted = slopes.times(dv);
                for (axis, resisted) in resisted.into_iter().enumerate() {
                    let at = 3 * i + axis;
                    self.change[at] = dt * (self.forces[at] - resisted) - self.impulses[at];
                }
            }
            let share = self.convex_share(problem, velocity);
            axpy(share, &self.direction, velocity);
            axpy(share, &self.change, &mut self.impulses);
        }
    }

    /// Where the objective stops falling along the direction; at most 1.
    fn convex_share(&mut self, problem: &ImplicitProblem<'_>, velocity: &[f64]) -> f64 {
        let rows = velocity.len();
        // dE/dα = dvᵀ (p + α dp - Δt F(v + α dv)) grows with α.
        let mut slope_at = |share: f64| -> f64 {
            let trial = &mut self.trial[..rows];
            for ((trial, v), dv) in trial.iter_mut().zip(velocity).zip(&self.direction) {
                *trial = v + share * dv;
            }
            forces_of(problem, trial, Some(&self.normals), &mut self.trial_residual[..rows]);
            (0..rows)
                .map(|at| {
                    let impulse = self.impulses[at] + share * self.change[at];
                    let force = self.trial_residual[at];
                    self.direction[at] * (impulse - problem.time_step * force)
                })
                .sum()
        };
        let start = slope_at(0.0).abs();
        if slope_at(1.0) <= 0.1 * start {
            return 1.0;
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (low + high);
            let slope = slope_at(middle);
            if slope.abs() <= 0.1 * start {
                return middle;
            }
            if slope < 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }

    /// Slopes of all forces, and which contacts resist. Lagged friction is made to resist, never to
    /// accelerate, so that its problem is convex.
    fn linearise(
        &mut self,
        problem: &ImplicitProblem<'_>,
        velocity: &[f64],
        normals: Option<&[f64]>,
    ) {
        let dt = problem.time_step;
        self.resisting.clear();
        for (i, (law, v)) in problem.laws.iter().zip(velocity.chunks_exact(3)).enumerate() {
            let gap = problem.gaps[i] + dt * v[2];
            let [by_gap, by_speed] = law.normal_slopes(gap, v[2]);
            let mut normal = -(dt * by_gap + by_speed);
            let pressed = normals.map_or_else(|| law.normal_force(gap, v[2]), |n| n[i]);
            let (slip, mut coupling) = ([v[0], v[1]], [0.0; 2]);
            let mut tangent = [[0.0; 2]; 2];
            if pressed != 0.0 {
                let (friction, by_slip) = law.friction_and_slopes(pressed, slip);
                tangent = by_slip.map(|column| column.map(|slope| -slope));
                coupling = friction.map(|f| f / pressed * normal);
            }
            if normals.is_some() {
                normal = normal.max(0.0);
                coupling = [0.0; 2];
                tangent = semidefinite(tangent);
            }
            self.slopes[i] = Slopes { tangent, coupling, normal };
            if pressed != 0.0 || normal != 0.0 {
                self.resisting.push(i);
            }
        }
    }

    /// Solves `(I + Δt G D) dv = -r` into `direction`: the contacts that resist first, the others
    /// follow from them. False if the matrix is singular.
    fn step(&mut self, problem: &ImplicitProblem<'_>, rows: usize) -> bool {
        let (dt, size) = (problem.time_step, 3 * self.resisting.len());
        let (g, dv) = (problem.inverse_inertia, &mut self.solved[..size]);
        self.lu.resize(size);
        let system = self.lu.matrix_mut();
        for (a, &contact) in self.resisting.iter().enumerate() {
            for axis in 0..3 {
                let (line, row) = (3 * a + axis, 3 * contact + axis);
                for (b, &other) in self.resisting.iter().enumerate() {
                    // G is symmetric: its column is its row.
                    let g = &g[row * rows + 3 * other..row * rows + 3 * other + 3];
                    let entries = self.slopes[other].row_times([g[0], g[1], g[2]]);
                    for (column, entry) in (3 * b..).zip(entries) {
                        system[column * size + line] = dt * entry;
                    }
                }
                system[line * size + line] += 1.0;
                dv[line] = -self.residual[row];
            }
        }
        // The others follow: dv = -r - Δt G D dv of those that resist.
        if self.lu.factor(0.0).is_err() {
            return false;
        }
        self.lu.solve(dv);
        for (direction, r) in self.direction[..rows].iter_mut().zip(&self.residual) {
            *direction = -r;
        }
        for (a, &contact) in self.resisting.iter().enumerate() {
            let dv = [0, 1, 2].map(|axis| dv[3 * a + axis]);
            let resisted = self.slopes[contact].times(dv);
            if 3 * self.resisting.len() == rows {
                self.direction[3 * contact..3 * contact + 3].copy_from_slice(&dv);
                continue;
            }
            for (axis, resisted) in resisted.into_iter().enumerate() {
                let column = &g[(3 * contact + axis) * rows..(3 * contact + axis + 1) * rows];
                axpy(-dt * resisted, column, &mut self.direction[..rows]);
            }
        }
        true
    }
}

impl Slopes {
    /// `D x`.
    fn times(&self, x: [f64; 3]) -> [f64; 3] {
        let [a, b] = self.tangent;
        [
            a[0] * x[0] + b[0] * x[1] + self.coupling[0] * x[2],
            a[1] * x[0] + b[1] * x[1] + self.coupling[1] * x[2],
            self.normal * x[2],
        ]
    }

    /// `xᵀ D`.
    fn row_times(&self, x: [f64; 3]) -> [f64; 3] {
        let [a, b] = self.tangent;
        [
            x[0] * a[0] + x[1] * a[1],
            x[0] * b[0] + x[1] * b[1],
            x[0] * self.coupling[0] + x[1] * self.coupling[1] + x[2] * self.normal,
        ]
    }
}

/// Forces of the law at the end of the step; with `normals`, friction is at those.
fn forces_of(
    problem: &ImplicitProblem<'_>,
    velocity: &[f64],
    normals: Option<&[f64]>,
    forces: &mut [f64],
) {
    let contacts = velocity.chunks_exact(3).zip(forces.chunks_exact_mut(3));
    for (i, (v, f)) in contacts.enumerate() {
        let (law, gap) = (&problem.laws[i], problem.gaps[i] + problem.time_step * v[2]);
        f.copy_from_slice(&law.force(gap, [v[0], v[1], v[2]]));
        if let Some(normals) = normals {
            let (friction, _) = law.friction_and_slopes(normals[i], [v[0], v[1]]);
            f[..2].copy_from_slice(&friction);
        }
    }
}

/// `r = v - v_f - Δt G F`.
fn residual_of(
    problem: &ImplicitProblem<'_>,
    velocity: &[f64],
    forces: &[f64],
    residual: &mut [f64],
) {
    for ((r, v), free) in residual.iter_mut().zip(velocity).zip(problem.free_velocity) {
        *r = v - free;
    }
    let columns = problem.inverse_inertia.chunks_exact(velocity.len().max(1));
    for (column, force) in columns.zip(forces) {
        if *force != 0.0 {
            axpy(-problem.time_step * force, column, residual);
        }
    }
}

/// Scale of residuals: the largest velocity, above zero.
fn scale(problem: &ImplicitProblem<'_>, velocity: &[f64]) -> f64 {
    largest(problem.free_velocity).max(largest(velocity)).max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests;
