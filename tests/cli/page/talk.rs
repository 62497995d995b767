//! What a page gets for what it asks.

use legwork::study::commands;
use serde_json::json;

use super::super::support::repository;
use super::{Page, Running, double, library, word};
use legwork_page::protocol::POSE;

/// The samples of a signal of the whole run, as a session reads it step by step.
fn expected(diagram: &legwork::study::Diagram, path: &str, until: f64) -> Vec<(f64, Vec<f64>)> {
    let mut session = diagram.compile().into_model().unwrap().session();
    let signal = session.signal(path).unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    session.look_by(move |stamp, _, arena| {
        let row = signal.slots.iter().flat_map(|slot| arena[slot.range()].to_vec()).collect();
        tell.send((stamp.t, row)).unwrap();
    });
    session.go_to(until);
    told.try_iter().collect()
}

#[test]
fn a_page_is_told_what_there_is() {
    let running = Running::demo("stand");
    let mut page = running.page();
    page.until(|page| page.state(0).map(|_| ()));
    let (hello, model) = (&page.told[0]["hello"], &page.told[1]["model"]);
    assert_eq!((&hello["protocol"], &hello["live"]), (&json!(1), &json!(true)));
    assert_eq!(model["scene"]["robots"][0]["name"], "go");
    assert_eq!(model["variants"][1]["chosen"], "active_set");
    assert!(model["signals"].as_array().unwrap().iter().any(|one| one["path"] == "pd.tau"));
    let block = page.done(0, "block", json!({ "path": "pd" }));
    assert_eq!(block["parameters"][0]["path"], "pd.kd");
    let kp = &block["parameters"][1];
    assert_eq!((&kp["value"], &kp["unit"]), (&json!("60"), &json!("N*m/rad")));
    assert_eq!(block["inputs"][1]["from"], json!(["body.state"]));
    assert!(block["line"]["text"].as_str().unwrap().contains("JointPd"));
    let drawing = page.done(0, "draw", json!({ "open": [] }));
    let symbols = drawing["drawing"]["schematic"]["symbols"].as_array().unwrap();
    assert!(symbols.iter().any(|one| one["role"] == "Folded" && one["path"] == "foot"));
    let drawing = page.done(0, "draw", json!({ "open": ["foot", "foot[FL_foot]"] }));
    let symbols = drawing["drawing"]["schematic"]["symbols"].as_array().unwrap();
    assert!(symbols.iter().any(|one| one["path"] == "foot[FL_foot].point"));
    let foot = page.done(0, "block", json!({ "path": "foot" }));
    assert_eq!(foot["outputs"][1]["name"], "points");
    let files = page.done(0, "text", json!({}));
    assert!(files["files"][0]["text"].as_str().unwrap().starts_with("Diagram("));
    let choices = page.done(0, "choices", json!({}));
    let kp = &choices["parameters"][0];
    assert_eq!((&kp["value"], &kp["unit"]), (&json!("60"), &json!("N*m/rad")));
    for (what, arguments) in [
        ("block", json!({ "path": "nobody" })),
        ("watch", json!({ "path": "nobody.y" })),
        ("fly", json!({})),
        ("run", json!({ "speed": -1.0 })),
        ("run", json!({ "sped": 1.0 })),
        ("line", json!({ "text": "snapshot there" })),
        ("mesh", json!({ "path": "../../etc/passwd" })),
        ("text", json!({ "file": "/etc/passwd" })),
        ("fork", json!({ "name": "../x" })),
    ] {
        let reply = page.ask(0, what, arguments);
        assert!(reply["error"]["message"].is_string(), "{what}: {reply}");
    }
    assert!(page.ask(7, "pause", json!({}))["error"].is_object());
}

/// The path by which the page asks for what a wire carries, as `geometry.ts` makes it.
fn path_of_wire(schematic: &serde_json::Value, wire: &serde_json::Value) -> String {
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let pin = |end: &serde_json::Value| end["pin"].as_u64().unwrap() as usize;
    let symbol =
        |end: &serde_json::Value| &schematic["symbols"][end["symbol"].as_u64().unwrap() as usize];
    let (from, to) = (symbol(&wire["from"]), symbol(&wire["to"]));
    if from["role"] == "Join" {
        return format!("{}.{}", text(&to["path"]), text(&to["inputs"][pin(&wire["to"])]));
    }
    let output = text(&from["outputs"][pin(&wire["from"])]["name"]);
    let dot = if output.is_empty() { "" } else { "." };
    format!("{}{dot}{output}{}", text(&from["path"]), text(&wire["part"]))
}

/// A click on any wire watches what it carries, or says of what several signals it is made.
#[test]
fn every_wire_of_a_drawing_can_be_watched() {
    for file in [
        "diagrams/quadruped/stand.ron",
        "diagrams/quadruped/trot.ron",
        "diagrams/floating_base/stand.ron",
        "diagrams/whole_body/balance.ron",
        "diagrams/signals/two_ways.ron",
        "diagrams/basics/gantry.ron",
    ] {
        let file = repository().join(file);
        let running = Running::of(&library().open(file.to_str().unwrap()).unwrap(), None);
        let mut page = running.page();
        for depth in [1, 9] {
            let drawing = page.done(0, "draw", json!({ "open": null, "depth": depth }));
            let schematic = &drawing["drawing"]["schematic"];
            let mut watched = 0;
            for wire in schematic["wires"].as_array().unwrap() {
                let from = &schematic["symbols"][wire["from"]["symbol"].as_u64().unwrap() as usize];
                let block = page.ask(0, "block", json!({ "path": from["path"] }));
                // What is called has no signals.
                if block["ok"]["called"] == true {
                    continue;
                }
                let path = path_of_wire(schematic, wire);
                let reply = page.ask(0, "watch", json!({ "path": path }));
                let message = reply["error"]["message"].as_str().unwrap_or_default();
                let told = ["is put together from", "it is a function"];
                let is_told = told.iter().any(|words| message.contains(words));
                assert!(message.is_empty() || is_told, "{}: {path}: {message}", file.display());
                watched += usize::from(message.is_empty());
            }
            assert!(watched > 3, "{}: {watched} wires", file.display());
        }
    }
}

/// Fields of parameters that no path leads to are not offered.
#[test]
fn parameters_inside_of_a_mask_are_the_masks() {
    let file = repository().join("diagrams/floating_base/stand.ron");
    let running = Running::of(&library().open(file.to_str().unwrap()).unwrap(), None);
    let mut page = running.page();
    let mut offered = |block: &str| {
        let block = page.done(0, "block", json!({ "path": block }));
        let all = block["parameters"].as_array().unwrap().clone();
        assert!(!all.is_empty());
        all.iter().filter(|parameter| parameter["tunable"] == true).count()
    };
    assert!(offered("pd") > 0);
    assert_eq!(offered("sim.body"), 0);
}

/// A comparison repeats both runs: there is one at a time.
#[test]
fn one_comparison_is_made_at_a_time() {
    let file = repository().join("diagrams/quadruped/trot.ron");
    let running = Running::of(&library().open(file.to_str().unwrap()).unwrap(), None);
    let mut page = running.page();
    page.done(0, "fork", json!({ "name": "b", "changes": [] }));
    for source in [0, 1] {
        page.done(source, "line", json!({ "text": "until 5 s" }));
    }
    for _ in 0..4 {
        page.begin(0, "compare", json!({ "a": 0, "b": 1 }));
    }
    let replies: Vec<serde_json::Value> = (0..4).map(|_| page.reply()).collect();
    let refused = replies.iter().filter(|reply| {
        reply["error"]["message"].as_str().is_some_and(|why| why.contains("are being compared"))
    });
    assert_eq!(refused.count(), 3, "{replies:?}");
    assert!(page.done(0, "compare", json!({ "a": 0, "b": 1 }))["rows"].is_array());
}

/// What a block calls opens as frames do, and is explained as other blocks are.
#[test]
fn functions_open_and_close() {
    let file = repository().join("tests/data/run/functions.ron");
    let running = Running::of(&library().open(file.to_str().unwrap()).unwrap(), None);
    let mut page = running.page();
    let symbols = |page: &mut Page, open: serde_json::Value| {
        let drawing = page.done(0, "draw", open)["drawing"].clone();
        drawing["schematic"]["symbols"].as_array().unwrap().clone()
    };
    let closed = symbols(&mut page, json!({ "open": [] }));
    let caller =
        |all: &[serde_json::Value]| all.iter().find(|one| one["path"] == "two").unwrap().clone();
    assert_eq!(caller(&closed)["calls"], true);
    assert!(closed.iter().all(|one| one["path"] != "two.f.sum"));
    let open = symbols(&mut page, json!({ "open": ["two", "two.f"] }));
    assert_eq!(caller(&open)["calls"], false);
    assert_eq!(caller(&open)["outputs"][2]["name"], "f.u");
    assert_eq!(caller(&open)["inputs"], json!(["u", "f.same", "f.off"]));
    assert!(open.iter().any(|one| one["path"] == "two.f.sum"));
    let whole = symbols(&mut page, json!({}));
    assert!(whole.iter().any(|one| one["path"] == "copies.f.each[2].g"));
    let sum = page.done(0, "block", json!({ "path": "two.f.sum" }));
    assert_eq!((&sum["kind"], &sum["called"]), (&json!("Sum"), &json!(true)));
    assert_eq!(sum["inputs"][0]["from"], json!(["two.f().u"]));
    assert_eq!(sum["inputs"][1]["from"], json!(["two.f.one.y"]));
    let refused = page.ask(0, "watch", json!({ "path": "two.f.sum.y" }));
    let why = refused["error"]["message"].as_str().unwrap();
    assert!(why.contains("live only inside a call"), "{why}");
}

/// What a block calls is changed where it is seen, as far as a path leads there.
#[test]
fn parameters_of_what_is_called_are_changed() {
    let file = repository().join("tests/data/run/functions.ron");
    let running = Running::of(&library().open(file.to_str().unwrap()).unwrap(), None);
    let mut page = running.page();
    page.line("step 10");
    let one = page.done(0, "block", json!({ "path": "two.f.one" }))["parameters"][0].clone();
    assert_eq!((&one["path"], &one["tunable"]), (&json!("two.needs.f.one.value"), &json!(true)));
    let path = one["path"].as_str().unwrap();
    page.line(&format!("set {path} 3 s"));
    page.line("step 2");
    let values = page.done(0, "values", json!({ "paths": ["two.off"] }));
    assert_eq!(values["values"][0][1], "two.off: 3.012 s");
    let one = page.done(0, "block", json!({ "path": "two.f.one" }))["parameters"][0].clone();
    assert_eq!((&one["value"], &one["unit"]), (&json!("3"), &json!("s")));
    // No path leads into a copy: that is said.
    let copy = page.done(0, "block", json!({ "path": "copies.f.each[2].g" }));
    let gain = &copy["parameters"][0];
    assert_eq!(gain["tunable"], false, "{gain}");
    assert!(gain["why"].as_str().unwrap().contains("a copy"), "{gain}");
}

/// Inputs show what they hold at the present moment.
#[test]
fn inputs_show_their_values() {
    let text = r#"Diagram(
        run: (stop: "1 s", step: "10 ms"),
        ports: (in: {
            "u": Port(type: "Real", unit: "m/s", default: "2 m/s"),
            "v": Port(type: "Vector(2)", default: [1, 2]),
        }),
        blocks: {
            "x": Integrator(in: { "u": "^u" }),
            "w": Gain(gain: 2.0, in: { "u": "^v" }),
        },
    )"#;
    let running = Running::of(&library().diagram("x.ron", text), None);
    let mut page = running.page();
    let mut values = || -> Vec<serde_json::Value> {
        let choices = page.done(0, "choices", json!({}));
        let inputs = choices["inputs"].as_array().unwrap();
        inputs.iter().map(|input| input["value"].clone()).collect()
    };
    assert_eq!(values(), [json!("2"), json!("[1, 2]")]);
    page.line("input u = 5 m/s");
    page.line("step 1");
    let choices = page.done(0, "choices", json!({}));
    assert_eq!(choices["inputs"][0]["value"], "5");
}

#[test]
fn the_first_pose_is_that_of_the_beginning() {
    let running = Running::demo("stand");
    let mut page = running.page();
    let frame = page.until(|page| page.frames.iter().find(|frame| word(frame, 0) == POSE).cloned());
    assert_eq!(double(&frame, 4), 0.0);
    // The trunk hangs 5 cm above where the robot stands, and is not turned.
    let trunk = [0, 1, 2, 3, 4, 5, 6].map(|i| f32::from_bits(word(&frame, 6 + i)));
    assert!(trunk[2] > 0.3 && trunk[2] < 0.4, "{trunk:?}");
    assert_eq!(trunk[3..], [1.0, 0.0, 0.0, 0.0]);
    // Behind 17 links and a centre of mass there are the four feet, in the air.
    let contacts = 6 + 7 * 17 + 3;
    assert_eq!(word(&frame, contacts), 4);
    let foot = |i: usize| f32::from_bits(word(&frame, contacts + 2 + i));
    assert!((foot(2) - 0.05).abs() < 1e-6 && foot(5) == 1.0, "{} {}", foot(2), foot(5));
    assert_eq!(word(&frame, contacts + 1), 2, "it does not touch; its force is known");
}

#[test]
fn a_signal_is_sampled_from_the_beginning_whenever_it_is_watched() {
    let stand = library().open("demo:stand").unwrap();
    let running = Running::of(&stand, None);
    let mut page = running.page();
    let early = page.done(0, "watch", json!({ "path": "body.state" }));
    assert_eq!((&early["leaves"], &early["names"][2]), (&json!(37), &json!("base.position z")));
    assert_eq!(early["units"][2], "m");
    page.line("step 40");
    // This one was not watched when it happened.
    let path = "body.state.base.position";
    let late = page.done(0, "watch", json!({ "path": path }));
    page.line("until 0.1 s");
    let number = late["signal"].as_u64().unwrap();
    let expected = expected(&stand, path, 0.1);
    let (t, rows) = page.until(|page| {
        let (t, rows) = page.samples(0, number);
        (t.len() >= expected.len()).then_some((t, rows))
    });
    let got: Vec<_> = t.into_iter().zip(rows).collect();
    assert_eq!(got, expected);
}

#[test]
fn samples_follow_a_run_that_goes_back() {
    let stand = library().open("demo:stand").unwrap();
    let running = Running::of(&stand, None);
    let mut page = running.page();
    let path = "pd.tau";
    let number = page.done(0, "watch", json!({ "path": path }))["signal"].as_u64().unwrap();
    page.line("until 0.2 s");
    page.line("back 30 steps");
    let place = page.line("step 3");
    assert!(place.starts_with("t=0.173 s"), "{place}");
    let expected = expected(&stand, path, 0.173);
    let last = expected.last().unwrap().0;
    let (t, rows) = page.until(|page| {
        let (t, rows) = page.samples(0, number);
        (t.last() == Some(&last)).then_some((t, rows))
    });
    assert_eq!(t.into_iter().zip(rows).collect::<Vec<_>>(), expected);
    // Then with another parameter.
    page.line("set kp 90 N*m/rad");
    page.line("goto 0.19 s");
    let values = page.done(0, "values", json!({ "paths": [path] }));
    let mut session = stand.compile().into_model().unwrap().session();
    session.until(0.173).unwrap();
    session.set("kp", "90 N*m/rad").unwrap();
    session.until(0.19).unwrap();
    session.next(1).unwrap();
    // What is shown between two steps is what the next computes.
    while session.place().stage == legwork::study::session::Stage::Output {
        session.next(1).unwrap();
    }
    let text = commands::value(&session.read(path).unwrap());
    assert_eq!(values["values"], json!([[path, text.trim_end()]]));
}

fn fork(page: &mut Page, name: &str, changes: &serde_json::Value) -> usize {
    let forked = page.done(0, "fork", json!({ "name": name, "changes": changes }));
    usize::try_from(forked["source"].as_u64().unwrap()).unwrap()
}

#[test]
fn two_solvers_run_side_by_side_from_one_instant() {
    let running = Running::demo("stand");
    let mut page = running.page();
    page.line("until 0.1 s");
    let other = fork(&mut page, "other", &json!([["qp", "clarabel"]]));
    let path = "body.state.base.position";
    for source in [0, other] {
        page.done(source, "run", json!({}));
    }
    page.done(other, "line", json!({ "text": "goto 0.2 s" }));
    page.done(0, "line", json!({ "text": "goto 0.2 s" }));
    let mut last = |source: usize| {
        let number = page.done(source, "watch", json!({ "path": path }))["signal"].as_u64();
        page.until(|page| {
            let (t, rows) = page.samples(source, number.unwrap());
            (t.last() > Some(&0.1985)).then(|| rows.last().unwrap().clone())
        })
    };
    let (a, b) = (last(0), last(other));
    assert_ne!(a, b);
    let largest = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(largest < 1e-6, "{a:?} {b:?}");
    page.done(other, "close", json!({}));
    page.until(|page| page.told.iter().any(|told| told["gone"] == other).then_some(()));
}

pub(super) const RAMP: &str = r#"Diagram(
    run: (stop: "10 s", step: "10 ms"),
    params: { "slope": Param(value: 1.0) },
    blocks: {
        "rate": Constant(value: "=slope"),
        "ramp": Integrator(in: { "u": "rate.y" }),
    },
    log: ["ramp.y"],
)"#;

/// The last sample of a signal.
fn last(page: &mut Page, source: usize, number: u64, t: f64) -> f64 {
    page.until(|page| {
        let (times, rows) = page.samples(source, number);
        times.iter().position(|time| *time == t).map(|at| rows[at][0])
    })
}

#[test]
fn an_edited_text_takes_the_place_of_the_old_with_its_states() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ramp.ron");
    std::fs::write(&file, RAMP).unwrap();
    let name = file.to_str().unwrap();
    let running = Running::of(&library().open(&file).unwrap(), None);
    let mut page = running.page();
    let number = page.done(0, "watch", json!({ "path": "ramp.y" }))["signal"].as_u64().unwrap();
    page.line("until 1 s");
    page.line("set slope 2");
    page.line("until 2 s");

    let wrong = RAMP.replace("rate.y", "rate.z");
    let edited = page.done(0, "edit", json!({ "file": name, "text": wrong }));
    assert_eq!(edited["applied"], false);
    let found = &edited["diagnostics"][0];
    assert_eq!((&found["file"], &found["line"]), (&json!(name), &json!(6)));
    assert!(found["message"].as_str().unwrap().contains("no output `z`"), "{found}");

    // The parameter stays set; the integrator goes on where it was.
    let steep = RAMP.replace("=slope", "=10*slope");
    let arguments = json!({ "file": name, "text": steep, "save": true });
    assert_eq!(page.done(0, "edit", arguments)["applied"], true);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), steep);
    page.line("until 3.01 s");
    let value = last(&mut page, 0, number, 3.0);
    assert!((value - (1.0 + 2.0 + 20.0)).abs() < 1e-9, "{value}");

    // Another program writes the file.
    let told = page.told.len();
    std::fs::write(&file, RAMP.replace("=slope", "=0*slope + 0")).unwrap();
    page.until(|page| {
        let new = &page.told[told..];
        new.iter().any(|told| told.get("model").is_some()).then_some(())
    });
    page.line("until 4.01 s");
    let value = last(&mut page, 0, number, 4.0);
    assert!((value - (23.0 + 0.01 * 20.0)).abs() < 1e-9, "{value}");
    std::fs::write(&file, "Diagram(").unwrap();
    page.until(|page| {
        let error = |told: &serde_json::Value| told["diagnostics"][0]["severity"] == "error";
        page.told.iter().any(error).then_some(())
    });
    // What is no file of the diagram is neither compiled nor written.
    let other = folder.path().join("other.ron");
    std::fs::write(&other, "x").unwrap();
    for file in [other.to_str().unwrap(), "/etc/passwd", "<--set a>", "../ramp.ron"] {
        let arguments = json!({ "file": file, "text": "y", "save": true });
        assert!(page.ask(0, "edit", arguments)["error"].is_object(), "{file}");
    }
    assert_eq!(std::fs::read_to_string(&other).unwrap(), "x");
}

#[test]
fn two_sources_are_compared_and_measured_and_written_as_a_table() {
    let running = Running::of(&library().diagram("ramp.ron", RAMP), None);
    let mut page = running.page();
    page.done(0, "watch", json!({ "path": "ramp.y" }));
    page.line("until 1 s");
    let other = fork(&mut page, "steep", &json!([["slope", "3"]]));
    page.line("goto 2 s");
    page.done(other, "line", json!({ "text": "goto 2 s" }));
    let compared = page.done(0, "compare", json!({ "a": 0, "b": other }));
    let row = &compared["rows"][0];
    // At the last step that both have recorded, 1.99 s.
    assert_eq!((&row["path"], &row["t"]), (&json!("ramp.y"), &json!(1.99)));
    // Both begin with the state of the fork.
    assert_eq!(row["first"], 1.01);
    let difference = row["difference"].as_f64().unwrap();
    assert!((difference - 2.0 * 0.99).abs() < 1e-9, "{difference}");
    let heat = page.done(0, "heat", json!({ "on": true }));
    let blocks = heat["blocks"].as_array().unwrap();
    assert!(blocks.iter().any(|block| block[0] == "ramp" && block[1].as_f64() > Some(0.0)));
    let table = page.done(0, "export", json!({ "paths": ["ramp.y"], "format": "csv" }));
    let text = table["text"].as_str().unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines[0], lines.len()), ("t [s],ramp.y", 201));
    assert!(lines[101].starts_with("1.0,1.0"), "{}", lines[101]);
    for arguments in [json!({ "a": 0, "b": 9 }), json!({ "a": 9, "b": 0 })] {
        assert!(page.ask(0, "compare", arguments)["error"].is_object());
    }
    assert!(
        page.ask(0, "export", json!({ "paths": ["rate.y"], "format": "csv" }))["error"].is_object()
    );
}
