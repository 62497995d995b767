//! Motion of one frame as another sees it. The frames may belong to different robots of a world.
//!
//! With `d = p_B − p_A` in world axes and `R_A` the rotation of A:
//!
//! ```text
//! A_from_B       = (R_Aᵀ R_B, R_Aᵀ d)
//! velocity       = (R_Aᵀ (v_B − v_A − ω_A × d), R_Aᵀ (ω_B − ω_A))
//! acceleration   = (R_Aᵀ (a_B − a_A − α_A × d − ω_A × (ω_A × d) − 2 ω_A × ḋ_A),
//!                   R_Aᵀ (α_B − α_A − ω_A × (ω_B − ω_A)))        with ḋ_A = v_B − v_A − ω_A × d
//! ```
//!
//! The velocity is the time derivative of the origin of B in A, and the angular velocity of B
//! against A, both in the axes of A.

use nalgebra::Vector3;

use crate::frame::{
    attach, for_each_column, frame_jacobian_dot_velocity, frame_velocity, world_from_frame,
};
use crate::kinematics::Kinematics;
use crate::model::{FrameId, Model};
use crate::placement::{MixedTwist, Placement};

/// Placement of frame `to` as frame `from` sees it, `from_from_to`: maps coordinates in `to` to
/// coordinates in `from`.
///
/// # Panics
/// If a frame belongs to another model.
#[must_use]
pub fn relative_placement(
    model: &Model,
    kinematics: &Kinematics,
    from: FrameId,
    to: FrameId,
) -> Placement {
    let (a, b) = (orientation(model, kinematics, from), orientation(model, kinematics, to));
    Placement {
        rotation: a.tr_mul(&b),
        translation: a.tr_mul(&distance(model, kinematics, from, to)),
    }
}

/// Velocity of frame `to` relative to frame `from`, in the axes of `from` [m/s, rad/s].
///
/// # Panics
/// If a frame belongs to another model.
#[must_use]
pub fn relative_velocity(
    model: &Model,
    kinematics: &Kinematics,
    from: FrameId,
    to: FrameId,
) -> MixedTwist {
    let axes = orientation(model, kinematics, from);
    let d = distance(model, kinematics, from, to);
    let (a, b) = (frame_velocity(model, kinematics, from), frame_velocity(model, kinematics, to));
    MixedTwist {
        linear: axes.tr_mul(&(b.linear - a.linear - a.angular.cross(&d))),
        angular: axes.tr_mul(&(b.angular - a.angular)),
    }
}

/// Relative Jacobian (6 × nv, column-major): [`relative_velocity`] `= J ν`.
///
/// Only coordinates between the frames have columns; those of common ancestors are exactly zero.
///
/// # Panics
/// If `out` has the wrong length or a frame belongs to another model.
pub fn relative_jacobian(
    model: &Model,
    kinematics: &Kinematics,
    from: FrameId,
    to: FrameId,
    out: &mut [f64],
) {
    assert_eq!(out.len(), 6 * model.velocity_dim(), "length of out");
    out.fill(0.0);
    let axes = orientation(model, kinematics, from);
    // Both sides are taken at the origin of `to`.
    let d = distance(model, kinematics, from, to);
    let (_, at_to) = attach(model, kinematics, to, &Vector3::zeros());
    let (_, at_from) = attach(model, kinematics, from, &d);
    let common = common_ancestor(model, from, to);
    let add = |out: &mut [f64], k: usize, linear: &Vector3<f64>, angular: &Vector3<f64>| {
        let (linear, angular) = (axes.tr_mul(linear), axes.tr_mul(angular));
        let column = &mut out[6 * k..6 * k + 6];
        for i in 0..3 {
            column[i] += linear[i];
            column[3 + i] += angular[i];
        }
    };
    for_each_column(model, kinematics, to, common, &at_to, |k, linear, angular| {
        add(out, k, &linear, &angular);
    });
    for_each_column(model, kinematics, from, common, &at_from, |k, linear, angular| {
        add(out, k, &-linear, &-angular);
    });
}

/// `J̇ν` of [`relative_jacobian`]: the relative acceleration at `ν̇ = 0` [m/s², rad/s²].
///
/// # Panics
/// If a frame belongs to another model.
#[must_use]
pub fn relative_jacobian_dot_velocity(
    model: &Model,
    kinematics: &Kinematics,
    from: FrameId,
    to: FrameId,
) -> MixedTwist {
    let axes = orientation(model, kinematics, from);
    let d = distance(model, kinematics, from, to);
    let (a, b) = (frame_velocity(model, kinematics, from), frame_velocity(model, kinematics, to));
    let a_rate = frame_jacobian_dot_velocity(model, kinematics, from);
    let b_rate = frame_jacobian_dot_velocity(model, kinematics, to);
    let w = a.angular;
    let seen = b.linear - a.linear - w.cross(&d);
    let linear = b_rate.linear
        - a_rate.linear
        - a_rate.angular.cross(&d)
        - w.cross(&w.cross(&d))
        - w.cross(&seen) * 2.0;
    let angular = b_rate.angular - a_rate.angular - w.cross(&(b.angular - w));
    MixedTwist { linear: axes.tr_mul(&linear), angular: axes.tr_mul(&angular) }
}

fn orientation(model: &Model, kinematics: &Kinematics, frame: FrameId) -> nalgebra::Matrix3<f64> {
    world_from_frame(model, kinematics, frame).rotation
}

/// From the origin of one frame to that of the other, world axes. Within a tree it does not
/// depend on where in the world the robot is.
fn distance(model: &Model, kinematics: &Kinematics, from: FrameId, to: FrameId) -> Vector3<f64> {
    let zero = Vector3::zeros();
    let (_, a) = attach(model, kinematics, from, &zero);
    let (_, b) = attach(model, kinematics, to, &zero);
    let (s, t) = (model.tree_of_frame(from), model.tree_of_frame(to));
    let apart = match s == t {
        true => zero,
        false => kinematics.origins[t].position - kinematics.origins[s].position,
    };
    apart + (b - a)
}

/// The body at which the branches to the two frames separate; none in different trees.
fn common_ancestor(model: &Model, from: FrameId, to: FrameId) -> Option<usize> {
    let (mut a, mut b) = (model.frames[from.0].body.0, model.frames[to.0].body.0);
    if model.bodies[a].tree != model.bodies[b].tree {
        return None;
    }
    // Parents have smaller indices.
    while a != b {
        match a > b {
            true => a = model.bodies[a].parent,
            false => b = model.bodies[b].parent,
        }
    }
    Some(a)
}
