//! Studies: axes, columns, figures of others, plots, mistakes.

use serde_json::Value;

use crate::support::{folder, legwork, write};

const DIAGRAM: &str = r#"Diagram(
    run: (stop: "1 s", step: "10 ms", solver: Euler),
    params: { "slope": Param(value: 1.0), "start": 0.0 },
    variants: { "way": Variant(
        ports: (out: { "y": "Real" }),
        default: "up", choices: { "up": Constant(value: "=slope"), "down": Constant(value: "=-slope") },
    ) },
    blocks: {
        "rate": Use(of: "way"),
        "ramp": Integrator(initial: "=start", in: { "u": "rate.y" }),
    },
    log: ["ramp.y"],
    checks: { "is bounded": Always(that: "=abs(ramp.y) < 100") },
)"#;

const STUDY: &str = r#"Study(
    doc: r"Ramps.",
    diagram: "ramp.ron",
    set: { "params.start": 1.0 },
    over: {
        "slope, run.step": [[1, "10 ms"], [3, "100 ms"]],
        "way": ["up", "down"],
    },
    show: {
        "end": "=ramp.y",
        "mean": Metric(of: "=ramp.y", by: Mean),
    },
    checks: { "moves": Finally(that: "=abs(ramp.y - start) > 0.5") },
    expect: [
        Expect(at: { "way": "up" , "slope": 1 }, is: { "end": 2.0 }, within: "0.1 %"),
        Expect(at: { "way": "down" }, is: { "end": 7.0 }, reason: "the paper goes up", here: { "end": [-2.1, 0.1] }),
    ],
    plots: { "end.svg": Plot(columns: ["end"], title: "Ends") },
)"#;

#[test]
fn a_study_runs_each_row_and_prints_the_figures_of_others_beside_ours() {
    let here = folder();
    write(&here, "ramp.ron", DIAGRAM);
    write(&here, "ramps.study", STUDY);
    let done = legwork(here.path(), &["check", "ramps.study"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.contains("ramps.study: ok, 4 runs"), "{}", done.out);
    let done = legwork(here.path(), &["sweep", "ramps.study", "--out", "out", "--json"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let json = done.json();
    let cells = json["cells"].as_array().expect("cells");
    // y = start ± slope t; the mean of n + 1 samples of a straight line is the middle.
    let rows = [("up", "1", 2.0), ("down", "1", 0.0), ("up", "3", 4.0), ("down", "3", -2.0)];
    assert_eq!(cells.len(), rows.len());
    for (cell, (way, slope, end)) in cells.iter().zip(rows) {
        assert_eq!(
            (&cell["values"]["way"], &cell["values"]["slope"]),
            (&way.into(), &slope.into())
        );
        let number = |name: &str| cell["shown"][name].as_f64().expect("a number");
        assert!((number("end") - end).abs() < 1e-9, "{cell}");
        assert!((number("mean") - (1.0 + end) / 2.0).abs() < 1e-9, "{cell}");
        assert_eq!(cell["checks"]["moves"], true);
    }
    let expected = json["expected"].as_array().expect("figures");
    let agreements: Vec<&Value> = expected.iter().map(|one| &one["agreement"]).collect();
    assert_eq!(agreements, ["agrees", "differs", "differs"]);
    let svg = std::fs::read_to_string(here.path().join("out/end.svg")).expect("a plot");
    assert!(svg.contains("Ends"), "{svg}");
    // Every row is the run that the command line gives, and is not done again.
    let again = legwork(here.path(), &["sweep", "ramps.study", "--out", "out", "--resume"]);
    assert!(again.out.contains("4 runs had ended before"), "{}", again.out);
    assert!(again.out.contains("differs: the paper goes up"), "{}", again.out);
    let single = ["run", "ramp.ron", "--set", "start=1.0", "--set", "slope=3", "--out", "single"];
    let step = ["--set", "run.step=100 ms"];
    legwork(here.path(), &[&single[..], &step].concat());
    let rows = |folder: &str| legwork(here.path(), &["export", folder, "ramp.y"]).out;
    assert_eq!(rows("single"), rows("out/slope=3,run.step=100_ms,way=up"));
}

#[test]
fn options_replace_axes_and_a_figure_without_reason_fails() {
    let here = folder();
    write(&here, "ramp.ron", DIAGRAM);
    write(
        &here,
        "ramps.study",
        STUDY.replace(", reason: \"the paper goes up\", here: { \"end\": [-2.1, 0.1] }", ""),
    );
    let given = ["sweep", "ramps.study", "--variant", "way=up", "--over", "slope=2,4", "--json"];
    let done = legwork(here.path(), &given);
    assert_eq!(done.code, 0, "{}", done.err);
    let json = done.json();
    assert_eq!(json["cells"].as_array().map(Vec::len), Some(4), "two steps times two slopes");
    assert_eq!(json["expected"], serde_json::json!([]));
    let done = legwork(here.path(), &["sweep", "ramps.study"]);
    assert_eq!(done.code, 3, "{}", done.err);
    assert!(done.out.contains("FAILS"), "{}", done.out);
}

/// A known difference has its own bounds.
#[test]
fn a_reason_does_not_excuse_a_figure_that_leaves_its_bounds() {
    let here = folder();
    write(&here, "ramp.ron", DIAGRAM);
    for (bounds, code) in [("[-2.1, 0.1]", 0), ("[-1.9, 0.1]", 3), ("[-2.1, -0.1]", 3), ("0.0", 3)]
    {
        let study = STUDY.replace("\"end\": [-2.1, 0.1]", &format!("\"end\": {bounds}"));
        write(&here, "ramps.study", study);
        let done = legwork(here.path(), &["sweep", "ramps.study"]);
        assert_eq!(done.code, code, "{bounds}: {}{}", done.out, done.err);
        assert_eq!(done.out.contains("FAILS: expected"), code == 3, "{bounds}: {}", done.out);
    }
}

/// Mistakes have file, line, column and mark, as those of diagrams.
#[test]
fn mistakes_of_a_study_have_their_place() {
    let here = folder();
    write(&here, "ramp.ron", DIAGRAM);
    for (written, instead, said, at) in [
        ("diagram: \"ramp.ron\"", "diagram: \"rump.ron\"", "did you mean `", "3:14"),
        ("\"up\", \"down\"", "\"up\", \"dawn\"", "has no choice `dawn`", "7:23"),
        ("reason: \"the paper goes up\", ", "", "needs a `reason`", "16:65"),
        ("here: { \"end\"", "here: { \"and\"", "no figure `and`", "16:96"),
        ("[-2.1, 0.1]", "[-2.1]", "the least and the greatest", "16:103"),
        ("slope, run.step", "slope, ron.step", "ron", "6:9"),
        ("[3, \"100 ms\"]", "[3, \"100 m\"]", "expected a time", "6:43"),
        ("[3, \"100 ms\"]", "[3]", "a list of 2", "6:43"),
        ("\"=ramp.y\",", "\"=ramp.z\",", "no output `z`", "10:18"),
        ("by: Mean", "by: Maen", "Maen", "11:43"),
        ("\"slope\": 1 }", "\"slope\": 2 }", "no run has `slope` at 2", "15:36"),
        (
            "is: { \"end\": 7.0 }, reason: \"the paper goes up\", here: { \"end\"",
            "is: { \"ent\": 7.0 }, reason: \"the paper goes up\", here: { \"ent\"",
            "`show` has no column `ent`",
            "16:45",
        ),
        ("is: { \"end\": 2.0 }", "is: { \"end\": \"2 m\" }", "", ""),
        ("columns: [\"end\"]", "columns: [\"ends\"]", "`show` has no column `ends`", "18:40"),
        ("over: {", "ower: {", "ower", "5:5"),
        ("\"end.svg\"", "\"../end.svg\"", "expected the name of a file", "18:14"),
        ("within: \"0.1 %\"", "within: \"1 m\"", "a share from 0 up", "15:78"),
    ] {
        write(&here, "ramps.study", STUDY.replace(written, instead));
        let done = legwork(here.path(), &["check", "ramps.study"]);
        let is_wrong = !said.is_empty();
        assert_eq!(done.code, i32::from(is_wrong), "{instead}: {}", done.err);
        assert!(done.err.contains(said), "{instead}: no `{said}` in {}", done.err);
        assert!(
            !is_wrong || done.err.contains(&format!("ramps.study:{at}")),
            "{instead}: {}",
            done.err
        );
    }
}

/// Three of the cases of wrong masses; the others run by `legwork sweep` of the study.
#[test]
fn a_trot_by_predictive_control_passes_with_wrong_masses() {
    let here = folder();
    let study = concat!(env!("CARGO_MANIFEST_DIR"), "/diagrams/quadruped/mpc_masses.study");
    let given = ["sweep", study, "--over", "speed=1 m/s", "--shard", "3/7", "--out", "o", "--json"];
    let done = legwork(here.path(), &given);
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    let json = done.json();
    let cells = json["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 3, "{}", done.out);
    for cell in cells {
        let speed = cell["shown"]["mean speed"].as_f64().expect("a speed");
        assert!((speed - 1.0).abs() < 0.05 && cell["status"] == "ok", "{cell}");
    }
}
