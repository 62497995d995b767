//! Diagnostics as text and as JSON.

use std::fmt::Write;

use legwork_block::{Diagnostic, Diagnostics, FileId, Label, Severity, Span, marked};
use serde_json::{Value, json};

/// The files of one compilation: names and texts, by [`FileId`].
#[derive(Debug, Clone, Default)]
pub struct SourceMap {
    files: Vec<Source>,
}

#[derive(Debug, Clone)]
struct Source {
    name: String,
    text: String,
    /// First byte of each line.
    lines: Vec<usize>,
}

/// A place for people: line and column count characters from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl SourceMap {
    /// Adds a file. In a file that is not UTF-8 every byte beyond ASCII shows as `?`.
    pub fn add(&mut self, name: impl Into<String>, bytes: &[u8]) -> FileId {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            // One character for each byte keeps all offsets.
            Err(_) => {
                bytes.iter().map(|b| if b.is_ascii() { char::from(*b) } else { '?' }).collect()
            }
        };
        let lines =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        self.files.push(Source { name: name.into(), text, lines });
        FileId(u32::try_from(self.files.len() - 1).unwrap_or(u32::MAX))
    }

    /// Names of all files, in the order in which they were read.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|source| source.name.as_str())
    }

    /// The name of a file; `?` if there is none.
    pub fn name(&self, file: FileId) -> &str {
        self.source(file).map_or("?", |source| &source.name)
    }

    /// The text of a file; empty if there is none.
    pub fn text(&self, file: FileId) -> &str {
        self.source(file).map_or("", |source| &source.text)
    }

    /// Line and column of the first byte of `span` and of the byte behind its last.
    pub fn positions(&self, span: Span) -> (Position, Position) {
        let at = |byte: u32| {
            let Some(source) = self.source(span.file) else {
                return Position { line: 1, column: 1 };
            };
            let byte = source.boundary(byte as usize);
            let line = source.line_of(byte);
            let column = source.text[source.lines[line]..byte].chars().count() + 1;
            Position { line: line + 1, column }
        };
        (at(span.start), at(span.end.max(span.start)))
    }

    /// The file of this name.
    pub fn find(&self, name: &str) -> Option<FileId> {
        let at = self.files.iter().position(|source| source.name == name)?;
        u32::try_from(at).ok().map(FileId)
    }

    fn source(&self, file: FileId) -> Option<&Source> {
        self.files.get(file.0 as usize)
    }
}

impl Source {
    /// The nearest start of a character at or before `byte`.
    fn boundary(&self, byte: usize) -> usize {
        let byte = byte.min(self.text.len());
        (0..=byte).rev().find(|at| self.text.is_char_boundary(*at)).unwrap_or(0)
    }

    fn line_of(&self, byte: usize) -> usize {
        self.lines.partition_point(|start| *start <= byte).saturating_sub(1)
    }

    /// The line without its end.
    fn line(&self, line: usize) -> &str {
        let start = self.lines[line];
        let end = self.lines.get(line + 1).copied().unwrap_or(self.text.len());
        self.text[start..end].trim_end_matches(['\n', '\r'])
    }
}

/// One JSON array: per diagnostic severity, code, message, file, place, labels and hints.
pub fn to_json(diagnostics: &Diagnostics, sources: &SourceMap) -> Value {
    let place = |label: &Label| {
        let (start, end) = sources.positions(label.span);
        json!({
            "file": sources.name(label.span.file),
            "line": start.line, "column": start.column,
            "end_line": end.line, "end_column": end.column,
            "start": label.span.start, "end": label.span.end,
            "text": label.text,
        })
    };
    let one = |diagnostic: &Diagnostic| {
        json!({
            "severity": diagnostic.severity,
            "code": diagnostic.code,
            "message": diagnostic.message,
            "primary": place(&diagnostic.primary),
            "secondary": diagnostic.secondary.iter().map(place).collect::<Vec<_>>(),
            "hints": diagnostic.hints,
        })
    };
    Value::Array(diagnostics.iter().map(one).collect())
}

/// All diagnostics as plain text, one paragraph each.
pub fn to_text(diagnostics: &Diagnostics, sources: &SourceMap) -> String {
    let all: Vec<String> = diagnostics.iter().map(|d| one_to_text(d, sources)).collect();
    all.join("\n")
}

/// One diagnostic as plain text: `file:line:column: error[code]: message`, the line, a caret,
/// other places, hints. Control characters are marked.
pub fn one_to_text(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let (code, message) = (diagnostic.code, &diagnostic.message);
    let mut text = format!("{}{severity}[{code}]: {message}\n", head(&diagnostic.primary, sources));
    text += &excerpt(&diagnostic.primary, '^', sources);
    for label in &diagnostic.secondary {
        text += &format!("  {}note: {}\n", head(label, sources), label.text);
        text += &excerpt(&Label { span: label.span, text: String::new() }, '-', sources);
    }
    for hint in &diagnostic.hints {
        text += &format!("  = hint: {hint}\n");
    }
    marked(&text).into_owned()
}

fn head(label: &Label, sources: &SourceMap) -> String {
    let start = sources.positions(label.span).0;
    format!("{}:{}:{}: ", sources.name(label.span.file), start.line, start.column)
}

/// The line of a label with marks under it. Tabs show as four spaces; a range of several lines is
/// marked to the end of its first.
fn excerpt(label: &Label, mark: char, sources: &SourceMap) -> String {
    let Some(source) = sources.source(label.span.file) else { return String::new() };
    let start = source.boundary(label.span.start as usize);
    let line = source.line_of(start);
    let shown = source.line(line);
    let from = (start - source.lines[line]).min(shown.len());
    let end = source.boundary(label.span.end as usize).max(start) - source.lines[line];
    let to = end.min(shown.len()).max(from);

    let wide = |part: &str| part.replace('\t', "    ");
    let indent = wide(&shown[..from]).chars().count();
    let length = wide(&shown[from..to]).chars().count().max(1);
    let number = (line + 1).to_string();
    let gutter = " ".repeat(number.len());
    let mut text = format!("{number} | {}\n{gutter} | ", wide(shown));
    let marks = mark.to_string().repeat(length);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}{marks} {}", " ".repeat(indent), label.text);
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str, start: usize, end: usize) -> String {
        let mut sources = SourceMap::default();
        let file = sources.add("a.ron", text.as_bytes());
        one_to_text(
            &Diagnostic::error(legwork_block::code::SYNTAX, Span::new(file, start, end), "message")
                .label("here"),
            &sources,
        )
    }

    #[test]
    fn the_caret_is_under_the_place() {
        assert_eq!(
            rendered("A(\n\té: xyz,\n)\n", 8, 11),
            "a.ron:2:5: error[syntax]: message\n2 |     é: xyz,\n  |        ^^^ here\n"
        );
    }

    #[test]
    fn the_end_of_the_file_and_ranges_of_lines_show() {
        assert_eq!(rendered("A\n", 2, 2), "a.ron:2:1: error[syntax]: message\n2 |\n  | ^ here\n");
        assert_eq!(rendered("", 0, 0), "a.ron:1:1: error[syntax]: message\n1 |\n  | ^ here\n");
        assert_eq!(
            rendered("A(b\nc)", 1, 6),
            "a.ron:1:2: error[syntax]: message\n1 | A(b\n  |  ^^ here\n"
        );
        assert!(rendered("é", 1, 99).starts_with("a.ron:1:1:"));
    }

    #[test]
    fn nothing_that_a_terminal_obeys_is_shown() {
        for hidden in ["\u{1b}", "\u{9b}", "\u{202e}"] {
            let text = rendered(&format!("a{hidden}[31m b"), 0, 1);
            assert!(!text.contains(hidden), "{text:?}");
        }
    }

    #[test]
    fn json_has_places_labels_and_hints() {
        let mut sources = SourceMap::default();
        let file = sources.add("a.ron", "x\n  é y\n".as_bytes());
        let mut diagnostics = Diagnostics::default();
        let found =
            Diagnostic::warning(legwork_block::code::SYNTAX, Span::new(file, 7, 8), "message");
        diagnostics.push(found.also(Span::new(file, 0, 1), "first").hint("do"));
        let json = to_json(&diagnostics, &sources);
        assert_eq!(json[0]["severity"], "warning");
        assert_eq!(json[0]["primary"]["line"], 2);
        assert_eq!(json[0]["primary"]["column"], 5);
        assert_eq!(json[0]["primary"]["end_column"], 6);
        assert_eq!(json[0]["secondary"][0]["text"], "first");
        assert_eq!(json[0]["hints"][0], "do");
    }
}
