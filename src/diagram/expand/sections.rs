//! A whole diagram: its sections, in the order in which they need one another.

use legwork_block::{Diagnostic, Diagnostics, Node};

use super::buses::OfBuses;
use super::checks::OfChecks;
use super::composite::OfBlocks;
use super::judge::OfJudge;
use super::names::OfNames;
use super::run::RunSection;
use super::variants::OfVariants;
use super::{Expanded, Expander, Names};
use crate::language::{self, Construct, Entries, Needed, construct, wrong_type};
use crate::network::Network;

construct! {
    /// A diagram: blocks joined by signals, and what a run of them is to show.
    ///
    /// ```ron
    /// Diagram(
    ///     format: 2,
    ///     run: (stop: "1 s", step: "1 ms"),
    ///     blocks: {
    ///         "sine": Sine(amplitude: 1.0, frequency: "1 Hz"),
    ///         "twice": Gain(gain: 2.0, in: { "u": "sine.y" }),
    ///     },
    ///     log: ["twice.y"],
    ///     checks: { "is bounded": Always(that: "=abs(twice.y) <= 2") },
    /// )
    /// ```
    "Diagram":
    pub(super) struct Diagram<'n> {
        /// Version of the file format: 2.
        format: Option<&'n Node>,
        /// What it shows, as Markdown.
        doc: Option<&'n Node>,
        /// How long a run takes, in which steps, and with which solver.
        run: Needed<RunSection<'n>> = required("", "run: (stop: \"3 s\", step: \"1 ms\")"),
        /// Parameters by name: values, or `Param(…)` with bounds. Expressions read them: `"=2*kp"`.
        params: Option<Entries<'n, OfNames>>,
        /// Robots by name, such as `Urdf(path: "go.urdf")`. Expressions read their facts:
        /// `"=go.nv"`.
        robots: Option<Entries<'n, OfNames>>,
        /// Bus types of the diagram's own.
        buses: Option<Entries<'n, OfBuses>>,
        /// Variants, of which the command line chooses.
        variants: Option<Entries<'n, OfVariants>>,
        /// The blocks by name.
        blocks: Needed<Entries<'n, OfBlocks>> =
            required("", "blocks: { \"a\": Constant(value: 1.0) }"),
        /// Signals that are recorded, `"block.port"` or `Every("10 ms", "block.port")`. Default:
        /// every output of the diagram's own blocks.
        log: Option<&'n Node>,
        /// What is computed to judge a run, by name: expressions of signals, metrics
        /// `Metric(…)`, and blocks that none in `blocks:` reads.
        judge: Option<Entries<'n, OfJudge>>,
        /// Conditions that a run must meet.
        checks: Option<Entries<'n, OfChecks>>,
    }
}

/// The names of the sections, which blocks may not have.
pub(crate) fn sections() -> impl Iterator<Item = &'static str> {
    Diagram::MANUAL.names()
}

/// The version of the file format that this front end reads.
const FORMAT: f64 = 2.0;

impl Expander<'_> {
    /// Expands a whole diagram; `None` if it is not one.
    pub(crate) fn expand(&mut self, document: &Node) -> Option<Expanded> {
        if document.kind_name().is_none_or(|kind| kind.text != "Diagram") {
            let mut diagnostic =
                wrong_type(document, "Diagram(format: 2, run: (…), blocks: { … })");
            if document.kind_name().is_some_and(|kind| kind.text == "Mask") {
                diagnostic = diagnostic.hint("a mask runs inside a diagram: Mask(file: \"…\")");
            }
            self.report(diagnostic);
            return None;
        }
        let Diagram {
            format,
            run,
            params,
            robots,
            buses,
            variants,
            blocks,
            log,
            judge,
            checks,
            ..
        } = language::read(document, self.diagnostics)?;
        check_format(format, self.diagnostics);
        self.read_variants(variants.as_ref());
        let env = self.names(params.as_ref(), robots.as_ref(), document.span.file);
        self.buses(buses.as_ref(), &env);
        self.run = run.0.and_then(|run| self.run_section(&run, &env));
        let root = self.new_frame(String::new(), None, None);
        if let Needed(Some(blocks)) = blocks {
            self.expand_blocks(root, &blocks, &env);
        }
        let judge = judge.map_or_else(Vec::new, |judge| self.judge(&judge, &env));
        let assertions = self.wire();
        let logs = log.map(|log| self.log(log, &judge, root, &env));
        let checks = self.checks(checks.as_ref(), &env);
        let network = Network::new(std::mem::take(&mut self.blocks), self.var_count);
        let (tree, types) = (std::mem::take(&mut self.tree), std::mem::take(&mut self.types));
        let names = Names { tree, env, types };
        let run = self.run.take()?;
        Some(Expanded { network, assertions, logs, judge, checks, run, names })
    }

    /// Name and choices of every variant.
    pub(crate) fn variants(&self) -> Vec<(String, Vec<String>)> {
        let entries = self.variants.iter();
        entries.map(|(name, entry)| (name.clone(), entry.choices.clone())).collect()
    }
}

/// Reports a `format:` that is not 2.
pub(crate) fn check_format(format: Option<&Node>, found: &mut Diagnostics) {
    let Some(format) = format else { return };
    let hint = match format.number() {
        Some(FORMAT) => return,
        Some(older) if older < FORMAT => {
            "files of an older format are not read: make the file anew by this version's manual"
        }
        _ => "a newer format needs a newer legwork",
    };
    let message = format!("expected format {FORMAT}, found {}", format.describe());
    found.push(Diagnostic::error("wrong-format", format.span, message).hint(hint));
}
