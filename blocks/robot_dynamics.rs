//! `RobotDynamics`: the terms of the equation of motion on one bus.

use std::sync::Arc;

use legwork_block::{In, Inputs, Invalid, Out, Outcome, Outputs, Ports, Pure, Shared};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::buses::{DynamicsBus, StateBus, dynamics_leaf};
use crate::robot_kinematics::{describe, state_input};
use crate::robot_mass::{Mass, mass};
use crate::robot_model::RobotModel;
use crate::robot_name::RobotName;

/// The terms of `M ν̇ + h = Sᵀτ + Jᵀf` at a state, on one bus.
///
/// | port | type | meaning |
/// |---|---|---|
/// | in `state` | State(robot) | configuration and velocity |
/// | out `bus` | Dynamics(robot) | `nu`, handed on; `M`; `h`; `factor`: C with `CᵀC = M` |
///
/// A fault if M is singular: some joint moves no mass and has no rotor inertia.
///
/// R. Featherstone, *Rigid Body Dynamics Algorithms* (2008), ch. 5, 6 and sec. 9.5.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RobotDynamics {
    /// The robot.
    pub robot: RobotName,
}

/// Ports of [`RobotDynamics`].
pub struct Plan {
    robot: Arc<RobotModel>,
    mass: Shared<Mass>,
    bus: Out<DynamicsBus>,
}

impl Pure for RobotDynamics {
    const KIND: &'static str = "RobotDynamics";
    type Plan = Plan;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let robot = self.robot.find(ports)?;
        let state: In<StateBus> = state_input(ports, self.robot.as_str());
        let mass = mass(ports, &robot, state);
        let signal = DynamicsBus::of(ports, self.robot.as_str());
        let bus = ports.output("bus", &signal);
        describe(ports, bus, "terms of the equation of motion");
        // Leaf 1 of a state is its velocity.
        ports.forward(bus, dynamics_leaf::NU, state, 1);
        Ok(Plan { robot, mass, bus })
    }

    fn output(&self, plan: &Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let mass = inputs.shared(plan.mass);
        mass.matrix.write_dense(outputs.leaf(plan.bus, dynamics_leaf::MASS_MATRIX));
        outputs.leaf(plan.bus, dynamics_leaf::BIAS_FORCE).copy_from_slice(&mass.bias_force);
        mass.factor.write_dense(outputs.leaf(plan.bus, dynamics_leaf::FACTOR));
        let joints = outputs.leaf(plan.bus, dynamics_leaf::JOINTS);
        joints.fill(0.0);
        for &joint in plan.robot.model.joint_velocity_indices() {
            joints[joint] = 1.0;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::robots_testing::{Rig, States, go};

    #[test]
    fn the_factor_is_a_root_of_the_mass_matrix_and_nu_is_the_states() {
        let mut rig = Rig::new(super::RobotDynamics { robot: "go".into() }, &go(), &[]);
        for (q, nu) in States::of(&go(), 20) {
            rig.set("state", &[&q, &nu]);
            rig.output();
            assert_eq!(rig.leaf("bus", 0), nu);
            let (m, c) = (rig.leaf("bus", 1), rig.leaf("bus", 3));
            for i in 0..18 {
                for j in 0..18 {
                    let product: f64 = (0..18).map(|k| c[i * 18 + k] * c[j * 18 + k]).sum();
                    // 18 products of entries below 10.
                    assert!((product - m[j * 18 + i]).abs() < 1e-13, "{i} {j}: {product}");
                    assert_eq!(m[j * 18 + i], m[i * 18 + j]);
                }
                assert!(c[i * 18 + i] > 0.0);
            }
        }
    }
}
