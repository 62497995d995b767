//! The pivoting methods as solvers of the contact problem.

use crate::common::{difference, largest, pyramid, pyramids, residual, solve};
use legwork_qp::DEFAULT_REGULARISATION;
use legwork_qp::complementarity::{
    DenseMass, HalfInverseMass, LemkeSolver, PrincipalPivotingSolver, StewartTrinkleSolver,
};
use legwork_qp::problems::{Random, random_definite, rigid_body};
use legwork_qp::{ContactMethod, ContactProblemData, Given, MassView, PyramidFit, Status, kkt};

fn solvers() -> [(&'static str, Box<dyn ContactMethod>); 2] {
    [
        ("lemke", Box::new(LemkeSolver::new(4, 4))),
        ("pivoting", Box::new(PrincipalPivotingSolver::new(4, 4))),
    ]
}

/// Without regularisation: forces are one of many.
#[test]
fn redundant_contacts_are_solved_and_judged() {
    let mut solvers = solvers();
    for (index, shape) in pyramids(&[3, 4, 6, 8]).into_iter().enumerate() {
        for contacts in [1, 2, 4, 8, 12] {
            for seed in 0..4 {
                let mut problem =
                    rigid_body(1000 * seed + index as u64, contacts, shape.clone(), seed % 2 == 1);
                problem.regularisation = 0.0;
                for (name, solver) in &mut solvers {
                    let what =
                        format!("{name}, {:?}, {contacts} contacts, seed {seed}", shape.cone());
                    let (forces, status) = solve(&mut **solver, &problem);
                    let worst = residual(&problem, &forces);
                    assert_eq!(status, Status::Solved, "{what}, residual {worst:.1e}");
                    assert!(worst < 1e-7, "{what}: residual {worst:.1e}");
                }
            }
        }
    }
}

/// A bias outside the range of a singular G, without regularisation: no force stops it.
#[test]
fn a_contact_that_no_force_can_hold_is_unbounded() {
    let mut problem = ContactProblemData::new(1, pyramid(4, PyramidFit::Inscribed));
    problem.bias = vec![0.0, 0.0, -9.81];
    problem.friction.fill(0.5);
    problem.regularisation = 0.0;
    for (name, mut solver) in solvers() {
        let mut forces = vec![f64::NAN; 3];
        let outcome = solver.solve(&problem.view(), &mut forces);
        assert_eq!(outcome.status, Status::Unbounded, "{name}");
        assert_eq!(forces, [0.0; 3]);
    }
}

/// Stewart and Trinkle's problem satisfies Coulomb's law on its pyramid: sliding does not lift.
#[test]
fn coulombs_law_holds_on_the_pyramid() {
    let mut solver = StewartTrinkleSolver::new(4, 4);
    let mut failures = Vec::new();
    for (index, shape) in pyramids(&[3, 4, 6, 8]).into_iter().enumerate() {
        for contacts in [1, 2, 4, 6] {
            for seed in 0..40 {
                let problem = if seed % 2 == 0 {
                    random_definite(100 * seed + index as u64, contacts, shape.clone())
                } else {
                    rigid_body(100 * seed + index as u64, contacts, shape.clone(), seed % 4 == 1)
                };
                let what = format!("{:?}, {contacts} contacts, seed {seed}", shape.cone());
                let mut forces = vec![f64::NAN; 3 * contacts];
                let outcome = solver.solve(&problem.view(), &mut forces);
                let mut a = vec![0.0; 3 * contacts];
                let worst = kkt::coulomb_residual(&problem.view(), &forces, &mut a);
                if outcome.status != Status::Solved || worst >= 1e-8 {
                    failures.push(format!("{what}: {outcome:?}"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// A block pushed sideways: friction μ m g against the motion, no lift. By hand.
/// Inactive contacts have no effect: the others get the forces that they get alone, bit for bit.
#[test]
fn coulombs_law_does_not_see_contacts_that_do_not_act() {
    let shape = pyramid(4, PyramidFit::Inscribed);
    for seed in 0..20 {
        let whole = random_definite(seed, 5, shape.clone());
        let mut part = whole.clone();
        part.active = vec![1.0, 0.0, 1.0, 0.0, 1.0];
        // The same without the rows of contacts 1 and 3.
        let rows: Vec<usize> = [0, 2, 4].into_iter().flat_map(|c| 3 * c..3 * c + 3).collect();
        let mut alone = whole.clone();
        alone.inverse_inertia = (rows.iter())
            .flat_map(|&j| rows.iter().map(move |&i| (i, j)))
            .map(|(i, j)| whole.inverse_inertia[j * 15 + i])
            .collect();
        alone.bias = rows.iter().map(|&i| whole.bias[i]).collect();
        alone.compliance = rows.iter().map(|&i| whole.compliance[i]).collect();
        alone.friction = [0, 2, 4].map(|c| whole.friction[c]).to_vec();
        alone.active = vec![1.0; 3];
        let (mut found, mut expected) = (vec![1.0; 15], vec![0.0; 9]);
        let outcome = StewartTrinkleSolver::default().solve(&part.view(), &mut found);
        assert_eq!(outcome.status, Status::Solved, "seed {seed}");
        assert!(outcome.residual < 1e-9, "seed {seed}: {:e}", outcome.residual);
        let _ = StewartTrinkleSolver::default().solve(&alone.view(), &mut expected);
        let kept: Vec<f64> = rows.iter().map(|&i| found[i]).collect();
        assert_eq!(kept, expected, "seed {seed}");
        assert!([1, 3].iter().all(|&c| found[3 * c..3 * c + 3] == [0.0; 3]), "seed {seed}");
    }
    // Nothing acts.
    let mut none = random_definite(1, 2, shape);
    none.active = vec![0.0; 2];
    let mut found = vec![1.0; 6];
    let outcome = StewartTrinkleSolver::default().solve(&none.view(), &mut found);
    assert_eq!((outcome.status, found), (Status::Solved, vec![0.0; 6]));
}

#[test]
fn a_sliding_block_keeps_its_contact() {
    let mut problem = ContactProblemData::new(1, pyramid(4, PyramidFit::Inscribed));
    let (mass, mu) = (2.0, 0.5);
    for i in 0..3 {
        problem.inverse_inertia[4 * i] = 1.0 / mass;
    }
    problem.bias = vec![8.0, 0.0, -9.81];
    problem.friction.fill(mu);
    problem.regularisation = 0.0;
    let mut forces = [0.0; 3];
    let outcome = StewartTrinkleSolver::new(1, 4).solve(&problem.view(), &mut forces);
    assert_eq!(outcome.status, Status::Solved);
    let weight = mass * 9.81;
    assert!(difference(&forces, &[-mu * weight, 0.0, weight]) < 1e-12 * weight, "{forces:?}");
}

/// The same problem through G and through J and M, by robots with redundant contacts.
#[test]
fn the_form_with_the_mass_agrees_with_the_dense_form() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let (k, nv) = (1 + random.below(6), 3 + random.below(12));
        let n = 3 * k;
        let mut mass = vec![0.0; nv * nv];
        let root: Vec<f64> = (0..nv * nv).map(|_| random.normal()).collect();
        for i in 0..nv {
            for j in 0..nv {
                let sum: f64 = (0..nv).map(|l| root[l * nv + i] * root[l * nv + j]).sum();
                mass[i * nv + j] = sum + if i == j { 0.5 } else { 0.0 };
            }
        }
        let mass = DenseMass::factor(nv, &mass).unwrap();
        let jacobian: Vec<f64> = (0..n * nv).map(|_| random.normal()).collect();
        let mut half: Vec<Vec<f64>> =
            (0..n).map(|row| (0..nv).map(|j| jacobian[j * n + row]).collect()).collect();
        half.iter_mut().for_each(|column| mass.half_solve(column));
        let mut problem =
            ContactProblemData::new(k, pyramid(3 + random.below(4), PyramidFit::Inscribed));
        for i in 0..n {
            for j in 0..n {
                let product: f64 = half[i].iter().zip(&half[j]).map(|(a, b)| a * b).sum();
                problem.inverse_inertia[i * n + j] = product;
            }
        }
        problem.friction.iter_mut().for_each(|mu| *mu = random.uniform());
        problem.friction[0] = 0.0;
        problem.force_scale = 10.0;
        if k > 2 {
            problem.active[1] = 0.0;
        }
        // As a block assembles it: the regularisation is in R.
        let shift = problem.view().diagonal_shift();
        problem.compliance.fill(shift);
        problem.regularisation = 0.0;
        let velocity: Vec<f64> = (0..nv).map(|_| 10.0 * random.normal()).collect();
        for (i, bias) in problem.bias.iter_mut().enumerate() {
            *bias = (0..nv).map(|j| jacobian[j * n + i] * velocity[j]).sum();
        }

        let sides = problem.cone.sides();
        let (mut dense, mut factored) = (vec![f64::NAN; n], vec![f64::NAN; n]);
        let mut flags = vec![0.0; k * sides];
        let expected = PrincipalPivotingSolver::new(k, sides).solve(&problem.view(), &mut dense);
        let mut solver = PrincipalPivotingSolver::with_velocities(k, sides, nv);
        let mass = Some(MassView { jacobian: &jacobian, root: &mass });
        let given = Given { mass, ..problem.view().into() };
        let outcome = solver.solve_warm(&given, &mut flags, &mut factored);
        assert_eq!((outcome.status, expected.status), (Status::Solved, Status::Solved), "{seed}");
        assert!(outcome.residual < 1e-9, "seed {seed}: residual {:.1e}", outcome.residual);
        let error = difference(&dense, &factored) / largest(&dense).max(1.0);
        // Redundant contacts share force by R alone, 1e-10 of G: it magnifies rounding.
        let tolerance = 10.0 * f64::EPSILON / DEFAULT_REGULARISATION;
        assert!(error < tolerance, "seed {seed}: {error:.1e}");
        // From its own flags it needs no pivot and gives the same forces.
        let mut again = vec![0.0; n];
        let warm = solver.solve_warm(&given, &mut flags, &mut again);
        assert_eq!(warm.iterations, 0, "seed {seed}");
        let error = difference(&again, &factored) / largest(&dense).max(1.0);
        assert!(error < tolerance, "seed {seed}: {error:.1e}");
        // NaN is rejected, and leaves no flags.
        let broken = vec![f64::NAN; n];
        let problem = legwork_qp::ContactProblem { bias: &broken, ..given.problem };
        let refused = solver.solve_warm(&Given { problem, ..given }, &mut flags, &mut again);
        assert_eq!(refused.status, Status::InvalidData);
        assert!(flags.iter().chain(&again).all(|&v| v == 0.0));
    }
}
