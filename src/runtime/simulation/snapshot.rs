//! Snapshots in memory (semantics 7.1).

use std::any::Any;

use legwork_block::{Fault, Span};

use super::{Cursor, Simulation};
use crate::fault::{Phase, RunFault};
use crate::observe::Observer;

/// Everything a run consists of at one moment (semantics 7.1, in memory).
pub struct Snapshot {
    hash: u64,
    tick: u64,
    microstep: u32,
    cursor: Cursor,
    x: Vec<f64>,
    arena: Vec<f64>,
    armed: Vec<bool>,
    states: Vec<Box<dyn Any + Send>>,
    observer: Observer,
}

impl Simulation {
    /// A copy of everything that shapes the future.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            hash: self.program.hash,
            tick: self.tick,
            microstep: self.microstep,
            cursor: self.cursor,
            x: self.x.clone(),
            arena: self.arena.clone(),
            armed: self.armed.clone(),
            states: self.instances.iter().map(|instance| instance.save()).collect(),
            observer: self.observer.clone(),
        }
    }

    /// Goes back (or on) to a snapshot of the same program; the run continues bit for bit.
    ///
    /// # Errors
    /// If the snapshot is of another program.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), RunFault> {
        if snapshot.hash != self.program.hash {
            return Err(RunFault {
                t: self.time(),
                tick: self.tick,
                phase: Phase::Observe,
                block: "snapshot".into(),
                fault: Fault { message: "the snapshot is of another program".into() },
                span: Span::default(),
            });
        }
        self.set_tick(snapshot.tick);
        self.microstep = snapshot.microstep;
        self.cursor = snapshot.cursor;
        self.x.copy_from_slice(&snapshot.x);
        self.arena.copy_from_slice(&snapshot.arena);
        self.armed.copy_from_slice(&snapshot.armed);
        for (instance, state) in self.instances.iter_mut().zip(&snapshot.states) {
            instance.restore(state.as_ref());
        }
        self.observer.restore(&snapshot.observer);
        for (due, rate) in self.due.iter_mut().zip(&self.classes) {
            *due = rate.due(self.tick);
        }
        // Shared values are functions of signals: computed again instead of kept.
        for i in 0..self.tasks.len() {
            if self.tasks[i].pool.is_some() {
                self.output(i, false, 0.0)?;
            }
        }
        Ok(())
    }
}
