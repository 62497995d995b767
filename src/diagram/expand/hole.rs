//! Holes and variants: a `Use` and the choice that fills it.

use std::collections::BTreeSet;
use std::rc::Rc;

use legwork_block::{
    Arguments, Diagnostic, Label, Name, Named, Node, NodeField, NodeKind, Place, Span, code,
};

use super::structural::At;
use super::tree::{Env, Hole, Item};
use super::value::{literal, with_fields};
use super::{AssertionOf, Expander};
use crate::language::{Inputs, Text, construct, wrong_type};

construct! {
    /// The choice of a variant, or what fills a hole of the mask around: `Use("qp")`.
    ///
    /// ```ron
    /// "filter": Use(of: "filter", in: { "u": "gain.y" }),
    /// ```
    "Use" shorthand open:
    pub(super) struct Use<'n> {
        /// Name of the variant or of the hole. Other fields are handed to the choice.
        of: Text<'n> = required("which hole or variant?", "Use(of: \"qp\", in: { … })"),
        /// The source of each input.
        inputs as "in": Option<Inputs>,
        /// What it is for.
        doc: Option<Text<'n>>,
    }
}

impl Expander<'_> {
    pub(super) fn expand_use(&mut self, at: At<'_>, part: Use<'_>, node: &Node, env: &Env) -> Item {
        let (At { frame, path }, name, name_node) = (at, part.of.value.to_owned(), part.of.node);
        let Some(hole) = self.find_hole(&name, name_node, env) else { return Item::Broken };
        let merged = match self.merge(&hole, node, env) {
            Ok(merged) => merged,
            Err(diagnostic) => {
                self.report(*diagnostic);
                return Item::Broken;
            }
        };
        // `in:` of the merged block is read where the Use is written; its parameters are literal,
        // and a composite's own text where the choice is written.
        let before = self.diagnostics.len();
        let choice = self.expand_block(frame, path.to_owned(), &merged, &hole.env);
        self.blame_filling(before, &hole, node);
        let Some(interface) = &hole.interface else { return choice };
        let declared_with = Env::of_names(Rc::clone(&hole.interface_names), &self.budget);
        let (interface, interface_env) = self.interface(interface, &declared_with);
        let sources = part.inputs.unwrap_or_default();
        self.check_inputs(at, &interface, &sources, part.at, Some(&name), &interface_env);
        let lacks = |name: &str| {
            interface.optional_outputs.contains(name) && !self.has_output(&choice, name)
        };
        let (absent, outs): (BTreeSet<String>, BTreeSet<String>) =
            interface.outputs.keys().cloned().partition(|name| lacks(name));
        for (output, ty) in interface.outputs.iter().filter(|(name, _)| !absent.contains(*name)) {
            let text = format!("{}.{output}", path_tail(path));
            let place = Place::from(hole.choice.span);
            let source = Node {
                span: hole.choice.span,
                kind: NodeKind::Text(legwork_block::Text { value: text, place }),
            };
            let what = format!("output `{output}` that the interface of `{name}` declares");
            let code = code::VARIANT_INTERFACE;
            let is_optional = interface.optional_outputs.contains(output);
            let of = AssertionOf::Path { path: source.clone(), frame, is_optional };
            self.assert_port(of, source.span, ty, &interface_env, what, code);
        }
        let outs = outs.into_iter().collect();
        Item::Hole { choice: Box::new(choice), outs, absent, name }
    }

    /// Whether an item has this output. One with mistakes may have any.
    fn has_output(&self, item: &Item, name: &str) -> bool {
        match item {
            Item::Block(block) => {
                self.blocks[*block].declaration.outputs.iter().any(|output| output.name == name)
            }
            Item::Composite { outs, .. } => outs.contains_key(name),
            Item::Hole { outs, .. } => outs.iter().any(|out| out == name),
            Item::ForEach { collected, .. } => collected.contains_key(name),
            Item::Share { .. } | Item::Broken => true,
        }
    }

    /// Tells at what fills a hole that it does not take what the mask hands to it: who fills it
    /// chose the one, and mends nothing in the other.
    fn blame_filling(&mut self, before: usize, hole: &Hole, user: &Node) {
        let Some(kind) = hole.choice.kind_name().filter(|kind| kind.span.file != user.span.file)
        else {
            return;
        };
        let handed = |span: Span| {
            let within = |outer: Span| {
                span.file == outer.file && outer.start <= span.start && span.end <= outer.end
            };
            let own = user.fields().iter().filter(|field| field.name.text != "in");
            own.clone().any(|field| within(field.name.span) || within(field.value.span))
        };
        self.diagnostics.change_from(before, |found| {
            let place = found.primary.span;
            if handed(place) {
                found.primary.span = kind.span;
                found.secondary.insert(0, Label { span: place, text: "handed on here".to_owned() });
            }
        });
    }

    fn find_hole(&mut self, name: &str, node: &Node, env: &Env) -> Option<Hole> {
        if let Some(hole) = env.holes.get(name) {
            return hole.clone();
        }
        if env.is_open {
            return None;
        }
        if env.root
            && let Some(variant) = self.variants.get(name)
        {
            let mut around = (*env.around).clone();
            if around.variants.iter().any(|open| open == name) {
                let chain = around.variants.join(" ► ");
                self.report(Diagnostic::error(
                    code::VARIANT_CYCLE,
                    node.span,
                    format!("a choice may not use its own variant: {chain} ► {name}"),
                ));
                return None;
            }
            around.variants.push(name.to_owned());
            return Some(Hole {
                choice: variant.choice.clone(),
                env: Env { around: Rc::new(around), ..env.clone() },
                interface: variant.ports.clone(),
                interface_names: Rc::clone(&env.names),
            });
        }
        if env.root && self.failed_variants.contains(name) {
            return None;
        }
        let known: Vec<String> = if env.root {
            self.variants.keys().cloned().collect()
        } else {
            env.holes.keys().cloned().collect()
        };
        let what = if env.root { "a variant" } else { "a hole of this mask" };
        let message = format!("expected the name of {what}, found `{name}`");
        let mut diagnostic = Diagnostic::error(code::UNKNOWN_VARIANT, node.span, message)
            .suggest(name, known.iter().map(String::as_str));
        if !known.is_empty() {
            diagnostic = diagnostic.hint(format!("known are `{}`", known.join("`, `")));
        }
        self.report(diagnostic);
        None
    }

    /// The choice with the `in:` and further parameters of its user.
    fn merge(&self, hole: &Hole, user: &Node, env: &Env) -> Result<Node, Box<Diagnostic>> {
        let choice = &hole.choice;
        let NodeKind::Named(Named { name: Some(kind), arguments }) = &choice.kind else {
            return Err(Box::new(wrong_type(choice, "a block, a mask or a Use")));
        };
        // `Use("other")` handed on: write it with a name.
        let named = match arguments {
            Arguments::Positional(args) if kind.text == "Use" && args.len() == 1 => {
                let name = Name { text: "of".into(), span: args[0].span };
                Some(NodeField { name, value: args[0].clone() })
            }
            Arguments::Positional(_) => {
                return Err(Box::new(wrong_type(choice, "a block whose parameters have names")));
            }
            Arguments::Fields(_) | Arguments::None => None,
        };
        let mut fields: Vec<NodeField> = named.into_iter().collect();
        for field in user.fields() {
            let value = match field.name.text.as_str() {
                "of" | "doc" => continue,
                "in" => field.value.clone(),
                _ => literal(&field.value, env)?,
            };
            fields.push(NodeField { name: field.name.clone(), value });
        }
        Ok(with_fields(choice, fields))
    }
}

/// The last name of a path, as it is called in its own frame.
fn path_tail(path: &str) -> &str {
    path.rfind('.').map_or(path, |dot| &path[dot + 1..])
}
