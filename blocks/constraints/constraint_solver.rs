//! `ConstraintSolver`: joints, limits and contacts as implicit spring-dampers of any stiffness.

mod assembly;
mod method;
mod softness;

use std::sync::Arc;

use legwork_block::quantity::{Damping, NonNegative, PerJoint};
use legwork_block::{
    Block, Call, Dim, Fault, Function, Int, Invalid, OptionalIn, Outcome, OutputCx, Ports, Real,
    Report, Sizes, Solver, UpdateCx, Vector, parameters, ports,
};
use legwork_contact::soft_constraints::{
    ConstraintProblem, ConstraintSolution, FrictionLaw, SoftConstraintSolver, SolverOptions,
};
use legwork_qp::{Cone, ConeProgram, Outcome as Solution, Problem};

use crate::buses::{
    CONSTRAINT_ROWS, ConstraintBus, ConstraintsBus, ContactPointsBus, DynamicsBus, RobotDims,
    contact_points,
};
use crate::contact::friction_cone::{Friction, cone_shape, friction_of};
use crate::dynamics::applied_force::applied_force;
use crate::robot::efforts::{Beyond, EffortWatch, beyond};
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::solvers::called::{ProgramFunction, catch};
use crate::solvers::problem_dump::Dump;
use crate::solvers::state::{Answer, Policy, Solve, SolverMemo, SolverState, Verdict};
pub use method::{ConstraintMethod, FallbackLaw, OnStepFail};
pub use softness::{ContactSoftness, JointSoftness, LimitSoftness};

/// Joints, limits and contacts with friction as implicit spring-dampers. This is Drumwright's
/// constraint solver: implicit integration keeps any stiffness stable at any step, except with
/// `method: LeastForces`, the paper's own program, which can gain energy where contacts have
/// friction.
///
/// | function | type | meaning |
/// |---|---|---|
/// | `solve`, optional | that of `Qp` or `ConeProgram` | solves the programs of methods in forces |
///
/// What the parameters do not mention has no ports. With pyramids, or without contacts, any solver
/// of quadratic programs fits: `needs: { "solve": Qp() }`; circular cones take
/// `ConeProgram(cones: [3, 3])`, a cone for each contact. `Velocities` asks no other solver.
///
/// Every row `φ̇ = G ν` has stiffness K and damping B, and its force is that of the step's end:
/// `λ₁ = −K φ₁ − B φ̇₁` with `φ₁ = φ + Δt φ̇₁`, `φ̇₁ = G ν₁`,
/// `M ν₁ = M ν + Δt (Sᵀτ + external − h − d ν₁ + Gᵀλ₁)`. Limits and contacts only push; friction is
/// as near to its damper as Coulomb's cone permits. All forces are finite and unique, redundant
/// rows share their load. Run it with `SemiImplicitEuler`, which makes exactly ν₁ of `nu_dot`;
/// other solvers of fixed steps move the configuration otherwise than the rows suppose, a warning,
/// and those of variable steps are refused.
///
/// A contact whose own `friction` is zero or more has that μ instead of `mu`. Friction has no
/// memory: a contact that sticks creeps at `force/B`, 10⁻⁸ m/s per newton at Δt = 10 ms for the
/// default B. Contacts take part whether they touch or not, so touchdown needs no event.
///
/// A torque beyond the effort of its joint, which no motor limits, is a warning of the run.
///
/// Momentum along the rows is lost in about one step where Δt² K exceeds the mass; stiff
/// constraints do not vibrate, and impacts of stiff limits are dead.
///
/// References: E. M. Drumwright, *An unconditionally stable first-order constraint solver for
/// multibody systems* (2019), eqs. (36)–(39), (53), (176)–(198); A. M. Castro et al., *An
/// unconstrained convex formulation of compliant contact* (2022), for the method of solution.
#[ports(
    |joints: &Dim, limits: &Dim, contacts: &Dim|
    let robot = self.robot.as_str();
    let RobotDims { nv, n, .. } = RobotDims::of(ports, robot);
    in  dynamics: DynamicsBus::of(ports, robot), _, "ν, M and h", shape "Dynamics(robot)";
    in  tau: Vector::of(&n), _, "joint torques", units "N m, N";
    in  external?: Vector::of(&nv), _, "further generalised forces", units "N, N m";
    in  constraints: ConstraintsBus::of(&ConstraintBus::new(&nv), joints) as ConstraintsBus, _,
        "m loops, joints and other bilateral rows", shape "Constraints",
        when self.joints.is_some(), if "with `joints`";
    in  joint_stiffness?: Vector::of(6 * joints.clone()), _, "K of each row, zero or more",
        shape "6m", units "N/m, N m/rad", when self.joints.is_some(), if "with `joints`";
    in  joint_damping?: Vector::of(6 * joints.clone()), _, "B of each row, zero or more",
        shape "6m", units "N s/m, N m s/rad", when self.joints.is_some(), if "with `joints`";
    out lambda: Vector::of(6 * joints.clone()), _, "constraint forces on the robot, axes of each",
        shape "6m", units "N, N m", when self.joints.is_some(), if "with `joints`";
    in  limit_points("limits"): contact_points(limits, &nv) as ContactPointsBus, _,
        "l joint limits and other unilateral rows: the normals of these contacts",
        when self.limits.is_some(), if "with `limits`";
    in  limit_stiffness?: Vector::of(limits), _, "K of each row, zero or more",
        shape "l", units "N m/rad", when self.limits.is_some(), if "with `limits`";
    in  limit_damping?: Vector::of(limits), _, "B of each row, zero or more",
        shape "l", units "N m s/rad", when self.limits.is_some(), if "with `limits`";
    out f_limits: Vector::of(limits), _, "forces of the limits, zero or more",
        shape "l", units "N m, N", when self.limits.is_some(), if "with `limits`";
    in  points: contact_points(contacts, &nv) as ContactPointsBus, _, "k contacts",
        when self.contact.is_some(), if "with `contact`";
    in  contact_stiffness?: Vector::of(contacts), _, "K of each normal, zero or more",
        shape "k", units "N/m", when self.contact.is_some(), if "with `contact`";
    in  contact_damping?: Vector::of(contacts), _, "B of each normal, zero or more",
        shape "k", units "N s/m", when self.contact.is_some(), if "with `contact`";
    out f: Vector::of(3 * contacts.clone()), "N", "contact forces on the robot, contact axes",
        frame "contact", shape "3k", when self.contact.is_some(), if "with `contact`";
    out nu_dot: Vector::of(&nv), _, "acceleration over the step, `(ν₁ − ν)/Δt`",
        shape "nv", units "m/s², rad/s²";
    out status: Int, _, "0 solved, 1 inaccurate, else not: see [`solvers`](crate::solvers)";
    out iterations: Int, _, "steps of the `method`";
    out residual: Real, "1", "relative residual of the laws; infinite if there is none", infinite;
)]
#[parameters(aliases("Drumwright", "soft constraints"))]
pub struct ConstraintSolver {
    /// The robot or world.
    pub robot: RobotName,
    /// K and B of the input `constraints`: `(stiffness: 1e12, damping: 1)`; default no such input.
    pub joints: Option<JointSoftness>,
    /// K and B of the input `limits`: `(stiffness: 1e9)`; default no such input.
    pub limits: Option<LimitSoftness>,
    /// What the normals of the input `points` are: `Spring(stiffness: "1e6 N/m")`,
    /// `Hertz(modulus: "100 GPa", radius: "1 cm")`, `Foundation(modulus: "10 MPa", area: "1 cm^2",
    /// depth: "5 cm")`; default no such input.
    pub contact: Option<ContactSoftness>,
    /// Coulomb friction μ, one value or one for each contact, zero or more [1]; required with
    /// `contact`.
    pub mu: Option<Friction>,
    /// B along the tangents, above zero or friction has no grip [N s/m]; default 10⁶ kg/Δt.
    pub friction_damping: Option<NonNegative<Damping>>,
    /// The formulation of a step. `Velocities` (the default): sparse, for everything.
    /// `Forces(cone: Circular)`: the same law, dense, several times slower, by active sets or
    /// second-order cones; takes pyramids too,
    /// `Forces(cone: Pyramid(sides: 4, fit: Circumscribed))`, whose friction depends on its
    /// direction. `LeastForces(zeta: 1e8, cone: Circular)`: the paper's program, for comparison;
    /// joints, limits and stacks come out alike, friction does not follow Coulomb's law. Default
    /// `zeta` 1 s/Δt, default `cone` Circular.
    #[default]
    pub method: ConstraintMethod,
    /// `Coulomb` (the default), or `Associated`: faster, but a contact that slides at speed v
    /// hovers by `Δt μ v`.
    #[default]
    pub friction_law: FrictionLaw,
    /// Whether rows add `Δt Ġν` to `φ̇₁`, as the paper has it. It is explicit: with it coarse steps
    /// can gain energy.
    #[default]
    pub rate_bias: bool,
    /// Largest residual of the laws, relative, above zero [1]. Momentum is met to that, or to
    /// rounding, which stiff rows can lift to 1e-7; programs in forces are met as well as their
    /// solver can.
    #[default = 1e-10]
    pub tol: f64,
    /// What to do when a step is not solved: `Stop` (the default), `HoldLast(max: 5)`, `Zero`: no
    /// constraint acts, `Fallback(Associated)`: solve it under the convex law of friction.
    #[default]
    pub on_fail: OnStepFail,
    /// Which problems to keep for the files of a run, as those of other solver blocks. A file holds
    /// the whole step, M, momentum and all rows, as a program in ν₁ and a slack in m/s for each
    /// row: a quadratic one, or with second-order cones where there is friction; with a method in
    /// forces, that method's program in scaled impulses. Laws of Hertz are there as their tangents,
    /// Coulomb's slips as numbers.
    #[default = Dump::Never]
    pub dump: Dump,
}

/// K and B of a kind of rows as signals.
pub(crate) type SoftnessInputs = [Option<OptionalIn<Vector>>; 2];

/// Ports of a [`ConstraintSolver`].
pub struct Plan {
    io: ConstraintSolverPorts,
    verdict: Verdict,
    robot: Arc<RobotModel>,
    /// Efforts of the joints; empty if none has one.
    efforts: Vec<f64>,
    /// Constraints m, limits l and contacts k; none where there are no such ports.
    joints: Dim,
    limits: Dim,
    contacts: Dim,
    solve: Option<(Function, ProgramFunction)>,
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
        let rows = CONSTRAINT_ROWS * sizes.dim(&self.joints)
            + sizes.dim(&self.limits)
            + 3 * sizes.dim(&self.contacts);
        self.robot.model.velocity_dim() + rows
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

    /// Declares the function that solves programs in forces; `Velocities` has none.
    fn declare_function(
        &self,
        ports: &mut Ports<'_>,
        [joints, limits, contacts]: [&Dim; 3],
    ) -> Result<Option<(Function, ProgramFunction)>, Invalid> {
        let (cone, pushing) = match self.method {
            ConstraintMethod::Velocities => return Ok(None),
            ConstraintMethod::Forces { cone } => (cone, Dim::fixed(0)),
            ConstraintMethod::LeastForces { cone, .. } => (cone, limits.clone() + contacts.clone()),
        };
        let unknowns = 6 * joints.clone() + limits.clone() + 3 * contacts.clone();
        let facets = cone_shape(cone)?.sides() * contacts.clone();
        let has_cones = cone == Cone::Circular && self.contact.is_some();
        let function = ports.optional_function("solve");
        let sizes = (&unknowns, &(pushing + facets));
        let program =
            ProgramFunction::declare(ports, function, sizes, has_cones.then_some(contacts));
        Ok(Some((function, program)))
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
    type State = (SolverState, EffortWatch);
    type Memo = (SolverMemo, Option<Beyond>);
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
        let mut count = |is_there: bool| if is_there { ports.dim() } else { Dim::fixed(0) };
        let joints = count(self.joints.is_some());
        let limits = count(self.limits.is_some());
        let contacts = count(self.contact.is_some());
        let io = self.declare(ports, &joints, &limits, &contacts);
        let solve = self.declare_function(ports, [&joints, &limits, &contacts])?;
        let verdict = Verdict::of(io.status, io.iterations, io.residual);
        ports.updates();
        ports.per_major();
        let efforts = robot.finite_efforts();
        Ok(Plan { io, verdict, robot, efforts, joints, limits, contacts, solve })
    }

    fn check(&self, plan: &Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        match &self.mu {
            Some(mu) => friction_of(mu, sizes.dim(&plan.contacts)).map(|_| ()),
            None => Ok(()),
        }
    }

    fn state(&self, plan: &Plan, sizes: &Sizes<'_>) -> Self::State {
        (SolverState::new(plan.unknowns(sizes), 0), EffortWatch::default())
    }

    fn memo(&self, plan: &Plan, sizes: &Sizes<'_>) -> Self::Memo {
        (SolverMemo::new(plan.unknowns(sizes), 0), None)
    }

    fn scratch(&self, plan: &Plan, sizes: &Sizes<'_>) -> Scratch {
        let nv = plan.robot.model.velocity_dim();
        let ranges = velocity_ranges(&plan.robot);
        let dims: Vec<usize> = ranges.iter().map(ExactSizeIterator::len).collect();
        let largest = dims.iter().max().copied().unwrap_or(0);
        // `check` has accepted the parameter.
        let count = sizes.dim(&plan.contacts);
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
        let dynamics = cx.inputs.get(plan.io.dynamics);
        let tau = cx.inputs.get(plan.io.tau);
        applied_force(&dynamics, tau, cx.inputs.optional(plan.io.external), &mut work.force)?;
        let (state, (memo, strong)) = (&cx.state.0, &mut *cx.memo);
        *strong = beyond(&plan.efforts, tau);

        // The step as it was asked, then under the convex law if that is the policy.
        work.begin(&dynamics, time_step);
        self.push_rows(plan, &cx.inputs, work)?;
        work.solver.options.method = self.method.method(time_step);
        work.solution.working_set.clear();
        work.solution.working_set.extend_from_slice(state.warm());
        let mut call = plan.solve.and_then(|(function, program)| {
            cx.functions.bound(function).map(|call| (program, call))
        });
        let first = work.solve(&mut call)?;
        let mut solution = first;
        if !first.status.is_usable() && self.on_fail.fallback().is_some() {
            work.solver.options.friction_law = FrictionLaw::Associated;
            work.solution.velocity.copy_from_slice(dynamics.nu);
            solution = work.solve(&mut call)?;
            work.solver.options.friction_law = self.friction_law;
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
        let gained_energy = after.gained_energy;
        let solve = Solve { first, gained_energy, ..Solve::new(cx.time, solution, x, &[]) };
        let answer = self.policy().conclude(state, memo, solve, data)?;
        // A kept problem is that of the last pass, which did not begin here.
        memo.keep_warm(&after.working_set);
        if answer == Answer::Zeroed {
            work.free_acceleration(dynamics.nu, time_step);
        }
        self.write(plan, &solution, cx);
        Ok(())
    }

    fn clear_memo(&self, memo: &mut Self::Memo) {
        memo.0.clear();
        memo.1 = None;
    }

    fn update(&self, _: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        cx.state.0.commit(&cx.memo.0);
        cx.state.1.commit(cx.time.t, cx.memo.1);
        Ok(())
    }

    fn report(&self, plan: &Plan, (solver, efforts): &Self::State, report: &mut Report) {
        self.policy().report(solver, report);
        efforts.report(&plan.robot.model, report);
    }

    fn report_memo(&self, _: &Plan, memo: &Self::Memo, report: &mut Report) {
        memo.0.report(report);
    }
}

impl ConstraintSolver {
    /// Writes the unknowns to their ports.
    fn write(&self, plan: &Plan, solution: &Solution, cx: &mut OutputCx<'_, Self>) {
        let ConstraintSolverPorts { nu_dot, lambda, f_limits, f, .. } = plan.io;
        let nu_dot = cx.outputs.get(nu_dot);
        let (acceleration, mut rest) = cx.scratch.x.split_at(nu_dot.len());
        nu_dot.copy_from_slice(acceleration);
        for forces in [lambda, f_limits, f].into_iter().flatten() {
            let out = cx.outputs.get(forces);
            let (own, others) = rest.split_at(out.len());
            out.copy_from_slice(own);
            rest = others;
        }
        plan.verdict.write(solution, &mut cx.outputs);
    }
}

impl Scratch {
    /// Solves the step, its programs by the function if one is bound.
    ///
    /// # Errors
    /// The fault of a block inside the function.
    fn solve(
        &mut self,
        call: &mut Option<(ProgramFunction, Call<'_>)>,
    ) -> Result<Solution, Box<Fault>> {
        let Some((program, call)) = call else {
            return Ok(self.solver.solve(&self.problem, &mut self.solution));
        };
        let mut fault = None;
        let mut ask = |given: &ConeProgram<'_>, x: &mut [f64]| {
            catch(&mut fault, || program.solve(call, given, |j| j, |i| i, x))
        };
        let outcome = self.solver.solve_by(&mut ask, &self.problem, &mut self.solution);
        fault.map_or(Ok(outcome), Err)
    }
}

#[cfg(test)]
mod tests;
