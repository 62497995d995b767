//! `DynamicsDerivatives`: forward dynamics, linearised.

use std::sync::Arc;

use legwork_block::{
    Block, In, Invalid, Matrix, OptionalIn, Out, Outcome, OutputCx, Ports, Shared, Sizes, Vector,
};
use legwork_mechanics::{Derivatives, Kinematics, forward_dynamics, forward_dynamics_derivatives};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::buses::RobotDims;
use crate::robot::frames::input_of;
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::{describe, kinematics, state_input};
use crate::robot::shared_mass::{Mass, mass};

/// Forward dynamics `ν̇ = M⁻¹ (Sᵀτ + f_ext − h)` and their derivatives.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `state` | State(robot) | | configuration and velocity |
/// | in `tau` | n | N m | joint torques τ |
/// | in `external`, optional | nv | N, N m | generalised force f_ext, held fixed |
/// | out `nu_dot` | nv | m/s², rad/s² | acceleration ν̇ |
/// | out `by_configuration` | nv × nv | | `∂ν̇/∂q` on the manifold: column k for `q ⊕ ε e_k` |
/// | out `by_velocity` | nv × nv | | `∂ν̇/∂ν` |
/// | out `by_torque` | nv × n | | `∂ν̇/∂τ = M⁻¹S` |
///
/// With `δ = (δq, δν)` the linear system is `δ̇ = A δ + B δτ`, `A = [0, 1; by_configuration,
/// by_velocity]`, `B = [0; by_torque]` (for a turning base up to the turn's own rate, which `q ⊕
/// δq` carries along). Analytic, O(nv² depth); no differences are taken.
///
/// J. Carpentier, N. Mansard, *Analytical derivatives of rigid body dynamics algorithms* (2018);
/// S. Singh, R. P. Russell, P. M. Wensing, *Efficient analytical derivatives of rigid-body dynamics
/// using spatial vector algebra* (2022).
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["linearization", "ABA derivatives"]))]
pub struct DynamicsDerivatives {
    /// The robot.
    pub robot: RobotName,
}

/// Ports and robot of [`DynamicsDerivatives`].
pub struct Plan {
    robot: Arc<RobotModel>,
    kinematics: Shared<Kinematics>,
    mass: Shared<Mass>,
    tau: In<Vector>,
    external: OptionalIn<Vector>,
    nu_dot: Out<Vector>,
    by_configuration: Out<Matrix>,
    by_velocity: Out<Matrix>,
    by_torque: Out<Matrix>,
}

/// Work memory of [`DynamicsDerivatives`].
pub struct Scratch {
    workspace: Derivatives,
    /// Zeros, for a robot without external force.
    none: Vec<f64>,
}

impl Block for DynamicsDerivatives {
    const KIND: &'static str = "DynamicsDerivatives";
    type Plan = Plan;
    type State = ();
    type Memo = ();
    type Scratch = Scratch;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let robot = self.robot.find(ports)?;
        let state = state_input(ports, self.robot.as_str());
        let kinematics = kinematics(ports, &robot, state);
        let mass = mass(ports, &robot, state);
        let RobotDims { nv, n, .. } = RobotDims::of(ports, self.robot.as_str());
        let tau = input_of(ports, "tau", &Vector(n.clone()), Some("N*m"), "joint torques");
        let external = ports.optional_input("external", &Vector(nv.clone()));
        ports.note_optional(external).doc("generalised external force");
        let nu_dot = ports.output("nu_dot", &Vector(nv.clone()));
        describe(ports, nu_dot, "acceleration");
        let mut matrix = |name: &str, columns, doc: &str| {
            let port = ports.output(name, &Matrix(nv.clone(), columns));
            describe(ports, port, doc);
            port
        };
        let by_configuration =
            matrix("by_configuration", nv.clone(), "derivative along the manifold");
        let by_velocity = matrix("by_velocity", nv.clone(), "derivative by nu");
        let by_torque = matrix("by_torque", n, "derivative by the joint torques");
        Ok(Plan {
            robot,
            kinematics,
            mass,
            tau,
            external,
            nu_dot,
            by_configuration,
            by_velocity,
            by_torque,
        })
    }

    fn state(&self, _: &Plan, _: &Sizes<'_>) {}

    fn scratch(&self, plan: &Plan, _: &Sizes<'_>) -> Scratch {
        let model = &plan.robot.model;
        Scratch { workspace: Derivatives::new(model), none: vec![0.0; model.velocity_dim()] }
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let Scratch { workspace, none } = &mut *cx.scratch;
        let (model, mass) = (&plan.robot.model, cx.inputs.shared(plan.mass));
        let factor = mass.factor(&plan.robot)?;
        let [nu_dot, by_configuration, by_velocity, by_torque] = cx.outputs.leaves([
            plan.nu_dot.leaf(0),
            plan.by_configuration.leaf(0),
            plan.by_velocity.leaf(0),
            plan.by_torque.leaf(0),
        ]);
        let (tau, external) = (cx.inputs.get(plan.tau), cx.inputs.optional(plan.external));
        let external = external.unwrap_or(none);
        forward_dynamics(model, factor, &mass.bias_force, tau, external, nu_dot);
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
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::DynamicsDerivatives;
    use crate::dynamics::forward_dynamics::{Algorithm, ForwardDynamics};
    use crate::testing::robots::{Rig, States, close, go};

    /// Central differences of the block `ForwardDynamics`, solved the other way.
    #[test]
    fn derivatives_are_those_of_forward_dynamics() {
        let go = go();
        let mut rig = Rig::new(DynamicsDerivatives { robot: "go".into() }, &go, &[]);
        let algorithm = Algorithm::ArticulatedBody;
        let mut forward =
            Rig::new(ForwardDynamics { robot: "go".into(), algorithm }, &go, &["J", "f"]);
        let tau: Vec<f64> = (0..12).map(|i| f64::from(i) - 5.0).collect();
        let external: Vec<f64> = (0..18).map(|i| 2.0 * f64::from(i % 5) - 4.0).collect();
        for (q, nu) in States::of(&go, 5) {
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
                legwork_mechanics::integrate(&go.model, &q, &moved(&[0.0; 18], k, e), &mut to);
                to
            };
            let difference = |plus: Vec<f64>, minus: Vec<f64>| -> Vec<f64> {
                plus.iter().zip(&minus).map(|(a, b)| (a - b) / (2.0 * e)).collect()
            };
            let (mut by_q, mut by_v, mut by_tau) = (Vec::new(), Vec::new(), Vec::new());
            for k in 0..18 {
                let [plus, minus] = [e, -e].map(|e| solve(&around(k, e), &nu, &tau));
                by_q.extend(difference(plus, minus));
                let [plus, minus] = [e, -e].map(|e| solve(&q, &moved(&nu, k, e), &tau));
                by_v.extend(difference(plus, minus));
            }
            for k in 0..12 {
                let [plus, minus] = [e, -e].map(|e| solve(&q, &nu, &moved(&tau, k, e)));
                by_tau.extend(difference(plus, minus));
            }
            close(&rig.leaf("by_configuration", 0), &by_q, 1e-7);
            close(&rig.leaf("by_velocity", 0), &by_v, 1e-7);
            close(&rig.leaf("by_torque", 0), &by_tau, 1e-7);
        }
    }
}
