use legwork_block::Type;
use serde_json::{Value, json};

use super::*;
use crate::buses::{ContactBus, DynamicsBus};
use crate::testing::contacts::{Harness, block, dynamics, points};

/// A base of 2 kg and 1 kg m² on one contact of μ = 0.2, which a motor drags along the base's y.
fn harness(parameters: Value) -> Harness {
    let ports = [
        ("dynamics", dynamics(7)),
        ("points", points(1, 7)),
        ("acceleration", Type::vector(1)),
        ("expected", Type::vector(1)),
        ("f_sensed", Type::vector(3)),
    ];
    let mut rig =
        Harness::new(block::<ContactInverseDynamics>(parameters), &ports).expect("planned");
    let mut mass = [0.0; 49];
    for (i, m) in [2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0].into_iter().enumerate() {
        mass[8 * i] = m;
    }
    let mut jacobian = [0.0; 21];
    (jacobian[0], jacobian[4], jacobian[8], jacobian[19]) = (1.0, 1.0, 1.0, 1.0);
    rig.set_leaf("dynamics", DynamicsBus::MASS_MATRIX, &mass);
    rig.set_leaf("dynamics", DynamicsBus::BIAS_FORCE, &[0.0, 0.0, 20.0, 0.0, 0.0, 0.0, 0.0]);
    rig.set_leaf("dynamics", DynamicsBus::NU, &[0.0; 7]);
    rig.set_leaf("dynamics", DynamicsBus::JOINTS, &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    rig.set_contact("points", 0, 0.0, [0.0; 3]);
    rig.set_leaf("points", ContactBus::FRICTION, &[0.2]);
    rig.set_leaf("points", ContactBus::JACOBIAN, &jacobian);
    rig.set("acceleration", &[3.0]);
    rig.set("expected", &[1.0]);
    rig.set("f_sensed", &[0.0, -4.0, 16.0]);
    rig
}

/// Without slip the base of 2 kg is dragged along at −3 m/s², by 6 N; Coulomb's law allows 4 N.
/// What keeps the kinetic energy least is a base that stays.
#[test]
fn a_motor_pushes_against_the_friction_that_the_model_expects() {
    let models = [
        (json!("NoSlipLcp"), [-6.0, 20.0]),
        (json!("CoulombLcp"), [-4.0, 20.0]),
        (json!({ "CoulombQp": {} }), [0.0, 20.0]),
        (json!({ "NoSlipQp": { "stages": "One" } }), [0.0, 20.0]),
        (json!("Sensed"), [-4.0, 16.0]),
    ];
    for (model, [tangential, normal]) in models {
        let mut rig = harness(json!({ "model": model }));
        rig.step(0.0).expect("solved");
        assert_eq!(rig.value("status"), [0.0], "{model}");
        let (f, tau) = (rig.value("f"), rig.value("tau")[0]);
        // A resting contact neither presses against its bound nor leaves it, which an interior
        // point method finds to the root of its gap.
        let near = |a: f64, b: f64| (a - b).abs() < 1e-5 * normal;
        assert!(near(f[1], tangential) && near(f[2], normal), "{model}: {f:?}");
        assert!((tau - 3.0 + f[1]).abs() < 1e-9, "{model}: {tau}");
        assert_eq!(rig.value("normal_force"), [f[2]]);
    }
}

#[test]
fn contacts_that_are_far_or_not_expected_do_not_count() {
    for is_far in [false, true] {
        let mut rig = harness(json!({ "model": "NoSlipLcp" }));
        if is_far {
            rig.set_leaf("points", ContactBus::GAP, &[2e-3]);
        } else {
            rig.set("expected", &[0.0]);
        }
        rig.step(0.0).expect("solved");
        assert_eq!((rig.value("f"), rig.value("tau")), (vec![0.0; 3], vec![3.0]));
    }
}

/// A step that has no answer: numbers that are none. What was found last is held as long as
/// allowed.
#[test]
fn failures_are_answered_as_the_parameter_says() {
    let fail = |rig: &mut Harness| {
        rig.set_leaf("points", ContactBus::GAP, &[f64::NAN]);
        rig.step(0.0)
    };
    let mut careless = harness(json!({ "model": "NoSlipLcp" }));
    fail(&mut careless).expect("without forces");
    assert_eq!((careless.value("f"), careless.value("tau")), (vec![0.0; 3], vec![0.0]));
    assert!(careless.value("status")[0] >= 2.0);

    let mut held =
        harness(json!({ "model": "NoSlipLcp", "on_fail": { "HoldLast": { "max": 2 } } }));
    assert!(fail(&mut held).expect_err("nothing to hold").message.contains("no earlier"));
    held.set_leaf("points", ContactBus::GAP, &[0.0]);
    held.step(0.0).expect("solved");
    let before = (held.value("f"), held.value("tau"), held.value("normal_force"));
    assert!(before.2[0] > 0.0);
    for _ in 0..2 {
        fail(&mut held).expect("held");
        assert_eq!((held.value("f"), held.value("tau"), held.value("normal_force")), before);
    }
    assert!(fail(&mut held).expect_err("held twice").message.contains("2 steps"));

    let mut strict = harness(json!({ "model": "NoSlipLcp", "on_fail": "Stop" }));
    assert!(fail(&mut strict).expect_err("a fault").message.contains("not solved"));
}

/// A base of 2 kg that falls at 0.1 m/s onto its foot is stopped within the horizon.
#[test]
fn a_longer_horizon_expects_smaller_forces() {
    for (parameters, horizon) in [
        (json!({ "model": "CoulombLcp" }), 0.001),
        (json!({ "model": "CoulombLcp", "horizon": "5 ms" }), 0.005),
    ] {
        let mut rig = harness(parameters);
        rig.set_leaf("dynamics", DynamicsBus::NU, &[0.0, 0.0, -0.1, 0.0, 0.0, 0.0, 0.0]);
        rig.step(0.0).expect("solved");
        let (force, expected) = (rig.value("normal_force")[0], 20.0 + 2.0 * 0.1 / horizon);
        assert!((force - expected).abs() < 1e-6 * expected, "{force} N, not {expected} N");
    }
}

/// A foot 1 mm inside comes out at the recovery speed, for which the base of 2 kg is pushed; with 0
/// it is only held.
#[test]
fn a_foot_in_the_ground_is_expected_to_come_out_at_the_recovery_speed() {
    for (speed, push) in [(0.02, 2.0 * 0.02 / 0.001), (0.0, 0.0)] {
        let parameters = json!({ "model": "CoulombLcp", "recovery_speed": speed });
        let mut rig = harness(parameters);
        rig.set_leaf("points", ContactBus::GAP, &[-1e-3]);
        rig.step(0.0).expect("solved");
        let force = rig.value("normal_force")[0];
        assert!((force - 20.0 - push).abs() < 1e-6, "{speed} m/s: {force} N");
    }
}

#[test]
fn what_is_missing_is_named() {
    let mut rig = harness(json!({}));
    rig.set_leaf("points", ContactBus::FRICTION, &[ContactBus::NO_FRICTION]);
    assert!(rig.output(0.0).expect_err("a fault").message.contains("no friction"));
    let circular = block::<ContactInverseDynamics>(json!({ "cone": "Circular" }));
    let ports = [("dynamics", dynamics(7)), ("points", points(1, 7))];
    assert!(Harness::new(circular, &ports).is_err());
}

/// Two options that the model does not read are a mistake; their defaults are none.
#[test]
fn options_of_another_model_are_refused() {
    let plan = |parameters: &Value| {
        let ports =
            [("dynamics", dynamics(7)), ("points", points(1, 7)), ("f_sensed", Type::vector(3))];
        let mut ports = ports.to_vec();
        ports.push(("acceleration", Type::vector(1)));
        Harness::new(block::<ContactInverseDynamics>(parameters.clone()), &ports)
    };
    for model in [
        json!("NoSlipLcp"),
        json!("CoulombLcp"),
        json!({ "CoulombQp": {} }),
        json!({ "NoSlipQp": {} }),
        json!("Sensed"),
    ] {
        let is = |name: &str| model == json!(name);
        let has_energy = model.is_object();
        let defaults =
            json!({ "model": model, "choose": "Lemke", "energy": "Absolute", "repair": false });
        assert!(plan(&defaults).is_ok(), "{model}");
        for (option, value, is_read) in [
            ("choose", json!("LeastChange"), is("CoulombLcp")),
            ("energy", json!("Relative"), has_energy),
            ("repair", json!(true), !is("Sensed")),
        ] {
            let result = plan(&json!({ "model": model, option: value }));
            assert_eq!(result.is_ok(), is_read, "{model} {option}");
        }
    }
}
