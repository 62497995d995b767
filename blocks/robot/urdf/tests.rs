//! Robots from files: facts, checks, keyframes.

use legwork_block::{Resource, Unit, Value};
use serde_json::json;

use crate::testing::robots::{HINGE_AND_BALL, go, go_parameters, load, load_text};

fn fact(facts: &Value, name: &str) -> Value {
    let Value::Record(facts) = facts else { panic!("facts are a record") };
    facts.get(name).cloned().unwrap_or_else(|| panic!("no fact `{name}`"))
}

/// A list of quantities.
fn of_unit(values: &[f64], unit: Unit) -> Value {
    Value::List(values.iter().map(|&value| Value::quantity(value, unit)).collect())
}

/// What is wrong with Mini Cheetah if its parameter `name` is `value`.
fn refusal(name: &str, value: serde_json::Value) -> (Option<String>, String, Vec<String>) {
    let mut parameters = go_parameters();
    parameters[name] = value;
    let invalid = load("go", parameters).expect_err("an error");
    (invalid.parameter, invalid.message, invalid.hints)
}

#[test]
fn facts_of_mini_cheetah() {
    let robot = go();
    let facts = robot.facts();
    for (name, n) in [("n", 12), ("ns", 12), ("nv", 18), ("nq", 19)] {
        assert_eq!(fact(&facts, name), Value::from(f64::from(n)));
        assert_eq!(robot.dimension(name), Some(n as usize));
    }
    assert_eq!(robot.dimension("mass"), None);
    assert_eq!(fact(&facts, "floating"), Value::from(true));
    assert_eq!(fact(&facts, "mimic"), Value::List(Vec::new()));
    assert_eq!(fact(&facts, "robots"), Value::List(Vec::new()));
    assert_eq!(fact(&facts, "feet"), Value::from(vec!["FL_foot", "FR_foot", "HL_foot", "HR_foot"]));
    let leg = |values: [f64; 3], unit| of_unit(&values.repeat(4), unit);
    let (turn, torque) = (Unit::RADIAN, Unit::NEWTON_METRE);
    assert_eq!(fact(&facts, "effort"), leg([18.0, 18.0, 27.99], torque));
    assert_eq!(fact(&facts, "upper"), leg([1.2, 2.4, 2.75], turn));
    assert_eq!(fact(&facts, "lower"), leg([-1.2, -2.4, -2.75], turn));
    let rotors = leg([0.002268, 0.002268, 0.00548408], Unit::KILOGRAM_SQUARE_METRE);
    assert_eq!(fact(&facts, "rotor_inertia"), rotors);
    let stand = fact(&fact(&facts, "keyframes"), "stand");
    assert_eq!(fact(&stand, "s"), leg([0.0, -0.8, 1.6], turn));
    let Value::Real { value: mass, unit } = fact(&facts, "mass") else { panic!("a number") };
    assert_eq!(unit, Some(Unit::KILOGRAM));
    // 3.3 kg trunk, four legs of 0.54 + 0.634 + 0.064 kg.
    assert!((mass - 8.252).abs() < 1e-12);
    assert_eq!(fact(&facts, "weight"), Value::quantity(mass * 9.81, Unit::NEWTON));
}

/// 3.3 kg trunk, twice that; of 0.54 + 0.634 + 0.064 kg of each leg the thighs half.
#[test]
fn masses_are_scaled_by_names_of_links() {
    let mut parameters = go_parameters();
    parameters["mass_scale"] = json!({ "trunk": 2, "*_thigh": "50 %" });
    let (robot, _) = load("go", parameters).expect("a robot");
    assert!((robot.model.total_mass() - (8.252 + 3.3 - 4.0 * 0.317)).abs() < 1e-12);

    let (parameter, message, hints) = refusal("mass_scale", json!({ "trunc": 2 }));
    assert_eq!(parameter.as_deref(), Some("mass_scale"));
    assert_eq!(message, "expected a link or a pattern of links, found `trunc`");
    assert_eq!(hints, ["did you mean `trunk`?"]);
    let (_, message, _) = refusal("mass_scale", json!({ "*_thigh": 2, "FL_*": 2 }));
    assert_eq!(message, "link `FL_thigh` is matched by `*_thigh` and by `FL_*`");
    let (_, message, _) = refusal("mass_scale", json!([1, 2]));
    assert_eq!(message, "expected 17 values, one for each link, found 2");
}

#[test]
fn names_that_the_robot_does_not_have_get_the_nearest() {
    let (parameter, message, hints) = refusal("feet", json!(["FL_feet"]));
    assert_eq!(parameter.as_deref(), Some("feet"));
    let path = "robots/mini_cheetah/mini_cheetah.urdf";
    assert_eq!(message, format!("expected a link of {path}, found `FL_feet`"));
    assert_eq!(hints, ["did you mean `FL_foot`?"]);

    let (parameter, message, hints) =
        refusal("rotor_inertia", json!({ "FL_abda_joint": 0.002268 }));
    assert_eq!(parameter.as_deref(), Some("rotor_inertia"));
    assert_eq!(message, "no joint matches `FL_abda_joint`");
    assert_eq!(hints, ["did you mean `FL_abad_joint`?"]);

    let (_, message, _) = refusal("feet", json!(["FL_foot", "FL_foot"]));
    assert_eq!(message, "foot `FL_foot` is listed twice");
}

#[test]
fn keyframes_fit_the_joints() {
    let (parameter, message, _) = refusal("keyframes", json!({ "sit": { "s": [0, 1] } }));
    assert_eq!(parameter.as_deref(), Some("keyframes"));
    assert_eq!(message, "keyframe `sit`: expected 12 values, one for each joint, found 2");
    let (_, message, _) = refusal("keyframes", json!({ "sit": { "s": "1 m" } }));
    assert_eq!(message, "keyframe `sit`: joint `FL_abad_joint`: expected a value in rad, found m");
    let flat = json!({ "sit": { "s": 0, "base_orientation": [0, 0, 0, 0] } });
    let (_, message, _) = refusal("keyframes", flat);
    assert_eq!(
        message,
        "keyframe `sit`: expected a quaternion (w, x, y, z), found one of length 0"
    );
}

#[test]
fn keyframes_take_names_degrees_and_a_pose_of_the_base() {
    let mut parameters = go_parameters();
    parameters["keyframes"] = json!({ "sit": {
        "s": { "*_knee_joint": "90 deg", "HR_hip_joint": 0.5 },
        "base_position": [0, 0, "30 cm"],
        "base_orientation": [0, 0, 0, -2],
    } });
    let (robot, warnings) = load("go", parameters).expect("a robot");
    assert!(warnings.is_empty(), "{warnings:?}");
    let sit = &robot.keyframes["sit"];
    let right = std::f64::consts::FRAC_PI_2;
    assert_eq!(
        sit.joint_positions,
        [0.0, 0.0, right, 0.0, 0.0, right, 0.0, 0.0, right, 0.0, 0.5, right]
    );
    assert_eq!(sit.base_position, Some([0.0, 0.0, 0.3]));
    assert_eq!(sit.base_orientation, Some([0.0, 0.0, 0.0, -1.0]));
}

#[test]
fn a_keyframe_beyond_the_limits_is_warned_of() {
    let mut parameters = go_parameters();
    parameters["keyframes"] = json!({ "split": { "s": { "FL_abad_joint": 1.5 } } });
    let (_, warnings) = load("go", parameters).expect("a robot");
    assert_eq!(
        warnings,
        ["keyframe `split`: joint `FL_abad_joint` at 1.5 is outside its limits -1.2 … 1.2"]
    );
}

#[test]
fn a_fixed_base_has_no_pose() {
    let panda = |keyframes: serde_json::Value| {
        let path = "robots/panda/panda.urdf";
        load(
            "arm",
            json!({ "path": path, "base": "Fixed", "mimic": "Free", "keyframes": keyframes }),
        )
    };
    let (arm, warnings) =
        panda(json!({ "open": { "s": { "*_finger_*": "4 cm" } } })).expect("an arm");
    assert_eq!(arm.dimension("nq"), Some(9));
    assert_eq!(arm.dimension("nv"), Some(9));
    assert_eq!(arm.keyframes["open"].joint_positions[7..], [0.04, 0.04]);
    assert!(warnings.iter().any(|warning| warning.contains("mimics")), "{warnings:?}");
    let lifted = json!({ "up": { "s": 0, "base_position": [0, 0, 1] } });
    let invalid = panda(lifted).expect_err("a pose of a fixed base");
    assert_eq!(
        invalid.message,
        "keyframe `up`: expected joint positions only, found a pose of the fixed base"
    );
}

#[test]
fn a_file_that_is_missing_or_wrong_is_named() {
    let (parameter, message, _) = refusal("path", json!("robots/no.urdf"));
    assert_eq!(parameter.as_deref(), Some("path"));
    assert!(message.starts_with("robots/no.urdf: "), "{message}");
    let (_, message, _) = refusal("path", json!("robots/mini_cheetah/LICENSE"));
    assert!(message.starts_with("robots/mini_cheetah/LICENSE: line "), "{message}");
}

#[test]
fn gravity_is_a_parameter() {
    let mut parameters = go_parameters();
    parameters["gravity"] = json!([0, 0, "-1.62 m/s^2"]);
    let (moon, _) = load("go", parameters).expect("a robot");
    assert_eq!(moon.model.gravity().as_slice(), [0.0, 0.0, -1.62]);
}

#[test]
fn joints_that_mimic_follow_unless_they_are_set_free() {
    let panda = |extra: serde_json::Value| {
        let mut parameters = json!({ "path": "robots/panda/panda.urdf", "base": "Fixed" });
        parameters
            .as_object_mut()
            .expect("a map")
            .extend(extra.as_object().expect("a map").clone());
        load("arm", parameters)
    };
    let (arm, warnings) = panda(json!({})).expect("an arm");
    assert!(!warnings.iter().any(|warning| warning.contains("mimics")), "{warnings:?}");
    let facts = arm.facts();
    assert_eq!((arm.dimension("n"), arm.dimension("nq")), (Some(8), Some(8)));
    assert_eq!(fact(&facts, "mimic"), Value::from(vec!["panda_finger_joint2"]));
    let (free, _) = panda(json!({ "mimic": "Free" })).expect("an arm");
    assert_eq!(free.dimension("n"), Some(9));
    assert_eq!(fact(&free.facts(), "mimic"), Value::List(Vec::new()));

    let follower = json!({ "keyframes": { "open": { "s": { "panda_finger_joint2": 0.04 } } } });
    let invalid = panda(follower).expect_err("a joint without a value");
    assert_eq!(invalid.message, "keyframe `open`: no joint matches `panda_finger_joint2`");
    assert_eq!(
        invalid.hints,
        ["`panda_finger_joint2` follows `panda_finger_joint1` and has no value of its own"]
    );
}

/// The mount is `world_from_root`.
#[test]
fn a_fixed_base_stands_where_it_is_mounted() {
    let mount = json!({ "position": [1, 2, "30 cm"], "rpy": [0, 0, "90 deg"] });
    let path = "robots/pendulum/pendulum.urdf";
    let (rod, _) =
        load("rod", json!({ "path": path, "base": "Fixed", "mount": mount })).expect("a pendulum");
    let mut kinematics = legwork_mechanics::Kinematics::new(&rod.model);
    // Turned by 90° about y at the pivot, the rod points along −x of the mount, −y of the world.
    kinematics.update_placements(&rod.model, &[std::f64::consts::FRAC_PI_2]);
    let tip = rod.frame("frame", "tip").expect("a tip");
    let tip = legwork_mechanics::world_from_frame(&rod.model, &kinematics, tip).translation;
    crate::testing::robots::close(tip.as_slice(), &[1.0, 1.0, 0.3], 1e-15);

    let (parameter, message, _) = refusal("mount", json!({ "position": [0, 0, 1] }));
    assert_eq!(parameter.as_deref(), Some("mount"));
    assert_eq!(message, "expected a fixed base to mount, found a floating one");
}

/// `Tᵀ I T` of two motors of which the second drives both joints.
#[test]
fn reflected_inertia_is_a_full_matrix() {
    let ball = |matrix: serde_json::Value| {
        load_text("arm", HINGE_AND_BALL, json!({ "base": "Fixed", "reflected_inertia": matrix }))
    };
    let rows =
        [[0.5, 0.2, 0.0, 0.0], [0.2, 0.3, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]];
    let (arm, _) = ball(json!(rows)).expect("an arm");
    assert_eq!(arm.model.rotors().matrix(), Some(&rows.concat()[..]));
    assert_eq!(arm.model.rotors().diagonal(), [0.5, 0.3, 0.0, 0.0]);

    let message = |matrix| ball(matrix).expect_err("an error").message;
    assert_eq!(
        message(json!([[1, 0], [0, 1]])),
        "expected 4 rows, one per joint coordinate, found 2"
    );
    assert_eq!(
        message(json!([[1, 0, 0, 0], [0, 1], [0, 0, 0, 0], [0, 0, 0, 0]])),
        "expected 4 numbers in each row, one per joint coordinate, found 2"
    );
    let bent = json!([[1, 0.5, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]);
    assert!(message(bent).contains("expected a symmetric matrix"));
    let (_, message, _) = refusal("reflected_inertia", json!([[0]]));
    assert_eq!(message, "expected one of `rotor_inertia` and `reflected_inertia`, found both");
}

#[test]
fn a_joint_of_several_coordinates_has_a_value_for_each() {
    let load = |pose: serde_json::Value| {
        let keyframes = json!({ "turned": { "s": pose } });
        load_text("arm", HINGE_AND_BALL, json!({ "base": "Fixed", "keyframes": keyframes }))
    };
    let (arm, _) = load(json!({ "ball.qw": 0, "ball.qz": 2 })).expect("an arm");
    assert_eq!(arm.keyframes["turned"].joint_positions, [0.0, 0.0, 0.0, 0.0, 1.0]);
    let facts = arm.facts();
    assert_eq!((arm.dimension("n"), arm.dimension("ns")), (Some(4), Some(5)));
    assert_eq!(fact(&facts, "joints"), Value::from(vec!["hinge", "ball"]));
    assert_eq!(fact(&facts, "effort"), of_unit(&[f64::INFINITY; 4], Unit::NEWTON_METRE));
    // A quaternion has no unit.
    let turned = fact(&fact(&fact(&facts, "keyframes"), "turned"), "s");
    let Value::List(numbers) = turned else { panic!("a list") };
    assert_eq!(numbers[..2], [Value::quantity(0.0, Unit::RADIAN), Value::from(0.0)]);
    assert_eq!(arm.joint_names(), ["hinge", "ball.wx", "ball.wy", "ball.wz"]);
    let message = |pose| load(pose).expect_err("an error").message;
    assert_eq!(
        message(json!({ "ball.qw": 0 })),
        "keyframe `turned`: expected a quaternion (w, x, y, z), found one of length 0"
    );
    assert_eq!(
        message(json!({ "ball.qx": "1 m" })),
        "keyframe `turned`: joint `ball.qx`: expected a value in 1, found m"
    );
}
