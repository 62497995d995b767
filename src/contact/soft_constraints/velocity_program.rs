//! The convex problem of velocities as a cone program, for files and other solvers.
//!
//! With a slack s per row, in m/s, `min ½ vᵀMv - pᵀv + Σ ½ D_i s_i²` subject to
//!
//! | law | condition | impulse |
//! |---|---|---|
//! | bilateral | `G v + s = a/D` | `D s` |
//! | unilateral, contact without friction | `G v + s ≥ a/D` | `D s` |
//! | contact | `-w_n ≥ μ |w_t|` with `w = a/D - G v - s` | `D s` |
//!
//! where `a - D u` is the row's impulse before the projection on its set. It is the problem of
//! [`super::newton`]: a contact's function is half the squared distance of `a - D u` to the cone
//! that is polar to the friction cone, in the metric of 1/D, so w spans that cone.

use super::local_law::Kind;
use super::options::Method;
use super::problem::{BodyIndex, ConstraintProblem};
use super::solver::SoftConstraintSolver;
use legwork_qp::{ConeProgramData, QpData};

impl SoftConstraintSolver {
    /// The convex problem of the last pass of [`Self::solve`] for this problem: all of
    /// M, p and G, and the laws at their last tangents, multipliers and slips. Its minimum
    /// `(v₁, s)` is the solution, up to the tolerance. Allocates, dense.
    ///
    /// `None` if the problem is not that of the last solve by [`Method::Velocities`], or a contact
    /// with friction has neither stiffness nor damping along its normal but a preload.
    #[must_use]
    pub fn velocity_program(&self, problem: &ConstraintProblem) -> Option<ConeProgramData> {
        if self.options.method != Method::Velocities
            || self.laws.len() != problem.constraint_count()
        {
            return None;
        }
        let (nv, n) = (problem.velocity_dim(), problem.velocity_dim() + problem.row_count());
        // ½ vᵀM v - pᵀv, and ½ D s² for the slack s of each row.
        let mut hessian = vec![0.0; n * n];
        for body in 0..problem.sizes().len() {
            let (mass, range) = (problem.mass_of(body), problem.velocities_of(BodyIndex(body)));
            for (column, j) in mass.chunks_exact(range.len().max(1)).zip(range.clone()) {
                hessian[j * n + range.start..j * n + range.end].copy_from_slice(column);
            }
        }
        let mut gradient: Vec<f64> = problem.momentum().iter().map(|p| -p).collect();
        gradient.resize(n, 0.0);
        // Rows of the program: coefficients over v and one slack, and bounds.
        let (mut linear, mut cones) = (Vec::new(), Vec::new());
        let mut slack_lower = vec![f64::NEG_INFINITY; n];
        for (constraint, law) in problem.constraints().iter().zip(&self.laws) {
            let (first, rows) = (constraint.first_row, constraint.law.row_count());
            let ([d_t, d_n], offset) = (law.conductance(), law.drive([0.0; 3]));
            let g = |row: usize| problem.row_of(constraint, row);
            let has_cone = law.kind() == Kind::Cone && d_n > 0.0;
            if law.kind() == Kind::Cone && d_n == 0.0 && offset[2] > 0.0 {
                return None;
            }
            for row in 0..rows {
                let (at, is_normal) = (nv + first + row, row + 1 == rows);
                let d = if is_normal { d_n } else { d_t };
                // A row without effect has a slack that is zero.
                let acts = d > 0.0 && (is_normal || has_cone);
                hessian[at * (n + 1)] = if acts { d } else { 1.0 };
                if !acts && is_normal && law.kind() != Kind::Cone {
                    // No slope: a constant impulse.
                    let push = law.response([0.0; 3]).impulse[2];
                    gradient.iter_mut().zip(g(row)).for_each(|(out, g)| *out -= g * push);
                }
            }
            let normal = rows - 1;
            if has_cone {
                let mu = law.friction();
                let slope = [mu, mu, -1.0];
                let share = [offset[0] / d_t, offset[1] / d_t, offset[2] / d_n];
                for row in [2, 0, 1] {
                    let scaled = g(row).into_iter().map(|g| -slope[row] * g).collect::<Vec<_>>();
                    cones.push((scaled, first + row, -slope[row], slope[row] * share[row]));
                }
            } else if d_n > 0.0 && law.kind() != Kind::Cone {
                let level = offset[2] / d_n;
                let is_free = law.kind() == Kind::Free;
                slack_lower[nv + first + normal] = if is_free { f64::NEG_INFINITY } else { 0.0 };
                let upper = if is_free { level } else { f64::INFINITY };
                linear.push((g(normal), first + normal, level, upper));
            }
        }
        // Dense columns of the rows that were listed.
        let (m, r) = (linear.len(), cones.len());
        let (mut rows, mut cone_rows) = (vec![0.0; m * n], vec![0.0; r * n]);
        for (i, (g, slack, ..)) in linear.iter().enumerate() {
            g.iter().enumerate().for_each(|(j, g)| rows[j * m + i] = *g);
            rows[(nv + slack) * m + i] = 1.0;
        }
        for (i, (g, slack, value, _)) in cones.iter().enumerate() {
            g.iter().enumerate().for_each(|(j, g)| cone_rows[j * r + i] = *g);
            cone_rows[(nv + slack) * r + i] = *value;
        }
        Some(ConeProgramData {
            linear: QpData {
                hessian,
                gradient,
                rows,
                row_lower: linear.iter().map(|row| row.2).collect(),
                row_upper: linear.iter().map(|row| row.3).collect(),
                lower: slack_lower,
                upper: vec![f64::INFINITY; n],
            },
            cone_rows,
            cone_offset: cones.iter().map(|row| row.3).collect(),
            cone_sizes: vec![3; r / 3],
        })
    }

    /// The program in forces of the last pass of [`Self::solve`], in impulses over the
    /// root of their curvature; `None` with [`Method::Velocities`] and before any solve.
    #[must_use]
    pub fn force_program(&self) -> Option<ConeProgramData> {
        let is_wanted = self.options.method != Method::Velocities;
        self.program.as_ref().filter(|_| is_wanted).map(|program| program.data.clone())
    }
}
