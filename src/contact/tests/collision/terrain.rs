//! Solids over edges of ground against closed forms, and against the distance field of the ground
//! at many points of the solid.

use std::sync::Arc;

use legwork_contact::collision::{Manifold, Polytope, Pose, Solid, Witness, collide_terrain};
use legwork_contact::{HeightField, Part, Plane, Surface, TriangleMesh};
use legwork_mechanics::Placement;
use legwork_mesh::Mesh;
use legwork_qp::problems::Random;
use nalgebra::{Matrix3, Vector3};

use super::{projection, rotation, vector};

fn edges(solid: &Solid, pose: &Pose, ground: &Surface, reach: f64) -> Vec<Witness> {
    let (mut manifold, mut all) = (Manifold::default(), Vec::new());
    collide_terrain((solid, pose), ground, reach, &mut manifold, |_, w| all.push(*w));
    all
}

/// Cuboids (size, centre, roll, pitch, yaw) on the plane z = 0.
fn cuboids(of: &[([f64; 3], [f64; 3], [f64; 3])]) -> Surface {
    let level =
        Part { placement: Placement::identity(), surface: Surface::HalfSpace(Plane::default()) };
    let part = |(size, at, rpy): &([f64; 3], [f64; 3], [f64; 3])| Part {
        placement: Placement::from_xyz_rpy(*at, *rpy),
        surface: Surface::Box { half_size: Vector3::from(*size) * 0.5 },
    };
    Surface::Union(std::iter::once(level).chain(of.iter().map(part)).collect())
}

/// A sheet of `count` by `count` points, `cell` apart about the origin.
fn sheet(count: usize, cell: f64, mut height: impl FnMut(f64, f64) -> f64) -> TriangleMesh {
    let mut mesh = Mesh::default();
    let place = |i: usize| cell * (i as f64 - 0.5 * (count - 1) as f64);
    for j in 0..count {
        for i in 0..count {
            let (x, y) = (place(i), place(j));
            mesh.vertices.push(Vector3::new(x, y, height(x, y)));
        }
    }
    for j in 0..count - 1 {
        for i in 0..count - 1 {
            let [a, b, c, d] = [0, 1, count + 1, count].map(|k| (j * count + i + k) as u32);
            mesh.triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    TriangleMesh::new(&mesh).expect("a sheet")
}

/// A roof along y with its ridge at a height.
fn ridge(height: f64) -> Surface {
    Surface::TriangleMesh(sheet(3, 1.0, |x, _| height - 0.5 * x.abs()))
}

fn hull_of_box(half: &Vector3<f64>) -> Solid {
    let corner =
        |i: usize| Vector3::from_fn(|k, _| if i >> k & 1 == 0 { -half[k] } else { half[k] });
    let corners: Vec<_> = (0..8).map(corner).collect();
    Solid::Hull(Arc::new(Polytope::new(&corners).expect("a volume")))
}

/// Bars of 1 m along x, 10 cm thick, each in its pose about the origin.
fn bars() -> Vec<(Solid, Matrix3<f64>)> {
    let half = Vector3::new(0.5, 0.05, 0.05);
    let lying = Placement::from_xyz_rpy([0.0; 3], [0.0, std::f64::consts::FRAC_PI_2, 0.0]).rotation;
    vec![
        (Solid::Box { half_size: half }, Matrix3::identity()),
        (hull_of_box(&half), Matrix3::identity()),
        (Solid::Capsule { radius: 0.05, half_length: 0.45 }, lying),
        (Solid::Cylinder { radius: 0.05, half_length: 0.5 }, lying),
    ]
}

/// A bar across a block is on both edges of the block's top, one across a ridge on the ridge, from
/// above it to a little inside.
#[test]
fn a_bar_lies_on_the_edges_under_it() {
    let block = cuboids(&[([0.2, 1.0, 0.3], [0.0, 0.0, 0.15], [0.0; 3])]);
    let mut mesh = Mesh::default();
    let Surface::Union(parts) = &block else { panic!("a union") };
    let hull = legwork_mesh::Hull::new(&corners(&parts[1])).expect("a hull").to_mesh();
    mesh.vertices = hull.vertices;
    mesh.triangles = hull.triangles;
    let of_triangles = Surface::TriangleMesh(TriangleMesh::new(&mesh).expect("closed"));
    for (ground, ends) in
        [(&block, [-0.1, 0.1]), (&of_triangles, [-0.1, 0.1]), (&ridge(0.3), [0.0, 0.0])]
    {
        for (solid, turn) in bars() {
            for gap in [4e-3, 1e-5, 1e-9, 0.0, -1e-9, -1e-5, -1e-3] {
                let centre = Vector3::new(0.02, 0.03, 0.35 + gap);
                let pose = Pose { centre, rotation: turn };
                let found = edges(&solid, &pose, ground, 5e-3);
                let on = |x: f64| found.iter().filter(|w| (w.second.x - x).abs() < 1e-7).count();
                let what = format!("{solid:?}, gap {gap}: {found:#?}");
                assert!(ends.iter().all(|x| on(*x) > 0), "{what}");
                for w in &found {
                    assert!((w.gap - gap).abs() < 1e-9, "{what}");
                    assert!((w.normal - Vector3::z()).norm() < 1e-7, "{what}");
                    assert!((w.second.z - 0.3).abs() < 1e-7, "{what}");
                }
            }
        }
    }
}

fn corners(part: &Part) -> Vec<Vector3<f64>> {
    let Surface::Box { half_size } = &part.surface else { panic!("a box") };
    let corner = |i: usize| {
        let sides = Vector3::from_fn(|k, _| if i >> k & 1 == 0 { -1.0 } else { 1.0 });
        part.placement.transform_point(&half_size.component_mul(&sides))
    };
    (0..8).map(corner).collect()
}

/// No edge of triangles that lie in one plane or in a valley counts: what is on them is on its own
/// corners alone.
#[test]
fn edges_within_a_plane_and_in_valleys_are_none() {
    let slope = |x: f64, y: f64| 0.1 * x - 0.07 * y + 0.3;
    let heights = |f: &dyn Fn(f64, f64) -> f64| -> Vec<f64> {
        (0..21 * 21)
            .map(|k| f(0.1 * f64::from(k % 21) - 1.0, 0.1 * f64::from(k / 21) - 1.0))
            .collect()
    };
    let field = |f: &dyn Fn(f64, f64) -> f64| {
        Surface::HeightField(HeightField::new(&heights(f), 21, 0.1, [-1.0; 2]).expect("a field"))
    };
    let bowl = |x: f64, y: f64| 0.3 + 0.2 * (x * x + y * y);
    let grounds = [
        field(&slope),
        Surface::TriangleMesh(sheet(21, 0.1, slope)),
        field(&bowl),
        Surface::TriangleMesh(sheet(21, 0.1, |x, _| 0.3 + 0.5 * x.abs())),
    ];
    let mut random = Random::new(51);
    for ground in &grounds {
        for _ in 0..200 {
            let (solid, _) = bars().swap_remove((random.uniform() * 4.0) as usize);
            let centre = Vector3::new(0.2 * random.normal(), 0.2 * random.normal(), 0.4);
            let (x, y) = (centre.x.clamp(-0.4, 0.4), centre.y.clamp(-0.4, 0.4));
            let pose = Pose { centre: Vector3::new(x, y, 0.4), rotation: rotation(&mut random) };
            let found = edges(&solid, &pose, ground, 0.02);
            assert!(found.is_empty(), "{ground:?}: {found:?}");
        }
    }
}

/// Points of a solid that are tried with the ground as they are: corners, ends and rims, each with
/// what is around it.
fn features(solid: &Solid, pose: &Pose) -> Vec<(Vector3<f64>, f64)> {
    let place = |x: Vector3<f64>| pose.centre + pose.rotation * x;
    match solid {
        Solid::Sphere { radius } => vec![(pose.centre, *radius)],
        Solid::Box { half_size } => {
            let Solid::Hull(hull) = hull_of_box(half_size) else { panic!("a hull") };
            hull.vertices().iter().map(|x| (place(*x), 0.0)).collect()
        }
        Solid::Hull(hull) => hull.vertices().iter().map(|x| (place(*x), 0.0)).collect(),
        Solid::Capsule { radius, half_length } => {
            [-half_length, *half_length].map(|z| (place(Vector3::z() * z), *radius)).to_vec()
        }
        Solid::Cylinder { radius, half_length } => {
            let rim = |k: usize| {
                let (s, c) = libm::sincos(std::f64::consts::TAU * k as f64 / 1000.0);
                let side = if k < 1000 { -1.0 } else { 1.0 };
                (place(Vector3::new(radius * c, radius * s, side * half_length)), 0.0)
            };
            (0..2000).map(rim).collect()
        }
    }
}

/// Rough ground of each kind.
fn rough(random: &mut Random) -> Vec<Surface> {
    let block = |random: &mut Random| {
        let size = [0.1 + 0.4 * random.uniform(), 0.1 + random.uniform(), 0.3];
        let at = [0.4 * random.normal(), 0.4 * random.normal(), 0.1 * random.uniform()];
        (size, at, [0.2 * random.normal(), 0.2 * random.normal(), random.normal()])
    };
    let of: Vec<_> = (0..5).map(|_| block(random)).collect();
    let step = |k: u32| {
        let k = f64::from(k);
        ([2.0 - 0.3 * k, 2.0, 1.0], [0.15 * k, 0.0, 0.1 * k - 0.5], [0.0; 3])
    };
    let stairs: Vec<_> = (0..5).map(step).collect();
    vec![
        cuboids(&of),
        cuboids(&stairs),
        Surface::TriangleMesh(sheet(9, 0.25, |_, _| 0.05 * random.normal())),
        ridge(0.2),
    ]
}

/// The nearest point of a solid to the ground is a corner, end or rim of it, or on an edge: none of
/// many points of the solid is nearer. All points are on the solid and the ground, and the normal
/// is one of the ground.
#[test]
fn no_point_of_a_solid_is_nearer_than_its_contacts() {
    let mut random = Random::new(52);
    let (mut seen, mut needed) = (0, 0);
    for case in 0..300 {
        let ground = &rough(&mut random)[case % 4];
        let solid = super::solid(&mut random);
        let pose = Pose { centre: vector(&mut random) * 0.2, rotation: rotation(&mut random) };
        // Down to within reach.
        let reach = 0.02;
        let nearest = |pose: &Pose, count: usize, random: &mut Random| {
            let mut least = f64::INFINITY;
            for _ in 0..count {
                let beyond = pose.centre + vector(random) * (2.0 * solid.bounding_radius());
                let mut point = projection(&(solid.clone(), *pose), &beyond);
                // Along the surface to where it is nearer.
                for _ in 0..10 {
                    let at = ground.at(&point);
                    least = least.min(at.distance);
                    let below = point - at.normal * at.distance;
                    point = projection(&(solid.clone(), *pose), &below);
                }
                least = least.min(ground.at(&point).distance);
            }
            least
        };
        let mut pose = pose;
        pose.centre.z = 2.0 + solid.bounding_radius();
        for _ in 0..30 {
            pose.centre.z -= (nearest(&pose, 20, &mut random) - 0.5 * reach).max(0.0);
        }
        let least = nearest(&pose, 500, &mut random);
        if !(1e-4..reach).contains(&least) {
            continue;
        }
        let found = edges(&solid, &pose, ground, reach);
        let of_features = features(&solid, &pose);
        let gap = |(x, around): &(Vector3<f64>, f64)| ground.at(x).distance - around;
        let features = of_features.iter().map(gap).fold(f64::INFINITY, f64::min);
        let all = found.iter().map(|w| w.gap).fold(features, f64::min);
        seen += 1;
        needed += usize::from(features > least + 1e-4);
        // Of the rim of a cylinder a thousandth is between two points.
        assert!(all <= least + 1e-5, "{case}: {solid:?} {pose:?}, {all} not {least}: {found:#?}");
        for w in &found {
            let off = (projection(&(solid.clone(), pose), &w.first) - w.first).norm();
            assert!(off < 1e-6, "{case}: {off:e} outside, {w:?}");
            let off = ground.at(&w.second).distance.abs();
            assert!(off < 1e-6, "{case}: {off:e} off the ground, {w:?}");
            let lifted = ground.at(&(w.second + w.normal * 1e-5)).distance;
            assert!((lifted - 1e-5).abs() < 1e-8, "{case}: {lifted} along {w:?}");
        }
    }
    assert!(seen > 150 && needed > 40, "{seen} near, {needed} of them on edges");
}

/// On a smooth bump a bar is at the top, whose height is that of the field, to half a cell.
#[test]
fn a_bar_on_a_bump_is_on_its_top() {
    let bump = |x: f64, y: f64| 0.3 - 0.5 * (x * x + y * y);
    let height = |k: usize| bump(0.05 * (k % 41) as f64 - 1.0, 0.05 * (k / 41) as f64 - 1.0);
    let heights: Vec<f64> = (0..41 * 41).map(height).collect();
    let field = HeightField::new(&heights, 41, 0.05, [-1.0; 2]).expect("a field");
    let ground = Surface::HeightField(field);
    for (solid, rotation) in bars() {
        let pose = Pose { centre: Vector3::new(0.11, 0.0, 0.3505), rotation };
        let found = edges(&solid, &pose, &ground, 5e-3);
        let least = found.iter().min_by(|a, b| a.gap.total_cmp(&b.gap)).expect("a witness");
        assert!((least.gap - 5e-4).abs() < 1e-9, "{solid:?}: {found:#?}");
        assert!((least.normal - Vector3::z()).norm() < 1e-9, "{solid:?}: {least:?}");
    }
}

/// Nothing is allocated, and what is found does not depend on what was found before, to the bit.
#[test]
fn the_search_allocates_nothing_and_remembers_nothing() {
    let mut random = Random::new(53);
    let mut manifold = Manifold::default();
    for ground in rough(&mut random) {
        for _ in 0..100 {
            let solid = super::solid(&mut random);
            let centre = vector(&mut random) * 0.3;
            let pose = Pose { centre, rotation: rotation(&mut random) };
            let fresh = edges(&solid, &pose, &ground, 0.02);
            let mut next = fresh.iter();
            let counted = allocation_counter::measure(|| {
                collide_terrain((&solid, &pose), &ground, 0.02, &mut manifold, |_, w| {
                    assert_eq!(next.next(), Some(w));
                });
            });
            assert_eq!((counted.count_total, next.next()), (0, None), "{solid:?}");
        }
    }
}
