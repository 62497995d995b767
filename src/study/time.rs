//! Times as people write them.

use legwork_block::{Unit, parse_quantity};

use crate::error::Error;

/// A time such as `0.4 s`, `20 ms` or `0.4` [s].
///
/// # Errors
/// What was expected and found.
///
/// ```
/// assert_eq!(legwork_study::parse_time("20 ms"), Ok(0.02));
/// assert!(legwork_study::parse_time("soon").is_err());
/// ```
pub fn parse_time(text: &str) -> Result<f64, Error> {
    let expected = || Error::request(format!("expected a time such as `0.4 s`, found `{text}`"));
    let (value, unit) = parse_quantity(text).map_err(|_| expected())?;
    let is_time = unit.is_none_or(|unit| unit == Unit::SECOND);
    if is_time && value.is_finite() && value >= 0.0 { Ok(value) } else { Err(expected()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit_of_time_or_none() {
        assert_eq!(parse_time("0.4 s"), Ok(0.4));
        assert_eq!(parse_time("20 ms"), Ok(0.02));
        assert_eq!(parse_time("3"), Ok(3.0));
        for wrong in ["-1 s", "1 m", "soon", "", "nan", "inf s"] {
            assert!(parse_time(wrong).is_err(), "{wrong}");
        }
    }
}
