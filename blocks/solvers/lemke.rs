//! `Lemke`: Lemke's method as a contact solver.

use legwork_qp::{ConeShape, ContactProblem, ContactSolver, LemkeSolver, Outcome as Solution};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::solvers::contact_solver::{Method, OnFail, ProblemSize, SolverBlock, solver_block};
use crate::solvers::problem_dump::Dump;

/// Solves the contact problem by Lemke's method on pyramids of friction. The unknowns are the edges
/// of the pyramids.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `problem` | `ContactProblem` | | with a friction pyramid |
/// | out `f` | 3k | N | contact forces on the robot, contact axes |
/// | out `status` | | 1 | 0 solved, 1 inaccurate, else not: see [`solvers`](crate::solvers) |
/// | out `iterations` | | 1 | pivots |
/// | out `residual` | | 1 | residual relative to the force scale; infinite if unknown |
///
/// One unknown per edge of each pyramid, a dense basis, lexicographic ties, and a ladder of
/// regularisation where the plain attempt ends on a ray. The classical reference method: slower
/// than the others where there are many contacts. It starts from the edges of the last step. The
/// circular cone is refused. Where `on_fail` gave the forces, status, iterations and residual are
/// those of the solver that was asked last.
///
/// Computed at major steps and held between them, unless `in_minor_steps`.
///
/// Reference: C. E. Lemke, *Bimatrix equilibrium points and mathematical programming* (1965);
/// R. W. Cottle, J.-S. Pang, R. E. Stone, *The Linear Complementarity Problem* (1992), sec. 4.4.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("x-aliases" = ["LCP"]))]
pub struct Lemke {
    /// Start without pressing edges each time; default false.
    pub cold: bool,
    /// What to do when it does not solve: `Stop` (the default), `HoldLast(max: 5)`, `Zero`,
    /// `Fallback(ActiveSetQp())`.
    pub on_fail: OnFail,
    /// Which problems to keep for the files of a run: `Never`, `Failures(max: 1)` (the default),
    /// `Every(n: 100, max: 10)`.
    pub dump: Dump,
    /// Solve anew in minor steps; default false.
    pub in_minor_steps: bool,
}

const NAME: &str = "Lemke";

struct Pivots {
    solver: LemkeSolver,
    is_cold: bool,
}

impl Method for Pivots {
    fn name(&self) -> &'static str {
        NAME
    }

    fn accepts(&self, cone: &ConeShape) -> bool {
        self.solver.accepts(cone)
    }

    fn warm_len(&self, contact_count: usize, sides: usize) -> usize {
        if self.is_cold { 0 } else { contact_count * sides }
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

impl SolverBlock for Lemke {
    fn name(&self) -> &'static str {
        NAME
    }

    fn accepts_circular(&self) -> bool {
        false
    }

    fn method(&self, size: ProblemSize) -> Box<dyn Method> {
        let solver = LemkeSolver::new(size.contact_count, 4);
        Box::new(Pivots { solver, is_cold: self.cold })
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

solver_block!(Lemke);
