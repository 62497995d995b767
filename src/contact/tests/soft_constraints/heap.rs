//! A heap of spheres: contacts in all directions that open and close.

use super::bodies::{Body, World};
use super::spheres::{G, MASS, RADIUS};
use legwork_contact::soft_constraints::{BodyIndex, Friction, Law, Rows, SpringDamper};
use legwork_qp::problems::Random;
use nalgebra::Vector3;

/// A heap of spheres in a box: contacts in all directions, found by distance.
struct Heap {
    world: World,
    half_width: f64,
}

impl Heap {
    fn assemble(&mut self) {
        self.world.begin();
        let World { bodies, problem, time_step, .. } = &mut self.world;
        let friction = Friction::coulomb(0.4, 1e6 / *time_step);
        let law = |gap: f64, radius: f64| {
            let mut normal = SpringDamper::hertz(gap, 1e8, radius, 4.0 / 3.0);
            normal.damping = 20.0;
            Law::Contact(normal, friction)
        };
        let frame = |n: Vector3<f64>| {
            let helper = if n.x.abs() < 0.6 { Vector3::x() } else { Vector3::y() };
            let t = n.cross(&helper).normalize();
            [t, n.cross(&t), n]
        };
        let (x, y, z) = (Vector3::x(), Vector3::y(), Vector3::z());
        let walls = [(z, 0.0), (x, self.half_width), (-x, self.half_width)];
        let walls = walls.into_iter().chain([(y, self.half_width), (-y, self.half_width)]);
        for (normal, offset) in walls {
            for (i, body) in bodies.iter().enumerate() {
                let gap = body.position.dot(&normal) + offset - RADIUS;
                if gap < 0.02 {
                    let rows = body.point_rows(&(-RADIUS * normal), &frame(normal), 1.0);
                    problem.push(Rows::Bodies(&[(BodyIndex(i), &rows)]), law(gap, RADIUS));
                }
            }
        }
        for i in 0..bodies.len() {
            for j in 0..i {
                let between = bodies[i].position - bodies[j].position;
                let gap = between.norm() - 2.0 * RADIUS;
                if gap < 0.02 {
                    let normal = between.normalize();
                    let axes = frame(normal);
                    let a = bodies[i].point_rows(&(-RADIUS * normal), &axes, 1.0);
                    let b = bodies[j].point_rows(&(RADIUS * normal), &axes, -1.0);
                    let parts = [(BodyIndex(i), &a[..]), (BodyIndex(j), &b[..])];
                    problem.push(Rows::Bodies(&parts), law(gap, 0.5 * RADIUS));
                }
            }
        }
    }
}

/// Eighteen spheres fall into a box, collide, roll and come to rest: every step is solved and
/// energy does not grow.
#[test]
fn a_heap_comes_to_rest() {
    let mut random = Random::new(5);
    let bodies: Vec<Body> = (0..18)
        .map(|i| {
            let place = |k: usize| 0.22 * (k as f64 - 1.0) + 0.02 * random.uniform();
            let [x, y] = [i % 3, i / 3 % 3].map(place);
            let z = 0.2 + 0.25 * (i / 9) as f64;
            Body::sphere(MASS, RADIUS, Vector3::new(x, y, z))
        })
        .collect();
    let world = World::new(bodies, Vector3::new(0.0, 0.0, -G), 0.01);
    let mut heap = Heap { world, half_width: 0.36 };
    let energy = |world: &World| -> f64 {
        world.bodies.iter().map(|b| b.kinetic_energy() + MASS * G * b.position.z).sum()
    };
    let start = energy(&heap.world);
    for step in 0..300 {
        heap.assemble();
        let _ = heap.world.finish();
        let now = energy(&heap.world);
        assert!(now < start * (1.0 + 1e-3), "step {step}: {now} {start}");
    }
    // Without rolling resistance a sphere may roll on; nothing is left of the fall.
    let kinetic: f64 = heap.world.bodies.iter().map(Body::kinetic_energy).sum();
    assert!(kinetic < 1e-4 * start, "{kinetic:e} {start}");
}
