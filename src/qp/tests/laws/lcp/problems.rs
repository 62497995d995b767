//! Seeded complementarity problems of known classes.

use super::Problem;
use legwork_qp::problems::Random;

/// What is known of a problem by its construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `BᵀB`, of random rank, q in the range: solvable.
    Semidefinite,
    /// The same with q anywhere: may be unsolvable.
    SemidefiniteAny,
    /// `BᵀB` plus a diagonal.
    Definite,
    /// `BᵀB + S - Sᵀ`: positive semidefinite, not symmetric; q anywhere.
    Skew,
    /// Diagonally dominant with positive diagonal, not symmetric: a P-matrix.
    P,
    /// Non-negative entries, positive diagonal: copositive, solvable for every q.
    Copositive,
    /// A semidefinite problem with a known degenerate solution, `z_i = w_i = 0` for some i.
    Degenerate,
    /// A semidefinite problem with a certificate put in: unsolvable by a relative margin.
    Unsolvable,
}

pub(crate) const KINDS: [Kind; 8] = [
    Kind::Semidefinite,
    Kind::SemidefiniteAny,
    Kind::Definite,
    Kind::Skew,
    Kind::P,
    Kind::Copositive,
    Kind::Degenerate,
    Kind::Unsolvable,
];

impl Kind {
    /// True if every problem of the kind has a solution.
    pub(crate) fn is_solvable(self) -> bool {
        !matches!(self, Self::SemidefiniteAny | Self::Skew | Self::Unsolvable)
    }

    pub(crate) fn is_symmetric_semidefinite(self) -> bool {
        !matches!(self, Self::Skew | Self::P | Self::Copositive)
    }
}

/// `BᵀB` with B of normal entries, rank × n, with zero columns and copies among them.
fn gram(random: &mut Random, rank: usize, n: usize) -> (Vec<f64>, Vec<f64>) {
    let mut b: Vec<f64> = (0..rank * n).map(|_| random.normal()).collect();
    for j in 0..n {
        let dice = random.uniform();
        if dice < 0.05 {
            b[j * rank..(j + 1) * rank].fill(0.0);
        } else if dice < 0.15 && j > 0 {
            let other = random.below(j);
            b.copy_within(other * rank..(other + 1) * rank, j * rank);
        }
    }
    let mut matrix = vec![0.0; n * n];
    for j in 0..n {
        for i in 0..n {
            matrix[j * n + i] = (0..rank).map(|k| b[i * rank + k] * b[j * rank + k]).sum();
        }
    }
    (b, matrix)
}

/// The problem of this seed; with `scaled` rows and unknowns are in units of 1e-6 to 1e6.
pub(crate) fn problem(seed: u64, kind: Kind, n: usize, scaled: bool) -> Problem {
    let mut random = Random::new(seed);
    let rank = 1 + random.below(n);
    let (b, mut matrix) = gram(&mut random, rank, n);
    let mut vector: Vec<f64> = (0..n).map(|_| random.normal()).collect();
    let in_range = |random: &mut Random| -> Vec<f64> {
        let v: Vec<f64> = (0..rank).map(|_| random.normal()).collect();
        (0..n).map(|i| (0..rank).map(|k| b[i * rank + k] * v[k]).sum()).collect()
    };
    match kind {
        Kind::Semidefinite => vector = in_range(&mut random),
        Kind::SemidefiniteAny => {}
        Kind::Definite => {
            for i in 0..n {
                matrix[i * n + i] += 0.1 + random.uniform();
            }
        }
        Kind::Skew => {
            for j in 0..n {
                for i in 0..j {
                    let s = random.normal();
                    matrix[j * n + i] += s;
                    matrix[i * n + j] -= s;
                }
            }
        }
        Kind::P => {
            matrix = (0..n * n).map(|_| random.normal()).collect();
            for i in 0..n {
                let sum: f64 = (0..n).filter(|&j| j != i).map(|j| matrix[j * n + i].abs()).sum();
                matrix[i * n + i] = sum + 0.1;
            }
        }
        Kind::Copositive => {
            for value in &mut matrix {
                *value = if random.uniform() < 0.4 { 0.0 } else { random.uniform() };
            }
            for i in 0..n {
                matrix[i * n + i] = 0.1 + random.uniform();
            }
        }
        Kind::Degenerate => {
            let z: Vec<f64> = (0..n)
                .map(|_| if random.uniform() < 0.5 { 1.0 + random.below(3) as f64 } else { 0.0 })
                .collect();
            // Whole numbers, so that ties are exact.
            let b: Vec<f64> = (0..rank * n).map(|_| random.below(5) as f64 - 2.0).collect();
            for j in 0..n {
                for i in 0..n {
                    matrix[j * n + i] = (0..rank).map(|k| b[i * rank + k] * b[j * rank + k]).sum();
                }
            }
            for i in 0..n {
                let product: f64 = (0..n).map(|j| matrix[j * n + i] * z[j]).sum();
                let w = if z[i] == 0.0 && random.uniform() < 0.5 { 1.0 } else { 0.0 };
                vector[i] = w - product;
            }
        }
        Kind::Unsolvable => {
            // y ≥ 0 with B y = 0: the last column of B becomes minus a positive combination.
            let last = n - 1;
            let mut y = vec![0.0; n];
            y[last] = 1.0;
            let mut b = b;
            for value in &mut y[..last] {
                *value = if random.uniform() < 0.5 { random.uniform() } else { 0.0 };
            }
            for k in 0..rank {
                let sum: f64 = (0..last).map(|j| b[j * rank + k] * y[j]).sum();
                b[last * rank + k] = -sum;
            }
            for j in 0..n {
                for i in 0..n {
                    matrix[j * n + i] = (0..rank).map(|k| b[i * rank + k] * b[j * rank + k]).sum();
                }
            }
            // qᵀy = -margin Σ |q_i y_i|, margin between 1e-6 and 1.
            let size: f64 = (0..last).map(|i| (vector[i] * y[i]).abs()).sum();
            let sum: f64 = (0..last).map(|i| vector[i] * y[i]).sum();
            let margin = 10f64.powf(-6.0 * random.uniform());
            vector[last] = -sum - margin * (2.0 * size + 1.0);
        }
    }
    if scaled {
        let scale: Vec<f64> =
            (0..n).map(|_| 10f64.powf(6.0 * (2.0 * random.uniform() - 1.0))).collect();
        let rows: Vec<f64> = if kind.is_symmetric_semidefinite() || kind == Kind::Skew {
            scale.clone()
        } else {
            (0..n).map(|_| 10f64.powf(6.0 * (2.0 * random.uniform() - 1.0))).collect()
        };
        for j in 0..n {
            for i in 0..n {
                matrix[j * n + i] *= rows[i] * scale[j];
            }
        }
        for (q, row) in vector.iter_mut().zip(&rows) {
            *q *= row;
        }
    }
    Problem { matrix, vector }
}
