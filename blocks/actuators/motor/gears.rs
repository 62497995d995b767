//! Gear ratios and couplings as parameters.

use legwork_block::quantity::{Dimensionless, PerJoint, Physical, Positive};
use legwork_block::{Invalid, parameters};
use legwork_mechanics::{Transmission, TransmissionError};

use crate::robot::joint_values::JointValues;
use crate::robot::model::{RobotModel, unknown};

/// Joints that several motors move together: `s = T φ` of the positions φ of the gears' outputs.
#[parameters]
pub struct Coupling {
    /// The k joints, whose motors bear the same names; default: all joints of the robot, in its
    /// order.
    pub joints: Option<Vec<String>>,
    /// T: k rows of k numbers [1], a row for each joint and a column for each motor, in the order
    /// of `joints`.
    pub matrix: Vec<Vec<Dimensionless>>,
}

impl Coupling {
    /// Whether this joint is one of those.
    pub(crate) fn has(&self, joint: &str) -> bool {
        self.joints.as_ref().is_none_or(|joints| joints.iter().any(|own| own == joint))
    }
}

/// A number for each joint coordinate of the robot from the parameter `parameter`.
pub(crate) fn each<Q: Physical>(
    parameter: &str,
    values: &PerJoint<Q>,
    robot: &RobotModel,
) -> Result<Vec<f64>, Invalid> {
    Ok(JointValues::new(parameter, values, Some(robot))?.spread(robot.model.joint_dim()))
}

/// The gears and couplings of a robot from the parameters `gear_ratio` and `coupling`.
///
/// # Errors
/// If a joint is unknown or coupled twice, or a matrix has another size or no inverse.
pub(crate) fn transmission(
    robot: &RobotModel,
    gear_ratio: &PerJoint<Positive<Dimensionless>>,
    coupling: &[Coupling],
) -> Result<Transmission, Invalid> {
    let ratios = each("gear_ratio", gear_ratio, robot)?;
    let mut gears = Transmission::new(&ratios)
        .map_err(|error| Invalid::parameter("gear_ratio", error.to_string()))?;
    let names = robot.joint_names();
    for (i, group) in coupling.iter().enumerate() {
        let joints = match &group.joints {
            None => (0..names.len()).collect(),
            Some(joints) => joints
                .iter()
                .map(|joint| {
                    names.iter().position(|name| name == joint).ok_or_else(|| {
                        let expected = format!("a joint of `{}`", robot.name);
                        unknown("coupling", &expected, joint, names.iter().copied())
                    })
                })
                .collect::<Result<Vec<usize>, Invalid>>()?,
        };
        let k = joints.len();
        let wrong = |message: String| Invalid::parameter("coupling", format!("{i}: {message}"));
        let rows = std::iter::once(group.matrix.len()).chain(group.matrix.iter().map(Vec::len));
        if let Some(found) = rows.into_iter().find(|len| *len != k) {
            let message = format!("expected {k} rows of {k} numbers for {k} joints, found {found}");
            return Err(wrong(message));
        }
        let matrix: Vec<f64> = group.matrix.iter().flatten().map(|entry| entry.value()).collect();
        gears = gears.coupled(&joints, &matrix).map_err(|error| match error {
            TransmissionError::Joint { joint, .. } => {
                wrong(format!("expected each joint once, found `{}` again", names[joint]))
            }
            other => wrong(other.to_string()),
        })?;
    }
    Ok(gears)
}
