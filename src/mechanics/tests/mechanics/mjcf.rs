//! Models of MuJoCo: each equals a robot that is written another way, and mistakes have a place.

mod errors;
mod files;

use std::collections::BTreeMap;

use legwork_mechanics::nalgebra::{DMatrix, Matrix3, Rotation3, UnitQuaternion, Vector3};
use legwork_mechanics::{
    Base, JointKind, JointSpring, Mjcf, MjcfErrors, MjcfOptions, Model, Options, Placement,
    kinetic_energy, world_from_frame,
};

use crate::quantities::{bias_at, dense_mass_at, distance, kinematics_at, relative};
use crate::random::{Rng, random_state};

/// Reads `model.xml` among these files.
pub(crate) fn read(
    files: &[(&str, &str)],
    change: impl FnOnce(&mut MjcfOptions<'_>),
) -> Result<Mjcf, MjcfErrors> {
    let files: BTreeMap<&str, &str> = files.iter().copied().collect();
    let read = |path: &str| match files.get(path) {
        Some(text) => Ok(text.as_bytes().to_vec()),
        None => Err(format!("no file `{path}`")),
    };
    let mut options = MjcfOptions {
        read: &read,
        base: None,
        mount: Placement::identity(),
        gravity: None,
        coupled: true,
        welded: Vec::new(),
    };
    change(&mut options);
    Model::from_mjcf("model.xml", &options)
}

/// A model whose inside is given, read as it is.
pub(crate) fn inside(text: &str) -> Mjcf {
    let text = format!("<mujoco>{text}</mujoco>");
    read(&[("model.xml", &text)], |_| ()).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// A body in the world.
fn body(text: &str) -> Mjcf {
    inside(&format!("<worldbody><body name=\"b\">{text}</body></worldbody>"))
}

/// M, h and the frames of these names are equal at random states; `shift` is added to the first's
/// configuration for the second.
pub(crate) fn assert_equal(first: &Model, second: &Model, names: &[&str], shift: &[f64]) {
    for seed in 0..20 {
        let (q, nu) = random_state(first, seed);
        let shifted: Vec<f64> = q.iter().zip(shift).map(|(q, shift)| q + shift).collect();
        let here = kinematics_at(first, &q, &nu);
        let there = kinematics_at(second, &shifted, &nu);
        let (m, n) = (dense_mass_at(first, &here), dense_mass_at(second, &there));
        let error = relative(m.as_slice(), n.as_slice());
        assert!(error < 1e-12, "seed {seed}: mass matrices differ by {error:.1e}");
        let (h, k) = (bias_at(first, &here), bias_at(second, &there));
        let error = relative(h.as_slice(), k.as_slice());
        assert!(error < 1e-12, "seed {seed}: bias forces differ by {error:.1e}");
        for name in names {
            let at = |model: &Model, kinematics| {
                world_from_frame(model, kinematics, model.find_frame(name).unwrap())
            };
            let (a, b) = (at(first, &here), at(second, &there));
            let error = (a.translation - b.translation).norm() + (a.rotation - b.rotation).norm();
            assert!(error < 1e-12, "seed {seed}: frame `{name}` differs by {error:.1e}");
        }
    }
}

pub(crate) const SEVERAL: &str = r#"<compiler eulerseq="XYZ"/><worldbody>
  <body name="a" pos="0.1 0.2 0.3" euler="20 30 40">
    <joint name="x" type="slide" axis="1 0.5 0"/>
    <joint name="h" type="hinge" axis="0 1 1" pos="0.05 0 0.1" ref="10"/>
    <inertial pos="0.01 0.02 0.03" mass="2" diaginertia="0.1 0.2 0.25"/>
    <body name="b" pos="0 0 0.4">
      <joint name="ball" type="ball" pos="0 0 -0.1"/>
      <inertial pos="0 0 0.1" mass="1" fullinertia="0.05 0.06 0.07 0.001 0.002 -0.003"/>
      <body name="c" pos="0.2 0 0">
        <joint name="y" type="hinge" axis="0 -1 0" pos="0 0.1 0"/>
        <joint name="z" type="hinge" axis="0 0 2"/>
        <inertial pos="0.3 0 0" mass="0.5" diaginertia="0.01 0.01 0.01"/>
      </body>
    </body>
  </body></worldbody>"#;

/// The same with a link for each joint.
fn several_as_urdf() -> Model {
    let rpy =
        [20.0_f64, 30.0, 40.0].map(|angle| (angle / 180.0 * std::f64::consts::PI).to_string());
    let links = ["world", "x", "h", "ball", "y"].map(|name| format!("<link name=\"{name}\"/>"));
    let solid = |name: &str, at: &str, mass: &str, moments: [&str; 6]| {
        let [xx, yy, zz, xy, xz, yz] = moments;
        format!(
            "<link name=\"{name}\"><inertial><origin xyz=\"{at}\"/><mass value=\"{mass}\"/>\
             <inertia ixx=\"{xx}\" iyy=\"{yy}\" izz=\"{zz}\" ixy=\"{xy}\" ixz=\"{xz}\" \
             iyz=\"{yz}\"/></inertial></link>"
        )
    };
    let joint = |name: &str, kind: &str, ends: [&str; 2], xyz: &str, rpy: &str, axis: &str| {
        format!(
            "<joint name=\"{name}\" type=\"{kind}\"><parent link=\"{}\"/><child link=\"{}\"/>\
             <origin xyz=\"{xyz}\" rpy=\"{rpy}\"/><axis xyz=\"{axis}\"/>\
             <limit effort=\"1\" velocity=\"1\" lower=\"-9\" upper=\"9\"/></joint>",
            ends[0], ends[1]
        )
    };
    let parts = [
        solid("a", "0.01 0.02 0.03", "2", ["0.1", "0.2", "0.25", "0", "0", "0"]),
        solid("b", "0 0 0.1", "1", ["0.05", "0.06", "0.07", "0.001", "0.002", "-0.003"]),
        solid("c", "0.3 0 0", "0.5", ["0.01", "0.01", "0.01", "0", "0", "0"]),
        joint("sx", "prismatic", ["world", "x"], "0.1 0.2 0.3", &rpy.join(" "), "1 0.5 0"),
        joint("sh", "revolute", ["x", "h"], "0.05 0 0.1", "0 0 0", "0 1 1"),
        joint("fa", "fixed", ["h", "a"], "-0.05 0 -0.1", "0 0 0", "1 0 0"),
        joint("sball", "spherical", ["a", "ball"], "0 0 0.3", "0 0 0", "1 0 0"),
        joint("fb", "fixed", ["ball", "b"], "0 0 0.1", "0 0 0", "1 0 0"),
        joint("sy", "revolute", ["b", "y"], "0.2 0.1 0", "0 0 0", "0 -1 0"),
        joint("sz", "revolute", ["y", "c"], "0 -0.1 0", "0 0 0", "0 0 1"),
    ];
    let text = format!("<robot name=\"r\">{}{}</robot>", links.concat(), parts.concat());
    Model::from_urdf_text(&text, &Options::new(Base::Fixed)).unwrap().0
}

#[test]
fn a_body_with_several_joints_is_a_chain_of_links() {
    let model = inside(SEVERAL).model;
    let ten = 10.0 / 180.0 * std::f64::consts::PI;
    let shift = [0.0, -ten, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    assert_eq!(model.joints()[1].kind, JointKind::Continuous);
    assert_equal(&model, &several_as_urdf(), &["a", "b", "c"], &shift);
}

#[test]
fn defaults_frames_and_replicas_are_what_they_stand_for() {
    let short = inside(
        r#"<compiler angle="radian"/>
        <default>
          <geom density="500"/><joint armature="0.1"/>
          <default class="arm">
            <geom type="capsule" size="0.02"/><joint axis="0 1 0" damping="2"/>
            <default class="hand"><joint type="slide" range="-0.1 0.1"/></default>
          </default>
        </default>
        <worldbody>
          <body name="hub" childclass="arm">
            <joint name="yaw" class="main"/>
            <geom type="box" class="main" size="0.1 0.1 0.05"/>
            <replicate count="3" offset="0.01 0 0" euler="0 0 2.0943951023931953" sep="-">
              <frame pos="0.1 0 0" euler="0.1 0 0">
                <body name="arm">
                  <joint name="lift"/><geom fromto="0 0 0 0.3 0 0"/>
                  <body name="hand" pos="0.3 0 0">
                    <joint name="grip" class="hand"/><geom type="sphere" size="0.05"/>
                    <site name="palm" pos="0.05 0 0"/>
                  </body>
                </body>
              </frame>
            </replicate>
          </body>
        </worldbody>"#,
    );
    let third = 2.0 * std::f64::consts::FRAC_PI_3;
    let mut arms = String::new();
    let mut at = Vector3::zeros();
    for i in 0..3 {
        let turn = Rotation3::from_axis_angle(&Vector3::z_axis(), third * f64::from(i));
        let frame = turn * Rotation3::from_axis_angle(&Vector3::x_axis(), 0.1);
        let p = at + turn * Vector3::new(0.1, 0.0, 0.0);
        let q = UnitQuaternion::from_rotation_matrix(&frame);
        arms += &format!(
            r#"<body name="arm-{i}" pos="{} {} {}" quat="{} {} {} {}">
              <joint name="lift-{i}" axis="0 1 0" damping="2" armature="0.1"/>
              <geom type="capsule" size="0.02 0.15" pos="0.15 0 0" zaxis="1 0 0" density="500"/>
              <body name="hand-{i}" pos="0.3 0 0">
                <joint name="grip-{i}" type="slide" axis="0 1 0" damping="2" armature="0.1"
                       limited="true" range="-0.1 0.1"/>
                <geom size="0.05" density="500"/><site name="palm-{i}" pos="0.05 0 0"/>
              </body></body>"#,
            p.x, p.y, p.z, q.w, q.i, q.j, q.k
        );
        at += turn * Vector3::new(0.01, 0.0, 0.0);
    }
    let long = inside(&format!(
        r#"<worldbody><body name="hub"><joint name="yaw" armature="0.1"/>
           <geom type="box" size="0.1 0.1 0.05" density="500"/>{arms}</body></worldbody>"#
    ));
    assert_equal(&short.model, &long.model, &["hub", "arm-1", "hand-2", "palm-2"], &[0.0; 7]);
    for (a, b) in short.model.joints().iter().zip(long.model.joints()) {
        assert_eq!((&a.name, a.kind, a.lower, a.damping), (&b.name, b.kind, b.lower, b.damping));
    }
    assert_eq!(short.model.joints().len(), 7);
    assert_eq!(short.model.joints()[2].upper, 0.1);
    assert_eq!(short.model.rotors().diagonal(), [0.1; 7]);
}

/// All forms of an orientation name one rotation.
#[test]
fn orientations_agree() {
    let turn = Rotation3::from_euler_angles(0.3, 0.0, 0.0);
    let (y, z) = (turn * Vector3::y(), turn * Vector3::z());
    let (sin, cos) = 0.15_f64.sin_cos();
    for form in [
        r#"euler="0.3 0 0""#.to_owned(),
        format!("quat=\"{} {} 0 0\"", 3.0 * cos, 3.0 * sin),
        r#"axisangle="2 0 0 0.3""#.to_owned(),
        format!("xyaxes=\"2 0 0 1 {} {}\"", y.y, y.z),
        format!("zaxis=\"{} {} {}\"", z.x, z.y, z.z),
    ] {
        let model = inside(&format!(
            "<compiler angle=\"radian\"/><worldbody><body name=\"b\" {form}/></worldbody>"
        ));
        // Without joints and without a choice, the world is the base.
        let kinematics = kinematics_at(&model.model, &[], &[]);
        let frame = model.model.find_frame("b").unwrap();
        let found = world_from_frame(&model.model, &kinematics, frame).rotation;
        let error = (found - turn.matrix()).amax();
        assert!(error < 1e-15 * 4.0, "{form}: {error:.1e}");
    }
    // Lower case about moving axes, upper case about fixed ones.
    for (sequence, expected) in [
        (
            "xyz",
            Rotation3::from_euler_angles(0.1, 0.0, 0.0)
                * Rotation3::from_euler_angles(0.0, 0.2, 0.0)
                * Rotation3::from_euler_angles(0.0, 0.0, 0.3),
        ),
        ("XYZ", Rotation3::from_euler_angles(0.1, 0.2, 0.3)),
    ] {
        let model = inside(&format!(
            "<compiler angle=\"radian\" eulerseq=\"{sequence}\"/>\
             <worldbody><body name=\"b\" euler=\"0.1 0.2 0.3\"/></worldbody>"
        ));
        let kinematics = kinematics_at(&model.model, &[], &[]);
        let frame = model.model.find_frame("b").unwrap();
        let found = world_from_frame(&model.model, &kinematics, frame).rotation;
        assert!((found - expected.matrix()).amax() < 1e-15, "{sequence}");
    }
}

#[test]
fn a_joint_that_an_equality_ties_follows() {
    let text = |equality: &str| {
        format!(
            r#"<compiler angle="radian"/><worldbody><body name="a">
              <joint name="p" axis="1 0 0" ref="0.2" armature="0.3"/>
              <inertial pos="0 0.1 0" mass="1" diaginertia="0.1 0.1 0.1"/>
              <body name="b" pos="0 0.2 0"><joint name="q" axis="1 0 0" ref="0.1" armature="0.5"/>
                <inertial pos="0 0.1 0" mass="1" diaginertia="0.1 0.1 0.1"/></body></body>
            </worldbody>{equality}"#
        )
    };
    let tie = r#"<equality><joint joint1="q" joint2="p" polycoef="0.05 2 0 0 0"/></equality>"#;
    let (tied, free) = (inside(&text(tie)), inside(&text("")));
    assert_eq!(tied.model.joint_dim(), 1);
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let (p, rate) = (rng.in_range(-2.0, 2.0), rng.in_range(-2.0, 2.0));
        // MuJoCo: q − q₀ = a₀ + a₁ (p − p₀).
        let q = 0.1 + 0.05 + 2.0 * (p - 0.2);
        let here = kinematics_at(&tied.model, &[p], &[rate]);
        let there = kinematics_at(&free.model, &[p, q], &[rate, 2.0 * rate]);
        let g = DMatrix::from_column_slice(2, 1, &[1.0, 2.0]);
        let expected = (g.transpose() * dense_mass_at(&free.model, &there) * &g)[(0, 0)];
        let found = dense_mass_at(&tied.model, &here)[(0, 0)];
        assert!((found / expected - 1.0).abs() < 1e-13, "seed {seed}: {found} {expected}");
        let tip = |model: &Model, kinematics| {
            world_from_frame(model, kinematics, model.find_frame("b").unwrap())
        };
        let error = tip(&tied.model, &here).rotation - tip(&free.model, &there).rotation;
        assert!(error.amax() < 1e-14, "seed {seed}");
        let energies = (kinetic_energy(&tied.model, &here), kinetic_energy(&free.model, &there));
        assert!((energies.0 - energies.1).abs() < 1e-12 * energies.1, "{energies:?}");
    }
    // Without a second joint it is held at its reference and the constant.
    let held = inside(&text(r#"<equality><joint joint1="q" polycoef="0.05"/></equality>"#));
    assert_eq!(held.model.joint_dim(), 1);
    let here = kinematics_at(&held.model, &[0.7], &[1.0]);
    let there = kinematics_at(&free.model, &[0.7, 0.15], &[1.0, 0.0]);
    let (found, expected) =
        (dense_mass_at(&held.model, &here)[(0, 0)], dense_mass_at(&free.model, &there)[(0, 0)]);
    assert!((found / expected - 1.0).abs() < 1e-13);
    let text = format!("<mujoco>{}</mujoco>", text(tie));
    let apart = read(&[("model.xml", &text)], |options| options.coupled = false).unwrap();
    assert_eq!(apart.model.joint_dim(), 2);
    assert!(apart.warnings[0].contains("the equality of joint `q` is left out"));
}

/// What a rigid body's motion is does not depend on how its file names it.
#[test]
fn keyframes_turn_to_our_axes() {
    let mjcf = inside(
        r#"<worldbody><body name="b" pos="0 0 2" euler="0 0 90"><freejoint name="root"/>
             <geom type="box" size="0.1 0.2 0.3"/>
             <body name="c" pos="0 0 0.3"><joint name="ball" type="ball"/><geom size="0.1"/></body>
           </body></worldbody>
           <keyframe><key name="k" qpos="1 2 3 0 0 0 2  1 1 0 0" qvel="1 2 3 0.1 0.2 0.3 4 5 6"/>
             <key ctrl=""/></keyframe>"#,
    );
    assert!(mjcf.model.trees()[0].is_floating());
    let names: Vec<&str> = mjcf.keyframes.iter().map(|keyframe| keyframe.name.as_str()).collect();
    assert_eq!(names, ["reference", "k", "key_1"]);
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let q = &mjcf.keyframes[1].configuration;
    assert!(distance(q, &[1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0, half, half, 0.0, 0.0]) < 1e-15);
    // Half a turn about z; a quarter about x.
    let nu = &mjcf.keyframes[1].velocity;
    assert!(distance(nu, &[1.0, 2.0, 3.0, -0.1, -0.2, 0.3, 4.0, -6.0, 5.0]) < 1e-14, "{nu:?}");
    let reference = &mjcf.keyframes[0].configuration;
    let expected = [0.0, 0.0, 2.0, half, 0.0, 0.0, half, 1.0, 0.0, 0.0, 0.0];
    assert!(distance(reference, &expected) < 1e-15, "{reference:?}");
    assert_eq!(mjcf.keyframes[2].configuration, *reference);
}

#[test]
fn the_base_is_that_of_the_file_or_as_asked() {
    let free = r#"<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
        <body name="b" pos="0 0 1"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>"#;
    let base = |text: &str, base| {
        let model = read(&[("model.xml", text)], |options| options.base = base);
        model.map(|mjcf| {
            let tree = &mjcf.model.trees()[0];
            let root = mjcf.model.frame(tree.root_frame).name.clone();
            (tree.is_floating(), root, mjcf.model.velocity_dim())
        })
    };
    assert_eq!(base(free, None).unwrap(), (true, "b".to_owned(), 6));
    assert_eq!(base(free, Some(Base::Fixed)).unwrap(), (false, "world".to_owned(), 0));
    // What the base leaves is told.
    let mjcf = read(&[("model.xml", free)], |_| ()).unwrap();
    assert_eq!(mjcf.warnings, ["model.xml: not used: geoms of the world `floor`"]);
    let arm = r#"<mujoco><worldbody><body name="a"><geom size="0.1"/><body name="b" pos="0 0 1">
        <joint/><geom size="0.1"/></body></body></worldbody></mujoco>"#;
    assert_eq!(base(arm, None).unwrap(), (false, "world".to_owned(), 1));
    assert_eq!(base(arm, Some(Base::Floating)).unwrap(), (true, "a".to_owned(), 7));
    let two = r#"<mujoco><worldbody><body name="a"><freejoint/><geom size="0.1"/></body>
        <body name="b"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>"#;
    assert_eq!(base(two, None).unwrap(), (false, "world".to_owned(), 12));
    let message = base(two, Some(Base::Floating)).unwrap_err().to_string();
    assert!(message.contains("a floating base is the only body of the world that moves"));
    // A free joint with armature is a joint, since a base has none.
    let heavy = free.replace("<freejoint/>", r#"<joint type="free" armature="0.5"/>"#);
    assert_eq!(base(&heavy, None).unwrap(), (false, "world".to_owned(), 6));
}

#[test]
fn inertia_follows_the_settings_of_the_compiler() {
    let ball = 4.0 / 3.0 * std::f64::consts::PI * 1e-3 * 1000.0;
    let two = |settings: &str, first: &str| {
        inside(&format!(
            "<compiler {settings}/><worldbody><body name=\"a\"><joint type=\"slide\"/>{first}\
             <geom size=\"0.1\" group=\"2\"/></body></worldbody>"
        ))
        .model
        .total_mass()
    };
    let stated = r#"<inertial pos="0 0 0" mass="7" diaginertia="1 1 1"/>"#;
    for (settings, first, expected) in [
        ("", "", ball),
        ("", stated, 7.0),
        (r#"inertiafromgeom="true""#, stated, ball),
        (r#"inertiagrouprange="0 1""#, "", 0.0),
        (r#"inertiagrouprange="2 2""#, "", ball),
        (r#"boundmass="10""#, stated, 10.0),
        (r#"settotalmass="3""#, stated, 3.0),
        (r#"inertiafromgeom="false""#, "", 0.0),
    ] {
        let found = two(settings, first);
        assert!((found - expected).abs() <= 1e-14 * expected, "{settings} {first}: {found}");
    }
    // The moment about a hinge through the centre.
    let moment = |settings: &str, diagonal: &str| {
        let text = format!(
            "<compiler {settings}/><worldbody><body name=\"a\"><joint axis=\"1 0 0\"/>\
             <inertial pos=\"0 0 0\" mass=\"1\" euler=\"0 20 0\" diaginertia=\"{diagonal}\"/>\
             </body></worldbody>"
        );
        let mjcf = inside(&text);
        let kinematics = kinematics_at(&mjcf.model, &[0.0], &[0.0]);
        (dense_mass_at(&mjcf.model, &kinematics)[(0, 0)], mjcf.warnings)
    };
    let cos = (20.0_f64 / 180.0 * std::f64::consts::PI).cos();
    let (found, _) = moment(r#"boundinertia="0.5""#, "0.1 0.4 0.3");
    assert!((found - 0.5).abs() < 1e-14, "{found}");
    let (found, warnings) = moment("", "0.1 0.1 0.3");
    assert!((found - (0.1 * cos * cos + 0.3 * (1.0 - cos * cos))).abs() < 1e-15, "{found}");
    assert!(warnings[0].contains("those of no body"), "{warnings:?}");
    let (found, _) = moment(r#"balanceinertia="true""#, "0.1 0.1 0.4");
    assert!((found - 0.2).abs() < 1e-15, "{found}");
}

/// Each of these is one ball of 1 kg and 0.1 m.
#[test]
fn mass_and_density_of_geometry_agree() {
    let volume = 4.0 / 3.0 * std::f64::consts::PI * 1e-3;
    let about_x = |geom: &str| {
        let model = body(&format!("<joint axis=\"1 0 0\"/><geom {geom}/>")).model;
        let kinematics = kinematics_at(&model, &[0.3], &[0.0]);
        dense_mass_at(&model, &kinematics)[(0, 0)]
    };
    for (geom, expected) in [
        (r#"size="0.1" mass="1""#.to_owned(), 0.4e-2),
        (format!("size=\"0.1\" density=\"{}\"", 1.0 / volume), 0.4e-2),
        (r#"type="ellipsoid" size="0.1 0.1 0.1" mass="1""#.to_owned(), 0.4e-2),
        (r#"size="0.1" mass="1" shellinertia="true""#.to_owned(), 2.0 / 3.0 * 1e-2),
        (r#"size="0.1" mass="1" pos="0 0.3 0.4""#.to_owned(), 0.4e-2 + 0.25),
    ] {
        let found = about_x(&geom);
        assert!((found / expected - 1.0).abs() < 1e-13, "{geom}: {found} {expected}");
    }
}

#[test]
fn actuators_springs_and_limits_are_read() {
    let mjcf = inside(
        r#"<compiler angle="radian"/><default><motor gear="3"/></default>
        <worldbody><body name="a"><joint name="p" axis="1 0 0" stiffness="5" springref="0.1"/>
          <geom size="0.1"/><body name="b" pos="0 0 1">
          <joint name="q" axis="1 0 0" range="-1 2" actuatorfrcrange="-4 4"/><geom size="0.1"/>
        </body></body></worldbody>
        <tendon><fixed name="t"><joint joint="p" coef="2"/><joint joint="q" coef="-1"/></fixed></tendon>
        <actuator><motor name="m" joint="p" ctrlrange="-1 1"/>
          <position joint="q" kp="50" kv="2" gear="1"/>
          <general name="g" tendon="t" gainprm="10" biastype="affine" biasprm="1 -2 -3"
                   forcerange="-6 6"/>
          <muscle name="biceps" joint="p"/></actuator>"#,
    );
    let [m, position, g] = &mjcf.actuators[..] else { panic!("{:?}", mjcf.actuators) };
    let [p, q] = ["p", "q"].map(|name| mjcf.model.find_joint(name).unwrap());
    assert_eq!((m.name.as_str(), &m.moment[..]), ("m", &[(p, 3.0)][..]));
    assert_eq!(position.name, "actuator_1");
    let law = position.law.unwrap();
    assert_eq!((law.gain, law.per_length, law.per_rate), (50.0, -50.0, -2.0));
    assert_eq!(g.moment, [(p, 6.0), (q, -3.0)]);
    assert_eq!(g.law.unwrap().constant, 1.0);
    assert_eq!(mjcf.model.springs(), [JointSpring { joint: p, stiffness: 5.0, rest: 0.1 }]);
    // The motor gives 3 N m, the tendon 6 · 6 N m; the servo is not limited, but its joint is.
    assert_eq!(mjcf.model.joints()[0].effort, 39.0);
    assert_eq!(mjcf.model.joints()[1].effort, 4.0);
    assert_eq!((mjcf.model.joints()[1].lower, mjcf.model.joints()[1].upper), (-1.0, 2.0));
    assert_eq!(mjcf.warnings, ["model.xml: not used: muscle `biceps`"]);
}

#[test]
fn equalities_become_frames_that_coincide() {
    let mjcf = inside(
        r#"<worldbody>
          <body name="a" pos="1 0 0"><joint axis="1 0 0"/><geom size="0.1"/></body>
          <body name="b" euler="0 0 90"><joint axis="1 0 0"/><geom size="0.1"/></body></worldbody>
        <equality><connect name="c" body1="a" body2="b" anchor="0 0.1 0.2"/>
          <weld body1="a" active="false"/></equality>"#,
    );
    let zero = mjcf.model.zero_configuration();
    let kinematics = kinematics_at(&mjcf.model, &zero, &[0.0; 2]);
    let at = |name: &str| {
        let frame = mjcf.model.find_frame(name).unwrap();
        world_from_frame(&mjcf.model, &kinematics, frame)
    };
    assert_eq!(mjcf.equalities[0].frames, ["c_1", "c_2"]);
    for (first, second) in [("c_1", "c_2"), ("equality_1_1", "equality_1_2")] {
        let (first, second) = (at(first), at(second));
        assert!((first.translation - second.translation).norm() < 1e-15);
        assert!((first.rotation - second.rotation).norm() < 1e-15);
    }
    assert!((at("c_1").translation - Vector3::new(1.0, 0.1, 0.2)).norm() < 1e-15);
    assert_eq!(at("equality_1_2").rotation, Matrix3::identity());
    assert!(mjcf.equalities[1].weld && !mjcf.equalities[1].active);
}

/// What is read and has no effect is in the list, by name.
#[test]
fn what_is_not_used_is_listed() {
    let mjcf = inside(
        r#"<compiler angle="radian" usethread="false" discardvisual="true"/>
        <asset><hfield name="hills"/></asset>
        <worldbody><geom type="plane" size="1 1 1"/>
          <body name="a"><joint name="p" axis="1 0 0" group="3" actuatorfrcrange="-4 2"/>
            <geom size="0.1" rgba="1 0 0 0.5"/><geom size="0.2" mass="0" contype="0" conaffinity="0"/>
            <geom type="ellipsoid" size="0.1 0.1 0.2" name="egg"/></body></worldbody>
        <tendon><fixed name="t"><joint joint="p" coef="2"/></fixed></tendon>
        <actuator><motor joint="p" group="1"/></actuator>"#,
    );
    assert_eq!(
        mjcf.warnings,
        ["model.xml: not used: compiler usethread, contact: ellipsoid `egg`, contact: plane, \
          fixed tendon without an actuator, hfield `hills`, joint group, motor group, \
          picture: ellipsoid `egg`, picture: plane, smaller side of an actuatorfrcrange"]
    );
    // The one that only shows is discarded, as the compiler is told; the other has its colour.
    let [ball] = mjcf.model.visuals() else { panic!("{:?}", mjcf.model.visuals()) };
    assert_eq!(ball.color, Some([1.0, 0.0, 0.0, 0.5]));
}
