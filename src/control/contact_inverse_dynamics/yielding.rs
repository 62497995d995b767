//! Contacts that yield.
//!
//! If fingers that hold a box from two sides are commanded to close even slightly, they leave no
//! room for it. Then no force satisfies a law of complementarity, or forces of any size do that
//! turn the box a little. So contacts may yield: `v = J v⁺ + R f Δt` replaces `J v⁺`, with the same
//! compliance R [m/s per N s] of all rows, which is a damper of `1/(R Δt)` [N s/m] at each contact.
//!
//! R is a fraction of the mean diagonal of the Delassus matrix G = `J_u M_uu⁻¹ J_uᵀ`, the velocity
//! that an impulse gives to a contact. It is 1e-10 at first for Coulomb's law, which only spreads
//! redundant loads, and zero for the models without slip. Larger values, up to 0.1, are tried if
//! the problem is not solved or requires forces beyond 20 times the largest `|b_i|/G_ii`, which
//! stops one row of one contact alone. Such forces may still be right, for contacts with a poor
//! lever arm, say. So contacts yield only if they contradict each other: a fraction of 1e-4 or less
//! then reduces the forces by nine tenths. The least compliance with forces below the bound is
//! taken, or, where none has them, the one with the smallest. The authors' solver adds 10^k to the
//! diagonal, k = −20, −16, …, 0, until the problem is solved.

use legwork_linalg::{dot, max_abs};
use legwork_qp::{DEFAULT_REGULARISATION, Outcome, Qp};

use super::complementary::mark_pressing;
use super::{ContactInverseDynamics, ContactTask, ModelSolver};

/// Compliances that are tried in turn, as fractions of the mean diagonal of the Delassus matrix.
pub(super) const COMPLIANCES: [f64; 6] = [DEFAULT_REGULARISATION, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1];
/// Forces above this many times the largest that would stop a contact on its own are checked again.
const SENSELESS: f64 = 20.0;
/// Contacts contradict each other if a compliance of this fraction, or less, leaves less than that
/// fraction of their forces.
const TELLING: f64 = 1e-4;
const CONTRADICTED: f64 = 0.1;

/// Decides which of several answers, of growing compliance, is taken.
pub(super) struct Yielding {
    /// Largest force that needs no check [N].
    limit: f64,
    /// Largest force of the answer that is taken [N]; infinite while there is none.
    least: f64,
    is_contradicted: bool,
}

impl Yielding {
    /// With the force that stops a contact on its own.
    pub(super) fn new(typical_force: f64) -> Self {
        Self { limit: SENSELESS * typical_force, least: f64::INFINITY, is_contradicted: false }
    }

    /// Whether the answer `forces`, which is usable, at the compliance `share` replaces those
    /// before.
    pub(super) fn takes(&mut self, share: f64, forces: &[f64]) -> bool {
        let size = max_abs(forces);
        let is_taken = if self.least.is_infinite() {
            // A problem that has an answer only with contacts that yield, and not just by rounding,
            // is a contradiction.
            self.is_contradicted = share > TELLING;
            size.is_finite()
        } else if self.is_contradicted {
            size < self.least
        } else {
            self.is_contradicted = share <= TELLING && size < CONTRADICTED * self.least;
            self.is_contradicted
        };
        if is_taken {
            self.least = size;
        }
        is_taken
    }

    /// Whether no answer at the compliance `next` or above can replace the present one.
    pub(super) fn is_settled(&self, next: f64) -> bool {
        let is_found = self.least.is_finite();
        self.least <= self.limit || (is_found && !self.is_contradicted && next > TELLING)
    }
}

impl ContactInverseDynamics {
    /// The Delassus matrix G in `work.matrix`, and the rest as in [`Self::typical_force`].
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

    /// The contact velocities without forces, over Δt, in `work.vector`: b. Returns the largest
    /// force that stops a row of a contact on its own, `|b_i|/G_ii`.
    ///
    /// Each row has its own G_ii: under a body that is high over its foot, that of the tangential
    /// rows is many times that of the normal. Rows that no force moves, except by rounding, are
    /// left out.
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
        let immovable = DEFAULT_REGULARISATION * (0..rows).map(square).fold(0.0, f64::max);
        let typical = (0..rows)
            .filter(|&i| square(i) > immovable)
            .map(|i| work.vector[i].abs() / square(i))
            .fold(0.0, f64::max);
        if typical > 0.0 && typical.is_finite() { typical } else { 1.0 }
    }

    /// Mean diagonal of the matrix computed by [`Self::delassus`] [1/kg].
    pub(super) fn mean_diagonal(&self, task: &ContactTask<'_>) -> f64 {
        let n = 3 * task.gaps.len();
        (0..n).map(|i| self.work.matrix[i * n + i]).sum::<f64>() / n as f64
    }

    /// [`Self::no_slip`], or where that fails or requires implausible forces, the same with
    /// contacts that yield: `min ½ fᵀ(G + R) f + fᵀb` over `f_n ≥ 0`, whose conditions are
    /// `0 ≤ f_n ⟂ v_n ≥ 0` and `v_t = 0`. Contacts that do not press have no tangential force, as
    /// there.
    pub(super) fn no_slip_or_yield(
        &mut self,
        task: &ContactTask<'_>,
        pressing: &mut [f64],
        forces: &mut [f64],
        other: &mut Option<&mut ModelSolver<'_>>,
    ) -> Outcome {
        let mut best = self.no_slip(task, pressing, forces, other);
        let mut yielding = Yielding::new(self.typical_force(task));
        if best.status.is_usable() {
            // The first answer is always accepted.
            yielding.takes(0.0, forces);
        }
        if yielding.is_settled(0.0) {
            return best;
        }
        self.delassus(task);
        let mean = self.mean_diagonal(task);
        let mut iterations = best.iterations;
        for share in &COMPLIANCES[1..] {
            if yielding.is_settled(*share) {
                break;
            }
            let outcome = self.no_slip_that_yields(task, share * mean);
            iterations += outcome.iterations;
            if outcome.status.is_usable() && yielding.takes(*share, &self.work.values) {
                best = outcome;
                self.compliance = share * mean;
                forces.copy_from_slice(&self.work.values);
            }
        }
        mark_pressing(forces, pressing);
        Outcome { iterations, ..best }
    }

    /// The forces at one compliance, in `work.values`, of the contacts `work.holds` at first and
    /// then of those that press.
    fn no_slip_that_yields(&mut self, task: &ContactTask<'_>, compliance: f64) -> Outcome {
        let n = 3 * task.gaps.len();
        let (mut changes, mut iterations) = (0, 0);
        loop {
            let work = &mut self.work;
            work.hessian.clear();
            work.hessian.extend_from_slice(&work.matrix);
            work.lower.clear();
            work.upper.clear();
            for i in 0..n {
                work.hessian[i * n + i] += compliance;
                let (lower, upper) = match (i % 3 == 2, work.holds[i / 3]) {
                    (true, _) => (0.0, f64::INFINITY),
                    (false, true) => (f64::NEG_INFINITY, f64::INFINITY),
                    (false, false) => (0.0, 0.0),
                };
                work.lower.push(lower);
                work.upper.push(upper);
            }
            let qp = Qp {
                hessian: &work.hessian,
                gradient: &work.vector,
                rows: &[],
                row_lower: &[],
                row_upper: &[],
                lower: &work.lower,
                upper: &work.upper,
            };
            work.values.clear();
            work.values.resize(n, 0.0);
            let outcome = self.active_set.solve(&qp, &mut work.values);
            iterations += outcome.iterations;
            let values = std::mem::take(&mut work.values);
            let is_done = !outcome.status.is_usable() || !work.changes_hold(&values, 0.0, changes);
            work.values = values;
            if is_done {
                return Outcome { iterations, ..outcome };
            }
            changes += 1;
        }
    }
}
