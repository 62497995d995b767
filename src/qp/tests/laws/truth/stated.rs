//! Small problems with a solution in closed form, by every solver.

use legwork_qp::complementarity::{Lcp, Lemke, LemkeProgram, lcp_residuals};
use legwork_qp::kkt::{self, QpMultipliers};
use legwork_qp::problems::Random;
use legwork_qp::{
    ClarabelSolver, ContactMethod, ContactProblemData, GeneralActiveSet, Outcome, PyramidActiveSet,
    PyramidFit, QpData, Status,
};

use crate::common::{INF, pyramid};

type Solve = Box<dyn FnMut(&QpData, &mut [f64]) -> Outcome>;

fn solvers() -> [(&'static str, Solve); 3] {
    let mut active_set = GeneralActiveSet::default();
    let mut clarabel = ClarabelSolver::new(1e-10, 200);
    let mut lemke = LemkeProgram::default();
    [
        ("active_set", Box::new(move |qp, x| active_set.solve(&qp.view(), x))),
        ("clarabel", Box::new(move |qp, x| clarabel.solve_qp(&qp.view(), x))),
        ("lemke", Box::new(move |qp, x| lemke.solve(&qp.view(), x))),
    ]
}

fn plane(rows: &[[f64; 2]], row_lower: &[f64], row_upper: &[f64]) -> QpData {
    QpData {
        hessian: vec![1.0, 0.0, 0.0, 1.0],
        gradient: vec![0.0; 2],
        rows: (0..2).flat_map(|j| rows.iter().map(move |row| row[j])).collect(),
        row_lower: row_lower.to_vec(),
        row_upper: row_upper.to_vec(),
        lower: Vec::new(),
        upper: Vec::new(),
    }
}

/// `x = -H⁻¹ g` with three unknowns; the unit of the last is up to 1e6 times larger or smaller. In
/// the units of the first, H is [2 1 5; 1 2 10; 5 10 200] · 1e-4.
#[test]
fn unknowns_in_unlike_units_are_solved_to_rounding() {
    let units = [1e2, 1.0, 1e-1, 1e-3, 1e3, 1e4, 1e-4, 1e5, 1e-5, 1e6, 1e-6, 0.3, 7.7e2];
    for (name, mut solve) in solvers() {
        for unit in units {
            // For the unit 1e2 the numbers are those of a table in m, N and MPa.
            let d = [1.0, 1.0, unit];
            let base = [[2e-4, 1e-4, 5e-2], [1e-4, 2e-4, 1e-1], [5e-2, 1e-1, 200.0]];
            let g = [0.01, -0.02, 30.0];
            let known = [-400.0 / 3.0, 300.0, -4.0 / 15.0];
            let qp = QpData {
                hessian: (0..9).map(|e| base[e / 3][e % 3] * d[e / 3] * d[e % 3]).collect(),
                gradient: (0..3).map(|i| g[i] * d[i]).collect(),
                ..QpData::default()
            };
            let mut x = [0.0; 3];
            let outcome = solve(&qp, &mut x);
            assert_eq!(outcome.status, Status::Solved, "{name}, unit {unit}: {outcome:?}");
            for i in 0..3 {
                let error = (x[i] * d[i] / known[i] - 1.0).abs();
                assert!(error < 1e-7, "{name}, unit {unit}: x{i} = {}, off {error:.1e}", x[i]);
            }
        }
    }
}

/// The unconstrained minimum (1, 2) for every spelling of "no bound".
#[test]
fn every_spelling_of_no_bound_is_none() {
    let spellings = [INF, 1e20, 1.5e20, 1e21, 1e25, 1e30, 1e50, 1e100, 1e300, 1e308, f64::MAX];
    for (name, mut solve) in solvers() {
        for (low, high) in spellings.iter().zip(spellings.iter().rev()) {
            let mut qp = plane(&[[1.0, 1.0]], &[-low], &[*high]);
            qp.gradient = vec![-1.0, -2.0];
            (qp.lower, qp.upper) = (vec![-high, -low], vec![*low, *high]);
            let mut x = [0.0; 2];
            let outcome = solve(&qp, &mut x);
            let what = format!("{name}, {low:e}, {high:e}: {outcome:?}, {x:?}");
            assert_eq!(outcome.status, Status::Solved, "{what}");
            assert!((x[0] - 1.0).abs() < 1e-7 && (x[1] - 2.0).abs() < 1e-7, "{what}");
            // As a bound of the other side it admits no point.
            qp.row_lower[0] = *low;
            assert_eq!(solve(&qp, &mut x).status, Status::PrimalInfeasible, "{what}");
        }
    }
}

/// A row of zeros is a constraint only if its interval excludes zero.
#[test]
fn rows_of_zeros_are_met_or_refuted() {
    for (name, mut solve) in solvers() {
        for (lower, upper, is_met) in [
            (-1.0, 0.0, true),
            (0.0, 0.0, true),
            (0.0, 1.0, true),
            (-INF, 0.0, true),
            (0.0, INF, true),
            (-1.0, 1.0, true),
            (-1e30, 1e30, true),
            (-1e-9, 0.0, true),
            (1.0, 2.0, false),
            (-2.0, -1.0, false),
            (1e-9, INF, false),
            (-INF, -1e-9, false),
        ] {
            let qp = plane(&[[0.0, 0.0], [1.0, 1.0]], &[lower, -1.0], &[upper, 1.0]);
            let mut x = [9.0; 2];
            let outcome = solve(&qp, &mut x);
            let expected = if is_met { Status::Solved } else { Status::PrimalInfeasible };
            assert_eq!(outcome.status, expected, "{name}, [{lower}, {upper}]: {outcome:?}");
            assert!(!is_met || (x[0].abs() < 1e-7 && x[1].abs() < 1e-7), "{name}: {x:?}");
        }
    }
}

/// `x₀ = 0` and `x₀ + α x₁ = 1` intersect at (0, 1/α): no answer is better than a wrong one. A
/// certificate excludes points up to 1e9.
#[test]
fn rows_at_a_small_angle_are_not_called_infeasible() {
    for (name, mut solve) in solvers() {
        for exponent in 1..=8 {
            for factor in [1.0, 3.0] {
                let angle = factor * libm::pow(10.0, -f64::from(exponent));
                let qp = plane(&[[1.0, 0.0], [1.0, angle]], &[0.0, 1.0], &[0.0, 1.0]);
                let mut x = [0.0; 2];
                let outcome = solve(&qp, &mut x);
                let what = format!("{name}, {angle:e}: {outcome:?}, {x:?}");
                match outcome.status {
                    Status::PrimalInfeasible | Status::Unbounded => panic!("{what}"),
                    Status::Solved => assert!((x[1] * angle - 1.0).abs() < 1e-6, "{what}"),
                    _ => assert!(exponent > 4, "{what}"),
                }
            }
        }
    }
}

#[test]
fn a_hessian_that_is_not_symmetric_or_not_semidefinite_is_named() {
    for (name, mut solve) in solvers() {
        for (hessian, expected) in [
            // Upper and lower triangle alone, and an error in one entry.
            ([2.0, 0.0, 2.0, 2.0], Status::Asymmetric),
            ([2.0, 2.0, 0.0, 2.0], Status::Asymmetric),
            ([2.0, 1.0, 1.001, 2.0], Status::Asymmetric),
            ([1e6, 1.0, 0.0, 1e-6], Status::Asymmetric),
            ([0.0, 1.0, 0.0, 0.0], Status::Asymmetric),
            ([1.0, 0.0, 0.0, -1.0], Status::Indefinite),
            ([-1.0, 0.0, 0.0, -1.0], Status::Indefinite),
            ([1.0, 2.0, 2.0, 1.0], Status::Indefinite),
            ([0.0, 1.0, 1.0, 0.0], Status::Indefinite),
            ([1e12, 1.1e3, 1.1e3, 1e-6], Status::Indefinite),
            // With rounding errors of sums, and singular.
            ([2.0, 1.0, 1.0 + 1e-12, 2.0], Status::Solved),
            ([1.0, 1.0, 1.0, 1.0], Status::Solved),
            ([1e12, 0.9e3, 0.9e3, 1e-6], Status::Solved),
        ] {
            let mut qp = plane(&[], &[], &[]);
            qp.hessian = hessian.to_vec();
            // In the range of H, even if H is singular.
            qp.gradient = vec![-(hessian[0] + hessian[2]), -(hessian[1] + hessian[3])];
            let outcome = solve(&qp, &mut [0.0; 2]);
            assert_eq!(outcome.status, expected, "{name}, {hessian:?}: {outcome:?}");
        }
    }
}

/// Dependent equalities, `x₀ + x₁ = 1` and nearly the same row for 1.5, do not depend on earlier
/// solves: a long answer of the previous problem would hide the contradiction.
#[test]
fn what_was_solved_before_does_not_decide() {
    for (length, rest) in [(1e10, 1e-12), (1e12, 1e-12), (1e13, 2e-12), (1e15, 1e-13)] {
        let mut long = plane(&[], &[], &[]);
        long.gradient = vec![-length, length];
        let near = plane(&[[1.0, 1.0], [1.0, 1.0 + rest]], &[1.0, 1.5], &[1.0, 1.5]);
        let mut x = [0.0; 2];
        let fresh = GeneralActiveSet::default().solve(&near.view(), &mut x);
        let mut used = GeneralActiveSet::default();
        assert_eq!(used.solve(&long.view(), &mut x).status, Status::Solved);
        assert_eq!(used.solve(&near.view(), &mut x).status, fresh.status, "{length:e}");
        assert_eq!(fresh.status, Status::PrimalInfeasible);
    }
}

/// Two contacts that press against each other: `G = [1 -1; -1 1]` of the normals, which only the
/// regularisation makes definite, so that forces are 1e10 times the bias and rounding is large.
#[test]
fn a_solved_contact_problem_is_one_that_the_judge_confirms() {
    let mut solver = PyramidActiveSet::new(2, 4);
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let mut problem = ContactProblemData::new(2, pyramid(4, PyramidFit::Inscribed));
        for i in 0..6 {
            problem.inverse_inertia[7 * i] = 1.0;
        }
        (problem.inverse_inertia[2 * 6 + 5], problem.inverse_inertia[5 * 6 + 2]) = (-1.0, -1.0);
        for bias in &mut problem.bias {
            *bias = -1.0 - random.uniform();
        }
        problem.friction.fill(0.8 * random.uniform());
        problem.force_scale = [1.0, 1e2, 1e-2, 1e4][seed as usize % 4];
        let mut forces = [0.0; 6];
        let outcome = solver.solve(&problem.view(), &mut forces);
        let residual = kkt::natural_residual(&problem.view(), &forces, &mut [0.0; 6]);
        if outcome.status == Status::Solved {
            assert!(residual <= 1e-6, "seed {seed}: {residual:.1e}, {outcome:?}");
        }
        let reported = outcome.residual;
        assert!(residual <= 1.01 * reported + 1e-7, "seed {seed}: {residual:.1e} {outcome:?}");
    }
}

/// `w₁ = z₁ - 1`, `w₂ = z₂`: z₂ and all terms of its row are rounding.
#[test]
fn rounding_in_a_row_whose_terms_vanish_is_no_residual() {
    for noise in [0.0, 1e-18, -1e-18, 3e-16, -2e-16, 1e-14, -1e-14, 5e-15, -7e-17, 2e-15] {
        let lcp = Lcp::new(&[1.0, 0.0, 0.0, 1.0], &[-1.0, 0.0]).unwrap();
        let z = [1.0, noise];
        let found = lcp_residuals(&lcp, &z, &mut [0.0; 2], &mut [0.0; 2]).scaled.worst();
        assert!(found <= 1e-9, "{noise:e}: {found:.1e}");
        // An error above rounding counts.
        let wrong = [1.0, -1e-3];
        let found = lcp_residuals(&lcp, &wrong, &mut [0.0; 2], &mut [0.0; 2]).scaled.worst();
        assert!(found > 1e-4, "{found:.1e}");
        // The same for a program: the minimum of x² between -1 and 1, with rounding in a
        // multiplier.
        let mut qp = plane(&[], &[], &[]);
        (qp.lower, qp.upper) = (vec![-1.0; 2], vec![1.0; 2]);
        let multipliers = QpMultipliers { rows: &[], bounds: &[0.0, noise.abs()] };
        let x = [noise, -noise];
        let found = kkt::qp_residuals(&qp.view(), &x, multipliers, &mut [0.0; 4]);
        assert!(found.worst() <= 1e-12, "{noise:e}: {found:?}");
    }
}

/// Lemke's method has no guarantee for this matrix: it ends after a count of pivots.
#[test]
fn a_large_problem_without_hope_ends_within_the_budget() {
    let n = 240;
    let mut random = Random::new(3);
    let matrix: Vec<f64> = (0..n * n).map(|_| random.normal()).collect();
    let vector: Vec<f64> = (0..n).map(|_| random.normal()).collect();
    let mut z = vec![0.0; n];
    let outcome = Lemke::new(n).solve(&Lcp::new(&matrix, &vector).unwrap(), &mut z);
    // 5e8 multiplications are 1300 pivots, and the attempt in progress takes at most 1000.
    assert!(outcome.iterations <= 2300 || outcome.status.is_usable(), "{outcome:?}");
}
