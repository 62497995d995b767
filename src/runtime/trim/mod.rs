//! Trimming: where a program holds still.
//!
//! [`trim`] settles and polishes. Settling runs the program until nothing moves, or for as long as
//! it may. Polishing then seeks a fixed point of the map of one period (a major step, or the least
//! common multiple of the rates), by Levenberg-Marquardt:
//!
//! ```text
//! residual  (x(T) ⊖ x(0)) / T   in the chart of the continuous state; (d(T) − d(0)) / T
//! unknowns  x(0) in its chart, numbers d(0) of discrete states, and outputs of free constants
//! ```
//!
//! The map begins at t = 0, as the trimmed diagram does: discrete state that no parameter gives is
//! what it is at the start of a run, and inputs that depend on time have their values of then. A
//! direction in which nothing changes, such as that of a base on a plane, is left where it was:
//! steps are those of least norm, and free outputs move more readily than the state. Equal programs
//! and options give equal bits.

mod free;
mod map;
mod motion;
mod polish;

use legwork_block::Parameters;
use legwork_program::Program;

use crate::budget;
use crate::fault::RunFault;
use crate::simulation::{Held, Simulation};
use map::{Map, Point, run_to};
use polish::{largest, polish};

pub use free::{FreeError, FreeOutput};
pub(crate) use map::{comes_round, endless, period};
pub use motion::{Motion, drift};

/// Periods in a row that must be still for a run to have settled.
const STILL_PERIODS: u32 = 10;

/// Options of [`trim`].
#[derive(Debug, Clone)]
pub struct TrimOptions {
    /// How long the program may run to settle [s].
    pub settle: f64,
    /// The largest rate of any number of the state that counts as still [its unit / s; rad/s].
    pub tolerance: f64,
    /// Outputs of constants that may change.
    pub free: Vec<FreeOutput>,
}

/// Where a program holds still, or comes nearest to it.
#[derive(Debug, Clone)]
pub struct Trimmed {
    /// How long it ran to settle [s].
    pub settled: f64,
    /// Largest rate of the state at its own start, after settling, and after polishing [1/s].
    pub rates: [f64; 3],
    /// Iterations of the polishing.
    pub iterations: u32,
    /// Length of the period that was looked at [s].
    pub period: f64,
    /// Whether nothing moves faster than the tolerance.
    pub still: bool,
    /// The continuous state.
    pub state: Vec<f64>,
    /// Where each block with state begins, and each free constant, by path.
    pub starts: Vec<Start>,
    /// Blocks whose discrete state no parameter gives, and which had another after settling: they
    /// begin anew.
    pub begin_anew: Vec<String>,
    /// How fast the outputs of blocks with state move, the fastest first [unit / s].
    pub motions: Vec<Motion>,
}

/// Where a block begins.
#[derive(Debug, Clone)]
pub struct Start {
    /// Path of the block.
    pub block: String,
    /// The parameters that say it; `None` if the block has no such.
    pub parameters: Option<Parameters>,
}

/// Why a program cannot be trimmed.
#[derive(Debug, thiserror::Error)]
pub enum TrimError {
    /// A run met a fault.
    #[error("{0}")]
    Fault(Box<RunFault>),
    /// A block ended the first period.
    #[error("`{block}` ends the run at t={t} s, before anything can be seen to hold still")]
    Stopped {
        /// The block.
        block: String,
        /// When [s].
        t: f64,
    },
}

impl From<RunFault> for TrimError {
    fn from(fault: RunFault) -> Self {
        Self::Fault(Box::new(fault))
    }
}

/// Settles a program to equilibrium.
///
/// # Errors
/// If the run to settle, or the first period from where it ends, meets a fault; if a block ends
/// that period. No equilibrium is no error: [`Trimmed::still`] says so.
pub fn trim(program: &Program, options: &TrimOptions) -> Result<Trimmed, TrimError> {
    let held = options.free.iter().flat_map(FreeOutput::held).collect();
    let mut map = Map::new(program, held)?;
    budget::dense(program, (map.rows(), map.columns()), (0.0, 0))?;
    let mut rate = vec![0.0; map.rows()];
    let start = map.start.clone();
    map.residual(&start, &mut rate)?;
    let first = largest(&rate);
    let (settled, point, begin_anew) = settle(&mut map, options)?;
    let polished = polish(&mut map, point, options.tolerance)?;
    let motions = motion::motions(&map, &polished.point)?;
    Ok(Trimmed {
        settled,
        rates: [first, polished.before, polished.after],
        iterations: polished.iterations,
        period: map.length,
        still: polished.after <= options.tolerance,
        starts: starts(&map, &polished.point, &options.free),
        state: polished.point.x,
        begin_anew,
        motions,
    })
}

/// Runs until nothing moves, or for as long as wished. How long that was, where it ends, and which
/// blocks then have a state that no parameter gives.
fn settle(map: &mut Map, options: &TrimOptions) -> Result<(f64, Point, Vec<String>), TrimError> {
    let mut at = map.start.clone();
    let (mut simulation, held) = map.begin(&at);
    let mut rate = vec![0.0; map.rows()];
    let mut still = 0;
    // Half a tick, so that a time that is meant to be one is not missed by rounding.
    let end = options.settle - 0.5 * map.program.base.to_f64();
    while simulation.time() < end && still < STILL_PERIODS {
        let next = simulation.tick() + map.ticks;
        match run_to(&mut simulation, next, &held) {
            Err(TrimError::Stopped { .. }) => break,
            other => other?,
        }
        let now = map.point(&simulation, &at.free);
        map.rate(&at, &now, &mut rate);
        still = if largest(&rate) <= options.tolerance { still + 1 } else { 0 };
        at = now;
    }
    let settled = simulation.time();
    Ok((settled, at, begin_anew(map, &simulation)))
}

/// Blocks with discrete state that is not what it was at t = 0 and that no parameter gives.
fn begin_anew(map: &Map, simulation: &Simulation) -> Vec<String> {
    let (fresh, _) = map.begin(&map.start);
    let nodes = map.program.nodes.iter().enumerate();
    nodes
        .filter(|(i, node)| {
            node.updates
                && simulation.numbers_of(*i).is_empty()
                && simulation.state_json(*i).ok() != fresh.state_json(*i).ok()
        })
        .map(|(_, node)| node.path.clone())
        .collect()
}

/// What each block with state, and each free constant, begins with.
fn starts(map: &Map, point: &Point, free: &[FreeOutput]) -> Vec<Start> {
    let (simulation, _) = map.begin(point);
    let mut outputs: Vec<(usize, Vec<f64>)> = Vec::new();
    let mut values = point.free.iter();
    for one in free {
        let found = outputs.iter().position(|(node, _)| *node == one.node());
        let at = found.unwrap_or_else(|| {
            outputs.push((one.node(), one.values().to_vec()));
            outputs.len() - 1
        });
        for (place, value) in one.elements().zip(&mut values) {
            outputs[at].1[place] = *value;
        }
    }
    let mut starts = Vec::new();
    for (i, node) in map.program.nodes.iter().enumerate() {
        let discrete = map.discrete.iter().find(|(of, _)| *of == i);
        let constant = outputs.iter().find(|(of, _)| *of == i);
        let at = match (&node.continuous, discrete, constant) {
            (Some(placed), ..) => &point.x[placed.x.range()],
            (_, Some((_, range)), _) => &point.numbers[range.clone()],
            (.., Some((_, output))) => output.as_slice(),
            _ => continue,
        };
        let parameters = simulation.starting_at(i, at);
        starts.push(Start { block: node.path.clone(), parameters });
    }
    starts
}
