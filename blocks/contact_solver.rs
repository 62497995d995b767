//! What the solver blocks of the contact problem share: ports, warm starts, policies for failures.
//!
//! A solver block is a method and a policy. The method solves `ContactProblem`s, from a warm start
//! if it can. The policy says what happens when it does not solve; a policy `Fallback` hands the
//! problem to another solver block, whose own policy then rules. Warm start and last good forces
//! are declared state: minor steps and repeated solves of one step all start from what the last
//! step committed.

mod policy;

use legwork_block::{
    Block, Dim, Fault, Functions, In, Inputs, Int, Invalid, Out, Outcome, OutputCx, Ports, Real,
    Report, Sizes, UpdateCx, Vector,
};
use legwork_qp::{ConeShape, ContactProblem, ContactSolver, Outcome as Solution, Status};
use serde::{Deserialize, Serialize};

use crate::buses::ContactProblemBus;
use crate::friction_cone::FrictionCone;
use crate::gauss_contact::is_inscribed;
pub(crate) use policy::OnFail;
use policy::{LastResort, fail};

/// A method with its memory.
pub(crate) trait Method: Send {
    /// Name of the block that it belongs to.
    fn name(&self) -> &'static str;
    /// Whether it can hold forces in this cone.
    fn accepts(&self, cone: &ConeShape) -> bool;
    /// Length of its warm start.
    fn warm_len(&self, contact_count: usize, sides: usize) -> usize;
    /// Solves from the warm start `warm` and leaves the next one there.
    fn solve(
        &mut self,
        problem: &ContactProblem<'_>,
        warm: &mut [f64],
        forces: &mut [f64],
    ) -> Solution;
}

/// The parameters that every solver block has.
pub(crate) trait SolverBlock {
    /// The method with memory for `contact_count` contacts.
    fn method(&self, contact_count: usize) -> Box<dyn Method>;
    /// What to do when it does not solve.
    fn on_fail(&self) -> &OnFail;
    /// Whether to solve anew in minor steps.
    fn in_minor_steps(&self) -> bool;
}

/// A solver that always starts cold.
pub(crate) struct Cold<S> {
    pub(crate) name: &'static str,
    pub(crate) solver: S,
}

impl<S: ContactSolver + Send> Method for Cold<S> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn accepts(&self, cone: &ConeShape) -> bool {
        self.solver.accepts(cone)
    }

    fn warm_len(&self, _: usize, _: usize) -> usize {
        0
    }

    fn solve(
        &mut self,
        problem: &ContactProblem<'_>,
        _: &mut [f64],
        forces: &mut [f64],
    ) -> Solution {
        self.solver.solve(problem, forces)
    }
}

/// Ports of a solver block.
pub struct SolverPlan {
    pub(crate) problem: In<ContactProblemBus>,
    forces: Out<Vector>,
    status: Out<Int>,
    iterations: Out<Int>,
    residual: Out<Real>,
    /// Contacts.
    pub(crate) count: Dim,
    /// Velocities of the world.
    pub(crate) nv: Dim,
}

/// State of a solver block: what the next solve starts from, and counts for the report.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct SolverState {
    /// Last solved forces [N].
    forces: Vec<f64>,
    /// Whether there was a solved step.
    has_forces: bool,
    /// Warm start of the first method.
    warm: Vec<f64>,
    /// Failures since the last solved step.
    failures_in_a_row: u32,
    calls: u64,
    failures: u64,
    inaccurate: u64,
    fell_back: u64,
    held: u64,
    zeroed: u64,
    iterations: u64,
    worst_residual: f64,
}

/// How the forces of a step came about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Answer {
    #[default]
    Solved,
    FellBack,
    Held,
    Zeroed,
}

/// From `output` to `update`: the solution of this step.
#[derive(Debug, Clone, Default)]
pub struct SolverMemo {
    is_filled: bool,
    forces: Vec<f64>,
    warm: Vec<f64>,
    answer: Answer,
    is_inaccurate: bool,
    iterations: u32,
    residual: f64,
}

/// Work memory of a solver block; `O` is that of a block which solves by other means than a
/// [`Method`].
pub struct SolverScratch<O = ()> {
    own: O,
    /// The block's own method, if it has one, then its fallbacks.
    methods: Vec<Box<dyn Method>>,
    last_resort: LastResort,
    /// The problem's cone, tabulated.
    cone: ConeShape,
    warm: Vec<f64>,
}

/// Numbers per contact in the largest warm start of the default pyramid.
const DEFAULT_WARM: usize = 5;

pub(crate) fn plan(block: &dyn SolverBlock, ports: &mut Ports<'_>) -> Result<SolverPlan, Invalid> {
    Ok(declare(ports, block.in_minor_steps()))
}

/// Declares the ports and the rate of a solver block.
pub(crate) fn declare(ports: &mut Ports<'_>, in_minor_steps: bool) -> SolverPlan {
    let (count, nv) = (ports.dim(), ports.dim());
    let problem = ports.input("problem", &ContactProblemBus::new(&count, &nv));
    ports.note_in(problem).doc("contact problem");
    let forces = ports.output("f", &Vector(3 * count.clone()));
    ports.note_out(forces).unit("N").frame("contact").doc("contact forces on the robot");
    let status = ports.output("status", &Int);
    ports.note_out(status).doc(STATUS_DOC);
    let iterations = ports.output("iterations", &Int);
    ports.note_out(iterations).doc("iterations of the method");
    let residual = ports.output("residual", &Real);
    ports.note_out(residual).unit("1").doc("optimality residual relative to the force scale");
    ports.note_out(residual).may_be_infinite();
    ports.updates();
    if !in_minor_steps {
        ports.per_major();
    }
    SolverPlan { problem, forces, status, iterations, residual, count, nv }
}

pub(crate) fn state(plan: &SolverPlan, sizes: &Sizes<'_>) -> SolverState {
    SolverState { forces: vec![0.0; 3 * sizes.dim(&plan.count)], ..SolverState::default() }
}

pub(crate) fn memo(plan: &SolverPlan, sizes: &Sizes<'_>) -> SolverMemo {
    let count = sizes.dim(&plan.count);
    SolverMemo {
        forces: vec![0.0; 3 * count],
        warm: Vec::with_capacity(DEFAULT_WARM * count),
        ..SolverMemo::default()
    }
}

pub(crate) fn scratch(
    block: &dyn SolverBlock,
    plan: &SolverPlan,
    sizes: &Sizes<'_>,
) -> SolverScratch {
    let count = sizes.dim(&plan.count);
    scratch_with((), vec![block.method(count)], block.on_fail(), count)
}

/// Work memory for `count` contacts: the methods so far are followed by those that `policy` names.
pub(crate) fn scratch_with<O>(
    own: O,
    mut methods: Vec<Box<dyn Method>>,
    mut policy: &OnFail,
    count: usize,
) -> SolverScratch<O> {
    let last_resort = loop {
        match policy {
            OnFail::Stop => break LastResort::Stop,
            OnFail::HoldLast { max } => break LastResort::HoldLast(*max),
            OnFail::Zero => break LastResort::Zero,
            OnFail::Fallback(solver) => {
                methods.push(solver.block().method(count));
                policy = solver.block().on_fail();
            }
        }
    };
    SolverScratch {
        own,
        methods,
        last_resort,
        cone: FrictionCone::default().shape().unwrap_or_else(|_| ConeShape::circular()),
        warm: Vec::with_capacity(DEFAULT_WARM * count),
    }
}

/// The cone of a problem that came over a wire.
fn wire_cone(sides: usize, inscribed: bool) -> ConeShape {
    let fit = if inscribed {
        legwork_qp::PyramidFit::Inscribed
    } else {
        legwork_qp::PyramidFit::Circumscribed
    };
    let cone = legwork_qp::Cone::Pyramid { sides, fit };
    ConeShape::new(cone).unwrap_or_else(|_| ConeShape::circular())
}

/// What the output `status` says; the numbers are those of [`Status::code`].
pub(crate) const STATUS_DOC: &str = "0 solved, 1 inaccurate, 2 and above: not solved";

/// A residual as an output may carry it: infinite if there is none.
pub(crate) fn residual_output(residual: f64) -> f64 {
    if residual.is_nan() { f64::INFINITY } else { residual }
}

pub(crate) fn output<B>(plan: &SolverPlan, cx: &mut OutputCx<'_, B>) -> Outcome
where
    B: Block<State = SolverState, Memo = SolverMemo, Scratch = SolverScratch>,
{
    output_by(plan, cx, None)
}

/// How a block solves by other means than a method: own memory, inputs, functions, problem, forces
/// to write.
pub(crate) type Other<'a, O> = dyn Fn(
        &mut O,
        &Inputs<'_>,
        &mut Functions<'_>,
        &ContactProblem<'_>,
        &mut [f64],
    ) -> Result<Solution, Box<Fault>>
    + 'a;

/// Solves by `other` if it is given, then by the methods until one answers, then by the policy.
pub(crate) fn output_by<B, O>(
    plan: &SolverPlan,
    cx: &mut OutputCx<'_, B>,
    other: Option<&Other<'_, O>>,
) -> Outcome
where
    B: Block<State = SolverState, Memo = SolverMemo, Scratch = SolverScratch<O>>,
{
    let data = cx.inputs.get(plan.problem);
    let SolverScratch { own, methods, last_resort, cone, warm } = cx.scratch;
    if cone.sides() != data.sides || is_inscribed(cone) != (data.is_inscribed && data.sides > 0) {
        *cone = wire_cone(data.sides, data.is_inscribed);
    }
    let problem = ContactProblem {
        inverse_inertia: data.inverse_inertia,
        bias: data.bias,
        friction: data.friction,
        compliance: data.compliance,
        force_scale: data.force_scale,
        cone,
        active: data.active,
        // The block that assembled the problem regularised it.
        regularisation: 0.0,
    };
    let [forces, status, iterations, residual] = cx.outputs.leaves([
        plan.forces.leaf(0),
        plan.status.leaf(0),
        plan.iterations.leaf(0),
        plan.residual.leaf(0),
    ]);

    let mut answer = Answer::Solved;
    let mut solution = Solution { status: Status::InvalidData, iterations: 0, residual: f64::NAN };
    warm.clear();
    if let Some(other) = other {
        solution = other(own, &cx.inputs, &mut cx.functions, &problem, forces)?;
    }
    let first = usize::from(other.is_some());
    for (i, method) in (first..).zip(methods.iter_mut()) {
        if solution.status.is_usable() {
            break;
        }
        if !method.accepts(problem.cone) {
            return Err(Fault::new(format!(
                "{} needs a friction pyramid, the problem has the circular cone; write \
                 `cone: Pyramid(sides: 4)`, or take ClarabelQp or ProjectedGaussSeidel",
                method.name()
            )));
        }
        // The first method's warm start stands in front; fallbacks start cold behind it.
        let own = if i == 0 { 0 } else { warm.len() };
        warm.resize(own + method.warm_len(problem.contact_count(), data.sides), 0.0);
        if i == 0 && cx.state.warm.len() == warm.len() {
            warm.copy_from_slice(&cx.state.warm);
        }
        solution = method.solve(&problem, &mut warm[own..], forces);
        if own > 0 {
            warm.truncate(own);
        }
        if i > 0 && solution.status.is_usable() {
            answer = Answer::FellBack;
        }
    }
    if !solution.status.is_usable() {
        answer = fail(*last_resort, cx.state, &solution, forces)?;
    }
    status[0] = f64::from(solution.status.code());
    iterations[0] = f64::from(solution.iterations);
    residual[0] = residual_output(solution.residual);

    if !cx.time.minor {
        let memo = &mut *cx.memo;
        memo.is_filled = true;
        memo.forces.copy_from_slice(forces);
        memo.warm.clear();
        memo.warm.extend_from_slice(warm);
        memo.answer = answer;
        memo.is_inaccurate = solution.status == Status::Inaccurate;
        memo.iterations = solution.iterations;
        memo.residual = solution.residual;
    }
    Ok(())
}

pub(crate) fn clear_memo(memo: &mut SolverMemo) {
    memo.is_filled = false;
}

pub(crate) fn update<B, O>(cx: &mut UpdateCx<'_, B>)
where
    B: Block<State = SolverState, Memo = SolverMemo, Scratch = SolverScratch<O>>,
{
    let (state, memo) = (&mut *cx.state, cx.memo);
    if !memo.is_filled {
        return;
    }
    state.calls += 1;
    state.iterations += u64::from(memo.iterations);
    state.inaccurate += u64::from(memo.is_inaccurate);
    state.failures += u64::from(memo.answer != Answer::Solved);
    if memo.residual.is_finite() {
        state.worst_residual = state.worst_residual.max(memo.residual);
    }
    state.warm.clear();
    state.warm.extend_from_slice(&memo.warm);
    match memo.answer {
        Answer::Solved => {}
        Answer::FellBack => state.fell_back += 1,
        Answer::Held => state.held += 1,
        Answer::Zeroed => state.zeroed += 1,
    }
    match memo.answer {
        Answer::Solved | Answer::FellBack => {
            state.failures_in_a_row = 0;
            state.has_forces = true;
            state.forces.copy_from_slice(&memo.forces);
        }
        Answer::Held | Answer::Zeroed => state.failures_in_a_row += 1,
    }
}

pub(crate) fn report(state: &SolverState, report: &mut Report) {
    report.solver_calls += state.calls;
    report.solver_failures += state.failures;
    report.metric("worst_residual", state.worst_residual);
    if state.calls > 0 {
        report.metric("mean_iterations", state.iterations as f64 / state.calls as f64);
    }
    for (count, what) in [
        (state.inaccurate, "solved at reduced accuracy"),
        (state.fell_back, "handed to the fallback solver"),
        (state.held, "answered with the last forces"),
        (state.zeroed, "answered with zero force"),
    ] {
        if count > 0 {
            report.notes.push(format!("{count} of {} contact problems {what}", state.calls));
        }
    }
}

/// Implements [`Block`] for a [`SolverBlock`].
macro_rules! solver_block {
    ($block:ident) => {
        impl legwork_block::Block for $block {
            const KIND: &'static str = stringify!($block);
            type Plan = $crate::contact_solver::SolverPlan;
            type State = $crate::contact_solver::SolverState;
            type Memo = $crate::contact_solver::SolverMemo;
            type Scratch = $crate::contact_solver::SolverScratch;

            fn plan(
                &self,
                ports: &mut legwork_block::Ports<'_>,
            ) -> Result<Self::Plan, legwork_block::Invalid> {
                $crate::contact_solver::plan(self, ports)
            }

            fn state(&self, plan: &Self::Plan, sizes: &legwork_block::Sizes<'_>) -> Self::State {
                $crate::contact_solver::state(plan, sizes)
            }

            fn scratch(
                &self,
                plan: &Self::Plan,
                sizes: &legwork_block::Sizes<'_>,
            ) -> Self::Scratch {
                $crate::contact_solver::scratch(self, plan, sizes)
            }

            fn memo(&self, plan: &Self::Plan, sizes: &legwork_block::Sizes<'_>) -> Self::Memo {
                $crate::contact_solver::memo(plan, sizes)
            }

            fn clear_memo(&self, memo: &mut Self::Memo) {
                $crate::contact_solver::clear_memo(memo);
            }

            fn output(
                &self,
                plan: &Self::Plan,
                cx: &mut legwork_block::OutputCx<'_, Self>,
            ) -> legwork_block::Outcome {
                $crate::contact_solver::output(plan, cx)
            }

            fn update(
                &self,
                _: &Self::Plan,
                cx: &mut legwork_block::UpdateCx<'_, Self>,
            ) -> legwork_block::Outcome {
                $crate::contact_solver::update(cx);
                Ok(())
            }

            fn report(
                &self,
                _: &Self::Plan,
                state: &Self::State,
                report: &mut legwork_block::Report,
            ) {
                $crate::contact_solver::report(state, report);
            }
        }
    };
}
pub(crate) use solver_block;

#[cfg(test)]
mod tests;
