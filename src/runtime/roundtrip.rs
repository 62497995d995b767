//! The proof that a program continues from its snapshots bit for bit (semantics 7.1).
//!
//! A run is stopped at random ticks, between two steps or inside one. There it is written as bytes,
//! a second simulation is made of these, both go on, and after every piece of a step what they hold
//! is compared: signals, continuous state, the discrete state of each block, recorded rows, checks.

use std::fmt;
use std::sync::Arc;

use legwork_program::Program;

use crate::fault::RunFault;
use crate::observe::logged_rates;
use crate::recording::Journal;
use crate::simulation::{Cursor, Simulation, SnapshotError};

/// What to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trials {
    /// At how many random ticks.
    pub ticks: u32,
    /// Major steps that both simulations do after each.
    pub steps: u32,
    /// Seed of the ticks.
    pub seed: u64,
}

impl Default for Trials {
    fn default() -> Self {
        Self { ticks: 20, steps: 3, seed: 0 }
    }
}

/// What was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proof {
    /// Snapshots that were taken and continued.
    pub snapshots: u32,
    /// Of these, inside a major step.
    pub inside: u32,
    /// Size of the largest [bytes].
    pub bytes: usize,
}

/// Where two simulations of which one was made of the other's bytes part.
#[derive(Debug)]
pub struct Difference {
    /// Tick at which the snapshot was taken.
    pub tick: u64,
    /// Calls of [`Simulation::advance`] in the step before it was taken.
    pub pieces: u64,
    /// Time at which they differ [s].
    pub t: f64,
    /// The first block, in order of execution, that differs; of none if something else does.
    pub block: Option<String>,
    /// What differs.
    pub what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tick, pieces, t, block, what } = self;
        let block = block.as_ref().map_or(String::new(), |block| format!("`{block}`: "));
        write!(f, "snapshot at tick {tick}")?;
        if *pieces > 0 {
            write!(f, ", {pieces} pieces into its step")?;
        }
        write!(f, ", t={t} s: {block}{what}")
    }
}

/// Why a program does not continue from its snapshots.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RoundtripError {
    /// It differs.
    #[error("{0}")]
    Differs(Box<Difference>),
    /// A snapshot cannot be written or read.
    #[error("at tick {tick}: {error}")]
    Snapshot {
        /// Tick at which it was taken.
        tick: u64,
        /// Why.
        error: SnapshotError,
    },
    /// The run itself faults.
    #[error("{0}")]
    Fault(#[from] RunFault),
}

/// Runs `program` and continues it from snapshots at random ticks.
///
/// # Errors
/// The first snapshot that does not continue bit for bit, or a fault of the run.
pub fn roundtrip(program: &Arc<Program>, trials: Trials) -> Result<Proof, RoundtripError> {
    let mut proof = Proof { snapshots: 0, inside: 0, bytes: 0 };
    let mut run = Simulation::new(Arc::clone(program));
    run.observer_mut().keep_rows();
    for (tick, draw) in ticks(program, trials) {
        while run.tick() < tick && run.cursor() != Cursor::Done {
            run.step()?;
        }
        if run.cursor() == Cursor::Done {
            break;
        }
        // Every second snapshot is taken inside a step.
        let pieces = if proof.snapshots % 2 == 1 { pieces_of_step(&run)? } else { 0 };
        let pieces = if pieces == 0 { 0 } else { draw % pieces };
        proof.bytes = proof.bytes.max(try_one(&mut run, pieces, trials.steps)?);
        proof.snapshots += 1;
        proof.inside += u32::from(pieces > 0);
    }
    Ok(proof)
}

/// Random ticks of the run in order, each with one more random number.
fn ticks(program: &Program, trials: Trials) -> Vec<(u64, u64)> {
    let mut ticks: Vec<(u64, u64)> = (0..u64::from(trials.ticks))
        .map(|i| {
            let draw = |j: u64| mixed(mixed(trials.seed).wrapping_add(2 * i + j));
            (draw(0) % program.stop_tick.max(1), draw(1))
        })
        .collect();
    // The beginning, where nothing has run, is one of them.
    if let Some(first) = ticks.first_mut() {
        first.0 = 0;
    }
    ticks.sort_unstable();
    ticks
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood, *Fast splittable pseudorandom number
/// generators*, 2014) of a counter.
fn mixed(counter: u64) -> u64 {
    let z = counter.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// How many pieces the coming major step has.
fn pieces_of_step(run: &Simulation) -> Result<u64, RunFault> {
    let mut other = Simulation::new(Arc::clone(run.program()));
    other.restore(&run.snapshot())?;
    let mut pieces = 0;
    loop {
        other.advance()?;
        pieces += 1;
        if other.is_between_steps() {
            return Ok(pieces);
        }
    }
}

/// Takes a snapshot `pieces` into the coming step, continues it beside `run` and compares; gives
/// its size.
fn try_one(run: &mut Simulation, pieces: u64, steps: u32) -> Result<usize, RoundtripError> {
    let tick = run.tick();
    let failed = |error| RoundtripError::Snapshot { tick, error };
    let bytes = if pieces == 0 {
        run.to_bytes()
    } else {
        let begin = run.snapshot();
        for _ in 0..pieces {
            run.advance()?;
        }
        run.to_bytes_since(&begin, pieces)
    };
    let bytes = bytes.map_err(failed)?;
    let program = Arc::clone(run.program());
    let mut copy = Simulation::from_bytes(program, &bytes).map_err(failed)?;
    copy.observer_mut().keep_rows();
    let first_row = run.observer().journal().map_or(0, Journal::len);
    let differs = |run: &Simulation, (block, what): (Option<String>, String)| {
        let t = run.time();
        RoundtripError::Differs(Box::new(Difference { tick, pieces, t, block, what }))
    };
    let mut done = 0;
    while done < steps && run.cursor() != Cursor::Done {
        if let Some(difference) = first_difference(run, &copy, first_row).map_err(failed)? {
            return Err(differs(run, difference));
        }
        let outcome = (run.advance(), copy.advance());
        match outcome {
            (Ok(()), Ok(())) => {}
            (ours, theirs) if ours == theirs => return ours.map(|()| 0).map_err(Into::into),
            (ours, theirs) => {
                let said = |outcome: Result<(), RunFault>| match outcome {
                    Ok(()) => "no fault".to_owned(),
                    Err(fault) => fault.to_string(),
                };
                let what = format!("{} without the snapshot, {} with", said(ours), said(theirs));
                return Err(differs(run, (None, what)));
            }
        }
        done += u32::from(run.is_between_steps());
    }
    match first_difference(run, &copy, first_row).map_err(failed)? {
        Some(difference) => Err(differs(run, difference)),
        None => Ok(bytes.len()),
    }
}

/// The first thing in which two simulations differ; the rows of `copy` are compared with those of
/// `run` from `first_row` on.
fn first_difference(
    run: &Simulation,
    copy: &Simulation,
    first_row: usize,
) -> Result<Option<(Option<String>, String)>, SnapshotError> {
    let program = run.program();
    if (run.moment(), run.cursor(), run.microstep(), run.step_count())
        != (copy.moment(), copy.cursor(), copy.microstep(), copy.step_count())
    {
        let place = |s: &Simulation| format!("{:?} of step {}", s.cursor(), s.step_count());
        return Ok(Some((None, format!("at {}, expected at {}", place(copy), place(run)))));
    }
    for step in &program.schedule {
        let node = &program.nodes[step.node];
        let (ours, theirs) = (&run.arena()[step.own.range()], &copy.arena()[step.own.range()]);
        if let Some(what) = unequal("output", ours, theirs) {
            return Ok(Some((Some(node.path.clone()), what)));
        }
    }
    for (i, node) in program.nodes.iter().enumerate() {
        if let Some(placed) = &node.continuous {
            let (ours, theirs) = (&run.state()[placed.x.range()], &copy.state()[placed.x.range()]);
            if let Some(what) = unequal("continuous state", ours, theirs) {
                return Ok(Some((Some(node.path.clone()), what)));
            }
        }
        if run.state_bytes(i)? != copy.state_bytes(i)? {
            let what = "its discrete state differs".to_owned();
            return Ok(Some((Some(node.path.clone()), what)));
        }
    }
    // As texts: a check may hold what is no number, which does not equal itself.
    let text = |simulation: &Simulation| format!("{:?}", simulation.checks());
    if text(run) != text(copy) {
        return Ok(Some((None, "the checks differ".to_owned())));
    }
    Ok(unequal_rows(run, copy, first_row).map(|what| (None, what)))
}

fn unequal(what: &str, ours: &[f64], theirs: &[f64]) -> Option<String> {
    let i = ours.iter().zip(theirs).position(|(a, b)| a.to_bits() != b.to_bits())?;
    Some(format!("number {i} of its {what} is {:?}, expected {:?}", theirs[i], ours[i]))
}

fn unequal_rows(run: &Simulation, copy: &Simulation, first_row: usize) -> Option<String> {
    let (ours, theirs) = (run.observer().journal()?, copy.observer().journal()?);
    let count = ours.len().saturating_sub(first_row);
    if count != theirs.len() {
        return Some(format!("{} rows were recorded, expected {count}", theirs.len()));
    }
    // Earlier rows have been compared when they were new.
    let new = count.saturating_sub(run.program().log.len());
    (new..count).find_map(|i| {
        let (ours, theirs) = (ours.row(first_row + i)?, theirs.row(i)?);
        let same = (ours.0, ours.1) == (theirs.0, theirs.1)
            && ours.2.iter().zip(theirs.2).all(|(a, b)| a.to_bits() == b.to_bits());
        (!same).then(|| {
            let rates = logged_rates(run.program());
            let signals = rates[ours.0.0].channels.iter().map(|&i| &run.program().log[i].signal);
            let mut end = 0;
            let differs = |i: usize| ours.2[i].to_bits() != theirs.2[i].to_bits();
            let mut signals = signals.filter(|signal| {
                let (start, len) = (end, signal.slots.iter().map(|slot| slot.range().len()));
                end += len.sum::<usize>();
                ours.1 != theirs.1 || (start..end).any(differs)
            });
            let path = signals.next().map_or("", |signal| signal.path.as_str());
            format!("a recorded row of `{path}` differs")
        })
    })
}
