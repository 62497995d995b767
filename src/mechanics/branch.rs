//! The tree of velocity coordinates.
//!
//! Every velocity coordinate `k` has a parent `λ(k)`: the joint below it on the way to the root,
//! or for the six base coordinates the previous one. `M_ki ≠ 0` only if `i` is an ancestor of `k`
//! or the reverse, and the factor `M = Lᵀ D L` keeps that pattern: no fill-in (Featherstone,
//! *Rigid Body Dynamics Algorithms*, 2008, sec. 6.5). Where mimic joints or coupled rotors join
//! branches, the tree is the elimination tree of `M`, the smallest that holds pattern and fill-in
//! (J. W. H. Liu, *The role of elimination trees in sparse factorization*, 1990).
//!
//! Row `k` is stored packed, ancestors root first. The ancestors of an ancestor are then a prefix
//! of the row, so that factorisation and solves run over contiguous slices. Ancestor `i` has the
//! same position in every row: the number of its own ancestors. Rows start at multiples of
//! [`LANES`] and are padded to them, so that hot loops have no remainders. `λ(k) < k` is not
//! required: coordinates keep the order of the robot file; `order` lists them in preorder, so that
//! a coordinate and its descendants are contiguous.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::quad::LANES;

/// Velocity coordinates of a floating base.
pub(crate) const BASE: usize = 6;

/// No floating base.
pub(crate) const NO_BASE: usize = usize::MAX;

/// Sparsity of the mass matrix and its factor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchPattern {
    /// Start of each packed row.
    row_start: Vec<usize>,
    row_len: Vec<usize>,
    /// Packed like the rows; padding is not used.
    ancestors: Vec<usize>,
    order: Vec<usize>,
    /// Rank of each ancestor, packed like `ancestors`.
    ancestor_ranks: Vec<usize>,
    /// Position of each coordinate in `order`.
    rank: Vec<usize>,
    sorted: bool,
    /// First coordinate of the floating base that carries each coordinate, or [`NO_BASE`].
    base: Vec<usize>,
    names: Vec<String>,
}

impl BranchPattern {
    /// From the parent of each coordinate and their names. `bases` are the first coordinates of
    /// floating bases whose six coordinates begin the row of everything that they carry.
    pub(crate) fn new(parents: &[Option<usize>], bases: &[usize], names: Vec<String>) -> Self {
        let order = preorder(parents);
        let mut row_start = Vec::with_capacity(parents.len());
        let mut row_len = Vec::with_capacity(parents.len());
        let mut ancestors = Vec::with_capacity(packed_len(parents, &order));
        for &parent in parents {
            let first = ancestors.len();
            let mut next = parent;
            while let Some(i) = next {
                ancestors.push(i);
                next = parents[i];
            }
            ancestors[first..].reverse();
            row_start.push(first);
            row_len.push(ancestors.len() - first);
            ancestors.resize(ancestors.len().next_multiple_of(LANES), 0);
        }
        let mut rank = vec![0; order.len()];
        for (place, &k) in order.iter().enumerate() {
            rank[k] = place;
        }
        let mut base = vec![NO_BASE; order.len()];
        for &first in bases {
            base[first..first + BASE].fill(first);
        }
        for &k in &order {
            if let Some(parent) = parents[k] {
                base[k] = base[parent];
            }
        }
        let sorted = order.is_sorted();
        let ancestor_ranks = ancestors.iter().map(|&i| rank.get(i).copied().unwrap_or(0)).collect();
        Self { row_start, row_len, ancestors, ancestor_ranks, order, rank, sorted, base, names }
    }

    /// From the pairs of coordinates that couple, an order in which parents come first, and `bases`
    /// and `names` as in [`new`](Self::new).
    pub(crate) fn of_pairs(
        pairs: impl Iterator<Item = (usize, usize)>,
        order: &[usize],
        bases: &[usize],
        names: Vec<String>,
    ) -> Self {
        let mut rank = vec![0; order.len()];
        for (place, &k) in order.iter().enumerate() {
            rank[k] = place;
        }
        let mut earlier: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); order.len()];
        for (i, j) in pairs {
            let (a, b) = (rank[i], rank[j]);
            if a != b {
                earlier[a.max(b)].insert(a.min(b));
            }
        }
        // Eliminating a coordinate couples all its earlier neighbours: the last of them takes over.
        let mut parents = vec![None; order.len()];
        for place in (0..order.len()).rev() {
            let mut neighbours = std::mem::take(&mut earlier[place]);
            if let Some(last) = neighbours.pop_last() {
                parents[order[place]] = Some(order[last]);
                earlier[last].append(&mut neighbours);
            }
        }
        Self::new(&parents, bases, names)
    }

    /// Memory for a tree of `dim` coordinates without names, whose row k is the k-th of `dim` rows
    /// of `dim` numbers, behind the first of them. All coordinates are roots at first.
    pub(crate) fn strided(dim: usize) -> Self {
        Self {
            row_start: (0..dim).map(|k| k * dim + 1).collect(),
            row_len: vec![0; dim],
            ancestors: vec![0; dim * dim],
            order: (0..dim).collect(),
            ancestor_ranks: Vec::new(),
            rank: (0..dim).collect(),
            sorted: true,
            base: vec![NO_BASE; dim],
            names: Vec::new(),
        }
    }

    /// Parent of coordinate `k`.
    pub(crate) fn parent(&self, k: usize) -> Option<usize> {
        self.ancestors(k).last().copied()
    }

    /// Takes other parents into a [`strided`](Self::strided) tree; allocates nothing. False, and a
    /// tree without meaning, if they make a circle or are no coordinates.
    pub(crate) fn set_parents(&mut self, parent: impl Fn(usize) -> Option<usize>) -> bool {
        const NOT_PLACED: usize = usize::MAX;
        let dim = self.dim();
        self.rank.fill(NOT_PLACED);
        let mut placed = 0;
        // One pass, if parents come before children.
        loop {
            let before = placed;
            for k in 0..dim {
                let above = parent(k);
                let is_ready =
                    above.is_none_or(|p| self.rank.get(p).is_some_and(|&r| r != NOT_PLACED));
                if self.rank[k] != NOT_PLACED || !is_ready {
                    continue;
                }
                let start = self.row_start[k];
                self.row_len[k] = 0;
                if let Some(p) = above {
                    let row = self.row(p);
                    self.row_len[k] = row.len() + 1;
                    self.ancestors[start + row.len()] = p;
                    self.ancestors.copy_within(row, start);
                }
                (self.rank[k], self.order[placed]) = (placed, k);
                placed += 1;
            }
            if placed == dim || placed == before {
                self.sorted = self.order.is_sorted();
                self.find_bases();
                return placed == dim;
            }
        }
    }

    /// Finds six coordinates in a row, in both orders, of which each is the only child of the one
    /// before, the first a root: all that hangs on them begins its row with them.
    fn find_bases(&mut self) {
        self.base.fill(NO_BASE);
        for first in 0..(self.dim() + 1).saturating_sub(BASE) {
            let six = first..first + BASE;
            let is_row = self.row_len[first] == 0
                && six
                    .clone()
                    .skip(1)
                    .all(|k| self.parent(k) == Some(k - 1) && self.rank[k] == self.rank[k - 1] + 1);
            let inner = first..first + BASE - 1;
            let children = |k: &usize| self.parent(*k).is_some_and(|p| inner.contains(&p));
            if is_row && (0..self.dim()).filter(children).count() == BASE - 1 {
                self.base[six].fill(first);
            }
        }
        for place in 0..self.dim() {
            let k = self.order[place];
            if let Some(parent) = self.parent(k) {
                self.base[k] = self.base[parent];
            }
        }
    }

    /// Number of velocity coordinates nv.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.order.len()
    }

    /// Numbers in packed storage, padding included.
    pub(crate) fn storage(&self) -> usize {
        self.ancestors.len()
    }

    /// Ancestors of coordinate `k`, root first.
    ///
    /// # Panics
    /// If `k` is not below [`dim`](Self::dim).
    #[must_use]
    #[inline]
    pub fn ancestors(&self, k: usize) -> &[usize] {
        &self.ancestors[self.row(k)]
    }

    /// Ranks of the ancestors of coordinate `k`, ascending.
    #[inline]
    pub(crate) fn ancestor_ranks(&self, k: usize) -> &[usize] {
        &self.ancestor_ranks[self.row(k)]
    }

    /// Whether `order` is 0, 1, 2, …: the robot file lists parents before children, limb by limb.
    #[inline]
    pub(crate) fn is_sorted(&self) -> bool {
        self.sorted
    }

    /// Range of row `k` in packed storage.
    #[inline]
    pub(crate) fn row(&self, k: usize) -> Range<usize> {
        let start = self.row_start[k];
        start..start + self.row_len[k]
    }

    /// Row `k` with its padding.
    #[inline]
    pub(crate) fn padded_row(&self, k: usize) -> Range<usize> {
        let start = self.row_start[k];
        start..start + self.row_len[k].next_multiple_of(LANES)
    }

    /// Position of coordinate `k` in [`order`](Self::order).
    #[inline]
    pub(crate) fn rank(&self, k: usize) -> usize {
        self.rank[k]
    }

    /// First coordinate of the floating base whose six coordinates begin row `k`, or [`NO_BASE`].
    #[inline]
    pub(crate) fn base(&self, k: usize) -> usize {
        self.base[k]
    }

    /// Index of entry (k, i) in packed storage; `i` is an ancestor of `k`.
    #[inline]
    pub(crate) fn entry(&self, k: usize, i: usize) -> usize {
        self.row_start[k] + self.row_len[i]
    }

    /// The coordinates, parents before children.
    #[must_use]
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Name of coordinate `k` for messages: a joint's name or `base vx`, …, `base wz`.
    ///
    /// # Panics
    /// If `k` is not below [`dim`](Self::dim).
    #[must_use]
    pub fn name(&self, k: usize) -> &str {
        &self.names[k]
    }

    /// Length of the longest row, padding included.
    pub(crate) fn widest(&self) -> usize {
        (0..self.dim()).map(|k| self.padded_row(k).len()).max().unwrap_or(0)
    }
}

/// Numbers of all rows, padding included; `order` has parents first.
fn packed_len(parents: &[Option<usize>], order: &[usize]) -> usize {
    let mut len = vec![0_usize; parents.len()];
    for &k in order {
        len[k] = parents[k].map_or(0, |parent| len[parent] + 1);
    }
    len.iter().map(|len| len.next_multiple_of(LANES)).sum()
}

/// The coordinates in preorder: parents first, children in their own order, subtrees together.
fn preorder(parents: &[Option<usize>]) -> Vec<usize> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); parents.len()];
    let mut open = Vec::new();
    for (k, parent) in parents.iter().enumerate().rev() {
        match parent {
            Some(parent) => children[*parent].push(k),
            None => open.push(k),
        }
    }
    let mut order = Vec::with_capacity(parents.len());
    while let Some(k) = open.pop() {
        order.push(k);
        open.extend(&children[k]);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(n: usize) -> Vec<String> {
        (0..n).map(|k| k.to_string()).collect()
    }

    /// Pairs of a tree give the tree back; a pair across branches chains them up to where it ends.
    #[test]
    fn pairs_give_the_elimination_tree() {
        let pairs = [(1, 0), (2, 0), (2, 1), (3, 0), (4, 0), (4, 3)];
        let tree = BranchPattern::of_pairs(pairs.into_iter(), &[0, 1, 2, 3, 4], &[], names(5));
        assert_eq!(tree.ancestors(2), [0, 1]);
        assert_eq!(tree.ancestors(4), [0, 3]);
        let coupled = pairs.into_iter().chain([(4, 2)]);
        let coupled = BranchPattern::of_pairs(coupled, &[0, 1, 2, 3, 4], &[], names(5));
        assert_eq!(coupled.ancestors(4), [0, 1, 2, 3]);
        assert_eq!(coupled.ancestors(3), [0, 1, 2]);
        assert_eq!(coupled.entry(4, 2), coupled.row(4).start + 2);
    }
}
