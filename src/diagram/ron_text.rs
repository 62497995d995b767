//! RON by the `ron` crate: serialisation of patches, and validation of files.

use std::fmt::Write as _;

use legwork_block::{Diagnostic, Diagnostics, FileId, Span, Written, code};
use ron::ser::PrettyConfig;
use serde::Serialize;
use serde::de::IgnoredAny;
use serde::ser::{SerializeMap as _, Serializer};

use crate::document::{self, DEPTH_LIMIT};
use crate::render::SourceMap;

/// A patch file.
#[derive(Serialize)]
enum File<'a> {
    Patch {
        #[serde(skip_serializing_if = "Option::is_none", serialize_with = "plain")]
        doc: Option<&'a str>,
        set: Settings<'a>,
    },
}

/// Serialises the text without `Some`.
fn plain<S: Serializer>(text: &Option<&str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text.unwrap_or_default())
}

/// New values by path.
struct Settings<'a>(&'a [(String, Written)]);

impl Serialize for Settings<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (path, value) in self.0 {
            map.serialize_entry(path, value)?;
        }
        map.end()
    }
}

/// Text of a value, on one line.
pub fn value_text(value: &Written) -> String {
    text(value, 0)
}

/// The text of a patch that sets parameters.
pub fn patch_text(doc: Option<&str>, set: &[(String, Written)]) -> String {
    let mut out = text(&File::Patch { doc, set: Settings(set) }, 2);
    out.push('\n');
    out
}

/// RON whose outermost `depth` levels have a line for each entry.
#[expect(clippy::expect_used, reason = "numbers, texts, lists, maps and fields are RON")]
fn text(value: &impl Serialize, depth: usize) -> String {
    let config = PrettyConfig::new().depth_limit(depth).new_line("\n").compact_arrays(true);
    ron::ser::to_string_pretty(value, config).expect("RON")
}

/// Validates a text with `ron`.
///
/// # Errors
/// Byte and message of the first syntax error.
pub fn judge(text: &str) -> Result<(), (usize, String)> {
    // It counts several levels for each bracket.
    let options = ron::Options::default().with_recursion_limit(8 * DEPTH_LIMIT);
    let Err(error) = options.from_str::<IgnoredAny>(text) else { return Ok(()) };
    let at = error.span.start;
    let before = text.split_inclusive('\n').take(at.line.saturating_sub(1));
    let line: usize = before.map(str::len).sum();
    let rest = &text[line..];
    let column = rest.char_indices().nth(at.col.saturating_sub(1));
    let column = column.map_or(rest.len(), |(byte, _)| byte);
    let mut message = String::new();
    // Writing to a string cannot fail.
    let _ = write!(message, "not valid RON for other programs: {}", error.code);
    Err((line + column, message))
}

/// Errors for the files of a diagram that `ron` rejects although [`document::parse`] accepts them.
pub fn judge_all(sources: &SourceMap) -> Diagnostics {
    let mut found = Diagnostics::default();
    for (i, name) in sources.names().enumerate() {
        let file = FileId(i as u32);
        let text = sources.text(file);
        // Names in angle brackets are command-line values. Files that do not parse have other formats.
        if name.starts_with('<') || document::parse(file, text.as_bytes()).is_err() {
            continue;
        }
        if let Err((at, message)) = judge(text) {
            let length = text[at..].chars().next().map_or(0, char::len_utf8);
            let span = Span::new(file, at, at + length);
            found.push(Diagnostic::error(code::NOT_RON, span, message));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use legwork_block::{Type, parse_quantity, parse_unit};

    #[test]
    fn numbers_with_units_read_back_to_the_same_bits() {
        let torque = parse_unit("N*m").expect("a unit").0;
        for number in [0.1 + 0.2, -1e-300, 1.0 / 3.0, 6.02e23, -0.0, 123_456_789.123_456_79] {
            let written = Written::signal(&Type::Real, Some(torque), &[number]);
            let text = value_text(&written.expect("a number"));
            let (value, unit) = parse_quantity(text.trim_matches('"')).expect("a quantity");
            assert_eq!(value.to_bits(), number.to_bits(), "{text}");
            assert_eq!(unit, Some(torque));
        }
    }

    #[test]
    fn values_are_in_a_line_and_settings_in_one_each() {
        let columns = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0];
        let rows = Written::signal(&Type::matrix(2, 3), None, &columns).expect("a matrix");
        assert_eq!(value_text(&rows), "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]");
        let inner =
            Written::Fields(vec![("s", Written::list(&[0.5])), ("s_dot", Written::list(&[]))]);
        let robots = Written::Map(vec![("go".into(), inner)]);
        let init = Written::Fields(vec![("robots", robots)]);
        assert_eq!(value_text(&init), r#"(robots: {"go": (s: [0.5], s_dot: [])})"#);
        let set = [("lqr.gain".to_owned(), rows), ("body.init".to_owned(), init)];
        let patch = patch_text(Some("at \"rest\""), &set);
        let expected = r#"Patch(
    doc: "at \"rest\"",
    set: {
        "lqr.gain": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],
        "body.init": (robots: {"go": (s: [0.5], s_dot: [])}),
    },
)
"#;
        assert_eq!(patch, expected);
        assert_eq!(judge(&patch), Ok(()));
        let (at, message) = judge("(a: 1,\n é: [2, )").expect_err("no RON");
        assert_eq!(&"(a: 1,\n é: [2, )"[at..], ")", "{message}");
    }
}
