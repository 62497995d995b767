//! `Urdf`: a robot from a URDF file.

use std::collections::BTreeMap;
use std::sync::Arc;

use legwork_block::quantity::{
    Acceleration, Dimensionless, Inertia, Length, NonNegative, PerJoint, Physical, Scalar,
};
use legwork_block::{Files, Invalid, Resource, ResourceKind};
use legwork_mechanics::nalgebra::Vector3;
use legwork_mechanics::{Base, MimicJoints, Model, Options};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::joint_values::{POSITIONS, coordinates, misfit};
use crate::robot_model::{Keyframe, RobotModel, unknown};

/// A robot from a URDF file, for the `robots:` section.
///
/// Revolute, continuous and prismatic joints move, in the order of the file; links on fixed joints
/// are welded to their parents and stay as frames. Meshes are not read.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Urdf {
    /// The file: relative to the diagram, in a search root, or built in as `std:robots/…`.
    pub path: String,
    /// Whether the root link is free in space or welded to the world.
    #[serde(default)]
    pub base: BaseKind,
    /// Links that touch the ground.
    #[serde(default)]
    pub feet: Vec<String>,
    /// Inertia of the motors' rotors, reflected to the joints by the gear ratio squared [kg m²; kg
    /// for prismatic joints], which adds to the diagonal of M. By joint name or pattern; joints
    /// not named have none.
    #[serde(default)]
    pub rotor_inertia: Option<PerJoint<NonNegative<Inertia>>>,
    /// Named poses.
    #[serde(default)]
    pub keyframes: BTreeMap<String, NamedPose>,
    /// Acceleration of free fall in world axes [m/s²].
    #[serde(default = "earth")]
    pub gravity: [Acceleration; 3],
    /// What to do with joints that mimic others.
    #[serde(default)]
    pub mimic: Mimic,
}

/// How the root link is held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum BaseKind {
    /// Free in space: six velocities more.
    #[default]
    Floating,
    /// Welded to the world.
    Fixed,
}

/// What to do with a joint that mimics another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum Mimic {
    /// Refuse the file.
    #[default]
    Reject,
    /// Let the joint move on its own, with a warning.
    Independent,
}

/// A named pose in a diagram.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamedPose {
    /// Joint positions [rad; m for prismatic joints]: a list in the order of the robot file, or by
    /// joint name or pattern; joints not named are at 0.
    pub s: PerJoint<Scalar>,
    /// Position of the base in the world [m].
    #[serde(default)]
    pub base_position: Option<[Length; 3]>,
    /// Orientation of the base, world_from_base: quaternion (w, x, y, z) of any length but 0.
    #[serde(default)]
    pub base_orientation: Option<[Dimensionless; 4]>,
}

fn earth() -> [Acceleration; 3] {
    [0.0, 0.0, -9.81].map(Acceleration::new)
}

/// The quaternion at unit length.
///
/// # Errors
/// If its length is zero.
pub(crate) fn unit_quaternion(
    parameter: &str,
    quaternion: [Dimensionless; 4],
) -> Result<[f64; 4], Invalid> {
    let q = quaternion.map(Dimensionless::value);
    // Scaled by the largest part first, so that squares neither overflow nor vanish.
    let largest = q.iter().fold(0.0, |most: f64, part| most.max(part.abs()));
    if largest == 0.0 {
        let message = "expected a quaternion (w, x, y, z), found one of length 0";
        return Err(Invalid::parameter(parameter, message).hint("[1, 0, 0, 0] turns nothing"));
    }
    let scaled = q.map(|part| part / largest);
    let length = scaled.iter().map(|part| part * part).sum::<f64>().sqrt();
    Ok(scaled.map(|part| part / length))
}

impl Urdf {
    fn model(&self, files: &dyn Files) -> Result<(Model, Vec<String>), Invalid> {
        let wrong = |message: String| Invalid::parameter("path", message);
        let bytes = files.read(&self.path).map_err(wrong)?;
        let text = String::from_utf8(bytes)
            .map_err(|error| wrong(format!("{}: expected UTF-8 text, {error}", self.path)))?;
        let base = match self.base {
            BaseKind::Floating => Base::Floating,
            BaseKind::Fixed => Base::Fixed,
        };
        let mimic = match self.mimic {
            Mimic::Reject => MimicJoints::Reject,
            Mimic::Independent => MimicJoints::Independent,
        };
        let [x, y, z] = self.gravity.map(Acceleration::value);
        let options = Options { gravity: Vector3::new(x, y, z), mimic, ..Options::new(base) };
        let (model, warnings) = Model::from_urdf(&text, &options)
            .map_err(|error| wrong(format!("{}: {error}", self.path)))?;
        let warnings = warnings.iter().map(|warning| format!("{}: {warning}", self.path));
        Ok((self.with_rotors(model)?, warnings.collect()))
    }

    fn with_rotors(&self, model: Model) -> Result<Model, Invalid> {
        let Some(rotor_inertia) = &self.rotor_inertia else { return Ok(model) };
        let names: Vec<&str> = model.joints().iter().map(|joint| joint.name.as_str()).collect();
        let none = NonNegative::from_si(0.0).ok();
        let values: Vec<f64> = rotor_inertia
            .resolve_or(&names, none.as_ref())
            .map_err(|error| misfit("rotor_inertia", &error, &names))?
            .into_iter()
            .map(Physical::si)
            .collect();
        model
            .with_rotor_inertia(&values)
            .map_err(|error| Invalid::parameter("rotor_inertia", error.to_string()))
    }

    fn keyframe(&self, name: &str, pose: &NamedPose, model: &Model) -> Result<Keyframe, Invalid> {
        let named = |mut invalid: Invalid| {
            invalid.message = format!("keyframe `{name}`: {}", invalid.message);
            invalid
        };
        let zeros = vec![0.0; model.joint_count()];
        let joint_positions =
            coordinates("keyframes", &pose.s, model, POSITIONS, &zeros).map_err(named)?;
        let base_position = pose.base_position.map(|p| p.map(Length::value));
        let base_orientation = pose
            .base_orientation
            .map(|q| unit_quaternion("keyframes", q))
            .transpose()
            .map_err(named)?;
        if !model.is_floating() && (base_position.is_some() || base_orientation.is_some()) {
            let message = "expected joint positions only, found a pose of the fixed base";
            return Err(named(Invalid::parameter("keyframes", message)));
        }
        Ok(Keyframe { joint_positions, base_position, base_orientation })
    }
}

/// A warning for each joint of the keyframe that is beyond its limits.
fn beyond_limits<'a>(
    name: &'a str,
    keyframe: &'a Keyframe,
    model: &'a Model,
) -> impl Iterator<Item = String> + 'a {
    model.joints().iter().zip(&keyframe.joint_positions).filter_map(move |(joint, &s)| {
        let inside = (joint.lower..=joint.upper).contains(&s);
        (!inside).then(|| {
            let (joint, lower, upper) = (&joint.name, joint.lower, joint.upper);
            format!(
                "keyframe `{name}`: joint `{joint}` at {s} is outside its limits {lower} … {upper}"
            )
        })
    })
}

impl ResourceKind for Urdf {
    const KIND: &'static str = "Urdf";

    fn load(
        self,
        name: &str,
        files: &dyn Files,
    ) -> Result<(Arc<dyn Resource>, Vec<String>), Invalid> {
        let (model, mut warnings) = self.model(files)?;
        let mut feet = Vec::with_capacity(self.feet.len());
        for foot in &self.feet {
            let frame = model.find_frame(foot).ok_or_else(|| {
                let links = model.frames().iter().map(|frame| frame.name.as_str());
                unknown("feet", &format!("a link of {}", self.path), foot, links)
            })?;
            if feet.contains(&frame) {
                return Err(Invalid::parameter("feet", format!("foot `{foot}` stands twice")));
            }
            feet.push(frame);
        }
        let mut keyframes = BTreeMap::new();
        for (key, pose) in &self.keyframes {
            let keyframe = self.keyframe(key, pose, &model)?;
            warnings.extend(beyond_limits(key, &keyframe, &model));
            keyframes.insert(key.clone(), keyframe);
        }
        let robot = RobotModel { name: name.to_owned(), model, feet, keyframes };
        Ok((Arc::new(robot), warnings))
    }
}

#[cfg(test)]
mod tests;
