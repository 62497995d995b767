//! Sparse Cholesky factor of a symmetric positive definite matrix of dense blocks.
//!
//! The blocks are those of the velocities of bodies, so that one factor serves a robot (one dense
//! block), many bodies (6 × 6 blocks wherever two of them touch) and both together. Bodies
//! are eliminated in order of least degree (W. F. Tinney, J. W. Walker, *Direct solutions of sparse
//! network equations by optimally ordered triangular factorization*, 1967), ties by the lowest
//! index, so a stack or a chain of N bodies costs O(N). The analysis depends on the set of pairs
//! alone: equal pairs give the same factor bit by bit, whatever was factored before.
//!
//! Plain loops in a fixed order: results do not depend on the processor's vector units.

use super::dense_kernels::{
    backward, factor_dense, forward, solve_right, subtract_product, subtract_times,
    subtract_transposed_times,
};
use std::collections::BTreeSet;

/// Where one block of the matrix is stored.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slot {
    /// First of its values.
    pub(super) start: usize,
    /// Whether the transposed block is stored.
    pub(super) is_transposed: bool,
}

/// Pattern, values and factor; the factor replaces the values.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockCholesky {
    /// Rows of each block.
    sizes: Vec<usize>,
    /// First scalar row of each block.
    starts: Vec<usize>,
    /// Sorted pairs `(a, b)`, `a < b`, of blocks that are coupled.
    pairs: Vec<(usize, usize)>,
    /// Elimination order: block at each step, and the step of each block.
    order: Vec<usize>,
    step_of: Vec<usize>,
    /// Start of the diagonal block of each step.
    diagonal: Vec<usize>,
    /// Blocks below the diagonal of step k: `columns[k]..columns[k + 1]`.
    columns: Vec<usize>,
    /// Step that a block below the diagonal belongs to, increasing within a column.
    rows: Vec<usize>,
    /// Start of each block below the diagonal.
    below: Vec<usize>,
    /// Starts of the blocks that step k updates, for pairs of its blocks (i, j ≤ i), in order.
    targets: Vec<usize>,
    values: Vec<f64>,
}

impl BlockCholesky {
    /// Prepares for blocks of these sizes, coupled by these sorted pairs; keeps the analysis if
    /// nothing changed. Allocates only if something did.
    pub(super) fn analyse(&mut self, sizes: &[usize], pairs: &[(usize, usize)]) {
        if self.sizes == sizes && self.pairs == pairs && !self.columns.is_empty() {
            return;
        }
        self.sizes = sizes.to_vec();
        self.pairs = pairs.to_vec();
        self.starts = sizes
            .iter()
            .scan(0, |at, size| {
                *at += size;
                Some(*at - size)
            })
            .collect();
        let structure = self.eliminate();
        self.lay_out(&structure);
    }

    /// Order of least degree; the blocks below the diagonal of every step.
    fn eliminate(&mut self) -> Vec<Vec<usize>> {
        let count = self.sizes.len();
        let mut neighbours = vec![BTreeSet::new(); count];
        for &(a, b) in &self.pairs {
            neighbours[a].insert(b);
            neighbours[b].insert(a);
        }
        let mut queue: BTreeSet<(usize, usize)> =
            neighbours.iter().enumerate().map(|(block, near)| (near.len(), block)).collect();
        self.order.clear();
        self.step_of = vec![0; count];
        let mut structure = Vec::with_capacity(count);
        while let Some((_, block)) = queue.pop_first() {
            let near = std::mem::take(&mut neighbours[block]);
            for &other in &near {
                queue.remove(&(neighbours[other].len(), other));
                neighbours[other].remove(&block);
                neighbours[other].extend(near.iter().copied().filter(|&n| n != other));
                queue.insert((neighbours[other].len(), other));
            }
            self.step_of[block] = self.order.len();
            self.order.push(block);
            structure.push(near.into_iter().collect());
        }
        structure
    }

    /// Memory of the factor, and the targets of every step's updates.
    fn lay_out(&mut self, structure: &[Vec<usize>]) {
        let size_at = |step: usize| self.sizes[self.order[step]];
        self.diagonal.clear();
        self.columns.clear();
        self.columns.push(0);
        self.rows.clear();
        self.below.clear();
        let mut end = 0;
        for (step, blocks) in structure.iter().enumerate() {
            let size = size_at(step);
            self.diagonal.push(end);
            end += size * size;
            let first = self.rows.len();
            self.rows.extend(blocks.iter().map(|&block| self.step_of[block]));
            self.rows[first..].sort_unstable();
            for &row in &self.rows[first..] {
                self.below.push(end);
                end += size * size_at(row);
            }
            self.columns.push(self.rows.len());
        }
        self.values = vec![0.0; end];
        self.targets.clear();
        for step in 0..structure.len() {
            let column = self.columns[step]..self.columns[step + 1];
            for i in column.clone() {
                for j in column.start..=i {
                    let target = self.start_of(self.rows[i], self.rows[j]);
                    self.targets.push(target);
                }
            }
        }
    }

    /// Start of the block of these steps, `row ≥ column`.
    fn start_of(&self, row: usize, column: usize) -> usize {
        if row == column {
            return self.diagonal[row];
        }
        let range = self.columns[column]..self.columns[column + 1];
        let at = self.rows[range.clone()]
            .binary_search(&row)
            .expect("elimination makes neighbours of an eliminated block neighbours of each other");
        self.below[range.start + at]
    }

    /// Where the block of rows `a` and columns `b` is; the pair must be in the pattern.
    pub(super) fn slot(&self, a: usize, b: usize) -> Slot {
        let (row, column) = (self.step_of[a], self.step_of[b]);
        let is_transposed = row < column;
        let start = self.start_of(row.max(column), row.min(column));
        Slot { start, is_transposed }
    }

    /// All values, to be filled block by block: column-major, a diagonal block's lower triangle.
    pub(super) fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Replaces the values by the factor; `None` if the matrix is not positive definite or not
    /// finite.
    pub(super) fn factor(&mut self) -> Option<()> {
        let mut target = 0;
        for step in 0..self.order.len() {
            let size = self.sizes[self.order[step]];
            let column = self.columns[step]..self.columns[step + 1];
            let end = self.column_end(step);
            let (head, tail) = self.values.split_at_mut(end);
            let (diagonal, below) = head[self.diagonal[step]..].split_at_mut(size * size);
            factor_dense(diagonal, size)?;
            let first = self.diagonal[step] + size * size;
            for i in column.clone() {
                let rows = self.sizes[self.order[self.rows[i]]];
                let block = &mut below[self.below[i] - first..][..rows * size];
                solve_right(diagonal, size, block, rows);
            }
            for i in column.clone() {
                let rows = self.sizes[self.order[self.rows[i]]];
                let left = &below[self.below[i] - first..][..rows * size];
                for j in column.start..=i {
                    let columns = self.sizes[self.order[self.rows[j]]];
                    let right = &below[self.below[j] - first..][..columns * size];
                    let into = &mut tail[self.targets[target] - end..][..rows * columns];
                    subtract_product(left, rows, right, columns, size, i == j, into);
                    target += 1;
                }
            }
        }
        Some(())
    }

    /// End of the values of a step: its targets are all beyond it.
    fn column_end(&self, step: usize) -> usize {
        self.diagonal.get(step + 1).copied().unwrap_or(self.values.len())
    }

    /// `x ← A⁻¹ x` with the factor.
    pub(super) fn solve(&self, x: &mut [f64]) {
        for step in 0..self.order.len() {
            self.solve_step(step, x, Half::Forward);
        }
        for step in (0..self.order.len()).rev() {
            self.solve_step(step, x, Half::Backward);
        }
    }

    /// Effect of one step on x in one half of the substitution.
    fn solve_step(&self, step: usize, x: &mut [f64], half: Half) {
        let block = self.order[step];
        let (size, start) = (self.sizes[block], self.starts[block]);
        let diagonal = &self.values[self.diagonal[step]..][..size * size];
        let below = self.columns[step]..self.columns[step + 1];
        if half == Half::Forward {
            forward(diagonal, size, &mut x[start..start + size]);
        }
        for at in below {
            let other = self.order[self.rows[at]];
            let (rows, other) = (self.sizes[other], self.starts[other]);
            let l = &self.values[self.below[at]..][..rows * size];
            let (own, others) = disjoint(x, start, size, other, rows);
            match half {
                Half::Forward => subtract_times(l, size, own, others),
                Half::Backward => subtract_transposed_times(l, size, others, own),
            }
        }
        if half == Half::Backward {
            backward(diagonal, size, &mut x[start..start + size]);
        }
    }
}

/// A half of the substitution with a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Half {
    Forward,
    Backward,
}

/// Two ranges of x that do not overlap, from their starts and lengths.
fn disjoint(
    x: &mut [f64],
    a: usize,
    a_len: usize,
    b: usize,
    b_len: usize,
) -> (&mut [f64], &mut [f64]) {
    if a < b {
        let (low, high) = x.split_at_mut(b);
        (&mut low[a..a + a_len], &mut high[..b_len])
    } else {
        let (low, high) = x.split_at_mut(a);
        (&mut high[..a_len], &mut low[b..b + b_len])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use legwork_qp::problems::Random;

    /// `A x = b` on random graphs of blocks of unequal sizes, against a product with A itself.
    #[test]
    fn a_factor_of_a_random_graph_solves_its_matrix() {
        for seed in 0..30 {
            let mut random = Random::new(seed);
            let count = 1 + random.below(12);
            let sizes: Vec<usize> = (0..count).map(|_| 1 + random.below(7)).collect();
            let mut pairs = BTreeSet::new();
            for _ in 0..2 * count {
                let (a, b) = (random.below(count), random.below(count));
                if a != b {
                    pairs.insert((a.min(b), a.max(b)));
                }
            }
            let pairs: Vec<_> = pairs.into_iter().collect();
            let mut factor = BlockCholesky::default();
            factor.analyse(&sizes, &pairs);
            let n: usize = sizes.iter().sum();
            let starts = factor.starts.clone();
            let mut dense = vec![0.0; n * n];
            let blocks = pairs.iter().copied().chain((0..count).map(|a| (a, a)));
            for (a, b) in blocks {
                let slot = factor.slot(a, b);
                for i in 0..sizes[a] {
                    for j in 0..sizes[b] {
                        if a == b && j > i {
                            continue;
                        }
                        let dominant = if a == b && i == j { 40.0 } else { 0.0 };
                        let value = random.normal() + dominant;
                        let (row, column) = (starts[a] + i, starts[b] + j);
                        dense[column * n + row] = value;
                        dense[row * n + column] = value;
                        let at =
                            if slot.is_transposed { i * sizes[b] + j } else { j * sizes[a] + i };
                        factor.values_mut()[slot.start + at] = value;
                    }
                }
            }
            let expected: Vec<f64> = (0..n).map(|_| random.normal()).collect();
            let mut x: Vec<f64> =
                (0..n).map(|i| (0..n).map(|j| dense[j * n + i] * expected[j]).sum()).collect();
            assert!(factor.factor().is_some(), "seed {seed}");
            factor.solve(&mut x);
            for (x, e) in x.iter().zip(&expected) {
                assert!((x - e).abs() < 1e-12, "seed {seed}: {x} {e}");
            }
        }
    }

    /// A chain needs no fill: one block below each diagonal but the last.
    #[test]
    fn a_chain_fills_nothing() {
        let count = 50;
        let pairs: Vec<_> = (1..count).map(|b| (b - 1, b)).collect();
        let mut factor = BlockCholesky::default();
        factor.analyse(&vec![6; count], &pairs);
        assert_eq!(factor.rows.len(), count - 1);
    }

    #[test]
    fn an_indefinite_matrix_has_no_factor() {
        let mut factor = BlockCholesky::default();
        factor.analyse(&[1, 1], &[(0, 1)]);
        let (a, b, c) = (factor.slot(0, 0), factor.slot(1, 1), factor.slot(0, 1));
        let values = factor.values_mut();
        (values[a.start], values[b.start], values[c.start]) = (1.0, 1.0, 2.0);
        assert!(factor.factor().is_none());
        factor.values_mut().fill(f64::NAN);
        assert!(factor.factor().is_none());
    }
}
