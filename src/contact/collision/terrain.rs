//! Solids over edges of ground.
//!
//! Where two bodies touch, a corner of one is on the other, or two edges cross. The corners of a
//! solid are tried against the distance field of the ground; here its faces and edges are against
//! the edges and corners of the ground. The ground is a set of convex pieces: cuboids, and
//! triangles. Those near the solid are tried one by one, and of their witnesses those count that
//! lie on an edge, and not on one between triangles of a plane or in a valley.
//!
//! A piece does not know its neighbours, so the normal of a witness may lead into another. With ε a
//! small length and d the distance of the whole ground, it is one of the ground exactly if
//! `d(x + ε n) = ε`; else the normal of the ground there is taken, if it is about the same, and the
//! witness is dropped if not. Height fields are smooth, and their triangles only show where to
//! look: gap and normal are those of the field.

use nalgebra::Vector3;

use super::core::{Core, Triangle};
use super::{Manifold, Pose, Solid, Witness, collide, convex};
use crate::surface::Surface;
use legwork_mechanics::Placement;

/// Sine of the angle up to which neighbouring triangles are one face.
const FLAT: f64 = 1e-5;
/// ε as a part of the solid's thickness.
const LIFT: f64 = 1e-3;
/// Part of ε by which the distance may be less.
const CLOSE: f64 = 1e-4;
/// Difference up to which the ground's normal is that of the witness.
const SAME: f64 = 1e-6;
/// Cosine of the angle by which the ground's normal may correct that of a witness.
const ALIKE: f64 = 0.9;
/// Part of the sizes by which a point may be beside an edge.
const BESIDE: f64 = 1e-6;
/// A witness has this bit of its number from its piece on.
const PIECE_BITS: u32 = 4;

/// A triangle of ground.
pub(crate) struct Facet {
    /// Counter-clockwise seen from outside [m].
    pub(crate) corners: [Vector3<f64>; 3],
    /// Whether the edge from each corner to the next stands out: the ground bends down behind it,
    /// or ends.
    pub(crate) is_sharp: [bool; 3],
}

/// Witnesses of a solid and of edges and corners of ground that are at most `reach` apart, to
/// `found`, each with a number that it keeps while solid and ground move little. The depth of the
/// deepest that was dropped as it leads nowhere out of the ground, else 0 [m].
///
/// | symbol | argument | meaning [unit] |
/// |---|---|---|
/// | | `solid` | with its pose in the axes of the ground |
/// | | `surface` | the ground |
/// | | `reach` | ≥ 0 [m] |
///
/// Together with the distances of the corners, balls and rims of the solid these are all contacts.
/// A ball has none, as its distance is exact. Of height fields the points may be off by half a
/// cell, and gaps by `κ h²/8` of the curvature κ [1/m] and the cell h [m]. Allocates nothing; O(n)
/// in cuboids, else by those of the triangles that are near.
#[doc(alias("heightmap", "mesh collision", "ghost collision", "internal edge"))]
pub fn collide_terrain(
    (solid, pose): (&Solid, &Pose),
    surface: &Surface,
    reach: f64,
    manifold: &mut Manifold,
    mut found: impl FnMut(u64, &Witness),
) -> f64 {
    if matches!(solid, Solid::Sphere { .. }) {
        return 0.0;
    }
    let mut search = Search {
        solid,
        pose,
        ground: surface,
        core: Core::of(solid, pose),
        radius: solid.bounding_radius() + reach,
        reach,
        manifold,
        found: &mut found,
        lost: 0.0,
    };
    search.on(surface, &Placement::identity(), 0);
    search.lost
}

/// Whether ground bends down at an edge of a triangle: by the triangle's normal, and the way from
/// the edge to the third corner of the triangle behind it.
pub(crate) fn bends_down(normal: &Vector3<f64>, across: &Vector3<f64>) -> bool {
    normal.dot(across) < -FLAT * across.norm()
}

struct Search<'a> {
    solid: &'a Solid,
    pose: &'a Pose,
    core: Core<'a>,
    ground: &'a Surface,
    reach: f64,
    /// Of a ball about the solid that holds all that is within reach [m].
    radius: f64,
    manifold: &'a mut Manifold,
    found: &'a mut dyn FnMut(u64, &Witness),
    lost: f64,
}

impl Search<'_> {
    /// Tries the pieces of a part of the ground, which are counted from `first` on; the number
    /// after the last.
    fn on(&mut self, part: &Surface, placement: &Placement, first: u64) -> u64 {
        match part {
            Surface::HalfSpace(_) => first,
            Surface::Box { half_size } => {
                self.on_solid(part, &Solid::Box { half_size: *half_size }, placement, first);
                first + 1
            }
            Surface::Sphere { radius } => {
                self.on_solid(part, &Solid::Sphere { radius: *radius }, placement, first);
                first + 1
            }
            Surface::Cylinder { radius, half_length } => {
                let (radius, half_length) = (*radius, *half_length);
                self.on_solid(part, &Solid::Cylinder { radius, half_length }, placement, first);
                first + 1
            }
            Surface::HeightField(field) => {
                let [low, high] = self.bounds(placement);
                field.for_each_facet(&low, &high, |index, facet| {
                    self.on_facet(facet, placement, first + index, true);
                });
                first + field.facet_count()
            }
            Surface::TriangleMesh(mesh) => {
                let [low, high] = self.bounds(placement);
                mesh.for_each_facet(&low, &high, |index, facet| {
                    self.on_facet(facet, placement, first + index, false);
                });
                first + mesh.facet_count()
            }
            Surface::Union(parts) => parts.iter().fold(first, |next, part| {
                self.on(&part.surface, &(*placement * part.placement), next)
            }),
        }
    }

    /// Bounds of all that is within reach of the solid, in the axes of a part of the ground.
    fn bounds(&self, placement: &Placement) -> [Vector3<f64>; 2] {
        let to_solid = self.pose.rotation.tr_mul(&placement.rotation);
        let extent = |side: f64| {
            Vector3::from_fn(|axis, _| {
                self.solid.support(&(to_solid.column(axis) * side)) + self.reach
            })
        };
        let centre = placement.inverse().transform_point(&self.pose.centre);
        [centre - extent(-1.0), centre + extent(1.0)]
    }

    fn on_solid(&mut self, part: &Surface, piece: &Solid, placement: &Placement, number: u64) {
        let local = |x: &Vector3<f64>| placement.rotation.tr_mul(&(x - placement.translation));
        if part.at(&local(&self.pose.centre)).distance > self.radius {
            return;
        }
        let at = Pose { centre: placement.translation, rotation: placement.rotation };
        collide((self.solid, self.pose), (piece, &at), self.reach, self.manifold);
        let slack = BESIDE * self.radius;
        for k in 0..self.manifold.witnesses().len() {
            let witness = self.manifold.witnesses()[k];
            let is_on_edge = match piece {
                Solid::Box { half_size } => {
                    let beyond = local(&witness.second).abs() - half_size;
                    beyond.iter().filter(|x| **x >= -slack).count() > 1
                }
                _ => true,
            };
            if is_on_edge {
                self.offer(&witness, false, (number << PIECE_BITS) + k as u64);
            }
        }
    }

    fn on_facet(&mut self, facet: &Facet, placement: &Placement, number: u64, is_smooth: bool) {
        let corners = facet.corners.map(|x| placement.transform_point(&x));
        let beside = |point: &Vector3<f64>, k: usize| {
            let edge = corners[(k + 1) % 3] - corners[k];
            let share = edge.dot(&(point - corners[k])) / edge.norm_squared();
            (point - corners[k] - edge * share.clamp(0.0, 1.0)).norm()
        };
        let is_near = |point: &Vector3<f64>, within: f64| {
            (0..3).any(|k| facet.is_sharp[k] && beside(point, k) <= within)
        };
        if !is_near(&self.pose.centre, self.radius) {
            return;
        }
        let Some(triangle) = Triangle::new(&corners) else { return };
        self.manifold.len = 0;
        convex::collide(&self.core, &Core::of_triangle(&triangle), self.reach, self.manifold);
        let slack = BESIDE * self.radius;
        for k in 0..self.manifold.witnesses().len() {
            let witness = self.manifold.witnesses()[k];
            if is_near(&witness.second, slack) {
                self.offer(&witness, is_smooth, (number << PIECE_BITS) + k as u64);
            }
        }
    }

    /// Hands on a witness on an edge as the ground has it.
    fn offer(&mut self, witness: &Witness, is_smooth: bool, number: u64) {
        let center = witness.first + witness.normal * self.core.rounding;
        let settled = match is_smooth {
            true => self.on_field(&center),
            false => self.settled(witness, &center),
        };
        match settled {
            Some(witness) if witness.gap <= self.reach => (self.found)(number, &witness),
            Some(_) => {}
            None => self.lost = self.lost.max(-witness.gap),
        }
    }

    /// The witness of a point of the core and the ground.
    fn on_field(&self, center: &Vector3<f64>) -> Option<Witness> {
        let at = self.ground.at(center);
        let first = center - at.normal * self.core.rounding;
        Some(Witness::new(first, center - at.normal * at.distance, at.normal))
    }

    /// A witness with a normal of the ground in its point; none if there is no such.
    fn settled(&self, witness: &Witness, center: &Vector3<f64>) -> Option<Witness> {
        let lift = LIFT * self.solid.thickness();
        let above = |normal: &Vector3<f64>| self.ground.at(&(witness.second + normal * lift));
        let mut at = above(&witness.normal);
        let mut settled = *witness;
        if (at.normal - witness.normal).norm() > SAME {
            if at.normal.dot(&witness.normal) < ALIKE {
                return None;
            }
            let first = center - at.normal * self.core.rounding;
            settled = Witness::new(first, witness.second, at.normal);
            at = above(&settled.normal);
        }
        (at.distance >= lift * (1.0 - CLOSE)).then_some(settled)
    }
}
