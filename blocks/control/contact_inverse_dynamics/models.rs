//! What becomes of steps whose contact forces are not found.

use legwork_block::parameters;

/// What to do when contact forces are not found.
#[parameters]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum OnContactFail {
    /// Torques of a robot in the air: no contact force is expected. Zero torques if numbers are not
    /// finite.
    #[default]
    NoForces,
    /// Repeat the last torques and forces that were found, at most this many steps in a row; then
    /// stop.
    HoldLast {
        /// Most steps in a row [1].
        max: u32,
    },
    /// Stop the run with a fault.
    Stop,
}
