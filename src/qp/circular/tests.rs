//! Circular cones by pyramids, compared with the interior-point method and closed forms.

use super::*;
use crate::active_set::PyramidActiveSet;
use crate::clarabel::ClarabelSolver;
use crate::complementarity::{LemkeSolver, StewartTrinkleSolver};
use crate::contact_problem::ContactProblemData;
use crate::coulomb::CoulombFixedPoint;
use crate::method::ContactMethod as _;
use crate::problems::{Random, random_definite, rigid_body};

fn by_active_set(contact_count: usize) -> CircularByPyramids<PyramidActiveSet> {
    CircularByPyramids::new(PyramidActiveSet::new(contact_count, CIRCULAR_SIDES), contact_count)
}

fn difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |worst: f64, (a, b)| worst.max((a - b).abs()))
}

/// A body of mass m on one contact that slides at v in a direction: friction is μ N against it, and
/// the convex law lifts it. `G = I/m`, so the solution has a closed form.
fn sliding(angle: f64, mu: f64, speed: f64) -> (ContactProblemData, [f64; 3]) {
    let (mass, gravity, step) = (2.0, 9.81, 1e-3);
    let mut data = ContactProblemData::new(1, ConeShape::circular());
    for i in [0, 4, 8] {
        data.inverse_inertia[i] = 1.0 / mass;
    }
    let (sin, cos) = libm::sincos(angle);
    data.bias = vec![cos * speed / step, sin * speed / step, -gravity];
    data.friction = vec![mu];
    data.force_scale = mass * gravity;
    data.regularisation = 0.0;
    // min ½ |f|²/m + bᵀf with f = n (μ d, 1): n (1 + μ²)/m = g + μ v/Δt, unless it sticks.
    let sticks = speed / step <= mu * gravity;
    let normal = match sticks {
        true => mass * gravity,
        false => mass * (gravity + mu * speed / step) / (1.0 + mu * mu),
    };
    let friction = if sticks { mass * speed / step } else { mu * normal };
    (data, [-cos * friction, -sin * friction, normal])
}

#[test]
fn friction_opposes_slip_in_every_direction() {
    let mut solver = by_active_set(1);
    for mu in [0.05, 0.3, 0.7, 1.5] {
        // From sticking, over the limit, to fast sliding.
        for speed in [0.0, 0.9, 0.999, 1.001, 1.1, 2.0, 1e2, 1e4].map(|x| x * mu * 9.81e-3) {
            for step in 0..72 {
                let angle = f64::from(step) * std::f64::consts::PI / 36.0;
                let (data, expected) = sliding(angle, mu, speed);
                let mut forces = [0.0; 3];
                let outcome = solver.solve(&data.view(), &mut forces);
                assert_eq!(outcome.status, Status::Solved);
                let error = difference(&forces, &expected) / expected[2];
                assert!(error < 1e-11, "mu {mu}, {speed} m/s, {angle}: {error:.1e}");
            }
        }
    }
}

/// The common residual accepts each answer, and the forces give the contact accelerations of the
/// interior-point method, which are unique although forces are not.
#[test]
fn answers_are_those_of_the_interior_point_method() {
    let (mut resorts, mut compared, mut slides, mut inaccurate, mut passes) = (0, 0, 0, 0, 0);
    for seed in 0..120 {
        for count in [1, 2, 4, 7] {
            for data in [
                rigid_body(seed, count, ConeShape::circular(), seed % 3 == 0),
                random_definite(seed, count, ConeShape::circular()),
            ] {
                let mut data = data;
                data.regularisation = 1e-10;
                // Speeds from a creeping foot to a throw.
                let fast = [1e-2, 1.0, 1e2][(seed % 3) as usize];
                for (i, b) in data.bias.iter_mut().enumerate() {
                    if i % 3 < 2 {
                        *b *= fast;
                    }
                }
                let mut solver = by_active_set(count);
                let (mut forces, mut expected) = (vec![0.0; 3 * count], vec![0.0; 3 * count]);
                let outcome = solver.solve(&data.view(), &mut forces);
                assert!(outcome.status.is_usable(), "{seed} {count}: {outcome:?}");
                inaccurate += usize::from(outcome.status != Status::Solved);
                passes += outcome.iterations;
                let mut a = vec![0.0; 3 * count];
                let residual = kkt::natural_residual(&data.view(), &forces, &mut a);
                let bound = if outcome.status == Status::Solved { SOLVED } else { USABLE };
                assert!(residual <= bound, "{seed} {count}: {residual:.1e}");
                resorts += usize::from(solver.passes.is_last_resort);
                slides += usize::from(crate::coulomb::slides(&data.view(), &forces));
                let outcome = ClarabelSolver::new(1e-9, 200).solve(&data.view(), &mut expected);
                if outcome.status == Status::Solved {
                    let mut b = vec![0.0; 3 * count];
                    data.view().acceleration_into(&expected, &mut b);
                    let size = data.view().acceleration_scale();
                    let error = difference(&a, &b) / size;
                    assert!(error < 1e-5, "{seed} {count}: {error:.1e}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 900 && slides > 500, "{compared} compared, {slides} slide");
    // A solve of a pyramid takes a few steps, a sliding problem a few solves.
    assert!(inaccurate < 5 && passes < 25_000, "{inaccurate} inaccurate, {passes} steps");
    assert!(resorts < 10, "{resorts} of 960 go to the last resort");
}

/// Turning the axes of every contact turns the forces.
#[test]
fn no_direction_is_special() {
    let mut random = Random::new(7);
    for seed in 0..40 {
        let count = 3;
        let mut data = random_definite(seed, count, ConeShape::circular());
        let mut forces = vec![0.0; 3 * count];
        let _ = by_active_set(count).solve(&data.view(), &mut forces);
        let mut passes = CircularPasses::new(SlidingLaw::Convex, count);
        for direction in &mut passes.directions {
            let (sin, cos) = libm::sincos(6.0 * random.uniform());
            *direction = [cos, sin];
        }
        let directions = passes.directions.clone();
        let n = 3 * count;
        for (i, &direction) in directions.iter().enumerate() {
            turn_one(direction, &mut data.bias[3 * i..]);
            for column in data.inverse_inertia.chunks_exact_mut(n) {
                turn_one(direction, &mut column[3 * i..]);
            }
        }
        for row in 0..n {
            for (i, &[c, s]) in directions.iter().enumerate() {
                let (x, y) = (3 * i * n + row, (3 * i + 1) * n + row);
                let (a, b) = (data.inverse_inertia[x], data.inverse_inertia[y]);
                data.inverse_inertia[x] = c * a + s * b;
                data.inverse_inertia[y] = c * b - s * a;
            }
        }
        let mut turned = vec![0.0; n];
        let outcome = by_active_set(count).solve(&data.view(), &mut turned);
        assert_eq!(outcome.status, Status::Solved);
        turn_back(&directions, &mut turned);
        let error = difference(&forces, &turned);
        assert!(error < 1e-7, "seed {seed}: {error:.1e}");
    }
}

/// R differs along the two tangential axes: it is not diagonal in turned axes.
#[test]
fn compliance_of_each_axis_counts() {
    for seed in 0..40 {
        let mut data = random_definite(seed, 2, ConeShape::circular());
        data.compliance = vec![0.5, 0.01, 0.2, 0.0, 0.9, 0.0];
        let mut forces = vec![0.0; 6];
        let mut solver = CircularByPyramids::new(LemkeSolver::new(2, CIRCULAR_SIDES), 2);
        let outcome = solver.solve(&data.view(), &mut forces);
        assert_eq!(outcome.status, Status::Solved, "seed {seed}");
        let residual = kkt::natural_residual(&data.view(), &forces, &mut [0.0; 6]);
        assert!(residual < SOLVED, "seed {seed}: {residual:.1e}");
        assert!(!solver.passes.is_last_resort, "seed {seed}");
    }
}

/// Coulomb's law by its complementarity problem, and by the fixed point around the convex law: both
/// have a small residual, and sliding contacts do not lift off.
#[test]
fn coulombs_law_has_the_circular_cone_too() {
    let (mut solved, mut fixed) = (0, 0);
    for seed in 0..60 {
        let count = 1 + seed as usize % 4;
        let mut data = random_definite(seed, count, ConeShape::circular());
        // G with weak coupling, like that of feet.
        for (i, g) in data.inverse_inertia.iter_mut().enumerate() {
            *g *= if i % (3 * count + 1) == 0 { 1.0 } else { 0.3 };
        }
        let mut a = vec![0.0; 3 * count];
        let mut forces = vec![0.0; 3 * count];
        let mut pivoting = StewartTrinkleSolver::new(count, CIRCULAR_SIDES);
        let mut passes = CircularPasses::new(SlidingLaw::Coulomb, count);
        let outcome: Result<Outcome, ()> =
            passes.solve(&data.view(), &mut forces, None, |pass, forces| {
                Ok(pivoting.solve(&pass.problem, forces))
            });
        let outcome = outcome.unwrap();
        let residual = kkt::coulomb_residual(&data.view(), &forces, &mut a);
        if outcome.status == Status::Solved {
            assert!(residual <= SOLVED, "seed {seed}: {residual:.1e}");
            solved += 1;
        }
        let mut solver = CoulombFixedPoint::new(by_active_set(count), count, 200, 1e-8);
        if solver.solve(&data.view(), &mut forces).status == Status::Solved {
            let residual = kkt::coulomb_residual(&data.view(), &forces, &mut a);
            assert!(residual <= 1e-8, "seed {seed}: {residual:.1e}");
            fixed += 1;
        }
    }
    assert!(solved >= 58 && fixed >= 58, "{solved} by pivoting, {fixed} by the fixed point");
}

#[test]
fn bad_numbers_are_refused() {
    let (mut data, _) = sliding(0.3, 0.5, 1.0);
    data.bias[0] = f64::NAN;
    let outcome = by_active_set(1).solve(&data.view(), &mut [0.0; 3]);
    assert_eq!(outcome.status, Status::InvalidData);
}

/// A problem that changes a little from step to step: from the forces of the step before the answer
/// is the same, in fewer iterations.
#[test]
fn a_guess_changes_no_answer_and_saves_passes() {
    let (mut cold, mut warm, mut guessed) = (0, 0, 0);
    for seed in 0..30 {
        let count = 4;
        let mut data = random_definite(seed, count, ConeShape::circular());
        data.regularisation = 1e-10;
        let first = data.bias.clone();
        let mut guess = vec![0.0; 3 * count];
        for step in 0..10 {
            let angle = 0.02 * f64::from(step);
            for (i, b) in data.bias.iter_mut().enumerate() {
                *b = first[i] * (1.0 + 0.3 * libm::sin(angle + i as f64));
            }
            let (mut a, mut b) = (vec![0.0; 3 * count], vec![0.0; 3 * count]);
            let mut solver = by_active_set(count);
            let outcome = solver.solve(&data.view(), &mut a);
            let mut other = by_active_set(count);
            let CircularByPyramids { inner, passes } = &mut other;
            let solved: Result<Outcome, std::convert::Infallible> =
                passes.solve(&data.view(), &mut b, Some(&guess), |pass, forces| {
                    Ok(inner.solve(&pass.problem, forces))
                });
            let from_guess = solved.unwrap();
            assert!(outcome.status.is_usable() && from_guess.status.is_usable());
            let error = difference(&a, &b) / data.force_scale.max(max_abs(&a));
            assert!(error < 1e-6, "{seed}, {step}: {error:.1e}");
            cold += outcome.iterations;
            warm += from_guess.iterations;
            guessed += u32::from(passes.is_from_guess());
            guess.copy_from_slice(&b);
        }
    }
    assert!(guessed > 100, "{guessed} of 300 from the guess");
    assert!(warm < cold, "{warm} and {cold} iterations");
}
