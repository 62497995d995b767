//! Frame velocities, Jacobians and their derivatives in the three usual representations.
//!
//! | representation | linear velocity | axes | elsewhere |
//! |---|---|---|---|
//! | mixed | of the frame's origin | world | iDynTree MIXED, Pinocchio LOCAL_WORLD_ALIGNED |
//! | body | of the frame's origin | frame | iDynTree BODY_FIXED, Pinocchio LOCAL |
//! | world | of the point at the world origin | world | iDynTree INERTIAL_FIXED, Pinocchio WORLD |
//!
//! The mixed one is that of `frame_jacobian`; with the frame's rotation `R`, origin `p` and mixed
//! twist `(v, ω)` the others are `(Rᵀv, Rᵀω)` and `(v + p × ω, ω)`. `J̇ν` is the derivative of the
//! represented twist at `ν̇ = 0`; with the mixed `(a, α)` it is `(Rᵀ(a − ω × v), Rᵀα)` for the body
//! and `(a + v × ω + p × α, α)` for the world representation.

use nalgebra::Vector3;

use crate::frame::{frame_jacobian, frame_jacobian_dot_velocity, frame_velocity, world_from_frame};
use crate::kinematics::Kinematics;
use crate::model::{FrameId, Model};
use crate::placement::{MixedTwist, Placement};

/// How the velocity of a frame is written in six numbers, linear first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema))]
pub enum Representation {
    /// Velocity of the frame's origin and angular velocity, world axes.
    #[default]
    Mixed,
    /// Velocity of the frame's origin and angular velocity, the frame's own axes.
    Body,
    /// Velocity of the body's point that is at the world origin, and angular velocity, world axes.
    World,
}

impl Representation {
    /// The name of the axes in which the twist of the frame `frame` is written.
    #[must_use]
    pub fn axes(self, frame: &str) -> &str {
        match self {
            Self::Mixed | Self::World => "world",
            Self::Body => frame,
        }
    }
}

/// Velocity of a frame (linear, then angular) [m/s, rad/s].
///
/// # Panics
/// If the frame belongs to another model.
#[must_use]
pub fn frame_velocity_in(
    model: &Model,
    kinematics: &Kinematics,
    frame: FrameId,
    representation: Representation,
) -> MixedTwist {
    let placement = world_from_frame(model, kinematics, frame);
    let MixedTwist { linear, angular } = frame_velocity(model, kinematics, frame);
    let (linear, angular) = represent(representation, &placement, &linear, &angular);
    MixedTwist { linear, angular }
}

/// Jacobian of a frame (6 × nv, column-major): `velocity = J ν` in the representation asked for.
///
/// # Panics
/// If `out` has the wrong length or the frame belongs to another model.
pub fn frame_jacobian_in(
    model: &Model,
    kinematics: &Kinematics,
    frame: FrameId,
    representation: Representation,
    out: &mut [f64],
) {
    frame_jacobian(model, kinematics, frame, out);
    if representation == Representation::Mixed {
        return;
    }
    let placement = world_from_frame(model, kinematics, frame);
    for column in out.chunks_exact_mut(6) {
        let linear = Vector3::new(column[0], column[1], column[2]);
        let angular = Vector3::new(column[3], column[4], column[5]);
        let (linear, angular) = represent(representation, &placement, &linear, &angular);
        column[..3].copy_from_slice(linear.as_slice());
        column[3..].copy_from_slice(angular.as_slice());
    }
}

/// `J̇ν` of a frame in the representation asked for: the derivative of its velocity at `ν̇ = 0`
/// [m/s², rad/s²].
///
/// # Panics
/// If the frame belongs to another model.
#[must_use]
pub fn frame_jacobian_dot_velocity_in(
    model: &Model,
    kinematics: &Kinematics,
    frame: FrameId,
    representation: Representation,
) -> MixedTwist {
    let mixed = frame_jacobian_dot_velocity(model, kinematics, frame);
    if representation == Representation::Mixed {
        return mixed;
    }
    let placement = world_from_frame(model, kinematics, frame);
    let MixedTwist { linear: v, angular: w } = frame_velocity(model, kinematics, frame);
    let turning = match representation {
        Representation::Mixed => Vector3::zeros(),
        Representation::Body | Representation::World => w.cross(&v),
    };
    let spatial = mixed.linear - turning;
    let (linear, angular) = represent(representation, &placement, &spatial, &mixed.angular);
    MixedTwist { linear, angular }
}

fn represent(
    representation: Representation,
    placement: &Placement,
    linear: &Vector3<f64>,
    angular: &Vector3<f64>,
) -> (Vector3<f64>, Vector3<f64>) {
    match representation {
        Representation::Mixed => (*linear, *angular),
        Representation::Body => {
            (placement.rotation.tr_mul(linear), placement.rotation.tr_mul(angular))
        }
        Representation::World => (linear + placement.translation.cross(angular), *angular),
    }
}
