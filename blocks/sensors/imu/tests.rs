//! Rest, free fall, differences along a motion, attitude, errors of the sensors.

use legwork_block::{Feeds, RateRule};
use nalgebra::{Matrix3, Vector3};
use serde_json::{Value, json};

use super::Imu;
use crate::dynamics::forward_dynamics::{Algorithm, ForwardDynamics};
use crate::kinematics::forward_kinematics::ForwardKinematics;
use crate::robot::frames::Representation;
use crate::testing::robots::{Rig, States, close, go, load};

fn imu(parameters: Value) -> Imu {
    serde_json::from_value(parameters).expect("the parameters bind")
}

fn exact(frame: &str) -> Imu {
    imu(json!({ "robot": "go", "frame": frame }))
}

/// World-from-frame, and the Mixed velocity.
fn motion(rig: &mut Rig, q: &[f64], nu: &[f64]) -> (Matrix3<f64>, Vec<f64>) {
    rig.set("state", &[q, nu]);
    rig.output();
    (Matrix3::from_column_slice(&rig.leaf("pose", 0)[..9]), rig.leaf("velocity", 0))
}

fn kinematics(frame: &str) -> Rig {
    let representation = Representation::Mixed;
    let block = ForwardKinematics { robot: "go".into(), frame: frame.into(), representation };
    Rig::new(block, &go(), &[])
}

#[test]
fn at_rest_it_shows_gravity_upward() {
    for frame in ["trunk", "FL_foot", "HR_thigh"] {
        let mut rig = Rig::new(exact(frame), &go(), &[]);
        let mut forward = kinematics(frame);
        for (q, _) in States::of(&go(), 10) {
            rig.set("state", &[&q, &[0.0; 18]]);
            rig.set("nu_dot", &[&[0.0; 18]]);
            rig.output();
            let (axes, _) = motion(&mut forward, &q, &[0.0; 18]);
            let up = axes.tr_mul(&Vector3::new(0.0, 0.0, 9.81));
            close(&rig.leaf("accelerometer", 0), up.as_slice(), 1e-15);
            assert_eq!(rig.leaf("gyroscope", 0), [0.0; 3]);
        }
    }
    let mut level = Rig::new(exact("trunk"), &go(), &[]);
    level.set("state", &[&go().model.zero_configuration(), &[0.0; 18]]);
    level.output();
    assert_eq!(level.leaf("accelerometer", 0), [0.0, 0.0, 9.81]);
    assert_eq!(level.leaf("orientation", 0), [1.0, 0.0, 0.0, 0.0]);
}

/// A tumbling block: its centre of mass feels nothing, whatever its rotation.
#[test]
fn in_free_fall_it_shows_nothing() {
    let block = load("block", json!({ "path": "robots/block/block.urdf" })).expect("a block").0;
    let frame = block.model.frame(block.model.root_frame()).name.clone();
    let forward = ForwardDynamics { robot: "block".into(), algorithm: Algorithm::Factor };
    let mut forward = Rig::new(forward, &block, &["J", "f", "external"]);
    let mut rig = Rig::new(imu(json!({ "robot": "block", "frame": frame })), &block, &[]);
    for (q, nu) in States::of(&block, 20) {
        for rig in [&mut forward, &mut rig] {
            rig.set("state", &[&q, &nu]);
        }
        forward.output();
        rig.set("nu_dot", &[&forward.leaf("nu_dot", 0)]);
        rig.output();
        close(&rig.leaf("accelerometer", 0), &[0.0; 3], 1e-13);
    }
}

/// `a` is the rate of the origin's velocity along a motion with this ν̇.
#[test]
fn proper_acceleration_is_the_rate_of_velocity_less_gravity() {
    let go = go();
    let frame = "FL_foot";
    let mut rig = Rig::new(exact(frame), &go, &[]);
    let mut forward = kinematics(frame);
    let states = States::of(&go, 21);
    for pair in states.windows(2) {
        let ((q, nu), (_, nu_dot)) = (&pair[0], &pair[1]);
        rig.set("state", &[q, nu]);
        rig.set("nu_dot", &[nu_dot]);
        rig.output();
        let dt = 1e-5;
        let [before, after] = [-dt, dt].map(|dt| {
            let step: Vec<f64> =
                nu.iter().zip(nu_dot).map(|(v, a)| dt * v + 0.5 * dt * dt * a).collect();
            let then: Vec<f64> = nu.iter().zip(nu_dot).map(|(v, a)| v + dt * a).collect();
            let mut moved = q.clone();
            legwork_mechanics::integrate(&go.model, q, &step, &mut moved);
            motion(&mut forward, &moved, &then).1
        });
        let (axes, velocity) = motion(&mut forward, q, nu);
        let rate = |i: usize| (after[i] - before[i]) / (2.0 * dt);
        let a = Vector3::new(rate(0), rate(1), rate(2) + 9.81);
        // Third derivatives of some 1e3 times dt²/6, and rounding over dt.
        close(&rig.leaf("accelerometer", 0), axes.tr_mul(&a).as_slice(), 1e-6);
        let omega = axes.tr_mul(&Vector3::from_column_slice(&velocity[3..]));
        close(&rig.leaf("gyroscope", 0), omega.as_slice(), 1e-14);
    }
}

#[test]
fn attitude_is_that_of_the_frame_and_has_no_roll_when_it_looks_straight_up() {
    let mut rig = Rig::new(exact("trunk"), &go(), &[]);
    for (q, nu) in States::of(&go(), 10) {
        rig.set("state", &[&q, &nu]);
        rig.output();
        let turn = rig.leaf("orientation", 0);
        let sign = if q[3] < 0.0 { -1.0 } else { 1.0 };
        let same: Vec<f64> = q[3..7].iter().map(|part| sign * part).collect();
        close(&turn, &same, 1e-14);
        let [roll, pitch, yaw] = rig.leaf("rpy", 0)[..] else { panic!("three angles") };
        let axes = legwork_mechanics::Placement::from_xyz_rpy([0.0; 3], [roll, pitch, yaw]);
        let quaternion = [turn[0], turn[1], turn[2], turn[3]];
        let exact = legwork_mechanics::quaternion_to_rotation(quaternion);
        close(axes.rotation.as_slice(), exact.as_slice(), 1e-13);
    }
    let mut q = go().model.zero_configuration();
    let half = std::f64::consts::FRAC_1_SQRT_2;
    q[3..7].copy_from_slice(&[half, 0.0, half, 0.0]);
    rig.set("state", &[&q, &[0.0; 18]]);
    rig.output();
    let rpy = rig.leaf("rpy", 0);
    assert_eq!(rpy[0], 0.0);
    assert!((rpy[1] - std::f64::consts::FRAC_PI_2).abs() < 1e-7, "{rpy:?}");
}

#[test]
fn only_the_accelerometer_feels_nu_dot_and_only_noise_needs_a_period() {
    let rig = Rig::new(exact("trunk"), &go(), &[]);
    assert_eq!(rig.declaration.rate, RateRule::Inherited);
    let nu_dot = rig.declaration.inputs.iter().position(|input| input.name == "nu_dot");
    let nu_dot = legwork_block::Feed::Input(nu_dot.expect("an input") as u16);
    for output in &rig.declaration.outputs {
        let Feeds::Only(feeds) = &rig.declaration.groups[output.group] else {
            panic!("feeds are declared")
        };
        assert_eq!(feeds.contains(&nu_dot), output.name == "accelerometer", "{}", output.name);
    }
    let noisy = json!({ "robot": "go", "frame": "trunk", "gyroscope": { "walk": 1e-4 } });
    let rig = Rig::new(imu(noisy), &go(), &[]);
    assert_eq!(rig.declaration.rate, RateRule::Sampled);
}

/// Samples at rest of both sensors.
fn samples(parameters: Value, period: f64, count: usize) -> Vec<[f64; 6]> {
    let mut rig = Rig::new(imu(parameters), &go(), &[]);
    rig.step = period;
    rig.set("state", &[&go().model.zero_configuration(), &[0.0; 18]]);
    let mut seen = Vec::new();
    for _ in 0..count {
        rig.output();
        let all = [rig.leaf("gyroscope", 0), rig.leaf("accelerometer", 0)].concat();
        seen.push([all[0], all[1], all[2], all[3], all[4], all[5] - 9.81]);
        rig.update();
    }
    seen
}

/// Of n numbers the sample variance scatters by √(2/n): four of that are allowed.
fn variance_is(values: &[f64], expected: f64) {
    let n = values.len() as f64;
    let variance = values.iter().map(|v| v * v).sum::<f64>() / n;
    let allowed = 4.0 * expected * libm::sqrt(2.0 / n);
    assert!((variance - expected).abs() < allowed, "{variance} for {expected}");
}

#[test]
fn noise_has_its_density_whatever_the_period() {
    for period in [1e-2, 1e-3] {
        let block = json!({ "robot": "go", "frame": "trunk", "seed": 3,
            "gyroscope": { "noise": 2e-3 }, "accelerometer": { "noise": "0.05 m/s^2/Hz^(1/2)" } });
        let seen = samples(block.clone(), period, 4000);
        for axis in 0..6 {
            let density: f64 = if axis < 3 { 2e-3 } else { 0.05 };
            let values: Vec<f64> = seen.iter().map(|y| y[axis]).collect();
            variance_is(&values, density * density / period);
        }
        // No two axes have one stream.
        let product: Vec<f64> = seen.iter().map(|y| y[0] / 2e-3 * y[3] / 0.05 * period).collect();
        let mean = product.iter().sum::<f64>() / 4000.0;
        assert!(mean.abs() < 4.0 / libm::sqrt(4000.0), "{mean}");
        assert_eq!(samples(block, period, 50), seen[..50], "a run repeats");
    }
}

#[test]
fn the_bias_starts_where_it_is_told_and_walks() {
    let bias = [0.01, -0.02, 0.03];
    let block =
        json!({ "robot": "go", "frame": "trunk", "gyroscope": { "bias": bias, "walk": 0.1 } });
    let period = 4e-3;
    let seen = samples(block, period, 4000);
    assert_eq!(seen[0], [bias[0], bias[1], bias[2], 0.0, 0.0, 0.0]);
    for axis in 0..3 {
        let steps: Vec<f64> = seen.windows(2).map(|y| y[1][axis] - y[0][axis]).collect();
        variance_is(&steps, 0.1 * 0.1 * period);
    }
    assert!(seen.iter().all(|y| y[3..] == [0.0; 3]), "the accelerometer has none");
}

#[test]
fn values_are_digits_within_the_range() {
    let block = json!({ "robot": "go", "frame": "trunk",
        "gyroscope": { "quantum": 0.25, "range": "2 rad/s" },
        "accelerometer": { "range": 8, "bias": [0.5, 0, 0] } });
    let mut rig = Rig::new(imu(block), &go(), &[]);
    let mut nu = [0.0; 18];
    nu[3..6].copy_from_slice(&[0.4, -3.0, 1.1]);
    rig.set("state", &[&go().model.zero_configuration(), &nu]);
    rig.output();
    assert_eq!(rig.leaf("gyroscope", 0), [0.5, -2.0, 1.0]);
    assert_eq!(rig.leaf("accelerometer", 0), [0.5, 0.0, 8.0]);
}
