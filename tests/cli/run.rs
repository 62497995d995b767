//! `legwork run`: what it writes, says and exits with. One file, because all tests share its
//! diagrams.

use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use legwork::runtime::recording::Recording;
use serde_json::Value;

use super::support::{command, folder, legwork, page_texts, ramp, repository, write};

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

/// A block that looks itself at its outputs is named as any other, with what made them.
#[test]
fn a_contact_problem_that_overflows_is_named() {
    let here = folder();
    let stand = concat!(env!("CARGO_MANIFEST_DIR"), "/diagrams/floating_base/stand.ron");
    let robot = concat!(env!("CARGO_MANIFEST_DIR"), "/diagrams/floating_base/mini_cheetah.patch");
    let torques = ["1e308"; 12].join(", ");
    let patch = format!(
        r#"Patch(add: {{ "huge": Constant(value: [{torques}]) }}, set: {{ "sim.in.tau": "huge.y" }})"#
    );
    write(&here, "huge.ron", patch);
    let done = legwork(here.path(), &["run", stand, "--with", robot, "--with", "huge.ron"]);
    assert_eq!(done.code, 2, "{}", done.err);
    let said = "sim.contact.assemble: output `problem.bias[0]` became NaN; its inputs: ";
    assert!(done.err.contains(said), "{}", done.err);
    assert!(done.err.contains("`tau` = 12 numbers from 1.000e308 to 1.000e308"), "{}", done.err);
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
    let table = legwork(here.path(), &["export", "runs/faults", "ramp.y"]);
    assert_eq!(table.out.lines().count(), 1 + 50, "rows up to the last good one");
}

/// Results go to standard output, unless JSON is asked for; `--quiet` leaves errors.
#[test]
fn results_are_on_standard_output_and_quiet_leaves_errors_alone() {
    let here = folder();
    write(&here, "a.ron", ramp(r#""gets there": Finally(that: "=ramp.y > 0.99")"#));
    write(&here, "broken.ron", ramp("").replace("rate.y\" }", "rat.y\" }"));
    for (arguments, result) in [
        (&["run", "a.ron"][..], "1 of 1 passed"),
        (&["test", "a.ron"], "pass  a.ron"),
        (&["check", "a.ron"], "a.ron: ok"),
        (&["sweep", "a.ron", "--over", "slope=1,2"], "slope"),
    ] {
        let done = legwork(here.path(), arguments);
        assert!(done.out.contains(result), "{arguments:?}: {}", done.out);
        assert!(!done.err.contains(result), "{arguments:?}: {}", done.err);
        let quiet = legwork(here.path(), &[arguments, &["--quiet"]].concat());
        assert_eq!(quiet.code, done.code);
        assert_eq!((quiet.out.as_str(), quiet.err.as_str()), ("", ""), "{arguments:?}");
        let json = legwork(here.path(), &[arguments, &["--quiet", "--json"]].concat());
        assert!(json.err.is_empty() && json.json().is_object(), "{arguments:?}: {}", json.err);
    }
    let expanded = legwork(here.path(), &["check", "a.ron", "--expand"]);
    assert!(!expanded.out.contains("a.ron: ok") && expanded.err.contains("a.ron: ok"));
    for command in ["run", "test"] {
        write(&here, "fails.ron", ramp(r#""gets far": Finally(that: "=ramp.y > 99")"#));
        let failed = legwork(here.path(), &[command, "fails.ron", "-q"]);
        assert!(failed.code == 3 && failed.out.is_empty(), "{command}: {}", failed.out);
        let said = failed.err.starts_with("FAIL") && failed.err.contains("gets far");
        assert!(said, "{command}: {}", failed.err);
    }
    let wrong = legwork(here.path(), &["run", "broken.ron", "-q"]);
    assert!(wrong.code == 1 && wrong.err.contains("broken.ron:"), "{}", wrong.err);
}

/// A rail without mass under a base that is free can go anywhere: what is told is the base, not the
/// joint, by both algorithms.
#[test]
fn a_free_base_without_mass_is_named() {
    let here = folder();
    let urdf = r#"<robot name="cart">
  <link name="rail"/>
  <link name="cart"><inertial><mass value="1"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <joint name="slide" type="prismatic"><parent link="rail"/><child link="cart"/>
    <axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>"#;
    write(&here, "cart.urdf", urdf);
    for (base, algorithm) in
        [("Floating", "Factor"), ("Floating", "ArticulatedBody"), ("Fixed", "Factor")]
    {
        let text = format!(
            r#"Diagram(
    run: (stop: "10 ms", step: "1 ms"),
    robots: {{ "cart": Urdf(path: "cart.urdf", base: {base}) }},
    blocks: {{
        "push": Constant(value: ["1 N"]),
        "accel": ForwardDynamics(
            robot: "cart", algorithm: {algorithm}, in: {{ "state": "body.state", "tau": "push.y" }},
        ),
        "body": FloatingBase(robot: "cart", in: {{ "nu_dot": "accel.nu_dot" }}),
    }},
)"#
        );
        write(&here, "a.ron", text);
        let done = legwork(here.path(), &["run", "a.ron"]);
        let is_told = done.err.contains("`base vx`") && done.err.contains("`base: Fixed`");
        assert_eq!(is_told, base == "Floating", "{base} {algorithm}: {}", done.err);
        assert_eq!(done.code, if base == "Floating" { 2 } else { 0 }, "{}", done.err);
    }
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
        let table = legwork(here.path(), &["export", "out", "ramp.y"]).out;
        let cell = table.lines().last().and_then(|line| line.split(',').nth(1)).map(str::to_owned);
        cell.and_then(|cell| cell.parse::<f64>().ok()).expect("a number")
    };
    assert!((last(&[]) - 1.0).abs() < 1e-9);
    assert!((last(&["--set", "slope=2"]) - 2.0).abs() < 1e-9);
    assert!((last(&["--with", "steep.ron"]) - 3.0).abs() < 1e-9);
    assert!((last(&["--with", "steep.ron", "--set", "slope=4"]) - 4.0).abs() < 1e-9);
    assert_eq!(std::fs::read_to_string(here.path().join("a.ron")).unwrap(), text);
    // What a patch adds must have a name of its own.
    let more = r#"Patch(add: { "more": Gain(gain: 2.0, in: { "u": "ramp.y" }), "rate": Clock() })"#;
    write(&here, "more.ron", more);
    let twice = legwork(here.path(), &["run", "a.ron", "--with", "more.ron"]);
    assert_eq!(twice.code, 1, "{}", twice.err);
    for part in ["more.ron:1:62", "a name that is free, found the block `rate`"] {
        assert!(twice.err.contains(part), "no `{part}` in {}", twice.err);
    }
    assert!(!twice.err.contains("`more`"), "{}", twice.err);
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

/// The problem that stops a run is in a file which the same method can be given again.
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
        legwork_qp::ProjectedGaussSeidel::new(4, 1, 1e-9).sweep(&data.view(), &mut forces);
    assert_eq!(outcome.status, legwork_qp::Status::MaxIterations);
    assert!(named.origin.ends_with(&format!("residual {:.1e}", outcome.residual)));

    let done = run(&[]);
    assert_eq!(done.json()["problems"], serde_json::json!([]));
}

/// What a profile counts is what the execution rules say: a discrete block computes at every hit
/// and updates at every one but the last, a constant is computed once; and the results are the
/// same.
#[test]
fn a_profile_counts_the_calls_of_every_block_and_changes_no_bit() {
    let here = folder();
    let text = ramp("").replace(
        "\"ramp\": Integrator",
        "\"late\": UnitDelay(every: \"20 ms\", in: { \"u\": \"ramp.y\" }),\n        \"ramp\": Integrator",
    );
    write(&here, "a.ron", &text);
    assert_eq!(legwork(here.path(), &["run", "a.ron", "--out", "plain"]).code, 0);
    let done = legwork(here.path(), &["run", "a.ron", "--out", "timed", "--profile", "--json"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let json = done.json();
    let blocks = json["profile"]["blocks"].as_array().expect("a list");
    let calls = |path: &str, phase: &str| {
        let block = blocks.iter().find(|block| block["block"] == path).expect("the block is there");
        block["phases"][phase]["calls"].as_u64().expect("a count")
    };
    // 1 s in steps of 10 ms.
    assert_eq!((calls("late", "output"), calls("late", "update")), (51, 50));
    assert_eq!((calls("rate", "output"), calls("rate", "update")), (1, 0));
    assert_eq!((calls("ramp", "output"), calls("ramp", "derivative")), (101, 100));
    let times: Vec<u64> =
        blocks.iter().map(|block| block["total_ns"].as_u64().expect("a time")).collect();
    assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");
    let wall = json["wall_s"].as_f64().expect("a time") * 1e9;
    let rest = json["profile"]["rest_ns"].as_u64().expect("a time");
    let sum = (times.iter().sum::<u64>() + rest) as f64;
    assert!((sum - wall).abs() <= 1.0, "{sum} of {wall} ns");
    assert!(done.err.contains("UnitDelay") && done.err.contains("share"), "{}", done.err);

    let recording = |run: &str| std::fs::read(here.path().join(run).join("run.mcap")).unwrap();
    assert!(recording("plain") == recording("timed"), "the profile changed the recording");
    let plain = std::fs::read_to_string(here.path().join("plain/run.json")).unwrap();
    assert!(!plain.contains("profile"), "{plain}");
}

/// A block that is called inside another has an entry of its own, and its time is not the caller's.
#[test]
fn a_profile_tells_a_called_function_from_its_caller() {
    let here = folder();
    let diagram = Path::new(env!("CARGO_MANIFEST_DIR")).join("diagrams/floating_base/slope.ron");
    let diagram = diagram.to_str().expect("a plain path");
    let done = legwork(
        here.path(),
        &[
            "run",
            diagram,
            "--variant",
            "slip=de_saxce",
            "--until",
            "0.1 s",
            "--profile",
            "--json",
            "--no-checks",
        ],
    );
    assert_eq!(done.code, 0, "{}", done.err);
    let json = done.json();
    let blocks = json["profile"]["blocks"].as_array().expect("a list");
    let of_kind = |kind: &str| {
        let found = blocks.iter().find(|block| block["kind"] == kind);
        found.unwrap_or_else(|| panic!("no {kind} in {}", json["profile"]))
    };
    let calls = |kind: &str| of_kind(kind)["phases"]["output"]["calls"].as_u64().expect("a count");
    // The caller solves at least twice per step while the block slides, and it begins by sliding.
    assert!(calls("ActiveSetQp") > calls("CoulombContact"), "{}", json["profile"]);
    let shares = blocks.iter().map(|block| block["share"].as_f64().expect("a share"));
    let sum = shares.sum::<f64>() + json["profile"]["rest_share"].as_f64().expect("a share");
    assert!((sum - 1.0).abs() < 1e-6, "shares add up to {sum}");
}

/// A run with its scene: more topics in the file, the same rows; where there is nothing to see it
/// is refused.
#[test]
fn a_scene_is_recorded_on_request() {
    let here = folder();
    let run = |out: &str, more: &[&str]| {
        let mut arguments =
            vec!["run", "demo:stand", "--until", "0.1 s", "--no-checks", "--out", out];
        arguments.extend(more);
        legwork(here.path(), &arguments)
    };
    let (plain, seen) = (run("plain", &[]), run("seen", &["--scene"]));
    assert_eq!((plain.code, seen.code), (0, 0), "{}", seen.err);
    let open = |out: &str| Recording::open(here.path().join(out).join("run.mcap")).unwrap();
    let (plain, seen) = (open("plain"), open("seen"));
    assert_eq!((plain.row_count(), plain.messages().count()), (seen.row_count(), 0));
    let count = |topic: &str| seen.messages().filter(|message| message.topic == topic).count();
    // From 0 s on, sixty times a second.
    assert_eq!((count("scene"), count("poses"), count("contacts")), (1, 7, 7));
    for command in
        [&["compare", "plain", "seen", "--tol", "0"][..], &["view", "seen", "-o", "seen.html"]]
    {
        let done = legwork(here.path(), command);
        assert_eq!(done.code, 0, "{}", done.said());
    }
    write(&here, "ramp.ron", ramp(""));
    let refused = legwork(here.path(), &["run", "ramp.ron", "--scene"]);
    assert_eq!(refused.code, 64, "{}", refused.said());
    assert!(refused.err.contains("no scene: no block of `ramp.ron`"), "{}", refused.err);
}

/// What makes a run doubtful is in the summary and in `run.json`, unless the run is not to tell.
#[test]
fn a_start_inside_the_ground_is_told() {
    let here = folder();
    let text = |run: &str| {
        format!(
            r#"Diagram(
            run: (stop: "10 ms" {run}),
            robots: {{ "box": FreeBody(mass: "1 kg", shape: Sphere(radius: "10 cm")) }},
            params: {{ "depth": Param(value: "40 cm") }},
            variants: {{ "rest": Variant(choices: {{
                "zero": Constant(value: "=zeros(box.nv)"), "same": Constant(value: "=zeros(box.nv)"),
            }}, default: "zero") }},
            blocks: {{
                "still": Use(of: "rest"),
                "foot": ContactPatch(robot: "box", frame: "body", in: {{ "state": "body.state" }}),
                "body": FloatingBase(
                    robot: "box", init: (position: [0, 0, "=-depth"]), in: {{ "nu_dot": "still.y" }},
                ),
            }},
        )"#
        )
    };
    write(&here, "told.ron", text(""));
    write(&here, "quiet.ron", text(", warn: false"));
    let told = legwork(here.path(), &["run", "told.ron", "--json"]);
    assert_eq!(told.code, 0, "{}", told.err);
    let warnings = &told.json()["warnings"];
    assert_eq!(warnings.as_array().map(Vec::len), Some(1), "{warnings}");
    assert_eq!(
        (&warnings[0]["block"], &warnings[0]["name"]),
        (&"foot".into(), &"starts-inside".into())
    );
    assert_eq!((&warnings[0]["t"], &warnings[0]["steps"]), (&0.0.into(), &1.into()));
    assert!(warnings[0]["message"].as_str().is_some_and(|text| text.contains("500.000 mm")));
    assert!(told.err.contains("foot: starts-inside at t=0 s"), "{}", told.err);
    // Where runs are compared, swept and reported too.
    let swept = legwork(here.path(), &["sweep", "told.ron", "--over", "depth=30 cm,40 cm"]);
    let said = "in 2 of 2 runs, the first is depth=30 cm: foot: starts-inside";
    assert!(swept.said().contains(said), "{}", swept.said());
    let compared = legwork(here.path(), &["compare", "told.ron", "--variant", "rest=zero,same"]);
    assert_eq!(compared.said().matches("foot: starts-inside").count(), 2, "{}", compared.said());
    legwork(here.path(), &["run", "told.ron", "--out", "told"]);
    legwork(here.path(), &["view", "told", "-o", "told.html"]);
    let page = page_texts(&here.path().join("told.html"));
    assert!(page.contains("Warnings") && page.contains("starts-inside"), "{page}");
    let quiet = legwork(here.path(), &["run", "quiet.ron", "--json"]);
    assert_eq!(quiet.json()["warnings"], Value::Array(Vec::new()));
    assert!(!quiet.err.contains("starts-inside"), "{}", quiet.err);
}

/// A run without `--out` that begins while others go on takes a directory with the next number.
#[test]
fn runs_side_by_side_have_directories_of_their_own() {
    let here = folder();
    write(&here, "ramp.ron", ramp(""));
    let recording = |name: &str| here.path().join("runs").join(name).join("run.mcap");
    let mut others = Vec::new();
    for name in ["ramp", "ramp-2"] {
        // Hours, unless it is ended.
        let mut run = command(here.path(), &["run", "ramp.ron", "--pace", "1e-4"]);
        let run = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        others.push(run.expect("it starts"));
        let began = Instant::now();
        while !recording(name).is_file() && began.elapsed() < Duration::from_secs(60) {
            sleep(Duration::from_millis(5));
        }
    }
    let third = legwork(here.path(), &["run", "ramp.ron"]);
    for mut run in others {
        run.kill().expect("it goes on");
        run.wait().expect("its end");
    }
    assert_eq!(third.code, 0, "{}", third.err);
    assert!(["ramp", "ramp-2", "ramp-3"].into_iter().all(|name| recording(name).is_file()));
}

/// Contacts of four feet notice the trunk below the ground; the run warns once.
#[test]
fn a_trunk_below_the_ground_is_told_once() {
    let here = folder();
    let stand = repository().join("diagrams/quadruped/stand.ron").display().to_string();
    let limp = ["run", &stand, "--set", "kp=0", "--set", "kd=0", "--until", "1 s", "--no-checks"];
    let run = legwork(here.path(), &[&limp[..], &["--json"]].concat());
    let all = run.json()["warnings"].as_array().cloned().unwrap();
    let told = all.iter().filter(|one| one["name"] == "below-the-ground");
    let message = |one: &Value| one["message"].as_str().map(str::to_owned);
    let told: Vec<String> = told.filter_map(message).collect();
    assert!(told.len() == 1 && told[0].contains("`trunk`"), "{all:?}");
    assert_eq!(run.err.matches("below-the-ground").count(), 1, "{}", run.err);
}

/// What is written beside the file of a variant, or set, comes on top of what is in it.
#[test]
fn choices_of_a_file_can_be_changed_and_others_added() {
    let here = folder();
    let file = r#"Choices(
    doc: "Gains.", default: "plain",
    choices: { "plain": Gain(gain: 1.0), "double": Gain(gain: 2.0) },
)"#;
    write(&here, "gains.ron", file);
    let diagram = r#"Diagram(
    run: (stop: "1 ms", step: "1 ms"),
    variants: { "g": Variant(file: "gains.ron", choices: { "many": Gain(gain: 9.0) }) },
    blocks: { "one": Constant(value: 1.0), "g": Use(of: "g", in: { "u": "one.y" }) },
)"#;
    write(&here, "a.ron", diagram);
    let gain = |arguments: &[&str]| {
        let run = legwork(here.path(), &[&["run", "a.ron", "--out", "o"], arguments].concat());
        assert_eq!(run.code, 0, "{arguments:?}: {}", run.err);
        legwork(here.path(), &["export", "o", "g.y"]).out.lines().last().map(str::to_owned)
    };
    for (arguments, expected) in [
        (&[][..], "0.0,1.0"),
        (&["--variant", "g=double"], "0.0,2.0"),
        (&["--variant", "g=many"], "0.0,9.0"),
        (&["--set", "variants.g=double"], "0.0,2.0"),
        (&["--set", "variants.g.choices.plain.gain=5"], "0.0,5.0"),
        (&["--set", "variants.g.choices.more=Gain(gain: 7)", "--variant", "g=more"], "0.0,7.0"),
    ] {
        assert_eq!(gain(arguments).as_deref(), Some(expected), "{arguments:?}");
    }
    let slip =
        legwork(here.path(), &["check", "a.ron", "--set", "variants.g.choices.palin.gain=5"]);
    assert_eq!(slip.code, 1);
    assert!(slip.err.contains("did you mean `plain`?"), "{}", slip.err);
    let check = legwork(here.path(), &["check", "a.ron"]);
    assert!(check.said().contains("with 3 choices of variants"), "{}", check.said());
}
