//! `ActiveSetQp`: the dual active-set method as a contact solver.

use legwork_qp::PyramidActiveSet;

use crate::solvers::contact_solver::{Method, ProblemSize, solver_block};

solver_block! {
    pyramids, "changes of the active set";

    /// Solves the contact problem by the dual active-set method of Goldfarb and Idnani.
    ///
    /// A direct method: a few changes of the active set lead to the exact answer up to rounding, so
    /// it is the default. It starts from the active set of the last step, which saves iterations
    /// and does not change the answer.
    ///
    /// Reference: D. Goldfarb, A. Idnani, *A numerically stable dual method for solving strictly
    /// convex quadratic programs* (1983).
    #[aliases("Goldfarb–Idnani", "dual active set", "QP")]
    pub struct ActiveSetQp {
        /// Most changes of the active set; 0 means 40 + 10 × rows [1].
        #[default]
        pub iterations: u32,
        /// Start from an empty active set each time.
        #[default]
        pub cold: bool,
    }
}

impl ActiveSetQp {
    /// H, its factor, the active rows and theirs.
    fn method_numbers(size: ProblemSize) -> u64 {
        let [n, s, _] = size.counts();
        6 * n * n + 2 * n * (n + s)
    }

    fn method(&self, size: ProblemSize) -> Method {
        let mut solver = PyramidActiveSet::new(size.contact_count, 4);
        solver.iteration_limit = self.iterations;
        if self.cold {
            return Method::cold(solver);
        }
        Method::warm(
            |sides| sides + 1,
            move |problem, rows, forces| solver.solve_warm(problem, rows, forces),
        )
    }
}
