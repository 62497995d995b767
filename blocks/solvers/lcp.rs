//! `Lcp`: a linear complementarity problem.

use legwork_block::{
    Block, Dim, Int, Invalid, Matrix, Outcome, OutputCx, Ports, Real, Sizes, Vector, parameters,
    ports,
};
use legwork_linalg::axpy;
use legwork_qp::{
    Lcp as View, LcpData, Lemke, Outcome as Solution, PrincipalPivoting, Problem, Status,
};

use crate::solvers::on_fail::OnFail;
use crate::solvers::problem_dump::Dump;
use crate::solvers::state::{Policy, Solve, SolverMemo, SolverState, Verdict, solver_functions};

/// Solves the linear complementarity problem `w = M z + q`, `0 ≤ z ⟂ w ≥ 0`.
///
/// It starts from the set of positive z of the last step. Outside the classes that Lemke's method
/// decides a problem may end undecided: on a ray that proves nothing. Computed whenever its inputs
/// are: give the controller around it a period (`every:`).
///
/// References: C. E. Lemke, *Bimatrix equilibrium points and mathematical programming* (1965);
/// R. W. Cottle, J.-S. Pang, R. E. Stone, *The Linear Complementarity Problem* (1992), secs. 4.2,
/// 4.4.
#[ports(
    |n: &Dim|
    in  matrix("M"): Matrix::of(n, n), _,
        "any matrix; positive semidefinite ones are sure to be decided";
    in  vector("q"): Vector::of(n), _, "any vector";
    out z: Vector::of(n), _, "the solution; with a singular M one of them";
    out w: Vector::of(n), _, "`M z + q`; zero if the data are invalid";
    out status: Int, _, "0 solved, 1 inaccurate, else not: see [`solvers`](crate::solvers)";
    out iterations: Int, _, "pivots";
    out residual: Real, "1", "natural residual over the terms of each row; infinite if unknown",
        infinite;
)]
#[parameters(aliases("linear complementarity problem"))]
pub struct Lcp {
    /// `Lemke` (the default) or `PrincipalPivoting`.
    #[default]
    pub method: LcpMethod,
    /// Start from z = 0 each time.
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

/// How a linear complementarity problem is solved.
#[parameters]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum LcpMethod {
    /// Lemke's method, for matrices of many classes.
    #[default]
    Lemke,
    /// Principal pivoting, for symmetric positive semidefinite matrices; others go to Lemke's
    /// method.
    PrincipalPivoting,
}

/// Ports of an [`Lcp`].
pub struct Plan {
    io: LcpPorts,
    verdict: Verdict,
    n: Dim,
}

/// Work memory of an [`Lcp`].
pub struct Scratch {
    solver: Solver,
    flags: Vec<f64>,
}

enum Solver {
    Lemke(Box<Lemke>),
    PrincipalPivoting(Box<PrincipalPivoting>),
}

impl Solver {
    fn new(method: LcpMethod, n: usize) -> Self {
        match method {
            LcpMethod::Lemke => Self::Lemke(Box::new(Lemke::new(n))),
            LcpMethod::PrincipalPivoting => {
                Self::PrincipalPivoting(Box::new(PrincipalPivoting::new(n, n)))
            }
        }
    }

    /// Solves from the flags of the z that may be positive.
    fn solve(&mut self, lcp: &View<'_>, flags: &mut [f64], z: &mut [f64]) -> Solution {
        match self {
            Self::Lemke(solver) => solver.solve_warm(lcp, flags, z),
            Self::PrincipalPivoting(solver) => solver.solve_lcp(lcp, flags, z),
        }
    }
}

impl Block for Lcp {
    const KIND: &'static str = "Lcp";
    type Plan = Plan;
    type State = SolverState;
    type Memo = SolverMemo;
    type Scratch = Scratch;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let n = ports.dim();
        let io = self.declare(ports, &n);
        let verdict = Verdict::of(io.status, io.iterations, io.residual);
        ports.updates();
        Ok(Plan { io, verdict, n })
    }

    fn state(&self, plan: &Plan, sizes: &Sizes<'_>) -> SolverState {
        SolverState::new(sizes.dim(&plan.n), self.warm_len(plan, sizes))
    }

    fn scratch(&self, plan: &Plan, sizes: &Sizes<'_>) -> Scratch {
        let n = sizes.dim(&plan.n);
        Scratch { solver: Solver::new(self.method, n), flags: vec![0.0; n] }
    }

    /// The matrix, that of Lemke's method and its basis; principal pivoting has more beside them.
    fn memory(&self, plan: &Plan, sizes: &Sizes<'_>) -> u64 {
        let n = sizes.dim(&plan.n) as u64;
        let of_method = match self.method {
            LcpMethod::Lemke => 4 * n,
            LcpMethod::PrincipalPivoting => 16 * n,
        };
        let numbers = of_method.saturating_mul(n).saturating_add(sizes.numbers());
        numbers.saturating_mul(size_of::<f64>() as u64)
    }

    fn memo(&self, plan: &Plan, sizes: &Sizes<'_>) -> SolverMemo {
        SolverMemo::new(sizes.dim(&plan.n), self.warm_len(plan, sizes))
    }

    #[expect(clippy::expect_used, reason = "inference gives both their sizes")]
    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let (matrix, vector) = (cx.inputs.get(plan.io.matrix), cx.inputs.get(plan.io.vector));
        let [z, w] = cx.outputs.leaves([plan.io.z.leaf(0), plan.io.w.leaf(0)]);
        let lcp = View::new(matrix, vector).expect("inference gives M and q their sizes");
        let Scratch { solver, flags } = cx.scratch;
        flags.fill(0.0);
        if !self.cold {
            flags.copy_from_slice(cx.state.warm());
        }
        let solution = solver.solve(&lcp, flags, z);
        let warm: &[f64] = if self.cold { &[] } else { flags };
        let solve = Solve::new(cx.time, solution, &mut *z, warm);
        let data = || Problem::Lcp(LcpData { matrix: matrix.to_vec(), vector: vector.to_vec() });
        self.policy().conclude(cx.state, cx.memo, solve, data)?;
        write_slack(&lcp, z, solution.status, w);
        plan.verdict.write(&solution, &mut cx.outputs);
        Ok(())
    }

    solver_functions!();
}

impl Lcp {
    fn policy(&self) -> Policy {
        let (on_fail, dump) = (self.on_fail, self.dump);
        Policy { block: Self::KIND, noun: "linear complementarity problem", on_fail, dump }
    }

    /// A flag for each z.
    fn warm_len(&self, plan: &Plan, sizes: &Sizes<'_>) -> usize {
        if self.cold { 0 } else { sizes.dim(&plan.n) }
    }
}

/// `w = M z + q`, or zero where M and q are no numbers.
fn write_slack(lcp: &View<'_>, z: &[f64], status: Status, w: &mut [f64]) {
    if status == Status::InvalidData {
        w.fill(0.0);
        return;
    }
    w.copy_from_slice(lcp.vector());
    for (column, &z) in lcp.matrix().chunks_exact(z.len().max(1)).zip(z) {
        axpy(z, column, w);
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use legwork_qp::problem_file;
    use serde_json::json;

    use super::*;
    use crate::testing::contacts::{Harness, block};

    const METHODS: [&str; 2] = ["Lemke", "PrincipalPivoting"];

    fn harness(parameters: serde_json::Value, matrix: &[f64], vector: &[f64]) -> Harness {
        let n = vector.len();
        let ports = [("M", Type::matrix(n, n)), ("q", Type::vector(n))];
        let mut rig = Harness::new(block::<Lcp>(parameters), &ports).expect("planned");
        rig.set("M", matrix);
        rig.set("q", vector);
        rig
    }

    /// The solution with z = (1, 0): `2·1 - 2 = 0`, `1·1 + 1 = 2`.
    #[test]
    fn a_problem_of_two_pairs_has_its_solution_and_warms_up() {
        let near = |found: &[f64], expected: &[f64]| {
            found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 4.0 * f64::EPSILON)
        };
        for method in METHODS {
            let mut rig = harness(json!({ "method": method }), &[2.0, 1.0, 1.0, 2.0], &[-2.0, 1.0]);
            rig.step(0.0).expect("solved");
            assert!(near(&rig.value("z"), &[1.0, 0.0]), "{method}: {:?}", rig.value("z"));
            assert!(near(&rig.value("w"), &[0.0, 2.0]), "{method}: {:?}", rig.value("w"));
            assert!(rig.value("iterations")[0] > 0.0, "{method}");
            let saved = rig.save();
            rig.step(0.1).expect("solved");
            assert!(near(&rig.value("z"), &[1.0, 0.0]), "{method}: {:?}", rig.value("z"));
            assert_eq!(rig.value("iterations"), [0.0], "{method}");
            rig.restore(&*saved);
            rig.step(0.1).expect("solved");
            assert_eq!(rig.value("iterations"), [0.0], "{method}: the start is state");
            assert_eq!((rig.report().solver_calls, rig.report().solver_failures), (2, 0));
        }
    }

    #[test]
    fn infeasible_undecided_and_invalid_are_statuses() {
        for method in METHODS {
            let policy = json!({ "method": method, "on_fail": "Zero" });
            // w = -1 whatever z is.
            let mut rig = harness(policy.clone(), &[0.0], &[-1.0]);
            rig.step(0.0).expect("zero");
            assert_eq!((rig.value("status"), rig.value("w")), (vec![3.0], vec![-1.0]), "{method}");
            rig.set("q", &[f64::NAN]);
            rig.step(0.1).expect("zero");
            assert_eq!((rig.value("status"), rig.value("w")), (vec![6.0], vec![0.0]), "{method}");
            assert_eq!(rig.value("residual"), [f64::INFINITY]);
            // `w₁ = z₂ - 1`, `w₂ = -z₁`: feasible at z = (0, 1), but not complementary there.
            let mut rig = harness(policy, &[0.0, -1.0, 1.0, 0.0], &[-1.0, 0.0]);
            rig.step(0.0).expect("an answer");
            assert!(rig.value("status")[0] < 2.0, "{method}: skew matrices are semidefinite");
            let notes = rig.report().notes;
            assert!(notes.is_empty(), "{notes:?}");
        }
    }

    #[test]
    fn policies_do_what_they_say() {
        let hold = json!({ "on_fail": { "HoldLast": { "max": 1 } } });
        let mut rig = harness(hold, &[1.0], &[-2.0]);
        rig.step(0.0).expect("solved");
        rig.set("M", &[0.0]);
        rig.step(0.1).expect("held");
        assert_eq!((rig.value("z"), rig.value("w")), (vec![2.0], vec![-2.0]));
        let fault = rig.output(0.2).expect_err("held too long");
        assert!(fault.message.contains("held for 1 steps"), "{}", fault.message);
        let report = rig.report();
        let note = "1 of 2 linear complementarity problems were answered with the last solution";
        assert_eq!(report.notes, [note]);
        assert_eq!(report.files[0].0, "100.json");
    }

    #[test]
    fn a_kept_problem_solved_again_has_the_same_solution_bit_for_bit() {
        for method in METHODS {
            let dump = json!({ "method": method, "dump": { "Every": { "n": 1, "max": 2 } } });
            let mut rig = harness(dump, &[3.0, 1.0, 1.0, 2.0], &[-1.0, -0.7]);
            rig.step(0.0).expect("solved");
            rig.set("q", &[-1.1, -0.3]);
            rig.step(0.001).expect("solved");
            let files = rig.report().files;
            assert_eq!(files.len(), 2);
            let text = String::from_utf8(files[1].1.clone()).expect("text");
            let named = problem_file::read(&text).expect("a problem");
            let Problem::Lcp(data) = &named.problem else { panic!("a complementarity problem") };
            let mut start = named.extra["start"].clone();
            assert_eq!(start, [1.0, 1.0]);
            let lcp = View::new(&data.matrix, &data.vector).expect("a problem");
            let mut z = vec![0.0; 2];
            let kind = block::<Lcp>(json!({ "method": method })).method;
            let _ = Solver::new(kind, 2).solve(&lcp, &mut start, &mut z);
            assert_eq!(z, rig.value("z"), "{method}");
        }
    }
}
