//! Parameters with one value per joint: gains, limits, positions.

use legwork_block::quantity::{PerJoint, PerJointError, Physical, Scalar};
use legwork_block::{Invalid, Unit, nearest};
use legwork_mechanics::JointKind;

use crate::robot_model::RobotModel;

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
    /// If values stand under names and the robot is not given, or the names do not fit its joints.
    pub(crate) fn new<Q: Physical>(
        parameter: &str,
        values: &PerJoint<Q>,
        robot: Option<&RobotModel>,
    ) -> Result<Self, Invalid> {
        match (values, robot) {
            (PerJoint::All(value), _) => Ok(Self::All(value.si())),
            (PerJoint::Named(_), None) => {
                let message = "expected the robot whose joints these names are, found none";
                Err(Invalid::parameter(parameter, message).hint("add `robot: \"…\"`"))
            }
            (PerJoint::Each(values), None) => {
                Ok(Self::Each(values.iter().map(|value| value.si()).collect()))
            }
            (_, Some(robot)) => {
                let names = robot.joint_names();
                let values =
                    values.resolve(&names).map_err(|error| misfit(parameter, &error, &names))?;
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

/// Says what does not fit, with the nearest joint.
pub(crate) fn misfit(parameter: &str, error: &PerJointError, names: &[&str]) -> Invalid {
    let invalid = Invalid::parameter(parameter, error.to_string());
    match error {
        PerJointError::Unmatched { pattern } => match nearest(pattern, names.iter().copied()) {
            Some(near) => invalid.hint(format!("did you mean `{near}`?")),
            None => invalid.hint(format!("joints are: {}", names.join(", "))),
        },
        _ => invalid,
    }
}

/// Units of a number per joint: of joints that turn, and of prismatic ones.
#[derive(Clone, Copy)]
pub(crate) struct JointUnits {
    pub(crate) turning: Unit,
    pub(crate) sliding: Unit,
}

/// Units of joint positions.
pub(crate) const POSITIONS: JointUnits = JointUnits { turning: Unit::RADIAN, sliding: Unit::METRE };

/// Units of joint velocities.
pub(crate) const VELOCITIES: JointUnits =
    JointUnits { turning: Unit::RADIAN_PER_SECOND, sliding: Unit::METRE_PER_SECOND };

/// Positions or velocities of all joints of `robot`; joints that no name or pattern matches keep
/// the value in `otherwise`.
///
/// # Errors
/// If the count, a name or a unit does not fit the robot's joints.
pub(crate) fn coordinates(
    parameter: &str,
    values: &PerJoint<Scalar>,
    model: &legwork_mechanics::Model,
    units: JointUnits,
    otherwise: &[f64],
) -> Result<Vec<f64>, Invalid> {
    let names: Vec<&str> = model.joints().iter().map(|joint| joint.name.as_str()).collect();
    // Parameters are finite, so that NaN can stand for "not named".
    let unnamed = Scalar { value: f64::NAN, unit: None };
    let values = values
        .resolve_or(&names, Some(&unnamed))
        .map_err(|error| misfit(parameter, &error, &names))?;
    let mut numbers = otherwise.to_vec();
    for ((joint, scalar), number) in model.joints().iter().zip(&values).zip(&mut numbers) {
        let expected = match joint.kind {
            JointKind::Prismatic => units.sliding,
            _ => units.turning,
        };
        if let Some(found) = scalar.unit
            && !expected.agrees(found)
        {
            let name = &joint.name;
            let message = format!("joint `{name}`: expected a value in {expected}, found {found}");
            return Err(Invalid::parameter(parameter, message));
        }
        if !scalar.value.is_nan() {
            *number = scalar.value;
        }
    }
    Ok(numbers)
}
