//! Blocks of the registry: their parameters, inputs and periods.

use std::collections::BTreeMap;

use legwork_block::{
    Arguments, Diagnostic, Diagnostics, Name, Named, Node, NodeField, NodeKind, Span,
};
use legwork_program::Ratio;

use super::blocks::NewBlock;
use super::tree::{Env, Item};
use super::value::node_text;
use super::{COMPOSITES, Expander, PendingInputs, RESERVED, literal, unknown_field, wrong_type};
use crate::ids::FrameId;
use crate::network::Every;

impl Expander<'_> {
    pub(super) fn expand_leaf(
        &mut self,
        frame: FrameId,
        path: &str,
        node: &Node,
        kind: &Name,
        env: &Env,
    ) -> Item {
        if let Some(hint) = self.registry.why_absent(&kind.text) {
            let message = format!("this build has no block `{}`", kind.text);
            self.report(Diagnostic::error("absent-block-kind", kind.span, message).hint(hint));
            return Item::Broken;
        }
        let Some(entry) = self.registry.find_block(&kind.text).cloned() else {
            let known = self.registry.blocks().map(|entry| entry.kind).chain(COMPOSITES);
            let message = format!("expected a kind of block, found `{}`", kind.text);
            let mut diagnostic = Diagnostic::error("unknown-block-kind", kind.span, message)
                .suggest(&kind.text, known);
            if diagnostic.hints.is_empty() {
                diagnostic = diagnostic.hint("`legwork blocks` lists all kinds");
            }
            self.report(diagnostic);
            return Item::Broken;
        };
        if let NodeKind::Named(Named { arguments: Arguments::Positional(args), .. }) = &node.kind {
            self.report(
                Diagnostic::error(
                    "wrong-type",
                    args[0].span,
                    format!("the parameters of {} have names", kind.text),
                )
                .hint(format!("such as {}", entry.example)),
            );
            return Item::Broken;
        }
        let every = self.every(node.field("every"), env);
        let inputs = self.input_nodes(node.field("in"));
        let mut found = Diagnostics::default();
        let block = (entry.bind)(node, env, &RESERVED, &mut found);
        for diagnostic in found {
            self.report(diagnostic);
        }
        let Some(block) = block else { return Item::Broken };
        if every.is_none() && node.field("every").is_some() {
            return Item::Broken;
        }
        let block = self.add_block(NewBlock {
            path: path.to_owned(),
            block,
            span: kind.span,
            parameter_spans: parameter_spans(node),
            text: leaf_text(kind, node, env),
            hidden: false,
            every,
            owner: self.tree.frames[frame].owner,
            gate: self.gate,
            condition: None,
        });
        self.pending.push(PendingInputs { block, inputs, frame, is_frame: false });
        let Some(block) = block else { return Item::Broken };
        self.expand_needs(block, node, env);
        Item::Block(block)
    }

    /// The `in:` of a block: name → path as written.
    pub(super) fn input_nodes(&mut self, node: Option<&Node>) -> BTreeMap<String, (Node, Span)> {
        let mut inputs = BTreeMap::new();
        let Some(node) = node else { return inputs };
        match &node.kind {
            NodeKind::Unit => {}
            NodeKind::Map(entries) => {
                for (key, value) in entries {
                    match key.text() {
                        Some(name) => {
                            inputs.insert(name.to_owned(), (value.clone(), value.span));
                        }
                        None => self.report(wrong_type(key, "the name of an input as text")),
                    }
                }
            }
            NodeKind::Named(Named { name: None, arguments: Arguments::Fields(fields) }) => {
                for field in fields {
                    inputs.insert(field.name.text.clone(), (field.value.clone(), field.value.span));
                }
            }
            _ => self.report(wrong_type(node, "inputs such as { \"u\": \"block.port\" }")),
        }
        inputs
    }

    /// `every:`: a period, or `(period: …, offset: …)`.
    pub(super) fn every(&mut self, node: Option<&Node>, env: &Env) -> Option<Every> {
        let node = node?;
        let (period, offset) = match &node.kind {
            NodeKind::Named(Named { name: None, .. }) => {
                for field in node.fields() {
                    if !["period", "offset"].contains(&field.name.text.as_str()) {
                        self.report(unknown_field(&field.name, &["period", "offset"]));
                    }
                }
                (node.field("period")?, node.field("offset"))
            }
            _ => (node, None),
        };
        let period_span = period.span;
        let period = self.seconds(period, env, true)?;
        let offset = match offset {
            Some(offset) => self.seconds(offset, env, false)?,
            None => Ratio::ZERO,
        };
        if !period.is_positive() || offset.is_negative() {
            self.report(Diagnostic::error(
                "out-of-range",
                period_span,
                format!("expected a period above zero and an offset of zero or more, found {period}, {offset}"),
            ));
            return None;
        }
        Some(Every { period, offset, span: node.span })
    }
}

/// Where each parameter of a block stands.
pub(super) fn parameter_spans(node: &Node) -> Vec<(String, Span)> {
    let span = |field: &NodeField| (field.name.text.clone(), field.value.span);
    node.fields().iter().map(span).collect()
}

/// The block as text with its expressions evaluated, for listings and the hash.
fn leaf_text(kind: &Name, node: &Node, env: &Env) -> String {
    let fields: Vec<String> = node
        .fields()
        .iter()
        .filter(|field| !RESERVED.contains(&field.name.text.as_str()))
        .map(|field| {
            let value = literal(&field.value, env).unwrap_or_else(|_| field.value.clone());
            format!("{}: {}", field.name.text, node_text(&value))
        })
        .collect();
    format!("{}({})", kind.text, fields.join(", "))
}
