//! Semantics 6.1: parts that are on now and then; also semantics 2.4, between two rates, and
//! semantics 5.3, loops.

use legwork_runtime::Simulation;

use super::harness::{mistakes, numbers, program, run};

/// Values at the ticks, without the time.
fn values(text: &str, topic: &str) -> Vec<f64> {
    numbers(&run(text), topic).into_iter().map(|(_, value)| value).collect()
}

/// A counter in a part that is on from 0.3 s to 0.6 s, at 0.1 s.
pub(crate) fn enabled(how: &str) -> String {
    format!(
        r#"Diagram(run: (stop: "0.9 s", step: "0.1 s"), blocks: {{
            "t": Clock(),
            "on": Fcn(expression: "0.05 - abs(u - 0.45)", in: {{ "u": "late.y" }}),
            "late": Fcn(expression: "0.45 + (u - 0.45) / 4", in: {{ "u": "t.y" }}),
            "part": Enabled(by: "on.y", {how} ports: (out: {{ "n": "Real", "x": "Real" }}), blocks: {{
                "one": Constant(value: 1.0),
                "sum": DiscreteIntegrator(every: "0.1 s", in: {{ "u": "one.y" }}),
                "x": Integrator(initial: 5.0, in: {{ "u": "one.y" }}),
            }}, out: {{ "n": "sum.y", "x": "x.y" }}),
        }}, log: ["part.n", "part.x"])"#
    )
}

fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() < 1e-12, "row {i}: {found:?}, not {expected:?}");
    }
}

#[test]
fn s6_1_a_part_that_is_off_holds_its_outputs_and_its_states_stand_still() {
    // On at 0.3, 0.4, 0.5, 0.6 s.
    let n = values(&enabled(""), "part.n");
    assert_close(&n, &[0.0, 0.0, 0.0, 0.0, 0.1, 0.2, 0.3, 0.3, 0.3, 0.3]);
    let x = values(&enabled(""), "part.x");
    assert_close(&x, &[0.0, 0.0, 0.0, 5.0, 5.1, 5.2, 5.3, 5.3, 5.3, 5.3]);
}

#[test]
fn s6_1_when_off_reset_clears_the_outputs() {
    let n = values(&enabled("when_off: Reset,"), "part.n");
    assert_close(&n, &[0.0, 0.0, 0.0, 0.0, 0.1, 0.2, 0.3, 0.0, 0.0, 0.0]);
}

#[test]
fn s6_1_what_is_constant_in_a_part_is_off_with_it() {
    // On at 0.3 and 0.4 s; what reads it, inside and outside, follows.
    let around = |part: &str, by: &str| {
        let text = format!(
            r#"Diagram(run: (stop: "0.6 s", step: "0.1 s"), blocks: {{
                "on": SignalBuilder(
                    times: ["0 s", "0.3 s", "0.5 s"], values: [0, 1, 0], interpolation: Below,
                ),
                "never": Constant(value: 0),
                "held": ZeroOrderHold(every: "0.2 s", in: {{ "u": "on.y" }}),
                "part": {part} by: "{by}", ports: (out: {{ "y": "Real" }}), blocks: {{
                    "two": Constant(value: 2), "twice": Gain(gain: 2, in: {{ "u": "two.y" }}),
                }}, out: {{ "y": "twice.y" }}),
                "seen": Gain(gain: 10, in: {{ "u": "part.y" }}),
            }}, log: ["seen.y"])"#
        );
        values(&text, "seen.y")
    };
    let held = around("Enabled(", "on.y");
    assert_close(&held, &[0.0, 0.0, 0.0, 40.0, 40.0, 40.0, 40.0]);
    let reset = around("Enabled(when_off: Reset,", "on.y");
    assert_close(&reset, &[0.0, 0.0, 0.0, 40.0, 40.0, 0.0, 0.0]);
    let by_hits = around("Enabled(when_off: Reset,", "held.y");
    assert_close(&by_hits, &[0.0, 0.0, 40.0, 0.0]);
    assert_close(&around("Enabled(", "never.y"), &[0.0; 7]);
    let rising = around("Triggered(", "on.y");
    assert_close(&rising, &[0.0, 0.0, 0.0, 40.0, 40.0, 40.0, 40.0]);
}

#[test]
fn s6_1_reset_does_not_wait_for_the_next_hit() {
    // On at 0.2, 0.3, 0.4 s around a block that is due at 0.3 and 0.6 s.
    let around = |part: &str| {
        format!(
            r#"Diagram(run: (stop: "0.9 s", step: "0.1 s"), blocks: {{
                "t": Clock(),
                "on": Fcn(expression: "0.15 - abs(u - 0.3)", in: {{ "u": "t.y" }}),
                {part}
                "seen": Fcn(expression: "u1 + 0*u2", in: {{ "u1": "part.n", "u2": "t.y" }}),
            }}, log: ["seen.y"])"#
        )
    };
    let part = |by: &str, when_off: &str| {
        format!(
            r#"Enabled(by: "{by}", when_off: {when_off}, ports: (out: {{ "n": "Real" }}), blocks: {{
                "one": Constant(value: 1.0),
                "slow": Fcn(every: "0.3 s", expression: "u", in: {{ "u": "one.y" }}),
            }}, out: {{ "n": "slow.y" }})"#
        )
    };
    let alone = |when_off| around(&format!(r#""part": {},"#, part("on.y", when_off)));
    let reset = [0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    assert_close(&values(&alone("Reset"), "seen.y"), &reset);
    let held = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    assert_close(&values(&alone("Hold"), "seen.y"), &held);
    // The part that is off is around one that is on.
    let nested = around(&format!(
        r#""part": Enabled(by: "on.y", when_off: Reset, ports: (out: {{ "n": "Real" }}), blocks: {{
            "yes": Constant(value: 1.0),
            "inner": {},
        }}, out: {{ "n": "inner.n" }}),"#,
        part("yes.y", "Reset")
    ));
    assert_close(&values(&nested, "seen.y"), &reset);
}

#[test]
fn s6_1_when_on_restart_begins_with_the_initial_states() {
    let text = |how: &str| {
        format!(
            r#"Diagram(run: (stop: "0.9 s", step: "0.1 s"), blocks: {{
                "t": Clock(),
                "on": Fcn(expression: "sin(10 * u)", in: {{ "u": "t.y" }}),
                "part": Enabled(by: "on.y", {how} ports: (out: {{ "n": "Real" }}), blocks: {{
                    "one": Constant(value: 1.0),
                    "sum": DiscreteIntegrator(every: "0.1 s", in: {{ "u": "one.y" }}),
                }}, out: {{ "n": "sum.y" }}),
            }}, log: ["part.n"])"#
        )
    };
    // sin(10 t) is above zero at 0.1, 0.2, 0.3, 0.7, 0.8, 0.9 s.
    let resumed = values(&text("when_on: Resume,"), "part.n");
    assert_close(&resumed, &[0.0, 0.0, 0.1, 0.2, 0.2, 0.2, 0.2, 0.3, 0.4, 0.5]);
    let restarted = values(&text("when_on: Restart,"), "part.n");
    assert_close(&restarted, &[0.0, 0.0, 0.1, 0.2, 0.2, 0.2, 0.2, 0.0, 0.1, 0.2]);
}

#[test]
fn s6_1_a_triggered_part_runs_once_at_each_edge() {
    for (edge, expected) in [
        ("Rising", [0.0, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.7, 0.7, 0.7]),
        ("Falling", [0.0, 0.0, 0.0, 0.0, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4]),
        ("Either", [0.0, 0.1, 0.1, 0.1, 0.4, 0.4, 0.4, 0.7, 0.7, 0.7]),
    ] {
        let text = format!(
            r#"Diagram(run: (stop: "0.9 s", step: "0.1 s"), blocks: {{
                "t": Clock(),
                "on": Fcn(expression: "sin(10 * u)", in: {{ "u": "t.y" }}),
                "latch": Triggered(by: "on.y", edge: {edge}, in: {{ "u": "t.y" }},
                    ports: (in: {{ "u": "Real" }}, out: {{ "y": "Real" }}),
                    blocks: {{ "take": Gain(gain: 1.0, in: {{ "u": "^u" }}) }}, out: {{ "y": "take.y" }}),
            }}, log: ["latch.y"])"#
        );
        assert_close(&values(&text, "latch.y"), &expected);
    }
}

#[test]
fn s6_1_every_n_runs_at_each_nth_hit_and_its_blocks_know_their_step() {
    let text = r#"Diagram(run: (stop: "0.9 s", step: "0.1 s"), blocks: {
        "t": Clock(), "hold": ZeroOrderHold(every: "0.1 s", in: { "u": "t.y" }),
        "third": Every(n: 3, in: { "u": "hold.y" },
            ports: (in: { "u": "Real" }, out: { "y": "Real", "sum": "Real" }),
            blocks: {
                "take": Gain(gain: 1.0, in: { "u": "^u" }),
                "one": Constant(value: 1.0),
                "sum": DiscreteIntegrator(in: { "u": "one.y" }),
            }, out: { "y": "take.y", "sum": "sum.y" }),
    }, log: ["third.y", "third.sum"])"#;
    let expected = [0.0, 0.0, 0.0, 0.3, 0.3, 0.3, 0.6, 0.6, 0.6, 0.9];
    assert_close(&values(text, "third.y"), &expected);
    assert_close(&values(text, "third.sum"), &expected);
}

/// A part inside a part is on only while both are; a switch under variable step is cut out exactly.
#[test]
fn s6_1_parts_nest_and_a_variable_step_is_cut_where_they_switch() {
    let text = r#"Diagram(run: (stop: "2 s", step: "2 s", solver: DormandPrince), blocks: {
        "t": Clock(),
        "outer": Enabled(by: "late.y", in: { "t": "t.y" },
            ports: (in: { "t": "Real" }, out: { "x": "Real" }), blocks: {
                "early": Fcn(expression: "1.75 - u", in: { "u": "^t" }),
                "inner": Enabled(by: "early.y", ports: (out: { "x": "Real" }), blocks: {
                    "one": Constant(value: 1.0), "x": Integrator(in: { "u": "one.y" }),
                }, out: { "x": "x.y" }),
            }, out: { "x": "inner.x" }),
        "late": Fcn(expression: "u - 0.5", in: { "u": "t.y" }),
    }, log: ["outer.x"])"#;
    let found = values(text, "outer.x");
    assert!((found.last().unwrap() - 1.25).abs() < 1e-12, "{found:?}");
}

#[test]
fn s6_1_mistakes_in_conditional_parts_are_told() {
    let part = |head: &str, inside: &str| {
        mistakes(&format!(
            r#"Diagram(run: (stop: "1 s", step: "0.1 s"), blocks: {{ "t": Clock(),
                "p": {head} ports: (out: {{ "y": "Real" }}), blocks: {{ {inside} }}, out: {{ "y": "x.y" }})
            }}, log: [])"#
        ))
    };
    let clock = r#""x": Clock()"#;
    for (head, inside, code, says) in [
        ("Enabled(", clock, "missing-field", "`by` is missing"),
        (r#"Enabled(by: "t.z","#, clock, "unknown-port", "no output `z`"),
        (r#"Enabled(by: "t.y", when_off: Hodl,"#, clock, "unknown-choice", "Hold, Reset"),
        ("Every(", clock, "missing-field", "`n` is missing"),
        (r#"Every(n: 0, every: "0.1 s","#, clock, "out-of-range", "from 1 on"),
        (r#"Every(n: 2,"#, clock, "unknown-rate", "nothing gives its period"),
        (
            r#"Triggered(by: "t.y","#,
            r#""one": Constant(value: 1.0), "x": Integrator(in: { "u": "one.y" })"#,
            "rate-conflict",
            "single steps only",
        ),
    ] {
        let found = part(head, inside);
        assert!(
            found.iter().any(|(c, text)| *c == code && text.contains(says)),
            "{head}: {found:?}"
        );
    }
}

#[test]
fn s2_4_a_rate_transition_joins_rates_that_do_not_divide() {
    let text = |mode: &str| {
        format!(
            r#"Diagram(run: (stop: "18 ms", step: "1 ms"), blocks: {{
                "t": Clock(), "from": ZeroOrderHold(every: "2 ms", in: {{ "u": "t.y" }}),
                "to": RateTransition(mode: {mode}, every: "3 ms", in: {{ "u": "from.y" }}),
            }}, log: [Every("3 ms", "to.y")])"#
        )
    };
    let ms = |mode: &str| -> Vec<f64> {
        values(&text(mode), "to.y").iter().map(|y| (y * 1e3 * 1e6).round() / 1e6).collect()
    };
    assert_eq!(ms("Newest"), [0.0, 2.0, 6.0, 8.0, 12.0, 14.0, 18.0]);
    assert_eq!(ms("Hold"), [0.0, 2.0, 4.0, 8.0, 10.0, 14.0, 16.0]);
    assert_eq!(ms("Linear"), [0.0, 3.0, 6.0, 9.0, 12.0, 15.0, 18.0]);
    let refused = mistakes(
        r#"Diagram(run: (stop: "1 s", step: "1 ms"), blocks: { "t": Clock(),
            "to": RateTransition(every: "3 ms", in: { "u": "t.y" }) }, log: [])"#,
    );
    assert!(refused.iter().any(|(code, _)| *code == "rate-conflict"), "{refused:?}");
}

/// z = cos z by Newton, and a pair of equations in one loop.
#[test]
fn s5_3_solve_finds_the_solution_of_an_algebraic_loop() {
    let text = r#"Diagram(run: (stop: "10 ms", step: "1 ms", solver: Rk4), blocks: {
        "z": Solve(initial: 0, in: { "u": "cos.y" }),
        "cos": Fcn(expression: "cos(u1) + 0 * u2", in: { "u1": "z.y", "u2": "t.y" }),
        "a": Solve(in: { "u": "f.y" }), "b": Solve(in: { "u": "g.y" }), "t": Clock(),
        "f": Fcn(expression: "u2 + 3 * u1 - 1", in: { "u1": "b.y", "u2": "t.y" }),
        "g": Fcn(expression: "u1 / 2 + u2", in: { "u1": "a.y", "u2": "b2.y" }),
        "b2": Gain(gain: 0.25, in: { "u": "b.y" }),
        "x": Integrator(in: { "u": "a.y" }),
        "after": Gain(gain: 2.0, in: { "u": "z.y" }),
    }, log: ["z.y", "a.y", "b.y", "x.y", "after.y"])"#;
    let recording = run(text);
    for (_, z) in numbers(&recording, "z.y") {
        assert!((z - z.cos()).abs() < 1e-10, "{z}");
    }
    // a = t + 3 b − 1, b = a / 2 + b / 4: a = 1 − t, b = 2 a / 3.
    for (t, a) in numbers(&recording, "a.y") {
        assert!((a - (1.0 - t)).abs() < 1e-9, "t = {t}: {a}");
    }
    for (t, b) in numbers(&recording, "b.y") {
        assert!((b - 2.0 / 3.0 * (1.0 - t)).abs() < 1e-9, "t = {t}: {b}");
    }
    let (t, x) = *numbers(&recording, "x.y").last().unwrap();
    assert!((x - (t - 0.5 * t * t)).abs() < 1e-11, "minor steps solve it too: {x}");
    for ((_, z), (_, after)) in
        numbers(&recording, "z.y").iter().zip(numbers(&recording, "after.y"))
    {
        assert_eq!(2.0 * z, after, "what follows a loop sees its solution");
    }
}

#[test]
fn s5_3_a_loop_without_solution_is_a_fault_or_what_the_block_declares() {
    let text = |on_fail: &str| {
        program(&format!(
            r#"Diagram(run: (stop: "5 ms", step: "1 ms"), blocks: {{
                "t": Clock(),
                "z": Solve(initial: 1, on_fail: {on_fail}, in: {{ "u": "f.y" }}),
                "f": Fcn(expression: "u1 * u1 + u2 * 1000 + u1", in: {{ "u1": "z.y", "u2": "late.y" }}),
                "late": Fcn(expression: "u - 0.0015", in: {{ "u": "t.y" }}),
            }}, log: ["z.y"])"#
        ))
    };
    // z² = 1.5 − 1000 t has none from 2 ms on.
    let fault = Simulation::new(text("Stop")).run().unwrap_err();
    assert_eq!(fault.block, "z");
    assert!(fault.fault.message.contains("no solution"), "{fault}");
    let mut held = Simulation::new(text("HoldLast(max: 10)"));
    held.run().unwrap();
    let report = held.reports().into_iter().find(|(path, _)| *path == "z").unwrap().1;
    assert_eq!((report.solver_calls, report.solver_failures), (6, 4));
    Simulation::new(text("HoldLast(max: 2)")).run().unwrap_err();
    Simulation::new(text("Zero")).run().unwrap();
}

#[test]
fn s5_3_a_solve_that_closes_no_loop_is_refused() {
    let found = mistakes(
        r#"Diagram(run: (stop: "1 s", step: "0.1 s"), blocks: {
            "t": Clock(), "z": Solve(in: { "u": "t.y" }) }, log: [])"#,
    );
    assert!(found.iter().any(|(code, _)| *code == "no-loop"), "{found:?}");
}

#[test]
fn s7_2_adding_a_block_shifts_no_other_random_stream() {
    let text = |more: &str, seed: u32| {
        format!(
            r#"Diagram(run: (stop: "0.5 s", step: "0.1 s", seed: {seed}), blocks: {{ {more}
                "m": RandomNumber(every: "0.1 s"), "n": RandomNumber(every: "0.1 s") }},
                log: ["m.y", "n.y"])"#
        )
    };
    let alone = values(&text("", 3), "n.y");
    let beside = values(&text(r#""a": RandomNumber(every: "0.1 s"),"#, 3), "n.y");
    assert_eq!(alone, beside);
    assert_ne!(alone, values(&text("", 4), "n.y"), "the run's seed counts");
    assert_ne!(alone, values(&text("", 3), "m.y"), "the path counts");
}

#[test]
fn s3_8_a_stop_block_ends_the_run_as_the_stop_time_would() {
    let program = program(
        r#"Diagram(run: (stop: "1 s", step: "0.1 s"), blocks: { "t": Clock(),
            "late": Compare(op: ">=", to: 0.35, in: { "u": "t.y" }),
            "end": Stop(in: { "u": "late.y" }) }, log: ["t.y"])"#,
    );
    let mut simulation = Simulation::new(program);
    simulation.run().unwrap();
    assert_eq!(simulation.stopped_by(), Some("end"));
    assert!((simulation.time() - 0.4).abs() < 1e-12);
}
