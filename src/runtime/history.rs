//! A simulation that can go back.
//!
//! Snapshots are kept every so many steps, fewer the longer the run is; going back restores the
//! last one before and repeats what follows, which gives the same bits. The place of the run is
//! a step and the number of its pieces ([`Simulation::advance`]) that are done.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use legwork_program::Program;

use crate::fault::RunFault;
use crate::observe::Observer;
use crate::simulation::{Cursor, Simulation, Snapshot, SnapshotError, SwapError};

/// When there are more snapshots than this, every second one goes.
const MOST_KEPT: usize = 128;
/// Bytes that all snapshots may take together, of which two are always kept.
const MOST_BYTES: u64 = 500_000_000;

/// How many snapshots of runs of `program` are kept.
fn most_kept(program: &Program) -> usize {
    let fit = MOST_BYTES / program.memory.max(1);
    usize::try_from(fit).unwrap_or(MOST_KEPT).clamp(2, MOST_KEPT)
}

/// A simulation with its past.
pub struct History {
    simulation: Simulation,
    /// The state before the present step.
    begin: Snapshot,
    /// Where the present step begins [steps].
    step: u64,
    /// Pieces of the present step that are done.
    pieces: u64,
    kept: Vec<Kept>,
    /// Steps between two kept snapshots.
    spacing: u64,
    edits: Vec<Edit>,
    fault: Option<RunFault>,
    /// Whether the last piece was left in its middle.
    stopped: bool,
}

/// A snapshot with the program that it is of.
struct Kept {
    step: u64,
    t: f64,
    program: Arc<Program>,
    snapshot: Snapshot,
}

/// Parameters changed before a step.
struct Edit {
    step: u64,
    program: Arc<Program>,
}

impl History {
    /// A history that begins here.
    ///
    /// # Errors
    /// If the simulation is inside a step.
    pub fn new(simulation: Simulation) -> Result<Self, SnapshotError> {
        if !simulation.is_between_steps() {
            return Err(SnapshotError::InAStep { cursor: simulation.cursor() });
        }
        let begin = simulation.snapshot();
        let step = simulation.step_count();
        let mut history = Self {
            simulation,
            begin,
            step,
            pieces: 0,
            kept: Vec::new(),
            spacing: 1,
            edits: Vec::new(),
            fault: None,
            stopped: false,
        };
        history.keep();
        Ok(history)
    }

    /// A history that begins with the step in which a snapshot was taken, and stands where it was
    /// taken. Rows are kept in memory.
    ///
    /// # Errors
    /// Those of [`Simulation::from_bytes`].
    pub fn from_bytes(program: Arc<Program>, bytes: &[u8]) -> Result<Self, SnapshotError> {
        let (mut simulation, pieces) = Simulation::step_from_bytes(program, bytes)?;
        simulation.observer_mut().keep_rows();
        let mut history = Self::new(simulation)?;
        for _ in 0..pieces {
            history.advance()?;
        }
        Ok(history)
    }

    /// Leaves a piece when this flag is set, see [`Simulation::stop_by`].
    pub fn stop_by(&mut self, flag: Arc<AtomicBool>) {
        self.simulation.stop_by(flag);
    }

    /// Whether [`History::advance`] left the last piece because it was asked to.
    pub fn was_stopped(&self) -> bool {
        self.stopped
    }

    /// The simulation at the present place.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// Where the rows of the simulation go.
    pub fn observer_mut(&mut self) -> &mut Observer {
        self.simulation.observer_mut()
    }

    /// The step that goes on or comes next, counted from t = 0.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Pieces of this step that are done.
    pub fn pieces(&self) -> u64 {
        self.pieces
    }

    /// The fault at which the run stands, if it does.
    pub fn fault(&self) -> Option<&RunFault> {
        self.fault.as_ref()
    }

    /// Time of the last snapshot before `t` [s], from which going back to `t` repeats what follows;
    /// that of the first if all are later.
    pub fn kept_before(&self, t: f64) -> f64 {
        let at = self.kept.partition_point(|kept| kept.t < t).saturating_sub(1);
        self.kept.get(at).map_or(0.0, |kept| kept.t)
    }

    /// How many edits lie before the present place.
    pub fn edit_count(&self) -> usize {
        self.edits.len()
    }

    /// Does the next piece of the step.
    ///
    /// # Errors
    /// The fault of that piece, again and again until the run goes back; that of a piece that was
    /// stopped ([`Simulation::stop_by`]), which has not begun then, nor have pieces of its step
    /// before it that take so long that going back there is stopped, too.
    pub fn advance(&mut self) -> Result<(), RunFault> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        if self.simulation.cursor() == Cursor::Done {
            return Ok(());
        }
        self.stopped = false;
        if let Err(fault) = self.simulation.advance() {
            if self.simulation.was_stopped() {
                // The piece was left in its middle; it is as if it had not begun.
                self.rewind(self.pieces)?;
                self.stopped = true;
                return Err(fault);
            }
            self.fault = Some(fault.clone());
            return Err(fault);
        }
        self.pieces += 1;
        if self.simulation.is_between_steps() && self.simulation.cursor() != Cursor::Done {
            self.arrive();
        }
        Ok(())
    }

    /// Does the rest of the present step, or the whole of the next.
    ///
    /// # Errors
    /// The fault.
    pub fn finish_step(&mut self) -> Result<(), RunFault> {
        loop {
            self.advance()?;
            if self.simulation.is_between_steps() {
                return Ok(());
            }
        }
    }

    /// Goes on with other parameters from the present step on.
    ///
    /// # Errors
    /// If a step is going on, or more than parameters differ.
    pub fn edit(&mut self, program: &Arc<Program>) -> Result<(), SwapError> {
        self.simulation.swap_parameters(program)?;
        self.edits.push(Edit { step: self.step, program: Arc::clone(program) });
        self.begin = self.simulation.snapshot();
        // A snapshot of this moment with the old parameters would undo the edit.
        if self.kept.last().is_some_and(|kept| kept.step == self.step) {
            self.kept.pop();
        }
        self.keep();
        Ok(())
    }

    /// Goes `pieces` back, over the beginning of the step into those before; gives how many pieces
    /// it went, fewer where the history begins.
    ///
    /// # Errors
    /// If a step cannot be repeated, which no block in order causes.
    pub fn back(&mut self, pieces: u64) -> Result<u64, RunFault> {
        let mut left = pieces;
        while left > self.pieces {
            left -= self.pieces;
            let step = self.step;
            self.rewind(0)?;
            if !self.reach_end_of_step_before(step)? {
                return Ok(pieces - left);
            }
        }
        if left > 0 || self.fault.is_some() {
            self.rewind(self.pieces - left)?;
        }
        Ok(pieces)
    }

    /// Goes `steps` back, to the beginning of a step; that of the present one counts as one if
    /// it has begun. Gives how many it went.
    ///
    /// # Errors
    /// If a step cannot be repeated.
    pub fn back_steps(&mut self, steps: u64) -> Result<u64, RunFault> {
        let mut gone = 0;
        while gone < steps {
            if self.pieces > 0 || self.fault.is_some() {
                self.rewind(0)?;
            } else {
                let step = self.step;
                if !self.reach_end_of_step_before(step)? {
                    break;
                }
                self.rewind(0)?;
            }
            gone += 1;
        }
        Ok(gone)
    }

    /// Goes to the beginning of the first step at or after `t` [s], forth or back, to the end of the
    /// run, or to where it is asked to stop.
    ///
    /// # Errors
    /// The first fault on the way.
    pub fn go_to(&mut self, t: f64) -> Result<(), RunFault> {
        let ahead = t > self.simulation.time()
            || (t == self.simulation.time() && self.pieces == 0 && self.fault.is_none());
        if !ahead {
            let at = self.kept.partition_point(|kept| kept.t < t).saturating_sub(1);
            self.restore_kept(at)?;
        }
        while self.simulation.time() < t
            && self.simulation.cursor() != Cursor::Done
            && !self.simulation.is_to_stop()
        {
            self.finish_step()?;
        }
        self.forget_future();
        Ok(())
    }

    /// The present place as bytes.
    ///
    /// # Errors
    /// If a block's state cannot be written.
    pub fn to_bytes(&self) -> Result<Vec<u8>, SnapshotError> {
        if self.pieces == 0 && self.fault.is_none() {
            return self.simulation.to_bytes();
        }
        self.simulation.to_bytes_since(&self.begin, self.pieces)
    }

    /// A step begins here.
    fn arrive(&mut self) {
        self.step = self.simulation.step_count();
        self.pieces = 0;
        if let Some(edit) = self.edits.iter().rev().find(|edit| edit.step == self.step) {
            let program = Arc::clone(&edit.program);
            // It was accepted here before, by the same blocks in the same state.
            if !Arc::ptr_eq(self.simulation.program(), &program) {
                let swapped = self.simulation.swap_parameters(&program);
                debug_assert!(swapped.is_ok(), "{swapped:?}");
            }
        }
        self.begin = self.simulation.snapshot();
        if self.kept.last().is_none_or(|kept| self.step >= kept.step + self.spacing) {
            self.keep();
        }
    }

    fn keep(&mut self) {
        self.kept.push(Kept {
            step: self.step,
            t: self.simulation.time(),
            program: Arc::clone(self.simulation.program()),
            snapshot: self.simulation.snapshot(),
        });
        if self.kept.len() > most_kept(self.simulation.program()) {
            let mut at = 0;
            self.kept.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.spacing *= 2;
        }
    }

    /// Repeats the present step up to `pieces`.
    fn rewind(&mut self, pieces: u64) -> Result<(), RunFault> {
        self.fault = None;
        self.simulation.restore(&self.begin)?;
        self.pieces = 0;
        while self.pieces < pieces {
            self.advance()?;
        }
        Ok(())
    }

    /// Goes to where only the last piece of the step before `step` has been done: its pieces are
    /// counted, and the run stands at its beginning with that number in `pieces`. False if the
    /// history begins with `step`.
    fn reach_end_of_step_before(&mut self, step: u64) -> Result<bool, RunFault> {
        let at = self.kept.partition_point(|kept| kept.step < step);
        let Some(at) = at.checked_sub(1) else { return Ok(false) };
        self.restore_kept(at)?;
        loop {
            let (begin, begun) = (self.simulation.snapshot(), self.step);
            let mut pieces = 0;
            while self.step == begun {
                self.advance()?;
                pieces += 1;
            }
            if self.step >= step {
                // The edit that may have entered at the end of this step lies ahead now.
                let program = self.program_at(begun);
                self.put(&program, &begin)?;
                (self.begin, self.step, self.pieces) = (begin, begun, pieces);
                self.forget_future();
                return Ok(true);
            }
        }
    }

    fn restore_kept(&mut self, at: usize) -> Result<(), RunFault> {
        self.fault = None;
        let kept = &self.kept[at];
        let (program, step) = (Arc::clone(&kept.program), kept.step);
        if !Arc::ptr_eq(self.simulation.program(), &program) {
            self.simulation = replaced(&mut self.simulation, &program);
        }
        self.simulation.restore(&self.kept[at].snapshot)?;
        self.begin = self.simulation.snapshot();
        (self.step, self.pieces) = (step, 0);
        Ok(())
    }

    fn put(&mut self, program: &Arc<Program>, snapshot: &Snapshot) -> Result<(), RunFault> {
        if !Arc::ptr_eq(self.simulation.program(), program) {
            self.simulation = replaced(&mut self.simulation, program);
        }
        self.simulation.restore(snapshot)
    }

    /// The program with which step `step` runs.
    fn program_at(&self, step: u64) -> Arc<Program> {
        let edit = self.edits.iter().rev().find(|edit| edit.step <= step);
        Arc::clone(edit.map_or(&self.kept[0].program, |edit| &edit.program))
    }

    /// What lies ahead is not to come true: edits and snapshots of it go.
    fn forget_future(&mut self) {
        let step = self.step;
        self.edits.retain(|edit| edit.step <= step);
        self.kept.retain(|kept| kept.step <= step);
    }
}

/// A simulation of `program` with the recorder and rows of `old`.
fn replaced(old: &mut Simulation, program: &Arc<Program>) -> Simulation {
    let mut new = Simulation::new(Arc::clone(program));
    std::mem::swap(new.observer_mut(), old.observer_mut());
    new.stop_as(old);
    new
}
