//! `MomentumBalance`: whether what moves a robot is what pushes it.

use std::sync::Arc;

use legwork_block::{
    Block, Inputs, Invalid, Outcome, OutputCx, Ports, Real, Report, Sizes, UpdateCx, Vector, block,
    parameters, ports,
};
use legwork_mechanics::{
    Kinematics, MixedWrench, Tree, center_of_mass, centroidal_momentum_dot_velocity,
    centroidal_momentum_matrix,
};
use nalgebra::{Matrix3, Vector3};
use serde::{Deserialize, Serialize};

use crate::buses::{ContactPointsBus, RobotDims, StateBus, contact_points};
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::kinematics;

/// Checks an acceleration against the balance of momentum of the whole robot. Without the mass
/// matrix: the momentum changes by the weight and by the external forces, whatever joints, loops
/// and motors do.
///
/// `(ṗ, L̇) = A_G ν̇ + Ȧ_G ν`, the second term link by link. At the end of a run the worst of both
/// are reported as `worst_force_residual` and `worst_moment_residual`; beyond rounding (1e-9 of the
/// weight) some block has forces that another does not know of. The base must float: what a fixed
/// one pushes is not known. Of a world it is the balance of all its robots and bodies together:
/// contacts between them do not belong to `points`, those with the ground do.
///
/// D. E. Orin, A. Goswami, S.-H. Lee, *Centroidal dynamics of a humanoid robot* (2013), eqs. 2, 6,
/// 11.
#[ports(
    keep robot: Arc<RobotModel> = self.floating(ports)?;
    let (count, nv) = (ports.dim(), RobotDims::of(ports, self.robot.as_str()).nv);
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    ask kinematics: Kinematics = kinematics(ports, &robot, state);
    in  nu_dot: Vector::of(&nv), _, "acceleration to judge", units "m/s², rad/s²";
    in  points: contact_points(&count, &nv) as ContactPointsBus, _, "k contacts";
    in  forces("f"): Vector::of(3 * count), "N", "contact forces on the robot, contact axes",
        frame "contact", shape "3k";
    in  external?: Vector::of(&nv), _, "generalised force; the six numbers of a base push it",
        units "N, N m";
    feeds(state, nu_dot, points, forces, external);
    out force: Real, "N", "`‖ṗ − m g − Σ f‖`";
    out moment: Real, "N*m", "`‖L̇ − Σ (p − c) × f‖` about the centre of mass c";
    ports.updates();
)]
#[parameters]
pub struct MomentumBalance {
    /// The robot or world.
    pub robot: RobotName,
}

/// The worst residuals of a run.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct State {
    force: f64,
    moment: f64,
}

/// What is left of the balance [N, N m]; `matrix` is work memory (6 × nv).
fn residual(plan: &MomentumBalancePorts, inputs: &Inputs<'_>, matrix: &mut [f64]) -> MixedWrench {
    let (model, kinematics) = (&plan.robot.model, inputs.shared(plan.kinematics));
    let center = center_of_mass(model, kinematics);
    let mut rest = centroidal_momentum_dot_velocity(model, kinematics);
    centroidal_momentum_matrix(model, kinematics, matrix);
    for (column, &rate) in matrix.chunks_exact(6).zip(inputs.get(plan.nu_dot)) {
        rest.force += Vector3::new(column[0], column[1], column[2]) * rate;
        rest.moment += Vector3::new(column[3], column[4], column[5]) * rate;
    }
    rest.force -= model.gravity() * model.total_mass();
    let mut push = |at: Vector3<f64>, force: Vector3<f64>, moment: Vector3<f64>| {
        rest.force -= force;
        rest.moment -= (at - center).cross(&force) + moment;
    };
    let forces = inputs.get(plan.forces).chunks_exact(3);
    // Rows without surfaces, such as ends of joints' ranges, push one part of the robot by another.
    for (contact, f) in inputs.get(plan.points).iter().zip(forces).filter(|(c, _)| !c.row) {
        let axes = Matrix3::from_column_slice(contact.axes);
        let force = axes * Vector3::new(f[0], f[1], f[2]);
        push(Vector3::from_column_slice(contact.position), force, Vector3::zeros());
    }
    if let Some(external) = inputs.optional(plan.external) {
        let three = |at: usize| Vector3::from_column_slice(&external[at..at + 3]);
        let q = inputs.get(plan.state).q;
        for tree in model.trees() {
            let (q_at, at) = (tree.configuration_range().start, tree.velocity_range().start);
            push(Vector3::from_column_slice(&q[q_at..q_at + 3]), three(at), three(at + 3));
        }
    }
    rest
}

impl MomentumBalance {
    /// The robot, whose bases float.
    fn floating(&self, ports: &Ports<'_>) -> Result<Arc<RobotModel>, Invalid> {
        let robot = self.robot.find(ports)?;
        if robot.model.trees().iter().all(Tree::is_floating) {
            return Ok(robot);
        }
        let message = format!("expected floating bases only, found `{}`", robot.name);
        Err(Invalid::parameter("robot", message))
    }
}

#[block]
impl Block for MomentumBalance {
    type State = State;
    /// Centroidal momentum matrix, 6 × nv.
    type Scratch = Vec<f64>;

    fn scratch(&self, plan: &Self::Plan, _: &Sizes<'_>) -> Vec<f64> {
        vec![0.0; 6 * plan.robot.model.velocity_dim()]
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let rest = residual(plan, &cx.inputs, cx.scratch);
        cx.outputs.set(plan.force, rest.force.norm());
        cx.outputs.set(plan.moment, rest.moment.norm());
        Ok(())
    }

    fn update(&self, plan: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let rest = residual(plan, &cx.inputs, cx.scratch);
        cx.state.force = cx.state.force.max(rest.force.norm());
        cx.state.moment = cx.state.moment.max(rest.moment.norm());
        Ok(())
    }

    fn report(&self, _: &Self::Plan, state: &State, report: &mut Report) {
        report.metric_in("N", "worst_force_residual", state.force);
        report.metric_in("N*m", "worst_moment_residual", state.moment);
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::{Dim, Signal};
    use serde_json::json;

    use super::*;
    use crate::buses::ContactBus;
    use crate::dynamics::forward_dynamics::{Algorithm, ForwardDynamics};
    use crate::testing::contacts::block;
    use crate::testing::robots::{Rig, States, go, load};

    /// Forward dynamics by articulated bodies keep the balance under torques and external forces,
    /// those at the end of a joint's range among the torques; an acceleration that is off does not.
    #[test]
    fn the_balance_holds_for_the_robots_acceleration_and_for_no_other() {
        let robot = go();
        let limit = contact_points(&Dim::fixed(1), &Dim::fixed(18)).ty();
        let given = [("points", limit), ("f", legwork_block::Type::vector(3))];
        let balance: MomentumBalance = block(json!({ "robot": "go" }));
        let mut rig = Rig::with(balance, &robot, &[], &given).expect("a plan");
        let mut limit = [3, 9, 1, 3, 3 * 18, 3, 1, 1, 1].map(|len| vec![0.0; len]);
        (limit[ContactBus::AXES][8], limit[ContactBus::ROW][0]) = (1.0, 1.0);
        rig.set("points", &limit.each_ref().map(Vec::as_slice));
        rig.set("f", &[&[0.0, 0.0, 3.0]]);
        let forward = ForwardDynamics { robot: "go".into(), algorithm: Algorithm::ArticulatedBody };
        let mut forward = Rig::new(forward, &robot, &["J", "f"]);
        let tau: Vec<f64> = (0..12).map(|i| 3.0 * f64::from(i) - 15.0).collect();
        let external: Vec<f64> = (0..18).map(|i| 7.0 * f64::from(i % 5) - 14.0).collect();
        let weight = robot.model.total_mass() * 9.81;
        for (q, nu) in States::of(&robot, 20) {
            for rig in [&mut rig, &mut forward] {
                rig.set("state", &[&q, &nu]);
                rig.set("external", &[&external]);
            }
            forward.set("tau", &[&tau]);
            forward.output();
            let mut nu_dot = forward.leaf("nu_dot", 0);
            rig.set("nu_dot", &[&nu_dot]);
            rig.output();
            for name in ["force", "moment"] {
                let rest = rig.leaf(name, 0)[0];
                assert!(rest < 1e-9 * weight, "{name}: {rest:.1e}");
            }
            nu_dot[7] += 1.0;
            rig.set("nu_dot", &[&nu_dot]);
            rig.output();
            assert!(rig.leaf("force", 0)[0] > 1e-3, "{:?}", rig.leaf("force", 0));
        }
    }

    #[test]
    fn a_fixed_base_is_refused() {
        let parameters = json!({ "path": "robots/panda/panda.urdf", "base": "Fixed" });
        let (robot, _) = load("panda", parameters).expect("a robot");
        let balance: MomentumBalance = block(json!({ "robot": robot.name }));
        let refused = Rig::with(balance, &robot, &[], &[]).err().expect("refused");
        assert!(refused.message.contains("floating base"), "{}", refused.message);
    }
}
