//! Snapshots in memory (semantics 7.1).

use std::any::Any;

use legwork_block::{Fault, Span};
use legwork_program::NodeId;

use super::loops::LoopMemory;
use super::{Cursor, Simulation};
use crate::fault::{Phase, RunFault};
use crate::moment::Moment;
use crate::observe::Observer;
use crate::recording::Journal;

/// Everything a run consists of at one moment (semantics 7.1, in memory).
pub struct Snapshot {
    hash: u64,
    moment: Moment,
    microstep: u32,
    step_count: u64,
    cursor: Cursor,
    x: Vec<f64>,
    arena: Vec<f64>,
    armed: Vec<bool>,
    located: Vec<bool>,
    spent: Vec<bool>,
    step_memory: Option<f64>,
    since_event: f64,
    method: Option<Vec<f64>>,
    loops: Vec<LoopMemory>,
    stopped_by: Option<NodeId>,
    states: Vec<Box<dyn Any + Send>>,
    observer: Observer,
    /// Rows kept in memory, if any are.
    rows: Option<usize>,
}

impl Simulation {
    /// A copy of everything that shapes the future.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            hash: self.program.hash(),
            moment: self.moment,
            microstep: self.microstep,
            step_count: self.step_count,
            cursor: self.cursor,
            x: self.x.clone(),
            arena: self.arena.clone(),
            armed: self.armed.clone(),
            located: self.located.clone(),
            spent: self.spent.clone(),
            step_memory: self.step_memory,
            since_event: self.since_event,
            method: self.method.memory(),
            loops: self.loops.clone(),
            stopped_by: self.stopped_by,
            states: self.instances.iter().map(|instance| instance.save()).collect(),
            observer: self.observer.clone(),
            rows: self.observer.journal().map(Journal::len),
        }
    }

    /// Goes back (or on) to a snapshot of the same program; the run continues bit for bit.
    ///
    /// # Errors
    /// If the snapshot is of another program.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), RunFault> {
        if snapshot.hash != self.program.hash() {
            return Err(RunFault {
                t: self.time(),
                tick: self.tick(),
                phase: Phase::Observe,
                block: "snapshot".into(),
                fault: Fault { message: "the snapshot is of another program".into() },
                span: Span::default(),
            });
        }
        self.set_moment(snapshot.moment);
        self.microstep = snapshot.microstep;
        self.step_count = snapshot.step_count;
        self.step_memory = snapshot.step_memory;
        self.since_event = snapshot.since_event;
        self.method.set_memory(snapshot.method.as_deref());
        self.loops.clone_from(&snapshot.loops);
        self.stopped_by = snapshot.stopped_by;
        self.cursor = snapshot.cursor;
        self.x.copy_from_slice(&snapshot.x);
        self.arena.copy_from_slice(&snapshot.arena);
        self.armed.copy_from_slice(&snapshot.armed);
        self.located.copy_from_slice(&snapshot.located);
        self.spent.copy_from_slice(&snapshot.spent);
        for (instance, state) in self.instances.iter_mut().zip(&snapshot.states) {
            instance.restore(state.as_ref());
        }
        self.observer.restore(&snapshot.observer);
        if let Some(rows) = snapshot.rows {
            self.observer.take_back_rows(rows);
        }
        self.compute_shared();
        Ok(())
    }

    /// Everything that is not kept because it follows from what is.
    pub(super) fn compute_shared(&mut self) {
        self.find_due();
        // Shared values are functions of signals: computed again instead of kept. One that faults
        // on these signals has not been computed yet, and will be before anybody reads it.
        for i in 0..self.tasks.len() {
            if self.tasks[i].pool.is_some() {
                let _ = self.output(i, false, 0.0);
            }
        }
    }
}
