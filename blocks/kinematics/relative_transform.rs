//! `RelativeTransform`: where one frame of a robot sees another.

use std::sync::Arc;

use legwork_block::{Inputs, Outcome, Outputs, Pose, Pure, Vector, block, parameters, ports};
use legwork_mechanics::{Kinematics, relative_placement, relative_velocity};

use crate::buses::StateBus;
use crate::robot::frames::{Pair, write_placement, write_twist};
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::kinematics;

/// Pose and velocity of the frame `to` relative to the frame `from`. The pose is `from_from_to`.
///
/// With `A = from`, `B = to`, `d = p_B − p_A`: pose `(R_Aᵀ R_B, R_Aᵀ d)`, velocity
/// `(R_Aᵀ (v_B − v_A − ω_A × d), R_Aᵀ (ω_B − ω_A))`. Where the robot is in the world has no
/// influence, not even by rounding.
///
/// R. Featherstone, *Rigid Body Dynamics Algorithms* (2008), sec. 2.8.
#[ports(
    keep robot: Arc<RobotModel> = self.robot.find(ports)?;
    keep pair: Pair = Pair::find(&robot, &self.from, &self.to)?;
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    ask kinematics: Kinematics = kinematics(ports, &robot, state);
    out pose: Pose, _, "maps coordinates in `to` to coordinates in `from`",
        frame &self.from, units "1, m";
    out velocity: Vector::of(6), _, "linear, angular, of `to` in `from`, axes of `from`",
        frame &self.from, units "m/s, rad/s";
)]
#[parameters(aliases("frame transform"))]
pub struct RelativeTransform {
    /// The robot.
    pub robot: RobotName,
    /// Name of the link that sees.
    pub from: String,
    /// Name of the link that is seen.
    pub to: String,
}

#[block]
impl Pure for RelativeTransform {
    fn output(&self, plan: &Self::Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let (model, Pair { from, to }) = (&plan.robot.model, &plan.pair);
        let kinematics = inputs.shared(plan.kinematics);
        let placement = relative_placement(model, kinematics, *from, *to);
        write_placement(outputs.get(plan.pose), &placement);
        let velocity = relative_velocity(model, kinematics, *from, *to);
        write_twist(outputs.get(plan.velocity), &velocity);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinematics::forward_kinematics::ForwardKinematics;
    use crate::robot::frames::{Representation, read_placement};
    use crate::testing::robots::{Rig, States, close, go, refusal};

    fn block(from: &str, to: &str) -> RelativeTransform {
        RelativeTransform { robot: "go".into(), from: from.into(), to: to.into() }
    }

    #[test]
    fn world_from_a_times_a_from_b_is_world_from_b() {
        let frame = |name: &str| {
            let (frame, representation) = (name.to_owned(), Representation::Mixed);
            let block = ForwardKinematics { robot: "go".into(), frame, representation };
            Rig::new(block, &go(), &[])
        };
        let mut rigs =
            [frame("FL_foot"), frame("HR_foot"), Rig::new(block("FL_foot", "HR_foot"), &go(), &[])];
        for (q, nu) in States::of(&go(), 20) {
            let poses = rigs.each_mut().map(|rig| {
                rig.set("state", &[&q, &nu]);
                rig.output();
                read_placement(&rig.leaf("pose", 0))
            });
            let there = poses[0] * poses[2];
            close(there.rotation.as_slice(), poses[1].rotation.as_slice(), 1e-14);
            close(there.translation.as_slice(), poses[1].translation.as_slice(), 1e-14);
        }
    }

    #[test]
    fn a_frame_is_at_rest_where_it_sees_itself() {
        let mut rig = Rig::new(block("FL_foot", "FL_foot"), &go(), &[]);
        for (q, nu) in States::of(&go(), 5) {
            rig.set("state", &[&q, &nu]);
            rig.output();
            close(&rig.leaf("velocity", 0), &[0.0; 6], 1e-14);
            let mut identity = vec![0.0; 12];
            write_placement(&mut identity, &legwork_mechanics::Placement::identity());
            close(&rig.leaf("pose", 0), &identity, 1e-15);
        }
    }

    #[test]
    fn both_frames_must_be_there() {
        assert_eq!(
            refusal(block("FL_fot", "HR_foot"), &go(), &[], &[]).parameter.as_deref(),
            Some("from")
        );
        assert_eq!(
            refusal(block("HR_foot", "FL_fot"), &go(), &[], &[]).parameter.as_deref(),
            Some("to")
        );
    }
}
