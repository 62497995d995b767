//! `BiasForces`: Coriolis, centrifugal and gravity force of a robot.

use legwork_block::{Inputs, Outcome, Outputs, Pure, Vector, block, parameters, ports};

use crate::buses::{RobotDims, StateBus};
use crate::robot::name::RobotName;
use crate::robot::shared_mass::{Mass, mass};

/// Bias force `h(q, ν)`: Coriolis, centrifugal and gravity terms. It is the h of
/// `M ν̇ + h = Sᵀτ + Jᵀf`.
///
/// h is on the left-hand side: for a robot at rest its third number is the weight, positive.
///
/// Recursive Newton–Euler algorithm; R. Featherstone, *Rigid Body Dynamics Algorithms* (2008),
/// sec. 5.3.
#[ports(
    let robot = self.robot.find(ports)?;
    let nv = RobotDims::of(ports, self.robot.as_str()).nv;
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    ask mass: Mass = mass(ports, &robot, state);
    out bias("h"): Vector::of(nv), _,
        "force and moment on the base in world axes, joint torques", units "N, N m";
)]
#[parameters(aliases("nonlinear effects", "NLE"))]
pub struct BiasForces {
    /// The robot.
    pub robot: RobotName,
}

#[block]
impl Pure for BiasForces {
    fn output(&self, io: &Self::Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        outputs.get(io.bias).copy_from_slice(&inputs.shared(io.mass).bias_force);
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
