//! `legwork plot`.

use serde_json::Value;

use super::support::{folder, legwork, write};

#[test]
fn a_table_becomes_a_picture() {
    let here = folder();
    write(&here, "t.csv", "# measured\nn,cold [us],warm [us],note\n1,2,1,0\n10,20,,0\n");
    let done = legwork(
        here.path(),
        &["plot", "t.csv", "cold", "warm", "-o", "t.svg", "--log", "x,y", "--json"],
    );
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(done.json()["series"], serde_json::json!(["cold", "warm"]));
    let svg = std::fs::read_to_string(here.path().join("t.svg")).expect("the picture is written");
    // Two points and one: an empty cell is none.
    assert_eq!(svg.matches("<circle").count(), 3, "{svg}");
    assert!(svg.contains(">[us]</text>") && svg.contains(">1e1</text>"), "{svg}");

    write(&here, "bad.csv", "n,t\n1,2\n2,fast\n");
    for (arguments, expected) in [
        (vec!["plot", "bad.csv", "-o", "x.svg"], "bad.csv:3: expected a number in the column `t`"),
        (vec!["plot", "t.csv", "clod", "-o", "x.svg"], "did you mean `cold`?"),
        (vec!["plot", "none.csv", "-o", "x.svg"], "none.csv"),
        (vec!["plot", "t.csv", "-o", "no/x.svg"], "cannot write"),
        (vec!["plot", "t.csv"], "--output"),
    ] {
        let done = legwork(here.path(), &arguments);
        assert_eq!(done.code, 64, "{arguments:?}: {}", done.err);
        assert!(done.err.contains(expected), "no `{expected}` in {}", done.err);
    }
}

/// Waves over 10 000 steps, one of them with a spike of one row, and a count.
fn waves(gain: f64) -> String {
    format!(
        r#"Diagram(
    format: 2,
    doc: "Waves <b>& a spike</b>.",
    run: (stop: "10 s", step: "1 ms", solver: Euler),
    params: {{ "gain": Param(value: {gain:?}) }},
    blocks: {{
        "wave":  Fcn(expression: "[sin(40*t), sin(41*t), sin(42*t), cos(40*t), cos(41*t), cos(42*t)]"),
        "spike": Fcn(expression: "50*max(0, 1 - 1e4*abs(t - 4.321))"),
        "sum":   Gain(gain: "=gain", in: {{ "u": "spike.y" }}),
    }},
    log: ["wave.y", "spike.y", "sum.y"],
)"#
    )
}

fn here_with_runs() -> tempfile::TempDir {
    let here = folder();
    write(&here, "a.ron", waves(2.0));
    for (out, set) in [("one", "gain=2"), ("two", "gain=3")] {
        let done = legwork(here.path(), &["run", "a.ron", "--out", out, "--set", set]);
        assert_eq!(done.code, 0, "{}", done.err);
    }
    here
}

fn text(here: &tempfile::TempDir, name: &str) -> String {
    std::fs::read_to_string(here.path().join(name)).expect("the picture is written")
}

#[test]
fn recorded_signals_become_a_small_picture_with_every_spike() {
    let here = here_with_runs();
    let draw = |name: &str| {
        let words = ["plot", "one", "wave.y", "spike.y", "sum.y", "-o", name, "--json"];
        let done = legwork(here.path(), &words);
        assert_eq!(done.code, 0, "{}", done.err);
        done.json()
    };
    let json = draw("a.svg");
    assert_eq!(json["panels"], 3);
    assert_eq!(json["signals"][0]["elements"].as_array().map(Vec::len), Some(6));
    let svg = text(&here, "a.svg");
    assert!(svg.len() < 300_000, "{} bytes", svg.len());
    draw("b.svg");
    assert!(svg == text(&here, "b.svg"), "two pictures of one run differ");
    // The spike of one row in 10 000 is drawn up to the top of its panel: its axis ends 6 % above.
    let paths: Vec<&str> = svg.split("<path d=\"").skip(1).collect();
    let tall = paths.iter().filter(|path| {
        path.split(['l', 'v', 'h', '"']).any(|step| {
            let dy = step.rsplit(' ').next().and_then(|number| number.parse::<f64>().ok());
            dy.is_some_and(|dy| dy < -150.0)
        })
    });
    assert_eq!(tall.count(), 2, "of the spike and its multiple");
}

#[test]
fn runs_lie_over_one_another_with_their_names_in_the_legend() {
    let here = here_with_runs();
    let words = ["plot", "one", "two/run.mcap", "sum.y", "wave.y[4..6]", "-o", "a.svg", "--json"];
    let done = legwork(here.path(), &[&words[..], &["--from", "4 s", "--until", "4.5 s"]].concat());
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(done.json()["runs"], serde_json::json!(["one/run.mcap", "two/run.mcap"]));
    let svg = text(&here, "a.svg");
    for name in [">one<", ">two<", ">wave.y[4] one<", ">wave.y[5] two<", ">4.5<", ">t [s]<"] {
        assert!(svg.contains(name), "no `{name}` in {svg}");
    }
    assert!(!svg.contains(">4.6<") && !svg.contains(">3.9<"), "{svg}");
    assert_eq!(svg.matches(">t [s]<").count(), 1, "one time axis");
}

#[test]
fn a_table_with_the_time_lies_over_a_run() {
    let here = here_with_runs();
    write(&here, "seen.csv", "t,sum.y,wave.y[0],wave.y[1]\n4,0,0.5,0\n5,,1,0.25\n");
    for (path, more, panels) in [("sum.y", &[][..], 2), ("sum.y", &["--apart"], 2)] {
        let words = ["plot", "one", "seen.csv", "wave.y[0..2]", path, "-o", "a.svg", "--json"];
        let done = legwork(here.path(), &[&words[..], more].concat());
        assert_eq!(done.code, 0, "{}", done.err);
        assert_eq!(done.json()["panels"], panels);
        let svg = text(&here, "a.svg");
        for name in [">one<", ">seen<", ">wave.y[0] one<", ">wave.y[1] seen<"] {
            assert!(svg.contains(name), "no `{name}` in {svg}");
        }
    }
    for (table, expected) in [
        ("x,sum.y\n0,1\n", "expected the time `t` [s] first, found `x`"),
        ("t,sum.y\n0,1\n1,up\n", "line 3, column 2: expected a number in the column `sum.y`"),
    ] {
        write(&here, "bad.csv", table);
        let done = legwork(here.path(), &["plot", "one", "bad.csv", "sum.y", "-o", "b.svg"]);
        assert_eq!(done.code, 64, "{}", done.err);
        assert!(done.err.contains(expected) && done.err.contains("bad.csv"), "{}", done.err);
    }
}

#[cfg(feature = "png")]
#[test]
fn a_png_has_the_size_asked_for() {
    let here = here_with_runs();
    let words = ["plot", "one", "spike.y", "-o", "a.png", "--size", "640x400"];
    assert_eq!(legwork(here.path(), &words).code, 0);
    let png = std::fs::read(here.path().join("a.png")).expect("the picture is written");
    assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
    assert_eq!(
        (&png[16..20], &png[20..24]),
        (&640u32.to_be_bytes()[..], &400u32.to_be_bytes()[..])
    );
    write(&here, "t.csv", "n,a\n1,2\n2,3\n");
    assert_eq!(legwork(here.path(), &["plot", "t.csv", "-o", "t.png"]).code, 0);
}

#[cfg(not(feature = "png"))]
#[test]
fn a_png_without_its_feature_is_refused_with_advice() {
    let here = here_with_runs();
    let done = legwork(here.path(), &["plot", "one", "spike.y", "-o", "a.png"]);
    assert_eq!(done.code, 64, "{}", done.err);
    assert!(done.err.contains("--features png") && done.err.contains(".svg"), "{}", done.err);
    assert!(!here.path().join("a.png").exists());
}

#[test]
fn a_number_is_drawn_over_another_in_the_size_asked_for() {
    let here = here_with_runs();
    let words = ["plot", "one", "--phase", "wave.y[0]", "wave.y[3]", "-o", "p.svg"];
    let words = [&words[..], &["--size", "640x400"]].concat();
    assert_eq!(legwork(here.path(), &words).code, 0);
    // sin and cos of one angle: a circle, which has moves to all four sides.
    let svg = text(&here, "p.svg");
    assert!(svg.contains(">wave.y[3] over wave.y[0]<"), "{svg}");
    assert!(svg.contains("width=\"640\" height=\"400\""), "{svg}");
}

/// A bus falls apart into the parts that have names and units of their own, views included.
#[test]
fn a_bus_is_drawn_by_its_views() {
    let here = folder();
    let stand =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("diagrams/quadruped/stand.ron");
    let stand = stand.to_str().expect("a plain path");
    let run = ["run", stand, "--until", "20 ms", "--out", "run", "--no-checks", "--set", "mu=0.6"];
    let run = [&run[..], &["--variant", "contact=hertz"]].concat();
    assert_eq!(legwork(here.path(), &run).code, 0);
    let state = legwork(here.path(), &["plot", "run", "body.state", "-o", "b.svg", "--json"]);
    let names: Vec<Value> = state.json()["signals"].as_array().expect("a list").clone();
    let names: Vec<&str> = names.iter().filter_map(|signal| signal["path"].as_str()).collect();
    assert!(names.contains(&"body.state.base.position"), "{names:?}");
    assert!(names.contains(&"body.state.s_dot"), "{names:?}");
    let height = "body.state.base.position[2]";
    let done = legwork(here.path(), &["plot", "run", height, "-o", "a.svg", "--json"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(done.json()["signals"][0]["unit"], "m");
    let svg = text(&here, "a.svg");
    assert!(svg.contains(">[m]<") && svg.contains(">body.state.base.position[2] (z)<"), "{svg}");
    // Legends name joints and axes, alone and beside others of their unit.
    let words = ["plot", "run", "body.state.s[3..5]", "body.state.base.orientation", "-o", "j.svg"];
    let words = [&words[..], &["body.state.base.velocity", "pd.tau[0..2]"]].concat();
    let done = legwork(here.path(), &words);
    assert_eq!(done.code, 0, "{}", done.err);
    let svg = text(&here, "j.svg");
    let names = ["FR_abad_joint", "FR_hip_joint", "w", "z", "FL_hip_joint"];
    for name in names {
        assert!(svg.contains(&format!(">{name}</text>")), "no `{name}` in {svg}");
    }
}

#[test]
fn a_slip_in_a_plot_is_told_in_words() {
    let here = here_with_runs();
    write(&here, "t.csv", "n,a\n1,2\n");
    write(&here, "bad.mcap", "no recording");
    for (words, expected) in [
        (&["plot", "one", "wav.y", "-o", "x.svg"][..], "did you mean `wave.y`?"),
        (&["plot", "one", "wave.y[6]", "-o", "x.svg"], "it has `wave.y[0]` to `wave.y[5]`"),
        (&["plot", "one", "none/such", "-o", "x.svg"], "none/such"),
        (&["plot", "none", "-o", "x.svg"], "no recording `none`"),
        (&["plot", "bad.mcap", "-o", "x.svg"], "expected an MCAP file"),
        (&["plot", "one", "-o", "x.pdf"], ".svg or .png"),
        (&["plot", "one", "spike.y", "-o", "no/x.svg"], "cannot write"),
        (&["plot", "one", "spike.y", "-o", "x.svg", "--from", "11 s"], "no recorded rows"),
        (
            &["plot", "one", "spike.y", "-o", "x.svg", "--from", "2", "--until", "1"],
            "--from before",
        ),
        (&["plot", "one", "spike.y", "-o", "x.svg", "--size", "9x9"], "64 to 16384"),
        (&["plot", "one", "spike.y", "-o", "x.svg", "--size", "64x64"], "at least"),
        (&["plot", "one", "--phase", "wave.y", "spike.y", "-o", "x.svg"], "wave.y[0]"),
        (&["plot", "t.csv", "-o", "x.svg", "--from", "1"], "--from is for recorded runs"),
    ] {
        let done = legwork(here.path(), words);
        assert_eq!(done.code, 64, "{words:?}: {}", done.err);
        assert!(done.err.contains(expected), "no `{expected}` in {}", done.err);
        assert!(!here.path().join("x.svg").exists(), "{words:?}");
    }
}
