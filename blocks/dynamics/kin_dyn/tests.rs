//! Each field against the mechanics at random states.

use std::sync::Arc;

use legwork_mechanics::{
    FrameId, Kinematics, MassMatrix, Model, frame_jacobian, frame_jacobian_dot_velocity,
    mass_matrix, quaternion_to_rotation, world_from_frame,
};
use serde_json::json;

use super::KinDyn;
use crate::buses::KinDynBus;
use crate::dynamics::robot_dynamics::RobotDynamics;
use crate::robot::model::RobotModel;
use crate::testing::robots::{Rig, States, close, go, load, load_as, refusal};

fn block(robot: &str, frames: Option<&[&str]>) -> KinDyn {
    serde_json::from_value(json!({ "robot": robot, "frames": frames })).expect("it binds")
}

/// Row `r` of column `c` of feet below one another, by foot: from one 4 × 4 or 6 × nv each.
fn stacked(each: &[Vec<f64>], rows: usize) -> Vec<f64> {
    let columns = each[0].len() / rows;
    (0..columns)
        .flat_map(|c| each.iter().flat_map(move |one| one[c * rows..(c + 1) * rows].to_vec()))
        .collect()
}

fn transform(model: &Model, kinematics: &Kinematics, frame: FrameId) -> Vec<f64> {
    let place = world_from_frame(model, kinematics, frame);
    let homogeneous = place.rotation.to_homogeneous();
    let mut numbers = homogeneous.as_slice().to_vec();
    numbers[12..15].copy_from_slice(place.translation.as_slice());
    numbers
}

fn check(robot: &Arc<RobotModel>, frames: Option<&[&str]>, feet: &[FrameId]) {
    let model = &robot.model;
    let mut rig = Rig::new(block(&robot.name, frames), robot, &["motor_inertia"]);
    let dynamics = RobotDynamics { robot: robot.name.as_str().into() };
    let mut dynamics = Rig::new(dynamics, robot, &[]);
    let (nv, count) = (model.velocity_dim(), feet.len());
    let nu_dot: Vec<f64> = (0..nv).map(|i| f64::from(i as u32) - 4.0).collect();
    // Every other foot carries nothing.
    let fc: Vec<f64> =
        (0..6 * count).map(|i| if (i / 6) % 2 == 0 { i as f64 + 1.0 } else { 0.0 }).collect();
    for (q, nu) in States::of(robot, 20) {
        dynamics.set("state", &[&q, &nu]);
        dynamics.output();
        let leaves = [0, 1, 2, 3, 4, 5, 6, 7].map(|leaf| dynamics.leaf("bus", leaf));
        rig.set("state", &[&q, &nu]);
        rig.set("dynamics", &leaves.each_ref().map(Vec::as_slice));
        rig.set("nu_dot", &[&nu_dot]);
        rig.set("fc", &[&fc]);
        rig.output();
        let found = |leaf: usize| rig.leaf("bus", leaf);

        let mut kinematics = Kinematics::new(model);
        kinematics.update(model, &q, &nu);
        let base = quaternion_to_rotation([q[3], q[4], q[5], q[6]]).to_homogeneous();
        let mut base = base.as_slice().to_vec();
        base[12..15].copy_from_slice(&q[..3]);
        close(&found(KinDynBus::WORLD_FROM_BASE), &base, 1e-15);
        assert_eq!(found(KinDynBus::JOINT_POSITIONS), q[7..]);
        assert_eq!(found(KinDynBus::NU), nu);
        let poses: Vec<_> = feet.iter().map(|&f| transform(model, &kinematics, f)).collect();
        assert_eq!(found(KinDynBus::WORLD_FROM_FEET), stacked(&poses, 4));
        let (mut jacobians, mut rates) = (Vec::new(), Vec::new());
        for &foot in feet {
            let mut jacobian = vec![0.0; 6 * nv];
            frame_jacobian(model, &kinematics, foot, &mut jacobian);
            jacobians.push(jacobian);
            let rate = frame_jacobian_dot_velocity(model, &kinematics, foot);
            rates.extend(rate.linear.iter().chain(rate.angular.iter()).copied());
        }
        assert_eq!(found(KinDynBus::JACOBIAN), stacked(&jacobians, 6));
        assert_eq!(found(KinDynBus::JACOBIAN_DOT_NU), rates);
        let mut mass = MassMatrix::new(model);
        mass_matrix(model, &kinematics, &mut mass);
        let mut dense = vec![0.0; nv * nv];
        mass.write_dense(&mut dense);
        assert_eq!(found(KinDynBus::MASS_MATRIX), dense);
        let mut workspace = legwork_mechanics::InverseDynamics::new(model);
        let mut h = vec![0.0; nv];
        legwork_mechanics::bias_force(model, &kinematics, &mut workspace, &mut h);
        assert_eq!(found(KinDynBus::BIAS_FORCE), h);
        assert_eq!(found(KinDynBus::MOTOR_INERTIA), model.rotors().diagonal());
        assert_eq!(found(KinDynBus::WRENCHES), fc);
        assert_eq!(found(KinDynBus::NU_DOT), nu_dot);
        let loaded: Vec<f64> = (0..count).map(|i| f64::from(u8::from(i % 2 == 0))).collect();
        assert_eq!(found(KinDynBus::IN_CONTACT), loaded);
    }
}

#[test]
fn fields_of_mini_cheetah_are_those_of_the_mechanics() {
    let go = go();
    assert!(go.model.rotors().diagonal().iter().all(|rotor| *rotor > 0.0));
    check(&go, None, &go.feet);
    let two = ["HR_foot", "FL_foot"];
    let frames = two.map(|name| go.model.find_frame(name).expect("a foot"));
    check(&go, Some(&two), &frames);
}

#[test]
fn fields_of_icub_are_those_of_the_mechanics() {
    let soles = ["l_sole", "r_sole"];
    let robot = json!({ "path": "robots/icub/icub.urdf", "feet": soles, "rotor_inertia": 0.1367 });
    let icub = load("icub", robot).expect("iCub").0;
    check(&icub, None, &icub.feet);
}

/// `J ν̇ + J̇ν` by the bus's own fields is the feet's acceleration along the motion.
#[test]
fn the_bus_is_of_one_instant() {
    let go = go();
    let mut rig = Rig::new(block("go", None), &go, &["motor_inertia"]);
    let states = States::of(&go, 6);
    for pair in states.windows(2) {
        let ((q, nu), (_, nu_dot)) = (&pair[0], &pair[1]);
        rig.set("nu_dot", &[nu_dot]);
        let dt = 1e-5;
        let mut feet = |time: f64| {
            let step: Vec<f64> =
                nu.iter().zip(nu_dot).map(|(v, a)| time * v + 0.5 * time * time * a).collect();
            let mut moved = q.clone();
            legwork_mechanics::integrate(&go.model, q, &step, &mut moved);
            let then: Vec<f64> = nu.iter().zip(nu_dot).map(|(v, a)| v + time * a).collect();
            rig.set("state", &[&moved, &then]);
            rig.output();
            let [j, nu] = [KinDynBus::JACOBIAN, KinDynBus::NU].map(|leaf| rig.leaf("bus", leaf));
            product(&j, &nu)
        };
        let (before, after) = (feet(-dt), feet(dt));
        feet(0.0);
        let [j, a, bias] = [KinDynBus::JACOBIAN, KinDynBus::NU_DOT, KinDynBus::JACOBIAN_DOT_NU]
            .map(|leaf| rig.leaf("bus", leaf));
        let expected: Vec<f64> =
            after.iter().zip(&before).map(|(b, a)| (b - a) / (2.0 * dt)).collect();
        let found: Vec<f64> = product(&j, &a).iter().zip(bias).map(|(a, b)| a + b).collect();
        close(&found, &expected, 1e-6);
    }
}

fn product(matrix: &[f64], x: &[f64]) -> Vec<f64> {
    let rows = matrix.len() / x.len();
    (0..rows).map(|r| x.iter().enumerate().map(|(c, x)| matrix[c * rows + r] * x).sum()).collect()
}

#[test]
fn a_world_and_a_robot_without_feet_are_refused() {
    let bare = load("bare", json!({ "path": "robots/block/block.urdf" })).expect("a block").0;
    let invalid = refusal(block("bare", None), &bare, &[], &[]);
    assert_eq!(invalid.message, "expected feet, found none of `bare`");
    assert_eq!(invalid.parameter.as_deref(), Some("frames"));
    let world = json!({ "of": ["bare"] });
    let world = load_as::<crate::World>("all", world, &[bare]).expect("a world").0;
    let invalid = refusal(block("all", None), &world, &[], &[]);
    assert_eq!(invalid.message, "expected one robot, found the world `all`");
}
