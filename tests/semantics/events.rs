//! Semantics 3.1, 3.6, 3.7 under variable step: where events are, and what happens there.

use std::sync::Arc;

use legwork_runtime::recording::Phase as RowPhase;
use legwork_runtime::{Phase, Simulation};

use super::harness::{numbers, program, run};

/// A ball that falls from 10 m and keeps 0.8 of its speed at each impact.
pub(crate) fn ball(solver: &str, stop: &str) -> String {
    format!(
        r#"Diagram(run: (stop: "{stop}", step: "100 ms", solver: {solver}), blocks: {{
            "g": Constant(value: -9.81),
            "back": Gain(gain: -0.8, in: {{ "u": "v.y" }}),
            "v": Integrator(initial: 0.0, reset: Falling,
                            in: {{ "u": "g.y", "reset": "x.y", "x0": "back.y" }}),
            "x": Integrator(initial: 10.0, in: {{ "u": "v.y" }}),
        }}, log: ["x.y", "v.y"])"#
    )
}

/// Impact n of the ball, from 0 on: the first after √(2h/g), each flight 0.8 times as long as the
/// one before.
fn impact_time(n: u32) -> f64 {
    let fall = (2.0f64 * 10.0 / 9.81).sqrt();
    let flights: f64 = (1..=n).map(|k| 2.0 * fall * 0.8f64.powi(k as i32)).sum();
    fall + flights
}

#[test]
fn s3_7_impacts_of_a_bouncing_ball_are_where_the_closed_form_says() {
    // A multistep method begins at order 1 at each tick and each impact.
    for (solver, bound) in [
        ("DormandPrince", 1e-9),
        ("DormandPrince(rtol: 1e-3, atol: 1e-6)", 1e-9),
        ("Esdirk", 1e-9),
        ("Bdf(rtol: 1e-11, atol: 1e-12)", 1e-7),
    ] {
        let recording = run(&ball(solver, "12.75 s"));
        let speed = recording.series("v.y").unwrap();
        let impacts: Vec<f64> = (0..speed.len())
            .map(|row| speed.stamp(row))
            .filter(|stamp| stamp.phase == RowPhase::Event)
            .map(|stamp| stamp.t)
            .collect();
        assert!(impacts.len() >= 20, "{solver}: {} impacts", impacts.len());
        for (n, t) in impacts.iter().take(20).enumerate() {
            let expected = impact_time(n as u32);
            assert!((t - expected).abs() < bound, "{solver}: impact {n} at {t}, not {expected}");
        }
    }
}

#[test]
fn s3_7_impacts_that_come_ever_faster_are_a_fault_that_names_the_guard() {
    let mut simulation = Simulation::new(program(&ball("DormandPrince", "20 s")));
    let fault = simulation.run().unwrap_err();
    assert_eq!((fault.phase, fault.block.as_str()), (Phase::Guard, "v"));
    assert!(fault.fault.message.contains("Zeno"), "{fault}");
    let end = (2.0f64 * 10.0 / 9.81).sqrt() * (1.0 + 2.0 * 0.8 / 0.2);
    assert!((fault.t - end).abs() < 1e-6, "at {} instead of {end}", fault.t);
}

/// A room at 5 °C outside, time constant 10 s, that a heater would bring to 35 °C; it switches on
/// below 19 °C and off above 21 °C.
#[test]
fn s3_7_a_thermostat_switches_where_the_closed_form_says() {
    let recording = run(r#"Diagram(
        run: (stop: "60 s", step: "1 s", solver: DormandPrince(rtol: 1e-12, atol: 1e-13)),
        blocks: {
            "cold": Gain(gain: -1.0, in: { "u": "room.y" }),
            "heater": Relay(on: -19.0, off: -21.0, on_value: 3.0, in: { "u": "cold.y" }),
            "flow": Fcn(expression: "u2 + (5 - u1) / 10", in: { "u1": "room.y", "u2": "heater.y" }),
            "room": Integrator(initial: 20.0, in: { "u": "flow.y" }),
        }, log: ["heater.y", "room.y"])"#);
    let heat = numbers(&recording, "heater.y");
    let mut switches = Vec::new();
    for pair in heat.windows(2) {
        if pair[0].1 != pair[1].1 {
            switches.push(pair[1].0);
        }
    }
    // From T₀ towards T∞ the temperature T is reached after 10 ln((T₀ − T∞) / (T − T∞)).
    let after = |from: f64, limit: f64, to: f64| 10.0 * ((from - limit) / (to - limit)).ln();
    let mut expected = after(20.0, 5.0, 19.0);
    for (i, t) in switches.iter().enumerate() {
        assert!((t - expected).abs() < 1e-9, "switch {i} at {t}, not {expected}");
        expected += if i % 2 == 0 { after(19.0, 35.0, 21.0) } else { after(21.0, 5.0, 19.0) };
    }
    assert!(switches.len() > 20 && expected > 60.0, "{} switches", switches.len());
}

/// Semantics 3.1: between ticks time is the tick and a part of it; hits stay where they were.
#[test]
fn s3_1_events_lie_between_ticks_and_move_no_hit() {
    let program = program(
        r#"Diagram(run: (stop: "2 s", step: "500 ms", solver: DormandPrince), blocks: {
            "t": Clock(), "slow": ZeroOrderHold(every: "0.3 s", in: { "u": "t.y" }),
            "c": Fcn(expression: "0.7071 - u", in: { "u": "t.y" }),
            "x": Integrator(initial: 0.0, reset: Falling, in: { "u": "t.y", "reset": "c.y" }),
        }, log: ["slow.y"])"#,
    );
    assert_eq!(program.base.to_f64(), 0.1);
    let mut simulation = Simulation::new(Arc::clone(&program));
    let mut times = Vec::new();
    let mut events = 0;
    while simulation.cursor() != legwork_runtime::Cursor::Done {
        let moment = simulation.moment();
        if moment.is_tick() {
            times.push(moment.tick);
        } else {
            events += 1;
            assert_eq!(moment.tick, 7);
            assert!((moment.tau - 0.071).abs() < 1e-12, "{moment:?}");
        }
        simulation.step().unwrap();
    }
    assert_eq!(times, [0, 3, 5, 6, 9, 10, 12, 15, 18, 20]);
    assert_eq!(events, 1);
}

/// Semantics 3.7: under fixed steps a guard is tested once per major step.
#[test]
fn s3_7_fixed_steps_notice_a_reset_at_the_next_major_step() {
    let recording = run(&ball("Rk4", "3 s"));
    let speeds = numbers(&recording, "v.y");
    let first = speeds.windows(2).find(|pair| pair[1].1 > 0.0).unwrap();
    assert!((first[1].0 - 1.5).abs() < 1e-12, "the step after {}", impact_time(0));
}

/// Semantics 3.4: a row is that of the outputs after all resets, and tells what an impact at its
/// instant did. The impulses of all corners are m (ν⁺ − ν⁻); no other row has any.
#[test]
fn s3_4_the_row_of_an_impact_holds_its_impulses() {
    let text = include_str!("../data/run/impact_solver.ron");
    let logged = r#"log: ["impact.impulse", "impact.struck", "body.state"]"#;
    let recording = run(&text.replace(r#"log: ["contact.f", "impact.mode"]"#, logged));
    let rows = |topic: &str| -> Vec<Vec<f64>> {
        recording.rows(topic).unwrap().map(|row| row.values).collect()
    };
    let [impulses, struck, states] = ["impact.impulse", "impact.struck", "body.state"].map(rows);
    let impacts: Vec<usize> = (0..struck.len()).filter(|&k| struck[k][0] != 0.0).collect();
    assert_eq!(impacts.len(), 1, "{struck:?}");
    for (k, impulse) in impulses.iter().enumerate() {
        // 1 kg; the velocity follows the 7 numbers of the position.
        let speed = |k: usize| states[k][7 + 2];
        let gained = if k == impacts[0] { speed(k) - (speed(k - 1) - 9.81 * 1e-3) } else { 0.0 };
        let sum: f64 = impulse.iter().skip(2).step_by(3).sum();
        assert!((sum - gained).abs() < 1e-9, "row {k}: {sum} N s, not {gained}");
    }
    assert!(impulses[impacts[0]][2] > 0.1, "it lands at 1 m/s");
}
