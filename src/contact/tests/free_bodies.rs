//! Worlds of free bodies by three methods: laws of free motion, the same scene at rest, piles that
//! come to rest.

use legwork_contact::collision::Solid;
use legwork_contact::free_bodies::{
    Body, CompliantStep, Contacts, DOF, Elasticity, FreeMotion, FreeProblem, Motion, PairFriction,
    RegularisedContact, RigidContacts, Scene, energy, push_constraints,
};
use legwork_contact::soft_constraints::{
    BodyIndex, ConstraintProblem, ConstraintSolution, FrictionLaw, SoftConstraintSolver,
};
use legwork_contact::{Ground, Plane};
use legwork_qp::problems::Random;
use legwork_qp::{
    Cone, ConeShape, ContactMethod, ContactProblemData, CoulombIteration, PyramidActiveSet,
    PyramidFit,
};
use nalgebra::Vector3;

const G: f64 = 9.81;

/// The method of a step.
enum Method {
    Constraints(Elasticity, f64),
    Rigid(Ground),
    Compliant(RegularisedContact, u32),
}

struct World {
    scene: Scene,
    positions: Vec<f64>,
    orientations: Vec<f64>,
    velocities: Vec<f64>,
    time_step: f64,
    contacts: Contacts,
    free: FreeMotion,
    problem: ConstraintProblem,
    load: f64,
    penetration: f64,
    failures: u32,
    friction: Vec<PairFriction>,
}

impl World {
    fn new(bodies: Vec<Body>, positions: Vec<f64>, time_step: f64) -> Self {
        let n = bodies.len();
        let mut problem = ConstraintProblem::new(&vec![DOF; n], time_step);
        for (i, body) in bodies.iter().enumerate() {
            let mut mass = [0.0; DOF * DOF];
            for k in 0..3 {
                mass[k * (DOF + 1)] = body.mass;
                mass[(3 + k) * (DOF + 1)] = body.moments[k];
            }
            problem.set_mass(BodyIndex(i), &mass);
        }
        Self {
            scene: Scene { bodies, ground: Plane::default(), gravity: G, friction: 0.5 },
            positions,
            orientations: [1.0, 0.0, 0.0, 0.0].repeat(n),
            velocities: vec![0.0; DOF * n],
            time_step,
            contacts: Contacts::default(),
            free: FreeMotion::default(),
            problem,
            load: 0.0,
            penetration: 0.0,
            failures: 0,
            friction: Vec::new(),
        }
    }

    fn motion(&self) -> Motion<'_> {
        Motion {
            positions: &self.positions,
            orientations: &self.orientations,
            velocities: &self.velocities,
        }
    }

    fn energy(&self) -> f64 {
        energy(&self.scene, self.motion())
    }

    fn step(&mut self, method: &Method) {
        let (n, h) = (self.scene.bodies.len(), self.time_step);
        if let Method::Compliant(law, count) = method {
            let mut step = CompliantStep::default();
            let motion =
                (&mut self.positions[..], &mut self.orientations[..], &mut self.velocities[..]);
            step.run(&self.scene, law, &[], (h, *count), motion, &mut self.friction);
            self.load = step.load();
            return;
        }
        let motion = Motion {
            positions: &self.positions,
            orientations: &self.orientations,
            velocities: &self.velocities,
        };
        self.contacts.find(&self.scene, motion, h);
        self.free.begin(&self.scene, motion, &[], h);
        let contacts = self.contacts.list();
        let forces = match method {
            Method::Constraints(elasticity, damping) => {
                let damping = (*damping, 1e6 / h);
                let problem = &mut self.problem;
                push_constraints(&self.scene, contacts, &self.free, elasticity, damping, problem);
                let velocity = self.velocities.clone();
                let mut solution = ConstraintSolution { velocity, ..ConstraintSolution::default() };
                let mut solver = SoftConstraintSolver::default();
                let outcome = solver.solve(&self.problem, &mut solution);
                if !outcome.status.is_usable() {
                    // The convex law always has a solution.
                    self.failures += 1;
                    solver.options.friction_law = FrictionLaw::Associated;
                    solution.velocity.copy_from_slice(&self.velocities);
                    let outcome = solver.solve(&self.problem, &mut solution);
                    assert!(outcome.status.is_usable(), "{outcome:?}");
                }
                self.velocities = solution.velocity;
                solution.forces
            }
            Method::Rigid(ground) => {
                let k = contacts.len();
                let cone = Cone::Pyramid { sides: 4, fit: PyramidFit::Inscribed };
                let mut data =
                    ContactProblemData::new(k, ConeShape::new(cone).expect("four sides"));
                let (n, nv) = (self.scene.bodies.len(), self.velocities.len());
                let mut rigid = RigidContacts::new(k, n);
                let (mut jacobian, mut factor) = (vec![0.0; 3 * k * nv], vec![0.0; nv * (nv + 1)]);
                data.compliance.resize(3 * k, 0.0);
                let mut problem = FreeProblem {
                    active: &mut data.active,
                    friction: &mut data.friction,
                    jacobian: &mut jacobian,
                    factor: &mut factor,
                    inverse_inertia: &mut data.inverse_inertia,
                    bias: &mut data.bias,
                    compliance: &mut data.compliance,
                };
                let scene = (&self.scene, &self.free);
                rigid.assemble(scene, contacts, ground, h, &mut problem).expect("bodies have mass");
                data.force_scale = G;
                data.regularisation = 0.0;
                let mut forces = vec![0.0; 3 * k];
                let mut solver = PyramidActiveSet::new(k, 4);
                let mut iteration = CoulombIteration::new(k, 100, 1e-8);
                let outcome =
                    iteration.solve(&data.view(), &mut forces, None, |problem, forces| {
                        Ok::<_, ()>(solver.solve(problem, forces))
                    });
                assert!(outcome.is_ok_and(|outcome| outcome.status.is_usable()));
                let v = &mut self.velocities;
                rigid.velocities_into(&factor, &forces, h, v).expect("a factor");
                forces
            }
            Method::Compliant(..) => Vec::new(),
        };
        let (x, q, v) = (&mut self.positions, &mut self.orientations, &mut self.velocities);
        FreeMotion::advance(&self.scene, x, q, v, h);
        let (mut load, mut penetration) = (0.0, 0.0f64);
        for (contact, force) in self.contacts.list().iter().zip(forces.chunks_exact(3)) {
            if force[2] > 0.0 {
                load += contact.borne(&self.scene, &Vector3::from_column_slice(force));
                let depth = self.contacts.depth_after(&self.scene, contact, self.motion());
                penetration = penetration.max(depth);
            }
        }
        (self.load, self.penetration) = (load, penetration);
        assert_eq!(self.velocities.len(), DOF * n);
    }
}

fn ball(radius: f64, mass: f64) -> Body {
    Body::uniform(Solid::Sphere { radius }, mass)
}

fn cuboid(size: [f64; 3], mass: f64) -> Body {
    Body::uniform(Solid::Box { half_size: 0.5 * Vector3::from(size) }, mass)
}

/// The methods that `wall` and others compare, at 10 ms.
fn methods() -> [Method; 3] {
    let spring = Elasticity::Spring { stiffness: 1e7 };
    let law = RegularisedContact { elasticity: spring, damping: 1e3, slip_speed: 1e-4 };
    [
        Method::Constraints(spring, 1e3),
        Method::Rigid(Ground { spring: Some((1e7, 1e3)), ..Ground::default() }),
        Method::Compliant(law, 100),
    ]
}

/// A spinning box: angular momentum is kept at any step, energy within its bounds and to the second
/// order.
#[test]
fn free_rotation_keeps_angular_momentum() {
    let mut random = Random::new(21);
    let mut sums = [0.0; 2];
    for _ in 0..20 {
        let body = cuboid([0.1 + random.uniform(), 0.1 + random.uniform(), 0.1], 1.0);
        let moments = body.moments;
        let spin = Vector3::from_fn(|_, _| 10.0 * random.normal());
        let start = moments.component_mul(&spin);
        let mut changes = Vec::new();
        for count in [10_u32, 1000, 2000] {
            let mut world =
                World::new(vec![body.clone()], vec![0.0, 0.0, 1e3], 1.0 / f64::from(count));
            world.scene.gravity = 0.0;
            world.velocities[3..].copy_from_slice(spin.as_slice());
            let before = world.energy();
            for _ in 0..count {
                world.step(&methods()[0]);
            }
            let q = &world.orientations;
            let turn = nalgebra::Quaternion::new(q[0], q[1], q[2], q[3]);
            let turn = nalgebra::UnitQuaternion::from_quaternion(turn);
            let local = turn.inverse() * Vector3::from_column_slice(&world.velocities[3..]);
            let momentum = turn * moments.component_mul(&local);
            assert!((momentum - start).norm() < 1e-12 * start.norm() * f64::from(count));
            let after = world.energy();
            let bounds = [moments.max(), moments.min()].map(|i| start.norm_squared() / (2.0 * i));
            assert!(after > bounds[0] * (1.0 - 1e-9) && after < bounds[1] * (1.0 + 1e-9));
            changes.push((after / before - 1.0).abs());
        }
        for (sum, change) in sums.iter_mut().zip(&changes[1..]) {
            *sum += change;
        }
    }
    // Halved steps leave a quarter.
    assert!(sums[0] < 1e-2 && sums[1] < 0.3 * sums[0], "{sums:?}");
}

/// A ball passes another, and a box and a ball glide over the seams of slabs without friction as
/// over one slab.
#[test]
fn what_only_passes_is_not_held_back() {
    let [constraints, rigid, _] = methods();
    for (clearance, speed) in [(0.1, 100.0), (0.01, 10.0)] {
        let places = vec![0.0, 0.0, 100.0, -0.5 - speed * 0.005, 0.2 + clearance, 100.0];
        let mut world = World::new(vec![ball(0.1, 1.0), ball(0.1, 1.0)], places, 0.01);
        world.scene.gravity = 0.0;
        world.velocities[6] = speed;
        for _ in 0..40 {
            world.step(&constraints);
        }
        assert!(world.velocities[..6].iter().all(|&v| v == 0.0), "{:?}", &world.velocities[..3]);
    }
    for method in [&constraints, &rigid] {
        for body in [cuboid([0.2, 0.2, 0.2], 1.0), ball(0.1, 1.0)] {
            let mut bodies = vec![body];
            let mut places = vec![0.0, 0.0, 0.2];
            for i in 0..10 {
                bodies.push(Body { is_fixed: true, ..cuboid([0.3, 1.0, 0.1], 1.0) });
                places.extend([0.3 * f64::from(i), 0.0, 0.05]);
            }
            let mut world = World::new(bodies, places, 0.01);
            world.scene.friction = 0.0;
            world.velocities[0] = 2.0;
            for _ in 0..100 {
                world.step(method);
            }
            let (x, v) = (world.positions[0], world.velocities[0]);
            assert!((x - 2.0).abs() < 1e-3 && (v - 2.0).abs() < 1e-3, "{x} m, {v} m/s");
            assert!((world.positions[2] - 0.2).abs() < 1e-4, "{}", world.positions[2]);
        }
    }
}

/// Free fall with spin: the height of semi-implicit Euler's, `½ g t (t + Δt)`, and a turn by ω t.
#[test]
fn bodies_that_touch_nothing_fall_and_turn() {
    for method in &methods() {
        let bodies = vec![ball(0.1, 1.0), cuboid([0.2, 0.2, 0.2], 2.0)];
        let mut world = World::new(bodies, vec![0.0, 0.0, 50.0, 3.0, 0.0, 60.0], 0.01);
        world.velocities[3..6].copy_from_slice(&[0.0, 0.0, 2.0]);
        world.velocities[9..12].copy_from_slice(&[0.0, 0.0, 2.0]);
        for _ in 0..100 {
            world.step(method);
        }
        let step = if let Method::Compliant(..) = method { 1e-4 } else { 0.01 };
        for (z, start) in [(world.positions[2], 50.0), (world.positions[5], 60.0)] {
            assert!((start - z - 0.5 * G * (1.0 + step)).abs() < 1e-9, "{z}");
        }
        for q in world.orientations.chunks_exact(4) {
            assert!((q[0] - libm::cos(1.0)).abs() < 1e-9 && (q[3] - libm::sin(1.0)).abs() < 1e-9);
        }
    }
}

/// A box on a box on the ground with a ball on top, by three methods: at rest the same places
/// within the springs' sink, the ground bears the weight.
#[test]
fn a_stack_rests_equally_by_all_methods() {
    let heights: Vec<Vec<f64>> = methods()
        .iter()
        .map(|method| {
            let bodies =
                vec![cuboid([0.4, 0.4, 0.2], 2.0), cuboid([0.2, 0.2, 0.2], 1.0), ball(0.1, 1.0)];
            let places = vec![0.0, 0.0, 0.101, 0.05, 0.0, 0.302, 0.05, 0.0, 0.503];
            let mut world = World::new(bodies, places, 0.01);
            let mut last = world.energy();
            for k in 0..150 {
                world.step(method);
                let now = world.energy();
                assert!(now <= last + 1e-3, "{k}: {last} {now}");
                last = now;
            }
            assert!((world.load / (4.0 * G) - 1.0).abs() < 1e-3, "{}", world.load);
            let speed = world.velocities.iter().fold(0.0f64, |most, v| most.max(v.abs()));
            // The ball may roll, off its middle by what the impact shifted it.
            assert!(speed < 2e-3, "{speed:e}");
            world.positions
        })
        .collect();
    // Ball on box: 9.81 N on one spring; box on box: 19.6 N on four; box on ground: 39.2 N on four.
    let sink = |n: f64| n * G / 1e7;
    let exact = [0.1 - sink(1.0), 0.3 - sink(1.5), 0.5 - sink(2.5)];
    for (method, places) in heights.iter().enumerate() {
        for (i, exact) in exact.iter().enumerate() {
            let z = places[3 * i + 2];
            assert!((z - exact).abs() < 1e-7, "method {method}, body {i}: {z} {exact}");
        }
    }
}

/// However large the friction is, a ball that slides onto rough ground rolls on at 5/7 of its
/// speed, and a box stops.
#[test]
fn friction_without_limit_is_friction() {
    for friction in [1.0, 20.0, 50.0, 100.0, 1e4, 1e8, 1e15] {
        let bodies = vec![ball(0.1, 1.0), cuboid([0.4, 0.4, 0.1], 1.0)];
        let mut world = World::new(bodies, vec![0.0, 0.0, 0.1, 5.0, 0.0, 0.05], 0.01);
        world.scene.friction = friction;
        (world.velocities[0], world.velocities[6]) = (1.0, 0.5);
        for _ in 0..100 {
            world.step(&methods()[0]);
            assert_eq!(world.failures, 0, "{friction}");
        }
        let (v, z) = (world.velocities[0], world.positions[2]);
        assert!((v - 5.0 / 7.0).abs() < 1e-4 && (z - 0.1).abs() < 1e-5, "{friction}: {v} {z}");
        let speed = world.velocities[6..].iter().fold(0.0f64, |most, v| most.max(v.abs()));
        assert!(speed < 1e-4 && (world.positions[5] - 0.05).abs() < 1e-5, "{friction}: {speed}");
        assert!((world.load / (2.0 * G) - 1.0).abs() < 1e-3, "{friction}: {}", world.load);
    }
}

/// Forty balls and boxes dropped into a bin of fixed boxes: energy does not grow, nothing sinks in,
/// all comes to rest, and ground and walls bear it.
#[test]
fn a_pile_settles() {
    let mut random = Random::new(22);
    let mut bodies: Vec<Body> = (0..40)
        .map(|i| if i % 2 == 0 { ball(0.1, 1.0) } else { cuboid([0.16, 0.16, 0.16], 1.0) })
        .collect();
    let mut places: Vec<f64> = (0..40)
        .flat_map(|i: usize| {
            let mut along = |k: usize| 0.3 * (k as f64 - 0.5) + 0.06 * random.uniform();
            [along(i % 2), along(i / 2 % 2), 0.2 + 0.3 * (i / 4) as f64]
        })
        .collect();
    for (size, place) in [
        ([1.2, 0.2, 1.0], [0.0, 0.4, 0.5]),
        ([1.2, 0.2, 1.0], [0.0, -0.4, 0.5]),
        ([0.2, 0.6, 1.0], [0.4, 0.0, 0.5]),
        ([0.2, 0.6, 1.0], [-0.4, 0.0, 0.5]),
    ] {
        bodies.push(Body { is_fixed: true, ..cuboid(size, 1.0) });
        places.extend(place);
    }
    let mut world = World::new(bodies, places, 0.01);
    let method = Method::Constraints(Elasticity::Hertz { modulus: 1e8, edge_radius: 0.01 }, 100.0);
    let (mut last, mut most, mut deepest) = (world.energy(), 0.0f64, 0.0f64);
    for _ in 0..400 {
        world.step(&method);
        most = most.max(world.energy() - last);
        last = world.energy();
        deepest = deepest.max(world.penetration);
    }
    let linear = world.velocities.chunks_exact(DOF).flat_map(|v| &v[..3]);
    let speed = linear.fold(0.0f64, |most, v| most.max(v.abs()));
    // Of 608 J at the start; springs give back what they took.
    assert!(most < 1e-2, "gains {most:e} J");
    assert!((world.load / (40.0 * G) - 1.0).abs() < 0.02, "{}", world.load / G);
    assert!(speed < 0.03 && deepest < 2e-3, "{speed:e} {deepest:e}");
    assert!(world.failures < 5, "{} steps not solved under Coulomb's law", world.failures);
}
