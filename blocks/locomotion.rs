//! The list of blocks for legged locomotion and for control through contacts.

use legwork_block::Registry;

use crate::contact_inverse_dynamics::ContactInverseDynamics;
use crate::foot_placement::FootPlacement;
use crate::foot_trajectory::FootTrajectory;
use crate::gait_generator::GaitGenerator;
use crate::leg_inverse_kinematics::LegInverseKinematics;
use crate::pendulum_stabiliser::PendulumStabiliser;
use crate::trunk_levelling::TrunkLevelling;
use crate::waypoint_follower::WaypointFollower;

/// Adds gaits, feet and legs. Examples name a robot `go`.
pub(crate) fn register_locomotion(r: &mut Registry) {
    r.block::<GaitGenerator>("GaitGenerator(gait: Trot, period: \"0.4 s\")");
    r.block::<FootTrajectory>(
        r#"FootTrajectory(robot: "go", height: "28 cm", step_height: "5 cm")"#,
    );
    r.block::<LegInverseKinematics>(r#"LegInverseKinematics(robot: "go", knees: [Backward])"#);
    r.block::<FootPlacement>(r#"FootPlacement(robot: "go", gain: "0.1 s")"#);
    r.block::<TrunkLevelling>(r#"TrunkLevelling(robot: "go", gain: 0.5)"#);
    r.block::<PendulumStabiliser>(r#"PendulumStabiliser(robot: "go", damping: "10 N*m*s/rad")"#);
    r.block::<WaypointFollower>(
        r#"WaypointFollower(robot: "go", waypoints: [[1, 0], [1, 1]], speed: "0.3 m/s")"#,
    );
    r.block::<ContactInverseDynamics>("ContactInverseDynamics(model: CoulombQp(stages: Two))");
}
