//! Stacks of spheres (Drumwright, section 6.5).

use super::bodies::{Body, World};
use legwork_contact::soft_constraints::{BodyIndex, Friction, Law, Rows, SpringDamper};
use nalgebra::Vector3;

pub(crate) const G: f64 = 9.81;
pub(crate) const RADIUS: f64 = 0.1;
pub(crate) const MASS: f64 = 1.0;

pub(crate) struct Stack {
    pub(crate) world: World,
    modulus: f64,
}

impl Stack {
    /// `count` spheres above one another with this distance between them and below the lowest.
    pub(crate) fn new(count: usize, modulus: f64, distance: f64) -> Self {
        let bodies = (0..count)
            .map(|i| {
                let z = RADIUS + distance + i as f64 * (2.0 * RADIUS + distance);
                Body::sphere(MASS, RADIUS, Vector3::new(0.0, 0.0, z))
            })
            .collect();
        Self { world: World::new(bodies, Vector3::new(0.0, 0.0, -G), 0.01), modulus }
    }

    /// Gap below sphere i.
    pub(crate) fn gap(&self, i: usize) -> f64 {
        let z = |i: usize| self.world.bodies[i].position.z;
        if i == 0 { z(0) - RADIUS } else { z(i) - z(i - 1) - 2.0 * RADIUS }
    }

    pub(crate) fn assemble(&mut self) {
        self.world.begin();
        let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
        for i in 0..self.world.bodies.len() {
            let gap = self.gap(i);
            let world = &mut self.world;
            let radius = if i == 0 { RADIUS } else { 0.5 * RADIUS };
            let mut normal = SpringDamper::hertz(gap, self.modulus, radius, 4.0 / 3.0);
            normal.damping = 1.0;
            let law = Law::Contact(normal, Friction::coulomb(0.5, 1e6 / world.time_step));
            let down = Vector3::new(0.0, 0.0, -RADIUS);
            let upper = world.bodies[i].point_rows(&down, &axes, 1.0);
            if i == 0 {
                world.problem.push(Rows::Bodies(&[(BodyIndex(0), &upper)]), law);
            } else {
                let lower = world.bodies[i - 1].point_rows(&-down, &axes, -1.0);
                let parts = [(BodyIndex(i), &upper[..]), (BodyIndex(i - 1), &lower[..])];
                world.problem.push(Rows::Bodies(&parts), law);
            }
        }
    }
}

/// Ten stiff spheres dropped above one another come to rest as a stack: every contact bears what
/// is above it, at Hertz's depth.
#[test]
fn a_dropped_stack_stands() {
    let count = 10;
    let mut stack = Stack::new(count, 1e11, 0.02);
    for _ in 0..1500 {
        stack.assemble();
        let _ = stack.world.finish();
    }
    let speed = stack.world.bodies.iter().map(|b| b.linear.norm()).fold(0.0, f64::max);
    assert!(speed < 1e-6, "{speed:e}");
    for i in 0..count {
        let force = stack.world.solution.forces[3 * i + 2];
        let load = (count - i) as f64 * MASS * G;
        assert!((force / load - 1.0).abs() < 1e-3, "{i}: {force} {load}");
        let radius: f64 = if i == 0 { RADIUS } else { 0.5 * RADIUS };
        let depth = libm::pow(load / (4.0 / 3.0 * 1e11 * radius.sqrt()), 2.0 / 3.0);
        assert!((-stack.gap(i) / depth - 1.0).abs() < 1e-2, "{i}: {:e} {depth:e}", stack.gap(i));
    }
}

/// Cost of stiff contacts while they collide: thirty spheres, a millimetre apart, take two and a
/// half Newton steps each until they rest, and none afterwards.
#[test]
fn a_stack_costs_newton_steps_only_while_it_collides() {
    let count = 30;
    let mut stack = Stack::new(count, 1e11, 1e-3);
    let mut iterations = Vec::new();
    for _ in 0..500 {
        stack.assemble();
        iterations.push(stack.world.finish().iterations);
    }
    let total: u32 = iterations.iter().sum();
    assert!(2 * total < 5 * count as u32, "{total}: {iterations:?}");
    assert_eq!(iterations[50..], [0; 450]);
}
