//! Names of robots as block parameters.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use legwork_block::{Invalid, Ports};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::robot::model::RobotModel;

/// Name of a robot of the `robots:` section: text, or the robot's facts themselves, as a mask's
/// parameter `robot` gives them (`robot: "=robot"`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RobotName(String);

impl RobotName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The robot of this name.
    ///
    /// # Errors
    /// If the diagram has no such robot.
    pub fn find(&self, ports: &Ports<'_>) -> Result<Arc<RobotModel>, Invalid> {
        ports.resource(&self.0)
    }
}

impl fmt::Display for RobotName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for RobotName {
    fn from(name: &str) -> Self {
        Self(name.to_owned())
    }
}

impl<'de> Deserialize<'de> for RobotName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;

        impl<'de> Visitor<'de> for NameVisitor {
            type Value = RobotName;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a robot or its name")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<RobotName, E> {
                Ok(RobotName(name.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut facts: A) -> Result<RobotName, A::Error> {
                let mut name = None;
                while let Some(fact) = facts.next_key::<String>()? {
                    if fact == "name" {
                        name = Some(facts.next_value()?);
                    } else {
                        facts.next_value::<IgnoredAny>()?;
                    }
                }
                name.map(RobotName).ok_or_else(|| {
                    A::Error::custom("expected a robot, found a record without a name")
                })
            }
        }

        deserializer.deserialize_any(NameVisitor)
    }
}

impl JsonSchema for RobotName {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "RobotName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "x-robot": true })
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::{Diagnostics, FileId, Node, NodeKind, Scope, Span, Text, Value, bind};

    use super::*;

    struct Robot(Value);

    impl Scope for Robot {
        fn lookup(&self, name: &str) -> Option<Value> {
            (name == "robot").then(|| self.0.clone())
        }

        fn names(&self) -> Vec<String> {
            vec!["robot".to_owned()]
        }
    }

    fn bound(text: &str, robot: Value) -> Result<RobotName, Vec<String>> {
        let span = Span::new(FileId(0), 0, text.len());
        let place = span.into();
        let node = Node { span, kind: NodeKind::Text(Text { value: text.to_owned(), place }) };
        let mut diagnostics = Diagnostics::default();
        bind(&node, &Robot(robot), &[], &mut diagnostics)
            .ok_or_else(|| diagnostics.into_iter().map(|d| d.message).collect())
    }

    #[test]
    fn a_name_is_text_or_stands_in_the_facts_of_a_robot() {
        let feet = vec!["FL_foot", "FR_foot"];
        let facts = Value::record([("n", Value::from(12.0)), ("feet", Value::from(feet))]);
        let Value::Record(fields) = facts.clone() else { panic!("facts are a record") };
        let named = Value::record(
            [("name".to_owned(), Value::from("go"))].into_iter().chain((*fields).clone()),
        );
        assert_eq!(bound("go", Value::from(1.0)), Ok(RobotName::from("go")));
        assert_eq!(bound("=robot", Value::from("go")), Ok(RobotName::from("go")));
        assert_eq!(bound("=robot", named), Ok(RobotName::from("go")));
        let nameless = bound("=robot", facts).expect_err("no name");
        assert_eq!(nameless, ["expected a robot, found a record without a name"]);
    }
}
