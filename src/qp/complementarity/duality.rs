//! A convex quadratic program as a complementarity problem: its optimality conditions.
//!
//! With unknowns `y ≥ 0` and rows `A y ≥ b`, `min ½ yᵀHy + gᵀy` has the conditions
//! `M = [H, -Aᵀ; A, 0]`, `q = (g; -b)`, `z = (y; u)` with the multipliers u of the rows. M is
//! positive semidefinite if H is, but not symmetric, so [`super::Lemke`] decides it: a ray proves
//! that the program is infeasible or unbounded.
//!
//! The other direction is [`Lcp::as_qp`].

use super::lcp::Lcp;
use crate::contact_problem::must_fit;
use crate::general::Qp;

/// How an unknown of the program is made of unknowns `y ≥ 0`.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// `x = offset + sign y`.
    Bounded { at: usize, offset: f64, sign: f64 },
    /// `x = y_at - y_(at+1)`.
    Free { at: usize },
}

/// The bound that a row of the complementarity problem represents, and its sign in `≥` form.
#[derive(Clone, Copy, Debug)]
enum Source {
    Row {
        row: usize,
        sign: f64,
    },
    /// The second bound of an unknown with two.
    Upper {
        unknown: usize,
    },
}

/// The complementarity problem of a [`Qp`], with the map back to it.
///
/// Unknowns with a finite bound become their distance to it, free ones the difference of two;
/// every finite side of a row is one pair, so equalities are two.
#[derive(Clone, Debug)]
pub struct QpLcp {
    matrix: Vec<f64>,
    vector: Vec<f64>,
    parts: Vec<Part>,
    sources: Vec<Source>,
    unknowns: usize,
    row_count: usize,
}

impl QpLcp {
    /// The complementarity problem of `qp`. Allocates.
    ///
    /// A lower bound of +∞ or an upper one of -∞ is not representable and read as no bound.
    ///
    /// # Panics
    /// If [`Qp::check_shape`] fails.
    #[must_use]
    pub fn new(qp: &Qp<'_>) -> Self {
        must_fit(qp.check_shape());
        let (n, m) = (qp.dim(), qp.row_count());
        let mut parts = Vec::with_capacity(n);
        let mut sources = Vec::new();
        let mut unknowns = 0;
        for i in 0..n {
            let (lower, upper) = qp.bounds_of(i);
            let at = unknowns;
            unknowns += 1;
            parts.push(if lower.is_finite() {
                if upper.is_finite() {
                    sources.push(Source::Upper { unknown: i });
                }
                Part::Bounded { at, offset: lower, sign: 1.0 }
            } else if upper.is_finite() {
                Part::Bounded { at, offset: upper, sign: -1.0 }
            } else {
                unknowns += 1;
                Part::Free { at }
            });
        }
        for row in 0..m {
            let (lower, upper) = qp.row_bounds_of(row);
            if lower.is_finite() {
                sources.push(Source::Row { row, sign: 1.0 });
            }
            if upper.is_finite() {
                sources.push(Source::Row { row, sign: -1.0 });
            }
        }
        let size = unknowns + sources.len();
        let mut lcp = Self {
            matrix: vec![0.0; size * size],
            vector: vec![0.0; size],
            parts,
            sources,
            unknowns,
            row_count: m,
        };
        lcp.fill(qp, size);
        lcp
    }

    /// x = offset + E y: the entries (unknown, sign) of part i, and its offset.
    fn entries(&self, i: usize) -> ([(usize, f64); 2], usize, f64) {
        match self.parts[i] {
            Part::Bounded { at, offset, sign } => ([(at, sign), (at, 0.0)], 1, offset),
            Part::Free { at } => ([(at, 1.0), (at + 1, -1.0)], 2, 0.0),
        }
    }

    fn fill(&mut self, qp: &Qp<'_>, size: usize) {
        let (n, m) = (qp.dim(), qp.row_count());
        for i in 0..n {
            let (rows, row_entries, _) = self.entries(i);
            // Gradient at the offset: g + H offset.
            let slope = (0..n)
                .map(|j| qp.hessian[j * n + i] * self.entries(j).2)
                .fold(qp.gradient[i], |sum, v| sum + v);
            for &(row, sign) in &rows[..row_entries] {
                self.vector[row] = sign * slope;
                for j in 0..n {
                    let (columns, column_entries, _) = self.entries(j);
                    for &(column, other) in &columns[..column_entries] {
                        self.matrix[column * size + row] = sign * qp.hessian[j * n + i] * other;
                    }
                }
            }
        }
        for s in 0..self.sources.len() {
            let at = self.unknowns + s;
            match self.sources[s] {
                Source::Upper { unknown } => {
                    // lower + y ≤ upper.
                    let ([(y, _), _], _, offset) = self.entries(unknown);
                    self.set_row(size, at, y, -1.0);
                    self.vector[at] = qp.upper_of(unknown) - offset;
                }
                Source::Row { row, sign } => {
                    let (lower, upper) = qp.row_bounds_of(row);
                    let bound = if sign > 0.0 { lower } else { upper };
                    let mut value = -sign * bound;
                    for j in 0..n {
                        let a = sign * qp.rows[j * m + row];
                        let (columns, entries, offset) = self.entries(j);
                        value += a * offset;
                        for &(column, part) in &columns[..entries] {
                            self.set_row(size, at, column, a * part);
                        }
                    }
                    self.vector[at] = value;
                }
            }
        }
    }

    /// Multipliers of the program, signed as in [`crate::kkt::QpMultipliers`], from a certificate
    /// `y ≥ 0` that the complementarity problem has no solution. The multipliers of `y ≥ 0` itself
    /// complete the sum over the other bounds to zero.
    ///
    /// # Panics
    /// If a slice has the wrong length.
    pub fn contradiction(&self, y: &[f64], rows: &mut [f64], bounds: &mut [f64]) {
        let size = self.vector.len();
        rows.fill(0.0);
        bounds.fill(0.0);
        for (source, &u) in self.sources.iter().zip(&y[self.unknowns..]) {
            match *source {
                Source::Row { row, sign } => rows[row] += sign * u,
                Source::Upper { unknown } => bounds[unknown] -= u,
            }
        }
        // `-Aᵀu ≥ 0` are the multipliers of the bounds `y ≥ 0`.
        for (part, bound) in self.parts.iter().zip(bounds) {
            if let Part::Bounded { at, sign, .. } = *part {
                let column = self.unknowns..size;
                let press: f64 = column.map(|row| self.matrix[row * size + at] * y[row]).sum();
                *bound += sign * press.max(0.0);
            }
        }
    }

    /// Direction of descent of the program from such a certificate.
    ///
    /// # Panics
    /// If a slice has the wrong length.
    pub fn direction(&self, y: &[f64], x: &mut [f64]) {
        for (i, x) in x.iter_mut().enumerate() {
            let (entries, count, _) = self.entries(i);
            *x = entries[..count].iter().map(|&(at, sign)| sign * y[at]).sum();
        }
    }

    /// Entry of a row of A, which occurs twice: A and -Aᵀ.
    fn set_row(&mut self, size: usize, row: usize, column: usize, value: f64) {
        self.matrix[column * size + row] = value;
        self.matrix[row * size + column] = -value;
    }

    /// The problem.
    #[must_use]
    pub fn lcp(&self) -> Lcp<'_> {
        Lcp::made(&self.matrix, &self.vector)
    }

    /// The program's solution from a solution `z` of the complementarity problem.
    ///
    /// | symbol | argument | shape | meaning |
    /// |---|---|---|---|
    /// | z | `z` | size of [`Self::lcp`] | its solution |
    /// | w | `slack` | the same | `M z + q` |
    /// | x | `x` | n | written: the program's unknowns |
    /// | y | `rows` | m | written: multipliers, signed as in [`crate::kkt::QpMultipliers`] |
    /// | z | `bounds` | n | written: multipliers of the bounds |
    ///
    /// # Panics
    /// If a slice has the wrong length.
    pub fn recover(
        &self,
        z: &[f64],
        slack: &[f64],
        x: &mut [f64],
        rows: &mut [f64],
        bounds: &mut [f64],
    ) {
        let size = self.vector.len();
        assert_eq!((z.len(), slack.len()), (size, size), "z and slack need the problem's size");
        let n = self.parts.len();
        assert_eq!((x.len(), rows.len(), bounds.len()), (n, self.row_count, n));
        for i in 0..n {
            let (entries, count, offset) = self.entries(i);
            x[i] = offset + entries[..count].iter().map(|&(at, sign)| sign * z[at]).sum::<f64>();
            // The slack of y is the multiplier of y ≥ 0; a free unknown has none.
            bounds[i] = match self.parts[i] {
                Part::Bounded { at, sign, .. } => sign * slack[at].max(0.0),
                Part::Free { .. } => 0.0,
            };
        }
        rows.fill(0.0);
        for (source, &multiplier) in self.sources.iter().zip(&z[self.unknowns..]) {
            match *source {
                Source::Row { row, sign } => rows[row] += sign * multiplier,
                Source::Upper { unknown } => bounds[unknown] -= multiplier,
            }
        }
    }
}
