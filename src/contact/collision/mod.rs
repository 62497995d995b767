//! Nearby points of two solids.
//!
//! # Tour
//!
//! - [`Solid`]: a ball or a cuboid, centred in its own frame; [`Pose`]: the pose of that frame.
//! - [`Neighbours`]: the broad phase, pairs of points that are near, by a grid of cells.
//! - [`collide`]: the narrow phase, up to eight [`Witness`]es of a pair of solids.
//! - [`collide_plane`]: the same for a solid over a plane.
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
//! cuboids that are apart the nearest points are searched too, among all corners and edges, as they
//! need not be under a face.
//!
//! # References
//! S. Gottschalk, M. Lin, D. Manocha, *OBBTree* (1996), for the axes; C. Ericson, *Real-Time
//! Collision Detection* (2005), secs. 4.4, 5.1.9, 5.5, for segments, axes and features.

mod boxes;
mod broad_phase;
mod segments;

use nalgebra::{Matrix3, Vector3};

use crate::geometry::Plane;
use crate::surface::Surface;
pub use broad_phase::Neighbours;

/// A solid centred in its own frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Solid {
    /// A ball.
    Sphere {
        /// Radius, > 0 [m].
        radius: f64,
    },
    /// A cuboid along the axes.
    Box {
        /// Half of each edge, > 0 [m].
        half_size: Vector3<f64>,
    },
}

impl Solid {
    /// Radius of the smallest ball about the centre that holds the solid [m].
    #[must_use]
    pub fn bounding_radius(&self) -> f64 {
        match self {
            Self::Sphere { radius } => *radius,
            Self::Box { half_size } => half_size.norm(),
        }
    }

    /// The smallest diameter [m].
    #[must_use]
    pub fn thickness(&self) -> f64 {
        match self {
            Self::Sphere { radius } => 2.0 * radius,
            Self::Box { half_size } => 2.0 * half_size.min(),
        }
    }

    /// Volume [m³].
    #[must_use]
    pub fn volume(&self) -> f64 {
        match self {
            Self::Sphere { radius } => 4.0 / 3.0 * std::f64::consts::PI * radius * radius * radius,
            Self::Box { half_size } => 8.0 * half_size.x * half_size.y * half_size.z,
        }
    }

    /// Principal moments of inertia per mass, at uniform density [m²]: `2/5 r²`, and
    /// `(b² + c²)/3` of the half edges b and c across an axis.
    #[must_use]
    pub fn moments_per_mass(&self) -> Vector3<f64> {
        match self {
            Self::Sphere { radius } => Vector3::repeat(0.4 * radius * radius),
            Self::Box { half_size } => {
                let s = half_size.component_mul(half_size);
                Vector3::new(s.y + s.z, s.z + s.x, s.x + s.y) / 3.0
            }
        }
    }

    /// Distance from the centre to the supporting plane with the unit normal `direction`, in the
    /// solid's axes [m].
    #[must_use]
    pub fn support(&self, direction: &Vector3<f64>) -> f64 {
        match self {
            Self::Sphere { radius } => *radius,
            Self::Box { half_size } => half_size.dot(&direction.abs()),
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

/// The witnesses of a pair; none where the solids are apart.
#[derive(Clone, Copy, Debug)]
pub struct Manifold {
    witnesses: [Witness; MOST_WITNESSES],
    len: usize,
}

impl Default for Manifold {
    fn default() -> Self {
        let zero = Vector3::zeros();
        let none = Witness { first: zero, second: zero, normal: Vector3::z(), gap: 0.0 };
        Self { witnesses: [none; MOST_WITNESSES], len: 0 }
    }
}

impl Manifold {
    /// All of them.
    #[must_use]
    pub fn witnesses(&self) -> &[Witness] {
        &self.witnesses[..self.len]
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
        (Solid::Sphere { radius }, Solid::Box { half_size }) => {
            sphere_box((&first.1.centre, *radius), (half_size, second.1), reach, manifold);
        }
        (Solid::Box { half_size }, Solid::Sphere { radius }) => {
            sphere_box((&second.1.centre, *radius), (half_size, first.1), reach, manifold);
            manifold.swap();
        }
        (Solid::Box { half_size: a }, Solid::Box { half_size: b }) => {
            boxes::collide((a, first.1), (b, second.1), reach, manifold);
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

fn sphere_box(
    (centre, radius): (&Vector3<f64>, f64),
    (half_size, pose): (&Vector3<f64>, &Pose),
    reach: f64,
    manifold: &mut Manifold,
) {
    let local = pose.rotation.tr_mul(&(centre - pose.centre));
    let at = Surface::Box { half_size: *half_size }.at(&local);
    let gap = at.distance - radius;
    if gap > reach {
        return;
    }
    let normal = pose.rotation * at.normal;
    let second = centre - normal * at.distance;
    manifold.push(Witness { first: centre - normal * radius, second, normal, gap });
}

/// Witnesses of a solid and a plane that are at most `reach` apart, into `manifold`; their normals
/// are the plane's. Of a cuboid's corners the upper half counts only below the plane: above it they
/// cannot be the first to touch.
pub fn collide_plane(solid: (&Solid, &Pose), plane: &Plane, reach: f64, manifold: &mut Manifold) {
    manifold.len = 0;
    let ((solid, pose), normal) = (solid, plane.normal());
    let height = plane.distance(&pose.centre);
    match solid {
        Solid::Sphere { radius } => {
            let gap = height - radius;
            if gap <= reach {
                let (first, second) =
                    (pose.centre - normal * *radius, pose.centre - normal * height);
                manifold.push(Witness { first, second, normal, gap });
            }
        }
        Solid::Box { half_size } => {
            let down = pose.rotation.tr_mul(&normal);
            if height - half_size.dot(&down.abs()) > reach {
                return;
            }
            for corner in boxes::CORNERS {
                let local = half_size.component_mul(&Vector3::from(corner));
                let rise = down.dot(&local);
                let gap = height + rise;
                if gap <= reach && (rise <= 0.0 || gap < 0.0) {
                    let first = pose.centre + pose.rotation * local;
                    manifold.push(Witness { first, second: first - normal * gap, normal, gap });
                }
            }
        }
    }
}
