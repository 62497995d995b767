//! Values of a diagram: the spanned tree that a file reads as ([`Node`]) and what expressions
//! evaluate to ([`Value`]).

use std::fmt;
use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::diagnostic::Span;
use crate::unit::Unit;

/// Where a piece of decoded text is in its file, byte for byte.
///
/// A string literal with escapes or raw delimiters is longer than its text. `Place` maps ranges of
/// the text back to the file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Place {
    /// The whole literal with its quotes.
    pub span: Span,
    /// Byte in the file of the text's first byte.
    start: u32,
    /// After this many bytes of text, the file is so many bytes further on than the text.
    jumps: Vec<(u32, u32)>,
}

impl Place {
    /// A literal at `span` whose text begins at byte `start` of the file. Each of `jumps` is a
    /// position in the text and the surplus of file bytes from there on, in rising order.
    pub fn new(span: Span, start: u32, jumps: Vec<(u32, u32)>) -> Self {
        Self { span, start, jumps }
    }

    /// The file's range of the text's bytes `start..end`.
    pub fn part(&self, start: usize, end: usize) -> Span {
        let (from, to) = (self.byte(start), self.byte(end));
        let end = to.max(from).min(self.span.end.max(self.start));
        Span { file: self.span.file, start: from.min(end), end }
    }

    /// File byte of text position `at`. A jump takes effect behind the character that was escaped.
    fn byte(&self, at: usize) -> u32 {
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        let extra = self.jumps.iter().take_while(|(from, _)| *from <= at).last();
        self.start.saturating_add(at).saturating_add(extra.map_or(0, |(_, extra)| *extra))
    }
}

impl From<Span> for Place {
    /// Text that is written at `span` as it is.
    fn from(span: Span) -> Self {
        Self { span, start: span.start, jumps: Vec::new() }
    }
}

/// A value in a file with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Where it is.
    pub span: Span,
    /// What it is.
    pub kind: NodeKind,
}

/// What a [`Node`] is.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
    /// `()` or `None`.
    Unit,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string or a character.
    Text(Text),
    /// `[a, b]`, or `(a, b)` without names.
    List(Vec<Node>),
    /// `{ key: value }` in file order; no key is given twice.
    Map(Vec<(Node, Node)>),
    /// `Kind(a: 1)`, `Kind("x")`, `Kind`, or `(a: 1)`.
    Named(Named),
}

/// A number and how it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Number {
    /// The nearest double.
    pub value: f64,
    /// The source text without `_`, so that integers and exact decimals lose nothing.
    pub text: String,
    /// Unit, if an expression gave one; `None` in a file, where numbers are bare.
    pub unit: Option<Unit>,
}

impl Number {
    /// The whole number that was written, `1_000`, `0xff` or `1e3` included; `None` if it is none.
    pub fn integer(&self) -> Option<i128> {
        let (sign, digits) = match self.text.strip_prefix(['+', '-']) {
            Some(rest) => (if self.text.starts_with('-') { -1 } else { 1 }, rest),
            None => (1, self.text.as_str()),
        };
        let written = [("0x", 16), ("0b", 2), ("0o", 8)]
            .into_iter()
            .find_map(|(prefix, radix)| Some((digits.strip_prefix(prefix)?, radix)))
            .unwrap_or((digits, 10));
        match i128::from_str_radix(written.0, written.1) {
            Ok(value) => Some(sign * value),
            // Beyond 2^53 a double is no longer a count.
            Err(_) => (self.value.fract() == 0.0 && self.value.abs() < 9_007_199_254_740_992.0)
                .then_some(self.value as i128),
        }
    }
}

/// A text and where its characters are.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    /// The text with escapes resolved.
    pub value: String,
    /// Where it is.
    pub place: Place,
}

/// A name and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where it is.
    pub span: Span,
}

/// `name: value`.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The name in front of the colon.
    pub name: Name,
    /// The value behind it.
    pub value: Node,
}

/// `Kind(…)` or `(a: 1)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Named {
    /// The kind; `None` for `(a: 1)`.
    pub name: Option<Name>,
    /// What is in the parentheses.
    pub arguments: Arguments,
}

/// What follows a kind's name.
#[derive(Debug, Clone, PartialEq)]
pub enum Arguments {
    /// Nothing, not even parentheses.
    None,
    /// Named fields in file order, no name twice; `Kind()` has none.
    Fields(Vec<Field>),
    /// Values without names, at least one.
    Positional(Vec<Node>),
}

impl Node {
    /// What kind of thing this is, with its article: `a number`, `text "abc"`, `a list`.
    pub fn describe(&self) -> String {
        match &self.kind {
            NodeKind::Unit => "nothing".to_owned(),
            NodeKind::Bool(value) => value.to_string(),
            NodeKind::Number(Number { text, unit: None, .. }) => format!("the number {text}"),
            NodeKind::Number(Number { value, unit: Some(unit), .. }) => format!("{value} {unit}"),
            NodeKind::Text(text) => format!("text \"{}\"", clip(&text.value)),
            NodeKind::List(items) => format!("a list of {}", items.len()),
            NodeKind::Map(_) => "a map".to_owned(),
            NodeKind::Named(Named { name: Some(name), .. }) => format!("`{}`", name.text),
            NodeKind::Named(_) => "a group of fields".to_owned(),
        }
    }

    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            NodeKind::Text(text) => Some(&text.value),
            _ => None,
        }
    }

    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match &self.kind {
            NodeKind::Number(number) => Some(number.value),
            _ => None,
        }
    }

    /// The items, if it is a list.
    pub fn list(&self) -> Option<&[Node]> {
        match &self.kind {
            NodeKind::List(items) => Some(items),
            NodeKind::Unit => Some(&[]),
            _ => None,
        }
    }

    /// The entries, if it is a map.
    pub fn map(&self) -> Option<&[(Node, Node)]> {
        match &self.kind {
            NodeKind::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// Name and arguments, if it is `Kind(…)` or `(a: 1)`.
    pub fn named(&self) -> Option<&Named> {
        match &self.kind {
            NodeKind::Named(named) => Some(named),
            _ => None,
        }
    }

    /// The kind's name, if it has one: `Gain` of `Gain(k: 1)`.
    pub fn kind_name(&self) -> Option<&Name> {
        self.named()?.name.as_ref()
    }

    /// The named fields; empty if it has none.
    pub fn fields(&self) -> &[Field] {
        match &self.kind {
            NodeKind::Named(Named { arguments: Arguments::Fields(fields), .. }) => fields,
            _ => &[],
        }
    }

    /// The value of the field `name`.
    pub fn field(&self, name: &str) -> Option<&Node> {
        self.fields().iter().find(|field| field.name.text == name).map(|field| &field.value)
    }

    /// The value under the text key `key`, if it is a map.
    pub fn entry(&self, key: &str) -> Option<&Node> {
        let entries = self.map()?;
        entries.iter().find(|(k, _)| k.text() == Some(key)).map(|(_, value)| value)
    }
}

/// The first 40 characters of a text, for messages.
pub(crate) fn clip(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// What an expression evaluates to.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number in SI base units.
    Real {
        /// The value.
        value: f64,
        /// Its unit; `None` for a bare number, which takes the unit of the place where it is used.
        unit: Option<Unit>,
    },
    /// A truth value.
    Bool(bool),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// Named facts, such as those of a robot: `n`, `feet`, `effort`, `keyframes.stand.s`.
    Record(Arc<IndexMap<String, Value>>),
    /// One of several kinds, with its arguments: `FeetAbove("5 cm")`.
    Choice(Arc<Choice>),
}

/// A kind with its arguments, as a value that is handed on.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Name of the kind.
    pub name: String,
    /// Its arguments.
    pub arguments: ChoiceArguments,
}

/// The arguments of a [`Choice`].
#[derive(Debug, Clone, PartialEq)]
pub enum ChoiceArguments {
    /// By position.
    Positional(Vec<Value>),
    /// By name.
    Fields(IndexMap<String, Value>),
}

impl Choice {
    fn to_node(&self, span: Span) -> NodeKind {
        let arguments = match &self.arguments {
            ChoiceArguments::Positional(items) => {
                Arguments::Positional(items.iter().map(|item| item.to_node(span)).collect())
            }
            ChoiceArguments::Fields(fields) => named_fields(fields, span),
        };
        NodeKind::Named(Named { name: Some(Name { text: self.name.clone(), span }), arguments })
    }
}

fn named_fields(fields: &IndexMap<String, Value>, span: Span) -> Arguments {
    let field = |(name, value): (&String, &Value)| Field {
        name: Name { text: name.clone(), span },
        value: value.to_node(span),
    };
    Arguments::Fields(fields.iter().map(field).collect())
}

impl Value {
    /// A record of `entries`, in their order.
    pub fn record<K: Into<String>>(entries: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Record(Arc::new(entries.into_iter().map(|(k, v)| (k.into(), v)).collect()))
    }

    /// How many values there are in the lists, itself included. Records are shared, not copied.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::List(items) => items.iter().fold(1, |sum, item| sum + item.size()),
            _ => 1,
        }
    }

    /// A number with a unit.
    pub fn quantity(value: f64, unit: Unit) -> Self {
        Self::Real { value, unit: Some(unit) }
    }

    /// What kind of thing this is, for messages.
    pub fn describe(&self) -> String {
        match self {
            Self::Real { value, unit: None } => format!("the number {value}"),
            Self::Real { value, unit: Some(unit) } => format!("{value} {unit}"),
            Self::Bool(value) => value.to_string(),
            Self::Text(text) => format!("text \"{}\"", clip(text)),
            Self::List(items) => format!("a list of {}", items.len()),
            Self::Record(_) => "a record".to_owned(),
            Self::Choice(choice) => format!("`{}(…)`", clip(&choice.name)),
        }
    }

    /// The value as a tree whose nodes are all at `span`.
    pub fn to_node(&self, span: Span) -> Node {
        let text =
            |text: &str| NodeKind::Text(Text { value: text.to_owned(), place: Place::from(span) });
        let kind = match self {
            Self::Real { value, unit } => {
                NodeKind::Number(Number { value: *value, text: value.to_string(), unit: *unit })
            }
            Self::Bool(value) => NodeKind::Bool(*value),
            Self::Text(value) => text(value),
            Self::List(items) => {
                NodeKind::List(items.iter().map(|item| item.to_node(span)).collect())
            }
            Self::Record(facts) => {
                NodeKind::Named(Named { name: None, arguments: named_fields(facts, span) })
            }
            Self::Choice(choice) => choice.to_node(span),
        };
        Node { span, kind }
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Real { value, unit: None }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl<V: Into<Self>> From<Vec<V>> for Value {
    fn from(items: Vec<V>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Real { value, unit: None } => write!(f, "{value}"),
            Self::Real { value, unit: Some(unit) } => write!(f, "{value} {unit}"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::List(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
            Self::Record(facts) => {
                f.write_str("{")?;
                for (i, (name, value)) in facts.iter().enumerate() {
                    write!(f, "{}{name}: {value}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str("}")
            }
            Self::Choice(choice) => {
                write!(f, "{}(", choice.name)?;
                match &choice.arguments {
                    ChoiceArguments::Positional(items) => {
                        for (i, item) in items.iter().enumerate() {
                            write!(f, "{}{item}", if i == 0 { "" } else { ", " })?;
                        }
                    }
                    ChoiceArguments::Fields(fields) => {
                        for (i, (name, value)) in fields.iter().enumerate() {
                            write!(f, "{}{name}: {value}", if i == 0 { "" } else { ", " })?;
                        }
                    }
                }
                f.write_str(")")
            }
        }
    }
}

/// Names that an expression may use.
pub trait Scope {
    /// The value of `name`, if it is known.
    fn lookup(&self, name: &str) -> Option<Value>;

    /// All names, for suggestions.
    fn names(&self) -> Vec<String>;

    /// Whether names are still listed for a wrong one at this place: not for very many of them.
    fn suggests(&self, _at: Span) -> bool {
        true
    }

    /// Whether `name`, which has no value, is there with mistakes of its own: they are reported
    /// where it is, and what follows from them is not reported again.
    fn is_reported(&self, _name: &str) -> bool {
        false
    }

    /// Counts `count` values that an expression makes; false if the diagram may not make so many,
    /// so that a short text cannot ask for more than the memory there is.
    fn spend(&self, _count: usize) -> bool {
        true
    }

    /// Where `name` got its value, if that is not in the diagram: on the command line or in a
    /// patch.
    fn set_elsewhere(&self, _name: &str) -> Option<Span> {
        None
    }
}

/// No names at all.
impl Scope for () {
    fn lookup(&self, _name: &str) -> Option<Value> {
        None
    }

    fn names(&self) -> Vec<String> {
        Vec::new()
    }
}

impl Scope for IndexMap<String, Value> {
    fn lookup(&self, name: &str) -> Option<Value> {
        self.get(name).cloned()
    }

    fn names(&self) -> Vec<String> {
        self.keys().cloned().collect()
    }
}
