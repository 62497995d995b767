//! `ForwardKinematics`: where a frame of a robot is.

use legwork_block::{Inputs, Invalid, Out, Outcome, Outputs, Ports, Pose, Pure};
use legwork_mechanics::{FrameId, world_from_frame};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::robot_kinematics::AtState;
use crate::robot_name::RobotName;

/// Pose of a frame of a robot in the world, `world_from_frame`.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `state` | State(robot) | | configuration and velocity; only q matters |
/// | out `pose` | Pose | 1, m | rotation (9 numbers, column by column), position of the origin (3) |
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForwardKinematics {
    /// The robot.
    pub robot: RobotName,
    /// Name of a link of the robot file.
    pub frame: String,
}

/// Ports and frame of [`ForwardKinematics`].
pub struct Plan {
    at: AtState,
    frame: FrameId,
    pose: Out<Pose>,
}

impl Pure for ForwardKinematics {
    const KIND: &'static str = "ForwardKinematics";
    type Plan = Plan;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let at = AtState::plan(&self.robot, ports)?;
        let frame = at.robot.frame("frame", &self.frame)?;
        let pose = ports.output("pose", &Pose);
        ports.note_out(pose).frame("world").doc("world_from_frame");
        Ok(Plan { at, frame, pose })
    }

    fn output(&self, plan: &Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let kinematics = inputs.shared(plan.at.kinematics);
        let placement = world_from_frame(&plan.at.robot.model, kinematics, plan.frame);
        let pose = outputs.get(plan.pose);
        pose[..9].copy_from_slice(placement.rotation.as_slice());
        pose[9..].copy_from_slice(placement.translation.as_slice());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::ForwardKinematics;
    use crate::robots_testing::{check_reference_frames, go, refusal};

    #[test]
    fn the_pose_is_that_of_pinocchio() {
        check_reference_frames(
            |robot, frame| ForwardKinematics { robot: robot.into(), frame: frame.into() },
            "pose",
            |frame, _| {
                let rotation = frame.matrix("rotation");
                [rotation, frame.numbers("position")].concat()
            },
        );
    }

    #[test]
    fn a_frame_that_is_not_there_gets_the_nearest_name() {
        let block = ForwardKinematics { robot: "go".into(), frame: "FL_fot".into() };
        let invalid = refusal(block, &go(), &[], &[]);
        assert_eq!(invalid.parameter.as_deref(), Some("frame"));
        assert_eq!(invalid.message, "expected a link of `go`, found `FL_fot`");
        assert_eq!(invalid.hints, ["did you mean `FL_foot`?"]);
    }
}
