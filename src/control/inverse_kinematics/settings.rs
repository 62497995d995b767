//! Input and output of inverse kinematics.

use legwork_mechanics::FrameId;

/// A frame with weights of its position and orientation errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// The frame.
    pub frame: FrameId,
    /// Weight `w_p` of the squared position error [1/m²]; 0: the position is free.
    pub position_weight: f64,
    /// Weight `w_o` of the squared orientation error [1/rad²]; 0: the orientation is free.
    pub orientation_weight: f64,
}

impl Target {
    /// Position and orientation of `frame`, at unit weights.
    #[must_use]
    pub fn pose(frame: FrameId) -> Self {
        Self { frame, position_weight: 1.0, orientation_weight: 1.0 }
    }

    /// Position of the origin of `frame`, at unit weight.
    #[must_use]
    pub fn position(frame: FrameId) -> Self {
        Self { frame, position_weight: 1.0, orientation_weight: 0.0 }
    }
}

/// Whether floating bases may move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BaseMotion {
    /// Bases stay as in the configuration.
    #[default]
    Given,
    /// Bases are unknowns like the joints.
    Free,
}

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Whether floating bases may move.
    pub base: BaseMotion,
    /// First damping λ, more than zero [1]: small values trust the linear model.
    pub damping: f64,
    /// Position error [m] up to which a target is met.
    pub position_tolerance: f64,
    /// Orientation error [rad] up to which a target is met.
    pub orientation_tolerance: f64,
    /// Most steps tried per start.
    pub max_iterations: u32,
    /// Further starts, from fixed pseudo-random joint positions within the limits, as long as the
    /// targets are not met; the best result counts.
    pub restarts: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            base: BaseMotion::Given,
            damping: 0.01,
            position_tolerance: 1e-6,
            orientation_tolerance: 1e-6,
            max_iterations: 100,
            restarts: 0,
        }
    }
}

/// Why settings or targets are invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The damping is not a finite number above zero.
    #[error("damping: expected a finite number > 0, found {value}")]
    Damping {
        /// The value given.
        value: f64,
    },
    /// A tolerance is not a number of zero or more.
    #[error("tolerance: expected a number >= 0, found {value}")]
    Tolerance {
        /// The value given.
        value: f64,
    },
    /// A weight is not a finite number of zero or more.
    #[error("target {target}: expected finite weights >= 0, found {value}")]
    Weight {
        /// Place of the target.
        target: usize,
        /// The value given.
        value: f64,
    },
}

/// Result of a search. Where the targets cannot be met, the configuration is a minimum of E within
/// the limits, or the point where the iterations ended.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct Solution {
    /// All targets are met within the tolerances.
    pub converged: bool,
    /// Steps tried, over all starts.
    pub iterations: u32,
    /// Weighted error `√(2E)` [1].
    pub error: f64,
    /// Largest position error of a target whose position counts [m].
    pub position_error: f64,
    /// Largest orientation error of a target whose orientation counts [rad].
    pub orientation_error: f64,
}

impl Settings {
    /// Fails if a number is out of its range.
    pub(super) fn check(&self, targets: &[Target]) -> Result<(), SettingsError> {
        let Self { damping, position_tolerance, orientation_tolerance, .. } = *self;
        if !(damping.is_finite() && damping > 0.0) {
            return Err(SettingsError::Damping { value: damping });
        }
        for value in [position_tolerance, orientation_tolerance] {
            if value.is_nan() || value < 0.0 {
                return Err(SettingsError::Tolerance { value });
            }
        }
        for (target, weights) in targets.iter().enumerate() {
            for value in [weights.position_weight, weights.orientation_weight] {
                if !(value.is_finite() && value >= 0.0) {
                    return Err(SettingsError::Weight { target, value });
                }
            }
        }
        Ok(())
    }
}
