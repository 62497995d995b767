//! YAML files that robot files load, as values.

use std::rc::Rc;

use saphyr_parser::{Event, Parser, ScalarStyle, Tag};

use super::value::Value;

/// Deepest nesting of lists and dictionaries.
const DEEPEST: usize = 64;

/// The number that an expression under a tag has.
pub(super) type Number<'a> = dyn FnMut(&str) -> Result<f64, String> + 'a;

/// A list or a dictionary whose end has not come yet.
struct Open {
    anchor: usize,
    /// Of a dictionary keys and values in turn.
    items: Vec<Value>,
    is_table: bool,
}

/// Reads the only document of a file. Scalars are those of PyYAML, but for its numbers of base 60
/// and 8, and that `1e-3` is a number, as YAML 1.2 has it; `number` evaluates what is tagged
/// `!radians` or `!degrees`, as xacro does it.
///
/// # Errors
/// What was expected and found, with the line.
pub(super) fn read(text: &str, number: &mut Number<'_>) -> Result<Value, String> {
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
                (anchor, if is_table { table(items) } else { Value::List(items.into()) })
            }
            Event::Scalar(text, style, anchor, tag) => {
                (anchor, scalar(&text, style, tag.as_deref(), number).map_err(wrong)?)
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
fn table(items: Vec<Value>) -> Value {
    let mut entries: Vec<(Value, Value)> = Vec::new();
    let mut merged = Vec::new();
    let mut items = items.into_iter();
    while let (Some(key), Some(value)) = (items.next(), items.next()) {
        match (&key, &value) {
            (Value::Text(name), Value::Table(_)) if &**name == "<<" => merged.push(value),
            (Value::Text(name), Value::List(all)) if &**name == "<<" => {
                merged.extend(all.iter().cloned());
            }
            _ => match entries.iter_mut().find(|(known, _)| is_same(known, &key)) {
                Some(entry) => entry.1 = value,
                None => entries.push((key, value)),
            },
        }
    }
    for other in merged {
        let Value::Table(other) = other else { continue };
        for (key, value) in other.iter() {
            if !entries.iter().any(|(known, _)| is_same(known, key)) {
                entries.push((key.clone(), value.clone()));
            }
        }
    }
    Value::Table(Rc::from(entries))
}

/// Keys that are lists are all different.
fn is_same(a: &Value, b: &Value) -> bool {
    a.equals(b, &mut 1).unwrap_or(false)
}

fn scalar(
    text: &str,
    style: ScalarStyle,
    tag: Option<&Tag>,
    number: &mut Number<'_>,
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
        (false, "radians") => number(text).map(Value::Float),
        (false, "degrees") => number(text).map(|x| Value::Float(x.to_radians())),
        _ => Err(format!("`{tag}` is not known; there are !degrees and !radians")),
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
