//! Witnesses of pairs of solids against independent geometry: support functions, projections onto
//! convex sets, and configurations that are degenerate. One program, because all tests share the
//! solids and what holds of every witness.

mod terrain;

use std::sync::Arc;

use legwork_contact::Plane;
use legwork_contact::collision::{
    Manifold, Polytope, Pose, Solid, Witness, collide, collide_plane,
};
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

/// A ball, a box, a capsule, a cylinder or a hull.
fn solid(random: &mut Random) -> Solid {
    let size = |random: &mut Random| 0.05 + random.uniform();
    match (random.uniform() * 5.0) as usize {
        0 => Solid::Sphere { radius: 0.1 + random.uniform() },
        1 => Solid::Capsule { radius: size(random), half_length: size(random) },
        2 => Solid::Cylinder { radius: size(random), half_length: size(random) },
        3 => hull(random),
        _ => Solid::Box { half_size: Vector3::from_fn(|_, _| size(random)) },
    }
}

/// The hull of points of an ellipsoid about the origin.
fn hull(random: &mut Random) -> Solid {
    let radii = Vector3::from_fn(|_, _| 0.2 + random.uniform());
    let count = 6 + (random.uniform() * 14.0) as usize;
    let points: Vec<_> =
        (0..count).map(|_| vector(random).normalize().component_mul(&radii)).collect();
    Solid::Hull(Arc::new(Polytope::new(&points).expect("a volume")))
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
    let support = |s: &(Solid, Pose), n: Vector3<f64>| s.0.support(&s.1.rotation.tr_mul(&n));
    n.dot(&(a.1.centre - b.1.centre)) - support(a, -n) - support(b, *n)
}

/// The point of a solid that is nearest to x.
fn projection(s: &(Solid, Pose), x: &Vector3<f64>) -> Vector3<f64> {
    let local = s.1.rotation.tr_mul(&(x - s.1.centre));
    let local = match &s.0 {
        Solid::Sphere { radius } => local * (radius / local.norm().max(*radius)),
        Solid::Box { half_size } => local.zip_map(half_size, |x, h| x.clamp(-h, h)),
        Solid::Capsule { radius, half_length } => {
            let foot = Vector3::new(0.0, 0.0, local.z.clamp(-half_length, *half_length));
            foot + (local - foot) * (radius / (local - foot).norm().max(*radius))
        }
        Solid::Cylinder { radius, half_length } => {
            let scale = radius / local.xy().norm().max(*radius);
            let z = local.z.clamp(-half_length, *half_length);
            Vector3::new(scale * local.x, scale * local.y, z)
        }
        Solid::Hull(hull) => on_hull(hull, &local),
    };
    s.1.centre + s.1.rotation * local
}

/// The point of a hull that is nearest to x: inside x itself, else that of the faces.
fn on_hull(hull: &Polytope, x: &Vector3<f64>) -> Vector3<f64> {
    let corner = |i: &u32| hull.vertices()[*i as usize];
    let (mut best, mut is_inside) = (hull.vertices()[0], true);
    let mut offer = |y: Vector3<f64>| {
        if (y - x).norm() < (best - x).norm() {
            best = y;
        }
    };
    for face in hull.face_corners() {
        let corners: Vec<_> = face.iter().map(corner).collect();
        let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0])).normalize();
        let height = normal.dot(&(x - corners[0]));
        is_inside &= height <= 0.0;
        let mut is_over = true;
        for (k, from) in corners.iter().enumerate() {
            let edge = corners[(k + 1) % corners.len()] - from;
            is_over &= normal.cross(&edge).dot(&(x - from)) >= 0.0;
            let share = (edge.dot(&(x - from)) / edge.norm_squared()).clamp(0.0, 1.0);
            offer(from + edge * share);
        }
        if is_over {
            offer(x - normal * height);
        }
    }
    if is_inside { *x } else { best }
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

fn is_curved(solid: &Solid) -> bool {
    matches!(solid, Solid::Capsule { .. } | Solid::Cylinder { .. })
}

/// By how much the depth along the normal may be more than the least: the margin, and a fifth of
/// overlaps that are deep, of solids that are not both boxes.
fn allowed(a: &(Solid, Pose), b: &(Solid, Pose), overlap: f64) -> f64 {
    let is_box = |s: &(Solid, Pose)| matches!(s.0, Solid::Box { .. });
    let least = smallest(a).min(smallest(b));
    let is_deep = -overlap > 0.1 * least && !(is_box(a) && is_box(b));
    MARGIN * least - if is_deep { 0.2 * overlap } else { 0.0 }
}

fn smallest(s: &(Solid, Pose)) -> f64 {
    match &s.0 {
        Solid::Sphere { radius } => *radius,
        Solid::Box { half_size } => half_size.min(),
        other => 0.5 * other.thickness(),
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
                // The direction of the nearest points of curved solids is known to √ε.
                let bound = if is_curved(&a.0) || is_curved(&b.0) { 1e-6 } else { 1e-9 };
                assert!(off < bound, "{case}: {off:e} outside, {w:?}");
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
            && !matches!((&a.0, &b.0), (Solid::Box { .. }, Solid::Box { .. }))
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

/// A cylinder and any other solid: where the nearest points are at rims, sides and edges, the
/// normal is that of a Newton step and the points are exact, apart and in overlaps that are not
/// deep. The search before it leaves them off by the root of what it is off in the distance.
#[test]
fn points_on_rims_are_exact() {
    let mut random = Random::new(17);
    let (mut seen, mut exact) = (0, 0);
    for _ in 0..20_000 {
        let [mut a, mut b] = pair(&mut random);
        let size = |random: &mut Random| 0.03 + 0.07 * random.uniform();
        a.0 = Solid::Cylinder { radius: size(&mut random), half_length: size(&mut random) };
        b.0 = match (random.below(2), size(&mut random), size(&mut random)) {
            (0, radius, half_length) => Solid::Cylinder { radius, half_length },
            (_, x, y) => Solid::Box { half_size: Vector3::new(x, y, size(&mut random)) },
        };
        // A millimetre apart or in one another.
        let n = vector(&mut random).normalize();
        a.1.centre = b.1.centre + n;
        let w = witnesses(&a, &b, 10.0)[0];
        let gap = if random.below(2) == 0 { 1e-3 } else { -1e-3 };
        a.1.centre -= w.normal * (w.gap - gap);
        let found = witnesses(&a, &b, 5e-3);
        let Some(w) = found.iter().min_by(|v, w| v.gap.total_cmp(&w.gap)) else { continue };
        // Under a face the preferred normal is the face's.
        let axes = (0..3).map(|i| b.1.rotation.column(i).into_owned());
        let axes = axes.skip(if matches!(b.0, Solid::Box { .. }) { 0 } else { 2 });
        let mut faces = axes.chain([a.1.rotation.column(2).into_owned()]);
        if faces.any(|face| face.dot(&w.normal).abs() > 1.0 - 1e-9) {
            continue;
        }
        let off = |s, x: &Vector3<f64>| (projection(s, x) - x).norm();
        let error = off(&a, &w.first).max(off(&b, &w.second));
        seen += 1;
        exact += usize::from(error < 1e-12 && (w.gap - separation(&a, &b, &w.normal)) < 1e-12);
    }
    assert!(seen > 10_000 && exact * 1000 > seen * 999, "{exact} of {seen}");
}

/// Solids that overlap have a witness, and no direction parts them sooner than the normal, within
/// the margin by which some axes are preferred.
#[test]
fn the_normal_is_the_direction_of_least_overlap() {
    let mut random = Random::new(13);
    let mut seen = 0;
    for case in 0..8_000 {
        let [mut a, b] = pair(&mut random);
        // Half of them are drawn apart until they overlap by a little.
        if case % 2 == 0
            && let Some(w) = witnesses(&a, &b, 0.0).first()
        {
            let depth = 0.1 * random.uniform() * smallest(&a).min(smallest(&b));
            a.1.centre -= w.normal * (separation(&a, &b, &w.normal) + depth);
        }
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
        let margin = allowed(&a, &b, overlap);
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
            let margin = allowed(&a, &b, one.min(other));
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
    let fixed = (a.clone(), Pose { centre: Vector3::zeros(), rotation: Matrix3::identity() });
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
            let moving =
                (a.clone(), Pose { centre, rotation: *turn.to_rotation_matrix().matrix() });
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

/// The hull of six points, one on each half axis.
fn octahedron(radii: &Vector3<f64>) -> Solid {
    let corner = |i: usize| {
        Vector3::ith(i / 2, if i.is_multiple_of(2) { radii[i / 2] } else { -radii[i / 2] })
    };
    let points: Vec<_> = (0..6).map(corner).collect();
    Solid::Hull(Arc::new(Polytope::new(&points).expect("a volume")))
}

/// Two solids in the position in which they touch along z, the first above; what is known of them.
struct Known {
    what: &'static str,
    above: (Solid, Vector3<f64>, Matrix3<f64>),
    below: (Solid, Vector3<f64>, Matrix3<f64>),
    /// Direction in which they separate.
    normal: Vector3<f64>,
    /// How many points of contact they have.
    count: usize,
}

fn known() -> Vec<Known> {
    let (zero, z) = (Vector3::zeros(), Vector3::z());
    let up = Matrix3::identity();
    let turn = |axis: Vector3<f64>, degrees: f64| {
        *nalgebra::Rotation3::new(axis * degrees.to_radians()).matrix()
    };
    let lying = turn(Vector3::y(), 90.0);
    let ball = || Solid::Sphere { radius: 0.3 };
    let capsule = || Solid::Capsule { radius: 0.1, half_length: 0.4 };
    let roll = || Solid::Cylinder { radius: 0.2, half_length: 0.5 };
    let cube = || Solid::Box { half_size: Vector3::new(0.5, 0.4, 0.3) };
    let brick = || {
        let corner = |i: usize| Vector3::from_fn(|k, _| if i >> k & 1 == 0 { -0.3 } else { 0.3 });
        let corners: Vec<_> = (0..8).map(corner).collect();
        Solid::Hull(Arc::new(Polytope::new(&corners).expect("a volume")))
    };
    let eight = || octahedron(&Vector3::new(0.3, 0.3, 0.3));
    // The face of an octahedron of equal radii r is r/√3 from its centre.
    let face = Vector3::new(1.0, 1.0, 1.0).normalize();
    let inner = 0.3 / libm::sqrt(3.0);
    let face_up = {
        let axis = face.cross(&z).normalize();
        turn(axis, libm::acos(face.z).to_degrees())
    };
    // Along an edge of 45° from both axes.
    let slant = Vector3::new(1.0, 0.0, 1.0).normalize();
    let row = |what, above, below, normal, count| Known { what, above, below, normal, count };
    vec![
        row("ball, ball", (ball(), z * 0.6, up), (ball(), zero, up), z, 1),
        row("ball, box", (ball(), Vector3::new(0.1, 0.2, 0.6), up), (cube(), zero, up), z, 1),
        row(
            "ball, capsule",
            (ball(), Vector3::new(0.2, 0.0, 0.4), up),
            (capsule(), zero, lying),
            z,
            1,
        ),
        row(
            "ball, rim of a cylinder",
            (ball(), Vector3::new(0.2, 0.0, 0.5) + slant * 0.3, up),
            (roll(), zero, up),
            slant,
            1,
        ),
        row(
            "ball, face of a hull",
            (ball(), face * (inner + 0.3), up),
            (eight(), zero, up),
            face,
            1,
        ),
        row(
            "capsule across capsule",
            (capsule(), z * 0.2, lying),
            (capsule(), zero, turn(Vector3::x(), 90.0)),
            z,
            1,
        ),
        row(
            "capsule along capsule",
            (capsule(), Vector3::new(0.3, 0.0, 0.2), lying),
            (capsule(), zero, lying),
            z,
            2,
        ),
        row(
            "capsule on box",
            (capsule(), Vector3::new(0.3, 0.1, 0.4), lying),
            (cube(), zero, up),
            z,
            2,
        ),
        row(
            "capsule on face of a hull",
            (capsule(), face * (inner + 0.1), frame(&face) * lying),
            (eight(), zero, up),
            face,
            2,
        ),
        row(
            "capsule along cylinder",
            (capsule(), Vector3::new(0.2, 0.0, 0.3), lying),
            (roll(), zero, lying),
            z,
            2,
        ),
        row("cylinder on box", (roll(), z * 0.8, up), (cube(), zero, up), z, 8),
        row(
            "cylinder lies on box",
            (roll(), Vector3::new(0.2, 0.0, 0.5), lying),
            (cube(), zero, up),
            z,
            2,
        ),
        row(
            "cylinder across cylinder",
            (roll(), z * 0.4, lying),
            (roll(), zero, turn(Vector3::x(), 90.0)),
            z,
            1,
        ),
        row("corner of a hull on box", (eight(), z * 0.6, up), (cube(), zero, up), z, 1),
        row(
            "face of a hull on box",
            (eight(), z * (0.3 + inner), face_up),
            (cube(), zero, up),
            z,
            3,
        ),
        row(
            "edge across edge",
            (brick(), z * (1.2 / libm::sqrt(2.0)), turn(Vector3::x(), 45.0)),
            (brick(), zero, turn(Vector3::y(), 45.0)),
            z,
            1,
        ),
        row("hull on hull", (eight(), face * (2.0 * inner), up), (eight(), zero, up), face, 6),
        row("cylinder on cylinder", (roll(), z, up), (roll(), zero, up), z, 8),
    ]
}

/// Columns across a direction, and the direction.
fn frame(z: &Vector3<f64>) -> Matrix3<f64> {
    let x = z.cross(&Vector3::y()).normalize();
    Matrix3::from_columns(&[x, z.cross(&x), *z])
}

/// Pairs whose distance and direction are known, from 3 cm apart over hardly touching to 1 cm of
/// overlap, anywhere and turned anyhow. Where bodies rest their gap is rounding, and the direction
/// must still be right.
#[test]
fn pairs_of_shapes_have_their_closed_forms() {
    let mut random = Random::new(17);
    for Known { what, above, below, normal, count } in known() {
        for gap in [0.03, 1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 0.0, -1e-15, -1e-12, -1e-9, -1e-3, -0.01]
        {
            for case in 0..20 {
                let (r, x) = match case {
                    0 => (Matrix3::identity(), Vector3::zeros()),
                    _ => (rotation(&mut random), vector(&mut random)),
                };
                let place = |(solid, at, turn): &(Solid, Vector3<f64>, Matrix3<f64>), up: f64| {
                    let centre = x + r * (at + normal * up);
                    (solid.clone(), Pose { centre, rotation: r * turn })
                };
                let (a, b) = (place(&above, gap), place(&below, 0.0));
                let found = witnesses(&a, &b, 0.04);
                let n = r * normal;
                assert_eq!(found.len(), count, "{what}, gap {gap}, {case}: {found:?}");
                for w in &found {
                    let off = (w.normal - n).norm();
                    assert!(off < 1e-7, "{what}, gap {gap}, {case}: normal off by {off:e}");
                    let off = (w.gap - gap).abs();
                    assert!(off < 1e-9, "{what}, gap {gap}, {case}: gap off by {off:e}");
                    for (solid, point) in [(&a, &w.first), (&b, &w.second)] {
                        let off = (projection(solid, point) - point).norm();
                        assert!(off < 1e-7, "{what}, gap {gap}, {case}: {off:e} outside, {w:?}");
                    }
                }
            }
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
            let (radius, half_length) = (half_size.x, half_size.z);
            let solid = match pick(&[0.0, 1.0, 2.0, 3.0, 4.0]) as usize {
                0 => Solid::Sphere { radius },
                1 => Solid::Capsule { radius, half_length },
                2 => Solid::Cylinder { radius, half_length },
                3 => octahedron(&half_size),
                _ => Solid::Box { half_size },
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
        let [(one, pose), _] = pair(&mut random);
        let plane = Plane::new(pose.centre - vector(&mut random), vector(&mut random));
        let plane = plane.expect("a direction");
        collide_plane((&one, &pose), &plane, 0.3, &mut manifold);
        let height = plane.distance(&pose.centre);
        let lowest = height - one.support(&pose.rotation.tr_mul(&-plane.normal()));
        let least = manifold.witnesses().iter().map(|w| w.gap).fold(f64::INFINITY, f64::min);
        if lowest <= 0.3 - 1e-12 {
            assert!((least - lowest).abs() < 1e-12, "{case}: {least} {lowest}");
        } else if lowest > 0.3 + 1e-12 {
            assert_eq!(least, f64::INFINITY, "{case}");
        }
        for w in manifold.witnesses() {
            assert!(
                (projection(&(one.clone(), pose), &w.first) - w.first).norm() < 1e-12,
                "{case}"
            );
            assert!(plane.distance(&w.second).abs() < 1e-12, "{case}");
        }
    }
    let half_size = Vector3::new(0.2, 0.1, 0.1);
    let pose = Pose { centre: Vector3::new(0.0, 0.0, 0.1), rotation: Matrix3::identity() };
    collide_plane((&Solid::Box { half_size }, &pose), &Plane::default(), 1.0, &mut manifold);
    assert_eq!(manifold.witnesses().len(), 4);
}
