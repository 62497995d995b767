//! What the parts that hold blocks share: the inside, the declared interface, its assertions.

use std::collections::BTreeMap;

use legwork_block::{Diagnostic, Node, Span, code};

use super::feed::Port;
use super::structural::At;
use super::tree::{Env, Item, OuterInputs};
use super::unresolved::undeclared;
use super::{AssertionOf, Expander};
use crate::ids::{BlockId, FrameId};
use crate::language::{Entries, Inputs, Interface, Needed, What, construct};

construct! {
    /// What a part with an inside of its own has: a mask's file, a subsystem, a conditional part.
    "Subsystem":
    pub(super) struct Inside<'n> {
        /// Its ports: `(in: { "u": "Real" }, out: { "y": "Vector(3)" })`, the same as
        /// `"fn(u: Real) -> (y: Vector(3))"`, or `Interface(…)`. Blocks inside read the input `u` as
        /// `^u`.
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
        self.check_names(path, &interface, &sources);
        self.check_inputs(At { frame, path }, &interface, &sources, span, None, &of_types);
        let fed = self.defaults(At { frame, path }, &interface, &sources, &of_types);
        let declared = interface.inputs.keys().cloned().collect();
        let optional = interface.optional.clone();
        let outer = OuterInputs { frame, sources, declared, optional, fed };
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
                    self.report(
                        Diagnostic::error(code::MISSING_FIELD, out.span, message).hint(hint),
                    );
                }
                BTreeMap::new()
            }
            None => BTreeMap::new(),
        };
        self.check_outputs(&interface, &outs);
        let absent = interface.optional_outputs.iter().filter(|name| !outs.contains_key(*name));
        let absent = absent.cloned().collect();
        Item::Composite { inside: frame, outs, absent }
    }

    /// Reports what is connected to inputs that the part at `path` does not declare.
    pub(super) fn check_names(&mut self, path: &str, interface: &Interface, sources: &Inputs) {
        for (name, node) in sources.iter() {
            if !interface.inputs.contains_key(name) {
                self.report(undeclared(&format!("`{path}`"), interface, name, node.span));
            }
        }
    }

    /// What feeds the inputs that are not connected and have a default.
    fn defaults(
        &mut self,
        At { frame, path }: At<'_>,
        interface: &Interface,
        sources: &Inputs,
        of_types: &Env,
    ) -> BTreeMap<String, BlockId> {
        let mut fed = BTreeMap::new();
        for (name, declared) in &interface.inputs {
            let (Some(default), None) = (&declared.default, sources.get(name)) else { continue };
            let path = format!("{path}.^{name}");
            let port = Port { frame, path, name, declared, of_types, held: false };
            if let Some(feed) = self.feed(&port, Some(default), of_types) {
                fed.insert(name.clone(), feed.block);
            }
        }
        fed
    }

    /// The `out:` of a part: a path for every declared output and no other.
    pub(super) fn outs(
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
                let found = Diagnostic::error(code::UNKNOWN_PORT, entry.name_span, message);
                let known = interface.outputs.keys().map(String::as_str);
                self.report(found.suggest(name, known));
                continue;
            };
            let what = format!("output `{name}` of `{path}`");
            let (path, is_optional) =
                (entry.value.clone(), interface.optional_outputs.contains(name));
            let of = AssertionOf::Path { path, frame: inside, is_optional };
            self.assert_port(of, entry.value.span, ty, inner, what, code::WRONG_TYPE);
            outs.insert(name.to_owned(), entry.value.clone());
        }
        outs
    }

    /// Reports declared outputs that come from nowhere.
    pub(super) fn check_outputs(&mut self, interface: &Interface, outs: &BTreeMap<String, Node>) {
        let is_missing =
            |name: &str| !outs.contains_key(name) && !interface.optional_outputs.contains(name);
        for (name, ty) in interface.outputs.iter().filter(|(name, _)| is_missing(name)) {
            let message =
                format!("output `{name}` is declared, but `out` does not say where it comes from");
            self.report(
                Diagnostic::error(code::MISSING_OUTPUT, ty.ty.span, message)
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
        self.check_connected(path, interface, sources, span, hole);
        let code = if hole.is_some() { code::VARIANT_INTERFACE } else { code::WRONG_TYPE };
        for (name, ty) in &interface.inputs {
            let Some(node) = sources.get(name) else { continue };
            let what = format!("input `{name}` of `{}`", hole.unwrap_or(path));
            let is_optional = interface.optional.contains(name);
            let of = AssertionOf::Path { path: node.clone(), frame, is_optional };
            self.assert_port(of, node.span, ty, env, what, code);
        }
    }

    /// Reports inputs of the part at `path`, or of the `hole` that it fills, that are not connected
    /// and should be.
    pub(super) fn check_connected(
        &mut self,
        path: &str,
        interface: &Interface,
        sources: &Inputs,
        span: Span,
        hole: Option<&str>,
    ) {
        let of_hole = hole.map_or(String::new(), |hole| format!(" of `{hole}`"));
        for (name, ty) in &interface.inputs {
            let is_fed = sources.get(name).is_some() || ty.default.is_some();
            if !is_fed && !interface.optional.contains(name) {
                let message = format!("{path}: input `{name}`{of_hole} not connected");
                let found = Diagnostic::error(code::MISSING_INPUT, span, message);
                self.report(found.also(ty.ty.span, "declared here"));
            }
        }
    }
}
