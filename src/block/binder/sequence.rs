//! Items of lists, entries of maps, fields of structs.

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess};

use super::dream::Dream;
use super::error::{BindError, Bound, Culprit};
use super::reader::Reader;
use crate::value::{Field, Node};

/// Reads a value inside another; errors raised behind the reader's back get its place.
pub(super) fn read<'de, T: DeserializeSeed<'de>>(
    parent: &Reader<'_>,
    node: &Node,
    seed: T,
) -> Bound<T::Value> {
    let child = parent.child(node);
    let culprit = child.culprit();
    let missing = |error: BindError| match error.missing() {
        Some(_) => parent.child(node).place_missing(error),
        None => error,
    };
    seed.deserialize(child).map_err(|error| missing(error).at(node.span, Some(culprit)))
}

/// The items of a list.
pub(super) struct Items<'r> {
    parent: &'r Reader<'r>,
    items: std::slice::Iter<'r, Node>,
}

impl<'r> Items<'r> {
    pub(super) fn new(parent: &'r Reader<'r>, items: &'r [Node]) -> Self {
        Self { parent, items: items.iter() }
    }
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = BindError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Bound<Option<T::Value>> {
        self.items.next().map(|item| read(self.parent, item, seed)).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

/// The entries of a map.
pub(super) struct Entries<'r> {
    parent: &'r Reader<'r>,
    entries: std::slice::Iter<'r, (Node, Node)>,
    value: Option<&'r Node>,
}

impl<'r> Entries<'r> {
    pub(super) fn new(parent: &'r Reader<'r>, entries: &'r [(Node, Node)]) -> Self {
        Self { parent, entries: entries.iter(), value: None }
    }
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = BindError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Bound<Option<K::Value>> {
        let Some((key, value)) = self.entries.next() else { return Ok(None) };
        self.value = Some(value);
        read(self.parent, key, seed).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Bound<T::Value> {
        match self.value.take() {
            Some(value) => read(self.parent, value, seed),
            None => Err(BindError::dream()),
        }
    }
}

/// The fields of a struct that it knows, then made-up ones in place of missing ones.
pub(super) struct Fields<'r> {
    parent: &'r Reader<'r>,
    known: Option<&'static [&'static str]>,
    fields: std::slice::Iter<'r, Field>,
    missing: Vec<&'static str>,
    value: Option<&'r Node>,
}

impl<'r> Fields<'r> {
    /// All fields, for a map.
    pub(super) fn all(parent: &'r Reader<'r>) -> Self {
        let fields = parent.node.fields().iter();
        Self { parent, known: None, fields, missing: Vec::new(), value: None }
    }

    /// The fields `known`.
    pub(super) fn of(parent: &'r Reader<'r>, known: &'static [&'static str]) -> Self {
        let is_missing =
            |name: &&'static str| parent.context.is_dream(&Culprit::missing(parent.node, name));
        let missing = known.iter().copied().filter(is_missing).collect();
        Self { known: Some(known), missing, ..Self::all(parent) }
    }
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = BindError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Bound<Option<K::Value>> {
        let name = |text: &str, seed: K| {
            let text: StrDeserializer<'_, BindError> = text.into_deserializer();
            seed.deserialize(text)
        };
        for field in self.fields.by_ref() {
            let text = field.name.text.as_str();
            let wanted = self.known.is_none_or(|known| known.contains(&text));
            if wanted && !self.parent.is_reserved(text) {
                self.value = Some(&field.value);
                let placed =
                    |error: BindError| error.at(field.name.span, Some(self.parent.culprit()));
                return name(text, seed).map(Some).map_err(placed);
            }
        }
        match self.missing.pop() {
            Some(text) => name(text, seed).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Bound<T::Value> {
        match self.value.take() {
            Some(value) => read(self.parent, value, seed),
            None => seed.deserialize(Dream::new()).map_err(|_| BindError::dream()),
        }
    }
}
