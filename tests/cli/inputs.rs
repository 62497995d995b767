//! Inputs of a diagram from the command line.

use std::io::Write as _;
use std::process::Stdio;

use tempfile::TempDir;

use super::support::{Done, command, done, folder, legwork, write};

const BODY: &str = r#"Diagram(
    format: 2,
    run: (stop: "1 s", step: "10 ms", solver: Rk4),
    ports: (
        in: { "u": Port(type: "Real", unit: "N", doc: "what pulls it") },
        out: { "v": "Real" },
    ),
    blocks: {
        "a": Gain(gain: "0.5 kg^-1", in: { "u": "^u" }),
        "body": SecondOrderIntegrator(in: { "u": "a.y" }),
    },
    out: { "v": "body.velocity" },
    log: ["^u", "body.velocity"],
)"#;

fn body() -> TempDir {
    let here = folder();
    write(&here, "body.ron", BODY);
    here
}

/// The last row of an exported run: time, input, velocity.
fn last_row(here: &TempDir, directory: &str) -> Vec<f64> {
    let table = legwork(here.path(), &["export", directory, "-o", "-"]);
    assert_eq!(table.code, 0, "{}", table.err);
    let last = table.out.lines().last().unwrap().to_owned();
    last.split(',').map(|cell| cell.parse().unwrap()).collect()
}

fn run(here: &TempDir, input: &str, out: &str) -> Done {
    legwork(here.path(), &["run", "body.ron", "--input", input, "--out", out])
}

#[test]
fn a_run_without_a_value_for_an_input_names_the_option() {
    let here = body();
    let done = legwork(here.path(), &["run", "body.ron"]);
    assert_eq!(done.code, 64);
    let said = "the input `u` has no value: it has no default, and none was given; give one with \
                --input NAME=VALUE or --input NAME=FILE.csv";
    assert!(done.err.contains(said), "{}", done.err);
    assert_eq!(legwork(here.path(), &["check", "body.ron"]).code, 0);
}

#[test]
fn a_value_a_table_and_a_block_feed_an_input() {
    let here = body();
    assert_eq!(run(&here, "u=4 N", "a").code, 0);
    assert!((last_row(&here, "a")[2] - 2.0).abs() < 1e-12);
    // 0 N rising to 4 N: half of it in the mean. Nothing holds it over a step.
    write(&here, "log.csv", "t,u [kN],other [N]\n0,0,1\n1,0.004,1\n");
    assert_eq!(run(&here, "u=log.csv", "b").code, 0);
    let row = last_row(&here, "b");
    assert!((row[1] - 4.0).abs() < 1e-12 && (row[2] - 1.0).abs() < 1e-12, "{row:?}");
    assert_eq!(run(&here, "u=log.csv:other", "c").code, 0);
    assert!((last_row(&here, "c")[2] - 0.5).abs() < 1e-12);
    let block = "u=Sine(amplitude: \"2 N\", frequency: \"1 Hz\")";
    assert_eq!(run(&here, block, "d").code, 0);
    assert!(last_row(&here, "d")[2].abs() < 1e-6);
    // What a run recorded of its input is a table for the next.
    assert_eq!(legwork(here.path(), &["export", "b", "-o", "again.csv"]).code, 0);
    assert_eq!(run(&here, "u=again.csv:^u", "e").code, 0);
    assert!((last_row(&here, "e")[2] - 1.0).abs() < 1e-9);
}

#[test]
fn wrong_inputs_are_told() {
    let here = body();
    write(&here, "log.csv", "t,u [m]\n0,0\n1,4\n");
    for (input, said) in [
        ("u=4 m", "input `u` expected the unit N, found m"),
        ("u=4", "input `u` expected the unit N, found none"),
        ("w=4 N", "the diagram declares no input `w`"),
        ("u=log.csv", "what feeds the input `u` expected the unit N, found m"),
        ("u=log.csv:q", "expected a column `q` or columns `q[0]`, …, found none"),
        ("u=none.csv", "no file `none.csv`"),
        ("u=[1, 2]", "input `u` expected a number, found a list of 2"),
    ] {
        let done = run(&here, input, "x");
        assert_eq!(done.code, 1, "{input}: {}", done.err);
        assert!(done.err.contains(said), "{input}: {}", done.err);
    }
}

#[test]
fn a_recording_says_what_was_given() {
    let here = body();
    write(&here, "log.csv", "t,u\n0,0\n1,4\n");
    assert_eq!(run(&here, "u=log.csv", "a").code, 0);
    let json = std::fs::read_to_string(here.path().join("a/run.json")).unwrap();
    assert!(json.contains("inputs.u=SignalFromFile(path: \\\"log.csv\\\", signal: \\\"u\\\")"));
    // The page is made from the recording alone, which has to compile to the same program.
    let report = legwork(here.path(), &["view", "a", "-o", "a.html"]);
    assert_eq!(report.code, 0, "{}", report.err);
    assert!(!report.err.contains("warning"), "{}", report.err);
}

#[test]
fn an_input_changes_in_a_session_and_the_session_is_repeated() {
    let here = body();
    let arguments = ["step", "body.ron", "--input", "u=1 N", "--out", "a"];
    let mut child = command(here.path(), &arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = "until 0.5 s\ninput u = 3 N\nprint ^u\nstep\nprint ^u\nfork b\nsession main\n\
                 snapshot s\ncontinue\nprint v\n";
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let session = done(child.wait_with_output().unwrap());
    assert_eq!(session.code, 0, "{}", session.said());
    assert!(
        session.out.contains("inputs.u = 3 N from t=0.5 s on: changes `^u`"),
        "{}",
        session.out
    );
    assert!(session.out.contains("^u: 3 N"), "{}", session.out);
    // Half a second under 1 N, half under 3 N, of 2 kg.
    assert!((last_row(&here, "a")[2] - 1.0).abs() < 1e-12);
    let replay = ["run", "body.ron", "--input", "u=1 N", "--replay-edits", "a", "--out", "r"];
    assert_eq!(legwork(here.path(), &replay).code, 0);
    let bytes = |name: &str| std::fs::read(here.path().join(name).join("run.mcap")).unwrap();
    assert!(bytes("a") == bytes("r"), "the run differs from the session");
    let resumed = ["run", "body.ron", "--input", "u=3 N", "--resume", "s", "--out", "c"];
    let resumed = legwork(here.path(), &resumed);
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    assert!((last_row(&here, "c")[2] - 1.0).abs() < 1e-12);
    let other = ["run", "body.ron", "--input", "u=2 N", "--resume", "s", "--out", "d"];
    assert_eq!(legwork(here.path(), &other).code, 64, "a snapshot of another program");
}

#[test]
fn a_diagram_with_inputs_passes_the_roundtrip() {
    let here = body();
    for input in ["u=2 N", "u=Sine(amplitude: \"2 N\", frequency: \"1 Hz\")"] {
        let done = legwork(here.path(), &["check", "body.ron", "--roundtrip", "--input", input]);
        assert_eq!(done.code, 0, "{}", done.err);
    }
}

#[test]
fn a_sweep_runs_over_an_input() {
    let here = body();
    let arguments =
        ["sweep", "body.ron", "--over", "inputs.u=2 N,4 N", "--show", "body.velocity:final"];
    let done = legwork(here.path(), &arguments);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.contains('1') && done.out.contains('2'), "{}", done.out);
}
