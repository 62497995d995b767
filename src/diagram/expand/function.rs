//! Functions that blocks need: what `needs:` binds to them (semantics 6.2).
//!
//! A binding is expanded like the inside of a mask whose inputs are the function's arguments. Its
//! blocks are below the caller's path, and belong to the frame `caller.function()`.

use std::collections::{BTreeMap, BTreeSet};

use legwork_block::{
    Arguments, Diagnostic, Name, Named, Node, NodeField, NodeKind, Place, Span, Text, code,
};

use super::mask::Mask;
use super::structural::At;
use super::subsystem::Subsystem;
use super::tree::{Env, Item, OuterInputs};
use super::unresolved::not_among;
use super::{Expander, PendingInputs};
use crate::function_frame::signature;
use crate::ids::BlockId;
use crate::language::{self, Entries, What, construct, wrong_type};
use crate::network::NetworkBlock;

construct! {
    /// A function that a block calls: `Function(file: "…")` is a mask, and `Function(ports: …,
    /// blocks: …, out: …)` a subsystem, in the `needs:` of a block.
    ///
    /// ```ron
    /// needs: { "f": Function(
    ///     ports: "fn(u: Real) -> (y: Real)",
    ///     blocks: { "product": Product(in: { "u1": "^u", "u2": "^u" }) },
    ///     out: { "y": "product.y" },
    /// ) },
    /// ```
    "Function" open:
    pub(super) struct Function<'n> {
        /// The file of a mask; without it, the fields are those of a subsystem.
        file: Option<&'n Node>,
    }
}

/// Functions and what is bound to them.
pub(super) struct OfNeeds;

impl What for OfNeeds {
    const EXPECTED: &'static str = "a map of functions, such as { \"solve\": Use(\"qp\") }";
}

/// What stands for the caller inside.
const CALLER: &str = "call";

impl Expander<'_> {
    pub(super) fn expand_function(
        &mut self,
        at: At<'_>,
        Function { at: span, file }: Function<'_>,
        node: &Node,
        env: &Env,
    ) -> Item {
        if self.tree.frames[at.frame].owner.is_none() {
            let message = format!("{}: a Function is called by a block, it has no wires", at.path);
            self.report(
                Diagnostic::error(code::FUNCTION_ON_WIRES, span, message)
                    .hint("write Subsystem(…) or Mask(…), or bind it in a block: needs: { … }"),
            );
            return Item::Broken;
        }
        let found = &mut *self.diagnostics;
        let item = match file {
            Some(_) => language::read::<Mask<'_>>(node, found)
                .map(|mask| self.expand_mask(at, mask, node, env)),
            None => language::read::<Subsystem<'_>>(node, found)
                .map(|part| self.expand_subsystem(at, part, node, env)),
        };
        item.unwrap_or(Item::Broken)
    }

    /// `needs: { "solve": Use("qp") }`.
    pub(super) fn expand_needs(
        &mut self,
        caller: BlockId,
        needs: Option<&Entries<'_, OfNeeds>>,
        env: &Env,
    ) {
        for entry in needs.into_iter().flat_map(Entries::iter) {
            let declared = &self.blocks[caller].declaration.functions;
            match declared.iter().position(|function| function.name == entry.name) {
                Some(index) => self.expand_need(caller, index, entry.value, env),
                None => {
                    let diagnostic = self.unknown_function(caller, entry.name, entry.name_span);
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
            .filter(|(function, frame)| frame.is_none() && !function.optional)
            .map(|(function, _)| {
                let (path, name) = (&block.path, &function.name);
                let message = format!("{path}: the function `{name}` that it needs is not bound");
                Diagnostic::error(code::MISSING_FUNCTION, block.span, message)
                    .label(signature(function))
                    .hint(format!("bind it in the block: needs: {{ \"{name}\": Use(\"…\") }}"))
            })
            .collect();
        self.diagnostics.extend(unbound);
    }

    fn unknown_function(&self, caller: BlockId, name: &str, span: Span) -> Diagnostic {
        let block = &self.blocks[caller];
        let functions = &block.declaration.functions;
        let known = functions.iter().map(|function| function.name.as_str());
        let kind = block.planned.kind();
        let message = format!("expected a function that {kind} needs, found `{name}`");
        let found = not_among(code::UNKNOWN_FUNCTION, span, message, name, known, "it needs");
        if functions.is_empty() { found.hint("it needs none") } else { found }
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
        let arguments: Vec<String> =
            function.arguments.iter().map(|a| a.name.to_string()).collect();
        let results: Vec<String> = function.results.iter().map(|r| r.name.to_string()).collect();
        let text = |text: String| text_node(text, value.span);
        let sources = arguments
            .iter()
            .map(|argument| (argument.clone(), text(format!("{CALLER}.{argument}"))))
            .collect();
        let declared = arguments.clone();
        let (frame, optional, fed) = (outside, BTreeSet::new(), BTreeMap::new());
        let inputs = OuterInputs { frame, sources, declared, optional, fed };
        let frame = self.new_frame(prefix, None, Some(inputs));
        let item = match called_with(value, arguments.iter().map(String::as_str)) {
            Ok(called) => {
                let callee = format!("{path}.{name}");
                // Whether the caller is on is the caller's affair.
                let gate = self.gate.take();
                let item = self.expand_block(frame, callee, &called, env);
                self.gate = gate;
                item
            }
            Err(diagnostic) => {
                self.report(*diagnostic);
                Item::Broken
            }
        };
        let item = self.fitting(caller, index, item, value.span);
        self.tree.frames[frame].items.insert(name.clone(), item);
        let inputs = results
            .iter()
            .map(|result| (result.clone(), text(format!("{name}.{result}"))))
            .collect();
        self.pending.push(PendingInputs { block: Some(call), inputs, frame, is_frame: true });
    }
}

impl Expander<'_> {
    /// What is bound to the function `index` of `caller`; broken, and said so, if it is a block
    /// that has not its arguments and results, where it is known which blocks have.
    fn fitting(&mut self, caller: BlockId, index: usize, item: Item, span: Span) -> Item {
        let function = &self.blocks[caller].declaration.functions[index];
        let mut bound = &item;
        while let Item::Hole { choice, .. } = bound {
            bound = choice;
        }
        let &Item::Block(callee) = bound else { return item };
        if function.hint.is_empty() {
            return item;
        }
        let NetworkBlock { path, planned, declaration, .. } = &self.blocks[callee];
        let inputs = declaration.inputs.iter().map(|input| &*input.name);
        let outputs = declaration.outputs.iter().map(|output| &*output.name);
        let arguments = function.arguments.iter().map(|argument| &*argument.name);
        let results = function.results.iter().map(|result| &*result.name);
        let missing: Vec<String> =
            [lacking("input", inputs, arguments), lacking("output", outputs, results)]
                .into_iter()
                .flatten()
                .collect();
        if missing.is_empty() {
            return item;
        }
        let (kind, missing) = (planned.kind(), missing.join(" and "));
        let message = format!("{kind} cannot be called as `{path}`: it has {missing}");
        let diagnostic = Diagnostic::error(code::WRONG_FUNCTION, span, message)
            .label(signature(function))
            .hint(function.hint.clone());
        self.report(diagnostic);
        // Nothing more is said of its inputs.
        self.pending.retain(|pending| pending.block != Some(callee));
        Item::Broken
    }
}

/// ``no inputs `M`, `q` `` of those asked for, if a block with the ports `has` lacks some.
fn lacking<'n>(
    what: &str,
    has: impl Iterator<Item = &'n str>,
    asked: impl Iterator<Item = &'n str>,
) -> Option<String> {
    let has: Vec<&str> = has.collect();
    let lacks: Vec<&str> = asked.filter(|name| !has.contains(name)).collect();
    let plural = if lacks.len() > 1 { "s" } else { "" };
    (!lacks.is_empty()).then(|| format!("no {what}{plural} `{}`", lacks.join("`, `")))
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
            Diagnostic::error(code::FUNCTION_INPUTS, field.name.span, message)
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

/// A text that is not in the file: every part of it points at the whole of `span`.
fn text_node(value: String, span: Span) -> Node {
    let place = Place::new(span, span.start, vec![(1, span.end - span.start)]);
    Node { span, kind: NodeKind::Text(Text { value, place }) }
}
