//! Nearby points of two solids.
//!
//! # Tour
//!
//! - [`Solid`]: a convex solid in its own frame; [`Pose`]: the pose of that frame.
//! - [`Polytope`]: the convex hull of points, with its faces and moments.
//! - [`Neighbours`]: the broad phase, pairs of points that are near, by a grid of cells.
//! - [`collide`]: the narrow phase, up to eight [`Witness`]es of a pair of solids.
//! - [`collide_plane`]: the same for a solid over a plane; [`collide_terrain`]: over the edges of
//!   any other ground.
//!
//! A witness is a pair of points, one on each surface, with the normal along which they separate.
//! Its `gap` is negative where the solids overlap. Solids that are farther apart than `reach` have
//! none; nearer ones have those that may touch next, before they touch.
//!
//! # Two cuboids
//!
//! The axis of least overlap among the 15 of the separating-axis theorem is the normal: 6 normals
//! of faces, 9 products of edges. Under a face the opposite face of the other is clipped
//! (Sutherland and Hodgman), which gives a polygon of up to eight corners; under two edges there is
//! one witness. An edge must be better than the faces by a margin, and a face of the second better
//! than the first's by another, so that resting solids have the same witnesses step after step. For
//! cuboids that are apart, a witness whose gap is their separation is the nearest. Otherwise the
//! nearest points are searched too, as they need not be under a face.
//!
//! # Other convex solids
//!
//! A ball is a point, and a capsule a line, with a rounding; a cuboid, a cylinder and a hull have
//! none. The nearest points of two such cores that are apart give the normal (Gilbert, Johnson and
//! Keerthi). Where they nearly touch or overlap it is the best of the normals of faces, the line of
//! centres, and the directions of nearest points after the second was drawn back; so bodies at rest
//! keep the normal of a face, to the last bit. If one is a cylinder, Newton's method on the
//! direction ends each search, and its answer is certified. Over a face the other's facing face or
//! line is clipped, two parallel lines meet in two points, and all else in one. Nothing is kept from
//! call to call. The cap of a cylinder counts as a polygon of 16 corners, the lowest of them exact.
//!
//! # References
//! S. Gottschalk, M. Lin, D. Manocha, *OBBTree* (1996), for the axes; C. Ericson, *Real-Time
//! Collision Detection* (2005), secs. 4.4, 5.1.9, 5.5, for segments, axes and features.

mod boxes;
mod broad_phase;
mod convex;
mod core;
mod gjk;
mod plane;
mod polytope;
mod rims;
mod segments;
mod terrain;

use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};

use self::core::Core;
use crate::surface::Surface;
pub use broad_phase::Neighbours;
pub use plane::collide_plane;
pub use polytope::{MassProperties, Polytope};
pub use terrain::collide_terrain;
pub(crate) use terrain::{Facet, bends_down};

/// A convex solid in its own frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Solid {
    /// A ball about the origin.
    Sphere {
        /// Radius, > 0 [m].
        radius: f64,
    },
    /// A cuboid along the axes, centred.
    Box {
        /// Half of each edge, > 0 [m].
        half_size: Vector3<f64>,
    },
    /// A line along z, centred, and all that is at most a radius from it.
    Capsule {
        /// Radius, > 0 [m].
        radius: f64,
        /// Half of the line's length, > 0 [m].
        half_length: f64,
    },
    /// A solid cylinder along z, centred.
    Cylinder {
        /// Radius, > 0 [m].
        radius: f64,
        /// Half of the height, > 0 [m].
        half_length: f64,
    },
    /// The convex hull of points, around the origin.
    Hull(Arc<Polytope>),
}

impl Solid {
    /// Radius of the smallest ball about the origin that holds the solid [m].
    #[must_use]
    pub fn bounding_radius(&self) -> f64 {
        match self {
            Self::Sphere { radius } => *radius,
            Self::Box { half_size } => half_size.norm(),
            Self::Capsule { radius, half_length } => radius + half_length,
            Self::Cylinder { radius, half_length } => {
                libm::sqrt(radius * radius + half_length * half_length)
            }
            Self::Hull(hull) => hull.bounding_radius(),
        }
    }

    /// The smallest diameter [m].
    #[must_use]
    pub fn thickness(&self) -> f64 {
        match self {
            Self::Sphere { radius } | Self::Capsule { radius, .. } => 2.0 * radius,
            Self::Box { half_size } => 2.0 * half_size.min(),
            Self::Cylinder { radius, half_length } => 2.0 * radius.min(*half_length),
            Self::Hull(hull) => hull.thickness(),
        }
    }

    /// Radius of its rounding: of a ball or capsule, else 0 [m].
    #[must_use]
    pub fn rounding(&self) -> f64 {
        match self {
            Self::Sphere { radius } | Self::Capsule { radius, .. } => *radius,
            Self::Box { .. } | Self::Cylinder { .. } | Self::Hull(_) => 0.0,
        }
    }

    /// Volume [m³].
    #[must_use]
    pub fn volume(&self) -> f64 {
        let disc = |radius: &f64| std::f64::consts::PI * radius * radius;
        match self {
            Self::Sphere { radius } => 4.0 / 3.0 * disc(radius) * radius,
            Self::Box { half_size } => 8.0 * half_size.x * half_size.y * half_size.z,
            Self::Capsule { radius, half_length } => {
                disc(radius) * (4.0 / 3.0 * radius + 2.0 * half_length)
            }
            Self::Cylinder { radius, half_length } => disc(radius) * 2.0 * half_length,
            Self::Hull(hull) => hull.mass_properties().volume,
        }
    }

    /// Moments of inertia about the axes per mass, at uniform density [m²]: `2/5 r²`, `(b² + c²)/3`
    /// of the half edges b and c across an axis, and so on. Those of a hull are about its centre,
    /// which should be its origin, and along its principal axes, which should be its own.
    #[must_use]
    pub fn moments_per_mass(&self) -> Vector3<f64> {
        match self {
            Self::Sphere { radius } => Vector3::repeat(0.4 * radius * radius),
            Self::Box { half_size } => {
                let s = half_size.component_mul(half_size);
                Vector3::new(s.y + s.z, s.z + s.x, s.x + s.y) / 3.0
            }
            Self::Cylinder { radius, half_length } => {
                let (r, h) = (radius * radius, half_length * half_length);
                Vector3::new(0.25 * r + h / 3.0, 0.25 * r + h / 3.0, 0.5 * r)
            }
            Self::Capsule { radius, half_length } => {
                // A cylinder, and two half balls whose centres are 3/8 r beyond its ends.
                let (r, l) = (radius * radius, *half_length);
                let balls = 4.0 / 3.0 * radius / (4.0 / 3.0 * radius + 2.0 * l);
                let across = (1.0 - balls) * (0.25 * r + l * l / 3.0)
                    + balls * (0.4 * r + l * l + 0.75 * radius * l);
                let about = (1.0 - balls) * 0.5 * r + balls * 0.4 * r;
                Vector3::new(across, across, about)
            }
            Self::Hull(hull) => {
                let mass = hull.mass_properties();
                mass.inertia.diagonal() / mass.volume
            }
        }
    }

    /// Distance from the origin to the supporting plane with the unit normal `direction`, in the
    /// solid's axes [m].
    #[must_use]
    pub fn support(&self, direction: &Vector3<f64>) -> f64 {
        match self {
            Self::Sphere { radius } => *radius,
            Self::Box { half_size } => half_size.dot(&direction.abs()),
            Self::Capsule { radius, half_length } => radius + half_length * direction.z.abs(),
            Self::Cylinder { radius, half_length } => {
                let across = libm::sqrt(direction.x * direction.x + direction.y * direction.y);
                radius * across + half_length * direction.z.abs()
            }
            Self::Hull(hull) => hull.extent(direction),
        }
    }
}

/// Pose of a solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// The solid's centre, world axes [m].
    pub centre: Vector3<f64>,
    /// `world_from_solid`.
    pub rotation: Matrix3<f64>,
}

/// Two points that are near, one on each solid.
#[doc(alias("contact point", "closest points"))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Witness {
    /// On the first solid, world axes [m].
    pub first: Vector3<f64>,
    /// On the second solid or the plane, world axes [m].
    pub second: Vector3<f64>,
    /// Unit normal towards the first solid, world axes.
    pub normal: Vector3<f64>,
    /// `n · (first − second)`, negative in overlap [m].
    pub gap: f64,
}

impl Witness {
    fn new(first: Vector3<f64>, second: Vector3<f64>, normal: Vector3<f64>) -> Self {
        Self { first, second, normal, gap: normal.dot(&(first - second)) }
    }

    /// The same with the solids in the other order.
    fn swapped(&self) -> Self {
        Self { first: self.second, second: self.first, normal: -self.normal, gap: self.gap }
    }
}

/// Most witnesses of a pair.
pub const MOST_WITNESSES: usize = 8;

/// The witnesses of a pair; none where the solids are apart. Keeps memory from call to call,
/// nothing else.
#[derive(Clone, Debug)]
pub struct Manifold {
    witnesses: [Witness; MOST_WITNESSES],
    len: usize,
    buffers: Buffers,
}

/// Corners of a polygon for which there is memory from the start; faces of hulls seldom have more.
const CORNERS: usize = 64;

/// Polygons of a call.
#[derive(Clone, Debug)]
struct Buffers {
    face: Vec<Vector3<f64>>,
    polygon: Vec<Vector3<f64>>,
    clipped: Vec<Vector3<f64>>,
    /// Pairs of points of the first and the second.
    points: Vec<[Vector3<f64>; 2]>,
}

impl Default for Manifold {
    fn default() -> Self {
        let zero = Vector3::zeros();
        let none = Witness { first: zero, second: zero, normal: Vector3::z(), gap: 0.0 };
        let buffers = Buffers {
            face: Vec::with_capacity(CORNERS),
            polygon: Vec::with_capacity(CORNERS),
            clipped: Vec::with_capacity(CORNERS),
            points: Vec::with_capacity(CORNERS),
        };
        Self { witnesses: [none; MOST_WITNESSES], len: 0, buffers }
    }
}

impl Manifold {
    /// All of them.
    #[must_use]
    pub fn witnesses(&self) -> &[Witness] {
        &self.witnesses[..self.len]
    }

    /// Leaves at most `most` witnesses, as [`spread`] does.
    pub fn reduce(&mut self, most: usize) {
        if self.len > most {
            spread_in(&mut self.witnesses[..self.len], most, |w| w.gap, |w| w.first);
            self.len = most;
        }
    }

    /// Takes the buffered points as witnesses, where they are within reach: if they are too many,
    /// the deepest and those that are farthest from one another.
    fn choose(&mut self, reach: f64, witness: impl Fn(&[Vector3<f64>; 2]) -> Witness) {
        let mut points = std::mem::take(&mut self.buffers.points);
        points.retain(|pair| witness(pair).gap <= reach);
        spread(&mut points, MOST_WITNESSES, |pair| witness(pair).gap, |[first, _]| *first);
        points.iter().for_each(|pair| self.push(witness(pair)));
        self.buffers.points = points;
    }

    fn push(&mut self, witness: Witness) {
        // A clipped rectangle has no more corners than there is room for.
        if self.len < MOST_WITNESSES {
            self.witnesses[self.len] = witness;
            self.len += 1;
        }
    }

    fn swap(&mut self) {
        self.witnesses[..self.len].iter_mut().for_each(|witness| *witness = witness.swapped());
    }
}

/// Leaves at most `most` of some points: the deepest, then again and again the one that is farthest
/// from those. Fewer points stay as they are.
pub fn spread<T>(
    points: &mut Vec<T>,
    most: usize,
    gap: impl Fn(&T) -> f64,
    position: impl Fn(&T) -> Vector3<f64>,
) {
    if points.len() > most {
        spread_in(points, most, gap, position);
        points.truncate(most);
    }
}

/// As [`spread`], but the deepest of those that are nearer to one of them than to the others stands
/// in its place, where it is deeper by more than `slack` [m]: two bumps are touched at their tops.
pub fn spread_deepest<T>(
    points: &mut Vec<T>,
    most: usize,
    slack: f64,
    gap: impl Fn(&T) -> f64,
    position: impl Fn(&T) -> Vector3<f64>,
) {
    if points.len() <= most {
        return;
    }
    spread_in(points, most, &gap, &position);
    for i in 1..most {
        let apart =
            |k: usize, j: usize| (position(&points[k]) - position(&points[j])).norm_squared();
        let is_own = |j: &usize| (0..most).all(|k| k == i || apart(i, *j) < apart(k, *j));
        let deeper = |a: &usize, b: &usize| gap(&points[*a]).total_cmp(&gap(&points[*b]));
        if let Some(deepest) = (most..points.len()).filter(is_own).min_by(deeper)
            && gap(&points[deepest]) < gap(&points[i]) - slack
        {
            points.swap(i, deepest);
        }
    }
    points.truncate(most);
}

/// Puts the points that [`spread`] leaves in front.
fn spread_in<T>(
    points: &mut [T],
    most: usize,
    gap: impl Fn(&T) -> f64,
    position: impl Fn(&T) -> Vector3<f64>,
) {
    for kept in 0..most {
        let value = |point: &T| {
            let apart = |other: &T| (position(point) - position(other)).norm_squared();
            match kept {
                0 => -gap(point),
                _ => points[..kept].iter().map(apart).fold(f64::INFINITY, f64::min),
            }
        };
        let mut best = (f64::NEG_INFINITY, kept);
        for (i, point) in points.iter().enumerate().skip(kept) {
            let value = value(point);
            if value > best.0 {
                best = (value, i);
            }
        }
        points.swap(kept, best.1);
    }
}

/// Witnesses of two solids that are at most `reach` apart, into `manifold`; their normals point
/// from the second to the first. Allocates nothing.
///
/// | symbol | argument | meaning [unit] |
/// |---|---|---|
/// | | `first`, `second` | each with its pose |
/// | | `reach` | ≥ 0 [m] |
#[doc(alias("separating axis theorem", "SAT", "narrow phase", "GJK", "contact manifold"))]
pub fn collide(
    first: (&Solid, &Pose),
    second: (&Solid, &Pose),
    reach: f64,
    manifold: &mut Manifold,
) {
    manifold.len = 0;
    match (first.0, second.0) {
        (Solid::Sphere { radius: a }, Solid::Sphere { radius: b }) => {
            spheres((&first.1.centre, *a), (&second.1.centre, *b), reach, manifold);
        }
        (Solid::Sphere { radius }, Solid::Box { .. } | Solid::Cylinder { .. }) => {
            sphere_on(&first.1.centre, *radius, second, reach, manifold);
        }
        (Solid::Box { .. } | Solid::Cylinder { .. }, Solid::Sphere { radius }) => {
            sphere_on(&second.1.centre, *radius, first, reach, manifold);
            manifold.swap();
        }
        (Solid::Box { half_size: a }, Solid::Box { half_size: b }) => {
            boxes::collide((a, first.1), (b, second.1), reach, manifold);
        }
        _ => {
            let (a, b) = (Core::of(first.0, first.1), Core::of(second.0, second.1));
            convex::collide(&a, &b, reach, manifold);
        }
    }
}

fn spheres(
    (a, ra): (&Vector3<f64>, f64),
    (b, rb): (&Vector3<f64>, f64),
    reach: f64,
    manifold: &mut Manifold,
) {
    let apart = a - b;
    let distance = apart.norm();
    if distance - (ra + rb) > reach {
        return;
    }
    // Spheres with one centre have no normal; any direction separates them.
    let normal = if distance > 0.0 { apart / distance } else { Vector3::z() };
    let gap = distance - (ra + rb);
    manifold.push(Witness { first: a - normal * ra, second: b + normal * rb, normal, gap });
}

/// A ball and a cuboid or cylinder, whose distance is known in closed form.
fn sphere_on(
    center: &Vector3<f64>,
    radius: f64,
    (solid, pose): (&Solid, &Pose),
    reach: f64,
    manifold: &mut Manifold,
) {
    let surface = match solid {
        Solid::Box { half_size } => Surface::Box { half_size: *half_size },
        Solid::Cylinder { radius, half_length } => {
            Surface::Cylinder { radius: *radius, half_length: *half_length }
        }
        _ => return,
    };
    let at = surface.at(&pose.rotation.tr_mul(&(center - pose.centre)));
    let gap = at.distance - radius;
    if gap > reach {
        return;
    }
    let normal = pose.rotation * at.normal;
    let second = center - normal * at.distance;
    manifold.push(Witness { first: center - normal * radius, second, normal, gap });
}
