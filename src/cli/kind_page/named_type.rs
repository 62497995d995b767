//! The page of a named type of parameters: what its choices and fields mean.

use std::fmt::Write as _;

use legwork_block::Registry;
use serde_json::{Value, json};

use super::doc_of;
use super::parameter::{Parameter, parameters_of, type_name};

/// A named type, as the kinds use it that have it.
pub(crate) struct TypePage {
    name: String,
    /// One, unless kinds mean different things by the name.
    meanings: Vec<Meaning>,
}

/// What the name means to some kinds.
struct Meaning {
    kinds: Vec<&'static str>,
    doc: String,
    schema: Value,
    choices: Vec<Choice>,
    fields: Vec<Parameter>,
}

/// One of the things that a parameter of the type can be.
struct Choice {
    text: String,
    doc: String,
    fields: Vec<Parameter>,
}

/// The named types of a schema that have choices or fields of their own.
pub(super) fn types_of(schema: &Value) -> Vec<String> {
    let Some(types) = schema["$defs"].as_object() else { return Vec::new() };
    let has_parts =
        |definition: &Value| definition["oneOf"].is_array() || definition["properties"].is_object();
    types.iter().filter(|(_, found)| has_parts(found)).map(|(name, _)| name.clone()).collect()
}

impl TypePage {
    /// The page of a type that a block or resource has a parameter of.
    pub(crate) fn find(name: &str, registry: &Registry) -> Option<Self> {
        let mut meanings: Vec<Meaning> = Vec::new();
        let blocks = registry.blocks().map(|entry| (entry.kind, entry.schema));
        let resources = registry.resources().map(|entry| (entry.kind, entry.schema));
        for (kind, schema) in blocks.chain(resources) {
            let root = schema().to_value();
            if !types_of(&root).iter().any(|known| known == name) {
                continue;
            }
            let definition = &root["$defs"][name];
            match meanings.iter_mut().find(|meaning| meaning.schema == *definition) {
                Some(meaning) => meaning.kinds.push(kind),
                None => meanings.push(Meaning::of(kind, definition, &root)),
            }
        }
        (!meanings.is_empty()).then(|| Self { name: name.to_owned(), meanings })
    }

    /// The page for programs.
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "type": self.name,
            "meanings": self.meanings.iter().map(Meaning::to_json).collect::<Vec<_>>(),
        })
    }

    /// The page for people.
    pub(crate) fn to_text(&self) -> String {
        let mut out = String::new();
        for meaning in &self.meanings {
            // Writing to a string cannot fail.
            let _ = meaning.write(&self.name, &mut out);
        }
        out
    }
}

impl Meaning {
    fn of(kind: &'static str, definition: &Value, root: &Value) -> Self {
        let choices = definition["oneOf"].as_array().map_or(&[][..], Vec::as_slice);
        Self {
            kinds: vec![kind],
            doc: doc_of(definition),
            schema: definition.clone(),
            choices: choices.iter().map(|choice| Choice::of(choice, root)).collect(),
            fields: parameters_of(definition, root),
        }
    }

    fn to_json(&self) -> Value {
        let fields =
            |fields: &[Parameter]| -> Value { fields.iter().map(Parameter::to_json).collect() };
        let choice = |choice: &Choice| {
            json!({
                "choice": choice.text, "doc": choice.doc, "parameters": fields(&choice.fields),
            })
        };
        json!({
            "kinds": self.kinds,
            "doc": self.doc,
            "choices": self.choices.iter().map(choice).collect::<Vec<_>>(),
            "parameters": fields(&self.fields),
            "schema": self.schema,
        })
    }

    fn write(&self, name: &str, out: &mut String) -> std::fmt::Result {
        if !out.is_empty() {
            writeln!(out)?;
        }
        writeln!(out, "{name}, of {}\n", self.kinds.join(", "))?;
        let lines = |out: &mut String, doc: &str, indent: &str| {
            doc.lines()
                .try_for_each(|line| writeln!(out, "{}", format!("{indent}{line}").trim_end()))
        };
        lines(out, &self.doc, "  ")?;
        if !self.choices.is_empty() {
            writeln!(out, "\nchoices")?;
        }
        for choice in &self.choices {
            writeln!(out, "  {}", choice.text)?;
            lines(out, &choice.doc, "      ")?;
            let mut fields = String::new();
            choice.fields.iter().try_for_each(|field| field.write(&mut fields))?;
            lines(out, &fields, "    ")?;
        }
        if !self.fields.is_empty() {
            writeln!(out, "\nparameters")?;
        }
        self.fields.iter().try_for_each(|field| field.write(out))
    }
}

impl Choice {
    fn of(choice: &Value, root: &Value) -> Self {
        let doc = doc_of(choice);
        let data = choice["properties"].as_object().and_then(|fields| fields.iter().next());
        let Some((name, data)) = data else {
            return Self { text: type_name(choice, root), doc, fields: Vec::new() };
        };
        // Its fields stand below it, or are those of another type.
        let fields = parameters_of(data, root);
        let text = match (fields.is_empty(), data["properties"].is_object()) {
            (false, _) => format!("{name}(…)"),
            (true, true) => format!("{name}()"),
            (true, false) => format!("{name}({})", type_name(data, root)),
        };
        Self { text, doc, fields }
    }
}
