//! `LegInverseKinematics`: joints for wanted feet, in closed form.

use std::sync::Arc;

use legwork_block::{
    Block, Bool, Invalid, Outcome, OutputCx, Ports, Report, Sizes, UpdateCx, Vector, block,
    parameters, ports,
};
use legwork_control::{KneeBend, Leg, Reach};
use legwork_mechanics::nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use crate::buses::RobotDims;
use crate::locomotion::legs::legs;
use crate::robot::joint_values::zero_positions;
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;

/// Joint positions and velocities for wanted feet of three-joint legs, closed form.
///
/// The legs are those of the robot's k feet: three joints each, about x (abduction), y (hip) and
/// y (knee) of the trunk at rest, with axes either way and any offsets. Joints that are in no leg
/// are at 0. A foot out of reach is no fault: the leg stretches or folds towards it, or stops at a
/// joint's limit, `reachable` is false, and the run's report counts it.
///
/// `ṡ = J⁻¹ v`, damped near poses in which the foot cannot move in every direction (leg stretched
/// or folded, foot on the abduction axis). `InverseKinematics` does the same for any robot by
/// iteration.
#[ports(
    |k: usize|
    let RobotDims { n, ns, .. } = RobotDims::of(ports, self.robot.as_str());
    in  position: Vector::of(3 * k), "m",
        "wanted feet, axes of the trunk, from its origin, below one another", frame "trunk";
    in  velocity?: Vector::of(3 * k), "m/s", "wanted velocities relative to the trunk; 0 without",
        frame "trunk";
    out s_ref: Vector::of(ns), "rad", "joint positions within their limits";
    out s_dot_ref: Vector::of(n), "rad/s", "joint velocities";
    out reachable: Bool, _, "every foot is where it is wanted";
)]
#[parameters(aliases("IK"))]
pub struct LegInverseKinematics {
    /// The robot.
    pub robot: RobotName,
    /// Side of the line from hip to foot that each knee is on, `Backward` or `Forward`: one for all
    /// legs or one for each.
    #[default = vec![KneeBend::Backward]]
    pub knees: Vec<KneeBend>,
}

/// Ports and legs of a [`LegInverseKinematics`].
pub struct Plan {
    robot: Arc<RobotModel>,
    legs: Vec<Leg>,
    /// Joint positions at zero.
    rest: Vec<f64>,
    io: LegInverseKinematicsPorts,
}

/// How often feet were out of reach.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct State {
    samples: u64,
    out_of_reach: u64,
}

#[block]
impl Block for LegInverseKinematics {
    type Plan = Plan;
    type State = State;
    /// Whether all feet were reached.
    type Memo = Option<bool>;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let bend = |leg: usize| {
            let own = if self.knees.len() == 1 { 0 } else { leg };
            self.knees.get(own).copied().unwrap_or_default()
        };
        let (robot, legs) = legs(&self.robot, ports, bend)?;
        if self.knees.len() != 1 && self.knees.len() != legs.len() {
            let (found, count) = (self.knees.len(), legs.len());
            let message = format!("expected one knee for all or {count}, found {found}");
            return Err(Invalid::parameter("knees", message));
        }
        ports.updates();
        let rest = zero_positions(&robot.model);
        Ok(Plan { io: self.declare(ports, legs.len()), robot, legs, rest })
    }

    fn memo(&self, _: &Plan, _: &Sizes<'_>) -> Option<bool> {
        None
    }

    fn clear_memo(&self, memo: &mut Option<bool>) {
        *memo = None;
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let model = &plan.robot.model;
        let base = model.configuration_dim() - model.joint_configuration_dim();
        let base_velocity = model.velocity_dim() - model.joint_dim();
        // Joints in no leg: a ball joint at rest has a quaternion that is not zero.
        cx.outputs.get(plan.io.s_ref).copy_from_slice(&plan.rest);
        cx.outputs.get(plan.io.s_dot_ref).fill(0.0);
        let positions = cx.inputs.get(plan.io.position);
        let velocities = cx.inputs.optional(plan.io.velocity);
        let mut is_reached = true;
        for (i, leg) in plan.legs.iter().enumerate() {
            let foot = Vector3::from_column_slice(&positions[3 * i..3 * i + 3]);
            let found = leg.joint_positions(&foot);
            is_reached &= found.reach == Reach::Within;
            let rates = velocities.map_or([0.0; 3], |velocities| {
                let velocity = Vector3::from_column_slice(&velocities[3 * i..3 * i + 3]);
                leg.joint_velocities(&found.positions, &velocity)
            });
            for ((joint, s), rate) in leg.joints().into_iter().zip(found.positions).zip(rates) {
                let joint = model.joint(joint);
                cx.outputs.get(plan.io.s_ref)[joint.configuration_range().start - base] = s;
                cx.outputs.get(plan.io.s_dot_ref)[joint.velocity_range().start - base_velocity] =
                    rate;
            }
        }
        cx.outputs.set(plan.io.reachable, f64::from(u8::from(is_reached)));
        if !cx.time.minor {
            *cx.memo = Some(is_reached);
        }
        Ok(())
    }

    fn update(&self, _: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        if let Some(is_reached) = *cx.memo {
            cx.state.samples += 1;
            cx.state.out_of_reach += u64::from(!is_reached);
        }
        Ok(())
    }

    fn report(&self, _: &Plan, state: &State, report: &mut Report) {
        report.metric("out_of_reach", state.out_of_reach as f64);
        if state.out_of_reach > 0 {
            let State { samples, out_of_reach } = state;
            report
                .notes
                .push(format!("a foot was out of reach in {out_of_reach} of {samples} samples"));
        }
    }
}

#[cfg(test)]
mod tests;
