//! Defaults of parameters, as the attribute `parameters` writes them.

use super::{PerJoint, Physical, Scalar, Tensor, check_unit};
use crate::unit::parse_quantity;

/// A type whose defaults are written as a diagram writes its values: a number, or a text.
///
/// # Panics
/// Both functions panic if the value is outside the type's range, has another unit or is no value
/// of the type: a mistake in the block's source, which every use of the default shows.
pub trait Preset: Sized {
    /// The value of a number in SI units.
    fn number(value: f64) -> Self;

    /// The value of a text, such as `"0.02 m/s"`.
    fn text(text: &str) -> Self {
        panic!("expected a number as the default, found the text \"{text}\"")
    }
}

impl<Q: Physical> Preset for Q {
    fn number(value: f64) -> Self {
        Self::from_si(value).unwrap_or_else(|message| panic!("{message}"))
    }

    fn text(text: &str) -> Self {
        let (value, unit) = parse_quantity(text).unwrap_or_else(|error| panic!("{error}"));
        check_unit(Self::UNIT, unit).unwrap_or_else(|(message, _)| panic!("{message}"));
        Self::number(value)
    }
}

impl<Q: Physical> Preset for PerJoint<Q> {
    fn number(value: f64) -> Self {
        Self::All(Q::number(value))
    }

    fn text(text: &str) -> Self {
        Self::All(Q::text(text))
    }
}

impl Preset for Tensor {
    fn number(value: f64) -> Self {
        Self::scalar(value)
    }
}

impl Preset for Scalar {
    fn number(value: f64) -> Self {
        Self { value, unit: None }
    }
}

impl Preset for String {
    fn number(value: f64) -> Self {
        panic!("expected a text as the default, found {value}")
    }

    fn text(text: &str) -> Self {
        text.to_owned()
    }
}

macro_rules! plain {
    ($($number:ty),*) => { $(
        impl Preset for $number {
            fn number(value: f64) -> Self {
                value as Self
            }
        }
    )* };
}

plain!(f64, usize, u32, u64, i64);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::{NonNegative, Positive, Time, Velocity};

    #[test]
    fn a_default_is_read_as_in_a_diagram() {
        assert_eq!(NonNegative::<Velocity>::text("20 mm/s").value(), 0.02);
        assert_eq!(Positive::<Time>::number(0.25).value(), 0.25);
        assert_eq!(usize::number(100.0), 100);
        assert_eq!(String::text("++"), "++");
    }

    #[test]
    #[should_panic(expected = "expected a quantity in m/s, found one in s")]
    fn a_default_of_another_unit_is_a_mistake_in_the_source() {
        NonNegative::<Velocity>::text("1 s");
    }

    #[test]
    #[should_panic(expected = "greater than zero")]
    fn a_default_out_of_range_is_a_mistake_in_the_source() {
        Positive::<Time>::number(0.0);
    }
}
