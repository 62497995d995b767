//! `ProjectedGaussSeidel`: sweeps over the contacts as a contact solver.

use legwork_qp::{ContactProblem, Outcome as Solution, ProjectedGaussSeidel as GaussSeidel};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::solvers::contact_solver::{
    Iterative, Method, OnFail, ProblemSize, SolverBlock, WarmStart, solver_block,
};
use crate::solvers::problem_dump::Dump;

/// Solves the contact problem by projected Gauss–Seidel sweeps over the contacts. Every force is
/// projected exactly on its friction cone.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `problem` | `ContactProblem` | | with a friction pyramid or the circular cone |
/// | out `f` | 3k | N | contact forces on the robot, contact axes |
/// | out `status` | | 1 | 0 solved, 1 sweeps used up, else not: see [`solvers`](crate::solvers) |
/// | out `iterations` | | 1 | sweeps |
/// | out `residual` | | 1 | residual relative to the force scale; infinite if unknown |
///
/// Cheap per sweep and never infeasible; what is left after the last sweep is in `residual`. It
/// starts from the forces of the last step. With redundant contacts the distribution of force
/// depends on that start, the motion does not. Where `on_fail` gave the forces, status, iterations
/// and residual are those of the solver that was asked last.
///
/// Computed at major steps and held between them, unless `in_minor_steps`.
///
/// Reference: M. Jean, *The non-smooth contact dynamics method* (1999).
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("x-aliases" = ["PGS", "SOR"]))]
pub struct ProjectedGaussSeidel {
    /// Most sweeps of one solve [1]; default 50.
    pub sweeps: u32,
    /// Residual at which to stop, relative to the force scale [1]; default 1e-8.
    pub tol: f64,
    /// Residual up to which forces are used after the last sweep, relative to the force scale [1];
    /// default: any.
    pub accept: Option<f64>,
    /// Over-relaxation ω, between 0 and 2 [1]; default 1.
    pub relaxation: f64,
    /// Start from zero force each time; default false.
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

impl Default for ProjectedGaussSeidel {
    fn default() -> Self {
        Self {
            sweeps: 50,
            tol: 1e-8,
            accept: None,
            relaxation: 1.0,
            cold: false,
            on_fail: OnFail::default(),
            dump: Dump::default(),
            in_minor_steps: false,
        }
    }
}

const NAME: &str = "ProjectedGaussSeidel";

impl WarmStart for GaussSeidel {
    fn solve_warm(&mut self, problem: &ContactProblem<'_>, forces: &mut [f64]) -> Solution {
        self.solve_warm(problem, forces)
    }
}

impl SolverBlock for ProjectedGaussSeidel {
    fn name(&self) -> &'static str {
        NAME
    }

    fn accepts_circular(&self) -> bool {
        true
    }

    fn method(&self, size: ProblemSize) -> Box<dyn Method> {
        let mut solver = GaussSeidel::new(size.contact_count, self.sweeps, self.tol);
        solver.relaxation = self.relaxation;
        let accept = self.accept.unwrap_or(f64::INFINITY);
        Box::new(Iterative { name: NAME, solver, accept, is_cold: self.cold })
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

solver_block!(ProjectedGaussSeidel);
