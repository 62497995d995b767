//! The task in the coordinates without motor.

use legwork_qp::complementarity::{DenseMass, HalfInverseMass};

use super::ContactTask;

/// `M_uu = L Lᵀ` and all that models of contact need; see the docs above.
#[derive(Debug, Default)]
pub(super) struct Reduction {
    /// Coordinates without motor, and with.
    free: Vec<usize>,
    joints: Vec<usize>,
    pub(super) mass: DenseMass,
    /// `L⁻¹ J_uᵀ`, nu × 3k.
    pub(super) columns: Vec<f64>,
    /// `L⁻¹ r`: velocity `Lᵀ v_u⁺` without contact forces.
    pub(super) velocity: Vec<f64>,
    /// `L⁻¹ ((M v)_u − Δt h_u)`: the same with the joints' share of the momentum, which the kinetic
    /// energy is of.
    pub(super) momentum: Vec<f64>,
    /// `J_a v_a⁺`, 3k.
    pub(super) drift: Vec<f64>,
    /// v_a⁺.
    target: Vec<f64>,
    dense: Vec<f64>,
    after: Vec<f64>,
}

impl Reduction {
    /// Number nu of coordinates without motor.
    pub(super) fn unactuated(&self) -> usize {
        self.free.len()
    }

    /// Takes a task; false if its numbers are not those of a robot.
    pub(super) fn set(&mut self, task: &ContactTask<'_>) -> bool {
        let (nv, rows) = (task.velocity.len(), 3 * task.gaps.len());
        self.free.clear();
        self.joints.clear();
        for (i, &joint) in task.joints.iter().enumerate() {
            if joint == 0.0 { self.free.push(i) } else { self.joints.push(i) }
        }
        let nu = self.free.len();
        let step = task.time_step;
        self.target.clear();
        let (joints, velocity) = (&self.joints, task.velocity);
        let target = joints.iter().zip(task.acceleration).map(|(&i, a)| velocity[i] + step * a);
        self.target.extend(target);
        self.dense.clear();
        for &j in &self.free {
            self.dense.extend(self.free.iter().map(|&i| task.mass_matrix[j * nv + i]));
        }
        let inputs = [task.bias_force, velocity, &self.target, task.jacobian, task.gaps];
        let is_finite = inputs.into_iter().flatten().all(|x| x.is_finite());
        let has_friction = task.friction.iter().all(|&mu| mu >= 0.0);
        if !(step > 0.0 && is_finite && has_friction && self.mass.set(nu, &self.dense)) {
            return false;
        }
        self.momentum.clear();
        self.momentum.extend(self.free.iter().map(|&i| {
            let column = &task.mass_matrix[i * nv..(i + 1) * nv];
            let momentum: f64 = column.iter().zip(velocity).map(|(m, v)| m * v).sum();
            momentum - step * task.bias_force[i]
        }));
        self.velocity.clear();
        self.velocity.extend(self.free.iter().zip(&self.momentum).map(|(&i, momentum)| {
            let column = &task.mass_matrix[i * nv..(i + 1) * nv];
            let of_joints: f64 = joints.iter().zip(&self.target).map(|(&j, v)| column[j] * v).sum();
            momentum - of_joints
        }));
        self.mass.half_solve(&mut self.momentum);
        self.mass.half_solve(&mut self.velocity);
        self.columns.clear();
        for row in 0..rows {
            self.columns.extend(self.free.iter().map(|&i| task.jacobian[i * rows + row]));
        }
        for column in self.columns.chunks_exact_mut(nu.max(1)) {
            self.mass.half_solve(column);
        }
        self.drift.clear();
        self.drift.resize(rows, 0.0);
        for (&j, v) in joints.iter().zip(&self.target) {
            for (drift, jacobian) in self.drift.iter_mut().zip(&task.jacobian[j * rows..]) {
                *drift += jacobian * v;
            }
        }
        true
    }

    /// Column `row` of `L⁻¹ J_uᵀ`.
    pub(super) fn column(&self, row: usize) -> &[f64] {
        let nu = self.free.len();
        &self.columns[row * nu..(row + 1) * nu]
    }

    /// `(J v)` of one row for `y = Lᵀ v_u`.
    pub(super) fn contact_velocity(&self, row: usize, y: &[f64]) -> f64 {
        let column = self.column(row);
        column.iter().zip(y).map(|(w, y)| w * y).sum::<f64>() + self.drift[row]
    }

    /// Row of `J_a`: what a contact force does to the joints' torques.
    pub(super) fn joint_row(&self, task: &ContactTask<'_>, row: usize, out: &mut Vec<f64>) {
        let rows = 3 * task.gaps.len();
        out.extend(self.joints.iter().map(|&j| task.jacobian[j * rows + row]));
    }

    /// `Lᵀ v_u⁺` under contact forces.
    pub(super) fn add_forces(&self, task: &ContactTask<'_>, forces: &[f64], y: &mut [f64]) {
        for (column, f) in self.columns.chunks_exact(self.free.len().max(1)).zip(forces) {
            for (y, w) in y.iter_mut().zip(column) {
                *y += task.time_step * f * w;
            }
        }
    }

    /// v⁺ and the torques of given contact forces.
    pub(super) fn finish(
        &mut self,
        task: &ContactTask<'_>,
        forces: &[f64],
        torque: &mut [f64],
        after: &mut [f64],
    ) {
        let (nv, rows) = (task.velocity.len(), 3 * task.gaps.len());
        let mut y = std::mem::take(&mut self.after);
        y.clear();
        y.extend_from_slice(&self.velocity);
        self.add_forces(task, forces, &mut y);
        self.mass.half_solve_transposed(&mut y);
        for (&i, y) in self.free.iter().zip(&y) {
            after[i] = *y;
        }
        self.after = y;
        for (&i, v) in self.joints.iter().zip(&self.target) {
            after[i] = *v;
        }
        for (&i, torque) in self.joints.iter().zip(torque) {
            let column = &task.mass_matrix[i * nv..(i + 1) * nv];
            let changes = after.iter().zip(task.velocity);
            let momentum: f64 = column.iter().zip(changes).map(|(m, (a, v))| m * (a - v)).sum();
            let jacobian = &task.jacobian[i * rows..(i + 1) * rows];
            let contact: f64 = jacobian.iter().zip(forces).map(|(j, f)| j * f).sum();
            *torque = momentum / task.time_step + task.bias_force[i] - contact;
        }
    }

    /// Coordinates of the joints in v.
    pub(super) fn joints(&self) -> &[usize] {
        &self.joints
    }

    /// Coordinates without motor in v.
    pub(super) fn free(&self) -> &[usize] {
        &self.free
    }
}
