//! Characters that are obeyed rather than shown.

/// Whether a character is a control character, or changes the direction of a line: what a terminal
/// or an editor shows of a text with it is not what the text says.
pub fn is_hidden(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}');
    c.is_control() || turns || ('\u{2066}'..='\u{2069}').contains(&c)
}
