//! `CentroidalMomentum`: linear and angular momentum of a robot.

use std::sync::Arc;

use legwork_block::{Inputs, Outcome, Outputs, Pure, Vector, block, parameters, ports};
use legwork_mechanics::{Kinematics, centroidal_momentum};

use crate::buses::StateBus;
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::kinematics;

/// Momentum of a robot about its centre of mass: `(p, L) = A_G ν`.
///
/// Of a floating robot in flight L stays as it is and `ṗ = m g`. The momentum of motor rotors is
/// left out.
///
/// D. E. Orin, A. Goswami, S.-H. Lee, *Centroidal dynamics of a humanoid robot* (2013), eq. 2.
#[ports(
    keep robot: Arc<RobotModel> = self.robot.find(ports)?;
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    ask kinematics: Kinematics = kinematics(ports, &robot, state);
    out momentum: Vector::of(6), _, "p, L about the centre of mass, world axes", frame "world",
        units "kg m/s, kg m²/s";
)]
#[parameters(aliases("angular momentum", "linear momentum"))]
pub struct CentroidalMomentum {
    /// The robot.
    pub robot: RobotName,
}

#[block]
impl Pure for CentroidalMomentum {
    fn output(&self, plan: &Self::Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let momentum = centroidal_momentum(&plan.robot.model, inputs.shared(plan.kinematics));
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
