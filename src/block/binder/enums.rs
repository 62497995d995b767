//! Variants: `Kind`, `Kind(x)`, `Kind(a: 1)`, or a text for a bare one.

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, EnumAccess, IntoDeserializer, VariantAccess, Visitor};

use super::error::{BindError, Bound};
use super::reader::Reader;
use super::sequence::{Fields, Items, read};
use crate::diagnostic::{Diagnostic, Span};
use crate::value::{Arguments, Named, Node, NodeKind};

/// A variant in the file.
pub(super) struct Variant<'r> {
    reader: &'r Reader<'r>,
    name: &'r str,
    arguments: &'r Arguments,
}

impl<'r> Variant<'r> {
    /// The variant that `reader` stands at, if it is one of `variants`.
    pub(super) fn of(reader: &'r Reader<'r>, variants: &'static [&'static str]) -> Bound<Self> {
        let (name, span, arguments): (&str, Span, &Arguments) = match &reader.node.kind {
            NodeKind::Named(Named { name: Some(name), arguments }) => {
                (&name.text, name.span, arguments)
            }
            NodeKind::Text(text) => (&text.value, reader.node.span, &Arguments::None),
            _ => return reader.wrong(&one_of(variants)),
        };
        if variants.contains(&name) {
            return Ok(Self { reader, name, arguments });
        }
        let message = format!("expected {}, found `{name}`", one_of(variants));
        let found = Diagnostic::error("unknown-variant", span, message);
        reader.fail(found.suggest(name, variants.iter().copied()))
    }

    fn wrong<T>(&self, expected: &str) -> Bound<T> {
        let found = match self.arguments {
            Arguments::None => format!("`{}`", self.name),
            Arguments::Fields(_) => format!("`{}(…)` with named parameters", self.name),
            Arguments::Positional(_) => format!("`{}(…)` with values without names", self.name),
        };
        let message = format!("expected {expected}, found {found}");
        self.reader.fail(Diagnostic::error("parameter-type", self.reader.node.span, message))
    }
}

/// "one of `A`, `B`".
fn one_of(variants: &[&str]) -> String {
    match variants {
        [one] => format!("`{one}`"),
        _ => format!("one of `{}`", variants.join("`, `")),
    }
}

impl<'de> EnumAccess<'de> for Variant<'_> {
    type Error = BindError;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Bound<(T::Value, Self)> {
        let name: StrDeserializer<'_, BindError> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_> {
    type Error = BindError;

    fn unit_variant(self) -> Bound<()> {
        match self.arguments {
            Arguments::None => Ok(()),
            Arguments::Fields(fields) if fields.is_empty() => Ok(()),
            _ => self.wrong(&format!("`{}` without parameters", self.name)),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Bound<T::Value> {
        match self.arguments {
            Arguments::Positional(items) => match items.as_slice() {
                [inner] => read(self.reader, inner, seed),
                _ => {
                    let list =
                        Node { span: self.reader.node.span, kind: NodeKind::List(items.clone()) };
                    let anchor = Some(self.reader.culprit());
                    let mut parent = self.reader.again();
                    parent.anchor = anchor;
                    read(&parent, &list, seed)
                }
            },
            // The parameters of the struct inside stand in the variant's own parentheses.
            Arguments::Fields(_) | Arguments::None => {
                let mut inner = self.reader.again();
                inner.foreign_name = true;
                seed.deserialize(inner)
            }
        }
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Bound<V::Value> {
        match self.arguments {
            Arguments::Positional(items) if items.len() == len => {
                visitor.visit_seq(Items::new(self.reader, items))
            }
            _ => self.wrong(&format!("`{}(…)` with {len} values", self.name)),
        }
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Bound<V::Value> {
        match self.arguments {
            Arguments::Positional(_) => {
                self.wrong(&format!("`{}({}: …)`", self.name, fields.first().unwrap_or(&"")))
            }
            _ => {
                self.reader.check_unknown(fields);
                visitor
                    .visit_map(Fields::of(self.reader, fields))
                    .map_err(|error| self.reader.place_missing(error))
            }
        }
    }
}
