//! What the parts that hold blocks share: the inside, the declared interface, its assertions.

use std::collections::BTreeMap;

use legwork_block::{Diagnostic, Node, NodeKind, Span};

use super::structural::At;
use super::tree::{Env, Item, OuterInputs};
use super::unresolved::not_among;
use super::{Expander, PendingAssertion};
use crate::ids::FrameId;
use crate::language::{Entries, Inputs, Interface, Needed, What, construct, wrong_type};

construct! {
    /// What a part with an inside of its own has: a mask's file, a subsystem, a conditional part.
    "Subsystem":
    pub(super) struct Inside<'n> {
        /// Name and type of each port: `(in: { "u": "Real" }, out: { "y": "Vector(3)" })`, the same
        /// as `"fn(u: Real) -> (y: Vector(3))"`, or `Interface(…)`. Blocks inside read the input
        /// `u` as `^u`.
        ports: Option<&'n Node>,
        /// The blocks inside.
        blocks: Needed<Entries<'n, OfBlocks>> =
            required("", "blocks: { \"a\": Constant(value: 1.0) }"),
        /// The source of each output, inside: `{ "y": "a.y" }`.
        out: Option<Entries<'n, OfOutputs>>,
    }
}

/// Blocks by name.
pub(crate) struct OfBlocks;

impl What for OfBlocks {
    const EXPECTED: &'static str = "a map of blocks, such as { \"a\": Constant(…) }";
}

/// Outputs of a part and their sources.
pub(super) struct OfOutputs;

impl What for OfOutputs {
    const EXPECTED: &'static str = "a map of outputs, such as { \"y\": \"block.port\" }";
}

impl Expander<'_> {
    /// Unfolds the inside of a part that is written at `span`, where its inputs are wired.
    pub(super) fn expand_inside(
        &mut self,
        At { frame, path }: At<'_>,
        inputs: Option<Inputs>,
        inside: Inside<'_>,
        span: Span,
        inner: &Env,
    ) -> Item {
        let sources = inputs.unwrap_or_default();
        let has_ports = inside.ports.is_some();
        let (interface, of_types) = match inside.ports {
            Some(ports) => self.interface(ports, inner),
            None => (Interface::default(), inner.clone()),
        };
        for (name, node) in sources.iter() {
            if !interface.inputs.contains_key(name) {
                let message = format!("`{path}` declares no input `{name}`");
                let known = interface.inputs.keys().map(String::as_str);
                self.report(not_among("unknown-port", node.span, message, name, known, "it has"));
            }
        }
        self.check_inputs(At { frame, path }, &interface, &sources, span, None, &of_types);
        let declared = interface.inputs.keys().cloned().collect();
        let optional = interface.optional.clone();
        let outer = OuterInputs { frame, sources, declared, optional };
        let frame = self.new_frame(format!("{path}."), None, Some(outer));
        if let Needed(Some(blocks)) = &inside.blocks {
            self.expand_blocks(frame, blocks, inner);
        }
        let outs = match inside.out {
            Some(out) if has_ports => self.outs(&out, &interface, frame, path, &of_types),
            Some(out) => {
                if let Some(first) = out.names().next() {
                    let message = "`out` names outputs that no `ports` declares";
                    let hint = format!("write ports: (out: {{ \"{first}\": \"Real\" }})");
                    self.report(Diagnostic::error("missing-field", out.span, message).hint(hint));
                }
                BTreeMap::new()
            }
            None => BTreeMap::new(),
        };
        self.check_outputs(&interface, &outs);
        Item::Composite { inside: frame, outs }
    }

    /// The `out:` of a part: a path for every declared output and no other.
    fn outs(
        &mut self,
        out: &Entries<'_, OfOutputs>,
        interface: &Interface,
        inside: FrameId,
        path: &str,
        inner: &Env,
    ) -> BTreeMap<String, Node> {
        let mut outs = BTreeMap::new();
        for entry in out.iter() {
            let name = entry.name;
            let Some(ty) = interface.outputs.get(name) else {
                let message = format!("`ports` declares no output `{name}`");
                let found = Diagnostic::error("unknown-port", entry.name_span, message);
                let known = interface.outputs.keys().map(String::as_str);
                self.report(found.suggest(name, known));
                continue;
            };
            let what = format!("output `{name}` of `{path}`");
            self.assert_type(entry.value, inside, ty, inner, what, "wrong-type", false);
            outs.insert(name.to_owned(), entry.value.clone());
        }
        outs
    }

    /// Reports declared outputs that come from nowhere.
    fn check_outputs(&mut self, interface: &Interface, outs: &BTreeMap<String, Node>) {
        for (name, ty) in interface.outputs.iter().filter(|(name, _)| !outs.contains_key(*name)) {
            let message =
                format!("output `{name}` is declared, but `out` does not say where it comes from");
            self.report(
                Diagnostic::error("missing-output", ty.span, message)
                    .hint(format!("write out: {{ \"{name}\": \"block.port\" }}")),
            );
        }
    }

    /// Holds what is connected to the part at `at` against the inputs that it declares, or that the
    /// `hole` declares which it fills. What is not connected is missing at `span`.
    pub(super) fn check_inputs(
        &mut self,
        At { frame, path }: At<'_>,
        interface: &Interface,
        sources: &Inputs,
        span: Span,
        hole: Option<&str>,
        env: &Env,
    ) {
        let of_hole = hole.map_or(String::new(), |hole| format!(" of `{hole}`"));
        let code = if hole.is_some() { "variant-interface" } else { "wrong-type" };
        for (name, ty) in &interface.inputs {
            let is_optional = interface.optional.contains(name);
            match sources.get(name) {
                Some(node) => {
                    let what = format!("input `{name}` of `{}`", hole.unwrap_or(path));
                    self.assert_type(node, frame, ty, env, what, code, is_optional);
                }
                None if is_optional => {}
                None => {
                    let message = format!("{path}: input `{name}`{of_hole} not connected");
                    let found = Diagnostic::error("missing-input", span, message);
                    self.report(found.also(ty.span, "declared here"));
                }
            }
        }
    }

    /// Holds a source against a declared type, once everything is expanded.
    #[allow(clippy::too_many_arguments, reason = "one call per declared port, all of it context")]
    pub(super) fn assert_type(
        &mut self,
        path: &Node,
        frame: FrameId,
        ty: &Node,
        env: &Env,
        what: String,
        code: &'static str,
        is_optional: bool,
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
                span: path.span,
                what,
                code,
                is_optional,
            }),
            Err(diagnostic) => self.report(diagnostic),
        }
    }
}
