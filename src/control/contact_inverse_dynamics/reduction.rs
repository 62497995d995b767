//! Reduction of the task to the coordinates without motor.

use legwork_linalg::{axpy, dot};
use legwork_qp::complementarity::{DenseMass, HalfInverseMass};

use super::ContactTask;

/// Weight of the velocities themselves in [`Reduction::carried`], relative to that of the contacts.
/// It decides in directions that move no contact, where forces have no effect.
const CARRIED_WEIGHT: f64 = 1e-10;

/// `M_uu = L Lᵀ` and all data that contact models need; see the docs above.
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
    /// `L⁻¹ ((M v)_u − Δt h_u)`: the same with the joints' share of the momentum, as the kinetic
    /// energy needs it.
    pub(super) momentum: Vec<f64>,
    /// `J_a v_a⁺`, 3k.
    pub(super) drift: Vec<f64>,
    /// v_a⁺.
    target: Vec<f64>,
    dense: Vec<f64>,
    after: Vec<f64>,
    /// Factor of the normal equations of [`Reduction::carried`].
    normal: DenseMass,
}

impl Reduction {
    /// Number nu of coordinates without motor.
    pub(super) fn unactuated(&self) -> usize {
        self.free.len()
    }

    /// Loads a task; false if its numbers are not those of a robot.
    ///
    /// All of M is checked, the joints' rows too: torques follow from them.
    pub(super) fn set(&mut self, task: &ContactTask<'_>) -> bool {
        let (nv, rows) = (task.velocity.len(), 3 * task.gaps.len());
        self.free.clear();
        self.joints.clear();
        for (i, &joint) in task.joints.iter().enumerate() {
            if joint == 0.0 { self.free.push(i) } else { self.joints.push(i) }
        }
        let nu = self.free.len();
        let step = task.time_step;

        // v_a⁺ of the joints, and M_uu with its factor.
        self.target.clear();
        let (joints, velocity) = (&self.joints, task.velocity);
        let target = joints.iter().zip(task.acceleration).map(|(&i, a)| velocity[i] + step * a);
        self.target.extend(target);
        self.dense.clear();
        for &j in &self.free {
            self.dense.extend(self.free.iter().map(|&i| task.mass_matrix[j * nv + i]));
        }
        let inputs =
            [task.mass_matrix, task.bias_force, velocity, &self.target, task.jacobian, task.gaps];
        let is_finite = inputs.into_iter().flatten().all(|x| x.is_finite());
        let has_friction = task.friction.iter().all(|&mu| mu >= 0.0);
        if !(step > 0.0 && is_finite && has_friction && self.mass.set(nu, &self.dense)) {
            return false;
        }

        // (M v)_u − Δt h_u, and r, which is that less M_ua v_a⁺; both by L⁻¹.
        self.momentum.clear();
        self.momentum.extend(self.free.iter().map(|&i| {
            let column = &task.mass_matrix[i * nv..(i + 1) * nv];
            dot(column, velocity) - step * task.bias_force[i]
        }));
        self.velocity.clear();
        self.velocity.extend(self.free.iter().zip(&self.momentum).map(|(&i, momentum)| {
            let column = &task.mass_matrix[i * nv..(i + 1) * nv];
            let of_joints: f64 = joints.iter().zip(&self.target).map(|(&j, v)| column[j] * v).sum();
            momentum - of_joints
        }));
        self.mass.half_solve(&mut self.momentum);
        self.mass.half_solve(&mut self.velocity);

        // L⁻¹ J_uᵀ, and what the joints move the contacts.
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
            axpy(*v, &task.jacobian[j * rows..], &mut self.drift);
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
        dot(self.column(row), y) + self.drift[row]
    }

    /// `y_c = Lᵀ v_c` with the velocity v_c of the coordinates without motor at which contacts
    /// would stick to what the joints move, in the least-squares sense: least `|J_u v_c + d|²`,
    /// from its normal equations `(W Wᵀ + ε I) y_c = −W d` in `W = L⁻¹ J_uᵀ`. d is `J_a v_a⁺`, plus
    /// φ/Δt along normals of penetrating contacts, which move out.
    pub(super) fn carried(&mut self, task: &ContactTask<'_>, out: &mut Vec<f64>) {
        let nu = self.free.len();

        // Normal equations, summed row by row.
        self.dense.clear();
        self.dense.resize(nu * nu, 0.0);
        out.clear();
        out.resize(nu, 0.0);
        let columns = self.columns.chunks_exact(nu.max(1));
        for (row, (column, drift)) in columns.zip(&self.drift).enumerate() {
            let inside = if row % 3 == 2 { task.gaps[row / 3].min(0.0) } else { 0.0 };
            let drift = drift + inside / task.time_step;
            axpy(-drift, column, out);
            for (j, w) in column.iter().enumerate() {
                axpy(*w, column, &mut self.dense[j * nu..]);
            }
        }

        // Directions that move no contact stay at rest.
        let largest = (0..nu).map(|i| self.dense[i * nu + i]).fold(0.0, f64::max);
        for i in 0..nu {
            self.dense[i * nu + i] += CARRIED_WEIGHT * largest;
        }
        if self.normal.set(nu, &self.dense) {
            self.normal.half_solve(out);
            self.normal.half_solve_transposed(out);
        } else {
            // No coordinate moves a contact.
            out.fill(0.0);
        }
    }

    /// Row of `J_a`: the effect of a contact force on the joint torques.
    pub(super) fn joint_row(&self, task: &ContactTask<'_>, row: usize, out: &mut Vec<f64>) {
        let rows = 3 * task.gaps.len();
        out.extend(self.joints.iter().map(|&j| task.jacobian[j * rows + row]));
    }

    /// `Lᵀ v_u⁺` under contact forces.
    pub(super) fn add_forces(&self, task: &ContactTask<'_>, forces: &[f64], y: &mut [f64]) {
        for (column, f) in self.columns.chunks_exact(self.free.len().max(1)).zip(forces) {
            axpy(task.time_step * f, column, y);
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

        // v⁺ of the coordinates without motor from y, of the joints as wanted.
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

        // τ from the joints' rows of the equation of motion.
        for (&i, torque) in self.joints.iter().zip(torque) {
            let column = &task.mass_matrix[i * nv..(i + 1) * nv];
            let changes = after.iter().zip(task.velocity);
            let momentum: f64 = column.iter().zip(changes).map(|(m, (a, v))| m * (a - v)).sum();
            let jacobian = &task.jacobian[i * rows..(i + 1) * rows];
            *torque = momentum / task.time_step + task.bias_force[i] - dot(jacobian, forces);
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
