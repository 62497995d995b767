//! What expressions know of a model of MuJoCo beside its mechanism.

use std::collections::BTreeMap;

use legwork_block::{Unit, Value};
use legwork_mechanics::{Mjcf, MjcfActuator, MjcfGeom, MjcfKeyframe, Model};

use crate::robot::model::Keyframe;

/// The state of the file as a keyframe.
pub(super) fn keyframe(model: &Model, found: &MjcfKeyframe) -> Keyframe {
    let floating = model.trees().first().is_some_and(legwork_mechanics::Tree::is_floating);
    let q = &found.configuration;
    let (base, joints) = q.split_at(if floating { 7 } else { 0 });
    let part = |from: usize| base.get(from).copied().unwrap_or(0.0);
    Keyframe {
        joint_positions: joints.to_vec(),
        base_position: floating.then(|| [part(0), part(1), part(2)]),
        base_orientation: floating.then(|| [part(3), part(4), part(5), part(6)]),
    }
}

/// Facts that [`RobotModel`](crate::robot::model::RobotModel) does not have by itself.
pub(super) fn of_file(mjcf: &Mjcf) -> Vec<(&'static str, Value)> {
    let link = |geom: &MjcfGeom| mjcf.model.frame(geom.link).name.clone();
    let mut collides: BTreeMap<String, [u32; 2]> = BTreeMap::new();
    for geom in mjcf.geoms.iter().filter(|geom| geom.touches) {
        let [types, affinities] = collides.entry(link(geom)).or_default();
        *types |= geom.contact_type;
        *affinities |= geom.contact_affinity;
    }
    let collides =
        collides.into_iter().map(|(link, bits)| (link, Value::from(bits.map(f64::from).to_vec())));
    let limits = |value: fn(&MjcfActuator) -> f64| {
        Value::from(mjcf.actuators.iter().map(value).collect::<Vec<f64>>())
    };
    let named = mjcf.geoms.iter().filter(|geom| !geom.name.is_empty());
    let geoms = named.map(|geom| {
        let facts = Value::record([
            ("link", Value::from(link(geom))),
            ("friction", Value::from(geom.friction.to_vec())),
            ("condim", Value::from(f64::from(geom.contact_dimension))),
            ("contype", Value::from(f64::from(geom.contact_type))),
            ("conaffinity", Value::from(f64::from(geom.contact_affinity))),
        ]);
        (geom.name.clone(), facts)
    });
    let equalities = mjcf.equalities.iter().map(|equality| {
        let facts = Value::record([
            ("frames", Value::from(equality.frames.to_vec())),
            ("weld", Value::from(equality.weld)),
            ("active", Value::from(equality.active)),
        ]);
        (equality.name.clone(), facts)
    });
    let couples = |names: &[[String; 2]]| {
        Value::List(names.iter().map(|pair| Value::from(pair.to_vec())).collect())
    };
    vec![
        ("timestep", Value::quantity(mjcf.time_step, Unit::SECOND)),
        ("integrator", Value::from(mjcf.integrator.as_str())),
        ("actuation", actuation(mjcf)),
        ("actuators", Value::record(mjcf.actuators.iter().map(actuator))),
        ("control_lower", limits(|actuator| actuator.control_range[0])),
        ("control_upper", limits(|actuator| actuator.control_range[1])),
        ("geoms", Value::record(geoms)),
        ("collides", Value::record(collides)),
        ("equality", Value::record(equalities)),
        ("states", Value::record(mjcf.keyframes.iter().map(|found| state(mjcf, found)))),
        ("excluded", couples(&mjcf.excluded)),
        ("pairs", couples(&mjcf.pairs)),
    ]
}

fn actuator(actuator: &MjcfActuator) -> (String, Value) {
    let law = actuator.law.map(|law| {
        [
            ("gain", law.gain),
            ("constant", law.constant),
            ("per_length", law.per_length),
            ("per_rate", law.per_rate),
        ]
    });
    let numbers = [
        ("control_lower", actuator.control_range[0]),
        ("control_upper", actuator.control_range[1]),
        ("force_lower", actuator.force_range[0]),
        ("force_upper", actuator.force_range[1]),
    ];
    let numbers = numbers.into_iter().chain(law.into_iter().flatten());
    let numbers = numbers.map(|(name, value)| (name, Value::from(value)));
    let kind = [("kind", Value::from(actuator.kind.as_str()))];
    (actuator.name.clone(), Value::record(kind.into_iter().chain(numbers)))
}

/// What a keyframe says beside the pose.
fn state(mjcf: &Mjcf, found: &MjcfKeyframe) -> (String, Value) {
    let floating = mjcf.model.trees().first().is_some_and(legwork_mechanics::Tree::is_floating);
    let (base, joints) = found.velocity.split_at(if floating { 6 } else { 0 });
    let list = |values: &[f64]| Value::from(values.to_vec());
    let of_base = [("velocity", 0..3), ("angular_velocity", 3..6)];
    let of_base = of_base.into_iter().filter_map(|(name, at)| Some((name, list(base.get(at)?))));
    let controls = found.controls.as_deref().map(|controls| ("ctrl", list(controls)));
    let facts = [("s_dot", list(joints))].into_iter().chain(of_base).chain(controls);
    (found.name.clone(), Value::record(facts))
}

/// Joint torques per force of the actuators: n rows; without rows if that is a huge matrix.
fn actuation(mjcf: &Mjcf) -> Value {
    const MOST: usize = 1_000_000;
    let (model, count) = (&mjcf.model, mjcf.actuators.len());
    if model.joint_dim().saturating_mul(count) > MOST {
        return Value::List(Vec::new());
    }
    let mut rows = vec![vec![0.0; count]; model.joints().len()];
    for (column, actuator) in mjcf.actuators.iter().enumerate() {
        for (joint, moment) in &actuator.moment {
            rows[joint.index()][column] += moment;
        }
    }
    let rows =
        model.joints().iter().zip(rows).flat_map(|(joint, row)| {
            std::iter::repeat_n(Value::from(row), joint.kind.velocity_dim())
        });
    Value::List(rows.collect())
}
