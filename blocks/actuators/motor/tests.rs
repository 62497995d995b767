//! Mini Cheetah's motors against the published formula, couplings, friction, lag.

use legwork_block::{ContinuousState, Dim, Feed, Feeds, Manifold, RateRule};
use serde_json::{Value, json};

use super::Motor;
use crate::testing::robots::{Rig, close, go, load, refusal};

fn block(parameters: Value) -> Motor {
    serde_json::from_value(parameters).expect("the parameters bind")
}

/// Mini Cheetah's motors, as the mask has them.
fn cheetah() -> Value {
    json!({
        "robot": "go",
        "gear_ratio": { "*_abad_joint": 6, "*_hip_joint": 6, "*_knee_joint": 9.33 },
        "torque_limit": { "*_abad_joint": 18, "*_hip_joint": 18, "*_knee_joint": 27.99 },
        "electric": {
            "torque_constant": 0.075, "voltage_constant": "0.1 V*s/rad", "resistance": 0.173,
            "bus_voltage": "24 V",
        },
        "viscous": 0.01,
        "coulomb": 0.2,
    })
}

/// A rig whose joints turn at the same speed.
fn turning(parameters: Value, speed: f64) -> Rig {
    let electric = parameters.get("electric").is_some();
    let without: &[&str] = if electric { &["bus_voltage"] } else { &[] };
    let mut rig = Rig::new(block(parameters), &go(), without);
    let mut nu = [0.0; 18];
    nu[6..].fill(speed);
    rig.set("state", &[&go().model.zero_configuration(), &nu]);
    rig
}

/// `ActuatorModel::getTorque` of the published simulator, with its own constants, without its jump
/// at standstill: the dry friction is smooth here.
fn published(gear: f64, wanted: f64, speed: f64) -> f64 {
    let (kt, r, v, most) = (0.05, 0.173, 24.0, 3.0);
    let current = wanted / gear / (1.5 * kt);
    let emf = speed * gear * kt * 2.0;
    let voltage = (current * r + emf).clamp(-v, v);
    let rotor: f64 = 1.5 * kt * (voltage - emf) / r;
    gear * rotor.clamp(-most, most) - 0.01 * speed - 0.2 * libm::tanh(speed / 0.1)
}

#[test]
fn torques_of_mini_cheetah_are_those_of_its_published_model() {
    for step in -30..=30 {
        let speed = 2.0 * f64::from(step) + 0.3;
        let mut rig = turning(cheetah(), speed);
        for wanted in [-60.0, -20.0, -1.0, 0.0, 5.0, 17.0, 40.0] {
            rig.set("u", &[&[wanted; 12]]);
            rig.output();
            let expected = [6.0, 6.0, 9.33].map(|gear| published(gear, wanted, speed));
            close(&rig.leaf("tau", 0), &expected.repeat(4), 1e-13);
        }
    }
}

/// What leaves the supply heats the windings or leaves at the gears.
#[test]
fn electrical_power_is_heat_and_work() {
    let mut parameters = cheetah();
    parameters["viscous"] = 0.into();
    parameters["coulomb"] = 0.into();
    for speed in [-50.0, -20.0, 0.0, 10.0, 30.0] {
        let mut rig = turning(parameters.clone(), speed);
        rig.set("u", &[&[-30.0, 3.0, 30.0].repeat(4)]);
        rig.output();
        let [tau, current, voltage, power] =
            ["tau", "current", "voltage", "power"].map(|name| rig.leaf(name, 0));
        for j in 0..12 {
            // Of three phases k_e is 4/3 of k_t: of what the EMF takes, 3/4 is work.
            let work = tau[j] * speed * 0.1 / 0.075;
            let heat = 0.173 * current[j] * current[j];
            assert!((power[j] - heat - work).abs() < 1e-10, "{j}: {} {heat} {work}", power[j]);
            assert!((power[j] - voltage[j] * current[j]).abs() < 1e-12);
        }
    }
}

#[test]
fn the_supply_may_be_a_signal() {
    let mut rig = Rig::new(block(cheetah()), &go(), &[]);
    let mut nu = [0.0; 18];
    nu[6..].fill(20.0);
    rig.set("state", &[&go().model.zero_configuration(), &nu]);
    rig.set("u", &[&[100.0; 12]]);
    for supply in [24.0, 20.0, 14.0] {
        rig.set("bus_voltage", &[&[supply]]);
        rig.output();
        let knee = rig.leaf("voltage", 0)[2];
        // The knee's EMF is 18.66 V; below that its limit of 40 A still holds at 14 V.
        let expected: f64 = supply.min(18.66 + 0.173 * 40.0);
        assert!((knee - expected).abs() < 1e-12, "{knee}");
    }
    rig.set("bus_voltage", &[&[-1.0]]);
    let fault = rig.try_output().expect_err("a fault");
    assert_eq!(fault.message, "expected a bus voltage of zero or more, found -1 V");
}

/// Without `electric` a motor is the `Actuator`, and has no electrical outputs.
#[test]
fn without_more_it_is_the_actuator() {
    let u: Vec<f64> = (0..12).map(|i| 5.0 * f64::from(i) - 30.0).collect();
    let mut motor = turning(json!({ "robot": "go", "torque_limit": 18 }), 3.0);
    motor.set("u", &[&u]);
    motor.output();
    let actuator = serde_json::from_value(json!({ "torque_limit": 18 })).expect("it binds");
    let given = [("u", legwork_block::Type::vector(12))];
    let mut rig = Rig::with::<crate::Actuator>(actuator, &go(), &[], &given).expect("an actuator");
    rig.set("u", &[&u]);
    rig.output();
    assert_eq!(motor.leaf("tau", 0), rig.leaf("tau", 0));
    assert_eq!(motor.declaration.outputs.len(), 1);
}

/// Towards its speed limit a motor drives less and less, and beyond it not at all; it brakes.
#[test]
fn a_motor_drives_no_further_at_its_speed_limit() {
    let share = |parameters: Value, speed: f64, wanted: f64| {
        let mut rig = turning(parameters, speed);
        rig.set("u", &[&[wanted; 12]]);
        rig.output();
        rig.leaf("tau", 0)[0] / wanted
    };
    let limited = || json!({ "robot": "go", "torque_limit": 18, "speed_limit": "20 rad/s" });
    let shares = [(0.0, 1.0), (19.0, 1.0), (19.5, 0.5), (20.0, 0.0), (30.0, 0.0)];
    for (speed, expected) in shares {
        for sign in [1.0, -1.0] {
            let towards = share(limited(), sign * speed, sign * 10.0);
            assert!((towards - expected).abs() < 1e-12, "{speed}: {towards}");
            assert_eq!(share(limited(), sign * speed, -sign * 10.0), 1.0, "{speed}: it brakes");
        }
    }
    // The file's own is 40 rad/s; a supply has its no-load speed instead.
    let file = || json!({ "robot": "go", "torque_limit": 18 });
    assert_eq!((share(file(), 37.9, 10.0), share(file(), 40.0, 10.0)), (1.0, 0.0));
    let supplied = share(cheetah(), 41.0, -10.0);
    assert!(supplied > 1.0, "{supplied}: friction helps to brake");
    let wrong = block(json!({ "robot": "go", "speed_limit": 0 }));
    let wrong = refusal(wrong, &go(), &["bus_voltage"], &[]);
    assert_eq!(wrong.message, "expected speeds greater than zero, found 0");
}

/// iCub's torso: `τ = −T⁻ᵀ Kv T⁻¹ ṡ` by hand, and limits that belong to the motors.
#[test]
fn couplings_mix_friction_and_limits() {
    let robot = load("icub", json!({ "path": "robots/icub/icub.urdf" })).expect("iCub").0;
    let names = ["torso_pitch", "torso_roll", "torso_yaw"];
    let share = 0.022 / 0.04;
    let coupling = json!([{ "joints": names, "matrix":
        [[0.5, -0.5, 0], [0.5, 0.5, 0], [share / 2.0, share / 2.0, share]] }]);
    let motor = json!({ "robot": "icub", "coupling": coupling, "viscous": 0.2,
        "torque_limit": 2 });
    let mut rig = Rig::new(block(motor), &robot, &[]);
    let at = names
        .map(|name| robot.joint_names().iter().position(|other| *other == name).expect("a joint"));
    let (mut nu, mut u) = (vec![0.0; 38], vec![0.0; 32]);
    let (speeds, wanted) = ([0.3, -0.8, 1.1], [1.0, 7.0, 0.5]);
    for (i, &joint) in at.iter().enumerate() {
        nu[6 + joint] = speeds[i];
        u[joint] = wanted[i];
    }
    rig.set("state", &[&robot.model.zero_configuration(), &nu]);
    rig.set("u", &[&u]);
    rig.output();
    let tau = rig.leaf("tau", 0);
    // T⁻¹ = [[1, 1, 0], [−1, 1, 0], [0, −1, R/r]]
    let turn = 1.0 / share;
    let gears = |s: [f64; 3]| [s[0] + s[1], s[1] - s[0], turn * s[2] - s[1]];
    let joints = |t: [f64; 3]| [t[0] - t[1], t[0] + t[1] - t[2], turn * t[2]];
    let [a, b, c] = wanted;
    // Tᵀ u
    let wanted = [(a + b) / 2.0 + share / 2.0 * c, (b - a) / 2.0 + share / 2.0 * c, share * c];
    assert!(wanted[0] > 2.0, "the first motor is at its limit");
    let rates = gears(speeds);
    let torques = [0, 1, 2].map(|j| wanted[j].clamp(-2.0, 2.0) - 0.2 * rates[j]);
    close(&at.map(|joint| tau[joint]), &joints(torques), 1e-14);
    assert!(tau.iter().enumerate().all(|(j, tau)| at.contains(&j) || *tau == 0.0));
}

#[test]
fn with_a_lag_only_speed_feeds_through() {
    let mut parameters = cheetah();
    parameters["bandwidth"] = "50 Hz".into();
    parameters["initial"] = 4.into();
    let mut rig = turning(parameters.clone(), 0.0);
    let joints = vec![Manifold::Euclidean(Dim::fixed(12))];
    assert_eq!(rig.declaration.continuous, Some(ContinuousState::First(joints)));
    let [u, state, bus] = [0, 1, 2].map(Feed::Input);
    assert_eq!(rig.declaration.inputs[0].name, "u");
    assert_eq!(rig.declaration.groups, [Feeds::Only(vec![state, bus])]);
    assert!(!matches!(&rig.declaration.groups[0], Feeds::Only(feeds) if feeds.contains(&u)));
    rig.set("u", &[&[20.0; 12]]);
    rig.output();
    close(&rig.leaf("tau", 0), &[4.0; 12], 1e-15);
    let rate = 100.0 * std::f64::consts::PI;
    let slopes = [18.0, 18.0, 20.0].map(|limit: f64| rate * (limit - 4.0));
    close(&rig.derivative(12), &slopes.repeat(4), 1e-14);

    parameters["discrete"] = true.into();
    let mut rig = turning(parameters, 0.0);
    assert_eq!(rig.declaration.rate, RateRule::Sampled);
    rig.set("u", &[&[20.0; 12]]);
    rig.update();
    rig.output();
    let share = 1.0 - libm::exp(-rate * 1e-3);
    let after = [18.0, 18.0, 20.0].map(|limit| 4.0 + share * (limit - 4.0));
    close(&rig.leaf("tau", 0), &after.repeat(4), 1e-14);
}

#[test]
fn mistakes_are_said() {
    let said = |parameters| {
        let invalid = refusal(block(parameters), &go(), &["bus_voltage"], &[]);
        (invalid.parameter.expect("a parameter"), invalid.message)
    };
    let (parameter, message) = said(json!({ "robot": "go", "torque_limit": -1 }));
    assert_eq!(parameter, "torque_limit");
    assert_eq!(message, "expected limits of zero or more, found -1 N*m");
    let (parameter, message) = said(json!({ "robot": "go", "gear_ratio": [6, 6] }));
    assert_eq!(parameter, "gear_ratio");
    assert_eq!(message, "expected 12 values, one for each joint, found 2");
    let mut short = cheetah();
    short["electric"]["resistance"] = json!([0.173]);
    let (parameter, message) = said(short);
    assert_eq!(parameter, "electric");
    assert_eq!(message, "resistance: expected 12 values, one for each joint, found 1");
    let (parameter, _) = said(json!({ "robot": "go", "discrete": true }));
    assert_eq!(parameter, "discrete");
}
