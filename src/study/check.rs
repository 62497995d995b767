//! Every mistake of a diagram, with every choice of every variant; and whether it continues from
//! snapshots bit for bit.

use legwork_block::{Diagnostic, Diagnostics, FileId, Severity, Span, code};
use legwork_diagram::ron_text::judge_all;
use legwork_runtime::{Proof, RoundtripError, Trials};

use crate::diagram::{Diagram, Survey};
use crate::findings::Findings;
use crate::model::Model;

/// Blocks that a check compiles with choices of variants, all choices together.
const MOST_BLOCKS: usize = 100_000;

/// Bytes of text of a block.
const TEXT_OF_BLOCK: usize = 100;

/// What was found wrong with a diagram.
#[derive(Debug)]
pub struct Checked {
    /// What was found, with the choices that it needs.
    pub findings: Findings,
    /// Name and choices of every variant.
    pub variants: Vec<(String, Vec<String>)>,
    /// How many choices of variants were compiled; those that need a block which this program was
    /// built without are not.
    pub choices: usize,
    /// The diagram with its own choices, unless it has errors.
    pub model: Option<Model>,
}

impl Checked {
    /// Whether there are no errors.
    pub fn is_ok(&self) -> bool {
        self.findings.count(Severity::Error) == 0
    }
}

impl Diagram {
    /// Compiles it once as it is and once with every choice of every variant, and has `ron` read
    /// every file of it. A mask or a patch is looked at by itself.
    pub fn check(&self) -> Checked {
        self.check_while(|| true)
    }

    /// [`Diagram::check`], which leaves further choices out once `goes_on` says no.
    pub fn check_while(&self, goes_on: impl Fn() -> bool) -> Checked {
        if self.is_part() {
            let Survey { diagnostics, sources, variants, .. } = self.survey();
            let mut findings = Findings::default();
            findings.add(diagnostics, &sources, None);
            findings.add(judge_all(&sources), &sources, None);
            return Checked { findings, variants, choices: 0, model: None };
        }
        let compiled = self.compile();
        let mut findings = Findings::default();
        findings.add(compiled.diagnostics, &compiled.sources, None);
        findings.add(judge_all(&compiled.sources), &compiled.sources, None);
        let mut choices = 0;
        // Of a diagram with mistakes no blocks are known, but its text is.
        let nodes = compiled.model.as_ref().map_or(0, |model| model.program().nodes.len());
        let blocks = nodes.max(compiled.sources.text(FileId(0)).len() / TEXT_OF_BLOCK);
        let most = MOST_BLOCKS / blocks.max(1);
        let all: usize = compiled.variants.iter().map(|(_, choices)| choices.len()).sum();
        if all > most {
            let message = format!(
                "only the first {most} of {all} choices of variants are checked: each compiles \
                 about {blocks} blocks"
            );
            let mut told = Diagnostics::default();
            told.push(Diagnostic::warning(code::UNCHECKED_CHOICES, Span::default(), message));
            findings.add(told, &compiled.sources, None);
        }
        for (name, choice) in all_choices(&compiled.variants).take(most) {
            if !goes_on() {
                break;
            }
            let mut with_choice = self.clone().variant(name, choice).compile();
            if with_choice.diagnostics.iter().any(is_absent_block) {
                // A choice that this program cannot offer is not a mistake of the diagram.
                let mut softened = Diagnostics::default();
                softened.extend(with_choice.diagnostics.into_iter().map(softer));
                with_choice.diagnostics = softened;
            } else {
                choices += 1;
            }
            let choice = format!("{name}={choice}");
            findings.add(with_choice.diagnostics, &with_choice.sources, Some(&choice));
        }
        Checked { findings, variants: compiled.variants, choices, model: compiled.model }
    }
}

impl Model {
    /// Runs it, and continues it from snapshots at so many random ticks.
    ///
    /// # Errors
    /// If it stops at a fault, or a bit differs.
    pub fn roundtrip(&self, ticks: u32) -> Result<Proof, RoundtripError> {
        legwork_runtime::roundtrip(self.program(), Trials { ticks, ..Trials::default() })
    }
}

/// Whether this program was built without a block.
fn is_absent_block(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity == Severity::Error && diagnostic.code == code::ABSENT_BLOCK_KIND
}

/// The same, a warning if this program was built without a block.
fn softer(mut diagnostic: Diagnostic) -> Diagnostic {
    if is_absent_block(&diagnostic) {
        diagnostic.severity = Severity::Warning;
    }
    diagnostic
}

/// Every choice of every variant.
fn all_choices(variants: &[(String, Vec<String>)]) -> impl Iterator<Item = (&str, &str)> {
    variants
        .iter()
        .flat_map(|(name, choices)| choices.iter().map(move |choice| (&**name, &**choice)))
}
