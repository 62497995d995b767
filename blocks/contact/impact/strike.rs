//! The velocity after an impact, from the buses.

use legwork_block::{Call, Fault, Functions, Inputs, Time};
use legwork_contact::{BounceProblem, ContactRows, ImpactProblem, share_without_gain, work_of};
use legwork_mechanics::pack_dense;
use legwork_qp::{ContactMethod, Given, Outcome as Solution, Status};

use super::{ImpactPorts, Scratch, bounces};
use crate::buses::ContactProblemBus;
use crate::contact::gauss_contact::SCALE_GRAVITY;
use crate::solvers::called::{ContactFunction, catch};

/// A call of the function, as the law of impacts asks a solver.
struct Called<'a> {
    call: Call<'a>,
    solve: ContactFunction,
    fault: Option<Box<Fault>>,
}

impl ContactMethod for Called<'_> {
    fn solve_warm(&mut self, given: &Given<'_>, _: &mut [f64], forces: &mut [f64]) -> Solution {
        let problem = &given.problem;
        catch(&mut self.fault, || {
            self.solve.write(&mut self.call, problem, |i| i);
            self.solve.run(&mut self.call, |i| i, forces)?;
            // What the solver cannot solve, its own policy answers.
            Ok(Solution { status: Status::Solved, iterations: 0, residual: 0.0 })
        })
    }
}

/// Solves the impact: changes `nu` from ν⁻ to ν⁺ and writes the impulses.
pub(super) fn strike(
    (plan, bounce_speed): (&ImpactPorts, f64),
    inputs: &Inputs<'_>,
    functions: &mut Functions<'_>,
    time: Time,
    work: &mut Scratch,
    nu: &mut [f64],
    impulse: &mut [f64],
) -> Result<Solution, Box<Fault>> {
    let step = if time.step > 0.0 { time.step } else { 1e-3 };
    let Scratch { law, solver, response, mass, packed, .. } = work;
    let Scratch { jacobian, inertia, velocity, shifted, friction, own_friction, closed, .. } = work;
    let Scratch { restitution, approach, separation, reflections, .. } = work;
    let (dynamics, points) = (inputs.get(plan.dynamics), inputs.get(plan.points));
    packed.copy_from_slice(dynamics.factor);
    if dynamics.has_passive_forces() {
        mass.copy_from_slice(dynamics.mass_matrix);
        pack_dense(mass, packed)
            .map_err(|k| Fault::new(format!("the mass matrix is singular at coordinate {k}")))?;
    }
    let mut is_bounce = false;
    for (i, contact) in points.iter().enumerate() {
        own_friction[i] = contact.own_friction().unwrap_or(friction[i]);
        velocity[3 * i..3 * i + 3].copy_from_slice(contact.velocity);
        (restitution[i], approach[i]) = (contact.restitution, contact.velocity[2]);
        is_bounce |= bounces(&contact, bounce_speed);
    }

    // G, and the velocities after what constraints do to them by themselves.
    let mut rows = ContactRows {
        active: closed,
        jacobian,
        bias: velocity,
        inverse_inertia: inertia,
        was_active: None,
        friction: own_friction,
    };
    let mechanism = (&packed[..], inputs.optional(plan.constraints));
    response.respond_to_impulses(mechanism, &points, nu, &mut rows)?;
    if is_bounce {
        let problem = BounceProblem {
            inverse_inertia: inertia,
            restitution,
            velocity: approach,
            active: closed,
            bounce_speed,
        };
        reflections.find(&problem, |_, _| true, separation);
    } else {
        separation.fill(f64::NAN);
    }
    let floating = Some(dynamics.floating_mass()).filter(|&mass| mass > 0.0);
    let weight = floating.unwrap_or(dynamics.mass_matrix[0]) * SCALE_GRAVITY;
    let impulse_scale = weight * step / points.len() as f64;
    let mut called = functions.bound(plan.solve.function).map(|mut call| {
        let argument = plan.solve.problem;
        call.leaf(argument, ContactProblemBus::JACOBIAN).copy_from_slice(jacobian);
        call.leaf(argument, ContactProblemBus::FACTOR).copy_from_slice(packed);
        Called { call, solve: plan.solve, fault: None }
    });
    // Finds the impulses of a share of the speeds of separation.
    let mut solve = |share: f64, impulse: &mut [f64]| {
        shifted.copy_from_slice(velocity);
        for (i, speed) in separation.iter().enumerate().filter(|(_, speed)| !speed.is_nan()) {
            shifted[3 * i + 2] -= share * speed.max(0.0);
        }
        let problem = ImpactProblem {
            inverse_inertia: inertia,
            velocity: shifted,
            friction: own_friction,
            closed,
            impulse_scale,
        };
        match &mut called {
            None => law.apply(&problem, &mut **solver, impulse),
            Some(called) => law.apply(&problem, called, impulse),
        }
    };
    let mut outcome = solve(1.0, impulse);
    // Friction may let a bounce make energy: then it parts more slowly.
    if is_bounce && outcome.status.is_usable() && own_friction.iter().any(|mu| *mu > 0.0) {
        let mut tried = 1.0;
        let share = share_without_gain(|share| {
            if share != tried {
                outcome = solve(share, impulse);
                tried = share;
            }
            work_of(impulse, velocity, inertia)
        });
        if share != tried {
            outcome = solve(share, impulse);
        }
    }
    if let Some(fault) = called.and_then(|called| called.fault) {
        return Err(fault);
    }
    if outcome.status.is_usable() {
        response.strike(packed, impulse, nu)?;
    }
    Ok(outcome)
}
