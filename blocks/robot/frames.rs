//! Frames of robots as parameters and outputs: representation of twists, poses as numbers.

use legwork_block::{Invalid, Out, Outputs, Vector};
pub use legwork_mechanics::Representation;
use legwork_mechanics::{MixedTwist, Placement};
use nalgebra::{Matrix3, Vector3};

use crate::robot::model::RobotModel;

/// Writes a pose: rotation column by column, position.
pub(crate) fn write_placement(out: &mut [f64], placement: &Placement) {
    out[..9].copy_from_slice(placement.rotation.as_slice());
    out[9..].copy_from_slice(placement.translation.as_slice());
}

/// Reads a pose as [`write_placement`] writes it.
pub(crate) fn read_placement(pose: &[f64]) -> Placement {
    Placement {
        rotation: Matrix3::from_column_slice(&pose[..9]),
        translation: Vector3::from_column_slice(&pose[9..12]),
    }
}

/// Writes a twist or its rate: linear part, angular part.
pub(crate) fn write_twist(out: &mut [f64], twist: &MixedTwist) {
    out[..3].copy_from_slice(twist.linear.as_slice());
    out[3..].copy_from_slice(twist.angular.as_slice());
}

/// Writes the joints' numbers of a generalised force.
pub(crate) fn write_joint_rows(
    robot: &RobotModel,
    force: &[f64],
    tau: Out<Vector>,
    outputs: &mut Outputs<'_>,
) {
    let joints = robot.model.joint_velocity_indices();
    for (tau, &k) in outputs.get(tau).iter_mut().zip(joints) {
        *tau = force[k];
    }
}

/// Two frames of one robot.
pub(crate) struct Pair {
    pub(crate) from: legwork_mechanics::FrameId,
    pub(crate) to: legwork_mechanics::FrameId,
}

impl Pair {
    /// The frames that the parameters `from` and `to` name.
    pub(crate) fn find(robot: &RobotModel, from: &str, to: &str) -> Result<Self, Invalid> {
        Ok(Self { from: robot.frame("from", from)?, to: robot.frame("to", to)? })
    }
}
