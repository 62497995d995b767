//! A bound function as the compiler passes it to the caller's instance.

use std::sync::Arc;

use crate::declaration::PortText;
use crate::instance::{InstanceIo, PlannedBlock};
use crate::signal::{PortTable, Slot};

/// A bound function: planned blocks, their order, and the layout of a small arena of its own.
pub struct FunctionBody {
    /// Path of the call site: `ctrl.solve`.
    pub path: String,
    /// The blocks. One of them is the frame.
    pub blocks: Vec<FunctionBlock>,
    /// Index of the block that represents the caller: its outputs are the function's arguments, its
    /// inputs the function's results. It never runs.
    pub frame: u32,
    /// Output groups in the order of their execution; arena addresses ascend along it.
    pub order: Vec<FunctionStep>,
    /// Numbers in the arena.
    pub arena_len: usize,
    /// Shared values.
    pub pool_len: usize,
}

impl FunctionBody {
    /// Addresses of the arguments in the arena.
    #[inline]
    pub fn arguments(&self) -> &PortTable {
        &self.blocks[self.frame as usize].io.outputs
    }

    /// Addresses of the results in the arena.
    #[inline]
    pub fn results(&self) -> &PortTable {
        &self.blocks[self.frame as usize].io.inputs
    }
}

/// One block of a function.
pub struct FunctionBlock {
    /// Path in the diagram, below the caller's.
    pub path: String,
    /// The block.
    pub block: Arc<dyn PlannedBlock>,
    /// Values of the block's dimension variables.
    pub vars: Vec<usize>,
    /// Ports, with addresses in the function's arena.
    pub io: InstanceIo,
    /// Names of the output ports.
    pub output_names: Vec<PortText>,
    /// Outputs that may hold infinite bounds.
    pub may_be_infinite: Vec<bool>,
    /// Whether `update` runs in the caller's update phase.
    pub updates: bool,
    /// Index in the function's pool of shared values, if this is a shared computation.
    pub pool: Option<u32>,
}

/// One entry of a function's order.
#[derive(Debug, Clone, Copy)]
pub struct FunctionStep {
    /// The block.
    pub block: u32,
    /// The output group.
    pub group: u16,
    /// The group's part of the arena.
    pub own: Slot,
}
