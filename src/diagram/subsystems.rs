//! What the subsystems of a diagram look like from outside.

use legwork_block::Node;
use legwork_program::{NodeId, PortPart, Subsystem, SubsystemPort};

use crate::expand::{Collected, Frame, Item, Names, Resolver};
use crate::ids::FrameId;
use crate::listing::port_parts;
use crate::network::Network;

/// The masks, subsystems, conditional parts and for-each of the diagram, by path. Those inside
/// functions are left out: their blocks are no nodes of the program.
pub(crate) fn subsystems(network: &Network, names: &Names) -> Vec<Subsystem> {
    let Names { tree, .. } = names;
    let find = Find { resolver: Resolver { tree, blocks: &network.blocks }, network };
    let mut found = Vec::new();
    for frame in tree.frames.iter().filter(|frame| frame.owner.is_none()) {
        for (name, item) in &frame.items {
            found.extend(find.subsystem(frame, name, item));
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

struct Find<'a> {
    resolver: Resolver<'a>,
    network: &'a Network,
}

impl Find<'_> {
    fn subsystem(&self, frame: &Frame, name: &str, item: &Item) -> Option<Subsystem> {
        let path = || [&frame.prefix, name].concat();
        match item {
            Item::Hole { choice, .. } => self.subsystem(frame, name, choice),
            Item::Composite { inside, outs, .. } => {
                let outer = self.resolver.tree.frames[*inside].inputs.as_ref();
                let inputs = outer.into_iter().flat_map(|outer| {
                    outer
                        .sources
                        .iter()
                        .filter_map(|(name, source)| self.port(name, &[outer.frame], source))
                });
                let outputs =
                    outs.iter().filter_map(|(name, node)| self.port(name, &[*inside], node));
                let (inputs, outputs) = (inputs.collect(), outputs.collect());
                Some(Subsystem { path: path(), inputs, outputs })
            }
            Item::ForEach { copies, collected } => {
                let copies: Vec<FrameId> = copies.values().copied().collect();
                let output = |(name, collected): (&String, &Collected)| match collected {
                    Collected::Array(node) | Collected::Join(node) => {
                        self.port(name, &copies, node)
                    }
                    Collected::Block(block) => {
                        let node = NodeId::new(self.network.node(*block));
                        let ports = vec![PortPart { node, port: 0, part: String::new() }];
                        Some(SubsystemPort { name: name.clone(), ports })
                    }
                    Collected::Broken => None,
                };
                let outputs = collected.iter().filter_map(output).collect();
                Some(Subsystem { path: path(), inputs: Vec::new(), outputs })
            }
            Item::Block(_) | Item::Share { .. } | Item::Broken => None,
        }
    }

    /// The port `name`, which is what `node` means in each of the frames; none if it is not
    /// connected.
    fn port(&self, name: &str, frames: &[FrameId], node: &Node) -> Option<SubsystemPort> {
        let mut ports = Vec::new();
        for &frame in frames {
            let source = self.resolver.source(frame, node, false).ok()?;
            ports.extend(port_parts(self.network, &source));
        }
        Some(SubsystemPort { name: name.to_owned(), ports })
    }
}
