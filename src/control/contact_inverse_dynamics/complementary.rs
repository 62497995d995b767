//! Coulomb's law with normal complementarity.

use legwork_qp::complementarity::{CoulombModes, Nearness};
use legwork_qp::{ContactMethod, ContactProblem, DEFAULT_REGULARISATION, Outcome, Status};

use super::yielding::{COMPLIANCES, Yielding};
use super::{Choice, ContactInverseDynamics, ContactTask, ModelProblem, ModelSolver};

impl ContactInverseDynamics {
    /// ID(t)LCP,μ: Coulomb's law on the pyramid, by Lemke's method (eqs. 54–67), or the solution of
    /// least change (sec. 5.3). Contacts that contradict each other yield ([`super::yielding`]).
    pub(super) fn coulomb(
        &mut self,
        task: &ContactTask<'_>,
        pressing: &mut [f64],
        last_torque: &[f64],
        forces: &mut [f64],
        other: &mut Option<&mut ModelSolver<'_>>,
    ) -> Outcome {
        let force_scale = self.delassus(task);
        let mean = self.mean_diagonal(task);
        let mut yielding = Yielding::new(force_scale);

        // The solution of least change goes first, if it is wanted and there is one.
        let mut best = Outcome { status: Status::Undecided, iterations: 0, residual: f64::NAN };
        if self.choice == Choice::LeastChange {
            if let Some(outcome) = self.least_change(task, force_scale, last_torque, forces) {
                best = outcome;
            }
            if !(best.status.is_usable() && yielding.takes(0.0, forces)) {
                self.solutions = 0;
            }
        }
        if !best.status.is_usable() {
            forces.fill(0.0);
        }

        // Otherwise that of the solver, at growing compliance until forces make sense.
        let mut iterations = best.iterations;
        let work = &mut self.work;
        work.values.clear();
        work.values.resize(forces.len(), 0.0);
        for share in COMPLIANCES {
            if yielding.is_settled(share) {
                break;
            }
            let problem = ContactProblem {
                inverse_inertia: &work.matrix,
                bias: &work.vector,
                friction: task.friction,
                compliance: &[],
                force_scale,
                cone: &self.cone,
                active: &[],
                regularisation: share,
            };
            let outcome = match other {
                None => self.coulomb.solve(&problem, &mut work.values),
                Some(solve) => {
                    let root = &self.reduction.columns;
                    solve(&ModelProblem::Contact { problem, root }, &mut work.values)
                }
            };
            iterations += outcome.iterations;
            if outcome.status.is_usable() && yielding.takes(share, &work.values) {
                best = outcome;
                self.solutions = 0;
                // The first compliance only decides between redundant contacts.
                self.compliance = if share > DEFAULT_REGULARISATION { share * mean } else { 0.0 };
                forces.copy_from_slice(&work.values);
            } else if !best.status.is_usable() {
                best = outcome;
            }
        }
        mark_pressing(forces, pressing);
        Outcome { iterations, ..best }
    }

    /// The solution of least change of torques, `τ = τ₀ − J_aᵀ f`, where τ₀ are those without
    /// contact; `None` if there are too many contacts.
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

        // τ as a function of forces: those without motor move by M_au M_uu⁻¹ J_uᵀ f, which also
        // changes the joint torques.
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

        // Of all solutions the one whose torques are nearest to the last.
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
