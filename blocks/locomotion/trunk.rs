//! What feedback of the trunk shares: where its state is, its angles and its heading.

use legwork_block::Invalid;

use crate::robot::model::RobotModel;

/// Where the base of a robot is in its state.
pub(crate) struct Base {
    /// Index of the quaternion in q.
    pub(crate) quaternion: usize,
    /// Index of the velocity in ν.
    pub(crate) velocity: usize,
}

impl Base {
    /// The base of one robot that floats.
    ///
    /// # Errors
    /// If the robot is a world or is fixed.
    pub(crate) fn of(robot: &RobotModel) -> Result<Self, Invalid> {
        match robot.model.trees() {
            [tree] if tree.is_floating() => Ok(Self {
                quaternion: tree.configuration_range().start + 3,
                velocity: tree.velocity_range().start,
            }),
            _ => {
                let message = format!("expected one robot that floats, found `{}`", robot.name);
                Err(Invalid::parameter("robot", message))
            }
        }
    }
}

/// Roll, pitch and yaw [rad] of a trunk with the unit quaternion (w, x, y, z).
pub(crate) fn roll_pitch_yaw(q: &[f64]) -> [f64; 3] {
    let [w, x, y, z] = [q[0], q[1], q[2], q[3]];
    let roll = libm::atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y));
    let pitch = libm::asin((2.0 * (w * y - z * x)).clamp(-1.0, 1.0));
    let yaw = libm::atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z));
    [roll, pitch, yaw]
}

/// World vector (x, y) in the axes of a trunk that heads to `yaw`: forward and to the left.
pub(crate) fn along_heading(v: &[f64], yaw: f64) -> [f64; 2] {
    let (s, c) = libm::sincos(yaw);
    [c * v[0] + s * v[1], c * v[1] - s * v[0]]
}

/// `value`, at most `most` either way; not a number stays so.
pub(crate) fn bounded(value: f64, most: f64) -> f64 {
    if value > most {
        most
    } else if value < -most {
        -most
    } else {
        value
    }
}
