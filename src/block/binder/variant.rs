//! Variants: `Kind`, `Kind(x)`, `Kind(a: 1)`, or a text for a bare one.

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, EnumAccess, IntoDeserializer, VariantAccess, Visitor};

use super::access::{Fields, Items};
use super::error::{BindError, Bound};
use super::made_up::MadeUp;
use super::reader::Reader;
use super::source::{Position, Source};
use crate::code;
use crate::diagnostic::Diagnostic;
use crate::value::{Arguments, Node, NodeKind};

/// A variant of an enum.
#[derive(Clone, Copy)]
pub(super) enum Variant<'a> {
    File { source: Source<'a>, name: &'a str, arguments: &'a Arguments },
    MadeUp { name: &'static str, inside: MadeUp },
}

impl<'a> Variant<'a> {
    /// The first of `variants`.
    pub(super) fn made_up(made_up: MadeUp, variants: &[&'static str]) -> Bound<Self> {
        let name = variants.first().ok_or_else(BindError::made_up)?;
        Ok(Self::MadeUp { name, inside: made_up.inner()? })
    }

    fn name(&self) -> &'a str {
        match self {
            Self::File { name, .. } => name,
            Self::MadeUp { name, .. } => name,
        }
    }

    fn place(&self, error: BindError) -> BindError {
        match self {
            Self::File { source, .. } => source.place(error),
            Self::MadeUp { .. } => BindError::made_up(),
        }
    }

    fn bare(&self) -> Bound<()> {
        let Self::File { source, name, arguments } = self else { return Ok(()) };
        match arguments {
            Arguments::None => Ok(()),
            Arguments::Fields(fields) if fields.is_empty() => Ok(()),
            _ => wrong(source, name, arguments, &format!("`{name}` without parameters")),
        }
    }

    fn items(&self, len: usize) -> Bound<Items<'a>> {
        match self {
            Self::File { source, arguments: Arguments::Positional(items), .. }
                if items.len() == len =>
            {
                Ok(Items::new(*source, items))
            }
            Self::File { source, name, arguments } => {
                wrong(source, name, arguments, &format!("`{name}(…)` with {len} values"))
            }
            Self::MadeUp { inside, .. } => Ok(Items::MadeUp { item: *inside, left: len }),
        }
    }

    fn fields(&self, known: &'static [&'static str]) -> Bound<Fields<'a>> {
        match self {
            Self::File { source, name, arguments: arguments @ Arguments::Positional(_) } => {
                let expected = format!("`{name}({}: …)`", known.first().unwrap_or(&""));
                wrong(source, name, arguments, &expected)
            }
            Self::File { source, .. } => Ok(source.known_fields(known)),
            Self::MadeUp { inside, .. } => Ok(Fields::made_up(inside.inner()?, known)),
        }
    }

    /// Several values without names, as a list.
    fn list(&self) -> Option<Node> {
        match self {
            Self::File { source, arguments: Arguments::Positional(items), .. }
                if items.len() != 1 =>
            {
                Some(Node { span: source.span(), kind: NodeKind::List(items.clone()) })
            }
            _ => None,
        }
    }

    /// The position of the value in the parentheses of `Kind(x)`.
    fn position(&self) -> Position<'a> {
        match self {
            Self::File { source, .. } => source.position(0),
            Self::MadeUp { .. } => Position::ROOT,
        }
    }

    /// The value in the parentheses: one, several as a list, or the fields of a struct.
    fn inside<'b>(&self, list: Option<&'b Node>, position: &'b Position<'b>) -> Reader<'b>
    where
        'a: 'b,
    {
        match (self, list) {
            (Self::MadeUp { inside, .. }, _) => Reader::MadeUp(*inside),
            (Self::File { source, .. }, Some(list)) => Reader::File(source.as_list(list)),
            (Self::File { source, arguments: Arguments::Positional(items), .. }, None) => {
                Reader::File(source.child(&items[0], position))
            }
            (Self::File { source, .. }, None) => Reader::File(source.inside_variant()),
        }
    }
}

fn wrong<T>(source: &Source<'_>, name: &str, arguments: &Arguments, expected: &str) -> Bound<T> {
    let found = match arguments {
        Arguments::None => format!("`{name}`"),
        Arguments::Fields(_) => format!("`{name}(…)` with named parameters"),
        Arguments::Positional(_) => format!("`{name}(…)` with values without names"),
    };
    let message = format!("expected {expected}, found {found}");
    source.fail(Diagnostic::error(code::PARAMETER_TYPE, source.span(), message))
}

/// "one of `A`, `B`".
pub(super) fn one_of(variants: &[&str]) -> String {
    match variants {
        [one] => format!("`{one}`"),
        _ => format!("one of `{}`", variants.join("`, `")),
    }
}

impl<'de> EnumAccess<'de> for Variant<'_> {
    type Error = BindError;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Bound<(T::Value, Self)> {
        let name: StrDeserializer<'_, BindError> = self.name().into_deserializer();
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_> {
    type Error = BindError;

    fn unit_variant(self) -> Bound<()> {
        self.bare()
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Bound<T::Value> {
        let (list, position) = (self.list(), self.position());
        let inside = self.inside(list.as_ref(), &position);
        seed.deserialize(inside).map_err(|error| inside.place(error))
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Bound<V::Value> {
        visitor.visit_seq(self.items(len)?)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Bound<V::Value> {
        visitor.visit_map(self.fields(fields)?).map_err(|error| self.place(error))
    }
}
