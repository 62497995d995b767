use std::f64::consts::PI;

use legwork_block::{Feeds, Type};
use serde_json::json;

use super::*;
use crate::testing::contacts::Harness;
use crate::testing::{Bench, block, refusal};

const INPUTS: [Type; 4] = [Type::Real, Type::Real, Type::Real, Type::Bool];

/// A generator with all inputs connected: gait, period, duty, whether to walk.
fn bench(parameters: serde_json::Value) -> Bench {
    Bench::new(block::<GaitGenerator>(parameters), &INPUTS).expect("a generator")
}

fn ask(bench: &mut Bench, gait: f64, period: f64, duty: f64, walk: f64) {
    for (name, value) in [("gait", gait), ("period", period), ("duty", duty), ("walk", walk)] {
        bench.set(name, &[value]);
    }
}

/// Phases, rates, stance of the legs, and stance time, swing time, amplitude.
fn output(bench: &mut Bench, t: f64) -> ([Vec<f64>; 3], [f64; 3]) {
    bench.output(t).expect("no fault");
    let y = bench.value("gait");
    assert_eq!(y.len(), 15, "all leaves of the bus");
    ([0, 4, 8].map(|at| y[at..at + 4].to_vec()), [y[12], y[13], y[14]])
}

#[test]
fn it_stands_until_it_is_to_walk_then_grows_to_full_steps_and_stops_again() {
    let mut bench = bench(json!({ "start": 0.1, "ramp": 0.2 }));
    assert_eq!(bench.declaration.groups, [Feeds::Only(vec![])]);
    let mut amplitudes = Vec::new();
    for k in 0..1000 {
        let t = f64::from(k) * 1e-3;
        ask(&mut bench, 0.0, 0.4, 0.6, if t < 0.6 { 1.0 } else { 0.0 });
        let ([_, rates, stance], [stance_time, swing_time, amplitude]) = output(&mut bench, t);
        if amplitude == 0.0 {
            assert_eq!((rates, stance), (vec![0.0; 4], vec![1.0; 4]), "at {t} s");
        }
        assert!((stance_time + swing_time - 0.4).abs() < 1e-12, "at {t} s");
        amplitudes.push(amplitude);
        bench.update(t);
    }
    assert!(amplitudes[..=100].iter().all(|&a| a == 0.0), "before the start");
    assert!(amplitudes.windows(2).all(|pair| (pair[1] - pair[0]).abs() < 0.0051), "no jump");
    assert_eq!((amplitudes[305], amplitudes[600], amplitudes[810]), (1.0, 1.0, 0.0));
}

#[test]
fn a_new_gait_is_taken_while_running_with_its_lags_and_duty() {
    let mut bench = bench(json!({ "ramp": 0, "period": 0.4 }));
    let mut standing = [0.0; 4];
    for k in 0..8000 {
        let t = f64::from(k) * 1e-3;
        ask(
            &mut bench,
            if t < 2.0 { 0.0 } else { 1.0 },
            0.4,
            if t < 2.0 { 0.5 } else { 0.75 },
            1.0,
        );
        let ([phases, _, stance], _) = output(&mut bench, t);
        if k == 1999 {
            let apart = |a: usize, b: usize| (phases[a] - phases[b]).abs();
            assert!(apart(0, 3) < 1e-9 && apart(1, 2) < 1e-9, "a trot: {phases:?}");
            assert!((apart(0, 1) - PI).abs() < 1e-9, "a trot: {phases:?}");
        }
        if k >= 6000 {
            // In a walk three legs stand at any time, up to the sample in which they change.
            let count: f64 = stance.iter().sum();
            assert!((2.0..=4.0).contains(&count), "{stance:?} at {t} s");
            standing.iter_mut().zip(stance).for_each(|(sum, s)| *sum += s / 2000.0);
        }
        bench.update(t);
    }
    assert!(standing.iter().all(|part| (part - 0.75).abs() < 0.005), "{standing:?}");
}

#[test]
fn what_is_no_gait_period_or_duty_is_a_fault() {
    let wrong = [
        ([7.0, 0.4, 0.5], "expected a gait, 0, 1, 2, 3 or 4, found 7"),
        ([0.5, 0.4, 0.5], "expected a gait, 0, 1, 2, 3 or 4, found 0.5"),
        ([0.0, 0.0, 0.5], "expected a period above 0 s, found 0 s"),
        ([0.0, 0.4, 1.0], "expected a duty factor between 0 and 1, found 1"),
    ];
    for ([gait, period, duty], expected) in wrong {
        let given = [
            ("gait", Type::Real),
            ("period", Type::Real),
            ("duty", Type::Real),
            ("walk", Type::Bool),
        ];
        let mut rig = Harness::new(block::<GaitGenerator>(json!({})), &given).expect("a generator");
        for (name, value) in [("gait", gait), ("period", period), ("duty", duty)] {
            rig.set(name, &[value]);
        }
        let fault = rig.step(0.0).expect_err("a fault");
        assert_eq!(fault.to_string(), expected);
    }
    let duty = refusal(block::<GaitGenerator>(json!({ "duty": 1.0 })), &INPUTS);
    assert_eq!(duty, "expected a number between 0 and 1, found 1");
    let coupling = refusal(block::<GaitGenerator>(json!({ "coupling": 0.5 })), &INPUTS);
    assert_eq!(coupling, "expected at least 0 and less than 1/3, found 0.5");
}
