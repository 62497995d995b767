//! `ClarabelQp`: an interior-point method as a contact solver.

use legwork_qp::ClarabelSolver;

use crate::solvers::contact_solver::{Method, ProblemSize, solver_block};

solver_block! {
    all cones, "interior-point steps";

    /// Solves the contact problem by the interior-point method of Clarabel.
    ///
    /// It knows the true, circular cone, always starts cold and allocates in each solve. Forces
    /// that are zero in theory come out as small numbers.
    ///
    /// Reference: P. Goulart, Y. Chen, *Clarabel: an interior-point solver for conic programs with
    /// quadratic objectives* (2024).
    #[aliases("interior point", "QP", "SOCP")]
    pub struct ClarabelQp {
        /// Tolerance on gap and feasibility of the scaled program, from 1e-12 up [1].
        #[default = 1e-10]
        pub tol: f64,
        /// Most interior-point steps [1].
        #[default = 50]
        pub iterations: u32,
    }
}

impl ClarabelQp {
    /// The matrix of the conditions of a minimum, its factor and their indices.
    fn method_numbers(size: ProblemSize) -> u64 {
        let [n, s, _] = size.counts();
        6 * (n + s) * n + 2 * s * s
    }

    fn method(&self, _: ProblemSize) -> Method {
        Method::cold(ClarabelSolver::new(self.tol, self.iterations))
    }
}
