//! Drift of a tree that nothing holds, by the implicit midpoint rule.

use super::momentum::TreeMomentum;
use super::{InertialStep, MOST_ITERATIONS, three, turning};
use crate::inverse_dynamics::{coriolis_force, gravity_force, inverse_dynamics};
use crate::manifold::integrate;
use crate::mass_matrix::mass_matrix;
use crate::model::{Model, Tree};

/// Largest number of substeps if the iterations do not converge in the whole step.
const MOST_PARTS: usize = 16;
/// Change of velocity at which the iterations have converged: relative to the error of the midpoint
/// rule in a step, `(h w)³ w` at the rates `w = Σ|ω|`, and relative to w, for rounding.
const CONVERGED: [f64; 2] = [1e-4, 1e-13];

impl InertialStep {
    /// Writes `kicked`, and `velocity` and `q_end` at the end of the drift, with the kinematics at
    /// the start. Returns true if all substeps converged.
    pub(super) fn drift(
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
    pub(super) fn take_momentum(&mut self, model: &Model, configuration: &[f64], step: f64) {
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
            let Some((speed, spin)) = at_end.velocity_to(three(wanted), three(&wanted[3..])) else {
                continue;
            };
            let path = three(&self.weight[tree.v.start..]) - at_end.center;
            for k in 0..3 {
                self.velocity[tree.v.start + k] += speed[k];
                self.velocity[tree.v.start + 3 + k] += spin[k];
                self.q_end[tree.q.start + k] += path[k];
            }
        }
    }
}
