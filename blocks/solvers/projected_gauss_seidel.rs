//! `ProjectedGaussSeidel`: sweeps over the contacts as a contact solver.

use legwork_block::quantity::{Dimensionless, Share};
use legwork_qp::ProjectedGaussSeidel as GaussSeidel;

use crate::solvers::contact_solver::{Method, ProblemSize, solver_block};

solver_block! {
    all cones, "sweeps";

    /// Solves the contact problem by projected Gauss–Seidel sweeps over the contacts. Every force
    /// is projected exactly on its friction cone.
    ///
    /// Cheap per sweep and never infeasible; what is left after the last sweep is in `residual`. It
    /// starts from the forces of the last step. With redundant contacts the distribution of force
    /// depends on that start, the motion does not.
    ///
    /// Reference: M. Jean, *The non-smooth contact dynamics method* (1999).
    #[aliases("PGS", "SOR")]
    pub struct ProjectedGaussSeidel {
        /// Most sweeps of one solve [1].
        #[default = 1000]
        pub sweeps: u32,
        /// Residual at which to stop, relative to the force scale [1].
        #[default = 1e-8]
        pub tol: f64,
        /// Residual up to which forces are used after the last sweep, relative to the force scale
        /// [1]. Beyond it the solve has failed, and `on_fail` says what follows.
        #[default = 1e-4]
        pub accept: Share<Dimensionless>,
        /// Over-relaxation ω, between 0 and 2 [1].
        #[default = 1]
        pub relaxation: f64,
        /// Start from zero force each time.
        #[default]
        pub cold: bool,
    }
}

impl ProjectedGaussSeidel {
    /// Vectors, and G once for the test of a problem without solution.
    fn method_numbers(size: ProblemSize) -> u64 {
        let [n, ..] = size.counts();
        n * n + 40 * n
    }

    fn method(&self, size: ProblemSize) -> Method {
        let mut solver = GaussSeidel::new(size.contact_count, self.sweeps, self.tol);
        solver.relaxation = self.relaxation;
        Method::iterative(self.cold, self.accept.value(), move |problem, forces| {
            solver.solve_warm(problem, forces)
        })
    }
}
