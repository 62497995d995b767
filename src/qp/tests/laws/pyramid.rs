//! Laws of the solver for friction pyramids alone.

use crate::common::{bits, natural_residual, pyramid};
use legwork_qp::problems::{Random, random_definite, rigid_body};
use legwork_qp::{ContactMethod, ContactProblemData, PyramidActiveSet, PyramidFit, Status};

/// Four to eight contacts of a rigid body determine their forces up to rounding times 1e10 only;
/// with large friction that is more than what a sliding contact presses with.
#[test]
fn forces_keep_to_their_cones_whatever_the_friction() {
    let mut solver = PyramidActiveSet::default();
    for fit in [PyramidFit::Inscribed, PyramidFit::Circumscribed] {
        for mu in [0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0] {
            for (seed, count) in (0..40).flat_map(|seed| [(seed, 4), (seed, 8)]) {
                let mut problem = rigid_body(seed, count, pyramid(4, fit), false);
                problem.friction.fill(mu);
                let mut flags = vec![0.0; problem.view().cone_row_count()];
                let mut forces = vec![0.0; problem.bias.len()];
                for start in ["cold", "warm"] {
                    let outcome =
                        solver.solve_warm(&problem.view().into(), &mut flags, &mut forces);
                    let name = format!("{fit:?}, mu {mu}, seed {seed}, {count} contacts, {start}");
                    assert_eq!(outcome.status, Status::Solved, "{name}: {outcome:?}");
                    for f in forces.chunks_exact(3) {
                        let beyond = problem.cone.violation(mu, [f[0], f[1], f[2]]);
                        assert!(beyond <= 1e-13 * (1.0 + mu) * f[2], "{name}: {beyond:e} at {f:?}");
                    }
                    let residual = natural_residual(&problem, &forces);
                    assert!(residual < 1e-6, "{name}: {residual:e}");
                }
            }
        }
    }
}

/// Two worlds in one problem, contact by contact in turn, have the forces that each has alone.
#[test]
fn islands_do_not_know_of_each_other() {
    for seed in 0..50 {
        let cone = pyramid(4, PyramidFit::Inscribed);
        let worlds = [(seed, 4), (seed + 100, 3)].map(|(seed, count)| ContactProblemData {
            regularisation: 0.0,
            ..random_definite(seed, count, cone.clone())
        });
        // World and contact of each contact of the whole.
        let places = [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2), (0, 3)];
        let mut whole = ContactProblemData::new(places.len(), cone);
        (whole.regularisation, whole.force_scale) = (0.0, worlds[0].force_scale);
        let n = whole.bias.len();
        for (i, &(world, contact)) in places.iter().enumerate() {
            let own = &worlds[world];
            whole.friction[i] = own.friction[contact];
            whole.bias[3 * i..3 * i + 3].copy_from_slice(&own.bias[3 * contact..3 * contact + 3]);
            for (j, _) in places.iter().enumerate().filter(|(_, place)| place.0 == world) {
                for (a, b) in (0..3).flat_map(|a| (0..3).map(move |b| (a, b))) {
                    let (row, column) = (3 * contact + a, 3 * places[j].1 + b);
                    whole.inverse_inertia[(3 * j + b) * n + 3 * i + a] =
                        own.inverse_inertia[column * own.bias.len() + row];
                }
            }
        }
        let solve = |problem: &ContactProblemData| {
            let mut forces = vec![0.0; problem.bias.len()];
            let outcome = PyramidActiveSet::default().solve(&problem.view(), &mut forces);
            assert_eq!(outcome.status, Status::Solved, "seed {seed}");
            forces
        };
        let (together, alone) = (solve(&whole), worlds.each_ref().map(solve));
        for (f, &(world, contact)) in together.chunks_exact(3).zip(&places) {
            let own = &alone[world][3 * contact..3 * contact + 3];
            assert_eq!(bits(f), bits(own), "seed {seed}");
        }
    }
}

/// Redundant contacts of a body, and limits of light fingers on it, whose diagonals are a million
/// times theirs: rounding goes with each row's own scale.
#[test]
fn contacts_and_light_fingers_are_solved_together() {
    let (feet, fingers) = (8, 16);
    let n = 3 * (feet + fingers);
    for seed in 0..40 {
        let cone = pyramid(4, PyramidFit::Inscribed);
        let body = rigid_body(seed, feet, cone.clone(), false);
        let mut random = Random::new(seed);
        let mut problem = ContactProblemData::new(feet + fingers, cone);
        (problem.regularisation, problem.force_scale) = (0.0, body.force_scale);
        problem.friction.fill(0.0);
        problem.friction[..feet].copy_from_slice(&body.friction);
        problem.bias[..3 * feet].copy_from_slice(&body.bias);
        // A finger moves with the body as some row of a foot does, and by itself.
        let row = |i: usize| if i < 3 * feet { i } else { 7 * i % (3 * feet) };
        let is_tangent = |i: usize| i >= 3 * feet && i % 3 < 2;
        for i in (0..n).filter(|i| !is_tangent(*i)) {
            for j in (0..n).filter(|j| !is_tangent(*j)) {
                problem.inverse_inertia[j * n + i] =
                    body.inverse_inertia[row(j) * 3 * feet + row(i)];
            }
            if i >= 3 * feet {
                problem.inverse_inertia[i * n + i] += 1e6;
                problem.bias[i] = 1e4 * random.normal();
            }
            problem.compliance[i] = 1e-10 * problem.inverse_inertia[i * n + i];
        }
        let mut forces = vec![0.0; n];
        let outcome = PyramidActiveSet::default().solve(&problem.view(), &mut forces);
        assert_eq!(outcome.status, Status::Solved, "seed {seed}: {outcome:?}");
    }
}
