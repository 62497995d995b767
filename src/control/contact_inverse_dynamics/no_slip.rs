//! No slip with normal complementarity.

use legwork_linalg::{axpy, dot};
use legwork_qp::complementarity::{ConstrainedMass, HalfInverseMass};
use legwork_qp::{Lcp, Outcome, Status};

use super::complementary::mark_pressing;
use super::{ContactInverseDynamics, ContactTask, ModelProblem, ModelSolver};

impl ContactInverseDynamics {
    /// ID(t)LCP,∞: the tangential rows that are independent hold (algorithm 1), then a linear
    /// complementarity problem in the normal forces (algorithm 2).
    ///
    /// Rows of contacts that do not press are not held. The paper holds those of all contacts; the
    /// result is a foot at zero load that has to stop the trunk: the ground does not hold it, so
    /// the force meant for the trunk moves the leg, and the next force is larger by the ratio of
    /// their masses. So contacts that pressed in the last step hold first, and the problem is
    /// solved again with those that press in its answer, until they are the same. The answer is
    /// then the limit of Coulomb's law for unlimited friction, where that limit exists.
    ///
    /// Dependent tangential rows get no force. If the joints move so that not all rows can hold,
    /// those kept would, and the order of the feet would decide how the trunk moves. Instead it
    /// moves so that the sum of squares of all sliding velocities is least, whichever rows are
    /// kept, and [`super::Prediction::inconsistency`] reports it; if all can hold, they do. The
    /// paper's algorithm 1 keeps the rows `P`, `S`, `T` of the whole robot; here P is eliminated,
    /// so the rows have nu dimensions.
    ///
    /// Rows that depend on others except for a small angle count as dependent too, so feet that are
    /// nearly in one plane are treated as if they were.
    ///
    /// Feet that are not in one plane can have as many independent tangential rows as there are
    /// dimensions. No freedom is then left for the normals, and the problem has no solution if one
    /// of them would penetrate. The last rows are released one by one until it has.
    pub(super) fn no_slip(
        &mut self,
        task: &ContactTask<'_>,
        pressing: &mut [f64],
        forces: &mut [f64],
        other: &mut Option<&mut ModelSolver<'_>>,
    ) -> Outcome {
        let rows = 3 * task.gaps.len();
        let (reduction, work) = (&self.reduction, &mut self.work);
        work.normals.clear();
        for row in (2..rows).step_by(3) {
            work.normals.extend(reduction.free().iter().map(|&i| task.jacobian[i * rows + row]));
        }
        work.hold_where_pressed(pressing);
        let (mut changes, mut iterations) = (0, 0);
        loop {
            let mut outcome = self.with_holding(task, pressing, forces, other);
            iterations += outcome.iterations;
            outcome.iterations = iterations;
            if !outcome.status.is_usable() {
                return outcome;
            }
            if !self.work.changes_hold(forces, 0.0, changes) {
                mark_pressing(forces, pressing);
                return outcome;
            }
            changes += 1;
        }
    }

    /// [`Self::no_slip`] with the contacts `work.holds`.
    fn with_holding(
        &mut self,
        task: &ContactTask<'_>,
        pressing: &mut [f64],
        forces: &mut [f64],
        other: &mut Option<&mut ModelSolver<'_>>,
    ) -> Outcome {
        let (rows, work) = (3 * task.gaps.len(), &mut self.work);
        work.candidates.clear();
        for i in (0..task.gaps.len()).filter(|&i| work.holds[i]) {
            work.candidates.extend([3 * i, 3 * i + 1]);
        }
        work.matrix.clear();
        for row in &work.candidates {
            let free = self.reduction.free().iter();
            work.matrix.extend(free.map(|&i| task.jacobian[i * rows + row]));
        }
        work.kept.clear();
        work.kept.resize(work.candidates.len(), false);
        let mut count = work.candidates.len();
        loop {
            let outcome = self.without_slip(task, count, pressing, forces, other);
            let last = self.work.kept[..count].iter().rposition(|&kept| kept);
            match last {
                Some(last) if outcome.status == Status::PrimalInfeasible => count = last,
                _ => return outcome,
            }
        }
    }

    /// [`Self::with_holding`] with the first `count` tangential rows of `work.candidates`.
    fn without_slip(
        &mut self,
        task: &ContactTask<'_>,
        count: usize,
        pressing: &mut [f64],
        forces: &mut [f64],
        other: &mut Option<&mut ModelSolver<'_>>,
    ) -> Outcome {
        let (reduction, work) = (&self.reduction, &mut self.work);
        let (k, step, nu) = (task.gaps.len(), task.time_step, reduction.unactuated());

        // Algorithm 1: the independent rows, and the velocities at which all rows slide least.
        self.rows.reset(nu);
        let kept = &mut work.kept[..count];
        self.rows.find(&work.matrix[..count * nu], &reduction.mass, kept);
        self.share_contradictions(count);
        let (reduction, work) = (&self.reduction, &mut self.work);
        work.image.clear();
        work.image.extend_from_slice(&reduction.velocity);
        self.rows.hold(&mut work.values, &mut work.image);

        // Algorithm 2: the normals' velocities while those rows hold, and the forces.
        work.vector.clear();
        for (i, gap) in task.gaps.iter().enumerate() {
            let normal = reduction.contact_velocity(3 * i + 2, &work.image);
            work.vector.push((normal + gap / step) / step);
        }
        work.forces.clear();
        work.forces.resize(k, 0.0);
        let mass = ConstrainedMass { mass: &reduction.mass, rows: &self.rows };
        let outcome = match other {
            None => {
                self.pivoting.solve(&work.normals, &mass, &work.vector, pressing, &mut work.forces)
            }
            Some(solve) => {
                // The matrix is that of the normals' part that the rows leave free.
                work.rows.clear();
                work.rows.extend_from_slice(&work.normals);
                work.rows.chunks_exact_mut(nu).for_each(|normal| mass.half_solve(normal));
                let normal = |i: usize| &work.rows[i * nu..(i + 1) * nu];
                work.hessian.clear();
                for j in 0..k {
                    work.hessian.extend((0..k).map(|i| dot(normal(i), normal(j))));
                }
                #[expect(clippy::expect_used, reason = "both were filled above")]
                let lcp = Lcp::new(&work.hessian, &work.vector).expect("k by k numbers");
                solve(&ModelProblem::Complementarity(lcp), &mut work.forces)
            }
        };
        if !outcome.status.is_usable() {
            return outcome;
        }
        forces.fill(0.0);
        for (force, normal) in forces.chunks_exact_mut(3).zip(&work.forces) {
            force[2] = *normal;
        }

        // The tangential forces hold their rows, and balance the effect of normal forces on them.
        for (image, velocity) in work.image.iter_mut().zip(&reduction.velocity) {
            *image = (*image - velocity) / step;
        }
        for (i, f) in work.forces.iter().enumerate() {
            axpy(-f, reduction.column(3 * i + 2), &mut work.image);
        }
        work.values.resize(self.rows.rank(), 0.0);
        self.rows.multipliers(&work.image, &mut work.values);
        for (row, value) in kept_rows(&work.candidates[..count], &work.kept).zip(&work.values) {
            forces[row] = *value;
        }
        outcome
    }

    /// Writes to `work.values` the velocities of the kept rows relative to joints at rest for which
    /// sliding is least: with the columns C of kept rows and W of all candidates, `y = y₀ + C λ`,
    /// `min |Wᵀ y + d|²`. Kept rows span all, so only C is needed; the normal equations have at
    /// most nu unknowns.
    fn share_contradictions(&mut self, count: usize) {
        let (reduction, work) = (&self.reduction, &mut self.work);
        let candidates = &work.candidates[..count];
        let rank = self.rows.rank();
        work.hessian.clear();
        work.hessian.resize(rank * rank, 0.0);
        work.values.clear();
        work.values.resize(rank, 0.0);
        work.image.clear();

        // Normal equations in the multipliers λ of the kept rows.
        for &row in candidates {
            let column = reduction.column(row);
            let slides = reduction.contact_velocity(row, &reduction.velocity);
            work.lower.clear();
            let kept = kept_rows(candidates, &work.kept);
            work.lower.extend(kept.map(|other| dot(column, reduction.column(other))));
            for (j, a) in work.lower.iter().enumerate() {
                work.values[j] -= a * slides;
                axpy(*a, &work.lower, &mut work.hessian[j * rank..]);
            }
        }
        if !self.normal.set(rank, &work.hessian) {
            // Dominated by rounding: the kept rows hold.
            work.values.clear();
            work.values.extend(kept_rows(candidates, &work.kept).map(|row| -reduction.drift[row]));
            return;
        }
        self.normal.half_solve(&mut work.values);
        self.normal.half_solve_transposed(&mut work.values);

        // The velocity of each kept row at that y.
        work.image.extend_from_slice(&reduction.velocity);
        for (row, factor) in kept_rows(candidates, &work.kept).zip(&work.values) {
            axpy(*factor, reduction.column(row), &mut work.image);
        }
        for (row, value) in kept_rows(candidates, &work.kept).zip(&mut work.values) {
            *value = dot(reduction.column(row), &work.image);
        }
    }
}

/// Those of `rows` that are kept.
fn kept_rows<'a>(rows: &'a [usize], kept: &'a [bool]) -> impl Iterator<Item = usize> + 'a {
    rows.iter().zip(kept).filter(|(_, kept)| **kept).map(|(row, _)| *row)
}
