//! `Urdf`: a robot from a URDF file.

use std::collections::BTreeMap;
use std::sync::Arc;

use legwork_block::quantity::{
    Acceleration, Angle, Dimensionless, Inertia, Length, NonNegative, PerJoint, PerJointError,
    Physical, Scalar,
};
use legwork_block::{Files, Invalid, OtherResources, Resource, ResourceKind, parameters};
use legwork_mechanics::nalgebra::Vector3;
use legwork_mechanics::{Base, FrameId, MimicJoints, Model, Options, Placement, Tree};

mod source;

use source::Source;

use crate::robot::joint_values::{coordinates, misfit, positions, zero_positions};
use crate::robot::meshes;
use crate::robot::model::{Keyframe, RobotModel, unknown};

/// A robot from a URDF file, for the `robots:` section.
///
/// All joints but fixed ones move, in the order of the file. A joint of several degrees of freedom
/// has several coordinates: `ball.qw`, `ball.qx`, … in `s`, `ball.wx`, … in `ṡ` and `τ`. Links on
/// fixed joints are welded to their parents and stay as frames.
///
/// Meshes (STL, OBJ, COLLADA, glTF) are `package://NAME/…`, `file://…`, or named from the folder of
/// the file. One warning lists those that are missing; only a contact that takes its shape from one
/// needs it. Another lists links whose mass is far from where their shapes are, in a ball of radius
/// R about the shapes' centre: the centre of mass lies 3 R from it; `tr(I)/2` is ten times `m R²`,
/// which no matter in the ball exceeds; or I is a thousandth of that of an even density in the
/// hulls. The shapes are those of collision if they are meshes, else those that are seen.
///
/// A file with `<xacro:…>` elements is expanded first: properties, macros, conditionals, includes,
/// expressions. Of several robots in a file the largest is read. What a file states beside its
/// mechanism (transmissions, Gazebo, safety controllers) is not used, and one warning lists it.
///
/// Damping and dry friction of the joints, the file's `<dynamics damping="D" friction="F"/>`, are
/// forces of the robot itself: a joint of speed v feels `−d v` with `d = D + F/max(|v|, ε)`:
/// Coulomb friction above the speed ε of `friction_speed` and a steep damper below, so that a joint
/// loaded by less than F creeps at less than ε. All blocks that solve or advance the dynamics have
/// them from one place, the computation of M, h and the factor that they share. Under solvers of
/// one stage, `SemiImplicitEuler` and `Euler`, and in blocks that step by themselves, the force is
/// that of the speed at the end of the step, `−d(ν) ν⁺`: `(M + Δt d) ν̇ = Sᵀτ + Jᵀf − h − d ν`,
/// stable for any damping at any step. Other solvers take `−d(ν) ν` as it is; stiff damping then
/// needs an implicit one. M and h as outputs know nothing of either. A joint that mimics another
/// loads it by `m² D` and `|m| F`.
///
/// References: MuJoCo's documentation, "Computation", for implicit damping of joints; P. Song et
/// al., *Analysis of rigid-body dynamic models for simulation of systems with frictional contacts*
/// (2001), for the regularised friction.
#[parameters(aliases("robot model", "URDF"))]
pub struct Urdf {
    /// The file: relative to the diagram, in a search root, or built in as `std:robots/…`.
    pub path: String,
    /// Arguments of a xacro file, in place of their defaults: `{ "prefix": "left_", "dof": "7" }`.
    #[default]
    pub args: BTreeMap<String, String>,
    /// Folders of packages, for `package://NAME/…` and `$(find NAME)` of xacro. Those not named are
    /// the nearest folder around the file that is called NAME, or has a `package.xml` of that name.
    #[default]
    pub packages: BTreeMap<String, String>,
    /// Whether the root link is free in space or welded to the world.
    #[default]
    pub base: Base,
    /// Where a fixed base is welded to the world; without it, level at the origin. A floating base
    /// starts where the block that integrates its state says.
    pub mount: Option<Mount>,
    /// Links that touch the ground.
    #[default]
    pub feet: Vec<String>,
    /// Inertia of the motors' rotors, reflected to the joints by the gear ratio squared [kg m²; kg
    /// for prismatic joints], which adds to the diagonal of M. By joint name or pattern; joints
    /// not named have none.
    pub rotor_inertia: Option<PerJoint<NonNegative<Inertia>>>,
    /// The same as a full matrix (n rows of n) where one motor drives several joints: `Tᵀ I T` with
    /// motor positions `θ = T s` and the rotors' inertias on the diagonal of I. In place of
    /// `rotor_inertia`.
    pub reflected_inertia: Option<Vec<Vec<Inertia>>>,
    /// Named poses.
    #[default]
    pub keyframes: BTreeMap<String, NamedPose>,
    /// Acceleration of free fall in world axes [m/s²].
    #[default = [0, 0, -9.81]]
    pub gravity: [Acceleration; 3],
    /// What to do with joints that mimic others.
    #[default]
    pub mimic: Mimic,
    /// Whether damping and dry friction of the joints act, as the file's `<dynamics>` states them.
    #[default]
    pub joint_damping: JointDamping,
    /// Speed from which on the dry friction of a joint is full [rad/s; m/s for prismatic joints].
    #[default = 0.01]
    pub friction_speed: f64,
    /// Joints that do not move, and where they are held [rad; m for prismatic joints], by name or
    /// pattern: `{ "neck_*": 0, "*_wrist_*": "10 deg" }`. Their links are welded together, which
    /// makes a smaller model of a robot.
    #[default]
    pub weld: BTreeMap<String, Scalar>,
}

/// Pose of a fixed base in the world.
#[parameters]
#[derive(Copy)]
pub struct Mount {
    /// Position of the root link in the world [m].
    #[default = [0, 0, 0]]
    pub position: [Length; 3],
    /// Orientation of the root link by roll, pitch, yaw [rad]: `Rz(yaw) Ry(pitch) Rx(roll)`.
    #[default = [0, 0, 0]]
    pub rpy: [Angle; 3],
}

/// Whether joints have the damping and friction of their file.
#[parameters]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum JointDamping {
    /// They act in the dynamics of the robot.
    #[default]
    Act,
    /// Joints move freely, as for a set-up that has its own friction or none.
    Ignore,
}

/// What to do with a joint that mimics another.
#[parameters]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum Mimic {
    /// The joint has no coordinate of its own: its position follows the other joint's, its inertia
    /// loads the other joint.
    #[default]
    Coupled,
    /// The joint moves on its own, with a warning.
    Free,
}

/// A named pose in a diagram.
#[parameters]
pub struct NamedPose {
    /// Joint positions [rad; m for prismatic joints]: a list in the order of the robot file, or by
    /// joint name or pattern; joints not named are at 0. The quaternion of a ball joint may have
    /// any length but 0.
    pub s: PerJoint<Scalar>,
    /// Position of the base in the world [m].
    pub base_position: Option<[Length; 3]>,
    /// Orientation of the base, world_from_base: quaternion (w, x, y, z) of any length but 0.
    pub base_orientation: Option<[Dimensionless; 4]>,
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
        let source = Source::read(&self.path, &self.args, &self.packages, files)?;
        if self.base == Base::Floating && self.mount.is_some() {
            let message = "expected a fixed base to mount, found a floating one";
            return Err(Invalid::parameter("mount", message)
                .hint("add `base: Fixed`, or place the robot by the `init` of its state"));
        }
        let mount = self.mount.map_or(Placement::identity(), placed);
        let mimic = match self.mimic {
            Mimic::Coupled => MimicJoints::Coupled,
            Mimic::Free => MimicJoints::Independent,
        };
        let [x, y, z] = self.gravity.map(Acceleration::value);
        let gravity = Vector3::new(x, y, z);
        let welded = self.weld.iter().map(|(joint, at)| (joint.clone(), at.value)).collect();
        let options = Options { gravity, mimic, mount, welded, ..Options::new(self.base) };
        let (model, warnings) =
            Model::from_urdf(&source.text, &options).map_err(|error| source.error(error))?;
        let model = self.with_damping(model)?;
        let model =
            with_rotors(model, self.rotor_inertia.as_ref(), self.reflected_inertia.as_deref())?;
        let warnings = warnings.into_iter().map(|warning| source.warning(warning));
        let mut folders = source::Folders::new(&self.path, &self.packages, files);
        let (model, doubts) = meshes::with_files(model, files, &mut |name| folders.find(name));
        let doubts = doubts.into_iter().map(|doubt| format!("{}: {doubt}", self.path));
        Ok((model, warnings.chain(doubts).collect()))
    }

    fn with_damping(&self, model: Model) -> Result<Model, Invalid> {
        let speed = self.friction_speed;
        if !(speed > 0.0 && speed.is_finite()) {
            let message = format!("expected a speed above zero, found {speed}");
            return Err(Invalid::parameter("friction_speed", message));
        }
        Ok(match self.joint_damping {
            JointDamping::Act => model.with_friction_speed(speed),
            JointDamping::Ignore => model.without_resistance(),
        })
    }
}

/// The model with the reflected inertia of rotors; joints that are not named keep what they have.
pub(crate) fn with_rotors(
    model: Model,
    rotor_inertia: Option<&PerJoint<NonNegative<Inertia>>>,
    reflected_inertia: Option<&[Vec<Inertia>]>,
) -> Result<Model, Invalid> {
    let rotor_inertia = match (rotor_inertia, reflected_inertia) {
        (None, None) => return Ok(model),
        (None, Some(rows)) => return with_reflected(model, rows),
        (Some(_), Some(_)) => {
            let message = "expected one of `rotor_inertia` and `reflected_inertia`, found both";
            return Err(Invalid::parameter("reflected_inertia", message));
        }
        (Some(rotor_inertia), None) => rotor_inertia,
    };
    let names: Vec<&str> = model.joint_velocity_names().collect();
    let misfits = |error: PerJointError| misfit("rotor_inertia", &error, &names, &model);
    let stated = rotor_inertia
        .resolve_or(&names, NonNegative::from_si(0.0).ok().as_ref())
        .map_err(misfits)?;
    let mut values: Vec<f64> = stated.into_iter().map(Physical::si).collect();
    if let PerJoint::Named(by_name) = rotor_inertia {
        let names_only = by_name.keys().map(|name| (name.clone(), true)).collect();
        let is_named = PerJoint::Named(names_only).resolve_or(&names, Some(&false));
        let known = model.rotors().diagonal();
        for ((value, known), is_named) in
            values.iter_mut().zip(known).zip(is_named.map_err(misfits)?)
        {
            if !is_named {
                *value = *known;
            }
        }
    }
    model
        .with_rotor_inertia(&values)
        .map_err(|error| Invalid::parameter("rotor_inertia", error.to_string()))
}

/// A named pose as a keyframe of the model.
pub(crate) fn keyframe(name: &str, pose: &NamedPose, model: &Model) -> Result<Keyframe, Invalid> {
    let named = |mut invalid: Invalid| {
        invalid.message = format!("keyframe `{name}`: {}", invalid.message);
        invalid
    };
    let zeros = zero_positions(model);
    let joint_positions = coordinates("keyframes", &pose.s, model, &positions(model), &zeros)
        .and_then(|s| unit_quaternions("keyframes", s, model))
        .map_err(named)?;
    let base_position = pose.base_position.map(|p| p.map(Length::value));
    let base_orientation = pose
        .base_orientation
        .map(|q| unit_quaternion("keyframes", q))
        .transpose()
        .map_err(named)?;
    let fixed = !model.trees().iter().any(Tree::is_floating);
    if fixed && (base_position.is_some() || base_orientation.is_some()) {
        let message = "expected joint positions only, found a pose of the fixed base";
        return Err(named(Invalid::parameter("keyframes", message)));
    }
    Ok(Keyframe { joint_positions, base_position, base_orientation })
}

/// The frames of the feet, which are links of the file `path`.
pub(crate) fn frames_of_feet(
    feet: &[String],
    path: &str,
    model: &Model,
) -> Result<Vec<FrameId>, Invalid> {
    let mut found = Vec::with_capacity(feet.len());
    for foot in feet {
        let frame = model.find_frame(foot).ok_or_else(|| {
            let links = model.frames().iter().map(|frame| frame.name.as_str());
            unknown("feet", &format!("a link of {path}"), foot, links)
        })?;
        if found.contains(&frame) {
            return Err(Invalid::parameter("feet", format!("foot `{foot}` is listed twice")));
        }
        found.push(frame);
    }
    Ok(found)
}

pub(crate) fn placed(mount: Mount) -> Placement {
    Placement::from_xyz_rpy(mount.position.map(Length::value), mount.rpy.map(Angle::value))
}

fn with_reflected(model: Model, rows: &[Vec<Inertia>]) -> Result<Model, Invalid> {
    let n = model.joint_dim();
    let wrong = |message: String| Invalid::parameter("reflected_inertia", message);
    if let Some(found) =
        std::iter::once(rows.len()).chain(rows.iter().map(Vec::len)).find(|&len| len != n)
    {
        let what = if rows.len() == n { "numbers in each row" } else { "rows" };
        return Err(wrong(format!("expected {n} {what}, one per joint coordinate, found {found}")));
    }
    let matrix: Vec<f64> = rows.iter().flatten().map(|entry| entry.value()).collect();
    model.with_rotor_inertia_matrix(&matrix).map_err(|error| wrong(error.to_string()))
}

/// The joint positions with the quaternions of ball joints at unit length.
///
/// # Errors
/// If a quaternion has length zero.
pub(crate) fn unit_quaternions(
    parameter: &str,
    mut s: Vec<f64>,
    model: &Model,
) -> Result<Vec<f64>, Invalid> {
    let joints = model.trees().first().map_or(0, |tree| tree.joint_configuration_range().start);
    for &(at, _) in model.quaternions().iter().filter(|(at, _)| *at >= joints) {
        let parts: &mut [f64] = &mut s[at - joints..at - joints + 4];
        let quaternion = [parts[0], parts[1], parts[2], parts[3]].map(Dimensionless::new);
        parts.copy_from_slice(&unit_quaternion(parameter, quaternion)?);
    }
    Ok(s)
}

/// A warning for each joint of the keyframe that is beyond its limits.
pub(crate) fn beyond_limits<'a>(
    name: &'a str,
    keyframe: &'a Keyframe,
    model: &'a Model,
) -> impl Iterator<Item = String> + 'a {
    let joints = model.trees().first().map_or(0, |tree| tree.joint_configuration_range().start);
    model.joints().iter().filter_map(move |joint| {
        let s = keyframe.joint_positions[joint.configuration_range().start - joints];
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
        _: &dyn OtherResources,
    ) -> Result<(Arc<dyn Resource>, Vec<String>), Invalid> {
        let (model, mut warnings) = self.model(files)?;
        let feet = frames_of_feet(&self.feet, &self.path, &model)?;
        let mut keyframes = BTreeMap::new();
        for (key, pose) in &self.keyframes {
            let keyframe = keyframe(key, pose, &model)?;
            warnings.extend(beyond_limits(key, &keyframe, &model));
            keyframes.insert(key.clone(), keyframe);
        }
        let (name, members) = (name.to_owned(), Vec::new());
        let robot = RobotModel { name, model, feet, keyframes, members, of_file: Vec::new() };
        Ok((Arc::new(robot), warnings))
    }
}

#[cfg(test)]
mod tests;
