//! Contacts of all shapes with all surfaces: rates against differences, momentum, refusals.

use std::sync::Arc;

use legwork_block::Block;
use legwork_mechanics::integrate;
use legwork_qp::problems::Random;
use nalgebra::{Matrix3, Vector3};
use serde_json::{Value, json};

use super::*;
use crate::contact::contact_patch::ContactPatch;
use crate::contact::contact_point::ContactPoint;
use crate::robot::free_body::FreeBody;
use crate::robot::model::RobotModel;
use crate::robot::world::World;
use crate::testing::contacts::block;
use crate::testing::robots::{Rig, go, load_as, load_text, refusal};

fn body(name: &str, shape: &Value) -> Arc<RobotModel> {
    load_as::<FreeBody>(name, json!({ "mass": 2, "shape": shape }), &[]).expect("a body").0
}

/// Mini Cheetah, a box, a ball and a roll.
fn scene() -> Arc<RobotModel> {
    let parts = [
        go(),
        body("box", &json!({ "Box": { "size": [0.5, 0.4, 0.3] } })),
        body("ball", &json!({ "Sphere": { "radius": 0.2 } })),
        body("roll", &json!({ "Cylinder": { "radius": 0.1, "length": 0.3 } })),
    ];
    let of = json!({ "of": ["go", "box", "ball", "roll"] });
    load_as::<World>("scene", of, &parts).expect("a world").0
}

fn turn(v: &Vector3<f64>) -> Matrix3<f64> {
    nalgebra::Rotation3::new(*v).into_inner()
}

fn vector(random: &mut Random, scale: f64) -> Vector3<f64> {
    scale * Vector3::new(random.normal(), random.normal(), random.normal())
}

/// A prescribed motion of the ground: pose, velocity and acceleration at t = 0.
struct GroundMotion {
    start: Placement,
    twist: MixedTwist,
    rate: MixedTwist,
    has_pose: bool,
}

impl GroundMotion {
    fn random(random: &mut Random, has_pose: bool) -> Self {
        let mut twist = || MixedTwist { linear: vector(random, 0.8), angular: vector(random, 0.8) };
        let (twist, rate) = (twist(), twist());
        let rotation = turn(&vector(random, 0.2));
        let start = Placement { rotation, translation: vector(random, 0.1) };
        Self { start, twist, rate, has_pose }
    }

    fn set(&self, rig: &mut Rig, t: f64) {
        if self.has_pose {
            let (v, a) = (&self.twist, &self.rate);
            let turned = turn(&(v.angular * t + a.angular * (0.5 * t * t)));
            let moved = v.linear * t + a.linear * (0.5 * t * t);
            let mut pose: Vec<f64> = (turned * self.start.rotation).as_slice().to_vec();
            pose.extend((self.start.translation + moved).iter());
            rig.set("ground_pose", &[&pose]);
        }
        let six = |twist: &MixedTwist, rate: Option<&MixedTwist>| -> Vec<f64> {
            let rate = rate.unwrap_or(&AT_REST);
            let linear = twist.linear + rate.linear * t;
            let angular = twist.angular + rate.angular * t;
            linear.iter().chain(angular.iter()).copied().collect()
        };
        rig.set("ground_velocity", &[&six(&self.twist, Some(&self.rate))]);
        rig.set("ground_acceleration", &[&six(&self.rate, None)]);
    }
}

/// One contact as it is written.
#[derive(Clone)]
struct Found {
    gap: f64,
    axes: Matrix3<f64>,
    velocity: Vector3<f64>,
    velocity_rate: Vector3<f64>,
    jacobian: Vec<f64>,
}

fn found(rig: &Rig, port: &str, i: usize) -> Found {
    let leaf = |leaf: usize| rig.leaf(port, i * ContactBus::LEAVES + leaf);
    Found {
        gap: leaf(ContactBus::GAP)[0],
        axes: Matrix3::from_column_slice(&leaf(ContactBus::AXES)),
        velocity: Vector3::from_column_slice(&leaf(ContactBus::VELOCITY)),
        velocity_rate: Vector3::from_column_slice(&leaf(ContactBus::JACOBIAN_DOT_NU)),
        jacobian: leaf(ContactBus::JACOBIAN),
    }
}

const NO_GROUND: [&str; 3] = ["ground_pose", "ground_velocity", "ground_acceleration"];

/// A random state: everything within some `spread` of the origin.
fn state(robot: &RobotModel, random: &mut Random, spread: f64) -> (Vec<f64>, Vec<f64>) {
    let model = &robot.model;
    let mut q: Vec<f64> =
        (0..model.configuration_dim()).map(|_| spread * random.normal()).collect();
    for &(at, _) in model.quaternions() {
        q[at..at + 4].copy_from_slice(&std::array::from_fn::<f64, 4, _>(|_| random.normal()));
    }
    legwork_mechanics::normalize(model, &mut q);
    (q, (0..model.velocity_dim()).map(|_| random.normal()).collect())
}

/// Gap, velocity, Jacobian and J̇ν of every contact against differences along the motion at ν̇ = 0;
/// how many contacts were compared. Those that pass an edge between the differences are left out.
fn compare(parameters: &Value, robot: &Arc<RobotModel>, moving: Option<bool>, seed: u64) -> usize {
    let mut random = Random::new(seed);
    let without: &[&str] = match moving {
        None => &NO_GROUND,
        Some(true) => &[],
        Some(false) => &["ground_pose"],
    };
    let mut rig = Rig::new(block::<ContactPatch>(parameters.clone()), robot, without);
    let count = rig.leaf_count("contacts") / ContactBus::LEAVES;
    // Within a box or a cylinder the normal jumps under a rim, which then has no lowest point.
    let has_rims =
        parameters["frame"] == "roll/body" || parameters["shape"]["Cylinder"].is_object();
    let body = &parameters["ground"]["Body"];
    let is_solid = !body.is_null() && body["surface"]["Plane"].is_null();
    let is_smooth_inside = !(has_rims && is_solid);
    let nv = robot.model.velocity_dim();
    let (h, mut compared) = (1e-5, 0);
    for _ in 0..12 {
        let (q, nu) = state(robot, &mut random, 0.4);
        let ground = moving.map(|has_pose| GroundMotion::random(&mut random, has_pose));
        let mut at = |t: f64| -> (Vec<Found>, Vec<f64>) {
            let increment: Vec<f64> = nu.iter().map(|nu| t * nu).collect();
            let mut end = q.clone();
            integrate(&robot.model, &q, &increment, &mut end);
            rig.set("state", &[&end, &nu]);
            if let Some(ground) = &ground {
                ground.set(&mut rig, t);
            }
            rig.output();
            let contacts = (0..count).map(|i| found(&rig, "contacts", i)).collect();
            (contacts, rig.leaf("jacobian", 0))
        };
        let ((before, _), (here, stacked), (after, _)) = (at(-h), at(0.0), at(h));
        for i in 0..count {
            let (before, here, after) = (&before[i], &here[i], &after[i]);
            let jump = (after.velocity_rate - before.velocity_rate).amax();
            let turned = (after.axes - before.axes).amax();
            if jump > 0.01 * (1.0 + here.velocity_rate.norm()) || turned > 0.01 {
                continue;
            }
            if !is_smooth_inside && here.gap < 0.0 {
                continue;
            }
            compared += 1;
            let place = format!("{parameters}, moving {moving:?}, contact {i}");
            let product = Vector3::from_fn(|axis, _| {
                (0..nv).map(|k| here.jacobian[3 * k + axis] * nu[k]).sum::<f64>()
            });
            if moving.is_none() {
                let error = (product - here.velocity).amax();
                assert!(error < 1e-12, "{place}: velocity is not J nu by {error:.1e}");
            }
            for k in 0..nv {
                let start = 3 * count * k + 3 * i;
                assert_eq!(stacked[start..start + 3], here.jacobian[3 * k..3 * k + 3], "{place}");
            }
            // The matter of a belt may move through its surface.
            if moving != Some(false) {
                let error = ((after.gap - before.gap) / (2.0 * h) - here.velocity.z).abs();
                assert!(error < 1e-6, "{place}: gap by {error:.1e}");
            }
            let difference = (after.velocity - before.velocity) / (2.0 * h);
            let error = (difference - here.velocity_rate).amax();
            let bound = 1e-5 * (1.0 + here.velocity_rate.norm());
            assert!(error < bound, "{place}: velocity's rate by {error:.1e}");
            let orthonormal = here.axes.transpose() * here.axes - Matrix3::identity();
            assert!(orthonormal.amax() < 1e-13, "{place}: axes");
        }
    }
    compared
}

fn shapes() -> Vec<(&'static str, Value)> {
    vec![
        ("go/HL_foot", json!("FromCollision")),
        ("go/HL_foot", json!({ "Vertices": [[0.1, 0.05, 0], [0.1, -0.05, 0], [-0.1, 0, "1 cm"]] })),
        ("go/trunk", json!({ "Circle": { "radius": 0.05, "points": 5 } })),
        ("go/FR_foot", json!({ "Sphere": { "radius": 0.04 } })),
        (
            "go/FR_foot",
            json!({ "Cylinder": { "radius": 0.05, "length": 0.1, "axis": [0, 2, 0.5] } }),
        ),
        ("roll/body", json!("FromCollision")),
    ]
}

fn parameters(frame: &str, shape: &Value, ground: &Value) -> Value {
    json!({ "robot": "scene", "frame": frame, "shape": shape, "ground": ground })
}

#[test]
fn rates_on_ground_agree_with_differences_along_the_motion() {
    let robot = scene();
    let hills = json!({ "HeightField": {
        "file": "contact/hills.csv", "cell": "10 cm", "origin": [-2, -2],
    } });
    let plane = json!({ "Plane": { "normal": [0.3, -0.2, 2.0], "offset": "-10 cm" } });
    for (seed, ground) in [json!("Level"), plane, hills].iter().enumerate() {
        for (frame, shape) in shapes() {
            for moving in [None, Some(true), Some(false)] {
                let given = parameters(frame, &shape, ground);
                let compared = compare(&given, &robot, moving, 61 + seed as u64);
                assert!(compared >= 6, "{given}, moving {moving:?}: {compared} compared");
            }
        }
    }
}

#[test]
fn rates_on_bodies_agree_with_differences_along_the_motion() {
    let robot = scene();
    let of = |frame: &str, surface: Value| {
        json!({ "Body": {
            "frame": frame,
            "surface": surface,
            "at": [0.02, -0.03, 0.05],
            "rpy": [0.3, "20 deg", 0],
        } })
    };
    let grounds = [
        json!({ "Body": { "frame": "box/body" } }),
        json!({ "Body": { "frame": "ball/body" } }),
        of("box/body", json!({ "Box": { "size": [0.5, 0.4, 0.3] } })),
        of("ball/body", json!({ "Sphere": { "radius": 0.1 } })),
        of("box/body", json!({ "Cylinder": { "radius": 0.1, "length": 0.3 } })),
        of("go/FL_shank", json!({ "Plane": { "normal": [1, 1, 3] } })),
    ];
    for (seed, ground) in grounds.iter().enumerate() {
        for (frame, shape) in shapes() {
            let given = parameters(frame, &shape, ground);
            let compared = compare(&given, &robot, None, 71 + seed as u64);
            assert!(compared >= 6, "{given}: {compared} compared");
        }
    }
}

/// The corners of a box on a box: `Jᵀf` of two free bodies has no total force and, about the
/// world's origin, no total moment.
#[test]
fn forces_between_bodies_keep_momentum_and_its_moment() {
    let parts = [
        body("under", &json!({ "Box": { "size": [0.5, 0.4, 0.3] } })),
        body("over", &json!({ "Box": { "size": [0.2, 0.2, 0.2] } })),
    ];
    let of = json!({ "of": ["under", "over"] });
    let robot = load_as::<World>("pair", of, &parts).expect("a world").0;
    let given = json!({
        "robot": "pair", "frame": "over/body", "ground": { "Body": { "frame": "under/body" } },
    });
    let mut rig = Rig::new(block::<ContactPatch>(given), &robot, &[]);
    assert_eq!(rig.leaf_count("contacts"), 8 * ContactBus::LEAVES);
    let mut random = Random::new(81);
    for _ in 0..20 {
        let (q, nu) = state(&robot, &mut random, 0.5);
        rig.set("state", &[&q, &nu]);
        rig.output();
        for i in 0..8 {
            let Found { jacobian, axes, .. } = found(&rig, "contacts", i);
            let force = vector(&mut random, 1.0);
            let moment: Vec<f64> = jacobian
                .chunks_exact(3)
                .map(|column| Vector3::from_column_slice(column).dot(&force))
                .collect();
            let part = |at: usize| Vector3::from_column_slice(&moment[at..at + 3]);
            let place = |at: usize| Vector3::from_column_slice(&q[at..at + 3]);
            // ν = (ṗ, ω) of each: its generalised force is the force and the moment about p.
            assert!((part(6) - axes * force).amax() < 1e-14, "the force acts on the one above");
            assert!((part(0) + part(6)).amax() < 1e-14, "contact {i}: force");
            let total = part(3) + place(0).cross(&part(0)) + part(9) + place(7).cross(&part(6));
            assert!(total.amax() < 1e-14, "contact {i}: moment {total}");
        }
    }
}

/// One contact of a patch is that of `ContactPoint`, and both carry the friction that is stated.
#[test]
fn a_patch_of_one_is_a_point() {
    let robot = go();
    let given = json!({
        "robot": "go", "frame": "HL_foot", "mu": 0.4,
        "ground": { "Plane": { "normal": [0.1, 0, 1] } },
    });
    let mut point = Rig::new(block::<ContactPoint>(given.clone()), &robot, &NO_GROUND);
    let mut patch = Rig::new(block::<ContactPatch>(given), &robot, &NO_GROUND);
    let (q, nu) = state(&robot, &mut Random::new(82), 0.3);
    for rig in [&mut point, &mut patch] {
        rig.set("state", &[&q, &nu]);
        rig.output();
    }
    for leaf in 0..ContactBus::LEAVES {
        assert_eq!(point.leaf("contact", leaf), patch.leaf("contacts", leaf), "leaf {leaf}");
    }
    assert_eq!(patch.leaf("contacts", ContactBus::FRICTION), [0.4]);
}

/// A wheel that rolls without slip: its lowest points are at rest, and their acceleration is zero.
#[test]
fn a_roll_that_rolls_has_contacts_at_rest() {
    let robot = body("roll", &json!({ "Cylinder": { "radius": 0.1, "length": 0.3 } }));
    let mut rig = Rig::new(
        block::<ContactPatch>(json!({ "robot": "roll", "frame": "body" })),
        &robot,
        &NO_GROUND,
    );
    // The axis lies along y: turned by −90° about x.
    let half = libm::sqrt(0.5);
    let q = [0.3, -0.2, 0.1, half, -half, 0.0, 0.0];
    rig.set("state", &[&q, &[0.5, 0.0, 0.0, 0.0, 5.0, 0.0]]);
    rig.output();
    for i in 0..2 {
        let Found { gap, velocity, velocity_rate, .. } = found(&rig, "contacts", i);
        assert!(gap.abs() < 1e-15 && velocity.amax() < 1e-15 && velocity_rate.amax() < 1e-14);
    }
    let ends =
        [0, 1].map(|i| rig.leaf("contacts", i * ContactBus::LEAVES + ContactBus::POSITION)[1]);
    assert!(((ends[1] - ends[0]).abs() - 0.3).abs() < 1e-15);
}

#[test]
fn shapes_and_grounds_that_do_not_fit_are_refused() {
    fn said<B: Block>(block: B, robot: &Arc<RobotModel>) -> (String, String) {
        let invalid = refusal(block, robot, &[], &[]);
        (invalid.parameter.unwrap_or_default(), invalid.message)
    }
    let robot = scene();
    let shape = |shape: Value| {
        said(block::<ContactPatch>(parameters("go/HL_foot", &shape, &json!("Level"))), &robot)
    };
    let wrong = |parameter: &str, message: &str| (parameter.to_owned(), message.to_owned());
    let none = wrong("shape", "expected at least one vertex, found none");
    assert_eq!(shape(json!({ "Vertices": [] })), none);
    let two = wrong("shape", "expected 3 to 1000 points of a circle, found 2");
    assert_eq!(shape(json!({ "Circle": { "radius": 1, "points": 2 } })), two);
    let (parameter, _) =
        shape(json!({ "Cylinder": { "radius": 1, "length": 1, "axis": [0, 0, 0] } }));
    assert_eq!(parameter, "shape");

    let ground = |ground: Value| {
        let given = parameters("go/HL_foot", &json!("FromCollision"), &ground);
        let (parameter, message) = said(block::<ContactPatch>(given), &robot);
        assert_eq!(parameter, "ground", "{message}");
        message
    };
    let on = |frame: &str| json!({ "Body": { "frame": frame } });
    assert_eq!(ground(on("bxo/body")), "expected a link of `scene`, found `bxo/body`");
    assert_eq!(
        ground(on("go/HL_foot")),
        "expected two bodies that move against each other, found `go/HL_foot` and `go/HL_foot`, \
         which are one"
    );
    assert_eq!(
        ground(json!({ "Body": { "frame": "box/body", "at": [0, 0, 1] } })),
        "expected a surface with `at` or `rpy`, found FromCollision, which knows where it is"
    );
    let file = |file: &str| ground(json!({ "HeightField": { "file": file, "cell": 1 } }));
    assert!(file("contact/none.csv").starts_with("contact/none.csv: "));
    let words = file("signals/gust.csv");
    assert!(words.starts_with("signals/gust.csv, line "), "{words}");

    let meshed = r#"<robot name="m"><link name="a"><inertial><mass value="1"/>
        <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
        <collision><geometry><mesh filename="a.stl"/></geometry></collision></link></robot>"#;
    let robot = load_text("m", meshed, json!({})).expect("a robot").0;
    let given = json!({ "robot": "m", "frame": "a" });
    let (parameter, message) = said(block::<ContactPatch>(given), &robot);
    assert_eq!(parameter, "shape");
    assert!(message.starts_with("mesh `a.stl`: a.stl: "), "{message}");
}
