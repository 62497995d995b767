//! A value of the file with its place in the value that is bound.
//!
//! One file: every kind of value is read here, and each says the same of what is not one.

use super::Context;
use super::access::{Entries, Fields, Items, Pairs};
use super::error::{BindError, Bound, Subject};
use super::variant::{Variant, one_of};
use crate::code;
use crate::diagnostic::{Diagnostic, Span};
use crate::expression::Expression;
use crate::quantity::check_unit;
use crate::unit::{Unit, parse_quantity};
use crate::value::{Arguments, Named, Node, NodeKind, Number, Text};

/// The choice that is spelt like RON's word for nothing.
const NONE: &str = "None";

/// Where a value is: the way to it from the value that is bound, by positions.
#[derive(Clone, Copy)]
pub(super) struct Position<'a> {
    parent: Option<&'a Position<'a>>,
    index: usize,
}

impl Position<'_> {
    /// The value that is bound.
    pub(super) const ROOT: Self = Self { parent: None, index: 0 };

    fn path(&self) -> Vec<u32> {
        let mut path = Vec::new();
        let mut at = self;
        while let Some(parent) = at.parent {
            path.push(u32::try_from(at.index).unwrap_or(u32::MAX));
            at = parent;
        }
        path.reverse();
        path
    }
}

/// A value of the file.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    node: &'a Node,
    context: &'a Context<'a>,
    position: &'a Position<'a>,
    /// Whether `node` is not in the file itself: what the text at `position` evaluated to, or a
    /// value inside that.
    computed: bool,
    /// Whether the name in front of the fields belongs to somebody else: the kind of a block, or a
    /// variant around a struct.
    foreign_name: bool,
    top: bool,
}

/// A whole number as serde knows them.
pub(super) enum Whole {
    Unsigned(u64),
    Signed(i64),
}

/// What a type that takes anything is shown.
pub(super) enum Any<'a> {
    Nothing,
    Bool(bool),
    Whole(i64),
    Real(f64),
    Text(&'a str),
    /// A number with its unit.
    Quantity(String),
    List(Items<'a>),
    Map(Pairs<'a>),
}

/// What an expression is read from.
pub(super) enum FormulaText<'a> {
    Literal(String),
    Placed(&'a Text),
}

impl<'a> Source<'a> {
    /// The value to bind.
    pub(super) fn new(
        node: &'a Node,
        context: &'a Context<'a>,
        position: &'a Position<'a>,
    ) -> Self {
        Self { node, context, position, computed: false, foreign_name: true, top: true }
    }

    /// The value `node` inside this one. Values inside a computed one share its position.
    pub(super) fn child<'b>(self, node: &'b Node, position: &'b Position<'b>) -> Source<'b>
    where
        'a: 'b,
    {
        let position = if self.computed { self.position } else { position };
        Source { node, position, foreign_name: false, top: false, ..self }
    }

    /// The position of the value at `index` inside this one.
    pub(super) fn position(&self, index: usize) -> Position<'a> {
        Position { parent: Some(self.position), index }
    }

    /// The same value for a type inside a variant, whose name comes before its fields.
    pub(super) fn inside_variant(self) -> Self {
        Self { foreign_name: true, ..self }
    }

    /// `list` in place of this value.
    pub(super) fn as_list<'b>(self, list: &'b Node) -> Source<'b>
    where
        'a: 'b,
    {
        Source { node: list, computed: true, foreign_name: false, top: false, ..self }
    }

    fn subject(&self) -> Subject {
        Subject { path: self.position.path(), missing: None }
    }

    fn missing(&self, field: &'static str) -> Subject {
        Subject { path: self.position.path(), missing: Some(field) }
    }

    /// Whether the mistake in this value is reported, so that it is to be replaced.
    pub(super) fn is_made_up(&self) -> bool {
        !self.computed && self.context.is_made_up(|| self.subject())
    }

    /// Whether that this field is missing is reported.
    pub(super) fn is_made_up_field(&self, field: &'static str) -> bool {
        self.context.is_made_up(|| self.missing(field))
    }

    pub(super) fn is_reserved(&self, field: &str) -> bool {
        self.top && self.context.reserved.contains(&field)
    }

    pub(super) fn span(&self) -> Span {
        self.node.span
    }

    pub(super) fn fail<T>(&self, diagnostic: Diagnostic) -> Bound<T> {
        Err(BindError::placed(diagnostic, self.subject()))
    }

    /// "expected …, found …" for the whole value.
    pub(super) fn wrong<T>(&self, expected: &str) -> Bound<T> {
        let found = self.node.describe();
        let message = format!("expected {expected}, found {found}");
        let diagnostic = Diagnostic::error(code::PARAMETER_TYPE, self.node.span, message);
        self.fail(match &self.node.kind {
            NodeKind::Named(Named { name: Some(name), arguments: Arguments::None })
                if expected.contains("text") =>
            {
                diagnostic.hint(format!("put texts in quotes: \"{}\"", name.text))
            }
            _ => diagnostic,
        })
    }

    /// Gives an error that was raised without place, or about a missing field, that of this value.
    pub(super) fn place(&self, error: BindError) -> BindError {
        let error = match error.missing() {
            Some(field) => self.lacks(field),
            None => error,
        };
        let error = error.at(self.node.span, || self.subject());
        match &self.node.kind {
            NodeKind::Text(text) if !self.computed => self.explain(text, error),
            _ => error,
        }
    }

    /// Adds to an error about a text what the names in it stand for.
    fn explain(&self, Text { value, place }: &Text, error: BindError) -> BindError {
        let scope = self.context.scope;
        if !value.starts_with('=') {
            let hint = format!("write \"={value}\" for what it stands for");
            return error.map(|found| match scope.lookup(value) {
                Some(_) if !found.hints.contains(&hint) => found.hint(hint),
                _ => found,
            });
        }
        let Ok(expression) = Expression::parse_from(value, 1, place) else { return error };
        let name = expression.only_name();
        match name.and_then(|name| scope.set_elsewhere(name)) {
            // What is wrong is what was put there from outside.
            Some(span) => error.map(|mut found| {
                if found.primary.span == span {
                    return found;
                }
                let used = std::mem::replace(&mut found.primary.span, span);
                found.also(used, "used here")
            }),
            None => error,
        }
    }

    /// The same for the name of a field.
    pub(super) fn place_name(&self, name: Span, error: BindError) -> BindError {
        error.at(name, || self.subject())
    }

    /// That a field is missing, at the name in front of the fields.
    fn lacks(&self, field: &'static str) -> BindError {
        let (message, span) = match self.node.kind_name() {
            Some(kind) => (format!("`{}` needs the parameter `{field}`", kind.text), kind.span),
            None => (format!("the parameter `{field}` is missing"), self.node.span),
        };
        let found = Diagnostic::error(code::MISSING_PARAMETER, span, message);
        let subject = if self.computed { self.subject() } else { self.missing(field) };
        BindError::placed(found.hint(format!("add `{field}: …`")), subject)
    }

    /// This value, or what it evaluates to, which is then kept in `store`.
    pub(super) fn evaluated<'b>(self, store: &'b mut Option<Node>) -> Bound<Source<'b>>
    where
        'a: 'b,
    {
        let NodeKind::Text(Text { value: text, place }) = &self.node.kind else { return Ok(self) };
        if !text.starts_with('=') || self.computed {
            return Ok(self);
        }
        let value = Expression::parse_from(text, 1, place)
            .and_then(|expression| expression.eval(self.context.scope))
            .map_err(|found| BindError::placed(found, self.subject()))?;
        let node = store.insert(value.to_node(self.node.span));
        Ok(Source { node, computed: true, ..self })
    }

    pub(super) fn is_nothing(&self) -> bool {
        matches!(self.node.kind, NodeKind::Unit)
    }

    pub(super) fn nothing(&self) -> Bound<()> {
        match &self.node.kind {
            NodeKind::Unit => Ok(()),
            _ => self.wrong("`()`"),
        }
    }

    /// `Kind`, `Kind()` or `()` for a struct without parameters.
    pub(super) fn empty_struct(&self) -> Bound<()> {
        match &self.node.kind {
            NodeKind::Unit
            | NodeKind::Named(Named {
                arguments: Arguments::None | Arguments::Fields(_), ..
            }) => {
                self.check_unknown(&[]);
                Ok(())
            }
            _ => self.wrong("no parameters"),
        }
    }

    pub(super) fn boolean(&self) -> Bound<bool> {
        match &self.node.kind {
            NodeKind::Bool(value) => Ok(*value),
            _ => self.wrong("true or false"),
        }
    }

    /// The number, if this is one without unit.
    fn number(&self, expected: &str) -> Bound<&'a Number> {
        match &self.node.kind {
            NodeKind::Number(number) => match number.unit {
                Some(unit) if !unit.agrees(Unit::ONE) => {
                    let message = format!("expected {expected} without unit, found one in {unit}");
                    self.fail(Diagnostic::error(code::UNIT_MISMATCH, self.node.span, message))
                }
                _ => Ok(number),
            },
            _ => self.wrong(expected),
        }
    }

    pub(super) fn real(&self) -> Bound<f64> {
        Ok(self.number("a number")?.value)
    }

    pub(super) fn whole(&self) -> Bound<Whole> {
        let Some(integer) = self.number("a whole number")?.integer() else {
            return self.wrong("a whole number");
        };
        match (u64::try_from(integer), i64::try_from(integer)) {
            (Ok(integer), _) => Ok(Whole::Unsigned(integer)),
            (_, Ok(integer)) => Ok(Whole::Signed(integer)),
            _ => self.wrong("a whole number of 64 bits"),
        }
    }

    pub(super) fn text(&self) -> Bound<&'a str> {
        match &self.node.kind {
            NodeKind::Text(text) => Ok(&text.value),
            _ => self.wrong("a text"),
        }
    }

    pub(super) fn list(&self) -> Bound<Items<'a>> {
        match &self.node.kind {
            NodeKind::List(items) => Ok(Items::new(*self, items)),
            NodeKind::Unit => Ok(Items::new(*self, &[])),
            _ => self.wrong("a list"),
        }
    }

    pub(super) fn tuple(&self, len: usize) -> Bound<Items<'a>> {
        match self.node.list() {
            Some(items) if items.len() != len => {
                let message = format!("expected {len} values, found {}", items.len());
                self.fail(Diagnostic::error(code::PARAMETER, self.node.span, message))
            }
            _ => self.list(),
        }
    }

    pub(super) fn map(&self) -> Bound<Pairs<'a>> {
        match &self.node.kind {
            NodeKind::Map(entries) => Ok(Pairs::Entries(Entries::new(*self, entries))),
            NodeKind::Unit => Ok(Pairs::Entries(Entries::new(*self, &[]))),
            NodeKind::Named(Named { arguments: Arguments::Fields(fields), name })
                if name.is_none() || self.foreign_name =>
            {
                Ok(Pairs::Fields(Fields::all(*self, fields)))
            }
            _ => self.wrong("a map"),
        }
    }

    pub(super) fn any(&self) -> Bound<Any<'a>> {
        Ok(match &self.node.kind {
            NodeKind::Unit => Any::Nothing,
            NodeKind::Bool(value) => Any::Bool(*value),
            NodeKind::Number(Number { value, unit: Some(unit), .. }) => {
                Any::Quantity(format!("{value:?} {unit}"))
            }
            NodeKind::Number(number) => {
                let written_whole = !number.text.contains(['.', 'e', 'E', 'n', 'N']);
                match number.integer().and_then(|integer| i64::try_from(integer).ok()) {
                    Some(integer) if written_whole && !self.computed => Any::Whole(integer),
                    _ => Any::Real(number.value),
                }
            }
            NodeKind::Text(text) => Any::Text(&text.value),
            NodeKind::List(_) => Any::List(self.list()?),
            NodeKind::Map(_) => Any::Map(self.map()?),
            NodeKind::Named(Named { arguments: Arguments::Fields(fields), .. }) => {
                Any::Map(Pairs::Fields(Fields::all(*self, fields)))
            }
            NodeKind::Named(Named { name, arguments: Arguments::None }) => {
                Any::Text(name.as_ref().map_or("", |name| &name.text))
            }
            NodeKind::Named(Named { arguments: Arguments::Positional(items), .. }) => {
                Any::List(Items::new(*self, items))
            }
        })
    }

    /// The fields `known` of a struct `name`; others are reported.
    pub(super) fn structure(
        &self,
        name: &str,
        known: &'static [&'static str],
    ) -> Bound<Fields<'a>> {
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
                let found = Diagnostic::error(code::PARAMETER_TYPE, span, message);
                let example = known.first().unwrap_or(&"name");
                return self.fail(found.hint(format!("write `{example}: …`")));
            }
            NodeKind::Map(_) => {
                let message = "expected `(name: value)`, found a map";
                let found = Diagnostic::error(code::PARAMETER_TYPE, self.node.span, message);
                return self.fail(found.hint("fixed fields stand in `( )` without quotes"));
            }
            _ => return self.wrong(&format!("`({}: …)`", known.first().unwrap_or(&""))),
        };
        if let Some(given) = given
            && !self.foreign_name
            && given.text != name
        {
            let message = format!("expected `{name}(…)` or `(…)`, found `{}`", given.text);
            return self.fail(Diagnostic::error(code::PARAMETER_TYPE, given.span, message));
        }
        Ok(self.known_fields(known))
    }

    /// The fields `known`; others are reported.
    pub(super) fn known_fields(&self, known: &'static [&'static str]) -> Fields<'a> {
        self.check_unknown(known);
        Fields::known(*self, self.node.fields(), known)
    }

    /// Reports every field that the struct does not have.
    fn check_unknown(&self, known: &'static [&'static str]) {
        for field in self.node.fields() {
            let name = field.name.text.as_str();
            if known.contains(&name) || self.is_reserved(name) {
                continue;
            }
            let message = match self.node.kind_name() {
                Some(kind) => format!("`{}` has no parameter `{name}`", kind.text),
                None => format!("unknown parameter `{name}`"),
            };
            let absent = |known: &&&'static str| self.node.field(known).is_none();
            let near = crate::nearest(name, known.iter().filter(absent).copied());
            let mut found = Diagnostic::error(code::UNKNOWN_PARAMETER, field.name.span, message);
            if let Some(near) = near {
                found = found.hint(format!("did you mean `{near}`?"));
                // The slip of the pen is reported; that its target is missing is no news.
                if let Some(known) = known.iter().find(|known| **known == near) {
                    self.context.made_up.borrow_mut().insert(self.missing(known));
                }
            }
            self.context.report(if known.is_empty() {
                found.hint("it has no parameters")
            } else {
                found.hint(format!("parameters: {}", known.join(", ")))
            });
        }
    }

    /// The variant of an enum, if it is one of `variants`.
    pub(super) fn variant(&self, variants: &'static [&'static str]) -> Bound<Variant<'a>> {
        let (name, span, arguments): (&str, Span, &Arguments) = match &self.node.kind {
            NodeKind::Named(Named { name: Some(name), arguments }) => {
                (&name.text, name.span, arguments)
            }
            NodeKind::Text(text) => (&text.value, self.node.span, &Arguments::None),
            // RON reads the word as nothing; here it is one of the choices.
            NodeKind::Unit if variants.contains(&NONE) => (NONE, self.node.span, &Arguments::None),
            _ => return self.wrong(&one_of(variants)),
        };
        if variants.contains(&name) {
            return Ok(Variant::File { source: *self, name, arguments });
        }
        let message = format!("expected {}, found `{name}`", one_of(variants));
        let found = Diagnostic::error(code::UNKNOWN_CHOICE, span, message);
        self.fail(found.suggest(name, variants.iter().copied()))
    }

    /// The value inside `Metres(5)`, for a newtype `Metres`.
    pub(super) fn inside_newtype(&self, name: &str) -> Option<&'a Node> {
        match &self.node.kind {
            NodeKind::Named(Named {
                name: Some(given),
                arguments: Arguments::Positional(items),
            }) if given.text == name && items.len() == 1 => items.first(),
            _ => None,
        }
    }

    /// A quantity in the unit `wanted`: a number, a text with a unit or an evaluated expression.
    pub(super) fn quantity(&self, wanted: &str) -> Bound<f64> {
        let (value, unit, span) = match &self.node.kind {
            NodeKind::Number(number) => (number.value, number.unit, self.node.span),
            NodeKind::Text(Text { value: text, place }) => {
                let (value, unit) = parse_quantity(text).map_err(|error| {
                    let span = if error.range.is_empty() && error.range.end == 0 {
                        self.node.span
                    } else {
                        place.part(error.range.start, error.range.end)
                    };
                    let found = Diagnostic::error(code::QUANTITY, span, error.message);
                    let found = error.hint.into_iter().fold(found, Diagnostic::hint);
                    BindError::placed(found, self.subject())
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
            let found = Diagnostic::error(code::UNIT_MISMATCH, span, message);
            let found = hint.into_iter().fold(found, Diagnostic::hint);
            BindError::placed(found, self.subject())
        })?;
        Ok(value)
    }

    /// The text of an expression with its place.
    pub(super) fn formula(&self) -> Bound<FormulaText<'a>> {
        match &self.node.kind {
            NodeKind::Text(text) => Ok(FormulaText::Placed(text)),
            NodeKind::Number(number) => Ok(FormulaText::Literal(number.text.clone())),
            NodeKind::Bool(value) => Ok(FormulaText::Literal(value.to_string())),
            _ => self.wrong("an expression in a text"),
        }
    }
}
