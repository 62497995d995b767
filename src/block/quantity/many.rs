//! One value for all joints, or one for each.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{F64Deserializer, StrDeserializer};
use serde::de::{Error, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Values for the joints of a robot: one for all, a list in the robot's order, or a map from name
/// patterns, in which `*` matches any characters.
///
/// A joint's own name goes before patterns; a joint that two patterns match is an error.
#[derive(Debug, Clone, PartialEq)]
pub enum PerJoint<Q> {
    /// The same for all.
    All(Q),
    /// One for each, in order.
    Each(Vec<Q>),
    /// By name or pattern.
    Named(IndexMap<String, Q>),
}

/// Values that do not fit the joints.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PerJointError {
    /// A list of another length.
    #[error("expected {expected} values, one for each joint, found {found}")]
    Count {
        /// Number of joints.
        expected: usize,
        /// Number of values.
        found: usize,
    },
    /// A joint without a value.
    #[error("expected a value for joint `{joint}`, found no name or pattern that matches it")]
    Missing {
        /// The joint.
        joint: String,
    },
    /// A pattern for nothing.
    #[error("no joint matches `{pattern}`")]
    Unmatched {
        /// The pattern.
        pattern: String,
    },
    /// Two patterns for one joint.
    #[error("joint `{joint}` is matched by `{first}` and by `{second}`")]
    Ambiguous {
        /// The joint.
        joint: String,
        /// One pattern.
        first: String,
        /// Another pattern.
        second: String,
    },
}

impl<Q: Clone> PerJoint<Q> {
    /// One value for each of the joints `names`.
    ///
    /// # Errors
    /// If the number of values is wrong, a joint has no value, a pattern matches no joint, or
    /// several match one.
    pub fn resolve<S: AsRef<str>>(&self, names: &[S]) -> Result<Vec<Q>, PerJointError> {
        self.resolve_or(names, None)
    }

    /// As [`PerJoint::resolve`], with a value for joints that no pattern matches.
    ///
    /// # Errors
    /// As [`PerJoint::resolve`].
    pub fn resolve_or<S: AsRef<str>>(
        &self,
        names: &[S],
        default: Option<&Q>,
    ) -> Result<Vec<Q>, PerJointError> {
        let map = match self {
            Self::All(value) => return Ok(vec![value.clone(); names.len()]),
            Self::Each(values) if values.len() == names.len() => return Ok(values.clone()),
            Self::Each(values) => {
                return Err(PerJointError::Count { expected: names.len(), found: values.len() });
            }
            Self::Named(map) => map,
        };
        let unmatched = map
            .keys()
            .find(|pattern| !names.iter().any(|name| name_matches(pattern, name.as_ref())));
        if let Some(pattern) = unmatched {
            return Err(PerJointError::Unmatched { pattern: pattern.clone() });
        }
        names.iter().map(|name| pick(map, name.as_ref(), default)).collect()
    }
}

fn pick<Q: Clone>(
    map: &IndexMap<String, Q>,
    joint: &str,
    default: Option<&Q>,
) -> Result<Q, PerJointError> {
    if let Some(value) = map.get(joint) {
        return Ok(value.clone());
    }
    let mut found = map.iter().filter(|(pattern, _)| name_matches(pattern, joint));
    match (found.next(), found.next()) {
        (Some((_, value)), None) => Ok(value.clone()),
        (Some((first, _)), Some((second, _))) => Err(PerJointError::Ambiguous {
            joint: joint.to_owned(),
            first: first.clone(),
            second: second.clone(),
        }),
        (None, _) => {
            default.cloned().ok_or_else(|| PerJointError::Missing { joint: joint.to_owned() })
        }
    }
}

/// Whether `name` fits `pattern`, in which `*` matches any characters.
#[must_use]
pub fn name_matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

impl<'de, Q: Deserialize<'de>> Deserialize<'de> for PerJoint<Q> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ManyVisitor<Q>(PhantomData<Q>);

        impl<'de, Q: Deserialize<'de>> Visitor<'de> for ManyVisitor<Q> {
            type Value = PerJoint<Q>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("one value, a list, or a map from name patterns to values")
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
                let value: F64Deserializer<E> = value.into_deserializer();
                Q::deserialize(value).map(PerJoint::All)
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
                self.visit_f64(value as f64)
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
                self.visit_f64(value as f64)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                let text: StrDeserializer<'_, E> = text.into_deserializer();
                Q::deserialize(text).map(PerJoint::All)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = seq.next_element()? {
                    values.push(value);
                }
                Ok(PerJoint::Each(values))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut values = IndexMap::new();
                while let Some((name, value)) = map.next_entry()? {
                    values.insert(name, value);
                }
                Ok(PerJoint::Named(values))
            }
        }

        deserializer.deserialize_any(ManyVisitor(PhantomData))
    }
}

impl<Q: Serialize> Serialize for PerJoint<Q> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::All(value) => value.serialize(serializer),
            Self::Each(values) => serializer.collect_seq(values),
            Self::Named(map) => serializer.collect_map(map),
        }
    }
}

impl<Q: JsonSchema> JsonSchema for PerJoint<Q> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("PerJoint({})", Q::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        one_or_many(&generator.subschema_for::<Q>())
    }
}

fn one_or_many(one: &Schema) -> Schema {
    let list = json_schema!({ "type": "array", "items": one.clone() });
    let map = json_schema!({ "type": "object", "additionalProperties": one.clone() });
    json_schema!({ "anyOf": [one, list, map] })
}
