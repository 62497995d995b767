//! Seeded small quadratic programs of every awkward kind.
//!
//! A program has 1 to 10 unknowns and 0 to 20 rows. H has any rank and a scale of 1e-6 to 1e6; rows
//! have scales of 1e-6 to 1e6. Rows are built around a known point: with slack, tight (degenerate
//! vertices), as equalities, zero, or as scaled copies of earlier ones. Every fourth program is
//! infeasible: one row is a combination of others that asks for more than they allow.

use legwork_qp::problems::Random;
use legwork_qp::{ConeProgram, GeneralActiveSet, Outcome, Qp, QpData, Status, kkt};

/// A program whose feasibility is known.
#[derive(Clone, Debug)]
pub(crate) struct StormProgram {
    /// The program.
    pub(crate) program: QpData,
    /// A feasible point, or `None` if there is none by construction.
    pub(crate) feasible_point: Option<Vec<f64>>,
    /// Whether H has full rank, so that the program is bounded.
    pub(crate) is_definite: bool,
}

/// The program of this seed.
pub(crate) fn storm_program(seed: u64) -> StormProgram {
    let mut random = Random::new(seed);
    let n = 1 + random.below(10);
    let m = random.below(21);
    let is_definite = random.below(3) != 0;
    let rank = if is_definite { n + random.below(4) } else { random.below(n) };
    let scale = power(&mut random);
    let b: Vec<f64> = (0..n * rank).map(|_| random.normal()).collect();
    let mut hessian = vec![0.0; n * n];
    for j in 0..n {
        for i in 0..n {
            let sum: f64 = (0..rank).map(|r| b[i * rank + r] * b[j * rank + r]).sum();
            // A matrix that is definite only in exact arithmetic would have no known answer.
            let shift = if is_definite && i == j { 0.01 } else { 0.0 };
            hessian[j * n + i] = scale * (sum + shift);
        }
    }
    // A minimum far away hides a margin near the origin, so these keep the scale of H.
    let is_infeasible = seed % 4 == 3;
    let slope = if random.below(4) == 0 && !is_infeasible { power(&mut random) } else { scale };
    let gradient: Vec<f64> = (0..n).map(|_| slope * random.normal()).collect();
    let point: Vec<f64> = (0..n).map(|_| random.normal()).collect();

    let mut rows = vec![0.0; m * n];
    let (mut row_lower, mut row_upper) = (vec![0.0; m], vec![0.0; m]);
    for row in 0..m {
        match random.below(8) {
            0 => {}
            1 if row > 0 => {
                let source = random.below(row);
                let factor = power(&mut random);
                (0..n).for_each(|j| rows[j * m + row] = factor * rows[j * m + source]);
            }
            kind => {
                let factor = power(&mut random);
                for j in 0..n {
                    // Some sparse rows.
                    let entry = if kind == 2 && random.below(2) == 0 { 0.0 } else { 1.0 };
                    rows[j * m + row] = entry * factor * random.normal();
                }
            }
        }
        let value = product(&rows, m, row, &point);
        let size = (0..n).map(|j| rows[j * m + row].abs()).fold(0.0, f64::max);
        (row_lower[row], row_upper[row]) = match random.below(6) {
            0 => (value, value),
            1 => (value, f64::INFINITY),
            2 => (f64::NEG_INFINITY, value),
            3 => (value - size * random.uniform(), value + size * random.uniform()),
            4 => (f64::NEG_INFINITY, value + size * random.uniform()),
            _ => (value - size * random.uniform(), f64::INFINITY),
        };
    }
    let (mut lower, mut upper) = (Vec::new(), Vec::new());
    if random.below(2) == 0 {
        lower = point.iter().map(|x| x - [0.0, 1.0, 0.1][random.below(3)]).collect();
        upper = point.iter().map(|x| x + [0.0, 1.0, f64::INFINITY][random.below(3)]).collect();
    }
    let mut program = QpData { hessian, gradient, rows, row_lower, row_upper, lower, upper };
    let is_infeasible = is_infeasible && m >= 2 && contradict(&mut program, &mut random);
    StormProgram { program, feasible_point: (!is_infeasible).then_some(point), is_definite }
}

/// Makes the last row a combination of others that asks for more than these allow, by a relative
/// margin of 1e-6 to 1. False if there is no row to build on.
fn contradict(program: &mut QpData, random: &mut Random) -> bool {
    let (n, m) = (program.gradient.len(), program.row_lower.len());
    let last = m - 1;
    let count = 1 + random.below(3.min(last));
    let mut combination = vec![0.0; n];
    let (mut limit, mut size) = (0.0, 0.0);
    for _ in 0..count {
        let row = random.below(last);
        let norm = (0..n).map(|j| program.rows[j * m + row].abs()).fold(0.0, f64::max);
        if norm == 0.0 {
            continue;
        }
        // `weight × row ≤ weight × bound`, with the bound that holds in that direction.
        let weight = (0.1 + random.uniform()) / norm;
        let (weight, bound) = if program.row_upper[row].is_finite() {
            (weight, program.row_upper[row])
        } else {
            (-weight, program.row_lower[row])
        };
        for (j, entry) in combination.iter_mut().enumerate() {
            *entry += weight * program.rows[j * m + row];
            size += (weight * program.rows[j * m + row]).abs();
        }
        limit += weight * bound;
        size += (weight * bound).abs();
    }
    if size == 0.0 {
        return false;
    }
    let margin = libm::pow(10.0, -6.0 * random.uniform());
    let factor = power(random);
    for (j, entry) in combination.iter().enumerate() {
        program.rows[j * m + last] = factor * entry;
    }
    program.row_lower[last] = factor * (limit + margin * size);
    program.row_upper[last] = f64::INFINITY;
    true
}

/// Outcomes of the programs of many seeds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StormReport {
    /// Programs by outcome: solved, inaccurate, limit, infeasible, unbounded, numerical trouble.
    pub(crate) counts: [u64; 6],
    /// Largest KKT residual among the solved.
    pub(crate) worst_solved: f64,
    /// Seeds whose outcome is false, with the reason.
    pub(crate) false_outcomes: Vec<(u64, &'static str)>,
}

/// Solves the programs of `seeds` and judges every outcome by itself.
pub(crate) fn storm(seeds: impl Iterator<Item = u64>) -> StormReport {
    let mut solver = GeneralActiveSet::default();
    let mut report = StormReport::default();
    for seed in seeds {
        let case = storm_program(seed);
        let qp = case.program.view();
        let mut x = vec![0.0; qp.dim()];
        let outcome = solver.solve(&qp, &mut x);
        if let Some(reason) = judge(&case, &qp, &solver, outcome, &x, &mut report) {
            report.false_outcomes.push((seed, reason));
        }
    }
    report
}

fn judge(
    case: &StormProgram,
    qp: &Qp<'_>,
    solver: &GeneralActiveSet,
    outcome: Outcome,
    x: &[f64],
    report: &mut StormReport,
) -> Option<&'static str> {
    let mut scratch = vec![0.0; 2 * qp.dim() + qp.row_count()];
    let index = match outcome.status {
        Status::Solved => 0,
        Status::Inaccurate => 1,
        Status::MaxIterations => 2,
        Status::PrimalInfeasible => 3,
        Status::Unbounded => 4,
        Status::NumericalTrouble => 5,
        _ => return Some("valid data were refused"),
    };
    report.counts[index] += 1;
    if x.iter().any(|v| v.is_nan()) {
        return Some("an answer is not a number");
    }
    match outcome.status {
        Status::Solved | Status::Inaccurate => {
            let residual = kkt::qp_residuals(qp, x, solver.multipliers(), &mut scratch).worst();
            if index == 0 {
                report.worst_solved = report.worst_solved.max(residual);
            }
            if residual.to_bits() != outcome.residual.to_bits() {
                return Some("the residual is not that of the answer");
            }
            if case.feasible_point.is_none() {
                return Some("an infeasible program was called solved");
            }
        }
        Status::PrimalInfeasible => {
            let program = ConeProgram::from(*qp);
            let Some(certificate) = solver.certificate() else {
                return Some("no certificate of infeasibility");
            };
            let multipliers = kkt::ConeMultipliers {
                rows: certificate.rows,
                bounds: certificate.bounds,
                cones: &[],
            };
            let radius = kkt::infeasible_radius(&program, multipliers);
            if case.feasible_point.is_some() {
                return Some("a feasible program was called infeasible");
            }
            if radius < 1e3 {
                return Some("the certificate proves too little");
            }
        }
        Status::Unbounded if case.is_definite => {
            return Some("a bounded program was called unbounded");
        }
        _ if case.feasible_point.is_none() => return Some("infeasibility was not detected"),
        _ => {}
    }
    None
}

fn product(rows: &[f64], m: usize, row: usize, x: &[f64]) -> f64 {
    x.iter().enumerate().map(|(j, x)| rows[j * m + row] * x).sum()
}

/// 10 to a power from -6 to 6.
fn power(random: &mut Random) -> f64 {
    libm::pow(10.0, 12.0 * random.uniform() - 6.0)
}
