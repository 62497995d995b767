//! Functions that blocks need: what `needs:` binds to them (semantics 6.2).
//!
//! A binding is expanded like the inside of a mask whose inputs are the function's arguments. Its
//! blocks stand below the caller's path, and belong to the frame `caller.function()`.

use std::collections::BTreeSet;

use legwork_block::{
    Arguments, Diagnostic, Name, Named, Node, NodeField, NodeKind, Place, Span, Text,
};

use super::tree::{Env, Item, OuterInputs};
use super::{Expander, PendingInputs, wrong_type};
use crate::function_frame::signature;
use crate::ids::{BlockId, FrameId};

/// What stands for the caller inside.
const CALLER: &str = "call";

impl Expander<'_> {
    /// `needs: { "solve": Use("qp") }`.
    pub(super) fn expand_needs(&mut self, caller: BlockId, node: &Node, env: &Env) {
        let entries = match node.field("needs").map(|needs| (needs, needs.map())) {
            None => &[],
            Some((_, Some(entries))) => entries,
            Some((needs, None)) => {
                let expected = "a map of functions, such as { \"solve\": Use(\"qp\") }";
                self.report(wrong_type(needs, expected));
                &[]
            }
        };
        for (key, value) in entries {
            let Some(name) = key.text() else {
                self.report(wrong_type(key, "the name of a function as text"));
                continue;
            };
            let declared = &self.blocks[caller].declaration.functions;
            match declared.iter().position(|function| function.name == name) {
                Some(index) => self.expand_need(caller, index, value, env),
                None => {
                    let diagnostic = self.unknown_function(caller, name, key.span);
                    self.report(diagnostic);
                }
            }
        }
        let block = &self.blocks[caller];
        let unbound: Vec<Diagnostic> = block
            .declaration
            .functions
            .iter()
            .zip(&block.functions)
            .filter(|(_, frame)| frame.is_none())
            .map(|(function, _)| {
                let (path, name) = (&block.path, &function.name);
                let message = format!("{path}: the function `{name}` that it needs is not bound");
                Diagnostic::error("missing-function", block.span, message)
                    .label(signature(function))
                    .hint(format!("bind it in the block: needs: {{ \"{name}\": Use(\"…\") }}"))
            })
            .collect();
        self.diagnostics.extend(unbound);
    }

    fn unknown_function(&self, caller: BlockId, name: &str, span: Span) -> Diagnostic {
        let block = &self.blocks[caller];
        let functions = &block.declaration.functions;
        let known: Vec<&str> = functions.iter().map(|function| function.name.as_str()).collect();
        let kind = block.planned.kind();
        let message = format!("expected a function that {kind} needs, found `{name}`");
        Diagnostic::error("unknown-function", span, message)
            .suggest(name, known.iter().copied())
            .hint(if known.is_empty() {
                "it needs none".to_owned()
            } else {
                format!("it needs `{}`", known.join("`, `"))
            })
    }

    /// Expands what is bound to the function `index` of `caller`.
    fn expand_need(&mut self, caller: BlockId, index: usize, value: &Node, env: &Env) {
        let Some(call) = self.add_frame(caller, index, value.span) else { return };
        let path = self.blocks[caller].path.clone();
        let prefix = format!("{path}.");
        let outside = self.new_frame(prefix.clone(), None, None);
        self.tree.frames[outside].owner = Some(call);
        self.tree.frames[outside].items.insert(CALLER.to_owned(), Item::Block(call));
        let function = &self.blocks[caller].declaration.functions[index];
        let name = function.name.clone();
        let arguments: Vec<String> = function.arguments.iter().map(|a| a.name.clone()).collect();
        let results: Vec<String> = function.results.iter().map(|r| r.name.clone()).collect();
        let text = |text: String| (text_node(text, value.span), value.span);
        let sources = arguments
            .iter()
            .map(|argument| (argument.clone(), text(format!("{CALLER}.{argument}"))))
            .collect();
        let declared = arguments.clone();
        let inputs = OuterInputs { frame: outside, sources, declared, optional: BTreeSet::new() };
        let frame = self.new_frame(prefix, None, Some(inputs));
        let item = match called_with(value, arguments.iter().map(String::as_str)) {
            Ok(called) => {
                let callee = format!("{path}.{name}");
                // Whether the caller is on is the caller's affair.
                let gate = self.gate.take();
                let item = self.expand_block(frame, &callee, &called, env);
                self.gate = gate;
                item
            }
            Err(diagnostic) => {
                self.report(*diagnostic);
                Item::Broken
            }
        };
        self.tree.frames[frame].items.insert(name.clone(), item);
        let inputs = results
            .iter()
            .map(|result| (result.clone(), text(format!("{name}.{result}"))))
            .collect();
        self.pending.push(PendingInputs { block: Some(call), inputs, frame, is_frame: true });
    }

    /// `Function(file: …)` is a mask, `Function(ports: …, blocks: …, out: …)` a subsystem, that a
    /// block calls.
    pub(super) fn expand_function(
        &mut self,
        frame: FrameId,
        path: &str,
        node: &Node,
        env: &Env,
    ) -> Item {
        if self.tree.frames[frame].owner.is_none() {
            let at = node.kind_name().map_or(node.span, |kind| kind.span);
            let message = format!("{path}: a Function is called by a block, it has no wires");
            self.report(
                Diagnostic::error("function-on-wires", at, message)
                    .hint("write Subsystem(…) or Mask(…), or bind it in a block: needs: { … }"),
            );
            return Item::Broken;
        }
        if node.field("file").is_some() {
            self.expand_mask(frame, path, node, env)
        } else {
            self.expand_subsystem(frame, path, node, env)
        }
    }
}

/// The bound block, mask or hole with the function's arguments as its inputs.
fn called_with<'n>(
    value: &Node,
    arguments: impl Iterator<Item = &'n str>,
) -> Result<Node, Box<Diagnostic>> {
    let expected = "a block, a Function, a Mask or a Use, such as Use(\"qp\")";
    let NodeKind::Named(Named { name: Some(kind), arguments: parameters }) = &value.kind else {
        return Err(Box::new(wrong_type(value, expected)));
    };
    if kind.text == "ForEach" {
        return Err(Box::new(wrong_type(value, expected)));
    }
    let mut fields = match parameters {
        Arguments::Fields(fields) => fields.clone(),
        Arguments::None => Vec::new(),
        Arguments::Positional(args) if kind.text == "Use" && args.len() == 1 => {
            let name = Name { text: "of".into(), span: args[0].span };
            vec![NodeField { name, value: args[0].clone() }]
        }
        // Reported where the block is expanded.
        Arguments::Positional(_) => return Ok(value.clone()),
    };
    if let Some(field) = fields.iter().find(|field| field.name.text == "in") {
        let message = "the inputs of a called block are the arguments of the call";
        return Err(Box::new(
            Diagnostic::error("function-inputs", field.name.span, message)
                .hint("leave `in:` out; a Function may wire arguments to inputs of other names"),
        ));
    }
    let inputs = arguments
        .map(|name| {
            (text_node(name.to_owned(), value.span), text_node(format!("^{name}"), value.span))
        })
        .collect();
    fields.push(NodeField {
        name: Name { text: "in".into(), span: value.span },
        value: Node { span: value.span, kind: NodeKind::Map(inputs) },
    });
    let named = Named { name: Some(kind.clone()), arguments: Arguments::Fields(fields) };
    Ok(Node { span: value.span, kind: NodeKind::Named(named) })
}

/// A text that stands nowhere: every part of it points at the whole of `span`.
fn text_node(value: String, span: Span) -> Node {
    let place = Place::new(span, span.start, vec![(1, span.end - span.start)]);
    Node { span, kind: NodeKind::Text(Text { value, place }) }
}
