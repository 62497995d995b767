//! What runs the blocks of a program at a moment: outputs, guards, updates and rates.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use legwork_block::{Fault, View};
use legwork_program::{NodeId, Program, Rate};

use super::blocks::Blocks;
use super::growth::Growth;
use super::plan::Plan;
use super::state::State;
use super::work::Work;
use crate::fault::{Phase, RunFault};
use crate::moment::Moment;

/// A plan, the state that it has reached, the blocks that keep theirs, and scratch memory.
pub(super) struct Engine {
    pub(super) plan: Plan,
    pub(super) state: State,
    pub(super) blocks: Blocks,
    pub(super) work: Work,
    pub(super) growth: Growth,
    pub(super) stop: Stop,
}

/// A request to stop inside a major step, from outside.
#[derive(Default)]
pub(super) struct Stop {
    pub(super) flag: Option<Arc<AtomicBool>>,
    /// Whether a step was left because of it.
    pub(super) heard: bool,
}

impl Engine {
    /// Everything at t = 0, before the first outputs, with these blocks and their continuous state.
    pub(super) fn new(program: Arc<Program>, (blocks, x): (Blocks, Vec<f64>)) -> Self {
        let plan = Plan::new(program, &blocks.watched);
        let state = State::new(&plan, x);
        let work = Work::new(&plan);
        let growth = Growth::new(&plan.program);
        Self { plan, state, blocks, work, growth, stop: Stop::default() }
    }

    pub(super) fn set_moment(&mut self, moment: Moment) {
        self.state.moment = moment;
        self.work.now = moment.time(self.plan.program.base);
    }

    /// Whether the blocks of a rate are due in the major step that goes on or comes next.
    pub(super) fn is_rate_due(&self, rate: u16) -> bool {
        self.due_at(self.plan.classes[rate as usize])
    }

    pub(super) fn due_at(&self, rate: Rate) -> bool {
        rate == Rate::Continuous
            || (self.state.moment.is_tick() && rate.due(self.state.moment.tick))
    }

    /// Time goes on, or an event follows in the same moment.
    pub(super) fn arrive(&mut self, moment: Moment, is_apart: bool) -> Result<(), RunFault> {
        if moment == self.state.moment || !is_apart {
            self.state.microstep += 1;
            if self.is_zeno() {
                self.work.fired.copy_from_slice(&self.state.located);
                return Err(self.zeno_fault());
            }
        } else {
            self.state.microstep = 0;
        }
        if moment != self.state.moment {
            self.set_moment(moment);
        }
        Ok(())
    }

    /// The next tick at which a major step must be.
    pub(super) fn next_tick(&self) -> u64 {
        let (tick, step) = (self.state.moment.tick, self.plan.program.step_ticks);
        let next = (tick / step + 1) * step;
        if !self.plan.program.run.solver.is_variable() {
            return next;
        }
        let hits = self.plan.classes.iter().filter_map(|rate| rate.next_hit(tick));
        hits.fold(next, u64::min).min(self.plan.program.stop_tick.max(tick + 1))
    }

    /// Everything that is not kept because it follows from what is.
    pub(super) fn compute_shared(&mut self) {
        self.find_due();
        // Shared values are functions of signals: computed again instead of kept. One that faults
        // on these signals has not been computed yet, and will be before anybody reads it.
        for i in 0..self.plan.tasks.len() {
            if self.plan.tasks[i].pool.is_some() {
                let _ = self.output(i, false, 0.0);
            }
        }
    }

    pub(super) fn update(&mut self, i: usize) -> Result<(), RunFault> {
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

    #[cold]
    pub(super) fn fault_at(&self, node: NodeId, phase: Phase, fault: Fault) -> RunFault {
        let node = &self.plan.program.nodes[node];
        RunFault {
            t: self.work.now,
            tick: self.state.moment.tick,
            phase,
            block: node.path.clone(),
            fault,
            span: node.span,
            hints: Vec::new(),
        }
    }

    /// The step was left as it was asked to.
    #[cold]
    pub(super) fn stopped(&mut self) -> RunFault {
        self.stop.heard = true;
        let fault = Fault { message: "stopped inside a step, as it was asked to".to_owned() };
        let fault = self.fault_at(NodeId::new(0), Phase::Integrate, fault);
        RunFault { block: "solver".into(), ..fault }
    }

    /// Makes anew what a step that was left in its middle may have left half done.
    pub(super) fn renew(&mut self) {
        let watched = self.blocks.watched.clone();
        (self.blocks, _) = Blocks::watched(&self.plan.program, watched);
        self.work = Work::new(&self.plan);
        self.stop.heard = false;
    }

    /// The solutions of algebraic loops are what their next solves begin with.
    pub(super) fn commit_loops(&mut self) {
        for memory in &mut self.state.loops {
            memory.commit();
        }
    }
}
