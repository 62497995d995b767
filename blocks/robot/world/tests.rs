//! Robots beside one another: names, views, facts, refusals.

use std::sync::Arc;

use legwork_block::{Ports, Resource, Signal, Type, Value};
use serde_json::json;

use super::World;
use crate::buses::StateBus;
use crate::robot::free_body::FreeBody;
use crate::robot::model::RobotModel;
use crate::testing::robots::{self, Diagrams, Rig, go, load, load_as};

fn ball(name: &str, gravity: f64) -> Arc<RobotModel> {
    let parameters = json!({
        "mass": 2, "shape": { "Sphere": { "radius": 0.1 } }, "gravity": [0, 0, gravity],
    });
    load_as::<FreeBody>(name, parameters, &[]).expect("a ball").0
}

fn rod() -> Arc<RobotModel> {
    let path = "robots/pendulum/pendulum.urdf";
    load("rod", json!({ "path": path, "base": "Fixed" })).expect("a pendulum").0
}

/// A pendulum, Mini Cheetah and a ball, in this order.
pub(crate) fn scene() -> Arc<RobotModel> {
    let parts = [rod(), go(), ball("ball", -9.81)];
    load_as::<World>("scene", json!({ "of": ["rod", "go", "ball"] }), &parts).expect("a world").0
}

#[test]
fn a_world_stacks_its_robots() {
    let scene = scene();
    let dims = ["n", "ns", "nv", "nq"].map(|name| scene.dimension(name));
    assert_eq!(dims, [13, 13, 1 + 18 + 6, 1 + 19 + 7].map(Some));
    let Value::Record(facts) = scene.facts() else { panic!("facts are a record") };
    assert_eq!(facts["robots"], Value::from(vec!["rod", "go", "ball"]));
    let feet = ["go/FL_foot", "go/FR_foot", "go/HL_foot", "go/HR_foot"];
    assert_eq!(facts["feet"], Value::from(feet.to_vec()));
    assert_eq!(facts["floating"], Value::from(true));
    assert!(scene.names().contains(&"ball/body".to_owned()));
    assert_eq!(scene.joint_names()[..2], ["rod/pivot", "go/FL_abad_joint"]);
    assert!((scene.model.total_mass() - (1.0 + 8.252 + 2.0)).abs() < 1e-12);
}

/// Every robot's own state is a view; what belongs to no robot has no name.
#[test]
fn the_state_of_a_world_has_a_set_of_views_per_robot() {
    let world = robots::World::of(&[scene()]);
    let Type::Bus(bus) = StateBus::of(&Ports::new(&world, &Diagrams, 0.001), "scene").ty() else {
        panic!("a bus")
    };
    let view = |name: &str| {
        let view = bus.views.iter().find(|view| view.name == name)?;
        Some((view.field, view.start, view.len.known()?))
    };
    assert_eq!(view("rod.q"), Some((0, 0, 1)));
    assert_eq!(view("rod.s"), Some((0, 0, 1)));
    assert_eq!(view("rod.base.position"), None);
    assert_eq!(view("go.base.position"), Some((0, 1, 3)));
    assert_eq!(view("go.base.orientation"), Some((0, 4, 4)));
    assert_eq!(view("go.base.velocity"), Some((1, 1, 3)));
    assert_eq!(view("go.base.angular_velocity"), Some((1, 4, 3)));
    assert_eq!(view("go.s"), Some((0, 8, 12)));
    assert_eq!(view("go.s_dot"), Some((1, 7, 12)));
    assert_eq!(view("ball.q"), Some((0, 20, 7)));
    assert_eq!(view("ball.nu"), Some((1, 19, 6)));
    assert_eq!((view("base.position"), view("s")), (None, None));
}

/// One block on the world answers as blocks on the robots do.
#[test]
fn the_inertia_of_a_world_is_block_diagonal() {
    let (scene, parts) = (scene(), [rod(), go(), ball("ball", -9.81)]);
    let inertia = |robot: &Arc<RobotModel>, q: &[f64]| {
        let block = crate::dynamics::mass_matrix::MassMatrix { robot: robot.name.as_str().into() };
        let mut rig = Rig::new(block, robot, &[]);
        rig.set("state", &[q, &vec![0.0; robot.model.velocity_dim()]]);
        rig.output();
        rig.leaf("M", 0)
    };
    let poses: Vec<Vec<f64>> = parts.iter().map(|part| part.model.zero_configuration()).collect();
    let whole = inertia(&scene, &poses.concat());
    let nv = scene.model.velocity_dim();
    let mut at = 0;
    let mut expected = vec![0.0; nv * nv];
    for (part, q) in parts.iter().zip(&poses) {
        let own = part.model.velocity_dim();
        for (column, values) in inertia(part, q).chunks(own).enumerate() {
            let start = (at + column) * nv + at;
            expected[start..start + own].copy_from_slice(values);
        }
        at += own;
    }
    assert_eq!(whole, expected);
}

#[test]
fn robots_that_cannot_share_a_world_are_refused() {
    let (moon, q) = (ball("moon", -1.62), ball("q", -9.81));
    let others = [go(), ball("ball", -9.81), moon, q, scene()];
    let refusal = |of: serde_json::Value| {
        let invalid = load_as::<World>("all", json!({ "of": of }), &others).expect_err("an error");
        assert_eq!(invalid.parameter.as_deref(), Some("of"));
        (invalid.message, invalid.hints.join("; "))
    };
    let said = |message: &str, hint: &str| (message.to_owned(), hint.to_owned());
    assert_eq!(refusal(json!([])), said("expected at least one robot, found none", ""));
    assert_eq!(
        refusal(json!(["go", "bal"])),
        said("expected the name of a robot, found `bal`", "did you mean `ball`?")
    );
    assert_eq!(refusal(json!(["go", "go"])), said("robot `go` is listed twice", ""));
    assert_eq!(
        refusal(json!(["go", "scene"])),
        said("expected robots, found the world `scene`", "name the robots that it is made of")
    );
    assert_eq!(
        refusal(json!(["q"])),
        said(
            "expected a robot with a name of its own, found `q`",
            "`q` is a field of every state: give the robot another name"
        )
    );
    assert_eq!(
        refusal(json!(["ball", "moon"])),
        said(
            "world: expected one gravity, found [0.0, 0.0, -9.81] m/s² for `ball` and \
             [0.0, 0.0, -1.62] m/s² for `moon`",
            ""
        )
    );
}
