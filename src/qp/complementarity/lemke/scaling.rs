//! Brings a problem to entries of size one.

use super::Lemke;
use crate::complementarity::lcp::Lcp;

impl Lemke {
    /// Scaled matrix and vector with largest entries near 1.
    pub(super) fn equilibrate(&mut self, lcp: &Lcp<'_>) {
        let n = self.n;
        if !self.scale_to(lcp, true) {
            self.scale_to(lcp, false);
        }
        for j in 0..n {
            let target = &mut self.matrix[j * n..(j + 1) * n];
            for ((target, m), s) in target.iter_mut().zip(lcp.column(j)).zip(&self.row_scale) {
                *target = m * s * self.scale[j];
            }
        }
        let mut largest = 0.0f64;
        for ((target, q), s) in self.vector.iter_mut().zip(lcp.vector()).zip(&self.row_scale) {
            *target = q * s;
            largest = largest.max(target.abs());
        }
        self.vector_scale = if largest > 0.0 { power_of_two(largest) } else { 1.0 };
        for q in &mut self.vector {
            *q /= self.vector_scale;
        }
    }

    /// D. Ruiz's iteration for the scales of rows and columns, rounded to powers of two; equal ones
    /// if `symmetric`. True unless a row or column that is not zero stays below 2⁻⁸.
    fn scale_to(&mut self, lcp: &Lcp<'_>, symmetric: bool) -> bool {
        let n = self.n;
        self.scale.fill(1.0);
        self.row_scale.fill(1.0);
        let passes = if symmetric { 4 } else { 10 };
        for pass in 0..=passes {
            let (rows, columns) = (&mut self.slack, &mut self.terms);
            rows.fill(0.0);
            columns.fill(0.0);
            for (j, largest) in columns.iter_mut().enumerate() {
                let (column, sj) = (lcp.column(j), self.scale[j]);
                for ((m, s), row) in column.iter().zip(&self.row_scale).zip(rows.iter_mut()) {
                    let size = m.abs() * s * sj;
                    *row = row.max(size);
                    *largest = largest.max(size);
                }
            }
            if pass == passes {
                let is_even = |v: &f64| *v == 0.0 || *v > 1.0 / 256.0;
                return rows.iter().all(is_even) && columns.iter().all(is_even);
            }
            for i in 0..n {
                if symmetric {
                    rows[i] = rows[i].max(columns[i]);
                    columns[i] = rows[i];
                }
                if rows[i] > 0.0 {
                    self.row_scale[i] /= rows[i].sqrt();
                }
                if columns[i] > 0.0 {
                    self.scale[i] /= columns[i].sqrt();
                }
            }
            if pass + 1 == passes {
                for scale in self.scale.iter_mut().chain(self.row_scale.iter_mut()) {
                    *scale = power_of_two(*scale);
                }
            }
        }
        true
    }
}

/// The power of two nearest to `x` > 0 on the logarithmic scale.
fn power_of_two(x: f64) -> f64 {
    libm::exp2(libm::round(libm::log2(x)).clamp(-500.0, 500.0))
}
