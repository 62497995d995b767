//! Control of robots: numbers in, numbers out. No block, port or diagram is known here.
//!
//! # Tour
//!
//! [`InverseKinematics`] finds joint positions that bring frames of a robot to given poses within
//! the joints' limits. It owns its memory, is made once per model and allocates nothing per call.
//!
//! Legged locomotion goes from rhythm to joints: [`Oscillators`] keep the phases of a [`Gait`], a
//! [`FootPath`] turns a phase and a desired velocity into a foot position (by [`Swing`] or
//! [`SwingSpline`], and [`stance_height`]), and a [`Leg`] computes the joint positions and
//! velocities for it in closed form.
//!
//! [`ContactInverseDynamics`] finds joint torques for desired accelerations of a robot that touches
//! things, together with the contact forces.
//!
//! [`TrunkPrediction`] is the quadratic program of the forces at four feet by which a trunk follows a
//! reference over some steps to come.
//!
//! Conventions, symbols and frames are those of `legwork-mechanics`.

// Each of these says why no input reaches it.
#![warn(clippy::expect_used, clippy::panic, clippy::unreachable)]

mod bounded_step;
mod contact_inverse_dynamics;
mod foot_curve;
mod foot_path;
mod foot_spline;
mod gait;
mod inverse_kinematics;
mod leg;
mod rotation;
mod trunk_prediction;

pub use contact_inverse_dynamics::{
    Choice, ContactInverseDynamics, ContactModel, ContactTask, Energy, ModelProblem, ModelSolver,
    Prediction, Stages,
};
pub use foot_curve::{CurvePoint, StepShape, Swing, bezier, stance_height};
pub use foot_path::{FootMotion, FootPath, Step, SwingCurve};
pub use foot_spline::{SwingSpline, clamped_spline};
pub use gait::{Coupling, Gait, LEGS, MAX_COUPLING, Oscillators, Rhythm, elapsed, phase_at};
pub use inverse_kinematics::{
    BaseMotion, InverseKinematics, Settings, SettingsError, Solution, Target,
};
pub use leg::{KneeBend, Leg, LegError, LegSolution, Reach};
pub use rotation::rotation_log;
pub use trunk_prediction::{TRUNK_STATE, TrunkModel, TrunkPrediction, TrunkStep, TrunkWeights};
