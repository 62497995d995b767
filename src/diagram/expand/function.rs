//! Functions that blocks need: what `needs:` binds to them (semantics 6.2).
//!
//! A binding is expanded like the inside of a mask whose inputs are the function's arguments. Its
//! blocks stand below the caller's path, and belong to the frame `caller.function()`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use legwork_block::{
    Arguments, Diagnostic, ErasedBlock, FunctionDeclaration, Name, Named, Node, NodeField,
    NodeKind, Place, Ports, Span, Text,
};

use super::tree::{Env, FrameId, Item, OuterInputs};
use super::{Expander, wrong_type};
use crate::network::frame_path;

/// A binding whose results are still text.
pub(super) struct PendingNeed {
    pub(super) name: String,
    pub(super) frame: FrameId,
    pub(super) results: BTreeMap<String, (Node, Span)>,
    pub(super) span: Span,
}

/// What stands for the caller inside.
const CALLER: &str = "call";

impl Expander<'_> {
    /// `needs: { "solve": Use("qp") }`.
    pub(super) fn expand_needs(
        &mut self,
        path: &str,
        node: &Node,
        block: &Arc<dyn ErasedBlock>,
        env: &Env,
    ) -> Vec<PendingNeed> {
        let Some(needs) = node.field("needs") else { return Vec::new() };
        let Some(entries) = needs.map() else {
            self.report(wrong_type(
                needs,
                "a map of functions, such as { \"solve\": Use(\"qp\") }",
            ));
            return Vec::new();
        };
        // What the block finds wrong with its parameters is said when the whole diagram is planned.
        let ports = Ports::new(&self.robots, self.loader, self.step);
        let Ok((declaration, _)) = Arc::clone(block).plan(ports) else { return Vec::new() };
        let declared = &declaration.functions;
        let mut bound = Vec::new();
        for (key, value) in entries {
            let Some(name) = key.text() else {
                self.report(wrong_type(key, "the name of a function as text"));
                continue;
            };
            let Some(function) = declared.iter().find(|function| function.name == name) else {
                let names = || declared.iter().map(|function| function.name.as_str());
                let kind = block.kind();
                let message = format!("expected a function that {kind} needs, found `{name}`");
                let diagnostic =
                    Diagnostic::error("unknown-function", key.span, message).suggest(name, names());
                let known: Vec<&str> = names().collect();
                self.report(diagnostic.hint(if known.is_empty() {
                    "it needs none".to_owned()
                } else {
                    format!("it needs `{}`", known.join("`, `"))
                }));
                continue;
            };
            bound.push(self.expand_need(path, function, value, env));
        }
        bound
    }

    fn expand_need(
        &mut self,
        path: &str,
        function: &FunctionDeclaration,
        value: &Node,
        env: &Env,
    ) -> PendingNeed {
        let owner = frame_path(path, &function.name);
        let prefix = format!("{path}.");
        let outside = self.new_frame(prefix.clone(), None, None);
        self.tree.frames[outside].owner = Some(owner.clone());
        self.tree.frames[outside].items.insert(CALLER.to_owned(), Item::Block { path: owner });
        let arguments = || function.arguments.iter().map(|argument| argument.name.as_str());
        let sources = arguments()
            .map(|name| {
                let node = text_node(format!("{CALLER}.{name}"), value.span);
                (name.to_owned(), (node, value.span))
            })
            .collect();
        let declared = arguments().map(str::to_owned).collect();
        let inputs = OuterInputs { frame: outside, sources, declared, optional: BTreeSet::new() };
        let frame = self.new_frame(prefix, None, Some(inputs));
        let item = match called_with(value, arguments()) {
            Ok(called) => {
                let callee = format!("{path}.{}", function.name);
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
        self.tree.frames[frame].items.insert(function.name.clone(), item);
        let results = function
            .results
            .iter()
            .map(|result| {
                let node = text_node(format!("{}.{}", function.name, result.name), value.span);
                (result.name.clone(), (node, value.span))
            })
            .collect();
        PendingNeed { name: function.name.clone(), frame, results, span: value.span }
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
