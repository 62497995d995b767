//! A quantity of a joint: in one unit of a joint that turns, in another of one that slides.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Physical, Scalar, check_unit};
use crate::unit::{Unit, parse_unit};

/// The unit of a joint that slides, for that of one that turns.
const SLIDING: [(&str, &str); 5] =
    [("rad/s", "m/s"), ("N*m", "N"), ("N*m/rad", "N/m"), ("N*m*s/rad", "N*s/m"), ("kg*m^2", "kg")];

/// The quantity `Q` of a joint that turns, or what it is of a joint that slides: N for N m.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OfJoint<Q> {
    quantity: Q,
    slides: Option<bool>,
}

impl<Q: Physical> Physical for OfJoint<Q> {
    const UNIT: &'static str = Q::UNIT;
    const TOKEN: &'static str = Q::TOKEN;

    fn from_si(value: f64) -> Result<Self, String> {
        Ok(Self { quantity: Q::from_si(value)?, slides: None })
    }

    fn si(self) -> f64 {
        self.quantity.si()
    }

    fn of_sliding(self) -> Option<bool> {
        self.slides
    }
}

/// The unit that a quantity in `unit` of a joint that turns has of one that slides.
pub fn sliding_unit(unit: &str) -> &str {
    SLIDING.iter().find(|(turning, _)| *turning == unit).map_or(unit, |(_, sliding)| sliding)
}

/// Whether a quantity in `found` is one of a joint that slides, if it is not in `turning`.
fn slides(turning: &'static str, found: Unit) -> Result<bool, String> {
    match check_unit(turning, Some(found)) {
        Ok(()) => Ok(false),
        Err((message, _)) => match parse_unit(sliding_unit(turning)) {
            Ok((sliding, _)) if sliding.agrees(found) => Ok(true),
            _ => Err(message),
        },
    }
}

impl<'de, Q: Physical> Deserialize<'de> for OfJoint<Q> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Scalar { value, unit } = Scalar::deserialize(deserializer)?;
        let slides =
            unit.map(|unit| slides(Q::UNIT, unit)).transpose().map_err(D::Error::custom)?;
        Ok(Self { quantity: Q::from_si(value).map_err(D::Error::custom)?, slides })
    }
}

impl<Q: Physical> Serialize for OfJoint<Q> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.si())
    }
}

impl<Q: Physical + JsonSchema> JsonSchema for OfJoint<Q> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Q::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Q::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::{Limit, NonNegative, RotationalDamping, Torque};

    fn read<Q: Physical>(text: &str) -> Result<OfJoint<Q>, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_quantity_of_a_joint_is_one_of_turning_or_of_sliding() {
        let of = |text: &str| read::<Limit<Torque>>(text).map(|one| (one.si(), one.of_sliding()));
        assert_eq!(of("3"), Ok((3.0, None)));
        assert_eq!(of("\"3 N*m\""), Ok((3.0, Some(false))));
        assert_eq!(of("\"3 kN\""), Ok((3000.0, Some(true))));
        assert_eq!(of("\"inf N\""), Ok((f64::INFINITY, Some(true))));
        let wrong = of("\"3 m\"").expect_err("a length");
        assert_eq!(wrong, "expected a quantity in N*m, found one in m");
        let negative = read::<NonNegative<RotationalDamping>>("\"-1 N*s/m\"");
        assert!(negative.is_err_and(|message| message.contains("zero or more")));
    }
}
