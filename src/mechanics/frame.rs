//! Placement, velocity, Jacobian and Jacobian derivative of frames and points.
//!
//! Jacobians are in the mixed representation: rows are the linear velocity of the frame's origin
//! (or of the point), then the angular velocity, in world axes; `velocity = J ν`. For a point at
//! `r` from the base origin `O`, base columns are `[1, −[r]×; 0, 1]`, and the column of joint j,
//! if it lies between the point and the root, is `(S_lin + S_ang × r, S_ang)`.
//!
//! `J̇ν` is the classical acceleration of the point at `ν̇ = 0`: with the spatial velocity `v` and
//! bias acceleration `a` of the body, `a_lin + a_ang × r + ω × (v_lin + ω × r)`.
//!
//! Matrices are column-major slices and are written in full, zeros included.

use nalgebra::Vector3;

use crate::kinematics::{BodyState, Kinematics, Origin};
use crate::model::{FrameId, Model};
use crate::placement::{MixedTwist, MixedWrench, Placement};

/// Placement of a frame, `world_from_frame`.
///
/// # Panics
/// If the frame belongs to another model.
#[must_use]
pub fn world_from_frame(model: &Model, kinematics: &Kinematics, frame: FrameId) -> Placement {
    let frame = &model.frames[frame.0];
    let body = &kinematics.body(frame.body.0);
    Placement {
        rotation: body.rotation * frame.body_from_frame.rotation,
        translation: kinematics.origins[model.bodies[frame.body.0].tree].position
            + (body.position + body.rotation * frame.body_from_frame.translation),
    }
}

/// Origin of a frame in the world [m].
///
/// # Panics
/// If the frame belongs to another model.
#[must_use]
pub fn frame_position(model: &Model, kinematics: &Kinematics, frame: FrameId) -> Vector3<f64> {
    let frame = &model.frames[frame.0];
    let body = &kinematics.body(frame.body.0);
    kinematics.origins[model.bodies[frame.body.0].tree].position
        + (body.position + body.rotation * frame.body_from_frame.translation)
}

/// How a frame moves: what [`world_from_frame`], [`frame_velocity`] and
/// [`frame_jacobian_dot_velocity`] say, of a body that is looked up once.
///
/// # Panics
/// If the frame belongs to another model.
#[must_use]
pub fn frame_motion(
    model: &Model,
    kinematics: &Kinematics,
    frame: FrameId,
) -> (Placement, MixedTwist, MixedTwist) {
    let (body, r) = attach(model, kinematics, frame, &Vector3::zeros());
    let body_from_frame = &model.frames[frame.0].body_from_frame;
    let origin = &kinematics.origins[model.tree_of_frame(frame)];
    let placement = Placement {
        rotation: body.rotation * body_from_frame.rotation,
        translation: origin.position
            + (body.position + body.rotation * body_from_frame.translation),
    };
    let linear = point_velocity_of(origin, &body, &r);
    let twist = MixedTwist { linear, angular: body.velocity.angular };
    let rate = MixedTwist { linear: point_bias_of(&body, &r), angular: body.bias.angular };
    (placement, twist, rate)
}

/// Velocity of a frame: `J ν`.
///
/// # Panics
/// If the frame belongs to another model.
#[must_use]
pub fn frame_velocity(model: &Model, kinematics: &Kinematics, frame: FrameId) -> MixedTwist {
    let (body, r) = attach(model, kinematics, frame, &Vector3::zeros());
    let origin = &kinematics.origins[model.tree_of_frame(frame)];
    MixedTwist { linear: point_velocity_of(origin, &body, &r), angular: body.velocity.angular }
}

/// Velocity [m/s] of the point of the frame's body that now lies `offset` (world axes) [m] from
/// the frame's origin.
///
/// # Panics
/// If the frame belongs to another model.
#[must_use]
pub fn point_velocity(
    model: &Model,
    kinematics: &Kinematics,
    frame: FrameId,
    offset: &Vector3<f64>,
) -> Vector3<f64> {
    let (body, r) = attach(model, kinematics, frame, offset);
    point_velocity_of(&kinematics.origins[model.tree_of_frame(frame)], &body, &r)
}

/// Frame Jacobian `J` (6 × nv, column-major): `(v, ω) = J ν`.
///
/// # Panics
/// If `out` has the wrong length or the frame belongs to another model.
#[doc(alias("geometric Jacobian", "getFrameJacobian"))]
pub fn frame_jacobian(model: &Model, kinematics: &Kinematics, frame: FrameId, out: &mut [f64]) {
    let nv = model.velocity_dim();
    assert_eq!(out.len(), 6 * nv, "length of out");
    let (_, r) = attach(model, kinematics, frame, &Vector3::zeros());
    out.fill(0.0);
    for_each_column(model, kinematics, frame, None, &r, |k, linear, angular| {
        let column = &mut out[6 * k..6 * k + 6];
        for i in 0..3 {
            column[i] += linear[i];
            column[3 + i] += angular[i];
        }
    });
}

/// Indices into ν of the columns of [`frame_jacobian`] that can differ from zero, rising: those of
/// the base and of the joints that carry the frame. Allocates.
///
/// # Panics
/// If the frame belongs to another model.
#[must_use]
pub fn jacobian_columns(model: &Model, frame: FrameId) -> Vec<usize> {
    let mut i = model.frames[frame.0].body.0;
    let tree = &model.trees[model.bodies[i].tree];
    let mut columns: Vec<usize> = (tree.v.start..tree.v.start + tree.base_dim()).collect();
    while i != tree.bodies.start {
        columns.push(model.bodies[i].v_index);
        i = model.bodies[i].parent;
    }
    columns.sort_unstable();
    columns.dedup();
    columns
}

/// Jacobian (3 × nv, column-major) of the point of the frame's body that now lies `offset`
/// (world axes) [m] from the frame's origin: `v_point = J ν`.
///
/// # Panics
/// If `out` has the wrong length or the frame belongs to another model.
pub fn point_jacobian(
    model: &Model,
    kinematics: &Kinematics,
    frame: FrameId,
    offset: &Vector3<f64>,
    out: &mut [f64],
) {
    point_jacobian_rows(model, kinematics, frame, offset, 0, 3, out);
}

/// [`point_jacobian`] as rows `first_row .. first_row + 3` of a taller matrix (`row_count` × nv,
/// column-major), whose other rows stay as they are: several contact points stack in place.
///
/// # Panics
/// If `out` has the wrong length, the rows do not fit, or the frame belongs to another model.
pub fn point_jacobian_rows(
    model: &Model,
    kinematics: &Kinematics,
    frame: FrameId,
    offset: &Vector3<f64>,
    first_row: usize,
    row_count: usize,
    out: &mut [f64],
) {
    assert_eq!(out.len(), row_count * model.velocity_dim(), "length of out");
    assert!(first_row + 3 <= row_count, "rows {first_row}..+3 of {row_count}");
    let (_, r) = attach(model, kinematics, frame, offset);
    for column in out.chunks_exact_mut(row_count) {
        column[first_row..first_row + 3].fill(0.0);
    }
    for_each_column(model, kinematics, frame, None, &r, |k, linear, _| {
        let at = k * row_count + first_row;
        for (out, linear) in out[at..at + 3].iter_mut().zip(linear.iter()) {
            *out += linear;
        }
    });
}

/// `J̇ν` of a frame: its classical linear acceleration [m/s²] and angular acceleration [rad/s²]
/// at `ν̇ = 0`.
///
/// # Panics
/// If the frame belongs to another model.
#[doc(alias("dotJ nu", "dJ/dt v", "bias acceleration"))]
#[must_use]
pub fn frame_jacobian_dot_velocity(
    model: &Model,
    kinematics: &Kinematics,
    frame: FrameId,
) -> MixedTwist {
    let (body, r) = attach(model, kinematics, frame, &Vector3::zeros());
    MixedTwist { linear: point_bias_of(&body, &r), angular: body.bias.angular }
}

/// Acceleration of a frame at the acceleration `ν̇` (nv): `J ν̇ + J̇ν`, the classical acceleration
/// of its origin [m/s²] and its angular acceleration [rad/s²], without forming `J`.
///
/// # Panics
/// If `acceleration` has the wrong length or the frame belongs to another model.
#[must_use]
pub fn frame_acceleration(
    model: &Model,
    kinematics: &Kinematics,
    frame: FrameId,
    acceleration: &[f64],
) -> MixedTwist {
    assert_eq!(acceleration.len(), model.velocity_dim(), "length of acceleration");
    let mut sum = frame_jacobian_dot_velocity(model, kinematics, frame);
    let (_, r) = attach(model, kinematics, frame, &Vector3::zeros());
    for_each_column(model, kinematics, frame, None, &r, |k, linear, angular| {
        sum.linear += acceleration[k] * linear;
        sum.angular += acceleration[k] * angular;
    });
    sum
}

/// `J̇ν` [m/s²] of the material point of the frame's body that now lies `offset` (world axes) [m]
/// from the frame's origin.
///
/// # Panics
/// If the frame belongs to another model.
#[must_use]
pub fn point_jacobian_dot_velocity(
    model: &Model,
    kinematics: &Kinematics,
    frame: FrameId,
    offset: &Vector3<f64>,
) -> Vector3<f64> {
    let (body, r) = attach(model, kinematics, frame, offset);
    point_bias_of(&body, &r)
}

/// Adds `Jᵀ w` to `out` (nv): the generalised force of a wrench on a frame, without forming `J`.
///
/// # Panics
/// If `out` has the wrong length or the frame belongs to another model.
pub fn add_frame_wrench(
    model: &Model,
    kinematics: &Kinematics,
    frame: FrameId,
    wrench: &MixedWrench,
    out: &mut [f64],
) {
    assert_eq!(out.len(), model.velocity_dim(), "length of out");
    let (_, r) = attach(model, kinematics, frame, &Vector3::zeros());
    add_wrench_at_base(model, kinematics, frame, &r, wrench, out);
}

/// Adds `Jᵀ f` to `out` (nv): the generalised force of a force [N] (world axes) on the point of
/// the frame's body that lies `offset` (world axes) [m] from the frame's origin.
///
/// # Panics
/// If `out` has the wrong length or the frame belongs to another model.
pub fn add_point_force(
    model: &Model,
    kinematics: &Kinematics,
    frame: FrameId,
    offset: &Vector3<f64>,
    force: &Vector3<f64>,
    out: &mut [f64],
) {
    assert_eq!(out.len(), model.velocity_dim(), "length of out");
    let (_, r) = attach(model, kinematics, frame, offset);
    let wrench = MixedWrench { force: *force, moment: Vector3::zeros() };
    add_wrench_at_base(model, kinematics, frame, &r, &wrench, out);
}

/// The body of a frame and the vector from `O` to the point at `offset` from the frame's origin.
#[inline(always)]
pub(crate) fn attach(
    model: &Model,
    kinematics: &Kinematics,
    frame: FrameId,
    offset: &Vector3<f64>,
) -> (BodyState, Vector3<f64>) {
    let frame = &model.frames[frame.0];
    let body = kinematics.body(frame.body.0);
    let point = body.position + body.rotation * frame.body_from_frame.translation + offset;
    (body, point)
}

#[inline]
fn point_velocity_of(origin: &Origin, body: &BodyState, r: &Vector3<f64>) -> Vector3<f64> {
    let v = &body.velocity;
    origin.velocity + (v.linear + v.angular.cross(r))
}

#[inline]
fn point_bias_of(body: &BodyState, r: &Vector3<f64>) -> Vector3<f64> {
    let (v, a) = (&body.velocity, &body.bias);
    let relative = v.linear + v.angular.cross(r);
    a.linear + a.angular.cross(r) + v.angular.cross(&relative)
}

/// Calls `add(k, linear, angular)` for every body's share of the Jacobian at `r` that is not zero,
/// up to but without the body `above`; coupled bodies share a column.
#[inline]
pub(crate) fn for_each_column(
    model: &Model,
    kinematics: &Kinematics,
    frame: FrameId,
    above: Option<usize>,
    r: &Vector3<f64>,
    mut add: impl FnMut(usize, Vector3<f64>, Vector3<f64>),
) {
    let mut i = model.frames[frame.0].body.0;
    let tree = &model.trees[model.bodies[i].tree];
    if above.is_none() && tree.is_floating() {
        let (v, zero) = (tree.v.start, Vector3::zeros());
        for k in 0..3 {
            let mut axis = zero;
            axis[k] = 1.0;
            add(v + k, axis, zero);
            add(v + 3 + k, axis.cross(r), axis);
        }
    }
    let end = above.unwrap_or(tree.bodies.start);
    while i != end {
        let body = &model.bodies[i];
        let s = kinematics.subspace(i);
        add(body.v_index, s.linear + s.angular.cross(r), s.angular);
        i = body.parent;
    }
}

fn add_wrench_at_base(
    model: &Model,
    kinematics: &Kinematics,
    frame: FrameId,
    r: &Vector3<f64>,
    wrench: &MixedWrench,
    out: &mut [f64],
) {
    let force = wrench.force;
    let moment = wrench.moment + r.cross(&force);
    let mut i = model.frames[frame.0].body.0;
    let tree = &model.trees[model.bodies[i].tree];
    if tree.is_floating() {
        let base = &mut out[tree.v.start..tree.v.start + 6];
        for k in 0..3 {
            base[k] += force[k];
            base[3 + k] += moment[k];
        }
    }
    while i != tree.bodies.start {
        let body = &model.bodies[i];
        out[body.v_index] += kinematics.subspace(i).power(&force, &moment);
        i = body.parent;
    }
}
