//! Sparse Cholesky factor of a symmetric positive definite matrix of dense blocks.
//!
//! With a block for the velocities of each body, one factor serves a robot (one dense block), many
//! bodies (6 × 6 blocks wherever two of them touch) and both together. Blocks are eliminated in
//! order of least degree, ties by the lowest index, so a stack or a chain of N bodies costs O(N).
//! The analysis depends on the set of pairs alone: equal pairs give the same factor bit by bit,
//! whatever was factored before.
//!
//! # References
//! W. F. Tinney, J. W. Walker, *Direct solutions of sparse network equations by optimally ordered
//! triangular factorization*, Proc. IEEE 55 (1967), scheme 2.

use std::collections::BTreeSet;

use crate::cancel::check_if_large;
use crate::cholesky::{self, RIGID};
use crate::vector::{axpy, dot};

/// Where one block of the matrix is stored.
#[derive(Clone, Copy, Debug, Default)]
pub struct Slot {
    /// Index of the first of its values.
    pub start: usize,
    /// Whether the transposed block is stored.
    pub is_transposed: bool,
}

/// Pattern, values and factor; the factor replaces the values.
#[derive(Clone, Debug, Default)]
pub struct BlockCholesky {
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
    /// One over the diagonal of L, by scalar row.
    inverse_diagonal: Vec<f64>,
}

impl BlockCholesky {
    /// Prepares for blocks of these sizes, coupled by these sorted pairs; keeps the analysis if
    /// nothing changed. Allocates only if something did.
    pub fn analyse(&mut self, sizes: &[usize], pairs: &[(usize, usize)]) {
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
        // Values step by step: the diagonal block, then the blocks below it.
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
        self.inverse_diagonal = vec![0.0; self.sizes.iter().sum()];
        // What each step updates, in the order in which `factor` does.
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
    #[expect(clippy::expect_used, reason = "a property of elimination")]
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

    /// Where the block of rows `a` and columns `b` is.
    ///
    /// # Panics
    /// If the pair is not in the pattern.
    #[must_use]
    pub fn slot(&self, a: usize, b: usize) -> Slot {
        let (row, column) = (self.step_of[a], self.step_of[b]);
        let is_transposed = row < column;
        let start = self.start_of(row.max(column), row.min(column));
        Slot { start, is_transposed }
    }

    /// All values, to be filled block by block: column-major, a diagonal block's lower triangle.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Replaces the values by the factor; false if the matrix is not positive definite or not
    /// finite.
    #[must_use]
    pub fn factor(&mut self) -> bool {
        let mut target = 0;
        for step in 0..self.order.len() {
            check_if_large(self.order.len());
            let block = self.order[step];
            let size = self.sizes[block];
            let column = self.columns[step]..self.columns[step + 1];
            let end = self.column_end(step);
            // What this step updates stands behind all that it reads.
            let (head, tail) = self.values.split_at_mut(end);
            let (diagonal, below) = head[self.diagonal[step]..].split_at_mut(size * size);
            let inverse_diagonal = &mut self.inverse_diagonal[self.starts[block]..][..size];
            if !cholesky::factor(diagonal, inverse_diagonal, 0.0) {
                return false;
            }
            // The blocks below become those of L.
            let first = self.diagonal[step] + size * size;
            for i in column.clone() {
                let rows = self.sizes[self.order[self.rows[i]]];
                let block = &mut below[self.below[i] - first..][..rows * size];
                cholesky::divide_rows(diagonal, inverse_diagonal, block, rows);
            }
            // Their products leave the rest of the matrix.
            for i in column.clone() {
                let rows = self.sizes[self.order[self.rows[i]]];
                let left = &below[self.below[i] - first..][..rows * size];
                for j in column.start..=i {
                    let columns = self.sizes[self.order[self.rows[j]]];
                    let right = &below[self.below[j] - first..][..columns * size];
                    let into = &mut tail[self.targets[target] - end..][..rows * columns];
                    subtract_product((left, rows), (right, columns), size, i == j, into);
                    target += 1;
                }
            }
        }
        true
    }

    /// End of the values of a step: its targets are all beyond it.
    fn column_end(&self, step: usize) -> usize {
        self.diagonal.get(step + 1).copied().unwrap_or(self.values.len())
    }

    /// `x ← A⁻¹ x` with the factor.
    pub fn solve(&self, x: &mut [f64]) {
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
        let inverse_diagonal = &self.inverse_diagonal[start..start + size];
        let below = self.columns[step]..self.columns[step + 1];
        if half == Half::Forward {
            cholesky::forward(diagonal, inverse_diagonal, &mut x[start..start + size]);
        }
        for at in below {
            let other = self.order[self.rows[at]];
            let (rows, other) = (self.sizes[other], self.starts[other]);
            let l = &self.values[self.below[at]..][..rows * size];
            let (own, others) = disjoint(x, start, size, other, rows);
            match half {
                Half::Forward => subtract_times(l, own, others),
                Half::Backward => subtract_transposed_times(l, others, own),
            }
        }
        if half == Half::Backward {
            cholesky::backward(diagonal, inverse_diagonal, &mut x[start..start + size]);
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

/// `y ← y - A x` for A of `y.len() × x.len()`.
fn subtract_times(a: &[f64], x: &[f64], y: &mut [f64]) {
    if let (Ok(y), RIGID) = (<&mut [f64; RIGID]>::try_from(&mut *y), x.len()) {
        let columns = a[..RIGID * RIGID].chunks_exact(RIGID);
        columns.zip(&x[..RIGID]).for_each(|(column, x)| axpy(-x, column, y));
        return;
    }
    let columns = a.chunks_exact(y.len().max(1));
    columns.zip(x).for_each(|(column, x)| axpy(-x, column, y));
}

/// `y ← y - Aᵀ x` for A of `x.len() × y.len()`.
fn subtract_transposed_times(a: &[f64], x: &[f64], y: &mut [f64]) {
    if let (Ok(x), RIGID) = (<&[f64; RIGID]>::try_from(x), y.len()) {
        let columns = a[..RIGID * RIGID].chunks_exact(RIGID);
        columns.zip(&mut y[..RIGID]).for_each(|(column, y)| *y -= dot(column, x));
        return;
    }
    let columns = a.chunks_exact(x.len().max(1));
    columns.zip(y).for_each(|(column, y)| *y -= dot(column, x));
}

/// `C ← C - A Bᵀ` for A of `rows × n`, B of `columns × n`; what stands above the diagonal of a
/// square one may be anything.
fn subtract_product(
    (a, rows): (&[f64], usize),
    (b, columns): (&[f64], usize),
    n: usize,
    is_lower: bool,
    c: &mut [f64],
) {
    if rows == RIGID && columns == RIGID && n == RIGID {
        // Whole columns, which are two operations each.
        let (a, b) = (a.as_chunks::<RIGID>().0, &b[..36]);
        for (j, column) in c.as_chunks_mut::<RIGID>().0.iter_mut().enumerate() {
            for (k, a) in a[..RIGID].iter().enumerate() {
                axpy(-b[k * RIGID + j], a, column);
            }
        }
        return;
    }
    for j in 0..columns {
        let from = if is_lower { j } else { 0 };
        let column = &mut c[j * rows + from..(j + 1) * rows];
        for k in 0..n {
            axpy(-b[k * columns + j], &a[k * rows + from..(k + 1) * rows], column);
        }
    }
}
