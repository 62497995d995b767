//! Equations of bare numbers run, and errors of units next to them are still found.

use std::fmt::Write as _;

use crate::support::{folder, legwork, repository, write};

/// A system of differential equations, and its state at the end.
struct System<'t> {
    name: &'t str,
    until: &'t str,
    /// Name, start and rate of each state.
    states: Vec<(&'t str, &'t str, &'t str)>,
    end: Vec<(&'t str, f64)>,
}

fn systems(table: &str) -> Vec<System<'_>> {
    let paragraphs = table.split("\n\n").filter(|one| !one.trim().is_empty());
    let systems = paragraphs.filter(|one| !one.starts_with('#')).map(|one| {
        let mut lines = one.trim().lines();
        let name = lines.next().expect("a name");
        let until = lines.next().and_then(|line| line.strip_prefix("until ")).expect("an end");
        let (mut states, mut end) = (Vec::new(), Vec::new());
        for line in lines {
            match line.strip_prefix("> ").and_then(|line| line.split_once(' ')) {
                Some((name, value)) => end.push((name, value.parse().expect("a number"))),
                None => {
                    let (start, rate) = line.split_once(" = ").expect("an equation");
                    let (name, start) = start.split_once(' ').expect("a start");
                    states.push((name, start, rate));
                }
            }
        }
        System { name, until, states, end }
    });
    systems.collect()
}

/// One `Fcn` for each rate and an `Integrator` for each state, both in bare numbers.
fn diagram(System { until, states, .. }: &System<'_>) -> String {
    let mut blocks = String::new();
    for (name, start, rate) in states {
        // Inputs are numbered without gaps.
        let (mut inputs, mut rate) = (Vec::new(), (*rate).to_owned());
        for (index, (other, ..)) in states.iter().enumerate() {
            let name = format!("u{}", index + 1);
            if rate.contains(&name) {
                rate = rate.replace(&name, &format!("#{}", inputs.len() + 1));
                inputs.push(format!("\"u{}\": \"{other}.y\"", inputs.len() + 1));
            }
        }
        if rate.contains('u') {
            inputs.push(format!("\"u\": \"{name}.y\""));
        }
        let (rate, inputs) = (rate.replace('#', "u"), inputs.join(", "));
        let _ = writeln!(blocks, "\"d_{name}\": Fcn(expression: \"{rate}\", in: {{ {inputs} }}),");
        let integrator = format!("Integrator(initial: {start}, in: {{ \"u\": \"d_{name}.y\" }})");
        let _ = writeln!(blocks, "\"{name}\": {integrator},");
    }
    let metric =
        |(name, ..): &(&str, &str, &str)| format!("\"{name}_end\": Metric(of: \"={name}.y\")");
    let judge = states.iter().map(metric).collect::<Vec<_>>().join(", ");
    format!(
        "Diagram(run: (stop: \"{until} s\", step: \"{until} s\",
            solver: DormandPrince(rtol: 1e-10, atol: 1e-12)),
        blocks: {{ {blocks} }}, judge: {{ {judge} }})"
    )
}

#[test]
fn equations_of_bare_numbers_run_and_end_where_scipy_says() {
    let table = repository().join("tests/data/bare_equations.txt");
    let table = std::fs::read_to_string(table).expect("the table");
    let systems = systems(&table);
    assert!(systems.len() >= 25, "{}", systems.len());
    let here = folder();
    let mut wrong = String::new();
    for system in &systems {
        let text = diagram(system);
        write(&here, "a.ron", &text);
        let done = legwork(here.path(), &["run", "a.ron", "--json"]);
        if done.code != 0 {
            let _ = writeln!(wrong, "{}: {}\n{text}", system.name, done.err);
            continue;
        }
        let metrics = &done.json()["metrics"];
        for (name, expected) in &system.end {
            let metric = &metrics[format!("{name}_end")];
            let error = metric.as_f64().map(|found| (found - expected).abs());
            if error.is_none_or(|error| error > 1e-7 * expected.abs().max(1.0)) {
                let _ = writeln!(wrong, "{}: {name} = {metric}, not {expected}", system.name);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Hints that name a factor: with it the diagram runs, and the result is the one without units.
#[test]
fn a_factor_that_is_advised_keeps_the_value() {
    // Expression with the error, its hint, the expression as the hint says, and its value at 1 s.
    let table = [
        ("1[m]*sin(t)", "times 1[rad/s]", "1[m]*sin(t*1[rad/s])", 1f64.sin()),
        ("1[m] + 1[m]*exp(-t)", "times 1[1/s]", "1[m] + 1[m]*exp(-t*1[1/s])", 1.0 + (-1f64).exp()),
        ("1[m]*cos(2[Hz])", "times 1[s]", "1[m]*cos(2[Hz]*1[s])", 2f64.cos()),
        ("3[1/s] + 4[rad/s]", "times 1[rad]", "3[1/s]*1[rad] + 4[rad/s]", 7.0),
        ("1[m]*floor(2.5[s])", "floor(x / 1[s])", "1[m]*floor(2.5[s] / 1[s])", 2.0),
    ];
    let here = folder();
    for (wrong, advice, right, value) in table {
        let text = |expression: &str| {
            format!(
                "Diagram(run: (stop: \"1 s\", step: \"1 ms\", solver: Rk4),
                blocks: {{ \"a\": Fcn(expression: \"{expression}\") }},
                judge: {{ \"end\": Metric(of: \"=a.y\") }})"
            )
        };
        write(&here, "a.ron", text(wrong));
        let said = legwork(here.path(), &["check", "a.ron"]);
        assert!(said.code != 0 && said.said().contains(advice), "{wrong}: {}", said.said());
        write(&here, "a.ron", text(right));
        let done = legwork(here.path(), &["run", "a.ron", "--json"]);
        assert_eq!(done.code, 0, "{right}: {}", done.err);
        let found = done.json()["metrics"]["end"].as_f64().expect("a number");
        assert!((found - value).abs() < 1e-12, "{right}: {found}, not {value}");
    }
}

/// A start without unit: after the hint, the comparison is with the rate itself, not 2 pi times it.
#[test]
fn a_rate_from_a_start_without_unit_is_compared_as_it_is() {
    let here = folder();
    let text = |rate: &str, limit: &str| {
        format!(
            "Diagram(run: (stop: \"1 s\", step: \"1 ms\", solver: Rk4), blocks: {{
                \"a\": Fcn(expression: \"20[1/s^2]*sin(u)\", in: {{ \"u\": \"tilt.position\" }}),
                \"tilt\": SecondOrderIntegrator(velocity: 0.01, in: {{ \"u\": \"a.y\" }}),
            }}, judge: {{ \"most\": Metric(of: \"=abs(tilt.velocity)\", by: Max) }},
            checks: {{ \"slow\": Always(that: \"={rate} < {limit}\") }})"
        )
    };
    write(&here, "a.ron", text("abs(tilt.velocity)", "1[mrad/s]"));
    let said = legwork(here.path(), &["check", "a.ron"]).said();
    assert!(said.contains("times 1[rad] is in rad/s, with the same value"), "{said}");
    let passes = |limit: &str| {
        write(&here, "a.ron", text("abs(tilt.velocity)*1[rad]", limit));
        let done = legwork(here.path(), &["run", "a.ron", "--json"]);
        (done.code == 0, done.json()["metrics"]["most"].as_f64().expect("a number"))
    };
    let (_, most) = passes("1[rad/s]");
    assert!(passes(&format!("{}[rad/s]", most * 1.01)).0);
    assert!(!passes(&format!("{}[rad/s]", most * 0.99)).0);
}
