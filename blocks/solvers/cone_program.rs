//! `ConeProgram`: a quadratic program with second-order cones, for controllers.

use legwork_block::{
    Block, Dim, Int, Invalid, Matrix, Outcome, OutputCx, Ports, Real, Sizes, Vector, parameters,
    ports,
};
use legwork_qp::{
    ClarabelSolver, ConeProgram as Program, ConeProgramData, Problem, Qp as Linear, QpData,
};

use crate::solvers::on_fail::OnFail;
use crate::solvers::problem_dump::Dump;
use crate::solvers::state::{Policy, Solve, SolverMemo, SolverState, Verdict, solver_functions};

/// Solves a quadratic program with second-order cone constraints. `min ½ xᵀHx + gᵀx` subject to
/// `C_j x + c_j ∈ Q` for every cone j, `lower ≤ A x ≤ upper` and `x_lower ≤ x ≤ x_upper`, with the
/// second-order cones `Q = { t : t_0 ≥ |(t_1, …)| }`.
///
/// A friction cone `|f_t| ≤ μ f_n` is the block of three rows `(μ f_n, f_t)`. Without cones it is a
/// quadratic program as that of [`Qp`](crate::Qp). The interior-point method Clarabel, which starts
/// cold and allocates in each solve, so there is no warm start to
/// keep. Computed whenever its inputs are: give the controller around it a period (`every:`).
///
/// Reference: P. Goulart, Y. Chen, *Clarabel: an interior-point solver for conic programs with
/// quadratic objectives* (2024).
#[ports(
    |n: &Dim, m: &Dim, r: &Dim|
    in  hessian("H"): Matrix::of(n, n), _, "symmetric, positive semidefinite";
    in  gradient("g"): Vector::of(n), _, "the linear term";
    in  cone_rows("C")?: Matrix::of(r, n), _,
        "the rows of all cones below one another; with `c`, where there are `cones`";
    in  cone_offset("c")?: Vector::of(r), _, "their constants";
    in  rows("A")?: Matrix::of(m, n), _, "linear rows; with `lower` and `upper` or not at all";
    in  lower?: Vector::of(m), _,
        "equal to `upper` for an equality; infinite where there is no bound";
    in  upper?: Vector::of(m), _, "of the rows, as `lower`";
    in  x_lower?: Vector::of(n), _, "bounds of the unknowns";
    in  x_upper?: Vector::of(n), _, "bounds of the unknowns";
    out x: Vector::of(n), _, "the solution";
    out status: Int, _, "0 solved, 1 inaccurate, else not: see [`solvers`](crate::solvers)";
    out iterations: Int, _, "interior-point steps";
    out residual: Real, "1",
        "relative residual of the optimality conditions; infinite if there is none",
        infinite;
)]
#[parameters(aliases("SOCP", "second-order cone program"))]
pub struct ConeProgram {
    /// Rows of each cone, in order; a cone of one row is `t_0 ≥ 0` [1]. By default there are none.
    #[default]
    pub cones: Vec<u32>,
    /// Tolerance on gap and feasibility of the scaled program, from 1e-12 up [1].
    #[default = 1e-10]
    pub tol: f64,
    /// Most interior-point steps [1].
    #[default = 100]
    pub iterations: u32,
    /// What to do when it does not solve: `Stop` (the default), `HoldLast(max: 5)`, `Zero`.
    #[default]
    pub on_fail: OnFail,
    /// Which problems to keep for the files of a run: `Never`, `Failures(max: 1)` (the default),
    /// `Every(n: 100, max: 10)`.
    #[default]
    pub dump: Dump,
}

/// Ports of a [`ConeProgram`].
pub struct Plan {
    io: ConeProgramPorts,
    verdict: Verdict,
    n: Dim,
    cone_sizes: Vec<usize>,
}

impl Block for ConeProgram {
    const KIND: &'static str = "ConeProgram";
    type Plan = Plan;
    type State = SolverState;
    type Memo = SolverMemo;
    type Scratch = ClarabelSolver;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let cone_sizes: Vec<usize> = self.cones.iter().map(|&size| size as usize).collect();
        if let Some(empty) = cone_sizes.iter().position(|&size| size == 0) {
            let message = format!("expected at least 1 row in cone {empty}, found 0");
            return Err(Invalid::parameter("cones", message));
        }
        let (n, m) = (ports.dim(), ports.dim());
        let io = self.declare(ports, &n, &m, &Dim::fixed(cone_sizes.iter().sum()));
        let verdict = Verdict::of(io.status, io.iterations, io.residual);
        ports.updates();
        Ok(Plan { io, verdict, n, cone_sizes })
    }

    fn check(&self, plan: &Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        let io = &plan.io;
        together(&[
            ("A", sizes.optional(io.rows).is_some()),
            ("lower", sizes.optional(io.lower).is_some()),
            ("upper", sizes.optional(io.upper).is_some()),
        ])?;
        together(&[
            ("C", sizes.optional(io.cone_rows).is_some()),
            ("c", sizes.optional(io.cone_offset).is_some()),
            ("cones", !plan.cone_sizes.is_empty()),
        ])
    }

    fn state(&self, plan: &Plan, sizes: &Sizes<'_>) -> SolverState {
        SolverState::new(sizes.dim(&plan.n), 0)
    }

    fn scratch(&self, _: &Plan, _: &Sizes<'_>) -> ClarabelSolver {
        ClarabelSolver::new(self.tol, self.iterations)
    }

    fn memo(&self, plan: &Plan, sizes: &Sizes<'_>) -> SolverMemo {
        SolverMemo::new(sizes.dim(&plan.n), 0)
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let (inputs, io) = (cx.inputs, &plan.io);
        let linear = Linear {
            hessian: inputs.get(io.hessian),
            gradient: inputs.get(io.gradient),
            rows: inputs.optional(io.rows).unwrap_or(&[]),
            row_lower: inputs.optional(io.lower).unwrap_or(&[]),
            row_upper: inputs.optional(io.upper).unwrap_or(&[]),
            lower: inputs.optional(io.x_lower).unwrap_or(&[]),
            upper: inputs.optional(io.x_upper).unwrap_or(&[]),
        };
        let program = Program {
            linear,
            cone_rows: inputs.optional(io.cone_rows).unwrap_or(&[]),
            cone_offset: inputs.optional(io.cone_offset).unwrap_or(&[]),
            cone_sizes: &plan.cone_sizes,
        };
        let x = cx.outputs.get(io.x);
        let solution = cx.scratch.solve_cone_program(&program, x);
        let solve = Solve::new(cx.time, solution, x, &[]);
        let data = || {
            Problem::ConeProgram(ConeProgramData {
                linear: QpData::of(&linear),
                cone_rows: program.cone_rows.to_vec(),
                cone_offset: program.cone_offset.to_vec(),
                cone_sizes: plan.cone_sizes.clone(),
            })
        };
        self.policy().conclude(cx.state, cx.memo, solve, data)?;
        plan.verdict.write(&solution, &mut cx.outputs);
        Ok(())
    }

    solver_functions!();
}

/// Refuses some of what goes together without the rest.
fn together(given: &[(&str, bool)]) -> Result<(), Invalid> {
    match given.iter().find(|(_, is_given)| !is_given) {
        Some((name, _)) if given.iter().any(|(_, is_given)| *is_given) => {
            let names: Vec<String> = given.iter().map(|(name, _)| format!("`{name}`")).collect();
            let names = names.join(", ");
            Err(Invalid::new(format!("expected {names} or none of them, found no `{name}`")))
        }
        _ => Ok(()),
    }
}

impl ConeProgram {
    fn policy(&self) -> Policy {
        let (on_fail, dump) = (self.on_fail, self.dump);
        Policy { block: Self::KIND, noun: "cone program", on_fail, dump }
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use legwork_qp::problem_file;
    use serde_json::json;

    use super::*;
    use crate::testing::contacts::{Harness, block};

    /// The projection of (p, 3, 4) on the cone `t_0 ≥ |(t_1, t_2)|`.
    fn projection(p: f64, more: &serde_json::Value) -> Harness {
        let ports = [
            ("H", Type::matrix(3, 3)),
            ("g", Type::vector(3)),
            ("C", Type::matrix(3, 3)),
            ("c", Type::vector(3)),
        ];
        let mut parameters = json!({ "cones": [3] });
        for (key, value) in more.as_object().expect("parameters") {
            parameters[key] = value.clone();
        }
        let mut rig = Harness::new(block::<ConeProgram>(parameters), &ports).expect("planned");
        let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        rig.set("H", &identity);
        rig.set("C", &identity);
        rig.set("g", &[-p, -3.0, -4.0]);
        rig
    }

    /// Above the cone it stays, below it ends at the apex, beside it on the boundary halfway.
    #[test]
    fn a_projection_on_a_cone_is_that_of_geometry() {
        for (p, expected) in
            [(6.0, [6.0, 3.0, 4.0]), (-6.0, [0.0; 3]), (1.0, [3.0, 9.0 / 5.0, 12.0 / 5.0])]
        {
            let mut rig = projection(p, &json!({}));
            rig.step(0.0).expect("solved");
            let x = rig.value("x");
            let worst = x.iter().zip(expected).map(|(x, e)| (x - e).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-6, "{p}: {x:?}");
            assert_eq!(rig.value("status"), [0.0]);
            assert!(rig.value("residual")[0] < 1e-8);
        }
    }

    #[test]
    fn infeasible_unbounded_and_invalid_are_statuses() {
        let policy = json!({ "on_fail": "Zero" });
        // t_0 ≥ |t| and t_0 = -1.
        let ports = [
            ("H", Type::matrix(2, 2)),
            ("g", Type::vector(2)),
            ("C", Type::matrix(2, 2)),
            ("c", Type::vector(2)),
            ("A", Type::matrix(1, 2)),
            ("lower", Type::vector(1)),
            ("upper", Type::vector(1)),
        ];
        let mut parameters = policy.clone();
        parameters["cones"] = json!([2]);
        let new = |ports| Harness::new(block::<ConeProgram>(parameters.clone()), ports);
        let mut rig = new(&ports).expect("planned");
        rig.set("C", &[1.0, 0.0, 0.0, 1.0]);
        rig.set("A", &[1.0, 0.0]);
        rig.set("lower", &[-1.0]);
        rig.set("upper", &[-1.0]);
        rig.step(0.0).expect("zero");
        assert_eq!((rig.value("status"), rig.value("x")), (vec![3.0], vec![0.0; 2]));
        // Without the row and with g = (-1, 0) the objective falls along the axis of the cone.
        rig.set("A", &[0.0, 0.0]);
        rig.set("lower", &[f64::NEG_INFINITY]);
        rig.set("upper", &[f64::INFINITY]);
        rig.set("g", &[-1.0, 0.0]);
        rig.step(0.1).expect("zero");
        assert_eq!(rig.value("status"), [4.0]);
        let report = rig.report();
        assert_eq!((report.solver_calls, report.solver_failures), (2, 2));
        assert_eq!(report.notes, ["2 of 2 cone programs were answered with zero"]);

        let mut rig = projection(1.0, &json!({ "on_fail": { "HoldLast": { "max": 1 } } }));
        rig.step(0.0).expect("solved");
        let solved = rig.value("x");
        rig.set("g", &[f64::NAN, 0.0, 0.0]);
        rig.step(0.1).expect("held");
        assert_eq!((rig.value("x"), rig.value("status")), (solved, vec![6.0]));
        let fault = rig.output(0.2).expect_err("held too long");
        assert!(fault.message.contains("cone program was not solved: InvalidData"), "{fault:?}");
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let plan = |cones: serde_json::Value, ports: &[(&str, Type)]| {
            let block = block::<ConeProgram>(json!({ "cones": cones }));
            Harness::new(block, ports).map(|_| ()).expect_err("does not fit").message
        };
        let ports = [
            ("H", Type::matrix(1, 1)),
            ("g", Type::vector(1)),
            ("C", Type::matrix(1, 1)),
            ("c", Type::vector(1)),
            ("A", Type::matrix(1, 1)),
        ];
        assert!(plan(json!([2, 0]), &ports).contains("cone 1, found 0"));
        assert!(plan(json!([1]), &ports).contains("found no `lower`"));
        assert!(plan(json!([1]), &ports[..2]).contains("found no `C`"));
    }

    #[test]
    fn a_kept_program_solved_again_has_the_same_solution_bit_for_bit() {
        let mut rig = projection(1.0, &json!({ "dump": { "Every": { "n": 1, "max": 1 } } }));
        rig.step(0.0).expect("solved");
        let files = rig.report().files;
        let text = String::from_utf8(files[0].1.clone()).expect("text");
        let named = problem_file::read(&text).expect("a problem");
        let Problem::ConeProgram(data) = &named.problem else { panic!("a cone program") };
        let mut x = vec![0.0; 3];
        let mut solver = ClarabelSolver::new(1e-10, 100);
        let _ = solver.solve_cone_program(&data.view().expect("a program"), &mut x);
        assert_eq!(x, rig.value("x"));
    }
}
