//! The section `variants:`: the choices, and which of them was taken.

use legwork_block::{Arguments, Diagnostic, Named, Node, NodeKind, Span, code};

use super::file::construct_in;
use super::unresolved::not_among;
use super::value::{literal, with_fields};
use super::{Expander, check_format};
use crate::language::{
    self, Construct, Entries, Entry, Text, What, construct, name_span, wrong_type,
};

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
    ///
    /// Choices that many diagrams have stand in a file of their own; what is written beside `file`
    /// comes on top, further choices and other fields of those in it:
    ///
    /// ```ron
    /// "display": Variant(
    ///     file: "std:help/filters.choices", default: "none", choices: { "smooth": (cutoff: "1 Hz") },
    /// ),
    /// ```
    "Variant":
    pub(super) struct Variant<'n> {
        /// The ports that every choice must have. Without them a choice is seen as it is.
        ports: Option<&'n Node>,
        /// What the choices have in common: a choice `(gain: 2.0)` is this with other fields.
        base: Option<&'n Node>,
        /// Path of a file with choices, beside the diagram or above it; with `std:` in front, a
        /// built-in one.
        file: Option<Text<'n>>,
        /// Name of the choice that is taken if nothing else is said. Required without `file`.
        default: Option<Text<'n>>,
        /// The choices by name. Required without `file`.
        choices: Option<Entries<'n, OfChoices>>,
        /// What it is for.
        doc: Option<Text<'n>>,
    }
}

construct! {
    /// The file of choices, for the variants that name it. It knows no names of the diagram.
    ///
    /// ```ron
    /// Choices(
    ///     doc: "Filters of a measured signal.",
    ///     default: "smooth",
    ///     choices: {
    ///         "none":   Gain(gain: 1.0),
    ///         "smooth": Mask(file: "std:masks/low_pass.ron", cutoff: "2 Hz"),
    ///     },
    /// )
    /// ```
    "Choices":
    pub(super) struct ChoicesFile<'n> {
        /// Version of the file format: 2.
        format: Option<&'n Node>,
        /// What it is for.
        doc: Option<Text<'n>>,
        /// Name of the choice that is taken if nothing else is said.
        default: Text<'n> = required("which choice?", "default: \"a\""),
        /// The choices by name.
        choices: Entries<'n, OfChoices> = required("", "choices: { \"a\": Gain(gain: 1.0) }"),
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
            let Some(Listed { choices, default: (default, at) }) = self.listed(&variant, node)
            else {
                self.failed_variants.insert(name.to_owned());
                continue;
            };
            let names: Vec<String> = choices.iter().map(|(name, _)| name.clone()).collect();
            let (choice, span) = match self.chosen.get(name) {
                Some((choice, span)) => (choice.clone(), *span),
                None => (default, at),
            };
            let Some((_, choice_node)) = choices.iter().find(|(name, _)| *name == choice) else {
                let message = format!("variant `{name}` has no choice `{choice}`");
                let known = names.iter().map(String::as_str);
                let found =
                    not_among(code::UNKNOWN_VARIANT, span, message, &choice, known, "it has");
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
            self.report(not_among(code::UNKNOWN_VARIANT, span, message, &name, known, "it has"));
        }
    }
}

/// The choices of a variant, in their order.
struct Listed {
    choices: Vec<(String, Node)>,
    /// The name of the one that is taken if nothing else is said, and where that is written.
    default: (String, Span),
}

impl Expander<'_> {
    /// The choices that a variant lists, behind those of its file. What is wrong is reported.
    fn listed(&mut self, variant: &Variant<'_>, node: &Node) -> Option<Listed> {
        let mut choices: Vec<(String, Node)> = Vec::new();
        let mut default = None;
        if let Some(file) = variant.file {
            let kinds = &[ChoicesFile::MANUAL.name];
            let expected = "Choices(default: …, choices: …)";
            let written = construct_in(self.loader, file.value, file.node, kinds, expected)
                .map_err(|diagnostic| self.report(diagnostic))
                .ok()?;
            let listed = language::read::<ChoicesFile<'_>>(&written, self.diagnostics)?;
            check_format(listed.format, self.diagnostics);
            for Entry { name, value, .. } in listed.choices.iter() {
                let value = literal(value, &()).map_err(|found| self.report(*found)).ok()?;
                choices.push((name.to_owned(), value));
            }
            default = Some((listed.default.value.to_owned(), listed.default.node.span));
        }
        for Entry { name, name_span, value, .. } in variant.choices.iter().flat_map(Entries::iter) {
            let fields = is_unnamed(value) && variant.file.is_some();
            match choices.iter_mut().find(|(known, _)| known == name) {
                Some((_, choice)) if fields => {
                    *choice = with_fields(choice, value.fields().iter().cloned());
                }
                Some((_, choice)) => *choice = value.clone(),
                None if fields && variant.base.is_none() => {
                    let message = format!("the file has no choice `{name}` to take these fields");
                    let known = choices.iter().map(|(known, _)| known.as_str());
                    let code = code::UNKNOWN_VARIANT;
                    let found = not_among(code, name_span, message, name, known, "it has");
                    self.report(found);
                    return None;
                }
                None => choices.push((name.to_owned(), value.clone())),
            }
        }
        if let Some(stated) = variant.default {
            default = Some((stated.value.to_owned(), stated.node.span));
        }
        let missing = |field: &str, example: &str| {
            let message = format!("`{field}` is missing");
            Diagnostic::error(code::MISSING_FIELD, name_span(node), message)
                .hint(format!("add `{example}`, or a `file` that has it"))
        };
        if choices.is_empty() && variant.choices.is_none() {
            self.report(missing("choices", "choices: { \"a\": Gain(gain: 1.0) }"));
            return None;
        }
        let Some(default) = default else {
            self.report(missing("default", "default: \"a\""));
            return None;
        };
        Some(Listed { choices, default })
    }
}

/// The choice with what it has in common with the others.
fn completed(choice: &Node, base: Option<&Node>) -> Result<Node, Diagnostic> {
    match base {
        Some(base) if is_unnamed(choice) => {
            if base.named().is_none_or(|named| matches!(named.arguments, Arguments::Positional(_)))
            {
                return Err(wrong_type(base, "a block such as Gain(gain: 1.0)"));
            }
            Ok(with_fields(base, choice.fields().iter().cloned()))
        }
        None if is_unnamed(choice) => {
            let found = wrong_type(choice, "a block such as Gain(gain: 1.0)");
            Err(found.hint("a choice without a kind needs the variant's `base`"))
        }
        _ => Ok(choice.clone()),
    }
}

/// Whether a choice is fields alone, or nothing.
fn is_unnamed(choice: &Node) -> bool {
    choice.kind == NodeKind::Unit
        || matches!(&choice.kind, NodeKind::Named(Named { name: None, .. }))
}
