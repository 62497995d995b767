//! The one path syntax: `block.port.field[2..5]`, `foot[FL_foot].point.gap`, `^port`.

use legwork_block::{Diagnostic, Place, Span, code};
use smallvec::SmallVec;

use crate::network::Select;

/// A parsed path.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SignalText<'t> {
    /// Whether it starts at the mask's own inputs: `^port`.
    pub(crate) outer: bool,
    /// Its steps; the first is a name.
    pub(crate) steps: SmallVec<[PathStep<'t>; 4]>,
    /// Where it is written.
    pub(crate) span: Span,
    /// As written.
    pub(crate) text: &'t str,
}

/// One step of a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum PathStep<'t> {
    /// `name`.
    Name(&'t str),
    /// `[FL_foot]`: a copy of a for-each.
    Key(&'t str),
    /// `[2]`.
    Index(usize),
    /// `[2..5]`, `[2..]`.
    Slice(usize, Option<usize>),
    /// `[0, 2]`.
    Element(usize, usize),
}

impl PathStep<'_> {
    /// The step as a selection in a value; `None` for the key of a copy.
    pub(crate) fn select(self) -> Option<Select> {
        match self {
            Self::Name(name) => Some(Select::Field(name.to_owned())),
            Self::Key(_) => None,
            Self::Index(i) => Some(Select::Index(i)),
            Self::Slice(a, b) => Some(Select::Slice(a, b)),
            Self::Element(r, c) => Some(Select::Element(r, c)),
        }
    }
}

/// Parses a path written at `place`.
pub(crate) fn parse<'t>(text: &'t str, place: &Place) -> Result<SignalText<'t>, Diagnostic> {
    let error = |at: usize, message: String| {
        let end = (at + 1).min(text.len()).max(at);
        Diagnostic::error(code::BAD_PATH, place.part(at.min(text.len()), end), message)
            .hint("write `block.port`, `block.port.field[2..5]` or `foreach[key].block.port`")
    };
    let mut steps = SmallVec::new();
    let (outer, mut at) = if text.starts_with('^') { (true, 1) } else { (false, 0) };
    loop {
        let rest = &text[at..];
        let len = rest.find(['.', '[', ']', '^']).unwrap_or(rest.len());
        let name = &rest[..len];
        if name.is_empty() || name.trim() != name {
            return Err(error(at, format!("expected a name in the path `{text}`")));
        }
        steps.push(PathStep::Name(name));
        at += len;
        while text[at..].starts_with('[') {
            let Some(close) = text[at..].find(']') else {
                return Err(error(at, format!("expected `]` in the path `{text}`")));
            };
            let inside = &text[at + 1..at + close];
            match bracket(inside) {
                Some(step) => steps.push(step),
                None => {
                    return Err(error(
                        at + 1,
                        format!("expected an index, a slice or a key, found `{inside}`"),
                    ));
                }
            }
            at += close + 1;
        }
        if at == text.len() {
            break;
        }
        if !text[at..].starts_with('.') {
            return Err(error(at, format!("expected `.` or `[` in the path `{text}`")));
        }
        at += 1;
    }
    Ok(SignalText { outer, steps, span: place.part(0, text.len()), text })
}

fn bracket(inside: &str) -> Option<PathStep<'_>> {
    let inside = inside.trim();
    let number = |text: &str| text.trim().parse::<usize>().ok();
    if let Some((a, b)) = inside.split_once("..") {
        let a = if a.trim().is_empty() { 0 } else { number(a)? };
        let b = if b.trim().is_empty() { None } else { Some(number(b)?) };
        return Some(PathStep::Slice(a, b));
    }
    if let Some((r, c)) = inside.split_once(',') {
        return Some(PathStep::Element(number(r)?, number(c)?));
    }
    if let Some(i) = number(inside) {
        return Some(PathStep::Index(i));
    }
    (!inside.is_empty()).then_some(PathStep::Key(inside))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_path_is_read() {
        fn parse(text: &str) -> Result<SignalText<'_>, Diagnostic> {
            super::parse(text, &Place::from(Span::default()))
        }
        let path = parse("foot[FL_foot].point.contact[2..5]").unwrap();
        assert_eq!(path.steps[1], PathStep::Key("FL_foot"));
        assert_eq!(path.steps[4], PathStep::Slice(2, Some(5)));
        assert!(parse("^state.q[0, 1]").unwrap().outer);
        for bad in ["", ".", "a.", "a..b", "a[", "a[]", "a]b", "a[1]b", "^", "a [0] .b", "a^b"] {
            assert!(parse(bad).is_err(), "{bad:?} was read");
        }
    }
}
