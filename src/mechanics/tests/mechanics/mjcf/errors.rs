//! Mistakes in models, each with its place, and models that are made to take all memory.

use super::{inside, read};

/// What is wrong with a model whose inside is given: place, problem and hint.
fn refused(text: &str) -> String {
    let text = format!("<mujoco>\n{text}</mujoco>");
    let Err(errors) = read(&[("model.xml", &text)], |_| ()) else { panic!("accepted: {text}") };
    let error = &errors.0[0];
    match &error.hint {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    }
}

/// The same of a body in the world, in the second line.
fn body(text: &str) -> String {
    let found = refused(&format!("<worldbody><body>\n{text}</body></worldbody>"));
    found.strip_prefix("model.xml:").unwrap().to_owned()
}

/// The time of the XML reader grows with the product of their numbers.
#[test]
fn namespaces_and_attributes_have_a_bound() {
    let spaces: String = (0..65).map(|k| format!("<a xmlns:a{k}=\"u{k}\">")).collect();
    let found = refused(&format!("{spaces}{}", "</a>".repeat(65)));
    assert!(found.starts_with("model.xml:2:") && found.contains("more than 64 name"), "{found}");
    let many: String = (0..257).map(|k| format!(" a{k}=\"\"")).collect();
    let found = refused(&format!("<option{many}/>"));
    assert!(found.contains("an element of more than 256 attributes"), "{found}");
}

#[test]
fn mistakes_have_a_place() {
    for (text, expected) in [
        (
            "<joint tpye=\"ball\"/>",
            "3:8: <joint> has no attribute `tpye`; known are the attributes of MuJoCo 4.0",
        ),
        (
            "<joint dampin=\"1\"/>",
            "3:8: <joint> has no attribute `dampin`; did you mean `damping`?",
        ),
        ("<jiont/>", "3:1: <body> holds no <jiont>; did you mean <joint>?"),
        ("<joint pos=\"1 2\"/>", "3:13: `pos`: expected 3 finite numbers, found `1 2`"),
        ("<joint armature=\"x\"/>", "3:18: `armature`: expected a finite number, found `x`"),
        (
            "<joint damping=\"nan\"/>",
            "3:17: `damping`: expected 1 to 4 finite numbers, found `nan`",
        ),
        ("<joint axis=\"0 0 0\"/>", "3:1: <joint>: expected an `axis` that is not zero"),
        (
            "<joint type=\"fixed\"/>",
            "3:14: `type`: expected one of free, ball, slide, hinge, found `fixed`",
        ),
        ("<joint range=\"2 1\"/>", "3:1: <joint>: expected a `range` that rises, found 2 … 1"),
        ("<joint limited=\"true\"/>", "3:1: <joint>: expected `range` of what is limited"),
        ("<joint class=\"leg\"/>", "3:15: no <default> has the class `leg`"),
        (
            "<joint/><joint type=\"free\"/>",
            "3:9: a free joint is the only joint of a body of the world",
        ),
        ("<geom size=\"0\"/>", "3:1: <geom>: a sphere needs 1 numbers above zero in `size`"),
        (
            "<geom type=\"box\" size=\"1 1\"/>",
            "3:1: <geom>: a box needs 3 numbers above zero in `size`",
        ),
        (
            "<geom fromto=\"0 0 0 1 0 0\" size=\"1\"/>",
            "3:1: <geom>: `fromto` makes a capsule, cylinder, ellipsoid or box, not a sphere",
        ),
        (
            "<geom type=\"capsule\" fromto=\"0 0 1 0 0 1\" size=\"1\"/>",
            "3:1: <geom>: expected two points apart in `fromto`",
        ),
        (
            "<geom size=\"1\" quat=\"0 0 0 0\"/>",
            "3:22: `quat`: expected an orientation, with axes and quaternions that are not zero, found `0 0 0 0`",
        ),
        ("<geom type=\"mesh\" mesh=\"m\"/>", "3:1: no mesh is named `m`"),
        ("<inertial mass=\"1\"/>", "3:1: <inertial>: expected `pos`"),
        (
            "<inertial pos=\"0 0 0\" mass=\"-1\"/>",
            "3:29: `mass`: expected a number not below zero, found `-1`",
        ),
        (
            "<inertial pos=\"0 0 0\" mass=\"1\" diaginertia=\"1 -1 1\"/>",
            "3:1: expected no negative principal moment, found -1e0",
        ),
        ("<joint name=\"a\"/><joint name=\"a\"/>", "3:18: a joint `a` exists already"),
        ("<replicate/>", "3:1: <replicate>: expected `count`"),
        (
            "<composite type=\"cable\"/>",
            "3:1: <composite> is not supported; write its bodies out: save the compiled model with MuJoCo (mj_saveLastXML)",
        ),
        (
            "<joint stiffness=\"1 2\"/>",
            "3:1: <joint>: `stiffness` that is not linear is not supported",
        ),
    ] {
        assert_eq!(body(text), expected, "{text}");
    }
    for (text, expected) in [
        ("<wordbody/>", "2:1: <mujoco> holds no <wordbody>; did you mean <worldbody>?"),
        (
            "<compiler coordinate=\"global\"/>",
            "2:1: <compiler>: global coordinates are not supported, as in MuJoCo since 2.3.4, which saves such a model in local ones",
        ),
        (
            "<compiler eulerseq=\"xyw\"/>",
            "2:1: <compiler>: expected `eulerseq` of three letters x, y, z, X, Y, Z",
        ),
        (
            "<default><default/></default>",
            "2:10: <default>: expected `class` of a class inside another",
        ),
        (
            "<actuator><motor/></actuator>",
            "2:11: <motor>: expected what it acts on: `joint` or `tendon`",
        ),
        ("<actuator><motor joint=\"j\"/></actuator>", "2:11: no joint is named `j`"),
        (
            "<keyframe><key qpos=\"1\"/></keyframe>",
            "2:11: keyframe `key_0`: expected 0 numbers in `qpos` and 0 in `qvel`, found 1 and 0",
        ),
        ("<contact><exclude body1=\"a\" body2=\"world\"/></contact>", "2:10: no body is named `a`"),
        (
            "<worldbody><frame><joint/></frame></worldbody>",
            "2:19: <joint>: the world has no joints",
        ),
        ("<a", "2:3: not well-formed XML"),
    ] {
        let found = refused(text);
        let found = found.strip_prefix("model.xml:").unwrap();
        assert!(found.starts_with(expected), "{text}: {found}");
    }
}

#[test]
fn the_line_is_shown_with_a_caret() {
    let text = "<mujoco>\n  <option timestep=\"µ\"/>\n</mujoco>";
    let errors = read(&[("model.xml", text)], |_| ()).map(|_| ()).unwrap_err();
    let error = &errors.0[0];
    assert_eq!((error.line, error.column), (2, 21));
    assert_eq!(error.excerpt, "  <option timestep=\"µ\"/>\n                    ^");
}

#[test]
fn what_is_not_used_is_listed_once() {
    let mjcf = inside(
        r#"<visual><map znear="1"/></visual><option solver="CG"/>
        <worldbody><light pos="0 0 1"/><light pos="0 0 2"/>
          <body><joint margin="1"/><geom size="1" solref="1 1"/><geom size="1" solref="1 1"/></body>
        </worldbody>
        <sensor><clock/><gyro name="spin" site="s"/><gyro name="turn" site="s"/></sensor>"#,
    );
    assert_eq!(
        mjcf.warnings,
        ["model.xml: not used: geom solref (2), joint margin, light (2), option solver, \
             sensor clock, sensor gyro (2: `spin`, `turn`), visual"]
    );
}

/// Few bytes that ask for much are refused, and deep files are read.
#[test]
fn no_model_takes_memory_out_of_proportion() {
    let nested = |open: &str, close: &str, n: usize| open.repeat(n) + &close.repeat(n);
    let many = nested("<replicate count=\"1000\">", "</replicate>", 30);
    assert!(body(&many).contains("more than 50000 parts of bodies"));
    let wide = "<replicate count=\"4000000000\"><geom size=\"1\"/></replicate>";
    assert!(body(wide).contains("4000000000 replicas make more than 50000 parts of bodies"));
    let long = format!("<replicate count=\"10\" sep=\"{}\"/>", "x".repeat(1000));
    assert!(body(&long).contains("a suffix of at most 256 bytes"));
    let deep = nested("<body><joint/>", "</body>", 6000);
    assert!(body(&deep).contains("6000 degrees of freedom are more than 2048"));
    let deep = format!("<worldbody>{}</worldbody>", nested("<body>", "</body>", 20_000));
    assert_eq!(inside(&deep).model.frames().len(), 20_001);
    let classes = nested("<default class=\"a\">", "</default>", 1000);
    assert!(refused(&classes).contains("exists already"));
    let keys = format!(
        "<worldbody>{}</worldbody><keyframe>{}</keyframe>",
        "<body><joint/><geom size=\"1\"/></body>".repeat(2000),
        "<key/>".repeat(2000)
    );
    assert!(refused(&keys).contains("keyframes of more than"));
    let entities = "<!DOCTYPE a [<!ENTITY b \"c\">]><mujoco/>";
    let errors = read(&[("model.xml", entities)], |_| ()).map(|_| ()).unwrap_err();
    assert!(errors.to_string().contains("expected <mujoco>, found no element"), "{errors}");
}
