use std::sync::Arc;

use legwork_mechanics::nalgebra::Vector3;
use legwork_mechanics::{Kinematics, Placement, world_from_frame};
use serde_json::{Value, json};

use super::*;
use crate::robot::frames::write_placement;
use crate::testing::robots::{Rig, States, close, go, load, refusal};
use legwork_mechanics::quaternion_to_rotation;

fn ik(robot: &str, parameters: Value) -> InverseKinematics {
    let mut all = json!({ "robot": robot });
    let Value::Object(fields) = parameters else { panic!("parameters have names") };
    all.as_object_mut().expect("an object").extend(fields);
    serde_json::from_value(all).expect("the parameters bind")
}

fn panda() -> Arc<RobotModel> {
    let parameters = json!({ "path": "robots/panda/panda.urdf", "base": "Fixed" });
    load("panda", parameters).expect("the arm").0
}

fn pose(robot: &RobotModel, q: &[f64], frame: &str) -> Placement {
    let mut kinematics = Kinematics::new(&robot.model);
    kinematics.update_placements(&robot.model, q);
    world_from_frame(&robot.model, &kinematics, robot.model.find_frame(frame).expect("a frame"))
}

fn numbers(placement: &Placement) -> Vec<f64> {
    let mut numbers = vec![0.0; 12];
    write_placement(&mut numbers, placement);
    numbers
}

const ELBOW: [f64; 8] = [0.1, -0.4, 0.2, -2.0, 0.1, 1.7, 0.6, 0.02];

#[test]
fn a_pose_is_met_and_a_moving_one_followed_from_the_last_solution() {
    let robot = panda();
    let block = ik("panda", json!({ "targets": [{ "frame": "panda_hand_tcp" }] }));
    let mut rig = Rig::new(block, &robot, &[]);
    rig.set("state", &[&ELBOW, &[0.0; 8]]);
    let mut goal = pose(&robot, &ELBOW, "panda_hand_tcp");
    let mut last = ELBOW.to_vec();
    for step in 0..200 {
        goal.translation += Vector3::new(1e-3, -5e-4, 3e-4);
        rig.set("target1", &[&numbers(&goal)]);
        rig.output();
        rig.update();
        assert_eq!(rig.leaf("converged", 0), [1.0], "{step}");
        assert!(rig.leaf("iterations", 0)[0] <= 4.0, "{step}: {:?}", rig.leaf("iterations", 0));
        let s = rig.leaf("s", 0);
        let there = pose(&robot, &s, "panda_hand_tcp");
        close(there.translation.as_slice(), goal.translation.as_slice(), 1e-6);
        for (s, last) in s.iter().zip(&last) {
            assert!((s - last).abs() < 0.02, "{step}: a jump of {}", s - last);
        }
        last = s;
    }
}

#[test]
fn without_warm_start_the_state_is_the_first_guess() {
    let robot = panda();
    let parameters =
        |warm: bool| json!({ "targets": [{ "frame": "panda_hand_tcp" }], "warm_start": warm });
    let goal = pose(&robot, &[0.3, -0.2, 0.0, -1.6, 0.3, 1.4, 0.5, 0.02], "panda_hand_tcp");
    for (warm, iterations) in [(true, 0.0..1.0), (false, 2.0..20.0)] {
        let mut rig = Rig::new(ik("panda", parameters(warm)), &robot, &[]);
        rig.set("state", &[&ELBOW, &[0.0; 8]]);
        rig.set("target1", &[&numbers(&goal)]);
        for _ in 0..2 {
            rig.output();
            rig.update();
        }
        let found = rig.leaf("iterations", 0)[0];
        assert!(iterations.contains(&found), "{warm}: {found}");
    }
}

#[test]
fn positions_poses_and_stated_orientations_are_targets() {
    let robot = panda();
    let goal = pose(&robot, &ELBOW, "panda_hand_tcp");
    let start = [0.3, -0.2, 0.0, -1.6, 0.3, 1.4, 0.5, 0.02];
    let mut tool_down = goal;
    tool_down.rotation = quaternion_to_rotation([0.0, 1.0, 0.0, 0.0]);
    for (target, input, expected) in [
        (json!({ "position_only": true }), goal.translation.as_slice().to_vec(), goal),
        (json!({}), numbers(&goal), goal),
        (
            json!({ "orientation": [0.0, 2.0, 0.0, 0.0] }),
            goal.translation.as_slice().to_vec(),
            tool_down,
        ),
    ] {
        let mut parameters = json!({ "targets": [target] });
        parameters["targets"][0]["frame"] = "panda_hand_tcp".into();
        let mut rig = Rig::new(ik("panda", parameters.clone()), &robot, &[]);
        rig.set("state", &[&start, &[0.0; 8]]);
        rig.set("target1", &[&input]);
        rig.output();
        assert_eq!(rig.leaf("converged", 0), [1.0], "{parameters}");
        let there = pose(&robot, &rig.leaf("s", 0), "panda_hand_tcp");
        close(there.translation.as_slice(), expected.translation.as_slice(), 1e-6);
        let is_turned = (there.rotation - expected.rotation).norm() > 1e-5;
        assert_eq!(is_turned, parameters["targets"][0]["position_only"] == true, "{parameters}");
    }
}

#[test]
fn four_feet_are_placed_at_once_under_a_given_base() {
    let robot = go();
    let targets: Vec<Value> = ["FL_foot", "FR_foot", "HL_foot", "HR_foot"]
        .map(|frame| json!({ "frame": frame, "position_only": true }))
        .to_vec();
    let mut rig = Rig::new(ik("go", json!({ "targets": targets })), &robot, &[]);
    let stand = [0.0, -0.8, 1.6].repeat(4);
    for (mut q, nu) in States::of(&robot, 10) {
        q[7..].copy_from_slice(&stand);
        for (i, foot) in ["FL_foot", "FR_foot", "HL_foot", "HR_foot"].into_iter().enumerate() {
            let place = pose(&robot, &q, foot).translation;
            rig.set(&format!("target{}", i + 1), &[place.as_slice()]);
        }
        for s in &mut q[7..] {
            *s += 0.2;
        }
        rig.set("state", &[&q, &nu]);
        rig.output();
        assert_eq!(rig.leaf("converged", 0), [1.0]);
        assert!(rig.leaf("position_error", 0)[0] <= 1e-6);
        close(&rig.leaf("s", 0), &stand, 1e-4);
    }
}

#[test]
fn out_of_reach_is_an_answer() {
    let robot = panda();
    let targets = json!({ "targets": [{ "frame": "panda_hand_tcp", "position_only": true }] });
    let mut rig = Rig::new(ik("panda", targets), &robot, &[]);
    rig.set("state", &[&ELBOW, &[0.0; 8]]);
    rig.set("target1", &[&[5.0, 0.0, 0.5]]);
    rig.output();
    assert_eq!(rig.leaf("converged", 0), [0.0]);
    let error = rig.leaf("position_error", 0)[0];
    assert!((3.5..4.5).contains(&error), "{error}");
    assert_eq!(rig.leaf("error", 0), [error]);
    for (joint, s) in robot.model.joints().iter().zip(rig.leaf("s", 0)) {
        assert!(joint.lower <= s && s <= joint.upper, "{}", joint.name);
    }
}

#[test]
fn targets_that_make_no_sense_are_refused() {
    let said = |targets: Value| {
        let invalid = refusal(ik("go", json!({ "targets": targets })), &go(), &[], &[]);
        (invalid.parameter.unwrap_or_default(), invalid.message)
    };
    let (parameter, message) = said(json!([]));
    assert_eq!(
        (parameter.as_str(), message.as_str()),
        ("targets", "expected at least one, found 0")
    );
    assert_eq!(
        said(json!([{ "frame": "FL_foot" }, { "frame": "FL_fot" }])).1,
        "expected a link of `go`, found `FL_fot`"
    );
    let both = json!([{ "frame": "FL_foot", "position_only": true, "orientation": [1, 0, 0, 0] }]);
    assert_eq!(
        said(both).1,
        "target `FL_foot`: expected no orientation with `position_only`, found one"
    );
    let none = json!([{ "frame": "FL_foot", "orientation": [0, 0, 0, 0] }]);
    assert_eq!(
        said(none).1,
        "target `FL_foot`: expected a quaternion of any length but 0, found 0"
    );
    let weightless = json!([{ "frame": "FL_foot", "position_only": true, "position_weight": 0 }]);
    assert_eq!(said(weightless).1, "target `FL_foot`: expected a weight above 0, found none");
}
