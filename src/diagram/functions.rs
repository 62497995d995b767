//! Typed network → a network per function: what a caller calls leaves the diagram's own order.
//!
//! Until here a function's blocks were blocks of the network like any other, so that types met
//! across the call. From here on they belong to their caller: they have no rate, and an order and
//! an arena of their own.

use std::collections::BTreeMap;
use std::sync::Arc;

use legwork_block::Diagnostics;
use legwork_program::{FunctionProgram, NodeId, Rate};

use crate::infer::{NamedTypes, TypedBlock, TypedNetwork};
use crate::layout::Moments;
use crate::network::frame_path;
use crate::{layout, listing, schedule};

/// A function of a block: its frame and everything inside.
pub(crate) struct TypedFunction {
    /// Name of the call site.
    pub name: String,
    /// Path of the call site.
    pub path: String,
    /// Index of the frame.
    pub frame: usize,
    /// The frame and the blocks.
    pub network: TypedNetwork,
}

/// Moves the blocks of every function into the block that calls it.
pub(crate) fn split(network: TypedNetwork) -> TypedNetwork {
    if network.blocks.iter().all(|block| block.network.owner.is_none()) {
        return network;
    }
    let named_types = network.named_types;
    let mut parts: BTreeMap<Option<String>, Vec<(usize, TypedBlock)>> = BTreeMap::new();
    for (i, block) in network.blocks.into_iter().enumerate() {
        parts.entry(block.network.owner.clone()).or_default().push((i, block));
    }
    part(&mut parts, &None, &named_types)
}

/// The network of one owner. Blocks stay sorted by path.
fn part(
    parts: &mut BTreeMap<Option<String>, Vec<(usize, TypedBlock)>>,
    owner: &Option<String>,
    named_types: &Arc<dyn NamedTypes>,
) -> TypedNetwork {
    let members = parts.remove(owner).unwrap_or_default();
    let new_index: BTreeMap<usize, usize> =
        members.iter().enumerate().map(|(new, (old, _))| (*old, new)).collect();
    let mut blocks = Vec::with_capacity(members.len());
    for (_, mut block) in members {
        // What a block shares, it shares with blocks of the same owner.
        block.asked = block.asked.iter().filter_map(|old| new_index.get(old).copied()).collect();
        block.gate = block.gate.and_then(|old| new_index.get(&old).copied());
        for function in &block.declaration.functions {
            let frame = frame_path(&block.network.path, &function.name);
            let owner = Some(frame);
            let inside = part(parts, &owner, named_types);
            let Some(&index) = owner.and_then(|frame| inside.index.get(&frame)) else { continue };
            // Memory inside is committed in the caller's update phase.
            let updates = |inner: &TypedBlock| inner.declaration.updates;
            block.declaration.updates |= inside.blocks.iter().any(updates);
            block.functions.push(TypedFunction {
                name: function.name.clone(),
                path: format!("{}.{}", block.network.path, function.name),
                frame: index,
                network: inside,
            });
        }
        blocks.push(block);
    }
    let index = blocks.iter().enumerate().map(|(i, b)| (b.network.path.clone(), i)).collect();
    TypedNetwork { blocks, index, named_types: Arc::clone(named_types) }
}

/// Reports the algebraic loops inside functions.
pub(crate) fn find_loops(network: &TypedNetwork, diagnostics: &mut Diagnostics) {
    for function in network.blocks.iter().flat_map(|block| &block.functions) {
        let _ = schedule::schedule(&function.network, diagnostics);
        find_loops(&function.network, diagnostics);
    }
}

/// Orders and places the functions of a block.
pub(crate) fn place(
    functions: &[TypedFunction],
    diagnostics: &mut Diagnostics,
) -> Option<Vec<FunctionProgram>> {
    let mut placed = Vec::with_capacity(functions.len());
    for TypedFunction { name, path, frame, network } in functions {
        let order = schedule::schedule(network, diagnostics)?;
        let frame = NodeId::new(*frame);
        // Rates mean nothing inside: everything runs at every call.
        let rates = vec![Rate::Continuous; network.blocks.len()];
        let mut layout =
            layout::place(network, &order, &rates, &rates, Moments::Call, diagnostics)?;
        layout.schedule.retain(|step| step.node != frame);
        let mut edges = listing::edges(network);
        // What reaches the frame leaves the call at once.
        edges.iter_mut().for_each(|edge| edge.feeds |= edge.to == frame);
        placed.push(FunctionProgram {
            name: name.clone(),
            path: path.clone(),
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
