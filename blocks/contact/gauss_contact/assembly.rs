//! The problem of one step, from the buses.

use legwork_block::{Fault, Inputs, Outcome, Outputs};
use legwork_contact::{BounceProblem, Bounces, ContactAssembly, ContactRows};
use legwork_linalg::all_finite;
use legwork_mechanics::{ClosedChain, PackedFactor};

use super::{GaussContact, GaussContactPorts, Level};
use crate::buses::{ContactBus, ContactPoints, ContactProblemBus};
use crate::constraints::closed_chain::{closed_chain, read_rows};
use crate::contact::friction_cone::is_inscribed;
use crate::dynamics::applied_force::applied_force;

/// Acceleration of free fall by which forces are scaled [m/s²]; it need not be the robot's own.
pub(crate) const SCALE_GRAVITY: f64 = 9.81;

/// Work memory of a [`GaussContact`].
pub struct Work {
    assembly: ContactAssembly,
    tree: PackedFactor,
    chain: ClosedChain,
    /// The parameter μ, k; empty if it is a signal.
    friction: Vec<f64>,
    /// `C ν̇` of the motion without contact forces, nv.
    motion: Vec<f64>,
    /// The output `active` as it was, k: where G and J may be other than zero.
    was_active: Vec<f64>,
    /// Restitution, normal velocity before and least after the step, k.
    restitution: Vec<f64>,
    approach: Vec<f64>,
    separation: Vec<f64>,
    bounces: Bounces,
}

impl Work {
    /// Memory for `count` contacts and `constraints` of a robot with `nv` velocities.
    pub(super) fn new(count: usize, constraints: usize, nv: usize, friction: Vec<f64>) -> Self {
        Self {
            assembly: ContactAssembly::new(count, nv),
            tree: PackedFactor::new(nv),
            chain: closed_chain(constraints, nv, 3 * count),
            friction,
            motion: vec![0.0; nv],
            was_active: vec![0.0; count],
            restitution: vec![0.0; count],
            approach: vec![0.0; count],
            separation: vec![f64::NAN; count],
            bounces: Bounces::new(count),
        }
    }
}

/// The Jacobians of all contacts below one another, 3k × nv: zero in those that are not `active`,
/// which it is already in those that were not either, if that is known.
pub(crate) fn stack_jacobian(
    points: &ContactPoints<'_>,
    (active, was_active): (&[f64], Option<&[f64]>),
    jacobian: &mut [f64],
) {
    let rows = 3 * points.len();
    for (i, &active) in active.iter().enumerate() {
        if active == 0.0 && was_active.is_some_and(|was_active| was_active[i] == 0.0) {
            continue;
        }
        let own = jacobian.chunks_exact_mut(rows).filter_map(|column| {
            // Of known length, a copy is two instructions.
            column[3 * i..].first_chunk_mut::<3>()
        });
        if active == 0.0 {
            own.for_each(|to| *to = [0.0; 3]);
        } else {
            let columns = points.leaf(i, ContactBus::JACOBIAN).as_chunks().0;
            own.zip(columns).for_each(|(to, from)| *to = *from);
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
        let Work { assembly, tree, chain, friction, motion, was_active, .. } = work;
        let Work { restitution, approach, separation, bounces, .. } = work;
        let [inertia, bias, mu, active, compliance, gap, scale, sides, inscribed, jacobian] =
            outputs.leaves([
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
            ]);
        sides[0] = plan.cone.sides() as f64;
        inscribed[0] = f64::from(u8::from(is_inscribed(&plan.cone)));

        was_active.copy_from_slice(active);
        let was_active = Some(&was_active[..]);

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
        stack_jacobian(&points, (active, was_active), jacobian);

        // z = C⁻ᵀ (Sᵀτ + external − h); a robot in the air needs none.
        let factor = dynamics.factor_by(tree)?;
        if active.iter().any(|active| *active != 0.0) {
            let external = inputs.optional(plan.external);
            applied_force(&dynamics, inputs.get(plan.tau), external, motion)?;
            factor.half_solve_in_place(motion);
            read_rows(chain, inputs.optional(plan.constraints));
            chain.eliminate(factor);
        }
        let mut rows = ContactRows {
            active,
            jacobian,
            bias,
            inverse_inertia: inertia,
            was_active,
            friction: mu,
        };
        let is_finite = assembly.respond(factor, motion, chain, &mut rows);
        // A contact that bounces separates at v⁺ ≥ −e v, in place of a gap that is not negative.
        let free = |i: usize, bias: &[f64]| time_step * bias[3 * i + 2];
        let closes = |i: usize, v: f64, bias: &[f64]| {
            let gained = v - points.leaf(i, ContactBus::VELOCITY)[2];
            gap[i] + time_step * v.min(free(i, bias) + gained) < 0.0
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
            for (i, speed) in separation.iter().enumerate().filter(|(_, speed)| !speed.is_nan()) {
                let way = plan.ground.recovery.way(gap[i], time_step) / (time_step * time_step);
                bias[3 * i + 2] += (-speed / time_step - way).min(0.0);
            }
        }
        if is_bounce && self.stiffness.is_some() {
            let message = "contacts have a restitution, and the ground a stiffness: expected one";
            return Err(Fault::new(message));
        }
        let ground = is_velocity.then_some((&plan.ground, &*gap));
        let regularisation = self.regularisation.value();
        assembly.yield_rows(ground, time_step, regularisation, inertia, (bias, compliance));

        let floating = dynamics.floating_mass();
        scale[0] = match self.force_scale {
            Some(force) => force.value(),
            None if floating > 0.0 => floating * SCALE_GRAVITY / points.len().max(1) as f64,
            None => SCALE_GRAVITY / assembly.mean_diagonal(inertia),
        };
        let rest = [&*bias, compliance, gap, scale];
        if !(is_finite && rest.into_iter().all(all_finite)) {
            return Err(Fault::not_finite());
        }
        Ok(())
    }
}
