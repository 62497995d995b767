//! What a text of XML is, before it is read.

use std::ops::Range;

/// The name of the first element of a text of XML, behind declarations and comments; empty if what
/// stands there has no name, none if there is no element at all.
///
/// A file that is not of the kind that was asked for may be anything: nothing of it is shown, and
/// this tells its kind without an error of its text.
#[must_use]
pub fn first_element(text: &str) -> Option<&str> {
    first_element_at(text).map(|at| &text[at])
}

/// Byte range of the name that [`first_element`] returns.
pub(crate) fn first_element_at(text: &str) -> Option<Range<usize>> {
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text).trim_start();
    loop {
        let (skipped, end) = match rest {
            _ if rest.starts_with("<?") => ("<?", "?>"),
            _ if rest.starts_with("<!--") => ("<!--", "-->"),
            _ if rest.starts_with("<!") => ("<!", ">"),
            _ => break,
        };
        rest = rest[skipped.len()..].split_once(end)?.1.trim_start();
    }
    let rest = rest.strip_prefix('<')?;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '-' | '.');
    let start = text.len() - rest.len();
    Some(start..start + rest.find(|c| !is_name(c)).unwrap_or(rest.len()))
}

#[cfg(test)]
mod tests {
    use super::first_element;

    #[test]
    fn the_first_element_stands_behind_declarations_and_comments() {
        let cases = [
            ("\u{feff}<?xml version='1.0'?>\n<!-- <a> --> <robot name='r'>", Some("robot")),
            ("<xacro:macro/>", Some("xacro:macro")),
            ("</robot>", Some("")),
            ("<", Some("")),
            ("KEY=<robot>", None),
            ("<!-- <robot>", None),
            ("<!DOCTYPE a>\n<robot>", Some("robot")),
            ("<!DOCTYPE a [<!ENTITY b 'c'>]><robot>", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(first_element(text), expected, "{text}");
        }
    }
}
