//! Semantics 3.7: guards that cross and come back within one step, and many crossings in a row,
//! compared with their closed forms.

use legwork_runtime::recording::{Phase as RowPhase, Recording};

use super::harness::{numbers, run};

/// The one-step methods integrate a parabola without an error. The multistep method begins at order
/// 1 at each event, so it gets the tolerance that these depths need.
const SOLVERS: [&str; 3] = [
    "DormandPrince(rtol: 1e-6, atol: 1e-9)",
    "Esdirk(rtol: 1e-6, atol: 1e-9)",
    "Bdf(rtol: 1e-11, atol: 1e-12)",
];

/// Times of the rows in which a truth value is true.
fn trues(recording: &Recording, topic: &str) -> Vec<f64> {
    numbers(recording, topic).into_iter().filter(|(_, y)| *y != 0.0).map(|(t, _)| t).collect()
}

/// A mass under a constant acceleration a dips below its limit by `depth` at `bottom`, with
/// restitution 1: x = a (t − bottom)²/2 − depth.
#[test]
fn s3_7_a_limit_that_is_passed_and_left_within_a_step_is_met() {
    for (a, bottom, depth, step) in [
        (2.0_f64, 0.55_f64, 1e-4, "100 ms"),
        (2.0, 0.55, 1e-7, "100 ms"),
        (2.0, 0.501, 1e-5, "250 ms"),
        (2.0, 0.62, 3e-3, "1 s"),
        (9.81, 0.33, 1e-5, "100 ms"),
        (9.81, 0.47, 2e-8, "500 ms"),
        (0.3, 0.7, 1e-6, "200 ms"),
        (60.0, 0.213, 1e-3, "100 ms"),
        (60.0, 0.71, 4e-7, "1 s"),
        (500.0, 0.41, 1e-2, "50 ms"),
        (1e-3, 0.55, 1e-9, "100 ms"),
    ] {
        for solver in SOLVERS {
            let (x, v) = (0.5 * a * bottom * bottom - depth, -a * bottom);
            let recording = run(&format!(
                r#"Diagram(run: (stop: "1 s", step: "{step}", solver: {solver}), blocks: {{
                    "u": Constant(value: {a:?}),
                    "b": SecondOrderIntegrator(position: {x:?}, velocity: {v:?}, lower: 0.0,
                                               restitution: 1.0, in: {{ "u": "u.y" }}),
                    "free": SecondOrderIntegrator(position: {x:?}, velocity: {v:?},
                                                  in: {{ "u": "u.y" }}),
                    "h": HitCrossing(in: {{ "u": "free.position" }}),
                }}, log: ["b.velocity", "b.position", "h.y"])"#
            ));
            // Half of the time below the limit.
            let half = (2.0 * depth / a).sqrt();
            let hits = trues(&recording, "h.y");
            let name = format!("a {a}, bottom {bottom}, depth {depth}, step {step}, {solver}");
            assert_eq!(hits.len(), 2, "{name}: {hits:?}");
            // The state itself is accurate to the tolerance.
            let bound = 1e-5 * (1.0 + (a * bottom).abs()) / (a * half);
            for (t, known) in hits.iter().zip([bottom - half, bottom + half]) {
                assert!((t - known).abs() < bound.max(1e-9), "{name}: {t}, known {known}");
            }
            let velocity = numbers(&recording, "b.velocity").last().unwrap().1;
            let known = a * half + a * (1.0 - bottom + half);
            assert!(
                (velocity - known).abs() < 1e-3 * known + 2.0 * a * bound,
                "{name}: {velocity}, {known}"
            );
            let lowest =
                numbers(&recording, "b.position").iter().fold(1.0, |low: f64, x| low.min(x.1));
            assert!(lowest > -1e-12, "{name}: {lowest:e}");
        }
    }
}

/// An oscillator passes a level near its peak twice in each period, for a short time.
#[test]
fn s3_7_short_pulses_of_an_oscillator_are_all_seen() {
    for (level, periods) in [(0.99_f64, 50.0), (0.9999, 50.0), (-0.999, 50.0)] {
        for solver in SOLVERS {
            let solver = solver.replace("1e-6", "1e-8").replace("1e-9", "1e-10");
            let stop = periods * core::f64::consts::TAU;
            let recording = run(&format!(
                r#"Diagram(run: (stop: "{stop} s", step: "{stop} s", solver: {solver}), blocks: {{
                    "back": Gain(gain: -1.0, in: {{ "u": "o.position" }}),
                    "o": SecondOrderIntegrator(position: 0.0, velocity: 1.0, in: {{ "u": "back.y" }}),
                    "h": HitCrossing(offset: {level:?}, in: {{ "u": "o.position" }}),
                }}, log: ["h.y"])"#
            ));
            let hits = trues(&recording, "h.y");
            assert_eq!(hits.len(), 2 * periods as usize, "{level}, {solver}: {:?}", hits.last());
            let angle = f64::asin(level);
            for (n, t) in hits.iter().enumerate() {
                // Crossing upwards, then downwards; a level below zero is crossed downwards first.
                let turn = core::f64::consts::TAU * (n / 2) as f64;
                let known = match (n % 2, level > 0.0) {
                    (0, true) => angle,
                    (1, true) => core::f64::consts::PI - angle,
                    (0, false) => core::f64::consts::PI - angle,
                    _ => core::f64::consts::TAU + angle,
                };
                let error = (t - turn - known).abs();
                assert!(error < 2e-3, "{level}, {solver}: hit {n} at {t}, off by {error:e}");
            }
        }
    }
}

/// Two hundred impacts with 0.98 of the speed each, and the heights between them.
#[test]
fn s3_7_two_hundred_bounces_are_where_the_closed_form_says() {
    let (height, gravity, e) = (1.0_f64, 9.81_f64, 0.98_f64);
    let fall = (2.0 * height / gravity).sqrt();
    for solver in SOLVERS {
        let recording = run(&format!(
            r#"Diagram(run: (stop: "45 s", step: "1 s", solver: {solver}), blocks: {{
                "g": Constant(value: -9.81),
                "b": SecondOrderIntegrator(position: 1.0, lower: 0.0, restitution: 0.98,
                                           in: {{ "u": "g.y" }}),
                "top": HitCrossing(direction: Falling, in: {{ "u": "b.velocity" }}),
            }}, log: ["b.velocity", "b.position", "top.y"])"#
        ));
        let speed = recording.series("b.velocity").unwrap();
        let mut impacts: Vec<f64> = Vec::new();
        for row in 1..speed.len() {
            let jumps = speed.row(row - 1).values[0] < 0.0 && speed.row(row).values[0] > 0.0;
            if jumps && speed.stamp(row).phase == RowPhase::Event {
                impacts.push(speed.stamp(row).t);
            }
        }
        assert!(impacts.len() >= 200, "{solver}: {}", impacts.len());
        let mut known = fall;
        for (n, t) in impacts.iter().enumerate().take(200) {
            assert!((t - known).abs() < 1e-4, "{solver}: impact {n} at {t}, known {known}");
            known += 2.0 * fall * e.powi(n as i32 + 1);
        }
        let tops = trues(&recording, "top.y");
        let positions = numbers(&recording, "b.position");
        assert!(tops.len() >= 200, "{solver}: {} tops", tops.len());
        for (n, t) in tops.iter().enumerate().take(200) {
            let place = positions.iter().find(|(time, _)| time == t).unwrap().1;
            let known = height * e.powi(2 * (n as i32 + 1));
            assert!((place - known).abs() < 1e-5, "{solver}: top {n}: {place}, known {known}");
        }
    }
}

/// Of three crossings within a step the first is found first.
#[test]
fn s3_7_of_three_crossings_in_a_step_the_first_comes_first() {
    for solver in SOLVERS {
        // (t − 0.3)(t − 0.5)(t − 0.7) as a state: a step represents this cubic exactly.
        let recording = run(&format!(
            r#"Diagram(run: (stop: "1 s", step: "1 s", solver: {solver}), blocks: {{
                "t": Clock(),
                "rate": Fcn(expression: "3*u^2 - 3*u + 0.71", in: {{ "u": "t.y" }}),
                "x": Integrator(initial: -0.105, in: {{ "u": "rate.y" }}),
                "h": HitCrossing(in: {{ "u": "x.y" }}),
            }}, log: ["h.y"])"#
        ));
        let hits = trues(&recording, "h.y");
        assert_eq!(hits.len(), 3, "{solver}: {hits:?}");
        for (t, known) in hits.iter().zip([0.3, 0.5, 0.7]) {
            assert!((t - known).abs() < 1e-4, "{solver}: {hits:?}");
        }
    }
}
