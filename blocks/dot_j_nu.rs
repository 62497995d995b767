//! `DotJNu`: the acceleration of a frame that velocity alone causes.

use legwork_block::{Inputs, Invalid, Out, Outcome, Outputs, Ports, Pure, Vector};
use legwork_mechanics::{FrameId, frame_jacobian_dot_velocity};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::robot_kinematics::AtState;
use crate::robot_name::RobotName;

/// `J̇ν` of a frame of a robot: its classical acceleration at ν̇ = 0, so that its acceleration is
/// `J ν̇ + J̇ν`.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `state` | State(robot) | | configuration and velocity |
/// | out `y` | 6 | m/s², rad/s² | acceleration of the frame's origin, angular acceleration, world axes |
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DotJNu {
    /// The robot.
    pub robot: RobotName,
    /// Name of a link of the robot file.
    pub frame: String,
}

/// Ports and frame of [`DotJNu`].
pub struct Plan {
    at: AtState,
    frame: FrameId,
    y: Out<Vector>,
}

impl Pure for DotJNu {
    const KIND: &'static str = "DotJNu";
    type Plan = Plan;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let at = AtState::plan(&self.robot, ports)?;
        let frame = at.robot.frame("frame", &self.frame)?;
        let y = ports.output("y", &Vector::of(6));
        ports.note_out(y).frame("world").doc("linear, then angular acceleration at nu_dot = 0");
        Ok(Plan { at, frame, y })
    }

    fn output(&self, plan: &Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let kinematics = inputs.shared(plan.at.kinematics);
        let bias = frame_jacobian_dot_velocity(&plan.at.robot.model, kinematics, plan.frame);
        let y = outputs.get(plan.y);
        y[..3].copy_from_slice(bias.linear.as_slice());
        y[3..].copy_from_slice(bias.angular.as_slice());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::DotJNu;
    use crate::robots_testing::check_reference_frames;

    #[test]
    fn dot_j_nu_is_that_of_pinocchio() {
        check_reference_frames(
            |robot, frame| DotJNu { robot: robot.into(), frame: frame.into() },
            "y",
            |frame, _| frame.numbers("jdot_nu"),
        );
    }
}
