//! A running program: one arena, one state vector, one static order.
//!
//! A major step at tick k is, in order (semantics 3): outputs, guards and resets until none fires,
//! observe, update, integrate. [`Simulation::advance`] does one of these pieces at a time, a block
//! at a time; [`Simulation::step`] and [`Simulation::run`] do whole steps with the same code.

mod build;
mod finite;
mod guards;
mod snapshot;

use std::any::Any;
use std::sync::Arc;

use legwork_block::{Crossing, Fault, Instance, OutputIo, Report, Slot, Time, View};
use legwork_program::{Program, Rate};

use crate::fault::{Phase, RunFault};
use crate::observe::Observer;
use crate::recording::{Phase as RowPhase, Stamp};
use crate::solver::Integrator;

pub use snapshot::Snapshot;

/// One output group, ready to run.
#[derive(Debug, Clone, Copy)]
struct Task {
    node: u32,
    group: u16,
    rate: u16,
    own: Slot,
    x: Slot,
    pool: Option<u32>,
    minor: bool,
}

/// A block with something besides outputs: `update`, `derivative` or guards.
#[derive(Debug, Clone, Copy)]
struct Role {
    node: u32,
    rate: u16,
    x: Slot,
    /// Rates of the continuous state, or guards.
    own: Slot,
}

/// What the next call of [`Simulation::advance`] does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    program: Arc<Program>,
    instances: Vec<Box<dyn Instance>>,
    pool: Vec<Box<dyn Any + Send>>,
    arena: Vec<f64>,
    x: Vec<f64>,
    next_x: Vec<f64>,
    rates: Vec<f64>,
    tick: u64,
    /// Time of the present major step [s].
    now: f64,
    microstep: u32,
    cursor: Cursor,
    classes: Vec<Rate>,
    due: Vec<bool>,
    steps: Vec<f64>,
    tasks: Vec<Task>,
    updates: Vec<Role>,
    derivatives: Vec<Role>,
    guards: Vec<Role>,
    crossings: Vec<Crossing>,
    guard_values: Vec<f64>,
    armed: Vec<bool>,
    fired: Vec<bool>,
    integrator: Integrator,
    observer: Observer,
}

impl Simulation {
    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Time of the present major step [s].
    pub fn time(&self) -> f64 {
        self.now
    }

    fn set_tick(&mut self, tick: u64) {
        self.tick = tick;
        self.now = self.program.base.at(tick);
    }

    /// Tick of the present major step.
    pub fn tick(&self) -> u64 {
        self.tick
    }

    /// Resets done in the present major step.
    pub fn microstep(&self) -> u32 {
        self.microstep
    }

    /// What comes next.
    pub fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// Path of the block that comes next, if one does.
    pub fn next_block(&self) -> Option<&str> {
        let node = match self.cursor {
            Cursor::Output(i) => self.tasks.get(i)?.node,
            Cursor::Update(i) => self.updates.get(i)?.node,
            _ => return None,
        };
        Some(&self.program.nodes[node as usize].path)
    }

    /// All signals; [`Program::signals`] says where each lives.
    pub fn arena(&self) -> &[f64] {
        &self.arena
    }

    /// The continuous state; [`legwork_program::Node::continuous`] says where each block's lives.
    pub fn state(&self) -> &[f64] {
        &self.x
    }

    /// Checks, so far.
    pub fn observer(&self) -> &Observer {
        &self.observer
    }

    /// What recording is told; called at the observe phase of each major step.
    pub fn observer_mut(&mut self) -> &mut Observer {
        &mut self.observer
    }

    /// What the blocks report, in order of paths: (path, report).
    pub fn reports(&self) -> Vec<(&str, Report)> {
        let mut reports = Vec::new();
        for (node, instance) in self.program.nodes.iter().zip(&self.instances) {
            let mut report = Report::default();
            instance.report(&mut report);
            reports.push((node.path.as_str(), report));
        }
        reports
    }

    /// Runs to the stop time.
    ///
    /// # Errors
    /// The first fault; everything up to the last good row has been observed.
    pub fn run(&mut self) -> Result<(), RunFault> {
        while self.cursor != Cursor::Done {
            self.step()?;
        }
        Ok(())
    }

    /// Does the rest of the present major step; the next call begins at the next tick.
    ///
    /// # Errors
    /// The first fault.
    pub fn step(&mut self) -> Result<(), RunFault> {
        loop {
            self.advance_phase()?;
            if matches!(self.cursor, Cursor::Output(0) | Cursor::Done) && self.microstep == 0 {
                return Ok(());
            }
        }
    }

    /// Does one piece: one output group that is due, one block's update, or one other phase.
    ///
    /// # Errors
    /// The fault of that piece.
    pub fn advance(&mut self) -> Result<(), RunFault> {
        match self.cursor {
            Cursor::Output(i) => {
                if i == 0 {
                    self.begin_outputs();
                }
                let next = (i..self.tasks.len()).find(|&j| self.due[self.tasks[j].rate as usize]);
                match next {
                    Some(j) => {
                        self.output(j, false, 0.0)?;
                        self.cursor = Cursor::Output(j + 1);
                    }
                    None => self.cursor = Cursor::Output(self.tasks.len()),
                }
                let rest = match self.cursor {
                    Cursor::Output(j) => j,
                    _ => self.tasks.len(),
                };
                if !(rest..self.tasks.len()).any(|j| self.due[self.tasks[j].rate as usize]) {
                    self.check_finite()?;
                    self.cursor = Cursor::Guards;
                }
                Ok(())
            }
            Cursor::Update(i) => {
                let next =
                    (i..self.updates.len()).find(|&j| self.due[self.updates[j].rate as usize]);
                match next {
                    Some(j) => {
                        self.update(j)?;
                        self.cursor = Cursor::Update(j + 1);
                    }
                    None => self.cursor = Cursor::Integrate,
                }
                Ok(())
            }
            _ => self.advance_phase(),
        }
    }

    /// Does the rest of the present phase.
    fn advance_phase(&mut self) -> Result<(), RunFault> {
        match self.cursor {
            Cursor::Output(first) => {
                if first == 0 {
                    self.begin_outputs();
                }
                for i in first..self.tasks.len() {
                    if self.due[self.tasks[i].rate as usize] {
                        self.output(i, false, 0.0)?;
                    }
                }
                self.check_finite()?;
                self.cursor = Cursor::Guards;
            }
            Cursor::Guards => {
                let reset = !self.guards.is_empty() && self.test_guards()?;
                self.cursor = if reset { Cursor::Output(0) } else { Cursor::Observe };
            }
            Cursor::Observe => {
                self.observe();
                self.cursor = if self.tick >= self.program.stop_tick {
                    self.microstep = 0;
                    Cursor::Done
                } else {
                    Cursor::Update(0)
                };
            }
            Cursor::Update(first) => {
                for i in first..self.updates.len() {
                    if self.due[self.updates[i].rate as usize] {
                        self.update(i)?;
                    }
                }
                self.cursor = Cursor::Integrate;
            }
            Cursor::Integrate => {
                self.integrate()?;
                self.set_tick(self.tick + self.program.step_ticks);
                self.microstep = 0;
                self.cursor = Cursor::Output(0);
            }
            Cursor::Done => {}
        }
        Ok(())
    }

    /// Finds which rates are due and empties memos.
    fn begin_outputs(&mut self) {
        for (due, rate) in self.due.iter_mut().zip(&self.classes) {
            *due = rate.due(self.tick);
        }
        for role in &self.updates {
            if self.due[role.rate as usize] {
                self.instances[role.node as usize].begin_step();
            }
        }
    }

    #[inline]
    fn clock(&self, rate: u16, minor: bool, offset: f64) -> Time {
        Time { t: self.now + offset, step: self.steps[rate as usize], minor }
    }

    #[inline]
    fn output(&mut self, i: usize, minor: bool, offset: f64) -> Result<(), RunFault> {
        let task = self.tasks[i];
        let time = self.clock(task.rate, minor, offset);
        let (before, rest) = self.arena.split_at_mut(task.own.start as usize);
        let (shared, shared_own) = match task.pool {
            None => (&self.pool[..], None),
            Some(id) => {
                let (earlier, rest) = self.pool.split_at_mut(id as usize);
                (&*earlier, rest.first_mut())
            }
        };
        let io = OutputIo {
            time,
            group: task.group as usize,
            x: &self.x[task.x.range()],
            before,
            own: &mut rest[..task.own.len as usize],
            own_start: task.own.start,
            shared,
            shared_own,
        };
        match self.instances[task.node as usize].output(io) {
            Ok(()) => Ok(()),
            Err(fault) => Err(self.output_fault(i, *fault)),
        }
    }

    /// A block that faults on numbers that are no numbers is not to blame: the first output that
    /// is not finite is.
    #[cold]
    fn output_fault(&self, i: usize, fault: Fault) -> RunFault {
        self.find_not_finite(&self.tasks[..i])
            .unwrap_or_else(|| self.fault_at(self.tasks[i].node, Phase::Output, fault))
    }

    #[cold]
    fn fault_at(&self, node: u32, phase: Phase, fault: Fault) -> RunFault {
        let node = &self.program.nodes[node as usize];
        RunFault {
            t: self.time(),
            tick: self.tick,
            phase,
            block: node.path.clone(),
            fault,
            span: node.span,
        }
    }

    fn observe(&mut self) {
        let phase = if self.microstep > 0 { RowPhase::Event } else { RowPhase::Step };
        let nanoseconds = self.program.base.nanoseconds(self.tick);
        let stamp =
            Stamp { t: self.time(), ..Stamp::new(self.tick, self.microstep, phase, nanoseconds) };
        self.observer.observe(&self.program, stamp, &self.arena);
    }

    fn update(&mut self, i: usize) -> Result<(), RunFault> {
        let role = self.updates[i];
        let time = self.clock(role.rate, false, 0.0);
        let view = View { time, arena: &self.arena, shared: &self.pool };
        match self.instances[role.node as usize].update(view, &self.x[role.x.range()]) {
            Ok(()) => Ok(()),
            Err(fault) => Err(self.fault_at(role.node, Phase::Update, *fault)),
        }
    }

    fn integrate(&mut self) -> Result<(), RunFault> {
        if self.derivatives.is_empty() {
            return Ok(());
        }
        let h = self.program.base.at(self.program.step_ticks);
        // The solver and its vectors leave `self` for the step, so that stages can run its blocks.
        let mut x = std::mem::take(&mut self.next_x);
        x.copy_from_slice(&self.x);
        let mut rates = std::mem::take(&mut self.rates);
        let mut integrator = std::mem::replace(&mut self.integrator, Integrator::empty());
        let outcome = self.derivatives(0.0, false, &x, &mut rates).and_then(|()| {
            integrator.advance(h, &mut x, &mut rates, |offset, x, rates| {
                self.minor_outputs(offset, x)?;
                self.derivatives(offset, true, x, rates)
            })
        });
        self.x.copy_from_slice(&x);
        self.next_x = x;
        self.rates = rates;
        self.integrator = integrator;
        outcome
    }

    /// Outputs of continuous groups at a stage.
    fn minor_outputs(&mut self, offset: f64, x: &[f64]) -> Result<(), RunFault> {
        self.x.copy_from_slice(x);
        for i in 0..self.tasks.len() {
            if self.tasks[i].minor {
                self.output(i, true, offset)?;
            }
        }
        Ok(())
    }

    fn derivatives(
        &mut self,
        offset: f64,
        minor: bool,
        x: &[f64],
        rates: &mut [f64],
    ) -> Result<(), RunFault> {
        for d in 0..self.derivatives.len() {
            let role = self.derivatives[d];
            let time = self.clock(role.rate, minor, offset);
            let view = View { time, arena: &self.arena, shared: &self.pool };
            let outcome = self.instances[role.node as usize].derivative(
                view,
                &x[role.x.range()],
                &mut rates[role.own.range()],
            );
            if let Err(fault) = outcome {
                return Err(self.fault_at(role.node, Phase::Integrate, *fault));
            }
        }
        Ok(())
    }
}
