//! `legwork compare` from outside: what it says, what it writes, how it exits.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::support::{Done, folder, legwork, repository};

fn compare(directory: &Path, file: &Path, arguments: &[&str]) -> Done {
    let file = file.to_str().expect("the path is UTF-8");
    legwork(directory, &[&["compare", file], arguments].concat())
}

fn stand() -> PathBuf {
    repository().join("diagrams/quadruped/stand.ron")
}

/// A ramp behind a variant `v`, with the choices given, and a signal `load.y` in newtons.
fn ramp(here: &TempDir, choices: &str) -> PathBuf {
    let text = format!(
        r#"Diagram(
    format: 2,
    run: (stop: "1 s", step: "10 ms", solver: Euler),
    variants: {{ "v": Variant(
        ports: (in: {{ "u": "Real" }}, out: {{ "y": "Real" }}),
        default: "one",
        choices: {{ {choices} }},
    ) }},
    blocks: {{
        "rate": Constant(value: 1.0),
        "part": Use(of: "v", in: {{ "u": "rate.y" }}),
        "ramp": Integrator(in: {{ "u": "part.y" }}),
        "late": UnitDelay(every: "10 ms", in: {{ "u": "ramp.y" }}),
    }},
    log: ["late.y", "ramp.y", Every("100 ms", "part.y")],
    checks: {{ "gets there": Finally(that: "=ramp.y > 0.99") }},
)"#
    );
    let file = here.path().join("ramp.ron");
    std::fs::write(&file, text).expect("the directory is writable");
    file
}

const GAINS: &str = r#""one": Gain(gain: 1.0), "more": Gain(gain: 1.1), "less": Gain(gain: 0.5)"#;

#[test]
fn solvers_of_one_problem_agree_and_the_json_has_every_promised_field() {
    let here = folder();
    let done = compare(
        here.path(),
        &stand(),
        &["--variant", "qp=active_set,clarabel,pgs", "--until", "0.15 s", "--json"],
    );
    assert_eq!(done.code, 0, "{}", done.err);
    let json = done.json();
    assert_eq!(json["agrees"], true);
    assert_eq!(json["reference"], "active_set");
    assert_eq!(json["step_s"], 1e-3);
    assert_eq!(json["differs_in"], Value::Null);
    let runs = json["runs"].as_array().expect("a list");
    let names: Vec<&str> = runs.iter().filter_map(|run| run["name"].as_str()).collect();
    assert_eq!(names, ["active_set", "clarabel", "pgs"]);
    for run in runs {
        let name = &run["name"];
        assert_eq!(run["choices"]["qp"], *name);
        assert_eq!((&run["steps"], &run["sim_time_s"]), (&json!(150), &json!(0.15)));
        assert_eq!((&run["solver_calls"], &run["solver_failures"]), (&json!(150), &json!(0)));
        for key in ["wall_s", "step_ns", "real_time_factor", "mean_iterations", "max_iterations"] {
            assert!(run[key].as_f64().is_some_and(|value| value > 0.0), "{key} of {run}");
        }
        assert!(run["max_iterations"].as_f64() >= run["mean_iterations"].as_f64(), "{run}");
        assert!(run["worst_residual"].as_f64().is_some_and(|worst| worst < 1e-6), "{run}");
        assert_eq!(run["solvers"][0]["block"], "contact.solve");
        assert_eq!(run["checks"]["friction is honest"], true);
        assert!(run["metrics"]["worst_slip"].is_number(), "{run}");
    }
    let comparisons = json["comparisons"].as_array().expect("a list");
    assert_eq!(comparisons.len(), 2);
    for comparison in comparisons {
        assert_eq!(comparison["against"], "active_set");
        assert_eq!(comparison["first_divergence"], Value::Null);
        assert_eq!(comparison["not_compared"], json!([]));
        let signals = comparison["signals"].as_array().expect("a list");
        let unit = |name: &str| {
            let found = signals.iter().find(|signal| signal["signal"] == name);
            found.unwrap_or_else(|| panic!("no {name}"))["unit"].clone()
        };
        assert_eq!(unit("contact.f"), "N");
        assert_eq!(unit("body.state.base.position"), "m");
        assert_eq!(unit("audit.penetration"), "m");
        for signal in signals {
            let figure =
                |key: &str| signal[key].as_f64().unwrap_or_else(|| panic!("{key}: {signal}"));
            assert!(figure("rms") <= figure("max") && figure("max") <= figure("tolerance"));
            assert_eq!(
                signal["rows"],
                if signal["signal"] == "audit.penetration" { 16 } else { 151 }
            );
            assert_eq!(signal["rows_unmatched"], 0);
        }
    }
    for part in ["active_set", "clarabel against active_set", "KKT residual", "contact.f", " N "] {
        assert!(done.said().contains(part), "no `{part}` in {}", done.said());
    }
}

#[test]
fn recordings_do_not_depend_on_how_many_run_at_a_time() {
    let here = folder();
    let run = |jobs: &str| {
        let out = here.path().join(jobs);
        let arguments = [
            "--variant",
            "qp=active_set,clarabel,pgs",
            "--variant",
            "contact=gauss,hertz",
            "--tol",
            "0.1",
            "--until",
            "0.12 s",
            "--jobs",
            jobs,
            "--out",
            jobs,
            "--json",
        ];
        let done = compare(here.path(), &stand(), &arguments);
        assert_eq!(done.code, 3, "{}", done.err);
        let json = done.json();
        assert_eq!(json["jobs"], jobs.parse::<u64>().expect("a number"));
        let recordings: Vec<Vec<u8>> = json["runs"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|run| std::fs::read(here.path().join(run["recording"].as_str().expect("a path"))))
            .collect::<Result<_, _>>()
            .expect("recordings");
        let picture = std::fs::read(out.join("compare.svg")).expect("a picture");
        let kept = std::fs::read(out.join("compare.json")).expect("compare.json");
        assert_eq!(serde_json::from_slice::<Value>(&kept).expect("JSON"), json);
        (recordings, json["comparisons"].clone(), picture)
    };
    let (one, two) = (run("1"), run("2"));
    assert_eq!(one.0.len(), 6);
    assert!(one.0 == two.0, "the recordings differ");
    assert_eq!(one.1, two.1);
    assert!(one.2 == two.2, "the pictures differ");
    let picture = String::from_utf8(one.2).expect("UTF-8");
    for part in ["<svg", "clarabel,gauss", "tolerance", "t [s]", "|difference|", "</svg>"] {
        assert!(picture.contains(part), "no `{part}` in the picture");
    }
}

#[test]
fn another_contact_model_needs_a_tolerance() {
    let here = folder();
    let choices = ["--variant", "contact=gauss,hertz", "--until", "0.12 s", "--json"];
    let done = compare(here.path(), &stand(), &choices);
    assert_eq!(done.code, 64);
    for part in ["different problems", "`contact.assemble`", "no default"] {
        assert!(done.said().contains(part), "no `{part}` in {}", done.said());
    }
    assert!(done.json()["error"].is_string());
    let with = compare(here.path(), &stand(), &[&choices[..], &["--tol", "1e9"]].concat());
    assert_eq!(with.code, 0, "{}", with.err);
    assert!(with.json()["differs_in"].as_str().is_some_and(|text| text.contains("assemble")));
    assert_eq!(with.json()["runs"][1]["worst_residual"], Value::Null);
    let cones = here.path().join("cone.ron");
    let text = std::fs::read_to_string(stand()).expect("the diagram").replace(
        r#""pgs": ProjectedGaussSeidel()"#,
        r#""pgs": ProjectedGaussSeidel(), "coulomb": CoulombContact(needs: { "solve": ClarabelQp() })"#,
    );
    std::fs::write(&cones, text).expect("the directory is writable");
    let done = compare(here.path(), &cones, &["--variant", "qp=clarabel,coulomb"]);
    assert_eq!(done.code, 64);
    assert!(done.said().contains("CoulombContact"), "{}", done.said());
}

#[test]
fn the_first_divergence_names_time_block_port_element_and_both_values() {
    let here = folder();
    let file = ramp(&here, GAINS);
    let done = compare(here.path(), &file, &["--variant", "v=one,more", "--tol", "0.05", "--json"]);
    assert_eq!(done.code, 3, "{}", done.err);
    let first = &done.json()["comparisons"][0]["first_divergence"];
    // The gain is off at once, and the ramp later because of it.
    assert_eq!(first["t"], 0.0, "{first}");
    assert_eq!((&first["block"], &first["port"]), (&json!("part"), &json!("y")));
    assert_eq!(first["element"], "part.y");
    assert_eq!((&first["reference"], &first["value"]), (&json!(1.0), &json!(1.1)));
    assert!(done.said().contains("block part, port y"), "{}", done.said());
    let signals = &done.json()["comparisons"][0]["signals"];
    let ramp = signals.as_array().unwrap().iter().find(|s| s["signal"] == "ramp.y").unwrap();
    let close = |key: &str, value: f64| {
        let found = ramp[key].as_f64().expect("a number");
        assert!((found - value).abs() < 1e-9, "{key} is {found}, not {value}");
    };
    close("max", 0.1);
    close("max_relative", 0.1);
    close("tolerance", 0.05);
    // The root of the mean of (0.1 k/100)² over k = 0..=100.
    close("rms", 0.1 * (201.0f64 / 600.0).sqrt());
    assert_eq!(ramp["largest"]["t"], 1.0);
    assert_eq!(ramp["rows"], 101);
}

#[test]
fn tolerances_go_by_signal_and_decide_the_exit_code() {
    let here = folder();
    let file = ramp(&here, GAINS);
    let code = |more: &[&str]| {
        let done = compare(here.path(), &file, &[&["--variant", "v=one,more"], more].concat());
        (done.code, done.err)
    };
    assert_eq!(code(&[]).0, 64, "a gain is no solver");
    assert_eq!(code(&["--tol", "0.2"]).0, 0);
    assert_eq!(code(&["--tol", "0.01"]).0, 3);
    assert_eq!(code(&["--tol", "0.01", "--tol", "part=1", "--tol", "ramp.y=1"]).0, 3);
    let all = ["--tol", "0", "--tol", "part=1", "--tol", "ramp.y=1", "--tol", "late.y=1"];
    assert_eq!(code(&all).0, 0);
    assert_eq!(code(&["--tol", "0.01", "--signals", "rate.y"]).0, 0);
    let (number, message) = code(&["--tol", "rmap.y=1"]);
    assert_eq!(number, 64);
    assert!(message.contains("did you mean `ramp.y`?"), "{message}");
    for bad in ["", "-1", "x", "ramp.y=", "1 parsec"] {
        assert_eq!(code(&["--tol", bad]).0, 64, "`{bad}` was taken");
    }
}

#[test]
fn the_reference_is_the_first_run_or_the_one_that_is_named() {
    let here = folder();
    let file = ramp(&here, GAINS);
    let choices = ["--variant", "v=one,more,less", "--tol", "10", "--json"];
    let first = compare(here.path(), &file, &choices).json();
    assert_eq!(
        (&first["reference"], &first["comparisons"][0]["run"]),
        (&json!("one"), &json!("more"))
    );
    let named = compare(here.path(), &file, &[&choices[..], &["--reference", "less"]].concat());
    assert_eq!(named.json()["reference"], "less");
    assert_eq!(named.json()["comparisons"][0]["run"], "one");
    let slip = compare(here.path(), &file, &[&choices[..], &["--reference", "lest"]].concat());
    assert_eq!(slip.code, 64);
    assert!(slip.err.contains("did you mean `less`?"), "{}", slip.err);
}

#[test]
fn a_run_that_stops_at_a_fault_is_a_row_and_not_the_end() {
    let here = folder();
    let choices = r#""one": Gain(gain: 1.0), "bad": Fcn(expression: "u/(t - 0.5)")"#;
    let file = ramp(&here, choices);
    let arguments = ["--variant", "v=one,bad", "--tol", "10", "--json"];
    let done = compare(here.path(), &file, &arguments);
    assert_eq!(done.code, 2, "{}", done.err);
    let json = done.json();
    assert_eq!(json["runs"][0]["steps"], 100);
    assert_eq!(json["runs"][1]["fault"]["t"], 0.5);
    assert_eq!(json["runs"][1]["checks"]["gets there"], Value::Null);
    let signal = &json["comparisons"][0]["signals"][0];
    assert_eq!((&signal["rows"], &signal["rows_unmatched"]), (&json!(50), &json!(51)));
    assert!(done.said().contains("bad stopped at a fault: t=0.5 s"), "{}", done.said());
}

#[test]
fn choices_that_change_nothing_are_told() {
    let here = folder();
    let file = ramp(&here, r#""one": Gain(gain: 1.0), "same": Gain(gain: 1.0)"#);
    let done = compare(here.path(), &file, &["--variant", "v=one,same"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.contains("`same` and `one` are the same program"), "{}", done.out);
    assert!(done.err.is_empty(), "{}", done.err);
    assert_eq!(std::fs::read_dir(here.path()).unwrap().count(), 1, "files without --out");
}

#[test]
fn slips_on_the_command_line_get_advice() {
    let here = folder();
    let file = ramp(&here, GAINS);
    let at = |arguments: &[&str]| compare(here.path(), &file, arguments);
    let cases: [(&[&str], i32, &str); 9] = [
        (&[], 64, "the diagram has --variant v=one,more,less"),
        (&["--variant", "v=one"], 64, "two choices at least, separated by a comma, found `v=one`"),
        (&["--variant", "v=one,one"], 64, "named twice"),
        (&["--variant", "v=one,moer", "--tol", "1"], 1, "did you mean `more`?"),
        (&["--variant", "w=one,more", "--tol", "1"], 1, "the diagram has no variant `w`"),
        (&["--variant", "v=one,more", "--signals", "rmap.y"], 1, "did you mean `ramp`?"),
        (&["--variant", "v=one,more", "--signals", "ramp.z"], 1, "no output `z` on `ramp`"),
        (&["--variant", "v=one,more", "--signals", "ramp.y,"], 64, "expected paths of signals"),
        (&["--variant", "v=one,more", "--jobs", "0"], 64, "--jobs"),
    ];
    for (arguments, code, text) in cases {
        let done = at(arguments);
        assert_eq!(done.code, code, "{arguments:?}: {}", done.err);
        assert!(done.err.contains(text), "{arguments:?}: no `{text}` in {}", done.err);
        assert_eq!(done.err.matches(text).count(), 1, "said twice: {}", done.err);
        let json = at(&[arguments, &["--json"]].concat());
        assert!(json.json().is_object());
    }
    let signals = at(&["--variant", "v=one,more", "--signals", "rmap.y"]);
    assert!(signals.err.contains("<--signals>:1:1"), "{}", signals.err);
    let missing = compare(here.path(), Path::new("rmap.ron"), &["--variant", "v=one,more"]);
    assert_eq!(missing.code, 64);
    std::fs::write(here.path().join("taken"), "a file").unwrap();
    assert_eq!(at(&["--variant", "v=one,more", "--tol", "1", "--out", "taken"]).code, 64);
}

/// Runs a ramp of this gain into a directory.
fn record(here: &TempDir, gain: &str, out: &str) {
    let file = ramp(here, &format!(r#""one": Gain(gain: {gain})"#));
    for words in [
        ["run", file.to_str().expect("the path is UTF-8"), "--out", out],
        ["export", out, "-o", &format!("{out}.csv")],
    ] {
        let done = legwork(here.path(), &words);
        assert_eq!(done.code, 0, "{words:?}: {}", done.err);
    }
}

#[test]
fn recorded_runs_and_tables_are_compared_at_common_times() {
    let here = folder();
    record(&here, "1.0", "slow");
    record(&here, "3.0", "fast");
    let at = |words: &[&str]| compare(here.path(), Path::new("slow"), words);
    // Ramps of slope 1 and 3 at t = 0, 0.01, ..., 1 are 2 t apart.
    let done = at(&["fast", "fast.csv", "--signals", "ramp.y", "--json"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let json = done.json();
    for index in 0..2 {
        let signal = &json["comparisons"][index]["signals"][0];
        let figure = |name: &str| signal[name].as_f64().expect("a number");
        assert_eq!(
            (signal["signal"].as_str(), signal["rows"].as_u64()),
            (Some("ramp.y"), Some(101))
        );
        assert!((figure("mean") - 1.0).abs() < 1e-12, "{signal}");
        // The mean of (2 k/100)^2 over k = 0..100 is 4 * 201/600.
        assert!((figure("rms") - (4.0_f64 * 201.0 / 600.0).sqrt()).abs() < 1e-12, "{signal}");
        assert!((figure("max") - 2.0).abs() < 1e-12, "{signal}");
        assert_eq!(signal["largest"]["t"], 1.0);
    }
    // A table of a run is the run, to the last bit.
    let same = at(&["slow.csv", "--tol", "0"]);
    assert_eq!(same.code, 0, "{}", same.err);
    let far = at(&["fast", "--tol", "ramp.y=50 %"]);
    assert_eq!(far.code, 3, "{}", far.err);
    assert!(far.said().contains("FAR"), "{}", far.said());
    assert_eq!(at(&["fast", "--tol", "ramp.y=201 %"]).code, 0);
}

#[test]
fn slips_beside_recorded_runs_get_advice() {
    let here = folder();
    record(&here, "1.0", "one");
    std::fs::write(here.path().join("other.csv"), "t,speed\n0,1\n").unwrap();
    std::fs::write(here.path().join("late.csv"), "t,ramp.y\n0.005,1\n").unwrap();
    let cases: [(&[&str], &str); 8] = [
        (&[], "expected another run"),
        (&["none"], "no recording `none`"),
        (&["other.csv"], "no signal in common"),
        (&["late.csv"], "no signal in common, or no time"),
        (&["one.csv", "--signals", "rmap.y"], "did you mean `ramp.y`?"),
        (&["one.csv", "--variant", "v=one,two"], "--variant is for diagrams"),
        (&["one.csv", "--until", "1 s"], "--until is for diagrams"),
        (&["other.csv", "--reference", "othr"], "did you mean `other`?"),
    ];
    for (words, text) in cases {
        let done = compare(here.path(), Path::new("one"), words);
        assert_eq!(done.code, 64, "{words:?}: {}", done.err);
        assert!(done.err.contains(text), "{words:?}: no `{text}` in {}", done.err);
    }
    let both = compare(here.path(), &stand(), &["one"]);
    assert_eq!(both.code, 64);
    assert!(both.err.contains("found a diagram and `one`"), "{}", both.err);
}
