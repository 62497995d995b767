//! `CentroidalMomentumMatrix`: the map from velocity to momentum.

use legwork_block::{Inputs, Invalid, Matrix, Out, Outcome, Outputs, Ports, Pure};
use legwork_mechanics::centroidal_momentum_matrix;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::buses::RobotDims;
use crate::robot::frames::output_in;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::AtState;

/// Centroidal momentum matrix `A_G` of a robot: `(p, L) = A_G ν`.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `state` | State(robot) | | configuration and velocity; only q matters |
/// | out `matrix` | 6 × nv | kg, kg m, kg m² | rows: p, L about the centre of mass, world axes |
///
/// Its linear rows are the mass times the Jacobian of [`CenterOfMass`](crate::CenterOfMass).
///
/// D. E. Orin, A. Goswami, S.-H. Lee, *Centroidal dynamics of a humanoid robot* (2013), eq. 6.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["CMM", "CCRBA"]))]
pub struct CentroidalMomentumMatrix {
    /// The robot.
    pub robot: RobotName,
}

/// Ports of [`CentroidalMomentumMatrix`].
pub struct Plan {
    at: AtState,
    matrix: Out<Matrix>,
}

impl Pure for CentroidalMomentumMatrix {
    const KIND: &'static str = "CentroidalMomentumMatrix";
    type Plan = Plan;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let at = AtState::plan(&self.robot, ports)?;
        let nv = RobotDims::of(ports, self.robot.as_str()).nv;
        let doc = "rows of linear, then of angular momentum";
        let matrix = output_in(ports, "matrix", &Matrix::of(6, nv), "world", doc);
        Ok(Plan { at, matrix })
    }

    fn output(&self, plan: &Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let kinematics = inputs.shared(plan.at.kinematics);
        let out = outputs.get(plan.matrix);
        centroidal_momentum_matrix(&plan.at.robot.model, kinematics, out);
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
