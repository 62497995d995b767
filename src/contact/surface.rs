//! Surfaces that bodies touch, as signed distance fields.
//!
//! A surface is fixed in its own frame, that of a body or of the world. At a point it gives
//! the distance `d`, its gradient `n = ∇d`, which is a unit vector out of the surface, and the
//! curvature `H = ∇²d`. As the point moves by `ṗ` in that frame,
//!
//! ```text
//! ḋ = n·ṗ,   ṅ = H ṗ,   H n = 0
//! ```
//!
//! The distance is that to the nearest point of the surface, negative inside. Where several points
//! are nearest (the middle of a box, the axis of a cylinder) one of them is taken, always the same.
//! Between the regions of a box or a cylinder the curvature jumps; outside, the normal does not.

use nalgebra::{Matrix3, Vector3};

use crate::geometry::Plane;
use crate::height_field::HeightField;
use crate::triangle_mesh::TriangleMesh;
use legwork_mechanics::Placement;

/// A surface in its own frame.
#[doc(alias("SDF", "signed distance field"))]
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Surface {
    /// The region below a plane.
    HalfSpace(Plane),
    /// A cuboid along the axes, centred.
    Box {
        /// Half of each edge, greater than zero [m].
        half_size: Vector3<f64>,
    },
    /// A ball about the origin.
    Sphere {
        /// Radius, greater than zero [m].
        radius: f64,
    },
    /// A solid cylinder along z, centred.
    Cylinder {
        /// Radius, greater than zero [m].
        radius: f64,
        /// Half of the height, greater than zero [m].
        half_length: f64,
    },
    /// The region below a height field along z.
    HeightField(HeightField),
    /// The region that triangles bound.
    TriangleMesh(TriangleMesh),
    /// All that is in one of several. The distance is the least of theirs: exact outside, and
    /// inside as far as no other part is nearer than the surface of the first.
    Union(Vec<Part>),
}

/// A surface in a union.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Where it is: `union_from_part`.
    pub placement: Placement,
    /// In its own frame.
    pub surface: Surface,
}

/// A signed distance field at one point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// Signed distance d, negative inside [m].
    pub distance: f64,
    /// Its gradient n: the unit normal out of the surface.
    pub normal: Vector3<f64>,
    /// Its second derivative H [1/m].
    pub curvature: Matrix3<f64>,
}

impl Distance {
    /// A distance along a fixed direction.
    fn flat(distance: f64, normal: Vector3<f64>) -> Self {
        Self { distance, normal, curvature: Matrix3::zeros() }
    }
}

impl Surface {
    /// Signed distance, normal and curvature at `point`, all in the surface's frame.
    ///
    /// Allocates nothing. O(1); a height field takes a few Newton steps, triangles a search.
    #[must_use]
    pub fn at(&self, point: &Vector3<f64>) -> Distance {
        match self {
            Self::HalfSpace(plane) => Distance::flat(plane.distance(point), plane.normal()),
            Self::Box { half_size } => box_at(half_size, point),
            Self::Sphere { radius } => sphere_at(*radius, point),
            Self::Cylinder { radius, half_length } => cylinder_at(*radius, *half_length, point),
            Self::HeightField(field) => field.at(point),
            Self::TriangleMesh(mesh) => mesh.at(point),
            Self::Union(parts) => union_at(parts, point),
        }
    }

    /// Height at which the centre of a ball of this radius [m], which falls along −z from `point`,
    /// first touches the surface, or `None` if it does not within `reach` [m].
    ///
    /// By sphere tracing: the distance to the surface is a way that can be fallen without touching
    /// it (J. Hart, *Sphere tracing: a geometric method for the antialiased ray tracing of implicit
    /// surfaces*, 1996). From inside it rises in the same way.
    #[must_use]
    pub fn offset_below(&self, point: &Vector3<f64>, radius: f64, reach: f64) -> Option<f64> {
        let mut at = *point;
        for _ in 0..TRACES {
            let distance = self.at(&at).distance - radius;
            if distance.abs() <= TOUCHES {
                return Some(at.z);
            }
            at.z -= distance;
            if (at.z - point.z).abs() > reach {
                return None;
            }
        }
        None
    }
}

/// Steps of sphere tracing, at most: along a steep slope they are short.
const TRACES: usize = 10_000;
/// How near a surface it ends [m].
const TOUCHES: f64 = 1e-12;

/// The nearest part, the first of several; far from everything if there is none.
fn union_at(parts: &[Part], point: &Vector3<f64>) -> Distance {
    let mut nearest: Option<(Distance, &Placement)> = None;
    for Part { placement, surface } in parts {
        let local = placement.rotation.tr_mul(&(point - placement.translation));
        let found = surface.at(&local);
        if nearest.as_ref().is_none_or(|(known, _)| found.distance < known.distance) {
            nearest = Some((found, placement));
        }
    }
    let Some((found, placement)) = nearest else {
        return Distance::flat(f64::MAX, Vector3::z());
    };
    let rotation = &placement.rotation;
    Distance {
        distance: found.distance,
        normal: rotation * found.normal,
        curvature: rotation * found.curvature * rotation.transpose(),
    }
}

/// Distance from a cuboid: with `q = |p| − half`, `|max(q, 0)|` outside and `max q` inside.
fn box_at(half_size: &Vector3<f64>, point: &Vector3<f64>) -> Distance {
    let beyond = point.abs() - half_size;
    let outside = beyond.map(|q| q.max(0.0));
    let distance = outside.norm();
    let side = |axis: usize| if point[axis] < 0.0 { -1.0 } else { 1.0 };
    if distance == 0.0 {
        // The nearest face; on a tie the first axis.
        let mut nearest = 0;
        for axis in 1..3 {
            if beyond[axis] > beyond[nearest] {
                nearest = axis;
            }
        }
        let mut normal = Vector3::zeros();
        normal[nearest] = side(nearest);
        return Distance::flat(beyond[nearest], normal);
    }
    let mut normal = outside / distance;
    let mut curvature = Matrix3::zeros();
    for axis in 0..3 {
        normal[axis] *= side(axis);
    }
    // Of the axes along which the point is beyond the box: over a face there is one, H = 0.
    if outside.iter().filter(|q| **q > 0.0).count() > 1 {
        for axis in 0..3 {
            curvature[(axis, axis)] = f64::from(u8::from(outside[axis] > 0.0));
        }
        curvature = (curvature - normal * normal.transpose()) / distance;
    }
    Distance { distance, normal, curvature }
}

/// Distance from a ball; in the centre its normal is z.
fn sphere_at(radius: f64, point: &Vector3<f64>) -> Distance {
    let length = point.norm();
    if length < f64::MIN_POSITIVE {
        return Distance::flat(-radius, Vector3::z());
    }
    let normal = point / length;
    let curvature = (Matrix3::identity() - normal * normal.transpose()) / length;
    Distance { distance: length - radius, normal, curvature }
}

/// Distance from a cylinder along z: that of a rectangle in the half-plane through the axis, turned
/// about it. With e the direction from the axis, t across it and `d(ρ, z)`,
/// `H = d_ρρ e eᵀ + d_ρ/ρ t tᵀ + d_ρz (e zᵀ + z eᵀ) + d_zz z zᵀ`.
fn cylinder_at(radius: f64, half_length: f64, point: &Vector3<f64>) -> Distance {
    let across = libm::sqrt(point.x * point.x + point.y * point.y);
    let on_axis = across < f64::MIN_POSITIVE;
    let e = if on_axis { Vector3::x() } else { Vector3::new(point.x, point.y, 0.0) / across };
    let up = if point.z < 0.0 { -1.0 } else { 1.0 };
    let (side, cap) = (across - radius, point.z.abs() - half_length);
    let t = Vector3::new(-e.y, e.x, 0.0);
    let about_axis = if on_axis { Matrix3::zeros() } else { t * t.transpose() / across };
    if side > 0.0 && cap > 0.0 {
        // Beyond the rim.
        let distance = libm::sqrt(side * side + cap * cap);
        let (along, above) = (side / distance, cap / distance);
        let normal = e * along + Vector3::z() * (up * above);
        let across_normal = e * above - Vector3::z() * (up * along);
        let about_rim = across_normal * across_normal.transpose() / distance;
        return Distance { distance, normal, curvature: about_rim + about_axis * along };
    }
    if side > cap {
        return Distance { distance: side, normal: e, curvature: about_axis };
    }
    Distance::flat(cap, Vector3::z() * up)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may stop")]
mod tests {
    use super::*;
    use legwork_qp::problems::Random;

    fn surfaces() -> Vec<Surface> {
        let plane = Plane::new(Vector3::new(0.1, 0.2, -0.3), Vector3::new(0.3, -0.2, 0.8)).unwrap();
        vec![
            Surface::HalfSpace(plane),
            Surface::Box { half_size: Vector3::new(0.5, 0.3, 0.2) },
            Surface::Sphere { radius: 0.4 },
            Surface::Cylinder { radius: 0.3, half_length: 0.5 },
            union(),
            Surface::TriangleMesh(TriangleMesh::new(&rock()).unwrap()),
        ]
    }

    /// The hull of some points.
    fn rock() -> legwork_mesh::Mesh {
        let mut random = Random::new(35);
        let points: Vec<_> = (0..40).map(|_| random_point(&mut random).normalize() * 0.5).collect();
        legwork_mesh::Hull::new(&points).unwrap().to_mesh()
    }

    /// A ball on a tilted box.
    fn union() -> Surface {
        let tilted = Placement::from_xyz_rpy([0.1, -0.1, 0.05], [0.4, -0.3, 0.8]);
        let above = Placement::from_xyz_rpy([0.2, 0.0, 0.5], [0.0; 3]);
        Surface::Union(vec![
            Part {
                placement: tilted,
                surface: Surface::Box { half_size: Vector3::new(0.5, 0.3, 0.2) },
            },
            Part { placement: above, surface: Surface::Sphere { radius: 0.25 } },
        ])
    }

    /// The distance of a union is the least of its parts', each computed in world axes.
    #[test]
    fn a_union_is_as_near_as_its_nearest_part() {
        let mut random = Random::new(33);
        let Surface::Union(parts) = union() else { panic!("a union") };
        for _ in 0..500 {
            let point = random_point(&mut random);
            let apart = parts.iter().map(|part| {
                part.surface.at(&part.placement.inverse().transform_point(&point)).distance
            });
            let least = apart.fold(f64::MAX, f64::min);
            let found = union().at(&point).distance;
            assert!((found - least).abs() < 1e-14, "at {point}: {found} for {least}");
        }
        assert_eq!(Surface::Union(Vec::new()).at(&Vector3::zeros()).distance, f64::MAX);
    }

    #[test]
    fn what_falls_lands_on_the_surface() {
        let mut random = Random::new(34);
        for surface in surfaces() {
            let mut landed = 0;
            for _ in 0..200 {
                let mut point = random_point(&mut random);
                point.z += 2.0;
                let radius = 0.1 * random.uniform();
                let Some(height) = surface.offset_below(&point, radius, 10.0) else { continue };
                landed += 1;
                let on = Vector3::new(point.x, point.y, height);
                let distance = surface.at(&on).distance;
                assert!((distance - radius).abs() < 1e-11, "{surface:?} at {on}");
                // It touched nothing on its way.
                let way = (1..50).map(|i| on + Vector3::z() * (0.05 * f64::from(i)));
                let mut before = way.take_while(|p| p.z <= point.z);
                assert!(before.all(|p| surface.at(&p).distance > radius), "{surface:?}");
            }
            assert!(landed > 10, "{surface:?}: {landed} landed");
        }
    }

    fn random_point(random: &mut Random) -> Vector3<f64> {
        0.6 * Vector3::new(random.normal(), random.normal(), random.normal())
    }

    /// Points of the surface of a box or a cylinder, `count` along an edge.
    fn boundary(surface: &Surface, count: usize) -> Vec<Vector3<f64>> {
        let steps = || (0..=count).map(|i| 2.0 * i as f64 / count as f64 - 1.0);
        let mut points = Vec::new();
        match surface {
            Surface::Box { half_size } => {
                for axis in 0..3 {
                    for (side, a) in [-1.0, 1.0].iter().flat_map(|s| steps().map(move |a| (s, a))) {
                        for b in steps() {
                            let mut unit = Vector3::zeros();
                            unit[axis] = *side;
                            unit[(axis + 1) % 3] = a;
                            unit[(axis + 2) % 3] = b;
                            points.push(unit.component_mul(half_size));
                        }
                    }
                }
            }
            Surface::Cylinder { radius, half_length } => {
                for a in steps() {
                    let (s, c) = libm::sincos(std::f64::consts::PI * a);
                    for b in steps() {
                        points.push(Vector3::new(radius * c, radius * s, b * half_length));
                        let inner = 0.5 * (b + 1.0) * radius;
                        for z in [-half_length, *half_length] {
                            points.push(Vector3::new(inner * c, inner * s, z));
                        }
                    }
                }
            }
            other => panic!("no boundary of {other:?}"),
        }
        points
    }

    #[test]
    fn distances_are_those_of_the_nearest_of_many_boundary_points() {
        let mut random = Random::new(31);
        for surface in &surfaces()[1..] {
            if !matches!(surface, Surface::Box { .. } | Surface::Cylinder { .. }) {
                continue;
            }
            let (count, points) = (120, boundary(surface, 120));
            for _ in 0..100 {
                let point = random_point(&mut random);
                let found = surface.at(&point).distance;
                let squared =
                    points.iter().map(|p| (p - point).norm_squared()).fold(f64::MAX, f64::min);
                let (nearest, cell) = (libm::sqrt(squared), std::f64::consts::PI / count as f64);
                // A boundary point is within one cell of the nearest one, never closer.
                assert!(found.abs() <= nearest + 1e-12, "{surface:?} at {point}");
                assert!(nearest <= found.abs() + cell, "{surface:?} at {point}: {found}");
                let inside = match surface {
                    Surface::Box { half_size } => (0..3).all(|i| point[i].abs() < half_size[i]),
                    Surface::Cylinder { radius, half_length } => {
                        point.xy().norm() < *radius && point.z.abs() < *half_length
                    }
                    _ => continue,
                };
                assert_eq!(inside, found < 0.0, "{surface:?} at {point}");
            }
        }
    }

    /// `∇d = n`, `|n| = 1`, `∇n = H`, against differences; a step over an edge between regions is
    /// left out.
    #[test]
    fn normals_and_curvatures_are_derivatives_of_the_distance() {
        let mut random = Random::new(32);
        let h = 1e-6;
        for surface in surfaces() {
            let mut compared = 0;
            for _ in 0..300 {
                let point = random_point(&mut random);
                let here = surface.at(&point);
                assert!((here.normal.norm() - 1.0).abs() < 1e-14, "{surface:?} at {point}");
                assert!((here.curvature * here.normal).amax() < 1e-12, "{surface:?} at {point}");
                let asymmetry = here.curvature - here.curvature.transpose();
                assert!(asymmetry.amax() < 1e-12, "{surface:?} at {point}");
                for axis in 0..3 {
                    let mut step = Vector3::zeros();
                    step[axis] = h;
                    let (after, before) =
                        (surface.at(&(point + step)), surface.at(&(point - step)));
                    let changes = (after.curvature - before.curvature).amax();
                    let turns = (after.normal - before.normal).amax();
                    if changes > 1e-3 * (1.0 + here.curvature.amax()) || turns > 0.1 {
                        continue;
                    }
                    compared += 1;
                    let slope = (after.distance - before.distance) / (2.0 * h);
                    assert!((slope - here.normal[axis]).abs() < 1e-8, "{surface:?} at {point}");
                    let turning = (after.normal - before.normal) / (2.0 * h);
                    let error = (turning - here.curvature.column(axis)).amax();
                    let scale = 1.0 + here.curvature.amax() * here.curvature.amax();
                    assert!(error < 1e-8 * scale, "{surface:?} at {point}: {error:.1e}");
                }
            }
            assert!(compared > 800, "{surface:?}: {compared} compared");
        }
    }

    #[test]
    fn points_on_axes_and_edges_have_a_normal() {
        for surface in surfaces() {
            for point in [
                Vector3::zeros(),
                Vector3::new(0.5, 0.3, 0.2),
                Vector3::new(0.3, 0.0, 0.5),
                Vector3::new(0.0, 0.0, 7.0),
                Vector3::new(0.0, 0.0, -0.4),
            ] {
                let found = surface.at(&point);
                assert!((found.normal.norm() - 1.0).abs() < 1e-14, "{surface:?} at {point}");
                assert!(found.curvature.iter().all(|h| h.is_finite()), "{surface:?} at {point}");
            }
        }
    }
}
