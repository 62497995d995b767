//! Products with a problem's matrices: `M x`, `G x` and `Gᵀ f`.

use super::problem::{BodyIndex, ConstraintProblem, MassKind};
use legwork_linalg::{axpy, dot};

impl ConstraintProblem {
    /// `M_jj` of velocity j.
    pub(super) fn mass_diagonal_into(&self, diagonal: &mut [f64]) {
        for (body, &n) in self.sizes().iter().enumerate() {
            let (mass, range) = (self.mass_of(body), self.velocities_of(BodyIndex(body)));
            for (i, diagonal) in diagonal[range].iter_mut().enumerate() {
                *diagonal = mass[i * (n + 1)];
            }
        }
    }

    /// `out ← M x`.
    pub(super) fn mass_times(&self, x: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (body, &n) in self.sizes().iter().enumerate() {
            let range = self.velocities_of(BodyIndex(body));
            let (mass, x, out) = (self.mass_of(body), &x[range.clone()], &mut out[range]);
            // Loops of constant length for free bodies.
            if n == 6 && self.mass_kind(body) == MassKind::Diagonal {
                (0..6).for_each(|i| out[i] = mass[7 * i] * x[i]);
            } else if n == 6 {
                add_times(&mass[..36], &x[..6], &mut out[..6], 6);
            } else {
                add_times(mass, x, out, n);
            }
        }
    }

    /// `u ← G x` for all rows.
    pub(super) fn rows_times(&self, x: &[f64], u: &mut [f64]) {
        u.fill(0.0);
        for constraint in self.constraints() {
            let rows = constraint.law.row_count();
            let u = &mut u[constraint.first_row..constraint.first_row + rows];
            for &part in self.parts(constraint) {
                let (g, range) = self.part(rows, part);
                if rows == 1 {
                    u[0] += row_dot(g, &x[range]);
                } else {
                    let mut sum = [0.0; 3];
                    for (column, x) in g.chunks_exact(3).zip(&x[range]) {
                        (0..3).for_each(|i| sum[i] += column[i] * x);
                    }
                    (0..3).for_each(|i| u[i] += sum[i]);
                }
            }
        }
    }

    /// `out ← out + Gᵀ f` for all rows.
    pub(super) fn add_transposed_rows_times(&self, f: &[f64], out: &mut [f64]) {
        for constraint in self.constraints() {
            let rows = constraint.law.row_count();
            let f = &f[constraint.first_row..constraint.first_row + rows];
            if f.iter().all(|&f| f == 0.0) {
                continue;
            }
            for &part in self.parts(constraint) {
                let (g, range) = self.part(rows, part);
                if rows == 1 {
                    row_axpy(f[0], g, &mut out[range]);
                } else {
                    for (out, column) in out[range].iter_mut().zip(g.chunks_exact(3)) {
                        *out += column[0] * f[0] + column[1] * f[1] + column[2] * f[2];
                    }
                }
            }
        }
    }
}

/// `aᵀ b`; rows over a free body have a loop of constant length.
#[inline(always)]
fn row_dot(a: &[f64], b: &[f64]) -> f64 {
    match (<&[f64; 6]>::try_from(a), <&[f64; 6]>::try_from(b)) {
        (Ok(a), Ok(b)) => dot(a, b),
        _ => dot(a, b),
    }
}

/// `y ← y + s x`; as [`row_dot`].
#[inline(always)]
fn row_axpy(s: f64, x: &[f64], y: &mut [f64]) {
    match (<&[f64; 6]>::try_from(x), <&mut [f64; 6]>::try_from(&mut *y)) {
        (Ok(x), Ok(y)) => axpy(s, x, y),
        _ => axpy(s, x, y),
    }
}

/// `y ← y + A x` for A of n × n.
#[inline(always)]
fn add_times(a: &[f64], x: &[f64], y: &mut [f64], n: usize) {
    for (column, x) in a.chunks_exact(n.max(1)).zip(x) {
        axpy(*x, column, y);
    }
}
