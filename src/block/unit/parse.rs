//! Reads units (`N*m/rad`, `cm`, `N/m^(3/2)`) and quantities (`60 N*m/rad`, `-0.5 m/s`).

use std::f64::consts::PI;
use std::ops::Range;

use super::Unit;

/// Factor of a unit: `factor × 10^tens`.
///
/// Powers of ten are kept apart, so that `5 cm` reads as the nearest double to 0.05.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// The part that is not a power of ten, such as 60 of `min` or π/180 of `deg`.
    pub factor: f64,
    /// The power of ten.
    pub tens: i32,
}

impl Scale {
    /// The scale of SI base units.
    pub const ONE: Self = Self { factor: 1.0, tens: 0 };

    /// The scale as one number.
    pub fn value(self) -> f64 {
        self.apply("1").unwrap_or(f64::NAN)
    }

    /// The decimal number `text` times this scale, rounded once if the scale is a power of ten.
    pub(crate) fn apply(self, text: &str) -> Option<f64> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let tens = exponent.checked_add(self.tens)?;
        let value: f64 = format!("{mantissa}e{tens}").parse().ok()?;
        Some(value * self.factor)
    }
}

/// A text that is not a unit or a quantity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}", hint.as_ref().map_or_else(String::new, |hint| format!("; {hint}")))]
pub struct UnitError {
    /// What was expected and what was found.
    pub message: String,
    /// The bytes of the text in question.
    pub range: Range<usize>,
    /// Advice, if there is any.
    pub hint: Option<String>,
}

impl UnitError {
    fn new(range: Range<usize>, message: impl Into<String>) -> Self {
        Self { message: message.into(), range, hint: None }
    }
}

/// Reads a unit expression: names with SI prefixes, `*` or `·` or a space, `/`, `^`, parentheses.
/// Exponents are integers, decimals or fractions: `m^2`, `m^1.5`, `m^(3/2)`.
///
/// # Errors
/// If a name is unknown, the syntax is wrong, or an exponent is not a multiple of 1/12.
pub fn parse_unit(text: &str) -> Result<(Unit, Scale), UnitError> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    let result = parser.product()?;
    parser.skip_space();
    match parser.peek() {
        None => Ok(result),
        Some(c) => Err(UnitError::new(
            parser.at..parser.at + c.len_utf8(),
            format!("expected `*`, `/` or the end of the unit, found `{c}`"),
        )),
    }
}

/// Reads a number with an optional unit, `60 N*m/rad`, and returns the value in SI base units. No
/// unit (`None`) is not the unit one: a bare number takes the unit that its place expects.
///
/// # Errors
/// If there is no number in front, or the rest is not a unit.
pub fn parse_quantity(text: &str) -> Result<(f64, Option<Unit>), UnitError> {
    let lead = text.len() - text.trim_start().len();
    let length = number_length(&text[lead..]);
    if length == 0 {
        let mut error = UnitError::new(
            0..text.len(),
            format!("expected a number with a unit, found \"{text}\""),
        );
        error.hint = Some(
            "write a quantity such as \"5 cm\", or an expression that starts with `=`".to_owned(),
        );
        return Err(error);
    }
    let number = &text[lead..lead + length];
    let rest = &text[lead + length..];
    if rest.trim().is_empty() {
        return Scale::ONE
            .apply_signed(number)
            .map(|value| (value, None))
            .ok_or_else(|| UnitError::new(lead..lead + length, "the number is out of range"));
    }
    let (unit, scale) = parse_unit(rest).map_err(|mut error| {
        let shift = lead + length;
        error.range = error.range.start + shift..error.range.end + shift;
        error
    })?;
    match scale.apply_signed(number) {
        Some(value) => Ok((value, Some(unit))),
        None => Err(UnitError::new(lead..lead + length, "the number is out of range")),
    }
}

/// The unit that a quantity is written in, with its prefix: `cm` of `"5 cm"`. `None` without a
/// unit, or if the text is not a quantity.
pub fn unit_as_written(quantity: &str) -> Option<(Unit, Scale)> {
    let text = quantity.trim_start();
    let rest = &text[number_length(text)..];
    (rest.len() < text.len() && !rest.trim().is_empty()).then(|| parse_unit(rest).ok())?
}

impl Scale {
    /// [`Scale::apply`] that also accepts `inf`; overflow is `None`.
    fn apply_signed(self, text: &str) -> Option<f64> {
        match text.trim_start_matches('+') {
            "inf" => Some(f64::INFINITY),
            "-inf" => Some(f64::NEG_INFINITY),
            finite => self.apply(finite).filter(|value| value.is_finite()),
        }
    }
}

/// The number of bytes of the decimal number (or `inf`) at the start of `text`.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let sign = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    if text[sign..].starts_with("inf") {
        let next = text[sign + 3..].chars().next();
        return if next.is_some_and(char::is_alphanumeric) { 0 } else { sign + 3 };
    }
    let whole = digits(sign);
    let mut end = sign + whole;
    let mut fraction = 0;
    if bytes.get(end) == Some(&b'.') {
        fraction = digits(end + 1);
        end += 1 + fraction;
    }
    if whole + fraction == 0 {
        return 0;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let exponent_sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let start = end + 1 + exponent_sign;
        if start <= bytes.len() && digits(start) > 0 {
            end = start + digits(start);
        }
    }
    end
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.text[self.at..].trim_start().len();
    }

    fn eat(&mut self, c: char) -> bool {
        self.skip_space();
        let found = self.peek() == Some(c);
        self.at += if found { c.len_utf8() } else { 0 };
        found
    }

    /// `factor (("*" | "·" | "/" | " ") factor)*`
    fn product(&mut self) -> Result<(Unit, Scale), UnitError> {
        let (mut unit, mut scale) = self.factor()?;
        loop {
            let start = self.at;
            let divided = self.eat('/');
            let multiplied = !divided && (self.eat('*') || self.eat('·'));
            let spaced = self.at > start && self.peek().is_some_and(char::is_alphabetic);
            if !(divided || multiplied || spaced) {
                return Ok((unit, scale));
            }
            let sign = if divided { -1 } else { 1 };
            let (other, other_scale) = self.factor()?;
            let combined = if sign > 0 { unit.times(other) } else { unit.over(other) };
            unit = combined.ok_or_else(|| too_large(start..self.at))?;
            scale = scale
                .times_power(other_scale, f64::from(sign))
                .ok_or_else(|| too_large(start..self.at))?;
        }
    }

    /// `(name | "1" | "(" product ")") ("^" exponent)?`
    fn factor(&mut self) -> Result<(Unit, Scale), UnitError> {
        self.skip_space();
        let start = self.at;
        let (unit, scale) = if self.eat('(') {
            self.depth += 1;
            if self.depth > 16 {
                return Err(UnitError::new(start..self.at, "the unit is nested too deeply"));
            }
            let inner = self.product()?;
            if !self.eat(')') {
                return Err(UnitError::new(start..self.at, "expected `)` to close this `(`"));
            }
            self.depth -= 1;
            inner
        } else if self.eat('1') {
            (Unit::ONE, Scale::ONE)
        } else {
            self.name()?
        };
        let Some(exponent) = self.exponent()? else { return Ok((unit, scale)) };
        let range = start..self.at;
        let unit = unit.real_power(exponent).ok_or_else(|| {
            UnitError::new(range.clone(), "expected an exponent that is a multiple of 1/12")
        })?;
        let scale = Scale::ONE.times_power(scale, exponent).ok_or_else(|| too_large(range))?;
        Ok((unit, scale))
    }

    fn exponent(&mut self) -> Result<Option<f64>, UnitError> {
        for (sign, value) in [('²', 2.0), ('³', 3.0)] {
            if self.peek() == Some(sign) {
                self.at += sign.len_utf8();
                return Ok(Some(value));
            }
        }
        let before = self.at;
        if !self.eat('^') {
            self.at = before;
            return Ok(None);
        }
        if !self.eat('(') {
            return self.number().map(Some);
        }
        let above = self.number()?;
        let below = if self.eat('/') { self.number()? } else { 1.0 };
        let at = self.at;
        if !self.eat(')') {
            return Err(UnitError::new(at..at, "expected `)` after the exponent"));
        }
        Ok(Some(above / below))
    }

    fn number(&mut self) -> Result<f64, UnitError> {
        self.skip_space();
        let rest = &self.text[self.at..];
        let length = number_length(rest);
        match rest[..length].parse::<f64>() {
            Ok(value) if value.is_finite() => {
                self.at += length;
                Ok(value)
            }
            _ => Err(UnitError::new(self.at..self.text.len(), "expected a number as exponent")),
        }
    }

    fn name(&mut self) -> Result<(Unit, Scale), UnitError> {
        let rest = &self.text[self.at..];
        let length: usize = rest
            .chars()
            .take_while(|c| (c.is_alphabetic() || "%°µΩ".contains(*c)) && *c != '·')
            .map(char::len_utf8)
            .sum();
        let (name, range) = (&rest[..length], self.at..self.at + length);
        if name.is_empty() {
            let found = match rest.chars().next() {
                Some(c) => format!("`{c}`"),
                None => "the end".to_owned(),
            };
            let end = self.at + rest.chars().next().map_or(0, char::len_utf8);
            return Err(UnitError::new(
                self.at..end,
                format!("expected the name of a unit, found {found}"),
            ));
        }
        self.at += length;
        named(name).ok_or_else(|| {
            let mut error = UnitError::new(range, format!("unknown unit `{name}`"));
            let near = || crate::nearest(name, NAMES.iter().map(|row| row.0)).map(str::to_owned);
            let meant = in_words(name).or_else(|| product_of(name)).or_else(near);
            error.hint = meant.map(|meant| format!("did you mean `{meant}`?"));
            error
        })
    }
}

/// Units written one behind the other, `Nm` or `mAs`, as a product: `N*m`, `mA*s`. The first alone
/// may have a prefix, so that `Nms` is not `N*ms`.
fn product_of(name: &str) -> Option<String> {
    const MOST: usize = 4;
    fn split(name: &str, is_first: bool, most: usize) -> Option<String> {
        let is_unit = |name: &str| match is_first {
            true => named(name).is_some(),
            false => NAMES.iter().any(|row| row.0 == name),
        };
        if is_unit(name) {
            return Some(name.to_owned());
        }
        if most == 1 {
            return None;
        }
        // The longest first factor of which the rest is a product, too.
        let mut ends: Vec<usize> = name.char_indices().skip(1).map(|(at, _)| at).collect();
        ends.reverse();
        ends.into_iter().find_map(|at| {
            let (first, rest) = name.split_at(at);
            let rest = is_unit(first).then(|| split(rest, false, most - 1))??;
            Some(format!("{first}*{rest}"))
        })
    }
    split(name, true, MOST)
}

/// The unit whose word begins so: `sec` is `s`, `newton` is `N`.
fn in_words(name: &str) -> Option<String> {
    let name = name.to_lowercase();
    let name = name.strip_suffix('s').unwrap_or(&name);
    let is_meant = |word: &str| name.len() >= 3 && word.starts_with(name);
    NAMES.iter().find(|row| is_meant(row.5)).map(|row| row.0.to_owned())
}

impl Scale {
    /// `self × other^exponent`; `None` if that leaves the range of doubles.
    fn times_power(self, other: Self, exponent: f64) -> Option<Self> {
        let tens = f64::from(other.tens) * exponent;
        let whole = libm::round(tens);
        let factor = if other.factor == 1.0 {
            self.factor
        } else if exponent == 1.0 {
            self.factor * other.factor
        } else if exponent == -1.0 {
            self.factor / other.factor
        } else {
            self.factor * libm::pow(other.factor, exponent)
        };
        let factor = if whole == tens { factor } else { factor * libm::pow(10.0, tens - whole) };
        let tens = self.tens.checked_add(whole as i32)?;
        (tens.abs() <= 300 && factor.is_finite() && factor > 0.0).then_some(Self { factor, tens })
    }
}

fn too_large(range: Range<usize>) -> UnitError {
    UnitError::new(range, "the unit's exponent or scale is out of range")
}

/// A unit that has a name, for the manual.
#[derive(Debug, Clone, Copy)]
pub struct NamedUnit {
    /// Its name in texts.
    pub name: &'static str,
    /// Its name in words.
    pub word: &'static str,
    /// What it measures.
    pub unit: Unit,
    /// Its size in SI base units.
    pub scale: Scale,
    /// Whether it takes the prefixes of [`unit_prefixes`].
    pub takes_prefixes: bool,
}

/// All units that have names.
pub fn named_units() -> impl Iterator<Item = NamedUnit> {
    NAMES.iter().map(|&(name, exponents, factor, tens, takes_prefixes, word)| NamedUnit {
        name,
        word,
        unit: unit_of(exponents),
        scale: Scale { factor, tens },
        takes_prefixes,
    })
}

/// The SI prefixes that are known, with their powers of ten.
pub fn unit_prefixes() -> impl Iterator<Item = (&'static str, i32)> {
    PREFIXES.into_iter()
}

/// name, (kg, m, A, K, rad, s), factor, power of ten, whether it takes SI prefixes, word.
type Row = (&'static str, [i8; 6], f64, i32, bool, &'static str);

#[rustfmt::skip]
const NAMES: [Row; 31] = [
    ("m", [0, 1, 0, 0, 0, 0], 1.0, 0, true, "metre"),
    ("g", [1, 0, 0, 0, 0, 0], 1.0, -3, true, "gram"),
    ("kg", [1, 0, 0, 0, 0, 0], 1.0, 0, false, "kilogram"),
    ("t", [1, 0, 0, 0, 0, 0], 1.0, 3, false, "tonne"),
    ("s", [0, 0, 0, 0, 0, 1], 1.0, 0, true, "second"),
    ("A", [0, 0, 1, 0, 0, 0], 1.0, 0, true, "ampere"),
    ("K", [0, 0, 0, 1, 0, 0], 1.0, 0, true, "kelvin"),
    ("rad", [0, 0, 0, 0, 1, 0], 1.0, 0, true, "radian"),
    ("deg", [0, 0, 0, 0, 1, 0], PI / 180.0, 0, false, "degree of angle"),
    ("°", [0, 0, 0, 0, 1, 0], PI / 180.0, 0, false, "degree of angle"),
    ("rev", [0, 0, 0, 0, 1, 0], 2.0 * PI, 0, false, "turn"),
    ("rpm", [0, 0, 0, 0, 1, -1], 2.0 * PI / 60.0, 0, false, "turns per minute"),
    ("min", [0, 0, 0, 0, 0, 1], 6.0, 1, false, "minute"),
    ("h", [0, 0, 0, 0, 0, 1], 36.0, 2, false, "hour"),
    ("Hz", [0, 0, 0, 0, 0, -1], 1.0, 0, true, "hertz, times per second"),
    ("N", [1, 1, 0, 0, 0, -2], 1.0, 0, true, "newton"),
    ("J", [1, 2, 0, 0, 0, -2], 1.0, 0, true, "joule"),
    ("W", [1, 2, 0, 0, 0, -3], 1.0, 0, true, "watt"),
    ("Pa", [1, -1, 0, 0, 0, -2], 1.0, 0, true, "pascal"),
    ("bar", [1, -1, 0, 0, 0, -2], 1.0, 5, true, "bar"),
    ("V", [1, 2, -1, 0, 0, -3], 1.0, 0, true, "volt"),
    ("ohm", [1, 2, -2, 0, 0, -3], 1.0, 0, true, "ohm"),
    ("Ω", [1, 2, -2, 0, 0, -3], 1.0, 0, true, "ohm"),
    ("C", [0, 0, 1, 0, 0, 1], 1.0, 0, true, "coulomb"),
    ("F", [-1, -2, 2, 0, 0, 4], 1.0, 0, true, "farad"),
    ("H", [1, 2, -2, 0, 0, -2], 1.0, 0, true, "henry"),
    ("T", [1, 0, -1, 0, 0, -2], 1.0, 0, true, "tesla"),
    ("Wb", [1, 2, -1, 0, 0, -2], 1.0, 0, true, "weber"),
    ("l", [0, 3, 0, 0, 0, 0], 1.0, -3, true, "litre"),
    ("L", [0, 3, 0, 0, 0, 0], 1.0, -3, true, "litre"),
    ("%", [0, 0, 0, 0, 0, 0], 1.0, -2, false, "hundredth"),
];

const PREFIXES: [(&str, i32); 12] = [
    ("p", -12),
    ("n", -9),
    ("u", -6),
    ("µ", -6),
    ("μ", -6),
    ("m", -3),
    ("c", -2),
    ("d", -1),
    ("h", 2),
    ("k", 3),
    ("M", 6),
    ("G", 9),
];

/// The unit of a name, whole or behind a prefix; the whole name wins (`min` is a minute).
fn named(name: &str) -> Option<(Unit, Scale)> {
    let row = |name: &str| NAMES.iter().find(|row| row.0 == name);
    let (&(_, exponents, factor, tens, ..), more) = match row(name) {
        Some(row) => (row, 0),
        None => PREFIXES.iter().find_map(|(prefix, tens)| {
            let row = row(name.strip_prefix(prefix)?)?;
            row.4.then_some((row, *tens))
        })?,
    };
    let unit = Unit { is_hertz: name.ends_with("Hz"), ..unit_of(exponents) };
    Some((unit, Scale { factor, tens: tens + more }))
}

fn unit_of(exponents: [i8; 6]) -> Unit {
    Unit { twelfths: exponents.map(|e| i16::from(e) * super::DENOMINATOR), ..Unit::ONE }
}
