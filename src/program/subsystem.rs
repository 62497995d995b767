//! The subsystems that a program was expanded from, as they look from outside.

use crate::NodeId;

/// A mask, a subsystem, a conditional part or a for-each. It does not exist in the run; drawings
/// and messages speak of its ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subsystem {
    /// Path in the diagram, such as `contact` or `foot`: all its blocks have it in front of theirs.
    pub path: String,
    /// The inputs that are connected. A for-each has none: its body sees its surroundings.
    pub inputs: Vec<SubsystemPort>,
    /// The outputs.
    pub outputs: Vec<SubsystemPort>,
}

/// A port of a subsystem, and what is on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubsystemPort {
    /// Its name.
    pub name: String,
    /// The ports of blocks that it stands for; several of an array or a bus that is put together.
    pub ports: Vec<PortPart>,
}

/// An output port of a block, or a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortPart {
    /// The block.
    pub node: NodeId,
    /// Which of its output ports.
    pub port: u16,
    /// The part, such as `.base.position[2]`; empty for the whole.
    pub part: String,
}
