//! Quadratic programs whose outcome is known by construction.
//!
//! A program is built in base units, in which its numbers are near one, around a point that
//! satisfies the optimality conditions, a contradiction, or a direction of descent without end.
//! Then unknowns, rows and objective get units that differ by many orders of magnitude.

use legwork_qp::QpData;
use legwork_qp::problems::Random;

/// Known outcome of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    Solvable,
    Infeasible,
    Unbounded,
}

/// A program, in its units and in base units.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) program: QpData,
    pub(crate) base: QpData,
    /// Units: `x = columns · x_base`, rows are multiplied by `rows`, the objective by `cost`.
    pub(crate) columns: Vec<f64>,
    pub(crate) rows: Vec<f64>,
    pub(crate) cost: f64,
    pub(crate) truth: Truth,
    /// The solution in base units; a feasible point if the program is unbounded.
    pub(crate) x: Vec<f64>,
    /// Condition number of H in base units.
    pub(crate) condition: f64,
}

const INF: f64 = f64::INFINITY;

/// Values that mean "no bound".
const NONE: [f64; 6] = [INF, INF, 1e20, 1e30, 1e308, f64::MAX];

/// A symmetric matrix with these eigenvalues, and its eigenvectors.
pub(crate) fn spectral(random: &mut Random, eigenvalues: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let n = eigenvalues.len();
    // Modified Gram-Schmidt, twice.
    let mut q: Vec<f64> = (0..n * n).map(|_| random.normal()).collect();
    for j in 0..n {
        for _ in 0..2 {
            for k in 0..j {
                let dot: f64 = (0..n).map(|i| q[j * n + i] * q[k * n + i]).sum();
                (0..n).for_each(|i| q[j * n + i] -= dot * q[k * n + i]);
            }
        }
        let norm = (0..n).map(|i| q[j * n + i] * q[j * n + i]).sum::<f64>().sqrt();
        (0..n).for_each(|i| q[j * n + i] /= norm);
    }
    let mut h = vec![0.0; n * n];
    for j in 0..n {
        for i in 0..=j {
            let sum = (0..n).map(|k| eigenvalues[k] * q[k * n + i] * q[k * n + j]).sum();
            (h[j * n + i], h[i * n + j]) = (sum, sum);
        }
    }
    (h, q)
}

pub(crate) fn power(random: &mut Random, decades: f64) -> f64 {
    libm::pow(10.0, decades * (2.0 * random.uniform() - 1.0))
}

/// The program of this seed: condition numbers from 1 to 1e12, units of up to `decades` decades.
pub(crate) fn case(seed: u64, decades: f64) -> Case {
    let mut random = Random::new(seed);
    let truth = match seed % 5 {
        3 => Truth::Infeasible,
        4 => Truth::Unbounded,
        _ => Truth::Solvable,
    };
    let n = 1 + random.below(9);
    let decades_of_condition = 12.0 * random.uniform();
    let condition = if n == 1 { 1.0 } else { libm::pow(10.0, decades_of_condition) };
    let mut eigenvalues: Vec<f64> = (0..n)
        .map(|k| {
            let share = match k {
                0 => 0.0,
                1 => 1.0,
                _ => random.uniform(),
            };
            libm::pow(condition, -share)
        })
        .collect();
    if truth == Truth::Unbounded {
        eigenvalues[0] = 0.0;
    }
    let (hessian, q) = spectral(&mut random, &eigenvalues);
    let ray: Vec<f64> = q[..n].to_vec();
    let x: Vec<f64> = (0..n).map(|_| random.normal()).collect();
    let mut m = random.below(2 * n + 3);
    let mut lines: Vec<Vec<f64>> = Vec::new();
    for _ in 0..m {
        let dice = random.uniform();
        let line: Vec<f64> = if dice < 0.05 {
            vec![0.0; n]
        } else if dice < 0.2 && !lines.is_empty() {
            // Depends linearly on earlier rows, or is nearly parallel to one.
            let (a, b) = (random.below(lines.len()), random.below(lines.len()));
            let (u, v) = (1.0 + random.uniform(), random.normal());
            (0..n).map(|j| u * lines[a][j] + v * lines[b][j]).collect()
        } else if dice < 0.3 && !lines.is_empty() {
            let (a, angle) = (random.below(lines.len()), power(&mut random, 4.0) * 1e-4);
            (0..n).map(|j| lines[a][j] + angle * random.normal()).collect()
        } else if dice < 0.5 {
            (0..n).map(|_| if random.below(2) == 0 { 0.0 } else { random.normal() }).collect()
        } else {
            (0..n).map(|_| random.normal()).collect()
        };
        lines.push(line);
    }
    // Multipliers and bounds; few rows are active, so that the program is not overdetermined.
    let mut gradient: Vec<f64> =
        (0..n).map(|i| -(0..n).map(|j| hessian[j * n + i] * x[j]).sum::<f64>()).collect();
    let none = |random: &mut Random| NONE[random.below(NONE.len())];
    let bounds_of = |random: &mut Random, value: f64, speed: f64, size: f64| {
        // A direction of descent must not violate the bounds.
        let (can_lower, can_upper) = match truth {
            Truth::Unbounded => (speed >= 0.0, speed <= 0.0),
            _ => (true, true),
        };
        let is_still = can_lower && can_upper;
        let slack = |random: &mut Random| size * (0.01 + 3.0 * random.uniform());
        let (mut lower, mut upper, mut u) = (-none(random), none(random), 0.0);
        match random.below(7) {
            0 if is_still => {
                (lower, upper) = (value, value);
                u = random.normal();
            }
            1 if can_lower => {
                lower = value;
                u = random.uniform() * f64::from(random.below(3) as u8);
            }
            2 if can_upper => {
                upper = value;
                u = -random.uniform() * f64::from(random.below(3) as u8);
            }
            3 if is_still => {
                lower = value - slack(random);
                upper = value + slack(random);
            }
            4 if can_lower => lower = value - slack(random),
            5 if can_upper => upper = value + slack(random),
            _ => {}
        }
        (lower, upper, u)
    };
    let (mut row_lower, mut row_upper) = (Vec::new(), Vec::new());
    for line in &mut lines {
        if truth == Truth::Unbounded && random.below(3) == 0 {
            let along: f64 = (0..n).map(|j| line[j] * ray[j]).sum();
            (0..n).for_each(|j| line[j] -= along * ray[j]);
        }
        let value: f64 = (0..n).map(|j| line[j] * x[j]).sum();
        let speed: f64 = (0..n).map(|j| line[j] * ray[j]).sum();
        let speed = if speed.abs() < 1e-14 { 0.0 } else { speed };
        let size = line.iter().fold(0.0f64, |s, a| s.max(a.abs())).max(1e-3);
        let (l, u, y) = bounds_of(&mut random, value, speed, size);
        row_lower.push(l);
        row_upper.push(u);
        (0..n).for_each(|j| gradient[j] += line[j] * y);
    }
    let (mut lower, mut upper) = (Vec::new(), Vec::new());
    if random.below(2) == 0 {
        for j in 0..n {
            let speed = if truth == Truth::Unbounded { ray[j] } else { 0.0 };
            let (l, u, z) = bounds_of(&mut random, x[j], speed, 1.0);
            lower.push(l);
            upper.push(u);
            gradient[j] += z;
        }
    }
    if truth == Truth::Unbounded {
        // The multipliers' slope along the ray may be positive: outweigh it.
        let slope: f64 = (0..n).map(|j| gradient[j] * ray[j]).sum();
        let fall = slope.max(0.0) + 0.3 + random.uniform();
        (0..n).for_each(|j| gradient[j] -= fall * ray[j]);
    }
    if truth == Truth::Infeasible {
        // A row that contradicts a combination of other constraints.
        let count = 1 + random.below(3);
        let (mut line, mut limit, mut size) = (vec![0.0; n], 0.0, 0.0);
        for _ in 0..count {
            let source: Vec<f64> = (0..n).map(|_| random.normal()).collect();
            let value: f64 = (0..n).map(|j| source[j] * x[j]).sum();
            let weight = 0.1 + random.uniform();
            lines.push(source.clone());
            row_lower.push(-none(&mut random));
            row_upper.push(value + random.uniform());
            limit += weight * (row_upper[lines.len() - 1]);
            size += weight * (row_upper[lines.len() - 1]).abs();
            for j in 0..n {
                line[j] += weight * source[j];
                size += (weight * source[j]).abs();
            }
        }
        lines.push(line);
        row_lower.push(limit + size * (0.01 + random.uniform()));
        row_upper.push(none(&mut random));
    }
    m = lines.len();
    let rows: Vec<f64> = (0..n * m).map(|e| lines[e % m.max(1)][e / m.max(1)]).collect();
    let base = QpData { hessian, gradient, rows, row_lower, row_upper, lower, upper };
    scaled(base, decades, truth, x, condition, &mut random)
}

/// Applies units to the program.
fn scaled(
    base: QpData,
    decades: f64,
    truth: Truth,
    x: Vec<f64>,
    condition: f64,
    random: &mut Random,
) -> Case {
    let (n, m) = (base.gradient.len(), base.row_lower.len());
    let columns: Vec<f64> = (0..n).map(|_| power(random, decades)).collect();
    let rows: Vec<f64> = (0..m).map(|_| power(random, decades)).collect();
    let cost = power(random, decades);
    let bound = |b: f64, unit: f64| if b.abs() >= 1e20 { b } else { b * unit };
    let mut program = base.clone();
    for j in 0..n {
        for i in 0..n {
            program.hessian[j * n + i] *= cost / (columns[i] * columns[j]);
        }
        program.gradient[j] *= cost / columns[j];
        for i in 0..m {
            program.rows[j * m + i] *= rows[i] / columns[j];
        }
        if !base.lower.is_empty() {
            program.lower[j] = bound(base.lower[j], columns[j]);
            program.upper[j] = bound(base.upper[j], columns[j]);
        }
    }
    for i in 0..m {
        program.row_lower[i] = bound(base.row_lower[i], rows[i]);
        program.row_upper[i] = bound(base.row_upper[i], rows[i]);
    }
    Case { program, base, columns, rows, cost, truth, x, condition }
}

impl Case {
    /// Worst violation of the optimality conditions in base units, relative to the program's
    /// numbers: independent of its units.
    pub(crate) fn residual(&self, x: &[f64], y: &[f64], z: &[f64]) -> f64 {
        let (n, m) = (self.x.len(), self.rows.len());
        let base = &self.base;
        let x: Vec<f64> = x.iter().zip(&self.columns).map(|(x, d)| x / d).collect();
        let y: Vec<f64> = y.iter().zip(&self.rows).map(|(y, r)| y * r / self.cost).collect();
        let z: Vec<f64> = z.iter().zip(&self.columns).map(|(z, d)| z * d / self.cost).collect();
        let length = x.iter().fold(1.0f64, |s, x| s.max(x.abs()));
        let pressure = y.iter().chain(&z).fold(1.0f64, |s, y| s.max(y.abs()));
        let mut worst = 0.0f64;
        let mut see = |v: f64, size: f64| {
            worst = if v.is_nan() { f64::INFINITY } else { worst.max(v.abs() / size) }
        };
        for i in 0..n {
            let mut sum = base.gradient[i] - z[i];
            let mut size = 1.0 + base.gradient[i].abs() + z[i].abs();
            for j in 0..n {
                let term = base.hessian[j * n + i] * x[j];
                sum += term;
                size += term.abs();
            }
            for k in 0..m {
                let term = base.rows[i * m + k] * y[k];
                sum -= term;
                size += term.abs();
            }
            see(sum, size);
        }
        let mut pair = |value: f64, size: f64, lower: f64, upper: f64, u: f64| {
            let lower = if lower <= -1e20 { -INF } else { lower };
            let upper = if upper >= 1e20 { INF } else { upper };
            see((lower - value).max(value - upper).max(0.0), size);
            let active = if u > 0.0 { lower } else { upper };
            if u != 0.0 && active.is_finite() {
                see(u * (value - active), pressure * size);
            } else if u != 0.0 {
                see(u, pressure);
            }
        };
        for k in 0..m {
            let value: f64 = (0..n).map(|j| base.rows[j * m + k] * x[j]).sum();
            let norm = (0..n).fold(1e-3f64, |s, j| s.max(base.rows[j * m + k].abs()));
            pair(value, norm.max(1.0) * length, base.row_lower[k], base.row_upper[k], y[k]);
        }
        for (i, &x) in x.iter().enumerate() {
            let lower = base.lower.get(i).copied().unwrap_or(-INF);
            let upper = base.upper.get(i).copied().unwrap_or(INF);
            pair(x, length, lower, upper, z[i]);
        }
        worst
    }

    /// Largest error of an unknown in base units, relative to the largest.
    pub(crate) fn error(&self, x: &[f64]) -> f64 {
        let size = self.x.iter().fold(1.0f64, |s, x| s.max(x.abs()));
        let errors = x.iter().zip(&self.columns).zip(&self.x).map(|((x, d), e)| (x / d - e).abs());
        errors.fold(0.0, |s, e| if e.is_nan() { INF } else { f64::max(s, e) }) / size
    }
}
