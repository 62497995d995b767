//! iCub's matrix by hand, and its use in a robot.

use serde_json::json;

use super::ReflectedInertia;
use crate::testing::robots::{Rig, close, load, refusal};

/// The matrix of iCub's motors, with joints in the robot's order, and the names.
fn icub() -> (Vec<f64>, Vec<f64>, Vec<String>) {
    let robot = load("icub", json!({ "path": "robots/icub/icub.urdf" })).expect("iCub").0;
    let names: Vec<String> = robot.joint_names().into_iter().map(str::to_owned).collect();
    let (large, small) = (0.0827e-4 + 0.054e-4, 0.0585e-4 + 0.021e-4);
    let is_large = |name: &str| {
        let legs = ["_hip_", "_knee", "_ankle_"].iter().any(|part| name.contains(part));
        legs || name == "torso_pitch" || name == "torso_roll"
    };
    let rotor: Vec<f64> = names.iter().map(|n| if is_large(n) { large } else { small }).collect();
    let ratio = |name: &String| if name.ends_with("hip_pitch") { 1.0 / 0.0067 } else { 100.0 };
    let ratios: Vec<f64> = names.iter().map(ratio).collect();
    let (t, share) = (0.615, 0.022 / 0.04);
    let shoulder = |side: &str| -> Vec<String> {
        ["pitch", "roll", "yaw"].iter().map(|axis| format!("{side}_shoulder_{axis}")).collect()
    };
    let block = json!({
        "robot": "icub", "rotor_inertia": rotor, "gear_ratio": ratios,
        "coupling": [
            { "joints": ["torso_pitch", "torso_roll", "torso_yaw"], "matrix":
                [[0.5, -0.5, 0], [0.5, 0.5, 0], [share / 2.0, share / 2.0, share]] },
            { "joints": shoulder("l"), "matrix": [[-1, 0, 0], [-1, -t, 0], [0, t, -t]] },
            { "joints": shoulder("r"), "matrix": [[1, 0, 0], [1, t, 0], [0, -t, t]] },
        ],
    });
    let block: ReflectedInertia = serde_json::from_value(block).expect("the parameters bind");
    let mut rig = Rig::new(block, &robot, &[]);
    rig.output();
    (rig.leaf("matrix", 0), rig.leaf("vector", 0), names)
}

/// The products by hand: T⁻¹ of the torso is [[1, 1, 0], [−1, 1, 0], [0, −1, R/r]], and a
/// shoulder's gears turn by ∓(s₁, (s₂ − s₁)/t, (s₂ + s₃ − s₁)/t).
#[test]
fn icubs_matrix_is_that_by_hand() {
    let (matrix, vector, names) = icub();
    let n = names.len();
    assert_eq!(n, 32);
    let index = |name: &str| names.iter().position(|other| other == name).expect("a joint");
    let entry = |i: &str, j: &str| matrix[index(j) * n + index(i)];
    let (large, small) = (0.1367, 0.0795);
    let (turn, t2) = (0.04 / 0.022, 1.0 / (0.615 * 0.615));
    let mut known = vec![
        ("torso_pitch", "torso_pitch", 2.0 * large),
        ("torso_pitch", "torso_roll", 0.0),
        ("torso_roll", "torso_roll", 2.0 * large + small),
        ("torso_roll", "torso_yaw", -small * turn),
        ("torso_yaw", "torso_yaw", small * turn * turn),
        ("l_hip_pitch", "l_hip_pitch", 0.1367e-4 / (0.0067 * 0.0067)),
        ("r_knee", "r_knee", large),
        ("l_elbow", "l_elbow", small),
        ("l_elbow", "l_shoulder_yaw", 0.0),
        ("torso_yaw", "neck_pitch", 0.0),
    ];
    for [pitch, roll, yaw] in [
        ["l_shoulder_pitch", "l_shoulder_roll", "l_shoulder_yaw"],
        ["r_shoulder_pitch", "r_shoulder_roll", "r_shoulder_yaw"],
    ] {
        known.extend([
            (pitch, pitch, small * (1.0 + 2.0 * t2)),
            (pitch, roll, -2.0 * small * t2),
            (pitch, yaw, -small * t2),
            (roll, roll, 2.0 * small * t2),
            (roll, yaw, small * t2),
            (yaw, yaw, small * t2),
        ]);
    }
    for (i, j, exact) in known {
        assert!((entry(i, j) - exact).abs() < 1e-13, "{i}, {j}: {} for {exact}", entry(i, j));
        assert!((entry(j, i) - exact).abs() < 1e-13, "{j}, {i}");
    }
    let entries = matrix.iter().filter(|entry| **entry != 0.0).count();
    // Three blocks of nine, of the torso without (pitch, roll) and (pitch, yaw), and 23 joints
    // alone.
    assert_eq!(entries, 5 + 9 + 9 + 23);
    for (i, diagonal) in vector.iter().enumerate() {
        assert_eq!(*diagonal, matrix[i * n + i]);
    }
    assert!((entry("l_hip_pitch", "l_hip_pitch") - 0.3045).abs() < 5e-5, "the manual's number");
}

/// The robot takes the matrix as it is.
#[test]
fn a_robot_with_the_matrix_has_it_in_its_mass_matrix() {
    let (matrix, _, names) = icub();
    let n = names.len();
    let rows: Vec<&[f64]> = matrix.chunks_exact(n).collect();
    let path = "robots/icub/icub.urdf";
    let with = load("icub", json!({ "path": path, "reflected_inertia": rows })).expect("iCub").0;
    let without = load("icub", json!({ "path": path })).expect("iCub").0;
    let mass = |robot| {
        let block = crate::dynamics::mass_matrix::MassMatrix { robot: "icub".into() };
        let mut rig = Rig::new(block, robot, &[]);
        rig.set("state", &[&without.model.zero_configuration(), &vec![0.0; n + 6]]);
        rig.output();
        rig.leaf(&rig.declaration.outputs[0].name.clone(), 0)
    };
    let (with, without) = (mass(&with), mass(&without));
    let mut difference = Vec::new();
    for c in 6..n + 6 {
        let at = |r: usize| c * (n + 6) + r;
        difference.extend((6..n + 6).map(|r| with[at(r)] - without[at(r)]));
    }
    close(&difference, &matrix, 1e-13);
}

/// Mini Cheetah: `N² I` of the published 63e-6 kg m² is what its robot has.
#[test]
fn uncoupled_joints_have_ratio_squared_times_inertia() {
    let go = crate::testing::robots::go();
    let block = json!({ "robot": "go", "rotor_inertia": 63e-6, "gear_ratio":
        { "*_abad_joint": 6, "*_hip_joint": 6, "*_knee_joint": 9.33 } });
    let block: ReflectedInertia = serde_json::from_value(block).expect("the parameters bind");
    let mut rig = Rig::new(block, &go, &[]);
    rig.output();
    close(&rig.leaf("vector", 0), go.model.rotors().diagonal(), 1e-9);
}

#[test]
fn wrong_couplings_are_told() {
    let go = crate::testing::robots::go();
    let message = |coupling: serde_json::Value| {
        let block = json!({ "robot": "go", "rotor_inertia": 1e-5, "coupling": coupling });
        let block: ReflectedInertia = serde_json::from_value(block).expect("the parameters bind");
        let invalid = refusal(block, &go, &[], &[]);
        assert_eq!(invalid.parameter.as_deref(), Some("coupling"));
        invalid.message
    };
    let pair = ["FL_hip_joint", "FL_knee_joint"];
    assert_eq!(
        message(json!([{ "joints": ["FL_hip"], "matrix": [[1]] }])),
        "expected a joint of `go`, found `FL_hip`"
    );
    assert_eq!(
        message(json!([{ "joints": pair, "matrix": [[1, 0]] }])),
        "0: expected 2 rows of 2 numbers for 2 joints, found 1"
    );
    assert_eq!(
        message(json!([{ "joints": pair, "matrix": [[1, 2], [2, 4]] }])),
        "0: expected a matrix that has an inverse, found a singular one"
    );
    assert_eq!(
        message(json!([
            { "joints": pair, "matrix": [[1, 0], [1, 1]] },
            { "joints": ["FL_knee_joint"], "matrix": [[1]] },
        ])),
        "1: expected each joint once, found `FL_knee_joint` again"
    );
    assert_eq!(
        message(json!([{ "matrix": [[1]] }])),
        "0: expected 12 rows of 12 numbers for 12 joints, found 1"
    );
}
