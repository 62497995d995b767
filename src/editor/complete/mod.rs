//! What can be written at a place.

mod expressions;
mod texts;

use std::ops::Range;

use legwork_study::manual::Section;
use legwork_study::{Diagram, Survey};

use crate::document::{Document, Spot};
use crate::grammar::{Expect, Field, Inside, plain};
use crate::schema;
use crate::service::{Asked, Service};
use crate::signals::Port;
use crate::tree::Item;

pub(crate) use self::expressions::{fact, names, short};

/// Something that can be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// As a list shows it.
    pub label: String,
    /// What it is.
    pub kind: CompletionKind,
    /// Its type, unit and default in a few words.
    pub detail: String,
    /// What it means, as Markdown.
    pub doc: String,
    /// What is put in place of `range`; `$1` and so on are stops, `$0` is the
    /// end, a backslash goes before what is none.
    pub insert: String,
    /// The bytes that it takes the place of.
    pub range: Range<usize>,
}

impl Completion {
    /// What is put in, without stops.
    pub fn plain(&self) -> String {
        let mut text = String::new();
        let mut rest = self.insert.chars().peekable();
        while let Some(c) = rest.next() {
            match c {
                '\\' => text.extend(rest.next()),
                '$' => while rest.next_if(char::is_ascii_digit).is_some() {},
                c => text.push(c),
            }
        }
        text
    }
}

/// What a completion is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompletionKind {
    /// A field of a construct: a section of a diagram, a parameter.
    Field,
    /// A kind of block or robot.
    Block,
    /// A construct of the language.
    Construct,
    /// A word that a parameter may be.
    Choice,
    /// A signal, or a part of one.
    Signal,
    /// An input of a block.
    Port,
    /// A name that an expression knows.
    Name,
    /// A function of expressions.
    Function,
    /// A unit.
    Unit,
    /// A type of signals.
    Type,
    /// A file.
    File,
}

impl CompletionKind {
    /// Its name, in lower case.
    pub fn word(self) -> &'static str {
        match self {
            Self::Field => "property",
            Self::Block => "class",
            Self::Construct => "keyword",
            Self::Choice => "enum",
            Self::Signal | Self::Name => "variable",
            Self::Port => "interface",
            Self::Function => "function",
            Self::Unit => "constant",
            Self::Type => "type",
            Self::File => "text",
        }
    }
}

impl Service {
    /// What can be written at byte `offset`, the likeliest first. `survey` is what is known of the
    /// diagram, of this text or of one before.
    pub fn complete(
        &self,
        document: &Document,
        offset: usize,
        diagram: &Diagram,
        survey: Option<&Survey>,
    ) -> Vec<Completion> {
        let Some(asked) = Asked::new(&self.words, document, offset, diagram, survey) else {
            return Vec::new();
        };
        let mut list = List { asked: &asked, found: Vec::new() };
        list.fill();
        list.found
    }
}

struct List<'a> {
    asked: &'a Asked<'a>,
    found: Vec<Completion>,
}

/// `"a"` with its quotes unless it stands in some already.
fn quoted(name: &str, is_quoted: bool) -> String {
    if is_quoted { escaped(name) } else { format!("\"{}\"", escaped(name)) }
}

/// A text in which nothing is a stop.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('$', "\\$").replace('}', "\\}")
}

impl List<'_> {
    fn add(
        &mut self,
        (label, detail, doc): (&str, &str, &str),
        kind: CompletionKind,
        insert: String,
        range: &Range<usize>,
    ) {
        if self.found.iter().all(|known| known.label != label) {
            let (label, detail, doc) = (label.to_owned(), detail.to_owned(), doc.to_owned());
            self.found.push(Completion { label, kind, detail, doc, insert, range: range.clone() });
        }
    }

    fn fill(&mut self) {
        match &self.asked.spot {
            Spot::Key(item) => {
                let Some(key) = &item.key else { return };
                let is_quoted = self.asked.text()[key.range.clone()].starts_with('"');
                let range = match is_quoted {
                    true => key.range.start + 1..key.range.end.saturating_sub(1),
                    false => key.range.clone(),
                };
                // In front of its quotes or behind them nothing is written.
                if (range.start..=range.end).contains(&self.asked.offset) {
                    self.names(&range, is_quoted, true);
                }
            }
            Spot::Name { range, is_quoted } => self.names(range, *is_quoted, false),
            Spot::Text { inner, expect } => self.in_text(expect, inner),
            Spot::Word { range, expect, .. } => self.words(expect, range),
            Spot::Nothing => {}
        }
    }

    /// Names in front of colons; `has_colon` of one that is there.
    fn names(&mut self, range: &Range<usize>, is_quoted: bool, has_colon: bool) {
        let colon = if has_colon || is_quoted { "" } else { ": " };
        let items = self.asked.around.items.last().map_or(&[][..], |(item, _)| item.items());
        let own = |item: &Item| range.start >= item.start && range.start <= item.end;
        let is_used = |name: &str| items.iter().any(|item| item.name() == Some(name) && !own(item));
        match &self.asked.around.inside {
            Inside::Fields(_, fields) => {
                let mut open: Vec<&Field> =
                    fields.iter().filter(|field| !is_used(&field.name)).collect();
                open.sort_by_key(|field| !field.required);
                for Field { name, head, doc, expect, .. } in open {
                    let value = if colon.is_empty() { "" } else { opening(expect) };
                    let insert = format!("{name}{colon}{value}");
                    self.add((name, head, doc), CompletionKind::Field, insert, range);
                }
            }
            Inside::Wires => {
                for port in self.inputs() {
                    if is_used(&port.name) {
                        continue;
                    }
                    let colon = if has_colon { "" } else { ": \"$1\"" };
                    let insert = match is_quoted {
                        true => escaped(&port.name),
                        false => format!("\"{}\"{colon}", escaped(&port.name)),
                    };
                    let told = (port.name.as_str(), &*port.head(), port.doc.as_str());
                    self.add(told, CompletionKind::Port, insert, range);
                }
            }
            Inside::Listed(_) | Inside::Names(_) | Inside::Nothing => {}
        }
    }

    /// The inputs of the block whose `in:` is around.
    fn inputs(&self) -> Vec<Port> {
        let scope = self.asked.scope();
        let items = &self.asked.around.items;
        let Some((block, _)) = items.iter().rev().nth(1) else { return Vec::new() };
        match block.name() {
            Some(name) if !scope.inputs_of(name).is_empty() => scope.inputs_of(name),
            _ => scope.inputs_of_item(block),
        }
    }

    /// Bare words.
    fn words(&mut self, expect: &Expect, range: &Range<usize>) {
        let words = self.asked.words;
        match expect {
            Expect::File => {
                for manual in words.files() {
                    let doc = plain(manual.doc);
                    self.add(
                        (manual.name, "a file", &doc),
                        CompletionKind::Construct,
                        format!("{}(\n    $0\n)", manual.name),
                        range,
                    );
                }
            }
            Expect::Block => self.blocks(range),
            Expect::Judged => {
                self.blocks(range);
                self.constructs(&["Metric"], range);
            }
            Expect::Robot | Expect::Ground => {
                for manual in words.kinds(Section::Robots) {
                    let told = (manual.kind, manual.summary.as_str(), manual.doc.as_str());
                    let insert = format!("{}($0)", manual.kind);
                    self.add(told, CompletionKind::Block, insert, range);
                }
                self.constructs(&["Robot"], range);
            }
            Expect::Param => self.constructs(&["Param"], range),
            Expect::Variant => self.constructs(&["Variant"], range),
            Expect::Check => self.listed(legwork_diagram::check_kinds(), "that: \"=$0\"", range),
            Expect::MaskParameter => self.listed(legwork_diagram::parameter_kinds(), "$0", range),
            Expect::PortType | Expect::BusField => {
                let construct = if matches!(expect, Expect::PortType) { "Port" } else { "Field" };
                self.constructs(&[construct], range);
                self.types(range, false);
            }
            Expect::Collected => {
                for (word, doc) in [
                    ("Array", "one signal per copy"),
                    ("Join", "the elements of one array per copy"),
                    ("Stack", "matrices one below the other"),
                    ("Concat", "vectors one behind the other"),
                ] {
                    let insert = format!("{word}(\"$1\")");
                    self.add((word, "", doc), CompletionKind::Construct, insert, range);
                }
            }
            Expect::Signal => {
                self.paths("", range, false);
                for (word, insert, doc) in [
                    ("Join", "Join([\"$1\"])", "an array put together from signals"),
                    ("Bus", "Bus(\"$1\", { \"$2\": \"$3\" })", "a bus put together from signals"),
                ] {
                    self.add((word, "", doc), CompletionKind::Construct, insert.into(), range);
                }
            }
            Expect::Solver => {
                for solver in legwork_program::Solver::all() {
                    let told = (solver.name(), "", solver.doc());
                    self.add(told, CompletionKind::Choice, escaped(solver.name()), range);
                }
            }
            Expect::Schema(root, part) => {
                for choice in schema::choices(root, part) {
                    let more = if choice.takes { "($0)" } else { "" };
                    let insert = format!("{}{more}", choice.name);
                    let told = (choice.name.as_str(), "", choice.doc.as_str());
                    self.add(told, CompletionKind::Choice, insert, range);
                }
            }
            Expect::Hole
            | Expect::Choice
            | Expect::RobotName
            | Expect::Type
            | Expect::Unit
            | Expect::Path => self.named(expect, range, false),
            _ => {}
        }
    }

    /// Words with their meanings.
    fn listed(
        &mut self,
        words: impl Iterator<Item = legwork_diagram::Word>,
        inside: &str,
        range: &Range<usize>,
    ) {
        for word in words {
            let insert = format!("{}({inside})", word.name);
            self.add((word.name, "", word.doc), CompletionKind::Construct, insert, range);
        }
    }

    /// Kinds of blocks, and the constructs that hold blocks.
    fn blocks(&mut self, range: &Range<usize>) {
        let words = self.asked.words;
        for manual in words.kinds(Section::Blocks) {
            let required = manual.parameters.iter().filter(|parameter| parameter.required);
            let stops = required.enumerate();
            let stops: Vec<String> =
                stops.map(|(i, parameter)| format!("{}: ${}", parameter.name, i + 1)).collect();
            let ports = manual.ports.as_ref();
            let wires = ports.is_some_and(|ports| ports.inputs.iter().any(|one| !one.optional));
            let wires = match (wires, stops.is_empty()) {
                (true, true) => "in: { $0 }",
                (true, false) => ", in: { $0 }",
                (false, _) => "$0",
            };
            let insert = format!("{}({}{wires})", manual.kind, stops.join(", "));
            let told = (manual.kind, manual.summary.as_str(), manual.doc.as_str());
            self.add(told, CompletionKind::Block, insert, range);
        }
        for manual in legwork_diagram::parts() {
            let doc = plain(manual.doc);
            let insert = format!("{}($0)", manual.name);
            self.add((manual.name, "", &doc), CompletionKind::Construct, insert, range);
        }
    }

    fn constructs(&mut self, names: &[&str], range: &Range<usize>) {
        for name in names {
            let Some(manual) = self.asked.words.construct(name, false) else { continue };
            let doc = plain(manual.doc);
            let required = manual.fields.iter().filter(|field| field.required).enumerate();
            let required: Vec<String> =
                required.map(|(i, field)| format!("{}: ${}", field.name, i + 1)).collect();
            let insert = format!("{name}({}$0)", required.join(", "));
            self.add((name, "", &doc), CompletionKind::Construct, insert, range);
        }
    }
}

/// How the value of a field begins.
fn opening(expect: &Expect) -> &'static str {
    match expect {
        Expect::Run | Expect::Ports => "($0)",
        Expect::Each(_) | Expect::Wires => "{ $0 }",
        Expect::ListOf(_) => "[$0]",
        Expect::Prose
        | Expect::Unit
        | Expect::Type
        | Expect::Hole
        | Expect::Path
        | Expect::RobotName => "\"$0\"",
        Expect::Expression { .. } => "\"=$0\"",
        _ => "",
    }
}

pub(crate) fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
