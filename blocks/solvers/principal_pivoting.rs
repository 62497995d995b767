//! `PrincipalPivoting`: the principal pivoting method as a contact solver.

use legwork_block::Fault;
use legwork_mechanics::{MassFactorRef, PackedFactor};
use legwork_qp::PrincipalPivotingSolver;
use legwork_qp::complementarity::HalfInverseMass;

use crate::solvers::contact_solver::{COLD, Given, Method, ProblemSize, solver_block};

solver_block! {
    pyramids, "pivots";

    /// Solves the contact problem by principal pivoting on pyramids of friction. The unknowns are
    /// the edges of the pyramids.
    ///
    /// One unknown per edge of each pyramid; the set of edges that carry force changes by one a
    /// pivot until none pulls and none lets its contact approach. Exact up to rounding, and fast
    /// where few edges carry force. The columns are made from J and the factor of M on the bus: the
    /// matrix of the complementarity problem is never formed, and of G only the judge of the answer
    /// hears. It starts from the edges of the last step. What pivoting cannot finish is handed to
    /// Lemke's method.
    ///
    /// Reference: S. Zapolsky, E. Drumwright, *Inverse dynamics with rigid contact and friction*
    /// (2017), algorithm 2; R. W. Cottle, J.-S. Pang, R. E. Stone, *The Linear Complementarity
    /// Problem* (1992), sec. 4.2.
    #[aliases("LCP", "Murty")]
    pub struct PrincipalPivoting {
        /// Start without pressing edges each time.
        #[default]
        pub cold: bool,
    }
}

/// The factor of M as the pivoting methods of `legwork-qp` take it: with `CᵀC = M`, `C⁻ᵀ` is a
/// square root of M⁻¹. It is here because `legwork-qp` knows no robot and `legwork-mechanics` no
/// solver.
pub(crate) struct RootOfInverse<'a>(pub(crate) MassFactorRef<'a>);

impl HalfInverseMass for RootOfInverse<'_> {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn half_solve(&self, x: &mut [f64]) {
        self.0.half_solve_in_place(x);
    }
}

impl PrincipalPivoting {
    /// The columns and their basis, H and its root; the matrix over the edges for Lemke's method.
    fn method_numbers(size: ProblemSize) -> u64 {
        let [n, s, nv] = size.counts();
        5 * s * s + (3 * s + 4 * (n + nv)) * (n + nv) + 4 * n * n + 3 * nv * nv + 20 * s
    }

    fn method(&self, size: ProblemSize) -> Method {
        let ProblemSize { contact_count, velocity_dim } = size;
        let mut solver = PrincipalPivotingSolver::with_velocities(contact_count, 4, velocity_dim);
        let mut tree = PackedFactor::new(velocity_dim);
        let is_cold = self.cold;
        // Flags of a cold start.
        let mut flags = Vec::with_capacity(4 * contact_count);
        let solve = move |given: &Given<'_>, warm: &mut [f64], forces: &mut [f64]| {
            let Given { problem, jacobian, factor } = given;
            let mass = tree.read(factor).map_err(|error| Fault::new(error.to_string()))?;
            let mut start = warm;
            if is_cold {
                flags.clear();
                flags.resize(problem.contact_count() * problem.cone.sides(), 0.0);
                start = &mut flags;
            }
            Ok(solver.solve_with_mass(problem, jacobian, &RootOfInverse(mass), start, forces))
        };
        let warm_len = if is_cold { COLD } else { |sides| sides };
        Method { warm_len, uses_mass: true, solve: Box::new(solve) }
    }
}
