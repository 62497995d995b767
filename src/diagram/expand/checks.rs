//! The sections `log:` and `checks:`: what a run records and what it must hold.

use std::collections::{BTreeMap, BTreeSet};

use legwork_block::{
    Arguments, Diagnostic, Diagnostics, Expression, Named, Node, NodeKind, Text, code,
};
use legwork_program::{CheckKind, Ratio};

use super::tree::Env;
use super::{CheckEntry, Expander, JudgeEntry, LogEntry, Logged, Resolver, begins_with_one};
use crate::ids::FrameId;
use crate::language::{self, Entries, Entry, What, Word, construct, wrong_type};

construct! {
    /// A condition on signals: `Always(…)` must hold at every step of its window, `Eventually(…)`
    /// at one of them, `Finally(…)` at the last step of the run.
    ///
    /// ```ron
    /// "bounces": Eventually(that: "=ball.velocity > 1[m/s]", after: "0.4 s", until: "0.6 s"),
    /// "is slow": Always(that: "=abs(ball.velocity) < 10[m/s]", when: "=t < 0.1[s]"),
    /// ```
    "Always":
    pub(super) struct Condition<'n> {
        /// The condition, an expression of signals, parameters and the time `t`.
        that: &'n Node = required("", "that: \"=block.port > 0\""),
        /// Where it is asked for, an expression as `that`: `when: "=variants.gait == 'trot'"`. A
        /// check that is never asked for has no verdict. Default: everywhere in its window.
        when: Option<&'n Node>,
        /// How far beyond its bound a comparison still holds, in the unit of what is compared, so
        /// that `a == b` holds where the two are that near. Default: 0.
        tolerance: Option<&'n Node>,
        /// When its window begins, a time or an expression of parameters; a step at this time
        /// belongs to it. Default: with the run.
        after: Option<&'n Node>,
        /// When its window ends; a step at this time belongs to it. Default: with the run.
        until: Option<&'n Node>,
        /// What it is for.
        doc: Option<&'n Node>,
    }
}

/// The kinds of checks.
const KINDS: [(Word, CheckKind); 3] = [
    (
        Word { name: "Always", doc: "the condition holds at every step of its window" },
        CheckKind::Always,
    ),
    (
        Word { name: "Eventually", doc: "it holds at one step of its window, at least" },
        CheckKind::Eventually,
    ),
    (Word { name: "Finally", doc: "it holds at the last step of the run" }, CheckKind::Finally),
];

/// The manual of the kinds of checks.
pub fn check_kinds() -> impl Iterator<Item = Word> {
    KINDS.into_iter().map(|(word, _)| word)
}

/// Checks by name.
pub(super) struct OfChecks;

impl What for OfChecks {
    const EXPECTED: &'static str = "a map of checks";
}

/// The text of an expression, which begins with `=`.
pub(super) fn expression_text<'n>(node: &'n Node, found: &mut Diagnostics) -> Option<&'n Text> {
    match &node.kind {
        NodeKind::Text(text) if text.value.starts_with('=') => Some(text),
        _ => {
            let message = "expected an expression that begins with `=`";
            let wrong = Diagnostic::error(code::WRONG_TYPE, node.span, message);
            found.push(match node.text() {
                Some(text) => wrong.hint(format!("write \"={text}\"")),
                None => wrong,
            });
            None
        }
    }
}

impl Expander<'_> {
    /// `log: ["body.state", Every("10 ms", "contact.f")]`.
    ///
    /// Paths are those of the diagram whose frame `root` is; recorded they have its `prefix`.
    pub(super) fn log(
        &mut self,
        node: &Node,
        judge: &[JudgeEntry],
        root: FrameId,
        prefix: &str,
        env: &Env,
    ) -> Vec<LogEntry> {
        let mut logs: Vec<LogEntry> = Vec::new();
        let mut paths: BTreeSet<String> = BTreeSet::new();
        let judged = judge.iter().enumerate().rev().map(|(i, value)| (value.name.as_str(), i));
        let judged: BTreeMap<&str, usize> = judged.collect();
        let Some(items) = node.list() else {
            self.report(wrong_type(node, "a list of paths"));
            return logs;
        };
        for item in items {
            let (path, every) = match &item.kind {
                NodeKind::Named(Named {
                    name: Some(name),
                    arguments: Arguments::Positional(args),
                }) if name.text == "Every" && args.len() == 2 => {
                    let Some(period) = self.seconds(&args[0], env, true) else { continue };
                    (&args[1], Some((period, args[0].span)))
                }
                _ => (item, None),
            };
            let Some(text) = path.text() else {
                self.report(wrong_type(path, "a path, or Every(\"10 ms\", \"block.port\")"));
                continue;
            };
            let whole = [prefix, text].concat();
            if paths.contains(&whole) {
                let message = format!("`{text}` is logged twice");
                self.report(Diagnostic::error(code::DUPLICATE_KEY, path.span, message));
                continue;
            }
            if prefix.is_empty() && self.failed_judge.contains(text) {
                continue;
            }
            let scope = self.tree.frames[root].scope;
            if begins_with_one(text, &self.scopes[scope].judge) {
                let message = format!("`{whole}` is in `judge:` of a diagram inside: not recorded");
                self.report(Diagnostic::warning(code::JUDGE_OF_PART, path.span, message));
                continue;
            }
            if let Some(&value) = judged.get(text) {
                paths.insert(whole.clone());
                logs.push(LogEntry { path: whole, source: Logged::Judged(value), every });
                continue;
            }
            let resolver = Resolver { tree: &self.tree, blocks: &self.blocks };
            match resolver.source(root, path, true).map(Logged::Port) {
                Ok(source) => {
                    paths.insert(whole.clone());
                    logs.push(LogEntry { path: whole, source, every });
                }
                Err(unresolved) => self.diagnostics.extend(unresolved.diagnostic()),
            }
        }
        logs
    }

    /// An expression of signals.
    pub(super) fn expression(&mut self, text: &Text) -> Option<Expression> {
        Expression::parse_from(&text.value, 1, &text.place)
            .map_err(|diagnostic| self.report(diagnostic))
            .ok()
    }

    /// The ends of a window [s].
    pub(super) fn window(
        &mut self,
        after: Option<&Node>,
        until: Option<&Node>,
        env: &Env,
    ) -> Option<[f64; 2]> {
        let mut bound = |field: Option<&Node>, default: f64| match field {
            None => Some(default),
            Some(node) => self.seconds(node, env, false).map(Ratio::to_f64),
        };
        let ends = (bound(after, 0.0), bound(until, f64::INFINITY));
        let (begin, end) = (ends.0?, ends.1?);
        if let (Some(after), true) = (after, begin > end) {
            let message = format!("the window ends at {end} s, before it begins at {begin} s");
            self.report(Diagnostic::error(code::EMPTY_WINDOW, after.span, message));
            return None;
        }
        if let (Some(after), Some(run)) = (after, &self.run) {
            let (stop, at) = (run.stop.0.to_f64(), run.stop.1);
            // Who makes a run shorter from outside knows that it ends sooner.
            if begin > stop && at.file == after.span.file {
                let message =
                    format!("the window begins at {begin} s, and the run stops at {stop} s before");
                let found = Diagnostic::warning(code::EMPTY_WINDOW, after.span, message);
                self.report(found.also(at, "the run stops here"));
            }
        }
        Some([begin, end])
    }

    /// Evaluates the section `checks:` of the diagram whose frame `frame` is; the names of the
    /// checks get its `prefix`.
    pub(super) fn checks(
        &mut self,
        entries: Option<&Entries<'_, OfChecks>>,
        frame: FrameId,
        prefix: &str,
        env: &Env,
    ) -> Vec<CheckEntry> {
        let mut checks = Vec::new();
        for Entry { name, value: check, .. } in entries.into_iter().flat_map(Entries::iter) {
            let written = check.kind_name().map(|kind| kind.text.as_str());
            let known = KINDS.iter().find(|(word, _)| written == Some(word.name));
            let Some(&(_, kind)) = known else {
                let kinds = KINDS.map(|(word, _)| word.name);
                let found = written.unwrap_or("no kind");
                self.report(
                    Diagnostic::error(
                        code::UNKNOWN_CHECK,
                        check.span,
                        format!("expected one of `{}`, found `{found}`", kinds.join("`, `")),
                    )
                    .suggest(found, kinds),
                );
                continue;
            };
            let Some(Condition { that, when, tolerance, after, until, .. }) =
                language::read(check, self.diagnostics)
            else {
                continue;
            };
            let Some(text) = expression_text(that, self.diagnostics) else { continue };
            let Some([after, until]) = self.window(after, until, env) else { continue };
            let Some(when) =
                when.map(|when| expression_text(when, self.diagnostics).ok_or(())).transpose().ok()
            else {
                continue;
            };
            let (expression, asked) = (self.expression(text), when.map(|it| self.expression(it)));
            let (Some(expression), false) = (expression, asked == Some(None)) else { continue };
            let tolerance = match tolerance {
                Some(node) => match self.quantity(node, env) {
                    Some(quantity) => Some((quantity, node.span)),
                    None => continue,
                },
                None => None,
            };
            checks.push(CheckEntry {
                name: [prefix, name].concat(),
                frame,
                env: env.clone(),
                tolerance,
                kind,
                expression,
                when: asked.flatten(),
                text: match when {
                    Some(when) => format!("{} when {}", text.value, &when.value[1..]),
                    None => text.value.clone(),
                },
                after,
                until,
                span: that.span,
            });
        }
        checks
    }
}
