//! The deserializer of one value.

use serde::de::{DeserializeSeed, IntoDeserializer, SeqAccess, Visitor};

use super::Context;
use super::dream::Dream;
use super::error::{BindError, Bound, Culprit};
use super::sequence::{Entries, Fields, Items};
use crate::diagnostic::Diagnostic;
use crate::expression::Expression;
use crate::quantity::check_unit;
use crate::unit::{Unit, parse_quantity};
use crate::value::{Arguments, Named, Node, NodeKind, Number, Place, Text};

/// Reads one value.
pub(super) struct Reader<'a> {
    pub(super) node: &'a Node,
    pub(super) context: &'a Context<'a>,
    /// The text in the file that evaluated to this value, if it is not in the file itself.
    pub(super) anchor: Option<Culprit>,
    /// Whether the name in front of the fields belongs to somebody else: the kind of a block, or a
    /// variant around a struct.
    pub(super) foreign_name: bool,
    top: bool,
}

impl<'a> Reader<'a> {
    /// A reader of the value to bind.
    pub(super) fn new(node: &'a Node, context: &'a Context<'a>) -> Self {
        Self { node, context, anchor: None, foreign_name: true, top: true }
    }

    /// A reader of a value inside this one.
    pub(super) fn child<'b>(&'b self, node: &'b Node) -> Reader<'b> {
        Reader {
            node,
            context: self.context,
            anchor: self.anchor.clone(),
            foreign_name: false,
            top: false,
        }
    }

    /// What mistakes of this value are about.
    pub(super) fn culprit(&self) -> Culprit {
        self.anchor.clone().unwrap_or_else(|| Culprit::value(self.node))
    }

    pub(super) fn fail<T>(&self, diagnostic: Diagnostic) -> Bound<T> {
        Err(BindError::placed(diagnostic, Some(self.culprit())))
    }

    /// "expected …, found …" for the whole value.
    pub(super) fn wrong<T>(&self, expected: &str) -> Bound<T> {
        let found = self.node.describe();
        let message = format!("expected {expected}, found {found}");
        let diagnostic = Diagnostic::error("parameter-type", self.node.span, message);
        self.fail(match &self.node.kind {
            NodeKind::Named(Named { name: Some(name), arguments: Arguments::None })
                if expected.contains("text") =>
            {
                diagnostic.hint(format!("put texts in quotes: \"{}\"", name.text))
            }
            _ => diagnostic,
        })
    }

    /// A made-up value, if the mistake in this one is reported.
    pub(super) fn dream(&self) -> Option<Dream> {
        let seen = self.anchor.is_none() && self.context.is_dream(&self.culprit());
        seen.then(Dream::new)
    }

    /// A reader of the same value, for a type inside the type that asked.
    pub(super) fn again(&self) -> Reader<'_> {
        Reader { anchor: self.anchor.clone(), ..*self }
    }

    /// Runs `read` on this value, or on what it evaluates to; places errors.
    pub(super) fn run<T>(self, read: impl FnOnce(&Reader<'_>) -> Bound<T>) -> Bound<T> {
        let (span, culprit) = (self.node.span, self.culprit());
        let result = match self.evaluated() {
            Err(error) => Err(error),
            Ok(None) => read(&self),
            Ok(Some(node)) => read(&Reader { node: &node, anchor: Some(culprit.clone()), ..self }),
        };
        result.map_err(|error| error.at(span, Some(culprit)))
    }

    /// Runs `read` on this value as it is written; places errors.
    pub(super) fn run_literal<T>(self, read: impl FnOnce(&Reader<'_>) -> Bound<T>) -> Bound<T> {
        read(&self).map_err(|error| error.at(self.node.span, Some(self.culprit())))
    }

    /// The value of a text that starts with `=`.
    fn evaluated(&self) -> Bound<Option<Node>> {
        let NodeKind::Text(Text { value: text, place }) = &self.node.kind else { return Ok(None) };
        if !text.starts_with('=') || self.anchor.is_some() {
            return Ok(None);
        }
        let value = Expression::parse_from(text, 1, place)
            .and_then(|expression| expression.eval(self.context.scope))
            .map_err(|found| BindError::placed(found, Some(self.culprit())))?;
        Ok(Some(value.to_node(self.node.span)))
    }

    /// The number, if this is one without unit.
    pub(super) fn number(&self, expected: &str) -> Bound<&Number> {
        match &self.node.kind {
            NodeKind::Number(number) => match number.unit {
                Some(unit) if !unit.agrees(Unit::ONE) => {
                    let message = format!("expected {expected} without unit, found one in {unit}");
                    self.fail(Diagnostic::error("unit-mismatch", self.node.span, message))
                }
                _ => Ok(number),
            },
            _ => self.wrong(expected),
        }
    }

    pub(super) fn real<'de, V: Visitor<'de>>(&self, visitor: V) -> Bound<V::Value> {
        visitor.visit_f64(self.number("a number")?.value)
    }

    pub(super) fn whole<'de, V: Visitor<'de>>(&self, visitor: V) -> Bound<V::Value> {
        let Some(integer) = self.number("a whole number")?.integer() else {
            return self.wrong("a whole number");
        };
        match (u64::try_from(integer), i64::try_from(integer)) {
            (Ok(integer), _) => visitor.visit_u64(integer),
            (_, Ok(integer)) => visitor.visit_i64(integer),
            _ => self.wrong("a whole number of 64 bits"),
        }
    }

    pub(super) fn text<'de, V: Visitor<'de>>(&self, visitor: V) -> Bound<V::Value> {
        match &self.node.kind {
            NodeKind::Text(text) => visitor.visit_str(&text.value),
            _ => self.wrong("a text"),
        }
    }

    pub(super) fn list<'de, V: Visitor<'de>>(&self, visitor: V) -> Bound<V::Value> {
        match &self.node.kind {
            NodeKind::List(items) => visitor.visit_seq(Items::new(self, items)),
            NodeKind::Unit => visitor.visit_seq(Items::new(self, &[])),
            _ => self.wrong("a list"),
        }
    }

    pub(super) fn entries<'de, V: Visitor<'de>>(&self, visitor: V) -> Bound<V::Value> {
        match &self.node.kind {
            NodeKind::Map(entries) => visitor.visit_map(Entries::new(self, entries)),
            NodeKind::Unit => visitor.visit_map(Entries::new(self, &[])),
            NodeKind::Named(Named { arguments: Arguments::Fields(_), name })
                if name.is_none() || self.foreign_name =>
            {
                visitor.visit_map(Fields::all(self))
            }
            _ => self.wrong("a map"),
        }
    }

    pub(super) fn any<'de, V: Visitor<'de>>(&self, visitor: V) -> Bound<V::Value> {
        match &self.node.kind {
            NodeKind::Unit => visitor.visit_unit(),
            NodeKind::Bool(value) => visitor.visit_bool(*value),
            NodeKind::Number(Number { value, unit: Some(unit), .. }) => {
                visitor.visit_str(&format!("{value:?} {unit}"))
            }
            NodeKind::Number(number) => {
                let written_whole = !number.text.contains(['.', 'e', 'E', 'n', 'N']);
                match number.integer().and_then(|integer| i64::try_from(integer).ok()) {
                    Some(integer) if written_whole && self.anchor.is_none() => {
                        visitor.visit_i64(integer)
                    }
                    _ => visitor.visit_f64(number.value),
                }
            }
            NodeKind::Text(text) => visitor.visit_str(&text.value),
            NodeKind::List(_) => self.list(visitor),
            NodeKind::Map(_) => self.entries(visitor),
            NodeKind::Named(Named { arguments: Arguments::Fields(_), .. }) => {
                visitor.visit_map(Fields::all(self))
            }
            NodeKind::Named(Named { name, arguments: Arguments::None }) => {
                visitor.visit_str(name.as_ref().map_or("", |name| &name.text))
            }
            NodeKind::Named(Named { arguments: Arguments::Positional(items), .. }) => {
                visitor.visit_seq(Items::new(self, items))
            }
        }
    }

    pub(super) fn structure<'de, V: Visitor<'de>>(
        &self,
        name: &str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Bound<V::Value> {
        let given = match &self.node.kind {
            NodeKind::Unit => None,
            NodeKind::Named(Named { arguments: Arguments::None, name: Some(_) })
                if self.foreign_name =>
            {
                None
            }
            NodeKind::Named(Named { arguments: Arguments::Fields(_), name: given }) => {
                given.as_ref()
            }
            NodeKind::Named(Named { arguments: Arguments::Positional(items), .. }) => {
                let message = "expected parameters with names, found a value without";
                let span = items.first().map_or(self.node.span, |item| item.span);
                let found = Diagnostic::error("parameter-type", span, message);
                let example = fields.first().unwrap_or(&"name");
                return self.fail(found.hint(format!("write `{example}: …`")));
            }
            NodeKind::Map(_) => {
                let message = "expected `(name: value)`, found a map";
                let found = Diagnostic::error("parameter-type", self.node.span, message);
                return self.fail(found.hint("fixed fields stand in `( )` without quotes"));
            }
            _ => return self.wrong(&format!("`({}: …)`", fields.first().unwrap_or(&""))),
        };
        if let Some(given) = given
            && !self.foreign_name
            && given.text != name
        {
            let message = format!("expected `{name}(…)` or `(…)`, found `{}`", given.text);
            return self.fail(Diagnostic::error("parameter-type", given.span, message));
        }
        self.check_unknown(fields);
        visitor.visit_map(Fields::of(self, fields)).map_err(|error| self.place_missing(error))
    }

    /// Reports every field that the struct does not have.
    pub(super) fn check_unknown(&self, fields: &'static [&'static str]) {
        for field in self.node.fields() {
            let name = field.name.text.as_str();
            if fields.contains(&name) || self.is_reserved(name) {
                continue;
            }
            let owner =
                self.node.kind_name().map_or(String::new(), |kind| format!("`{}` has ", kind.text));
            let message = if owner.is_empty() {
                format!("unknown parameter `{name}`")
            } else {
                format!("{owner}no parameter `{name}`")
            };
            let absent = |known: &&&'static str| self.node.field(known).is_none();
            let near = crate::nearest(name, fields.iter().filter(absent).copied());
            let mut found = Diagnostic::error("unknown-parameter", field.name.span, message);
            if let Some(near) = near {
                found = found.hint(format!("did you mean `{near}`?"));
                // The slip of the pen is reported; that its target is missing is no news.
                if let Some(known) = fields.iter().find(|known| **known == near) {
                    let culprit = Culprit::missing(self.node, known);
                    self.context.dreams.borrow_mut().insert(culprit);
                }
            }
            self.context.report(if fields.is_empty() {
                found.hint("it has no parameters")
            } else {
                found.hint(format!("parameters: {}", fields.join(", ")))
            });
        }
    }

    /// Places the error that a field is missing at the name in front of the fields.
    pub(super) fn place_missing(&self, error: BindError) -> BindError {
        let Some(field) = error.missing() else { return error };
        let (message, span) = match self.node.kind_name() {
            Some(kind) => (format!("`{}` needs the parameter `{field}`", kind.text), kind.span),
            None => (format!("the parameter `{field}` is missing"), self.node.span),
        };
        let found = Diagnostic::error("missing-parameter", span, message);
        let culprit = self.anchor.clone().unwrap_or_else(|| Culprit::missing(self.node, field));
        BindError::placed(found.hint(format!("add `{field}: …`")), Some(culprit))
    }

    pub(super) fn is_reserved(&self, field: &str) -> bool {
        self.top && self.context.reserved.contains(&field)
    }

    /// A quantity in the unit `wanted`: a number, a text with a unit or an evaluated expression.
    pub(super) fn quantity<'de, V: Visitor<'de>>(
        &self,
        wanted: &str,
        visitor: V,
    ) -> Bound<V::Value> {
        let (value, unit, span) = match &self.node.kind {
            NodeKind::Number(number) => (number.value, number.unit, self.node.span),
            NodeKind::Text(Text { value: text, place }) => {
                let (value, unit) = parse_quantity(text).map_err(|error| {
                    let span = if error.range.is_empty() && error.range.end == 0 {
                        self.node.span
                    } else {
                        place.part(error.range.start, error.range.end)
                    };
                    let found = Diagnostic::error("quantity", span, error.message);
                    let found = error.hint.into_iter().fold(found, Diagnostic::hint);
                    BindError::placed(found, Some(self.culprit()))
                })?;
                (value, unit, place.span)
            }
            _ => {
                return self.wrong(&match wanted {
                    "1" => "a number".to_owned(),
                    _ => format!("a quantity in {wanted}, such as \"1 {wanted}\""),
                });
            }
        };
        check_unit(wanted, unit).map_err(|(message, hint)| {
            let found = Diagnostic::error("unit-mismatch", span, message);
            let found = hint.into_iter().fold(found, Diagnostic::hint);
            BindError::placed(found, Some(self.culprit()))
        })?;
        visitor.visit_f64(value)
    }

    /// The text of an expression with its place.
    pub(super) fn formula<'de, V: Visitor<'de>>(&self, visitor: V) -> Bound<V::Value> {
        match &self.node.kind {
            NodeKind::Text(Text { value, place }) => {
                visitor.visit_seq(FormulaParts { text: Some(value), place: Some(place) })
            }
            NodeKind::Number(number) => visitor.visit_str(&number.text),
            NodeKind::Bool(value) => visitor.visit_str(&value.to_string()),
            _ => self.wrong("an expression in a text"),
        }
    }
}

/// Hands a text and its place to the visitor of a formula.
struct FormulaParts<'a> {
    text: Option<&'a str>,
    place: Option<&'a Place>,
}

impl<'de> SeqAccess<'de> for FormulaParts<'_> {
    type Error = BindError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Bound<Option<T::Value>> {
        if let Some(text) = self.text.take() {
            return seed.deserialize(text.into_deserializer()).map(Some);
        }
        let Some(place) = self.place.take() else { return Ok(None) };
        seed.deserialize(place.to_words().into_deserializer()).map(Some)
    }
}
