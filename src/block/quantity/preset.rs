//! Defaults of parameters, as the attribute `parameters` writes them.

use super::{PerJoint, Physical, Scalar, Tensor, check_unit};
use crate::unit::parse_quantity;

/// A type whose defaults are written as a diagram writes its values: a number, a list of numbers,
/// or a text.
///
/// # Panics
/// All functions panic if the value is outside the type's range, has another unit or is no value
/// of the type: a mistake in the block's source, which every use of the default shows.
pub trait Preset: Sized {
    /// The value of a number in SI units.
    fn number(value: f64) -> Self;

    /// The value of a list of numbers in SI units.
    fn list(values: &[f64]) -> Self {
        wrong(format_args!("expected one number as the default, found the list {values:?}"))
    }

    /// The value of a text, such as `"0.02 m/s"`.
    fn text(text: &str) -> Self {
        wrong(format_args!("expected a number as the default, found the text \"{text}\""))
    }
}

#[expect(clippy::panic, reason = "a mistake in a block's source, at the first use of the block")]
fn wrong<T>(what: impl std::fmt::Display) -> T {
    panic!("{what}")
}

impl<Q: Physical> Preset for Q {
    fn number(value: f64) -> Self {
        Self::from_si(value).unwrap_or_else(wrong)
    }

    fn text(text: &str) -> Self {
        let (value, unit) = parse_quantity(text).unwrap_or_else(wrong);
        check_unit(Self::UNIT, unit).unwrap_or_else(|(message, _)| wrong(message));
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

    fn list(values: &[f64]) -> Self {
        Self::vector(values)
    }
}

impl<Q: Preset, const N: usize> Preset for [Q; N] {
    fn number(value: f64) -> Self {
        wrong(format_args!("expected a list of {N} numbers as the default, found {value}"))
    }

    fn list(values: &[f64]) -> Self {
        assert_eq!(values.len(), N, "length of the list");
        std::array::from_fn(|i| Q::number(values[i]))
    }
}

impl<Q: Preset> Preset for Vec<Q> {
    fn number(value: f64) -> Self {
        wrong(format_args!("expected a list of numbers as the default, found {value}"))
    }

    fn list(values: &[f64]) -> Self {
        values.iter().map(|&value| Q::number(value)).collect()
    }
}

impl Preset for Scalar {
    fn number(value: f64) -> Self {
        Self { value, unit: None }
    }
}

impl Preset for String {
    fn number(value: f64) -> Self {
        wrong(format_args!("expected a text as the default, found {value}"))
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
        assert_eq!(<[i64; 2]>::list(&[3.0, -1.0]), [3, -1]);
        assert_eq!(Vec::<Scalar>::list(&[2.0])[0].value, 2.0);
        assert_eq!(Tensor::list(&[]).shape(), [0]);
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
