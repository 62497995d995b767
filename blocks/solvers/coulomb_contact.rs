//! `CoulombContact`: Coulomb's law of friction around any solver of the contact problem.

use legwork_block::{
    Argument, Block, Fault, Function, Functions, Inputs, Invalid, Outcome, OutputCx, Ports, Report,
    ResultOf, Sizes, UpdateCx, Vector,
};
use legwork_qp::{ContactProblem, CoulombIteration, Outcome as Solution, Status};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::buses::{ContactProblemBus, problem_leaf};
use crate::solvers::contact_solver::{
    self, OnFail, SolverMemo, SolverPlan, SolverScratch, SolverState,
};
use crate::solvers::problem_dump::Dump;

/// Solves the contact problem under Coulomb's law, by several convex problems. A solver of the
/// convex form is called several times per step (de Saxcé's fixed point).
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `problem` | `ContactProblem` | | with a cone that the function takes |
/// | out `f` | 3k | N | contact forces on the robot, contact axes |
/// | out `status` | | 1 | 0 solved, 2 passes used up, 6 invalid data |
/// | out `iterations` | | 1 | passes: calls of the solver |
/// | out `residual` | | 1 | residual of Coulomb's law over the force scale; infinite if unknown |
///
/// | function | type | meaning |
/// |---|---|---|
/// | `solve` | `fn(problem: ContactProblem) -> (f: Vector(3k))` | solves the convex problem |
///
/// The convex problem pairs a contact that slides at speed v with a normal velocity μ v: it is
/// thrown off the ground. Each pass adds `σ(a_t)`, which is `μ |a_t|` for the circular cone, to the
/// normal bias and solves again; at the fixed point a loaded contact has no normal velocity,
/// sliding or not. The distance shrinks by about μ²/(1+μ²) per pass; no proof covers many coupled
/// contacts, so `residual` is that of the law itself.
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
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("x-aliases" = ["de Saxcé", "friction"]))]
pub struct CoulombContact {
    /// Most passes of one step [1]; default 20.
    pub passes: u32,
    /// Residual of Coulomb's law at which to stop, relative to the force scale [1]; default 1e-6.
    pub tol: f64,
    /// What to do when the passes are used up: `Stop` (the default), `HoldLast(max: 5)`, `Zero`,
    /// `Fallback(ActiveSetQp())`, which answers with the convex law.
    pub on_fail: OnFail,
    /// Which problems to keep for the files of a run: `Never`, `Failures(max: 1)` (the default),
    /// `Every(n: 100, max: 10)`. They are those of Coulomb's law; the convex ones are the solver's.
    pub dump: Dump,
    /// Solve anew in minor steps; default false.
    pub in_minor_steps: bool,
}

impl Default for CoulombContact {
    fn default() -> Self {
        Self {
            passes: 20,
            tol: 1e-6,
            on_fail: OnFail::default(),
            dump: Dump::default(),
            in_minor_steps: false,
        }
    }
}

/// Ports and the function.
pub struct Plan {
    ports: SolverPlan,
    call: Call,
}

/// The function.
struct Call {
    solve: Function,
    problem: Argument<ContactProblemBus>,
    forces: ResultOf<Vector>,
}

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
        let mut call = functions.of(self.call.solve);
        call.copy(self.call.problem, inputs, self.ports.problem);
        iteration.solve(problem, forces, |convex, forces| {
            call.leaf(self.call.problem, problem_leaf::BIAS).copy_from_slice(convex.bias);
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
        let fallbacks = self.on_fail.fallbacks();
        let (plan, bus) = contact_solver::declare(ports, fallbacks, self.in_minor_steps, self.dump);
        let solve = ports.function("solve");
        let problem = ports.argument(solve, "problem", &bus);
        ports.note_argument(problem).doc("the problem with its normal bias corrected");
        let forces = ports.result(solve, "f", &Vector(3 * plan.count.clone()));
        ports.note_result(forces).unit("N").frame("contact").doc("forces of the convex problem");
        Ok(Plan { ports: plan, call: Call { solve, problem, forces } })
    }

    fn state(&self, plan: &Plan, sizes: &Sizes<'_>) -> SolverState {
        contact_solver::state(&plan.ports, sizes)
    }

    fn scratch(&self, plan: &Plan, sizes: &Sizes<'_>) -> Self::Scratch {
        let size = plan.ports.size(sizes);
        let iteration = CoulombIteration::new(size.contact_count, self.passes, self.tol);
        contact_solver::scratch_with(iteration, self.on_fail.fallbacks(), &self.on_fail, size)
    }

    fn memo(&self, plan: &Plan, sizes: &Sizes<'_>) -> SolverMemo {
        contact_solver::memo(&plan.ports, sizes)
    }

    fn clear_memo(&self, memo: &mut SolverMemo) {
        contact_solver::clear_memo(memo);
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let solve = |own: &mut _,
                     inputs: &Inputs<'_>,
                     functions: &mut Functions<'_>,
                     problem: &ContactProblem<'_>,
                     forces: &mut [f64]| {
            plan.solve(own, inputs, functions, problem, forces)
        };
        contact_solver::output_by(&plan.ports, cx, Some(&solve))
    }

    fn update(&self, _: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        contact_solver::update(cx);
        Ok(())
    }

    fn report(&self, _: &Plan, state: &SolverState, report: &mut Report) {
        contact_solver::report(state, report);
    }

    fn report_memo(&self, _: &Plan, memo: &SolverMemo, report: &mut Report) {
        contact_solver::report_memo(memo, report);
    }
}
