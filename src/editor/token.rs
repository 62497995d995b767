//! Tokens of RON, from any text: what has no end is ended, what is nothing is left out.
//!
//! The strict reader is `legwork_diagram::document`; this one is for texts that somebody is writing.

use std::ops::Range;

/// A token and its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) range: Range<usize>,
}

/// What a token is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `(`, `[`, `{`.
    Open(u8),
    /// `)`, `]`, `}`.
    Close(u8),
    Colon,
    Comma,
    /// `Gain`, `true`.
    Word,
    Number,
    /// A text, with the bytes between its quotes.
    Text(Range<usize>),
    Comment,
}

/// The tokens of a text. If it `is_broken`, a text ends in its line.
pub(crate) fn tokens(text: &str, is_broken: bool) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let rest = &text[at..];
        let (kind, length) = match byte {
            b'(' | b'[' | b'{' => (Kind::Open(byte), 1),
            b')' | b']' | b'}' => (Kind::Close(byte), 1),
            b':' => (Kind::Colon, 1),
            b',' => (Kind::Comma, 1),
            b'"' => {
                let (inner, length) = quoted(rest, is_broken);
                (Kind::Text(at + inner.start..at + inner.end), length)
            }
            b'r' if raw_hashes(rest).is_some() => {
                let (inner, length) = raw(rest, raw_hashes(rest).unwrap_or(0), is_broken);
                (Kind::Text(at + inner.start..at + inner.end), length)
            }
            b'/' if rest.starts_with("//") => (Kind::Comment, line_end(rest)),
            b'/' if rest.starts_with("/*") => (Kind::Comment, block_comment(rest)),
            b'0'..=b'9' | b'+' | b'-' | b'.' => {
                let is_part = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
                (Kind::Number, rest.find(|c| !is_part(c)).unwrap_or(rest.len()))
            }
            _ => {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
                match end.unwrap_or(rest.len()) {
                    0 => {
                        at += rest.chars().next().map_or(1, char::len_utf8);
                        continue;
                    }
                    length => (Kind::Word, length),
                }
            }
        };
        found.push(Token { kind, range: at..at + length });
        at += length;
    }
    found
}

/// Bytes up to the end of the line.
fn line_end(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

/// The inside of the text in quotes at the start of `rest`, and its length.
fn quoted(rest: &str, is_broken: bool) -> (Range<usize>, usize) {
    let limit = if is_broken { line_end(rest) } else { rest.len() };
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate().take(limit).skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return (1..at, at + 1),
            _ => {}
        }
    }
    // It has no end: it ends where no path goes on.
    let mut depth = 0_usize;
    let end = rest[1..limit].char_indices().find(|(_, c)| {
        match c {
            '[' => depth += 1,
            ']' if depth > 0 => {
                depth -= 1;
                return false;
            }
            _ => {}
        }
        matches!(c, ',' | ')' | '}' | ']')
    });
    let end = end.map_or(limit, |(at, _)| at + 1);
    let end = 1 + rest[1..end].trim_end().len();
    (1..end, end)
}

/// The number of `#` of the raw text that starts here.
fn raw_hashes(rest: &str) -> Option<usize> {
    let rest = rest.strip_prefix('r')?;
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    rest[hashes..].starts_with('"').then_some(hashes)
}

fn raw(rest: &str, hashes: usize, is_broken: bool) -> (Range<usize>, usize) {
    let begin = hashes + 2;
    let closing = format!("\"{}", "#".repeat(hashes));
    let limit = if is_broken { line_end(rest).max(begin) } else { rest.len() };
    match rest[begin..].find(&closing) {
        Some(at) => (begin..begin + at, begin + at + closing.len()),
        None => (begin..limit, limit),
    }
}

/// Bytes of the comment at the start, which may hold comments.
fn block_comment(rest: &str) -> usize {
    let (mut level, mut at) = (1_usize, 2);
    while level > 0 {
        let Some(next) = rest[at..].find(['/', '*']) else { return rest.len() };
        at += next;
        if rest[at..].starts_with("/*") {
            (level, at) = (level + 1, at + 2);
        } else if rest[at..].starts_with("*/") {
            (level, at) = (level - 1, at + 2);
        } else {
            at += 1;
        }
    }
    at
}
