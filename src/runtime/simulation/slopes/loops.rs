//! Slopes of the unknowns of algebraic loops, by the implicit function theorem.

use legwork_block::Fault;
use legwork_linalg::Lu;

use super::Chain;
use crate::fault::{Phase, RunFault};
use crate::linear::Quality;
use crate::sparse::Row;

impl Chain<'_> {
    /// An unknown has columns of its own until its loop is closed.
    pub(super) fn seed_unknown(&mut self, index: usize, unknown: usize) {
        let found = &self.engine.plan.program.loops[index];
        let before = found.unknowns[..unknown].iter().map(|it| it.output.len).sum::<u32>();
        let first = self.first_unknown[index] as u32 + before;
        for (place, column) in found.unknowns[unknown].output.range().zip(first..) {
            self.arena[place] = vec![(column, 1.0)];
        }
    }

    /// Puts the slopes of a loop's unknowns, `dz = (1 − ∂u/∂z)⁻¹ ∂u/∂v dv`, in place of their
    /// columns; the loop ends with task `last`. An unknown that was not found holds what its
    /// block's policy says.
    pub(super) fn close(&mut self, index: usize, last: usize) -> Result<(), RunFault> {
        let program = std::sync::Arc::clone(&self.engine.plan.program);
        let found = &program.loops[index];
        let solve = found.unknowns[0].node;
        if !self.engine.is_on(program.nodes[solve].gate) {
            return Ok(());
        }
        let places: Vec<(usize, usize)> = found
            .unknowns
            .iter()
            .flat_map(|unknown| unknown.output.range().zip(unknown.input.range()))
            .collect();
        let (n, first) = (places.len(), self.first_unknown[index]);
        let own = |column: u32| (column as usize).checked_sub(first).filter(|k| *k < n);
        let mut jacobian = vec![0.0; n * n];
        let mut rest: Vec<Row> = Vec::with_capacity(n);
        for (i, (_, u)) in places.iter().enumerate() {
            let mut row = Row::new();
            for (column, slope) in &self.arena[*u] {
                match own(*column) {
                    Some(k) => jacobian[k * n + i] = *slope,
                    None => row.push((*column, *slope)),
                }
            }
            rest.push(row);
        }
        let rows = if self.is_solved(index) {
            let solved = self.solve(&jacobian, &rest);
            solved.ok_or_else(|| {
                let message = "the algebraic loop has more than one solution nearby: ∂u/∂z has \
                               the eigenvalue 1, and no slope goes through it"
                    .to_owned();
                self.engine.fault_at(solve, Phase::Observe, Fault { message })
            })?
        } else {
            vec![Row::new(); n]
        };
        for (k, row) in rows.iter().enumerate() {
            let quality = self.quality[first + k];
            if quality > Quality::Smooth {
                row.iter().for_each(|(column, _)| self.worsen(*column, quality));
            }
        }
        let solves = found.unknowns.iter().map(|unknown| unknown.node);
        let begins = |task: &super::Task| solves.clone().any(|node| node == task.node);
        let start = self.engine.plan.tasks.iter().position(begins).unwrap_or(last);
        for i in start..=last {
            for place in self.engine.plan.tasks[i].own.range() {
                if !self.arena[place].iter().any(|(column, _)| own(*column).is_some()) {
                    continue;
                }
                for (column, slope) in std::mem::take(&mut self.arena[place]) {
                    match own(column) {
                        Some(k) => self.sum.add(&rows[k], slope),
                        None => self.sum.add_one(column, slope),
                    }
                }
                self.arena[place] = self.sum.take();
            }
        }
        Ok(())
    }

    /// Whether Newton's method found the unknowns of a loop.
    fn is_solved(&self, index: usize) -> bool {
        let unknowns = &self.engine.plan.program.loops[index].unknowns;
        let tolerance = unknowns.iter().fold(f64::INFINITY, |t, it| t.min(it.rule.tolerance));
        let arena = &self.engine.state.arena;
        unknowns.iter().all(|unknown| {
            let (z, u) = (&arena[unknown.output.range()], &arena[unknown.input.range()]);
            z.iter().zip(u).all(|(z, u)| (u - z).abs() <= tolerance * (1.0 + z.abs()))
        })
    }

    /// The rows of `(1 − J) X = R`, `J` column by column; none if the matrix is singular.
    fn solve(&mut self, jacobian: &[f64], rest: &[Row]) -> Option<Vec<Row>> {
        let n = rest.len();
        let mut lu = Lu::new(n);
        lu.factor_shifted(1.0, jacobian).ok()?;
        let mut inverse = vec![0.0; n * n];
        for (k, column) in inverse.chunks_exact_mut(n.max(1)).enumerate() {
            column[k] = 1.0;
            lu.solve(column);
        }
        if inverse.iter().any(|number| !number.is_finite()) {
            return None;
        }
        let row = |i: usize| {
            for (k, row) in rest.iter().enumerate() {
                self.sum.add(row, inverse[k * n + i]);
            }
            self.sum.take()
        };
        Some((0..n).map(row).collect())
    }
}
