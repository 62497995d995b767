//! `ConstrainedAcceleration`: the acceleration of a mechanism with closed loops, from its dynamics.

use legwork_block::{
    Block, Dim, In, Int, Invalid, OptionalIn, Out, Outcome, OutputCx, Ports, Real, Sizes, Vector,
};
use legwork_contact::ClosedChain;
use legwork_mechanics::PackedFactor;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::buses::{ConstraintBus, ConstraintsBus, ContactPointsBus, DynamicsBus, contact_points};
use crate::constraints::closed_chain::{closed_chain, read_rows};
use crate::dynamics::applied_force::{add_contact_forces, applied_force, check_torques};
use crate::dynamics::forward_dynamics::together;
use crate::robot::shared_kinematics::describe;

/// Acceleration of a robot with closed loops under torques and contact forces.
/// `M ν̇ + h = Sᵀτ + Σ Jᵢᵀfᵢ + f_ext + J_pᵀλ` with `J_p ν̇ + γ = 0`.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `dynamics` | `Dynamics` | | ν, M, h and the factor of M, which is not factored again |
/// | in `tau` | n | N m | joint torques, in the order of the coordinates of joints |
/// | in `points`, optional | `ContactPoints` | | k contacts |
/// | in `f`, with `points` | 3k | N | forces on the robot at these contacts, contact axes |
/// | in `external`, optional | nv | N, N m | further generalised forces |
/// | in `constraints` | `Constraints` | | m loops and held frames |
/// | out `nu_dot` | nv | m/s², rad/s² | acceleration ν̇ |
/// | out `lambda` | 6m | N, N m | constraint forces λ on the robot, axes of each constraint |
/// | out `rank` | | 1 | independent rows of the constraints |
/// | out `residual` | | m/s², rad/s² | largest `\|J ν̇ + γ\|` of the other rows |
///
/// Rows that depend on others, as those of a loop that is stated twice do, carry no force; then λ
/// is not unique, ν̇ is. A residual beyond rounding says that the constraints contradict one
/// another. Unlike `ConstrainedDynamics` it takes M from the bus, a motor's inertia included, and
/// its constraints as buses. With `loops: false` it is forward dynamics on the bus: the input
/// `constraints` and the last three outputs are not there.
///
/// References: N. Guedelha et al., *A flexible MATLAB/Simulink simulator …* (2024), eqs. (9)–(15);
/// F. E. Udwadia, R. E. Kalaba, *A new perspective on constrained motion* (1992).
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("x-aliases" = ["closed-chain forward dynamics"]))]
pub struct ConstrainedAcceleration {
    /// Whether there are constraints; default true.
    pub loops: bool,
}

impl Default for ConstrainedAcceleration {
    fn default() -> Self {
        Self { loops: true }
    }
}

/// Input and outputs of the constraints.
struct Loops {
    constraints: In<ConstraintsBus>,
    count: Dim,
    lambda: Out<Vector>,
    rank: Out<Int>,
    residual: Out<Real>,
}

/// Ports of [`ConstrainedAcceleration`].
pub struct Plan {
    dynamics: In<DynamicsBus>,
    tau: In<Vector>,
    points: OptionalIn<ContactPointsBus>,
    forces: OptionalIn<Vector>,
    external: OptionalIn<Vector>,
    nu_dot: Out<Vector>,
    loops: Option<Loops>,
    nv: Dim,
}

/// Work memory of [`ConstrainedAcceleration`].
pub struct Scratch {
    tree: PackedFactor,
    chain: ClosedChain,
}

impl Block for ConstrainedAcceleration {
    const KIND: &'static str = "ConstrainedAcceleration";
    type Plan = Plan;
    type State = ();
    type Memo = ();
    type Scratch = Scratch;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let (nv, n) = (ports.dim(), ports.dim());
        let robot = ports.any_robot();
        let dynamics = ports.input("dynamics", &DynamicsBus::new(robot, &nv));
        ports.note_in(dynamics).doc("terms of the equation of motion");
        let tau = ports.input("tau", &Vector(n));
        ports.note_in(tau).doc("joint torques [N m, N]");
        let contacts = ports.dim();
        let points = ports.optional_input("points", &contact_points(&contacts, &nv));
        ports.note_optional(points).doc("contacts");
        let forces = ports.optional_input("f", &Vector(3 * contacts));
        ports.note_optional(forces).unit("N").frame("contact").doc("contact forces");
        let external = ports.optional_input("external", &Vector(nv.clone()));
        ports.note_optional(external).doc("further generalised forces [N, N m]");
        let count = ports.dim();
        let constraints = self.loops.then(|| {
            let constraints =
                ports.input("constraints", &ConstraintsBus::of(&ConstraintBus::new(&nv), &count));
            ports.note_in(constraints).doc("loops and held frames");
            constraints
        });
        let nu_dot = ports.output("nu_dot", &Vector(nv.clone()));
        describe(ports, nu_dot, "acceleration");
        let loops = constraints.map(|constraints| {
            let lambda = ports.output("lambda", &Vector(6 * count.clone()));
            describe(ports, lambda, "constraint forces on the robot");
            let rank = ports.output("rank", &Int);
            describe(ports, rank, "independent rows");
            let residual = ports.output("residual", &Real);
            describe(ports, residual, "what the dependent rows are off by");
            Loops { constraints, count, lambda, rank, residual }
        });
        Ok(Plan { dynamics, tau, points, forces, external, nu_dot, loops, nv })
    }

    fn check(&self, plan: &Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        match (sizes.optional(plan.points), sizes.optional(plan.forces)) {
            (Some(_), None) => return Err(together("points", "f")),
            (None, Some(_)) => return Err(together("f", "points")),
            _ => {}
        }
        check_torques(sizes.dim(&plan.nv), sizes.input(plan.tau))
    }

    fn state(&self, _: &Plan, _: &Sizes<'_>) {}

    fn scratch(&self, plan: &Plan, sizes: &Sizes<'_>) -> Scratch {
        let nv = sizes.dim(&plan.nv);
        let count = plan.loops.as_ref().map_or(0, |loops| sizes.dim(&loops.count));
        Scratch { tree: PackedFactor::new(nv), chain: closed_chain(count, nv, 0) }
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let Scratch { tree, chain } = &mut *cx.scratch;
        let dynamics = cx.inputs.get(plan.dynamics);
        let factor = dynamics.factor_by(tree)?;
        let z = cx.outputs.get(plan.nu_dot);
        let external = cx.inputs.optional(plan.external);
        applied_force(&dynamics, cx.inputs.get(plan.tau), external, z)?;
        if let (Some(points), Some(forces)) =
            (cx.inputs.optional(plan.points), cx.inputs.optional(plan.forces))
        {
            add_contact_forces(&points, forces, z);
        }
        factor.half_solve_in_place(z);
        let Some(loops) = &plan.loops else {
            factor.half_solve_transposed_in_place(z);
            return Ok(());
        };
        read_rows(chain, Some(cx.inputs.get(loops.constraints)));
        chain.eliminate(factor);
        chain.constrain(z);
        let residual = chain.residual(z);
        factor.half_solve_transposed_in_place(z);
        chain.forces_into(cx.outputs.get(loops.lambda));
        cx.outputs.set(loops.rank, chain.rank() as f64);
        cx.outputs.set(loops.residual, residual);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
