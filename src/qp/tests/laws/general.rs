//! Laws of the general quadratic program.

use crate::common::{INF, difference, natural_residual, pyramid, random_qp, written_out};
use legwork_qp::problems::{random_definite, rigid_body};
use legwork_qp::{
    ContactMethod, GeneralActiveSet, PyramidActiveSet, PyramidFit, QpData, Status, kkt,
};

fn judge(qp: &QpData, solver: &GeneralActiveSet, x: &[f64]) -> f64 {
    let mut scratch = vec![0.0; 2 * x.len() + qp.row_lower.len()];
    kkt::qp_residuals(&qp.view(), x, solver.multipliers(), &mut scratch).worst()
}

#[test]
fn solutions_of_feasible_problems_pass_the_judge() {
    let mut solver = GeneralActiveSet::default();
    for seed in 0..40 {
        for (n, equalities, inequalities) in [(1, 0, 1), (5, 1, 4), (12, 4, 20), (30, 6, 30)] {
            let qp = random_qp(seed, n, equalities, inequalities, n + 2).0;
            let mut x = vec![0.0; n];
            let outcome = solver.solve(&qp.view(), &mut x);
            assert_eq!(outcome.status, Status::Solved, "seed {seed}, n {n}");
            let residual = judge(&qp, &solver, &x);
            assert!(residual < 1e-9, "seed {seed}, n {n}: {residual:.1e}");
        }
    }
}

/// A semidefinite Hessian: no other feasible point may be better than the answer.
#[test]
fn semidefinite_problems_are_solved_exactly() {
    let mut solver = GeneralActiveSet::default();
    for seed in 0..40 {
        for rank in [0, 1, 4, 8] {
            let qp = random_qp(seed, 10, 2, 12, rank).0;
            let mut x = vec![0.0; 10];
            let outcome = solver.solve(&qp.view(), &mut x);
            assert_eq!(outcome.status, Status::Solved, "seed {seed}, rank {rank}: {outcome:?}");
            let residual = judge(&qp, &solver, &x);
            assert!(residual < 1e-7, "seed {seed}, rank {rank}: {residual:.1e}");
        }
    }
}

#[test]
fn infeasible_problems_say_so() {
    let mut solver = GeneralActiveSet::default();
    let mut x = vec![0.0; 6];
    for seed in 0..20 {
        // The same row asked to be above 1 and below 0, in two rows.
        let mut qp = random_qp(seed, 6, 0, 4, 8).0;
        for j in 0..6 {
            qp.rows[j * 4 + 1] = -2.0 * qp.rows[j * 4];
        }
        (qp.row_lower[0], qp.row_upper[0]) = (1.0, INF);
        (qp.row_lower[1], qp.row_upper[1]) = (0.0, INF);
        assert_eq!(solver.solve(&qp.view(), &mut x).status, Status::PrimalInfeasible);

        // Contradicting equalities.
        (qp.row_lower[0], qp.row_upper[0]) = (1.0, 1.0);
        (qp.row_lower[1], qp.row_upper[1]) = (1.0, 1.0);
        assert_eq!(solver.solve(&qp.view(), &mut x).status, Status::PrimalInfeasible);

        // An empty interval.
        (qp.row_lower[0], qp.row_upper[0]) = (1.0, 0.0);
        assert_eq!(solver.solve(&qp.view(), &mut x).status, Status::PrimalInfeasible);
    }
}

#[test]
fn redundant_rows_do_no_harm() {
    let mut solver = GeneralActiveSet::default();
    for seed in 0..20 {
        let mut qp = random_qp(seed, 6, 2, 4, 8).0;
        let mut once = vec![0.0; 6];
        assert_eq!(solver.solve(&qp.view(), &mut once).status, Status::Solved);
        // Every row twice, the copies scaled.
        let m = 6;
        let mut rows = vec![0.0; 2 * m * 6];
        for j in 0..6 {
            for i in 0..m {
                rows[j * 2 * m + i] = qp.rows[j * m + i];
                rows[j * 2 * m + m + i] = 3.0 * qp.rows[j * m + i];
            }
        }
        qp.rows = rows;
        let copies: Vec<f64> = qp.row_lower.iter().map(|b| 3.0 * b).collect();
        qp.row_lower.extend(copies);
        let copies: Vec<f64> = qp.row_upper.iter().map(|b| 3.0 * b).collect();
        qp.row_upper.extend(copies);
        let mut twice = vec![0.0; 6];
        let outcome = solver.solve(&qp.view(), &mut twice);
        assert_eq!(outcome.status, Status::Solved, "seed {seed}");
        let error = once.iter().zip(&twice).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(error < 1e-9, "seed {seed}: {error:.1e}");
    }
}

#[test]
fn unbounded_problems_say_so() {
    let mut solver = GeneralActiveSet::default();
    let mut x = vec![0.0; 2];
    // x₁ is free and falls for ever; x₀ has a parabola.
    let qp = QpData {
        hessian: vec![1.0, 0.0, 0.0, 0.0],
        gradient: vec![0.0, -1.0],
        rows: vec![],
        row_lower: vec![],
        row_upper: vec![],
        lower: vec![],
        upper: vec![],
    };
    assert_eq!(solver.solve(&qp.view(), &mut x).status, Status::Unbounded);
    let mut bounded = qp.clone();
    bounded.lower = vec![-INF, -INF];
    bounded.upper = vec![INF, 7.0];
    assert_eq!(solver.solve(&bounded.view(), &mut x).status, Status::Solved);
    assert!((x[1] - 7.0).abs() < 1e-9, "{x:?}");
    // A linear program without any curvature.
    let mut linear = bounded;
    linear.hessian = vec![0.0; 4];
    linear.gradient = vec![1.0, -1.0];
    assert_eq!(solver.solve(&linear.view(), &mut x).status, Status::Unbounded);
    linear.lower = vec![-3.0, -INF];
    assert_eq!(solver.solve(&linear.view(), &mut x).status, Status::Solved);
    assert_eq!(x.iter().map(|v| v.round()).collect::<Vec<_>>(), [-3.0, 7.0]);
}

#[test]
fn bad_data_get_a_status() {
    let mut solver = GeneralActiveSet::new(3, 2);
    let mut x = vec![0.0; 3];
    let good = random_qp(1, 3, 0, 2, 4).0;
    let breakers: [fn(&mut QpData); 5] = [
        |q| q.hessian[0] = f64::NAN,
        |q| q.gradient[1] = INF,
        |q| q.rows[0] = f64::NAN,
        |q| q.row_upper[0] = f64::NAN,
        |q| q.lower[0] = f64::NAN,
    ];
    for (index, break_it) in breakers.iter().enumerate() {
        let mut qp = good.clone();
        break_it(&mut qp);
        let outcome = solver.solve(&qp.view(), &mut x);
        assert_eq!(outcome.status, Status::InvalidData, "breaker {index}");
    }
    let mut indefinite = good;
    indefinite.hessian[0] = -5.0;
    assert_eq!(solver.solve(&indefinite.view(), &mut x).status, Status::Indefinite);
}

/// The friction pyramid written out as dense rows gives the answer of the structured solver.
#[test]
fn the_general_and_the_pyramid_solver_agree() {
    let mut general = GeneralActiveSet::new(12, 20);
    let mut structured = PyramidActiveSet::new(4, 4);
    for seed in 0..30 {
        let problem = random_definite(seed, 4, pyramid(4, PyramidFit::Circumscribed));
        let (qp, view) = (written_out(&problem), problem.view());
        let (mut x, mut forces) = (vec![0.0; 12], vec![0.0; 12]);
        assert_eq!(general.solve(&qp.view(), &mut x).status, Status::Solved, "seed {seed}");
        assert_eq!(structured.solve(&view, &mut forces).status, Status::Solved, "seed {seed}");
        let error = difference(&x, &forces);
        assert!(error < 1e-10 * problem.force_scale, "seed {seed}: {error:.1e}");
    }
}

#[test]
fn a_warm_start_from_the_answer_needs_no_search() {
    let mut solver = GeneralActiveSet::default();
    for seed in 0..20 {
        let qp = random_qp(seed, 12, 3, 15, 14).0;
        let (mut cold, mut warm) = (vec![0.0; 12], vec![0.0; 12]);
        let mut sides = vec![0.0; 12 + 18];
        let first = solver.solve_warm(&qp.view(), &mut sides, &mut cold);
        let active = sides.iter().filter(|s| **s != 0.0).count() as u32;
        let second = solver.solve_warm(&qp.view(), &mut sides, &mut warm);
        assert_eq!((first.status, second.status), (Status::Solved, Status::Solved));
        assert!(second.iterations <= active, "seed {seed}: {} > {active}", second.iterations);
        let error = difference(&cold, &warm);
        assert!(error < 1e-10, "seed {seed}: {error:.1e}");
    }
}

#[test]
fn the_iteration_limit_is_a_status() {
    let qp = random_qp(4, 12, 0, 30, 14).0;
    let mut solver = GeneralActiveSet::new(12, 30);
    solver.iteration_limit = 1;
    let status = solver.solve(&qp.view(), &mut [0.0; 12]).status;
    assert_eq!(status, Status::MaxIterations);
}

/// Redundant contacts with frictionless ones among them, written as dense rows: opposing
/// inequalities and a condition of 1e10. Feasible (x = 0), so never to be called infeasible.
#[test]
fn ill_conditioned_feasible_problems_are_not_called_infeasible() {
    let mut general = GeneralActiveSet::default();
    for contacts in [4, 8, 12, 16] {
        for seed in 0..6 {
            let problem = rigid_body(seed, contacts, pyramid(4, PyramidFit::Inscribed), false);
            let (qp, n) = (written_out(&problem), 3 * contacts);
            let mut x = vec![0.0; n];
            let outcome = general.solve(&qp.view(), &mut x);
            assert!(outcome.status.is_usable(), "{contacts} contacts, seed {seed}: {outcome:?}");
            let residual = natural_residual(&problem, &x);
            assert!(residual < 1e-6, "{contacts} contacts, seed {seed}: {residual:.1e}");
        }
    }
}

/// Without a factor there is no answer: what an earlier call left is none.
#[test]
fn a_failure_has_no_memory() {
    let earlier = random_qp(4, 6, 2, 8, 8).0;
    let mut problem = earlier.clone();
    problem.hessian.iter_mut().for_each(|h| *h = -*h);
    let mut used = GeneralActiveSet::default();
    assert!(used.solve(&earlier.view(), &mut [0.0; 6]).status.is_usable());
    let (mut x, mut multipliers) = ([f64::NAN; 6], Vec::new());
    let outcome = used.solve(&problem.view(), &mut x);
    multipliers.extend_from_slice(used.multipliers().rows);
    multipliers.extend_from_slice(used.multipliers().bounds);
    assert_eq!(outcome.status, Status::Indefinite);
    assert!(outcome.residual.is_nan(), "{}", outcome.residual);
    assert!(x.iter().chain(&multipliers).all(|v| *v == 0.0), "{x:?}, {multipliers:?}");
}
