//! Characters that look like those of the language, as word processors and other keyboards write
//! them.

use legwork_block::{Diagnostic, Severity};

use crate::render::SourceMap;

/// Longest text in which a wrong character is looked for: a mistake in more is about its parts.
const LONGEST: usize = 200;

/// What stands in place of a character.
enum Meant {
    /// This text.
    Text(char),
    Blank,
    Nothing,
}

fn meant(c: char) -> Option<Meant> {
    Some(match c {
        '\u{201c}'..='\u{201f}' | '\u{ab}' | '\u{bb}' | '\u{2033}' | '\u{300c}'..='\u{300f}' => {
            Meant::Text('"')
        }
        '\u{2018}'..='\u{201b}' | '\u{b4}' | '\u{2032}' => Meant::Text('\''),
        '\u{2010}'..='\u{2015}' | '\u{2212}' => Meant::Text('-'),
        // The middle dot `·` is an operator of units.
        '\u{d7}' | '\u{22c5}' | '\u{2217}' => Meant::Text('*'),
        '\u{f7}' | '\u{2215}' | '\u{2044}' => Meant::Text('/'),
        '\u{3001}' => Meant::Text(','),
        // The whole of ASCII stands here again, as wide as the letters of East Asia.
        '\u{ff01}'..='\u{ff5e}' => Meant::Text(char::from_u32(c as u32 - 0xfee0)?),
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => Meant::Blank,
        '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' => Meant::Nothing,
        _ => return None,
    })
}

/// How a message names a character: by its number if it is not seen.
pub(crate) fn shown(c: char) -> String {
    match meant(c) {
        Some(Meant::Blank | Meant::Nothing) => format!("the character U+{:04X}", c as u32),
        _ => format!("`{c}`"),
    }
}

/// Adds to an error what to type, if there is a character in its place that only looks like one of
/// the language.
pub(crate) fn explain(found: &mut Diagnostic, sources: &SourceMap) {
    let span = found.primary.span;
    let text = sources.text(span.file).get(span.start as usize..span.end as usize);
    let Some(text) = text.filter(|text| text.len() <= LONGEST) else { return };
    let known = |c: char| meant(c).map(|meant| (c, meant));
    // What is not seen may also be beside the place.
    let quoted = || {
        let mut quoted = found.message.chars().filter_map(known);
        quoted.find(|(_, meant)| !matches!(meant, Meant::Text(_)))
    };
    let first = text.chars().find_map(known).or_else(quoted);
    let (Some((c, meant)), Severity::Error) = (first, found.severity) else { return };
    let code = c as u32;
    let hint = match meant {
        Meant::Text('\'') if found.code == "syntax" => {
            format!("`{c}` (U+{code:04X}) is no quotation mark here: type `\"`")
        }
        Meant::Text(typed) => {
            format!("`{c}` (U+{code:04X}) only looks like `{typed}`: type `{typed}`")
        }
        Meant::Blank => format!("U+{code:04X} only looks like a blank: type a blank in its place"),
        Meant::Nothing => format!("U+{code:04X} is not seen: delete it"),
    };
    if !found.hints.contains(&hint) {
        found.hints.push(hint);
    }
}

#[cfg(test)]
mod tests {
    use super::{Meant, meant};

    #[test]
    fn no_character_of_the_language_looks_like_another() {
        for c in (0_u8..0x80).map(char::from) {
            assert!(meant(c).is_none(), "{c:?}");
        }
    }

    #[test]
    fn wide_letters_stand_for_those_of_ascii() {
        for (c, plain) in ('\u{ff01}'..='\u{ff5e}').zip('!'..='~') {
            assert!(matches!(meant(c), Some(Meant::Text(typed)) if typed == plain), "{c}");
        }
    }
}
