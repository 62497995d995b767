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
        let Some(c) = source[rest..].chars().next() else {
            return Err((
                format!("expected `{quote}` to end this text, found the end of the file"),
                0,
                1,
            ));
        };
        if c == quote {
            break;
        }
        if c != '\\' {
            value.push(c);
            rest += c.len_utf8();
            continue;
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
                let code = u32::from_str_radix(digits, 16).ok()?;
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

/// The number that `source` is, or `None`.
pub(super) fn number(source: &str) -> Option<Number> {
    let plain = source.replace('_', "");
    let (sign, digits) = match plain.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, plain.strip_prefix('+').unwrap_or(&plain)),
    };
    let radix = [("0x", 16), ("0b", 2), ("0o", 8)]
        .into_iter()
        .find_map(|(prefix, radix)| Some((digits.strip_prefix(prefix)?, radix)));
    if let Some((digits, radix)) = radix {
        let value = sign * u128::from_str_radix(digits, radix).ok()? as f64;
        return Some(Number { value, text: plain, unit: None });
    }
    const SUFFIXES: [&str; 14] = [
        "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64",
        "u128", "usize",
    ];
    let bare = SUFFIXES.iter().find_map(|suffix| digits.strip_suffix(suffix)).unwrap_or(digits);
    let value = match bare {
        "inf" => f64::INFINITY,
        "NaN" => f64::NAN,
        _ if bare.starts_with(|c: char| c.is_ascii_digit() || c == '.') => bare.parse().ok()?,
        _ => return None,
    };
    let text = plain[..plain.len() - (digits.len() - bare.len())].to_owned();
    Some(Number { value: sign * value, text, unit: None })
}
