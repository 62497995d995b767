//! `Jacobian`: the Jacobian of a frame of a robot.

use legwork_block::{Inputs, Invalid, Matrix, Out, Outcome, Outputs, Ports, Pure};
use legwork_mechanics::{FrameId, frame_jacobian};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::buses::RobotDims;
use crate::robot_kinematics::AtState;
use crate::robot_name::RobotName;

/// Jacobian of a frame of a robot in the mixed representation: `(v, ω) = J ν`.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `state` | State(robot) | | configuration and velocity; only q matters |
/// | out `jacobian` | 6 × nv | 1, m | rows: velocity of the frame's origin, angular velocity, world axes |
///
/// `Jᵀ w` is the generalised force of a wrench w = (force, moment about the frame's origin) on the
/// robot, in world axes.
///
/// R. Featherstone, *Rigid Body Dynamics Algorithms* (2008), sec. 4.5; iDynTree's MIXED.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Jacobian {
    /// The robot.
    pub robot: RobotName,
    /// Name of a link of the robot file.
    pub frame: String,
}

/// Ports and frame of [`Jacobian`].
pub struct Plan {
    at: AtState,
    frame: FrameId,
    jacobian: Out<Matrix>,
}

impl Pure for Jacobian {
    const KIND: &'static str = "Jacobian";
    type Plan = Plan;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let at = AtState::plan(&self.robot, ports)?;
        let frame = at.robot.frame("frame", &self.frame)?;
        let nv = RobotDims::of(ports, self.robot.as_str()).nv;
        let jacobian = ports.output("jacobian", &Matrix::of(6, nv));
        ports.note_out(jacobian).frame("world").doc("linear rows, then angular rows");
        Ok(Plan { at, frame, jacobian })
    }

    fn output(&self, plan: &Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let kinematics = inputs.shared(plan.at.kinematics);
        let out = outputs.get(plan.jacobian);
        frame_jacobian(&plan.at.robot.model, kinematics, plan.frame, out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Jacobian;
    use crate::robots_testing::check_reference_frames;

    #[test]
    fn the_jacobian_is_that_of_pinocchio() {
        check_reference_frames(
            |robot, frame| Jacobian { robot: robot.into(), frame: frame.into() },
            "jacobian",
            |frame, order| frame.columns("jacobian", order),
        );
    }
}
