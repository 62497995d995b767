//! A robot as blocks see it: its mechanics, feet and keyframes.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use legwork_block::{Invalid, Ports, Resource, Unit, Value, nearest};
use legwork_mechanics::{FrameId, Joint, Model};
use legwork_mesh::Hull;

use crate::robot::meshes::HullsByPath;

/// A robot of the `robots:` section, made by [`Urdf`](crate::robot::urdf::Urdf),
/// [`Mjcf`](crate::robot::mjcf::Mjcf) or [`FreeBody`](crate::robot::free_body::FreeBody), or several in a
/// [`World`](crate::robot::world::World): `q`, `ν` and all that follows are then stacked, links and
/// joints are named `robot/link`.
///
/// In expressions it has these facts:
///
/// | fact | meaning |
/// |---|---|
/// | `name` | name in the diagram |
/// | `n`, `ns` | length of `ṡ` and `τ`, and of `s`: joints, if all have one degree of freedom |
/// | `nv`, `nq` | velocities, configuration numbers |
/// | `floating` | whether a base is free |
/// | `mass`, `weight` | of all that can move [kg], times gravity [N] |
/// | `gravity` | acceleration of free fall, world axes [m/s²] |
/// | `feet`, `joints`, `mimic` | names; `mimic` are the joints that follow others |
/// | `robots` | names of the robots of a world; empty for one robot |
/// | `effort`, `velocity`, `lower`, `upper` | limits of joint coordinates, infinite if none |
/// | `rotor_inertia` | reflected to each joint coordinate [kg m²; kg if prismatic] |
/// | `damping`, `friction` | viscous and dry, that act at each joint coordinate |
/// | `stiffness` | of the springs that act at each joint coordinate |
/// | `keyframes.<name>` | `s`, and if stated `base_position`, `base_orientation`; not of a world |
///
/// and those that only its kind of file has, listed there.
#[derive(Debug, Clone)]
pub struct RobotModel {
    /// Name in the diagram.
    pub name: String,
    /// The mechanics.
    pub model: Model,
    /// Frames of the feet, in the order of the diagram.
    pub feet: Vec<FrameId>,
    /// Named poses.
    pub keyframes: BTreeMap<String, Keyframe>,
    /// The robots of a world, in the order in which `q` and `ν` stack them; none for one robot.
    pub members: Vec<Arc<RobotModel>>,
    /// Facts that only its kind of file has.
    pub of_file: Vec<(&'static str, Value)>,
    /// Hulls of meshes that were looked at when the robot was loaded, for who needs them again.
    pub(crate) hulls: HullsByPath,
}

/// A named pose of a robot.
#[derive(Debug, Clone, PartialEq)]
pub struct Keyframe {
    /// Joint positions s (ns), in the order of the robot file [rad; m if prismatic].
    pub joint_positions: Vec<f64>,
    /// Position of the base, world axes [m].
    pub base_position: Option<[f64; 3]>,
    /// Orientation of the base, world_from_base: unit quaternion (w, x, y, z).
    pub base_orientation: Option<[f64; 4]>,
}

impl RobotModel {
    /// The hull of a mesh of its file, if it has been looked at.
    pub(crate) fn hull(&self, path: &str) -> Option<&Hull> {
        let of_members = || self.members.iter().find_map(|member| member.hull(path));
        self.hulls.get(path).or_else(of_members)
    }

    /// The robot of the diagram, if it has one only.
    pub(crate) fn only(ports: &Ports<'_>) -> Option<Arc<Self>> {
        let names = ports.resource_names();
        let mut robots = names.iter().filter_map(|name| ports.resource::<Self>(name).ok());
        let robot = robots.next()?;
        robots.next().is_none().then_some(robot)
    }

    /// Whether this is a world of robots.
    pub fn is_world(&self) -> bool {
        !self.members.is_empty()
    }

    /// Whether a base is free in space.
    pub fn is_floating(&self) -> bool {
        self.model.trees().iter().any(legwork_mechanics::Tree::is_floating)
    }

    /// The frame `name`, which the parameter `parameter` names.
    ///
    /// # Errors
    /// If the robot has no such link.
    pub fn frame(&self, parameter: &str, name: &str) -> Result<FrameId, Invalid> {
        self.model.find_frame(name).ok_or_else(|| {
            let frames = self.model.frames().iter().map(|frame| frame.name.as_str());
            unknown(parameter, &format!("a link of `{}`", self.name), name, frames)
        })
    }

    /// The keyframe `name`, which the parameter `parameter` names.
    ///
    /// # Errors
    /// If the robot has no such keyframe.
    pub fn keyframe(&self, parameter: &str, name: &str) -> Result<&Keyframe, Invalid> {
        self.keyframes.get(name).ok_or_else(|| {
            if self.is_world() {
                let message = format!("expected no keyframe, as `{}` is a world", self.name);
                return Invalid::parameter(parameter, message).hint(
                    "name the keyframes of its robots: `robots: {\"…\": (keyframe: \"…\")}`",
                );
            }
            let known = self.keyframes.keys().map(String::as_str);
            unknown(parameter, &format!("a keyframe of `{}`", self.name), name, known)
        })
    }

    /// Names of the n joint coordinates, in the order of the robot file: those of the joints, with
    /// a suffix (`.wx`) for joints of several coordinates.
    pub fn joint_names(&self) -> Vec<&str> {
        self.model.joint_velocity_names().collect()
    }
}

impl RobotModel {
    /// A limit of each of the n joint coordinates.
    pub(crate) fn limits(&self, value: fn(&Joint) -> f64) -> Vec<f64> {
        let mut limits = Vec::with_capacity(self.model.joint_dim());
        for joint in self.model.joints() {
            limits.extend(std::iter::repeat_n(value(joint), joint.kind.velocity_dim()));
        }
        limits
    }

    /// Stiffness of the springs of each of the n joint coordinates.
    fn stiffness(&self) -> Vec<f64> {
        let mut all = vec![0.0; self.model.velocity_dim()];
        self.model.joint_stiffness(&mut all);
        self.model.joint_velocity_indices().iter().map(|&k| all[k]).collect()
    }
}

/// Names that a message lists at most.
const MOST_NAMES: usize = 24;

/// "expected …, found `name`" with the nearest of the `known` names.
pub(crate) fn unknown<'n>(
    parameter: &str,
    expected: &str,
    name: &str,
    known: impl Iterator<Item = &'n str> + Clone,
) -> Invalid {
    let invalid = Invalid::parameter(parameter, format!("expected {expected}, found `{name}`"));
    if let Some(near) = nearest(name, known.clone()) {
        return invalid.hint(format!("did you mean `{near}`?"));
    }
    let known: Vec<&str> = known.collect();
    match known.is_empty() {
        true => invalid.hint("there are none"),
        // A large robot has hundreds of links.
        false if known.len() > MOST_NAMES => {
            let first = known[..MOST_NAMES].join(", ");
            invalid.hint(format!("known are: {first} and {} more", known.len() - MOST_NAMES))
        }
        false => invalid.hint(format!("known are: {}", known.join(", "))),
    }
}

impl Keyframe {
    fn facts(&self) -> Value {
        let position = self.base_position.map(|p| ("base_position", lengths(&p)));
        let turn = self.base_orientation.map(|q| ("base_orientation", Value::from(q.to_vec())));
        let s = [("s", Value::from(self.joint_positions.clone()))];
        Value::record(s.into_iter().chain(position).chain(turn))
    }
}

fn lengths(values: &[f64]) -> Value {
    quantities(values, Unit::METRE)
}

fn quantities(values: &[f64], unit: Unit) -> Value {
    Value::List(values.iter().map(|&value| Value::quantity(value, unit)).collect())
}

impl Resource for RobotModel {
    fn memory(&self) -> u64 {
        self.model.pattern_bytes()
    }

    fn facts(&self) -> Value {
        let model = &self.model;
        let count = |n: usize| Value::from(n as f64);
        let names =
            |names: &mut dyn Iterator<Item = &str>| Value::from(names.collect::<Vec<&str>>());
        let each = |value: fn(&Joint) -> f64| Value::from(self.limits(value));
        let gravity = model.gravity();
        let keyframes = self.keyframes.iter().map(|(name, pose)| (name.as_str(), pose.facts()));
        let facts = [
            ("name", Value::from(self.name.as_str())),
            ("n", count(model.joint_dim())),
            ("ns", count(model.joint_configuration_dim())),
            ("nv", count(model.velocity_dim())),
            ("nq", count(model.configuration_dim())),
            ("floating", Value::from(self.is_floating())),
            ("mass", Value::quantity(model.total_mass(), Unit::KILOGRAM)),
            ("weight", Value::quantity(model.total_mass() * gravity.norm(), Unit::NEWTON)),
            ("gravity", quantities(gravity.as_slice(), Unit::METRE_PER_SECOND_SQUARED)),
            ("feet", names(&mut self.feet.iter().map(|&foot| model.frame(foot).name.as_str()))),
            ("joints", names(&mut model.joints().iter().map(|joint| joint.name.as_str()))),
            ("mimic", names(&mut model.mimic_joints().iter().map(|joint| joint.name.as_str()))),
            ("robots", names(&mut self.members.iter().map(|robot| robot.name.as_str()))),
            ("effort", each(|joint| joint.effort)),
            ("velocity", each(|joint| joint.velocity)),
            ("lower", each(|joint| joint.lower)),
            ("upper", each(|joint| joint.upper)),
            ("rotor_inertia", Value::from(model.rotors().diagonal().to_vec())),
            ("damping", Value::from(model.resistance().viscous().to_vec())),
            ("friction", Value::from(model.resistance().dry().to_vec())),
            ("stiffness", Value::from(self.stiffness())),
            ("keyframes", Value::record(keyframes)),
        ];
        Value::record(facts.into_iter().chain(self.of_file.iter().cloned()))
    }

    fn dimension(&self, name: &str) -> Option<usize> {
        match name {
            "n" => Some(self.model.joint_dim()),
            "ns" => Some(self.model.joint_configuration_dim()),
            "nv" => Some(self.model.velocity_dim()),
            "nq" => Some(self.model.configuration_dim()),
            _ => None,
        }
    }

    fn mechanism(&self) -> Option<&dyn Any> {
        Some(&self.model)
    }

    fn names(&self) -> Vec<String> {
        self.model.frames().iter().map(|frame| frame.name.clone()).collect()
    }
}
