//! Figures of hand-made contacts.

use legwork_block::Type;
use serde_json::json;

use super::*;
use crate::testing::contacts::{Harness, block, points, problem};

fn harness(parameters: serde_json::Value) -> Harness {
    let metrics: ContactMetrics = block(parameters);
    let ports = [("points", points(2, 6)), ("f", Type::vector(6))];
    Harness::new(metrics, &ports).expect("planned")
}

#[test]
fn figures_of_a_hand_made_case() {
    let mut rig = harness(json!({ "mu": [0.5, 0.7] }));
    rig.set_contact("points", 0, -2e-3, [0.3, 0.4, 0.0]);
    rig.set_contact("points", 1, 1e-3, [9.0, 9.0, 0.0]);
    rig.set("f", &[3.0, 4.0, 8.0, 0.0, 0.0, 0.05]);
    rig.step(0.0).expect("no fault");
    assert_eq!(rig.value("penetration"), [2e-3]);
    assert_eq!(rig.value("slip"), [0.5], "an unloaded contact may slide");
    assert_eq!(rig.value("complementarity"), [0.05 * 1e-3]);
    assert_eq!(rig.value("normal_force"), [8.05]);
    assert_eq!(rig.value("cone_violation"), [(5.0 - 0.5 * 8.0) / 8.0]);
    assert_eq!(rig.value("touchdown"), [f64::INFINITY], "state is one step old");
    rig.output(0.1).expect("no fault");
    assert_eq!(rig.value("touchdown"), [0.0]);
    assert_eq!(rig.report().value_of("worst_penetration"), Some(2e-3));
}

#[test]
fn only_what_happens_after_settling_counts_as_reopening_and_drift() {
    let mut rig = harness(json!({ "settle": "0.3 s" }));
    rig.set_contact("points", 1, 1.0, [0.0; 3]);
    // A bounce at 0.1 s, a landing at 0.2 s, 2 mm of motion at 0.6 s, a lift at 0.7 s.
    for (i, (gap, normal, x)) in [
        (0.0, 5.0, 0.0),
        (5e-3, 0.0, 0.0),
        (0.0, 5.0, 0.010),
        (0.0, 5.0, 0.012),
        (0.0, 0.0, 0.012),
        (0.0, 5.0, 0.012),
        (0.0, 5.0, 0.014),
        (5e-3, 0.0, 0.5),
    ]
    .into_iter()
    .enumerate()
    {
        rig.set_contact("points", 0, gap, [0.0; 3]);
        rig.set_position("points", 0, [x, 0.0, gap]);
        rig.set("f", &[0.0, 0.0, normal, 0.0, 0.0, 0.0]);
        rig.step(0.1 * i as f64).expect("no fault");
    }
    rig.output(0.8).expect("no fault");
    assert_eq!(rig.value("touchdown"), [0.0]);
    assert_eq!(rig.value("reopenings"), [1.0]);
    let drift = rig.value("drift")[0];
    assert!((drift - 0.002).abs() < 1e-15, "{drift}");
}

/// One contact that slides by the convex law: `a_n = μ |a_t|`, so that the total vanishes and the
/// lift is the normal part; by Coulomb's law the normal part vanishes. Its own friction comes
/// first.
#[test]
fn the_problem_tells_the_convex_law_from_coulombs() {
    let metrics: ContactMetrics = block(json!({ "mu": 0.1 }));
    let ports = [("points", points(1, 3)), ("f", Type::vector(3)), ("problem", problem(1, 3))];
    let shape = ConeShape::new(Cone::default()).expect("a pyramid");
    let mut data = legwork_qp::ContactProblemData::new(1, shape);
    data.inverse_inertia.copy_from_slice(&[2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0]);
    data.friction[0] = 0.5;
    data.force_scale = 10.0;
    // f = (-5, 0, 10): a = 2 f + b.
    let f = [-5.0, 0.0, 10.0];
    for (a, [total, normal, lift]) in
        [([4.0, 0.0, 2.0], [0.0, 0.02, 0.02]), ([4.0, 0.0, 0.0], [20.0 / 200.0, 0.0, 0.02])]
    {
        for i in 0..3 {
            data.bias[i] = a[i] - 2.0 * f[i];
        }
        let metrics: ContactMetrics = metrics.clone();
        let mut rig = Harness::new(metrics, &ports).expect("planned");
        rig.set_problem(&data);
        rig.set_contact("points", 0, 0.0, [0.0; 3]);
        rig.set_leaf("points", ContactBus::FRICTION, &[0.5]);
        rig.set("f", &f);
        rig.step(0.0).expect("no fault");
        assert_eq!(rig.value("cone_violation"), [0.0], "by the contact's own friction");
        let report = rig.report();
        let metric = |name: &str| report.value_of(name).expect(name);
        for (name, expected) in [
            ("worst_total_complementarity", total),
            ("worst_normal_complementarity", normal),
            ("worst_convex_lift", lift),
        ] {
            assert!((metric(name) - expected).abs() < 1e-12, "{name}: {}", metric(name));
        }
    }
}

/// The end of a joint's range has an angle for a gap and a torque for a force.
#[test]
fn a_joint_past_its_limit_is_no_penetration() {
    let ports = [("points", points(2, 3)), ("f", Type::vector(6))];
    let metrics: ContactMetrics = block(json!({}));
    let mut rig = Harness::new(metrics, &ports).expect("planned");
    rig.set_contact("points", 0, -0.001, [0.0; 3]);
    rig.set_contact("points", 1, -0.2, [0.0; 3]);
    rig.set_leaf("points", ContactBus::LEAVES + ContactBus::ROW, &[1.0]);
    rig.set("f", &[0.0, 0.0, 10.0, 0.0, 0.0, 300.0]);
    rig.step(0.0).expect("no fault");
    for (port, expected) in [("penetration", 0.001), ("past_limit", 0.2), ("normal_force", 10.0)] {
        assert_eq!(rig.value(port), [expected], "{port}");
    }
    let report = rig.report();
    let metric = |name: &str| report.value_of(name);
    assert_eq!(metric("worst_penetration"), Some(0.001));
    assert_eq!(metric("worst_past_limit"), Some(0.2));
}
