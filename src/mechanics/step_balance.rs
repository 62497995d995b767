//! Balance of energy and momentum over a step.

use nalgebra::Vector3;

use crate::inverse_dynamics::{InverseDynamics, gravity_force, inverse_dynamics};
use crate::kinematics::Kinematics;
use crate::model::Model;
use crate::momentum::linear_momentum;

/// Energy, momentum and forces of a tree at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
pub struct TreeMotion {
    /// Kinetic energy with the rotors of motors [J].
    pub kinetic: f64,
    /// Momentum of a tree whose base floats.
    pub free: Option<FreeMotion>,
}

/// Momentum of a floating tree about its centre of mass, world axes: linear parts first, then
/// angular ones.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
pub struct FreeMotion {
    /// Centroidal momentum (p, L) [N s, N m s].
    pub momentum: [f64; 6],
    /// Sums of the norms of all links' momenta [N s, N m s]. They stay positive where (p, L) cancel.
    pub gross: [f64; 2],
    /// Wrench of all forces, weight and contacts: `ṗ`, `L̇` [N, N m].
    pub wrench: [f64; 6],
}

/// Balance of a step of one tree.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TreeBalance {
    /// At the beginning of the step.
    pub start: TreeMotion,
    /// Work of forces [J].
    pub work: f64,
    /// Unexplained kinetic energy `T⁺ − T − W` [J].
    pub energy: f64,
    /// Unexplained momentum of a floating tree, `p⁺ − p − Δt ṗ` and `L⁺ − L − Δt L̇` [N s, N m s];
    /// zero for a fixed base.
    pub momentum: [f64; 6],
}

/// Work memory of the balance; carries no state from step to step.
#[derive(Clone, Debug)]
pub struct StepBalance {
    kinematics: Kinematics,
    workspace: InverseDynamics,
    force: Vec<f64>,
    weight: Vec<f64>,
    balances: Vec<TreeBalance>,
}

impl StepBalance {
    /// Allocates memory for `model`.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let zeros = vec![0.0; model.velocity_dim()];
        Self {
            kinematics: Kinematics::new(model),
            workspace: InverseDynamics::new(model),
            force: zeros.clone(),
            weight: zeros,
            balances: vec![TreeBalance::default(); model.trees.len()],
        }
    }

    /// Balance of a step: writes that of each moving tree.
    ///
    /// ```text
    /// T = ½ νᵀ M ν        W = Δt ½ (ν + ν⁺)ᵀ F,  F = M ν̇ + C ν        T⁺ − T − W
    /// p = Σ m v,  L = Σ (c_i − c) × m v_i + I ω        p⁺ − p − Δt f,  L⁺ − L − Δt (n − c × f)
    /// ```
    ///
    /// F contains all forces, weight, contacts and joints, as ν̇ shows them, so W is exact for
    /// forces that are constant over the step. Its rows of a floating base are f and n about the
    /// base's origin, from which c is measured. At constant M a step `ν⁺ = ν + Δt ν̇` adds no
    /// energy and no momentum.
    ///
    /// | symbol | argument | shape | meaning |
    /// |---|---|---|---|
    /// | q, ν | `start` | nq, nv | at the beginning of the step |
    /// | ν̇ | `acceleration` | nv | at the beginning of the step |
    /// | Δt | `step` | | [s] |
    /// | q⁺, ν⁺ | `end` | nq, nv | at the end of the step |
    ///
    /// O(n), allocates nothing.
    ///
    /// # Panics
    /// If a slice has the wrong length.
    pub fn of_step(
        &mut self,
        model: &Model,
        start: (&[f64], &[f64]),
        acceleration: &[f64],
        step: f64,
        end: (&[f64], &[f64]),
        mut write: impl FnMut(usize, TreeBalance),
    ) {
        self.forces_at(model, start, acceleration);
        let Self { kinematics, force, balances, .. } = self;
        let moving = || model.trees.iter().enumerate().filter(|(_, tree)| !tree.v.is_empty());
        for (t, tree) in moving() {
            let power = |i: usize| (start.1[i] + end.1[i]) * force[i];
            let work = 0.5 * step * tree.v.clone().map(power).sum::<f64>();
            let begins = motion_of(model, kinematics, t, start.1, force);
            balances[t] = TreeBalance { start: begins, work, ..TreeBalance::default() };
        }
        kinematics.update(model, end.0, end.1);
        for (t, _) in moving() {
            let ends = motion_of(model, kinematics, t, end.1, force);
            let mut balance = balances[t];
            balance.energy = ends.kinetic - balance.start.kinetic - balance.work;
            if let (Some(before), Some(after)) = (balance.start.free, ends.free) {
                for (i, change) in balance.momentum.iter_mut().enumerate() {
                    *change = after.momentum[i] - before.momentum[i] - step * before.wrench[i];
                }
            }
            write(t, balance);
        }
    }

    /// Forces, energy and momentum at an instant: `F = M ν̇ + C ν` (nv) in `force`, the sum of
    /// weight, contacts and joints, and the motion of each moving tree.
    ///
    /// O(n), allocates nothing.
    ///
    /// # Panics
    /// If a slice has the wrong length.
    pub fn at(
        &mut self,
        model: &Model,
        (q, nu): (&[f64], &[f64]),
        acceleration: &[f64],
        force: &mut [f64],
        mut write: impl FnMut(usize, TreeMotion),
    ) {
        self.forces_at(model, (q, nu), acceleration);
        force.copy_from_slice(&self.force);
        for (t, _) in model.trees.iter().enumerate().filter(|(_, tree)| !tree.v.is_empty()) {
            write(t, motion_of(model, &self.kinematics, t, nu, force));
        }
    }

    /// `F = M ν̇ + C ν` at (q, ν).
    fn forces_at(&mut self, model: &Model, (q, nu): (&[f64], &[f64]), acceleration: &[f64]) {
        let Self { kinematics, workspace, force, weight, .. } = self;
        kinematics.update(model, q, nu);
        inverse_dynamics(model, kinematics, acceleration, workspace, force);
        gravity_force(model, kinematics, weight);
        force.iter_mut().zip(weight).for_each(|(force, weight)| *force -= *weight);
    }
}

/// Motion of a tree under the generalised forces `force`.
fn motion_of(
    model: &Model,
    kinematics: &Kinematics,
    t: usize,
    velocity: &[f64],
    force: &[f64],
) -> TreeMotion {
    let kinetic = kinetic_energy_of(model, kinematics, t, velocity);
    let free = model.trees[t].is_floating().then(|| free_motion(model, kinematics, t, force));
    TreeMotion { kinetic, free }
}

/// Momentum and wrench of a floating tree about its centre of mass.
fn free_motion(model: &Model, kinematics: &Kinematics, t: usize, force: &[f64]) -> FreeMotion {
    let (tree, origin) = (&model.trees[t], &kinematics.origins[t]);
    let root = tree.bodies.start;
    let mass = model.bodies[root].subtree_mass;
    let moment = kinematics.body(root).subtree_moment;
    let center = if mass > 0.0 { moment / mass } else { moment };
    let mut linear = origin.velocity * mass;
    let mut angular = Vector3::zeros();
    let mut gross = [0.0; 2];
    for i in tree.bodies.clone() {
        let state = kinematics.body(i);
        let share = linear_momentum(model, kinematics, i);
        let turns =
            (state.center - center).cross(&share) + state.inertia.times(&state.velocity.angular);
        gross[0] += (share + origin.velocity * model.bodies[i].inertia.mass()).norm();
        gross[1] += turns.norm();
        linear += share;
        angular += turns;
    }
    let at = tree.v.start;
    let pull = Vector3::new(force[at], force[at + 1], force[at + 2]);
    let twist = Vector3::new(force[at + 3], force[at + 4], force[at + 5]) - center.cross(&pull);
    FreeMotion { momentum: stacked(linear, angular), gross, wrench: stacked(pull, twist) }
}

fn stacked(linear: Vector3<f64>, angular: Vector3<f64>) -> [f64; 6] {
    [linear.x, linear.y, linear.z, angular.x, angular.y, angular.z]
}

/// Kinetic energy of a tree with the rotors of its motors, `½ νᵀMν` [J].
fn kinetic_energy_of(model: &Model, kinematics: &Kinematics, t: usize, velocity: &[f64]) -> f64 {
    let (tree, base) = (&model.trees[t], &kinematics.origins[t].velocity);
    let mut twice = 0.0;
    for i in tree.bodies.clone() {
        let state = kinematics.body(i);
        let v = &state.velocity;
        let center = base + (v.linear + v.angular.cross(&state.center));
        twice += model.bodies[i].inertia.mass() * center.norm_squared()
            + v.angular.dot(&state.inertia.times(&v.angular));
    }
    let joints = model.joint_velocities.iter().enumerate();
    let own = joints.filter(|(_, a)| tree.v.contains(a));
    for (i, &a) in own {
        match model.rotors.matrix() {
            None => twice += model.rotors.diagonal[i] * velocity[a] * velocity[a],
            Some(_) => {
                for (j, &b) in model.joint_velocities.iter().enumerate() {
                    twice += model.rotors.entry(i, j) * velocity[a] * velocity[b];
                }
            }
        }
    }
    0.5 * twice
}
