//! What the blocks that hold blocks share: the inside, the declared interface, its assertions.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use legwork_block::{Arguments, Diagnostic, Named, Node, NodeKind};

use super::tree::{Env, Item, OuterInputs};
use super::{Expander, PendingAssertion, RESERVED, signature, unknown_field, wrong_type};
use crate::ids::FrameId;

/// A declared interface: name and type of each port, as written.
#[derive(Default)]
pub(super) struct Interface {
    pub(super) inputs: IndexMap<String, Node>,
    pub(super) outputs: IndexMap<String, Node>,
    /// Inputs that need not be connected: `Optional("Vector(3)")`.
    pub(super) optional: BTreeSet<String>,
}

impl Expander<'_> {
    /// `Subsystem(ports: …, blocks: …, out: …, in: …)`: a mask written in place. It sees the
    /// surroundings' names in expressions, and signals only through its ports.
    pub(super) fn expand_subsystem(
        &mut self,
        frame: FrameId,
        path: &str,
        node: &Node,
        env: &Env,
    ) -> Item {
        self.known_fields(node, &["ports", "blocks", "out", "in", "doc"]);
        self.expand_inside(frame, path, node, node, env)
    }

    /// The inside of a mask or subsystem: `definition` holds `ports`, `blocks`, `out`.
    pub(super) fn expand_inside(
        &mut self,
        frame: FrameId,
        path: &str,
        instance: &Node,
        definition: &Node,
        inner: &Env,
    ) -> Item {
        let sources = self.input_nodes(instance.field("in"));
        let interface = self.interface(definition.field("ports"));
        let at = instance.kind_name().map_or(instance.span, |kind| kind.span);
        let names: Vec<&str> = interface.inputs.keys().map(String::as_str).collect();
        for (name, (node, _)) in &sources {
            if !interface.inputs.contains_key(name) {
                self.report(
                    Diagnostic::error(
                        "unknown-port",
                        node.span,
                        format!("`{path}` declares no input `{name}`"),
                    )
                    .suggest(name, names.iter().copied())
                    .hint(format!("it has `{}`", names.join("`, `"))),
                );
            }
        }
        for (name, ty) in &interface.inputs {
            match sources.get(name) {
                Some((node, span)) => {
                    let what = format!("input `{name}` of `{path}`");
                    let before = self.assertions.len();
                    self.assert_type(node, frame, ty, inner, *span, what, "wrong-type");
                    let is_optional = interface.optional.contains(name);
                    for assertion in &mut self.assertions[before..] {
                        assertion.is_optional = is_optional;
                    }
                }
                None if interface.optional.contains(name) => {}
                None => self.report(
                    Diagnostic::error(
                        "missing-input",
                        at,
                        format!("{path}: input `{name}` not connected"),
                    )
                    .also(ty.span, "declared here"),
                ),
            }
        }
        let declared = interface.inputs.keys().cloned().collect();
        let optional = interface.optional.clone();
        let outer = OuterInputs { frame, sources, declared, optional };
        let inside = self.new_frame(format!("{path}."), None, Some(outer));
        match definition.field("blocks") {
            Some(blocks) => self.expand_blocks(inside, blocks, inner),
            None => self.report(Diagnostic::error(
                "missing-field",
                definition.kind_name().map_or(definition.span, |kind| kind.span),
                "`blocks` is missing",
            )),
        }
        let outs = self.outs(definition, &interface, inside, path, inner);
        Item::Composite { inside, outs }
    }

    /// The `out:` of a mask: a path for every declared output and no other.
    fn outs(
        &mut self,
        definition: &Node,
        interface: &Interface,
        inside: FrameId,
        path: &str,
        inner: &Env,
    ) -> BTreeMap<String, Node> {
        let mut outs = BTreeMap::new();
        let entries = definition.field("out").and_then(Node::map).unwrap_or(&[]);
        let names: Vec<&str> = interface.outputs.keys().map(String::as_str).collect();
        for (key, node) in entries {
            let Some(name) = key.text() else { continue };
            let Some(ty) = interface.outputs.get(name) else {
                self.report(
                    Diagnostic::error(
                        "unknown-port",
                        key.span,
                        format!("`ports` declares no output `{name}`"),
                    )
                    .suggest(name, names.iter().copied()),
                );
                continue;
            };
            let what = format!("output `{name}` of `{path}`");
            self.assert_type(node, inside, ty, inner, node.span, what, "wrong-type");
            outs.insert(name.to_owned(), node.clone());
        }
        for (name, ty) in &interface.outputs {
            if !outs.contains_key(name) {
                self.report(
                    Diagnostic::error(
                        "missing-output",
                        ty.span,
                        format!("output `{name}` is declared, but `out` does not say where it comes from"),
                    )
                    .hint(format!("write out: {{ \"{name}\": \"block.port\" }}")),
                );
            }
        }
        outs
    }

    /// Holds a source against a declared type, once everything is expanded.
    #[allow(clippy::too_many_arguments, reason = "one call per declared port, all of it context")]
    pub(super) fn assert_type(
        &mut self,
        path: &Node,
        frame: FrameId,
        ty: &Node,
        env: &Env,
        span: legwork_block::Span,
        what: String,
        code: &'static str,
    ) {
        let NodeKind::Text(text) = &ty.kind else {
            self.report(wrong_type(ty, "a type as text, such as \"Vector(3)\""));
            return;
        };
        let mut var_count = 0;
        match self.types.parse(&text.value, &text.place, env, &self.robots, &mut var_count) {
            Ok(ty) => self.assertions.push(PendingAssertion {
                path: path.clone(),
                frame,
                ty,
                var_count,
                span,
                what,
                code,
                is_optional: false,
            }),
            Err(diagnostic) => self.report(diagnostic),
        }
    }

    /// `ports: (in: {…}, out: {…})`, or `ports: "fn(problem: ContactProblem) -> (f: Vector)"`.
    pub(super) fn interface(&mut self, ports: Option<&Node>) -> Interface {
        let mut interface = Interface::default();
        let Some(ports) = ports else { return interface };
        if let NodeKind::Text(text) = &ports.kind {
            return match signature::parse(text) {
                Ok(interface) => interface,
                Err(diagnostic) => {
                    self.report(diagnostic);
                    interface
                }
            };
        }
        for field in ports.fields() {
            let is_input = field.name.text == "in";
            let into = match field.name.text.as_str() {
                "in" => &mut interface.inputs,
                "out" => &mut interface.outputs,
                // Of a hole: what fills it if its user does not.
                "default" | "doc" => continue,
                _ => {
                    self.report(unknown_field(&field.name, &["in", "out"]));
                    continue;
                }
            };
            for (key, ty) in field.value.map().unwrap_or(&[]) {
                let Some(name) = key.text() else { continue };
                match &ty.kind {
                    NodeKind::Named(Named {
                        name: Some(kind),
                        arguments: Arguments::Positional(args),
                    }) if is_input && kind.text == "Optional" && args.len() == 1 => {
                        interface.optional.insert(name.to_owned());
                        into.insert(name.to_owned(), args[0].clone());
                    }
                    _ => {
                        into.insert(name.to_owned(), ty.clone());
                    }
                }
            }
        }
        interface
    }

    /// Reports fields that a composite does not have.
    pub(super) fn known_fields(&mut self, node: &Node, known: &[&str]) {
        for field in node.fields() {
            let name = field.name.text.as_str();
            if known.contains(&name) {
                continue;
            }
            let mut diagnostic = unknown_field(&field.name, known);
            if name == "every" && RESERVED.contains(&name) {
                diagnostic = diagnostic.hint("state the period in the blocks inside");
            }
            if name == "needs" {
                diagnostic = diagnostic.hint("bind functions in the blocks inside");
            }
            self.report(diagnostic);
        }
    }
}
