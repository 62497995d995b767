//! `judge:`: what is computed about a run, and that it changes nothing in it.

use crate::support::{folder, legwork, write};

/// A ball on a spring, y(0) = 1, with whatever stands behind `blocks:`.
fn spring(solver: &str, more: &str) -> String {
    format!(
        r#"Diagram(
    run: (stop: "1 s", step: "10 ms", solver: {solver}),
    params: {{ "k": 40.0 }},
    blocks: {{
        "pull": Gain(gain: "=-k", in: {{ "u": "ball.position" }}),
        "ball": SecondOrderIntegrator(position: 1.0, velocity: 0.0, in: {{ "u": "pull.y" }}),
    }},
    {more}
)"#
    )
}

const JUDGE: &str = r#"judge: {
        "rate": DiscreteDerivative(every: "20 ms", in: { "u": "ball.position" }),
        "height": "=ball.position",
        "falls": "=ball.velocity < 0",
        "last": Metric("=height"),
        "least": Metric(of: "=height", by: Min),
        "most": Metric(of: "=height", by: Max, after: "0.2 s", until: "0.4 s"),
        "mean": Metric(of: "=height", by: Mean, when: "=t <= 0.1[s]"),
        "rms": Metric(of: "=height", by: Rms),
        "area": Metric(of: "=2", by: Integral, after: "0.5 s"),
        "zero": Metric(of: "=height < 0", by: FirstTime),
        "late": Metric(of: "=height < 0", by: LastTime),
        "never": Metric(of: "=height > 5", by: FirstTime),
        "none": Metric(of: "=height", by: Max, when: "=t > 5[s]"),
        "fastest": Metric(of: "=abs(rate.y)", by: Max),
    },"#;

/// Whatever judges it, the model's rows are the same bits.
#[test]
fn judging_changes_no_bit_of_a_run() {
    let here = folder();
    for solver in ["SemiImplicitEuler", "Rk4", "DormandPrince(rtol: 1e-6)"] {
        let judge = match solver.starts_with('D') {
            // Under a solver that chooses its steps a period would be one at which it steps.
            true => JUDGE.replace("every: \"20 ms\", ", ""),
            false => JUDGE.to_owned(),
        };
        let judge = match solver.starts_with('D') {
            true => {
                judge.lines().filter(|line| !line.contains("rate")).collect::<Vec<_>>().join("\n")
            }
            false => judge,
        };
        let log = r#"log: ["ball.position", "ball.velocity"],"#;
        let rows = |more: &str| {
            write(&here, "a.ron", spring(solver, &format!("{log}\n{more}")));
            let done = legwork(here.path(), &["run", "a.ron", "--out", "o"]);
            assert_eq!(done.code, 0, "{solver}: {}", done.err);
            legwork(here.path(), &["export", "o"]).out
        };
        let alone = rows("");
        assert!(alone.lines().count() > 20);
        assert_eq!(alone, rows(&judge), "{solver}");
    }
}

/// Reductions are those of their names: against the recorded rows of the same run.
#[test]
fn metrics_are_reductions_of_the_rows_that_count() {
    let here = folder();
    let log = r#"log: ["ball.position", "height", "falls", "least"],"#;
    let checks =
        r#"checks: { "goes below": Finally(that: "=least < -0.9 and zero < 0.3[s] and falls") },"#;
    write(&here, "a.ron", spring("SemiImplicitEuler", &format!("{JUDGE}\n{log}\n{checks}")));
    let done = legwork(here.path(), &["run", "a.ron", "--json", "--no-checks"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let metrics = &done.json()["metrics"];
    let table = legwork(here.path(), &["export", "runs/a", "ball.position"]).out;
    let rows: Vec<(f64, f64)> = table
        .lines()
        .skip(1)
        .map(|line| line.split_once(',').expect("two columns"))
        .map(|(t, y)| (t.parse().expect("a time"), y.parse().expect("a number")))
        .collect();
    let of = |counts: &dyn Fn(f64) -> bool| -> Vec<f64> {
        rows.iter().filter(|(t, _)| counts(*t)).map(|(_, y)| *y).collect()
    };
    let all = of(&|_| true);
    let first = of(&|t| t < 0.105);
    let middle = of(&|t| (0.195..0.405).contains(&t));
    let below: Vec<f64> = rows.iter().filter(|(_, y)| *y < 0.0).map(|(t, _)| *t).collect();
    let squares: f64 = all.iter().map(|y| y * y).sum();
    for (name, expected) in [
        ("last", all[100]),
        ("least", all.iter().copied().fold(f64::INFINITY, f64::min)),
        ("most", middle.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
        ("mean", first.iter().sum::<f64>() / first.len() as f64),
        ("rms", (squares / all.len() as f64).sqrt()),
        ("area", 1.0),
        ("zero", below[0]),
        ("late", below[below.len() - 1]),
    ] {
        let found = metrics[name].as_f64().unwrap_or_else(|| panic!("{name} in {metrics}"));
        assert!((found - expected).abs() < 1e-12, "{name}: {found}, expected {expected}");
    }
    // Never, and no number.
    assert!(metrics["never"].is_null() && metrics["none"].is_null(), "{metrics}");
    assert!(metrics["fastest"].as_f64().is_some_and(|speed| speed > 1.0), "{metrics}");
    // A snapshot holds them.
    let done = legwork(here.path(), &["check", "a.ron", "--roundtrip"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let recorded = legwork(here.path(), &["export", "runs/a", "height"]).out;
    assert_eq!(recorded.lines().skip(1).last(), table.lines().last());
}

#[test]
fn what_would_change_the_run_is_refused() {
    let here = folder();
    for (solver, more, said) in [
        (
            "Rk4",
            r#"judge: { "way": Integrator(in: { "u": "ball.position" }) },"#,
            "has continuous state",
        ),
        (
            "Rk4",
            r#"judge: { "end": Stop(in: { "u": "low.y" }), "low": Compare(op: "<", to: 0.0, in: { "u": "ball.position" }) },"#,
            "ends the run",
        ),
        (
            "DormandPrince()",
            r#"judge: { "rate": DiscreteDerivative(every: "20 ms", in: { "u": "ball.position" }) },"#,
            "has a period",
        ),
        ("Rk4", r#"judge: { "a": "=b", "b": "=ball.position" },"#, "`b` does not stand above"),
        ("Rk4", r#"judge: { "k": "=ball.position" },"#, "`k` is the name of something else"),
        ("Rk4", r#"judge: { "ball": "=t" },"#, "`ball` is the name of something else"),
        (
            "Rk4",
            r#"judge: { "a": Metric(of: "=ball.position < 0", by: Mean) },"#,
            "expected a number",
        ),
        (
            "Rk4",
            r#"judge: { "a": Metric(of: "=ball.position", by: FirstTime) },"#,
            "expected a condition",
        ),
        ("Rk4", r#"judge: { "a": Metric(of: "=ball.position", by: Mode) },"#, "Mode"),
        ("Rk4", r#"judge: { "a": Metric(of: "=ball.place") },"#, "no output `place`"),
        ("Rk4", r#"judge: { "a": 3.0 },"#, "a block such as"),
    ] {
        write(&here, "a.ron", spring(solver, more));
        let done = legwork(here.path(), &["check", "a.ron"]);
        assert_eq!(done.code, 1, "{more}: {}", done.out);
        assert!(done.err.contains(said), "{more}: no `{said}` in {}", done.err);
        assert!(done.err.contains("a.ron:8:"), "{more}: {}", done.err);
    }
    let judge = r#"judge: { "twice": Gain(gain: 2.0, in: { "u": "ball.position" }) },"#;
    write(
        &here,
        "a.ron",
        spring("Rk4", judge).replace("\"ball.position\" }),\n", "\"twice.y\" }),\n"),
    );
    let done = legwork(here.path(), &["check", "a.ron"]);
    assert!(done.err.contains("`twice` is in `judge:`, so `pull`"), "{}", done.err);
}

/// Torques, powers and their rates are told by their usual names, whatever made them.
#[test]
fn products_of_mechanics_are_in_the_units_that_they_are_known_by() {
    let here = folder();
    write(
        &here,
        "a.ron",
        r#"Diagram(
    run: (stop: "0.1 s", step: "10 ms"),
    blocks: {
        "rate":   Constant(value: "2 rad/s"),
        "speeds": Constant(value: ["2 rad/s", "3 rad/s"]),
        "tau":    Gain(gain: "0.1 N*m*s/rad", in: { "u": "rate.y" }),
        "inert":  Gain(gain: "2 kg*m^2", in: { "u": "ahead.y" }),
        "ahead":  DiscreteDerivative(every: "10 ms", in: { "u": "rate.y" }),
        "jerk":   DiscreteDerivative(every: "10 ms", in: { "u": "tau.y" }),
        "rim":    Gain(gain: "0.5 m", in: { "u": "rate.y" }),
    },
    judge: {
        "torque": Metric(of: "=tau.y", by: Mean),
        "same":   Metric(of: "=0.1[N*m*s/rad]*rate.y", by: Mean),
        "inertial": Metric(of: "=inert.y", by: Mean),
        "spin":   Metric(of: "=2[kg*m^2]*rate.y", by: Mean),
        "power":  Metric(of: "=tau.y*rate.y", by: Mean),
        "work":   Metric(of: "=tau.y*rate.y", by: Integral),
        "torque_rate": Metric(of: "=mean(abs([jerk.y, jerk.y]))", by: Mean),
        "twice":  Metric(of: "=2*jerk.y", by: Mean),
        "error":  Metric(of: "=mean(abs(speeds.y))", by: Mean),
        "at_rim": Metric(of: "=rim.y", by: Mean),
    },
)"#,
    );
    let run = legwork(here.path(), &["run", "a.ron"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let unit_of = |name: &str| {
        let mut lines = run.out.lines().map(str::split_whitespace);
        lines.find_map(|mut words| (words.next()? == name).then(|| words.nth(1))?)
    };
    for (name, unit) in [
        ("torque", "N*m"),
        ("same", "N*m"),
        ("inertial", "N*m"),
        ("spin", "N*m*s"),
        ("power", "W"),
        ("work", "N*m"),
        ("torque_rate", "N*m/s"),
        ("twice", "N*m/s"),
        ("error", "rad/s"),
        ("at_rim", "m/s"),
    ] {
        assert_eq!(unit_of(name), Some(unit), "{name}: {}", run.out);
    }
}

/// A metric without a value is beyond every bound: a tolerance does not reach it, a `not` does.
#[test]
fn what_is_no_number_is_within_no_tolerance() {
    let here = folder();
    let with = |check: &str| {
        format!(
            r#"Diagram(
    run: (stop: "1 s", step: "10 ms"),
    blocks: {{ "x": Clock() }},
    judge: {{ "late": Metric(of: "=x.y", by: Max, when: "=x.y > 5[s]") }},
    checks: {{ "met": {check} }},
)"#
        )
    };
    let table = [
        (r#"Finally(that: "=late == 3[s]", tolerance: "1 ms")"#, 3),
        (r#"Finally(that: "=late < 3[s]", tolerance: "1 ms")"#, 3),
        (r#"Always(that: "=late >= 3[s]", tolerance: "1e9 s")"#, 3),
        (r#"Finally(that: "=x.y > 0[s] and 3[s] > late", tolerance: "1 ms")"#, 3),
        (r#"Finally(that: "=late < 3[s]")"#, 3),
        (r#"Finally(that: "=not (late < 3[s])", tolerance: "1 ms")"#, 0),
        (r#"Finally(that: "=x.y > 0[s] or late < 3[s]", tolerance: "1 ms")"#, 0),
    ];
    for (check, code) in table {
        write(&here, "a.ron", with(check));
        let done = legwork(here.path(), &["run", "a.ron"]);
        assert_eq!(done.code, code, "{check}: {}{}", done.out, done.err);
        if code == 3 {
            let said = done.out.contains("nothing to compare");
            assert!(said, "{check}: {}", done.out);
        }
    }
}
