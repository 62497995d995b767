//! Laws of OSQP, at its tolerance.

use crate::common::{INF, bits, difference, pyramid, references};
use legwork_qp::problems::{Random, random_definite, rigid_body};
use legwork_qp::{
    ConeProgram, ConeShape, ContactMethod, GeneralActiveSet, OsqpSolver, PyramidActiveSet,
    PyramidFit, QpData, Status, kkt,
};

/// Feasible by construction, H positive definite.
fn random_qp(seed: u64, n: usize, m: usize) -> QpData {
    let mut random = Random::new(seed);
    let b: Vec<f64> = (0..n * n).map(|_| random.normal()).collect();
    let gram = |e: usize| (0..n).map(|k| b[e / n * n + k] * b[e % n * n + k]).sum();
    let mut qp = QpData { hessian: (0..n * n).map(gram).collect(), ..QpData::default() };
    (0..n).for_each(|i| qp.hessian[i * n + i] += 0.1);
    qp.gradient = (0..n).map(|_| random.normal()).collect();
    qp.rows = (0..m * n).map(|_| random.normal()).collect();
    let inside: Vec<f64> = (0..n).map(|_| random.normal()).collect();
    for row in 0..m {
        let value: f64 = (0..n).map(|j| qp.rows[j * m + row] * inside[j]).sum();
        qp.row_lower.push(if row % 3 == 0 { value } else { value - random.uniform() });
        qp.row_upper.push(if row % 3 == 0 { value } else { INF });
    }
    qp.lower = inside.iter().map(|x| x - random.uniform()).collect();
    qp.upper = vec![INF; n];
    qp
}

#[test]
fn the_reference_solutions_are_met_to_the_tolerance() {
    let mut solver = OsqpSolver::new(1e-8, 20_000);
    for is_polished in [false, true] {
        solver.is_polished = is_polished;
        let mut worst: f64 = 0.0;
        for case in references() {
            let mut forces = vec![0.0; 12];
            let outcome = solver.solve(&case.problem.view(), &mut forces);
            assert_eq!(outcome.status, Status::Solved, "{outcome:?}");
            worst = worst.max(case.error(&forces));
        }
        // Residuals of 1e-8 times the condition of 520.
        assert!(worst < 5e-6, "polished {is_polished}: {worst:.1e}");
    }
}

#[test]
fn the_active_set_agrees() {
    let mut solver = OsqpSolver::new(1e-8, 50_000);
    for seed in 0..60 {
        let (n, m) = (2 + seed as usize % 9, 1 + seed as usize % 4);
        let qp = random_qp(seed, n, m.min(n));
        let (mut x, mut exact) = (vec![0.0; n], vec![0.0; n]);
        let outcome = solver.solve_qp(&qp.view(), &mut x);
        assert!(outcome.status.is_usable(), "seed {seed}: {outcome:?}");
        assert!(outcome.residual < 1e-5, "seed {seed}: {outcome:?}");
        let reference = GeneralActiveSet::default().solve(&qp.view(), &mut exact);
        assert_eq!(reference.status, Status::Solved, "seed {seed}");
        assert!(difference(&x, &exact) < 1e-4, "seed {seed}: {:.1e}", difference(&x, &exact));
    }
}

#[test]
fn redundant_and_masked_contacts_are_solved() {
    let shape = pyramid(4, PyramidFit::Inscribed);
    let mut solver = OsqpSolver::new(1e-7, 50_000);
    for seed in 0..20 {
        let contacts = 1 + seed as usize % 6;
        let problem = rigid_body(seed, contacts, shape.clone(), seed % 2 == 1);
        let (mut forces, mut exact) = (vec![0.0; 3 * contacts], vec![0.0; 3 * contacts]);
        let outcome = solver.solve(&problem.view(), &mut forces);
        assert!(outcome.status.is_usable(), "seed {seed}: {outcome:?}");
        let _ = PyramidActiveSet::default().solve(&problem.view(), &mut exact);
        let (mut a, mut b) = (vec![0.0; 3 * contacts], vec![0.0; 3 * contacts]);
        problem.view().acceleration_into(&forces, &mut a);
        problem.view().acceleration_into(&exact, &mut b);
        let error = difference(&a, &b) / problem.view().acceleration_scale();
        assert!(error < 1e-3, "seed {seed}: {error:.1e}");
    }
}

#[test]
fn a_warm_start_saves_iterations() {
    let mut solver = OsqpSolver::new(1e-6, 20_000);
    let (mut cold_total, mut warm_total) = (0, 0);
    for seed in 0..20 {
        let (n, m) = (8, 4);
        let mut qp = random_qp(seed, n, m);
        let (mut x, mut y, mut z) = (vec![0.0; n], vec![0.0; m], vec![0.0; n]);
        let _ = solver.solve_qp_warm(&qp.view(), &mut y, &mut z, &mut x);
        qp.gradient.iter_mut().for_each(|g| *g *= 1.0 + 1e-4);
        let warm = solver.solve_qp_warm(&qp.view(), &mut y, &mut z, &mut x);
        let cold = solver.solve_qp(&qp.view(), &mut vec![0.0; n]);
        assert!(warm.status.is_usable() && cold.status.is_usable(), "seed {seed}");
        cold_total += cold.iterations;
        warm_total += warm.iterations;
    }
    assert!(2 * warm_total < cold_total, "warm {warm_total}, cold {cold_total}");
}

#[test]
fn ten_runs_return_the_same_bits() {
    let mut used = OsqpSolver::new(1e-6, 5000);
    let mut first: Option<Vec<Vec<u64>>> = None;
    for run in 0..10 {
        let mut all = Vec::new();
        for seed in 0..10 {
            let problem = random_definite(seed, 4, pyramid(4, PyramidFit::Inscribed));
            let (mut forces, mut fresh) = (vec![0.0; 12], vec![0.0; 12]);
            let _ = used.solve(&problem.view(), &mut forces);
            let _ = OsqpSolver::new(1e-6, 5000).solve(&problem.view(), &mut fresh);
            assert_eq!(bits(&forces), bits(&fresh), "run {run}, seed {seed}");
            all.push(bits(&forces));
        }
        assert_eq!(*first.get_or_insert_with(|| all.clone()), all, "run {run}");
    }
}

#[test]
fn there_is_a_status_for_problems_without_answer() {
    let mut solver = OsqpSolver::new(1e-6, 20_000);
    let mut qp = random_qp(3, 4, 2);
    let x = &mut [f64::NAN; 4];
    qp.rows.fill(0.0);
    (qp.rows[0], qp.rows[1]) = (1.0, 1.0);
    (qp.row_lower, qp.row_upper) = (vec![1.0, -INF], vec![INF, 0.5]);
    assert_eq!(solver.solve_qp(&qp.view(), x).status, Status::PrimalInfeasible);
    assert_eq!(*x, [0.0; 4]);
    let multipliers = solver.multipliers();
    let certificate =
        kkt::ConeMultipliers { rows: multipliers.rows, bounds: multipliers.bounds, cones: &[] };
    let radius = kkt::infeasible_radius(&ConeProgram::from(qp.view()), certificate);
    assert!(radius > 1e3, "{radius}");

    qp = random_qp(3, 4, 2);
    qp.hessian.fill(0.0);
    (qp.row_lower, qp.row_upper) = (vec![-INF; 2], vec![INF; 2]);
    qp.lower.clear();
    qp.upper.clear();
    assert_eq!(solver.solve_qp(&qp.view(), x).status, Status::Unbounded);
    let program = ConeProgram::from(qp.view());
    assert!(kkt::unbounded_residual(&program, solver.unbounded_direction()) < 1e-3);

    qp.hessian[0] = -1.0;
    assert_eq!(solver.solve_qp(&qp.view(), x).status, Status::NumericalTrouble);
    qp.hessian[0] = f64::NAN;
    assert_eq!(solver.solve_qp(&qp.view(), x).status, Status::InvalidData);
    let round = random_definite(1, 1, ConeShape::circular());
    let refused = solver.solve(&round.view(), &mut [0.0; 3]);
    assert_eq!(refused.status, Status::UnsupportedCone);
}
