//! Parameters, robots and blocks that nothing reads.

use std::collections::BTreeSet;

use legwork_block::{Arguments, Diagnostic, Named, Node, NodeKind, parse_quantity};

use super::names::OfNames;
use super::{Expanded, Expander, Item, Tree};
use crate::language::{Entries, Entry};

/// What may be read or not.
pub(super) struct Readables<'d, 'n> {
    pub(super) params: Option<&'d Entries<'n, OfNames>>,
    pub(super) robots: Option<&'d Entries<'n, OfNames>>,
    /// Blocks, unless all are recorded.
    pub(super) blocks: Option<&'d Expanded>,
}

impl Expander<'_> {
    /// Warns of parameters, robots and blocks whose names stand nowhere in the diagram, not even in
    /// a choice that was not taken, unless there are mistakes.
    pub(super) fn warn_of_unused(&mut self, found: &Readables<'_, '_>, document: &Node) {
        let &Readables { params, robots, blocks } = found;
        let is_empty = params.is_none() && robots.is_none() && blocks.is_none();
        if is_empty || self.diagnostics.has_errors() {
            return;
        }
        let mut words = BTreeSet::new();
        add_words(document, &mut words);
        // Of a name that is no word nothing is said.
        let is_unread = |name: &str| !words.contains(name) && name.chars().all(is_of_word);
        for (section, what) in [(params, "parameter"), (robots, "robot")] {
            for Entry { name, name_span, .. } in section.into_iter().flat_map(Entries::iter) {
                // A block may take the only robot, or all, without naming it.
                let is_asked = what == "robot" && self.robots.is_asked(name);
                if !is_asked && is_unread(name) {
                    let message = format!("nothing reads the {what} `{name}`");
                    self.report(Diagnostic::warning("unused", name_span, message));
                }
            }
        }
        if let Some(Expanded { network, names, .. }) = blocks {
            for (name, item) in &names.tree.frames[Tree::ROOT].items {
                let Item::Block(id) = item else { continue };
                let block = &network.blocks[*id];
                // One that has an update may do more than its outputs say.
                let declaration = &block.declaration;
                let only_computes = !declaration.outputs.is_empty()
                    && !declaration.updates
                    && declaration.guards.is_empty()
                    && declaration.functions.is_empty()
                    && declaration.stops.is_none();
                if only_computes && is_unread(name) {
                    let message =
                        format!("nothing reads the block `{name}`, and `log:` has it not");
                    self.report(Diagnostic::warning("unused", block.span, message));
                }
            }
        }
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Adds the words of all texts, but for those of `doc:`, of quantities and of names of entries.
fn add_words<'n>(node: &'n Node, words: &mut BTreeSet<&'n str>) {
    match &node.kind {
        NodeKind::Text(text) => {
            let text = text.value.as_str();
            words.insert(text);
            if parse_quantity(text).is_err() {
                words.extend(text.split(|c| !is_of_word(c)));
            }
        }
        NodeKind::List(items) => items.iter().for_each(|item| add_words(item, words)),
        NodeKind::Map(entries) => entries.iter().for_each(|(_, value)| add_words(value, words)),
        NodeKind::Named(Named { arguments, .. }) => match arguments {
            Arguments::None => {}
            Arguments::Positional(items) => items.iter().for_each(|item| add_words(item, words)),
            Arguments::Fields(fields) => {
                let fields = fields.iter().filter(|field| field.name.text != "doc");
                fields.for_each(|field| add_words(&field.value, words));
            }
        },
        NodeKind::Unit | NodeKind::Bool(_) | NodeKind::Number(_) => {}
    }
}
