//! Values of parameters as a diagram writes them.

use std::fmt;

use crate::types::Type;
use crate::unit::Unit;

/// Names and values of parameters.
pub type Parameters = Vec<(&'static str, Written)>;

/// A value of a parameter. Its text, by `Display`, reads back to the same bits.
#[derive(Debug, Clone, PartialEq)]
pub enum Written {
    /// A finite number in SI units, and the unit that it is written with.
    Number(f64, Option<Unit>),
    /// `[a, b]`.
    List(Vec<Written>),
    /// `(a: 1.0, b: 2.0)`.
    Fields(Parameters),
    /// `{"a": 1.0, "b": 2.0}`.
    Map(Vec<(String, Written)>),
}

impl Written {
    /// A list of numbers without units.
    pub fn list(numbers: &[f64]) -> Self {
        Self::List(numbers.iter().map(|&number| Self::Number(number, None)).collect())
    }

    /// A signal of the type `ty`, column by column, with the unit that it is written with: a
    /// number, a list, or a list of rows. `None` for other types, and for another count of numbers.
    pub fn signal(ty: &Type, unit: Option<Unit>, numbers: &[f64]) -> Option<Self> {
        let one = |&number: &f64| Self::Number(number, unit);
        match (ty, numbers) {
            (Type::Real, [number]) => Some(one(number)),
            (Type::Vector(n), _) if n.known() == Some(numbers.len()) => {
                Some(Self::List(numbers.iter().map(one).collect()))
            }
            (Type::Matrix(rows, columns), _) => {
                let (rows, columns) = (rows.known()?, columns.known()?);
                let row =
                    |r: usize| Self::List(numbers.iter().skip(r).step_by(rows).map(one).collect());
                (rows * columns == numbers.len()).then(|| Self::List((0..rows).map(row).collect()))
            }
            _ => None,
        }
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separated = |f: &mut fmt::Formatter<'_>, i: usize| match i {
            0 => Ok(()),
            _ => f.write_str(", "),
        };
        match self {
            Self::Number(number, None) => write!(f, "{number:?}"),
            Self::Number(number, Some(unit)) => write!(f, "\"{number:?} {unit}\""),
            Self::List(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    separated(f, i)?;
                    write!(f, "{item}")?;
                }
                f.write_str("]")
            }
            Self::Fields(fields) => {
                f.write_str("(")?;
                for (i, (name, value)) in fields.iter().enumerate() {
                    separated(f, i)?;
                    write!(f, "{name}: {value}")?;
                }
                f.write_str(")")
            }
            Self::Map(entries) => {
                f.write_str("{")?;
                for (i, (key, value)) in entries.iter().enumerate() {
                    separated(f, i)?;
                    write!(f, "{key:?}: {value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::{parse_quantity, parse_unit};

    #[test]
    fn a_matrix_is_written_row_by_row() {
        let columns = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0];
        let written = |ty: &Type| Written::signal(ty, None, &columns).map(|w| w.to_string());
        let rows = "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]";
        assert_eq!(written(&Type::matrix(2, 3)).as_deref(), Some(rows));
        assert_eq!(written(&Type::vector(6)).as_deref(), Some("[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]"));
        assert_eq!(written(&Type::vector(5)), None);
        assert_eq!(written(&Type::matrix(3, 3)), None);
    }

    #[test]
    fn numbers_with_units_read_back_to_the_same_bits() {
        let torque = parse_unit("N*m").expect("a unit").0;
        for number in [0.1 + 0.2, -1e-300, 1.0 / 3.0, 6.02e23, -0.0, 123_456_789.123_456_79] {
            let written = Written::signal(&Type::Real, Some(torque), &[number]);
            let text = written.expect("a number").to_string();
            let (value, unit) = parse_quantity(text.trim_matches('"')).expect("a quantity");
            assert_eq!(value.to_bits(), number.to_bits(), "{text}");
            assert_eq!(unit, Some(torque));
        }
    }

    #[test]
    fn structures_nest() {
        let inner =
            Written::Fields(vec![("s", Written::list(&[0.5])), ("s_dot", Written::list(&[]))]);
        let robots = Written::Map(vec![("go".into(), inner)]);
        let written = Written::Fields(vec![("robots", robots)]);
        assert_eq!(written.to_string(), r#"(robots: {"go": (s: [0.5], s_dot: [])})"#);
    }
}
