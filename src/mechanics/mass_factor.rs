//! The factor `M = Lᵀ D L` of the mass matrix that keeps the sparsity of the tree.
//!
//! `L` is unit lower triangular once coordinates are listed parents first: row k has entries only
//! at the ancestors of k. Eliminating from the leaves to the root creates no fill-in, so factor
//! and solves cost O(nv depth²) and O(nv depth) instead of O(nv³) and O(nv²).
//!
//! The factor is here and not in [`legwork_linalg`] since the sparsity is the model's own: the
//! lists of ancestors, the block of a floating base that begins them, and the packing, in which the
//! ancestors' rows begin alike, so that a row is subtracted from another by a loop without indices.
//! That loop is linalg's.
//!
//! Reference: R. Featherstone, *Rigid Body Dynamics Algorithms* (2008), sec. 6.5, tables 6.3–6.5.

use std::sync::Arc;

use legwork_linalg::lanes::axpy;

use crate::branch::{BASE, BranchPattern, NO_BASE};
use crate::mass_matrix::MassMatrix;
use crate::model::Model;
use crate::quad::{LANES, Quad};

/// The mass matrix cannot be factored: some motion has no inertia.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "mass matrix is singular at `{coordinate}`: pivot {pivot:e} of diagonal entry {diagonal:e}; {}",
    why(*is_base)
)]
pub struct SingularMass {
    /// Joint name, or `base vx` … `base wz`.
    pub coordinate: String,
    /// Whether it is one of a floating base.
    pub is_base: bool,
    /// What the elimination left of the diagonal entry.
    pub pivot: f64,
    /// The entry of `M` itself.
    pub diagonal: f64,
}

fn why(is_base: bool) -> &'static str {
    match is_base {
        true => {
            "no mass moves with the base alone; if the robot is mounted, its base is to be fixed: \
             `base: Fixed`"
        }
        false => "the joint moves no mass and has no rotor inertia",
    }
}

/// Factor `M = Lᵀ D L`: computes `M⁻¹ x` and `J M⁻¹ Jᵀ`.
#[doc(alias("LTDL", "LTL factorization", "sparse Cholesky"))]
#[derive(Clone, Debug)]
pub struct MassFactor {
    pattern: Arc<BranchPattern>,
    /// Packed rows of `L` without its unit diagonal.
    rows: Vec<f64>,
    pivots: Vec<f64>,
    inverse_pivots: Vec<f64>,
    row: Vec<f64>,
}

/// Whether coordinate `k` belongs to the floating base that begins at `first`.
#[inline]
fn is_base(first: usize, k: usize) -> bool {
    (first..first + BASE).contains(&k)
}

/// Subtracts from the base block what the elimination of all bodies on it has summed up.
fn subtract_base(
    pattern: &BranchPattern,
    first: usize,
    sum: &[[Quad; 2]; BASE],
    rows: &mut [f64],
    pivots: &mut [f64],
) {
    for (i, column) in sum.iter().enumerate() {
        let sums = column.map(Quad::to_array);
        let sums = sums.as_flattened();
        pivots[first + i] -= sums[i];
        for (entry, sum) in rows[pattern.row(first + i)].iter_mut().zip(sums) {
            *entry -= sum;
        }
    }
}

impl MassFactor {
    /// Memory for `model`; the factor of the identity until
    /// [`factorize`](Self::factorize) is called.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let pattern = Arc::clone(&model.pattern);
        Self {
            rows: vec![0.0; pattern.storage()],
            pivots: vec![1.0; pattern.dim()],
            inverse_pivots: vec![1.0; pattern.dim()],
            row: vec![0.0; pattern.widest()],
            pattern,
        }
    }

    /// Number of rows nv.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.pivots.len()
    }

    /// Factors `mass`. O(nv depth²), allocates nothing unless it fails.
    ///
    /// # Errors
    /// [`SingularMass`] if a pivot is not positive beyond rounding, or not a number; the factor
    /// must not be used then.
    pub fn factorize(&mut self, mass: &MassMatrix) -> Result<(), SingularMass> {
        self.pivots.copy_from_slice(&mass.diagonal);
        self.eliminate(mass)
    }

    /// Factors `mass` with `added` (nv, zero or more) on its diagonal, as implicit joint damping
    /// has it ([`JointResistance`](crate::JointResistance)).
    ///
    /// # Errors
    /// As those of [`factorize`](Self::factorize).
    ///
    /// # Panics
    /// If `added` has another length than nv.
    #[expect(clippy::panic_in_result_fn, reason = "lengths are the caller's contract")]
    pub fn factorize_with(&mut self, mass: &MassMatrix, added: &[f64]) -> Result<(), SingularMass> {
        assert_eq!(added.len(), self.dim(), "length of added");
        for ((pivot, own), added) in self.pivots.iter_mut().zip(&mass.diagonal).zip(added) {
            *pivot = own + added;
        }
        self.eliminate(mass)
    }

    /// Factors `mass`, whose diagonal stands in the pivots.
    fn eliminate(&mut self, mass: &MassMatrix) -> Result<(), SingularMass> {
        let Self { pattern, rows, pivots, inverse_pivots, row } = self;
        rows.copy_from_slice(&mass.rows);
        let rounding = 4.0 * f64::EPSILON * pivots.len() as f64;
        // Sums that the eliminated coordinates subtract from the block of their floating base.
        let mut base = [[Quad::ZERO; 2]; BASE];
        for &k in pattern.order().iter().rev() {
            let ancestors = pattern.ancestors(k);
            let first = pattern.base(k);
            if first != NO_BASE && k == first + BASE - 1 {
                // All that the base carries has been eliminated.
                subtract_base(pattern, first, &base, rows, pivots);
                base = [[Quad::ZERO; 2]; BASE];
            }
            let (pivot, diagonal) = (pivots[k], mass.diagonal[k]);
            let positive = pivot > rounding * mass.scale[k] && pivot.is_finite();
            if !positive {
                let coordinate = pattern.name(k).to_owned();
                let is_base = first != NO_BASE && is_base(first, k);
                return Err(SingularMass { coordinate, is_base, pivot, diagonal });
            }
            // Row k of L; the row before division stays beside it.
            let inverse = 1.0 / pivot;
            inverse_pivots[k] = inverse;
            let padded = pattern.padded_row(k);
            let row = &mut row[..padded.len()];
            let chunks = row.as_chunks_mut::<LANES>().0.iter_mut();
            for (old, entry) in chunks.zip(rows[padded].as_chunks_mut::<LANES>().0) {
                *old = *entry;
                *entry = (Quad::from(*entry) * Quad::splat(inverse)).to_array();
            }
            // What k takes from its base is summed up: the block is subtracted once, when its turn
            // comes.
            let mut skip = 0;
            if first != NO_BASE
                && !is_base(first, k)
                && let ([a, b, ..], _) = row.as_chunks::<LANES>()
                && let Some(head) = row.first_chunk::<BASE>()
            {
                let [a, b] = [a, b].map(|chunk| Quad::from(*chunk));
                for ([left, right], value) in base.iter_mut().zip(head) {
                    let scaled = Quad::splat(value * inverse);
                    *left += scaled * a;
                    *right += scaled * b;
                }
                skip = BASE;
            }
            // The other ancestors lose their shares now: M_ij −= M_ki M_kj / D_k.
            for (&i, &value) in ancestors.iter().zip(row.iter()).skip(skip) {
                let scaled = value * inverse;
                pivots[i] -= scaled * value;
                // Ancestors of i are the first ancestors of k, in the same order; what falls on
                // the padding of row i is never read as an entry.
                axpy(-scaled, row, &mut rows[pattern.padded_row(i)]);
            }
        }
        Ok(())
    }

    /// The factor by reference, which answers `M⁻¹ x`.
    #[must_use]
    #[inline]
    pub fn view(&self) -> MassFactorRef<'_> {
        let Self { pattern, rows, inverse_pivots, .. } = self;
        MassFactorRef { pattern, rows, inverse_pivots }
    }

    /// `x ← M⁻¹ x`.
    ///
    /// # Panics
    /// If `x` has the wrong length.
    pub fn solve_in_place(&self, x: &mut [f64]) {
        self.view().solve_in_place(x);
    }
}

/// A factor `M = Lᵀ D L` by reference: of a model, or of numbers that a
/// [`PackedFactor`](crate::PackedFactor) has read.
#[derive(Clone, Copy, Debug)]
pub struct MassFactorRef<'a> {
    pub(crate) pattern: &'a BranchPattern,
    /// Rows of `L` without its unit diagonal, packed as the pattern says.
    pub(crate) rows: &'a [f64],
    pub(crate) inverse_pivots: &'a [f64],
}

impl MassFactorRef<'_> {
    /// Number of rows nv.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.inverse_pivots.len()
    }

    /// `x ← M⁻¹ x`.
    ///
    /// # Panics
    /// If `x` has the wrong length.
    pub fn solve_in_place(&self, x: &mut [f64]) {
        assert_eq!(x.len(), self.dim(), "length of x");
        self.solve_transposed_l(x);
        for (x, inverse) in x.iter_mut().zip(self.inverse_pivots) {
            *x *= inverse;
        }
        self.solve_l(x);
    }

    /// `x ← C⁻ᵀ x` with `C = D^½ L`, `CᵀC = M`, so that afterwards `x · x` is `xᵀ M⁻¹ x` of the
    /// given x.
    ///
    /// # Panics
    /// If `x` has the wrong length.
    pub fn half_solve_in_place(&self, x: &mut [f64]) {
        assert_eq!(x.len(), self.dim(), "length of x");
        self.solve_transposed_l(x);
        for (x, inverse) in x.iter_mut().zip(self.inverse_pivots) {
            *x *= inverse.sqrt();
        }
    }

    /// `x ← C⁻¹ x`, the transpose of [`half_solve_in_place`](Self::half_solve_in_place): one after
    /// the other is `M⁻¹`.
    ///
    /// # Panics
    /// If `x` has the wrong length.
    pub fn half_solve_transposed_in_place(&self, x: &mut [f64]) {
        assert_eq!(x.len(), self.dim(), "length of x");
        for (x, inverse) in x.iter_mut().zip(self.inverse_pivots) {
            *x *= inverse.sqrt();
        }
        self.solve_l(x);
    }

    /// `x ← L⁻ᵀ x`: from the leaves to the root; zero entries are skipped.
    fn solve_transposed_l(&self, x: &mut [f64]) {
        // The part of a floating base, which everything on it changes, waits here until its turn
        // comes, and not in memory.
        let (mut open, mut base) = (NO_BASE, [0.0; BASE]);
        for &k in self.pattern.order().iter().rev() {
            let first = self.pattern.base(k);
            let is_carried = first != NO_BASE && !is_base(first, k);
            if open != NO_BASE && (open != first || !is_carried) {
                x[open..open + BASE].copy_from_slice(&base);
                open = NO_BASE;
            }
            let value = x[k];
            if value == 0.0 {
                continue;
            }
            let (mut ancestors, mut row) =
                (self.pattern.ancestors(k), &self.rows[self.pattern.row(k)]);
            if is_carried
                && let Some((head, joints)) = row.split_first_chunk::<BASE>()
                && let Some(here) = x[first..].first_chunk::<BASE>()
            {
                if open == NO_BASE {
                    (open, base) = (first, *here);
                }
                for (x, l) in base.iter_mut().zip(head) {
                    *x -= l * value;
                }
                (ancestors, row) = (&ancestors[BASE..], joints);
            }
            for (&i, l) in ancestors.iter().zip(row) {
                x[i] -= l * value;
            }
        }
        if open != NO_BASE {
            x[open..open + BASE].copy_from_slice(&base);
        }
    }

    /// `x ← L⁻¹ x`: from the root to the leaves.
    fn solve_l(&self, x: &mut [f64]) {
        for &k in self.pattern.order() {
            let mut sum = 0.0;
            let (ancestors, row) = self.joints_of(k, x, |base, row| {
                let p: [f64; BASE] = std::array::from_fn(|i| row[i] * base[i]);
                sum = (p[0] + p[1]) + (p[2] + p[3]) + (p[4] + p[5]);
            });
            for (&i, l) in ancestors.iter().zip(row) {
                sum += l * x[i];
            }
            x[k] -= sum;
        }
    }

    /// Row `k` of `L` with its coordinates. If a floating base begins it, `base` is called with the
    /// base's part of `x` and of the row, and the rest is returned.
    #[inline]
    fn joints_of(
        &self,
        k: usize,
        x: &mut [f64],
        base: impl FnOnce(&mut [f64; BASE], &[f64; BASE]),
    ) -> (&[usize], &[f64]) {
        let (ancestors, row) = (self.pattern.ancestors(k), &self.rows[self.pattern.row(k)]);
        let first = self.pattern.base(k);
        if first != NO_BASE
            && let Some((head, rest)) = row.split_first_chunk::<BASE>()
            && let Some(x) = x[first..].first_chunk_mut::<BASE>()
        {
            base(x, head);
            return (&ancestors[BASE..], rest);
        }
        (ancestors, row)
    }
}
