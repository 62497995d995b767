//! Limits of an XML text, so that its reading time is proportional to its length.

use std::collections::BTreeSet;

/// Largest number of attributes of an element: the reader compares each with each.
const MOST_ATTRIBUTES: usize = 256;

/// Largest number of different namespaces: the reader copies them from element to element.
const MOST_NAMESPACES: usize = 64;

/// Refuses a text with a superlinear reading time: elements with more than 256 attributes, or more
/// than 64 different declarations of namespaces. It is one pass, and finds no other errors.
///
/// # Errors
/// Place in bytes, and a name for the excess.
pub fn check_xml(text: &str) -> Result<(), (usize, String)> {
    let mut namespaces: BTreeSet<&str> = BTreeSet::new();
    let mut at = 0;
    while let Some(found) = text[at..].find('<') {
        let start = at + found;
        let rest = &text[start..];
        let skipped = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("</", ">")];
        if let Some((open, end)) = skipped.iter().find(|(open, _)| rest.starts_with(open)) {
            let inner = &rest[open.len()..];
            at = start + open.len() + inner.find(end).map_or(inner.len(), |at| at + end.len());
            continue;
        }
        let (mut attributes, mut quote) = (0, None);
        // A name begins after blanks that follow the element's name or a value.
        let (mut name, mut value, mut is_over, mut is_first) = (start + 1, start + 1, false, true);
        let bytes = text.as_bytes();
        at = start + 1;
        while let Some(&byte) = bytes.get(at) {
            match (byte, quote) {
                (byte, Some(open)) if byte == open => {
                    (quote, is_over) = (None, true);
                    if text[name..value].starts_with("xmlns") {
                        namespaces.insert(&text[name..at]);
                        if namespaces.len() > MOST_NAMESPACES {
                            let what = format!("more than {MOST_NAMESPACES} namespaces");
                            return Err((name, what));
                        }
                    }
                }
                (_, Some(_)) => {}
                (b'"' | b'\'', None) => {
                    attributes += 1;
                    if attributes > MOST_ATTRIBUTES {
                        let what = format!("an element of more than {MOST_ATTRIBUTES} attributes");
                        return Err((start, what));
                    }
                    (quote, value) = (Some(byte), at);
                }
                (b'>', None) => break,
                (byte, None) if byte.is_ascii_whitespace() => {
                    is_over |= is_first;
                    is_first = false;
                }
                (_, None) if is_over => (name, is_over) = (at, false),
                _ => {}
            }
            at += 1;
        }
    }
    Ok(())
}
