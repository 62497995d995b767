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

use nalgebra::{Matrix3, Vector3};

use crate::inverse_dynamics::{InverseDynamics, coriolis_force, gravity_force, inverse_dynamics};
use crate::kinematics::Kinematics;
use crate::manifold::{difference, integrate, quaternion_exp, quaternion_to_rotation};
use crate::mass_factor::MassFactor;
use crate::mass_matrix::{MassMatrix, mass_matrix};
use crate::model::{Model, Tree};

/// A tree with `Δt (Σ|ω|)²` below this [1/s] keeps the explicit drift: its relative error of
/// kinetic energy is then less than 1e-7 in a second.
const LEAST_GROWTH: f64 = 1e-7;
/// Force on a floating tree, per mass, that counts as support [m/s²], and the share of rounding in
/// it, per square of speed [m].
const SUPPORT: [f64; 2] = [1e-6, 1e-9];
/// Force on a joint, per mass of the robot, that counts as drive, without rounding [m²/s²].
const DRIVEN: f64 = 1e-9;
/// Largest number of iterations of the implicit midpoint rule.
const MOST_ITERATIONS: usize = 24;
/// Largest number of substeps if the iterations do not converge in the whole step.
const MOST_PARTS: usize = 16;
/// Change of velocity at which the iterations have converged: relative to the error of the midpoint
/// rule in a step, `(h w)³ w` at the rates `w = Σ|ω|`, and relative to w, for rounding.
const CONVERGED: [f64; 2] = [1e-4, 1e-13];

/// Support of a tree by forces.
enum Hold {
    /// Only weight acts on it.
    Free,
    /// Its joints are driven, or tied to each other; apart from that only weight acts on it.
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
    /// `shift` not written. A tree keeps the explicit drift if all its rates are low, if forces
    /// support it, or if the iteration does not converge.
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
        if model.trees.len() > 1 && !all_fly(model, configuration, velocity, acceleration) {
            return false;
        }
        let (mut any_body, mut any_tree) = (false, false);
        for (active, tree) in self.active.iter_mut().zip(&model.trees) {
            *active = step * turning(tree, velocity).powi(2) > LEAST_GROWTH;
            let is_body = tree.is_floating() && tree.bodies.len() == 1;
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
                is_replaced |= replace_body(model, tree, state, step, out);
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
        self.kinematics.update(model, configuration, velocity);
        inverse_dynamics(
            model,
            &self.kinematics,
            acceleration,
            &mut self.workspace,
            &mut self.force,
        );
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
        }
        // Bodies follow; which of them turn is computed again.
        for (active, tree) in self.active.iter_mut().zip(&model.trees) {
            *active = step * turning(tree, velocity).powi(2) > LEAST_GROWTH;
        }
        is_replaced
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
        if !is_supported && !is_driven {
            return Hold::Free;
        }
        if base > 0 && !is_supported { Hold::Flies } else { Hold::Held }
    }

    /// Drift of a floating tree whose joints are driven. Joints keep the explicit step, including
    /// ties between them, and the base takes the momentum that weight leaves.
    ///
    /// At constant joint rates, ω is the angular velocity of the momentum in the middle of the
    /// step. It turns the base, by iteration; the velocity and position at the end follow from the
    /// momentum.
    fn fly(
        &mut self,
        model: &Model,
        t: usize,
        (configuration, velocity): (&[f64], &[f64]),
        step: f64,
        acceleration: &mut [f64],
        shift: &mut [f64],
    ) -> bool {
        let tree = &model.trees[t];
        let (v, q) = (tree.v.start, tree.q.start);
        let before = TreeMomentum::of(model, &self.kinematics, t);
        let linear = before.linear + model.gravity * (before.mass * step);
        let center = before.center + linear * (step / before.mass);
        for (i, end) in self.velocity.iter_mut().enumerate() {
            *end = velocity[i] + step * acceleration[i];
        }
        let mut omega = 0.5 * (three(&velocity[v + 3..]) + three(&self.velocity[v + 3..]));
        let mut is_good = false;
        for _ in 0..MOST_ITERATIONS {
            self.velocity[v + 3..v + 6].copy_from_slice(omega.as_slice());
            for (increment, velocity) in self.increment.iter_mut().zip(&self.velocity) {
                *increment = 0.5 * step * velocity;
            }
            integrate(model, configuration, &self.increment, &mut self.q_middle);
            self.kinematics.update(model, &self.q_middle, &self.velocity);
            let middle = TreeMomentum::of(model, &self.kinematics, t);
            let Some(inverse) = middle.inertia.try_inverse() else { return false };
            let change = inverse * (before.angular - middle.angular);
            omega += change;
            let scale = omega.norm() + turning(tree, velocity);
            if !change.norm().is_finite() {
                return false;
            }
            if change.norm() <= 1e-13 * scale {
                is_good = true;
                break;
            }
        }
        if !is_good {
            return false;
        }
        self.velocity[v + 3..v + 6].copy_from_slice(omega.as_slice());
        for (increment, velocity) in self.increment.iter_mut().zip(&self.velocity) {
            *increment = step * velocity;
        }
        integrate(model, configuration, &self.increment, &mut self.q_end);
        self.kinematics.update(model, &self.q_end, &self.velocity);
        let end = TreeMomentum::of(model, &self.kinematics, t);
        let Some(inverse) = end.inertia.try_inverse() else { return false };
        let spin = inverse * (before.angular - end.angular);
        let speed = (linear - end.linear) / end.mass - spin.cross(&end.arm);
        for k in 0..3 {
            let (at, turn) = (self.velocity[v + k] + speed[k], omega[k] + spin[k]);
            let path = self.q_end[q + k] + center[k] - end.center[k] - configuration[q + k];
            acceleration[v + k] = (at - velocity[v + k]) / step;
            acceleration[v + 3 + k] = (turn - velocity[v + 3 + k]) / step;
            shift[v + k] = path / step - at;
            shift[v + 3 + k] = omega[k] - turn;
        }
        true
    }

    /// Writes `kicked`, and `velocity` and `q_end` at the end of the drift, with the kinematics at
    /// the start. Returns true if all substeps converged.
    fn drift(
        &mut self,
        model: &Model,
        (configuration, velocity): (&[f64], &[f64]),
        step: f64,
        acceleration: &[f64],
    ) -> bool {
        if !self.explicit_drift(model) {
            return false;
        }
        for (i, kicked) in self.kicked.iter_mut().enumerate() {
            *kicked = velocity[i] + step * (acceleration[i] - self.explicit[i]);
        }
        let mut parts = 1;
        while parts <= MOST_PARTS {
            self.q.copy_from_slice(configuration);
            self.velocity.copy_from_slice(&self.kicked);
            let mut is_good = true;
            for part in 0..parts {
                if part > 0 || parts > 1 {
                    self.kinematics.update(model, &self.q, &self.velocity);
                    is_good = self.explicit_drift(model);
                }
                is_good = is_good && self.midpoint(model, step / parts as f64);
                if !is_good {
                    break;
                }
                self.q.copy_from_slice(&self.q_end);
            }
            if is_good {
                return true;
            }
            parts *= 2;
        }
        false
    }

    /// Writes `explicit = −M⁻¹ C ν` with the factor of M, at the present kinematics.
    fn explicit_drift(&mut self, model: &Model) -> bool {
        mass_matrix(model, &self.kinematics, &mut self.mass);
        if self.factor.factorize(&self.mass).is_err() {
            return false;
        }
        coriolis_force(model, &self.kinematics, &mut self.workspace, &mut self.explicit);
        self.explicit.iter_mut().for_each(|c| *c = -*c);
        self.factor.solve_in_place(&mut self.explicit);
        true
    }

    /// One step of the implicit midpoint rule from (`q`, `velocity`) to (`q_end`, `velocity`):
    /// `M(q_m) a + C(q_m, ν_m) ν_m = 0`, `ν_m = ν + ½ h a`, `q_m = q ⊕ ½ h ν_m`, by iterations
    /// with the factor of M(q).
    fn midpoint(&mut self, model: &Model, h: f64) -> bool {
        self.drift.copy_from_slice(&self.explicit);
        let trees = self.active.iter().zip(&model.trees).filter(|(active, _)| **active);
        let rate = trees.map(|(_, tree)| turning(tree, &self.velocity)).fold(0.0, f64::max);
        let good = rate * (CONVERGED[0] * (h * rate).powi(3)).max(CONVERGED[1]);
        let mut before = f64::INFINITY;
        for iteration in 0..MOST_ITERATIONS {
            for (i, middle) in self.middle.iter_mut().enumerate() {
                *middle = self.velocity[i] + 0.5 * h * self.drift[i];
                self.increment[i] = 0.5 * h * *middle;
            }
            integrate(model, &self.q, &self.increment, &mut self.q_middle);
            self.kinematics.update(model, &self.q_middle, &self.middle);
            let (kinematics, workspace) = (&self.kinematics, &mut self.workspace);
            inverse_dynamics(model, kinematics, &self.drift, workspace, &mut self.force);
            gravity_force(model, kinematics, &mut self.weight);
            for (force, weight) in self.force.iter_mut().zip(&self.weight) {
                *force -= weight;
            }
            self.factor.solve_in_place(&mut self.force);
            let mut change = 0.0f64;
            for (_, tree) in self.active.iter().zip(&model.trees).filter(|(active, _)| **active) {
                for i in tree.v.clone() {
                    self.drift[i] -= self.force[i];
                    change = change.max((h * self.force[i]).abs());
                }
            }
            if !change.is_finite() || (iteration > 3 && change > 2.0 * before) {
                return false;
            }
            if change <= good {
                for (i, velocity) in self.velocity.iter_mut().enumerate() {
                    self.increment[i] = h * (*velocity + 0.5 * h * self.drift[i]);
                    *velocity += h * self.drift[i];
                }
                integrate(model, &self.q, &self.increment, &mut self.q_end);
                return true;
            }
            before = change;
        }
        false
    }

    /// Gives floating bases at the end the momentum after the kick, and moves the centre of mass
    /// along its straight path.
    fn take_momentum(&mut self, model: &Model, configuration: &[f64], step: f64) {
        let is_floating = |(active, tree): (&bool, &Tree)| *active && tree.is_floating();
        if !self.active.iter().zip(&model.trees).any(is_floating) {
            return;
        }
        // Centre, momenta and velocity of the kick are compared with those at the end.
        self.middle.copy_from_slice(&self.velocity);
        self.kinematics.update(model, configuration, &self.kicked);
        for (t, tree) in model.trees.iter().enumerate() {
            if self.active[t] && tree.is_floating() {
                let of_kick = TreeMomentum::of(model, &self.kinematics, t);
                let to = &mut self.force[tree.v.start..tree.v.start + 6];
                to[..3].copy_from_slice(of_kick.linear.as_slice());
                to[3..].copy_from_slice(of_kick.angular.as_slice());
                let end = of_kick.center + of_kick.linear * (step / of_kick.mass);
                self.weight[tree.v.start..tree.v.start + 3].copy_from_slice(end.as_slice());
            }
        }
        self.kinematics.update(model, &self.q_end, &self.velocity);
        for (t, tree) in model.trees.iter().enumerate() {
            if !(self.active[t] && tree.is_floating()) {
                continue;
            }
            let at_end = TreeMomentum::of(model, &self.kinematics, t);
            let wanted = &self.force[tree.v.start..tree.v.start + 6];
            let linear = three(wanted) - at_end.linear;
            let angular = three(&wanted[3..]) - at_end.angular;
            let Some(inverse) = at_end.inertia.try_inverse() else { continue };
            let spin = inverse * angular;
            let speed = linear / at_end.mass - spin.cross(&at_end.arm);
            let path = three(&self.weight[tree.v.start..]) - at_end.center;
            for k in 0..3 {
                self.velocity[tree.v.start + k] += speed[k];
                self.velocity[tree.v.start + 3 + k] += spin[k];
                self.q_end[tree.q.start + k] += path[k];
            }
        }
    }
}

/// Momentum of a floating tree, in world axes.
struct TreeMomentum {
    mass: f64,
    /// Centre of mass in world coordinates, and its position from the base, in world axes [m].
    center: Vector3<f64>,
    arm: Vector3<f64>,
    /// Linear momentum [kg m/s], and angular momentum about the centre of mass [kg m²/s].
    linear: Vector3<f64>,
    angular: Vector3<f64>,
    /// Inertia of the tree with its joints locked, about the centre of mass [kg m²].
    inertia: Matrix3<f64>,
}

impl TreeMomentum {
    fn of(model: &Model, kinematics: &Kinematics, t: usize) -> Self {
        let (tree, origin) = (&model.trees[t], &kinematics.origins[t]);
        let root = kinematics.body(tree.bodies.start);
        let mass = model.bodies[tree.bodies.start].subtree_mass;
        let arm = root.subtree_moment / mass;
        let (mut linear, mut angular) = (Vector3::zeros(), Vector3::zeros());
        for i in tree.bodies.clone() {
            let state = kinematics.body(i);
            let v = &state.velocity;
            let share =
                (v.linear + v.angular.cross(&state.center)) * model.bodies[i].inertia.mass();
            linear += share;
            angular += (state.center - arm).cross(&share) + state.inertia.times(&v.angular);
        }
        let about_base = root.subtree_inertia.to_matrix();
        let steiner = (Matrix3::identity() * arm.norm_squared() - arm * arm.transpose()) * mass;
        Self {
            mass,
            center: origin.position + arm,
            arm,
            linear: linear + origin.velocity * mass,
            angular,
            inertia: about_base - steiner,
        }
    }
}

/// True if a force other than weight acts on a body whose centre of mass has acceleration `push`.
fn is_pushed(model: &Model, push: Vector3<f64>, omega: Vector3<f64>) -> bool {
    (push - model.gravity).norm() > SUPPORT[0] + SUPPORT[1] * omega.norm_squared()
}

/// True if a world consists of bodies on which only weight acts. Contacts of the next step are
/// found at `q ⊕ Δt ν⁺`, so in any other world all bodies keep the explicit drift.
fn all_fly(model: &Model, q: &[f64], velocity: &[f64], acceleration: &[f64]) -> bool {
    model.trees.iter().all(|tree| {
        if !tree.is_floating() || tree.bodies.len() > 1 {
            return false;
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

/// Drift of a body that floats alone; q and ν are those of the body.
fn replace_body(
    model: &Model,
    tree: &Tree,
    (q, nu): (&[f64], &[f64]),
    step: f64,
    (acceleration, shift): (&mut [f64], &mut [f64]),
) -> bool {
    let inertia = &model.bodies[tree.bodies.start].inertia;
    let moments = inertia.about_center_of_mass();
    let Some(inverse) = moments.try_inverse().filter(|_| inertia.mass() > 0.0) else {
        return false;
    };
    // world_from_body
    let r = quaternion_to_rotation([q[3], q[4], q[5], q[6]]);
    let arm = r * inertia.center_of_mass();
    let (velocity, omega) = (three(nu), three(&nu[3..]));
    let (linear, angular) = (three(acceleration), three(&acceleration[3..]));

    let push = linear + angular.cross(&arm) + omega.cross(&omega.cross(&arm));
    if is_pushed(model, push, omega) {
        return false;
    }

    // Kick of the centre of mass, and of the angular momentum in body axes.
    let kicked = velocity + omega.cross(&arm) + step * push;
    let in_body = r.tr_mul(&omega);
    let spin = moments * in_body;
    let momentum = spin + step * (moments * r.tr_mul(&angular)) + step * in_body.cross(&spin);

    let Some((turn, momentum)) = turn_of(&moments, &inverse, &momentum, step) else {
        return false;
    };
    let end = r * rotation(&turn);
    let arm_at_end = end * inertia.center_of_mass();
    let omega_at_end = end * (inverse * momentum);
    let velocity_at_end = kicked - omega_at_end.cross(&arm_at_end);
    let moves = kicked + (arm - arm_at_end) / step;
    let turns = r * turn / step;
    for k in 0..3 {
        acceleration[k] = (velocity_at_end[k] - velocity[k]) / step;
        acceleration[3 + k] = (omega_at_end[k] - omega[k]) / step;
        shift[k] = moves[k] - velocity_at_end[k];
        shift[3 + k] = turns[k] - omega_at_end[k];
    }
    true
}

/// Turn `Δt ω` [rad] of a free body over a step, and its angular momentum afterwards, both in body
/// axes: the energy-momentum rule of the module, by Newton's method.
///
/// | symbol | argument | shape | meaning |
/// |---|---|---|---|
/// | I, I⁻¹ | `moments`, `inverse` | 3 × 3 | inertia about the centre of mass [kg m²] |
/// | Π | `momentum` | 3 | at the beginning, in body axes [kg m²/s] |
/// | Δt | `step` | | [s] |
///
/// `None` if it does not converge.
pub fn turn_of(
    moments: &Matrix3<f64>,
    inverse: &Matrix3<f64>,
    momentum: &Vector3<f64>,
    step: f64,
) -> Option<(Vector3<f64>, Vector3<f64>)> {
    // Newton on the mean ω: I ω − Π + ½ Δt' ω × I ω = 0.
    let mut omega = inverse * momentum;
    let size = momentum.norm();
    for _ in 0..MOST_ITERATIONS {
        let stretched = step * stretch(step * omega.norm());
        let mean = moments * omega;
        let residual = mean - momentum + 0.5 * stretched * omega.cross(&mean);
        if residual.norm() <= 4.0 * f64::EPSILON * size {
            break;
        }
        let slope =
            moments + 0.5 * stretched * (omega.cross_matrix() * moments - mean.cross_matrix());
        omega -= slope.try_inverse()? * residual;
    }
    let turn = omega * (step * angle_ratio(step * omega.norm()));
    let after = rotation(&turn).tr_mul(momentum);
    let energy = momentum.dot(&(inverse * momentum));
    let change = after.dot(&(inverse * after)) - energy;
    (change.abs() <= 1e-9 * energy).then_some((turn, after))
}

/// Turn of a step [rad] from which Cayley's transform is used.
const LONGEST_EXACT_TURN: f64 = 2.0;

/// `Δt'/Δt` at the turn `x = Δt |ω|`: `tan(x/2)/(x/2)`.
fn stretch(turn: f64) -> f64 {
    let half = 0.5 * turn.min(LONGEST_EXACT_TURN);
    if half < 1e-4 { 1.0 + half * half / 3.0 } else { libm::tan(half) / half }
}

/// Angle of the turn over x: 1, and `2 atan(½ x Δt'/Δt)/x` beyond [`LONGEST_EXACT_TURN`].
fn angle_ratio(turn: f64) -> f64 {
    if turn <= LONGEST_EXACT_TURN {
        return 1.0;
    }
    2.0 * libm::atan(0.5 * turn * stretch(turn)) / turn
}

/// Sum of the rates of a tree, without the velocity of a floating base: a bound on how fast any of
/// its bodies turns. Prismatic joints are included [rad/s, m/s].
fn turning(tree: &Tree, velocity: &[f64]) -> f64 {
    let first = if tree.is_floating() { tree.v.start + 3 } else { tree.v.start };
    velocity[first..tree.v.end].iter().map(|rate| rate.abs()).sum()
}

/// Rotation by the vector `turn` [rad].
fn rotation(turn: &Vector3<f64>) -> Matrix3<f64> {
    quaternion_to_rotation(quaternion_exp(turn))
}

fn three(numbers: &[f64]) -> Vector3<f64> {
    Vector3::new(numbers[0], numbers[1], numbers[2])
}
