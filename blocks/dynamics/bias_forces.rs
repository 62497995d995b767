//! `BiasForces`: Coriolis, centrifugal and gravity force of a robot.

use legwork_block::{Inputs, Invalid, Out, Outcome, Outputs, Ports, Pure, Shared, Vector};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::buses::RobotDims;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::{describe, state_input};
use crate::robot::shared_mass::{Mass, mass};

/// Bias force `h(q, ν)`: Coriolis, centrifugal and gravity terms. It is the h of
/// `M ν̇ + h = Sᵀτ + Jᵀf`.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `state` | State(robot) | | configuration and velocity |
/// | out `h` | nv | N, N m | force and moment on the base in world axes, joint torques |
///
/// h is on the left-hand side: for a robot at rest its third number is the weight, positive.
///
/// Recursive Newton–Euler algorithm; R. Featherstone, *Rigid Body Dynamics Algorithms* (2008),
/// sec. 5.3.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["nonlinear effects", "NLE"]))]
pub struct BiasForces {
    /// The robot.
    pub robot: RobotName,
}

/// Ports of [`BiasForces`].
pub struct Plan {
    mass: Shared<Mass>,
    bias: Out<Vector>,
}

impl Pure for BiasForces {
    const KIND: &'static str = "BiasForces";
    type Plan = Plan;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let robot = self.robot.find(ports)?;
        let state = state_input(ports, self.robot.as_str());
        let mass = mass(ports, &robot, state);
        let nv = RobotDims::of(ports, self.robot.as_str()).nv;
        let bias = ports.output("h", &Vector(nv));
        describe(ports, bias, "Coriolis, centrifugal and gravity force");
        Ok(Plan { mass, bias })
    }

    fn output(&self, plan: &Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        outputs.get(plan.bias).copy_from_slice(&inputs.shared(plan.mass).bias_force);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::BiasForces;
    use crate::testing::robots::check_reference;

    #[test]
    fn h_is_that_of_pinocchio() {
        check_reference(
            |robot| BiasForces { robot: robot.into() },
            "h",
            |reference, order| reference.vector("h", order),
        );
    }
}
