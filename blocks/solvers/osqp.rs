//! `Osqp`: an operator-splitting method as a contact solver.

use legwork_block::quantity::{Dimensionless, Share};
use legwork_qp::{ContactSolver, OsqpSolver};

use crate::solvers::contact_solver::{COLD, Method, ProblemSize, accepted, solver_block};

solver_block! {
    pyramids, "iterations";

    /// Solves the contact problem by the operator-splitting method OSQP.
    ///
    /// Modest accuracy at a steady cost: each solve sets up its workspace anew, starts cold and
    /// allocates. The step size adapts after a fixed number of iterations, never by a clock. The C
    /// library's rounding may differ between compilers, so bits repeat on one build, not across
    /// builds.
    ///
    /// Reference: B. Stellato, G. Banjac, P. Goulart, A. Bemporad, S. Boyd, *OSQP: an operator
    /// splitting solver for quadratic programs* (2020).
    #[aliases("ADMM", "operator splitting", "QP")]
    pub struct Osqp {
        /// Tolerance on both residuals of the scaled problem [1].
        #[default = 1e-8]
        pub tol: f64,
        /// Most iterations [1].
        #[default = 20_000]
        pub iterations: u32,
        /// Iterations between adaptations of the step size [1]; 0 keeps it.
        #[default = 50]
        pub adapt_every: u32,
        /// Guess the active constraints at the end and solve for them exactly.
        #[default = true]
        pub polish: bool,
        /// Residual up to which forces are used when the iterations are used up, relative to the
        /// force scale [1].
        #[default = 1e-4]
        pub accept: Share<Dimensionless>,
    }
}

impl Osqp {
    /// The matrix of the conditions of a minimum, its factor and their indices.
    fn method_numbers(size: ProblemSize) -> u64 {
        let [n, s, _] = size.counts();
        6 * (n + s) * n + 2 * s * s
    }

    fn method(&self, _: ProblemSize) -> Method {
        let mut solver = OsqpSolver::new(self.tol, self.iterations);
        solver.rho_interval = self.adapt_every;
        solver.is_polished = self.polish;
        let accept = self.accept.value();
        Method::warm(COLD, move |problem, _, forces| {
            accepted(solver.solve(problem, forces), accept)
        })
    }
}

#[cfg(test)]
mod tests {
    use legwork_qp::problems::random_definite;
    use legwork_qp::{Cone, ConeShape, PyramidFit};
    use serde_json::json;

    use super::*;
    use crate::solvers::active_set_qp::ActiveSetQp;
    use crate::testing::contacts::{Harness, block, problem};

    #[test]
    fn it_agrees_with_the_active_set() {
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
    }
}
