//! Blocks that join numbers and vectors, such as the copies of a for-each: their declaration
//! follows from types.

use std::sync::Arc;

use legwork_block::{ConcatVectors, Type, erase};

use super::wire::Blocked;
use super::{Inference, Open};
use crate::expand::in_variables_from;
use crate::function_frame::plan_alone;
use crate::ids::BlockId;
use crate::network::Source;

impl Inference<'_> {
    /// Makes the declaration of every block that joins signals and of which it is known which of
    /// its inputs are numbers; with `all`, of every other too: what is not known is a vector. Gives
    /// the wires that are to be looked at from now on.
    pub(super) fn decide_joined(&mut self, all: bool) -> Vec<Open> {
        let mut open = Vec::new();
        for block in std::mem::take(&mut self.undecided) {
            match self.numbers(block, all) {
                Some(scalar) => {
                    self.declare(block, scalar);
                    self.open_wires(block, &mut open);
                }
                None => self.undecided.push(block),
            }
        }
        open
    }

    /// Which inputs are one number each; `None` if that is not known of all of them.
    fn numbers(&mut self, block: BlockId, all: bool) -> Option<Vec<bool>> {
        let sources: Vec<Option<Source>> = self.network.blocks[block]
            .inputs
            .iter()
            .map(|wire| wire.as_ref().map(|wire| wire.source.clone()))
            .collect();
        let mut is_number = |source: Option<Source>| match self.carried(&source?) {
            Ok(found) => match self.solution.ty(&found.ty) {
                Type::Var(_) => None,
                ty => Some(matches!(ty, Type::Real | Type::Bool | Type::Int)),
            },
            Err(Blocked::Unknown) => None,
            // Reported when the wire is looked at.
            Err(Blocked::Reported | Blocked::Wrong(_)) => Some(false),
        };
        sources.into_iter().map(|source| is_number(source).or(all.then_some(false))).collect()
    }

    fn declare(&mut self, id: BlockId, scalar: Vec<bool>) {
        let Ok((mut declaration, planned)) = plan_alone(erase(ConcatVectors { scalar })) else {
            return;
        };
        in_variables_from(self.next_var, &mut declaration);
        let block = &mut self.network.blocks[id];
        block.joins = false;
        block.var_base = self.next_var;
        block.declaration = declaration;
        block.planned = Arc::clone(&planned);
        self.next_var += block.declaration.var_count;
        self.solution.grow(self.next_var);
        self.name_parts(id);
    }
}
