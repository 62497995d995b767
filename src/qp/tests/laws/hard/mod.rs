//! The dual active-set method and Clarabel on programs that are hard by design or by chance.

use legwork_qp::duel::{self, Answer, Dimensions};
use legwork_qp::hard_problems::{HardProblem, KnownOptimum, hard_problems};
use legwork_qp::kkt::{self, ConeMultipliers};
use legwork_qp::storm::{storm, storm_program};
use legwork_qp::{ClarabelSolver, ConeProgram, GeneralActiveSet, Status};

/// 1e6 seeds take half a minute in release: `cargo bench -p legwork-qp --bench storm -- 1000000`.
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

#[test]
fn hard_problems_reach_their_published_optima() {
    let mut active_set = GeneralActiveSet::default();
    let mut interior = ClarabelSolver::new(1e-9, 200);
    for problem in hard_problems() {
        let qp = problem.program.view();
        let (mut x, mut y) = (vec![0.0; qp.dim()], vec![0.0; qp.dim()]);
        let exact = active_set.solve(&qp, &mut x);
        let conic = interior.solve_qp(&qp, &mut y);
        let name = problem.name;
        match problem.optimum {
            KnownOptimum::Value(optimum) => {
                assert_eq!(exact.status, Status::Solved, "{name}: {exact:?}");
                // HS3 ends with what is left of a curvature of 1e-5. Where all terms of the
                // stationarity vanish at the optimum, a relative residual may say nothing.
                let (is_honest, tolerance) = match name {
                    "HS3" => (conic.status == Status::Inaccurate, 1e-5),
                    "HS28" | "TAME" => (conic.status != Status::PrimalInfeasible, 1e-6),
                    _ => (conic.status == Status::Solved, 1e-6),
                };
                assert!(is_honest, "{name}: clarabel {conic:?}");
                let error = |x: &[f64]| {
                    (qp.objective(x) + problem.constant - optimum).abs() / (1.0 + optimum.abs())
                };
                assert!(error(&x) < 1e-8, "{name}: off by {:.1e}", error(&x));
                assert!(error(&y) < tolerance, "{name}: clarabel is off by {:.1e}", error(&y));
            }
            KnownOptimum::Infeasible => {
                assert_eq!(exact.status, Status::PrimalInfeasible, "{name}");
                assert_eq!(conic.status, Status::PrimalInfeasible, "{name}: clarabel");
            }
            KnownOptimum::Unbounded => {
                assert_eq!(exact.status, Status::Unbounded, "{name}");
                assert_eq!(conic.status, Status::Unbounded, "{name}: clarabel");
            }
        }
    }
}

/// What the table of the module docs says of a method: its status, qualified where the status does
/// not say how good the objective is.
fn cell(problem: &HardProblem, answer: &Answer) -> String {
    let status = answer.outcome.status;
    let name = status.name().replace('_', " ");
    let qp = problem.program.view();
    let (KnownOptimum::Value(optimum), false) = (problem.optimum, answer.x.is_empty()) else {
        return name;
    };
    let error = (qp.objective(&answer.x) + problem.constant - optimum).abs();
    let is_right = error <= 1e-6 * (1.0 + optimum.abs());
    match (status == Status::Solved, is_right) {
        (true, true) => name,
        (_, true) => format!("{name}, right"),
        (_, false) => format!("{name}, off by {error:.0e}"),
    }
}

/// The table in the docs of `hard_problems` is what the methods do.
#[test]
fn the_table_in_the_docs_is_true() {
    let docs = include_str!("../../hard_problems.rs");
    let rows: Vec<&str> = docs.lines().filter_map(|line| line.strip_prefix("//! | ")).collect();
    let methods = ["active_set", "clarabel", "lemke"];
    let head = format!("name | n × m | why it is hard | optimum | {} |", methods.join(" | "));
    assert_eq!(rows[0], head);
    let problems = hard_problems();
    assert_eq!(rows.len(), 1 + problems.len());
    let mut wrong = Vec::new();
    for (row, problem) in rows[1..].iter().zip(&problems) {
        let cells: Vec<&str> = row.trim_end_matches('|').split('|').map(str::trim).collect();
        let size =
            format!("{} × {}", problem.program.gradient.len(), problem.program.row_lower.len());
        assert_eq!((cells[0], cells[1]), (problem.name, size.as_str()));
        let program = legwork_qp::Problem::Qp(problem.program.clone());
        let said: Vec<String> = methods
            .iter()
            .map(|name| {
                let mut solver = duel::make(name, Dimensions::of(&program)).unwrap();
                cell(problem, &solver.solve(&program))
            })
            .collect();
        if said != cells[4..] {
            wrong.push(format!("{} | {}", problem.name, said.join(" | ")));
        }
    }
    assert!(wrong.is_empty(), "not what the docs say:\n{}", wrong.join("\n"));
}
