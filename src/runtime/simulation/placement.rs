//! States that are put into a run at t = 0, and outputs that are held against their blocks.

use legwork_block::Parameters;
use legwork_program::NodeId;

use super::{Cursor, Simulation};
use crate::fault::RunFault;

/// A number in the arena that a constant block is made to put out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Held {
    /// The block.
    pub(crate) node: NodeId,
    /// Where the number lives in the arena.
    pub(crate) place: u32,
    /// The number.
    pub(crate) value: f64,
}

impl Simulation {
    /// The numbers of a block's discrete state that parameters can give.
    pub(crate) fn numbers_of(&self, node: usize) -> Vec<f64> {
        self.engine.blocks.instances[node].numbers()
    }

    /// The parameters with which a block begins at `at`, if it has such.
    pub(crate) fn starting_at(&self, node: usize, at: &[f64]) -> Option<Parameters> {
        self.engine.blocks.instances[node]
            .starting_at(at, &self.engine.plan.program.nodes[node].output_types)
    }

    /// At t = 0: begins at the continuous state `x` and with the `numbers` of blocks' discrete
    /// states. Parts that begin anew begin there too.
    pub(crate) fn begin_at<'n>(
        &mut self,
        x: &[f64],
        numbers: impl Iterator<Item = (usize, &'n [f64])>,
    ) {
        self.engine.state.x.copy_from_slice(x);
        for (node, numbers) in numbers {
            self.engine.blocks.instances[node].set_numbers(numbers);
        }
        for initial in &mut self.engine.blocks.initials {
            initial.x.copy_from_slice(&x[initial.slot.range()]);
            initial.state = self.engine.blocks.instances[initial.node.index()].save();
        }
    }

    /// Does the rest of the present phase. What is `held` is what a constant puts out at t = 0,
    /// whatever its parameters say.
    pub(crate) fn advance_holding(&mut self, held: &[Held]) -> Result<(), RunFault> {
        if !matches!(self.engine.state.cursor, Cursor::Output(0))
            || self.engine.state.moment.tick > 0
        {
            return self.advance_phase();
        }
        self.engine.begin_outputs();
        for i in 0..self.engine.plan.tasks.len() {
            self.engine.major_output(i)?;
            for one in held.iter().filter(|one| one.node == self.engine.plan.tasks[i].node) {
                self.engine.state.arena[one.place as usize] = one.value;
            }
        }
        self.engine.check_finite()?;
        self.engine.state.cursor = Cursor::Guards;
        Ok(())
    }
}
