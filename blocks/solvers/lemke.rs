//! `Lemke`: Lemke's method as a contact solver.

use legwork_qp::LemkeSolver;

use crate::solvers::contact_solver::{Method, ProblemSize, solver_block};

solver_block! {
    pyramids, "pivots";

    /// Solves the contact problem by Lemke's method on pyramids of friction. The unknowns are the
    /// edges of the pyramids.
    ///
    /// One unknown per edge of each pyramid, a dense basis, lexicographic ties, and a ladder of
    /// regularisation where the plain attempt ends on a ray. The classical reference method: slower
    /// than the others where there are many contacts. It starts from the edges of the last step.
    ///
    /// Reference: C. E. Lemke, *Bimatrix equilibrium points and mathematical programming* (1965);
    /// R. W. Cottle, J.-S. Pang, R. E. Stone, *The Linear Complementarity Problem* (1992), sec.
    /// 4.4.
    #[aliases("LCP")]
    pub struct Lemke {
        /// Start without pressing edges each time.
        #[default]
        pub cold: bool,
    }
}

impl Lemke {
    /// The matrix over the edges, that of the method, its basis, and H.
    fn method_numbers(size: ProblemSize) -> u64 {
        let [n, s, _] = size.counts();
        4 * s * s + n * n + 20 * s
    }

    fn method(&self, size: ProblemSize) -> Method {
        let mut solver = LemkeSolver::new(size.contact_count, 4);
        if self.cold {
            return Method::cold(solver);
        }
        Method::warm(
            |sides| sides,
            move |problem, edges, forces| solver.solve_warm(problem, edges, forces),
        )
    }
}
