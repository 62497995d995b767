//! A hull is closed, convex, holds all its points, and has no corner too many.

use nalgebra::Vector3;
use robust::{Coord3D, orient3d};

use super::{Random, ball, cuboid};
use crate::{Hull, HullError, Solid, Topology};

fn exact(p: Vector3<f64>) -> Coord3D<f64> {
    Coord3D { x: p.x, y: p.y, z: p.z }
}

/// Decided without rounding: no point lies outside any face, and the surface is that of a ball.
fn check(hull: &Hull, points: &[Vector3<f64>]) {
    let mesh = hull.to_mesh();
    for k in 0..mesh.triangles.len() {
        let [a, b, c] = mesh.corners(k).map(exact);
        for point in points {
            assert!(orient3d(a, b, c, exact(*point)) >= 0.0, "{point:?} is outside face {k}");
        }
    }
    let topology = Topology::of(&mesh);
    assert!(topology.is_closed(), "{topology:?}");
    // Euler's formula for a closed surface without holes, all of triangles: V − F / 2 = 2.
    assert_eq!(2 * hull.vertices.len(), 4 + hull.triangles.len());
    assert!(hull.vertices.iter().all(|vertex| points.contains(vertex)));
}

#[test]
fn random_points() {
    let mut random = Random(3);
    for round in 0..300 {
        let count = 4 + round % 60;
        // In a cube, near a plane, near a line, and at two scales.
        let thin = [1.0, 1e-9, 1e-3, 1e-300][round % 4];
        let thick = [1.0, 1.0, 1e-3, 1e5][round / 4 % 4];
        let points: Vec<Vector3<f64>> = (0..count)
            .map(|_| random.vector().component_mul(&Vector3::new(1.0, thick, thin)))
            .collect();
        match Hull::new(&points) {
            Ok(hull) => check(&hull, &points),
            // Products below the smallest number: the exact predicate has none of them.
            Err(HullError::Flat) => assert!(thin < 1e-100),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Many points in common planes and on common lines: what breaks hulls with tolerances.
#[test]
fn lattices() {
    for n in 2..7_i32 {
        let range = || (0..n).map(f64::from);
        let lattice = |step: f64| -> Vec<Vector3<f64>> {
            let points = range().flat_map(|x| range().map(move |y| (x, y)));
            let points = points.flat_map(|(x, y)| range().map(move |z| Vector3::new(x, y, z)));
            points.map(|point| point * step).collect()
        };
        // Steps of 1 are exact: eight corners, no more. Those of 0.1 are rounded planes.
        let hull = Hull::new(&lattice(1.0)).expect("a hull");
        check(&hull, &lattice(1.0));
        assert_eq!(hull.vertices.len(), 8);
        check(&Hull::new(&lattice(0.1)).expect("a hull"), &lattice(0.1));
    }
}

#[test]
fn all_points_of_a_ball_are_corners() {
    let mesh = ball(3);
    let hull = Hull::new(&mesh.vertices).expect("a hull");
    check(&hull, &mesh.vertices);
    assert_eq!(hull.vertices.len(), mesh.vertices.len());
    assert_eq!(hull.miss, 0.0);
}

#[test]
fn repeated_points_and_points_inside_change_nothing() {
    let cube = cuboid([0.0; 3], [1.0, 2.0, 3.0]);
    let mut points = cube.vertices.clone();
    points.extend(cube.vertices.iter().map(|v| v * 0.5));
    points.extend(cube.vertices.iter());
    let hull = Hull::new(&points).expect("a hull");
    check(&hull, &points);
    assert_eq!(hull.vertices.len(), 8);
    let solid = Solid::of(&hull.to_mesh()).expect("a solid");
    assert!((solid.volume - 6.0).abs() < 1e-14);
}

#[test]
fn points_without_a_volume_are_refused() {
    let x = |t: f64| Vector3::new(t, 2.0 * t, -t);
    assert_eq!(Hull::new(&[]).unwrap_err(), HullError::Thin);
    assert_eq!(Hull::new(&[x(1.0); 5]).unwrap_err(), HullError::Thin);
    assert_eq!(Hull::new(&[x(1.0), x(2.0), x(4.0)]).unwrap_err(), HullError::Thin);
    let square = [[0., 0., 1.], [1., 0., 1.], [1., 1., 1.], [0., 1., 1.], [0.5, 0.25, 1.]];
    assert_eq!(Hull::new(&square.map(Vector3::from)).unwrap_err(), HullError::Flat);
}

/// Of few corners the hull lies inside, and `miss` bounds what is outside each face.
#[test]
fn a_hull_of_few_corners_misses_what_it_says() {
    let mesh = ball(4);
    let mut last = f64::INFINITY;
    for most in [4, 6, 8, 16, 32, 64, 128] {
        let hull = Hull::of_at_most(&mesh.vertices, most).expect("a hull");
        check(&hull, &hull.vertices);
        assert_eq!(hull.vertices.len(), most);
        let faces = hull.to_mesh();
        let mut worst = 0.0_f64;
        for k in 0..faces.triangles.len() {
            let [a, b, c] = faces.corners(k);
            let normal = (b - a).cross(&(c - a)).normalize();
            for point in &mesh.vertices {
                worst = worst.max(normal.dot(&(point - a)));
            }
        }
        assert!((hull.miss - worst).abs() < 1e-14, "{most}: {} {worst}", hull.miss);
        last = hull.miss;
    }
    // 252 equal triangles of area 4π/252 = 3√3/4 R² miss R²/2 at their middles. Choosing the farthest
    // point each time gets within twice the best radius.
    let best = 4.0 * std::f64::consts::PI / 252.0 / (0.75 * 3_f64.sqrt()) / 2.0;
    assert!(last < 4.0 * best, "{last}");
    // The corners of a box come first.
    let mut points = cuboid([0.0; 3], [0.2, 0.1, 0.02]).vertices;
    points.extend(ball(3).vertices.iter().map(|v| v * 0.009 + Vector3::new(0.1, 0.05, 0.01)));
    let hull = Hull::of_at_most(&points, 8).expect("a hull");
    assert_eq!((hull.vertices.len(), hull.miss), (8, 0.0));
}
