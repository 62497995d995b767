//! Snapshots in memory (semantics 7.1).

use std::any::Any;

use legwork_block::{Fault, Span};
use serde::{Deserialize, Serialize};

use super::Simulation;
use super::integrate::Integrator;
use super::state::State;
use crate::fault::{Phase, RunFault};
use crate::recording::Journal;

/// Everything that shapes the future; `B` is what a block's discrete state is kept as: a copy in
/// memory, bytes in a file.
#[derive(Serialize, Deserialize)]
pub(super) struct Saved<B> {
    /// What the simulation itself keeps.
    pub(super) state: State,
    /// What the integration method keeps.
    pub(super) method: Option<Vec<f64>>,
    /// What each block keeps.
    pub(super) blocks: Vec<B>,
}

/// Everything a run consists of at one moment (semantics 7.1, in memory).
pub struct Snapshot {
    /// Hash of the program that it is of.
    hash: u64,
    /// Rows kept in memory, if any are.
    rows: Option<usize>,
    saved: Saved<Box<dyn Any + Send>>,
}

impl Simulation {
    /// A copy of everything that shapes the future.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            hash: self.engine.plan.program.hash(),
            rows: self.observer.journal().map(Journal::len),
            saved: Saved {
                state: self.engine.state.clone(),
                method: self.integrator.method.memory(),
                blocks: self
                    .engine
                    .blocks
                    .instances
                    .iter()
                    .map(|instance| instance.save())
                    .collect(),
            },
        }
    }

    /// Goes back (or on) to a snapshot of the same program; the run continues bit for bit.
    ///
    /// # Errors
    /// If the snapshot is of another program.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), RunFault> {
        if snapshot.hash != self.engine.plan.program.hash() {
            return Err(RunFault {
                t: self.time(),
                tick: self.tick(),
                phase: Phase::Observe,
                block: "snapshot".into(),
                fault: Fault { message: "the snapshot is of another program".into() },
                span: Span::default(),
                hints: Vec::new(),
            });
        }
        if self.engine.stop.heard {
            self.engine.renew();
            self.integrator = Integrator::new(&self.engine.plan);
        }
        let Saved { state, method, blocks } = &snapshot.saved;
        for (instance, state) in self.engine.blocks.instances.iter_mut().zip(blocks) {
            instance.restore(state.as_ref());
        }
        if let Some(rows) = snapshot.rows {
            self.observer.take_back_rows(rows);
        }
        self.resume(state.clone(), method.as_deref());
        Ok(())
    }

    /// Goes on from `state`; the blocks have theirs.
    pub(super) fn resume(&mut self, state: State, method: Option<&[f64]>) {
        self.engine.work.ahead = false;
        self.engine.set_moment(state.moment);
        self.engine.state = state;
        self.integrator.method.set_memory(method);
        self.engine.compute_shared();
    }
}
