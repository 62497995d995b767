//! Where a robot starts, and what its state does.

use std::f64::consts::FRAC_PI_2;

use legwork_block::{ContinuousState, Crossing, Dim, Feeds, Guard, Manifold, Type};
use legwork_contact::{Plane, Surface};
use legwork_mechanics::{Kinematics, Shape, world_from_frame};
use nalgebra::Vector3;
use serde_json::json;

use super::feet::Below;
use super::{FloatingBase, Orientation};
use crate::robot::meshes::tests::{Kept, cuboid, load_from};
use crate::robot::world::tests::scene;
use crate::testing::robots::{
    HINGE_AND_BALL, Rig, States, close, go, go_parameters, load, load_text, refusal,
};

const UNCONNECTED: [&str; 2] = ["reset", "nu_reset"];

fn base(init: serde_json::Value) -> FloatingBase {
    let init = serde_json::from_value(init).expect("the parameters bind");
    FloatingBase { robot: "go".into(), init, orientation: Orientation::Quaternion }
}

/// q and ν at t = 0.
fn start(init: serde_json::Value) -> (Vec<f64>, Vec<f64>) {
    let mut rig = Rig::new(base(init), &go(), &UNCONNECTED);
    rig.output();
    (rig.leaf("state", 0), rig.leaf("state", 1))
}

fn lowest_ball(q: &[f64]) -> f64 {
    let robot = go();
    let mut kinematics = Kinematics::new(&robot.model);
    kinematics.update_placements(&robot.model, q);
    let mut lowest = f64::INFINITY;
    for collision in robot.model.collisions() {
        if let Shape::Sphere { radius } = collision.shape {
            let link = world_from_frame(&robot.model, &kinematics, collision.link);
            let center = link.rotation * collision.link_from_shape.translation + link.translation;
            lowest = lowest.min(center.z - radius);
        }
    }
    lowest
}

#[test]
fn without_a_word_it_stands_still_at_the_origin() {
    let (q, nu) = start(json!({}));
    assert_eq!(q[..7], [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(q[7..], [0.0; 12]);
    assert_eq!(nu, [0.0; 18]);
}

#[test]
fn feet_are_placed_above_the_ground() {
    let (q, _) = start(json!({ "keyframe": "stand", "place": { "FeetAbove": "5 cm" } }));
    assert!((lowest_ball(&q) - 0.05).abs() < 1e-15);
    // Standing legs are 2 · 0.2 m · cos 0.8 long, or so.
    assert!((0.3..0.4).contains(&q[2]), "{}", q[2]);
    // Only the lowest of the feet of a tilted robot is there; a stated height does not matter.
    let tilted = json!({
        "keyframe": "stand", "position": [1, 2, 77], "rpy": ["20 deg", "-30 deg", "100 deg"],
        "place": { "FeetAbove": 0 },
    });
    let (q, _) = start(tilted);
    assert!(lowest_ball(&q).abs() < 1e-14);
    assert_eq!(q[..2], [1.0, 2.0]);
}

#[test]
fn feet_without_balls_are_placed_by_their_origins() {
    let mut parameters = go_parameters();
    parameters["feet"] = json!(["FL_shank"]);
    let (robot, _) = load("go", parameters).expect("a robot");
    let place = base(json!({ "keyframe": "stand", "place": { "FeetAbove": 0 } }));
    let mut rig = Rig::new(place, &robot, &UNCONNECTED);
    rig.output();
    let mut kinematics = Kinematics::new(&robot.model);
    kinematics.update_placements(&robot.model, &rig.leaf("state", 0));
    let shank = robot.frame("frame", "FL_shank").expect("a shank");
    let height = world_from_frame(&robot.model, &kinematics, shank).translation.z;
    assert!(height.abs() < 1e-15, "{height}");
}

/// A shape of a foot: its geometry in a robot file, and how far it reaches along a direction [m].
struct FootShape {
    geometry: &'static str,
    reach: fn(&Vector3<f64>) -> f64,
}

fn reach_of_box(d: &Vector3<f64>) -> f64 {
    0.1 * d.x.abs() + 0.05 * d.y.abs() + 0.02 * d.z.abs()
}

fn across(d: &Vector3<f64>) -> f64 {
    (d.x * d.x + d.y * d.y).sqrt()
}

const FOOT_SHAPES: [FootShape; 5] = [
    FootShape { geometry: r#"<sphere radius="0.03"/>"#, reach: |_| 0.03 },
    FootShape { geometry: r#"<box size="0.2 0.1 0.04"/>"#, reach: reach_of_box },
    FootShape {
        geometry: r#"<capsule radius="0.03" length="0.2"/>"#,
        reach: |d| 0.1 * d.z.abs() + 0.03,
    },
    FootShape {
        geometry: r#"<cylinder radius="0.03" length="0.2"/>"#,
        reach: |d| 0.1 * d.z.abs() + 0.03 * across(d),
    },
    // A box with a corner in the origin of its file.
    FootShape {
        geometry: r#"<mesh filename="foot.stl" scale="0.001 0.001 0.001"/>"#,
        reach: |d| reach_of_box(d) + Vector3::new(0.1, 0.05, 0.02).dot(d),
    },
];

/// The support function of a convex foot says where it is along the normal of a plane, and that is
/// how far above the plane it was to be.
#[test]
fn every_shape_of_a_foot_is_placed_by_its_lowest_point() {
    let up = Vector3::z();
    let slope = Vector3::new(0.2, -0.3, 1.0).normalize();
    let turns = [[0.0, 0.0, 0.0], [0.3, -0.2, 0.5], [FRAC_PI_2, 0.0, 0.0], [-2.0, 1.0, 0.1]];
    for FootShape { geometry, reach } in FOOT_SHAPES {
        let text = format!(
            r#"<robot name="r"><link name="foot">
              <inertial><mass value="1"/><inertia
                ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
              <collision><origin xyz="0.01 0.02 -0.03" rpy="0.4 0.1 -0.6"/>
                <geometry>{geometry}</geometry></collision></link></robot>"#
        );
        let files = Kept(vec![("a/r.urdf", text.into_bytes()), ("a/foot.stl", cuboid())]);
        let floating = json!({ "path": "a/r.urdf", "base": "Floating", "feet": ["foot"] });
        let (robot, warnings) = load_from(&files, floating);
        assert_eq!(warnings, [""; 0]);
        for (normal, turn) in [up, slope].into_iter().flat_map(|n| turns.map(|turn| (n, turn))) {
            let plane = Plane::new(Vector3::new(0.0, 0.0, 0.3), normal).expect("a plane");
            let ground = (normal != up).then_some(Surface::HalfSpace(plane));
            let through = ground.as_ref().map_or(0.0, |_| 0.3);
            let init =
                json!({ "position": [1, 2, 7], "rpy": turn, "place": { "FeetAbove": 0.05 } });
            let mut below = Below { ground: ground.as_ref(), files: &files, doubts: Vec::new() };
            let q = base(init).init.state(&robot, &mut below).expect("a place");
            assert_eq!(below.doubts.len(), 0);
            let mut kinematics = Kinematics::new(&robot.model);
            kinematics.update_placements(&robot.model, &q[..7]);
            let collision = &robot.model.collisions()[0];
            let at = world_from_frame(&robot.model, &kinematics, collision.link)
                * collision.link_from_shape;
            let center = at.translation - Vector3::new(0.0, 0.0, through);
            let gap = center.dot(&normal) - reach(&-at.rotation.tr_mul(&normal));
            let error = (gap - 0.05 * normal.z).abs();
            // A file of triangles has numbers of 32 bits.
            assert!(error < 1e-8, "{geometry} at {turn:?}: {gap} along {normal}");
        }
    }
}

/// A foot whose mesh is missing is placed by what else it has, with a warning.
#[test]
fn a_foot_without_its_mesh_is_placed_all_the_same() {
    let text = r#"<robot name="r"><link name="foot">
        <inertial><mass value="1"/>
          <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
        <collision><geometry><mesh filename="none.stl"/></geometry></collision></link></robot>"#;
    let files = Kept(vec![("a/r.urdf", text.as_bytes().to_vec())]);
    let floating = json!({ "path": "a/r.urdf", "base": "Floating", "feet": ["foot"] });
    let robot = load_from(&files, floating).0;
    let mut below = Below { ground: None, files: &files, doubts: Vec::new() };
    let init = base(json!({ "place": { "FeetAbove": 0.05 } })).init;
    assert_eq!(init.state(&robot, &mut below).expect("a place")[2], 0.05);
    let messages: Vec<_> = below.doubts.into_iter().map(|doubt| doubt.message).collect();
    let expected = "foot `foot` is placed without its mesh `none.stl`: no file `none.stl`";
    assert_eq!(messages, [expected]);
}

#[test]
fn fields_replace_parts_of_the_keyframe() {
    let (q, nu) = start(json!({
        "keyframe": "stand",
        "position": ["10 cm", 0, 1],
        "orientation": [0, 3, 0, 0],
        "s": { "FL_*": "90 deg" },
        "velocity": [1, 2, 3],
        "angular_velocity": [4, 5, "6 rad/s"],
        "s_dot": { "HR_knee_joint": -7 },
    }));
    assert_eq!(q[..7], [0.1, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]);
    assert_eq!(q[7..10], [FRAC_PI_2; 3]);
    assert_eq!(q[10..13], [0.0, -0.8, 1.6]);
    assert_eq!(nu[..6], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(nu[6..17], [0.0; 11]);
    assert_eq!(nu[17], -7.0);
}

/// The quaternion of roll, pitch and yaw turns as `Rz Ry Rx` does.
#[test]
fn rpy_is_the_rotation_of_urdf() {
    let (q, _) = start(json!({ "rpy": [0.3, -0.5, 2.0] }));
    let found = legwork_mechanics::quaternion_to_rotation([q[3], q[4], q[5], q[6]]);
    let placement = legwork_mechanics::Placement::from_xyz_rpy([0.0; 3], [0.3, -0.5, 2.0]);
    close(found.as_slice(), placement.rotation.as_slice(), 1e-15);
}

#[test]
fn mistakes_are_said() {
    let message = |init| refusal(base(init), &go(), &UNCONNECTED, &[]);
    let unknown = message(json!({ "keyframe": "stnd" }));
    assert_eq!(unknown.parameter.as_deref(), Some("init"));
    assert_eq!(unknown.message, "expected a keyframe of `go`, found `stnd`");
    assert_eq!(unknown.hints, ["did you mean `stand`?"]);
    let twice = message(json!({ "orientation": [1, 0, 0, 0], "rpy": [0, 0, 0] }));
    assert_eq!(
        twice.message,
        "orientation: expected one orientation, found a quaternion and `rpy`"
    );
    let joint = message(json!({ "s": { "FL_hp_joint": 1 } }));
    assert_eq!(joint.message, "s: no joint matches `FL_hp_joint`");
    let unit = message(json!({ "s_dot": { "FL_hip_joint": "1 m/s" } }));
    assert_eq!(unit.message, "s_dot: joint `FL_hip_joint`: expected a value in rad/s, found m/s");
    let alone = refusal(base(json!({})), &go(), &["nu_reset"], &[("reset", Type::Bool)]);
    assert_eq!(alone.message, "expected `reset` and `nu_reset` together, found `reset` alone");
}

#[test]
fn a_fixed_base_has_joints_only() {
    let path = "robots/panda/panda.urdf";
    let arm = load("go", json!({ "path": path, "base": "Fixed", "mimic": "Free" }));
    let arm = arm.expect("an arm").0;
    let mut rig = Rig::new(base(json!({ "s": 0.5, "s_dot": 0.25 })), &arm, &UNCONNECTED);
    assert_eq!(rig.x.len(), 18);
    rig.output();
    assert_eq!(rig.leaf("state", 0), [0.5; 9]);
    assert_eq!(rig.leaf("state", 1), [0.25; 9]);
    let lifted = refusal(base(json!({ "position": [0, 0, 1] })), &arm, &UNCONNECTED, &[]);
    assert_eq!(
        lifted.message,
        "expected joint positions and velocities only, since the base of `go` is fixed; found \
         `position`"
    );
}

#[test]
fn the_state_goes_out_and_the_acceleration_is_the_rate() {
    let mut rig = Rig::new(base(json!({})), &go(), &UNCONNECTED);
    assert_eq!(rig.declaration.groups, [Feeds::Only(Vec::new())]);
    let (q, nu) = States::of(&go(), 1).remove(0);
    rig.x = [&q[..], &nu].concat();
    rig.output();
    assert_eq!((rig.leaf("state", 0), rig.leaf("state", 1)), (q, nu.clone()));
    rig.set("nu_dot", &[&nu]);
    assert_eq!(rig.derivative(18), nu);
}

#[test]
fn velocity_is_reset_while_the_trigger_is_above_zero() {
    let given = [("reset", Type::vector(3))];
    let mut rig = Rig::with(base(json!({ "velocity": [1, 1, 1] })), &go(), &[], &given)
        .expect("a floating base");
    assert_eq!(rig.declaration.guards, [Guard { crossing: Crossing::Level, resets: true }]);
    rig.set("reset", &[&[-1.0, 0.0, -2.0]]);
    assert_eq!(rig.guards(), [0.0]);
    rig.set("reset", &[&[-1.0, 0.5, -2.0]]);
    assert_eq!(rig.guards(), [0.5]);
    let nu: Vec<f64> = (0..18).map(f64::from).collect();
    rig.set("nu_reset", &[&nu]);
    let q = rig.x[..19].to_vec();
    rig.reset();
    assert_eq!(rig.x, [q, nu].concat());
    // Nothing is connected: the guard is there and never fires.
    assert_eq!(Rig::new(base(json!({})), &go(), &UNCONNECTED).guards(), [f64::NEG_INFINITY]);
}

fn base_of(robot: &str, init: serde_json::Value) -> FloatingBase {
    FloatingBase { robot: robot.into(), ..base(init) }
}

#[test]
fn every_quaternion_is_integrated_on_its_sphere() {
    let (arm, _) = load_text("go", HINGE_AND_BALL, json!({ "base": "Fixed" })).expect("an arm");
    let turned =
        json!({ "s": { "hinge": 0.5, "ball.qw": 3, "ball.qy": 4 }, "s_dot": [1, 2, 3, 4] });
    let mut rig = Rig::new(base(turned), &arm, &UNCONNECTED);
    let plain = |n| Manifold::Euclidean(Dim::fixed(n));
    assert_eq!(
        rig.declaration.continuous,
        Some(ContinuousState::Second(vec![plain(1), Manifold::Quaternion]))
    );
    rig.output();
    assert_eq!(rig.leaf("state", 0), [0.5, 0.6, 0.0, 0.8, 0.0]);
    assert_eq!(rig.leaf("state", 1), [1.0, 2.0, 3.0, 4.0]);
    // Nothing said, a ball joint is at the quaternion that turns nothing.
    let mut rig = Rig::new(base(json!({})), &arm, &UNCONNECTED);
    rig.output();
    assert_eq!(rig.leaf("state", 0), [0.0, 1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn the_robots_of_a_world_start_where_each_is_said_to() {
    let (scene, alone) = (scene(), json!({ "keyframe": "stand", "place": { "FeetAbove": 0.05 } }));
    let init = json!({ "robots": {
        "rod": { "s": "1 rad", "s_dot": 2 },
        "go": alone,
    } });
    let mut rig = Rig::new(base_of("scene", init), &scene, &UNCONNECTED);
    let plain = |n| Manifold::Euclidean(Dim::fixed(n));
    let quaternion = Manifold::Quaternion;
    assert_eq!(
        rig.declaration.continuous,
        Some(ContinuousState::Second(vec![
            plain(1 + 3),
            quaternion.clone(),
            plain(12 + 3),
            quaternion
        ]))
    );
    rig.output();
    let (q, nu) = start(alone);
    let ball = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
    assert_eq!(rig.leaf("state", 0), [&[1.0], &q[..], &ball].concat());
    assert_eq!(rig.leaf("state", 1), [&[2.0], &nu[..], &[0.0; 6]].concat());
}

#[test]
fn mistakes_in_the_state_of_a_world_are_said() {
    let scene = scene();
    let said = |init| {
        let invalid = refusal(base_of("scene", init), &scene, &UNCONNECTED, &[]);
        assert_eq!(invalid.parameter.as_deref(), Some("init"));
        (invalid.message, invalid.hints.join("; "))
    };
    let pair = |message: &str, hint: &str| (message.to_owned(), hint.to_owned());
    assert_eq!(
        said(json!({ "position": [0, 0, 1] })),
        pair(
            "expected the states of the robots of `scene`, found `position`",
            "write `init: (robots: {\"rod\": (…), \"go\": (…), \"ball\": (…)})`"
        )
    );
    assert_eq!(
        said(json!({ "robots": { "goo": {} } })),
        pair("expected a robot of `scene`, found `goo`", "did you mean `go`?")
    );
    assert_eq!(
        said(json!({ "robots": { "go": { "keyframe": "stnd" } } })),
        pair("go: expected a keyframe of `go`, found `stnd`", "did you mean `stand`?")
    );
    assert_eq!(
        said(json!({ "robots": { "rod": { "position": [0, 0, 1] } } })).0,
        "rod: expected joint positions and velocities only, since the base of `rod` is fixed; \
         found `position`"
    );
    let alone = refusal(base(json!({ "robots": { "go": {} } })), &go(), &UNCONNECTED, &[]);
    assert_eq!(alone.message, "expected the state of `go` itself, found `robots`");
}

fn in_angles(robot: &str, init: serde_json::Value) -> FloatingBase {
    FloatingBase { orientation: Orientation::EulerAngles, ..base_of(robot, init) }
}

/// Same state on the bus, one number less in the block; stated angles are kept, turns included.
#[test]
fn euler_angles_are_kept_and_a_quaternion_goes_out() {
    let plain = |n| Manifold::Euclidean(Dim::fixed(n));
    let rpy = [0.3, -1.2, 2.0];
    let init =
        json!({ "keyframe": "stand", "position": [1, 2, 3], "rpy": rpy, "velocity": [4, 5, 6] });
    let mut rig = Rig::new(in_angles("go", init.clone()), &go(), &UNCONNECTED);
    assert_eq!(
        rig.declaration.continuous,
        Some(ContinuousState::Second(vec![plain(3), Manifold::EulerAngles, plain(12)]))
    );
    assert_eq!((rig.x.len(), &rig.x[3..6]), (36, &rpy[..]));
    rig.output();
    assert_eq!((rig.leaf("state", 0), rig.leaf("state", 1)), start(init));
    let turned = Rig::new(in_angles("go", json!({ "rpy": [0, 0, 7] })), &go(), &UNCONNECTED);
    assert_eq!(turned.x[3..6], [0.0, 0.0, 7.0]);
    // A quaternion, and a pitch beyond the pole, begin with angles of the same rotation.
    for init in [json!({ "orientation": [1, 2, -3, 4] }), json!({ "rpy": [0, "100 deg", 0] })] {
        let mut rig = Rig::new(in_angles("go", init.clone()), &go(), &UNCONNECTED);
        rig.output();
        let rotation =
            |q: &[f64]| legwork_mechanics::quaternion_to_rotation([q[3], q[4], q[5], q[6]]);
        let found = rotation(&rig.leaf("state", 0));
        close(found.as_slice(), rotation(&start(init).0).as_slice(), 1e-14);
    }
}

#[test]
fn a_world_has_angles_at_each_floating_base() {
    let scene = scene();
    let init = json!({ "robots": {
        "rod": { "s": "1 rad" },
        "go": { "keyframe": "stand", "rpy": [0.1, 0.2, 7] },
        "ball": { "position": [1, 2, 3], "orientation": [0.6, 0, 0, 0.8] },
    } });
    let mut angles = Rig::new(in_angles("scene", init.clone()), &scene, &UNCONNECTED);
    let mut quaternions = Rig::new(base_of("scene", init), &scene, &UNCONNECTED);
    assert_eq!(angles.x.len() + 2, quaternions.x.len());
    assert_eq!(angles.x[4..7], [0.1, 0.2, 7.0]);
    for rig in [&mut angles, &mut quaternions] {
        rig.output();
    }
    close(&angles.leaf("state", 0), &quaternions.leaf("state", 0), 1e-15);
    assert_eq!(angles.leaf("state", 1), quaternions.leaf("state", 1));
    // Written out, a state begins with the same angles.
    let written = super::initial::written(&scene, Orientation::EulerAngles, &angles.x);
    let written = legwork_diagram::ron_text::value_text(&written);
    assert!(written.contains("\"rod\": (s: [1.0], s_dot: [0.0])"), "{written}");
    assert!(written.contains("rpy: [0.1, 0.2, 7.0], velocity: [0.0, 0.0, 0.0]"), "{written}");
    // The last base is watched as the first is: its pitch is behind 1 + 3 + 3 + 12 + 3 numbers.
    assert!(angles.guards()[1] < 0.0);
    angles.x[22 + 1] = -1.56;
    assert!(angles.guards()[1] > 0.0);
}

#[test]
fn a_pitch_near_the_pole_is_said() {
    let mut rig =
        Rig::new(in_angles("go", json!({ "rpy": [0, "88.9 deg", 0] })), &go(), &UNCONNECTED);
    assert_eq!(rig.declaration.guards.len(), 2);
    assert!(rig.guards()[1] < 0.0);
    rig.x[4] = 95_f64.to_radians();
    assert!(rig.guards()[1] > 0.0);
    let near =
        refusal(in_angles("go", json!({ "rpy": [0, "89.5 deg", 0] })), &go(), &UNCONNECTED, &[]);
    assert_eq!(
        near.message,
        "pitch of the base of `go` is 89.50°: within 1° of ±90° Euler angles ZYX are singular"
    );
    assert_eq!(near.hints, ["take `orientation: Quaternion`, which has no such pole"]);
    let (arm, _) = load_text("go", HINGE_AND_BALL, json!({ "base": "Fixed" })).expect("an arm");
    let fixed = refusal(in_angles("go", json!({})), &arm, &UNCONNECTED, &[]);
    assert_eq!(fixed.message, "expected a floating base to orient, that of `go` is fixed");
}

/// A run that has diverged says so while its numbers are still numbers.
#[test]
fn no_machine_is_as_fast_as_a_diverged_run() {
    let init = |speed: &str| json!({ "s_dot": { "FL_*": speed } });
    let mut rig = Rig::new(base(init("0.9e9 rad/s")), &go(), &UNCONNECTED);
    rig.try_output().expect("fast");
    let mut rig = Rig::new(base(init("-1.1e9 rad/s")), &go(), &UNCONNECTED);
    let fault = rig.try_output().expect_err("too fast");
    assert!(fault.message.contains("FL_") && fault.message.contains("diverged"), "{fault}");
}
