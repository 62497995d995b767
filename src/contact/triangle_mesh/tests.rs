#![allow(clippy::unwrap_used, reason = "a test may stop")]

use std::sync::Arc;

use legwork_mesh::Hull;
use legwork_qp::problems::Random;

use super::*;
use crate::collision::{Manifold, Polytope, Pose, Solid, collide};
use crate::geometry::Plane;
use crate::surface::Surface;
use crate::touch::{Feature, RelativeMotion, touch};

fn mesh(vertices: Vec<Vector3<f64>>, triangles: Vec<[u32; 3]>) -> Mesh {
    Mesh { vertices, triangles, ..Mesh::default() }
}

fn surface(mesh: &Mesh) -> Surface {
    Surface::TriangleMesh(TriangleMesh::new(mesh).unwrap())
}

fn vector(random: &mut Random) -> Vector3<f64> {
    Vector3::new(random.normal(), random.normal(), random.normal())
}

/// A sheet of `count`² uneven cells over ±3 m, two of which meet at 0, cut along one diagonal or
/// the other, whose heights are those of `z`. Each triangle has corners of its own, as in STL.
fn sheet(count: u32, z: impl Fn(f64, f64) -> f64, random: &mut Random) -> Mesh {
    let mut axis = || -> Vec<f64> {
        (0..=count)
            .map(|i| match i {
                0 => -3.0,
                _ if i == count => 3.0,
                _ if 2 * i == count => 0.0,
                _ => (6.0 * f64::from(i) + random.uniform()) / f64::from(count) - 3.0,
            })
            .collect()
    };
    let (x, y) = (axis(), axis());
    let corner = |i: usize, j: usize| Vector3::new(x[i], y[j], z(x[i], y[j]));
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for j in 0..count as usize {
        for i in 0..count as usize {
            let [a, b, c, d] = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)];
            let both =
                if (i + j) % 3 == 0 { [[a, b, d], [b, c, d]] } else { [[a, b, c], [a, c, d]] };
            for triangle in both {
                let first = vertices.len() as u32;
                vertices.extend(triangle.map(|(i, j)| corner(i, j)));
                triangles.push([first, first + 1, first + 2]);
            }
        }
    }
    mesh(vertices, triangles)
}

/// The cuboid of [`Surface::Box`].
fn cuboid(half_size: &Vector3<f64>) -> Mesh {
    let side = |bits: u32, axis: u32| if bits >> axis & 1 == 0 { -1.0 } else { 1.0 };
    let corner =
        |k: u32| half_size.component_mul(&Vector3::new(side(k, 0), side(k, 1), side(k, 2)));
    let faces =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = faces.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]);
    mesh((0..8).map(corner).collect(), triangles.collect())
}

/// Distance, normal, curvature and whole contacts of a mesh in a plane are those of the plane, over
/// faces, edges and corners.
#[test]
fn a_sheet_of_a_slope_is_the_plane() {
    let mut random = Random::new(41);
    let normal = Vector3::new(0.2, -0.3, 0.9);
    let plane = Plane::new(Vector3::new(0.0, 0.0, 0.1), normal).unwrap();
    let z = |x: f64, y: f64| 0.1 - (normal.x * x + normal.y * y) / normal.z;
    let slope = sheet(12, z, &mut random);
    let (found, exact) = (surface(&slope), Surface::HalfSpace(plane));
    let aside = Vector3::new(normal.z, 0.0, -normal.x).normalize();
    for k in 0..3000 {
        let height = 0.3 * random.normal();
        let on = match k % 3 {
            0 => {
                let [x, y] = [0, 1].map(|_| 2.0 * random.uniform() - 1.0);
                Vector3::new(x, y, z(x, y))
            }
            // Over a corner or the middle of a side.
            1 => slope.vertices[random.below(slope.vertices.len())],
            _ => {
                let [a, b, _] = slope.corners(random.below(slope.triangles.len()));
                (a + b) * 0.5
            }
        };
        if on.x.abs().max(on.y.abs()) > 2.0 {
            continue;
        }
        let point = on + plane.normal() * height;
        let (a, b) = (found.at(&point), exact.at(&point));
        assert!((a.distance - b.distance).abs() < 1e-12, "{a:?} at {point}");
        assert!((a.normal - b.normal).amax() < 1e-12 && a.curvature.amax() < 1e-12, "{a:?}");
        let motion = RelativeMotion {
            rotation: Matrix3::identity(),
            translation: point,
            linear: vector(&mut random),
            angular: vector(&mut random),
            linear_rate: vector(&mut random),
            angular_rate: vector(&mut random),
        };
        let center = Vector3::new(0.02, 0.03, -0.01);
        for feature in [
            Feature::vertex(center),
            Feature::Ball { center, radius: 0.05 },
            Feature::Rim { center, axis: aside, radius: 0.1 },
        ] {
            let (a, b) = [&found, &exact].map(|s| touch(&feature, s, &motion, None)).into();
            assert!((a.gap - b.gap).abs() < 1e-12, "{a:?} is not {b:?}");
            assert!((a.position - b.position).amax() < 1e-12, "{a:?} is not {b:?}");
            assert!((a.velocity - b.velocity).amax() < 1e-11, "{a:?} is not {b:?}");
            assert!((a.velocity_rate - b.velocity_rate).amax() < 1e-10, "{a:?} is not {b:?}");
        }
    }
}

/// A closed surface with convex edges and corners, inside and outside.
#[test]
fn twelve_triangles_are_a_cuboid() {
    let mut random = Random::new(42);
    let half_size = Vector3::new(0.5, 0.3, 0.2);
    let (found, exact) = (surface(&cuboid(&half_size)), Surface::Box { half_size });
    for _ in 0..3000 {
        let point = 0.5 * vector(&mut random);
        let (a, b) = (found.at(&point), exact.at(&point));
        assert!((a.distance - b.distance).abs() < 1e-14, "{a:?} is not {b:?} at {point}");
        let scale = 1e-12 * (1.0 + b.curvature.amax());
        assert!((a.normal - b.normal).amax() < scale, "{a:?} is not {b:?} at {point}");
        let bend = (a.curvature - b.curvature).amax();
        assert!(bend < scale * (1.0 + b.curvature.amax()), "{a:?} is not {b:?} at {point}");
    }
}

/// A valley and a ridge of two slopes of one in two: above the valley the nearer slope counts, and
/// so below the ridge; above the ridge it is the distance of a line.
#[test]
fn a_valley_and_a_ridge_are_those_of_two_planes() {
    let mut random = Random::new(43);
    let unit = 1.0 / libm::sqrt(1.25);
    for side in [1.0, -1.0] {
        let found = surface(&sheet(10, |x, _| side * 0.5 * x.abs(), &mut random));
        for _ in 0..2000 {
            let point = 0.4 * vector(&mut random);
            let beside = point.x.abs();
            // Over the nearer slope; of a ridge the foot must be on it.
            let slope = (point.z - side * 0.5 * beside) * unit;
            let is_over_crease =
                side < 0.0 && point.z > 2.0 * beside || side > 0.0 && point.z < -2.0 * beside;
            let line = libm::hypot(point.x, point.z) * -side;
            let expected = if is_over_crease { line } else { slope };
            let at = found.at(&point);
            assert!((at.distance - expected).abs() < 1e-12, "{at:?} for {expected} at {point}");
        }
    }
}

/// Against the planes of a hull inside, and the narrow phase outside.
#[test]
fn the_tree_finds_the_nearest_of_all_triangles() {
    let mut random = Random::new(44);
    let points: Vec<_> = (0..300).map(|_| vector(&mut random).normalize()).collect();
    let hull = Hull::new(&points).unwrap().to_mesh();
    let found = surface(&hull);
    let solid = Solid::Hull(Arc::new(Polytope::new(&points).unwrap()));
    let origin = Pose { centre: Vector3::zeros(), rotation: Matrix3::identity() };
    let mut manifold = Manifold::default();
    let planes: Vec<Plane> = (0..hull.triangles.len())
        .map(|k| {
            let [a, b, c] = hull.corners(k);
            Plane::new(a, (b - a).cross(&(c - a))).unwrap()
        })
        .collect();
    for _ in 0..500 {
        let point = vector(&mut random);
        let deepest = planes.iter().map(|p| p.distance(&point)).fold(f64::MIN, f64::max);
        let at = found.at(&point);
        if deepest <= 0.0 {
            assert!((at.distance - deepest).abs() < 1e-12, "{at:?} for {deepest}");
            continue;
        }
        // By another algorithm, of a small ball.
        let ball = Solid::Sphere { radius: 1e-3 };
        let (there, here) = (Pose { centre: point, ..origin }, &origin);
        collide((&ball, &there), (&solid, here), 9.0, &mut manifold);
        let nearest = manifold.witnesses()[0].gap + 1e-3;
        assert!((at.distance - nearest).abs() < 1e-9, "{at:?} for {nearest}");
    }
}

/// Beyond the border of a sheet there is no ground, above or below.
#[test]
fn a_sheet_ends_at_its_border() {
    let mut random = Random::new(45);
    let found = surface(&sheet(5, |_, _| 0.0, &mut random));
    for (point, distance) in [
        ([0.2, 0.1, -0.5], -0.5),
        ([4.0, 0.0, 0.0], 1.0),
        ([3.3, 0.0, -0.4], 0.5),
        ([3.3, 3.4, 1.2], 1.3),
    ] {
        let at = found.at(&point.into());
        assert!((at.distance - distance).abs() < 1e-12, "{at:?} at {point:?}");
    }
}

#[test]
fn triangles_without_a_side_are_refused_and_lines_left_out() {
    let mut random = Random::new(46);
    let good = cuboid(&Vector3::new(1.0, 2.0, 3.0));
    let mut turned = good.clone();
    turned.triangles[0].swap(0, 1);
    assert_eq!(TriangleMesh::new(&turned), Err(TriangleMeshError::Tangled { edges: 3 }));
    let empty = TriangleMesh::new(&mesh(vec![Vector3::x(); 3], vec![[0, 1, 2]]));
    assert_eq!(empty, Err(TriangleMeshError::Empty));
    for scale in [1e13, 1e300, f64::INFINITY] {
        let mut far = good.clone();
        far.vertices.iter_mut().for_each(|vertex| *vertex *= scale);
        assert_eq!(TriangleMesh::new(&far), Err(TriangleMeshError::TooLarge), "{scale:e}");
    }
    let mut with_line = good.clone();
    with_line.triangles.push([0, 0, 1]);
    let (lined, good) = (surface(&with_line), surface(&good));
    for _ in 0..100 {
        let point = 3.0 * vector(&mut random);
        assert_eq!(lined.at(&point), good.at(&point));
    }
    // No point makes it panic.
    for x in [f64::NAN, f64::INFINITY, f64::MAX, -1e300] {
        let _ = good.at(&Vector3::new(x, 0.0, 1.0));
        let _ = good.at(&Vector3::repeat(x));
    }
}
