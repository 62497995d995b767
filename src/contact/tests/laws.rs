//! Laws of rigid contact: bodies that rest, slide, roll, fall and strike, against closed forms.
//!
//! One file, because all laws share the scenes and the rig at its beginning.

#![allow(clippy::unwrap_used, reason = "a test may stop")]

use legwork_contact::{
    ContactAssembly, ContactPoint, ContactRows, Ground, Impact, ImpactMode, ImpactProblem, Plane,
    RecoveryLimit, point_jacobian_into, rotate_rows_into, sphere_on_plane, vertex_on_plane,
};
use legwork_mechanics::{ClosedChain, PackedFactor, pack_dense, product};
use legwork_qp::problems::Random;
use legwork_qp::{
    ClarabelSolver, Cone, ConeShape, ContactMethod, ContactProblemData, CoulombFixedPoint,
    ProjectedGaussSeidel, PyramidActiveSet, PyramidFit, Status, kkt,
};
use nalgebra::Vector3;

const G: f64 = 9.81;

fn pyramid(sides: usize) -> ConeShape {
    ConeShape::new(Cone::Pyramid { sides, fit: PyramidFit::Circumscribed }).unwrap()
}

/// A free rigid body with a diagonal inertia that does not turn with it (sphere, or small
/// rotations).
struct Body {
    mass: f64,
    inertia: Vector3<f64>,
    position: Vector3<f64>,
    /// (linear, angular).
    velocity: [f64; 6],
}

impl Body {
    fn mass(&self, i: usize) -> f64 {
        if i < 3 { self.mass } else { self.inertia[i - 3] }
    }

    fn kinetic_energy(&self) -> f64 {
        (0..6).map(|i| 0.5 * self.mass(i) * self.velocity[i] * self.velocity[i]).sum()
    }

    fn linear(&self) -> Vector3<f64> {
        Vector3::new(self.velocity[0], self.velocity[1], self.velocity[2])
    }

    fn jacobian(&self, points: &[ContactPoint]) -> Vec<f64> {
        let rows = 3 * points.len();
        let mut jacobian = vec![0.0; 6 * rows];
        let mut identity = [0.0; 36];
        (0..6).for_each(|i| identity[7 * i] = 1.0);
        for (index, point) in points.iter().enumerate() {
            let mut world = [0.0; 18];
            point_jacobian_into(&identity, &(point.position - self.position), &mut world);
            rotate_rows_into(&point.frame, &world, index, rows, &mut jacobian);
        }
        jacobian
    }

    /// The problem of these points: `b = J ν̇_f + J ν/Δt` under gravity, the latter only if there
    /// is a step, and the ground's terms.
    fn assemble(
        &self,
        points: &[ContactPoint],
        active: &[f64],
        (friction, cone): (f64, &ConeShape),
        time_step: Option<f64>,
        ground: Option<&Ground>,
    ) -> Assembled {
        let mut mass = [0.0; 36];
        (0..6).for_each(|i| mass[7 * i] = self.mass(i));
        let (mut packed, mut tree) = ([0.0; 42], PackedFactor::new(6));
        pack_dense(&mut mass, &mut packed).unwrap();
        let factor = tree.read(&packed).unwrap();
        let mut data = ContactProblemData::new(points.len(), cone.clone());
        data.friction.fill(friction);
        data.active.copy_from_slice(active);
        data.force_scale = self.mass * G / points.len() as f64;
        data.regularisation = 0.0;
        let mut jacobian = self.jacobian(points);
        if let Some(time_step) = time_step {
            product(&jacobian, &self.velocity.map(|v| v / time_step), &mut data.bias);
        }
        for (i, _) in active.iter().enumerate().filter(|(_, active)| **active == 0.0) {
            let columns = jacobian.chunks_exact_mut(3 * points.len());
            columns.for_each(|column| column[3 * i..3 * i + 3].fill(0.0));
        }
        let mut motion = [0.0, 0.0, -G * self.mass, 0.0, 0.0, 0.0];
        factor.half_solve_in_place(&mut motion);
        let mut assembly = ContactAssembly::new(points.len(), 6);
        let mut rows = ContactRows {
            active,
            jacobian: &mut jacobian,
            bias: &mut data.bias,
            inverse_inertia: &mut data.inverse_inertia,
            was_active: None,
            friction: &mut data.friction,
        };
        assembly.respond(factor, &mut motion, &mut ClosedChain::new(0, 6, 0), &mut rows);
        let gaps: Vec<f64> = points.iter().map(|p| p.gap).collect();
        data.compliance.resize(data.bias.len(), 0.0);
        assembly.yield_rows(
            ground.map(|ground| (ground, &gaps[..])),
            time_step.unwrap_or(1.0),
            1e-10,
            &data.inverse_inertia,
            (&mut data.bias, &mut data.compliance),
        );
        Assembled { data, jacobian, assembly, packed }
    }

    /// One velocity-level step under gravity; returns the contact forces.
    fn step(
        &mut self,
        points: &[ContactPoint],
        friction: f64,
        cone: &ConeShape,
        solver: &mut dyn ContactMethod,
        dt: f64,
    ) -> Vec<f64> {
        let (all, ground) = (vec![1.0; points.len()], Ground::default());
        let mut assembled = self.assemble(points, &all, (friction, cone), Some(dt), Some(&ground));
        let mut forces = vec![0.0; 3 * points.len()];
        let outcome = solver.solve(&assembled.data.view(), &mut forces);
        assert!(outcome.status.is_usable(), "{outcome:?}");
        self.velocity[2] -= dt * G;
        assembled.push(&forces, dt, &mut self.velocity);
        self.position += dt * self.linear();
        forces
    }
}

/// A problem, and what it was made by.
struct Assembled {
    data: ContactProblemData,
    jacobian: Vec<f64>,
    assembly: ContactAssembly,
    packed: [f64; 42],
}

impl Assembled {
    /// `ν += scale M⁻¹ Jᵀ f`.
    fn push(&mut self, forces: &[f64], scale: f64, velocity: &mut [f64; 6]) {
        let mut motion = [0.0; 6];
        self.assembly.add_forces(forces, &mut motion);
        let mut tree = PackedFactor::new(6);
        tree.read(&self.packed).unwrap().half_solve_transposed_in_place(&mut motion);
        velocity.iter_mut().zip(motion).for_each(|(v, change)| *v += scale * change);
    }
}

fn particle(position: Vector3<f64>, velocity: Vector3<f64>) -> Body {
    Body {
        mass: 2.0,
        // A vertex at the centre of mass never turns the body.
        inertia: Vector3::repeat(1.0),
        position,
        velocity: [velocity.x, velocity.y, velocity.z, 0.0, 0.0, 0.0],
    }
}

fn solvers() -> Vec<(&'static str, ConeShape, Box<dyn ContactMethod>)> {
    vec![
        ("active set", pyramid(4), Box::new(PyramidActiveSet::new(1, 4))),
        ("clarabel", ConeShape::circular(), Box::new(ClarabelSolver::new(1e-10, 100))),
        (
            "coulomb by active set",
            pyramid(4),
            Box::new(CoulombFixedPoint::new(PyramidActiveSet::new(1, 4), 1, 60, 1e-9)),
        ),
        (
            "coulomb by gauss-seidel",
            ConeShape::circular(),
            Box::new(CoulombFixedPoint::new(
                ProjectedGaussSeidel::new(1, 5000, 1e-11),
                1,
                60,
                1e-9,
            )),
        ),
        (
            "gauss-seidel",
            ConeShape::circular(),
            Box::new(ProjectedGaussSeidel::new(1, 5000, 1e-10)),
        ),
    ]
}

#[test]
fn a_sliding_mass_stops_after_v_squared_over_two_mu_g() {
    let (mu, speed, dt) = (0.5, 2.0, 1e-3);
    for (name, cone, mut solver) in solvers() {
        let mut body = particle(Vector3::zeros(), Vector3::x() * speed);
        let mut highest = 0.0f64;
        for _ in 0..1000 {
            let point = vertex_on_plane(&body.position, &Plane::default());
            body.step(&[point], mu, &cone, &mut *solver, dt);
            assert!(body.position.z > -1e-9, "{name}: sank to {}", body.position.z);
            highest = highest.max(body.position.z);
        }
        let expected = speed * speed / (2.0 * mu * G);
        let error = body.position.x / expected - 1.0;
        assert!(error.abs() < 0.01, "{name}: off by {:.2} %", 100.0 * error);
        assert!(body.linear().norm() < 1e-6, "{name}: still at {}", body.linear().norm());
        // The convex relaxation throws the mass off the ground at μ v; Coulomb's law does not.
        let is_coulomb = name.starts_with("coulomb");
        let bound = if is_coulomb { 1e-7 } else { 1.05 * (mu * speed).powi(2) / (2.0 * G) };
        assert!(highest < bound, "{name}: rose to {highest:.1e}");
    }
}

/// Touchdown at an angle: with Coulomb's law the foot stays on the ground after the step in which
/// it lands, and the friction impulse is at most μ times the normal one.
#[test]
fn an_oblique_touchdown_does_not_bounce() {
    let mu = 0.7;
    for (name, cone, mut solver) in solvers().into_iter().filter(|s| s.0.starts_with("coulomb")) {
        for slip in [0.1, 0.5, 3.0] {
            let mut body = particle(Vector3::new(0.0, 0.0, 5e-4), Vector3::new(slip, 0.0, -0.8));
            let mut landed = false;
            for _ in 0..50 {
                let point = vertex_on_plane(&body.position, &Plane::default());
                let forces = body.step(&[point], mu, &cone, &mut *solver, 1e-3);
                landed |= forces[2] > 0.0;
                let height = body.position.z;
                assert!(!landed || height.abs() < 1e-7, "{name}, slip {slip}: at {height:.1e}");
            }
            assert!(landed);
            // Impulse of the landing and 50 steps of weight brake the slip by μ times the normal
            // impulse.
            let expected = (slip - mu * (0.8 + G * 0.05)).max(0.0);
            let found = body.velocity[0];
            assert!((found - expected).abs() < 0.01, "{name}, slip {slip}: {found} {expected}");
        }
    }
}

#[test]
fn a_slope_holds_below_the_friction_angle_and_accelerates_above_it() {
    let (mu, dt, steps): (f64, f64, i32) = (0.5, 1e-3, 500);
    for (name, cone, mut solver) in solvers() {
        for (tangent, azimuth) in [(0.3f64, 0.0f64), (0.49, 0.7), (0.7, 0.0), (1.2, 0.0)] {
            let normal = Vector3::new(tangent * azimuth.cos(), tangent * azimuth.sin(), 1.0);
            let plane = Plane::new(Vector3::new(0.1, -0.2, 0.3), normal).unwrap();
            let mut body = particle(plane.point, Vector3::zeros());
            for _ in 0..steps {
                let point = vertex_on_plane(&body.position, &plane);
                body.step(&[point], mu, &cone, &mut *solver, dt);
            }
            let time = dt * f64::from(steps);
            let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
            let expected = (G * cosine * (tangent - mu)).max(0.0) * time;
            let found = body.linear().norm();
            // The gap of the relaxation grows with the speed, which costs Δt μ a along the normal.
            assert!(
                (found - expected).abs() < 0.01 * expected + 1e-5,
                "{name}, slope {tangent}: {found} instead of {expected}"
            );
        }
    }
}

/// A sphere set down with slip ends rolling at 5/7 of its speed, whatever the friction.
#[test]
fn a_slipping_sphere_ends_rolling_at_five_sevenths() {
    let (radius, mass, speed) = (0.1, 3.0, 1.0);
    for (name, cone, mut solver) in solvers() {
        let mut body = Body {
            mass,
            inertia: Vector3::repeat(0.4 * mass * radius * radius),
            position: Vector3::new(0.0, 0.0, radius),
            velocity: [speed, 0.0, 0.0, 0.0, 0.0, 0.0],
        };
        for _ in 0..500 {
            let point = sphere_on_plane(&body.position, radius, &Plane::default());
            body.step(&[point], 0.2, &cone, &mut *solver, 1e-3);
        }
        let rolling = body.velocity[4] * radius;
        let v = body.velocity[0];
        assert!((v - 5.0 / 7.0 * speed).abs() < 1e-3, "{name}: rolls at {v}");
        assert!((rolling - v).abs() < 1e-6, "{name}: slips by {}", rolling - v);
    }
}

#[test]
fn a_dropped_box_lands_without_penetration_and_rests_on_four_corners() {
    let corners = [[0.2, 0.1], [0.2, -0.1], [-0.2, 0.1], [-0.2, -0.1]];
    let cone = pyramid(4);
    let mut solver = PyramidActiveSet::new(4, 4);
    let mut body = Body {
        mass: 9.0,
        inertia: Vector3::new(0.07, 0.26, 0.24),
        position: Vector3::new(0.0, 0.0, 0.35),
        velocity: [0.3, -0.1, 0.0, 0.0, 0.0, 0.0],
    };
    let mut energy = body.kinetic_energy() + body.mass * G * body.position.z;
    let (mut forces, mut gaps) = (Vec::new(), Vec::new());
    for _ in 0..1500 {
        let points: Vec<_> = corners
            .iter()
            .map(|c| {
                let corner = body.position + Vector3::new(c[0], c[1], -0.3);
                vertex_on_plane(&corner, &Plane::default())
            })
            .collect();
        forces = body.step(&points, 0.7, &cone, &mut solver, 1e-3);
        // Rotations are not integrated here; symmetric corners keep them at rounding.
        body.velocity[3..].fill(0.0);
        gaps = points.iter().map(|p| p.gap).collect();
        assert!(gaps.iter().all(|&gap| gap > -1e-9), "{gaps:?}");
        let now = body.kinetic_energy() + body.mass * G * body.position.z;
        assert!(now < energy + 1e-9, "energy grew by {:.1e} J", now - energy);
        energy = now;
    }
    // At rest the forces carry the weight, act at a closed gap only and use no friction.
    let weight = body.mass * G;
    let along = |axis: usize| forces.iter().skip(axis).step_by(3).sum::<f64>();
    for (axis, expected) in [(0, 0.0), (1, 0.0), (2, weight)] {
        assert!((along(axis) - expected).abs() < 1e-8 * weight, "{axis}: {forces:?}");
    }
    for (force, gap) in forces.chunks_exact(3).zip(&gaps) {
        assert!((force[2] * gap).abs() < 1e-9, "{force:?} at {gap}");
        assert!(force[0].hypot(force[1]) < 0.01 * 0.7 * force[2].max(0.1), "{force:?}");
    }
    assert!(body.kinetic_energy() < 1e-15);
}

/// However deep, a body leaves the ground no faster than the limit, and in the end does leave it.
#[test]
fn recovery_from_penetration_is_slow_and_complete() {
    for depth in [1e-5, 1e-3, 2e-2] {
        let mut body = particle(Vector3::new(0.0, 0.0, -depth), Vector3::zeros());
        let mut solver = PyramidActiveSet::new(1, 4);
        let limit = RecoveryLimit::default().max_speed;
        for _ in 0..2000 {
            let point = vertex_on_plane(&body.position, &Plane::default());
            body.step(&[point], 0.7, &pyramid(4), &mut solver, 1e-3);
            assert!(body.velocity[2] <= limit * (1.0 + 1e-9), "leaves at {}", body.velocity[2]);
        }
        assert!(body.position.z.abs() < 1e-6, "from {depth}: at {}", body.position.z);
    }
    let frozen = RecoveryLimit { fraction: 0.2, max_speed: 0.0 };
    let frozen = Ground { spring: None, recovery: frozen };
    assert_eq!(frozen.terms(-1e-3, 1e-3), (0.0, 0.0));
    assert!((frozen.terms(1e-3, 1e-3).0 - 1e3).abs() < 1e-9);
}

/// The acceleration level without the term of eq. (13c) loses friction at constant speed; with it,
/// a contact at speed is braked.
#[test]
fn the_acceleration_level_needs_its_velocity_term_for_friction() {
    let body = particle(Vector3::zeros(), Vector3::x());
    let point = vertex_on_plane(&body.position, &Plane::default());
    let cone = pyramid(4);
    let solve = |time_step, closed: f64| {
        let data = body.assemble(&[point], &[closed], (0.5, &cone), time_step, None).data;
        let mut forces = [0.0; 3];
        let outcome = PyramidActiveSet::new(1, 4).solve(&data.view(), &mut forces);
        assert_eq!(outcome.status, Status::Solved);
        forces
    };
    for (closed, expected) in [(1.0, [0.0, 0.0, body.mass * G]), (0.0, [0.0; 3])] {
        let forces = solve(None, closed);
        for axis in 0..3 {
            assert!((forces[axis] - expected[axis]).abs() < 1e-7, "{forces:?} {expected:?}");
        }
    }
    let forces = solve(Some(1e-3), 1.0);
    assert!((forces[0] + 0.5 * forces[2]).abs() < 1e-9 * forces[2], "not on the cone: {forces:?}");
}

#[test]
fn impacts_never_raise_kinetic_energy_and_keep_their_mode() {
    let mut random = Random::new(11);
    for trial in 0..200 {
        let count = 1 + random.below(6);
        let mut body = Body {
            mass: 9.0,
            inertia: Vector3::new(0.07, 0.26, 0.24),
            position: Vector3::new(0.0, 0.0, 0.3),
            velocity: std::array::from_fn(|_| random.normal()),
        };
        body.velocity[2] -= 1.0;
        let normal = Vector3::new(0.3 * random.normal(), 0.3 * random.normal(), 1.0);
        let plane = Plane::new(Vector3::zeros(), normal).unwrap();
        let points: Vec<_> = (0..count)
            .map(|_| {
                let x = Vector3::new(0.4 * random.uniform() - 0.2, 0.3 * random.uniform(), 0.0);
                vertex_on_plane(&x, &plane)
            })
            .collect();
        let closed: Vec<f64> = (0..count).map(|i| f64::from(u8::from(i % 3 != 2))).collect();
        let friction = vec![0.6; count];
        let cone = pyramid(8);
        let mut assembled = body.assemble(&points, &closed, (0.6, &cone), None, None);
        let jacobian = body.jacobian(&points);
        let inertia = assembled.data.inverse_inertia.clone();
        let mut velocity = vec![0.0; 3 * count];
        product(&jacobian, &body.velocity, &mut velocity);
        let input = ImpactProblem {
            inverse_inertia: &inertia,
            velocity: &velocity,
            friction: &friction,
            closed: &closed,
            impulse_scale: 9.0,
        };
        let before = body.kinetic_energy();
        let start = body.velocity;
        let mut bound = 0.0;
        for mode in [
            ImpactMode::Stick,
            ImpactMode::NormalOnly,
            ImpactMode::Frictional,
            ImpactMode::TwoPhase,
        ] {
            body.velocity = start;
            let mut impulses = vec![0.0; 3 * count];
            let mut impact = Impact::new(mode, count, pyramid(8));
            let mut solver = PyramidActiveSet::new(count, 8);
            let outcome = impact.apply(&input, &mut solver, &mut impulses);
            assembled.push(&impulses, 1.0, &mut body.velocity);
            let what = format!("trial {trial}, {mode:?}, {count} contacts");
            assert_eq!(outcome.status, Status::Solved, "{what}: {outcome:?}");
            let growth = body.kinetic_energy() - before;
            assert!(growth <= 1e-14 * before, "{what}: energy grew by {growth:.1e}");
            let pushed: f64 = impulses.iter().skip(2).step_by(3).sum();
            let mut after = vec![0.0; 3 * count];
            product(&jacobian, &body.velocity, &mut after);
            for contact in 0..count {
                let f = &impulses[3 * contact..3 * contact + 3];
                let v = &after[3 * contact..3 * contact + 3];
                if closed[contact] == 0.0 {
                    assert_eq!(f, [0.0; 3], "{what}");
                    continue;
                }
                match mode {
                    ImpactMode::Stick => {
                        assert!(v.iter().all(|v| v.abs() < 1e-9), "{what}: {v:?}");
                    }
                    ImpactMode::NormalOnly => {
                        assert_eq!(f[..2], [0.0; 2], "{what}");
                        assert!(f[2] >= 0.0 && v[2] > -1e-12, "{what}: {f:?} {v:?}");
                    }
                    ImpactMode::Frictional | ImpactMode::TwoPhase => {
                        let force = [f[0], f[1], f[2]];
                        assert!(pyramid(8).violation(0.6, force) < 1e-8, "{what}: {f:?}");
                        assert!(v[2] > -1e-12, "{what}: {v:?}");
                    }
                }
            }
            match mode {
                ImpactMode::NormalOnly => bound = pushed,
                ImpactMode::TwoPhase => {
                    assert!(pushed < bound + 1e-7, "{what}: {pushed} of {bound}");
                }
                _ => {}
            }
        }
    }
}

/// Stick equals the projection of eq. (8), `M (ν⁺ - ν⁻) = Jᵀ F` with `J ν⁺ = 0`.
#[test]
fn a_sticking_corner_keeps_its_moment_of_momentum() {
    // A rod that falls flat on one end: angular momentum about that end is conserved.
    let (mass, half, speed) = (1.2, 0.5, 3.0);
    let inertia = mass * half * half / 3.0;
    let mut body = Body {
        mass,
        inertia: Vector3::repeat(inertia),
        position: Vector3::zeros(),
        velocity: [0.0, 0.0, -speed, 0.0, 0.0, 0.0],
    };
    let end = vertex_on_plane(&Vector3::new(half, 0.0, 0.0), &Plane::default());
    let mut assembled = body.assemble(&[end], &[1.0], (0.5, &pyramid(4)), None, None);
    let mut velocity = [0.0; 3];
    product(&assembled.jacobian, &body.velocity, &mut velocity);
    let input = ImpactProblem {
        inverse_inertia: &assembled.data.inverse_inertia,
        velocity: &velocity,
        friction: &[0.5],
        closed: &[1.0],
        impulse_scale: 1.0,
    };
    let mut impulses = [0.0; 3];
    let outcome = Impact::new(ImpactMode::Stick, 1, pyramid(4)).apply(
        &input,
        &mut PyramidActiveSet::default(),
        &mut impulses,
    );
    assembled.push(&impulses, 1.0, &mut body.velocity);
    assert_eq!(outcome.status, Status::Solved);
    let spin = mass * half * speed / (inertia + mass * half * half);
    assert!((body.velocity[4].abs() - spin).abs() < 1e-12, "{:?} {spin}", body.velocity);
    assert!((impulses[2] - mass * (speed - spin * half)).abs() < 1e-12);
}

/// G maps an impulse to the velocity jump `J M⁻¹ Jᵀ F` that it causes, b is the velocity over Δt
/// without one, rows that do not matter are zero, and the judge of solvers accepts the problem.
#[test]
fn the_assembled_problem_is_what_the_judge_expects() {
    let body = particle(Vector3::zeros(), Vector3::new(0.1, 0.0, -0.2));
    let points: Vec<_> = [0.1, -0.1, 0.3]
        .iter()
        .map(|x| vertex_on_plane(&Vector3::new(*x, 0.0, 0.0), &Plane::default()))
        .collect();
    for active in [[1.0, 1.0, 1.0], [1.0, 0.0, 1.0]] {
        let (cone, ground) = (pyramid(4), Ground::default());
        let assembled = body.assemble(&points, &active, (0.5, &cone), Some(1e-3), Some(&ground));
        let (data, jacobian) = (&assembled.data, body.jacobian(&points));
        let row = |i: usize| -> [f64; 6] { std::array::from_fn(|c| jacobian[9 * c + i]) };
        for i in 0..9 {
            let acts = active[i / 3] != 0.0;
            let free: f64 = (0..6).map(|c| row(i)[c] * body.velocity[c] / 1e-3).sum();
            let free = free - row(i)[2] * G;
            let expected = if acts { free } else { 0.0 };
            assert!((data.bias[i] - expected).abs() < 1e-10, "b {i}: {} {expected}", data.bias[i]);
            for j in 0..9 {
                let g: f64 = (0..6).map(|c| row(i)[c] * row(j)[c] / body.mass(c)).sum();
                let expected = if acts && active[j / 3] != 0.0 { g } else { 0.0 };
                let found = data.inverse_inertia[9 * j + i];
                assert!((found - expected).abs() < 1e-14, "G {i} {j}: {found} {expected}");
                assert_eq!(found, data.inverse_inertia[9 * i + j], "not symmetric");
            }
        }
        let mut forces = [0.0; 9];
        let outcome = PyramidActiveSet::default().solve(&data.view(), &mut forces);
        assert_eq!(outcome.status, Status::Solved);
        let residuals = kkt::contact_residuals(&data.view(), &forces, &mut [0.0; 9]);
        assert!(residuals.worst() < 1e-9, "{residuals:?}");
    }
}
