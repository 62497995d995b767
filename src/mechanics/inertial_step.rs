//! Motion without forces over a step, for the semi-implicit Euler method.
//!
//! The method kicks by the forces and drifts with the new velocity:
//!
//! ```text
//! ν₁ = ν + Δt M⁻¹ (f − gravity)      kick, without the terms that are quadratic in ν
//! (q, ν₁) → (q⁺, ν⁺)                 drift: M ν̇ + C ν = 0 over Δt
//! ```
//!
//! With the explicit drift `ν⁺ = ν₁ − Δt M⁻¹ C ν`, `q⁺ = q ⊕ Δt ν⁺`, kinetic energy grows at a rate
//! of about `Δt ω²`. [`InertialStep`] replaces it by drifts of second order:
//!
//! - a body that floats alone: `Π₁ − Π = −Δt' ω × ½ (Π + Π₁)`, `ω = I⁻¹ ½ (Π + Π₁)`,
//!   `R⁺ = R exp(Δt ω)` in body axes with `Δt' = 2 tan(½ Δt |ω|)/|ω|`, which keeps angular momentum
//!   and energy to rounding (J. C. Simo, K. K. Wong, *Unconditionally stable algorithms for rigid
//!   body dynamics that exactly preserve energy and momentum* (1991), sec. 4; there `Δt' = Δt`
//!   and R by Cayley's transform, here a steady spin turns by its exact angle);
//! - a tree: the implicit midpoint rule in the chart of the step (E. Hairer, C. Lubich, G. Wanner,
//!   *Geometric Numerical Integration* (2006), II.1.3 and IV.4), after which the velocity of a
//!   floating base takes the momentum that the kick left, and its position the straight path of
//!   the centre of mass;
//! - a tree in flight whose joints are driven or tied: its joints keep the explicit step, and its
//!   base turns at the velocity of the momentum in the middle of the step.

mod body;
mod flight;
mod midpoint;
mod momentum;
mod newton;

use nalgebra::Vector3;

use crate::inverse_dynamics::{InverseDynamics, inverse_dynamics};
use crate::kinematics::Kinematics;
use crate::manifold::{difference, quaternion_to_rotation};
use crate::mass_factor::MassFactor;
use crate::mass_matrix::MassMatrix;
use crate::model::{Model, Tree};
use body::replace_body;
pub use body::turn_of;
use newton::Newton;

/// A tree with `Δt (Σ|ω|)²` below this [1/s] keeps the explicit drift: its relative error of
/// kinetic energy is then less than 1e-7 in a second.
const LEAST_GROWTH: f64 = 1e-7;
/// The same for a tree with joints, whose drift costs as much as its dynamics [1/s].
const LEAST_GROWTH_OF_TREE: f64 = 1e-5;
/// Force on a floating tree, per mass, that counts as support [m/s²], and the share of rounding in
/// it, per square of speed [m].
const SUPPORT: [f64; 2] = [1e-6, 1e-9];
/// Force on a joint, per mass of the robot, that counts as drive, without rounding [m²/s²].
const DRIVEN: f64 = 1e-9;
/// Largest number of iterations of the implicit midpoint rule.
const MOST_ITERATIONS: usize = 24;

/// Support of a tree by forces.
enum Hold {
    /// Only weight acts on it, or forces that do not rely on the end of the step.
    Free,
    /// Its joints are driven, damped or tied to each other; its base takes momentum.
    Flies,
    /// It is pushed or supported, or its base is fixed and its joints are driven. Laws of contacts
    /// and constraints rely on `q⁺ = q ⊕ Δt ν⁺`, so it keeps the explicit drift.
    Held,
}

/// Work memory of the drift; carries no state from step to step.
#[derive(Clone, Debug)]
pub struct InertialStep {
    kinematics: Kinematics,
    workspace: InverseDynamics,
    mass: MassMatrix,
    factor: MassFactor,
    newton: Option<Box<Newton>>,
    /// True if no force relies on the end of the explicit step.
    is_smooth: bool,
    /// True if joints have damping, friction or springs.
    is_passive: bool,
    /// For each tree, true if the drift of this step replaces the explicit one.
    active: Vec<bool>,
    /// Generalised forces and their weights, nv.
    force: Vec<f64>,
    weight: Vec<f64>,
    /// Acceleration of the drift at the beginning and over the step, nv.
    explicit: Vec<f64>,
    drift: Vec<f64>,
    /// ν₁, and velocity and configuration at the end and in the middle of the step.
    kicked: Vec<f64>,
    velocity: Vec<f64>,
    middle: Vec<f64>,
    increment: Vec<f64>,
    q: Vec<f64>,
    q_middle: Vec<f64>,
    q_end: Vec<f64>,
}

impl InertialStep {
    /// Allocates memory for `model`.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let (nv, q) = (model.velocity_dim(), model.zero_configuration());
        let zeros = vec![0.0; nv];
        Self {
            kinematics: Kinematics::new(model),
            workspace: InverseDynamics::new(model),
            mass: MassMatrix::new(model),
            factor: MassFactor::new(model),
            newton: Newton::new(model),
            is_smooth: false,
            is_passive: model.resistance().acts() || !model.springs().is_empty(),
            active: vec![false; model.trees.len()],
            force: zeros.clone(),
            weight: zeros.clone(),
            explicit: zeros.clone(),
            drift: zeros.clone(),
            kicked: zeros.clone(),
            velocity: zeros.clone(),
            middle: zeros.clone(),
            increment: zeros,
            q: q.clone(),
            q_middle: q.clone(),
            q_end: q,
        }
    }

    /// The step under forces that do not rely on `q⁺ = q ⊕ Δt ν⁺`: thrust, wind, drag, motors, but
    /// not those of contacts and constraints. Bodies and floating trees are then drifted under any
    /// force.
    #[must_use]
    pub fn under_smooth_forces(self) -> Self {
        Self { is_smooth: true, ..self }
    }

    /// Replaces the explicit drift of a step `ν⁺ = ν + Δt ν̇`, `q⁺ = q ⊕ Δt ν⁺` by one that keeps
    /// energy and momentum. Afterwards `ν⁺ = ν + Δt ν̇`, `q⁺ = q ⊕ Δt (ν⁺ + δ)`.
    ///
    /// | symbol | argument | shape | meaning |
    /// |---|---|---|---|
    /// | q, ν | `configuration`, `velocity` | nq, nv | at the beginning of the step |
    /// | Δt | `step` | | > 0 [s] |
    /// | ν̇ | `acceleration` | nv | at the beginning; then mean acceleration [m/s², rad/s²] |
    /// | δ | `shift` | nv | velocity of the position minus ν⁺, written [m/s, rad/s] |
    ///
    /// Returns true if the drift of any tree was replaced; if not, `acceleration` is unchanged and
    /// `shift` not written. A tree keeps the explicit drift if all its rates are low, or if forces
    /// support it and are not [smooth](Self::under_smooth_forces). If the drift of a floating tree
    /// is not solved, its joints keep the explicit step and its base takes the momentum.
    ///
    /// Allocates nothing.
    ///
    /// # Panics
    /// If a slice has the wrong length.
    pub fn replace_drift(
        &mut self,
        model: &Model,
        (configuration, velocity): (&[f64], &[f64]),
        step: f64,
        acceleration: &mut [f64],
        shift: &mut [f64],
    ) -> bool {
        let is_smooth = self.is_smooth;
        if model.trees.len() > 1
            && !all_fly(model, configuration, velocity, acceleration, is_smooth)
        {
            return false;
        }
        let (mut any_body, mut any_tree) = (false, false);
        for (active, tree) in self.active.iter_mut().zip(&model.trees) {
            let is_body = tree.is_floating() && tree.bodies.len() == 1;
            *active = turns(tree, velocity, step);
            any_body |= *active && is_body;
            any_tree |= *active && !is_body;
        }
        if !any_body && !any_tree {
            return false;
        }
        shift.fill(0.0);
        let mut is_replaced = false;
        if any_tree {
            is_replaced =
                self.replace_trees(model, (configuration, velocity), step, acceleration, shift);
        }
        for (active, tree) in self.active.iter().zip(&model.trees) {
            if *active && tree.is_floating() && tree.bodies.len() == 1 {
                let state = (&configuration[tree.q.clone()], &velocity[tree.v.clone()]);
                let out = (&mut acceleration[tree.v.clone()], &mut shift[tree.v.clone()]);
                is_replaced |= replace_body(model, tree, state, step, out, is_smooth);
            }
        }
        is_replaced
    }

    /// The drift of trees with joints.
    fn replace_trees(
        &mut self,
        model: &Model,
        (configuration, velocity): (&[f64], &[f64]),
        step: f64,
        acceleration: &mut [f64],
        shift: &mut [f64],
    ) -> bool {
        self.forces_at(model, (configuration, velocity), acceleration);
        let mut any = false;
        let mut is_replaced = false;
        for t in 0..model.trees.len() {
            let tree = &model.trees[t];
            self.active[t] &= tree.bodies.len() > 1;
            if self.active[t] {
                self.active[t] = match self.hold_of(model, tree, velocity) {
                    Hold::Free => true,
                    Hold::Held => false,
                    Hold::Flies => {
                        let state = (configuration, velocity);
                        is_replaced |= self.fly(model, t, state, step, acceleration, shift);
                        false
                    }
                };
                if is_replaced && t + 1 < model.trees.len() {
                    // Restores the kinematics for the forces of the trees that follow.
                    self.kinematics.update(model, configuration, velocity);
                }
            }
            any |= self.active[t];
        }
        if any {
            self.kinematics.update(model, configuration, velocity);
        }
        if any && self.drift(model, (configuration, velocity), step, acceleration) {
            is_replaced = true;
            self.take_momentum(model, configuration, step);
            difference(model, configuration, &self.q_end, &mut self.increment);
            for (active, tree) in self.active.iter().zip(&model.trees) {
                if *active {
                    for i in tree.v.clone() {
                        acceleration[i] = (self.velocity[i] - velocity[i]) / step;
                        shift[i] = self.increment[i] / step - self.velocity[i];
                    }
                }
            }
        } else if any {
            // Not solved: momentum is kept nevertheless.
            for t in 0..model.trees.len() {
                if self.active[t] && model.trees[t].is_floating() {
                    let state = (configuration, velocity);
                    self.forces_at(model, state, acceleration);
                    is_replaced |= self.fly(model, t, state, step, acceleration, shift);
                }
            }
        }
        // Bodies follow; which of them turn is computed again.
        for (active, tree) in self.active.iter_mut().zip(&model.trees) {
            *active = turns(tree, velocity, step);
        }
        is_replaced
    }

    /// Writes the generalised forces without weight, and the kinematics.
    fn forces_at(&mut self, model: &Model, (q, nu): (&[f64], &[f64]), acceleration: &[f64]) {
        self.kinematics.update(model, q, nu);
        let (kinematics, workspace) = (&self.kinematics, &mut self.workspace);
        inverse_dynamics(model, kinematics, acceleration, workspace, &mut self.force);
    }

    /// Support of a tree, from the generalised force that its acceleration shows.
    fn hold_of(&self, model: &Model, tree: &Tree, velocity: &[f64]) -> Hold {
        let rate = turning(tree, velocity);
        let mass = model.bodies[tree.bodies.start].subtree_mass;
        let force = &self.force[tree.v.clone()];
        let base = if tree.is_floating() { 6 } else { 0 };
        let most = |numbers: &[f64]| numbers.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        let is_supported =
            base > 0 && most(&force[..3]) > mass * (SUPPORT[0] + SUPPORT[1] * rate * rate);
        let is_driven = most(&force[base..]) > DRIVEN * mass * (1.0 + rate * rate);
        let is_smooth = self.is_smooth && base > 0;
        if (!is_supported && !is_driven) || (is_smooth && !self.is_passive) {
            return Hold::Free;
        }
        if base > 0 && (!is_supported || is_smooth) { Hold::Flies } else { Hold::Held }
    }
}

/// True if a force other than weight acts on a body whose centre of mass has acceleration `push`.
fn is_pushed(model: &Model, push: Vector3<f64>, omega: Vector3<f64>) -> bool {
    (push - model.gravity).norm() > SUPPORT[0] + SUPPORT[1] * omega.norm_squared()
}

/// True if a world consists of bodies on which only weight acts, or smooth forces. Contacts of the
/// next step are found at `q ⊕ Δt ν⁺`, so in any other world all bodies keep the explicit drift.
fn all_fly(
    model: &Model,
    q: &[f64],
    velocity: &[f64],
    acceleration: &[f64],
    is_smooth: bool,
) -> bool {
    model.trees.iter().all(|tree| {
        if !tree.is_floating() || tree.bodies.len() > 1 {
            return false;
        }
        if is_smooth {
            return true;
        }
        let q = &q[tree.q.clone()];
        let center = model.bodies[tree.bodies.start].inertia.center_of_mass();
        let arm = quaternion_to_rotation([q[3], q[4], q[5], q[6]]) * center;
        let omega = three(&velocity[tree.v.clone()][3..]);
        let acceleration = &acceleration[tree.v.clone()];
        let push = three(acceleration)
            + three(&acceleration[3..]).cross(&arm)
            + omega.cross(&omega.cross(&arm));
        !is_pushed(model, push, omega)
    })
}

/// True if a tree turns so fast that its explicit drift changes its energy.
fn turns(tree: &Tree, velocity: &[f64], step: f64) -> bool {
    let least = if tree.bodies.len() > 1 { LEAST_GROWTH_OF_TREE } else { LEAST_GROWTH };
    step * turning(tree, velocity).powi(2) > least
}

/// Sum of the rates of a tree, without the velocity of a floating base: a bound on how fast any of
/// its bodies turns. Prismatic joints are included [rad/s, m/s].
fn turning(tree: &Tree, velocity: &[f64]) -> f64 {
    let first = if tree.is_floating() { tree.v.start + 3 } else { tree.v.start };
    velocity[first..tree.v.end].iter().map(|rate| rate.abs()).sum()
}

fn three(numbers: &[f64]) -> Vector3<f64> {
    Vector3::new(numbers[0], numbers[1], numbers[2])
}
