//! The constraint problem of one step, from the buses, and its answer back onto them.

use legwork_block::{Fault, Inputs, Outcome};
use legwork_contact::soft_constraints::{
    BodyIndex, ConstraintIndex, Friction, Law, Method, Rows as ProblemRows, SpringDamper,
};

use super::{ConstraintSolver, Plan, Scratch, SoftnessInputs};
use crate::buses::{CONSTRAINT_ROWS, Contact, Dynamics, refuse_restitution};

/// B of friction times Δt [kg] (Drumwright, sec. 6.4).
const FRICTION_MASS: f64 = 1e6;

/// A number of a softness that came over a wire.
fn wired(values: Option<&[f64]>, at: usize, parameter: f64, what: &str) -> Result<f64, Box<Fault>> {
    let Some(values) = values else { return Ok(parameter) };
    let value = values[at];
    if value >= 0.0 && value.is_finite() {
        return Ok(value);
    }
    Err(Fault::new(format!("expected {what} of zero or more, found {value} in row {at}")))
}

/// The signals of K and B that are connected.
fn given<'a>(inputs: &Inputs<'a>, softness: SoftnessInputs) -> [Option<&'a [f64]>; 2] {
    softness.map(|input| input.and_then(|input| inputs.optional(input)))
}

/// `φ̇ − G ν` of a contact's axis: the velocity of what it touches.
fn carried(contact: &Contact<'_>, axis: usize, nu: &[f64]) -> f64 {
    let columns = contact.jacobian.chunks_exact(3).zip(nu);
    contact.velocity[axis] - columns.map(|(column, nu)| column[axis] * nu).sum::<f64>()
}

impl Scratch {
    /// Inertia, momentum and guess, without constraints.
    pub(super) fn begin(&mut self, dynamics: &Dynamics<'_>, time_step: f64) {
        let nv = dynamics.nu.len();
        self.problem.clear();
        self.problem.time_step = time_step;
        for (body, range) in self.ranges.iter().enumerate() {
            let block = &mut self.block[..range.len() * range.len()];
            for (column, k) in block.chunks_exact_mut(range.len().max(1)).zip(range.clone()) {
                let from = k * nv;
                let source = &dynamics.mass_matrix[from + range.start..from + range.end];
                column.copy_from_slice(source);
                // What damping and springs add to a step; their force is in `force`.
                column[k - range.start] += dynamics.added_inertia(k, time_step);
            }
            self.problem.set_mass(BodyIndex(body), block);
        }
        self.problem.set_momentum(dynamics.nu, &self.force);
        self.solution.velocity.copy_from_slice(dynamics.nu);
    }

    /// ν̇ without any constraint into `x`; left as it is if M has no factor.
    pub(super) fn free_acceleration(&mut self, nu: &[f64], time_step: f64) {
        self.problem.clear();
        self.solver.options.method = Method::Velocities;
        if self.solver.solve(&self.problem, &mut self.solution).status.is_usable() {
            let velocities = self.solution.velocity.iter().zip(nu);
            for (nu_dot, (after, before)) in self.x.iter_mut().zip(velocities) {
                *nu_dot = (after - before) / time_step;
            }
        }
    }

    /// ν̇ and forces into `x`.
    pub(super) fn read_answer(
        &mut self,
        plan: &Plan,
        inputs: &Inputs<'_>,
        nu: &[f64],
        time_step: f64,
    ) {
        let Self { x, solution, problem, .. } = self;
        let (nu_dot, mut rest) = x.split_at_mut(nu.len());
        for ((nu_dot, after), before) in nu_dot.iter_mut().zip(&solution.velocity).zip(nu) {
            *nu_dot = (after - before) / time_step;
        }
        let mut forces = solution.forces.iter();
        if let Some(constraints) = plan.io.constraints {
            for constraint in inputs.get(constraints).iter() {
                let (own, others) = rest.split_at_mut(CONSTRAINT_ROWS);
                rest = others;
                for (own, active) in own.iter_mut().zip(constraint.active) {
                    *own = if *active == 0.0 { 0.0 } else { *forces.next().unwrap_or(&0.0) };
                }
            }
        }
        if let Some(limits) = plan.io.limit_points {
            let count = inputs.get(limits).len();
            let (own, others) = rest.split_at_mut(count);
            rest = others;
            own.iter_mut().zip(forces.by_ref()).for_each(|(own, force)| *own = *force);
        }
        let contacts = rest.chunks_exact_mut(3);
        let first = problem.constraint_count() - contacts.len();
        for (i, own) in contacts.enumerate() {
            // A contact without friction has its normal row alone.
            let has_friction = problem.rows_of(ConstraintIndex(first + i)).len() == 3;
            let (tangents, normal) = own.split_at_mut(2);
            tangents.fill(0.0);
            let tangents = tangents.iter_mut().filter(|_| has_friction);
            tangents.chain(normal).zip(forces.by_ref()).for_each(|(own, force)| *own = *force);
        }
    }

    /// Adds the normal row of a contact's or limit's Jacobian, 3 × nv.
    fn push_normal(&mut self, jacobian: &[f64], spring: SpringDamper) {
        for (g, column) in self.row.iter_mut().zip(jacobian.chunks_exact(3)) {
            *g = column[2];
        }
        self.problem.push(ProblemRows::Dense(&self.row), Law::Unilateral(spring));
    }
}

impl ConstraintSolver {
    /// Adds the rows of joints, limits and contacts, in this order.
    pub(super) fn push_rows(
        &self,
        plan: &Plan,
        inputs: &Inputs<'_>,
        work: &mut Scratch,
    ) -> Outcome {
        let nu = inputs.get(plan.io.dynamics).nu;
        if let (Some(softness), Some(constraints)) = (&self.joints, plan.io.constraints) {
            let [stiffness, damping] =
                given(inputs, [plan.io.joint_stiffness, plan.io.joint_damping]);
            for (i, constraint) in inputs.get(constraints).iter().enumerate() {
                for row in (0..CONSTRAINT_ROWS).filter(|&row| constraint.active[row] != 0.0) {
                    let columns = constraint.jacobian.chunks_exact(CONSTRAINT_ROWS);
                    for (g, column) in work.row.iter_mut().zip(columns) {
                        *g = column[row];
                    }
                    let (k, b) = softness.of_row(row);
                    let at = CONSTRAINT_ROWS * i + row;
                    let k = wired(stiffness, at, k, "stiffness")?;
                    let b = wired(damping, at, b, "damping")?;
                    let mut spring = SpringDamper::new(constraint.error[row], k, b);
                    if self.rate_bias {
                        spring.rate_bias = constraint.jacobian_dot_nu[row];
                    }
                    work.problem.push(ProblemRows::Dense(&work.row), Law::Bilateral(spring));
                }
            }
        }
        if let (Some(softness), Some(limits)) = (&self.limits, plan.io.limit_points) {
            let [stiffness, damping] =
                given(inputs, [plan.io.limit_stiffness, plan.io.limit_damping]);
            let (k, b) = (softness.stiffness.value(), softness.damping.value());
            for (i, limit) in inputs.get(limits).iter().enumerate() {
                let k = wired(stiffness, i, k, "stiffness")?;
                let b = wired(damping, i, b, "damping")?;
                let mut spring = SpringDamper::new(limit.gap, k, b);
                spring.rate_bias = self.bias(&limit, 2, nu, work.problem.time_step);
                work.push_normal(limit.jacobian, spring);
            }
        }
        self.push_contacts(plan, inputs, work)
    }

    fn push_contacts(&self, plan: &Plan, inputs: &Inputs<'_>, work: &mut Scratch) -> Outcome {
        let (Some(softness), Some(points)) = (&self.contact, plan.io.points) else {
            return Ok(());
        };
        refuse_restitution(&inputs.get(points), "springs of contacts have `damping`")?;
        let nu = inputs.get(plan.io.dynamics).nu;
        let [stiffness, damping] =
            given(inputs, [plan.io.contact_stiffness, plan.io.contact_damping]);
        let h = work.problem.time_step;
        let grip = self.friction_damping.map_or(FRICTION_MASS / h, |damping| damping.value());
        for (i, contact) in inputs.get(points).iter().enumerate() {
            let mut normal = softness.at(contact.gap);
            normal.stiffness = wired(stiffness, i, normal.stiffness, "stiffness")?;
            normal.damping = wired(damping, i, normal.damping, "damping")?;
            normal.rate_bias = self.bias(&contact, 2, nu, h);
            let friction = contact.own_friction().unwrap_or(work.friction[i]);
            if friction == 0.0 {
                // Nothing but the normal acts: one row, not three.
                work.push_normal(contact.jacobian, normal);
                continue;
            }
            let tangents = Friction {
                rate_bias: [0, 1].map(|axis| self.bias(&contact, axis, nu, h)),
                ..Friction::coulomb(friction, grip)
            };
            let law = Law::Contact(normal, tangents);
            work.problem.push(ProblemRows::Dense(contact.jacobian), law);
        }
        Ok(())
    }

    /// What `φ̇₁` has beside `G ν₁`, over Δt: the velocity of what is touched, and Ġν if wanted.
    fn bias(&self, contact: &Contact<'_>, axis: usize, nu: &[f64], time_step: f64) -> f64 {
        let bias = if self.rate_bias { contact.jacobian_dot_nu[axis] } else { 0.0 };
        bias + carried(contact, axis, nu) / time_step
    }
}
