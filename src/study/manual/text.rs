//! Manuals as text for people.

use std::fmt::{Display, Formatter, Result};

use serde_json::Value;

use super::named_type::{Meaning, NamedType};
use super::port::{Port, Ports};
use super::{Manual, Parameter};

impl Display for Manual {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        writeln!(out, "{}, of the shelf {}\n", self.kind, self.shelf)?;
        lines(out, &self.doc, "  ")?;
        if !self.aliases.is_empty() {
            writeln!(out, "\nalso known as\n  {}", self.aliases.join(", "))?;
        }
        writeln!(out, "\nparameters")?;
        if self.parameters.is_empty() {
            writeln!(out, "  none")?;
        }
        self.parameters.iter().try_for_each(|parameter| write_parameter(out, parameter, ""))?;
        let types = self.types();
        if !types.is_empty() {
            writeln!(out, "\ntypes, explained by `legwork blocks TYPE`\n  {}", types.join(", "))?;
        }
        if let Some(ports) = &self.ports {
            write_ports(out, ports)?;
        }
        if let Some(reason) = &self.ports_unknown {
            writeln!(out, "\nports\n  not known from the example: {reason}")?;
        }
        match self.example {
            Some(example) => writeln!(out, "\nexample\n  {example}"),
            None => Ok(()),
        }
    }
}

impl Display for NamedType {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        for (i, meaning) in self.meanings.iter().enumerate() {
            if i > 0 {
                writeln!(out)?;
            }
            write_meaning(out, &self.name, meaning)?;
        }
        Ok(())
    }
}

fn write_meaning(out: &mut Formatter<'_>, name: &str, meaning: &Meaning) -> Result {
    writeln!(out, "{name}, of {}\n", meaning.kinds.join(", "))?;
    lines(out, &meaning.doc, "  ")?;
    if !meaning.choices.is_empty() {
        writeln!(out, "\nchoices")?;
    }
    for choice in &meaning.choices {
        writeln!(out, "  {}", choice.text)?;
        lines(out, &choice.doc, "      ")?;
        choice.parameters.iter().try_for_each(|field| write_parameter(out, field, "    "))?;
    }
    if !meaning.parameters.is_empty() {
        writeln!(out, "\nparameters")?;
    }
    meaning.parameters.iter().try_for_each(|field| write_parameter(out, field, ""))
}

fn write_parameter(out: &mut Formatter<'_>, parameter: &Parameter, indent: &str) -> Result {
    writeln!(out, "{indent}  {}", head(parameter))?;
    lines(out, &parameter.doc, &format!("{indent}      "))
}

/// `kp: quantity [N*m/rad], required`.
pub(super) fn head(parameter: &Parameter) -> String {
    let unit = match parameter.unit.as_deref() {
        None | Some("1") => String::new(),
        Some("any") => " [any unit]".to_owned(),
        Some(unit) => format!(" [{unit}]"),
    };
    let default = match (&parameter.default, parameter.required) {
        (_, true) => ", required".to_owned(),
        (None | Some(Value::Null), false) => ", optional".to_owned(),
        (Some(value), false) => format!(", default {}", written(value, &parameter.ty)),
    };
    format!("{}: {}{unit}{default}", parameter.name, parameter.ty)
}

/// A default as a diagram writes it: choices of the type `ty` have no quotation marks.
fn written(value: &Value, ty: &str) -> String {
    match value {
        Value::String(choice) if ty.split(['[', ']', '|', ' ']).any(|known| known == choice) => {
            choice.clone()
        }
        Value::Array(list) => {
            let elements: Vec<String> = list.iter().map(|value| written(value, ty)).collect();
            format!("[{}]", elements.join(", "))
        }
        value => value.to_string(),
    }
}

fn write_ports(out: &mut Formatter<'_>, ports: &Ports) -> Result {
    writeln!(out, "\ninputs, with types and units as in the example")?;
    if ports.inputs.is_empty() {
        writeln!(out, "  none")?;
    }
    for input in &ports.inputs {
        let note = if input.optional { ", optional" } else { "" };
        write_port(out, &input.port, note)?;
    }
    writeln!(out, "\noutputs")?;
    if ports.outputs.is_empty() {
        writeln!(out, "  none")?;
    }
    for output in &ports.outputs {
        let note = match output.feeds_through.as_slice() {
            [] => ", no feedthrough".to_owned(),
            feeds => format!(", feeds through from {}", feeds.join(", ")),
        };
        write_port(out, &output.port, &note)?;
    }
    if !ports.needs.is_empty() {
        writeln!(out, "\nneeds")?;
    }
    for function in &ports.needs {
        let note = if function.optional { ", optional" } else { "" };
        writeln!(out, "  {}{note}: {}", function.name, function.ty)?;
        lines(out, &function.doc, "      ")?;
        for port in function.arguments.iter().chain(&function.results) {
            lines(out, &port.doc, &format!("      {}: ", port.name))?;
        }
    }
    writeln!(out, "\nrate\n  {}", ports.rate)
}

fn write_port(out: &mut Formatter<'_>, port: &Port, note: &str) -> Result {
    writeln!(out, "  {}{note}", port.head())?;
    lines(out, &port.doc, "      ")
}

fn lines(out: &mut Formatter<'_>, text: &str, indent: &str) -> Result {
    text.lines().try_for_each(|line| writeln!(out, "{}", format!("{indent}{line}").trim_end()))
}
