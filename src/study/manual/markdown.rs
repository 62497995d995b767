//! Manuals as Markdown, for editors: the text that `legwork blocks KIND` prints.

use std::fmt::Write as _;

use super::text::head;
use super::{Input, Manual, Output, Parameter, Port};

impl Manual {
    /// The whole manual.
    pub fn to_markdown(&self) -> String {
        let mut text = format!("**{}**, of the shelf {}\n\n{}\n", self.kind, self.shelf, self.doc);
        if !self.parameters.is_empty() {
            text += "\n**parameters**\n\n";
            text.extend(self.parameters.iter().map(|one| format!("- {}\n", item(one))));
        }
        if let Some(ports) = &self.ports {
            list(&mut text, "inputs", ports.inputs.iter().map(Input::to_markdown));
            list(&mut text, "outputs", ports.outputs.iter().map(Output::to_markdown));
            let needs =
                ports.needs.iter().map(|one| format!("`{}: {}` {}", one.name, one.ty, one.doc));
            list(&mut text, "needs", needs);
            // Writing to a string cannot fail.
            let _ = write!(text, "\n**rate** {}\n", ports.rate);
        }
        if let Some(example) = self.example {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n```ron\n{example}\n```\n");
        }
        text
    }
}

fn list(text: &mut String, title: &str, items: impl Iterator<Item = String>) {
    for (i, item) in items.enumerate() {
        if i == 0 {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n**{title}**\n\n");
        }
        *text += &format!("- {item}\n");
    }
}

/// A line of a list, with what follows in the same paragraph.
fn item(parameter: &Parameter) -> String {
    format!("`{}` {}", head(parameter), parameter.doc.replace('\n', " "))
}

impl Parameter {
    /// Its name, type, unit and default, `kp: quantity [N*m/rad], required`.
    pub fn head(&self) -> String {
        head(self)
    }

    /// Its name, type, unit and default, and what it means.
    pub fn to_markdown(&self) -> String {
        format!("`{}`\n\n{}", head(self), self.doc)
    }
}

impl Port {
    /// Its name, type, unit and frame: `tau: Vector(n) [N*m]`.
    pub fn head(&self) -> String {
        let unit = self.unit.as_ref().map_or(String::new(), |unit| format!(" [{unit}]"));
        let frame = self.frame.as_ref().map_or(String::new(), |frame| format!(" in {frame}"));
        format!("{}: {}{unit}{frame}", self.name, self.ty)
    }
}

impl Input {
    fn to_markdown(&self) -> String {
        let note = if self.optional { ", optional" } else { "" };
        format!("`{}{note}` {}", self.port.head(), self.port.doc)
    }
}

impl Output {
    fn to_markdown(&self) -> String {
        format!("`{}` {}", self.port.head(), self.port.doc)
    }
}
