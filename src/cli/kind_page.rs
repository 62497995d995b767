//! The manual page of one kind of block: made from its declaration, so that it cannot lag behind.
//!
//! The text and the parameters come from the parameter struct's own documentation; ports and rate
//! come from planning the registered example.

mod example;
mod named_type;
mod parameter;

use std::fmt::Write as _;

use legwork_block::{BlockKind, Registry, ResourceEntry};
use serde_json::{Value, json};

use self::example::{Ports, plan};
pub(crate) use self::named_type::TypePage;
use self::named_type::types_of;
use self::parameter::{Parameter, parameters};

/// Everything that is known of a kind.
pub(crate) struct Page {
    kind: &'static str,
    doc: String,
    parameters: Vec<Parameter>,
    schema: Value,
    example: Option<Example>,
}

/// A registered example with its ports, or why it has none.
struct Example {
    text: &'static str,
    ports: Result<Ports, String>,
}

impl Page {
    /// The page of a kind of block.
    pub(crate) fn of_block(entry: &BlockKind, registry: &Registry) -> Self {
        let schema = (entry.schema)().to_value();
        let ports = plan(entry, registry);
        Self {
            kind: entry.kind,
            doc: doc_of(&schema),
            parameters: parameters(&schema),
            schema,
            example: Some(Example { text: entry.example, ports }),
        }
    }

    /// The page of a kind of resource.
    pub(crate) fn of_resource(entry: &ResourceEntry) -> Self {
        let schema = (entry.schema)().to_value();
        Self {
            kind: entry.kind,
            doc: doc_of(&schema),
            parameters: parameters(&schema),
            schema,
            example: None,
        }
    }

    /// The page for programs.
    pub(crate) fn to_json(&self) -> Value {
        let mut json = json!({
            "kind": self.kind,
            "doc": self.doc,
            "parameters": self.parameters.iter().map(Parameter::to_json).collect::<Vec<_>>(),
            "schema": self.schema,
        });
        if let Some(example) = &self.example {
            json["example"] = example.text.into();
            match &example.ports {
                Ok(ports) => {
                    json["inputs"] = ports.inputs_to_json();
                    json["outputs"] = ports.outputs_to_json();
                    json["needs"] = ports.functions_to_json();
                    json["rate"] = ports.rate.clone().into();
                }
                Err(reason) => json["ports_unknown"] = reason.clone().into(),
            }
        }
        json
    }

    /// The page for people.
    pub(crate) fn to_text(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "{}\n", self.kind)?;
        for line in self.doc.lines() {
            writeln!(out, "{}", format!("  {line}").trim_end())?;
        }
        writeln!(out, "\nparameters")?;
        if self.parameters.is_empty() {
            writeln!(out, "  none")?;
        }
        for parameter in &self.parameters {
            parameter.write(out)?;
        }
        let types = types_of(&self.schema);
        if !types.is_empty() {
            writeln!(out, "\ntypes, explained by `legwork blocks TYPE`\n  {}", types.join(", "))?;
        }
        let Some(example) = &self.example else { return Ok(()) };
        match &example.ports {
            Ok(ports) => ports.write(out)?,
            Err(reason) => writeln!(out, "\nports\n  not known from the example: {reason}")?,
        }
        writeln!(out, "\nexample\n  {}", example.text)
    }
}

/// The first sentence of a kind's documentation.
pub(crate) fn summary_of(schema: &Value) -> String {
    let doc = doc_of(schema);
    let paragraph: Vec<&str> =
        doc.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    let paragraph = paragraph.join(" ");
    let end = paragraph.find(". ").map_or(paragraph.len(), |at| at + 1);
    paragraph[..end].to_owned()
}

fn doc_of(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().to_owned()
}
