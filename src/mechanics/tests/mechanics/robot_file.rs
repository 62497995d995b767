//! Robot files: what is read, what is rejected, and that nothing panics.

use legwork_mechanics::nalgebra::Vector3;
use legwork_mechanics::{
    Base, JointKind, Kinematics, MassFactor, MassMatrix, MimicJoints, Model, ModelError, Options,
    Shape, UrdfError, Warning, mass_matrix, world_from_frame,
};

use crate::reference::urdf;

pub(crate) fn floating(text: &str) -> Result<(Model, Vec<Warning>), UrdfError> {
    Model::from_urdf_text(text, &Options::new(Base::Floating))
}

pub(crate) const BODY: &str = r#"<inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"#;
const LIMIT: &str = r#"<limit lower="-1" upper="2" effort="3" velocity="4"/>"#;

/// A robot of two links whose joint has the given type and content.
fn two_links(kind: &str, content: &str) -> String {
    format!(
        "<robot name=\"r\">\n<link name=\"a\">{BODY}</link>\n<link name=\"b\">{BODY}</link>\n\
         <joint name=\"j\" type=\"{kind}\"><parent link=\"a\"/><child link=\"b\"/>{content}</joint>\n\
         </robot>"
    )
}

/// A chain of three revolute joints i, j, k on lines 7, 8, 9, which mimic the joints named (none if
/// the name is empty) with multiplier 2.
pub(crate) fn three_links(i: &str, j: &str, k: &str) -> String {
    let mut text = String::from("<robot name=\"r\">\n");
    for link in ["a", "b", "c", "d"] {
        text += &format!("<link name=\"{link}\">{}</link>\n", BODY.replace('\n', " "));
    }
    text.push('\n');
    for (name, mimicked, parent, child) in
        [("i", i, "a", "b"), ("j", j, "b", "c"), ("k", k, "c", "d")]
    {
        let mimic = match mimicked {
            "" => String::new(),
            joint => format!("<mimic joint=\"{joint}\" multiplier=\"2\" offset=\"0.5\"/>"),
        };
        text += &format!(
            "<joint name=\"{name}\" type=\"revolute\"><parent link=\"{parent}\"/>\
             <child link=\"{child}\"/>{LIMIT}{mimic}</joint>\n"
        );
    }
    text + "</robot>"
}

#[test]
fn robots_of_the_repository_read_with_the_warnings_they_deserve() {
    for (robot, expected) in [
        ("mini_cheetah", &[][..]),
        ("solo12", &["not used: <contact> (13, first on line 9)"]),
        ("icub", &["not used: <sensor> (83, first on line 1798)"]),
    ] {
        let (_, warnings) = floating(&urdf(robot)).unwrap();
        let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        assert_eq!(warnings, expected, "{robot}");
    }
    // Its depth cameras and hatch break the triangle inequality.
    let (_, warnings) = floating(&urdf("anymal_c")).unwrap();
    let is_used = |warning: &Warning| !matches!(warning, Warning::NotUsed { .. });
    let warnings: Vec<Warning> = warnings.into_iter().filter(is_used).collect();
    // One warning lists them.
    let [warning] = &warnings[..] else { panic!("{warnings:?}") };
    let Warning::NonPhysicalInertia { link, others, .. } = warning else { panic!("{warning}") };
    assert_eq!(others.len(), 4);
    for link in others.iter().chain([link]) {
        assert!(link.starts_with("depth_camera_") || link == "hatch", "{warning}");
        assert!(warning.to_string().contains(link), "{warning}");
    }
}

#[test]
fn mini_cheetah_is_read_in_full() {
    let text = urdf("mini_cheetah");
    let mut options = Options::new(Base::Floating);
    options.rotor_inertia = vec![("*".into(), 0.002268), ("*_knee_joint".into(), 0.0054840807)];
    let (model, _) = Model::from_urdf_text(&text, &options).unwrap();
    assert_eq!((model.configuration_dim(), model.velocity_dim()), (19, 18));
    assert_eq!(model.body_count(), 13);
    assert_eq!(model.name(), "mini_cheetah");
    let knee = model.find_joint("HR_knee_joint").unwrap();
    assert_eq!(knee.index(), 11);
    let joint = model.joint(knee);
    assert_eq!(joint.kind, JointKind::Revolute);
    assert_eq!((joint.lower, joint.upper), (-2.75, 2.75));
    assert_eq!((joint.effort, joint.velocity), (27.99, 40.0));
    assert_eq!(model.rotors().diagonal()[9..], [0.002268, 0.002268, 0.0054840807]);
    let foot = model.find_frame("FL_foot").unwrap();
    assert_eq!(model.frame(foot).name, "FL_foot");
    let shapes: Vec<_> = model.collisions_of(foot).collect();
    assert_eq!(shapes.len(), 1);
    assert_eq!(shapes[0].shape, Shape::Sphere { radius: 0.0175 });
    assert!(model.find_frame("no_such_link").is_none());
}

#[test]
fn mimic_joints_follow_or_move_on_their_own() {
    let text = urdf("panda");
    let (model, warnings) = Model::from_urdf_text(&text, &Options::new(Base::Fixed)).unwrap();
    let [Warning::NotUsed { what }] = &warnings[..] else { panic!("{warnings:?}") };
    let unused: Vec<(&str, usize)> =
        what.iter().map(|what| (what.name.as_str(), what.count)).collect();
    let of_dynamics =
        ["D", "K", "mu_coulomb", "mu_viscous"].map(|key| format!("`{key}` of <dynamics>"));
    let mut expected = vec![("<safety_controller>", 7)];
    expected.extend(of_dynamics.iter().map(|name| (name.as_str(), 7)));
    assert_eq!(unused, expected);
    assert_eq!((model.joints().len(), model.velocity_dim()), (8, 8));
    let [finger] = model.mimic_joints() else { panic!("{:?}", model.mimic_joints()) };
    assert_eq!(finger.name, "panda_finger_joint2");
    assert_eq!(model.joint(finger.joint).name, "panda_finger_joint1");
    assert_eq!((finger.multiplier, finger.offset), (1.0, 0.0));

    let options = Options { mimic: MimicJoints::Independent, ..Options::new(Base::Fixed) };
    let (model, warnings) = Model::from_urdf_text(&text, &options).unwrap();
    assert_eq!(model.joints().len(), 9);
    assert!(model.mimic_joints().is_empty());
    assert!(
        matches!(&warnings[..], [Warning::MimicIgnored { mimicked, .. }, Warning::NotUsed { .. }]
        if mimicked == "panda_finger_joint1")
    );
}

/// What other readers load is read: the joint moves on its own, and a warning says so.
#[test]
fn mimic_tags_that_lead_nowhere_are_warnings() {
    let mimic = |joint: &str| format!("{LIMIT}<mimic joint=\"{joint}\"/>");
    let cases = [
        (two_links("revolute", &mimic("jj")), 6, 1, "no joint has that name"),
        (two_links("fixed", &mimic("j")), 6, 0, "`j` is fixed"),
        (three_links("", "i", "long_name").replace("\"k\"", "\"long_nam\""), 9, 2, "no joint has"),
        (three_links("", "i", "j").replacen("revolute", "planar", 1), 8, 2, "`i` is planar"),
        (three_links("", "i", "j").replacen("revolute", "fixed", 1), 8, 1, "`i` is fixed"),
        (three_links("", "j", "").replacen("revolute", "floating", 2), 8, 3, "`j` is floating"),
    ];
    for (text, at, own, words) in cases {
        let (model, warnings) = floating(&text).unwrap();
        assert_eq!(model.joints().len(), own, "{words}");
        let found = warnings.iter().find(|w| matches!(w, Warning::MimicUnusable { .. }));
        let Some(warning @ Warning::MimicUnusable { line, .. }) = found else {
            panic!("{words}: {warnings:?}")
        };
        assert_eq!(*line, at, "{warning}");
        assert!(warning.to_string().contains(words), "{warning}");
    }
}

/// Of several trees the largest is the robot; what belongs to the others is no part of it.
#[test]
fn the_largest_of_several_trees_is_read() {
    let text = format!(
        "<robot name=\"r\">\n<link name=\"stand\">{BODY}</link>\n<link name=\"a\">{BODY}</link>\n\
         <link name=\"b\">{BODY}</link>\n<link name=\"loose\"><collision><geometry>\
         <sphere radius=\"1\"/></geometry></collision></link>\n<joint name=\"j\" \
         type=\"continuous\"><parent link=\"a\"/><child link=\"b\"/></joint></robot>"
    );
    let (model, warnings) = floating(&text).unwrap();
    let names: Vec<&str> = model.frames().iter().map(|frame| frame.name.as_str()).collect();
    assert_eq!((names, model.total_mass()), (vec!["a", "b"], 2.0));
    assert!(model.collisions().is_empty());
    let [Warning::OtherRoots { root, left_out, line: 2 }] = &warnings[..] else {
        panic!("{warnings:?}")
    };
    assert_eq!(
        (root.as_str(), &left_out[..]),
        ("a", &["stand".to_owned(), "loose".to_owned()][..])
    );
}

#[test]
fn axis_default_limits_and_friction() {
    let dynamics = r#"<dynamics damping="0.5" friction="0.25"/>"#;
    let text = two_links("prismatic", &format!("{LIMIT}{dynamics}<origin xyz=\"0 0 1\"/>"));
    let (model, _) = floating(&text).unwrap();
    let joint = &model.joints()[0];
    assert_eq!((joint.lower, joint.upper, joint.effort, joint.velocity), (-1.0, 2.0, 3.0, 4.0));
    assert_eq!((joint.damping, joint.friction), (0.5, 0.25));
    let mut q = model.zero_configuration();
    q[7] = 0.5;
    let mut kinematics = Kinematics::new(&model);
    kinematics.update(&model, &q, &[0.0; 7]);
    let b = world_from_frame(&model, &kinematics, model.find_frame("b").unwrap());
    // URDF's default axis is x.
    assert_eq!(b.translation, Vector3::new(0.5, 0.0, 1.0));
}

#[test]
fn limits_default_as_the_format_says() {
    const FREE: [f64; 4] = [f64::NEG_INFINITY, f64::INFINITY, f64::INFINITY, f64::INFINITY];
    let limits = |text: &str| {
        let (model, warnings) = floating(text).unwrap();
        let joint = &model.joints()[0];
        ([joint.lower, joint.upper, joint.effort, joint.velocity], warnings)
    };
    let (free, warnings) = limits(&two_links("revolute", ""));
    assert_eq!(free, FREE);
    assert!(matches!(&warnings[..], [Warning::NoLimit { line: 6, .. }]), "{warnings:?}");
    let (turning, warnings) = limits(&two_links("continuous", LIMIT));
    assert_eq!(turning, [f64::NEG_INFINITY, f64::INFINITY, 3.0, 4.0]);
    assert!(warnings.is_empty(), "{warnings:?}");
    let (half, warnings) = limits(&two_links("prismatic", "<limit upper=\"2\"/>"));
    assert_eq!(half, [0.0, 2.0, f64::INFINITY, f64::INFINITY]);
    assert!(warnings.is_empty(), "{warnings:?}");
    let (locked, warnings) = limits(&two_links("revolute", "<limit effort=\"1\" velocity=\"2\"/>"));
    assert_eq!(locked, [0.0, 0.0, 1.0, 2.0]);
    assert!(
        matches!(&warnings[..], [Warning::Locked { line: 6, position: 0.0, .. }]),
        "{warnings:?}"
    );
    // From version 1.2 on, a missing limit is no limit.
    let newer = |content| {
        two_links("revolute", content).replace("name=\"r\"", "name=\"r\" version=\"1.2\"")
    };
    assert_eq!(limits(&newer("<limit effort=\"1\" velocity=\"2\"/>")).0[..2], FREE[..2]);
    assert_eq!(limits(&newer(LIMIT)).0, [-1.0, 2.0, 3.0, 4.0]);
    for kind in ["planar", "spherical", "floating"] {
        let (wide, warnings) = limits(&two_links(kind, ""));
        assert_eq!(wide, FREE);
        assert!(warnings.is_empty(), "{kind}: {warnings:?}");
    }
    // Elements about calibration and safety do not describe the mechanism.
    let ignored = r#"<calibration rising="x"/><safety_controller k_velocity="y"/>"#;
    let (_, warnings) = limits(&two_links("revolute", &format!("{LIMIT}{ignored}")));
    let [Warning::NotUsed { what }] = &warnings[..] else { panic!("{warnings:?}") };
    let names: Vec<&str> = what.iter().map(|what| what.name.as_str()).collect();
    assert_eq!(names, ["<calibration>", "<safety_controller>"]);
}

#[test]
fn unphysical_inertia_is_a_warning_with_names_and_numbers() {
    let text = two_links("fixed", "").replacen("izz=\"1\"", "izz=\"5\"", 1);
    let (_, warnings) = floating(&text).unwrap();
    let [warning] = &warnings[..] else { panic!("{warnings:?}") };
    let Warning::NonPhysicalInertia { link, moments, .. } = warning else { panic!("{warning}") };
    assert_eq!((link.as_str(), moments), ("a", &[1.0, 1.0, 5.0]));
    assert_eq!(
        warning.to_string(),
        "line 2: link `a`: no body of 1 kg has principal moments [1.0, 1.0, 5.0] kg m²: they must be \
         positive and none may exceed the sum of the others"
    );
}

#[test]
fn massless_leaf_is_warned_of_and_its_joint_named() {
    let text = two_links("revolute", LIMIT);
    let at = text.rfind(BODY).unwrap();
    let text = format!("{}{}", &text[..at], &text[at + BODY.len()..]);
    let (model, warnings) = floating(&text).unwrap();
    assert!(matches!(&warnings[..], [Warning::MovesNoMass { joint, .. }] if joint == "j"));
    let factorize = |model: &Model| {
        let mut mass = MassMatrix::new(model);
        mass_matrix(model, &Kinematics::new(model), &mut mass);
        MassFactor::new(model).factorize(&mass)
    };
    let error = factorize(&model).unwrap_err();
    assert_eq!(error.coordinate, "j");
    assert!(factorize(&model.with_rotor_inertia(&[0.01]).unwrap()).is_ok());
}

#[test]
fn rotor_inertia_is_checked() {
    let (model, _) = floating(&two_links("revolute", LIMIT)).unwrap();
    let wrong = |values: &[f64]| model.clone().with_rotor_inertia(values).unwrap_err();
    assert!(matches!(wrong(&[]), ModelError::RotorInertiaLength { expected: 1, found: 0 }));
    assert!(matches!(wrong(&[-1.0]), ModelError::RotorInertiaValue { .. }));
    assert!(matches!(wrong(&[f64::NAN]), ModelError::RotorInertiaValue { .. }));
    let named = model.clone().with_named_rotor_inertia(&[("knee*".into(), 1.0)]);
    assert!(matches!(named, Err(ModelError::NoSuchJoint { .. })));
}

/// Each bad text, the line of its error (0: none) and words of the message.
#[test]
fn bad_texts_are_refused_with_line_and_reason() {
    let link = |name: &str| format!("<link name=\"{name}\"/>\n");
    let joint = |name: &str, parent: &str, child: &str| {
        format!(
            "<joint name=\"{name}\" type=\"fixed\"><parent link=\"{parent}\"/>\
             <child link=\"{child}\"/></joint>\n"
        )
    };
    let robot = |content: String| format!("<robot name=\"r\">\n{content}</robot>");
    let deep = ["<robot>", &"<a>".repeat(100_000), &"</a>".repeat(100_000), "</robot>"].concat();
    let version = |version: &str, content: &str| {
        two_links("revolute", content)
            .replace("name=\"r\"", &format!("name=\"r\" version=\"{version}\""))
    };
    let cases: Vec<(String, usize, &str)> = vec![
        (String::new(), 1, "no element"),
        ("hello".into(), 1, "not well-formed"),
        ("<robot".into(), 1, "ends before"),
        ("<robot>\n<link name=\"a\">\n</robot>".into(), 3, "expected `</link>`, found `</robot>`"),
        ("<robot></robot></robot>".into(), 1, "not well-formed"),
        ("<robot/><robot/>".into(), 1, "not well-formed"),
        ("<robot name=\"a\" name=\"b\"/>".into(), 1, "occurs twice"),
        ("<robot name=a/>".into(), 1, "not well-formed"),
        ("<robot name=\"a/>".into(), 1, "ends before"),
        ("<robot name=\"&e;\"/>".into(), 1, "unknown entity"),
        ("<robot name=\"&#0;\"><link name=\"a\"/></robot>".into(), 1, "not well-formed"),
        ("<!DOCTYPE r [<!ENTITY a \"b\">]><robot/>".into(), 1, "document type"),
        ("<!-- <robot/>".into(), 1, "not well-formed"),
        (deep, 1, "nested deeper"),
        ("<model/>".into(), 1, "expected <robot>, found another element"),
        ("<mujoco/>".into(), 1, "expected <robot>, found <mujoco>"),
        ("</robot>".into(), 1, "expected <robot>, found no element"),
        ("<robot name=\"r\"/>".into(), 0, "at least one link"),
        (robot("<link/>".into()), 2, "no `name`"),
        (robot("<link name=\" \"/>".into()), 2, "empty `name`"),
        (robot(link("a") + &link("a")), 3, "exists already on line 2"),
        (robot(link("a") + &joint("j", "a", "a")), 2, "cycle: a -> a"),
        (
            robot(link("a") + &link("b") + &joint("j", "a", "b") + &joint("k", "b", "a")),
            2,
            "cycle: a -> b -> a",
        ),
        (
            robot(
                link("r") + &link("a") + &link("b") + &joint("j", "a", "b") + &joint("k", "b", "a"),
            ),
            3,
            "cycle",
        ),
        (robot(link("trunk") + &link("b") + &joint("j", "trnk", "b")), 4, "mean `trunk`?"),
        (robot(link("a") + &link("b") + &joint("j", "a", "c")), 4, "no link is named `c`"),
        (
            robot(link("a") + &link("b") + &joint("j", "a", "b") + &joint("k", "a", "b")),
            5,
            "child of joint `k` and of joint `j`",
        ),
        (
            robot(
                link("a") + &link("b") + &link("c") + &joint("j", "a", "b") + &joint("j", "a", "c"),
            ),
            6,
            "joint named `j` exists already on line 5",
        ),
        (two_links("revolute", &format!("{LIMIT}<mimic joint=\"j\"/>")), 6, "cycle: j -> j"),
        (three_links("j", "k", "j"), 8, "cycle: j -> k -> j"),
        (three_links("k", "i", "j"), 7, "cycle: i -> k -> j -> i"),
        (
            three_links("", "i", "j").replace("multiplier=\"2\"", "multiplier=\"1e200\""),
            9,
            "joint `k`: expected a finite multiplier and offset",
        ),
        (
            two_links("revolute", &format!("{LIMIT}<mimic joint=\"j\" multiplier=\"inf\"/>")),
            6,
            "found `inf`",
        ),
        (two_links("hinge", ""), 6, "joint type"),
        (two_links("revolute", "<axis xyz=\"0 0 0\"/>"), 6, "axis that is not zero"),
        (two_links("revolute", "<axis xyz=\"0 nan 0\"/>"), 6, "found `0 nan 0`"),
        (two_links("revolute", "<axis xyz=\"0 x 0 1\"/>"), 6, "3 times a finite number"),
        (two_links("revolute", "<axis xyz=\"0 1\"/>"), 6, "3 times a finite number"),
        (two_links("revolute", "<axis/>"), 6, "<axis> has no `xyz`"),
        (two_links("revolute", "<origin xyz=\"0 0 inf\"/>"), 6, "finite number"),
        (two_links("revolute", "<origin rpy=\"0 0 1e999\"/>"), 6, "finite number"),
        (two_links("revolute", "<origin/><origin/>"), 6, "a second <origin>"),
        (two_links("planar", "<axis xyz=\"0 0 0\"/>"), 6, "axis that is not zero"),
        (two_links("revolute", "<limit effort=\"-1\"/>"), 6, "number not below zero"),
        (two_links("revolute", "<limit velocity=\"nan\"/>"), 6, "found `nan`"),
        (version("1.1", "<origin quat_xyzw=\"0 0 0 0\"/>"), 6, "not all zero"),
        (version("1.1", "<origin quat_xyzw=\"0 0 1\"/>"), 6, "4 times a finite number"),
        (version("1.1", "<origin rpy=\"0 0 0\" quat_xyzw=\"0 0 0 1\"/>"), 6, "has both"),
        (version("1.2", "<limit lower=\"1\" upper=\"0\"/>"), 6, "lower <= upper"),
        (
            two_links("revolute", "<limit lower=\"1\" upper=\"0\" effort=\"1\" velocity=\"1\"/>"),
            6,
            "lower <= upper",
        ),
        (
            two_links("revolute", "<limit lower=\"nan\" effort=\"1\" velocity=\"1\"/>"),
            6,
            "found `nan`",
        ),
        (two_links("revolute", "<dynamics damping=\"-1\"/>"), 6, "not below zero"),
        (
            robot("<joint name=\"j\" type=\"fixed\"><child link=\"a\"/></joint>".into()),
            2,
            "<joint> `j` has no <parent>",
        ),
        (two_links("fixed", "").replace("mass value=\"1\"", "mass value=\"-1\""), 2, "below zero"),
        (two_links("fixed", "").replace("mass value=\"1\"", "mass value=\"nan\""), 2, "`nan`"),
        (two_links("fixed", "").replace("<mass value=\"1\"/>", ""), 2, "no <mass>"),
        (two_links("fixed", "").replace("ixx=\"1\"", ""), 3, "no `ixx`"),
        (two_links("fixed", "").replace("\"1\"", "\"1e308\""), 0, "not finite"),
        (robot("<link name=\"a\"><collision/></link>".into()), 2, "no <geometry>"),
        (
            robot("<link name=\"a\"><collision><geometry/></collision></link>".into()),
            2,
            "expected one of box",
        ),
        (
            robot(
                "<link name=\"a\"><collision><geometry><sphere radius=\"-1\"/></geometry>\
                 </collision></link>"
                    .into(),
            ),
            2,
            "not below zero",
        ),
    ];
    for (text, line, words) in cases {
        let head: String = text.chars().take(300).collect();
        match floating(&text) {
            Ok(_) => panic!("no error ({words}): {head}"),
            Err(error) => {
                assert!(error.to_string().contains(words), "{error}\nexpected: {words}\n{head}");
                assert_eq!(error.line().unwrap_or(0), line, "{error}\n{head}");
            }
        }
    }
}

/// Sizes that would cost quadratic time or memory are refused early.
#[test]
fn absurd_sizes_are_refused() {
    use std::fmt::Write as _;
    let mut text = String::from("<robot ");
    for i in 0..300_000 {
        write!(text, "a{i}=\"\" ").unwrap();
    }
    let error = floating(&(text + "/>")).unwrap_err();
    assert!(error.to_string().contains("attributes"), "{error}");
    let mut text = String::from("<robot><link name=\"l0\"/>");
    for i in 1..=5000 {
        write!(
            text,
            "<link name=\"l{i}\"/><joint name=\"j{i}\" type=\"continuous\">\
             <parent link=\"l{}\"/><child link=\"l{i}\"/></joint>",
            i - 1
        )
        .unwrap();
    }
    let error = floating(&(text + "</robot>")).unwrap_err();
    assert!(matches!(error, UrdfError::TooManyJoints { found: 5000, .. }), "{error}");
}

/// Long chains are walked without recursion.
#[test]
fn long_chain_is_read() {
    use std::fmt::Write as _;
    let count = 2_000;
    let mut text = String::from("<robot name=\"chain\"><link name=\"l0\"/>\n");
    for i in 1..=count {
        write!(
            text,
            "<link name=\"l{i}\">{BODY}</link><joint name=\"j{i}\" type=\"continuous\">\
             <parent link=\"l{}\"/><child link=\"l{i}\"/></joint>",
            i - 1
        )
        .unwrap();
    }
    text.push_str("</robot>");
    let (model, _) = floating(&text).unwrap();
    assert_eq!((model.joints().len(), model.total_mass()), (count, count as f64));
}
