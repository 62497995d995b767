//! The section `variants:`: the choices, and which of them was taken.

use legwork_block::{Diagnostic, Node, Span};

use super::{Expander, wrong_type};

/// A variant with its choice made.
pub(crate) struct VariantEntry {
    pub(crate) chosen: String,
    pub(crate) choice: Node,
    pub(crate) ports: Option<Node>,
    pub(crate) choices: Vec<String>,
}

impl Expander<'_> {
    /// `variants: { "qp": Variant(ports: …, default: "a", choices: {…}) }`, and what was chosen.
    pub(super) fn read_variants(&mut self, node: Option<&Node>) {
        let entries = node.and_then(Node::map).unwrap_or(&[]);
        if let (Some(node), true) = (node, entries.is_empty())
            && node.map().is_none()
        {
            self.report(wrong_type(node, "a map of variants"));
        }
        for (key, node) in entries {
            let Some(name) = key.text() else { continue };
            self.known_fields(node, &["ports", "default", "choices", "doc"]);
            let choices = node.field("choices").and_then(Node::map).unwrap_or(&[]);
            let names: Vec<String> =
                choices.iter().filter_map(|(k, _)| k.text().map(str::to_owned)).collect();
            let chosen = match self.chosen.get(name) {
                Some((choice, span)) => Some((choice.clone(), *span)),
                None => match node.field("default") {
                    Some(default) => default.text().map(|text| (text.to_owned(), default.span)),
                    None => None,
                },
            };
            let Some((choice, span)) = chosen else {
                self.report(Diagnostic::error(
                    "missing-field",
                    node.span,
                    format!("variant `{name}` needs `default` as text, and `choices`"),
                ));
                self.failed_variants.insert(name.to_owned());
                continue;
            };
            let Some((_, choice_node)) = choices.iter().find(|(k, _)| k.text() == Some(&choice))
            else {
                self.report(
                    Diagnostic::error(
                        "unknown-variant",
                        span,
                        format!("variant `{name}` has no choice `{choice}`"),
                    )
                    .suggest(&choice, names.iter().map(String::as_str))
                    .hint(format!("it has `{}`", names.join("`, `"))),
                );
                self.failed_variants.insert(name.to_owned());
                continue;
            };
            self.variants.insert(
                name.to_owned(),
                VariantEntry {
                    chosen: choice,
                    choice: choice_node.clone(),
                    ports: node.field("ports").cloned(),
                    choices: names,
                },
            );
        }
        let unknown: Vec<(String, Span)> = self
            .chosen
            .iter()
            .filter(|(name, _)| !entries.iter().any(|(k, _)| k.text() == Some(name)))
            .map(|(name, (_, span))| (name.clone(), *span))
            .collect();
        for (name, span) in unknown {
            let known: Vec<String> =
                entries.iter().filter_map(|(k, _)| k.text().map(str::to_owned)).collect();
            let message = format!("the diagram has no variant `{name}`");
            let mut diagnostic = Diagnostic::error("unknown-variant", span, message)
                .suggest(&name, known.iter().map(String::as_str));
            if !known.is_empty() {
                diagnostic = diagnostic.hint(format!("it has `{}`", known.join("`, `")));
            }
            self.report(diagnostic);
        }
    }
}
