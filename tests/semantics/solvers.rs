//! Clause 10: solvers and their orders.

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

#[test]
fn s10_1_euler_has_order_1() {
    let order = order("Euler", 2.0);
    assert!((order - 1.0).abs() < 0.02, "order {order}");
}

#[test]
fn s10_1_heun_has_order_2() {
    let order = order("Heun", 20.0);
    assert!((order - 2.0).abs() < 0.05, "order {order}");
}

#[test]
fn s10_1_rk4_has_order_4() {
    let order = order("Rk4", 50.0);
    assert!((order - 4.0).abs() < 0.1, "order {order}");
}

#[test]
fn s10_1_implicit_euler_has_order_1() {
    let order = order("ImplicitEuler", 2.0);
    assert!((order - 1.0).abs() < 0.02, "order {order}");
}

/// With a tolerance that anything meets, each major step is one step of the method.
#[test]
fn s10_1_dormand_prince_has_order_5() {
    let order = order("DormandPrince(rtol: 0.9, atol: 0.9)", 100.0);
    assert!((order - 5.0).abs() < 0.2, "order {order}");
}

/// Its steps are such that the error follows the tolerance.
#[test]
fn s10_1_the_error_of_a_variable_step_follows_its_tolerance() {
    for name in ["DormandPrince", "Esdirk", "Bdf"] {
        let error = |t: &str| oscillator_error(&format!("{name}(rtol: {t}, atol: {t})"), 2000.0);
        let (coarse, fine) = (error("1e-5"), error("1e-8"));
        let decades = (coarse / fine).log10();
        assert!((1.8..4.2).contains(&decades), "{name}: {coarse:e} → {fine:e}");
    }
}

/// 10.2: semi-implicit Euler advances the velocity, then the position with the new velocity: its
/// first step from rest at x = 1 is v = −h, x = 1 − h², and its energy stays bounded.
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

/// 10.2: first-order states take explicit Euler under the same name.
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
