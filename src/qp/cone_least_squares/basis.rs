//! An orthonormal basis of the few directions that the rows involve, and the Newton system in it.

use super::scaling::Scaling;
use legwork_linalg::lanes::padded;
use legwork_linalg::{Span, axpy, cholesky, dot, matrix_vector};

/// A direction nearer than this (relative) to the span of those before adds nothing.
const DEPENDENT: f64 = 1e-12;

/// `Dᵀ Fᵀ = Q C` with Q orthonormal, and the root of `I + C (I + N D_N Nᵀ) Cᵀ`.
#[derive(Clone, Debug, Default)]
pub(super) struct Basis {
    /// Q, n values per vector.
    span: Span,
    /// Entries per column of C: r with its padding.
    stride: usize,
    /// C by columns, of which `rank` entries are used.
    coordinates: Vec<f64>,
    /// Lower triangular, `stride` square, and one over its diagonal.
    root: Vec<f64>,
    inverse: Vec<f64>,
    column: Vec<f64>,
    projections: Vec<f64>,
    y: Vec<f64>,
    /// `Dᵀ g`.
    right: Vec<f64>,
}

impl Basis {
    /// Computes basis and root of F, whose r rows of n values are `matrix`, and of the bounded
    /// rows, r-vectors with their weights; false if a number is not finite.
    pub(super) fn factor<'a>(
        &mut self,
        (matrix, r): (&[f64], usize),
        bounds: impl Iterator<Item = (&'a [f64], f64)>,
        scaling: &Scaling,
    ) -> bool {
        let n = 3 * scaling.width();
        let stride = padded(r);
        self.stride = stride;
        self.span.reset(n, r);
        for v in [&mut self.y, &mut self.projections, &mut self.inverse] {
            v.clear();
            v.resize(stride, 0.0);
        }
        self.coordinates.clear();
        self.root.clear();
        self.root.resize(stride * stride, 0.0);
        for i in 0..stride {
            self.root[i * stride + i] = 1.0;
        }
        let mut column = std::mem::take(&mut self.column);
        column.resize(n, 0.0);
        for row in matrix.chunks_exact(n.max(1)).take(r) {
            column.copy_from_slice(row);
            scaling.transposed(&mut column);
            self.span.push(&mut column, &mut self.projections, DEPENDENT);
            self.coordinates.extend_from_slice(&self.projections);
            // The identity and all of C are of one scale, or their sum does not matter: sums of
            // squares do.
            for (k, c) in self.projections.iter().enumerate().take(self.span.rank()) {
                let from = k * stride + k;
                let (own, rest) = (&self.projections[k..], &mut self.root[from..]);
                axpy(*c, own, &mut rest[..stride - k]);
            }
        }
        self.column = column;
        if !cholesky::factor(&mut self.root, &mut self.inverse, 0.0) {
            return false;
        }
        for (row, weight) in bounds {
            let weight = weight.sqrt();
            self.y.fill(0.0);
            for (coordinates, n) in self.coordinates.chunks_exact(stride).zip(row) {
                axpy(weight * n, coordinates, &mut self.y);
            }
            cholesky::update(&mut self.root, &mut self.inverse, &mut self.y);
        }
        self.root.iter().all(|x| x.is_finite())
    }

    /// Solves for `dx` with the right side `g + Fᵀ h`, and writes `F dx` to `image`.
    ///
    /// That image comes from the coordinates, not from dx: what rounding leaves of the part of dx
    /// that no row should involve would be multiplied by the weights of the rows.
    pub(super) fn solve(
        &mut self,
        scaling: &Scaling,
        (right, h): (&[f64], &[f64]),
        dx: &mut [f64],
        image: &mut [f64],
    ) {
        let (n, stride) = (right.len(), self.stride);
        self.right.clear();
        self.right.extend_from_slice(right);
        scaling.transposed(&mut self.right);
        self.span.take_out(&mut self.right, &mut self.y);
        for (coordinates, h) in self.coordinates.chunks_exact(stride.max(1)).zip(h) {
            axpy(*h, coordinates, &mut self.y);
        }
        cholesky::solve(&self.root, &self.inverse, &mut self.y);
        image.fill(0.0);
        for (coordinates, image) in self.coordinates.chunks_exact(stride.max(1)).zip(image) {
            *image = dot(coordinates, &self.y);
        }
        matrix_vector(self.span.vectors(), n, &self.y, dx);
        axpy(1.0, &self.right, dx);
        scaling.times(dx);
    }
}
