//! The manual of a named type of parameters: what its choices and fields mean.

use legwork_block::Registry;
use serde::Serialize;
use serde_json::Value;

use super::parameter::{Parameter, parameters_of, type_name};
use super::{doc_of, kinds};

/// A named type, as the kinds use it that have it.
#[derive(Debug, Clone, Serialize)]
pub struct NamedType {
    /// Its name.
    #[serde(rename = "type")]
    pub name: String,
    /// One, unless kinds mean different things by the name.
    pub meanings: Vec<Meaning>,
}

/// What the name means to some kinds.
#[derive(Debug, Clone, Serialize)]
pub struct Meaning {
    /// These kinds.
    pub kinds: Vec<&'static str>,
    /// Documentation, in Markdown.
    pub doc: String,
    /// What a parameter of the type can be, if there is a choice.
    pub choices: Vec<Choice>,
    /// Its fields, if it is a struct.
    pub parameters: Vec<Parameter>,
    /// Its JSON schema.
    pub schema: Value,
}

/// One of the things that a parameter of the type can be.
#[derive(Debug, Clone, Serialize)]
pub struct Choice {
    /// As a diagram writes it.
    #[serde(rename = "choice")]
    pub text: String,
    /// What it means.
    pub doc: String,
    /// Its fields.
    pub parameters: Vec<Parameter>,
}

/// The named types of a schema that have choices or fields of their own.
pub(super) fn types_of(schema: &Value) -> Vec<String> {
    let Some(types) = schema["$defs"].as_object() else { return Vec::new() };
    let has_parts =
        |definition: &Value| definition["oneOf"].is_array() || definition["properties"].is_object();
    types.iter().filter(|(_, found)| has_parts(found)).map(|(name, _)| name.clone()).collect()
}

/// The manual of a type that a block or resource has a parameter of.
pub fn named_type(name: &str, registry: &Registry) -> Option<NamedType> {
    let mut meanings: Vec<Meaning> = Vec::new();
    for kind in kinds(registry) {
        let root = kind.schema();
        if !types_of(&root).iter().any(|known| known == name) {
            continue;
        }
        let definition = &root["$defs"][name];
        match meanings.iter_mut().find(|meaning| meaning.schema == *definition) {
            Some(meaning) => meaning.kinds.push(kind.name()),
            None => meanings.push(Meaning::of(kind.name(), definition, &root)),
        }
    }
    (!meanings.is_empty()).then(|| NamedType { name: name.to_owned(), meanings })
}

/// The names of the types of parameters that have a choice of this name, such as `Circular`.
pub fn types_with_choice(choice: &str, registry: &Registry) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for kind in kinds(registry) {
        let root = kind.schema();
        for name in types_of(&root) {
            let choices = root["$defs"][&name]["oneOf"].as_array().into_iter().flatten();
            let mut words = choices.map(|one| Choice::of(one, &root).text);
            let is_choice = |text: String| text.split('(').next() == Some(choice);
            if !found.contains(&name) && words.any(is_choice) {
                found.push(name);
            }
        }
    }
    found
}

impl Meaning {
    fn of(kind: &'static str, definition: &Value, root: &Value) -> Self {
        let choices = definition["oneOf"].as_array().map_or(&[][..], Vec::as_slice);
        Self {
            kinds: vec![kind],
            doc: doc_of(definition),
            choices: choices.iter().map(|choice| Choice::of(choice, root)).collect(),
            parameters: parameters_of(definition, root),
            schema: definition.clone(),
        }
    }
}

impl Choice {
    fn of(choice: &Value, root: &Value) -> Self {
        let doc = doc_of(choice);
        let data = choice["properties"].as_object().and_then(|fields| fields.iter().next());
        let Some((name, data)) = data else {
            return Self { text: type_name(choice, root), doc, parameters: Vec::new() };
        };
        // Its fields are listed below it, or are those of another type.
        let parameters = parameters_of(data, root);
        let text = match (parameters.is_empty(), data["properties"].is_object()) {
            (false, _) => format!("{name}(…)"),
            (true, true) => format!("{name}()"),
            (true, false) => format!("{name}({})", type_name(data, root)),
        };
        Self { text, doc, parameters }
    }
}
