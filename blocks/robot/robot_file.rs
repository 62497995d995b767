//! What robots of files have in common, whatever the kind of file.

use legwork_block::quantity::{
    Angle, Dimensionless, Inertia, Length, NonNegative, OfJoint, PerJoint, PerJointError, Physical,
    Positive, Scalar,
};
use legwork_block::{Invalid, parameters};
use legwork_mechanics::{FrameId, Model, Placement, Tree};

use crate::robot::joint_values::{check_kinds, coordinates, misfit, positions, zero_positions};
use crate::robot::model::{Keyframe, unknown};

/// The parameters of a kind of robot file: its own, and those that all kinds have.
macro_rules! robot_file {
    ($(#[$attribute:meta])* pub struct $name:ident { $($own:tt)* }) => {
        $(#[$attribute])*
        pub struct $name {
            $($own)*
            /// Where a fixed base is welded to the world; without it, level at the origin. A
            /// floating base starts where the block that integrates its state says.
            pub mount: Option<$crate::robot::robot_file::Mount>,
            /// Links that touch the ground.
            #[default]
            pub feet: Vec<String>,
            /// Inertia of the motors' rotors, reflected to the joints by the gear ratio squared [kg
            /// m²; kg for prismatic joints], which adds to the diagonal of M, in place of the
            /// armature of a model of MuJoCo. By joint name or pattern; joints not named keep that
            /// of the file, or none.
            pub rotor_inertia: Option<PerJoint<OfJoint<NonNegative<Inertia>>>>,
            /// The same as a full matrix (n rows of n) where one motor drives several joints:
            /// `Tᵀ I T` with motor positions `θ = T s` and the rotors' inertias on the diagonal of
            /// I. In place of `rotor_inertia`.
            pub reflected_inertia: Option<Vec<Vec<Inertia>>>,
            /// Factors of the masses and rotational inertias of links, by which the robot is heavier
            /// than its file says: one for all, or by the names or patterns of links, `{ "trunk": 1.1,
            /// "*_thigh": 0.9 }`. Shapes and centres of mass stay, links that are not named too.
            pub mass_scale: Option<PerJoint<Positive<Dimensionless>>>,
            /// Named poses, beside those of the file, which they replace.
            #[default]
            pub keyframes: BTreeMap<String, $crate::robot::robot_file::NamedPose>,
            /// What to do with joints that mimic others, or that an equality of the file ties
            /// linearly to others.
            #[default]
            pub mimic: $crate::robot::robot_file::Mimic,
            /// Whether damping and dry friction of the joints act, as the file states them.
            #[default]
            pub joint_damping: $crate::robot::robot_file::OfFile,
            /// Speed from which on the dry friction of a joint is full [rad/s; m/s for prismatic
            /// joints].
            #[default = 0.01]
            pub friction_speed: f64,
            /// Whether limits of the joints act, as the file states them: positions as contacts
            /// (`JointLimits`), efforts in motors. Ignored, the robot has none: facts are infinite.
            #[default]
            pub joint_limits: $crate::robot::robot_file::OfFile,
            /// Joints that do not move, and where they are held [rad; m for prismatic joints], by
            /// name or pattern: `{ "neck_*": 0, "*_wrist_*": "10 deg" }`. Their links are welded
            /// together, which makes a smaller model of a robot.
            #[default]
            pub weld: BTreeMap<String, Scalar>,
        }

        impl $name {
            /// The joints that are held.
            fn welded(&self) -> Vec<(String, f64)> {
                self.weld.iter().map(|(joint, at)| (joint.clone(), at.value)).collect()
            }

            /// The model of the file with masses, damping, limits and rotors as the diagram has
            /// them.
            fn as_stated(&self, model: Model) -> Result<Model, Invalid> {
                use $crate::robot::robot_file::{OfFile, with_damping, with_masses, with_rotors};
                let model = with_masses(model, self.mass_scale.as_ref())?;
                let model = match self.joint_limits {
                    OfFile::Act => model,
                    OfFile::Ignore => model.without_limits(),
                };
                let model = with_damping(model, self.joint_damping, self.friction_speed)?;
                with_rotors(model, self.rotor_inertia.as_ref(), self.reflected_inertia.as_deref())
            }
        }
    };
}

pub(crate) use robot_file;

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

/// Whether what a file says of its joints acts.
#[parameters]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum OfFile {
    /// It acts in the dynamics of the robot.
    #[default]
    Act,
    /// It does not, as for a set-up that has its own or none.
    Ignore,
}

/// What to do with a joint that follows another.
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

/// The model with the masses of its links times factors.
pub(crate) fn with_masses(
    model: Model,
    scale: Option<&PerJoint<Positive<Dimensionless>>>,
) -> Result<Model, Invalid> {
    let Some(scale) = scale else { return Ok(model) };
    let links: Vec<&str> = model.frames().iter().map(|frame| frame.name.as_str()).collect();
    let wrong = |message: String| Invalid::parameter("mass_scale", message);
    let one = Positive::from_si(1.0).ok();
    let factors = scale.resolve_or(&links, one.as_ref()).map_err(|error| match &error {
        PerJointError::Unmatched { pattern } => {
            unknown("mass_scale", "a link or a pattern of links", pattern, links.iter().copied())
        }
        PerJointError::Count { expected, found } => {
            wrong(format!("expected {expected} values, one for each link, found {found}"))
        }
        PerJointError::Ambiguous { joint, first, second } => {
            wrong(format!("link `{joint}` is matched by `{first}` and by `{second}`"))
        }
        // Links without a factor have 1.
        other => wrong(other.to_string()),
    })?;
    let factors: Vec<f64> = factors.into_iter().map(Physical::si).collect();
    model.with_mass_scale(&factors).map_err(|error| wrong(error.to_string()))
}

/// The model with the damping and friction of its file, or without.
pub(crate) fn with_damping(model: Model, damping: OfFile, speed: f64) -> Result<Model, Invalid> {
    if !(speed > 0.0 && speed.is_finite()) {
        let message = format!("expected a speed above zero, found {speed}");
        return Err(Invalid::parameter("friction_speed", message));
    }
    Ok(match damping {
        OfFile::Act => model.with_friction_speed(speed),
        OfFile::Ignore => model.without_resistance(),
    })
}

/// The model with the reflected inertia of rotors; joints that are not named keep what they have.
pub(crate) fn with_rotors(
    model: Model,
    rotor_inertia: Option<&PerJoint<OfJoint<NonNegative<Inertia>>>>,
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
    let stated =
        rotor_inertia.resolve_or(&names, OfJoint::from_si(0.0).ok().as_ref()).map_err(misfits)?;
    check_kinds("rotor_inertia", &stated, &names, &model)?;
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
