//! `ConstraintSolver`: joints, limits and contacts as implicit spring-dampers of any stiffness.

mod assembly;
mod method;
mod softness;

use std::sync::Arc;

use legwork_block::quantity::{Damping, NonNegative, PerJoint, Physical};
use legwork_block::{
    Block, Dim, Fault, In, Invalid, OptionalIn, Out, Outcome, OutputCx, Ports, Sizes, Solver,
    Vector,
};
use legwork_contact::soft_constraints::{
    ConstraintProblem, ConstraintSolution, FrictionLaw, SoftConstraintSolver, SolverOptions,
};
use legwork_qp::{Outcome as Solution, Problem};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::buses::{
    CONSTRAINT_ROWS, ConstraintBus, ConstraintsBus, ContactPointsBus, DynamicsBus, RobotDims,
    contact_points,
};
use crate::contact::friction_cone::{Friction, friction_of};
use crate::defaults::quantity;
use crate::dynamics::applied_force::applied_force;
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::describe;
use crate::solvers::plain_solver::{
    PlainMemo, PlainState, Policy, Solve, Verdict, plain_functions,
};
use crate::solvers::problem_dump::Dump;
pub use method::{ConstraintMethod, OnStepFail};
pub use softness::{ContactSoftness, JointSoftness, LimitSoftness};

/// Joints, limits and contacts with friction as implicit spring-dampers. This is Drumwright's
/// constraint solver: implicit integration keeps any stiffness stable at any step, except with
/// `method: LeastForces`, the paper's own program, which can gain energy where contacts have
/// friction.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `dynamics` | Dynamics(robot) | | ν, M and h |
/// | in `tau` | n | N m | joint torques |
/// | in `external`, optional | nv | N, N m | further generalised forces |
/// | in `constraints`, with `joints` | `Constraints` | | m loops, joints and other bilateral rows |
/// | in `joint_stiffness`, `joint_damping`, optional | 6m | N/m, N s/m | K and B of each row |
/// | in `limits`, with `limits` | `ContactPoints` | | l joint limits and other unilateral rows |
/// | in `limit_stiffness`, `limit_damping`, optional | l | N m/rad | alike |
/// | in `points`, with `contact` | `ContactPoints` | | k contacts |
/// | in `contact_stiffness`, `contact_damping`, optional | k | N/m | alike |
/// | out `nu_dot` | nv | m/s², rad/s² | `(ν₁ − ν)/Δt` |
/// | out `lambda`, with `joints` | 6m | N, N m | forces of the constraints, axes of each |
/// | out `f_limits`, with `limits` | l | N m, N | forces of the limits, zero or more |
/// | out `f`, with `contact` | 3k | N | contact forces on the robot, contact axes |
/// | out `status`, `iterations`, `residual` | | 1 | of the solver: steps of the `method` |
///
/// What the parameters do not mention has no ports. `(·, with …)` names the parameter.
///
/// Every row `φ̇ = G ν` has stiffness K and damping B, and its force is that of the step's end:
/// `λ₁ = −K φ₁ − B φ̇₁` with `φ₁ = φ + Δt φ̇₁`, `φ̇₁ = G ν₁`,
/// `M ν₁ = M ν + Δt (Sᵀτ + external − h + Gᵀλ₁)`. Limits and contacts only push; friction is as
/// near to its damper as Coulomb's cone permits. All forces are finite and unique, redundant rows
/// share their load. Run it with `SemiImplicitEuler`, which makes exactly ν₁ of `nu_dot`; other
/// solvers of fixed steps move the configuration otherwise than the rows suppose, a warning, and
/// those of variable steps are refused.
///
/// A contact whose own `friction` is zero or more has that μ instead of `mu`. Friction has no
/// memory: a contact that sticks creeps at `force/B`, 10⁻⁸ m/s per newton at Δt = 10 ms for the
/// default B. Contacts take part whether they touch or not, so touchdown needs no event.
///
/// Momentum along the rows is lost in about one step where Δt² K exceeds the mass; stiff
/// constraints do not vibrate, and impacts of stiff limits are dead.
///
/// References: E. M. Drumwright, *An unconditionally stable first-order constraint solver for
/// multibody systems* (2019), eqs. (36)–(39), (53), (176)–(198); A. M. Castro et al., *An
/// unconstrained convex formulation of compliant contact* (2022), for the method of solution.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["Drumwright", "soft constraints"]))]
pub struct ConstraintSolver {
    /// The robot or world.
    pub robot: RobotName,
    /// K and B of the input `constraints`: `(stiffness: 1e12, damping: 1)`; default no such input.
    #[serde(default)]
    pub joints: Option<JointSoftness>,
    /// K and B of the input `limits`: `(stiffness: 1e9)`; default no such input.
    #[serde(default)]
    pub limits: Option<LimitSoftness>,
    /// What the normals of the input `points` are: `Spring(stiffness: "1e6 N/m")`,
    /// `Hertz(modulus: "100 GPa", radius: "1 cm")`, `Foundation(modulus: "10 MPa", area: "1 cm^2",
    /// depth: "5 cm")`; default no such input.
    #[serde(default)]
    pub contact: Option<ContactSoftness>,
    /// Coulomb friction μ, one value or one for each contact, zero or more [1]; required with
    /// `contact`.
    #[serde(default)]
    pub mu: Option<Friction>,
    /// B along the tangents, above zero or friction has no grip [N s/m]; default 10⁶ kg/Δt.
    #[serde(default)]
    pub friction_damping: Option<NonNegative<Damping>>,
    /// The formulation of a step. `Velocities` (the default): sparse, for everything.
    /// `Forces(cone: Circular)`: the same law, dense, several times slower, by active sets or
    /// second-order cones; takes pyramids too,
    /// `Forces(cone: Pyramid(sides: 4, fit: Circumscribed))`, whose friction depends on its
    /// direction. `LeastForces(zeta: 1e8, cone: Circular)`: the paper's program, for comparison;
    /// joints, limits and stacks come out alike, friction does not follow Coulomb's law. Default
    /// `zeta` 1 s/Δt, default `cone` Circular.
    #[serde(default)]
    pub method: ConstraintMethod,
    /// `Coulomb` (the default), or `Associated`: faster, but a contact that slides at speed v
    /// hovers by `Δt μ v`.
    #[serde(default)]
    pub friction_law: FrictionLaw,
    /// Whether rows add `Δt Ġν` to `φ̇₁`, as the paper has it; default false. It is explicit: with
    /// it coarse steps can gain energy.
    #[serde(default)]
    pub rate_bias: bool,
    /// Largest residual of the laws, relative, above zero [1]; default 1e-10. Momentum is met to
    /// that, or to rounding, which stiff rows can lift to 1e-7; programs in forces are met as well
    /// as their solver can.
    #[serde(default = "tolerance")]
    pub tol: f64,
    /// What to do when a step is not solved: `Stop` (the default), `HoldLast(max: 5)`, `Zero`: no
    /// constraint acts, `Associated`: solve it under the convex law of friction.
    #[serde(default)]
    pub on_fail: OnStepFail,
    /// Which problems to keep for the files of a run, as those of other solver blocks; default
    /// `Never`. A file holds the whole step, M, momentum and all rows, as a program in ν₁ and a
    /// slack in m/s for each row: a quadratic one, or with second-order cones where there is
    /// friction; with a method in forces, that method's program in scaled impulses. Laws of Hertz
    /// are there as their tangents, Coulomb's slips as numbers.
    #[serde(default = "never")]
    pub dump: Dump,
}

pub(crate) fn tolerance() -> f64 {
    SolverOptions::default().tolerance
}

fn never() -> Dump {
    Dump::Never
}

/// K and B of a kind of rows as signals.
pub(crate) struct SoftnessInputs {
    pub(crate) stiffness: OptionalIn<Vector>,
    pub(crate) damping: OptionalIn<Vector>,
}

impl SoftnessInputs {
    fn declare(ports: &mut Ports<'_>, kind: &str, rows: &Dim) -> Self {
        let mut input = |name: &str, doc: &str| {
            let input = ports.optional_input(&format!("{kind}_{name}"), &Vector(rows.clone()));
            ports.note_optional(input).doc(doc);
            input
        };
        Self {
            stiffness: input("stiffness", "K of each row, zero or more"),
            damping: input("damping", "B of each row, zero or more"),
        }
    }
}

/// Ports of one kind of rows.
pub(crate) struct Rows<S> {
    pub(crate) input: In<S>,
    pub(crate) softness: SoftnessInputs,
    pub(crate) forces: Out<Vector>,
    pub(crate) count: Dim,
}

/// Ports of a [`ConstraintSolver`].
pub struct Plan {
    robot: Arc<RobotModel>,
    dynamics: In<DynamicsBus>,
    tau: In<Vector>,
    external: OptionalIn<Vector>,
    joints: Option<Rows<ConstraintsBus>>,
    limits: Option<Rows<ContactPointsBus>>,
    contacts: Option<Rows<ContactPointsBus>>,
    nu_dot: Out<Vector>,
    verdict: Verdict,
}

/// Work memory of a [`ConstraintSolver`].
pub struct Scratch {
    problem: ConstraintProblem,
    solution: ConstraintSolution,
    solver: SoftConstraintSolver,
    /// A row of G, nv; a body's part of M.
    row: Vec<f64>,
    block: Vec<f64>,
    force: Vec<f64>,
    /// The parameter μ, k.
    friction: Vec<f64>,
    /// Velocities of each robot of the world.
    ranges: Vec<std::ops::Range<usize>>,
    /// ν̇, then the forces of joints, limits, contacts.
    x: Vec<f64>,
}

impl Plan {
    /// Length of [`Scratch::x`].
    fn unknowns(&self, sizes: &Sizes<'_>) -> usize {
        let joints = self.joints.as_ref().map_or(0, |r| CONSTRAINT_ROWS * sizes.dim(&r.count));
        let limits = self.limits.as_ref().map_or(0, |r| sizes.dim(&r.count));
        let contacts = self.contacts.as_ref().map_or(0, |r| 3 * sizes.dim(&r.count));
        self.robot.model.velocity_dim() + joints + limits + contacts
    }
}

impl ConstraintSolver {
    fn check_parameters(&self) -> Result<(), Invalid> {
        if !(self.tol > 0.0 && self.tol.is_finite()) {
            let message = format!("expected a residual above zero, found {}", self.tol);
            return Err(Invalid::parameter("tol", message));
        }
        if self.joints.is_none() && self.limits.is_none() && self.contact.is_none() {
            let message = "expected `joints`, `limits` or `contact`, found nothing to hold";
            return Err(Invalid::new(message).hint("write joints: (stiffness: 1e12, damping: 1)"));
        }
        self.method.check(self.friction_law, self.on_fail)?;
        match (&self.contact, &self.mu) {
            (Some(_), None) => Err(Invalid::parameter("mu", "expected friction, found none")
                .hint("write mu: 0.7, or mu: 0 for contacts without friction")),
            (None, Some(_)) => {
                Err(Invalid::parameter("mu", "expected `contact` with it, found friction alone"))
            }
            _ => Ok(()),
        }
    }

    fn check_solver(ports: &mut Ports<'_>) -> Result<(), Invalid> {
        let solver = ports.solver();
        let advice = "choose `run: (solver: SemiImplicitEuler)`";
        if solver.is_variable() {
            let message = format!("expected a solver of fixed steps, found {solver}");
            return Err(Invalid::new(message).hint(advice));
        }
        if solver != Solver::SemiImplicitEuler {
            let message = format!(
                "the forces are those at the end of a step of SemiImplicitEuler; under {solver} \
                 constraints are less accurate, and stiff ones not stable"
            );
            ports.warn(Invalid::new(message).hint(advice));
        }
        Ok(())
    }

    /// Whether friction was asked for and has no damper to act by.
    fn has_no_grip(&self) -> bool {
        let slips = self.friction_damping.is_some_and(|damping| damping.value() == 0.0);
        let has_friction = match &self.mu {
            Some(PerJoint::All(mu)) => mu.value() > 0.0,
            Some(PerJoint::Each(each)) => each.iter().any(|mu| mu.value() > 0.0),
            _ => false,
        };
        slips && has_friction
    }

    fn policy(&self) -> Policy {
        let (on_fail, dump) = (self.on_fail.last_resort(), self.dump);
        Policy { block: Self::KIND, noun: "constraint problem", on_fail, dump }
    }

    fn options(&self) -> SolverOptions {
        let (friction_law, tolerance) = (self.friction_law, self.tol);
        SolverOptions { friction_law, tolerance, ..SolverOptions::default() }
    }
}

/// The velocities of each robot of a world, or of the one robot.
pub(crate) fn velocity_ranges(robot: &RobotModel) -> Vec<std::ops::Range<usize>> {
    if !robot.is_world() {
        return std::iter::once(0..robot.model.velocity_dim()).collect();
    }
    let mut at = 0;
    let dims = robot.members.iter().map(|member| member.model.velocity_dim());
    dims.map(|dim| {
        at += dim;
        at - dim..at
    })
    .collect()
}

impl Block for ConstraintSolver {
    const KIND: &'static str = "ConstraintSolver";
    type Plan = Plan;
    type State = PlainState;
    type Memo = PlainMemo;
    type Scratch = Scratch;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        self.check_parameters()?;
        Self::check_solver(ports)?;
        if self.has_no_grip() {
            let message = "expected damping above zero with friction, found none: contacts slide \
                           as if `mu` were 0";
            ports.warn(Invalid::parameter("friction_damping", message));
        }
        let robot = self.robot.find(ports)?;
        let RobotDims { nv, n, .. } = RobotDims::of(ports, self.robot.as_str());
        let bus = DynamicsBus::of(ports, self.robot.as_str());
        let dynamics = ports.input("dynamics", &bus);
        ports.note_in(dynamics).doc("terms of the equation of motion");
        let tau = ports.input("tau", &Vector(n));
        ports.note_in(tau).doc("joint torques [N m, N]");
        let external = ports.optional_input("external", &Vector(nv.clone()));
        ports.note_optional(external).doc("further generalised forces [N, N m]");
        let joints = self.joints.as_ref().map(|_| {
            let count = ports.dim();
            let input =
                ports.input("constraints", &ConstraintsBus::of(&ConstraintBus::new(&nv), &count));
            ports.note_in(input).doc("bilateral rows");
            let softness = SoftnessInputs::declare(ports, "joint", &(6 * count.clone()));
            let forces = ports.output("lambda", &Vector(6 * count.clone()));
            describe(ports, forces, "constraint forces on the robot");
            Rows { input, softness, forces, count }
        });
        let limits = self.limits.as_ref().map(|_| {
            let count = ports.dim();
            let input = ports.input("limits", &contact_points(&count, &nv));
            ports.note_in(input).doc("unilateral rows: the normals of these contacts");
            let softness = SoftnessInputs::declare(ports, "limit", &count);
            let forces = ports.output("f_limits", &Vector(count.clone()));
            describe(ports, forces, "forces of the limits");
            Rows { input, softness, forces, count }
        });
        let contacts = self.contact.as_ref().map(|_| {
            let count = ports.dim();
            let input = ports.input("points", &contact_points(&count, &nv));
            ports.note_in(input).doc("contacts");
            let softness = SoftnessInputs::declare(ports, "contact", &count);
            let forces = ports.output("f", &Vector(3 * count.clone()));
            ports.note_out(forces).unit("N").frame("contact").doc("contact forces on the robot");
            Rows { input, softness, forces, count }
        });
        let nu_dot = ports.output("nu_dot", &Vector(nv));
        describe(ports, nu_dot, "acceleration over the step");
        let verdict = Verdict::declare(ports, "steps of the method");
        ports.updates();
        ports.per_major();
        Ok(Plan { robot, dynamics, tau, external, joints, limits, contacts, nu_dot, verdict })
    }

    fn check(&self, plan: &Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        match (&self.mu, &plan.contacts) {
            (Some(mu), Some(rows)) => friction_of(mu, sizes.dim(&rows.count)).map(|_| ()),
            _ => Ok(()),
        }
    }

    fn state(&self, plan: &Plan, sizes: &Sizes<'_>) -> PlainState {
        PlainState::new(plan.unknowns(sizes), 0)
    }

    fn memo(&self, plan: &Plan, sizes: &Sizes<'_>) -> PlainMemo {
        PlainMemo::new(plan.unknowns(sizes), 0)
    }

    fn scratch(&self, plan: &Plan, sizes: &Sizes<'_>) -> Scratch {
        let nv = plan.robot.model.velocity_dim();
        let ranges = velocity_ranges(&plan.robot);
        let dims: Vec<usize> = ranges.iter().map(ExactSizeIterator::len).collect();
        let largest = dims.iter().max().copied().unwrap_or(0);
        let count = plan.contacts.as_ref().map_or(0, |rows| sizes.dim(&rows.count));
        // `check` has accepted the parameter.
        let friction = self.mu.as_ref().and_then(|mu| friction_of(mu, count).ok());
        Scratch {
            // The step comes with the first output.
            problem: ConstraintProblem::new(&dims, 1.0),
            solution: ConstraintSolution {
                velocity: vec![0.0; nv],
                ..ConstraintSolution::default()
            },
            solver: SoftConstraintSolver::new(self.options()),
            row: vec![0.0; nv],
            block: vec![0.0; largest * largest],
            force: vec![0.0; nv],
            friction: friction.unwrap_or_default(),
            ranges,
            x: vec![0.0; plan.unknowns(sizes)],
        }
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let time_step = cx.time.step;
        if !(time_step > 0.0 && time_step.is_finite()) {
            return Err(Fault::new(format!("expected a positive time step, found {time_step}")));
        }
        let work = &mut *cx.scratch;
        let dynamics = cx.inputs.get(plan.dynamics);
        let tau = cx.inputs.get(plan.tau);
        applied_force(&dynamics, tau, cx.inputs.optional(plan.external), &mut work.force)?;
        work.begin(&dynamics, time_step);
        self.push_rows(plan, &cx.inputs, work)?;
        work.solver.options.method = self.method.method(time_step);
        work.solution.working_set.clear();
        work.solution.working_set.extend_from_slice(cx.state.warm());
        let mut solution = work.solver.solve(&work.problem, &mut work.solution);
        let is_relaxed = !solution.status.is_usable() && self.on_fail == OnStepFail::Associated;
        if is_relaxed {
            work.solver.options.friction_law = FrictionLaw::Associated;
            work.solution.velocity.copy_from_slice(dynamics.nu);
            solution = work.solver.solve(&work.problem, &mut work.solution);
            work.solver.options.friction_law = self.options().friction_law;
        }
        work.read_answer(plan, &cx.inputs, dynamics.nu, time_step);

        let Scratch { problem, solver, x, solution: after, .. } = work;
        let data = || {
            // Numbers that form no problem have no program.
            let program = solver.velocity_program(problem).or_else(|| solver.force_program());
            let program = program.unwrap_or_default();
            if program.cone_sizes.is_empty() {
                Problem::Qp(program.linear)
            } else {
                Problem::ConeProgram(program)
            }
        };
        let solve = Solve { time: cx.time, solution, x, warm: &[] };
        self.policy().conclude(cx.state, cx.memo, solve, data)?;
        // A kept problem is that of the last pass, which did not begin here.
        cx.memo.keep_warm(&after.working_set);
        if is_relaxed {
            cx.memo.set_relaxed();
        }
        if !solution.status.is_usable() && self.on_fail == OnStepFail::Zero {
            work.free_acceleration(dynamics.nu, time_step);
        }
        self.write(plan, &solution, cx);
        Ok(())
    }

    plain_functions!();
}

impl ConstraintSolver {
    /// Writes the unknowns to their ports.
    fn write(&self, plan: &Plan, solution: &Solution, cx: &mut OutputCx<'_, Self>) {
        let nu_dot = cx.outputs.get(plan.nu_dot);
        let (acceleration, mut rest) = cx.scratch.x.split_at(nu_dot.len());
        nu_dot.copy_from_slice(acceleration);
        let forces = [
            plan.joints.as_ref().map(|rows| rows.forces),
            plan.limits.as_ref().map(|rows| rows.forces),
            plan.contacts.as_ref().map(|rows| rows.forces),
        ];
        for forces in forces.into_iter().flatten() {
            let out = cx.outputs.get(forces);
            let (own, others) = rest.split_at(out.len());
            out.copy_from_slice(own);
            rest = others;
        }
        plan.verdict.write(solution, &mut cx.outputs);
    }
}

/// A quantity of zero, for defaults.
pub(crate) fn zero<Q: Physical>() -> NonNegative<Q> {
    quantity(0.0)
}

#[cfg(test)]
mod tests;
