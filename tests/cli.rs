//! The command from outside: exit codes, the JSON object, files written, and that no command line
//! makes it panic.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// What a command left behind.
struct Done {
    code: i32,
    out: String,
    err: String,
}

impl Done {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("{error} in {:?}; stderr: {}", self.out, self.err))
    }
}

fn legwork(directory: &Path, arguments: &[impl AsRef<OsStr>]) -> Done {
    let done = Command::new(env!("CARGO_BIN_EXE_legwork"))
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .expect("the command starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the command writes UTF-8");
    let (out, err) = (text(done.stdout), text(done.stderr));
    let code = done.status.code().unwrap_or_else(|| panic!("killed: {err}"));
    assert_ne!(code, 101, "a panic: {err}");
    Done { code, out, err }
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

fn write(folder: &TempDir, name: &str, text: impl AsRef<[u8]>) {
    std::fs::write(folder.path().join(name), text).expect("the directory is writable");
}

/// A ramp to 1 at the end, with the checks given.
fn ramp(checks: &str) -> String {
    format!(
        r#"Diagram(
    format: 1,
    doc: "A ramp.",
    run: (stop: "1 s", step: "10 ms", solver: Euler, seed: 3),
    params: {{ "slope": Param(value: 1.0, min: 0.0) }},
    blocks: {{
        "rate": Constant(value: "=slope"),
        "ramp": Integrator(in: {{ "u": "rate.y" }}),
    }},
    log: ["ramp.y", Every("100 ms", "rate.y")],
    checks: {{ {checks} }},
)"#
    )
}

/// A diagram whose variant `v` has a good choice and one with a misspelt parameter.
fn with_variant() -> &'static str {
    r#"Diagram(
    format: 1,
    run: (stop: "1 s", step: "10 ms"),
    variants: { "v": Variant(
        ports: (in: { "u": "Real" }, out: { "y": "Real" }),
        default: "twice",
        choices: { "twice": Gain(gain: 2.0), "broken": Gain(gian: 3.0) },
    ) },
    blocks: {
        "one":  Constant(value: 1.0),
        "part": Use(of: "v", in: { "u": "one.y" }),
    },
)"#
}

#[test]
fn a_run_records_and_its_json_has_every_promised_field() {
    let here = folder();
    write(&here, "ramp.ron", ramp(r#""reaches one": Finally(that: "=abs(ramp.y - 1) < 1e-9")"#));
    let done = legwork(here.path(), &["run", "ramp.ron", "--json"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let json = done.json();
    assert_eq!(json["diagram"], "ramp.ron");
    assert_eq!(json["sim_time_s"], 1.0);
    assert_eq!(json["steps"], 100);
    assert_eq!(json["checks"]["reaches one"], true);
    assert_eq!(json["solver_calls"], 0);
    assert_eq!(json["solver_failures"], 0);
    assert!(json["metrics"].is_object());
    assert!(json["wall_s"].as_f64().is_some_and(|wall| wall > 0.0));
    assert!(json["compile_s"].as_f64().is_some_and(|time| time > 0.0));
    let product = json["real_time_factor"].as_f64().unwrap() * json["wall_s"].as_f64().unwrap();
    assert!((product - 1.0).abs() < 1e-9, "factor times wall is {product} s");
    let recording = here.path().join(json["recording"].as_str().expect("a path"));
    assert!(recording.ends_with("runs/ramp/run.mcap") && recording.is_file());
    let kept = std::fs::read(here.path().join("runs/ramp/run.json")).expect("run.json");
    let kept: Value = serde_json::from_slice(&kept).expect("JSON");
    assert_eq!(kept["wall_s"], json["wall_s"]);
    assert!(done.err.contains("1 of 1 passed"), "{}", done.err);
}

#[test]
fn exit_codes_say_who_is_wrong() {
    let here = folder();
    write(&here, "good.ron", ramp(""));
    write(&here, "fails.ron", ramp(r#""stays low": Always(that: "=ramp.y < 0.5")"#));
    write(&here, "broken.ron", ramp("").replace("rate.y\" }", "rat.y\" }"));
    write(
        &here,
        "faults.ron",
        ramp("").replace("Constant(value: \"=slope\")", "Fcn(expression: \"1/(t - 0.5)\")"),
    );
    let code = |arguments: &[&str]| legwork(here.path(), arguments).code;
    assert_eq!(code(&["run", "good.ron"]), 0);
    assert_eq!(code(&["run", "broken.ron"]), 1);
    assert_eq!(code(&["run", "faults.ron"]), 2);
    assert_eq!(code(&["run", "fails.ron"]), 3);
    assert_eq!(code(&["run", "fails.ron", "--no-checks"]), 0);
    assert_eq!(code(&["run", "good.ron", "--set", "slope"]), 64);
    assert_eq!(code(&["test", "good.ron"]), 0);
    assert_eq!(code(&["test", "good.ron", "fails.ron"]), 3);
    assert_eq!(code(&["test", "fails.ron", "faults.ron"]), 2);
    assert_eq!(code(&["test", "fails.ron", "broken.ron"]), 1);
    assert_eq!(code(&["check", "fails.ron", "good.ron"]), 0);
    assert_eq!(code(&["check", "good.ron", "broken.ron"]), 1);
}

#[test]
fn a_fault_says_when_where_and_what_and_keeps_the_recording() {
    let here = folder();
    let text = ramp("").replace("Constant(value: \"=slope\")", "Fcn(expression: \"1/(t - 0.5)\")");
    write(&here, "faults.ron", text);
    let done = legwork(here.path(), &["run", "faults.ron", "--json"]);
    let json = done.json();
    assert_eq!(json["fault"]["t"], 0.5);
    assert_eq!(json["fault"]["block"], "rate");
    assert_eq!(json["fault"]["phase"], "output");
    assert_eq!(json["fault"]["span"]["line"], 7);
    assert!(done.err.contains("t=0.5 s, output, rate:"), "{}", done.err);
    assert!(done.err.contains("faults.ron:7:"), "{}", done.err);
    let table = legwork(here.path(), &["export", "runs/faults", "--topic", "ramp.y"]);
    assert_eq!(table.out.lines().count(), 1 + 50, "rows up to the last good one");
}

#[test]
fn a_failed_check_says_when() {
    let here = folder();
    write(&here, "a.ron", ramp(r#""stays low": Always(that: "=ramp.y < 0.495")"#));
    let done = legwork(here.path(), &["run", "a.ron", "--json"]);
    assert_eq!(done.json()["checks"]["stays low"], false);
    assert!(done.err.contains("FAIL  stays low: not at t=500 ms"), "{}", done.err);
}

#[test]
fn a_check_whose_window_is_not_reached_is_neither_passed_nor_failed() {
    let here = folder();
    write(&here, "a.ron", ramp(r#""late": Always(that: "=ramp.y > 0.5", after: "0.8 s")"#));
    let done = legwork(here.path(), &["run", "a.ron", "--json", "--until", "0.2 s"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(done.json()["checks"]["late"], Value::Null);
    assert_eq!(done.json()["sim_time_s"], 0.2);
    let longer = legwork(here.path(), &["run", "a.ron", "--json", "--until", "2 s"]);
    assert_eq!(longer.json()["sim_time_s"], 2.0);
}

#[test]
fn overrides_change_the_run_and_not_the_file() {
    let here = folder();
    let text = ramp("");
    write(&here, "a.ron", &text);
    write(&here, "steep.ron", r#"Patch(set: { "slope": 3.0 })"#);
    let last = |arguments: &[&str]| {
        let all = [&["run", "a.ron", "--json", "--out", "out"], arguments].concat();
        let done = legwork(here.path(), &all);
        assert_eq!(done.code, 0, "{}", done.err);
        let table = legwork(here.path(), &["export", "out", "--topic", "ramp.y"]).out;
        let cell = table.lines().last().and_then(|line| line.split(',').nth(1)).map(str::to_owned);
        cell.and_then(|cell| cell.parse::<f64>().ok()).expect("a number")
    };
    assert!((last(&[]) - 1.0).abs() < 1e-9);
    assert!((last(&["--set", "slope=2"]) - 2.0).abs() < 1e-9);
    assert!((last(&["--with", "steep.ron"]) - 3.0).abs() < 1e-9);
    assert!((last(&["--with", "steep.ron", "--set", "slope=4"]) - 4.0).abs() < 1e-9);
    assert_eq!(std::fs::read_to_string(here.path().join("a.ron")).unwrap(), text);
    let run_json = std::fs::read_to_string(here.path().join("out/run.json")).unwrap();
    assert!(run_json.contains("slope=4"), "{run_json}");
}

#[test]
fn equal_runs_write_equal_recordings_wherever_they_run() {
    let (one, other) = (folder(), folder());
    std::fs::create_dir(other.path().join("deep")).unwrap();
    write(&one, "a.ron", ramp(""));
    write(&other, "deep/a.ron", ramp(""));
    assert_eq!(legwork(one.path(), &["run", "a.ron", "--out", "x"]).code, 0);
    assert_eq!(legwork(other.path(), &["run", "deep/a.ron"]).code, 0);
    let first = std::fs::read(one.path().join("x/run.mcap")).unwrap();
    let second = std::fs::read(other.path().join("runs/a/run.mcap")).unwrap();
    assert!(first == second, "{} and {} bytes", first.len(), second.len());
    let place = one.path().to_str().unwrap();
    assert!(!String::from_utf8_lossy(&first).contains(place), "the recording names its place");
}

#[test]
fn check_tries_every_choice_and_names_the_one_that_is_wrong() {
    let here = folder();
    write(&here, "v.ron", with_variant());
    assert_eq!(legwork(here.path(), &["run", "v.ron"]).code, 0);
    let done = legwork(here.path(), &["check", "v.ron", "--json"]);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("with --variant v=broken"), "{}", done.err);
    let json = done.json();
    let diagnostics = &json["diagrams"][0]["diagnostics"];
    assert!(!diagnostics.as_array().unwrap().is_empty(), "{json}");
    for diagnostic in diagnostics.as_array().unwrap() {
        assert_eq!(diagnostic["choices"], serde_json::json!(["v=broken"]), "{diagnostic}");
    }
    assert_eq!(json["diagrams"][0]["variants"]["v"], serde_json::json!(["twice", "broken"]));
}

#[test]
fn an_unknown_variant_or_choice_is_a_diagram_error_with_advice() {
    let here = folder();
    write(&here, "v.ron", with_variant());
    let choice = legwork(here.path(), &["run", "v.ron", "--variant", "v=twise"]);
    assert_eq!(choice.code, 1);
    assert!(choice.err.contains("did you mean `twice`?"), "{}", choice.err);
    let variant = legwork(here.path(), &["run", "v.ron", "--variant", "w=twice", "--json"]);
    assert_eq!(variant.code, 1);
    assert_eq!(variant.json()["diagnostics"][0]["code"], "unknown-variant");
}

#[test]
fn check_expand_prints_the_order_of_execution() {
    let here = folder();
    write(&here, "a.ron", ramp(""));
    let done = legwork(here.path(), &["check", "--expand", "a.ron"]);
    assert!(done.out.contains("order:") && done.out.contains("ramp: Integrator"), "{}", done.out);
}

#[test]
fn a_diagnostic_shows_file_line_column_and_the_nearest_name() {
    let here = folder();
    write(&here, "a.ron", ramp("").replace("rate.y\" }", "rat.y\" }"));
    let done = legwork(here.path(), &["check", "a.ron"]);
    for part in ["error[unknown-block]", "a.ron:8:", "^", "did you mean `rate`?"] {
        assert!(done.err.contains(part), "no `{part}` in {}", done.err);
    }
    assert!(done.out.is_empty());
}

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
    assert_eq!(code(&["export", "taken"]), 64);
    assert_eq!(code(&["export", "nowhere"]), 64);
    assert_eq!(code(&["new", "taken"]), 64);
    assert_eq!(code(&["new", "nowhere/x.ron"]), 64);
    assert_eq!(std::fs::read(here.path().join("taken")).unwrap(), b"a file");
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
    assert_eq!(done.status.code(), Some(64));
}

#[test]
fn a_table_has_the_recorded_values() {
    let here = folder();
    write(&here, "a.ron", ramp(""));
    legwork(here.path(), &["run", "a.ron"]);
    let table = legwork(here.path(), &["export", "runs/a"]).out;
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("t,ramp.y.value,rate.y.value"));
    assert_eq!(lines.next(), Some("0.0,0.0,1.0"));
    assert_eq!(lines.next(), Some("0.01,0.01,"));
    let file = legwork(here.path(), &["export", "runs/a/run.mcap", "-o", "t.csv", "--json"]);
    assert_eq!(file.json()["topics"], serde_json::json!(["ramp.y", "rate.y"]));
    assert_eq!(std::fs::read_to_string(here.path().join("t.csv")).unwrap(), table);
    assert_eq!(legwork(here.path(), &["export", "runs/a", "--json"]).code, 64);
    let slip = legwork(here.path(), &["export", "runs/a", "--topic", "ramp", "-o", "u.csv"]);
    assert_eq!(slip.code, 64);
    assert!(!here.path().join("u.csv").exists());
}

#[test]
fn a_new_diagram_runs_and_passes_its_checks() {
    let here = folder();
    assert_eq!(legwork(here.path(), &["new", "cart.ron"]).code, 0);
    let done = legwork(here.path(), &["test", "cart.ron", "--json"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(done.json()["passed"], 1);
    assert_eq!(legwork(here.path(), &["check", "cart.ron"]).code, 0);
}

#[test]
fn every_demo_has_a_word_of_its_own_and_can_be_copied() {
    let here = folder();
    let json = legwork(here.path(), &["demo", "--json"]).json();
    for demo in json["demos"].as_array().expect("a list") {
        let file = demo["file"].as_str().expect("a name");
        assert!(!demo["doc"].as_str().expect("a text").is_empty(), "{file} has no `doc:`");
        let copy = format!("{}.ron", demo["name"].as_str().unwrap().replace('/', "_"));
        assert_eq!(legwork(here.path(), &["new", &copy, "--from", file]).code, 0);
        let done = legwork(here.path(), &["check", file, &copy]);
        assert_eq!(done.code, 0, "{}", done.err);
    }
}

#[test]
fn a_page_shows_the_functions_that_a_block_needs() {
    let here = folder();
    let ty = "fn(problem: ContactProblem(any)) -> (f: Vector(3*n))";
    let page = legwork(here.path(), &["blocks", "CoulombContact", "--json"]).json();
    assert_eq!(
        (&page["needs"][0]["name"], &page["needs"][0]["type"]),
        (&json!("solve"), &json!(ty))
    );
    let text = legwork(here.path(), &["blocks", "CoulombContact"]).out;
    assert!(text.contains(&format!("\nneeds\n  solve: {ty}\n")), "{text}");
    let gain = legwork(here.path(), &["blocks", "Gain", "--json"]).json();
    assert_eq!(gain["needs"], json!([]));
}

#[test]
fn every_block_has_a_page_with_documentation_and_ports() {
    let here = folder();
    let json = legwork(here.path(), &["blocks", "--json"]).json();
    let blocks = json["blocks"].as_array().expect("a list");
    assert!(!blocks.is_empty());
    for block in blocks {
        let kind = block["kind"].as_str().expect("a name");
        assert!(!block["summary"].as_str().expect("a text").is_empty(), "{kind} says nothing");
        let page = legwork(here.path(), &["blocks", kind, "--json"]).json();
        assert!(page["outputs"].is_array(), "{kind}: {}", page["ports_unknown"]);
        for parameter in page["parameters"].as_array().expect("a list") {
            let name = parameter["name"].as_str().expect("a name");
            assert!(!parameter["doc"].as_str().expect("a text").is_empty(), "{kind}.{name}");
        }
        let text = legwork(here.path(), &["blocks", kind]).out;
        assert!(text.starts_with(kind) && text.contains("\nexample\n"), "{text}");
    }
    let gain = legwork(here.path(), &["blocks", "Gain", "--json"]).json();
    assert_eq!(gain["outputs"][0]["feeds_through"], serde_json::json!(["u"]));
    let delay = legwork(here.path(), &["blocks", "UnitDelay", "--json"]).json();
    assert_eq!(delay["outputs"][0]["feeds_through"], serde_json::json!([]));
    let slip = legwork(here.path(), &["blocks", "unitdelay"]);
    assert!(slip.err.contains("did you mean `UnitDelay`?"), "{}", slip.err);
}

#[test]
fn a_picture_goes_where_its_ending_says() {
    let here = folder();
    write(&here, "a.ron", ramp(""));
    let mermaid = legwork(here.path(), &["graph", "a.ron"]).out;
    assert!(mermaid.contains("flowchart"), "{mermaid}");
    for (name, start) in [("x.svg", "<svg"), ("x.dot", "digraph"), ("x.mmd", "flowchart")] {
        let done = legwork(here.path(), &["graph", "a.ron", "-o", name, "--json"]);
        assert_eq!(done.code, 0, "{}", done.err);
        assert_eq!(done.json()["output"], name);
        let text = std::fs::read_to_string(here.path().join(name)).unwrap();
        assert!(text.contains(start), "{name}: {text}");
    }
}

/// A block crate outside the workspace, with a main of its own, builds and runs.
#[test]
fn a_third_party_block_builds_into_the_command_and_runs() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/third_party");
    let target = Path::new(env!("CARGO_BIN_EXE_legwork"))
        .parent()
        .and_then(Path::parent)
        .expect("the command lies in target/profile");
    let built = Command::new(env!("CARGO"))
        .args(["build", "--locked", "--manifest-path"])
        .arg(source.join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", target)
        .output()
        .expect("cargo runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let out = folder();
    let ran = Command::new(target.join("debug/limit-switch"))
        .arg("run")
        .arg(source.join("ramp.ron"))
        .arg("--json")
        .arg("--out")
        .arg(out.path())
        .output()
        .expect("the third party's command runs");
    let answer: Value = serde_json::from_slice(&ran.stdout).expect("one JSON object");
    assert_eq!(ran.status.code(), Some(0), "{answer}");
    assert_eq!(answer["metrics"]["tripped"], 1.0, "{answer}");
}

/// The problem that stops a run stands in a file which the same method can be given again.
#[test]
fn a_problem_that_was_not_solved_is_written_beside_the_recording() {
    let here = folder();
    let stand = Path::new(env!("CARGO_MANIFEST_DIR")).join("diagrams/quadruped/stand.ron");
    let common = ["--until", "0.15 s", "--json", "--no-checks", "--variant", "qp=pgs"];
    let run = |set: &[&str]| {
        let mut arguments = vec!["run", stand.to_str().expect("a plain path"), "--out", "out"];
        arguments.extend(common);
        arguments.extend(set);
        legwork(here.path(), &arguments)
    };
    let done = run(&[
        "--set",
        "variants.qp.choices.pgs.sweeps=1",
        "--set",
        "variants.qp.choices.pgs.accept=1e-9",
        "--set",
        "variants.qp.choices.pgs.tol=1e-9",
    ]);
    let json = done.json();
    let problems = json["problems"].as_array().expect("a list");
    assert_eq!(problems.len(), 1, "{json}");
    let path = problems[0].as_str().expect("a path");
    assert!(path.starts_with("out/problems/contact.solve-"), "{path}");
    assert!(done.err.contains(path), "{}", done.err);
    let text = std::fs::read_to_string(here.path().join(path)).expect("the file is there");
    let named = legwork_qp::problem_file::read(&text).expect("a problem");
    assert!(named.origin.starts_with("ProjectedGaussSeidel at t = 0.1"), "{}", named.origin);
    assert!(named.origin.contains("MaxIterations after 1 iterations"), "{}", named.origin);
    let legwork_qp::Problem::Contact(data) = &named.problem else { panic!("a contact problem") };
    let mut forces = named.extra["start"].clone();
    let outcome =
        legwork_qp::ProjectedGaussSeidel::new(4, 1, 1e-9).solve_warm(&data.view(), &mut forces);
    assert_eq!(outcome.status, legwork_qp::Status::MaxIterations);
    assert!(named.origin.ends_with(&format!("residual {:.1e}", outcome.residual)));

    let done = run(&[]);
    assert_eq!(done.json()["problems"], serde_json::json!([]));
}

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
