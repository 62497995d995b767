//! Every kind of joint against products of placements that are written down here once more.

use legwork_mechanics::nalgebra::{Matrix3, Quaternion, Rotation3, Unit, UnitQuaternion, Vector3};
use legwork_mechanics::{
    Base, JointKind, Kinematics, Model, Options, Placement, Warning, integrate, normalize,
    world_from_frame,
};

use crate::random::Rng;

const INERTIAL: &str = r#"<inertial><origin xyz="0.1 0.2 0.3"/><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"#;

/// A joint of the test robot.
struct Test {
    kind: &'static str,
    axis: [f64; 3],
    /// Content of the element beyond origin, axis and links.
    content: &'static str,
}

const fn joint(kind: &'static str, axis: [f64; 3]) -> Test {
    Test { kind, axis, content: "" }
}

/// A chain of links `l0`, `l1`, … on joints `j1`, `j2`, …, and the origins of the joints.
fn chain(rng: &mut Rng, joints: &[Test]) -> (String, Vec<Placement>) {
    let mut text = format!("<robot name=\"chain\"><link name=\"l0\">{INERTIAL}</link>\n");
    let mut origins = Vec::new();
    for (i, test) in joints.iter().enumerate() {
        let (xyz, rpy) = (rng.vector(3, 1.0), rng.vector(3, 3.0));
        let ([x, y, z], Test { kind, content, .. }) = (test.axis, test);
        text += &format!(
            "<link name=\"l{}\">{INERTIAL}</link>\n<joint name=\"j{}\" type=\"{kind}\">\
             <origin xyz=\"{} {} {}\" rpy=\"{} {} {}\"/><parent link=\"l{i}\"/>\
             <child link=\"l{}\"/><axis xyz=\"{x} {y} {z}\"/>{content}</joint>\n",
            i + 1,
            i + 1,
            xyz[0],
            xyz[1],
            xyz[2],
            rpy[0],
            rpy[1],
            rpy[2],
            i + 1
        );
        origins.push(Placement {
            rotation: Rotation3::from_euler_angles(rpy[0], rpy[1], rpy[2]).into_inner(),
            translation: Vector3::from_vec(xyz),
        });
    }
    (text + "</robot>", origins)
}

fn turn(axis: Vector3<f64>, angle: f64) -> Placement {
    let rotation = Rotation3::from_axis_angle(&Unit::new_normalize(axis), angle).into_inner();
    Placement { rotation, translation: Vector3::zeros() }
}

fn shift(translation: Vector3<f64>) -> Placement {
    Placement { rotation: Matrix3::identity(), translation }
}

/// The placement of quaternion (w, x, y, z).
fn ball(q: &[f64]) -> Placement {
    let unit = UnitQuaternion::from_quaternion(Quaternion::new(q[0], q[1], q[2], q[3]));
    let rotation = unit.to_rotation_matrix().into_inner();
    Placement { rotation, translation: Vector3::zeros() }
}

/// What a joint does at coordinates `q`. The axes of an oblique plane are the reader's choice:
/// this one is only right for coordinate axes.
fn displacement(kind: &str, axis: Vector3<f64>, q: &[f64]) -> Placement {
    match kind {
        "revolute" | "continuous" => turn(axis, q[0]),
        "prismatic" => shift(axis.normalize() * q[0]),
        "planar" => {
            let at = axis.imax();
            let mut slide = Vector3::zeros();
            slide[(at + 1) % 3] = q[0];
            slide[(at + 2) % 3] = q[1];
            shift(slide) * turn(axis, q[2])
        }
        "spherical" => ball(q),
        "floating" => shift(Vector3::new(q[0], q[1], q[2])) * ball(&q[3..]),
        _ => Placement::identity(),
    }
}

fn assert_close(found: &Placement, expected: &Placement, what: &str) {
    let rotation = (found.rotation - expected.rotation).amax();
    let translation = (found.translation - expected.translation).amax();
    assert!(rotation < 1e-13 && translation < 1e-12, "{what}: {rotation:.1e} {translation:.1e}");
}

fn read(text: &str, options: &Options) -> Model {
    let (model, warnings) = Model::from_urdf_text(text, options).unwrap();
    let doubtful = warnings.iter().find(|warning| !matches!(warning, Warning::NoLimit { .. }));
    assert!(doubtful.is_none(), "{warnings:?}");
    model
}

fn place(model: &Model, q: &[f64]) -> Kinematics {
    let mut kinematics = Kinematics::new(model);
    kinematics.update(model, q, &vec![0.0; model.velocity_dim()]);
    kinematics
}

fn link(model: &Model, kinematics: &Kinematics, name: &str) -> Placement {
    world_from_frame(model, kinematics, model.find_frame(name).unwrap())
}

fn random_configuration(model: &Model, rng: &mut Rng) -> Vec<f64> {
    let mut q = rng.vector(model.configuration_dim(), 1.5);
    normalize(model, &mut q);
    q
}

#[test]
fn every_kind_of_joint_places_its_link() {
    let joints = [
        joint("revolute", [0.0, -2.0, 0.0]),
        joint("planar", [0.0, 0.0, 1.0]),
        joint("spherical", [0.0, 0.0, 0.0]),
        joint("prismatic", [1.0, -2.0, 0.5]),
        joint("planar", [3.0, 0.0, 0.0]),
        joint("fixed", [0.0, 0.0, 0.0]),
        joint("floating", [0.0, 1.0, 0.0]),
        joint("continuous", [-0.3, 0.1, 0.2]),
        joint("planar", [0.0, 0.5, 0.0]),
        joint("prismatic", [0.0, 0.0, -1.0]),
        joint("spherical", [1.0, 1.0, 0.0]),
    ];
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let (text, origins) = chain(&mut rng, &joints);
        let mut options = Options::new([Base::Floating, Base::Fixed][seed as usize % 2]);
        let mount = shift(Vector3::new(1.0, 2.0, 3.0)) * turn(Vector3::new(1.0, 1.0, 1.0), 0.7);
        options.mount = mount;
        let model = read(&text, &options);
        let moving = joints.iter().filter(|test| test.kind != "fixed").count();
        assert_eq!(model.joints().len(), moving);
        let q = random_configuration(&model, &mut rng);
        let kinematics = place(&model, &q);
        let mut expected = match options.base {
            Base::Floating => displacement("floating", Vector3::zeros(), &q[..7]),
            Base::Fixed => mount,
        };
        assert_close(&link(&model, &kinematics, "l0"), &expected, "root");
        // Coordinates are in the order of the file, without gaps.
        let mut at = model.configuration_dim() - model.joint_configuration_dim();
        for (i, (test, origin)) in joints.iter().zip(&origins).enumerate() {
            let numbers = match model.find_joint(&format!("j{}", i + 1)) {
                Some(joint) => model.joint(joint).configuration_range(),
                None => at..at,
            };
            assert_eq!(numbers.start, at, "joint {i}");
            at = numbers.end;
            let axis = Vector3::from(test.axis);
            expected = expected * *origin * displacement(test.kind, axis, &q[numbers]);
            let found = link(&model, &kinematics, &format!("l{}", i + 1));
            assert_close(&found, &expected, &format!("seed {seed}, joint {i}, {}", test.kind));
        }
        assert_eq!(at, model.configuration_dim());
    }
}

/// Whatever axes an oblique plane gets: the link slides in the plane along two axes at right
/// angles, right-handed with the normal, and turns about the normal.
#[test]
fn oblique_planes_have_orthonormal_axes() {
    let normals = [
        [0.0, 0.0, -1.0],
        [-2.0, 0.0, 0.0],
        [0.0, -1.0, -0.0],
        [1.0, 2.0, 3.0],
        [-1.0, 0.5, -2.0],
        [1e-200, 1e-200, 0.0],
    ];
    for normal in normals {
        let mut rng = Rng::new(3);
        let (text, origins) = chain(&mut rng, &[joint("planar", normal)]);
        let model = read(&text, &Options::new(Base::Fixed));
        let child = |q: &[f64]| origins[0].inverse() * link(&model, &place(&model, q), "l1");
        assert_close(&child(&[0.0; 3]), &Placement::identity(), "at rest");
        let (x, y) = (child(&[1.0, 0.0, 0.0]).translation, child(&[0.0, 1.0, 0.0]).translation);
        let largest = Vector3::from(normal).amax();
        let n = (Vector3::from(normal) / largest).normalize();
        assert!((x.cross(&y) - n).amax() < 1e-15 * 16.0, "{normal:?}");
        assert!((x.norm() - 1.0).abs() < 1e-14 && x.dot(&n).abs() < 1e-14, "{normal:?}");
        let expected = shift(x * 0.3 - y * 0.4) * turn(n, 0.9);
        assert_close(&child(&[0.3, -0.4, 0.9]), &expected, "displaced");
    }
}

/// A `world` link without inertia and a floating joint make the same robot as a floating base.
#[test]
fn floating_joint_on_a_world_link_is_a_floating_base() {
    let mut rng = Rng::new(11);
    let arm = [joint("revolute", [1.0, 0.0, 0.0]), joint("prismatic", [0.0, 1.0, 1.0])];
    let (text, _) = chain(&mut rng, &arm);
    let free = read(&text, &Options::new(Base::Floating));
    let world = "<link name=\"world\"/><joint name=\"free\" type=\"floating\">\
                 <parent link=\"world\"/><child link=\"l0\"/></joint>";
    let held = text.replacen("<link", &format!("{world}<link"), 1);
    let held = read(&held, &Options::new(Base::Fixed));
    assert_eq!(held.joints()[0].kind, JointKind::Floating);
    assert_eq!(held.configuration_dim(), free.configuration_dim());
    assert_eq!(held.total_mass(), free.total_mass());
    let names: Vec<_> = held.joint_velocity_names().collect();
    let expected = ["free.vx", "free.vy", "free.vz", "free.wx", "free.wy", "free.wz", "j1", "j2"];
    assert_eq!(names, expected);
    for _ in 0..10 {
        let q = random_configuration(&free, &mut rng);
        let step = rng.vector(free.velocity_dim(), 0.5);
        let mut next = [q.clone(), q.clone()];
        for (model, next) in [&free, &held].into_iter().zip(&mut next) {
            integrate(model, &q, &step, next);
        }
        let found = link(&held, &place(&held, &next[1]), "l2");
        assert_close(&found, &link(&free, &place(&free, &next[0]), "l2"), "arm");
    }
}

/// Mimic joints follow through chains in any order of the file, across kinds, and to a standstill.
#[test]
fn mimic_joints_follow_through_chains() {
    const FOLLOW: [&str; 5] = [
        r#"<mimic joint="j3" multiplier="-2" offset="0.3"/>"#,
        "",
        r#"<mimic joint="j4" multiplier="0.5" offset="-0.1"/>"#,
        "",
        r#"<mimic joint="j1" multiplier="0" offset="0.7"/>"#,
    ];
    // j4 leads; j3 = j4/2 − 0.1; j1 = −2 j3 + 0.3; j5 does not move; j2 is on its own.
    let test = |i: usize, kind, axis| Test { kind, axis, content: FOLLOW[i] };
    let joints = [
        test(0, "continuous", [0.0, 0.0, -1.0]),
        test(1, "continuous", [1.0, 0.0, 0.0]),
        test(2, "prismatic", [1.0, 1.0, 0.0]),
        test(3, "continuous", [0.0, -1.0, 0.0]),
        test(4, "prismatic", [0.0, -1.0, 0.0]),
    ];
    for base in [Base::Floating, Base::Fixed] {
        let mut rng = Rng::new(5);
        let (text, origins) = chain(&mut rng, &joints);
        let model = read(&text, &Options::new(base));
        let names: Vec<_> = model.joints().iter().map(|joint| joint.name.as_str()).collect();
        assert_eq!(names, ["j2", "j4"]);
        let laws: Vec<_> = model
            .mimic_joints()
            .iter()
            .map(|mimic| (mimic.name.as_str(), mimic.joint.index(), mimic.multiplier, mimic.offset))
            .collect();
        assert_eq!(
            laws,
            [("j1", 1, -1.0, 0.3 + 0.2), ("j3", 1, 0.5, -0.1), ("j5", 1, 0.0, 0.7)],
            "{base:?}"
        );
        let q = random_configuration(&model, &mut rng);
        let kinematics = place(&model, &q);
        let (free, lead) = (q[q.len() - 2], q[q.len() - 1]);
        let third = 0.5 * lead - 0.1;
        let s = [-2.0 * third + 0.3, free, third, lead, 0.7];
        let mut expected = link(&model, &kinematics, "l0");
        for (i, (test, origin)) in joints.iter().zip(&origins).enumerate() {
            let axis = Vector3::from(test.axis);
            expected = expected * *origin * displacement(test.kind, axis, &s[i..=i]);
            let found = link(&model, &kinematics, &format!("l{}", i + 1));
            assert_close(&found, &expected, &format!("joint {i}"));
        }
    }
}

/// A quaternion of version 1.1 turns the joint as it says, also where pitch is a right angle.
#[test]
fn quaternions_turn_origins() {
    for (w, x, y, z) in [(0.5, 0.5, 0.5, 0.5), (0.1, -0.7, 0.2, 0.4), (1.0, 0.0, 1.0, 0.0)] {
        let text = |version: &str| {
            format!(
                "<robot name=\"r\" version=\"{version}\"><link name=\"l0\"/><link name=\"l1\"/>\
                 <joint name=\"j\" type=\"fixed\"><parent link=\"l0\"/><child link=\"l1\"/>\
                 <origin xyz=\"1 2 3\" quat_xyzw=\"{x} {y} {z} {w}\"/></joint></robot>"
            )
        };
        for (version, rotation) in [("1.1", ball(&[w, x, y, z])), ("1.0", Placement::identity())] {
            let model = read(&text(version), &Options::new(Base::Fixed));
            let expected = shift(Vector3::new(1.0, 2.0, 3.0)) * rotation;
            assert_close(&link(&model, &place(&model, &[]), "l1"), &expected, version);
        }
    }
}
