//! A factor of a mass matrix as numbers that carry its sparsity with them.
//!
//! `M = Lᵀ D L` as nv × (nv + 1) numbers, column by column:
//!
//! | column | content |
//! |---|---|
//! | 0 | the inverse pivots `1/D_k` |
//! | k + 1 | the parent of coordinate k, −1 at a root; then `L_ki` at its ancestors, root first |
//!
//! The rest is not read. Who has the numbers needs no model: every robot and every world has this
//! layout, so has a mass matrix in which motors couple the branches of the tree.
//!
//! References: R. Featherstone, *Rigid Body Dynamics Algorithms* (2008), sec. 6.5, table 6.3; J. W.
//! H. Liu, *The role of elimination trees in sparse factorization* (1990), algorithm 4.2.

use crate::branch::BranchPattern;
use crate::mass_factor::{MassFactor, MassFactorRef};

/// The parent of a root.
const ROOT: f64 = -1.0;

/// Why numbers are no factor.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NoFactor {
    /// A pivot is not positive, or not a number.
    #[error("expected positive pivots of the mass matrix, found {pivot:e} at coordinate {k}")]
    Pivot {
        /// The coordinate.
        k: usize,
        /// What stands there.
        pivot: f64,
    },
    /// The parents are no tree.
    #[error("expected a tree of coordinates in the factor of the mass matrix, found a circle")]
    Tree,
}

/// The tree of packed factors, kept from one to the next.
#[derive(Clone, Debug)]
pub struct PackedFactor {
    pattern: BranchPattern,
    /// The parent of each coordinate as it was read.
    parents: Vec<f64>,
}

impl PackedFactor {
    /// Memory for nv coordinates.
    #[must_use]
    pub fn new(dim: usize) -> Self {
        Self { pattern: BranchPattern::strided(dim), parents: vec![ROOT; dim] }
    }

    /// The factor that `packed` holds. O(nv) where the tree is that of the last one, as it is from
    /// step to step of a robot; allocates nothing.
    ///
    /// # Errors
    /// If a pivot is not positive or the parents are no tree.
    ///
    /// # Panics
    /// If there are fewer than nv × (nv + 1) numbers.
    pub fn read<'a>(&'a mut self, packed: &'a [f64]) -> Result<MassFactorRef<'a>, NoFactor> {
        let dim = self.pattern.dim();
        let (inverse_pivots, rows) = packed[..dim * (dim + 1)].split_at(dim);
        // Without early ends: the numbers of a robot are good, and compared several at once.
        let is_pivot = |inverse: f64| (inverse > 0.0) & (inverse < f64::INFINITY);
        if !inverse_pivots.iter().fold(true, |good, inverse| good & is_pivot(*inverse)) {
            let bad = inverse_pivots.iter().position(|inverse| !is_pivot(*inverse));
            let k = bad.unwrap_or_default();
            return Err(NoFactor::Pivot { k, pivot: 1.0 / inverse_pivots[k] });
        }
        let read = self.parents.iter().zip(rows.chunks_exact(dim.max(1)));
        if !read.fold(true, |same, (parent, row)| same & (*parent == row[0])) {
            self.read_tree(rows)?;
        }
        Ok(MassFactorRef { pattern: &self.pattern, rows, inverse_pivots })
    }

    /// Takes another tree than that of the last factor.
    #[cold]
    fn read_tree(&mut self, rows: &[f64]) -> Result<(), NoFactor> {
        let dim = self.pattern.dim();
        let parent = |k: usize| match rows[k * dim] {
            ROOT => None,
            // What is no coordinate is no parent that ever comes.
            other => Some(if other >= 0.0 { other as usize } else { dim }),
        };
        if !self.pattern.set_parents(parent) {
            // The next tree must not be taken for this one.
            self.pattern.set_parents(|_| None);
            self.parents.fill(ROOT);
            return Err(NoFactor::Tree);
        }
        self.parents.iter_mut().enumerate().for_each(|(k, parent)| *parent = rows[k * dim]);
        Ok(())
    }
}

impl MassFactor {
    /// Packs the factor; numbers that are not read stay as they are.
    ///
    /// # Panics
    /// If there is no room for nv × (nv + 1) numbers.
    pub fn pack_into(&self, packed: &mut [f64]) {
        let MassFactorRef { pattern, rows, inverse_pivots } = self.view();
        let dim = self.dim();
        assert_eq!(packed.len(), dim * (dim + 1), "length of packed");
        let (pivots, packed) = packed.split_at_mut(dim);
        pivots.copy_from_slice(inverse_pivots);
        for (k, packed) in packed.chunks_exact_mut(dim).enumerate() {
            let row = &rows[pattern.row(k)];
            packed[0] = pattern.parent(k).map_or(ROOT, |parent| parent as f64);
            packed[1..=row.len()].copy_from_slice(row);
        }
    }
}

/// Packs the factor of the identity of so many coordinates.
///
/// # Panics
/// If there are fewer than nv × (nv + 1) numbers.
pub fn pack_identity(dim: usize, packed: &mut [f64]) {
    let (inverse_pivots, rows) = packed[..dim * (dim + 1)].split_at_mut(dim);
    inverse_pivots.fill(1.0);
    rows.iter_mut().step_by(dim.max(1)).for_each(|parent| *parent = ROOT);
}

/// Factors a dense mass matrix whose zeros need not be those of a robot's tree, as where motors
/// couple its branches: `m` (nv × nv) is work memory afterwards. The tree is the elimination tree
/// of its nonzeros. O(nv depth²) beside reading M. Not one of linalg's factors: what it writes is
/// the packing itself, tree and all, and no loop of it runs over a row.
///
/// # Errors
/// The coordinate at which M is not positive definite.
///
/// # Panics
/// If there are fewer than nv × (nv + 1) numbers.
pub fn pack_dense(m: &mut [f64], packed: &mut [f64]) -> Result<(), usize> {
    let dim = m.len().isqrt();
    let (inverse_pivots, rows) = packed[..dim * (dim + 1)].split_at_mut(dim);
    let parent = |rows: &[f64], k: usize| match rows[k * dim] {
        ROOT => None,
        parent => Some(parent as usize),
    };
    // Liu: the parent of a subtree's top is the nearest coordinate before it that couples with any
    // coordinate of the subtree.
    for k in (0..dim).rev() {
        rows[k * dim] = ROOT;
        for j in (k + 1..dim).filter(|&j| m[k * dim + j] != 0.0) {
            let mut top = j;
            while let Some(above) = parent(rows, top).filter(|&p| p != k) {
                top = above;
            }
            rows[top * dim] = k as f64;
        }
    }

    // Featherstone's table 6.3, on the lower triangle; all ancestors come before k.
    inverse_pivots.fill(0.0);
    for k in (0..dim).rev() {
        // The pivot is compared with the size of the terms that have cancelled in it.
        let pivot = m[k * dim + k];
        let rounding = 4.0 * f64::EPSILON * dim as f64 * inverse_pivots[k].max(pivot);
        if !(pivot > rounding && pivot.is_finite()) {
            return Err(k);
        }
        inverse_pivots[k] = 1.0 / pivot;
        let depth = std::iter::successors(parent(rows, k), |&i| parent(rows, i)).count();
        let mut next = parent(rows, k);
        for place in (1..=depth).rev() {
            let Some(i) = next else { break };
            let value = m[i * dim + k];
            let l = value / pivot;
            inverse_pivots[i] += l * value;
            let mut above = Some(i);
            while let Some(j) = above {
                m[j * dim + i] -= l * m[j * dim + k];
                above = parent(rows, j);
            }
            rows[k * dim + place] = l;
            next = parent(rows, i);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, DVector};

    use super::*;

    /// `LᵀDL` with the sparsity of a tree, and what `pack_dense` makes of it.
    fn tree(parents: &[Option<usize>], seed: usize) -> (DMatrix<f64>, Vec<f64>) {
        let nv = parents.len();
        let number =
            |k: usize, i: usize| f64::from(((7 * k + 3 * i + seed) % 11) as u32) / 4.0 - 1.2;
        let mut c = DMatrix::zeros(nv, nv);
        for k in 0..nv {
            c[(k, k)] = 1.0 + number(k, k).abs();
            let mut above = parents[k];
            while let Some(i) = above {
                c[(k, i)] = number(k, i);
                above = parents[i];
            }
        }
        let m = c.transpose() * c;
        let mut packed = vec![f64::NAN; nv * (nv + 1)];
        pack_dense(m.clone().as_mut_slice(), &mut packed).expect("positive definite");
        (m, packed)
    }

    /// Solves agree with LU, whatever tree was read before, and the tree is the one that M has.
    #[test]
    fn a_packed_factor_solves_and_keeps_the_tree() {
        let branched = [None, Some(0), Some(1), Some(0), Some(3), Some(1)];
        let chain = [None, Some(0), Some(1), Some(2), Some(3), Some(4)];
        let apart = [None, None, Some(1), None, Some(3), Some(4)];
        let mut used = PackedFactor::new(6);
        for (seed, parents) in [&branched, &branched, &chain, &apart, &branched].iter().enumerate()
        {
            let (m, packed) = tree(*parents, seed);
            let factor = used.read(&packed).expect("a factor");
            for k in 0..6 {
                assert_eq!(factor.pattern.parent(k), parents[k]);
            }
            let b = DVector::from_fn(6, |i, _| 1.0 - 0.3 * i as f64);
            let mut x = b.clone();
            factor.solve_in_place(x.as_mut_slice());
            let expected = m.lu().solve(&b).expect("definite");
            assert!((&x - &expected).amax() < 1e-9 * expected.amax(), "{x} {expected}");
            let mut fresh = PackedFactor::new(6);
            let mut again = b;
            fresh.read(&packed).expect("a factor").solve_in_place(again.as_mut_slice());
            assert_eq!(x, again);
        }
    }

    /// A robot file may list a child before its parent.
    #[test]
    fn coordinates_may_come_in_any_order() {
        let (m, packed) = tree(&[None, Some(0), Some(1)], 0);
        // Coordinate k is named 2 − k: column 0 and the parents turn around, rows keep their order.
        let mut turned = [0.0; 12];
        for k in 0..3 {
            turned[2 - k] = packed[k];
            let (to, from) = (3 + 3 * (2 - k), 3 + 3 * k);
            turned[to..to + 3].copy_from_slice(&packed[from..from + 3]);
            turned[to] = if k == 0 { ROOT } else { (3 - k) as f64 };
        }
        let mut factor = PackedFactor::new(3);
        let mut x = [3.0, 2.0, 1.0];
        factor.read(&turned).expect("a factor").solve_in_place(&mut x);
        let expected =
            m.lu().solve(&DVector::from_column_slice(&[1.0, 2.0, 3.0])).expect("definite");
        assert!((0..3).all(|i| (x[2 - i] - expected[i]).abs() < 1e-12 * expected.amax()));
    }

    #[test]
    fn what_is_no_factor_is_refused() {
        let mut factor = PackedFactor::new(2);
        let error = factor.read(&[1.0, f64::NAN, -1.0, 0.0, -1.0, 0.0]).expect_err("NaN");
        assert!(error.to_string().contains("found NaN at coordinate 1"), "{error}");
        for parents in [[1.0, 0.0], [-1.0, 1.0], [-1.0, 7.0], [-1.0, f64::NAN], [-1.0, -2.0]] {
            let packed = [1.0, 1.0, parents[0], 0.5, parents[1], 0.5];
            assert_eq!(factor.read(&packed).expect_err("no tree"), NoFactor::Tree, "{parents:?}");
        }
        assert!(factor.read(&[1.0, 1.0, -1.0, 0.0, 0.0, 3.0]).is_ok());
        // Not positive definite: [1 2; 2 1], and M of rank one.
        let mut packed = [0.0; 6];
        assert_eq!(pack_dense(&mut [1.0, 2.0, 2.0, 1.0], &mut packed), Err(0));
        assert_eq!(pack_dense(&mut [1.0, 2.0, 2.0, 4.0], &mut packed), Err(0));
        assert_eq!(pack_dense(&mut [4.0, 2.0, 2.0, 0.0], &mut packed), Err(1));
    }
}
