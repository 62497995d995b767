//! `legwork robot`.

use super::support::{folder, legwork, repository, write};

const ARM: &str = r#"<robot name="arm">
  <link name="base"/>
  <link name="rod"><inertial><mass value="2"/>
    <inertia ixx="1" iyy="1" izz="4" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision></link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="rod"/><calibration/>
    <limit lower="-1" upper="2" effort="30" velocity="4"/><dynamics damping="0.5"/></joint>
</robot>"#;

#[test]
fn a_robot_is_described_and_drawn() {
    let here = folder();
    write(&here, "arm.urdf", ARM);
    let done =
        legwork(here.path(), &["robot", "arm.urdf", "--fixed", "-o", "a.svg", "--tree", "t.svg"]);
    assert_eq!(done.code, 0, "{}", done.err);
    for words in [
        "arm: 1 joints, 2 links, 2 kg, fixed base",
        "inertia: that of `rod` breaks the triangle inequality",
        "not used: <calibration> (line 6)",
        "sphere r 0.1",
    ] {
        assert!(done.out.contains(words), "{words}:\n{}", done.out);
    }
    let joint = done.out.lines().find(|line| line.starts_with("turn ")).unwrap_or_default();
    let cells: Vec<&str> = joint.split_whitespace().collect();
    assert_eq!(cells, ["turn", "revolute", "-1", "2", "30", "4", "0.5"]);
    for (file, part) in [("a.svg", "<polygon"), ("t.svg", ">rod<")] {
        let drawn = std::fs::read_to_string(here.path().join(file)).unwrap();
        assert!(drawn.starts_with("<svg") && drawn.contains(part), "{file}: {drawn}");
    }
}

#[test]
fn robots_of_the_library_and_macros_are_read() {
    let here = folder();
    let done = legwork(here.path(), &["robot", "std:robots/mini_cheetah.ron", "--json"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let robot = done.json()["robot"].clone();
    assert_eq!((&robot["n"], &robot["is_floating"]), (&12.into(), &true.into()));
    assert!((robot["mass"].as_f64().unwrap() - 8.252).abs() < 1e-9);

    // Two legs of a rod of 0.5 kg and one of 0.2 kg, on a trunk of 3 kg.
    let crawler = repository().join("tests/data/robots/crawler.xacro").display().to_string();
    let done = legwork(here.path(), &["robot", &crawler, "--arg", "legs=2", "--json"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let robot = done.json()["robot"].clone();
    assert!((robot["mass"].as_f64().unwrap() - 4.4).abs() < 1e-12);
    assert_eq!(robot["joints"][0]["name"], "FL_hip");
    assert_eq!(robot["joints"][0]["friction"], 0.05);

    let wrong = legwork(here.path(), &["robot", &crawler, "--arg", "leg=2"]);
    assert!(wrong.code != 0 && wrong.err.contains("did you mean `legs`?"), "{}", wrong.err);
    let missing = legwork(here.path(), &["robot", "none.urdf"]);
    assert!(missing.code == 64 && missing.err.contains("no file `none.urdf`"), "{}", missing.err);
}

/// A model of MuJoCo is known by its first element, whatever the file is called.
#[test]
fn models_of_mujoco_are_described_and_drawn() {
    let here = folder();
    let springs = repository().join("tests/data/robots/springs.xml");
    std::fs::copy(springs, here.path().join("springs.mjcf")).unwrap();
    let done = legwork(here.path(), &["robot", "springs.mjcf", "-o", "a.svg", "--tree", "t.svg"]);
    assert_eq!(done.code, 0, "{}", done.err);
    for words in [
        "springs: 6 joints, 8 links, 3.5 kg, fixed base",
        "inertia: all 7 are positive definite and keep the triangle inequality",
        "follower = 2 · leader + 0",
        "poses: reference",
    ] {
        assert!(done.out.contains(words), "{words}:\n{}", done.out);
    }
    let row = |name: &str| -> Vec<&str> {
        let joints = done.out.split("damping").nth(1).unwrap_or_default();
        let line = joints.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line.split_whitespace().collect()
    };
    // Damping, spring and rest; the follower's spring of 50 at 0.4 acts on its leader.
    assert_eq!(row("damped "), ["damped", "prismatic", "1", "50", "0.2"]);
    assert_eq!(row("leader "), ["leader", "prismatic", "200", "0.2"]);
    for (file, part) in [("a.svg", "<svg"), ("t.svg", ">lower<")] {
        let drawn = std::fs::read_to_string(here.path().join(file)).unwrap();
        assert!(drawn.contains(part), "{file}: {drawn}");
    }

    write(
        &here,
        "more.xml",
        r#"<mujoco><option cone="elliptic"/><worldbody>
          <body name="a"><freejoint/><geom size="0.1" rgba="1 0 0 1"/><site name="tip"/>
            <geom type="ellipsoid" size="0.1 0.1 0.2" mass="0"/></body></worldbody>
          <equality><connect body1="a" anchor="0 0 0.1" name="hung"/></equality></mujoco>"#,
    );
    let done = legwork(here.path(), &["robot", "more.xml", "--fixed"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let unused = "not used: contact: ellipsoid, option cone, picture: ellipsoid";
    for words in [unused, "frames of equalities: hung_1, hung_2", "tip"] {
        assert!(done.out.contains(words), "{words}:\n{}", done.out);
    }
}

/// What is no robot file is named for what it is.
#[test]
fn other_files_are_refused_by_what_they_are() {
    let here = folder();
    write(&here, "world.sdf", "<?xml version='1.0'?><!-- <robot> --><sdf version='1.6'/>");
    write(&here, "part.xml", "<mujocoinclude/>");
    write(&here, "mesh.stl", "solid a\nendsolid a\n");
    write(&here, "none.xml", "");
    std::fs::create_dir(here.path().join("dir")).unwrap();
    for (file, words) in [
        ("world.sdf", "found SDF (<sdf>)"),
        ("part.xml", "found a part that a model of MuJoCo includes"),
        ("mesh.stl", "found no XML element"),
        ("none.xml", "found an empty file"),
        ("dir", "`dir` is a folder, expected a robot file"),
        ("gone.xml", "no file `gone.xml`"),
    ] {
        let done = legwork(here.path(), &["robot", file]);
        assert_eq!(done.code, 64, "{file}: {}", done.err);
        assert!(done.err.contains(words), "{file}: {}", done.err);
    }
    // Nothing that is asked for is left out without a word.
    write(
        &here,
        "ball.xml",
        "<mujoco><worldbody><body><geom size='1'/></body></worldbody></mujoco>",
    );
    let done = legwork(here.path(), &["robot", "ball.xml", "--arg", "a=1"]);
    assert!(done.code == 64 && done.err.contains("found a model of MuJoCo"), "{}", done.err);
    let none = legwork(here.path(), &["robot"]);
    assert!(none.code == 64 && none.err.contains("<FILE>"), "{} {}", none.code, none.err);
}

/// Two hinges of one body, as MJCF has them, each with its limits; and a robot without feet, which
/// touches nothing.
#[test]
fn joints_between_links_have_limits_and_feet_may_be_none() {
    let here = folder();
    write(
        &here,
        "two.xml",
        r#"<mujoco><worldbody><body name="arm" pos="0 0 1">
            <joint name="a" type="hinge" axis="0 1 0" range="-90 90"/>
            <joint name="b" type="hinge" axis="1 0 0" range="-20 20"/>
            <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.03" density="1000"/>
        </body></worldbody></mujoco>"#,
    );
    write(
        &here,
        "a.ron",
        r#"Diagram(
            run: (stop: "1 s", step: "1 ms"),
            robots: { "r": Mjcf(path: "two.xml") },
            blocks: {
                "push": Constant(value: [0, 2]),
                "sim": Mask(
                    file: "std:masks/robot_with_contacts.ron", robot: "r", feet: [],
                    in: { "tau": "push.y" },
                ),
            },
            checks: {
                "is held by its limit": Finally(that: "=abs(sim.state.s[1] - 20[deg]) < 1e-3"),
            },
        )"#,
    );
    let done = legwork(here.path(), &["run", "a.ron"]);
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
}

/// A robot of any format is converted to URDF, and reads back as the same robot.
#[test]
fn a_robot_is_written_as_urdf() {
    let here = folder();
    let path = |name: &str| repository().join(name).display().to_string();
    let crawler = path("tests/data/robots/crawler.xacro");
    let model = path("diagrams/robots/cart_pole/cart_pole.xml");
    for (from, fixed) in
        [("std:robots/mini_cheetah.ron", ""), (crawler.as_str(), ""), (model.as_str(), "--fixed")]
    {
        let done = legwork(here.path(), &["robot", from, "-o", "r.urdf", "--json"]);
        assert_eq!(done.code, 0, "{}", done.err);
        let own = done.json()["robot"].clone();
        let mut words = vec!["robot", "r.urdf", "--json"];
        words.extend((!fixed.is_empty()).then_some(fixed));
        let done = legwork(here.path(), &words);
        assert_eq!(done.code, 0, "{from}: {}", done.err);
        let read = done.json()["robot"].clone();
        for part in ["name", "nq", "nv"] {
            assert_eq!(own[part], read[part], "{from}: {part}");
        }
        let mass = |robot: &serde_json::Value| robot["mass"].as_f64().unwrap();
        assert!((mass(&own) - mass(&read)).abs() < 1e-12 * mass(&own), "{from}");
        let names = |robot: &serde_json::Value| {
            let joints = robot["joints"].as_array().unwrap().iter();
            joints.map(|joint| joint["name"].clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(&own), names(&read), "{from}");
    }
    let model = "<mujoco><worldbody><body><geom size='0.1'/><joint name='j' armature='0.2' \
                 stiffness='3'/></body></worldbody></mujoco>";
    write(&here, "m.xml", model);
    let said = legwork(here.path(), &["robot", "m.xml", "-o", "m.urdf"]).err;
    assert!(said.contains("cannot describe 1 rotor inertia"), "{said}");
    assert!(said.contains("cannot describe 1 joint springs"), "{said}");
}
