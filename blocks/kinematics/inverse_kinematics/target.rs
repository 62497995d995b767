//! What [`InverseKinematics`](super::InverseKinematics) is asked: frames and their goals.

use legwork_block::quantity::{Dimensionless, NonNegative, Physical};
use legwork_block::{Any, Invalid, Pose, Signal, Type, Unit, parameters};
use legwork_control::Target;
use legwork_mechanics::{Placement, quaternion_to_rotation};
use nalgebra::{Matrix3, Vector3};

use crate::robot::frames::read_placement;
use crate::robot::model::RobotModel;

/// A frame that [`InverseKinematics`] brings somewhere.
#[parameters]
pub struct FrameTarget {
    /// Name of a link of the robot file.
    pub frame: String,
    /// Ask for the position of the frame's origin only.
    #[default]
    pub position_only: bool,
    /// The wanted orientation, world_from_frame, if it stays the same: quaternion (w, x, y, z) of
    /// any length but 0. The input is then the position.
    pub orientation: Option<[Dimensionless; 4]>,
    /// Weight `w_p` of the squared position error [1/m²].
    #[default = 1]
    pub position_weight: NonNegative<Dimensionless>,
    /// Weight `w_o` of the squared orientation error [1/rad²].
    #[default = 1]
    pub orientation_weight: NonNegative<Dimensionless>,
}

/// Name, type and unit of the input of each target: a position where the orientation is fixed.
pub(super) fn inputs_of(
    fixed: &[Option<Matrix3<f64>>],
) -> impl Iterator<Item = (String, Any, Option<Unit>)> {
    fixed.iter().enumerate().map(|(i, fixed)| {
        let (ty, unit) = match fixed {
            Some(_) => (Type::vector(3), Some(Unit::METRE)),
            None => (Pose.ty(), None),
        };
        (format!("target{}", i + 1), Any(ty), unit)
    })
}

/// Where a frame is to be, from the numbers of its input.
pub(super) fn placement(goal: &[f64], fixed: Option<Matrix3<f64>>) -> Placement {
    match fixed {
        Some(rotation) => Placement { rotation, translation: Vector3::from_column_slice(goal) },
        None => read_placement(goal),
    }
}

impl FrameTarget {
    /// What the solver is asked, and the orientation if the input is a position.
    pub(super) fn resolve(
        &self,
        robot: &RobotModel,
    ) -> Result<(Target, Option<Matrix3<f64>>), Invalid> {
        let frame = robot.frame("targets", &self.frame)?;
        let refused = |message: &str| {
            Invalid::parameter("targets", format!("target `{}`: {message}", self.frame))
        };
        let stated = self.orientation.map(|q| q.map(Physical::si));
        if stated.is_some() && self.position_only {
            let message = "expected no orientation with `position_only`, found one";
            return Err(refused(message).hint("leave one of them out"));
        }
        if stated.is_some_and(|q| q.iter().all(|&x| x == 0.0)) {
            let message = "expected a quaternion of any length but 0, found 0";
            return Err(refused(message));
        }
        let orientation_weight =
            if self.position_only { 0.0 } else { self.orientation_weight.value() };
        let position_weight = self.position_weight.value();
        if position_weight == 0.0 && orientation_weight == 0.0 {
            let message = "expected a weight above 0, found none";
            return Err(refused(message));
        }
        // A position alone needs some orientation to fill its pose.
        let fixed = match self.position_only {
            true => Some(Matrix3::identity()),
            false => stated.map(quaternion_to_rotation),
        };
        Ok((Target { frame, position_weight, orientation_weight }, fixed))
    }
}
