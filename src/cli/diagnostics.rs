//! Diagnostics for people: file, line and column, the source line, marks under it, advice.

use std::collections::BTreeMap;
use std::ops::Range;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use legwork_block::{Diagnostic, Diagnostics, FileId, Label, Severity, code, marked};
use legwork_diagram::render::SourceMap;
use legwork_study::{Findings, RunFault, relative};

use super::console;

/// Says every diagnostic on standard error.
pub(crate) fn say_all(diagnostics: &Diagnostics, sources: &SourceMap) {
    for diagnostic in diagnostics.iter() {
        say(diagnostic, sources);
    }
}

/// Says one diagnostic on standard error.
pub(crate) fn say(diagnostic: &Diagnostic, sources: &SourceMap) {
    let diagnostic = &clean(diagnostic);
    let renderer = if console::in_colours() { Renderer::styled() } else { Renderer::plain() };
    let text = format!("{}\n", render(diagnostic, sources, &renderer));
    match diagnostic.severity {
        Severity::Error => console::say_styled(&text),
        Severity::Warning if console::is_quiet() => {}
        Severity::Warning => console::say_styled(&text),
    }
}

/// Without control characters and without the rest of what is long; texts of files are cleaned as
/// they are drawn.
fn clean(diagnostic: &Diagnostic) -> Diagnostic {
    let mut clean = diagnostic.clone();
    let labels = std::iter::once(&mut clean.primary).chain(&mut clean.secondary);
    let texts = labels.map(|label| &mut label.text).chain(&mut clean.hints);
    for text in texts.chain(std::iter::once(&mut clean.message)) {
        *text = console::clean(&console::brief(text)).into_owned();
    }
    clean
}

/// Says a fault and shows its block.
pub(crate) fn say_fault(fault: &RunFault, sources: &SourceMap) {
    let mut diagnostic = Diagnostic::error(code::FAULT, fault.span, fault.to_string());
    diagnostic.hints.clone_from(&fault.hints);
    say(&diagnostic, sources);
}

/// Says what several compilations found, each with the choices that it needs behind `option`.
pub(crate) fn say_findings(findings: &Findings, option: &str) {
    for (diagnostic, sources) in findings.list(option) {
        say(&diagnostic, sources);
    }
}

/// One diagnostic as text.
fn render(diagnostic: &Diagnostic, sources: &SourceMap, renderer: &Renderer) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    // One snippet for each file, the one of the primary place first.
    let mut marks: BTreeMap<(bool, FileId), Vec<Annotation<'_>>> = BTreeMap::new();
    let main = diagnostic.primary.span.file;
    let labels = std::iter::once((AnnotationKind::Primary, &diagnostic.primary))
        .chain(diagnostic.secondary.iter().map(|label| (AnnotationKind::Context, label)));
    for (kind, label) in labels {
        let file = label.span.file;
        marks.entry((file != main, file)).or_default().push(mark(kind, label, sources));
    }
    let text = |file| marked(sources.text(file));
    let mut group: Group<'_> = Group::with_title(
        level.primary_title(diagnostic.message.as_str()).id(diagnostic.code.name()),
    );
    for ((_, file), annotations) in marks {
        let snippet = Snippet::source(text(file))
            .path(console::clean(relative(sources.name(file))))
            .annotations(annotations);
        group = group.element(snippet);
    }
    for hint in &diagnostic.hints {
        group = group.element(Level::HELP.message(hint.as_str()));
    }
    renderer.render(&[group])
}

fn mark<'a>(kind: AnnotationKind, label: &'a Label, sources: &SourceMap) -> Annotation<'a> {
    let text = sources.text(label.span.file);
    let annotation = kind.span(within(text, label.span.start as usize, label.span.end as usize));
    if label.text.is_empty() { annotation } else { annotation.label(label.text.as_str()) }
}

/// The range, moved onto characters that exist.
fn within(text: &str, start: usize, end: usize) -> Range<usize> {
    let floor = |at: usize| {
        let at = at.min(text.len());
        (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
    };
    let start = floor(start);
    start..floor(end).max(start)
}

#[cfg(test)]
mod tests {
    use legwork_block::Span;

    use super::*;

    #[test]
    fn places_in_several_files_stand_under_one_message() {
        let mut sources = SourceMap::default();
        let mask = sources.add("mask.ron", b"Mask(\n  a: 1,\n)\n");
        let main = sources.add("main.ron", "Diagram(é: 2)\n".as_bytes());
        let diagnostic =
            Diagnostic::error(code::UNKNOWN_FIELD, Span::new(main, 8, 10), "no such field")
                .label("here")
                .also(Span::new(mask, 8, 9), "declared here")
                .hint("leave it out");
        let text = render(&diagnostic, &sources, &Renderer::plain());
        assert!(text.starts_with("error[unknown-field]: no such field"), "{text}");
        let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("no `{part}` in {text}"));
        assert!(place("main.ron:1:9") < place("mask.ron:2:3"), "{text}");
        place("^ here");
        place("- declared here");
        place("help: leave it out");
    }

    #[test]
    fn marks_stand_under_their_places_behind_control_characters() {
        let mut sources = SourceMap::default();
        let before = "/*\u{9b}31m \u{61c}\u{202e}\u{2066}*/ ";
        let file = sources.add("a.ron", format!("{before}wrong").as_bytes());
        let span = Span::new(file, before.len(), before.len() + 5);
        let text =
            render(&Diagnostic::error(code::SYNTAX, span, "no"), &sources, &Renderer::plain());
        assert!(!text.replace('\n', "").contains(legwork_block::is_hidden), "{text:?}");
        let line = |part: &str| text.lines().find(|line| line.contains(part)).unwrap_or_default();
        let column = |part: &str| line(part).split(part).next().map(|left| left.chars().count());
        assert_eq!(column("wrong"), column("^^^^^"), "{text}");
    }

    #[test]
    fn places_that_do_not_exist_are_shown_nearby() {
        let mut sources = SourceMap::default();
        let file = sources.add("a.ron", "é".as_bytes());
        for (start, end) in [(0, 0), (1, 1), (1, 9), (7, 9), (2, 2)] {
            let diagnostic = Diagnostic::warning(code::SYNTAX, Span::new(file, start, end), "text");
            let text = render(&diagnostic, &sources, &Renderer::plain());
            assert!(text.contains("a.ron:1:"), "{text}");
        }
        let empty = sources.add("empty.ron", b"");
        let nowhere = Diagnostic::error(code::SYNTAX, Span::new(empty, 0, 0), "text");
        assert!(render(&nowhere, &sources, &Renderer::plain()).contains("empty.ron"));
        let missing = Diagnostic::error(code::SYNTAX, Span::new(FileId(99), 3, 5), "text");
        assert!(render(&missing, &sources, &Renderer::plain()).contains("text"));
    }
}
