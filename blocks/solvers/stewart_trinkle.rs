//! `StewartTrinkle`: Coulomb's law on pyramids as a linear complementarity problem.

use legwork_qp::{ConeShape, ContactProblem, Outcome as Solution, StewartTrinkleSolver};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::solvers::contact_solver::{Method, OnFail, ProblemSize, SolverBlock, solver_block};
use crate::solvers::problem_dump::Dump;

/// Solves Coulomb friction on pyramids as one linear complementarity problem. Sliding contacts stay
/// on the ground. The method is Lemke's.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `problem` | `ContactProblem` | | with a friction pyramid |
/// | out `f` | 3k | N | contact forces on the robot, contact axes |
/// | out `status` | | 1 | 0 solved, 1 inaccurate, else not: see [`solvers`](crate::solvers) |
/// | out `iterations` | | 1 | pivots |
/// | out `residual` | | 1 | residual of Coulomb's law over the force scale; infinite if unknown |
///
/// Per contact the normal force f_n, the weights β of the m edges d of its pyramid, and the slip λ:
/// `0 ≤ f_n ⟂ a_n ≥ 0`, `0 ≤ β_j ⟂ d_jᵀa_t + λ ≥ 0`, `0 ≤ λ ⟂ μ f_n − Σβ ≥ 0`. The other solver
/// blocks solve the convex law, in which a contact that slides at v lifts by μ v; `CoulombContact`
/// finds the same law as this block by a fixed point around them, with circular cones too, and
/// starts warm. This one always starts cold, has `k (m + 2)` unknowns, and for forces that are not
/// unique takes what the pivots come to. The circular cone is refused. Where `on_fail` gave the
/// forces, status, iterations and residual are those of the solver that was asked last.
///
/// Computed at major steps and held between them, unless `in_minor_steps`.
///
/// References: D. Stewart, J. Trinkle, *An implicit time-stepping scheme for rigid body dynamics
/// with inelastic collisions and Coulomb friction* (1996); M. Anitescu, F. Potra, *Formulating
/// dynamic multi-rigid-body contact problems with friction as solvable linear complementarity
/// problems* (1997).
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("x-aliases" = ["LCP", "time stepping"]))]
pub struct StewartTrinkle {
    /// What to do when it does not solve: `Stop` (the default), `HoldLast(max: 5)`, `Zero`,
    /// `Fallback(ActiveSetQp())`, which answers with the convex law.
    pub on_fail: OnFail,
    /// Which problems to keep for the files of a run: `Never`, `Failures(max: 1)` (the default),
    /// `Every(n: 100, max: 10)`.
    pub dump: Dump,
    /// Solve anew in minor steps; default false.
    pub in_minor_steps: bool,
}

const NAME: &str = "StewartTrinkle";

struct Law(StewartTrinkleSolver);

impl Method for Law {
    fn name(&self) -> &'static str {
        NAME
    }

    fn accepts(&self, cone: &ConeShape) -> bool {
        cone.sides() > 0
    }

    fn warm_len(&self, _: usize, _: usize) -> usize {
        0
    }

    fn solve(
        &mut self,
        problem: &ContactProblem<'_>,
        _: &mut [f64],
        forces: &mut [f64],
    ) -> Solution {
        self.0.solve(problem, forces)
    }
}

impl SolverBlock for StewartTrinkle {
    fn name(&self) -> &'static str {
        NAME
    }

    fn accepts_circular(&self) -> bool {
        false
    }

    fn method(&self, size: ProblemSize) -> Box<dyn Method> {
        Box::new(Law(StewartTrinkleSolver::new(size.contact_count, 4)))
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

solver_block!(StewartTrinkle);

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
