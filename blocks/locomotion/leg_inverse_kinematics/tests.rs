use legwork_mechanics::{Kinematics, world_from_frame};
use serde_json::json;

use super::*;
use crate::testing::robots::{HINGE_AND_BALL, Rig, go, load_text};

fn block(parameters: serde_json::Value) -> LegInverseKinematics {
    serde_json::from_value(parameters).expect("it binds")
}

#[test]
fn the_feet_of_the_robot_are_where_they_are_wanted() {
    let go = go();
    let mut rig = Rig::new(block(json!({ "robot": "go" })), &go, &[]);
    let mut wanted = Vec::new();
    for (x, y) in [(0.2, 0.12), (0.17, -0.1), (-0.2, 0.1), (-0.22, -0.14)] {
        wanted.extend([x, y, -0.27 + 0.1 * x]);
    }
    let velocity: Vec<f64> = (0..12).map(|i| 0.1 * f64::from(i) - 0.5).collect();
    rig.set("position", &[&wanted]);
    rig.set("velocity", &[&velocity]);
    rig.output();
    assert_eq!(rig.leaf("reachable", 0), [1.0]);
    // By the kinematics of the whole robot: positions, and velocities by a difference.
    let feet = |s: &[f64]| -> Vec<f64> {
        let mut q = go.model.zero_configuration();
        q[7..].copy_from_slice(s);
        let mut kinematics = Kinematics::new(&go.model);
        kinematics.update_placements(&go.model, &q);
        let place = |foot: &_| world_from_frame(&go.model, &kinematics, *foot).translation;
        go.feet.iter().flat_map(|foot| <[f64; 3]>::from(place(foot))).collect()
    };
    let (s, rates) = (rig.leaf("s_ref", 0), rig.leaf("s_dot_ref", 0));
    let moved = |h: f64| -> Vec<f64> { s.iter().zip(&rates).map(|(s, r)| s + h * r).collect() };
    let (before, now, after) = (feet(&moved(-1e-6)), feet(&s), feet(&moved(1e-6)));
    for i in 0..12 {
        assert!((now[i] - wanted[i]).abs() < 1e-13, "coordinate {i} of the feet");
        let rate = (after[i] - before[i]) / 2e-6;
        assert!((rate - velocity[i]).abs() < 1e-8, "rate of coordinate {i} of the feet");
    }
}

#[test]
fn a_foot_out_of_reach_is_told_and_no_joint_leaves_its_limits() {
    let go = go();
    let mut rig =
        Rig::new(block(json!({ "robot": "go", "knees": ["Forward"] })), &go, &["velocity"]);
    rig.set("position", &[&[0.0, 0.0, -5.0].repeat(4)]);
    rig.output();
    assert_eq!(rig.leaf("reachable", 0), [0.0]);
    for (s, joint) in rig.leaf("s_ref", 0).iter().zip(go.model.joints()) {
        assert!((joint.lower..=joint.upper).contains(s), "{}: {s}", joint.name);
    }
    assert_eq!(rig.leaf("s_dot_ref", 0), [0.0; 12]);
}

#[test]
fn robots_without_such_legs_are_refused() {
    let refused =
        |parameters, robot: &Arc<RobotModel>| match Rig::with(block(parameters), robot, &[], &[]) {
            Ok(_) => panic!("the block was accepted"),
            Err(invalid) => invalid.message,
        };
    let message = refused(json!({ "robot": "go", "knees": ["Forward", "Backward"] }), &go());
    assert_eq!(message, "expected one knee for all or 4, found 2");
    let (arm, _) = load_text("arm", HINGE_AND_BALL, json!({ "base": "Fixed" })).expect("an arm");
    let message = refused(json!({ "robot": "arm" }), &arm);
    assert_eq!(message, "expected a robot with feet, found none on `arm`");
    let footed = json!({ "base": "Fixed", "feet": ["upper"] });
    let (arm, _) = load_text("arm", HINGE_AND_BALL, footed).expect("an arm");
    let message = refused(json!({ "robot": "arm" }), &arm);
    assert_eq!(message, "expected a leg of 3 joints above `upper`, found 1");
}
