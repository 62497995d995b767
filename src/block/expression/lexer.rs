//! Words of an expression.

use std::ops::Range;

/// A word.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Number(f64),
    Name(String),
    Text(String),
    /// An operator or bracket.
    Symbol(&'static str),
    End,
}

/// Symbols, longer ones first.
const SYMBOLS: [&str; 26] = [
    "..", "&&", "||", "==", "!=", "<=", ">=", "+", "-", "*", "/", "^", "(", ")", "[", "]", "{",
    "}", ",", ".", "<", ">", "!", "=", "?", ":",
];

/// Why a text does not split into words, and where.
pub(super) type LexError = (String, Range<usize>);

/// The word at or after byte `from` of `text` with its range.
pub(super) fn next(text: &str, from: usize) -> Result<(Token, Range<usize>), LexError> {
    let rest = text[from..].trim_start();
    let start = text.len() - rest.len();
    let Some(first) = rest.chars().next() else { return Ok((Token::End, start..start)) };

    if first.is_ascii_digit() || (first == '.' && second_is_digit(rest)) {
        let length = number_length(rest);
        let range = start..start + length;
        return match rest[..length].parse::<f64>() {
            Ok(value) if value.is_finite() => Ok((Token::Number(value), range)),
            _ => Err((format!("the number {} is out of range", &rest[..length]), range)),
        };
    }
    if first.is_alphabetic() || first == '_' {
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        return Ok((Token::Name(rest[..length].to_owned()), start..start + length));
    }
    if first == '\'' {
        return match rest[1..].find('\'') {
            Some(length) => {
                Ok((Token::Text(rest[1..=length].to_owned()), start..start + length + 2))
            }
            None => Err(("expected `'` to end this text".to_owned(), start..text.len())),
        };
    }
    match SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol)) {
        Some(symbol) => Ok((Token::Symbol(symbol), start..start + symbol.len())),
        None => Err((format!("unexpected character `{first}`"), start..start + first.len_utf8())),
    }
}

fn second_is_digit(text: &str) -> bool {
    text.as_bytes().get(1).is_some_and(u8::is_ascii_digit)
}

/// Length of the number at the start of `text`; a dot belongs to it only before a digit, so that
/// `2..5` is a range, and `e` only before an exponent.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        bytes.get(from..).map_or(0, |b| b.iter().take_while(|b| b.is_ascii_digit()).count())
    };
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let count = digits(end + 1 + sign);
        end += if count > 0 { 1 + sign + count } else { 0 };
    }
    end
}
