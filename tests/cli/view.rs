//! `legwork view` of recorded runs, as a file.

use serde_json::Value;

use super::support::{folder, legwork, page_messages, page_texts, repository, write};

/// A run with a check that passes, one that fails, and texts that would be HTML.
const DIAGRAM: &str = r#"Diagram(
    format: 2,
    doc: "A <b>ramp</b> & more.</script><script>alert(1)</script>",
    run: (stop: "1 s", step: "10 ms", solver: Euler, seed: 3),
    params: { "slope": Param(value: 1.0) },
    blocks: {
        "rate": Constant(value: "=slope"),
        "ramp": Integrator(in: { "u": "rate.y" }),
        "wave": Sine(frequency: "1 Hz"),
    },
    log: ["ramp.y", "wave.y", "rate.y"],
    checks: {
        "rises": Finally(that: "=ramp.y > 1.5"),
        "<i>stays</i>": Always(that: "=ramp.y < 1.5"),
    },
)"#;

/// The messages of a kind, such as `model`.
fn told<'m>(messages: &'m [Value], kind: &str) -> Vec<&'m Value> {
    messages.iter().filter_map(|message| message.get(kind)).collect()
}

/// The word at a place of a frame.
fn word(frame: &[u8], i: usize) -> usize {
    u32::from_le_bytes([frame[4 * i], frame[4 * i + 1], frame[4 * i + 2], frame[4 * i + 3]])
        as usize
}

#[test]
fn a_page_of_a_run_holds_all_that_is_known_of_it() {
    let here = folder();
    write(&here, "a.ron", DIAGRAM);
    let ran = legwork(
        here.path(),
        &["run", "a.ron", "--out", "run", "--set", "slope=2", "--no-checks", "--profile"],
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    let done = legwork(here.path(), &["view", "run", "-o", "a.html", "--json"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(done.json()["page"], "a.html");
    let html = std::fs::read_to_string(here.path().join("a.html")).unwrap();
    // Names of the diagram are data: no text of it is HTML.
    assert!(!html.contains("alert(1)") && !html.contains("<b>ramp"));
    // Nothing is fetched.
    assert!(!html.contains("src=\"") && !html.contains("<link rel=\"stylesheet\""));
    let (texts, frames) = page_messages(&here.path().join("a.html"));
    let messages: Vec<Value> =
        texts.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    assert_eq!(messages[0]["hello"]["live"], false);
    let [model] = told(&messages, "model")[..] else { panic!("one run has one model") };
    assert_eq!((&model["source"], &model["signals"][0]["path"]), (&0.into(), &"ramp.y".into()));
    let [report] = told(&messages, "report")[..] else { panic!("one run has one report") };
    assert_eq!((&report["title"], &report["doc"]), (&"a".into(), &model["doc"]));
    let told_of_run = report["sections"].to_string();
    for part in [
        r#"{"kind":"pass","text":"pass"},{"kind":"text","text":"rises"}"#,
        r#"{"kind":"fail","text":"FAIL"},{"kind":"text","text":"<i>stays</i>"}"#,
        "1 of 2 passed.",
        r#"{"kind":"text","text":"override"},{"kind":"text","text":"slope=2"}"#,
        "Euler in steps of ",
        "1 s in 100 steps",
        r#""heading":"Profile""#,
    ] {
        assert!(told_of_run.contains(part), "no `{part}` in {told_of_run}");
    }
    let answers: Vec<(&Value, &Value)> = messages
        .iter()
        .filter_map(|message| Some((message.get("answer")?, message.get("ok")?)))
        .collect();
    let answer = |what: &str, key: &str, value: Value| {
        let is_it = |asked: &&(&Value, &Value)| asked.0["do"] == what && asked.0[key] == value;
        answers.iter().find(is_it).map(|asked| asked.1)
    };
    let drawing = answer("draw", "depth", Value::Null).unwrap();
    assert!(drawing["drawing"]["schematic"]["symbols"].to_string().contains("Integrator"));
    let block = answer("block", "path", "ramp".into()).unwrap();
    assert_eq!(block["inputs"][0]["from"][0], "rate.y");
    let watch = answer("watch", "path", "ramp.y".into()).unwrap();
    assert_eq!((&watch["signal"], &watch["leaves"]), (&0.into(), &1.into()));
    // All samples of a short run: 101 times, then 101 values, of the first signal.
    let samples = frames.iter().find(|frame| word(frame, 0) == 2).unwrap();
    assert_eq!([word(samples, 4), word(samples, 5), word(samples, 6)], [3, 0, 101]);
    let last = &samples[4 * (9 + 2 * 201)..][..8];
    let last = f64::from_le_bytes(last.try_into().unwrap());
    assert!((last - 2.0).abs() < 1e-12, "{last}");

    // The recording alone gives the same page, but for what run.json knows.
    std::fs::create_dir(here.path().join("bare")).unwrap();
    let from = here.path().join("run/run.mcap");
    std::fs::copy(from, here.path().join("bare/rec.mcap")).expect("a copy");
    for to in ["x.html", "y.html"] {
        let done = legwork(here.path(), &["view", "bare/rec.mcap", "-o", to]);
        assert_eq!(done.code, 0, "{}", done.err);
    }
    let read = |name: &str| std::fs::read(here.path().join(name)).unwrap();
    assert!(read("x.html") == read("y.html"));
    assert!(page_texts(&here.path().join("x.html")).contains("no run.json"));
}

#[test]
fn a_page_of_several_runs_has_each_as_a_source_and_thins_without_losing_a_spike() {
    let here = folder();
    let long = DIAGRAM.replace("\"1 s\", step: \"10 ms\"", "\"300 s\", step: \"1 ms\"").replace(
        "\"wave\": Sine(frequency: \"1 Hz\"),",
        "\"wave\": Fcn(expression: \"if t == 123.456[s] then 7.25 else sin(t * 1[rad/s])\"),",
    );
    write(&here, "long.ron", long);
    write(&here, "a.ron", DIAGRAM);
    for (file, out) in [("long.ron", "long"), ("a.ron", "a")] {
        let ran = legwork(here.path(), &["run", file, "--out", out, "--no-checks"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    write(&here, "table.csv", "t,ramp.y\n0,0\n1,4\n");
    let done = legwork(here.path(), &["view", "long", "a", "table.csv", "-o", "all.html"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let (texts, frames) = page_messages(&here.path().join("all.html"));
    let models = texts.iter().filter(|text| text.contains("\"model\":{")).count();
    assert_eq!(models, 3);
    let sources: Vec<usize> =
        frames.iter().filter(|f| word(f, 0) == 2).map(|frame| word(frame, 2)).collect();
    assert_eq!(sources, [0, 1, 2]);
    let samples = frames.iter().find(|frame| word(frame, 0) == 2).unwrap();
    assert!(samples.len() < 2_000_000, "{} bytes", samples.len());
    let spike = 7.25f64.to_le_bytes();
    assert!(samples.windows(8).any(|part| part == spike), "the spike is lost");
}

#[test]
fn a_page_of_a_fault_says_it() {
    let here = folder();
    let text = DIAGRAM.replace("Constant(value: \"=slope\")", "Fcn(expression: \"1/(t - 0.5)\")");
    write(&here, "f.ron", text);
    assert_eq!(legwork(here.path(), &["run", "f.ron", "--out", "run"]).code, 2);
    assert_eq!(legwork(here.path(), &["view", "run", "-o", "f.html"]).code, 0);
    let page = page_texts(&here.path().join("f.html"));
    assert!(page.contains("\"heading\":\"Fault\""), "{page}");
    assert!(page.contains("t=500 ms, output, rate: "), "{page}");
    assert!(page.contains(r#"{"kind":"open","text":"open"},{"kind":"text","text":"rises"}"#));
}

#[test]
fn a_slip_in_a_view_is_told_in_words() {
    let here = folder();
    write(&here, "a.ron", DIAGRAM);
    legwork(here.path(), &["run", "a.ron", "--out", "run", "--no-checks"]);
    write(&here, "taken.mcap", "a file");
    let fails = |words: &[&str], expected: &str| {
        let done = legwork(here.path(), words);
        assert_eq!(done.code, 64, "{words:?}: {}", done.err);
        assert!(done.err.contains(expected), "no `{expected}` in {}", done.err);
    };
    fails(&["view", "nowhere.mcap"], "no recording `nowhere.mcap`");
    fails(&["view", "nowhere.ron"], "no file `nowhere.ron`");
    fails(&["view", "taken.mcap", "-o", "x.html"], "expected an MCAP file");
    fails(&["view", "run", "-o", "no/x.html"], "cannot write");
    fails(&["view", "run", "-o", "x.svg"], "a page ends in .html");
    fails(&["view", "run", "--set", "slope=3"], "a recorded run is shown as it is");
    fails(&["view", "a.ron", "--host", "192.0.2.1"], "cannot listen on 192.0.2.1:0");
    assert_eq!(legwork(here.path(), &["view"]).code, 64);
    // The run.json of another run is not believed.
    let kept = here.path().join("run/run.json");
    let facts = std::fs::read_to_string(&kept).unwrap();
    let mut other: Value = serde_json::from_str(&facts).unwrap();
    other["program_hash"] = "0".into();
    std::fs::write(&kept, other.to_string()).unwrap();
    let done = legwork(here.path(), &["view", "run", "-o", "x.html"]);
    assert!(done.code == 0 && done.err.contains("is of another run"), "{}", done.err);
    std::fs::write(&kept, "{").unwrap();
    fails(&["view", "run", "-o", "x.html"], "run.json");
}

/// Contacts are not recorded: the run is gone through once more, and they are as they were.
#[test]
fn a_page_of_a_run_shows_forces_that_are_not_recorded() {
    let here = folder();
    let run = |words: &[&str]| {
        let done = legwork(here.path(), words);
        assert_eq!(done.code, 0, "{words:?}: {}", done.err);
        done.err
    };
    run(&["run", "demo:stand", "--out", "run", "--no-checks", "-q"]);
    let said = run(&["view", "run", "-o", "x.html"]);
    assert!(!said.contains("not recorded"), "{said}");
    let poses = |name: &str| {
        let (_, frames) = page_messages(&here.path().join(name));
        frames.into_iter().filter(|frame| word(frame, 0) == 1).collect::<Vec<_>>()
    };
    let number = |frame: &[u8], at: usize| f32::from_bits(word(frame, at) as u32);
    // Behind 17 links and a centre of mass.
    let contacts = 6 + 7 * 17 + 3;
    let found = poses("x.html");
    assert_eq!(found.len(), 181);
    for frame in &found {
        assert_eq!(word(frame, contacts), 4, "four feet");
    }
    // Before it lands nothing carries it, at the end the ground does; 8.25 kg and the rotors.
    let carried = |frame: &[u8]| -> f32 {
        (0..4).map(|foot| number(frame, contacts + 1 + 11 * foot + 9)).sum()
    };
    assert_eq!(carried(&found[0]), 0.0);
    assert!((carried(&found[180]) - 8.25 * 9.81).abs() < 1.0, "{}", carried(&found[180]));
    // A run that was edited is not what the diagram alone leads to.
    write(&here, "lines", "set pd.kp 80\ncontinue\nquit\n");
    run(&["step", "demo:stand", "--out", "edited", "--script", "lines"]);
    let said = run(&["view", "edited", "-o", "y.html"]);
    assert!(said.contains("not recorded of it: it was edited as it ran"), "{said}");
    assert!(poses("y.html").iter().all(|frame| word(frame, contacts) == 0));
}

/// Meshes are where the diagram knows their package, with the pictures that lie beside them.
#[test]
fn a_page_of_a_run_shows_meshes_of_packages_and_their_pictures() {
    let here = folder();
    std::fs::create_dir_all(here.path().join("ros/crate/looks")).unwrap();
    write(
        &here,
        "a.ron",
        r#"Diagram(
            format: 2,
            run: (stop: "10 ms", step: "1 ms"),
            robots: { "b": Urdf(path: "b.urdf", packages: { "crate": "ros/crate" }) },
            blocks: {
                "still": Constant(value: "=zeros(b.nv)"),
                "body": FloatingBase(robot: "b", in: { "nu_dot": "still.y" }),
            },
        )"#,
    );
    write(
        &here,
        "b.urdf",
        r#"<robot name="b"><link name="l"><inertial><mass value="1"/>
            <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
            <visual><geometry><mesh filename="package://crate/looks/m.obj"/></geometry></visual>
        </link></robot>"#,
    );
    write(
        &here,
        "ros/crate/looks/m.obj",
        "mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt .1 .9\nvt .2 .9\nvt .1 .8\nusemtl a\nf 1/1 2/2 3/3\n",
    );
    write(&here, "ros/crate/looks/m.mtl", "newmtl a\nmap_Kd four.png\n");
    let picture = "ros/crate/looks/four.png";
    std::fs::copy(repository().join("tests/data/pictures/four.png"), here.path().join(picture))
        .unwrap();
    let ran = legwork(here.path(), &["run", "a.ron", "--out", "run"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let page = || {
        let done = legwork(here.path(), &["view", "run", "-o", "a.html"]);
        assert_eq!(done.code, 0, "{}", done.err);
        (done.err, page_messages(&here.path().join("a.html")).1)
    };
    let (told, frames) = page();
    assert!(!told.contains("not shown"), "{told}");
    // The picture is red where the triangle lies.
    let red = [1.0_f32, 0.0, 0.0, 1.0].map(f32::to_le_bytes).concat();
    assert!(frames.iter().any(|frame| frame.windows(16).any(|part| part == red)));
    // Without its picture the mesh is shown, and that is told.
    std::fs::remove_file(here.path().join(picture)).unwrap();
    let (told, _) = page();
    let starts =
        "warning: a picture on the mesh `ros/crate/looks/m.obj` is not shown: `four.png`: no";
    assert!(told.contains(starts), "{told}");
}
