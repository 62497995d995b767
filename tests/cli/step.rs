//! Sessions of `legwork step`, snapshots on disk, resumed, paced and interrupted runs, from
//! outside.
//!
//! One file, because all tests share one way to type commands and one folder of files.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use legwork::runtime::recording::Recording;
use tempfile::TempDir;

use super::support::{self, Done, command, done, repository};

/// Runs the command at the root of the repository.
fn legwork(arguments: &[&str]) -> Done {
    support::legwork(repository(), arguments)
}

/// A session with `lines` on standard input.
fn typed(arguments: &[&str], lines: &[u8]) -> Done {
    let mut child = command(repository(), arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A session that ends at a mistake does not read the rest.
    let _ = child.stdin.take().unwrap().write_all(lines);
    done(child.wait_with_output().unwrap())
}

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

fn recording(directory: &str) -> Vec<u8> {
    std::fs::read(Path::new(directory).join("run.mcap")).unwrap()
}

const STAND: &str = "diagrams/quadruped/stand.ron";

/// A ball under variable steps with located impacts.
const BALL: &str = r#"Diagram(
    run: (stop: "4 s", step: "100 ms", solver: DormandPrince),
    params: { "bounce": Param(value: -0.8) },
    blocks: {
        "g": Constant(value: -9.81),
        "back": Gain(gain: "=bounce", in: { "u": "v.y" }),
        "v": Integrator(initial: 0.0, reset: Falling,
                        in: { "u": "g.y", "reset": "x.y", "x0": "back.y" }),
        "x": Integrator(initial: 10.0, in: { "u": "v.y" }),
        "held": ZeroOrderHold(every: "300 ms", in: { "u": "x.y" }),
    },
    log: ["x.y", "v.y", "held.y"],
)"#;

/// Several rates, a fault if asked for.
const RATES: &str = r#"Diagram(
    run: (stop: "200 ms", step: "1 ms", solver: Rk4),
    blocks: {
        "wave": Sine(amplitude: 1.0, frequency: "7 Hz"),
        "late": UnitDelay(every: "3 ms", initial: 0.5, in: { "u": "wave.y" }),
        "gain": Gain(gain: 2.0, in: { "u": "late.y" }),
        "i": Integrator(initial: 0.1, in: { "u": "gain.y" }),
        "slow": UnitDelay(every: "6 ms", initial: 1.0, in: { "u": "i.y" }),
    },
    log: ["i.y", "slow.y", Every("10 ms", "gain.y")],
)"#;

/// The session of the manual: break at touchdown by the gap, look, go back, change a gain, go on.
#[test]
fn a_session_on_the_standing_robot_says_what_its_transcript_says() {
    let here = Folder::new();
    let script = "tests/data/step/stand.script";
    let session = legwork(&["step", STAND, "--script", script, "--out", &here.path("a")]);
    assert_eq!(session.code, 0, "{}", session.err);
    let file = "tests/data/step/stand.transcript";
    let expected = std::fs::read_to_string(file).unwrap();
    for (i, (said, expected)) in session.out.lines().zip(expected.lines()).enumerate() {
        assert_eq!(said, expected, "{file}:{}", i + 1);
    }
    assert_eq!(session.out.lines().count(), expected.lines().count(), "{file}");
    // Headless, with the edit at its step, the run writes the same bytes.
    let replay = ["run", STAND, "--no-checks", "--replay-edits", &here.path("a")];
    let headless = legwork(&[&replay[..], &["--out", &here.path("b")]].concat());
    assert_eq!(headless.code, 0, "{}", headless.err);
    assert!(recording(&here.path("a")) == recording(&here.path("b")), "recordings differ");
}

/// Joint positions are printed with the names of the joints, alone and in their bus.
#[test]
fn numbers_of_joints_have_their_names() {
    let lines = b"step\nprint body.state.s\nprint body.state\nprint body.state.base.position\n";
    let session = typed(&["step", STAND], lines);
    assert_eq!(session.code, 0, "{}", session.err);
    let count = |name: &str| session.out.matches(name).count();
    // In `s` twice, and once in `s_dot`.
    assert_eq!((count("FL_hip_joint -0."), count("HR_knee_joint ")), (2, 3), "{}", session.out);
    // An axis is no name.
    assert!(session.out.contains("body.state.base.position: [0, 0, 0."), "{}", session.out);
}

/// A fork without changes is the session that it left, bit for bit; each goes its own way after.
#[test]
fn a_fork_goes_on_bit_for_bit_and_leaves_the_other_alone() {
    let here = Folder::new();
    let rates = here.write("rates.ron", RATES);
    let script =
        b"goto 50 ms\nnext\nback\nfork same\ncontinue\nsession main\nfork soft gain.gain=1\n\
                   step 3\nsession\nsession main\ncontinue\n";
    let session = typed(&["step", &rates, "--out", &here.path("out")], script);
    assert_eq!(session.code, 0, "{}", session.err);
    assert!(session.out.contains("`same` is forked from `main` at t=0.05 s"), "{}", session.out);
    assert!(session.out.contains("> soft  t=0.053 s"), "{}", session.out);
    assert!(session.out.contains("  main  t=0.05 s"), "{}", session.out);
    let rows = |directory: &str, topic: &str| -> Vec<(u64, Vec<f64>)> {
        let recording = Recording::open(Path::new(&here.path(directory)).join("run.mcap")).unwrap();
        let series = recording.series(topic).unwrap();
        let mut values = Vec::new();
        let row = |i: usize| {
            series.values_into(i, &mut values);
            (series.stamp(i).tick, values.clone())
        };
        (0..series.len()).map(row).collect()
    };
    for topic in ["i.y", "slow.y", "gain.y"] {
        let (main, same) = (rows("out", topic), rows("out/same", topic));
        assert!(!same.is_empty() && same.len() < main.len(), "{topic}: {}", same.len());
        assert_eq!(main[main.len() - same.len()..], same, "{topic}");
    }
    // The loop without its gain of 2 has other values, and they end with the fork.
    let (main, soft) = (rows("out", "i.y"), rows("out/soft", "i.y"));
    assert!(soft.len() < 10 && main.ends_with(&rows("out/same", "i.y")));
    let at = main.iter().position(|row| row.0 == soft[soft.len() - 1].0).unwrap();
    assert_ne!(main[at], soft[soft.len() - 1]);
}

/// What cannot be carried over to another variant is named, and a fork that makes no sense refused.
#[test]
fn a_fork_says_what_it_could_not_carry_over() {
    let here = Folder::new();
    let diagram = here.write(
        "variants.ron",
        r#"Diagram(
            run: (stop: "1 s", step: "10 ms", solver: Rk4),
            variants: { "way": Variant(
                ports: (in: { "u": "Real" }, out: { "y": "Real" }),
                default: "late",
                choices: {
                    "late": UnitDelay(every: "10 ms"),
                    "held": Integrator(),
                },
            ) },
            blocks: {
                "wave": Sine(amplitude: 1.0, frequency: "1 Hz"),
                "part": Use(of: "way", in: { "u": "wave.y" }),
                "sum": Integrator(in: { "u": "part.y" }),
            },
        )"#,
    );
    let out = here.path("out");
    let session = typed(&["step", &diagram, "--out", &out], b"goto 0.2 s\nfork b way=held\nstep\n");
    assert_eq!(session.code, 0, "{}", session.err);
    assert!(session.out.contains("`b` is forked from `main`"), "{}", session.out);
    assert!(session.out.contains("begins anew  part: "), "{}", session.out);
    assert!(!session.out.contains("begins anew  sum"), "{}", session.out);
    for (line, said) in [
        ("next\nfork b", "forks between two major steps"),
        ("fork main", "there is a session `main` already"),
        ("fork b way=nothing", "nothing"),
        ("fork b wave.zork=3", "zork"),
        ("session b", "no session `b`; there are `main`"),
        ("continue\nfork b", "the run has ended"),
    ] {
        let session = typed(&["step", &diagram, "--out", &out], line.as_bytes());
        assert_eq!(session.code, 64, "{line}: {}", session.out);
        assert!(session.err.contains(said), "{line}: {}", session.err);
    }
}

/// Detours forth and back leave no trace.
#[test]
fn s8_2_a_stepped_and_scripted_run_is_byte_equal_to_a_headless_one() {
    let here = Folder::new();
    let ball = here.write("ball.ron", BALL);
    let rates = here.write("rates.ron", RATES);
    for (name, file) in [
        ("ball", ball.as_str()),
        ("rates", &rates),
        ("pid", "diagrams/basics/multirate_pid.ron"),
        ("functions", "tests/data/run/functions.ron"),
        ("stand", STAND),
    ] {
        let (a, b) = (here.path(&format!("{name}-a")), here.path(&format!("{name}-b")));
        let run = legwork(&["run", file, "--no-checks", "--out", &a]);
        assert_eq!(run.code, 0, "{}", run.err);
        let script = "next 7\nback 3\nstep 9\nback 20\nnext\nback 2 steps\ngoto 50 ms\nnext 2\n\
                      goto 0\nstep 3\nwhere\ngoto 0.1 s\nback 40\ncontinue\nback 5\nnext 5\n";
        let session = typed(&["step", file, "--out", &b], script.as_bytes());
        assert_eq!(session.code, 0, "{}", session.err);
        assert!(recording(&a) == recording(&b), "{name}: recordings differ");
    }
}

/// Edits enter between steps, are kept in the recording, and are repeated headless.
#[test]
fn s8_3_edits_of_a_session_are_repeated_headless_byte_for_byte() {
    let here = Folder::new();
    let ball = here.write("ball.ron", BALL);
    let rates = here.write("rates.ron", RATES);
    let cases = [
        // In the middle of a step, at its end, one that is undone by going back, a constant.
        (
            "ball",
            ball.as_str(),
            "until 1 s\nnext 2\nset bounce -0.5\nstep\nuntil 3 s\n\
          set back.gain -0.9\nstep 3\nback 5 steps\ngoto 3.2 s\nset g.value -5.0\ncontinue\n",
            2,
        ),
        (
            "rates",
            &rates,
            "until 20 ms\nset gain.gain 3\nstep 5\nset gain.gain=4\ngoto 10 ms\n\
          goto 50 ms\nset late.initial 7\nset wave.frequency 9 Hz\ncontinue\nback 40\ncontinue\n",
            2,
        ),
    ];
    for (name, file, script, count) in cases {
        let (a, b) = (here.path(&format!("{name}-a")), here.path(&format!("{name}-b")));
        let session = typed(&["step", file, "--out", &a, "--json"], script.as_bytes());
        assert_eq!(session.code, 0, "{}", session.err);
        let json = session.json();
        let edits = json["edits"].as_array().unwrap();
        assert_eq!(edits.len(), count, "{name}: {edits:?}");
        let run = legwork(&["run", file, "--replay-edits", &a, "--out", &b]);
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(recording(&a) == recording(&b), "{name}: recordings differ");
        let list = here.write("edits.json", json["edits"].to_string());
        legwork(&["run", file, "--edits", &list, "--out", &b]);
        assert!(recording(&a) == recording(&b), "{name}: recordings differ");
        let plain = here.path("plain");
        legwork(&["run", file, "--out", &plain]);
        assert!(recording(&a) != recording(&plain), "{name}: the edits changed nothing");
    }
}

#[test]
fn s8_3_what_would_change_more_than_parameters_is_refused_with_the_reason() {
    let here = Folder::new();
    let rates = here.write("rates.ron", RATES);
    let out = here.path("out");
    for (line, said) in [
        ("set run.solver Heun", "the step, the solver or the seed of the run would change"),
        ("set run.stop \"1 s\"", "the stop time would change"),
        ("set late.every \"2 ms\"", "would change"),
        ("set i.y 3", "`i.y` is a signal"),
        ("set gain.gian 3", "`Gain` has no parameter `gian`"),
        ("set gain.gain [1, 2]", "gain"),
        ("set nothing.here 3", "nothing"),
    ] {
        let session =
            typed(&["step", &rates, "--out", &out], format!("step 3\n{line}\n").as_bytes());
        assert_eq!(session.code, 64, "{line}: {}", session.out);
        assert!(session.err.contains("<stdin>:2: "), "{line}: {}", session.err);
        assert!(session.err.contains(said), "{line}: {}", session.err);
    }
}

/// The rows of a resumed run are those of the whole one from its tick on.
#[test]
fn s8_2_a_resumed_run_has_the_rows_of_the_whole_one_from_its_tick_on() {
    let here = Folder::new();
    let ball = here.write("ball.ron", BALL);
    let rates = here.write("rates.ron", RATES);
    for (name, file, at) in
        [("ball", ball.as_str(), "2.37"), ("rates", &rates, "0.0517"), ("stand", STAND, "0.1")]
    {
        let (a, b) = (here.path(&format!("{name}-a")), here.path(&format!("{name}-b")));
        let run = legwork(&["run", file, "--snapshot-at", at, "--out", &a, "--json"]);
        assert_eq!(run.code, 0, "{}", run.err);
        let snapshot = run.json()["snapshots"][0]["path"].as_str().unwrap().to_owned();
        let resumed = legwork(&["run", file, "--resume", &snapshot, "--out", &b]);
        assert_eq!(resumed.code, 0, "{}", resumed.err);
        let whole = Recording::from_bytes(recording(&a)).unwrap();
        let rest = Recording::from_bytes(recording(&b)).unwrap();
        let mut rows = 0;
        for series in whole.series_of_all() {
            let other = rest.series(&series.channel().topic).unwrap();
            let skip = series.len() - other.len();
            assert!(skip > 0 && !other.is_empty(), "{name}");
            for i in 0..other.len() {
                let (row, expected) = (other.row(i), series.row(skip + i));
                assert_eq!(row.stamp, expected.stamp, "{name}");
                let same = row.values.iter().zip(&expected.values);
                assert!(same.into_iter().all(|(a, b)| a.to_bits() == b.to_bits()), "{name}");
                rows += 1;
            }
        }
        assert!(rows > 10, "{name}");
    }
    let other = here.write("other.ron", RATES.replace("0.5", "0.25"));
    let snapshot = here.path("rates-a/t=0.0517.snapshot");
    let refused = legwork(&["run", &other, "--resume", &snapshot]);
    assert_eq!(refused.code, 64);
    assert!(refused.err.contains("with other parameters of `late`"), "{}", refused.err);
    // What a robot is, is in no block's parameters.
    let (pendulum, moon) = ("diagrams/basics/pendulum.ron", "robots.rod.gravity=[0, 0, -1.6]");
    let out = here.path("pendulum");
    legwork(&["run", pendulum, "--snapshot-at", "0.1", "--out", &out]);
    let robot = here.path("pendulum/t=0.1.snapshot");
    let refused = legwork(&["run", pendulum, "--set", moon, "--resume", &robot, "--out", &out]);
    assert!(refused.code == 64 && refused.err.contains("robot"), "{}", refused.err);
    let broken = here.write("broken.snapshot", &std::fs::read(&snapshot).unwrap()[..99]);
    let refused = legwork(&["run", &rates, "--resume", &broken]);
    assert!(refused.code == 64 && refused.err.contains("cut off"), "{}", refused.err);
}

/// Semantics 9.1: the state before the step that faults is kept, can be looked at, and faults
/// again.
#[test]
fn s9_1_a_fault_leaves_a_snapshot_of_the_last_good_step() {
    let here = Folder::new();
    let faulty = RATES.replace(
        "Gain(gain: 2.0, in: { \"u\": \"late.y\" })",
        "Fcn(expression: \"1/(t - 0.1) + u\", in: { \"u\": \"late.y\" })",
    );
    let file = here.write("faulty.ron", faulty);
    let out = here.path("out");
    let run = legwork(&["run", &file, "--out", &out, "--json"]);
    assert_eq!(run.code, 2, "{}", run.err);
    let json = run.json();
    assert_eq!(json["fault"]["t"], 0.1);
    let snapshot = json["fault"]["snapshot"].as_str().unwrap().to_owned();
    assert_eq!(PathBuf::from(&snapshot).file_name().unwrap(), "fault.snapshot");
    assert!(run.said().contains(&snapshot), "{}", run.said());
    let again = legwork(&["run", &file, "--resume", &snapshot, "--out", &here.path("b"), "--json"]);
    assert_eq!(again.json()["fault"]["message"], json["fault"]["message"]);
    assert_eq!(again.json()["fault"]["t"], 0.1);
    let script = b"where\ncontinue\nback\nwhere\nprint i\nback 1 step\n";
    let out = here.path("c");
    let session = typed(&["step", &file, "--resume", &snapshot, "--out", &out], script);
    assert_eq!(session.code, 0, "after going back it is at no fault: {}", session.err);
    assert!(session.out.contains("fault: t=0.1 s, output, i: "), "{}", session.out);
    let session = typed(&["step", &file, "--out", &here.path("d")], b"continue\nprint i.y\n");
    assert_eq!(session.code, 2, "{}", session.err);
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_run_after_its_step_with_recording_and_snapshot() {
    let here = Folder::new();
    let file = here.write("rates.ron", RATES.replace("200 ms", "500 s"));
    let out = here.path("out");
    let child = command(repository(), &["run", &file, "--pace", "1", "--out", &out, "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while !Path::new(&out).join("run.mcap").exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "the run does not start");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(500));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let run = done(child.wait_with_output().unwrap());
    assert_eq!(run.code, 130, "{}", run.err);
    assert!(run.said().contains("ended by Ctrl-C"), "{}", run.said());
    let json = run.json();
    assert_eq!(json["interrupted"], true);
    let t = json["sim_time_s"].as_f64().unwrap();
    assert!(t > 0.0 && t < 400.0, "{t}");
    let kept = Recording::from_bytes(recording(&out)).unwrap();
    assert_eq!(kept.ending(), legwork::runtime::recording::Ending::Complete);
    // Every step that was done is recorded.
    assert_eq!(kept.series("i.y").unwrap().len() as u64, json["steps"].as_u64().unwrap());
    let snapshot = json["snapshots"][0]["path"].as_str().unwrap();
    let until = format!("{:.3} s", t + 0.01);
    let on = ["run", &file, "--resume", snapshot, "--until", &until, "--out", &out, "--json"];
    let on = legwork(&on);
    assert_eq!(on.code, 0, "{}", on.err);
}

/// A paced run takes its time and writes the same bytes.
#[test]
fn s8_3_a_paced_run_sleeps_between_steps_only() {
    let here = Folder::new();
    let file = here.write("rates.ron", RATES);
    let (a, b) = (here.path("a"), here.path("b"));
    legwork(&["run", &file, "--out", &a]);
    let paced = legwork(&["run", &file, "--pace", "0.5", "--out", &b, "--json"]);
    assert_eq!(paced.code, 0, "{}", paced.err);
    let wall = paced.json()["wall_s"].as_f64().unwrap();
    assert!(wall >= 0.4, "0.2 s at half of real time took {wall} s");
    assert!(paced.json()["latest_s"].as_f64().unwrap() >= 0.0);
    assert!(paced.said().contains("paced      0.5 times real time"), "{}", paced.said());
    assert!(recording(&a) == recording(&b), "recordings differ");
    assert_eq!(legwork(&["run", &file, "--pace", "0"]).code, 64);
}

/// Semantics 7.1 for every diagram of the repository.
#[test]
fn s7_1_every_diagram_continues_from_snapshots_at_random_ticks() {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::from("diagrams")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "ron") {
                files.push(path.to_str().unwrap().to_owned());
            }
        }
    }
    files.sort();
    assert!(files.len() >= 13);
    let mut arguments = vec!["check", "--roundtrip", "--ticks", "12", "--json"];
    arguments.extend(files.iter().map(String::as_str));
    let check = legwork(&arguments);
    assert_eq!(check.code, 0, "{}", check.err);
    for diagram in check.json()["diagrams"].as_array().unwrap() {
        // In a diagram of ten major steps some of the random ticks fall together.
        let snapshots = diagram["roundtrip"]["snapshots"].as_u64();
        assert!(snapshots.is_some_and(|count| count >= 3), "{diagram}");
    }
}

#[test]
fn a_script_stops_at_its_first_mistake_and_says_the_line() {
    let here = Folder::new();
    let file = here.write("rates.ron", RATES);
    let out = here.path("out");
    for (lines, place, said) in [
        ("step\n\n# a comment\nnxet\n", 4, "no command `nxet`; did you mean `next`?"),
        ("print gian.y\n", 1, "did you mean `gain`?"),
        ("print gain.z\n", 1, "gain"),
        ("break gain.y > \n", 1, "expected"),
        ("break i.y\n", 1, "expected a condition"),
        ("break nowhere\n", 1, "nowhere"),
        ("into nowhere\n", 1, "no subsystem `nowhere`"),
        ("out\n", 1, "lies in no subsystem"),
        ("delete 3\n", 1, "no breakpoint 3; there are 0"),
        ("continue\nstep\n", 2, "the run has ended; `back` and `goto` lead back"),
        ("until 20 ms\nuntil 10 ms\n", 2, "`goto` goes back"),
        ("restore nothing.snapshot\n", 1, "cannot read the snapshot `nothing.snapshot`"),
    ] {
        let script = here.write("a.script", lines);
        let session = legwork(&["step", &file, "--script", &script, "--out", &out]);
        assert_eq!(session.code, 64, "{lines}: {}", session.out);
        let expected = format!("a.script:{place}: ");
        assert!(session.err.contains(&expected), "{lines}: {}", session.err);
        assert!(session.err.contains(said), "{lines}: {}", session.err);
        // What was recorded until then is kept.
        Recording::from_bytes(recording(&out)).unwrap();
    }
    assert_eq!(legwork(&["step", &file, "--script", "nothing.script"]).code, 64);
    assert_eq!(legwork(&["step", &file, "--at", "soon"]).code, 64);
}

#[test]
fn a_session_that_keeps_going_tells_every_mistake() {
    let here = Folder::new();
    let file = here.write("rates.ron", RATES);
    let script = here.write("a.script", "step\nnxet\nprint gain.z\nstep\nquit\n");
    let session = legwork(&["step", &file, "--script", &script, "--keep-going"]);
    assert_eq!(session.code, 64);
    for told in ["a.script:2: no command `nxet`", "a.script:3: "] {
        assert!(session.err.contains(told), "{}", session.err);
    }
    assert!(session.out.contains("step 2"), "{}", session.out);
    let script = here.write("good.script", "step\nquit\n");
    assert_eq!(legwork(&["step", &file, "--script", &script, "--keep-going"]).code, 0);
}

#[test]
fn a_snapshot_inside_a_step_is_restored_in_another_session() {
    let here = Folder::new();
    let file = here.write("rates.ron", RATES);
    let (snapshot, a, b) = (here.path("s.snapshot"), here.path("a"), here.path("b"));
    let first = format!("until 30 ms\nnext 4\nprint i\nwhere\nsnapshot {snapshot}\n");
    let first = typed(&["step", &file, "--out", &a], first.as_bytes());
    assert_eq!(first.code, 0, "{}", first.err);
    let second = format!("step 2\nrestore {snapshot}\nprint i\nwhere\ncontinue\n");
    let second = typed(&["step", &file, "--out", &b], second.as_bytes());
    assert_eq!(second.code, 0, "{}", second.err);
    let part = |text: &str| {
        let from = text.find("> print i").unwrap();
        let to = text[from..].find("> snapshot").or(text[from..].find("> continue")).unwrap();
        text[from..from + to].to_owned()
    };
    assert_eq!(part(&first.out), part(&second.out));
    let rest = Recording::from_bytes(recording(&b)).unwrap();
    assert_eq!(rest.series("i.y").unwrap().stamp(0).tick, 30, "rows from the snapshot on");
}

/// Lines made of what commands are made of, and bytes that are no text: no panic.
#[test]
fn no_line_makes_a_session_panic() {
    let here = Folder::new();
    let ball = here.write("ball.ron", BALL);
    let rates = here.write("rates.ron", RATES);
    let words = [
        "next",
        "step",
        "back",
        "goto",
        "until",
        "break",
        "watch",
        "print",
        "set",
        "into",
        "out",
        "continue",
        "delete",
        "where",
        "schedule",
        "unwatch",
        "fork",
        "session",
        "help",
        "b",
        "c",
        "0",
        "1",
        "3",
        "-1",
        "99999999999999999999",
        "1e300",
        "20 ms",
        "x.y",
        "gain",
        "gain.gain",
        "v",
        "i",
        "i.y > 0",
        "touches 0",
        "== true",
        "x.y touches 1",
        "[",
        "]",
        "=",
        "\"",
        "\\",
        "(",
        "a.b",
        "held.y",
        "v.y[0]",
        "v.y[7]",
        "steps",
        "nan",
        "inf",
        "é",
        "2",
        "bounce",
        "all",
        "t > 0.1",
    ];
    let mut state = 7u64;
    let mut draw = |count: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % count
    };
    for round in 0..120 {
        let file = if round % 2 == 0 { &ball } else { &rates };
        let mut lines = vec!["step".to_owned()];
        for _ in 0..draw(4) + 1 {
            let line: Vec<&str> = (0..draw(4) + 1).map(|_| words[draw(words.len())]).collect();
            lines.push(line.join(" "));
        }
        let session =
            typed(&["step", file, "--out", &here.path("out")], lines.join("\n").as_bytes());
        assert!([0, 2, 64].contains(&session.code), "{lines:?}: {}", session.err);
    }
    let session = typed(&["step", &rates, "--out", &here.path("out")], b"step\n\xff\xfe\n");
    assert!(session.code == 64 && session.err.contains("UTF-8"), "{}", session.err);
}
