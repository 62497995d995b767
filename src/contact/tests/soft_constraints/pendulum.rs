//! A pendulum in absolute coordinates, held by a point constraint, and one with a limit.

use super::bodies::{Body, World};
use legwork_contact::soft_constraints::{
    BodyIndex, ConstraintProblem, ConstraintSolution, Law, Rows, SoftConstraintSolver, SpringDamper,
};
use legwork_qp::Status;
use nalgebra::Vector3;

const G: f64 = 9.81;

/// Measurements of a run.
struct Swing {
    worst_deformation: f64,
    /// Largest energy above its start, over m g l.
    energy_gain: f64,
    body: Body,
}

/// Drumwright, section 4.4: released horizontally; `copies` of the constraint share its stiffness.
fn swing(time_step: f64, duration: f64, stiffness: f64, copies: usize, has_bias: bool) -> Swing {
    let length = 1.0;
    let bob = Body::new(1.0, Vector3::repeat(0.1), Vector3::new(length, 0.0, 0.0));
    let mut world = World::new(vec![bob], Vector3::new(0.0, 0.0, -G), time_step);
    let arm_in_body = Vector3::new(-length, 0.0, 0.0);
    let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
    let (mut worst, mut energy_gain) = (0.0_f64, f64::NEG_INFINITY);
    for _ in 0..(duration / time_step).round() as usize {
        world.begin();
        let body = &world.bodies[0];
        let arm = body.rotation * arm_in_body;
        let (deformation, bias) = (body.position + arm, body.point_bias(&arm));
        for _ in 0..copies {
            for (k, axis) in axes.iter().enumerate() {
                let rows = body.point_rows(&arm, &[*axis], 1.0);
                let mut row = SpringDamper::new(deformation[k], stiffness, 1.0);
                if has_bias {
                    row.rate_bias = bias[k];
                }
                world.problem.push(Rows::Dense(&rows), Law::Bilateral(row));
            }
        }
        let _ = world.finish();
        let body = &world.bodies[0];
        let deformation = body.position + body.rotation * arm_in_body;
        worst = worst.max(deformation.norm());
        // Leap-frog's energy: positions belong half a step later than velocities.
        let height = body.position.z - 0.5 * time_step * body.linear.z;
        energy_gain = energy_gain.max((body.kinetic_energy() + G * height) / (G * length));
    }
    Swing { worst_deformation: worst, energy_gain, body: world.bodies[0].clone() }
}

/// The constraint error is O(h²) at a stiffness that only an implicit method survives: over six
/// decades of deformation, with the rate bias and without.
#[test]
fn the_constraint_error_is_of_second_order_at_any_stiffness() {
    for has_bias in [true, false] {
        let runs = [0.1, 0.01, 1e-3, 1e-4].map(|h| (h, swing(h, 1.0, 1e15, 1, has_bias)));
        for pair in runs.windows(2) {
            let ((coarse, a), (_, b)) = (&pair[0], &pair[1]);
            let ratio = a.worst_deformation / b.worst_deformation;
            // h = 0.1 is a seventh of a radian per step and more: not yet in the limit.
            let (low, high) = if *coarse > 0.05 { (50.0, 200.0) } else { (95.0, 105.0) };
            assert!(ratio > low && ratio < high, "{coarse}: {ratio}");
        }
        let (h, finest) = &runs[3];
        assert!(finest.energy_gain.abs() < 3.0 * h, "{}", finest.energy_gain);
        assert!(finest.worst_deformation < 2e-7);
    }
}

/// Without rate bias nothing grows in two hundred seconds at h = 0.1, whatever the stiffness; with
/// it, which is the paper's equation, the frozen centripetal term feeds the swing.
#[test]
fn a_coarse_stiff_pendulum_is_stable_without_rate_bias() {
    for stiffness in [1e6, 1e12, 1e15] {
        let run = swing(0.1, 200.0, stiffness, 1, false);
        assert!(run.worst_deformation < 0.1, "{stiffness:.0e}: {}", run.worst_deformation);
        assert!(run.energy_gain < 0.1, "{stiffness:.0e}: {}", run.energy_gain);
    }
    let biased = swing(0.1, 3.0, 1e15, 1, true);
    assert!(biased.energy_gain > 0.5, "{}", biased.energy_gain);
}

/// Twice the same constraint of half the stiffness, and twenty times of the full one, give the same
/// motion up to the effect of the stiffness.
#[test]
fn redundant_constraints_do_not_change_the_motion() {
    let single = swing(0.01, 1.0, 1e15, 1, true);
    for (copies, stiffness) in [(2, 0.5e15), (2, 1e15), (20, 1e15)] {
        let many = swing(0.01, 1.0, stiffness, copies, true);
        let error = (many.body.position - single.body.position).norm();
        assert!(error < 1e-9, "{copies}: {error:.1e}");
    }
}

/// Section 5.4: angle of a point mass under a limit θ ≥ 0; time and speed at the impact, and the
/// speed that it leaves at.
fn limit(time_step: f64, stiffness: f64) -> (f64, f64) {
    let mut problem = ConstraintProblem::new(&[1], time_step);
    let mut solver = SoftConstraintSolver::default();
    let mut solution = ConstraintSolution { velocity: vec![0.0], ..Default::default() };
    let mut theta = std::f64::consts::FRAC_PI_2;
    let (mut has_struck, mut lowest) = (false, theta);
    for _ in 0..(2.0 / time_step) as usize {
        problem.clear();
        let velocity = [solution.velocity[0]];
        problem.set_momentum(&velocity, &[-G * libm::sin(theta)]);
        let row = SpringDamper::new(theta, stiffness, 0.0);
        problem.push(Rows::Dense(&[1.0]), Law::Unilateral(row));
        assert_eq!(solver.solve(&problem, &mut solution).status, Status::Solved);
        theta += time_step * solution.velocity[0];
        lowest = lowest.min(theta);
        let is_leaving = solution.velocity[0] >= 0.0;
        if solution.forces[0] > 0.0 {
            has_struck = true;
        }
        if has_struck && solution.forces[0] == 0.0 && is_leaving {
            return (solution.velocity[0], lowest);
        }
        if has_struck && time_step >= 1e-4 && solution.velocity[0].abs() < 1e-6 {
            return (0.0, lowest);
        }
    }
    (solution.velocity[0], lowest)
}

/// A coarse step makes the impact dead, a step that resolves the contact time π/√K elastic.
#[test]
fn a_soft_limit_is_dead_at_coarse_steps_and_elastic_at_fine_ones() {
    let impact = (2.0 * G).sqrt();
    let (coarse, lowest) = limit(1e-2, 1e12);
    assert!(coarse.abs() < 1e-6 * impact && lowest > -1e-9, "{coarse} {lowest}");
    // K = 10⁶: contact time 3 ms.
    let fine = [1e-4, 1e-5, 1e-6].map(|h| limit(h, 1e6).0 / impact);
    assert!(fine[0] < fine[1] && fine[1] < fine[2] && fine[2] > 0.995, "{fine:?}");
}

/// L-stability: at stiffness to infinity one step ends the deformation, `φ₁ → 0`.
#[test]
fn one_step_relaxes_an_infinitely_stiff_spring() {
    let h = 0.1;
    for (stiffness, bound) in [(1e3, 0.1), (1e9, 1e-7), (1e15, 1e-12)] {
        let mut problem = ConstraintProblem::new(&[1], h);
        problem.set_momentum(&[3.0], &[0.0]);
        problem.push(Rows::Dense(&[1.0]), Law::Bilateral(SpringDamper::new(0.5, stiffness, 0.0)));
        let mut solution = ConstraintSolution { velocity: vec![0.0], ..Default::default() };
        let outcome = SoftConstraintSolver::default().solve(&problem, &mut solution);
        assert_eq!(outcome.status, Status::Solved);
        let next = 0.5 + h * solution.velocity[0];
        // Implicit Euler in closed form: φ₁ = (φ₀ + h v₀) / (1 + h² K).
        let exact = 0.8 / (1.0 + h * h * stiffness);
        assert!((next - exact).abs() < 1e-12 && next.abs() < bound, "{stiffness}: {next:e}");
    }
}

/// A robot's dense block and bodies' own blocks give the same answer.
#[test]
fn rows_by_body_and_dense_rows_agree() {
    let mut answers = Vec::new();
    for is_dense in [false, true] {
        let mut problem = ConstraintProblem::new(&[2, 3], 0.01);
        problem.set_mass(BodyIndex(0), &[2.0, 0.3, 0.3, 1.0]);
        problem.momentum_mut().copy_from_slice(&[1.0, -0.5, 0.2, 0.0, 0.7]);
        let law = Law::Bilateral(SpringDamper::new(0.1, 1e4, 3.0));
        let (a, b) = ([0.3, 0.4], [-0.2, 0.5, 0.9]);
        if is_dense {
            problem.push(Rows::Dense(&[a[0], a[1], b[0], b[1], b[2]]), law);
        } else {
            problem.push(Rows::Bodies(&[(BodyIndex(1), &b), (BodyIndex(0), &a)]), law);
        }
        let mut solution = ConstraintSolution { velocity: vec![0.0; 5], ..Default::default() };
        let _ = SoftConstraintSolver::default().solve(&problem, &mut solution);
        answers.push(solution.velocity);
    }
    for (a, b) in answers[0].iter().zip(&answers[1]) {
        assert!((a - b).abs() < 1e-13, "{a} {b}");
    }
}

/// A rigid chain of light links that carries a body ten thousand times as heavy, for one step from
/// rest: every joint bears the load below it and deforms by that over its stiffness.
#[test]
fn a_rigid_chain_bears_a_heavy_load() {
    let (count, link, load) = (30_u32, 0.1, 1000.0);
    let bodies: Vec<Body> = (0..=count)
        .map(|i| {
            let mass = if i == count { load } else { link };
            let z = -0.1 * f64::from(i) - 0.05;
            Body::new(mass, Vector3::repeat(1e-3 * mass), Vector3::new(0.0, 0.0, z))
        })
        .collect();
    let mut world = World::new(bodies, Vector3::new(0.0, 0.0, -G), 0.01);
    world.begin();
    let (up, axes) = (Vector3::new(0.0, 0.0, 0.05), [Vector3::x(), Vector3::y(), Vector3::z()]);
    for i in 0..=count as usize {
        for axis in axes {
            let lower = world.bodies[i].point_rows(&up, &[axis], 1.0);
            let law = Law::Bilateral(SpringDamper::new(0.0, 1e15, 1.0));
            if i == 0 {
                world.problem.push(Rows::Bodies(&[(BodyIndex(0), &lower)]), law);
            } else {
                let upper = world.bodies[i - 1].point_rows(&-up, &[axis], -1.0);
                let parts = [(BodyIndex(i), &lower[..]), (BodyIndex(i - 1), &upper[..])];
                world.problem.push(Rows::Bodies(&parts), law);
            }
        }
    }
    let outcome = world.finish();
    assert_eq!(outcome.status, Status::Solved);
    // The tolerance of 1e-10 on √(2 energy) = √1000 h g, for a link of 0.1 kg, once per joint for
    // its law and once for the momentum of its link.
    let tolerance = 2.0 * 1e-10 * (load / link).sqrt() * 0.01 * G * f64::from(count);
    let mut stretch_rate = 0.0;
    for i in 0..=count {
        let below = load + link * f64::from(count - i);
        let force = world.solution.forces[3 * i as usize + 2];
        assert!((force / (below * G) - 1.0).abs() < 1e-6, "{i}: {force} {}", below * G);
        // λ = K h u.
        stretch_rate += below * G / (1e15 * 0.01);
        let error = world.bodies[i as usize].linear + Vector3::new(0.0, 0.0, stretch_rate);
        assert!(error.norm() < tolerance, "{i}: {:e} {tolerance:e}", error.norm());
    }
}
