//! Wires that are opened: signals that are written from outside, and what follows from them.

use legwork_program::Rate;

use super::engine::Engine;
use super::plan::Task;
use super::{Cursor, Simulation};
use crate::chart::Chart;
use crate::fault::RunFault;

/// A number of the arena that is written from outside, whatever its block puts out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Opened {
    /// Where the number lives.
    pub(crate) place: u32,
    /// Whether the value adds to what the block puts out, and does not replace it.
    pub(crate) adds: bool,
    /// The value, or what is added.
    pub(crate) value: f64,
}

impl Engine {
    /// Writes what is opened of these numbers, which their block has just put out. An input of the
    /// diagram puts out what it holds, to which [`Simulation::open`] has added; so does a block
    /// that is off.
    #[cold]
    pub(super) fn write_opened(&mut self, task: Task) {
        if self.plan.program.inputs.iter().any(|port| port.node == task.node) {
            return;
        }
        let is_held = task
            .gate
            .is_some_and(|gate| !self.is_on(task.gate) && !self.plan.program.gates[gate].clears);
        for one in &self.work.opened {
            if task.own.range().contains(&(one.place as usize)) && !(is_held && one.adds) {
                let number = &mut self.state.arena[one.place as usize];
                *number = if one.adds { *number + one.value } else { one.value };
            }
        }
    }

    /// Output groups of a rate that `is_run`, at this moment.
    fn outputs_of(&mut self, is_run: impl Fn(&Self, usize) -> bool) -> Result<(), RunFault> {
        for i in 0..self.plan.tasks.len() {
            if !is_run(self, i) {
                continue;
            }
            let task = self.plan.tasks[i];
            self.output(i, task.minor, 0.0)?;
            if let Some(index) = task.closes {
                self.close_loop(index as usize, task.minor, 0.0)?;
            }
        }
        Ok(())
    }

    fn rate_of(&self, task: usize) -> Rate {
        self.plan.classes[self.plan.tasks[task].rate as usize]
    }

    /// Whether an output group acts at once: all but those of blocks with a period and discrete
    /// state, which hold, and of the inputs of the diagram. Those that are held inside a step, such
    /// as contact forces, are computed too.
    pub(super) fn acts_at_once(&self, i: usize) -> bool {
        let node = self.plan.tasks[i].node;
        match self.rate_of(i) {
            Rate::Continuous => true,
            Rate::Periodic { .. } => !self.plan.program.nodes[node].updates,
            Rate::Constant => !self.plan.program.inputs.iter().any(|port| port.node == node),
        }
    }
}

impl Simulation {
    /// Opens these wires from here on. What is held is written at once, what is computed after each
    /// computation; `base` is what the signals hold otherwise.
    pub(crate) fn open(&mut self, opened: &[Opened], base: &[f64]) {
        self.engine.work.opened.clear();
        self.engine.work.opened.extend_from_slice(opened);
        for (one, base) in opened.iter().zip(base) {
            let value = if one.adds { base + one.value } else { one.value };
            self.engine.state.arena[one.place as usize] = value;
        }
    }

    /// Sees to it that opened wires are written: their blocks are no plain ones any more.
    pub(crate) fn prepare_to_open(&mut self, places: &[u32]) {
        let plan = &mut self.engine.plan;
        let mut next = plan.tasks.len() as u32;
        for i in (0..plan.tasks.len()).rev() {
            let own = plan.tasks[i].own.range();
            let is_opened = places.iter().any(|place| own.contains(&(*place as usize)));
            if is_opened || plan.next_special[i] == i as u32 {
                next = i as u32;
            }
            plan.next_special[i] = next;
        }
    }

    /// The numbers of a block's discrete state that a linearisation differentiates.
    pub(crate) fn memory_of(&self, node: usize) -> Vec<f64> {
        self.engine.blocks.instances[node].memory_numbers()
    }

    /// Between two steps: goes on from the continuous state `x` and these numbers of blocks'
    /// discrete states.
    pub(crate) fn go_on_from<'n>(
        &mut self,
        x: &[f64],
        numbers: impl Iterator<Item = (usize, &'n [f64])>,
    ) {
        self.engine.state.x.copy_from_slice(x);
        for (node, numbers) in numbers {
            self.engine.blocks.instances[node].set_memory_numbers(numbers);
        }
    }

    /// Does the rest of the present phase.
    pub(crate) fn advance_to_next_phase(&mut self) -> Result<(), RunFault> {
        self.advance_phase().map_err(|fault| self.engine.told(fault))
    }

    /// Computes what is constant anew, after wires were opened in front of it.
    pub(crate) fn renew_constants(&mut self) -> Result<(), RunFault> {
        self.engine.outputs_of(|engine, i| {
            let node = engine.plan.tasks[i].node;
            let is_port = engine.plan.program.inputs.iter().any(|port| port.node == node);
            engine.rate_of(i) == Rate::Constant && !is_port
        })
    }

    /// The rate of the continuous state at `x`, in the coordinates `u` of a chart: `x` is
    /// `retract(x₀, u)`. Blocks with discrete state and a period hold. Outputs are then those of
    /// `x`. Returns what the blocks' `derivative` gave.
    ///
    /// The outputs of the present step have been computed.
    pub(crate) fn rate_at(
        &mut self,
        chart: &mut Chart,
        (u, x): (&[f64], &[f64]),
        out: &mut [f64],
    ) -> Result<Vec<f64>, RunFault> {
        debug_assert!(self.engine.state.cursor != Cursor::Output(0), "outputs come first");
        self.engine.state.x.copy_from_slice(x);
        self.engine.outputs_of(Engine::acts_at_once)?;
        let mut rates = vec![0.0; self.engine.plan.program.rate_len];
        self.engine.derivatives(0.0, true, x, &mut rates)?;
        let gates = self.engine.plan.derivatives.iter().map(|role| role.gate);
        chart.freeze(gates.map(|gate| !self.engine.is_on(gate)));
        chart.rate(u, x, &rates, out);
        Ok(rates)
    }
}
