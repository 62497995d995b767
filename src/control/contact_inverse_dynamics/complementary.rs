//! Coulomb's law with normal complementarity.

use legwork_qp::complementarity::{CoulombModes, Nearness};
use legwork_qp::{ContactProblem, DEFAULT_REGULARISATION, Outcome, Status};

use super::{Choice, ContactInverseDynamics, ContactTask};

/// Compliances of the contacts that Coulomb's law tries in turn, as shares of the mean diagonal of the Delassus matrix.
const COMPLIANCES: [f64; 6] = [DEFAULT_REGULARISATION, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1];
/// Forces above this many times the largest that would stop a contact on its own are without sense.
const SENSELESS: f64 = 20.0;

impl ContactInverseDynamics {
    /// ID(t)LCP,μ: Coulomb's law on the pyramid, by Lemke's method (eqs. 54–67), or the solution of least change
    /// (sec. 5.3).
    ///
    /// # Contacts that give way
    /// Fingers that hold a box from two sides, and close by a hair's breadth because of how they are told to move, leave
    /// it no place. Then no force obeys the law, or one of any size that turns the box a little. So contacts
    /// may give way: `v = J v⁺ + R f Δt`, with the same compliance R [m/s per N s] of all rows, a damper of
    /// `1/(R Δt)` [N s/m] at each contact. R is a share of the mean diagonal of the Delassus matrix
    /// `J_u M_uu⁻¹ J_uᵀ`, the velocity that an impulse gives to a contact:
    /// 1e-10 at first, which only spreads redundant loads, and more, up to 0.1, if the problem is not solved or asks
    /// for forces beyond 20 times what would stop the fastest contact alone; of answers that all do, the
    /// one with the smallest. The authors' solver adds
    /// 10^k to the diagonal, k = −20, −16, …, 0, until the problem is solved.
    pub(super) fn coulomb(
        &mut self,
        task: &ContactTask<'_>,
        pressing: &mut [f64],
        last_torque: &[f64],
        forces: &mut [f64],
    ) -> Outcome {
        let (rows, step) = (forces.len(), task.time_step);
        let (reduction, work) = (&self.reduction, &mut self.work);
        work.matrix.clear();
        work.vector.clear();
        for j in 0..rows {
            let column = reduction.column(j);
            work.matrix.extend((0..rows).map(|i| dot(reduction.column(i), column)));
            let gap = if j % 3 == 2 { task.gaps[j / 3] / step } else { 0.0 };
            let velocity = reduction.contact_velocity(j, &reduction.velocity);
            work.vector.push((velocity + gap) / step);
        }
        let diagonal = (0..rows).map(|i| work.matrix[i * rows + i]).fold(0.0, f64::max);
        let fastest = work.vector.iter().fold(0.0, |m: f64, b| m.max(b.abs()));
        let typical = fastest / diagonal;
        let force_scale = if typical > 0.0 && typical.is_finite() { typical } else { 1.0 };
        let mut iterations = 0;
        if self.choice == Choice::LeastChange {
            if let Some(outcome) = self.least_change(task, force_scale, last_torque, forces) {
                let largest = forces.iter().fold(0.0, |m: f64, f| m.max(f.abs()));
                if outcome.status.is_usable() && largest <= SENSELESS * force_scale {
                    mark_pressing(forces, pressing);
                    return outcome;
                }
                iterations = outcome.iterations;
            }
            self.solutions = 0;
        }
        let work = &mut self.work;
        work.values.clear();
        work.values.resize(rows, 0.0);
        let mut best = Outcome { status: Status::Undecided, iterations, residual: f64::NAN };
        let mut least = f64::INFINITY;
        forces.fill(0.0);
        for regularisation in COMPLIANCES {
            let problem = ContactProblem {
                inverse_inertia: &work.matrix,
                bias: &work.vector,
                friction: task.friction,
                compliance: &[],
                force_scale,
                cone: &self.cone,
                active: &[],
                regularisation,
            };
            let outcome = self.coulomb.solve(&problem, &mut work.values);
            iterations += outcome.iterations;
            let largest = work.values.iter().fold(0.0, |m: f64, f| m.max(f.abs()));
            if outcome.status.is_usable() && largest < least {
                (best, least) = (outcome, largest);
                forces.copy_from_slice(&work.values);
            } else if !best.status.is_usable() {
                best = outcome;
            }
            if best.status.is_usable() && least <= SENSELESS * force_scale {
                break;
            }
        }
        mark_pressing(forces, pressing);
        Outcome { iterations, ..best }
    }

    /// The solution of least change of torques, `τ = τ₀ − J_aᵀ f`, where τ₀ are those without contact; `None` if there are
    /// too many contacts.
    fn least_change(
        &mut self,
        task: &ContactTask<'_>,
        force_scale: f64,
        last_torque: &[f64],
        forces: &mut [f64],
    ) -> Option<Outcome> {
        if task.gaps.len() > CoulombModes::MOST_CONTACTS {
            return None;
        }
        let mut torque = std::mem::take(&mut self.work.values);
        let mut after = std::mem::take(&mut self.work.upper);
        let mut base = std::mem::take(&mut self.work.lower);
        torque.clear();
        torque.resize(task.acceleration.len(), 0.0);
        after.resize(task.velocity.len(), 0.0);
        forces.fill(0.0);
        self.reduction.finish(task, forces, &mut torque, &mut after);
        // τ as a function of forces: those without motor move by M_au M_uu⁻¹ J_uᵀ f, which the joints feel too.
        base.clear();
        base.extend_from_slice(&torque);
        let (reduction, work) = (&mut self.reduction, &mut self.work);
        work.rows.clear();
        for row in 0..forces.len() {
            forces[row] = force_scale;
            reduction.finish(task, forces, &mut torque, &mut after);
            let columns = torque.iter().zip(&base);
            work.rows.extend(columns.map(|(torque, base)| (torque - base) / force_scale));
            forces[row] = 0.0;
        }
        torque.clear();
        torque.extend(last_torque.iter().zip(&base).map(|(last, base)| last - base));
        let problem = ContactProblem {
            inverse_inertia: &work.matrix,
            bias: &work.vector,
            friction: task.friction,
            compliance: &[],
            force_scale,
            cone: &self.cone,
            active: &[],
            regularisation: 0.0,
        };
        let nearness = Nearness { matrix: &work.rows, target: &torque };
        let (outcome, solutions) = self.modes.nearest(&problem, &nearness, forces);
        self.solutions = solutions;
        (self.work.values, self.work.upper, self.work.lower) = (torque, after, base);
        Some(outcome)
    }
}

/// Sets the flags of contacts that press.
pub(super) fn mark_pressing(forces: &[f64], pressing: &mut [f64]) {
    for (flag, force) in pressing.iter_mut().zip(forces.chunks_exact(3)) {
        *flag = f64::from(force[2] > 0.0);
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
