//! YAML files that robot files load, as values.

use std::collections::BTreeMap;
use std::rc::Rc;

use saphyr_parser::{Event, Parser, ScalarStyle, Tag};

use super::evaluate::{Bound, Scope, evaluate, spend};
use super::parse::parse;
use super::value::Value;

/// Deepest nesting of lists and dictionaries.
const DEEPEST: usize = 64;

/// Tags of numbers with a unit, and the value of the unit in radians or metres.
const UNITS: [(&str, f64); 6] = [
    ("radians", 1.0),
    ("degrees", std::f64::consts::PI / 180.0),
    ("meters", 1.0),
    ("millimeters", 0.001),
    ("foot", 0.3048),
    ("inches", 0.0254),
];

/// Weight of an entry that is merged into another dictionary.
const MERGED: usize = 64;

/// A list or a dictionary whose end has not come yet.
struct Open {
    anchor: usize,
    /// Of a dictionary keys and values in turn.
    items: Vec<Value>,
    is_table: bool,
}

/// Reads the only document of a file. Scalars are those of PyYAML, with two exceptions: numbers
/// have no base 60 or 8, and `1e-3` is a number, as in YAML 1.2. A scalar with the tag of a unit is
/// an expression, as in xacro. `scope` limits the number of merged entries.
///
/// # Errors
/// What was expected and found, with the line.
pub(super) fn read(text: &str, scope: &mut dyn Scope) -> Result<Value, String> {
    let mut anchors: Vec<(usize, Value)> = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut whole = None;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| error.to_string())?;
        let wrong = |what: String| format!("line {}: {what}", span.start.line());
        let (anchor, value) = match event {
            Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) => {
                if open.len() == DEEPEST {
                    return Err(wrong(format!("lists are nested deeper than {DEEPEST}")));
                }
                let is_table = matches!(event, Event::MappingStart(..));
                open.push(Open { anchor, items: Vec::new(), is_table });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(Open { anchor, items, is_table }) = open.pop() else { continue };
                let value = match is_table {
                    true => table(items, scope).map_err(wrong)?,
                    false => Value::List(items.into()),
                };
                (anchor, value)
            }
            Event::Scalar(text, style, anchor, tag) => {
                (anchor, scalar(&text, style, tag.as_deref(), scope).map_err(wrong)?)
            }
            Event::Alias(of) => {
                let known = anchors.iter().rev().find(|(anchor, _)| *anchor == of);
                let known = known.ok_or_else(|| wrong("an alias of itself".to_owned()))?;
                (0, known.1.clone())
            }
            Event::DocumentStart(_) if whole.is_some() => {
                return Err(wrong("expected one document, found another".to_owned()));
            }
            _ => continue,
        };
        if anchor > 0 {
            anchors.push((anchor, value.clone()));
        }
        match open.last_mut() {
            Some(outer) => outer.items.push(value),
            None => whole = Some(value),
        }
    }
    Ok(whole.unwrap_or(Value::None))
}

/// A dictionary of keys and values in turn. A later value replaces one of the same key; `<<` adds
/// those of other dictionaries, where there is none yet.
fn table(items: Vec<Value>, scope: &mut dyn Scope) -> Result<Value, String> {
    let mut entries = Entries::default();
    let mut merged = Vec::new();
    let mut items = items.into_iter();
    while let (Some(key), Some(value)) = (items.next(), items.next()) {
        match (&key, &value) {
            (Value::Text(name), Value::Table(_)) if &**name == "<<" => merged.push(value),
            (Value::Text(name), Value::List(all)) if &**name == "<<" => {
                spend(scope, all.len())?;
                merged.extend(all.iter().cloned());
            }
            _ => entries.add(key, value, true, scope)?,
        }
    }
    for other in merged {
        let Value::Table(other) = other else { continue };
        spend(scope, other.len().saturating_mul(MERGED))?;
        for (key, value) in other.iter() {
            entries.add(key.clone(), value.clone(), false, scope)?;
        }
    }
    Ok(Value::Table(Rc::from(entries.all)))
}

/// Entries of a dictionary, found by their keys if these are texts.
#[derive(Default)]
struct Entries {
    all: Vec<(Value, Value)>,
    places: BTreeMap<Rc<str>, usize>,
    /// Places of keys that are not strings.
    others: Vec<usize>,
}

impl Entries {
    fn add(
        &mut self,
        key: Value,
        value: Value,
        replaces: bool,
        scope: &mut dyn Scope,
    ) -> Result<(), String> {
        let known = match &key {
            Value::Text(text) => self.places.get(text).copied(),
            key => {
                spend(scope, self.others.len())?;
                self.others.iter().copied().find(|at| is_same(&self.all[*at].0, key))
            }
        };
        match known {
            Some(at) if replaces => self.all[at].1 = value,
            Some(_) => {}
            None => {
                let at = self.all.len();
                match &key {
                    Value::Text(text) => _ = self.places.insert(Rc::clone(text), at),
                    _ => self.others.push(at),
                }
                self.all.push((key, value));
            }
        }
        Ok(())
    }
}

/// Keys that are lists are all different.
fn is_same(a: &Value, b: &Value) -> bool {
    a.equals(b, &mut 1).unwrap_or(false)
}

fn scalar(
    text: &str,
    style: ScalarStyle,
    tag: Option<&Tag>,
    scope: &mut dyn Scope,
) -> Result<Value, String> {
    let plain = || plain(text);
    let Some(tag) = tag else {
        return Ok(if style == ScalarStyle::Plain { plain() } else { Value::text(text) });
    };
    let value = plain().number().ok_or_else(|| format!("`{tag}`: `{text}` is no number"));
    match (tag.is_yaml_core_schema(), tag.suffix.as_str()) {
        (true, "str") => Ok(Value::text(text)),
        (true, "int" | "bool" | "null") => Ok(plain()),
        (true, "float") => value.map(Value::Float),
        (false, name) => {
            let Some((_, unit)) = UNITS.iter().find(|(known, _)| *known == name) else {
                let known = UNITS.map(|(name, _)| format!("!{name}")).join(", ");
                return Err(format!("`{tag}` is not known; there are {known}"));
            };
            let mut own = Bound { values: Vec::new(), scope, may_load: false };
            let value = evaluate(&parse(text)?, &mut own)?.number();
            let value = value.ok_or_else(|| format!("`{text}` is no number"))?;
            Ok(Value::Float(value * unit))
        }
        (true, _) => Err(format!("`{tag}` is not known")),
    }
}

/// What a scalar without quotation marks stands for.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::None,
        "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => {
            return Value::Bool(true);
        }
        "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => {
            return Value::Bool(false);
        }
        _ => {}
    }
    let digits = text.replace('_', "");
    let (sign, size) = match digits.strip_prefix('-') {
        Some(size) => (-1.0, size),
        None => (1.0, digits.strip_prefix('+').unwrap_or(&digits)),
    };
    match size {
        ".inf" | ".Inf" | ".INF" => return Value::Float(sign * f64::INFINITY),
        ".nan" | ".NaN" | ".NAN" => return Value::Float(f64::NAN),
        _ => {}
    }
    if let Some(hexadecimal) = size.strip_prefix("0x")
        && let Ok(value) = i64::from_str_radix(hexadecimal, 16)
    {
        return Value::Int(if sign < 0.0 { -value } else { value });
    }
    // `inf` and `nan` without a dot are words.
    if !size.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Value::text(text);
    }
    match (digits.parse::<i64>(), digits.parse::<f64>()) {
        (Ok(value), _) => Value::Int(value),
        (_, Ok(value)) => Value::Float(value),
        _ => Value::text(text),
    }
}
