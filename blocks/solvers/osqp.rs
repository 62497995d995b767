//! `Osqp`: an operator-splitting method as a contact solver.

use legwork_qp::{
    ConeShape, ContactProblem, ContactSolver, OsqpSolver, Outcome as Solution, Status,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::solvers::contact_solver::{
    Cold, Method, OnFail, ProblemSize, SolverBlock, solver_block,
};
use crate::solvers::problem_dump::Dump;

/// Solves the contact problem by the operator-splitting method OSQP.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `problem` | `ContactProblem` | | with a friction pyramid |
/// | out `f` | 3k | N | contact forces on the robot, contact axes |
/// | out `status` | | 1 | 0 solved, 1 inaccurate, else not: see [`solvers`](crate::solvers) |
/// | out `iterations` | | 1 | iterations |
/// | out `residual` | | 1 | residual relative to the force scale; infinite if unknown |
///
/// Modest accuracy at a steady cost: each solve sets up its workspace anew, starts cold and
/// allocates. The step size adapts after a fixed number of iterations, never by a clock. The C
/// library's rounding may differ between compilers, so bits repeat on one build, not across builds.
/// The circular cone is refused. Where `on_fail` gave the forces, status, iterations and residual
/// are those of the solver that was asked last.
///
/// Computed at major steps and held between them, unless `in_minor_steps`.
///
/// Reference: B. Stellato, G. Banjac, P. Goulart, A. Bemporad, S. Boyd, *OSQP: an operator
/// splitting solver for quadratic programs* (2020).
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("x-aliases" = ["ADMM", "operator splitting", "QP"]))]
pub struct Osqp {
    /// Tolerance on both residuals of the scaled problem [1]; default 1e-8.
    pub tol: f64,
    /// Most iterations [1]; default 20000.
    pub iterations: u32,
    /// Iterations between adaptations of the step size [1]; default 50, 0 keeps it.
    pub adapt_every: u32,
    /// Guess the active constraints at the end and solve for them exactly; default true.
    pub polish: bool,
    /// Residual up to which forces are used when the iterations are used up, relative to the force
    /// scale [1]; default 1e-4.
    pub accept: f64,
    /// What to do when it does not solve: `Stop` (the default), `HoldLast(max: 5)`, `Zero`,
    /// `Fallback(ActiveSetQp())`.
    pub on_fail: OnFail,
    /// Which problems to keep for the files of a run: `Never`, `Failures(max: 1)` (the default),
    /// `Every(n: 100, max: 10)`.
    pub dump: Dump,
    /// Solve anew in minor steps; default false.
    pub in_minor_steps: bool,
}

impl Default for Osqp {
    fn default() -> Self {
        Self {
            tol: 1e-8,
            iterations: 20_000,
            adapt_every: 50,
            polish: true,
            accept: 1e-4,
            on_fail: OnFail::default(),
            dump: Dump::default(),
            in_minor_steps: false,
        }
    }
}

const NAME: &str = "Osqp";

/// The method, which may take what the last iteration left.
struct Splitting {
    solver: OsqpSolver,
    accept: f64,
}

impl ContactSolver for Splitting {
    fn accepts(&self, cone: &ConeShape) -> bool {
        self.solver.accepts(cone)
    }

    fn solve(&mut self, problem: &ContactProblem<'_>, forces: &mut [f64]) -> Solution {
        let solution = self.solver.solve(problem, forces);
        let is_taken = solution.status == Status::MaxIterations && solution.residual <= self.accept;
        Solution { status: if is_taken { Status::Inaccurate } else { solution.status }, ..solution }
    }
}

impl SolverBlock for Osqp {
    fn name(&self) -> &'static str {
        NAME
    }

    fn accepts_circular(&self) -> bool {
        false
    }

    fn method(&self, _: ProblemSize) -> Box<dyn Method> {
        let mut solver = OsqpSolver::new(self.tol, self.iterations);
        solver.rho_interval = self.adapt_every;
        solver.is_polished = self.polish;
        Box::new(Cold { name: NAME, solver: Splitting { solver, accept: self.accept } })
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

solver_block!(Osqp);

#[cfg(test)]
mod tests {
    use legwork_qp::problems::random_definite;
    use legwork_qp::{Cone, PyramidFit};
    use serde_json::json;

    use super::*;
    use crate::solvers::active_set_qp::ActiveSetQp;
    use crate::testing::contacts::{Harness, block, problem};

    #[test]
    fn it_agrees_with_the_active_set_and_refuses_the_circular_cone() {
        let cone = Cone::Pyramid { sides: 4, fit: PyramidFit::Inscribed };
        let ports = [("problem", problem(4, 12))];
        let mut osqp = Harness::new(block::<Osqp>(json!({})), &ports).expect("planned");
        let mut exact = Harness::new(block::<ActiveSetQp>(json!({})), &ports).expect("planned");
        for seed in 0..10 {
            let data = random_definite(seed, 4, ConeShape::new(cone).expect("four sides"));
            osqp.set_problem(&data);
            exact.set_problem(&data);
            osqp.step(0.0).expect("solved");
            exact.step(0.0).expect("solved");
            let (f, expected) = (osqp.value("f"), exact.value("f"));
            let size = expected.iter().fold(1.0, |m: f64, v| m.max(v.abs()));
            let apart = f.iter().zip(&expected).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
            assert!(apart < 1e-5 * size, "seed {seed}: {apart:.1e}");
            assert!(osqp.value("status")[0] < 2.0);
            // Nothing is remembered: the same problem has the same bits.
            osqp.step(0.1).expect("solved");
            assert_eq!(osqp.value("f"), f, "seed {seed}");
        }
        let method = Osqp::default().method(ProblemSize { contact_count: 1, velocity_dim: 6 });
        assert!(!method.accepts(&ConeShape::circular()));
    }
}
