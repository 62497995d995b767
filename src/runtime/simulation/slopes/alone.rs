//! One block by differences, with the shared computations that it asks for.
//!
//! `output` and `derivative` are functions of inputs, continuous state and time, and of discrete
//! state that they only read: what they leave in work memory changes no result. So a block is
//! called at points around the present one, as often as it takes.
//!
//! There are two ways to move its inputs, and the cheaper one is taken. Number by number gives the
//! block's Jacobian. Column by column moves all of them along their rows at once, which gives the
//! product of the Jacobian with the rows; what belongs together, such as the numbers of a rotation
//! or a matrix and its factor, then stays together up to second order. Where one number moves so
//! much faster than the others that these would be lost in rounding, it is number by number too.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use legwork_block::{OutputIo, View};

use super::super::engine::Engine;
use super::{Chain, Part};
use crate::fault::RunFault;
use crate::linear::{NEAREST, Quality, column, power_of_two};
use crate::sparse::Row;

/// How fast a number may move along a column, relative to its size.
const TOO_FAST: f64 = 1e6;

/// A number that a block reads, and that moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Number {
    /// At this place of the arena.
    Arena(u32),
    /// At this place of the continuous state.
    State(u32),
}

/// For each block the tasks of the shared computations behind it, in the order of the schedule.
pub(super) fn asked(engine: &Engine) -> Vec<Vec<usize>> {
    let plan = &engine.plan;
    let mut by_pool = vec![None; plan.program.pool_len];
    for (i, task) in plan.tasks.iter().enumerate() {
        if let Some(pool) = task.pool {
            by_pool[pool.index()] = Some((task.node.index(), i));
        }
    }
    let behind = |node: usize| {
        let mut found = BTreeSet::new();
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            for pool in &plan.program.nodes[node].io.shared {
                if let Some((other, task)) = by_pool[*pool as usize]
                    && found.insert(task)
                {
                    open.push(other);
                }
            }
        }
        found.into_iter().collect()
    };
    (0..plan.program.nodes.len()).map(behind).collect()
}

impl Chain<'_> {
    /// The numbers that a block and its shared computations read and that have slopes, in order.
    pub(super) fn active(&self, part: Part) -> Vec<Number> {
        let program = &self.engine.plan.program;
        let index = part.node().index();
        let tasks = &self.engine.plan.tasks;
        let shared = self.asked[index].iter().map(|task| tasks[*task].node.index());
        // What lies behind a group cannot feed it.
        let (end, x) = match part {
            Part::Output(task) => (task.own.start, task.x),
            Part::Rate(role) => (u32::MAX, role.x),
        };
        let mut found = BTreeSet::new();
        for node in shared.chain([index]) {
            let inputs = &program.nodes[node].io.inputs;
            for slot in (0..inputs.port_count()).flat_map(|port| inputs.port(port)) {
                let places = (slot.start..slot.start + slot.len).filter(|place| *place < end);
                let moving = places.filter(|place| !self.arena[*place as usize].is_empty());
                found.extend(moving.map(Number::Arena));
            }
        }
        let states = (x.start..x.start + x.len).filter(|place| !self.x[*place as usize].is_empty());
        found.extend(states.map(Number::State));
        found.into_iter().collect()
    }

    fn row(&self, number: Number) -> &Row {
        match number {
            Number::Arena(place) => &self.arena[place as usize],
            Number::State(place) => &self.x[place as usize],
        }
    }

    /// For each column whether one of these numbers moves too fast along it for the others.
    pub(super) fn fast_columns(&self, active: &[Number]) -> Vec<bool> {
        let mut is_fast = vec![false; self.columns];
        for number in active {
            let size = 1.0 + self.at(*number).abs();
            for (column, slope) in self.row(*number) {
                is_fast[*column as usize] |= slope.abs() > TOO_FAST * size;
            }
        }
        is_fast
    }

    fn at(&self, number: Number) -> f64 {
        match number {
            Number::Arena(place) => self.engine.state.arena[place as usize],
            Number::State(place) => self.engine.state.x[place as usize],
        }
    }

    fn value(&mut self, number: Number) -> &mut f64 {
        match number {
            Number::Arena(place) => &mut self.engine.state.arena[place as usize],
            Number::State(place) => &mut self.engine.state.x[place as usize],
        }
    }

    /// The rows of an output group or rate by differences of its block over these numbers, and how
    /// good the worst of them is.
    ///
    /// # Errors
    /// Too many numbers.
    pub(super) fn differenced(
        &mut self,
        part: Part,
        active: &[Number],
        len: usize,
    ) -> Result<(Vec<Row>, Quality), RunFault> {
        let mut rows = vec![Row::new(); len];
        let mut nominal = vec![0.0; len];
        let mut worst = Quality::Smooth;
        if !self.call(part, &mut nominal) {
            return Ok((rows, Quality::OneSided));
        }
        let mut made = 0;
        let mut columns: BTreeMap<u32, Vec<(Number, f64)>> = BTreeMap::new();
        for number in active {
            for (column, slope) in self.row(*number) {
                columns.entry(*column).or_default().push((*number, *slope));
            }
        }
        if 2 * active.len() <= columns.len() || self.fast_columns(active).contains(&true) {
            // It takes half of what as many slopes do.
            self.enough(part.node(), active.len().saturating_mul(len) / 2)?;
            let mut jacobian = Vec::with_capacity(active.len());
            for number in active {
                let (slopes, quality) = self.direction(part, &nominal, &[(*number, 1.0)]);
                worst = worst.max(quality);
                for (column, _) in self.row(*number).clone() {
                    self.worsen(column, quality);
                }
                jacobian.push(slopes);
            }
            for (i, row) in rows.iter_mut().enumerate() {
                for (number, slopes) in active.iter().zip(&jacobian) {
                    if slopes[i] != 0.0 {
                        let own = match number {
                            Number::Arena(place) => &self.arena[*place as usize],
                            Number::State(place) => &self.x[*place as usize],
                        };
                        self.sum.add(own, slopes[i]);
                    }
                }
                *row = self.sum.take();
                made += row.len();
                self.enough(part.node(), made)?;
            }
        } else {
            for (column, along) in columns {
                let (slopes, quality) = self.direction(part, &nominal, &along);
                worst = worst.max(quality);
                self.worsen(column, quality);
                for (row, slope) in rows.iter_mut().zip(slopes) {
                    if slope != 0.0 {
                        row.push((column, slope));
                        made += 1;
                    }
                }
                self.enough(part.node(), made)?;
            }
        }
        if !self.asked[part.node().index()].is_empty() {
            // Shared values are those of the point again.
            self.call(part, &mut nominal);
        }
        Ok((rows, worst))
    }

    /// Notes how good a column is.
    pub(super) fn worsen(&mut self, column: u32, quality: Quality) {
        let known = &mut self.quality[column as usize];
        *known = (*known).max(quality);
    }

    /// The slopes of a block while its numbers move in one direction. Steps are such that the
    /// number that moves farthest, relative to its size, moves by theirs.
    fn direction(
        &mut self,
        part: Part,
        nominal: &[f64],
        along: &[(Number, f64)],
    ) -> (Vec<f64>, Quality) {
        let values: Vec<f64> = along.iter().map(|(number, _)| *self.value(*number)).collect();
        let speeds = along.iter().zip(&values).map(|((_, slope), x)| slope.abs() / (1.0 + x.abs()));
        let fastest = speeds.fold(0.0, f64::max);
        let step = |relative: f64| power_of_two(relative / fastest);
        if !step(NEAREST).is_normal() {
            return (vec![0.0; nominal.len()], Quality::OneSided);
        }
        let discrete: Vec<usize> = match part {
            Part::Output(task) => {
                let own = task.own.range();
                (0..own.len()).filter(|i| self.is_discrete[own.start + i]).collect()
            }
            Part::Rate(_) => Vec::new(),
        };
        let jumps = Cell::new(false);
        let mut at = |h: f64| -> Option<Vec<f64>> {
            let mut out = vec![0.0; nominal.len()];
            for ((number, slope), x) in along.iter().zip(&values) {
                *self.value(*number) = x + h * slope;
            }
            let is_fine = self.call(part, &mut out);
            for ((number, _), x) in along.iter().zip(&values) {
                *self.value(*number) = *x;
            }
            jumps.set(discrete.iter().any(|i| out[*i] != nominal[*i]));
            discrete.iter().for_each(|i| out[*i] = nominal[*i]);
            is_fine.then_some(out)
        };
        let (slopes, mut quality) = column(nominal, step, &mut at);
        if !discrete.is_empty() {
            for side in [1.0, -1.0] {
                at(side * step(NEAREST));
                if jumps.get() {
                    quality = quality.max(Quality::Kink);
                }
            }
        }
        (slopes, quality)
    }

    /// Runs the shared computations behind a block, and the block; whether none faults.
    fn call(&mut self, part: Part, out: &mut [f64]) -> bool {
        let engine = &mut *self.engine;
        for &task in &self.asked[part.node().index()] {
            let minor = engine.plan.tasks[task].minor;
            if engine.acts_at_once(task) && engine.output(task, minor, 0.0).is_err() {
                return false;
            }
        }
        match part {
            Part::Output(task) => {
                let time = engine.clock(task.rate, task.minor, 0.0);
                // What a block leaves as it is stays.
                out.copy_from_slice(&engine.state.arena[task.own.range()]);
                let io = OutputIo {
                    time,
                    group: task.group as usize,
                    x: &engine.state.x[task.x.range()],
                    before: &engine.state.arena[..task.own.start as usize],
                    own: out,
                    own_start: task.own.start,
                    shared: &engine.blocks.pool,
                    shared_own: None,
                };
                engine.blocks.instances[task.node.index()].output(io).is_ok()
            }
            Part::Rate(role) => {
                let time = engine.clock(role.rate, true, 0.0);
                let view = View { time, arena: &engine.state.arena, shared: &engine.blocks.pool };
                let x = &engine.state.x[role.x.range()];
                engine.blocks.instances[role.node.index()].derivative(view, x, out).is_ok()
            }
        }
    }
}
