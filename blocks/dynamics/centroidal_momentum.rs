//! `CentroidalMomentum`: linear and angular momentum of a robot.

use legwork_block::{Inputs, Invalid, Out, Outcome, Outputs, Ports, Pure, Vector};
use legwork_mechanics::centroidal_momentum;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::robot::frames::output_in;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::AtState;

/// Momentum of a robot about its centre of mass: `(p, L) = A_G ν`.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `state` | State(robot) | | configuration and velocity |
/// | out `momentum` | 6 | kg m/s, kg m²/s | p, L about the centre of mass, world axes |
///
/// Of a floating robot in flight L stays as it is and `ṗ = m g`. The momentum of motor rotors is
/// left out.
///
/// D. E. Orin, A. Goswami, S.-H. Lee, *Centroidal dynamics of a humanoid robot* (2013), eq. 2.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["angular momentum", "linear momentum"]))]
pub struct CentroidalMomentum {
    /// The robot.
    pub robot: RobotName,
}

/// Ports of [`CentroidalMomentum`].
pub struct Plan {
    at: AtState,
    momentum: Out<Vector>,
}

impl Pure for CentroidalMomentum {
    const KIND: &'static str = "CentroidalMomentum";
    type Plan = Plan;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let at = AtState::plan(&self.robot, ports)?;
        let doc = "linear momentum, angular momentum about the centre of mass";
        let momentum = output_in(ports, "momentum", &Vector::of(6), "world", doc);
        Ok(Plan { at, momentum })
    }

    fn output(&self, plan: &Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let kinematics = inputs.shared(plan.at.kinematics);
        let momentum = centroidal_momentum(&plan.at.robot.model, kinematics);
        let out = outputs.get(plan.momentum);
        out[..3].copy_from_slice(momentum.force.as_slice());
        out[3..].copy_from_slice(momentum.moment.as_slice());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::CentroidalMomentum;
    use crate::testing::robots::check_reference;

    #[test]
    fn the_momentum_is_that_of_pinocchio() {
        check_reference(
            |robot| CentroidalMomentum { robot: robot.into() },
            "momentum",
            |reference, _| reference.numbers("centroidal_momentum"),
        );
    }
}
