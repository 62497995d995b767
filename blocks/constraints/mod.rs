//! Closed loops, gears, held frames and joint limits, and the motion of a robot under them.

pub(crate) mod closed_chain;
pub(crate) mod constrained_acceleration;
mod constrained_dynamics;
pub(crate) mod constraint_solver;
mod gear_constraint;
mod joint_limits;
mod loop_constraint;
mod user_constraint;

use legwork_block::Registry;

pub use constrained_acceleration::ConstrainedAcceleration;
pub use constrained_dynamics::ConstrainedDynamics;
pub use constraint_solver::{
    ConstraintMethod, ConstraintSolver, ContactSoftness, FallbackLaw, JointSoftness, LimitSoftness,
    OnStepFail,
};
pub use gear_constraint::GearConstraint;
pub use joint_limits::JointLimits;
pub use loop_constraint::{LoopConstraint, LoopKind, Stabilise};
pub use user_constraint::UserConstraint;

/// Adds the blocks of this shelf.
pub(crate) fn register(r: &mut Registry) {
    let mut shelf =
        r.shelf("constraints", "Closed loops, gears, joint limits, and motion under constraints.");
    shelf.block::<ConstrainedAcceleration>("ConstrainedAcceleration()");
    shelf.block::<ConstrainedDynamics>(r#"ConstrainedDynamics(robot: "go")"#);
    shelf.block::<ConstraintSolver>(
        "ConstraintSolver(robot: \"go\", contact: Spring(stiffness: \"1e6 N/m\"), mu: 0.7)",
    );
    shelf.block::<GearConstraint>(
        "GearConstraint(robot: \"go\", joints: [\"FL_knee_joint\", \"FR_knee_joint\"], ratio: -1)",
    );
    shelf.block::<JointLimits>("JointLimits(robot: \"go\")");
    shelf.block::<LoopConstraint>(
        "LoopConstraint(robot: \"go\", frames: [\"FL_foot\", \"FR_foot\"], kind: Point)",
    );
    shelf.block::<UserConstraint>("UserConstraint(robot: \"go\")");
}
