//! The manuals of what the language itself knows: for-each, masks, variants, the sections of a
//! file.

use legwork_diagram::{FieldManual, Manual};
use serde::Serialize;

/// A construct of the language, such as `ForEach`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Construct {
    /// Its name in a diagram.
    pub construct: &'static str,
    /// What it is, as Markdown.
    pub doc: String,
    /// What may be in its parentheses.
    pub fields: Vec<Field>,
}

/// A field of a construct.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Field {
    /// Its name in a diagram.
    pub name: &'static str,
    /// What it is.
    pub doc: String,
}

/// The manuals of the constructs of this name: a mask's file and its use are both a `Mask`.
pub fn constructs(name: &str) -> Vec<Construct> {
    legwork_diagram::constructs()
        .iter()
        .filter(|manual| manual.name == name)
        .map(Construct::of)
        .collect()
}

impl Construct {
    fn of(manual: &Manual) -> Self {
        let field = |field: &FieldManual| Field { name: field.name, doc: text_of(field.doc) };
        let fields = manual.fields.iter().chain(manual.shared).map(field).collect();
        Self { construct: manual.name, doc: text_of(manual.doc), fields }
    }
}

/// The text of a documentation comment, whose lines begin with the space behind `///`.
fn text_of(doc: &[&str]) -> String {
    let lines: Vec<&str> = doc.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    lines.join("\n")
}
