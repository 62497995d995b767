//! `Qp`: a quadratic program, for controllers.

use legwork_block::{
    Block, Dim, Fault, In, Int, Invalid, Matrix, OptionalIn, Out, Outcome, OutputCx, Ports, Real,
    Report, Sizes, UpdateCx, Vector,
};
use legwork_qp::{GeneralActiveSet, Outcome as Solution, Qp as Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contact_solver::{STATUS_DOC, residual_output};

/// Solves `min ½ xᵀHx + gᵀx` subject to `lower ≤ A x ≤ upper` and `x_lower ≤ x ≤ x_upper`.
///
/// | port | shape | meaning |
/// |---|---|---|
/// | in `H` | n × n | symmetric, positive semidefinite |
/// | in `g` | n | |
/// | in `A` | m × n | |
/// | in `lower`, `upper` | m | equal for an equality; infinite where there is no bound |
/// | in `x_lower`, `x_upper` | n, optional | bounds of the unknowns |
/// | out `x` | n | the solution |
/// | out `status` | | 0 solved, 1 inaccurate, 2 iteration limit, 3 infeasible, 4 unbounded, 5 numerical trouble, 6 invalid data |
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
pub struct Qp {
    /// Most changes of the active set; default 0 stands for 40 + 10 × (unknowns + bounds) [1].
    pub iterations: u32,
    /// Start from an empty active set each time; default false.
    pub cold: bool,
    /// What to do when it does not solve: `Stop` (the default), `HoldLast(max: 5)`, `Zero`.
    pub on_fail: OnQpFail,
}

/// What to do when a quadratic program is not solved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum OnQpFail {
    /// Stop the run with a fault.
    #[default]
    Stop,
    /// Repeat the last solution, at most this many steps in a row; then stop.
    HoldLast {
        /// Most steps in a row [1].
        max: u32,
    },
    /// x = 0.
    Zero,
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
    status: Out<Int>,
    iterations: Out<Int>,
    residual: Out<Real>,
    n: Dim,
    m: Dim,
}

/// State of a [`Qp`]: what the next solve starts from, and counts for the report.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct State {
    x: Vec<f64>,
    has_x: bool,
    /// Active sides, m rows and n bounds.
    sides: Vec<f64>,
    failures_in_a_row: u32,
    calls: u64,
    failures: u64,
    worst_residual: f64,
}

/// From `output` to `update`.
#[derive(Debug, Clone, Default)]
pub struct Memo {
    is_filled: bool,
    is_solved: bool,
    x: Vec<f64>,
    sides: Vec<f64>,
    residual: f64,
}

/// Work memory of a [`Qp`].
pub struct Scratch {
    solver: GeneralActiveSet,
    sides: Vec<f64>,
}

impl Block for Qp {
    const KIND: &'static str = "Qp";
    type Plan = Plan;
    type State = State;
    type Memo = Memo;
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
        let status = ports.output("status", &Int);
        ports.note_out(status).doc(STATUS_DOC);
        let iterations = ports.output("iterations", &Int);
        ports.note_out(iterations).doc("changes of the active set");
        let residual = ports.output("residual", &Real);
        ports.note_out(residual).unit("1").doc("relative optimality residual").may_be_infinite();
        ports.updates();
        Ok(Plan {
            hessian,
            gradient,
            rows,
            lower,
            upper,
            x_lower,
            x_upper,
            x,
            status,
            iterations,
            residual,
            n,
            m,
        })
    }

    fn state(&self, plan: &Plan, sizes: &Sizes<'_>) -> State {
        let (n, m) = (sizes.dim(&plan.n), sizes.dim(&plan.m));
        State { x: vec![0.0; n], sides: vec![0.0; m + n], ..State::default() }
    }

    fn scratch(&self, plan: &Plan, sizes: &Sizes<'_>) -> Scratch {
        let (n, m) = (sizes.dim(&plan.n), sizes.dim(&plan.m));
        let mut solver = GeneralActiveSet::new(n, m);
        solver.iteration_limit = self.iterations;
        Scratch { solver, sides: vec![0.0; m + n] }
    }

    fn memo(&self, plan: &Plan, sizes: &Sizes<'_>) -> Memo {
        let (n, m) = (sizes.dim(&plan.n), sizes.dim(&plan.m));
        Memo { x: vec![0.0; n], sides: vec![0.0; m + n], ..Memo::default() }
    }

    fn clear_memo(&self, memo: &mut Memo) {
        memo.is_filled = false;
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
            sides.copy_from_slice(&cx.state.sides);
            solver.solve_warm(&problem, sides, x)
        };
        let is_solved = solution.status.is_usable();
        if !is_solved {
            self.fail(cx.state, &solution, x)?;
        }
        if !cx.time.minor {
            let memo = &mut *cx.memo;
            memo.is_filled = true;
            memo.is_solved = is_solved;
            memo.x.copy_from_slice(x);
            memo.sides.copy_from_slice(sides);
            memo.residual = solution.residual;
        }
        cx.outputs.set(plan.status, f64::from(solution.status.code()));
        cx.outputs.set(plan.iterations, f64::from(solution.iterations));
        cx.outputs.set(plan.residual, residual_output(solution.residual));
        Ok(())
    }

    fn update(&self, _: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let (state, memo) = (&mut *cx.state, cx.memo);
        if !memo.is_filled {
            return Ok(());
        }
        state.calls += 1;
        state.sides.copy_from_slice(&memo.sides);
        if memo.residual.is_finite() {
            state.worst_residual = state.worst_residual.max(memo.residual);
        }
        if memo.is_solved {
            state.x.copy_from_slice(&memo.x);
            state.has_x = true;
            state.failures_in_a_row = 0;
        } else {
            state.failures += 1;
            state.failures_in_a_row += 1;
        }
        Ok(())
    }

    fn report(&self, _: &Plan, state: &State, report: &mut Report) {
        report.solver_calls += state.calls;
        report.solver_failures += state.failures;
        report.metric("worst_residual", state.worst_residual);
        if state.failures > 0 {
            let what = match self.on_fail {
                OnQpFail::Stop => "were not solved",
                OnQpFail::HoldLast { .. } => "were answered with the last solution",
                OnQpFail::Zero => "were answered with zero",
            };
            let (failures, calls) = (state.failures, state.calls);
            report.notes.push(format!("{failures} of {calls} quadratic programs {what}"));
        }
    }
}

impl Qp {
    /// Writes the x that the policy asks for.
    fn fail(&self, state: &State, solution: &Solution, x: &mut [f64]) -> Outcome {
        let why = match self.on_fail {
            OnQpFail::Zero => {
                x.fill(0.0);
                return Ok(());
            }
            OnQpFail::HoldLast { max } if state.has_x && state.failures_in_a_row < max => {
                x.copy_from_slice(&state.x);
                return Ok(());
            }
            OnQpFail::HoldLast { .. } if !state.has_x => {
                "there is no earlier solution to hold".to_owned()
            }
            OnQpFail::HoldLast { max } => format!("the last one was held for {max} steps already"),
            OnQpFail::Stop => "`on_fail` is `Stop`".to_owned(),
        };
        Err(Fault::new(format!(
            "the quadratic program was not solved: {:?} after {} iterations; {why}",
            solution.status, solution.iterations
        )))
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use serde_json::json;

    use super::*;
    use crate::contacts_testing::{Harness, block};

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
        assert_eq!((report.solver_calls, report.solver_failures), (2, 1));
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
