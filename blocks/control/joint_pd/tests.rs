//! The control law, gains, and the stability limit of an explicit PD.

use legwork_block::{Invalid, Type};
use serde_json::json;

use super::JointPd;
use crate::dynamics::mass_matrix::MassMatrix;
use crate::robot::world::World;
use crate::robot::world::tests::scene;
use crate::testing::robots::{
    HINGE_AND_BALL, Rig, States, close, go, go_without_rotors, load, load_as, load_text,
};

fn pd(parameters: serde_json::Value) -> JointPd {
    serde_json::from_value(parameters).expect("the parameters bind")
}

fn rig(parameters: serde_json::Value, without: &[&str], n: usize) -> Result<Rig, Invalid> {
    Rig::with(pd(parameters), &go(), without, &[("s_ref", Type::vector(n))])
}

#[test]
fn torque_is_stiffness_damping_and_feedforward() {
    let all: Vec<f64> = (0..12).map(|j| 10.0 + f64::from(j)).collect();
    let gains = json!({ "kp": all, "kd": "1.5 N*m*s/rad" });
    let (q, nu) = States::of(&go(), 1).remove(0);
    let (s, s_dot) = (&q[7..], &nu[6..]);
    let s_ref: Vec<f64> = (0..12).map(|j| 0.1 * f64::from(j)).collect();
    let rates: Vec<f64> = (0..12).map(|j| 0.2 * f64::from(j)).collect();
    let torques: Vec<f64> = (0..12).map(|j| 5.0 - f64::from(j)).collect();
    let law = |rate: &[f64], torque: &[f64]| -> Vec<f64> {
        (0..12)
            .map(|j| all[j] * (s_ref[j] - s[j]) + 1.5 * (rate[j] - s_dot[j]) + torque[j])
            .collect()
    };

    let mut plain = rig(gains.clone(), &["s_dot_ref", "tau_ff"], 12).expect("a PD");
    plain.set("state", &[&q, &nu]);
    plain.set("s_ref", &[&s_ref]);
    plain.output();
    close(&plain.leaf("tau", 0), &law(&[0.0; 12], &[0.0; 12]), 1e-15);

    let mut full = rig(gains, &[], 12).expect("a PD");
    full.set("state", &[&q, &nu]);
    full.set("s_ref", &[&s_ref]);
    full.set("s_dot_ref", &[&rates]);
    full.set("tau_ff", &[&torques]);
    full.output();
    close(&full.leaf("tau", 0), &law(&rates, &torques), 1e-15);
}

#[test]
fn gains_may_stand_under_joint_names() {
    let kp = json!({ "*_abad_joint": 1, "*_hip_joint": 2, "*_knee_joint": "3 N*m/rad" });
    let named = json!({ "kp": kp, "kd": 0, "robot": "go" });
    let mut rig = rig(named, &["s_dot_ref", "tau_ff"], 12).expect("a PD");
    rig.set("s_ref", &[&[1.0; 12]]);
    rig.output();
    assert_eq!(rig.leaf("tau", 0), [1.0, 2.0, 3.0].repeat(4));
}

#[test]
fn mistakes_are_said() {
    let message = |parameters, n| rig(parameters, &[], n).err().expect("an error").message;
    assert_eq!(
        message(json!({ "kp": { "*": 1 }, "kd": 0 }), 12),
        "expected the robot whose joints these names are, found none"
    );
    assert_eq!(
        message(json!({ "kp": [1, 2], "kd": 0 }), 12),
        "expected 12 values, one for each joint, found 2"
    );
    assert_eq!(
        message(json!({ "kp": 1, "kd": 0 }), 3),
        "expected a wanted position for each joint of the robot, found 3 for a state of 19 + 18 \
         numbers"
    );
}

/// An arm has neither a base pose nor a base velocity in its state.
#[test]
fn the_joints_of_a_fixed_base_are_all_of_its_state() {
    let path = "robots/panda/panda.urdf";
    let arm = load("arm", json!({ "path": path, "base": "Fixed", "mimic": "Free" }));
    let arm = arm.expect("an arm").0;
    let given = [("s_ref", Type::vector(9))];
    let block = pd(json!({ "kp": 2, "kd": 1 }));
    let mut rig = Rig::with(block, &arm, &["s_dot_ref", "tau_ff"], &given).expect("a PD");
    rig.set("state", &[&[0.5; 9], &[0.25; 9]]);
    rig.output();
    assert_eq!(rig.leaf("tau", 0), [-1.25; 9]);
}

/// The joints of a world are not contiguous; its robots' torques are those of its robots.
#[test]
fn a_world_is_controlled_by_its_name() {
    let scene = scene();
    let unnamed = json!({ "kp": 2, "kd": 1 });
    let given = [("s_ref", Type::vector(13))];
    let without = ["s_dot_ref", "tau_ff"];
    let refused = Rig::with(pd(unnamed.clone()), &scene, &without, &given).err().expect("an error");
    assert_eq!(refused.hints, ["add `robot: \"…\"`"]);

    let named = json!({ "kp": { "rod/*": 3, "go/*": 2 }, "kd": 1, "robot": "scene" });
    let mut rig = Rig::with(pd(named), &scene, &without, &given).expect("a PD");
    let mut q = scene.model.zero_configuration();
    q[0] = 0.5;
    q[8..20].fill(0.25);
    let mut nu = [9.0; 25];
    nu[0] = 4.0;
    nu[7..19].fill(1.0);
    rig.set("state", &[&q, &nu]);
    rig.set("s_ref", &[&[1.0; 13]]);
    rig.output();
    let torques = rig.leaf("tau", 0);
    assert_eq!((torques[0], &torques[1..]), (1.5 - 4.0, &[1.5 - 1.0; 12][..]));

    // A fixed robot before a floating one has the sizes of one robot, but other places.
    let path = "robots/pendulum/pendulum.urdf";
    let rod = load("rod", json!({ "path": path, "base": "Fixed" })).expect("a pendulum").0;
    let pair = load_as::<World>("pair", json!({ "of": ["rod", "go"] }), &[rod, go()]);
    let pair = pair.expect("a world").0;
    let refused = Rig::with(pd(unnamed), &pair, &without, &given).err().expect("an error");
    assert_eq!(
        refused.message,
        "expected the state of one robot, found what may be that of a world"
    );
}

/// A ball joint is pulled along the shortest turn to where it is wanted.
#[test]
fn a_ball_joint_is_turned_by_a_rotation_vector() {
    let (arm, _) = load_text("arm", HINGE_AND_BALL, json!({ "base": "Fixed" })).expect("an arm");
    let block = pd(json!({ "kp": 2, "kd": { "hinge": 1, "ball.*": 0.5 }, "robot": "arm" }));
    let mut rig = Rig::with(block, &arm, &["s_dot_ref", "tau_ff"], &[]).expect("a PD");
    rig.set("state", &[&[0.1, 1.0, 0.0, 0.0, 0.0], &[1.0, 2.0, 3.0, 4.0]]);
    // 0.6 rad about y.
    let half = 0.3f64;
    rig.set("s_ref", &[&[0.4, libm::cos(half), 0.0, libm::sin(half), 0.0]]);
    rig.output();
    close(&rig.leaf("tau", 0), &[0.6 - 1.0, -1.0, 1.2 - 1.5, -2.0], 1e-15);
}

/// Roots of `z² − (2 − c − k) z + (1 − c)`, the characteristic polynomial of one joint under
/// semi-implicit Euler with `c = kd h / I` and `k = kp h² / I`: the largest of their sizes.
fn growth(c: f64, k: f64) -> f64 {
    let (half, product) = (1.0 - 0.5 * (c + k), 1.0 - c);
    let discriminant = half * half - product;
    if discriminant < 0.0 {
        return product.sqrt();
    }
    let root = discriminant.sqrt();
    (half + root).abs().max((half - root).abs())
}

#[test]
fn one_joint_is_stable_up_to_the_stated_limit() {
    for c in [0.1, 0.9, 1.1, 1.9, 1.99] {
        let limit = 2.0 * (2.0 - c);
        assert!(growth(c, limit - 1e-6) < 1.0, "c = {c}");
        assert!(growth(c, limit + 1e-6) > 1.0, "c = {c}");
    }
    assert!(growth(2.0 + 1e-6, 1e-9) > 1.0);
}

/// `kd h / I` for abad, hip and knee of the front left leg, and `kd h λ` with the largest
/// eigenvalue λ of `Sᵀ M⁻¹ S`, standing.
fn stiffness_of_standing(robot: &std::sync::Arc<crate::robot::model::RobotModel>) -> [f64; 4] {
    let (kd, h) = (1.5, 1e-3);
    let mut q = robot.model.zero_configuration();
    q[7..].copy_from_slice(&robot.keyframes["stand"].joint_positions);
    let mut rig = Rig::new(MassMatrix { robot: "go".into() }, robot, &[]);
    rig.set("state", &[&q, &[0.0; 18]]);
    rig.output();
    let m = rig.leaf("M", 0);
    let inverse = nalgebra::DMatrix::from_column_slice(18, 18, &m)
        .try_inverse()
        .expect("M is positive definite");
    let joints = inverse.view((6, 6), (12, 12)).into_owned();
    let largest = joints.symmetric_eigenvalues().max();
    let of = |joint: usize| kd * h / m[(6 + joint) * 19];
    [of(0), of(1), of(2), kd * h * largest]
}

/// The table in the manual of [`JointPd`].
#[test]
fn the_manual_states_the_limit_of_mini_cheetah() {
    let manual = include_str!("../joint_pd.rs");
    let row = |robot, name: &str| {
        let numbers: Vec<String> =
            stiffness_of_standing(robot).iter().map(|value| format!("{value:.3}")).collect();
        format!("/// | {name} | {} |", numbers.join(" | "))
    };
    let rows =
        [row(&go(), "`kd h / I` with rotors"), row(&go_without_rotors(), "without rotor inertia")];
    let said = rows.iter().all(|row| manual.contains(row));
    assert!(said, "the manual should say:\n{}", rows.join("\n"));
}
