//! Characters that act on a terminal and are not shown.

use std::borrow::Cow;

/// Whether a character is a control character, or changes the direction of a line: what a terminal
/// or an editor shows of a text with it is not what the text says.
pub fn is_hidden(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}');
    c.is_control() || turns || ('\u{2066}'..='\u{2069}').contains(&c)
}

/// The text with a mark in place of each hidden character but line ends and tabs, as many bytes
/// long as it, so that places in it stay.
pub fn marked(text: &str) -> Cow<'_, str> {
    let acts = |c: char| is_hidden(c) && !matches!(c, '\n' | '\r' | '\t');
    if !text.contains(acts) {
        return text.into();
    }
    let mark = |c: char| match c.len_utf8() {
        _ if !acts(c) => c,
        1 => '?',
        2 => '¿',
        _ => char::REPLACEMENT_CHARACTER,
    };
    text.chars().map(mark).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::{is_hidden, marked};

    #[test]
    fn marks_stand_in_the_places_of_what_is_hidden() {
        assert_eq!(marked("a\tä\r\nb"), "a\tä\r\nb");
        for c in ('\0'..=char::MAX).filter(|c| is_hidden(*c) && !"\n\r\t".contains(*c)) {
            let text = format!("a{c}b");
            let marked = marked(&text);
            assert!(!marked.contains(is_hidden), "{c:?}");
            assert_eq!(marked.len(), text.len(), "{c:?}");
            assert!(marked.starts_with('a') && marked.ends_with('b'), "{c:?}");
        }
    }
}
