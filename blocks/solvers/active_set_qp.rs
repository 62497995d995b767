//! `ActiveSetQp`: the dual active-set method as a contact solver.

use legwork_qp::{ConeShape, ContactProblem, ContactSolver, Outcome as Solution, PyramidActiveSet};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::solvers::contact_solver::{Method, OnFail, ProblemSize, SolverBlock, solver_block};
use crate::solvers::problem_dump::Dump;

/// Solves the contact problem by the dual active-set method of Goldfarb and Idnani.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `problem` | `ContactProblem` | | with a friction pyramid |
/// | out `f` | 3k | N | contact forces on the robot, contact axes |
/// | out `status` | | 1 | 0 solved, 1 inaccurate, else not: see [`solvers`](crate::solvers) |
/// | out `iterations` | | 1 | changes of the active set |
/// | out `residual` | | 1 | residual relative to the force scale; infinite if unknown |
///
/// A direct method: a few changes of the active set lead to the exact answer up to rounding, so it
/// is the default. It starts from the active set of the last step, which saves iterations and does
/// not change the answer. The circular cone is refused. Where `on_fail` gave the forces, status,
/// iterations and residual are those of the solver that was asked last.
///
/// Computed at major steps and held between them, unless `in_minor_steps`.
///
/// Reference: D. Goldfarb, A. Idnani, *A numerically stable dual method for solving strictly convex
/// quadratic programs* (1983).
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("x-aliases" = ["Goldfarb–Idnani", "dual active set", "QP"]))]
pub struct ActiveSetQp {
    /// Most changes of the active set; default 0 means 40 + 10 × rows [1].
    pub iterations: u32,
    /// Start from an empty active set each time; default false.
    pub cold: bool,
    /// What to do when it does not solve: `Stop` (the default), `HoldLast(max: 5)`, `Zero`,
    /// `Fallback(ClarabelQp())`.
    pub on_fail: OnFail,
    /// Which problems to keep for the files of a run: `Never`, `Failures(max: 1)` (the default),
    /// `Every(n: 100, max: 10)`.
    pub dump: Dump,
    /// Solve anew in minor steps; default false.
    pub in_minor_steps: bool,
}

const NAME: &str = "ActiveSetQp";

struct ActiveSet {
    solver: PyramidActiveSet,
    is_cold: bool,
}

impl Method for ActiveSet {
    fn name(&self) -> &'static str {
        NAME
    }

    fn accepts(&self, cone: &ConeShape) -> bool {
        self.solver.accepts(cone)
    }

    fn warm_len(&self, contact_count: usize, sides: usize) -> usize {
        if self.is_cold { 0 } else { contact_count * (sides + 1) }
    }

    fn solve(
        &mut self,
        problem: &ContactProblem<'_>,
        warm: &mut [f64],
        forces: &mut [f64],
    ) -> Solution {
        if self.is_cold {
            self.solver.solve(problem, forces)
        } else {
            self.solver.solve_warm(problem, warm, forces)
        }
    }
}

impl SolverBlock for ActiveSetQp {
    fn name(&self) -> &'static str {
        NAME
    }

    fn accepts_circular(&self) -> bool {
        false
    }

    fn method(&self, size: ProblemSize) -> Box<dyn Method> {
        let mut solver = PyramidActiveSet::new(size.contact_count, 4);
        solver.iteration_limit = self.iterations;
        Box::new(ActiveSet { solver, is_cold: self.cold })
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

solver_block!(ActiveSetQp);
