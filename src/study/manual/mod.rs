//! The manuals of all kinds of blocks and resources, made from their declarations, so that they
//! cannot lag behind.
//!
//! ```text
//! Registry ──shelves──► what there is, by shelf
//!          ──manual───► one kind: text and parameters from the documentation of its struct,
//!                       ports and rate from planning its registered example
//!          ──search───► the kinds and files whose manuals hold some words, best first
//!          ──built_in─► the built-in files, each with what it says about itself
//! ```
//!
//! [`constructs`] gives the manual of what the language itself knows, such as `ForEach`.
//!
//! All of it is data that serialises; `Display` of a [`Manual`] is its text for people.
//!
//! ```
//! let mut registry = legwork_study::Registry::default();
//! legwork_blocks::register(&mut registry);
//! let hits = legwork_study::manual::search("mass matrix", &registry);
//! assert_eq!(hits[0].kind, "MassMatrix");
//! ```

mod construct;
mod example;
mod files;
mod markdown;
mod named_type;
mod parameter;
mod port;
mod schema;
mod search;
#[cfg(test)]
mod tests;
mod text;

use legwork_block::{BlockKind, Registry, ResourceEntry, nearest};
use serde::Serialize;
use serde_json::Value;

pub use self::construct::{Construct, Field, constructs};
pub use self::files::{BuiltIn, built_in};
pub use self::named_type::{Choice, Meaning, NamedType, named_type, types_with_choice};
pub use self::parameter::Parameter;
pub use self::port::{Function, Input, Output, Port, Ports};
pub use self::search::{Hit, Match, also_called, search, search_among};

pub(crate) use self::example::{Examples, STAND_INS};
use crate::reference;

/// Everything that is known of a kind.
#[derive(Debug, Clone, Serialize)]
pub struct Manual {
    /// Name in diagrams.
    pub kind: &'static str,
    /// Name of its shelf.
    pub shelf: &'static str,
    /// Section of a diagram that it is written in.
    pub section: Section,
    /// Other words that people know it by.
    pub aliases: Vec<String>,
    /// First sentence of the documentation.
    pub summary: String,
    /// Documentation, in Markdown.
    pub doc: String,
    /// Parameters, required ones first.
    pub parameters: Vec<Parameter>,
    /// JSON schema of the parameters.
    pub schema: Value,
    /// A block as a diagram writes it; none for a resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<&'static str>,
    /// Ports and rate of the example.
    #[serde(flatten)]
    pub ports: Option<Ports>,
    /// Why the ports of the example are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ports_unknown: Option<String>,
}

/// A section of a diagram that holds kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Section {
    /// `blocks:`.
    Blocks,
    /// `robots:`.
    Robots,
    /// None: a file, whose name is written where it is used.
    Files,
}

/// One kind in a list.
#[derive(Debug, Clone, Serialize)]
pub struct Listed {
    /// Name in diagrams.
    pub kind: &'static str,
    /// Section of a diagram that it is written in.
    pub section: Section,
    /// First sentence of the documentation.
    pub summary: String,
}

/// What is on a shelf.
#[derive(Debug, Clone, Serialize)]
pub struct Shelf {
    /// Its name.
    pub name: &'static str,
    /// What is on it, in one sentence.
    pub summary: &'static str,
    /// Its kinds, by name.
    pub kinds: Vec<Listed>,
}

/// What somebody may have meant by a name that no kind, type, shelf or page has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Suggestion {
    /// This build was made without the kind; the sentence says how to get it.
    Absent(&'static str),
    /// A name that is spelled nearly so.
    Near(&'static str),
    /// Names that contain it.
    Alike(Vec<&'static str>),
    /// Nothing.
    Nothing,
}

/// All shelves that have something on them, in the order of the registry.
pub fn shelves(registry: &Registry) -> Vec<Shelf> {
    registry.shelves().map(|shelf| shelf_of(shelf, registry)).collect()
}

/// The shelf of this name.
pub fn shelf(name: &str, registry: &Registry) -> Option<Shelf> {
    let shelf = registry.shelves().find(|shelf| shelf.name == name)?;
    Some(shelf_of(shelf, registry))
}

fn shelf_of(shelf: &legwork_block::Shelf, registry: &Registry) -> Shelf {
    let kinds = kinds(registry).filter(|kind| kind.shelf() == shelf.name).map(|kind| {
        let summary = first_sentence(&doc_of(&kind.schema()));
        Listed { kind: kind.name(), section: kind.section(), summary }
    });
    let mut kinds: Vec<Listed> = kinds.collect();
    kinds.sort_by_key(|listed| listed.kind);
    Shelf { name: shelf.name, summary: shelf.summary, kinds }
}

/// The manual of a kind of block or resource.
pub fn manual(kind: &str, registry: &Registry) -> Option<Manual> {
    let found = kinds(registry).find(|known| known.name() == kind)?;
    Some(Manual::of(found, &Examples::new(registry)))
}

/// The first sentence of a kind's manual.
pub fn summary(kind: &str, registry: &Registry) -> Option<String> {
    let found = kinds(registry).find(|known| known.name() == kind)?;
    Some(first_sentence(&doc_of(&found.schema())))
}

/// The manuals of all kinds: blocks by name, then resources by name.
pub fn manuals(registry: &Registry) -> Vec<Manual> {
    let examples = Examples::new(registry);
    kinds(registry).map(|kind| Manual::of(kind, &examples)).collect()
}

/// What may be meant by `name`, which no kind, type, shelf or page has.
pub fn suggest(name: &str, registry: &Registry) -> Suggestion {
    if let Some(hint) = registry.why_absent(name) {
        return Suggestion::Absent(hint);
    }
    let known = || {
        let shelves = registry.shelves().map(|shelf| shelf.name);
        kinds(registry).map(|kind| kind.name()).chain(shelves).chain(reference::names())
    };
    if let Some(near) = nearest(name, known()) {
        return Suggestion::Near(near);
    }
    let lower = name.to_lowercase();
    let alike: Vec<&str> = known().filter(|known| known.to_lowercase().contains(&lower)).collect();
    if alike.is_empty() || lower.is_empty() {
        Suggestion::Nothing
    } else {
        Suggestion::Alike(alike)
    }
}

impl Manual {
    fn of(kind: Kind<'_>, examples: &Examples<'_>) -> Self {
        let schema = kind.schema();
        let doc = doc_of(&schema);
        let mut manual = Self {
            kind: kind.name(),
            shelf: kind.shelf(),
            section: kind.section(),
            aliases: aliases_of(&schema),
            summary: first_sentence(&doc),
            doc,
            parameters: parameter::parameters(&schema),
            schema,
            example: None,
            ports: None,
            ports_unknown: None,
        };
        if let Kind::Block(entry) = kind {
            manual.example = Some(entry.example);
            match examples.plan(entry) {
                Ok(ports) => manual.ports = Some(ports),
                Err(reason) => manual.ports_unknown = Some(reason),
            }
        }
        manual
    }

    /// The named types of its parameters that have manuals of their own.
    pub fn types(&self) -> Vec<String> {
        named_type::types_of(&self.schema)
    }
}

/// An entry of the registry.
#[derive(Clone, Copy)]
enum Kind<'r> {
    Block(&'r BlockKind),
    Resource(&'r ResourceEntry),
}

/// All kinds: blocks by name, then resources by name.
fn kinds(registry: &Registry) -> impl Iterator<Item = Kind<'_>> {
    registry.blocks().map(Kind::Block).chain(registry.resources().map(Kind::Resource))
}

impl Kind<'_> {
    fn name(self) -> &'static str {
        match self {
            Self::Block(entry) => entry.kind,
            Self::Resource(entry) => entry.kind,
        }
    }

    fn shelf(self) -> &'static str {
        match self {
            Self::Block(entry) => entry.shelf,
            Self::Resource(entry) => entry.shelf,
        }
    }

    fn section(self) -> Section {
        match self {
            Self::Block(_) => Section::Blocks,
            Self::Resource(_) => Section::Robots,
        }
    }

    fn schema(self) -> Value {
        match self {
            Self::Block(entry) => (entry.schema)().to_value(),
            Self::Resource(entry) => (entry.schema)().to_value(),
        }
    }
}

fn doc_of(schema: &Value) -> String {
    plain(schema["description"].as_str().unwrap_or_default())
}

/// A text without the targets of its links to other items: of ``[`Motor`](crate::Motor)`` is left
/// `` `Motor` ``.
fn plain(doc: &str) -> String {
    let mut text = String::with_capacity(doc.len());
    let mut rest = doc;
    while let Some(at) = rest.find("](crate::") {
        let (before, after) = rest.split_at(at);
        let shown = before.rfind('[').unwrap_or(before.len());
        text.push_str(&before[..shown]);
        text.push_str(before[shown..].trim_start_matches('['));
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    text + rest
}

/// The words of `#[schemars(extend("x-aliases" = […]))]` on a struct of parameters.
fn aliases_of(schema: &Value) -> Vec<String> {
    let words = schema["x-aliases"].as_array().map_or(&[][..], Vec::as_slice);
    words.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The first sentence of a text: up to a full stop before a space, or the first paragraph.
pub(crate) fn first_sentence(doc: &str) -> String {
    let paragraph: Vec<&str> =
        doc.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    let paragraph = paragraph.join(" ");
    let end = paragraph.find(". ").map_or(paragraph.len(), |at| at + 1);
    paragraph[..end].to_owned()
}
