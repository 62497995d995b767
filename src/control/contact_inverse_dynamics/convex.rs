//! The models of least kinetic energy.

use legwork_linalg::{axpy, dot};
use legwork_qp::{ConeLeastSquares, ConeLeastSquaresSolver, Outcome, QpData, Status};

use super::complementary::mark_pressing;
use super::{ContactInverseDynamics, ContactTask, Energy, ModelProblem, ModelSolver, Stages};

/// Weight of the torques in stage II against the quantities that must stay as in stage I, both
/// relative to their longest columns. The motion then changes by about this fraction of what the
/// torques would change.
const TORQUE_WEIGHT: f64 = 1e-6;
/// Weight of the forces themselves, which picks one of those that move the robot equally.
const FORCE_WEIGHT: f64 = 1e-9;
/// Unlimited friction acts at contacts whose normal force is more than this fraction of the largest
/// component of any force.
const PRESSING: f64 = 1e-3;
/// The same against the torques. Unlimited friction forces vary by rounding over this times
/// [`TORQUE_WEIGHT`].
const FORCE_BESIDE_TORQUE: f64 = 1e-6;

impl ContactInverseDynamics {
    /// ID(t)QP,μ and ID(t)QP,∞.
    ///
    /// Stage I (eqs. 69–78): `min ½ v⁺ᵀ M v⁺` over forces in the pyramids, with `N v⁺ ≥ −φ/Δt`. In
    /// `y = L⁻¹ (M v⁺)_u`, the momentum of the coordinates without motor, the energy is
    /// `½ |y|²` plus what the forces do not change, so it is least squares with nu rows.
    ///
    /// The relative energy is `½ |y − y_c|²` with `y = Lᵀ v_u⁺` and `y_c = Lᵀ v_c`. At its minimum,
    /// forces do no work on contacts that stick, and none penetrates where v_c has all stick; the
    /// bounds are left out. Fingers that hold a box from two sides leave no room between them, and
    /// if they contradict each other even slightly, bounds would require unlimited forces.
    ///
    /// Unlimited friction acts at contacts that press: without a bound, nothing in the problem
    /// keeps a foot at zero load from holding the trunk, while in reality that force only moves the
    /// leg. So contacts that pressed in the last step have it first, and the problem is solved
    /// again with those that press in its answer, until they are the same; others are without
    /// friction. The relative energy has no bounds, so fingers may carry a box by their tangential
    /// forces alone: there a normal force of zero has no meaning, and all contacts hold.
    ///
    /// Stage II (eqs. 102–112): least `|τ|²` among forces with the same y. The paper searches the
    /// null space of the Hessian of stage I, which is that of its square root `L⁻¹ J_uᵀ`
    /// ([`Stages::TwoInNullSpace`]). With [`Stages::Two`] y enters as rows of large weight.
    pub(super) fn convex(
        &mut self,
        task: &ContactTask<'_>,
        stages: Stages,
        pressing: &mut [f64],
        forces: &mut [f64],
        other: &mut Option<&mut ModelSolver<'_>>,
    ) -> Outcome {
        let holds_all = self.model.has_friction_limit() || self.energy == Energy::Relative;
        self.work.hold_where_pressed(pressing);
        if holds_all {
            self.work.holds.fill(true);
        }

        // Stage I, again until the contacts that hold are those that press.
        let mut iterations = 0;
        let mut changes = 0;
        let mut outcome = loop {
            let outcome = self.least_energy(task, forces, other);
            iterations += outcome.iterations;
            let is_done = holds_all || !outcome.status.is_usable();
            let largest = forces.iter().fold(0.0, |m: f64, f| m.max(f.abs()));
            if is_done || !self.work.changes_hold(forces, PRESSING * largest, changes) {
                break outcome;
            }
            changes += 1;
        };
        outcome.iterations = iterations;

        // Stage II, from the image y of those forces.
        if stages != Stages::One && outcome.status.is_usable() {
            let second = match stages {
                Stages::TwoInNullSpace => self.least_torque_in_null_space(task, forces),
                _ => self.least_torque(task, forces, other),
            };
            outcome.iterations += second.iterations;
            if second.status.is_usable() {
                forces.copy_from_slice(&self.work.forces);
                outcome.residual = outcome.residual.max(second.residual);
            }
        }
        mark_pressing(forces, pressing);
        outcome
    }

    /// Stage I with friction at the contacts `work.holds`, or as the task has it.
    fn least_energy(
        &mut self,
        task: &ContactTask<'_>,
        forces: &mut [f64],
        other: &mut Option<&mut ModelSolver<'_>>,
    ) -> Outcome {
        let step = task.time_step;
        let (reduction, work) = (&mut self.reduction, &mut self.work);
        work.vector.clear();
        work.normals.clear();
        work.lower.clear();

        // Friction as the task has it, or none or without limit.
        let has_limit = self.model.has_friction_limit();
        let limit = |(mu, holds): (&f64, &bool)| match (has_limit, holds) {
            (true, _) => *mu,
            (false, true) => f64::INFINITY,
            (false, false) => 0.0,
        };
        work.friction.clear();
        work.friction.extend(task.friction.iter().zip(&work.holds).map(limit));

        // The target, and the normals that must not approach.
        match self.energy {
            Energy::Absolute => {
                work.vector.extend(reduction.momentum.iter().map(|p| -p / step));
                for (i, gap) in task.gaps.iter().enumerate() {
                    let row = 3 * i + 2;
                    work.normals.extend_from_slice(reduction.column(row));
                    let without = reduction.contact_velocity(row, &reduction.velocity);
                    work.lower.push(-(gap / step + without) / step);
                }
            }
            Energy::Relative => {
                reduction.carried(task, &mut work.values);
                let without = work.values.iter().zip(&reduction.velocity);
                work.vector.extend(without.map(|(carried, y)| (carried - y) / step));
            }
        }
        let stage_one = ConeLeastSquares {
            matrix: &reduction.columns,
            target: &work.vector,
            friction: &work.friction,
            cone: &self.cone,
            rows: &work.normals,
            lower: &work.lower,
            regularisation: FORCE_WEIGHT,
        };
        let (own, program) = (&mut self.least_squares, &mut work.program);
        let outcome = solve(&stage_one, own, program, other, forces);
        if outcome.status.is_usable() || work.lower.is_empty() {
            return outcome;
        }
        // Joints that push a contact into the ground whatever the base does: then nothing can
        // prevent it.
        let free = ConeLeastSquares { rows: &[], lower: &[], ..stage_one };
        solve(&free, own, program, other, forces)
    }

    /// `J_aᵀ` in `work.rows`, a column of n for each force, and in `torque` what those columns are
    /// to cancel: `τ = τ₁ − J_aᵀ (f − f₁)` while y stays.
    fn torque_rows(&mut self, task: &ContactTask<'_>, forces: &[f64], torque: &mut Vec<f64>) {
        let mut after = std::mem::take(&mut self.work.upper);
        torque.resize(task.acceleration.len(), 0.0);
        after.resize(task.velocity.len(), 0.0);
        self.reduction.finish(task, forces, torque, &mut after);
        self.work.upper = after;
        let (reduction, work) = (&self.reduction, &mut self.work);
        work.rows.clear();
        for row in 0..forces.len() {
            reduction.joint_row(task, row, &mut work.rows);
        }
        for (column, f) in work.rows.chunks_exact(torque.len().max(1)).zip(forces) {
            axpy(*f, column, torque);
        }
    }

    /// Stage II among the forces of the same y, exactly; the answer is in `work.forces`.
    fn least_torque_in_null_space(&mut self, task: &ContactTask<'_>, forces: &[f64]) -> Outcome {
        let mut torque = std::mem::take(&mut self.work.values);
        self.torque_rows(task, forces, &mut torque);
        let (reduction, work) = (&self.reduction, &mut self.work);
        let problem = ConeLeastSquares {
            matrix: &work.rows,
            target: &torque,
            friction: &work.friction,
            cone: &self.cone,
            rows: &[],
            lower: &[],
            regularisation: FORCE_BESIDE_TORQUE,
        };
        work.forces.clear();
        work.forces.extend_from_slice(forces);
        let outcome = match problem.write_qp(&mut work.program) {
            None => Outcome { status: Status::Solved, iterations: 0, residual: 0.0 },
            Some(unit) => {
                let (program, nu) = (&work.program, reduction.unactuated());
                work.within.minimise(program, unit, &reduction.columns, nu, &mut work.forces)
            }
        };
        work.values = torque;
        outcome
    }

    /// Stage II, from the forces of stage I; the answer is in `work.forces`.
    fn least_torque(
        &mut self,
        task: &ContactTask<'_>,
        forces: &[f64],
        other: &mut Option<&mut ModelSolver<'_>>,
    ) -> Outcome {
        let mut torque = std::mem::take(&mut self.work.values);
        self.torque_rows(task, forces, &mut torque);

        // Rows of the torques beside those of y, whose weight keeps y.
        let (reduction, work) = (&self.reduction, &mut self.work);
        let (nu, n) = (reduction.unactuated(), torque.len());
        work.image.clear();
        work.image.resize(nu, 0.0);
        for (column, f) in reduction.columns.chunks_exact(nu).zip(forces) {
            axpy(*f, column, &mut work.image);
        }
        let longest = |columns: &[f64], rows: usize| {
            columns.chunks_exact(rows.max(1)).map(|c| dot(c, c)).fold(0.0, f64::max).sqrt()
        };
        let of_torques = longest(&work.rows, n);
        let weight = if of_torques > 0.0 {
            TORQUE_WEIGHT.sqrt() * longest(&reduction.columns, nu) / of_torques
        } else {
            0.0
        };
        work.matrix.clear();
        for (row, column) in reduction.columns.chunks_exact(nu).enumerate() {
            work.matrix.extend_from_slice(column);
            work.matrix.extend(work.rows[row * n..(row + 1) * n].iter().map(|j| weight * j));
        }
        work.vector.clear();
        work.vector.extend_from_slice(&work.image);
        work.vector.extend(torque.iter().map(|t| weight * t));
        work.forces.clear();
        work.forces.resize(forces.len(), 0.0);
        let stage_two = ConeLeastSquares {
            matrix: &work.matrix,
            target: &work.vector,
            friction: &work.friction,
            cone: &self.cone,
            rows: &[],
            lower: &[],
            regularisation: FORCE_BESIDE_TORQUE * TORQUE_WEIGHT,
        };
        let (own, program) = (&mut self.least_squares, &mut work.program);
        let outcome = solve(&stage_two, own, program, other, &mut work.forces);
        work.values = torque;
        outcome
    }
}

/// Least squares by the `other` solver, as a dense program, or by its `own`.
fn solve(
    problem: &ConeLeastSquares<'_>,
    own: &mut ConeLeastSquaresSolver,
    program: &mut QpData,
    other: &mut Option<&mut ModelSolver<'_>>,
    forces: &mut [f64],
) -> Outcome {
    let Some(other) = other else { return own.solve(problem, forces) };
    let Some(unit) = problem.write_qp(program) else {
        forces.fill(0.0);
        return Outcome { status: Status::Solved, iterations: 0, residual: 0.0 };
    };
    let outcome = other(&ModelProblem::Quadratic(program.view()), forces);
    forces.iter_mut().for_each(|force| *force *= unit);
    outcome
}
