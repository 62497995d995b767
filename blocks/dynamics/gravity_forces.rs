//! `GravityForces`: the part of the bias force that remains at rest.

use std::sync::Arc;

use legwork_block::{Inputs, Outcome, Outputs, Pure, Vector, block, parameters, ports};
use legwork_mechanics::{Kinematics, gravity_force};

use crate::buses::{RobotDims, StateBus};
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::kinematics;

/// Gravity force `g(q)`: the value of `h(q, ν)` at ν = 0.
///
/// It is on the left-hand side, `M ν̇ + C ν + g = …`: the joint torques `g` hold a fixed-base robot
/// still (gravity compensation), and a floating base feels its weight as a positive third number.
/// [`BiasForces`](crate::BiasForces) is its sum with [`CoriolisForces`](crate::CoriolisForces).
///
/// R. Featherstone, *Rigid Body Dynamics Algorithms* (2008), sec. 5.3.
#[ports(
    keep robot: Arc<RobotModel> = self.robot.find(ports)?;
    let nv = RobotDims::of(ports, self.robot.as_str()).nv;
    in  state: StateBus::of(ports, self.robot.as_str()), _,
        "configuration and velocity; only q matters";
    ask kinematics: Kinematics = kinematics(ports, &robot, state);
    out gravity("g"): Vector::of(nv), _,
        "force and moment on the base in world axes, joint torques", units "N, N m";
)]
#[parameters(aliases("gravity vector"))]
pub struct GravityForces {
    /// The robot.
    pub robot: RobotName,
}

#[block]
impl Pure for GravityForces {
    fn output(&self, plan: &Self::Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let kinematics = inputs.shared(plan.kinematics);
        gravity_force(&plan.robot.model, kinematics, outputs.get(plan.gravity));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::GravityForces;
    use crate::testing::robots::check_reference;

    #[test]
    fn g_is_that_of_pinocchio() {
        check_reference(
            |robot| GravityForces { robot: robot.into() },
            "g",
            |reference, order| reference.vector("gravity_force", order),
        );
    }
}
