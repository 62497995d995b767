//! Statuses on 10^5 random problems.

use crate::problems::{KINDS, Kind, problem};
use crate::{Problem, difference, largest};
use legwork_qp::complementarity::{Lemke, PrincipalPivoting};
use legwork_qp::problems::Random;
use legwork_qp::{Outcome, Status};

/// Everything that an answer must satisfy whatever the problem; returns what is wrong.
fn check(
    problem: &Problem,
    kind: Kind,
    outcome: Outcome,
    z: &[f64],
    certificate: Option<&[f64]>,
) -> Result<(), String> {
    if !z.iter().all(|v| v.is_finite()) {
        return Err(format!("{:?} with an answer that is not finite", outcome.status));
    }
    let residual = problem.residuals(z).scaled.worst();
    match outcome.status {
        Status::Solved => {
            if residual > 1e-10 {
                return Err(format!("solved, but the residual is {residual:.1e}"));
            }
            if kind == Kind::Unsolvable {
                return Err(format!("solved an unsolvable problem, residual {residual:.1e}"));
            }
        }
        Status::PrimalInfeasible => {
            let Some(y) = certificate else { return Err("no certificate".to_owned()) };
            let margins = problem.margins(y);
            if !margins.is_proof() {
                return Err(format!("a certificate that proves nothing: {margins:?}"));
            }
            if kind.is_solvable() {
                return Err(format!("a solvable problem is called infeasible: {margins:?}"));
            }
        }
        other => return Err(format!("{other:?} after {}: {residual:.1e}", outcome.iterations)),
    }
    Ok(())
}

/// Runs `count` problems through both methods; at most `allowed` findings.
fn sweep(count: u64, first_seed: u64, allowed: usize) {
    let mut lemke = Lemke::new(30);
    let mut pivoting = PrincipalPivoting::new(30, 30);
    let mut failures = Vec::new();
    let (mut z, mut other) = (Vec::new(), Vec::new());
    let (mut infeasible, mut by_lemke) = (0, 0);
    for seed in first_seed..first_seed + count {
        let kind = KINDS[(seed % 8) as usize];
        let scaled = (seed / 8) % 2 == 1;
        let n = 1 + Random::new(seed ^ 0xABCD).below(30);
        let problem = problem(seed, kind, n, scaled);
        z.resize(n, 0.0);
        z.fill(f64::NAN);
        let outcome = lemke.solve(&problem.lcp(), &mut z);
        let first = outcome.status;
        infeasible += u32::from(first == Status::PrimalInfeasible);
        if let Err(what) = check(&problem, kind, outcome, &z, lemke.certificate()) {
            failures.push(format!("lemke, seed {seed}, {kind:?}, n {n}, scaled {scaled}: {what}"));
        }
        if kind.is_symmetric_semidefinite() {
            other.resize(n, 0.0);
            other.fill(f64::NAN);
            let mut flags = vec![0.0; n];
            let outcome = pivoting.solve_lcp(&problem.lcp(), &mut flags, &mut other);
            by_lemke += u32::from(outcome.iterations > 50 + 10 * n as u32);
            if let Err(what) = check(&problem, kind, outcome, &other, pivoting.certificate()) {
                failures.push(format!(
                    "pivoting, seed {seed}, {kind:?}, n {n}, scaled {scaled}: {what}"
                ));
            }
            if outcome.status != first && kind != Kind::SemidefiniteAny {
                failures.push(format!("seed {seed}, {kind:?}: {first:?} and {:?}", outcome.status));
            }
            // Definite problems have one solution, of which rounding leaves 12 digits less the
            // condition.
            if kind == Kind::Definite && !scaled && outcome.status == Status::Solved {
                let error = difference(&z, &other) / largest(&z).max(1.0);
                if error > 1e-10 {
                    failures.push(format!("seed {seed}, {kind:?}, n {n}: differ by {error:.1e}"));
                }
            }
        }
    }
    let total = failures.len();
    assert!(
        total <= allowed,
        "{total} failures of {count} ({infeasible} infeasible, {by_lemke} handed on):\n{}",
        failures[..total.min(40)].join("\n")
    );
    assert!(infeasible > 0);
}

#[test]
fn every_status_is_true_on_random_problems() {
    sweep(100_000, 0, 0);
}

#[test]
fn bad_numbers_are_refused_without_an_answer() {
    let mut lemke = Lemke::new(3);
    let mut pivoting = PrincipalPivoting::new(3, 3);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for place in 0..12 {
            let mut problem = problem(place, Kind::Definite, 3, false);
            if place < 9 {
                problem.matrix[place as usize] = bad;
            } else {
                problem.vector[place as usize - 9] = bad;
            }
            let mut z = [f64::NAN; 3];
            assert_eq!(lemke.solve(&problem.lcp(), &mut z).status, Status::InvalidData);
            assert_eq!(z, [0.0; 3]);
            let mut flags = [1.0; 3];
            z = [f64::NAN; 3];
            let outcome = pivoting.solve_lcp(&problem.lcp(), &mut flags, &mut z);
            assert_eq!(outcome.status, Status::InvalidData);
            assert_eq!(z, [0.0; 3]);
        }
    }
}

#[test]
fn any_finite_matrix_ends_in_a_true_status() {
    let mut lemke = Lemke::new(12);
    for seed in 0..20_000 {
        let mut random = Random::new(seed);
        let n = 1 + random.below(12);
        let matrix = (0..n * n).map(|_| random.normal()).collect();
        let vector = (0..n).map(|_| random.normal()).collect();
        let problem = Problem { matrix, vector };
        let mut z = vec![f64::NAN; n];
        let outcome = lemke.solve(&problem.lcp(), &mut z);
        assert!(z.iter().all(|v| v.is_finite()), "seed {seed}");
        let residual = problem.residuals(&z).scaled.worst();
        match outcome.status {
            Status::Solved => assert!(residual <= 1e-10, "seed {seed}: {residual:.1e}"),
            Status::Inaccurate => assert!(residual <= 1e-6, "seed {seed}: {residual:.1e}"),
            Status::PrimalInfeasible => {
                let margins = problem.margins(lemke.certificate().unwrap());
                assert!(margins.is_proof(), "seed {seed}: {margins:?}");
            }
            _ => assert!(lemke.certificate().is_none(), "seed {seed}"),
        }
    }
}
