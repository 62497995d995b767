//! Semantics 10: solvers and their orders.

use legwork_program::Solver;
use legwork_runtime::ode::METHODS;

use super::harness::{numbers, run};

/// Largest error of the oscillator `x″ = −x`, `x(0) = 1` over 2 s at a step.
fn oscillator_error(solver: &str, step_ms: f64) -> f64 {
    let recording = run(&format!(
        r#"Diagram(run: (stop: "2 s", step: "{step_ms} ms", solver: {solver}), blocks: {{
            "f": Gain(gain: -1.0, in: {{ "u": "x.y" }}),
            "v": Integrator(initial: 0.0, in: {{ "u": "f.y" }}),
            "x": Integrator(initial: 1.0, in: {{ "u": "v.y" }}),
        }}, log: ["x.y"])"#
    ));
    numbers(&recording, "x.y").iter().map(|(t, x)| (x - t.cos()).abs()).fold(0.0, f64::max)
}

/// The order seen when the step is halved.
fn order(solver: &str, step_ms: f64) -> f64 {
    (oscillator_error(solver, step_ms) / oscillator_error(solver, 0.5 * step_ms)).log2()
}

/// Of every entry of the table of methods.
#[test]
fn s10_1_explicit_methods_have_the_order_that_they_state() {
    for method in METHODS {
        // Steps at which the error is far above rounding, and its leading term far above the next.
        let step = [2.0, 20.0, 25.0, 50.0][method.order as usize - 1];
        let found = order(method.name, step);
        let wanted = f64::from(method.order);
        assert!((found - wanted).abs() < 0.025 * wanted, "{}: order {found}", method.name);
    }
}

/// Inputs from rest that begin at 1 s, at the end of a step, and the oscillator's answer s after.
type Begins = (&'static str, fn(f64) -> f64);

const BEGIN: [Begins; 5] = [
    ("Step(time: \"1 s\")", |s| 1.0 - s.cos()),
    ("SignalBuilder(times: [0, 1, 9], values: [0, 1, 1], interpolation: Below)", |s| 1.0 - s.cos()),
    ("Fcn(expression: \"if t < 1[s] then 0 else 1\")", |s| 1.0 - s.cos()),
    ("Ramp(start: \"1 s\", slope: 1)", |s| s - s.sin()),
    ("SignalBuilder(times: [0, 1, 9], values: [0, 0, 8])", |s| s - s.sin()),
];

/// Semantics 3.6: what jumps at the end of a step jumps for the next one. Every method keeps its
/// order.
#[test]
fn s3_6_a_jump_at_the_end_of_a_step_costs_no_order() {
    for (source, answer) in BEGIN {
        let error = |solver: &str, step_ms: f64| {
            let recording = run(&format!(
                r#"Diagram(run: (stop: "2 s", step: "{step_ms} ms", solver: {solver}), blocks: {{
                    "u": {source},
                    "f": Sum(signs: "+-", in: {{ "u1": "u.y", "u2": "x.y" }}),
                    "v": Integrator(initial: 0.0, in: {{ "u": "f.y" }}),
                    "x": Integrator(initial: 0.0, in: {{ "u": "v.y" }}),
                }}, log: ["x.y"])"#
            ));
            let rows = numbers(&recording, "x.y");
            let wrong = |(t, x): &(f64, f64)| (x - answer((t - 1.0).max(0.0))).abs();
            rows.iter().map(wrong).fold(0.0, f64::max)
        };
        let all = METHODS.iter().map(|method| (method.name, method.order));
        for (solver, wanted) in all.chain([("ImplicitEuler", 1)]) {
            let step = [2.0, 20.0, 25.0, 50.0][wanted as usize - 1];
            let order = (error(solver, step) / error(solver, 0.5 * step)).log2();
            let wanted = f64::from(wanted);
            assert!((order - wanted).abs() < 0.05 * wanted, "{source}, {solver}: order {order}");
        }
    }
}

#[test]
fn s10_1_implicit_euler_has_order_1() {
    let order = order("ImplicitEuler", 2.0);
    assert!((order - 1.0).abs() < 0.02, "order {order}");
}

/// A motor of 200 Hz whose wanted torque goes from limit to limit, at a step in which explicit Euler
/// carries an unlimited lag 26 % beyond.
#[test]
fn no_solver_takes_a_motor_beyond_its_limit() {
    for solver in Solver::names() {
        let recording = run(&format!(
            r#"Diagram(run: (stop: "0.2 s", step: "1 ms", solver: {solver}), blocks: {{
                "want": Fcn(expression: "[if mod(floor(t/4[ms] + 1e-6), 3) == 0 then 50[N*m] else -50[N*m]]"),
                "motor": Actuator(torque_limit: "18 N*m", bandwidth: "200 Hz", in: {{ "u": "want.y" }}),
            }}, log: ["motor.tau"])"#
        ));
        let rows = numbers(&recording, "motor.tau");
        let most = rows.iter().map(|(_, tau)| tau.abs()).fold(0.0, f64::max);
        assert!(most <= 18.0, "{solver}: {most}");
        assert!(most > 16.0, "{solver}: {most}, which the limit does not keep");
    }
}

/// With a tolerance that anything meets, each major step is one step of the method.
#[test]
fn s10_1_dormand_prince_has_order_5() {
    let order = order("DormandPrince(rtol: 0.9, atol: 0.9)", 100.0);
    assert!((order - 5.0).abs() < 0.2, "order {order}");
}

/// Error at the end of one major step of 2 s of the oscillator `x″ = −x`, as the distance in the
/// plane of position and velocity, where phase and amplitude both count.
fn distance(solver: &str) -> f64 {
    let recording = run(&format!(
        r#"Diagram(run: (stop: "2 s", step: "2 s", solver: {solver}), blocks: {{
            "f": Gain(gain: -1.0, in: {{ "u": "x.y" }}),
            "v": Integrator(initial: 0.0, in: {{ "u": "f.y" }}),
            "x": Integrator(initial: 1.0, in: {{ "u": "v.y" }}),
        }}, log: ["x.y", "v.y"])"#
    ));
    let last = |topic| *numbers(&recording, topic).last().unwrap();
    let ((t, x), (_, v)) = (last("x.y"), last("v.y"));
    (x - t.cos()).hypot(v + t.sin())
}

/// Slope of the line of least squares through log error over log tolerance.
fn slope(name: &str, decades: std::ops::RangeInclusive<i32>) -> f64 {
    let points: Vec<(f64, f64)> = decades
        .map(|d| (-f64::from(d), distance(&format!("{name}(rtol: 1e-{d}, atol: 1e-{d})")).log10()))
        .collect();
    let n = points.len() as f64;
    let (mx, my) = points.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0 / n, y + p.1 / n));
    let covariance: f64 = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum();
    covariance / points.iter().map(|p| (p.0 - mx).powi(2)).sum::<f64>()
}

/// A local error of order h^q that meets the tolerance makes h ~ tol^(1/q); the solution that goes
/// on has a global error of order h^p, so that the error follows tol^(p/q). Both pairs go on with
/// the higher order: p = q, slope 1; with the lower one it would be 4/5 and 3/4. Differences of
/// order k have p = k, q = k + 1: from 4/5 for k = 4, and more where finer tolerances raise k.
#[test]
fn s10_1_the_error_of_a_variable_step_follows_its_tolerance() {
    for name in ["DormandPrince", "Esdirk"] {
        let slope = slope(name, 8..=12);
        assert!((slope - 1.0).abs() < 0.02, "{name}: slope {slope}");
    }
    let slope = slope("Bdf", 4..=10);
    assert!((0.8..0.95).contains(&slope), "Bdf: slope {slope}");
}

/// Semantics 10.2: semi-implicit Euler advances the velocity, then the position with the new
/// velocity: its first step from rest at x = 1 is v = −h, x = 1 − h², and its energy stays bounded.
#[test]
fn s10_2_semi_implicit_euler_uses_the_new_velocity() {
    let recording =
        run(r#"Diagram(run: (stop: "100 s", step: "10 ms", solver: SemiImplicitEuler), blocks: {
        "f": Gain(gain: -1.0, in: { "u": "m.position" }),
        "m": SecondOrderIntegrator(position: 1.0, velocity: 0.0, in: { "u": "f.y" }),
    }, log: ["m.position", "m.velocity"])"#);
    let (x, v) = (numbers(&recording, "m.position"), numbers(&recording, "m.velocity"));
    assert_eq!((x[1].1, v[1].1), (1.0 - 0.01 * 0.01, -0.01));
    for (x, v) in x.iter().zip(&v) {
        let energy = 0.5 * (x.1 * x.1 + v.1 * v.1);
        assert!((energy - 0.5).abs() < 0.005, "t = {}: energy {energy}", x.0);
    }
}

/// Semantics 10.2: first-order states take explicit Euler under the same name.
#[test]
fn s10_2_first_order_states_take_explicit_euler() {
    let recording =
        run(r#"Diagram(run: (stop: "30 ms", step: "10 ms", solver: SemiImplicitEuler), blocks: {
        "f": Gain(gain: -1.0, in: { "u": "x.y" }),
        "x": Integrator(initial: 1.0, in: { "u": "f.y" }),
    }, log: ["x.y"])"#);
    let x: Vec<f64> = numbers(&recording, "x.y").iter().map(|(_, x)| *x).collect();
    for k in 1..x.len() {
        assert_eq!(x[k], x[k - 1] + 0.01 * -x[k - 1]);
    }
}

/// The fault in which a run ends.
fn fault(run: &str, blocks: &str) -> String {
    let text = format!("Diagram(run: ({run}), blocks: {{ {blocks} }})");
    let mut simulation = legwork_runtime::Simulation::new(super::harness::program(&text));
    simulation.run().expect_err("a fault").to_string()
}

/// Semantics 3.7: a state that is driven back over the jump of its law slides along it, which no
/// cut of steps can follow. That ends in a fault with the name of the block.
#[test]
fn s3_7_sliding_along_a_jump_is_a_fault_and_not_a_crawl() {
    for solver in ["DormandPrince(rtol: 1e-10)", "Esdirk", "Bdf"] {
        let found = fault(
            &format!("stop: \"2 s\", step: \"10 ms\", solver: {solver}"),
            r#""f": Fcn(expression: "if u > 0 then -1 else 1", in: { "u": "x.y" }),
               "x": Integrator(initial: 0.5, in: { "u": "f.y" })"#,
        );
        assert!(found.contains("Zeno") && found.contains('f'), "{solver}: {found}");
    }
}

/// Semantics 3.7: the ball's bounces end at 2e-11 s, where times are dense: there are far more of
/// them than anybody waits for, and they are told from each other down to 1e-318 s.
#[test]
fn s3_7_events_that_crowd_near_t_0_are_zeno() {
    let found = fault(
        "stop: \"1 s\", step: \"10 ms\", solver: DormandPrince",
        r#""g": Constant(value: -9.81),
           "ball": SecondOrderIntegrator(lower: 0, velocity: 1e-11, restitution: 0.9, rest: 0,
                                         in: { "u": "g.y" })"#,
    );
    assert!(found.contains("Zeno") && found.contains("ball"), "{found}");
}

#[test]
fn s3_6_a_solver_that_crawls_is_a_fault() {
    let found = fault(
        "stop: \"10 s\", step: \"10 s\", solver: DormandPrince",
        r#""f": Gain(gain: -1e7, in: { "u": "x.y" }),
           "x": Integrator(initial: 1, in: { "u": "f.y" })"#,
    );
    assert!(found.contains("200000 steps inside one step"), "{found}");
}

/// An expression that jumps with its input: the crossing is found, and the order is the method's.
#[test]
fn s3_7_a_comparison_in_an_expression_cuts_the_step() {
    let recording = run(
        r#"Diagram(run: (stop: "2 s", step: "100 ms", solver: DormandPrince(rtol: 1e-9)), blocks: {
            "f": Fcn(expression: "if u < 0.7 then 1 else 3", in: { "u": "x.y" }),
            "x": Integrator(initial: 0.0, in: { "u": "f.y" }),
        }, log: ["x.y"])"#,
    );
    let (t, x) = *numbers(&recording, "x.y").last().unwrap();
    assert!((t - 2.0).abs() < 1e-15 && (x - (0.7 + 3.0 * 1.3)).abs() < 1e-12, "{x}");
}
