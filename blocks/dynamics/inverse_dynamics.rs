//! `InverseDynamics`: the forces that an acceleration takes.

use std::sync::Arc;

use legwork_block::{
    Block, Outcome, OutputCx, Sizes, Slope, SlopesCx, Vector, block, parameters, ports,
};
use legwork_mechanics::{
    Derivatives, Kinematics, MassMatrix, inverse_dynamics, inverse_dynamics_derivatives,
    mass_matrix,
};

use crate::buses::{RobotDims, StateBus};
use crate::robot::frames::write_joint_rows;
use crate::robot::joint_values::{torques, unit_of};
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::robot::passive_forces::{PassiveForces, StepEnd};
use crate::robot::shared_kinematics::kinematics;
use crate::robot::state_slopes::by_configuration;

/// Generalised forces that an acceleration takes.
///
/// `F = M ν̇ + h + d ν + k (s − r) − f_ext`.
///
/// A floating base has no motor: the acceleration is one that the robot can do by itself if the
/// first six numbers of F are zero. Reflected rotor inertia is part of M; d, k and r are
/// damping, springs and their rest, see `Urdf` and `Mjcf`. O(n), M is not formed.
///
/// Recursive Newton–Euler algorithm; R. Featherstone, *Rigid Body Dynamics Algorithms* (2008),
/// sec. 5.3.
#[ports(
    keep robot: Arc<RobotModel> = self.robot.find(ports)?;
    let RobotDims { nv, n, .. } = RobotDims::of(ports, self.robot.as_str());
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    ask kinematics: Kinematics = kinematics(ports, &robot, state);
    in  nu_dot: Vector::of(&nv), _, "acceleration ν̇, time derivative of ν number by number",
        units "m/s², rad/s²";
    in  external?: Vector::of(&nv), _, "generalised force f_ext, such as `Jᵀf` of contacts",
        units "N, N m";
    out force: Vector::of(nv), _, "F: force and moment on the base in world axes, joint torques",
        units "N, N m";
    out tau: Vector::of(n), unit_of(&torques(&robot.model)), "the joints' part of F",
        units "N m, N", elements state.s_dot;
)]
#[parameters(aliases("RNEA", "recursive Newton–Euler", "computed torque"))]
pub struct InverseDynamics {
    /// The robot.
    pub robot: RobotName,
}

/// Work memory: of the algorithm, and F.
pub struct Scratch {
    workspace: legwork_mechanics::InverseDynamics,
    force: Vec<f64>,
    passive: PassiveForces,
}

#[block]
impl Block for InverseDynamics {
    type Scratch = Scratch;

    fn scratch(&self, plan: &Self::Plan, _: &Sizes<'_>) -> Scratch {
        let model = &plan.robot.model;
        Scratch {
            workspace: legwork_mechanics::InverseDynamics::new(model),
            force: vec![0.0; model.velocity_dim()],
            passive: PassiveForces::new(model, StepEnd::Unknown),
        }
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let Scratch { workspace, force, passive } = &mut *cx.scratch;
        let kinematics = cx.inputs.shared(plan.kinematics);
        let nu_dot = cx.inputs.get(plan.nu_dot);
        inverse_dynamics(&plan.robot.model, kinematics, nu_dot, workspace, force);
        let state = cx.inputs.get(plan.state);
        passive.update(&plan.robot.model, state.q, state.nu, cx.time);
        passive.add_to(1.0, force);
        if let Some(external) = cx.inputs.optional(plan.external) {
            for (force, external) in force.iter_mut().zip(external) {
                *force -= external;
            }
        }
        cx.outputs.get(plan.force).copy_from_slice(force);
        write_joint_rows(&plan.robot, force, plan.tau, &mut cx.outputs);
        Ok(())
    }

    /// `∂F/∂ν̇ = M`; over q and ν by the derivatives of the recursion, and those of the joints' own
    /// forces.
    fn output_slopes(&self, plan: &Self::Plan, cx: &mut SlopesCx<'_, Self>) -> Slope {
        let model = &plan.robot.model;
        let nv = model.velocity_dim();
        let kinematics = cx.inputs.shared(plan.kinematics);
        let (state, nu_dot) = (cx.inputs.get(plan.state), cx.inputs.get(plan.nu_dot));
        let [mut by_q, mut by_nu, mut dense] = [(); 3].map(|()| vec![0.0; nv * nv]);
        let mut workspace = Derivatives::new(model);
        let own = (&mut by_q, &mut by_nu);
        inverse_dynamics_derivatives(model, kinematics, nu_dot, &mut workspace, own.0, own.1);
        let mut mass = MassMatrix::new(model);
        mass_matrix(model, kinematics, &mut mass);
        mass.write_dense(&mut dense);
        if cx.scratch.passive.acts {
            let mut slope = vec![0.0; nv];
            model.joint_damping_slope(state.nu, &mut slope);
            by_nu.iter_mut().step_by(nv + 1).zip(&slope).for_each(|(entry, own)| *entry += own);
            model.joint_stiffness(&mut slope);
            by_q.iter_mut().step_by(nv + 1).zip(&slope).for_each(|(entry, own)| *entry += own);
        }
        let slopes = &mut cx.slopes;
        let (q, nu) = (slopes.columns(plan.state, 0), slopes.columns(plan.state, 1));
        let (by_nu_dot, external) =
            (slopes.columns(plan.nu_dot, 0), slopes.optional(plan.external, 0));
        let (force, tau) = (slopes.rows(plan.force, 0), slopes.rows(plan.tau, 0));
        by_configuration(model, state.q, &by_q, (force, q), slopes);
        slopes.matrix(force, nu, &by_nu, 1.0);
        slopes.matrix(force, by_nu_dot, &dense, 1.0);
        if let Some(external) = external {
            slopes.each(force, external, |_| -1.0);
        }
        // The joints' rows of the same.
        let joints = model.joint_velocity_indices();
        let of_joints = |matrix: &[f64]| -> Vec<f64> {
            let columns = matrix.chunks_exact(nv.max(1));
            columns.flat_map(|column| joints.iter().map(|k| column[*k])).collect()
        };
        by_configuration(model, state.q, &of_joints(&by_q), (tau, q), slopes);
        slopes.matrix(tau, nu, &of_joints(&by_nu), 1.0);
        slopes.matrix(tau, by_nu_dot, &of_joints(&dense), 1.0);
        if let Some(external) = external {
            for (i, k) in joints.iter().enumerate() {
                slopes.add((tau, i), (external, *k), -1.0);
            }
        }
        Slope::Exact
    }
}

#[cfg(test)]
mod tests {
    use super::InverseDynamics;
    use crate::dynamics::forward_dynamics::{Algorithm, ForwardDynamics};
    use crate::testing::robots::{Rig, States, close, for_each_reference, go};

    #[test]
    fn forces_are_those_of_pinocchio() {
        for_each_reference(|robot, reference, order| {
            let block = InverseDynamics { robot: robot.name.as_str().into() };
            let mut rig = Rig::new(block, robot, &["external"]);
            let (q, nu) = reference.state(order);
            rig.set("state", &[&q, &nu]);
            rig.set("nu_dot", &[&reference.vector("nu_dot", order)]);
            rig.output();
            let force = rig.leaf("force", 0);
            close(&force, &reference.vector("rnea_free", order), 1e-10);
            assert_eq!(rig.leaf("tau", 0), force[robot.model.trees()[0].base_dim()..]);
        });
    }

    #[test]
    fn they_undo_forward_dynamics() {
        let forward = ForwardDynamics { robot: "go".into(), algorithm: Algorithm::Factor };
        let mut forward = Rig::new(forward, &go(), &["J", "f"]);
        let mut inverse = Rig::new(InverseDynamics { robot: "go".into() }, &go(), &[]);
        let tau: Vec<f64> = (0..12).map(|i| f64::from(i) - 5.0).collect();
        let external: Vec<f64> = (0..18).map(|i| 3.0 * f64::from(i) - 20.0).collect();
        for (q, nu) in States::of(&go(), 10) {
            for rig in [&mut forward, &mut inverse] {
                rig.set("state", &[&q, &nu]);
                rig.set("external", &[&external]);
            }
            forward.set("tau", &[&tau]);
            forward.output();
            inverse.set("nu_dot", &[&forward.leaf("nu_dot", 0)]);
            inverse.output();
            close(&inverse.leaf("tau", 0), &tau, 1e-11);
            close(&inverse.leaf("force", 0)[..6], &[0.0; 6], 1e-10);
        }
    }
}
