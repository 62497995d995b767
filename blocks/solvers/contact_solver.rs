//! What the solver blocks of the contact problem share: ports, warm starts, policies for failures.
//!
//! A solver block is a method and a policy. The method solves `ContactProblem`s, from a warm start
//! if it can. The policy says what happens when it does not solve; a policy `Fallback` hands the
//! problem to another solver block, whose own policy then rules.

mod method;
mod policy;
mod solver_block;

use legwork_block::{
    Block, Dim, Fault, Functions, In, Inputs, Out, Outcome, OutputCx, Ports, Sizes, Vector,
};
use legwork_qp::{
    CIRCULAR_SIDES, CircularPasses, Cone, ConeShape, ContactProblem, ContactProblemData,
    Outcome as Solution, Problem, PyramidFit, Status,
};

use crate::buses::ContactProblemBus;
use crate::contact::friction_cone::{cone_shape, is_inscribed};
use crate::solvers::state::{Policy, Solve, SolverMemo, SolverState, Verdict};
pub(crate) use method::{COLD, Cones, Given, Method, ProblemSize, SolverBlock, accepted};
pub(crate) use policy::OnFail;
pub(crate) use solver_block::{solver_block, solver_memory, solver_plan};

/// Ports of a solver block; `C` is what a block calls that solves by other means than a [`Method`].
pub struct SolverPlan<C = ()> {
    pub(crate) problem: In<ContactProblemBus>,
    pub(crate) forces: Out<Vector>,
    pub(crate) verdict: Verdict,
    /// Contacts.
    pub(crate) count: Dim,
    /// Velocities of the world.
    pub(crate) nv: Dim,
    pub(crate) policy: Policy,
    pub(crate) call: C,
}

impl<C> SolverPlan<C> {
    /// The dimensions that inference found.
    pub(crate) fn size(&self, sizes: &Sizes<'_>) -> ProblemSize {
        ProblemSize { contact_count: sizes.dim(&self.count), velocity_dim: sizes.dim(&self.nv) }
    }
}

/// Work memory of a solver block; `O` is that of a block which solves by other means than a
/// [`Method`].
pub struct SolverScratch<O = ()> {
    own: O,
    /// The block's own solver, if it has one, then its fallbacks.
    solvers: Vec<Solver>,
    /// The problem's cone, tabulated.
    cone: ConeShape,
    warm: Vec<f64>,
}

/// A solver with its memory.
struct Solver {
    method: Method,
    /// Solves circular cones by a method that has only pyramids.
    circular: Option<Circular>,
}

/// Memory of the passes that solve a circular cone by pyramids.
struct Circular {
    passes: CircularPasses,
    /// Warm start of the passes after the first; that of the first pass is kept for the next step.
    warm: Vec<f64>,
    /// J in the axes of a pass; empty if the method does not read it.
    jacobian: Vec<f64>,
}

impl Circular {
    fn new(cones: Cones, method: &Method, size: ProblemSize) -> Option<Self> {
        let Cones::Pyramids(law) = cones else { return None };
        let ProblemSize { contact_count, velocity_dim } = size;
        let rows = if method.uses_mass { 3 * contact_count } else { 0 };
        Some(Self {
            passes: CircularPasses::new(law, contact_count),
            warm: Vec::with_capacity(DEFAULT_WARM * contact_count),
            jacobian: vec![0.0; rows * velocity_dim],
        })
    }

    /// Solves by the method: from `guess`, the forces of the step before, if contacts slide in it,
    /// else from the method's warm start in the first pass.
    fn solve(
        &mut self,
        method: &mut Method,
        given: &Given<'_>,
        (start, guess): (&mut [f64], Option<&[f64]>),
        forces: &mut [f64],
    ) -> Result<Solution, Box<Fault>> {
        let Self { passes, warm, jacobian } = self;
        warm.clear();
        warm.extend_from_slice(start);
        let solved = passes.solve(&given.problem, forces, guess, |pass, forces| {
            if pass.directions.is_empty() {
                let found =
                    (method.solve)(&Given { problem: pass.problem, ..*given }, start, forces);
                warm.clear();
                warm.extend_from_slice(start);
                return found;
            }
            if method.uses_mass {
                jacobian.copy_from_slice(given.jacobian);
                let rows = 3 * pass.directions.len();
                for column in jacobian.chunks_exact_mut(rows) {
                    for (j, [c, s]) in column.chunks_exact_mut(3).zip(pass.directions) {
                        (j[0], j[1]) = (c * j[0] + s * j[1], c * j[1] - s * j[0]);
                    }
                }
            }
            let turned = Given { problem: pass.problem, jacobian, factor: given.factor };
            (method.solve)(&turned, warm, forces)
        });
        if passes.is_from_guess() {
            start.copy_from_slice(warm);
        }
        solved
    }
}

/// Inputs of a contact solver: problems of inferred sizes, with either cone.
pub(crate) struct Asked {
    pub(crate) problem: ContactProblemBus,
    pub(crate) count: Dim,
    pub(crate) nv: Dim,
}

impl Asked {
    /// Declares the problem with inferred sizes.
    pub(crate) fn new(ports: &mut Ports<'_>) -> Self {
        let (count, nv) = (ports.dim(), ports.dim());
        let cone = ports.any_argument();
        Self { problem: ContactProblemBus::new(&count, &nv, cone), count, nv }
    }
}

/// Numbers per contact in the largest warm start of the default pyramid.
pub(crate) const DEFAULT_WARM: usize = 5;

impl<O> SolverScratch<O> {
    /// Work memory of a block that asks `solvers` one after the other.
    pub(crate) fn new<'a>(
        own: O,
        solvers: impl Iterator<Item = &'a dyn SolverBlock>,
        size: ProblemSize,
    ) -> Self {
        let solver = |block: &dyn SolverBlock| {
            let method = block.solver(size);
            Solver { circular: Circular::new(block.cones(), &method, size), method }
        };
        Self {
            own,
            solvers: solvers.map(solver).collect(),
            cone: cone_shape(Cone::default()).unwrap_or_else(|_| ConeShape::circular()),
            warm: Vec::with_capacity(DEFAULT_WARM * size.contact_count),
        }
    }
}

/// A solver block and the fallbacks behind it, in the order in which they are asked.
pub(crate) fn chain(block: &dyn SolverBlock) -> impl Iterator<Item = &dyn SolverBlock> {
    std::iter::once(block).chain(block.on_fail().fallbacks())
}

/// Bytes that a block takes which asks `solvers` one after the other.
pub(crate) fn chain_memory<'a>(
    solvers: impl Iterator<Item = &'a dyn SolverBlock>,
    size: ProblemSize,
    sizes: &Sizes<'_>,
) -> u64 {
    let (rows, nv) = (3 * size.contact_count as u64, size.velocity_dim as u64);
    let passes = CircularPasses::numbers(size.contact_count as u64) + rows * nv;
    let numbers = |block: &dyn SolverBlock| match block.cones() {
        Cones::All => block.numbers(size),
        Cones::Pyramids(_) => block.numbers(size).saturating_add(passes),
    };
    let own: u64 = solvers.map(numbers).sum();
    own.saturating_add(sizes.numbers()).saturating_mul(size_of::<f64>() as u64)
}

/// The cone of a problem that came over a wire.
fn wire_cone(sides: usize, inscribed: bool) -> ConeShape {
    let fit = if inscribed { PyramidFit::Inscribed } else { PyramidFit::Circumscribed };
    ConeShape::new(Cone::Pyramid { sides, fit }).unwrap_or_else(|_| ConeShape::circular())
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
    let SolverScratch { own, solvers, cone, warm } = cx.scratch;
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
    let forces = cx.outputs.get(plan.forces);

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
        // The first method's warm start comes first; fallbacks start cold behind it.
        let own = if i == 0 { 0 } else { warm.len() };
        let Solver { method, circular } = solver;
        let circular = circular.as_mut().filter(|_| sides == 0);
        let solved_sides = if circular.is_some() { CIRCULAR_SIDES } else { sides };
        warm.resize(own + problem.contact_count() * (method.warm_len)(solved_sides), 0.0);
        if i == 0 && cx.state.warm().len() == warm.len() {
            warm.copy_from_slice(cx.state.warm());
        }
        solution = match circular {
            Some(circular) => {
                let guess = if i == 0 { cx.state.last() } else { None };
                circular.solve(method, &given, (&mut warm[own..], guess), forces)?
            }
            None => (method.solve)(&given, &mut warm[own..], forces)?,
        };
        if i == 0 {
            first = solution;
        } else {
            warm.truncate(own);
        }
    }
    let uses_mass = before == 0 && solvers[0].method.uses_mass;
    let mass = uses_mass.then_some((given.jacobian, given.factor));
    let solve = Solve { first, mass, ..Solve::new(cx.time, solution, forces, warm) };
    let data = || Problem::Contact(ContactProblemData::of(problem));
    plan.policy.conclude(cx.state, cx.memo, solve, data)?;
    plan.verdict.write(&solution, &mut cx.outputs);
    Ok(())
}

#[cfg(test)]
mod tests;
