//! A run that is viewed, paused, rewound and continued gives the recording of one that is not.

use serde_json::json;

use super::{Running, library};
use legwork::study::{Cancel, Record, RunRequest, unwatched};

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
