//! `GravityCompensation`: the joint torques that hold a robot still on its feet.

use std::sync::Arc;

use legwork_block::{
    Block, Invalid, Outcome, OutputCx, Ports, Real, Sizes, Vector, parameters, ports,
};
use legwork_linalg::{MinimumNorm, cholesky, max_abs};
use legwork_mechanics::nalgebra::{Matrix3, Matrix6, Vector3, Vector6};
use legwork_mechanics::{
    FrameId, Kinematics, MixedWrench, Model, add_frame_wrench, frame_position, gravity_force,
};

use crate::buses::{RobotDims, StateBus};
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::kinematics;

/// Joint torques and foot forces that hold a robot still against gravity. `g(q) = Sᵀτ + Jᵀf`.
///
/// The rows of a floating base say `J_bᵀ f = g_b`: the feet carry the weight. Of all such f this is
/// the one of least norm, `f = J_b (J_bᵀ J_b)⁻¹ g_b`, newtons and newton metres alike; the joints'
/// rows then give `τ = g_s − J_sᵀ f`. Two points cannot balance a body: the residual says so. The
/// forces may leave the friction cone. A fixed base needs no feet: `τ = g`.
///
/// Of one robot, not of a world.
#[ports(
    |robot: &Arc<RobotModel>, feet: usize|
    in  state: StateBus::of(ports, self.robot.as_str()), _,
        "configuration and velocity; only q matters";
    ask kinematics: Kinematics = kinematics(ports, robot, state);
    let n = RobotDims::of(ports, self.robot.as_str()).n;
    out tau: Vector::of(n), _, "joint torques", units "N m, N", elements state.s_dot;
    out f: Vector::of(self.foot.rows() * feet), _,
        "forces or wrenches of the k feet on the robot, world axes",
        frame "world", shape "3k or 6k", units "N, N m";
    out residual: Real, _, "largest part of the base's weight that the feet cannot carry",
        units "N, N m";
)]
#[parameters(aliases("gravity compensation", "statics"))]
pub struct GravityCompensation {
    /// The robot.
    pub robot: RobotName,
    /// Names of the links that stand on the ground; default: the robot's feet.
    pub feet: Option<Vec<String>>,
    /// What a foot can transmit: `Wrench` (the default), as a sole does, or `Force`, as a point
    /// does.
    #[default]
    pub foot: FootKind,
}

/// What a foot transmits.
#[parameters]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum FootKind {
    /// Force and moment.
    #[default]
    Wrench,
    /// Force.
    Force,
}

impl FootKind {
    fn rows(self) -> usize {
        match self {
            Self::Wrench => 6,
            Self::Force => 3,
        }
    }
}

/// Ports and feet of [`GravityCompensation`].
pub struct Plan {
    robot: Arc<RobotModel>,
    feet: Vec<FrameId>,
    io: GravityCompensationPorts,
}

/// Work memory of [`GravityCompensation`].
pub struct Scratch {
    /// `Sᵀτ + Jᵀf`, without what is known of it yet.
    rest: Vec<f64>,
    /// Each foot from the origin of the base, r, in world axes [m].
    arms: Vec<Vector3<f64>>,
    factor: MinimumNorm,
}

/// Pivots of `J_bᵀ J_b` below this share are what the feet cannot carry.
const RANK_TOLERANCE: f64 = 1e-12;

impl GravityCompensation {
    fn feet(&self, robot: &RobotModel) -> Result<Vec<FrameId>, Invalid> {
        match &self.feet {
            Some(names) => names.iter().map(|name| robot.frame("feet", name)).collect(),
            None => Ok(robot.feet.clone()),
        }
    }
}

/// How many coordinates the base has: 6 or 0.
fn base_dim(model: &Model) -> usize {
    model.trees().first().map_or(0, |tree| tree.base_dim())
}

impl Block for GravityCompensation {
    const KIND: &'static str = "GravityCompensation";
    type Plan = Plan;
    type State = ();
    type Memo = ();
    type Scratch = Scratch;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let robot = self.robot.find(ports)?;
        if robot.is_world() {
            let message = format!("expected one robot, found the world `{}`", self.robot.as_str());
            return Err(Invalid::parameter("robot", message));
        }
        let feet = self.feet(&robot)?;
        if feet.is_empty() && base_dim(&robot.model) > 0 {
            let message = "expected the feet of a robot that floats, found none";
            return Err(Invalid::parameter("feet", message)
                .hint("name links that stand on the ground: feet: [\"l_sole\", \"r_sole\"]"));
        }
        let io = self.declare(ports, &robot, feet.len());
        Ok(Plan { robot, feet, io })
    }

    fn state(&self, _: &Plan, _: &Sizes<'_>) {}

    fn scratch(&self, plan: &Plan, _: &Sizes<'_>) -> Scratch {
        let mut factor = MinimumNorm::default();
        factor.reserve(6);
        Scratch {
            rest: vec![0.0; plan.robot.model.velocity_dim()],
            arms: vec![Vector3::zeros(); plan.feet.len()],
            factor,
        }
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let Scratch { rest, arms, factor } = cx.scratch;
        let model = &plan.robot.model;
        let kinematics = cx.inputs.shared(plan.io.kinematics);
        let [tau, forces] = cx.outputs.leaves([plan.io.tau.leaf(0), plan.io.f.leaf(0)]);
        let each = self.foot.rows();
        gravity_force(model, kinematics, rest);
        forces.fill(0.0);
        let floats = base_dim(model) == 6;
        if floats {
            // J_bᵀ of a foot at r from the base: (f, m) is felt there as (f, r × f + m), so
            // J_bᵀ J_b = Σ [1, [r]×ᵀ; [r]×, |r|² 1 − r rᵀ], and 1 more for moments.
            let origin = frame_position(model, kinematics, model.root_frame());
            let moments = if self.foot == FootKind::Wrench { 1.0 } else { 0.0 };
            let (mut sum, mut spread) = (Vector3::zeros(), Matrix3::zeros());
            for (r, &foot) in arms.iter_mut().zip(&plan.feet) {
                *r = frame_position(model, kinematics, foot) - origin;
                sum += *r;
                spread +=
                    Matrix3::from_diagonal_element(r.norm_squared() + moments) - *r * r.transpose();
            }
            let mut normal = Matrix6::from_diagonal_element(plan.feet.len() as f64);
            normal.fixed_view_mut::<3, 3>(3, 0).copy_from(&sum.cross_matrix());
            normal.fixed_view_mut::<3, 3>(0, 3).copy_from(&sum.cross_matrix().transpose());
            normal.fixed_view_mut::<3, 3>(3, 3).copy_from(&spread);
            // The least forces that carry the weight: f = J_b (J_bᵀ J_b)⁻¹ g_b. On three feet and
            // more the inverse is there, on two points it takes the pseudoinverse.
            let mut share = Vector6::from_column_slice(&rest[..6]);
            let (mut l, mut inverse_diagonal) = (normal, [0.0; 6]);
            if cholesky::factor(l.as_mut_slice(), &mut inverse_diagonal, RANK_TOLERANCE) {
                cholesky::solve(l.as_slice(), &inverse_diagonal, share.as_mut_slice());
            } else {
                // Of numbers that are not finite there is none: the residual then says so.
                let _ = factor.factor(normal.as_slice(), 6, RANK_TOLERANCE);
                factor.solve(share.as_mut_slice());
            }
            let (lin, ang) = (share.fixed_rows::<3>(0), share.fixed_rows::<3>(3));
            for (force, r) in forces.chunks_exact_mut(each).zip(&*arms) {
                force[..3].copy_from_slice((lin + ang.cross(r)).as_slice());
                force[3..].copy_from_slice(&ang.as_slice()[..each - 3]);
            }
        }
        for (force, &foot) in forces.chunks_exact(each).zip(&plan.feet) {
            let moment = if each == 6 { &force[3..] } else { &[0.0; 3] };
            let wrench = MixedWrench {
                force: -Vector3::from_column_slice(&force[..3]),
                moment: -Vector3::from_column_slice(moment),
            };
            add_frame_wrench(model, kinematics, foot, &wrench, rest);
        }
        let (weight, joints) = rest.split_at(base_dim(model));
        tau.copy_from_slice(joints);
        cx.outputs.set(plan.io.residual, max_abs(weight));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;

    use super::{FootKind, GravityCompensation};
    use crate::dynamics::forward_dynamics::{Algorithm, ForwardDynamics};
    use crate::kinematics::jacobian::Jacobian;
    use crate::robot::frames::Representation;
    use crate::testing::robots::{Rig, States, go, refusal};

    fn block(feet: &[&str], foot: FootKind) -> GravityCompensation {
        let feet = Some(feet.iter().map(|&foot| foot.to_owned()).collect());
        GravityCompensation { robot: "go".into(), feet, foot }
    }

    /// Under these torques and forces a robot at rest has no acceleration.
    #[test]
    fn a_robot_at_rest_stays_at_rest() {
        let feet = ["FL_foot", "FR_foot", "HR_foot"];
        for (kind, rows) in [(FootKind::Force, 3), (FootKind::Wrench, 6)] {
            let mut rig = Rig::new(block(&feet, kind), &go(), &[]);
            let forward = ForwardDynamics { robot: "go".into(), algorithm: Algorithm::Factor };
            let all = rows * feet.len();
            let given = [("J", Type::matrix(all, 18)), ("f", Type::vector(all))];
            let mut forward = Rig::with(forward, &go(), &["external"], &given).expect("a plan");
            for (q, _) in States::of(&go(), 20) {
                let still = vec![0.0; 18];
                let mut stacked = vec![0.0; all * 18];
                for (i, foot) in feet.iter().enumerate() {
                    let representation = Representation::Mixed;
                    let jacobian =
                        Jacobian { robot: "go".into(), frame: (*foot).to_owned(), representation };
                    let mut jacobian = Rig::new(jacobian, &go(), &[]);
                    jacobian.set("state", &[&q, &still]);
                    jacobian.output();
                    let j = jacobian.leaf("jacobian", 0);
                    for k in 0..18 {
                        stacked[all * k + rows * i..all * k + rows * (i + 1)]
                            .copy_from_slice(&j[6 * k..6 * k + rows]);
                    }
                }
                rig.set("state", &[&q, &still]);
                rig.output();
                assert!(rig.leaf("residual", 0)[0] < 1e-8, "{kind:?}");
                forward.set("state", &[&q, &still]);
                forward.set("tau", &[&rig.leaf("tau", 0)]);
                forward.set("J", &[&stacked]);
                forward.set("f", &[&rig.leaf("f", 0)]);
                forward.output();
                let largest =
                    forward.leaf("nu_dot", 0).iter().fold(0.0, |m: f64, a| m.max(a.abs()));
                assert!(largest < 1e-7, "{kind:?}: {largest:e}");
            }
        }
    }

    #[test]
    fn two_points_cannot_balance_and_a_floating_robot_needs_feet() {
        let mut rig = Rig::new(block(&["FL_foot", "HR_foot"], FootKind::Force), &go(), &[]);
        let (mut q, still) = (States::of(&go(), 1).remove(0).0, vec![0.0; 18]);
        q[7] += 0.3;
        rig.set("state", &[&q, &still]);
        rig.output();
        assert!(rig.leaf("residual", 0)[0] > 0.01);
        let none = refusal(block(&[], FootKind::Force), &go(), &[], &[]);
        assert_eq!(none.parameter.as_deref(), Some("feet"));
    }
}
