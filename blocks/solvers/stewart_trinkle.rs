//! `StewartTrinkle`: Coulomb's law on pyramids as a linear complementarity problem.

use legwork_qp::StewartTrinkleSolver;

use crate::solvers::contact_solver::{COLD, Method, ProblemSize, solver_block};

solver_block! {
    pyramids of coulomb, "pivots";

    /// Solves Coulomb friction on pyramids as one linear complementarity problem. Sliding contacts
    /// stay on the ground. The method is Lemke's.
    ///
    /// Per contact the normal force f_n, the weights β of the m edges d of its pyramid, and the
    /// slip λ: `0 ≤ f_n ⟂ a_n ≥ 0`, `0 ≤ β_j ⟂ d_jᵀa_t + λ ≥ 0`, `0 ≤ λ ⟂ μ f_n − Σβ ≥ 0`. The
    /// other solver blocks solve the convex law, in which a contact that slides at v lifts by μ v,
    /// and so do those of `Fallback`; `CoulombContact` finds the same law as this block by a fixed
    /// point around them, with circular cones too, and starts warm. This one always starts cold,
    /// has `k (m + 2)` unknowns, and for forces that are not unique takes what the pivots come to.
    /// The residual is that of Coulomb's law.
    ///
    /// References: D. Stewart, J. Trinkle, *An implicit time-stepping scheme for rigid body
    /// dynamics with inelastic collisions and Coulomb friction* (1996); M. Anitescu, F. Potra,
    /// *Formulating dynamic multi-rigid-body contact problems with friction as solvable linear
    /// complementarity problems* (1997).
    #[aliases("LCP", "time stepping")]
    pub struct StewartTrinkle {}
}

impl StewartTrinkle {
    /// The matrix over edges, normals and speeds, and those of Lemke's method.
    fn method_numbers(size: ProblemSize) -> u64 {
        let [n, s, _] = size.counts();
        4 * (s + n) * (s + n) + n * n
    }

    fn method(&self, size: ProblemSize) -> Method {
        let mut solver = StewartTrinkleSolver::new(size.contact_count, 4);
        Method::warm(COLD, move |problem, _, forces| solver.solve(problem, forces))
    }
}

#[cfg(test)]
mod tests {
    use legwork_qp::{Cone, ConeShape, ContactProblemData, PyramidFit};
    use serde_json::json;

    use super::StewartTrinkle;
    use crate::testing::contacts::{Harness, block, problem};

    /// A body of 2 kg that slides along x at 1 m/s: friction is full against it, and it stays on
    /// the ground, where the convex law would lift it.
    #[test]
    fn what_slides_stays_on_the_ground() {
        let cone = Cone::Pyramid { sides: 4, fit: PyramidFit::Inscribed };
        let shape = ConeShape::new(cone).expect("four sides");
        let mut data = ContactProblemData::new(1, shape);
        (data.inverse_inertia[0], data.inverse_inertia[4], data.inverse_inertia[8]) =
            (0.5, 0.5, 0.5);
        data.bias = vec![1000.0, 0.0, -9.81];
        data.friction = vec![0.3];
        data.force_scale = 20.0;
        let ports = [("problem", problem(1, 3))];
        let mut rig = Harness::new(block::<StewartTrinkle>(json!({})), &ports).expect("planned");
        rig.set_problem(&data);
        rig.step(0.0).expect("solved");
        let (f, weight) = (rig.value("f"), 2.0 * 9.81);
        assert!((f[2] - weight).abs() < 1e-6 * weight, "{f:?}");
        let edge = libm::hypot(f[0], f[1]) / f[2];
        assert!(f[0] < 0.0 && (0.3 / libm::sqrt(2.0) - 1e-6..0.3 + 1e-6).contains(&edge), "{f:?}");
    }
}
