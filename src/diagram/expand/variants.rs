//! The section `variants:`: the choices, and which of them was taken.

use legwork_block::{Arguments, Diagnostic, Named, Node, NodeKind, Span};

use super::Expander;
use super::unresolved::not_among;
use super::value::with_fields;
use crate::language::{self, Entries, Entry, Text, What, construct, wrong_type};

construct! {
    /// Something of which there are several choices: blocks, masks or parts with the same ports.
    /// The command line chooses: `--variant qp=clarabel`. Expressions read `variants.qp`.
    ///
    /// ```ron
    /// "filter": Variant(
    ///     ports: (in: { "u": "Real" }, out: { "y": "Real" }),
    ///     default: "smooth",
    ///     choices: {
    ///         "none":   Gain(gain: 1.0),
    ///         "smooth": Mask(file: "std:masks/low_pass.ron", cutoff: "2 Hz"),
    ///         "late":   TransportDelay(delay: "10 ms"),
    ///     },
    /// ),
    /// ```
    ///
    /// Choices that differ in a few fields share a `base`:
    ///
    /// ```ron
    /// "gain": Variant(
    ///     base: Gain(gain: 1.0), default: "plain", choices: { "plain": (), "double": (gain: 2.0) },
    /// ),
    /// ```
    "Variant":
    pub(super) struct Variant<'n> {
        /// The ports that every choice must have. Without them a choice is seen as it is.
        ports: Option<&'n Node>,
        /// What the choices have in common: a choice `(gain: 2.0)` is this with other fields.
        base: Option<&'n Node>,
        /// Name of the choice that is taken if nothing else is said.
        default: Text<'n> = required("which choice?", "default: \"a\""),
        /// The choices by name.
        choices: Entries<'n, OfChoices> = required("", "choices: { \"a\": Gain(gain: 1.0) }"),
        /// What it is for.
        doc: Option<Text<'n>>,
    }
}

/// Choices of a variant.
pub(super) struct OfChoices;

impl What for OfChoices {
    const EXPECTED: &'static str = "a map of choices, such as { \"a\": Gain(gain: 1.0) }";
}

/// Variants by name.
pub(super) struct OfVariants;

impl What for OfVariants {
    const EXPECTED: &'static str = "a map of variants";
}

/// A variant with its choice made.
pub(crate) struct VariantEntry {
    pub(crate) chosen: String,
    pub(crate) choice: Node,
    pub(crate) ports: Option<Node>,
    pub(crate) choices: Vec<String>,
}

impl Expander<'_> {
    /// Reads the variants and what was chosen.
    pub(super) fn read_variants(&mut self, entries: Option<&Entries<'_, OfVariants>>) {
        let entries = || entries.into_iter().flat_map(Entries::iter);
        for Entry { name, value: node, .. } in entries() {
            let Some(variant) = language::read::<Variant<'_>>(node, self.diagnostics) else {
                self.failed_variants.insert(name.to_owned());
                continue;
            };
            let choices = &variant.choices;
            let names: Vec<String> = choices.names().map(str::to_owned).collect();
            let (choice, span) = match self.chosen.get(name) {
                Some((choice, span)) => (choice.clone(), *span),
                None => (variant.default.value.to_owned(), variant.default.node.span),
            };
            let Some(choice_node) = choices.get(&choice) else {
                let message = format!("variant `{name}` has no choice `{choice}`");
                let known = names.iter().map(String::as_str);
                let found = not_among("unknown-variant", span, message, &choice, known, "it has");
                self.report(found);
                self.failed_variants.insert(name.to_owned());
                continue;
            };
            let choice_node = match completed(choice_node, variant.base) {
                Ok(node) => node,
                Err(found) => {
                    self.report(found);
                    self.failed_variants.insert(name.to_owned());
                    continue;
                }
            };
            self.variants.insert(
                name.to_owned(),
                VariantEntry {
                    chosen: choice,
                    choice: choice_node,
                    ports: variant.ports.cloned(),
                    choices: names,
                },
            );
        }
        let unknown: Vec<(String, Span)> = self
            .chosen
            .iter()
            .filter(|(name, _)| !entries().any(|entry| entry.name == name.as_str()))
            .map(|(name, (_, span))| (name.clone(), *span))
            .collect();
        for (name, span) in unknown {
            let message = format!("the diagram has no variant `{name}`");
            let known = entries().map(|entry| entry.name);
            self.report(not_among("unknown-variant", span, message, &name, known, "it has"));
        }
    }
}

/// The choice with what it has in common with the others.
fn completed(choice: &Node, base: Option<&Node>) -> Result<Node, Diagnostic> {
    let is_unnamed = matches!(&choice.kind, NodeKind::Named(Named { name: None, .. }));
    match base {
        Some(base) if is_unnamed || choice.kind == NodeKind::Unit => {
            if base.named().is_none_or(|named| matches!(named.arguments, Arguments::Positional(_)))
            {
                return Err(wrong_type(base, "a block such as Gain(gain: 1.0)"));
            }
            Ok(with_fields(base, choice.fields().iter().cloned()))
        }
        None if is_unnamed => {
            let found = wrong_type(choice, "a block such as Gain(gain: 1.0)");
            Err(found.hint("a choice without a kind needs the variant's `base`"))
        }
        _ => Ok(choice.clone()),
    }
}
