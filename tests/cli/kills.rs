//! Killed at any time: what was written can be read, and nothing of another run is beside it.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::support::{command, done, folder, legwork, ramp, write};

/// A ramp of so many seconds.
fn lasting(stop: &str) -> String {
    ramp("").replace("1 s", stop)
}

fn start(here: &Path, arguments: &[&str]) -> Child {
    let mut command = command(here, arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("the command starts")
}

fn kill(mut child: Child) {
    child.kill().expect("it is killed");
    child.wait().expect("it ends");
}

/// Waits until something holds.
fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(20), "not within 20 s: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Lines of numbers of a recording; none if it cannot be read.
fn rows(here: &Path, run: &str) -> usize {
    let table = legwork(here, &["export", run, "ramp.y"]);
    if table.code == 0 { table.out.lines().count() - 1 } else { 0 }
}

/// The command in a shell that allows files of at most so many blocks.
#[cfg(unix)]
fn limited(here: &Path, arguments: &str) -> super::support::Done {
    let mut command = std::process::Command::new("sh");
    let program = env!("CARGO_BIN_EXE_legwork");
    command.arg("-c").arg(format!("ulimit -f 8000; exec '{program}' {arguments}"));
    done(command.current_dir(here).stdin(Stdio::null()).output().expect("a shell"))
}

/// The system sends a signal that kills where nobody listens.
#[cfg(unix)]
#[test]
fn the_largest_file_that_is_allowed_ends_a_run_as_a_full_disk_does() {
    let here = folder();
    let text = ramp(r#""grows": Always(that: "=ramp.y > -1")"#).replace("10 ms", "10 us");
    write(&here, "a.ron", text);
    write(&here, "script", "continue\n");
    let run = limited(here.path(), "run a.ron --out r");
    assert_eq!(run.code, 74, "{}", run.said());
    assert!(run.out.contains("1 of 1 passed"), "{}", run.said());
    assert!(rows(here.path(), "r") > 100);
    let step = limited(here.path(), "step a.ron --out s --script script");
    assert_eq!(step.code, 74, "{}", step.said());
    assert!(step.err.contains("s/run.mcap, which is not whole"), "{}", step.err);
    assert!(rows(here.path(), "s") > 100);
    let sweep = limited(here.path(), "sweep a.ron --over slope=1,2 --out t");
    assert_eq!(sweep.code, 74, "{}", sweep.said());
}

#[test]
fn a_session_that_is_killed_has_its_rows() {
    let here = folder();
    write(&here, "a.ron", ramp(""));
    let mut child = start(here.path(), &["step", "a.ron", "--out", "r"]);
    let mut input = child.stdin.take().expect("a pipe");
    let mut says = |text: &[u8]| input.write_all(text).and_then(|()| input.flush());
    says(b"step 20\n").expect("it listens");
    wait_until("20 rows", || rows(here.path(), "r") == 20);
    says(b"back 100000\nset slope 3\nstep 5\nsnapshot there\n").expect("it listens");
    // It writes what a step gave before it does what is asked next.
    wait_until("a snapshot", || here.path().join("there").exists());
    kill(child);
    assert_eq!(rows(here.path(), "r"), 5);
    let again = ["run", "a.ron", "--replay-edits", "r", "--until", "0.04 s", "--out", "s"];
    assert_eq!(legwork(here.path(), &again).code, 0);
    let table = |run| legwork(here.path(), &["export", run, "ramp.y"]).out;
    assert_eq!(table("r"), table("s"));
}

/// Rows go to the file as they come, are taken back from it, and it ends as that of a run.
#[test]
fn the_recording_of_a_long_session_is_that_of_a_run() {
    let here = folder();
    write(&here, "a.ron", lasting("1400 s"));
    let script = "until 1390 s\nback 40\ngoto 700 s\nset slope 1.0\nuntil 1399 s\ngoto 5 s\n\
                  continue\nback 3\ncontinue\n";
    write(&here, "script", script);
    let step = ["step", "a.ron", "--out", "r", "--script", "script"];
    let stepped = legwork(here.path(), &step);
    assert_eq!(stepped.code, 0, "{}", stepped.err);
    assert_eq!(legwork(here.path(), &["run", "a.ron", "--out", "s"]).code, 0);
    let read = |name: &str| std::fs::read(here.path().join(name)).expect("a recording");
    assert!(read("r/run.mcap") == read("s/run.mcap"), "the recordings differ");
}

#[cfg(unix)]
#[test]
fn a_session_that_waits_hears_signals() {
    let here = folder();
    write(&here, "a.ron", ramp(""));
    let child = start(here.path(), &["step", "a.ron", "--out", "r"]);
    wait_until("a recording", || here.path().join("r/run.mcap").is_file());
    std::thread::sleep(Duration::from_millis(100));
    let sent = std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(sent.expect("kill starts").success());
    // Its standard input stays open.
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(143));
    let whole = legwork(here.path(), &["export", "r", "-o", "t.csv"]);
    assert!(whole.code == 0 && !whole.err.contains("cut off"), "{}", whole.err);
}

#[test]
fn a_sweep_goes_on_where_it_was_killed() {
    let here = folder();
    write(&here, "a.ron", lasting("1000 s"));
    let sweep = |out: &'static str| {
        let over = "slope=1,2,3,4,5,6";
        vec!["sweep", "a.ron", "--over", over, "--jobs", "1", "--show", "ramp.y:mean", "--out", out]
    };
    let child = start(here.path(), &sweep("killed"));
    let length = || std::fs::metadata(here.path().join("killed/sweep.rows")).map_or(0, |f| f.len());
    wait_until("the first rows", || length() > 300);
    kill(child);
    let resume = [&sweep("killed")[..], &["--resume", "--json"]].concat();
    let resumed = legwork(here.path(), &resume);
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    assert!(resumed.err.contains("had ended before"), "{}", resumed.err);
    let whole = legwork(here.path(), &[&sweep("whole")[..], &["--json"]].concat());
    let figures = |mut json: Value| {
        for cell in json["cells"].as_array_mut().expect("cells") {
            for name in ["wall_s", "real_time_factor", "directory"] {
                assert!(cell.as_object_mut().expect("a cell").remove(name).is_some(), "{name}");
            }
        }
        json["cells"].take()
    };
    assert_eq!(figures(resumed.json()), figures(whole.json()));
    for cell in 1..=6 {
        let recording = |out: &str| {
            std::fs::read(here.path().join(format!("{out}/slope={cell}/run.mcap"))).expect("one")
        };
        assert!(recording("killed") == recording("whole"), "slope={cell}");
    }
    // Nothing is left to do, and nothing of another sweep is taken.
    assert!(legwork(here.path(), &resume).err.contains("6 runs had ended before"));
    let other = [&sweep("killed")[..], &["--resume", "--set", "rate.value=2"]].concat();
    let refused = legwork(here.path(), &other);
    assert_eq!(refused.code, 64, "{}", refused.said());
    write(&here, "a.ron", lasting("1001 s"));
    assert_eq!(legwork(here.path(), &resume).code, 64);
}

/// Kills at random times, as many of each kind of command as `LEGWORK_KILLS` says.
#[test]
fn whenever_a_command_is_killed_its_recordings_can_be_read() {
    let count = std::env::var("LEGWORK_KILLS").ok().and_then(|text| text.parse().ok());
    let here = folder();
    write(&here, "a.ron", lasting("100000 s"));
    write(&here, "short.ron", lasting("2 s"));
    write(&here, "script", "until 3 s\nback 50\nset slope 5\ncontinue\n");
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let (mut recorded, mut cut) = (0, 0);
    for round in 0..3 * count.unwrap_or(6) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let set = format!("ramp.initial={round}.5");
        let run = ["run", "a.ron", "--set", &set, "--out", "run"];
        let step = ["step", "a.ron", "--set", &set, "--out", "run", "--script", "script"];
        let sweep = [
            "sweep",
            "short.ron",
            "--over",
            "slope=1,2,3,4,5,6,7,8",
            "--set",
            &set,
            "--out",
            "all",
        ];
        let arguments: &[&str] = [&run[..], &step, &sweep][round % 3];
        if here.path().join("run").is_dir() {
            write(&here, "run/fault.snapshot", "of an earlier run");
        }
        let child = start(here.path(), arguments);
        std::thread::sleep(Duration::from_micros(random % 250_000));
        kill(child);
        let mut folders = vec![here.path().join("run")];
        if let Ok(cells) = std::fs::read_dir(here.path().join("all")) {
            folders.extend(cells.map(|cell| cell.expect("an entry").path()));
        }
        for folder in folders.iter().filter(|folder| folder.join("run.mcap").is_file()) {
            let path = folder.to_str().expect("UTF-8");
            let read = done(command(here.path(), &["export", path]).output().expect("it starts"));
            assert_eq!(read.code, 0, "round {round}: {path}: {}", read.err);
            recorded += 1;
            cut += usize::from(read.err.contains("cut off"));
            let bytes = std::fs::read(folder.join("run.mcap")).expect("it is there");
            let holds = |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
            let is_new = holds(&set);
            assert!(!is_new || !folder.join("fault.snapshot").is_file(), "round {round}: {path}");
            if let Ok(facts) = std::fs::read(folder.join("run.json")) {
                let facts: Value = serde_json::from_slice(&facts).expect("a whole file");
                let hash = facts["program_hash"].as_str().expect("a hash");
                assert!(holds(hash), "round {round}: run.json of another run in {path}");
            }
        }
        if let Ok(table) = std::fs::read(here.path().join("all/sweep.json")) {
            serde_json::from_slice::<Value>(&table).expect("a whole file");
        }
    }
    assert!(recorded > 0);
    let counted = format!("{recorded} recordings read, {cut} of them cut off\n");
    let _ = std::io::stdout().write_all(counted.as_bytes());
}
