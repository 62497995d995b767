//! The solvers of the contact problem: one block for all methods of the table, and what it shares
//! with `CoulombContact`: warm starts, circular cones, policies for failures.
//!
//! A solver block is a method and a policy. The method solves `ContactProblem`s, from a warm start
//! if it can. The policy says what happens when it does not solve; a policy `Fallback` hands the
//! problem to another solver block, whose own policy then rules.

mod kinds;
mod policy;

use std::convert::Infallible;

use legwork_block::{
    Block, Dim, Fault, Functions, In, Inputs, Invalid, Out, Outcome, OutputCx, Ports, Sizes, Vector,
};
use legwork_mechanics::{MassFactorRef, PackedFactor};
use legwork_qp::complementarity::HalfInverseMass;
use legwork_qp::{
    BoxedMethod, Budget, CIRCULAR_SIDES, CircularPasses, Cone, ConeShape, Cones, ContactProblem,
    ContactProblemData, CoulombIteration, Given, MassView, Outcome as Solution, Pass, Problem,
    ProblemSize, PyramidFit, Settings, SlidingLaw, Status,
};

use crate::buses::ContactProblemBus;
use crate::contact::friction_cone::{cone_shape, is_inscribed};
use crate::solvers::state::{Policy, Solve, SolverMemo, SolverState, Verdict, solver_functions};
use kinds::{Common, Kind};
pub(crate) use kinds::{LIST, register, register_choices};
pub(crate) use policy::OnFail;

/// A solver of contact problems, by one of [`legwork_qp::METHODS`].
#[derive(Debug, Clone)]
pub struct ContactSolver {
    kind: &'static Kind,
    settings: Settings,
    common: Common,
}

impl ContactSolver {
    /// What to do when it does not solve.
    fn on_fail(&self) -> &OnFail {
        &self.common.on_fail
    }

    fn policy(&self) -> Policy {
        self.common.on_fail.policy(self.kind.method.kind, self.common.dump)
    }

    /// How many numbers it keeps for problems of this size.
    fn numbers(&self, size: ProblemSize) -> u64 {
        let count = size.contact_count as u64;
        let own = (self.kind.method.memory)(size).saturating_add(CoulombIteration::numbers(count));
        let (rows, nv) = (3 * count, size.velocity_dim as u64);
        match self.kind.method.cones {
            Cones::All => own,
            Cones::Pyramids => {
                let passes = CircularPasses::numbers(count) + rows * nv;
                own.saturating_add(passes)
            }
        }
    }
}

impl Block for ContactSolver {
    const KIND: &'static str = "ContactSolver";
    type Plan = SolverPlan;
    type State = SolverState;
    type Memo = SolverMemo;
    type Scratch = SolverScratch;

    fn kind(&self) -> &'static str {
        self.kind.method.kind
    }

    fn plan(&self, ports: &mut Ports<'_>) -> Result<SolverPlan, Invalid> {
        let asked = Asked::new(ports);
        let io = self.kind.declare(&self.common, ports, &asked);
        let verdict = Verdict::of(io.status, io.iterations, io.residual);
        let in_minor_steps = self.common.in_minor_steps;
        Ok(asked.plan(ports, in_minor_steps, (io.problem, io.f), verdict, self.policy(), ()))
    }

    fn state(&self, plan: &SolverPlan, sizes: &Sizes<'_>) -> SolverState {
        plan.state(sizes)
    }

    fn memo(&self, plan: &SolverPlan, sizes: &Sizes<'_>) -> SolverMemo {
        plan.memo(sizes)
    }

    fn scratch(&self, plan: &SolverPlan, sizes: &Sizes<'_>) -> SolverScratch {
        SolverScratch::new((), chain(self), plan.size(sizes))
    }

    fn memory(&self, plan: &SolverPlan, sizes: &Sizes<'_>) -> u64 {
        chain_memory(chain(self), plan.size(sizes), sizes)
    }

    fn output(&self, plan: &SolverPlan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        output(plan, cx, None)
    }

    solver_functions!();
}

/// Ports of a solver block; `C` is what a block calls that solves by other means than a method.
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
        let (contact_count, velocity_dim) = (sizes.dim(&self.count), sizes.dim(&self.nv));
        ProblemSize { contact_count, sides: CIRCULAR_SIDES, velocity_dim }
    }

    /// The state of every block with these ports.
    pub(crate) fn state(&self, sizes: &Sizes<'_>) -> SolverState {
        SolverState::new(3 * sizes.dim(&self.count), 0)
    }

    /// The memo of every block with these ports.
    pub(crate) fn memo(&self, sizes: &Sizes<'_>) -> SolverMemo {
        let count = sizes.dim(&self.count);
        SolverMemo::new(3 * count, DEFAULT_WARM * count)
    }
}

/// Work memory of a solver block; `O` is that of a block which solves by other means than a method.
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
    method: BoxedMethod,
    /// True if every solve starts cold.
    is_cold: bool,
    /// Reads the factor of M, for a method that uses it.
    tree: Option<PackedFactor>,
    /// Solves circular cones by a method that has only pyramids.
    circular: Option<Circular>,
    /// Solves Coulomb's law by a method of the convex law.
    coulomb: Option<CoulombIteration>,
    /// Forces from which a convex problem of Coulomb's law starts.
    guess: Vec<f64>,
}

/// Most convex problems for Coulomb's law in a step.
const PASSES: u32 = 100;
/// Residual of Coulomb's law at which they end, at which they may end, and up to which forces are
/// used [1].
const RESIDUALS: [f64; 3] = [1e-9, 1e-6, 1e-4];

impl Solver {
    fn new(block: &ContactSolver, size: ProblemSize) -> Self {
        let method = (block.kind.method.make)(size, &block.settings);
        let uses_mass = method.uses_mass();
        Self {
            method,
            is_cold: block.settings.is_cold(),
            tree: uses_mass.then(|| PackedFactor::new(size.velocity_dim)),
            circular: Circular::new(block, uses_mass, size),
            coulomb: (block.kind.method.law == SlidingLaw::Convex).then(|| {
                let mut coulomb = CoulombIteration::new(size.contact_count, PASSES, RESIDUALS[0]);
                coulomb.enough = RESIDUALS[1];
                // Pivoting would take tenths of a second, and memory.
                coulomb.budget.pairs = 0;
                coulomb
            }),
            guess: vec![0.0; 3 * size.contact_count],
        }
    }

    /// Length of the warm start for each contact.
    fn warm_len(&self, sides: usize) -> usize {
        if self.is_cold { 0 } else { self.method.warm_len(sides) }
    }

    /// Solves from `start`, or from `last`, the forces of the step before, if contacts slide.
    fn solve(
        &mut self,
        (problem, is_coulomb): (&ContactProblem<'_>, bool),
        (jacobian, factor): (&[f64], &[f64]),
        (start, last): (&mut [f64], Option<&[f64]>),
        forces: &mut [f64],
    ) -> Result<Solution, Box<Fault>> {
        let Self { method, tree, circular, coulomb, guess, .. } = self;
        let root = match tree {
            Some(tree) => {
                let factor = tree.read(factor).map_err(|error| Fault::new(error.to_string()))?;
                Some(RootOfInverse(factor))
            }
            None => None,
        };
        let mass = root.as_ref().map(|root| MassView { jacobian, root });
        let given = Given { problem: *problem, mass, budget: Budget::DEFAULT };
        let mut circular = circular.as_mut().filter(|_| problem.cone.sides() == 0);
        let is_coulomb = is_coulomb && coulomb.is_some();
        if let Some(circular) = &mut circular {
            let solved = circular.solve(method, (&given, is_coulomb), (start, last), forces);
            if let Some(solved) = solved {
                return Ok(solved);
            }
        }
        let mut convex = |given: &Given<'_>, last: Option<&[f64]>, forces: &mut [f64]| {
            let by_passes = circular
                .as_mut()
                .and_then(|circular| circular.solve(method, (given, false), (start, last), forces));
            by_passes.unwrap_or_else(|| method.solve_warm(given, start, forces))
        };
        let Some(coulomb) = coulomb.as_mut().filter(|_| is_coulomb) else {
            return Ok(convex(&given, last, forces));
        };
        let (mut iterations, mut passes) = (0u32, 0);
        let solved: Result<Solution, Infallible> =
            coulomb.solve(problem, forces, last, |problem, forces| {
                let given = Given { problem: *problem, ..given };
                // After the first pass the forces are those of the pass before.
                guess.copy_from_slice(forces);
                let from = if passes == 0 { last } else { Some(&guess[..]) };
                let found = convex(&given, from, forces);
                passes += 1;
                iterations = iterations.saturating_add(found.iterations);
                Ok(found)
            });
        let solved = solved.unwrap_or_else(|never| match never {});
        Ok(Solution { iterations, ..solved }.accepted(RESIDUALS[2]))
    }
}

/// The factor of M as the methods of `legwork-qp` use it: with `CᵀC = M`, `C⁻ᵀ` is a square root of
/// M⁻¹. It is here because `legwork-qp` knows no robot and `legwork-mechanics` no solver.
struct RootOfInverse<'a>(MassFactorRef<'a>);

impl HalfInverseMass for RootOfInverse<'_> {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn half_solve(&self, x: &mut [f64]) {
        self.0.half_solve_in_place(x);
    }
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
    fn new(block: &ContactSolver, uses_mass: bool, size: ProblemSize) -> Option<Self> {
        let ProblemSize { contact_count, velocity_dim, .. } = size;
        let rows = if uses_mass { 3 * contact_count } else { 0 };
        (block.kind.method.cones == Cones::Pyramids).then(|| Self {
            passes: CircularPasses::new(block.kind.method.law, contact_count),
            warm: Vec::with_capacity(DEFAULT_WARM * contact_count),
            jacobian: vec![0.0; rows * velocity_dim],
        })
    }

    /// Solves by the method: from `guess`, the forces of the step before, if contacts slide in it,
    /// else from the method's warm start in the first pass. `None` if the passes of Coulomb's law
    /// do not converge.
    fn solve(
        &mut self,
        method: &mut BoxedMethod,
        (given, is_coulomb): (&Given<'_>, bool),
        (start, guess): (&mut [f64], Option<&[f64]>),
        forces: &mut [f64],
    ) -> Option<Solution> {
        let Self { passes, warm, jacobian } = self;
        passes.budget = given.budget;
        warm.clear();
        warm.extend_from_slice(start);
        let pyramid = |pass: &Pass<'_>, forces: &mut [f64]| {
            if pass.directions.is_empty() {
                let first = Given { problem: pass.problem, ..*given };
                let found = method.solve_warm(&first, start, forces);
                warm.clear();
                warm.extend_from_slice(start);
                return Ok(found);
            }
            let mass = given.mass.map(|mass| {
                jacobian.copy_from_slice(mass.jacobian);
                let rows = 3 * pass.directions.len();
                for column in jacobian.chunks_exact_mut(rows) {
                    for (j, [c, s]) in column.chunks_exact_mut(3).zip(pass.directions) {
                        (j[0], j[1]) = (c * j[0] + s * j[1], c * j[1] - s * j[0]);
                    }
                }
                MassView { jacobian: &jacobian[..], ..mass }
            });
            let turned = Given { problem: pass.problem, mass, ..*given };
            Ok(method.solve_warm(&turned, warm, forces))
        };
        let solved: Result<_, Infallible> = match is_coulomb {
            true => passes.solve_coulomb(&given.problem, forces, guess, pyramid),
            false => passes.solve(&given.problem, forces, guess, pyramid).map(Some),
        };
        if passes.is_from_guess() {
            start.copy_from_slice(warm);
        }
        solved.unwrap_or_else(|never| match never {})
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

    /// The plan of a block with these inputs and the given ports.
    pub(crate) fn plan<C>(
        self,
        ports: &mut Ports<'_>,
        in_minor_steps: bool,
        (problem, forces): (In<ContactProblemBus>, Out<Vector>),
        verdict: Verdict,
        policy: Policy,
        call: C,
    ) -> SolverPlan<C> {
        ports.updates();
        if !in_minor_steps {
            ports.per_major();
        }
        SolverPlan { problem, forces, verdict, count: self.count, nv: self.nv, policy, call }
    }
}

/// Numbers per contact in the largest warm start of the default pyramid.
pub(crate) const DEFAULT_WARM: usize = 5;

impl<O> SolverScratch<O> {
    /// Work memory of a block that asks `solvers` one after the other.
    pub(crate) fn new<'a>(
        own: O,
        solvers: impl Iterator<Item = &'a ContactSolver>,
        size: ProblemSize,
    ) -> Self {
        Self {
            own,
            solvers: solvers.map(|block| Solver::new(block, size)).collect(),
            cone: cone_shape(Cone::default()).unwrap_or_else(|_| ConeShape::circular()),
            warm: Vec::with_capacity(DEFAULT_WARM * size.contact_count),
        }
    }
}

/// A solver block and the fallbacks behind it, in the order in which they are asked.
fn chain(block: &ContactSolver) -> impl Iterator<Item = &ContactSolver> {
    std::iter::once(block).chain(block.on_fail().fallbacks())
}

/// Bytes that a block takes which asks `solvers` one after the other.
pub(crate) fn chain_memory<'a>(
    solvers: impl Iterator<Item = &'a ContactSolver>,
    size: ProblemSize,
    sizes: &Sizes<'_>,
) -> u64 {
    let own: u64 = solvers.map(|block| block.numbers(size)).sum();
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
    let (problem, sides) = (&problem, cone.sides());
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
        let is_by_passes = sides == 0 && solver.circular.is_some();
        let solved_sides = if is_by_passes { CIRCULAR_SIDES } else { sides };
        warm.resize(own + problem.contact_count() * solver.warm_len(solved_sides), 0.0);
        if i == 0 && cx.state.warm().len() == warm.len() {
            warm.copy_from_slice(cx.state.warm());
        }
        let last = if i == 0 { cx.state.last() } else { None };
        let mass = (data.jacobian, data.factor);
        let law = (problem, data.is_coulomb);
        solution = solver.solve(law, mass, (&mut warm[own..], last), forces)?;
        if i == 0 {
            first = solution;
        } else {
            warm.truncate(own);
        }
    }
    let uses_mass = before == 0 && solvers[0].tree.is_some();
    let mass = uses_mass.then_some((data.jacobian, data.factor));
    let solve = Solve { first, mass, ..Solve::new(cx.time, solution, forces, warm) };
    let data = || Problem::Contact(ContactProblemData::of(problem));
    plan.policy.conclude(cx.state, cx.memo, solve, data)?;
    plan.verdict.write(&solution, &mut cx.outputs);
    Ok(())
}

#[cfg(test)]
mod tests;
