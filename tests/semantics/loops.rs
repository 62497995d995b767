//! Semantics 5.3: solutions of `Solve` in whole runs.

use legwork_runtime::Simulation;

use super::harness::{numbers, program, run};

/// A sampled loop around one expression of `u`.
fn around(expression: &str, solve: &str) -> String {
    format!(
        r#"Diagram(run: (stop: "2 ms", step: "1 ms"), blocks: {{
            "f": Fcn(every: "1 ms", expression: "{expression}", in: {{ "u": "z.y" }}),
            "z": Solve({solve} in: {{ "u": "f.y" }}),
        }}, log: ["z.y"])"#
    )
}

/// Solutions in closed form, or by bisection to all digits, from starts near and far.
#[test]
fn s5_3_loops_that_saturate_are_solved_from_any_start() {
    for (expression, z) in [
        ("min(max(3 - 5*u, -1), 1)", 0.5),
        ("min(max(1 - 300*u, -1), 1)", 1.0 / 301.0),
        ("min(max(9 - 2*u, -1), 1)", 1.0),
        ("tanh(2 - 10*u)", 0.181_632_919_893_161_88),
        ("tanh(-50*u)", 0.0),
        ("atan(4 - 8*u)", 0.440_999_703_193_537_8),
        ("u - atan(u - 3)", 3.0),
        ("u - atan(u + 1e4)", -1e4),
        ("u - tanh(u - 12)", 12.0),
        // Friction with a creep of 1e-6, and the rest of a push beyond it.
        ("0.4 - min(max(1e6*u, -1), 1)", 0.4 / 1_000_001.0),
        ("2.5 - min(max(1e6*u, -1), 1)", 1.5),
        // A dead zone of 0.5 with a slope of 40.
        ("7 - 40*(u - min(max(u, -0.5), 0.5))", 27.0 / 41.0),
        ("1e-12*cos(1e12*u)", 0.739_085_133_215_160_6e-12),
    ] {
        for start in ["", "initial: 100,", "initial: -2e4,", "initial: -2.08e10,"] {
            let recording = run(&around(expression, start));
            for (t, found) in numbers(&recording, "z.y") {
                let error = (found - z).abs();
                assert!(
                    error <= 1e-9 * z.abs().max(1e-3 * f64::from(u8::from(z == 0.0))),
                    "{expression} from {start:?} at {t}: {found}, known {z}"
                );
            }
        }
    }
}

/// Laws that are steeper than the rounding of z allows a residual for, residuals that touch zero,
/// and starts outside the domain of the law.
#[test]
fn s5_3_steep_laws_tangent_roots_and_domains_are_solved() {
    for (expression, z, bound) in [
        ("tanh(1e7*(0.3 - u))", 0.299_999_969_048_043, 1e-15),
        ("tanh(1e9*(0.3 - u))", 0.299_999_999_690_480_4, 1e-15),
        ("min(max(1e8*(0.3 - u), -1), 1)", 0.3 - 0.3e-8, 1e-15),
        ("min(max(3 - 1e9*u, -1), 1)", 3.0 / 1_000_000_001.0, 1e-15),
        ("atan(1e8*(2 - u))", 1.570_796_303_495_936, 1e-14),
        ("u*u + 0.25", 0.5, 1e-5),
        ("exp(u) - 1", 0.0, 1e-5),
        ("u + abs(u - 2)", 2.0, 1e-9),
        ("u - (u - 7)^2", 7.0, 1e-4),
        ("sqrt(u) - 0.25", 0.25, 1e-5),
    ] {
        for start in ["", "initial: 50,", "initial: -1e5,"] {
            for (_, found) in numbers(&run(&around(expression, start)), "z.y") {
                let error = (found - z).abs();
                assert!(error <= bound, "{expression} from {start:?}: {found}, known {z}");
            }
        }
    }
    for start in ["", "initial: 50,", "initial: -1e5,"] {
        for (_, z) in numbers(&run(&around("asin(u)/2 + 0.3", start)), "z.y") {
            assert!((z.asin() / 2.0 + 0.3 - z).abs() < 1e-9, "from {start:?}: {z}");
        }
        for (_, z) in numbers(&run(&around("1/u", start)), "z.y") {
            assert!((z.abs() - 1.0).abs() < 1e-9, "from {start:?}: {z}");
        }
    }
}

#[test]
fn s5_3_a_loop_whose_law_is_not_defined_anywhere_says_so() {
    for start in ["", "initial: 3,"] {
        let text = around("asin(2 + u^2)", start);
        let fault = Simulation::new(program(&text)).run().unwrap_err();
        assert!(fault.to_string().contains("u is not finite at any z"), "{fault}");
    }
}

#[test]
fn s5_3_loops_without_solution_say_so() {
    for (expression, part) in [
        ("u + 1", "u − z does not change its sign"),
        ("u + 1/(1 + u^2)", "u − z does not change its sign"),
        ("u + exp(u)", "u − z does not change its sign"),
        ("1.2 - sign(u - 1)", "to -8.000e-1 at z = 1"),
        ("0.5 - sign(u)", "to -5.000e-1 at z = "),
        ("u + 1e-3*sign(0.3 - u) + 2e-4", "to -8.000e-4 at z = "),
        ("u*u + 0.2500001", "u − z does not change its sign"),
        ("u + 1e-6 + (u - 3)^2", "u − z does not change its sign"),
    ] {
        for start in ["", "initial: 30,", "initial: -1e9,"] {
            let fault = Simulation::new(program(&around(expression, start))).run().unwrap_err();
            let text = fault.to_string();
            assert!(
                text.starts_with("t=0 s, output, z: the algebraic loop has no solution"),
                "{text}"
            );
            assert!(text.contains(part) && text.contains("the smallest |u − z|"), "{text}");
        }
    }
}

/// Two saturated joints that push each other, each with a `Solve` for its push.
#[test]
fn s5_3_several_saturated_unknowns_are_solved_together() {
    let recording = run(r#"Diagram(run: (stop: "1 ms", step: "1 ms"), blocks: {
            "f": Fcn(every: "1 ms", expression: "tanh(2 - 40*u1 - 30*u2)", in: { "u1": "a.y", "u2": "b.y" }),
            "g": Fcn(every: "1 ms", expression: "min(max(1 - 30*u1 - 50*u2, -1), 1)", in: { "u1": "a.y", "u2": "b.y" }),
            "a": Solve(initial: 500, in: { "u": "f.y" }), "b": Solve(initial: -3, in: { "u": "g.y" }),
        }, log: ["a.y", "b.y"])"#);
    let (a, b) = (numbers(&recording, "a.y")[0].1, numbers(&recording, "b.y")[0].1);
    assert!((a - (2.0 - 40.0 * a - 30.0 * b).tanh()).abs() < 1e-10, "{a} {b}");
    assert!((b - (1.0 - 30.0 * a - 50.0 * b).clamp(-1.0, 1.0)).abs() < 1e-10, "{a} {b}");
}

/// A saturated amplifier with feedback inside an integration: minor steps solve it too, and each
/// step starts from the iterate of the previous one.
#[test]
fn s5_3_a_saturated_loop_is_solved_in_minor_steps() {
    let recording = run(r#"Diagram(run: (stop: "2 s", step: "10 ms", solver: Rk4), blocks: {
            "f": Fcn(expression: "min(max(100*(u1 - u2), -1), 1)", in: { "u1": "sine.y", "u2": "z.y" }),
            "sine": Sine(amplitude: 2, frequency: "1 Hz"),
            "z": Solve(in: { "u": "f.y" }), "x": Integrator(in: { "u": "z.y" }),
        }, log: ["z.y", "sine.y"])"#);
    let pairs = numbers(&recording, "z.y").into_iter().zip(numbers(&recording, "sine.y"));
    for ((t, z), (_, s)) in pairs {
        let known = (100.0 / 101.0 * s).clamp(-1.0, 1.0);
        assert!((z - known).abs() < 1e-9, "{t}: {z} {known}");
    }
}
