//! The types of parameters in a few words, from their JSON schema.

use std::fmt::Write as _;

use serde_json::Value;

/// Levels of named types that are looked into: types may hold themselves.
const UNIT_DEPTH: usize = 8;

/// What `$ref` points at, or the schema itself.
fn target<'s>(schema: &'s Value, root: &'s Value) -> (&'s Value, Option<&'s str>) {
    let Some(path) = schema["$ref"].as_str() else { return (schema, None) };
    let found = root.pointer(path.trim_start_matches('#')).unwrap_or(&Value::Null);
    (found, path.rsplit('/').next())
}

/// The alternatives of a schema, if it has some.
fn alternatives(schema: &Value) -> Option<&Vec<Value>> {
    schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array())
}

/// The one unit that a schema and all its parts state.
pub(super) fn unit_of(schema: &Value, root: &Value, depth: usize) -> Option<String> {
    if depth > UNIT_DEPTH {
        return None;
    }
    let schema = target(schema, root).0;
    if let Some(unit) = schema["x-unit"].as_str() {
        return Some(unit.to_owned());
    }
    let parts: Vec<&Value> = match (alternatives(schema), schema.get("items")) {
        (Some(parts), _) => parts.iter().filter(|part| part["type"] != "null").collect(),
        (None, Some(items)) => vec![items],
        (None, None) => schema.get("additionalProperties").into_iter().collect(),
    };
    let mut units = parts.into_iter().map(|part| unit_of(part, root, depth + 1));
    let first = units.next()??;
    units.all(|unit| unit.as_deref() == Some(&first)).then_some(first)
}

/// A schema's type in a few words. A named type is unfolded if `unfold`; those inside it are not.
pub(super) fn type_text(schema: &Value, root: &Value, unfold: bool) -> String {
    let (schema, name) = target(schema, root);
    if let (Some(name), false) = (name, unfold) {
        return name.to_owned();
    }
    let unfold = unfold && name.is_none();
    if let Some(value) = schema.get("const") {
        return plain(value);
    }
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().map(plain).collect::<Vec<_>>().join(" | ");
    }
    if let Some(parts) = alternatives(schema) {
        return union(parts, root, unfold);
    }
    if schema.get("x-formula").is_some() {
        return "expression".to_owned();
    }
    let quantity = schema.get("x-unit").is_some();
    match &schema["type"] {
        // A quantity is written as a number, or as a text with its unit.
        Value::Array(types) if types.iter().any(|ty| ty == "number") => {
            range(schema, if quantity { "quantity" } else { "number" })
        }
        Value::Array(types) => {
            let words = types.iter().filter_map(Value::as_str).filter(|ty| *ty != "null");
            words.map(|ty| one_type(ty, schema, root, name, unfold)).collect::<Vec<_>>().join(" | ")
        }
        Value::String(ty) => one_type(ty, schema, root, name, unfold),
        _ => name.unwrap_or("any").to_owned(),
    }
}

/// The text of one of JSON's types, with what the schema says about it.
fn one_type(ty: &str, schema: &Value, root: &Value, name: Option<&str>, unfold: bool) -> String {
    match ty {
        "array" => list(schema, root, unfold),
        "object" => record(schema, root, name, unfold),
        other => range(schema, word(other)),
    }
}

fn union(parts: &[Value], root: &Value, unfold: bool) -> String {
    let mut texts: Vec<String> = Vec::new();
    for part in parts.iter().filter(|part| part["type"] != "null") {
        let text = type_text(part, root, unfold);
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts.join(" | ")
}

fn list(schema: &Value, root: &Value, unfold: bool) -> String {
    let of = match (schema.get("items"), schema["prefixItems"].as_array()) {
        (_, Some(items)) => {
            items.iter().map(|item| type_text(item, root, unfold)).collect::<Vec<_>>().join(", ")
        }
        (Some(item), None) => type_text(item, root, unfold),
        (None, None) => "any".to_owned(),
    };
    match (&schema["minItems"], &schema["maxItems"]) {
        (Value::Number(least), Value::Number(most)) if least == most => format!("[{of}; {least}]"),
        _ => format!("[{of}]"),
    }
}

/// A map, a struct, or a variant with data: `HoldLast(max: integer)`.
fn record(schema: &Value, root: &Value, name: Option<&str>, unfold: bool) -> String {
    if let Some(values) = schema.get("additionalProperties").filter(|values| values.is_object()) {
        return format!("{{name: {}}}", type_text(values, root, unfold));
    }
    let Some(properties) = schema["properties"].as_object() else {
        return name.unwrap_or("map").to_owned();
    };
    let mut out = String::new();
    for (i, (field, property)) in properties.iter().enumerate() {
        let inner = type_text(property, root, unfold);
        let single =
            properties.len() == 1 && schema["required"].as_array().is_some_and(|r| r.len() == 1);
        let tagged = field.chars().next().is_some_and(char::is_uppercase);
        if single && tagged {
            let inner = inner.strip_prefix('(').and_then(|i| i.strip_suffix(')')).unwrap_or(&inner);
            return format!("{field}({inner})");
        }
        // Writing to a string cannot fail.
        let _ = write!(out, "{}{field}: {inner}", if i == 0 { "" } else { ", " });
    }
    format!("({out})")
}

/// A number with its bounds.
fn range(schema: &Value, word: &str) -> String {
    let bound = |key: &str, sign: &str| schema[key].as_f64().map(|b| format!(" {sign} {b}"));
    let low = bound("exclusiveMinimum", ">").or_else(|| bound("minimum", ">="));
    let high = bound("exclusiveMaximum", "<").or_else(|| bound("maximum", "<="));
    match (low, high) {
        (Some(low), Some(high)) => format!("{word}{low},{high}"),
        (low, high) => format!("{word}{}", low.or(high).unwrap_or_default()),
    }
}

fn word(ty: &str) -> &str {
    match ty {
        "string" => "text",
        "boolean" => "true | false",
        other => other,
    }
}

/// A value as a diagram writes it: the names of variants without quotes.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_read_as_a_diagram_writes_them() {
        let root = json!({ "$defs": { "Policy": { "oneOf": [
            { "const": "Stop", "description": "stops" },
            { "type": "object", "required": ["HoldLast"], "properties": { "HoldLast": {
                "type": "object", "properties": { "max": { "type": "integer", "minimum": 0 } },
            } } },
        ] } } });
        let cases = [
            (
                json!({ "type": ["number", "string"], "x-unit": "N*m", "minimum": 0 }),
                "quantity >= 0",
            ),
            (json!({ "type": ["string", "null"] }), "text"),
            (json!({ "type": ["array", "null"], "items": { "type": "integer" } }), "[integer]"),
            (json!({ "type": "array", "items": { "type": "boolean" } }), "[true | false]"),
            (json!({ "$ref": "#/$defs/Policy" }), "Stop | HoldLast(max: integer >= 0)"),
            (
                json!({ "anyOf": [{ "$ref": "#/$defs/Policy" }, { "type": "null" }] }),
                "Stop | HoldLast(max: integer >= 0)",
            ),
            (
                json!({ "type": "object", "additionalProperties": { "type": "integer" } }),
                "{name: integer}",
            ),
            (json!({ "enum": ["Left", "Right"] }), "Left | Right"),
            (json!(true), "any"),
        ];
        for (schema, text) in cases {
            assert_eq!(type_text(&schema, &root, true), text, "{schema}");
        }
    }

    #[test]
    fn a_type_that_holds_itself_has_an_end() {
        let root = json!({ "$defs": { "Tree": { "anyOf": [
            { "type": "integer" }, { "type": "array", "items": { "$ref": "#/$defs/Tree" } },
        ] } } });
        let tree = json!({ "$ref": "#/$defs/Tree" });
        assert_eq!(type_text(&tree, &root, true), "integer | [Tree]");
        assert_eq!(unit_of(&tree, &root, 0), None);
    }

    #[test]
    fn the_unit_is_found_in_lists_and_alternatives() {
        let one = json!({ "type": ["number", "string"], "x-unit": "m" });
        let other = json!({ "type": ["number", "string"], "x-unit": "s" });
        let root = json!({});
        let list = json!({ "type": "array", "items": one });
        assert_eq!(
            unit_of(&json!({ "anyOf": [one, list, { "type": "null" }] }), &root, 0).as_deref(),
            Some("m")
        );
        assert_eq!(unit_of(&json!({ "anyOf": [one, other] }), &root, 0), None);
    }
}
