//! Items of lists, entries of maps, fields of structs.

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Error, IntoDeserializer, MapAccess, SeqAccess};

use super::error::{BindError, Bound};
use super::made_up::MadeUp;
use super::reader::Reader;
use super::source::Source;
use crate::diagnostic::Span;
use crate::value::{Field, Node, Place, Text};

/// The items of a list.
pub(super) enum Items<'a> {
    File { parent: Source<'a>, items: &'a [Node], next: usize },
    MadeUp { item: MadeUp, left: usize },
}

impl<'a> Items<'a> {
    pub(super) fn new(parent: Source<'a>, items: &'a [Node]) -> Self {
        Self::File { parent, items, next: 0 }
    }

    fn left(&self) -> usize {
        match self {
            Self::File { items, next, .. } => items.len() - next,
            Self::MadeUp { left, .. } => *left,
        }
    }
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = BindError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Bound<Option<T::Value>> {
        if self.left() == 0 {
            return Ok(None);
        }
        let position;
        let item = match self {
            Self::File { parent, items, next } => {
                let index = *next;
                *next += 1;
                position = parent.position(index);
                Reader::File(parent.child(&items[index], &position))
            }
            Self::MadeUp { item, left } => {
                *left -= 1;
                Reader::MadeUp(*item)
            }
        };
        seed.deserialize(item).map(Some).map_err(|error| item.place(error))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left())
    }
}

/// What a map is read from.
pub(super) enum Pairs<'a> {
    Entries(Entries<'a>),
    Fields(Fields<'a>),
}

/// The entries of a map.
pub(super) struct Entries<'a> {
    parent: Source<'a>,
    entries: &'a [(Node, Node)],
    next: usize,
}

impl<'a> Entries<'a> {
    pub(super) fn new(parent: Source<'a>, entries: &'a [(Node, Node)]) -> Self {
        Self { parent, entries, next: 0 }
    }
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = BindError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Bound<Option<K::Value>> {
        let Some((key, _)) = self.entries.get(self.next) else { return Ok(None) };
        let position = self.parent.position(2 * self.next);
        let key = Reader::File(self.parent.child(key, &position));
        seed.deserialize(key).map(Some).map_err(|error| key.place(error))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Bound<T::Value> {
        let Some((_, value)) = self.entries.get(self.next) else {
            return Err(BindError::made_up());
        };
        let position = self.parent.position(2 * self.next + 1);
        self.next += 1;
        let value = Reader::File(self.parent.child(value, &position));
        seed.deserialize(value).map_err(|error| value.place(error))
    }
}

/// The fields of a struct that it knows, then made-up ones in place of missing ones.
pub(super) struct Fields<'a> {
    /// `None` for a struct that is made up as a whole.
    parent: Option<Source<'a>>,
    fields: &'a [Field],
    next: usize,
    /// `None` takes all fields, for a map.
    known: Option<&'static [&'static str]>,
    missing: Vec<&'static str>,
    made_up: MadeUp,
}

impl<'a> Fields<'a> {
    /// All fields, for a map.
    pub(super) fn all(parent: Source<'a>, fields: &'a [Field]) -> Self {
        let (known, missing, made_up) = (None, Vec::new(), MadeUp::default());
        Self { parent: Some(parent), fields, next: 0, known, missing, made_up }
    }

    /// The fields `known`.
    pub(super) fn known(
        parent: Source<'a>,
        fields: &'a [Field],
        known: &'static [&'static str],
    ) -> Self {
        let missing = known.iter().copied().filter(|name| parent.is_made_up_field(name)).collect();
        Self { known: Some(known), missing, ..Self::all(parent, fields) }
    }

    /// A made-up value for each of `missing`.
    pub(super) fn made_up(made_up: MadeUp, missing: &[&'static str]) -> Self {
        let missing = missing.iter().rev().copied().collect();
        Self { parent: None, fields: &[], next: 0, known: None, missing, made_up }
    }

    /// The next name that is somebody's, with its place if it is in the file.
    fn name(&mut self) -> Option<(&'a str, Option<Span>)> {
        while let (Some(parent), Some(field)) = (&self.parent, self.fields.get(self.next)) {
            let name = field.name.text.as_str();
            if self.known.is_none_or(|known| known.contains(&name)) && !parent.is_reserved(name) {
                return Some((name, Some(field.name.span)));
            }
            self.next += 1;
        }
        self.missing.pop().map(|name| (name, None))
    }

    fn place_name(&self, name: Option<Span>, error: BindError) -> BindError {
        match (&self.parent, name) {
            (Some(parent), Some(name)) => parent.place_name(name, error),
            _ => BindError::made_up(),
        }
    }
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = BindError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Bound<Option<K::Value>> {
        let Some((name, span)) = self.name() else { return Ok(None) };
        let name: StrDeserializer<'_, BindError> = name.into_deserializer();
        seed.deserialize(name).map(Some).map_err(|error| self.place_name(span, error))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Bound<T::Value> {
        let position;
        let value = match (&self.parent, self.fields.get(self.next)) {
            (Some(parent), Some(field)) => {
                position = parent.position(self.next);
                self.next += 1;
                Reader::File(parent.child(&field.value, &position))
            }
            _ => Reader::MadeUp(self.made_up),
        };
        seed.deserialize(value).map_err(|error| value.place(error))
    }
}

/// The text of a formula and its place.
pub(super) struct FormulaParts<'a> {
    text: Option<&'a str>,
    place: Option<&'a Place>,
}

impl<'a> FormulaParts<'a> {
    pub(super) fn new(text: &'a Text) -> Self {
        Self { text: Some(&text.value), place: Some(&text.place) }
    }
}

impl<'de> SeqAccess<'de> for FormulaParts<'_> {
    type Error = BindError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Bound<Option<T::Value>> {
        if let Some(text) = self.text.take() {
            return seed.deserialize(text.into_deserializer()).map(Some);
        }
        let Some(place) = self.place.take() else { return Ok(None) };
        let place = serde_json::to_value(place).map_err(Error::custom)?;
        seed.deserialize(place).map(Some).map_err(Error::custom)
    }
}
