//! A whole diagram: its sections, in the order in which they need one another.

use legwork_block::{Diagnostic, Node};

use super::{Expanded, Expander, Names, wrong_type};
use crate::network::Network;

/// Names of sections, which blocks may not have.
pub(crate) const SECTIONS: [&str; 10] =
    ["format", "doc", "run", "params", "robots", "buses", "variants", "blocks", "log", "checks"];

/// The version of the file format that this front end reads.
const FORMAT: f64 = 1.0;

impl Expander<'_> {
    /// Expands a whole diagram; `None` if it is not one.
    pub(crate) fn expand(&mut self, document: &Node) -> Option<Expanded> {
        if document.kind_name().is_none_or(|kind| kind.text != "Diagram") {
            let mut diagnostic =
                wrong_type(document, "Diagram(format: 1, run: (…), blocks: { … })");
            if document.kind_name().is_some_and(|kind| kind.text == "Mask") {
                diagnostic = diagnostic.hint("a mask runs inside a diagram: Mask(file: \"…\")");
            }
            self.report(diagnostic);
            return None;
        }
        self.known_fields(document, &SECTIONS);
        self.format_version(document);
        self.read_variants(document.field("variants"));
        let env = self.names(document);
        self.buses(document.field("buses"), &env);
        self.run = self.run_section(document, &env);
        let root = self.new_frame(String::new(), None, None);
        match document.field("blocks") {
            Some(blocks) => self.expand_blocks(root, blocks, &env),
            None => self.report(
                Diagnostic::error("missing-field", document.span, "`blocks` is missing")
                    .hint("write blocks: { \"a\": Constant(value: 1.0) }"),
            ),
        }
        let assertions = self.wire();
        let logs = document.field("log").map(|log| self.log(log, root, &env));
        let checks = self.checks(document.field("checks"), &env);
        let network = Network::new(std::mem::take(&mut self.blocks), self.var_count);
        let (tree, types) = (std::mem::take(&mut self.tree), std::mem::take(&mut self.types));
        let names = Names { tree, env, types };
        Some(Expanded { network, assertions, logs, checks, run: self.run.take()?, names })
    }

    /// Name and choices of every variant.
    pub(crate) fn variants(&self) -> Vec<(String, Vec<String>)> {
        let entries = self.variants.iter();
        entries.map(|(name, entry)| (name.clone(), entry.choices.clone())).collect()
    }

    /// `format: 1`.
    pub(super) fn format_version(&mut self, document: &Node) {
        let Some(format) = document.field("format") else { return };
        if format.number() != Some(FORMAT) {
            self.report(
                Diagnostic::error(
                    "wrong-format",
                    format.span,
                    format!("expected format {FORMAT}, found {}", format.describe()),
                )
                .hint("a newer format needs a newer legwork"),
            );
        }
    }
}
