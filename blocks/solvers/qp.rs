//! `Qp`: a quadratic program, for controllers.

use legwork_block::{
    Block, Dim, In, Invalid, Matrix, OptionalIn, Out, Outcome, OutputCx, Ports, Sizes, Vector,
};
use legwork_qp::{GeneralActiveSet, Problem as AnyProblem, Qp as Problem, QpData};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::solvers::plain_solver::{
    OnPlainFail, PlainMemo, PlainState, Policy, Solve, Verdict, plain_functions,
};
use crate::solvers::problem_dump::Dump;

/// Solves a quadratic program. `min ½ xᵀHx + gᵀx` subject to `lower ≤ A x ≤ upper` and
/// `x_lower ≤ x ≤ x_upper`.
///
/// | port | shape | meaning |
/// |---|---|---|
/// | in `H` | n × n | symmetric, positive semidefinite |
/// | in `g` | n | |
/// | in `A` | m × n | |
/// | in `lower`, `upper` | m | equal for an equality; infinite where there is no bound |
/// | in `x_lower`, `x_upper` | n, optional | bounds of the unknowns |
/// | out `x` | n | the solution |
/// | out `status` | | 0 solved, 1 inaccurate, else not: see [`solvers`](crate::solvers) |
/// | out `iterations` | | changes of the active set |
/// | out `residual` | | relative residual of the optimality conditions; infinite if there is none |
///
/// Dual active-set method of Goldfarb and Idnani, started from the active set of the last step. A
/// singular H is allowed. Computed whenever its inputs are: give the controller around it a period
/// (`every:`).
///
/// Reference: D. Goldfarb, A. Idnani, *A numerically stable dual method for solving strictly convex
/// quadratic programs* (1983).
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("x-aliases" = ["quadratic program", "whole-body QP"]))]
pub struct Qp {
    /// Most changes of the active set; default 0 means 40 + 10 × (unknowns + bounds) [1].
    pub iterations: u32,
    /// Start from an empty active set each time; default false.
    pub cold: bool,
    /// What to do when it does not solve: `Stop` (the default), `HoldLast(max: 5)`, `Zero`.
    pub on_fail: OnPlainFail,
    /// Which problems to keep for the files of a run: `Never`, `Failures(max: 1)` (the default),
    /// `Every(n: 100, max: 10)`.
    pub dump: Dump,
}

/// Ports of a [`Qp`].
pub struct Plan {
    hessian: In<Matrix>,
    gradient: In<Vector>,
    rows: In<Matrix>,
    lower: In<Vector>,
    upper: In<Vector>,
    x_lower: OptionalIn<Vector>,
    x_upper: OptionalIn<Vector>,
    x: Out<Vector>,
    verdict: Verdict,
    n: Dim,
    m: Dim,
}

/// Work memory of a [`Qp`].
pub struct Scratch {
    solver: GeneralActiveSet,
    sides: Vec<f64>,
}

impl Block for Qp {
    const KIND: &'static str = "Qp";
    type Plan = Plan;
    type State = PlainState;
    type Memo = PlainMemo;
    type Scratch = Scratch;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let (n, m) = (ports.dim(), ports.dim());
        let unknowns = Vector(n.clone());
        let bounds = Vector(m.clone());
        let hessian = ports.input("H", &Matrix(n.clone(), n.clone()));
        ports.note_in(hessian).doc("symmetric, positive semidefinite");
        let gradient = ports.input("g", &unknowns);
        let rows = ports.input("A", &Matrix(m.clone(), n.clone()));
        let lower = ports.input("lower", &bounds);
        let upper = ports.input("upper", &bounds);
        let x_lower = ports.optional_input("x_lower", &unknowns);
        let x_upper = ports.optional_input("x_upper", &unknowns);
        let x = ports.output("x", &unknowns);
        ports.note_out(x).doc("the solution");
        let verdict = Verdict::declare(ports, "changes of the active set");
        ports.updates();
        Ok(Plan { hessian, gradient, rows, lower, upper, x_lower, x_upper, x, verdict, n, m })
    }

    fn state(&self, plan: &Plan, sizes: &Sizes<'_>) -> PlainState {
        PlainState::new(sizes.dim(&plan.n), self.warm_len(plan, sizes))
    }

    fn scratch(&self, plan: &Plan, sizes: &Sizes<'_>) -> Scratch {
        let (n, m) = (sizes.dim(&plan.n), sizes.dim(&plan.m));
        let mut solver = GeneralActiveSet::new(n, m);
        solver.iteration_limit = self.iterations;
        Scratch { solver, sides: vec![0.0; self.warm_len(plan, sizes)] }
    }

    fn memo(&self, plan: &Plan, sizes: &Sizes<'_>) -> PlainMemo {
        PlainMemo::new(sizes.dim(&plan.n), self.warm_len(plan, sizes))
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let problem = Problem {
            hessian: cx.inputs.get(plan.hessian),
            gradient: cx.inputs.get(plan.gradient),
            rows: cx.inputs.get(plan.rows),
            row_lower: cx.inputs.get(plan.lower),
            row_upper: cx.inputs.get(plan.upper),
            lower: cx.inputs.optional(plan.x_lower).unwrap_or(&[]),
            upper: cx.inputs.optional(plan.x_upper).unwrap_or(&[]),
        };
        let Scratch { solver, sides } = cx.scratch;
        let x = cx.outputs.get(plan.x);
        let solution = if self.cold {
            solver.solve(&problem, x)
        } else {
            sides.copy_from_slice(cx.state.warm());
            solver.solve_warm(&problem, sides, x)
        };
        let solve = Solve { time: cx.time, solution, x, warm: sides };
        let data = || AnyProblem::Qp(QpData::of(&problem));
        self.policy().conclude(cx.state, cx.memo, solve, data)?;
        plan.verdict.write(&solution, &mut cx.outputs);
        Ok(())
    }

    plain_functions!();
}

impl Qp {
    fn policy(&self) -> Policy {
        let (on_fail, dump) = (self.on_fail, self.dump);
        Policy { block: Self::KIND, noun: "quadratic program", on_fail, dump }
    }

    /// Active sides, m rows and n bounds.
    fn warm_len(&self, plan: &Plan, sizes: &Sizes<'_>) -> usize {
        if self.cold { 0 } else { sizes.dim(&plan.m) + sizes.dim(&plan.n) }
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use serde_json::json;

    use super::*;
    use crate::testing::contacts::{Harness, block};

    fn harness(parameters: serde_json::Value) -> Harness {
        let ports = [
            ("H", Type::matrix(2, 2)),
            ("g", Type::vector(2)),
            ("A", Type::matrix(1, 2)),
            ("lower", Type::vector(1)),
            ("upper", Type::vector(1)),
        ];
        let mut rig = Harness::new(block::<Qp>(parameters), &ports).expect("planned");
        rig.set("H", &[1.0, 0.0, 0.0, 1.0]);
        rig.set("g", &[-1.0, -1.0]);
        rig.set("A", &[1.0, 1.0]);
        rig.set("lower", &[f64::NEG_INFINITY]);
        rig.set("upper", &[1.0]);
        rig
    }

    /// The projection of (1, 1) on `x₁ + x₂ ≤ 1` is (½, ½).
    #[test]
    fn a_projection_on_a_half_plane_and_what_failure_does() {
        let mut rig = harness(json!({ "on_fail": { "HoldLast": { "max": 1 } } }));
        rig.step(0.0).expect("solved");
        let solved = rig.value("x");
        assert!(solved.iter().all(|x| (x - 0.5).abs() < 1e-15), "{solved:?}");
        assert_eq!(rig.value("status"), [0.0]);
        // An empty interval.
        rig.set("lower", &[2.0]);
        rig.step(0.1).expect("held");
        assert_eq!((rig.value("x"), rig.value("status")), (solved, vec![3.0]));
        assert_eq!(rig.value("residual"), [f64::INFINITY]);
        let fault = rig.output(0.2).expect_err("held too long");
        assert!(fault.message.contains("held for 1 steps"), "{}", fault.message);
        let report = rig.report();
        // The one that stops the run counts.
        assert_eq!((report.solver_calls, report.solver_failures), (3, 2));
    }

    #[test]
    fn zero_and_stop_do_what_they_say() {
        let mut zero = harness(json!({ "on_fail": "Zero" }));
        zero.set("lower", &[2.0]);
        zero.step(0.0).expect("zero");
        assert_eq!(zero.value("x"), [0.0, 0.0]);
        let mut stop = harness(json!({}));
        stop.set("g", &[f64::NAN, 0.0]);
        assert!(stop.output(0.0).expect_err("a fault").message.contains("InvalidData"));
    }
}
