//! Characters that look like those of the language, as word processors and other keyboards write
//! them.

use legwork_block::{Diagnostic, Severity, code};

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
        '\u{a0}'
        | '\u{1680}'
        | '\u{2000}'..='\u{200a}'
        | '\u{202f}'
        | '\u{205f}'
        | '\u{2800}'
        | '\u{3000}' => Meant::Blank,
        // Soft hyphen, joiners, marks of direction, fillers, selectors of variants, tags.
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}' => Meant::Nothing,
        _ => return None,
    })
}

/// How a message names a character: by its number if it is not seen.
pub(crate) fn shown(c: char) -> String {
    match meant(c) {
        Some(Meant::Blank | Meant::Nothing) => format!("the character U+{:04X}", c as u32),
        _ if c.is_control() => format!("the character U+{:04X}", c as u32),
        _ => format!("`{c}`"),
    }
}

/// The first character of a name that is invisible or only resembles a blank. With it, two
/// different names could look the same.
pub(crate) fn unseen(name: &str) -> Option<char> {
    name.chars().find(|c| {
        let is_unseen = matches!(meant(*c), Some(Meant::Blank | Meant::Nothing));
        is_unseen || c.is_control() || ['\u{2028}', '\u{2029}'].contains(c)
    })
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
        Meant::Text('\'') if found.code == code::SYNTAX => {
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
    fn characters_that_are_not_seen_are_found_in_names() {
        let unseen = "\u{200b}\u{200e}\u{202e}\u{2066}\u{ad}\u{a0}\u{3000}\u{2009}\u{feff}\u{180e}\
                      \u{3164}\u{e0041}\u{7f}\t";
        for c in unseen.chars() {
            assert_eq!(super::unseen(&format!("a{c}b")), Some(c), "U+{:04X}", c as u32);
        }
        for name in ["a b", "größe", "力", "x₁", "τ_max", "comes to rest", "é", "😀"] {
            assert_eq!(super::unseen(name), None, "{name}");
        }
    }

    #[test]
    fn wide_letters_stand_for_those_of_ascii() {
        for (c, plain) in ('\u{ff01}'..='\u{ff5e}').zip('!'..='~') {
            assert!(matches!(meant(c), Some(Meant::Text(typed)) if typed == plain), "{c}");
        }
    }
}
