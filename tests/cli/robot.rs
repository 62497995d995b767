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
