//! `GravityForces`: the part of the bias force that remains at rest.

use legwork_block::{Inputs, Invalid, Out, Outcome, Outputs, Ports, Pure, Vector};
use legwork_mechanics::gravity_force;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::buses::RobotDims;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::{AtState, describe};

/// Gravity force `g(q)`: the value of `h(q, ν)` at ν = 0.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `state` | State(robot) | | configuration and velocity; only q matters |
/// | out `g` | nv | N, N m | force and moment on the base in world axes, joint torques |
///
/// It is on the left-hand side, `M ν̇ + C ν + g = …`: the joint torques `g` hold a fixed-base robot
/// still (gravity compensation), and a floating base feels its weight as a positive third number.
/// [`BiasForces`](crate::BiasForces) is its sum with [`CoriolisForces`](crate::CoriolisForces).
///
/// R. Featherstone, *Rigid Body Dynamics Algorithms* (2008), sec. 5.3.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["gravity vector"]))]
pub struct GravityForces {
    /// The robot.
    pub robot: RobotName,
}

/// Ports of [`GravityForces`].
pub struct Plan {
    at: AtState,
    gravity: Out<Vector>,
}

impl Pure for GravityForces {
    const KIND: &'static str = "GravityForces";
    type Plan = Plan;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let at = AtState::plan(&self.robot, ports)?;
        let nv = RobotDims::of(ports, self.robot.as_str()).nv;
        let gravity = ports.output("g", &Vector(nv));
        describe(ports, gravity, "gravity force");
        Ok(Plan { at, gravity })
    }

    fn output(&self, plan: &Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let kinematics = inputs.shared(plan.at.kinematics);
        gravity_force(&plan.at.robot.model, kinematics, outputs.get(plan.gravity));
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
