//! `ForwardKinematics`: where a frame of a robot is and how it moves.

use std::sync::Arc;

use legwork_block::{Inputs, Outcome, Outputs, Pose, Pure, Vector, block, parameters, ports};
use legwork_mechanics::{FrameId, Kinematics, frame_velocity_in, world_from_frame};

use crate::buses::StateBus;
use crate::robot::frames::{Representation, write_placement, write_twist};
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::kinematics;

/// Pose of a frame of a robot in the world, `world_from_frame`, and its velocity.
///
/// R. Featherstone, *Rigid Body Dynamics Algorithms* (2008), sec. 4.4.
#[ports(
    keep robot: Arc<RobotModel> = self.robot.find(ports)?;
    keep frame: FrameId = robot.frame("frame", &self.frame)?;
    let axes = self.representation.axes(&self.frame);
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    ask kinematics: Kinematics = kinematics(ports, &robot, state);
    out pose: Pose, _, "rotation (9, column by column), position of the origin (3)",
        frame "world", units "1, m";
    out velocity: Vector::of(6), _, "linear, angular velocity in `representation`: `J ν`",
        frame axes, units "m/s, rad/s";
)]
#[parameters(aliases("FK", "frame pose", "transform"))]
pub struct ForwardKinematics {
    /// The robot.
    pub robot: RobotName,
    /// Name of a link of the robot file.
    pub frame: String,
    /// How the velocity is written: `Mixed` (the default), `Body` or `World`.
    #[default]
    pub representation: Representation,
}

#[block]
impl Pure for ForwardKinematics {
    fn output(&self, plan: &Self::Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let (model, kinematics) = (&plan.robot.model, inputs.shared(plan.kinematics));
        write_placement(outputs.get(plan.pose), &world_from_frame(model, kinematics, plan.frame));
        let representation = self.representation;
        let velocity = frame_velocity_in(model, kinematics, plan.frame, representation);
        write_twist(outputs.get(plan.velocity), &velocity);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinematics::jacobian::Jacobian;
    use crate::testing::robots::{Rig, States, check_reference_frames, close, go, refusal};

    fn block(robot: &str, frame: &str, representation: Representation) -> ForwardKinematics {
        ForwardKinematics { robot: robot.into(), frame: frame.into(), representation }
    }

    #[test]
    fn pose_and_velocity_are_those_of_pinocchio() {
        let mixed = |robot: &str, frame: &str| block(robot, frame, Representation::Mixed);
        check_reference_frames(mixed, "pose", |frame, _| {
            [frame.matrix("rotation"), frame.numbers("position")].concat()
        });
        check_reference_frames(mixed, "velocity", |frame, _| frame.numbers("velocity"));
    }

    #[test]
    fn the_velocity_is_the_jacobian_times_nu_in_every_representation() {
        for representation in [Representation::Mixed, Representation::Body, Representation::World] {
            let mut rig = Rig::new(block("go", "HR_foot", representation), &go(), &[]);
            let jacobian = Jacobian { robot: "go".into(), frame: "HR_foot".into(), representation };
            let mut jacobian = Rig::new(jacobian, &go(), &[]);
            for (q, nu) in States::of(&go(), 10) {
                for rig in [&mut rig, &mut jacobian] {
                    rig.set("state", &[&q, &nu]);
                    rig.output();
                }
                let j = jacobian.leaf("jacobian", 0);
                let product: Vec<f64> =
                    (0..6).map(|r| (0..18).map(|c| j[6 * c + r] * nu[c]).sum()).collect();
                close(&rig.leaf("velocity", 0), &product, 1e-13);
            }
        }
    }

    #[test]
    fn a_frame_that_is_not_there_gets_the_nearest_name() {
        let block = block("go", "FL_fot", Representation::Mixed);
        let invalid = refusal(block, &go(), &[], &[]);
        assert_eq!(invalid.parameter.as_deref(), Some("frame"));
        assert_eq!(invalid.message, "expected a link of `go`, found `FL_fot`");
        assert_eq!(invalid.hints, ["did you mean `FL_foot`?"]);
    }
}
