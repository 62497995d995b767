//! Linearisation of a program at a moment of a run.
//!
//! | what | continuous | sampled |
//! |---|---|---|
//! | states | the continuous state, in its chart | that, and numbers of discrete states |
//! | A, B | of the rates, as the schedule computes them | of the map over one period of all rates |
//! | blocks with a period | act at once; those with state hold | run, as they do |
//! | solver | none | that of the run, whose steps the map consists of |
//!
//! The map of a sampled linearisation begins at a moment at which all rates are due, and inputs
//! hold over the period: the system is lifted to one rate. States are coordinates around those of
//! the run: a quaternion turns by a rotation vector in world axes. The outputs are those at the
//! beginning of the period.
//!
//! A continuous linearisation goes block by block: each contributes its Jacobian, and these are
//! chained in the order of the schedule. Where a block knows its derivative, that is used; of
//! others the block alone is differenced. The map of a sampled one is differenced as a whole, and a
//! continuous one too if that is asked for ([`Method`]). [`BlockSlopes`] says what was done.
//!
//! Differences are of four points far apart, which give most digits; if two that are close disagree
//! with them, the closer ones hold, down to 2e-8 of a state's size, at which contacts neither open
//! nor close. A column whose two sides then still disagree is named: there the law has a kink.

mod check;
mod difference;
mod names;
mod sine;
mod types;

use std::ops::Range;
use std::sync::Arc;

use legwork_block::ContinuousState;
use legwork_program::{Placed, Program, Rate};

use crate::budget;
use crate::chart::Chart;
use crate::fault::RunFault;
use crate::simulation::{Cursor, Opened, Simulation, Snapshot};
use crate::trim::{comes_round, endless, period};
use difference::{Column, differences};

pub use check::{SlopeCheck, check_slopes};
pub use difference::Quality;
pub(crate) use difference::{NEAREST, column, power_of_two};
pub use names::StateName;
pub use sine::{SineOptions, SinePoint, sine_response};
pub use types::{BlockSlopes, How, InputPlace, LinearOptions, Linearised, Method};

/// Linearises a program at a moment of its run, whatever its stop time is.
///
/// # Errors
/// A fault on the way, or at the moment itself; of a state beside it the one-sided difference
/// counts.
pub fn linearize(program: &Program, options: &LinearOptions) -> Result<Linearised, RunFault> {
    let mut point = Point::reach(program, options)?;
    let sampled = options.sampled.unwrap_or_else(|| has_rates(program));
    point.begin(sampled)?;
    let (rows, outputs) = (point.states(), options.outputs.len());
    let columns = rows + options.inputs.len();
    let sizes = point.sizes();
    budget::dense(program, (rows + outputs, columns), (point.time, point.simulation.tick()))?;
    let Found { nominal, columns: found, blocks } = match (sampled, options.method) {
        (false, Method::Blocks) => point.chained()?,
        _ => point.differenced(&sizes)?,
    };
    let (x, y) = (0..rows, rows..rows + outputs);
    let inputs = rows..columns;
    let entry = |i: usize, j: usize| found[j].0[i];
    let block = |is: Range<usize>, js: Range<usize>| -> Vec<f64> {
        is.flat_map(|i| js.clone().map(move |j| (i, j))).map(|(i, j)| entry(i, j)).collect()
    };
    Ok(Linearised {
        time: point.time,
        period: sampled.then_some(point.length),
        a: block(x.clone(), x.clone()),
        b: block(x.clone(), inputs.clone()),
        c: block(y.clone(), x),
        d: block(y, inputs),
        quality: found.iter().map(|column| column.1).collect(),
        blocks,
        drift: point.drift(&nominal[..rows]),
        input_values: point.base.clone(),
        output_values: nominal[rows..].to_vec(),
        state_values: point.values(),
        held: point.held(sampled)?,
        states: point.names(),
    })
}

/// What was found: the values, the columns of slopes, and how those of blocks were found.
struct Found {
    nominal: Vec<f64>,
    columns: Vec<Column>,
    blocks: Vec<BlockSlopes>,
}

/// Whether a block has a period.
fn has_rates(program: &Program) -> bool {
    let is_periodic = |rate: Rate| matches!(rate, Rate::Periodic { .. });
    program.nodes.iter().any(|node| is_periodic(node.rate) || is_periodic(node.update_rate))
}

/// How many coordinates a block's continuous state has.
fn coordinate_count(placed: &Placed) -> usize {
    let position: usize = placed.parts.iter().map(|part| part.tangent_len()).sum();
    if matches!(placed.state, ContinuousState::Second(_)) { 2 * position } else { position }
}

/// A program at the moment, and the numbers that are changed around it.
struct Point {
    program: Arc<Program>,
    simulation: Simulation,
    snapshot: Snapshot,
    chart: Chart,
    /// The chart at the end of a period.
    end: Chart,
    sampled: bool,
    time: f64,
    /// Ticks and length [s] of one period.
    ticks: u64,
    length: f64,
    x: Vec<f64>,
    /// Blocks with discrete states, and their places among the numbers.
    discrete: Vec<(usize, Range<usize>)>,
    numbers: Vec<f64>,
    inputs: Vec<InputPlace>,
    /// What the inputs' signals hold.
    base: Vec<f64>,
    outputs: Vec<u32>,
    /// The state after a period.
    end_x: Vec<f64>,
    end_numbers: Vec<f64>,
}

impl Point {
    /// Runs to the moment, and on to the next at which all rates are due, if there is one within a
    /// period.
    fn reach(program: &Program, options: &LinearOptions) -> Result<Self, RunFault> {
        let run = program;
        let ticks = period(run);
        let program = Arc::new(endless(run));
        let mut simulation = Simulation::new(Arc::clone(&program));
        let places: Vec<u32> = options.inputs.iter().map(|input| input.place).collect();
        simulation.prepare_to_open(&places);
        let base = program.base.to_f64();
        let wanted = (options.time / base - 0.5).ceil().max(0.0) as u64;
        let last = wanted.saturating_add(ticks);
        let is_there = |simulation: &Simulation| {
            let tick = simulation.tick();
            let due = program.nodes.iter().all(|node| {
                let comes = |rate: &Rate| comes_round(*rate, node.stretch, run);
                [node.rate, node.update_rate].iter().filter(|r| comes(r)).all(|r| r.due(tick))
            });
            simulation.moment().is_tick() && tick >= wanted && (due || tick >= last)
        };
        while !is_there(&simulation) && simulation.cursor() != Cursor::Done {
            simulation.step()?;
        }
        let (mut discrete, mut numbers) = (Vec::new(), Vec::new());
        for node in 0..program.nodes.len() {
            let own = simulation.memory_of(node);
            if !own.is_empty() {
                discrete.push((node, numbers.len()..numbers.len() + own.len()));
                numbers.extend(own);
            }
        }
        simulation.look_ahead()?;
        let value = |place: &u32| simulation.arena()[*place as usize];
        let base = places.iter().map(value).collect();
        simulation.take_back_outputs();
        let x = simulation.state().to_vec();
        Ok(Self {
            chart: Chart::new(&program),
            end: Chart::new(&program),
            sampled: false,
            time: simulation.time(),
            length: program.base.at(ticks),
            ticks,
            end_x: x.clone(),
            end_numbers: numbers.clone(),
            snapshot: simulation.snapshot(),
            inputs: options.inputs.clone(),
            outputs: options.outputs.clone(),
            program,
            simulation,
            x,
            discrete,
            numbers,
            base,
        })
    }

    /// Readies the evaluation of one of the two kinds.
    fn begin(&mut self, sampled: bool) -> Result<(), RunFault> {
        self.sampled = sampled;
        self.chart.centre(&self.x);
        if !sampled {
            self.numbers.clear();
            self.discrete.clear();
            self.end_numbers.clear();
            return self.compute_outputs();
        }
        self.open(&[]);
        self.run_period(None)?;
        self.end_x = self.simulation.state().to_vec();
        self.end_numbers = self.memory();
        self.end.centre(&self.end_x);
        Ok(())
    }

    /// The outputs of the present step, from which continuous ones are computed anew.
    fn compute_outputs(&mut self) -> Result<(), RunFault> {
        self.simulation.restore(&self.snapshot)?;
        self.simulation.advance_to_next_phase()
    }

    /// How many states there are.
    fn states(&self) -> usize {
        self.chart.len() + self.numbers.len()
    }

    /// How large each column's number is.
    fn sizes(&self) -> Vec<f64> {
        let mut sizes = vec![0.0; self.chart.len()];
        self.chart.magnitude(&self.x, &mut sizes);
        sizes.extend(self.numbers.iter().chain(&self.base).map(|number| number.abs()));
        sizes
    }

    /// Columns by differences of the whole.
    fn differenced(&mut self, sizes: &[f64]) -> Result<Found, RunFault> {
        let (rows, outputs, columns) = (self.states(), self.outputs.len(), sizes.len());
        let (nominal, found) =
            differences(columns, rows + outputs, sizes, |delta, out| self.evaluate(delta, out))?;
        // Each block with states has the quality of the worst of its columns.
        let program = Arc::clone(&self.program);
        let mut worst: Vec<Option<Quality>> = vec![None; program.nodes.len()];
        let mut qualities = found.iter().map(|column| column.1);
        let continuous = program.nodes.iter().enumerate().map(|(i, node)| {
            let placed = node.continuous.as_ref();
            (i, placed.map_or(0, coordinate_count))
        });
        let discrete = self.discrete.iter().map(|(node, numbers)| (*node, numbers.len()));
        for (node, count) in continuous.chain(discrete) {
            let own = qualities.by_ref().take(count).max();
            worst[node] = worst[node].max(own);
        }
        let told = if self.sampled { How::Period } else { How::Whole };
        let how = worst.into_iter().map(|worst| worst.map(told)).collect();
        Ok(Found { nominal, columns: found, blocks: self.blocks(how) })
    }

    /// Columns block by block.
    fn chained(&mut self) -> Result<Found, RunFault> {
        let (rows, outputs) = (self.states(), self.outputs.len());
        let mut nominal = vec![0.0; rows + outputs];
        let opened = self.open(&[]);
        let origin = vec![0.0; rows];
        let (rates, of_outputs) = nominal.split_at_mut(rows);
        let of_blocks = self.simulation.rate_at(&mut self.chart, (&origin, &self.x), rates)?;
        self.read(of_outputs);
        let chained = self.simulation.slopes(&self.chart, &opened, &of_blocks, false)?;
        let columns = chained.quality.iter().map(|quality| (vec![0.0; rows + outputs], *quality));
        let mut columns: Vec<Column> = columns.collect();
        let shown = self.outputs.iter().map(|place| &chained.arena[*place as usize]);
        for (i, row) in chained.rates.iter().chain(shown).enumerate() {
            for (column, slope) in row {
                columns[*column as usize].0[i] = *slope;
            }
        }
        Ok(Found { nominal, columns, blocks: self.blocks(chained.how) })
    }

    /// What is told of how the slopes of blocks were found.
    fn blocks(&self, how: Vec<Option<How>>) -> Vec<BlockSlopes> {
        let all = self.program.nodes.iter().zip(how);
        let told = all.filter_map(|(node, how)| {
            let how = how?;
            let is_told = !node.hidden || how != How::Analytic;
            is_told.then(|| BlockSlopes { path: node.path.clone(), kind: node.kind, how })
        });
        told.collect()
    }

    /// How fast the state moves; of a sampled system in the mean over its period.
    fn drift(&mut self, rates: &[f64]) -> Vec<f64> {
        if !self.sampled {
            return rates.to_vec();
        }
        let mut out = vec![0.0; self.states()];
        let (continuous, discrete) = out.split_at_mut(self.chart.len());
        self.chart.centre(&self.x);
        self.chart.difference(&self.end_x, continuous);
        for ((out, end), start) in discrete.iter_mut().zip(&self.end_numbers).zip(&self.numbers) {
            *out = end - start;
        }
        out.iter_mut().for_each(|moved| *moved /= self.length);
        out
    }

    /// What the states are.
    fn values(&self) -> Vec<f64> {
        let mut values = vec![0.0; self.chart.len()];
        self.chart.numbers(&self.x, &mut values);
        values.extend(&self.numbers);
        values
    }

    /// Opens the inputs, with these distances from what they are.
    fn open(&mut self, deltas: &[f64]) -> Vec<Opened> {
        let opened = self.inputs.iter().enumerate().map(|(i, input)| {
            let delta = deltas.get(i).copied().unwrap_or(0.0);
            let value = if input.adds { delta } else { self.base[i] + delta };
            Opened { place: input.place, adds: input.adds, value }
        });
        let opened: Vec<Opened> = opened.collect();
        self.simulation.open(&opened, &self.base);
        opened
    }

    /// The numbers of discrete states.
    fn memory(&self) -> Vec<f64> {
        let numbers = self.discrete.iter().flat_map(|(node, _)| self.simulation.memory_of(*node));
        numbers.collect()
    }

    /// Rates of states, or where they are a period later from where the run is, then outputs: at
    /// these distances of states and inputs from those of the run.
    fn evaluate(&mut self, delta: &[f64], out: &mut [f64]) -> Result<(), RunFault> {
        let states = self.states();
        let (of_state, of_input) = delta.split_at(states);
        let (u, of_memory) = of_state.split_at(self.chart.len());
        let mut x = self.x.clone();
        self.chart.place(u, &mut x);
        let (rates, outputs) = out.split_at_mut(states);
        if !self.sampled {
            self.open(of_input);
            self.simulation.rate_at(&mut self.chart, (u, &x), rates)?;
            self.read(outputs);
            return Ok(());
        }
        self.simulation.restore(&self.snapshot)?;
        let numbers: Vec<f64> = self.numbers.iter().zip(of_memory).map(|(a, b)| a + b).collect();
        let own = self.discrete.iter().map(|(node, range)| (*node, &numbers[range.clone()]));
        self.simulation.go_on_from(&x, own);
        self.open(of_input);
        self.simulation.renew_constants()?;
        self.run_period(Some(outputs))?;
        let (continuous, discrete) = rates.split_at_mut(self.chart.len());
        self.end.difference(self.simulation.state(), continuous);
        for ((out, now), end) in discrete.iter_mut().zip(self.memory()).zip(&self.end_numbers) {
            *out = now - end;
        }
        Ok(())
    }

    /// Runs for a period; the outputs at its beginning.
    fn run_period(&mut self, mut outputs: Option<&mut [f64]>) -> Result<(), RunFault> {
        let end = self.simulation.tick() + self.ticks;
        while self.simulation.tick() < end && self.simulation.cursor() != Cursor::Done {
            if self.simulation.cursor() == Cursor::Observe
                && let Some(outputs) = outputs.take()
            {
                self.read(outputs);
            }
            self.simulation.advance_to_next_phase()?;
        }
        Ok(())
    }

    fn read(&self, outputs: &mut [f64]) {
        for (out, place) in outputs.iter_mut().zip(&self.outputs) {
            *out = self.simulation.arena()[*place as usize];
        }
    }

    /// Blocks with discrete state that is no part of the linearisation, if it changes or, in a
    /// continuous one, at all.
    fn held(&mut self, sampled: bool) -> Result<Vec<String>, RunFault> {
        self.simulation.restore(&self.snapshot)?;
        self.open(&[]);
        let updating = |i: &usize| {
            self.program.nodes[*i].updates && !self.discrete.iter().any(|(node, _)| node == i)
        };
        let candidates: Vec<usize> = (0..self.program.nodes.len()).filter(updating).collect();
        let states = |simulation: &Simulation| -> Vec<_> {
            candidates.iter().map(|i| simulation.state_json(*i).ok()).collect()
        };
        let before = states(&self.simulation);
        self.run_period(None)?;
        let after = states(&self.simulation);
        let rates = |i: usize| {
            let node = &self.program.nodes[i];
            [node.rate, node.update_rate].iter().any(|rate| matches!(rate, Rate::Periodic { .. }))
        };
        let held = candidates.iter().enumerate().filter(|(k, i)| {
            before[*k] != after[*k]
                || (!sampled && rates(**i) && !self.simulation.memory_of(**i).is_empty())
        });
        Ok(held.map(|(_, i)| self.program.nodes[*i].path.clone()).collect())
    }

    fn names(&mut self) -> Vec<StateName> {
        let _ = self.simulation.restore(&self.snapshot);
        names::names(&self.program, &mut self.simulation, &self.discrete)
    }
}
