//! Inverse kinematics: joint positions that bring frames to given poses.
//!
//! Minimises the weighted squared errors of all targets over the joint positions within their
//! limits,
//!
//! ```text
//! E(q) = ½ Σ w_p ‖e_p‖² + w_o ‖e_o‖²      e_p = p_goal − p(q)      e_o = log(R_goal R(q)ᵀ)
//! ```
//!
//! by damped least squares. With `J` the mixed Jacobians of the frames and `W` the weights, a step
//! `δ` minimises
//!
//! ```text
//! ½ δᵀ (JᵀWJ + μ 1) δ − (JᵀWe)ᵀ δ      within the limits and ‖δ‖∞ ≤ 1      μ = 2 λ E + rounding
//! ```
//!
//! `JᵀWe` is the exact descent direction at every angle, because `e_o` is an eigenvector of the
//! Jacobian of the logarithm. A step is taken if E falls; `λ` shrinks by up to 3 where E falls as
//! the model predicted, and grows where it does not. μ vanishes with E, so that reachable targets
//! are met quadratically, and stays where the targets cannot be reached, so that singular poses are
//! harmless.
//!
//! References: Y. Nakamura, H. Hanafusa, *Inverse kinematic solutions with singularity robustness
//! for robot manipulator control* (1986); C. W. Wampler, *Manipulator inverse kinematic solutions
//! based on vector formulations and damped least-squares methods* (1986); T. Sugihara,
//! *Solvability-unconcerned inverse kinematics by the Levenberg–Marquardt method* (2011), eq. 11
//! for `μ ∝ E`; H. B. Nielsen, *Damping parameter in Marquardt's method* (1999) for λ.

use legwork_mechanics::nalgebra::Vector3;
use legwork_mechanics::{
    JointKind, Kinematics, Model, Placement, frame_jacobian, integrate, world_from_frame,
};

use crate::bounded_step::{BoundedProblem, BoundedStep};
use crate::rotation::rotation_log;

mod settings;

pub use settings::{BaseMotion, Settings, SettingsError, Solution, Target};

/// Errors at one configuration.
#[derive(Clone, Copy, Debug)]
struct Fit {
    cost: f64,
    position: f64,
    orientation: f64,
}

/// Range of one velocity coordinate whose joint has limits.
#[derive(Clone, Copy, Debug)]
struct Range {
    q: usize,
    lower: f64,
    upper: f64,
    /// Half-width of the interval for starts where a limit is infinite.
    reach: f64,
}

/// A search with its memory, for one model and one set of targets.
#[doc(alias("IK", "Levenberg-Marquardt", "damped least squares"))]
#[derive(Clone, Debug)]
pub struct InverseKinematics {
    targets: Vec<Target>,
    settings: Settings,
    /// Coordinates that may move.
    unknown: Vec<usize>,
    /// By velocity coordinate; joints of several coordinates have none.
    ranges: Vec<Option<Range>>,
    kinematics: Kinematics,
    /// 6 numbers per target: position error, orientation error.
    errors: Vec<f64>,
    /// 6 × nv per target.
    jacobians: Vec<f64>,
    /// Unknown coordinates that move a target.
    columns: Vec<usize>,
    matrix: Vec<f64>,
    gradient: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    step: Vec<f64>,
    increment: Vec<f64>,
    search: BoundedStep,
    trial: Vec<f64>,
    start: Vec<f64>,
    best: Vec<f64>,
}

/// Largest move of a coordinate in one step [rad or m].
const LONGEST_STEP: f64 = 1.0;

/// Damping that remains, relative to the largest diagonal entry: keeps the factor from rounding.
const ROUNDING: f64 = 1e-13;

/// Relative decrease of E below which a minimum is reached.
const STATIONARY: f64 = 1e-14;

impl InverseKinematics {
    /// Memory for `model` and `targets`.
    ///
    /// # Errors
    /// If the damping, a tolerance or a weight is out of its range.
    pub fn new(
        model: &Model,
        targets: &[Target],
        settings: Settings,
    ) -> Result<Self, SettingsError> {
        settings.check(targets)?;
        let (nq, nv) = (model.configuration_dim(), model.velocity_dim());
        let unknown: Vec<usize> = match settings.base {
            BaseMotion::Given => model.joint_velocity_indices().to_vec(),
            BaseMotion::Free => (0..nv).collect(),
        };
        let n = unknown.len();
        Ok(Self {
            targets: targets.to_vec(),
            settings,
            unknown,
            ranges: ranges(model),
            kinematics: Kinematics::new(model),
            errors: vec![0.0; 6 * targets.len()],
            jacobians: vec![0.0; 6 * nv * targets.len()],
            columns: Vec::with_capacity(n),
            matrix: vec![0.0; n * n],
            gradient: vec![0.0; n],
            lower: vec![0.0; n],
            upper: vec![0.0; n],
            step: vec![0.0; n],
            increment: vec![0.0; nv],
            search: BoundedStep::new(n),
            trial: vec![0.0; nq],
            start: vec![0.0; nq],
            best: vec![0.0; nq],
        })
    }

    /// Moves `configuration` to where the targets are met, or as nearly as possible.
    ///
    /// | argument | shape | meaning |
    /// |---|---|---|
    /// | `goals` | one per target | `world_from_goal`; the part that does not count is not read |
    /// | `configuration` | nq | where to start, then the solution; quaternions of unit length |
    ///
    /// Joints that start beyond a limit are moved to it first; no joint ever leaves its limits. The
    /// same arguments give the same bits and the same number of iterations. One iteration costs
    /// O(n² k) for the matrix of k targets and O(n³) for its factor; nothing is allocated.
    ///
    /// # Panics
    /// If a slice has the wrong length or the model is another.
    pub fn solve(
        &mut self,
        model: &Model,
        goals: &[Placement],
        configuration: &mut [f64],
    ) -> Solution {
        assert_eq!(goals.len(), self.targets.len(), "number of goals");
        assert_eq!(configuration.len(), self.trial.len(), "length of configuration");
        self.clamp(configuration);
        let (mut fit, mut iterations) = self.descend(model, goals, configuration);

        // Other starts, until one meets the goals; the best of all otherwise.
        if self.settings.restarts > 0 && !self.meets(&fit) {
            self.start.copy_from_slice(configuration);
            self.best.copy_from_slice(configuration);
            let mut random = Random(0);
            for _ in 0..self.settings.restarts {
                self.scatter(&mut random, configuration);
                let (other, more) = self.descend(model, goals, configuration);
                iterations += more;
                if self.meets(&other) || other.cost < fit.cost {
                    fit = other;
                    self.best.copy_from_slice(configuration);
                }
                if self.meets(&fit) {
                    break;
                }
            }
            configuration.copy_from_slice(&self.best);
        }
        Solution {
            converged: self.meets(&fit),
            iterations,
            error: (2.0 * fit.cost).sqrt(),
            position_error: fit.position,
            orientation_error: fit.orientation,
        }
    }

    /// Minimises E from `configuration`.
    fn descend(
        &mut self,
        model: &Model,
        goals: &[Placement],
        configuration: &mut [f64],
    ) -> (Fit, u32) {
        let mut fit = self.measure(model, goals, configuration);
        let (mut lambda, mut growth) = (self.settings.damping, 2.0);
        let mut is_linearised = false;
        for iteration in 0..self.settings.max_iterations {
            if self.meets(&fit) || !fit.cost.is_finite() {
                return (fit, iteration);
            }
            if !is_linearised {
                self.linearise(model, configuration);
                is_linearised = true;
            }

            // The damped step within the bounds, and how far E should fall by it.
            let n = self.columns.len();
            let matrix = &self.matrix[..n * n];
            let largest = (0..n).map(|i| matrix[i * n + i]).fold(0.0, f64::max);
            let damping = 2.0 * lambda * fit.cost + ROUNDING * largest;
            let problem = BoundedProblem {
                matrix,
                gradient: &self.gradient[..n],
                lower: &self.lower[..n],
                upper: &self.upper[..n],
            };
            let step = &mut self.step[..n];
            let predicted = match self.search.solve(&problem, damping, step) {
                true => decrease(&problem, step),
                false => f64::NAN,
            };
            if predicted.abs() <= STATIONARY * fit.cost {
                return (fit, iteration);
            }

            // It is taken if E falls; λ follows how well the model predicted that.
            if predicted > 0.0 {
                self.advance(model, configuration);
                let trial = std::mem::take(&mut self.trial);
                let there = self.measure(model, goals, &trial);
                let ratio = (fit.cost - there.cost) / predicted;
                let is_better = ratio > 1e-4;
                if is_better {
                    configuration.copy_from_slice(&trial);
                    fit = there;
                    let odd = 2.0 * ratio - 1.0;
                    lambda *= (1.0 - odd * odd * odd).clamp(1.0 / 3.0, 2.0);
                    growth = 2.0;
                    is_linearised = false;
                }
                self.trial = trial;
                if is_better {
                    continue;
                }
            }
            lambda *= growth;
            growth *= 2.0;
        }
        (fit, self.settings.max_iterations)
    }

    fn meets(&self, fit: &Fit) -> bool {
        fit.position <= self.settings.position_tolerance
            && fit.orientation <= self.settings.orientation_tolerance
    }

    /// Errors at a configuration; leaves its placements in the kinematics.
    fn measure(&mut self, model: &Model, goals: &[Placement], configuration: &[f64]) -> Fit {
        self.kinematics.update_placements(model, configuration);
        let mut fit = Fit { cost: 0.0, position: 0.0, orientation: 0.0 };
        for ((target, goal), error) in
            self.targets.iter().zip(goals).zip(self.errors.chunks_exact_mut(6))
        {
            let at = world_from_frame(model, &self.kinematics, target.frame);
            error.fill(0.0);
            if target.position_weight > 0.0 {
                let e = goal.translation - at.translation;
                error[..3].copy_from_slice(e.as_slice());
                fit.cost += 0.5 * target.position_weight * e.norm_squared();
                fit.position = larger(fit.position, e.norm());
            }
            if target.orientation_weight > 0.0 {
                let e = rotation_log(&(goal.rotation * at.rotation.transpose()));
                error[3..].copy_from_slice(e.as_slice());
                fit.cost += 0.5 * target.orientation_weight * e.norm_squared();
                fit.orientation = larger(fit.orientation, e.norm());
            }
        }
        fit
    }

    /// `JᵀWJ`, `JᵀWe` and the bounds of the step at the configuration measured last, over the
    /// unknown coordinates that move a target.
    fn linearise(&mut self, model: &Model, configuration: &[f64]) {
        let size = 6 * model.velocity_dim();
        for (target, jacobian) in self.targets.iter().zip(self.jacobians.chunks_exact_mut(size)) {
            frame_jacobian(model, &self.kinematics, target.frame, jacobian);
        }

        // Coordinates that move no target are left out.
        let Self { targets, jacobians, columns, .. } = self;
        columns.clear();
        let column_of = |t: usize, k: usize| &jacobians[t * size + 6 * k..t * size + 6 * k + 6];
        columns.extend(self.unknown.iter().copied().filter(|&k| {
            (0..targets.len()).any(|t| column_of(t, k).iter().any(|&entry| entry != 0.0))
        }));

        // Both triangles of the matrix, and room up to the joint's limits.
        let n = columns.len();
        for (c, &k) in columns.iter().enumerate() {
            let (mut gradient, mut diagonal) = (0.0, 0.0);
            for (t, target) in targets.iter().enumerate() {
                let e = &self.errors[6 * t..6 * t + 6];
                gradient += weighted(target, column_of(t, k), e);
                diagonal += weighted(target, column_of(t, k), column_of(t, k));
            }
            self.gradient[c] = gradient;
            self.matrix[c * n + c] = diagonal;
            for (r, &other) in columns[..c].iter().enumerate() {
                let mut sum = 0.0;
                for (t, target) in targets.iter().enumerate() {
                    sum += weighted(target, column_of(t, k), column_of(t, other));
                }
                self.matrix[c * n + r] = sum;
                self.matrix[r * n + c] = sum;
            }
            let (lower, upper) = match &self.ranges[k] {
                Some(range) => {
                    let s = configuration[range.q];
                    (range.lower - s, range.upper - s)
                }
                None => (-LONGEST_STEP, LONGEST_STEP),
            };
            self.lower[c] = lower.clamp(-LONGEST_STEP, 0.0);
            self.upper[c] = upper.clamp(0.0, LONGEST_STEP);
        }
    }

    /// Writes the configuration after the step into `trial`.
    fn advance(&mut self, model: &Model, configuration: &[f64]) {
        self.increment.fill(0.0);
        for (&k, step) in self.columns.iter().zip(&self.step) {
            self.increment[k] = *step;
        }
        integrate(model, configuration, &self.increment, &mut self.trial);
        for (c, &k) in self.columns.iter().enumerate() {
            if let Some(range) = &self.ranges[k] {
                // On a bound exactly, not up to rounding.
                let (s, step) = (configuration[range.q], self.step[c]);
                if step >= range.upper - s {
                    self.trial[range.q] = range.upper;
                } else if step <= range.lower - s {
                    self.trial[range.q] = range.lower;
                }
            }
        }
    }

    fn clamp(&self, configuration: &mut [f64]) {
        for range in self.ranges.iter().flatten() {
            let s = &mut configuration[range.q];
            *s = s.max(range.lower).min(range.upper);
        }
    }

    /// A random start within the limits; coordinates of joints with several stay.
    fn scatter(&self, random: &mut Random, configuration: &mut [f64]) {
        configuration.copy_from_slice(&self.start);
        for range in self.ranges.iter().flatten() {
            let s = self.start[range.q];
            let lower = if range.lower.is_finite() { range.lower } else { s - range.reach };
            let upper = if range.upper.is_finite() { range.upper } else { s + range.reach };
            configuration[range.q] = lower + random.unit() * (upper - lower);
        }
        self.clamp(configuration);
    }
}

/// Ranges of the joints of one coordinate.
fn ranges(model: &Model) -> Vec<Option<Range>> {
    let mut ranges = vec![None; model.velocity_dim()];
    for joint in model.joints() {
        let reach = match joint.kind {
            JointKind::Revolute | JointKind::Continuous => std::f64::consts::PI,
            JointKind::Prismatic => 1.0,
            _ => continue,
        };
        let (lower, upper) = (joint.lower, joint.upper);
        ranges[joint.velocity_range().start] =
            Some(Range { q: joint.configuration_range().start, lower, upper, reach });
    }
    ranges
}

/// `gᵀδ − ½ δᵀ A δ`: how far E should fall.
fn decrease(problem: &BoundedProblem<'_>, step: &[f64]) -> f64 {
    let n = step.len();
    let mut sum = 0.0;
    for (i, (g, s)) in problem.gradient.iter().zip(step).enumerate() {
        let mut product = 0.0;
        for (a, other) in problem.matrix[i * n..(i + 1) * n].iter().zip(step) {
            product += a * other;
        }
        sum += s * (g - 0.5 * product);
    }
    sum
}

/// `aᵀ W b` of two columns of one target.
#[inline]
fn weighted(target: &Target, a: &[f64], b: &[f64]) -> f64 {
    let part = |at: usize| {
        let [a, b] = [a, b].map(|v| Vector3::new(v[at], v[at + 1], v[at + 2]));
        a.dot(&b)
    };
    target.position_weight * part(0) + target.orientation_weight * part(3)
}

/// The larger number; NaN if one is.
fn larger(a: f64, b: f64) -> f64 {
    if a > b || a.is_nan() { a } else { b }
}

/// Linear congruential numbers, Knuth's MMIX constants: the same ones in every solve.
struct Random(u64);

impl Random {
    /// A number in [0, 1).
    fn unit(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}
