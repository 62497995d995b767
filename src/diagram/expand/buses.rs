//! The section `buses:`: the diagram's own types.

use legwork_block::{Diagnostic, Node, NodeKind, Type};

use super::tree::Env;
use super::{Expander, wrong_type};
use crate::types_text::{LEAF_LIMIT, leaves};

impl Expander<'_> {
    /// `buses: { "Foot": { "J": "Matrix(3, go.nv)", "p": Field(type: "Vector(3)", unit: "m") } }`.
    pub(super) fn buses(&mut self, node: Option<&Node>, env: &Env) {
        let Some(node) = node else { return };
        let Some(entries) = node.map() else {
            self.report(wrong_type(node, "a map of buses"));
            return;
        };
        // A bus may hold another that stands behind it: rounds until nothing new is known.
        let mut waiting: Vec<&(Node, Node)> = entries.iter().collect();
        loop {
            let before = waiting.len();
            let mut failed = Vec::new();
            for entry in std::mem::take(&mut waiting) {
                match self.bus(entry, env) {
                    Ok(()) => {}
                    Err(diagnostics) => failed.push((entry, diagnostics)),
                }
            }
            if failed.is_empty() {
                return;
            }
            if failed.len() == before {
                for (_, diagnostics) in failed {
                    diagnostics.into_iter().for_each(|diagnostic| self.report(diagnostic));
                }
                return;
            }
            waiting = failed.into_iter().map(|(entry, _)| entry).collect();
        }
    }

    fn bus(&mut self, (key, fields): &(Node, Node), env: &Env) -> Result<(), Vec<Diagnostic>> {
        let (Some(name), Some(entries)) = (key.text(), fields.map()) else {
            return Err(vec![wrong_type(fields, "a map of fields and their types")]);
        };
        if self.types.named.iter().any(|known| known.name == name) {
            let message = format!("`{name}` is the name of a bus of the library");
            return Err(vec![Diagnostic::error("duplicate-key", key.span, message)]);
        }
        let mut found = Vec::new();
        let mut errors = Vec::new();
        let mut next_var = 0;
        for (key, node) in entries {
            let Some(field) = key.text() else { continue };
            let ty_node = node.field("type").unwrap_or(node);
            let NodeKind::Text(text) = &ty_node.kind else {
                errors.push(wrong_type(node, "a type as text, or Field(type: …, unit: …)"));
                continue;
            };
            let before = next_var;
            match self.types.parse(&text.value, &text.place, env, &self.robots, &mut next_var) {
                Ok(ty)
                    if next_var == before || !matches!(ty, Type::Vector(_) | Type::Matrix(..)) =>
                {
                    let note =
                        |name: &str| node.field(name).and_then(Node::text).map(str::to_owned);
                    found.push(legwork_block::BusField {
                        name: field.to_owned(),
                        ty,
                        unit: note("unit"),
                        frame: note("frame"),
                        doc: note("doc").unwrap_or_default(),
                    });
                }
                Ok(_) => errors.push(
                    Diagnostic::error(
                        "bad-type",
                        ty_node.span,
                        format!("field `{field}` of a bus needs its dimensions"),
                    )
                    .hint("write \"Vector(3)\" or \"Matrix(3, go.nv)\""),
                ),
                Err(diagnostic) => errors.push(diagnostic),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let ty = legwork_block::bus(name, Vec::new(), found, Vec::new());
        // Buses in buses grow fast.
        if leaves(&ty) > LEAF_LIMIT {
            let message = format!("the bus `{name}` has more than {LEAF_LIMIT} parts");
            return Err(vec![Diagnostic::error("too-large", key.span, message)]);
        }
        self.types.buses.insert(name.to_owned(), (ty, next_var));
        Ok(())
    }
}
