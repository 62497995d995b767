//! `AcceleratedGradient`: accelerated projected gradient descent as a contact solver.

use legwork_block::quantity::{Dimensionless, Share};
use legwork_qp::AcceleratedGradient as Gradient;

use crate::solvers::contact_solver::{Method, ProblemSize, solver_block};

solver_block! {
    all cones, "steps";

    /// Solves the contact problem by accelerated projected gradient descent. Every force is
    /// projected exactly on its friction cone.
    ///
    /// All contacts move at once; momentum restarts where it points uphill. It needs fewer passes
    /// than sweeps where contacts are many or redundant. What is left after the last step is in
    /// `residual`. It starts from the forces of the last step. With redundant contacts the
    /// distribution of force depends on that start, the motion does not.
    ///
    /// Reference: H. Mazhar, T. Heyn, D. Negrut, A. Tasora, *Using Nesterov's method to accelerate
    /// multibody dynamics with friction and contact* (2015).
    #[aliases("APGD", "Nesterov")]
    pub struct AcceleratedGradient {
        /// Most steps of one solve [1].
        #[default = 2000]
        pub steps: u32,
        /// Residual at which to stop, relative to the force scale [1].
        #[default = 1e-8]
        pub tol: f64,
        /// Residual up to which forces are used after the last step, relative to the force scale
        /// [1]. Beyond it the solve has failed, and `on_fail` says what follows.
        #[default = 1e-4]
        pub accept: Share<Dimensionless>,
        /// Start from zero force each time.
        #[default]
        pub cold: bool,
    }
}

impl AcceleratedGradient {
    /// Vectors, and G once for the test of a problem without solution.
    fn method_numbers(size: ProblemSize) -> u64 {
        let [n, ..] = size.counts();
        n * n + 40 * n
    }

    fn method(&self, size: ProblemSize) -> Method {
        let mut solver = Gradient::new(size.contact_count, self.steps, self.tol);
        Method::iterative(self.cold, self.accept.value(), move |problem, forces| {
            solver.solve_warm(problem, forces)
        })
    }
}
