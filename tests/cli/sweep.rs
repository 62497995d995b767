//! `legwork sweep`.

use std::path::Path;

use serde_json::{Value, json};

use super::support::{command, done, folder, legwork, write};

/// A ramp behind a variant with good choices and bad ones, that must get to 1.
const RAMP: &str = r#"Diagram(
    format: 2,
    run: (stop: "1 s", step: "10 ms", solver: Euler, seed: 3),
    params: { "slope": Param(value: 1.0), "gains": Param(value: [1, 2]),
        "limit": Param(value: "1 m") },
    variants: { "part": Variant(
        ports: (in: { "u": "Real" }, out: { "y": "Real" }),
        default: "one",
        choices: {
            "one": Gain(gain: 1.0), "more": Gain(gain: 2.0),
            "bad": Fcn(expression: "u/(t - 0.5)"), "broken": Gain(gian: 3.0),
        },
    ) },
    blocks: {
        "rate":  Constant(value: "=slope"),
        "gain":  Use(of: "part", in: { "u": "rate.y" }),
        "ramp":  Integrator(in: { "u": "gain.y" }),
        "noise": WhiteNoise(every: "10 ms", power: 1.0),
        "wide":  Constant(value: "=gains"),
        "far":   Constant(value: "=limit"),
    },
    log: ["ramp.y", "noise.y", Every("100 ms", "wide.y"), "far.y"],
    checks: { "gets there": Finally(that: "=ramp.y > 0.99") },
)"#;

fn json_of(here: &Path, arguments: &[&str], code: i32) -> Value {
    let done = legwork(here, &[&["sweep", "ramp.ron"], arguments, &["--json"]].concat());
    assert_eq!(done.code, code, "{arguments:?}: {}", done.err);
    done.json()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("a number, not {value}"))
}

#[test]
fn recordings_are_those_of_single_runs_however_many_run_at_a_time() {
    let here = folder();
    write(&here, "ramp.ron", RAMP);
    let axes = ["--over", "part=one,more", "--over", "slope=1,3", "--set", "limit=2 m"];
    let of = |arguments: &[&str]| json_of(here.path(), &[&axes[..], arguments].concat(), 0);
    let one = of(&["--jobs", "1", "--out", "one", "--show", "noise.y:rms"]);
    let two = of(&["--jobs", "2", "--out", "two", "--show", "noise.y:rms"]);
    // Without a directory nothing is written, and the figures are the same.
    let before = std::fs::read_dir(here.path()).expect("it can be read").count();
    let none = of(&["--jobs", "2", "--show", "noise.y:rms"]);
    assert_eq!(std::fs::read_dir(here.path()).expect("it can be read").count(), before);
    for (i, (part, slope)) in
        [("one", "1"), ("one", "3"), ("more", "1"), ("more", "3")].iter().enumerate()
    {
        let single = format!("single{i}");
        let (part_is, slope_is) = (format!("part={part}"), format!("slope={slope}"));
        let arguments = ["run", "ramp.ron", "--variant", &part_is, "--set", "limit=2 m", "--set"];
        let done = legwork(here.path(), &[&arguments[..], &[&slope_is, "--out", &single]].concat());
        assert_eq!(done.code, 0, "{}", done.err);
        let bytes = |folder: &str| {
            std::fs::read(here.path().join(folder).join("run.mcap")).expect("a recording")
        };
        let alone = bytes(&single);
        let name = format!("part={part},slope={slope}");
        assert!(alone == bytes(&format!("one/{name}")), "{name}: 1 at a time");
        assert!(alone == bytes(&format!("two/{name}")), "{name}: 2 at a time");
        assert!(here.path().join("two").join(&name).join("run.json").is_file());
        for sweep in [&one, &two, &none] {
            let cell = &sweep["cells"][i];
            assert_eq!(cell["values"], json!({ "part": part, "slope": slope }));
            assert_eq!(cell["shown"], one["cells"][i]["shown"]);
            assert_eq!(cell["program_hash"], one["cells"][i]["program_hash"]);
        }
        assert_eq!(none["cells"][i]["directory"], Value::Null);
    }
    let written = std::fs::read(here.path().join("two/sweep.json")).expect("the report is written");
    let written: Value = serde_json::from_slice(&written).expect("it is JSON");
    assert_eq!(written["cells"], two["cells"]);
}

#[test]
fn figures_are_those_of_the_recorded_rows() {
    let here = folder();
    write(&here, "ramp.ron", RAMP);
    let paths = [
        "ramp.y",
        "ramp.y:mean",
        "ramp.y:rms",
        "ramp.y:max",
        "ramp.y:min",
        "ramp.y:abs_mean",
        "wide.y[1]",
        "far.y:max",
    ];
    let mut arguments: Vec<&str> = paths.iter().flat_map(|path| ["--show", path]).collect();
    arguments.extend(["--over", "slope=1,-2"]);
    let json = json_of(here.path(), &arguments, 3);
    for (cell, slope) in json["cells"].as_array().expect("a list").iter().zip([1.0f64, -2.0]) {
        // x_k = slope k/100 for k = 0 to 100: Σ k = 5050, Σ k² = 338350.
        let rms = slope.abs() * (338_350.0f64 / 101.0).sqrt() / 100.0;
        let expected = [
            ("ramp.y:final", slope),
            ("ramp.y:mean", slope / 2.0),
            ("ramp.y:rms", rms),
            ("ramp.y:max", slope.max(0.0)),
            ("ramp.y:min", slope.min(0.0)),
            ("ramp.y:abs_mean", slope.abs() / 2.0),
            ("wide.y[1]:final", 2.0),
            ("far.y:max", 1.0),
        ];
        for (name, value) in expected {
            let found = number(&cell["shown"][name]);
            // Sums of a hundred steps.
            assert!((found - value).abs() < 1e-12, "{name}: {found}, not {value}");
        }
    }
    assert_eq!(json["units"]["far.y:max"], "m");
    let vector = json_of(here.path(), &["--over", "slope=1", "--show", "wide.y"], 0);
    assert_eq!(
        vector["cells"][0]["shown"],
        json!({ "wide.y[0]:final": 1.0, "wide.y[1]:final": 2.0 })
    );
}

#[test]
fn a_cell_that_fails_is_a_row_and_not_the_end() {
    let here = folder();
    write(&here, "ramp.ron", RAMP);
    let arguments = ["sweep", "ramp.ron", "--over", "slope=0.5,1", "--over", "part=bad,one,broken"];
    let done = legwork(here.path(), &[&arguments[..], &["--json", "--table", "t.csv"]].concat());
    assert_eq!(done.code, 1, "{}", done.err);
    let json = done.json();
    let cells = json["cells"].as_array().expect("a list");
    let status: Vec<&str> = cells.iter().filter_map(|cell| cell["status"].as_str()).collect();
    let expected = ["fault", "check failed", "diagram error", "fault", "ok", "diagram error"];
    assert_eq!(status, expected);
    let reason = |cell: usize| cells[cell]["reason"].as_str().unwrap_or_default();
    assert!(reason(0).starts_with("t=0.5 s, output, gain:"), "{}", reason(0));
    assert_eq!(cells[0]["fault"]["t"], 0.5);
    assert_eq!(cells[0]["checks"]["gets there"], Value::Null);
    assert_eq!(reason(1), "gets there (0.5 > 0.99, missed by 0.49 at t=1 s)");
    assert_eq!(cells[1]["checks"]["gets there"], false);
    assert!(reason(2).contains("gian"), "{}", reason(2));
    assert_eq!(cells[4]["reason"], Value::Null);
    // What is wrong is said with its place and the cells that have it.
    assert!(done.err.contains("with slope=0.5 part=broken or slope=1 part=broken"), "{}", done.err);
    assert!(
        done.said().contains("slope=0.5 part=one: check failed: gets there"),
        "{}",
        done.said()
    );
    assert!(done.said().contains("1 ok"), "{}", done.said());

    let table = std::fs::read_to_string(here.path().join("t.csv")).expect("the table is written");
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("slope,part,status,checks_passed,checks,sim_time [s],wall [s],"));
    assert!(
        lines[1].starts_with("0.5,bad,fault,0,1,0.49")
            || lines[1].starts_with("0.5,bad,fault,0,1,0.5,"),
        "{}",
        lines[1]
    );
    assert!(lines[3].starts_with("0.5,broken,diagram error,,,,,,"), "{}", lines[3]);
    assert_eq!(lines.len(), 7);

    let codes = |choices: &str| {
        let over = format!("part={choices}");
        legwork(here.path(), &["sweep", "ramp.ron", "--over", "slope=1,0.5", "--over", &over]).code
    };
    assert_eq!((codes("more"), codes("one"), codes("one,bad"), codes("broken")), (0, 3, 2, 1));
    let shortened = ["sweep", "ramp.ron", "--over", "slope=1,0.5", "--until", "0.1 s"];
    assert_eq!(
        legwork(here.path(), &shortened).code,
        3,
        "the end comes sooner, and with it the check"
    );
}

#[test]
fn the_table_is_drawn_by_plot() {
    let here = folder();
    write(&here, "ramp.ron", RAMP);
    let arguments = ["--over", "limit=1 m,2 m,3 m", "--show", "far.y", "--show", "wide.y[1]:mean"];
    json_of(here.path(), &[&arguments[..], &["--table", "t.csv"]].concat(), 0);
    let table = std::fs::read_to_string(here.path().join("t.csv")).expect("the table is written");
    let header = table.lines().next().unwrap_or_default();
    assert!(header.starts_with("limit [m],status,"), "{header}");
    assert!(header.ends_with(",far.y:final [m],wide.y[1]:mean,reason"), "{header}");
    let plot = |columns: &[&str]| {
        let done =
            legwork(here.path(), &[&["plot", "t.csv", "-o", "t.svg", "--json"], columns].concat());
        (done.code, done.out, done.err)
    };
    let (code, out, err) = plot(&["far.y:final"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("\"rows\": 3"), "{out}");
    let svg = std::fs::read_to_string(here.path().join("t.svg")).expect("the picture is written");
    assert_eq!(svg.matches("<circle").count(), 3, "{svg}");
    assert!(svg.contains(">limit [m]</text>"), "{svg}");
    // Unasked, what has no numbers is left out; asked, it is a mistake.
    let (code, out, err) = plot(&[]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("real_time_factor") && !out.contains("status"), "{out}");
    let (code, _, err) = plot(&["status"]);
    assert_eq!(code, 64);
    assert!(err.contains("t.csv:2: expected a number in the column `status`, found `ok`"), "{err}");
}

#[test]
fn lists_and_texts_are_values() {
    let here = folder();
    write(&here, "ramp.ron", RAMP);
    let over = ["--over", "gains=[1, 2],[3,4,5]", "--over", r#"run.step="10 ms","5 ms""#];
    let json = json_of(here.path(), &[&over[..], &["--show", "wide.y:max"]].concat(), 0);
    let cells = json["cells"].as_array().expect("a list");
    assert_eq!(cells.len(), 4);
    assert_eq!(json["axes"][0]["values"], json!(["[1, 2]", "[3,4,5]"]));
    assert_eq!(json["axes"][0]["kind"], "setting");
    assert_eq!(cells[3]["shown"]["wide.y[2]:max"], 5.0);
    assert_eq!(cells[0]["shown"].as_object().map(serde_json::Map::len), Some(2));
    assert_eq!((&cells[0]["steps"], &cells[1]["steps"]), (&json!(100), &json!(200)));
}

#[test]
fn ranges_are_values() {
    let here = folder();
    write(&here, "ramp.ron", RAMP);
    let over = ["--over", "slope=2,lin(0, 1, 3)", "--over", "limit=log(1 cm, 100, 3)"];
    let json = json_of(here.path(), &[&over[..], &["--show", "far.y"]].concat(), 3);
    assert_eq!(json["axes"][0]["values"], json!(["2", "0", "0.5", "1"]));
    let far = |cell: usize| number(&json["cells"][cell]["shown"]["far.y:final"]);
    assert_eq!((far(0), far(1), far(11)), (0.01, 0.1, 1.0));
    let done = legwork(here.path(), &["sweep", "ramp.ron", "--over", "slope=lin(0, 1)"]);
    assert_eq!(done.code, 64);
    assert!(done.err.contains("expected two ends and a count"), "{}", done.err);
}

#[test]
fn a_table_fits_the_columns_that_there_are() {
    let here = folder();
    write(&here, "ramp.ron", RAMP);
    let shows = ["ramp.y:min", "ramp.y:mean", "ramp.y:max", "noise.y:rms", "far.y", "wide.y"];
    let shows = shows.iter().flat_map(|show| ["--show", show]);
    let arguments: Vec<&str> = ["sweep", "ramp.ron", "--over", "slope=1,2", "--jobs", "1"]
        .into_iter()
        .chain(shows)
        .collect();
    let wide = legwork(here.path(), &arguments);
    assert!(wide.out.lines().any(|line| line.chars().count() > 60), "{}", wide.out);
    let narrow = command(here.path(), &arguments).env("COLUMNS", "60").output();
    let narrow = done(narrow.expect("the command starts"));
    assert!(narrow.out.lines().all(|line| line.chars().count() <= 60), "{}", narrow.out);
    for heading in ["slope", "ramp.y:mean", "noise.y:rms", "wide.y[1]:final"] {
        assert!(narrow.out.contains(heading), "no {heading} in {}", narrow.out);
    }
}

#[test]
fn axes_that_change_nothing_are_told() {
    let here = folder();
    write(&here, "ramp.ron", RAMP);
    let done = legwork(here.path(), &["sweep", "ramp.ron", "--over", "slope=1,1.0"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(
        done.said().contains("`slope=1.0` and `slope=1` are the same program"),
        "{}",
        done.said()
    );
    assert!(done.err.is_empty(), "{}", done.err);
}

#[test]
fn slips_on_the_command_line_get_advice() {
    let here = folder();
    write(&here, "ramp.ron", RAMP);
    write(&here, "wrong.ron", RAMP.replace("Integrator(", "Integrater("));
    write(&here, "taken", "a file");
    let cases: [(&[&str], i32, &str); 16] = [
        (&[], 64, "the diagram has --over part=one,more,bad,broken"),
        (&["--over", "part"], 64, "expected a name, `=` and a value"),
        (&["--over", "part=one,"], 64, "expected values of `part`, found `part=one,`"),
        (&["--over", "part=one,one"], 64, "the value `part=one` is named twice"),
        (&["--over", "part=one", "--over", "part=more"], 64, "by an axis and by another axis"),
        (&["--over", "slope=1", "--set", "slope=2"], 64, "by an axis and by an override"),
        (&["--over", "part=one,moer"], 1, "has no choice `moer`; did you mean `more`?"),
        (&["--over", "prat=one,more"], 1, "did you mean the variant `part`?"),
        (&["--over", "slpoe=1,2"], 1, "no axis `slpoe`"),
        (&["--over", "noise.powr=1,2"], 1, "no axis `noise.powr`"),
        (&["--over", "slope=1", "--show", "rmap.y"], 64, "did you mean `ramp.y`?"),
        (&["--over", "slope=1", "--show", "ramp.y:maen"], 64, "did you mean `mean`?"),
        (&["--over", "slope=1", "--jobs", "0"], 64, "--jobs"),
        (&["--over", "slope=1", "--table", "no/t.csv"], 64, "cannot write `no/t.csv`"),
        (&["--over", "slope=1", "--out", "taken"], 64, "cannot create the directory"),
        (&["--over", "slope=\"a\",\"b\""], 1, "\"a\""),
    ];
    for (arguments, code, text) in cases {
        let done = legwork(here.path(), &[&["sweep", "ramp.ron"], arguments].concat());
        assert_eq!(done.code, code, "{arguments:?}: {}", done.err);
        assert!(done.err.contains(text), "{arguments:?}: no `{text}` in {}", done.err);
        assert!(json_of(here.path(), arguments, code).is_object());
    }
    let advice = legwork(here.path(), &["sweep", "ramp.ron", "--over", "slpoe=1,2"]);
    assert!(advice.err.contains("did you mean `slope`?"), "{}", advice.err);

    let wrong = legwork(here.path(), &["sweep", "wrong.ron", "--over", "slope=1,2", "--json"]);
    assert_eq!(wrong.code, 1, "{}", wrong.err);
    assert_eq!(wrong.err.matches("did you mean `Integrator`?").count(), 1, "{}", wrong.err);
    assert_eq!(wrong.json()["diagnostics"][0]["choices"], json!([]));
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_all_cells_and_the_table_is_still_there() {
    let here = folder();
    write(&here, "ramp.ron", RAMP);
    let log = r#"log=[Every("1 s", "ramp.y")]"#;
    let arguments = ["--over", "slope=1,2,3", "--until", "1000000 s", "--jobs", "2", "--out", "o"];
    let child = std::process::Command::new(env!("CARGO_BIN_EXE_legwork"))
        .args([&["sweep", "ramp.ron", "--json", "--set", log], &arguments[..]].concat())
        .current_dir(here.path())
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the command starts");
    // Both of the first cells have begun when their recordings are there.
    let recordings = ["o/slope=1/run.mcap", "o/slope=2/run.mcap"];
    let begun = || recordings.iter().all(|file| here.path().join(file).is_file());
    for _ in 0..2000 {
        if begun() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(begun(), "the runs have not begun in 20 s");
    let killed = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .expect("kill starts");
    assert!(killed.success());
    let done = child.wait_with_output().expect("it ends");
    assert_eq!(done.status.code(), Some(130));
    let json: Value = serde_json::from_slice(&done.stdout).expect("one object");
    let status: Vec<&Value> = (0..3).map(|i| &json["cells"][i]["status"]).collect();
    assert_eq!(status, ["interrupted", "interrupted", "not run"]);
    // What was recorded so far is whole.
    let export = legwork(here.path(), &["export", "o/slope=1", "-o", "x.csv"]);
    assert_eq!(export.code, 0, "{}", export.err);
    assert!(!export.err.contains("cut off"), "{}", export.err);
}

#[test]
fn shards_make_the_rows_of_the_whole() {
    let here = folder();
    write(&here, "ramp.ron", RAMP);
    // `bad` stops at a fault, so that its rows are no part of what a shard keeps.
    let axes = ["--over", "part=one,more,bad", "--over", "slope=1,0.5,3", "--show", "noise.y:rms"];
    let of = |arguments: &[&str]| json_of(here.path(), &[&axes[..], arguments].concat(), 2);
    let whole = of(&["--out", "whole"]);
    let mut count = 0;
    for index in 1..=4 {
        let (shard, out) = (format!("{index}/4"), format!("part{index}"));
        let arguments = [&axes[..], &["--shard", &shard, "--out", &out, "--json"]].concat();
        let done = legwork(here.path(), &[&["sweep", "ramp.ron"], &arguments[..]].concat());
        let cells = done.json()["cells"].as_array().expect("cells").clone();
        count += cells.len();
        for (i, cell) in cells.iter().enumerate() {
            let number = index - 1 + 4 * i;
            assert_eq!(cell["values"], whole["cells"][number]["values"], "{shard}");
            assert_eq!(cell["shown"], whole["cells"][number]["shown"], "{shard}");
        }
    }
    assert_eq!(count, 9);
    let merged = of(&["--merge", "part1,part2", "--merge", "part3,part4", "--table", "m.csv"]);
    let facts = |mut json: Value| {
        for cell in json["cells"].as_array_mut().expect("cells") {
            for name in ["wall_s", "real_time_factor", "directory"] {
                assert!(cell.as_object_mut().expect("a cell").remove(name).is_some(), "{name}");
            }
        }
        json["cells"].take()
    };
    // A recording stays in its shard; what stopped at a fault has run again, and is not kept.
    for cell in merged["cells"].as_array().expect("cells") {
        let part = cell["values"]["part"].as_str().expect("a choice");
        assert_eq!(cell["directory"].is_null(), part == "bad", "{cell}");
        if let Some(directory) = cell["directory"].as_str() {
            let name = Path::new(directory).file_name().expect("a name");
            let bytes = |folder: &Path| {
                std::fs::read(here.path().join(folder).join("run.mcap")).expect("a recording")
            };
            assert!(bytes(directory.as_ref()) == bytes(&Path::new("whole").join(name)));
        }
    }
    assert_eq!(facts(merged), facts(whole));
    assert_eq!(std::fs::read_to_string(here.path().join("m.csv")).expect("it").lines().count(), 10);

    let refused = |arguments: &[&str], says: &str| {
        let done = legwork(here.path(), &[&["sweep", "ramp.ron"], &axes[..], arguments].concat());
        assert_eq!(done.code, 64, "{}", done.said());
        assert!(done.err.contains(says), "{}", done.err);
    };
    refused(&["--merge", "part1,none"], "`none` holds no shard of a sweep");
    refused(&["--merge", "part1", "--set", "limit=2 m"], "another diagram or of other axes");
    refused(&["--shard", "5/4", "--out", "x"], "expected I/N with I from 1 to N");
    refused(&["--shard", "1/4"], "--out");
}
