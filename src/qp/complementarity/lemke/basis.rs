//! The basis of Lemke's method: its inverse, pivots and ratio tests.

use super::{End, Lemke, REFRESH, TIE};
use legwork_linalg::cancel::check;
use legwork_linalg::{axpy, dot, invert, max_abs, replace_column};

impl Lemke {
    /// `ε n max(1, ‖M‖∞)` of the scaled matrix.
    fn zero_tolerance(&self) -> f64 {
        let n = self.n;
        self.column_sum_bound().max(1.0) * n as f64 * f64::EPSILON
    }

    fn column_sum_bound(&self) -> f64 {
        (self.shift + max_abs(&self.matrix[..self.n * self.n])).min(self.n as f64)
    }

    /// Column of a variable in `w - M z - d z0 = q`.
    fn column_of(&self, variable: usize, out: &mut [f64]) {
        let n = self.n;
        if variable < n {
            out.fill(0.0);
            out[variable] = 1.0;
        } else if variable < 2 * n {
            let j = variable - n;
            for (out, m) in out.iter_mut().zip(&self.matrix[j * n..(j + 1) * n]) {
                *out = -m;
            }
            out[j] -= self.shift;
        } else {
            for (out, d) in out.iter_mut().zip(&self.cover) {
                *out = -d;
            }
        }
    }

    /// Begins at the complementary basis where z_i is basic if `is_basic(i)`; false if singular.
    pub(super) fn start(&mut self, is_basic: impl Fn(usize) -> bool) -> bool {
        let n = self.n;
        let mut is_cold = true;
        for i in 0..n {
            let is_z = is_basic(i);
            is_cold &= !is_z;
            self.basis[i] = if is_z { n + i } else { i };
        }
        if is_cold {
            self.inverse[..n * n].fill(0.0);
            for i in 0..n {
                self.inverse[i * n + i] = 1.0;
            }
            self.x.copy_from_slice(&self.vector);
            for (i, cover) in self.cover.iter_mut().enumerate() {
                *cover = 1.0 + self.variation * i as f64 / n as f64;
            }
            return true;
        }
        if !self.refresh() {
            return false;
        }
        // d = B e, so that z0 lifts all basic variables equally.
        self.cover.fill(0.0);
        for row in 0..n {
            let mut column = std::mem::take(&mut self.column);
            self.column_of(self.basis[row], &mut column);
            axpy(1.0, &column, &mut self.cover);
            self.column = column;
        }
        true
    }

    /// Pivots from a complementary basis to the end.
    pub(super) fn pivot(&mut self, pivots: &mut u32) -> End {
        let n = self.n;
        let z0 = 2 * n;
        if self.x.iter().all(|&x| x >= 0.0) {
            return self.finish(z0, pivots, u32::MAX);
        }
        let limit = match self.iteration_limit {
            0 => 1000.min(50 * u32::try_from(n).unwrap_or(20)),
            limit => limit,
        };
        let stop = pivots.saturating_add(limit);
        // z0 enters at the lowest row; rows (x, B⁻¹) compare lexicographically.
        let mut entering = z0;
        self.load(entering);
        let mut leaving = 0;
        for row in 1..n {
            let (own, other) = (-self.column[row], -self.column[leaving]);
            let (a, b) = (self.x[row] / own, self.x[leaving] / other);
            if a < b || (a == b && self.is_before(row, own, leaving, other)) {
                leaving = row;
            }
        }
        self.exchange(leaving, &mut entering);
        *pivots += 1;
        self.finish(entering, pivots, stop)
    }

    /// Almost complementary pivots beginning with `entering` until z0 leaves.
    fn finish(&mut self, mut entering: usize, pivots: &mut u32, stop: u32) -> End {
        let n = self.n;
        let z0 = 2 * n;
        let mut since = 1;
        loop {
            check();
            if entering == z0 {
                // Complementary; accepted only with a fresh inverse.
                if since > 0 && !self.refresh() {
                    return End::Singular;
                }
                return End::Complementary;
            }
            if *pivots >= stop {
                return End::Limit;
            }
            if since >= REFRESH {
                if !self.refresh() {
                    return End::Singular;
                }
                since = 0;
            }
            self.load(entering);
            let Some(leaving) = self.ratio_test() else {
                if since > 0 {
                    // Check again with a fresh inverse.
                    if !self.refresh() {
                        return End::Singular;
                    }
                    since = 0;
                    continue;
                }
                // Keep what entered, for the direction of the ray.
                self.entering.fill(0.0);
                if entering >= n {
                    self.entering[entering - n] = 1.0;
                }
                return End::Ray;
            };
            self.exchange(leaving, &mut entering);
            *pivots += 1;
            since += 1;
        }
    }

    /// `column = B⁻¹ a` of a variable.
    fn load(&mut self, variable: usize) {
        let n = self.n;
        if variable < n {
            for (value, row) in self.column.iter_mut().zip(self.inverse.chunks_exact(n)) {
                *value = row[variable];
            }
            return;
        }
        let mut entering = std::mem::take(&mut self.entering);
        self.column_of(variable, &mut entering);
        for (value, row) in self.column.iter_mut().zip(self.inverse.chunks_exact(n)) {
            *value = dot(row, &entering);
        }
        self.entering = entering;
    }

    /// The row that leaves: least `x / column` over positive entries, ties by z0 first, then
    /// lexicographic order.
    fn ratio_test(&self) -> Option<usize> {
        let least_pivot = self.zero_tolerance().max(self.least_pivot * max_abs(&self.column));
        let mut ratio = f64::INFINITY;
        for (&x, &c) in self.x.iter().zip(&self.column) {
            if c > least_pivot {
                ratio = ratio.min(x.max(0.0) / c);
            }
        }
        if !ratio.is_finite() {
            return None;
        }
        if self.give > 0.0 {
            return self.largest_pivot(least_pivot);
        }
        let bound = ratio + TIE * (ratio + max_abs(&self.x) * TIE);
        let mut found: Option<usize> = None;
        for (row, (&x, &c)) in self.x.iter().zip(&self.column).enumerate() {
            if c > least_pivot && x.max(0.0) / c <= bound {
                if self.basis[row] == 2 * self.n {
                    return Some(row);
                }
                let is_first =
                    found.is_none_or(|other| self.is_before(row, c, other, self.column[other]));
                if is_first {
                    found = Some(row);
                }
            }
        }
        found
    }

    /// The ratio test of P. Harris: of the rows that come down to zero before any falls below
    /// `-give`, the one with the largest pivot; the first of equals.
    fn largest_pivot(&self, least_pivot: f64) -> Option<usize> {
        let mut bound = f64::INFINITY;
        let give = self.give * (1.0 + max_abs(&self.x)).min(1e3);
        for (&x, &c) in self.x.iter().zip(&self.column) {
            if c > least_pivot {
                bound = bound.min((x.max(0.0) + give) / c);
            }
        }
        let (mut largest, mut found) = (0.0, None);
        for (row, (&x, &c)) in self.x.iter().zip(&self.column).enumerate() {
            if c > least_pivot && x.max(0.0) / c <= bound {
                if self.basis[row] == 2 * self.n && c > 1e-6 * max_abs(&self.column) {
                    return Some(row);
                }
                if c > largest {
                    (largest, found) = (c, Some(row));
                }
            }
        }
        found
    }

    /// Lexicographic order of two rows of B⁻¹, each over its divisor; equal rows by their number.
    fn is_before(&self, row: usize, c: f64, other: usize, d: f64) -> bool {
        let n = self.n;
        let (a, b) = (&self.inverse[row * n..][..n], &self.inverse[other * n..][..n]);
        for (a, b) in a.iter().zip(b) {
            let (a, b) = (a / c, b / d);
            if (a - b).abs() > TIE * a.abs().max(b.abs()) {
                return a < b;
            }
        }
        row < other
    }

    /// Exchanges `entering` (whose column is loaded) with the basic variable of row `leaving`, and
    /// makes the complement of the latter the next to enter; z0 has none and is returned itself.
    fn exchange(&mut self, leaving: usize, entering: &mut usize) {
        let n = self.n;
        replace_column(&mut self.inverse[..n * n], &self.column, leaving);
        let step = self.x[leaving] * (1.0 / self.column[leaving]);
        axpy(-step, &self.column, &mut self.x);
        self.x[leaving] = step;
        let left = std::mem::replace(&mut self.basis[leaving], *entering);
        *entering = match left {
            w if w < n => w + n,
            z if z < 2 * n => z - n,
            z0 => z0,
        };
    }

    /// Recomputes B⁻¹, and `x = B⁻¹ q` with two refinements; false if B is singular to rounding.
    pub(super) fn refresh(&mut self) -> bool {
        let n = self.n;
        let mut column = std::mem::take(&mut self.column);
        for j in 0..n {
            check();
            self.column_of(self.basis[j], &mut column);
            for (i, &value) in column.iter().enumerate() {
                self.work[i * n + j] = value;
            }
        }
        self.column = column;
        // By rows is the transpose by columns, and so are the inverses.
        let (rows, inverse) = (&mut self.work[..n * n], &mut self.inverse[..n * n]);
        if invert(rows, inverse, n, f64::EPSILON * f64::EPSILON).is_err() {
            return false;
        }
        let right = std::mem::take(&mut self.vector);
        let is_finite = self.solve_for_x(&right);
        self.vector = right;
        is_finite
    }

    /// `B x = right` by the inverse with two refinements; false if x is not finite.
    pub(super) fn solve_for_x(&mut self, right: &[f64]) -> bool {
        let n = self.n;
        self.x.fill(0.0);
        let mut residual = std::mem::take(&mut self.slack);
        let mut column = std::mem::take(&mut self.column);
        for _ in 0..3 {
            check();
            residual.copy_from_slice(right);
            for (row, &x) in self.x.iter().enumerate() {
                if x != 0.0 {
                    self.column_of(self.basis[row], &mut column);
                    axpy(-x, &column, &mut residual);
                }
            }
            for (x, row) in self.x.iter_mut().zip(self.inverse.chunks_exact(n.max(1))) {
                *x += dot(row, &residual);
            }
        }
        self.slack = residual;
        self.column = column;
        self.x.iter().all(|x| x.is_finite())
    }
}
