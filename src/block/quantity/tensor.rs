//! Numbers of any unit: one, a list, a matrix.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, SeqAccess, Visitor};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::declaration::PortUnit;
use crate::unit::{Unit, parse_quantity};

/// A finite number of any unit, which it keeps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scalar {
    /// The number in SI units.
    pub value: f64,
    /// Its unit; `None` if it was written without.
    pub unit: Option<Unit>,
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Entry::deserialize(deserializer)? {
            Entry::One(scalar) => Ok(scalar),
            Entry::Many(items) => Err(D::Error::custom(format!(
                "expected one number, found a list of {}",
                items.len()
            ))),
        }
    }
}

impl Serialize for Scalar {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.unit {
            None => serializer.serialize_f64(self.value),
            Some(unit) => serializer.serialize_str(&format!("{:?} {unit}", self.value)),
        }
    }
}

impl JsonSchema for Scalar {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Scalar".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["number", "string"], "x-unit": "any" })
    }
}

/// A number, a vector or a matrix, of any unit, which it keeps if it is one for all. A matrix is
/// written as the list of its rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    shape: Vec<usize>,
    data: Vec<f64>,
    unit: Option<Unit>,
    is_mixed: bool,
    /// That of each number of a list whose numbers have several.
    units: Vec<Option<Unit>>,
}

impl Tensor {
    /// A number without unit.
    pub fn scalar(value: f64) -> Self {
        Self {
            shape: Vec::new(),
            data: vec![value],
            unit: None,
            is_mixed: false,
            units: Vec::new(),
        }
    }

    /// A vector without unit.
    pub fn vector(values: &[f64]) -> Self {
        Self {
            shape: vec![values.len()],
            data: values.to_vec(),
            unit: None,
            is_mixed: false,
            units: Vec::new(),
        }
    }

    /// `[]` for a number, `[n]` for a vector, `[rows, columns]` for a matrix.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The numbers in SI units; of a matrix column by column.
    pub fn data(&self) -> &[f64] {
        &self.data
    }

    /// The unit of all of them; `None` if it was written without, or they have several.
    pub fn unit(&self) -> Option<Unit> {
        self.unit.filter(|_| !self.is_mixed)
    }

    /// Whether they have several units.
    pub fn is_mixed(&self) -> bool {
        self.is_mixed
    }

    /// The unit of a port with these numbers: adopted if they have none, that of each if a list has
    /// several, nothing said of a matrix with several or of zeros, which have every unit.
    pub fn port_unit(&self) -> PortUnit {
        match self.unit() {
            Some(unit) => unit.into(),
            None if !self.units.is_empty() => {
                let each = self.units.iter().map(|unit| unit.map(Into::into));
                PortUnit::List(each.collect())
            }
            None if self.is_mixed || self.data.iter().all(|number| *number == 0.0) => {
                PortUnit::Unspecified
            }
            None => PortUnit::Adopted,
        }
    }

    /// The tensor of the entries, if they make a number, a vector or a matrix.
    fn from_entry(entry: Entry) -> Result<Self, String> {
        let (mut unit, mut is_mixed, mut units) = (None, false, Vec::new());
        let mut join = |one: Scalar| {
            is_mixed |= matches!((unit, one.unit), (Some(a), Some(b)) if !Unit::agrees(a, b));
            unit = unit.or(one.unit);
            units.push(one.unit);
            one.value
        };
        let items = match entry {
            Entry::One(one) => {
                let (shape, data) = (Vec::new(), vec![one.value]);
                let units = Vec::new();
                return Ok(Self { shape, data, unit: one.unit, is_mixed: false, units });
            }
            Entry::Many(items) => items,
        };
        let rows = items
            .into_iter()
            .map(|item| match item {
                Entry::One(one) => Ok((None, vec![join(one)])),
                Entry::Many(row) => {
                    let row: Vec<f64> = row
                        .into_iter()
                        .map(|entry| match entry {
                            Entry::One(one) => Ok(join(one)),
                            Entry::Many(_) => {
                                Err("expected at most a list of rows, found a list three deep"
                                    .to_owned())
                            }
                        })
                        .collect::<Result<_, _>>()?;
                    Ok((Some(row.len()), row))
                }
            })
            .collect::<Result<Vec<(Option<usize>, Vec<f64>)>, String>>()?;

        let width = rows.first().and_then(|(width, _)| *width);
        if let Some(at) = rows.iter().position(|(other, _)| *other != width) {
            let of = |width: Option<usize>| match width {
                Some(width) => format!("a row of {width}"),
                None => "a number".to_owned(),
            };
            let (first, other) = (of(width), of(rows[at].0));
            return Err(format!("expected {first} as in the first row, found {other} in row {at}"));
        }
        let (shape, data) = match width {
            None => (vec![rows.len()], rows.iter().map(|(_, row)| row[0]).collect()),
            Some(width) => (
                vec![rows.len(), width],
                (0..width).flat_map(|c| rows.iter().map(move |(_, row)| row[c])).collect(),
            ),
        };
        if !is_mixed || shape.len() != 1 {
            units = Vec::new();
        }
        Ok(Self { shape, data, unit, is_mixed, units })
    }
}

impl<'de> Deserialize<'de> for Tensor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_entry(Entry::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl Serialize for Tensor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let scalar = |value: f64| Scalar { value, unit: self.unit() };
        match *self.shape {
            [rows, columns] => {
                let mut seq = serializer.serialize_seq(Some(rows))?;
                for r in 0..rows {
                    let row: Vec<Scalar> =
                        (0..columns).map(|c| scalar(self.data[c * rows + r])).collect();
                    seq.serialize_element(&row)?;
                }
                seq.end()
            }
            [_] => serializer.collect_seq(self.data.iter().map(|value| scalar(*value))),
            _ => scalar(self.data.first().copied().unwrap_or(0.0)).serialize(serializer),
        }
    }
}

impl JsonSchema for Tensor {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Tensor".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let number = json_schema!({ "type": ["number", "string"] });
        let row = json_schema!({ "type": "array", "items": number.clone() });
        let rows = json_schema!({ "type": "array", "items": row.clone() });
        json_schema!({ "anyOf": [number, row, rows], "x-unit": "any" })
    }
}

/// A number or a list.
enum Entry {
    One(Scalar),
    Many(Vec<Entry>),
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntryVisitor;

        impl<'de> Visitor<'de> for EntryVisitor {
            type Value = Entry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a quantity or a list of them")
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Entry, E> {
                if value.is_nan() {
                    return Err(E::custom("expected a number, found NaN"));
                }
                Ok(Entry::One(Scalar { value, unit: None }))
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Entry, E> {
                self.visit_f64(value as f64)
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Entry, E> {
                self.visit_f64(value as f64)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Entry, E> {
                let (value, unit) = parse_quantity(text).map_err(E::custom)?;
                Ok(Entry::One(Scalar { value, unit }))
            }

            fn visit_unit<E: Error>(self) -> Result<Entry, E> {
                Ok(Entry::Many(Vec::new()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Entry, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(Entry::Many(items))
            }
        }

        deserializer.deserialize_any(EntryVisitor)
    }
}
