//! The models with normal complementarity.

use legwork_qp::complementarity::ConstrainedMass;
use legwork_qp::{ContactProblem, Outcome, Status};

use super::{ContactInverseDynamics, ContactTask};

impl ContactInverseDynamics {
    /// ID(t)LCP,∞: the tangential rows that are independent hold (algorithm 1), then a linear
    /// complementarity problem in the normal forces (algorithm 2).
    ///
    /// Dependent tangential rows get no force, and nothing asks that they hold: if the joints move so
    /// that they cannot all hold, [`super::Prediction::inconsistency`] tells. The paper's algorithm 1
    /// keeps the rows `P`, `S`, `T` of the whole robot; here P is eliminated, so the rows live in nu
    /// dimensions.
    ///
    /// Rows that depend on others but for a small angle count as dependent too, so feet that are nearly in one
    /// plane are treated as if they were.
    ///
    /// Feet that are not in one plane can have as many independent tangential rows as there are
    /// dimensions. Nothing is then left to move the normals by, and the problem has no solution if one
    /// of them would sink. The last rows are let go one by one until it has.
    pub(super) fn no_slip(
        &mut self,
        task: &ContactTask<'_>,
        pressing: &mut [f64],
        forces: &mut [f64],
    ) -> Outcome {
        let (k, rows) = (task.gaps.len(), 3 * task.gaps.len());
        let (reduction, work) = (&self.reduction, &mut self.work);
        work.matrix.clear();
        work.normals.clear();
        for row in 0..rows {
            let of = if row % 3 == 2 { &mut work.normals } else { &mut work.matrix };
            of.extend(reduction.free().iter().map(|&i| task.jacobian[i * rows + row]));
        }
        work.kept.clear();
        work.kept.resize(2 * k, false);
        let mut count = 2 * k;
        loop {
            let outcome = self.without_slip(task, count, pressing, forces);
            let last = self.work.kept[..count].iter().rposition(|&kept| kept);
            match last {
                Some(last) if outcome.status == Status::PrimalInfeasible => count = last,
                _ => return outcome,
            }
        }
    }

    /// [`Self::no_slip`] with the first `count` tangential rows.
    fn without_slip(
        &mut self,
        task: &ContactTask<'_>,
        count: usize,
        pressing: &mut [f64],
        forces: &mut [f64],
    ) -> Outcome {
        let (reduction, work) = (&self.reduction, &mut self.work);
        let (k, step, nu) = (task.gaps.len(), task.time_step, reduction.unactuated());
        self.rows.reset(nu);
        let kept = &mut work.kept[..count];
        self.rows.find(&work.matrix[..count * nu], &reduction.mass, kept);
        let kept = || work.kept[..count].iter().enumerate().filter(|(_, kept)| **kept);
        let tangential = |(i, _): (usize, &bool)| 3 * (i / 2) + i % 2;
        work.values.clear();
        work.values.extend(kept().map(tangential).map(|row| -reduction.drift[row]));
        work.image.clear();
        work.image.extend_from_slice(&reduction.velocity);
        self.rows.hold(&mut work.values, &mut work.image);
        work.vector.clear();
        for (i, gap) in task.gaps.iter().enumerate() {
            let normal = reduction.contact_velocity(3 * i + 2, &work.image);
            work.vector.push((normal + gap / step) / step);
        }
        work.forces.clear();
        work.forces.resize(k, 0.0);
        let mass = ConstrainedMass { mass: &reduction.mass, rows: &self.rows };
        let outcome =
            self.pivoting.solve(&work.normals, &mass, &work.vector, pressing, &mut work.forces);
        if !outcome.status.is_usable() {
            return outcome;
        }
        forces.fill(0.0);
        for (force, normal) in forces.chunks_exact_mut(3).zip(&work.forces) {
            force[2] = *normal;
        }
        // The tangential forces hold their rows, and take up what normal forces do to them.
        for (image, velocity) in work.image.iter_mut().zip(&reduction.velocity) {
            *image = (*image - velocity) / step;
        }
        for (i, f) in work.forces.iter().enumerate() {
            for (image, w) in work.image.iter_mut().zip(reduction.column(3 * i + 2)) {
                *image -= f * w;
            }
        }
        work.values.resize(self.rows.rank(), 0.0);
        self.rows.multipliers(&work.image, &mut work.values);
        for (row, value) in kept().map(tangential).zip(&work.values) {
            forces[row] = *value;
        }
        outcome
    }

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
