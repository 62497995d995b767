//! Scaling of cone programs by powers of two.
//!
//! Interior-point and splitting solvers judge their progress by absolute and relative
//! tolerances together, so a program in badly chosen units stops early or not at all. Here a few
//! passes of Ruiz's method bring the largest entry of every row and column of the matrix
//! `[H Aᵀ Cᵀ; A 0 0; C 0 0]` near 1. Factors are powers of two: the scaling rounds nothing, and
//! it is a function of the problem alone, so answers do not depend on what was solved before.
//!
//! # References
//! D. Ruiz, *A scaling algorithm to equilibrate both rows and columns norms in matrices* (2001).

use crate::cone_program::ConeProgram;
use crate::units::units_into;

/// Passes of the method; each halves the exponents' spread.
const PASSES: u32 = 6;
/// Ratio of curvature to slope, both scaled, above which a solution counts as short.
const SHORT: f64 = 16.0;
/// Largest exponent of a factor.
const EXPONENT_LIMIT: i32 = 60;

/// The scaled program has `x = D x̂`, rows multiplied by `rows`, cone rows by `cones` (one factor
/// per block), objective by `cost`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Equilibration {
    /// D.
    pub(crate) columns: Vec<f64>,
    /// E of the linear rows.
    pub(crate) rows: Vec<f64>,
    /// E of the cone rows.
    pub(crate) cones: Vec<f64>,
    /// c.
    pub(crate) cost: f64,
}

impl Equilibration {
    /// The scaling of `program`, whose numbers must be valid.
    pub(crate) fn of(&mut self, program: &ConeProgram<'_>) {
        let (n, m, r) = (program.dim(), program.row_count(), program.cone_row_count());
        let qp = &program.linear;
        for (factors, len) in [(&mut self.columns, n), (&mut self.rows, m), (&mut self.cones, r)] {
            factors.clear();
            factors.resize(len, 1.0);
        }
        self.cost = 1.0;
        // If units differ much, the passes would not converge, since they scale the objective too.
        if !units_into(qp, &mut self.columns) {
            self.columns.fill(1.0);
        }
        self.columns.iter_mut().for_each(|factor| *factor = limit(*factor));
        let (mut curved, mut sloped) = (0.0, 0.0);
        for _ in 0..PASSES {
            let mut column_norms = vec![0.0f64; n];
            let (mut row_norms, mut cone_norms) = (vec![0.0f64; m], vec![0.0f64; r]);
            let mut curvature = vec![0.0f64; n];
            for j in 0..n {
                let d = self.columns[j];
                for i in 0..n {
                    let value = (qp.hessian[j * n + i] * self.columns[i] * d * self.cost).abs();
                    curvature[j] = curvature[j].max(value);
                }
                column_norms[j] = curvature[j];
                let pairs = [
                    (&qp.rows[j * m..(j + 1) * m], &self.rows, &mut row_norms),
                    (&program.cone_rows[j * r..(j + 1) * r], &self.cones, &mut cone_norms),
                ];
                for (entries, factors, norms) in pairs {
                    for ((entry, factor), norm) in entries.iter().zip(factors).zip(norms) {
                        let value = (entry * factor * d).abs();
                        *norm = norm.max(value);
                        column_norms[j] = column_norms[j].max(value);
                    }
                }
            }
            // One factor per block keeps the cone's shape.
            for block in program.blocks() {
                let largest = cone_norms[block.clone()].iter().fold(0.0, |a: f64, &b| a.max(b));
                cone_norms[block].fill(largest);
            }
            let pairs = [
                (&mut self.columns, &column_norms),
                (&mut self.rows, &row_norms),
                (&mut self.cones, &cone_norms),
            ];
            for (factors, norms) in pairs {
                for (factor, &norm) in factors.iter_mut().zip(norms) {
                    *factor = limit(*factor * inverse_root(norm));
                }
            }
            let mean = curvature.iter().sum::<f64>() / n.max(1) as f64;
            let slope = (0..n)
                .map(|i| (qp.gradient[i] * self.columns[i] * self.cost).abs())
                .fold(0.0, f64::max);
            self.cost = limit(self.cost / power_of_two(mean.max(slope)));
            (curved, sloped) = (mean, slope);
        }
        // A short x in these units would satisfy absolute tolerances too early: lengthen it.
        if sloped > 0.0 && sloped * SHORT < curved {
            let unit = power_of_two(sloped / curved);
            self.columns.iter_mut().for_each(|factor| *factor = limit(*factor * unit));
            for factors in [&mut self.rows, &mut self.cones] {
                factors.iter_mut().for_each(|factor| *factor = limit(*factor / unit));
            }
            self.cost = limit(self.cost / (unit * unit));
        }
    }
}

/// The power of two nearest below `x`; 1 for zero or what is not finite.
fn power_of_two(x: f64) -> f64 {
    if x > 0.0 && x.is_finite() { exp2(libm::frexp(x).1 - 1) } else { 1.0 }
}

/// A power of two near `1/√x`; 1 for zero.
fn inverse_root(x: f64) -> f64 {
    if x > 0.0 && x.is_finite() { exp2(-((libm::frexp(x).1 - 1) / 2)) } else { 1.0 }
}

fn exp2(exponent: i32) -> f64 {
    libm::ldexp(1.0, exponent)
}

fn limit(factor: f64) -> f64 {
    factor.clamp(exp2(-EXPONENT_LIMIT), exp2(EXPONENT_LIMIT))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may stop")]
mod tests {
    use super::*;
    use crate::general::Qp;
    use crate::problems::Random;

    /// Units do not matter: after scaling, rows and columns that were multiplied by anything from
    /// 1e-6 to 1e6 have largest entries within a factor of four of 1, and all factors are exact.
    #[test]
    fn scaled_rows_and_columns_are_near_one() {
        for seed in 0..20 {
            let mut random = Random::new(seed);
            let (n, m) = (6, 9);
            let unit: Vec<f64> =
                (0..n).map(|_| libm::pow(10.0, 12.0 * random.uniform() - 6.0)).collect();
            let row_unit: Vec<f64> =
                (0..m).map(|_| libm::pow(10.0, 12.0 * random.uniform() - 6.0)).collect();
            let mut hessian = vec![0.0; n * n];
            for i in 0..n {
                hessian[i * n + i] = unit[i] * unit[i];
            }
            let rows: Vec<f64> = (0..n * m)
                .map(|e| (0.5 + random.uniform()) * unit[e / m] * row_unit[e % m])
                .collect();
            let qp = Qp {
                hessian: &hessian,
                gradient: &vec![0.0; n],
                rows: &rows,
                row_lower: &vec![0.0; m],
                row_upper: &vec![1.0; m],
                lower: &[],
                upper: &[],
            };
            let mut scaling = Equilibration::default();
            scaling.of(&ConeProgram::from(qp));
            for i in 0..m {
                let largest = (0..n)
                    .map(|j| (rows[j * m + i] * scaling.rows[i] * scaling.columns[j]).abs())
                    .fold(0.0, f64::max);
                assert!((0.25..4.0).contains(&largest), "seed {seed}, row {i}: {largest}");
            }
            for factor in scaling.columns.iter().chain(&scaling.rows) {
                assert_eq!(libm::frexp(*factor).0, 0.5, "seed {seed}: {factor}");
            }
        }
    }
}
