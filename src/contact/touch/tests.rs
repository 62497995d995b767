#![allow(clippy::unwrap_used, reason = "a test may stop")]

use legwork_qp::problems::Random;

use super::*;
use crate::{HeightField, Plane};

/// Rotation vector to matrix, by Rodrigues' formula.
fn turn(v: &Vector3<f64>) -> Matrix3<f64> {
    let angle = v.norm();
    if angle == 0.0 {
        return Matrix3::identity();
    }
    let k = (v / angle).cross_matrix();
    let (s, c) = libm::sincos(angle);
    Matrix3::identity() + k * s + k * k * (1.0 - c)
}

/// The motion a time t after `start`, to second order: with constant `linear_rate`, and turned by
/// `ω t + ½ α t²`.
fn moved(start: &RelativeMotion, t: f64) -> RelativeMotion {
    let turned = turn(&(start.angular * t + start.angular_rate * (0.5 * t * t)));
    RelativeMotion {
        rotation: turned * start.rotation,
        translation: start.translation + start.linear * t + start.linear_rate * (0.5 * t * t),
        linear: start.linear + start.linear_rate * t,
        angular: start.angular + start.angular_rate * t,
        ..*start
    }
}

fn vector(random: &mut Random, scale: f64) -> Vector3<f64> {
    scale * Vector3::new(random.normal(), random.normal(), random.normal())
}

fn hills() -> HeightField {
    let heights: Vec<f64> = (0..41 * 41)
        .map(|i| {
            let (x, y) = ((i % 41) as f64 * 0.2, (i / 41) as f64 * 0.2);
            0.2 * libm::sin(1.1 * x) * libm::cos(0.9 * y + 0.3)
        })
        .collect();
    HeightField::new(&heights, 41, 0.2, [-4.0, -4.0]).unwrap()
}

fn surfaces() -> Vec<Surface> {
    let plane = Plane::new(Vector3::new(0.1, 0.0, -0.2), Vector3::new(0.3, -0.2, 0.9)).unwrap();
    vec![
        Surface::HalfSpace(plane),
        Surface::Sphere { radius: 0.4 },
        Surface::Box { half_size: Vector3::new(0.5, 0.4, 0.3) },
        Surface::Cylinder { radius: 0.3, half_length: 0.4 },
        Surface::HeightField(hills()),
    ]
}

fn features(random: &mut Random) -> Vec<Feature> {
    let center = vector(random, 0.05);
    vec![
        Feature::vertex(center),
        Feature::Ball { center, radius: 0.06 },
        Feature::Rim { center, axis: vector(random, 1.0).normalize(), radius: 0.08 },
    ]
}

fn motion(random: &mut Random) -> RelativeMotion {
    RelativeMotion {
        rotation: turn(&vector(random, 1.0)),
        translation: vector(random, 0.5),
        linear: vector(random, 1.0),
        angular: vector(random, 2.0),
        linear_rate: vector(random, 3.0),
        angular_rate: vector(random, 3.0),
    }
}

/// The gap's rate is the normal velocity, and `velocity_rate` the derivative of `velocity`.
#[test]
fn rates_agree_with_differences_along_the_motion() {
    let mut random = Random::new(51);
    for surface in surfaces() {
        let mut compared = 0;
        for round in 0..100 {
            let start = motion(&mut random);
            for feature in features(&mut random) {
                let belt = Belt {
                    linear: vector(&mut random, 1.0),
                    angular: vector(&mut random, 1.0),
                    linear_rate: vector(&mut random, 1.0),
                    angular_rate: vector(&mut random, 1.0),
                };
                // Within a solid the normal jumps under a rim, which then has no lowest point.
                let is_solid = matches!(surface, Surface::Box { .. } | Surface::Cylinder { .. });
                let middle = surface.at(&start.translation).distance;
                if is_solid && matches!(feature, Feature::Rim { .. }) && middle < 0.3 {
                    continue;
                }
                let h = 1e-5;
                let with = round % 2 == 1;
                let at = |t: f64| {
                    let belt = Belt {
                        linear: belt.linear + belt.linear_rate * t,
                        angular: belt.angular + belt.angular_rate * t,
                        ..belt
                    };
                    touch(&feature, &surface, &moved(&start, t), with.then_some(&belt))
                };
                let (before, here, after) = (at(-h), at(0.0), at(h));
                // Over an edge, or a line of the grid, the derivative jumps.
                if (after.velocity_rate - before.velocity_rate).amax()
                    > 0.02 * here.velocity_rate.norm()
                {
                    continue;
                }
                if (after.frame - before.frame).amax() > 0.01 {
                    continue;
                }
                compared += 1;
                let rate = (after.gap - before.gap) / (2.0 * h);
                if !with {
                    let error = (rate - here.velocity.z).abs();
                    assert!(error < 1e-6, "{surface:?} {feature:?}: gap by {error:.1e}");
                }
                let difference = (after.velocity - before.velocity) / (2.0 * h);
                let error = (difference - here.velocity_rate).amax();
                let bound = 1e-5 * (1.0 + here.velocity_rate.norm());
                assert!(error < bound, "{surface:?} {feature:?} {here:?}: {error:.1e}");
            }
        }
        assert!(compared > 200, "{surface:?}: {compared} compared");
    }
}

/// On flat ground the lowest point of a rim is that of many points of the circle.
#[test]
fn a_rim_touches_with_its_lowest_point() {
    let mut random = Random::new(52);
    let plane = Plane::new(Vector3::zeros(), Vector3::new(0.1, 0.3, 1.0)).unwrap();
    let surface = Surface::HalfSpace(plane);
    for _ in 0..200 {
        let axis = vector(&mut random, 1.0).normalize();
        let center = vector(&mut random, 0.1);
        let feature = Feature::Rim { center, axis, radius: 0.1 };
        let start = motion(&mut random);
        let found = touch(&feature, &surface, &start, None);
        let first = contact_frame(&(start.rotation * axis));
        let middle = start.translation + start.rotation * center;
        let lowest = (0..720)
            .map(|i| {
                let (s, c) = libm::sincos(f64::from(i) * std::f64::consts::PI / 360.0);
                plane.distance(&(middle + (first.column(0) * c + first.column(1) * s) * 0.1))
            })
            .fold(f64::MAX, f64::min);
        assert!(found.gap <= lowest + 1e-15 && lowest - found.gap < 1e-5, "{axis}");
        assert!((plane.distance(&found.position) - found.gap).abs() < 1e-15);
    }
}

/// A wheel whose axis passes through the normal: nothing jumps, and the gap stays within the
/// rounding `3/8 ε r`.
#[test]
fn a_rim_that_lies_flat_touches_with_its_middle() {
    let surface = Surface::HalfSpace(Plane::default());
    let still = RelativeMotion {
        rotation: Matrix3::identity(),
        translation: Vector3::zeros(),
        linear: Vector3::zeros(),
        angular: Vector3::zeros(),
        linear_rate: Vector3::zeros(),
        angular_rate: Vector3::zeros(),
    };
    let radius = 0.1;
    let at = |angle: f64| {
        let (s, c) = libm::sincos(angle);
        let axis = Vector3::new(s, 0.0, c);
        touch(&Feature::Rim { center: Vector3::z(), axis, radius }, &surface, &still, None)
    };
    assert_eq!(at(0.0).position, Vector3::z());
    let mut last = at(-0.003);
    for i in -3000..=3000 {
        let angle = 1e-6 * f64::from(i);
        let here = at(angle);
        let exact = 1.0 - radius * libm::sin(angle).abs();
        assert!((here.gap - exact).abs() <= 0.375 * FLAT * radius + 1e-15, "{angle}");
        // The slope at the middle is 3/2 r/ε.
        assert!((here.position - last.position).amax() < 1.6e-6 * radius / FLAT, "{angle}");
        last = here;
    }
}

/// A ball on a ball touches between the centres.
#[test]
fn two_balls_touch_between_their_centres() {
    let mut random = Random::new(53);
    for _ in 0..50 {
        let start = motion(&mut random);
        let feature = Feature::Ball { center: Vector3::zeros(), radius: 0.2 };
        let found = touch(&feature, &Surface::Sphere { radius: 0.4 }, &start, None);
        let apart = start.translation.norm();
        assert!((found.gap - (apart - 0.6)).abs() < 1e-14);
        let expected = start.translation * (1.0 - 0.2 / apart);
        assert!((found.position - expected).amax() < 1e-14);
    }
}
