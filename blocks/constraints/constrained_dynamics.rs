//! `ConstrainedDynamics`: the acceleration of a robot under equality constraints.

use std::sync::Arc;

use legwork_block::{
    Block, Dim, Int, Matrix, Outcome, OutputCx, Real, Sizes, Vector, block, parameters, ports,
};
use legwork_mechanics::{ConstraintProblem, constrained_forward_dynamics};

use crate::buses::{RobotDims, StateBus};
use crate::robot::joint_values::{torques, unit_of};
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::robot::shared_mass::{Mass, mass};

/// Acceleration of a robot under equality constraints given by a Jacobian.
/// `M ν̇ + h + p = Sᵀτ + f_ext + Jᵀλ` with `J ν̇ + γ = 0`; damping and springs p of the joints act
/// as in `ForwardDynamics`.
///
/// Rows that depend on others, as those of four corners of one sole do, carry no force; then λ is
/// not unique, ν̇ is. A residual beyond rounding says that the constraints contradict one another.
/// O(k nv depth + k³).
///
/// F. E. Udwadia, R. E. Kalaba, *A new perspective on constrained motion* (1992); J. Baumgarte,
/// *Stabilization of constraints and integrals of motion in dynamical systems* (1972), for γ.
#[ports(
    keep robot: Arc<RobotModel> = self.robot.find(ports)?;
    /// How many rows the constraints have.
    keep k: Dim = ports.dim();
    let RobotDims { nv, n, .. } = RobotDims::of(ports, self.robot.as_str());
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    ask mass: Mass = mass(ports, &robot, state);
    in  tau: Vector::of(n), unit_of(&torques(&robot.model)), "joint torques τ",
        units "N m, N";
    in  jacobian("J"): Matrix::of(&k, &nv), _, "Jacobian of the constraints", units "any";
    in  gamma: Vector::of(&k), _, "γ: `J̇ν`, plus any stabilisation such as `2ω J ν + ω² e`",
        units "m/s², rad/s²";
    in  external?: Vector::of(&nv), _, "generalised force f_ext", units "N, N m";
    out nu_dot: Vector::of(nv), _, "acceleration ν̇", units "m/s², rad/s²";
    out lambda: Vector::of(&k), _, "constraint forces λ on the robot", units "N, N m";
    out rank: Int, _, "independent rows of J", units "1";
    out residual: Real, _, "largest `|J ν̇ + γ|` of the other rows", units "m/s², rad/s²";
)]
#[parameters(aliases("Gauss principle", "constrained forward dynamics"))]
pub struct ConstrainedDynamics {
    /// The robot.
    pub robot: RobotName,
}

/// Work memory of [`ConstrainedDynamics`].
pub struct Scratch {
    workspace: legwork_mechanics::ConstrainedDynamics,
    /// Zeros, for a robot without external force.
    none: Vec<f64>,
}

#[block]
impl Block for ConstrainedDynamics {
    type Scratch = Scratch;

    fn scratch(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Scratch {
        let (model, rows) = (&plan.robot.model, sizes.dim(&plan.k));
        Scratch {
            workspace: legwork_mechanics::ConstrainedDynamics::new(model, rows),
            none: vec![0.0; model.velocity_dim()],
        }
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let Scratch { workspace, none } = &mut *cx.scratch;
        let mass = cx.inputs.shared(plan.mass);
        let problem = ConstraintProblem {
            jacobian: cx.inputs.get(plan.jacobian),
            bias: cx.inputs.get(plan.gamma),
            bias_force: &mass.opposing_force,
            joint_torques: cx.inputs.get(plan.tau),
            external_force: cx.inputs.optional(plan.external).unwrap_or(none),
        };
        let [lambda, nu_dot] = cx.outputs.leaves([plan.lambda.leaf(0), plan.nu_dot.leaf(0)]);
        let (model, factor) = (&plan.robot.model, mass.factor(&plan.robot)?);
        let found =
            constrained_forward_dynamics(model, factor, &problem, workspace, lambda, nu_dot);
        cx.outputs.set(plan.rank, found.rank as f64);
        cx.outputs.set(plan.residual, found.residual);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;

    use super::ConstrainedDynamics;
    use crate::dynamics::forward_dynamics::{Algorithm, ForwardDynamics};
    use crate::kinematics::jacobian::Jacobian;
    use crate::robot::frames::Representation;
    use crate::testing::robots::{Rig, States, close, go};

    /// Positions of two feet, those of the first twice.
    #[test]
    fn feet_stay_where_they_are_and_forces_explain_the_acceleration() {
        let jacobian = |frame: &str| {
            let (frame, representation) = (frame.to_owned(), Representation::Mixed);
            Rig::new(Jacobian { robot: "go".into(), frame, representation }, &go(), &[])
        };
        let mut feet = [jacobian("FL_foot"), jacobian("HR_foot"), jacobian("FL_foot")];
        let given = [("J", Type::matrix(9, 18)), ("gamma", Type::vector(9))];
        let block = ConstrainedDynamics { robot: "go".into() };
        let mut rig = Rig::with(block, &go(), &[], &given).expect("a plan");
        let forward = ForwardDynamics { robot: "go".into(), algorithm: Algorithm::Factor };
        let given = [("J", Type::matrix(9, 18)), ("f", Type::vector(9))];
        let mut forward = Rig::with(forward, &go(), &[], &given).expect("a plan");
        let tau: Vec<f64> = (0..12).map(|i| f64::from(i) - 5.0).collect();
        let external: Vec<f64> = (0..18).map(|i| 2.0 * f64::from(i % 5) - 4.0).collect();
        let gamma = [1.0, -2.0, 0.5, 0.0, 3.0, -1.0, 1.0, -2.0, 0.5];
        for (q, nu) in States::of(&go(), 20) {
            let j = feet.each_mut().map(|foot| {
                foot.set("state", &[&q, &nu]);
                foot.output();
                foot.leaf("jacobian", 0)
            });
            let stacked: Vec<f64> = (0..18)
                .flat_map(|c| j.iter().flat_map(move |j| j[6 * c..6 * c + 3].to_vec()))
                .collect();
            for rig in [&mut rig, &mut forward] {
                rig.set("state", &[&q, &nu]);
                rig.set("tau", &[&tau]);
                rig.set("J", &[&stacked]);
                rig.set("external", &[&external]);
            }
            rig.set("gamma", &[&gamma]);
            rig.output();
            assert_eq!(rig.leaf("rank", 0), [6.0]);
            assert!(rig.leaf("residual", 0)[0] < 1e-8);
            let nu_dot = rig.leaf("nu_dot", 0);
            let rate: Vec<f64> = (0..9)
                .map(|r| -(0..18).map(|c| stacked[9 * c + r] * nu_dot[c]).sum::<f64>())
                .collect();
            close(&rate, &gamma, 1e-8);
            forward.set("f", &[&rig.leaf("lambda", 0)]);
            forward.output();
            close(&forward.leaf("nu_dot", 0), &nu_dot, 1e-9);
        }
    }

    #[test]
    fn constraints_that_contradict_one_another_leave_a_residual() {
        let given = [("J", Type::matrix(2, 18)), ("gamma", Type::vector(2))];
        let block = ConstrainedDynamics { robot: "go".into() };
        let mut rig = Rig::with(block, &go(), &["external"], &given).expect("a plan");
        let (q, nu) = States::of(&go(), 1).remove(0);
        rig.set("state", &[&q, &nu]);
        rig.set("tau", &[&[0.0; 12]]);
        let mut j = [0.0; 36];
        // The base's z twice.
        (j[4], j[5]) = (1.0, 1.0);
        rig.set("J", &[&j]);
        rig.set("gamma", &[&[1.0, 4.0]]);
        rig.output();
        assert_eq!(rig.leaf("rank", 0), [1.0]);
        close(&rig.leaf("residual", 0), &[3.0], 1e-12);
    }
}
