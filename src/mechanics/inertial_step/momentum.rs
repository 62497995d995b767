//! Momentum of a floating tree.

use nalgebra::{Matrix3, Vector3};

use crate::kinematics::Kinematics;
use crate::model::Model;

/// Momentum of a floating tree, in world axes.
pub(super) struct TreeMomentum {
    pub(super) mass: f64,
    /// Centre of mass in world coordinates, and its position from the base, in world axes [m].
    pub(super) center: Vector3<f64>,
    pub(super) arm: Vector3<f64>,
    /// Linear momentum [kg m/s], and angular momentum about the centre of mass [kg m²/s].
    pub(super) linear: Vector3<f64>,
    pub(super) angular: Vector3<f64>,
    /// Inertia of the tree with its joints locked, about the centre of mass [kg m²].
    pub(super) inertia: Matrix3<f64>,
}

impl TreeMomentum {
    pub(super) fn of(model: &Model, kinematics: &Kinematics, t: usize) -> Self {
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
    /// Change of the base's velocity [m/s] and angular velocity [rad/s] with which the momentum
    /// becomes `linear` and `angular`; none if the inertia is singular.
    pub(super) fn velocity_to(
        &self,
        linear: Vector3<f64>,
        angular: Vector3<f64>,
    ) -> Option<(Vector3<f64>, Vector3<f64>)> {
        let spin = self.inertia.try_inverse()? * (angular - self.angular);
        Some(((linear - self.linear) / self.mass - spin.cross(&self.arm), spin))
    }
}
