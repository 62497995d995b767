//! `ClarabelQp`: an interior-point method as a contact solver.

use legwork_qp::ClarabelSolver;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::solvers::contact_solver::{
    Cold, Method, OnFail, ProblemSize, SolverBlock, solver_block,
};
use crate::solvers::problem_dump::Dump;

/// Solves the contact problem by the interior-point method of Clarabel.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `problem` | `ContactProblem` | | with a friction pyramid or the circular cone |
/// | out `f` | 3k | N | contact forces on the robot, contact axes |
/// | out `status` | | 1 | 0 solved, 1 inaccurate, else not: see [`solvers`](crate::solvers) |
/// | out `iterations` | | 1 | interior-point steps |
/// | out `residual` | | 1 | residual relative to the force scale; infinite if unknown |
///
/// It knows the true, circular cone, always starts cold and allocates in each solve. Forces that
/// are zero in theory come out as small numbers. Where `on_fail` gave the forces, status,
/// iterations and residual are those of the solver that was asked last.
///
/// Computed at major steps and held between them, unless `in_minor_steps`.
///
/// Reference: P. Goulart, Y. Chen, *Clarabel: an interior-point solver for conic programs with
/// quadratic objectives* (2024).
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("x-aliases" = ["interior point", "QP", "SOCP"]))]
pub struct ClarabelQp {
    /// Tolerance on gap and feasibility of the scaled program, from 1e-12 up [1]; default 1e-10.
    pub tol: f64,
    /// Most interior-point steps [1]; default 50.
    pub iterations: u32,
    /// What to do when it does not solve: `Stop` (the default), `HoldLast(max: 5)`, `Zero`,
    /// `Fallback(ActiveSetQp())`.
    pub on_fail: OnFail,
    /// Which problems to keep for the files of a run: `Never`, `Failures(max: 1)` (the default),
    /// `Every(n: 100, max: 10)`.
    pub dump: Dump,
    /// Solve anew in minor steps; default false.
    pub in_minor_steps: bool,
}

impl Default for ClarabelQp {
    fn default() -> Self {
        Self {
            tol: 1e-10,
            iterations: 50,
            on_fail: OnFail::default(),
            dump: Dump::default(),
            in_minor_steps: false,
        }
    }
}

const NAME: &str = "ClarabelQp";

impl SolverBlock for ClarabelQp {
    fn name(&self) -> &'static str {
        NAME
    }

    fn accepts_circular(&self) -> bool {
        true
    }

    fn method(&self, _: ProblemSize) -> Box<dyn Method> {
        let solver = ClarabelSolver::new(self.tol, self.iterations);
        Box::new(Cold { name: NAME, solver })
    }

    fn on_fail(&self) -> &OnFail {
        &self.on_fail
    }

    fn dump(&self) -> Dump {
        self.dump
    }

    fn in_minor_steps(&self) -> bool {
        self.in_minor_steps
    }
}

solver_block!(ClarabelQp);
