//! Literals of RON: texts with escapes, raw texts, numbers.

use legwork_block::{Number, Place, Span, Text};

/// A wrong literal: message, first byte and end relative to the literal.
pub(super) type LiteralError = (String, usize, usize);

/// Length of the raw text `r"…"` or `r#"…"#` at the start of `source`, with the number of bytes of
/// its opening; `None` if none starts there.
pub(super) fn raw_opening(source: &str) -> Option<usize> {
    let rest = source.strip_prefix('r')?;
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    rest[hashes..].starts_with('"').then_some(hashes + 2)
}

/// The raw text whose opening has `opening` bytes, and its length.
pub(super) fn raw_text(
    source: &str,
    opening: usize,
    at: Span,
) -> Result<(Text, usize), LiteralError> {
    let closing = format!("\"{}", "#".repeat(opening - 2));
    let length = source[opening..].find(&closing).ok_or_else(|| {
        (format!("expected `{closing}` to end this text, found the end of the file"), 0, opening)
    })?;
    let end = opening + length + closing.len();
    let span = Span::new(at.file, at.start as usize, at.start as usize + end);
    let place = Place::new(span, at.start + opening as u32, Vec::new());
    Ok((Text { value: source[opening..opening + length].to_owned(), place }, end))
}

/// The text in `quote`s at the start of `source`, and its length.
pub(super) fn text(source: &str, quote: char, at: Span) -> Result<(Text, usize), LiteralError> {
    let mut value = String::new();
    let mut jumps = Vec::new();
    let mut rest = 1;
    loop {
        // Quotes and backslashes are ASCII: no other character has such a byte in it.
        let marked = |byte: &u8| *byte == quote as u8 || *byte == b'\\';
        let Some(plain) = source.as_bytes()[rest..].iter().position(marked) else {
            return Err((
                format!("expected `{quote}` to end this text, found the end of the file"),
                0,
                1,
            ));
        };
        let plain = &source[rest..rest + plain];
        match value.is_empty() {
            // Most texts have no escape, and are as long as they are.
            true => value = plain.to_owned(),
            false => value.push_str(plain),
        }
        rest += plain.len();
        if source[rest..].starts_with(quote) {
            break;
        }
        let (decoded, length) =
            escape(&source[rest..]).map_err(|message| (message, rest, rest + 2))?;
        rest += length;
        value.push(decoded);
        // From here on the file is ahead of the text by its opening quote less than this.
        jumps.push((value.len() as u32, (rest - 1 - value.len()) as u32));
    }
    let span = Span::new(at.file, at.start as usize, at.start as usize + rest + 1);
    Ok((Text { value, place: Place::new(span, at.start + 1, jumps) }, rest + 1))
}

/// The character that the escape at the start of `source` spells, and the escape's length.
fn escape(source: &str) -> Result<(char, usize), String> {
    let kind = source[1..].chars().next().unwrap_or(' ');
    let simple = match kind {
        '\'' | '"' | '\\' => kind,
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        '0' => '\0',
        'x' => return byte_escape(source),
        'u' => {
            let digits = source[2..].strip_prefix('{').and_then(|rest| rest.split_once('}'));
            let found = digits.and_then(|(digits, _)| {
                let is_code = digits.len() <= 6 && is_hexadecimal(digits);
                let code = is_code.then(|| u32::from_str_radix(digits, 16).ok())??;
                Some((char::from_u32(code)?, digits.len() + 4))
            });
            return found.ok_or_else(|| "expected an escape such as \\u{00e9}".to_owned());
        }
        _ => return Err(format!("unknown escape `\\{kind}` (write a backslash as `\\\\`)")),
    };
    Ok((simple, 2))
}

/// `\xNN`, up to four of which spell one character in UTF-8.
fn byte_escape(source: &str) -> Result<(char, usize), String> {
    let mut bytes = Vec::new();
    while bytes.len() < 4 {
        let at = bytes.len() * 4;
        let digits = source.get(at..at + 4).and_then(|part| part.strip_prefix("\\x"));
        let digits = digits.filter(|digits| is_hexadecimal(digits));
        let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) else {
            break;
        };
        bytes.push(byte);
        if let Some(c) = std::str::from_utf8(&bytes).ok().and_then(|text| text.chars().next()) {
            return Ok((c, at + 4));
        }
    }
    Err("expected bytes of one UTF-8 character, such as \\x41".to_owned())
}

fn is_hexadecimal(digits: &str) -> bool {
    digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The bounds of the integers that a suffix names.
const INTEGERS: [(&str, i128, i128); 8] = [
    ("i8", i8::MIN as i128, i8::MAX as i128),
    ("i16", i16::MIN as i128, i16::MAX as i128),
    ("i32", i32::MIN as i128, i32::MAX as i128),
    ("i64", i64::MIN as i128, i64::MAX as i128),
    ("u8", 0, u8::MAX as i128),
    ("u16", 0, u16::MAX as i128),
    ("u32", 0, u32::MAX as i128),
    ("u64", 0, u64::MAX as i128),
];

/// The number that `source` is, or `None`.
pub(super) fn number(source: &str) -> Option<Number> {
    // Most numbers have neither sign, underscore nor suffix.
    if source.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return Some(Number { value: source.parse().ok()?, text: source.to_owned(), unit: None });
    }
    let (sign, digits) = match source.as_bytes().first() {
        Some(b'-') => (-1.0, &source[1..]),
        Some(b'+') => (1.0, &source[1..]),
        _ => (1.0, source),
    };
    let finite = |value: f64, text: &str| {
        let text = text.replace('_', "");
        Some(Number { value: sign * value, text, unit: None })
    };
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        let Number { value, text, .. } = not_finite(digits)?;
        let text = format!("{}{text}", &source[..source.len() - digits.len()]);
        return Some(Number { value: sign * value, text, unit: None });
    }
    // An underscore stands behind a digit, or another.
    if digits.contains("._") {
        return None;
    }
    let suffix = INTEGERS.iter().find(|(suffix, ..)| digits.ends_with(suffix));
    let written = suffix.map_or(source, |(suffix, ..)| &source[..source.len() - suffix.len()]);
    let bare = &written[source.len() - digits.len()..];
    let radix = match bare.get(..2) {
        Some("0x") => Some(16),
        Some("0b") => Some(2),
        Some("0o") => Some(8),
        _ => suffix.map(|_| 10),
    };
    let Some(radix) = radix else {
        let float = ["f32", "f64"].iter().find_map(|suffix| bare.strip_suffix(suffix));
        let float = float.unwrap_or(bare);
        let text = &source[..source.len() - (digits.len() - float.len())];
        return match float.contains('_') {
            true => finite(float.replace('_', "").parse().ok()?, text),
            false => finite(float.parse().ok()?, text),
        };
    };
    let places = if radix == 10 { bare } else { &bare[2..] };
    if places.starts_with('_') || !places.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return None;
    }
    let magnitude = i128::from_str_radix(&places.replace('_', ""), radix).ok()?;
    let (_, least, most) = suffix.unwrap_or(&("", i64::MIN as i128, u64::MAX as i128));
    let value = if sign < 0.0 { -magnitude } else { magnitude };
    (*least..=*most).contains(&value).then(|| finite(magnitude as f64, written))?
}

/// The number that a word is: `inf` or `NaN`, with a suffix or not.
pub(super) fn not_finite(word: &str) -> Option<Number> {
    let (text, value) = match word {
        "inf" | "inff32" | "inff64" => ("inf", f64::INFINITY),
        "NaN" | "NaNf32" | "NaNf64" => ("NaN", f64::NAN),
        _ => return None,
    };
    Some(Number { value, text: text.to_owned(), unit: None })
}
