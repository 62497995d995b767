//! The inputs and outputs of the diagram that runs (semantics 11).

use legwork_program::{InputPort, Program};

use super::engine::Engine;
use super::{Cursor, Simulation};
use crate::fault::RunFault;

/// Writes to the arena what an input holds at t = 0.
pub(super) fn begin(input: &InputPort, arena: &mut [f64]) {
    let Some(initial) = &input.initial else { return };
    let mut from = initial.iter();
    for slot in &input.signal.slots {
        arena[slot.range()].iter_mut().zip(&mut from).for_each(|(to, from)| *to = *from);
    }
}

/// Writes to the arena what inputs hold that `old` gave another value.
pub(super) fn give(old: &Program, new: &Program, arena: &mut [f64]) {
    for input in &new.inputs {
        let before = old.inputs.iter().find(|before| before.name == input.name);
        if before.is_some_and(|before| before.initial != input.initial) {
            begin(input, arena);
        }
    }
}

impl Engine {
    /// Copies what outputs write.
    fn keep_for_return(&mut self) {
        let kept = &mut self.work.kept;
        kept.arena.clone_from(&self.state.arena);
        kept.x.clone_from(&self.state.x);
        kept.loops.clone_from(&self.state.loops);
        kept.blocks.clear();
        // A part that begins anew does so as its condition is computed.
        if self.plan.program.gates.iter().any(|gate| gate.restarts) {
            kept.blocks.extend(self.blocks.instances.iter().map(|instance| instance.save()));
        }
    }

    /// Puts back what was copied.
    fn return_to_kept(&mut self) {
        let kept = &self.work.kept;
        self.state.arena.clone_from(&kept.arena);
        self.state.x.clone_from(&kept.x);
        self.state.loops.clone_from(&kept.loops);
        for (instance, state) in self.blocks.instances.iter_mut().zip(&kept.blocks) {
            instance.restore(state.as_ref());
        }
    }
}

impl Simulation {
    /// The numbers of leaf `leaf` of the signal of an input that is held, to write between two
    /// major steps (semantics 11.1): what is computed next sees them. Nothing while a step is going
    /// on, after the last, or if a block feeds the input.
    pub fn input_mut(&mut self, input: usize, leaf: usize) -> Option<&mut [f64]> {
        self.take_back_outputs();
        if !self.is_between_steps() || self.cursor() == Cursor::Done {
            return None;
        }
        let port = self.engine.plan.program.inputs.get(input)?;
        let slot = port.initial.as_ref().and(port.signal.slots.get(leaf))?;
        self.engine.state.arena.get_mut(slot.range())
    }

    /// Computes the outputs of the present step, so that [`Self::arena`] shows what its inputs make
    /// of its state, and waits: what an input then gets makes them anew. Nothing is recorded or
    /// advanced (semantics 11.3).
    ///
    /// # Errors
    /// The first fault.
    pub fn look_ahead(&mut self) -> Result<(), RunFault> {
        if self.engine.state.cursor != Cursor::Output(0) || self.engine.state.microstep > 0 {
            return Ok(());
        }
        self.engine.keep_for_return();
        self.engine.begin_outputs();
        let outcome = self
            .engine
            .major_outputs(0..self.engine.plan.tasks.len())
            .and_then(|()| self.engine.check_finite());
        self.engine.work.ahead = true;
        self.engine.state.cursor = Cursor::Guards;
        if outcome.is_err() {
            self.take_back_outputs();
        }
        outcome
    }

    /// Goes back to before the outputs, if [`Self::look_ahead`] has computed them.
    pub fn take_back_outputs(&mut self) {
        if std::mem::take(&mut self.engine.work.ahead) {
            self.engine.return_to_kept();
            self.engine.state.cursor = Cursor::Output(0);
        }
    }
}
