//! Parameters with one value per joint: gains, limits, positions.

use legwork_block::quantity::{PerJoint, PerJointError, Physical, Scalar, sliding_unit};
use legwork_block::{Invalid, PortUnit, Unit, nearest};
use legwork_mechanics::{JointKind, Model};

use crate::robot::model::RobotModel;

/// Values for the joints of a robot whose number of joints inference finds.
#[derive(Debug, Clone)]
pub(crate) enum JointValues {
    /// The same for all.
    All(f64),
    /// One for each, in the order of the robot file.
    Each(Vec<f64>),
}

impl JointValues {
    /// The numbers of the parameter `parameter`. Values by joint name need the robot.
    ///
    /// # Errors
    /// If values are given by name and the robot is not, or the names do not fit its joints.
    pub(crate) fn new<Q: Physical>(
        parameter: &str,
        values: &PerJoint<Q>,
        robot: Option<&RobotModel>,
    ) -> Result<Self, Invalid> {
        match (values, robot) {
            (PerJoint::All(value), Some(robot)) => {
                let names = robot.joint_names();
                check_kinds(parameter, &vec![*value; names.len()], &names, &robot.model)?;
                Ok(Self::All(value.si()))
            }
            (PerJoint::All(value), None) => {
                check_turning(parameter, std::slice::from_ref(value))?;
                Ok(Self::All(value.si()))
            }
            (PerJoint::Named(_), None) => {
                let message = "expected the robot whose joints these names are, found none";
                Err(Invalid::parameter(parameter, message).hint("add `robot: \"…\"`"))
            }
            (PerJoint::Each(values), None) => {
                check_turning(parameter, values)?;
                Ok(Self::Each(values.iter().map(|value| value.si()).collect()))
            }
            (_, Some(robot)) => {
                let names = robot.joint_names();
                let values = values
                    .resolve(&names)
                    .map_err(|error| misfit(parameter, &error, &names, &robot.model))?;
                check_kinds(parameter, &values, &names, &robot.model)?;
                Ok(Self::Each(values.into_iter().map(Physical::si).collect()))
            }
        }
    }

    /// The numbers themselves, without repetition.
    pub(crate) fn data(&self) -> &[f64] {
        match self {
            Self::All(value) => std::slice::from_ref(value),
            Self::Each(values) => values,
        }
    }

    /// Fails if there is a value for each joint, but not `n` of them.
    pub(crate) fn check(&self, parameter: &str, n: usize) -> Result<(), Invalid> {
        match self {
            Self::Each(values) if values.len() != n => {
                let error = PerJointError::Count { expected: n, found: values.len() };
                Err(Invalid::parameter(parameter, error.to_string()))
            }
            _ => Ok(()),
        }
    }

    /// One number for each of `n` joints.
    pub(crate) fn spread(&self, n: usize) -> Vec<f64> {
        match self {
            Self::All(value) => vec![*value; n],
            Self::Each(values) => values.clone(),
        }
    }
}

/// Which of the joint coordinates of a robot slide.
pub(crate) fn sliding(model: &Model) -> Vec<bool> {
    velocities(model).iter().map(|(_, unit)| *unit == Unit::METRE_PER_SECOND).collect()
}

/// Refuses a value in the unit of a joint that turns at one that slides, and the other way round.
pub(crate) fn check_kinds<Q: Physical>(
    parameter: &str,
    values: &[Q],
    names: &[&str],
    model: &Model,
) -> Result<(), Invalid> {
    for ((value, name), slides) in values.iter().zip(names).zip(sliding(model)) {
        let (turning, sliding) = (Q::UNIT, sliding_unit(Q::UNIT));
        let (expected, found) = match (slides, value.of_sliding()) {
            (true, Some(false)) => (sliding, turning),
            (false, Some(true)) => (turning, sliding),
            _ => continue,
        };
        let message = format!("joint `{name}`: expected a value in {expected}, found {found}");
        return Err(Invalid::parameter(parameter, message));
    }
    Ok(())
}

/// Refuses values of joints that slide where the robot is not known.
fn check_turning<Q: Physical>(parameter: &str, values: &[Q]) -> Result<(), Invalid> {
    if values.iter().all(|value| value.of_sliding() != Some(true)) {
        return Ok(());
    }
    let (expected, found) = (Q::UNIT, sliding_unit(Q::UNIT));
    let message = format!("expected a quantity in {expected}, found one in {found}");
    let hint = "a joint that slides is known by the robot: add `robot: \"…\"`";
    Err(Invalid::parameter(parameter, message).hint(hint))
}

/// Says what does not fit, with the nearest joint, or the one that it follows.
pub(crate) fn misfit<S: AsRef<str>>(
    parameter: &str,
    error: &PerJointError,
    names: &[S],
    model: &Model,
) -> Invalid {
    let invalid = Invalid::parameter(parameter, error.to_string());
    let PerJointError::Unmatched { pattern } = error else { return invalid };
    if let Some(mimic) = model.mimic_joints().iter().find(|mimic| mimic.name == *pattern) {
        let leader = &model.joint(mimic.joint).name;
        return invalid.hint(format!("`{pattern}` follows `{leader}` and has no value of its own"));
    }
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match nearest(pattern, names.iter().copied()) {
        Some(near) => invalid.hint(format!("did you mean `{near}`?")),
        None => invalid.hint(format!("joints are: {}", names.join(", "))),
    }
}

/// A number of `s` or `ṡ`: its name and unit.
pub(crate) type Coordinate = (String, Unit);

/// The numbers of `s`.
pub(crate) fn positions(model: &Model) -> Vec<Coordinate> {
    use Unit as U;
    let units = model.joints().iter().flat_map(|joint| -> &[Unit] {
        match joint.kind {
            JointKind::Prismatic => &[U::METRE],
            JointKind::Planar => &[U::METRE, U::METRE, U::RADIAN],
            JointKind::Spherical => &[U::ONE; 4],
            JointKind::Floating => &[U::METRE, U::METRE, U::METRE, U::ONE, U::ONE, U::ONE, U::ONE],
            _ => &[U::RADIAN],
        }
    });
    model.joint_configuration_names().zip(units.copied()).collect()
}

/// The numbers of `ṡ`.
pub(crate) fn velocities(model: &Model) -> Vec<Coordinate> {
    const SLIDES: Unit = Unit::METRE_PER_SECOND;
    const TURNS: Unit = Unit::RADIAN_PER_SECOND;
    let units = model.joints().iter().flat_map(|joint| -> &[Unit] {
        match joint.kind {
            JointKind::Prismatic => &[SLIDES],
            JointKind::Planar => &[SLIDES, SLIDES, TURNS],
            JointKind::Spherical => &[TURNS; 3],
            JointKind::Floating => &[SLIDES, SLIDES, SLIDES, TURNS, TURNS, TURNS],
            _ => &[TURNS],
        }
    });
    model.joint_velocity_names().map(str::to_owned).zip(units.copied()).collect()
}

/// The numbers of `τ`.
pub(crate) fn torques(model: &Model) -> Vec<Coordinate> {
    let mut all = velocities(model);
    for (_, unit) in &mut all {
        let slides = *unit == Unit::METRE_PER_SECOND;
        *unit = if slides { Unit::NEWTON } else { Unit::NEWTON_METRE };
    }
    all
}

/// The unit of a port with a number for each coordinate: one, or of joints that turn beside joints
/// that slide a list.
pub(crate) fn unit_of(coordinates: &[Coordinate]) -> PortUnit {
    match coordinates {
        [] => PortUnit::Unspecified,
        [(_, first), rest @ ..] if rest.iter().all(|(_, unit)| unit == first) => (*first).into(),
        all => PortUnit::List(all.iter().map(|(_, unit)| Some((*unit).into())).collect()),
    }
}

/// The `s` of a robot at rest: zeros, and unit quaternions.
pub(crate) fn zero_positions(model: &Model) -> Vec<f64> {
    let q = model.zero_configuration();
    model.trees().iter().flat_map(|tree| q[tree.joint_configuration_range()].to_vec()).collect()
}

/// Numbers of `s` or `ṡ` of a robot; those that no name or pattern matches keep the value in
/// `otherwise`.
///
/// # Errors
/// If the count, a name or a unit does not fit the robot's joints.
pub(crate) fn coordinates(
    parameter: &str,
    values: &PerJoint<Scalar>,
    model: &Model,
    coordinates: &[Coordinate],
    otherwise: &[f64],
) -> Result<Vec<f64>, Invalid> {
    let names: Vec<&str> = coordinates.iter().map(|(name, _)| name.as_str()).collect();
    // Parameters are finite, so that NaN can stand for "not named".
    let unnamed = Scalar { value: f64::NAN, unit: None };
    let values = values
        .resolve_or(&names, Some(&unnamed))
        .map_err(|error| misfit(parameter, &error, &names, model))?;
    let mut numbers = otherwise.to_vec();
    for (((name, expected), scalar), number) in coordinates.iter().zip(&values).zip(&mut numbers) {
        if let Some(found) = scalar.unit
            && !expected.agrees(found)
        {
            let message = format!("joint `{name}`: expected a value in {expected}, found {found}");
            return Err(Invalid::parameter(parameter, message));
        }
        if !scalar.value.is_nan() {
            *number = scalar.value;
        }
    }
    Ok(numbers)
}
