//! `CentroidalMomentumMatrix`: the map from velocity to momentum.

use std::sync::Arc;

use legwork_block::{Inputs, Matrix, Outcome, Outputs, Pure, block, parameters, ports};
use legwork_mechanics::{Kinematics, centroidal_momentum_matrix};

use crate::buses::{RobotDims, StateBus};
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::kinematics;

/// Centroidal momentum matrix `A_G` of a robot: `(p, L) = A_G ν`.
///
/// Its linear rows are the mass times the Jacobian of [`CenterOfMass`](crate::CenterOfMass).
///
/// D. E. Orin, A. Goswami, S.-H. Lee, *Centroidal dynamics of a humanoid robot* (2013), eq. 6.
#[ports(
    keep robot: Arc<RobotModel> = self.robot.find(ports)?;
    let nv = RobotDims::of(ports, self.robot.as_str()).nv;
    in  state: StateBus::of(ports, self.robot.as_str()), _,
        "configuration and velocity; only q matters";
    ask kinematics: Kinematics = kinematics(ports, &robot, state);
    out matrix: Matrix::of(6, nv), _, "rows: p, L about the centre of mass, world axes",
        frame "world", units "kg, kg m, kg m²";
)]
#[parameters(aliases("CMM", "CCRBA"))]
pub struct CentroidalMomentumMatrix {
    /// The robot.
    pub robot: RobotName,
}

#[block]
impl Pure for CentroidalMomentumMatrix {
    fn output(&self, plan: &Self::Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let kinematics = inputs.shared(plan.kinematics);
        centroidal_momentum_matrix(&plan.robot.model, kinematics, outputs.get(plan.matrix));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::CentroidalMomentumMatrix;
    use crate::kinematics::center_of_mass::CenterOfMass;
    use crate::testing::robots::{Rig, close, for_each_reference};

    #[test]
    fn it_gives_the_momentum_of_pinocchio_and_holds_the_jacobian_of_the_center_of_mass() {
        for_each_reference(|robot, reference, order| {
            let (q, nu) = reference.state(order);
            let name = || robot.name.as_str().into();
            let mut rig = Rig::new(CentroidalMomentumMatrix { robot: name() }, robot, &[]);
            let mut center = Rig::new(CenterOfMass { robot: name() }, robot, &[]);
            for rig in [&mut rig, &mut center] {
                rig.set("state", &[&q, &nu]);
                rig.output();
            }
            let (a, j) = (rig.leaf("matrix", 0), center.leaf("jacobian", 0));
            let product: Vec<f64> = (0..6)
                .map(|r| nu.iter().enumerate().map(|(c, nu)| a[6 * c + r] * nu).sum())
                .collect();
            close(&product, &reference.numbers("centroidal_momentum"), 1e-10);
            let mass = robot.model.total_mass();
            let linear: Vec<f64> = a.chunks_exact(6).flat_map(|c| c[..3].to_vec()).collect();
            let expected: Vec<f64> = j.iter().map(|entry| mass * entry).collect();
            close(&linear, &expected, 1e-14);
        });
    }
}
