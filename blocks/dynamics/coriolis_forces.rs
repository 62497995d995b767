//! `CoriolisForces`: the part of the bias force that velocity causes.

use std::sync::Arc;

use legwork_block::{Block, Outcome, OutputCx, Sizes, Vector, block, parameters, ports};
use legwork_mechanics::{InverseDynamics, Kinematics, coriolis_force};

use crate::buses::{RobotDims, StateBus};
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::kinematics;

/// Coriolis and centrifugal force `C(q, ν) ν`. It is the part of `h(q, ν)` that is quadratic in ν.
///
/// It is on the left-hand side, `M ν̇ + C ν + g = …`. [`BiasForces`](crate::BiasForces) is its sum
/// with [`GravityForces`](crate::GravityForces).
///
/// R. Featherstone, *Rigid Body Dynamics Algorithms* (2008), sec. 5.3, without gravity.
#[ports(
    keep robot: Arc<RobotModel> = self.robot.find(ports)?;
    let nv = RobotDims::of(ports, self.robot.as_str()).nv;
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    ask kinematics: Kinematics = kinematics(ports, &robot, state);
    out coriolis("c"): Vector::of(nv), _,
        "force and moment on the base in world axes, joint torques", units "N, N m";
)]
#[parameters(aliases("centrifugal"))]
pub struct CoriolisForces {
    /// The robot.
    pub robot: RobotName,
}

#[block]
impl Block for CoriolisForces {
    type Scratch = InverseDynamics;

    fn scratch(&self, plan: &Self::Plan, _: &Sizes<'_>) -> InverseDynamics {
        InverseDynamics::new(&plan.robot.model)
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let kinematics = cx.inputs.shared(plan.kinematics);
        let out = cx.outputs.get(plan.coriolis);
        coriolis_force(&plan.robot.model, kinematics, cx.scratch, out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::CoriolisForces;
    use crate::dynamics::bias_forces::BiasForces;
    use crate::dynamics::gravity_forces::GravityForces;
    use crate::testing::robots::{Rig, States, check_reference, close, go};

    #[test]
    fn c_is_that_of_pinocchio() {
        check_reference(
            |robot| CoriolisForces { robot: robot.into() },
            "c",
            |reference, order| reference.vector("coriolis_force", order),
        );
    }

    #[test]
    fn with_gravity_it_is_the_bias_force() {
        let mut coriolis = Rig::new(CoriolisForces { robot: "go".into() }, &go(), &[]);
        let mut gravity = Rig::new(GravityForces { robot: "go".into() }, &go(), &[]);
        let mut bias = Rig::new(BiasForces { robot: "go".into() }, &go(), &[]);
        for (q, nu) in States::of(&go(), 20) {
            for rig in [&mut coriolis, &mut gravity, &mut bias] {
                rig.set("state", &[&q, &nu]);
                rig.output();
            }
            let parts = coriolis.leaf("c", 0).into_iter().zip(gravity.leaf("g", 0));
            let sum: Vec<f64> = parts.map(|(c, g)| c + g).collect();
            close(&bias.leaf("h", 0), &sum, 1e-14);
        }
    }
}
