//! A running program: one arena, one state vector, one static order.
//!
//! A major step is, in order (semantics 3): outputs, guards and resets until none fires, observe,
//! update, integrate. [`Simulation::advance`] does one of these pieces at a time, a block at a
//! time; [`Simulation::step`] and [`Simulation::run`] do whole steps with the same code.
//!
//! Major steps are at every tick of the fixed step; where the solver chooses its own steps, at the
//! hits of all rates, at multiples of the longest step, and at located events.

mod blocks;
mod finite;
mod fork;
mod guards;
mod integrate;
mod loops;
mod outputs;
mod placement;
mod plan;
mod profile;
mod snapshot;
mod snapshot_file;
mod state;
mod swap;
mod work;

use std::sync::Arc;

use legwork_block::{Fault, Report, View};
use legwork_program::{NodeId, Program, Rate};
use serde::{Deserialize, Serialize};

use crate::chart::Chart;
use crate::fault::{Phase, RunFault};
use crate::moment::Moment;
use crate::observe::{CheckState, Observer};
use crate::recording::{Phase as RowPhase, Stamp};
use crate::solver::Method;
use blocks::Blocks;
use plan::Plan;
use work::Work;

pub use fork::{Carried, ForkError};
pub(crate) use placement::Held;
pub use profile::{BlockTime, Spent};
pub use snapshot::Snapshot;
pub use snapshot_file::{SnapshotError, SnapshotHeader};
use state::State;
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
pub struct Simulation {
    plan: Plan,
    state: State,
    blocks: Blocks,
    work: Work,
    next_x: Vec<f64>,
    rates: Vec<f64>,
    /// Guard values at both sides of the bracket of an event.
    guard_before: Vec<f64>,
    far_values: Vec<f64>,
    chart: Chart,
    method: Method,
    /// Coordinates in the chart, and their rate.
    u: Vec<f64>,
    u_rate: Vec<f64>,
    observer: Observer,
    /// What blocks take, if that is measured.
    profile: Option<profile::Profile>,
}

impl Simulation {
    /// Everything at t = 0, before the first outputs.
    pub fn new(program: Arc<Program>) -> Self {
        let (blocks, x) = Blocks::new(&program);
        let plan = Plan::new(program);
        let program = &plan.program;
        let guard_count = plan.crossings.len();
        let chart = Chart::new(program);
        let coordinates = chart.len();
        Self {
            method: Method::new(program.run.solver, coordinates),
            chart,
            u: vec![0.0; coordinates],
            u_rate: vec![0.0; coordinates],
            rates: vec![0.0; program.rate_len],
            next_x: x.clone(),
            guard_before: vec![0.0; guard_count],
            far_values: vec![0.0; guard_count],
            state: State::new(program, x, guard_count),
            work: Work::new(&plan),
            blocks,
            plan,
            observer: Observer::default(),
            profile: None,
        }
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.plan.program
    }

    /// Time of the present major step [s].
    pub fn time(&self) -> f64 {
        self.work.now
    }

    fn set_moment(&mut self, moment: Moment) {
        self.state.moment = moment;
        self.work.now = moment.time(self.plan.program.base);
    }

    /// Tick of the present major step; an event lies after it, before the next tick.
    pub fn tick(&self) -> u64 {
        self.state.moment.tick
    }

    /// When the present major step is (semantics 3.1).
    pub fn moment(&self) -> Moment {
        self.state.moment
    }

    /// Major steps that are behind.
    pub fn step_count(&self) -> u64 {
        self.state.step_count
    }

    /// The block that ended the run before its stop time, once it has.
    pub fn stopped_by(&self) -> Option<&str> {
        Some(&self.plan.program.nodes[self.state.stopped_by?].path)
    }

    /// Resets done in the present major step.
    pub fn microstep(&self) -> u32 {
        self.state.microstep
    }

    /// What comes next.
    pub fn cursor(&self) -> Cursor {
        self.state.cursor
    }

    /// Path of the block that comes next, if one does.
    pub fn next_block(&self) -> Option<&str> {
        Some(&self.plan.program.nodes[self.next_node()?].path)
    }

    /// Index of the block that comes next, if one does.
    pub fn next_node(&self) -> Option<usize> {
        self.coming().next()
    }

    /// Indices of the blocks that come in the rest of the present phase: outputs or updates.
    pub fn coming(&self) -> impl Iterator<Item = usize> + '_ {
        let (outputs, updates) = match self.state.cursor {
            Cursor::Output(first) => (first, self.plan.updates.len()),
            Cursor::Update(first) => (self.plan.tasks.len(), first),
            _ => (self.plan.tasks.len(), self.plan.updates.len()),
        };
        let due_outputs = self.plan.tasks[outputs..]
            .iter()
            .filter(|task| self.is_rate_due(task.rate))
            .map(|task| task.node.index());
        let due_updates = self.plan.updates[updates..]
            .iter()
            .filter(|role| self.is_rate_due(role.rate))
            .map(|role| role.node.index());
        due_outputs.chain(due_updates)
    }

    /// Place in [`Program::schedule`] of the output group that comes next, if one does.
    pub fn next_output(&self) -> Option<usize> {
        let Cursor::Output(first) = self.state.cursor else { return None };
        (first..self.plan.tasks.len()).find(|&i| self.is_rate_due(self.plan.tasks[i].rate))
    }

    /// Whether the blocks of a rate are due in the major step that goes on or comes next.
    fn is_rate_due(&self, rate: u16) -> bool {
        self.due_at(self.plan.classes[rate as usize])
    }

    fn due_at(&self, rate: Rate) -> bool {
        rate == Rate::Continuous
            || (self.state.moment.is_tick() && rate.due(self.state.moment.tick))
    }

    /// All signals; [`Program::signals`] says where each lives.
    pub fn arena(&self) -> &[f64] {
        &self.state.arena
    }

    /// The continuous state; [`legwork_program::Node::continuous`] says where each block's lives.
    pub fn state(&self) -> &[f64] {
        &self.state.x
    }

    /// How the checks stand, in the order of [`Program::checks`].
    pub fn checks(&self) -> &[CheckState] {
        &self.state.checks
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
        self.blocks.instances[node].state_json()
    }

    /// What the blocks report, those of functions included, in order of paths: (path, report).
    pub fn reports(&self) -> Vec<(&str, Report)> {
        let mut reports = Vec::new();
        for (node, instance) in self.plan.program.nodes.iter().zip(&self.blocks.instances) {
            let mut report = Report::default();
            instance.report(&mut report);
            self.report_loop(reports.len(), &mut report);
            reports.push((node.path.as_str(), report));
            instance.function_reports(&mut reports);
        }
        reports.sort_by_key(|(path, _)| *path);
        reports
    }

    /// Runs to the stop time.
    ///
    /// # Errors
    /// The first fault; everything up to the last good row has been observed.
    pub fn run(&mut self) -> Result<(), RunFault> {
        while self.state.cursor != Cursor::Done {
            self.step()?;
        }
        Ok(())
    }

    /// Does the rest of the present major step; the next call begins with the next one.
    ///
    /// # Errors
    /// The first fault.
    pub fn step(&mut self) -> Result<(), RunFault> {
        loop {
            self.advance_phase()?;
            if self.is_between_steps() {
                return Ok(());
            }
        }
    }

    /// Does one piece: one output group that is due, one block's update, or one other phase.
    ///
    /// # Errors
    /// The fault of that piece.
    pub fn advance(&mut self) -> Result<(), RunFault> {
        match self.state.cursor {
            Cursor::Output(i) => {
                if i == 0 {
                    self.begin_outputs();
                }
                let next = (i..self.plan.tasks.len())
                    .find(|&j| self.is_due(j))
                    .map_or(self.plan.tasks.len(), |j| j + 1);
                self.major_outputs(i..next)?;
                self.state.cursor = Cursor::Output(next);
                if !(next..self.plan.tasks.len()).any(|j| self.is_due(j)) {
                    self.major_outputs(next..self.plan.tasks.len())?;
                    self.check_finite()?;
                    self.state.cursor = Cursor::Guards;
                }
                Ok(())
            }
            Cursor::Update(i) => {
                let next = (i..self.plan.updates.len())
                    .find(|&j| self.work.due[self.plan.updates[j].rate as usize]);
                if let Some(j) = next {
                    self.update(j)?;
                    self.state.cursor = Cursor::Update(j + 1);
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
        if let Cursor::Update(first) = self.state.cursor
            && !self.plan.updates[first..].iter().any(|role| self.work.due[role.rate as usize])
        {
            self.commit_loops();
            self.state.cursor = Cursor::Integrate;
        }
    }

    /// Whether a major step has ended and the next has not begun: only then edits enter, and
    /// snapshots are written as bytes.
    pub fn is_between_steps(&self) -> bool {
        self.state.is_between_steps()
    }

    /// Does the rest of the present phase.
    fn advance_phase(&mut self) -> Result<(), RunFault> {
        match self.state.cursor {
            Cursor::Output(first) => {
                if first == 0 {
                    self.begin_outputs();
                }
                self.major_outputs(first..self.plan.tasks.len())?;
                self.check_finite()?;
                self.state.cursor = Cursor::Guards;
            }
            Cursor::Guards => {
                let reset = !self.plan.guards.is_empty() && self.test_guards()?;
                self.state.cursor = if reset { Cursor::Output(0) } else { Cursor::Observe };
            }
            Cursor::Observe => {
                self.observe();
                let stop = self.plan.program.stops.iter();
                self.state.stopped_by = stop
                    .filter(|stop| self.state.arena[stop.slot.index()] != 0.0)
                    .map(|s| s.node)
                    .next();
                let ends = self.state.moment.tick >= self.plan.program.stop_tick
                    || self.state.stopped_by.is_some();
                self.state.cursor = if ends {
                    self.state.microstep = 0;
                    Cursor::Done
                } else {
                    Cursor::Update(0)
                };
            }
            Cursor::Update(first) => {
                for i in first..self.plan.updates.len() {
                    if self.work.due[self.plan.updates[i].rate as usize] {
                        self.update(i)?;
                    }
                }
                self.commit_loops();
                self.state.cursor = Cursor::Integrate;
            }
            Cursor::Integrate => {
                self.integrate()?;
                self.state.step_count += 1;
                self.state.cursor = Cursor::Output(0);
            }
            Cursor::Done => {}
        }
        Ok(())
    }

    #[cold]
    fn fault_at(&self, node: NodeId, phase: Phase, fault: Fault) -> RunFault {
        let node = &self.plan.program.nodes[node];
        RunFault {
            t: self.time(),
            tick: self.state.moment.tick,
            phase,
            block: node.path.clone(),
            fault,
            span: node.span,
        }
    }

    /// The solutions of algebraic loops are what their next solves begin with.
    fn commit_loops(&mut self) {
        for memory in &mut self.state.loops {
            memory.commit();
        }
    }

    fn observe(&mut self) {
        let phase = if self.state.microstep > 0 { RowPhase::Event } else { RowPhase::Step };
        let Moment { tick, .. } = self.state.moment;
        let nanoseconds = self.state.moment.nanoseconds(self.plan.program.base);
        let stamp =
            Stamp { t: self.time(), ..Stamp::new(tick, self.state.microstep, phase, nanoseconds) };
        let at_tick = self.state.moment.is_tick();
        self.observer.observe(&self.plan.program, stamp, at_tick, &self.state.arena);
        for (check, state) in self.plan.program.checks.iter().zip(&mut self.state.checks) {
            state.see(check, stamp, at_tick, &self.state.arena);
        }
    }

    fn update(&mut self, i: usize) -> Result<(), RunFault> {
        let role = self.plan.updates[i];
        if !self.is_on(role.gate) {
            return Ok(());
        }
        let time = self.clock(role.rate, false, 0.0);
        let view = View { time, arena: &self.state.arena, shared: &self.blocks.pool };
        match self.blocks.instances[role.node.index()].update(view, &self.state.x[role.x.range()]) {
            Ok(()) => Ok(()),
            Err(fault) => Err(self.fault_at(role.node, Phase::Update, *fault)),
        }
    }
}
