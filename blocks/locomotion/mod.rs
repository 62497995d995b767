//! Legged and wheeled motion: gaits, foot paths and placement, leg kinematics, prediction, balance,
//! waypoints.

mod condensed_mpc;
mod foot_placement;
mod foot_trajectory;
mod gait_generator;
mod leg_inverse_kinematics;
mod legs;
mod pendulum_stabiliser;
mod trunk;
mod trunk_levelling;
mod waypoint_follower;

use legwork_block::Registry;

pub use condensed_mpc::CondensedMpc;
pub use foot_placement::FootPlacement;
pub use foot_trajectory::FootTrajectory;
pub use gait_generator::GaitGenerator;
pub use leg_inverse_kinematics::LegInverseKinematics;
pub use pendulum_stabiliser::PendulumStabiliser;
pub use trunk_levelling::TrunkLevelling;
pub use waypoint_follower::WaypointFollower;

/// Adds the blocks of this shelf.
pub(crate) fn register(r: &mut Registry) {
    let mut shelf = r.shelf(
        "locomotion",
        "Gaits, foot paths and placement, leg kinematics, prediction, balance, waypoints.",
    );
    shelf.block::<CondensedMpc>(
        r#"CondensedMpc(robot: "go", inertia: [0.07, 0.26, 0.242], height: "28 cm", stance: [[0.19, 0.11], [0.19, -0.11], [-0.19, 0.11], [-0.19, -0.11]])"#,
    );
    shelf.block::<FootPlacement>(r#"FootPlacement(robot: "go", gain: "0.1 s")"#);
    shelf.block::<FootTrajectory>(
        r#"FootTrajectory(robot: "go", height: "28 cm", step_height: "5 cm")"#,
    );
    shelf.block::<GaitGenerator>("GaitGenerator(gait: Trot, period: \"0.4 s\")");
    shelf.block::<LegInverseKinematics>(r#"LegInverseKinematics(robot: "go", knees: [Backward])"#);
    shelf
        .block::<PendulumStabiliser>(r#"PendulumStabiliser(robot: "go", damping: "10 N*m*s/rad")"#);
    shelf.block::<TrunkLevelling>(r#"TrunkLevelling(robot: "go", gain: 0.5)"#);
    shelf.block::<WaypointFollower>(
        r#"WaypointFollower(robot: "go", waypoints: [[1, 0], [1, 1]], speed: "0.3 m/s")"#,
    );
}
