//! `CoriolisForces`: the part of the bias force that velocity causes.

use legwork_block::{Block, Invalid, Out, Outcome, OutputCx, Ports, Sizes, Vector};
use legwork_mechanics::coriolis_force;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::buses::RobotDims;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::{AtState, describe};

/// Coriolis and centrifugal force `C(q, ν) ν`. It is the part of `h(q, ν)` that is quadratic in ν.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `state` | State(robot) | | configuration and velocity |
/// | out `c` | nv | N, N m | force and moment on the base in world axes, joint torques |
///
/// It is on the left-hand side, `M ν̇ + C ν + g = …`. [`BiasForces`](crate::BiasForces) is its sum
/// with [`GravityForces`](crate::GravityForces).
///
/// R. Featherstone, *Rigid Body Dynamics Algorithms* (2008), sec. 5.3, without gravity.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["centrifugal"]))]
pub struct CoriolisForces {
    /// The robot.
    pub robot: RobotName,
}

/// Ports of [`CoriolisForces`].
pub struct Plan {
    at: AtState,
    coriolis: Out<Vector>,
}

impl Block for CoriolisForces {
    const KIND: &'static str = "CoriolisForces";
    type Plan = Plan;
    type State = ();
    type Memo = ();
    type Scratch = legwork_mechanics::InverseDynamics;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let at = AtState::plan(&self.robot, ports)?;
        let nv = RobotDims::of(ports, self.robot.as_str()).nv;
        let coriolis = ports.output("c", &Vector(nv));
        describe(ports, coriolis, "Coriolis and centrifugal force");
        Ok(Plan { at, coriolis })
    }

    fn state(&self, _: &Plan, _: &Sizes<'_>) {}

    fn scratch(&self, plan: &Plan, _: &Sizes<'_>) -> Self::Scratch {
        legwork_mechanics::InverseDynamics::new(&plan.at.robot.model)
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let kinematics = cx.inputs.shared(plan.at.kinematics);
        let out = cx.outputs.get(plan.coriolis);
        coriolis_force(&plan.at.robot.model, kinematics, cx.scratch, out);
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
