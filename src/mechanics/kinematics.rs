//! Placements, velocities and inertias of all bodies at one state: what every other quantity
//! shares.
//!
//! All spatial quantities are expressed in **world axes about the base origin** `O = p_base` (the
//! world origin if the base is fixed), linear part first. In this common frame
//! - the base velocity `(ṗ, ω)` is `ν[0..6]` itself and the base columns of every Jacobian at `O`
//!   are the identity;
//! - spatial vectors and inertias of different bodies add without transformation;
//! - nothing loses digits when the robot walks far from the world origin.
//!
//! A joint at `c` (from `O`) with axis `a` moves its body by `S ṡ`, `S = (c × a, a)` if it turns
//! and `S = (a, 0)` if it slides. With parent `λ(i)`:
//!
//! ```text
//! v_i = v_λ(i) + S_i ṡ_i
//! a_i = a_λ(i) + v_λ(i) × S_i ṡ_i              (at ν̇ = 0; × is the spatial motion cross product)
//! ```
//!
//! Velocities are seen by an observer who moves steadily with `ṗ` (a Galilean frame): the base
//! then has `v_0 = (0, ω)` and `a_0 = 0` at `ν̇ = 0`, and forces and accelerations are the same
//! for all such observers. Absolute velocities add `ṗ` at the end.
//!
//! Reference: R. Featherstone, *Rigid Body Dynamics Algorithms* (2008), ch. 2, 5.

use nalgebra::{Matrix3, Vector3};

use crate::inertia::Symmetric3;
use crate::manifold::quaternion_to_rotation;
use crate::model::{Axis, Body, Model};

/// Spatial vector of motion: linear part at `O`, angular part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Motion {
    pub(crate) linear: Vector3<f64>,
    pub(crate) angular: Vector3<f64>,
}

impl Motion {
    pub(crate) fn zero() -> Self {
        Self { linear: Vector3::zeros(), angular: Vector3::zeros() }
    }

    /// Dot product with a spatial force given by its parts.
    #[inline]
    pub(crate) fn power(&self, force: &Vector3<f64>, moment: &Vector3<f64>) -> f64 {
        self.linear.dot(force) + self.angular.dot(moment)
    }
}

/// State of one body.
#[derive(Clone, Debug)]
pub(crate) struct BodyState {
    /// `world_from_body` rotation.
    pub(crate) rotation: Matrix3<f64>,
    /// Body origin from `O` [m].
    pub(crate) position: Vector3<f64>,
    /// Motion subspace `S` of the body's joint.
    pub(crate) subspace: Motion,
    /// Spatial velocity, less `ṗ`.
    pub(crate) velocity: Motion,
    /// Spatial acceleration at `ν̇ = 0`, without gravity.
    pub(crate) bias: Motion,
    /// Centre of mass from `O` [m].
    pub(crate) center: Vector3<f64>,
    /// Rotational inertia about the centre of mass, world axes [kg m²].
    pub(crate) inertia: Symmetric3,
    /// First moment of mass of the body and all it carries, about `O` [kg m].
    pub(crate) subtree_moment: Vector3<f64>,
    /// Rotational inertia of the body and all it carries, about `O`, world axes [kg m²].
    pub(crate) subtree_inertia: Symmetric3,
}

/// Kinematics of a robot at one state (q, ν).
///
/// Make one per model, `update` it when the state changes, and hand it to the functions that
/// compute a quantity. `update` allocates nothing.
#[derive(Clone, Debug)]
pub struct Kinematics {
    pub(crate) base_position: Vector3<f64>,
    pub(crate) base_linear_velocity: Vector3<f64>,
    pub(crate) bodies: Vec<BodyState>,
}

impl Kinematics {
    /// Memory for `model`, at the zero configuration, at rest.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let still = BodyState {
            rotation: Matrix3::identity(),
            position: Vector3::zeros(),
            subspace: Motion::zero(),
            velocity: Motion::zero(),
            bias: Motion::zero(),
            center: Vector3::zeros(),
            inertia: Symmetric3::default(),
            subtree_moment: Vector3::zeros(),
            subtree_inertia: Symmetric3::default(),
        };
        let mut kinematics = Self {
            base_position: Vector3::zeros(),
            base_linear_velocity: Vector3::zeros(),
            bodies: vec![still; model.bodies.len()],
        };
        let nu = vec![0.0; model.velocity_dim()];
        kinematics.update(model, &model.zero_configuration(), &nu);
        kinematics
    }

    /// Computes everything at (q, ν).
    ///
    /// | symbol | argument | shape | meaning |
    /// |---|---|---|---|
    /// | q | `configuration` | nq | (p, quaternion wxyz, s) [m, 1, rad or m] |
    /// | ν | `velocity` | nv | (ṗ, ω, ṡ), world axes [m/s, rad/s, rad/s or m/s] |
    ///
    /// The quaternion may be off unit length by any factor but zero. O(n).
    ///
    /// # Panics
    /// If a slice has the wrong length.
    pub fn update(&mut self, model: &Model, configuration: &[f64], velocity: &[f64]) {
        self.update_placements(model, configuration);
        self.update_velocities(model, velocity);
        self.update_inertias(model);
    }

    /// Computes placements and joint axes only: enough for frame placements and Jacobians.
    /// Velocities and inertias keep the values of an earlier state.
    ///
    /// # Panics
    /// If `configuration` has the wrong length.
    pub fn update_placements(&mut self, model: &Model, configuration: &[f64]) {
        assert_eq!(configuration.len(), model.configuration_dim(), "length of configuration");
        if model.is_floating() {
            let q = configuration;
            self.base_position = Vector3::new(q[0], q[1], q[2]);
            self.bodies[0].rotation = quaternion_to_rotation([q[3], q[4], q[5], q[6]]);
        }
        for (i, body) in model.bodies.iter().enumerate().skip(1) {
            let (done, rest) = self.bodies.split_at_mut(i);
            place(body, configuration[body.q_index], &done[body.parent], &mut rest[0]);
        }
    }

    /// Computes velocities and bias accelerations at the placements of the last update.
    ///
    /// # Panics
    /// If `velocity` has the wrong length.
    pub fn update_velocities(&mut self, model: &Model, velocity: &[f64]) {
        assert_eq!(velocity.len(), model.velocity_dim(), "length of velocity");
        if model.is_floating() {
            self.base_linear_velocity = Vector3::new(velocity[0], velocity[1], velocity[2]);
            self.bodies[0].velocity.angular = Vector3::new(velocity[3], velocity[4], velocity[5]);
        }
        for (i, body) in model.bodies.iter().enumerate().skip(1) {
            let (done, rest) = self.bodies.split_at_mut(i);
            let parent = &done[body.parent];
            let state = &mut rest[0];
            let speed = velocity[body.v_index];
            let joint_linear = state.subspace.linear * speed;
            let joint_angular = state.subspace.angular * speed;
            let v = &parent.velocity;
            state.velocity.linear = v.linear + joint_linear;
            state.velocity.angular = v.angular + joint_angular;
            state.bias.linear = parent.bias.linear
                + (v.angular.cross(&joint_linear) + v.linear.cross(&joint_angular));
            state.bias.angular = parent.bias.angular + v.angular.cross(&joint_angular);
        }
    }

    /// Turns the inertias into world axes and sums them over subtrees.
    fn update_inertias(&mut self, model: &Model) {
        for (body, state) in model.bodies.iter().zip(&mut self.bodies) {
            let inertia = &body.inertia;
            state.center = state.rotation * inertia.center_of_mass() + state.position;
            state.inertia = inertia.about_center().rotated(&state.rotation);
            state.subtree_moment = state.center * inertia.mass();
            state.subtree_inertia = state.inertia.shifted(inertia.mass(), &state.center);
        }
        for (i, body) in model.bodies.iter().enumerate().skip(1).rev() {
            let (rest, child) = self.bodies.split_at_mut(i);
            let parent = &mut rest[body.parent];
            parent.subtree_moment += child[0].subtree_moment;
            parent.subtree_inertia.add(&child[0].subtree_inertia);
        }
    }
}

/// Placement and motion subspace of a body from its parent's placement.
#[inline]
fn place(body: &Body, q: f64, parent: &BodyState, state: &mut BodyState) {
    let joint = if body.unrotated { parent.rotation } else { parent.rotation * body.rotation };
    let position = parent.position + parent.rotation * body.offset;
    let [x, y, z]: [Vector3<f64>; 3] =
        [joint.column(0).into(), joint.column(1).into(), joint.column(2).into()];
    let q = body.sign * q;
    match body.axis {
        Axis::RevoluteX => {
            let (s, c) = libm::sincos(q);
            state.rotation = Matrix3::from_columns(&[x, y * c + z * s, z * c - y * s]);
            state.turn(position, x * body.sign);
        }
        Axis::RevoluteY => {
            let (s, c) = libm::sincos(q);
            state.rotation = Matrix3::from_columns(&[x * c - z * s, y, z * c + x * s]);
            state.turn(position, y * body.sign);
        }
        Axis::RevoluteZ => {
            let (s, c) = libm::sincos(q);
            state.rotation = Matrix3::from_columns(&[x * c + y * s, y * c - x * s, z]);
            state.turn(position, z * body.sign);
        }
        Axis::PrismaticX => state.slide(joint, position, x * q, x * body.sign),
        Axis::PrismaticY => state.slide(joint, position, y * q, y * body.sign),
        Axis::PrismaticZ => state.slide(joint, position, z * q, z * body.sign),
    }
}

impl BodyState {
    #[inline]
    fn turn(&mut self, position: Vector3<f64>, axis: Vector3<f64>) {
        self.position = position;
        self.subspace = Motion { linear: position.cross(&axis), angular: axis };
    }

    #[inline]
    fn slide(
        &mut self,
        rotation: Matrix3<f64>,
        position: Vector3<f64>,
        slid: Vector3<f64>,
        axis: Vector3<f64>,
    ) {
        self.rotation = rotation;
        self.position = position + slid;
        self.subspace = Motion { linear: axis, angular: Vector3::zeros() };
    }
}
