//! [`Reader`] as serde sees it: each request runs on the value or on what it evaluates to.

use serde::Deserializer;
use serde::de::Visitor;

use super::access::{FormulaParts, Pairs};
use super::error::{BindError, Bound};
use super::reader::Reader;
use super::source::{Any, FormulaText, Position, Whole};
use crate::quantity::{FORMULA, QUANTITY};

/// Hands the visitor the evaluated value; an error of the visitor gets its place.
macro_rules! show {
    ($($($method:ident)* => $read:ident $visit:ident;)*) => { $( $(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Bound<V::Value> {
            let mut store = None;
            let reader = self.evaluated(&mut store)?;
            visitor.$visit(reader.$read()?).map_err(|error| reader.place(error))
        }
    )* )* };
}

macro_rules! show_whole {
    ($($method:ident)*) => { $(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Bound<V::Value> {
            let mut store = None;
            let reader = self.evaluated(&mut store)?;
            match reader.whole()? {
                Whole::Unsigned(value) => visitor.visit_u64(value),
                Whole::Signed(value) => visitor.visit_i64(value),
            }
            .map_err(|error| reader.place(error))
        }
    )* };
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = BindError;

    show! {
        deserialize_bool => boolean visit_bool;
        deserialize_f32 deserialize_f64 => real visit_f64;
        deserialize_char deserialize_str deserialize_string deserialize_bytes
        deserialize_byte_buf deserialize_identifier => text visit_str;
        deserialize_seq => list visit_seq;
    }

    show_whole! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Bound<V::Value> {
        let mut store = None;
        let reader = self.evaluated(&mut store)?;
        match reader.any()? {
            Any::Nothing => visitor.visit_unit(),
            Any::Bool(value) => visitor.visit_bool(value),
            Any::Whole(value) => visitor.visit_i64(value),
            Any::Real(value) => visitor.visit_f64(value),
            Any::Text(text) => visitor.visit_str(text),
            Any::Quantity(text) => visitor.visit_str(&text),
            Any::List(items) => visitor.visit_seq(items),
            Any::Map(Pairs::Entries(entries)) => visitor.visit_map(entries),
            Any::Map(Pairs::Fields(fields)) => visitor.visit_map(fields),
        }
        .map_err(|error| reader.place(error))
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Bound<V::Value> {
        let mut store = None;
        let reader = self.evaluated(&mut store)?;
        reader.nothing()?;
        visitor.visit_unit().map_err(|error| reader.place(error))
    }

    /// Does not evaluate: no expression gives nothing, and the type inside may want a formula.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Bound<V::Value> {
        let reader = self.literal();
        match reader.is_nothing() {
            true => visitor.visit_none(),
            false => visitor.visit_some(reader),
        }
        .map_err(|error| reader.place(error))
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Bound<V::Value> {
        let mut store = None;
        let reader = self.evaluated(&mut store)?;
        reader.empty_struct()?;
        visitor.visit_unit().map_err(|error| reader.place(error))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Bound<V::Value> {
        if name == FORMULA {
            let reader = self.literal();
            return match reader.formula()? {
                FormulaText::Literal(text) => visitor.visit_str(&text),
                FormulaText::Placed(text) => visitor.visit_seq(FormulaParts::new(text)),
            }
            .map_err(|error| reader.place(error));
        }
        if let Some(unit) = name.strip_prefix(QUANTITY) {
            let mut store = None;
            let reader = self.evaluated(&mut store)?;
            return visitor.visit_f64(reader.quantity(unit)?).map_err(|error| reader.place(error));
        }
        let mut position = Position::ROOT;
        let reader = self.inside_newtype(name, &mut position)?;
        visitor.visit_newtype_struct(reader).map_err(|error| reader.place(error))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Bound<V::Value> {
        let mut store = None;
        let reader = self.evaluated(&mut store)?;
        visitor.visit_seq(reader.tuple(len)?).map_err(|error| reader.place(error))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        len: usize,
        visitor: V,
    ) -> Bound<V::Value> {
        self.deserialize_tuple(len, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Bound<V::Value> {
        let mut store = None;
        let reader = self.evaluated(&mut store)?;
        match reader.map()? {
            Pairs::Entries(entries) => visitor.visit_map(entries),
            Pairs::Fields(fields) => visitor.visit_map(fields),
        }
        .map_err(|error| reader.place(error))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Bound<V::Value> {
        let mut store = None;
        let reader = self.evaluated(&mut store)?;
        visitor.visit_map(reader.structure(name, fields)?).map_err(|error| reader.place(error))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Bound<V::Value> {
        let mut store = None;
        let reader = self.evaluated(&mut store)?;
        visitor.visit_enum(reader.variant(variants)?).map_err(|error| reader.place(error))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Bound<V::Value> {
        visitor.visit_unit()
    }
}
