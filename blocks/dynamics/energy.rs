//! `Energy`: kinetic and potential energy of a robot.

use legwork_block::{Inputs, Invalid, Out, Outcome, Outputs, Ports, Pure, Real};
use legwork_mechanics::{kinetic_energy, potential_energy, rotor_kinetic_energy};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::AtState;

/// Kinetic and potential energy of a robot: links and motor rotors.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `state` | State(robot) | | configuration and velocity |
/// | out `kinetic` | Real | J | `½ νᵀMν = Σ ½ m v² + ½ ω·Iω + ½ I_rotor ṡ²` |
/// | out `potential` | Real | J | `−Σ m g·c`, zero at the world's origin |
/// | out `total` | Real | J | their sum, constant as long as nothing does work |
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["kinetic energy", "potential energy"]))]
pub struct Energy {
    /// The robot.
    pub robot: RobotName,
}

/// Ports of [`Energy`].
pub struct Plan {
    at: AtState,
    kinetic: Out<Real>,
    potential: Out<Real>,
    total: Out<Real>,
}

impl Pure for Energy {
    const KIND: &'static str = "Energy";
    type Plan = Plan;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let at = AtState::plan(&self.robot, ports)?;
        let mut energy = |name: &str, doc: &str| {
            let port = ports.output(name, &Real);
            ports.note_out(port).unit("J").doc(doc);
            port
        };
        let kinetic = energy("kinetic", "of links and rotors");
        let potential = energy("potential", "in the gravity field, zero at the world's origin");
        let total = energy("total", "kinetic and potential");
        Ok(Plan { at, kinetic, potential, total })
    }

    fn output(&self, plan: &Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let model = &plan.at.robot.model;
        let kinematics = inputs.shared(plan.at.kinematics);
        let nu = inputs.get(plan.at.state).nu;
        let kinetic = kinetic_energy(model, kinematics) + rotor_kinetic_energy(model, nu);
        let potential = potential_energy(model, kinematics);
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
