//! Models of MuJoCo as resources: facts, what the diagram changes, messages.

use legwork_block::{Resource, Unit, Value, parse_unit};
use serde_json::{Value as Json, json};

use super::Mjcf;
use crate::testing::robots::load_as;

/// The cart-pole with more parameters.
fn cart(extra: &Json) -> (std::sync::Arc<crate::robot::model::RobotModel>, Vec<String>) {
    let mut parameters = json!({ "path": "robots/cart_pole/cart_pole.xml" });
    let fields = parameters.as_object_mut().expect("a map");
    fields.extend(extra.as_object().expect("a map").clone());
    load_as::<Mjcf>("cart", parameters, &[]).expect("a robot")
}

fn fact(facts: &Value, path: &str) -> Value {
    path.split('.').fold(facts.clone(), |facts, name| {
        let Value::Record(facts) = facts else { panic!("`{name}` of {facts:?}") };
        facts.get(name).cloned().unwrap_or_else(|| panic!("no fact `{name}`"))
    })
}

#[test]
fn facts_of_the_cart_pole() {
    let (cart, warnings) = cart(&json!({}));
    assert!(warnings.is_empty(), "{warnings:?}");
    let facts = cart.facts();
    let row = |moment: f64| Value::from(vec![moment]);
    let zeros = |units: [&str; 2]| {
        let zero = |unit| Value::quantity(0.0, parse_unit(unit).expect("a unit").0);
        Value::List(units.map(zero).to_vec())
    };
    for (path, expected) in [
        ("joints", Value::from(vec!["rail", "pivot"])),
        ("floating", Value::from(false)),
        (
            "effort",
            Value::List(vec![
                Value::quantity(10.0, Unit::NEWTON),
                Value::quantity(f64::INFINITY, Unit::NEWTON_METRE),
            ]),
        ),
        ("damping", zeros(["N*s/m", "N*m*s/rad"])),
        ("friction", zeros(["N", "N*m"])),
        ("stiffness", zeros(["N/m", "N*m/rad"])),
        ("rotor_inertia", zeros(["kg", "kg*m^2"])),
        ("timestep", Value::quantity(0.001, Unit::SECOND)),
        ("integrator", Value::from("RK4")),
        ("actuation", Value::List(vec![row(10.0), row(0.0)])),
        ("control_upper", Value::from(vec![1.0])),
        ("actuators.push.kind", Value::from("motor")),
        ("actuators.push.gain", Value::from(1.0)),
        ("actuators.push.force_upper", Value::from(f64::INFINITY)),
        (
            "keyframes.tilted.s",
            Value::List(vec![
                Value::quantity(0.0, Unit::METRE),
                Value::quantity(0.02, Unit::RADIAN),
            ]),
        ),
        ("keyframes.reference.s", zeros(["m", "rad"])),
        ("states.tilted.s_dot", Value::from(vec![0.0, 0.0])),
    ] {
        assert_eq!(fact(&facts, path), expected, "{path}");
    }
    assert!((cart.model.total_mass() - 2.5).abs() < 1e-15);
    assert!(cart.frame("frame", "tip").is_ok());
}

/// What the diagram states goes before the file; joints that it does not name keep the file's.
#[test]
fn the_diagram_overrides_the_file() {
    let (moon, _) = cart(&json!({
        "gravity": [0, 0, "-1.62 m/s^2"],
        "rotor_inertia": { "rail": 0.3 },
        "keyframes": { "tilted": { "s": { "pivot": "90 deg" } } },
    }));
    assert_eq!(moon.model.gravity().as_slice(), [0.0, 0.0, -1.62]);
    assert_eq!(moon.model.rotors().diagonal(), [0.3, 0.0]);
    let right = std::f64::consts::FRAC_PI_2;
    assert_eq!(moon.keyframes["tilted"].joint_positions, [0.0, right]);

    let (held, _) = cart(&json!({ "weld": { "rail": 0.2 }, "mount": { "position": [0, 0, 1] } }));
    assert_eq!(held.joint_names(), ["pivot"]);
    let mut kinematics = legwork_mechanics::Kinematics::new(&held.model);
    kinematics.update_placements(&held.model, &[0.0]);
    let tip = held.frame("frame", "tip").expect("a tip");
    let tip = legwork_mechanics::world_from_frame(&held.model, &kinematics, tip).translation;
    crate::testing::robots::close(tip.as_slice(), &[0.2, 0.0, 1.4], 1e-15);
}

#[test]
fn mistakes_are_named() {
    let refused = |parameters: Json| {
        let error = load_as::<Mjcf>("r", parameters, &[]).expect_err("an error");
        (error.parameter.unwrap_or_default(), error.message, error.hints)
    };
    let (parameter, message, hints) = refused(json!({ "path": "robots/pendulum/pendulum.urdf" }));
    assert_eq!(parameter, "path");
    assert!(message.ends_with("expected <mujoco>, found <robot>"), "{message}");
    assert!(message.starts_with("robots/pendulum/pendulum.urdf:"), "{message}");
    assert!(hints.len() == 1 && hints[0].contains("`Urdf(path: …)`"), "{hints:?}");
    let cart = "robots/cart_pole/cart_pole.xml";
    let (parameter, message, hints) = refused(json!({ "path": cart, "feet": ["pol"] }));
    assert_eq!(
        (&*parameter, &*message),
        ("feet", &*format!("expected a link of {cart}, found `pol`"))
    );
    assert_eq!(hints, ["did you mean `pole`?"]);
    let (_, message, _) = refused(json!({ "path": cart, "base": "Floating" }));
    assert!(message.contains("a floating base is the only body"), "{message}");
    let (_, message, _) = refused(json!({ "path": cart, "weld": { "rial": 0 } }));
    assert!(message.contains("no joint matches `rial`"), "{message}");
}
