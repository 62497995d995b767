//! `CoulombContact`: Coulomb's law of friction around any solver of the contact problem.

use legwork_block::quantity::{Dimensionless, Share};
use legwork_block::{
    Block, Fault, Functions, Inputs, Int, Invalid, Outcome, OutputCx, Ports, Real, Sizes, Vector,
    parameters, ports,
};
use legwork_qp::{Budget, ContactProblem, CoulombIteration, Outcome as Solution, Status};

use crate::buses::ContactProblemBus;
use crate::solvers::called::ContactFunction;
use crate::solvers::contact_solver::{
    self, Asked, OnFail, SolverPlan, SolverScratch, chain_memory,
};
use crate::solvers::problem_dump::Dump;
use crate::solvers::state::{Policy, SolverMemo, SolverState, Verdict, solver_functions};

/// Solves the contact problem under Coulomb's law, by several convex problems. A solver of the
/// convex form is called several times per step (de Saxcé's fixed point).
///
/// | function | type | meaning |
/// |---|---|---|
/// | `solve` | `fn(problem: ContactProblem) -> (f: Vector(3k))` | solves the convex problem |
///
/// The convex problem pairs a contact that slides at speed v with a normal velocity μ v: it is
/// thrown off the ground. Each pass adds `σ(a_t)`, which is `μ |a_t|` for the circular cone, to the
/// normal bias and solves again; at the fixed point a loaded contact has no normal velocity,
/// sliding or not. The distance shrinks by about μ²/(1+μ²) per pass; no proof covers many coupled
/// contacts, so `residual` is that of the law itself. If the passes of a problem with up to 40
/// contacts are used up, `StewartTrinkle`'s method gives the answer if its residual is smaller.
///
/// At the defaults, of 45 000 solves in 15 scenes none has a residual above 1e-4 and 7 have one
/// above 1e-6 (the worst 2e-5): iCub, and Mini Cheetah on four and on three legs, stand, on ice
/// too, are pushed until they slide or step, and drop from 10 cm.
///
/// Any solver block fits: `needs: { "solve": Use("qp") }`. All its calls of a step start from what
/// the last step left it, and its own `on_fail` answers for it. `on_fail` here is asked when the
/// passes are used up.
///
/// Computed at major steps and held between them, unless `in_minor_steps`.
///
/// References: G. de Saxcé, Z.-Q. Feng, *The bipotential method* (1998); V. Acary, F. Cadoux et
/// al., *A formulation of the linear discrete Coulomb friction problem via convex optimization*
/// (2011).
#[ports(
    |asked: &Asked|
    in  problem: asked.problem.clone() as ContactProblemBus, _,
        "with a cone that the function takes";
    out f: Vector::of(3 * asked.count.clone()), "N",
        "contact forces on the robot, contact axes", frame "contact", shape "3k";
    out status: Int, _, "0 solved, 1 passes used up, 2 far from the law, 6 invalid data";
    out iterations: Int, _, "passes: calls of the solver";
    out residual: Real, "1",
        "residual of Coulomb's law over the force scale; infinite if unknown", infinite;
)]
#[parameters(aliases("de Saxcé", "friction"))]
pub struct CoulombContact {
    /// Most passes of one step [1].
    #[default = 200]
    pub passes: u32,
    /// Residual of Coulomb's law at which to stop, relative to the force scale [1].
    #[default = 1e-6]
    pub tol: f64,
    /// Residual up to which forces are used after the last pass, relative to the force scale [1].
    /// Such solves are counted as of reduced accuracy.
    #[default = 1e-4]
    pub accept: Share<Dimensionless>,
    /// What to do when the passes are used up and the residual is beyond `accept`: `Stop` (the
    /// default), `HoldLast(max: 5)`, `Zero`, `Fallback(ActiveSetQp())`, which answers with the
    /// convex law.
    #[default]
    pub on_fail: OnFail,
    /// Which problems to keep for the files of a run: `Never`, `Failures(max: 1)` (the default),
    /// `Every(n: 100, max: 10)`. They are those of Coulomb's law; the convex ones are the solver's.
    #[default]
    pub dump: Dump,
    /// Solve anew in minor steps.
    #[default]
    pub in_minor_steps: bool,
}

/// Ports and the function.
type Plan = SolverPlan<ContactFunction>;

impl Plan {
    /// Iterates, each pass one call with another bias.
    fn solve(
        &self,
        iteration: &mut CoulombIteration,
        inputs: &Inputs<'_>,
        functions: &mut Functions<'_>,
        problem: &ContactProblem<'_>,
        forces: &mut [f64],
    ) -> Result<Solution, Box<Fault>> {
        let mut call = functions.of(self.call.function);
        call.copy(self.call.problem, inputs, self.problem);
        call.leaf(self.call.problem, ContactProblemBus::IS_COULOMB)[0] = 0.0;
        iteration.solve(problem, forces, None, |convex, forces| {
            call.leaf(self.call.problem, ContactProblemBus::BIAS).copy_from_slice(convex.bias);
            forces.copy_from_slice(call.run()?.get(self.call.forces));
            // What the solver cannot solve, its own policy answers.
            Ok(Solution { status: Status::Solved, iterations: 0, residual: 0.0 })
        })
    }
}

impl Block for CoulombContact {
    const KIND: &'static str = "CoulombContact";
    type Plan = Plan;
    type State = SolverState;
    type Memo = SolverMemo;
    type Scratch = SolverScratch<CoulombIteration>;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        if !(self.tol >= 0.0 && self.tol.is_finite()) {
            let message = format!("expected a residual of zero or more, found {}", self.tol);
            return Err(Invalid::parameter("tol", message));
        }
        // The cone is one on the wire and in the call, so it is one that the function takes.
        let asked = Asked::new(ports);
        let io = self.declare(ports, &asked);
        let solve = ports.function("solve");
        let call = ContactFunction::declare(ports, solve, &asked.problem, &asked.count);
        ports.note_argument(call.problem).doc("the problem with its normal bias corrected");
        ports.note_result(call.forces).unit("N").doc("forces of the convex problem");
        let verdict = Verdict::of(io.status, io.iterations, io.residual);
        let (in_minor_steps, policy) = (self.in_minor_steps, self.policy());
        Ok(asked.plan(ports, in_minor_steps, (io.problem, io.f), verdict, policy, call))
    }

    fn scratch(&self, plan: &Plan, sizes: &Sizes<'_>) -> Self::Scratch {
        let size = plan.size(sizes);
        let iteration = CoulombIteration::new(size.contact_count, self.passes, self.tol);
        SolverScratch::new(iteration, self.on_fail.fallbacks(), size)
    }

    fn memory(&self, plan: &Plan, sizes: &Sizes<'_>) -> u64 {
        let own = sizes.numbers().saturating_mul(2 * size_of::<f64>() as u64);
        let own = own.saturating_add(Budget::DEFAULT.pivoted_bytes());
        own.saturating_add(chain_memory(self.on_fail.fallbacks(), plan.size(sizes), sizes))
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let solve = |own: &mut _,
                     inputs: &Inputs<'_>,
                     functions: &mut Functions<'_>,
                     problem: &ContactProblem<'_>,
                     forces: &mut [f64]| {
            let solution = plan.solve(own, inputs, functions, problem, forces)?;
            Ok(solution.accepted(self.accept.value()))
        };
        contact_solver::output(plan, cx, Some(&solve))
    }

    fn state(&self, plan: &Plan, sizes: &Sizes<'_>) -> SolverState {
        plan.state(sizes)
    }

    fn memo(&self, plan: &Plan, sizes: &Sizes<'_>) -> SolverMemo {
        plan.memo(sizes)
    }

    solver_functions!();
}

impl CoulombContact {
    fn policy(&self) -> Policy {
        self.on_fail.policy(Self::KIND, self.dump)
    }
}
