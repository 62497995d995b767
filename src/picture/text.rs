//! Text in pictures: how wide it is, how it is shortened.

/// Width of `text` in a sans-serif font of `size` pixels, rounded up.
///
/// The reader's font is not known. Widths are those of DejaVu Sans, the widest of the usual ones,
/// so that text in Arial or Helvetica leaves some room.
pub(crate) fn width(text: &str, size: i32, bold: bool) -> i32 {
    let thousandths: i32 = text.chars().map(advance).sum();
    let weight = if bold { 112 } else { 100 };
    (thousandths * size * weight + 99_999) / 100_000
}

/// Advance of a character in thousandths of the font's size.
fn advance(c: char) -> i32 {
    match c {
        'i' | 'j' | 'l' | '\'' | '|' => 280,
        ' ' | '.' | ',' | ':' | ';' | 'I' | '/' => 330,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' => 400,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 980,
        'A'..='Z' | '~' | '+' | '=' | '<' | '>' | '#' => 740,
        c if c.is_ascii() => 620,
        // Scripts with wide characters: one em.
        c if (c as u32) >= 0x1100 => 1000,
        _ => 700,
    }
}

/// `text`, cut to `limit` characters with an ellipsis.
pub(crate) fn shorten(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(limit.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// Escapes for XML text and attributes. Characters that XML 1.0 forbids become U+FFFD.
pub(crate) fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(c),
            c if c < ' ' || c == '\u{fffe}' || c == '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
