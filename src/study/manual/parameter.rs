//! Parameters of a kind, read from its schema.

use serde::Serialize;
use serde_json::Value;

use super::schema::{type_text, unit_of};

/// One parameter.
#[derive(Debug, Clone, Serialize)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its type in a few words, as a diagram writes it.
    #[serde(rename = "type")]
    pub ty: String,
    /// Its unit; `1` without one, `any` for any.
    pub unit: Option<String>,
    /// Whether it must be given.
    pub required: bool,
    /// Its value if it is not given, where the schema tells.
    pub default: Option<Value>,
    /// What it means.
    pub doc: String,
}

/// The parameters of a struct's schema, required ones first, then by name.
pub(super) fn parameters(schema: &Value) -> Vec<Parameter> {
    parameters_of(schema, schema)
}

/// The type of a part of a schema in a few words; named types are names.
pub(super) fn type_name(schema: &Value, root: &Value) -> String {
    type_text(schema, root, false)
}

/// The parameters of a struct's schema within another.
pub(super) fn parameters_of(schema: &Value, root: &Value) -> Vec<Parameter> {
    let required = |name: &str| {
        schema["required"].as_array().is_some_and(|names| names.iter().any(|known| known == name))
    };
    let Some(properties) = schema["properties"].as_object() else { return Vec::new() };
    let mut found: Vec<Parameter> = properties
        .iter()
        .map(|(name, property)| Parameter {
            name: name.clone(),
            ty: type_text(property, root, true),
            unit: unit_of(property, root, 0),
            required: required(name),
            default: property.get("default").cloned(),
            doc: super::doc_of(property),
        })
        .collect();
    found.sort_by_key(|parameter| !parameter.required);
    found
}
