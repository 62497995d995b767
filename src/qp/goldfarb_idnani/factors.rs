//! The factors of the dual method and their updates: columns padded with zeros to a multiple of
//! [`LANES`], so that loops run over whole lanes.

use super::DualActiveSet;
use crate::dense::dot;
use crate::lanes::{LANES, Lanes, load, padded, store, sum};

impl DualActiveSet {
    /// Factors `H + shift I` from the lower triangle of the n × n `hessian`; false if a pivot is
    /// not above `least_pivot` (at least rounding) times the largest diagonal.
    pub(crate) fn factor(&mut self, hessian: &[f64], shift: f64, least_pivot: f64) -> bool {
        match self.stride {
            12 => self.factor_of(hessian, shift, least_pivot, 12),
            stride => self.factor_of(hessian, shift, least_pivot, stride),
        }
    }

    #[inline(always)]
    pub(super) fn factor_of(
        &mut self,
        hessian: &[f64],
        shift: f64,
        least: f64,
        stride: usize,
    ) -> bool {
        let n = self.n;
        let mut largest = 0.0f64;
        for k in 0..n {
            let at = k * stride;
            self.l[at..at + n].copy_from_slice(&hessian[k * n..(k + 1) * n]);
            self.l[at + n..at + stride].fill(0.0);
            self.l[at + k] += shift;
            largest = largest.max(self.l[at + k]);
        }
        // Written so that NaN and a zero matrix fail.
        let least = least.max(n as f64 * f64::EPSILON) * largest;
        for k in 0..n {
            let (done, rest) = self.l[..n * stride].split_at_mut((k + 1) * stride);
            let column = &done[k * stride..];
            let pivot = column[k];
            if !(pivot > least && pivot.is_finite()) {
                return false;
            }
            let inverse = 1.0 / pivot;
            self.pivots[k] = inverse;
            for (j, target) in rest.chunks_exact_mut(stride).enumerate() {
                let j = k + 1 + j;
                let first = j / LANES * LANES;
                add(-(column[j] * inverse), &column[first..], &mut target[first..]);
            }
        }
        true
    }

    /// Factors the identity instead of a Hessian.
    pub(crate) fn factor_identity(&mut self) {
        let (n, stride) = (self.n, self.stride);
        self.l[..n * stride].fill(0.0);
        for k in 0..n {
            self.l[k * stride + k] = 1.0;
        }
        self.pivots[..n].fill(1.0);
    }

    /// `J = L⁻ᵀ D^(-1/2)`: column i is `(eᵢ - Σ_{k<i} L_ik M_k) / √D_i`, M without the roots.
    #[inline(always)]
    pub(super) fn initial_basis(&mut self, stride: usize) {
        let n = self.n;
        for i in 0..n {
            let (done, rest) = self.j[..n * stride].split_at_mut(i * stride);
            let column = &mut rest[..stride];
            column.fill(0.0);
            column[i] = 1.0;
            let end = (i / LANES + 1) * LANES;
            for (k, other) in done.chunks_exact(stride).enumerate() {
                let weight = self.l[k * stride + i] * self.pivots[k];
                add(-weight, &other[..end], &mut column[..end]);
            }
        }
        for (pivots, columns) in self.pivots[..stride]
            .chunks_exact(LANES)
            .zip(self.j[..n * stride].chunks_mut((LANES * stride).max(1)))
        {
            let roots = load(pivots).sqrt().to_array();
            for (column, root) in columns.chunks_exact_mut(stride).zip(roots) {
                let root = Lanes::splat(root);
                for x in column.chunks_exact_mut(LANES) {
                    store(load(x) * root, x);
                }
            }
        }
    }

    /// `‖d₂‖²` and `‖d₁‖²`: d outside and inside the active span.
    #[inline(always)]
    pub(super) fn squares(&self) -> (f64, f64) {
        let (bound, free) = self.d[..self.n].split_at(self.active.len());
        (dot(free, free), dot(bound, bound))
    }

    /// `direction = R⁻¹ d₁`.
    #[inline(always)]
    pub(super) fn back_substitute(&mut self, stride: usize) {
        let q = self.active.len();
        self.direction[..q].copy_from_slice(&self.d[..q]);
        self.direction[q..stride].fill(0.0);
        for k in (0..q).rev() {
            let value = self.direction[k] * self.diagonal[k][1];
            self.direction[k] = value;
            // Zeros on and below the diagonal leave what is solved already.
            let end = padded(k);
            let column = &self.r[k * stride..k * stride + end];
            add(-value, column, &mut self.direction[..end]);
        }
    }

    /// `z = J₂ d₂`, the primal step direction.
    #[inline(always)]
    pub(super) fn primal_direction(&mut self, stride: usize) {
        let (n, q) = (self.n, self.active.len());
        self.z[..stride].fill(0.0);
        for (column, &d) in self.j[q * stride..n * stride].chunks_exact(stride).zip(&self.d[q..n]) {
            add(d, column, &mut self.z[..stride]);
        }
    }

    /// Adds a row for which `d` is known but `z = J₂ d₂` is not.
    #[inline(always)]
    pub(super) fn take_in(&mut self, row: usize, stride: usize) {
        self.primal_direction(stride);
        let (free, _) = self.squares();
        self.reflect(row, free, stride);
        self.multipliers.push(0.0);
    }

    /// Appends `row` to the factors: the Householder reflection that maps `d₂` to `(α, 0, …)`,
    /// applied to J₂, given `z = J₂ d₂` and `free = ‖d₂‖²`.
    #[inline(always)]
    pub(super) fn reflect(&mut self, row: usize, free: f64, stride: usize) {
        let (n, q) = (self.n, self.active.len());
        let first = self.d[q];
        let alpha = if first > 0.0 { -free.sqrt() } else { free.sqrt() };
        // v = d₂ - α e₁ and w = J₂ v = z - α J_q.
        add(-alpha, &self.j[q * stride..(q + 1) * stride], &mut self.z[..stride]);
        let beta = 1.0 / (free - alpha * first);
        self.d[q] = first - alpha;
        for (column, &v) in
            self.j[q * stride..n * stride].chunks_exact_mut(stride).zip(&self.d[q..n])
        {
            add(-beta * v, &self.z[..stride], column);
        }
        self.r[q * stride..q * stride + q].copy_from_slice(&self.d[..q]);
        self.r[q * stride + q..(q + 1) * stride].fill(0.0);
        self.diagonal[q] = [alpha, 1.0 / alpha];
        self.active.push(row);
        self.is_active[row] = true;
    }

    /// Removes the active row at `index` and makes R triangular again by rotations.
    pub(super) fn drop_row(&mut self, index: usize, stride: usize) {
        let row = self.active.remove(index);
        self.is_active[row] = false;
        self.multipliers.remove(index);
        let q = self.active.len();
        // Column k + 1 moves to k; its diagonal entry is now below the diagonal and is rotated
        // away.
        for k in index..q {
            let (left, right) = self.r.split_at_mut((k + 1) * stride);
            left[k * stride..k * stride + k + 1].copy_from_slice(&right[..=k]);
            let (a, b) = (right[k], self.diagonal[k + 1][0]);
            let radius = (a * a + b * b).sqrt();
            self.r[k * stride + k] = 0.0;
            if radius == 0.0 {
                self.diagonal[k] = [0.0, f64::INFINITY];
                continue;
            }
            self.diagonal[k] = [radius, 1.0 / radius];
            let (c, s) = (a / radius, b / radius);
            for column in k + 2..=q {
                let pair = &mut self.r[column * stride + k..column * stride + k + 2];
                (pair[0], pair[1]) = (c * pair[0] + s * pair[1], c * pair[1] - s * pair[0]);
            }
            let (left, right) = self.j.split_at_mut((k + 1) * stride);
            let (c, s) = (Lanes::splat(c), Lanes::splat(s));
            for (x, y) in left[k * stride..]
                .chunks_exact_mut(LANES)
                .zip(right[..stride].chunks_exact_mut(LANES))
            {
                let (a, b) = (load(x), load(y));
                store(c * a + s * b, x);
                store(c * b - s * a, y);
            }
        }
    }
}

/// `y += alpha x` for lengths that are multiples of [`LANES`].
#[inline(always)]
pub(super) fn add(alpha: f64, x: &[f64], y: &mut [f64]) {
    let alpha = Lanes::splat(alpha);
    for (y, x) in y.chunks_exact_mut(LANES).zip(x.chunks_exact(LANES)) {
        store(load(y) + alpha * load(x), y);
    }
}

/// `aᵀ b` for lengths that are multiples of [`LANES`].
#[inline(always)]
pub(crate) fn product(a: &[f64], b: &[f64]) -> f64 {
    let mut total = Lanes::ZERO;
    for (a, b) in a.chunks_exact(LANES).zip(b.chunks_exact(LANES)) {
        total += load(a) * load(b);
    }
    sum(total)
}
