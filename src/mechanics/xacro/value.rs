//! What expressions of xacro are about: the values of Python that robot files use.

use std::fmt::Write as _;
use std::rc::Rc;

/// Most characters of a text and most items of a list that an expression may make.
pub(super) const LONGEST: usize = 1 << 16;

/// A value. Texts, lists and tables are shared, so that copies cost nothing.
#[derive(Clone, Debug)]
pub(super) enum Value {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Rc<str>),
    List(Rc<[Value]>),
    /// Keys with values, in the order written.
    Table(Rc<[(Value, Value)]>),
    /// The names of an included file, an index of a scope.
    Names(usize),
    /// A function: `math` functions and built-in ones.
    Function(&'static str),
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
            Self::List(items) => !items.is_empty(),
            Self::Table(items) => !items.is_empty(),
            Self::Names(_) | Self::Function(_) | Self::Method(..) => true,
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
            Self::Table(_) => "a dictionary",
            Self::Names(_) => "a namespace",
            Self::Function(_) | Self::Method(..) => "a function",
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
            Self::Float(value) => write!(out, "{value:?}"),
            Self::Text(text) => write!(out, "'{text}'"),
            Self::Names(_) => write!(out, "namespace"),
            Self::Function(name) | Self::Method(_, name) => write!(out, "{name}"),
            Self::List(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    out.push_str(if i > 0 { ", " } else { "" });
                    if !item.write(out) {
                        return false;
                    }
                }
                out.push(']');
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
            (Self::List(a), Self::List(b)) => {
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
}
