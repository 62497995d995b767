//! `legwork export`.

use super::support::{folder, legwork, ramp, write};

#[test]
fn a_table_has_the_recorded_values() {
    let here = folder();
    write(&here, "a.ron", ramp(""));
    legwork(here.path(), &["run", "a.ron"]);
    let table = legwork(here.path(), &["export", "runs/a"]).out;
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("t [s],ramp.y,rate.y"));
    assert_eq!(lines.next(), Some("0.0,0.0,1.0"));
    assert_eq!(lines.next(), Some("0.01,0.01,"));
    let file = legwork(here.path(), &["export", "runs/a/run.mcap", "-o", "t.csv", "--json"]);
    assert_eq!(file.json()["signals"], serde_json::json!(["ramp.y", "rate.y"]));
    assert_eq!(file.json()["rows"], 101);
    assert_eq!(std::fs::read_to_string(here.path().join("t.csv")).unwrap(), table);
    let slip = legwork(here.path(), &["export", "runs/a", "ramp.x", "-o", "u.csv"]);
    assert_eq!(slip.code, 64);
    assert!(slip.err.contains("did you mean `ramp.y`?"), "{}", slip.err);
    assert!(!here.path().join("u.csv").exists());
}

#[test]
fn every_row_of_a_run_with_events_is_in_its_table_and_is_compared_again() {
    let here = folder();
    let text = r#"Diagram(format: 2, run: (stop: "2 s", step: "10 ms", solver: DormandPrince),
        log: ["x.y"], blocks: {
            "r": Ramp(slope: "1 1/s"),
            "s": Saturation(lower: 0, upper: 1, in: {"u": "r.y"}),
            "x": Integrator(initial: 0, in: {"u": "s.y"}),
        })"#;
    write(&here, "a.ron", text);
    let run = legwork(here.path(), &["run", "a.ron", "--json"]);
    let done = legwork(here.path(), &["export", "runs/a", "-o", "a.csv", "--json"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let table = std::fs::read_to_string(here.path().join("a.csv")).unwrap();
    let lines = table.lines().count() as u64 - 1;
    // One row a tick, from 0 to 200, and one of the event.
    assert_eq!((lines, &done.json()["rows"]), (202, &serde_json::json!(202)), "{}", run.out);
    assert!(!table.lines().any(|line| line.ends_with(',')), "{table}");
    let compared = legwork(here.path(), &["compare", "runs/a", "a.csv", "--json"]);
    assert_eq!(compared.code, 0, "{}", compared.err);
    let found = compared.json().to_string();
    assert!(found.contains("\"rows\":202"), "{found}");
    assert_eq!(legwork(here.path(), &["plot", "a.csv", "x.y", "-o", "a.svg"]).code, 0);
}

#[test]
fn a_dash_is_standard_output_and_makes_no_file() {
    let here = folder();
    write(&here, "a.ron", ramp(""));
    legwork(here.path(), &["run", "a.ron"]);
    let dash = legwork(here.path(), &["export", "runs/a", "ramp.y", "-o", "-"]);
    assert_eq!((dash.code, dash.err.as_str()), (0, ""));
    assert_eq!(dash.out, legwork(here.path(), &["export", "runs/a", "ramp.y"]).out);
    assert_eq!(dash.out.lines().count(), 1 + 101);
    assert!(!here.path().join("-").exists());
    for output in [&["--json"][..], &["--json", "-o", "-"]] {
        let both = legwork(here.path(), &[&["export", "runs/a"], output].concat());
        assert_eq!(both.code, 64);
        assert!(both.err.contains("share standard output"), "{}", both.err);
    }
}

#[test]
fn the_ending_says_what_is_written_and_others_are_refused() {
    let here = folder();
    write(&here, "a.ron", ramp(""));
    legwork(here.path(), &["run", "a.ron"]);
    assert_eq!(legwork(here.path(), &["export", "runs/a", "-o", "a.npz"]).code, 0);
    let bytes = std::fs::read(here.path().join("a.npz")).unwrap();
    assert!(bytes.starts_with(b"PK\x03\x04"), "an archive");
    let parquet = legwork(here.path(), &["export", "runs/a", "-o", "a.parquet"]);
    if cfg!(feature = "parquet") {
        assert!(std::fs::read(here.path().join("a.parquet")).unwrap().starts_with(b"PAR1"));
    } else {
        assert_eq!(parquet.code, 64);
        assert!(parquet.err.contains("--features parquet"), "{}", parquet.err);
    }
    for name in ["a.mat", "a.CSV", "a", ".npz"] {
        let done = legwork(here.path(), &["export", "runs/a", "-o", name]);
        assert_eq!(done.code, 64, "{name}");
        assert!(done.err.contains(".csv, .npz or .parquet"), "{}", done.err);
        assert!(!here.path().join(name).exists());
    }
}

/// A recording is named by what it holds, wherever the patch lay that made it.
#[test]
fn columns_of_a_run_with_a_patch_are_paths_too() {
    let here = folder();
    write(&here, "push.patch", "Patch(set: { \"params.mu.value\": 0.5 })");
    let run = ["run", "demo:stand", "--until", "2 ms", "--no-checks", "--out", "r"];
    let done = legwork(here.path(), &[&run[..], &["--with", "push.patch"]].concat());
    assert_eq!(done.code, 0, "{}", done.err);
    std::fs::remove_file(here.path().join("push.patch")).unwrap();
    let table = legwork(here.path(), &["export", "r"]).out;
    let head: Vec<&str> = table.lines().next().unwrap_or_default().split(',').collect();
    assert!(head.contains(&"body.state.s[3] (FR_abad_joint) [rad]"), "{head:?}");
}

/// Of a robot the columns are paths of the language with units and names of joints, and a table is
/// the run: it is drawn and compared as such, bit for bit.
#[test]
fn columns_are_paths_with_units_and_joints_and_load_again() {
    let here = folder();
    let run = ["run", "demo:stand", "--until", "20 ms", "--no-checks", "--out", "r"];
    assert_eq!(legwork(here.path(), &run).code, 0);
    assert_eq!(legwork(here.path(), &["export", "r", "-o", "r.csv"]).code, 0);
    let table = std::fs::read_to_string(here.path().join("r.csv")).unwrap();
    let head: Vec<&str> = table.lines().next().unwrap_or_default().split(',').collect();
    for name in ["body.state.base.position[2] (z) [m]", "body.state.s[3] (FR_abad_joint) [rad]"] {
        assert!(head.contains(&name), "no {name} in {head:?}");
    }
    let all = legwork(here.path(), &["compare", "r", "r.csv", "--tol", "0", "--json"]);
    assert_eq!(all.code, 0, "{}", all.err);
    let pair = &all.json()["comparisons"][0];
    assert_eq!(pair["not_compared"], serde_json::json!([]));
    assert!(pair["signals"].as_array().is_some_and(|signals| signals.len() > 5), "{pair}");
    // Every column's path is one that `plot` takes, of the run and of its table.
    for column in head.iter().skip(1).step_by(7) {
        let path = column.split(" (").next().unwrap_or_default();
        let path = path.split(" [").next().unwrap_or_default();
        let done = legwork(here.path(), &["plot", "r", "r.csv", path, "-o", "a.svg", "--json"]);
        assert_eq!(done.code, 0, "{path}: {}", done.err);
        assert_eq!(done.json()["signals"][0]["path"], path);
    }
    let table =
        legwork(here.path(), &["plot", "r.csv", "body.state.base.position[2]", "-o", "b.svg"]);
    assert_eq!(table.code, 0, "{}", table.err);
}

/// Seven joints of a Panda turn, its finger slides.
#[test]
fn joints_that_turn_and_joints_that_slide_have_their_own_units() {
    let here = folder();
    let arm = r#"Diagram(
    run: (stop: "10 ms", step: "1 ms"),
    robots: { "arm": Robot(file: "std:robots/panda.ron") },
    blocks: {
        "free":  Constant(value: "=zeros(arm.n)"),
        "accel": ForwardDynamics(robot: "arm", in: { "state": "body.state", "tau": "free.y" }),
        "body":  FloatingBase(robot: "arm", in: { "nu_dot": "accel.nu_dot" }),
        "pair":  Fcn(expression: "[u1, 2*u2]", in: { "u1": "body.state.s[6]", "u2": "body.state.s[7]" }),
        // An angle is added to an angle, a length to a length.
        "turns": Sum(in: { "u1": "body.state.s[0..7]", "u2": "offset.y" }),
        "offset": Constant(value: ["1 rad", "1 rad", "1 rad", "1 rad", "1 rad", "1 rad", "1 rad"]),
    },
    log: ["body.state", "pair.y", "turns.y", "body.state.s[7]"],
)"#;
    write(&here, "a.ron", arm);
    let run = legwork(here.path(), &["run", "a.ron"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let head = |paths: &[&str]| {
        let done = legwork(here.path(), &[&["export", "runs/a"], paths].concat());
        assert_eq!(done.code, 0, "{}", done.err);
        done.out.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(
        head(&["body.state.s[6..8]", "body.state.s_dot[6..]", "pair.y", "turns.y[0]"]),
        "t [s],body.state.s[6] (panda_joint7) [rad],body.state.s[7] (panda_finger_joint1) [m],\
         body.state.s_dot[6] (panda_joint7) [rad/s],body.state.s_dot[7] (panda_finger_joint1) [m/s],\
         pair.y[0] [rad],pair.y[1] [m],turns.y[0] (panda_joint1) [rad]"
    );
    // The table is the run again, and compares with it number by number.
    let table = legwork(here.path(), &["export", "runs/a", "-o", "t.csv"]);
    assert_eq!(table.code, 0, "{}", table.err);
    let again = legwork(here.path(), &["compare", "runs/a", "t.csv", "--tol", "0"]);
    assert_eq!(again.code, 0, "{}{}", again.out, again.err);
    assert!(again.out.contains("body.state.s[0..7]"), "{}", again.out);
    // A length is not added to an angle.
    write(&here, "b.ron", arm.replace("body.state.s[0..7]", "body.state.s[1..8]"));
    let sum = legwork(here.path(), &["check", "b.ron"]);
    assert_eq!(sum.code, 0, "several units fit every one: {}", sum.err);
    write(
        &here,
        "c.ron",
        arm.replace("body.state.s[0..7]", "body.state.s[7]").replace(
            "[\"1 rad\", \"1 rad\", \"1 rad\", \"1 rad\", \"1 rad\", \"1 rad\", \"1 rad\"]",
            "\"1 rad\"",
        ),
    );
    let sum = legwork(here.path(), &["check", "c.ron"]);
    assert!(sum.err.contains("rad, found m") || sum.err.contains("m, found rad"), "{}", sum.err);
}

/// A force drives what slides, a torque what turns, and neither the other.
#[test]
fn sliding_joints_are_driven_in_newtons() {
    let here = folder();
    let slide = |joint: &str, unit: &str| {
        format!(
            r#"<robot name="one"><link name="rail"/><link name="cart"><inertial><mass value="2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="{unit}" type="{joint}"><parent link="rail"/><child link="cart"/><axis xyz="1 0 0"/>
<limit lower="-9" upper="9" effort="99" velocity="99"/></joint></robot>"#
        )
    };
    write(&here, "slide.urdf", slide("prismatic", "s"));
    write(&here, "turn.urdf", slide("revolute", "t"));
    let diagram = |file: &str, force: &str, goal: &str| {
        format!(
            r#"Diagram(
    run: (stop: "10 ms", step: "1 ms"),
    robots: {{ "one": Urdf(path: "{file}", base: Fixed, joint_limits: Ignore) }},
    blocks: {{
        "force": Constant(value: ["{force}"]),
        "goal":  Constant(value: ["{goal}"]),
        "pd":    JointPd(
            robot: "one", every: "1 ms", kp: 0, kd: 0,
            in: {{ "s_ref": "goal.y", "tau_ff": "force.y", "state": "body.state" }},
        ),
        "act":   Actuator(robot: "one", in: {{ "u": "pd.tau" }}),
        "accel": ForwardDynamics(robot: "one", in: {{ "state": "body.state", "tau": "act.tau" }}),
        "body":  FloatingBase(robot: "one", in: {{ "nu_dot": "accel.nu_dot" }}),
        "seen":  Encoder(robot: "one", every: "1 ms", in: {{ "state": "body.state" }}),
    }},
    log: ["act.tau", "seen.s", "seen.s_dot"],
)"#
        )
    };
    for (file, force, goal, joint, [of_tau, of_s, of_s_dot]) in [
        ("slide.urdf", "3 N", "1 m", "s", ["N", "m", "m/s"]),
        ("turn.urdf", "3 N*m", "1 rad", "t", ["N*m", "rad", "rad/s"]),
    ] {
        let head = format!(
            "act.tau[0] ({joint}) [{of_tau}],seen.s[0] ({joint}) [{of_s}],\
             seen.s_dot[0] ({joint}) [{of_s_dot}]"
        );
        write(&here, "a.ron", diagram(file, force, goal));
        let run = legwork(here.path(), &["run", "a.ron", "--out", "o"]);
        assert_eq!(run.code, 0, "{file}: {}", run.err);
        let table = legwork(here.path(), &["export", "o"]).out;
        assert_eq!(table.lines().next(), Some(format!("t [s],{head}").as_str()));
    }
    for (file, force, goal) in [("slide.urdf", "3 N*m", "1 m"), ("turn.urdf", "3 N*m", "1 m")] {
        write(&here, "a.ron", diagram(file, force, goal));
        let check = legwork(here.path(), &["check", "a.ron"]);
        assert!(check.code == 1 && check.err.contains("unit-mismatch"), "{file}: {}", check.err);
    }
}

/// A signal of time alone crosses within a step: no continuous state is needed to find it.
#[test]
fn variable_steps_end_at_events_without_a_continuous_state() {
    let here = folder();
    for solver in ["DormandPrince", "Esdirk", "Bdf"] {
        // The sine of 1 Hz is at one half at 1/12 s.
        let text = format!(
            r#"Diagram(format: 2, run: (stop: "2 s", step: "100 ms", solver: {solver}),
                log: ["w.y"], blocks: {{
                    "w": Sine(frequency: "1 Hz"),
                    "above": Compare(op: ">=", to: 0.5, in: {{"u": "w.y"}}),
                    "stop": Stop(in: {{"u": "above.y"}}),
                }})"#
        );
        write(&here, "a.ron", text);
        let run = legwork(here.path(), &["run", "a.ron", "--json"]);
        assert_eq!(run.code, 0, "{solver}: {}", run.err);
        let table = legwork(here.path(), &["export", "runs/a"]).out;
        let last = table.lines().last().and_then(|line| line.split(',').next()).unwrap_or("");
        let t: f64 = last.parse().expect("a time");
        assert!((t - 1.0 / 12.0).abs() < 1e-9, "{solver}: {t}");
    }
}

/// In a world the joints of a robot with a fixed base have their names and units too.
#[test]
fn joints_of_a_robot_in_a_world_have_their_names() {
    let here = folder();
    let text = r#"Diagram(format: 2, run: (stop: "2 ms", step: "1 ms"), log: ["body.state"],
        robots: {
            "ball": FreeBody(mass: "1 kg", shape: Sphere(radius: "5 cm")),
            "arm": Urdf(path: "arm.urdf", base: Fixed),
            "w": World(of: ["arm", "ball"]),
        },
        blocks: {
            "body": FloatingBase(robot: "w", in: {"nu_dot": "zero.y"}),
            "zero": Constant(value: "=zeros(w.nv)"),
        })"#;
    let link = |name: &str| {
        format!(
            r#"<link name="{name}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"
            ixy="0" ixz="0" iyz="0"/></inertial></link>"#
        )
    };
    let joint = r#"<joint name="elbow" type="continuous"><parent link="a"/><child link="b"/>
        <axis xyz="0 1 0"/></joint>"#;
    let urdf = format!(r#"<robot name="arm">{}{}{joint}</robot>"#, link("a"), link("b"));
    write(&here, "arm.urdf", urdf);
    write(&here, "a.ron", text);
    let run = legwork(here.path(), &["run", "a.ron"]);
    assert_eq!(run.code, 0, "{}", run.said());
    let table = legwork(here.path(), &["export", "runs/a"]).out;
    let header = table.lines().next().unwrap_or_default();
    assert!(header.contains("body.state.arm.s[0] (arm/elbow) [rad]"), "{header}");
}
