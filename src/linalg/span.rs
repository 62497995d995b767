//! An orthonormal basis of the span of columns, four of its vectors at a time.

use crate::lanes::{LANES, Lanes, load, padded, store, sum};
use crate::vector::dot;

/// A direction that loses more than this share of its length is made orthogonal twice.
const TWICE: f64 = 0.1;

/// Q with orthonormal columns of whole [`crate::lanes`], which columns are added to and none is
/// taken from.
///
/// Gram–Schmidt in blocks of four vectors. Vectors beyond the rank, up to the next four, are zero,
/// so that products have no remainders. Where columns go again, [`crate::OrthonormalBasis`].
///
/// # References
/// Å. Björck, *Numerical Methods for Least Squares Problems* (1996), section 2.4: twice is enough.
#[derive(Clone, Debug, Default)]
pub struct Span {
    dim: usize,
    rank: usize,
    vectors: Vec<f64>,
}

impl Span {
    /// Empties the basis and makes room for `count` vectors of `dim` values, a multiple of
    /// [`LANES`]; allocates only to grow.
    pub fn reset(&mut self, dim: usize, count: usize) {
        (self.dim, self.rank) = (dim, 0);
        self.vectors.clear();
        self.vectors.resize(padded(count) * dim, 0.0);
    }

    /// Number of vectors.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Q, with the zeros that follow it: as many columns as there is room for.
    #[must_use]
    pub fn vectors(&self) -> &[f64] {
        &self.vectors
    }

    /// Writes `Qᵀ a` of a column to `coordinates`, padded, and takes that part from it. What is
    /// left becomes a vector of Q, and its length the next coordinate, if it is more than
    /// `tolerance` of the column.
    pub fn push(&mut self, column: &mut [f64], coordinates: &mut [f64], tolerance: f64) {
        coordinates.fill(0.0);
        let length = dot(column, column).sqrt();
        let mut rest = length;
        for _ in 0..2 {
            let fours = self.vectors[..padded(self.rank) * self.dim]
                .chunks_exact((LANES * self.dim).max(1));
            for (four, coordinates) in fours.zip(coordinates.chunks_exact_mut(LANES)) {
                let shares = take_out(four, column);
                coordinates.iter_mut().zip(shares).for_each(|(sum, share)| *sum += share);
            }
            let before = std::mem::replace(&mut rest, dot(column, column).sqrt());
            if rest > TWICE * before {
                break;
            }
        }
        if rest > tolerance * length {
            let inverse = 1.0 / rest;
            for (q, x) in self.vectors[self.rank * self.dim..].iter_mut().zip(&*column) {
                *q = x * inverse;
            }
            coordinates[self.rank] = rest;
            self.rank += 1;
        }
    }

    /// Writes `Qᵀ x` to `shares`, padded, and takes that part from x.
    pub fn take_out(&self, x: &mut [f64], shares: &mut [f64]) {
        let fours = self.vectors.chunks_exact((LANES * self.dim).max(1));
        for (four, shares) in fours.zip(shares.chunks_exact_mut(LANES)) {
            shares.copy_from_slice(&take_out(four, x));
        }
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
    let shares = [sum(sums.0), sum(sums.1), sum(sums.2), sum(sums.3)];
    let [p, q, r, s] = shares.map(Lanes::splat);
    for (x, ((a, b), (c, d))) in x.chunks_exact_mut(LANES).zip(chunks()) {
        let taken = (p * load(a) + q * load(b)) + (r * load(c) + s * load(d));
        store(load(x) - taken, x);
    }
    shares
}
