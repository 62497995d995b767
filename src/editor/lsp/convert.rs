//! What the service says, as the protocol writes it.

use std::ops::Range;

use legwork_block::Severity;
use lsp_types::{CompletionItemKind, DiagnosticSeverity, SymbolKind};
use serde_json::{Value, json};

use crate::complete::{Completion, CompletionKind};
use crate::findings::{Finding, Place};
use crate::outline::Symbol;
use crate::text::{Position, position_at};

/// What the server can do.
pub(super) fn capabilities() -> Value {
    json!({
        "capabilities": {
            "positionEncoding": "utf-16",
            "textDocumentSync": { "openClose": true, "change": 2, "save": true },
            "completionProvider": { "triggerCharacters": ["\"", ".", "(", "{", "=", "^", "["] },
            "hoverProvider": true,
            "definitionProvider": true,
            "documentSymbolProvider": true,
        },
        "serverInfo": { "name": "legwork", "version": env!("CARGO_PKG_VERSION") },
    })
}

pub(super) fn notification(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

fn position(at: Position) -> Value {
    json!({ "line": at.line, "character": at.character })
}

/// Bytes of a text.
pub(super) fn range(text: &str, range: &Range<usize>) -> Value {
    let at = |offset| position(position_at(text, offset));
    json!({ "start": at(range.start), "end": at(range.end) })
}

fn range_of(place: &Place) -> Value {
    json!({ "start": position(place.start), "end": position(place.end) })
}

/// A mistake that stands in no file on disk is said at the beginning of the file at `path`.
pub(super) fn on_disk(mut finding: Finding, path: &str) -> Finding {
    let Place { file, start, .. } = &finding.place;
    if file != path && (file.starts_with("std:") || file.starts_with('<')) {
        let (line, column) = (start.line + 1, start.character + 1);
        finding.message = format!("{file}:{line}:{column}: {}", finding.message);
        let start = Position { line: 0, character: 0 };
        finding.place = Place { file: path.to_owned(), start, end: start };
    }
    finding
        .related
        .retain(|(place, _)| !place.file.starts_with("std:") && !place.file.starts_with('<'));
    finding
}

pub(super) fn diagnostic(finding: &Finding, uri: impl Fn(&str) -> String) -> Value {
    let severity = match finding.severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
    };
    let related = finding.related.iter().map(|(place, text)| {
        let location = json!({ "uri": uri(&place.file), "range": range_of(place) });
        json!({ "location": location, "message": text })
    });
    json!({
        "range": range_of(&finding.place),
        "severity": severity,
        "code": finding.code,
        "source": "legwork",
        "message": finding.message,
        "relatedInformation": related.collect::<Vec<_>>(),
    })
}

pub(super) fn completion(one: &Completion, rank: usize, text: &str, snippets: bool) -> Value {
    let kind = match one.kind {
        CompletionKind::Field => CompletionItemKind::FIELD,
        CompletionKind::Block => CompletionItemKind::CLASS,
        CompletionKind::Construct => CompletionItemKind::KEYWORD,
        CompletionKind::Choice => CompletionItemKind::ENUM_MEMBER,
        CompletionKind::Signal | CompletionKind::Name => CompletionItemKind::VARIABLE,
        CompletionKind::Port => CompletionItemKind::INTERFACE,
        CompletionKind::Function => CompletionItemKind::FUNCTION,
        CompletionKind::Unit => CompletionItemKind::UNIT,
        CompletionKind::Type => CompletionItemKind::STRUCT,
        CompletionKind::File => CompletionItemKind::FILE,
    };
    let insert = if snippets { one.insert.clone() } else { one.plain() };
    json!({
        "label": one.label,
        "kind": kind,
        "detail": one.detail,
        "documentation": { "kind": "markdown", "value": one.doc },
        "sortText": format!("{rank:05}"),
        "filterText": one.label,
        "insertTextFormat": if snippets { 2 } else { 1 },
        "textEdit": { "range": range(text, &one.range), "newText": insert },
    })
}

pub(super) fn symbol(symbol: &Symbol, text: &str) -> Value {
    let kind = match (symbol.is_block, symbol.inside.is_empty()) {
        (true, true) => SymbolKind::OBJECT,
        (true, false) => SymbolKind::MODULE,
        (false, true) => SymbolKind::PROPERTY,
        (false, false) => SymbolKind::NAMESPACE,
    };
    let inside: Vec<Value> = symbol.inside.iter().map(|one| self::symbol(one, text)).collect();
    json!({
        "name": if symbol.name.is_empty() { "\"\"" } else { &symbol.name },
        "detail": symbol.kind,
        "kind": kind,
        "range": range(text, &symbol.range),
        "selectionRange": range(text, &symbol.name_range),
        "children": inside,
    })
}
