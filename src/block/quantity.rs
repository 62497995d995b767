//! Parameter types that carry their unit.
//!
//! A parameter of type [`Quantity`] accepts a number in SI base units, a text with a unit
//! (`"60 N*m/rad"`) or, in a diagram, an expression (`"=2*kp"`). A bare number or a unit-free
//! result takes the parameter's unit; any other unit must agree with it ([`Unit::agrees`]).
//!
//! The types deserialise through [`Deserializer::deserialize_newtype_struct`] under a name that
//! starts with [`QUANTITY`] and ends with the unit, so that the diagram's binder can evaluate,
//! check and point at what is wrong; an ordinary format such as JSON gives a number or a text.
//!
//! One file: a type, how it is read and what is said of a mistake in it.

mod many;
mod of_joint;
mod preset;
mod tensor;

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use many::{PerJoint, PerJointError, name_matches};
pub use of_joint::{OfJoint, sliding_unit};
pub use preset::Preset;
pub use tensor::{Scalar, Tensor};

use crate::unit::{Unit, parse_quantity, parse_unit};
use crate::value::Place;

/// Start of the newtype names of quantities; the unit follows.
pub const QUANTITY: &str = "$legwork::quantity::";
/// Newtype name of [`Formula`].
pub const FORMULA: &str = "$legwork::formula";

/// A physical dimension: its unit and the newtype name that carries it.
pub trait Dimension: fmt::Debug + Clone + Copy + PartialEq + Send + Sync + 'static {
    /// The SI unit as [`parse_unit`] reads it.
    const UNIT: &'static str;
    /// [`QUANTITY`] and the unit.
    const TOKEN: &'static str;
}

/// A type whose values are one number in an SI unit.
pub trait Physical: Sized + Copy {
    /// The SI unit.
    const UNIT: &'static str;
    /// The newtype name under which it deserialises.
    const TOKEN: &'static str;

    /// The value from a number in SI units.
    ///
    /// # Errors
    /// A sentence on what was expected, if the number is outside the type's range.
    fn from_si(value: f64) -> Result<Self, String>;

    /// The number in SI units.
    fn si(self) -> f64;

    /// Whether its unit says that it is of a joint that slides, or of one that turns.
    fn of_sliding(self) -> Option<bool> {
        None
    }
}

/// A finite number with the unit of `D`, held in SI base units.
#[derive(Clone, Copy, PartialEq)]
pub struct Quantity<D> {
    value: f64,
    dimension: PhantomData<D>,
}

impl<D: Dimension> Quantity<D> {
    /// The quantity of `value` SI units.
    pub const fn new(value: f64) -> Self {
        Self { value, dimension: PhantomData }
    }

    /// The number in SI units.
    pub const fn value(self) -> f64 {
        self.value
    }
}

impl<D: Dimension> fmt::Debug for Quantity<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl<D: Dimension> fmt::Display for Quantity<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match D::UNIT {
            "1" => write!(f, "{}", self.value),
            unit => write!(f, "{} {unit}", self.value),
        }
    }
}

impl<D: Dimension> Physical for Quantity<D> {
    const UNIT: &'static str = D::UNIT;
    const TOKEN: &'static str = D::TOKEN;

    fn from_si(value: f64) -> Result<Self, String> {
        if value.is_finite() {
            Ok(Self::new(value))
        } else {
            Err(format!("expected a finite value, found {value}"))
        }
    }

    fn si(self) -> f64 {
        self.value
    }
}

/// Declares dimensions and the names of their quantities.
macro_rules! quantities {
    ($($(#[$doc:meta])* $name:ident $unit:literal;)*) => {
        /// Markers of physical dimensions, for [`Quantity`].
        pub mod dimension {
            $(
                #[doc = concat!("Dimension of quantities in ", $unit, ".")]
                #[derive(Debug, Clone, Copy, PartialEq, Eq)]
                pub struct $name;

                impl super::Dimension for $name {
                    const UNIT: &'static str = $unit;
                    const TOKEN: &'static str = concat!("$legwork::quantity::", $unit);
                }
            )*
        }
        $(
            $(#[$doc])*
            #[doc = concat!("[", $unit, "].")]
            pub type $name = Quantity<dimension::$name>;
        )*
    };
}

quantities! {
    /// A number without unit, such as a damping ratio; a percentage is accepted
    Dimensionless "1";
    /// A time
    Time "s";
    /// A frequency in cycles per second, not an angular velocity
    Frequency "Hz";
    /// A length
    Length "m";
    /// A mass
    Mass "kg";
    /// A mass per volume
    Density "kg/m^3";
    /// An angle
    Angle "rad";
    /// A velocity
    Velocity "m/s";
    /// An angular velocity
    AngularVelocity "rad/s";
    /// An acceleration
    Acceleration "m/s^2";
    /// An angular acceleration
    AngularAcceleration "rad/s^2";
    /// A force
    Force "N";
    /// A torque
    Torque "N*m";
    /// A power
    Power "W";
    /// An energy
    Energy "J";
    /// An impulse
    Impulse "N*s";
    /// A stiffness of translation
    Stiffness "N/m";
    /// A damping of translation
    Damping "N*s/m";
    /// A stiffness of rotation
    RotationalStiffness "N*m/rad";
    /// A damping of rotation
    RotationalDamping "N*m*s/rad";
    /// A moment of inertia
    Inertia "kg*m^2";
    /// A voltage
    Voltage "V";
    /// A current
    Current "A";
    /// An electrical resistance
    Resistance "ohm";
    /// Torque of a motor per current
    TorqueConstant "N*m/A";
    /// Voltage that a motor induces per angular velocity
    VoltageConstant "V*s/rad";
    /// An area
    Area "m^2";
    /// A pressure or a modulus of elasticity
    Pressure "Pa";
    /// Hunt and Crossley's dissipation: share of a contact force per speed of indentation
    Dissipation "s/m";
    /// Noise of an accelerometer: root of its power spectral density
    AccelerationDensity "m/s^2/Hz^(1/2)";
    /// Noise of a gyroscope: root of its power spectral density
    AngularVelocityDensity "rad/s/Hz^(1/2)";
    /// Random walk of an accelerometer's bias
    AccelerationWalk "m/s^3/Hz^(1/2)";
    /// Random walk of a gyroscope's bias
    AngularVelocityWalk "rad/s^2/Hz^(1/2)";
}

fn out_of_range(expected: &str, value: f64, unit: &str) -> String {
    let space = if unit == "1" { "" } else { " " };
    let unit = if unit == "1" { "" } else { unit };
    format!("expected a value {expected}, found {value}{space}{unit}")
}

/// A number, or a text with a unit.
fn number_schema(unit: &str) -> Schema {
    json_schema!({ "type": ["number", "string"], "x-unit": unit })
}

/// Declares a type that holds a quantity within a range.
macro_rules! ranges {
    ($($(#[$doc:meta])* $name:ident($value:ident: $test:expr, $expected:literal,
        $($schema:literal: $bound:literal),*);)*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct $name<Q>(Q);

        impl<Q: Physical> $name<Q> {
            /// The quantity.
            pub fn get(self) -> Q {
                self.0
            }

            /// The number in SI units.
            pub fn value(self) -> f64 {
                self.0.si()
            }
        }

        impl<Q: Physical> Physical for $name<Q> {
            const UNIT: &'static str = Q::UNIT;
            const TOKEN: &'static str = Q::TOKEN;

            fn from_si($value: f64) -> Result<Self, String> {
                if $test {
                    return Q::from_si($value).map(Self);
                }
                Err(out_of_range($expected, $value, Q::UNIT))
            }

            fn si(self) -> f64 {
                self.0.si()
            }
        }

        impl<'de, Q: Physical> Deserialize<'de> for $name<Q> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserialize(deserializer)
            }
        }

        impl<Q: Physical> Serialize for $name<Q> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_f64(self.0.si())
            }
        }

        impl<Q: Physical> JsonSchema for $name<Q> {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                format!(concat!(stringify!($name), "({})"), Q::UNIT).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let mut schema = number_schema(Q::UNIT);
                $(schema.insert($schema.to_owned(), $bound.into());)*
                schema
            }
        }
    )* };
}

ranges! {
    /// A quantity greater than zero.
    Positive(value: value > 0.0, "greater than zero", "exclusiveMinimum": 0);
    /// A quantity that is zero or greater.
    NonNegative(value: value >= 0.0, "of zero or more", "minimum": 0);
    /// A part of a whole, from 0 to 1.
    Share(value: (0.0..=1.0).contains(&value), "from 0 to 1", "minimum": 0, "maximum": 1);
}

/// A quantity that may also be infinite, for limits: `inf`, `"inf N*m"`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit<D> {
    value: f64,
    dimension: PhantomData<D>,
}

impl<D: Dimension> Limit<Quantity<D>> {
    /// No limit.
    pub const NONE: Self = Self { value: f64::INFINITY, dimension: PhantomData };

    /// The limit in SI units.
    pub const fn value(self) -> f64 {
        self.value
    }
}

impl<D: Dimension> Physical for Limit<Quantity<D>> {
    const UNIT: &'static str = D::UNIT;
    const TOKEN: &'static str = D::TOKEN;

    fn from_si(value: f64) -> Result<Self, String> {
        if value.is_nan() {
            return Err("expected a limit, found NaN".to_owned());
        }
        Ok(Self { value, dimension: PhantomData })
    }

    fn si(self) -> f64 {
        self.value
    }
}

/// Serde and schema of a type by its [`Physical`] form.
macro_rules! by_si {
    ($($type:ty),*) => { $(
        impl<'de, D: Dimension> Deserialize<'de> for $type {
            fn deserialize<R: Deserializer<'de>>(deserializer: R) -> Result<Self, R::Error> {
                deserialize(deserializer)
            }
        }

        impl<D: Dimension> Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_f64(self.value)
            }
        }

        impl<D: Dimension> JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                format!(concat!(stringify!($type), "({})"), D::UNIT).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                number_schema(D::UNIT)
            }
        }
    )* };
}

by_si!(Quantity<D>, Limit<Quantity<D>>);

/// Reads a [`Physical`] from a number or a text with a unit.
fn deserialize<'de, Q: Physical, D: Deserializer<'de>>(deserializer: D) -> Result<Q, D::Error> {
    struct SiVisitor(&'static str);

    impl<'de> Visitor<'de> for SiVisitor {
        type Value = f64;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            match self.0 {
                "1" => f.write_str("a number"),
                unit => write!(f, "a quantity in {unit}"),
            }
        }

        fn visit_f64<E: Error>(self, value: f64) -> Result<f64, E> {
            Ok(value)
        }

        fn visit_i64<E: Error>(self, value: i64) -> Result<f64, E> {
            Ok(value as f64)
        }

        fn visit_u64<E: Error>(self, value: u64) -> Result<f64, E> {
            Ok(value as f64)
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<f64, E> {
            let (value, unit) = parse_quantity(text).map_err(E::custom)?;
            check_unit(self.0, unit).map_err(|(message, _)| E::custom(message))?;
            Ok(value)
        }

        fn visit_newtype_struct<D: Deserializer<'de>>(self, d: D) -> Result<f64, D::Error> {
            d.deserialize_any(self)
        }
    }

    let value = deserializer.deserialize_newtype_struct(Q::TOKEN, SiVisitor(Q::UNIT))?;
    Q::from_si(value).map_err(D::Error::custom)
}

/// Checks that a value with the unit `found` may be where the unit written `wanted` is expected.
///
/// # Errors
/// A sentence with both units, and a hint.
pub fn check_unit(wanted: &str, found: Option<Unit>) -> Result<(), (String, Option<String>)> {
    let Some(found) = found else { return Ok(()) };
    let expected = parse_unit(wanted).map_or(Unit::ONE, |(unit, _)| unit);
    if expected.agrees(found) {
        return Ok(());
    }
    let message = match wanted {
        "1" => format!("expected a number without unit, found one in {found}"),
        _ => format!("expected a quantity in {wanted}, found one in {found}"),
    };
    Err((message, turns_hint(expected, found)))
}

/// Hint if turns are taken for radians, or radians for turns. It never changes a value: only the
/// author knows which of the two is meant.
pub fn turns_hint(expected: Unit, found: Unit) -> Option<String> {
    let is_rate = |unit: Unit| unit == Unit::HERTZ || unit == Unit::RADIAN_PER_SECOND;
    if expected == found || !is_rate(expected) || !is_rate(found) {
        return None;
    }
    let bare = if expected == Unit::HERTZ { expected } else { found };
    Some(match bare.is_hertz() {
        true => format!("Hz counts turns and rad/s angles: write the rate in {expected}"),
        false if expected == Unit::HERTZ => {
            "a rate in rad/s divided by 1[rad] is in 1/s, with the same value".to_owned()
        }
        false => "a rate in 1/s times 1[rad] is in rad/s, with the same value".to_owned(),
    })
}

/// An expression that stays one: for blocks such as `Fcn` and for checks, which compile it over
/// signals. The leading `=` is optional.
#[derive(Debug, Clone, PartialEq)]
pub struct Formula {
    /// The text as written.
    pub text: String,
    /// Where it is; all zero if it comes from another format than a diagram.
    pub place: Place,
}

impl Formula {
    /// The parsed expression.
    ///
    /// # Errors
    /// The first syntax error.
    #[allow(clippy::result_large_err, reason = "an error ends the compilation")]
    pub fn parse(&self) -> Result<crate::Expression, crate::Diagnostic> {
        let offset = usize::from(self.text.starts_with('='));
        crate::Expression::parse_from(&self.text, offset, &self.place)
    }
}

impl<'de> Deserialize<'de> for Formula {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FormulaVisitor;

        impl<'de> Visitor<'de> for FormulaVisitor {
            type Value = Formula;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an expression")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Formula, E> {
                Ok(Formula { text: text.to_owned(), place: Place::default() })
            }

            fn visit_newtype_struct<D: Deserializer<'de>>(self, d: D) -> Result<Formula, D::Error> {
                d.deserialize_str(self)
            }

            // From the binder: text and place.
            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut seq: A,
            ) -> Result<Formula, A::Error> {
                let text = seq.next_element()?.unwrap_or_default();
                Ok(Formula { text, place: seq.next_element()?.unwrap_or_default() })
            }
        }

        deserializer.deserialize_newtype_struct(FORMULA, FormulaVisitor)
    }
}

impl Serialize for Formula {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl JsonSchema for Formula {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Formula".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "x-formula": true })
    }
}

#[cfg(test)]
mod tests;
