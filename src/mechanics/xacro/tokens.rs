//! Tokens of an expression.

/// Largest number of tokens in an expression: the evaluation of a sum is recursive.
const MOST_TOKENS: usize = 1000;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Int(i64),
    Float(f64),
    Text(String),
    Name(String),
    Sign(&'static str),
}

const SIGNS: [&str; 32] = [
    "**", "//", "==", "!=", "<=", ">=", "<<", ">>", "<", ">", "+", "-", "*", "/", "%", "(", ")",
    "[", "]", "{", "}", ",", ":", ".", "&&", "||", "!", "=", "&", "|", "^", "~",
];

/// Splits an expression into tokens.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut out = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let taken = if first.is_ascii_digit()
            || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()))
        {
            let (token, length) = number(rest)?;
            out.push(token);
            length
        } else if first == '\'' || first == '"' {
            let (text, length) = quoted(rest, first)?;
            out.push(Token::Text(text));
            length
        } else if first.is_alphabetic() || first == '_' {
            let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
            let length = length.unwrap_or(rest.len());
            out.push(Token::Name(rest[..length].to_owned()));
            length
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            out.push(Token::Sign(sign));
            sign.len()
        } else {
            return Err(format!("`{first}` is not understood in `{text}`"));
        };
        rest = rest[taken..].trim_start();
        if out.len() > MOST_TOKENS {
            return Err(format!("an expression of more than {MOST_TOKENS} words and signs"));
        }
    }
    Ok(out)
}

/// A number as Python writes it: `1_000`, `1e-3`, `0x1f`, `0o17`, `0b101`.
fn number(text: &str) -> Result<(Token, usize), String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let mut end = text.find(|c| !is_word(c)).unwrap_or(text.len());
    let hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    let is_exponent = text[..end].ends_with(['e', 'E']) && !hexadecimal;
    if is_exponent && text[end..].starts_with(['+', '-']) {
        let after = &text[end + 1..];
        let digits = after.find(|c| !is_word(c)).unwrap_or(after.len());
        end += 1 + digits;
    }
    let word = &text[..end];
    let wrong = || format!("`{word}` is no number");
    let has_digits_around = |word: &str| {
        let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_hexdigit());
        word.match_indices('_').all(|(at, _)| {
            digit(word[..at].chars().next_back()) && digit(word[at + 1..].chars().next())
        })
    };
    for (prefix, base) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        let Some(digits) = word.get(..2).filter(|two| two.eq_ignore_ascii_case(prefix)) else {
            continue;
        };
        let digits = &word[digits.len()..];
        let digits = digits.strip_prefix('_').unwrap_or(digits);
        if digits.starts_with('+') || !has_digits_around(digits) {
            return Err(wrong());
        }
        let value = i64::from_str_radix(&digits.replace('_', ""), base).map_err(|_| wrong())?;
        return Ok((Token::Int(value), end));
    }
    if !has_digits_around(word) {
        return Err(wrong());
    }
    let digits = word.replace('_', "");
    if digits.bytes().all(|b| b.is_ascii_digit()) {
        if digits.len() > 1 && digits.starts_with('0') && digits.bytes().any(|b| b != b'0') {
            return Err(format!("`{word}` has a leading zero"));
        }
        if let Ok(value) = digits.parse() {
            return Ok((Token::Int(value), end));
        }
    }
    let value = digits.parse().map_err(|_| wrong())?;
    Ok((Token::Float(value), end))
}

fn quoted(text: &str, quote: char) -> Result<(String, usize), String> {
    let mut out = String::new();
    let mut characters = text.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        match c {
            _ if c == quote => return Ok((out, at + 1)),
            '\\' => match characters.next() {
                Some((_, 'n')) => out.push('\n'),
                Some((_, 't')) => out.push('\t'),
                Some((_, other)) => out.push(other),
                None => break,
            },
            _ => out.push(c),
        }
    }
    Err(format!("a text is not closed by {quote}"))
}

/// Text of a token, for messages.
pub(super) fn shown(token: &Token) -> String {
    match token {
        Token::Int(value) => format!("`{value}`"),
        Token::Float(value) => format!("`{value}`"),
        Token::Text(text) => format!("'{text}'"),
        Token::Name(name) => format!("`{name}`"),
        Token::Sign(sign) => format!("`{sign}`"),
    }
}
