//! The dual active-set method and Clarabel on programs that are hard by design or by chance.

mod problems;
pub(crate) mod storm;

use legwork_qp::kkt::{self, ConeMultipliers};
use legwork_qp::{ClarabelSolver, ConeProgram, GeneralActiveSet, Status};
use problems::{HardProblem, KnownOptimum, hard_problems};
use storm::{storm, storm_program};

#[test]
fn every_outcome_of_twenty_thousand_random_programs_is_true() {
    let report = storm(0..20_000);
    assert_eq!(report.false_outcomes, [], "{report:?}");
    let [solved, inaccurate, limit, infeasible, unbounded, trouble] = report.counts;
    assert_eq!(solved + inaccurate + limit + infeasible + unbounded + trouble, 20_000);
    assert!(infeasible > 3_000 && unbounded > 500, "{report:?}");
    assert!(report.worst_solved <= 1e-7, "{report:?}");
    // Semidefinite programs of scales 1e-6 to 1e6: a few may be given up, and say so.
    assert!(inaccurate + limit + trouble < 40, "{report:?}");
}

#[test]
fn a_used_solver_gives_the_bits_of_a_fresh_one() {
    let mut used = GeneralActiveSet::default();
    for seed in 0..500 {
        let case = storm_program(seed);
        let n = case.program.gradient.len();
        let (mut x, mut y) = (vec![0.0; n], vec![0.0; n]);
        let first = used.solve(&case.program.view(), &mut x);
        let second = GeneralActiveSet::default().solve(&case.program.view(), &mut y);
        assert_eq!((first.status, first.iterations), (second.status, second.iterations));
        let bits = |x: &[f64]| x.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&x), bits(&y), "seed {seed}");
    }
}

/// Farkas's lemma on three rows by hand: `x + y ≥ 1`, `x - y ≥ 1`, `-2x ≥ -2 + 4e-6`.
#[test]
fn the_certificate_of_a_small_contradiction_is_the_sum_of_its_rows() {
    let all = hard_problems();
    let problem = all.iter().find(|p| p.name == "contradiction").unwrap();
    let mut solver = GeneralActiveSet::default();
    let mut x = [0.0; 2];
    let outcome = solver.solve(&problem.program.view(), &mut x);
    assert_eq!(outcome.status, Status::PrimalInfeasible);
    let proof = solver.certificate().unwrap();
    let scaled: Vec<f64> = proof.rows.iter().map(|y| y / proof.rows[0]).collect();
    assert!(scaled.iter().all(|y| (y - 1.0).abs() < 1e-12), "{scaled:?}");
    assert!(radius(problem, &solver) > 1e6);
}

fn radius(problem: &HardProblem, solver: &GeneralActiveSet) -> f64 {
    let proof = solver.certificate().unwrap();
    let multipliers = ConeMultipliers { rows: proof.rows, bounds: proof.bounds, cones: &[] };
    kkt::infeasible_radius(&ConeProgram::from(problem.program.view()), multipliers)
}

/// Within 1e-6 of `1 + |optimum|`, the active set within 1e-8.
#[test]
fn hard_problems_reach_their_published_optima() {
    for problem in hard_problems() {
        let qp = problem.program.view();
        let mut x = vec![0.0; qp.dim()];
        for (method, tolerance) in [("active_set", 1e-8), ("clarabel", 1e-6)] {
            let name = format!("{}, {method}", problem.name);
            let outcome = match method {
                "active_set" => GeneralActiveSet::default().solve(&qp, &mut x),
                _ => ClarabelSolver::new(1e-10, 200).solve_qp(&qp, &mut x),
            };
            let expected = match problem.optimum {
                KnownOptimum::Value(optimum) => {
                    let found = qp.objective(&x) + problem.constant;
                    let error = (found - optimum).abs() / (1.0 + optimum.abs());
                    assert!(error < tolerance, "{name}: off by {error:.1e}");
                    Status::Solved
                }
                KnownOptimum::Infeasible => Status::PrimalInfeasible,
                KnownOptimum::Unbounded => Status::Unbounded,
            };
            assert_eq!(outcome.status, expected, "{name}");
        }
    }
}
