//! `Energy`: kinetic and potential energy of a robot.

use std::sync::Arc;

use legwork_block::{Inputs, Outcome, Outputs, Pure, Real, block, parameters, ports};
use legwork_mechanics::{Kinematics, kinetic_energy, potential_energy, rotor_kinetic_energy};

use crate::buses::StateBus;
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::kinematics;

/// Kinetic and potential energy of a robot: links, rotors, springs of joints.
#[ports(
    keep robot: Arc<RobotModel> = self.robot.find(ports)?;
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    ask kinematics: Kinematics = kinematics(ports, &robot, state);
    out kinetic: Real, "J", "`½ νᵀMν = Σ ½ m v² + ½ ω·Iω + ½ I_rotor ṡ²`";
    out potential: Real, "J", "`−Σ m g·c`, zero at the world's origin, and `Σ ½ k (s − r)²` of springs";
    out total: Real, "J", "their sum, constant as long as nothing does work";
)]
#[parameters(aliases("kinetic energy", "potential energy"))]
pub struct Energy {
    /// The robot.
    pub robot: RobotName,
}

#[block]
impl Pure for Energy {
    fn output(&self, plan: &Self::Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let (model, kinematics) = (&plan.robot.model, inputs.shared(plan.kinematics));
        let state = inputs.get(plan.state);
        let kinetic = kinetic_energy(model, kinematics) + rotor_kinetic_energy(model, state.nu);
        let potential = potential_energy(model, kinematics) + model.spring_energy(state.q);
        outputs.set(plan.kinetic, kinetic);
        outputs.set(plan.potential, potential);
        outputs.set(plan.total, kinetic + potential);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Energy;
    use crate::dynamics::mass_matrix::MassMatrix;
    use crate::testing::robots::{Rig, States, check_reference, go};

    #[test]
    fn energies_are_those_of_pinocchio() {
        let block = |robot: &str| Energy { robot: robot.into() };
        check_reference(block, "kinetic", |reference, _| vec![reference.number("kinetic_energy")]);
        check_reference(block, "potential", |reference, _| {
            vec![reference.number("potential_energy")]
        });
    }

    #[test]
    fn kinetic_energy_is_half_nu_m_nu_with_rotors() {
        let mut mass = Rig::new(MassMatrix { robot: "go".into() }, &go(), &[]);
        let mut energy = Rig::new(Energy { robot: "go".into() }, &go(), &[]);
        for (q, nu) in States::of(&go(), 20) {
            for rig in [&mut mass, &mut energy] {
                rig.set("state", &[&q, &nu]);
                rig.output();
            }
            let m = mass.leaf("M", 0);
            let expected: f64 = (0..18)
                .flat_map(|i| (0..18).map(move |j| (i, j)))
                .map(|(i, j)| 0.5 * nu[i] * m[j * 18 + i] * nu[j])
                .sum();
            let kinetic = energy.leaf("kinetic", 0)[0];
            assert!((kinetic - expected).abs() < 1e-12 * expected.max(1.0));
            let total = energy.leaf("potential", 0)[0] + kinetic;
            assert_eq!(energy.leaf("total", 0), [total]);
        }
    }
}
