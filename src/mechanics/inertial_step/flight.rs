//! Drift of a floating tree whose joints are driven or tied: its base takes the momentum that
//! weight and smooth forces leave.

use super::momentum::TreeMomentum;
use super::{InertialStep, MOST_ITERATIONS, three, turning};
use crate::manifold::integrate;
use crate::model::Model;

impl InertialStep {
    /// Drift of a floating tree whose joints are driven. Joints keep the explicit step, including
    /// ties between them, and the base takes the momentum that weight and smooth forces leave. The
    /// kinematics and `force` are those at the beginning.
    ///
    /// At constant joint rates, ω is the angular velocity of the momentum in the middle of the
    /// step. It turns the base, by iteration; the velocity and position at the end follow from the
    /// momentum.
    pub(super) fn fly(
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
        let mut linear = before.linear + model.gravity * (before.mass * step);
        let mut angular = before.angular;
        if self.is_smooth {
            let (push, twist) = (three(&self.force[v..]), three(&self.force[v + 3..]));
            linear += push * step;
            angular += (twist - before.arm.cross(&push)) * step;
        }
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
            let change = inverse * (angular - middle.angular);
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
        let Some((speed, spin)) = end.velocity_to(linear, angular) else { return false };
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
}
