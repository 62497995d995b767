//! Slopes of a program, block by block: each block contributes its local Jacobian, and these are
//! chained in the order of the schedule.
//!
//! Every number of the arena has a row: its slopes over the columns, which are the coordinates of
//! the chart and the inputs. That of a number that a block puts out is `Σ ∂y/∂uᵢ rowᵢ` over the
//! numbers uᵢ of the block's inputs and of its continuous state (forward accumulation; Griewank,
//! Walther, *Evaluating Derivatives*, 2nd ed., ch. 3). Where no row comes in, none goes out, and
//! the block is not looked at.
//!
//! - A block that offers its derivative writes the entries of its Jacobian. Of any other, this
//!   block alone is differenced, with the shared computations that it asks for: their values are no
//!   numbers that could be moved one by one, and follow from the block's own inputs. See [`alone`].
//! - Truth values and whole numbers have no slopes. Where one changes at the point itself, the
//!   block has a kink there.
//! - The unknowns z of an algebraic loop `z = u(z, v)` have columns of their own while the loop's
//!   blocks are gone through; then `dz = (1 − ∂u/∂z)⁻¹ ∂u/∂v dv` takes their place.
//! - What is off or held has no slopes, nor has its rate.

mod alone;
mod loops;

use legwork_block::{Slope, SlopeBy, SlopeEntry, SlopesIo, Type};
use legwork_program::{NodeId, Program};

use super::engine::Engine;
use super::opened::Opened;
use super::plan::{Role, Task};
use super::{Cursor, Simulation};
use crate::budget;
use crate::chart::Chart;
use crate::fault::RunFault;
use crate::linear::{How, Quality};
use crate::sparse::{Row, RowSum};
use alone::Number;

/// The slopes of a program over coordinates and inputs.
pub(crate) struct Chained {
    /// Rates of the coordinates.
    pub(crate) rates: Vec<Row>,
    /// Every number of the arena.
    pub(crate) arena: Vec<Row>,
    /// How good the differences of each column are.
    pub(crate) quality: Vec<Quality>,
    /// How the slopes of each block were found, if it has any.
    pub(crate) how: Vec<Option<How>>,
    /// For each block that was checked, how far its derivative is from its differences.
    pub(crate) errors: Vec<Option<f64>>,
}

impl Simulation {
    /// The slopes of the coordinates' rates and of all signals over the coordinates, then the
    /// opened numbers, where the chart is centred. Outputs and `rates` are those of that state. If
    /// `checks`, every derivative that is offered is held against differences of its block.
    ///
    /// # Errors
    /// A loop whose solution is not unique, or more numbers than the memory of the run holds.
    pub(crate) fn slopes(
        &mut self,
        chart: &Chart,
        opened: &[Opened],
        rates: &[f64],
        checks: bool,
    ) -> Result<Chained, RunFault> {
        debug_assert!(self.engine.state.cursor != Cursor::Output(0), "outputs come first");
        let mut chain = Chain::new(&mut self.engine, chart, opened);
        chain.checks = checks;
        chain.outputs()?;
        let of_rates = chain.rates()?;
        let mut sum = RowSum::new(chain.columns);
        let rates = chart.rate_slopes((&chain.x, &of_rates), rates, &mut sum);
        chain.quality.truncate(chart.len() + opened.len());
        let Chain { arena, quality, how, errors, .. } = chain;
        Ok(Chained { rates, arena, quality, how, errors })
    }
}

/// What an output group or a rate is a function of.
#[derive(Clone, Copy)]
enum Part {
    Output(Task),
    Rate(Role),
}

impl Part {
    fn node(&self) -> NodeId {
        match self {
            Self::Output(task) => task.node,
            Self::Rate(role) => role.node,
        }
    }

    /// First number of the block's continuous state.
    fn state_start(&self) -> u32 {
        match self {
            Self::Output(task) => task.x.start,
            Self::Rate(role) => role.x.start,
        }
    }
}

/// Slopes on their way through a program.
struct Chain<'a> {
    engine: &'a mut Engine,
    opened: &'a [Opened],
    /// First column of the inputs.
    first_input: usize,
    /// Columns, those of unknowns included.
    columns: usize,
    /// First column of each loop's unknowns.
    first_unknown: Vec<usize>,
    arena: Vec<Row>,
    x: Vec<Row>,
    sum: RowSum,
    /// Numbers in all rows.
    count: usize,
    quality: Vec<Quality>,
    how: Vec<Option<How>>,
    checks: bool,
    errors: Vec<Option<f64>>,
    /// For each block the shared computations behind it, as places in the order of tasks.
    asked: Vec<Vec<usize>>,
    /// Truth values and whole numbers.
    is_discrete: Vec<bool>,
}

impl<'a> Chain<'a> {
    fn new(engine: &'a mut Engine, chart: &Chart, opened: &'a [Opened]) -> Self {
        let program = std::sync::Arc::clone(&engine.plan.program);
        let first_input = chart.len();
        let mut columns = first_input + opened.len();
        let mut first_unknown = Vec::new();
        for found in &program.loops {
            first_unknown.push(columns);
            let sizes = found.unknowns.iter().map(|unknown| unknown.output.len as usize);
            columns += sizes.sum::<usize>();
        }
        let mut arena = vec![Row::new(); program.arena_len];
        for (k, one) in opened.iter().enumerate() {
            arena[one.place as usize].push(((first_input + k) as u32, 1.0));
        }
        Self {
            asked: alone::asked(engine),
            engine,
            opened,
            first_input,
            columns,
            first_unknown,
            arena,
            x: chart.place_slopes(),
            sum: RowSum::new(columns),
            count: 0,
            quality: vec![Quality::Smooth; columns],
            how: vec![None; program.nodes.len()],
            checks: false,
            errors: vec![None; program.nodes.len()],
            is_discrete: discrete_numbers(&program),
        }
    }

    /// Goes through the output groups.
    fn outputs(&mut self) -> Result<(), RunFault> {
        for i in 0..self.engine.plan.tasks.len() {
            if !self.engine.acts_at_once(i) {
                continue;
            }
            let task = self.engine.plan.tasks[i];
            if task.pool.is_none() {
                self.output(i, task)?;
            }
            if let Some(index) = task.closes {
                self.close(index as usize, i)?;
            }
        }
        Ok(())
    }

    /// The rows of an output group.
    fn output(&mut self, i: usize, task: Task) -> Result<(), RunFault> {
        let own = task.own.range();
        let is_off = task.gate.is_some() && !self.engine.is_on(task.gate);
        if is_off {
            self.arena[own.clone()].fill(Row::new());
        } else if let Some((index, unknown)) = task.unknown {
            self.seed_unknown(index as usize, unknown as usize);
            return Ok(());
        } else {
            let rows = self.local(Part::Output(task), own.len())?;
            for (place, row) in own.clone().zip(rows) {
                self.arena[place] = if self.is_discrete[place] { Row::new() } else { row };
            }
            for k in task.copies.range() {
                let copy = self.engine.plan.copies[k];
                for (from, to) in copy.from.range().zip(copy.to.range()) {
                    self.arena[to] = self.arena[from].clone();
                }
            }
        }
        for (k, one) in self.opened.iter().enumerate() {
            let place = one.place as usize;
            if own.contains(&place) {
                if !one.adds {
                    self.arena[place].clear();
                }
                let row = std::mem::take(&mut self.arena[place]);
                self.sum.add(&row, 1.0);
                self.sum.add_one((self.first_input + k) as u32, 1.0);
                self.arena[place] = self.sum.take();
            }
        }
        self.count += self.arena[own].iter().map(Row::len).sum::<usize>();
        self.enough(self.engine.plan.tasks[i].node, 0)
    }

    /// Refuses `more` slopes than there are, which are those of a block, if all together take more
    /// than the memory of the run.
    fn enough(&self, node: NodeId, more: usize) -> Result<(), RunFault> {
        let moment = (self.engine.work.now, self.engine.state.moment.tick);
        let count = self.count.saturating_add(more);
        budget::rows(&self.engine.plan.program, node, count, moment)
    }

    /// The rows of what the blocks' `derivative` gives.
    fn rates(&mut self) -> Result<Vec<Row>, RunFault> {
        let mut rows = vec![Row::new(); self.engine.plan.program.rate_len];
        for d in 0..self.engine.plan.derivatives.len() {
            let role = self.engine.plan.derivatives[d];
            if self.engine.is_on(role.gate) {
                let own = role.own.range();
                for (place, row) in own.clone().zip(self.local(Part::Rate(role), own.len())?) {
                    rows[place] = row;
                }
            }
        }
        Ok(rows)
    }

    /// The rows of one output group or rate: its Jacobian times the rows that come in.
    fn local(&mut self, part: Part, len: usize) -> Result<Vec<Row>, RunFault> {
        let active = self.active(part);
        if active.is_empty() {
            return Ok(vec![Row::new(); len]);
        }
        let mut entries = Vec::new();
        let offered = self.offered(part, &mut entries);
        self.enough(part.node(), entries.len())?;
        let is_finite = entries.iter().all(|entry| entry.slope.is_finite());
        let (found, rows) = match offered {
            Slope::Exact if is_finite => {
                (How::Analytic, self.chain_entries(part, &mut entries, len)?)
            }
            _ => {
                let (rows, quality) = self.differenced(part, &active, len)?;
                (How::Differences(quality), rows)
            }
        };
        if self.checks && found == How::Analytic {
            self.check(part, &active, &rows)?;
        }
        let how = &mut self.how[part.node().index()];
        *how = Some(how.map_or(found, |before| before.max(found)));
        Ok(rows)
    }

    /// Notes how far these rows are from differences, as far as those are smooth: relative to the
    /// largest slope of the row or of the column, to which differences are exact, or 1.
    ///
    /// # Errors
    /// Too many numbers.
    fn check(&mut self, part: Part, active: &[Number], rows: &[Row]) -> Result<(), RunFault> {
        let known = std::mem::replace(&mut self.quality, vec![Quality::Smooth; self.columns]);
        let (differences, _) = self.differenced(part, active, rows.len())?;
        let quality = std::mem::replace(&mut self.quality, known);
        let mut of_columns = vec![1.0_f64; self.columns];
        for (column, slope) in differences.iter().flatten() {
            let largest = &mut of_columns[*column as usize];
            *largest = largest.max(slope.abs());
        }
        // Where numbers move that fast and cancel, differences keep too few digits to tell.
        let is_fast = self.fast_columns(active);
        let mut worst = 0.0_f64;
        for (own, other) in rows.iter().zip(&differences) {
            let largest = other.iter().fold(1.0_f64, |most, one| most.max(one.1.abs()));
            self.sum.add(own, 1.0);
            self.sum.add(other, -1.0);
            for (column, apart) in self.sum.take() {
                let column = column as usize;
                if quality[column] == Quality::Smooth && !is_fast[column] {
                    worst = worst.max(apart.abs() / largest.max(of_columns[column]));
                }
            }
        }
        let error = &mut self.errors[part.node().index()];
        *error = Some(error.unwrap_or(0.0).max(worst));
        Ok(())
    }

    /// Asks the block for its Jacobian: the slopes over numbers that move, as many as there is
    /// memory for and one more.
    fn offered(&mut self, part: Part, entries: &mut Vec<SlopeEntry>) -> Slope {
        let (rows, x, first) = (&self.arena, &self.x, part.state_start());
        let moves = |by| match by {
            SlopeBy::Input(place) => !rows[place as usize].is_empty(),
            SlopeBy::State(i) => !x[(first + i) as usize].is_empty(),
        };
        let most = budget::most_slopes(&self.engine.plan.program).saturating_sub(self.count);
        let engine = &mut *self.engine;
        let arena = &engine.state.arena[..];
        let io = match part {
            Part::Output(task) => SlopesIo {
                time: engine.clock(task.rate, task.minor, 0.0),
                output: Some((task.group as usize, task.own.start)),
                x: &engine.state.x[task.x.range()],
                rate_len: 0,
                arena: &arena[..task.own.start as usize],
                shared: &engine.blocks.pool,
                moves: &moves,
                most,
            },
            Part::Rate(role) => SlopesIo {
                time: engine.clock(role.rate, true, 0.0),
                output: None,
                x: &engine.state.x[role.x.range()],
                rate_len: role.own.len as usize,
                arena,
                shared: &engine.blocks.pool,
                moves: &moves,
                most,
            },
        };
        engine.blocks.instances[part.node().index()].slopes(io, entries)
    }

    /// `Σ entry · row` for each row of a Jacobian.
    ///
    /// # Errors
    /// Too many numbers.
    fn chain_entries(
        &mut self,
        part: Part,
        entries: &mut [SlopeEntry],
        len: usize,
    ) -> Result<Vec<Row>, RunFault> {
        let (mut rows, mut made) = (vec![Row::new(); len], 0);
        // In the order in which the block wrote them within a row, so that sums are repeatable.
        entries.sort_by_key(|entry| entry.row);
        for own in entries.chunk_by(|a, b| a.row == b.row) {
            // What a block writes of another group of its outputs is left out.
            let Some(target) = rows.get_mut(own[0].row as usize) else { continue };
            for SlopeEntry { by, slope, .. } in own {
                let row = match by {
                    SlopeBy::Input(place) => &self.arena[*place as usize],
                    SlopeBy::State(i) => &self.x[(part.state_start() + i) as usize],
                };
                self.sum.add(row, *slope);
            }
            *target = self.sum.take();
            made += target.len();
            self.enough(part.node(), made)?;
        }
        Ok(rows)
    }
}

/// For each number of the arena whether it is a truth value or a whole number.
fn discrete_numbers(program: &Program) -> Vec<bool> {
    let mut is_discrete = vec![false; program.arena_len];
    for node in &program.nodes {
        for (port, ty) in node.output_types.iter().enumerate() {
            let mut leaves = Vec::new();
            push_leaves(ty, &mut leaves);
            for (slot, discrete) in node.io.outputs.port(port).iter().zip(leaves) {
                is_discrete[slot.range()].fill(discrete);
            }
        }
    }
    is_discrete
}

/// For each leaf of a type whether it is a truth value or a whole number.
fn push_leaves(ty: &Type, out: &mut Vec<bool>) {
    match ty {
        Type::Bool | Type::Int => out.push(true),
        Type::Bus(bus) => bus.fields.iter().for_each(|field| push_leaves(&field.ty, out)),
        Type::Array(of, count) => {
            for _ in 0..count.known().unwrap_or(0) {
                push_leaves(of, out);
            }
        }
        _ => out.push(false),
    }
}
