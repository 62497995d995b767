//! Mass properties and topology, against closed forms.

use nalgebra::{Matrix3, Rotation3, Vector3};

use super::{Random, ball, cuboid};
use crate::{Solid, Topology};

#[test]
fn a_cuboid_has_the_volume_and_moments_of_the_textbook() {
    let mesh = cuboid([1.0, -2.0, 100.0], [3.0, 1.0, 100.5]);
    let solid = Solid::of(&mesh).expect("a solid");
    let [x, y, z] = [2.0, 3.0, 0.5];
    assert!((solid.volume - x * y * z).abs() < 1e-14 * x * y * z);
    assert!((solid.center - Vector3::new(2.0, -0.5, 100.25)).norm() < 1e-13);
    let moments = Vector3::new(y * y + z * z, x * x + z * z, x * x + y * y);
    let expected = Matrix3::from_diagonal(&(moments * (x * y * z / 12.0)));
    assert!((solid.inertia - expected).norm() < 1e-13 * expected.norm(), "{}", solid.inertia);
}

/// V and I of an inscribed polyhedron grow to those of the ball by a factor of 4 a refinement.
#[test]
fn a_ball_tends_to_its_closed_form() {
    let error = |times| {
        let solid = Solid::of(&ball(times)).expect("a solid");
        let volume = 4.0 / 3.0 * std::f64::consts::PI;
        assert!(solid.center.norm() < 1e-15);
        let inertia = Matrix3::identity() * (0.4 * volume);
        [1.0 - solid.volume / volume, (solid.inertia - inertia).norm() / inertia.norm()]
    };
    let (coarse, fine) = (error(4), error(5));
    for (coarse, fine) in coarse.into_iter().zip(fine) {
        assert!(fine > 0.0 && (coarse / fine - 4.0).abs() < 0.05, "{coarse} {fine}");
        // What is left without the term of second order.
        assert!((4.0 * fine - coarse).abs() / 3.0 < 0.01 * fine, "{coarse} {fine}");
    }
}

/// Turned and moved, the inertia turns with the solid.
#[test]
fn moments_turn_with_the_solid() {
    let mut random = Random(7);
    let mesh = cuboid([0.0; 3], [1.0, 0.2, 0.05]);
    let at_rest = Solid::of(&mesh).expect("a solid");
    for _ in 0..100 {
        let turn = Rotation3::from_scaled_axis(random.vector() * 3.0).into_inner();
        let shift = random.vector() * 10.0;
        let mut moved = mesh.clone();
        moved.vertices.iter_mut().for_each(|v| *v = turn * *v + shift);
        let solid = Solid::of(&moved).expect("a solid");
        let expected = turn * at_rest.inertia * turn.transpose();
        assert!((solid.inertia - expected).norm() < 1e-12 * expected.norm());
        assert!((solid.center - (turn * at_rest.center + shift)).norm() < 1e-12);
    }
}

#[test]
fn mirrors_and_millimetres_keep_the_outside_outside() {
    let mut mesh = cuboid([0.0; 3], [10.0, 20.0, 30.0]);
    mesh.scale(Vector3::new(1e-3, -1e-3, 1e-3));
    let solid = Solid::of(&mesh).expect("a solid");
    assert!((solid.volume - 6e-6).abs() < 1e-19, "{}", solid.volume);
    assert!((solid.center - Vector3::new(5e-3, -1e-2, 1.5e-2)).norm() < 1e-16);
    assert!(Topology::of(&mesh).is_closed());
}

#[test]
fn what_is_no_solid_is_told() {
    let closed = cuboid([0.0; 3], [1.0; 3]);
    assert_eq!(Topology::of(&closed), Topology::default());

    let mut open = closed.clone();
    open.triangles.pop();
    assert_eq!(Topology::of(&open), Topology { open: 3, ..Topology::default() });

    let mut turned = closed.clone();
    turned.triangles[0].swap(0, 1);
    assert_eq!(Topology::of(&turned), Topology { tangled: 3, ..Topology::default() });

    let mut inside_out = closed.clone();
    inside_out.triangles.iter_mut().for_each(|triangle| triangle.swap(0, 1));
    assert!(Topology::of(&inside_out).is_closed());
    assert!(Solid::of(&inside_out).is_none());

    let mut flat = closed;
    flat.vertices.iter_mut().for_each(|v| v.z = 0.5);
    assert!(Solid::of(&flat).is_none());
    assert!(Topology::of(&flat).degenerate >= 8);
}
