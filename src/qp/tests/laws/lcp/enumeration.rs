//! Comparison with all complementary bases, and classical problems.

use super::Problem;
use super::problems::{KINDS, problem};
use crate::common::{difference, largest};
use legwork_qp::Status;
use legwork_qp::complementarity::{Lemke, PrincipalPivoting};
use legwork_qp::problems::Random;

/// Solves `A x = b` (row-major) by elimination; `None` if singular.
fn eliminate(mut a: Vec<f64>, mut b: Vec<f64>) -> Option<Vec<f64>> {
    let n = b.len();
    for k in 0..n {
        let best = (k..n).max_by(|&i, &j| a[i * n + k].abs().total_cmp(&a[j * n + k].abs()))?;
        if a[best * n + k].abs() < 1e-10 {
            return None;
        }
        for j in 0..n {
            a.swap(k * n + j, best * n + j);
        }
        b.swap(k, best);
        for i in k + 1..n {
            let factor = a[i * n + k] / a[k * n + k];
            for j in k..n {
                a[i * n + j] -= factor * a[k * n + j];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        let sum: f64 = (k + 1..n).map(|j| a[k * n + j] * b[j]).sum();
        b[k] = (b[k] - sum) / a[k * n + k];
    }
    Some(b)
}

/// The solutions at all regular complementary bases.
fn solutions(problem: &Problem) -> Vec<Vec<f64>> {
    let n = problem.dim();
    let mut found = Vec::new();
    for set in 0..1usize << n {
        let basic: Vec<usize> = (0..n).filter(|i| set >> i & 1 == 1).collect();
        let size = basic.len();
        let mut a = vec![0.0; size * size];
        for (r, &i) in basic.iter().enumerate() {
            for (c, &j) in basic.iter().enumerate() {
                a[r * size + c] = problem.matrix[j * n + i];
            }
        }
        let b = basic.iter().map(|&i| -problem.vector[i]).collect();
        let Some(x) = eliminate(a, b) else { continue };
        let mut z = vec![0.0; n];
        for (&i, &x) in basic.iter().zip(&x) {
            z[i] = x;
        }
        // Longer ones come from bases that are singular but for rounding.
        if largest(&z) < 1e7 && problem.residuals(&z).scaled.worst() < 1e-10 {
            found.push(z);
        }
    }
    found
}

/// Some complementary basis holds a solution iff there is one, for the classes where Lemke's method
/// is guaranteed to decide; semidefinite problems share one `M z` (symmetric) between all
/// solutions.
#[test]
fn the_methods_find_what_enumeration_finds() {
    let mut lemke = Lemke::new(8);
    let mut pivoting = PrincipalPivoting::new(8, 8);
    let (mut solvable, mut unsolvable) = (0, 0);
    for seed in 0..6_000u64 {
        let kind = KINDS[(seed % 8) as usize];
        let n = 1 + Random::new(seed ^ 0x77).below(8);
        let problem = problem(seed, kind, n, false);
        let all = solutions(&problem);
        let mut answers = Vec::new();
        let mut z = vec![0.0; n];
        answers.push(("lemke", lemke.solve(&problem.lcp(), &mut z).status, z.clone()));
        if kind.is_symmetric_semidefinite() {
            let status = pivoting.solve_lcp(&problem.lcp(), &mut vec![0.0; n], &mut z).status;
            answers.push(("pivoting", status, z.clone()));
        }
        for (name, status, z) in answers {
            let what = format!("{name}, seed {seed}, {kind:?}, n {n}: {status:?}");
            assert_eq!(status == Status::Solved, !all.is_empty(), "{what}, {} exist", all.len());
            assert_eq!(status == Status::PrimalInfeasible, all.is_empty(), "{what}");
            if all.is_empty() {
                unsolvable += 1;
                continue;
            }
            solvable += 1;
            let nearest = |image: &dyn Fn(&[f64]) -> Vec<f64>| {
                let own = image(&z);
                let scale = largest(&own).max(1.0);
                all.iter()
                    .map(|other| difference(&own, &image(other)) / scale)
                    .fold(f64::INFINITY, f64::min)
            };
            if kind.is_symmetric_semidefinite() {
                let product = |z: &[f64]| {
                    (0..n).map(|i| (0..n).map(|j| problem.matrix[j * n + i] * z[j]).sum()).collect()
                };
                let error = nearest(&product);
                assert!(error < 1e-7, "{what}: M z differs by {error:.1e}");
            } else if all.len() == 1 {
                let error = nearest(&|z| z.to_vec());
                assert!(error < 1e-7, "{what}: z differs by {error:.1e}");
            }
        }
    }
    assert!(solvable > 1000 && unsolvable > 300, "{solvable} solvable, {unsolvable} not");
}

/// M. Kostreva, *Cycling in linear complementarity problems*, Math. Program. 16 (1979): methods
/// without a rule for ties return to a basis on these.
#[test]
fn ties_do_not_cycle() {
    let third = 1.0 / 3.0;
    let problems = [
        Problem::rows(&[&[1.0, 2.0, 0.0], &[0.0, 1.0, 2.0], &[2.0, 0.0, 1.0]], &[-1.0, -1.0, -1.0]),
        Problem::rows(&[&[1.0, 0.0, 2.0], &[2.0, 1.0, 0.0], &[0.0, 2.0, 1.0]], &[-1.0, -1.0, -1.0]),
    ];
    for problem in problems {
        let mut lemke = Lemke::new(3);
        let mut z = [0.0; 3];
        let outcome = lemke.solve(&problem.lcp(), &mut z);
        assert_eq!(outcome.status, Status::Solved);
        assert!(outcome.iterations <= 8, "{} pivots", outcome.iterations);
        assert!(difference(&z, &[third; 3]) < 1e-15, "{z:?}");
    }
}

/// K. Murty's problem on which complementary pivoting takes exponentially many steps: the limit
/// ends it with a status.
#[test]
fn exponential_problems_end_at_the_limit_or_are_solved() {
    for n in [4, 8, 12, 16] {
        let mut problem = Problem { matrix: vec![0.0; n * n], vector: vec![-1.0; n] };
        for j in 0..n {
            problem.matrix[j * n + j] = 1.0;
            for i in j + 1..n {
                problem.matrix[j * n + i] = 2.0;
            }
        }
        let mut lemke = Lemke::new(n);
        let mut z = vec![0.0; n];
        let outcome = lemke.solve(&problem.lcp(), &mut z);
        if outcome.status == Status::Solved {
            let mut expected = vec![0.0; n];
            expected[0] = 1.0;
            assert!(difference(&z, &expected) < 1e-12, "n {n}: {z:?}");
        } else {
            assert!(n > 8 && outcome.status == Status::MaxIterations, "n {n}: {outcome:?}");
        }
    }
}

#[test]
fn empty_trivial_and_zero_problems_are_answered() {
    let mut lemke = Lemke::default();
    let mut pivoting = PrincipalPivoting::default();
    let cases = [
        (Problem::rows(&[], &[]), Status::Solved),
        (Problem::rows(&[&[0.0]], &[0.0]), Status::Solved),
        (Problem::rows(&[&[0.0]], &[2.0]), Status::Solved),
        (Problem::rows(&[&[0.0]], &[-2.0]), Status::PrimalInfeasible),
        (Problem::rows(&[&[3.0]], &[-2.0]), Status::Solved),
        (Problem::rows(&[&[1.0, -1.0], &[-1.0, 1.0]], &[-1.0, -1.0]), Status::PrimalInfeasible),
        (Problem::rows(&[&[1.0, -1.0], &[-1.0, 1.0]], &[-1.0, 1.0]), Status::Solved),
        (Problem::rows(&[&[1.0, 1.0], &[1.0, 1.0]], &[-1.0, -1.0]), Status::Solved),
        (Problem::rows(&[&[1.0, 1.0], &[1.0, 1.0]], &[-1.0, -2.0]), Status::Solved),
    ];
    for (problem, expected) in cases {
        let n = problem.dim();
        let mut z = vec![f64::NAN; n];
        assert_eq!(lemke.solve(&problem.lcp(), &mut z).status, expected, "lemke, {problem:?}");
        let status = pivoting.solve_lcp(&problem.lcp(), &mut vec![1.0; n], &mut z).status;
        assert_eq!(status, expected, "pivoting, {problem:?}");
        if expected == Status::PrimalInfeasible {
            assert!(problem.margins(lemke.certificate().unwrap()).is_proof());
            assert!(problem.margins(pivoting.certificate().unwrap()).is_proof());
        }
    }
}
