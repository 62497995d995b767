//! A running program: one arena, one state vector, one static order.
//!
//! A major step is, in order (semantics 3): outputs, guards and resets until none fires, observe,
//! update, integrate. [`Simulation::advance`] does one of these pieces at a time, a block at a
//! time; [`Simulation::step`] and [`Simulation::run`] do whole steps with the same code.
//!
//! Major steps are at every tick of the fixed step; where the solver chooses its own steps, at the
//! hits of all rates, at multiples of the longest step, and at located events.
//!
//! What a run consists of is kept apart by how it changes:
//!
//! - `Plan`: tasks, roles, guards, classes of rates. It follows from the program and never
//!   changes; an edit of parameters brings another.
//! - `State`: time, signals, continuous state, guards, loops, checks. A snapshot is a copy of it.
//! - `Blocks`: the blocks, which keep their discrete states themselves. A snapshot asks each.
//! - `Work`: scratch memory and what follows from plan and state. No snapshot holds it.
//!
//! An `Engine` has these four and runs blocks at a moment. The `Integrator` beside it has the
//! method and its scratch memory, and borrows the engine for the stages of a step. Of the method a
//! snapshot holds the Jacobian that it goes on with.

mod blocks;
mod engine;
mod events;
mod finite;
mod fork;
mod growth;
mod guards;
mod inputs;
mod integrate;
mod loops;
mod opened;
mod outputs;
mod placement;
mod plan;
mod profile;
mod slopes;
mod snapshot;
mod snapshot_file;
mod state;
mod swap;
mod watched;
mod work;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use legwork_block::{Fault, Report, Slot, cancel};
use legwork_program::Program;
use serde::{Deserialize, Serialize};

use crate::fault::RunFault;
use crate::judge;
use crate::moment::Moment;
use crate::observe::{CheckState, Observer};
use crate::recording::{Phase as RowPhase, Stamp};

use blocks::Blocks;
use engine::Engine;
use integrate::Integrator;
use watched::Watched;

pub use fork::{Carried, ForkError};
pub(crate) use opened::Opened;
pub(crate) use placement::Held;
pub use profile::{BlockTime, Spent};
pub use snapshot::Snapshot;
pub use snapshot_file::{SnapshotError, SnapshotHeader};
pub use swap::SwapError;

/// What the next call of [`Simulation::advance`] does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cursor {
    /// Computes the output group at this place of the schedule.
    Output(usize),
    /// Tests guards and resets.
    Guards,
    /// Records and checks.
    Observe,
    /// Advances the discrete state of the block at this place of the update order.
    Update(usize),
    /// Advances continuous state and time.
    Integrate,
    /// Nothing: the run has ended.
    Done,
}

/// A running program.
///
/// [`Simulation::new`] stands at t = 0; [`Simulation::snapshot`] and [`Simulation::to_bytes`] take
/// a copy of what shapes its future, [`Simulation::restore`] and [`Simulation::from_bytes`] go on
/// from one, and [`Simulation::fork`] goes on as another program.
pub struct Simulation {
    engine: Engine,
    integrator: Integrator,
    observer: Observer,
    /// What blocks take, if that is measured.
    profile: Option<profile::Profile>,
}

impl Simulation {
    /// Everything at t = 0, before the first outputs.
    pub fn new(program: Arc<Program>) -> Self {
        let blocks = Blocks::new(&program);
        Self::of(Engine::new(program, blocks))
    }

    /// As [`Self::new`], for a run at whose signals nobody looks by [`Self::arena`]: blocks may
    /// leave out what neither another block nor a check nor the log reads. What is recorded and
    /// reported is the same.
    pub fn unwatched(program: Arc<Program>) -> Self {
        let blocks = Blocks::watched(&program, Watched::Run);
        Self::of(Engine::new(program, blocks))
    }

    /// As [`Self::new`], for who looks at these slots of [`Self::arena`] alone: what nobody else
    /// reads is left out, down to blocks and values of `judge:`; nothing is recorded, and checks
    /// are not asked.
    pub fn watched_at(program: Arc<Program>, slots: Vec<Slot>) -> Self {
        let blocks = Blocks::watched(&program, Watched::Only(slots));
        Self::of(Engine::new(program, blocks))
    }

    fn of(engine: Engine) -> Self {
        Self {
            integrator: Integrator::new(&engine.plan),
            engine,
            observer: Observer::default(),
            profile: None,
        }
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.engine.plan.program
    }

    /// Time of the present major step [s].
    pub fn time(&self) -> f64 {
        self.engine.work.now
    }

    /// Tick of the present major step; an event lies after it, before the next tick.
    pub fn tick(&self) -> u64 {
        self.engine.state.moment.tick
    }

    /// When the present major step is (semantics 3.1).
    pub fn moment(&self) -> Moment {
        self.engine.state.moment
    }

    /// Major steps that are behind.
    pub fn step_count(&self) -> u64 {
        self.engine.state.step_count
    }

    /// The block that ended the run before its stop time, once it has.
    pub fn stopped_by(&self) -> Option<&str> {
        Some(&self.engine.plan.program.nodes[self.engine.state.stopped_by?].path)
    }

    /// Resets done in the present major step.
    pub fn microstep(&self) -> u32 {
        self.engine.state.microstep
    }

    /// What comes next.
    pub fn cursor(&self) -> Cursor {
        self.engine.state.cursor
    }

    /// Path of the block that comes next, if one does.
    pub fn next_block(&self) -> Option<&str> {
        Some(&self.engine.plan.program.nodes[self.next_node()?].path)
    }

    /// Index of the block that comes next, if one does.
    pub fn next_node(&self) -> Option<usize> {
        self.coming().next()
    }

    /// Indices of the blocks that come in the rest of the present phase: outputs or updates.
    pub fn coming(&self) -> impl Iterator<Item = usize> + '_ {
        let (outputs, updates) = match self.engine.state.cursor {
            Cursor::Output(first) => (first, self.engine.plan.updates.len()),
            Cursor::Update(first) => (self.engine.plan.tasks.len(), first),
            _ => (self.engine.plan.tasks.len(), self.engine.plan.updates.len()),
        };
        let due_outputs = self.engine.plan.tasks[outputs..]
            .iter()
            .filter(|task| self.engine.is_rate_due(task.rate))
            .map(|task| task.node.index());
        let due_updates = self.engine.plan.updates[updates..]
            .iter()
            .filter(|role| self.engine.is_rate_due(role.rate))
            .map(|role| role.node.index());
        due_outputs.chain(due_updates)
    }

    /// Place in [`Program::schedule`] of the output group that comes next, if one does.
    pub fn next_output(&self) -> Option<usize> {
        let Cursor::Output(first) = self.engine.state.cursor else { return None };
        (first..self.engine.plan.tasks.len())
            .find(|&i| self.engine.is_rate_due(self.engine.plan.tasks[i].rate))
    }

    /// All signals; [`Program::signals`] says where each lives.
    pub fn arena(&self) -> &[f64] {
        &self.engine.state.arena
    }

    /// The continuous state; [`legwork_program::Node::continuous`] says where each block's lives.
    pub fn state(&self) -> &[f64] {
        &self.engine.state.x
    }

    /// How the checks stand, in the order of [`Program::checks`].
    pub fn checks(&self) -> &[CheckState] {
        &self.engine.state.checks
    }

    /// Where rows go.
    pub fn observer(&self) -> &Observer {
        &self.observer
    }

    /// What recording is told; called at the observe phase of each major step.
    pub fn observer_mut(&mut self) -> &mut Observer {
        &mut self.observer
    }

    /// The discrete state of a block as data, by its index among the program's.
    ///
    /// # Errors
    /// If the state cannot be written as JSON.
    pub fn state_json(&self, node: usize) -> Result<serde_json::Value, Box<Fault>> {
        self.engine.blocks.instances[node].state_json()
    }

    /// What the blocks report, those of functions included, in order of paths: (path, report).
    pub fn reports(&self) -> Vec<(&str, Report)> {
        let mut reports = Vec::new();
        for (node, instance) in
            self.engine.plan.program.nodes.iter().zip(&self.engine.blocks.instances)
        {
            let mut report = Report::default();
            instance.report(&mut report);
            self.engine.report_loop(reports.len(), &mut report);
            reports.push((node.path.as_str(), report));
            instance.function_reports(&mut reports);
        }
        reports.sort_by_key(|(path, _)| *path);
        reports
    }

    /// Leaves a step when this flag is set and the step does not end by itself soon, between two of
    /// its stages or inside a solver that looks at [`cancel::check`], with a fault;
    /// [`Simulation::was_stopped`] tells it from others. The state is then that of no moment: go on
    /// from a snapshot. Between steps the flag changes nothing.
    pub fn stop_by(&mut self, flag: Arc<AtomicBool>) {
        self.engine.stop.flag = Some(flag);
    }

    /// Heeds the same flag as another.
    pub(crate) fn stop_as(&mut self, other: &Self) {
        self.engine.stop.flag.clone_from(&other.engine.stop.flag);
    }

    /// Whether it is asked to stop.
    pub(crate) fn is_to_stop(&self) -> bool {
        self.engine.stop.flag.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Whether the last fault was a step that was left by [`Simulation::stop_by`].
    pub fn was_stopped(&self) -> bool {
        self.engine.stop.heard
    }

    /// Runs to the stop time.
    ///
    /// # Errors
    /// The first fault; everything up to the last good row has been observed.
    pub fn run(&mut self) -> Result<(), RunFault> {
        while self.engine.state.cursor != Cursor::Done {
            self.step()?;
        }
        Ok(())
    }

    /// Does the rest of the present major step; the next call begins with the next one.
    ///
    /// # Errors
    /// The first fault.
    pub fn step(&mut self) -> Result<(), RunFault> {
        self.heeding(|simulation| {
            loop {
                simulation.advance_phase()?;
                if simulation.is_between_steps() {
                    return Ok(());
                }
            }
        })
    }

    /// Does `work`, which ends early if the simulation is asked to stop.
    fn heeding(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<(), RunFault>,
    ) -> Result<(), RunFault> {
        let outcome = match self.engine.stop.flag.take() {
            None => work(self),
            Some(flag) => {
                let outcome = cancel::scope(&flag, || work(self));
                self.engine.stop.flag = Some(flag);
                outcome.unwrap_or_else(|_| Err(self.engine.stopped()))
            }
        };
        outcome.map_err(|fault| self.engine.told(fault))
    }

    /// Does one piece: one output group that is due, one block's update, or one other phase.
    ///
    /// # Errors
    /// The fault of that piece.
    pub fn advance(&mut self) -> Result<(), RunFault> {
        self.heeding(Self::advance_piece)
    }

    fn advance_piece(&mut self) -> Result<(), RunFault> {
        match self.engine.state.cursor {
            Cursor::Output(i) => {
                if i == 0 {
                    self.engine.begin_outputs();
                }
                let next = (i..self.engine.plan.tasks.len())
                    .find(|&j| self.engine.is_due(j))
                    .map_or(self.engine.plan.tasks.len(), |j| j + 1);
                self.engine.major_outputs(i..next)?;
                self.engine.state.cursor = Cursor::Output(next);
                if !(next..self.engine.plan.tasks.len()).any(|j| self.engine.is_due(j)) {
                    self.engine.major_outputs(next..self.engine.plan.tasks.len())?;
                    self.engine.check_finite()?;
                    self.engine.state.cursor = Cursor::Guards;
                }
                Ok(())
            }
            Cursor::Update(i) => {
                let next = (i..self.engine.plan.updates.len())
                    .find(|&j| self.engine.work.due[self.engine.plan.updates[j].rate as usize]);
                if let Some(j) = next {
                    self.engine.update(j)?;
                    self.engine.state.cursor = Cursor::Update(j + 1);
                }
                self.end_updates();
                Ok(())
            }
            _ => {
                self.advance_phase()?;
                self.end_updates();
                Ok(())
            }
        }
    }

    /// Goes on to integration if the cursor stands at an update and none is left.
    fn end_updates(&mut self) {
        if let Cursor::Update(first) = self.engine.state.cursor
            && !self.engine.plan.updates[first..]
                .iter()
                .any(|role| self.engine.work.due[role.rate as usize])
        {
            self.engine.commit_loops();
            self.engine.state.cursor = Cursor::Integrate;
        }
    }

    /// Whether a major step has ended and the next has not begun: only then edits enter, and
    /// snapshots are written as bytes.
    pub fn is_between_steps(&self) -> bool {
        self.engine.state.is_between_steps()
    }

    /// Does the rest of the present phase.
    fn advance_phase(&mut self) -> Result<(), RunFault> {
        match self.engine.state.cursor {
            Cursor::Output(first) => {
                if first == 0 {
                    self.engine.begin_outputs();
                }
                self.engine.major_outputs(first..self.engine.plan.tasks.len())?;
                self.engine.check_finite()?;
                self.engine.state.cursor = Cursor::Guards;
            }
            Cursor::Guards => {
                self.engine.work.ahead = false;
                let reset = !self.engine.plan.guards.is_empty() && self.engine.test_guards()?;
                self.engine.state.cursor = if reset { Cursor::Output(0) } else { Cursor::Observe };
            }
            Cursor::Observe => {
                self.observe();
                let stop = self.engine.plan.program.stops.iter();
                self.engine.state.stopped_by = stop
                    .filter(|stop| self.engine.state.arena[stop.slot.index()] != 0.0)
                    .map(|s| s.node)
                    .next();
                let ends = self.engine.state.moment.tick >= self.engine.plan.program.stop_tick
                    || self.engine.state.stopped_by.is_some();
                self.engine.state.cursor = if ends {
                    self.engine.state.microstep = 0;
                    Cursor::Done
                } else {
                    Cursor::Update(0)
                };
            }
            Cursor::Update(first) => {
                for i in first..self.engine.plan.updates.len() {
                    if self.engine.work.due[self.engine.plan.updates[i].rate as usize] {
                        self.engine.update(i)?;
                    }
                }
                self.engine.commit_loops();
                self.engine.state.cursor = Cursor::Integrate;
            }
            Cursor::Integrate => {
                self.engine.note_growth();
                self.integrate()?;
                self.engine.state.step_count += 1;
                self.engine.state.cursor = Cursor::Output(0);
            }
            Cursor::Done => {}
        }
        Ok(())
    }

    fn observe(&mut self) {
        let phase = if self.engine.state.microstep > 0 { RowPhase::Event } else { RowPhase::Step };
        let Moment { tick, .. } = self.engine.state.moment;
        let nanoseconds = self.engine.state.moment.nanoseconds(self.engine.plan.program.base);
        let stamp = Stamp {
            t: self.time(),
            ..Stamp::new(tick, self.engine.state.microstep, phase, nanoseconds)
        };
        let at_tick = self.engine.state.moment.is_tick();
        let state::State { judge, arena, .. } = &mut self.engine.state;
        if self.engine.plan.judges {
            judge::see(&self.engine.plan.program, judge, stamp, at_tick, arena);
        }
        if matches!(self.engine.blocks.watched, Watched::Only(_)) {
            return;
        }
        self.observer.observe(&self.engine.plan.log, stamp, at_tick, &self.engine.state.arena);
        for (check, state) in
            self.engine.plan.program.checks.iter().zip(&mut self.engine.state.checks)
        {
            state.see(check, stamp, at_tick, &self.engine.state.arena);
        }
    }
}
