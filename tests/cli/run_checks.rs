//! Checks of a diagram in a run: verdicts, margins and windows.

use serde_json::Value;

use super::support::{folder, legwork, page_texts, ramp, write};

#[test]
fn a_failed_check_says_when() {
    let here = folder();
    write(&here, "a.ron", ramp(r#""stays low": Always(that: "=ramp.y < 0.495")"#));
    let done = legwork(here.path(), &["run", "a.ron", "--json"]);
    assert_eq!(done.json()["checks"]["stays low"], false);
    let said = "missed by 0.505 at t=1 s, first at t=500 ms";
    assert!(done.err.contains(said), "{}", done.err);
}

/// Every check says what it measured: where the margin is least over the window of `Always`, largest
/// over that of `Eventually`, at the end for `Finally`. The ramp is y = t at steps of 10 ms.
#[test]
fn every_check_says_what_it_measured_its_bound_and_its_margin() {
    let here = folder();
    let checks = r#""stays low": Always(that: "=ramp.y < 0.495"),
        "gets far": Finally(that: "=ramp.y > 3"),
        "either": Always(that: "=ramp.y < 0.2 or ramp.y > 0.9"),
        "holds": Always(that: "=ramp.y < 2"),
        "early": Always(that: "=ramp.y <= 0.5", when: "=t <= 0.25[s]"),
        "once": Eventually(that: "=ramp.y > 0.75", until: "0.8 s"),
        "two": Always(that: "=ramp.y < 2 and 1.5 > ramp.y"),
        "near": Finally(that: "=ramp.y == 1.02", tolerance: 0.05),
        "not near": Finally(that: "=ramp.y == 1.2", tolerance: 0.05),
        "late": Always(that: "=t < 1.5[s]", tolerance: "100 ms"),
        "never": Always(that: "=ramp.y > 9", when: "=t > 5[s]")"#;
    // Under Rk4 the outputs of a step are computed again inside it.
    write(&here, "a.ron", ramp(checks).replace("solver: Euler", "solver: Rk4"));
    let done = legwork(here.path(), &["run", "a.ron", "--json"]);
    assert_eq!(done.code, 3, "{}", done.err);
    let json = done.json();
    // Name, whether it passed, t, measured, sign, bound, margin.
    let table = [
        ("stays low", false, 1.0, 1.0, "<", 0.495, -0.505),
        ("gets far", false, 1.0, 1.0, ">", 3.0, -2.0),
        ("either", false, 0.55, 0.55, "<", 0.2, -0.35),
        ("holds", true, 1.0, 1.0, "<", 2.0, 1.0),
        ("early", true, 0.25, 0.25, "<=", 0.5, 0.25),
        ("once", true, 0.8, 0.8, ">", 0.75, 0.05),
        ("two", true, 1.0, 1.0, "<", 1.5, 0.5),
        ("near", true, 1.0, 1.0, "==", 1.02, 0.03),
        ("not near", false, 1.0, 1.0, "==", 1.2, -0.15),
        ("late", true, 1.0, 1.0, "<", 1.5, 0.6),
    ];
    for (name, passed, t, measured, sign, bound, margin) in table {
        assert_eq!(json["checks"][name], passed, "{name}");
        let found = &json["measured"][name];
        assert_eq!(found["sign"], sign, "{name}");
        for (field, expected) in
            [("t", t), ("measured", measured), ("bound", bound), ("margin", margin)]
        {
            let value = found[field].as_f64().expect("a number");
            assert!((value - expected).abs() < 1e-9, "{name}: {field}: {found}");
        }
    }
    assert_eq!(json["measured"]["late"]["unit"], "s");
    assert_eq!(json["checks"]["never"], Value::Null);
    assert_eq!(json["measured"].as_object().map(serde_json::Map::len), Some(table.len()));
    for said in [
        "FAIL  stays low: Always: =ramp.y < 0.495: 1 < 0.495, missed by 0.505 at t=1 s, first at \
         t=500 ms",
        "pass  holds: 1 < 2, margin 1 at t=1 s",
        "pass  late: 1 s < 1.5 s, margin 0.6 s with the tolerance 0.1 s at t=1 s",
    ] {
        assert!(done.err.contains(said), "no `{said}` in {}", done.err);
    }
    let report = legwork(here.path(), &["view", "runs/a", "-o", "a.html"]);
    assert_eq!(report.code, 0, "{}", report.err);
    let page = page_texts(&here.path().join("a.html"));
    assert!(page.contains("0.8 > 0.75, margin 0.05 at t=800 ms"), "{page}");
    let sweep =
        legwork(here.path(), &["sweep", "a.ron", "--over", "slope=1,0.1", "--table", "t.csv"]);
    assert!(sweep.out.contains("tightest"), "{}", sweep.out);
    let table = std::fs::read_to_string(here.path().join("t.csv")).expect("a table");
    assert!(table.contains("margin of late [s]"), "{table}");
}

#[test]
fn a_tolerance_must_fit_what_is_compared() {
    let here = folder();
    for (check, said) in [
        (r#"that: "=t < 2[s]", tolerance: "1 m""#, "expected a tolerance in s, found one in m"),
        (r#"that: "=t < 2[s]", tolerance: 0.1"#, "expected a tolerance in s, found 0.1"),
        (r#"that: "=ramp.y < 2", tolerance: -1.0"#, "expected a tolerance from 0 up, found -1"),
        (r#"that: "=true", tolerance: 1.0"#, "a tolerance is for comparisons"),
    ] {
        write(&here, "a.ron", ramp(&format!(r#""one": Always({check})"#)));
        let done = legwork(here.path(), &["check", "a.ron"]);
        assert_eq!(done.code, 1, "{check}");
        assert!(done.err.contains(said), "no `{said}` in {}", done.err);
    }
}

#[test]
fn a_check_whose_window_is_not_reached_is_neither_passed_nor_failed() {
    let here = folder();
    write(&here, "a.ron", ramp(r#""late": Always(that: "=ramp.y > 0.5", after: "0.8 s")"#));
    let done = legwork(here.path(), &["run", "a.ron", "--json", "--until", "0.2 s"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(done.json()["checks"]["late"], Value::Null);
    assert_eq!(done.json()["sim_time_s"], 0.2);
    let longer = legwork(here.path(), &["run", "a.ron", "--json", "--until", "2 s"]);
    assert_eq!(longer.json()["sim_time_s"], 2.0);
}

#[test]
fn a_check_is_asked_for_where_its_when_holds() {
    let here = folder();
    let check = |kind: &str, when: &str| {
        write(
            &here,
            "a.ron",
            ramp(&format!(r#""c": {kind}(that: "=ramp.y > 0.5", when: "={when}")"#)),
        );
        let done = legwork(here.path(), &["run", "a.ron", "--json"]);
        (done.code, done.json()["checks"]["c"].clone())
    };
    assert_eq!(check("Always", "t > 0.6[s]"), (0, Value::Bool(true)));
    assert_eq!(check("Always", "t > 0.4[s]"), (3, Value::Bool(false)));
    assert_eq!(check("Eventually", "t < 0.4[s]"), (3, Value::Bool(false)));
    assert_eq!(check("Finally", "t > 0.4[s]"), (0, Value::Bool(true)));
    // What is not asked for has no verdict.
    assert_eq!(check("Finally", "t < 0.4[s]"), (0, Value::Null));
    assert_eq!(check("Always", "slope == 7"), (0, Value::Null));
    let said = legwork(here.path(), &["run", "a.ron"]).said();
    assert!(said.contains("c: not asked, its `when` never held"), "{said}");
    let said = legwork(here.path(), &["test", "a.ron"]).out;
    assert!(said.starts_with("pass  a.ron: 1 check, 1 of them never asked, "), "{said}");
}

/// Half of a whole number is no whole number, and truth values are not added up.
#[test]
fn whole_numbers_are_numbers_and_truth_values_are_not() {
    let here = folder();
    let diagram = |sum: &str| {
        format!(
            r#"Diagram(
    run: (stop: "3 ms", step: "1 ms"),
    blocks: {{
        "n":    Counter(every: "1 ms"),
        "late": UnitDelay(in: {{ "u": "n.y" }}),
        "half": Gain(gain: 0.5, in: {{ "u": "late.y" }}),
        "sum":  Sum(in: {{ "u1": "half.y", "u2": "n.y" }}),
        "more": Compare(op: ">", to: 1, in: {{ "u": "n.y" }}),
        "part": Subsystem(
            ports: (in: {{ "u": "Real" }}, out: {{ "y": "Real" }}),
            blocks: {{ "f": Fcn(expression: "u/4", in: {{ "u": "^u" }}) }},
            out: {{ "y": "f.y" }},
            in: {{ "u": "n.y" }},
        ),
        {sum}
    }},
    log: ["half.y", "sum.y", "part.y"],
)"#
        )
    };
    write(&here, "a.ron", diagram(""));
    let run = legwork(here.path(), &["run", "a.ron"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let table = legwork(here.path(), &["export", "runs/a", "half.y", "sum.y", "part.y"]).out;
    assert!(table.ends_with("0.003,1.0,4.0,0.75\n"), "{table}");
    assert!(table.contains("\n0.002,0.5,2.5,0.5\n"), "{table}");
    for block in ["Gain(gain: 0.5", "Abs(", "Saturation(upper: 2", "Fcn(expression: \"2*u\""] {
        let comma = if block.ends_with('(') { "" } else { ", " };
        let more = format!(r#""b": {block}{comma}in: {{ "u": "more.y" }}),"#);
        write(&here, "b.ron", diagram(&more));
        let check = legwork(here.path(), &["check", "b.ron"]);
        assert_eq!(check.code, 1, "{block}: {}", check.err);
        let message = "`b.u` expected ";
        assert!(check.err.contains(message), "{block}: {}", check.err);
        assert!(check.err.contains("found Bool"), "{block}: {}", check.err);
        assert!(check.err.contains("`Switch(criterion: True)` chooses"), "{block}: {}", check.err);
    }
}
