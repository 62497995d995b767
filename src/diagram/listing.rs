//! The wires and signals of a compiled diagram, for stepping and drawing.

use legwork_block::{Feed, Feeds};
use legwork_program::{Edge, NodeId, SignalRef};

use crate::infer::{TypedNetwork, find_output, unit_text};
use crate::layout::Layout;

/// Every wire, by reader.
pub(crate) fn edges(network: &TypedNetwork) -> Vec<Edge> {
    let mut edges = Vec::new();
    for (to, block) in network.blocks.iter().enumerate() {
        let feeds = |feed: Feed| {
            block.declaration.groups.iter().any(|group| match group {
                Feeds::All => true,
                Feeds::Only(list) => list.contains(&feed),
            })
        };
        for (port, input) in block.declaration.inputs.iter().enumerate() {
            let Some((source, _)) = block.network.inputs.get(&input.name) else { continue };
            let mut paths = Vec::new();
            source.ports(&mut paths);
            for path in paths {
                let Ok((from, from_port, _)) = find_output(network, path) else { continue };
                edges.push(Edge {
                    from: NodeId::new(from),
                    from_port: from_port as u16,
                    part: path.select.iter().map(ToString::to_string).collect(),
                    to: NodeId::new(to),
                    to_port: Some(port as u16),
                    feeds: feeds(Feed::Input(port as u16)),
                });
            }
        }
        for (index, &from) in block.asked.iter().enumerate() {
            edges.push(Edge {
                from: NodeId::new(from),
                from_port: 0,
                part: String::new(),
                to: NodeId::new(to),
                to_port: None,
                feeds: feeds(Feed::Shared(index as u16)),
            });
        }
    }
    edges
}

/// Every output port by path.
pub(crate) fn signals(network: &TypedNetwork, layout: &Layout) -> Vec<SignalRef> {
    let mut signals = Vec::new();
    for (block, node) in network.blocks.iter().zip(&layout.nodes) {
        for (port, output) in block.declaration.outputs.iter().enumerate() {
            signals.push(SignalRef {
                path: format!("{}.{}", node.path, output.name),
                ty: output.ty.clone(),
                unit: unit_text(&output.unit),
                slots: node.io.outputs.port(port).to_vec(),
            });
        }
    }
    signals.sort_by(|a, b| a.path.cmp(&b.path));
    signals
}
