//! Made-up values in place of wrong ones, so that one reading finds the mistakes behind them. They
//! never leave the binder: a reading with a made-up value has failed.

use serde::Deserializer;
use serde::de::value::{SeqDeserializer, StrDeserializer};
use serde::de::{DeserializeSeed, EnumAccess, IntoDeserializer, MapAccess, VariantAccess, Visitor};

use super::error::{BindError, Bound};

/// Structs in structs that are made up at most.
const DEPTH_LIMIT: usize = 16;

/// Gives every visitor a plain value: 1, false, an empty text, an empty list.
pub(super) struct Dream {
    depth: usize,
}

impl Dream {
    pub(super) fn new() -> Self {
        Self { depth: 0 }
    }

    fn inner(&self) -> Bound<Self> {
        let depth = self.depth + 1;
        if depth > DEPTH_LIMIT { Err(BindError::dream()) } else { Ok(Self { depth }) }
    }
}

macro_rules! dreams {
    ($($($method:ident)* => $visit:ident($value:expr);)*) => { $( $(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Bound<V::Value> {
            visitor.$visit($value).map_err(|_: BindError| BindError::dream())
        }
    )* )* };
}

impl<'de> Deserializer<'de> for Dream {
    type Error = BindError;

    dreams! {
        deserialize_any deserialize_f32 deserialize_f64 => visit_f64(1.0);
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
            => visit_u64(1);
        deserialize_bool => visit_bool(false);
        deserialize_char deserialize_str deserialize_string deserialize_identifier
        deserialize_bytes deserialize_byte_buf => visit_str("x");
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Bound<V::Value> {
        visitor.visit_none()
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Bound<V::Value> {
        visitor.visit_unit()
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Bound<V::Value> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, v: V) -> Bound<V::Value> {
        v.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Bound<V::Value> {
        if name.starts_with(crate::quantity::QUANTITY) {
            return visitor.visit_f64(1.0);
        }
        if name == crate::quantity::FORMULA {
            return visitor.visit_str("1");
        }
        visitor.visit_newtype_struct(self.inner()?)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Bound<V::Value> {
        let none: [f64; 0] = [];
        visitor.visit_seq(SeqDeserializer::<_, BindError>::new(none.into_iter()))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Bound<V::Value> {
        let ones = vec![1.0; len];
        visitor.visit_seq(SeqDeserializer::<_, BindError>::new(ones.into_iter()))
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
        visitor.visit_map(DreamFields { dream: self, fields: [].iter() })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Bound<V::Value> {
        visitor.visit_map(DreamFields { dream: self.inner()?, fields: fields.iter() })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Bound<V::Value> {
        let name = variants.first().ok_or_else(BindError::dream)?;
        visitor.visit_enum(DreamVariant { dream: self.inner()?, name })
    }
}

struct DreamFields {
    dream: Dream,
    fields: std::slice::Iter<'static, &'static str>,
}

impl<'de> MapAccess<'de> for DreamFields {
    type Error = BindError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Bound<Option<K::Value>> {
        let Some(name) = self.fields.next() else { return Ok(None) };
        let name: StrDeserializer<'_, BindError> = (*name).into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Bound<T::Value> {
        seed.deserialize(Dream { depth: self.dream.depth })
    }
}

struct DreamVariant {
    dream: Dream,
    name: &'static str,
}

impl<'de> EnumAccess<'de> for DreamVariant {
    type Error = BindError;
    type Variant = Dream;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Bound<(T::Value, Dream)> {
        let name: StrDeserializer<'_, BindError> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, self.dream))
    }
}

impl<'de> VariantAccess<'de> for Dream {
    type Error = BindError;

    fn unit_variant(self) -> Bound<()> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Bound<T::Value> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Bound<V::Value> {
        self.deserialize_tuple(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Bound<V::Value> {
        self.deserialize_struct("", fields, visitor)
    }
}
