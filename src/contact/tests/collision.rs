//! Witnesses of pairs of solids against independent geometry: support functions, projections onto
//! convex sets, and configurations that are degenerate.

use legwork_contact::Plane;
use legwork_contact::collision::{Manifold, Pose, Solid, Witness, collide, collide_plane};
use legwork_qp::problems::Random;
use nalgebra::{Matrix3, Unit, UnitQuaternion, Vector3};

/// Share of the smallest half edge by which the normal may miss the least overlap.
const MARGIN: f64 = 2e-3;

fn vector(random: &mut Random) -> Vector3<f64> {
    Vector3::from_fn(|_, _| random.normal())
}

fn rotation(random: &mut Random) -> Matrix3<f64> {
    let axis = Unit::new_normalize(vector(random));
    *UnitQuaternion::from_axis_angle(&axis, 3.0 * random.normal()).to_rotation_matrix().matrix()
}

fn solid(random: &mut Random) -> Solid {
    if random.uniform() < 0.3 {
        return Solid::Sphere { radius: 0.1 + random.uniform() };
    }
    Solid::Box { half_size: Vector3::from_fn(|_, _| 0.05 + random.uniform()) }
}

/// Two solids at about the distance at which they touch.
fn pair(random: &mut Random) -> [(Solid, Pose); 2] {
    let (a, b) = (solid(random), solid(random));
    let size = a.bounding_radius() + b.bounding_radius();
    let centre = vector(random);
    let other = centre + vector(random) * (0.5 * size);
    let (first, second) = (rotation(random), rotation(random));
    [(a, Pose { centre, rotation: first }), (b, Pose { centre: other, rotation: second })]
}

fn witnesses(a: &(Solid, Pose), b: &(Solid, Pose), reach: f64) -> Vec<Witness> {
    let mut manifold = Manifold::default();
    collide((&a.0, &a.1), (&b.0, &b.1), reach, &mut manifold);
    manifold.witnesses().to_vec()
}

/// Distance of the supporting planes of two solids along n, negative if they overlap there.
fn separation(a: &(Solid, Pose), b: &(Solid, Pose), n: &Vector3<f64>) -> f64 {
    let support = |s: &(Solid, Pose)| s.0.support(&s.1.rotation.tr_mul(n));
    n.dot(&(a.1.centre - b.1.centre)) - support(a) - support(b)
}

/// The point of a solid that is nearest to x.
fn projection(s: &(Solid, Pose), x: &Vector3<f64>) -> Vector3<f64> {
    let local = s.1.rotation.tr_mul(&(x - s.1.centre));
    let local = match &s.0 {
        Solid::Sphere { radius } => local * (radius / local.norm().max(*radius)),
        Solid::Box { half_size } => local.zip_map(half_size, |x, h| x.clamp(-h, h)),
    };
    s.1.centre + s.1.rotation * local
}

/// The distance by alternating projections (Cheney and Goldstein, 1959): from above.
fn distance(a: &(Solid, Pose), b: &(Solid, Pose)) -> f64 {
    let mut x = b.1.centre;
    let mut last = f64::INFINITY;
    for _ in 0..100_000 {
        let on_a = projection(a, &x);
        x = projection(b, &on_a);
        let now = (on_a - x).norm();
        if last - now <= 1e-15 {
            return now;
        }
        last = now;
    }
    last
}

fn smallest(s: &(Solid, Pose)) -> f64 {
    match &s.0 {
        Solid::Sphere { radius } => *radius,
        Solid::Box { half_size } => half_size.min(),
    }
}

/// Witnesses lie on their solids, and their gap is what separates them along the normal. No
/// supporting plane is nearer than the nearest of them says.
#[test]
fn witnesses_are_points_of_both_solids() {
    let mut random = Random::new(11);
    let mut seen = 0;
    for case in 0..20_000 {
        let [a, b] = pair(&mut random);
        for w in witnesses(&a, &b, 0.2) {
            seen += 1;
            assert!((w.normal.norm() - 1.0).abs() < 1e-12, "{case}: {w:?}");
            let gap = w.normal.dot(&(w.first - w.second));
            assert!((gap - w.gap).abs() < 1e-12 && w.gap <= 0.2, "{case}: {w:?}");
            for (solid, point) in [(&a, &w.first), (&b, &w.second)] {
                let off = (projection(solid, point) - point).norm();
                assert!(off < 1e-9, "{case}: {off:e} outside, {w:?}");
            }
            assert!(w.gap >= separation(&a, &b, &w.normal) - 1e-9, "{case}: {w:?}");
        }
    }
    assert!(seen > 15_000, "{seen}");
}

/// Solids that are apart: there is a witness exactly if they are within reach, as alternating
/// projections find their distance; none is nearer.
#[test]
fn solids_within_reach_have_witnesses() {
    let mut random = Random::new(12);
    let (mut near, mut far) = (0, 0);
    for case in 0..6_000 {
        let [a, b] = pair(&mut random);
        let exact = distance(&a, &b);
        if exact < 1e-3 {
            continue;
        }
        let reach = 2.0 * random.uniform() * exact;
        let found = witnesses(&a, &b, reach);
        // Alternating projections end a little above the distance.
        if reach > exact {
            near += 1;
            assert!(!found.is_empty(), "{case}: nothing within {reach}, distance {exact}");
        } else if reach < 0.999 * exact
            && !matches!((a.0, b.0), (Solid::Box { .. }, Solid::Box { .. }))
        {
            far += 1;
            assert!(found.is_empty(), "{case}: {found:?} within {reach}, distance {exact}");
        }
        for w in &found {
            let apart = (w.first - w.second).norm();
            assert!(apart > exact * (1.0 - 1e-6) - 1e-9, "{case}: {apart} {exact}");
        }
    }
    assert!(near > 1000 && far > 500, "{near} {far}");
}

/// Solids that overlap have a witness, and no direction parts them sooner than the normal, within
/// the margin by which some axes are preferred.
#[test]
fn the_normal_is_the_direction_of_least_overlap() {
    let mut random = Random::new(13);
    let mut seen = 0;
    for case in 0..4_000 {
        let [a, b] = pair(&mut random);
        let found = witnesses(&a, &b, 0.0);
        let n = match found.first() {
            Some(w) => w.normal,
            None => {
                assert!(distance(&a, &b) > 1e-9, "{case}: overlap without a witness");
                continue;
            }
        };
        let overlap = separation(&a, &b, &n);
        if overlap > -1e-9 {
            continue;
        }
        seen += 1;
        let margin = MARGIN * smallest(&a).min(smallest(&b));
        for _ in 0..300 {
            let other = separation(&a, &b, &vector(&mut random).normalize());
            assert!(other <= overlap + margin + 1e-12, "{case}: {other} against {overlap}");
        }
        assert!(found.iter().all(|w| w.normal == n), "{case}: {found:?}");
    }
    assert!(seen > 500, "{seen}");
}

/// The order of the two does not matter beyond the margin: same depth, opposite normals.
#[test]
fn the_order_of_the_solids_does_not_matter() {
    let mut random = Random::new(14);
    for case in 0..20_000 {
        let [a, b] = pair(&mut random);
        let (ab, ba) = (witnesses(&a, &b, 0.0), witnesses(&b, &a, 0.0));
        let depth = |found: &[Witness], x, y| {
            found.first().map(|w| separation(x, y, &w.normal)).filter(|s| *s < 0.0)
        };
        if let (Some(one), Some(other)) = (depth(&ab, &a, &b), depth(&ba, &b, &a)) {
            let margin = MARGIN * smallest(&a).min(smallest(&b));
            assert!((one - other).abs() <= margin, "{case}: {one} {other}");
            assert!(one < -margin || ab[0].normal.dot(&ba[0].normal) < 0.0, "{case}");
        }
    }
}

/// A brick on two others: four corners under it each, the overlap of the faces.
#[test]
fn a_face_on_a_face_has_the_corners_of_their_overlap() {
    let half_size = Vector3::new(0.2, 0.1, 0.1);
    let place = |x: f64, z: f64| {
        (
            Solid::Box { half_size },
            Pose { centre: Vector3::new(x, 0.0, z), rotation: Matrix3::identity() },
        )
    };
    let found = witnesses(&place(0.3, 0.199), &place(0.0, 0.0), 0.01);
    let mut corners: Vec<[f64; 2]> = found.iter().map(|w| [w.second.x, w.second.y]).collect();
    corners.sort_by(|a, b| a.partial_cmp(b).expect("finite"));
    let expected = [[0.1, -0.1], [0.1, 0.1], [0.2, -0.1], [0.2, 0.1]];
    for (found, expected) in corners.iter().zip(&expected) {
        assert!((found[0] - expected[0]).abs() < 1e-12 && (found[1] - expected[1]).abs() < 1e-12);
    }
    assert_eq!(corners.len(), 4);
    assert!(found.iter().all(|w| (w.gap + 0.001).abs() < 1e-12 && w.normal == Vector3::z()));
}

/// A box that turns and shifts slowly through another: the depth changes no faster than it moves.
#[test]
fn depth_is_continuous_through_degenerate_configurations() {
    let half_size = Vector3::new(0.3, 0.2, 0.1);
    let (a, step) = (Solid::Box { half_size }, 1e-3);
    let fixed = (a, Pose { centre: Vector3::zeros(), rotation: Matrix3::identity() });
    for axis in [
        Vector3::x_axis(),
        Vector3::y_axis(),
        Vector3::z_axis(),
        Unit::new_normalize(Vector3::new(1.0, 1.0, 1.0)),
    ] {
        let mut last: Option<f64> = None;
        for k in 0..7_000 {
            let angle = step * f64::from(k);
            let turn = UnitQuaternion::from_axis_angle(&axis, angle);
            let centre = Vector3::new(0.0, 0.1 * libm::sin(angle), 0.1 * libm::cos(0.5 * angle));
            let moving = (a, Pose { centre, rotation: *turn.to_rotation_matrix().matrix() });
            let found = witnesses(&moving, &fixed, 0.0);
            assert!(!found.is_empty(), "{axis:?} {k}");
            let depth = separation(&moving, &fixed, &found[0].normal);
            let bound = step * (half_size.norm() + 0.15) + 2.0 * MARGIN * 0.1;
            if let Some(last) = last {
                assert!((depth - last).abs() <= bound, "{axis:?} {k}: {last} to {depth}");
            }
            last = Some(depth);
        }
    }
}

/// Edges whose angle has a smaller sine than 1e-4 count as parallel: a point on one of them may be
/// off by that times the longest edge, 1 m.
const PARALLEL: f64 = 1e-4;

/// Multiples of a quarter turn, equal sizes, common centres, faces and edges that touch exactly:
/// eight witnesses at most, on both solids and with the gap along a unit normal, and at least one
/// where the solids share a point.
#[test]
fn degenerate_pairs_have_witnesses_on_both_solids() {
    let mut random = Random::new(15);
    let mut touching = 0;
    let mut pick =
        |values: &[f64]| values[(random.uniform() * values.len() as f64) as usize % values.len()];
    for case in 0..100_000 {
        let mut one = || {
            let size = [0.1, 0.2, 0.5];
            let mut three = |values: &[f64]| Vector3::new(pick(values), pick(values), pick(values));
            let half_size = three(&size);
            let centre = three(&[-0.2, -0.1, 0.0, 0.1, 0.4, 1e-17, 1e-9]);
            let angles = three(&[0.0, 0.25, 0.5, 1.0, 1e-9, 1e-5, 0.1]) * std::f64::consts::PI;
            let turn = UnitQuaternion::from_euler_angles(angles.x, angles.y, angles.z);
            let sphere = pick(&[0.0, 0.0, 1.0]) > 0.5;
            let solid = if sphere {
                Solid::Sphere { radius: half_size.x }
            } else {
                Solid::Box { half_size }
            };
            (solid, Pose { centre, rotation: *turn.to_rotation_matrix().matrix() })
        };
        let (a, b) = (one(), one());
        let found = witnesses(&a, &b, 0.05);
        assert!(found.len() <= 8, "{case}");
        for w in &found {
            assert!((w.normal.norm() - 1.0).abs() < 1e-9, "{case}: {w:?}");
            let gap = w.normal.dot(&(w.first - w.second));
            assert!((gap - w.gap).abs() < 1e-9, "{case}: gap {gap}, {w:?}");
            for (solid, point) in [(&a, &w.first), (&b, &w.second)] {
                let off = (projection(solid, point) - point).norm();
                assert!(off < PARALLEL, "{case}: {off:e} outside, {w:?}");
            }
        }
        // The centre of one solid inside the other is a common point.
        let inside = |solid, centre: &Vector3<f64>| projection(solid, centre) == *centre;
        if inside(&a, &b.1.centre) || inside(&b, &a.1.centre) {
            touching += 1;
            assert!(!found.is_empty(), "{case}: a common point without a witness");
        }
    }
    assert!(touching > 1_000, "only {touching} pairs with a known common point");
}

/// Over a plane: the lowest point of a solid is the nearest witness, and a resting box has its four
/// corners.
#[test]
fn a_plane_is_touched_at_the_lowest_point() {
    let mut random = Random::new(16);
    let mut manifold = Manifold::default();
    for case in 0..5_000 {
        let (one, pose) = pair(&mut random)[0];
        let plane = Plane::new(pose.centre - vector(&mut random), vector(&mut random));
        let plane = plane.expect("a direction");
        collide_plane((&one, &pose), &plane, 0.3, &mut manifold);
        let height = plane.distance(&pose.centre);
        let lowest = height - one.support(&pose.rotation.tr_mul(&plane.normal()));
        let least = manifold.witnesses().iter().map(|w| w.gap).fold(f64::INFINITY, f64::min);
        if lowest <= 0.3 - 1e-12 {
            assert!((least - lowest).abs() < 1e-12, "{case}: {least} {lowest}");
        } else if lowest > 0.3 + 1e-12 {
            assert_eq!(least, f64::INFINITY, "{case}");
        }
        for w in manifold.witnesses() {
            assert!((projection(&(one, pose), &w.first) - w.first).norm() < 1e-12, "{case}");
            assert!(plane.distance(&w.second).abs() < 1e-12, "{case}");
        }
    }
    let half_size = Vector3::new(0.2, 0.1, 0.1);
    let pose = Pose { centre: Vector3::new(0.0, 0.0, 0.1), rotation: Matrix3::identity() };
    collide_plane((&Solid::Box { half_size }, &pose), &Plane::default(), 1.0, &mut manifold);
    assert_eq!(manifold.witnesses().len(), 4);
}
