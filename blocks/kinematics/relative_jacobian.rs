//! `RelativeJacobian`: the Jacobian of one frame of a robot as another sees it.

use std::sync::Arc;

use legwork_block::{Inputs, Matrix, Outcome, Outputs, Pure, block, parameters, ports};
use legwork_mechanics::{Kinematics, relative_jacobian};

use crate::buses::{RobotDims, StateBus};
use crate::robot::frames::Pair;
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::kinematics;

/// Jacobian of the frame `to` relative to the frame `from`: `velocity = J ν`. The velocity is that
/// of [`RelativeTransform`](crate::RelativeTransform).
///
/// Only the joints between the frames have columns: those of common ancestors and of the base are
/// exactly zero. Its `J̇ν` is that of `DotJNu(frame: to, relative_to: from)`.
///
/// R. Featherstone, *Rigid Body Dynamics Algorithms* (2008), sec. 8.3, of a loop joint's Jacobian.
#[ports(
    keep robot: Arc<RobotModel> = self.robot.find(ports)?;
    keep pair: Pair = Pair::find(&robot, &self.from, &self.to)?;
    let nv = RobotDims::of(ports, self.robot.as_str()).nv;
    in  state: StateBus::of(ports, self.robot.as_str()), _,
        "configuration and velocity; only q matters";
    ask kinematics: Kinematics = kinematics(ports, &robot, state);
    out jacobian: Matrix::of(6, nv), _,
        "linear, angular velocity of `to` in `from`, axes of `from`",
        frame &self.from, units "1, m";
)]
#[parameters]
pub struct RelativeJacobian {
    /// The robot.
    pub robot: RobotName,
    /// Name of the link that sees.
    pub from: String,
    /// Name of the link that is seen.
    pub to: String,
}

#[block]
impl Pure for RelativeJacobian {
    fn output(&self, plan: &Self::Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let Pair { from, to } = plan.pair;
        let kinematics = inputs.shared(plan.kinematics);
        let out = outputs.get(plan.jacobian);
        relative_jacobian(&plan.robot.model, kinematics, from, to, out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinematics::relative_transform::RelativeTransform;
    use crate::testing::robots::{Rig, States, close, go};

    #[test]
    fn the_velocity_is_the_jacobian_times_nu_and_the_base_has_no_column() {
        let [from, to] = ["FL_foot", "HR_foot"].map(str::to_owned);
        let transform =
            RelativeTransform { robot: "go".into(), from: from.clone(), to: to.clone() };
        let mut transform = Rig::new(transform, &go(), &[]);
        let mut rig = Rig::new(RelativeJacobian { robot: "go".into(), from, to }, &go(), &[]);
        for (q, nu) in States::of(&go(), 20) {
            for rig in [&mut transform, &mut rig] {
                rig.set("state", &[&q, &nu]);
                rig.output();
            }
            let j = rig.leaf("jacobian", 0);
            let product: Vec<f64> =
                (0..6).map(|r| (0..18).map(|c| j[6 * c + r] * nu[c]).sum()).collect();
            close(&transform.leaf("velocity", 0), &product, 1e-13);
            assert!(j[..36].iter().all(|&entry| entry == 0.0));
        }
    }
}
