//! Files, places and command lines that cannot be used, whatever the command.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

use super::support::{folder, legwork, ramp, write};

#[test]
fn files_that_are_no_diagrams_are_told_apart() {
    let here = folder();
    write(&here, "empty.ron", "");
    write(&here, "latin1.ron", b"Diagram(doc: \"\xe9\")");
    write(&here, "utf16.ron", b"\xff\xfeD\0i\0");
    write(&here, "deep.ron", "[".repeat(200_000));
    write(&here, "deep2.ron", format!("Diagram({})", "a: (".repeat(5_000)));
    write(&here, "binary.ron", (0..=255u8).collect::<Vec<_>>());
    std::fs::create_dir(here.path().join("folder.ron")).unwrap();
    for name in ["empty.ron", "latin1.ron", "utf16.ron", "deep.ron", "deep2.ron", "binary.ron"] {
        for command in ["run", "check", "test", "graph"] {
            let done = legwork(here.path(), &[command, name, "--json"]);
            assert_eq!(done.code, 1, "{command} {name}: {}", done.err);
            assert!(done.err.contains(name), "{command} {name}: {}", done.err);
            done.json();
        }
    }
    for name in ["folder.ron", "missing.ron", "demo:missing", "std:missing", "", "a\nb"] {
        for command in ["run", "check", "test", "graph"] {
            let done = legwork(here.path(), &[command, name, "--json"]);
            assert_eq!(done.code, 64, "{command} {name}: {}", done.err);
            done.json();
        }
    }
    write(&here, "ramp.ron", ramp(""));
    let slip = legwork(here.path(), &["run", "rmap.ron"]);
    assert!(slip.err.contains("did you mean `./ramp.ron`?"), "{}", slip.err);
}

#[test]
fn places_that_cannot_be_written_are_usage_errors() {
    let here = folder();
    write(&here, "a.ron", ramp(""));
    write(&here, "taken", "a file");
    let code = |arguments: &[&str]| legwork(here.path(), arguments).code;
    assert_eq!(code(&["run", "a.ron", "--out", "taken"]), 64);
    assert_eq!(code(&["run", "a.ron", "--out", "taken/below"]), 64);
    assert_eq!(code(&["graph", "a.ron", "-o", "nowhere/x.svg"]), 64);
    assert_eq!(code(&["graph", "a.ron", "-o", "x.pdf"]), 64);
    let png = legwork(here.path(), &["graph", "a.ron", "-o", "x.png"]);
    match cfg!(feature = "png") {
        true => assert_eq!(png.code, 0, "{}", png.err),
        false => assert!(png.code == 64 && png.err.contains("--features png"), "{}", png.err),
    }
    assert_eq!(code(&["export", "taken"]), 64);
    assert_eq!(code(&["export", "nowhere"]), 64);
    assert_eq!(code(&["new", "a.ron"]), 64);
    assert_eq!(code(&["new", "nowhere/x.ron"]), 64);
    assert_eq!(std::fs::read(here.path().join("taken")).unwrap(), b"a file");
}

/// A session that is stepped leaves a recording only where it was asked to.
#[test]
fn no_recording_is_replaced_unasked() {
    let here = folder();
    for part in ["a", "b"] {
        std::fs::create_dir(here.path().join(part)).unwrap();
        write(&here, &format!("{part}/ramp.ron"), ramp(""));
    }
    let read = |file: &str| std::fs::read(here.path().join(file)).ok();
    assert_eq!(legwork(here.path(), &["run", "a/ramp.ron"]).code, 0);
    let kept = read("runs/ramp/run.mcap");
    assert!(kept.is_some());
    let stepped = legwork(here.path(), &["step", "a/ramp.ron", "--set", "slope=3", "--json"]);
    assert_eq!((stepped.code, &stepped.json()["recording"]), (0, &serde_json::Value::Null));
    assert!(read("runs/ramp/run.mcap") == kept, "the recording was replaced");
    // The same file by another path, and a directory that is named, are taken.
    assert_eq!(legwork(here.path(), &["run", "./a/../a/ramp.ron", "--set", "slope=2"]).code, 0);
    assert!(read("runs/ramp/run.mcap") != kept, "the recording was not replaced");
    assert_eq!(legwork(here.path(), &["run", "b/ramp.ron", "--out", "runs/ramp"]).code, 0);
    // What the run said of itself does not stay beside the recording of a session.
    assert!(read("runs/ramp/run.json").is_some());
    assert_eq!(legwork(here.path(), &["step", "a/ramp.ron", "--out", "runs/ramp"]).code, 0);
    assert!(read("runs/ramp/run.mcap").is_some() && read("runs/ramp/run.json").is_none());
}

/// What the command line says is shown under the name of its option.
#[test]
fn a_mistake_in_an_option_is_shown_under_its_name() {
    let here = folder();
    write(&here, "a.ron", ramp(""));
    for (option, value, place) in
        [("--until", "soon", "<--until>:1:1"), ("--set", "slope=-3", "<--set value>:1:1")]
    {
        let done = legwork(here.path(), &["run", "a.ron", option, value]);
        assert_eq!(done.code, 1, "{}", done.err);
        assert_eq!(done.err.matches(place).count(), 1, "{}", done.err);
        assert_eq!(done.err.matches("error[").count(), 1, "{}", done.err);
    }
}

#[test]
fn usage_errors_exit_with_64_and_help_with_0() {
    let here = folder();
    for arguments in [
        &[][..],
        &["fly"],
        &["run"],
        &["check"],
        &["run", "a.ron", "--frobnicate"],
        &["run", "a.ron", "b.ron"],
        &["run", "a.ron", "--set", "=3"],
        &["blocks", "Gian"],
        &["graph", "a.ron", "--depth", "-1"],
    ] {
        let done = legwork(here.path(), arguments);
        assert_eq!(done.code, 64, "{arguments:?}: {}", done.err);
        assert!(done.out.is_empty(), "{arguments:?}: {}", done.out);
    }
    assert!(legwork(here.path(), &["fly", "--json"]).json()["error"].is_string());
    for arguments in [&["--help"][..], &["--version"], &["run", "--help"]] {
        let done = legwork(here.path(), arguments);
        assert_eq!(done.code, 0);
        assert!(!done.out.is_empty());
    }
}

#[cfg(unix)]
#[test]
fn arguments_that_are_not_utf8_are_refused_in_words() {
    use std::os::unix::ffi::OsStrExt as _;
    let here = folder();
    write(&here, "a.ron", ramp(""));
    let bad = OsStr::from_bytes(b"\xff\xfe.ron");
    let word = OsStr::new;
    for arguments in [
        &[word("run"), bad][..],
        &[word("run"), word("a.ron"), word("--set"), bad],
        &[word("run"), word("a.ron"), word("--with"), bad],
        &[word("export"), bad],
        &[word("blocks"), bad],
        &[bad],
    ] {
        let done = legwork(here.path(), arguments);
        assert_eq!(done.code, 64, "{arguments:?}: {}", done.err);
    }
    std::fs::write(here.path().join(bad), ramp("")).expect("unix takes any name");
    assert_eq!(legwork(here.path(), &[word("run"), bad, word("--json")]).code, 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_reader_that_goes_away_is_no_mistake_and_a_full_disk_is_one() {
    let here = folder();
    write(&here, "a.ron", ramp("").replace("10 ms", "10 us"));
    assert_eq!(legwork(here.path(), &["run", "a.ron"]).code, 0);
    let mut child = Command::new(env!("CARGO_BIN_EXE_legwork"))
        .args(["export", "runs/a"])
        .current_dir(here.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    drop(child.stdout.take());
    let done = child.wait_with_output().expect("the command ends");
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("linux has it");
    let done = Command::new(env!("CARGO_BIN_EXE_legwork"))
        .arg("blocks")
        .stdout(full)
        .output()
        .expect("the command starts");
    assert_eq!(done.status.code(), Some(74));
}
