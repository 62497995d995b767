//! Robots from files in packages, with macros, and from models of MuJoCo: what runs and recordings
//! have of them.

use super::support::{folder, legwork, write};

const PART: &str = r#"<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:macro name="lk" params="n m"><link name="${n}"><inertial><mass value="${m}"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><sphere radius="0.1"/></geometry></collision></link></xacro:macro></robot>"#;

/// A robot of two links that includes `PART`.
fn robot(include: &str, mass: &str) -> String {
    format!(
        r#"<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="b">
{include}
<xacro:lk n="a" m="2"/><xacro:lk n="c" m="{mass}"/>
<joint name="elbow" type="revolute"><parent link="a"/><child link="c"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="9" velocity="9"/></joint></robot>"#
    )
}

fn diagram(path: &str, more: &str) -> String {
    format!(
        r#"Diagram(run: (stop: "2 ms", step: "1 ms"),
        robots: {{ "r": Urdf(path: "{path}", base: Fixed{more}) }},
        blocks: {{ "body": FloatingBase(robot: "r", in: {{ "nu_dot": "z.y" }}),
                  "z": Constant(value: "=zeros(r.nv)") }}, log: ["body.state"])"#
    )
}

/// Files of one name, packages of which each has a manifest, files that are found twice: whatever
/// the way to the part, the recording knows its robot again.
#[test]
fn recordings_know_robots_that_were_found_by_packages() {
    let include = |name: &str| format!("<xacro:include filename=\"{name}\"/>");
    let yaml = "<xacro:property name=\"y\" value=\"${xacro.load_yaml('$(find pk)/d.yaml')}\"/>";
    let stated = ", packages: { \"pk\": \"elsewhere\" }";
    for (path, text, more) in [
        ("pk/robots/r.xacro", include("$(find pk)/robots/part.xacro"), ""),
        ("pk/robots/r.xacro", include("package://pk/robots/part.xacro"), ""),
        ("pk/robots/r.xacro", include("part.xacro"), ""),
        ("pk/robots/r.xacro", include("./part.xacro"), ""),
        ("pk/robots/r.xacro", include("$(dirname)/part.xacro"), ""),
        ("pk/robots/r.xacro", include("${xacro.abs_filename('part.xacro')}"), ""),
        ("pk/robots/r.xacro", include("$(find other)/part.xacro"), ""),
        ("pk/robots/r.xacro", include("$(find other)/inner.xacro"), ""),
        ("pk/robots/r.xacro", include("$(find pk)/robots/part.xacro"), stated),
        ("r.xacro", include("$(find pk)/robots/part.xacro"), ""),
        ("r.xacro", include("pk/robots/part.xacro"), ""),
        (
            "pk/robots/r.xacro",
            include("part.xacro") + &include("$(find pk)/robots/part.xacro") + yaml,
            "",
        ),
        (
            "pk/robots/r.xacro",
            include("none.xacro\" optional=\"true") + &include("$(find pk)/robots/part.xacro"),
            "",
        ),
    ] {
        let here = folder();
        for inner in ["pk/robots", "pk/other", "elsewhere/robots"] {
            std::fs::create_dir_all(here.path().join(inner)).unwrap();
        }
        write(&here, "pk/package.xml", "<package><name>pk</name></package>");
        write(&here, "pk/other/package.xml", "<package><name>other</name></package>");
        write(&here, "pk/d.yaml", "a: 1");
        let nested = "<robot xmlns:xacro=\"x\"><xacro:include filename=\"part.xacro\"/></robot>";
        write(&here, "pk/other/inner.xacro", nested);
        for part in ["pk/robots", "pk/other", "elsewhere/robots"] {
            write(&here, &format!("{part}/part.xacro"), PART);
        }
        write(&here, path, robot(&text, "1"));
        write(&here, "d.ron", diagram(path, more));
        let done = legwork(here.path(), &["run", "d.ron", "--out", "o"]);
        assert_eq!(done.code, 0, "{text}: {}", done.err);
        let table = legwork(here.path(), &["export", "o"]);
        let head = table.out.lines().next().unwrap_or_default();
        let names = "t [s],body.state.s[0] (elbow) [rad],body.state.s_dot[0] (elbow) [rad/s]";
        assert_eq!(head, names, "{text}: {}", table.err);
        let view = legwork(here.path(), &["view", "o", "-o", "o.html"]);
        assert!(view.code == 0 && !view.said().contains("no robot"), "{text}: {}", view.said());
        // It does not matter where the folder is, nor whether it is still there.
        let away = folder();
        std::fs::rename(here.path().join("o"), away.path().join("o")).unwrap();
        let table = legwork(away.path(), &["export", "o"]);
        assert!(table.out.starts_with(names), "{text}: {}", table.err);
    }
}

/// A mistake in a file does not have the code of a missing file, and vice versa.
#[test]
fn codes_of_robot_files_are_those_of_their_causes() {
    let include = |name: &str| format!("<xacro:include filename=\"{name}\"/>");
    let found = include("$(find pk)/robots/part.xacro");
    let load = |name: &str| format!("${{xacro.load_yaml('{name}').m}}");
    for (text, mass, code, words) in [
        (found.clone(), "${oops}".to_owned(), "invalid-robot", "nothing is named `oops`"),
        (found.clone(), "${1 +}".to_owned(), "invalid-robot", "ends early"),
        (found.clone(), "heavy".to_owned(), "invalid-robot", "found `heavy`"),
        (found.clone(), "${xacro.fatal('stop here')}".to_owned(), "invalid-robot", "stop here"),
        (found.clone(), load("d.yaml"), "invalid-robot", "has no `m`"),
        (found.clone() + "<xacro:nothing/>", "1".to_owned(), "invalid-robot", "no macro"),
        (
            include("none.xacro\" optional=\"true") + &found,
            "${oops}".to_owned(),
            "invalid-robot",
            "nothing is named `oops`",
        ),
        (include("none.xacro"), "1".to_owned(), "missing-file", "none.xacro"),
        (include("$(find none)/none.xacro"), "1".to_owned(), "missing-file", "package://none/"),
        (found, load("none.yaml"), "missing-file", "none.yaml"),
    ] {
        let here = folder();
        std::fs::create_dir_all(here.path().join("pk/robots")).unwrap();
        write(&here, "pk/package.xml", "<package><name>pk</name></package>");
        write(&here, "pk/robots/d.yaml", "a: 1");
        write(&here, "pk/robots/part.xacro", PART);
        write(&here, "pk/robots/r.xacro", robot(&text, &mass));
        write(&here, "d.ron", diagram("pk/robots/r.xacro", ""));
        let done = legwork(here.path(), &["check", "d.ron"]);
        let said = done.said();
        assert!(done.code != 0 && said.contains(&format!("error[{code}]")), "{text}: {said}");
        assert!(said.contains(words), "{text}: {said}");
    }
}

/// A file by itself reads its own folder; what allows more is said.
#[test]
fn a_package_above_the_folder_is_named_with_what_allows_it() {
    let here = folder();
    std::fs::create_dir_all(here.path().join("pk/robots")).unwrap();
    std::fs::create_dir_all(here.path().join("pk/meshes")).unwrap();
    write(&here, "pk/package.xml", "<package><name>pk</name></package>");
    let facet = "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n\
                 endloop\nendfacet\n";
    write(&here, "pk/meshes/a.stl", format!("solid a\n{facet}endsolid\n"));
    write(
        &here,
        "pk/robots/r.urdf",
        r#"<robot name="r"><link name="a"><inertial><mass value="2"/>
        <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial><collision>
        <geometry><mesh filename="package://pk/meshes/a.stl"/></geometry></collision></link>
        </robot>"#,
    );
    write(&here, "pk/robots/r.xacro", robot("<xacro:include filename=\"$(find up)/p\"/>", "1"));
    let inner = here.path().join("pk/robots");
    let done = legwork(&inner, &["robot", "r.urdf"]);
    let said = done.said();
    assert!(said.contains("meshes are missing") && said.contains("--root .."), "{said}");
    let done = legwork(&inner, &["robot", "r.urdf", "--root", ".."]);
    assert!(!done.said().contains("missing"), "{}", done.said());
    let done = legwork(&inner, &["robot", "r.xacro"]);
    assert!(done.code != 0 && done.said().contains("--root .."), "{}", done.said());
    // In place, nothing is above.
    let done = legwork(here.path(), &["robot", "pk/robots/r.urdf"]);
    assert!(!done.said().contains("missing"), "{}", done.said());
}

#[test]
fn a_plane_is_named_for_what_it_is_and_springs_that_are_not_there_are_zero() {
    let here = folder();
    for kind in ["collision", "visual"] {
        write(
            &here,
            "plane.urdf",
            format!(
                "<robot name=\"plane\"><link name=\"planeLink\">\n<{kind}><geometry>\
                 <plane normal=\"0 0 1\"/></geometry></{kind}></link></robot>"
            ),
        );
        let said = legwork(here.path(), &["robot", "plane.urdf"]).said();
        assert!(said.contains("<plane>") && said.contains("`ground:`"), "{kind}: {said}");
    }
    write(
        &here,
        "r.xacro",
        robot(PART.split_once('\n').unwrap().1.trim_end_matches("</robot>"), "1"),
    );
    let done = legwork(here.path(), &["robot", "r.xacro", "--json"]);
    assert!(done.out.contains("\"stiffness\"") && !done.out.contains("-0.0"), "{}", done.out);
}

/// Poses that the file states in several ways, each in closed form; MuJoCo's `qpos0` is the same.
#[test]
fn models_of_mujoco_begin_where_their_file_puts_them() {
    let half = 0.5_f64.sqrt();
    for (compiler, place, position, orientation) in [
        ("", "pos=\"0.4 0 1.5\"", [0.4, 0.0, 1.5], [1.0, 0.0, 0.0, 0.0]),
        ("", "pos=\"-3 2 0.25\"", [-3.0, 2.0, 0.25], [1.0, 0.0, 0.0, 0.0]),
        ("", "", [0.0; 3], [1.0, 0.0, 0.0, 0.0]),
        ("", "quat=\"0 1 0 0\"", [0.0; 3], [0.0, 1.0, 0.0, 0.0]),
        ("", "pos=\"0 0 1\" quat=\"2 0 0 2\"", [0.0, 0.0, 1.0], [half, 0.0, 0.0, half]),
        ("", "euler=\"90 0 0\"", [0.0; 3], [half, half, 0.0, 0.0]),
        ("angle=\"radian\"", "euler=\"0 1.5707963267948966 0\"", [0.0; 3], [half, 0.0, half, 0.0]),
        ("", "axisangle=\"0 0 2 -90\"", [0.0; 3], [half, 0.0, 0.0, -half]),
        ("", "zaxis=\"1 0 0\"", [0.0; 3], [half, 0.0, half, 0.0]),
        ("", "xyaxes=\"0 1 0 -1 0 0\"", [0.0; 3], [half, 0.0, 0.0, half]),
    ] {
        let here = folder();
        write(
            &here,
            "m.xml",
            format!(
                "<mujoco><compiler {compiler}/><worldbody>\
                 <body name=\"ball\" {place}><freejoint/><geom type=\"sphere\" size=\"0.1\"/>\
                 <body name=\"arm\" pos=\"0 0 0.2\"><joint name=\"hinge\" axis=\"0 1 0\"/>\
                 <geom type=\"sphere\" size=\"0.1\"/></body></body>OTHER</worldbody></mujoco>"
            ),
        );
        let one = std::fs::read_to_string(here.path().join("m.xml")).unwrap();
        let other = "<body name=\"brick\" pos=\"9 9 9\"><freejoint/>\
                     <geom type=\"box\" size=\"0.1 0.1 0.1\"/></body>";
        write(&here, "one.xml", one.replace("OTHER", ""));
        write(&here, "two.xml", one.replace("OTHER", other));
        let close = |found: &[f64], expected: &[f64]| {
            found.len() == expected.len()
                && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12)
        };
        let expected = [&position[..], &orientation[..]].concat();
        let starts = [("one", ""), ("two", ""), ("one", ", init: (position: [5, 5, 5])")];
        for (i, (file, init)) in starts.into_iter().enumerate() {
            let out = format!("o{i}");
            write(
                &here,
                "d.ron",
                format!(
                    r#"Diagram(run: (stop: "1 ms", step: "1 ms"),
                    robots: {{ "w": Mjcf(path: "{file}.xml", gravity: Some([0, 0, 0])) }},
                    blocks: {{ "z": Constant(value: "=zeros(w.nv)"),
                    "k": ForwardKinematics(robot: "w", frame: "ball", in: {{ "state": "b.state" }}),
                    "b": FloatingBase(robot: "w"{init}, in: {{ "nu_dot": "z.y" }}) }},
                    log: ["k.pose"])"#
                ),
            );
            let done = legwork(here.path(), &["run", "d.ron", "--out", &out]);
            assert_eq!(done.code, 0, "{}", done.err);
            let table = legwork(here.path(), &["export", &out]).out;
            let row = table.lines().nth(1).unwrap_or_default();
            let found: Vec<f64> = row.split(',').skip(1).map(|x| x.parse().unwrap()).collect();
            let [w, x, y, z] = [3, 4, 5, 6].map(|i| expected[i]);
            // The columns of the rotation, then the position.
            let mut pose = vec![
                1.0 - 2.0 * (y * y + z * z),
                2.0 * (x * y + w * z),
                2.0 * (x * z - w * y),
                2.0 * (x * y - w * z),
                1.0 - 2.0 * (x * x + z * z),
                2.0 * (y * z + w * x),
                2.0 * (x * z + w * y),
                2.0 * (y * z - w * x),
                1.0 - 2.0 * (x * x + y * y),
            ];
            match init {
                "" => pose.extend(&expected[..3]),
                _ => pose.extend([5.0; 3]),
            }
            assert!(close(&found, &pose), "{place} {file}{init}: {found:?}, {pose:?}");
        }
    }
}
