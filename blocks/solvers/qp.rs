//! `Qp`: a quadratic program, for controllers.

use legwork_block::{
    Block, Dim, Int, Invalid, Matrix, Outcome, OutputCx, Ports, Real, Sizes, Vector, parameters,
    ports,
};
use legwork_qp::{GeneralActiveSet, Problem as AnyProblem, Qp as Problem, QpData};

use crate::solvers::on_fail::OnFail;
use crate::solvers::problem_dump::Dump;
use crate::solvers::state::{Policy, Solve, SolverMemo, SolverState, Verdict, solver_functions};

/// Solves a quadratic program. `min ½ xᵀHx + gᵀx` subject to `lower ≤ A x ≤ upper` and
/// `x_lower ≤ x ≤ x_upper`.
///
/// Dual active-set method of Goldfarb and Idnani, started from the active set of the last step. A
/// singular H is allowed. Computed whenever its inputs are: give the controller around it a period
/// (`every:`).
///
/// Reference: D. Goldfarb, A. Idnani, *A numerically stable dual method for solving strictly convex
/// quadratic programs* (1983).
#[ports(
    |n: &Dim, m: &Dim|
    in  hessian("H"): Matrix::of(n, n), _, "symmetric (both triangles), positive semidefinite";
    in  gradient("g"): Vector::of(n), _, "the linear term";
    in  rows("A"): Matrix::of(m, n), _, "the linear rows";
    in  lower: Vector::of(m), _,
        "equal to `upper` for an equality; infinite, or at least 1e20 in size, where there \
         is no bound";
    in  upper: Vector::of(m), _, "of the rows, as `lower`";
    in  x_lower?: Vector::of(n), _, "bounds of the unknowns";
    in  x_upper?: Vector::of(n), _, "bounds of the unknowns";
    out x: Vector::of(n), _, "the solution";
    out status: Int, _, "0 solved, 1 inaccurate, else not: see [`solvers`](crate::solvers)";
    out iterations: Int, _, "changes of the active set";
    out residual: Real, "1",
        "relative residual of the optimality conditions; infinite if there is none",
        infinite;
)]
#[parameters(aliases("quadratic program", "whole-body QP"))]
pub struct Qp {
    /// Most changes of the active set; 0 means 40 + 10 × (unknowns + bounds) [1].
    #[default]
    pub iterations: u32,
    /// Start from an empty active set each time.
    #[default]
    pub cold: bool,
    /// What to do when it does not solve: `Stop` (the default), `HoldLast(max: 5)`, `Zero`.
    #[default]
    pub on_fail: OnFail,
    /// Which problems to keep for the files of a run: `Never`, `Failures(max: 1)` (the default),
    /// `Every(n: 100, max: 10)`.
    #[default]
    pub dump: Dump,
}

/// Ports of a [`Qp`].
pub struct Plan {
    io: QpPorts,
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
    type State = SolverState;
    type Memo = SolverMemo;
    type Scratch = Scratch;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let (n, m) = (ports.dim(), ports.dim());
        let io = self.declare(ports, &n, &m);
        let verdict = Verdict::of(io.status, io.iterations, io.residual);
        ports.updates();
        Ok(Plan { io, verdict, n, m })
    }

    fn state(&self, plan: &Plan, sizes: &Sizes<'_>) -> SolverState {
        SolverState::new(sizes.dim(&plan.n), self.warm_len(plan, sizes))
    }

    fn scratch(&self, plan: &Plan, sizes: &Sizes<'_>) -> Scratch {
        let (n, m) = (sizes.dim(&plan.n), sizes.dim(&plan.m));
        let mut solver = GeneralActiveSet::new(n, m);
        solver.iteration_limit = self.iterations;
        Scratch { solver, sides: vec![0.0; self.warm_len(plan, sizes)] }
    }

    /// H, its factor, the active rows and theirs.
    fn memory(&self, plan: &Plan, sizes: &Sizes<'_>) -> u64 {
        let (n, m) = (sizes.dim(&plan.n) as u64, sizes.dim(&plan.m) as u64);
        let numbers = (6 * n).saturating_mul(n).saturating_add(3 * n * m);
        numbers.saturating_add(sizes.numbers()).saturating_mul(size_of::<f64>() as u64)
    }

    fn memo(&self, plan: &Plan, sizes: &Sizes<'_>) -> SolverMemo {
        SolverMemo::new(sizes.dim(&plan.n), self.warm_len(plan, sizes))
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let io = &plan.io;
        let problem = Problem {
            hessian: cx.inputs.get(io.hessian),
            gradient: cx.inputs.get(io.gradient),
            rows: cx.inputs.get(io.rows),
            row_lower: cx.inputs.get(io.lower),
            row_upper: cx.inputs.get(io.upper),
            lower: cx.inputs.optional(io.x_lower).unwrap_or(&[]),
            upper: cx.inputs.optional(io.x_upper).unwrap_or(&[]),
        };
        let Scratch { solver, sides } = cx.scratch;
        let x = cx.outputs.get(io.x);
        let solution = if self.cold {
            solver.solve(&problem, x)
        } else {
            sides.copy_from_slice(cx.state.warm());
            solver.solve_warm(&problem, sides, x)
        };
        let solve = Solve::new(cx.time, solution, x, sides);
        let data = || AnyProblem::Qp(QpData::of(&problem));
        self.policy().conclude(cx.state, cx.memo, solve, data)?;
        plan.verdict.write(&solution, &mut cx.outputs);
        Ok(())
    }

    solver_functions!();
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

    /// A matrix given by one triangle, and a matrix that is not convex: the message names the
    /// cause, and the metric differs from that of a run without faults.
    #[test]
    fn a_wrong_hessian_is_named_and_its_residual_is_not_zero() {
        for (hessian, cause, code) in [
            ([2.0, 0.0, 2.0, 2.0], "not symmetric", 9.0),
            ([2.0, 2.0, 0.0, 2.0], "not symmetric", 9.0),
            ([1.0, 0.0, 1e-3, 1.0], "not symmetric", 9.0),
            ([1.0, 0.0, 0.0, -1.0], "not positive semidefinite", 10.0),
            ([0.0, 1.0, 1.0, 0.0], "not positive semidefinite", 10.0),
            ([1e6, 2e3, 2e3, 1.0], "not positive semidefinite", 10.0),
        ] {
            let mut stop = harness(json!({}));
            stop.set("H", &hessian);
            let message = stop.output(0.0).expect_err("a fault").message;
            assert!(message.contains(cause), "{message}");
            assert_eq!(stop.report().value_of("worst_residual"), Some(f64::INFINITY));
            let mut zero = harness(json!({ "on_fail": "Zero" }));
            zero.set("H", &hessian);
            zero.step(0.0).expect("zero");
            assert_eq!(zero.value("status"), [code]);
            assert_eq!(zero.report().value_of("worst_residual"), Some(f64::INFINITY));
        }
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
