//! From bytes to a tree of values with places: the first arrow of the pipeline.
//!
//! The syntax is that of RON; the reader is ours, since serde keeps neither places nor the names of
//! kinds. Tests hold it against the `ron` crate, which accepts every text that is accepted here.
//! `Some(x)` reads as `x`, `None` and `()` as nothing, `(1, 2)` as `[1, 2]`. Bytes, ranges and keys
//! that are no names are refused.

#![allow(
    clippy::result_large_err,
    reason = "an error ends the compilation, its size costs nothing"
)]

mod literal;
mod parser;

use legwork_block::{Diagnostic, FileId, Node, Span, code};

/// Levels of brackets that may be nested.
pub const DEPTH_LIMIT: usize = 100;

/// Reads the bytes of a file.
///
/// # Errors
/// One diagnostic, at the place of the mistake: the file is not UTF-8, empty, no RON, nested too
/// deeply, or has a key or a field twice.
pub fn parse(file: FileId, bytes: &[u8]) -> Result<Node, Diagnostic> {
    let text = decode(file, bytes)?;
    parser::parse(file, text, bytes.len() - text.len()).map_err(|found| *found)
}

/// Whether the bytes of a file begin as one of the constructs `kinds` does, or as another whole
/// file of the language, behind comments.
pub(crate) fn is_ours(bytes: &[u8], kinds: &[&str]) -> bool {
    decode(FileId::default(), bytes).is_ok_and(|text| parser::is_ours(text, kinds))
}

/// Whether the bytes of a file begin as the construct `kind` does, behind comments.
pub fn begins_with(bytes: &[u8], kind: &str) -> bool {
    decode(FileId::default(), bytes).is_ok_and(|text| parser::begins_with(text, &[kind]))
}

/// The text without byte order mark.
fn decode(file: FileId, bytes: &[u8]) -> Result<&str, Diagnostic> {
    let whole =
        |message: &str| Err(Diagnostic::error(code::ENCODING, Span::new(file, 0, 0), message));
    if u32::try_from(bytes.len()).is_err() {
        return whole("the file is larger than 4 GB");
    }
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return whole("expected UTF-8, found UTF-16")
            .map_err(|found| found.hint("save the file as UTF-8"));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let message = format!("expected UTF-8, found byte 0x{:02x} at offset {at}", bytes[at]);
        Diagnostic::error(code::ENCODING, Span::new(file, at, at + 1), message)
            .hint("save the file as UTF-8")
    })
}

#[cfg(test)]
mod tests;
