//! Functions: each gets an order, an arena and wires of its own (semantics 6.2).

use legwork_block::Diagnostics;
use legwork_program::{FunctionProgram, NodeId, Rate};

use crate::ids::BlockId;
use crate::infer::TypedNetwork;
use crate::layout::{self, Moments};
use crate::network::{Network, Part};
use crate::{listing, schedule};

/// Reports the algebraic loops inside the functions that the blocks of `part` need.
pub(crate) fn find_loops(network: &Network, part: &Part, diagnostics: &mut Diagnostics) {
    for &block in &part.blocks {
        for &frame in network.blocks[block].functions.iter().flatten() {
            let inside = network.function(frame);
            let _ = schedule::schedule(network, inside, diagnostics);
            find_loops(network, inside, diagnostics);
        }
    }
}

/// Orders and places the functions that a block needs.
pub(crate) fn place(
    typed: &TypedNetwork,
    block: BlockId,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<FunctionProgram>> {
    let network = &typed.network;
    let block = &network.blocks[block];
    let mut placed = Vec::with_capacity(block.functions.len());
    for (function, frame) in block.declaration.functions.iter().zip(&block.functions) {
        // One that may be left unbound is the last.
        if frame.is_none() && function.optional {
            continue;
        }
        let frame = (*frame)?;
        let inside = network.function(frame);
        let order = schedule::schedule(network, inside, diagnostics)?;
        // Rates mean nothing inside: everything runs at every call.
        let rates = vec![Rate::Continuous; inside.blocks.len()];
        let mut layout =
            layout::place(typed, inside, &order, &rates, &rates, Moments::Call, diagnostics)?;
        let frame = NodeId::new(network.node(frame));
        layout.schedule.retain(|step| step.node != frame);
        let mut edges = listing::edges(network, inside);
        // What reaches the frame leaves the call at once.
        edges.iter_mut().for_each(|edge| edge.feeds |= edge.to == frame);
        placed.push(FunctionProgram {
            name: function.name.clone(),
            path: format!("{}.{}", block.path, function.name),
            nodes: layout.nodes,
            frame,
            edges,
            schedule: layout.schedule,
            arena_len: layout.arena_len,
            pool_len: layout.pool_len,
        });
    }
    Some(placed)
}
