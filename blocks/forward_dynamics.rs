//! `ForwardDynamics`: the acceleration of a robot under torques and contact forces.

use std::sync::Arc;

use legwork_block::{
    Block, In, Invalid, Matrix, OptionalIn, Out, Outcome, OutputCx, Ports, Shared, Sizes, Vector,
};
use legwork_mechanics::{add_transposed_product, forward_dynamics};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::buses::RobotDims;
use crate::robot_kinematics::{describe, state_input};
use crate::robot_mass::{Mass, mass};
use crate::robot_model::RobotModel;
use crate::robot_name::RobotName;

/// Acceleration of a robot: `ν̇ = M⁻¹ (Sᵀτ + Jᵀf + f_ext − h)`.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `state` | State(robot) | | configuration and velocity |
/// | in `tau` | n | N m | joint torques τ |
/// | in `J`, optional | 3k × nv | 1, m | Jacobians of k contact points, below one another |
/// | in `f`, with `J` | 3k | N | forces on the robot at these points, contact axes (t₁, t₂, n) |
/// | in `external`, optional | nv | N, N m | generalised force f_ext: on the base in world axes, moment about its origin, joints |
/// | out `nu_dot` | nv | m/s², rad/s² | acceleration ν̇, time derivative of ν number by number |
///
/// `J` and `f` must be in the same axes. M, its factor and h are computed once per state for all
/// blocks that need them; a solve costs O(nv depth).
///
/// R. Featherstone, *Rigid Body Dynamics Algorithms* (2008), sec. 6.1 and 6.5.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForwardDynamics {
    /// The robot.
    pub robot: RobotName,
}

/// Ports and robot of [`ForwardDynamics`].
pub struct Plan {
    robot: Arc<RobotModel>,
    mass: Shared<Mass>,
    tau: In<Vector>,
    jacobian: OptionalIn<Matrix>,
    forces: OptionalIn<Vector>,
    external: OptionalIn<Vector>,
    nu_dot: Out<Vector>,
}

impl Block for ForwardDynamics {
    const KIND: &'static str = "ForwardDynamics";
    type Plan = Plan;
    type State = ();
    type Memo = ();
    /// Generalised external force.
    type Scratch = Vec<f64>;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let robot = self.robot.find(ports)?;
        let state = state_input(ports, self.robot.as_str());
        let mass = mass(ports, &robot, state);
        let RobotDims { nv, n, .. } = RobotDims::of(ports, self.robot.as_str());
        let tau = ports.input("tau", &Vector(n));
        ports.note_in(tau).unit("N*m").doc("joint torques");
        let rows = 3 * ports.dim();
        let jacobian = ports.optional_input("J", &Matrix(rows.clone(), nv.clone()));
        ports.note_optional(jacobian).doc("Jacobians of the contact points");
        let forces = ports.optional_input("f", &Vector(rows));
        ports.note_optional(forces).unit("N").frame("contact").doc("contact forces");
        let external = ports.optional_input("external", &Vector(nv.clone()));
        ports.note_optional(external).doc("generalised external force");
        let nu_dot = ports.output("nu_dot", &Vector(nv));
        describe(ports, nu_dot, "acceleration");
        Ok(Plan { robot, mass, tau, jacobian, forces, external, nu_dot })
    }

    fn check(&self, plan: &Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        match (sizes.optional(plan.jacobian), sizes.optional(plan.forces)) {
            (Some(_), None) => Err(together("J", "f")),
            (None, Some(_)) => Err(together("f", "J")),
            _ => Ok(()),
        }
    }

    fn state(&self, _: &Plan, _: &Sizes<'_>) {}

    fn scratch(&self, plan: &Plan, _: &Sizes<'_>) -> Vec<f64> {
        vec![0.0; plan.robot.model.velocity_dim()]
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let external = &mut *cx.scratch;
        match cx.inputs.optional(plan.external) {
            Some(force) => external.copy_from_slice(force),
            None => external.fill(0.0),
        }
        if let (Some(jacobian), Some(forces)) =
            (cx.inputs.optional(plan.jacobian), cx.inputs.optional(plan.forces))
        {
            add_transposed_product(jacobian, forces, external);
        }
        let mass = cx.inputs.shared(plan.mass);
        forward_dynamics(
            &plan.robot.model,
            &mass.factor,
            &mass.bias_force,
            cx.inputs.get(plan.tau),
            external,
            cx.outputs.get(plan.nu_dot),
        );
        Ok(())
    }
}

/// Two inputs of which only `found` is connected.
pub(crate) fn together(found: &str, missing: &str) -> Invalid {
    Invalid::new(format!("expected `{found}` and `{missing}` together, found `{found}` alone"))
        .hint(format!("connect `{missing}`, or leave both out"))
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;

    use super::ForwardDynamics;
    use crate::jacobian::Jacobian;
    use crate::robots_testing::{Rig, States, close, for_each_reference, go, refusal};

    #[test]
    fn accelerations_are_those_of_pinocchio() {
        for_each_reference(|robot, reference, order| {
            let block = ForwardDynamics { robot: robot.name.as_str().into() };
            let mut rig = Rig::new(block, robot, &["J", "f", "external"]);
            let (q, nu) = reference.state(order);
            rig.set("state", &[&q, &nu]);
            rig.set("tau", &[&reference.joint_vector("tau_joint", order)]);
            rig.output();
            // Forward dynamics amplify rounding by the condition number of M.
            close(&rig.leaf("nu_dot", 0), &reference.vector("fd_nu_dot_free", order), 1e-8);
        });
    }

    /// A wrench enters by `J`/`f` as by `external`: 6 rows are two triples.
    #[test]
    fn wrenches_enter_by_jacobian_and_force_or_as_generalised_force() {
        for_each_reference(|robot, reference, order| {
            let nv = robot.model.velocity_dim();
            let (q, nu) = reference.state(order);
            let mut j = Vec::new();
            let mut w = Vec::new();
            for name in reference.frame_names() {
                let block = Jacobian { robot: robot.name.as_str().into(), frame: name.clone() };
                let mut rig = Rig::new(block, robot, &[]);
                rig.set("state", &[&q, &nu]);
                rig.output();
                j.push(rig.leaf("jacobian", 0));
                w.push(reference.wrench(&name));
            }
            let rows = 6 * j.len();
            let stacked: Vec<f64> = (0..nv)
                .flat_map(|c| j.iter().flat_map(move |j| j[6 * c..6 * c + 6].to_vec()))
                .collect();
            let f = w.concat();
            let force: Vec<f64> =
                (0..nv).map(|c| (0..rows).map(|r| stacked[c * rows + r] * f[r]).sum()).collect();
            let expected = reference.vector("fd_nu_dot", order);
            let new = |without: &[&str], given: &[(&str, Type)]| {
                let block = ForwardDynamics { robot: robot.name.as_str().into() };
                let mut rig = Rig::with(block, robot, without, given).expect("a plan");
                rig.set("state", &[&q, &nu]);
                rig.set("tau", &[&reference.joint_vector("tau_joint", order)]);
                rig
            };
            let mut rig =
                new(&["external"], &[("J", Type::matrix(rows, nv)), ("f", Type::vector(rows))]);
            rig.set("J", &[&stacked]);
            rig.set("f", &[&f]);
            rig.output();
            close(&rig.leaf("nu_dot", 0), &expected, 1e-8);
            let mut rig = new(&["J", "f"], &[]);
            rig.set("external", &[&force]);
            rig.output();
            close(&rig.leaf("nu_dot", 0), &expected, 1e-8);
        });
    }

    #[test]
    fn jacobian_and_forces_come_together() {
        let block = || ForwardDynamics { robot: "go".into() };
        let f = [("f", Type::vector(6))];
        let only_f = refusal(block(), &go(), &["J", "external"], &f);
        assert_eq!(only_f.message, "expected `f` and `J` together, found `f` alone");
        let j = [("J", Type::matrix(6, 18))];
        let only_j = refusal(block(), &go(), &["f", "external"], &j);
        assert_eq!(only_j.message, "expected `J` and `f` together, found `J` alone");
    }

    #[test]
    fn m_nu_dot_plus_h_is_the_torque() {
        let mut rig =
            Rig::new(ForwardDynamics { robot: "go".into() }, &go(), &["J", "f", "external"]);
        let mut dynamics =
            Rig::new(crate::robot_dynamics::RobotDynamics { robot: "go".into() }, &go(), &[]);
        let tau: Vec<f64> = (0..12).map(|i| f64::from(i) - 5.0).collect();
        for (q, nu) in States::of(&go(), 10) {
            rig.set("state", &[&q, &nu]);
            rig.set("tau", &[&tau]);
            rig.output();
            dynamics.set("state", &[&q, &nu]);
            dynamics.output();
            let (nu_dot, m, h) =
                (rig.leaf("nu_dot", 0), dynamics.leaf("bus", 1), dynamics.leaf("bus", 2));
            for i in 0..18 {
                let force: f64 = h[i] + (0..18).map(|j| m[j * 18 + i] * nu_dot[j]).sum::<f64>();
                let expected = if i < 6 { 0.0 } else { tau[i - 6] };
                assert!((force - expected).abs() < 1e-9, "{i}: {force} for {expected}");
            }
        }
    }
}
