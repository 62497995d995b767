//! The tree of velocity coordinates.
//!
//! Every velocity coordinate `k` has a parent `λ(k)`: the joint below it on the way to the root,
//! or for the six base coordinates the previous one. `M_ki ≠ 0` only if `i` is an ancestor of `k`
//! or the reverse, and the factor `M = Lᵀ D L` keeps that pattern: no fill-in (Featherstone,
//! *Rigid Body Dynamics Algorithms*, 2008, sec. 6.5).
//!
//! Row `k` is stored packed, ancestors root first. The ancestors of an ancestor are then a prefix
//! of the row, so that factorisation and solves run over contiguous slices. Nothing asks that
//! `λ(k) < k`: coordinates keep the order of the robot file, `order` lists them parents first.

use std::ops::Range;

/// Sparsity of the mass matrix and its factor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchPattern {
    /// Start of each packed row; one more entry than there are rows.
    row_start: Vec<usize>,
    ancestors: Vec<usize>,
    order: Vec<usize>,
    names: Vec<String>,
}

impl BranchPattern {
    /// From the parent of each coordinate, the coordinates in an order in which parents come
    /// first, and their names.
    pub(crate) fn new(parents: &[Option<usize>], order: Vec<usize>, names: Vec<String>) -> Self {
        let mut row_start = Vec::with_capacity(parents.len() + 1);
        let mut ancestors = Vec::new();
        for &parent in parents {
            row_start.push(ancestors.len());
            let first = ancestors.len();
            let mut next = parent;
            while let Some(i) = next {
                ancestors.push(i);
                next = parents[i];
            }
            ancestors[first..].reverse();
        }
        row_start.push(ancestors.len());
        Self { row_start, ancestors, order, names }
    }

    /// Number of velocity coordinates nv.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.names.len()
    }

    /// Number of packed off-diagonal entries.
    #[must_use]
    pub fn entry_count(&self) -> usize {
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

    /// Where row `k` lies in packed storage.
    #[inline]
    pub(crate) fn row(&self, k: usize) -> Range<usize> {
        self.row_start[k]..self.row_start[k + 1]
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

    /// Length of the longest row.
    pub(crate) fn depth(&self) -> usize {
        (0..self.dim()).map(|k| self.row(k).len()).max().unwrap_or(0)
    }
}
