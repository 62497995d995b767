//! `MassMatrix`: joint-space inertia of a robot.

use legwork_block::{Inputs, Matrix, Outcome, Outputs, Pure, block, parameters, ports};

use crate::buses::{RobotDims, StateBus};
use crate::robot::name::RobotName;
use crate::robot::shared_mass::{Mass, mass};

/// Mass matrix `M(q)` of a robot, with the reflected inertia of its rotors. It is the M of
/// `M ν̇ + h = Sᵀτ + Jᵀf`.
///
/// Composite-rigid-body algorithm; R. Featherstone, *Rigid Body Dynamics Algorithms* (2008),
/// sec. 6.2.
#[ports(
    let robot = self.robot.find(ports)?;
    let nv = RobotDims::of(ports, self.robot.as_str()).nv;
    in  state: StateBus::of(ports, self.robot.as_str()), _,
        "configuration and velocity; only q matters";
    ask mass: Mass = mass(ports, &robot, state);
    out matrix("M"): Matrix::of(&nv, &nv), _, "joint-space inertia: symmetric, positive definite",
        units "kg, kg m, kg m²";
)]
#[parameters(aliases("CRBA", "composite-rigid-body algorithm", "joint-space inertia"))]
pub struct MassMatrix {
    /// The robot.
    pub robot: RobotName,
}

#[block]
impl Pure for MassMatrix {
    fn output(&self, io: &Self::Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        inputs.shared(io.mass).matrix.write_dense(outputs.get(io.matrix));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::MassMatrix;
    use crate::testing::robots::{Rig, States, check_reference, go, go_without_rotors};

    #[test]
    fn m_is_that_of_pinocchio() {
        check_reference(
            |robot| MassMatrix { robot: robot.into() },
            "M",
            |reference, order| reference.square("M", order),
        );
    }

    #[test]
    fn rotors_add_to_the_diagonal_of_the_joints() {
        let block = || MassMatrix { robot: "go".into() };
        let mut with = Rig::new(block(), &go(), &[]);
        let mut without = Rig::new(block(), &go_without_rotors(), &[]);
        for (q, nu) in States::of(&go(), 5) {
            for rig in [&mut with, &mut without] {
                rig.set("state", &[&q, &nu]);
                rig.output();
            }
            let (m, bare) = (with.leaf("M", 0), without.leaf("M", 0));
            for k in 0..18 * 18_usize {
                let (row, column) = (k % 18, k / 18);
                let rotor = match row.checked_sub(6) {
                    Some(joint) if row == column && joint % 3 == 2 => 0.00548408,
                    Some(_) if row == column => 0.002268,
                    _ => 0.0,
                };
                assert!((m[k] - bare[k] - rotor).abs() < 1e-15, "M[{row}, {column}]");
            }
        }
    }
}
