//! Accelerations that the contacts allow (sec. 4.5 of the paper).

use legwork_linalg::dot;
use legwork_qp::complementarity::HalfInverseMass;
use legwork_qp::{Outcome, Qp};

use super::{ContactInverseDynamics, ContactTask};

impl ContactInverseDynamics {
    /// The accelerations nearest to the desired ones after which no contact penetrates the ground,
    /// and no pressing contact slips under a model without slip, under the contact forces of the
    /// last [`Self::solve`] (eqs. 46–51).
    ///
    /// | symbol | argument | shape | meaning |
    /// |---|---|---|---|
    /// | f | `forces` | 3k | contact forces |
    /// | q̈ | `acceleration` | n | written, if the status is usable |
    /// | τ | `torque` | n | written, if the status is usable |
    /// | v⁺ | `after` | nv | written, if the status is usable |
    ///
    /// A quadratic program in the joints' velocities: those without motor follow from
    /// `M_uu v_u⁺ = (M v)_u − Δt h_u + Δt J_uᵀf − M_ua v_a⁺`. The problem has no solution if
    /// contacts that the joints cannot move apart contradict each other.
    ///
    /// # Panics
    /// If a slice has the wrong length, or the task is not that of the last solve.
    pub fn make_consistent(
        &mut self,
        task: &ContactTask<'_>,
        forces: &[f64],
        acceleration: &mut [f64],
        torque: &mut [f64],
        after: &mut [f64],
    ) -> Outcome {
        let (k, n, nv) = (task.gaps.len(), task.acceleration.len(), task.velocity.len());
        let found = [forces.len(), acceleration.len(), torque.len(), after.len()];
        assert_eq!(found, [3 * k, n, n, nv], "expected 3k, n, n, nv");
        let slips = self.model.has_friction_limit();
        let step = task.time_step;
        let (reduction, work) = (&self.reduction, &mut self.work);
        let nu = reduction.unactuated();

        // y = momentum + Δt W f − L⁻¹ M_ua v_a; the contact velocity is Wᵀ y + J_a v_a.
        work.image.clear();
        work.image.extend_from_slice(&reduction.momentum);
        reduction.add_forces(task, forces, &mut work.image);
        work.matrix.clear();
        for &joint in reduction.joints() {
            let column = &task.mass_matrix[joint * nv..(joint + 1) * nv];
            work.matrix.extend(reduction.free().iter().map(|&i| column[i]));
        }
        for column in work.matrix.chunks_exact_mut(nu.max(1)) {
            reduction.mass.half_solve(column);
        }

        // Rows of the contacts in the joints' velocities: what moves a contact directly, less what
        // it moves through the coordinates without motor. Normals do not approach; tangents of
        // contacts that press hold under a model without slip.
        work.lower.clear();
        work.upper.clear();
        work.normals.clear();
        for row in 0..3 * k {
            let is_normal = row % 3 == 2;
            if !is_normal && (slips || forces[row - row % 3 + 2] <= 0.0) {
                continue;
            }
            let w = reduction.column(row);
            for (j, &joint) in reduction.joints().iter().enumerate() {
                let moved = dot(w, &work.matrix[j * nu..(j + 1) * nu]);
                work.normals.push(task.jacobian[joint * 3 * k + row] - moved);
            }
            let without = dot(w, &work.image);
            let gap = if is_normal { task.gaps[row / 3] / step } else { 0.0 };
            work.lower.push(-gap - without);
            work.upper.push(if is_normal { f64::INFINITY } else { -without });
        }
        // They were written row by row; a program has them column by column.
        let m = work.lower.len();
        work.rows.clear();
        work.rows.resize(m * n, 0.0);
        for (i, row) in work.normals.chunks_exact(n.max(1)).enumerate() {
            for (j, value) in row.iter().enumerate() {
                work.rows[j * m + i] = *value;
            }
        }

        // Nearest in the sense of least squares to the velocities that were wanted.
        work.hessian.clear();
        work.hessian.resize(n * n, 0.0);
        work.hessian.iter_mut().step_by(n + 1).for_each(|diagonal| *diagonal = 1.0);
        work.vector.clear();
        for (&joint, a) in reduction.joints().iter().zip(task.acceleration) {
            work.vector.push(-(task.velocity[joint] + step * a));
        }
        let qp = Qp {
            hessian: &work.hessian,
            gradient: &work.vector,
            rows: &work.rows,
            row_lower: &work.lower,
            row_upper: &work.upper,
            lower: &[],
            upper: &[],
        };
        work.values.clear();
        work.values.resize(n, 0.0);
        let outcome = self.active_set.solve(&qp, &mut work.values);

        // Accelerations of these velocities, and what follows from them.
        if outcome.status.is_usable() {
            for ((a, &joint), v) in
                acceleration.iter_mut().zip(reduction.joints()).zip(&work.values)
            {
                *a = (v - task.velocity[joint]) / step;
            }
            let consistent = ContactTask { acceleration, ..*task };
            if self.reduction.set(&consistent) {
                self.reduction.finish(&consistent, forces, torque, after);
            }
        }
        outcome
    }
}
