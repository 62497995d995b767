//! An orthonormal basis of the few directions that the rows involve, and the Newton system in it.

use super::scaling::Scaling;
use legwork_linalg::lanes::{LANES, Lanes, load, padded, store, sum};
use legwork_linalg::{axpy, cholesky, dot, matrix_vector};

/// A direction nearer than this (relative) to the span of those before adds nothing.
const DEPENDENT: f64 = 1e-12;
/// A direction that loses more than this share of its length is made orthogonal twice.
const TWICE: f64 = 0.1;

/// `Dᵀ Fᵀ = Q C` with Q orthonormal, and the root of `I + C (I + N D_N Nᵀ) Cᵀ`.
#[derive(Clone, Debug, Default)]
pub(super) struct Basis {
    /// Q, n values per vector; vectors beyond the rank, up to `stride`, are zero.
    vectors: Vec<f64>,
    rank: usize,
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
        self.vectors.clear();
        self.vectors.resize(stride * n, 0.0);
        self.rank = 0;
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
            self.push(&mut column);
            self.coordinates.extend_from_slice(&self.projections);
            // The identity and all of C are of one scale, or their sum does not matter: sums of
            // squares do.
            for (k, c) in self.projections.iter().enumerate().take(self.rank) {
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

    /// Adds a direction, and leaves its coordinates in `projections`.
    fn push(&mut self, column: &mut [f64]) {
        let n = column.len();
        self.projections.fill(0.0);
        let length = dot(column, column).sqrt();
        let mut rest = length;
        for _ in 0..2 {
            let vectors = &self.vectors[..padded(self.rank) * n];
            let fours = vectors.chunks_exact((LANES * n).max(1));
            for (four, sum) in fours.zip(self.projections.chunks_exact_mut(LANES)) {
                let along = take_out(four, column);
                sum.iter_mut().zip(along).for_each(|(sum, along)| *sum += along);
            }
            let before = std::mem::replace(&mut rest, dot(column, column).sqrt());
            if rest > TWICE * before {
                break;
            }
        }
        if rest > DEPENDENT * length {
            let inverse = 1.0 / rest;
            for (q, x) in self.vectors[self.rank * n..].iter_mut().zip(&*column) {
                *q = x * inverse;
            }
            self.projections[self.rank] = rest;
            self.rank += 1;
        }
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
        let fours = self.vectors.chunks_exact((LANES * n).max(1));
        for (four, y) in fours.zip(self.y.chunks_exact_mut(LANES)) {
            y.copy_from_slice(&take_out(four, &mut self.right));
        }
        for (coordinates, h) in self.coordinates.chunks_exact(stride.max(1)).zip(h) {
            axpy(*h, coordinates, &mut self.y);
        }
        cholesky::solve(&self.root, &self.inverse, &mut self.y);
        image.fill(0.0);
        for (coordinates, image) in self.coordinates.chunks_exact(stride.max(1)).zip(image) {
            *image = dot(coordinates, &self.y);
        }
        matrix_vector(&self.vectors, n, &self.y, dx);
        axpy(1.0, &self.right, dx);
        scaling.times(dx);
    }
}

/// Products of a vector with four orthonormal ones, which are subtracted from it.
fn take_out(four: &[f64], x: &mut [f64]) -> [f64; LANES] {
    let n = x.len();
    let (a, rest) = four.split_at(n);
    let (b, rest) = rest.split_at(n);
    let (c, d) = rest.split_at(n);
    let mut sums = (Lanes::ZERO, Lanes::ZERO, Lanes::ZERO, Lanes::ZERO);
    let chunks = || {
        let (ab, cd) = (a.chunks_exact(LANES).zip(b.chunks_exact(LANES)), c.chunks_exact(LANES));
        ab.zip(cd.zip(d.chunks_exact(LANES)))
    };
    for (x, ((a, b), (c, d))) in x.chunks_exact(LANES).zip(chunks()) {
        let x = load(x);
        sums.0 += x * load(a);
        sums.1 += x * load(b);
        sums.2 += x * load(c);
        sums.3 += x * load(d);
    }
    let along = [sum(sums.0), sum(sums.1), sum(sums.2), sum(sums.3)];
    let [p, q, r, s] = along.map(Lanes::splat);
    for (x, ((a, b), (c, d))) in x.chunks_exact_mut(LANES).zip(chunks()) {
        let taken = (p * load(a) + q * load(b)) + (r * load(c) + s * load(d));
        store(load(x) - taken, x);
    }
    along
}
