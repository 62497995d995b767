//! The ports of the diagram that runs (semantics 11).

use legwork_block::Span;

use crate::{NodeId, PortPart, SignalRef};

/// An input of the diagram.
#[derive(Debug, Clone)]
pub struct InputPort {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub doc: String,
    /// The block that feeds it.
    pub node: NodeId,
    /// Where its value lives; its path is `^name`.
    pub signal: SignalRef,
    /// If it holds what is written to it: the numbers that it holds at t = 0, leaf after leaf. A
    /// block feeds it otherwise.
    pub initial: Option<Vec<f64>>,
    /// Whether a value was given for it, or it has a default.
    pub given: bool,
    /// Where it is declared.
    pub span: Span,
}

/// An output of the diagram.
#[derive(Debug, Clone)]
pub struct OutputPort {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub doc: String,
    /// Where its value lives; its path is its name.
    pub signal: SignalRef,
    /// The ports of blocks that it stands for; several of an array or a bus that is put together.
    pub from: Vec<PortPart>,
}
