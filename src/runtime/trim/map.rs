//! The map of one period: where a program begins, and where it is a period later.

use std::ops::Range;
use std::sync::Arc;

use legwork_program::{Node, Program, ProgramParts, Rate};

use super::TrimError;
use crate::chart::Chart;
use crate::simulation::{Cursor, Held, Simulation};

/// A period of more major steps than this is cut to the longest rate's.
const MOST_STEPS: u64 = 10_000;

/// Where a program begins.
#[derive(Debug, Clone)]
pub(super) struct Point {
    /// The continuous state.
    pub(super) x: Vec<f64>,
    /// Numbers of discrete states, in the order of [`Map::discrete`].
    pub(super) numbers: Vec<f64>,
    /// What constants put out, in the order of [`Map::held`].
    pub(super) free: Vec<f64>,
}

/// The map, and the coordinates around a point: those of the continuous state in its chart, then
/// the numbers of discrete states; these are also its residual, per second. Free outputs follow.
pub(super) struct Map {
    pub(super) program: Arc<Program>,
    chart: Chart,
    /// Blocks whose discrete state parameters can give, and their place among the numbers.
    pub(super) discrete: Vec<(usize, Range<usize>)>,
    held: Vec<Held>,
    /// Ticks of one period.
    pub(super) ticks: u64,
    /// Length of one period [s].
    pub(super) length: f64,
    /// The program's own start.
    pub(super) start: Point,
}

impl Map {
    /// The map of a program, which may run for as long as anybody wants.
    pub(super) fn new(program: &Program, held: Vec<Held>) -> Result<Self, TrimError> {
        let ticks = period(program);
        let program = Arc::new(endless(program));
        let mut simulation = Simulation::new(Arc::clone(&program));
        let (mut discrete, mut numbers) = (Vec::new(), Vec::new());
        for node in 0..program.nodes.len() {
            let own = simulation.numbers_of(node);
            if !own.is_empty() {
                discrete.push((node, numbers.len()..numbers.len() + own.len()));
                numbers.extend(own);
            }
        }
        let x = simulation.state().to_vec();
        while !matches!(simulation.cursor(), Cursor::Observe | Cursor::Done) {
            simulation.advance_holding(&[])?;
        }
        let free = held.iter().map(|one| simulation.arena()[one.place as usize]).collect();
        let start = Point { x, numbers, free };
        let length = program.base.at(ticks);
        Ok(Self { chart: Chart::new(&program), program, discrete, held, ticks, length, start })
    }

    /// How many numbers a residual has.
    pub(super) fn rows(&self) -> usize {
        self.chart.len() + self.start.numbers.len()
    }

    /// How many unknowns there are.
    pub(super) fn columns(&self) -> usize {
        self.rows() + self.held.len()
    }

    /// A run that begins at `point`, and what its constants must put out.
    pub(super) fn begin(&self, point: &Point) -> (Simulation, Vec<Held>) {
        let mut simulation = Simulation::new(Arc::clone(&self.program));
        let numbers = self.discrete.iter().map(|(n, range)| (*n, &point.numbers[range.clone()]));
        simulation.begin_at(&point.x, numbers);
        let held = self.held.iter().zip(&point.free).map(|(held, &value)| Held { value, ..*held });
        (simulation, held.collect())
    }

    /// The state of a run.
    pub(super) fn point(&self, simulation: &Simulation, free: &[f64]) -> Point {
        let numbers = self.discrete.iter().flat_map(|(node, _)| simulation.numbers_of(*node));
        let (x, numbers) = (simulation.state().to_vec(), numbers.collect());
        Point { x, numbers, free: free.to_vec() }
    }

    /// `(to ⊖ from) / period` [1/s].
    pub(super) fn rate(&mut self, from: &Point, to: &Point, out: &mut [f64]) {
        let (continuous, discrete) = out.split_at_mut(self.chart.len());
        self.chart.centre(&from.x);
        self.chart.difference(&to.x, continuous);
        for (out, (a, b)) in discrete.iter_mut().zip(from.numbers.iter().zip(&to.numbers)) {
            *out = b - a;
        }
        out.iter_mut().for_each(|out| *out /= self.length);
    }

    /// How fast a run that begins at `point` moves, over one period.
    ///
    /// # Errors
    /// If it meets a fault, or ends before the period does.
    pub(super) fn residual(&mut self, point: &Point, out: &mut [f64]) -> Result<(), TrimError> {
        let (mut simulation, held) = self.begin(point);
        run_to(&mut simulation, self.ticks, &held)?;
        let end = self.point(&simulation, &point.free);
        self.rate(point, &end, out);
        Ok(())
    }

    /// The point at the coordinates `delta` around `point`.
    pub(super) fn displaced(&mut self, point: &Point, delta: &[f64]) -> Point {
        let (continuous, rest) = delta.split_at(self.chart.len());
        let (discrete, free) = rest.split_at(point.numbers.len());
        let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + b).collect();
        let mut x = point.x.clone();
        self.chart.centre(&point.x);
        self.chart.place(continuous, &mut x);
        Point { x, numbers: sum(&point.numbers, discrete), free: sum(&point.free, free) }
    }

    /// How large each unknown is: 1 for rotations, the magnitude of a number otherwise.
    pub(super) fn magnitude(&self, point: &Point) -> Vec<f64> {
        let mut out = vec![0.0; self.chart.len()];
        self.chart.magnitude(&point.x, &mut out);
        out.extend(point.numbers.iter().chain(&point.free).map(|number| number.abs()));
        out
    }
}

/// Runs until the major step of `tick` begins.
///
/// # Errors
/// If a fault or a block ends the run before.
pub(super) fn run_to(
    simulation: &mut Simulation,
    tick: u64,
    held: &[Held],
) -> Result<(), TrimError> {
    while simulation.tick() < tick {
        simulation.advance_holding(held)?;
        if simulation.cursor() == Cursor::Done {
            let block = simulation.stopped_by().unwrap_or_default().to_owned();
            return Err(TrimError::Stopped { block, t: simulation.time() });
        }
    }
    Ok(())
}

/// The program without an end and without checks: it may run for as long as anybody wants.
pub(crate) fn endless(program: &Program) -> Program {
    let parts = program.clone().into_parts();
    Program::new(ProgramParts { stop_tick: u64::MAX / 4, checks: Vec::new(), ..parts })
}

/// Whether a rate is due again within the run: what holds its first value all along has no period.
pub(crate) fn comes_round(rate: Rate, stretch: u32, program: &Program) -> bool {
    match rate {
        Rate::Periodic { period, .. } => {
            period.saturating_mul(u64::from(stretch)) <= program.stop_tick
        }
        _ => false,
    }
}

/// The time after which all rates that come round within the run are due together again [ticks],
/// in whole major steps.
pub(crate) fn period(program: &Program) -> u64 {
    let of = |node: &Node| {
        let stretch = node.stretch;
        let rates = [node.rate, node.update_rate].into_iter();
        let rates = rates.filter(move |rate| comes_round(*rate, stretch, program));
        rates.filter_map(move |rate| match rate {
            Rate::Periodic { period, .. } => Some(period.saturating_mul(u64::from(stretch))),
            _ => None,
        })
    };
    let step = program.step_ticks;
    let most = step.saturating_mul(MOST_STEPS);
    let all = program.nodes.iter().flat_map(of);
    let together = all.clone().try_fold(step, |so_far, period| {
        let found = (so_far / gcd(so_far, period)).checked_mul(period)?;
        (found <= most).then_some(found)
    });
    together.unwrap_or_else(|| all.fold(step, u64::max).next_multiple_of(step))
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
