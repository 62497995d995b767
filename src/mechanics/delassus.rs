//! The Delassus matrix `G = J M⁻¹ Jᵀ`: the inverse inertia seen at the contacts.
//!
//! With `M = CᵀC`, `C = D^½ L`, the coordinates `z = C ν` measure kinetic energy as a plain length:
//! `T = ½ zᵀz`. In them a Jacobian is `W = J C⁻¹`, and `G = W Wᵀ`. Column k of `W` is needed only
//! in the rows of contacts that coordinate k moves.
//!
//! Where every three rows are those of one path of the tree, as of contacts with the ground, they
//! are computed by [`crate::path_rows`]. Other rows, as of contacts between bodies, are computed
//! four at once: each group of four keeps the set of those columns that are not zero in it;
//! elimination runs from the leaves to the root and adds the parents to the set. A block of G sums
//! over the columns that two groups have in common.

use crate::branch::{BASE, NO_BASE};
use crate::mass_factor::{MassFactor, MassFactorRef};
use crate::path_rows::PathRows;
use crate::quad::{LANES, Quad, set_lane};

/// Bits of a word of a set.
const WORD: usize = u64::BITS as usize;

/// Rows of a Jacobian in coordinates that measure kinetic energy as a plain length: `W = J C⁻¹`,
/// with `CᵀC = M`.
#[doc(alias("mass-weighted Jacobian"))]
#[derive(Clone, Debug)]
pub struct WeightedJacobian {
    dim: usize,
    row_count: usize,
    /// Entry (group of rows, coordinate); rows beyond the last are zero.
    w: Vec<Quad>,
    /// For each group the set of coordinates whose columns are not zero in it.
    columns: Vec<u64>,
    /// `D^(−1/2)`.
    inverse_roots: Vec<f64>,
    /// The same rows by paths of the tree, if they are on such: then they are not in `w`.
    paths: PathRows,
    is_by_paths: bool,
}

impl WeightedJacobian {
    /// Memory for a robot with nv = `dim` velocities and up to `row_capacity` rows.
    #[must_use]
    pub fn new(dim: usize, row_capacity: usize) -> Self {
        let mut new = Self {
            dim,
            row_count: 0,
            w: Vec::new(),
            columns: Vec::new(),
            inverse_roots: vec![0.0; dim],
            paths: PathRows::new(dim, row_capacity),
            is_by_paths: false,
        };
        new.reserve(row_capacity.div_ceil(LANES));
        new
    }

    fn reserve(&mut self, group_count: usize) {
        if self.w.len() < group_count * self.dim {
            self.w.resize(group_count * self.dim, Quad::ZERO);
            self.columns.resize(group_count * self.dim.div_ceil(WORD), 0);
        }
    }

    /// Number of rows nc.
    #[must_use]
    pub fn row_count(&self) -> usize {
        self.row_count
    }

    fn group_count(&self) -> usize {
        self.row_count.div_ceil(LANES)
    }

    /// `W ← J C⁻¹`. O(nc depth²); allocates only if there are more rows than it has memory for.
    ///
    /// | symbol | argument | shape | meaning |
    /// |---|---|---|---|
    /// | M = CᵀC | `factor` | nv × nv | mass matrix, by its factor |
    /// | J | `jacobian` | nc × nv, column-major | contact velocity `= J ν` |
    ///
    /// # Panics
    /// If `jacobian` has not `row_count × nv` entries.
    pub fn set(&mut self, factor: MassFactorRef<'_>, jacobian: &[f64], row_count: usize) {
        assert_eq!(factor.dim(), self.dim, "coordinates of the factor");
        assert_eq!(jacobian.len(), row_count * self.dim, "length of jacobian");
        self.row_count = row_count;
        self.is_by_paths = false;
        if jacobian.is_empty() {
            return;
        }
        for (root, inverse) in self.inverse_roots.iter_mut().zip(factor.inverse_pivots) {
            *root = inverse.sqrt();
        }
        if self.paths.set(factor, &self.inverse_roots, jacobian, row_count) {
            self.is_by_paths = true;
            return;
        }
        self.reserve(self.group_count());
        let (dim, height) = (self.dim, self.dim.div_ceil(WORD));
        let count = row_count.div_ceil(LANES);
        let (w, columns) = (&mut self.w[..count * dim], &mut self.columns[..count * height]);
        load(jacobian, row_count, (w, dim), (columns, height));
        half_solve(factor, &self.inverse_roots, (w, dim), (columns, height));
    }

    /// The columns of a group of rows.
    fn group(&self, g: usize) -> &[Quad] {
        &self.w[g * self.dim..(g + 1) * self.dim]
    }

    /// `out ← W z`: contact velocities of a motion `z = C ν`.
    ///
    /// # Panics
    /// If `z` has not nv entries or `out` not nc.
    pub fn product_into(&self, z: &[f64], out: &mut [f64]) {
        assert_eq!((z.len(), out.len()), (self.dim, self.row_count), "lengths of z and out");
        if self.is_by_paths {
            return self.paths.product_into(z, out);
        }
        for (g, out) in out.chunks_mut(LANES).enumerate() {
            let products = self.group(g).iter().zip(z).map(|(w, z)| *w * Quad::splat(*z));
            let sum = products.fold(Quad::ZERO, |sum, product| sum + product);
            out.copy_from_slice(&sum.to_array()[..out.len()]);
        }
    }

    /// `z ← z + Wᵀ f`: the motion that contact forces or impulses add.
    ///
    /// # Panics
    /// If `z` has not nv entries or `forces` not nc.
    pub fn add_transposed_product(&self, forces: &[f64], z: &mut [f64]) {
        assert_eq!((z.len(), forces.len()), (self.dim, self.row_count), "lengths of z and forces");
        if self.is_by_paths {
            return self.paths.add_transposed_product(forces, z);
        }
        for (g, forces) in forces.chunks(LANES).enumerate() {
            let four = padded(forces);
            for (z, w) in z.iter_mut().zip(self.group(g)) {
                let [a, b, c, d] = (*w * four).to_array();
                *z += (a + b) + (c + d);
            }
        }
    }

    /// `W ← W (1 − q qᵀ)`: the rows without what they do along the unit vector `q`; their shares
    /// `W q` of it go to `shares`.
    ///
    /// # Panics
    /// If `q` has not nv entries or `shares` not nc.
    pub fn project(&mut self, q: &[f64], shares: &mut [f64]) {
        self.leave_paths();
        self.product_into(q, shares);
        let (dim, height) = (self.dim, self.dim.div_ceil(WORD));
        for (g, shares) in shares.chunks(LANES).enumerate() {
            let four = padded(shares);
            for (k, q) in q.iter().enumerate().filter(|(_, q)| **q != 0.0) {
                self.w[g * dim + k] -= four * Quad::splat(*q);
                self.columns[g * height + k / WORD] |= 1 << (k % WORD);
            }
        }
    }

    /// Moves the rows from paths into groups of four: what else a row has may be anywhere.
    fn leave_paths(&mut self) {
        if !std::mem::take(&mut self.is_by_paths) {
            return;
        }
        self.reserve(self.group_count());
        let (dim, height, count) = (self.dim, self.dim.div_ceil(WORD), self.group_count());
        self.w[..count * dim].fill(Quad::ZERO);
        self.columns[..count * height].fill(0);
        self.paths.for_each(|row, k, value| {
            let g = row / LANES;
            set_lane(&mut self.w[g * dim + k], row % LANES, value);
            self.columns[g * height + k / WORD] |= 1 << (k % WORD);
        });
    }

    /// `G = W Wᵀ = J M⁻¹ Jᵀ` (nc × nc), exactly symmetric. O(nc² depth).
    ///
    /// # Panics
    /// If `out` has not nc² entries.
    pub fn gram_into(&self, out: &mut [f64]) {
        let (nc, count, height) = (self.row_count, self.group_count(), self.dim.div_ceil(WORD));
        assert_eq!(out.len(), nc * nc, "length of out");
        if self.is_by_paths {
            return self.paths.gram_into(out);
        }
        for b in 0..count {
            let (right, right_set) = (self.group(b), &self.columns[b * height..][..height]);
            for a in b..count {
                let (left, left_set) = (self.group(a), &self.columns[a * height..][..height]);
                let mut block = [Quad::ZERO; LANES];
                for (word, (x, y)) in left_set.iter().zip(right_set).enumerate() {
                    let mut common = x & y;
                    // Run by run of columns that both have.
                    while common != 0 {
                        let first = common.trailing_zeros() as usize;
                        let run = (common >> first).trailing_ones() as usize;
                        common &= common.wrapping_add(1 << first);
                        let run = WORD * word + first..WORD * word + first + run;
                        for (left, right) in left[run.clone()].iter().zip(&right[run]) {
                            for (sum, w) in block.iter_mut().zip(right.to_array()) {
                                *sum += *left * Quad::splat(w);
                            }
                        }
                    }
                }
                write_block(&block.map(Quad::to_array), (LANES * a, LANES * b), nc, out);
            }
        }
    }
}

/// Up to four rows, and zeros.
#[inline]
fn padded(rows: &[f64]) -> Quad {
    let mut four = [0.0; LANES];
    four[..rows.len()].copy_from_slice(rows);
    Quad::from(four)
}

/// Writes a block of G, given by columns, at (row, column) and mirrored; what is outside of the
/// nc × nc matrix is left out.
#[inline]
fn write_block(
    block: &[[f64; LANES]; LANES],
    (row, column): (usize, usize),
    nc: usize,
    out: &mut [f64],
) {
    let mirrored: [[f64; LANES]; LANES] = std::array::from_fn(|r| block.map(|values| values[r]));
    for (from, row, column) in [(block, row, column), (&mirrored, column, row)] {
        let (height, width) = ((nc - row).min(LANES), (nc - column).min(LANES));
        for (c, from) in from[..width].iter().enumerate() {
            let to = &mut out[(column + c) * nc + row..][..height];
            // Of known length, a copy is one instruction.
            match to.first_chunk_mut::<LANES>() {
                Some(to) => *to = *from,
                None => to.copy_from_slice(&from[..height]),
            }
        }
    }
}

/// Groups of rows one after the other, and the length of each.
type Groups<'a> = (&'a mut [Quad], usize);
/// Sets of columns one after the other, and the words of each.
type Sets<'a> = (&'a mut [u64], usize);

/// `W ← J`, and for each group of rows the set of columns in which it is not zero.
fn load(jacobian: &[f64], nc: usize, (w, dim): Groups<'_>, (sets, height): Sets<'_>) {
    for (g, (w, set)) in w.chunks_exact_mut(dim).zip(sets.chunks_exact_mut(height)).enumerate() {
        let mut sources = jacobian[LANES * g..].chunks(nc);
        let left = nc - LANES * g;
        for (w, set) in w.chunks_mut(WORD).zip(set) {
            *set = 0;
            for (bit, (w, source)) in w.iter_mut().zip(sources.by_ref()).enumerate() {
                *w = match source.first_chunk::<LANES>() {
                    Some(rows) if left >= LANES => Quad::from(*rows),
                    _ => padded(&source[..left]),
                };
                *set |= u64::from(w.simd_ne(Quad::ZERO).to_bitmask() != 0) << bit;
            }
        }
    }
}

/// `W ← W C⁻¹`, from the leaves to the root: `W_i −= L_ki W_k` at all ancestors i of k, then
/// `W_k ← D_k^(−½) W_k`.
fn half_solve(
    factor: MassFactorRef<'_>,
    inverse_roots: &[f64],
    (w, dim): Groups<'_>,
    (sets, height): Sets<'_>,
) {
    let pattern = factor.pattern;
    let mut order = pattern.order();
    while let Some((&k, before)) = order.split_last() {
        order = before;
        let first = pattern.base(k);
        if first != NO_BASE && k == first + BASE - 1 {
            // All that a floating base carries has been eliminated. The rest of the base follows.
            half_solve_base(factor, inverse_roots, first, (w, dim), (sets, height));
            order = &before[..before.len() - (BASE - 1)];
            continue;
        }
        // The row of L, the part at a floating base apart: that is six entries at known places.
        let (mut ancestors, mut row) = (pattern.ancestors(k), &factor.rows[pattern.row(k)]);
        let parent = ancestors.last();
        let mut of_base = None;
        if first != NO_BASE
            && let Some((head, rest)) = row.split_first_chunk::<BASE>()
        {
            of_base = Some(head);
            (ancestors, row) = (&ancestors[BASE..], rest);
        }
        // Each group of rows in which column k is not zero; its parent's column is not zero then
        // either, so the set grows one step up the tree at a time.
        let root = Quad::splat(inverse_roots[k]);
        for (w, set) in w.chunks_exact_mut(dim).zip(sets.chunks_exact_mut(height)) {
            if set[k / WORD] >> (k % WORD) & 1 == 0 {
                continue;
            }
            if let Some(&parent) = parent {
                set[parent / WORD] |= 1 << (parent % WORD);
            }
            let value = w[k];
            w[k] = value * root;
            if let Some(of_base) = of_base
                && let Some(w) = w[first..].first_chunk_mut::<BASE>()
            {
                for (w, l) in w.iter_mut().zip(of_base) {
                    *w -= Quad::splat(*l) * value;
                }
            }
            for (&i, l) in ancestors.iter().zip(row) {
                w[i] -= Quad::splat(*l) * value;
            }
        }
    }
}

/// The same for the six coordinates of a floating base, of which each is the next one's parent.
fn half_solve_base(
    factor: MassFactorRef<'_>,
    inverse_roots: &[f64],
    first: usize,
    (w, dim): Groups<'_>,
    (sets, height): Sets<'_>,
) {
    let l: [&[f64]; BASE] =
        std::array::from_fn(|k| &factor.rows[factor.pattern.row(first + k)][..k]);
    let mut dense = [[0.0; BASE]; BASE];
    for (dense, l) in dense.iter_mut().zip(l) {
        dense[..l.len()].copy_from_slice(l);
    }
    for (w, set) in w.chunks_exact_mut(dim).zip(sets.chunks_exact_mut(height)) {
        let Some(base) = w[first..].first_chunk_mut::<BASE>() else { return };
        for (k, row) in dense.iter().enumerate().rev() {
            let value = base[k];
            base[k] = value * Quad::splat(inverse_roots[first + k]);
            for (w, l) in base.iter_mut().zip(&row[..k]) {
                *w -= Quad::splat(*l) * value;
            }
        }
        let is_in = |k: usize| set[k / WORD] >> (k % WORD) & 1 != 0;
        if let Some(last) = (first..first + BASE).rev().find(|&k| is_in(k)) {
            (first..=last).for_each(|k| set[k / WORD] |= 1 << (k % WORD));
        }
    }
}

/// Contact-space inverse inertia (Delassus matrix) `G = J M⁻¹ Jᵀ`.
///
/// | symbol | argument | shape | meaning |
/// |---|---|---|---|
/// | M | `factor` | nv × nv | mass matrix, by its factor |
/// | J | `jacobian` | nc × nv, column-major | contact velocity `= J ν` |
/// | G | `out` | nc × nc | velocity per impulse [1/kg for points] |
///
/// `G` is exactly symmetric and positive semidefinite; definite iff `J` has full row rank. Zero
/// parts of `J` are skipped. Allocates nothing while nc stays within the workspace's capacity
/// (else the workspace grows once).
///
/// # Panics
/// If `jacobian` has not `row_count × nv` entries or `out` not `row_count²`.
///
/// # References
/// R. Featherstone, *Rigid Body Dynamics Algorithms* (2008), sec. 6.5 and 11.
#[doc(alias("Delassus", "operational space inertia", "contact space inertia"))]
pub fn contact_inverse_inertia(
    factor: &MassFactor,
    jacobian: &[f64],
    row_count: usize,
    workspace: &mut WeightedJacobian,
    out: &mut [f64],
) {
    workspace.set(factor.view(), jacobian, row_count);
    workspace.gram_into(out);
}
