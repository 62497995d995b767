//! What [`InverseKinematics`](super::InverseKinematics) is asked: frames and their goals.

use legwork_block::quantity::{Dimensionless, NonNegative, Physical};
use legwork_block::{In, Inputs, Invalid, Ports, Pose, Vector};
use legwork_control::Target;
use legwork_mechanics::{Placement, quaternion_to_rotation};
use nalgebra::{Matrix3, Vector3};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::defaults::quantity;
use crate::robot::frames::{input_of, read_placement};
use crate::robot::model::RobotModel;

/// A frame that [`InverseKinematics`] brings somewhere.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FrameTarget {
    /// Name of a link of the robot file.
    pub frame: String,
    /// Ask for the position of the frame's origin only; default false.
    #[serde(default)]
    pub position_only: bool,
    /// The wanted orientation, world_from_frame, if it stays the same: quaternion (w, x, y, z) of
    /// any length but 0. The input is then the position.
    #[serde(default)]
    pub orientation: Option<[Dimensionless; 4]>,
    /// Weight `w_p` of the squared position error [1/m²]; default 1.
    #[serde(default = "weight")]
    pub position_weight: NonNegative<Dimensionless>,
    /// Weight `w_o` of the squared orientation error [1/rad²]; default 1.
    #[serde(default = "weight")]
    pub orientation_weight: NonNegative<Dimensionless>,
}

fn weight() -> NonNegative<Dimensionless> {
    quantity(1.0)
}

/// The input of one target.
pub(super) enum Goal {
    Pose(In<Pose>),
    Position(In<Vector>, Matrix3<f64>),
}

impl Goal {
    /// Where the frame is to be.
    pub(super) fn placement(&self, inputs: &Inputs<'_>) -> Placement {
        match self {
            Self::Pose(port) => read_placement(inputs.get(*port)),
            Self::Position(port, rotation) => {
                let translation = Vector3::from_column_slice(inputs.get(*port));
                Placement { rotation: *rotation, translation }
            }
        }
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

    /// Declares the input `target<i + 1>`.
    pub(super) fn input(
        &self,
        i: usize,
        fixed: Option<Matrix3<f64>>,
        ports: &mut Ports<'_>,
    ) -> Goal {
        let name = format!("target{}", i + 1);
        match fixed {
            Some(orientation) => {
                let doc = format!("wanted position of `{}`", self.frame);
                let port = input_of(ports, &name, &Vector::of(3), Some("m"), &doc);
                ports.note_in(port).frame("world");
                Goal::Position(port, orientation)
            }
            None => {
                let doc = format!("wanted pose of `{}`", self.frame);
                let port = input_of(ports, &name, &Pose, None, &doc);
                ports.note_in(port).frame("world");
                Goal::Pose(port)
            }
        }
    }
}
