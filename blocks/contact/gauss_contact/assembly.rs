//! Assembly of the contact problem from the rows that matter in this step.

use legwork_block::{Fault, Inputs, Outcome, Outputs};
use legwork_contact::rigid::row_products_into;

use super::{GaussContact, Level, Plan};
use crate::buses::{Contact, ContactPoints, problem_leaf as leaf};
use crate::constraints::closed_chain::{ClosedChain, Keeps};
use crate::contact::friction_cone::is_inscribed;
use crate::dynamics::applied_force::applied_force;
use crate::dynamics::wire_factor::WireFactor;

/// Acceleration of free fall by which forces are scaled [m/s²]; it need not be the robot's own.
const SCALE_GRAVITY: f64 = 9.81;

/// Work memory of a [`GaussContact`]: the problem of the rows that matter.
pub struct Assembly {
    factor: WireFactor,
    chain: ClosedChain,
    /// The parameter μ, k; empty if it is a signal.
    friction: Vec<f64>,
    /// Index of each assembled row among 3k.
    rows: Vec<usize>,
    /// Rows of J, column by column.
    jacobian: Vec<f64>,
    /// `J C⁻¹`.
    half_jacobian: Vec<f64>,
    /// `C ν̇` of the motion without contact forces, nv.
    motion: Vec<f64>,
    inertia: Vec<f64>,
    bias: Vec<f64>,
}

impl Assembly {
    /// Memory for `count` contacts and `constraints` of a robot with `nv` velocities.
    pub(super) fn new(count: usize, constraints: usize, nv: usize, friction: Vec<f64>) -> Self {
        let rows = 3 * count;
        Self {
            factor: WireFactor::new(nv),
            chain: ClosedChain::new(constraints, nv, rows),
            friction,
            rows: Vec::with_capacity(rows),
            jacobian: vec![0.0; rows * nv],
            half_jacobian: vec![0.0; rows * nv],
            motion: vec![0.0; nv],
            inertia: vec![0.0; rows * rows],
            bias: vec![0.0; rows],
        }
    }

    /// Chooses the rows: those of active contacts, without tangential rows that are zero.
    /// What has none has no friction.
    fn choose_rows(&mut self, points: &ContactPoints<'_>, active: &[f64], mu: &mut [f64]) {
        self.rows.clear();
        for (i, (contact, _)) in
            points.iter().zip(active).enumerate().filter(|(_, (_, active))| **active != 0.0)
        {
            let has_tangent = has_tangent(&contact);
            if !has_tangent {
                mu[i] = 0.0;
            }
            self.rows.extend(3 * i + if has_tangent { 0 } else { 2 }..3 * i + 3);
        }
    }

    /// The chosen rows of J.
    fn gather_jacobian(&mut self, points: &ContactPoints<'_>) {
        let count = self.rows.len();
        let mut at = 0;
        while at < count {
            let (contact, axis) = (self.rows[at] / 3, self.rows[at] % 3);
            let width = 3 - axis;
            let source = points.get(contact).jacobian.chunks_exact(3);
            for (target, source) in self.jacobian.chunks_exact_mut(count).zip(source) {
                target[at..at + width].copy_from_slice(&source[axis..]);
            }
            at += width;
        }
    }
}

/// Whether a contact has tangential rows: joint limits and the like have none.
fn has_tangent(contact: &Contact<'_>) -> bool {
    contact.jacobian.chunks_exact(3).any(|column| column[0] != 0.0 || column[1] != 0.0)
}

/// Mean diagonal of G over the rows of contacts with tangential rows, or over all if none has; 1 if
/// it is zero, so that it can scale.
fn mean_diagonal(inertia: &[f64], rows: &[usize]) -> f64 {
    let n = rows.len();
    let mean = |is_counted: &dyn Fn(usize) -> bool| {
        let (mut sum, mut count) = (0.0, 0.0);
        for i in (0..n).filter(|&i| is_counted(i)) {
            sum += inertia[i * n + i];
            count += 1.0;
        }
        if sum > 0.0 { Some(sum / count) } else { None }
    };
    let in_triple = |i: usize| !is_alone(rows, i);
    mean(&in_triple).or_else(|| mean(&|_| true)).unwrap_or(1.0)
}

/// Whether row `i` is the normal row of a contact without tangential rows.
fn is_alone(rows: &[usize], i: usize) -> bool {
    rows[i] % 3 == 2 && (i == 0 || rows[i - 1] + 1 != rows[i])
}

impl GaussContact {
    /// The problem of one step.
    pub(super) fn assemble(
        &self,
        plan: &Plan,
        time_step: f64,
        inputs: &Inputs<'_>,
        outputs: &mut Outputs<'_>,
        work: &mut Assembly,
    ) -> Outcome {
        let (dynamics, points) = (inputs.get(plan.dynamics), inputs.get(plan.points));
        let [inertia, bias, mu, active, compliance, gap, scale, sides, inscribed, jacobian] =
            outputs.leaves([
                plan.problem.leaf(leaf::INVERSE_INERTIA),
                plan.problem.leaf(leaf::BIAS),
                plan.problem.leaf(leaf::FRICTION),
                plan.problem.leaf(leaf::ACTIVE),
                plan.problem.leaf(leaf::COMPLIANCE),
                plan.problem.leaf(leaf::GAP),
                plan.problem.leaf(leaf::FORCE_SCALE),
                plan.problem.leaf(leaf::SIDES),
                plan.problem.leaf(leaf::INSCRIBED),
                plan.problem.leaf(leaf::JACOBIAN),
            ]);
        sides[0] = plan.cone.sides() as f64;
        inscribed[0] = f64::from(u8::from(is_inscribed(&plan.cone)));
        match inputs.optional(plan.mode) {
            Some(mode) => active.copy_from_slice(mode),
            None => active.fill(1.0),
        }
        let given = inputs.optional(plan.mu).unwrap_or(&work.friction);
        let reach = time_step * self.max_speed.value();
        for (i, contact) in points.iter().enumerate() {
            gap[i] = contact.gap;
            if self.level == Level::Velocity && contact.gap > reach {
                active[i] = 0.0;
            }
            mu[i] = contact.friction.unwrap_or(given[i]);
            if !(mu[i] >= 0.0 && mu[i].is_finite()) {
                let message = format!("expected friction of zero or more, found {}", mu[i]);
                return Err(Fault::new(format!("{message} for contact {i}")));
            }
        }

        for all in [&mut *inertia, &mut *bias, &mut *jacobian] {
            all.fill(0.0);
        }
        work.choose_rows(&points, active, mu);
        let count = work.rows.len();
        if count > 0 {
            self.assemble_rows(plan, inputs, work)?;
        }
        let (all_rows, own) = (3 * points.len(), &work.inertia[..count * count]);
        let mean = mean_diagonal(own, &work.rows);
        compliance.fill(self.regularisation.value() * mean);
        for (at, &row) in work.rows.iter().enumerate() {
            let (contact, axis) = (points.get(row / 3), row % 3);
            let mut b = work.bias[at];
            if self.level == Level::Velocity || self.correct_velocity {
                b += contact.velocity[axis] / time_step;
            }
            // The rows of a joint limit have units of their own.
            let is_alone = is_alone(&work.rows, at);
            let ground = self.compliance(contact.gap, time_step).filter(|_| !is_alone);
            match (self.level, ground) {
                (Level::Acceleration, _) => b += contact.jacobian_dot_nu[axis],
                (Level::Velocity, _) if axis != 2 => {}
                (Level::Velocity, Some((gap_term, of_ground))) => {
                    b += gap_term;
                    compliance[row] += of_ground;
                }
                (Level::Velocity, None) => b += plan.recovery.gap_term(contact.gap, time_step),
            }
            bias[row] = b;
            let column = &work.inertia[at * count..(at + 1) * count];
            for (&other, &g) in work.rows.iter().zip(column) {
                inertia[row * all_rows + other] = g;
            }
            if is_alone && column[at] > 0.0 {
                compliance[row - 2..=row].fill(self.regularisation.value() * column[at]);
            }
        }
        if count > 0 {
            let columns = jacobian.chunks_exact_mut(all_rows);
            for (target, source) in columns.zip(work.jacobian.chunks_exact(count)) {
                for (&row, &j) in work.rows.iter().zip(source) {
                    target[row] = j;
                }
            }
        }

        let floating = dynamics.floating_mass();
        let mass = if floating > 0.0 { floating } else { points.len() as f64 / mean };
        scale[0] = match self.force_scale {
            Some(force) => force.value(),
            None => mass * SCALE_GRAVITY / points.len().max(1) as f64,
        };
        Ok(())
    }

    /// J, G and `J ν̇_f` of the chosen rows, of the closed mechanism if it has loops.
    fn assemble_rows(&self, plan: &Plan, inputs: &Inputs<'_>, work: &mut Assembly) -> Outcome {
        work.gather_jacobian(&inputs.get(plan.points));
        let Assembly {
            factor, chain, rows, jacobian, half_jacobian, motion, inertia, bias, ..
        } = work;
        let (count, dynamics) = (rows.len(), inputs.get(plan.dynamics));
        let size = count * motion.len();
        let (jacobian, half) = (&mut jacobian[..size], &mut half_jacobian[..size]);
        half.copy_from_slice(jacobian);
        factor.read(dynamics.factor)?;
        factor.half_solve_jacobian(half, count);

        // J ν̇_f = (J C⁻¹)(C⁻ᵀ (Sᵀτ + external − h)).
        let external = inputs.optional(plan.external);
        applied_force(&dynamics, inputs.get(plan.tau), external, motion)?;
        factor.half_solve(motion);
        if let Some(constraints) = inputs.optional(plan.constraints) {
            chain.read(Some(&constraints), factor, Keeps::Acceleration);
            chain.constrain(motion);
        }
        row_products_into(half, motion, &mut bias[..count]);
        if chain.rank() > 0 {
            chain.project_rows(count, half, jacobian);
            factor.find_ranges(half, count);
        }
        factor.gram(half, count, &mut inertia[..count * count]);
        Ok(())
    }
}
