//! The problem of one step, from the buses.

use legwork_block::{Fault, Inputs, Outcome, Outputs};
use legwork_contact::{BounceProblem, Bounces, ContactRows, EnergyLimit};
use legwork_linalg::all_finite;
use legwork_qp::ContactProblem;

use super::{GaussContact, GaussContactPorts, Level, Sliding};
use crate::buses::{ContactBus, ContactProblemBus};
use crate::contact::friction_cone::is_inscribed;
use crate::contact::response::{Acting, Response};

/// Acceleration of free fall by which forces are scaled [m/s²]; it need not be the robot's own.
pub(crate) const SCALE_GRAVITY: f64 = 9.81;

/// Work memory of a [`GaussContact`].
pub struct Work {
    response: Response,
    /// The parameter μ, k; empty if it is a signal.
    friction: Vec<f64>,
    /// The output `active` as it was, k: where G and J may be other than zero.
    was_active: Vec<f64>,
    /// Restitution, normal velocity before and least after the step, k.
    restitution: Vec<f64>,
    approach: Vec<f64>,
    separation: Vec<f64>,
    bounces: Bounces,
    energy: EnergyLimit,
    /// `J ν̇ + J ν/Δt` without contact forces, and normal biases without bounces, 3k and k.
    free: Vec<f64>,
    unstruck: Vec<f64>,
}

impl Work {
    /// Memory for `count` contacts and `constraints` of a robot with `nv` velocities.
    pub(super) fn new(count: usize, constraints: usize, nv: usize, friction: Vec<f64>) -> Self {
        Self {
            response: Response::new(count, constraints, nv),
            friction,
            was_active: vec![0.0; count],
            restitution: vec![0.0; count],
            approach: vec![0.0; count],
            separation: vec![f64::NAN; count],
            bounces: Bounces::new(count),
            energy: EnergyLimit::new(count),
            free: vec![0.0; 3 * count],
            unstruck: vec![0.0; count],
        }
    }
}

impl GaussContact {
    /// The problem of one step.
    pub(super) fn assemble(
        &self,
        plan: &GaussContactPorts,
        time_step: f64,
        inputs: &Inputs<'_>,
        outputs: &mut Outputs<'_>,
        work: &mut Work,
    ) -> Outcome {
        let (dynamics, points) = (inputs.get(plan.dynamics), inputs.get(plan.points));
        let Work { response, friction, was_active, .. } = work;
        let Work { restitution, approach, separation, bounces, energy, free, unstruck, .. } = work;
        let [
            inertia,
            bias,
            mu,
            active,
            compliance,
            gap,
            scale,
            sides,
            inscribed,
            jacobian,
            coulomb,
        ] = outputs.leaves([
            plan.problem.leaf(ContactProblemBus::INVERSE_INERTIA),
            plan.problem.leaf(ContactProblemBus::BIAS),
            plan.problem.leaf(ContactProblemBus::FRICTION),
            plan.problem.leaf(ContactProblemBus::ACTIVE),
            plan.problem.leaf(ContactProblemBus::COMPLIANCE),
            plan.problem.leaf(ContactProblemBus::GAP),
            plan.problem.leaf(ContactProblemBus::FORCE_SCALE),
            plan.problem.leaf(ContactProblemBus::SIDES),
            plan.problem.leaf(ContactProblemBus::IS_INSCRIBED),
            plan.problem.leaf(ContactProblemBus::JACOBIAN),
            plan.problem.leaf(ContactProblemBus::IS_COULOMB),
        ]);
        coulomb[0] = f64::from(u8::from(self.sliding == Sliding::Coulomb));
        sides[0] = plan.cone.sides() as f64;
        inscribed[0] = f64::from(u8::from(is_inscribed(&plan.cone)));

        was_active.copy_from_slice(active);

        // Which contacts act: those that are closed, and can touch the ground within the step.
        match inputs.optional(plan.mode) {
            Some(mode) => active.copy_from_slice(mode),
            None => active.fill(1.0),
        }
        let given = inputs.optional(plan.mu).unwrap_or(friction);
        let reach = [self.max_speed.value(), self.max_rate.value()].map(|most| time_step * most);
        for i in 0..active.len() {
            gap[i] = points.leaf(i, ContactBus::GAP)[0];
            let way = time_step * points.leaf(i, ContactBus::VELOCITY)[2].min(0.0);
            let is_row = points.leaf(i, ContactBus::ROW)[0] != 0.0;
            if self.level == Level::Velocity && gap[i] + way > reach[usize::from(is_row)] {
                active[i] = 0.0;
            }
            let own = points.leaf(i, ContactBus::FRICTION)[0];
            mu[i] = if own >= 0.0 { own } else { given[i] };
            if !(mu[i] >= 0.0 && mu[i].is_finite()) {
                let message = format!("expected friction of zero or more, found {}", mu[i]);
                return Err(Fault::new(format!("{message} for contact {i}")));
            }
        }

        // b but for the motion: Jν/Δt where friction opposes slip, J̇ν at acceleration level.
        let is_velocity = self.level == Level::Velocity;
        let slip = if is_velocity || self.correct_velocity { 1.0 / time_step } else { 0.0 };
        let drift = if is_velocity { 0.0 } else { 1.0 };
        let acts = |i: &usize| active[*i] != 0.0;
        for (i, bias) in bias.chunks_exact_mut(3).enumerate().filter(|(i, _)| acts(i)) {
            let velocity = points.leaf(i, ContactBus::VELOCITY);
            let rates = velocity.iter().zip(points.leaf(i, ContactBus::JACOBIAN_DOT_NU));
            for (bias, (velocity, acceleration)) in bias.iter_mut().zip(rates) {
                *bias = slip * velocity + drift * acceleration;
            }
        }
        let acting = Acting {
            dynamics: &dynamics,
            tau: inputs.get(plan.tau),
            external: inputs.optional(plan.external),
            constraints: inputs.optional(plan.constraints),
        };
        let mut rows = ContactRows {
            active,
            jacobian,
            bias,
            inverse_inertia: inertia,
            was_active: Some(was_active),
            friction: mu,
        };
        let is_finite = response.respond_to_forces(&acting, &points, &mut rows)?;
        // A contact that bounces separates at v⁺ ≥ −e v, in place of a gap that is not negative.
        let free_speed = |i: usize, bias: &[f64]| time_step * bias[3 * i + 2];
        let closes = |i: usize, v: f64, bias: &[f64]| {
            let gained = v - points.leaf(i, ContactBus::VELOCITY)[2];
            gap[i] + time_step * v.min(free_speed(i, bias) + gained) < 0.0
        };
        let mut is_bounce = false;
        for i in 0..active.len() {
            restitution[i] = points.leaf(i, ContactBus::RESTITUTION)[0];
            approach[i] = points.leaf(i, ContactBus::VELOCITY)[2];
            is_bounce |= is_velocity
                && active[i] != 0.0
                && restitution[i] > 0.0
                && approach[i] < -self.bounce_speed.value()
                && closes(i, approach[i], bias);
        }
        if is_bounce {
            let problem = BounceProblem {
                inverse_inertia: inertia,
                restitution,
                velocity: approach,
                active,
                bounce_speed: self.bounce_speed.value(),
            };
            bounces.find(&problem, |i, v| closes(i, v, bias), separation);
            free.copy_from_slice(bias);
        }
        if is_bounce && self.stiffness.is_some() {
            let message = "contacts have a restitution, and the ground a stiffness: expected one";
            return Err(Fault::new(message));
        }
        let ground = is_velocity.then_some((&plan.ground, &*gap));
        let regularisation = self.regularisation.value();
        response.assembly.yield_rows(
            ground,
            time_step,
            regularisation,
            inertia,
            (bias, compliance),
        );

        let share_of_separation = |i: usize, share: f64| {
            let way = plan.ground.recovery.way(gap[i], time_step) / (time_step * time_step);
            let speed = separation[i];
            if speed.is_nan() { 0.0 } else { (-share * speed / time_step - way).min(0.0) }
        };
        if is_bounce {
            for (i, unstruck) in unstruck.iter_mut().enumerate() {
                *unstruck = bias[3 * i + 2];
                bias[3 * i + 2] += share_of_separation(i, 1.0);
            }
        }

        let floating = dynamics.floating_mass();
        scale[0] = match self.force_scale {
            Some(force) => force.value(),
            None if floating > 0.0 => floating * SCALE_GRAVITY / points.len().max(1) as f64,
            None => SCALE_GRAVITY / response.assembly.mean_diagonal(inertia),
        };
        // Friction may let a bounce make energy: then it parts more slowly.
        if is_bounce && mu.iter().any(|mu| *mu > 0.0) {
            let problem = ContactProblem {
                inverse_inertia: inertia,
                bias,
                friction: mu,
                compliance,
                force_scale: scale[0],
                cone: &plan.cone,
                active,
                regularisation: 0.0,
            };
            let law = (&problem, self.sliding == Sliding::Coulomb);
            let share =
                energy.share(law, free, |i, share| unstruck[i] + share_of_separation(i, share));
            for (i, unstruck) in unstruck.iter().enumerate() {
                bias[3 * i + 2] = unstruck + share_of_separation(i, share);
            }
        }
        let rest = [&*bias, compliance, gap, scale];
        if !(is_finite && rest.into_iter().all(all_finite)) {
            return Err(Fault::not_finite());
        }
        Ok(())
    }
}
