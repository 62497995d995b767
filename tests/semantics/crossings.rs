//! Semantics 3.6, 3.7: a block whose law has kinks or jumps has a variable step cut at them, stays
//! on one smooth piece in between, and leaves fixed steps alone.

use std::sync::Arc;

use legwork_block::{
    Block, Fault, In, Inputs, Invalid, Out, Outcome, OutputCx, Outputs, Ports, Pure, Real,
    Registry, Sizes,
};
use legwork_runtime::recording::{Phase as RowPhase, Recording};
use legwork_runtime::{Cursor, Phase, Simulation};
use schemars::JsonSchema;
use serde::Deserialize;

use super::harness::{numbers, program, run};

pub(crate) fn register(registry: &mut Registry) {
    registry.block::<Gap>("Gap(at: 0)");
    registry.block::<Within>("Within(bound: 1)");
}

/// Passes its input on, and has no output within 10⁻⁶ of a number.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Gap {
    at: f64,
}

impl Block for Gap {
    const KIND: &'static str = "Gap";
    type Plan = (In<Real>, Out<Real>);
    type State = ();
    type Memo = ();
    type Scratch = ();

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        Ok((ports.input("u", &Real), ports.output("y", &Real)))
    }
    fn state(&self, _: &Self::Plan, _: &Sizes<'_>) {}
    fn scratch(&self, _: &Self::Plan, _: &Sizes<'_>) {}
    fn output(&self, &(u, y): &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let u = cx.inputs.get(u);
        if (u - self.at).abs() < 1e-6 {
            return Err(Box::new(Fault { message: "in the gap".into() }));
        }
        cx.outputs.set(y, u);
        Ok(())
    }
}

/// Copies its input, and has no output if the input is larger than a bound.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Within {
    bound: f64,
}

impl Pure for Within {
    const KIND: &'static str = "Within";
    type Plan = (In<Real>, Out<Real>);

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        Ok((ports.input("u", &Real), ports.output("y", &Real)))
    }
    fn output(&self, &(u, y): &Self::Plan, i: &Inputs<'_>, out: &mut Outputs<'_>) -> Outcome {
        let u = i.get(u);
        if u.abs() > self.bound {
            return Err(Box::new(Fault { message: "out of bounds".into() }));
        }
        out.set(y, u);
        Ok(())
    }
}

/// Sources for the cases: `t` is time, `s` is t − 0.7.
const SOURCES: &str = r#"
    "t": Clock(),
    "s": Fcn(expression: "u - 0.7", in: { "u": "t.y" }),
    "one": Constant(value: 1.0),
"#;

/// Runs `blocks`, of which "f" is looked at, for 3 s, and integrates its output into "x".
fn integrated(solver: &str, blocks: &str) -> Recording {
    run(&format!(
        r#"Diagram(run: (stop: "3 s", step: "1 s", solver: {solver}), blocks: {{
            {SOURCES} {blocks}
            "x": Integrator(in: {{ "u": "f.y" }}),
        }}, log: ["x.y"])"#
    ))
}

/// The times of a topic's rows that are not at whole seconds.
fn cuts(recording: &Recording, topic: &str) -> Vec<f64> {
    let series = recording.series(topic).unwrap();
    let times = (0..series.len()).map(|row| series.stamp(row).t);
    times.filter(|t| (t - t.round()).abs() > 1e-9).collect()
}

fn assert_cuts(name: &str, found: &[f64], expected: &[f64]) {
    let close = |a: &f64, b: &f64| (a - b).abs() < 1e-12;
    for t in found {
        assert!(
            expected.iter().any(|e| close(t, e)),
            "{name}: cut at {t}, not one of {expected:?}"
        );
    }
    for e in expected {
        assert!(found.iter().any(|t| close(t, e)), "{name}: no cut at {e}: {found:?}");
    }
}

/// A kind of block, the other blocks it needs, where its law changes, and the integral of its
/// output over 3 s. Every output is a polynomial between the changes, of a degree that
/// Dormand-Prince integrates exactly: what is off is a step across a change.
const CASES: &[(&str, &str, &[f64], f64)] = &[
    ("Abs", r#""f": Abs(in: { "u": "s.y" }),"#, &[0.7], 2.89),
    ("Sign", r#""f": Sign(in: { "u": "s.y" }),"#, &[0.7], 1.6),
    (
        "Saturation",
        r#""f": Saturation(lower: -0.3, upper: 1.1, in: { "u": "s.y" }),"#,
        &[0.4, 1.8],
        1.76,
    ),
    (
        "DeadZone",
        r#""f": DeadZone(lower: -0.3, upper: 1.1, in: { "u": "s.y" }),"#,
        &[0.4, 1.8],
        0.64,
    ),
    (
        "Compare",
        r#""late": Compare(op: ">", to: 0.7, in: { "u": "t.y" }),
           "f": Switch(criterion: True, in: { "control": "late.y", "u1": "one.y", "u2": "t.y" }),"#,
        &[0.7],
        2.545,
    ),
    (
        "Compare of two",
        r#""back": Fcn(expression: "2.2 - u", in: { "u": "t.y" }),
           "late": Compare(op: "<=", in: { "u1": "back.y", "u2": "t.y" }),
           "f": Switch(criterion: True, in: { "control": "late.y", "u1": "one.y", "u2": "t.y" }),"#,
        &[1.1],
        2.505,
    ),
    (
        "Switch",
        r#""f": Switch(criterion: AtLeast(0.7),
                         in: { "control": "t.y", "u1": "one.y", "u2": "t.y" }),"#,
        &[0.7],
        2.545,
    ),
    (
        "MinMax",
        r#""back": Fcn(expression: "2.2 - u", in: { "u": "t.y" }),
           "f": MinMax(function: Min, count: 2, in: { "u1": "t.y", "u2": "back.y" }),"#,
        &[1.1],
        0.89,
    ),
    ("Backlash", r#""f": Backlash(width: 0.4, in: { "u": "t.y" }),"#, &[0.2], 3.92),
    (
        "RateLimiter",
        r#""high": Constant(value: 0.8),
           "f": RateLimiter(rising: 0.5, initial: 0, in: { "u": "high.y" }),"#,
        &[1.6],
        1.76,
    ),
    ("Relay", r#""f": Relay(on: 0.7, in: { "u": "t.y" }),"#, &[0.7], 2.3),
    ("Step", r#""f": Step(time: "0.7 s"),"#, &[0.7], 2.3),
    ("Ramp", r#""f": Ramp(start: "0.7 s"),"#, &[0.7], 2.645),
    (
        "SignalBuilder, stairs",
        r#""f": SignalBuilder(times: ["0.3 s", 0.9, 2.1], values: [1, -2, 4], interpolation: Below),"#,
        &[0.3, 0.9, 2.1],
        // The last value holds from its time on, and the first before its own.
        0.9 - 2.4 + 3.6,
    ),
    (
        "SignalBuilder, lines",
        r#""f": SignalBuilder(times: ["0.3 s", 0.9, 2.1], values: [1, -2, 4]),"#,
        &[0.3, 0.9, 2.1],
        4.8,
    ),
    (
        "SignalBuilder, again and again",
        r#""f": SignalBuilder(times: ["0 s", 0.25, 0.7], values: [1, 3, 0], interpolation: Below,
                              after: Repeat),"#,
        // Turns of 0.7 s, the fifth cut at 0.2 s.
        &[0.25, 0.7, 0.95, 1.4, 1.65, 2.1, 2.35, 2.8],
        4.0 * (0.25 + 3.0 * 0.45) + 0.2,
    ),
];

#[test]
fn s3_7_kinks_and_jumps_are_located_and_no_step_spans_one() {
    for (name, blocks, expected, integral) in CASES {
        let recording = integrated("DormandPrince", blocks);
        assert_cuts(name, &cuts(&recording, "x.y"), expected);
        let x = numbers(&recording, "x.y").last().unwrap().1;
        assert!((x - integral).abs() < 1e-12, "{name}: {x}, not {integral}");
    }
}

/// The implicit methods extrapolate and iterate over stages; they too see one piece at a time.
#[test]
fn s3_7_the_stiff_solvers_locate_them_too() {
    for (name, blocks, expected, integral) in CASES {
        let recording = integrated("Esdirk(rtol: 1e-10, atol: 1e-12)", blocks);
        assert_cuts(name, &cuts(&recording, "x.y"), expected);
        let x = numbers(&recording, "x.y").last().unwrap().1;
        assert!((x - integral).abs() < 1e-9, "{name}: {x}, not {integral}");
    }
}

#[test]
fn s3_7_fixed_steps_take_no_notice_of_them() {
    for (name, blocks, ..) in CASES {
        let recording = integrated("Rk4", blocks);
        let rows: Vec<f64> = numbers(&recording, "x.y").iter().map(|(t, _)| *t).collect();
        assert_eq!(rows, [0.0, 1.0, 2.0, 3.0], "{name}");
    }
}

/// What is sampled does not move inside a step: there is nothing to locate.
#[test]
fn s3_7_sampled_blocks_cut_no_step() {
    let recording = integrated(
        "DormandPrince",
        r#""held": ZeroOrderHold(every: "0.5 s", in: { "u": "s.y" }),
           "f": Abs(in: { "u": "held.y" }),
           "g": Sign(every: "0.5 s", in: { "u": "s.y" }),"#,
    );
    assert!(cuts(&recording, "x.y").iter().all(|t| ((2.0 * t).round() - 2.0 * t).abs() < 1e-9));
}

/// The second crossing follows so soon that it falls into the first step after the first one.
#[test]
fn s3_7_elements_that_cross_one_just_after_the_other_are_both_seen() {
    for gap in [1e-4, 1e-9, 1e-14] {
        let recording = run(&format!(
            r#"Diagram(run: (stop: "3 s", step: "3 s", solver: DormandPrince), blocks: {{
                "u": Ramp(slope: [1, 1], initial: [-0.7, "=-0.7 - {gap:e}"]),
                "f": Abs(in: {{ "u": "u.y" }}),
                "x": Integrator(initial: "=zeros(2)", in: {{ "u": "f.y" }}),
            }}, log: ["x.y"])"#
        ));
        let series = recording.series("x.y").unwrap();
        let x = &series.row(series.len() - 1).values;
        let integral = |zero: f64| 0.5 * (zero * zero + (3.0 - zero) * (3.0 - zero));
        assert!((x[0] - integral(0.7)).abs() < 1e-12, "{gap:e}: {x:?}");
        assert!((x[1] - integral(0.7 + gap)).abs() < 1e-12, "{gap:e}: {x:?}");
    }
}

#[test]
fn s3_7_an_input_that_starts_on_an_edge_is_on_neither_side() {
    for (block, integral) in [("Abs", 4.5), ("Sign", 3.0)] {
        let blocks = format!(r#""f": {block}(in: {{ "u": "t.y" }}),"#);
        let x = numbers(&integrated("DormandPrince", &blocks), "x.y").last().unwrap().1;
        assert!((x - integral).abs() < 1e-12, "{block}: {x}");
    }
    let blocks =
        r#""back": Gain(gain: -1.0, in: { "u": "t.y" }), "f": Abs(in: { "u": "back.y" }),"#;
    let x = numbers(&integrated("DormandPrince", blocks), "x.y").last().unwrap().1;
    assert!((x - 4.5).abs() < 1e-12, "{x}");
}

/// A signal that stays on an edge, up to rounding, does not cross it again and again.
#[test]
fn s3_7_a_signal_along_an_edge_crosses_it_not() {
    for blocks in [
        // Its slope is the limit's.
        r#""up": Ramp(slope: 0.3), "f": RateLimiter(rising: 0.3, in: { "u": "up.y" }),"#,
        // A sum that is its other summand but for rounding.
        r#""a": Sine(bias: 3), "b": Fcn(expression: "u + 0.1 - 0.1", in: { "u": "a.y" }),
           "f": MinMax(function: Max, count: 2, in: { "u1": "a.y", "u2": "b.y" }),"#,
    ] {
        let recording = integrated("DormandPrince", blocks);
        assert_eq!(cuts(&recording, "x.y"), [0.0_f64; 0], "{blocks}");
    }
}

/// A crossing is shown in the row at which it happens, if its direction is asked for.
#[test]
fn s3_7_a_hit_crossing_is_true_where_the_value_is_passed() {
    for (direction, expected) in [("Rising", vec![1.75]), ("Falling", vec![0.75, 2.75])] {
        // sin(π t + π/4) is zero at 0.75 s, 1.75 s and 2.75 s.
        let recording = run(&format!(
            r#"Diagram(run: (stop: "3 s", step: "1 s", solver: DormandPrince), blocks: {{
                "u": Sine(frequency: "0.5 Hz", phase: "=pi/4 * 1[rad]"),
                "hit": HitCrossing(direction: {direction}, in: {{ "u": "u.y" }}),
                "x": Integrator(in: {{ "u": "u.y" }}),
            }}, log: ["hit.y"])"#
        ));
        let hits: Vec<f64> = numbers(&recording, "hit.y")
            .into_iter()
            .filter_map(|(t, y)| (y != 0.0).then_some(t))
            .collect();
        assert_eq!(hits.len(), expected.len(), "{direction}: {hits:?}");
        for (t, e) in hits.iter().zip(expected) {
            assert!((t - e).abs() < 1e-12, "{direction}: {t}, not {e}");
        }
    }
}

/// The zeros of a state, not of time: they are as good as the solver's dense output.
#[test]
fn s3_7_kinks_of_an_oscillator_are_where_its_zeros_are() {
    let recording = run(r#"Diagram(
        run: (stop: "7 s", step: "1 s", solver: DormandPrince(rtol: 1e-12, atol: 1e-13)), blocks: {
            "back": Gain(gain: -1.0, in: { "u": "x.y" }),
            "v": Integrator(initial: 1.0, in: { "u": "back.y" }),
            "x": Integrator(initial: 0.0, in: { "u": "v.y" }),
            "size": Abs(in: { "u": "x.y" }),
            "area": Integrator(in: { "u": "size.y" }),
        }, log: ["area.y"])"#);
    let pi = std::f64::consts::PI;
    for n in [1.0, 2.0] {
        let (t, area) = numbers(&recording, "area.y")
            .into_iter()
            .min_by(|a, b| (a.0 - n * pi).abs().total_cmp(&(b.0 - n * pi).abs()))
            .unwrap();
        assert!((t - n * pi).abs() < 1e-11, "zero {n} at {t}");
        assert!((area - 2.0 * n).abs() < 1e-11, "area {area} after {n} half turns");
    }
}

/// Dry friction by `Sign` holds a pushed mass at the speed zero, which is no solution: with either
/// sign the speed changes it, and with none it grows. Time does not advance.
#[test]
fn s3_7_sliding_along_a_jump_is_a_fault_that_names_the_block() {
    let mut simulation = Simulation::new(program(
        r#"Diagram(run: (stop: "3 s", step: "1 s", solver: DormandPrince), blocks: {
            "friction": Sign(in: { "u": "v.y" }),
            "force": Fcn(expression: "0.1 - 3*u", in: { "u": "friction.y" }),
            "v": Integrator(initial: 0.7, in: { "u": "force.y" }),
        }, log: ["v.y"])"#,
    ));
    let fault = simulation.run().unwrap_err();
    assert_eq!((fault.phase, fault.block.as_str()), (Phase::Guard, "friction"), "{fault}");
    assert!((fault.t - 0.7 / 2.9).abs() < 1e-12, "{fault}");
}

/// ẋ = 1.1 − t between −0.8 and 0.3: up to the upper limit, along it until the rate turns, then
/// down to the lower one.
#[test]
fn s3_7_a_limited_integrator_stays_at_its_limits_while_the_rate_points_outwards() {
    let diagram = |solver: &str, step: &str| {
        run(&format!(
            r#"Diagram(run: (stop: "3 s", step: "{step}", solver: {solver}), blocks: {{
                "t": Clock(), "u": Fcn(expression: "1.1 - u", in: {{ "u": "t.y" }}),
                "x": Integrator(lower: -0.8, upper: 0.3, in: {{ "u": "u.y" }}),
            }}, log: ["x.y"])"#
        ))
    };
    let (up, down) = (1.1 - 0.61_f64.sqrt(), 1.1 + 2.2_f64.sqrt());
    let law = |t: f64| {
        if t < up {
            1.1 * t - 0.5 * t * t
        } else if t < 1.1 {
            0.3
        } else {
            (0.3 - 0.5 * (t - 1.1) * (t - 1.1)).max(-0.8)
        }
    };
    for (solver, bound) in [("DormandPrince", 1e-12), ("Esdirk(rtol: 1e-10, atol: 1e-12)", 1e-9)] {
        let recording = diagram(solver, "1 s");
        assert_cuts(solver, &cuts(&recording, "x.y"), &[up, 1.1, down]);
        for (t, x) in numbers(&recording, "x.y") {
            assert!((x - law(t)).abs() < bound, "{solver}: {x} at {t}");
        }
    }
    // A fixed step notices late, by a step at most, but no row is beyond a limit.
    for solver in ["Euler", "Rk4", "ImplicitEuler"] {
        for (t, x) in numbers(&diagram(solver, "1 ms"), "x.y") {
            assert!((-0.8..=0.3).contains(&x), "{solver}: {x} at {t}");
            assert!((x - law(t)).abs() < 2e-3, "{solver}: {x} at {t}, not {}", law(t));
        }
    }
}

/// The bouncing ball as one block. It comes to rest, after all impacts of the closed form.
#[test]
fn s3_7_a_ball_bounces_on_the_limit_of_one_block_and_comes_to_rest() {
    let ball = |solver: &str| {
        run(&format!(
            r#"Diagram(run: (stop: "14 s", step: "1 s", solver: {solver}), blocks: {{
                "g": Constant(value: -9.81),
                "ball": SecondOrderIntegrator(position: 10.0, lower: 0.0, restitution: 0.8,
                                              in: {{ "u": "g.y" }}),
            }}, log: ["ball.position", "ball.velocity"])"#
        ))
    };
    let recording = ball("DormandPrince");
    let speed = recording.series("ball.velocity").unwrap();
    let impacts: Vec<f64> = (0..speed.len())
        .map(|row| speed.stamp(row))
        .filter(|stamp| stamp.phase == RowPhase::Event)
        .map(|stamp| stamp.t)
        .collect();
    let fall = (2.0_f64 * 10.0 / 9.81).sqrt();
    let mut expected = fall;
    for (n, t) in impacts.iter().enumerate() {
        assert!((t - expected).abs() < 1e-10, "impact {n} at {t}, not {expected}");
        expected += 2.0 * fall * 0.8_f64.powi(n as i32 + 1);
    }
    // 14 m/s · 0.8ⁿ is below 1e-6 m/s for n ≥ 74.
    assert_eq!(impacts.len(), 74);
    let (x, v) = (numbers(&recording, "ball.position"), numbers(&recording, "ball.velocity"));
    assert_eq!((x.last().unwrap().1, v.last().unwrap().1), (0.0, 0.0));
    // Under fixed steps it does not sink in and comes to rest too.
    let recording = ball("SemiImplicitEuler").series("ball.position").map(|s| s.len());
    assert_eq!(recording.unwrap(), 15);
}

/// A mass on a table that is pulled up after a while: it leaves the table when the pull outweighs
/// it.
#[test]
fn s3_7_a_mass_leaves_its_limit_when_the_acceleration_points_inwards() {
    let recording =
        run(r#"Diagram(run: (stop: "3 s", step: "1 s", solver: DormandPrince), blocks: {
            "t": Clock(), "a": Fcn(expression: "u - 1.3", in: { "u": "t.y" }),
            "m": SecondOrderIntegrator(lower: 0.0, in: { "u": "a.y" }),
        }, log: ["m.position"])"#);
    assert_cuts("lifting", &cuts(&recording, "m.position"), &[1.3]);
    let x = numbers(&recording, "m.position").last().unwrap().1;
    assert!((x - 1.7_f64.powi(3) / 6.0).abs() < 1e-12, "{x}");
}

/// Semantics 3.7: a fault while an event is being located is the fault of the step. Gone back to
/// its beginning, the same simulation meets it again.
#[test]
fn s3_7_a_fault_on_the_way_to_an_event_repeats() {
    let program = program(
        r#"Diagram(run: (stop: "3 s", step: "1 s", solver: DormandPrince), blocks: {
            "t": Clock(), "s": Fcn(expression: "u - 0.7", in: { "u": "t.y" }),
            "f": Abs(in: { "u": "s.y" }), "gap": Gap(at: 0.7, in: { "u": "t.y" }),
            "x": Integrator(in: { "u": "f.y" }), "y": Integrator(in: { "u": "gap.y" }),
        }, log: [])"#,
    );
    let mut simulation = Simulation::new(program);
    let begin = simulation.snapshot();
    let fault = simulation.run().unwrap_err();
    assert_eq!((fault.block.as_str(), fault.t), ("gap", 0.0));
    simulation.restore(&begin).unwrap();
    assert_eq!(simulation.run().unwrap_err(), fault);
}

/// Semantics 7.1: the pieces are part of a snapshot. Restored at any step, a run goes on bit for
/// bit.
#[test]
fn s7_1_snapshots_hold_the_pieces() {
    let program = program(
        r#"Diagram(run: (stop: "5 s", step: "1 s", solver: DormandPrince), blocks: {
            "t": Sine(frequency: "0.37 Hz", amplitude: 2),
            "stairs": SignalBuilder(times: [0, 0.3, 0.7], values: [1, 3, 0], interpolation: Below,
                                    after: Repeat),
            "a": Abs(in: { "u": "t.y" }), "b": Sign(in: { "u": "t.y" }),
            "c": Saturation(lower: -1, upper: 0.7, in: { "u": "t.y" }),
            "d": DeadZone(lower: -1, upper: 0.7, in: { "u": "t.y" }),
            "e": Backlash(width: 0.4, in: { "u": "t.y" }),
            "f": RateLimiter(rising: 2, in: { "u": "t.y" }),
            "g": MinMax(function: Max, count: 2, in: { "u1": "t.y", "u2": "stairs.y" }),
            "sum": Sum(signs: "+++++++", in: { "u1": "a.y", "u2": "b.y", "u3": "c.y", "u4": "d.y",
                                               "u5": "e.y", "u6": "f.y", "u7": "g.y" }),
            "x": Integrator(lower: -0.2, upper: 0.3, in: { "u": "t.y" }),
            "y": Integrator(in: { "u": "sum.y" }),
            "m": SecondOrderIntegrator(position: 1, lower: 0, restitution: 0.5, in: { "u": "t.y" }),
        }, log: [])"#,
    );
    let mut whole = Simulation::new(Arc::clone(&program));
    let mut snapshots = Vec::new();
    while whole.cursor() != Cursor::Done {
        snapshots.push(whole.snapshot());
        whole.step().unwrap();
    }
    assert!(snapshots.len() > 40, "{} steps", snapshots.len());
    for snapshot in &snapshots {
        let mut rest = Simulation::new(Arc::clone(&program));
        rest.restore(snapshot).unwrap();
        rest.run().unwrap();
        assert_eq!(rest.state(), whole.state(), "restored at tick {}", rest.tick());
        assert_eq!(rest.step_count(), whole.step_count());
    }
}

/// Semantics 3.6: if a block refuses a trial state, the step becomes shorter. If it refuses a state
/// of the solution itself, the run fails at that place.
#[test]
fn s3_6_a_block_that_refuses_a_trial_shortens_the_step() {
    for solver in ["DormandPrince", "Esdirk", "Bdf"] {
        for (speed, bound) in [(1e4, 1.0), (1e6, 0.6), (1e8, 1.0), (1e6, 100.0), (1e3, 0.51)] {
            let text = |goal: f64| {
                format!(
                    r#"Diagram(run: (stop: "1 s", step: "1 s", solver: {solver}), blocks: {{
                        "s": Step(time: 0.5, before: 0.0, after: 1.0),
                        "w": Within(bound: {bound:?}, in: {{ "u": "x.y" }}),
                        "f": Fcn(expression: "1 - u2 - {speed:?}*u2*(u1 - {goal:?})",
                                 in: {{ "u1": "w.y", "u2": "s.y" }}),
                        "x": Integrator(in: {{ "u": "f.y" }}),
                    }}, log: ["x.y"])"#
                )
            };
            // At speed 1 up to 0.5, then at once to 0.2; an explicit method takes 1e8/3 steps.
            if speed < 1e6 || solver != "DormandPrince" {
                let x = numbers(&run(&text(0.2)), "x.y").last().unwrap().1;
                assert!((x - 0.2).abs() < 1e-5, "{solver}, {speed}, {bound}: {x}");
            }
            let fault = Simulation::new(program(&text(2.0 * bound))).run().unwrap_err();
            assert_eq!(
                (fault.block.as_str(), fault.fault.message.as_str()),
                ("w", "out of bounds")
            );
            assert!(fault.hints[0].contains("shortened its step to"), "{:?}", fault.hints);
        }
    }
}
