//! Control of robots: numbers in, numbers out. Knows no block, port or diagram.
//!
//! # Tour
//!
//! [`InverseKinematics`] finds joint positions that bring frames of a robot to given poses within
//! the joints' limits. It owns its memory, is made once per model and allocates nothing per call.
//!
//! Conventions, symbols and frames are those of `legwork-mechanics`.

mod bounded_step;
mod inverse_kinematics;
mod rotation;

pub use inverse_kinematics::{
    BaseMotion, InverseKinematics, Settings, SettingsError, Solution, Target,
};
pub use rotation::rotation_log;
