//! A cube on an elastic foundation (Drumwright, section 5.5).

use super::bodies::{Body, World};
use legwork_contact::soft_constraints::{Law, Rows, SpringDamper};
use nalgebra::Vector3;

const G: f64 = 9.8;
const DENSITY: f64 = 888.0;

pub(crate) struct Foundation {
    pub(crate) world: World,
    per_side: usize,
    modulus: f64,
}

impl Foundation {
    pub(crate) fn new(per_side: usize, modulus: f64, time_step: f64) -> Self {
        let cube = Body::cuboid(DENSITY, Vector3::repeat(1.0), Vector3::new(0.0, 0.0, 0.5));
        let world = World::new(vec![cube], Vector3::new(0.0, 0.0, -G), time_step);
        Self { world, per_side, modulus }
    }

    /// One step, see [`Self::assemble`].
    pub(crate) fn step(&mut self, time: f64, load: f64) {
        self.assemble(time, load);
        let _ = self.world.finish();
    }

    /// The problem under a downward load at `s/2 (cos 10t, sin 10t, 1)` of the cube.
    pub(crate) fn assemble(&mut self, time: f64, load: f64) {
        let (angle, world) = (10.0 * time, &mut self.world);
        let point = Vector3::new(libm::cos(angle), libm::sin(angle), 1.0) * 0.5;
        let arm = world.bodies[0].rotation * point;
        let moment = arm.cross(&Vector3::new(0.0, 0.0, -load));
        world.loads[0] = [0.0, 0.0, -load, moment.x, moment.y, moment.z];
        world.begin();
        let (n, body) = (self.per_side, &world.bodies[0]);
        let area = 1.0 / (n * n) as f64;
        for i in 0..n * n {
            let place = |k: usize| (k as f64 + 0.5) / n as f64 - 0.5;
            let arm = body.rotation * Vector3::new(place(i % n), place(i / n), -0.5);
            let gap = body.position.z + arm.z;
            let mut row = SpringDamper::elastic_element(gap, self.modulus, area, 1.0, 1.0);
            row.rate_bias = body.point_bias(&arm).z;
            let rows = body.point_rows(&arm, &[Vector3::z()], 1.0);
            world.problem.push(Rows::Dense(&rows), Law::Unilateral(row));
        }
    }
}

/// The cube sinks by its weight over E s²/depth, whatever the number of elements.
#[test]
fn the_static_sink_does_not_depend_on_the_elements() {
    for per_side in [10, 30] {
        for modulus in [1e7, 1e11] {
            let mut foundation = Foundation::new(per_side, modulus, 0.01);
            for step in 0..400 {
                foundation.step(0.01 * f64::from(step), 0.0);
            }
            let sink = 0.5 - foundation.world.bodies[0].position.z;
            let expected = DENSITY * G / modulus;
            assert!((sink / expected - 1.0).abs() < 1e-6, "{per_side} {modulus}: {sink:e}");
            let total: f64 = foundation.world.solution.forces.iter().sum();
            assert!((total / (DENSITY * G) - 1.0).abs() < 1e-6, "{total}");
        }
    }
}

/// A load of 50 N, far less than the cube's weight, moves it by no more than a static tilt of its
/// foundation: no element opens and nothing builds up, on rubber or steel.
#[test]
fn a_turning_load_is_borne() {
    for modulus in [1e7, 1e11] {
        let mut foundation = Foundation::new(10, modulus, 0.01);
        for step in 0..400 {
            foundation.step(0.01 * f64::from(step), if step < 200 { 0.0 } else { 50.0 });
        }
        let body = &foundation.world.bodies[0];
        let up = body.rotation * Vector3::z();
        let tilt = (up.x * up.x + up.y * up.y).sqrt();
        // Static: moment 25 N m over E s⁴/12.
        assert!(tilt < 2.5 * 25.0 * 12.0 / modulus && tilt > 0.0, "{tilt:e}");
        assert!(foundation.world.solution.forces.iter().all(|&f| f > 0.0));
    }
}
