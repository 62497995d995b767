//! A running program: one arena, one state vector, one static order.
//!
//! A major step at tick k is, in order (semantics 3): outputs, guards and resets until none fires,
//! observe, update, integrate. [`Simulation::advance`] does one of these pieces at a time, a block
//! at a time; [`Simulation::step`] and [`Simulation::run`] do whole steps with the same code.

use std::any::Any;
use std::sync::Arc;

use legwork_block::{
    Crossing, Fault, Instance, Manifold, OutputIo, Report, Slot, Span, Time, View,
};
use legwork_program::{Program, Rate};

use crate::fault::{Phase, RunFault};
use crate::observe::Observer;
use crate::recording::{Phase as RowPhase, Stamp};
use crate::solver::Integrator;

/// More microsteps than this in one major step are a fault (semantics 3.7).
const MAX_MICROSTEPS: u32 = 64;

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
    /// Everything at t = 0, before the first outputs.
    pub fn new(program: Arc<Program>) -> Self {
        let mut classes: Vec<Rate> = Vec::new();
        let mut class = |rate: Rate| {
            let found = classes.iter().position(|&known| known == rate);
            found.unwrap_or_else(|| {
                classes.push(rate);
                classes.len() - 1
            }) as u16
        };
        let mut x = vec![0.0; program.state_len];
        let mut instances = Vec::with_capacity(program.nodes.len());
        let mut pool: Vec<Option<Box<dyn Any + Send>>> =
            (0..program.pool_len).map(|_| None).collect();
        let mut no_x = [];
        let (mut updates, mut derivatives, mut guards) = (Vec::new(), Vec::new(), Vec::new());
        let mut crossings = Vec::new();
        for (i, node) in program.nodes.iter().enumerate() {
            let x_slot = node.continuous.as_ref().map_or(Slot::default(), |placed| placed.x);
            let own_x: &mut [f64] =
                if x_slot.len == 0 { &mut no_x } else { &mut x[x_slot.range()] };
            if let Some(placed) = &node.continuous {
                unit_quaternions(&placed.state, &placed.parts, own_x);
            }
            let (instance, pooled) = node.block.instantiate(node.io.clone(), &node.vars, own_x);
            instances.push(instance);
            if let (Some(id), Some(value)) = (node.pool, pooled) {
                pool[id as usize] = Some(value);
            }
            let role = Role { node: i as u32, rate: class(node.rate), x: x_slot, own: x_slot };
            if node.updates {
                updates.push(role);
            }
            if let Some(placed) = &node.continuous {
                derivatives.push(Role { own: placed.rate, ..role });
            }
            if !node.guards.is_empty() {
                let own = Slot { start: crossings.len() as u32, len: node.guards.len() as u32 };
                crossings.extend_from_slice(&node.guards);
                guards.push(Role { own, ..role });
            }
        }
        let tasks = program
            .schedule
            .iter()
            .map(|step| {
                let node = &program.nodes[step.node as usize];
                Task {
                    node: step.node,
                    group: step.group,
                    rate: class(step.rate),
                    own: step.own,
                    x: node.continuous.as_ref().map_or(Slot::default(), |placed| placed.x),
                    pool: node.pool,
                    minor: step.minor,
                }
            })
            .collect();
        let base = program.base;
        let step = base.at(program.step_ticks);
        let steps = classes
            .iter()
            .map(|rate| match rate {
                Rate::Periodic { period, .. } => base.at(*period),
                _ => step,
            })
            .collect();
        let guard_count = crossings.len();
        Self {
            integrator: Integrator::new(&program),
            observer: Observer::new(&program),
            instances,
            pool: pool
                .into_iter()
                .map(|value| value.unwrap_or_else(|| Box::new(()) as Box<dyn Any + Send>))
                .collect(),
            arena: vec![0.0; program.arena_len],
            rates: vec![0.0; program.rate_len],
            next_x: x.clone(),
            x,
            tick: 0,
            now: 0.0,
            microstep: 0,
            cursor: Cursor::Output(0),
            due: vec![false; classes.len()],
            classes,
            steps,
            tasks,
            updates,
            derivatives,
            guards,
            crossings,
            guard_values: vec![0.0; guard_count],
            armed: vec![false; guard_count],
            fired: vec![false; guard_count],
            program,
        }
    }

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

    /// Semantics 9.1: NaN on any output, or an infinity on one that is not marked as a bound.
    fn check_finite(&self) -> Result<(), RunFault> {
        // 0·v is 0 for finite v and NaN otherwise; eight lanes let the compiler use wide registers.
        let mut lanes = [0.0; 8];
        let chunks = self.arena.chunks_exact(8);
        let rest: f64 = chunks.remainder().iter().map(|v| v * 0.0).sum();
        for chunk in chunks {
            for (lane, v) in lanes.iter_mut().zip(chunk) {
                *lane += v * 0.0;
            }
        }
        if (lanes.iter().sum::<f64>() + rest).is_nan()
            && let Some(fault) = self.find_not_finite(&self.tasks)
        {
            return Err(fault);
        }
        Ok(())
    }

    #[cold]
    fn find_not_finite(&self, tasks: &[Task]) -> Option<RunFault> {
        for task in tasks {
            let own = task.own.range();
            let node = &self.program.nodes[task.node as usize];
            for (port, name) in node.output_names.iter().enumerate() {
                let slots = node.io.outputs.port(port).iter();
                for slot in slots.filter(|slot| own.contains(&(slot.start as usize))) {
                    let infinite_is_fine = node.may_be_infinite[port];
                    let bad = self.arena[slot.range()]
                        .iter()
                        .find(|v| v.is_nan() || (v.is_infinite() && !infinite_is_fine));
                    if let Some(value) = bad {
                        let text = format!("output `{name}` became {value}");
                        let fault = Fault { message: text };
                        return Some(self.fault_at(task.node, Phase::Output, fault));
                    }
                }
            }
        }
        None
    }

    /// Tests guards; resets the state of those that fire. Whether any did.
    fn test_guards(&mut self) -> Result<bool, RunFault> {
        let mut any = false;
        for g in 0..self.guards.len() {
            let role = self.guards[g];
            let own = role.own.range();
            let time = self.clock(role.rate, false, 0.0);
            let view = View { time, arena: &self.arena, shared: &self.pool };
            self.instances[role.node as usize].guard(
                view,
                &self.x[role.x.range()],
                &mut self.guard_values[own.clone()],
            );
            for i in own {
                let value = self.guard_values[i];
                let (fires, arms) = match self.crossings[i] {
                    Crossing::Level => (value > 0.0, true),
                    Crossing::Rising => (self.armed[i] && value >= 0.0, value < 0.0),
                    Crossing::Falling => (self.armed[i] && value <= 0.0, value > 0.0),
                };
                self.fired[i] = fires;
                self.armed[i] = arms;
                any |= fires;
            }
        }
        if !any {
            return Ok(false);
        }
        self.microstep += 1;
        if self.microstep > MAX_MICROSTEPS {
            return Err(self.zeno_fault());
        }
        // The arena still holds the values before any reset, so the order of resets is free.
        for g in 0..self.guards.len() {
            let role = self.guards[g];
            if !self.fired[role.own.range()].contains(&true) {
                continue;
            }
            let time = self.clock(role.rate, false, 0.0);
            let view = View { time, arena: &self.arena, shared: &self.pool };
            let outcome = self.instances[role.node as usize].reset(
                view,
                &self.fired[role.own.range()],
                &mut self.x[role.x.range()],
            );
            if let Err(fault) = outcome {
                return Err(self.fault_at(role.node, Phase::Guard, *fault));
            }
        }
        Ok(true)
    }

    #[cold]
    fn zeno_fault(&self) -> RunFault {
        let firing: Vec<_> = self
            .guards
            .iter()
            .filter(|role| self.fired[role.own.range()].contains(&true))
            .map(|role| self.program.nodes[role.node as usize].path.as_str())
            .collect();
        let message = format!(
            "guards fired more than {MAX_MICROSTEPS} times without time going on (Zeno): {}",
            firing.join(", ")
        );
        let node = self
            .guards
            .iter()
            .find(|role| self.fired[role.own.range()].contains(&true))
            .map_or(0, |role| role.node);
        self.fault_at(node, Phase::Guard, Fault { message })
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

fn unit_quaternions(
    state: &legwork_block::ContinuousState,
    parts: &[legwork_program::Part],
    x: &mut [f64],
) {
    let (legwork_block::ContinuousState::First(manifolds)
    | legwork_block::ContinuousState::Second(manifolds)) = state;
    let mut at = 0;
    for (manifold, part) in manifolds.iter().zip(parts) {
        if *manifold == Manifold::Quaternion {
            x[at] = 1.0;
        }
        at += part.len();
    }
}
