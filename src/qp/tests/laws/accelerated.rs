//! Laws of the accelerated projected gradient, and agreement of all methods on the true cone.

use crate::common::{difference, natural_residual, pyramid, references, solve};
use legwork_qp::problems::{random_definite, rigid_body};
use legwork_qp::{
    AcceleratedGradient, ClarabelSolver, ConeShape, ContactProblemData, ContactSolver,
    ProjectedGaussSeidel, PyramidActiveSet, PyramidFit, Status,
};

#[test]
fn all_methods_agree_on_the_true_cone() {
    let (mut worst_sweeps, mut worst_interior) = (0.0f64, 0.0f64);
    for contacts in [1, 2, 3, 4, 8, 16] {
        for seed in 0..10 {
            let problem = random_definite(300 + seed, contacts, ConeShape::circular());
            let what = format!("{contacts} contacts, seed {seed}");
            let mut accelerated = AcceleratedGradient::new(contacts, 20_000, 1e-10);
            let (forces, status) = solve(&mut accelerated, &problem);
            assert_eq!(status, Status::Solved, "{what}");
            assert!(natural_residual(&problem, &forces) <= 1.1e-10, "{what}");
            let mut sweeps = ProjectedGaussSeidel::new(contacts, 50_000, 1e-10);
            let (swept, status) = solve(&mut sweeps, &problem);
            assert_eq!(status, Status::Solved, "{what}: Gauss-Seidel");
            let (conic, status) = solve(&mut ClarabelSolver::new(1e-11, 100), &problem);
            assert!(status.is_usable(), "{what}: clarabel {status:?}");
            worst_sweeps = worst_sweeps.max(difference(&forces, &swept) / problem.force_scale);
            worst_interior = worst_interior.max(difference(&forces, &conic) / problem.force_scale);
        }
    }
    // A natural residual r bounds the error by about condition · r, a gap of 1e-11 by √(2e-10).
    assert!(worst_sweeps < 1e-7, "Gauss-Seidel differs by {worst_sweeps:.1e}");
    assert!(worst_interior < 1.5e-5, "clarabel differs by {worst_interior:.1e}");
}

#[test]
fn the_active_set_agrees_on_pyramids() {
    let mut worst = 0.0f64;
    for shape in [pyramid(4, PyramidFit::Inscribed), pyramid(6, PyramidFit::Circumscribed)] {
        for seed in 0..20 {
            let problem = random_definite(seed, 1 + seed as usize % 8, shape.clone());
            let mut solver = AcceleratedGradient::new(4, 20_000, 1e-10);
            let (forces, status) = solve(&mut solver, &problem);
            assert_eq!(status, Status::Solved, "seed {seed}");
            let (exact, _) = solve(&mut PyramidActiveSet::default(), &problem);
            worst = worst.max(difference(&forces, &exact) / problem.force_scale);
        }
    }
    assert!(worst < 1e-7, "{worst:.1e}");
}

/// Redundant contacts, masks and missing friction: the accelerations are unique even where the
/// forces are not.
#[test]
fn redundant_contacts_have_one_acceleration() {
    for shape in [ConeShape::circular(), pyramid(4, PyramidFit::Inscribed)] {
        for seed in 0..30 {
            let contacts = 1 + seed as usize % 12;
            let problem = rigid_body(seed, contacts, shape.clone(), seed % 2 == 1);
            let what = format!("{:?}, {contacts} contacts, seed {seed}", shape.cone());
            let mut solver = AcceleratedGradient::new(contacts, 100_000, 1e-8);
            let (forces, status) = solve(&mut solver, &problem);
            assert_eq!(
                status,
                Status::Solved,
                "{what}: {:.1e}",
                natural_residual(&problem, &forces)
            );
            let (conic, status) = solve(&mut ClarabelSolver::new(1e-11, 200), &problem);
            assert!(status.is_usable(), "{what}: clarabel {status:?}");
            let (mut a, mut b) = (vec![0.0; 3 * contacts], vec![0.0; 3 * contacts]);
            problem.view().acceleration_into(&forces, &mut a);
            problem.view().acceleration_into(&conic, &mut b);
            let error = difference(&a, &b) / problem.view().acceleration_scale();
            assert!(error < 4e-5, "{what}: accelerations differ by {error:.1e}");
            for contact in 0..contacts {
                let f = &forces[3 * contact..][..3];
                if problem.active[contact] == 0.0 {
                    assert_eq!(f, [0.0; 3], "{what}: force at inactive contact {contact}");
                }
            }
        }
    }
}

/// Ten problems of a standing robot and ten random ones, solved by quadprog.
#[test]
fn the_reference_solutions_are_met_to_the_tolerance() {
    let mut solver = AcceleratedGradient::new(4, 50_000, 1e-11);
    for case in references() {
        let (forces, status) = solve(&mut solver, &case.problem);
        assert_eq!(status, Status::Solved, "{}", case.name);
        // Condition numbers reach 520.
        let error = case.error(&forces);
        assert!(error < 1e-8, "{}: relative difference {error:.1e}", case.name);
    }
}

#[test]
fn a_warm_start_from_the_answer_takes_no_iteration() {
    for seed in 0..10 {
        let mut problem = random_definite(seed, 4, ConeShape::circular());
        let mut solver = AcceleratedGradient::new(4, 20_000, 1e-9);
        let (mut forces, _) = solve(&mut solver, &problem);
        let again = solver.solve_warm(&problem.view(), &mut forces);
        assert_eq!((again.status, again.iterations), (Status::Solved, 0), "seed {seed}");
        // A near problem starts near.
        problem.bias.iter_mut().for_each(|b| *b *= 1.0 + 1e-6);
        let warm = solver.solve_warm(&problem.view(), &mut forces);
        let cold = solver.solve(&problem.view(), &mut [0.0; 12]);
        assert!(warm.iterations < cold.iterations, "seed {seed}: {warm:?}, {cold:?}");
        forces.fill(f64::NAN);
        assert_eq!(solver.solve_warm(&problem.view(), &mut forces).status, Status::Solved);
    }
}

#[test]
fn ten_runs_return_the_same_bits() {
    let bits = |x: &[f64]| -> Vec<u64> { x.iter().map(|v| v.to_bits()).collect() };
    let mut first: Option<Vec<Vec<u64>>> = None;
    let mut accelerated = AcceleratedGradient::new(0, 500, 1e-9);
    let mut sweeps = ProjectedGaussSeidel::new(0, 500, 1e-9);
    let mut interior = ClarabelSolver::new(1e-9, 100);
    for run in 0..10 {
        let mut all = Vec::new();
        for seed in 0..10 {
            let problem = rigid_body(seed, 1 + seed as usize % 6, ConeShape::circular(), true);
            let solvers: [&mut dyn ContactSolver; 3] =
                [&mut accelerated, &mut sweeps, &mut interior];
            for solver in solvers {
                all.push(bits(&solve(solver, &problem).0));
            }
        }
        assert_eq!(*first.get_or_insert_with(|| all.clone()), all, "run {run}");
    }
}

#[test]
fn bad_and_degenerate_data_get_a_status() {
    let shape = ConeShape::circular();
    let mut solver = AcceleratedGradient::new(2, 200, 1e-8);
    for break_it in [
        (|p| p.bias[2] = f64::NAN) as fn(&mut ContactProblemData),
        |p| p.inverse_inertia[5] = f64::INFINITY,
        |p| p.friction[0] = -0.1,
        |p| p.force_scale = 0.0,
    ] {
        let mut problem = random_definite(1, 2, shape.clone());
        break_it(&mut problem);
        assert_eq!(solve(&mut solver, &problem), (vec![0.0; 6], Status::InvalidData));
    }
    let mut problems =
        vec![ContactProblemData::new(0, shape.clone()), ContactProblemData::new(3, shape.clone())];
    for scale in [1e-200, 1e-20, 1e20, 1e150, -1.0] {
        let mut problem = random_definite(2, 3, shape.clone());
        problem.inverse_inertia.iter_mut().for_each(|g| *g *= scale);
        problems.push(problem.clone());
        problem.bias.iter_mut().for_each(|b| *b *= scale);
        problems.push(problem);
    }
    let mut solved = 0;
    for (index, problem) in problems.iter().enumerate() {
        let (forces, status) = solve(&mut solver, problem);
        if status == Status::Solved {
            solved += 1;
            let residual = natural_residual(problem, &forces);
            assert!(residual <= 1.1e-8, "problem {index}: {residual:e}");
        }
    }
    assert!(solved >= 4, "only {solved} of {} are solved", problems.len());
}
