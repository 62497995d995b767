use super::*;

fn robot(file: &str, request: &Request) -> Result<Robot, Error> {
    Library::new(legwork_blocks::register).robot(file, request)
}

fn in_folder(name: &str, text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("written");
    (folder, path.display().to_string())
}

const ARM: &str = r#"<robot name="arm">
  <link name="base"><collision><geometry><box size="0.2 0.1 0.1"/></geometry></collision></link>
  <link name="rod"><inertial><origin xyz="0.1 0 0"/><mass value="2"/>
    <inertia ixx="1" iyy="2" izz="4" ixy="0.1" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 1"/><geometry><sphere radius="0.5"/></geometry></collision></link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="rod"/>
    <origin xyz="0 0 0.5"/><axis xyz="0 1 0"/><safety_controller k="1"/>
    <limit lower="-1" upper="2" effort="30" velocity="4"/>
    <dynamics damping="0.5" friction="0.25"/></joint>
  <transmission name="t"/>
</robot>"#;

#[test]
fn the_summary_is_what_the_file_says() {
    let (_folder, path) = in_folder("arm.urdf", ARM);
    let arm = robot(&path, &Request { is_fixed: true, ..Request::default() }).expect("a robot");
    let summary = arm.summary();
    assert_eq!((summary.n, summary.mass, summary.is_floating), (1, 2.0, false));
    let joint = &summary.joints[0];
    assert_eq!((joint.lower, joint.upper, joint.effort), (Some(-1.0), Some(2.0), Some(30.0)));
    assert_eq!((joint.damping, joint.friction), (0.5, 0.25));
    let [base, rod] = &summary.links[..] else { panic!("{:?}", summary.links) };
    assert_eq!((base.depth, &base.inertia), (0, &None));
    assert_eq!((rod.parent.as_deref(), rod.joint.as_deref()), (Some("base"), Some("turn")));
    // 4 > 1 + 2: no body has these moments; only z is an axis of symmetry.
    let inertia = rod.inertia.as_ref().expect("an inertia");
    assert!(inertia.is_positive && !inertia.is_triangle);
    assert_eq!((inertia.center, &inertia.symmetric_axes[..]), ([0.1, 0.0, 0.0], &['z'][..]));
    let warnings = summary.warnings.join("\n");
    assert!(warnings.contains("<safety_controller> (line 7)"), "{warnings}");
    assert!(warnings.contains("not used: <transmission> (line 10)"), "{warnings}");
}

/// Bones and shapes are where forward kinematics has them.
#[test]
fn the_view_is_that_of_the_pose() {
    let (folder, _) = in_folder("arm.urdf", ARM);
    let file = folder.path().join("arm.ron");
    let text =
        r#"Urdf(path: "arm.urdf", base: Fixed, keyframes: { "low": (s: { "turn": "90 deg" }) })"#;
    std::fs::write(&file, text).expect("written");
    let arm = robot(&file.display().to_string(), &Request::default()).expect("a robot");
    let middle = |view: &View| {
        let ball = &view.solids[1].points;
        let sum =
            ball.iter().fold([0.0; 3], |sum, p| [sum[0] + p[0], sum[1] + p[1], sum[2] + p[2]]);
        sum.map(|sum| sum / ball.len() as f64)
    };
    let near = |a: [f64; 3], b: [f64; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
    let zero = arm.view(None).expect("a view");
    assert_eq!((zero.bones[0].from, zero.bones[0].to), ([0.0; 3], [0.0, 0.0, 0.5]));
    assert!(near(middle(&zero), [0.0, 0.0, 1.5]), "{:?}", middle(&zero));
    // A quarter turn about y takes z to x.
    let low = arm.view(Some("low")).expect("a view");
    assert!(near(middle(&low), [1.0, 0.0, 0.5]), "{:?}", middle(&low));
    let error = arm.view(Some("lo")).expect_err("no such pose");
    assert!(error.message().contains("no pose `lo`; there are low"), "{error}");
}

#[test]
fn what_is_no_robot_is_told() {
    let (_folder, path) = in_folder("arm.urdf", "<robot><link/></robot>");
    let error = robot(&path, &Request::default()).expect_err("no robot");
    assert!(error.message().contains("line 1: <link> has no `name`"), "{error}");
    let error = robot("/no/such/file.urdf", &Request::default()).expect_err("no file");
    assert!(error.message().contains("no file"), "{error}");
    let error = robot("std:robots/mini_cheeta.ron", &Request::default()).expect_err("no file");
    assert!(error.message().contains("mini_cheeta"), "{error}");
}

#[test]
fn macros_take_arguments_and_packages() {
    let (folder, path) = in_folder(
        "arm.xacro",
        r#"<robot name="arm" xmlns:xacro="x"><xacro:arg name="mass" default="1"/>
        <xacro:include filename="$(find parts)/rod.xacro"/><xacro:rod mass="$(arg mass)"/></robot>"#,
    );
    let part = folder.path().join("elsewhere");
    std::fs::create_dir(&part).expect("made");
    let rod = r#"<robot xmlns:xacro="x"><xacro:macro name="rod" params="mass"><link name="rod">
        <inertial><mass value="${mass}"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
        </inertial></link></xacro:macro></robot>"#;
    std::fs::write(part.join("rod.xacro"), rod).expect("written");
    let one = |name: &str, value: &str| BTreeMap::from([(name.to_owned(), value.to_owned())]);
    let stated = Request {
        arguments: one("mass", "2.5"),
        packages: one("parts", "elsewhere"),
        ..Request::default()
    };
    assert_eq!(robot(&path, &stated).expect("a robot").summary().mass, 2.5);
    // Without the map, the package is the folder whose package.xml has its name.
    let error = robot(&path, &Request::default()).expect_err("no package");
    assert!(error.message().contains("state its folder"), "{error}");
    std::fs::write(folder.path().join("package.xml"), "<package><name>parts</name></package>")
        .expect("written");
    std::fs::copy(part.join("rod.xacro"), folder.path().join("rod.xacro")).expect("copied");
    assert_eq!(robot(&path, &Request::default()).expect("a robot").summary().mass, 1.0);
    let wrong = Request { arguments: one("masss", "1"), ..Request::default() };
    let error = robot(&path, &wrong).expect_err("no such argument");
    assert!(error.message().contains("did you mean `mass`?"), "{error}");
}
