//! Contacts that can close within a step.

use nalgebra::{Matrix3, Vector3};

use super::motion::{rotation, turn};
use super::{DOF, Motion, Scene, three};
use crate::collision::{Manifold, Neighbours, Pose, Solid, Witness, collide, collide_plane};
use crate::geometry::contact_frame;

/// A point at which two bodies, or a body and the ground, are near.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// The body that the normal points to.
    pub body: usize,
    /// The other; none for the ground.
    pub other: Option<usize>,
    /// From the centres of `body` and `other` to the points on their surfaces, world axes [m].
    pub arms: [Vector3<f64>; 2],
    /// `world_from_contact`, columns (t1, t2, n).
    pub frame: Matrix3<f64>,
    /// Distance, negative in overlap [m].
    pub gap: f64,
    /// Radius of curvature `1/(1/r₁ + 1/r₂)` [m]; none where corners, edges and faces of cuboids
    /// meet one another or the ground.
    pub radius: Option<f64>,
}

impl Contact {
    /// The normal, world axes.
    #[must_use]
    pub fn normal(&self) -> Vector3<f64> {
        self.frame.column(2).into_owned()
    }

    /// The bodies that the contact moves, each with its arm and the sign of its part.
    pub fn sides(&self, scene: &Scene) -> impl Iterator<Item = (usize, &Vector3<f64>, f64)> {
        let first = Some((self.body, &self.arms[0], 1.0));
        let second = self.other.map(|other| (other, &self.arms[1], -1.0));
        let moves = |side: &(usize, _, _)| !scene.bodies[side.0].is_fixed;
        first.into_iter().chain(second).filter(moves)
    }

    /// Upward part of a force of this contact on what it carries, zero between bodies that both
    /// move: the load on ground and fixed bodies [N].
    #[must_use]
    pub fn borne(&self, scene: &Scene, force: &Vector3<f64>) -> f64 {
        let is_fixed = |body: usize| scene.bodies[body].is_fixed;
        let upward = || (self.frame.row(2) * force).x;
        match self.other {
            None => upward(),
            Some(other) if is_fixed(other) => upward(),
            Some(_) if is_fixed(self.body) => -upward(),
            Some(_) => 0.0,
        }
    }

    /// Velocity of `body` relative to `other` in the contact, contact axes [m/s].
    #[must_use]
    pub fn velocity(&self, velocities: &[f64]) -> Vector3<f64> {
        let of = |body: usize, arm: &Vector3<f64>| {
            let v = &velocities[DOF * body..];
            three(v) + three(&v[3..]).cross(arm)
        };
        let other = self.other.map_or_else(Vector3::zeros, |other| of(other, &self.arms[1]));
        self.frame.tr_mul(&(of(self.body, &self.arms[0]) - other))
    }
}

/// Least depth that solids must reach without the contact to have one, as a fraction of the depth
/// that a contact ahead of its touch would prevent.
const HIT: f64 = 0.1;

/// The contacts of a step; keeps only memory from one call to the next.
#[derive(Clone, Debug, Default)]
pub struct Contacts {
    list: Vec<Contact>,
    sorted: Vec<Contact>,
    order: Vec<(usize, Option<usize>, usize)>,
    poses: Vec<Pose>,
    neighbours: Neighbours,
    manifold: Manifold,
    ahead: Manifold,
}

impl Contacts {
    /// Those of the last search.
    #[must_use]
    pub fn list(&self) -> &[Contact] {
        &self.list
    }

    /// Finds all that can close within `time_step` [s]. Their order follows from the positions.
    ///
    /// A contact that is not closed yet stops any motion along its present normal. So a pair that
    /// would meet along it is checked at the end of the step: if it has missed, or overlaps by less
    /// than a tenth of what the contact would prevent, there is no contact. A ball passes another,
    /// and a box slides from one slab onto the next.
    ///
    /// O(n log n) as long as no body is near many others, and no body much larger than most.
    pub fn find(&mut self, scene: &Scene, motion: Motion<'_>, time_step: f64) {
        let Self { list, poses, neighbours, manifold, ahead, .. } = self;
        list.clear();
        poses.clear();
        poses.extend(scene.bodies.iter().enumerate().map(|(i, body)| Pose {
            centre: three(&motion.positions[3 * i..]),
            rotation: if body.is_round() {
                Matrix3::identity()
            } else {
                rotation(&motion.orientations[4 * i..])
            },
        }));
        let fastest = fastest(scene, motion, time_step);
        // A pair closes at twice the fastest speed at most.
        let reach = 2.0 * time_step * fastest.norm();
        // A ball's spin moves none of its points along their normal.
        let approach = |i: usize, arm: &Vector3<f64>, normal: &Vector3<f64>| {
            let v = &motion.velocities[DOF * i..DOF * (i + 1)];
            let linear = -normal.dot(&three(v));
            if scene.bodies[i].is_round() {
                linear
            } else {
                linear - normal.dot(&three(&v[3..]).cross(arm))
            }
        };
        let closes = |w: &Witness, closing: f64| {
            w.gap <= time_step * closing.max(w.normal.abs().dot(&fastest))
        };

        // Bodies on the ground.
        for (i, (body, pose)) in scene.bodies.iter().zip(&*poses).enumerate() {
            let distance = scene.ground.distance(&pose.centre);
            if body.is_fixed || distance > body.solid.bounding_radius() + reach {
                continue;
            }
            collide_plane((&body.solid, pose), &scene.ground, reach, manifold);
            let radius = radius_of(&body.solid);
            for w in manifold.witnesses() {
                let arm = w.first - pose.centre;
                if closes(w, approach(i, &arm, &w.normal)) {
                    list.push(contact((i, None), [arm, w.second], w, radius));
                }
            }
        }

        // Pairs, from a grid whose cells hold the largest body and its reach.
        let radius = |i: usize| scene.bodies[i].solid.bounding_radius();
        let largest = (0..scene.bodies.len()).map(radius).fold(0.0, f64::max);
        neighbours.for_each_pair(motion.positions, 2.0 * largest + reach, |i, j| {
            let most = radius(i) + radius(j) + reach;
            let is_far = (poses[i].centre - poses[j].centre).norm_squared() > most * most;
            if is_far || (scene.bodies[i].is_fixed && scene.bodies[j].is_fixed) {
                return;
            }
            let (a, b) = (&scene.bodies[i].solid, &scene.bodies[j].solid);
            collide((a, &poses[i]), (b, &poses[j]), reach, manifold);
            let radius = match (radius_of(a), radius_of(b)) {
                (Some(a), Some(b)) => Some(a * b / (a + b)),
                (one, other) => one.or(other),
            };
            // How deep the pair gets without contact, computed when needed.
            let mut depth = None;
            for w in manifold.witnesses() {
                let arms = [w.first - poses[i].centre, w.second - poses[j].centre];
                let closing = approach(i, &arms[0], &w.normal) - approach(j, &arms[1], &w.normal);
                if !closes(w, closing) {
                    continue;
                }
                let held_back = time_step * closing - w.gap;
                if w.gap > 0.0 && held_back > 0.0 {
                    let depth = *depth.get_or_insert_with(|| {
                        depth_ahead(scene, motion, poses, (i, j), time_step, ahead)
                    });
                    if depth < HIT * held_back {
                        continue;
                    }
                }
                list.push(contact((i, Some(j)), arms, w, radius));
            }
        });
    }

    /// Puts the contacts in the order of their bodies, which changes less from step to step than
    /// that of their positions.
    pub fn sort(&mut self) {
        let Self { list, order, .. } = self;
        order.clear();
        // Contacts of one pair stay as the narrow phase gave them.
        order.extend(list.iter().enumerate().map(|(i, c)| (c.body, c.other, i)));
        order.sort_unstable();
        self.sorted.clear();
        self.sorted.extend(order.iter().map(|&(_, _, i)| list[i]));
        std::mem::swap(list, &mut self.sorted);
    }

    /// Depth of a contact of the last search after the bodies have moved on [m]: of two balls, or a
    /// ball on the ground, exact; else that of the same two points along the same normal.
    #[must_use]
    pub fn depth_after(&self, scene: &Scene, contact: &Contact, motion: Motion<'_>) -> f64 {
        let centre = |i: usize| three(&motion.positions[3 * i..]);
        // A ball's point of contact does not turn with it.
        let point = |i: usize, arm: &Vector3<f64>| {
            if scene.bodies[i].is_round() {
                return centre(i) + arm;
            }
            let turn = rotation(&motion.orientations[4 * i..]);
            centre(i) + turn * self.poses[i].rotation.tr_mul(arm)
        };
        let [first, second] = &contact.arms;
        match contact.other {
            None => -scene.ground.distance(&point(contact.body, first)),
            Some(j) => {
                let (a, b) = (&scene.bodies[contact.body].solid, &scene.bodies[j].solid);
                if let (Solid::Sphere { radius: a }, Solid::Sphere { radius: b }) = (a, b) {
                    return a + b - (centre(contact.body) - centre(j)).norm();
                }
                contact.normal().dot(&(point(j, second) - point(contact.body, first)))
            }
        }
    }
}

/// Largest depth of a pair within a step of free motion: of balls at their closest, else at its end
/// [m]. Infinite if the pair moves by more than its thinner solid, so that it may have passed
/// through.
fn depth_ahead(
    scene: &Scene,
    motion: Motion<'_>,
    poses: &[Pose],
    (i, j): (usize, usize),
    time_step: f64,
    manifold: &mut Manifold,
) -> f64 {
    let velocity = |i: usize| three(&motion.velocities[DOF * i..]);
    let (a, b) = (&scene.bodies[i].solid, &scene.bodies[j].solid);
    let moved = (velocity(i) - velocity(j)) * time_step;
    if let (Solid::Sphere { radius: a }, Solid::Sphere { radius: b }) = (a, b) {
        let apart = poses[i].centre - poses[j].centre;
        let square = moved.norm_squared();
        let share = if square > 0.0 { (-apart.dot(&moved) / square).clamp(0.0, 1.0) } else { 0.0 };
        return a + b - (apart + moved * share).norm();
    }
    let spin = |i: usize| three(&motion.velocities[DOF * i + 3..]);
    let turned = |i: usize| {
        let body = &scene.bodies[i];
        if body.is_round() { 0.0 } else { spin(i).norm() * body.solid.bounding_radius() }
    };
    let reach = moved.norm() + time_step * (turned(i) + turned(j));
    if reach > a.thickness().min(b.thickness()) {
        return f64::INFINITY;
    }
    let [first, second] = [i, j].map(|i| {
        let rotation = if scene.bodies[i].is_round() {
            Matrix3::identity()
        } else {
            let mut q = [0.0; 4];
            q.copy_from_slice(&motion.orientations[4 * i..4 * i + 4]);
            turn(&mut q, &(spin(i) * time_step));
            rotation(&q)
        };
        Pose { centre: poses[i].centre + velocity(i) * time_step, rotation }
    });
    collide((a, &first), (b, &second), 0.0, manifold);
    manifold.witnesses().iter().fold(0.0, |most, w| most.max(-w.gap))
}

fn contact(
    (body, other): (usize, Option<usize>),
    arms: [Vector3<f64>; 2],
    w: &Witness,
    radius: Option<f64>,
) -> Contact {
    Contact { body, other, arms, frame: contact_frame(&w.normal), gap: w.gap, radius }
}

fn radius_of(solid: &Solid) -> Option<f64> {
    match solid {
        Solid::Sphere { radius } | Solid::Capsule { radius, .. } => Some(*radius),
        Solid::Box { .. } | Solid::Cylinder { .. } | Solid::Hull(_) => None,
    }
}

/// Largest speed of any point of any body along each axis, after falling for a step. A ball's
/// spin moves none of its points along their normal.
fn fastest(scene: &Scene, motion: Motion<'_>, time_step: f64) -> Vector3<f64> {
    let fall = Vector3::new(0.0, 0.0, scene.gravity * time_step);
    let bodies = scene.bodies.iter().zip(motion.velocities.chunks_exact(DOF));
    bodies.fold(fall, |most, (body, v)| {
        let spin = if body.is_round() { 0.0 } else { three(&v[3..]).norm() };
        let reach = Vector3::repeat(spin * body.solid.bounding_radius());
        most.sup(&(three(v).abs() + fall + reach))
    })
}
