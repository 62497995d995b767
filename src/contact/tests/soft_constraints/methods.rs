//! The step as different problems: in velocities, in forces, and as the paper's program.

use crate::oracles::{RandomSystem, by, largest};
use legwork_contact::soft_constraints::{
    BodyIndex, ConstraintProblem, ConstraintSolution, Friction, FrictionLaw, Law, Method, Rows,
    SoftConstraintSolver, SolverOptions, SpringDamper, contact_problem,
};
use legwork_qp::problems::Random;
use legwork_qp::{
    Cone, ConeShape, ContactMethod, CoulombFixedPoint, PyramidActiveSet, PyramidFit, Status,
};

const CIRCULAR: Method = Method::Forces { cone: Cone::Circular };

fn pyramid(sides: usize) -> Cone {
    Cone::Pyramid { sides, fit: PyramidFit::Inscribed }
}

/// Bilateral, unilateral and contact rows of all stiffnesses, some of them twice, some of Hertz,
/// some without friction.
fn mixed(seed: u64) -> RandomSystem {
    let mut system = RandomSystem::new(seed, 6 + seed as usize % 7, 0.01);
    let pick = |i: usize| [1e3, 1e6, 1e10, 1e15][(seed as usize + i) % 4];
    for i in 0..seed as usize % 4 {
        let (rows, spring) = (system.rows(1), system.spring(pick(i)));
        for _ in 0..1 + i % 2 {
            system.problem.push(Rows::Dense(&rows), Law::Bilateral(spring));
        }
    }
    for i in 0..seed as usize % 3 {
        let (rows, spring) = (system.rows(1), system.spring(pick(i)));
        for _ in 0..1 + i % 2 {
            system.problem.push(Rows::Dense(&rows), Law::Unilateral(spring));
        }
    }
    for i in 0..1 + seed as usize % 3 {
        let (rows, mut law) = (system.rows(3), system.contact(pick(i)));
        if let Law::Contact(normal, friction) = &mut law {
            if (seed as usize + i).is_multiple_of(3) {
                normal.exponent = 1.5;
            }
            if seed.is_multiple_of(3) {
                friction.coefficient = 0.0;
            }
        }
        system.problem.push(Rows::Dense(&rows), law);
    }
    system
}

fn solve(problem: &ConstraintProblem, method: Method, law: FrictionLaw) -> ConstraintSolution {
    let options = SolverOptions { method, friction_law: law, ..SolverOptions::default() };
    let velocity = vec![0.0; problem.velocity_dim()];
    let mut solution = ConstraintSolution { velocity, ..ConstraintSolution::default() };
    let outcome = SoftConstraintSolver::new(options).solve(problem, &mut solution);
    assert!(outcome.status.is_usable(), "{method:?} {law:?}: {outcome:?}");
    solution
}

/// One law, whichever the unknowns: all kinds of rows, both laws of friction, K to 10¹⁵ N/m.
#[test]
fn the_law_in_forces_is_the_law_in_velocities() {
    let mut interior = 0;
    for seed in 0..150 {
        let system = mixed(seed);
        for law in [FrictionLaw::Coulomb, FrictionLaw::Associated] {
            let ours = solve(&system.problem, Method::Velocities, law);
            let theirs = solve(&system.problem, CIRCULAR, law);
            let is_interior = theirs.working_set.is_empty();
            // An interior point is that close; corners of a polyhedron are found exactly.
            let tolerance = if is_interior { 1e-5 } else { 1e-8 };
            interior += u32::from(is_interior);
            let scale = largest(&ours.velocity);
            for (a, b) in ours.velocity.iter().zip(&theirs.velocity) {
                assert!((a - b).abs() < tolerance * scale, "{seed} {law:?}: {a} {b}");
            }
            let scale = largest(&ours.forces).max(largest(system.problem.momentum()) / 0.01);
            for (a, b) in ours.forces.iter().zip(&theirs.forces) {
                assert!((a - b).abs() < tolerance * scale, "{seed} {law:?}: {a} {b}");
            }
        }
    }
    assert!((100..250).contains(&interior), "{interior}");
}

/// Pyramids against the contact solver for them, around which Coulomb's law is a fixed point.
#[test]
fn pyramids_are_those_of_the_contact_solvers() {
    let mut slid = 0;
    for seed in 0..60 {
        let mut system = RandomSystem::new(seed, 6 + seed as usize % 7, 0.01);
        for _ in 0..1 + seed % 3 {
            let (rows, law) = (system.rows(3), system.contact(1e5));
            system.problem.push(Rows::Dense(&rows), law);
        }
        let sides = 3 + seed as usize % 6;
        let cone = pyramid(sides);
        let ours = by(Method::Forces { cone }, &system.problem).forces;
        let shape = ConeShape::new(cone).unwrap();
        let data = contact_problem(&system.problem, shape.clone()).unwrap();
        let mut theirs = vec![0.0; ours.len()];
        let inner = PyramidActiveSet::new(ours.len() / 3, sides);
        let outcome = CoulombFixedPoint::new(inner, ours.len() / 3, 200, 1e-10)
            .solve(&data.view(), &mut theirs);
        assert!(outcome.status.is_usable(), "{seed}: {outcome:?}");
        let scale = largest(&theirs);
        for (a, b) in ours.iter().zip(&theirs) {
            assert!((a - b).abs() < 1e-5 * scale, "{seed}: {ours:?} {theirs:?}");
        }
        for (force, mu) in theirs.chunks_exact(3).zip(&data.friction) {
            let force = [force[0], force[1], force[2]];
            slid += u32::from(force[2] > 0.0 && shape.violation(0.999 * mu, force) > 0.0);
        }
    }
    assert!(slid > 5, "{slid}");
}

/// A pyramid of many sides is the cone, in both programs.
#[test]
fn pyramids_of_many_sides_are_the_cone() {
    for seed in 0..20 {
        let mut system = RandomSystem::new(seed, 6, 0.01);
        for _ in 0..2 {
            let (rows, law) = (system.rows(3), system.contact(1e4));
            system.problem.push(Rows::Dense(&rows), law);
        }
        for of in [(|cone| Method::Forces { cone }) as fn(Cone) -> Method, |cone| {
            Method::LeastForces { zeta: 1e9, cone }
        }] {
            let exact = by(of(Cone::Circular), &system.problem).forces;
            let pyramid = by(of(pyramid(64)), &system.problem).forces;
            let scale = largest(&exact).max(1e-6 * largest(system.problem.momentum()) / 0.01);
            for (a, b) in exact.iter().zip(&pyramid) {
                // The angle from a facet's middle to its edge.
                let turn = std::f64::consts::PI / 64.0;
                assert!((a - b).abs() < turn * scale, "{seed}: {exact:?} {pyramid:?}");
            }
        }
    }
}

/// Without cones the active set is the only memory: the method ends where it began, with less work
/// and the same answer.
#[test]
fn the_working_set_saves_the_changes() {
    for seed in 0..30 {
        let mut system = RandomSystem::new(seed, 8, 0.01);
        for _ in 0..6 {
            let (rows, spring) = (system.rows(1), system.spring(1e5));
            system.problem.push(Rows::Dense(&rows), Law::Unilateral(spring));
        }
        let cone = pyramid(4);
        for method in [Method::Forces { cone }, Method::LeastForces { zeta: 1.0, cone }] {
            let mut solver =
                SoftConstraintSolver::new(SolverOptions { method, ..SolverOptions::default() });
            let mut solution =
                ConstraintSolution { velocity: vec![0.0; 8], ..ConstraintSolution::default() };
            let cold = solver.solve(&system.problem, &mut solution);
            let first = solution.clone();
            let warm = solver.solve(&system.problem, &mut solution);
            assert_eq!((cold.status, warm.status), (Status::Solved, Status::Solved));
            assert!(warm.iterations <= cold.iterations, "{seed}: {warm:?} {cold:?}");
            assert_eq!(first.working_set, solution.working_set);
            let scale = largest(&first.forces);
            for (a, b) in first.forces.iter().zip(&solution.forces) {
                assert!((a - b).abs() < 1e-9 * scale, "{seed}: {a} {b}");
            }
        }
    }
}

/// A stiff block of 1 kg that is dragged over four feet of unequal friction, where slips do not
/// settle: every foot has Coulomb's force at its own normal force, and momentum is that of all of
/// them.
#[test]
fn feet_of_unequal_friction_slide_as_coulomb_says() {
    let h = 0.01;
    let feet = [[0.05, 0.1], [0.05, -0.1], [-0.05, -0.1], [-0.05, 0.1]];
    let mut solved = 0;
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let mut problem = ConstraintProblem::new(&[6], h);
        let mut mass = [0.0; 36];
        for (i, m) in [1.0, 1.0, 1.0, 3.5e-3, 1e-3, 4.2e-3].into_iter().enumerate() {
            mass[7 * i] = m;
        }
        problem.set_mass(BodyIndex(0), &mass);
        let speed = [0.5 * random.normal(), 0.5 * random.normal(), 0.0];
        let momentum = [speed[0], speed[1], -9.8 * h, 0.0, 0.0, 4e-3 * random.normal()];
        problem.momentum_mut().copy_from_slice(&momentum);
        let mut laws = Vec::new();
        for [x, y] in feet {
            // Columns of v, then of ω, of the point at (x, y, -2.5 cm).
            let g = [
                1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.025, y, -0.025, 0.0, -x, -y, x,
                0.0,
            ];
            let mu = [0.0, 0.1, 0.5, 0.9][random.below(4)];
            let normal = SpringDamper::new(-2.45e-6, 1e6, 1.0);
            let law = Law::Contact(normal, Friction::coulomb(mu, 1e6 / h));
            problem.push(Rows::Dense(&g), law);
            laws.push((g, mu));
        }
        for method in [Method::Velocities, CIRCULAR] {
            let solution = by(method, &problem);
            let v = &solution.velocity;
            let mut rest = momentum;
            for ((g, mu), f) in laws.iter().zip(solution.forces.chunks_exact(3)) {
                let u = [0, 1, 2].map(|i| (0..6).map(|j| g[3 * j + i] * v[j]).sum::<f64>());
                let spring = (2.45 - (1e6 * h + 1.0) * u[2]).max(0.0);
                assert!((f[2] - spring).abs() < 1e-4, "{seed} {method:?}: {} {spring}", f[2]);
                let (size, slip) = (f[0].hypot(f[1]), u[0].hypot(u[1]));
                assert!(size <= mu * f[2] * (1.0 + 1e-6) + 1e-6, "{seed} {method:?}: {f:?} {mu}");
                if slip > 1e-5 && *mu > 0.0 {
                    let power = f[0] * u[0] + f[1] * u[1];
                    let expected = -mu * f[2] * slip;
                    assert!(
                        (power - expected).abs() < 1e-4,
                        "{seed} {method:?}: {power} {expected}"
                    );
                }
                (0..6)
                    .for_each(|j| rest[j] += h * (0..3).map(|i| g[3 * j + i] * f[i]).sum::<f64>());
            }
            for j in 0..6 {
                assert!((rest[j] - mass[7 * j] * v[j]).abs() < 1e-7, "{seed} {method:?}: {rest:?}");
            }
            solved += 1;
        }
    }
    assert_eq!(solved, 600);
}

/// Rows without stiffness and damping push with their preload, which friction uses too.
#[test]
fn constant_rows_have_no_unknown() {
    let axes = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let pushed = SpringDamper { preload: 20.0, ..SpringDamper::new(0.0, 0.0, 0.0) };
    for cone in [Cone::Circular, Cone::Pyramid { sides: 4, fit: PyramidFit::Circumscribed }] {
        let mut problem = ConstraintProblem::new(&[3], 0.01);
        problem.momentum_mut()[0] = 1.0;
        problem.push(Rows::Dense(&axes), Law::Contact(pushed, Friction::coulomb(0.5, 1e6)));
        let solution = by(Method::Forces { cone }, &problem);
        let expected = [-10.0, 0.0, 20.0];
        for (force, expected) in solution.forces.iter().zip(expected) {
            assert!((force - expected).abs() < 1e-6, "{cone:?}: {:?}", solution.forces);
        }
    }
}

/// The least forces might press a contact in the air so that its friction brakes: they have those
/// that touch, or would within the step. Redundant rows share their load however stiff they are.
#[test]
fn least_forces_act_where_rows_touch_and_are_shared() {
    let axes = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    for cone in [Cone::Circular, pyramid(4)] {
        for (gap, touches) in [(0.1, false), (0.5e-3, true), (-1e-6, true)] {
            let mut problem = ConstraintProblem::new(&[3], 0.01);
            problem.set_momentum(&[1.0, 0.0, -0.1], &[0.0, 0.0, -9.8]);
            let normal = SpringDamper::new(gap, 1e6, 1.0);
            problem.push(Rows::Dense(&axes), Law::Contact(normal, Friction::coulomb(0.5, 1e4)));
            let force = by(Method::LeastForces { zeta: 100.0, cone }, &problem).forces;
            assert_eq!(force[2] > 0.0, touches, "{cone:?} at {gap}: {force:?}");
        }
    }
    for stiffness in [1e6, 1e12, 1e18] {
        let mut problem = ConstraintProblem::new(&[1], 0.1);
        problem.set_momentum(&[0.0], &[-9.8]);
        for _ in 0..2 {
            let law = Law::Bilateral(SpringDamper::new(0.0, stiffness, 1.0));
            problem.push(Rows::Dense(&[1.0]), law);
        }
        let cone = Cone::Circular;
        for method in [Method::Velocities, CIRCULAR, Method::LeastForces { zeta: 1.0, cone }] {
            let forces = by(method, &problem).forces;
            let held = 0.5 * 9.8 / (1.0 + 0.5 / (0.01 * stiffness + 0.1));
            assert!(
                forces.iter().all(|f| (f - held).abs() < 1e-6),
                "{method:?}: {forces:?} {held}"
            );
        }
    }
}

/// Invalid weights and cones are rejected.
#[test]
fn bad_programs_are_refused() {
    let problem = ConstraintProblem::new(&[1], 0.01);
    let outcome = |method| {
        let mut solution =
            ConstraintSolution { velocity: vec![0.0], ..ConstraintSolution::default() };
        let options = SolverOptions { method, ..SolverOptions::default() };
        SoftConstraintSolver::new(options).solve(&problem, &mut solution).status
    };
    for zeta in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let status = outcome(Method::LeastForces { zeta, cone: Cone::Circular });
        assert_eq!(status, Status::InvalidData, "{zeta}");
    }
    assert_eq!(outcome(Method::Forces { cone: pyramid(2) }), Status::UnsupportedCone);
}

/// A block of 1 kg on four feet that slides at 0.3 m/s, in the paper's numbers (B = 10⁶/h). The least
/// forces press on the feet until their friction brakes the block, by symmetry each as much: with
/// w = h/m, `f = c μ B v/(ζ + μ² + c² μ²)` in circular cones, c = 1 + 4 B w, unless the feet's
/// springs ask for more. For every ζ, from the paper's to where nothing presses.
#[test]
fn least_forces_in_circular_cones_hold_for_every_weight() {
    let (h, v, mu) = (0.01, 0.3, 0.25);
    let b = 1e6 / h;
    let feet = [[0.05, 0.1], [0.05, -0.1], [-0.05, -0.1], [-0.05, 0.1]];
    for exponent in 2..=14 {
        let zeta = libm::pow(10.0, f64::from(exponent));
        // Feet under the centre of mass, so that friction tilts nothing.
        let mut problem = ConstraintProblem::new(&[6], h);
        let mut mass = [0.0; 36];
        for (i, m) in [1.0, 1.0, 1.0, 3.5e-3, 1e-3, 4.2e-3].into_iter().enumerate() {
            mass[7 * i] = m;
        }
        problem.set_mass(BodyIndex(0), &mass);
        problem.momentum_mut().copy_from_slice(&[v, 0.0, -9.8 * h, 0.0, 0.0, 0.0]);
        for [x, y] in feet {
            let g = [
                1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, y, 0.0, 0.0, -x, -y, x, 0.0,
            ];
            let normal = SpringDamper::new(-2.45e-6, 1e6, 1.0);
            problem.push(Rows::Dense(&g), Law::Contact(normal, Friction::coulomb(mu, b)));
        }
        let solution = by(Method::LeastForces { zeta, cone: Cone::Circular }, &problem);
        let c = 1.0 + 4.0 * b * h;
        let pressed = c * mu * b * v / (zeta + mu * mu + c * c * mu * mu);
        for f in solution.forces.chunks_exact(3) {
            let normal = pressed.max(2.45);
            let expected = [-mu * normal, 0.0, normal];
            for (f, expected) in f.iter().zip(expected) {
                let error = (f - expected).abs();
                assert!(error < 1e-4 * normal, "1e{exponent}: {:?} {expected}", solution.forces);
            }
        }
    }
}
