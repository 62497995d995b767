//! The wires and signals of a compiled diagram, for stepping and drawing.

use legwork_block::{Feed, Feeds};
use legwork_program::{Edge, JudgeValue, Node, NodeId, PortPart, SignalRef};

use crate::checks::Signals;
use crate::ids::{BlockId, Id};
use crate::judge;
use crate::network::{Network, Part, Source};

/// Every wire of a part, by reader.
pub(crate) fn edges(network: &Network, part: &Part) -> Vec<Edge> {
    let mut edges = Vec::with_capacity(part.blocks.len());
    for (to, &block) in part.blocks.iter().enumerate() {
        let block = &network.blocks[block];
        let feeds = |feed: Feed| {
            block.declaration.groups.iter().any(|group| match group {
                Feeds::All => true,
                Feeds::Only(list) => list.contains(&feed),
            })
        };
        for (port, wire) in block.inputs.iter().enumerate() {
            let Some(wire) = wire else { continue };
            let feeds = feeds(Feed::Input(port as u16));
            wire.source.each_port(&mut |source| {
                edges.push(Edge {
                    from: NodeId::new(network.node(source.block)),
                    from_port: source.output.index() as u16,
                    part: source.select.iter().map(ToString::to_string).collect(),
                    to: NodeId::new(to),
                    to_port: Some(port as u16),
                    feeds,
                });
            });
        }
        for (index, &from) in block.asked.iter().enumerate() {
            edges.push(Edge {
                from: NodeId::new(network.node(from)),
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

/// The output ports that a source reads.
pub(crate) fn port_parts(network: &Network, source: &Source) -> Vec<PortPart> {
    let mut ports = Vec::new();
    source.each_port(&mut |part| {
        ports.push(PortPart {
            node: NodeId::new(network.node(part.block)),
            port: part.output.index() as u16,
            part: part.select.iter().map(ToString::to_string).collect(),
        });
    });
    ports
}

/// Path of an output port. That of an input of the diagram, which has no name of its own, is the
/// path of its block: `^u`.
pub(crate) fn port_path(block: &str, name: &str) -> String {
    if name.is_empty() { block.to_owned() } else { [block, ".", name].concat() }
}

/// Every output port of the diagram's own blocks, and every value of `judge:`, by path.
pub(crate) fn signals(known: &Signals<'_>, judge: &[JudgeValue]) -> Vec<SignalRef> {
    let mut signals = Vec::with_capacity(judge.len() + known.layout.nodes.len());
    signals.extend(judge.iter().map(judge::signal));
    for (&block, node) in known.typed.network.root.blocks.iter().zip(&known.layout.nodes) {
        signals.extend(node_signals(known, block, node));
    }
    // No two have one path.
    signals.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    signals
}

/// The output ports of a placed block.
pub(crate) fn node_signals<'n>(
    &Signals { typed, labels, .. }: &Signals<'n>,
    block: BlockId,
    node: &'n Node,
) -> impl Iterator<Item = SignalRef> + use<'n> {
    let names = node.output_names.iter();
    names.zip(typed.outputs(block).iter()).enumerate().map(move |(port, (name, output))| {
        SignalRef {
            path: port_path(&node.path, name),
            ty: output.ty.clone(),
            unit: output.units.one.clone(),
            units: output.units.each.clone(),
            labels: labels.of_output(block, port),
            slots: node.io.outputs.port(port).to_vec(),
        }
    })
}
