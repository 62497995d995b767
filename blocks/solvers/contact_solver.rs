//! What the solver blocks of the contact problem share: ports, warm starts, policies for failures.
//!
//! A solver block is a method and a policy. The method solves `ContactProblem`s, from a warm start
//! if it can. The policy says what happens when it does not solve; a policy `Fallback` hands the
//! problem to another solver block, whose own policy then rules. Warm start and last good forces
//! are declared state: minor steps and repeated solves of one step all start from what the last
//! step committed.

mod method;
mod policy;
mod solver_block;

use legwork_block::{
    Block, Dim, Fault, Functions, In, Inputs, Int, Out, Outcome, OutputCx, Ports, Real, Report,
    Sizes, Time, Vector,
};
use legwork_qp::{
    Cone, ConeShape, ContactProblem, ContactProblemData, Outcome as Solution, Problem, PyramidFit,
    Status,
};
use serde::{Deserialize, Serialize};

use crate::buses::ContactProblemBus;
use crate::contact::friction_cone::{cone_shape, is_inscribed};
use crate::solvers::on_fail::{OnFail as LastResort, Substitute};
use crate::solvers::problem_dump::{Dump, KeptProblem};
#[cfg(feature = "osqp")]
pub(crate) use method::accepted;
pub(crate) use method::{COLD, Given, Method, ProblemSize, SolverBlock};
pub(crate) use policy::OnFail;
pub(crate) use solver_block::{solver_block, solver_functions, solver_plan};

/// Ports of a solver block; `C` is what a block calls that solves by other means than a [`Method`].
pub struct SolverPlan<C = ()> {
    pub(crate) problem: In<ContactProblemBus>,
    pub(crate) forces: Out<Vector>,
    pub(crate) status: Out<Int>,
    pub(crate) iterations: Out<Int>,
    pub(crate) residual: Out<Real>,
    /// Contacts.
    pub(crate) count: Dim,
    /// Velocities of the world.
    pub(crate) nv: Dim,
    pub(crate) dump: Dump,
    pub(crate) call: C,
}

impl<C> SolverPlan<C> {
    /// The dimensions that inference found.
    pub(crate) fn size(&self, sizes: &Sizes<'_>) -> ProblemSize {
        ProblemSize { contact_count: sizes.dim(&self.count), velocity_dim: sizes.dim(&self.nv) }
    }
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
    problems: Vec<KeptProblem>,
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
    /// The run stops with this problem.
    has_stopped: bool,
    forces: Vec<f64>,
    warm: Vec<f64>,
    answer: Answer,
    is_inaccurate: bool,
    iterations: u32,
    residual: f64,
    problem: Option<KeptProblem>,
}

/// Work memory of a solver block; `O` is that of a block which solves by other means than a
/// [`Method`].
pub struct SolverScratch<O = ()> {
    own: O,
    /// The block's own solver, if it has one, then its fallbacks.
    solvers: Vec<Solver>,
    last_resort: LastResort,
    /// The problem's cone, tabulated.
    cone: ConeShape,
    warm: Vec<f64>,
}

/// A solver that is asked.
struct Solver {
    name: &'static str,
    accepts_circular: bool,
    method: Method,
}

/// What solvers are asked: problems of inferred sizes, with cones in which all of them can hold
/// forces.
pub(crate) struct Asked {
    pub(crate) problem: ContactProblemBus,
    pub(crate) count: Dim,
    pub(crate) nv: Dim,
    /// A solver that needs a pyramid.
    picky: Option<&'static str>,
}

impl Asked {
    /// What `solvers` are asked one after the other.
    pub(crate) fn by<'a>(
        ports: &mut Ports<'_>,
        mut solvers: impl Iterator<Item = &'a dyn SolverBlock>,
    ) -> Self {
        let (count, nv) = (ports.dim(), ports.dim());
        let picky = solvers.find(|block| !block.accepts_circular()).map(SolverBlock::name);
        let cone = match picky {
            Some(_) => ContactProblemBus::cone(true),
            None => ports.any_argument(),
        };
        Self { problem: ContactProblemBus::new(&count, &nv, cone), count, nv, picky }
    }

    /// Notes on the declared port what to do about another cone.
    pub(crate) fn note(&self, ports: &mut Ports<'_>, problem: In<ContactProblemBus>) {
        if let Some(name) = self.picky {
            ports.note_in(problem).argument_hint(&needs_pyramid(name));
        }
    }
}

/// Numbers per contact in the largest warm start of the default pyramid.
const DEFAULT_WARM: usize = 5;

impl SolverState {
    pub(crate) fn new(size: ProblemSize) -> Self {
        Self { forces: vec![0.0; 3 * size.contact_count], ..Self::default() }
    }
}

impl SolverMemo {
    pub(crate) fn new(size: ProblemSize) -> Self {
        Self {
            forces: vec![0.0; 3 * size.contact_count],
            warm: Vec::with_capacity(DEFAULT_WARM * size.contact_count),
            ..Self::default()
        }
    }

    pub(crate) fn clear(&mut self) {
        (self.is_filled, self.has_stopped) = (false, false);
        self.problem = None;
    }

    pub(crate) fn report(&self, report: &mut Report) {
        report.solver_calls += u64::from(self.has_stopped);
        report.solver_failures += u64::from(self.has_stopped);
        self.problem.iter().for_each(|problem| problem.report(report));
    }
}

impl<O> SolverScratch<O> {
    /// Work memory of a block that asks `solvers` one after the other and then its policy.
    pub(crate) fn new<'a>(
        own: O,
        solvers: impl Iterator<Item = &'a dyn SolverBlock>,
        on_fail: &OnFail,
        size: ProblemSize,
    ) -> Self {
        let solver = |block: &dyn SolverBlock| Solver {
            name: block.name(),
            accepts_circular: block.accepts_circular(),
            method: block.solver(size),
        };
        Self {
            own,
            solvers: solvers.map(solver).collect(),
            last_resort: on_fail.last_resort(),
            cone: cone_shape(Cone::default()).unwrap_or_else(|_| ConeShape::circular()),
            warm: Vec::with_capacity(DEFAULT_WARM * size.contact_count),
        }
    }
}

/// A solver block and the fallbacks behind it, in the order in which they are asked.
pub(crate) fn chain(block: &dyn SolverBlock) -> impl Iterator<Item = &dyn SolverBlock> {
    std::iter::once(block).chain(block.on_fail().fallbacks())
}

fn needs_pyramid(name: &str) -> String {
    format!(
        "{name} needs a friction pyramid: write `cone: Pyramid(sides: 4)` in the block that \
         assembles the problem, or take ClarabelQp, ProjectedGaussSeidel or AcceleratedGradient"
    )
}

/// The cone of a problem that came over a wire.
fn wire_cone(sides: usize, inscribed: bool) -> ConeShape {
    let fit = if inscribed { PyramidFit::Inscribed } else { PyramidFit::Circumscribed };
    ConeShape::new(Cone::Pyramid { sides, fit }).unwrap_or_else(|_| ConeShape::circular())
}

/// What the output `status` says; the numbers are those of [`Status::code`].
pub(crate) const STATUS_DOC: &str = "0 solved, 1 inaccurate, 2 and above: not solved";

/// A residual as an output may carry it: infinite if there is none.
pub(crate) fn residual_output(residual: f64) -> f64 {
    if residual.is_nan() { f64::INFINITY } else { residual }
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

/// Solves by `other` if it is given, then by the solvers until one answers, then by the policy.
pub(crate) fn output<B, O, C>(
    plan: &SolverPlan<C>,
    cx: &mut OutputCx<'_, B>,
    other: Option<&Other<'_, O>>,
) -> Outcome
where
    B: Block<State = SolverState, Memo = SolverMemo, Scratch = SolverScratch<O>>,
{
    let data = cx.inputs.get(plan.problem);
    let SolverScratch { own, solvers, last_resort, cone, warm } = cx.scratch;
    let sides = usize::try_from(data.sides).unwrap_or(0);
    if cone.sides() != sides || is_inscribed(cone) != (data.is_inscribed && sides > 0) {
        *cone = wire_cone(sides, data.is_inscribed);
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
    let given = Given { problem, jacobian: data.jacobian, factor: data.factor };
    let problem = &given.problem;
    let [forces, status, iterations, residual] = cx.outputs.leaves([
        plan.forces.leaf(0),
        plan.status.leaf(0),
        plan.iterations.leaf(0),
        plan.residual.leaf(0),
    ]);

    let mut answer = Answer::Solved;
    let mut solution = Solution { status: Status::InvalidData, iterations: 0, residual: f64::NAN };
    let mut first = solution;
    warm.clear();
    if let Some(other) = other {
        solution = other(own, &cx.inputs, &mut cx.functions, problem, forces)?;
        first = solution;
    }
    let before = usize::from(other.is_some());
    for (i, solver) in (before..).zip(solvers.iter_mut()) {
        if solution.status.is_usable() {
            break;
        }
        if !solver.accepts_circular && problem.cone.sides() == 0 {
            let what = "the problem on the wire has the circular cone that its type denies";
            return Err(Fault::new(format!("{what}; {}", needs_pyramid(solver.name))));
        }
        // The first method's warm start comes first; fallbacks start cold behind it.
        let own = if i == 0 { 0 } else { warm.len() };
        let method = &mut solver.method;
        warm.resize(own + problem.contact_count() * (method.warm_len)(sides), 0.0);
        if i == 0 && cx.state.warm.len() == warm.len() {
            warm.copy_from_slice(&cx.state.warm);
        }
        solution = (method.solve)(&given, &mut warm[own..], forces)?;
        if i == 0 {
            first = solution;
        } else {
            warm.truncate(own);
            if solution.status.is_usable() {
                answer = Answer::FellBack;
            }
        }
    }
    let failed = (!solution.status.is_usable())
        .then(|| {
            let what = "the contact problem was not solved";
            let SolverState { has_forces, failures_in_a_row, .. } = *cx.state;
            last_resort.substitute(what, &solution, has_forces, failures_in_a_row)
        })
        .transpose();
    // A minor step keeps nothing, unless it is the run's end.
    if !cx.time.minor || failed.is_err() {
        let is_failure = !first.status.is_usable();
        let is_kept = plan.dump.wants(is_failure, cx.state.calls, cx.state.problems.len());
        cx.memo.problem = is_kept.then(|| {
            // What the first method began with; nothing if it begins cold.
            let mut start = vec![0.0; warm.len()];
            if cx.state.warm.len() == warm.len() {
                start.copy_from_slice(&cx.state.warm);
            }
            let uses_mass = before == 0 && solvers[0].method.uses_mass;
            let mass = uses_mass.then_some((given.jacobian, given.factor));
            keep(cx.time, B::KIND, &first, problem, start, mass)
        });
    }
    cx.memo.has_stopped = failed.is_err();
    match failed? {
        Some(Substitute::Last) => {
            forces.copy_from_slice(&cx.state.forces);
            answer = Answer::Held;
        }
        Some(Substitute::Zero) => {
            forces.fill(0.0);
            answer = Answer::Zeroed;
        }
        None => {}
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

/// The problem as the first `solver` was given it, with what it began with, and J and the factor of
/// M if it solves by them.
fn keep(
    time: Time,
    solver: &str,
    solution: &Solution,
    problem: &ContactProblem<'_>,
    start: Vec<f64>,
    mass: Option<(&[f64], &[f64])>,
) -> KeptProblem {
    let mut extra = Vec::new();
    if !start.is_empty() {
        extra.push(("start", start));
    }
    if let Some((jacobian, factor)) = mass {
        extra.push(("jacobian", jacobian.to_vec()));
        extra.push(("factor", factor.to_vec()));
    }
    let problem = Problem::Contact(ContactProblemData::of(problem));
    KeptProblem::new(time, solver, solution, problem, extra)
}

impl SolverState {
    /// Commits what the step found.
    pub(crate) fn commit(&mut self, memo: &SolverMemo) {
        if !memo.is_filled {
            return;
        }
        self.calls += 1;
        self.iterations += u64::from(memo.iterations);
        self.inaccurate += u64::from(memo.is_inaccurate);
        self.failures += u64::from(memo.answer != Answer::Solved);
        if memo.residual.is_finite() {
            self.worst_residual = self.worst_residual.max(memo.residual);
        }
        self.warm.clear();
        self.warm.extend_from_slice(&memo.warm);
        self.problems.extend(memo.problem.clone());
        match memo.answer {
            Answer::Solved => {}
            Answer::FellBack => self.fell_back += 1,
            Answer::Held => self.held += 1,
            Answer::Zeroed => self.zeroed += 1,
        }
        match memo.answer {
            Answer::Solved | Answer::FellBack => {
                self.failures_in_a_row = 0;
                self.has_forces = true;
                self.forces.copy_from_slice(&memo.forces);
            }
            Answer::Held | Answer::Zeroed => self.failures_in_a_row += 1,
        }
    }

    pub(crate) fn report(&self, report: &mut Report) {
        report.solver_calls += self.calls;
        report.solver_failures += self.failures;
        self.problems.iter().for_each(|problem| problem.report(report));
        report.metric("worst_residual", self.worst_residual);
        if self.calls > 0 {
            report.metric("mean_iterations", self.iterations as f64 / self.calls as f64);
        }
        for (count, what) in [
            (self.inaccurate, "solved at reduced accuracy"),
            (self.fell_back, "handed to the fallback solver"),
            (self.held, "answered with the last forces"),
            (self.zeroed, "answered with zero force"),
        ] {
            if count > 0 {
                report.notes.push(format!("{count} of {} contact problems {what}", self.calls));
            }
        }
    }
}

#[cfg(test)]
mod tests;
