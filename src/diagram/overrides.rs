//! What the command line adds: parameters, variants, patches, a stop time, signals.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use legwork_block::{Diagnostic, Diagnostics, FileId, Node, NodeKind, Place, Span, Text, code};

use crate::loader::Loader;
use crate::study::{self, StudyText};
use crate::{document, patch, ron_text};

/// What the command line adds to a diagram.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The study that it is a run of, which applies between patches and what is set.
    pub study: Option<StudyText>,
    /// `--set path=value`, in order.
    pub set: Vec<(String, String)>,
    /// `--variant name=choice`, in order.
    pub variants: Vec<(String, String)>,
    /// `--with patch.ron`, in order; applied before `set`.
    pub patches: Vec<String>,
    /// `--until`: instead of `run.stop`, as text such as `2 s`.
    pub until: Option<String>,
    /// `--signals`: recorded instead of what `log:` says, if there are any.
    pub signals: Vec<String>,
    /// Directories to look for files in, after the diagram's own.
    pub roots: Vec<PathBuf>,
    /// `--memory`: the most that `run.memory` may state [bytes]; without it, 2 GB.
    pub memory: Option<u64>,
}

/// A diagram as it runs.
pub(crate) struct Document {
    pub(crate) node: Node,
    /// As it stands in its file, where that is another.
    pub(crate) written: Option<Node>,
}

impl Options {
    /// Whether they change what is written.
    fn change(&self) -> bool {
        let Self { study, set, variants: _, patches, until, signals, roots: _, memory: _ } = self;
        study.is_some()
            || until.is_some()
            || !(set.is_empty() && patches.is_empty() && signals.is_empty())
    }
}

/// Text → document, with patches and overrides applied.
pub(crate) fn document(
    path: &Path,
    text: &[u8],
    options: &Options,
    loader: &Loader<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Document> {
    let file = loader.add(&path.display().to_string(), text);
    let mut document = match document::parse(file, text) {
        Ok(document) => document,
        Err(diagnostic) => {
            diagnostics.push(diagnostic);
            return None;
        }
    };
    let written = options.change().then(|| document.clone());
    for name in &options.patches {
        let (file, bytes) = match loader.source(name, &["Patch"]) {
            Ok(found) => found,
            Err(message) => {
                let span = on_command_line(loader, "--with", name).1;
                diagnostics.push(Diagnostic::error(code::MISSING_FILE, span, message));
                continue;
            }
        };
        match document::parse(file, &bytes) {
            Ok(node) => patch::apply(&mut document, &node, diagnostics),
            Err(diagnostic) => diagnostics.push(diagnostic),
        }
    }
    if let Some(StudyText { name, text }) = &options.study {
        let file = loader.add(name, text);
        // Its mistakes are reported by whoever read it.
        if let Ok(node) = document::parse(file, text) {
            study::apply(&mut document, &node, diagnostics);
        }
    }
    for (target, value) in &options.set {
        let (_, target_span) = on_command_line(loader, "--set path", target);
        let node = command_line_value(loader, "--set value", value);
        let place = Place::from(target_span);
        patch::set(&mut document, target, &place, &node, diagnostics);
    }
    if let Some(until) = &options.until {
        let node = command_line_value(loader, "--until", until);
        patch::set(&mut document, "run.stop", &Place::from(node.span), &node, diagnostics);
    }
    if !options.signals.is_empty() {
        let texts = options.signals.iter().map(|signal| {
            let (_, span) = on_command_line(loader, "--signals", signal);
            text_node(signal, span)
        });
        let span = Span::new(file, 0, 0);
        let list = Node { span, kind: NodeKind::List(texts.collect()) };
        patch::set(&mut document, "log", &Place::from(span), &list, diagnostics);
    }
    Some(Document { node: document, written })
}

impl Document {
    /// Errors of parameters set to a quantity of another unit than in the file. They are mistakes
    /// only if units then do not fit: a patch may change the readers of a parameter as well.
    pub(crate) fn changed_units(&self) -> Vec<Diagnostic> {
        let params = |node: &Node| {
            let entries = node.field("params").and_then(Node::map).unwrap_or(&[]);
            let value = |node: &Node| node.field("value").unwrap_or(node).clone();
            let named = entries.iter().filter_map(|(key, of)| Some((key.text()?, value(of))));
            named.map(|(name, value)| (name.to_owned(), value)).collect::<BTreeMap<_, _>>()
        };
        let Some(written) = &self.written else { return Vec::new() };
        let now = params(&self.node);
        let changed = params(written).into_iter().filter_map(|(name, old)| {
            let new = now.get(&name).filter(|new| new.span != old.span)?;
            let (expected, found) = (patch::written_unit(&old)?, patch::written_unit(new)?);
            let message = format!(
                "parameter `{name}` expected a quantity in {expected}, found one in {found}"
            );
            let wrong = Diagnostic::error(code::UNIT_MISMATCH, new.span, message)
                .also(old.span, format!("`{name}` is in {expected} here"));
            (!expected.agrees(found)).then_some(wrong)
        });
        changed.collect()
    }
}

/// Names parameters that were set to another unit as the cause of unit errors, which only follow
/// from them.
pub(crate) fn blame(found: &mut Diagnostics, changed: Vec<Diagnostic>) {
    let is_of_unit = |error: &Diagnostic| error.code == code::UNIT_MISMATCH;
    let is_named = |wrong: &Diagnostic| {
        let of = wrong.primary.span;
        let is_at = |at: Span| at.file == of.file && of.start <= at.start && at.end <= of.end;
        found.iter().any(|error| is_at(error.primary.span))
    };
    let named: Vec<Diagnostic> = changed.into_iter().filter(|wrong| !is_named(wrong)).collect();
    if named.is_empty() || !found.iter().any(is_of_unit) {
        return;
    }
    let others = std::mem::take(found).into_iter().filter(|error| !is_of_unit(error));
    let all: Vec<Diagnostic> = named.into_iter().chain(others).collect();
    found.extend(all);
}

fn text_node(text: &str, span: Span) -> Node {
    Node { span, kind: NodeKind::Text(Text { value: text.to_owned(), place: Place::from(span) }) }
}

/// A text of the command line as a source of its own.
fn on_command_line(loader: &Loader<'_>, name: &str, text: &str) -> (FileId, Span) {
    let file = loader.add(&format!("<{name}>"), text.as_bytes());
    (file, Span::new(file, 0, text.len()))
}

/// A value of the command line: RON, or else a text.
fn command_line_value(loader: &Loader<'_>, name: &str, text: &str) -> Node {
    let (file, span) = on_command_line(loader, name, text);
    let is_ron = ron_text::judge(text).is_ok();
    match document::parse(file, text.as_bytes()) {
        Ok(node) if is_ron => patch::bare_words(node),
        _ => text_node(text, span),
    }
}

/// The choice of each variant that the command line names, and where it does.
pub(crate) fn chosen_variants(
    options: &Options,
    loader: &Loader<'_>,
) -> BTreeMap<String, (String, Span)> {
    options
        .variants
        .iter()
        .map(|(name, choice)| {
            let (_, span) = on_command_line(loader, "--variant", &format!("{name}={choice}"));
            (name.clone(), (choice.clone(), span))
        })
        .collect()
}
