//! Contacts that Newton's method holds closed in its first step.
//!
//! The method alone closes contacts one by one: a body that falls on others stops in one step, and
//! stops the next body in the next. And new tangents of stiff springs are small changes of large
//! forces, by which many contacts that bear are open at the old velocity. So two kinds of contacts
//! that are open at the velocity where a pass begins are held in its first step:
//!
//! - those that bore force in the last pass, and did not slide;
//! - in the first two passes, those of bodies in free flight that close once the bodies before them
//!   have been stopped, from the ground up in the order of the constraints.
//!
//! What is held wrongly opens in the next step: the answer does not depend on what is held.

use super::{Newton, row_values};
use crate::soft_constraints::local_law::{Kind, LocalLaw, Region};
use crate::soft_constraints::problem::{Constraint, ConstraintProblem};

/// Passes of the outer iteration that begin with a prediction of what closes.
const PREDICTED_PASSES: u32 = 2;

impl Newton {
    /// Finds the contacts to hold, and all laws with them; whether there are such.
    pub(super) fn find_held(
        &mut self,
        problem: &ConstraintProblem,
        laws: &[LocalLaw],
        pass: u32,
        velocity: &[f64],
    ) -> bool {
        self.is_held.clear();
        self.is_free.clear();
        self.is_free.resize(problem.sizes().len(), true);
        let mut is_any = false;
        for (constraint, law) in problem.constraints().iter().zip(laws) {
            let (first, rows) = (constraint.first_row, constraint.law.row_count());
            let now = row_values(&self.row_velocity, first, rows);
            let is_open = law.response(now).region == Region::Open;
            let bore = pass > 0 && law.sticks(row_values(&self.last_impulses, first, rows));
            if bore || !is_open {
                problem.parts(constraint).iter().for_each(|part| self.is_free[part.body] = false);
            }
            is_any |= is_open && bore;
            self.is_held.push(is_open && bore);
        }
        if pass < PREDICTED_PASSES && self.is_free.contains(&true) {
            is_any |= self.predict(problem, laws, velocity);
        }
        if is_any {
            let laws = laws.iter().zip(&self.is_held);
            self.held.clear();
            self.held.extend(laws.map(|(law, held)| if *held { law.held() } else { *law }));
        }
        is_any
    }

    /// Marks contacts of bodies in free flight that close as those before them are stopped; whether
    /// there are such.
    fn predict(
        &mut self,
        problem: &ConstraintProblem,
        laws: &[LocalLaw],
        velocity: &[f64],
    ) -> bool {
        self.stopping.copy_from_slice(velocity);
        self.is_stopped.clear();
        self.is_stopped.resize(problem.sizes().len(), false);
        let mut is_any = false;
        for (i, (constraint, law)) in problem.constraints().iter().zip(laws).enumerate() {
            let closes = self.stop(problem, constraint, law);
            if closes && problem.parts(constraint).iter().any(|part| self.is_free[part.body]) {
                (self.is_held[i], is_any) = (true, true);
            }
        }
        is_any
    }

    /// Whether a contact closes as bodies are stopped; the one body of it that has not been is, to
    /// the velocity at which the contact begins to bear.
    fn stop(
        &mut self,
        problem: &ConstraintProblem,
        constraint: &Constraint,
        law: &LocalLaw,
    ) -> bool {
        let rows = constraint.law.row_count();
        let (mut u, mut moving, mut moving_count) = ([0.0; 3], None, 0);
        for &part in problem.parts(constraint) {
            let (g, range) = problem.part(rows, part);
            for (column, x) in g.chunks_exact(rows).zip(&self.stopping[range]) {
                column.iter().zip(&mut u[3 - rows..]).for_each(|(g, u)| *u += g * x);
            }
            if !self.is_stopped[part.body] {
                (moving, moving_count) = (Some(part), moving_count + 1);
            }
        }
        if law.kind() == Kind::Free || law.response(u).region == Region::Open {
            return false;
        }
        let Some(part) = moving.filter(|_| moving_count == 1) else { return true };
        let (g, range) = problem.part(rows, part);
        let normal = || g.iter().skip(rows - 1).step_by(rows);
        let inverse = &self.inverse_diagonal[range.clone()];
        let w: f64 = normal().zip(inverse).map(|(g, inverse)| g * g * inverse).sum();
        let conductance = law.conductance()[1] * w;
        if conductance > 0.0 {
            self.is_stopped[part.body] = true;
            let impulse = law.drive(u)[2] / conductance;
            let velocity = self.stopping[range].iter_mut().zip(inverse);
            velocity.zip(normal()).for_each(|((v, inverse), g)| *v += impulse * inverse * g);
        }
        true
    }
}
