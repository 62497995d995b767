//! `DynamicsDerivatives`: forward dynamics, linearised.

use std::sync::Arc;

use legwork_block::{
    Block, Fault, Matrix, Outcome, OutputCx, Sizes, Vector, block, parameters, ports,
};
use legwork_mechanics::{
    Derivatives, Kinematics, MassFactor, forward_dynamics, forward_dynamics_derivatives,
};

use crate::buses::{RobotDims, StateBus};
use crate::robot::joint_values::{torques, unit_of};
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::kinematics;
use crate::robot::shared_mass::{Mass, mass};

/// Forward dynamics and their derivatives.
///
/// `ν̇ = M⁻¹ (Sᵀτ + f_ext − h − d ν − k (s − r))`.
///
/// With `δ = (δq, δν)` the linear system is `δ̇ = A δ + B δτ`, `A = [0, 1; by_configuration,
/// by_velocity]`, `B = [0; by_torque]` (for a turning base up to the turn's own rate, which `q ⊕
/// δq` carries along). Analytic, O(nv² depth); no differences are taken. `by_velocity` has
/// the damping and dry friction of the joints in it, `by_configuration` their springs, M has nothing
/// of them whatever the solver.
///
/// J. Carpentier, N. Mansard, *Analytical derivatives of rigid body dynamics algorithms* (2018);
/// S. Singh, R. P. Russell, P. M. Wensing, *Efficient analytical derivatives of rigid-body dynamics
/// using spatial vector algebra* (2022).
#[ports(
    keep robot: Arc<RobotModel> = self.robot.find(ports)?;
    let RobotDims { nv, n, .. } = RobotDims::of(ports, self.robot.as_str());
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    ask kinematics: Kinematics = kinematics(ports, &robot, state);
    ask mass: Mass = mass(ports, &robot, state);
    in  tau: Vector::of(&n), unit_of(&torques(&robot.model)), "joint torques τ",
        units "N m, N";
    in  external?: Vector::of(&nv), _, "generalised force f_ext, held fixed", units "N, N m";
    out nu_dot: Vector::of(&nv), _, "acceleration ν̇", units "m/s², rad/s²";
    out by_configuration: Matrix::of(&nv, &nv), _,
        "`∂ν̇/∂q` on the manifold: column k for `q ⊕ ε e_k`";
    out by_velocity: Matrix::of(&nv, &nv), _, "`∂ν̇/∂ν`";
    out by_torque: Matrix::of(nv, n), _, "`∂ν̇/∂τ = M⁻¹S`";
)]
#[parameters(aliases("linearization", "ABA derivatives"))]
pub struct DynamicsDerivatives {
    /// The robot.
    pub robot: RobotName,
}

/// Work memory of [`DynamicsDerivatives`].
pub struct Scratch {
    workspace: Derivatives,
    /// Zeros, for a robot without external force.
    none: Vec<f64>,
    /// That of M alone, where the shared one has damping or springs in it.
    factor: MassFactor,
    /// Slope of damping and friction over speed, of springs over the position.
    slope: Vec<f64>,
}

#[block]
impl Block for DynamicsDerivatives {
    type Scratch = Scratch;

    fn scratch(&self, plan: &Self::Plan, _: &Sizes<'_>) -> Scratch {
        let model = &plan.robot.model;
        let zeros = vec![0.0; model.velocity_dim()];
        Scratch {
            workspace: Derivatives::new(model),
            none: zeros.clone(),
            factor: MassFactor::new(model),
            slope: zeros,
        }
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let Scratch { workspace, none, factor, slope } = &mut *cx.scratch;
        let (model, mass) = (&plan.robot.model, cx.inputs.shared(plan.mass));
        let factor = match mass.passive.acts {
            false => mass.factor(&plan.robot)?,
            true => {
                let singular = |error| Fault::new(format!("{}: {error}", plan.robot.name));
                factor.factorize(&mass.matrix).map_err(singular)?;
                &*factor
            }
        };
        let [nu_dot, by_configuration, by_velocity, by_torque] = cx.outputs.leaves([
            plan.nu_dot.leaf(0),
            plan.by_configuration.leaf(0),
            plan.by_velocity.leaf(0),
            plan.by_torque.leaf(0),
        ]);
        let (tau, external) = (cx.inputs.get(plan.tau), cx.inputs.optional(plan.external));
        let external = external.unwrap_or(none);
        forward_dynamics(model, factor, &mass.opposing_force, tau, external, nu_dot);
        forward_dynamics_derivatives(
            model,
            cx.inputs.shared(plan.kinematics),
            factor,
            nu_dot,
            workspace,
            by_configuration,
            by_velocity,
            by_torque,
        );
        if mass.passive.acts {
            let nv = slope.len();
            let take = |derivative: &mut [f64], slope: &[f64]| {
                let joints = model.joint_velocity_indices().iter().zip(by_torque.chunks_exact(nv));
                for (&k, response) in joints {
                    let column = derivative[k * nv..(k + 1) * nv].iter_mut();
                    column.zip(response).for_each(|(entry, own)| *entry -= slope[k] * own);
                }
            };
            model.joint_damping_slope(cx.inputs.get(plan.state).nu, slope);
            take(by_velocity, slope);
            model.joint_stiffness(slope);
            take(by_configuration, slope);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::DynamicsDerivatives;
    use crate::dynamics::forward_dynamics::{Algorithm, ForwardDynamics};
    use crate::robot::mjcf::Mjcf;
    use crate::robot::model::RobotModel;
    use crate::testing::robots::{Rig, States, close, go, load_as};

    /// Central differences of the block `ForwardDynamics`, solved the other way; also of springs.
    #[test]
    fn derivatives_are_those_of_forward_dynamics() {
        check(&go());
        let springs = json!({ "path": "../tests/data/robots/springs.xml", "weld": { "stiff": 0 } });
        check(&load_as::<Mjcf>("springs", springs, &[]).expect("a robot").0);
    }

    fn check(robot: &Arc<RobotModel>) {
        let name = robot.name.as_str();
        let mut rig = Rig::new(DynamicsDerivatives { robot: name.into() }, robot, &[]);
        let forward = ForwardDynamics { robot: name.into(), algorithm: Algorithm::ArticulatedBody };
        let mut forward = Rig::new(forward, robot, &["J", "f"]);
        // Nothing is added to M, whose derivatives are those of continuous time.
        forward.step = 0.0;
        let (n, nv) = (robot.model.joint_dim(), robot.model.velocity_dim());
        let tau: Vec<f64> = (0..n).map(|i| i as f64 - 5.0).collect();
        let external: Vec<f64> = (0..nv).map(|i| 2.0 * (i % 5) as f64 - 4.0).collect();
        for (q, nu) in States::of(robot, 5) {
            let mut solve = |q: &[f64], nu: &[f64], tau: &[f64]| {
                forward.set("state", &[q, nu]);
                forward.set("tau", &[tau]);
                forward.set("external", &[&external]);
                forward.output();
                forward.leaf("nu_dot", 0)
            };
            rig.set("state", &[&q, &nu]);
            rig.set("tau", &[&tau]);
            rig.set("external", &[&external]);
            rig.output();
            close(&rig.leaf("nu_dot", 0), &solve(&q, &nu, &tau), 1e-11);
            let e = 1e-6;
            let moved = |from: &[f64], k: usize, e: f64| {
                let mut to = from.to_vec();
                to[k] += e;
                to
            };
            let around = |k: usize, e: f64| {
                let mut to = q.clone();
                let way = moved(&vec![0.0; nv], k, e);
                legwork_mechanics::integrate(&robot.model, &q, &way, &mut to);
                to
            };
            let difference = |plus: Vec<f64>, minus: Vec<f64>| -> Vec<f64> {
                plus.iter().zip(&minus).map(|(a, b)| (a - b) / (2.0 * e)).collect()
            };
            let (mut by_q, mut by_v, mut by_tau) = (Vec::new(), Vec::new(), Vec::new());
            for k in 0..nv {
                let [plus, minus] = [e, -e].map(|e| solve(&around(k, e), &nu, &tau));
                by_q.extend(difference(plus, minus));
                let [plus, minus] = [e, -e].map(|e| solve(&q, &moved(&nu, k, e), &tau));
                by_v.extend(difference(plus, minus));
            }
            for k in 0..n {
                let [plus, minus] = [e, -e].map(|e| solve(&q, &nu, &moved(&tau, k, e)));
                by_tau.extend(difference(plus, minus));
            }
            close(&rig.leaf("by_configuration", 0), &by_q, 1e-7);
            close(&rig.leaf("by_velocity", 0), &by_v, 1e-7);
            close(&rig.leaf("by_torque", 0), &by_tau, 1e-7);
        }
    }
}
