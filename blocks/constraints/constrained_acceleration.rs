//! `ConstrainedAcceleration`: the acceleration of a mechanism with closed loops, from its dynamics.

use std::sync::Arc;

use legwork_block::{
    Block, Dim, Int, Invalid, Outcome, OutputCx, Real, Report, Sizes, UpdateCx, Vector, block,
    parameters, ports,
};
use legwork_mechanics::{ClosedChain, PackedFactor};

use crate::buses::{ConstraintBus, ConstraintsBus, ContactPointsBus, DynamicsBus, contact_points};
use crate::constraints::closed_chain::{closed_chain, read_rows};
use crate::dynamics::applied_force::{add_contact_forces, applied_force, check_torques};
use crate::dynamics::forward_dynamics::together;
use crate::robot::efforts::{Beyond, EffortWatch, beyond};
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;

/// Acceleration of a robot with closed loops under torques and contact forces.
/// `M ν̇ + h = Sᵀτ + Σ Jᵢᵀfᵢ + f_ext + J_pᵀλ` with `J_p ν̇ + γ = 0`.
///
/// Rows that depend on others, as those of a loop that is stated twice do, carry no force; then λ
/// is not unique, ν̇ is. A residual beyond rounding says that the constraints contradict one
/// another. Unlike `ConstrainedDynamics` it takes M from the bus, a motor's inertia included, and
/// its constraints as buses. With `loops: false` it is forward dynamics on the bus: the input
/// `constraints` and the last three outputs are not there.
///
/// A torque beyond the effort of its joint, which no motor limits, is a warning of the run.
///
/// References: N. Guedelha et al., *A flexible MATLAB/Simulink simulator …* (2024), eqs. (9)–(15);
/// F. E. Udwadia, R. E. Kalaba, *A new perspective on constrained motion* (1992).
#[ports(
    keep nv: Dim = ports.dim();
    let (n, contacts, robot) = (ports.dim(), ports.dim(), ports.any_robot());
    keep known: Option<Arc<RobotModel>> = match &self.robot {
        Some(name) => Some(name.find(ports)?),
        None => RobotModel::only(ports),
    };
    /// Efforts of its joints; empty if none has one.
    keep efforts: Vec<f64> = known.as_ref().map(|robot| robot.finite_efforts()).unwrap_or_default();
    if !efforts.is_empty() {
        ports.updates();
    }
    /// How many constraints there are.
    keep m: Dim = ports.dim();
    in  dynamics: DynamicsBus::new(robot, &nv), _,
        "ν, M, h and the factor of M, which is not factored again", shape "Dynamics";
    in  tau: Vector::of(n), _, "joint torques, in the order of the coordinates of joints",
        units "N m, N";
    in  points?: contact_points(&contacts, &nv) as ContactPointsBus, _, "k contacts";
    in  forces("f")?: Vector::of(3 * contacts), "N",
        "forces on the robot at these contacts, contact axes", frame "contact", shape "3k",
        if "with `points`";
    in  external?: Vector::of(&nv), _, "further generalised forces", units "N, N m";
    in  constraints: ConstraintsBus::of(&ConstraintBus::new(&nv), &m), _,
        "m loops and held frames", when self.loops;
    ports.predicts(dynamics);
    out nu_dot: Vector::of(&nv), _, "acceleration ν̇", units "m/s², rad/s²";
    out lambda: Vector::of(6 * m.clone()), _,
        "constraint forces λ on the robot, axes of each constraint", when self.loops,
        units "N, N m";
    out rank: Int, _, "independent rows of the constraints", when self.loops, units "1";
    out residual: Real, _, "largest `|J ν̇ + γ|` of the other rows", when self.loops,
        units "m/s², rad/s²";
)]
#[parameters(aliases("closed-chain forward dynamics"))]
pub struct ConstrainedAcceleration {
    /// Whether there are constraints.
    #[default = true]
    pub loops: bool,
    /// The robot, whose efforts are watched; default the only one of the diagram.
    pub robot: Option<RobotName>,
}

/// Work memory of [`ConstrainedAcceleration`].
pub struct Scratch {
    tree: PackedFactor,
    chain: ClosedChain,
}

#[block]
impl Block for ConstrainedAcceleration {
    type State = EffortWatch;
    type Memo = Option<Beyond>;
    type Scratch = Scratch;

    fn check(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        match (sizes.optional(plan.points), sizes.optional(plan.forces)) {
            (Some(_), None) => return Err(together("points", "f")),
            (None, Some(_)) => return Err(together("f", "points")),
            _ => {}
        }
        check_torques(sizes.dim(&plan.nv), sizes.input(plan.tau))
    }

    fn scratch(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Scratch {
        let nv = sizes.dim(&plan.nv);
        let count = if self.loops { sizes.dim(&plan.m) } else { 0 };
        Scratch { tree: PackedFactor::new(nv), chain: closed_chain(count, nv, 0) }
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let Scratch { tree, chain } = &mut *cx.scratch;
        let dynamics = cx.inputs.get(plan.dynamics);
        let factor = dynamics.factor_by(tree)?;
        let z = cx.outputs.get(plan.nu_dot);
        let (tau, external) = (cx.inputs.get(plan.tau), cx.inputs.optional(plan.external));
        applied_force(&dynamics, tau, external, z)?;
        if !cx.time.minor {
            *cx.memo = beyond(&plan.efforts, tau);
        }
        if let (Some(points), Some(forces)) =
            (cx.inputs.optional(plan.points), cx.inputs.optional(plan.forces))
        {
            add_contact_forces(&points, forces, z);
        }
        let (Some(constraints), Some(lambda), Some(rank), Some(left)) =
            (plan.constraints, plan.lambda, plan.rank, plan.residual)
        else {
            factor.solve_in_place(z);
            return Ok(());
        };
        let constraints = cx.inputs.get(constraints);
        if constraints.is_empty() {
            factor.solve_in_place(z);
            cx.outputs.get(lambda).fill(0.0);
            cx.outputs.set(rank, 0.0);
            cx.outputs.set(left, 0.0);
            return Ok(());
        }
        factor.half_solve_in_place(z);
        read_rows(chain, Some(constraints));
        chain.eliminate(factor);
        chain.constrain(z);
        let residual = chain.residual(z);
        factor.half_solve_transposed_in_place(z);
        chain.forces_into(cx.outputs.get(lambda));
        cx.outputs.set(rank, chain.rank() as f64);
        cx.outputs.set(left, residual);
        Ok(())
    }

    fn update(&self, _: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        cx.state.commit(cx.time.t, *cx.memo);
        Ok(())
    }

    fn report(&self, plan: &Self::Plan, state: &EffortWatch, report: &mut Report) {
        if let Some(robot) = &plan.known {
            state.report(&robot.model, report);
        }
    }
}

#[cfg(test)]
mod tests;
