//! The factor of a mass matrix as it comes over a wire: a dense matrix that is mostly zero.
//!
//! `Dynamics.factor` is `C` with `CᵀC = M`. Row k of C has entries only at coordinate k and at the
//! coordinates that carry it (its ancestors), so `C` is triangular once parents come first. The
//! sparsity is read off the matrix itself: a block that works for every robot needs no model.
//!
//! Reference: R. Featherstone, *Rigid Body Dynamics Algorithms* (2008), sec. 6.5.

use legwork_block::{Fault, Outcome};
use legwork_qp::complementarity::HalfInverseMass;

/// `C` by its nonzero entries, with an order of rows in which every row comes after those it has
/// entries at.
#[derive(Debug, Clone)]
pub(crate) struct WireFactor {
    inverse_diagonal: Vec<f64>,
    /// First entry of each row, and one past the last.
    starts: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
    order: Vec<usize>,
    is_placed: Vec<bool>,
    /// Rows between which a column of `J C⁻¹` is not zero.
    ranges: Vec<(usize, usize)>,
}

impl WireFactor {
    /// Memory for `nv` coordinates.
    pub(crate) fn new(nv: usize) -> Self {
        let most = nv * nv.saturating_sub(1);
        Self {
            inverse_diagonal: vec![0.0; nv],
            starts: vec![0; nv + 1],
            columns: Vec::with_capacity(most),
            values: Vec::with_capacity(most),
            order: Vec::with_capacity(nv),
            is_placed: vec![false; nv],
            ranges: vec![(0, 0); nv],
        }
    }

    /// Reads the dense column-major matrix. O(nv²).
    ///
    /// # Errors
    /// If a diagonal entry is not positive, or no order of rows makes the matrix triangular.
    pub(crate) fn read(&mut self, dense: &[f64]) -> Outcome {
        if self.read_known(dense) {
            return Ok(());
        }
        let nv = self.inverse_diagonal.len();
        self.order.clear();
        self.columns.clear();
        self.values.clear();
        let mut is_ordered = true;
        for row in 0..nv {
            let diagonal = dense[row * nv + row];
            if !(diagonal > 0.0 && diagonal.is_finite()) {
                return Err(Fault::new(format!(
                    "expected a positive diagonal of the mass matrix's factor, found {diagonal} \
                     in row {row}"
                )));
            }
            self.inverse_diagonal[row] = 1.0 / diagonal;
            for column in 0..nv {
                let value = dense[column * nv + row];
                if value != 0.0 && column != row {
                    is_ordered &= column < row;
                    self.columns.push(column);
                    self.values.push(value);
                }
            }
            self.starts[row + 1] = self.columns.len();
        }
        if is_ordered {
            self.order.extend(0..nv);
            return Ok(());
        }
        self.sort()
    }

    /// Reads a matrix whose nonzero entries are where those of the last one were. False, with the
    /// memory in disorder, if they are not.
    fn read_known(&mut self, dense: &[f64]) -> bool {
        let nv = self.inverse_diagonal.len();
        if self.order.len() != nv || nv == 0 {
            return false;
        }
        let mut is_same =
            dense.iter().filter(|&&value| value != 0.0).count() == nv + self.columns.len();
        for (row, inverse) in self.inverse_diagonal.iter_mut().enumerate() {
            let diagonal = dense[row * nv + row];
            is_same &= diagonal > 0.0 && diagonal.is_finite();
            *inverse = 1.0 / diagonal;
            let entries = self.starts[row]..self.starts[row + 1];
            for (value, &column) in
                self.values[entries.clone()].iter_mut().zip(&self.columns[entries])
            {
                *value = dense[column * nv + row];
                is_same &= *value != 0.0;
            }
        }
        is_same
    }

    /// Finds an order of rows; only needed for robot files that list a child before its parent.
    fn sort(&mut self) -> Outcome {
        let nv = self.inverse_diagonal.len();
        self.is_placed.fill(false);
        while self.order.len() < nv {
            let before = self.order.len();
            for row in 0..nv {
                let entries = self.starts[row]..self.starts[row + 1];
                let is_ready = self.columns[entries].iter().all(|&column| self.is_placed[column]);
                if is_ready && !self.is_placed[row] {
                    self.is_placed[row] = true;
                    self.order.push(row);
                }
            }
            if self.order.len() == before {
                return Err(Fault::new("expected a triangular factor of the mass matrix"));
            }
        }
        Ok(())
    }

    /// Columns and values of the entries of a row beside the diagonal.
    #[inline]
    fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let entries = self.starts[row]..self.starts[row + 1];
        let columns = self.columns[entries.clone()].iter().copied();
        columns.zip(self.values[entries].iter().copied())
    }

    /// `x ← C⁻ᵀ x`; afterwards `x·x` is `xᵀM⁻¹x` of the given x.
    pub(crate) fn half_solve(&self, x: &mut [f64]) {
        for &k in self.order.iter().rev() {
            let value = x[k] * self.inverse_diagonal[k];
            x[k] = value;
            if value != 0.0 {
                for (i, c) in self.row(k) {
                    x[i] -= c * value;
                }
            }
        }
    }

    /// `x ← C⁻¹ x`; after [`Self::half_solve`] this gives `M⁻¹ x`.
    pub(crate) fn half_solve_transposed(&self, x: &mut [f64]) {
        for &k in &self.order {
            let mut sum = x[k];
            for (i, c) in self.row(k) {
                sum -= c * x[i];
            }
            x[k] = sum * self.inverse_diagonal[k];
        }
    }

    /// `W ← J C⁻¹` in place (`row_count` × nv, column-major), so that `J M⁻¹ Jᵀ = W Wᵀ`. Zero parts
    /// of J are skipped.
    pub(crate) fn half_solve_jacobian(&mut self, w: &mut [f64], row_count: usize) {
        if row_count == 0 {
            return;
        }
        for (range, column) in self.ranges.iter_mut().zip(w.chunks_exact(row_count)) {
            *range = nonzero_range(column);
        }
        for at in (0..self.order.len()).rev() {
            let k = self.order[at];
            let (low, high) = self.ranges[k];
            if low == high {
                continue;
            }
            for value in &mut w[k * row_count + low..k * row_count + high] {
                *value *= self.inverse_diagonal[k];
            }
            for entry in self.starts[k]..self.starts[k + 1] {
                let (i, c) = (self.columns[entry], self.values[entry]);
                for row in low..high {
                    w[i * row_count + row] -= c * w[k * row_count + row];
                }
                let (first, last) = self.ranges[i];
                self.ranges[i] =
                    if first == last { (low, high) } else { (first.min(low), last.max(high)) };
            }
        }
    }

    /// Finds anew where the columns of `w` (`row_count` × nv) are not zero, after it was changed.
    pub(crate) fn find_ranges(&mut self, w: &[f64], row_count: usize) {
        for (range, column) in self.ranges.iter_mut().zip(w.chunks_exact(row_count.max(1))) {
            *range = nonzero_range(column);
        }
    }

    /// `G = W Wᵀ` of the W that [`Self::half_solve_jacobian`] made last: exactly symmetric.
    pub(crate) fn gram(&self, w: &[f64], row_count: usize, g: &mut [f64]) {
        g.fill(0.0);
        if row_count == 0 {
            return;
        }
        for (&(low, high), column) in self.ranges.iter().zip(w.chunks_exact(row_count)) {
            let column = &column[low..high];
            for (c, &value) in column.iter().enumerate() {
                let start = (low + c) * row_count + low + c;
                for (g, below) in g[start..start + column.len() - c].iter_mut().zip(&column[c..]) {
                    *g += value * below;
                }
            }
        }
        for column in 0..row_count {
            for row in column + 1..row_count {
                g[row * row_count + column] = g[column * row_count + row];
            }
        }
    }
}

/// The pivoting methods of `legwork-qp` take M by this square root: with `CᵀC = M`, `C⁻ᵀ` is one of
/// M⁻¹. It is here because this is the only crate that knows the layout of a wire and the
/// solvers both; `legwork-qp` knows no robot, `legwork-mechanics` no solver.
impl HalfInverseMass for WireFactor {
    fn dim(&self) -> usize {
        self.inverse_diagonal.len()
    }

    fn half_solve(&self, x: &mut [f64]) {
        Self::half_solve(self, x);
    }
}

/// Smallest range that holds all entries that are not zero; `(0, 0)` if there are none.
fn nonzero_range(column: &[f64]) -> (usize, usize) {
    let Some(first) = column.iter().position(|&x| x != 0.0) else { return (0, 0) };
    let last = column.iter().rposition(|&x| x != 0.0).unwrap_or(first);
    (first, last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use legwork_qp::problems::Random;
    use nalgebra::DMatrix;

    /// A factor with the sparsity of a tree given by parents, coordinates renumbered by `names`.
    fn tree(random: &mut Random, parents: &[Option<usize>], names: &[usize]) -> DMatrix<f64> {
        let nv = parents.len();
        let mut c = DMatrix::zeros(nv, nv);
        for k in 0..nv {
            c[(names[k], names[k])] = 0.5 + random.uniform();
            let mut above = parents[k];
            while let Some(i) = above {
                c[(names[k], names[i])] = random.normal();
                above = parents[i];
            }
        }
        c
    }

    /// The oracle inverts `M = CᵀC` by LU.
    #[test]
    fn products_with_the_inverse_agree_with_a_dense_inverse_in_any_order_of_rows() {
        let mut random = Random::new(7);
        let parents = [None, Some(0), Some(1), Some(0), Some(3), Some(1)];
        for names in [[0, 1, 2, 3, 4, 5], [5, 3, 0, 4, 1, 2]] {
            let c = tree(&mut random, &parents, &names);
            let inverse = (c.transpose() * &c).try_inverse().expect("positive definite");
            let mut j = DMatrix::from_fn(5, 6, |_, _| random.normal());
            // A contact that some coordinates do not move.
            j.view_mut((0, 3), (2, 3)).fill(0.0);
            let mut factor = WireFactor::new(6);
            factor.read(c.as_slice()).expect("a factor");
            let mut w = j.clone();
            factor.half_solve_jacobian(w.as_mut_slice(), 5);
            let mut g = DMatrix::zeros(5, 5);
            factor.gram(w.as_slice(), 5, g.as_mut_slice());
            let expected = &j * &inverse * j.transpose();
            let error = (&g - &expected).amax() / expected.amax();
            assert!(error < 1e-11, "{names:?}: relative error {error:.1e}");
            assert_eq!(g, g.transpose());
            let b = DMatrix::from_fn(6, 1, |_, _| random.normal());
            let mut x = b.clone();
            factor.half_solve(x.as_mut_slice());
            let free = &w * &x;
            assert!((free - &j * &inverse * &b).amax() < 1e-10 * expected.amax());
            factor.half_solve_transposed(x.as_mut_slice());
            let error = (x - &inverse * &b).amax() / (&inverse * &b).amax();
            assert!(error < 1e-11, "{names:?}: relative error {error:.1e}");
        }
    }

    /// Reading into used memory is reading into fresh memory, bit for bit.
    #[test]
    fn what_was_read_before_does_not_matter() {
        let mut random = Random::new(8);
        let parents = [None, Some(0), Some(1), Some(0), Some(3), Some(1)];
        let other = [None, Some(0), Some(0), Some(2), Some(2), Some(4)];
        let mut used = WireFactor::new(6);
        for (parents, names) in [
            (&parents, [0, 1, 2, 3, 4, 5]),
            (&parents, [0, 1, 2, 3, 4, 5]),
            (&parents, [5, 3, 0, 4, 1, 2]),
            (&other, [0, 1, 2, 3, 4, 5]),
            (&other, [0, 1, 2, 3, 4, 5]),
        ] {
            for zero in [None, Some((4, 0))] {
                let mut c = tree(&mut random, parents, &names);
                if let Some(entry) = zero {
                    c[entry] = 0.0;
                }
                let mut fresh = WireFactor::new(6);
                fresh.read(c.as_slice()).expect("a factor");
                used.read(c.as_slice()).expect("a factor");
                let mut x = [1.0, -2.0, 3.0, 0.5, 0.25, -1.0];
                let mut y = x;
                fresh.half_solve(&mut x);
                used.half_solve(&mut y);
                assert_eq!(x.map(f64::to_bits), y.map(f64::to_bits));
                assert_eq!((&used.columns, &used.order), (&fresh.columns, &fresh.order));
            }
            used.read(&[0.0; 36]).expect_err("no factor");
        }
    }

    #[test]
    fn what_is_no_factor_is_a_fault() {
        let mut factor = WireFactor::new(2);
        let message = |m: &[f64]| factor.clone().read(m).expect_err("no factor").message;
        assert!(message(&[1.0, 0.0, 0.0, f64::NAN]).contains("found NaN in row 1"));
        assert!(message(&[1.0, 1.0, 1.0, 1.0]).contains("triangular"));
        assert!(factor.read(&[1.0, 0.0, 3.0, 1.0]).is_ok());
    }
}
