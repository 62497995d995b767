use legwork_block::{PortUnit, Type, Unit};
use serde_json::{Value, json};

use super::*;
use crate::testing::integrate::rk4;
use crate::testing::{Bench, block, refusal};

fn bench(parameters: Value) -> Bench {
    Bench::new(block::<Pid>(parameters), &[Type::Real, Type::Real]).expect("a controller")
}

/// Outputs of a discrete controller of the period 0.1 s for these errors.
fn samples(parameters: Value, errors: &[f64]) -> Vec<f64> {
    let mut bench = bench(parameters);
    bench.step = 0.1;
    bench.samples(errors)
}

fn near(found: f64, exact: f64, tolerance: f64) {
    assert!((found - exact).abs() < tolerance, "{found} against {exact}");
}

/// To a unit ramp: kp t + ki t²/2 + kd (1 − e^(−N t)).
#[test]
fn the_response_to_a_ramp_has_three_parts() {
    let mut bench = bench(json!({ "kp": 2, "ki": 3, "kd": 5, "filter": 10 }));
    for k in 0..100 {
        rk4(&mut bench, 0.01 * f64::from(k), 0.01, |t| vec![t]);
    }
    let exact = 2.0 + 1.5 + 5.0 * (1.0 - libm::exp(-10.0));
    near(bench.y(1.0, &[])[0], exact, 1e-8);
}

#[test]
fn the_derivative_starts_from_the_initial_error() {
    let mut kick = bench(json!({ "kp": 1, "kd": 2, "filter": 50 }));
    assert_eq!(kick.y(0.0, &[("u", &[3.0])]), [3.0 + 2.0 * 50.0 * 3.0]);
    let mut calm = bench(json!({ "kp": 1, "kd": 2, "filter": 50, "initial_error": 3 }));
    assert_eq!(calm.y(0.0, &[("u", &[3.0])]), [3.0]);
}

/// Of one step of the error: v[k] = kp + ki k T + kd N / (1 + N T)^(k+1).
#[test]
fn samples_follow_the_difference_equations() {
    let y =
        samples(json!({ "kp": 2, "ki": 3, "kd": 5, "filter": 10, "discrete": true }), &[1.0; 6]);
    for (k, y) in y.into_iter().enumerate() {
        let exact = 2.0 + 0.3 * k as f64 + 50.0 / 2f64.powi(k as i32 + 1);
        near(y, exact, 1e-13);
    }
}

#[test]
fn the_method_of_integration_is_that_of_the_discrete_integrator() {
    for (method, first, second) in
        [("ForwardEuler", 0.0, 0.3), ("BackwardEuler", 0.3, 0.6), ("Trapezoidal", 0.15, 0.45)]
    {
        let parameters = json!({ "kp": 0, "ki": 3, "method": method, "discrete": true });
        let y = samples(parameters, &[1.0, 1.0]);
        near(y[0], first, 1e-15);
        near(y[1], second, 1e-15);
    }
}

/// After a long error at the limit, the output leaves it at once when the error turns; without
/// anti-windup it stays there.
#[test]
fn clamping_and_back_calculation_leave_the_limit_at_once() {
    let mut errors = vec![1.0; 100];
    errors.extend([-0.5; 3]);
    let last = |anti_windup: Value| {
        let y = samples(
            json!({ "kp": 1, "ki": 5, "upper": 2, "anti_windup": anti_windup, "discrete": true }),
            &errors,
        );
        assert!(y.iter().all(|y| *y <= 2.0));
        y[102]
    };
    assert_eq!(last(json!("None")), 2.0);
    assert!(last(json!("Clamping")) < 1.0);
    assert!(last(json!({ "BackCalculation": { "gain": 5 } })) < 1.0);
}

/// In the limit y = upper and the error 1: the integral settles where ki + Kb (upper − v) = 0.
#[test]
fn back_calculation_settles_at_the_excess_of_ki_over_kb() {
    let mut bench = bench(json!({
        "kp": 1, "ki": 6, "upper": 2, "anti_windup": { "BackCalculation": { "gain": 4 } },
    }));
    for k in 0..1000 {
        rk4(&mut bench, 0.01 * f64::from(k), 0.01, |_| vec![1.0]);
    }
    near(1.0 + bench.x[0], 2.0 + 6.0 / 4.0, 1e-12);
    assert_eq!(bench.y(10.0, &[]), [2.0]);
}

/// The limits hold for the sum: a feed-forward beyond them leaves nothing to integrate.
#[test]
fn the_feed_forward_is_added_before_the_limits() {
    let mut bench = bench(json!({ "kp": 1, "ki": 1, "upper": 2 }));
    assert_eq!(bench.y(0.0, &[("u", &[0.5]), ("feed_forward", &[1.25])]), [1.75]);
    assert_eq!(bench.derivative(0.0), [0.5]);
    assert_eq!(bench.y(0.0, &[("feed_forward", &[5.0])]), [2.0]);
    assert_eq!(bench.derivative(0.0), [0.0]);
}

#[test]
fn elements_have_gains_and_limits_of_their_own() {
    let pid: Pid = block(json!({ "kp": ["1 N*m/rad", "10 N*m/rad"], "upper": "5 N*m" }));
    let mut bench = Bench::new(pid, &[Type::vector(2), Type::vector(2)]).expect("a controller");
    assert_eq!(bench.y(0.0, &[("u", &[3.0, 3.0])]), [3.0, 5.0]);
    assert_eq!(bench.declaration.outputs[0].unit, PortUnit::Of(Unit::NEWTON_METRE.into()));
    assert_eq!(bench.x.len(), 2);
}

#[test]
fn gains_and_limits_fit_together() {
    let refused = |parameters: Value| refusal(block::<Pid>(parameters), &[]);
    let message = refused(json!({ "kp": "1 N/m", "kd": "1 N/m" }));
    assert!(message.starts_with("expected the unit"), "{message}");
    let message = refused(json!({ "kp": 1, "lower": 2, "upper": 1 }));
    assert_eq!(message, "expected a limit of at least `lower` = 2, found 1");
    let message = refused(json!({ "kp": [1, 2], "ki": [1, 2, 3] }));
    assert_eq!(message, "expected the shape [2], found [3]");
    let message = refused(json!({ "kp": 1, "method": "Trapezoidal" }));
    assert!(message.starts_with("expected `discrete: true`"), "{message}");
}
