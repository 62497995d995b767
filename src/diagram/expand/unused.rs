//! Parameters, robots and blocks that nothing reads.

use std::collections::HashSet;

use legwork_block::{Arguments, Diagnostic, Named, Node, NodeKind, Span, code, parse_quantity};

use super::names::OfNames;
use super::{Expanded, Expander, Item, Logged, Tree};
use crate::ids::Id as _;
use crate::language::{Entries, Entry};
use crate::network::Source;

/// What may be read or not.
pub(super) struct Readables<'d, 'n> {
    pub(super) params: Option<&'d Entries<'n, OfNames>>,
    pub(super) robots: Option<&'d Entries<'n, OfNames>>,
    /// Blocks, unless all are recorded.
    pub(super) blocks: Option<&'d Expanded>,
}

impl Expander<'_> {
    /// Warns of parameters, robots and blocks whose names stand nowhere in `texts`, the diagram and
    /// what it was before it was changed, not even in a choice that was not taken, unless there are
    /// mistakes.
    pub(super) fn warn_of_unused(&mut self, found: &Readables<'_, '_>, texts: [Option<&Node>; 2]) {
        let &Readables { params, robots, blocks } = found;
        if self.diagnostics.has_errors() {
            return;
        }
        let mut unread: Vec<(&str, Span, String)> = Vec::new();
        for (section, what) in [(params, "parameter"), (robots, "robot")] {
            for Entry { name, name_span, .. } in section.into_iter().flat_map(Entries::iter) {
                // A block may take the only robot, or all, without naming it.
                if what == "parameter" || !self.robots.is_asked(name) {
                    unread.push((name, name_span, format!("nothing reads the {what} `{name}`")));
                }
            }
        }
        if let Some(expanded) = blocks {
            add_unread_blocks(expanded, &mut unread);
        }
        // Of a name that is no word nothing is said.
        unread.retain(|(name, ..)| name.chars().all(is_of_word));
        let mut names: HashSet<&str> = unread.iter().map(|(name, ..)| *name).collect();
        texts.into_iter().flatten().for_each(|text| strike_words(text, &mut names));
        for (_, span, message) in unread.iter().filter(|(name, ..)| names.contains(name)) {
            self.report(Diagnostic::warning(code::UNUSED, *span, message.clone()));
        }
    }
}

/// Adds the diagram's own blocks that no wire, no entry of `log:` and no output reads, and that do
/// nothing but compute.
fn add_unread_blocks<'e>(expanded: &'e Expanded, unread: &mut Vec<(&'e str, Span, String)>) {
    let Expanded { network, names, logs, outputs, .. } = expanded;
    let mut is_read = vec![false; network.blocks.len()];
    let mut read =
        |source: &Source| source.each_port(&mut |part| is_read[part.block.index()] = true);
    network.blocks.iter().flat_map(|block| block.inputs.iter().flatten()).for_each(|wire| {
        read(&wire.source);
    });
    outputs.iter().for_each(|output| read(&output.source));
    for entry in logs.iter().flatten() {
        if let Logged::Port(source) = &entry.source {
            read(source);
        }
    }
    for (name, item) in &names.tree.frames[Tree::ROOT].items {
        let Item::Block(id) = item else { continue };
        let block = &network.blocks[*id];
        let declaration = &block.declaration;
        // One that has an update may do more than its outputs say.
        let only_computes = !declaration.outputs.is_empty()
            && !declaration.updates
            && declaration.guards.is_empty()
            && declaration.functions.is_empty()
            && declaration.stops.is_none();
        if only_computes && !is_read[id.index()] {
            let message = format!("nothing reads the block `{name}`, and `log:` has it not");
            unread.push((name, block.span, message));
        }
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Takes the words of all texts out of `names`, but for those of `doc:`, of quantities and of names
/// of entries.
fn strike_words(node: &Node, names: &mut HashSet<&str>) {
    if names.is_empty() {
        return;
    }
    match &node.kind {
        NodeKind::Text(text) => {
            let text = text.value.as_str();
            let words = || text.split(|c| !is_of_word(c));
            if words().any(|word| names.contains(word)) {
                names.remove(text);
                if parse_quantity(text).is_err() {
                    words().for_each(|word| {
                        names.remove(word);
                    });
                }
            }
        }
        NodeKind::List(items) => items.iter().for_each(|item| strike_words(item, names)),
        NodeKind::Map(entries) => entries.iter().for_each(|(_, value)| strike_words(value, names)),
        NodeKind::Named(Named { arguments, .. }) => match arguments {
            Arguments::None => {}
            Arguments::Positional(items) => {
                items.iter().for_each(|item| strike_words(item, names));
            }
            Arguments::Fields(fields) => {
                let fields = fields.iter().filter(|field| field.name.text != "doc");
                fields.for_each(|field| strike_words(&field.value, names));
            }
        },
        NodeKind::Unit | NodeKind::Bool(_) | NodeKind::Number(_) => {}
    }
}
