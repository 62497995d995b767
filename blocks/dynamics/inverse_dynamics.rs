//! `InverseDynamics`: the forces that an acceleration takes.

use std::sync::Arc;

use legwork_block::{Block, Outcome, OutputCx, Sizes, Vector, block, parameters, ports};
use legwork_mechanics::{Kinematics, inverse_dynamics};

use crate::buses::{RobotDims, StateBus};
use crate::robot::frames::write_joint_rows;
use crate::robot::joint_values::{torques, unit_of};
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::robot::passive_forces::{PassiveForces, StepEnd};
use crate::robot::shared_kinematics::kinematics;

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
