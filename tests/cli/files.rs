//! Files: what is written appears whole, replaces no input and leaves nothing of another run; what
//! a diagram reads lies in its folders.
//!
//! One file: every promise about files is tried on the same few folders.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::support::{Done, command, done, folder, legwork, ramp, repository, write};

fn read(folder: &Path, name: &str) -> Option<Vec<u8>> {
    std::fs::read(folder.join(name)).ok()
}

/// A ramp that a run paced as `--pace` says takes hours for, until it is ended.
fn long() -> String {
    ramp("").replace("1 s", "100000 s")
}

/// Starts a command that is to be ended by a signal.
fn start(here: &Path, arguments: &[&str]) -> Child {
    let mut command = command(here, arguments);
    // Under `nohup` SIGHUP is ignored, and stays so.
    if cfg!(target_os = "linux") {
        let program = command.get_program().to_owned();
        command = Command::new("env");
        command.args(["--default-signal=HUP,INT,TERM"]).arg(program).args(arguments);
        command.current_dir(here).stdin(Stdio::null());
    }
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts")
}

fn wait_for(path: &Path) {
    let begun = Instant::now();
    while !path.is_file() {
        assert!(begun.elapsed() < Duration::from_secs(20), "no {}", path.display());
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(sent.expect("kill starts").success());
}

fn end(child: Child) -> Done {
    done(child.wait_with_output().expect("the command ends"))
}

#[test]
fn no_output_replaces_an_input() {
    let here = folder();
    write(&here, "a.ron", ramp(""));
    write(&here, "p.ron", "Patch(set: { \"slope\": 0.0 })");
    assert_eq!(legwork(here.path(), &["run", "a.ron", "--out", "r"]).code, 0);
    let kept: Vec<_> = ["a.ron", "p.ron", "r/run.mcap"].map(|name| read(here.path(), name)).into();
    std::fs::copy(here.path().join("a.ron"), here.path().join("a.svg")).expect("a copy");
    for arguments in [
        &["trim", "a.ron", "--with", "p.ron", "-o", "a.ron"][..],
        &["trim", "a.ron", "--with", "p.ron", "-o", "./p.ron"],
        &["export", "r", "-o", "r/run.mcap"],
        &["graph", "a.svg", "-o", "a.svg"],
        &["view", "r", "-o", "r/run.mcap"],
        &["sweep", "a.ron", "--over", "slope=1,2", "--table", "a.ron"],
        &["run", "a.ron", "--replay-edits", "r", "--out", "r"],
    ] {
        let done = legwork(here.path(), arguments);
        assert_eq!(done.code, 64, "{arguments:?}: {}", done.said());
    }
    let now: Vec<_> = ["a.ron", "p.ron", "r/run.mcap"].map(|name| read(here.path(), name)).into();
    assert!(kept == now, "an input was written");
}

#[cfg(unix)]
#[test]
fn no_output_goes_through_a_symbolic_link() {
    let here = folder();
    write(&here, "a.ron", ramp(""));
    write(&here, "secret", "kept");
    let link = |name: &str| {
        std::os::unix::fs::symlink(here.path().join("secret"), here.path().join(name)).unwrap();
    };
    std::fs::create_dir(here.path().join("r")).unwrap();
    ["r/run.mcap", "x.svg", "t.csv"].into_iter().for_each(link);
    let refused = |arguments: &[&str]| {
        let done = legwork(here.path(), arguments);
        assert_eq!(done.code, 64, "{arguments:?}: {}", done.said());
        assert!(done.err.contains("symbolic link"), "{arguments:?}: {}", done.err);
    };
    refused(&["run", "a.ron", "--out", "r"]);
    std::fs::create_dir(here.path().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink("elsewhere", here.path().join("runs")).unwrap();
    refused(&["run", "a.ron"]);
    assert_eq!(legwork(here.path(), &["run", "a.ron", "--out", "runs"]).code, 0, "it is named");
    refused(&["graph", "a.ron", "-o", "x.svg"]);
    refused(&["sweep", "a.ron", "--over", "slope=1,2", "--table", "t.csv"]);
    assert_eq!(read(here.path(), "secret"), Some(b"kept".to_vec()));
}

#[test]
fn a_run_that_is_killed_leaves_nothing_of_the_run_before() {
    let here = folder();
    write(&here, "a.ron", long());
    let short = ["run", "a.ron", "--out", "r", "--until", "1 s", "--snapshot-at", "0.5 s"];
    assert_eq!(legwork(here.path(), &short).code, 0);
    write(&here, "r/fault.snapshot", "of an earlier version");
    let first = read(here.path(), "r/run.mcap");
    let mut child = start(here.path(), &["run", "a.ron", "--out", "r", "--pace", "1000"]);
    let begun = Instant::now();
    while read(here.path(), "r/run.mcap") == first {
        assert!(begun.elapsed() < Duration::from_secs(20), "the recording is not replaced");
        std::thread::sleep(Duration::from_millis(2));
    }
    for name in ["run.json", "fault.snapshot", "t=0.5.snapshot"] {
        assert!(read(here.path(), &format!("r/{name}")).is_none(), "{name} stays");
    }
    std::thread::sleep(Duration::from_millis(50));
    child.kill().expect("it is killed");
    child.wait().expect("it ends");
    let done = legwork(here.path(), &["export", "r", "-o", "t.csv"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.err.contains("is cut off"), "{}", done.err);
    // The lock of a killed run is no lock.
    assert_eq!(legwork(here.path(), &short).code, 0);
}

#[test]
fn two_runs_do_not_share_a_directory() {
    let here = folder();
    write(&here, "a.ron", long());
    let mut child = start(here.path(), &["run", "a.ron", "--out", "r", "--pace", "1"]);
    wait_for(&here.path().join("r/run.mcap"));
    for arguments in
        [&["run", "a.ron", "--out", "r", "--until", "1 s"][..], &["step", "a.ron", "--out", "r"]]
    {
        let done = legwork(here.path(), arguments);
        assert_eq!(done.code, 64, "{arguments:?}: {}", done.said());
        assert!(done.err.contains("another run writes into `r`"), "{}", done.err);
    }
    child.kill().expect("it is killed");
    child.wait().expect("it ends");
}

#[cfg(target_os = "linux")]
#[test]
fn signals_end_a_run_in_order() {
    for (name, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        let here = folder();
        write(&here, "a.ron", long());
        let child = start(here.path(), &["run", "a.ron", "--out", "r", "--pace", "1", "--json"]);
        wait_for(&here.path().join("r/run.mcap"));
        std::thread::sleep(Duration::from_millis(100));
        signal(&child, name);
        let done = end(child);
        assert_eq!(done.code, code, "{name}: {}", done.err);
        assert_eq!(done.json()["interrupted"], true);
        assert!(read(here.path(), "r/interrupt.snapshot").is_some(), "{name}");
        let whole = legwork(here.path(), &["export", "r", "-o", "t.csv"]);
        assert!(whole.code == 0 && !whole.err.contains("cut off"), "{name}: {}", whole.err);
    }
}

/// A major step of fifty thousand seconds of as many oscillators does not keep the signal waiting.
#[cfg(unix)]
#[test]
fn a_signal_is_heard_inside_a_step() {
    let here = folder();
    let text = r#"Diagram(
        run: (stop: "100000 s", step: "50000 s", solver: DormandPrince(rtol: 1e-10)),
        blocks: {
            "a": Integrator(initial: "=ones(50000)", in: { "u": "b.y" }),
            "m": Gain(gain: -1000.0, in: { "u": "a.y" }),
            "b": Integrator(initial: "=zeros(50000)", in: { "u": "m.y" }),
        },
        log: ["a.y[0]"],
    )"#;
    write(&here, "a.ron", text);
    let child = start(here.path(), &["run", "a.ron", "--out", "r", "--json"]);
    wait_for(&here.path().join("r/run.mcap"));
    std::thread::sleep(Duration::from_millis(200));
    let sent = Instant::now();
    signal(&child, "-INT");
    let done = end(child);
    assert_eq!(done.code, 130, "{}", done.err);
    // Heard within 100 ms; the rest is for a busy machine.
    assert!(sent.elapsed() < Duration::from_secs(2), "it took {:?}", sent.elapsed());
    assert_eq!(done.json()["snapshots"][0]["t"], 0.0, "the step before is kept");
    let on = ["run", "a.ron", "--resume", "r/interrupt.snapshot", "--until", "0 s", "--out", "s"];
    assert_eq!(legwork(here.path(), &on).code, 0);
}

/// Nor does one solve of a problem of four hundred contacts, which is many seconds of Lemke's
/// method.
#[cfg(unix)]
#[test]
fn a_signal_is_heard_inside_a_solver() {
    let here = folder();
    let text = r#"Diagram(format: 2, run: (stop: "1 s", step: "1 s"), blocks: {
        "b": FreeBodies(
            every: "1 s", contact: Rigid(contacts: 410, stiffness: "1e6 N/m", damping: "9 N*s/m"),
            bodies: [Spheres(radius: "10 cm", mass: "1 kg", at: Lattice(
                count: 144, columns: [12, 12], gap: "0 mm", pitch: [0.199, 0.3, 0.2]))],
            needs: { "solve": StewartTrinkle() }),
    }, log: ["b.energy"])"#;
    write(&here, "a.ron", text);
    let child = start(here.path(), &["run", "a.ron", "--out", "r", "--json"]);
    wait_for(&here.path().join("r/run.mcap"));
    std::thread::sleep(Duration::from_millis(200));
    signal(&child, "-INT");
    let done = end(child);
    assert_eq!(done.code, 130, "{}", done.err);
    assert_eq!(done.json()["snapshots"][0]["t"], 0.0, "the solve goes on to the end of the run");
}

#[test]
fn a_pace_that_never_ends_is_no_panic() {
    let here = folder();
    write(&here, "a.ron", ramp(""));
    let child = start(here.path(), &["run", "a.ron", "--pace", "1e-300"]);
    wait_for(&here.path().join("runs/a/run.mcap"));
    std::thread::sleep(Duration::from_millis(100));
    signal(&child, "-INT");
    assert_eq!(end(child).code, 130);
}

#[test]
fn a_directory_that_is_removed_costs_no_verdict() {
    let here = folder();
    write(&here, "a.ron", ramp(r#""grows": Always(that: "=ramp.y > -1")"#));
    let child = start(here.path(), &["run", "a.ron", "--out", "r", "--pace", "2"]);
    wait_for(&here.path().join("r/run.mcap"));
    std::fs::remove_dir_all(here.path().join("r")).expect("it is removed");
    let done = end(child);
    assert_eq!(done.code, 74, "{}", done.said());
    assert!(done.out.contains("1 of 1 passed"), "{}", done.out);
    assert!(done.err.contains("was removed while the run went on"), "{}", done.err);
}

#[test]
fn a_diagram_reads_in_its_folders_alone() {
    let here = folder();
    for part in ["in", "out", "in/below"] {
        std::fs::create_dir_all(here.path().join(part)).unwrap();
    }
    let table = "t,secret\n0,1\n1,2\n";
    write(&here, "out/t.csv", table);
    write(&here, "in/below/t.csv", table);
    let diagram = |path: &str| {
        format!(
            r#"Diagram(run: (stop: "1 s", step: "0.1 s"), log: ["a.y"],
                blocks: {{ "a": SignalFromFile(path: "{path}", column: "secret") }})"#
        )
    };
    let outside = here.path().join("out/t.csv");
    write(&here, "in/near.ron", diagram("below/t.csv"));
    write(&here, "in/up.ron", diagram("../out/t.csv"));
    write(&here, "in/far.ron", diagram(&outside.display().to_string()));
    let below = here.path().join("in");
    let run = |file: &str, more: &[&str]| {
        let mut arguments = vec!["run", file, "--out", "r"];
        arguments.extend(more);
        legwork(&below, &arguments)
    };
    assert_eq!(run("near.ron", &[]).code, 0);
    for file in ["up.ron", "far.ron"] {
        let refused = run(file, &[]);
        assert_eq!(refused.code, 1, "{}", refused.said());
        assert!(refused.err.contains("`--root DIR` adds a folder"), "{}", refused.err);
        assert_eq!(run(file, &["--root", "../out"]).code, 0);
        assert_eq!(run(file, &["--trust"]).code, 0);
    }
    // In the working directory, and in the project.
    assert_eq!(legwork(here.path(), &["run", "in/up.ron"]).code, 0);
    write(&here, "legwork.toml", "");
    assert_eq!(run("up.ron", &[]).code, 0);
    // A link leads nowhere else.
    #[cfg(unix)]
    {
        std::fs::remove_file(here.path().join("legwork.toml")).unwrap();
        std::os::unix::fs::symlink("../../out/t.csv", below.join("below/link.csv")).unwrap();
        write(&here, "in/link.ron", diagram("below/link.csv"));
        let refused = run("link.ron", &[]);
        assert_eq!(refused.code, 1, "{}", refused.said());
        assert!(refused.err.contains("symbolic link"), "{}", refused.err);
        std::os::unix::fs::symlink("../out/x.ron", below.join("x.ron")).unwrap();
        write(&here, "out/x.ron", ramp(""));
        assert_eq!(run("x.ron", &[]).code, 64);
        assert_eq!(run("x.ron", &["--trust"]).code, 0);
    }
}

#[test]
fn what_is_no_mask_is_not_shown() {
    let here = folder();
    write(&here, "secret", "password: hunter2\nuser: me\n");
    let text = r#"Diagram(run: (stop: "1 s", step: "0.1 s"),
        blocks: { "a": Mask(file: "secret") })"#;
    write(&here, "a.ron", text);
    write(&here, "b.ron", ramp(""));
    for arguments in [&["check", "a.ron"][..], &["check", "b.ron", "--with", "secret"]] {
        let done = legwork(here.path(), arguments);
        assert_eq!(done.code, 1, "{}", done.said());
        let said = done.said();
        assert!(!said.contains("hunter2") && !said.contains("password"), "{said}");
    }
}

/// What a diagram names may be any file that it may read.
#[test]
fn what_is_of_another_kind_is_not_shown() {
    let here = folder();
    let blocks = [
        r#"SignalFromFile(path: "F", column: "a")"#,
        r#"SignalFromFile(path: "F", time: "KEY=hunter2", column: "a")"#,
        r#"SignalFromFile(path: "F", signal: "a")"#,
        r#"SignalFromRecording(path: "F", topic: "a.y")"#,
        r#"Policy(path: "F")"#,
        r#"Mask(file: "F")"#,
    ];
    let run = r#"run: (stop: "1 s", step: "0.1 s")"#;
    let mut diagrams: Vec<String> = Vec::new();
    for block in blocks {
        diagrams.push(format!(r#"Diagram({run}, blocks: {{ "a": {block} }})"#));
    }
    let sections = [
        r#"robots: { "r": Urdf(path: "F") }"#,
        r#"robots: { "r": Mjcf(path: "F") }"#,
        r#"robots: { "r": Robot(file: "F") }"#,
        r#"ground: HeightField(file: "F", cell: "5 cm")"#,
        r#"ground: HeightImage(file: "F", cell: "5 cm", height: "1 m")"#,
    ];
    for section in sections {
        diagrams
            .push(format!(r#"Diagram({run}, {section}, blocks: {{ "a": Constant(value: 1) }})"#));
    }
    let secrets = [
        "hunter2\n",
        "KEY=hunter2\nOTHER=hunter2\n",
        "password: hunter2\n",
        "f hunter2\n",
        "{ \"hunter2\": \"hunter2\" }\n",
        "<hunter2>hunter2</hunter2>\n",
        "<settings><hunter2 hunter2='hunter2'/></settings>\n",
    ];
    for secret in secrets {
        write(&here, "secret", secret);
        for diagram in &diagrams {
            write(&here, "a.ron", diagram.replace("\"F\"", "\"secret\""));
            let done = legwork(here.path(), &["check", "a.ron"]);
            assert_eq!(done.code, 1, "{diagram}: {}", done.said());
            // What the diagram itself says may be repeated.
            let said = done.said().replace("KEY=hunter2", "");
            assert!(!said.contains("hunter2"), "{diagram}\n{secret}\n{said}");
        }
        for ending in ["stl", "obj", "dae", "gltf", "glb", "msh"] {
            let name = format!("secret.{ending}");
            write(&here, &name, secret);
            let ground = format!(
                r#"Diagram({run}, ground: TriangleMesh(file: "{name}"),
                    blocks: {{ "a": Constant(value: 1) }})"#
            );
            write(&here, "a.ron", ground);
            let said = legwork(here.path(), &["check", "a.ron"]).said();
            assert!(!said.contains("hunter2"), "{secret}: {said}");
        }
        for arguments in [
            &["robot", "secret"][..],
            &["plot", "secret", "-o", "x.svg"],
            &["export", "secret"],
            &["duel", "secret"],
            &["compare", "secret.csv", "secret.csv"],
            &["run", "demo:pendulum", "--replay-edits", "secret.json"],
        ] {
            write(&here, "secret.json", secret);
            write(&here, "secret.csv", secret);
            let said = legwork(here.path(), arguments).said();
            assert!(!said.contains("hunter2"), "{arguments:?}: {said}");
        }
    }
}

#[test]
fn what_is_read_is_not_replaced() {
    let here = folder();
    let table = "t,a\n0,1\n1,2\n";
    let reads = |file: &str| {
        format!(
            r#"Diagram(run: (stop: "1 s", step: "0.1 s"), log: ["a.y"], blocks: {{
                "a": SignalFromFile(path: "{file}", column: "a"),
                "g": Gain(gain: 1, in: {{ "u": "a.y" }}) }})"#
        )
    };
    std::fs::create_dir(here.path().join("r")).unwrap();
    for (file, arguments) in [
        ("r/t=0.5.snapshot", &["run", "a.ron", "--out", "r", "--snapshot-at", "0.5 s"][..]),
        ("r/run.json", &["run", "a.ron", "--out", "r"]),
        ("r/sweep.rows", &["sweep", "a.ron", "--over", "g.gain=1,2", "--out", "r"]),
        ("r/sweep.json", &["sweep", "a.ron", "--over", "g.gain=1,2", "--out", "r"]),
    ] {
        write(&here, file, table);
        write(&here, "a.ron", reads(file));
        let done = legwork(here.path(), arguments);
        assert_eq!(done.code, 64, "{file}: {}", done.said());
        assert!(done.err.contains("is read here"), "{file}: {}", done.err);
        assert_eq!(read(here.path(), file), Some(table.into()), "{file}");
        std::fs::remove_file(here.path().join(file)).unwrap();
    }
    let problem = std::fs::read(repository().join("tests/data/problems/landing.json")).unwrap();
    std::fs::write(here.path().join("p.json"), &problem).unwrap();
    let done = legwork(here.path(), &["duel", "p.json", "--shrink", "p.json", "--tol", "0"]);
    assert_eq!(done.code, 64, "{}", done.said());
    assert_eq!(read(here.path(), "p.json"), Some(problem));
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_that_continues_an_interrupted_one_in_its_place_keeps_its_snapshot() {
    let here = folder();
    write(&here, "a.ron", long());
    let begin = ["run", "a.ron", "--out", "r", "--pace", "1"];
    let interrupted = |arguments: &[&str], file: &str| {
        let child = start(here.path(), arguments);
        let begun = Instant::now();
        wait_for(&here.path().join("r/run.mcap"));
        std::thread::sleep(Duration::from_millis(200).saturating_sub(begun.elapsed()));
        signal(&child, "-INT");
        assert_eq!(end(child).code, 130);
        read(here.path(), file).expect("a snapshot")
    };
    let first = interrupted(&begin, "r/interrupt.snapshot");
    let on = [&begin[..], &["--resume", "r/interrupt.snapshot"]].concat();
    interrupted(&on, "r/interrupt-2.snapshot");
    assert_eq!(read(here.path(), "r/interrupt.snapshot"), Some(first));
}

#[cfg(unix)]
#[test]
fn devices_are_not_read() {
    let here = folder();
    for arguments in [
        &["run", "/dev/zero"][..],
        &["duel", "/dev/zero"],
        &["export", "/dev/zero"],
        &["plot", "/dev/zero", "-o", "x.svg"],
        &["step", "demo:stand", "--script", "/dev/zero"],
        &["run", "demo:stand", "--resume", "/dev/zero"],
        &["run", "demo:stand", "--replay-edits", "/dev/zero"],
    ] {
        let done = legwork(here.path(), arguments);
        assert_eq!(done.code, 64, "{arguments:?}: {}", done.said());
    }
}

#[test]
fn what_a_recording_holds_is_said_and_can_be_left_out() {
    let here = folder();
    let stand = repository().join("diagrams/floating_base/stand.ron");
    let stand = stand.to_str().expect("UTF-8");
    let run = |more: &[&str]| {
        let mut arguments = vec!["run", stand, "--until", "0.01 s", "--out", "r"];
        arguments.extend(more);
        let done = legwork(here.path(), &arguments);
        let holds = |text: &[u8]| {
            let bytes = read(here.path(), "r/run.mcap").expect("a recording");
            bytes.windows(text.len()).any(|window| window == text)
        };
        let said = ["icub.robot", "icub.urdf"].map(|name| done.out.contains(name));
        (said, [b"<robot".as_slice(), b"Urdf(", b"Diagram("].map(holds))
    };
    assert_eq!(run(&[]), ([true; 2], [true; 3]));
    assert_eq!(run(&["--no-embed"]), ([false; 2], [false; 3]));
    assert_eq!(legwork(here.path(), &["view", "r", "-o", "r.html"]).code, 0);
}

#[test]
fn names_that_a_terminal_obeys_are_refused_and_never_printed() {
    let here = folder();
    for name in ["\u{1b}[31mred", "\u{202e}txt"] {
        write(&here, "a.ron", ramp(&format!("\"{name}\": Always(that: \"=ramp.y > -1\")")));
        let done = legwork(here.path(), &["run", "a.ron"]);
        assert_eq!(done.code, 1, "{}", done.said());
        assert!(done.err.contains("a.ron:11:"), "{}", done.err);
        assert!(!done.said().contains(['\u{1b}', '\u{202e}']), "{:?}", done.said());
    }
    // Texts that are no names, such as that of a copy, are printed as they are written in JSON.
    let text = ramp("").replace("\"ramp.y\"", "\"\u{1b}ramp.y\"");
    write(&here, "a.ron", text);
    let done = legwork(here.path(), &["run", "a.ron"]);
    assert!(done.code == 1 && !done.said().contains('\u{1b}'), "{:?}", done.said());
    assert!(done.err.contains("\\u001bramp"), "{}", done.err);
}

/// Runs of two files of one name have directories of their own, and `latest` is a link to that of
/// the last. What is no run of the file that has ended is not replaced either.
#[test]
fn a_run_replaces_only_the_last_run_of_its_file() {
    let here = folder();
    for part in ["a", "b"] {
        std::fs::create_dir(here.path().join(part)).expect("a directory");
        write(&here, &format!("{part}/ramp.ron"), ramp(""));
    }
    let run = |words: &[&str]| {
        let done = legwork(here.path(), &[&["run"], words, &["--json"]].concat());
        assert_eq!(done.code, 0, "{words:?}: {}", done.err);
        done.json()["recording"].as_str().expect("a path").to_owned()
    };
    assert_eq!(run(&["a/ramp.ron"]), "runs/ramp/run.mcap");
    let first = read(here.path(), "runs/ramp/run.mcap");
    assert_eq!(run(&["b/ramp.ron", "--set", "slope=2"]), "runs/ramp-2/run.mcap");
    assert!(read(here.path(), "runs/ramp/run.mcap") == first, "the other file's run is replaced");
    if cfg!(unix) {
        let second = read(here.path(), "runs/ramp-2/run.mcap");
        assert!(read(here.path(), "runs/latest/run.mcap") == second);
        assert_eq!(run(&["./b/../a/ramp.ron"]), "runs/ramp/run.mcap", "it is the same file");
        assert!(read(here.path(), "runs/latest/run.mcap") == first);
    }
    // A session's recording, or that of a run that was killed, has no run.json.
    let step = ["step", "b/ramp.ron", "--out", "runs/ramp"];
    assert_eq!(legwork(here.path(), &step).code, 0);
    let session = read(here.path(), "runs/ramp/run.mcap");
    assert_eq!(run(&["a/ramp.ron"]), "runs/ramp-3/run.mcap");
    assert!(read(here.path(), "runs/ramp/run.mcap") == session);
    // A file called `latest` does not get the link's place, and what is no link is left alone.
    write(&here, "latest.ron", ramp(""));
    assert_eq!(run(&["latest.ron"]), "runs/latest-2/run.mcap");
    let latest = here.path().join("runs/latest");
    if cfg!(unix) {
        std::fs::remove_file(&latest).expect("a link");
    }
    std::fs::create_dir(&latest).expect("a directory");
    assert_eq!(run(&["latest.ron"]), "runs/latest-2/run.mcap");
    assert!(latest.is_dir() && !latest.is_symlink());
}
