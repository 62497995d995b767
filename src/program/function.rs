//! Functions of a compiled diagram (semantics 6.2).

use std::sync::Arc;

use legwork_block::{FunctionBlock, FunctionBody, FunctionStep, InstanceIo};

use crate::{Edge, Node, NodeId, Step};

/// A function that a node calls: a small program without time, in an arena of its own.
#[derive(Clone)]
pub struct FunctionProgram {
    /// Name of the call site in the block's `needs:`.
    pub name: String,
    /// Path of the call site: `ctrl.solve`.
    pub path: String,
    /// Blocks, sorted by path. One of them is the frame.
    pub nodes: Vec<Node>,
    /// The node that stands for the caller: its outputs are the function's arguments, its
    /// inputs the function's results. It never runs.
    pub frame: NodeId,
    /// Wires, by reader.
    pub edges: Vec<Edge>,
    /// Output groups in the order of their execution, without the frame; arena addresses ascend
    /// along it.
    pub schedule: Vec<Step>,
    /// Numbers in the function's arena.
    pub arena_len: usize,
    /// Shared values of the function.
    pub pool_len: usize,
}

impl FunctionProgram {
    /// What the caller's instance runs.
    pub fn body(&self) -> FunctionBody {
        FunctionBody {
            path: self.path.clone(),
            blocks: self
                .nodes
                .iter()
                .map(|node| FunctionBlock {
                    path: node.path.clone(),
                    block: Arc::clone(&node.block),
                    vars: node.vars.clone(),
                    io: node.instance_io(),
                    output_names: node.output_names.clone(),
                    may_be_infinite: node.may_be_infinite.clone(),
                    updates: node.updates,
                    pool: node.pool.map(|pool| pool.index() as u32),
                })
                .collect(),
            frame: self.frame.index() as u32,
            order: self
                .schedule
                .iter()
                .map(|step| FunctionStep {
                    block: step.node.index() as u32,
                    group: step.group,
                    own: step.own,
                })
                .collect(),
            arena_len: self.arena_len,
            pool_len: self.pool_len,
        }
    }

    /// The nodes without the frame.
    pub fn blocks(&self) -> impl Iterator<Item = &Node> {
        let frame = self.frame.index();
        self.nodes.iter().enumerate().filter(move |(i, _)| *i != frame).map(|(_, node)| node)
    }
}

impl Node {
    /// Ports and functions, as [`PlannedBlock::instantiate`](legwork_block::PlannedBlock) takes
    /// them.
    pub fn instance_io(&self) -> InstanceIo {
        let functions = self.functions.iter().map(|function| Arc::new(function.body())).collect();
        InstanceIo { functions, ..self.io.clone() }
    }
}
