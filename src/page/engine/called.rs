//! Blocks wherever they are: of the diagram, and of what blocks call.

use legwork_program::{Edge, Node, NodeId, Program};

/// A block among others.
#[derive(Clone)]
pub(super) struct Placed<'p> {
    pub(super) index: NodeId,
    /// The blocks of the diagram, or of a function.
    pub(super) nodes: &'p [Node],
    /// Their wires.
    pub(super) edges: &'p [Edge],
    /// Whether a block calls it: it has no signals of its own, and runs when it is called.
    pub(super) is_called: bool,
    /// By which its parameters are set: that of a block that is called leads through the `needs:`
    /// of its caller.
    pub(super) set_path: String,
}

impl<'p> Placed<'p> {
    pub(super) fn node(&self) -> &'p Node {
        &self.nodes[self.index.index()]
    }
}

/// All blocks, those of functions behind the diagram's own.
pub(super) fn all(program: &Program) -> Vec<Placed<'_>> {
    let mut found = Vec::new();
    let (nodes, edges) = (&program.nodes[..], &program.edges[..]);
    add(nodes, edges, None, &str::to_owned, &mut found);
    found
}

/// Adds blocks, but for the one that stands for the caller, and then what they call.
fn add<'p>(
    nodes: &'p [Node],
    edges: &'p [Edge],
    frame: Option<NodeId>,
    set_path: &dyn Fn(&str) -> String,
    found: &mut Vec<Placed<'p>>,
) {
    let is_called = frame.is_some();
    let indices = (0..nodes.len()).map(NodeId::new).filter(|index| Some(*index) != frame);
    found.extend(indices.map(|index| {
        let set_path = set_path(&nodes[index.index()].path);
        Placed { index, nodes, edges, is_called, set_path }
    }));
    for node in nodes {
        for function in &node.functions {
            // `ctrl.solve.gain` is `ctrl.needs.solve.gain`; a function of one block is that block.
            let inside = |path: &str| match path.strip_prefix(function.path.as_str()) {
                Some(rest) => format!("{}.needs.{}{rest}", set_path(&node.path), function.name),
                None => path.to_owned(),
            };
            add(&function.nodes, &function.edges, Some(function.frame), &inside, found);
        }
    }
}

/// The block of a path.
pub(super) fn find<'p>(path: &str, program: &'p Program) -> Option<Placed<'p>> {
    all(program).into_iter().find(|placed| placed.node().path == path)
}
