//! The step as many small steps with forces of springs, dampers and regularised friction.

use nalgebra::{Matrix3, Vector3};

use super::{Contact, Contacts, DOF, Elasticity, FreeMotion, Motion, Scene};
use crate::compliant::{CompliantContact, FrictionShape};

/// Parameters of all contacts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RegularisedContact {
    /// Springs along the normals.
    pub elasticity: Elasticity,
    /// Damping along the normals in overlap, ≥ 0 [N s/m].
    pub damping: f64,
    /// Slip speed at which friction is μ, > 0 [m/s].
    pub slip_speed: f64,
}

impl RegularisedContact {
    /// The law of a contact with this radius of curvature and friction μ.
    fn law(&self, radius: Option<f64>, friction: f64) -> CompliantContact {
        let (stiffness, exponent) = self.elasticity.stiffness(radius);
        CompliantContact {
            stiffness,
            exponent,
            max_damping: self.damping,
            ramp_depth: 0.0,
            dissipation: 0.0,
            static_friction: friction,
            static_speed: self.slip_speed,
            dynamic_friction: friction,
            dynamic_speed: self.slip_speed,
            shape: FrictionShape::Isotropic,
        }
    }
}

/// Newton steps of a slip speed; each comes nearer from below.
const SLIP_STEPS: usize = 50;

/// Slip speed s' that friction leaves of s: `s' + c μ(s') = s`, with c its mobility [m/s].
///
/// μ is concave, so Newton's method from 0 rises to the solution.
fn slip_after(law: &CompliantContact, mobility: f64, slip: f64) -> f64 {
    let sliding = slip - mobility * law.dynamic_friction;
    if sliding >= law.dynamic_speed {
        return sliding;
    }
    let mut next = 0.0;
    for _ in 0..SLIP_STEPS {
        let [resistance, bend] = law.slip_resistance(next);
        let miss = slip - next * (1.0 + mobility * resistance);
        let change = miss / (1.0 + mobility * (resistance + bend * next * next));
        next += change;
        if change <= 1e-15 * slip {
            break;
        }
    }
    next
}

/// The two bodies of a contact and the friction on the first, world axes [N].
pub type PairFriction = (usize, Option<usize>, [f64; 3]);

/// State of the springs in the last step.
#[derive(Clone, Debug, Default)]
pub struct CompliantStep {
    contacts: Contacts,
    free: FreeMotion,
    impulses: Vec<f64>,
    /// Contacts of each body that touch.
    touching: Vec<f64>,
    /// Forces of the contacts of the last small step, contact axes [N].
    forces: Vec<Vector3<f64>>,
    /// Normal forces of the contacts of this small step.
    normals: Vec<f64>,
    /// Mean upward force of ground and fixed bodies.
    load: f64,
}

impl CompliantStep {
    /// Contacts of the last small step.
    #[must_use]
    pub fn contacts(&self) -> &Contacts {
        &self.contacts
    }

    /// Their forces, contact axes [N].
    #[must_use]
    pub fn forces(&self) -> &[Vector3<f64>] {
        &self.forces
    }

    /// Upward force of the ground and fixed bodies, mean of the whole step [N].
    #[must_use]
    pub fn load(&self) -> f64 {
        self.load
    }

    /// `count` small steps of `time_step/count` each.
    ///
    /// Springs and dampers along the normals are explicit, as are all forces of
    /// [`crate::compliant`]: a small step must stay below about `2 √(m/K)` of the stiffness K on a
    /// body of mass m.
    ///
    /// Friction f is that at the end of the small step: `s' = s* − Δt w (f − f₀)`, `f = f_n μ(s')`,
    /// contact by contact. s* is the slip that the friction f₀ of the small step before leaves; w
    /// overestimates the contact's mobility as if each of the c contacts of a body had its own c-th
    /// part of it. So friction does not chatter however small the slip speed is, and where f does
    /// not change it is the law's, without bias.
    ///
    /// References: R. Tonge, F. Benevolenski, A. Voroshilov, *Mass splitting for jitter-free
    /// parallel rigid body simulation* (2012), for the shares.
    ///
    /// `last` holds the friction of the small step before, is empty at the beginning, and affects
    /// later steps: keep it with the motion.
    pub fn run(
        &mut self,
        scene: &Scene,
        law: &RegularisedContact,
        external: &[f64],
        (time_step, count): (f64, u32),
        (positions, orientations, velocities): (&mut [f64], &mut [f64], &mut [f64]),
        last: &mut Vec<PairFriction>,
    ) {
        let small = time_step / f64::from(count);
        self.load = 0.0;
        for _ in 0..count {
            let motion = Motion { positions, orientations, velocities };
            self.contacts.find(scene, motion, small);
            self.contacts.sort();
            self.free.begin(scene, motion, external, small);
            self.find_forces(scene, law, velocities, small, last);
            self.push(scene, small);
            self.free.velocities_into(scene, &self.impulses, velocities);
            FreeMotion::advance(scene, positions, orientations, velocities, small);
            let borne = self.contacts.list().iter().zip(&self.forces);
            self.load += borne.map(|(c, f)| c.borne(scene, f)).sum::<f64>() / f64::from(count);
        }
    }

    /// Forces of all contacts at `velocities`, friction at the end of the small step.
    fn find_forces(
        &mut self,
        scene: &Scene,
        law: &RegularisedContact,
        velocities: &[f64],
        time_step: f64,
        last: &mut Vec<PairFriction>,
    ) {
        self.touching.clear();
        self.touching.resize(scene.bodies.len(), 0.0);
        self.normals.clear();
        for contact in self.contacts.list() {
            let normal_velocity = contact.velocity(velocities).z;
            let law = law.law(contact.radius, scene.friction);
            self.normals.push(law.normal_force(contact.gap, normal_velocity));
            if contact.gap < 0.0 {
                contact.sides(scene).for_each(|(body, _, _)| self.touching[body] += 1.0);
            }
        }
        self.begin_friction(last);
        self.push(scene, time_step);
        // Velocities at the end, if friction were that of the small step before.
        self.free.velocities_in_place(scene, &mut self.impulses);
        for (i, contact) in self.contacts.list().iter().enumerate() {
            let (normal, law) = (self.normals[i], law.law(contact.radius, scene.friction));
            if normal <= 0.0 {
                continue;
            }
            let mobility = time_step * self.tangential_mobility(scene, contact);
            let before = self.forces[i];
            // The slip that would be without friction in this contact's share.
            let slip = contact.velocity(&self.impulses) - before * mobility;
            let speed = libm::hypot(slip.x, slip.y);
            let friction =
                normal * law.friction_coefficient(slip_after(&law, mobility * normal, speed));
            let scale = if speed > 0.0 { -friction / speed } else { 0.0 };
            self.forces[i] = Vector3::new(scale * slip.x, scale * slip.y, normal);
        }
        last.clear();
        let friction = |c: &Contact, f: &Vector3<f64>| c.frame * Vector3::new(f.x, f.y, 0.0);
        let of = self.contacts.list().iter().zip(&self.forces);
        last.extend(of.map(|(c, f)| (c.body, c.other, friction(c, f).into())));
    }

    /// Normal forces, and the friction that the contacts of the same bodies had in the small step
    /// before, within the cone.
    fn begin_friction(&mut self, last: &[PairFriction]) {
        self.forces.clear();
        let mut at = 0;
        for (contact, &normal) in self.contacts.list().iter().zip(&self.normals) {
            let pair = (contact.body, contact.other);
            while last.get(at).is_some_and(|last| (last.0, last.1) < pair) {
                at += 1;
            }
            let mut force = Vector3::zeros();
            if let Some(last) = last.get(at).filter(|last| (last.0, last.1) == pair) {
                at += 1;
                if normal > 0.0 {
                    force = contact.frame.tr_mul(&Vector3::from(last.2));
                }
            }
            self.forces.push(Vector3::new(force.x, force.y, normal));
        }
    }

    /// An upper bound on the inverse inertia of a contact along any tangent, for its shares of the
    /// bodies [1/kg].
    fn tangential_mobility(&self, scene: &Scene, contact: &Contact) -> f64 {
        let of = |body: usize, arm: &Vector3<f64>| {
            let turn: Matrix3<f64> = arm.cross_matrix();
            let angular = turn.transpose() * self.free.inverse_inertia(body) * turn;
            let about = contact.frame.tr_mul(&(angular * contact.frame));
            let off = about[(0, 1)].abs();
            let most = (about[(0, 0)] + off).max(about[(1, 1)] + off);
            self.touching[body] * (1.0 / scene.bodies[body].mass + most)
        };
        contact.sides(scene).map(|(body, arm, _)| of(body, arm)).sum()
    }

    /// Momentum after the small step, into `impulses`.
    fn push(&mut self, scene: &Scene, time_step: f64) {
        self.impulses.clear();
        self.impulses.extend_from_slice(self.free.momentum());
        for (contact, force) in self.contacts.list().iter().zip(&self.forces) {
            let impulse = contact.frame * force * time_step;
            for (body, arm, sign) in contact.sides(scene) {
                let p = &mut self.impulses[DOF * body..DOF * (body + 1)];
                let change = impulse * sign;
                let moment = arm.cross(&change);
                let all = change.iter().chain(moment.iter());
                p.iter_mut().zip(all).for_each(|(p, dp)| *p += dp);
            }
        }
    }
}
