//! Times on the command line.

use legwork_block::{Unit, parse_quantity};

/// A time such as `0.4 s`, `20 ms` or `0.4` [s].
///
/// # Errors
/// What was expected and found.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let expected = || format!("expected a time such as `0.4 s`, found `{text}`");
    match parse_quantity(text) {
        Ok((value, unit)) => {
            let is_time = unit.is_none_or(|unit| unit == Unit::SECOND);
            if is_time && value.is_finite() && value >= 0.0 { Ok(value) } else { Err(expected()) }
        }
        Err(_) => Err(expected()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit_of_time_or_none() {
        assert_eq!(seconds("0.4 s"), Ok(0.4));
        assert_eq!(seconds("20 ms"), Ok(0.02));
        assert_eq!(seconds("3"), Ok(3.0));
        for wrong in ["-1 s", "1 m", "soon", "", "nan", "inf s"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
