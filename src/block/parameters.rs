//! Values of parameters as a diagram writes them.

use serde::ser::{Serialize, SerializeStruct as _, Serializer};

use crate::types::Type;
use crate::unit::Unit;

/// Names and values of parameters.
pub type Parameters = Vec<(&'static str, Written)>;

/// A value of a parameter, which `ron` writes. Its text reads back to the same bits.
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

/// As RON has it: numbers with a unit are texts, fields are those of a structure without a name.
impl Serialize for Written {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number, None) => serializer.serialize_f64(*number),
            Self::Number(number, Some(unit)) => {
                serializer.collect_str(&format_args!("{number:?} {unit}"))
            }
            Self::List(items) => serializer.collect_seq(items),
            Self::Fields(fields) => {
                let mut out = serializer.serialize_struct("Fields", fields.len())?;
                for (name, value) in fields {
                    out.serialize_field(name, value)?;
                }
                out.end()
            }
            Self::Map(entries) => serializer.collect_map(entries.iter().map(|(k, v)| (k, v))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_has_the_numbers_of_its_type() {
        let columns = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0];
        let written = |ty: &Type| Written::signal(ty, None, &columns);
        let rows = vec![Written::list(&[1.0, 2.0, 3.0]), Written::list(&[4.0, 5.0, 6.0])];
        assert_eq!(written(&Type::matrix(2, 3)), Some(Written::List(rows)));
        assert_eq!(written(&Type::vector(6)), Some(Written::list(&columns)));
        assert_eq!(written(&Type::vector(5)), None);
        assert_eq!(written(&Type::matrix(3, 3)), None);
    }
}
