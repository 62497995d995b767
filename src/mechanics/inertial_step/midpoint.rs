//! Drift of a tree that nothing holds, by the implicit midpoint rule.

use super::momentum::TreeMomentum;
use super::{InertialStep, MOST_ITERATIONS, three, turning};
use crate::inverse_dynamics::{coriolis_force, gravity_force, inverse_dynamics};
use crate::manifold::integrate;
use crate::mass_matrix::mass_matrix;
use crate::model::{Model, Tree};
use crate::momentum::{kinetic_energy, rotor_kinetic_energy};

/// Largest number of substeps if the whole step is not solved, or changes the energy.
const MOST_PARTS: usize = 16;
/// Change of the kinetic energy in a step, relative to it, from which the step is divided.
const MOST_GAIN: f64 = 1e-3;
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
        self.mass.multiply(&self.kicked, &mut self.weight);
        let twice: f64 = self.kicked.iter().zip(&self.weight).map(|(v, p)| v * p).sum();
        let energy = 0.5 * twice;
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
            if is_good && (parts == MOST_PARTS || self.keeps(model, energy)) {
                return true;
            }
            parts *= 2;
        }
        false
    }

    /// True if the kinetic energy at the end of the drift is that of the kick, `energy`, but for
    /// a share of [`MOST_GAIN`].
    fn keeps(&mut self, model: &Model, energy: f64) -> bool {
        self.kinematics.update(model, &self.q_end, &self.velocity);
        let end = kinetic_energy(model, &self.kinematics);
        let gain = end + rotor_kinetic_energy(model, &self.velocity) - energy;
        gain.abs() <= MOST_GAIN * energy
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
    /// with the factor of M(q). If they do not converge, Newton's method solves it.
    fn midpoint(&mut self, model: &Model, h: f64) -> bool {
        self.drift.copy_from_slice(&self.explicit);
        let trees = self.active.iter().zip(&model.trees).filter(|(active, _)| **active);
        let rate = trees.map(|(_, tree)| turning(tree, &self.velocity)).fold(0.0, f64::max);
        let good = rate * (CONVERGED[0] * (h * rate).powi(3)).max(CONVERGED[1]);
        if !self.iterate(model, h, good) && !self.newton(model, h, good) {
            return false;
        }
        for (i, velocity) in self.velocity.iter_mut().enumerate() {
            self.increment[i] = h * (*velocity + 0.5 * h * self.drift[i]);
            *velocity += h * self.drift[i];
        }
        integrate(model, &self.q, &self.increment, &mut self.q_end);
        true
    }

    /// Iterations of [`Self::midpoint`] with the factor of M(q), until the velocity changes by less
    /// than `good`.
    fn iterate(&mut self, model: &Model, h: f64, good: f64) -> bool {
        let mut before = f64::INFINITY;
        for iteration in 0..MOST_ITERATIONS {
            self.residual(model, h);
            self.factor.solve_in_place(&mut self.force);
            let change = self.take_change(model, h);
            if !change.is_finite() || (iteration > 3 && change > 2.0 * before) {
                return false;
            }
            if change <= good {
                return true;
            }
            before = change;
        }
        false
    }

    /// Newton's method for [`Self::midpoint`], from the explicit drift. It converges where the
    /// iterations do not: if light links make M ill-conditioned. False for a tree with more than 64
    /// coordinates.
    fn newton(&mut self, model: &Model, h: f64, good: f64) -> bool {
        if self.newton.is_none() {
            return false;
        }
        self.drift.copy_from_slice(&self.explicit);
        for _ in 0..MOST_ITERATIONS {
            self.residual(model, h);
            mass_matrix(model, &self.kinematics, &mut self.mass);
            let Some(newton) = &mut self.newton else { return false };
            let (kinematics, drift) = (&self.kinematics, &self.drift);
            if !newton.solve(model, kinematics, drift, &self.mass, h, &mut self.force) {
                return false;
            }
            let change = self.take_change(model, h);
            if !change.is_finite() {
                return false;
            }
            if change <= good {
                return true;
            }
        }
        false
    }

    /// Writes `force = M(q_m) a + C(q_m, ν_m) ν_m` with a in `drift`, and the kinematics there.
    fn residual(&mut self, model: &Model, h: f64) {
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
    }

    /// Subtracts the correction in `force` from `drift`. Returns the change of velocity.
    fn take_change(&mut self, model: &Model, h: f64) -> f64 {
        let mut change = 0.0f64;
        for (_, tree) in self.active.iter().zip(&model.trees).filter(|(active, _)| **active) {
            for i in tree.v.clone() {
                self.drift[i] -= self.force[i];
                let moved = (h * self.force[i]).abs();
                change = if moved.is_nan() { moved } else { change.max(moved) };
            }
        }
        change
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
