//! `InverseKinematics`: joint positions that bring frames of a robot to given places.

use std::sync::Arc;

use legwork_block::quantity::{Angle, Dimensionless, Length, NonNegative, Positive};
use legwork_block::{
    Any, Block, Bool, Int, Invalid, Outcome, OutputCx, Ports, Real, Report, Sizes, UpdateCx,
    Vector, block, parameters, ports,
};
use legwork_control::{BaseMotion, Settings};
use legwork_mechanics::Placement;
use nalgebra::Matrix3;
use serde::{Deserialize, Serialize};

use crate::buses::{RobotDims, StateBus};
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;

mod target;

pub use target::FrameTarget;
use target::{inputs_of, placement};

/// Joint positions within their limits that bring frames to given poses. It minimises
/// `½ Σ w_p ‖p_target − p(s)‖² + w_o ‖log(R_target R(s)ᵀ)‖²` for given poses or positions.
///
/// Damped least squares with a damping that follows the error; joints on a limit are taken out of
/// steps that lead further out, and no output is ever beyond a limit. Targets that cannot be
/// reached are an answer, not a fault: `s` is then a minimum of the error within the limits and
/// `converged` is false. It is a local search: from far away it may end in another minimum, against
/// which `restarts` help.
///
/// Each step starts from the last solution (`warm_start`), so that a moving target is followed
/// without jumps, in one or two iterations. The search runs at major steps; its outputs are held in
/// between. Coupled (mimic) joints move with the joints that they follow.
///
/// T. Sugihara, *Solvability-unconcerned inverse kinematics by the Levenberg–Marquardt method*
/// (2011); Y. Nakamura, H. Hanafusa, *Inverse kinematic solutions with singularity robustness for
/// robot manipulator control* (1986).
#[ports(
    |fixed: &[Option<Matrix3<f64>>]|
    in  state: StateBus::of(ports, self.robot.as_str()), _,
        "where the bases are, and the joints' first guess";
    in  targets[(name, ty, unit) in inputs_of(fixed)]: ty as Any, unit,
        "wanted pose, world axes; 3: position", frame "world", named "`target1`, `target2`, …",
        shape "Pose, or 3", units "1, m; m";
    let ns = RobotDims::of(ports, self.robot.as_str()).ns;
    out s: Vector::of(ns), _, "joint positions", units "rad, m";
    out converged: Bool, _, "all targets are met within the tolerances";
    out error: Real, "1", "weighted error, `√(Σ …)` of the above";
    out position_error: Real, "m", "largest position error that counts";
    out orientation_error: Real, "rad", "largest orientation error that counts";
    out iterations: Int, _, "steps tried";
)]
#[parameters(aliases("IK"))]
pub struct InverseKinematics {
    /// The robot.
    pub robot: RobotName,
    /// The frames to bring somewhere, such as `[(frame: "hand")]`; target i enters by `target<i>`.
    pub targets: Vec<FrameTarget>,
    /// Let floating bases move too; by default they stay where the state has them. The outputs tell
    /// the joints only.
    #[default]
    pub free_base: bool,
    /// First damping λ, more than zero [1]: the matrix `JᵀWJ` gets `2 λ E` on its diagonal.
    #[default = 0.01]
    pub damping: Positive<Dimensionless>,
    /// Position error up to which a target is met [m].
    #[default = "1e-6 m"]
    pub position_tolerance: NonNegative<Length>,
    /// Orientation error up to which a target is met [rad].
    #[default = "1e-6 rad"]
    pub orientation_tolerance: NonNegative<Angle>,
    /// Most steps tried per start, at least 1 [1].
    #[default = 100]
    pub max_iterations: u32,
    /// Further starts from fixed pseudo-random positions within the limits where the targets are
    /// not met [1]. The joints may then jump.
    #[default]
    pub restarts: u32,
    /// Start from the last solution instead of from the joints in `state`.
    #[default = true]
    pub warm_start: bool,
}

/// Ports and solver of [`InverseKinematics`].
pub struct Plan {
    robot: Arc<RobotModel>,
    solver: legwork_control::InverseKinematics,
    /// The orientations of targets whose input is a position.
    fixed: Vec<Option<Matrix3<f64>>>,
    io: InverseKinematicsPorts,
}

/// State of [`InverseKinematics`]: the last solution, and counts for the report.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct State {
    /// The configuration found last.
    q: Vec<f64>,
    has_q: bool,
    calls: u64,
    failures: u64,
    iterations: u64,
    worst_position_error: f64,
    worst_orientation_error: f64,
}

/// From `output` to `update`: the solution of this step.
#[derive(Debug, Clone, Default)]
pub struct Memo {
    q: Vec<f64>,
    found: Option<Found>,
}

#[derive(Debug, Clone, Copy)]
struct Found {
    converged: bool,
    iterations: u32,
    position_error: f64,
    orientation_error: f64,
}

/// Work memory of [`InverseKinematics`].
pub struct Scratch {
    solver: legwork_control::InverseKinematics,
    goals: Vec<Placement>,
    q: Vec<f64>,
}

impl InverseKinematics {
    fn settings(&self) -> Settings {
        Settings {
            base: if self.free_base { BaseMotion::Free } else { BaseMotion::Given },
            damping: self.damping.value(),
            position_tolerance: self.position_tolerance.value(),
            orientation_tolerance: self.orientation_tolerance.value(),
            max_iterations: self.max_iterations,
            restarts: self.restarts,
        }
    }
}

#[block]
impl Block for InverseKinematics {
    type Plan = Plan;
    type State = State;
    type Memo = Memo;
    type Scratch = Scratch;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let robot = self.robot.find(ports)?;
        for (parameter, count) in
            [("targets", self.targets.len()), ("max_iterations", self.max_iterations as usize)]
        {
            if count == 0 {
                return Err(Invalid::parameter(parameter, "expected at least one, found 0"));
            }
        }
        let asked: Result<Vec<_>, _> = self.targets.iter().map(|t| t.resolve(&robot)).collect();
        let (targets, fixed): (Vec<_>, Vec<_>) = asked?.into_iter().unzip();
        let io = self.declare(ports, &fixed);
        let solver =
            legwork_control::InverseKinematics::new(&robot.model, &targets, self.settings())
                .map_err(|error| Invalid::new(error.to_string()))?;
        ports.updates();
        ports.per_major();
        Ok(Plan { robot, solver, fixed, io })
    }

    fn state(&self, plan: &Plan, _: &Sizes<'_>) -> State {
        State { q: plan.robot.model.zero_configuration(), ..State::default() }
    }

    fn scratch(&self, plan: &Plan, _: &Sizes<'_>) -> Scratch {
        Scratch {
            solver: plan.solver.clone(),
            goals: vec![Placement::identity(); plan.fixed.len()],
            q: plan.robot.model.zero_configuration(),
        }
    }

    fn memo(&self, plan: &Plan, _: &Sizes<'_>) -> Memo {
        Memo { q: plan.robot.model.zero_configuration(), found: None }
    }

    fn clear_memo(&self, memo: &mut Memo) {
        memo.found = None;
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let Scratch { solver, goals, q } = &mut *cx.scratch;
        let (model, io) = (&plan.robot.model, &plan.io);
        for ((goal, &target), &fixed) in goals.iter_mut().zip(&io.targets).zip(&plan.fixed) {
            *goal = placement(cx.inputs.get(target).leaf(0), fixed);
        }
        q.copy_from_slice(cx.inputs.get(io.state).q);
        if self.warm_start && cx.state.has_q {
            let last = &cx.state.q;
            for tree in model.trees() {
                let known = match self.free_base {
                    true => tree.configuration_range(),
                    false => tree.joint_configuration_range(),
                };
                q[known.clone()].copy_from_slice(&last[known]);
            }
        }
        let found = solver.solve(model, goals, q);
        let mut s = cx.outputs.get(io.s);
        for tree in model.trees() {
            let joints = &q[tree.joint_configuration_range()];
            let (own, rest) = s.split_at_mut(joints.len());
            own.copy_from_slice(joints);
            s = rest;
        }
        cx.outputs.set(io.converged, f64::from(u8::from(found.converged)));
        cx.outputs.set(io.error, found.error);
        cx.outputs.set(io.position_error, found.position_error);
        cx.outputs.set(io.orientation_error, found.orientation_error);
        cx.outputs.set(io.iterations, f64::from(found.iterations));
        if !cx.time.minor {
            cx.memo.q.copy_from_slice(q);
            cx.memo.found = Some(Found {
                converged: found.converged,
                iterations: found.iterations,
                position_error: found.position_error,
                orientation_error: found.orientation_error,
            });
        }
        Ok(())
    }

    fn update(&self, _: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let Some(found) = cx.memo.found else { return Ok(()) };
        let state = &mut *cx.state;
        state.calls += 1;
        state.failures += u64::from(!found.converged);
        state.iterations += u64::from(found.iterations);
        state.worst_position_error = state.worst_position_error.max(found.position_error);
        state.worst_orientation_error = state.worst_orientation_error.max(found.orientation_error);
        state.q.copy_from_slice(&cx.memo.q);
        state.has_q = true;
        Ok(())
    }

    fn report(&self, _: &Plan, state: &State, report: &mut Report) {
        report.solver_calls += state.calls;
        report.solver_failures += state.failures;
        report.metric_in("m", "worst_position_error", state.worst_position_error);
        report.metric_in("rad", "worst_orientation_error", state.worst_orientation_error);
        if state.calls > 0 {
            report.metric("mean_iterations", state.iterations as f64 / state.calls as f64);
        }
        if state.failures > 0 {
            let (failures, calls) = (state.failures, state.calls);
            report.notes.push(format!("{failures} of {calls} searches did not meet the targets"));
        }
    }
}

#[cfg(test)]
mod tests;
