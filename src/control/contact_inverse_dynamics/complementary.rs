//! Coulomb's law with normal complementarity.

use legwork_qp::{ContactProblem, Outcome};

use super::{ContactInverseDynamics, ContactTask};

impl ContactInverseDynamics {
    /// ID(t)LCP,μ: Coulomb's law on the pyramid, by Lemke's method (eqs. 54–67).
    pub(super) fn coulomb(
        &mut self,
        task: &ContactTask<'_>,
        pressing: &mut [f64],
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
        let problem = ContactProblem {
            inverse_inertia: &work.matrix,
            bias: &work.vector,
            friction: task.friction,
            compliance: &[],
            force_scale: if typical > 0.0 && typical.is_finite() { typical } else { 1.0 },
            cone: &self.cone,
            active: &[],
            regularisation: self.regularisation,
        };
        let outcome = self.coulomb.solve(&problem, forces);
        mark_pressing(forces, pressing);
        outcome
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
