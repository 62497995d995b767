//! A whole diagram: its sections, in the order in which they need one another.

use legwork_block::{Diagnostic, Node};

use super::{Expanded, Expander, wrong_type};

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
        let run = self.run(document, &env);
        self.step = run.as_ref().map_or(0.0, |run| run.step.0.to_f64());
        let root = self.new_frame(String::new(), None, None);
        match document.field("blocks") {
            Some(blocks) => self.expand_blocks(root, blocks, &env),
            None => self.report(
                Diagnostic::error("missing-field", document.span, "`blocks` is missing")
                    .hint("write blocks: { \"a\": Constant(value: 1.0) }"),
            ),
        }
        let (blocks, assertions, collectors) = self.resolve();
        let logs = document.field("log").map(|log| self.log(log, root, &env));
        let checks = self.checks(document.field("checks"), &env);
        let tree = std::mem::take(&mut self.tree);
        let variants = self
            .variants
            .iter()
            .map(|(name, entry)| (name.clone(), entry.choices.clone()))
            .collect();
        Some(Expanded {
            blocks,
            assertions,
            collectors,
            logs,
            checks,
            run: run?,
            variants,
            tree,
            env,
        })
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
