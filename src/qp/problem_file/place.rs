//! The place of an error in the text of a problem file.

use super::ProblemFileError;
use std::ops::Range;

/// The bytes of `text` that `error` of [`super::read`] refers to: the value or the key; where
/// something is missing, the brace that opens the file. Empty beyond the end of the text.
#[must_use]
pub fn place(text: &str, error: &ProblemFileError) -> Range<usize> {
    let start = skip_space(text.as_bytes(), 0);
    let opening = start..(start + 1).min(text.len()).max(start);
    match error {
        ProblemFileError::Json { line, column, .. } => {
            let before: usize =
                text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
            let at = (before + column.saturating_sub(1)).min(text.len());
            at..(at + 1).min(text.len())
        }
        ProblemFileError::Value { at, .. } => {
            let in_cone = || value_at(text, member(text, start, "cone")?.1.start, at);
            value_at(text, start, at).or_else(in_cone).unwrap_or(opening)
        }
        ProblemFileError::Unknown { key, .. } => {
            let in_cone = || member(text, member(text, start, "cone")?.1.start, key);
            member(text, start, key).or_else(in_cone).map_or(opening, |(key, _)| key)
        }
        ProblemFileError::Missing { .. } => opening,
    }
}

/// The value that a path such as `hessian[2][0]` or `cone.sides` leads to, or the last on the way.
fn value_at(text: &str, start: usize, path: &str) -> Option<Range<usize>> {
    let mut found: Option<Range<usize>> = None;
    for step in path.split(['.', '[']) {
        let from = found.as_ref().map_or(start, |range| range.start);
        let next = match step.strip_suffix(']') {
            Some(index) => index.parse().ok().and_then(|index| element(text, from, index)),
            None => member(text, from, step).map(|(_, value)| value),
        };
        match next {
            Some(range) => found = Some(range),
            None => return found,
        }
    }
    found
}

/// Key and value of the last member of this name of the object that begins at `start`.
fn member(text: &str, start: usize, name: &str) -> Option<(Range<usize>, Range<usize>)> {
    let bytes = text.as_bytes();
    if bytes.get(start) != Some(&b'{') {
        return None;
    }
    let mut found = None;
    let mut at = skip_space(bytes, start + 1);
    while bytes.get(at) == Some(&b'"') {
        let key = at..skip_value(bytes, at);
        let colon = skip_space(bytes, key.end);
        let value = skip_space(bytes, colon + 1);
        let end = skip_value(bytes, value);
        let is_same = serde_json::from_str::<String>(text.get(key.clone())?).ok()? == name;
        if is_same {
            found = Some((key, value..end));
        }
        at = skip_space(bytes, skip_space(bytes, end) + 1);
    }
    found
}

/// An element of the list that begins at `start`.
fn element(text: &str, start: usize, index: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    if bytes.get(start) != Some(&b'[') {
        return None;
    }
    let mut at = skip_space(bytes, start + 1);
    for _ in 0..index {
        let comma = skip_space(bytes, skip_value(bytes, at));
        if bytes.get(comma) != Some(&b',') {
            return None;
        }
        at = skip_space(bytes, comma + 1);
    }
    let is_there = bytes.get(at).is_some_and(|byte| *byte != b']');
    is_there.then(|| at..skip_value(bytes, at))
}

fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

/// The end of the value that begins at `at`, in text that is JSON.
fn skip_value(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0usize;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at += 1;
                while bytes.get(at).is_some_and(|byte| *byte != b'"') {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' if depth == 0 => return at,
            b']' | b'}' => depth -= 1,
            b',' if depth == 0 => return at,
            _ if depth == 0 => {
                let is_end = |b: &u8| b.is_ascii_whitespace() || b",]}".contains(b);
                while bytes.get(at).is_some_and(|byte| !is_end(byte)) {
                    at += 1;
                }
                return at;
            }
            _ => {}
        }
        at += 1;
        if depth == 0 {
            break;
        }
    }
    at.min(bytes.len())
}
