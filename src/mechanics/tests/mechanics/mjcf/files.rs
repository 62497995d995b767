//! Files that a model names: included ones and meshes.

use super::read;
use crate::quantities::{dense_mass_at, kinematics_at};

#[test]
fn included_files_stand_in_place() {
    let main = r#"<mujoco><include file="./parts/hinge.xml"/><worldbody><body name="b">
        <include file="parts/geom.xml"/></body></worldbody></mujoco>"#;
    let files = [
        ("model.xml", main),
        ("parts/hinge.xml", "<mujocoinclude><compiler angle=\"radian\"/></mujocoinclude>"),
        // Beside the file that includes it.
        ("parts/geom.xml", "<mujoco><include file=\"more.xml\"/><geom size=\"0.1\"/></mujoco>"),
        ("parts/more.xml", "<x><joint range=\"-1 1\"/><joint type=\"slide\"/></x>"),
    ];
    let mjcf = read(&files, |_| ()).unwrap();
    let joints = mjcf.model.joints();
    assert_eq!((joints.len(), joints[0].upper), (2, 1.0));
    assert_eq!(joints[0].name, "b_joint_1");
}

#[test]
fn included_files_have_places_and_no_circles() {
    let with = |text: &str, part: &str| {
        let files = [("model.xml", text), ("part.xml", part)];
        let errors = read(&files, |_| ()).map(|_| ()).unwrap_err();
        errors.to_string()
    };
    let main = "<mujoco>\n  <include file=\"part.xml\"/>\n</mujoco>";
    assert_eq!(
        with(main, "<mujoco>\n  <worldbody>\n <body poss=\"1 0 0\"/></worldbody></mujoco>"),
        "part.xml:3:8: <body> has no attribute `poss`"
    );
    assert_eq!(
        with(main, "<mujoco><include file=\"part.xml\"/></mujoco>"),
        "part.xml:1:24: `part.xml` is included already, or includes itself"
    );
    assert_eq!(
        with(main, "<mujoco><include file=\"model.xml\"/></mujoco>"),
        "part.xml:1:24: `model.xml` is included already, or includes itself"
    );
    assert_eq!(
        with(main, "<mujoco><include file=\"no.xml\"/></mujoco>"),
        "part.xml:1:24: `no.xml` is not read: no file `no.xml`"
    );
    assert_eq!(
        with(main, "<mujoco><a></mujoco>"),
        "part.xml:1:12: not well-formed XML: expected 'a' tag, not 'mujoco' at 1:12"
    );
}

#[test]
fn nothing_of_a_file_that_is_no_model_is_told() {
    for secret in [
        "KEY=hunter2\n",
        "<hunter2/>",
        "<settings><key hunter2=\"a\"/></settings>",
        "<settings><joint pos=\"hunter2\"/></settings>",
        "<settings><hunter2></settings>",
        "hunter2: <mujoco/>",
    ] {
        let include =
            "<mujoco><worldbody><body><include file=\"part\"/></body></worldbody></mujoco>";
        for files in [&[("model", secret)][..], &[("model", include), ("part", secret)]] {
            let errors = read(files, |_| ()).map(|_| ()).unwrap_err();
            assert!(!format!("{errors:?}").contains("hunter2"), "{secret}: {errors:?}");
        }
    }
}

/// The corners of a cuboid, by bits.
fn corner(i: usize) -> [f64; 3] {
    [0, 1, 2].map(|axis| if i >> axis & 1 == 1 { [0.2, 0.4, 0.6][axis] } else { 0.0 })
}

/// Faces of it, turned outwards.
const FACES: [[usize; 4]; 6] =
    [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];

#[test]
fn a_mesh_has_the_inertia_of_its_solid() {
    let mut obj = String::from("# a cuboid\n");
    let mut stl = String::from("solid cuboid\n");
    for i in 0..8 {
        let [x, y, z] = corner(i);
        obj += &format!("v {x} {y} {z}\n");
    }
    for face in FACES {
        let indices = face.map(|i| (i + 1).to_string() + "//1");
        obj += &format!("f {}\n", indices.join(" "));
        for three in [[face[0], face[1], face[2]], [face[0], face[2], face[3]]] {
            stl += "facet normal 0 0 0\nouter loop\n";
            for [x, y, z] in three.map(corner) {
                stl += &format!("vertex {x} {y} {z}\n");
            }
            stl += "endloop\nendfacet\n";
        }
    }
    // Without its last face.
    let open = obj.rsplit_once("f ").unwrap().0.to_owned();
    let corners = (0..8).flat_map(corner).map(|x| x.to_string() + " ").collect::<String>();
    let lists = format!(
        "vertex=\"{corners}\" face=\"{}\"",
        FACES
            .iter()
            .flat_map(|face| [face[0], face[1], face[2], face[0], face[2], face[3]])
            .map(|i| i.to_string() + " ")
            .collect::<String>()
    );
    let moment = |mesh: &str, geom: &str| {
        let text = format!(
            "<mujoco><compiler meshdir=\"meshes\"/><asset>{mesh}</asset><worldbody>\
             <body name=\"b\"><joint axis=\"1 2 3\" pos=\"0.5 0 0\"/><geom {geom}/></body>\
             </worldbody></mujoco>"
        );
        let files = [
            ("model.xml", &*text),
            ("meshes/a.obj", &*obj),
            ("meshes/a.stl", &*stl),
            ("meshes/open.obj", &*open),
        ];
        let model = read(&files, |_| ()).unwrap_or_else(|errors| panic!("{errors}")).model;
        dense_mass_at(&model, &kinematics_at(&model, &[0.0], &[0.0]))[(0, 0)]
    };
    let solid = moment("", r#"type="box" size="0.1 0.2 0.3" pos="0.1 0.2 0.3" euler="0 0 0""#);
    let shell = moment(
        "",
        r#"type="box" size="0.1 0.2 0.3" pos="0.1 0.2 0.3" shellinertia="true" mass="2""#,
    );
    let tenth = 1.0 / 1000.0;
    for (mesh, geom, expected) in [
        (r#"<mesh file="a.obj"/>"#.to_owned(), r#"type="mesh" mesh="a""#, solid),
        (
            r#"<mesh name="m" file="a.stl" inertia="exact"/>"#.to_owned(),
            r#"type="mesh" mesh="m""#,
            solid,
        ),
        (format!("<mesh name=\"m\" {lists}/>"), r#"type="mesh" mesh="m""#, solid),
        // The hull of the corners and of a point inside.
        (
            format!("<mesh name=\"m\" vertex=\"{corners} 0.1 0.1 0.1\"/>"),
            r#"type="mesh" mesh="m""#,
            solid,
        ),
        (
            r#"<mesh name="m" file="open.obj" inertia="convex"/>"#.to_owned(),
            r#"type="mesh" mesh="m""#,
            solid,
        ),
        // In millimetres, mirrored, and moved back.
        (
            format!("<mesh name=\"m\" scale=\"-1 1 1\" {lists}/>"),
            r#"type="mesh" mesh="m" pos="0.2 0 0""#,
            solid,
        ),
        (
            format!("<mesh name=\"m\" refpos=\"0.1 0.2 0.3\" {lists}/>"),
            r#"type="mesh" mesh="m" pos="0.1 0.2 0.3""#,
            solid,
        ),
        (
            r#"<mesh name="m" file="a.obj" inertia="shell"/>"#.to_owned(),
            r#"type="mesh" mesh="m" mass="2""#,
            shell,
        ),
        (
            r#"<mesh name="m" file="a.obj" scale="0.1 0.1 0.1"/>"#.to_owned(),
            r#"type="mesh" mesh="m" pos="0.1 0.2 0.3" density="0""#,
            0.0,
        ),
    ] {
        let found = moment(&mesh, geom);
        let error = (found - expected).abs();
        assert!(error <= 1e-13 * expected.max(tenth), "{mesh}: {found}, expected {expected}");
    }
}

#[test]
fn a_mesh_that_is_missing_matters_only_where_inertia_depends_on_it() {
    let text = |inertial: &str| {
        format!(
            "<mujoco><asset><mesh name=\"m\" file=\"no.stl\"/></asset><worldbody><body name=\"b\">\
             <joint/>{inertial}<geom type=\"mesh\" mesh=\"m\"/></body></worldbody></mujoco>"
        )
    };
    let errors = read(&[("model.xml", &*text(""))], |_| ()).map(|_| ()).unwrap_err();
    assert_eq!(
        errors.to_string(),
        "model.xml:1:16: mesh `m`, on which the inertia of a body depends: no file `no.stl`"
    );
    assert_eq!(
        errors.0[0].hint.as_deref(),
        Some("an <inertial> in the body makes the mesh unnecessary")
    );
    let inertial = r#"<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>"#;
    let mjcf = read(&[("model.xml", &*text(inertial))], |_| ()).unwrap();
    assert_eq!(mjcf.model.collisions().len(), 1);
}
