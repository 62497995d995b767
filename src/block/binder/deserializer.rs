//! [`Reader`] as serde sees it: each request runs on the value or on what it evaluates to.

use serde::Deserializer;
use serde::de::{Error, Visitor};

use super::enums::Variant;
use super::error::{BindError, Bound};
use super::reader::Reader;
use crate::quantity::{FORMULA, QUANTITY};
use crate::value::{Arguments, Named, NodeKind};

macro_rules! forward {
    ($($method:ident => $read:ident;)*) => { $(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Bound<V::Value> {
            match self.dream() {
                Some(dream) => dream.$method(visitor),
                None => self.run(|reader| reader.$read(visitor)),
            }
        }
    )* };
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = BindError;

    forward! {
        deserialize_any => any;
        deserialize_bool => boolean;
        deserialize_i8 => whole;
        deserialize_i16 => whole;
        deserialize_i32 => whole;
        deserialize_i64 => whole;
        deserialize_i128 => whole;
        deserialize_u8 => whole;
        deserialize_u16 => whole;
        deserialize_u32 => whole;
        deserialize_u64 => whole;
        deserialize_u128 => whole;
        deserialize_f32 => real;
        deserialize_f64 => real;
        deserialize_char => text;
        deserialize_str => text;
        deserialize_string => text;
        deserialize_bytes => text;
        deserialize_byte_buf => text;
        deserialize_identifier => text;
        deserialize_unit => nothing;
        deserialize_seq => list;
        deserialize_map => entries;
    }

    /// Does not evaluate: no expression gives nothing, and the type inside may want a formula.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Bound<V::Value> {
        match self.dream() {
            Some(dream) => dream.deserialize_option(visitor),
            None => self.run_literal(|reader| match &reader.node.kind {
                NodeKind::Unit => visitor.visit_none(),
                _ => visitor.visit_some(reader.again()),
            }),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Bound<V::Value> {
        match self.dream() {
            Some(dream) => dream.deserialize_unit(visitor),
            None => self.run(|reader| reader.empty_struct(visitor)),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Bound<V::Value> {
        if let Some(dream) = self.dream() {
            return dream.deserialize_newtype_struct(name, visitor);
        }
        if name == FORMULA {
            return self.run_literal(|reader| reader.formula(visitor));
        }
        if let Some(unit) = name.strip_prefix(QUANTITY) {
            return self.run(|reader| reader.quantity(unit, visitor));
        }
        // `Metres(5)` for a newtype `Metres`.
        if let NodeKind::Named(Named { name: Some(given), arguments: Arguments::Positional(items) }) =
            &self.node.kind
            && given.text == name
            && let [inner] = items.as_slice()
        {
            return visitor.visit_newtype_struct(self.child(inner));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Bound<V::Value> {
        match self.dream() {
            Some(dream) => dream.deserialize_tuple(len, visitor),
            None => self.run(|reader| reader.tuple(len, visitor)),
        }
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        len: usize,
        visitor: V,
    ) -> Bound<V::Value> {
        self.deserialize_tuple(len, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Bound<V::Value> {
        match self.dream() {
            Some(dream) => dream.deserialize_struct(name, fields, visitor),
            None => self.run(|reader| reader.structure(name, fields, visitor)),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Bound<V::Value> {
        match self.dream() {
            Some(dream) => dream.deserialize_enum(name, variants, visitor),
            None => self.run(|reader| visitor.visit_enum(Variant::of(reader, variants)?)),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Bound<V::Value> {
        visitor.visit_unit()
    }
}

impl Reader<'_> {
    fn boolean<'de, V: Visitor<'de>>(&self, visitor: V) -> Bound<V::Value> {
        match &self.node.kind {
            NodeKind::Bool(value) => visitor.visit_bool(*value),
            _ => self.wrong("true or false"),
        }
    }

    fn nothing<'de, V: Visitor<'de>>(&self, visitor: V) -> Bound<V::Value> {
        match &self.node.kind {
            NodeKind::Unit => visitor.visit_unit(),
            _ => self.wrong("`()`"),
        }
    }

    /// `Kind`, `Kind()` or `()` for a struct without parameters.
    fn empty_struct<'de, V: Visitor<'de>>(&self, visitor: V) -> Bound<V::Value> {
        match &self.node.kind {
            NodeKind::Unit
            | NodeKind::Named(Named {
                arguments: Arguments::None | Arguments::Fields(_), ..
            }) => {
                self.check_unknown(&[]);
                visitor.visit_unit()
            }
            _ => self.wrong("no parameters"),
        }
    }

    fn tuple<'de, V: Visitor<'de>>(&self, len: usize, visitor: V) -> Bound<V::Value> {
        match self.node.list() {
            Some(items) if items.len() != len => {
                Err(BindError::custom(format!("expected {len} values, found {}", items.len())))
            }
            _ => self.list(visitor),
        }
    }
}
