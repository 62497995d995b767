//! Places in texts as editors count them.

/// Line and column from 0; a column counts UTF-16 code units, as most editors do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 0.
    pub line: u32,
    /// UTF-16 code units before it in its line.
    pub character: u32,
}

/// The position of byte `offset`, or of the beginning of its character.
pub fn position_at(text: &str, offset: usize) -> Position {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.bytes().filter(|byte| *byte == b'\n').count();
    let character: usize = before[start..].chars().map(char::len_utf16).sum();
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Position { line: number(line), character: number(character) }
}

/// The byte of a position; beyond the end of its line or of the text, that end.
pub fn offset_at(text: &str, position: Position) -> usize {
    let mut start = 0;
    for _ in 0..position.line {
        match text[start..].find('\n') {
            Some(newline) => start += newline + 1,
            None => return text.len(),
        }
    }
    let line = text[start..].split('\n').next().unwrap_or_default();
    let line = line.strip_suffix('\r').unwrap_or(line);
    let mut units = 0;
    for (at, c) in line.char_indices() {
        if units >= position.character {
            return start + at;
        }
        units += c.len_utf16() as u32;
    }
    start + line.len()
}
