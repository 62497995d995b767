//! The section `judge:`: what is computed to judge a run, and cannot change it.

use legwork_block::{Diagnostic, Expression, Node, RateRule, Scope, Span, code};
use legwork_program::Reduction;

use super::blocks::NewWire;
use super::checks::expression_text;
use super::composite::OfBlocks;
use super::tree::Env;
use super::{Expander, RootOutput, Tree};
use crate::ids::{BlockId, Id};
use crate::language::{self, Construct, Entries, Entry, What, Word, construct, read_word};

construct! {
    /// A number about a run, computed while it goes on from what checks may read. It is among the
    /// metrics of the run; checks, `log:` and what stands below it in `judge:` read it by its name.
    ///
    /// ```ron
    /// "settled": Metric(of: "=missing", by: Max, after: "1 s"),
    /// "up":      Metric(of: "=drive.y > 1 - exp(-1)", by: FirstTime),
    /// ```
    "Metric" shorthand:
    pub(super) struct Metric<'n> {
        /// What it is made of, an expression of signals, parameters and the time `t`.
        of: &'n Node = required("", "of: \"=abs(block.port)\""),
        /// What is made of the values at all steps that count. Default: `Last`.
        by: Option<&'n Node>,
        /// Steps count where this condition holds. Default: all in its window.
        when: Option<&'n Node>,
        /// When its window begins, a time or an expression of parameters; a step at this time
        /// belongs to it. Default: with the run.
        after: Option<&'n Node>,
        /// When its window ends; a step at this time belongs to it. Default: with the run.
        until: Option<&'n Node>,
        /// What it is for.
        doc: Option<&'n Node>,
    }
}

/// What may be made of values.
const REDUCTIONS: [(Word, Reduction); 8] = [
    (Word { name: "Last", doc: "the last value" }, Reduction::Last),
    (Word { name: "Min", doc: "the least value" }, Reduction::Min),
    (Word { name: "Max", doc: "the largest value" }, Reduction::Max),
    (Word { name: "Mean", doc: "the mean; every step counts alike" }, Reduction::Mean),
    (Word { name: "Rms", doc: "the root of the mean of the squares" }, Reduction::Rms),
    (
        Word { name: "Integral", doc: "the integral over time; a value holds until the next step" },
        Reduction::Integral,
    ),
    (
        Word { name: "FirstTime", doc: "when the condition `of` first held; `inf` until then" },
        Reduction::FirstTime,
    ),
    (Word { name: "LastTime", doc: "when it held last; `-inf` until then" }, Reduction::LastTime),
];

/// The manual of what may be made of values.
pub fn reductions() -> impl Iterator<Item = Word> {
    REDUCTIONS.into_iter().map(|(word, _)| word)
}

/// Values, metrics and blocks by name.
pub(super) struct OfJudge;

impl What for OfJudge {
    const EXPECTED: &'static str = "a map of expressions, metrics and blocks";
}

/// A value of `judge:`, its paths unresolved.
pub(crate) struct JudgeEntry {
    pub(crate) name: String,
    /// What its names mean.
    pub(crate) env: Env,
    /// What is made of its values; nothing of one that is looked at as it is.
    pub(crate) by: Option<Reduction>,
    pub(crate) of: Expression,
    pub(crate) when: Option<Expression>,
    pub(crate) after: f64,
    pub(crate) until: f64,
    pub(crate) span: Span,
}

impl Expander<'_> {
    /// Evaluates the section `judge:`: its blocks join the others, its values are listed.
    pub(super) fn judge(&mut self, entries: &Entries<'_, OfJudge>, env: &Env) -> Vec<JudgeEntry> {
        let mut values: Vec<JudgeEntry> = Vec::new();
        let is_value = |node: &Node| {
            let kind = node.kind_name().map(|kind| kind.text.as_str());
            kind == Some(Metric::MANUAL.name) || node.text().is_some()
        };
        self.model_blocks = Some(self.blocks.len());
        let blocks = entries.filtered::<OfBlocks>(|entry| !is_value(entry.value));
        self.expand_blocks(Tree::ROOT, &blocks, env);
        for entry in entries.iter().filter(|entry| is_value(entry.value)) {
            let Entry { name, name_span, .. } = entry;
            let is_known =
                self.tree.frames[Tree::ROOT].items.contains_key(name) || env.lookup(name).is_some();
            if let Some(reason) = super::bad_name(name, true) {
                self.report(Diagnostic::error(code::BAD_NAME, name_span, reason));
            } else if is_known || name == "t" {
                let message = format!("`{name}` is the name of something else already");
                self.report(Diagnostic::error(code::DUPLICATE_KEY, name_span, message));
            } else if let Some(value) = self.judge_value(entry, env) {
                values.push(value);
            } else {
                self.failed_judge.insert(name.to_owned());
            }
        }
        values
    }

    fn judge_value(&mut self, entry: Entry<'_>, env: &Env) -> Option<JudgeEntry> {
        let Entry { name, value, .. } = entry;
        let metric = match value.text() {
            Some(_) => None,
            None => Some(language::read::<Metric<'_>>(value, self.diagnostics)?),
        };
        let text = expression_text(metric.as_ref().map_or(value, |one| one.of), self.diagnostics)?;
        let of = self.expression(text)?;
        let span = of.span();
        let plain = JudgeEntry {
            name: name.to_owned(),
            env: env.clone(),
            by: None,
            of,
            when: None,
            after: 0.0,
            until: f64::INFINITY,
            span,
        };
        let Some(Metric { by, when, after, until, .. }) = metric else { return Some(plain) };
        let known = REDUCTIONS.map(|(word, reduction)| (word.name, reduction));
        let by = match by {
            Some(node) => read_word(node, &known, self.diagnostics)?,
            None => Reduction::Last,
        };
        let when = match when {
            Some(node) => {
                let text = expression_text(node, self.diagnostics)?;
                Some(self.expression(text)?)
            }
            None => None,
        };
        let [after, until] = self.window(after, until, env)?;
        Some(JudgeEntry { by: Some(by), when, after, until, ..plain })
    }

    /// Reports a wire by which a block of the model reads one of `judge:`.
    pub(super) fn keep_apart(&mut self, wires: &[NewWire]) {
        let Some(model) = self.model_blocks else { return };
        for NewWire { block, wire, .. } in wires.iter().filter(|new| new.block.index() < model) {
            wire.source.each_port(&mut |part| {
                if part.block.index() < model {
                    return;
                }
                let (reader, judge) = (&self.blocks[*block].path, &self.blocks[part.block]);
                let message = format!(
                    "`{}` is in `judge:`, so `{reader}` in `blocks:` cannot read it",
                    judge.path
                );
                self.diagnostics.push(
                    Diagnostic::error(code::JUDGE_CHANGES_RUN, part.span, message)
                        .hint("move it to `blocks:` if it is part of the model"),
                );
            });
        }
    }

    /// Reports an output of the diagram that is one of `judge:`.
    pub(super) fn keep_outputs_apart(&mut self, outputs: &[RootOutput]) {
        let Some(model) = self.model_blocks else { return };
        for output in outputs {
            output.source.each_port(&mut |part| {
                if part.block.index() >= model && !self.blocks[part.block].hidden {
                    let (name, judge) = (&output.name, &self.blocks[part.block].path);
                    let message =
                        format!("`{judge}` is in `judge:`, so it cannot be the output `{name}`");
                    self.diagnostics.push(
                        Diagnostic::error(code::JUDGE_CHANGES_RUN, part.span, message)
                            .hint("move it to `blocks:` if it is part of the model"),
                    );
                }
            });
        }
    }

    /// Reports what would let a block of `judge:` change the steps of a run.
    pub(super) fn check_judge(&mut self, id: BlockId) {
        let block = &self.blocks[id];
        let is_variable = self.run.as_ref().is_some_and(|run| run.solver.0.is_variable());
        let declaration = &block.declaration;
        let has_period = block.every.is_some() || declaration.rate == RateRule::Sampled;
        let what = if declaration.continuous.is_some() {
            "has continuous state, which the solver integrates with that of the model"
        } else if declaration.stops.is_some() {
            "ends the run"
        } else if declaration.solves.is_some() {
            "closes an algebraic loop"
        } else if declaration.guards.iter().any(|guard| guard.resets) {
            "makes events"
        } else if is_variable && !declaration.guards.is_empty() {
            "has crossings, at which this solver steps"
        } else if is_variable && has_period {
            "has a period, at which this solver steps"
        } else {
            return;
        };
        let message = format!("{} {what}; in `judge:` nothing may change the run", block.path);
        self.diagnostics.push(
            Diagnostic::error(code::JUDGE_CHANGES_RUN, block.span, message)
                .hint("move it to `blocks:`, or write an expression"),
        );
    }
}
