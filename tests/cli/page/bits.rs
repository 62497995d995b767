//! A run that is viewed, paused, rewound and continued gives the recording of one that is not.

use serde_json::json;

use super::{Running, library};
use legwork::study::{Cancel, Edit, Record, RunRequest, unwatched};

#[test]
fn viewing_changes_no_bit() {
    let diagrams = [
        "quadruped/stand",
        "basics/multirate_pid",
        "validation/bouncing_ball",
        "signals/compositions",
        "contact/bounce",
    ];
    for name in diagrams {
        let folder = tempfile::tempdir().unwrap();
        let diagram = library().open(format!("diagrams/{name}.ron")).unwrap().until("0.25 s");
        let model = diagram.compile().into_model().unwrap();
        let headless = folder.path().join("headless");
        let request = RunRequest { record: Record::Directory(headless), ..RunRequest::default() };
        let run = model.run(&request, &unwatched, &Cancel::default()).unwrap();
        let viewed = folder.path().join("viewed");
        let running = Running::of(&diagram, Some(&viewed));
        let mut pages = [running.page(), running.page()];
        let signals: Vec<String> =
            model.program().signals.iter().map(|signal| signal.path.clone()).collect();
        for path in signals.iter().take(6) {
            pages[0].done(0, "watch", json!({ "path": path }));
        }
        pages[0].done(0, "run", json!({ "speed": 0.5 }));
        pages[1].done(0, "values", json!({ "paths": signals }));
        pages[1].done(0, "pause", json!({}));
        pages[0].line("next 5");
        pages[0].line("goto 0.12 s");
        pages[1].line("back 7 steps");
        pages[1].done(0, "seek", json!({ "t": 0.03 }));
        pages[1].line("back 2");
        pages[0].done(0, "draw", json!({}));
        for path in signals.iter().skip(6).take(3) {
            pages[1].done(0, "watch", json!({ "path": path }));
        }
        pages[0].line("goto 0.2 s");
        pages[0].done(0, "fork", json!({ "name": "aside" }));
        pages[0].done(1, "run", json!({}));
        pages[0].line("continue");
        drop(pages);
        let mut sessions = running.end();
        let file = sessions[0].1.close().unwrap().unwrap();
        let (a, b) = (std::fs::read(run.recording_file().unwrap()), std::fs::read(file));
        assert!(a.unwrap() == b.unwrap(), "{name}: the recordings differ");
    }
}

/// What a page saves of a run is what a run writes, edits included.
#[test]
fn a_saved_recording_is_that_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    for (name, edits) in [("bare", 0), ("edited", 1)] {
        let diagram = library().open("demo:stand").unwrap().until("0.25 s");
        let running = Running::of(&diagram, None);
        let mut page = running.page();
        assert!(running.raw(&fetch(&running)).starts_with("HTTP/1.1 404"), "nothing is saved yet");
        let mut request = RunRequest {
            record: Record::Directory(folder.path().join(name)),
            ..RunRequest::default()
        };
        if edits > 0 {
            page.line("goto 0.1 s");
            page.line("set kp 80");
            let edit = Edit { step: 100, path: "kp".into(), value: "80".into(), ..Edit::default() };
            request.edits = vec![Edit { t: "0.1 s".into(), ..edit }];
        }
        page.line("continue");
        page.line("back 20 steps");
        page.line("continue");
        let saved = page.done(0, "record", json!({}));
        assert_eq!(saved["path"], "/run.mcap");
        let bytes = running.bytes(&fetch(&running));
        let at = bytes.windows(4).position(|part| part == b"\r\n\r\n").unwrap() + 4;
        let model = diagram.compile().into_model().unwrap();
        let run = model.run(&request, &unwatched, &Cancel::default()).unwrap();
        let headless = std::fs::read(run.recording_file().unwrap()).unwrap();
        assert_eq!(saved["bytes"], headless.len());
        assert!(bytes[at..] == headless, "{name}: the recordings differ");
    }
}

fn fetch(running: &Running) -> String {
    let (host, token) = (running.host(), running.token());
    format!("GET /run.mcap?token={token} HTTP/1.1\r\nHost: {host}\r\n\r\n")
}
