//! A robot as blocks see it: its mechanics, feet and keyframes.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use legwork_block::{Invalid, Ports, Resource, Unit, Value, nearest};
use legwork_mechanics::{FrameId, Joint, Model};
use legwork_mesh::Hull;

use crate::robot::joint_values::{Coordinate, positions, sliding};
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
/// | `effort` | limits of joint coordinates, infinite if none [N m; N if prismatic] |
/// | `velocity`, `lower`, `upper` | the same [rad/s, rad; m/s, m if prismatic] |
/// | `rotor_inertia` | reflected to each joint coordinate [kg m²; kg if prismatic] |
/// | `damping` | viscous, that acts at each joint coordinate [N m s/rad; N s/m if prismatic] |
/// | `friction` | dry, that acts at each joint coordinate [N m; N if prismatic] |
/// | `stiffness` | of the springs at each joint coordinate [N m/rad; N/m if prismatic] |
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
    /// Initial state of the file; without one, all joints are at 0 and the base is level at the
    /// origin.
    pub start: Option<Keyframe>,
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
    fn facts(&self, coordinates: &[Coordinate]) -> Value {
        let position = self.base_position.map(|p| ("base_position", lengths(&p)));
        let turn = self.base_orientation.map(|q| ("base_orientation", Value::from(q.to_vec())));
        let number = |(&value, (_, unit)): (&f64, &Coordinate)| match *unit == Unit::ONE {
            true => Value::from(value),
            false => Value::quantity(value, *unit),
        };
        let numbers = self.joint_positions.iter().zip(coordinates).map(number);
        let s = [("s", Value::List(numbers.collect()))];
        Value::record(s.into_iter().chain(position).chain(turn))
    }
}

fn lengths(values: &[f64]) -> Value {
    quantities(values, Unit::METRE)
}

fn quantities(values: &[f64], unit: Unit) -> Value {
    Value::List(values.iter().map(|&value| Value::quantity(value, unit)).collect())
}

/// Units of the facts of joints that turn, and of those that slide.
mod unit {
    use legwork_block::Unit;

    pub(super) type Pair = [Unit; 2];
    pub(super) const POSITION: Pair = [Unit::RADIAN, Unit::METRE];
    pub(super) const SPEED: Pair = [Unit::RADIAN_PER_SECOND, Unit::METRE_PER_SECOND];
    pub(super) const EFFORT: Pair = [Unit::NEWTON_METRE, Unit::NEWTON];
    pub(super) const INERTIA: Pair = [Unit::KILOGRAM_SQUARE_METRE, Unit::KILOGRAM];
    /// N m s/rad and N s/m.
    pub(super) const DAMPING: Pair = [Unit::new(1, 2, -1, -1), Unit::new(1, 0, -1, 0)];
    /// N m/rad and N/m.
    pub(super) const STIFFNESS: Pair = [Unit::new(1, 2, -2, -1), Unit::new(1, 0, -2, 0)];
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
        let slides = sliding(model);
        let each = |values: &[f64], [turning, sliding]: unit::Pair| {
            let unit = |slides: &bool| if *slides { sliding } else { turning };
            let numbers = values.iter().zip(&slides);
            let numbers = numbers.map(|(&value, slides)| Value::quantity(value, unit(slides)));
            Value::List(numbers.collect())
        };
        let limit = |value: fn(&Joint) -> f64, unit| each(&self.limits(value), unit);
        let coordinates = positions(model);
        let gravity = model.gravity();
        let keyframes =
            self.keyframes.iter().map(|(name, pose)| (name.as_str(), pose.facts(&coordinates)));
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
            ("effort", limit(|joint| joint.effort, unit::EFFORT)),
            ("velocity", limit(|joint| joint.velocity, unit::SPEED)),
            ("lower", limit(|joint| joint.lower, unit::POSITION)),
            ("upper", limit(|joint| joint.upper, unit::POSITION)),
            ("rotor_inertia", each(model.rotors().diagonal(), unit::INERTIA)),
            ("damping", each(model.resistance().viscous(), unit::DAMPING)),
            ("friction", each(model.resistance().dry(), unit::EFFORT)),
            ("stiffness", each(&self.stiffness(), unit::STIFFNESS)),
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
