use super::*;
use crate::complementarity::StewartTrinkleSolver;
use crate::cone::{Cone, ConeShape, PyramidFit};
use crate::contact_problem::ContactProblemData;
use crate::kkt;
use crate::method::ContactMethod;
use crate::problems::Random;

fn pyramid(sides: usize) -> ConeShape {
    ConeShape::new(Cone::Pyramid { sides, fit: PyramidFit::Inscribed }).expect("enough sides")
}

/// G of a random body of `dim` velocities, b that presses more often than not.
fn random(random: &mut Random, k: usize, dim: usize, sides: usize) -> ContactProblemData {
    let n = 3 * k;
    let root: Vec<f64> = (0..n * dim).map(|_| random.normal()).collect();
    let mut inverse_inertia = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            inverse_inertia[j * n + i] = dot(&root[i * dim..][..dim], &root[j * dim..][..dim]);
        }
    }
    // In the range of G, so that there is a solution.
    let push: Vec<f64> = (0..dim).map(|_| random.normal()).collect();
    let bias = (0..n)
        .map(|i| {
            let along = dot(&root[i * dim..][..dim], &push);
            if i % 3 == 2 { along - f64::from(u8::from(dim > n)) } else { along }
        })
        .collect();
    ContactProblemData {
        inverse_inertia,
        bias,
        friction: (0..k).map(|_| 0.5 + 2.0 * random.uniform()).collect(),
        compliance: Vec::new(),
        force_scale: 1.0,
        cone: pyramid(sides),
        active: Vec::new(),
        regularisation: 0.0,
    }
}

/// The conditions of the law as defined, over the sizes of forces and accelerations.
fn worst_condition(problem: &ContactProblem<'_>, forces: &[f64]) -> f64 {
    let mut acceleration = vec![0.0; forces.len()];
    problem.acceleration_into(forces, &mut acceleration);
    let size = max_abs(forces).max(1.0);
    let fast = problem.acceleration_scale().max(size * problem.mean_diagonal());
    let mut worst = 0.0f64;
    for (i, (f, a)) in forces.chunks_exact(3).zip(acceleration.chunks_exact(3)).enumerate() {
        let mu = problem.friction[i];
        worst = worst.max(problem.cone.violation(mu, [f[0], f[1], f[2]]) / size);
        worst = worst.max(-a[2] / fast).max((f[2] * a[2]).abs() / (size * fast));
        // Friction does all the work that it can.
        let least = -problem.cone.slip_support(mu, [a[0], a[1]]) * f[2];
        worst = worst.max((f[0] * a[0] + f[1] * a[1] - least).abs() / (size * fast));
    }
    worst
}

const NO_MEASURE: Nearness<'static> = Nearness { matrix: &[], target: &[] };

#[test]
fn every_solution_satisfies_the_law_and_lemkes_is_among_them() {
    let mut generator = Random::new(21);
    let mut modes = CoulombModes::default();
    let (mut found, mut several) = (0, 0);
    for (k, dim) in [(1, 3), (1, 6), (2, 6), (2, 9), (3, 9), (3, 12)] {
        for sides in [3, 4, 6] {
            for _ in 0..8 {
                let data = random(&mut generator, k, dim, sides);
                let problem = data.view();
                let mut lemkes = vec![0.0; 3 * k];
                let outcome = StewartTrinkleSolver::default().solve(&problem, &mut lemkes);
                assert!(outcome.status.is_usable(), "{k} {dim} {sides}: {outcome:?}");
                let (mut nearest, mut count) = (f64::INFINITY, 0);
                let outcome = modes.each(&problem, &NO_MEASURE, |forces, _| {
                    let worst = worst_condition(&problem, forces);
                    assert!(worst < 1e-10, "{k} {dim} {sides}: {worst:e}");
                    let apart = forces.iter().zip(&lemkes).map(|(a, b)| (a - b).abs());
                    nearest = nearest.min(apart.fold(0.0, f64::max));
                    count += 1;
                });
                assert_eq!(outcome.status, Status::Solved);
                let size = max_abs(&lemkes).max(1.0);
                assert!(nearest < 1e-7 * size, "{k} {dim} {sides}: {nearest:e} of {size}");
                found += usize::from(max_abs(&lemkes) > 0.0);
                several += usize::from(count > 1);
            }
        }
    }
    assert!(found > 50, "only {found} of 144 press");
    assert!(several > 3, "only {several} of 144 have several solutions");
}

/// A rod that drags its tip, inclined so that friction presses it down: lifting off and jamming
/// both satisfy the law (P. Painlevé, *Sur les lois du frottement de glissement*, 1895).
#[test]
fn painleves_rod_flies_off_or_jams_as_is_nearer() {
    let data = ContactProblemData {
        inverse_inertia: vec![4.0, 0.0, 3.0, 0.0, 4.0, 0.0, 3.0, 0.0, 3.0],
        bias: vec![2.0, 0.0, 1.0],
        friction: vec![2.0],
        compliance: Vec::new(),
        force_scale: 1.0,
        cone: pyramid(4),
        active: Vec::new(),
        regularisation: 0.0,
    };
    let problem = data.view();
    let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let mut modes = CoulombModes::default();
    let mut solve = |target: &[f64; 3]| {
        let (mut forces, nearness) = ([0.0; 3], Nearness { matrix: &identity, target });
        let (outcome, count) = modes.nearest(&problem, &nearness, &mut forces);
        assert_eq!(outcome.status, Status::Solved);
        assert!(count >= 2, "{count} solutions");
        assert!(kkt::coulomb_residual(&problem, &forces, &mut [0.0; 3]) < 1e-10);
        forces
    };
    let (off, jammed) = (solve(&[0.0, 0.0, 0.0]), solve(&[-3.0, 0.0, 2.0]));
    assert_eq!(off, [0.0; 3]);
    assert!(jammed[2] > 0.1 && jammed[0] < -0.1, "{jammed:?}");
    // Lemke's method has one answer, independent of earlier calls.
    let mut lemkes = [0.0; 3];
    let outcome = StewartTrinkleSolver::default().solve(&problem, &mut lemkes);
    assert_eq!(outcome.status, Status::Solved);
    let differs = |forces: [f64; 3]| (forces[2] - lemkes[2]).abs() > 0.1;
    assert!(differs(off) != differs(jammed), "{lemkes:?}");
}

/// Two feet of a body share a load in any way that the pyramids allow; the nearest is chosen, and
/// if it is outside the one on the border.
#[test]
fn of_a_redundant_load_the_nearest_share_is_taken() {
    // Both at one place of a mass of 1 kg.
    let mut inverse_inertia = vec![0.0; 36];
    for i in 0..6 {
        for j in 0..6 {
            inverse_inertia[j * 6 + i] = f64::from(u8::from(i % 3 == j % 3));
        }
    }
    let data = ContactProblemData {
        inverse_inertia,
        bias: vec![1.0, 0.0, -10.0, 1.0, 0.0, -10.0],
        friction: vec![0.5, 0.5],
        compliance: Vec::new(),
        force_scale: 1.0,
        cone: pyramid(4),
        active: Vec::new(),
        regularisation: 0.0,
    };
    let problem = data.view();
    let mut modes = CoulombModes::default();
    // The normal force of the first foot.
    let matrix = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
    for (target, expected) in [(4.0, 4.0), (9.0, 9.0), (30.0, 10.0), (-3.0, 0.0)] {
        let mut forces = [0.0; 6];
        let nearness = Nearness { matrix: &matrix, target: &[target] };
        let (outcome, _) = modes.nearest(&problem, &nearness, &mut forces);
        assert_eq!(outcome.status, Status::Solved);
        assert!((forces[2] - expected).abs() < 1e-6, "{target}: {forces:?}");
        assert!((forces[2] + forces[5] - 10.0).abs() < 1e-8, "{forces:?}");
        assert!(worst_condition(&problem, &forces) < 1e-9, "{forces:?}");
    }
}

#[test]
fn too_many_contacts_and_bad_data_are_answers() {
    let mut generator = Random::new(4);
    let mut modes = CoulombModes::default();
    let data = random(&mut generator, 4, 12, 4);
    let mut forces = vec![0.0; 12];
    let (outcome, count) = modes.nearest(&data.view(), &NO_MEASURE, &mut forces);
    assert_eq!((outcome.status, count), (Status::Undecided, 0));
    let mut data = random(&mut generator, 1, 3, 4);
    data.bias[0] = f64::NAN;
    let (outcome, _) = modes.nearest(&data.view(), &NO_MEASURE, &mut forces[..3]);
    assert_eq!(outcome.status, Status::InvalidData);
    data.bias[0] = 0.0;
    data.cone = ConeShape::circular();
    let (outcome, _) = modes.nearest(&data.view(), &NO_MEASURE, &mut forces[..3]);
    assert_eq!(outcome.status, Status::UnsupportedCone);
}
