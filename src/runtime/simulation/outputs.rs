//! Outputs, in major and in minor steps (semantics 3.3, 3.6).

use std::ops::Range;

use legwork_block::cancel::check;
use legwork_block::{Fault, OutputIo, Time, View};

use legwork_program::GateId;

use super::engine::Engine;
use super::plan::Task;
use crate::fault::{Phase, RunFault};

impl Engine {
    /// Finds which rates are due and empties memos.
    pub(super) fn begin_outputs(&mut self) {
        self.find_due();
        for role in &self.plan.updates {
            if self.work.due[role.rate as usize] {
                self.blocks.instances[role.node.index()].begin_step();
            }
        }
    }

    /// Between two ticks only what is continuous is due.
    pub(super) fn find_due(&mut self) {
        for i in 0..self.plan.classes.len() {
            self.work.due[i] = self.due_at(self.plan.classes[i]);
        }
    }

    /// Whether the blocks behind `gate` are on.
    #[inline]
    pub(super) fn is_on(&self, gate: Option<GateId>) -> bool {
        match gate {
            None => true,
            Some(gate) => self.state.arena[self.plan.program.gates[gate].active.index()] != 0.0,
        }
    }

    #[inline]
    pub(super) fn clock(&self, rate: u16, minor: bool, offset: f64) -> Time {
        Time { t: self.work.now + offset, step: self.plan.steps[rate as usize], minor }
    }

    #[inline]
    pub(super) fn is_due(&self, i: usize) -> bool {
        self.work.due[self.plan.tasks[i].rate as usize]
    }

    /// Runs these tasks of a major step, as far as they are due, and solves the loops that end
    /// with one of them.
    pub(super) fn major_outputs(&mut self, tasks: Range<usize>) -> Result<(), RunFault> {
        let mut next = tasks.start;
        while next < tasks.end {
            let special = (self.plan.next_special[next] as usize).min(tasks.end);
            self.plain_outputs(next..special, false, 0.0)?;
            if special < tasks.end {
                self.major_output(special)?;
            }
            next = special + 1;
        }
        Ok(())
    }

    /// Runs plain tasks: all that are due in a major step, all that are continuous in a minor one.
    /// Most tasks are plain, and this is where a run of small blocks spends its time.
    #[inline]
    fn plain_outputs(
        &mut self,
        tasks: Range<usize>,
        minor: bool,
        offset: f64,
    ) -> Result<(), RunFault> {
        let t = self.work.now + offset;
        for (task, i) in self.plan.plain[tasks.clone()].iter().zip(tasks) {
            let rate = task.rate as usize;
            if !(if minor { task.minor } else { self.work.due[rate] }) {
                continue;
            }
            let (before, rest) = self.state.arena.split_at_mut(task.own.start as usize);
            let io = OutputIo {
                time: Time { t, step: self.plan.steps[rate], minor },
                group: task.group as usize,
                x: &self.state.x[task.x.range()],
                before,
                own: &mut rest[..task.own.len as usize],
                own_start: task.own.start,
                shared: &self.blocks.pool,
                shared_own: None,
            };
            if let Err(fault) = self.blocks.instances[task.node.index()].output(io) {
                return Err(self.output_fault(i, *fault));
            }
        }
        Ok(())
    }

    /// Runs task `i` of a major step, if it is due, and solves the loop that ends with it.
    #[inline]
    pub(super) fn major_output(&mut self, i: usize) -> Result<(), RunFault> {
        if self.is_due(i) {
            self.output(i, false, 0.0)?;
        }
        match self.plan.tasks[i].closes {
            None => Ok(()),
            Some(index) => self.close_due_loop(index as usize),
        }
    }

    #[cold]
    fn close_due_loop(&mut self, index: usize) -> Result<(), RunFault> {
        let unknowns = &self.plan.program.loops[index].unknowns;
        let solve = unknowns[0].node;
        let due = self.plan.tasks.iter().position(|task| task.node == solve);
        if due.is_some_and(|task| self.is_due(task)) {
            self.close_loop(index, false, 0.0)?;
        }
        Ok(())
    }

    #[cold]
    fn close_minor_loop(&mut self, index: usize, offset: f64) -> Result<(), RunFault> {
        let solve = self.plan.program.loops[index].unknowns[0].node;
        if self.plan.tasks.iter().any(|task| task.node == solve && task.minor) {
            self.close_loop(index, true, offset)?;
        }
        Ok(())
    }

    #[inline]
    pub(super) fn output(&mut self, i: usize, minor: bool, offset: f64) -> Result<(), RunFault> {
        self.own_output(i, minor, offset)?;
        if !self.work.opened.is_empty() {
            self.write_opened(self.plan.tasks[i]);
        }
        Ok(())
    }

    #[inline]
    fn own_output(&mut self, i: usize, minor: bool, offset: f64) -> Result<(), RunFault> {
        let task = self.plan.tasks[i];
        if task.gate.is_some() && !self.is_on(task.gate) {
            self.stay_off(task);
            return Ok(());
        }
        if let Some((index, unknown)) = task.unknown {
            self.guess(index as usize, unknown as usize);
            return Ok(());
        }
        let time = self.clock(task.rate, minor, offset);
        let (before, rest) = self.state.arena.split_at_mut(task.own.start as usize);
        let (shared, shared_own) = match task.pool {
            None => (&self.blocks.pool[..], None),
            Some(id) => {
                let (earlier, rest) = self.blocks.pool.split_at_mut(id.index());
                (&*earlier, rest.first_mut())
            }
        };
        let io = OutputIo {
            time,
            group: task.group as usize,
            x: &self.state.x[task.x.range()],
            before,
            own: &mut rest[..task.own.len as usize],
            own_start: task.own.start,
            shared,
            shared_own,
        };
        match self.blocks.instances[task.node.index()].output(io) {
            Ok(()) => {}
            Err(fault) => return Err(self.output_fault(i, *fault)),
        }
        for copy in &self.plan.copies[task.copies.range()] {
            self.state.arena.copy_within(copy.from.range(), copy.to.start as usize);
        }
        if let (Some(gate), false) = (task.opens, minor) {
            self.restart(gate);
            self.clear(gate);
        }
        Ok(())
    }

    /// Outputs of a part that is off hold, or are zero.
    fn stay_off(&mut self, task: Task) {
        let clears = task.gate.is_some_and(|gate| self.plan.program.gates[gate].clears);
        if clears {
            self.state.arena[task.own.range()].fill(0.0);
        }
    }

    /// Outputs of a part that is off are zero at once, if they clear, and not at their next hit.
    fn clear(&mut self, gate: GateId) {
        let is_on = self.state.arena[self.plan.program.gates[gate].active.index()] != 0.0;
        if self.plan.cleared.is_empty() || is_on {
            return;
        }
        for (_, own) in self.plan.cleared.iter().filter(|(around, _)| *around == gate) {
            self.state.arena[own.range()].fill(0.0);
        }
    }

    /// Gives the blocks of a part that comes on their initial states, if it asks for that.
    fn restart(&mut self, gate: GateId) {
        let found = &self.plan.program.gates[gate];
        // Resets of this moment that follow must not be undone by its later microsteps.
        if !found.restarts
            || self.state.microstep > 0
            || self.state.arena[found.starts.index()] == 0.0
        {
            return;
        }
        for initial in self.blocks.initials.iter().filter(|initial| initial.gate == gate) {
            self.blocks.instances[initial.node.index()].restore(initial.state.as_ref());
            self.state.x[initial.slot.range()].copy_from_slice(&initial.x);
        }
    }

    /// A block that faults on numbers that are no numbers is not to blame: the first output that
    /// is not finite is.
    #[cold]
    fn output_fault(&self, i: usize, fault: Fault) -> RunFault {
        let node = &self.plan.program.nodes[self.plan.tasks[i].node];
        let end = i + usize::from(node.checks_itself.contains(&true));
        self.find_not_finite(&self.plan.tasks[..end])
            .unwrap_or_else(|| self.fault_at(self.plan.tasks[i].node, Phase::Output, fault))
    }

    /// Outputs of continuous groups at a stage.
    pub(super) fn minor_outputs(&mut self, offset: f64, x: &[f64]) -> Result<(), RunFault> {
        check();
        self.state.x.copy_from_slice(x);
        let (mut next, count) = (0, self.plan.tasks.len());
        while next < count {
            let special = self.plan.next_special[next] as usize;
            self.plain_outputs(next..special, true, offset)?;
            if special < count {
                if self.plan.tasks[special].minor {
                    self.output(special, true, offset)?;
                }
                if let Some(index) = self.plan.tasks[special].closes {
                    self.close_minor_loop(index as usize, offset)?;
                }
            }
            next = special + 1;
        }
        Ok(())
    }

    /// Computes the corrections of a step of this length [s] of the semi-implicit Euler method;
    /// `note` receives, for each block with state in turn, true if it has any.
    pub(super) fn corrections(
        &mut self,
        length: f64,
        x: &[f64],
        rates: &mut [f64],
        shifts: &mut [f64],
        mut note: impl FnMut(usize, bool),
    ) {
        for d in 0..self.plan.derivatives.len() {
            let role = self.plan.derivatives[d];
            let time = Time { step: length, ..self.clock(role.rate, false, 0.0) };
            let (x, own) = (&x[role.x.range()], role.own.range());
            let is_on = self.is_on(role.gate);
            let instance = &mut self.blocks.instances[role.node.index()];
            let is_corrected =
                is_on && instance.correct(time, x, &mut rates[own.clone()], &mut shifts[own]);
            note(d, is_corrected);
        }
    }

    /// Rates of all continuous state.
    pub(super) fn derivatives(
        &mut self,
        offset: f64,
        minor: bool,
        x: &[f64],
        rates: &mut [f64],
    ) -> Result<(), RunFault> {
        for d in 0..self.plan.derivatives.len() {
            let role = self.plan.derivatives[d];
            if !self.is_on(role.gate) {
                continue;
            }
            let time = self.clock(role.rate, minor, offset);
            let view = View { time, arena: &self.state.arena, shared: &self.blocks.pool };
            let outcome = self.blocks.instances[role.node.index()].derivative(
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
