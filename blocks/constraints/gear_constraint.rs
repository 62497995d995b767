//! `GearConstraint`: one joint turns with another.

use legwork_block::quantity::{Dimensionless, NonNegative, Scalar, Velocity};
use legwork_block::{Block, Invalid, Outcome, OutputCx, Ports, Real, block, parameters, ports};
use legwork_mechanics::{Joint, JointKind};
use nalgebra::Vector3;

use crate::buses::{CONSTRAINT_ROWS, ConstraintBus, RobotDims, StateBus};
use crate::constraints::loop_constraint::{Rows, Stabilise};
use crate::robot::model::{RobotModel, unknown};
use crate::robot::name::RobotName;

/// A gear: `s_a = ratio · s_b + offset` for two joints of a robot or world.
///
/// The row is an angular one, the fourth of the six, if joint a turns, else a linear one, the
/// first. Wheels that roll on one another, racks and differentials of two joints are gears; the
/// joints may belong to different robots of a world. `stabilise` is that of `LoopConstraint`; the
/// force of the constraint is the torque [N m; N] on joint a.
#[ports(
    self.stabilise.check_solver(ports.solver())?;
    keep gear: Gear = self.gear(ports)?;
    let nv = RobotDims::of(ports, self.robot.as_str()).nv;
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    out constraint: ConstraintBus::new(&nv), _, "one row, `φ = s_a − ratio · s_b − offset`";
    out slip: Real, _, "φ: how far joint a is from where joint b puts it", units "rad, m";
)]
#[parameters(aliases("transmission", "coupling", "mimic"))]
pub struct GearConstraint {
    /// The robot or world.
    pub robot: RobotName,
    /// Names of the joints a and b, each of one degree of freedom.
    pub joints: [String; 2],
    /// Ratio: turns of a for one turn of b; of any sign but not zero [1; m/rad for a rack].
    pub ratio: Dimensionless,
    /// `s_a` at `s_b = 0` [rad; m if prismatic]; default 0.
    pub offset: Option<Scalar>,
    /// How the gear is kept closed by solvers of rigid constraints; default `Projection`.
    #[default]
    pub stabilise: Stabilise,
    /// `Projection`: highest rate at which a slip closes [rad/s; m/s].
    #[default = 1]
    pub max_rate: NonNegative<Velocity>,
}

/// Where the two joints are in a state.
struct Gear {
    /// Indices of a and b into q and into ν.
    positions: [usize; 2],
    velocities: [usize; 2],
    row: usize,
    offset: f64,
}

fn joint<'m>(robot: &'m RobotModel, name: &str) -> Result<&'m Joint, Invalid> {
    let has_one = |joint: &&Joint| joint.kind.velocity_dim() == 1;
    let joints = || robot.model.joints().iter().filter(has_one);
    joints().find(|joint| joint.name == name).ok_or_else(|| {
        let expected = format!("a joint of `{}` with one degree of freedom", robot.name);
        unknown("joints", &expected, name, joints().map(|joint| joint.name.as_str()))
    })
}

impl GearConstraint {
    fn gear(&self, ports: &Ports<'_>) -> Result<Gear, Invalid> {
        let robot = self.robot.find(ports)?;
        let [a, b] = &self.joints;
        if a == b {
            let message = format!("expected two joints, found `{a}` twice");
            return Err(Invalid::parameter("joints", message));
        }
        if self.ratio.value() == 0.0 {
            let message = "expected a ratio other than zero, found 0";
            return Err(Invalid::parameter("ratio", message));
        }
        let (a, b) = (joint(&robot, a)?, joint(&robot, b)?);
        let starts = [a, b].map(|joint| (joint.configuration_range(), joint.velocity_range()));
        Ok(Gear {
            positions: starts.clone().map(|(q, _)| q.start),
            velocities: starts.map(|(_, nu)| nu.start),
            row: if a.kind == JointKind::Prismatic { 0 } else { 3 },
            offset: self.offset.map_or(0.0, |offset| offset.value),
        })
    }
}

#[block]
impl Block for GearConstraint {
    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let time_step = cx.time.step;
        self.stabilise.check_step(time_step)?;
        let (state, gear) = (cx.inputs.get(plan.state), &plan.gear);
        let ratio = self.ratio.value();
        let ([qa, qb], [va, vb]) = (gear.positions, gear.velocities);
        let slip = state.q[qa] - ratio * state.q[qb] - gear.offset;
        let rate = state.nu[va] - ratio * state.nu[vb];
        let first = |number: f64| Vector3::new(number, 0.0, 0.0);
        let rows = Rows { error: first(slip), rate: first(rate), bias: Vector3::zeros() };
        let value = self.stabilise.gamma(&rows, time_step, self.max_rate.value());
        let [jacobian, dot_nu, error, gamma, active] = cx.outputs.leaves([
            plan.constraint.leaf(ConstraintBus::JACOBIAN),
            plan.constraint.leaf(ConstraintBus::JACOBIAN_DOT_NU),
            plan.constraint.leaf(ConstraintBus::ERROR),
            plan.constraint.leaf(ConstraintBus::GAMMA),
            plan.constraint.leaf(ConstraintBus::ACTIVE),
        ]);
        for numbers in [&mut *jacobian, dot_nu, &mut *error, &mut *gamma, &mut *active] {
            numbers.fill(0.0);
        }
        jacobian[CONSTRAINT_ROWS * va + gear.row] = 1.0;
        jacobian[CONSTRAINT_ROWS * vb + gear.row] = -ratio;
        error[gear.row] = slip;
        gamma[gear.row] = value.x;
        active[gear.row] = 1.0;
        cx.outputs.set(plan.slip, slip);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::contacts::block;
    use crate::testing::robots::{Rig, States, go};

    /// φ and its rate are those of the two joints, and γ closes the gear after a step.
    #[test]
    fn a_gear_is_the_difference_of_its_joints() {
        let robot = go();
        let parameters = json!({ "robot": "go", "joints": ["FL_knee_joint", "HR_hip_joint"],
                                 "ratio": -2.5, "offset": "0.3 rad", "max_rate": 1e9 });
        let mut rig = Rig::new(block::<GearConstraint>(parameters), &robot, &[]);
        let names: Vec<&str> = robot.joint_names();
        let at = |name: &str| names.iter().position(|n| *n == name).expect("a joint");
        let (a, b) = (at("FL_knee_joint"), at("HR_hip_joint"));
        for (q, nu) in States::of(&robot, 5) {
            rig.set("state", &[&q, &nu]);
            rig.output();
            let slip = q[7 + a] + 2.5 * q[7 + b] - 0.3;
            assert!((rig.leaf("slip", 0)[0] - slip).abs() < 1e-14);
            let j = rig.leaf("constraint", ConstraintBus::JACOBIAN);
            let rate: f64 = (0..18).map(|c| j[6 * c + 3] * nu[c]).sum();
            assert!((rate - nu[6 + a] - 2.5 * nu[6 + b]).abs() < 1e-13);
            assert_eq!(
                rig.leaf("constraint", ConstraintBus::ACTIVE),
                [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]
            );
            // J ν̇ = −γ gives the rate ν⁺ at which the slip is gone after a step.
            let after = rate - rig.step * rig.leaf("constraint", ConstraintBus::GAMMA)[3];
            assert!((slip + rig.step * after).abs() < 1e-12, "{slip} {after}");
        }
    }

    #[test]
    fn gears_of_nothing_are_refused() {
        let parameter = |parameters| {
            let refused = Rig::with(block::<GearConstraint>(parameters), &go(), &[], &[]).err();
            refused.expect("refused").parameter.expect("a parameter")
        };
        let joints = ["FL_knee_joint", "HR_hip_joint"];
        let same = [joints[0], joints[0]];
        assert_eq!(parameter(json!({ "robot": "go", "joints": same, "ratio": 1 })), "joints");
        let none = [joints[0], "knee"];
        assert_eq!(parameter(json!({ "robot": "go", "joints": none, "ratio": 1 })), "joints");
        assert_eq!(parameter(json!({ "robot": "go", "joints": joints, "ratio": 0 })), "ratio");
    }
}
