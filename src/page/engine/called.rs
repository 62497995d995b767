//! Blocks wherever they are: of the diagram, and of what blocks call.

use legwork_program::{Edge, Node, NodeId, Program};

/// A block among others.
#[derive(Clone, Copy)]
pub(super) struct Placed<'p> {
    pub(super) index: NodeId,
    /// The blocks of the diagram, or of a function.
    pub(super) nodes: &'p [Node],
    /// Their wires.
    pub(super) edges: &'p [Edge],
    /// Whether a block calls it: it has no signals of its own, and runs when it is called.
    pub(super) is_called: bool,
}

impl<'p> Placed<'p> {
    pub(super) fn node(self) -> &'p Node {
        &self.nodes[self.index.index()]
    }
}

/// All blocks, those of functions behind the diagram's own.
pub(super) fn all(program: &Program) -> Vec<Placed<'_>> {
    let mut found = Vec::new();
    let (nodes, edges) = (&program.nodes[..], &program.edges[..]);
    add(nodes, edges, None, &mut found);
    found
}

/// Adds blocks, but for the one that stands for the caller, and then what they call.
fn add<'p>(
    nodes: &'p [Node],
    edges: &'p [Edge],
    frame: Option<NodeId>,
    found: &mut Vec<Placed<'p>>,
) {
    let is_called = frame.is_some();
    let indices = (0..nodes.len()).map(NodeId::new).filter(|index| Some(*index) != frame);
    found.extend(indices.map(|index| Placed { index, nodes, edges, is_called }));
    for function in nodes.iter().flat_map(|node| &node.functions) {
        add(&function.nodes, &function.edges, Some(function.frame), found);
    }
}

/// The block of a path.
pub(super) fn find<'p>(path: &str, program: &'p Program) -> Option<Placed<'p>> {
    all(program).into_iter().find(|placed| placed.node().path == path)
}
