//! The sections `log:` and `checks:`: what a run records and what it must hold.

use legwork_block::{Arguments, Diagnostic, Expression, Named, Node, NodeKind};
use legwork_program::{CheckKind, Ratio};

use super::tree::Env;
use super::{CheckEntry, Expander, LogEntry, Resolver, wrong_type};
use crate::ids::FrameId;

impl Expander<'_> {
    /// `log: ["body.state", Every("10 ms", "contact.f")]`.
    pub(super) fn log(&mut self, node: &Node, root: FrameId, env: &Env) -> Vec<LogEntry> {
        let mut logs: Vec<LogEntry> = Vec::new();
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
            if logs.iter().any(|entry| entry.path == text) {
                let message = format!("`{text}` is logged twice");
                self.report(Diagnostic::error("duplicate-key", path.span, message));
                continue;
            }
            let resolver = Resolver { tree: &self.tree, blocks: &self.blocks, types: &self.types };
            match resolver.source(root, path, true) {
                Ok(source) => logs.push(LogEntry { path: text.to_owned(), source, every }),
                Err(unresolved) => self.diagnostics.extend(unresolved.diagnostic()),
            }
        }
        logs
    }

    /// `checks: { "stays up": Always(that: "=…", after: "0.2 s") }`.
    pub(super) fn checks(&mut self, node: Option<&Node>, env: &Env) -> Vec<CheckEntry> {
        let mut checks = Vec::new();
        let Some(node) = node else { return checks };
        let Some(entries) = node.map() else {
            self.report(wrong_type(node, "a map of checks"));
            return checks;
        };
        for (key, check) in entries {
            let Some(name) = key.text() else { continue };
            let kind = match check.kind_name().map(|kind| kind.text.as_str()) {
                Some("Always") => CheckKind::Always,
                Some("Eventually") => CheckKind::Eventually,
                Some("Finally") => CheckKind::Finally,
                found => {
                    let kinds = ["Always", "Eventually", "Finally"];
                    let found = found.unwrap_or("no kind");
                    self.report(
                        Diagnostic::error(
                            "unknown-check",
                            check.span,
                            format!("expected one of `{}`, found `{found}`", kinds.join("`, `")),
                        )
                        .suggest(found, kinds),
                    );
                    continue;
                }
            };
            self.known_fields(check, &["that", "after", "until", "doc"]);
            let Some(NodeKind::Text(text)) = check.field("that").map(|that| &that.kind) else {
                self.report(
                    Diagnostic::error("missing-field", check.span, "`that` is missing")
                        .hint("write that: \"=block.port > 0\""),
                );
                continue;
            };
            let that_span = check.field("that").map_or(check.span, |that| that.span);
            if !text.value.starts_with('=') {
                self.report(Diagnostic::error(
                    "wrong-type",
                    that_span,
                    "expected an expression that begins with `=`",
                ));
                continue;
            }
            let mut bound = |field: &str, default: f64| match check.field(field) {
                None => Some(default),
                Some(node) => self.seconds(node, env, false).map(Ratio::to_f64),
            };
            let (Some(after), Some(until)) = (bound("after", 0.0), bound("until", f64::INFINITY))
            else {
                continue;
            };
            match Expression::parse_from(&text.value, 1, &text.place) {
                Ok(expression) => checks.push(CheckEntry {
                    name: name.to_owned(),
                    kind,
                    expression,
                    text: text.value.clone(),
                    after,
                    until,
                    span: that_span,
                }),
                Err(diagnostic) => self.report(diagnostic),
            }
        }
        checks
    }
}
