//! Counts, differences, noise.

use legwork_block::RateRule;
use serde_json::{Value, json};

use super::Encoder;
use crate::testing::robots::{HINGE_AND_BALL, Rig, States, go, load_text, refusal};

fn rig(parameters: Value) -> Rig {
    let encoder: Encoder = serde_json::from_value(parameters).expect("the parameters bind");
    Rig::new(encoder, &go(), &[])
}

#[test]
fn without_counts_it_is_exact() {
    let mut rig = rig(json!({ "robot": "go" }));
    assert_eq!(rig.declaration.rate, RateRule::Inherited);
    for (q, nu) in States::of(&go(), 5) {
        rig.set("state", &[&q, &nu]);
        rig.output();
        assert_eq!(rig.leaf("s", 0), q[7..]);
        assert_eq!(rig.leaf("s_dot", 0), nu[6..]);
        assert_eq!([rig.leaf("state", 0), rig.leaf("state", 1)], [q, nu]);
    }
}

#[test]
fn positions_are_whole_counts_behind_the_gear() {
    let gears = json!({ "*_abad_joint": 6, "*_hip_joint": 6, "*_knee_joint": 9.33 });
    let mut rig = rig(json!({ "robot": "go", "counts": 4096, "gear_ratio": gears,
        "velocity_quantum": 0.5 }));
    for (q, nu) in States::of(&go(), 10) {
        rig.set("state", &[&q, &nu]);
        rig.output();
        let (s, s_dot, state) = (rig.leaf("s", 0), rig.leaf("s_dot", 0), rig.leaf("state", 0));
        for j in 0..12 {
            let gear = [6.0, 6.0, 9.33][j % 3];
            let quantum = 2.0 * std::f64::consts::PI / 4096.0 / gear;
            let counts = s[j] / quantum;
            assert!((counts - libm::round(counts)).abs() < 1e-9);
            assert!((s[j] - q[7 + j]).abs() <= 0.5 * quantum * (1.0 + 1e-12));
            assert_eq!(2.0 * s_dot[j], libm::round(2.0 * nu[6 + j]));
        }
        assert_eq!(state[..7], q[..7], "the base stays true");
        assert_eq!(state[7..], s);
        assert_eq!(rig.leaf("state", 1)[6..], s_dot);
    }
}

/// At a steady speed below one count per period, differences are whole counts per period whose mean
/// is the speed.
#[test]
fn differences_are_counts_per_period_and_right_in_the_mean() {
    let mut rig = rig(json!({ "robot": "go", "counts": 1000, "velocity": "Difference" }));
    assert_eq!(rig.declaration.rate, RateRule::Sampled);
    let (quantum, speed) = (2.0 * std::f64::consts::PI / 1000.0, 2.0);
    let mut q = go().model.zero_configuration();
    let mut sum = 0.0;
    for k in 0..=1000 {
        q[7..].fill(speed * 1e-3 * f64::from(k));
        // The tachometer's truth is not looked at.
        rig.set("state", &[&q, &[99.0; 18]]);
        rig.output();
        let s_dot = rig.leaf("s_dot", 0)[5];
        let counts = s_dot * 1e-3 / quantum;
        assert!((counts - libm::round(counts)).abs() < 1e-9 && (0.0..1.5).contains(&counts));
        assert!(k > 0 || s_dot == 0.0, "nothing is known before the first sample");
        sum += s_dot * 1e-3;
        rig.update();
    }
    // The sum of differences is the last position.
    assert!((sum - rig.leaf("s", 0)[5]).abs() < 1e-12);
    assert!((sum - 2.0).abs() <= 0.5 * quantum + 1e-12);
}

#[test]
fn exact_positions_give_exact_differences() {
    let mut rig = rig(json!({ "robot": "go", "velocity": "Difference" }));
    rig.step = 0.25;
    let mut q = go().model.zero_configuration();
    for (s, expected) in [(1.0, 0.0), (1.5, 2.0), (1.25, -1.0)] {
        q[7..].fill(s);
        rig.set("state", &[&q, &[0.0; 18]]);
        rig.output();
        assert_eq!(rig.leaf("s_dot", 0), [expected; 12]);
        rig.update();
    }
}

#[test]
fn noise_has_its_deviation_in_each_sample_and_joint() {
    let mut rig = rig(json!({ "robot": "go", "position_noise": 0.01, "velocity_noise": 0.3 }));
    rig.set("state", &[&go().model.zero_configuration(), &[0.0; 18]]);
    let (mut s, mut s_dot) = (Vec::new(), Vec::new());
    for _ in 0..500 {
        rig.output();
        s.extend(rig.leaf("s", 0));
        s_dot.extend(rig.leaf("s_dot", 0));
        rig.update();
    }
    for (values, deviation) in [(s, 0.01), (s_dot, 0.3)] {
        let n = values.len() as f64;
        let variance = values.iter().map(|v| v * v).sum::<f64>() / n / (deviation * deviation);
        assert!((variance - 1.0).abs() < 4.0 * libm::sqrt(2.0 / n), "{variance}");
    }
}

#[test]
fn what_has_no_counter_is_refused() {
    let arm = load_text("arm", HINGE_AND_BALL, json!({ "base": "Fixed" })).expect("an arm").0;
    let encoder: Encoder = serde_json::from_value(json!({ "robot": "arm" })).expect("it binds");
    let invalid = refusal(encoder, &arm, &[], &[]);
    assert_eq!(invalid.message, "expected joints of one degree of freedom, found `ball`");
    let both = json!({ "robot": "go", "velocity": "Difference", "velocity_quantum": 0.1 });
    let encoder: Encoder = serde_json::from_value(both).expect("it binds");
    let invalid = refusal(encoder, &go(), &[], &[]);
    assert_eq!(invalid.parameter.as_deref(), Some("velocity_quantum"));
}
