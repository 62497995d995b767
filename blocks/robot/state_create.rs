//! `StateCreate`: a state of a robot from its numbers.

use std::sync::Arc;

use legwork_block::{
    Fault, Inputs, Outcome, Outputs, Pure, Slope, Slopes, Vector, block, parameters, ports,
};
use legwork_mechanics::normalize;

use crate::buses::StateBus;
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;

/// A state of a robot from configuration and velocity, such as an estimate of them.
///
/// By it a controller takes what sensors say for the state, or has another model of the robot than
/// the one that is simulated: `State(go)` fits blocks of the robot `go` alone.
///
/// Quaternions in q are brought to unit length; one of length 0 is a fault of the run.
#[ports(
    keep robot: Arc<RobotModel> = self.robot.find(ports)?;
    let model = &robot.model;
    in  q: Vector::of(model.configuration_dim()), _, "configuration, as the bus has it",
        shape "nq", units "m, 1, rad";
    in  nu: Vector::of(model.velocity_dim()), _, "velocity, as the bus has it", shape "nv",
        units "m/s, rad/s";
    out state: StateBus::of(ports, self.robot.as_str()), _, "the state";
)]
#[parameters(aliases("state estimate", "bus creator"))]
pub struct StateCreate {
    /// The robot.
    pub robot: RobotName,
}

#[block]
impl Pure for StateCreate {
    fn output(&self, plan: &Self::Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let model = &plan.robot.model;
        let given = inputs.get(plan.q);
        for &(at, _) in model.quaternions() {
            let quaternion = &given[at..at + 4];
            let squares: f64 = quaternion.iter().map(|part| part * part).sum();
            if !(squares > 0.0 && squares.is_finite()) {
                let message =
                    format!("expected quaternions of a length that is not 0, found {quaternion:?}");
                return Err(Fault::new(message));
            }
        }
        let q = outputs.leaf(plan.state, StateBus::Q);
        q.copy_from_slice(given);
        normalize(model, q);
        outputs.leaf(plan.state, StateBus::NU).copy_from_slice(inputs.get(plan.nu));
        Ok(())
    }

    /// A quaternion is scaled to length 1: what changes its length is taken off.
    fn slopes(&self, plan: &Self::Plan, inputs: &Inputs<'_>, slopes: &mut Slopes<'_>) -> Slope {
        let given = inputs.get(plan.q);
        let (q, nu) = (slopes.rows(plan.state, 0), slopes.rows(plan.state, 1));
        let (by_q, by_nu) = (slopes.columns(plan.q, 0), slopes.columns(plan.nu, 0));
        slopes.each(nu, by_nu, |_| 1.0);
        let quaternions = plan.robot.model.quaternions();
        let begins = |i: usize| quaternions.iter().find(|(at, _)| (*at..at + 4).contains(&i));
        for i in 0..q.len() {
            let Some(&(at, _)) = begins(i) else {
                slopes.add((q, i), (by_q, i), 1.0);
                continue;
            };
            let squares: f64 = given[at..at + 4].iter().map(|part| part * part).sum();
            for j in at..at + 4 {
                let unit = if i == j { 1.0 } else { 0.0 };
                let slope = (unit - given[i] * given[j] / squares) / libm::sqrt(squares);
                slopes.add((q, i), (by_q, j), slope);
            }
        }
        Slope::Exact
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::robots::{Rig, go};

    #[test]
    fn a_state_has_unit_quaternions_and_keeps_the_rest() {
        let mut rig = Rig::new(StateCreate { robot: "go".into() }, &go(), &[]);
        let mut q: Vec<f64> = (0..19).map(f64::from).collect();
        let nu: Vec<f64> = (0..18).map(|i| -f64::from(i)).collect();
        q[3..7].copy_from_slice(&[0.0, 0.0, 0.0, -4.0]);
        rig.set("q", &[&q]);
        rig.set("nu", &[&nu]);
        rig.output();
        q[3..7].copy_from_slice(&[0.0, 0.0, 0.0, -1.0]);
        assert_eq!(rig.leaf("state", 0), q);
        assert_eq!(rig.leaf("state", 1), nu);
    }
}
