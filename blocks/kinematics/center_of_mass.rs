//! `CenterOfMass`: where the mass of a robot is and how it moves.

use std::sync::Arc;

use legwork_block::{Inputs, Matrix, Outcome, Outputs, Pure, Vector, block, parameters, ports};
use legwork_mechanics::{
    Kinematics, center_of_mass, center_of_mass_jacobian, center_of_mass_jacobian_dot_velocity,
    center_of_mass_velocity,
};

use crate::buses::{RobotDims, StateBus};
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::kinematics;

/// Centre of mass of a robot, with velocity, Jacobian and J̇ν. `ċ = J ν`, `c̈ = J ν̇ + J̇ν`.
///
/// The root link of a fixed base is left out of all sums: it cannot move. Whatever the joints of a
/// floating robot do, its centre of mass falls freely.
///
/// S. Kajita et al., *Resolved momentum control* (2003), sec. 3.
#[ports(
    keep robot: Arc<RobotModel> = self.robot.find(ports)?;
    let nv = RobotDims::of(ports, self.robot.as_str()).nv;
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    ask kinematics: Kinematics = kinematics(ports, &robot, state);
    out position: Vector::of(3), "m", "`c = Σ m_i c_i / m`, world axes", frame "world";
    out velocity: Vector::of(3), "m/s", "ċ, world axes", frame "world";
    out dot_j_nu: Vector::of(3), "m/s^2", "c̈ at ν̇ = 0, world axes", frame "world";
    out jacobian: Matrix::of(3, nv), _, "`ċ = J ν`", frame "world", units "1, m";
)]
#[parameters(aliases("CoM", "centre of gravity"))]
pub struct CenterOfMass {
    /// The robot.
    pub robot: RobotName,
}

#[block]
impl Pure for CenterOfMass {
    fn output(&self, plan: &Self::Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let (model, kinematics) = (&plan.robot.model, inputs.shared(plan.kinematics));
        for (port, value) in [
            (plan.position, center_of_mass(model, kinematics)),
            (plan.velocity, center_of_mass_velocity(model, kinematics)),
            (plan.dot_j_nu, center_of_mass_jacobian_dot_velocity(model, kinematics)),
        ] {
            outputs.get(port).copy_from_slice(value.as_slice());
        }
        center_of_mass_jacobian(model, kinematics, outputs.get(plan.jacobian));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::CenterOfMass;
    use crate::dynamics::forward_dynamics::{Algorithm, ForwardDynamics};
    use crate::testing::robots::{Rig, States, check_reference, close, for_each_reference, go};

    fn block(robot: &str) -> CenterOfMass {
        CenterOfMass { robot: robot.into() }
    }

    #[test]
    fn position_velocity_and_jacobian_are_those_of_pinocchio() {
        check_reference(block, "position", |reference, _| reference.numbers("com"));
        check_reference(block, "velocity", |reference, _| reference.numbers("com_velocity"));
        check_reference(block, "jacobian", |reference, order| {
            reference.columns("com_jacobian", order)
        });
    }

    #[test]
    fn the_center_of_mass_falls_freely_whatever_the_joints_do() {
        let forward = ForwardDynamics { robot: "go".into(), algorithm: Algorithm::Factor };
        let mut forward = Rig::new(forward, &go(), &["J", "f", "external"]);
        let mut rig = Rig::new(block("go"), &go(), &[]);
        let tau: Vec<f64> = (0..12).map(|i| f64::from(i) - 5.0).collect();
        for (q, nu) in States::of(&go(), 20) {
            for rig in [&mut forward, &mut rig] {
                rig.set("state", &[&q, &nu]);
            }
            forward.set("tau", &[&tau]);
            forward.output();
            rig.output();
            let (nu_dot, j) = (forward.leaf("nu_dot", 0), rig.leaf("jacobian", 0));
            let mut acceleration = rig.leaf("dot_j_nu", 0);
            for (k, rate) in nu_dot.iter().enumerate() {
                for (i, a) in acceleration.iter_mut().enumerate() {
                    *a += j[3 * k + i] * rate;
                }
            }
            close(&acceleration, &[0.0, 0.0, -9.81], 1e-10);
        }
    }

    #[test]
    fn dot_j_nu_is_the_rate_of_the_velocity() {
        for_each_reference(|robot, reference, order| {
            let mut rig = Rig::new(block(&robot.name), robot, &[]);
            let (q, nu) = reference.state(order);
            let dt = 1e-5;
            let [before, after] = [-dt, dt].map(|dt| {
                let motion: Vec<f64> = nu.iter().map(|v| v * dt).collect();
                let mut moved = q.clone();
                legwork_mechanics::integrate(&robot.model, &q, &motion, &mut moved);
                rig.set("state", &[&moved, &nu]);
                rig.output();
                rig.leaf("velocity", 0)
            });
            rig.set("state", &[&q, &nu]);
            rig.output();
            let rate: Vec<f64> =
                before.iter().zip(&after).map(|(a, b)| (b - a) / (2.0 * dt)).collect();
            close(&rig.leaf("dot_j_nu", 0), &rate, 1e-7);
        });
    }
}
