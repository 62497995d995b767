//! The contacts that inverse dynamics counts on.

use legwork_block::{Fault, Outcome};
use legwork_contact::RecoveryLimit;
use legwork_control::ContactTask;

use crate::buses::{ContactPoints, Dynamics};

/// The contacts that count.
pub(super) struct Counted {
    /// The parameter μ, k; empty if there is none.
    pub(super) friction: Vec<f64>,
    pub(super) indices: Vec<usize>,
    pub(super) jacobian: Vec<f64>,
    pub(super) gaps: Vec<f64>,
    pub(super) mu: Vec<f64>,
    /// M and h with what the joints do by themselves in a step.
    pub(super) mass: Vec<f64>,
    pub(super) opposing: Vec<f64>,
}

impl Counted {
    /// Chooses them and gathers their rows.
    pub(super) fn gather(
        &mut self,
        points: &ContactPoints<'_>,
        expected: Option<&[f64]>,
        (reach, recovery, step, nv): (f64, RecoveryLimit, f64, usize),
    ) -> Outcome {
        self.indices.clear();
        self.gaps.clear();
        self.mu.clear();
        self.jacobian.clear();
        for (i, contact) in points.iter().enumerate() {
            let is_expected = expected.is_none_or(|expected| expected[i] != 0.0);
            if !is_expected || contact.gap > reach {
                continue;
            }
            let Some(mu) = contact.own_friction().or_else(|| self.friction.get(i).copied()) else {
                let message = format!("contact {i} has no friction, and the block no `mu`");
                return Err(Fault::new(message));
            };
            // As rigid contact does it, a penetration is taken back slowly.
            self.gaps.push(recovery.way(contact.gap, step));
            self.mu.push(mu);
            self.indices.push(i);
        }
        for column in 0..nv {
            for &i in &self.indices {
                let jacobian = points.get(i).jacobian;
                self.jacobian.extend_from_slice(&jacobian[3 * column..3 * column + 3]);
            }
        }
        Ok(())
    }

    /// Takes M and h from the bus, with damping and springs of the joints.
    pub(super) fn take_inertia(&mut self, dynamics: &Dynamics<'_>, time_step: f64) {
        let nv = dynamics.nu.len();
        self.mass.copy_from_slice(dynamics.mass_matrix);
        self.opposing.copy_from_slice(dynamics.bias_force);
        for (k, force) in dynamics.passive_force.iter().enumerate() {
            self.mass[k * nv + k] += dynamics.added_inertia(k, time_step);
            self.opposing[k] += force;
        }
    }

    pub(super) fn task<'a>(
        &'a self,
        dynamics: &Dynamics<'a>,
        acceleration: &'a [f64],
        time_step: f64,
    ) -> ContactTask<'a> {
        ContactTask {
            mass_matrix: &self.mass,
            bias_force: &self.opposing,
            velocity: dynamics.nu,
            joints: dynamics.joints,
            acceleration,
            jacobian: &self.jacobian,
            gaps: &self.gaps,
            friction: &self.mu,
            time_step,
        }
    }
}
