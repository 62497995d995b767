//! Semantics 3, 5, 6.3: what one major step does.

use legwork_runtime::{Cursor, Simulation};

use super::harness::{calls, compile_text, mistakes, numbers, program, run};

/// Semantics 3.1: the time of tick k is k × base, exactly; nothing accumulates.
#[test]
fn s3_1_time_is_tick_times_base() {
    let program = program(
        r#"Diagram(run: (stop: "1000 s", step: "100 ms"), blocks: { "c": Clock() }, log: ["c.y"])"#,
    );
    let mut simulation = Simulation::new(program);
    let mut k = 0u32;
    while simulation.cursor() != Cursor::Done {
        assert_eq!(simulation.time(), f64::from(k) / 10.0);
        simulation.step().unwrap();
        k += 1;
    }
    assert_eq!(simulation.time(), 1000.0);
    assert_eq!(k, 10_001);
}

/// Semantics 3.2: offset 0 fires at t = 0; an offset fires first at its time.
#[test]
fn s3_2_offsets_say_when_a_rate_first_fires() {
    let recording = run(r#"Diagram(run: (stop: "30 ms", step: "1 ms"), blocks: {
        "c": Clock(),
        "a": ZeroOrderHold(every: "10 ms", in: { "u": "c.y" }),
        "b": ZeroOrderHold(every: (period: "10 ms", offset: "4 ms"), in: { "u": "c.y" }),
    }, log: ["a.y", "b.y"])"#);
    let times = |topic| numbers(&recording, topic).iter().map(|(t, _)| *t).collect::<Vec<_>>();
    assert_eq!(times("a.y"), [0.0, 0.01, 0.02, 0.03]);
    assert_eq!(times("b.y"), [0.004, 0.014, 0.024]);
}

/// Semantics 3.3, 3.4: what is not due holds; a row satisfies y[k] = g(x[k], u[k]).
#[test]
fn s3_3_outputs_that_are_not_due_hold() {
    let recording = run(r#"Diagram(run: (stop: "20 ms", step: "1 ms"), blocks: {
        "c": Clock(),
        "held": ZeroOrderHold(every: "10 ms", in: { "u": "c.y" }),
        "seen": Sum(signs: "+-", in: { "u1": "c.y", "u2": "held.y" }),
    }, log: ["seen.y"])"#);
    for (t, age) in numbers(&recording, "seen.y") {
        let held_since = ((t + 1e-9) / 0.01).floor() * 0.01;
        assert!((age - (t - held_since)).abs() < 1e-15, "t = {t}: age {age}");
    }
}

/// Semantics 3.4: the log shows the state before its update: row k of a delay is row k − 1 of its
/// input.
#[test]
fn s3_4_rows_show_the_state_before_the_update() {
    let recording = run(r#"Diagram(run: (stop: "5 ms", step: "1 ms"), blocks: {
        "c": Clock(),
        "d": UnitDelay(every: "1 ms", initial: -1.0, in: { "u": "c.y" }),
    }, log: ["c.y", "d.y"])"#);
    let (u, y) = (numbers(&recording, "c.y"), numbers(&recording, "d.y"));
    assert_eq!(y[0].1, -1.0);
    for k in 1..u.len() {
        assert_eq!(y[k].1, u[k - 1].1);
    }
}

/// Semantics 3.5: updates commit together: two delays in a ring swap their values for ever.
#[test]
fn s3_5_updates_commit_together() {
    let recording = run(r#"Diagram(run: (stop: "6 ms", step: "1 ms"), blocks: {
        "a": UnitDelay(every: "1 ms", initial: 1.0, in: { "u": "b.y" }),
        "b": UnitDelay(every: "1 ms", initial: 2.0, in: { "u": "a.y" }),
    }, log: ["a.y", "b.y"])"#);
    for (k, (a, b)) in numbers(&recording, "a.y").iter().zip(numbers(&recording, "b.y")).enumerate()
    {
        let expected = if k % 2 == 0 { (1.0, 2.0) } else { (2.0, 1.0) };
        assert_eq!((a.1, b.1), expected, "row {k}");
    }
}

/// Semantics 3.6: discrete code never runs in a minor step; continuous outputs do, three times per
/// RK4 step.
#[test]
fn s3_6_minor_steps_run_continuous_outputs_only() {
    run(r#"Diagram(run: (stop: "10 ms", step: "1 ms", solver: Rk4), blocks: {
        "c": Clock(),
        "p": Probe(id: 0, in: { "u": "c.y" }),
        "q": Probe(id: 1, every: "2 ms", in: { "u": "c.y" }),
        "i": Integrator(initial: 0.0, in: { "u": "p.y" }),
    }, log: [])"#);
    assert_eq!(calls(0), [11, 30, 10], "continuous: 11 major, 3 × 10 minor, 10 updates");
    assert_eq!(calls(1), [6, 0, 5], "every 2 ms: 6 hits, no minor step, 5 updates");
}

/// Semantics 3.7: under fixed step a guard is tested once per major step; its resets come with
/// microsteps.
#[test]
fn s3_7_guards_reset_in_microsteps_at_major_steps() {
    let text = r#"Diagram(run: (stop: "10 ms", step: "1 ms"), blocks: {
        "on": Step(time: "4 ms", before: -1.0, after: 1.0),
        "f": Flip(clears: 3.0, in: { "u": "on.y" }),
    }, log: ["f.resets"])"#;
    let recording = run(text);
    for (i, (t, resets)) in numbers(&recording, "f.resets").into_iter().enumerate() {
        assert_eq!(resets, if t < 0.004 { 0.0 } else { 3.0 }, "t = {t}");
        let microstep = recording.series("f.resets").unwrap().stamp(i).microstep;
        assert_eq!(microstep, if t == 0.004 { 3 } else { 0 }, "t = {t}");
    }
}

/// Semantics 3.7: guards that fire for ever are a fault that names them.
#[test]
fn s3_7_zeno_is_a_fault_that_names_the_guards() {
    let mut simulation = Simulation::new(program(
        r#"Diagram(run: (stop: "10 ms", step: "1 ms"), blocks: {
            "on": Step(time: "4 ms", before: -1.0, after: 1.0),
            "f": Flip(in: { "u": "on.y" }),
        }, log: [])"#,
    ));
    let fault = simulation.run().unwrap_err();
    assert_eq!(fault.t, 0.004);
    assert!(fault.fault.message.contains("64 times") && fault.fault.message.ends_with(": f"));
    assert!(fault.hints[0].contains("`rest`") && fault.hints[1].contains("`Stop`"), "{fault}");
}

/// Semantics 3.8: the last step has outputs and a row, no update.
#[test]
fn s3_8_the_last_step_observes_and_does_not_update() {
    let recording = run(r#"Diagram(run: (stop: "3 ms", step: "1 ms"), blocks: {
        "c": Clock(), "p": Probe(id: 2, every: "1 ms", in: { "u": "c.y" }),
    }, log: ["p.y"])"#);
    assert_eq!(calls(2), [4, 0, 3]);
    assert_eq!(numbers(&recording, "p.y").last(), Some(&(0.003, 0.003)));
}

/// Semantics 3.9: two holds in series are one hold; a delay is one period late.
#[test]
fn s3_9_a_hold_is_an_output_a_delay_is_a_state() {
    let recording = run(r#"Diagram(run: (stop: "500 ms", step: "10 ms"), blocks: {
        "r": Ramp(slope: 1.0),
        "a": ZeroOrderHold(every: "100 ms", in: { "u": "r.y" }),
        "b": ZeroOrderHold(every: "100 ms", in: { "u": "a.y" }),
        "d": UnitDelay(every: "100 ms", initial: 0.0, in: { "u": "a.y" }),
    }, log: ["a.y", "b.y", "d.y"])"#);
    let values = |topic| {
        numbers(&recording, topic)
            .iter()
            .map(|(_, y)| (y * 10.0).round() / 10.0)
            .collect::<Vec<_>>()
    };
    assert_eq!(values("a.y"), [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]);
    assert_eq!(values("b.y"), values("a.y"));
    assert_eq!(values("d.y"), [0.0, 0.0, 0.1, 0.2, 0.3, 0.4]);
}

/// Semantics 5.1: feedthrough is per (input, output group), after masks are flattened: a loop
/// through a subsystem whose other path delays is no loop.
#[test]
fn s5_1_no_false_loops_through_a_subsystem() {
    let compiled = compile_text(
        r#"Diagram(run: (stop: "10 ms", step: "1 ms"), blocks: {
            "both": Subsystem(
                ports: (in: { "u": "Real", "v": "Real" }, out: { "direct": "Real", "late": "Real" }),
                blocks: {
                    "g": Gain(gain: 2.0, in: { "u": "^u" }),
                    "d": UnitDelay(every: "1 ms", initial: 0.0, in: { "u": "^v" }),
                },
                out: { "direct": "g.y", "late": "d.y" },
                in: { "u": "both.late", "v": "both.direct" },
            ),
        })"#,
    );
    let text = legwork_diagram::render::to_text(&compiled.diagnostics, &compiled.sources);
    assert!(compiled.program.is_some(), "{text}");
}

/// Semantics 5.2: a cycle is printed port by port, says why it feeds through, and how to break it.
#[test]
fn s5_2_a_feedthrough_cycle_is_an_error_that_shows_the_way_out() {
    let found = mistakes(
        r#"Diagram(run: (stop: "10 ms", step: "1 ms"), blocks: {
            "sum": Sum(signs: "+-", in: { "u1": "one.y", "u2": "gain.y" }),
            "gain": Gain(gain: 2.0, in: { "u": "sum.y" }),
            "one": Constant(value: 1.0),
        })"#,
    );
    assert_eq!(found.len(), 1, "{found:?}");
    let (code, message) = &found[0];
    assert_eq!(*code, "algebraic-loop");
    for part in ["gain.y ► sum.u2", "sum.y ► gain.u", "at once", "UnitDelay", "Solve"] {
        assert!(message.contains(part), "no `{part}` in: {message}");
    }
}

/// Semantics 6.3: a memo carries what `output` found to the `update` of the same step, and is empty
/// when the next begins.
#[test]
fn s6_3_a_memo_lives_from_output_to_update_of_one_step() {
    let recording = run(r#"Diagram(run: (stop: "4 ms", step: "1 ms"), blocks: {
        "c": Constant(value: 2.0),
        "m": MemoEcho(every: "1 ms", in: { "u": "c.y" }),
    }, log: ["m.sum", "m.stale"])"#);
    let values = |topic| numbers(&recording, topic).iter().map(|(_, y)| *y).collect::<Vec<_>>();
    assert_eq!(values("m.sum"), [0.0, 2.0, 4.0, 6.0, 8.0]);
    assert_eq!(values("m.stale"), [0.0; 5]);
}

/// Semantics 2.4, 3.3, 6.1: what a block hands on from its input is an output of its own: it holds
/// between the hits of its block, and while its part is off.
#[test]
fn s3_3_a_leaf_that_is_handed_on_holds_with_its_block() {
    let text = r#"Diagram(
        run: (stop: "0.5 s", step: "10 ms"),
        robots: { "rod": Urdf(path: "std:robots/pendulum/pendulum.urdf", base: Fixed) },
        blocks: {
            "free": Constant(value: "=zeros(rod.n)"),
            "accel": ForwardDynamics(robot: "rod", in: { "state": "body.state", "tau": "free.y" }),
            "body": FloatingBase(robot: "rod", init: (s: ["1 rad"]), in: { "nu_dot": "accel.nu_dot" }),
            "slow": RobotDynamics(robot: "rod", every: "100 ms", in: { "state": "body.state" }),
            "nu": Gain(gain: 1.0, in: { "u": "slow.bus.nu[0]" }),
            "clock": Clock(),
            "early": Compare(op: "<", to: 0.205, in: { "u": "clock.y" }),
            "part": Enabled(
                by: "early.y",
                ports: (in: { "state": "State(rod)" }, out: { "nu": "Vector(1)" }),
                blocks: { "dyn": RobotDynamics(robot: "rod", in: { "state": "^state" }) },
                out: { "nu": "dyn.bus.nu" },
                in: { "state": "body.state" },
            ),
        },
        log: ["body.state.nu", "slow.bus.nu", "nu.y", "part.nu"],
    )"#;
    let recording = run(text);
    let of = |topic: &str| numbers(&recording, topic).iter().map(|row| row.1).collect::<Vec<_>>();
    let [live, slow, gained, part] = ["body.state.nu", "slow.bus.nu", "nu.y", "part.nu"].map(of);
    for (k, live_now) in live.iter().enumerate() {
        assert_eq!(part[k], if k <= 20 { *live_now } else { live[20] }, "part, step {k}");
    }
    assert!(live[10] != live[20] && live[20] != live[30]);
    for (k, held) in slow.iter().enumerate() {
        assert_eq!(*held, live[10 * k], "hit {k}");
        assert_eq!(gained[k], *held);
    }
}
