//! Placements, velocities and inertias of all bodies at one state: the common input of every other
//! quantity.
//!
//! All spatial quantities are expressed in **world axes about the base origin** `O = p_base` of the
//! body's own tree (where the root is mounted if the base is fixed), linear part first. In this
//! common frame
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
//! (for the parts of a ball joint `v_λ` is the velocity of the body that carries the joint, to
//! which its axes are fixed).
//!
//! Velocities are seen by an observer who moves steadily with `ṗ` (a Galilean frame): the base
//! then has `v_0 = (0, ω)` and `a_0 = 0` at `ν̇ = 0`, and forces and accelerations are the same
//! for all such observers. Absolute velocities add `ṗ` at the end.
//!
//! Reference: R. Featherstone, *Rigid Body Dynamics Algorithms* (2008), ch. 2, 5.

use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};

use crate::body::Axis;
use crate::chain::Chain;
use crate::inertia::Symmetric3;
use crate::layout::{BallPart, Group, Layout, Role, gather, scatter};
use crate::manifold::quaternion_to_rotation;
use crate::model::Model;
use crate::quad::{LANES, Laned, Quad, Quad3, QuadMatrix, QuadMotion, QuadSymmetric, pick};
use crate::sine::sincos;

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

impl BodyState {
    /// Largest `Sᵀ I S` that a body of this reach could have with all it carries.
    pub(crate) fn most(&self, subtree_mass: f64) -> f64 {
        let i = &self.subtree_inertia;
        let s = &self.subspace;
        subtree_mass * s.linear.norm_squared() + (i.xx + i.yy + i.zz) * s.angular.norm_squared()
    }
}

/// State of four bodies, the fields of [`BodyState`].
#[derive(Clone, Debug)]
pub(crate) struct GroupState {
    pub(crate) rotation: QuadMatrix,
    pub(crate) position: Quad3,
    pub(crate) subspace: QuadMotion,
    pub(crate) velocity: QuadMotion,
    pub(crate) bias: QuadMotion,
    pub(crate) center: Quad3,
    pub(crate) inertia: QuadSymmetric,
    pub(crate) subtree_moment: Quad3,
    pub(crate) subtree_inertia: QuadSymmetric,
}

/// Reference point of one tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// `O` in the world [m].
    pub(crate) position: Vector3<f64>,
    /// `ṗ` of a floating base [m/s].
    pub(crate) velocity: Vector3<f64>,
}

/// Kinematics of a robot at one state (q, ν).
///
/// Make one per model, `update` it when the state changes, and hand it to the functions that
/// compute a quantity. `update` allocates nothing.
#[doc(alias("forward kinematics", "Data"))]
#[derive(Clone, Debug)]
pub struct Kinematics {
    layout: Arc<Layout>,
    /// By tree.
    pub(crate) origins: Vec<Origin>,
    /// By group of the layout.
    pub(crate) groups: Vec<GroupState>,
}

impl Kinematics {
    /// Memory for `model`, at the zero configuration, at rest.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let still = GroupState {
            rotation: QuadMatrix::splat(&Matrix3::identity()),
            position: Quad3::zero(),
            subspace: QuadMotion::zero(),
            velocity: QuadMotion::zero(),
            bias: QuadMotion::zero(),
            center: Quad3::zero(),
            inertia: QuadSymmetric::zero(),
            subtree_moment: Quad3::zero(),
            subtree_inertia: QuadSymmetric::zero(),
        };
        let origin = |mount: Vector3<f64>| Origin { position: mount, velocity: Vector3::zeros() };
        let layout = Arc::clone(&model.layout);
        let mut kinematics = Self {
            origins: model.trees.iter().map(|tree| origin(tree.mount.translation)).collect(),
            groups: vec![still; layout.groups.len()],
            layout,
        };
        for tree in &model.trees {
            let (group, lane) = kinematics.layout.places[tree.bodies.start];
            kinematics.groups[group].rotation.set_lane(lane, &tree.mount.rotation);
        }
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
    /// Quaternions may be off unit length by any factor but zero. O(n).
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
        let layout = &*model.layout;
        for (t, tree) in model.trees.iter().enumerate().filter(|(_, tree)| tree.is_floating()) {
            let q = &configuration[tree.q.start..tree.q.start + 7];
            self.origins[t].position = Vector3::new(q[0], q[1], q[2]);
            let rotation = quaternion_to_rotation([q[3], q[4], q[5], q[6]]);
            let (group, lane) = layout.places[tree.bodies.start];
            self.groups[group].rotation.set_lane(lane, &rotation);
        }
        for (g, group) in layout.groups.iter().enumerate().skip(layout.root_groups) {
            match group.role {
                Role::Tree => {
                    let (done, rest) = self.groups.split_at_mut(g);
                    place(group, configuration, done, &mut rest[0]);
                }
                Role::Start(chain) => {
                    place_chain(layout, &layout.chains[chain], configuration, &mut self.groups);
                }
                Role::Link => {}
            }
        }
    }

    /// Computes velocities and bias accelerations at the placements of the last update.
    ///
    /// # Panics
    /// If `velocity` has the wrong length.
    pub fn update_velocities(&mut self, model: &Model, velocity: &[f64]) {
        assert_eq!(velocity.len(), model.velocity_dim(), "length of velocity");
        let layout = &*model.layout;
        for (t, tree) in model.trees.iter().enumerate().filter(|(_, tree)| tree.is_floating()) {
            let v = &velocity[tree.v.start..tree.v.start + 6];
            self.origins[t].velocity = Vector3::new(v[0], v[1], v[2]);
            let (group, lane) = layout.places[tree.bodies.start];
            let angular = Vector3::new(v[3], v[4], v[5]);
            self.groups[group].velocity.angular.set_lane(lane, &angular);
        }
        for (g, group) in layout.groups.iter().enumerate().skip(layout.root_groups) {
            match group.role {
                Role::Tree => {
                    let (done, rest) = self.groups.split_at_mut(g);
                    move_bodies(group, velocity, done, &mut rest[0]);
                }
                Role::Start(chain) => {
                    move_chain(layout, &layout.chains[chain], velocity, &mut self.groups);
                }
                Role::Link => {}
            }
        }
    }

    /// Turns the inertias into world axes and sums them over subtrees, at the placements of the
    /// last update: with them, enough for the mass matrix.
    pub fn update_inertias(&mut self, model: &Model) {
        let layout = &*model.layout;
        for (group, state) in layout.groups.iter().zip(&mut self.groups) {
            state.center = state.rotation.times(&group.center) + state.position;
            state.inertia = group.inertia.rotated(&state.rotation);
            state.subtree_moment = state.center.times(group.mass);
            state.subtree_inertia = state.inertia.shifted(group.mass, &state.center);
        }
        for (g, group) in layout.groups.iter().enumerate().skip(layout.root_groups).rev() {
            if let Role::Start(chain) = group.role {
                layout.chains[chain].carry_in(&mut self.groups, |s| &mut s.subtree_moment);
                layout.chains[chain].carry_in(&mut self.groups, |s| &mut s.subtree_inertia);
                continue;
            }
            let (rest, child) = self.groups.split_at_mut(g);
            let (source, live) = (&group.parent, &group.live);
            scatter(source, live, rest, |s| &mut s.subtree_moment, &child[0].subtree_moment);
            scatter(source, live, rest, |s| &mut s.subtree_inertia, &child[0].subtree_inertia);
        }
    }

    /// State of one body; what the caller does not use costs nothing.
    #[inline(always)]
    pub(crate) fn body(&self, body: usize) -> BodyState {
        let (group, lane) = self.layout.places[body];
        let state = &self.groups[group];
        BodyState {
            rotation: state.rotation.lane(lane),
            position: state.position.lane(lane),
            subspace: motion(&state.subspace, lane),
            velocity: motion(&state.velocity, lane),
            bias: motion(&state.bias, lane),
            center: state.center.lane(lane),
            inertia: state.inertia.lane(lane),
            subtree_moment: state.subtree_moment.lane(lane),
            subtree_inertia: state.subtree_inertia.lane(lane),
        }
    }

    /// Motion subspace of one body.
    #[inline]
    pub(crate) fn subspace(&self, body: usize) -> Motion {
        let (group, lane) = self.layout.places[body];
        motion(&self.groups[group].subspace, lane)
    }
}

#[inline(always)]
fn motion(quad: &QuadMotion, lane: usize) -> Motion {
    Motion { linear: quad.linear.lane(lane), angular: quad.angular.lane(lane) }
}

impl Group {
    /// Motion subspaces of joints that turn about, or slide along, their z axes.
    #[inline(always)]
    fn subspace(&self, state: &GroupState) -> QuadMotion {
        let axis = &state.rotation.z;
        let angular = axis.times(self.turns);
        QuadMotion { linear: state.position.cross(&angular) + axis.times(self.slides), angular }
    }

    /// Largest `Sᵀ I S` that bodies of this reach could have with all they carry.
    #[inline(always)]
    pub(crate) fn most(&self, state: &GroupState) -> Quad {
        let s = &state.subspace;
        self.subtree_mass * s.linear.dot(&s.linear)
            + state.subtree_inertia.trace() * s.angular.dot(&s.angular)
    }
}

/// Placements and motion subspaces of a group from its parents' placements.
#[inline]
fn place(group: &Group, configuration: &[f64], done: &[GroupState], state: &mut GroupState) {
    let parent = gather(&group.parent, done, |s| &s.rotation);
    let joint = parent.product(&group.rotation);
    let position = gather(&group.parent, done, |s| &s.position) + parent.times(&group.offset);
    let coordinate = pick(configuration, &group.q_index);
    let angle = coordinate * group.turns + group.turned;
    let (s, c) = sincos(angle);
    state.rotation = QuadMatrix {
        x: joint.x.times(c) + joint.y.times(s),
        y: joint.y.times(c) - joint.x.times(s),
        z: joint.z,
    };
    state.position = position + joint.z.times(coordinate * group.slides + group.slid);
    state.subspace = group.subspace(state);
    for ball in &group.balls {
        place_ball(ball, &joint, &position, configuration, state);
    }
}

/// Placements and motion subspaces of a chain from its root's placement.
fn place_chain(layout: &Layout, chain: &Chain, configuration: &[f64], states: &mut [GroupState]) {
    // Each stretch from its own beginning, the first from the root.
    let identity = QuadMatrix::splat(&Matrix3::identity());
    let (root, lane) = (&states[chain.root.0], chain.root.1);
    let (rotation, position) = (root.rotation.lane(lane), root.position.lane(lane));
    let start = &mut states[chain.start];
    (start.rotation, start.position) = (identity, Quad3::zero());
    start.rotation.set_lane(0, &rotation);
    start.position.set_lane(0, &position);
    for g in chain.groups() {
        let (done, rest) = states.split_at_mut(g);
        place(&layout.groups[g], configuration, done, &mut rest[0]);
    }
    // Where the stretches begin: each at the end of the one before it.
    let last = &states[chain.end];
    let (mut turned, mut moved) = (identity, Quad3::zero());
    let (mut rotation, mut position) = (Matrix3::identity(), Vector3::zeros());
    for lane in 1..LANES {
        position += rotation * last.position.lane(lane - 1);
        rotation *= last.rotation.lane(lane - 1);
        turned.set_lane(lane, &rotation);
        moved.set_lane(lane, &position);
    }
    for g in chain.groups() {
        let state = &mut states[g];
        state.rotation = turned.product(&state.rotation);
        state.position = turned.times(&state.position) + moved;
        state.subspace = layout.groups[g].subspace(state);
    }
}

/// Finishes a part of a ball joint: a lane that neither turned nor slid so far.
fn place_ball(
    ball: &BallPart,
    joint: &QuadMatrix,
    position: &Quad3,
    configuration: &[f64],
    state: &mut GroupState,
) {
    let axes = joint.lane(ball.lane);
    let axis: Vector3<f64> = match ball.axis {
        Axis::BallX => axes.column(0).into(),
        Axis::BallY => axes.column(1).into(),
        Axis::Ball | Axis::Revolute | Axis::Prismatic => axes.column(2).into(),
    };
    if ball.axis == Axis::Ball {
        let q = &configuration[ball.q_index..ball.q_index + 4];
        let rotation = axes * quaternion_to_rotation([q[0], q[1], q[2], q[3]]);
        state.rotation.set_lane(ball.lane, &rotation);
    }
    state.subspace.linear.set_lane(ball.lane, &position.lane(ball.lane).cross(&axis));
    state.subspace.angular.set_lane(ball.lane, &axis);
}

/// Velocities and bias accelerations of a group from those of the groups before it.
#[inline]
fn move_bodies(group: &Group, velocity: &[f64], done: &[GroupState], state: &mut GroupState) {
    let parent = gather(&group.parent, done, |s| &s.velocity);
    let bias = gather(&group.parent, done, |s| &s.bias);
    let joint = state.subspace.times(group.rates(velocity));
    state.velocity = parent + joint;
    state.bias = bias + cross(&parent, &joint);
    for ball in &group.balls {
        // The axes of a ball joint are fixed to the body that carries it.
        let (carrier, before) = (&done[ball.carrier.0], &done[ball.parent.0]);
        let carrier = motion(&carrier.velocity, ball.carrier.1);
        let own = motion(&joint, ball.lane);
        let mut bias = motion(&before.bias, ball.parent.1);
        bias.linear += carrier.angular.cross(&own.linear) + carrier.linear.cross(&own.angular);
        bias.angular += carrier.angular.cross(&own.angular);
        state.bias.linear.set_lane(ball.lane, &bias.linear);
        state.bias.angular.set_lane(ball.lane, &bias.angular);
    }
}

/// As [`move_bodies`], for a chain.
fn move_chain(layout: &Layout, chain: &Chain, velocity: &[f64], states: &mut [GroupState]) {
    chain.begin(states, |s| &mut s.velocity);
    for g in chain.groups() {
        let joint = states[g].subspace.times(layout.groups[g].rates(velocity));
        states[g].velocity = states[g - 1].velocity + joint;
    }
    chain.carry_out(states, |s| &mut s.velocity);
    // Velocities are known now, those before the stretches too.
    chain.begin(states, |s| &mut s.bias);
    for g in chain.groups() {
        let joint = states[g].subspace.times(layout.groups[g].rates(velocity));
        states[g].bias = states[g - 1].bias + cross(&states[g - 1].velocity, &joint);
    }
    chain.carry_out(states, |s| &mut s.bias);
}

/// Motion cross product `a × b`.
#[inline(always)]
fn cross(a: &QuadMotion, b: &QuadMotion) -> QuadMotion {
    QuadMotion {
        linear: a.angular.cross(&b.linear) + a.linear.cross(&b.angular),
        angular: a.angular.cross(&b.angular),
    }
}
