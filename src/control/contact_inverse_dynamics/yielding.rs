//! Contacts that give way.
//!
//! Fingers that hold a box from two sides, and close by a hair's breadth because of how they are told to move, leave it
//! no place. Then no force obeys a law of complementarity, or one of any size does that turns the box a little. So
//! contacts may give way: `v = J v⁺ + R f Δt` takes the place of `J v⁺`, with the same compliance R [m/s per N s] of all
//! rows, which is a damper of `1/(R Δt)` [N s/m] at each contact.
//!
//! R is a share of the mean diagonal of the Delassus matrix `J_u M_uu⁻¹ J_uᵀ`, the velocity that an impulse gives to a
//! contact. It is 1e-10 at first for Coulomb's law, which only spreads redundant loads, and none without slip; and more,
//! up to 0.1, if the problem is not solved or asks for forces beyond 20 times what would stop the fastest contact
//! alone. Of answers that all do, the one with the smallest forces is taken. Without slip such forces may be right: there
//! contacts give way only if a share of 1e-4 takes nine tenths of them away. The authors' solver adds 10^k to the
//! diagonal, k = −20, −16, …, 0, until the problem is solved.

use legwork_qp::{DEFAULT_REGULARISATION, Outcome, Qp};

use super::complementary::{dot, mark_pressing};
use super::{ContactInverseDynamics, ContactTask};

/// Compliances that are tried in turn, as shares of the mean diagonal of the Delassus matrix.
pub(super) const COMPLIANCES: [f64; 6] = [DEFAULT_REGULARISATION, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1];
/// Forces above this many times the largest that would stop a contact on its own are without sense.
pub(super) const SENSELESS: f64 = 20.0;
/// Contacts without slip contradict each other if a compliance of this share, or less, leaves less than that share of
/// their forces.
const TELLING: f64 = 1e-4;
const CONTRADICTED: f64 = 0.1;

impl ContactInverseDynamics {
    /// The Delassus matrix in `work.matrix`, and the rest as [`Self::typical_force`] has it.
    pub(super) fn delassus(&mut self, task: &ContactTask<'_>) -> f64 {
        let rows = 3 * task.gaps.len();
        let (reduction, work) = (&self.reduction, &mut self.work);
        work.matrix.clear();
        for j in 0..rows {
            let column = reduction.column(j);
            work.matrix.extend((0..rows).map(|i| dot(reduction.column(i), column)));
        }
        self.typical_force(task)
    }

    /// The contact velocities without forces, over Δt, in `work.vector`. Returns the force that stops the fastest contact
    /// alone, at the largest diagonal of the Delassus matrix.
    fn typical_force(&mut self, task: &ContactTask<'_>) -> f64 {
        let (rows, step) = (3 * task.gaps.len(), task.time_step);
        let (reduction, work) = (&self.reduction, &mut self.work);
        work.vector.clear();
        for j in 0..rows {
            let gap = if j % 3 == 2 { task.gaps[j / 3] / step } else { 0.0 };
            let velocity = reduction.contact_velocity(j, &reduction.velocity);
            work.vector.push((velocity + gap) / step);
        }
        let square = |i: usize| dot(reduction.column(i), reduction.column(i));
        let diagonal = (0..rows).map(square).fold(0.0, f64::max);
        let typical = largest(&work.vector) / diagonal;
        if typical > 0.0 && typical.is_finite() { typical } else { 1.0 }
    }

    /// [`Self::no_slip`], or where that fails or asks for forces without sense, the same with contacts that give way:
    /// `min ½ fᵀ(G + R) f + fᵀb` over `f_n ≥ 0`, whose conditions are `0 ≤ f_n ⟂ v_n ≥ 0` and `v_t = 0`.
    pub(super) fn no_slip_or_yield(
        &mut self,
        task: &ContactTask<'_>,
        pressing: &mut [f64],
        forces: &mut [f64],
    ) -> Outcome {
        let rigid = self.no_slip(task, pressing, forces);
        let limit = SENSELESS * self.typical_force(task);
        if rigid.status.is_usable() && largest(forces) <= limit {
            return rigid;
        }
        self.delassus(task);
        let n = forces.len();
        let (mut best, mut least) = (rigid, f64::INFINITY);
        let mut is_sound = rigid.status.is_usable();
        if is_sound {
            least = largest(forces);
        }
        let work = &mut self.work;
        let mean = (0..n).map(|i| work.matrix[i * n + i]).sum::<f64>() / n as f64;
        work.lower.clear();
        work.lower.extend((0..n).map(|i| if i % 3 == 2 { 0.0 } else { f64::NEG_INFINITY }));
        for compliance in &COMPLIANCES[1..] {
            if least <= limit || (is_sound && *compliance > TELLING) {
                break;
            }
            work.hessian.clear();
            work.hessian.extend_from_slice(&work.matrix);
            for i in 0..n {
                work.hessian[i * n + i] += compliance * mean;
            }
            let qp = Qp {
                hessian: &work.hessian,
                gradient: &work.vector,
                rows: &[],
                row_lower: &[],
                row_upper: &[],
                lower: &work.lower,
                upper: &[],
            };
            work.values.clear();
            work.values.resize(n, 0.0);
            let outcome = self.active_set.solve(&qp, &mut work.values);
            let size = largest(&work.values);
            let is_wanted = if is_sound { size < CONTRADICTED * least } else { size < least };
            if outcome.status.is_usable() && is_wanted {
                (best, least) = (outcome, size);
                is_sound = false;
                forces.copy_from_slice(&work.values);
            }
        }
        mark_pressing(forces, pressing);
        best
    }
}

/// The largest absolute value.
pub(super) fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}
