//! The contacts of a step.
//!
//! One file: the search of a step, from pairs to places, in the order in which it runs.

use std::sync::Arc;

use legwork_block::{Array, Outputs};
use legwork_contact::collision::{
    Manifold, Pose, Solid, Witness, collide, collide_terrain, spread, spread_deepest,
};
use legwork_contact::touch::{RelativeMotion, touch};
use legwork_contact::{Feature, Plane, Surface, Touch, contact_frame};
use legwork_mechanics::{
    FrameRows, Kinematics, Placement, frame_motion, jacobian_columns, relative_jacobian,
};
use nalgebra::{Matrix3, Vector3};

use super::Collisions;
use super::slots::Taken;
use super::solids::Link;
use crate::buses::ContactBus;
use crate::contact::depth::Deep;
use crate::contact::geometry::{Scene, Written, on_body, write_touch};
use crate::contact::ground::{FrictionField, OnBody};
use crate::robot::model::RobotModel;

/// The gap of a place without contact [m].
pub(super) const FAR: f64 = 1e3;
/// Keys of a pair's contacts: the pair from this bit on, the number within it below.
const PAIR_BITS: u32 = 16;
/// Keys of contacts with edges of ground: this bit, the solid from the next one on, and the number
/// within it below.
const EDGE_BIT: u64 = 1 << 63;
const SOLID_BITS: u32 = 40;

/// Edges of ground near one solid that are kept before the best of them are chosen.
const MOST_EDGES: usize = 64;
/// Part of the reach by which one of them must be deeper than another to be chosen for it.
const DEEPER: f64 = 1e-3;
/// Part of a solid's thickness within which two of them are one: an edge belongs to two pieces.
const ALIKE: f64 = 1e-3;
/// Depth from which a solid in the ground that nothing pushes out is told of [m].
const LOST: f64 = 0.01;

/// Contacts that may be near for each place, with memory from the start.
const NEAR_FOR_A_PLACE: usize = 8;

/// What may touch what.
pub(super) struct Search {
    robot: Arc<RobotModel>,
    links: Vec<Link>,
    /// Indices of links.
    pairs: Vec<[usize; 2]>,
    ground: Option<OnGround>,
    reach: f64,
    per_pair: usize,
    friction: f64,
    restitution: f64,
}

/// Ground of the world.
pub(super) struct OnGround {
    pub(super) surface: Arc<Surface>,
    /// Friction by place; a stated μ goes before it.
    pub(super) by_place: Option<Arc<FrictionField>>,
    /// The links that touch it.
    pub(super) links: Vec<usize>,
}

/// Where contacts are written.
pub(super) type Place = Written<Array<ContactBus>>;

/// A contact of a step.
#[derive(Clone, Copy)]
struct Near {
    key: u64,
    gap: f64,
    what: What,
}

#[derive(Clone, Copy)]
enum What {
    /// Of a pair: which, its solids, and the nearest points of both with the normal to the first.
    Pair { pair: usize, rounding: [Round; 2], points: [Vector3<f64>; 2], normal: Vector3<f64> },
    /// Of a link with ground.
    Ground { link: usize, touch: Touch },
}

/// The rounding of a solid.
#[derive(Clone, Copy)]
struct Round {
    /// Radius; 0 for corners [m].
    radius: f64,
}

/// A link in the ground from where nothing pushes it out.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct Lost {
    link: u32,
    /// How deep [m].
    pub(super) depth: f64,
}

/// How fast a link moves.
#[derive(Clone, Copy)]
struct Seen {
    /// Speed of the link's origin [m/s], and its angular speed [rad/s].
    speed: f64,
    spin: f64,
}

/// Work memory of a [`Search`].
pub struct Work {
    seen: Vec<Seen>,
    /// Of all solids, link by link.
    poses: Vec<Pose>,
    /// Index of the first solid of each link.
    first: Vec<usize>,
    manifold: Manifold,
    near: Vec<Near>,
    /// Features of a link that are near the ground.
    touching: Vec<(usize, Touch)>,
    /// Edges of ground that are near a solid, by key.
    edges: Vec<(u64, Witness)>,
    /// The link that is deepest in the ground where nothing pushes it out, and how deep [m].
    pub(super) lost: Option<Lost>,
    keys: Vec<u64>,
    pub(super) taken: Taken,
    /// Columns of the Jacobian of each pair, and of each link.
    of_pair: Vec<FrameRows>,
    of_link: Vec<FrameRows>,
    dense: Vec<f64>,
    /// Places that hold numbers of a contact.
    is_written: Vec<bool>,
    /// Whether all that never changes was written.
    has_begun: bool,
}

impl Work {
    /// How many contacts are near.
    pub(super) fn near(&self) -> usize {
        self.near.len()
    }

    /// Keeps the nearest `places` contacts, in their order; how many are left out.
    pub(super) fn leave_out(&mut self, places: usize) -> usize {
        let left_out = self.near.len().saturating_sub(places);
        if left_out > 0 {
            self.near.sort_unstable_by(|a, b| a.gap.total_cmp(&b.gap).then(a.key.cmp(&b.key)));
            self.near.truncate(places);
            self.near.sort_unstable_by_key(|near| near.key);
        }
        self.keys.clear();
        self.keys.extend(self.near.iter().map(|near| near.key));
        left_out
    }
}

impl Search {
    pub(super) fn new(
        robot: &Arc<RobotModel>,
        links: Vec<Link>,
        pairs: Vec<[usize; 2]>,
        ground: Option<OnGround>,
        block: &Collisions,
    ) -> Self {
        Self {
            robot: Arc::clone(robot),
            links,
            pairs,
            ground,
            reach: block.reach.value(),
            per_pair: block.per_pair,
            friction: block.mu.map_or(ContactBus::NO_FRICTION, |mu| mu.value()),
            restitution: block.restitution.value(),
        }
    }

    /// Memory for so many places.
    pub(super) fn work(&self, places: usize) -> Work {
        let model = &self.robot.model;
        let of_pair = |[i, j]: &[usize; 2]| {
            let mut columns = jacobian_columns(model, self.links[*i].frame);
            columns.extend(jacobian_columns(model, self.links[*j].frame));
            columns.sort_unstable();
            columns.dedup();
            FrameRows::of_columns(columns)
        };
        let features = self.links.iter().map(|link| link.features.len()).max().unwrap_or(0);
        // Many may be near where few can have a place.
        let near = places * NEAR_FOR_A_PLACE;
        let mut first = Vec::with_capacity(self.links.len());
        let mut count = 0;
        for link in &self.links {
            first.push(count);
            count += link.solids.len();
        }
        Work {
            seen: Vec::with_capacity(self.links.len()),
            poses: Vec::with_capacity(count),
            first,
            manifold: Manifold::default(),
            near: Vec::with_capacity(near),
            touching: Vec::with_capacity(features),
            edges: Vec::with_capacity(MOST_EDGES),
            lost: None,
            keys: Vec::with_capacity(near),
            taken: Taken::of(places),
            of_pair: self.pairs.iter().map(of_pair).collect(),
            of_link: self.links.iter().map(|link| FrameRows::new(model, link.frame)).collect(),
            dense: vec![0.0; 6 * model.velocity_dim()],
            is_written: vec![true; places],
            has_begun: false,
        }
    }

    /// Finds what is near, or can come near within a step [s].
    pub(super) fn find(&self, kinematics: &Kinematics, step: f64, work: &mut Work) {
        let model = &self.robot.model;
        let Work { seen, poses, first, manifold, near, touching, edges, lost, .. } = work;
        *lost = None;
        seen.clear();
        poses.clear();
        near.clear();
        for link in &self.links {
            let (placement, twist, _) = frame_motion(model, kinematics, link.frame);
            let (speed, spin) = (twist.linear.norm(), twist.angular.norm());
            seen.push(Seen { speed, spin });
            poses.extend(link.solids.iter().map(|solid| {
                let placed = placement * solid.placement;
                Pose { centre: placed.translation, rotation: placed.rotation }
            }));
        }
        // Speed of the fastest point of a solid.
        let fastest = |link: usize, solid: usize| {
            let (seen, solid) = (&seen[link], &self.links[link].solids[solid]);
            seen.speed + seen.spin * (solid.placement.translation.norm() + solid.radius)
        };

        for (pair, &[i, j]) in self.pairs.iter().enumerate() {
            let mut number = 0;
            for (a, one) in self.links[i].solids.iter().enumerate() {
                for (b, other) in self.links[j].solids.iter().enumerate() {
                    let (at_one, at_other) = (&poses[first[i] + a], &poses[first[j] + b]);
                    let radii = one.radius + other.radius;
                    let apart = (at_one.centre - at_other.centre).norm_squared();
                    let mut most = radii + self.reach;
                    if step.is_finite() {
                        most += step * (fastest(i, a) + fastest(j, b));
                    }
                    if apart.is_nan() || apart > most * most {
                        continue;
                    }
                    let (solids, reach) = ((&one.solid, &other.solid), most - radii);
                    collide((solids.0, at_one), (solids.1, at_other), reach, manifold);
                    manifold.reduce(self.per_pair);
                    let rounding = [solids.0, solids.1].map(|s| Round { radius: s.rounding() });
                    for w in manifold.witnesses() {
                        number += 1;
                        let key = ((pair as u64 + 1) << PAIR_BITS) + number;
                        let points = [w.first, w.second];
                        let what = What::Pair { pair, rounding, points, normal: w.normal };
                        near.push(Near { key, gap: w.gap, what });
                    }
                }
            }
        }

        let Some(ground) = &self.ground else { return };
        for &link in &ground.links {
            let reach = |solid: usize| {
                let way = if step.is_finite() { step * fastest(link, solid) } else { 0.0 };
                self.reach + way
            };
            let count = self.links[link].solids.len();
            let is_near = |solid: &usize| {
                let at = &poses[first[link] + solid];
                let radius = self.links[link].solids[*solid].radius;
                ground.surface.at(&at.centre).distance <= radius + reach(*solid)
            };
            if !(0..count).any(|solid| is_near(&solid)) {
                continue;
            }
            let most = (0..count).map(reach).fold(0.0, f64::max);
            let Link { frame, features, solids } = &self.links[link];
            let scene = Scene::in_world(model, kinematics, *frame);
            touching.clear();
            for (number, feature) in features.iter().enumerate() {
                let found = touch(feature, &ground.surface, &scene.motion, None);
                if found.gap <= most {
                    touching.push((number, found));
                }
            }
            spread(touching, self.per_pair, |(_, t)| t.gap, |(_, t)| t.position);
            touching.sort_unstable_by_key(|(number, _)| *number);
            let place = (self.pairs.len() + link) as u64 + 1;
            near.extend(touching.iter().map(|(number, touch)| Near {
                key: (place << PAIR_BITS) + 1 + *number as u64,
                gap: touch.gap,
                what: What::Ground { link, touch: *touch },
            }));

            for solid in (0..count).filter(is_near) {
                let (own, number) = (&solids[solid], first[link] + solid);
                let at = (&own.solid, &poses[number]);
                let depth = self.edges(ground, at, reach(solid), manifold, edges);
                if depth > lost.map_or(LOST, |lost| lost.depth) {
                    *lost = Some(Lost { link: link as u32, depth });
                }
                near.extend(edges.iter().map(|(edge, witness)| {
                    let touch = on_edge(ground, witness, own.solid.rounding(), &scene.motion);
                    let key = EDGE_BIT | (number as u64) << SOLID_BITS | edge;
                    Near { key, gap: touch.gap, what: What::Ground { link, touch } }
                }));
            }
        }
    }

    /// The edges of the ground that are near a solid, at most as many as a pair has contacts. How
    /// deep the solid is in the ground where nothing pushes it out [m].
    fn edges(
        &self,
        ground: &OnGround,
        solid: (&Solid, &Pose),
        reach: f64,
        manifold: &mut Manifold,
        edges: &mut Vec<(u64, Witness)>,
    ) -> f64 {
        edges.clear();
        let alike = ALIKE * solid.0.thickness();
        let choose = |edges: &mut Vec<(u64, Witness)>| {
            let slack = DEEPER * self.reach;
            spread_deepest(edges, self.per_pair, slack, |(_, w)| w.gap, |(_, w)| w.first);
        };
        let depth = collide_terrain(solid, &ground.surface, reach, manifold, |number, found| {
            let is_known = |(_, known): &(u64, Witness)| {
                (known.first - found.first).norm() <= alike
                    && (known.normal - found.normal).norm() <= ALIKE
            };
            if !edges.iter().any(is_known) {
                if edges.len() == MOST_EDGES {
                    choose(edges);
                }
                edges.push((number, *found));
            }
        });
        choose(edges);
        edges.sort_unstable_by_key(|(number, _)| *number);
        depth
    }

    /// The name of a link in the ground.
    pub(super) fn name(&self, lost: &Lost) -> &str {
        let link = self.links.get(lost.link as usize);
        link.map_or("", |link| &self.robot.model.frame(link.frame).name)
    }

    /// Gives the contacts their places.
    pub(super) fn place(&self, slots: &super::Slots, work: &mut Work) {
        slots.take(&work.keys, &mut work.taken);
    }

    /// Writes all places. The deepest contact that is to be told of.
    pub(super) fn write(
        &self,
        when: (f64, Option<f64>),
        kinematics: &Kinematics,
        work: &mut Work,
        outputs: &mut Outputs<'_>,
        to: Place,
    ) -> Option<Deep> {
        let Work { near, taken, of_pair, of_link, dense, is_written, has_begun, .. } = work;
        let places = is_written.len();
        if !std::mem::replace(has_begun, true) {
            is_written.fill(true);
        }
        for (place, was_written) in is_written.iter_mut().enumerate() {
            let is_taken = taken.keys[place] != 0;
            if *was_written {
                clear(place, places, outputs, to);
            }
            *was_written = is_taken;
        }
        let model = &self.robot.model;
        let (mut deepest, mut loaded) = (None, usize::MAX);
        for (near, &place) in near.iter().zip(&taken.of_contact) {
            match &near.what {
                What::Pair { pair, rounding, points, normal } => {
                    let [i, j] = self.pairs[*pair].map(|link| self.links[link].frame);
                    let rows = &mut of_pair[*pair];
                    // A ball or corner of the one against the tangent plane or ball of the other.
                    let [first, second] = rounding;
                    let is_swapped = first.radius == 0.0 && second.radius > 0.0;
                    let (on, of) = if is_swapped { (i, j) } else { (j, i) };
                    let side = loaded_side(*pair, is_swapped);
                    if loaded != side {
                        relative_jacobian(model, kinematics, on, of, dense);
                        rows.load(dense);
                        loaded = side;
                    }
                    let (normal, points, round) = match is_swapped {
                        true => (-normal, [points[1], points[0]], [second, first]),
                        false => (*normal, *points, [first, second]),
                    };
                    let (body, feature, surface) =
                        local(model, kinematics, (on, of), normal, points, round);
                    let scene = on_body(model, kinematics, &body, of);
                    let found = touch(&feature, &surface, &scene.motion, None);
                    Deep::see(&mut deepest, when, place, found.gap, -found.velocity.z);
                    write_touch(
                        (place, places),
                        (&found, [self.friction, self.restitution]),
                        &scene,
                        rows,
                        outputs,
                        to,
                    );
                }
                What::Ground { link, touch } => {
                    let frame = self.links[*link].frame;
                    let rows = &mut of_link[*link];
                    let side = usize::MAX - 1 - *link;
                    if loaded != side {
                        rows.update(model, kinematics, frame);
                        loaded = side;
                    }
                    let scene = Scene::in_world(model, kinematics, frame);
                    Deep::see(&mut deepest, when, place, touch.gap, -touch.velocity.z);
                    let by_place = self.ground.as_ref().and_then(|ground| ground.by_place.as_ref());
                    let friction = by_place.map_or(self.friction, |field| {
                        field.at([touch.position.x, touch.position.y])
                    });
                    write_touch(
                        (place, places),
                        (touch, [friction, self.restitution]),
                        &scene,
                        rows,
                        outputs,
                        to,
                    );
                }
            }
        }
        deepest
    }
}

/// Tells the sides of a pair apart from one another and from links.
fn loaded_side(pair: usize, is_swapped: bool) -> usize {
    2 * pair + usize::from(is_swapped)
}

/// The touch of the point of a body, with its rounding around it, on the tangent plane in an edge
/// of ground, or on smooth ground.
fn on_edge(ground: &OnGround, witness: &Witness, radius: f64, motion: &RelativeMotion) -> Touch {
    let Witness { first, second, normal, .. } = witness;
    let center = motion.rotation.tr_mul(&(first + normal * radius - motion.translation));
    let feature = Feature::Ball { center, radius };
    match (&*ground.surface, Plane::new(*second, *normal)) {
        (field @ Surface::HeightField(_), _) => touch(&feature, field, motion, None),
        (_, Some(plane)) => touch(&feature, &Surface::HalfSpace(plane), motion, None),
        (other, None) => touch(&feature, other, motion, None),
    }
}

/// A contact as a ball or corner of the body `of`, and a surface of the body `on`.
fn local(
    model: &legwork_mechanics::Model,
    kinematics: &Kinematics,
    (on, of): (legwork_mechanics::FrameId, legwork_mechanics::FrameId),
    normal: Vector3<f64>,
    [point, base]: [Vector3<f64>; 2],
    [round, base_round]: [&Round; 2],
) -> (OnBody, Feature, Surface) {
    let place = |frame| legwork_mechanics::world_from_frame(model, kinematics, frame);
    let center = place(of).inverse().transform_point(&(point + normal * round.radius));
    let radius = base_round.radius;
    let surface = match radius > 0.0 {
        true => Surface::Sphere { radius },
        false => Surface::HalfSpace(Plane::default()),
    };
    let world_from_surface =
        Placement { rotation: contact_frame(&normal), translation: base - normal * radius };
    let placement = place(on).inverse() * world_from_surface;
    (OnBody { frame: on, placement }, Feature::Ball { center, radius: round.radius }, surface)
}

/// A place without contact: far away and separating.
fn clear(place: usize, places: usize, outputs: &mut Outputs<'_>, to: Place) {
    let first = place * ContactBus::LEAVES;
    let mut write = |leaf: usize, numbers: &[f64]| {
        outputs.leaf(to.contact, first + leaf).copy_from_slice(numbers);
    };
    write(ContactBus::POSITION, &[0.0; 3]);
    write(ContactBus::AXES, Matrix3::<f64>::identity().as_slice());
    write(ContactBus::GAP, &[FAR]);
    write(ContactBus::VELOCITY, &[0.0, 0.0, 1.0]);
    write(ContactBus::JACOBIAN_DOT_NU, &[0.0; 3]);
    write(ContactBus::FRICTION, &[0.0]);
    write(ContactBus::RESTITUTION, &[0.0]);
    write(ContactBus::ROW, &[0.0]);
    outputs.leaf(to.contact, first + ContactBus::JACOBIAN).fill(0.0);
    let stacked: &mut [f64] = outputs.get(to.jacobian);
    for column in stacked.chunks_exact_mut(3 * places) {
        column[3 * place..3 * place + 3].fill(0.0);
    }
}
