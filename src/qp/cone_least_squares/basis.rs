//! An orthonormal basis of the few directions that rows see, and the Newton system in it.

use super::{Block, apply};
use crate::dense::{axpy, dot};

/// A direction nearer than this (relative) to the span of those before adds nothing.
const DEPENDENT: f64 = 1e-12;
/// A direction that loses more than this share of its length is made orthogonal twice.
const TWICE: f64 = 0.1;

/// `Dᵀ Fᵀ = Q C` with Q orthonormal, and the root of `I + C (I + N D_N Nᵀ) Cᵀ`.
#[derive(Clone, Debug, Default)]
pub(super) struct Basis {
    /// Q, n values per vector.
    vectors: Vec<f64>,
    rank: usize,
    /// C by columns, r values each of which `rank` are used.
    coordinates: Vec<f64>,
    /// Upper triangular by rows, rank × rank.
    root: Vec<f64>,
    column: Vec<f64>,
    projections: Vec<f64>,
    y: Vec<f64>,
}

impl Basis {
    /// Makes basis and root; false if a number is not finite.
    pub(super) fn factor(
        &mut self,
        matrix: &[f64],
        r: usize,
        rows: &[f64],
        weights: impl Iterator<Item = f64>,
        blocks: &[Block],
    ) -> bool {
        let n = 3 * blocks.len();
        self.vectors.clear();
        self.vectors.resize(r * n, 0.0);
        self.rank = 0;
        self.coordinates.clear();
        self.coordinates.resize(r * r, 0.0);
        let mut column = std::mem::take(&mut self.column);
        column.resize(n, 0.0);
        for i in 0..r {
            for (x, f) in column.iter_mut().zip(matrix.chunks_exact(r)) {
                *x = f[i];
            }
            apply(blocks, true, &mut column);
            self.push(&mut column);
            let count = self.projections.len();
            self.coordinates[i * r..i * r + count].copy_from_slice(&self.projections);
        }
        self.column = column;
        let q = self.rank;
        identity(&mut self.root, q);
        self.y.resize(q, 0.0);
        for coordinates in self.coordinates.chunks_exact(r.max(1)) {
            self.y.copy_from_slice(&coordinates[..q]);
            rotate_in(&mut self.root, q, &mut self.y);
        }
        for (row, weight) in rows.chunks_exact(r.max(1)).zip(weights) {
            let weight = weight.sqrt();
            self.y.fill(0.0);
            for (coordinates, n) in self.coordinates.chunks_exact(r.max(1)).zip(row) {
                axpy(weight * n, &coordinates[..q], &mut self.y);
            }
            rotate_in(&mut self.root, q, &mut self.y);
        }
        self.root.iter().all(|x| x.is_finite())
    }

    /// Takes a direction in, and leaves its coordinates in `projections`.
    fn push(&mut self, column: &mut [f64]) {
        let n = column.len();
        self.projections.clear();
        self.projections.resize(self.rank, 0.0);
        let length = dot(column, column).sqrt();
        let mut rest = length;
        for _ in 0..2 {
            for (vector, projection) in
                self.vectors.chunks_exact(n.max(1)).zip(self.projections.iter_mut())
            {
                let along = dot(vector, column);
                axpy(-along, vector, column);
                *projection += along;
            }
            let before = std::mem::replace(&mut rest, dot(column, column).sqrt());
            if rest > TWICE * before {
                break;
            }
        }
        if rest > DEPENDENT * length {
            for (q, x) in self.vectors[self.rank * n..].iter_mut().zip(&*column) {
                *q = x / rest;
            }
            self.projections.push(rest);
            self.rank += 1;
        }
    }

    /// Solves for `dx` with the right side `g + Fᵀ h`, and writes `F dx` to `image`.
    ///
    /// That image comes from the coordinates, not from dx: what rounding leaves of the part of dx
    /// that no row should see would be multiplied by the weights of the rows.
    pub(super) fn solve(
        &mut self,
        blocks: &[Block],
        (right, h): (&[f64], &[f64]),
        dx: &mut [f64],
        image: &mut [f64],
    ) {
        let (n, r, q) = (right.len(), h.len(), self.rank);
        dx.copy_from_slice(right);
        apply(blocks, true, dx);
        self.y.resize(q, 0.0);
        for (vector, y) in self.vectors.chunks_exact(n.max(1)).zip(self.y.iter_mut()) {
            *y = dot(vector, dx);
            axpy(-*y, vector, dx);
        }
        for (coordinates, h) in self.coordinates.chunks_exact(r.max(1)).zip(h) {
            axpy(*h, &coordinates[..q], &mut self.y);
        }
        root_solve(&self.root, q, &mut self.y);
        for (coordinates, image) in self.coordinates.chunks_exact(r.max(1)).zip(image) {
            *image = dot(&coordinates[..q], &self.y);
        }
        for (vector, y) in self.vectors.chunks_exact(n.max(1)).zip(&self.y) {
            axpy(*y, vector, dx);
        }
        apply(blocks, false, dx);
    }
}

/// `RᵀR ← RᵀR + v vᵀ` for the upper triangular R, by rows; v is used up. Sums of squares are never
/// formed, so R is as exact as v however unequal the weights of the rows are.
fn rotate_in(root: &mut [f64], n: usize, v: &mut [f64]) {
    for k in 0..n {
        if v[k] == 0.0 {
            continue;
        }
        let row = &mut root[k * n..(k + 1) * n];
        let length = (row[k] * row[k] + v[k] * v[k]).sqrt();
        let (c, s) = (row[k] / length, v[k] / length);
        for (r, v) in row[k..].iter_mut().zip(&mut v[k..]) {
            (*r, *v) = (c * *r + s * *v, c * *v - s * *r);
        }
    }
}

/// `x ← (RᵀR)⁻¹ x`.
fn root_solve(root: &[f64], n: usize, x: &mut [f64]) {
    for k in 0..n {
        let row = &root[k * n..(k + 1) * n];
        x[k] /= row[k];
        let (done, rest) = x.split_at_mut(k + 1);
        axpy(-done[k], &row[k + 1..], rest);
    }
    for k in (0..n).rev() {
        let row = &root[k * n..(k + 1) * n];
        let (head, rest) = x.split_at_mut(k + 1);
        head[k] = (head[k] - dot(&row[k + 1..], rest)) / row[k];
    }
}

/// Sets the n × n matrix to the identity.
fn identity(root: &mut Vec<f64>, n: usize) {
    root.clear();
    root.resize(n * n, 0.0);
    for i in 0..n {
        root[i * n + i] = 1.0;
    }
}
