//! The text changes while the run goes on, in the page and on disk.

use std::path::{Path, PathBuf};

use legwork::study::{Cancel, Record, RunRequest, read_edits, unwatched};
use serde_json::{Value, json};

use super::talk::RAMP;
use super::{Page, Running, library};

/// With a block more: the ramp is ten times as steep.
fn steep() -> String {
    let gain = r#""gain": Gain(gain: 10.0, in: { "u": "rate.y" }),
        "twice": Gain(gain: 2.0, in: { "u": "ramp.y" }), "ramp": "#;
    RAMP.replace(r#""ramp": "#, gain).replace(r#"(in: { "u": "rate.y" }),"#, "@").replacen(
        '@',
        r#"(in: { "u": "gain.y" }),"#,
        1,
    )
}

struct Shown {
    _folder: tempfile::TempDir,
    file: PathBuf,
    out: PathBuf,
    running: Running,
}

impl Shown {
    /// A file with the ramp, recorded.
    fn ramp() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (file, out) = (folder.path().join("ramp.ron"), folder.path().join("out"));
        std::fs::write(&file, RAMP).unwrap();
        let running = Running::of(&library().open(&file).unwrap(), Some(&out));
        Self { _folder: folder, file, out, running }
    }

    fn edit(&self, page: &mut Page, text: &str) -> Value {
        let file = self.file.to_str().unwrap();
        let told = page.done(0, "edit", json!({ "file": file, "text": text }));
        assert_eq!(told["applied"], true, "{told}");
        told
    }
}

/// What is listed as edited.
fn edits(page: &mut Page) -> Vec<String> {
    page.done(0, "pause", json!({}));
    let seen = page.told.len();
    page.done(0, "seek", json!({ "t": page.state(0).map_or(0.0, |s| s["t"].as_f64().unwrap()) }));
    let state = page.until(|page| {
        let fresh = page.told[seen..].iter().rev();
        fresh.into_iter().find_map(|told| told.get("state").cloned())
    });
    let words = |edit: &Value| match edit["text"] == true {
        true => format!("text at {}", edit["t"].as_str().unwrap()),
        false => format!("{}={}", edit["path"].as_str().unwrap(), edit["value"].as_str().unwrap()),
    };
    state["edits"].as_array().unwrap().iter().map(words).collect()
}

/// Waits until the samples at these times are these.
fn expect(page: &mut Page, number: u64, times: &[f64], values: &[f64]) {
    page.until(|page| {
        let past = "could not be gone over";
        let notices = page.told.iter().filter_map(|told| told["notice"]["message"].as_str());
        assert_eq!(notices.filter(|notice| notice.contains(past)).count(), 0);
        let (t, rows) = page.samples(0, number);
        let at = |wanted: &f64| t.iter().position(|t| (t - wanted).abs() < 1e-9);
        let is_near =
            |(t, value): (&f64, &f64)| at(t).is_some_and(|row| (rows[row][0] - value).abs() < 1e-9);
        times.iter().zip(values).all(is_near).then_some(())
    });
}

fn number(page: &mut Page, path: &str) -> u64 {
    page.done(0, "watch", json!({ "path": path }))["signal"].as_u64().unwrap()
}

#[test]
fn the_past_stays_over_an_edit_of_the_text() {
    let shown = Shown::ramp();
    let mut page = shown.running.page();
    let ramp = number(&mut page, "ramp.y");
    page.line("until 1 s");
    page.line("set slope 2");
    page.line("until 2 s");
    shown.edit(&mut page, &steep());
    page.line("until 3.01 s");
    assert_eq!(edits(&mut page), ["slope=2", "text at 2 s"]);
    expect(&mut page, ramp, &[0.5, 1.5, 2.0, 3.0], &[0.5, 2.0, 3.0, 23.0]);
    // A signal that is watched late has its past, of the text that has it.
    let twice = number(&mut page, "twice.y");
    expect(&mut page, twice, &[2.0, 3.0], &[6.0, 46.0]);
    let (t, _) = page.samples(0, twice);
    assert!(t[0] >= 2.0 - 1e-9, "{}", t[0]);

    // Back over the edit: the program of before goes on.
    page.line("goto 1.5 s");
    assert_eq!(edits(&mut page), ["slope=2"]);
    assert!(page.ask(0, "watch", json!({ "path": "twice.y" }))["error"].is_object());
    page.line("until 3.01 s");
    expect(&mut page, ramp, &[2.0, 3.0], &[3.0, 5.0]);
    // Step by step, too.
    shown.edit(&mut page, &steep());
    page.line("step 1");
    let place = page.line("back 3 steps");
    assert!(place.contains("undone: the text of"), "{place}");
    assert_eq!(edits(&mut page), ["slope=2"]);
    page.line("goto 0.5 s");
    assert_eq!(edits(&mut page), [""; 0]);
}

/// Who types makes one edit where the run stands, and loses no state on the way.
#[test]
fn typing_is_one_edit() {
    let shown = Shown::ramp();
    let mut page = shown.running.page();
    page.line("until 2 s");
    shown.edit(
        &mut page,
        &steep()
            .replace("\"ramp\": Integrator", "\"other\": Integrator")
            .replace("ramp.y", "other.y"),
    );
    shown.edit(&mut page, &steep());
    assert_eq!(edits(&mut page), ["text at 2 s"]);
    // As a page does for each new text.
    let ramp = number(&mut page, "ramp.y");
    page.line("until 3.01 s");
    expect(&mut page, ramp, &[1.0, 2.0, 3.0], &[1.0, 2.0, 12.0]);
    // What changes a number alone is an edit of the same stretch.
    shown.edit(&mut page, &steep().replace("10.0", "20.0"));
    page.line("until 4.02 s");
    assert_eq!(edits(&mut page), ["text at 2 s", "text at 3.01 s"]);
    page.line("goto 3.01 s");
    assert_eq!(edits(&mut page).len(), 2);
    page.line("goto 3 s");
    assert_eq!(edits(&mut page).len(), 1);
}

/// A text that comes before the first step begins as it says.
#[test]
fn a_text_before_the_first_step_begins_the_run() {
    let shown = Shown::ramp();
    let mut page = shown.running.page();
    let ramp = number(&mut page, "ramp.y");
    shown.edit(&mut page, &RAMP.replace("(in: {", "(initial: 5.0, in: {"));
    page.line("until 1.01 s");
    expect(&mut page, ramp, &[1.0], &[6.0]);
    assert_eq!(edits(&mut page), [""; 0]);
}

/// The recordings on both sides of an edit of the text are those of runs with the same edits.
#[test]
fn a_run_with_the_edits_repeats_edits_of_the_text() {
    let shown = Shown::ramp();
    let mut page = shown.running.page();
    page.line("until 1 s");
    page.line("set slope 2");
    page.line("until 2 s");
    let file = shown.file.to_str().unwrap();
    let arguments = json!({ "file": file, "text": steep(), "save": true });
    page.done(0, "edit", arguments);
    page.line("until 3 s");
    page.line("set gain.gain 5");
    page.line("until 4 s");
    shown.edit(&mut page, &steep().replace("10.0", "7.0").replace("1.0)", "1.5)"));
    page.line("continue");
    drop(page);
    let mut sessions = shown.running.end();
    sessions[0].1.close().unwrap();
    let read = |folder: &Path| std::fs::read(folder.join("run.mcap")).unwrap();
    let list = read_edits(&shown.out.join("edit-1")).unwrap();
    assert_eq!(list.iter().map(|edit| edit.step).collect::<Vec<_>>(), [100, 200, 300, 400]);
    // The file holds the new text by now.
    let model = library().open(&shown.file).unwrap().compile().into_model().unwrap();
    let again = shown.out.join("again");
    let record = Record::Directory(again.clone());
    let request = RunRequest { record, edits: list, ..RunRequest::default() };
    model.run(&request, &unwatched, &Cancel::default()).unwrap();
    assert!(read(&again) == read(&shown.out.join("edit-1")), "the recordings differ");
}

/// What runs, and what the disk holds, as the page was told last.
fn text(page: &mut Page, found: impl Fn(&Value) -> bool) -> Value {
    page.until(|page| {
        let last = page.told.iter().rev().find_map(|told| told.get("text"))?;
        found(last).then(|| last.clone())
    })
}

#[test]
fn a_broken_file_is_said_until_it_is_mended() {
    let shown = Shown::ramp();
    let mut page = shown.running.page();
    let first = text(&mut page, |_| true);
    assert!(first["since"].as_f64() > Some(1e9) && first["broken"].is_null(), "{first}");
    assert_eq!(first["differs"], json!([]));
    page.line("until 1 s");
    std::fs::write(&shown.file, RAMP.replace("rate.y", "rate.z")).unwrap();
    let broken = text(&mut page, |text| !text["broken"].is_null());
    assert_eq!((&broken["broken"]["line"], &broken["since"]), (&json!(6), &first["since"]));
    assert!(broken["broken"]["message"].as_str().unwrap().contains("no output `z`"));
    // A page that comes later is told, too.
    let mut late = shown.running.page();
    text(&mut late, |text| text["broken"]["line"] == 6);
    std::fs::write(&shown.file, steep()).unwrap();
    let mended = text(&mut page, |text| text["broken"].is_null());
    assert_eq!(mended["differs"], json!([]));
    page.line("until 2 s");
    // Going back over the edit, the file is another than what runs, until it is taken again.
    page.line("goto 0.5 s");
    let back = text(&mut page, |text| text["differs"] != json!([]));
    assert_eq!((&back["since"], &back["saved"]), (&first["since"], &json!(true)));
    page.done(0, "disk", json!({}));
    text(&mut page, |text| text["differs"] == json!([]));
    assert_eq!(edits(&mut page), ["text at 0.5 s"]);
}

#[test]
fn a_newer_file_is_not_overwritten_without_a_word() {
    let shown = Shown::ramp();
    let file = shown.file.to_str().unwrap();
    let mut page = shown.running.page();
    let read = page.done(0, "text", json!({ "file": file }))["files"][0].clone();
    let newer = RAMP.replace("1.0", "4.0");
    std::fs::write(&shown.file, &newer).unwrap();
    let mine = steep();
    let mut save = |over: &Value| {
        let arguments = json!({ "file": file, "text": mine, "save": true, "over": over });
        page.ask(0, "edit", arguments)
    };
    let refused = save(&read["hash"]);
    assert_eq!(refused["error"]["changed"], true, "{refused}");
    assert_eq!(std::fs::read_to_string(&shown.file).unwrap(), newer);
    let on_disk = page.done(0, "text", json!({ "file": file, "disk": true }))["files"][0].clone();
    assert_eq!(on_disk["text"], newer);
    let mut save = |over: &Value, text: &str| {
        let arguments = json!({ "file": file, "text": text, "save": true, "over": over });
        page.ask(0, "edit", arguments)
    };
    let saved = save(&on_disk["hash"], &mine);
    assert_eq!(std::fs::read_to_string(&shown.file).unwrap(), mine);
    // What was saved here is known here.
    assert!(save(&saved["ok"]["hash"], RAMP)["ok"].is_object());
    // Without the hash it is overwritten.
    std::fs::write(&shown.file, &newer).unwrap();
    assert!(save(&Value::Null, &mine)["ok"].is_object());
    assert_eq!(std::fs::read_to_string(&shown.file).unwrap(), mine);
}
