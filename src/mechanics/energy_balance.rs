//! Kinetic energy that a step adds without work of forces.

use crate::inverse_dynamics::{InverseDynamics, gravity_force, inverse_dynamics};
use crate::kinematics::Kinematics;
use crate::model::Model;

/// Work memory of the balance; carries no state from step to step.
#[derive(Clone, Debug)]
pub struct EnergyBalance {
    kinematics: Kinematics,
    workspace: InverseDynamics,
    force: Vec<f64>,
    weight: Vec<f64>,
}

impl EnergyBalance {
    /// Allocates memory for `model`.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let zeros = vec![0.0; model.velocity_dim()];
        Self {
            kinematics: Kinematics::new(model),
            workspace: InverseDynamics::new(model),
            force: zeros.clone(),
            weight: zeros,
        }
    }

    /// Balance of a step: writes, for each moving tree, its kinetic energy at the beginning, the
    /// work of forces, and the energy that is neither [J].
    ///
    /// ```text
    /// T = ½ νᵀ M ν        W = Δt ½ (ν + ν⁺)ᵀ F,  F = M ν̇ + C ν        T⁺ − T − W
    /// ```
    ///
    /// F contains all forces, weight, contacts and joints, as ν̇ shows them, so W is exact for
    /// forces that are constant over the step. At constant M a step `ν⁺ = ν + Δt ν̇` adds no
    /// energy.
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
        mut write: impl FnMut(usize, [f64; 3]),
    ) {
        let Self { kinematics, workspace, force, weight } = self;
        kinematics.update(model, start.0, start.1);
        inverse_dynamics(model, kinematics, acceleration, workspace, force);
        gravity_force(model, kinematics, weight);
        let moving = || model.trees.iter().enumerate().filter(|(_, tree)| !tree.v.is_empty());
        for (t, tree) in moving() {
            let kinetic = kinetic_energy_of(model, kinematics, t, start.1);
            let mut work = 0.0;
            for i in tree.v.clone() {
                work += 0.5 * step * (start.1[i] + end.1[i]) * (force[i] - weight[i]);
            }
            (weight[tree.v.start], force[tree.v.start]) = (kinetic, work);
        }
        kinematics.update(model, end.0, end.1);
        for (t, tree) in moving() {
            let (kinetic, work) = (weight[tree.v.start], force[tree.v.start]);
            let after = kinetic_energy_of(model, kinematics, t, end.1);
            write(t, [kinetic, work, after - kinetic - work]);
        }
    }

    /// Forces and energy at an instant: `F = M ν̇ + C ν` (nv) in `force`, the sum of weight,
    /// contacts and joints, and the kinetic energy of each moving tree [J].
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
        mut write: impl FnMut(usize, f64),
    ) {
        let Self { kinematics, workspace, weight, .. } = self;
        kinematics.update(model, q, nu);
        inverse_dynamics(model, kinematics, acceleration, workspace, force);
        gravity_force(model, kinematics, weight);
        force.iter_mut().zip(weight).for_each(|(force, weight)| *force -= *weight);
        for (t, _) in model.trees.iter().enumerate().filter(|(_, tree)| !tree.v.is_empty()) {
            write(t, kinetic_energy_of(model, kinematics, t, nu));
        }
    }
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
