//! Complementarity problems whose outcome is known by construction.

use super::programs::{power, spectral};
use super::{Tally, count, hold};
use legwork_qp::complementarity::{Lcp, Lemke, PrincipalPivoting};
use legwork_qp::problems::Random;
use legwork_qp::{ClarabelSolver, GeneralActiveSet, Outcome, Status};

struct Case {
    matrix: Vec<f64>,
    vector: Vec<f64>,
    base: (Vec<f64>, Vec<f64>),
    columns: Vec<f64>,
    condition: f64,
    is_symmetric: bool,
    z: Option<Vec<f64>>,
}

/// Condition numbers from 1 to 1e12; every fifth problem has no solution.
fn case(seed: u64, decades: f64) -> Case {
    let mut random = Random::new(seed ^ 0x5EED);
    let n = 2 + random.below(9);
    let condition = libm::pow(10.0, 12.0 * random.uniform());
    let is_unsolvable = seed % 5 == 4;
    let mut eigenvalues: Vec<f64> =
        (0..n).map(|k| libm::pow(condition, -[0.0, 1.0, random.uniform()][k.min(2)])).collect();
    if is_unsolvable {
        eigenvalues[0] = 0.0;
    }
    let (mut matrix, q) = spectral(&mut random, &eigenvalues);
    let mut vector: Vec<f64>;
    let mut known = None;
    let is_symmetric = random.below(3) != 0 || is_unsolvable;
    if is_unsolvable {
        // Signs for which the null direction is positive; q decreases along it.
        let ray: Vec<f64> = q[..n].to_vec();
        for j in 0..n {
            for i in 0..n {
                matrix[j * n + i] *= ray[i].signum() * ray[j].signum();
            }
        }
        vector = (0..n).map(|_| random.normal()).collect();
        let along: f64 = (0..n).map(|i| vector[i] * ray[i].abs()).sum();
        let fall = along + 0.1 + random.uniform();
        (0..n).for_each(|i| vector[i] -= fall * ray[i].abs());
    } else {
        if !is_symmetric {
            for j in 0..n {
                for i in 0..j {
                    let s = random.normal();
                    matrix[j * n + i] += s;
                    matrix[i * n + j] -= s;
                }
            }
        }
        let (mut z, mut w) = (vec![0.0; n], vec![0.0; n]);
        for i in 0..n {
            match random.below(5) {
                0 => {}
                1 | 2 => z[i] = random.uniform() + 0.01,
                _ => w[i] = random.uniform() + 0.01,
            }
        }
        vector =
            (0..n).map(|i| w[i] - (0..n).map(|j| matrix[j * n + i] * z[j]).sum::<f64>()).collect();
        known = Some(z);
    }
    let columns: Vec<f64> = (0..n).map(|_| power(&mut random, decades)).collect();
    let cost = power(&mut random, decades);
    // Unknowns in units of `columns`, and rows in the dual units, which keeps symmetry.
    let rows: Vec<f64> = columns.iter().map(|d| cost / d).collect();
    let base = (matrix.clone(), vector.clone());
    for j in 0..n {
        for i in 0..n {
            matrix[j * n + i] *= rows[i] / columns[j];
        }
        vector[j] *= rows[j];
    }
    // Restores the symmetry after rounding.
    if is_symmetric {
        for j in 0..n {
            for i in 0..j {
                matrix[j * n + i] = matrix[i * n + j];
            }
        }
    }
    Case { matrix, vector, base, columns, condition, is_symmetric, z: known }
}

impl Case {
    fn residual(&self, z: &[f64]) -> f64 {
        let n = z.len();
        let z: Vec<f64> = z.iter().zip(&self.columns).map(|(z, d)| z / d).collect();
        let length = z.iter().fold(1.0f64, |s, z| s.max(z.abs()));
        (0..n).fold(0.0, |worst, i| {
            let (mut w, mut size) = (self.base.1[i], 1.0 + self.base.1[i].abs());
            for j in 0..n {
                w += self.base.0[j * n + i] * z[j];
                size += (self.base.0[j * n + i] * z[j]).abs();
            }
            // Interior points end with pairs of 3e-4 at a gap of 1e-7.
            let (z, w) = (z[i] / length, w / size);
            let miss = (-z).max(-w).max(z.min(w) / 30.0);
            if z.is_nan() || w.is_nan() { f64::INFINITY } else { f64::max(worst, miss) }
        })
    }
}

fn judge(case: &Case, outcome: Outcome, z: &[f64], t: &mut Tally) {
    let wrong = |what: String| Some(format!("{what} {outcome:?}"));
    let found = match outcome.status {
        Status::Solved | Status::Inaccurate => {
            let is_solved = outcome.status == Status::Solved;
            *(if is_solved { &mut t.solved } else { &mut t.inaccurate }) += 1;
            let residual = case.residual(z);
            let bound = if is_solved { 1e-5 } else { 1e-2 };
            match &case.z {
                None => wrong("an answer to an unsolvable problem".to_owned()),
                _ if residual > bound => wrong(format!("residual {residual:.1e}")),
                Some(known) if is_solved && case.condition < 1e3 => {
                    let pairs = z.iter().zip(&case.columns).zip(known);
                    let error = pairs.map(|((z, d), e)| (z / d - e).abs()).fold(0.0, f64::max);
                    (error > 1e-3).then(|| wrong(format!("error {error:.1e}"))).flatten()
                }
                Some(_) => None,
            }
        }
        Status::PrimalInfeasible | Status::Unbounded => {
            t.refuted += 1;
            case.z.is_some().then(|| wrong("claim".to_owned())).flatten()
        }
        Status::MaxIterations | Status::NumericalTrouble | Status::Undecided => {
            t.failed += 1;
            None
        }
        _ => wrong("refused".to_owned()),
    };
    t.falsehoods.extend(found);
}

fn problems(decades: f64) -> [(&'static str, Tally); 4] {
    let names = ["lemke", "ppm", "active_set", "clarabel"];
    let mut tallies = names.map(|name| (name, Tally::default()));
    let (mut lemke, mut pivoting) = (Lemke::new(12), PrincipalPivoting::new(12, 12));
    let mut active_set = GeneralActiveSet::default();
    let mut clarabel = ClarabelSolver::new(1e-10, 200);
    for seed in 0..count() {
        let case = case(seed, decades);
        let lcp = Lcp::new(&case.matrix, &case.vector).unwrap();
        let n = lcp.dim();
        let zeros = vec![0.0; n];
        for (index, (_, tally)) in tallies.iter_mut().enumerate() {
            if index > 0 && !case.is_symmetric {
                continue;
            }
            let mut z = vec![0.0; n];
            let qp = lcp.as_qp(&zeros);
            let outcome = match (index, &qp) {
                (0, _) => lemke.solve(&lcp, &mut z),
                (1, _) => pivoting.solve_lcp(&lcp, &mut vec![0.0; n], &mut z),
                (2, Some(qp)) => active_set.solve(qp, &mut z),
                (_, Some(qp)) => clarabel.solve_qp(qp, &mut z),
                _ => continue,
            };
            let before = tally.falsehoods.len();
            judge(&case, outcome, &z, tally);
            for one in &mut tally.falsehoods[before..] {
                one.insert_str(0, &format!("seed {seed}, condition {:.0e}: ", case.condition));
            }
        }
    }
    tallies
}

#[test]
fn no_status_of_a_complementarity_problem_is_false() {
    hold([(0.0, [0, 0, 10, 0]), (3.0, [0, 0, 9, 0]), (6.0, [0, 0, 8, 0])], problems);
}
