//! What expressions of xacro are about: the values of Python that robot files use.

use std::fmt::Write as _;
use std::rc::Rc;

use super::parse::Lambda;

/// Most characters of a text and most items of a list that an expression may make.
pub(super) const LONGEST: usize = 1 << 16;

/// Names bound in an expression, with their values.
pub(super) type Names = Rc<[(String, Value)]>;

/// A value. Texts, lists and tables are shared, so that copies cost nothing.
#[derive(Clone, Debug)]
pub(super) enum Value {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Rc<str>),
    List(Rc<[Value]>),
    Tuple(Rc<[Value]>),
    /// Different values in the order in which they came.
    Set(Rc<[Value]>),
    /// Keys with values, in the order written.
    Table(Rc<[(Value, Value)]>),
    /// The names of an included file, an index of a scope.
    Names(usize),
    /// A function: `math` functions and built-in ones.
    Function(&'static str),
    /// A function defined by an expression, with the names around it.
    Lambda(Rc<(Rc<Lambda>, Names)>),
    /// A method of a value.
    Method(Rc<Value>, &'static str),
}

impl Value {
    pub(super) fn text(text: impl AsRef<str>) -> Self {
        Self::Text(Rc::from(text.as_ref()))
    }

    /// What the text of an attribute stands for: a number, a truth value, a quoted text, or itself.
    pub(super) fn literal(text: &str) -> Self {
        if text.len() >= 2 && text.starts_with('\'') && text.ends_with('\'') {
            return Self::text(&text[1..text.len() - 1]);
        }
        let number = text.trim();
        // Python would take underscores in numbers; names have them.
        if number.contains('_') {
            return Self::text(text);
        }
        if let Ok(value) = number.parse::<i64>() {
            return Self::Int(value);
        }
        if let Ok(value) = number.parse::<f64>() {
            return Self::Float(value);
        }
        match text {
            "true" | "True" => Self::Bool(true),
            "false" | "False" => Self::Bool(false),
            _ => Self::text(text),
        }
    }

    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Bool(value) => Some(f64::from(u8::from(*value))),
            #[expect(clippy::cast_precision_loss, reason = "as Python does it")]
            Self::Int(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn int(&self) -> Option<i64> {
        match self {
            Self::Bool(value) => Some(i64::from(*value)),
            Self::Int(value) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn is_true(&self) -> bool {
        match self {
            Self::None => false,
            Self::Text(text) => !text.is_empty(),
            Self::List(items) | Self::Tuple(items) | Self::Set(items) => !items.is_empty(),
            Self::Table(items) => !items.is_empty(),
            Self::Names(_) | Self::Function(_) | Self::Lambda(_) | Self::Method(..) => true,
            Self::Bool(_) | Self::Int(_) | Self::Float(_) => self.number() != Some(0.0),
        }
    }

    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Bool(_) => "a truth value",
            Self::Int(_) | Self::Float(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Tuple(_) => "a tuple",
            Self::Set(_) => "a set",
            Self::Table(_) => "a dictionary",
            Self::Names(_) => "a namespace",
            Self::Function(_) | Self::Lambda(_) | Self::Method(..) => "a function",
        }
    }

    /// As Python's `str`; `None` if it is too long.
    pub(super) fn to_text(&self) -> Option<String> {
        if let Self::Text(text) = self {
            return Some(text.to_string());
        }
        let mut out = String::new();
        self.write(&mut out).then_some(out)
    }

    /// Whether it fits.
    fn write(&self, out: &mut String) -> bool {
        let fits = match self {
            Self::None => write!(out, "None"),
            Self::Bool(true) => write!(out, "True"),
            Self::Bool(false) => write!(out, "False"),
            Self::Int(value) => write!(out, "{value}"),
            Self::Float(value) => write_float(*value, out),
            Self::Text(text) => write_quoted(text, out),
            Self::Names(_) => write!(out, "namespace"),
            Self::Function(name) | Self::Method(_, name) => write!(out, "{name}"),
            Self::Lambda(_) => write!(out, "lambda"),
            Self::Set(items) if items.is_empty() => write!(out, "set()"),
            Self::List(items) | Self::Tuple(items) | Self::Set(items) => {
                let (open, close) = match self {
                    Self::List(_) => ("[", "]"),
                    Self::Tuple(_) => ("(", if items.len() == 1 { ",)" } else { ")" }),
                    _ => ("{", "}"),
                };
                out.push_str(open);
                for (i, item) in items.iter().enumerate() {
                    out.push_str(if i > 0 { ", " } else { "" });
                    if !item.write(out) {
                        return false;
                    }
                }
                out.push_str(close);
                Ok(())
            }
            Self::Table(items) => {
                out.push('{');
                for (i, (key, value)) in items.iter().enumerate() {
                    out.push_str(if i > 0 { ", " } else { "" });
                    if !key.write(out) {
                        return false;
                    }
                    out.push_str(": ");
                    if !value.write(out) {
                        return false;
                    }
                }
                out.push('}');
                Ok(())
            }
        };
        fits.is_ok() && out.len() <= LONGEST
    }

    /// `==`; `None` if what is compared is too large. `fuel` counts comparisons.
    pub(super) fn equals(&self, other: &Self, fuel: &mut usize) -> Option<bool> {
        *fuel = fuel.checked_sub(1)?;
        if let (Some(a), Some(b)) = (self.number(), other.number()) {
            return Some(a == b);
        }
        Some(match (self, other) {
            (Self::None, Self::None) => true,
            (Self::Text(a), Self::Text(b)) => a == b,
            (Self::Function(a), Self::Function(b)) => a == b,
            (Self::Set(a), Self::Set(b)) => {
                if a.len() != b.len() {
                    return Some(false);
                }
                for item in a.iter() {
                    if !item.is_among(b, fuel)? {
                        return Some(false);
                    }
                }
                true
            }
            (Self::List(a), Self::List(b)) | (Self::Tuple(a), Self::Tuple(b)) => {
                if a.len() != b.len() {
                    return Some(false);
                }
                for (a, b) in a.iter().zip(b.iter()) {
                    if !a.equals(b, fuel)? {
                        return Some(false);
                    }
                }
                true
            }
            (Self::Table(a), Self::Table(b)) => {
                if a.len() != b.len() {
                    return Some(false);
                }
                for ((k, v), (l, w)) in a.iter().zip(b.iter()) {
                    if !(k.equals(l, fuel)? && v.equals(w, fuel)?) {
                        return Some(false);
                    }
                }
                true
            }
            _ => false,
        })
    }

    /// True if an equal value is among others; `None` if a compared value is too large.
    pub(super) fn is_among(&self, others: &[Self], fuel: &mut usize) -> Option<bool> {
        for other in others {
            if self.equals(other, fuel)? {
                return Some(true);
            }
        }
        Some(false)
    }

    /// The items of a list, a tuple or a set.
    pub(super) fn items(&self) -> Option<&Rc<[Self]>> {
        match self {
            Self::List(items) | Self::Tuple(items) | Self::Set(items) => Some(items),
            _ => None,
        }
    }
}

/// A number as Python's `repr` writes it: with the fewest digits that give it back.
fn write_float(value: f64, out: &mut String) -> std::fmt::Result {
    if value.is_nan() {
        return write!(out, "nan");
    }
    let scientific = format!("{value:e}");
    let exponent = scientific.split_once('e').map(|(digits, power)| (digits, power.parse::<i32>()));
    match exponent {
        Some((digits, Ok(power))) if !(-4..16).contains(&power) => {
            let sign = if power < 0 { '-' } else { '+' };
            write!(out, "{digits}e{sign}{:02}", power.abs())
        }
        _ => write!(out, "{value:?}"),
    }
}

/// A string in quotation marks, as Python's `repr` writes it.
fn write_quoted(text: &str, out: &mut String) -> std::fmt::Result {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c == quote || c == '\\' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out.push(quote);
    Ok(())
}
