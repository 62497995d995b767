//! From bytes to a tree of values with places: the first arrow of the pipeline.
//!
//! The syntax is that of the `ron` crate, which has the last word on every file; the tree, its
//! exact byte spans and the check for duplicates are ours, since serde keeps neither places nor the
//! names of kinds. `Some(x)` reads as `x`, `None` and `()` as nothing, `(1, 2)` as `[1, 2]`.

#![allow(
    clippy::result_large_err,
    reason = "an error ends the compilation, its size costs nothing"
)]

mod literal;
mod parser;

use legwork_block::{Diagnostic, FileId, Node, Span};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// Levels of brackets that may be nested.
pub const DEPTH_LIMIT: usize = 100;

/// Reads the bytes of a file.
///
/// # Errors
/// One diagnostic, at the place of the mistake: the file is not UTF-8, empty, no RON, nested too
/// deeply, or has a key or a field twice.
pub fn parse(file: FileId, bytes: &[u8]) -> Result<Node, Diagnostic> {
    let text = decode(file, bytes)?;
    let skipped = bytes.len() - text.len();
    let node = parser::parse(file, text, skipped)?;
    validate(file, text, skipped)?;
    Ok(node)
}

/// The text without byte order mark.
fn decode(file: FileId, bytes: &[u8]) -> Result<&str, Diagnostic> {
    let whole = |code, message: &str| Err(Diagnostic::error(code, Span::new(file, 0, 0), message));
    if u32::try_from(bytes.len()).is_err() {
        return whole("encoding", "the file is larger than 4 GB");
    }
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return whole("encoding", "expected UTF-8, found UTF-16")
            .map_err(|found| found.hint("save the file as UTF-8"));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let message = format!("expected UTF-8, found byte 0x{:02x} at offset {at}", bytes[at]);
        Diagnostic::error("encoding", Span::new(file, at, at + 1), message)
            .hint("save the file as UTF-8")
    })
}

/// Asks `ron` whether it accepts the text.
fn validate(file: FileId, text: &str, skipped: usize) -> Result<(), Diagnostic> {
    let syntax = |error: &ron::Error, span: &ron::error::Span| {
        let start = skipped + offset(text, span.start);
        let end = skipped + offset(text, span.end);
        let message = lower_case_first(&error.to_string());
        Diagnostic::error("syntax", Span::new(file, start.min(end), end), message)
    };
    // It counts several levels for each bracket; the depth is bounded already.
    let options = ron::Options::default().with_recursion_limit(8 * DEPTH_LIMIT);
    let mut deserializer = ron::Deserializer::from_str_with_options(text, &options)
        .map_err(|error| syntax(&error.code, &error.span))?;
    let read = IgnoredAny::deserialize(&mut deserializer)
        .map_err(|error| deserializer.span_error(error))
        .and_then(|_| deserializer.end().map_err(|error| deserializer.span_error(error)));
    read.map_err(|error| syntax(&error.code, &error.span))
}

/// Byte of a position in lines and characters, both from 1.
fn offset(text: &str, position: ron::error::Position) -> usize {
    let line_start: usize =
        text.split_inclusive('\n').take(position.line.saturating_sub(1)).map(str::len).sum();
    let line = &text[line_start..];
    line.char_indices()
        .nth(position.col.saturating_sub(1))
        .map_or(text.len(), |(at, _)| line_start + at)
}

fn lower_case_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

#[cfg(test)]
mod tests;
